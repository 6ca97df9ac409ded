//! Examples of documentation, made of `#[example(…)]` for either front.

use super::Composite;
use crate::each::between_commas;
use crate::{Mistake, is_ident, is_punct};
use proc_macro::{Delimiter, TokenTree};

impl Composite {
    /// The example of one of the fronts.
    pub(super) fn example(&self, is_any: bool) -> Result<Vec<String>, Mistake> {
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
