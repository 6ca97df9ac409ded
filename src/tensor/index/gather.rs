//! Elements selected by indices: `index_select`, `gather`, `take`, `take_along_dim`, `embedding`.

use crate::device::{Device, Receives, Source};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::arguments::Indexing;
use crate::ops::choosing::{self, IndexFor};
use crate::ops::kernel::Casting;
use crate::shape::{
    AxisArg, Broadcast, Dim, HasAxis, HasRank, IndexBeside, IndexList, InsertAxis, SameRank, Shape, SizeArray,
};
use crate::storage::View;
use crate::tensor::base::operand::{OperandSource, TensorOperand};
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;

/// The elements of a tensor operand, on the device of the result.
pub(crate) fn elements<R: TensorOperand, D: Device + Receives<R::Place, Dimensioned>>(
    operand: &R,
) -> Result<View<'_, D::Storage, R::Elem>> {
    let OperandSource::View(view) = operand.source() else { unreachable!("a tensor operand has a view") };
    match <D as Receives<R::Place, Dimensioned>>::right(view)? {
        Source::View(view) => Ok(view),
        Source::Value(_) => unreachable!("a dimensioned operand is not moved"),
    }
}

/// Sizes and strides with at least one axis: a zero-dim tensor counts as one axis of size 1.
pub(crate) fn lifted<B, E>(view: &View<'_, B, E>) -> (Vec<usize>, Vec<usize>) {
    if view.sizes.is_empty() { (vec![1], vec![1]) } else { (view.sizes.to_vec(), view.strides.to_vec()) }
}

/// A new row-major tensor; for a zero-dim shape `sizes` (one axis of size 1) is ignored.
pub(crate) fn dense<E: Element, T: Shape, D: Device>(storage: D::Storage, sizes: &[usize]) -> Tensor<E, T, D> {
    let own = if T::RANK == 0 { &[] } else { sizes };
    Tensor::dense(storage, T::Sizes::copied(own))
}

/// Runs code with the indices as `i64`.
pub(crate) fn with_indices<X: TensorOperand, D, R>(
    index: &X,
    run: impl FnOnce(View<'_, D::Storage, i64>) -> Result<R>,
) -> Result<R>
where
    D: Device + Receives<X::Place, Dimensioned>,
{
    let view = elements::<X, D>(index)?;
    if X::Elem::DTYPE == DType::I64 {
        return run(view.known_as());
    }
    let strides = strides::contiguous(&<X::Shape as Shape>::Sizes::copied(view.sizes));
    let storage = D::map1::<X::Elem, i64>(Casting, view, strides.as_ref())?;
    run(View::new(&storage, 0, view.sizes, strides.as_ref()))
}

/// The slices at a list of indices along an axis: row-major, of these sizes.
pub(crate) fn selected<E: Element, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    axis: usize,
    list: &D::Storage,
    sizes: &[usize],
) -> Result<D::Storage> {
    let mut steps = vec![0; sizes.len()];
    steps[axis] = 1;
    if sizes.contains(&0) {
        return D::zeroed::<E>(Some(view.buffer), 0);
    }
    D::gather(Indexing { op, axis, wraps: false }, view, View::<_, i64>::new(list, 0, sizes, &steps))
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The slices at a list of indices along an axis, in their order: for example rows of a matrix.
    ///
    /// Shape: that of `self` with the number of indices in place of the axis. Dtypes: all. The indices are `i64` or `i32`, not negative.
    ///
    /// PyTorch: `torch.index_select`.
    ///
    /// # Panics
    /// If an index is out of range.
    ///
    /// ```
    /// use castiron::{axis, shape, tensor, Tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// let columns: Tensor<i64, shape![2, 4]> = x.index_select(axis![1], tensor![2, 0, 0, 1]);
    /// assert_eq!(columns.to_vec(), [3, 1, 1, 2, 6, 4, 4, 5]);
    /// ```
    #[doc(alias = "take")]
    #[fallible]
    pub fn index_select<const I: isize, X: TensorOperand, N: Dim>(
        &self,
        axis: impl AxisArg<I>,
        index: X,
    ) -> Result<Tensor<E, <S as HasAxis<I>>::Replace<N>, D>>
    where
        S: HasAxis<I>,
        X::Shape: IndexList<Dim = N>,
        X::Elem: IndexFor<choosing::index_select>,
        D: Receives<X::Place, Dimensioned>,
    {
        with_indices::<X, D, _>(&index, |index| select(self, <S as HasAxis<I>>::INDEX, index))
    }

    /// For each index the element at this position along the axis, the other indices being the same: `result[i][j] = self[index[i][j]][j]`
    /// along axis 0.
    ///
    /// Shape: that of the indices, which have as many axes as `self` and are no larger along the other axes. Dtypes: all. The indices are
    /// `i64` or `i32`, not negative.
    ///
    /// PyTorch: `torch.gather`.
    ///
    /// # Panics
    /// If an index is out of range or sizes do not match.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.gather(axis![1], tensor![[2, 0], [1, 1]]).to_vec(), [3, 1, 5, 5]);
    /// ```
    #[fallible]
    pub fn gather<const I: isize, X: TensorOperand>(
        &self,
        axis: impl AxisArg<I>,
        index: X,
    ) -> Result<Tensor<E, X::Shape, D>>
    where
        S: HasAxis<I> + SameRank<X::Shape>,
        X::Shape: IndexBeside<S, I>,
        X::Elem: IndexFor<choosing::gather>,
        D: Receives<X::Place, Dimensioned>,
    {
        with_indices::<X, D, _>(&index, |index| {
            gather("gather", self.elements(), <S as HasAxis<I>>::INDEX, index, false)
        })
    }

    /// [`gather`](Self::gather) with `self` and the indices broadcast along the other axes. Negative indices count from the end. It takes
    /// the results of `argmax`, `argsort` and so on directly.
    ///
    /// Shape: that of the indices, broadcast. Dtypes: all. The indices are `i64`.
    ///
    /// PyTorch: `torch.take_along_dim`.
    ///
    /// # Panics
    /// If an index is out of range or sizes known at run time do not broadcast.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[1, 9, 3], [7, 5, 6]];
    /// let largest = x.take_along_dim(x.argmax_axis(axis![1].keepdim()), axis![1]);
    /// assert_eq!(largest.to_vec(), [9, 7]);
    /// ```
    #[fallible]
    pub fn take_along_dim<const I: isize, X: TensorOperand, T: Shape>(
        &self,
        index: X,
        axis: impl AxisArg<I>,
    ) -> Result<Tensor<E, T, D>>
    where
        S: HasAxis<I> + SameRank<X::Shape>,
        X::Shape: Broadcast<<S as HasAxis<I>>::Kept, Output = T>,
        X::Elem: IndexFor<choosing::take_along_dim>,
        D: Receives<X::Place, Dimensioned>,
    {
        let op = "take_along_dim";
        let axis = <S as HasAxis<I>>::INDEX;
        with_indices::<X, D, _>(&index, |index| {
            let (own, own_strides) = lifted(&self.elements());
            let (index_sizes, index_strides) = lifted(&index);
            let mut kept = own.clone();
            kept[axis] = 1;
            let mut sizes = kept.clone();
            if !crate::shape::broadcast_sizes(&kept, &index_sizes, &mut sizes) {
                return Err(Error::Broadcast { op, lhs: own[..].into(), rhs: index_sizes[..].into() });
            }
            let mut from_sizes = sizes.clone();
            from_sizes[axis] = own[axis];
            let from = strides::broadcast_list(&own, &own_strides, &from_sizes);
            let to = strides::broadcast_list(&index_sizes, &index_strides, &sizes);
            gather(op, self.elements().restrided(&from_sizes, &from), axis, index.restrided(&sizes, &to), true)
        })
    }

    /// The elements at row-major positions of a tensor of any shape. Negative positions count from the end.
    ///
    /// Shape: that of the indices. Dtypes: all. The indices are `i64`.
    ///
    /// PyTorch: `torch.take`.
    ///
    /// # Panics
    /// If an index is out of range.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[1, 2], [3, 4]].take(tensor![2, -1]).to_vec(), [3, 4]);
    /// ```
    #[fallible]
    pub fn take<X: TensorOperand>(&self, index: X) -> Result<Tensor<E, X::Shape, D>>
    where
        X::Elem: IndexFor<choosing::take>,
        D: Receives<X::Place, Dimensioned>,
    {
        let flat = self.try_contiguous()?;
        with_indices::<X, D, _>(&index, |index| {
            // For each index all elements are along its last axis.
            let (sizes, index_strides) = lifted(&index);
            let last = sizes.len() - 1;
            let (mut from_sizes, mut from) = (sizes.clone(), vec![0; sizes.len()]);
            (from_sizes[last], from[last]) = (self.numel(), 1);
            let indexing = Indexing { op: "take", axis: last, wraps: true };
            let (a, index) = (flat.elements().restrided(&from_sizes, &from), index.restrided(&sizes, &index_strides));
            checked_numel::<E>("take", &sizes)?;
            Ok(dense(D::gather(indexing, a, index).map_err(|error| at_axis(error, 0))?, &sizes))
        })
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The rows at indices of any shape: for example word vectors.
    ///
    /// Shape: `(V, M)`; the result's is that of the indices with the length of a row as the last axis. Dtypes: all. The indices are `i64`
    /// or `i32`, not negative.
    ///
    /// PyTorch: `torch.nn.functional.embedding`, with its operands exchanged.
    ///
    /// # Panics
    /// If an index is out of range.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let vectors = tensor![[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]];
    /// let words: Tensor<f32, shape![1, 3, 2]> = vectors.embedding(tensor![[2, 0, 2]]);
    /// assert_eq!(words.to_vec(), [2.0, 2.1, 0.0, 0.1, 2.0, 2.1]);
    /// ```
    #[fallible]
    pub fn embedding<X: TensorOperand>(
        &self,
        index: X,
    ) -> Result<Tensor<E, <X::Shape as InsertAxis<-1>>::Inserted<S::Columns>, D>>
    where
        S: HasRank<2, choosing::embedding>,
        X::Shape: InsertAxis<-1>,
        X::Elem: IndexFor<choosing::embedding>,
        D: Receives<X::Place, Dimensioned>,
    {
        let [rows, columns] = strides::of_matrix(self.shape().as_ref());
        let [row, column] = strides::of_matrix(self.stride().as_ref());
        with_indices::<X, D, _>(&index, |index| {
            // For each index all rows are along its last axis.
            let (mut sizes, mut index_strides) = lifted(&index);
            let axis = sizes.len() - 1;
            let (mut from_sizes, mut from) = (sizes.clone(), vec![0; sizes.len()]);
            (from_sizes[axis], from[axis]) = (rows, row);
            from_sizes.push(columns);
            from.push(column);
            sizes.push(columns);
            index_strides.push(0);
            checked_numel::<E>("embedding", &sizes)?;
            let indexing = Indexing { op: "embedding", axis, wraps: false };
            let (a, index) = (self.elements().restrided(&from_sizes, &from), index.restrided(&sizes, &index_strides));
            let storage = D::gather(indexing, a, index).map_err(|error| at_axis(error, 0))?;
            let own = &sizes[sizes.len() - X::Shape::RANK - 1..];
            Ok(Tensor::dense(storage, SizeArray::copied(own)))
        })
    }
}

/// Names the axis in an error as the caller counts it.
pub(crate) fn at_axis(error: Error, axis: usize) -> Error {
    match error {
        Error::IndexValue { op, index, size, .. } => Error::IndexValue { op, index, axis, size },
        error => error,
    }
}

fn select<E: Element, S: Shape, T: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    axis: usize,
    index: View<'_, D::Storage, i64>,
) -> Result<Tensor<E, T, D>> {
    let op = "index_select";
    let (sizes, from) = lifted(&x.elements());
    let (count, step) = (index.sizes.first().copied().unwrap_or(1), index.strides.first().copied().unwrap_or(1));
    if S::RANK == 0 && count != 1 {
        let reason = format!("a zero-dim tensor takes one index, got {count}");
        return Err(Error::InvalidArgument { op, reason });
    }
    let (mut result, mut strides) = (sizes.clone(), vec![0; sizes.len()]);
    (result[axis], strides[axis]) = (count, step);
    checked_numel::<E>(op, &result)?;
    let indexing = Indexing { op, axis, wraps: false };
    if result.contains(&0) && count > 0 {
        // PyTorch checks indices even if the result is empty: here a gather from the index tensor itself checks them.
        let (mut own, mut list) = (vec![1; sizes.len()], vec![1; sizes.len()]);
        (own[axis], list[axis]) = (sizes[axis], count);
        let still = vec![0; sizes.len()];
        D::gather(indexing, index.restrided(&own, &still), index.restrided(&list, &strides))?;
    }
    Ok(dense(D::gather(indexing, x.elements().restrided(&sizes, &from), index.restrided(&result, &strides))?, &result))
}

/// `a` read at the indices. Both have the same rank.
fn gather<E: Element, T: Shape, D: Device>(
    op: &'static str,
    a: View<'_, D::Storage, E>,
    axis: usize,
    index: View<'_, D::Storage, i64>,
    wraps: bool,
) -> Result<Tensor<E, T, D>> {
    let ((from_sizes, from), (sizes, strides)) = (lifted(&a), lifted(&index));
    // PyTorch checks the sizes only if the index tensor is not empty.
    let fits = |at: usize| at == axis || sizes[at] <= from_sizes[at];
    if !(0..sizes.len()).all(fits) && !sizes.contains(&0) {
        let reason = format!(
            "indices of shape {sizes:?} must be no larger than the tensor of shape {from_sizes:?}, but along axis {axis}"
        );
        return Err(Error::InvalidArgument { op, reason });
    }
    checked_numel::<E>(op, &sizes)?;
    if sizes.contains(&0) {
        return Ok(dense(D::zeroed::<E>(Some(a.buffer), 0)?, &sizes));
    }
    let indexing = Indexing { op, axis, wraps };
    Ok(dense(D::gather(indexing, a.restrided(&from_sizes, &from), index.restrided(&sizes, &strides))?, &sizes))
}
