//! Kernels: what a device runs at every element. A kernel is a small value, mostly of no size, with a function; the
//! device supplies the loop.
//!
//! Uses the operations; used by devices, which run kernels, and by `tensor` and `any`, which choose them.

pub use super::chosen::{Choosing, ChoosingBoth, ChoosingLeft, ChoosingRight, FillWith};
use super::{BinaryOp, TunedOp, UnaryOp};
use crate::dtype::scalar::{Kind, KindRank};
use crate::dtype::{Castable, Compute as _, DType, Dtype, Element, Parameters};
use crate::error::Result;
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::{
    Unreadable,
    kernel::{Kernel, Value},
    lane::LaneText,
    reduce::Written,
    row::RowText,
};
use core::marker::PhantomData;

/// A row of the tables, with all operands of one dtype. Devices may have a compiled loop for it.
#[derive(Clone, Copy)]
pub struct Entry {
    /// The number of the row in its table.
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
pub trait Map1<A, O>: Copy + Send + Sync + 'static {
    /// Its entry in the tables, if it has one.
    const ENTRY: Option<Entry> = None;
    /// Whether it only moves elements: both types are the same, and the value is unchanged.
    const MOVES: bool = false;
    /// Whether there is a vectorised fast path. Loops check a block of elements before they take it.
    const HAS_FAST_PATH: bool = false;
    /// Whether it is bound by computation, not by memory.
    const IS_COMPUTE_BOUND: bool = false;
    /// Whether devices may use lookup tables, which changes the last digits.
    const BY_LOOKUP: bool = false;
    /// The widest vectors worth compiling its loops for.
    const VECTORS: VectorWidth = VectorWidth::Wide;
    /// One element.
    fn call(self, a: A) -> O;
    /// The same as text.
    #[cfg(any(test, feature = "cuda"))]
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

/// How much a loop gains from vectors. Each instruction set is one more copy of the loop to compile, so only those
/// that pay off are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VectorWidth {
    /// Nothing: there are no such instructions (integer division), or elements are not contiguous (scatter).
    None,
    /// By 32-byte vectors; wider ones would wait for memory.
    Narrow,
    /// By the widest vectors: it is bound by computation, or its data is in a cache.
    Wide,
}

/// A function of two elements.
pub trait Map2<A, B, O>: Copy + Send + Sync + 'static {
    /// Its entry in the tables, if it has one.
    const ENTRY: Option<Entry> = None;
    /// The widest vectors worth compiling its loops for.
    const VECTORS: VectorWidth = VectorWidth::Wide;
    /// One element.
    fn call(self, a: A, b: B) -> O;
    /// The same as text.
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value;
}

/// A function of three elements.
pub trait Map3<A, B, C, O>: Copy + Send + Sync + 'static {
    /// One element.
    fn call(self, a: A, b: B, c: C) -> O;
    /// The same as text.
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value, c: Value) -> Value;
}

/// A marker for type parameters that do not affect `Send` and `Sync`.
type Over<T> = PhantomData<fn() -> T>;

/// The identity.
#[derive(Clone, Copy)]
pub struct Copying;
impl<A: Element> Map1<A, A> for Copying {
    const MOVES: bool = true;
    #[inline(always)]
    fn call(self, a: A) -> A {
        a
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, _: &mut Kernel, a: Value) -> Value {
        a
    }
}

/// Conversion to another dtype.
#[derive(Clone, Copy)]
pub struct Casting;
impl<A: crate::dtype::CastTo<O>, O: Element> Map1<A, O> for Casting {
    const ENTRY: Option<Entry> = Some(Entry { row: O::DTYPE as usize, dtype: A::DTYPE, operands: Arity::Converted });
    /// Shell dtypes are only stored, not computed with.
    const VECTORS: VectorWidth =
        if A::DTYPE.is_shell() || O::DTYPE.is_shell() { VectorWidth::Narrow } else { VectorWidth::Wide };
    #[inline(always)]
    fn call(self, a: A) -> O {
        a.cast_to()
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        kernel.cast(a, O::DTYPE)
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
    #[cfg(any(test, feature = "cuda"))]
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
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let parameters = self.0.map(|parameter| kernel.parameter(parameter));
        let result = kernel.tune(Op::NAME, <Op::Output as Element>::DTYPE, a, parameters);
        kernel.cast(result, O::DTYPE)
    }
}

/// The accumulate type of `Op` for operands that promote to `P`.
pub type ComputeOf<Op, P> = <<Op as BinaryOp>::Computes<P> as Dtype>::Compute;

/// An element converted to the dtype `Op` computes in, then to its accumulate type.
#[inline(always)]
pub fn operand<Op: BinaryOp, P: Dtype, A: Castable>(a: A) -> ComputeOf<Op, P> {
    a.cast::<Op::Computes<P>>().to_compute()
}

/// The same as text.
#[cfg(any(test, feature = "cuda"))]
pub(super) fn operand_text<Op: BinaryOp, P: Dtype>(kernel: &mut Kernel, a: Value) -> Value {
    kernel.operand(a, <Op::Computes<P> as Element>::DTYPE)
}

/// The entry of `Op`, if the operands have the dtype they promote to.
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
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let result = Op::text_of::<P, A, B>(kernel, a, b);
        kernel.cast(result, O::DTYPE)
    }
}

/// The vectors worth compiling loops of `Op` over `P` for.
const fn vectors<Op: BinaryOp, P: Dtype>() -> VectorWidth {
    // Integers of 32 bits and less are divided as floats, which vectors hold; no instruction divides several of 64 bits.
    let is_float = matches!(P::DTYPE, DType::F16 | DType::BF16 | DType::F32 | DType::F64);
    if (Op::CALLS_FMOD && is_float) || (Op::DIVIDES && matches!(P::DTYPE, DType::I64)) {
        VectorWidth::None
    } else if (Op::DIVIDES && matches!(P::DTYPE, DType::I32))
        || matches!(<Op::Output<P> as Element>::DTYPE, DType::Bool)
    {
        VectorWidth::Narrow
    } else {
        VectorWidth::Wide
    }
}

/// Whether a right operand of kind `R` beside a left one of kind `L` keeps the precision of the accumulate type: it
/// does not count in promotion, and `Op` asks for it.
#[inline(always)]
pub(crate) const fn right_is_exact<Op: BinaryOp, P: Dtype, L: Kind, R: Kind>() -> bool {
    const {
        Op::RIGHT_SCALAR_IS_EXACT
            && !P::DTYPE.is_complex()
            && matches!(R::RANK, KindRank::Scalar | KindRank::ZeroDim)
            && matches!(L::RANK, KindRank::Dimensioned)
    }
}

/// An operation of two operands of kinds `L` and `R`, the second of which may keep the accumulate type's precision.
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
    /// It and [`Combining`] are zero-sized, so they share their loops.
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
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let result = if right_is_exact::<Op, P, L, R>() {
            let a = operand_text::<Op, P>(kernel, a);
            let b = kernel.cast(b, <ComputeOf<Op, P> as Element>::DTYPE);
            Op::text::<P>(kernel, [a, b], false)
        } else {
            Op::text_of::<P, A, B>(kernel, a, b)
        };
        kernel.cast(result, O::DTYPE)
    }
}

/// Writes a kernel with a constant operand on one side.
macro_rules! with_one_value {
    ($($(#[$doc:meta])* $name:ident $(as $operands:ident)? |$x:ident, $value:ident| $apply:expr, [$($side:ident),*] $by_scalar:literal;)*) => {$(
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
            #[cfg(any(test, feature = "cuda"))]
            fn text(&self, kernel: &mut Kernel, element: Value) -> Value {
                let ($x, $value) = (operand_text::<Op, P>(kernel, element), kernel.parameter(self.0));
                let result = Op::text::<P>(kernel, [$($side),*], $by_scalar);
                kernel.cast(result, O::DTYPE)
            }
        }
    )*};
}
with_one_value! {
    /// An operation whose right operand is a tensor's only element.
    CombiningRight |x, value| Op::apply::<P>(x, value), [x, value] false;
    /// An operation whose right operand is a scalar.
    CombiningScalar as Scalar |x, value| Op::apply_scalar::<P>(x, value), [x, value] true;
    /// An operation whose left operand is a single value.
    CombiningLeft |x, value| Op::apply::<P>(value, x), [value, x] false;
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
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, b: Value) -> Value {
        let reciprocal = kernel.apply(<super::reciprocal as super::Op>::NAME, b);
        let (reciprocal, scalar) = (kernel.operand(reciprocal, C::DTYPE), kernel.parameter(self.0));
        let product = kernel.row("mul", C::DTYPE, &[reciprocal, scalar]);
        let rounded = kernel.cast(product, C::DTYPE);
        kernel.cast(rounded, O::DTYPE)
    }
}

/// A function of a whole lane (the elements along one axis) whose result is a lane of the same length.
pub trait LaneKernel<A, O>: Copy + Send + Sync + 'static {
    /// Scratch memory, reused from lane to lane.
    type Scratch: Default;
    /// Scratch memory for lanes of so many elements.
    fn scratch(self, _len: usize) -> Result<Self::Scratch> {
        Ok(Self::Scratch::default())
    }
    /// Computes a lane. `to` is as long as `from`; what is not written keeps unspecified elements.
    fn lane(self, from: &[A], to: &mut [O], scratch: &mut Self::Scratch);
    /// Its steps as text, which a device compiles.
    #[cfg(any(test, feature = "cuda"))]
    fn text(self) -> Written<LaneText> {
        Err(Unreadable::Kernel("this function of a lane has no text; use the CPU"))
    }
}

/// A function of a row (the last axis) in two passes, one to measure it and one to compute its elements, while the
/// row is in the cache; with up to two rows of parameters that all rows share.
pub trait RowKernel<A, O>: Copy + Send + Sync + 'static {
    /// What the first pass computes.
    type Measure: Copy;
    /// The first pass; the row is not empty.
    fn measure(self, row: &[A]) -> Self::Measure;
    /// The second pass: one element, with those of the shared rows.
    fn element(self, measure: Self::Measure, element: A, shared: [Option<A>; 2]) -> O;
    /// Its steps as text, which a device compiles.
    #[cfg(any(test, feature = "cuda"))]
    fn text(self) -> Written<RowText> {
        Err(Unreadable::Kernel("this function of a row has no text; use the CPU"))
    }
    /// Its run-time value, if it has one, which the text takes as an argument.
    #[cfg(any(test, feature = "cuda"))]
    fn given(self) -> Vec<f64> {
        Vec::new()
    }
}
