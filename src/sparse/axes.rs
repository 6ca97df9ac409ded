//! Permuting, inserting and removing axes, and selecting positions: the indices change, values are moved.
//!
//! For tensors without dense axes: permuting sparse axes of hybrid tensors is not supported yet.

use super::attributes::columns;
use super::rows::{expect_countable, insert_row, rows_of, select_rows, sorted};
use super::{Rows, SparseTensor};
use crate::device::{Backend as _, Cpu};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, listed, room};
use crate::layout::exchanged;
use crate::layout::positions::expect_range;
use crate::ops::choosing::{self, IndexFor};
use crate::shape::{
    AxisArg, AxisPosition, D1, Dimensional, HasAxis, IndexList, InsertAxis, Matrices, Permute, Reverse, Shape,
    SizeArray, Transpose,
};
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// The rows of indices; row `at` of the result is row `order[at]` of these.
pub(super) fn reordered(indices: &Rows<i64>, order: impl Iterator<Item = usize>) -> Result<Rows<i64>> {
    let order: Vec<i64> = order.map(|axis| axis as i64).collect();
    select_rows(indices, &order)
}

/// The wanted ones among `nnz` elements.
fn places(nnz: usize, wanted: impl Fn(usize) -> bool) -> Result<Vec<i64>> {
    let mut places = room(nnz)?;
    places.extend((0..nnz).filter(|&at| wanted(at)).map(|at| at as i64));
    Ok(places)
}

impl<E: Element, S: Shape> SparseTensor<E, S> {
    /// Permutes the axes. (Sorted indices need not stay sorted.)
    fn permuted<T: Shape>(&self, order: impl Iterator<Item = usize> + Clone) -> Result<SparseTensor<E, T>> {
        let own = self.shape();
        let sizes: Vec<usize> = order.clone().map(|axis| own.as_ref()[axis]).collect();
        let in_order = order.clone().eq(0..S::RANK);
        let indices = reordered(&self.parts.indices, order)?;
        let coalesced = in_order && self.is_coalesced();
        Ok(SparseTensor::assembled(T::Sizes::copied(&sizes), indices, self.parts.values.clone(), coalesced))
    }

    /// The transpose of a matrix; vectors and zero-dim tensors are unchanged (`torch.t`). Values are not copied.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, SparseTensor};
    /// let s = tensor![[0, 0, 3], [4, 0, 5]].to_sparse();
    /// let t: SparseTensor<i64, shape![3, 2]> = s.t();
    /// assert_eq!(t.to_dense(), tensor![[0, 4], [0, 0], [3, 5]]);
    /// ```
    #[fallible]
    pub fn t<T: Shape>(&self) -> Result<SparseTensor<E, T>>
    where
        S: Reverse<Output = T>,
    {
        self.permuted((0..S::RANK).rev())
    }

    /// Swaps two axes (`torch.transpose`). Values are not copied.
    ///
    /// # Panics
    /// If memory runs out.
    #[fallible]
    pub fn transpose<const I: isize, const J: isize>(
        &self,
        first: impl AxisArg<I>,
        second: impl AxisArg<J>,
    ) -> Result<SparseTensor<E, <S as Transpose<I, J>>::Output>>
    where
        S: Transpose<I, J> + HasAxis<I> + HasAxis<J>,
    {
        let (first, second) = (<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
        self.permuted(exchanged(S::RANK, first, second))
    }

    /// Permutes the axes (`torch.permute`). Values are not copied.
    ///
    /// # Panics
    /// If memory runs out.
    #[fallible]
    pub fn permute<Order>(&self, order: Order) -> Result<SparseTensor<E, <S as Permute<Order>>::Output>>
    where
        S: Permute<Order>,
    {
        self.permuted(<S as Permute<Order>>::ORDER.iter().copied())
    }

    /// A new axis of size 1 at position `I` of the result (`torch.unsqueeze`).
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![[0, 7]].to_sparse().unsqueeze(axis![-1]).shape(), [1, 2, 1]);
    /// ```
    #[fallible]
    pub fn unsqueeze<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
    ) -> Result<SparseTensor<E, <S as InsertAxis<I>>::Inserted<D1>>>
    where
        S: InsertAxis<I>,
    {
        let (at, nnz) = (<S as InsertAxis<I>>::INDEX, self.nnz());
        let mut sizes = self.shape().as_ref().to_vec();
        sizes.insert(at, 1);
        let mut indices = Cpu::download(self.parts.indices.elements())?;
        insert_row(&mut indices, at, nnz, 0)?;
        let indices = rows_of(indices, [sizes.len(), nnz])?;
        // (Sorted indices stay sorted, but PyTorch does not mark them.)
        let sizes = <<S as InsertAxis<I>>::Inserted<D1> as Shape>::Sizes::copied(&sizes);
        Ok(SparseTensor::assembled(sizes, indices, self.parts.values.clone(), false))
    }

    /// One position along an axis, which is removed (`x[i]`, `torch.select`); the result is coalesced.
    ///
    /// # Panics
    /// If the index is out of range.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let s = tensor![[0, 0, 3], [4, 0, 5]].to_sparse();
    /// assert_eq!(s.select(axis![0], 1).to_dense(), tensor![4, 0, 5]);
    /// ```
    #[fallible]
    pub fn select<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        index: impl AxisPosition,
    ) -> Result<SparseTensor<E, <S as HasAxis<I>>::Removed>>
    where
        E: Dtype,
        S: HasAxis<I> + Matrices,
    {
        let (axis, own) = (<S as HasAxis<I>>::INDEX, self.shape());
        let size = own.as_ref()[axis];
        let index = index.counted("select", axis, size)?;
        let nnz = self.nnz();
        let indices = Cpu::download(self.parts.indices.elements())?;
        let chosen = places(nnz, |at| indices[axis * nnz + at] == index as i64)?;
        let of_chosen = columns(&self.parts.indices, &chosen)?;
        let indices = reordered(&of_chosen, (0..S::RANK).filter(|&at| at != axis))?;
        let sizes = removed::<<<S as HasAxis<I>>::Removed as Shape>::Sizes>(own.as_ref(), axis);
        let values = select_rows(&self.parts.values, &chosen)?;
        SparseTensor::assembled(sizes, indices, values, self.is_coalesced()).try_coalesce()
    }

    /// `len` positions along an axis from `start` on (`torch.narrow_copy`).
    ///
    /// Shape: that of `self` with the size of the axis known at run time.
    ///
    /// # Panics
    /// If they are out of range.
    #[fallible]
    pub fn narrow<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        start: usize,
        len: usize,
    ) -> Result<SparseTensor<E, <S as HasAxis<I>>::Replace<crate::Dyn>>>
    where
        S: HasAxis<I> + Dimensional,
    {
        let (axis, own) = (<S as HasAxis<I>>::INDEX, self.shape());
        let size = own.as_ref()[axis];
        expect_range("narrow", start, len, axis, size)?;
        let end = start + len;
        let nnz = self.nnz();
        let mut sizes = <<S as HasAxis<I>>::Replace<crate::Dyn> as Shape>::Sizes::copied(own.as_ref());
        sizes.as_mut()[axis] = len;
        let indices = Cpu::download(self.parts.indices.elements())?;
        let chosen = places(nnz, |at| (start as i64..end as i64).contains(&indices[axis * nnz + at]))?;
        let mut moved = Cpu::download(columns(&self.parts.indices, &chosen)?.elements())?;
        moved[axis * chosen.len()..][..chosen.len()].iter_mut().for_each(|index| *index -= start as i64);
        let indices = rows_of(moved, [S::RANK, chosen.len()])?;
        Ok(SparseTensor::assembled(sizes, indices, select_rows(&self.parts.values, &chosen)?, self.is_coalesced()))
    }

    /// The positions along an axis that the indices name, in their order (`torch.index_select`). The result is not marked as coalesced.
    ///
    /// # Panics
    /// If an index is out of range.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let s = tensor![[0, 0, 3], [4, 0, 5]].to_sparse();
    /// assert_eq!(s.index_select(axis![1], &tensor![2, 0]).to_dense(), tensor![[3, 0], [5, 4]]);
    /// ```
    #[fallible]
    pub fn index_select<const I: isize, X: IndexFor<choosing::index_select>, T: Shape + IndexList>(
        &self,
        axis: impl AxisArg<I>,
        index: &Tensor<X, T>,
    ) -> Result<SparseTensor<E, <S as HasAxis<I>>::Replace<<T as IndexList>::Dim>>>
    where
        S: HasAxis<I> + Dimensional,
    {
        let (axis, own) = (<S as HasAxis<I>>::INDEX, self.shape());
        let size = own.as_ref()[axis];
        let index = Cpu::download(index.try_to::<i64>()?.elements())?;
        if let Some(&index) = index.iter().find(|&&index| !(0..size as i64).contains(&index)) {
            return Err(Error::IndexValue { op: "index_select", index, axis, size });
        }
        let mut sizes = <<S as HasAxis<I>>::Replace<<T as IndexList>::Dim> as Shape>::Sizes::copied(own.as_ref());
        sizes.as_mut()[axis] = index.len();
        expect_countable("index_select", sizes.as_ref())?;
        // The elements sorted by their indices along the axis, so that each requested index finds its own.
        let nnz = self.nnz();
        let own = Cpu::download(self.parts.indices.elements())?;
        let (places, elements) = sorted(listed(own[axis * nnz..][..nnz].iter().copied())?)?;
        let (mut chosen, mut moved) = (Vec::new(), Vec::new());
        for (to, from) in index.into_iter().enumerate() {
            let start = places.partition_point(|&place| place < from);
            for at in (start..nnz).take_while(|&at| places[at] == from) {
                chosen.push(elements[at]);
                moved.push(to as i64);
            }
        }
        let mut indices = Cpu::download(columns(&self.parts.indices, &chosen)?.elements())?;
        indices[axis * chosen.len()..][..chosen.len()].copy_from_slice(&moved);
        let indices = rows_of(indices, [S::RANK, chosen.len()])?;
        Ok(SparseTensor::assembled(sizes, indices, select_rows(&self.parts.values, &chosen)?, false))
    }
}

/// The sizes without that of an axis.
fn removed<T: SizeArray>(sizes: &[usize], axis: usize) -> T {
    let mut left = sizes.to_vec();
    left.remove(axis);
    T::copied(&left)
}
