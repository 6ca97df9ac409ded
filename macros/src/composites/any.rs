//! The method of `AnyTensor`, with the row by name: parameters as they are, or as `#[any(…)]` says.

use super::{Composite, Marked, OWN, bare, documented, dtype};
use crate::each::between_commas;
use crate::operations::{text, text_at};
use crate::{Mistake, is_ident, is_punct};
use proc_macro::{Delimiter, Group, Literal, TokenStream, TokenTree};

impl Composite {
    /// The method of `AnyTensor`.
    pub(super) fn any(&self) -> Result<TokenStream, Mistake> {
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
