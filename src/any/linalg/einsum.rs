//! Sums of products by the names of axes, contracted two operands at a time.
//!
//! Source: `aten/src/ATen/native/Linear.cpp`, `einsum` and `sumproduct_pair`.
//! Uses `elementwise::apply`, `device`, `base::dispatch`.

use crate::any::AnyTensor;
use crate::any::base::dispatch::dispatch_dtype;
use crate::device::Dynamic;
use crate::error::{Error, Result};
use castiron_macros::operations;

const OP: &str = "einsum";

fn invalid<T>(reason: String) -> Result<T> {
    Err(Error::InvalidArgument { op: OP, reason })
}

/// An axis: a letter, or one of those that `...` stands for, counted from the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Label {
    Letter(char),
    Unnamed(usize),
}

/// The letters of a term, and where among them `...` stands.
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
    /// The labels of a tensor with so many axes.
    fn labels(&self, unnamed: usize) -> Vec<Label> {
        let mut labels: Vec<Label> = self.letters.iter().map(|&letter| Label::Letter(letter)).collect();
        if let Some(at) = self.unnamed {
            labels.splice(at..at, (0..unnamed).rev().map(Label::Unnamed));
        }
        labels
    }
}

/// The sum of products of operands whose axes are named (`torch.einsum`): `"ij,jk->ik"` is a product of matrices. `...` stands for
/// the axes without names; without `->` the result has those named once, in alphabetical order.
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
    // Those of the result, then those summed over.
    let mut labels = kept.clone();
    for label in all() {
        if !labels.contains(&label) {
            labels.push(label);
        }
    }
    let aligned = inputs.iter().zip(operands).map(|(own, x)| aligned(own, x, &labels));
    contracted(aligned.collect::<Result<Vec<_>>>()?, kept.len())
}

/// The operand with the axes of all labels, of size 1 where it lacks them.
fn aligned(own: &[Label], x: &AnyTensor, labels: &[Label]) -> Result<AnyTensor> {
    let (mut x, mut own) = (x.clone(), own.to_vec());
    // A repeated label takes the diagonal.
    while let Some(second) = (0..own.len()).find(|&at| own[..at].contains(&own[at])) {
        let label = own[second];
        let first = own.iter().position(|&known| known == label).unwrap_or(0);
        if x.sizes[first] != x.sizes[second] {
            return invalid(format!("a repeated axis has sizes {} and {}", x.sizes[first], x.sizes[second]));
        }
        x = x.diagonal(0, first as i64, second as i64)?;
        own.remove(second);
        own.remove(first);
        own.push(label);
    }
    let order = labels.iter().filter_map(|label| own.iter().position(|known| known == label).map(|at| at as i64));
    x = x.permute(&order.collect::<Vec<_>>())?;
    for (at, label) in labels.iter().enumerate() {
        if !own.contains(label) {
            x = x.unsqueeze(at as i64)?;
        }
    }
    Ok(x)
}

/// Operands of the same axes multiplied and summed over all but the first ones.
fn contracted(operands: Vec<AnyTensor>, kept: usize) -> Result<AnyTensor> {
    let rank = operands[0].rank();
    for at in 0..rank {
        let sizes: Vec<usize> = operands.iter().map(|x| x.sizes[at]).filter(|&size| size != 1).collect();
        if sizes.iter().any(|&size| size != sizes[0]) {
            return invalid(format!("an axis has sizes {sizes:?} in the operands"));
        }
    }
    let mut operands = operands.into_iter();
    let Some(mut x) = operands.next() else { return invalid("there is no operand".to_owned()) };
    let mut left = operands.as_slice();
    if left.is_empty() {
        let summed: Vec<i64> = (kept..rank).map(|at| at as i64).collect();
        return if summed.is_empty() { Ok(x) } else { x.sum(Some(&summed), false, None) };
    }
    while let Some((y, rest)) = left.split_first() {
        // Labels that no later operand has are summed over now.
        let last: Vec<usize> = (kept..rank).filter(|&at| rest.iter().all(|z| z.sizes[at] == 1)).collect();
        let alone = |x: &AnyTensor, y: &AnyTensor| {
            let dims = last.iter().filter(|&&at| x.sizes[at] != 1 && y.sizes[at] == 1);
            let dims: Vec<i64> = dims.map(|&at| at as i64).collect();
            if dims.is_empty() { Ok(x.clone()) } else { x.sum(Some(&dims), true, None) }
        };
        let both: Vec<usize> = last.iter().copied().filter(|&at| x.sizes[at] != 1 && y.sizes[at] != 1).collect();
        x = pair(&alone(&x, y)?, &alone(y, &x)?, &both)?;
        left = rest;
    }
    let sizes: Vec<i64> = x.sizes[..kept].iter().map(|&size| size as i64).collect();
    x.reshaped(&sizes)
}

/// Two operands multiplied and summed over axes that both have: a product of matrices.
fn pair(x: &AnyTensor, y: &AnyTensor, summed: &[usize]) -> Result<AnyTensor> {
    if summed.is_empty() {
        return x.mul(y);
    }
    crate::any::elementwise::apply::same_device(OP, x, y)?;
    if x.dtype != y.dtype {
        return invalid(format!("operands that are contracted must hold one dtype, got {} and {}", x.dtype, y.dtype));
    }
    let [mut shared, mut left, mut right] = [const { Vec::new() }; 3];
    for at in (0..x.rank()).filter(|at| !summed.contains(at)) {
        match (x.sizes[at], y.sizes[at]) {
            (1, _) => right.push(at),
            (_, 1) => left.push(at),
            _ => shared.push(at),
        }
    }
    let cube = |x: &AnyTensor, axes: [&[usize]; 3]| {
        let others = (0..x.rank()).filter(|at| axes.iter().all(|axes| !axes.contains(at)));
        let order: Vec<i64> = axes.concat().into_iter().chain(others).map(|at| at as i64).collect();
        let sizes = axes.map(|axes| axes.iter().map(|&at| x.sizes[at] as i64).product());
        x.permute(&order)?.reshaped(&sizes)
    };
    let (a, b) = (cube(x, [&shared, &left, summed])?, cube(y, [&shared, summed, &right])?);
    let product = dispatch_dtype!(OP, x.dtype, E: Numeric => {
        a.typed_rank3::<E, Dynamic>()?.try_matmul(&b.typed_rank3::<E, Dynamic>()?).map(AnyTensor::from)
    })?;
    let order = [&shared[..], &left, &right, summed].concat();
    let size = |&at: &usize| match (summed.contains(&at), x.sizes[at]) {
        (true, _) => 1,
        (false, 1) => y.sizes[at] as i64,
        (false, size) => size as i64,
    };
    let sizes: Vec<i64> = order.iter().map(size).collect();
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &at)| back[at] = to as i64);
    product.reshaped(&sizes)?.permute(&back)
}

#[operations]
impl AnyTensor {
    #[op(einsum(equation, *operands), dtypes = any)]
    fn einsum_by_name(equation: &str, operands: &[AnyTensor]) -> Result<AnyTensor> {
        einsum(equation, operands)
    }
}
