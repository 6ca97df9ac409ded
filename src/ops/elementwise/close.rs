//! `isclose`: an operation of two operands of one dtype and three parameters.
//!
//! Uses kernels; used by `tensor` and `any`.

use super::kernel::{Map1, Map2};
use super::{Op, UnaryOp as _, abs, add, eq, isfinite, isnan, le, mul, sub};
use crate::dtype::{Castable as _, Compute as _, Dtype, Element, Promotable};

/// The operation `isclose`: whether elements differ by no more than `atol + rtol * abs(other)`.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default)]
pub struct isclose {}
impl super::sealed::Op for isclose {}
impl Op for isclose {
    const NAME: &'static str = "isclose";
}

/// The kernel of `isclose`.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Closeness {
    /// The relative tolerance.
    pub rtol: f64,
    /// The absolute tolerance.
    pub atol: f64,
    /// Whether NaN is close to NaN.
    pub equal_nan: bool,
}

/// The dtype that the bound is computed in.
type Bound<E> = <<E as Promotable>::Inexact as Promotable>::RealDtype;

impl<E: Dtype, B: Dtype> Map2<E, B, bool> for Closeness {
    /// Source: `aten/src/ATen/native/TensorCompare.cpp`, `isclose`: each step is rounded to its dtype.
    #[inline]
    fn call(self, a: E, b: B) -> bool {
        // A conversion to the same dtype, which generic code cannot see.
        let b: E = b.cast();
        let (x, y) = (a.to_compute(), b.to_compute());
        if x.compare::<eq>(y) || (self.equal_nan && x.predicate::<isnan>() && y.predicate::<isnan>()) {
            return true;
        }
        if self.rtol == 0.0 && self.atol == 0.0 {
            return false;
        }
        let scaled = b.cast::<E::Inexact>().to_compute().binary::<mul>(self.rtol.cast());
        let scaled: Bound<E> = abs::apply(E::Inexact::from_compute(scaled));
        let bound = Bound::<E>::from_compute(scaled.to_compute().binary::<add>(self.atol.cast()));
        let difference = a.cast::<E::Inexact>().to_compute().binary::<sub>(b.cast::<E::Inexact>().to_compute());
        let error: Bound<E> = abs::apply(E::Inexact::from_compute(difference));
        isfinite::apply(error) && error.to_compute().compare::<le>(bound.to_compute())
    }
}

/// [`Closeness`] where one operand is a single value.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct ClosenessTo<E> {
    /// The tolerances.
    pub closeness: Closeness,
    /// The single value.
    pub value: E,
    /// Whether it is the left operand.
    pub value_is_left: bool,
}
impl<E: Dtype + Element, A: Dtype> Map1<A, bool> for ClosenessTo<E> {
    #[inline]
    fn call(self, element: A) -> bool {
        let element: E = element.cast();
        let (a, b) = if self.value_is_left { (self.value, element) } else { (element, self.value) };
        self.closeness.call(a, b)
    }
}
