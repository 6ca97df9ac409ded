//! `#[fallible]`: an operation that returns an error, and its panicking form.

use super::{Mistake, aliases, is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

pub(super) fn fallible(arguments: TokenStream, function: TokenStream) -> Result<TokenStream, Mistake> {
    let mut function = Function::read(&function.into_iter().collect::<Vec<_>>())?;
    if let Some(argument) = arguments.into_iter().next() {
        if !is_ident(&argument, "free") {
            return Err(Mistake::at(argument.span(), "`#[fallible]`, or `#[fallible(free)]` for one that no type has"));
        }
        function.is_free = true;
    }
    let mut out = function.plain()?;
    out.extend(function.returning());
    Ok(out)
}

fn group(delimiter: Delimiter, inside: TokenStream) -> TokenTree {
    TokenTree::Group(Group::new(delimiter, inside))
}

/// The tokens without the invisible groups that `macro_rules!` puts around its arguments.
fn bare(stream: TokenStream) -> Vec<TokenTree> {
    let mut out = Vec::new();
    for token in stream {
        match token {
            TokenTree::Group(group) if group.delimiter() == Delimiter::None => out.extend(bare(group.stream())),
            token => out.push(token),
        }
    }
    out
}

/// The depth of each token in angle brackets; the brackets themselves count as outside.
fn depths(input: &Tokens) -> Vec<usize> {
    let mut depth = 0_usize;
    let mut all = Vec::new();
    for (at, token) in input.iter().enumerate() {
        let arrow = at > 0 && is_punct(&input[at - 1], '-');
        if is_punct(token, '>') && !arrow {
            depth = depth.saturating_sub(1);
        }
        all.push(depth);
        depth += usize::from(is_punct(token, '<'));
    }
    all
}

/// What stands between commas.
pub(super) fn listed(input: &Tokens) -> Vec<&Tokens> {
    let (depths, mut start) = (depths(input), 0);
    let mut out = Vec::new();
    for at in 0..=input.len() {
        if at == input.len() || (depths[at] == 0 && is_punct(&input[at], ',')) {
            out.extend((start < at).then(|| &input[start..at]));
            start = at + 1;
        }
    }
    out
}

/// An attribute, and which of the two forms gets it.
struct Attribute {
    tokens: [TokenTree; 2],
    kind: Kind,
}

#[derive(PartialEq)]
enum Kind {
    /// A line of documentation; `None` if it is a `concat!`.
    Doc(Option<String>),
    /// For the panicking form only.
    Plain,
    Both,
}

impl Attribute {
    fn read(sign: &TokenTree, inside: &Group) -> Result<Self, Mistake> {
        let bare = bare(inside.stream());
        let kind = match &bare[..] {
            [name, equals, text @ ..] if is_ident(name, "doc") && is_punct(equals, '=') => Kind::Doc(match text {
                [TokenTree::Literal(text)] => Some(unquoted(&text.to_string())),
                _ => None,
            }),
            [name, TokenTree::Group(about)] if is_ident(name, "doc") => {
                let is_hidden = about.stream().into_iter().any(|token| is_ident(&token, "hidden"));
                if is_hidden { Kind::Both } else { Kind::Plain }
            }
            // The returning form gives a `Result`, which is `must_use` already.
            [name, ..] if is_ident(name, "must_use") => Kind::Plain,
            [name, ..] if is_ident(name, "track_caller") => {
                return Err(Mistake::at(name.span(), "`#[fallible]` writes `#[track_caller]` where it belongs"));
            }
            _ => Kind::Both,
        };
        Ok(Attribute { tokens: [sign.clone(), TokenTree::Group(inside.clone())], kind })
    }

    fn is_heading(&self) -> bool {
        matches!(&self.kind, Kind::Doc(Some(text)) if text == "# Panics")
    }

    /// Whether this is a line that continues a paragraph.
    fn is_line(&self) -> bool {
        matches!(&self.kind, Kind::Doc(text) if text.as_ref().is_none_or(|text| !text.is_empty()))
    }
}

/// The content of a string literal, for inspection only: escapes are kept.
fn unquoted(literal: &str) -> String {
    let inside = literal.split_once('"').and_then(|(_, text)| text.rsplit_once('"'));
    inside.map_or_else(String::new, |(text, _)| text.trim().to_owned())
}

/// `#[doc = "…"]`
fn doc(line: &str) -> TokenStream {
    let mut inside = tokens("doc =");
    inside.extend([TokenTree::Literal(Literal::string(line))]);
    let mut out = tokens("#");
    out.extend([group(Delimiter::Bracket, inside)]);
    out
}

/// A function in the parts that the forms differ in.
pub(super) struct Function {
    /// No type has it.
    is_free: bool,
    attributes: Vec<Attribute>,
    /// Visibility and `fn`.
    before: Vec<TokenTree>,
    pub(super) name: Ident,
    pub(super) generics: Vec<TokenTree>,
    pub(super) parameters: Group,
    /// `Result<T>`, and `T`.
    pub(super) output: Vec<TokenTree>,
    pub(super) value: Vec<TokenTree>,
    pub(super) bounds: Vec<TokenTree>,
    pub(super) body: TokenTree,
}

impl Function {
    /// A function that returns `Result<T>`.
    pub(super) fn read(input: &Tokens) -> Result<Self, Mistake> {
        let mut function = Self::read_head(input)?;
        let [path @ .., close] = &function.output[..] else { return Err(no_result(function.name.span())) };
        let value = match path.iter().position(|token| is_punct(token, '<')) {
            Some(open) if open > 0 && is_ident(&path[open - 1], "Result") && is_punct(close, '>') => &path[open + 1..],
            _ => return Err(no_result(function.output[0].span())),
        };
        if listed(value).len() != 1 {
            return Err(no_result(function.output[0].span()));
        }
        function.value = value.to_vec();
        Ok(function)
    }

    /// A function that returns anything; `value` is empty.
    pub(super) fn read_head(input: &Tokens) -> Result<Self, Mistake> {
        let no_function = || Mistake::at(Span::call_site(), "`#[fallible]` stands before a function with a body");
        let mut attributes = Vec::new();
        let mut at = 0;
        while let [sign, TokenTree::Group(inside), ..] = &input[at..]
            && is_punct(sign, '#')
        {
            attributes.push(Attribute::read(sign, inside)?);
            at += 2;
        }
        let start = at;
        at += input[at..].iter().position(|token| is_ident(token, "fn")).ok_or_else(no_function)? + 1;
        let (before, rest) = input[start..].split_at(at - start);
        let [TokenTree::Ident(name), rest @ .., body] = rest else { return Err(no_function()) };
        let depths = depths(rest);
        let outside = |wanted: &dyn Fn(&TokenTree) -> bool| {
            depths.iter().zip(rest).position(|(&depth, token)| depth == 0 && wanted(token))
        };
        let is_list =
            |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
        let list = outside(&is_list).ok_or_else(no_function)?;
        let TokenTree::Group(parameters) = &rest[list] else { return Err(no_function()) };
        let bounds = outside(&|token| is_ident(token, "where")).unwrap_or(rest.len());
        // What follows the arrow.
        let output = rest.get(list + 3..bounds).unwrap_or_default();
        Ok(Function {
            is_free: false,
            attributes,
            before: before.to_vec(),
            name: name.clone(),
            generics: rest[..list].to_vec(),
            parameters: parameters.clone(),
            output: output.to_vec(),
            value: vec![],
            bounds: rest[bounds..].iter().map(|token| placed(token, name.span())).collect(),
            body: body.clone(),
        })
    }

    /// The lines of its documentation.
    pub(super) fn lines(&self) -> Vec<String> {
        let lines = self.attributes.iter().filter_map(|attribute| match &attribute.kind {
            Kind::Doc(Some(text)) => Some(text.replace("\\\"", "\"").replace("\\\\", "\\")),
            _ => None,
        });
        lines.collect()
    }

    /// Its attributes that are no documentation.
    pub(super) fn others(&self) -> TokenStream {
        let others = self.attributes.iter().filter(|attribute| !matches!(attribute.kind, Kind::Doc(_)));
        others.flat_map(|attribute| attribute.tokens.clone()).collect()
    }

    /// The name of the form that returns the error, where the source names the operation.
    fn try_name(&self) -> Ident {
        Ident::new(&format!("try_{}", self.name), self.name.span())
    }

    /// A link to one of the forms.
    fn link(&self, to: &Ident) -> String {
        if self.is_free { format!("[`{to}`]") } else { format!("[`{to}`](Self::{to})") }
    }

    /// The documentation of the panicking form, which mentions the other form in its section on panics.
    fn documented(&self) -> Result<TokenStream, Mistake> {
        let twin = self.try_name();
        let mut out = TokenStream::new();
        let mut lines = self.attributes.iter().peekable();
        let mut in_section = false;
        let mut is_named = false;
        while let Some(attribute) = lines.next() {
            out.extend(attribute.tokens.clone());
            in_section |= attribute.is_heading();
            if in_section && !is_named && !lines.peek().is_some_and(|next| next.is_line()) {
                out.extend(doc(&format!(" `{twin}` returns the error instead.")));
                is_named = true;
            }
        }
        if !is_named {
            if !self.attributes.iter().any(|attribute| attribute.kind == Kind::Doc(None)) {
                let message = "`#[fallible]`: say in a section `# Panics` when the operation fails";
                return Err(Mistake::at(self.name.span(), message));
            }
            for line in ["", " # Panics", &format!(" Where `{twin}` returns an error.")] {
                out.extend(doc(line));
            }
        }
        Ok(out)
    }

    /// The panicking form.
    fn plain(&self) -> Result<TokenStream, Mistake> {
        let mut out = self.documented()?;
        let lines = self.attributes.iter().filter_map(|attribute| match &attribute.tokens[1] {
            TokenTree::Group(inside) => aliases::line(inside),
            _ => None,
        });
        out.extend(aliases::of_lines(lines, &self.name.to_string()));
        out.extend(aliases::of_names([&*self.try_name().to_string()].into_iter(), ""));
        out.extend(tokens("#[track_caller]"));
        out.extend(self.before.iter().cloned());
        out.extend([TokenTree::Ident(self.name.clone())]);
        out.extend(self.generics.iter().cloned());
        let (parameters, call) = self.parameters_and_call()?;
        out.extend([group(Delimiter::Parenthesis, parameters)]);
        let is_unit = matches!(&self.value[..], [TokenTree::Group(value)] if value.stream().is_empty());
        if !is_unit {
            out.extend(tokens("->"));
            out.extend(self.value.iter().cloned());
        }
        out.extend(self.bounds.iter().cloned());
        let mut body = tokens("crate::error::unwrap");
        body.extend([group(Delimiter::Parenthesis, call)]);
        out.extend([group(Delimiter::Brace, body)]);
        Ok(out)
    }

    /// The parameters of the panicking form, and the arguments with which it calls the other.
    fn parameters_and_call(&self) -> Result<(TokenStream, TokenStream), Mistake> {
        let (mut parameters, mut receiver, mut arguments) = (TokenStream::new(), None, TokenStream::new());
        let all: Vec<TokenTree> = self.parameters.stream().into_iter().collect();
        for parameter in listed(&all) {
            let colon = parameter.iter().position(|token| is_punct(token, ':')).unwrap_or(parameter.len());
            let (pattern, ty) = parameter.split_at(colon);
            // A parameter passed on by value need not be `mut`.
            let pattern = if is_ident(&pattern[0], "mut") { &pattern[1..] } else { pattern };
            parameters.extend(pattern.iter().chain(ty).cloned());
            parameters.extend(tokens(","));
            match pattern {
                [.., this] if is_ident(this, "self") => receiver = Some(this.clone()),
                [TokenTree::Ident(name)] if name.to_string() != "_" => {
                    arguments.extend([TokenTree::Ident(name.clone())]);
                    arguments.extend(tokens(","));
                }
                _ => return Err(Mistake::at(parameter[0].span(), "`#[fallible]`: a parameter has a name")),
            }
        }
        let mut call = match receiver {
            Some(this) => [TokenStream::from(this), tokens(".")].into_iter().collect(),
            None if self.is_free => TokenStream::new(),
            None => tokens("Self::"),
        };
        call.extend([TokenTree::Ident(self.try_name())]);
        let given = self.generic_arguments();
        if !given.is_empty() {
            call.extend(tokens("::<"));
            call.extend(given);
            call.extend(tokens(">"));
        }
        call.extend([group(Delimiter::Parenthesis, arguments)]);
        Ok((parameters, call))
    }

    /// The type and const parameters, by name.
    fn generic_arguments(&self) -> TokenStream {
        let mut out = TokenStream::new();
        let [_, inside @ .., _] = &self.generics[..] else { return out };
        for parameter in listed(inside) {
            let name = usize::from(is_ident(&parameter[0], "const"));
            if let Some(TokenTree::Ident(name)) = parameter.get(name) {
                out.extend([TokenTree::Ident(name.clone())]);
                out.extend(tokens(","));
            }
        }
        out
    }

    /// The returning form. Pages of documentation leave it out, since the other one names it; editors complete it.
    fn returning(&self) -> TokenStream {
        let mut out = doc(&format!(" {}, returning the error.", self.link(&self.name)));
        out.extend(tokens("#[cfg_attr(doc, doc(hidden))]"));
        for attribute in self.attributes.iter().filter(|attribute| attribute.kind == Kind::Both) {
            out.extend(attribute.tokens.clone());
        }
        // Of some arguments only the type is used.
        out.extend(tokens("#[allow(unused_variables)]"));
        out.extend(self.before.iter().cloned());
        out.extend([TokenTree::Ident(self.try_name())]);
        out.extend(self.generics.iter().cloned());
        out.extend([TokenTree::Group(self.parameters.clone())]);
        out.extend(tokens("->"));
        out.extend(self.output.iter().chain(&self.bounds).cloned());
        out.extend([self.body.clone()]);
        out
    }
}

/// Gives a bound written by a macro of another file the position of the operation's name: compiler messages show that position.
fn placed(token: &TokenTree, name: Span) -> TokenTree {
    let span = if token.span().file() == name.file() { token.span() } else { name };
    let mut placed = match token {
        TokenTree::Group(group) => {
            let inside = group.stream().into_iter().map(|token| self::placed(&token, name)).collect();
            TokenTree::Group(Group::new(group.delimiter(), inside))
        }
        other => other.clone(),
    };
    placed.set_span(span);
    placed
}

fn no_result(span: Span) -> Mistake {
    Mistake::at(span, "`#[fallible]`: the function returns `Result<T>`")
}
