//! Complex functions with the special values of C99 (Annex G) for zeros, infinities and NaN, which are PyTorch's too.
//!
//! Sources: ISO/IEC 9899:2011 Annex G.6; `c10/util/complex.h` for division.

mod inverse;

pub use inverse::{asin, atan};

use crate::dtype::{Analytic, MachineFloat, math, outline_complex};
use num_complex::Complex;
use num_traits::{One, Zero};

/// `name = formula, |z, y| derivative;` writes an analytic function of a complex number, whose derivative at `z`, where it is `y`, is stated:
/// the branches of a formula for numbers of an axis, or near 0, have the right values but not their slope beside the axis.
macro_rules! analytic {
    ($($(#[$doc:meta])* $name:ident = $formula:path, |$z:ident, $y:ident| $derivative:expr;)*) => {$(
        $(#[$doc])*
        pub fn $name<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
            struct Function;
            impl Analytic for Function {
                const NAME: &'static str = concat!("complex_", stringify!($name));
                #[inline(always)]
                fn value<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
                    $formula(z)
                }
                #[inline(always)]
                fn derivative<T: MachineFloat>(z: Complex<T>, y: Complex<T>) -> Complex<T> {
                    slope::$name(z, y)
                }
            }
            T::analytic::<Function>(z)
        }
    )*
        /// The derivatives at `z`, where the functions are `y`.
        pub mod slope {
            use super::*;
            $(
                #[doc = concat!("That of [`", stringify!($name), "`](super::", stringify!($name), ").")]
                #[inline(always)]
                pub fn $name<T: MachineFloat>($z: Complex<T>, $y: Complex<T>) -> Complex<T> {
                    $derivative
                }
            )*
        }
    };
}
analytic! {
    /// `exp(z)` (G.6.3.1).
    exp = exp_of, |_z, y| y;
    /// `exp(z) - 1`. Source: `c10/util/complex_math.h`, `expm1`.
    expm1 = expm1_of, |_z, y| y + T::one();
    /// `log(z)` (G.6.3.2).
    log = log_of, |z, _y| reciprocal(z);
    /// `log(1 + z)`. Source, where `1 + z` is far from the unit circle: `c10/util/complex_math.h`, `log1p`.
    log1p = log1p_of, |z, _y| reciprocal(z + T::one());
    /// `sqrt(z)` (G.6.4.2).
    sqrt = sqrt_of, |_z, y| reciprocal(y + y);
    /// `sinh(z)` (G.6.2.5).
    sinh = sinh_of, |z, _y| super::cosh(z);
    /// `cosh(z)` (G.6.2.4).
    cosh = cosh_of, |z, _y| super::sinh(z);
    /// `tanh(z)` (G.6.2.6).
    tanh = tanh_of, |_z, y| Complex::<T>::one() - y * y;
    /// `sin(pi * z) / (pi * z)`
    sinc = sinc_of, |z, y| if z.is_zero() { z } else { quotient(super::cos(z * T::PI()) - y, z) };
    /// `asinh(z)` (G.6.2.2).
    asinh = inverse::asinh_of, |z, _y| reciprocal(super::sqrt(z * z + T::one()));
    /// `acos(z)` (G.6.1.1).
    acos = inverse::acos_of, |z, _y| -reciprocal(super::sqrt(Complex::<T>::one() - z * z));
    /// `acosh(z)` (G.6.2.1).
    acosh = inverse::acosh_of, |z, _y| reciprocal(super::sqrt(z - T::one()) * super::sqrt(z + T::one()));
    /// `atanh(z)` (G.6.2.3).
    atanh = inverse::atanh_of, |z, _y| reciprocal(Complex::<T>::one() - z * z);
}

/// The length of a vector.
#[inline(always)]
fn hypot<T: MachineFloat>(x: T, y: T) -> T {
    T::elementary_of_two::<math::Hypot>(x, y)
}

/// Division, with the divisor scaled by its larger part to avoid overflow and underflow.
/// Source: `c10/util/complex.h`, `operator/=`.
#[inline(always)]
pub fn quotient<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let (abs_re, abs_im) = (b.re.abs(), b.im.abs());
    if abs_re >= abs_im {
        if abs_re == T::zero() && abs_im == T::zero() {
            // Division by zero, as for real numbers.
            return Complex::new(a.re / abs_re, a.im / abs_im);
        }
        let ratio = b.im / b.re;
        let scale = T::one() / (b.re + b.im * ratio);
        Complex::new((a.re + a.im * ratio) * scale, (a.im - a.re * ratio) * scale)
    } else {
        let ratio = b.re / b.im;
        let scale = T::one() / (b.im + b.re * ratio);
        Complex::new((a.re * ratio + a.im) * scale, (a.im * ratio - a.re) * scale)
    }
}

/// `1 / z`
#[inline(always)]
pub fn reciprocal<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    quotient(Complex::one(), z)
}

/// The product as in C: an infinite factor makes it infinite even if parts of it are NaN (G.5.1).
pub fn product<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let [re, im] = T::outline("complex_product", [a.re, a.im, b.re, b.im], |[a_re, a_im, b_re, b_im]| {
        let Complex { re, im } = product_of(Complex::new(a_re, a_im), Complex::new(b_re, b_im));
        [re, im]
    });
    Complex { re, im }
}
fn product_of<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let naive = |a: Complex<T>, b: Complex<T>| Complex::new(a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re);
    let result = naive(a, b);
    if !(result.re.is_nan() && result.im.is_nan()) {
        return result;
    }
    let infinite = |z: Complex<T>| z.re.is_infinite() || z.im.is_infinite();
    // Infinite parts count as 1, finite parts of the same number as 0, NaN as 0.
    let boxed = |z: Complex<T>| {
        let part = |x: T| if x.is_infinite() { T::one() } else { T::zero() }.copysign(x);
        Complex::new(part(z.re), part(z.im))
    };
    let unspoiled = |z: Complex<T>| {
        let part = |x: T| if x.is_nan() { T::zero().copysign(x) } else { x };
        Complex::new(part(z.re), part(z.im))
    };
    if !infinite(a) && !infinite(b) {
        return result;
    }
    let a = if infinite(a) { boxed(a) } else { unspoiled(a) };
    let b = if infinite(b) { boxed(b) } else { unspoiled(b) };
    let recovered = naive(a, b);
    Complex::new(T::infinity() * recovered.re, T::infinity() * recovered.im)
}

/// `magnitude * (cos + i sin)` of an angle, for a magnitude of 0 or infinity: only the signs matter.
fn directed<T: MachineFloat>(magnitude: T, angle: T) -> Complex<T> {
    let (sin, cos) = angle.sin_cos();
    Complex::new(magnitude.copysign(cos), magnitude.copysign(sin))
}

fn exp_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    if y == T::zero() {
        return Complex::new(x.exp(), y);
    }
    if x.is_infinite() {
        return match (x > T::zero(), y.is_finite()) {
            (true, true) => directed(T::infinity(), y),
            (true, false) => Complex::new(T::infinity(), T::nan()),
            (false, true) => directed(T::zero(), y),
            (false, false) => Complex::new(T::zero(), T::zero().copysign(y)),
        };
    }
    // In two steps, so that a large exponential times a small cosine does not overflow.
    let (sin, cos) = y.sin_cos();
    let whole = x.exp();
    if whole.is_infinite() {
        let half = (x * T::lit(0.5)).exp();
        Complex::new(half * cos * half, half * sin * half)
    } else {
        Complex::new(whole * cos, whole * sin)
    }
}

/// A sum and its rounding error, which together are exact. Source: Knuth, "The Art of Computer Programming", volume 2, 4.2.2.
#[inline(always)]
fn exact_sum<T: MachineFloat>(a: T, b: T) -> (T, T) {
    let sum = a + b;
    let of_b = sum - a;
    (sum, (a - (sum - of_b)) + (b - of_b))
}

/// `more + x * x + y * y` for numbers that are not large, accurate also near 0, where all but the last digits of the squares cancel.
/// Source: the sum in glibc's `__x2y2m1`.
#[inline(always)]
fn squares_and<T: MachineFloat>(more: T, x: T, y: T) -> T {
    let (x_square, y_square) = (x * x, y * y);
    let (x_rest, y_rest) = (x.mul_add(x, -x_square), y.mul_add(y, -y_square));
    let (sum, rest) = exact_sum(x_square, more);
    let (sum, more) = exact_sum(sum, y_square);
    let ((rest, last), (squares, of_squares)) = (exact_sum(rest, more), exact_sum(x_rest, y_rest));
    let (sum, more) = exact_sum(sum, rest);
    let (sum, least) = exact_sum(sum, squares);
    sum + (least + more + last + of_squares)
}

fn log_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let (half, two) = (T::lit(0.5), T::lit(2.0));
    let (x, y) = (z.re.abs(), z.im.abs());
    let modulus = hypot(x, y);
    let real = if modulus > half && modulus < two {
        // Near 1, the logarithm of the modulus would lose the modulus' rounding error.
        let (large, small) = if x < y { (y, x) } else { (x, y) };
        half * squares_and(-T::one(), large, small).ln_1p()
    } else if modulus.is_infinite() {
        hypot(x * half, y * half).ln() + T::LN_2()
    } else if modulus < T::min_positive_value() * T::lit(4.0) {
        // Denormal numbers have few digits.
        hypot(x / T::epsilon(), y / T::epsilon()).ln() + T::epsilon().ln()
    } else {
        modulus.ln()
    };
    Complex::new(real, z.im.atan2(z.re))
}

fn log1p_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    if x == T::zero() && y == T::zero() {
        return z;
    }
    // The imaginary part keeps the sign of a zero.
    let sum = Complex::new(x + T::one(), y);
    let modulus = hypot(sum.re, y);
    if modulus > T::lit(0.5) && modulus < T::lit(2.0) {
        // From the number itself: `1 + z` has rounded off the digits that the logarithm needs.
        return Complex::new(T::lit(0.5) * squares_and(x + x, x, y).ln_1p(), y.atan2(sum.re));
    }
    let difference = Complex::new(sum.re - T::one(), y);
    if difference == z { log(sum) } else { log(sum) * quotient(z, difference) }
}

fn expm1_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    let half = (y * T::lit(0.5)).sin();
    Complex::new(x.exp_m1() * y.cos() - T::lit(2.0) * half * half, x.exp() * y.sin())
}

/// `z / abs(z)`, and 0 for 0.
#[inline(always)]
pub fn direction<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    outline_complex("complex_direction", z, |z| {
        let modulus = hypot(z.re, z.im);
        if modulus == T::zero() {
            return Complex::new(T::zero(), T::zero());
        }
        // The quotient of two complex numbers, as in PyTorch: an infinite part makes the other one NaN, too.
        quotient(z, Complex::new(modulus, T::zero()))
    })
}

fn sinc_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    if z.re == T::zero() && z.im == T::zero() {
        return Complex::new(T::one(), T::zero());
    }
    let angle = z * T::PI();
    quotient(sin(angle), angle)
}

/// `log(exp(a) + exp(b))`. Source: `aten/src/ATen/native/cpu/LogAddExp.h`.
pub fn logaddexp<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    let nan = |z: Complex<T>| z.re.is_nan() || z.im.is_nan();
    if nan(a) || nan(b) {
        return Complex::new(T::nan(), T::nan());
    }
    let (low, high) = if a.re < b.re { (a, b) } else { (b, a) };
    if low.re == high.re && low.re.is_infinite() {
        return if low.re < T::zero() { low } else { log(exp(low) + exp(high)) };
    }
    log1p(exp(low - high)) + high
}

fn sqrt_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    if y.is_infinite() {
        return Complex::new(T::infinity(), y);
    }
    if x.is_infinite() {
        return if x > T::zero() {
            Complex::new(x, if y.is_nan() { y } else { T::zero().copysign(y) })
        } else {
            Complex::new(if y.is_nan() { y } else { T::zero() }, T::infinity().copysign(y))
        };
    }
    if x == T::zero() && y == T::zero() {
        return Complex::new(T::zero(), y);
    }
    // The larger part first; the smaller one follows from it without cancellation.
    let modulus = hypot(x, y);
    let (x, y, modulus, scale) = if modulus > T::max_value() * T::lit(0.25) {
        let quarter = T::lit(0.25);
        let (x, y) = (x * quarter, y * quarter);
        (x, y, hypot(x, y), T::lit(2.0))
    } else if modulus < T::min_positive_value() * T::lit(4.0) {
        let (x, y) = (x / T::epsilon(), y / T::epsilon());
        (x, y, hypot(x, y), T::epsilon().sqrt())
    } else {
        (x, y, modulus, T::one())
    };
    let large = ((modulus + x.abs()) * T::lit(0.5)).sqrt();
    let small = y.abs() / (T::lit(2.0) * large);
    let (re, im) = if x >= T::zero() { (large, small) } else { (small, large) };
    Complex::new(re * scale, (im * scale).copysign(y))
}

/// `a` to the power `b`, by way of the logarithm.
pub fn pow<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
    exp(product(b, log(a)))
}

fn cosh_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    if y == T::zero() {
        let im = if x.is_nan() { y } else { y * T::one().copysign(x) };
        return Complex::new(x.cosh(), im);
    }
    if x.is_infinite() {
        if !y.is_finite() {
            return Complex::new(T::infinity(), T::nan());
        }
        let z = directed(T::infinity(), y);
        return Complex::new(z.re, z.im * T::one().copysign(x));
    }
    if x == T::zero() && !y.is_finite() {
        return Complex::new(T::nan(), T::zero());
    }
    let (sin, cos) = y.sin_cos();
    match half_of_large_exp(x) {
        Some(half) => Complex::new(half * cos * half, half * sin * half * x.signum()),
        None => Complex::new(x.cosh() * cos, x.sinh() * sin),
    }
}

/// For `x` so large that `cosh(x)` and `sinh(abs(x))` equal `exp(abs(x)) / 2`: the square root of that, which can be multiplied twice with
/// a small number in between without overflow.
fn half_of_large_exp<T: MachineFloat>(x: T) -> Option<T> {
    (x.abs() > T::lit(40.0)).then(|| (x.abs() * T::lit(0.5)).exp() * T::FRAC_1_SQRT_2())
}

fn sinh_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    if y == T::zero() {
        return Complex::new(x.sinh(), y);
    }
    if x.is_infinite() {
        if !y.is_finite() {
            return Complex::new(x, T::nan());
        }
        let z = directed(T::infinity(), y);
        return Complex::new(z.re * T::one().copysign(x), z.im);
    }
    if x == T::zero() && !y.is_finite() {
        return Complex::new(x, T::nan());
    }
    let (sin, cos) = y.sin_cos();
    match half_of_large_exp(x) {
        Some(half) => Complex::new(half * cos * half * x.signum(), half * sin * half),
        None => Complex::new(x.sinh() * cos, x.cosh() * sin),
    }
}

fn tanh_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    if y == T::zero() {
        return Complex::new(x.tanh(), y);
    }
    let (sin, cos) = y.sin_cos();
    if x.is_infinite() {
        let im = if y.is_finite() { sin * cos } else { y };
        return Complex::new(T::one().copysign(x), T::zero().copysign(im));
    }
    if x == T::zero() && !y.is_finite() {
        return Complex::new(x, T::nan());
    }
    if !x.is_finite() || !y.is_finite() {
        return Complex::new(T::nan(), T::nan());
    }
    let sinh = x.sinh();
    if sinh.is_infinite() || x.abs() > T::lit(22.0) {
        // Beyond this, `sinh` and `cosh` are equal.
        let decay = (T::lit(-2.0) * x.abs()).exp();
        return Complex::new(T::one().copysign(x), T::lit(4.0) * sin * cos * decay);
    }
    let denominator = sinh * sinh + cos * cos;
    Complex::new(sinh * x.cosh() / denominator, sin * cos / denominator)
}

/// `cos` from its hyperbolic counterpart: `cosh(iz)`.
pub fn cos<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    cosh(Complex::new(-z.im, z.re))
}
/// As `cos`.
pub fn sin<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let turned = sinh(Complex::new(-z.im, z.re));
    Complex::new(turned.im, -turned.re)
}
/// As `cos`.
pub fn tan<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let turned = tanh(Complex::new(-z.im, z.re));
    Complex::new(turned.im, -turned.re)
}

/// `1 / (1 + exp(-z))`
pub fn sigmoid<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    reciprocal(exp(-z) + T::one())
}
