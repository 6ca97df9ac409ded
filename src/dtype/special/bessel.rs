//! Bessel functions of the first and second kind, of orders 0 and 1.
//!
//! Source: the Cephes Math Library (S. Moshier, BSD-3-Clause), in PyTorch's form (`aten/src/ATen/native/Math.h`), which omits the leading 1
//! of some denominators and is therefore off by up to 1e-6 of the amplitude. The forms for up to 5 and beyond are both computed, and one is
//! selected. They compute in the dtype itself, in which the angle is rounded. For `x` so large that sine and cosine need a full range
//! reduction, only the form without `_small` is valid.

use super::poly::{pick, polynomial};
use crate::dtype::MachineFloat;
use crate::dtype::math::{Cos, CosSmall, Log, Sin, SinSmall};

/// Where the asymptotic form starts.
const NEAR: f64 = 5.0;

/// The asymptotic form above 5: the phase shift, and two quotients of polynomials, highest power first.
struct Asymptotic {
    phase: f64,
    p: [&'static [f64]; 2],
    q: [&'static [f64]; 2],
}
const ORDER_0: Asymptotic = Asymptotic {
    phase: core::f64::consts::FRAC_PI_4,
    p: [
        &[
            0.0007969367292973471,
            0.08283523921074408,
            1.239533716464143,
            5.447250030587687,
            8.74716500199817,
            5.303240382353949,
            1.0,
        ],
        &[
            0.0009244088105588637,
            0.08562884743544745,
            1.2535274390105895,
            5.470977403304171,
            8.761908832370695,
            5.306052882353947,
            1.0,
        ],
    ],
    q: [
        &[
            -0.011366383889846916,
            -1.2825271867050931,
            -19.553954425773597,
            -93.20601521237683,
            -177.68116798048806,
            -147.07750515495118,
            -51.41053267665993,
            -6.050143506007285,
        ],
        &[
            64.3178256118178,
            856.4300259769806,
            3882.4018360540163,
            7240.467741956525,
            5930.727011873169,
            2062.0933166032783,
            242.0057402402914,
        ],
    ],
};
const ORDER_1: Asymptotic = Asymptotic {
    phase: 3.0 * core::f64::consts::FRAC_PI_4,
    p: [
        &[
            0.0007621256162081731,
            0.07313970569409176,
            1.1271960812968493,
            5.112079511468076,
            8.424045901417724,
            5.214515986823615,
            1.0,
        ],
        &[
            0.0005713231280725487,
            0.06884559087544954,
            1.105142326340617,
            5.073863861286015,
            8.399855543276042,
            5.209828486823619,
            1.0,
        ],
    ],
    q: [
        &[
            0.05108625947501766,
            4.982138729512334,
            75.82382841325453,
            366.7796093601508,
            710.8563049989261,
            597.4896124006136,
            211.68875710057213,
            25.207020585802372,
        ],
        &[
            74.23732770356752,
            1056.4488603826283,
            4986.410583376536,
            9562.318924047562,
            7997.041604473507,
            2826.1927851763908,
            336.0936078106983,
        ],
    ],
};
/// `j0` up to 5, divided by its first two roots, as a polynomial in the square, as in all tables below.
const J0: [f64; 4] = [-4794432209.782018, 1956174919465.5657, -249248344360967.72, 9708622510473064.0];
/// Its denominator.
const J0_BELOW: [f64; 8] = [
    499.563147152651,
    173785.4016763747,
    48440965.83399621,
    11185553704.535683,
    2112775201154.892,
    310518229857422.56,
    3.1812195594320496e+16,
    1.7108629408104315e+18,
];
/// `j1` up to 5, divided by its first two roots.
const J1: [f64; 4] = [-899971225.7055594, 452228297998.19403, -72749424522181.83, 3682957328638529.0];
/// Its denominator.
const J1_BELOW: [f64; 8] = [
    620.8364781180543,
    256987.25675774884,
    83514679.14319493,
    22151159547.97925,
    4749141220799.914,
    784369607876235.9,
    8.952223361846274e+16,
    5.322786203326801e+18,
];
/// `y0` up to 5, without its logarithmic term.
const Y0: [f64; 8] = [
    15592.436785523574,
    -14663929.59039716,
    5435264770.518765,
    -982136065717.9115,
    87590639439536.7,
    -3466283033847297.0,
    4.4273326857256984e+16,
    -1.8495080043698668e+16,
];
/// Its denominator.
const Y0_BELOW: [f64; 7] = [
    1041.2835366425984,
    626107.330137135,
    268919633.39381415,
    86400248710.3935,
    20297961275010.555,
    3171577528429750.5,
    2.5059625617265306e+17,
];
/// `y1` up to 5, without its logarithmic term and pole.
const Y1: [f64; 6] = [
    1263204747.9017804,
    -647355876379.1603,
    114509511541823.73,
    -8127702555013251.0,
    2.024394757135949e+17,
    -7.788771962659501e+17,
];
/// Its denominator.
const Y1_BELOW: [f64; 8] = [
    594.3015923461282,
    235564.09294306856,
    73481194.44597217,
    18760131610.870617,
    3882312774962.3857,
    620557727146953.8,
    6.871410873553005e+16,
    3.9727060811656064e+18,
];

/// The sine and the cosine.
#[inline(always)]
fn turn<T: MachineFloat, const SMALL: bool>(angle: T) -> [T; 2] {
    if SMALL {
        [T::elementary::<SinSmall>(angle), T::elementary::<CosSmall>(angle)]
    } else {
        [T::elementary::<Sin>(angle), T::elementary::<Cos>(angle)]
    }
}

impl Asymptotic {
    /// The asymptotic form of the first kind, or of the second kind, as a single quotient: a division takes as long as ten products.
    #[inline(always)]
    fn wave<T: MachineFloat, const SMALL: bool>(&self, x: T, second_kind: bool) -> (T, T) {
        let inverse = T::lit(5.0) / x;
        let square = inverse * inverse;
        let [p, p_below] = self.p.map(|of| polynomial(square, of));
        let [q, q_below] = self.q.map(|of| polynomial(square, of));
        let [sin, cos] = turn::<T, SMALL>(x - T::lit(self.phase));
        let [first, second] = if second_kind { [sin, cos] } else { [cos, -sin] };
        // The square root of 2 / pi.
        let above = (p * q_below * first + inverse * (q * p_below) * second) * T::lit(0.797_884_560_802_865_4);
        (above, p_below * q_below * x.sqrt())
    }
}

/// Selects one of two quotients, with a single division.
#[inline(always)]
fn quotient<T: MachineFloat>(first: bool, one: (T, T), other: (T, T)) -> T {
    pick(first, one.0, other.0) / pick(first, one.1, other.1)
}

/// `j0` up to 5, as a quotient.
#[inline(always)]
fn j0_near<T: MachineFloat>(square: T) -> (T, T) {
    let roots = (square - T::lit(5.783_185_962_946_784)) * (square - T::lit(30.471_262_343_662_087));
    (roots * polynomial(square, &J0), polynomial(square, &J0_BELOW))
}
/// `j1` up to 5, as a quotient.
#[inline(always)]
fn j1_near<T: MachineFloat>(x: T) -> (T, T) {
    let square = x * x;
    let roots = (square - T::lit(14.681_970_642_123_893)) * (square - T::lit(49.218_456_321_694_6));
    (x * (roots * polynomial(square, &J1)), polynomial(square, &J1_BELOW))
}

#[inline(always)]
fn j0_of<T: MachineFloat, const SMALL: bool>(x: T) -> T {
    let x = x.abs();
    let square = x * x;
    let value = quotient(x <= T::lit(NEAR), j0_near(square), ORDER_0.wave::<T, SMALL>(x, false));
    pick(x < T::lit(0.00001), T::one() - square / T::lit(4.0), value)
}
#[inline(always)]
fn j1_of<T: MachineFloat, const SMALL: bool>(x: T) -> T {
    let size = x.abs();
    let value = quotient(size <= T::lit(NEAR), j1_near(size), ORDER_1.wave::<T, SMALL>(size, false));
    // The function is odd.
    pick(x < T::zero(), -value, value)
}
#[inline(always)]
fn y0_of<T: MachineFloat, const SMALL: bool>(x: T) -> T {
    let (square, near) = (x * x, x <= T::lit(NEAR));
    let own = (polynomial(square, &Y0), polynomial(square, &Y0_BELOW));
    let value = quotient(near, own, ORDER_0.wave::<T, SMALL>(x, true));
    let (j0, j0_below) = j0_near(square);
    pick(near, value + T::FRAC_2_PI() * T::elementary::<Log>(x) * (j0 / j0_below), value)
}
#[inline(always)]
fn y1_of<T: MachineFloat, const SMALL: bool>(x: T) -> T {
    let (square, near) = (x * x, x <= T::lit(NEAR));
    let own = (x * polynomial(square, &Y1), polynomial(square, &Y1_BELOW));
    let value = quotient(near, own, ORDER_1.wave::<T, SMALL>(x, true));
    let (j1, j1_below) = j1_near(x);
    let pole = j1 / j1_below * T::elementary::<Log>(x) - T::one() / x;
    let value = pick(near, value + T::FRAC_2_PI() * pole, value);
    pick(x == T::zero(), T::neg_infinity(), value)
}

/// `j0, j0_small = j0_of, "…";` writes the two forms of a function.
macro_rules! forms {
    ($($all:ident, $small:ident = $of:ident, $doc:literal;)*) => {$(
        #[doc = $doc]
        #[inline(always)]
        pub fn $all<T: MachineFloat>(x: T) -> T {
            $of::<T, false>(x)
        }
        #[doc = $doc]
        #[inline(always)]
        pub fn $small<T: MachineFloat>(x: T) -> T {
            $of::<T, true>(x)
        }
    )*};
}
forms! {
    j0, j0_small = j0_of, "The first kind, order 0.";
    j1, j1_small = j1_of, "The first kind, order 1.";
    y0, y0_small = y0_of, "The second kind, order 0: minus infinity at 0, NaN below.";
    y1, y1_small = y1_of, "The second kind, order 1, likewise.";
}
