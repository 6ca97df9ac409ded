//! `tensor!`: nested lists of elements, their shape and (for plain literals) their dtype.

use crate::dims::number_type;
use crate::{Mistake, tokens};
use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

/// The category PyTorch gives a literal, lowest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Class {
    Bool,
    Int,
    Float,
    Complex,
}

impl Class {
    /// The dtype PyTorch infers.
    fn dtype(self) -> &'static str {
        match self {
            Class::Bool => "bool",
            Class::Int => "i64",
            Class::Float => "f32",
            Class::Complex => "::castiron::Complex<f32>",
        }
    }
}

/// One element.
struct Element {
    /// The tokens as written.
    tokens: TokenStream,
    /// Its category, if it is a plain literal.
    class: Option<Class>,
    span: Span,
}

pub fn tensor(input: TokenStream) -> Result<TokenStream, Mistake> {
    let (list, dtype) = split_dtype(input)?;
    let mut sizes = Vec::new();
    let mut elements = Vec::new();
    read_list(list, 0, Span::call_site(), &mut sizes, &mut elements)?;

    let inferred = elements.iter().map(|element| element.class).collect::<Option<Vec<Class>>>();
    let (dtype, plain) = match (dtype, inferred) {
        (Some(dtype), _) => (dtype.to_string(), false),
        // as in PyTorch, an empty list is float
        (None, Some(classes)) => (classes.into_iter().max().unwrap_or(Class::Float).dtype().to_owned(), false),
        (None, None) => ("_".to_owned(), true),
    };

    let mut values = TokenStream::new();
    for element in elements {
        values.extend(if plain { element.tokens } else { convert(element, &dtype)? });
        values.extend(tokens(","));
    }
    let shape: String = sizes.iter().map(|&size| format!("{},", number_type(size))).collect();
    let mut call = tokens(&format!("::castiron::Tensor::<{dtype}, ({shape}), ::castiron::Cpu>::__from_literal"));
    let array = TokenTree::Group(Group::new(Delimiter::Bracket, values));
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, array.into()))]);
    Ok(call)
}

/// Splits `1, 2; f64` into the list `1, 2` and the dtype `f64`.
fn split_dtype(input: TokenStream) -> Result<(TokenStream, Option<TokenStream>), Mistake> {
    let mut input = input.into_iter();
    let mut list = TokenStream::new();
    for token in input.by_ref() {
        if matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';') {
            let span = token.span();
            let dtype: TokenStream = input.collect();
            if dtype.is_empty() {
                return Err(Mistake::at(span, "expected a dtype after `;`, as in `tensor![1, 2; f64]`"));
            }
            if let Some(TokenTree::Literal(count)) = dtype.clone().into_iter().next() {
                let reason = format!(
                    "`{count}` is not a dtype: after `;` comes the dtype, as in `tensor![1, 2; f64]`; \
                     `Tensor::<f32, shape![{count}]>::full(0)` makes {count} equal elements"
                );
                return Err(Mistake::at(count.span(), reason));
            }
            return Ok((list, Some(dtype)));
        }
        list.extend([token]);
    }
    Ok((list, None))
}

/// Reads one list; all lists at one depth must have the same length.
fn read_list(
    list: TokenStream,
    depth: usize,
    span: Span,
    sizes: &mut Vec<usize>,
    elements: &mut Vec<Element>,
) -> Result<(), Mistake> {
    if depth == 8 {
        return Err(Mistake::at(span, "a shape has at most eight axes"));
    }
    let items = split_commas(list)?;
    match sizes.get(depth) {
        None => sizes.push(items.len()),
        Some(&size) if size != items.len() => {
            return Err(Mistake::at(
                span,
                format!("expected {size} elements here, as in the lists before, found {}", items.len()),
            ));
        }
        Some(_) => {}
    }
    for item in items {
        let nested = match &item[..] {
            [TokenTree::Group(group)] if group.delimiter() == Delimiter::Bracket => Some(group),
            _ => None,
        };
        let span = item[0].span();
        match nested {
            Some(group) => {
                if !elements.is_empty() && sizes.len() == depth + 1 {
                    return Err(Mistake::at(span, "expected an element, as before, found a list"));
                }
                read_list(group.stream(), depth + 1, group.span(), sizes, elements)?;
            }
            None => {
                if sizes.len() > depth + 1 {
                    return Err(Mistake::at(span, "expected a list, as before, found an element"));
                }
                let class = classify(&item);
                elements.push(Element { tokens: item.into_iter().collect(), class, span });
            }
        }
    }
    Ok(())
}

fn split_commas(list: TokenStream) -> Result<Vec<Vec<TokenTree>>, Mistake> {
    let mut items = Vec::new();
    let mut item = Vec::new();
    for token in list {
        if matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',') {
            if item.is_empty() {
                return Err(Mistake::at(token.span(), "expected an element or a list before the comma"));
            }
            items.push(core::mem::take(&mut item));
        } else {
            item.push(token);
        }
    }
    if !item.is_empty() {
        items.push(item);
    }
    Ok(items)
}

/// The category of a plain literal: `true`, `-3`, `2.5`, `1e9`, `2j`, `1.0 - 2.0j`. Everything else (a suffix, a variable) is left to
/// rustc.
fn classify(item: &[TokenTree]) -> Option<Class> {
    match item {
        [TokenTree::Punct(minus), rest @ ..] if minus.as_char() == '-' && rest.len() == 1 => {
            classify(rest).filter(|&class| class != Class::Bool)
        }
        [TokenTree::Ident(ident)] if matches!(ident.to_string().as_str(), "true" | "false") => Some(Class::Bool),
        [TokenTree::Literal(literal)] => class_of(literal),
        [real @ .., TokenTree::Punct(sign), TokenTree::Literal(imaginary)]
            if matches!(sign.as_char(), '+' | '-') && class_of(imaginary) == Some(Class::Complex) =>
        {
            classify(real).filter(|&class| matches!(class, Class::Int | Class::Float)).map(|_| Class::Complex)
        }
        _ => None,
    }
}

fn class_of(literal: &Literal) -> Option<Class> {
    let text = literal.to_string();
    if imaginary_part(&text).is_some() {
        return Some(Class::Complex);
    }
    let digits = text.replace('_', "");
    if digits.parse::<u128>().is_ok() {
        Some(Class::Int)
    } else if digits.parse::<f64>().is_ok() && digits.starts_with(|c: char| c.is_ascii_digit()) {
        Some(Class::Float)
    } else {
        None
    }
}

/// `2.5j` and `2.5i` are imaginary.
fn imaginary_part(text: &str) -> Option<String> {
    let number = text.strip_suffix('j').or_else(|| text.strip_suffix('i'))?.replace('_', "");
    number.parse::<f64>().ok().filter(|_| number.starts_with(|c: char| c.is_ascii_digit())).map(|_| number)
}

/// An element as a value of the dtype.
fn convert(element: Element, dtype: &str) -> Result<TokenStream, Mistake> {
    let mut text = element.tokens.to_string().replace([' ', '_'], "");
    if text.ends_with('.') {
        // `1.` followed by a suffix would read as a field of `1`
        text.push('0');
    }
    let converted = match element.class {
        // With a suffix rustc itself refuses `300` as `u8`.
        Some(Class::Int) if is_number(dtype) => tokens(&format!("{text}{dtype}")),
        Some(Class::Float) if matches!(dtype, "f32" | "f64") => tokens(&format!("{text}{dtype}")),
        Some(Class::Bool) if dtype == "bool" => element.tokens,
        Some(Class::Bool) => tokens(&format!("::castiron::dtype::CastTo::<{dtype}>::cast_to({text})")),
        Some(Class::Int) => tokens(&format!("::castiron::dtype::CastTo::<{dtype}>::cast_to({text}i64)")),
        Some(Class::Float) => tokens(&format!("::castiron::dtype::CastTo::<{dtype}>::cast_to({text}f64)")),
        Some(Class::Complex) => {
            let (real, imaginary) = complex_parts(&text)
                .ok_or_else(|| Mistake::at(element.span, format!("`{text}` is not a complex literal")))?;
            tokens(&format!(
                "::castiron::dtype::CastTo::<{dtype}>::cast_to(::castiron::Complex::new({real}f64, {imaginary}f64))"
            ))
        }
        None => {
            let mut call = tokens(&format!("::castiron::dtype::CastTo::<{dtype}>::cast_to"));
            call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, element.tokens))]);
            call
        }
    };
    // Errors that rustc finds are shown at the element.
    Ok(converted.into_iter().map(|token| respan(token, element.span)).collect())
}

fn respan(mut token: TokenTree, span: Span) -> TokenTree {
    if matches!(token, TokenTree::Literal(_)) {
        token.set_span(span);
    }
    token
}

fn is_number(dtype: &str) -> bool {
    matches!(dtype, "u8" | "u16" | "u32" | "u64" | "i8" | "i16" | "i32" | "i64" | "f32" | "f64")
}

/// `-1.5+2j` as `-1.5` and `2`; `2j` has no real part.
fn complex_parts(text: &str) -> Option<(String, String)> {
    let (sign_at, _) = text
        .char_indices()
        .rev()
        .find(|&(at, c)| matches!(c, '+' | '-') && at > 0 && !text[..at].ends_with(['e', 'E']))
        .unwrap_or((0, ' '));
    let (real, imaginary) = text.split_at(sign_at);
    let negative = imaginary.starts_with('-');
    let imaginary = imaginary_part(imaginary.trim_start_matches(['+', '-']))?;
    let real = if real.is_empty() { "0" } else { real };
    Some((real.to_owned(), format!("{}{imaginary}", if negative { "-" } else { "" })))
}
