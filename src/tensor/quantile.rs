//! Quantiles: `quantile` and `nanquantile`, over everything and along an axis.
//!
//! As PyTorch computes them: lanes are sorted, and the rank of the quantile is computed in the dtype itself.
//! Source: `aten/src/ATen/native/Sorting.cpp`, `quantile_compute`.

use super::gather::{dense, lifted};
use super::{Tensor, checked_numel};
use crate::device::{Device, Indexing, Order};
use crate::dtype::{Castable, Compute as _, Dtype, Element};
use crate::error::{Error, Result, unwrap};
use crate::ops::choosing::{self, WideFloatFor};
use crate::ops::kernel::{Map1, Map3};
use crate::ops::reduce::{Accumulating, Reducer};
use crate::ops::{self, Op};
use crate::shape::{OneAxis, Shape};
use crate::storage::View;
use core::marker::PhantomData;

/// What a quantile between two elements is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// As far between them as its rank is.
    Linear,
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
    /// In the middle.
    Midpoint,
    /// The nearer one, the one of even rank if neither is.
    Nearest,
}

/// Counts the elements that are numbers.
#[derive(Clone, Copy)]
struct Counting;
impl<E: Element> Reducer<E> for Counting {
    type Partial = i64;
    type Out = i64;
    #[inline(always)]
    fn start(self) -> i64 {
        0
    }
    #[inline(always)]
    #[allow(clippy::eq_op)]
    fn meet(self, count: i64, element: E, _: usize) -> i64 {
        count + i64::from(element == element)
    }
    #[inline(always)]
    fn merge(self, one: i64, other: i64) -> i64 {
        one + other
    }
    #[inline(always)]
    fn finish(self, count: i64, _: usize) -> i64 {
        count
    }
}

/// The rank of a quantile among so many numbers.
struct Rank<E> {
    q: f64,
    len: usize,
    ignores_nan: bool,
    how: Interpolation,
    dtype: PhantomData<fn() -> E>,
}
impl<E> Clone for Rank<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Rank<E> {}
impl<E: Dtype> Rank<E> {
    fn of(self, numbers: i64) -> f64 {
        let last = self.len as i64 - 1;
        if !self.ignores_nan && numbers <= last {
            // NaN comes last.
            return last as f64;
        }
        // Rounded to the dtype, as the factors are.
        let rounded = |x: f64| E::from_f64(x).cast::<f64>();
        let rank = rounded(rounded(self.q) * rounded((numbers - 1).max(0) as f64));
        match self.how {
            Interpolation::Lower => rank.floor(),
            Interpolation::Higher => rank.ceil(),
            Interpolation::Nearest => rank.round_ties_even(),
            Interpolation::Linear | Interpolation::Midpoint => rank,
        }
    }
}
/// The element below.
struct Below<E>(Rank<E>);
/// The element above.
struct Above<E>(Rank<E>);
/// How far from the one below.
struct Weight<E>(Rank<E>);
macro_rules! ranks {
    ($($name:ident -> $out:ty: |$rank:ident, $numbers:ident| $value:expr;)*) => {$(
        impl<E> Clone for $name<E> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<E> Copy for $name<E> {}
        impl<E: Dtype> Map1<i64, $out> for $name<E> {
            #[inline(always)]
            fn call(self, $numbers: i64) -> $out {
                let $rank = self.0;
                $value
            }
        }
    )*};
}
ranks! {
    Below -> i64: |rank, numbers| rank.of(numbers) as i64;
    Above -> i64: |rank, numbers| rank.of(numbers).ceil() as i64;
    Weight -> E: |rank, numbers| {
        let at = rank.of(numbers);
        E::from_f64(if rank.how == Interpolation::Midpoint { 0.5 } else { at - at.floor() })
    };
}

/// Between two elements. Source: `aten/src/ATen/native/Lerp.h`.
#[derive(Clone, Copy)]
struct Between;
impl<E: Dtype> Map3<E, E, E, E> for Between {
    #[inline(always)]
    fn call(self, low: E, high: E, weight: E) -> E {
        let (low, high, weight) = (low.to_compute(), high.to_compute(), weight.to_compute());
        let distance = high.binary::<ops::sub>(low);
        let is_nearer = weight.cast::<f64>() < 0.5;
        // From the nearer end on.
        let (base, share) =
            if is_nearer { (low, weight) } else { (high, weight.binary::<ops::sub>(Castable::from_i32(1))) };
        E::from_compute(base.binary::<Accumulating>(share.binary::<ops::mul>(distance)))
    }
}

/// The quantile of each lane along an axis. `T` is the shape without it, or with size 1 in its place.
fn quantile_along<O: Op, E: Dtype, T: Shape, D: Device>(
    x: View<'_, D::Storage, E>,
    q: f64,
    axis: usize,
    how: Interpolation,
    ignores_nan: bool,
) -> Result<Tensor<E, T, D>> {
    let op = O::NAME;
    if !(0.0..=1.0).contains(&q) {
        return Err(Error::InvalidArgument { op, reason: format!("q goes from 0 to 1, got {q}") });
    }
    let (mut sizes, strides) = lifted(&x);
    if checked_numel::<E>(op, &sizes)? == 0 {
        return Err(Error::EmptyReduction { op, sizes: x.sizes.into() });
    }
    let len = sizes[axis];
    let [sorted, _] = D::order(Order::Sort { descending: false }, x.restrided(&sizes, &strides), axis)?;
    let row_major = |sizes: &[usize]| {
        let mut strides = vec![1; sizes.len()];
        for axis in (1..sizes.len()).rev() {
            strides[axis - 1] = strides[axis] * sizes[axis];
        }
        strides
    };
    let own = sizes.clone();
    let own_strides = row_major(&own);
    let sorted = View::<_, E>::new(&sorted, 0, &own, &own_strides);
    let numbers = D::reduce(Counting, sorted, 1 << axis)?;
    sizes[axis] = 1;
    let kept = row_major(&sizes);
    let numbers = View::<_, i64>::new(&numbers, 0, &sizes, &kept);
    let rank = Rank::<E> { q, len, ignores_nan, how, dtype: PhantomData };
    let indexing = Indexing { op, axis, wraps: false };
    let below = D::map1::<i64, i64>(Below(rank), numbers, &kept)?;
    let low = D::gather(indexing, sorted, View::new(&below, 0, &sizes, &kept))?;
    let result = if matches!(how, Interpolation::Linear | Interpolation::Midpoint) {
        let above = D::map1::<i64, i64>(Above(rank), numbers, &kept)?;
        let high = D::gather(indexing, sorted, View::new(&above, 0, &sizes, &kept))?;
        let weight = D::map1::<i64, E>(Weight(rank), numbers, &kept)?;
        let view = |of| View::<_, E>::new(of, 0, &sizes, &kept);
        D::map3::<E, E, E, E>(Between, view(&low), view(&high), view(&weight), &kept)?
    } else {
        low
    };
    if T::RANK < sizes.len() {
        sizes.remove(axis);
    }
    Ok(dense(result, &sizes))
}

/// Writes the forms of a quantile.
macro_rules! quantiles {
    ($($ignores:literal $name:ident $try:ident $axis:ident $try_axis:ident, $nan:literal, $all:literal, $along:literal;)*) => {$(
        /// A quantile, over everything and along an axis.
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = concat!("The element that a share `q` of all elements is below, as a zero-dim tensor. ", $nan)]
            ///
            /// Dtypes: `f32` and `f64`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`.")]
            ///
            /// # Panics
            #[doc = concat!("If `q` is not between 0 and 1 or there are no elements; [`", stringify!($try), "`](Self::", stringify!($try), ") returns the error.")]
            ///
            /// ```
            /// # use castiron::{axis, tensor, Interpolation};
            #[doc = $all]
            /// ```
            #[track_caller]
            pub fn $name(&self, q: f64, interpolation: Interpolation) -> Tensor<E, (), D>
            where
                E: WideFloatFor<choosing::$name>,
            {
                unwrap(self.$try(q, interpolation))
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), returning the error.")]
            pub fn $try(&self, q: f64, interpolation: Interpolation) -> Result<Tensor<E, (), D>>
            where
                E: WideFloatFor<choosing::$name>,
            {
                let flat = self.try_contiguous()?;
                let sizes = [self.numel()];
                let line = View::<_, E>::new(flat.storage(), flat.storage_offset(), &sizes, &[1]);
                quantile_along::<choosing::$name, E, (), D>(line, q, 0, interpolation, $ignores)
            }

            #[doc = concat!("The element of each lane along an axis that a share `q` of the lane is below. ", $nan)]
            ///
            /// Shape: that of `self` without the axis. Dtypes: `f32` and `f64`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`, with `dim` and `keepdim`.")]
            ///
            /// # Panics
            #[doc = concat!("If `q` is not between 0 and 1 or there are no elements; [`", stringify!($try_axis), "`](Self::", stringify!($try_axis), ") returns the error.")]
            ///
            /// ```
            /// # use castiron::{axis, tensor, Interpolation};
            #[doc = $along]
            /// ```
            #[track_caller]
            pub fn $axis<A: OneAxis<S>>(&self, q: f64, axis: A, interpolation: Interpolation) -> Tensor<E, A::Reduced, D>
            where
                E: WideFloatFor<choosing::$name>,
            {
                unwrap(self.$try_axis(q, axis, interpolation))
            }

            #[doc = concat!("[`", stringify!($axis), "`](Self::", stringify!($axis), "), returning the error.")]
            pub fn $try_axis<A: OneAxis<S>>(&self, q: f64, _axis: A, interpolation: Interpolation) -> Result<Tensor<E, A::Reduced, D>>
            where
                E: WideFloatFor<choosing::$name>,
            {
                let axis = A::MASK.trailing_zeros() as usize;
                quantile_along::<choosing::$name, E, _, D>(self.view(), q, axis, interpolation, $ignores)
            }
        }
    )*};
}
quantiles! {
    false quantile try_quantile quantile_axis try_quantile_axis, "NaN if there is one.",
        "assert_eq!(tensor![4.0, 1.0, 3.0, 2.0].quantile(0.5, Interpolation::Linear).item(), 2.5);",
        "let x = tensor![[4.0, 1.0, 3.0], [0.0, 0.0, 5.0]];\nassert_eq!(x.quantile_axis(0.75, axis![1], Interpolation::Higher).to_vec(), [4.0, 5.0]);";
    true nanquantile try_nanquantile nanquantile_axis try_nanquantile_axis, "NaN does not count, unless there is nothing else.",
        "assert_eq!(tensor![4.0, f32::NAN, 3.0].nanquantile(0.5, Interpolation::Linear).item(), 3.5);",
        "let x = tensor![[4.0, f32::NAN, 3.0], [0.0, 0.0, 5.0]];\nassert_eq!(x.nanquantile_axis(1.0, axis![1], Interpolation::Nearest).to_vec(), [4.0, 5.0]);";
}
