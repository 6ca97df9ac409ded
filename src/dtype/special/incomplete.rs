//! The regularised incomplete gamma functions, following PyTorch (`aten/src/ATen/native/Math.h`, after the Cephes Math Library by S.
//! Moshier, BSD-3-Clause): a series, a continued fraction, and an expansion (DLMF 8.12.3) where the two operands are large and close to
//! each other. Its coefficients are PyTorch's, as far as they matter in `f64`.
//!
//! The C++ version is in `ops/record/cuda/incomplete.h`.

// The shortest decimals that parse to the same bits.
#![allow(clippy::excessive_precision, clippy::unreadable_literal)]

use super::gamma::lgamma_of;
use crate::dtype::MachineFloat;
use crate::dtype::math::{Erfc, Exp, Expm1, Log, Log1p, Pow};

/// Half of the machine epsilon.
const UNIT: f64 = f64::EPSILON / 2.0;
/// Maximum terms of a series.
const TERMS: usize = 2000;

/// The lower function at `(a, x)`: the fraction of the integral of `t^(a-1) e^-t` below `x`.
pub fn igamma(a: f64, x: f64) -> f64 {
    if let Some(value) = at_an_end(a, x, 0.0, 1.0) {
        return value;
    }
    if are_near(a, x) {
        return expansion(a, x, -1.0);
    }
    if x > 1.0 && x > a { 1.0 - igammac(a, x) } else { series(a, x) }
}

/// The upper function: the fraction above.
pub fn igammac(a: f64, x: f64) -> f64 {
    if let Some(value) = at_an_end(a, x, 1.0, 0.0) {
        return value;
    }
    if are_near(a, x) {
        return expansion(a, x, 1.0);
    }
    if x > 1.1 {
        return if x < a { 1.0 - series(a, x) } else { fraction(a, x) };
    }
    let is_small = if x <= 0.5 { -0.4 / log(x) < a } else { x * 1.1 < a };
    if is_small { 1.0 - series(a, x) } else { upper_series(a, x) }
}

/// The values where an operand is negative, 0, infinite or NaN; `low` is the result for an empty part of the integral, `high` for all of
/// it.
fn at_an_end(a: f64, x: f64, low: f64, high: f64) -> Option<f64> {
    if x < 0.0 || a < 0.0 {
        Some(f64::NAN)
    } else if a == 0.0 {
        Some(if x > 0.0 { high } else { f64::NAN })
    } else if x == 0.0 {
        Some(low)
    } else if a.is_infinite() {
        Some(if x.is_infinite() { f64::NAN } else { low })
    } else if x.is_infinite() {
        Some(high)
    } else if a.is_nan() || x.is_nan() {
        Some(f64::NAN)
    } else {
        None
    }
}

/// Whether the expansion is valid.
fn are_near(a: f64, x: f64) -> bool {
    let off = (x - a).abs() / a;
    (a > 20.0 && a < 200.0 && off < 0.3) || (a > 200.0 && off < 4.5 / a.sqrt())
}

/// The gamma function, scaled by `e^g` and divided by a power: Boost's Lanczos approximation.
fn lanczos(x: f64) -> f64 {
    const ABOVE: [f64; 13] = [
        0.006061842346248907,
        0.5098416655656676,
        19.519927882476175,
        449.9445569063168,
        6955.999602515376,
        75999.29304014542,
        601859.6171681099,
        3481712.154980646,
        14605578.087685067,
        43338889.32467614,
        86363131.28813860,
        103794043.11634455,
        56906521.913471565,
    ];
    const BELOW: [f64; 13] = [
        1.0,
        66.0,
        1925.0,
        32670.0,
        357423.0,
        2637558.0,
        13339535.0,
        45995730.0,
        105258076.0,
        150917976.0,
        120543840.0,
        39916800.0,
        0.0,
    ];
    let at = |y: f64, of: &mut dyn Iterator<Item = &f64>| of.fold(0.0, |value, c| value * y + c);
    if x > 1.0 {
        let y = 1.0 / x;
        at(y, &mut ABOVE.iter().rev()) / at(y, &mut BELOW.iter().rev())
    } else {
        at(x, &mut ABOVE.iter()) / at(x, &mut BELOW.iter())
    }
}

/// Functions of single numbers, with the machine's own fused multiply-add where it has one. (x86-64 by itself has none, and then each is a
/// call of the C library.)
macro_rules! one_by_one {
    ($($(#[$doc:meta])* fn $name:ident($($x:ident),*) $value:block)*) => {$(
        $(#[$doc])*
        fn $name($($x: f64),*) -> f64 {
            #[inline(always)]
            fn plain($($x: f64),*) -> f64 $value
            #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
            {
                #[target_feature(enable = "avx,fma")]
                fn fused($($x: f64),*) -> f64 {
                    plain($($x),*)
                }
                if std::arch::is_x86_feature_detected!("avx") && std::arch::is_x86_feature_detected!("fma") {
                    // SAFETY: the machine has these instructions.
                    return unsafe { fused($($x),*) };
                }
            }
            plain($($x),*)
        }
    )*};
}
one_by_one! {
    /// `lgamma(x)` of a positive number.
    fn lgamma(x) {
        lgamma_of(x, false)
    }
    fn log(x) {
        f64::elementary::<Log>(x)
    }
    fn log1p(x) {
        f64::elementary::<Log1p>(x)
    }
    fn exp(x) {
        f64::elementary::<Exp>(x)
    }
    fn expm1(x) {
        f64::elementary::<Expm1>(x)
    }
    fn erfc(x) {
        f64::elementary::<Erfc>(x)
    }
    fn pow(x, y) {
        f64::elementary_of_two::<Pow>(x, y)
    }
}

/// `x^a e^-x / gamma(a)`.
fn factor(a: f64, x: f64) -> f64 {
    const G: f64 = 6.024680040776729583740234375;
    if (a - x).abs() > 0.4 * a.abs() {
        let log = a * log(x) - x - lgamma(a);
        return if log < -709.782712893384 { 0.0 } else { exp(log) };
    }
    let by = a + G - 0.5;
    let root = (by / core::f64::consts::E).sqrt() / lanczos(a);
    if a < 200.0 && x < 200.0 {
        return root * (exp(a - x) * pow(x / by, a));
    }
    let off = (x - a - G + 0.5) / by;
    root * exp(a * (log1p(off) - off) + x * (0.5 - G) / by)
}

/// The lower function by DLMF 8.11.4.
fn series(a: f64, x: f64) -> f64 {
    let factor = factor(a, x);
    if factor == 0.0 {
        return 0.0;
    }
    let (mut r, mut term, mut sum) = (a, 1.0, 1.0);
    for _ in 0..TERMS {
        r += 1.0;
        term *= x / r;
        sum += term;
        if term <= UNIT * sum {
            break;
        }
    }
    sum * factor / a
}

/// The upper function by DLMF 8.7.3.
fn upper_series(a: f64, x: f64) -> f64 {
    let (mut power, mut sum) = (1.0, 0.0_f64);
    for n in 1..TERMS {
        let n = n as f64;
        power *= -x / n;
        let term = power / (a + n);
        sum += term;
        if term.abs() <= UNIT * sum.abs() {
            break;
        }
    }
    let log = a * log(x);
    -expm1(log - lgamma(1.0 + a)) - exp(log - lgamma(a)) * sum
}

/// The upper function by the continued fraction of DLMF 8.9.2.
fn fraction(a: f64, x: f64) -> f64 {
    const BIG: f64 = 1.0 / f64::EPSILON;
    let factor = factor(a, x);
    if factor == 0.0 {
        return 0.0;
    }
    let (mut c, mut y, mut z) = (0.0, 1.0 - a, x + (1.0 - a) + 1.0);
    let (mut p, mut q) = ([1.0, x + 1.0], [x, z * x]);
    let mut value = p[1] / q[1];
    for _ in 0..TERMS {
        c += 1.0;
        y += 1.0;
        z += 2.0;
        let by = y * c;
        let next = [p[1] * z - p[0] * by, q[1] * z - q[0] * by];
        let mut moved = 1.0;
        if next[1] != 0.0 {
            let better = next[0] / next[1];
            moved = ((value - better) / better).abs();
            value = better;
        }
        (p, q) = ([p[1], next[0]], [q[1], next[1]]);
        if next[0].abs() > BIG {
            (p, q) = ([p[0] * f64::EPSILON, p[1] * f64::EPSILON], [q[0] * f64::EPSILON, q[1] * f64::EPSILON]);
        }
        if moved <= UNIT {
            break;
        }
    }
    value * factor
}

/// Either function if `a` is large and `x` close to it: `side` is 1 for the upper one, -1 for the lower one.
fn expansion(a: f64, x: f64, side: f64) -> f64 {
    let off = (x - a) / a;
    let size = (-2.0 * (log1p(off) - off)).sqrt();
    let ratio = x / a;
    let eta = if ratio > 1.0 {
        size
    } else if ratio < 1.0 {
        -size
    } else {
        0.0
    };
    let (mut sum, mut power, mut last) = (0.0_f64, 1.0, f64::INFINITY);
    for row in COEFFICIENTS {
        let (mut inner, mut by) = (row[0], 1.0);
        for coefficient in &row[1..] {
            by *= eta;
            let term = coefficient * by;
            inner += term;
            if term.abs() < UNIT * inner.abs() {
                break;
            }
        }
        let term = inner * power;
        if term.abs() > last {
            break;
        }
        sum += term;
        if term.abs() < UNIT * sum.abs() {
            break;
        }
        last = term.abs();
        power /= a;
    }
    // PyTorch uses the `f32` value of pi here.
    let turn = f64::from(2.0 * core::f32::consts::PI);
    let most = 0.5 * erfc(side * eta * (a / 2.0).sqrt());
    most + side * exp(-0.5 * a * eta * eta) * sum / (turn * a).sqrt()
}

/// Coefficients of powers of `1 / a`, each a polynomial in `eta`.
#[rustfmt::skip]
const COEFFICIENTS: &[&[f64]] = &[
    &[
        -0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073, 0.0003527336860670194, -0.0001787551440329218,
        3.919263178522438e-05, -2.1854485106799924e-06, -1.85406221071516e-06, 8.296711340953087e-07, -1.7665952736826078e-07,
        6.707853543401498e-09, 1.0261809784240309e-08, -4.382036018453353e-09, 9.14769958223679e-10, -2.551419399494625e-11,
        -5.830772132550426e-11,
    ],
    &[
        -0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596, 0.00020576131687242798,
        -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06, -1.6120900894563446e-06, 4.647127802807434e-09,
        1.378633446915721e-07, -5.752545603517705e-08, 1.1951628599778148e-08, -1.7543241719747647e-11, -1.0091543710600413e-09,
        4.162792991842583e-10,
    ],
    &[
        0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06, -0.00010736653226365161,
        5.2923448829120125e-05, -1.2760635188618728e-05, 3.423578734096138e-08, 1.3721957309062932e-06, -6.298992138380055e-07,
        1.4280614206064242e-07, -2.0477098421990866e-10, -1.409252991086752e-08, 6.228974084922022e-09,
    ],
    &[
        0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557, 0.00026772063206283885, -7.561801671883977e-05,
        -2.396505113867297e-07, 1.1082654115347302e-05, -5.6749528269915965e-06, 1.4230900732435883e-06, -2.7861080291528143e-11,
        -1.6958404091930278e-07, 8.099464905388083e-08, -1.9111168485973655e-08,
    ],
    &[
        -0.0008618882909167117, 0.0007840392217200666, -0.0002990724803031902, -1.4638452578843418e-06, 6.641498215465122e-05,
        -3.968365047179435e-05, 1.1375726970678419e-05, 2.507497226237533e-10, -1.6954149536558305e-06, 8.907507532205309e-07,
        -2.292934834000805e-07,
    ],
    &[
        -0.00033679855336635813, -6.972813758365858e-05, 0.0002772753244959392, -0.00019932570516188847, 6.797780477937208e-05,
        1.419062920643967e-07, -1.3594048189768693e-05, 8.018470256334202e-06, -2.291481176508095e-06, -3.252473551298454e-10,
        3.4652846491085265e-07,
    ],
    &[
        0.0005313079364639922, -0.0005921664373536939, 0.0002708782096718045, 7.902353232660328e-07, -8.153969367561969e-05, 5.61168275310625e-05,
        -1.8329116582843375e-05, -3.0796134506033047e-09, 3.465155368803609e-06, -2.0291327396058603e-06,
    ],
    &[
        0.00034436760689237765, 5.171790908260592e-05, -0.00033493161081142234, 0.0002812695154763237, -0.00010976582244684731,
        -1.2741009095484485e-07, 2.7744451511563645e-05, -1.8263488805711332e-05,
    ],
    &[
        -0.0006526239185953094, 0.0008394987206720873, -0.000438297098541721, -6.969091458420552e-07, 0.00016644846642067547,
        -0.00012783517679769218, 4.629953263691304e-05,
    ],
    &[
        -0.0005967612901927463, -7.204895416020011e-05, 0.0006782308837667328, -0.0006401475260262758, 0.00027750107634328704,
    ],
    &[
        0.0013324454494800656, -0.0019144384985654776, 0.0011089369134596636,
    ],
    &[
        0.001579727660730835,
    ],
];
