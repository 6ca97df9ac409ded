//! `einsum!`: each letter becomes a type parameter; bounds say that all axes with the same letter have the same size.
//!
//! `einsum!("ij,jk->ik", a, b)` becomes a generic function and its call:
//!
//! ```text
//! fn einsum<E, F1, S0, S1, D>(x0: &Tensor<E, S0, D>, x1: &Tensor<F1, S1, D>) -> Tensor<E, (I, K), D>
//! where
//!     S0: Lettered<2> + HasAxis<0> + HasAxis<1>,
//!     <S0 as HasAxis<1>>::Dim: NamedSize<<S1 as HasAxis<0>>::Dim, 'j'>, …
//! ```

use super::{Mistake, is_punct, tokens};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

/// The letters of the operands and of the result.
struct Equation {
    terms: Vec<Vec<char>>,
    result: Vec<char>,
}

fn letters(text: &str, span: Span) -> Result<Vec<char>, Mistake> {
    if text.contains("...") {
        let message =
            "einsum! names every axis by a letter: `...` is for `any::einsum`, whose sizes are known while running";
        return Err(Mistake::at(span, message));
    }
    let letters: Vec<char> = text.chars().filter(|letter| *letter != ' ').collect();
    match letters.iter().find(|letter| !letter.is_ascii_alphabetic()) {
        Some(other) => Err(Mistake::at(span, format!("einsum! names axes by letters, got {other:?} in {text:?}"))),
        None if letters.len() > 8 => {
            Err(Mistake::at(span, format!("a tensor has at most eight axes, not those of {text:?}")))
        }
        None => Ok(letters),
    }
}

fn equation(text: &str, span: Span) -> Result<Equation, Mistake> {
    let (inputs, result) = match text.split_once("->") {
        Some((inputs, result)) => (inputs, Some(letters(result, span)?)),
        None => (text, None),
    };
    let terms = inputs.split(',').map(|term| letters(term, span)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<char> = terms.iter().flatten().copied().collect();
    let result = result.unwrap_or_else(|| {
        // Letters that occur once, in alphabetical order.
        let once = |letter: &char| all.iter().filter(|known| *known == letter).count() == 1;
        let mut kept: Vec<char> = all.iter().copied().filter(once).collect();
        kept.sort_unstable();
        kept
    });
    for (at, letter) in result.iter().enumerate() {
        if !all.contains(letter) {
            return Err(Mistake::at(span, format!("einsum!: no operand has the axis `{letter}` of the result")));
        }
        if result[..at].contains(letter) {
            return Err(Mistake::at(span, format!("einsum!: the result has the axis `{letter}` twice")));
        }
    }
    if result.len() > 8 {
        return Err(Mistake::at(span, "a tensor has at most eight axes"));
    }
    Ok(Equation { terms, result })
}

pub(super) fn einsum(input: TokenStream, returns: bool) -> Result<TokenStream, Mistake> {
    let expected = "expected an equation and as many tensors as it has terms: einsum!(\"ij,jk->ik\", a, b)";
    let mut input = input.into_iter();
    let first = match input.next() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => group.stream().into_iter().next(),
        other => other,
    };
    let Some(TokenTree::Literal(literal)) = first else {
        return Err(Mistake::at(first.map_or_else(Span::call_site, |token| token.span()), expected));
    };
    let (text, span) = (literal.to_string(), literal.span());
    let Some(text) = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) else {
        return Err(Mistake::at(span, expected));
    };
    let Equation { terms, result } = equation(text, span)?;
    let mut operands: Vec<TokenStream> = vec![];
    for token in input {
        if is_punct(&token, ',') {
            operands.push(TokenStream::new());
        } else if let Some(operand) = operands.last_mut() {
            operand.extend([token]);
        } else {
            return Err(Mistake::at(token.span(), expected));
        }
    }
    if operands.last().is_some_and(TokenStream::is_empty) {
        operands.pop();
    }
    if operands.len() != terms.len() {
        let message = format!("the equation {text:?} names {} operands, got {}", terms.len(), operands.len());
        return Err(Mistake::at(span, message));
    }
    let function = function(&terms, &result, returns);
    let mut call = tokens("einsum");
    let mut arguments = TokenStream::new();
    for operand in operands {
        arguments.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, operand))]);
        arguments.extend(tokens(".__itself(),"));
    }
    call.extend([TokenTree::Group(Group::new(Delimiter::Parenthesis, arguments))]);
    let mut block = tokens(&function);
    block.extend(call);
    Ok(TokenTree::Group(Group::new(Delimiter::Brace, block)).into())
}

/// The generic function that computes the equation.
fn function(terms: &[Vec<char>], result: &[char], returns: bool) -> String {
    let dim = |term: usize, axis: usize| format!("<S{term} as ::castiron::HasAxis<{axis}>>::Dim");
    let (mut generics, mut parameters, mut lent) = (String::from("E"), String::new(), String::new());
    let mut bounds = String::from("E: ::castiron::ops::admit::NumericFor<::castiron::ops::reduce::einsum>,");
    for (term, letters) in terms.iter().enumerate() {
        let dtype = if term == 0 { "E".to_owned() } else { format!("F{term}") };
        if term > 0 {
            generics += &format!(", {dtype}");
            bounds += &format!(
                "{dtype}: ::castiron::Dtype, E: ::castiron::ops::admit::SameDtypeFor<{dtype}, ::castiron::ops::reduce::einsum>,"
            );
        }
        generics += &format!(", S{term}");
        parameters += &format!("x{term}: &::castiron::Tensor<{dtype}, S{term}, D>,");
        let axes: String = (0..letters.len()).map(|axis| format!(" + ::castiron::HasAxis<{axis}>")).collect();
        bounds += &format!("S{term}: ::castiron::Shape + ::castiron::shape::Lettered<{}>{axes},", letters.len());
        lent += &format!("::castiron::__einsum::lent::<E, _, _, _>(x{term}),");
    }
    let mut sizes = vec![];
    let mut named: Vec<char> = vec![];
    for letter in terms.iter().flatten() {
        if named.contains(letter) {
            continue;
        }
        named.push(*letter);
        let places = terms.iter().enumerate().flat_map(|(term, letters)| {
            let own = letters.iter().enumerate().filter(|(_, known)| *known == letter);
            own.map(move |(axis, _)| (term, axis)).collect::<Vec<_>>()
        });
        let mut size = String::new();
        for (term, axis) in places {
            let next = dim(term, axis);
            if size.is_empty() {
                size = next;
            } else {
                bounds += &format!("{size}: ::castiron::shape::NamedSize<{next}, {letter:?}>,");
                size = format!("<{size} as ::castiron::shape::NamedSize<{next}, {letter:?}>>::Merged");
            }
        }
        sizes.push((*letter, size));
    }
    let of = |letter: &char| sizes.iter().find(|(known, _)| known == letter).map_or("", |(_, size)| size);
    let shape: String = result.iter().map(|letter| format!("{},", of(letter))).collect();
    let tensor = format!("::castiron::Tensor<E, ({shape}), D>");
    let (output, finish) =
        if returns { (format!("::castiron::Result<{tensor}>"), "") } else { (tensor, "::castiron::__einsum::unwrap") };
    let list = |letters: &[char]| format!("{:?}", letters.iter().collect::<String>());
    let texts: String = terms.iter().map(|letters| format!("{},", list(letters))).collect();
    format!(
        "#[track_caller] fn einsum<{generics}, D: ::castiron::Device>({parameters}) -> {output} where {bounds} {{
            {finish}(::castiron::__einsum::contract([{lent}], &[{texts}], {}))
        }}",
        list(result)
    )
}
