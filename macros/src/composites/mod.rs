//! `#[composites]` before an `impl Erased`: the methods of `Tensor` and `AnyTensor` that run each function of the block, their documentation
//! and the rows by name.
//!
//! | attribute | says |
//! |---|---|
//! | `#[op(linalg.cross(input, other, dim = -1), dtypes = numeric)]` | PyTorch's name, arguments and defaults, as for `#[operations]`; of several the first is named in the documentation. `dtypes` is the rule whose set `AnyTensor` chooses `E` from; `over = [f32, f64]` is another set, `over = float` another rule, which is that of `Tensor`, too; `typed = float` is that of `Tensor` alone. `field` is the set of dtypes that matrices are factored in, `spectral` that of signals once integers are floats |
//! | `#[typed(<I>(&self, axis: impl AxisArg<I>) -> Tensor<…> where …)]` | the method of `Tensor` from its generics on. After a `;` at the end stand arguments that are other than the parameters: `axis = Axis(0)` |
//! | `#[op(linalg.cross, dtypes = numeric)]` | without arguments: there is no row by name here; `_` in place of the name: PyTorch has none |
//! | `#[any(dims: &[i64] = axes(…)?)]` | parameters of the method of `AnyTensor` that are other than is derived, and the arguments made of them; of several `tolerance(atol: Option<f64>, rtol: Option<f64>) = …` |
//! | `#[any([self, target] = …)]` | operands that are computed with in place of those given: of one dtype, over which is chosen, on one device |
//! | `#[any(if … { return … })]`, `#[any(let … = …)]` | what is looked at first |
//! | `#[any(by_hand)]` | there is a method of `AnyTensor` elsewhere, with the row by name |
//! | `#[any(by_width, …)]` | elements of all dtypes are moved and not computed with: for `AnyTensor` `E` is a type as wide as an element, and the result gets the dtype back |
//! | `#[example(let x = tensor![…]; x.cross(axis![0]), x.cross(0), tensor![…])]` | operands, the call of either front, and the result, `~ tensor![…]` where it is no exact number; of several results `(tensor![…], _)`, or a call that names one: `x.sort(0, false).1` |
//! | `#[in_place(…)]` | as for `#[operations]` |
//! | `#[each(RANK = 1 2 3, …)]` | the function once for each column of words, which stand for values (`each.rs`) |
//!
//! Errors call the operation by the name in `let op = "linalg.cross";`, which the function begins with, else by the last part of PyTorch's.
//!
//! A parameter of `Tensor` goes with the one of the same name, else with the one at the same place. `Axis` is `i64`, and beside `Tensor`
//! `impl AxisArg<I>`, or `axis: A` with `A: OneAxis<S>` where it may be kept (after the `;` then `keepdim = A::KEEPS`).
//! `&Erased<E, D>` is `&Tensor<F, T, X>`, where a parameter of the shape is `SameDevice<D, X>`, or `R: TensorOperand`, and `&AnyTensor`, of the
//! dtype and on the device of `self` (of `i32` if it is `&Erased<'_, i32, D>`); where `T: Shape + TargetOf<S>` it has the sizes of `self`. `LossReduction` is
//! a type `R` with the value `R::KIND`, and that value. Others are the same in both. The section `# Errors` of the documentation says when
//! the operation fails; of `Tensor` it is `# Panics`.
//!
//! What is written has the place of the function's name, so that an editor goes there.

mod any;
mod example;
mod typed;

use crate::each::{Words, between_commas, each};
use crate::fallible::{Function, listed};
use crate::operations::{end_of_item, text, text_at};
use crate::{Mistake, is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

/// The rules of `ops::rules` that say which dtypes an operation takes: the set of types, and how documentation says it.
const RULES: &[(&str, &str, &str)] = &[
    ("any", "Dtype", "all that compute"),
    ("numeric", "Numeric", "all that compute but `bool`"),
    ("ordered", "Ordered", "bool, integers and floating-point"),
    ("real", "Real", "integers and floating-point"),
    ("bits", "Bits", "bool and integers"),
    ("integer", "Integer", "integers"),
    ("float", "Float", "floating-point"),
    ("inexact", "Inexact", "floating-point and complex"),
    ("complex", "ComplexFloat", "complex"),
    OWN[0],
    OWN[1],
];
/// Those that are not in `ops::rules`: a row by name has the words.
const OWN: [(&str, &str, &str); 2] = [
    ("field", FIELD, "float32, float64, complex64 and complex128"),
    ("spectral", FIELD, "integers, bool, float32, float64, complex64 and complex128"),
];
const FIELD: &str = "[f32, f64, crate::Complex<f32>, crate::Complex<f64>]";

/// An attribute of this macro: its name, its place and what stands in its parentheses.
struct Marked {
    name: String,
    span: Span,
    arguments: Vec<TokenTree>,
}

impl Marked {
    /// A name with arguments, so that there is a row by name.
    fn is_row(&self) -> bool {
        let call = between_commas(self.arguments.clone()).into_iter().next();
        self.name == "op" && matches!(call.as_ref().and_then(|call| call.last()), Some(TokenTree::Group(_)))
    }
    fn is_by_hand(&self) -> bool {
        self.name == "any" && matches!(&self.arguments[..], [one] if is_ident(one, "by_hand"))
    }
    fn is_by_width(&self) -> bool {
        self.name == "any" && self.arguments.first().is_some_and(|first| is_ident(first, "by_width"))
    }
}

/// A function of the block with what its attributes say.
struct Composite {
    function: Function,
    marked: Vec<Marked>,
    /// Those of `#[each(…)]`, for texts that are read from the file.
    words: Words,
    /// Lines of documentation before `# Errors`, and the lines of that section.
    about: Vec<String>,
    errors: Vec<String>,
    parameters: Vec<(String, Vec<TokenTree>)>,
}

pub(super) fn composites(input: TokenStream) -> Result<TokenStream, Mistake> {
    let mut head: Vec<TokenTree> = input.into_iter().collect();
    let Some(TokenTree::Group(body)) = head.pop() else {
        return Err(Mistake::at(Span::call_site(), "`composites` stands before `impl Erased { … }`"));
    };
    let mut rest: Vec<TokenTree> = body.stream().into_iter().collect();
    let (mut own, mut typed, mut any) = (TokenStream::new(), TokenStream::new(), TokenStream::new());
    let mut has_rows = false;
    while !rest.is_empty() {
        let after = rest.split_off(end_of_item(&rest));
        for (item, words) in each(core::mem::replace(&mut rest, after))? {
            let (plain, marked) = separated(item);
            own.extend(plain.iter().cloned());
            has_rows |= marked.iter().any(|marked| marked.is_row()) && !marked.iter().any(Marked::is_by_hand);
            if marked.is_empty() {
                continue;
            }
            let composite = Composite::read(&plain, marked, words)?;
            typed.extend(composite.typed()?);
            if !composite.marked.iter().any(Marked::is_by_hand) {
                any.extend(composite.any()?);
            }
        }
    }
    let mut out: TokenStream = head.into_iter().collect();
    let block = |inside| TokenTree::Group(Group::new(Delimiter::Brace, inside));
    out.extend([block(own)]);
    let (element, shape, device) = ("crate::dtype::Element", "crate::shape::Shape", "crate::device::Device");
    out.extend(tokens(&format!("impl<E: {element}, S: {shape}, D: {device}> crate::tensor::Tensor<E, S, D>")));
    out.extend([block(typed)]);
    if !any.is_empty() {
        out.extend(tokens("#[cfg(feature = \"any\")] #[castiron_macros::operations] impl crate::any::AnyTensor"));
        out.extend([block(any)]);
    }
    if !has_rows {
        out.extend(tokens(
            "#[cfg(feature = \"any\")] pub(crate) const OPERATIONS: &[crate::any::NamedOp] = &[]; // none by name",
        ));
    }
    Ok(out)
}

/// An item without the attributes of this macro, and these.
fn separated(item: Vec<TokenTree>) -> (Vec<TokenTree>, Vec<Marked>) {
    let (mut plain, mut marked) = (vec![], vec![]);
    let mut tokens = item.into_iter().peekable();
    while let Some(token) = tokens.next() {
        if is_punct(&token, '#')
            && let Some(TokenTree::Group(inside)) = tokens.peek()
            && let Some(attribute) = attribute(inside)
        {
            marked.push(attribute);
            tokens.next();
            continue;
        }
        plain.push(token);
    }
    (plain, marked)
}

fn attribute(group: &Group) -> Option<Marked> {
    let mut tokens = group.stream().into_iter();
    let (Some(TokenTree::Ident(name)), Some(TokenTree::Group(arguments))) = (tokens.next(), tokens.next()) else {
        return None;
    };
    let (span, name) = (name.span(), name.to_string());
    let is_own = matches!(&*name, "op" | "typed" | "any" | "example" | "in_place");
    is_own.then(|| Marked { name, span, arguments: arguments.stream().into_iter().collect() })
}

impl Composite {
    fn read(plain: &[TokenTree], marked: Vec<Marked>, words: Words) -> Result<Self, Mistake> {
        let function = Function::read(plain)?;
        let (mut about, mut errors, mut in_errors) = (vec![], vec![], false);
        for line in function.lines() {
            match line.trim() {
                "# Errors" => in_errors = true,
                line if in_errors => errors.push(line.to_owned()),
                _ => about.push(line),
            }
        }
        let all: Vec<TokenTree> = function.parameters.stream().into_iter().collect();
        let mut parameters = vec![];
        for parameter in listed(&all).into_iter().skip(1) {
            let [TokenTree::Ident(name), _, ty @ ..] = parameter else {
                return Err(Mistake::at(function.name.span(), "a parameter of a composite is `name: type`"));
            };
            parameters.push((name.to_string(), ty.to_vec()));
        }
        Ok(Composite { function, marked, words, about, errors, parameters })
    }

    fn all(&self, name: &str) -> impl Iterator<Item = &Marked> {
        self.marked.iter().filter(move |marked| marked.name == name)
    }
    fn one(&self, name: &str) -> Option<&Marked> {
        self.all(name).next()
    }
    fn name(&self) -> String {
        self.function.name.to_string()
    }
    fn span(&self) -> Span {
        self.function.name.span()
    }

    /// What errors call the operation: the text of `let op = "…";` in front of the body, or the last part of PyTorch's name.
    fn op(&self) -> String {
        let TokenTree::Group(body) = &self.function.body else { return self.named() };
        match &body.stream().into_iter().take(5).collect::<Vec<_>>()[..] {
            [bind, op, _, TokenTree::Literal(text), end]
                if is_ident(bind, "let") && is_ident(op, "op") && is_punct(end, ';') =>
            {
                text.to_string().trim_matches('"').to_owned()
            }
            _ => self.named(),
        }
    }

    /// A column of the first row: its name before `=`.
    fn column(&self, name: &str) -> Option<Vec<TokenTree>> {
        let parts = between_commas(self.one("op")?.arguments.clone());
        parts.into_iter().skip(1).find_map(|part| match &part[..] {
            [column, equals, value @ ..] if is_ident(column, name) && is_punct(equals, '=') => Some(value.to_vec()),
            _ => None,
        })
    }

    /// The set of dtypes, and how documentation calls what `Tensor` and `AnyTensor` take.
    fn dtypes(&self) -> Result<(String, [String; 2]), Mistake> {
        let read = |column| self.column(column).map(|value| text(&value));
        let (rule, over) = (read("dtypes").unwrap_or_default(), read("over"));
        let moves =
            self.one("any").is_some_and(|marked| marked.is_by_width() || (rule.is_empty() && marked.is_by_hand()));
        if moves && over.is_none() {
            return Ok((String::new(), ["all", "all"].map(str::to_owned)));
        }
        let known = |rule: &str| RULES.iter().find(|(name, ..)| *name == rule);
        let words = |rule: &str| known(rule).map_or(rule.trim_matches('"'), |(.., words)| words).to_owned();
        let Some(set) = over.clone().or_else(|| known(&rule).map(|(_, set, _)| (*set).to_owned())) else {
            return Err(Mistake::at(
                self.span(),
                "the column `dtypes` names a rule of `ops::rules`, or there is a column `over`",
            ));
        };
        let narrower = over.as_deref().and_then(known);
        let set = narrower.map_or(set, |(_, set, _)| (*set).to_owned());
        let own = read("typed").map(|rule| words(&rule));
        let typed = own.unwrap_or_else(|| narrower.map_or_else(|| words(&rule), |(.., words)| (*words).to_owned()));
        Ok((set, [typed, words(&rule)]))
    }

    /// `linalg.cross(input, other, dim=-1)` of the first row.
    fn torch(&self) -> String {
        let call = self.one("op").map(|marked| between_commas(marked.arguments.clone())).unwrap_or_default();
        let call = call.first().map(|call| text(call)).unwrap_or_default();
        bare(call.split('(').next().unwrap_or_default())
    }

    /// What documentation says of PyTorch's name, if there is one.
    fn called(&self) -> Vec<String> {
        let torch = self.torch();
        if torch == "_" { vec![] } else { vec![format!("PyTorch: `torch.{torch}`."), String::new()] }
    }

    /// How errors call the operation: `cross`.
    fn named(&self) -> String {
        match self.torch().rsplit('.').next() {
            None | Some("_") => self.name(),
            Some(name) => name.to_owned(),
        }
    }

    /// `If the size is odd or memory runs out.`, with what else may be the reason.
    fn reasons(&self, other: &str) -> Vec<String> {
        let mut lines = self.errors.clone();
        while lines.last().is_some_and(String::is_empty) {
            lines.pop();
        }
        match lines.last_mut() {
            None => lines.push(format!("If {other}.")),
            Some(last) => *last = format!("{}, or if {other}.", last.trim_end_matches('.')),
        }
        lines
    }
}

/// The dtype of `&Erased<'_, E, D>`.
fn dtype(of: &str) -> &str {
    let inside = of.split_once("Erased<").map(|(_, rest)| rest.trim_start_matches("'_,"));
    inside.and_then(|rest| rest.split(',').next()).unwrap_or("E")
}

/// The text of tokens without spaces and line breaks, which rustc puts in as it likes.
fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Lines of documentation.
fn documented(lines: &[String], span: Span) -> TokenStream {
    let text: String = lines
        .iter()
        .map(|line| {
            let line = if line.is_empty() || line.starts_with(' ') { line.clone() } else { format!(" {line}") };
            format!("#[doc = {line:?}]")
        })
        .collect();
    text_at(&text, span)
}
