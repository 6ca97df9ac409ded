//! Operations along one axis that keep it. Each rank must have the whole axis: the compiler says so.

use super::reduce::left;
use super::{Dist, of_blocks};
use crate::along;
use crate::place::{AllWhole, IsSettled, IsWhole, NoneCut, PlaceOf, Settled, Sum};
use castiron::nn::{Sees, SeesAmong};
use castiron::shape::{Attended, Axes, EndsWith};
use castiron::{Axis, Device, Dtype, Element, Float, HasAxis, Inexact, Ordered, Shape};

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

/// Methods along one axis that keep it.
macro_rules! along_one_axis {
    ($($name:ident $(<$o:ident>)? [$($bound:tt)+] $out:ty, $doc:literal;)*) => {
        impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {$(
            #[doc = concat!($doc, " ([`Tensor::", stringify!($name), "`](castiron::Tensor::", stringify!($name), ")).")]
            #[track_caller]
            pub fn $name<const I: isize $(, $o: Dtype)?>(&self, axis: Axis<I>) -> Dist<$out, S, Settled, D>
            where
                E: $($bound)+,
                S: HasAxis<I>,
                PlaceOf<S, I>: IsWhole<along::$name>,
            {
                Dist::new(self.local.$name(axis), self.sizes)
            }
        )*}
    };
}
along_one_axis! {
    cumprod <O> [Dtype<Sum = O>] O, "Products up to and including each element along an axis";
    logcumsumexp [Inexact] E, "The logarithm of the running sums of exponentials along an axis";
}

/// Reductions whose blocks give no part of the whole.
macro_rules! along_axes {
    ($($axis:ident: $name:ident($($parameter:ident: $ty:ty),*), <$o:ident> [$($bound:tt)+], $doc:literal;)*) => {
        impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {$(
            #[doc = concat!($doc, " over axes that each rank has whole ([`Tensor::", stringify!($axis), "`](castiron::Tensor::", stringify!($axis), ")).")]
            #[track_caller]
            pub fn $axis<A: Axes<S>, $o: Dtype>(&self, axes: A $(, $parameter: $ty)*) -> Dist<$o, A::Reduced, Settled, D>
            where
                E: $($bound)+,
                A::After<Sum, Settled>: NoneCut<along::$name>,
            {
                let sizes = left::<A::Reduced>(self.sizes.as_ref(), A::MASK, A::KEEPS);
                Dist::new(self.local.$axis(axes $(, $parameter)*), sizes)
            }
        )*}
    };
}
along_axes! {
    var_axis: var(correction: usize), <O> [Inexact<RealDtype = O>], "The variance";
    std_axis: std(correction: usize), <O> [Inexact<RealDtype = O>], "The standard deviation";
    logsumexp: logsumexp(), <O> [Dtype<Inexact = O>], "The logarithm of the sum of exponentials";
}

impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {
    /// Where the elements along an axis are that stand in order ([`Tensor::argsort`](castiron::Tensor::argsort)).
    #[track_caller]
    pub fn argsort<const I: isize>(&self, axis: Axis<I>, descending: bool) -> Dist<i64, S, Settled, D>
    where
        E: Ordered,
        S: HasAxis<I>,
        PlaceOf<S, I>: IsWhole<along::argsort>,
    {
        Dist::new(self.local.argsort(axis, descending), self.sizes)
    }

    /// Standardises over the last axes, of shape `N`, which each rank has whole ([`Tensor::layer_norm`](castiron::Tensor::layer_norm)).
    #[track_caller]
    pub fn layer_norm<N: AllWhole>(
        &self,
        weight: Option<&Dist<E, N, Settled, D>>,
        bias: Option<&Dist<E, N, Settled, D>>,
        eps: f64,
    ) -> Dist<E, S, Settled, D>
    where
        E: Float,
        S: EndsWith<N>,
    {
        let local = self.local.layer_norm::<N>(weight.map(Dist::block), bias.map(Dist::block), eps);
        Dist::new(local, self.sizes)
    }

    /// Divides by the root mean square over the last axes, of shape `N`, which each rank has whole
    /// ([`Tensor::rms_norm`](castiron::Tensor::rms_norm)).
    #[track_caller]
    pub fn rms_norm<N: AllWhole>(
        &self,
        weight: Option<&Dist<E, N, Settled, D>>,
        eps: Option<f64>,
    ) -> Dist<E, S, Settled, D>
    where
        E: Float,
        S: EndsWith<N>,
    {
        Dist::new(self.local.rms_norm::<N>(weight.map(Dist::block), eps), self.sizes)
    }

    /// Attention of queries to keys and values ([`Tensor::scaled_dot_product_attention`](castiron::Tensor::scaled_dot_product_attention)). Batches and
    /// heads may be cut; letters and features are whole.
    #[track_caller]
    pub fn scaled_dot_product_attention<K, V, W>(
        &self,
        key: &Dist<E, K, Settled, D>,
        value: &Dist<E, V, Settled, D>,
        sees: W,
        scale: Option<f64>,
    ) -> Dist<E, <S as Attended<K, V>>::Output, Settled, D>
    where
        E: Float,
        S: Attended<K, V> + HasAxis<-2>,
        K: Shape + HasAxis<-2>,
        V: Shape + HasAxis<-2>,
        W: Sees<E, D> + SeesAmong<<S as Attended<K, V>>::Scores>,
        PlaceOf<S, -1>: IsWhole<along::attention>,
        PlaceOf<S, -2>: IsWhole<along::attention>,
        PlaceOf<K, -2>: IsWhole<along::attention>,
        PlaceOf<V, -1>: IsWhole<along::attention>,
    {
        let local = self.local.scaled_dot_product_attention(&key.local, &value.local, sees, scale);
        of_blocks("scaled_dot_product_attention", local, self.lengths())
    }
}
