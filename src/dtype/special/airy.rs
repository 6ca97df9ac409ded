//! The Airy function of the first kind.
//!
//! Asymptotic forms on both sides, from the Cephes Math Library (S. Moshier, BSD-3-Clause), polynomials in between; all are computed and
//! one is selected. For large negative numbers only the form without `_small` is valid.

// The shortest decimals that parse to the same bits.
#![allow(clippy::excessive_precision, clippy::unreadable_literal)]

use super::poly::{horner, pick, polynomial};
use crate::dtype::MachineFloat;
use crate::dtype::math::{Cos, CosSmall, Exp, Sin, SinSmall};

/// For large positive x, in the inverse of `zeta`, highest power first, as in all tables below.
const RIGHT: [f64; 8] = [
    0.346538101525629,
    12.007595273964581,
    76.27960536152345,
    168.08922493463058,
    159.75639135016442,
    70.53609068404442,
    14.026469116338967,
    1.0,
];
/// Its denominator.
const RIGHT_BELOW: [f64; 8] = [
    0.5675945326387702,
    14.75625625848472,
    84.51389701414746,
    177.31808814540045,
    164.2346928715297,
    71.47784008255756,
    14.095913560783403,
    1.0,
];
/// The factor of the sine for negative x, in `1 / zeta^2`.
const SINE: [f64; 9] = [
    -0.1316963234183318,
    -0.6264565444319123,
    -0.6931580360369335,
    -0.2797799815451191,
    -0.04919001326095003,
    -0.004062659235948854,
    -0.0001592764962392621,
    -2.776491081552329e-06,
    -1.6778769848911465e-08,
];
/// Its denominator.
const SINE_BELOW: [f64; 9] = [
    13.356042070655324,
    32.682503279522464,
    26.736704094149957,
    9.187074029072596,
    1.4752914677166642,
    0.11568717379518804,
    0.004402916416152112,
    7.547203482874142e-05,
    4.5185009297058035e-07,
];
/// The factor of the cosine.
const COSINE: [f64; 11] = [
    0.01973399320916857,
    0.39110302961568827,
    1.0657989759959559,
    0.9391692298166502,
    0.35146565610554764,
    0.06338889196289255,
    0.005858041130483885,
    0.000282851600836737,
    6.98793669997261e-06,
    8.117892395543892e-08,
    3.415517847659236e-10,
];
/// Its denominator.
const COSINE_BELOW: [f64; 10] = [
    9.30892908077442,
    19.835292871831214,
    15.564662893286462,
    5.476860694229755,
    0.9542936116189619,
    0.08645808263523921,
    0.004126565238242226,
    0.00010125908511650914,
    1.1716673321441352e-06,
    4.9183457006293e-09,
];

/// Bound between the polynomials and the asymptotic forms.
const NEAR: f64 = 2.09;
/// From here on, the result is 0.
const END: f64 = 103.892;

/// The inverse of the square root of pi.
const SCALE: f64 = 0.564_189_583_547_756_3;

#[inline(always)]
fn of<T: MachineFloat, const SMALL: bool>(x: T) -> T {
    let size = x.abs();
    let root = size.sqrt();
    let zeta = T::lit(2.0) * size * root / T::lit(3.0);
    let z = T::one() / zeta;
    let scale = T::lit(SCALE) / root.sqrt();
    // Negative x: a sine and a cosine.
    let square = z * z;
    let sine = T::one() + square * polynomial(square, &SINE) / polynomial(square, &SINE_BELOW);
    let cosine = z * polynomial(square, &COSINE) / polynomial(square, &COSINE_BELOW);
    let angle = zeta + T::FRAC_PI_4();
    let [sin, cos] = if SMALL {
        [T::elementary::<SinSmall>(angle), T::elementary::<CosSmall>(angle)]
    } else {
        [T::elementary::<Sin>(angle), T::elementary::<Cos>(angle)]
    };
    let left = scale * (sine * sin - cosine * cos);
    // Positive x: an exponential.
    let ratio = polynomial(z, &RIGHT) / polynomial(z, &RIGHT_BELOW);
    let right = scale * ratio * T::lit(0.5) * T::elementary::<Exp>(-zeta);
    // In between: polynomials, each with largest error 2^-52.
    let t = size * T::lit(1.0 / 1.045);
    let middle_right = {
        let t = t - T::one();
        horner!(t; 2.7343902396487428e-14, 4.837806809652949e-14, -1.932719967095262e-12, 1.071098779872889e-11, 1.1552148129387833e-11, -5.292119979837512e-10, 3.068482040189804e-09, -6.395217654516392e-10, -9.673402104474078e-08, 5.861142354088005e-07, -6.735458897465519e-07, -1.0515789857915093e-05, 6.701288300500507e-05, -0.00012013322080707279, -0.000543343247495965, 0.0038318403085850963, -0.008253278312481047, -0.006030616966025203, 0.07318718995989926, -0.15997502705046535, 0.12826737204436253)
    };
    let middle_left = {
        let t = T::one() - t;
        horner!(t; 4.370290714513337e-12, -1.213084391312411e-11, -1.3930092922844072e-10, 1.237625193035009e-09, -1.5448092974988889e-09, -3.486108348149437e-08, 2.2466420683640383e-07, -5.951203221940431e-08, -5.618697142667937e-06, 2.5093355533298977e-05, 1.820918827294145e-05, -0.0005233917696292347, 0.0014556383338167162, 0.002604517119782612, -0.02307968299487321, 0.030494296008932945, 0.09896418122837673, -0.3055287753930578, 0.015135801034976184, 0.5354676566359832)
    };
    let (is_left, is_middle) = (x < T::zero(), size < T::lit(NEAR));
    let value = pick(is_left, pick(is_middle, middle_left, left), pick(is_middle, middle_right, right));
    let value = pick(x > T::lit(END), T::zero(), value);
    pick(size == T::infinity(), T::nan(), value)
}

/// `Ai(x)`
#[inline(always)]
pub fn ai<T: MachineFloat>(x: T) -> T {
    of::<T, false>(x)
}
/// `Ai(x)` for x >= -500000, where `zeta` is within `TRIG_LIMIT`.
#[inline(always)]
pub fn ai_small<T: MachineFloat>(x: T) -> T {
    of::<T, true>(x)
}
