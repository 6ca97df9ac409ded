//! The signature of a function of numbers, as formulas and reducers are written: `fn name<F: Float>(x: F, keep: Mask) -> F { … }`.

use super::fallible::listed;
use super::{Mistake, is_ident, is_punct};
use proc_macro::{Delimiter, Group, Span, TokenStream, TokenTree};

type Tokens = [TokenTree];

/// A set of dtypes that numbers stand for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    Float,
    Integer,
    Real,
    ComplexFloat,
    Inexact,
    Numeric,
    Bits,
}
impl Set {
    /// The sets by their names, their types in `castiron::formula`, and the traits of their numbers there.
    const ALL: [(&'static str, Set, &'static str, &'static str); 7] = [
        ("Float", Set::Float, "Floats", "Machine"),
        ("Integer", Set::Integer, "Integers", "MachineInt"),
        ("Real", Set::Real, "Reals", "MachineReal"),
        ("ComplexFloat", Set::ComplexFloat, "Complexes", "MachineComplex"),
        ("Inexact", Set::Inexact, "Inexacts", "MachineInexact"),
        ("Numeric", Set::Numeric, "Numbers", "MachineNumber"),
        ("Bits", Set::Bits, "BitsAndBools", "MachineBits"),
    ];
    fn row(self) -> (&'static str, Set, &'static str, &'static str) {
        Self::ALL[self as usize]
    }
    pub(super) fn name(self) -> &'static str {
        self.row().0
    }
    /// Its type.
    pub(super) fn marker(self) -> String {
        format!("::castiron::formula::{}", self.row().2)
    }
    /// The trait of its numbers.
    pub(super) fn machine(self) -> String {
        format!("::castiron::formula::{}", self.row().3)
    }
    /// Whether there are integers among them.
    pub(super) fn has_integers(self) -> bool {
        !matches!(self, Set::Float | Set::ComplexFloat | Set::Inexact)
    }
    /// The methods of `castiron::formula::Formula` for its numbers, with their generics and the number itself.
    pub(super) fn methods(self) -> Vec<(&'static str, &'static str, &'static str)> {
        let float = ("of", "<__T: ::castiron::formula::Machine>", "__T");
        let integer = ("of_integers", "<__T: ::castiron::formula::MachineInt>", "__T");
        let complex = ("of_complex", "<__T: ::castiron::formula::Machine>", "::castiron::Complex<__T>");
        match self {
            Set::Float => vec![float],
            Set::Integer => vec![integer],
            Set::Real => vec![float, integer],
            Set::ComplexFloat => vec![complex],
            Set::Inexact => vec![float, complex],
            Set::Numeric => vec![float, integer, complex],
            Set::Bits => vec![integer, ("of_bools", "", "bool")],
        }
    }
}

pub(super) struct Operand {
    pub(super) pattern: Vec<TokenTree>,
    pub(super) ty: Vec<TokenTree>,
}
impl Operand {
    /// Its type, without spaces.
    pub(super) fn type_name(&self) -> String {
        joined(&self.ty)
    }
}
/// Tokens without spaces between.
pub(super) fn joined(of: &Tokens) -> String {
    of.iter().map(ToString::to_string).collect::<String>().replace(' ', "")
}

pub(super) struct Signature {
    /// Attributes.
    pub(super) before: TokenStream,
    pub(super) visibility: TokenStream,
    pub(super) name: TokenTree,
    /// The type of its numbers.
    pub(super) number: String,
    pub(super) set: Set,
    /// Where the set is written.
    pub(super) set_span: Span,
    pub(super) operands: Vec<Operand>,
    pub(super) gives: Vec<TokenTree>,
    pub(super) body: Group,
}
impl Signature {
    /// Reads a function from a place on, and where it ends. `form` says how it is written.
    pub(super) fn read(input: &Tokens, mut at: usize, form: &str) -> Result<(Self, usize), Mistake> {
        let last = || input.last().map_or_else(Span::call_site, TokenTree::span);
        let found = |at: usize| input.get(at).ok_or_else(|| Mistake::at(last(), form));
        let mut before = TokenStream::new();
        while is_punct(found(at)?, '#') {
            found(at + 1)?;
            before.extend(input[at..at + 2].iter().cloned());
            at += 2;
        }
        let mut visibility = TokenStream::new();
        if is_ident(found(at)?, "pub") {
            visibility.extend([input[at].clone()]);
            at += 1;
            if let TokenTree::Group(_) = found(at)? {
                visibility.extend([input[at].clone()]);
                at += 1;
            }
        }
        let wrong = |token: &TokenTree| Mistake::at(token.span(), form);
        if !is_ident(found(at)?, "fn") {
            return Err(wrong(&input[at]));
        }
        let name = found(at + 1)?.clone();
        // `<F: Float>`
        let (open, number, colon) = (found(at + 2)?, found(at + 3)?, found(at + 4)?);
        if !is_punct(open, '<') || !is_punct(colon, ':') || !matches!(number, TokenTree::Ident(_)) {
            return Err(wrong(open));
        }
        let close = (at + 6..input.len()).find(|&at| is_punct(&input[at], '>')).ok_or_else(|| wrong(number))?;
        let set = &input[close - 1];
        let Some((_, set, ..)) = Set::ALL.into_iter().find(|(name, ..)| is_ident(set, name)) else {
            let message = format!(
                "`{set}` is no set of numbers: `Float`, `Integer`, `Real` (both), `ComplexFloat`, `Inexact` (floating and complex), `Numeric` (all of these), or `Bits` (integers and bools)"
            );
            return Err(Mistake::at(set.span(), message));
        };
        let TokenTree::Group(list) = found(close + 1)? else { return Err(wrong(&input[close + 1])) };
        let list: Vec<TokenTree> = list.stream().into_iter().collect();
        let mut operands = Vec::new();
        for operand in listed(&list) {
            let colon = operand.iter().position(|token| is_punct(token, ':')).ok_or_else(|| wrong(&operand[0]))?;
            operands.push(Operand { pattern: operand[..colon].to_vec(), ty: operand[colon + 1..].to_vec() });
        }
        let arrow = close + 2;
        if !is_punct(found(arrow)?, '-') || !is_punct(found(arrow + 1)?, '>') {
            return Err(wrong(&input[arrow]));
        }
        let is_body =
            |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        let end = (arrow + 2..input.len()).find(|&at| is_body(&input[at])).ok_or_else(|| wrong(&name))?;
        let TokenTree::Group(body) = &input[end] else { return Err(wrong(&input[end])) };
        let signature = Signature {
            before,
            visibility,
            name,
            number: number.to_string(),
            set,
            set_span: input[close - 1].span(),
            operands,
            gives: input[arrow + 2..end].to_vec(),
            body: body.clone(),
        };
        Ok((signature, end + 1))
    }
}
