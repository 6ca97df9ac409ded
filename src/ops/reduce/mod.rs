//! Reductions: the accumulator, how elements are accumulated, how two accumulators are merged, and the result.
//!
//! Sums of half-precision dtypes accumulate in `f32`, variances in `f64`. Devices merge partial results pairwise in a
//! tree fixed by the shape, so results do not depend on how work is divided.

pub(super) mod extreme;
mod lanes;
mod log_sum_exp;
mod normalizing;
pub(super) mod norms;
pub(crate) mod own;
mod registers;
pub(crate) mod rows;
pub(crate) mod steps;
mod sums;
mod table;
pub(super) mod variance;

use super::kernel::Precompiled;
pub(crate) use super::slope::ReduceSlope;
use crate::dtype::Element;
use crate::ops::formula::MOST_RESULTS;
use crate::ops::record::{
    Unreadable,
    reduce::{Record, RecordedReducer},
};
#[doc(hidden)]
pub(crate) use extreme::ExtremeOfTwo;
pub(crate) use extreme::extreme_rows;
pub use extreme::{ArgExtreme, Extreme, MinMax};
pub(crate) use lanes::{
    MIN_WIDE, SUM_BLOCK, WIDTH, blocked_sum, blocked_sum_of_costly, by_lanes, in_whole_vectors, interleave,
    lanes_of_sum, merge_lanes,
};
pub(crate) use log_sum_exp::LogSumExp;
pub(crate) use normalizing::{RootMeanSquare, Standardizing};
pub(crate) use norms::*;
pub(crate) use steps::{Accumulating, Index, Steps, StepsOfTwo};
pub(crate) use sums::sums_rows;
#[doc(hidden)]
pub use sums::{AnyAll, Mean, Prod, Sum};
pub(crate) use table::reduction_table;
pub(crate) use variance::variance_rows;
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
    /// Whether an empty reduction has a result.
    const HAS_IDENTITY: bool = true;
    /// Whether positions of elements matter. If not, axes may be reduced in another order.
    const HAS_POSITIONS: bool = false;
    /// Whether repeated elements count each time. If not, broadcast axes are visited once.
    const COUNTS_REPEATS: bool = true;
    /// Whether blocks are much cheaper than single elements.
    const PREFERS_BLOCKS: bool = false;
    /// Whether [`finish`](Self::finish) takes long: it is then compiled with the instructions of the machine.
    const FINISH_IS_COSTLY: bool = false;
    /// Whether it has [`block_of_rows`](Self::block_of_rows), so that many columns are reduced by rows although blocks are cheaper.
    const HAS_BLOCKS_OF_ROWS: bool = false;
    /// Approximate time per element, relative to reading it.
    fn cost(self) -> usize {
        1
    }
    /// Whether this reducer has a result for an empty reduction.
    fn has_identity(self) -> bool {
        Self::HAS_IDENTITY
    }
    /// The accumulator before the first element.
    fn start(self) -> Self::Partial;
    /// Accumulates an element; `index` is its position among the reduced elements, in row-major order.
    fn accumulate(self, partial: Self::Partial, element: A, index: usize) -> Self::Partial;
    /// Merges two accumulators. (Elements are distributed over several accumulators, so neither comes first: reductions that depend on
    /// order must keep positions.)
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial;
    /// Reduces contiguous elements, the first of which has position `index`. Long lines are accumulated in lanes,
    /// which vectorise.
    #[inline(always)]
    fn block(self, elements: &[A], index: usize) -> Self::Partial {
        lanes::block(self, elements, index)
    }
    /// The same result as [`block`](Self::block), by small rather than fast code. (Implementations override both or neither.)
    #[inline(always)]
    fn block_small(self, elements: &[A], index: usize) -> Self::Partial {
        lanes::block_small(self, elements, index)
    }
    /// Whether it has a faster [`four_lines`](Self::four_lines) than one line after another.
    const INTERLEAVES: bool = false;
    /// Whether this value of the reducer has it.
    #[inline(always)]
    fn interleaves(self) -> bool {
        Self::INTERLEAVES
    }
    /// Reduces four equally long lines of at least 64 elements, without positions; each with the result of [`block`](Self::block). (For
    /// cheap reductions, several lines together avoid waiting on one line's dependency chain.)
    #[inline(always)]
    fn four_lines(self, _lines: [&[A]; 4]) -> [Self::Partial; 4] {
        unreachable!("only reductions that interleave are asked to")
    }
    /// Accumulates four rows into partial results, one per column.
    #[inline(always)]
    fn four_rows(self, partials: &mut [Self::Partial], [a, b, c, d]: [&[A]; 4], position: usize) {
        lanes::accumulate_rows(self, partials, a, b, c, d, position);
    }
    /// Accumulates some rows into partial results, one per column; there are as many elements in a row.
    #[inline(always)]
    fn block_of_rows<'a>(self, _partials: &mut [Self::Partial], _rows: usize, _row: impl Fn(usize) -> &'a [A])
    where
        A: 'a,
    {
        unreachable!("only reductions that have blocks of rows are asked to")
    }
    /// Whether `f16` elements are widened to `f32` in bulk before they are accumulated.
    const WIDENS_F16: bool = false;
    /// Accumulates a widened element.
    #[inline(always)]
    fn accumulate_wide(self, _: Self::Partial, _: f32) -> Self::Partial {
        unreachable!("only reductions that widen are asked to")
    }
    /// The result.
    fn finish(self, partial: Self::Partial, count: usize) -> Self::Out;
    /// The reducer for a reduction to a single result, which PyTorch computes differently for some reductions.
    fn single(self) -> Self {
        self
    }
    /// Its derivative.
    const SLOPE: ReduceSlope = ReduceSlope::Missing;
    /// The numbers that its derivative needs.
    fn numbers(self) -> [f64; 2] {
        [0.0; 2]
    }
    /// Its steps as GPU text: one per type of reducer, type of elements and [`form`](Self::form).
    fn text(self) -> Record<RecordedReducer> {
        Err(Unreadable::Kernel("this reduction has no text; reduce on the CPU"))
    }
    /// Which of its texts to use.
    fn form(self) -> u32 {
        0
    }
    /// Its run-time values, which the text takes as arguments: those of `RecordedReducer::given`, in order.
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

/// A reduction with several results of one dtype.
#[doc(hidden)]
pub trait SeveralResults<A: Copy>: Reducer<A> {
    /// How many.
    const RESULTS: usize;
    /// All of them; those beyond are not used.
    fn results(self, partial: Self::Partial) -> [Self::Out; MOST_RESULTS];
}

/// What the rows of the table name, for the macros that read it.
pub(crate) mod reducers {
    #[allow(unused_imports)]
    pub(crate) use super::{extreme::*, norms::*, sums::*, variance::*};
}

/// Declares the marker of an operation that is not elementwise.
macro_rules! op {
    ($($name:ident)*) => {$(
        #[doc = concat!("The operation `", stringify!($name), "`.")]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Default)]
        pub struct $name {}
        impl $crate::ops::sealed::Op for $name {}
        impl $crate::ops::Op for $name {
            const NAME: &'static str = stringify!($name);
        }
    )*};
}
pub(crate) use op;
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
