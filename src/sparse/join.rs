//! `cat` and `stack` of two sparse tensors: indices are offset, values concatenated.

use super::SparseTensor;
use super::rows::{expect_countable, insert_row, rows_of};
use crate::device::{Backend as _, Cpu};
use crate::dtype::{Dtype, Promoted};
use crate::error::{Error, Result, room};
use crate::shape::{AxisArg, Concat, Dimensional, HasAxis, InsertAxis, Merge, Shape, SizeArray};
use castiron_macros::fallible;

impl<E: Dtype, S: Shape> SparseTensor<E, S> {
    /// Concatenates two tensors along an axis (`torch.cat`). The dtypes promote; the result is not marked as coalesced.
    ///
    /// # Panics
    /// If sizes known at run time do not match.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let (a, b) = (tensor![[0, 1]].to_sparse(), tensor![[2.0, 0.0]].to_sparse());
    /// assert_eq!(a.cat(&b, axis![0]).to_dense(), tensor![[0.0, 1.0], [2.0, 0.0]]);
    /// ```
    #[fallible]
    pub fn cat<const I: isize, F: Dtype, T: Shape>(
        &self,
        other: &SparseTensor<F, T>,
        axis: impl AxisArg<I>,
    ) -> Result<SparseTensor<Promoted<E, F>, <S as Concat<I, T>>::Output>>
    where
        S: Concat<I, T> + HasAxis<I> + Dimensional,
    {
        let (axis, first, second) = (<S as HasAxis<I>>::INDEX, self.shape(), other.shape());
        let (first, second) = (first.as_ref(), second.as_ref());
        if (0..S::RANK).any(|at| at != axis && first[at] != second[at]) {
            return Err(Error::Join { op: "cat", first: first.into(), other: second.into(), axis });
        }
        joined(self, other, axis, first[axis], first[axis].saturating_add(second[axis]), first)
    }

    /// Stacks two tensors along a new axis (`torch.stack`). The dtypes promote; the result is not marked as coalesced.
    ///
    /// # Panics
    /// If sizes known at run time differ.
    #[fallible]
    pub fn stack<const I: isize, F: Dtype, T: Shape>(
        &self,
        other: &SparseTensor<F, T>,
        axis: impl AxisArg<I>,
    ) -> Result<SparseTensor<Promoted<E, F>, <<S as Merge<T>>::Output as InsertAxis<I>>::Inserted<crate::dim!(2)>>>
    where
        S: Merge<T>,
        <S as Merge<T>>::Output: InsertAxis<I>,
    {
        super::dense::expect_same("stack", self.shape().as_ref(), other.shape().as_ref())?;
        let axis = <<S as Merge<T>>::Output as InsertAxis<I>>::INDEX;
        let mut indices = [0, 1].map(|_| Vec::new());
        for (at, (from, nnz)) in
            [(self.raw_indices(), self.nnz()), (other.raw_indices(), other.nnz())].into_iter().enumerate()
        {
            let mut rows = Cpu::download(from.elements())?;
            insert_row(&mut rows, axis, nnz, at as i64)?;
            indices[at] = rows;
        }
        let mut sizes = self.shape().as_ref().to_vec();
        sizes.insert(axis, 2);
        put_together(self, other, indices, &sizes)
    }
}

/// Concatenates along an axis; the second tensor's indices are offset by the first one's size.
fn joined<E: Dtype, F: Dtype, S: Shape, T: Shape, U: Shape>(
    first: &SparseTensor<E, S>,
    second: &SparseTensor<F, T>,
    axis: usize,
    shift: usize,
    size: usize,
    sizes: &[usize],
) -> Result<SparseTensor<Promoted<E, F>, U>> {
    let mut sizes = sizes.to_vec();
    sizes[axis] = size;
    let one = Cpu::download(first.parts.indices.elements())?;
    let mut other = Cpu::download(second.parts.indices.elements())?;
    let nnz = second.nnz();
    other[axis * nnz..][..nnz].iter_mut().for_each(|index| *index += shift as i64);
    put_together(first, second, [one, other], &sizes)
}

/// The elements of both, with these indices.
fn put_together<E: Dtype, F: Dtype, S: Shape, T: Shape, U: Shape>(
    first: &SparseTensor<E, S>,
    second: &SparseTensor<F, T>,
    [one, other]: [Vec<i64>; 2],
    sizes: &[usize],
) -> Result<SparseTensor<Promoted<E, F>, U>> {
    expect_countable("cat", sizes)?;
    let (a, b) = (first.nnz(), second.nnz());
    let mut indices = room(one.len() + other.len())?;
    for axis in 0..sizes.len() {
        indices.extend_from_slice(&one[axis * a..][..a]);
        indices.extend_from_slice(&other[axis * b..][..b]);
    }
    let values = (first.parts.values.try_to::<Promoted<E, F>>()?, second.parts.values.try_to::<Promoted<E, F>>()?);
    let parts = [Cpu::download(values.0.elements())?, Cpu::download(values.1.elements())?];
    let mut rows = room(a + b)?;
    parts.iter().for_each(|part| rows.extend_from_slice(part));
    let indices = rows_of(indices, [sizes.len(), a + b])?;
    Ok(SparseTensor::assembled(U::Sizes::copied(sizes), indices, rows_of(rows, [a + b, 1])?, false))
}
