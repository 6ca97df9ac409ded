//! `#[reducer]`: the steps of a reduction in numbers, as a type that `castiron` reads. Bodies are read as those of formulas.

use super::formula::{Body, MOST_RESULTS, all_names, bound_names, count};
use super::signature::{Operand, Set, Signature, joined};
use super::{Mistake, is_ident, tokens};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

const FORM: &str =
    "a reducer is written `#[reducer] impl Name { … }`, with the functions `start`, `step`, `merge` and `finish`";
/// The functions, and how they are written.
const FUNCTIONS: [(&str, &str); 4] = [
    ("start", "`fn start<F: Float>() -> [F; 2]`: the state before the first element"),
    (
        "step",
        "`fn step<F: Float>(state: [F; 2], x: F) -> [F; 2]`: the state after one more element; it may take two, `x: F, y: F`",
    ),
    (
        "merge",
        "`fn merge<F: Float>(one: [F; 2], other: [F; 2]) -> [F; 2]`: the state of the elements of both, since parts are reduced at the same time",
    ),
    ("finish", "`fn finish<F: Float>(state: [F; 2]) -> F`: the result; several are a tuple, `(F, F)`"),
];

pub(super) fn reducer(arguments: TokenStream, block: TokenStream) -> Result<TokenStream, Mistake> {
    if let Some(argument) = arguments.into_iter().next() {
        return Err(Mistake::at(argument.span(), "reducer: its only argument is `crate = \"…\"`, castiron's path"));
    }
    let input: Vec<TokenTree> = block.into_iter().collect();
    let start = input.iter().position(|token| is_ident(token, "impl"));
    let (Some(start), Some(TokenTree::Group(items))) = (start, input.last()) else {
        return Err(Mistake::at(input.first().map_or_else(Span::call_site, TokenTree::span), FORM));
    };
    let of = &input[start + 1..input.len() - 1];
    if of.is_empty() || items.delimiter() != Delimiter::Brace || of.iter().any(|token| is_ident(token, "for")) {
        return Err(Mistake::at(input[start].span(), FORM));
    }
    let name = of.iter().rev().find(|token| matches!(token, TokenTree::Ident(_))).unwrap_or(&of[0]).to_string();
    let mut functions: [Option<Function>; 4] = [const { None }; 4];
    let items: Vec<TokenTree> = items.stream().into_iter().collect();
    let mut at = 0;
    while at < items.len() {
        let (function, end) = Function::read(&items, at)?;
        let Some(place) = FUNCTIONS.iter().position(|(name, _)| *name == function.name.to_string()) else {
            let message =
                format!("reducer: `{}` is none of its functions: `start`, `step`, `merge`, `finish`", function.name);
            return Err(Mistake::at(function.name.span(), message));
        };
        if functions[place].is_some() {
            return Err(Mistake::at(function.name.span(), format!("reducer: `{}` is written twice", function.name)));
        }
        functions[place] = Some(function);
        at = end;
    }
    if let Some(at) = functions.iter().position(Option::is_none) {
        let (missing, form) = FUNCTIONS[at];
        let mistake = Mistake::at(of[0].span(), format!("reducer: `{missing}` is missing, {form}"));
        return Ok(mistake.into_tokens().into_iter().chain(stub(of, &name, &functions)).collect());
    }
    let all: Vec<Function> = functions.into_iter().flatten().collect();
    let wrong = |at: usize, span: Span| {
        Err(Mistake::at(span, format!("reducer: `{}` is {}", FUNCTIONS[at].0, FUNCTIONS[at].1)))
    };
    let Some(numbers) = numbers_of(&all[0].gives, &all[0].number) else {
        return wrong(0, all[0].name.span());
    };
    for (at, function) in all.iter().enumerate() {
        let of_states = [0, 1, 2, 1][at];
        let others = function.operands.len().wrapping_sub(of_states);
        let is_state = |ty: &str| numbers_of(ty, &function.number).as_ref() == Some(&numbers);
        let is_right = others < 3
            && (if at == 1 { others > 0 } else { others == 0 })
            && function.operands[..of_states].iter().all(|operand| is_state(&operand.type_name()))
            && function.operands[of_states..].iter().all(|operand| operand.type_name() == function.number)
            && (at == 3 || is_state(&function.gives));
        if !is_right {
            return wrong(at, function.name.span());
        }
    }
    let results = all[3].results();
    if results == 0 || results > MOST_RESULTS {
        return wrong(3, all[3].name.span());
    }

    let mut out = tokens(&format!("impl ::castiron::formula::Reducer<{{ {numbers} }}> for"));
    out.extend(of.iter().cloned());
    let mut inside = tokens(&format!(
        "type Operands = {}; type Results = {}; const NAME: &'static str = \"{name}\";",
        count(all[1].operands.len() - 1),
        count(results),
    ));
    for (at, function) in all.iter().enumerate() {
        inside.extend(function.written(&name, at, &numbers)?);
    }
    out.extend([TokenTree::Group(Group::new(Delimiter::Brace, inside))]);
    Ok(out)
}

/// What stands for a reducer without all of its functions, so that its uses are no other mistakes.
fn stub(of: &Tokens, name: &str, functions: &[Option<Function>; 4]) -> TokenStream {
    let given = |function: &Function| numbers_of(&function.gives, &function.number);
    let taken = |function: &Function| numbers_of(&function.operands.first()?.type_name(), &function.number);
    let [start, step, merge, finish] = functions.each_ref().map(Option::as_ref);
    let all = [start.and_then(given), step.and_then(given), merge.and_then(given), finish.and_then(taken)];
    let numbers = all.into_iter().flatten().next().unwrap_or_else(|| "1".to_owned());
    let operands = step.map_or(1, |step| step.operands.len().saturating_sub(1).clamp(1, 2));
    let results = finish.map_or(1, |finish| finish.results().clamp(1, MOST_RESULTS));
    let state = format!("[::castiron::formula::Number<__T>; {{ {numbers} }}]");
    let function = |name: &str, operands: &str, gives: &str| {
        format!("fn {name}<__T: ::castiron::formula::Machine>({operands}) -> {gives} {{ ::core::unreachable!() }}")
    };
    let inside = [
        format!(
            "type Operands = {}; type Results = {}; const NAME: &'static str = \"{name}\";",
            count(operands),
            count(results)
        ),
        function("start", "", &state),
        function("step", &format!("_: {state}, _: [::castiron::formula::Number<__T>; 2]"), &state),
        function("merge", &format!("_: {state}, _: {state}"), &state),
        function(
            "finish",
            &format!("_: {state}"),
            "<Self::Results as ::castiron::formula::Results>::Of<::castiron::formula::Number<__T>>",
        ),
    ];
    let mut out = tokens(&format!("impl ::castiron::formula::Reducer<{{ {numbers} }}> for"));
    out.extend(of.iter().cloned());
    out.extend([TokenTree::Group(Group::new(Delimiter::Brace, tokens(&inside.concat())))]);
    out
}

/// How many numbers a state has, as it is written.
fn numbers_of(ty: &str, number: &str) -> Option<String> {
    if ty == number {
        return Some("1".to_owned());
    }
    let inside = ty.strip_prefix('[')?.strip_suffix(']')?;
    let (of, count) = inside.split_once(';')?;
    (of == number).then(|| count.to_owned())
}

struct Function {
    name: TokenTree,
    number: String,
    operands: Vec<Operand>,
    /// The type, without spaces.
    gives: String,
    body: Group,
}
impl Function {
    /// Reads a function, and where it ends.
    fn read(items: &Tokens, at: usize) -> Result<(Self, usize), Mistake> {
        let (signature, end) = Signature::read(items, at, FORM)?;
        if signature.set != Set::Float {
            return Err(Mistake::at(
                signature.set_span,
                "a reducer is of floating-point numbers: `fn step<F: Float>(…)`",
            ));
        }
        let Signature { name, number, operands, gives, body, .. } = signature;
        Ok((Function { name, number, operands, gives: joined(&gives), body }, end))
    }

    /// How many numbers `finish` gives.
    fn results(&self) -> usize {
        if self.gives == self.number {
            return 1;
        }
        let inside = self.gives.strip_prefix('(').and_then(|gives| gives.strip_suffix(')')).unwrap_or_default();
        let parts: Vec<&str> = inside.split(',').filter(|part| !part.is_empty()).collect();
        if parts.len() > 1 && parts.iter().all(|part| *part == self.number) { parts.len() } else { 0 }
    }

    fn written(&self, reducer: &str, at: usize, numbers: &str) -> Result<TokenStream, Mistake> {
        let is_plain = |operand: &&Operand| operand.type_name() == self.number;
        let mut names = Vec::new();
        for operand in &self.operands {
            all_names(&operand.pattern, &mut names);
        }
        names.retain(|name| name != "mut" && name != "_");
        let mut plain = Vec::new();
        self.operands.iter().filter(is_plain).for_each(|operand| all_names(&operand.pattern, &mut plain));
        let mut bound = names.clone();
        bound_names(&self.body.stream().into_iter().collect::<Vec<_>>(), &mut bound);
        let mut body = Body {
            formula: format!("{reducer}::{}", self.name),
            number: &self.number,
            set: Set::Float,
            plain,
            tracked: names,
            bound,
            formulas: Vec::new(),
        };
        let gives_number = if at == 3 { self.results() == 1 } else { self.gives == self.number };
        let mut braces = body.braces(&self.body, !gives_number)?;
        if gives_number {
            let value = body.number_of(TokenStream::from(TokenTree::Group(braces)), self.body.span());
            let value = match at {
                3 => value,
                _ => TokenStream::from(TokenTree::Group(Group::new(Delimiter::Bracket, value))),
            };
            braces = Group::new(Delimiter::Brace, value);
        }
        let number = format!("::castiron::formula::Number<{}>", self.number);
        let state = format!("[{number}; {{ {numbers} }}]");
        let result = match (at, self.results()) {
            (3, 1) => number.clone(),
            (3, many) => format!("({})", vec![number.clone(); many].join(", ")),
            _ => state.clone(),
        };
        // A state of one number is an array of one.
        let is_list = self.operands.first().is_some_and(|operand| operand.type_name() != self.number);
        let of_states = [0, 1, 2, 1][at];
        let mut parameters = TokenStream::new();
        for operand in &self.operands[..of_states] {
            let pattern: TokenStream = operand.pattern.iter().cloned().collect();
            parameters.extend(match is_list {
                true => pattern,
                false => TokenStream::from(TokenTree::Group(Group::new(Delimiter::Bracket, pattern))),
            });
            parameters.extend(tokens(&format!(": {state},")));
        }
        if at == 1 {
            let mut elements = TokenStream::new();
            for operand in &self.operands[1..] {
                elements.extend(operand.pattern.iter().cloned());
                elements.extend(tokens(","));
            }
            if self.operands.len() == 2 {
                elements.extend(tokens("_"));
            }
            parameters.extend([TokenTree::Group(Group::new(Delimiter::Bracket, elements))]);
            parameters.extend(tokens(&format!(": [{number}; 2]")));
        }
        // (Loops over the numbers of a state read best by their index.)
        let mut out = tokens("#[inline(always)] #[allow(clippy::needless_range_loop)] fn");
        out.extend([self.name.clone()]);
        out.extend(tokens(&format!("<{}: ::castiron::formula::Machine>", self.number)));
        out.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, parameters))]);
        out.extend(tokens(&format!("-> {result}")));
        out.extend([TokenTree::Group(braces)]);
        Ok(out)
    }
}
