//! Einstein summation: equations parsed at run time.

use crate::any::AnyTensor;
use crate::any::base::by_width::signed;
use crate::any::base::dispatch::dispatch_dtype;
use crate::device::Dynamic;
use crate::error::{Error, Result};
use crate::tensor::{Factor, contract};
use castiron_macros::operations;

const OP: &str = "einsum";

fn invalid<T>(reason: String) -> Result<T> {
    Err(Error::InvalidArgument { op: OP, reason })
}

/// The label of an axis: a letter, or an axis that `...` stands for, counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Letter(char),
    Unnamed(usize),
}

/// The letters of a term, and the place of `...` among them.
struct Term {
    letters: Vec<char>,
    unnamed: Option<usize>,
}

fn parsed(text: &str) -> Result<Term> {
    let mut term = Term { letters: Vec::new(), unnamed: None };
    let mut rest = text.trim();
    while let Some(letter) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix("...") {
            if term.unnamed.replace(term.letters.len()).is_some() {
                return invalid(format!("`...` stands once in a term at most, not as in {text:?}"));
            }
            rest = after;
        } else {
            if letter.is_ascii_alphabetic() {
                term.letters.push(letter);
            } else if letter != ' ' {
                return invalid(format!("axes are named by letters, got {letter:?} in {text:?}"));
            }
            rest = &rest[letter.len_utf8()..];
        }
    }
    Ok(term)
}

impl Term {
    /// The labels of a tensor for which `...` stands for `unnamed` axes.
    fn labels(&self, unnamed: usize) -> Vec<Label> {
        let mut labels: Vec<Label> = self.letters.iter().map(|&letter| Label::Letter(letter)).collect();
        if let Some(at) = self.unnamed {
            labels.splice(at..at, (0..unnamed).rev().map(Label::Unnamed));
        }
        labels
    }
}

/// The sum of products of operands with labelled axes (`torch.einsum`): `"ij,jk->ik"` is a product of matrices. `...` stands for the axes
/// without labels; without `->` the result has the labels that occur once, in alphabetical order.
///
/// # Errors
/// If the equation is malformed or does not fit the operands, sizes do not broadcast, or dtypes differ where operands are contracted.
///
/// ```
/// use castiron::any::einsum;
/// use castiron::{AnyTensor, tensor};
/// let (a, b) = (AnyTensor::from(tensor![[1, 2], [3, 4]]), AnyTensor::from(tensor![10, 100]));
/// assert_eq!(einsum("ij,j->i", &[a.clone(), b])?.to_string(), "tensor([210, 430])");
/// assert_eq!(einsum("ii", &[a])?.to_string(), "tensor(5)");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn einsum(equation: &str, operands: &[AnyTensor]) -> Result<AnyTensor> {
    let (inputs, output) = match equation.split_once("->") {
        Some((inputs, output)) => (inputs, Some(parsed(output)?)),
        None => (equation, None),
    };
    let terms = inputs.split(',').map(parsed).collect::<Result<Vec<_>>>()?;
    if terms.len() != operands.len() || operands.is_empty() {
        return invalid(format!("{equation:?} names {} operands, got {}", terms.len(), operands.len()));
    }
    let mut inputs = Vec::new();
    for (term, operand) in terms.iter().zip(operands) {
        let unnamed = operand.rank().checked_sub(term.letters.len());
        let Some(unnamed) = unnamed.filter(|&count| count == 0 || term.unnamed.is_some()) else {
            return invalid(format!("{:?} do not name the axes of {:?}", term.letters, operand.shape()));
        };
        inputs.push(term.labels(unnamed));
    }
    let most = (terms.iter().zip(operands)).map(|(term, operand)| operand.rank() - term.letters.len()).max();
    let all = || inputs.iter().flatten().copied();
    let kept = match output {
        Some(term) => term.labels(most.unwrap_or(0)),
        None => {
            let times = |letter: char| all().filter(|&label| label == Label::Letter(letter)).count();
            let once = ('A'..='Z').chain('a'..='z').filter(|&letter| times(letter) == 1);
            (0..most.unwrap_or(0)).rev().map(Label::Unnamed).chain(once.map(Label::Letter)).collect()
        }
    };
    for (at, label) in kept.iter().enumerate() {
        if !all().any(|known| known == *label) || kept[..at].contains(label) {
            return invalid(format!("the result of {equation:?} has an axis twice, or one that no operand has"));
        }
    }
    contract(&inputs, operands, &kept)
}

/// By the methods of `AnyTensor`: dtypes promote where nothing is contracted, and integers are summed in `int64`.
impl Factor for AnyTensor {
    fn sizes(&self) -> &[usize] {
        &self.sizes
    }
    fn diagonal(&self, first: usize, second: usize) -> Result<Self> {
        AnyTensor::diagonal(self, 0, first as i64, second as i64)
    }
    fn permuted(&self, order: &[usize]) -> Result<Self> {
        self.permute(&signed(order))
    }
    fn widened(&self, at: usize) -> Result<Self> {
        self.unsqueeze(at as i64)
    }
    fn reshaped(&self, sizes: &[usize]) -> Result<Self> {
        AnyTensor::reshaped(self, &signed(sizes))
    }
    fn summed(&self, axes: &[usize]) -> Result<Self> {
        self.sum(Some(&signed(axes)), true, None)
    }
    fn times(&self, other: &Self) -> Result<Self> {
        self.mul(other)
    }
    fn products(&self, other: &Self) -> Result<Self> {
        crate::any::base::operand::same_device(OP, self, other)?;
        if self.dtype != other.dtype {
            let reason =
                format!("operands that are contracted must hold one dtype, got {} and {}", self.dtype, other.dtype);
            return invalid(reason);
        }
        dispatch_dtype!(OP, self.dtype, E: Numeric => {
            self.typed_rank3::<E, Dynamic>()?.try_matmul(&other.typed_rank3::<E, Dynamic>()?).map(AnyTensor::from)
        })
    }
}

#[operations]
impl AnyTensor {
    #[op(einsum(equation, *operands), dtypes = any)]
    fn einsum_by_name(equation: &str, operands: &[AnyTensor]) -> Result<AnyTensor> {
        einsum(equation, operands)
    }
}
