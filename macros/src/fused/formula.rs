//! The parser for formulas, and the errors for input that is none.

use super::{ARITHMETIC, assigns, is_group, operator, operator_end, parenthesized, turbofish};
use crate::fallible::listed;
use crate::{Mistake, is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Ident, Spacing, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

/// Comparison operators and the methods they become: Rust's operators return `bool`.
const COMPARISONS: [(&str, &str); 6] =
    [("==", "eq"), ("!=", "ne"), ("<", "lt"), ("<=", "le"), (">", "gt"), (">=", "ge")];

/// All of `input` as a formula.
pub(super) fn whole(input: &Tokens) -> Result<TokenStream, Mistake> {
    let mut reader = Reader { input, at: 0 };
    let formula = reader.formula()?;
    if reader.at < input.len() { Err(reader.refused_operator()) } else { Ok(formula) }
}

fn inside(group: &Group) -> Result<TokenStream, Mistake> {
    let tokens: Vec<TokenTree> = group.stream().into_iter().collect();
    if tokens.is_empty() {
        return Err(Mistake::at(group.span(), "fused!: expected an expression between these"));
    }
    whole(&tokens)
}

/// The arguments of a call of a function, if formulas can be: no references, and nothing that this parser refuses.
fn operands(call: &Group) -> Option<TokenStream> {
    let inside: Vec<TokenTree> = call.stream().into_iter().collect();
    let mut out = TokenStream::new();
    for argument in listed(&inside) {
        match argument {
            [first, ..] if is_punct(first, '&') => return None,
            // The function asks for the type.
            [TokenTree::Literal(_)] => out.extend(argument.iter().cloned()),
            [sign, TokenTree::Literal(_)] if is_punct(sign, '-') => out.extend(argument.iter().cloned()),
            argument => {
                // A lone name may be of a type that no expression has, where the function is one of the host.
                let mut alone = Reader { input: argument, at: 0 };
                match alone.leaf() {
                    Ok(Leaf::Value(place)) if alone.at == argument.len() => {
                        out.extend(given_to("::castiron::lazy::argument", place));
                        out.extend(tokens(".value()"));
                    }
                    _ => out.extend(whole(argument).ok()?),
                }
            }
        }
        out.extend(tokens(","));
    }
    Some(out).filter(|out| !out.is_empty())
}

/// The arguments of a call. In a method call a lone integer stays without a suffix: the method asks for its type.
fn arguments(call: &Group, of_method: bool) -> Result<TokenStream, Mistake> {
    let inside: Vec<TokenTree> = call.stream().into_iter().collect();
    let mut list: Vec<&Tokens> = inside.split(|token| is_punct(token, ',')).collect();
    if list.last().is_some_and(|last| last.is_empty()) {
        list.pop();
    }
    let mut out = TokenStream::new();
    for argument in list {
        match argument {
            [] => return Err(Mistake::at(call.span(), "fused!: expected an argument before the comma")),
            [number @ TokenTree::Literal(_)] if of_method => out.extend([suffixed(number.clone(), false)]),
            // A tuple, of a formula's operands.
            [TokenTree::Group(tuple)] if of_method && is_tuple(tuple) => {
                out.extend([parenthesized(arguments(tuple, true)?)])
            }
            argument => out.extend(whole(argument)?),
        }
        out.extend(tokens(","));
    }
    Ok(out)
}

/// The arguments of `apply` and `reduce_by`: the name of a formula or reducer, and its operands.
fn applied(call: &Group) -> Result<TokenStream, Mistake> {
    let inside: Vec<TokenTree> = call.stream().into_iter().collect();
    let end = inside.iter().position(|token| is_punct(token, ',')).map_or(inside.len(), |comma| comma + 1);
    let mut out: TokenStream = inside[..end].iter().cloned().collect();
    let mut rest = Group::new(Delimiter::Parenthesis, inside[end..].iter().cloned().collect());
    rest.set_span(call.span());
    out.extend(arguments(&rest, true)?);
    Ok(out)
}

fn is_tuple(group: &Group) -> bool {
    let mut inside = group.stream().into_iter().peekable();
    group.delimiter() == Delimiter::Parenthesis
        && (inside.peek().is_none() || inside.any(|token| is_punct(&token, ',')))
}

/// Gives a number next to an operator a type suffix (only its category matters): rustc looks an operator up before it knows the type of a
/// number without suffix.
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
    // `1.` cannot take a suffix.
    let text = if text.ends_with('.') { format!("{text}0{suffix}") } else { format!("{text}{suffix}") };
    let mut number: proc_macro::Literal = text.parse().expect("a number with a suffix lexes");
    number.set_span(literal.span());
    TokenTree::Literal(number)
}

/// Views belong to the name of a tensor: they cost nothing and are not part of the loop.
const VIEWS: [&str; 23] = [
    "t",
    "transpose",
    "swapaxes",
    "permute",
    "movedim",
    "select",
    "narrow",
    "slice",
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

/// Rust's keywords, which cannot be names.
const KEYWORDS: [&str; 33] = [
    "as", "async", "await", "break", "const", "continue", "dyn", "else", "enum", "extern", "fn", "for", "if", "impl",
    "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "static", "struct", "trait", "type",
    "unsafe", "use", "where", "while", "yield",
];

/// The error for a word, or a macro, that cannot begin an operand.
pub(super) fn refused_word(token: &TokenTree, next: Option<&TokenTree>) -> Option<Mistake> {
    let TokenTree::Ident(word) = token else { return None };
    let word = word.to_string();
    let message = match word.as_str() {
        "for" | "while" | "loop" => {
            format!("fused!: it takes expressions and `let`, no loops: write `{word}` outside of it")
        }
        "if" => {
            "fused!: a choice beside an operator stands in parentheses: `(if x > 0 { x } else { 0 }) * 2`".to_owned()
        }
        "move" => CLOSURE.to_owned(),
        "mut" => "fused!: what is named is read: write the name alone".to_owned(),
        _ if KEYWORDS.contains(&word.as_str()) => {
            format!("fused!: `{word}` is no part of a formula; what Rust computes before stands in braces: `{{ … }}`")
        }
        _ if next.is_some_and(|next| is_punct(next, '!')) => {
            format!(
                "fused!: it does not look into `{word}!`: what is computed before stands in braces: `{{ {word}!(…) }}`"
            )
        }
        _ => return None,
    };
    Some(Mistake::at(token.span(), message))
}

pub(super) const POWER: &str = "fused!: Rust has no operator `**`: write `x.pow(2)`, or `x * x`";

const CLOSURE: &str =
    "fused!: no closure runs in one pass; write the formula with operators and functions: `x * x + 1.0`";

pub(super) struct Reader<'a> {
    pub(super) input: &'a Tokens,
    pub(super) at: usize,
}

impl Reader<'_> {
    pub(super) fn peek(&self) -> Option<&TokenTree> {
        self.input.get(self.at)
    }

    fn is(&self, wanted: char) -> bool {
        self.peek().is_some_and(|token| is_punct(token, wanted))
    }

    /// The position of the next token, or of the last.
    fn span(&self) -> Span {
        self.peek().or(self.input.last()).map_or_else(Span::call_site, TokenTree::span)
    }

    /// A choice, a comparison, or operands between operators.
    fn formula(&mut self) -> Result<TokenStream, Mistake> {
        if self.peek().is_some_and(|token| is_ident(token, "if")) {
            return self.choice();
        }
        let left = self.sum()?;
        let span = self.span();
        let Some(method) = self.comparison() else { return Ok(left) };
        let right = self.sum()?;
        let next = self.span();
        if self.comparison().is_some() {
            return Err(Mistake::at(next, "fused!: comparisons are not chained: write `(x > 0) & (x < 3)`"));
        }
        let mut out = TokenStream::from(parenthesized(left));
        out.extend(tokens("."));
        out.extend([TokenTree::Ident(Ident::new(method, span)), parenthesized(right)]);
        Ok(out)
    }

    /// Reads a comparison operator, and gives its method.
    fn comparison(&mut self) -> Option<&'static str> {
        let sign = operator(self.input, self.at);
        let (_, method) = COMPARISONS.iter().find(|(known, _)| *known == sign)?;
        self.at = operator_end(self.input, self.at);
        Some(method)
    }

    /// `if condition { a } else { b }`, element by element.
    fn choice(&mut self) -> Result<TokenStream, Mistake> {
        let span = self.span();
        self.at += 1;
        let mut arguments = self.formula()?;
        let yes = self.side(span)?;
        if !self.peek().is_some_and(|word| is_ident(word, "else")) {
            return Err(a_choice(span));
        }
        self.at += 1;
        let no = match self.peek() {
            Some(word) if is_ident(word, "if") => self.choice()?,
            _ => self.side(span)?,
        };
        for part in [yes, no] {
            arguments.extend(tokens(","));
            arguments.extend(part);
        }
        let mut out = tokens("::castiron::lazy::where_");
        out.extend([parenthesized(arguments)]);
        Ok(out)
    }

    /// One branch of a choice.
    fn side(&mut self, span: Span) -> Result<TokenStream, Mistake> {
        match self.peek() {
            Some(TokenTree::Group(side)) if side.delimiter() == Delimiter::Brace => {
                let side = inside(side)?;
                self.at += 1;
                Ok(side)
            }
            Some(_) => Err(self.refused_operator()),
            None => Err(a_choice(span)),
        }
    }

    /// Operands between arithmetic operators; precedence is Rust's.
    fn sum(&mut self) -> Result<TokenStream, Mistake> {
        let mut out = self.operand()?;
        while ARITHMETIC.contains(&operator(self.input, self.at).as_str()) {
            let end = operator_end(self.input, self.at);
            if let [TokenTree::Punct(star), next, ..] = &self.input[self.at..]
                && star.as_char() == '*'
                && star.spacing() == Spacing::Joint
                && is_punct(next, '*')
            {
                return Err(Mistake::at(star.span(), POWER));
            }
            out.extend(self.input[self.at..end].iter().cloned());
            self.at = end;
            out.extend(self.operand()?);
        }
        Ok(out)
    }

    /// The error for a token that cannot follow an operand.
    fn refused_operator(&self) -> Mistake {
        let sign = operator(self.input, self.at);
        let word = self.peek().map(ToString::to_string).unwrap_or_default();
        let message = match sign.as_str() {
            "&&" => "for masks write `&`, in parentheses: `(a > 0) & (b > 0)`".to_owned(),
            "||" => "for masks write `|`, in parentheses: `(a > 0) | (b > 0)`".to_owned(),
            ".." | "..=" => {
                "fused!: a range is no part of a formula; a view of some rows stands in braces: `{ x.slice(s![0..3]) }`"
                    .to_owned()
            }
            "." => {
                "fused!: after a formula comes a method call: `(x - y).square()`; fields and indices belong to names"
                    .to_owned()
            }
            "?" => "fused!: `?` belongs to a name, or stands in braces: `{ x.try_exp()? }`".to_owned(),
            sign if assigns(sign) => {
                "fused!: an assignment is a statement of its own, and arguments have no names: `x.sum_axis(axis![0])`"
                    .to_owned()
            }
            _ if word == "as" => "fused!: `as` converts Rust's numbers: write `x.to::<f64>()`".to_owned(),
            _ => format!(
                "fused!: expected an operator and an operand, found `{word}`; it takes expressions and `let`, no loops"
            ),
        };
        Mistake::at(self.span(), message)
    }

    /// The error for a token that cannot begin an operand.
    fn refused_operand(&self) -> Mistake {
        let Some(token) = self.peek() else {
            return Mistake::at(self.span(), "fused!: expected an operand after this");
        };
        if let Some(mistake) = refused_word(token, self.input.get(self.at + 1)) {
            return mistake;
        }
        let message = match (token, operator(self.input, self.at).as_str()) {
            (_, "|" | "||") => CLOSURE.to_owned(),
            (_, "*") => "fused!: `*` stands before the name of what is behind a reference, as in `*weights`, and before nothing else".to_owned(),
            (_, "&" | "&&") => "fused!: `&` stands before names alone, and is not needed: tensors are borrowed".to_owned(),
            (_, ".." | "..=") => "fused!: a range is no part of a formula; a view of some rows stands in braces: `{ x.slice(s![0..3]) }`".to_owned(),
            (TokenTree::Literal(_), _) => format!("fused!: {token} is no number"),
            (TokenTree::Group(_), _) => "fused!: a list is a tensor: `tensor![1.0, 2.0]`".to_owned(),
            _ => format!("fused!: expected an operand, found `{token}`"),
        };
        Mistake::at(token.span(), message)
    }

    /// One operand: its signs, the value, and the methods called on it.
    fn operand(&mut self) -> Result<TokenStream, Mistake> {
        let mut out = TokenStream::new();
        while let Some(sign) = self.peek().filter(|token| is_punct(token, '-') || is_punct(token, '!')) {
            out.extend([sign.clone()]);
            self.at += 1;
        }
        let start = self.at;
        out.extend(self.first()?);
        while self.is('.') {
            let (Some(TokenTree::Ident(_)), after) = (self.input.get(self.at + 1), self.at + 2) else { break };
            let after = turbofish(self.input, after).unwrap_or(after);
            let Some(TokenTree::Group(call)) = self.input.get(after) else { break };
            if call.delimiter() != Delimiter::Parenthesis {
                break;
            }
            if is_punct(&self.input[start], '*') {
                // Rust would dereference the method's result.
                self.at = start;
                return Err(self.refused_operand());
            }
            let method = &self.input[self.at + 1];
            let is_apply = ["apply", "reduce_by", "reduce_axis_by"].iter().any(|name| is_ident(method, name));
            out.extend(self.input[self.at..after].iter().cloned());
            out.extend([parenthesized(if is_apply { applied(call)? } else { arguments(call, true)? })]);
            self.at = after + 1;
        }
        Ok(out)
    }

    fn first(&mut self) -> Result<TokenStream, Mistake> {
        match self.peek() {
            Some(number @ TokenTree::Literal(literal)) => {
                if !literal.to_string().starts_with(|c: char| c.is_ascii_digit()) {
                    return Err(self.refused_operand());
                }
                let number = suffixed(number.clone(), true);
                self.at += 1;
                Ok(number.into())
            }
            Some(TokenTree::Group(group)) if matches!(group.delimiter(), Delimiter::Parenthesis | Delimiter::None) => {
                // (An expression passed on by another macro stands in an invisible group.)
                let formula = parenthesized(inside(group)?);
                self.at += 1;
                Ok(formula.into())
            }
            _ => Ok(match self.leaf()? {
                Leaf::Part(part) => part,
                Leaf::Value(place) => given_to("::castiron::lazy::Begin::begin", place),
            }),
        }
    }

    /// Skips `*`, and says whether there was one.
    pub(super) fn skip_stars(&mut self) -> bool {
        let start = self.at;
        while self.is('*') {
            self.at += 1;
        }
        self.at > start
    }

    /// A value that is not parsed further: a name with its fields, indices and views, a call, or a block.
    fn leaf(&mut self) -> Result<Leaf, Mistake> {
        let before = self.at;
        if operator(self.input, self.at) == "&" {
            self.at += 1;
        }
        let start = self.at;
        self.skip_stars();
        let is_bare = self.at == before;
        let mut place = TokenStream::new();
        let mut rest = start;
        match self.peek() {
            Some(TokenTree::Ident(word)) if is_name(word) => match self.path()? {
                Called::Axis => return Ok(Leaf::Part(self.input[start..self.at].iter().cloned().collect())),
                Called::Function(call) if is_bare => {
                    if let Some(operands) = operands(&call) {
                        let mut function = tokens("&");
                        function.extend(self.input[start..self.at - 1].iter().cloned());
                        let mut called = tokens("::castiron::lazy::called");
                        function.extend(tokens(","));
                        function.extend([parenthesized(operands)]);
                        called.extend([parenthesized(function)]);
                        called.extend(tokens(".kind()"));
                        place.extend(tokens("::castiron::lazy::call"));
                        place.extend([parenthesized(called)]);
                        rest = self.at;
                    }
                }
                Called::Where(call) => {
                    let mut out = tokens("::castiron::lazy::where_");
                    out.extend([parenthesized(arguments(&call, false)?)]);
                    return Ok(Leaf::Part(out));
                }
                Called::Function(_) | Called::Other => {}
            },
            Some(TokenTree::Ident(word)) if is_bare && ["true", "false"].contains(&word.to_string().as_str()) => {
                self.at += 1;
                return Ok(Leaf::Part(self.input[start..self.at].iter().cloned().collect()));
            }
            Some(TokenTree::Group(block)) if is_bare && block.delimiter() == Delimiter::Brace => self.at += 1,
            _ => {
                self.at = if is_bare || self.at == self.input.len() { self.at } else { before };
                return Err(self.refused_operand());
            }
        }
        self.rest_of_name(|method| VIEWS.contains(&method));
        place.extend(self.input[rest..self.at].iter().cloned());
        Ok(Leaf::Value(place))
    }

    /// Skips `name`, `path::name`, `path::name(…)` and the macros that are allowed.
    fn path(&mut self) -> Result<Called, Mistake> {
        let mut last = self.at;
        let mut is_of_a_type = false;
        self.at += 1;
        loop {
            if let Some(end) = turbofish(self.input, self.at) {
                self.at = end;
            } else if operator(self.input, self.at) == "::"
                && let Some(TokenTree::Ident(_)) = self.input.get(self.at + 2)
            {
                is_of_a_type = self.input[last].to_string().starts_with(char::is_uppercase);
                last = self.at + 2;
                self.at += 3;
            } else {
                break;
            }
        }
        let name = self.input[last].to_string();
        let is_macro = self.is('!') && matches!(self.input.get(self.at + 1), Some(TokenTree::Group(_)));
        if is_macro && name != "tensor" && name != "axis" {
            self.at = last;
            return Err(self.refused_operand());
        }
        if is_macro {
            self.at += 2;
            return Ok(if name == "axis" { Called::Axis } else { Called::Other });
        }
        match self.peek() {
            Some(TokenTree::Group(call)) if call.delimiter() == Delimiter::Parenthesis => {
                let call = call.clone();
                self.at += 1;
                Ok(match name.as_str() {
                    "where_" => Called::Where(call),
                    _ if is_of_a_type => Called::Other,
                    _ => Called::Function(call),
                })
            }
            _ => Ok(Called::Other),
        }
    }

    /// Skips fields, indices, `?` and the methods for which `belongs` holds; gives the last method if the name ends in a call.
    pub(super) fn rest_of_name(&mut self, belongs: impl Fn(&str) -> bool) -> Option<String> {
        let mut method = None;
        loop {
            let mut called = None;
            match self.peek() {
                Some(TokenTree::Group(index)) if index.delimiter() == Delimiter::Bracket => self.at += 1,
                Some(mark) if is_punct(mark, '?') => self.at += 1,
                Some(_) if operator(self.input, self.at) == "." => {
                    let after = self.at + 2;
                    let end = turbofish(self.input, after).unwrap_or(after);
                    let is_call = is_group(self.input.get(end), Delimiter::Parenthesis);
                    match self.input.get(self.at + 1) {
                        Some(TokenTree::Ident(name)) if is_call && belongs(&name.to_string()) => {
                            called = Some(name.to_string());
                            self.at = end + 1;
                        }
                        Some(TokenTree::Ident(name)) if !is_call && end == after && is_name(name) => self.at = after,
                        Some(TokenTree::Literal(_)) => self.at = after,
                        _ => return method,
                    }
                }
                _ => return method,
            }
            method = called;
        }
    }
}

/// What is not parsed further.
enum Leaf {
    /// A part of the expression as it is.
    Part(TokenStream),
    /// A place whose value becomes one.
    Value(TokenStream),
}
/// `function(&(place))`
fn given_to(function: &str, place: TokenStream) -> TokenStream {
    let mut borrowed = tokens("&");
    borrowed.extend([parenthesized(place)]);
    let mut out = tokens(function);
    out.extend([parenthesized(borrowed)]);
    out
}

/// What a path turned out to be.
enum Called {
    /// `axis![1]`, an argument.
    Axis,
    Where(Group),
    /// A formula, or a function of the host.
    Function(Group),
    Other,
}

pub(super) fn is_name(word: &Ident) -> bool {
    let word = word.to_string();
    !KEYWORDS.contains(&word.as_str()) && !["true", "false", "_"].contains(&word.as_str())
}

fn a_choice(span: Span) -> Mistake {
    Mistake::at(span, "in `fused!` a choice is `if condition { a } else { b }`")
}
