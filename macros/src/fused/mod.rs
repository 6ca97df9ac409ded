//! `fused!`: turns the names in an expression into the starts of lazy expressions.
//!
//! The macro accepts a part of Rust's grammar. Everything not in this list is refused, so that no code is silently misread:
//!
//! ```text
//! program   = { statement ";" } ( statement | formula )
//! statement = "let" word "=" formula | place ( "=" | "+=" | … ) formula
//! place     = name without views, which ends in `._mut(…)` if it ends in a call, or "*" name
//! formula   = choice | sum [ ( "<" | "==" | … ) sum ]
//! choice    = "if" formula "{" formula "}" "else" ( choice | "{" formula "}" )
//! sum       = operand { ( "+" | "*" | "&" | "<<" | … ) operand }
//! operand   = { "-" | "!" } first { "." method "(" formulas ")" }
//! first     = number | "true" | "false" | "(" formula ")" | "where_" "(" formulas ")" | "axis!" … | [ "&" ] { "*" } name
//! name      = ( path | path "(" formulas ")" | path "(" Rust ")" | "tensor!" … | "{" Rust "}" ) { "." field | "[" Rust "]" | "?" | "." view "(" Rust ")" }
//! ```
//!
//! A function is called with formulas if its arguments read as such and are no references: types say whether it is a formula of one's own,
//! which becomes a part of the expression, or a function of the host, which is called before.

mod formula;

use super::{Mistake, is_ident, is_punct, tokens};
use formula::{POWER, Reader, is_name, refused_word, whole};
use proc_macro::{Delimiter, Group, Punct, Spacing, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

pub(super) fn fused(input: TokenStream) -> Result<TokenStream, Mistake> {
    let input: Vec<TokenTree> = input.into_iter().collect();
    let mut statements: Vec<&Tokens> = input.split(|token| is_punct(token, ';')).collect();
    let ends = statements.last().is_some_and(|last| last.is_empty());
    if ends {
        statements.pop();
    }
    let Some((&last, before)) = statements.split_last().filter(|(last, _)| !last.is_empty()) else {
        return Err(Mistake::at(Span::call_site(), "`fused!` takes an expression, such as `fused!(a * b + c)`"));
    };
    let mut out =
        tokens("#[allow(unused_imports)] use ::castiron::lazy::{OnHost as _, OtherArgument as _, WithElements as _};");
    let mut parts = Vec::new();
    for statement in before {
        out.extend(statement_of(statement, &mut parts)?);
        out.extend(tokens(";"));
    }
    if is_ident(&last[0], "let") {
        statement_of(last, &mut parts)?;
        let message =
            "fused!: a `let` names a part and computes nothing: the last line is an expression or `place = …`";
        return Err(Mistake::at(last[0].span(), message));
    }
    if ends || assignment(last).is_some() {
        out.extend(statement_of(last, &mut parts)?);
    } else {
        out.extend(tokens("::castiron::lazy::Finish::finish"));
        out.extend([parenthesized(whole(last)?)]);
    }
    Ok(TokenStream::from(TokenTree::Group(Group::new(Delimiter::Brace, out))))
}

fn is_group(token: Option<&TokenTree>, delimiter: Delimiter) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
}

fn parenthesized(tokens: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(Delimiter::Parenthesis, tokens))
}

fn span_of(tokens: &Tokens) -> Span {
    tokens.first().map_or_else(Span::call_site, TokenTree::span)
}

/// The end of the punctuation at `at` that forms one operator: `<<`, `>=`, `-`.
fn operator_end(tokens: &Tokens, at: usize) -> usize {
    let mut end = at;
    while let Some(TokenTree::Punct(punct)) = tokens.get(end) {
        end += 1;
        if punct.spacing() == Spacing::Alone
            || !matches!(tokens.get(end), Some(TokenTree::Punct(next)) if joins(punct, next))
        {
            break;
        }
    }
    end
}

/// Whether two signs form one operator: in `a <-b` they do not.
fn joins(first: &Punct, second: &Punct) -> bool {
    matches!(
        (first.as_char(), second.as_char()),
        ('<', '<' | '=')
            | ('>', '>' | '=')
            | ('=' | '!', '=')
            | ('&', '&')
            | ('|', '|')
            | (':', ':')
            | ('.', '.' | '=')
    ) || (second.as_char() == '=' && "+-*/%&|^".contains(first.as_char()))
}

fn operator(tokens: &Tokens, at: usize) -> String {
    tokens[at..operator_end(tokens, at)].iter().map(ToString::to_string).collect()
}

/// The binary operators.
const ARITHMETIC: [&str; 10] = ["+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"];

/// Whether an operator assigns: `=`, `+=`, `<<=`.
fn assigns(sign: &str) -> bool {
    sign.strip_suffix('=').is_some_and(|of| of.is_empty() || ARITHMETIC.contains(&of))
}

/// The position of a statement's assignment operator.
fn assignment(statement: &Tokens) -> Option<(usize, usize)> {
    let mut at = 0;
    while at < statement.len() {
        if let Some(end) = turbofish(statement, at) {
            at = end;
        } else if matches!(statement[at], TokenTree::Punct(_)) {
            let end = operator_end(statement, at);
            if assigns(&operator(statement, at)) {
                return Some((at, end));
            }
            at = end;
        } else {
            at += 1;
        }
    }
    None
}

/// `let name = expression`, `place = expression` or `place += expression`. `parts` holds the names bound by `let` so far.
fn statement_of(statement: &Tokens, parts: &mut Vec<String>) -> Result<TokenStream, Mistake> {
    let is_let = statement.first().is_some_and(|first| is_ident(first, "let"));
    if is_let && statement.get(1).is_some_and(|word| is_ident(word, "mut")) {
        return Err(not_changed(&statement[1]));
    }
    let Some((at, end)) = assignment(statement) else {
        let first = statement.first();
        return Err(first.and_then(|first| refused_word(first, statement.get(1))).unwrap_or_else(|| {
            let message =
                "fused!: a statement is `let name = …;`, `place = …` or `place += …`; the last may be an expression";
            Mistake::at(span_of(statement), message)
        }));
    };
    let (place, sign, value) = (&statement[..at], &statement[at..end], &statement[end..]);
    if place.is_empty() || value.is_empty() {
        return Err(Mistake::at(span_of(sign), "expected something on both sides"));
    }
    let place_tokens: TokenStream = place.iter().cloned().collect();
    let mut out = TokenStream::new();
    if is_let {
        match &place[1..] {
            [TokenTree::Ident(name)] if !is_ident(&place[1], "_") => parts.push(name.to_string()),
            [TokenTree::Ident(_), colon, ..] if is_punct(colon, ':') => {
                let message = "fused!: the type of a part follows from its expression: write `let name = …`";
                return Err(Mistake::at(colon.span(), message));
            }
            other => return Err(Mistake::at(span_of(other), "fused!: a `let` names one part: `let name = …`")),
        }
        out.extend([place_tokens, tokens("="), whole(value)?]);
        return Ok(out);
    }
    if let [TokenTree::Ident(name)] = place
        && parts.contains(&name.to_string())
    {
        return Err(not_changed(&place[0]));
    }
    check_place(place)?;
    let value = whole(value)?;
    let sign: TokenStream = sign.iter().cloned().collect();
    if sign.to_string() == "=" {
        out.extend([parenthesized(place_tokens)]);
        out.extend(tokens(".assign"));
        out.extend([parenthesized(value)]);
    } else {
        out.extend([place_tokens, sign, value]);
    }
    Ok(out)
}

fn not_changed(word: &TokenTree) -> Mistake {
    let message = "fused!: a `let` names a part and is not changed: write another `let`, or one expression";
    Mistake::at(word.span(), message)
}

/// Checks that the place assigned to outlives the statement: it is not a value that an operation returns.
fn check_place(place: &Tokens) -> Result<(), Mistake> {
    let mut reader = Reader { input: place, at: 0 };
    let is_behind = reader.skip_stars();
    if matches!(reader.peek(), Some(TokenTree::Ident(word)) if is_name(word)) {
        reader.at += 1;
        let last = reader.rest_of_name(|_| true);
        if reader.at == place.len() && (is_behind || last.is_none_or(|method| method.ends_with("_mut"))) {
            return Ok(());
        }
    }
    if place.last().is_some_and(|last| is_punct(last, '*')) {
        return Err(Mistake::at(span_of(place), POWER));
    }
    let message =
        "fused!: what is written is a name, a field or a view to write through: `x.select_mut(axis![0], 1) = …`";
    Err(Mistake::at(span_of(place), message))
}

/// The end of a `::<…>` that begins at `at`.
fn turbofish(tokens: &Tokens, at: usize) -> Option<usize> {
    let starts =
        is_punct(tokens.get(at)?, ':') && is_punct(tokens.get(at + 1)?, ':') && is_punct(tokens.get(at + 2)?, '<');
    if !starts {
        return None;
    }
    let mut depth = 0_usize;
    for (position, token) in tokens.iter().enumerate().skip(at + 2) {
        if is_punct(token, '<') {
            depth += 1;
        } else if is_punct(token, '>') {
            depth -= 1;
            if depth == 0 {
                return Some(position + 1);
            }
        }
    }
    None
}
