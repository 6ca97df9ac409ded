//! `#[formula]`: a function of numbers, as a type that `castiron` reads.
//!
//! `fn swish<F: Float>(x: F, beta: F) -> F { … }` becomes a struct `swish` with a function over `Number<F>`, and a function that gives
//! it. The names that hold operands, or what was computed of them, are followed through the body, so that a mistake is told where it
//! stands and in the words of formulas; types find the rest.

mod body;

pub(super) use body::{Body, all_names, bound_names};

use super::fallible::listed;
use super::signature::{Set, Signature, joined};
use super::{Mistake, is_ident, is_punct, tokens};
use body::{functions_called, has_loop};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

/// The most operands.
const MOST: usize = 6;
/// The most results.
pub(super) const MOST_RESULTS: usize = 4;
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
