//! `shape!` and `dim!`: sizes, `_`, names and arithmetic on them, as types.

use crate::{Mistake, tokens};
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};
use std::iter::Peekable;

type Tokens = Peekable<proc_macro::token_stream::IntoIter>;

/// A dimension while it is being read: numbers are folded, everything else is a type.
enum Size {
    Number(u128, Span),
    Type(TokenStream),
}

impl Size {
    fn into_type(self) -> Result<TokenStream, Mistake> {
        match self {
            Size::Number(number, span) => match usize::try_from(number) {
                Ok(number) => Ok(number_type(number)),
                Err(_) => Err(Mistake::at(span, format!("the dimension {number} exceeds usize"))),
            },
            Size::Type(tokens) => Ok(tokens),
        }
    }
}

/// 384 as `D3<D8<D4>>`.
pub fn number_type(number: usize) -> TokenStream {
    let digits = number.to_string();
    let open: Vec<String> = digits.chars().map(|digit| format!("::castiron::shape::D{digit}")).collect();
    tokens(&format!("{}{}", open.join("<"), ">".repeat(digits.len() - 1)))
}

/// `_, 384, N + 1` as `(Dyn, D3<D8<D4>>, Sum<N, D1>,)`.
pub fn shape(input: TokenStream) -> Result<TokenStream, Mistake> {
    let mut input = input.into_iter().peekable();
    let mut dims = TokenStream::new();
    let mut rank = 0;
    while let Some(first) = input.peek() {
        let span = first.span();
        if rank == 8 {
            return Err(Mistake::at(span, "a shape has at most eight axes"));
        }
        dims.extend(sum(&mut input, span)?.into_type()?);
        dims.extend(tokens(","));
        rank += 1;
        match input.next() {
            None => break,
            Some(TokenTree::Punct(comma)) if comma.as_char() == ',' => {}
            Some(other) => return Err(unexpected(&other)),
        }
    }
    Ok(TokenTree::Group(proc_macro::Group::new(Delimiter::Parenthesis, dims)).into())
}

/// One dimension.
pub fn dim(input: TokenStream) -> Result<TokenStream, Mistake> {
    let mut input = input.into_iter().peekable();
    let size = sum(&mut input, Span::call_site())?;
    match input.next() {
        None => size.into_type(),
        Some(other) => Err(unexpected(&other)),
    }
}

fn unexpected(token: &TokenTree) -> Mistake {
    Mistake::at(
        token.span(),
        format!("unexpected `{token}`: a dimension is a number, `_`, a name, or a sum or product of these"),
    )
}

fn operator(input: &mut Tokens, among: &[char]) -> Option<char> {
    match input.peek() {
        Some(TokenTree::Punct(punct)) if among.contains(&punct.as_char()) => {
            let operator = punct.as_char();
            input.next();
            Some(operator)
        }
        _ => None,
    }
}

fn sum(input: &mut Tokens, span: Span) -> Result<Size, Mistake> {
    let mut left = product(input, span)?;
    while let Some(operator) = operator(input, &['+', '-']) {
        let right = product(input, span)?;
        left = combine(operator, left, right)?;
    }
    Ok(left)
}

fn product(input: &mut Tokens, span: Span) -> Result<Size, Mistake> {
    let mut left = atom(input, span)?;
    while let Some(operator) = operator(input, &['*', '/']) {
        let right = atom(input, span)?;
        left = combine(operator, left, right)?;
    }
    Ok(left)
}

fn combine(operator: char, left: Size, right: Size) -> Result<Size, Mistake> {
    if let (&Size::Number(a, span), &Size::Number(b, _)) = (&left, &right) {
        let folded = match operator {
            '+' => a.checked_add(b),
            '-' => a.checked_sub(b),
            '*' => a.checked_mul(b),
            _ => a.checked_div(b),
        };
        return match folded {
            Some(number) => Ok(Size::Number(number, span)),
            None => Err(Mistake::at(span, format!("`{a} {operator} {b}` is not a size"))),
        };
    }
    let (left, right) = (left.into_type()?, right.into_type()?);
    Ok(Size::Type(tokens(&match operator {
        '+' => format!("::castiron::shape::Sum<{left}, {right}>"),
        '*' => format!("::castiron::shape::Product<{left}, {right}>"),
        '-' => format!("<{left} as ::castiron::shape::Minus<{right}>>::Output"),
        _ => format!("<{left} as ::castiron::shape::DivideBy<{right}>>::Output"),
    })))
}

fn atom(input: &mut Tokens, span: Span) -> Result<Size, Mistake> {
    let Some(first) = input.next() else {
        return Err(Mistake::at(span, "expected a dimension: a number, `_`, or a name"));
    };
    match &first {
        TokenTree::Literal(literal) => {
            let text = literal.to_string().replace('_', "");
            let number = text.strip_suffix("usize").unwrap_or(&text);
            let parsed = match number.strip_prefix("0x") {
                Some(hex) => u128::from_str_radix(hex, 16),
                None => number.parse(),
            };
            match parsed {
                Ok(number) => Ok(Size::Number(number, literal.span())),
                Err(_) => {
                    Err(Mistake::at(literal.span(), format!("`{literal}` is not a size: expected a whole number")))
                }
            }
        }
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            let mut inner = group.stream().into_iter().peekable();
            let size = sum(&mut inner, group.span())?;
            match inner.next() {
                None => Ok(size),
                Some(other) => Err(unexpected(&other)),
            }
        }
        // a `$n` of a `macro_rules!` macro arrives in an invisible group
        TokenTree::Group(group) if group.delimiter() == Delimiter::None => {
            let mut inner = group.stream().into_iter().peekable();
            let size = sum(&mut inner, group.span())?;
            match inner.next() {
                None => Ok(size),
                Some(_) => Ok(Size::Type(group.stream())),
            }
        }
        TokenTree::Ident(ident) if ident.to_string() == "_" => Ok(Size::Type(tokens("::castiron::shape::Dyn"))),
        TokenTree::Punct(punct) if punct.as_char() == '_' => Ok(Size::Type(tokens("::castiron::shape::Dyn"))),
        TokenTree::Ident(name) if is_a_value(name, input.peek()) => Err(Mistake::at(
            name.span(),
            format!(
                "`{name}` is a value, and a dimension is a type: write `_` for a size known at run time, and `…_sized` methods"
            ),
        )),
        TokenTree::Ident(_) => Ok(Size::Type(path(first, input))),
        TokenTree::Punct(punct) if punct.as_char() == '-' => {
            Err(Mistake::at(punct.span(), "a size is not negative: one that follows from the others is `_`"))
        }
        TokenTree::Punct(punct) if matches!(punct.as_char(), '<' | ':') => Ok(Size::Type(path(first, input))),
        other => Err(unexpected(other)),
    }
}

/// Whether a name looks like a variable: one lower-case word, which no type is named.
fn is_a_value(name: &proc_macro::Ident, next: Option<&TokenTree>) -> bool {
    let word = name.to_string();
    let lower = word.starts_with(|c: char| c.is_ascii_lowercase()) && !word.contains(|c: char| c.is_ascii_uppercase());
    let alone = !matches!(next, Some(TokenTree::Punct(punct)) if matches!(punct.as_char(), ':' | '<' | '!'));
    lower && alone
}

/// The rest of a type path: up to an operator or comma outside angle brackets.
fn path(first: TokenTree, input: &mut Tokens) -> TokenStream {
    let mut depth = i32::from(matches!(&first, TokenTree::Punct(p) if p.as_char() == '<'));
    let mut path = TokenStream::from(first);
    while let Some(next) = input.peek() {
        if let TokenTree::Punct(punct) = next {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                ',' | '+' | '-' | '*' | '/' if depth == 0 => break,
                _ => {}
            }
        }
        path.extend(input.next());
    }
    path
}
