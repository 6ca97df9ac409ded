//! Integration by the trapezoidal rule: `trapezoid` and `cumulative_trapezoid`, over equal steps and over given places.

use super::Tensor;
use super::arithmetic::map2;
use super::cumulative::neighbours;
use super::reduce::reduce;
use super::scan::RunningSum;
use crate::device::Device;
use crate::dtype::{Castable, Compute, Dtype, Element, Inexact};
use crate::error::{Error, Result, unwrap};
use crate::ops::admit::NumericFor;
use crate::ops::kernel::Map2;
use crate::ops::reduce::{Accumulating, Summing};
use crate::ops::{self, Op};
use crate::shape::{Axis, Dim, Dyn, HasAxis, InnerDim, Shape, SizeArray};

/// `(a + b) * factor`, in the dtype `O`.
struct Pairs<C> {
    factor: C,
}
impl<C: Copy> Clone for Pairs<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Copy> Copy for Pairs<C> {}
impl<E: Dtype, O: Dtype> Map2<E, E, O> for Pairs<O::Compute> {
    #[inline(always)]
    fn call(self, a: E, b: E) -> O {
        let sum = a.cast::<O>().to_compute().binary::<Accumulating>(b.cast::<O>().to_compute());
        O::from_compute(sum.binary::<ops::mul>(self.factor))
    }
}

/// `pair * step`, the two of one dtype.
#[derive(Clone, Copy)]
struct Times;
impl<O: Dtype> Map2<O, O, O> for Times {
    #[inline(always)]
    fn call(self, pair: O, step: O) -> O {
        O::from_compute(pair.to_compute().binary::<ops::mul>(step.to_compute()))
    }
}
/// The step between two places, as `O`.
#[derive(Clone, Copy)]
struct Stepping;
impl<E: Dtype, O: Dtype> Map2<E, E, O> for Stepping {
    #[inline(always)]
    fn call(self, a: E, b: E) -> O {
        O::from_compute(a.cast::<O>().to_compute().binary::<ops::sub>(b.cast::<O>().to_compute()))
    }
}

/// The areas between neighbours along an axis: half of `(y[i] + y[i + 1]) * step`.
fn areas<P: Op, E: Dtype, O: Dtype, S: Shape, T: Shape, N: Dim, D: Device>(
    y: &Tensor<E, S, D>,
    x: Option<&Tensor<E, (N,), D>>,
    dx: f64,
    axis: usize,
) -> Result<Tensor<O, T, D>> {
    if S::RANK == 0 {
        let reason = "a zero-dim tensor has no axis to integrate along".to_owned();
        return Err(Error::InvalidArgument { op: P::NAME, reason });
    }
    let len = y.shape().as_ref()[axis];
    let factor: O::Compute = Castable::from_f64(if x.is_some() { 0.5 } else { dx / 2.0 });
    let pairs: Tensor<O, T, D> = neighbours(Pairs { factor }, &y.clone().retyped::<T>(), axis)?;
    let Some(x) = x else { return Ok(pairs) };
    if x.numel() != len {
        let expected = format!("[{len}]");
        return Err(Error::Shape { op: P::NAME, expected, found: x.shape()[..].into() });
    }
    let steps: Tensor<O, (Dyn,), D> = neighbours(Stepping, &x.clone().retyped::<(Dyn,)>(), 0)?;
    let sizes = pairs.shape();
    let mut strides = T::Sizes::filled(0);
    strides.as_mut()[axis] = 1;
    map2::<O, O, T, D, O>(
        Times,
        pairs.view(),
        steps.view().restrided(sizes.as_ref(), strides.as_ref()),
        sizes,
        [O::DTYPE; 2],
    )
}

/// Writes a rule in both forms: over equal steps and over given places.
macro_rules! rules {
    ($($(#[$doc:meta])* $op:ident $name:ident $try:ident $over:ident $try_over:ident -> $result:ident, |$areas:ident| $finish:expr, $example:literal, $example_over:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ").")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// The elements lie `dx` apart. Dtypes: all but `bool`; integers give `f32`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`, with `dx`.")]
            ///
            /// # Panics
            #[doc = concat!("If the tensor is zero-dim or memory runs out; [`", stringify!($try), "`](Self::", stringify!($try), ") returns the error.")]
            ///
            /// ```
            /// use castiron::{axis, tensor};
            #[doc = $example]
            /// ```
            #[track_caller]
            pub fn $name<const I: isize, O: Inexact>(&self, dx: f64, axis: Axis<I>) -> Tensor<O, rules!(@$result S I), D>
            where
                E: NumericFor<ops::reduce::$op> + Dtype<Inexact = O>,
                S: HasAxis<I>,
            {
                unwrap(self.$try(dx, axis))
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), returning the error.")]
            pub fn $try<const I: isize, O: Inexact>(&self, dx: f64, _axis: Axis<I>) -> Result<Tensor<O, rules!(@$result S I), D>>
            where
                E: NumericFor<ops::reduce::$op> + Dtype<Inexact = O>,
                S: HasAxis<I>,
            {
                type T<S, const I: isize> = <S as HasAxis<I>>::Replace<Dyn>;
                let $areas: Tensor<O, T<S, I>, D> =
                    areas::<ops::reduce::$op, E, O, S, T<S, I>, Dyn, D>(self, None, dx, <S as HasAxis<I>>::INDEX)?;
                let axis = <S as HasAxis<I>>::INDEX;
                $finish($areas, axis)
            }

            $(#[$doc])*
            ///
            /// The elements lie at the places `x`, one for each position along the axis. Dtypes: all but `bool`; integers give `f32`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`, with `x`.")]
            ///
            /// # Panics
            #[doc = concat!("If the tensor is zero-dim, sizes known at run time differ or memory runs out; [`", stringify!($try_over), "`](Self::", stringify!($try_over), ") returns the error.")]
            ///
            /// ```
            /// use castiron::{axis, tensor};
            #[doc = $example_over]
            /// ```
            #[track_caller]
            pub fn $over<const I: isize, N: Dim, O: Inexact>(&self, x: &Tensor<E, (N,), D>, axis: Axis<I>) -> Tensor<O, rules!(@$result S I), D>
            where
                E: NumericFor<ops::reduce::$op> + Dtype<Inexact = O>,
                S: HasAxis<I>,
                <S as HasAxis<I>>::Dim: InnerDim<N>,
            {
                unwrap(self.$try_over(x, axis))
            }

            #[doc = concat!("[`", stringify!($over), "`](Self::", stringify!($over), "), returning the error.")]
            pub fn $try_over<const I: isize, N: Dim, O: Inexact>(&self, x: &Tensor<E, (N,), D>, _axis: Axis<I>) -> Result<Tensor<O, rules!(@$result S I), D>>
            where
                E: NumericFor<ops::reduce::$op> + Dtype<Inexact = O>,
                S: HasAxis<I>,
                <S as HasAxis<I>>::Dim: InnerDim<N>,
            {
                type T<S, const I: isize> = <S as HasAxis<I>>::Replace<Dyn>;
                let $areas: Tensor<O, T<S, I>, D> =
                    areas::<ops::reduce::$op, E, O, S, T<S, I>, N, D>(self, Some(x), 1.0, <S as HasAxis<I>>::INDEX)?;
                let axis = <S as HasAxis<I>>::INDEX;
                $finish($areas, axis)
            }
        }
    )*};
    (@removed $S:ident $I:ident) => { <$S as HasAxis<$I>>::Removed };
    (@replaced $S:ident $I:ident) => { <$S as HasAxis<$I>>::Replace<Dyn> };
}
rules! {
    /// The integral along an axis by the trapezoidal rule.
    trapezoid trapezoid try_trapezoid trapezoid_over try_trapezoid_over -> removed, |areas| integral,
        "assert_eq!(tensor![1.0, 5.0, 10.0].trapezoid(1.0, axis![0]).item(), 10.5);",
        "assert_eq!(tensor![1.0, 5.0, 10.0].trapezoid_over(&tensor![1.0, 2.0, 4.0], axis![0]).item(), 18.0);";
    /// The running integral along an axis by the trapezoidal rule; the axis is one shorter.
    cumulative_trapezoid cumulative_trapezoid try_cumulative_trapezoid cumulative_trapezoid_over try_cumulative_trapezoid_over -> replaced, |areas| running_integral,
        "assert_eq!(tensor![1, 5, 10].cumulative_trapezoid(1.0, axis![0]).to_vec(), [3.0, 10.5]);",
        "assert_eq!(tensor![1, 5, 10].cumulative_trapezoid_over(&tensor![1, 2, 4], axis![0]).to_vec(), [3.0, 18.0]);";
}

fn integral<O: Inexact, T: Shape, R: Shape, D: Device>(areas: Tensor<O, T, D>, axis: usize) -> Result<Tensor<O, R, D>> {
    reduce::<ops::reduce::trapezoid, _, O, T, R, D>(Summing, &areas, 1 << axis, false)
}

fn running_integral<O: Inexact, T: Shape, D: Device>(areas: Tensor<O, T, D>, axis: usize) -> Result<Tensor<O, T, D>> {
    Ok(Tensor::dense(D::lanes::<O, O>(RunningSum, areas.view(), axis)?, areas.shape()))
}
