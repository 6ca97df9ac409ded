//! The body of a formula or of a step of a reducer: what is read, what is refused, and what is written in its place.

use super::Tokens;
use crate::fallible::listed;
use crate::signature::Set;
use crate::{Mistake, is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

/// Words that are no values.
const OTHER_WORDS: [&str; 34] = [
    "as", "break", "const", "continue", "crate", "else", "false", "fn", "for", "if", "in", "let", "loop", "match",
    "move", "mut", "ref", "return", "self", "super", "true", "unsafe", "use", "while", "_", "f32", "f64", "i32", "i64",
    "u32", "u64", "usize", "isize", "bool",
];

/// The body of a formula.
pub(crate) struct Body<'a> {
    /// The name of the formula.
    pub(crate) formula: String,
    pub(crate) number: &'a str,
    pub(crate) set: Set,
    /// The operands that are one number.
    pub(crate) plain: Vec<String>,
    /// The names that differ between elements.
    pub(crate) tracked: Vec<String>,
    /// The names of operands and those that any pattern of the body binds.
    pub(crate) bound: Vec<String>,
    /// The formulas that it calls.
    pub(crate) formulas: Vec<Vec<TokenTree>>,
}

/// Whether a literal has a fraction.
fn is_float(literal: &str) -> bool {
    let is_decimal = literal.starts_with(|first: char| first.is_ascii_digit());
    is_decimal && !literal.starts_with("0x") && !literal.starts_with("0b") && literal.contains(['.', 'e', 'f'])
}

/// Whether there is a `for` or a `while`.
pub(super) fn has_loop(input: &Tokens) -> bool {
    input.iter().any(|token| match token {
        TokenTree::Group(group) => has_loop(&group.stream().into_iter().collect::<Vec<_>>()),
        token => is_ident(token, "for") || is_ident(token, "while"),
    })
}

/// Adds the names of methods.
pub(super) fn functions_called(input: &Tokens, names: &mut Vec<String>) {
    for (at, token) in input.iter().enumerate() {
        match token {
            TokenTree::Group(group) => functions_called(&group.stream().into_iter().collect::<Vec<_>>(), names),
            TokenTree::Ident(name) if at > 0 && is_punct(&input[at - 1], '.') => {
                let name = name.to_string();
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            _ => {}
        }
    }
}

/// Adds the names in patterns: after `let` and `for`, between bars, before `=>`.
pub(crate) fn bound_names(input: &Tokens, bound: &mut Vec<String>) {
    let mut is_pattern = false;
    for (at, token) in input.iter().enumerate() {
        let is_arrow = |at: usize| {
            input.get(at).is_some_and(|token| is_punct(token, '='))
                && input.get(at + 1).is_some_and(|token| is_punct(token, '>'))
        };
        match token {
            TokenTree::Ident(word) => match word.to_string().as_str() {
                "let" | "for" => is_pattern = true,
                "in" => is_pattern = false,
                name if is_pattern || is_arrow(at + 1) => bound.push(name.to_owned()),
                _ => {}
            },
            TokenTree::Group(group) => {
                let inside = group.stream().into_iter().collect::<Vec<_>>();
                if is_pattern || is_arrow(at + 1) {
                    all_names(&inside, bound);
                }
                bound_names(&inside, bound);
            }
            TokenTree::Punct(sign) => match sign.as_char() {
                '=' | ';' => is_pattern = false,
                '|' => is_pattern = !is_pattern,
                _ => {}
            },
            TokenTree::Literal(_) => {}
        }
    }
}
pub(crate) fn all_names(input: &Tokens, names: &mut Vec<String>) {
    for token in input {
        match token {
            TokenTree::Ident(name) => names.push(name.to_string()),
            TokenTree::Group(group) => all_names(&group.stream().into_iter().collect::<Vec<_>>(), names),
            _ => {}
        }
    }
}
impl Body<'_> {
    /// The first name among tokens that differs between elements.
    fn differs(&self, input: &Tokens) -> Option<String> {
        input.iter().enumerate().find_map(|(at, token)| match token {
            TokenTree::Ident(_) if at > 0 && is_punct(&input[at - 1], '.') => None,
            TokenTree::Ident(name) => Some(name.to_string()).filter(|name| self.tracked.contains(name)),
            TokenTree::Group(group) => self.differs(&group.stream().into_iter().collect::<Vec<_>>()),
            _ => None,
        })
    }

    fn read(&mut self, input: &Tokens) -> Result<TokenStream, Mistake> {
        let mut out = TokenStream::new();
        let mut at = 0;
        while let Some(token) = input.get(at) {
            self.check(input, at)?;
            let is_field = at > 0 && is_punct(&input[at - 1], '.') && !(at > 1 && is_punct(&input[at - 2], '.'));
            match token {
                TokenTree::Ident(name) if !is_field => {
                    if let Some(end) = self.called(input, at, &mut out)? {
                        at = end;
                        continue;
                    }
                    if name.to_string() == self.number {
                        out.extend(spanned(&format!("::castiron::formula::Number::<{name}>"), name.span()));
                    } else if is_ident(token, "Mask") {
                        out.extend(spanned(&format!("::castiron::formula::Mask::<{}>", self.number), name.span()));
                    } else {
                        out.extend([token.clone()]);
                    }
                }
                TokenTree::Group(group) => {
                    let inside = self.read(&group.stream().into_iter().collect::<Vec<_>>())?;
                    let mut read = Group::new(group.delimiter(), inside);
                    read.set_span(group.span());
                    out.extend([TokenTree::Group(read)]);
                }
                _ => out.extend([token.clone()]),
            }
            at += 1;
        }
        Ok(out)
    }

    /// Refuses what a formula can't do, and notes the names that `let` binds.
    fn check(&mut self, input: &Tokens, at: usize) -> Result<(), Mistake> {
        let token = &input[at];
        let ends = |from: usize, ends: &dyn Fn(&TokenTree) -> bool| {
            input[from..].iter().position(ends).map_or(input.len(), |more| from + more)
        };
        let is_block =
            |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        match token {
            TokenTree::Ident(word) => match word.to_string().as_str() {
                word @ ("if" | "match") => {
                    if let Some(name) = self.differs(&input[at + 1..ends(at + 1, &is_block)]) {
                        let message = format!(
                            "formula: `{word}` asks once, and `{name}` is another number for each element: both sides are computed, and `select({name}.gt(0.0), a, b)` chooses"
                        );
                        return Err(Mistake::at(token.span(), message));
                    }
                }
                word @ ("while" | "for") => {
                    let from = if word == "for" { ends(at + 1, &|token| is_ident(token, "in")) } else { at + 1 };
                    if let Some(name) = self.differs(&input[from.min(input.len())..ends(from, &is_block)]) {
                        let message = format!(
                            "formula: a loop has the same steps for all elements, and `{name}` is another number for each: loop a known number of times, `for _ in 0..8`, and keep what is done by `select`"
                        );
                        return Err(Mistake::at(token.span(), message));
                    }
                }
                "loop" => {
                    let message = "formula: a loop has a known number of steps: `for _ in 0..8`";
                    return Err(Mistake::at(token.span(), message));
                }
                "let" => {
                    let end = ends(at + 1, &|token| is_punct(token, ';'));
                    let equals = ends(at + 1, &|token| is_punct(token, '=')).min(end);
                    let is_number = input[at + 1..equals].iter().any(|token| is_ident(token, self.number));
                    if is_number || self.differs(&input[equals..end]).is_some() {
                        let pattern = ends(at + 1, &|token| is_punct(token, ':')).min(equals);
                        self.bind(&input[at + 1..pattern]);
                    }
                }
                name => {
                    let is_tracked = self.tracked.iter().any(|tracked| tracked == name);
                    let is_indexed = matches!(input.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Bracket);
                    let is_array = input[..at].last().is_some_and(|before| is_punct(before, '.'));
                    if self.is_captured(input, at) {
                        let (formula, number, set) = (&self.formula, self.number, self.set.name());
                        let message = format!(
                            "formula: `{name}` is none of its operands: a value from outside is another operand, `fn {formula}<{number}: {set}>(…, {name}: {number})`; a constant is a `const` with a name of capitals"
                        );
                        return Err(Mistake::at(token.span(), message));
                    }
                    if is_tracked && is_indexed && !is_array && self.is_operand(name) {
                        let message = format!(
                            "formula: `{name}` is one number, not a tensor: what stands beside it is another operand, such as a shifted view"
                        );
                        return Err(Mistake::at(token.span(), message));
                    }
                }
            },
            TokenTree::Literal(literal) if self.set.has_integers() && is_float(&literal.to_string()) => {
                let set = self.set.name();
                let message = format!(
                    "formula: `{literal}` is no integer, and numbers of `{set}` are: write a whole number, or the formula of `Float`, applied to `x.to::<f32>()`"
                );
                return Err(Mistake::at(token.span(), message));
            }
            TokenTree::Punct(sign)
                if self.set.has_integers() && sign.as_char() == '/' && self.stands_beside(input, at, 1) =>
            {
                let message = String::from(
                    "formula: `/` of integers would give fractions: `x.floor_divide(y)` rounds down, `x.trunc_divide(y)` towards zero; or write the formula of `Float`, applied to `x.to::<f32>()`",
                );
                return Err(Mistake::at(token.span(), message));
            }
            TokenTree::Punct(sign) if self.compares(input, at) => {
                let message = format!(
                    "formula: numbers are compared by methods, as tensors are: `x.{}(y)`; `select(mask, a, b)` chooses by the mask",
                    match (sign.as_char(), input.get(at + 1).is_some_and(|next| is_punct(next, '='))) {
                        ('<', false) => "lt",
                        ('<', true) => "le",
                        ('>', false) => "gt",
                        ('>', true) => "ge",
                        ('=', _) => "eq",
                        _ => "ne",
                    }
                );
                return Err(Mistake::at(token.span(), message));
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether a name stands for a value that is neither an operand nor bound here.
    fn is_captured(&self, input: &Tokens, at: usize) -> bool {
        let name = input[at].to_string();
        let is_known = !name.starts_with(|first: char| first.is_lowercase() || first == '_')
            || OTHER_WORDS.contains(&name.as_str())
            || self.bound.contains(&name);
        let is_sign = |at: Option<usize>, signs: &[char]| matches!(at.and_then(|at| input.get(at)), Some(TokenTree::Punct(sign)) if signs.contains(&sign.as_char()));
        let before = at.checked_sub(1);
        let is_range = is_sign(before, &['.']) && is_sign(at.checked_sub(2), &['.']);
        let belongs = is_sign(before, &['.', ':', '\'', '#']) && !is_range
            || before.is_some_and(|before| ["as", "fn", "const", "use"].contains(&input[before].to_string().as_str()));
        let is_called =
            matches!(input.get(at + 1), Some(TokenTree::Group(call)) if call.delimiter() != Delimiter::Bracket);
        !is_known && !belongs && !is_called && !is_sign(Some(at + 1), &[':', '!'])
    }

    fn is_operand(&self, name: &str) -> bool {
        self.plain.iter().any(|operand| operand == name)
    }

    /// The body in braces. What it gives at its end, as a tuple or an array if it is a list, becomes numbers.
    pub(crate) fn braces(&mut self, body: &Group, gives_list: bool) -> Result<Group, Mistake> {
        let inside = self.read(&body.stream().into_iter().collect::<Vec<_>>())?;
        let mut written = tokens("#[allow(unused_imports)] use ::castiron::formula::NoFormula as _;");
        let inside: Vec<TokenTree> = inside.into_iter().collect();
        written.extend(if gives_list { self.numbers_at_end(&inside) } else { inside.into_iter().collect() });
        let mut braces = Group::new(Delimiter::Brace, written);
        braces.set_span(body.span());
        Ok(braces)
    }
    /// A number of a formula, or a constant that becomes one.
    pub(crate) fn number_of(&self, value: TokenStream, span: Span) -> TokenStream {
        let mut out = tokens(&format!("::castiron::formula::IntoNumber::<{}>::into_number", self.number));
        let mut group = Group::new(Delimiter::Parenthesis, value);
        group.set_span(span);
        out.extend([TokenTree::Group(group)]);
        out
    }
    /// Each part of the list that ends the body becomes a number.
    fn numbers_at_end(&self, inside: &Tokens) -> TokenStream {
        let (before, end) = match inside {
            [before @ .., TokenTree::Group(end)] if end.delimiter() != Delimiter::Brace => (before, end),
            all => return all.iter().cloned().collect(),
        };
        let is_end = match before.last() {
            None => true,
            Some(TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
            Some(token) => is_punct(token, ';'),
        };
        let list: Vec<TokenTree> = end.stream().into_iter().collect();
        if !is_end {
            return inside.iter().cloned().collect();
        }
        let mut parts = TokenStream::new();
        if let Some(at) = list.iter().position(|token| is_punct(token, ';')) {
            // `[0.0; 4]`
            parts.extend(self.number_of(list[..at].iter().cloned().collect(), end.span()));
            parts.extend(list[at..].iter().cloned());
        } else {
            for part in listed(&list) {
                parts.extend(self.number_of(part.iter().cloned().collect(), part[0].span()));
                parts.extend(tokens(","));
            }
        }
        let mut group = Group::new(end.delimiter(), parts);
        group.set_span(end.span());
        before.iter().cloned().chain([TokenTree::Group(group)]).collect()
    }

    /// Names of a pattern.
    fn bind(&mut self, pattern: &Tokens) {
        for token in pattern {
            match token {
                TokenTree::Ident(name) if !is_ident(token, "mut") => self.tracked.push(name.to_string()),
                TokenTree::Group(group) => self.bind(&group.stream().into_iter().collect::<Vec<_>>()),
                _ => {}
            }
        }
    }

    /// Whether a comparison of numbers starts here.
    fn compares(&self, input: &Tokens, at: usize) -> bool {
        let char_at = |at: usize| match input.get(at) {
            Some(TokenTree::Punct(punct)) => Some((punct.as_char(), punct.spacing() == Spacing::Joint)),
            _ => None,
        };
        let before = at.checked_sub(1).and_then(char_at);
        let length = match (char_at(at), char_at(at + 1)) {
            (Some(('=' | '!', true)), Some(('=', _))) => 2,
            (Some(('<' | '>', true)), Some(('=', _))) => 2,
            (Some(('<', _)), Some(('<', _))) | (Some(('>', _)), Some(('>', _))) => return false,
            (Some(('<' | '>', _)), _) => 1,
            _ => return false,
        };
        // `->`, `=>`, `::<`, `>>=`, `+=`: parts of other signs.
        if matches!(before, Some(('-' | '=' | '<' | '>' | '+' | '*' | '/' | '!', true)) | Some((':', _))) {
            return false;
        }
        // (The turbofish of what stands before, or a generic type, has no number beside it.)
        self.stands_beside(input, at, length)
    }

    /// Whether there is a number beside a sign of this length.
    fn stands_beside(&self, input: &Tokens, at: usize, length: usize) -> bool {
        let is_number = |token: Option<&TokenTree>| match token {
            Some(TokenTree::Ident(name)) => self.tracked.contains(&name.to_string()),
            Some(token @ TokenTree::Group(_)) => self.differs(core::slice::from_ref(token)).is_some(),
            _ => false,
        };
        is_number(at.checked_sub(1).and_then(|at| input.get(at))) || is_number(input.get(at + length))
    }

    /// A call of a function, which is a formula if its arguments differ between elements; returns the end.
    fn called(&mut self, input: &Tokens, at: usize, out: &mut TokenStream) -> Result<Option<usize>, Mistake> {
        let mut end = at + 1;
        while matches!((input.get(end), input.get(end + 1), input.get(end + 2)),
            (Some(a), Some(b), Some(TokenTree::Ident(_))) if is_punct(a, ':') && is_punct(b, ':'))
        {
            end += 3;
        }
        let Some(TokenTree::Group(arguments)) = input.get(end) else { return Ok(None) };
        if arguments.delimiter() != Delimiter::Parenthesis {
            return Ok(None);
        }
        let (path, last) = (&input[at..end], input[end - 1].to_string());
        let given: Vec<TokenTree> = arguments.stream().into_iter().collect();
        let is_word =
            ["if", "match", "while", "for", "in", "let", "mut", "return", "else", "break"].contains(&last.as_str());
        let is_type = last.starts_with(char::is_uppercase) || is_ident(&path[0], self.number);
        if is_word || is_type || self.differs(&given).is_none() {
            return Ok(None);
        }
        let span = path[0].span();
        if last == "select" && path.len() == 1 {
            out.extend(spanned("::castiron::formula::select", span));
            let mut group = Group::new(Delimiter::Parenthesis, self.read(&given)?);
            group.set_span(arguments.span());
            out.extend([TokenTree::Group(group)]);
            return Ok(Some(end + 1));
        }
        let mut all = TokenStream::new();
        for argument in listed(&given) {
            let mut group = Group::new(Delimiter::Parenthesis, self.read(argument)?);
            group.set_span(argument[0].span());
            all.extend(tokens(&format!("::castiron::formula::IntoNumber::<{}>::into_number", self.number)));
            all.extend([TokenTree::Group(group)]);
            all.extend(tokens(","));
        }
        // (A closure of the body has no place outside of it.)
        if !matches!(path, [one] if self.bound.contains(&one.to_string())) {
            self.formulas.push(path.to_vec());
        }
        let mut named = tokens("&");
        named.extend(path.iter().cloned());
        let grouped = |delimiter: Delimiter, inside: TokenStream| {
            let mut group = Group::new(delimiter, inside);
            group.set_span(span);
            TokenStream::from(TokenTree::Group(group))
        };
        out.extend(spanned("::castiron::formula::callee", span));
        out.extend(grouped(Delimiter::Parenthesis, named));
        out.extend(spanned(".formula().call", span));
        out.extend(grouped(Delimiter::Parenthesis, grouped(Delimiter::Bracket, all)));
        Ok(Some(end + 1))
    }
}

/// Fixed tokens that resolve here and are shown at a place.
fn spanned(source: &str, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        token.set_span(span);
        token
    };
    tokens(source).into_iter().map(at).collect()
}
