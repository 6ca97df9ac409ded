//! The polynomials behind the elementary functions, for f32 and for f64.
//!
//! Plain data. The coefficients were fitted for this crate at the Chebyshev nodes with mpmath at 45 digits, then rounded; highest power
//! first.

// The shortest decimals that parse to the same bits.
#![allow(clippy::excessive_precision, clippy::unreadable_literal)]

/// A polynomial, highest power first; evaluated in pairs of terms and powers of x^2, which halves the dependency chain.
macro_rules! horner {
    ($x:expr; $($terms:literal),*) => {{
        let x = $x;
        horner!(@pairs x, x * x; $($terms),*)
    }};
    // An odd number of terms starts with a single one.
    (@pairs $x:ident, $square:expr; $a:literal $(, $b:literal, $c:literal)*) => {{
        let square = $square;
        let value = like($x, $a);
        $(let value = value.mul_add(square, $x.mul_add($b, $c));)*
        value
    }};
    (@pairs $x:ident, $square:expr; $a:literal, $b:literal $(, $c:literal, $d:literal)*) => {{
        let square = $square;
        let value = $x.mul_add($a, $b);
        $(let value = value.mul_add(square, $x.mul_add($c, $d));)*
        value
    }};
}

/// Gives a number the type of another.
#[inline(always)]
fn like<T>(_: T, value: T) -> T {
    value
}

/// The polynomials of one floating-point type; each is named after the function it serves.
pub trait Poly: Sized {
    /// The centre of the substitution in [`Poly::erfcx`].
    const ERFCX_K: Self;
    /// The constant term that [`Poly::erfcx`] omits, so that it can be added without rounding.
    const ERFCX_0: Self;
    /// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2.
    fn exp(x: Self) -> Self;
    /// (sinh(x) - x) / x^3 in z = x^2 for |x| <= 1.
    fn sinh(x: Self) -> Self;
    /// (tanh(x) - x) / x^3 in z = x^2 for |x| <= 0.625.
    fn tanh(x: Self) -> Self;
    /// (2 atanh(s) - 2 s) / s^3 in z = s^2 for |s| <= 0.1716.
    fn log(x: Self) -> Self;
    /// (sin(y) - y) / y^3 in z = y^2 for |y| <= pi/4.
    fn sin(x: Self) -> Self;
    /// (cos(y) - 1 + z/2) / z^2 in z = y^2 for |y| <= pi/4.
    fn cos(x: Self) -> Self;
    /// (asin(x) - x) / x^3 in z = x^2 for |x| <= 1/2.
    fn asin(x: Self) -> Self;
    /// (atan(t) - t) / t^3 in z = t^2 for |t| <= 7/16.
    fn atan(x: Self) -> Self;
    /// erf(x) / x - 1 in z = x^2 for |x| <= 0.65.
    fn erf_near(x: Self) -> Self;
    /// (1 + 2 x) e^(x^2) erfc(x) - ERFCX_0 in t = (x - ERFCX_K) / (x + ERFCX_K) for x from 0 to where erfc underflows.
    fn erfcx(x: Self) -> Self;
    /// The centre of [`Poly::erfinv_far`]'s range, and the inverse of half its width.
    const ERFINV_FAR: (Self, Self);
    /// (erfinv(x) / x - sqrt(pi)/2) / w with w = -log(1 - x^2), in t = w / 3.125 - 1 for t from -1 to 1.
    fn erfinv_near(t: Self) -> Self;
    /// erfinv(x) in sqrt(-log(1 - x^2)) from 2.5 to where x is 1, as t from -1 to 1.
    fn erfinv_far(t: Self) -> Self;
}

impl Poly for f32 {
    const ERFCX_K: Self = 3.0;
    const ERFCX_0: Self = 1.253008;
    // Largest error 2^-24.
    #[inline(always)]
    fn exp(x: Self) -> Self {
        horner!(x; 0.001392625, 0.008363233, 0.041666552, 0.16666576, 0.5)
    }
    // Largest error 2^-32.
    #[inline(always)]
    fn sinh(x: Self) -> Self {
        horner!(x; 2.8062802e-06, 0.00019838102, 0.008333339, 0.16666667)
    }
    // Largest error 2^-29.
    #[inline(always)]
    fn tanh(x: Self) -> Self {
        horner!(x; 0.0022925576, -0.00834378, 0.021768868, -0.053959254, 0.13333304, -0.33333334)
    }
    // Largest error 2^-22.
    #[inline(always)]
    fn log(x: Self) -> Self {
        horner!(x; 0.295804, 0.3998877, 0.66666687)
    }
    // Largest error 2^-26.
    #[inline(always)]
    fn sin(x: Self) -> Self {
        horner!(x; -0.00019587626, 0.008332747, -0.16666664)
    }
    // Largest error 2^-29.
    #[inline(always)]
    fn cos(x: Self) -> Self {
        horner!(x; 2.4547677e-05, -0.0013888301, 0.041666664)
    }
    // Largest error 2^-28.
    #[inline(always)]
    fn asin(x: Self) -> Self {
        horner!(x; 0.033690847, 0.017149238, 0.031100662, 0.044599403, 0.07500094, 0.16666666)
    }
    // Largest error 2^-25.
    #[inline(always)]
    fn atan(x: Self) -> Self {
        horner!(x; -0.062147226, 0.106680185, -0.14256537, 0.19999313, -0.3333333)
    }
    // Largest error 2^-32.
    #[inline(always)]
    fn erf_near(x: Self) -> Self {
        horner!(x; -0.0007159896, 0.0051600486, -0.026852371, 0.11283656, -0.37612635, 0.12837917)
    }
    // Largest error 2^-28.
    #[inline(always)]
    fn erfcx(x: Self) -> Self {
        horner!(x; -0.00027545603, -0.0007931826, 0.001998225, 0.002578218, -0.023792459, 0.06829324, -0.11927229, 0.12964664, -0.047562297, -0.13562115, 4.9971103e-08)
    }
    const ERFINV_FAR: (Self, Self) = (3.3, 1.25);
    // Largest error 2^-27.
    #[inline(always)]
    fn erfinv_near(t: Self) -> Self {
        horner!(t; 4.396239e-06, 1.5452575e-05, -6.9448535e-05, -5.2111636e-06, 0.0004137302, -0.0008249946, -0.000504664, 0.0062041087, -0.01343655, -0.00541871, 0.24557684)
    }
    // Largest error 2^-24.
    #[inline(always)]
    fn erfinv_far(t: Self) -> Self {
        horner!(t; 4.1348426e-06, -6.4402375e-05, 0.00033006823, -0.0011704944, 0.0027506838, 0.8047624, 3.1341324)
    }
}

impl Poly for f64 {
    const ERFCX_K: Self = 4.0;
    const ERFCX_0: Self = 1.2329951186255526;
    // Largest error 2^-59.
    #[inline(always)]
    fn exp(x: Self) -> Self {
        horner!(x; 2.09147553258932e-09, 2.5105312729622103e-08, 2.755727347871858e-07, 2.755725517000089e-06, 2.480158732567746e-05, 0.0001984126987500228, 0.0013888888888883711, 0.008333333333326084, 0.04166666666666667, 0.1666666666666667, 0.5)
    }
    // Largest error 2^-72.
    #[inline(always)]
    fn sinh(x: Self) -> Self {
        horner!(x; 2.8445264169895616e-15, 7.646625361656656e-13, 1.6059048396350562e-10, 2.505210836405804e-08, 2.755731922404034e-06, 0.00019841269841269773, 0.008333333333333333, 0.16666666666666666)
    }
    // Largest error 2^-58.
    #[inline(always)]
    fn tanh(x: Self) -> Self {
        horner!(x; 6.484104982390291e-06, -3.11989266677007e-05, 9.256923588508688e-05, -0.00023758968852115146, 0.0005896603606552606, -0.001455775353209628, 0.003592121743695985, -0.008863235102653483, 0.02186948851898143, -0.05396825396789636, 0.13333333333333042, -0.3333333333333333)
    }
    // Largest error 2^-52.
    #[inline(always)]
    fn log(x: Self) -> Self {
        horner!(x; 0.1461703754883715, 0.15331674030163508, 0.18182890556695763, 0.22222211115144158, 0.2857142862609589, 0.3999999999989924, 0.666666666666667)
    }
    // Largest error 2^-55.
    #[inline(always)]
    fn sin(x: Self) -> Self {
        horner!(x; 1.5917981501403893e-10, -2.505112979254902e-08, 2.7557316092699366e-06, -0.0001984126983673957, 0.008333333333330936, -0.16666666666666666)
    }
    // Largest error 2^-59.
    #[inline(always)]
    fn cos(x: Self) -> Self {
        horner!(x; -1.1382539967163214e-11, 2.0876144984413673e-09, -2.7557317265565887e-07, 2.48015872987538e-05, -0.0013888888888887389, 0.041666666666666664)
    }
    // Largest error 2^-56.
    #[inline(always)]
    fn asin(x: Self) -> Self {
        horner!(x; 0.028757851367602328, -0.014851887071528912, 0.01740087944288715, 0.005457506718563782, 0.0103228143502052, 0.011479177415181617, 0.013971212973553311, 0.017352392720869945, 0.02237217294214989, 0.030381944138531247, 0.04464285714635543, 0.07499999999998433, 0.16666666666666669)
    }
    // Largest error 2^-58.
    #[inline(always)]
    fn atan(x: Self) -> Self {
        horner!(x; 0.014766421553716417, -0.033121323310557324, 0.04491963714911859, -0.05216607416782575, 0.05876935496530156, -0.06666240859375785, 0.07692285488764959, -0.09090908353049669, 0.11111111096587765, -0.1428571428556615, 0.19999999999999407, -0.3333333333333333)
    }
    // Largest error 2^-58.
    #[inline(always)]
    fn erf_near(x: Self) -> Self {
        horner!(x; -1.353155864537985e-07, 1.621601516465039e-06, -1.4913616332135308e-05, 0.00012054974904946399, -0.000854832040592679, 0.0052239775508374255, -0.026866170640293834, 0.11283791670939182, -0.3761263890318355, 0.12837916709551256)
    }
    // Largest error 2^-59.
    #[inline(always)]
    fn erfcx(x: Self) -> Self {
        horner!(x; 1.263782858042137e-09, 1.868487385473519e-09, -1.4091982822555755e-08, -1.799947545903142e-08, 1.1005996198640057e-07, 7.471952780500971e-08, -8.254699744871162e-07, 2.9377854943443786e-07, 5.709784760966506e-06, -1.1222046316669005e-05, -2.439924428312988e-05, 0.00015062169704678355, -0.00019925668432389153, -0.0007577732973669146, 0.005031969975753176, -0.01619773405599449, 0.03716751553777026, -0.0663303658124095, 0.09373283499833023, -0.10103906603629459, 0.06809705425469323, 0.015379652102619558, -0.13962111684056253, -4.497011797204883e-17)
    }
    const ERFINV_FAR: (Self, Self) = (4.35, 0.5405405405405406);
    // Largest error 2^-55.
    #[inline(always)]
    fn erfinv_near(t: Self) -> Self {
        horner!(t; -5.530969927525587e-11, 3.0496448964441593e-10, -5.557881997285279e-13, -2.7601453346848775e-09, 4.792081874425329e-09, 7.788753830043659e-09, -4.012311875504493e-08, 3.6791057045873845e-08, 1.3655826614145504e-07, -4.75476285283456e-07, 2.562199759502774e-07, 2.0253607418567466e-06, -5.627504251511253e-06, 8.186512041137515e-07, 2.9058858403240225e-05, -6.646329066324265e-05, -1.8142673298653884e-05, 0.00041253805579446876, -0.0008194795827411864, -0.0005044610180741399, 0.006203136799985834, -0.013436559985088149, -0.005418661488121984, 0.24557684391371032)
    }
    // Largest error 2^-53.
    #[inline(always)]
    fn erfinv_far(t: Self) -> Self {
        horner!(t; -7.576704481168753e-09, 2.2157483738013887e-08, 1.0200123470397969e-08, -1.0841804409220871e-07, 1.441530156885526e-07, -2.4880306568275073e-08, -2.268943909106975e-07, 6.664541158270764e-07, -1.1668706335335339e-06, 1.0297787438281578e-06, 6.107155617511285e-07, -4.041584541663292e-06, 8.551342839365392e-06, -1.2273927172918408e-05, 1.2232868865555212e-05, -4.080703847980328e-06, -2.0020648627482567e-05, 7.753479355328959e-05, -0.00020811658242457675, 0.0004939616992226099, -0.0010784294405847593, 0.0021165926106823524, -0.003342391196584168, 0.0018551937066408637, 1.8686915035998803, 4.193227778890951)
    }
}

/// -ln(erfc(x)) for x from 0.65 to 4. Largest error, times erfc(x), 2^-28.
#[inline(always)]
pub(crate) fn log_erfc(x: f32) -> f32 {
    horner!(x; -0.00021864196, 0.0032547335, -0.023024775, 0.10549239, 0.6355107, 1.128606, -1.4866984e-05)
}

/// (2 atanh(s) - 2 s - 2/3 s^3) / s^5 in z = s^2 for |s| <= 0.1716. Largest error 2^-59.
#[inline(always)]
pub(crate) fn log_tail(x: f64) -> f64 {
    horner!(x; 0.11723603627181392, 0.11706195689409352, 0.13334806212121444, 0.15384594934597448, 0.18181818335654165, 0.22222222221654733, 0.2857142857142937, 0.4)
}

/// (2 atanh(s) - 2 s) / s^3 in z = s^2 for |s| <= 0.1716, for a result in f32. Largest error 2^-36.
#[inline(always)]
pub(crate) fn short_log(x: f64) -> f64 {
    horner!(x; 0.19363186932161763, 0.22191373380944632, 0.2857175496835035, 0.39999998795219155, 0.6666666666737665)
}

/// (e^r - 1 - r) / r^2 for |r| <= ln(2)/2, for a result in f32. Largest error 2^-33.
#[inline(always)]
pub(crate) fn short_exp(x: f64) -> f64 {
    horner!(x; 2.4859578222625295e-05, 0.0001989927395864936, 0.001388885404961482, 0.008333298483754886, 0.041666666718980845, 0.16666666718997508, 0.5)
}
