//! The method of `Tensor`, made of `#[typed(…)]`.

use super::{Composite, bare, documented, dtype};
use crate::each::between_commas;
use crate::fallible::{self, Function, listed};
use crate::operations::{text, text_at};
use crate::{Mistake, is_ident, is_punct, tokens};
use proc_macro::{TokenStream, TokenTree};

impl Composite {
    /// The method of `Tensor` with its `try_` form.
    pub(super) fn typed(&self) -> Result<TokenStream, Mistake> {
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
        // (Messages show the line that a method is defined in: that of its own parameters.)
        method.extend([TokenTree::Ident(proc_macro::Ident::new(&self.name(), marked.span))]);
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
