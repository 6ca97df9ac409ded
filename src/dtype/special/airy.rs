//! The Airy function of the first kind.
//!
//! Source: the Cephes Math Library (S. Moshier, BSD-3-Clause), in the form PyTorch has it (`aten/src/ATen/native/Math.h`),
//! which computes in the dtype itself.

use super::polynomial;
use crate::dtype::MachineFloat;

/// Far to the right, in the inverse of `zeta`, the highest power first; so are all below.
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
/// The factor of the sine to the left, in `1 / zeta^2`.
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

/// Where the series takes over from the asymptotic forms.
const NEAR: f64 = 2.09;
/// From here on there is nothing but 0.
const END: f64 = 103.892;

/// 1 over the root of pi
const SCALE: f64 = 0.564_189_583_547_756_3;

/// `Ai(x)`
pub fn ai<T: MachineFloat>(x: T) -> T {
    if x.is_infinite() {
        return T::nan();
    }
    if x > T::lit(END) {
        return T::zero();
    }
    if x < T::lit(-NEAR) {
        let root = (-x).sqrt();
        let zeta = T::lit(-2.0) * x * root / T::lit(3.0);
        let z = T::one() / zeta;
        let square = z * z;
        let sine = T::one() + square * polynomial(square, &SINE) / polynomial(square, &SINE_BELOW);
        let cosine = z * polynomial(square, &COSINE) / polynomial(square, &COSINE_BELOW);
        let angle = zeta + T::FRAC_PI_4();
        return T::lit(SCALE) / root.sqrt() * (sine * angle.sin() - cosine * angle.cos());
    }
    if x >= T::lit(NEAR) {
        let root = x.sqrt();
        let zeta = T::lit(2.0) * x * root / T::lit(3.0);
        let inverse = T::one() / zeta;
        let ratio = polynomial(inverse, &RIGHT) / polynomial(inverse, &RIGHT_BELOW);
        return T::lit(SCALE) * ratio / (T::lit(2.0) * root.sqrt() * zeta.exp());
    }
    // The series of both solutions, whose terms shrink by x^3 over two following numbers.
    let (cube, mut k) = (x * x * x, T::one());
    let (mut f, mut g, mut m, mut n) = (T::one(), x, T::one(), x);
    loop {
        (m, n) = (m * cube, n * cube);
        k = k + T::one();
        m = m / k;
        k = k + T::one();
        (m, n) = (m / k, n / k);
        f = f + m;
        k = k + T::one();
        n = n / k;
        g = g + n;
        // NaN ends it, too.
        if (m / f).abs() > T::epsilon() {
            continue;
        }
        return T::lit(0.355_028_053_887_817_2) * f - T::lit(0.258_819_403_792_806_8) * g;
    }
}
