//! Formulas of sums, products, quotients, powers and extremes.

use super::super::complex;
use super::*;
use crate::dtype::math;
use crate::dtype::{MachineFloat, MachineInt};
use crate::ops::slope::{Merging, Simple};
use num_complex::Complex;

/// The rows of arithmetic in the table of binary operations.
macro_rules! arithmetic_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            add { any same any,
                "The sum. Integers wrap; on bools it is `or`.", "torch.add",
                "tensor![1.0, 2.0]" "tensor![0.5, 0.5]" = "[1.5, 2.5]", commutes, is_brief, additive }
            sub { numeric same any,
                "The difference. Integers wrap.", "torch.sub`, `torch.subtract",
                "tensor![1, 2]" "5" = "[-4_i64, -3]", is_brief, additive }
            mul { any same scalars,
                "The product. Integers wrap; on bools it is `and`.", "torch.mul`, `torch.multiply",
                "tensor![1.0, 2.0]" "0.5" = "[0.5_f32, 1.0]", commutes, is_brief, bilinear }
            div { any brief any,
                "True division: integers and bools give `f32`.", "torch.div",
                "tensor![1.0, 3.0]" "2" = "[0.5_f32, 1.5]", is_brief, linear_in_first }
            floor_divide { real_pair same scalars,
                "The quotient rounded down. Integer division by zero is an error.", "torch.floor_divide",
                "tensor![-7, 7]" "2" = "[-4_i64, 3]" }
            trunc_divide { real_pair same scalars,
                "The quotient rounded towards zero. Integer division by zero is an error.", "torch.div(rounding_mode='trunc')",
                "tensor![-7, 7]" "2" = "[-3_i64, 3]" }
            remainder { real_pair same scalars,
                "What `floor_divide` leaves over: it has the sign of the divisor. By an integer zero it is an error.", "torch.remainder",
                "tensor![-7, 7]" "2" = "[1_i64, 1]" }
            fmod { real_pair same any,
                "What `trunc_divide` leaves over: it has the sign of the dividend. By an integer zero it is an error.", "torch.fmod",
                "tensor![-7, 7]" "2" = "[-1_i64, 1]" }
            pow { power same scalars,
                "Each element raised to a power. Integers wrap, and to a negative power round towards zero; a negative integer scalar exponent of integers is an error.", "torch.pow",
                "tensor![2, 3]" "2" = "[4_i64, 9]", raises_to_scalar }
            maximum { ordered same tensors,
                "The larger of two elements; NaN if either is.", "torch.maximum",
                "tensor![1, 5]" "tensor![3, 2]" = "[3, 5]", is_brief }
            minimum { ordered same tensors,
                "The smaller of two elements; NaN if either is.", "torch.minimum",
                "tensor![1, 5]" "tensor![3, 2]" = "[1, 2]", is_brief }
            clamp_min { bounded same any,
                "Each element, but at least the other operand; NaN if either is.", "torch.clamp(min=…)",
                "tensor![1, 5]" "3" = "[3_i64, 5]" }
            clamp_max { bounded same any,
                "Each element, but at most the other operand; NaN if either is.", "torch.clamp(max=…)",
                "tensor![1, 5]" "3" = "[1_i64, 3]" }
            true_divide { any brief scalars,
                "The same function as [`div`](crate::Tensor::div).", "torch.true_divide",
                "tensor![1.0, 3.0]" "2" = "[0.5_f32, 1.5]", linear_in_first }
            float_power { any double scalars,
                "Each element raised to a power, in `f64` or `Complex<f64>`.", "torch.float_power",
                "tensor![2.0, 3.0; f64]" "-1" = "[0.5_f64, 1.0 / 3.0]" }
        } $($files)* }
    };
}
pub(crate) use arithmetic_rows;

/// PyTorch adds and subtracts `alpha * b` with `alpha = 1`, also for complex numbers, where an infinite or NaN part turns the other part
/// into NaN (`torch.add(0, inf + 1j)` is `inf + nanj`). Source: `aten/src/ATen/native/BinaryOps.cpp`, `add`.
#[inline(always)]
fn scaled_by_one<T: MachineFloat>(b: Complex<T>) -> Complex<T> {
    Complex::new(b.re - b.im * T::zero(), b.re * T::zero() + b.im)
}

impl Binary for add {
    const SIMPLE: Simple = Simple::Sum;
    const DERIVATIVE_READS: [u32; 3] = [0; 3];
    const MERGING: Merging = Merging::Add;
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
    const SIMPLE: Simple = Simple::Difference;
    const DERIVATIVE_READS: [u32; 3] = [0; 3];
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
    const SIMPLE: Simple = Simple::Product;
    const DERIVATIVE_READS: [u32; 3] = [2, 1, 0];
    const MERGING: Merging = Merging::Multiply;
    const RIGHT_SCALAR_IS_EXACT: bool = true;
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
    const DERIVATIVE_READS: [u32; 3] = [2, 3, 0];
    const RIGHT_SCALAR_IS_EXACT: bool = true;
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a / b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        complex::quotient(a, b)
    }
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(by: usize, a: Complex<T>, b: Complex<T>, g: Complex<T>) -> Complex<T> {
        let by_a = complex::quotient(g, b.conj());
        if by == 0 { by_a } else { -(by_a * complex::quotient(a, b).conj()) }
    }
}

/// Integer division by zero is reported before the operation runs; the kernel returns zero instead of trapping.
#[inline(always)]
fn guarded<T: MachineInt>(b: T, f: impl FnOnce(T) -> T) -> T {
    if b == T::zero() { T::zero() } else { f(b) }
}

/// Float formulas based on the remainder of a division; the fast path is for small quotients.
macro_rules! by_what_is_left {
    ($of:ident) => {
        const HAS_FAST_PATH: bool = true;
        #[inline(always)]
        fn real<T: MachineFloat>(a: T, b: T) -> T {
            $of(a, b, a.left_over(b))
        }
        #[inline(always)]
        fn fast_path<T: MachineFloat>(a: T, b: T) -> T {
            $of(a, b, a.left_over_small(b))
        }
        #[inline(always)]
        fn takes_fast_path<T: MachineFloat>(a: T, b: T) -> bool {
            a.has_small_quotient(b)
        }
    };
}

/// Whether a nonzero number has the opposite sign.
#[inline(always)]
fn has_other_sign<T: MachineFloat>(x: T, other: T) -> bool {
    x != x.copysign(other)
}

/// The quotient rounded down. Source: `c10/util/generic_math.h`, `div_floor_floating` (Python's float floor division).
#[inline(always)]
fn floored<T: MachineFloat>(a: T, b: T, modulus: T) -> T {
    let (zero, one) = (T::zero(), T::one());
    let quotient = (a - modulus) / b;
    let quotient = if has_other_sign(modulus, b) { quotient - one } else { quotient };
    let floor = quotient.floor();
    let floor = if quotient - floor > T::lit(0.5) { floor + one } else { floor };
    let floor = if quotient == zero { zero.copysign(a / b) } else { floor };
    if b == zero { a / b } else { floor }
}

/// The remainder with the sign of the divisor.
#[inline(always)]
fn turned<T: MachineFloat>(_: T, b: T, left: T) -> T {
    if has_other_sign(left, b) { left + b } else { left }
}

#[inline(always)]
fn as_it_is<T: MachineFloat>(_: T, _: T, left: T) -> T {
    left
}

impl Binary for floor_divide {
    const SIMPLE: Simple = Simple::Flat;
    const DERIVATIVE_READS: [u32; 3] = [0; 3];
    const DIVIDES: bool = true;
    const RIGHT_SCALAR_IS_EXACT: bool = true;
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        guarded(b, |b| {
            let (quotient, left) = a.divided(b);
            let is_below = left != T::zero() && ((a < T::zero()) != (b < T::zero()));
            if is_below { quotient.wrapping_sub(&T::one()) } else { quotient }
        })
    }
    by_what_is_left! { floored }
}

impl Binary for trunc_divide {
    const SIMPLE: Simple = Simple::Flat;
    const DERIVATIVE_READS: [u32; 3] = [0; 3];
    const DIVIDES: bool = true;
    const RIGHT_SCALAR_IS_EXACT: bool = true;
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        guarded(b, |b| a.divided(b).0)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        (a / b).trunc()
    }
}

impl Binary for remainder {
    const DIVIDES: bool = true;
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        guarded(b, |b| {
            let left = a.divided(b).1;
            if left != T::zero() && ((left < T::zero()) != (b < T::zero())) { left.wrapping_add(&b) } else { left }
        })
    }
    by_what_is_left! { turned }
    /// The quotient is the one that the remainder belongs to.
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
        if by == 0 { T::one() } else { -<floor_divide as Binary>::real(a, b) }
    }
}

impl Binary for fmod {
    const DIVIDES: bool = true;
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        guarded(b, |b| a.divided(b).1)
    }
    by_what_is_left! { as_it_is }
}

/// The scalar exponents that PyTorch computes without a power function; results differ at infinities and zeros.
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

/// The exponents of [`power_by_scalar`].
const OWN_WAYS: [f64; 8] = [0.0, 1.0, 2.0, 3.0, 0.5, -0.5, -1.0, -2.0];

/// A power, not inlined.
#[inline(never)]
fn power<T: MachineFloat>(a: T, b: T) -> T {
    T::elementary_of_two::<math::Pow>(a, b)
}

impl Binary for pow {
    /// As for integers: `a ** 0` is 1.
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
        T::elementary_of_two::<math::Pow>(a, b)
    }
    /// 0 by the base where the exponent is 0, and by the exponent where the power stays 0.
    #[inline(always)]
    fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
        let zero = T::zero();
        if by == 0 {
            let slope = b * Self::real(a, b - T::one());
            return if b == zero { zero } else { slope };
        }
        let slope = Self::real(a, b) * T::elementary::<math::Log>(a);
        if (a == zero) & (b >= zero) { zero } else { slope }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        complex::pow(a, b)
    }
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(by: usize, a: Complex<T>, b: Complex<T>, g: Complex<T>) -> Complex<T> {
        let zero = Complex::new(T::zero(), T::zero());
        let is_flat = if by == 0 { b == zero } else { (a == zero) & (b.re >= T::zero()) };
        if is_flat {
            return zero;
        }
        let slope = if by == 0 { b * complex::pow(a, b - T::one()) } else { complex::pow(a, b) * complex::log(a) };
        g * slope.conj()
    }
    #[inline(always)]
    fn real_by_scalar<T: MachineFloat>(a: T, b: T) -> T {
        // A call, so that the compiler hoists the branch on the exponent out of the loop.
        power_by_scalar(a, b, || a * a, |x| T::one() / x, |x| x.sqrt()).unwrap_or_else(|| power(a, b))
    }
    const SCALAR_HAS_FAST_PATH: bool = true;
    #[inline(always)]
    fn fast_path_by_scalar<T: MachineFloat>(a: T, b: T) -> T {
        Self::real(a, b)
    }
    /// All exponents except those special cases.
    #[inline(always)]
    fn takes_fast_path_by_scalar<T: MachineFloat>(_: T, b: T) -> bool {
        OWN_WAYS.iter().fold(true, |takes, &own| takes & (b != T::lit(own)))
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

/// The larger or smaller of two, NaN if either is. The first one of equals, as in PyTorch: `clamp` keeps the sign of a zero.
///
/// Of `maximum` and `minimum` equals share the gradient, and NaN gives it to both; of `clamp` it is the element's within the bounds.
macro_rules! extremes {
    ($($op:ident: $second:tt $bool:tt $slope:ident $($range_checked:ident)?;)*) => {$(
        impl Binary for $op {
            const MERGING: Merging = Merging::Extreme;
            $(const $range_checked: bool = true;)?
            #[inline(always)]
            fn boolean(a: bool, b: bool) -> bool {
                a $bool b
            }
            #[inline(always)]
            fn integer<T: MachineInt>(a: T, b: T) -> T {
                if b $second a { b } else { a }
            }
            #[inline(always)]
            fn real<T: MachineFloat>(a: T, b: T) -> T {
                if b $second a || b.is_nan() { b } else { a }
            }
            #[inline(always)]
            fn derivative<T: MachineFloat>(by: usize, a: T, b: T) -> T {
                let of = |holds: bool| if holds { T::one() } else { T::zero() };
                extremes!(@ $slope of, by, a $second b, b $second a, a == b)
            }
        }
    )*};
    (@ shared $of:ident, $by:ident, $first:expr, $second:expr, $equal:expr) => {
        if $equal { T::lit(0.5) } else { $of(!if $by == 0 { $second } else { $first }) }
    };
    (@ bounded $of:ident, $by:ident, $first:expr, $second:expr, $equal:expr) => {
        $of(if $by == 0 { $first | $equal } else { $second })
    };
}
extremes! {
    maximum: > | shared;
    minimum: < & shared;
    clamp_min: > | bounded CHECKS_FLOAT_SCALARS;
    clamp_max: < & bounded CHECKS_FLOAT_SCALARS;
}
