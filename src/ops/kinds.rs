//! Which numbers a formula is of, and which of its operands and results are masks.

use super::number::{Mask, Number};
use super::results::Results;
use crate::dtype::numbers::{MachineBits, MachineComplex, MachineElement, MachineInexact, MachineNumber, MachineReal};
use crate::dtype::{Bits, ComplexFloat, Dtype, Float, Inexact, Integer, MachineFloat, MachineInt, Numeric, Real};
use crate::sealed::Sealed;
#[cfg(feature = "any")]
use crate::{dtype::DType, error::Result};
use core::marker::PhantomData;

/// A set of dtypes that a formula is of.
pub trait NumberSet: Sealed + 'static {
    /// Its dtypes in words.
    #[doc(hidden)]
    const WORDS: &'static str;
    /// Does something with the type of a dtype, which is to be in the set.
    #[doc(hidden)]
    #[cfg(feature = "any")]
    fn visit<V: SetVisitor>(op: &'static str, dtype: DType, visitor: V) -> Result<V::Output>;
}
/// What is done with a dtype of a set.
#[cfg(feature = "any")]
#[doc(hidden)]
pub trait SetVisitor {
    type Output;
    fn visit<P: Dtype>(self) -> Result<Self::Output>;
}
/// The dtypes of a set, and the machine numbers that stand for them.
#[doc(hidden)]
pub trait Among<Set> {}

macro_rules! sets {
    ($($name:ident $trait:ident $machine:ident $words:literal $doc:literal;)*) => {$(
        #[doc = $doc]
        pub struct $name;
        impl crate::sealed::Sealed for $name {}
        impl NumberSet for $name {
            const WORDS: &'static str = $words;
            #[cfg(feature = "any")]
            fn visit<V: SetVisitor>(op: &'static str, dtype: DType, visitor: V) -> Result<V::Output> {
                $crate::__dtypes!($trait {$crate::__among} (op, dtype, P => visitor.visit::<P>()))
            }
        }
        impl<E: $trait> Among<$name> for E {}
        impl<T: $machine> Among<$name> for Number<T> {}
    )*};
}
sets! {
    Floats Float MachineFloat "float" "A formula of floating-point numbers.";
    Integers Integer MachineInt "integer" "A formula of integers.";
    Reals Real MachineReal "real" "A formula of integers and floating-point numbers.";
    Complexes ComplexFloat MachineComplex "complex" "A formula of complex numbers.";
    Inexacts Inexact MachineInexact "inexact" "A formula of floating-point and complex numbers.";
    Numbers Numeric MachineNumber "numeric" "A formula of all numbers.";
    BitsAndBools Bits MachineBits "bits" "A formula of integers and bools.";
}

/// The set of dtypes, which operands are masks, and whether the result is.
pub trait Kinds: Sealed + 'static {
    #[doc(hidden)]
    type Set: NumberSet;
    #[doc(hidden)]
    type At0: Place;
    #[doc(hidden)]
    type At1: Place;
    #[doc(hidden)]
    type At2: Place;
    #[doc(hidden)]
    type At3: Place;
    #[doc(hidden)]
    type At4: Place;
    #[doc(hidden)]
    type At5: Place;
    #[doc(hidden)]
    type Gives: Gives;
    /// Which operands are masks.
    #[doc(hidden)]
    const MASKS: [bool; 6] = [
        Self::At0::IS_MASK,
        Self::At1::IS_MASK,
        Self::At2::IS_MASK,
        Self::At3::IS_MASK,
        Self::At4::IS_MASK,
        Self::At5::IS_MASK,
    ];
}
/// All operands and results are numbers.
pub struct Plain<S = Floats>(PhantomData<fn() -> S>);
impl<S> Sealed for Plain<S> {}
impl<S: NumberSet> Kinds for Plain<S> {
    type Set = S;
    type At0 = ANumber;
    type At1 = ANumber;
    type At2 = ANumber;
    type At3 = ANumber;
    type At4 = ANumber;
    type At5 = ANumber;
    type Gives = ANumber;
}
/// Some are masks: `Of` is the list of six operands and the result.
pub struct WithMasks<S, Of>(PhantomData<fn() -> (S, Of)>);
impl<S, Of> Sealed for WithMasks<S, Of> {}
impl<S: NumberSet, A: Place, B: Place, C: Place, D: Place, E: Place, F: Place, R: Gives> Kinds
    for WithMasks<S, (A, B, C, D, E, F, R)>
{
    type Set = S;
    type At0 = A;
    type At1 = B;
    type At2 = C;
    type At3 = D;
    type At4 = E;
    type At5 = F;
    type Gives = R;
}

/// A number.
pub struct ANumber;
/// A mask.
pub struct AMask;
/// A kind of operand.
#[doc(hidden)]
pub trait Place: Sealed + 'static {
    const IS_MASK: bool;
}
impl Sealed for ANumber {}
impl Sealed for AMask {}
impl Place for ANumber {
    const IS_MASK: bool = false;
}
impl Place for AMask {
    const IS_MASK: bool = true;
}
/// A kind of operand that elements of a dtype are.
#[doc(hidden)]
pub trait Holds<E> {}
impl<E: Dtype> Holds<E> for ANumber {}
impl Holds<bool> for AMask {}

/// A kind of result.
#[doc(hidden)]
pub trait Gives: 'static {
    /// The dtype of the result, where it is computed in `P`.
    type Elem<P: Dtype>: Dtype;
    /// What another formula is given.
    type Called<R: Results, T: MachineElement>;
    fn called<R: Results, T: MachineElement>(all: R::Of<Number<T>>) -> Self::Called<R, T>;
}
impl Gives for ANumber {
    type Elem<P: Dtype> = P;
    type Called<R: Results, T: MachineElement> = R::Of<Number<T>>;
    #[inline(always)]
    fn called<R: Results, T: MachineElement>(all: R::Of<Number<T>>) -> R::Of<Number<T>> {
        all
    }
}
impl Gives for AMask {
    type Elem<P: Dtype> = bool;
    type Called<R: Results, T: MachineElement> = Mask<T>;
    #[inline(always)]
    fn called<R: Results, T: MachineElement>(all: R::Of<Number<T>>) -> Mask<T> {
        super::number::mask(R::pick(all, 0))
    }
}
