//! `to_dense`, `to_sparse`, and sums of sparse and strided tensors, which are strided.

use super::rows::{indices_from_linear, scatter_rows_with, scatter_view_with, select_rows, zero_rows};
use super::{DenseAxes, Rows, SparseTensor};
use crate::device::{Backend as _, Cpu};
use crate::dtype::{Binary, CastTo, Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops;
use crate::ops::kernel::{Casting, Combining, Copying};
use crate::ops::reduce::Accumulating;
use crate::shape::{Dyn, Shape};
use crate::storage::{View, ViewMut};
use crate::tensor::{Tensor, checked_numel, map2, true_positions};
use castiron_macros::fallible;

impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
    /// The strided tensor with these elements and zeros elsewhere (`torch.Tensor.to_dense`). Values of equal indices are added.
    ///
    /// Shape: that of `self`. Dtypes: all computing dtypes.
    ///
    /// # Panics
    /// If memory cannot hold it.
    ///
    /// ```
    /// use castiron::{shape, tensor, SparseTensor, Tensor};
    /// let s: SparseTensor<f32, shape![3]> = Tensor::sparse_coo(&tensor![[2, 0, 2]], &tensor![1.0, 5.0, 0.5]);
    /// assert_eq!(s.to_dense().to_vec(), [5.0, 0.0, 1.5]);
    /// ```
    #[fallible]
    pub fn to_dense(&self) -> Result<Tensor<E, S>>
    where
        E: Dtype,
    {
        let op = "to_dense";
        checked_numel::<E>(op, self.shape().as_ref())?;
        let mut dense = zero_rows::<E>(op, self.row_sizes())?;
        scatter_rows_with::<Accumulating, E>(op, &mut dense, self.keys()?, &self.parts.values)?;
        Ok(dense.restrided(0, self.shape(), strides::contiguous(&self.shape())))
    }

    /// The sizes of the tensor as a matrix of blocks.
    fn row_sizes(&self) -> [usize; 2] {
        let (sparse, dense) = self.sparse_and_dense_sizes();
        [sparse.iter().product(), dense.iter().product()]
    }

    /// The element of a one-element tensor (`torch.Tensor.item`).
    ///
    /// # Panics
    /// If there is not exactly one element.
    #[fallible]
    pub fn item(&self) -> Result<E>
    where
        E: Dtype,
    {
        if self.numel() != 1 {
            let reason = format!("a tensor of shape {:?} has no single element", self.shape());
            return Err(Error::InvalidArgument { op: "item", reason });
        }
        Cpu::peek(self.try_to_dense()?.restrided::<()>(0, [], []).elements())
    }
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// The sparse tensor of the nonzero elements (`torch.Tensor.to_sparse`). NaN counts as nonzero, -0.0 as zero.
    ///
    /// Shape: that of `self`, with all axes sparse. Dtypes: all computing dtypes. The result is coalesced.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// let s = castiron::tensor![[0.0, 1.0], [2.0, 0.0]].to_sparse();
    /// assert_eq!(s.indices().to_vec(), [0, 1, 1, 0]);
    /// assert_eq!(s.values().to_vec(), [1.0, 2.0]);
    /// ```
    #[fallible]
    pub fn to_sparse(&self) -> Result<SparseTensor<E, S>>
    where
        E: Dtype,
    {
        self.try_to_sparse_hybrid::<0>()
    }

    /// [`to_sparse`](Self::to_sparse) with the last `N` axes dense: keeps blocks with any nonzero element
    /// (`torch.Tensor.to_sparse(sparse_dim)`, where `sparse_dim` is the rank minus `N`).
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// let s = castiron::tensor![[0.0, 1.0], [0.0, 0.0]].to_sparse_hybrid::<1>();
    /// assert_eq!(s.indices().to_vec(), [0]);
    /// assert_eq!(s.values().to_vec(), [0.0, 1.0]);
    /// ```
    #[fallible]
    pub fn to_sparse_hybrid<const N: usize>(&self) -> Result<SparseTensor<E, S, N>>
    where
        E: Dtype,
        S: DenseAxes<N>,
    {
        let sizes = self.shape();
        let (sparse, dense) = sizes.as_ref().split_at(S::RANK - N);
        let shape = [sparse.iter().product::<usize>(), dense.iter().product()];
        let whole = self.try_contiguous()?;
        let rows: Rows<E> = whole.restrided(0, shape, strides::contiguous(&shape));
        let filled: Tensor<bool, (Dyn,)> = rows.try_to::<bool>()?.try_any_axis(crate::axis![1])?;
        let (keys, count) = true_positions::<Cpu>(filled.elements())?;
        let keys = Cpu::download(View::<_, i64>::new(&keys, 0, &[count], &[1]))?;
        Ok(SparseTensor::assembled(sizes, indices_from_linear(&keys, sparse)?, select_rows(&rows, &keys)?, true))
    }
}

/// `dense = F(dense, sparse)`, both of the same dtype.
fn fold_into<F: Binary, E: Dtype, S: Shape, T: Shape, const N: usize>(
    op: &'static str,
    dense: &mut Tensor<E, S>,
    sparse: &SparseTensor<E, T, N>,
) -> Result<()> {
    let sizes = sparse.row_sizes();
    let mut copy = if dense.is_contiguous() { None } else { Some(dense.try_contiguous()?) };
    let keys = sparse.keys()?;
    let values = &sparse.parts.values;
    {
        let out = copy.as_mut().unwrap_or(dense).elements_mut()?;
        let row_strides = strides::contiguous(&sizes);
        let out = ViewMut::<_, E>::new(out.buffer, out.offset, &sizes, &row_strides);
        scatter_view_with::<F, E>(op, out, keys, values)?;
    }
    match copy {
        Some(copy) => Cpu::map1_into::<E, E>(Copying, copy.elements(), dense.elements_mut()?),
        None => Ok(()),
    }
}

/// Checks that a strided and a sparse tensor have the same sizes.
pub(crate) fn expect_same(op: &'static str, a: &[usize], b: &[usize]) -> Result<()> {
    if a == b {
        return Ok(());
    }
    let reason = format!("shapes {a:?} and {b:?} differ: a sparse tensor is not broadcast");
    Err(Error::InvalidArgument { op, reason })
}

/// `F(dense, sparse)` in the dtype `P`, as a new tensor of shape `U`.
pub(super) fn add_dense<F: Binary, E: Dtype, G: Dtype, P: Dtype, S: Shape, T: Shape, U: Shape, const N: usize>(
    op: &'static str,
    dense: &Tensor<E, S>,
    sparse: &SparseTensor<G, T, N>,
) -> Result<Tensor<P, U>> {
    expect_same(op, dense.shape().as_ref(), sparse.shape().as_ref())?;
    let mut result = dense.try_to::<P>()?;
    fold_into::<F, P, S, T, N>(op, &mut result, &sparse.try_to::<P>()?)?;
    Ok(result.retyped())
}

/// `dense = F(dense, sparse)` computed in `P` and converted to the dtype of `dense`, which the caller's bounds allow.
pub(super) fn fold_assign<F: Binary, E: Dtype, G: Dtype, P: Dtype + CastTo<E>, S: Shape, T: Shape, const N: usize>(
    op: &'static str,
    dense: &mut Tensor<E, S>,
    sparse: &SparseTensor<G, T, N>,
) -> Result<()> {
    if E::DTYPE == P::DTYPE {
        expect_same(op, dense.shape().as_ref(), sparse.shape().as_ref())?;
        return fold_into::<F, E, S, T, N>(op, dense, &sparse.try_to::<E>()?);
    }
    let result = add_dense::<F, E, G, P, S, T, S, N>(op, dense, sparse)?;
    Cpu::map1_into::<P, E>(Casting, result.elements(), dense.elements_mut()?)
}

/// `sparse - dense` in the dtype `P`; the result is strided.
pub(super) fn subtract_dense<E: Dtype, F: Dtype, P: Dtype, S: Shape, T: Shape, U: Shape, const N: usize>(
    sparse: &SparseTensor<E, S, N>,
    dense: &Tensor<F, T>,
) -> Result<Tensor<P, U>> {
    let op = "sub";
    expect_same(op, dense.shape().as_ref(), sparse.shape().as_ref())?;
    let left = sparse.try_to::<P>()?.try_to_dense()?.retyped::<U>();
    let sizes = left.shape();
    map2::<_, _, U, Cpu, P>(Combining::<ops::sub, P>::new(), left.elements(), dense.elements(), sizes, [P::DTYPE; 2])
}
