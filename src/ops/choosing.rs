//! Selection of elements by indices, masks and rank: the markers of these operations, and their kernels.

use super::kernel::{Constants, Map1, Map2, Merging, Slope};
use super::reduce::op;
use crate::dtype::{Binary, Compute as _, Dtype, Element};
use crate::ops::slope::{Derived, OfBinary};
use crate::{
    dtype::DType,
    ops::record::kernel::{Kernel, Value},
};
use core::marker::PhantomData;

op!(gather index_select take take_along_dim embedding one_hot);
op!(scatter scatter_value scatter_add scatter_reduce index_add index_copy index_fill index_put put);
op!(masked_fill masked_scatter masked_select nonzero argwhere);
op!(sort argsort msort topk kthvalue median nanmedian mode quantile nanquantile);
op!(unique unique_consecutive isin searchsorted bucketize);

/// The index dtype: `i64`.
#[diagnostic::on_unimplemented(
    message = "`{Op}` takes indices of dtype `i64`, not `{Self}`",
    label = "not an index",
    note = "cast first with `.to::<i64>()`; to choose by a mask of bools use `masked_select` or `where_`"
)]
pub trait IndexFor<Op>: Dtype {}
impl<Op> IndexFor<Op> for i64 {}
macro_rules! short_indices {
    ($($op:ident)*) => {$(
        #[diagnostic::do_not_recommend]
        impl IndexFor<$op> for i32 {}
    )*};
}
short_indices!(gather index_select embedding index_add);

/// The dtypes that `Op` admits: `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for dtype `{Self}`",
    label = "`{Op}` takes `f32` and `f64`",
    note = "cast first, for example `.to::<f32>()`"
)]
pub trait WideFloatFor<Op>: Dtype {}
impl<Op> WideFloatFor<Op> for f32 {}
impl<Op> WideFloatFor<Op> for f64 {}

/// `if condition { value } else { element }`
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Filling<E>(pub E);
impl<E: Element> Map2<E, bool, E> for Filling<E> {
    const SLOPE: Slope = Slope::Masked { operand: 0, when: false };
    #[inline(always)]
    fn call(self, element: E, condition: bool) -> E {
        if condition { self.0 } else { element }
    }
    fn text(&self, kernel: &mut Kernel, element: Value, condition: Value) -> Value {
        let value = kernel.parameter(self.0);
        kernel.choose(condition, value, element)
    }
}

/// A binary formula on elements of one dtype, rounded to it.
#[doc(hidden)]
pub struct Folding<F>(PhantomData<fn() -> F>);
impl<F> Clone for Folding<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Folding<F> {}
impl<F> Folding<F> {
    /// The kernel of `F`.
    pub const fn new() -> Self {
        Folding(PhantomData)
    }
}
impl<F> Default for Folding<F> {
    fn default() -> Self {
        Self::new()
    }
}
impl<F: Binary, E: Dtype> Map2<E, E, E> for Folding<F> {
    const MERGING: Merging = F::MERGING;
    const SLOPE: Slope = Derived::<OfBinary<F>, E>::SLOPE;
    #[inline(always)]
    fn call(self, a: E, b: E) -> E {
        E::from_compute(a.to_compute().binary::<F>(b.to_compute()))
    }
    #[inline(always)]
    fn call_alone(self, a: E, b: E) -> E {
        E::from_compute_alone(a.to_compute().binary::<F>(b.to_compute()))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        kernel.folded::<F>(a, b)
    }
}

/// `a + alpha * b`
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct AddingScaled<C>(pub C);
impl<E: Dtype> AddingScaled<E> {
    #[inline(always)]
    fn exact(self, a: E, b: E) -> E::Compute {
        let scaled = b.to_compute().binary::<super::mul>(self.0.to_compute());
        a.to_compute().binary::<super::reduce::Accumulating>(scaled)
    }
}
impl<E: Dtype> Map2<E, E, E> for AddingScaled<E> {
    const MERGING: Merging = Merging::AddScaled;
    fn constants(self) -> Constants {
        [self.0.cast(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, a: E, b: E) -> E {
        E::from_compute(self.exact(a, b))
    }
    #[inline(always)]
    fn call_alone(self, a: E, b: E) -> E {
        E::from_compute_alone(self.exact(a, b))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let alpha = kernel.parameter(self.0);
        let [a, b, alpha] = [a, b, alpha].map(|x| kernel.widen(x));
        let scaled = kernel.row("mul", E::DTYPE, &[b, alpha]);
        let sum = kernel.row("sum", E::DTYPE, &[a, scaled]);
        kernel.cast(sum, E::DTYPE)
    }
}

/// Whether an element is not zero.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct IsTrue;
impl<E: Dtype> Map1<E, bool> for IsTrue {
    #[inline(always)]
    fn call(self, a: E) -> bool {
        a.cast()
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        kernel.cast(a, DType::Bool)
    }
}

/// Whether two elements are equal. NaN equals nothing.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Equal;
impl<E: Element> Map2<E, E, bool> for Equal {
    #[inline(always)]
    fn call(self, a: E, b: E) -> bool {
        a == b
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        kernel.equal(a, b)
    }
}
