//! Operations along one axis that keep it. Each rank must have the whole axis: the compiler says so.

use super::Dist;
use crate::along;
use crate::place::{IsSettled, IsWhole, PlaceOf, Settled};
use castiron::{Axis, Device, Dtype, Element, Float, HasAxis, Ordered, Shape};

impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {
    /// `exp(x) / sum(exp(x))` along an axis ([`Tensor::softmax`](castiron::Tensor::softmax)). Over an axis that is cut it is
    /// [`softmax_over`](Dist::softmax_over).
    #[track_caller]
    pub fn softmax<const I: isize>(&self, axis: Axis<I>) -> Dist<E, S, Settled, D>
    where
        E: Float,
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::softmax>,
    {
        Dist::new(self.local.softmax(axis), self.sizes)
    }

    /// The logarithm of [`softmax`](Self::softmax) along an axis ([`Tensor::log_softmax`](castiron::Tensor::log_softmax)).
    #[track_caller]
    pub fn log_softmax<const I: isize>(&self, axis: Axis<I>) -> Dist<E, S, Settled, D>
    where
        E: Float,
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::log_softmax>,
    {
        Dist::new(self.local.log_softmax(axis), self.sizes)
    }

    /// Sums up to and including each element along an axis ([`Tensor::cumsum`](castiron::Tensor::cumsum)).
    #[track_caller]
    pub fn cumsum<const I: isize, O: Dtype>(&self, axis: Axis<I>) -> Dist<O, S, Settled, D>
    where
        E: Dtype<Sum = O>,
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::cumsum>,
    {
        Dist::new(self.local.cumsum(axis), self.sizes)
    }

    /// The elements along an axis in order, and where they were ([`Tensor::sort`](castiron::Tensor::sort)).
    #[track_caller]
    pub fn sort<const I: isize>(
        &self,
        axis: Axis<I>,
        descending: bool,
    ) -> (Dist<E, S, Settled, D>, Dist<i64, S, Settled, D>)
    where
        E: Ordered,
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::sort>,
    {
        let (sorted, places) = self.local.sort(axis, descending);
        (Dist::new(sorted, self.sizes), Dist::new(places, self.sizes))
    }
}
