//! Modified and spherical Bessel functions.
//!
//! A power series near 0, the asymptotic form in the inverse farther out, as in the Cephes Math Library (S. Moshier), with our own
//! polynomials. Both are computed and one is selected.

// The shortest decimals that parse to the same bits.
#![allow(clippy::excessive_precision, clippy::unreadable_literal)]

use super::poly::{horner, pick};
use crate::dtype::MachineFloat;
use crate::dtype::math::{Exp, Log, Sin, SinSmall};

/// Upper bound of the power series of the first kind.
const FIRST_END: f64 = 8.0;
/// Upper bound of the power series of the second kind.
const SECOND_END: f64 = 1.0;

/// `i0(x)` up to 8, given `x^2 / 4`. Largest error 2^-54.
#[inline(always)]
fn i0_near<T: MachineFloat>(y: T) -> T {
    y.mul_add(horner!(y; 3.629044393852136e-32, 7.068750346348101e-30, 2.3188742980374136e-27, 5.83834910694832e-25, 1.315968870086412e-22, 2.578901381143264e-20, 4.358392834251182e-18, 6.27608109596305e-16, 7.594058443797458e-14, 7.594058427386722e-12, 6.151187326808454e-10, 3.936759889140186e-08, 1.929012345679024e-06, 6.944444444444443e-05, 0.001736111111111111, 0.027777777777777776, 0.25, 1.0), T::one())
}
/// `i1(x)` up to 8, given `x / 2` and its square. Largest error 2^-54.
#[inline(always)]
fn i1_near<T: MachineFloat>(half: T, y: T) -> T {
    half * y.mul_add(horner!(y; 6.525161138164069e-31, 1.2029294150405264e-28, 3.7092713417294716e-26, 8.757924724769851e-24, 1.842345089173867e-21, 3.3525740185918085e-19, 5.230071087726802e-17, 6.90368923783708e-15, 7.594058441354712e-13, 6.834652584783329e-11, 4.920949861441355e-09, 2.7557319223982823e-07, 1.1574074074074114e-05, 0.0003472222222222222, 0.006944444444444444, 0.08333333333333333, 0.5), T::one())
}
/// `exp(-x) * i0(x)` from 8. Largest error 2^-53.
#[inline(always)]
fn i0_far<T: MachineFloat>(x: T) -> T {
    let t = T::lit(16.0) / x - T::one();
    horner!(t; 1.0881994785468934e-10, 3.525321019700796e-11, -7.473844621887592e-10, -2.748111637276033e-10, 2.3981927228949238e-09, 1.0924527246468664e-09, -4.8482509221176966e-09, -3.11851456121224e-09, 6.789790403895736e-09, 7.323310735122893e-09, -5.162517880939013e-09, -1.331979859201994e-08, -6.805980075129678e-09, 7.532386417555123e-09, 2.155681110989874e-08, 3.932926571091252e-08, 8.872154618944625e-08, 2.9735956581528157e-07, 1.4838475863096976e-06, 1.1143033802583682e-05, 0.00013621607439187193, 0.0033605519836677235, 0.4021765094450081)
        / x.sqrt()
}
/// `exp(-x) * i1(x)` from 8. Largest error 2^-54.
#[inline(always)]
fn i1_far<T: MachineFloat>(x: T) -> T {
    let t = T::lit(16.0) / x - T::one();
    horner!(t; -1.13288885034257e-10, -3.2677656089803323e-11, 7.79067217908059e-10, 2.582169443152386e-10, -2.5062162405593894e-09, -1.0476127785270019e-09, 5.094016301574338e-09, 3.0717395650769477e-09, -7.222524178953976e-09, -7.432535335623792e-09, 5.722677527454156e-09, 1.3952625102162603e-08, 6.795073490187386e-09, -8.407326839577817e-09, -2.3382691353601083e-08, -4.31323156237458e-08, -1.0001220638799958e-07, -3.483853071371078e-07, -1.8349101539664522e-06, -1.503854721127423e-05, -0.000219235763833829, -0.009749577193235609, 0.38939845902587233)
        / x.sqrt()
}

/// `abs(x)`, `abs(x) / 2` and its square, and whether it is near.
#[inline(always)]
fn first_kind<T: MachineFloat>(x: T) -> (T, T, T, bool) {
    let size = x.abs();
    let half = size * T::lit(0.5);
    (size, half, half * half, size <= T::lit(FIRST_END))
}
/// The value of an odd function at `x`, given that at `abs(x)`.
#[inline(always)]
fn odd<T: MachineFloat>(x: T, value: T) -> T {
    pick(x < T::zero(), -value, value)
}
/// The function of the first kind of order 0.
#[inline(always)]
pub fn i0<T: MachineFloat>(x: T) -> T {
    let (size, _, y, near) = first_kind(x);
    pick(near, i0_near(y), T::elementary::<Exp>(size) * i0_far(size))
}
/// `exp(-abs(x)) * i0(x)`
#[inline(always)]
pub fn i0e<T: MachineFloat>(x: T) -> T {
    let (size, _, y, near) = first_kind(x);
    pick(near, T::elementary::<Exp>(-size) * i0_near(y), i0_far(size))
}
/// The function of the first kind of order 1.
#[inline(always)]
pub fn i1<T: MachineFloat>(x: T) -> T {
    let (size, half, y, near) = first_kind(x);
    odd(x, pick(near, i1_near(half, y), T::elementary::<Exp>(size) * i1_far(size)))
}
/// `exp(-abs(x)) * i1(x)`
#[inline(always)]
pub fn i1e<T: MachineFloat>(x: T) -> T {
    let (size, half, y, near) = first_kind(x);
    odd(x, pick(near, T::elementary::<Exp>(-size) * i1_near(half, y), i1_far(size)))
}

/// `k0(x)` up to 1; the logarithm makes it infinite at 0 and NaN below. Largest error 2^-53.
#[inline(always)]
fn k0_near<T: MachineFloat>(x: T) -> T {
    let half = x * T::lit(0.5);
    let y = half * half;
    let i0 = y.mul_add(horner!(y; 3.990937267284638e-08, 1.9288257126340543e-06, 6.94444762894328e-05, 0.0017361111083231005, 0.027777777777893982, 0.2499999999999982, 1.0), T::one());
    (-T::elementary::<Log>(half)).mul_add(i0, horner!(y; 8.067791597617467e-08, 3.6120836670898044e-06, 0.00011848050810395896, 0.0026147876053822837, 0.034892157457293446, 0.23069608377459008, 0.42278433509846747, -0.5772156649015329))
}
/// `exp(x) * k0(x)` from 1. Largest error 2^-54.
#[inline(always)]
fn k0_far<T: MachineFloat>(x: T) -> T {
    let t = T::lit(2.0) / x - T::one();
    horner!(t; 2.1961570424938775e-08, -3.0260422197663115e-08, -1.2829999396990405e-07, 1.7619258460800207e-07, 3.525989366465055e-07, -4.837087716488598e-07, -5.778917280475818e-07, 7.91393119607484e-07, 6.398930856550248e-07, -8.769117712485629e-07, -4.745221148895525e-07, 6.462771731470171e-07, 2.942578206430845e-07, -4.115414744318795e-07, -1.75031038345865e-08, -7.25611000168855e-09, 2.8962029604365283e-07, -5.105463710729688e-07, 8.677373040788816e-07, -1.6545588057198856e-06, 3.266649283820171e-06, -6.660328515044767e-06, 1.4181546043723321e-05, -3.181470180131932e-05, 7.608266192168521e-05, -0.00019727982520023786, 0.0005692398882995082, -0.0019084014861787445, 0.008067386548373457, -0.05227901149175828, 1.1901571834152027)
        / x.sqrt()
}
/// `k1(x)` up to 1. Largest error 2^-53.
#[inline(always)]
fn k1_near<T: MachineFloat>(x: T) -> T {
    let half = x * T::lit(0.5);
    let y = half * half;
    let i1 = half * y.mul_add(horner!(y; 4.981107425336044e-09, 2.7555247326907063e-07, 1.1574077608968388e-05, 0.00034722222191276166, 0.006944444444457343, 0.08333333333333313, 0.5), T::one());
    let value = T::elementary::<Log>(half).mul_add(i1, horner!(y; -1.0921779802773093e-06, -4.141407117860952e-05, -0.0011153612725557573, -0.019182189630504158, -0.18157516697415088, -0.6727843350980516, 0.15443132980306076, 1.0) / x);
    pick(x == T::zero(), T::infinity(), value)
}
/// `exp(x) * k1(x)` from 1. Largest error 2^-54.
#[inline(always)]
fn k1_far<T: MachineFloat>(x: T) -> T {
    let t = T::lit(2.0) / x - T::one();
    horner!(t; -2.3948774837234764e-08, 3.3046078280663694e-08, 1.397739983565637e-07, -1.922131529169223e-07, -3.840141845659788e-07, 5.275277955998417e-07, 6.290634090970407e-07, -8.626096004933699e-07, -6.966902720699223e-07, 9.560866949895603e-07, 5.157347534174503e-07, -7.03104424325022e-07, -3.2223276813597645e-07, 4.520538971491248e-07, 1.2081272125815787e-08, 2.0852341055928967e-08, -3.40533243632204e-07, 6.059775941371624e-07, -1.0471506164857197e-06, 2.0177708463129676e-06, -4.031824283107816e-06, 8.344003304166262e-06, -1.8092729280390457e-05, 4.152304630565079e-05, -0.0001022719564459889, 0.0002760388449600236, -0.0008443927413241293, 0.0031120066455201318, -0.015852854565984797, 0.1879789065457192, 1.4615569735231244)
        / x.sqrt()
}

/// Whether `x` is near 0; true for NaN and negative numbers.
#[inline(always)]
fn is_near<T: MachineFloat>(x: T) -> bool {
    x <= T::lit(SECOND_END)
}
/// The modified function of the second kind of order 0.
#[inline(always)]
pub fn k0<T: MachineFloat>(x: T) -> T {
    pick(is_near(x), k0_near(x), T::elementary::<Exp>(-x) * k0_far(x))
}
/// The modified function of the second kind of order 1.
#[inline(always)]
pub fn k1<T: MachineFloat>(x: T) -> T {
    pick(is_near(x), k1_near(x), T::elementary::<Exp>(-x) * k1_far(x))
}
/// `exp(x) * k0(x)`
#[inline(always)]
pub fn k0e<T: MachineFloat>(x: T) -> T {
    pick(is_near(x), T::elementary::<Exp>(x) * k0_near(x), k0_far(x))
}
/// `exp(x) * k1(x)`
#[inline(always)]
pub fn k1e<T: MachineFloat>(x: T) -> T {
    pick(is_near(x), T::elementary::<Exp>(x) * k1_near(x), k1_far(x))
}

/// `sin(x) / x`, given the sine; 0 at the infinities.
#[inline(always)]
fn quotient<T: MachineFloat>(x: T, sine: T) -> T {
    pick(x.abs() == T::infinity(), T::zero(), pick(x == T::zero(), T::one(), sine / x))
}
/// `sin(x) / x`; 0 at the infinities.
#[inline(always)]
pub fn spherical_j0<T: MachineFloat>(x: T) -> T {
    quotient(x, T::elementary::<Sin>(x))
}
/// The same for x within `TRIG_LIMIT`.
#[inline(always)]
pub fn spherical_j0_small<T: MachineFloat>(x: T) -> T {
    quotient(x, T::elementary::<SinSmall>(x))
}
