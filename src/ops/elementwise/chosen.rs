//! Selection kernels: one of two elements, or fixed values, by a condition; or a constant.

use super::kernel::{Map1, Map2, Map3, Slope};
use crate::dtype::{Castable, Element};
use crate::ops::record::kernel::{Kernel, Value};

/// A constant.
#[derive(Clone, Copy)]
pub struct FillWith<O>(pub O);
impl<A: Element, O: Element> Map1<A, O> for FillWith<O> {
    const SLOPE: Slope = Slope::Flat;
    #[inline(always)]
    fn call(self, _: A) -> O {
        self.0
    }
    fn text(&self, kernel: &mut Kernel, _: Value) -> Value {
        kernel.parameter(self.0)
    }
}

/// One of two elements by a condition, converted to `O`.
#[derive(Clone, Copy)]
pub struct Choosing;
impl<A: Castable, B: Castable, O: Castable> Map3<bool, A, B, O> for Choosing {
    const SLOPE: Slope = Slope::Chooses;
    #[inline(always)]
    fn call(self, condition: bool, a: A, b: B) -> O {
        if condition { a.cast() } else { b.cast() }
    }
    fn text(&self, kernel: &mut Kernel, condition: Value, a: Value, b: Value) -> Value {
        let (a, b) = (kernel.cast(a, O::DTYPE), kernel.cast(b, O::DTYPE));
        kernel.choose(condition, a, b)
    }
}
/// One element or a fixed value by a condition.
#[derive(Clone, Copy)]
pub struct ChoosingRight<O>(pub O);
impl<A: Castable, O: Castable> Map2<bool, A, O> for ChoosingRight<O> {
    const SLOPE: Slope = Slope::Masked { operand: 1, when: true };
    #[inline(always)]
    fn call(self, condition: bool, a: A) -> O {
        if condition { a.cast() } else { self.0 }
    }
    fn text(&self, kernel: &mut Kernel, condition: Value, a: Value) -> Value {
        let (a, value) = (kernel.cast(a, O::DTYPE), kernel.parameter(self.0));
        kernel.choose(condition, a, value)
    }
}
/// A fixed value or one element by a condition.
#[derive(Clone, Copy)]
pub struct ChoosingLeft<O>(pub O);
impl<B: Castable, O: Castable> Map2<bool, B, O> for ChoosingLeft<O> {
    const SLOPE: Slope = Slope::Masked { operand: 1, when: false };
    #[inline(always)]
    fn call(self, condition: bool, b: B) -> O {
        if condition { self.0 } else { b.cast() }
    }
    fn text(&self, kernel: &mut Kernel, condition: Value, b: Value) -> Value {
        let (value, b) = (kernel.parameter(self.0), kernel.cast(b, O::DTYPE));
        kernel.choose(condition, value, b)
    }
}
/// One of two fixed values by a condition.
#[derive(Clone, Copy)]
pub struct ChoosingBoth<O>(pub O, pub O);
impl<O: Element> Map1<bool, O> for ChoosingBoth<O> {
    #[inline(always)]
    fn call(self, condition: bool) -> O {
        if condition { self.0 } else { self.1 }
    }
    fn text(&self, kernel: &mut Kernel, condition: Value) -> Value {
        let (yes, no) = (kernel.parameter(self.0), kernel.parameter(self.1));
        kernel.choose(condition, yes, no)
    }
}
