//! The operations of two operands: their markers, result dtypes and formulas.
//!
//! Both operands are converted to the promoted dtype first; a formula sees one dtype.

use super::table::binary_table;
use super::{Op, complex};
use crate::dtype::{Binary, Compare, Compute, Dtype, MachineFloat, MachineInt};
use num_complex::Complex;

/// An operation of two operands: from the promoted dtype the dtype it computes in and that of its result.
pub trait BinaryOp: Op {
    /// What the operation computes in.
    type Computes<Promoted: Dtype>: Dtype;
    /// The dtype of the result.
    type Output<Promoted: Dtype>: Dtype;
    /// Integer division by zero is looked for before the operation runs.
    const DIVIDES: bool = false;
    /// A scalar or zero-dim operand on the right keeps the precision the operation computes in, although it does
    /// not count in promotion (PyTorch: `opmath` in `BinaryOpsKernel.cpp`, for `mul` and the divisions).
    const RIGHT_SCALAR_IS_EXACT: bool = false;
    /// A scalar out of the range of a floating dtype is refused too, as in `full`.
    const CHECKS_FLOAT_SCALARS: bool = false;
    /// One element.
    #[doc(hidden)]
    fn apply<P: Dtype>(
        a: <Self::Computes<P> as Dtype>::Compute,
        b: <Self::Computes<P> as Dtype>::Compute,
    ) -> Self::Output<P>;
    /// One element, where `b` is a scalar.
    #[doc(hidden)]
    #[inline(always)]
    fn apply_scalar<P: Dtype>(
        a: <Self::Computes<P> as Dtype>::Compute,
        b: <Self::Computes<P> as Dtype>::Compute,
    ) -> Self::Output<P> {
        Self::apply::<P>(a, b)
    }
}

/// For `div […] any inexact any` it writes the marker `div` and
/// `impl BinaryOp for div { type Output<P: Dtype> = P::Inexact; … }`.
macro_rules! binary_ops {
    ($($op:ident [$($method:ident)*] $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {$(
        #[doc = concat!("The operation `", stringify!($op), "`: ", $doc)]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $op {}
        impl Op for $op {
            const NAME: &'static str = stringify!($op);
        }
        impl BinaryOp for $op {
            binary_ops!(@$result $op);
            const DIVIDES: bool = <$op as Traits>::DIVIDES;
            const RIGHT_SCALAR_IS_EXACT: bool = <$op as Traits>::RIGHT_SCALAR_IS_EXACT;
            const CHECKS_FLOAT_SCALARS: bool = <$op as Traits>::CHECKS_FLOAT_SCALARS;
        }
    )*};
    (@same $op:ident) => {
        type Computes<P: Dtype> = P;
        type Output<P: Dtype> = P;
        #[inline(always)]
        fn apply<P: Dtype>(a: P::Compute, b: P::Compute) -> P {
            P::from_compute(a.binary::<$op>(b))
        }
        #[inline(always)]
        fn apply_scalar<P: Dtype>(a: P::Compute, b: P::Compute) -> P {
            P::from_compute(a.binary_by_scalar::<$op>(b))
        }
    };
    (@inexact $op:ident) => {
        type Computes<P: Dtype> = P::Inexact;
        type Output<P: Dtype> = P::Inexact;
        #[inline(always)]
        fn apply<P: Dtype>(a: <P::Inexact as Dtype>::Compute, b: <P::Inexact as Dtype>::Compute) -> P::Inexact {
            <P::Inexact>::from_compute(a.binary::<$op>(b))
        }
    };
    (@boolean $op:ident) => {
        type Computes<P: Dtype> = P;
        type Output<P: Dtype> = bool;
        #[inline(always)]
        fn apply<P: Dtype>(a: P::Compute, b: P::Compute) -> bool {
            a.compare::<$op>(b)
        }
    };
}
binary_table!(binary_ops);

/// What sets an operation apart besides its formula.
trait Traits {
    const DIVIDES: bool = false;
    const RIGHT_SCALAR_IS_EXACT: bool = false;
    const CHECKS_FLOAT_SCALARS: bool = false;
}
impl Traits for mul {
    const RIGHT_SCALAR_IS_EXACT: bool = true;
}
impl Traits for div {
    const RIGHT_SCALAR_IS_EXACT: bool = true;
}
impl Traits for floor_divide {
    const DIVIDES: bool = true;
    const RIGHT_SCALAR_IS_EXACT: bool = true;
}
impl Traits for trunc_divide {
    const DIVIDES: bool = true;
    const RIGHT_SCALAR_IS_EXACT: bool = true;
}
impl Traits for remainder {
    const DIVIDES: bool = true;
}
impl Traits for fmod {
    const DIVIDES: bool = true;
}
impl Traits for clamp_min {
    const CHECKS_FLOAT_SCALARS: bool = true;
}
impl Traits for clamp_max {
    const CHECKS_FLOAT_SCALARS: bool = true;
}
macro_rules! plain {
    ($($op:ident)*) => {$(impl Traits for $op {})*};
}
plain!(add sub pow maximum minimum bitwise_and bitwise_or bitwise_xor);
plain!(bitwise_left_shift bitwise_right_shift eq ne lt le gt ge logical_and logical_or logical_xor);

/// PyTorch adds and subtracts `alpha * b` with `alpha = 1`, also for complex numbers, where an infinite or NaN part spoils
/// the other (`torch.add(0, inf + 1j)` is `inf + nanj`). Source: `aten/src/ATen/native/BinaryOps.cpp`, `add`.
#[inline(always)]
fn scaled_by_one<T: MachineFloat>(b: Complex<T>) -> Complex<T> {
    Complex::new(b.re - b.im * T::zero(), b.re * T::zero() + b.im)
}

impl Binary for add {
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
        a + scaled_by_one(b)
    }
}

impl Binary for sub {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_sub(&b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a - b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        a - scaled_by_one(b)
    }
}

impl Binary for mul {
    #[inline(always)]
    fn boolean(a: bool, b: bool) -> bool {
        a & b
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_mul(&b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a * b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re)
    }
}

impl Binary for div {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a / b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        complex::quotient(a, b)
    }
}

/// Division by an integer zero is an error found before the operation runs; a kernel that meets one all the same
/// (a concurrent writer cannot exist) gives zero rather than trapping.
#[inline(always)]
fn guarded<T: MachineInt>(b: T, f: impl FnOnce(T) -> T) -> T {
    if b == T::zero() { T::zero() } else { f(b) }
}

impl Binary for floor_divide {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        guarded(b, |b| {
            let quotient = a.wrapping_quotient(b);
            let inexact = a.wrapping_remainder(b) != T::zero();
            if inexact && ((a < T::zero()) != (b < T::zero())) { quotient.wrapping_sub(&T::one()) } else { quotient }
        })
    }
    /// Source: `c10/util/generic_math.h`, `div_floor_floating` (Python's float floor division).
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        if b == T::zero() {
            return a / b;
        }
        let modulus = a % b;
        let mut quotient = (a - modulus) / b;
        if modulus != T::zero() && ((b < T::zero()) != (modulus < T::zero())) {
            quotient = quotient - T::one();
        }
        if quotient == T::zero() {
            return T::zero().copysign(a / b);
        }
        let floor = quotient.floor();
        if quotient - floor > T::lit(0.5) { floor + T::one() } else { floor }
    }
}

impl Binary for trunc_divide {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        guarded(b, |b| a.wrapping_quotient(b))
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        (a / b).trunc()
    }
}

impl Binary for remainder {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        guarded(b, |b| {
            let left = a.wrapping_remainder(b);
            if left != T::zero() && ((left < T::zero()) != (b < T::zero())) { left.wrapping_add(&b) } else { left }
        })
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        let left = a % b;
        if left != T::zero() && ((b < T::zero()) != (left < T::zero())) { left + b } else { left }
    }
}

impl Binary for fmod {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        guarded(b, |b| a.wrapping_remainder(b))
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a % b
    }
}

/// The scalar exponents that PyTorch computes without a power function, which differ from it at infinities and zeros.
/// Source: `aten/src/ATen/native/cpu/PowKernel.cpp`, `pow_tensor_scalar_optimized_kernel`; `Pow.cpp` for 0 and 1.
#[inline(always)]
fn power_by_scalar<V: Copy + core::ops::Mul<Output = V> + num_traits::One, T: MachineFloat>(
    a: V,
    exponent: T,
    squared: impl Fn() -> V,
    reciprocal: impl Fn(V) -> V,
    sqrt: impl Fn(V) -> V,
) -> Option<V> {
    let is = |value: f64| exponent == T::lit(value);
    Some(if is(0.0) {
        V::one()
    } else if is(1.0) {
        a
    } else if is(2.0) {
        squared()
    } else if is(3.0) {
        squared() * a
    } else if is(0.5) {
        sqrt(a)
    } else if is(-0.5) {
        reciprocal(sqrt(a))
    } else if is(-1.0) {
        reciprocal(a)
    } else if is(-2.0) {
        reciprocal(squared())
    } else {
        return None;
    })
}

impl Binary for pow {
    /// As for integers: anything to the power 0 is 1.
    #[inline(always)]
    fn boolean(a: bool, b: bool) -> bool {
        a | !b
    }
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_power(b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a.powf(b)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        complex::pow(a, b)
    }
    #[inline(always)]
    fn real_by_scalar<T: MachineFloat>(a: T, b: T) -> T {
        power_by_scalar(a, b, || a * a, |x| T::one() / x, |x| x.sqrt()).unwrap_or_else(|| a.powf(b))
    }
    #[inline(always)]
    fn complex_by_scalar<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        let squared = || <mul as Binary>::complex(a, a);
        let shortcut = if b.im == T::zero() {
            power_by_scalar(a, b.re, squared, complex::reciprocal, complex::sqrt)
        } else {
            None
        };
        shortcut.unwrap_or_else(|| complex::pow(a, b))
    }
}

/// The larger or smaller of two, NaN if either is.
macro_rules! extremes {
    ($($op:ident: $first:tt $bool:tt;)*) => {$(
        impl Binary for $op {
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $bool b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> T {
                if a $first b { a } else { b }
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> T {
                if a $first b || a.is_nan() { a } else { b }
            }
        }
    )*};
}
extremes! {
    maximum: > |;
    minimum: < &;
    clamp_min: > |;
    clamp_max: < &;
}

macro_rules! bitwise {
    ($($op:ident: $sign:tt;)*) => {$(
        impl Binary for $op {
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> T {
                a $sign b
            }
        }
    )*};
}
bitwise! {
    bitwise_and: &;
    bitwise_or: |;
    bitwise_xor: ^;
}

impl Binary for bitwise_left_shift {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.shift_left(b)
    }
}

impl Binary for bitwise_right_shift {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.shift_right(b)
    }
}

macro_rules! comparisons {
    ($($op:ident: $sign:tt $($complex:ident)?;)*) => {$(
        impl Compare for $op {
            // `!a & b` is `a < b` on bools, but says less.
            #[allow(clippy::bool_comparison)]
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> bool {
                a $sign b
            }
            $(
                #[inline(always)]
                fn $complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> bool {
                    a $sign b
                }
            )?
        }
    )*};
}
comparisons! {
    eq: == complex;
    ne: != complex;
    lt: <;
    le: <=;
    gt: >;
    ge: >=;
}

macro_rules! logical {
    ($($op:ident: $sign:tt;)*) => {$(
        impl Compare for $op {
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $sign b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> bool {
                (a != T::zero()) $sign (b != T::zero())
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> bool {
                (a != T::zero()) $sign (b != T::zero())
            }
            #[inline(always)]
            fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> bool {
                (a != Complex::default()) $sign (b != Complex::default())
            }
        }
    )*};
}
logical! {
    logical_and: &;
    logical_or: |;
    logical_xor: ^;
}
