//! `fused!`: what is named in an expression becomes the beginning of a lazy one.

use super::{Mistake, is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Ident, Punct, Spacing, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

pub(super) fn fused(input: TokenStream) -> Result<TokenStream, Mistake> {
    let input: Vec<TokenTree> = input.into_iter().collect();
    if input.is_empty() {
        return Err(Mistake::at(Span::call_site(), "`fused!` takes an expression, such as `fused!(a * b + c)`"));
    }
    let mut out = TokenStream::new();
    let statements: Vec<&Tokens> = input.split(|token| is_punct(token, ';')).collect();
    let last = statements.len() - 1;
    for (at, statement) in statements.into_iter().enumerate() {
        if statement.is_empty() {
            continue;
        }
        if at < last {
            out.extend(statement_of(statement)?);
            out.extend(tokens(";"));
        } else if assignment(statement).is_some() {
            out.extend(statement_of(statement)?);
        } else {
            out.extend(tokens("::castiron::lazy::Finish::finish"));
            out.extend([parenthesized(expression(statement)?)]);
        }
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

/// The end of a run of punctuation that is one operator, from `at` on: `<<`, `>=`, `-`.
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

/// Whether two signs are one operator: `a <-b` is not.
fn joins(first: &Punct, second: &Punct) -> bool {
    matches!(
        (first.as_char(), second.as_char()),
        ('<', '<' | '=') | ('>', '>' | '=') | ('=' | '!', '=') | ('&', '&') | ('|', '|') | (':', ':')
    ) || (second.as_char() == '=' && "+-*/%&|^".contains(first.as_char()))
}

fn operator(tokens: &Tokens, at: usize) -> String {
    tokens[at..operator_end(tokens, at)].iter().map(ToString::to_string).collect()
}

/// Where the assignment operator of a statement is.
fn assignment(statement: &Tokens) -> Option<(usize, usize)> {
    let mut at = 0;
    while at < statement.len() {
        if let Some(end) = turbofish(statement, at) {
            at = end;
        } else if matches!(statement[at], TokenTree::Punct(_)) {
            let end = operator_end(statement, at);
            let sign = operator(statement, at);
            // `<<=` comes as `<<` and `=`.
            if sign == "=" || (sign.ends_with('=') && !["==", "!=", "<=", ">="].contains(&sign.as_str())) {
                return Some((at, end));
            }
            if ["<<", ">>"].contains(&sign.as_str()) && statement.get(end).is_some_and(|next| is_punct(next, '=')) {
                return Some((at, end + 1));
            }
            at = end;
        } else {
            at += 1;
        }
    }
    None
}

/// `let name = expression`, `place = expression`, `place += expression`.
fn statement_of(statement: &Tokens) -> Result<TokenStream, Mistake> {
    let Some((at, end)) = assignment(statement) else {
        return Err(Mistake::at(
            span_of(statement),
            "a statement of `fused!` is `let name = …;`, `place = …` or `place += …`; the last may be an expression",
        ));
    };
    let (place, sign, value) = (&statement[..at], &statement[at..end], &statement[end..]);
    if place.is_empty() || value.is_empty() {
        return Err(Mistake::at(span_of(sign), "expected something on both sides"));
    }
    let place_tokens: TokenStream = place.iter().cloned().collect();
    let value = expression(value)?;
    let sign: TokenStream = sign.iter().cloned().collect();
    let mut out = TokenStream::new();
    if is_ident(&place[0], "let") || sign.to_string() != "=" {
        out.extend([place_tokens, sign, value]);
    } else {
        out.extend([parenthesized(place_tokens)]);
        out.extend(tokens(".assign"));
        out.extend([parenthesized(value)]);
    }
    Ok(out)
}

/// The end of `::<…>` at `at`.
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

/// An expression: a choice, a comparison, or operands between operators.
fn expression(input: &Tokens) -> Result<TokenStream, Mistake> {
    expression_with(input, true)
}

/// The same; numbers alone are operands, or arguments, which may have to be of another type than operands.
fn expression_with(input: &Tokens, alone: bool) -> Result<TokenStream, Mistake> {
    if input.is_empty() {
        return Err(Mistake::at(Span::call_site(), "expected an expression"));
    }
    if is_ident(&input[0], "if") {
        return choice(input);
    }
    // The lowest precedence that matters: comparisons, which Rust's operators cannot be for expressions.
    let mut at = 0;
    let mut after_operand = false;
    while at < input.len() {
        if let Some(end) = turbofish(input, at) {
            at = end;
            continue;
        }
        if !matches!(input[at], TokenTree::Punct(_)) {
            after_operand = true;
            at += 1;
            continue;
        }
        let (sign, end) = (operator(input, at), operator_end(input, at));
        let method = match sign.as_str() {
            "==" => "eq",
            "!=" => "ne",
            "<" => "lt",
            "<=" => "le",
            ">" => "gt",
            ">=" => "ge",
            "&&" if after_operand => {
                return Err(Mistake::at(input[at].span(), "for masks write `&`, in parentheses: `(a > 0) & (b > 0)`"));
            }
            "||" if after_operand => {
                return Err(Mistake::at(input[at].span(), "for masks write `|`, in parentheses: `(a > 0) | (b > 0)`"));
            }
            _ => {
                after_operand &= ["?", "."].contains(&sign.as_str());
                at = end;
                continue;
            }
        };
        let (left, right) = (operands(&input[..at], true)?, expression(&input[end..])?);
        let mut out = TokenStream::from(parenthesized(left));
        out.extend(tokens("."));
        out.extend([TokenTree::Ident(Ident::new(method, input[at].span())), parenthesized(right)]);
        return Ok(out);
    }
    operands(input, alone)
}

/// `if condition { a } else { b }`, element by element.
fn choice(input: &Tokens) -> Result<TokenStream, Mistake> {
    let mistake = || Mistake::at(input[0].span(), "in `fused!` a choice is `if condition { a } else { b }`");
    let brace = input.iter().position(|token| is_group(Some(token), Delimiter::Brace)).ok_or_else(mistake)?;
    let (TokenTree::Group(yes), Some(word)) = (&input[brace], input.get(brace + 1)) else { return Err(mistake()) };
    if !is_ident(word, "else") {
        return Err(mistake());
    }
    let inside = |group: &Group| expression(&group.stream().into_iter().collect::<Vec<_>>());
    let no = match &input[brace + 2..] {
        [TokenTree::Group(no)] if no.delimiter() == Delimiter::Brace => inside(no)?,
        rest @ [first, ..] if is_ident(first, "if") => choice(rest)?,
        _ => return Err(mistake()),
    };
    let mut arguments = expression(&input[1..brace])?;
    for part in [inside(yes)?, no] {
        arguments.extend(tokens(","));
        arguments.extend(part);
    }
    let mut out = tokens("::castiron::lazy::where_");
    out.extend([parenthesized(arguments)]);
    Ok(out)
}

/// Operands between arithmetic operators, whose precedence stays Rust's.
fn operands(input: &Tokens, alone: bool) -> Result<TokenStream, Mistake> {
    let mut out = TokenStream::new();
    let mut at = 0;
    loop {
        // What stands before an operand. References are taken by the macro itself.
        while let Some(token) = input.get(at)
            && matches!(token, TokenTree::Punct(_))
        {
            if is_punct(token, '*') {
                break;
            }
            if !is_punct(token, '&') {
                out.extend([token.clone()]);
            }
            at += 1;
        }
        let (operand, end) = operand(input, at)?;
        if end == at + 1 {
            let integers = alone || input.len() > 1;
            out.extend(operand.into_iter().map(|token| suffixed(token, integers)));
        } else {
            out.extend(operand);
        }
        at = end;
        if at == input.len() {
            return Ok(out);
        }
        let end = operator_end(input, at);
        if end == at || end == input.len() {
            return Err(Mistake::at(
                input[at.min(input.len() - 1)].span(),
                "fused!: expected an operator and an operand; it takes expressions and `let`, no loops",
            ));
        }
        out.extend(input[at..end].iter().cloned());
        at = end;
    }
}

/// A number beside an operator says its type, which only its category depends on: rustc looks an operator up before it knows
/// what type a plain number has.
fn suffixed(token: TokenTree, integers: bool) -> TokenTree {
    let TokenTree::Literal(literal) = &token else { return token };
    let text = literal.to_string();
    let plain = |of: &str| text.chars().all(|c| c.is_ascii_digit() || of.contains(c));
    let suffix = if plain("_") {
        if !integers {
            return token;
        }
        "_i64"
    } else if plain("_.eE+-") {
        "_f64"
    } else {
        return token;
    };
    // `1.` takes no suffix.
    let text = if text.ends_with('.') { format!("{text}0{suffix}") } else { format!("{text}{suffix}") };
    let mut number: proc_macro::Literal = text.parse().expect("a number with a suffix lexes");
    number.set_span(literal.span());
    TokenTree::Literal(number)
}

/// One operand from `at` on, and where it ends.
fn operand(input: &Tokens, mut at: usize) -> Result<(TokenStream, usize), Mistake> {
    let start = at;
    while input.get(at).is_some_and(|token| is_punct(token, '*')) {
        at += 1;
    }
    let Some(first) = input.get(at) else {
        return Err(Mistake::at(input.last().map_or_else(Span::call_site, TokenTree::span), "expected an operand"));
    };
    let mut operand = TokenStream::new();
    match first {
        TokenTree::Literal(_) => {
            operand.extend([first.clone()]);
            at += 1;
        }
        TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis => {
            operand.extend([parenthesized(expression(&group.stream().into_iter().collect::<Vec<_>>())?)]);
            at += 1;
        }
        _ => {
            let (leaf, end) = leaf(input, start, at)?;
            operand.extend(leaf);
            at = end;
        }
    }
    // Method calls.
    while input.get(at).is_some_and(|token| is_punct(token, '.')) {
        let mut end = at + 2;
        if let Some(after) = turbofish(input, end) {
            end = after;
        }
        let Some(TokenTree::Group(call)) = input.get(end) else {
            return Err(Mistake::at(input[at].span(), "expected a method call"));
        };
        operand.extend(input[at..end].iter().cloned());
        operand.extend([parenthesized(arguments(call, false)?)]);
        at = end + 1;
    }
    Ok((operand, at))
}

fn arguments(call: &Group, alone: bool) -> Result<TokenStream, Mistake> {
    let inside: Vec<TokenTree> = call.stream().into_iter().collect();
    let mut out = TokenStream::new();
    for argument in inside.split(|token| is_punct(token, ',')).filter(|argument| !argument.is_empty()) {
        out.extend(expression_with(argument, alone)?);
        out.extend(tokens(","));
    }
    Ok(out)
}

/// Views of a tensor belong to its name: they cost nothing and are no part of the loop.
const VIEWS: [&str; 22] = [
    "t",
    "transpose",
    "swapaxes",
    "permute",
    "movedim",
    "select",
    "narrow",
    "reshape",
    "reshape_sized",
    "flatten",
    "flatten_axes",
    "unflatten",
    "squeeze",
    "squeeze_axis",
    "unsqueeze",
    "expand",
    "expand_sized",
    "expand_as",
    "diagonal",
    "unfold",
    "real",
    "imag",
];

/// What is not looked into: a name with its fields, indices and views, a call, a block.
fn leaf(input: &Tokens, start: usize, mut at: usize) -> Result<(TokenStream, usize), Mistake> {
    let mut is_where = false;
    match &input[at] {
        TokenTree::Ident(name) => {
            let mut name = name.to_string();
            at += 1;
            loop {
                if let Some(end) = turbofish(input, at) {
                    at = end;
                } else if input.get(at).is_some_and(|token| is_punct(token, ':'))
                    && let Some(TokenTree::Ident(next)) = input.get(at + 2)
                {
                    name = next.to_string();
                    at += 3;
                } else {
                    break;
                }
            }
            if name == "true" || name == "false" {
                return Ok((input[start..at].iter().cloned().collect(), at));
            }
            if input.get(at).is_some_and(|token| is_punct(token, '!'))
                && matches!(input.get(at + 1), Some(TokenTree::Group(_)))
            {
                at += 2;
                if name != "tensor" {
                    // `axis![1]`: an argument.
                    return Ok((input[start..at].iter().cloned().collect(), at));
                }
            } else if is_group(input.get(at), Delimiter::Parenthesis) {
                is_where = name == "where_";
                at += 1;
            }
        }
        TokenTree::Group(_) => at += 1,
        other => return Err(Mistake::at(other.span(), "expected an operand")),
    }
    if is_where && let TokenTree::Group(call) = &input[at - 1] {
        let mut out = tokens("::castiron::lazy::where_");
        out.extend([parenthesized(arguments(call, true)?)]);
        return Ok((out, at));
    }
    // Fields and indices belong to the name.
    loop {
        let field = input.get(at).is_some_and(|token| is_punct(token, '.'))
            && matches!(input.get(at + 1), Some(TokenTree::Ident(_) | TokenTree::Literal(_)))
            && !is_group(input.get(at + 2), Delimiter::Parenthesis)
            && turbofish(input, at + 2).is_none();
        let view = match (input.get(at), input.get(at + 1)) {
            (Some(dot), Some(TokenTree::Ident(name))) if is_punct(dot, '.') => {
                let end = turbofish(input, at + 2).unwrap_or(at + 2);
                let is_view = VIEWS.contains(&name.to_string().as_str());
                (is_view && is_group(input.get(end), Delimiter::Parenthesis)).then_some(end + 1)
            }
            _ => None,
        };
        if let Some(end) = view {
            at = end;
        } else if field {
            at += 2;
        } else if is_group(input.get(at), Delimiter::Bracket) || input.get(at).is_some_and(|token| is_punct(token, '?'))
        {
            at += 1;
        } else {
            break;
        }
    }
    let mut place = tokens("&");
    place.extend([parenthesized(input[start..at].iter().cloned().collect())]);
    let mut out = tokens("::castiron::lazy::Begin::begin");
    out.extend([parenthesized(place)]);
    Ok((out, at))
}
