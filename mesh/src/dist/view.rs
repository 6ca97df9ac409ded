//! Axes in another order, added, taken away; parts of axes that are whole. Nothing is sent, and nothing copied.

use super::Dist;
use crate::along;
use crate::place::{Debt, IsSettled, IsWhole, PlaceOf};
use castiron::dtype::Promotable;
use castiron::shape::{InsertAxis, SizeArray, Transpose};
use castiron::{Axis, CastTo, Device, Dyn, Element, Float, HasAxis, Shape};

impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
    /// Two axes change places ([`Tensor::transpose`](castiron::Tensor::transpose)): their placements go with them.
    pub fn transpose<const I: isize, const J: isize>(
        &self,
        first: Axis<I>,
        second: Axis<J>,
    ) -> Dist<E, <S as Transpose<I, J>>::Output, U, D>
    where
        S: Transpose<I, J> + HasAxis<I> + HasAxis<J>,
    {
        let mut sizes = self.sizes.as_ref().to_vec();
        sizes.swap(<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
        Dist::new(self.local.transpose(first, second), SizeArray::copied(&sizes))
    }

    /// The last two axes change places ([`Tensor::t`](castiron::Tensor::t)): matrices are transposed, those of a batch, too.
    pub fn t(&self) -> Dist<E, <S as Transpose<-2, -1>>::Output, U, D>
    where
        S: Transpose<-2, -1> + HasAxis<-2>,
    {
        self.transpose(Axis::<-2>, Axis::<-1>)
    }

    /// A new axis of size 1 ([`Tensor::unsqueeze`](castiron::Tensor::unsqueeze)).
    pub fn unsqueeze<const I: isize>(
        &self,
        axis: Axis<I>,
    ) -> Dist<E, <S as InsertAxis<I>>::Inserted<castiron::dim!(1)>, U, D>
    where
        S: InsertAxis<I>,
    {
        let mut sizes = self.sizes.as_ref().to_vec();
        sizes.insert(<S as InsertAxis<I>>::INDEX, 1);
        Dist::new(self.local.unsqueeze(axis), SizeArray::copied(&sizes))
    }

    /// A part of an axis that each rank has whole ([`Tensor::narrow`](castiron::Tensor::narrow)).
    ///
    /// # Panics
    /// If the part is out of range.
    #[track_caller]
    pub fn narrow<const I: isize>(
        &self,
        axis: Axis<I>,
        start: usize,
        len: usize,
    ) -> Dist<E, <S as HasAxis<I>>::Replace<Dyn>, U, D>
    where
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::narrow>,
    {
        let mut sizes = self.sizes.as_ref().to_vec();
        sizes[<S as HasAxis<I>>::INDEX] = len;
        Dist::new(self.local.narrow(axis, start, len), SizeArray::copied(&sizes))
    }

    /// One element of an axis that each rank has whole ([`Tensor::select`](castiron::Tensor::select)): the axis is removed.
    ///
    /// # Panics
    /// If the index is out of range.
    #[track_caller]
    pub fn select<const I: isize>(&self, axis: Axis<I>, index: isize) -> Dist<E, <S as HasAxis<I>>::Removed, U, D>
    where
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::select>,
    {
        let local = self.local.select(axis, index);
        let mut sizes = self.sizes.as_ref().to_vec();
        sizes.remove(<S as HasAxis<I>>::INDEX);
        Dist::new(local, SizeArray::copied(&sizes))
    }

    /// The same elements in the dtype `F` ([`Tensor::to`](castiron::Tensor::to)). What is pending is put together first: parts of a sum
    /// that are rounded give another sum.
    pub fn to<F: Element>(&self) -> Dist<F, S, U, D>
    where
        E: CastTo<F>,
        U: IsSettled,
    {
        Dist::new(self.local.to::<F>(), self.sizes)
    }

    /// The same elements in a wider floating-point dtype, of what is pending, too: no part is rounded.
    pub fn to_wider<F: Float>(&self) -> Dist<F, S, U, D>
    where
        E: Float + Promotable<With<F> = F> + CastTo<F>,
    {
        Dist::new(self.local.to::<F>(), self.sizes)
    }
}
