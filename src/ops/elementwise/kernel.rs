//! Kernels: what a device is asked to run at every element. A kernel is a small value (mostly of no size) with a
//! function; the device supplies the loop.
//!
//! Uses the operations; used by devices (which run kernels) and tensors (which choose them).

use super::{BinaryOp, TunedOp, UnaryOp};
use crate::dtype::scalar::{Kind, KindRank};
use crate::dtype::{Castable, Compute as _, DType, Dtype, Element, Parameters};
use crate::error::Result;
use core::marker::PhantomData;

/// A row of the table of operations, on elements of one dtype throughout. Devices may have it compiled already.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Which row.
    pub row: usize,
    /// What the operation computes in.
    pub dtype: DType,
    /// Which operands there are.
    pub operands: Arity,
}

/// The operands of a [`Entry`] operation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// One, for a row of the unary table.
    One,
    /// Two, for a row of the binary table.
    Two,
    /// One and a scalar, for a row of the binary table.
    Scalar,
    /// One that is converted; the row is the dtype it is converted to.
    Converted,
}

impl Entry {
    /// The row, if there is one, for operands and a result of these dtypes, of which there are an expected one and one found.
    const fn of(
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

/// A function of one element.
pub trait Map1<A, O>: Copy + Send + Sync {
    /// What it is in the table of operations.
    const ENTRY: Option<Entry> = None;
    /// Whether elements only move: the types are one, and what comes out is what went in.
    const MOVES: bool = false;
    /// Whether there is another form for usual elements, which vectorises. Loops look at a block of elements first.
    const HAS_FAST_PATH: bool = false;
    /// Whether an element takes longer to compute than memory takes to give it.
    const IS_COMPUTE_BOUND: bool = false;
    /// Whether devices may compute it by tables, which gives other last digits.
    const BY_LOOKUP: bool = false;
    /// The widest vectors that its loops are worth compiling for.
    const VECTORS: VectorWidth = VectorWidth::Wide;
    /// One element.
    fn call(self, a: A) -> O;
    /// Whether the form for usual elements holds for this one.
    #[inline(always)]
    fn takes_fast_path(self, _a: A) -> bool {
        true
    }
    /// That form.
    #[inline(always)]
    fn fast_path(self, a: A) -> O {
        self.call(a)
    }
}

/// How a loop gains by vectors: each instruction set is a copy of the loop to compile, so only those that pay are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorWidth {
    /// Not at all: there are no such instructions (division of integers), or elements are not neighbours (scattering).
    None,
    /// By those of 32 bytes; wider ones wait for memory.
    Narrow,
    /// By the widest: an element takes longer to compute than memory takes to give it, or comes from a cache.
    Wide,
}

/// A function of two elements.
pub trait Map2<A, B, O>: Copy + Send + Sync {
    /// What it is in the table of operations.
    const ENTRY: Option<Entry> = None;
    /// The widest vectors that its loops are worth compiling for.
    const VECTORS: VectorWidth = VectorWidth::Wide;
    /// One element.
    fn call(self, a: A, b: B) -> O;
}

/// A function of three elements.
pub trait Map3<A, B, C, O>: Copy + Send + Sync {
    /// One element.
    fn call(self, a: A, b: B, c: C) -> O;
}

/// Carries types that a kernel is over without being affected by them.
type Over<T> = PhantomData<fn() -> T>;

/// The element itself: moving without change.
#[derive(Clone, Copy)]
pub struct Copying;
impl<A: Element> Map1<A, A> for Copying {
    const MOVES: bool = true;
    #[inline(always)]
    fn call(self, a: A) -> A {
        a
    }
}

/// Conversion to another dtype.
#[derive(Clone, Copy)]
pub struct Casting;
impl<A: crate::dtype::CastTo<O>, O: Element> Map1<A, O> for Casting {
    const ENTRY: Option<Entry> = Some(Entry { row: O::DTYPE as usize, dtype: A::DTYPE, operands: Arity::Converted });
    /// (Shell dtypes are stored, not computed with.)
    const VECTORS: VectorWidth =
        if A::DTYPE.is_shell() || O::DTYPE.is_shell() { VectorWidth::Narrow } else { VectorWidth::Wide };
    #[inline(always)]
    fn call(self, a: A) -> O {
        a.cast_to()
    }
}

/// An operation of one operand, its result converted to the output's dtype.
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
    const ENTRY: Option<Entry> =
        Entry::of(Op::ROW, A::DTYPE, Arity::One, &[(<Op::Output as Element>::DTYPE, O::DTYPE)]);
    const HAS_FAST_PATH: bool = Op::HAS_FAST_PATH;
    const IS_COMPUTE_BOUND: bool = Op::IS_COMPUTE_BOUND;
    const BY_LOOKUP: bool = Op::BY_LOOKUP;
    const VECTORS: VectorWidth =
        if Op::IS_COMPUTE_BOUND || Op::HAS_FAST_PATH { VectorWidth::Wide } else { VectorWidth::Narrow };
    #[inline(always)]
    fn call(self, a: A) -> O {
        Op::apply(a).cast()
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

/// An operation of one operand of dtype `A` and parameters, its result converted to the output's dtype.
pub struct Tuning<Op: TunedOp<A>, A: Dtype>(pub Parameters<<Op::Output as Dtype>::Compute>);
impl<Op: TunedOp<A>, A: Dtype> Clone for Tuning<Op, A> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<Op: TunedOp<A>, A: Dtype> Copy for Tuning<Op, A> {}
impl<Op: TunedOp<A>, A: Dtype, O: Castable> Map1<A, O> for Tuning<Op, A> {
    #[inline(always)]
    fn call(self, a: A) -> O {
        Op::apply(a, self.0).cast()
    }
}

/// The type `Op` computes in for operands that promote to `P`.
pub type ComputeOf<Op, P> = <<Op as BinaryOp>::Computes<P> as Dtype>::Compute;

/// An element as `Op` computes with it: converted to the dtype computed in, then widened.
#[inline(always)]
pub fn operand<Op: BinaryOp, P: Dtype, A: Castable>(a: A) -> ComputeOf<Op, P> {
    a.cast::<Op::Computes<P>>().to_compute()
}

/// What `Op` is in the table for operands of these dtypes, if they are those it promotes them to.
const fn binary_entry<Op: BinaryOp, P: Dtype, O: Castable>(operands: Arity, dtypes: [DType; 2]) -> Option<Entry> {
    let result = (<Op::Output<P> as Element>::DTYPE, O::DTYPE);
    Entry::of(Op::ROW, P::DTYPE, operands, &[(P::DTYPE, dtypes[0]), (P::DTYPE, dtypes[1]), result])
}

/// An operation of two operands of dtypes that promote to `P`, its result converted to the output's dtype.
#[derive(Clone, Copy)]
pub struct Combining<Op, P>(Over<(Op, P)>);
impl<Op, P> Combining<Op, P> {
    /// The kernel of `Op` over `P`.
    pub const fn new() -> Self {
        Combining(PhantomData)
    }
}
impl<Op, P> Default for Combining<Op, P> {
    fn default() -> Self {
        Self::new()
    }
}
impl<Op: BinaryOp, P: Dtype, A: Dtype, B: Dtype, O: Castable> Map2<A, B, O> for Combining<Op, P> {
    const ENTRY: Option<Entry> = binary_entry::<Op, P, O>(Arity::Two, [A::DTYPE, B::DTYPE]);
    const VECTORS: VectorWidth = vectors::<Op, P>();
    #[inline(always)]
    fn call(self, a: A, b: B) -> O {
        Op::apply_to::<P, A, B>(a, b).cast()
    }
}

/// How loops of `Op` over `P` gain by vectors.
const fn vectors<Op: BinaryOp, P: Dtype>() -> VectorWidth {
    if Op::DIVIDES && matches!(P::DTYPE, DType::I32 | DType::I64) {
        VectorWidth::None
    } else if matches!(<Op::Output<P> as Element>::DTYPE, DType::Bool) {
        VectorWidth::Narrow
    } else {
        VectorWidth::Wide
    }
}

/// Whether an operand of kind `R` beside one of kind `L` keeps the precision that `Op` computes in: it outranks nothing, and
/// `Op` says so.
#[inline(always)]
pub(crate) const fn right_is_exact<Op: BinaryOp, P: Dtype, L: Kind, R: Kind>() -> bool {
    const {
        Op::RIGHT_SCALAR_IS_EXACT
            && !P::DTYPE.is_complex()
            && matches!(R::RANK, KindRank::Scalar | KindRank::ZeroDim)
            && matches!(L::RANK, KindRank::Dimensioned)
    }
}

/// An operation of two operands of kinds `L` and `R`, the second of which may keep more precision.
pub struct CombiningKinds<Op, P, L, R>(Over<(Op, P, L, R)>);
impl<Op, P, L, R> Clone for CombiningKinds<Op, P, L, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<Op, P, L, R> Copy for CombiningKinds<Op, P, L, R> {}
impl<Op, P, L, R> CombiningKinds<Op, P, L, R> {
    pub(crate) const fn new() -> Self {
        CombiningKinds(PhantomData)
    }
}
impl<Op: BinaryOp, P: Dtype, L: Kind, R: Kind, A: Dtype, B: Dtype, O: Castable> Map2<A, B, O>
    for CombiningKinds<Op, P, L, R>
{
    /// Neither it nor [`Combining`] holds anything, so the loops of one serve the other.
    const ENTRY: Option<Entry> =
        if right_is_exact::<Op, P, L, R>() { None } else { binary_entry::<Op, P, O>(Arity::Two, [A::DTYPE, B::DTYPE]) };
    const VECTORS: VectorWidth = vectors::<Op, P>();
    #[inline(always)]
    fn call(self, a: A, b: B) -> O {
        if right_is_exact::<Op, P, L, R>() {
            Op::apply::<P>(operand::<Op, P, A>(a), b.cast()).cast()
        } else {
            Op::apply_to::<P, A, B>(a, b).cast()
        }
    }
}

/// Writes a kernel whose operand on one side is one value for all elements.
macro_rules! with_one_value {
    ($($(#[$doc:meta])* $name:ident $(as $operands:ident)? |$x:ident, $value:ident| $apply:expr;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        pub struct $name<Op: BinaryOp, P: Dtype>(pub ComputeOf<Op, P>);
        impl<Op: BinaryOp, P: Dtype> Clone for $name<Op, P> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<Op: BinaryOp, P: Dtype> Copy for $name<Op, P> {}
        impl<Op: BinaryOp, P: Dtype, A: Castable, O: Castable> Map1<A, O> for $name<Op, P> {
            $(const ENTRY: Option<Entry> = binary_entry::<Op, P, O>(Arity::$operands, [A::DTYPE; 2]);)?
            const VECTORS: VectorWidth = vectors::<Op, P>();
            #[inline(always)]
            fn call(self, element: A) -> O {
                let ($x, $value) = (operand::<Op, P, A>(element), self.0);
                $apply.cast()
            }
        }
    )*};
}
with_one_value! {
    /// An operation whose right operand is one tensor element for all elements.
    CombiningRight |x, value| Op::apply::<P>(x, value);
    /// An operation whose right operand is a scalar.
    CombiningScalar as Scalar |x, value| Op::apply_scalar::<P>(x, value);
    /// An operation whose left operand is one value for all elements.
    CombiningLeft |x, value| Op::apply::<P>(value, x);
}

/// A scalar divided by each element, as PyTorch computes it: the reciprocal, rounded to its dtype, times the scalar, in
/// the dtype `C`. Source: `torch/_tensor.py`, `__rtruediv__`.
pub struct DividingScalar<C: Dtype>(pub C::Compute);
impl<C: Dtype> Clone for DividingScalar<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Dtype> Copy for DividingScalar<C> {}
impl<C: Dtype, B: Dtype, O: Castable> Map1<B, O> for DividingScalar<C> {
    #[inline(always)]
    fn call(self, b: B) -> O {
        let reciprocal = <super::reciprocal as UnaryOp<B>>::apply(b);
        C::from_compute(reciprocal.cast::<C>().to_compute().binary::<super::mul>(self.0)).cast()
    }
}

/// The same value everywhere, whatever the element was.
#[derive(Clone, Copy)]
pub struct Constant<O>(pub O);
impl<A: Element, O: Element> Map1<A, O> for Constant<O> {
    #[inline(always)]
    fn call(self, _: A) -> O {
        self.0
    }
}

/// One of two elements by a condition, converted to `O`.
#[derive(Clone, Copy)]
pub struct Choosing;
impl<A: Castable, B: Castable, O: Castable> Map3<bool, A, B, O> for Choosing {
    #[inline(always)]
    fn call(self, condition: bool, a: A, b: B) -> O {
        if condition { a.cast() } else { b.cast() }
    }
}
/// One element or a fixed value by a condition.
#[derive(Clone, Copy)]
pub struct ChoosingRight<O>(pub O);
impl<A: Castable, O: Castable> Map2<bool, A, O> for ChoosingRight<O> {
    #[inline(always)]
    fn call(self, condition: bool, a: A) -> O {
        if condition { a.cast() } else { self.0 }
    }
}
/// A fixed value or one element by a condition.
#[derive(Clone, Copy)]
pub struct ChoosingLeft<O>(pub O);
impl<B: Castable, O: Castable> Map2<bool, B, O> for ChoosingLeft<O> {
    #[inline(always)]
    fn call(self, condition: bool, b: B) -> O {
        if condition { self.0 } else { b.cast() }
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
}

/// A function of a whole lane (the elements along one axis) that gives a lane of the same length.
pub trait LaneKernel<A, O>: Copy + Send + Sync {
    /// What it keeps from lane to lane, to use its memory again.
    type Scratch: Default;
    /// That, for lanes of so many elements.
    fn scratch(self, _len: usize) -> Result<Self::Scratch> {
        Ok(Self::Scratch::default())
    }
    /// Writes a lane as long as the one it reads. What it leaves unwritten holds elements of no particular value.
    fn lane(self, from: &[A], to: &mut [O], scratch: &mut Self::Scratch);
}

/// A function of a row (the last axis) and of up to two rows that all share: what the row is measured by, and each element by
/// that measure. It sees every element twice, while the row is in the cache.
pub trait RowKernel<A, O>: Copy + Send + Sync {
    /// What the elements of a row are computed with.
    type Measure: Copy;
    /// Measures a row of one element or more.
    fn measure(self, row: &[A]) -> Self::Measure;
    /// One element, beside those of the shared rows that are there.
    fn element(self, measure: Self::Measure, element: A, shared: [Option<A>; 2]) -> O;
}
