//! `#[formula]`: a function of numbers, as a type that `castiron` reads.
//!
//! `fn swish<F: Float>(x: F, beta: F) -> F { … }` becomes a struct `swish` with a function over `Number<F>`, and a function that gives
//! it. The names that hold operands, or what was computed of them, are followed through the body, so that a mistake is told where it
//! stands and in the words of formulas; types find the rest.

use super::fallible::listed;
use super::signature::{Set, Signature, joined};
use super::{Mistake, is_ident, is_punct, tokens};
use proc_macro::{Delimiter, Group, Spacing, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

/// The most operands.
const MOST: usize = 6;
/// The most results.
pub(super) const MOST_RESULTS: usize = 4;
/// Words that are no values.
const OTHER_WORDS: [&str; 34] = [
    "as", "break", "const", "continue", "crate", "else", "false", "fn", "for", "if", "in", "let", "loop", "match",
    "move", "mut", "ref", "return", "self", "super", "true", "unsafe", "use", "while", "_", "f32", "f64", "i32", "i64",
    "u32", "u64", "usize", "isize", "bool",
];
const ARGUMENTS: &str = "formula: its arguments are `method`, to call it as a method of tensors, `derivative = (by_x, by_y)`, formulas of the same operands, and `crate = \"…\"`, castiron's path";
const FORM: &str = "a formula is written `#[formula] fn name<F: Float>(x: F, y: F) -> F { … }`, with another set of numbers if need be, such as `I: Integer`";

pub(super) fn formula(arguments: TokenStream, function: TokenStream) -> Result<TokenStream, Mistake> {
    let mut is_method = false;
    let mut derivatives = Vec::new();
    let arguments: Vec<TokenTree> = arguments.into_iter().collect();
    for argument in listed(&arguments) {
        match argument {
            [word] if is_ident(word, "method") => is_method = true,
            [word, equals, list @ ..] if is_ident(word, "derivative") && is_punct(equals, '=') && !list.is_empty() => {
                derivatives = match list {
                    [TokenTree::Group(list)] if list.delimiter() == Delimiter::Parenthesis => {
                        listed(&list.stream().into_iter().collect::<Vec<_>>()).into_iter().map(<[_]>::to_vec).collect()
                    }
                    one => vec![one.to_vec()],
                };
            }
            _ => return Err(Mistake::at(argument[0].span(), ARGUMENTS)),
        }
    }
    let mut function = Function::read(&function.into_iter().collect::<Vec<_>>())?;
    if !derivatives.is_empty() && derivatives.len() != function.operands.len() {
        let message = format!(
            "formula: `derivative` names a formula for each of the {} operands, or `_` where nothing better is known",
            function.operands.len()
        );
        return Err(Mistake::at(function.signature.name.span(), message));
    }
    if !derivatives.is_empty() && (function.results > 1 || function.gives_mask || function.signature.set != Set::Float)
    {
        let message = "formula: `derivative` is of a formula that gives one floating-point number";
        return Err(Mistake::at(function.signature.name.span(), message));
    }
    function.derivatives = derivatives;
    let mut out = function.written()?;
    if is_method {
        out.extend(function.method());
    }
    Ok(out)
}

struct Function {
    signature: Signature,
    /// Its operands, whether each is `mut`, and whether it is a mask.
    operands: Vec<(TokenTree, bool, bool)>,
    /// How many numbers it gives.
    results: usize,
    /// Whether it gives a mask.
    gives_mask: bool,
    /// The formulas of its derivative by each operand, or `_`.
    derivatives: Vec<Vec<TokenTree>>,
}

impl Function {
    fn read(input: &Tokens) -> Result<Self, Mistake> {
        let (signature, _) = Signature::read(input, 0, FORM)?;
        let number = &signature.number;
        let mut operands = Vec::new();
        for operand in &signature.operands {
            let (is_mut, name) = match &operand.pattern[..] {
                [first, name] if is_ident(first, "mut") => (true, name),
                [name @ TokenTree::Ident(_)] => (false, name),
                _ => {
                    return Err(Mistake::at(
                        operand.pattern.first().map_or_else(Span::call_site, TokenTree::span),
                        FORM,
                    ));
                }
            };
            let is_mask = operand.type_name() == "Mask";
            if !is_mask && operand.type_name() != *number {
                let message = format!(
                    "an operand of a formula is a number, `name: {number}`, or a mask, `name: Mask`: one element of each tensor, or a scalar"
                );
                return Err(Mistake::at(operand.pattern[0].span(), message));
            }
            operands.push((name.clone(), is_mut, is_mask));
        }
        if operands.is_empty() || operands.len() > MOST {
            return Err(Mistake::at(signature.name.span(), format!("a formula has one operand to {MOST}")));
        }
        if signature.set != Set::Bits && operands.iter().all(|(.., is_mask)| *is_mask) {
            let message = "a formula of masks alone is one of bools: `fn name<B: Bits>(a: B, b: B) -> B`";
            return Err(Mistake::at(signature.name.span(), message));
        }
        let gives_mask = joined(&signature.gives) == "Mask";
        let results = match &signature.gives[..] {
            [TokenTree::Group(list)] if list.delimiter() == Delimiter::Parenthesis => {
                let list = list.stream().into_iter().collect::<Vec<_>>();
                let list = listed(&list);
                let is_number = |part: &&[TokenTree]| matches!(part, [one] if is_ident(one, number));
                if list.len() > 1 && list.iter().all(is_number) { list.len() } else { 0 }
            }
            one => usize::from(joined(one) == *number || gives_mask),
        };
        if results == 0 || results > MOST_RESULTS {
            let message = format!(
                "a formula gives a number, `-> {number}`, up to {MOST_RESULTS} as a tuple, `-> ({number}, {number})`, or a mask, `-> Mask`"
            );
            return Err(Mistake::at(signature.gives.first().unwrap_or(&signature.name).span(), message));
        }
        Ok(Function { signature, operands, results, gives_mask, derivatives: Vec::new() })
    }

    /// The type of its count of operands.
    fn count(&self) -> String {
        format!("{}<{}>", count(self.operands.len()), self.kinds())
    }
    /// Which operands and results are masks, as a type.
    fn kinds(&self) -> String {
        if !self.gives_mask && self.operands.iter().all(|(.., is_mask)| !is_mask) {
            return format!("::castiron::formula::Plain<{}>", self.signature.set.marker());
        }
        let mut of: Vec<bool> = self.operands.iter().map(|(.., is_mask)| *is_mask).collect();
        of.resize(MOST, false);
        of.push(self.gives_mask);
        let kind = |is_mask: bool| format!("::castiron::formula::{},", if is_mask { "AMask" } else { "ANumber" });
        format!(
            "::castiron::formula::WithMasks<{}, ({})>",
            self.signature.set.marker(),
            of.into_iter().map(kind).collect::<String>()
        )
    }

    fn written(&self) -> Result<TokenStream, Mistake> {
        let Signature { before, visibility, name, number, set, body: inside, .. } = &self.signature;
        let set = *set;
        let operands: Vec<String> = self.operands.iter().map(|(name, ..)| name.to_string()).collect();
        let whole = inside;
        let inside = whole.stream().into_iter().collect::<Vec<_>>();
        let mut bound = operands.clone();
        bound_names(&inside, &mut bound);
        let mut body = Body {
            formula: name.to_string(),
            number,
            set,
            plain: operands.clone(),
            tracked: operands,
            bound,
            formulas: Vec::new(),
        };
        let mut braces = body.braces(whole, self.results > 1)?;
        if self.gives_mask {
            let mut value = tokens(&format!("let __mask: ::castiron::formula::Mask<{number}> = "));
            value.extend([TokenTree::Group(braces)]);
            value.extend(tokens(&format!("; ::castiron::formula::IntoNumber::<{number}>::into_number(__mask)")));
            braces = Group::new(Delimiter::Brace, value);
        }
        // (The names themselves: those that a macro was given are not those that it writes.)
        let mut masks = TokenStream::new();
        let mut places = TokenStream::new();
        for (name, is_mut, is_mask) in &self.operands {
            let keyword = if *is_mut { tokens("mut") } else { TokenStream::new() };
            if *is_mask {
                masks.extend(tokens("let").into_iter().chain(keyword).chain([name.clone()]));
                masks.extend(tokens("= ::castiron::formula::mask"));
                masks.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, name.clone().into()))]);
                masks.extend(tokens(";"));
            } else {
                places.extend(keyword);
            }
            places.extend([name.clone()]);
            places.extend(tokens(","));
        }
        places.extend(tokens(&"_,".repeat(MOST - self.operands.len())));
        if !masks.is_empty() {
            masks.extend([TokenTree::Group(braces)]);
            braces = Group::new(Delimiter::Brace, masks);
        }
        // A struct would hide variables of its name; a function is hidden by them.
        let mut out = before.clone();
        out.extend(visibility.clone());
        out.extend(tokens("fn"));
        out.extend([name.clone()]);
        out.extend(tokens(&format!("() -> {name} {{ {name} {{}} }}")));
        out.extend(before.clone());
        out.extend(tokens("#[doc(hidden)] #[allow(non_camel_case_types)] #[derive(Clone, Copy, Debug)]"));
        out.extend(visibility.clone());
        out.extend(tokens(&format!("struct {name} {{}}")));
        let one = format!("::castiron::formula::Number<{number}>");
        let mut function = tokens(&format!(
            "#[inline(always)] #[allow(clippy::needless_range_loop)] fn __of<{number}: {}>",
            set.machine()
        ));
        let mut operands = TokenStream::from(TokenTree::Group(Group::new(Delimiter::Bracket, places)));
        operands.extend(tokens(&format!(": [{one}; {MOST}]")));
        function.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, operands))]);
        let gives = if self.results == 1 { one } else { format!("({})", vec![one; self.results].join(", ")) };
        function.extend(tokens(&format!("-> {gives}")));
        function.extend([TokenTree::Group(braces)]);
        out.extend(tokens(&format!("impl {name}")));
        out.extend([TokenTree::Group(Group::new(Delimiter::Brace, function))]);
        let names: String = self.operands.iter().map(|(name, ..)| format!("\"{name}\",")).collect();
        let mut functions = Vec::new();
        functions_called(&inside, &mut functions);
        let fast: String =
            functions.iter().map(|name| format!("|| ::castiron::formula::has_fast_path(\"{name}\")")).collect();
        let mut side_by_side = tokens(&format!("{} {fast}", has_loop(&inside)));
        for path in &body.formulas {
            let mut named =
                tokens("#[allow(unused_imports)] use ::castiron::formula::NoFormula as _; ::castiron::formula::callee");
            let of = tokens("&").into_iter().chain(path.iter().cloned()).collect();
            named.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, of))]);
            named.extend(tokens(".formula()"));
            let mut given = tokens("&||");
            given.extend([TokenTree::Group(Group::new(Delimiter::Brace, named))]);
            side_by_side.extend(tokens("|| ::castiron::formula::is_side_by_side"));
            side_by_side.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, given))]);
        }
        let mut function = tokens(&format!(
            "type Operands = {}; type Results = {}; type Set = {}; type Kinds = {}; const NAME: &'static str = \"{name}\"; const ARGUMENTS: &'static [&'static str] = &[{names}]; const SIDE_BY_SIDE: bool =",
            self.count(),
            count(self.results),
            set.marker(),
            self.kinds(),
        ));
        function.extend(side_by_side);
        function.extend(tokens(";"));
        for (method, generics, of) in set.methods() {
            function.extend(tokens(&format!(
                "#[inline(always)] fn {method}{generics}(__x: [::castiron::formula::Number<{of}>; {MOST}]) \
                 -> <Self::Results as ::castiron::formula::Results>::Of<::castiron::formula::Number<{of}>> {{ Self::__of::<{of}>(__x) }}"
            )));
        }
        function.extend(self.slope());
        out.extend(tokens(&format!("impl ::castiron::formula::Formula for {name}")));
        out.extend([TokenTree::Group(Group::new(Delimiter::Brace, function))]);
        Ok(out)
    }

    /// The derivatives that are known better.
    fn slope(&self) -> TokenStream {
        let mut arms = TokenStream::new();
        for (at, derivative) in self.derivatives.iter().enumerate() {
            if matches!(&derivative[..], [word] if is_ident(word, "_") || is_punct(word, '_')) {
                continue;
            }
            let mut named = tokens("&");
            named.extend(derivative.iter().cloned());
            let mut callee = tokens("::castiron::formula::callee");
            callee.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, named))]);
            let operands: String = (0..self.operands.len()).map(|at| format!("__x[{at}],")).collect();
            callee.extend(tokens(&format!(".formula().call([{operands}])")));
            arms.extend(tokens(&format!("{at} => ::core::option::Option::Some")));
            arms.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, callee))]);
            arms.extend(tokens(","));
        }
        if arms.is_empty() {
            return arms;
        }
        let mut body = tokens("#[allow(unused_imports)] use ::castiron::formula::NoFormula as _; match __by");
        arms.extend(tokens("_ => ::core::option::Option::None"));
        body.extend([TokenTree::Group(Group::new(Delimiter::Brace, arms))]);
        let mut function = tokens(&format!(
            "#[inline(always)] fn slope<__T: ::castiron::formula::Machine>(__by: usize, __x: [::castiron::formula::Number<__T>; {MOST}]) \
             -> ::core::option::Option<::castiron::formula::Number<__T>>"
        ));
        function.extend([TokenTree::Group(Group::new(Delimiter::Brace, body))]);
        function.extend(tokens(&format!(
            "#[inline(always)] fn called<__T: ::castiron::formula::Machine>(__x: [::castiron::formula::Number<__T>; {MOST}]) \
             -> ::castiron::formula::Number<__T> {{ ::castiron::formula::stated::<Self, __T>(__x) }}"
        )));
        function
    }

    /// A trait with the formula as a method of tensors and of lazy expressions.
    fn method(&self) -> TokenStream {
        let (name, count) = (&self.signature.name, self.count());
        let trait_name: String = name.to_string().split('_').map(capitalized).collect();
        let more: Vec<String> = self.operands[1..].iter().map(|(name, ..)| name.to_string()).collect();
        let types: Vec<String> = (0..more.len()).map(|at| format!("__A{at}")).collect();
        let parameters: String = more.iter().zip(&types).map(|(name, ty)| format!(", {name}: {ty}")).collect();
        let [all, given] = [&types, &more].map(|list| match list.as_slice() {
            [one] => one.clone(),
            list => format!("({})", list.join(", ")),
        });
        let generics = types.join(", ");
        let own: String = types.iter().map(|ty| format!("{ty}, ")).collect();
        let head = |of: &str, node: &str| {
            format!(
                "impl<{own}__E: ::castiron::Dtype, __S: ::castiron::Shape, __D: ::castiron::Device{node}> {trait_name}<{generics}> for {of} \
                 where {all}: ::castiron::lazy::OperandsBeside<{count}, __E, __S, __D>"
            )
        };
        let elem = format!("<{all} as ::castiron::lazy::OperandsBeside<{count}, __E, __S, __D>>");
        let signature = format!("#[track_caller] fn {name}(self{parameters}) -> Self::Output");
        let tensor = format!("::castiron::Tensor<{elem}::Elem, {elem}::Shape, __D>");
        let given_by = |of: String, output: String| {
            format!("{of} {{ type Output = {output}; {signature} {{ self.apply({name}, {given}) }} }}")
        };
        let output = match self.results {
            1 => tensor,
            many => format!("({})", vec![tensor; many].join(", ")),
        };
        let mut out = tokens(&format!("/// The formula [`{name}`] as a method of tensors and of lazy expressions.\n"));
        out.extend(self.signature.visibility.clone());
        // Several numbers are no part of an expression: the method is there, and says so.
        let (check, asks) = match self.results {
            1 => ("", ""),
            _ => ("#[doc(hidden)] type Of;", " where Self::Of: ::castiron::formula::OfTensors"),
        };
        out.extend(tokens(&format!(
            "trait {trait_name}<{generics}>: Sized {{ {check} /// What it gives.\n type Output; /// The formula [`fn@{name}`], applied to each element.\n {signature}{asks}; }}"
        )));
        if self.results == 1 {
            out.extend(tokens(&given_by(head("&::castiron::Tensor<__E, __S, __D>", ""), output)));
            let node = ", __X: ::castiron::lazy::Node<__D, Elem = __E>";
            let output = format!("::castiron::lazy::Lazy<{elem}::Elem, {elem}::Shape, __D, {elem}::Node<{name}, __X>>");
            out.extend(tokens(&given_by(head("::castiron::lazy::Lazy<__E, __S, __D, __X>", node), output)));
        } else {
            out.extend(tokens(&format!(
                "{} {{ type Of = ::castiron::Tensor<__E, __S, __D>; type Output = {output}; {signature} {{ self.apply({name}, {given}) }} }}",
                head("&::castiron::Tensor<__E, __S, __D>", "")
            )));
            out.extend(tokens(&format!(
                "impl<{own}__E: ::castiron::Dtype, __S: ::castiron::Shape, __D: ::castiron::Device, __X> {trait_name}<{generics}> for ::castiron::lazy::Lazy<__E, __S, __D, __X> \
                 {{ type Of = Self; type Output = Self; {signature}{asks} {{ let _ = {given}; self }} }}"
            )));
        }
        out
    }
}
/// The type of a count.
pub(super) fn count(of: usize) -> String {
    let counts = ["One", "Two", "Three", "Four", "Five", "Six"];
    format!("::castiron::formula::{}", counts[of - 1])
}
fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// The body of a formula.
pub(super) struct Body<'a> {
    /// The name of the formula.
    pub(super) formula: String,
    pub(super) number: &'a str,
    pub(super) set: Set,
    /// The operands that are one number.
    pub(super) plain: Vec<String>,
    /// The names that differ between elements.
    pub(super) tracked: Vec<String>,
    /// The names of operands and those that any pattern of the body binds.
    pub(super) bound: Vec<String>,
    /// The formulas that it calls.
    pub(super) formulas: Vec<Vec<TokenTree>>,
}

/// Whether a literal has a fraction.
fn is_float(literal: &str) -> bool {
    let is_decimal = literal.starts_with(|first: char| first.is_ascii_digit());
    is_decimal && !literal.starts_with("0x") && !literal.starts_with("0b") && literal.contains(['.', 'e', 'f'])
}

/// Whether there is a `for` or a `while`.
fn has_loop(input: &Tokens) -> bool {
    input.iter().any(|token| match token {
        TokenTree::Group(group) => has_loop(&group.stream().into_iter().collect::<Vec<_>>()),
        token => is_ident(token, "for") || is_ident(token, "while"),
    })
}

/// Adds the names of methods.
fn functions_called(input: &Tokens, names: &mut Vec<String>) {
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
pub(super) fn bound_names(input: &Tokens, bound: &mut Vec<String>) {
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
pub(super) fn all_names(input: &Tokens, names: &mut Vec<String>) {
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
    pub(super) fn braces(&mut self, body: &Group, gives_list: bool) -> Result<Group, Mistake> {
        let inside = self.read(&body.stream().into_iter().collect::<Vec<_>>())?;
        let mut written = tokens("#[allow(unused_imports)] use ::castiron::formula::NoFormula as _;");
        let inside: Vec<TokenTree> = inside.into_iter().collect();
        written.extend(if gives_list { self.numbers_at_end(&inside) } else { inside.into_iter().collect() });
        let mut braces = Group::new(Delimiter::Brace, written);
        braces.set_span(body.span());
        Ok(braces)
    }
    /// A number of a formula, or a constant that becomes one.
    pub(super) fn number_of(&self, value: TokenStream, span: Span) -> TokenStream {
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
