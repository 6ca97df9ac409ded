//! Reductions: the accumulator, how elements are accumulated, how two accumulators are merged, and the result.
//!
//! Sums of half-precision dtypes accumulate in `f32`, variances in `f64`. Devices merge partial results pairwise in a
//! tree fixed by the shape, so results do not depend on how work is divided.
//!
//! Uses dtypes; used by the devices, `tensor` and `any`.

mod extreme;
mod lanes;
mod log_sum_exp;
mod normalizing;
mod norms;
mod registers;
pub(crate) mod rows;
pub(crate) mod steps;
mod sums;
mod table;
mod variance;

use super::Op;
use super::kernel::Precompiled;
use crate::dtype::Element;
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::{
    Unreadable,
    reduce::{ReducerText, Written},
};
#[doc(hidden)]
pub(crate) use extreme::ExtremeOfTwo;
pub use extreme::{ArgExtreme, Extreme, MinMax};
#[cfg(any(test, feature = "cuda"))]
pub(crate) use extreme::{Both, Positioned};
pub(crate) use lanes::{MIN_WIDE, SUM_BLOCK, blocked_sum, by_lanes, interleave, lanes_of_sum, merge_lanes};
pub(crate) use log_sum_exp::LogSumExp;
pub(crate) use normalizing::{RootMeanSquare, Standardizing};
#[cfg(any(test, feature = "cuda"))]
pub(crate) use norms::Squared;
pub(crate) use norms::{CountNonzero, CountNumbers, NanMean, NanSum, VectorNorm};
pub(crate) use steps::{Accumulating, Index, Steps, StepsOfTwo};
#[doc(hidden)]
pub use sums::{AnyAll, Mean, Prod, Sum};
pub(crate) use table::reduction_table;
#[cfg(any(test, feature = "cuda"))]
pub(crate) use variance::Spread;
#[doc(hidden)]
pub use variance::{Moments, Variance};

/// A reduction of elements `A` to one `Out`.
#[doc(hidden)]
pub trait Reducer<A: Copy>: Copy + Send + Sync + 'static {
    /// The accumulator: a partial result.
    type Partial: Copy + Send + Sync;
    /// The dtype of the result.
    type Out: Element;
    /// Which precompiled loops it has, if any.
    const PRECOMPILED: Option<Precompiled> = None;
    /// Whether there is a result for no elements at all.
    const HAS_IDENTITY: bool = true;
    /// Whether positions of elements matter. If not, axes may be reduced in another order.
    const HAS_POSITIONS: bool = false;
    /// Whether repeated elements count each time. If not, broadcast axes are visited once.
    const COUNTS_REPEATS: bool = true;
    /// Whether blocks are much cheaper than single elements.
    const PREFERS_BLOCKS: bool = false;
    /// How many times as long an element takes as reading it, roughly.
    fn cost(self) -> usize {
        1
    }
    /// Whether this reducer has a result for no elements at all.
    fn has_identity(self) -> bool {
        Self::HAS_IDENTITY
    }
    /// The accumulator before the first element.
    fn start(self) -> Self::Partial;
    /// Accumulates an element; `index` is its position among the reduced elements, in row-major order.
    fn accumulate(self, partial: Self::Partial, element: A, index: usize) -> Self::Partial;
    /// Merges two accumulators. (Elements are dealt out to several of them, so neither's come first: what depends on
    /// order must keep positions.)
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial;
    /// Reduces contiguous elements, the first of which has position `index`. Long lines are accumulated in lanes,
    /// which vectorise.
    #[inline(always)]
    fn block(self, elements: &[A], index: usize) -> Self::Partial {
        lanes::block(self, elements, index)
    }
    /// What [`block`](Self::block) gives, by code that is small instead of fast. (Whoever writes the one writes the
    /// other.)
    #[inline(always)]
    fn block_small(self, elements: &[A], index: usize) -> Self::Partial {
        lanes::block_small(self, elements, index)
    }
    /// Whether it has a form of [`four_lines`](Self::four_lines) that is faster than one line after another.
    const INTERLEAVES: bool = false;
    /// Whether this reducer has it, if there is one.
    #[inline(always)]
    fn interleaves(self) -> bool {
        Self::INTERLEAVES
    }
    /// Lines of 64 elements or more, equally long, none of which knows where it stands. (Reductions that take little time for an
    /// element take several lines together: no line waits for the one before it.) Each gives what [`block`](Self::block) gives.
    #[inline(always)]
    fn four_lines(self, _lines: [&[A]; 4]) -> [Self::Partial; 4] {
        unreachable!("only reductions that interleave are asked to")
    }
    /// Accumulates rows, as long as there are partial results, one element of each row into each.
    #[inline(always)]
    fn four_rows(self, partials: &mut [Self::Partial], [a, b, c, d]: [&[A]; 4], position: usize) {
        lanes::accumulate_rows(self, partials, a, b, c, d, position);
    }
    /// Whether elements are halves that are brought to `f32` side by side before they are met.
    const WIDENS_F16: bool = false;
    /// Accumulates a widened element.
    #[inline(always)]
    fn accumulate_wide(self, _: Self::Partial, _: f32) -> Self::Partial {
        unreachable!("only reductions that widen are asked to")
    }
    /// The result.
    fn finish(self, partial: Self::Partial, count: usize) -> Self::Out;
    /// The reducer of a single result, which PyTorch computes differently for some reductions.
    fn single(self) -> Self {
        self
    }
    /// Its steps as text, which a device compiles: one for each type of reducer, type of elements and [`form`](Self::form).
    #[cfg(any(test, feature = "cuda"))]
    fn text(self) -> Written<ReducerText> {
        Err(Unreadable::Kernel("this reduction has no text; reduce on the CPU"))
    }
    /// Which of its texts it has.
    #[cfg(any(test, feature = "cuda"))]
    fn form(self) -> u32 {
        0
    }
    /// Its run-time values, which the text takes as arguments: those of `ReducerText::given`, in their order.
    #[cfg(any(test, feature = "cuda"))]
    fn given(self) -> Vec<f64> {
        Vec::new()
    }
}

/// A reduction with a second result, from the same accumulator.
#[doc(hidden)]
pub trait TwoResults<A: Copy>: Reducer<A> {
    /// The dtype of the second result.
    type Second: Element;
    /// The second result.
    fn second(self, partial: Self::Partial, count: usize) -> Self::Second;
}

/// Declares the marker of an operation that is not elementwise.
macro_rules! op {
    ($($name:ident)*) => {$(
        #[doc = concat!("The operation `", stringify!($name), "`.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Default)]
        pub struct $name {}
        impl crate::ops::sealed::Op for $name {}
        impl Op for $name {
            const NAME: &'static str = stringify!($name);
        }
    )*};
}
pub(in crate::ops) use op;
/// The marker of each row of the table.
macro_rules! markers {
    ($($op:ident { $($row:tt)* })*) => { op!($($op)*); };
}
reduction_table!(markers);
op!(min max argmin argmax);
op!(logsumexp matmul clamp imag where_ pad trace bernoulli multinomial poisson binomial view_as_real view_as_complex);
op!(layer_norm rms_norm normalize);
op!(aminmax var_mean std_mean);
op!(diff trapezoid cumulative_trapezoid);
op!(int_mm mm mv bmm dot vdot vecdot inner outer linear addmm addmv addr addbmm baddbmm tensordot kron multi_dot convolution pooling attention einsum interpolate im2col col2im max_unpool grid_sample affine_grid);
op!(dist cdist cov corrcoef cross bincount histc histogram histogramdd);
