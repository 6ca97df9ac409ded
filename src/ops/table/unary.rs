//! The operations of one operand.

/// `name { [try inplace into try_into] admits result, "what it does", "PyTorch's name", "example" = "its elements", special }`
macro_rules! unary_table {
    ($use:ident) => {
        $use! {
            abs { [try_abs abs_ abs_into try_abs_into] numeric real_part,
                "The absolute value; the modulus of complex numbers.", "torch.abs`, `torch.absolute",
                "tensor![-1.5, 2.0].abs()" = "[1.5, 2.0]" }
            neg { [try_neg neg_ neg_into try_neg_into] numeric same,
                "The negative. Integers wrap.", "torch.neg`, `torch.negative",
                "tensor![1, -2].neg()" = "[-1, 2]" }
            sign { [try_sign sign_ sign_into try_sign_into] ordered same,
                "-1, 0 or 1 by the sign; 0 for NaN.", "torch.sign",
                "tensor![-2.5, 0.0, 7.0].sign()" = "[-1.0, 0.0, 1.0]" }
            square { [try_square square_ square_into try_square_into] any integer,
                "The square. Integers wrap; bools become `i64`.", "torch.square",
                "tensor![-3, 4].square()" = "[9, 16]" }
            exp { [try_exp exp_ exp_into try_exp_into] any inexact,
                "e raised to each element.", "torch.exp",
                "tensor![0.0, 1.0].exp()" = "[1.0, std::f32::consts::E]" }
            log { [try_log log_ log_into try_log_into] any inexact,
                "The natural logarithm; NaN below zero.", "torch.log",
                "tensor![1.0, 0.0].log()" = "[0.0, f32::NEG_INFINITY]" }
            sqrt { [try_sqrt sqrt_ sqrt_into try_sqrt_into] any inexact,
                "The square root; NaN below zero.", "torch.sqrt",
                "tensor![4, 9].sqrt()" = "[2.0, 3.0]" }
            rsqrt { [try_rsqrt rsqrt_ rsqrt_into try_rsqrt_into] any inexact,
                "One over the square root.", "torch.rsqrt",
                "tensor![4.0, 0.25].rsqrt()" = "[0.5, 2.0]" }
            reciprocal { [try_reciprocal reciprocal_ reciprocal_into try_reciprocal_into] any inexact,
                "One over each element.", "torch.reciprocal",
                "tensor![4, -2].reciprocal()" = "[0.25, -0.5]" }
            sin { [try_sin sin_ sin_into try_sin_into] any inexact,
                "The sine, of radians.", "torch.sin",
                "tensor![0.0].sin()" = "[0.0]" }
            cos { [try_cos cos_ cos_into try_cos_into] any inexact,
                "The cosine, of radians.", "torch.cos",
                "tensor![0.0].cos()" = "[1.0]" }
            tan { [try_tan tan_ tan_into try_tan_into] any inexact,
                "The tangent, of radians.", "torch.tan",
                "tensor![0.0].tan()" = "[0.0]" }
            tanh { [try_tanh tanh_ tanh_into try_tanh_into] any inexact,
                "The hyperbolic tangent.", "torch.tanh`, `torch.nn.functional.tanh",
                "tensor![0.0, 100.0].tanh()" = "[0.0, 1.0]" }
            sigmoid { [try_sigmoid sigmoid_ sigmoid_into try_sigmoid_into] any inexact,
                "The logistic function `1 / (1 + exp(-x))`.", "torch.sigmoid`, `torch.special.expit`, `torch.nn.functional.sigmoid",
                "tensor![0.0, 100.0].sigmoid()" = "[0.5, 1.0]" }
            erf { [try_erf erf_ erf_into try_erf_into] ordered inexact,
                "The error function.", "torch.erf`, `torch.special.erf",
                "tensor![0.0, 10.0].erf()" = "[0.0, 1.0]" }
            relu { [try_relu relu_ relu_into try_relu_into] real same,
                "Each element where it is positive, else 0. NaN stays NaN.", "torch.relu",
                "tensor![-1.0, 2.0].relu()" = "[0.0, 2.0]" }
            gelu { [try_gelu gelu_ gelu_into try_gelu_into] float same,
                "The Gaussian error linear unit, `x * (1 + erf(x / sqrt(2))) / 2`.", "torch.nn.functional.gelu",
                "tensor![0.0, 10.0].gelu()" = "[0.0, 10.0]" }
            gelu_tanh { [try_gelu_tanh gelu_tanh_ gelu_tanh_into try_gelu_tanh_into] float same,
                "The Gaussian error linear unit by its tanh approximation.", "torch.nn.functional.gelu(approximate='tanh')",
                "tensor![0.0, 10.0].gelu_tanh()" = "[0.0, 10.0]" }
            silu { [try_silu silu_ silu_into try_silu_into] inexact same,
                "The sigmoid linear unit, `x * sigmoid(x)`.", "torch.nn.functional.silu",
                "tensor![0.0, 100.0].silu()" = "[0.0, 100.0]" }
            floor { [try_floor floor_ floor_into try_floor_into] real same,
                "Rounds down. Integers stay.", "torch.floor",
                "tensor![-1.5, 1.5].floor()" = "[-2.0, 1.0]" }
            ceil { [try_ceil ceil_ ceil_into try_ceil_into] real same,
                "Rounds up. Integers stay.", "torch.ceil",
                "tensor![-1.5, 1.5].ceil()" = "[-1.0, 2.0]" }
            round { [try_round round_ round_into try_round_into] real same,
                "Rounds to the nearest integer, halves to even. Integers stay.", "torch.round`, `torch.special.round",
                "tensor![0.5, 1.5, 2.5].round()" = "[0.0, 2.0, 2.0]" }
            trunc { [try_trunc trunc_ trunc_into try_trunc_into] real same,
                "Rounds towards zero. Integers stay.", "torch.trunc",
                "tensor![-1.5, 1.5].trunc()" = "[-1.0, 1.0]" }
            conj { [try_conj conj_ conj_into try_conj_into] any same,
                "The complex conjugate; real elements stay.", "torch.conj",
                "tensor![1.0 + 2.0j].conj()" = "[castiron::Complex::new(1.0, -2.0)]", marks_conjugates }
            angle { [try_angle angle_ angle_into try_angle_into] any angle,
                "The angle of complex numbers in radians; of real ones 0, pi below zero, and NaN of NaN.", "torch.angle",
                "tensor![1.0, -1.0].angle()" = "[0.0, std::f32::consts::PI]" }
            logical_not { [try_logical_not logical_not_ logical_not_into try_logical_not_into] any boolean,
                "Whether each element is zero.", "torch.logical_not",
                "tensor![0, 2].logical_not()" = "[true, false]", refuses_shell_outputs }
            bitwise_not { [try_bitwise_not bitwise_not_ bitwise_not_into try_bitwise_not_into] bits same,
                "Every bit inverted; bools negated.", "torch.bitwise_not",
                "tensor![0, 5].bitwise_not()" = "[-1, -6]" }
            isnan { [try_isnan isnan_ isnan_into try_isnan_into] any boolean,
                "Whether each element is NaN, in either part of a complex number.", "torch.isnan",
                "tensor![1.0, f32::NAN].isnan()" = "[false, true]" }
            isinf { [try_isinf isinf_ isinf_into try_isinf_into] any boolean,
                "Whether each element is infinite, in either part of a complex number.", "torch.isinf",
                "tensor![1.0, f32::INFINITY].isinf()" = "[false, true]" }
            isfinite { [try_isfinite isfinite_ isfinite_into try_isfinite_into] any boolean,
                "Whether each element is neither infinite nor NaN, in both parts of a complex number.", "torch.isfinite",
                "tensor![1.0, f32::NAN].isfinite()" = "[true, false]" }
            acos { [try_acos acos_ acos_into try_acos_into] any inexact,
                "The arc cosine, in radians; NaN beyond -1 and 1.", "torch.acos`, `torch.arccos",
                "tensor![1.0, -1.0].acos()" = "[0.0, std::f32::consts::PI]" }
            acosh { [try_acosh acosh_ acosh_into try_acosh_into] any inexact,
                "The inverse hyperbolic cosine; NaN below 1.", "torch.acosh`, `torch.arccosh",
                "tensor![1.0].acosh()" = "[0.0]" }
            asin { [try_asin asin_ asin_into try_asin_into] any inexact,
                "The arc sine, in radians; NaN beyond -1 and 1.", "torch.asin`, `torch.arcsin",
                "tensor![0.0].asin()" = "[0.0]" }
            asinh { [try_asinh asinh_ asinh_into try_asinh_into] any inexact,
                "The inverse hyperbolic sine.", "torch.asinh`, `torch.arcsinh",
                "tensor![0.0].asinh()" = "[0.0]" }
            atan { [try_atan atan_ atan_into try_atan_into] any inexact,
                "The arc tangent, in radians.", "torch.atan`, `torch.arctan",
                "tensor![0.0].atan()" = "[0.0]" }
            atanh { [try_atanh atanh_ atanh_into try_atanh_into] any inexact,
                "The inverse hyperbolic tangent; NaN beyond -1 and 1.", "torch.atanh`, `torch.arctanh",
                "tensor![0.0, 1.0].atanh()" = "[0.0, f32::INFINITY]" }
            sinh { [try_sinh sinh_ sinh_into try_sinh_into] any inexact,
                "The hyperbolic sine.", "torch.sinh",
                "tensor![0.0].sinh()" = "[0.0]" }
            cosh { [try_cosh cosh_ cosh_into try_cosh_into] any inexact,
                "The hyperbolic cosine.", "torch.cosh",
                "tensor![0.0].cosh()" = "[1.0]" }
            exp2 { [try_exp2 exp2_ exp2_into try_exp2_into] any inexact,
                "2 raised to each element.", "torch.exp2`, `torch.special.exp2",
                "tensor![3, -1].exp2()" = "[8.0, 0.5]" }
            expm1 { [try_expm1 expm1_ expm1_into try_expm1_into] any inexact,
                "`exp(x) - 1`, exact near zero.", "torch.expm1`, `torch.special.expm1",
                "tensor![0.0, 1e-20].expm1()" = "[0.0, 1e-20]" }
            log2 { [try_log2 log2_ log2_into try_log2_into] any inexact,
                "The logarithm to base 2; NaN below zero.", "torch.log2",
                "tensor![8, 0].log2()" = "[3.0, f32::NEG_INFINITY]" }
            log10 { [try_log10 log10_ log10_into try_log10_into] any inexact,
                "The logarithm to base 10; NaN below zero.", "torch.log10",
                "tensor![100, 0].log10()" = "[2.0, f32::NEG_INFINITY]" }
            log1p { [try_log1p log1p_ log1p_into try_log1p_into] any inexact,
                "`log(1 + x)`, exact near zero; NaN below -1.", "torch.log1p`, `torch.special.log1p",
                "tensor![0.0, 1e-20].log1p()" = "[0.0, 1e-20]" }
            sinc { [try_sinc sinc_ sinc_into try_sinc_into] any inexact,
                "`sin(pi * x) / (pi * x)`; 1 at zero.", "torch.sinc`, `torch.special.sinc",
                "tensor![0.0].sinc()" = "[1.0]" }
            softsign { [try_softsign softsign_ softsign_into try_softsign_into] numeric divided,
                "`x / (1 + abs(x))`.", "torch.nn.functional.softsign",
                "tensor![1.0, -3.0].softsign()" = "[0.5, -0.75]" }
            tanhshrink { [try_tanhshrink tanhshrink_ tanhshrink_into try_tanhshrink_into] numeric subtracted,
                "`x - tanh(x)`.", "torch.nn.functional.tanhshrink",
                "tensor![0.0, 100.0].tanhshrink()" = "[0.0, 99.0]" }
            erfc { [try_erfc erfc_ erfc_into try_erfc_into] ordered inexact,
                "The complementary error function `1 - erf(x)`, exact where it is small.", "torch.erfc`, `torch.special.erfc",
                "tensor![0.0, 100.0].erfc()" = "[1.0, 0.0]" }
            erfinv { [try_erfinv erfinv_ erfinv_into try_erfinv_into] ordered inexact,
                "The inverse of the error function; NaN beyond -1 and 1.", "torch.erfinv`, `torch.special.erfinv",
                "tensor![0.0, 1.0].erfinv()" = "[0.0, f32::INFINITY]" }
            erfcx { [try_erfcx erfcx_ erfcx_into try_erfcx_into] ordered inexact,
                "The scaled complementary error function `exp(x * x) * erfc(x)`.", "torch.special.erfcx",
                "tensor![0.0].erfcx()" = "[1.0]" }
            lgamma { [try_lgamma lgamma_ lgamma_into try_lgamma_into] ordered inexact,
                "The logarithm of the absolute value of the gamma function.", "torch.lgamma`, `torch.special.gammaln",
                "tensor![1, 0].lgamma()" = "[0.0, f32::INFINITY]" }
            digamma { [try_digamma digamma_ digamma_into try_digamma_into] ordered inexact,
                "The derivative of the logarithm of the gamma function; NaN at negative integers.", "torch.digamma`, `torch.special.digamma`, `torch.special.psi",
                "tensor![0.0].digamma()" = "[f32::NEG_INFINITY]" }
            entr { [try_entr entr_ entr_into try_entr_into] ordered inexact,
                "`-x * log(x)`; 0 at zero, minus infinity below.", "torch.special.entr",
                "tensor![1.0, 0.0, -1.0].entr()" = "[0.0, 0.0, f32::NEG_INFINITY]" }
            ndtr { [try_ndtr ndtr_ ndtr_into try_ndtr_into] ordered inexact,
                "The area under the standard normal density to the left of each element.", "torch.special.ndtr",
                "tensor![0.0, 100.0].ndtr()" = "[0.5, 1.0]" }
            ndtri { [try_ndtri ndtri_ ndtri_into try_ndtri_into] ordered inexact,
                "The inverse of `ndtr`; NaN outside 0 to 1.", "torch.special.ndtri",
                "tensor![0.5, 1.0].ndtri()" = "[0.0, f32::INFINITY]" }
            log_ndtr { [try_log_ndtr log_ndtr_ log_ndtr_into try_log_ndtr_into] ordered inexact,
                "The logarithm of `ndtr`, exact where that is small.", "torch.special.log_ndtr",
                "tensor![100.0].log_ndtr()" = "[0.0]" }
            i0 { [try_i0 i0_ i0_into try_i0_into] ordered inexact,
                "The modified Bessel function of the first kind of order 0.", "torch.i0`, `torch.special.i0",
                "tensor![0.0].i0()" = "[1.0]" }
            i0e { [try_i0e i0e_ i0e_into try_i0e_into] ordered inexact,
                "`exp(-abs(x)) * i0(x)`.", "torch.special.i0e",
                "tensor![0.0].i0e()" = "[1.0]" }
            i1 { [try_i1 i1_ i1_into try_i1_into] ordered inexact,
                "The modified Bessel function of the first kind of order 1.", "torch.special.i1",
                "tensor![0.0].i1()" = "[0.0]" }
            i1e { [try_i1e i1e_ i1e_into try_i1e_into] ordered inexact,
                "`exp(-abs(x)) * i1(x)`.", "torch.special.i1e",
                "tensor![0.0].i1e()" = "[0.0]" }
            airy_ai { [try_airy_ai airy_ai_ airy_ai_into try_airy_ai_into] ordered inexact,
                "The Airy function `Ai`; NaN at the infinities.", "torch.special.airy_ai",
                "tensor![200.0].airy_ai()" = "[0.0]" }
            bessel_j0 { [try_bessel_j0 bessel_j0_ bessel_j0_into try_bessel_j0_into] ordered inexact,
                "The Bessel function of the first kind of order 0.", "torch.special.bessel_j0",
                "tensor![0.0].bessel_j0()" = "[1.0]" }
            bessel_j1 { [try_bessel_j1 bessel_j1_ bessel_j1_into try_bessel_j1_into] ordered inexact,
                "The Bessel function of the first kind of order 1.", "torch.special.bessel_j1",
                "tensor![0.0].bessel_j1()" = "[0.0]" }
            bessel_y0 { [try_bessel_y0 bessel_y0_ bessel_y0_into try_bessel_y0_into] ordered inexact,
                "The Bessel function of the second kind of order 0; NaN below zero.", "torch.special.bessel_y0",
                "tensor![0.0].bessel_y0()" = "[f32::NEG_INFINITY]" }
            bessel_y1 { [try_bessel_y1 bessel_y1_ bessel_y1_into try_bessel_y1_into] ordered inexact,
                "The Bessel function of the second kind of order 1; NaN below zero.", "torch.special.bessel_y1",
                "tensor![0.0].bessel_y1()" = "[f32::NEG_INFINITY]" }
            modified_bessel_i0 { [try_modified_bessel_i0 modified_bessel_i0_ modified_bessel_i0_into try_modified_bessel_i0_into] ordered inexact,
                "The same function as `i0`.", "torch.special.modified_bessel_i0",
                "tensor![0.0].modified_bessel_i0()" = "[1.0]" }
            modified_bessel_i1 { [try_modified_bessel_i1 modified_bessel_i1_ modified_bessel_i1_into try_modified_bessel_i1_into] ordered inexact,
                "The same function as `i1`.", "torch.special.modified_bessel_i1",
                "tensor![0.0].modified_bessel_i1()" = "[0.0]" }
            modified_bessel_k0 { [try_modified_bessel_k0 modified_bessel_k0_ modified_bessel_k0_into try_modified_bessel_k0_into] ordered inexact,
                "The modified Bessel function of the second kind of order 0; NaN below zero.", "torch.special.modified_bessel_k0",
                "tensor![0.0].modified_bessel_k0()" = "[f32::INFINITY]" }
            modified_bessel_k1 { [try_modified_bessel_k1 modified_bessel_k1_ modified_bessel_k1_into try_modified_bessel_k1_into] ordered inexact,
                "The modified Bessel function of the second kind of order 1; NaN below zero.", "torch.special.modified_bessel_k1",
                "tensor![0.0].modified_bessel_k1()" = "[f32::INFINITY]" }
            scaled_modified_bessel_k0 { [try_scaled_modified_bessel_k0 scaled_modified_bessel_k0_ scaled_modified_bessel_k0_into try_scaled_modified_bessel_k0_into] ordered inexact,
                "`exp(x) * modified_bessel_k0(x)`.", "torch.special.scaled_modified_bessel_k0",
                "tensor![0.0].scaled_modified_bessel_k0()" = "[f32::INFINITY]" }
            scaled_modified_bessel_k1 { [try_scaled_modified_bessel_k1 scaled_modified_bessel_k1_ scaled_modified_bessel_k1_into try_scaled_modified_bessel_k1_into] ordered inexact,
                "`exp(x) * modified_bessel_k1(x)`.", "torch.special.scaled_modified_bessel_k1",
                "tensor![0.0].scaled_modified_bessel_k1()" = "[f32::INFINITY]" }
            spherical_bessel_j0 { [try_spherical_bessel_j0 spherical_bessel_j0_ spherical_bessel_j0_into try_spherical_bessel_j0_into] ordered inexact,
                "The spherical Bessel function of the first kind of order 0, `sin(x) / x`.", "torch.special.spherical_bessel_j0",
                "tensor![0.0].spherical_bessel_j0()" = "[1.0]" }
            deg2rad { [try_deg2rad deg2rad_ deg2rad_into try_deg2rad_into] ordered inexact,
                "Degrees to radians.", "torch.deg2rad",
                "tensor![180].deg2rad()" = "[std::f32::consts::PI]" }
            rad2deg { [try_rad2deg rad2deg_ rad2deg_into try_rad2deg_into] ordered inexact,
                "Radians to degrees.", "torch.rad2deg",
                "tensor![std::f32::consts::PI].rad2deg()" = "[180.0]" }
            sgn { [try_sgn sgn_ sgn_into try_sgn_into] any same,
                "The sign of real numbers, as [`sign`](crate::Tensor::sign); of complex ones the number of modulus 1 in their direction, and 0 of 0.", "torch.sgn",
                "tensor![-2.5, 7.0].sgn()" = "[-1.0, 1.0]" }
            positive { [try_positive positive_ positive_into try_positive_into] numeric same,
                "The elements as they are. (PyTorch: `+x`.)", "torch.positive",
                "tensor![1, -2].positive()" = "[1, -2]" }
            conj_physical { [try_conj_physical conj_physical_ conj_physical_into try_conj_physical_into] any same,
                "The same function as [`conj`](crate::Tensor::conj).", "torch.conj_physical",
                "tensor![1.0 + 2.0j].conj_physical()" = "[castiron::Complex::new(1.0, -2.0)]" }
            fix { [try_fix fix_ fix_into try_fix_into] real same,
                "The same function as [`trunc`](crate::Tensor::trunc).", "torch.fix",
                "tensor![-1.5, 1.5].fix()" = "[-1.0, 1.0]" }
            frac { [try_frac frac_ frac_into try_frac_into] float same,
                "What [`trunc`](crate::Tensor::trunc) leaves over.", "torch.frac",
                "tensor![-1.5, 2.25].frac()" = "[-0.5, 0.25]" }
            relu6 { [try_relu6 relu6_ relu6_into try_relu6_into] real same,
                "[`relu`](crate::Tensor::relu), but at most 6. NaN stays NaN.", "torch.nn.functional.relu6",
                "tensor![-1, 3, 8].relu6()" = "[0, 3, 6]" }
            selu { [try_selu selu_ selu_into try_selu_into] float same,
                "The scaled exponential linear unit: `1.0507 * (x if x > 0 else 1.6733 * (exp(x) - 1))`.", "torch.selu`, `torch.nn.functional.selu",
                "tensor![0.0].selu()" = "[0.0]" }
            logsigmoid { [try_logsigmoid logsigmoid_ logsigmoid_into try_logsigmoid_into] float same,
                "The logarithm of the logistic function.", "torch.nn.functional.logsigmoid",
                "tensor![100.0, -1000.0].logsigmoid()" = "[-3.783506e-44, -1000.0]" }
            hardsigmoid { [try_hardsigmoid hardsigmoid_ hardsigmoid_into try_hardsigmoid_into] float same,
                "`clamp(x + 3, 0, 6) / 6`.", "torch.nn.functional.hardsigmoid",
                "tensor![-4.0, 0.0, 4.0].hardsigmoid()" = "[0.0, 0.5, 1.0]" }
            hardswish { [try_hardswish hardswish_ hardswish_into try_hardswish_into] float same,
                "`x * clamp(x + 3, 0, 6) / 6`.", "torch.nn.functional.hardswish",
                "tensor![-4.0, 3.0].hardswish()" = "[0.0, 3.0]" }
            mish { [try_mish mish_ mish_into try_mish_into] float same,
                "`x * tanh(log(1 + exp(x)))`.", "torch.nn.functional.mish",
                "tensor![0.0, 100.0].mish()" = "[0.0, 100.0]" }
            isneginf { [try_isneginf isneginf_ isneginf_into try_isneginf_into] ordered mask,
                "Whether each element is minus infinity.", "torch.isneginf",
                "tensor![1.0, f32::NEG_INFINITY].isneginf()" = "[false, true]" }
            isposinf { [try_isposinf isposinf_ isposinf_into try_isposinf_into] ordered mask,
                "Whether each element is plus infinity.", "torch.isposinf",
                "tensor![1.0, f32::INFINITY].isposinf()" = "[false, true]" }
            signbit { [try_signbit signbit_ signbit_into try_signbit_into] ordered mask,
                "Whether each element is negative; minus zero is.", "torch.signbit",
                "tensor![-0.0, 1.0].signbit()" = "[true, false]" }
            isreal { [try_isreal isreal_ isreal_into try_isreal_into] any boolean,
                "Whether each element has no imaginary part.", "torch.isreal",
                "tensor![1.0 + 0.0j, 2.0j].isreal()" = "[true, false]" }
        }
    };
}

pub(crate) use unary_table;
