//! Reductions: what is kept while elements are met, how two partial results become one, and what comes out.
//!
//! Sums keep `f32` for the half-precision dtypes, `f64` means and squares for variances, and are added pairwise by the
//! device (the tree of partial sums is fixed by the shape, so results do not depend on how work is divided).

mod extreme;
mod lanes;
mod norms;
mod registers;
mod sums;
mod variance;

use super::Op;
use crate::dtype::{Binary, Complex, Element, MachineFloat, MachineInt};
#[cfg(any(test, feature = "cuda"))]
pub(crate) use extreme::ExtremeOfTwo;
pub use extreme::{ArgExtreme, Extreme, MinMax};
pub(crate) use lanes::{MIN_WIDE, blocked_sum, by_lanes, interleave, merge_lanes};
#[cfg(any(test, feature = "cuda"))]
pub(crate) use norms::Squared;
pub(crate) use norms::{CountNonzero, NanMean, NanSum, VectorNorm};
pub use sums::{AnyAll, Mean, Prod, Sum};
pub use variance::{Moments, Variance};

/// A reduction of elements `A` to one `Out`.
pub trait Reducer<A: Copy>: Copy + Send + Sync {
    /// What is kept while elements are met.
    type Partial: Copy + Send + Sync;
    /// What comes out.
    type Out: Element;
    /// Whether there is a result for no elements at all.
    const HAS_IDENTITY: bool = true;
    /// Whether it matters where elements stand. If not, axes may be reduced over in another order.
    const HAS_POSITIONS: bool = false;
    /// Whether it matters how often an element comes. If not, one that is repeated (by a stride of 0) is met once.
    const COUNTS_REPEATS: bool = true;
    /// Whether elements in blocks cost far less than elements met one by one.
    const PREFERS_BLOCKS: bool = false;
    /// Whether this one has a result for no elements at all.
    fn has_identity(self) -> bool {
        Self::HAS_IDENTITY
    }
    /// Nothing met yet.
    fn start(self) -> Self::Partial;
    /// One more element, `index` being its position among those reduced over, in row-major order.
    fn accumulate(self, partial: Self::Partial, element: A, index: usize) -> Self::Partial;
    /// Two partial results as one. (Elements are met in turn by several partial results, so neither's come before the
    /// other's: what depends on their order must keep the index.)
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial;
    /// Elements side by side, the first of which has position `index`. Of many, several partial results are kept, so that they
    /// can be met with vector instructions.
    #[inline(always)]
    fn block(self, elements: &[A], index: usize) -> Self::Partial {
        lanes::block(self, elements, index)
    }
    /// Whether it has a form of [`blocks`](Self::blocks) that is faster than one line after another.
    const INTERLEAVES: bool = false;
    /// Lines of 64 elements or more, equally long, none of which knows where it stands. (Reductions that take little time for an
    /// element take several lines together: no line waits for the one before it.) How many lines there are makes no difference to any;
    /// each gives what [`block`](Self::block) gives.
    #[inline(always)]
    fn blocks<const M: usize>(self, lines: [&[A]; M]) -> [Self::Partial; M] {
        lines.map(|line| self.block(line, 0))
    }
    /// Whether elements are halves that are brought to `f32` side by side before they are met.
    const WIDENS_F16: bool = false;
    /// One more element that has been.
    #[inline(always)]
    fn accumulate_wide(self, _: Self::Partial, _: f32) -> Self::Partial {
        unreachable!("only reductions that widen are asked to")
    }
    /// The result.
    fn finish(self, partial: Self::Partial, count: usize) -> Self::Out;
    /// The same where there is but one result, which PyTorch computes in another way for some reductions.
    fn single(self) -> Self {
        self
    }
}

/// A reduction with a second result, which follows from what is kept for the first.
pub trait TwoResults<A: Copy>: Reducer<A> {
    /// What else comes out.
    type Second: Element;
    /// The second result.
    fn second(self, partial: Self::Partial, count: usize) -> Self::Second;
}

/// Declares the marker of an operation that is not elementwise.
macro_rules! op {
    ($($name:ident)*) => {$(
        #[doc = concat!("The operation `", stringify!($name), "`.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name {}
        impl crate::ops::sealed::Op for $name {}
        impl Op for $name {
            const NAME: &'static str = stringify!($name);
        }
    )*};
}
pub(in crate::ops) use op;
op!(sum prod mean var std min max amin amax argmin argmax any all);
op!(cumsum softmax log_softmax logsumexp matmul clamp imag where_ pad trace bernoulli multinomial view_as_real view_as_complex);
op!(layer_norm rms_norm normalize);
op!(nansum nanmean count_nonzero vector_norm norm aminmax var_mean std_mean);
op!(cumprod cummax cummin logcumsumexp diff trapezoid cumulative_trapezoid);
op!(int_mm mm mv bmm dot vdot vecdot inner outer linear addmm addmv addr addbmm baddbmm tensordot kron multi_dot);
op!(dist cdist cov corrcoef cross bincount histc);

/// Adding up. Unlike [`add`](super::add) it does not multiply by `alpha`, so that the parts of a complex sum stay apart.
pub(crate) struct Accumulating;
impl Binary for Accumulating {
    #[inline(always)]
    fn boolean(a: bool, b: bool) -> bool {
        a | b
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_add(&b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a + b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        a + b
    }
}
