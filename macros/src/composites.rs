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

use crate::each::{Words, between_commas, each};
use crate::fallible::{self, Function, listed};
use crate::operations::{end_of_item, text, text_at};
use crate::{Mistake, is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};

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

    /// The example of one of the fronts.
    fn example(&self, is_any: bool) -> Result<Vec<String>, Mistake> {
        let mut out = vec![];
        for marked in self.all("example") {
            let mut statements = vec![vec![]];
            for token in &marked.arguments {
                match token {
                    end if is_punct(end, ';') => statements.push(vec![]),
                    token => statements.last_mut().expect("there is one").push(token.clone()),
                }
            }
            let Some([typed, any, result]) =
                statements.pop().map(between_commas).and_then(|last| <[_; 3]>::try_from(last).ok())
            else {
                let expected = "expected `let x = …; the call of Tensor, the call of AnyTensor, the result`";
                return Err(Mistake::at(marked.span, expected));
            };
            let operands = statements.iter().map(|statement| source(statement)).collect::<Vec<_>>();
            let call = source(if is_any { &any } else { &typed });
            let results = match &result[..] {
                [TokenTree::Group(several)] if several.delimiter() == Delimiter::Parenthesis => {
                    Some(between_commas(several.stream().into_iter().collect()))
                }
                _ => None,
            };
            let lines: Vec<String> = if is_any {
                let made = operands.iter().map(|line| match line.split_once(" = ") {
                    Some((name, value)) if value.starts_with("tensor!") => {
                        format!("{name} = AnyTensor::from({value});")
                    }
                    _ => format!("{line};"),
                });
                // `x.sort(0, false).1` is one of several results.
                let place = call.len().saturating_sub(2);
                let (call, place) = call.split_at(if call[place..].starts_with('.') { place } else { call.len() });
                made.chain(compared(&format!("{call}?{place}"), &result, results, true)).collect()
            } else {
                let made = operands.iter().map(|line| format!("{line};"));
                made.chain(compared(&call, &result, results, false)).collect()
            };
            let lines: Vec<String> = lines.iter().map(|line| self.words.in_text(line)).collect();
            out.push("```".to_owned());
            out.push(format!("use castiron::{{{}}};", used(&lines.join(" "), is_any)));
            out.extend(lines);
            if is_any {
                out.push("# Ok::<(), castiron::Error>(())".to_owned());
            }
            out.push("```".to_owned());
        }
        Ok(out)
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

    /// The method of `Tensor` with its `try_` form.
    fn typed(&self) -> Result<TokenStream, Mistake> {
        let Some(marked) = self.one("typed") else {
            return Err(Mistake::at(self.span(), "`#[typed(…)]` says what the method of `Tensor` is"));
        };
        let (head, given) = match marked.arguments.iter().position(|token| is_punct(token, ';')) {
            Some(at) => (&marked.arguments[..at], assigned(&marked.arguments[at + 1..])),
            None => (&marked.arguments[..], vec![]),
        };
        let mut written = tokens("pub fn");
        written.extend([TokenTree::Ident(self.function.name.clone())]);
        written.extend(head.iter().cloned());
        written.extend(tokens("{}"));
        let typed = Function::read_head(&written.into_iter().collect::<Vec<_>>())?;
        let all: Vec<TokenTree> = typed.parameters.stream().into_iter().collect();
        let mut passed = vec![];
        let own: Vec<(String, Vec<TokenTree>)> = listed(&all)
            .into_iter()
            .skip(1)
            .filter_map(|parameter| match parameter {
                [TokenTree::Ident(name), _, ty @ ..] => Some((name.to_string(), ty.to_vec())),
                _ => None,
            })
            .collect();
        for (at, (name, ty)) in self.parameters.iter().enumerate() {
            if let Some((_, value)) = given.iter().find(|(of, _)| of == name) {
                passed.push(text(value));
                continue;
            }
            let is_axis = text(ty) == "Axis";
            let called = |(of, ty): &&(String, Vec<TokenTree>)| {
                of == name || (is_axis && (of == "axis" || text(ty).contains("AxisArg")))
            };
            let Some((called, typed_ty)) = own.iter().find(called).or_else(|| own.get(at)) else {
                return Err(Mistake::at(marked.span, format!("no parameter becomes `{name}`: say it after `;`")));
            };
            passed.push(self.typed_argument(called, typed_ty, ty, &typed.bounds)?);
        }
        // Targets whose types say that they have the shape of `self`.
        let bounds = bare(&text(&typed.bounds));
        let (op, mut checks, mut found) = (self.op(), String::new(), 0);
        for (target, ty) in &own {
            let ty = bare(&text(ty));
            let shape = ty.strip_prefix("&Tensor<").and_then(|rest| rest.split(',').nth(1));
            let Some(shape) = shape else { continue };
            if bounds.contains(&format!("{shape}:Shape+TargetOf<S>")) {
                let check = "reduction::expect_target";
                checks += &format!(
                    "crate::composite::loss::{check}(\"{op}\", self.shape().as_ref(), {target}.shape().as_ref())?;"
                );
                found += 1;
            }
        }
        if bounds.matches("TargetOf<S>").count() != found {
            return Err(Mistake::at(
                marked.span,
                "of a target `&Tensor<F, T, X>` the bounds say `T: Shape + TargetOf<S>`",
            ));
        }
        let (_, [words, _]) = self.dtypes()?;
        let mut lines = self.about.clone();
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        lines.extend(["".into(), format!("Dtypes: {words}."), "".into()]);
        lines.extend(self.called());
        lines.push("# Panics".into());
        lines.extend(self.reasons("memory runs out"));
        lines.push(String::new());
        lines.extend(self.example(false)?);
        let mut method = documented(&lines, self.span());
        method.extend(self.function.others());
        method.extend(tokens("pub fn"));
        method.extend([TokenTree::Ident(self.function.name.clone())]);
        method.extend(typed.generics.iter().cloned());
        method.extend([TokenTree::Group(typed.parameters.clone())]);
        method.extend(text_at("-> crate::error::Result<", self.span()));
        method.extend(typed.output.iter().cloned());
        method.extend(text_at(">", self.span()));
        method.extend(typed.bounds.iter().cloned());
        let receiver = all.iter().find(|token| is_ident(token, "self")).map_or(self.span(), TokenTree::span);
        let body = format!(
            "{{ {checks} crate::composite::IntoTyped::into_typed(crate::composite::Erased::{0}(&self.erased(), {1})?, \"{2}\") }}",
            self.name(),
            passed.join(", "),
            self.op()
        );
        method.extend(text_at(&body, receiver));
        fallible::fallible(TokenStream::new(), method)
    }

    /// The argument made of a parameter of the method of `Tensor`.
    fn typed_argument(
        &self,
        name: &str,
        typed: &[TokenTree],
        own: &[TokenTree],
        bounds: &[TokenTree],
    ) -> Result<String, Mistake> {
        let (typed, own) = (bare(&text(typed)), bare(&text(own)));
        if own == "Axis" {
            let number = typed.strip_prefix("implAxisArg<").and_then(|rest| rest.strip_suffix('>'));
            let index = match number {
                Some(number) => format!("<S as crate::shape::HasAxis<{number}>>::INDEX"),
                None => format!("<{typed} as crate::shape::Axes<S>>::MASK.trailing_zeros() as usize"),
            };
            return Ok(format!("crate::composite::Axis({{ let _ = {name}; {index} }})"));
        }
        if own == "LossReduction" {
            return Ok(format!("{{ let _ = {name}; {typed}::KIND }}"));
        }
        if own.starts_with("&Erased<") || own.starts_with("Option<&Erased<") {
            let to = dtype(&own);
            let is_optional = own.starts_with("Option<");
            let lent = |tensor: &str| format!("crate::composite::Erased::of({tensor}.elements().known_as::<{to}>())");
            // The type whose bound says that another device is that of `self`.
            let device = typed.split_once("Tensor<").and_then(|_| typed.trim_end_matches('>').rsplit(',').next());
            let shape = device.filter(|device| *device != "D").and_then(|device| carrier(bounds, device));
            let here = |tensor: &str| match &shape {
                Some(shape) => format!("<{shape} as crate::tensor::SameDevice<D, _>>::here({tensor})"),
                None => tensor.to_owned(),
            };
            return Ok(match () {
                () if typed.starts_with("&Tensor<") => format!("&{}", lent(&here(name))),
                () if typed.starts_with("Option<&Tensor<") => format!("{name}.map(|x| {}).as_ref()", lent(&here("x"))),
                () if typed.starts_with("implOptional<") => format!("{name}.given().map(|x| {}).as_ref()", lent("x")),
                () if is_optional => format!("{name}.given().map(crate::composite::Erased::of).as_ref()"),
                () => format!("&crate::composite::Erased::of(crate::tensor::elements_of::<{to}, D, _>(&{name})?)"),
            });
        }
        Ok(name.to_owned())
    }

    /// The method of `AnyTensor`.
    fn any(&self) -> Result<TokenStream, Mistake> {
        let mut other = vec![];
        let (name, op, span) = (self.name(), self.op(), self.span());
        let (mut declared, mut checks, mut passed, mut beside) = (String::new(), String::new(), vec![], false);
        // Operands that are computed with in place of those given.
        let (mut prepared, mut this) = (vec![], "self");
        for part in self.one("any").map(|marked| between_commas(marked.arguments.clone())).unwrap_or_default() {
            match &part[..] {
                [word] if is_ident(word, "by_width") => {}
                [look, ..] if is_ident(look, "if") => checks += &text(&part),
                [made, ..] if is_ident(made, "let") => checks += &format!("{};", text(&part)),
                [TokenTree::Group(pattern), equals, value @ ..] if is_punct(equals, '=') => {
                    let names = idents(pattern.stream());
                    let pattern = text(&part[..1]).replace("self", "this");
                    checks += &format!("let {pattern} = {};", text(value));
                    this = "this";
                    prepared.extend(names);
                }
                part => other.extend(replaced(part)),
            }
        }
        for (own, ty) in &self.parameters {
            if let Some((_, parameters, value)) = other.iter().find(|(of, ..)| of == own) {
                if !parameters.is_empty() {
                    declared += &format!(", {parameters}");
                }
                passed.push(value.clone());
                continue;
            }
            match &*bare(&text(ty)) {
                "Axis" => {
                    declared += &format!(", {own}: i64");
                    checks += &format!("let {own} = {this}.axis_from_end(\"{op}\", {own})?;");
                    passed.push(own.clone());
                }
                tensor if tensor.starts_with("&Erased<") => {
                    declared += &format!(", {own}: &crate::any::AnyTensor");
                    match dtype(tensor) {
                        _ if prepared.contains(own) => {}
                        "E" => checks += &format!("self.expect_alike(\"{op}\", {own})?;"),
                        of => checks += &format!("self.expect_beside::<{of}>(\"{op}\", \"{own}\", {own})?;"),
                    }
                    passed.push(format!("&{own}.as_erased::<{}>()?", dtype(tensor)));
                    beside = true;
                }
                tensor if tensor.starts_with("Option<&Erased<") => {
                    declared += &format!(", {own}: Option<&crate::any::AnyTensor>");
                    let lent = if prepared.contains(own) {
                        format!("{own}.as_ref()")
                    } else {
                        checks += &format!("if let Some({own}) = {own} {{ self.expect_alike(\"{op}\", {own})?; }}");
                        own.clone()
                    };
                    let to = dtype(tensor);
                    passed.push(format!("{lent}.map(crate::any::AnyTensor::as_erased::<{to}>).transpose()?.as_ref()"));
                    beside = true;
                }
                _ => {
                    declared += &format!(", {own}: {}", text(ty));
                    passed.push(own.clone());
                }
            }
        }
        let (set, [_, words]) = self.dtypes()?;
        let differ = match (beside, this) {
            (false, _) => "",
            (_, "self") => "dtypes or devices differ, ",
            _ => "devices differ, dtypes do not go together, ",
        };
        let reason = if words == "all" {
            format!("{differ}{}memory runs out", if beside { "or " } else { "" })
        } else if words.starts_with("all that compute") {
            format!("{differ}{}the dtype is not among {words}", if beside { "or " } else { "" })
        } else {
            format!("{differ}the dtype is none of these: {words}")
        };
        let mut lines = self.about.clone();
        while lines.last().is_some_and(|line| line.trim().is_empty()) {
            lines.pop();
        }
        lines.push(String::new());
        lines.extend(self.called());
        lines.push("# Errors".into());
        lines.extend(self.reasons(&reason));
        lines.push(String::new());
        lines.extend(self.example(true)?);
        let mut method = documented(&lines, span);
        method.extend(self.function.others());
        for marked in self.marked.iter().filter(|marked| matches!(&*marked.name, "op" | "in_place")) {
            let parts = between_commas(marked.arguments.clone());
            if marked.name == "op" && !marked.is_row() {
                continue;
            }
            let kept = parts.into_iter().filter(|part| !["over", "typed"].iter().any(|own| is_ident(&part[0], own)));
            let mut arguments = TokenStream::new();
            for mut part in kept {
                if let [column, _, rule] = &mut part[..]
                    && is_ident(column, "dtypes")
                    && let Some((.., words)) = OWN.iter().find(|(name, ..)| is_ident(rule, name))
                {
                    *rule = TokenTree::Literal(Literal::string(words));
                }
                arguments.extend(part);
                if marked.name == "op" {
                    arguments.extend(text_at(",", marked.span));
                }
            }
            let mut inside = text_at(&marked.name, marked.span);
            inside.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, arguments))]);
            method.extend(text_at("#", marked.span));
            method.extend([TokenTree::Group(Group::new(Delimiter::Bracket, inside))]);
        }
        let result = bare(&text(&self.function.value));
        let result = any_result(&result);
        let called = format!(
            "crate::composite::Erased::{name}(&{this}.as_erased::<E>()?, {}).map(crate::composite::IntoAny::into_any)",
            passed.join(", ")
        );
        let chosen = if self.one("any").is_some_and(Marked::is_by_width) {
            format!(
                "let dtype = {this}.dtype();
                crate::dtype::width::of_width!(dtype.itemsize(), E => {called}).map(|moved| moved.relabelled(dtype))"
            )
        } else {
            format!("crate::any::dispatch_dtype!(\"{op}\", {this}.dtype(), E: {set} => {{ {called} }})")
        };
        let run = format!("pub fn {name}(&self{declared}) -> crate::error::Result<{result}> {{ {checks} {chosen} }}");
        method.extend(text_at(&run, span));
        Ok(method)
    }
}

/// The parameter with the bound `SameDevice<D, X>` for the device `X`.
fn carrier(bounds: &[TokenTree], device: &str) -> Option<String> {
    let bound = format!("SameDevice<D,{device}>");
    listed(bounds.get(1..)?).into_iter().find_map(|clause| {
        let clause = bare(&text(clause));
        let (of, what) = clause.split_once(':')?;
        what.contains(&bound).then(|| of.to_owned())
    })
}

/// The dtype of `&Erased<'_, E, D>`.
fn dtype(of: &str) -> &str {
    let inside = of.split_once("Erased<").map(|(_, rest)| rest.trim_start_matches("'_,"));
    inside.and_then(|rest| rest.split(',').next()).unwrap_or("E")
}

/// The names in a pattern.
fn idents(pattern: TokenStream) -> Vec<String> {
    let mut out = vec![];
    for token in pattern {
        match token {
            TokenTree::Ident(name) => out.push(name.to_string()),
            TokenTree::Group(inside) => out.extend(idents(inside.stream())),
            _ => {}
        }
    }
    out
}

/// The text of tokens without spaces and line breaks, which rustc puts in as it likes.
fn bare(text: &str) -> String {
    text.split_whitespace().collect()
}

/// `Owned<E,D>` and the like as what `AnyTensor` gives.
fn any_result(of: &str) -> String {
    let mut out = String::new();
    let mut rest = of;
    while let Some(at) = ["Owned<", "Self"].iter().filter_map(|name| rest.find(name)).min() {
        out += &rest[..at];
        out += "crate::any::AnyTensor";
        rest = &rest[at..];
        rest = match rest.strip_prefix("Self") {
            Some(rest) => rest,
            None => {
                let mut depth = 0;
                let end = rest.char_indices().find_map(|(at, sign)| {
                    depth += i32::from(sign == '<') - i32::from(sign == '>');
                    (sign == '>' && depth == 0).then_some(at + 1)
                });
                &rest[end.unwrap_or(rest.len())..]
            }
        };
    }
    out + rest
}

/// `name = value, …`
fn assigned(given: &[TokenTree]) -> Vec<(String, Vec<TokenTree>)> {
    let parts = between_commas(given.to_vec()).into_iter();
    parts
        .filter_map(|part| match &part[..] {
            [TokenTree::Ident(name), equals, value @ ..] if is_punct(equals, '=') => {
                Some((name.to_string(), value.to_vec()))
            }
            _ => None,
        })
        .collect()
}

/// `name: type = value`, or `name(one: type, another: type) = value`: the name, parameters and the value.
fn replaced(part: &[TokenTree]) -> Option<(String, String, String)> {
    let equals = part.iter().position(|token| is_punct(token, '='))?;
    let [TokenTree::Ident(name), ty @ ..] = &part[..equals] else { return None };
    let declared = match ty {
        [] => String::new(),
        [TokenTree::Group(several)] => several.stream().to_string(),
        _ => text(&part[..equals]),
    };
    Some((name.to_string(), declared, text(&part[equals + 1..])))
}

/// Lines of an example that compare what a call gives with its result, or each of several with its own.
fn compared(
    call: &str,
    result: &[TokenTree],
    results: Option<Vec<Vec<TokenTree>>>,
    is_any: bool,
) -> impl Iterator<Item = String> {
    let one = |call: &str, result: &[TokenTree]| {
        let (about, result) = match result {
            [sign, result @ ..] if is_punct(sign, '~') => (true, source(result)),
            result => (false, source(result)),
        };
        match (is_any, about) {
            // (Nothing says the dtype and the device of a number that stands in a string.)
            (true, _) if result.starts_with("Tensor::scalar") => {
                let expected = format!("let expected: Tensor<f32, ()> = {result};");
                vec![expected, format!("assert_eq!({call}.to_string(), expected.to_string());")]
            }
            (true, true) => {
                vec![format!("assert!({call}.allclose(&AnyTensor::from({result}), 1e-5, 1e-6, false)?);")]
            }
            (true, false) => vec![format!("assert_eq!({call}.to_string(), {result}.to_string());")],
            (false, true) => vec![format!("assert!({call}.allclose(&{result}));")],
            (false, false) => vec![format!("assert_eq!({call}, {result});")],
        }
    };
    let Some(results) = results else { return one(call, result).into_iter() };
    let mut lines = vec![format!("let results = {call};")];
    for (at, result) in results.iter().enumerate().filter(|(_, result)| !is_ident(&result[0], "_")) {
        lines.extend(one(&format!("results.{at}"), result));
    }
    lines.into_iter()
}

/// The names of castiron that an example uses.
fn used(lines: &str, is_any: bool) -> String {
    const NAMES: &[&str] = &[
        "Complete",
        "Complex",
        "DType",
        "Generator",
        "Reduced",
        "RotaryLayout",
        "Tensor",
        "Uplo",
        "axis",
        "bf16",
        "dim",
        "f16",
        "shape",
        "tensor",
    ];
    const REDUCTIONS: &[&str] = &["BatchMean", "LossReduction", "Mean", "Sum", "Unreduced"];
    let words: Vec<&str> = lines.split(|sign: char| !sign.is_alphanumeric() && sign != '_').collect();
    let among =
        |names: &[&'static str]| -> Vec<&str> { names.iter().copied().filter(|name| words.contains(name)).collect() };
    let (mut names, mut reductions) = (among(NAMES), among(REDUCTIONS));
    const OTHERS: &[(&str, &str)] = &[
        ("All", "nn::All"),
        ("Bilinear", "nn::Bilinear"),
        ("Conv", "nn::Conv"),
        ("ConvOptions", "any::ConvOptions"),
        ("Frames", "fft::Frames"),
        ("GridMode", "any::GridMode"),
        ("GridPadding", "nn::GridPadding"),
        ("Area", "nn::Area"),
        ("InterpolateMode", "any::InterpolateMode"),
        ("InterpolateOptions", "any::InterpolateOptions"),
        ("Linear", "nn::Linear"),
        ("Nearest", "nn::Nearest"),
        ("Norm", "fft::Norm"),
        ("Patches", "nn::Patches"),
        ("Pool", "nn::Pool"),
        ("PoolOptions", "any::PoolOptions"),
        ("Circular", "pad::Circular"),
        ("Constant", "pad::Constant"),
        ("Reflect", "pad::Reflect"),
        ("Replicate", "pad::Replicate"),
    ];
    // (`GridMode::Bilinear` is no mode of `Tensor`.)
    let is_meant = |name: &str| words.contains(&name) && !(is_any && matches!(name, "Bilinear" | "Linear"));
    names.extend(OTHERS.iter().filter(|(name, _)| is_meant(name)).map(|(_, path)| *path));
    reductions.retain(|&name| !is_any || name == "LossReduction");
    let reductions = format!("reduction::{{{}}}", reductions.join(", "));
    if !reductions.ends_with("{}") {
        names.insert(0, &reductions);
    }
    if is_any {
        names.insert(0, "AnyTensor");
    }
    names.join(", ")
}

/// The text of these tokens as it stands in the file.
fn source(tokens: &[TokenTree]) -> String {
    let mut out = String::new();
    let mut end: Option<(usize, usize)> = None;
    for token in tokens {
        let span = token.span();
        if let Some((line, column)) = end
            && (span.start().line(), span.start().column()) != (line, column)
        {
            out.push(' ');
        }
        out += &span.source_text().unwrap_or_else(|| token.to_string());
        end = Some((span.end().line(), span.end().column()));
    }
    out
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
