//! Making sparse tensors from indices and values: with all sizes, the sizes known at compile time, or the smallest sizes that hold the
//! indices.
//!
//! Indices are always checked (PyTorch 2.13 does so only on request); the unchecked form is `unsafe`.

use super::rows::{expect_countable, rows_of, zero_rows};
use super::{DenseAxes, Rows, SparseTensor, SparseValues};
use crate::device::{Backend as _, Cpu};
use crate::dtype::{Element, Ordered};
use crate::error::{Error, Result, unwrap};
use crate::layout::strides;
use crate::shape::{ConvertTo, Dim, KnownShape, Shape, SizeArray};
use crate::tensor::{Tensor, expect_fit};
use castiron_macros::fallible;

const OP: &str = "sparse_coo";

/// The indices as `i64`.
fn as_indices<I: Ordered, A: Dim, C: Dim>(indices: &Tensor<I, (A, C)>) -> Result<Rows<i64>> {
    Ok(indices.try_to::<i64>()?.try_contiguous()?.retyped())
}

/// The values as rows of blocks.
fn as_rows<E: Element, V: Shape>(values: &Tensor<E, V>) -> Result<Rows<E>> {
    let (values, sizes) = (values.try_contiguous()?, values.shape());
    let (count, block) = (sizes.as_ref()[0], sizes.as_ref()[1..].iter().product::<usize>());
    let sizes = [count, block];
    Ok(values.restrided(0, sizes, strides::contiguous(&sizes)))
}

/// Checks the numbers of axes and values, and the sizes of blocks.
pub(crate) fn check_parts(sizes: &[usize], dense: usize, indices: [usize; 2], values: &[usize]) -> Result<()> {
    let wrong = |reason| Err(Error::InvalidArgument { op: OP, reason });
    let (axes, sparse) = (indices[0], sizes.len().saturating_sub(dense));
    if axes != sparse || sizes.len() < dense {
        return wrong(format!(
            "a tensor of shape {sizes:?} with {dense} dense axes has {sparse} rows of indices, got {axes}"
        ));
    }
    if indices[1] != values[0] {
        return wrong(format!("there must be as many values as indices, got {} and {}", values[0], indices[1]));
    }
    if sizes[sparse..] != values[1..] {
        return wrong(format!(
            "the dense axes of shape {sizes:?} have sizes {:?}, those of the values {:?}",
            &sizes[sparse..],
            &values[1..]
        ));
    }
    Ok(())
}

/// Checks that indices are in range.
pub(crate) fn check_indices(indices: &Rows<i64>, sizes: &[usize]) -> Result<()> {
    let nnz = indices.shape()[1];
    let elements = Cpu::download(indices.elements())?;
    for (axis, &size) in sizes.iter().take(indices.shape()[0]).enumerate() {
        let of_axis = &elements[axis * nnz..][..nnz];
        let in_range = |index: i64| usize::try_from(index).is_ok_and(|at| at < size);
        if let Some(&index) = of_axis.iter().find(|&&index| !in_range(index)) {
            return Err(Error::IndexValue { op: OP, index, axis, size });
        }
    }
    Ok(())
}

/// The smallest sizes that hold the indices, for the sparse axes.
pub(crate) fn infer(indices: &Rows<i64>, sizes: &mut [usize]) -> Result<()> {
    let nnz = indices.shape()[1];
    let elements = Cpu::download(indices.elements())?;
    for (axis, place) in sizes.iter_mut().enumerate() {
        let mut size = 0;
        for &index in &elements[axis * nnz..][..nnz] {
            match usize::try_from(index).ok().and_then(|index| index.checked_add(1)) {
                Some(end) => size = size.max(end),
                None => {
                    return Err(Error::InvalidArgument {
                        op: OP,
                        reason: format!("index {index} of axis {axis} is negative"),
                    });
                }
            }
        }
        *place = size;
    }
    Ok(())
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// A sparse tensor of values at indices: column `k` of the indices locates value `k`. Values of equal indices count as their sum. The
    /// shape is that of the type: [`sparse_coo_sized`](Self::sparse_coo_sized) takes sizes known at run time.
    ///
    /// Shapes: indices `(sparse axes, nnz)`; values `(nnz)`, or `(nnz, …)` for a hybrid tensor whose last axes are dense. Dtypes: all;
    /// indices may be any integers, bools or floats, as in PyTorch, and are stored as `i64`. At most one value is marked as coalesced, more
    /// are not.
    ///
    /// PyTorch: `torch.sparse_coo_tensor(indices, values, size, check_invariants=True)`.
    ///
    /// # Panics
    /// If an index is out of range, or the numbers of axes or values do not match.
    ///
    /// ```
    /// use castiron::{shape, tensor, SparseTensor, Tensor};
    /// let s: SparseTensor<f32, shape![2, 3]> =
    ///     Tensor::sparse_coo(&tensor![[0, 1, 1], [2, 0, 2]], &tensor![3.0, 4.0, 5.0]);
    /// assert_eq!(s.to_dense().to_vec(), [0.0, 0.0, 3.0, 4.0, 0.0, 5.0]);
    /// // One sparse axis and one dense one.
    /// let rows: SparseTensor<f32, shape![3, 2], 1> =
    ///     Tensor::sparse_coo(&tensor![[0, 2]], &tensor![[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(rows.to_dense().to_vec(), [1.0, 2.0, 0.0, 0.0, 3.0, 4.0]);
    /// assert!(Tensor::<f32, shape![2]>::try_sparse_coo(&tensor![[2]], &tensor![1.0]).is_err());
    /// ```
    #[fallible]
    pub fn sparse_coo<I: Ordered, A: Dim, C: Dim, V, const N: usize>(
        indices: &Tensor<I, (A, C)>,
        values: &Tensor<E, V>,
    ) -> Result<SparseTensor<E, S, N>>
    where
        S: KnownShape + DenseAxes<N>,
        V: SparseValues<N> + ConvertTo<<S as DenseAxes<N>>::Values>,
    {
        Self::try_sparse_coo_sized(indices, values, S::SIZES)
    }

    /// [`sparse_coo`](Self::sparse_coo) with sizes known at run time: takes all sizes, and checks those that the type knows.
    ///
    /// # Panics
    /// As for [`sparse_coo`](Self::sparse_coo), and if a size differs from the type's.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let s = Tensor::<i64, shape![_, 3]>::sparse_coo_sized(&tensor![[7], [2]], &tensor![5], [1_000_000_000_000, 3]);
    /// assert_eq!(s.nnz(), 1); // most of it takes no memory
    /// ```
    #[fallible]
    pub fn sparse_coo_sized<I: Ordered, A: Dim, C: Dim, V, const N: usize>(
        indices: &Tensor<I, (A, C)>,
        values: &Tensor<E, V>,
        sizes: S::Sizes,
    ) -> Result<SparseTensor<E, S, N>>
    where
        S: DenseAxes<N>,
        V: SparseValues<N> + ConvertTo<<S as DenseAxes<N>>::Values>,
    {
        expect_fit::<S>(OP, sizes.as_ref())?;
        expect_countable(OP, sizes.as_ref())?;
        check_parts(sizes.as_ref(), N, indices.shape(), values.shape().as_ref())?;
        let indices = as_indices(indices)?;
        check_indices(&indices, sizes.as_ref())?;
        Ok(SparseTensor::assembled(sizes, indices, as_rows(values)?, false))
    }

    /// [`sparse_coo`](Self::sparse_coo) with the smallest sizes that hold the indices; sizes that the type knows must equal them.
    ///
    /// # Panics
    /// If an index is negative, sizes differ from the type's, or the numbers of axes or values do not match.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let s = Tensor::<f32, shape![_, _]>::sparse_coo_inferred(&tensor![[0, 1], [2, 0]], &tensor![3.0, 4.0]);
    /// assert_eq!(s.shape(), [2, 3]);
    /// ```
    #[fallible]
    pub fn sparse_coo_inferred<I: Ordered, A: Dim, C: Dim, V, const N: usize>(
        indices: &Tensor<I, (A, C)>,
        values: &Tensor<E, V>,
    ) -> Result<SparseTensor<E, S, N>>
    where
        S: DenseAxes<N>,
        V: SparseValues<N> + ConvertTo<<S as DenseAxes<N>>::Values>,
    {
        let [axes, _] = indices.shape();
        if axes != S::RANK - N {
            let reason = format!("a tensor with {} sparse axes has as many rows of indices, got {axes}", S::RANK - N);
            return Err(Error::InvalidArgument { op: OP, reason });
        }
        let whole = as_indices(indices)?;
        let mut sizes = S::Sizes::filled(0);
        infer(&whole, &mut sizes.as_mut()[..axes])?;
        // The type has as many dense axes as the values have.
        sizes.as_mut()[axes..].copy_from_slice(&values.shape().as_ref()[1..]);
        Self::try_sparse_coo_sized(&whole, values, sizes)
    }

    /// [`sparse_coo_sized`](Self::sparse_coo_sized) without checking the indices; the caller says whether the tensor is coalesced. Numbers
    /// of axes and values are checked.
    ///
    /// PyTorch: `torch.sparse_coo_tensor(indices, values, size, is_coalesced=…)`.
    ///
    /// # Safety
    /// Every index is at least 0 and below the size of its axis. If `is_coalesced`, the indices are sorted in row-major order and distinct.
    ///
    /// # Errors
    /// If the numbers of axes or values do not match, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let (indices, values) = (tensor![[0, 1]], tensor![3.0, 4.0]);
    /// // SAFETY: 0 and 1 are below 2, sorted and different.
    /// let s = unsafe { Tensor::<f32, shape![2]>::sparse_coo_unchecked(&indices, &values, [2], true)? };
    /// assert!(s.is_coalesced());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub unsafe fn sparse_coo_unchecked<A: Dim, C: Dim, V, const N: usize>(
        indices: &Tensor<i64, (A, C)>,
        values: &Tensor<E, V>,
        sizes: S::Sizes,
        is_coalesced: bool,
    ) -> Result<SparseTensor<E, S, N>>
    where
        S: DenseAxes<N>,
        V: SparseValues<N> + ConvertTo<<S as DenseAxes<N>>::Values>,
    {
        expect_fit::<S>(OP, sizes.as_ref())?;
        expect_countable(OP, sizes.as_ref())?;
        check_parts(sizes.as_ref(), N, indices.shape(), values.shape().as_ref())?;
        Ok(SparseTensor::assembled(sizes, as_indices(indices)?, as_rows(values)?, is_coalesced))
    }

    /// A sparse tensor without elements: zeros (`torch.sparse_coo_tensor(size=…)`, `torch.zeros(layout=torch.sparse_coo)`).
    ///
    /// # Panics
    /// If the number of elements overflows; `try_sparse_zeros_sized` returns the error.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let s = Tensor::<f32, shape![2, 3]>::sparse_zeros();
    /// assert_eq!((s.nnz(), s.is_coalesced()), (0, true));
    /// ```
    #[track_caller]
    pub fn sparse_zeros() -> SparseTensor<E, S>
    where
        S: KnownShape,
    {
        unwrap(Self::try_sparse_zeros_sized(S::SIZES))
    }

    /// [`sparse_zeros`](Self::sparse_zeros) with sizes known at run time: takes all sizes, and checks those that the type knows.
    ///
    /// # Panics
    /// If a size differs from the type's or the number of elements overflows.
    #[fallible]
    pub fn sparse_zeros_sized(sizes: S::Sizes) -> Result<SparseTensor<E, S>> {
        let op = "sparse_zeros";
        expect_fit::<S>(op, sizes.as_ref())?;
        expect_countable(op, sizes.as_ref())?;
        Ok(SparseTensor::assembled(sizes, rows_of(Vec::new(), [S::RANK, 0])?, zero_rows(op, [0, 1])?, true))
    }
}
