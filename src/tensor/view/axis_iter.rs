//! Iteration over the positions along an axis: `iter_axis`, and `for row in &x`.

use crate::device::{Cpu, Device};
use crate::dtype::Element;
use crate::error::unwrap;
use crate::shape::{Axis, Dimensional, HasAxis, Shape};
use crate::tensor::{Tensor, TensorView};
use core::iter::FusedIterator;
use core::ops::Range;

/// Iterator over the positions along an axis, which is removed: the result of [`Tensor::iter_axis`] and of `for row in &x`.
#[derive(Clone)]
pub struct AxisIter<T, const I: isize> {
    of: T,
    left: Range<usize>,
}

/// For a tensor and a view it writes `iter_axis`, the iterator, and `for row in &x`.
macro_rules! axis_iter {
    ($([$($lifetime:lifetime)?] $of:ident, $doc:literal;)*) => {$(
        impl<$($lifetime,)? E: Element, S: Shape, D: Device> $of<$($lifetime,)? E, S, D> {
            #[doc = $doc]
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            /// let x = tensor![[1, 2], [3, 4], [5, 6]];
            /// let sums: Vec<i64> = x.iter_axis(axis![0]).map(|row| row.sum().item()).collect();
            /// assert_eq!(sums, [3, 7, 11]);
            /// assert_eq!(x.iter_axis(axis![-1]).rev().next().unwrap().to_vec(), [2, 4, 6]);
            /// ```
            pub fn iter_axis<const I: isize>(&self, axis: Axis<I>) -> AxisIter<Self, I>
            where
                S: Dimensional + HasAxis<I>,
            {
                AxisIter { of: self.clone(), left: 0..self.size(axis) }
            }
        }

        impl<$($lifetime,)? E: Element, S: Dimensional + HasAxis<I>, D: Device, const I: isize> Iterator
            for AxisIter<$of<$($lifetime,)? E, S, D>, I>
        {
            type Item = $of<$($lifetime,)? E, <S as HasAxis<I>>::Removed, D>;
            fn next(&mut self) -> Option<Self::Item> {
                // The remaining positions are in range.
                self.left.next().map(|at| unwrap(self.of.try_select(Axis::<I>, at)))
            }
            fn nth(&mut self, n: usize) -> Option<Self::Item> {
                self.left.nth(n).map(|at| unwrap(self.of.try_select(Axis::<I>, at)))
            }
            fn size_hint(&self) -> (usize, Option<usize>) {
                self.left.size_hint()
            }
        }
        impl<$($lifetime,)? E: Element, S: Dimensional + HasAxis<I>, D: Device, const I: isize> DoubleEndedIterator
            for AxisIter<$of<$($lifetime,)? E, S, D>, I>
        {
            fn next_back(&mut self) -> Option<Self::Item> {
                self.left.next_back().map(|at| unwrap(self.of.try_select(Axis::<I>, at)))
            }
        }
        impl<$($lifetime,)? E: Element, S: Dimensional + HasAxis<I>, D: Device, const I: isize> ExactSizeIterator
            for AxisIter<$of<$($lifetime,)? E, S, D>, I>
        {
        }
        impl<$($lifetime,)? E: Element, S: Dimensional + HasAxis<I>, D: Device, const I: isize> FusedIterator
            for AxisIter<$of<$($lifetime,)? E, S, D>, I>
        {
        }

        /// `for row in &x`, as in PyTorch: [`iter_axis`](Tensor::iter_axis) along the first axis. For a vector the items are zero-dim
        /// tensors; [`iter`](Tensor::iter) iterates over the elements themselves.
        ///
        /// ```
        /// use castiron::tensor;
        /// let mut sums = Vec::new();
        /// for row in &tensor![[1, 2], [3, 4]] {
        ///     sums.push(row.sum().item());
        /// }
        /// assert_eq!(sums, [3, 7]);
        /// ```
        impl<$($lifetime,)? E: Element, S: Dimensional + HasAxis<0>, D: Device> IntoIterator for &$of<$($lifetime,)? E, S, D> {
            type Item = $of<$($lifetime,)? E, <S as HasAxis<0>>::Removed, D>;
            type IntoIter = AxisIter<$of<$($lifetime,)? E, S, D>, 0>;
            fn into_iter(self) -> Self::IntoIter {
                self.iter_axis(Axis::<0>)
            }
        }
    )*};
}
axis_iter! {
    [] Tensor, "Goes through the positions along an axis, which disappears, as views that share memory (`torch.unbind`); without a \
        copy. `for row in &x` goes along the first axis.";
    ['a] TensorView, "As [`Tensor::iter_axis`], each position borrowing from the same memory.";
}

impl<E: Element, S: Shape> Tensor<E, S, Cpu> {
    /// The elements in row-major order as a vector: the tensor's own memory, if that came from a vector (see [`from_vec`](Self::from_vec))
    /// and no other tensor shares it, else a copy.
    ///
    /// The tensor must be row-major and cover all of its memory; for a transposed one or a slice the elements are copied.
    ///
    /// PyTorch: `torch.Tensor.numpy`, which shares memory.
    ///
    /// ```
    /// # use castiron::{shape, Tensor};
    /// let numbers = vec![1.0_f32, 2.0, 3.0, 4.0];
    /// let place = numbers.as_ptr();
    /// let mut x: Tensor<f32, shape![2, 2]> = Tensor::from_vec(numbers);
    /// x *= 2;
    /// let numbers = x.into_vec();
    /// assert_eq!((numbers.as_ptr(), numbers), (place, vec![2.0, 4.0, 6.0, 8.0]));
    /// ```
    #[castiron_macros::aliased]
    pub fn into_vec(self) -> Vec<E> {
        let is_whole = self.is_contiguous() && self.storage_offset() == 0 && self.numel() == self.storage().len::<E>();
        if !is_whole {
            return self.to_vec();
        }
        let (sizes, strides) = (self.shape(), self.stride());
        // SAFETY: a tensor's elements are valid `E`, and this one has all elements of the storage.
        match unsafe { self.parts.storage.into_vec::<E>() } {
            Ok(elements) => elements,
            Err(storage) => Self::from_parts(storage, 0, sizes, strides).to_vec(),
        }
    }
}
