//! Kernels: what a device runs per element. A kernel is a small, mostly zero-sized value with a function; the device supplies the loop.

pub use super::chosen::{Choosing, ChoosingBoth, ChoosingLeft, ChoosingRight, FillWith};
pub(super) use super::combining::operand_text;
pub(crate) use super::combining::right_is_exact;
pub use super::combining::{
    Combining, CombiningKinds, CombiningLeft, CombiningRight, CombiningScalar, ComputeOf, DividingScalar, operand,
};
use super::{TunedOp, UnaryOp};
use crate::dtype::{Castable, Compute as _, DType, Dtype, Element, MachineFloat, Parameters, Predicate};
use crate::error::Result;
use crate::ops::lanes::LANES;
use crate::ops::record::{
    Unreadable,
    kernel::{Kernel, Value},
    lane::RecordedLane,
    reduce::Record,
    row::RecordedRow,
};
pub(crate) use crate::ops::slope::{Constants, LaneSlope, Merging, RowSlope, Slope};
use core::marker::PhantomData;

/// A row of the tables, with all operands of one dtype. Devices may have a compiled loop for it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The index of the row in its table.
    pub row: usize,
    /// The dtype the operation computes in.
    pub dtype: DType,
    /// Which table, and which operands.
    pub operands: Arity,
}

/// The table and operands of an [`Entry`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// One operand: a row of the unary table.
    One,
    /// Two operands: a row of the binary table.
    Two,
    /// An operand and a scalar: a row of the binary table.
    Scalar,
    /// A conversion; the row is the target dtype.
    Converted,
}

impl Entry {
    /// The entry of a row, if all operands and the result have the dtypes that the compiled loop expects.
    pub(super) const fn of(
        row: Option<usize>,
        dtype: DType,
        operands: Arity,
        expected_and_found: &[(DType, DType)],
    ) -> Option<Self> {
        let mut at = 0;
        while at < expected_and_found.len() {
            if expected_and_found[at].0 as u8 != expected_and_found[at].1 as u8 {
                return None;
            }
            at += 1;
        }
        match row {
            Some(row) => Some(Entry { row, dtype, operands }),
            None => None,
        }
    }
}

/// Reducers and kernels with loops that castiron compiles itself with the feature `precompiled`; `cpu::precompiled` lists the dtypes.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "each is named like the reducer or kernel")]
pub enum Precompiled {
    Sum,
    Prod,
    Mean,
    AnyAll,
    NanSum,
    NanMean,
    CountNonzero,
    VectorNorm,
    Variance,
    LogSumExp,
    Max,
    Min,
    ArgMax,
    ArgMin,
    MinMax,
    RunningSum,
    RunningProduct,
    RunningLogSumExp,
    RunningMax,
    RunningMin,
    Softmax,
    LogSoftmax,
    Standardizing,
    RootMeanSquare,
}

/// A function of one element.
pub trait Map1<A, O>: Copy + Send + Sync + 'static {
    /// Whether its loop takes [`LANES`] elements at a time, by [`block`](Self::block).
    const BLOCKS: bool = false;
    /// Elements side by side, where [`BLOCKS`](Self::BLOCKS).
    #[inline(always)]
    fn block(self, _a: [A; LANES]) -> [O; LANES] {
        unreachable!("a kernel of single elements")
    }
    /// Its derivative.
    const SLOPE: Slope = Slope::Missing;
    /// The values that it is given besides its operands, as the derivative reads them.
    fn constants(self) -> Constants {
        Constants::default()
    }
    /// Its entry in the tables, if it has one.
    const ENTRY: Option<Entry> = None;
    /// Whether it only copies elements: both types are the same, and the value is unchanged.
    const MOVES: bool = false;
    /// Whether there is a vectorised fast path. Loops check a block of elements before they take it.
    const HAS_FAST_PATH: bool = false;
    /// Whether the fast path is so cheap that elements are not copied to a block first.
    const FAST_PATH_IS_BRIEF: bool = false;
    /// Whether it is compute-bound rather than memory-bound.
    const IS_COMPUTE_BOUND: bool = false;
    /// Whether devices may use lookup tables, which changes the last digits.
    const BY_LOOKUP: bool = false;
    /// The vector width worth compiling its loops for.
    const VECTORS: VectorWidth = VectorWidth::Wide;
    /// Whether it is one or two machine instructions, so that a few elements are computed without calling a loop.
    const IS_BRIEF: bool = false;
    /// Whether `f16` and `bf16` are computed exactly as the `f32` that they convert to: then loops convert them in chunks and are compiled
    /// for `f32` alone.
    const WIDENS: bool = false;
    /// With `WIDENS`: the kernel over `f32` in place of `f16` and `bf16`. Its value has the same bytes.
    fn widened<T: TakesMap1>() -> T::Out {
        unreachable!("a kernel that computes in its own dtypes")
    }
    /// One element.
    fn call(self, a: A) -> O;
    /// The same as GPU text.
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value;
    /// Whether this element takes the fast path.
    #[inline(always)]
    fn takes_fast_path(self, _a: A) -> bool {
        true
    }
    /// The fast path.
    #[inline(always)]
    fn fast_path(self, a: A) -> O {
        self.call(a)
    }
}

/// How much a loop gains from vectors. Each instruction set is another copy of the loop to compile, so only those that pay off are
/// compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorWidth {
    /// Nothing: there are no such instructions (integer division), or elements are not contiguous (scatter).
    None,
    /// 32-byte vectors suffice; it is memory-bound with wider ones.
    Narrow,
    /// The widest vectors pay off: it is compute-bound, or its data is cached.
    Wide,
}

/// What is made of a kernel of one operand by its types alone.
pub trait TakesMap1 {
    type Out;
    fn take<K: Map1<A, O>, A: Element, O: Element>() -> Self::Out;
}
/// The same for two operands.
pub trait TakesMap2 {
    type Out;
    fn take<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Self::Out;
}

/// A function of two elements.
pub trait Map2<A, B, O>: Copy + Send + Sync + 'static {
    /// Whether its loop takes [`LANES`] elements at a time, by [`block`](Self::block).
    const BLOCKS: bool = false;
    /// Elements side by side, where [`BLOCKS`](Self::BLOCKS).
    #[inline(always)]
    fn block(self, _a: [A; LANES], _b: [B; LANES]) -> [O; LANES] {
        unreachable!("a kernel of single elements")
    }
    /// What it does where it writes several elements at one place.
    const MERGING: Merging = Merging::Missing;
    /// Its derivative.
    const SLOPE: Slope = Slope::Missing;
    /// The values that it is given besides its operands, as the derivative reads them.
    fn constants(self) -> Constants {
        Constants::default()
    }
    /// Its entry in the tables, if it has one.
    const ENTRY: Option<Entry> = None;
    /// Whether there is a vectorised fast path. Loops check a block of elements before they take it.
    const HAS_FAST_PATH: bool = false;
    /// The vector width worth compiling its loops for.
    const VECTORS: VectorWidth = VectorWidth::Wide;
    /// Whether it is one or two machine instructions, so that a few elements are computed without calling a loop.
    const IS_BRIEF: bool = false;
    /// As for [`Map1`].
    const WIDENS: bool = false;
    /// As for [`Map1`].
    fn widened<T: TakesMap2>() -> T::Out {
        unreachable!("a kernel that computes in its own dtypes")
    }
    /// One element.
    fn call(self, a: A, b: B) -> O;
    /// One element, in a scalar loop over scattered elements.
    #[inline(always)]
    fn call_alone(self, a: A, b: B) -> O {
        self.call(a, b)
    }
    /// The same as GPU text.
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value;
    /// Whether these elements take the fast path.
    #[inline(always)]
    fn takes_fast_path(self, _a: A, _b: B) -> bool {
        true
    }
    /// The fast path.
    #[inline(always)]
    fn fast_path(self, a: A, b: B) -> O {
        self.call(a, b)
    }
}

/// A function of three elements.
pub trait Map3<A, B, C, O>: Copy + Send + Sync + 'static {
    /// Whether its loop takes [`LANES`] elements at a time, by [`block`](Self::block).
    const BLOCKS: bool = false;
    /// Elements side by side, where [`BLOCKS`](Self::BLOCKS).
    #[inline(always)]
    fn block(self, _a: [A; LANES], _b: [B; LANES], _c: [C; LANES]) -> [O; LANES] {
        unreachable!("a kernel of single elements")
    }
    /// The vector width worth compiling its loops for.
    const VECTORS: VectorWidth = VectorWidth::Wide;
    /// Its derivative.
    const SLOPE: Slope = Slope::Missing;
    /// The values that it is given besides its operands, as the derivative reads them.
    fn constants(self) -> Constants {
        Constants::default()
    }
    /// One element.
    fn call(self, a: A, b: B, c: C) -> O;
    /// The same as GPU text.
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value, c: Value) -> Value;
}

/// Functions of more elements.
macro_rules! maps {
    ($($name:ident($($x:ident: $X:ident),*) $doc:literal;)*) => {$(
        #[doc = $doc]
        pub trait $name<$($X,)* O>: Copy + Send + Sync + 'static {
            /// Whether its loop takes [`LANES`] elements at a time, by [`block`](Self::block).
            const BLOCKS: bool;
            /// Elements side by side, where [`BLOCKS`](Self::BLOCKS).
            fn block(self, $($x: [$X; LANES]),*) -> [O; LANES];
            /// One element.
            fn call(self, $($x: $X),*) -> O;
            /// The same as GPU text.
            #[allow(clippy::too_many_arguments)]
            fn text(&self, kernel: &mut Kernel, $($x: Value),*) -> Value;
        }
    )*};
}
maps! {
    Map4(a: A, b: B, c: C, d: G) "A function of four elements.";
    Map5(a: A, b: B, c: C, d: G, e: H) "A function of five elements.";
    Map6(a: A, b: B, c: C, d: G, e: H, f: I) "A function of six elements.";
}

/// A marker for type parameters that do not affect `Send` and `Sync`.
pub(super) type Over<T> = PhantomData<fn() -> T>;

/// The identity.
#[derive(Clone, Copy)]
pub struct Copying;
impl<A: Element> Map1<A, A> for Copying {
    const SLOPE: Slope = Slope::Moves(0);
    const MOVES: bool = true;
    #[inline(always)]
    fn call(self, a: A) -> A {
        a
    }
    fn text(&self, _: &mut Kernel, a: Value) -> Value {
        a
    }
}

/// Conversion to another dtype.
#[derive(Clone, Copy)]
pub struct Casting;
impl<A: crate::dtype::CastTo<O>, O: Element> Map1<A, O> for Casting {
    const SLOPE: Slope = Slope::Moves(0);
    const ENTRY: Option<Entry> = Some(Entry { row: O::DTYPE as usize, dtype: A::DTYPE, operands: Arity::Converted });
    /// Shell dtypes are only stored and converted.
    const VECTORS: VectorWidth =
        if A::DTYPE.is_shell() || O::DTYPE.is_shell() { VectorWidth::Narrow } else { VectorWidth::Wide };
    #[inline(always)]
    fn call(self, a: A) -> O {
        a.cast_to()
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        kernel.cast(a, O::DTYPE)
    }
}

/// A unary operation; the result is converted to the output's dtype.
#[derive(Clone, Copy)]
pub struct Applying<Op>(Over<Op>);
impl<Op> Applying<Op> {
    /// The kernel of `Op`.
    pub const fn new() -> Self {
        Applying(PhantomData)
    }
}
impl<Op> Default for Applying<Op> {
    fn default() -> Self {
        Self::new()
    }
}
impl<Op: UnaryOp<A>, A: Dtype, O: Castable> Map1<A, O> for Applying<Op> {
    const SLOPE: Slope = Op::SLOPE;
    const ENTRY: Option<Entry> =
        Entry::of(Op::ROW, A::DTYPE, Arity::One, &[(<Op::Output as Element>::DTYPE, O::DTYPE)]);
    const HAS_FAST_PATH: bool = Op::HAS_FAST_PATH;
    const FAST_PATH_IS_BRIEF: bool = Op::FAST_PATH_IS_BRIEF;
    const IS_COMPUTE_BOUND: bool = Op::IS_COMPUTE_BOUND;
    const BY_LOOKUP: bool = Op::BY_LOOKUP;
    /// Rounding to the dtype takes most of the time.
    const VECTORS: VectorWidth = if Op::IS_COMPUTE_BOUND || Op::HAS_FAST_PATH || matches!(A::DTYPE, DType::BF16) {
        VectorWidth::Wide
    } else {
        VectorWidth::Narrow
    };
    #[inline(always)]
    fn call(self, a: A) -> O {
        Op::apply(a).cast()
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let result = kernel.apply(Op::NAME, a);
        kernel.cast(result, O::DTYPE)
    }
    #[inline(always)]
    fn takes_fast_path(self, a: A) -> bool {
        Op::takes_fast_path(a)
    }
    #[inline(always)]
    fn fast_path(self, a: A) -> O {
        Op::fast_path(a).cast()
    }
}

/// Whether a number is below zero.
struct BelowZero;
impl Predicate for BelowZero {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> bool {
        x < T::zero()
    }
}

/// A unary operation with parameters on dtype `A`; the result is converted to the output's dtype.
pub struct Tuning<Op: TunedOp<A>, A: Dtype>(pub Parameters<<Op::Output as Dtype>::Compute>);
impl<Op: TunedOp<A>, A: Dtype> Clone for Tuning<Op, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<Op: TunedOp<A>, A: Dtype> Copy for Tuning<Op, A> {}
impl<Op: TunedOp<A>, A: Dtype, O: Castable> Map1<A, O> for Tuning<Op, A> {
    const SLOPE: Slope = Op::SLOPE;
    fn constants(self) -> Constants {
        self.0.map(Castable::cast)
    }
    const HAS_FAST_PATH: bool = Op::KEEPS_POSITIVE;
    const FAST_PATH_IS_BRIEF: bool = Op::KEEPS_POSITIVE;
    const WIDENS: bool = Op::WIDENS && O::DTYPE as u8 == <Op::Output as Element>::DTYPE as u8;
    fn widened<T: TakesMap1>() -> T::Out {
        Op::widened::<T>()
    }
    #[inline(always)]
    fn call(self, a: A) -> O {
        Op::apply(a, self.0).cast()
    }
    #[inline(always)]
    fn takes_fast_path(self, a: A) -> bool {
        !a.to_compute().predicate::<BelowZero>()
    }
    #[inline(always)]
    fn fast_path(self, a: A) -> O {
        a.cast()
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let parameters = self.0.map(|parameter| kernel.parameter(parameter));
        let result = kernel.tune(Op::NAME, <Op::Output as Element>::DTYPE, a, parameters);
        kernel.cast(result, O::DTYPE)
    }
}

/// Maximum number of lanes computed together.
pub const MOST_COLUMNS: usize = 256;

/// Block length of [`LaneColumns::descend_in_blocks`].
pub const SCAN_BLOCK: usize = 8;

/// Several lanes computed together, as the columns of a matrix, and the places of their results.
pub trait LaneColumns<A, O> {
    /// Number of elements in a lane.
    fn rows(&self) -> usize;
    /// Number of lanes: at most [`MOST_COLUMNS`].
    fn columns(&self) -> usize;
    /// Whether rows are contiguous, in the elements and in the results. Otherwise [`see`](Self::see) and [`replace`](Self::replace) are not
    /// called.
    fn has_dense_rows(&self) -> bool;
    /// Calls `show` with each element of a row and its column.
    fn see(&self, row: usize, show: impl FnMut(usize, A));
    /// Replaces each result of a row by `compute` of its column and element.
    fn replace(&self, row: usize, compute: impl FnMut(usize, A) -> O);
    /// Computes the results of `N` columns from this one on, row by row: the value carried down a column starts from its first element.
    fn descend<R: Copy, const N: usize>(
        &self,
        column: usize,
        start: impl Fn(A) -> R,
        next: impl Fn(R, A, usize) -> R,
        result: impl Fn(R) -> O,
    );
    /// [`descend`](Self::descend) for a column whose carried value seldom changes: blocks that do not change it, by `keeps`, are not
    /// visited element by element.
    fn descend_in_blocks<R: Copy>(
        &self,
        column: usize,
        start: impl Fn(A) -> R,
        next: impl Fn(R, A, usize) -> R,
        result: impl Fn(R) -> O,
        keeps: impl Fn(R, &[A; SCAN_BLOCK]) -> bool,
    );
}

/// A function of a whole lane (the elements along one axis) whose result is a lane of the same length.
pub trait LaneKernel<A, O>: Copy + Send + Sync + 'static {
    /// Its derivative.
    const SLOPE: LaneSlope = LaneSlope::Missing;
    /// Which precompiled loops it has, if any.
    const PRECOMPILED: Option<Precompiled> = None;
    /// Scratch memory, reused from lane to lane.
    type Scratch: Default;
    /// Scratch memory for lanes of this length.
    fn scratch(self, _len: usize) -> Result<Self::Scratch> {
        Ok(Self::Scratch::default())
    }
    /// Computes a lane. `to` is as long as `from`; places that are not written are unspecified.
    fn lane(self, from: &[A], to: &mut [O], scratch: &mut Self::Scratch);
    /// Whether [`columns`](Self::columns) supports all lanes, or only lanes whose elements are contiguous across lanes.
    const ALL_BY_COLUMNS: bool = false;
    /// Number of lanes computed together, at most [`MOST_COLUMNS`].
    const TOGETHER: usize = MOST_COLUMNS;
    /// Computes several lanes together, with the same results as [`lane`](Self::lane). `scratch` is that of a lane with their total length.
    fn columns(self, lanes: &impl LaneColumns<A, O>, scratch: &mut Self::Scratch);
    /// Its steps as GPU text.
    fn text(self) -> Record<RecordedLane> {
        Err(Unreadable::Kernel("this function of a lane has no text; use the CPU"))
    }
}

/// A function of a row (the last axis) in two passes over the cached row, one for statistics and one for the elements; with up to two rows
/// of parameters that all rows share.
pub trait RowKernel<A, O>: Copy + Send + Sync + 'static {
    /// Its derivative.
    fn slope(self) -> RowSlope {
        RowSlope::Missing
    }
    /// Which precompiled loops it has, if any.
    const PRECOMPILED: Option<Precompiled> = None;
    /// The result of the first pass.
    type Measure: Copy;
    /// The first pass; the row is not empty.
    fn measure(self, row: &[A]) -> Self::Measure;
    /// If the first pass overflowed on finite numbers: a power of two, and the measure of the row scaled by it.
    #[inline(always)]
    fn of_large(self, _measure: Self::Measure, _row: &[A]) -> Option<(A, Self::Measure)> {
        None
    }
    /// An element times this power of two.
    #[inline(always)]
    fn times(element: A, _power: A) -> A {
        element
    }
    /// The second pass: one element, with those of the shared rows.
    fn element(self, measure: Self::Measure, element: A, shared: [Option<A>; 2]) -> O;
    /// Its steps as GPU text.
    fn text(self) -> Record<RecordedRow> {
        Err(Unreadable::Kernel("this function of a row has no text; use the CPU"))
    }
    /// Its run-time values, which the text takes as arguments.
    fn given(self) -> Vec<f64> {
        Vec::new()
    }
}
