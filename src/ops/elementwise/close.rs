//! `isclose`: an operation of two operands of one dtype and three parameters.

use super::kernel::{Map1, Map2};
use super::{Op, UnaryOp as _, abs, add, eq, isfinite, isnan, le, mul, sub};
use crate::dtype::{Castable as _, Compute as _, Dtype, Element, Promotable};
use crate::{
    dtype::DType,
    ops::record::kernel::{Kernel, Value},
};

/// The operation `isclose`: whether elements differ by no more than `atol + rtol * abs(other)`.
#[allow(non_camel_case_types)]
#[derive(Clone, Copy, Debug, Default)]
pub struct isclose {}
impl super::sealed::Op for isclose {}
impl Op for isclose {
    const NAME: &'static str = "isclose";
}

/// The operation `allclose`: whether all elements are close.
#[allow(non_camel_case_types)]
#[derive(Debug)]
pub enum allclose {}

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
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let (inexact, bound) = (<E::Inexact as Element>::DTYPE, <Bound<E> as Element>::DTYPE);
        let exact = kernel.parameter(self.rtol == 0.0 && self.atol == 0.0);
        let equal_nan = kernel.parameter(self.equal_nan);
        let rtol = kernel.parameter(self.rtol.cast::<<E::Inexact as Dtype>::Compute>());
        let atol = kernel.parameter(self.atol.cast::<<Bound<E> as Dtype>::Compute>());
        let b = kernel.cast(b, E::DTYPE);
        let (x, y) = (kernel.widen(a), kernel.widen(b));
        let same = kernel.row("eq", E::DTYPE, &[x, y]);
        let nans = [x, y].map(|x| kernel.row("isnan", E::DTYPE, &[x]));
        let both = kernel.infix(nans[0], "&&", nans[1], DType::Bool);
        let both = kernel.infix(both, "&&", equal_nan, DType::Bool);
        let equal = kernel.infix(same, "||", both, DType::Bool);
        // Each step rounded to its dtype.
        let [a, b] = [a, b].map(|x| kernel.operand(x, inexact));
        let magnitude = |kernel: &mut Kernel, x: Value| {
            let x = kernel.cast(x, inexact);
            let x = kernel.apply("abs", x);
            kernel.widen(x)
        };
        let scaled = kernel.row("mul", inexact, &[b, rtol]);
        let scaled = magnitude(kernel, scaled);
        let limit = kernel.row("add", bound, &[scaled, atol]);
        let limit = kernel.operand(limit, bound);
        let difference = kernel.row("sub", inexact, &[a, b]);
        let error = magnitude(kernel, difference);
        let finite = kernel.row("isfinite", bound, &[error]);
        let near = kernel.row("le", bound, &[error, limit]);
        let near = kernel.infix(finite, "&&", near, DType::Bool);
        let exact = kernel.not(exact);
        let near = kernel.infix(near, "&&", exact, DType::Bool);
        kernel.infix(equal, "||", near, DType::Bool)
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
    fn text(&self, kernel: &mut Kernel, element: Value) -> Value {
        let (element, value) = (kernel.cast(element, E::DTYPE), kernel.parameter(self.value));
        let is_left = kernel.parameter(self.value_is_left);
        let (a, b) = (kernel.choose(is_left, value, element), kernel.choose(is_left, element, value));
        Map2::<E, E, bool>::text(&self.closeness, kernel, a, b)
    }
}
