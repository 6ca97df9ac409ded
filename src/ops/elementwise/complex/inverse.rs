//! Inverse trigonometric and hyperbolic functions.
//!
//! Source: T. E. Hull, T. F. Fairgrieve and P. T. P. Tang, "Implementing the complex arcsine and arccosine functions using
//! exception handling", ACM TOMS 23 (1997); special values of C99 (Annex G).

use super::{acos, asinh, atanh, hypot, log};
use crate::dtype::{MachineFloat, math};
use num_complex::Complex;

/// Above this, `A` needs no special formula.
const A_CROSSOVER: f64 = 10.0;
/// Above this, the arc sine of `B` loses precision.
const B_CROSSOVER: f64 = 0.6417;

/// `(hypot(a, b) - b) / 2` for `a >= 0`, without cancellation.
fn excess<T: MachineFloat>(a: T, b: T, hypot: T) -> T {
    let [excess] = T::outline("hypot_excess", [a, b, hypot], |[a, b, hypot]| {
        let half = T::lit(0.5);
        [if b < T::zero() {
            (hypot - b) * half
        } else if b == T::zero() {
            a * half
        } else {
            a * a / (hypot + b) * half
        }]
    });
    excess
}

/// An angle, given by its sine or by the two legs of a right triangle.
enum Angle<T> {
    Sine(T),
    Sides(T, T),
}

/// For `x, y >= 0`, neither very large nor both very small: the real part of `asinh(x + iy)`, and the angle that is its imaginary part.
fn asinh_parts<T: MachineFloat>(x: T, y: T) -> (T, Angle<T>) {
    let (one, two, eps) = (T::one(), T::lit(2.0), T::epsilon());
    let (r, s) = (hypot(x, y + one), hypot(x, y - one));
    let a = ((r + s) / two).max(one);
    let [real] = T::outline("asinh_real_part", [x, y, r, s, a], |[x, y, r, s, a]| {
        let (one, eps) = (T::one(), T::epsilon());
        [if a < T::lit(A_CROSSOVER) {
            if y == one && x < eps * eps / T::lit(128.0) {
                x.sqrt()
            } else if x >= eps * (y - one).abs() {
                let above_one = excess(x, one + y, r) + excess(x, one - y, s);
                (above_one + (above_one * (a + one)).sqrt()).ln_1p()
            } else if y < one {
                x / ((one - y) * (one + y)).sqrt()
            } else {
                ((y - one) + ((y - one) * (y + one)).sqrt()).ln_1p()
            }
        } else {
            (a + (a * a - one).sqrt()).ln()
        }]
    });
    if y < T::lit(4.0) * T::min_positive_value().sqrt() {
        // So small that its square would underflow.
        let scale = two / eps;
        return (real, Angle::Sides(y * scale, a * scale));
    }
    let sine = y / a;
    if sine <= T::lit(B_CROSSOVER) {
        return (real, Angle::Sine(sine));
    }
    let (opposite, adjacent) = if y == one && x < eps / T::lit(128.0) {
        (y, x.sqrt() * ((a + y) / two).sqrt())
    } else if x >= eps * (y - one).abs() {
        (y, ((excess(x, y + one, r) + excess(x, y - one, s)) * (a + y)).sqrt())
    } else if y > one {
        let scale = T::lit(4.0) / eps / eps;
        (y * scale, x * scale * y / ((y + one) * (y - one)).sqrt())
    } else {
        (y, ((one - y) * (one + y)).sqrt())
    };
    (real, Angle::Sides(opposite, adjacent))
}

/// Where `asinh` and similar functions are logarithms, and where they are the identity.
fn is_large<T: MachineFloat>(z: Complex<T>) -> bool {
    z.re.abs() > T::epsilon().recip() || z.im.abs() > T::epsilon().recip()
}
fn is_small<T: MachineFloat>(z: Complex<T>) -> bool {
    let bound = (T::lit(6.0) * T::epsilon()).sqrt() / T::lit(4.0);
    z.re.abs() < bound && z.im.abs() < bound
}
fn has_nan<T: MachineFloat>(z: Complex<T>) -> bool {
    z.re.is_nan() || z.im.is_nan()
}

pub(super) fn asinh_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    if has_nan(z) {
        return if x.is_infinite() {
            Complex::new(x, y)
        } else if y.is_infinite() {
            Complex::new(y, x)
        } else if y == T::zero() {
            z
        } else {
            Complex::new(T::nan(), T::nan())
        };
    }
    if is_large(z) {
        let log = log(if x.is_sign_positive() { z } else { -z });
        return Complex::new((log.re + T::LN_2()).copysign(x), log.im.copysign(y));
    }
    if is_small(z) {
        return z;
    }
    let (real, angle) = asinh_parts(x.abs(), y.abs());
    let imaginary = match angle {
        Angle::Sine(sine) => sine.asin(),
        Angle::Sides(opposite, adjacent) => opposite.atan2(adjacent),
    };
    Complex::new(real.copysign(x), imaginary.copysign(y))
}

/// `asin(z)`, which is `-i asinh(iz)`.
pub fn asin<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let turned = asinh(Complex::new(z.im, z.re));
    Complex::new(turned.im, turned.re)
}

pub(super) fn acos_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    if has_nan(z) {
        return if x.is_infinite() {
            Complex::new(y, T::neg_infinity())
        } else if y.is_infinite() {
            Complex::new(x, -y)
        } else if x == T::zero() {
            Complex::new(T::FRAC_PI_2(), y)
        } else {
            Complex::new(T::nan(), T::nan())
        };
    }
    let signed = |imaginary: T| if y.is_sign_positive() { -imaginary } else { imaginary };
    if is_large(z) {
        let log = log(z);
        return Complex::new(log.im.abs(), signed(log.re + T::LN_2()));
    }
    if x == T::one() && y == T::zero() {
        return Complex::new(T::zero(), -y);
    }
    if is_small(z) {
        return Complex::new(T::FRAC_PI_2() - x, -y);
    }
    let (imaginary, angle) = asinh_parts(y.abs(), x.abs());
    let real = match angle {
        Angle::Sine(sine) => sine.copysign(x).acos(),
        Angle::Sides(opposite, adjacent) => adjacent.atan2(opposite.copysign(x)),
    };
    Complex::new(real, signed(imaginary))
}

pub(super) fn acosh_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re, im } = acos(z);
    if re.is_nan() {
        return if im.is_nan() { Complex::new(im, re) } else { Complex::new(im.abs(), re) };
    }
    if im.is_nan() {
        return Complex::new(im, re);
    }
    Complex::new(im.abs(), re.copysign(z.im))
}

pub(super) fn atanh_of<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let Complex { re: x, im: y } = z;
    let (one, two, four) = (T::one(), T::lit(2.0), T::lit(4.0));
    let (ax, ay) = (x.abs(), y.abs());
    if y == T::zero() && ax <= one {
        return Complex::new(T::elementary::<math::Atanh>(x), y);
    }
    if x == T::zero() {
        return Complex::new(x, y.atan());
    }
    if has_nan(z) {
        return if x.is_infinite() {
            Complex::new(T::zero().copysign(x), y)
        } else if y.is_infinite() {
            Complex::new(T::zero().copysign(x), T::FRAC_PI_2().copysign(y))
        } else {
            Complex::new(T::nan(), T::nan())
        };
    }
    if is_large(z) {
        // The real part of 1 / z, as a product of small factors.
        let (small, large) = if ax < ay { (ax, ay) } else { (ay, ax) };
        let real = if large.is_infinite() {
            T::zero()
        } else {
            ax / large / (one + (small / large) * (small / large)) / large
        };
        return Complex::new(real.copysign(x), T::FRAC_PI_2().copysign(y));
    }
    if is_small(z) {
        return z;
    }
    let real = if ax == one && ay < T::epsilon() {
        (T::LN_2() - ay.ln()) / two
    } else {
        (four * ax / ((ax - one) * (ax - one) + ay * ay)).ln_1p() / four
    };
    let angle = if ax == one {
        two.atan2(-ay)
    } else if ay < T::epsilon() {
        (two * ay).atan2((one - ax) * (one + ax))
    } else {
        (two * ay).atan2((one - ax) * (one + ax) - ay * ay)
    };
    Complex::new(real.copysign(x), (angle / two).copysign(y))
}

/// `atan(z)`, which is `-i atanh(iz)`.
pub fn atan<T: MachineFloat>(z: Complex<T>) -> Complex<T> {
    let turned = atanh(Complex::new(z.im, z.re));
    Complex::new(turned.im, turned.re)
}
