//! Einstein summation, contracting two operands at a time, for `einsum!` and `any::einsum`.
//!
//! Source: `aten/src/ATen/native/Linear.cpp`, `einsum` and `sumproduct_pair`.

use crate::composite::Owned;
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, invalid};
use crate::ops;
use crate::ops::kernel::Combining;
use crate::ops::reduce::Sum;
use crate::shape::Shape;
use crate::tensor::Tensor;

const OP: &str = "einsum";

/// Operations that a contraction needs on its operands.
pub(crate) trait Factor: Clone {
    fn sizes(&self) -> &[usize];
    /// The diagonal of two axes of one size, as the last axis.
    fn diagonal(&self, first: usize, second: usize) -> Result<Self>;
    fn permuted(&self, order: &[usize]) -> Result<Self>;
    /// With an axis of size 1 inserted at this position.
    fn widened(&self, at: usize) -> Result<Self>;
    fn reshaped(&self, sizes: &[usize]) -> Result<Self>;
    /// Sums over axes, which are kept with size 1.
    fn summed(&self, axes: &[usize]) -> Result<Self>;
    /// The elementwise product; the two broadcast.
    fn times(&self, other: &Self) -> Result<Self>;
    /// The products of batches of matrices.
    fn products(&self, other: &Self) -> Result<Self>;
}

/// The sum of products of operands whose axes have these labels; the result has the axes of `kept` in this order.
pub(crate) fn contract<L: Copy + PartialEq, X: Factor>(inputs: &[Vec<L>], operands: &[X], kept: &[L]) -> Result<X> {
    // The labels of the result, then those summed over.
    let mut labels = kept.to_vec();
    for label in inputs.iter().flatten() {
        if !labels.contains(label) {
            labels.push(*label);
        }
    }
    let aligned = inputs.iter().zip(operands).map(|(own, x)| aligned(own, x, &labels));
    contracted(aligned.collect::<Result<Vec<_>>>()?, kept.len())
}

/// The operand with axes for all labels, of size 1 where it has none.
fn aligned<L: Copy + PartialEq, X: Factor>(own: &[L], x: &X, labels: &[L]) -> Result<X> {
    let (mut x, mut own) = (x.clone(), own.to_vec());
    // A repeated label takes the diagonal.
    while let Some(second) = (0..own.len()).find(|&at| own[..at].contains(&own[at])) {
        let label = own[second];
        let first = own.iter().position(|known| *known == label).unwrap_or(0);
        let sizes = x.sizes();
        if sizes[first] != sizes[second] {
            return invalid(OP, format!("a repeated axis has sizes {} and {}", sizes[first], sizes[second]));
        }
        x = x.diagonal(first, second)?;
        own.remove(second);
        own.remove(first);
        own.push(label);
    }
    let order: Vec<usize> = labels.iter().filter_map(|label| own.iter().position(|known| known == label)).collect();
    x = x.permuted(&order)?;
    for (at, label) in labels.iter().enumerate() {
        if !own.contains(label) {
            x = x.widened(at)?;
        }
    }
    Ok(x)
}

/// Operands with the same axes multiplied and summed over all axes after the first `kept` ones.
fn contracted<X: Factor>(operands: Vec<X>, kept: usize) -> Result<X> {
    let rank = operands.first().map_or(0, |x| x.sizes().len());
    for at in 0..rank {
        let sizes: Vec<usize> = operands.iter().map(|x| x.sizes()[at]).filter(|&size| size != 1).collect();
        if sizes.iter().any(|&size| size != sizes[0]) {
            return invalid(OP, format!("an axis has sizes {sizes:?} in the operands"));
        }
    }
    let mut operands = operands.into_iter();
    let Some(mut x) = operands.next() else { return invalid(OP, "there is no operand".to_owned()) };
    let mut left = operands.as_slice();
    if left.is_empty() && kept < rank {
        x = x.summed(&(kept..rank).collect::<Vec<_>>())?;
    }
    while let Some((y, rest)) = left.split_first() {
        // Labels that no later operand has are summed over now.
        let last: Vec<usize> = (kept..rank).filter(|&at| rest.iter().all(|z| z.sizes()[at] == 1)).collect();
        let alone = |x: &X, y: &X| {
            let axes = last.iter().copied().filter(|&at| x.sizes()[at] != 1 && y.sizes()[at] == 1);
            let axes: Vec<usize> = axes.collect();
            if axes.is_empty() { Ok(x.clone()) } else { x.summed(&axes) }
        };
        let both: Vec<usize> = last.iter().copied().filter(|&at| x.sizes()[at] != 1 && y.sizes()[at] != 1).collect();
        x = pair(&alone(&x, y)?, &alone(y, &x)?, &both)?;
        left = rest;
    }
    let sizes = x.sizes()[..kept].to_vec();
    x.reshaped(&sizes)
}

/// Two operands multiplied and summed over axes that both have, as a matrix product.
fn pair<X: Factor>(x: &X, y: &X, summed: &[usize]) -> Result<X> {
    if summed.is_empty() {
        return x.times(y);
    }
    let rank = x.sizes().len();
    let [mut shared, mut left, mut right] = [const { Vec::new() }; 3];
    for at in (0..rank).filter(|at| !summed.contains(at)) {
        match (x.sizes()[at], y.sizes()[at]) {
            (1, _) => right.push(at),
            (_, 1) => left.push(at),
            _ => shared.push(at),
        }
    }
    let cube = |x: &X, axes: [&[usize]; 3]| {
        let others = (0..rank).filter(|at| axes.iter().all(|axes| !axes.contains(at)));
        let order: Vec<usize> = axes.concat().into_iter().chain(others).collect();
        let sizes = axes.map(|axes| axes.iter().map(|&at| x.sizes()[at]).product());
        x.permuted(&order)?.reshaped(&sizes)
    };
    let product = cube(x, [&shared, &left, summed])?.products(&cube(y, [&shared, summed, &right])?)?;
    let order = [&shared[..], &left, &right, summed].concat();
    let size = |&at: &usize| match (summed.contains(&at), x.sizes()[at]) {
        (true, _) => 1,
        (false, 1) => y.sizes()[at],
        (false, size) => size,
    };
    let sizes: Vec<usize> = order.iter().map(size).collect();
    let mut back = vec![0; order.len()];
    order.iter().enumerate().for_each(|(to, &at)| back[at] = to);
    product.reshaped(&sizes)?.permuted(&back)
}

/// A handle to the elements of a tensor, with its rank known at run time.
#[doc(hidden)]
pub struct Lent<E, D: Device>(Owned<E, D>);

impl<E: Element, D: Device> Clone for Owned<E, D> {
    fn clone(&self) -> Self {
        self.share()
    }
}

impl<E: Dtype, D: Device> Factor for Owned<E, D> {
    fn sizes(&self) -> &[usize] {
        self.sizes()
    }
    fn diagonal(&self, first: usize, second: usize) -> Result<Self> {
        Ok(self.viewed(OP, self.rank() - 1, |own, view| Ok(own.diagonal(0, first, second, view)))?.share())
    }
    fn permuted(&self, order: &[usize]) -> Result<Self> {
        Ok(self.permute(OP, order)?.share())
    }
    fn widened(&self, at: usize) -> Result<Self> {
        if self.rank() == 8 {
            return invalid(OP, "there are more than eight letters".to_owned());
        }
        Ok(self.viewed(OP, self.rank() + 1, |own, view| Ok(own.unsqueeze(at, view)))?.share())
    }
    fn reshaped(&self, sizes: &[usize]) -> Result<Self> {
        Ok(self.reshape(OP, sizes)?.share())
    }
    fn summed(&self, axes: &[usize]) -> Result<Self> {
        let mask = axes.iter().fold(0, |mask, axis| mask | 1_u32 << axis);
        Ok(self.reduce(Sum, mask, true)?.to::<E>(OP)?.share())
    }
    fn times(&self, other: &Self) -> Result<Self> {
        self.map2(OP, Combining::<ops::mul, E>::new(), other)
    }
    fn products(&self, other: &Self) -> Result<Self> {
        self.product(other)
    }
}

/// Functions that `einsum!` calls.
#[doc(hidden)]
pub mod calls {
    use super::*;

    /// The elements of an operand, which are of dtype `E`.
    pub fn lent<E: Element, F: Element, S: Shape, D: Device>(x: &Tensor<F, S, D>) -> Lent<E, D> {
        Lent(x.erased().known_as().share())
    }

    /// The sum of products of operands by the labels of their axes.
    ///
    /// # Errors
    /// If sizes known at run time differ or memory runs out.
    pub fn contract<E, T: Shape, D: Device, const N: usize>(
        operands: [Lent<E, D>; N],
        terms: &[&str; N],
        result: &str,
    ) -> Result<Tensor<E, T, D>>
    where
        E: ops::admit::NumericFor<ops::reduce::einsum>,
    {
        // A label has one size: as in the types, sizes of 1 are not broadcast.
        let mut known: Vec<(char, usize)> = Vec::new();
        for (term, x) in terms.iter().zip(&operands) {
            for (letter, &size) in term.chars().zip(x.0.sizes()) {
                match known.iter().find(|(named, _)| *named == letter) {
                    Some(&(_, other)) if other != size => {
                        return invalid(OP, format!("the letter {letter:?} names two sizes, {other} and {size}"));
                    }
                    Some(_) => {}
                    None => known.push((letter, size)),
                }
            }
        }
        let inputs = terms.map(|term| term.chars().collect::<Vec<_>>());
        let kept: Vec<char> = result.chars().collect();
        super::contract(&inputs, &operands.map(|Lent(x)| x), &kept)?.typed(OP)
    }

    /// The result, or a panic at the caller's line.
    #[track_caller]
    pub fn unwrap<T>(result: Result<T>) -> T {
        crate::error::unwrap(result)
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Lets `einsum!` take a tensor or a reference to one.
    #[doc(hidden)]
    pub fn __itself(&self) -> &Self {
        self
    }
}
