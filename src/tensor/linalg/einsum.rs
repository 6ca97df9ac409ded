//! Sums of products by the names of axes, contracted two operands at a time: what `einsum!` and `any::einsum` compute.
//!
//! Source: `aten/src/ATen/native/Linear.cpp`, `einsum` and `sumproduct_pair`. Uses `linalg::matmul`, `device`.

use crate::device::Device;
use crate::dtype::{Dtype, Element, Promotable};
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::ops;
use crate::ops::kernel::{Casting, Combining, Copying};
use crate::ops::reduce::Sum;
use crate::shape::{Shape, SizeArray};
use crate::storage::View;
use crate::tensor::linalg::matmul::product;
use crate::tensor::{Tensor, checked_numel, expect_fit};
use core::marker::PhantomData;

const OP: &str = "einsum";

/// What a contraction does with its operands.
pub(crate) trait Factor: Clone {
    fn sizes(&self) -> &[usize];
    /// The diagonal of two axes of one size, as the last axis.
    fn diagonal(&self, first: usize, second: usize) -> Result<Self>;
    fn permuted(&self, order: &[usize]) -> Result<Self>;
    /// With an axis of size 1 at this position.
    fn widened(&self, at: usize) -> Result<Self>;
    fn reshaped(&self, sizes: &[usize]) -> Result<Self>;
    /// Summed over axes, which stay with size 1.
    fn summed(&self, axes: &[usize]) -> Result<Self>;
    /// Element by element; the two broadcast.
    fn times(&self, other: &Self) -> Result<Self>;
    /// The products of batches of matrices.
    fn products(&self, other: &Self) -> Result<Self>;
}

/// The sum of products of operands whose axes have these labels, with the axes of `kept` in this order.
pub(crate) fn contract<L: Copy + PartialEq, X: Factor>(inputs: &[Vec<L>], operands: &[X], kept: &[L]) -> Result<X> {
    // Those of the result, then those summed over.
    let mut labels = kept.to_vec();
    for label in inputs.iter().flatten() {
        if !labels.contains(label) {
            labels.push(*label);
        }
    }
    let aligned = inputs.iter().zip(operands).map(|(own, x)| aligned(own, x, &labels));
    contracted(aligned.collect::<Result<Vec<_>>>()?, kept.len())
}

/// The operand with the axes of all labels, of size 1 where it lacks them.
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

/// Operands of the same axes multiplied and summed over all but the first ones.
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

/// Two operands multiplied and summed over axes that both have: a product of matrices.
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

/// A handle to the elements of a tensor, its rank known while running.
#[doc(hidden)]
pub struct Lent<E, D: Device> {
    storage: D::Storage,
    offset: usize,
    sizes: Vec<usize>,
    strides: Vec<usize>,
    dtype: PhantomData<E>,
}

impl<E: Element, D: Device> Lent<E, D> {
    fn view(&self) -> View<'_, D::Storage, E> {
        View::new(&self.storage, self.offset, &self.sizes, &self.strides)
    }
    fn of(view: View<'_, D::Storage, E>) -> Self {
        let (storage, offset) = D::share(view);
        Lent { storage, offset, sizes: view.sizes.to_vec(), strides: view.strides.to_vec(), dtype: PhantomData }
    }
    fn dense(storage: D::Storage, sizes: Vec<usize>) -> Self {
        let strides = strides::row_major(&sizes);
        Lent { storage, offset: 0, sizes, strides, dtype: PhantomData }
    }
    fn seen(&self, sizes: Vec<usize>, strides: Vec<usize>) -> Self {
        Lent { sizes, strides, ..Self::of(self.view()) }
    }
}
impl<E: Element, D: Device> Clone for Lent<E, D> {
    fn clone(&self) -> Self {
        Self::of(self.view())
    }
}

impl<E: Dtype, D: Device> Factor for Lent<E, D> {
    fn sizes(&self) -> &[usize] {
        &self.sizes
    }
    fn diagonal(&self, first: usize, second: usize) -> Result<Self> {
        let (mut sizes, mut strides) = (self.sizes.clone(), self.strides.clone());
        let (size, step) = (sizes[first], strides[first] + strides[second]);
        for at in [second, first] {
            sizes.remove(at);
            strides.remove(at);
        }
        sizes.push(size);
        strides.push(step);
        Ok(self.seen(sizes, strides))
    }
    fn permuted(&self, order: &[usize]) -> Result<Self> {
        let of = |from: &[usize]| order.iter().map(|&at| from[at]).collect();
        Ok(self.seen(of(&self.sizes), of(&self.strides)))
    }
    fn widened(&self, at: usize) -> Result<Self> {
        let (mut sizes, mut strides) = (self.sizes.clone(), self.strides.clone());
        sizes.insert(at, 1);
        strides.insert(at, 0);
        if sizes.len() > 8 {
            return invalid(OP, "there are more than eight letters".to_owned());
        }
        Ok(self.seen(sizes, strides))
    }
    fn reshaped(&self, sizes: &[usize]) -> Result<Self> {
        if strides::is_contiguous(&self.sizes, &self.strides) {
            return Ok(self.seen(sizes.to_vec(), strides::row_major(sizes)));
        }
        let storage = D::map1::<E, E>(Copying, self.view(), &strides::row_major(&self.sizes))?;
        Ok(Self::dense(storage, sizes.to_vec()))
    }
    fn summed(&self, axes: &[usize]) -> Result<Self> {
        let mask = axes.iter().fold(0, |mask, axis| mask | 1_u32 << axis);
        let mut sizes = self.sizes.clone();
        axes.iter().for_each(|&axis| sizes[axis] = 1);
        let sums = D::reduce(Sum, self.view(), mask)?;
        if <E as Promotable>::Sum::DTYPE == E::DTYPE {
            return Ok(Self::dense(sums, sizes));
        }
        let to = strides::row_major(&sizes);
        let sums = D::map1::<<E as Promotable>::Sum, E>(Casting, View::new(&sums, 0, &sizes, &to), &to)?;
        Ok(Self::dense(sums, sizes))
    }
    fn times(&self, other: &Self) -> Result<Self> {
        let pairs = self.sizes.iter().zip(&other.sizes);
        let sizes: Vec<usize> = pairs.map(|(&a, &b)| if a == 1 { b } else { a }).collect();
        checked_numel::<E>(OP, &sizes)?;
        let spread = |x: &Self| strides::broadcast_list(&x.sizes, &x.strides, &sizes);
        let (left, right) = (spread(self), spread(other));
        let (a, b) = (self.view().restrided(&sizes, &left), other.view().restrided(&sizes, &right));
        let storage = D::map2::<E, E, E>(Combining::<ops::mul, E>::new(), a, b, &strides::row_major(&sizes))?;
        Ok(Self::dense(storage, sizes))
    }
    fn products(&self, other: &Self) -> Result<Self> {
        let (storage, sizes) = product::<E, D>(self.view(), other.view(), None, &|_| Ok(()))?;
        Ok(Self::dense(storage, sizes))
    }
}

/// What `einsum!` calls.
#[doc(hidden)]
pub mod calls {
    use super::*;

    /// The elements of an operand, which are of dtype `E`.
    pub fn lent<E: Element, F: Element, S: Shape, D: Device>(x: &Tensor<F, S, D>) -> Lent<E, D> {
        Lent::of(x.elements().known_as())
    }

    /// The sum of products of operands by the letters of their axes.
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
        // A letter has one size: sizes of 1 are not broadcast, as the types do not.
        let mut known: Vec<(char, usize)> = Vec::new();
        for (term, x) in terms.iter().zip(&operands) {
            for (letter, &size) in term.chars().zip(&x.sizes) {
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
        let x = super::contract(&inputs, &operands, &kept)?;
        expect_fit::<T>(OP, &x.sizes)?;
        Ok(Tensor::from_parts(x.storage, x.offset, T::Sizes::copied(&x.sizes), T::Sizes::copied(&x.strides)))
    }

    /// The result, or a panic at the caller's line.
    #[track_caller]
    pub fn unwrap<T>(result: Result<T>) -> T {
        crate::error::unwrap(result)
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// What `einsum!` finds of a tensor or a reference to one.
    #[doc(hidden)]
    pub fn __itself(&self) -> &Self {
        self
    }
}
