//! The parts of a sparse tensor (`nnz`, `indices`, `values`), and operations that keep its indices.

use super::{DenseAxes, Rows, SparseTensor};
use crate::dtype::{CastTo, Dtype, Element};
use crate::error::{Error, Result, listed};
use crate::layout::strides;
use crate::ops::UnaryOp;
use crate::shape::{ConvertTo, Dyn, Shape, SizeArray};
use crate::tensor::{Tensor, expect_fit};
use castiron_macros::fallible;

impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
    /// The number of specified elements, including explicit zeros and duplicate indices (`torch.Tensor._nnz`).
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[0, 2], [3, 0]].to_sparse().nnz(), 2);
    /// ```
    pub fn nnz(&self) -> usize {
        self.parts.values.shape()[0]
    }

    /// The number of sparse axes, which come first (`torch.Tensor.sparse_dim`).
    pub const fn sparse_dim(&self) -> usize {
        S::RANK - N
    }

    /// The number of dense axes (`torch.Tensor.dense_dim`).
    pub const fn dense_dim(&self) -> usize {
        N
    }

    /// Whether the tensor is known to be coalesced: its indices are sorted and distinct (`torch.Tensor.is_coalesced`).
    pub fn is_coalesced(&self) -> bool {
        self.parts.coalesced
    }

    /// The indices of the elements: row `a` holds those along axis `a` (`torch.Tensor.indices`).
    ///
    /// # Panics
    /// If the tensor is not coalesced; [`raw_indices`](Self::raw_indices) returns them anyway.
    ///
    /// ```
    /// let s = castiron::tensor![[0, 2], [3, 0]].to_sparse();
    /// assert_eq!(s.indices().to_vec(), [0, 1, 1, 0]);
    /// assert_eq!(s.values().to_vec(), [2, 3]);
    /// ```
    #[fallible]
    pub fn indices(&self) -> Result<Tensor<i64, (Dyn, Dyn)>> {
        self.expect_coalesced("indices")?;
        Ok(self.raw_indices())
    }

    /// The indices, also of an uncoalesced tensor (`torch.Tensor._indices`).
    pub fn raw_indices(&self) -> Tensor<i64, (Dyn, Dyn)> {
        self.parts.indices.clone()
    }

    /// The elements, or blocks of elements if there are dense axes (`torch.Tensor.values`).
    ///
    /// # Panics
    /// If the tensor is not coalesced; [`raw_values`](Self::raw_values) returns them anyway.
    #[fallible]
    pub fn values(&self) -> Result<Tensor<E, <S as DenseAxes<N>>::Values>>
    where
        S: DenseAxes<N>,
    {
        self.expect_coalesced("values")?;
        Ok(self.raw_values())
    }

    /// The values, also of an uncoalesced tensor (`torch.Tensor._values`).
    pub fn raw_values(&self) -> Tensor<E, <S as DenseAxes<N>>::Values>
    where
        S: DenseAxes<N>,
    {
        let mut sizes = <<S as DenseAxes<N>>::Values as Shape>::Sizes::filled(self.nnz());
        sizes.as_mut()[1..].copy_from_slice(self.sparse_and_dense_sizes().1);
        self.parts.values.restrided(0, sizes, strides::contiguous(&sizes))
    }

    fn expect_coalesced(&self, op: &'static str) -> Result<()> {
        if self.is_coalesced() {
            return Ok(());
        }
        let reason = "the tensor is not coalesced: call `coalesce()` first, or take them as they are with `raw_indices()` and `raw_values()`";
        Err(Error::InvalidArgument { op, reason: reason.to_owned() })
    }

    /// Converts the elements (`torch.Tensor.to(dtype)`), like [`to`](Tensor::to) for strided tensors. The indices are unchanged.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// let s = castiron::tensor![[0.0, 2.5]].to_sparse();
    /// assert_eq!(s.to::<i32>().values().to_vec(), [2]);
    /// ```
    #[fallible]
    pub fn to<F: Element>(&self) -> Result<SparseTensor<F, S, N>>
    where
        E: CastTo<F>,
    {
        Ok(self.with_values(self.parts.values.try_to::<F>()?))
    }

    /// The same tensor with another shape type of the same rank, like [`with_shape`](Tensor::with_shape) for strided tensors.
    ///
    /// # Panics
    /// If a size differs from the new type's.
    #[fallible]
    pub fn with_shape<T: Shape>(&self) -> Result<SparseTensor<E, T, N>>
    where
        S: ConvertTo<T>,
    {
        expect_fit::<T>("with_shape", self.shape().as_ref())?;
        Ok(self.clone().retyped_sparse())
    }

    /// A tensor without elements, with the shape and dtype of `self` (`torch.zeros_like`).
    ///
    /// # Panics
    /// If memory runs out.
    #[fallible]
    pub fn zeros_like(&self) -> Result<Self> {
        self.select_values(&[], true)
    }

    /// The elements at these positions of the list.
    pub(super) fn select_values(&self, positions: &[i64], coalesced: bool) -> Result<Self> {
        let indices = columns(&self.parts.indices, positions)?;
        let values = super::rows::select_rows(&self.parts.values, positions)?;
        Ok(Self::assembled(self.shape(), indices, values, coalesced))
    }

    /// The real parts (`torch.real`); real tensors are unchanged.
    ///
    /// # Panics
    /// If memory runs out.
    #[fallible]
    pub fn real<O: Dtype>(&self) -> Result<SparseTensor<O, S, N>>
    where
        E: Dtype<RealDtype = O> + CastTo<O>,
    {
        // Conversion of a complex number keeps the real part.
        self.try_to()
    }

    /// The complex conjugates (`torch.conj`); real elements are unchanged.
    ///
    /// # Panics
    /// If memory runs out.
    #[fallible]
    pub fn conj<O: Dtype>(&self) -> Result<SparseTensor<O, S, N>>
    where
        E: Dtype,
        crate::ops::conj: UnaryOp<E, Output = O>,
    {
        Ok(self.with_values(self.parts.values.try_conj()?))
    }

    /// The negatives (`torch.neg`, unary `-`). Integers wrap.
    ///
    /// # Panics
    /// If memory runs out.
    #[fallible]
    pub fn neg<O: Dtype>(&self) -> Result<SparseTensor<O, S, N>>
    where
        E: Dtype,
        crate::ops::neg: UnaryOp<E, Output = O>,
    {
        Ok(self.with_values(self.parts.values.try_neg()?))
    }
}

/// The columns of indices at these positions.
pub(super) fn columns(indices: &Rows<i64>, positions: &[i64]) -> Result<Rows<i64>> {
    let at = Tensor::<i64, (Dyn,)>::try_from_vec_sized(listed(positions.iter().copied())?, [positions.len()])?;
    indices.try_index_select(crate::axis![1], at)
}
