//! The kernels of binary operations: of two elements, of an element and a value. Re-exported by `kernel`.

use super::BinaryOp;
use super::UnaryOp;
use super::kernel::{Arity, Constants, Entry, Map1, Map2, Over, Slope, VectorWidth};
use crate::dtype::scalar::{Kind, KindRank};
use crate::dtype::{Castable, Compute as _, DType, Dtype, Element};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::slope::{Derivable, Derived, Merging, Simple};
use core::marker::PhantomData;

/// The compute type of `Op` for operands that promote to `P`.
pub type ComputeOf<Op, P> = <<Op as BinaryOp>::Computes<P> as Dtype>::Compute;

/// An element converted to the dtype `Op` computes in, then to its compute type.
#[inline(always)]
pub fn operand<Op: BinaryOp, P: Dtype, A: Castable>(a: A) -> ComputeOf<Op, P> {
    a.cast::<Op::Computes<P>>().to_compute()
}

/// The same as GPU text.
pub(super) fn operand_text<Op: BinaryOp, P: Dtype>(kernel: &mut Kernel, a: Value) -> Value {
    kernel.operand(a, <Op::Computes<P> as Element>::DTYPE)
}

/// The entry of `Op`, if the operands have the dtype they promote to.
const fn binary_entry<Op: BinaryOp, P: Dtype, O: Castable>(operands: Arity, dtypes: [DType; 2]) -> Option<Entry> {
    let result = (<Op::Output<P> as Element>::DTYPE, O::DTYPE);
    Entry::of(Op::ROW, P::DTYPE, operands, &[(P::DTYPE, dtypes[0]), (P::DTYPE, dtypes[1]), result])
}

/// A binary operation on dtypes that promote to `P`; the result is converted to the output's dtype.
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
    const SLOPE: Slope = slope::<Op, P>(0);
    const MERGING: Merging = match <Op::Derived as Derivable>::SIMPLE {
        Simple::Sum => Merging::Add,
        Simple::Product => Merging::Multiply,
        Simple::Difference | Simple::Flat | Simple::No => Merging::Missing,
    };
    const ENTRY: Option<Entry> = binary_entry::<Op, P, O>(Arity::Two, [A::DTYPE, B::DTYPE]);
    const HAS_FAST_PATH: bool = fast::<P>(Op::HAS_FAST_PATH);
    const VECTORS: VectorWidth = vectors::<Op, P>();
    const IS_BRIEF: bool = is_brief::<Op, P, O>([A::DTYPE, B::DTYPE]);
    #[inline(always)]
    fn call(self, a: A, b: B) -> O {
        Op::apply_to::<P, A, B>(a, b).cast()
    }
    #[inline(always)]
    fn takes_fast_path(self, a: A, b: B) -> bool {
        Op::takes_fast_path::<P>(operand::<Op, P, A>(a), operand::<Op, P, B>(b))
    }
    #[inline(always)]
    fn fast_path(self, a: A, b: B) -> O {
        Op::fast_path::<P>(operand::<Op, P, A>(a), operand::<Op, P, B>(b)).cast()
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let result = Op::text_of::<P, A, B>(kernel, a, b);
        kernel.cast(result, O::DTYPE)
    }
}

/// The derivative of `Op`: of both operands (0), of the left one beside a value (1), of the right one beside a value (2).
const fn slope<Op: BinaryOp, P: Dtype>(form: usize) -> Slope {
    match form {
        0 => Derived::<Op::Derived, Op::Computes<P>>::SLOPE,
        1 => Derived::<Op::Derived, Op::Computes<P>>::BESIDE_RIGHT,
        _ => Derived::<Op::Derived, Op::Computes<P>>::BESIDE_LEFT,
    }
}

/// Whether elements have a fast path: only floating dtypes may.
const fn fast<P: Dtype>(has: bool) -> bool {
    has && matches!(P::DTYPE, DType::F16 | DType::BF16 | DType::F32 | DType::F64)
}

/// Whether `Op` is one or two machine instructions for elements of these dtypes.
const fn is_brief<Op: BinaryOp, P: Dtype, O: Castable>(dtypes: [DType; 2]) -> bool {
    Op::SPECIALS.is_brief
        && binary_entry::<Op, P, O>(Arity::Two, dtypes).is_some()
        && matches!(P::DTYPE, DType::F32 | DType::F64 | DType::I32 | DType::I64)
}

/// The vector width worth compiling loops of `Op` over `P` for.
const fn vectors<Op: BinaryOp, P: Dtype>() -> VectorWidth {
    // Integers of up to 32 bits are divided as floats in vectors; there is no vector instruction for 64 bits.
    if Op::DIVIDES && matches!(P::DTYPE, DType::I64) {
        VectorWidth::None
    } else if (Op::DIVIDES && matches!(P::DTYPE, DType::I32))
        || matches!(P::DTYPE, DType::U8 | DType::I8 | DType::I16)
        || matches!(<Op::Output<P> as Element>::DTYPE, DType::Bool)
    {
        VectorWidth::Narrow
    } else {
        VectorWidth::Wide
    }
}

/// Whether a right operand of kind `R` with a left one of kind `L` keeps the precision of the compute type: it does not take part in
/// promotion, and `Op` asks for it.
#[inline(always)]
pub(crate) const fn right_is_exact<Op: BinaryOp, P: Dtype, L: Kind, R: Kind>() -> bool {
    const {
        Op::RIGHT_SCALAR_IS_EXACT
            && !P::DTYPE.is_complex()
            && matches!(R::RANK, KindRank::Scalar | KindRank::ZeroDim)
            && matches!(L::RANK, KindRank::Dimensioned)
    }
}

/// A binary operation on operands of kinds `L` and `R`, the second of which may keep the compute type's precision.
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
impl<Op: BinaryOp, P: Dtype, L: Kind, R: Kind> CombiningKinds<Op, P, L, R> {
    /// The right operand in the compute type.
    #[inline(always)]
    fn right<B: Dtype>(self, b: B) -> ComputeOf<Op, P> {
        if right_is_exact::<Op, P, L, R>() { b.cast() } else { operand::<Op, P, B>(b) }
    }
}
impl<Op: BinaryOp, P: Dtype, L: Kind, R: Kind, A: Dtype, B: Dtype, O: Castable> Map2<A, B, O>
    for CombiningKinds<Op, P, L, R>
{
    const SLOPE: Slope = slope::<Op, P>(0);
    /// This and [`Combining`] are zero-sized, so they share their loops.
    const ENTRY: Option<Entry> =
        if right_is_exact::<Op, P, L, R>() { None } else { binary_entry::<Op, P, O>(Arity::Two, [A::DTYPE, B::DTYPE]) };
    const HAS_FAST_PATH: bool = fast::<P>(Op::HAS_FAST_PATH);
    const VECTORS: VectorWidth = vectors::<Op, P>();
    #[inline(always)]
    fn call(self, a: A, b: B) -> O {
        if right_is_exact::<Op, P, L, R>() {
            Op::apply::<P>(operand::<Op, P, A>(a), b.cast()).cast()
        } else {
            Op::apply_to::<P, A, B>(a, b).cast()
        }
    }
    #[inline(always)]
    fn takes_fast_path(self, a: A, b: B) -> bool {
        Op::takes_fast_path::<P>(operand::<Op, P, A>(a), self.right(b))
    }
    #[inline(always)]
    fn fast_path(self, a: A, b: B) -> O {
        Op::fast_path::<P>(operand::<Op, P, A>(a), self.right(b)).cast()
    }
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
    ($($(#[$doc:meta])* $name:ident $(as $operands:ident)? |$x:ident, $value:ident| $apply:expr, fast $has:ident $takes:ident $fast:ident, [$($side:ident),*] $by_scalar:literal slope $slope:literal;)*) => {$(
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
            const SLOPE: Slope = slope::<Op, P>($slope);
            fn constants(self) -> Constants {
                [self.0.cast(), Default::default(), Default::default()]
            }
            $(const ENTRY: Option<Entry> = binary_entry::<Op, P, O>(Arity::$operands, [A::DTYPE; 2]);)?
            const HAS_FAST_PATH: bool = fast::<P>(Op::$has);
            const VECTORS: VectorWidth = vectors::<Op, P>();
            const IS_BRIEF: bool = is_brief::<Op, P, O>([A::DTYPE; 2]);
            #[inline(always)]
            fn call(self, element: A) -> O {
                let ($x, $value) = (operand::<Op, P, A>(element), self.0);
                $apply.cast()
            }
            #[inline(always)]
            fn takes_fast_path(self, element: A) -> bool {
                let ($x, $value) = (operand::<Op, P, A>(element), self.0);
                Op::$takes::<P>($($side),*)
            }
            #[inline(always)]
            fn fast_path(self, element: A) -> O {
                let ($x, $value) = (operand::<Op, P, A>(element), self.0);
                Op::$fast::<P>($($side),*).cast()
            }
            fn text(&self, kernel: &mut Kernel, element: Value) -> Value {
                let ($x, $value) = (operand_text::<Op, P>(kernel, element), kernel.parameter(self.0));
                let result = Op::text::<P>(kernel, [$($side),*], $by_scalar);
                kernel.cast(result, O::DTYPE)
            }
        }
    )*};
}
with_one_value! {
    /// The right operand is a one-element tensor.
    CombiningRight |x, value| Op::apply::<P>(x, value), fast HAS_FAST_PATH takes_fast_path fast_path, [x, value] false slope 1;
    /// The right operand is a scalar.
    CombiningScalar as Scalar |x, value| Op::apply_scalar::<P>(x, value), fast SCALAR_HAS_FAST_PATH takes_fast_path_by_scalar fast_path_by_scalar, [x, value] true slope 1;
    /// The left operand is a single value.
    CombiningLeft |x, value| Op::apply::<P>(value, x), fast HAS_FAST_PATH takes_fast_path fast_path, [value, x] false slope 2;
}

/// A scalar divided by each element, computed like PyTorch: the reciprocal, rounded to its dtype, times the scalar, in the dtype `C`.
/// Source:
/// `torch/_tensor.py`, `__rtruediv__`.
pub struct DividingScalar<C: Dtype>(pub C::Compute);
impl<C: Dtype> Clone for DividingScalar<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Dtype> Copy for DividingScalar<C> {}
impl<C: Dtype, B: Dtype, O: Castable> Map1<B, O> for DividingScalar<C> {
    const SLOPE: Slope = slope::<super::div, C>(2);
    fn constants(self) -> Constants {
        [self.0.cast(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, b: B) -> O {
        let reciprocal = <super::reciprocal as UnaryOp<B>>::apply(b);
        C::from_compute(reciprocal.cast::<C>().to_compute().binary::<super::mul>(self.0)).cast()
    }
    fn text(&self, kernel: &mut Kernel, b: Value) -> Value {
        let reciprocal = kernel.apply(<super::reciprocal as super::Op>::NAME, b);
        let (reciprocal, scalar) = (kernel.operand(reciprocal, C::DTYPE), kernel.parameter(self.0));
        let product = kernel.row("mul", C::DTYPE, &[reciprocal, scalar]);
        let rounded = kernel.cast(product, C::DTYPE);
        kernel.cast(rounded, O::DTYPE)
    }
}
