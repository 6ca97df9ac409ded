//! `#[operations]` before an `impl AnyTensor`: attributes on its methods add further forms of them.
//!
//! | attribute | writes |
//! |---|---|
//! | `#[op(linalg.cross(input, other, dim = -1), dtypes = numeric)]` | an entry by name, in the list `OPERATIONS` of the file (`#[operations(NAME)]` gives the list another name); a method may have several |
//! | `#[in_place("tensor![1, 5]" "3" = "[3, 5]")]` | `cross_`, of `AnyTensor` and `AnyViewMut`, which overwrites the elements with the result; by name, too. The strings are its example: the operand, the arguments, the elements after the call |
//! | `#[view_mut]`, `#[view_mut(reshape_mut)]` | the same view, mutable: `select_mut` |
//! | `#[parts_mut]` | several mutable views that share no elements: `split_mut` |
//! | `#[each(RANK = 1 2 3)]` | the method once for each column (`each.rs`) |
//!
//! The arguments by name are the parameters in order, `self` first. `x = value` is optional, `x = _` is accepted and ignored, `x = self`
//! puts `self` at another position, `*x` takes all remaining arguments. A function whose only parameter is `&Bound` reads the arguments
//! itself. Columns: `dtypes` is a rule of `ops::rules`, or words (every dtype if it is missing); `output` says which dtypes an existing
//! output may have (`any::call::Output`); `aliases("…")` are other names; `needs_elements` says that the dtype and sizes of the result
//! cannot be told from operands on `meta`; `in_place` and `in_place(view)` say that an in-place form exists by name only. A parameter `impl
//! Scalar` is a `ScalarValue` in the body, so that calls by name reach it, too.  The method's own tokens pass unchanged; the tokens added
//! have the position of the method's name, so that an editor jumps there.

use crate::each::{between_commas, each};
use crate::{Mistake, aliases, is_ident, is_punct};
use proc_macro::{Delimiter, Group, Ident, Span, TokenStream, TokenTree};

/// An attribute that this macro reads, with its arguments.
struct Marked {
    name: String,
    span: Span,
    arguments: Vec<TokenTree>,
}

/// A parameter of a method: its name and type as text.
struct Parameter {
    name: String,
    ty: String,
}

/// A method of the block.
struct Method {
    /// Attributes for rustc, and everything else before `fn`.
    before: Vec<TokenTree>,
    name: Ident,
    /// The position of `self`. (Code a macro writes can only refer to a `self` from the same macro.)
    receiver: Option<Span>,
    parameters: Vec<Parameter>,
    /// From `fn` to the end.
    rest: Vec<TokenTree>,
    marked: Vec<Marked>,
}

/// An argument in a call by name: `dim = -1`.
struct Argument {
    /// With its `*`, if it takes all remaining arguments.
    name: String,
    default: Option<Default>,
}

enum Default {
    /// Accepted in the call, not passed to the method.
    Unused,
    /// The value the method is called on, where that is not the first argument.
    Receiver,
    Value(String),
}

/// The content of the attribute `op`.
struct Row {
    name: String,
    arguments: Vec<Argument>,
    columns: Vec<(String, String)>,
}

/// `name` is the name of the list of entries, `OPERATIONS` if it is empty.
pub(super) fn operations(name: TokenStream, input: TokenStream) -> Result<TokenStream, Mistake> {
    let list = if name.is_empty() { "OPERATIONS".to_owned() } else { name.to_string() };
    let mut tokens: Vec<TokenTree> = input.into_iter().collect();
    let Some(TokenTree::Group(body)) = tokens.pop() else {
        return Err(Mistake::at(Span::call_site(), "`operations` stands before `impl AnyTensor { … }`"));
    };
    let (mut items, mut rows, mut methods, mut views) = (TokenStream::new(), vec![], vec![], vec![]);
    let mut rest: Vec<TokenTree> = body.stream().into_iter().collect();
    while !rest.is_empty() {
        let after = rest.split_off(end_of_item(&rest));
        let mut forms = each(core::mem::replace(&mut rest, after))?.into_iter().map(|(item, _)| item);
        let item = forms.next().unwrap_or_default();
        rest.splice(0..0, forms.flatten());
        let Some(method) = method(item.clone())? else {
            items.extend(item);
            continue;
        };
        let own = method.marked.iter().filter(|marked| marked.name == "op").map(row).collect::<Result<Vec<_>, _>>()?;
        for row in &own {
            rows.push((row_text(&method, row)?, method.name.span()));
        }
        for marked in &method.marked {
            match &*marked.name {
                "op" => {}
                "in_place" => {
                    methods.push((in_place_text(&method, &example(marked)?), method.name.span()));
                    views.push((in_place_of_view_text(&method), method.name.span()));
                }
                _ => {
                    let text = mutable_text(&method, marked);
                    methods.push((text.clone(), method.name.span()));
                    views.push((text, method.name.span()));
                }
            }
        }
        items.extend(written(method, &own));
    }
    let mut body = Group::new(Delimiter::Brace, items);
    body.set_span(Span::call_site());
    let mut out: TokenStream = tokens.into_iter().collect();
    out.extend([TokenTree::Group(body)]);
    if !methods.is_empty() {
        out.extend(group("impl crate::any::AnyTensor", Delimiter::Brace, &methods));
        out.extend(group("impl crate::any::AnyViewMut<'_>", Delimiter::Brace, &views));
    }
    if !rows.is_empty() {
        let head = format!(
            "/// Operations by name.
            #[allow(clippy::redundant_closure)] // defaults are written as `|| default`
            pub(crate) const {list}: &[crate::any::call::NamedOp] = &"
        );
        out.extend(group(&head, Delimiter::Bracket, &rows));
        out.extend(text_at(";", Span::call_site()));
    }
    Ok(out)
}

/// Text as tokens that all have one place.
pub(super) fn text_at(text: &str, span: Span) -> TokenStream {
    fn at(stream: TokenStream, span: Span) -> TokenStream {
        let place = |token| match token {
            TokenTree::Group(group) => {
                let mut placed = Group::new(group.delimiter(), at(group.stream(), span));
                placed.set_span(span);
                TokenTree::Group(placed)
            }
            mut other => {
                other.set_span(span);
                other
            }
        };
        stream.into_iter().map(place).collect()
    }
    at(crate::tokens(text), span)
}

/// The token, with every `self` in it moved to this position.
fn respanned_self(token: TokenTree, span: Span) -> TokenTree {
    match token {
        TokenTree::Group(group) => {
            let inside = group.stream().into_iter().map(|token| respanned_self(token, span)).collect();
            let mut respanned = Group::new(group.delimiter(), inside);
            respanned.set_span(group.span());
            TokenTree::Group(respanned)
        }
        TokenTree::Ident(mut ident) if ident.to_string() == "self" => {
            ident.set_span(span);
            TokenTree::Ident(ident)
        }
        other => other,
    }
}

/// `head { texts }`, each text at its position.
fn group(head: &str, delimiter: Delimiter, texts: &[(String, Span)]) -> TokenStream {
    let inside = texts.iter().flat_map(|(text, span)| text_at(text, *span)).collect();
    let mut out = text_at(head, Span::call_site());
    out.extend([TokenTree::Group(Group::new(delimiter, inside))]);
    out
}

/// How many tokens the first item of a block has: up to its body or its semicolon.
pub(super) fn end_of_item(tokens: &[TokenTree]) -> usize {
    let ends = |token: &TokenTree| match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        other => is_punct(other, ';'),
    };
    tokens.iter().position(ends).map_or(tokens.len(), |at| at + 1)
}

pub(super) fn text(tokens: &[TokenTree]) -> String {
    tokens.iter().cloned().collect::<TokenStream>().to_string()
}

/// A method with attributes that this macro reads; `None` for other items.
fn method(item: Vec<TokenTree>) -> Result<Option<Method>, Mistake> {
    let (mut before, mut marked) = (vec![], vec![]);
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next_if(|token| !is_ident(token, "fn")) {
        let attribute = match tokens.peek() {
            Some(TokenTree::Group(group)) if is_punct(&token, '#') => attribute(group),
            _ => None,
        };
        match attribute {
            Some(attribute) => {
                marked.push(attribute);
                tokens.next();
            }
            None => before.push(token),
        }
    }
    let rest: Vec<TokenTree> = tokens.collect();
    let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(group))) = (rest.get(1), rest.get(2)) else {
        return match marked.first() {
            None => Ok(None),
            Some(marked) => Err(Mistake::at(marked.span, "an operation is a function without generic parameters")),
        };
    };
    if marked.is_empty() {
        return Ok(None);
    }
    let mut parts = between_commas(group.stream().into_iter().collect());
    let receiver = parts.first().and_then(|part| part.last()).filter(|token| is_ident(token, "self"));
    let receiver = receiver.map(TokenTree::span);
    if receiver.is_some() {
        parts.remove(0);
    }
    let mut parameters = vec![];
    for part in parts {
        match &part[..] {
            [TokenTree::Ident(name), colon, ty @ ..] if is_punct(colon, ':') => {
                parameters.push(Parameter { name: name.to_string(), ty: text(ty) });
            }
            other => {
                let span = other.first().map_or(name.span(), TokenTree::span);
                return Err(Mistake::at(span, "a parameter of an operation is `name: type`"));
            }
        }
    }
    Ok(Some(Method { before, name: name.clone(), receiver, parameters, rest, marked }))
}

/// The name and the arguments of an attribute of this macro.
fn attribute(group: &Group) -> Option<Marked> {
    let mut tokens = group.stream().into_iter();
    let Some(TokenTree::Ident(name)) = tokens.next() else { return None };
    let span = name.span();
    let name = name.to_string();
    if !matches!(&*name, "op" | "in_place" | "view_mut" | "parts_mut") {
        return None;
    }
    let arguments = match tokens.next() {
        Some(TokenTree::Group(group)) => group.stream().into_iter().collect(),
        _ => vec![],
    };
    Some(Marked { name, span, arguments })
}

/// `linalg.diagonal(input, offset = 0, dim1 = -2, dim2 = -1), dtypes = numeric, in_place(view), aliases("…")`
fn row(marked: &Marked) -> Result<Row, Mistake> {
    let expected = "expected `name(arguments), columns`";
    let mut parts = between_commas(marked.arguments.clone()).into_iter();
    let call = parts.next().unwrap_or_default();
    let Some((TokenTree::Group(arguments), name)) = call.split_last() else {
        return Err(Mistake::at(marked.span, expected));
    };
    let mut row = Row { name: text(name).replace(' ', ""), arguments: vec![], columns: vec![] };
    for argument in between_commas(arguments.stream().into_iter().collect()) {
        let equals = argument.iter().position(|token| is_punct(token, '='));
        let default = equals.map(|at| match &argument[at + 1..] {
            [unused] if is_ident(unused, "_") => Default::Unused,
            [receiver] if is_ident(receiver, "self") => Default::Receiver,
            value => Default::Value(text(value)),
        });
        let name = text(&argument[..equals.unwrap_or(argument.len())]).replace(' ', "");
        row.arguments.push(Argument { name, default });
    }
    for column in parts {
        let mut column = column.into_iter();
        let Some(TokenTree::Ident(name)) = column.next() else {
            return Err(Mistake::at(marked.span, expected));
        };
        let value = match column.next() {
            None => String::new(),
            Some(TokenTree::Group(group)) => group.stream().to_string(),
            Some(_) => text(&column.collect::<Vec<_>>()),
        };
        row.columns.push((name.to_string(), value));
    }
    Ok(row)
}

impl Method {
    fn is_marked(&self, name: &str) -> bool {
        self.marked.iter().any(|marked| marked.name == name)
    }

    /// Whether the function reads the arguments of a call by name itself.
    fn reads_arguments(&self) -> bool {
        matches!(&self.parameters[..], [only] if only.ty.contains("Bound"))
    }

    /// Whether the function's result is one of several types.
    fn gives_value(&self) -> bool {
        let result = &self.rest[3..self.rest.len() - 1];
        plain(&text(result)) == "->Result<Value>"
    }

    fn takes_scalars(&self) -> bool {
        self.parameters.iter().any(|parameter| plain(&parameter.ty) == "implScalar")
    }

    /// `, dim: i64, n: usize`
    fn declared(&self) -> String {
        self.parameters.iter().map(|parameter| format!(", {}: {}", parameter.name, parameter.ty)).collect()
    }

    /// `dim, n`
    fn passed(&self) -> String {
        self.parameters.iter().map(|parameter| parameter.name.clone()).collect::<Vec<_>>().join(", ")
    }
}

fn plain(ty: &str) -> String {
    ty.replace(char::is_whitespace, "")
}

/// The type as which an argument by name is read, and how it is passed to a parameter of type `ty`.
fn read_as(ty: &str) -> (String, &'static str, &'static str) {
    let bare = plain(ty);
    if let Some(list) = bare.strip_prefix("Option<&[").and_then(|rest| rest.strip_suffix("]>")) {
        return (format!("Option<Vec<{list}>>"), "", ".as_deref()");
    }
    if let Some(list) = bare.strip_prefix("&[").and_then(|rest| rest.strip_suffix(']')) {
        return (format!("Vec<{list}>"), "&", "");
    }
    match &*bare {
        "implIntoSizes" => ("Vec<i64>".to_owned(), "&", ""),
        "implInto<AnyOperand>" => ("crate::any::AnyOperand".to_owned(), "", ""),
        "implScalar" => ("crate::ScalarValue".to_owned(), "", ""),
        _ => (ty.to_owned(), "", ""),
    }
}

/// The entry of an operation by name.
fn row_text(method: &Method, row: &Row) -> Result<String, Mistake> {
    let Row { name, arguments, columns } = row;
    let list =
        |names: &mut dyn Iterator<Item = &str>| names.map(|name| format!("{name:?}")).collect::<Vec<_>>().join(", ");
    let names = list(&mut arguments.iter().map(|argument| &*argument.name));
    let mut in_place = if method.is_marked("in_place") { "Elements" } else { "Absent" };
    let (mut dtypes, mut forms) = ("\"all dtypes\"".to_owned(), String::new());
    for (column, value) in columns {
        match (&**column, &**value) {
            ("dtypes", value) if value.starts_with('"') => dtypes = value.to_owned(),
            ("dtypes", value) => dtypes = format!("crate::ops::rules::admit::Admits::{value}.words()"),
            ("output", value) => forms += &format!(".output(crate::any::call::Output::{value})"),
            ("aliases", value) => forms += &format!(".aliases(&[{value}])"),
            ("needs_elements", "") => forms += ".needs_elements()",
            ("in_place", "view") => in_place = "View",
            ("in_place", "") => in_place = "Elements",
            _ => {
                let message = format!(
                    "an operation has no column `{column}`: its columns are dtypes, output, aliases, needs_elements and in_place"
                );
                return Err(Mistake::at(method.name.span(), message));
            }
        }
    }
    let run = if method.reads_arguments() {
        format!("crate::any::AnyTensor::{}", method.name)
    } else {
        run_text(method, arguments)?
    };
    Ok(format!(
        "crate::any::call::NamedOp {{ name: {name:?}, arguments: &[{names}], dtypes: {dtypes},
            run: crate::any::call::Run::Bound({run}),
            forms: crate::any::call::Forms::NEW.in_place(crate::any::call::InPlace::{in_place}){forms} }},"
    ))
}

/// The function that reads the arguments and calls the method.
fn run_text(method: &Method, arguments: &[Argument]) -> Result<String, Mistake> {
    let this = Parameter { name: "self".to_owned(), ty: "&crate::any::AnyTensor".to_owned() };
    let parameters: Vec<&Parameter> = method.receiver.map(|_| &this).into_iter().chain(&method.parameters).collect();
    let mut used: Vec<&Argument> =
        arguments.iter().filter(|argument| !matches!(argument.default, Some(Default::Unused))).collect();
    used.sort_by_key(|argument| !matches!(argument.default, Some(Default::Receiver)));
    if used.len() != parameters.len() {
        let message = format!(
            "{} arguments by name for {} parameters: an argument that the method does not take is written `name = _`",
            used.len(),
            parameters.len()
        );
        return Err(Mistake::at(method.name.span(), message));
    }
    let (mut reads, mut passes) = (String::new(), vec![]);
    for (at, (argument, parameter)) in used.iter().zip(parameters).enumerate() {
        let (ty, before, after) = read_as(&parameter.ty);
        let name = &argument.name;
        reads += &match &argument.default {
            Some(Default::Value(value)) if ty.ends_with("ScalarValue") => {
                format!("let given{at} = args.read_or::<{ty}>({name:?}, || crate::Scalar::value({value}))?;")
            }
            Some(Default::Value(value)) if ty.ends_with("AnyOperand") => {
                format!("let given{at} = args.read_or::<{ty}>({name:?}, || {ty}::from({value}))?;")
            }
            Some(Default::Value(value)) => format!("let given{at} = args.read_or::<{ty}>({name:?}, || {value})?;"),
            _ => format!("let given{at} = args.read::<{ty}>({name:?})?;"),
        };
        passes.push(format!("{before}given{at}{after}"));
    }
    let by_value = if method.takes_scalars() { "_by_value" } else { "" };
    let called = format!("crate::any::AnyTensor::{}{by_value}({})", method.name, passes.join(", "));
    let result = if method.gives_value() { called } else { format!("Ok({called}?.into())") };
    Ok(format!("|args| {{ {reads} {result} }}"))
}

/// The example of an in-place form: operand, arguments, elements after the call.
fn example(marked: &Marked) -> Result<[String; 3], Mistake> {
    let texts: Vec<String> = marked.arguments.iter().map(ToString::to_string).collect();
    match texts.iter().map(|text| text.trim_matches('"')).collect::<Vec<_>>()[..] {
        [operand, arguments, "=", elements] => Ok([operand, arguments, elements].map(str::to_owned)),
        _ => Err(Mistake::at(marked.span, "expected an example: `in_place(\"tensor![1, 5]\" \"3\" = \"[3, 5]\")`")),
    }
}

/// The in-place form.
fn in_place_text(method: &Method, [operand, arguments, elements]: &[String; 3]) -> String {
    let (name, declared, passed) = (method.name.to_string(), method.declared(), method.passed());
    let lines = [
        format!("[`{name}`](Self::{name}) in place (`torch.Tensor.{name}_`)."),
        String::new(),
        "# Errors".to_owned(),
        "As there, and if the result can't be cast to the dtype or has another shape. Nothing is written then."
            .to_owned(),
        String::new(),
        "```".to_owned(),
        "# use castiron::{AnyTensor, ScatterReduce, tensor};".to_owned(),
        format!("let mut x = AnyTensor::from({operand});"),
        format!("x.{name}_({arguments})?;"),
        format!("assert_eq!(x.to_string(), tensor!{elements}.to_string());"),
        "# Ok::<(), castiron::Error>(())".to_owned(),
        "```".to_owned(),
    ];
    let docs: String = lines.iter().map(|line| format!("#[doc = {line:?}] ")).collect();
    format!(
        "{docs} pub fn {name}_(&mut self{declared}) -> crate::error::Result<&mut Self> {{
            let result = self.{name}({passed})?;
            self.overwrite(\"{name}_\", &result)
        }}"
    )
}

/// The in-place form for a mutable view.
fn in_place_of_view_text(method: &Method) -> String {
    let (name, declared, passed) = (method.name.to_string(), method.declared(), method.passed());
    format!(
        "#[doc = \"As [`AnyTensor::{name}_`](crate::AnyTensor::{name}_), where the elements are.\"]
        #[doc = \"\"]
        #[doc = \"# Errors\"]
        #[doc = \"As there; nothing is written then.\"]
        pub fn {name}_(&mut self{declared}) -> crate::error::Result<&mut Self> {{
            self.tensor.{name}_({passed})?;
            Ok(self)
        }}"
    )
}

/// The form that gives a mutable view, or several that share no elements.
fn mutable_text(method: &Method, marked: &Marked) -> String {
    let (name, declared, passed) = (method.name.to_string(), method.declared(), method.passed());
    let called = match &marked.arguments[..] {
        [] => format!("{name}_mut"),
        other => text(other),
    };
    let (result, run) = if marked.name == "view_mut" {
        ("crate::any::AnyViewMut<'_>", format!("viewed_mut(\"{called}\", |x| x.{name}({passed}))"))
    } else {
        ("Vec<crate::any::AnyViewMut<'_>>", format!("apart(|x| x.{name}({passed}))"))
    };
    let errors = if marked.name == "view_mut" {
        "As there; if two positions would lead to one element, or elements would be copied; and if storage is shared and memory for a copy runs out."
    } else {
        "As there, and if storage is shared and memory for a copy runs out."
    };
    format!(
        "#[doc = \"As [`AnyTensor::{name}`](crate::AnyTensor::{name}), to be written where the elements are.\"]
        #[doc = \"\"]
        #[doc = \"# Errors\"]
        #[doc = \"{errors}\"]
        pub fn {called}(&mut self{declared}) -> crate::error::Result<{result}> {{
            self.borrowed_mut()?.{run}
        }}"
    )
}

/// How to call it by name, as the last paragraph of its documentation.
fn documented(row: &Row) -> TokenStream {
    let argument = |argument: &Argument| match &argument.default {
        Some(Default::Value(value)) => format!("{}={}", argument.name, value.replace(' ', "").replace('"', "'")),
        _ => argument.name.clone(),
    };
    let arguments = row.arguments.iter().map(argument).collect::<Vec<_>>().join(", ");
    let line = format!("[By name](crate::any::call()): `{}({arguments})`.", row.name);
    crate::tokens(&format!("#[doc = \"\"] #[doc = {line:?}]"))
}

/// The method itself. One that takes `impl Scalar` passes the values to a second method, which calls by name use, too.
fn written(method: Method, rows: &[Row]) -> TokenStream {
    let attributes = method.before.iter().position(|token| is_ident(token, "pub")).unwrap_or(method.before.len());
    let (attributes, visibility) = method.before.split_at(attributes);
    let mut out: TokenStream = attributes.iter().cloned().collect();
    if !visibility.is_empty() {
        out.extend(rows.iter().flat_map(documented));
        let names = rows.iter().flat_map(|row| {
            let others = row.columns.iter().filter(|(column, _)| column == "aliases");
            let others = others.flat_map(|(_, names)| names.split('"').skip(1).step_by(2));
            core::iter::once(&*row.name).chain(others)
        });
        out.extend(aliases::of_names(names, &method.name.to_string()));
    }
    out.extend(visibility.iter().cloned());
    if !method.takes_scalars() {
        out.extend(method.rest);
        return out;
    }
    let (name, span) = (method.name.to_string(), method.name.span());
    let receiver = method.receiver.unwrap_or(span);
    let this = |stream: TokenStream| -> TokenStream {
        stream.into_iter().map(|token| respanned_self(token, receiver)).collect()
    };
    let pass = |parameter: &Parameter| match &*plain(&parameter.ty) {
        "implScalar" => format!("crate::Scalar::value({})", parameter.name),
        _ => parameter.name.clone(),
    };
    let passed = method.parameters.iter().map(pass).collect::<Vec<_>>().join(", ");
    let mut head = method.rest.clone();
    let body = head.pop();
    let result = head[3..].to_vec();
    out.extend(head);
    out.extend(this(text_at(&format!("{{ self.{name}_by_value({passed}) }}"), span)));
    let declared = method.declared().replace("impl Scalar", "crate::ScalarValue");
    out.extend(this(text_at(&format!("fn {name}_by_value(&self{declared})"), span)));
    out.extend(result.into_iter().chain(body));
    out
}
