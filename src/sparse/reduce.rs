//! Reductions: of all elements to a zero-dim strided tensor, over one axis to a sparse tensor.

use super::SparseTensor;
use super::attributes::columns;
use super::axes::reordered;
use super::coalesce::sum_duplicates;
use super::rows::{insert_row, linear_indices, rows_of};
use crate::device::{Backend as _, Cpu};
use crate::dtype::promote::Promotable;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops::admit::InexactFor;
use crate::shape::{Matrices, OneAxis, Shape, SizeArray};
use crate::tensor::Tensor;
use castiron_macros::fallible;

impl<E: Element, S: Shape> SparseTensor<E, S> {
    /// The sum over one sparse axis (`torch.sum(dim=…)`, `torch.sparse.sum`); [`sum`](Self::sum) is the sum of all elements.
    ///
    /// Shape: that of `self`, of rank two or more, without the axis, or with size 1 for it with `.keepdim()`. Result dtype: `i64` for bools
    /// and integers, else that of `self`. Values of equal indices are added; without `keepdim` the result is coalesced.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let s = tensor![[0, 0, 3], [4, 0, 5]].to_sparse();
    /// assert_eq!(s.sum_axis(axis![0]).to_dense(), tensor![4, 0, 8]);
    /// ```
    #[fallible]
    pub fn sum_axis<A: OneAxis<S>>(&self, axes: A) -> Result<SparseTensor<<E as Promotable>::Sum, A::Reduced>>
    where
        E: Dtype,
        S: Matrices,
    {
        let (axis, own) = (A::MASK.trailing_zeros() as usize, self.shape());
        let mut sizes = own.as_ref().to_vec();
        sizes.remove(axis);
        let indices = reordered(&self.parts.indices, (0..S::RANK).filter(|&at| at != axis))?;
        let values = self.parts.values.try_to::<<E as Promotable>::Sum>()?;
        let keys = linear_indices(&indices, &sizes)?;
        let (firsts, sums) = sum_duplicates("sum", keys, &values)?;
        let mut indices = columns(&indices, &firsts)?;
        if A::KEEPS {
            sizes.insert(axis, 1);
            let mut elements = Cpu::download(indices.elements())?;
            insert_row(&mut elements, axis, firsts.len(), 0)?;
            indices = rows_of(elements, [S::RANK, firsts.len()])?;
        }
        let sizes = <A::Reduced as Shape>::Sizes::copied(&sizes);
        Ok(SparseTensor::assembled(sizes, indices, sums, !A::KEEPS))
    }
}

impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
    /// The sum of all elements as a zero-dim strided tensor (`torch.sum`). Result dtype: `i64` for bools and integers, else that of `self`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[0, 2], [3, 0]].to_sparse().sum().item(), 5);
    /// ```
    #[fallible]
    pub fn sum<O: Dtype>(&self) -> Result<Tensor<O, ()>>
    where
        E: Dtype<Sum = O>,
    {
        self.parts.values.try_sum()
    }

    /// Whether any element is nonzero (`torch.any`).
    ///
    /// # Panics
    /// If memory runs out.
    #[fallible]
    pub fn any(&self) -> Result<Tensor<bool, ()>>
    where
        E: Dtype,
    {
        self.try_coalesce()?.parts.values.try_any()
    }

    /// The norm of the elements (`torch.norm`), after adding the values of equal indices; for `p` above 0, zeros do not contribute.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[0.0, 3.0], [4.0, 0.0]].to_sparse().norm(2.0).item(), 5.0);
    /// ```
    #[fallible]
    pub fn norm<O: Dtype>(&self, p: f64) -> Result<Tensor<O, ()>>
    where
        E: InexactFor<crate::ops::reduce::norm> + Dtype<RealDtype = O>,
    {
        self.try_coalesce()?.parts.values.try_norm(p)
    }
}
