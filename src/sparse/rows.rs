//! Gather and scatter of rows of values, and conversion between indices and linear indices.

use super::{Rows, SparseTensor};
use crate::device::{Backend as _, Cpu};
use crate::dtype::{Binary, Dtype, Element};
use crate::error::{Error, Result, filled, listed};
use crate::ops::arguments::{Indexing, Order};
use crate::ops::choosing::Folding;
use crate::shape::{Dyn, Shape, numel};
use crate::storage::{HostBuffer, View, ViewMut};
use crate::tensor::combine_at;
use crate::tensor::{Tensor, checked_numel};

/// A matrix of rows from its elements.
pub(super) fn rows_of<E: Element>(elements: Vec<E>, sizes: [usize; 2]) -> Result<Rows<E>> {
    debug_assert_eq!(elements.len(), sizes[0] * sizes[1]);
    Ok(Tensor::dense(Cpu::build(None, || Ok(elements))?, sizes))
}

/// Inserts a row of `len` equal numbers into rows of this length.
pub(super) fn insert_row(rows: &mut Vec<i64>, at: usize, len: usize, number: i64) -> Result<()> {
    let bytes = len.saturating_mul(size_of::<i64>());
    rows.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { bytes, device: "cpu" })?;
    rows.splice(at * len..at * len, core::iter::repeat_n(number, len));
    Ok(())
}

/// A matrix of zeros.
pub(super) fn zero_rows<E: Element>(op: &'static str, sizes: [usize; 2]) -> Result<Rows<E>> {
    Ok(Tensor::dense(Cpu::zeroed::<E>(None, checked_numel::<E>(op, &sizes)?)?, sizes))
}

/// The rows at these positions, in this order.
pub(super) fn select_rows<E: Element>(rows: &Rows<E>, at: &[i64]) -> Result<Rows<E>> {
    let at = Tensor::<i64, (Dyn,)>::try_from_vec_sized(listed(at.iter().copied())?, [at.len()])?;
    rows.try_index_select(crate::axis![0], at)
}

/// `to[at[k]] = F(to[at[k]], from[k])`, row by row; values at one index are rounded once.
pub(super) fn scatter_rows_with<F: Binary, E: Dtype>(
    op: &'static str,
    to: &mut Rows<E>,
    at: Vec<i64>,
    from: &Rows<E>,
) -> Result<()> {
    scatter_view_with::<F, E>(op, to.elements_mut()?, at, from)
}

/// [`scatter_rows_with`] into a view.
pub(super) fn scatter_view_with<F: Binary, E: Dtype>(
    op: &'static str,
    to: ViewMut<'_, HostBuffer, E>,
    at: Vec<i64>,
    from: &Rows<E>,
) -> Result<()> {
    let sizes = from.shape();
    debug_assert_eq!(at.len(), sizes[0]);
    let index = Cpu::build(None, || Ok(at))?;
    let index = View::<_, i64>::new(&index, 0, &sizes, &[1, 0]);
    let indexing = Indexing { op, axis: 0, wraps: false };
    combine_at::<E, Cpu>(indexing, Folding::<F>::new(), index, from.elements(), to)
}

/// `to[at[k]] = from[k]`.
pub(super) fn scatter_rows<E: Element>(op: &'static str, to: &mut Rows<E>, at: Vec<i64>, from: &Rows<E>) -> Result<()> {
    let sizes = from.shape();
    let index = Cpu::build(None, || Ok(at))?;
    let index = View::<_, i64>::new(&index, 0, &sizes, &[1, 0]);
    Cpu::scatter(Indexing { op, axis: 0, wraps: false }, index, from.elements(), to.elements_mut()?)
}

/// Linear indices sorted, stable, and the permutation that sorts them.
pub(super) fn sorted(keys: Vec<i64>) -> Result<(Vec<i64>, Vec<i64>)> {
    let sizes = [keys.len()];
    let keys = Cpu::build(None, || Ok(keys))?;
    let keys = View::<_, i64>::new(&keys, 0, &sizes, &[1]);
    let [keys, places] = Cpu::order(Order::Sort { descending: false }, keys, 0)?;
    let list = |storage| Cpu::download(View::<_, i64>::new(storage, 0, &sizes, &[1]));
    Ok((list(&keys)?, list(&places)?))
}

/// Checks that the number of elements of these sizes does not overflow; memory need not hold them.
pub(crate) fn expect_countable(op: &'static str, sizes: &[usize]) -> Result<()> {
    match numel(sizes).map(i64::try_from) {
        // `numel` checks the product of the nonzero sizes, which bounds every linear index.
        Some(Ok(_))
            if sizes
                .iter()
                .filter(|&&size| size != 0)
                .try_fold(1_i64, |n, &size| n.checked_mul(i64::try_from(size).ok()?))
                .is_some() =>
        {
            Ok(())
        }
        _ => Err(Error::TooLarge { op, sizes: sizes.into() }),
    }
}

/// The linear (row-major) index of each element over the sparse axes.
pub(crate) fn linear_indices(indices: &Rows<i64>, sizes: &[usize]) -> Result<Vec<i64>> {
    let [axes, nnz] = indices.shape();
    let elements = Cpu::download(indices.elements())?;
    let mut keys = filled(0_i64, nnz)?;
    for axis in 0..axes {
        // Cannot overflow: every index is below the size of its axis, and the number of elements does not overflow.
        let size = sizes[axis] as i64;
        for (key, index) in keys.iter_mut().zip(&elements[axis * nnz..]) {
            *key = *key * size + index;
        }
    }
    Ok(keys)
}

/// The inverse of [`linear_indices`]: one index per sparse axis.
pub(crate) fn indices_from_linear(keys: &[i64], sizes: &[usize]) -> Result<Rows<i64>> {
    let mut left = listed(keys.iter().copied())?;
    let mut elements = filled(0, keys.len().saturating_mul(sizes.len()))?;
    for (axis, &size) in sizes.iter().enumerate().rev() {
        // An axis of size 0 has no indices to convert.
        for (index, left) in elements[axis * keys.len()..].iter_mut().zip(&mut left) {
            (*index, *left) = (*left % size as i64, *left / size as i64);
        }
    }
    rows_of(elements, [sizes.len(), keys.len()])
}

impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
    /// The linear (row-major) index of each element over the sparse axes.
    pub(super) fn keys(&self) -> Result<Vec<i64>> {
        linear_indices(&self.parts.indices, self.sparse_and_dense_sizes().0)
    }
}
