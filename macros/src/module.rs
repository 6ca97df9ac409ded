//! `#[derive(Module)]`: reads a struct of tensors and modules from a checkpoint, and lists it, field by field.
//!
//! For `struct Linear<D: Device> { weight: Tensor<f32, S, D>, #[module(skip)] steps: usize }` it writes
//! ```text
//! impl<D: Device> Module for Linear<D> {
//!     fn read(place: &Place<'_>, initial: Option<Self>) -> Option<Self> {
//!         let (f0, f1) = match initial { Some(it) => (Some(it.weight), Some(it.steps)), None => (None, None) };
//!         let f0 = <Tensor<f32, S, D> as Module>::read(&place.field("weight"), f0);
//!         let f1 = Some(f1.unwrap_or_else(<usize as Default>::default));
//!         Some(Linear { weight: f0?, steps: f1? })
//!     }
//!     fn list<'a>(&'a self, listing: &mut Listing<'a>) {
//!         listing.field("weight", &self.weight);
//!     }
//!     // In builds that have optimisers: `list_mut`, the same for writing, and `sharing`, a module with the same tensors.
//! }
//! // In builds that have optimisers: `+=` by another, `*=` and `/=` by a number.
//! impl<D: Device> ToDevice for Linear<D> { … }
//! ```
//! All fields are read before the first `?`, so that every mismatch is reported.

use crate::{Mistake, is_ident, is_punct, root, tokens};
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// One of the type's parameters.
struct Parameter {
    /// The declaration, without its default.
    declaration: TokenStream,
    /// How the type's arguments name it.
    argument: String,
    is_device: bool,
}

struct Field {
    /// `weight`, or `0` in a tuple.
    member: String,
    ty: TokenStream,
    attributes: Attributes,
}

/// The content of `#[module(…)]`.
#[derive(Default)]
struct Attributes {
    rename: Option<String>,
    skip: bool,
    frozen: bool,
    /// `tied = "target"`, on a field.
    tied: Option<String>,
    /// `tied("own" = "target")`, on the struct.
    ties: Vec<(String, String)>,
    ignored: Vec<String>,
}

pub fn module(input: TokenStream) -> Result<TokenStream, Mistake> {
    let mut rest: Vec<TokenTree> = input.into_iter().collect();
    let whole = attributes(&mut rest, Of::Struct)?;
    skip_visibility(&mut rest);
    let span = rest.first().map_or_else(Span::call_site, TokenTree::span);
    if !rest.first().is_some_and(|token| is_ident(token, "struct")) {
        let what = if rest.first().is_some_and(|token| is_ident(token, "enum")) { "an enum" } else { "this" };
        let message = format!(
            "`#[derive(Module)]` is for structs: a checkpoint does not say which variant of {what} it holds; write a struct with an `Option` for each, or implement `castiron::Module` by hand"
        );
        return Err(Mistake::at(span, message));
    }
    rest.remove(0);
    let TokenTree::Ident(name) = rest.remove(0) else { return Err(Mistake::at(span, "a struct has a name")) };
    let parameters = parameters(&mut rest)?;
    let mut clause = TokenStream::new();
    let mut body = None;
    for token in rest {
        match token {
            TokenTree::Group(group) if group.delimiter() != Delimiter::Bracket && body.is_none() => body = Some(group),
            token if is_punct(&token, ';') => {}
            token => clause.extend([token]),
        }
    }
    let is_tuple = body.as_ref().is_some_and(|body| body.delimiter() == Delimiter::Parenthesis);
    let is_unit = body.is_none();
    let fields = body.map_or_else(|| Ok(Vec::new()), |body| fields(body.stream(), is_tuple))?;
    let shape = Struct { name, whole, parameters, clause, fields, is_tuple, is_unit };
    let mut written = shape.module();
    if shape.parameters.iter().filter(|parameter| parameter.is_device).count() == 1 {
        written.extend(shape.to_device());
    }
    Ok(written)
}

struct Struct {
    name: Ident,
    whole: Attributes,
    parameters: Vec<Parameter>,
    clause: TokenStream,
    fields: Vec<Field>,
    is_tuple: bool,
    is_unit: bool,
}

impl Struct {
    /// `impl<D: Device> Trait for Name<D> where … { body }`
    fn implementation(&self, of: &str, body: TokenStream) -> TokenStream {
        let mut written = tokens("#[automatically_derived] impl <");
        for parameter in &self.parameters {
            written.extend(parameter.declaration.clone());
            written.extend(tokens(","));
        }
        written.extend(tokens(&format!("> {of} for")));
        written.extend([TokenTree::Ident(self.name.clone())]);
        written.extend(tokens(&self.arguments(None)));
        written.extend(self.clause.clone());
        written.extend(braced(body));
        written
    }

    /// `<D, E>`; with `device`, the device parameter is replaced by it.
    fn arguments(&self, device: Option<&str>) -> String {
        let argument = |parameter: &Parameter| match device {
            Some(device) if parameter.is_device => device.to_owned(),
            _ => parameter.argument.clone(),
        };
        format!("<{}>", self.parameters.iter().map(argument).collect::<Vec<_>>().join(","))
    }

    /// The struct expression, with a value for each field.
    fn made(&self, value: impl Fn(usize, &Field) -> TokenStream) -> TokenStream {
        let mut parts = TokenStream::new();
        for (at, field) in self.fields.iter().enumerate() {
            if !self.is_tuple {
                parts.extend(tokens(&format!("{}:", field.member)));
            }
            parts.extend(value(at, field));
            parts.extend(tokens(","));
        }
        let mut written: TokenStream = TokenTree::Ident(self.name.clone()).into();
        if !self.is_unit {
            let delimiter = if self.is_tuple { Delimiter::Parenthesis } else { Delimiter::Brace };
            written.extend([TokenTree::Group(Group::new(delimiter, parts))]);
        }
        written
    }

    /// The ties declared on the struct and on its fields.
    fn ties(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let of_field = |field: &Field| Some((field.name(), field.attributes.tied.clone()?));
        self.whole.ties.iter().cloned().chain(self.fields.iter().filter_map(of_field))
    }

    fn module(&self) -> TokenStream {
        let (mut read, mut list, mut list_mut) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
        for (own, target) in self.ties() {
            read.extend(tokens(&format!("place.tie({own:?}, {target:?});")));
            for list in [&mut list, &mut list_mut] {
                list.extend(tokens(&format!("listing.tie({own:?}, {target:?});")));
            }
        }
        for name in &self.whole.ignored {
            read.extend(tokens(&format!("place.ignore({name:?});")));
        }
        let each = |write: &dyn Fn(usize, &Field) -> String| -> String {
            self.fields.iter().enumerate().map(|(at, field)| write(at, field)).collect()
        };
        read.extend(tokens(&format!(
            "let ({}) = match initial {{ \
                 ::core::option::Option::Some(it) => ({}), ::core::option::Option::None => ({}) }};",
            each(&|at, _| format!("f{at},")),
            each(&|_, field| format!("::core::option::Option::Some(it.{}),", field.member)),
            each(&|_, _| "::core::option::Option::None,".to_owned()),
        )));
        for (at, field) in self.fields.iter().enumerate() {
            let name = field.name();
            if field.attributes.skip {
                let default = of_type(field, "as ::core::default::Default>::default()");
                let mut otherwise = tokens("|| ::core::option::Option::Some");
                otherwise.extend(parenthesised(default));
                read.extend(tokens(&format!("let f{at} = f{at}.or_else")));
                read.extend(parenthesised(otherwise));
                read.extend(tokens(";"));
                continue;
            }
            let frozen = |by: &'static str| if field.attributes.frozen { by } else { "" };
            let place = format!("place.field({name:?}){}", frozen(".frozen()"));
            read.extend(tokens(&format!("let f{at} =")));
            read.extend(of_type(field, &format!("as ::castiron::Module>::read(&{place}, f{at});")));
            for (list, method) in [(&mut list, "list(&"), (&mut list_mut, "list_mut(&mut ")] {
                list.extend(tokens(&format!("let outer = listing.enter({name:?}); {}", frozen("listing.freeze();"))));
                list.extend(of_type(
                    field,
                    &format!("as ::castiron::Module>::{method}self.{}, listing);", field.member),
                ));
                list.extend(tokens("listing.leave(outer);"));
            }
        }
        read.extend(tokens("::core::option::Option::Some"));
        read.extend(parenthesised(self.made(|at, _| tokens(&format!("f{at}?")))));
        let mut body = tokens(
            "#[allow(clippy::let_unit_value, unused_variables)] \
             fn read(place: &::castiron::io::Place<'_>, initial: ::core::option::Option<Self>) -> ::core::option::Option<Self>",
        );
        body.extend(braced(read));
        body.extend(tokens(
            "#[allow(unused_variables)] fn list<'castiron>(&'castiron self, listing: &mut ::castiron::io::Listing<'castiron>)",
        ));
        body.extend(braced(list));
        let mut learned = tokens(
            "#[allow(unused_variables)] \
             fn list_mut<'castiron>(&'castiron mut self, listing: &mut ::castiron::io::ListingMut<'castiron>)",
        );
        learned.extend(braced(list_mut));
        learned.extend(tokens("fn sharing(&self) -> ::core::option::Option<Self>"));
        let shared = self.made(|_, field| {
            if field.attributes.skip {
                return of_type(field, "as ::core::default::Default>::default()");
            }
            of_type(field, &format!("as ::castiron::Module>::sharing(&self.{})?", field.member))
        });
        let mut result = tokens("::core::option::Option::Some");
        result.extend(parenthesised(shared));
        learned.extend(braced(result));
        body.extend(if_learned(learned));
        let mut written = self.implementation("::castiron::Module", body);
        written.extend(if_learned(self.operators()));
        written
    }

    /// `+=` by another, `*=` and `/=` by a number.
    fn operators(&self) -> TokenStream {
        let mut written = TokenStream::new();
        for (of, method, other, by) in [
            ("AddAssign<&Self>", "add_assign", "&Self", "add_scaled(self, other, 1.0)"),
            ("MulAssign<f64>", "mul_assign", "f64", "scale(self, other)"),
            ("DivAssign<f64>", "div_assign", "f64", "scale(self, 1.0 / other)"),
        ] {
            let body = format!(
                "#[track_caller] fn {method}(&mut self, other: {other}) {{ <Self as ::castiron::Module>::{by}; }}"
            );
            written.extend(self.implementation(&format!("::core::ops::{of}"), tokens(&body)));
        }
        written
    }

    fn to_device(&self) -> TokenStream {
        let moved = self.made(|_, field| {
            let member = &field.member;
            if field.attributes.skip {
                return of_type(field, &format!("as ::core::clone::Clone>::clone(&self.{member})"));
            }
            // (At the position of the field's type, which rustc underlines if it does not fit the device.)
            let span = field.ty.clone().into_iter().next().map_or_else(Span::call_site, |first| first.span());
            let at_field = |text: &str| located(tokens(text), Span::call_site().located_at(span));
            let mut moved = at_field("::castiron::io::moved::<");
            moved.extend(field.ty.clone());
            moved.extend(tokens(", ToX,"));
            // A type that does not name the device must be unchanged by the move; otherwise rustc reports it at this field.
            let device = self.parameters.iter().find(|parameter| parameter.is_device);
            match device {
                Some(device) if !names(&field.ty, &device.argument) => moved.extend(field.ty.clone()),
                _ => moved.extend(tokens("_")),
            }
            let (name, is_frozen) = (field.name(), field.attributes.frozen);
            moved.extend(at_field(&format!(">(&self.{member}, {name:?}, {is_frozen}, map)?")));
            moved
        });
        let mut body = tokens("type On<ToX: ::castiron::Device> =");
        body.extend([TokenTree::Ident(self.name.clone())]);
        body.extend(tokens(&format!("{};", self.arguments(Some("ToX")))));
        let own = self.parameters.iter().find(|parameter| parameter.is_device).map_or("", |device| &device.argument);
        body.extend(tokens(&format!(
            "type Device = {own}; type Holds = ::castiron::io::Mixed; \
             #[allow(unused_variables)] fn mapped<ToX: ::castiron::Device>(\
             &self, map: &mut impl ::castiron::io::MapTensors<{own}, ToX>) -> ::castiron::Result<Self::On<ToX>>"
        )));
        let mut result = TokenStream::new();
        let ties: String = self.ties().map(|(own, target)| format!("walk.tie({own:?}, {target:?});")).collect();
        if !ties.is_empty() {
            let noted = format!("if let ::core::option::Option::Some(walk) = map.walk() {{ {ties} }}");
            result.extend(tokens(&noted));
        }
        result.extend(tokens("::core::result::Result::Ok"));
        result.extend(parenthesised(moved));
        body.extend(braced(result));
        self.implementation("::castiron::io::ToDevice", body)
    }
}

impl Field {
    /// The field's name in a checkpoint.
    fn name(&self) -> String {
        let own = || self.member.trim_start_matches("r#").to_owned();
        self.attributes.rename.clone().unwrap_or_else(own)
    }
}

/// The tokens, at another position in the source.
fn located(stream: TokenStream, span: Span) -> TokenStream {
    let at = |mut token: TokenTree| {
        if let TokenTree::Group(group) = &token {
            token = TokenTree::Group(Group::new(group.delimiter(), located(group.stream(), span)));
        }
        token.set_span(span);
        token
    };
    stream.into_iter().map(at).collect()
}

/// Whether a name occurs anywhere in a type.
fn names(ty: &TokenStream, name: &str) -> bool {
    ty.clone().into_iter().any(|token| match token {
        TokenTree::Group(group) => names(&group.stream(), name),
        token => is_ident(&token, name),
    })
}

/// `<Type` followed by `rest`.
fn of_type(field: &Field, rest: &str) -> TokenStream {
    let mut written = tokens("<");
    written.extend(field.ty.clone());
    written.extend(tokens(rest));
    written
}

/// Written in builds that have optimisers.
fn if_learned(body: TokenStream) -> TokenStream {
    let mut written = tokens("::castiron::__learned!");
    written.extend(braced(body));
    written
}

fn braced(body: TokenStream) -> TokenStream {
    TokenTree::Group(Group::new(Delimiter::Brace, body)).into()
}

fn parenthesised(body: TokenStream) -> TokenStream {
    TokenTree::Group(Group::new(Delimiter::Parenthesis, body)).into()
}

fn skip_visibility(rest: &mut Vec<TokenTree>) {
    if rest.first().is_some_and(|token| is_ident(token, "pub")) {
        rest.remove(0);
        let is_part =
            |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
        // (The type of a tuple field may look like this itself, `pub (A, B)`: then nothing follows the group.)
        if rest.len() > 1 && rest.first().is_some_and(is_part) {
            rest.remove(0);
        }
    }
}

/// Takes the generic parameters after a struct's name.
fn parameters(rest: &mut Vec<TokenTree>) -> Result<Vec<Parameter>, Mistake> {
    if !rest.first().is_some_and(|token| is_punct(token, '<')) {
        return Ok(Vec::new());
    }
    let mut depth = 0;
    let mut end = rest.len();
    for (at, token) in rest.iter().enumerate() {
        let is_arrow = at > 0 && is_punct(&rest[at - 1], '-');
        depth += i32::from(is_punct(token, '<')) - i32::from(is_punct(token, '>') && !is_arrow);
        if depth == 0 {
            end = at;
            break;
        }
    }
    let inner: Vec<TokenTree> = rest.drain(..=end.min(rest.len() - 1)).collect();
    let inner = &inner[1..inner.len() - 1];
    split(inner, ',').into_iter().filter(|part| !part.is_empty()).map(parameter).collect()
}

fn parameter(tokens: &[TokenTree]) -> Result<Parameter, Mistake> {
    let declaration = split(tokens, '=').swap_remove(0);
    let name = |at: usize| declaration.get(at).map_or_else(String::new, TokenTree::to_string);
    let argument = match name(0).as_str() {
        "'" => format!("'{}", name(1)),
        "const" => name(1),
        name => name.to_owned(),
    };
    // The last names of the bounds: `D: Device`, `D: castiron::Device + OnHost`.
    let bounds = split(declaration, ':');
    let ends_so = |bound: &&[TokenTree]| bound.last().is_some_and(|token| is_ident(token, "Device"));
    let is_device = bounds.len() > 1 && bounds[1..].iter().any(|part| split(part, '+').iter().any(ends_so));
    Ok(Parameter { declaration: declaration.iter().cloned().collect(), argument, is_device })
}

/// The parts between separators outside angle brackets.
fn split(tokens: &[TokenTree], separator: char) -> Vec<&[TokenTree]> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0);
    for (at, token) in tokens.iter().enumerate() {
        let is_arrow = at > 0 && is_punct(&tokens[at - 1], '-');
        depth += i32::from(is_punct(token, '<')) - i32::from(is_punct(token, '>') && !is_arrow);
        if depth == 0 && is_punct(token, separator) {
            parts.push(&tokens[start..at]);
            start = at + 1;
        }
    }
    parts.push(&tokens[start..]);
    parts
}

fn fields(body: TokenStream, is_tuple: bool) -> Result<Vec<Field>, Mistake> {
    let body: Vec<TokenTree> = body.into_iter().collect();
    let mut fields = Vec::new();
    for part in split(&body, ',').into_iter().filter(|part| !part.is_empty()) {
        let mut part = part.to_vec();
        let attributes = attributes(&mut part, Of::Field)?;
        skip_visibility(&mut part);
        let mut member = fields.len().to_string();
        if !is_tuple {
            member = part.remove(0).to_string();
            // The colon.
            part.remove(0);
        }
        fields.push(Field { member, ty: part.into_iter().collect(), attributes });
    }
    Ok(fields)
}

#[derive(Clone, Copy, PartialEq)]
enum Of {
    Struct,
    Field,
}

/// Takes the attributes in front; those of other macros are ignored.
fn attributes(rest: &mut Vec<TokenTree>, of: Of) -> Result<Attributes, Mistake> {
    let mut found = Attributes::default();
    while rest.first().is_some_and(|token| is_punct(token, '#')) {
        rest.remove(0);
        let TokenTree::Group(attribute) = rest.remove(0) else { continue };
        let mut inner = attribute.stream().into_iter();
        let is_own = inner.next().is_some_and(|token| is_ident(&token, "module"));
        if let (true, Some(TokenTree::Group(list))) = (is_own, inner.next()) {
            let list: Vec<TokenTree> = list.stream().into_iter().collect();
            for item in split(&list, ',').into_iter().filter(|item| !item.is_empty()) {
                read_item(item, of, &mut found)?;
            }
        }
    }
    Ok(found)
}

const HELP: &str = "`#[module(…)]` of a field takes `rename = …`, `tied = …` (names in quotes), `skip` and `frozen`, of a struct `tied(… = …)`, `ignore(…)` and `crate = …`";

fn read_item(item: &[TokenTree], of: Of, found: &mut Attributes) -> Result<(), Mistake> {
    let wrong = || Mistake::at(item[0].span(), HELP);
    let name = item[0].to_string();
    match (of, name.as_str(), &item[1..]) {
        (Of::Field, "skip", []) => found.skip = true,
        (Of::Field, "frozen", []) => found.frozen = true,
        (Of::Field, "rename", [equals, value]) if is_punct(equals, '=') => found.rename = Some(string(value)?),
        (Of::Field, "tied", [equals, value]) if is_punct(equals, '=') => found.tied = Some(string(value)?),
        (Of::Struct, "crate", [equals, path]) if is_punct(equals, '=') => root::set(path)?,
        (Of::Struct, "ignore", [TokenTree::Group(list)]) => {
            for value in list.stream().into_iter().filter(|token| !is_punct(token, ',')) {
                found.ignored.push(string(&value)?);
            }
        }
        (Of::Struct, "tied", [TokenTree::Group(list)]) => {
            let list: Vec<TokenTree> = list.stream().into_iter().collect();
            for pair in split(&list, ',').into_iter().filter(|pair| !pair.is_empty()) {
                let [own, equals, target] = pair else { return Err(wrong()) };
                if !is_punct(equals, '=') {
                    return Err(wrong());
                }
                found.ties.push((string(own)?, string(target)?));
            }
        }
        _ => return Err(wrong()),
    }
    Ok(())
}

/// The text of a plain string literal.
fn string(token: &TokenTree) -> Result<String, Mistake> {
    let text = token.to_string();
    let inner = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    match inner {
        Some(inner) if !inner.contains('\\') => Ok(inner.to_owned()),
        _ => Err(Mistake::at(token.span(), "a name of a checkpoint is expected, as a string: `\"layers.0.weight\"`")),
    }
}
