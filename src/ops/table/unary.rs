//! The table of unary operations.

/// `name { admits result, "what it does", "PyTorch's name", "an operand" = "the resulting elements", special }`; in front, a reader gets
/// the method names: `[try_name name_ name_into try_name_into]`.
macro_rules! unary_table {
    ($use:ident) => {
        castiron_macros::named! { [try_x x_ x_into try_x_into] $use
            abs { numeric real_part,
                "The absolute value; the modulus of complex numbers.", "torch.abs`, `torch.absolute",
                "tensor![-1.5, 2.0]" = "[1.5, 2.0]" }
            neg { numeric same,
                "The negative. Integers wrap.", "torch.neg`, `torch.negative",
                "tensor![1, -2]" = "[-1, 2]" }
            sign { ordered same,
                "-1, 0 or 1 by the sign; 0 for NaN.", "torch.sign",
                "tensor![-2.5, 0.0, 7.0]" = "[-1.0, 0.0, 1.0]" }
            square { any integer,
                "The square. Integers wrap; bools become `i64`.", "torch.square",
                "tensor![-3, 4]" = "[9, 16]" }
            exp { any inexact,
                "e raised to each element.", "torch.exp",
                "tensor![0.0, 1.0]" = "[1.0, std::f32::consts::E]" }
            log { any inexact,
                "The natural logarithm; NaN below zero.", "torch.log",
                "tensor![1.0, 0.0]" = "[0.0, f32::NEG_INFINITY]" }
            sqrt { any inexact,
                "The square root; NaN below zero.", "torch.sqrt",
                "tensor![4.0, 9.0]" = "[2.0, 3.0]" }
            rsqrt { any inexact,
                "One over the square root.", "torch.rsqrt",
                "tensor![4.0, 0.25]" = "[0.5, 2.0]" }
            reciprocal { any inexact,
                "One over each element.", "torch.reciprocal",
                "tensor![4.0, -2.0]" = "[0.25, -0.5]" }
            sin { any inexact,
                "The sine, of radians.", "torch.sin",
                "tensor![0.0]" = "[0.0]" }
            cos { any inexact,
                "The cosine, of radians.", "torch.cos",
                "tensor![0.0]" = "[1.0]" }
            tan { any inexact,
                "The tangent, of radians.", "torch.tan",
                "tensor![0.0]" = "[0.0]" }
            tanh { any inexact,
                "The hyperbolic tangent.", "torch.tanh`, `torch.nn.functional.tanh",
                "tensor![0.0, 100.0]" = "[0.0, 1.0]" }
            sigmoid { any inexact,
                "The logistic function `1 / (1 + exp(-x))`.", "torch.sigmoid`, `torch.special.expit`, `torch.nn.functional.sigmoid",
                "tensor![0.0, 100.0]" = "[0.5, 1.0]" }
            erf { ordered inexact,
                "The error function.", "torch.erf`, `torch.special.erf",
                "tensor![0.0, 10.0]" = "[0.0, 1.0]" }
            relu { real same,
                "Each element where it is positive, else 0. NaN stays NaN.", "torch.relu",
                "tensor![-1.0, 2.0]" = "[0.0, 2.0]" }
            gelu { float same,
                "The Gaussian error linear unit, `x * (1 + erf(x / sqrt(2))) / 2`.", "torch.nn.functional.gelu",
                "tensor![0.0, 10.0]" = "[0.0, 10.0]" }
            gelu_tanh { float same,
                "The Gaussian error linear unit by its tanh approximation.", "torch.nn.functional.gelu(approximate='tanh')",
                "tensor![0.0, 10.0]" = "[0.0, 10.0]" }
            silu { inexact same,
                "The sigmoid linear unit, `x * sigmoid(x)`.", "torch.nn.functional.silu",
                "tensor![0.0, 100.0]" = "[0.0, 100.0]" }
            floor { real same,
                "Rounds down. Integers stay.", "torch.floor",
                "tensor![-1.5, 1.5]" = "[-2.0, 1.0]" }
            ceil { real same,
                "Rounds up. Integers stay.", "torch.ceil",
                "tensor![-1.5, 1.5]" = "[-1.0, 2.0]" }
            round { real same,
                "Rounds to the nearest integer, halves to even. Integers stay.", "torch.round`, `torch.special.round",
                "tensor![0.5, 1.5, 2.5]" = "[0.0, 2.0, 2.0]" }
            trunc { real same,
                "Rounds towards zero. Integers stay.", "torch.trunc",
                "tensor![-1.5, 1.5]" = "[-1.0, 1.0]" }
            conj { any same,
                "The complex conjugate; real elements stay.", "torch.conj",
                "tensor![1.0 + 2.0j]" = "[castiron::Complex::new(1.0_f32, -2.0)]", marks_conjugates }
            angle { any angle,
                "The angle of complex numbers in radians; of real ones 0, pi below zero, and NaN of NaN.", "torch.angle",
                "tensor![1.0, -1.0]" = "[0.0, std::f32::consts::PI]" }
            logical_not { any boolean,
                "Whether each element is zero.", "torch.logical_not",
                "tensor![0, 2]" = "[true, false]", refuses_shell_outputs }
            bitwise_not { bits same,
                "Every bit inverted; bools negated.", "torch.bitwise_not",
                "tensor![0, 5]" = "[-1, -6]" }
            isnan { any boolean,
                "Whether each element is NaN, in either part of a complex number.", "torch.isnan",
                "tensor![1.0, f32::NAN]" = "[false, true]", fails_of_integers }
            isinf { any boolean,
                "Whether each element is infinite, in either part of a complex number.", "torch.isinf",
                "tensor![1.0, f32::INFINITY]" = "[false, true]", fails_of_integers }
            isfinite { any boolean,
                "Whether each element is neither infinite nor NaN, in both parts of a complex number.", "torch.isfinite",
                "tensor![1.0, f32::NAN]" = "[true, false]", holds_of_integers }
            acos { any inexact,
                "The arc cosine, in radians; NaN beyond -1 and 1.", "torch.acos`, `torch.arccos",
                "tensor![1.0, -1.0]" = "[0.0, std::f32::consts::PI]" }
            acosh { any inexact,
                "The inverse hyperbolic cosine; NaN below 1.", "torch.acosh`, `torch.arccosh",
                "tensor![1.0]" = "[0.0]" }
            asin { any inexact,
                "The arc sine, in radians; NaN beyond -1 and 1.", "torch.asin`, `torch.arcsin",
                "tensor![0.0]" = "[0.0]" }
            asinh { any inexact,
                "The inverse hyperbolic sine.", "torch.asinh`, `torch.arcsinh",
                "tensor![0.0]" = "[0.0]" }
            atan { any inexact,
                "The arc tangent, in radians.", "torch.atan`, `torch.arctan",
                "tensor![0.0]" = "[0.0]" }
            atanh { any inexact,
                "The inverse hyperbolic tangent; NaN beyond -1 and 1.", "torch.atanh`, `torch.arctanh",
                "tensor![0.0, 1.0]" = "[0.0, f32::INFINITY]" }
            sinh { any inexact,
                "The hyperbolic sine.", "torch.sinh",
                "tensor![0.0]" = "[0.0]" }
            cosh { any inexact,
                "The hyperbolic cosine.", "torch.cosh",
                "tensor![0.0]" = "[1.0]" }
            exp2 { any inexact,
                "2 raised to each element.", "torch.exp2`, `torch.special.exp2",
                "tensor![3.0, -1.0]" = "[8.0, 0.5]" }
            expm1 { any inexact,
                "`exp(x) - 1`, exact near zero.", "torch.expm1`, `torch.special.expm1",
                "tensor![0.0, 1e-20]" = "[0.0, 1e-20]" }
            log2 { any inexact,
                "The logarithm to base 2; NaN below zero.", "torch.log2",
                "tensor![8.0, 0.0]" = "[3.0, f32::NEG_INFINITY]" }
            log10 { any inexact,
                "The logarithm to base 10; NaN below zero.", "torch.log10",
                "tensor![100.0, 0.0]" = "[2.0, f32::NEG_INFINITY]" }
            log1p { any inexact,
                "`log(1 + x)`, exact near zero; NaN below -1.", "torch.log1p`, `torch.special.log1p",
                "tensor![0.0, 1e-20]" = "[0.0, 1e-20]" }
            sinc { any inexact,
                "`sin(pi * x) / (pi * x)`; 1 at zero.", "torch.sinc`, `torch.special.sinc",
                "tensor![0.0]" = "[1.0]" }
            softsign { numeric divided,
                "`x / (1 + abs(x))`.", "torch.nn.functional.softsign",
                "tensor![1.0, -3.0]" = "[0.5, -0.75]" }
            tanhshrink { numeric subtracted,
                "`x - tanh(x)`.", "torch.nn.functional.tanhshrink",
                "tensor![0.0, 100.0]" = "[0.0, 99.0]" }
            erfc { ordered inexact,
                "The complementary error function `1 - erf(x)`, exact where it is small.", "torch.erfc`, `torch.special.erfc",
                "tensor![0.0, 100.0]" = "[1.0, 0.0]" }
            erfinv { ordered inexact,
                "The inverse of the error function; NaN beyond -1 and 1.", "torch.erfinv`, `torch.special.erfinv",
                "tensor![0.0, 1.0]" = "[0.0, f32::INFINITY]" }
            erfcx { ordered inexact,
                "The scaled complementary error function `exp(x * x) * erfc(x)`.", "torch.special.erfcx",
                "tensor![0.0]" = "[1.0]" }
            lgamma { ordered inexact,
                "The logarithm of the absolute value of the gamma function.", "torch.lgamma`, `torch.special.gammaln",
                "tensor![1.0, 0.0]" = "[0.0, f32::INFINITY]" }
            digamma { ordered inexact,
                "The derivative of the logarithm of the gamma function; NaN at negative integers.", "torch.digamma`, `torch.special.digamma`, `torch.special.psi",
                "tensor![0.0]" = "[f32::NEG_INFINITY]" }
            entr { ordered inexact,
                "`-x * log(x)`; 0 at zero, minus infinity below.", "torch.special.entr",
                "tensor![1.0, 0.0, -1.0]" = "[-0.0, 0.0, f32::NEG_INFINITY]" }
            ndtr { ordered inexact,
                "The area under the standard normal density to the left of each element.", "torch.special.ndtr",
                "tensor![0.0, 100.0]" = "[0.5, 1.0]" }
            ndtri { ordered inexact,
                "The inverse of `ndtr`; NaN outside 0 to 1.", "torch.special.ndtri",
                "tensor![0.5, 1.0]" = "[0.0, f32::INFINITY]" }
            log_ndtr { ordered inexact,
                "The logarithm of `ndtr`, exact where that is small.", "torch.special.log_ndtr",
                "tensor![100.0]" = "[-0.0]" }
            i0 { ordered inexact,
                "The modified Bessel function of the first kind of order 0.", "torch.i0`, `torch.special.i0",
                "tensor![0.0]" = "[1.0]" }
            i0e { ordered inexact,
                "`exp(-abs(x)) * i0(x)`.", "torch.special.i0e",
                "tensor![0.0]" = "[1.0]" }
            i1 { ordered inexact,
                "The modified Bessel function of the first kind of order 1.", "torch.special.i1",
                "tensor![0.0]" = "[0.0]" }
            i1e { ordered inexact,
                "`exp(-abs(x)) * i1(x)`.", "torch.special.i1e",
                "tensor![0.0]" = "[0.0]" }
            airy_ai { ordered inexact,
                "The Airy function `Ai`; NaN at the infinities.", "torch.special.airy_ai",
                "tensor![200.0]" = "[0.0]" }
            bessel_j0 { ordered inexact,
                "The Bessel function of the first kind of order 0.", "torch.special.bessel_j0",
                "tensor![0.0]" = "[1.0]" }
            bessel_j1 { ordered inexact,
                "The Bessel function of the first kind of order 1.", "torch.special.bessel_j1",
                "tensor![0.0]" = "[0.0]" }
            bessel_y0 { ordered inexact,
                "The Bessel function of the second kind of order 0; NaN below zero.", "torch.special.bessel_y0",
                "tensor![0.0]" = "[f32::NEG_INFINITY]" }
            bessel_y1 { ordered inexact,
                "The Bessel function of the second kind of order 1; NaN below zero.", "torch.special.bessel_y1",
                "tensor![0.0]" = "[f32::NEG_INFINITY]" }
            modified_bessel_i0 { ordered inexact,
                "The same function as `i0`.", "torch.special.modified_bessel_i0",
                "tensor![0.0]" = "[1.0]" }
            modified_bessel_i1 { ordered inexact,
                "The same function as `i1`.", "torch.special.modified_bessel_i1",
                "tensor![0.0]" = "[0.0]" }
            modified_bessel_k0 { ordered inexact,
                "The modified Bessel function of the second kind of order 0; NaN below zero.", "torch.special.modified_bessel_k0",
                "tensor![0.0]" = "[f32::INFINITY]" }
            modified_bessel_k1 { ordered inexact,
                "The modified Bessel function of the second kind of order 1; NaN below zero.", "torch.special.modified_bessel_k1",
                "tensor![0.0]" = "[f32::INFINITY]" }
            scaled_modified_bessel_k0 { ordered inexact,
                "`exp(x) * modified_bessel_k0(x)`.", "torch.special.scaled_modified_bessel_k0",
                "tensor![0.0]" = "[f32::INFINITY]" }
            scaled_modified_bessel_k1 { ordered inexact,
                "`exp(x) * modified_bessel_k1(x)`.", "torch.special.scaled_modified_bessel_k1",
                "tensor![0.0]" = "[f32::INFINITY]" }
            spherical_bessel_j0 { ordered inexact,
                "The spherical Bessel function of the first kind of order 0, `sin(x) / x`.", "torch.special.spherical_bessel_j0",
                "tensor![0.0]" = "[1.0]" }
            deg2rad { ordered inexact,
                "Degrees to radians.", "torch.deg2rad",
                "tensor![180.0]" = "[std::f32::consts::PI]" }
            rad2deg { ordered inexact,
                "Radians to degrees.", "torch.rad2deg",
                "tensor![std::f32::consts::PI]" = "[180.0]" }
            sgn { any same,
                "The sign of real numbers, as [`sign`](crate::Tensor::sign); of complex ones the number of modulus 1 in their direction, and 0 of 0.", "torch.sgn",
                "tensor![-2.5, 7.0]" = "[-1.0, 1.0]" }
            positive { numeric same,
                "The elements as they are. (PyTorch: `+x`.)", "torch.positive",
                "tensor![1, -2]" = "[1, -2]", keeps_reals }
            conj_physical { any same,
                "The same function as [`conj`](crate::Tensor::conj).", "torch.conj_physical",
                "tensor![1.0 + 2.0j]" = "[castiron::Complex::new(1.0_f32, -2.0)]", keeps_reals }
            fix { real same,
                "The same function as [`trunc`](crate::Tensor::trunc).", "torch.fix",
                "tensor![-1.5, 1.5]" = "[-1.0, 1.0]" }
            frac { float same,
                "What [`trunc`](crate::Tensor::trunc) leaves over.", "torch.frac",
                "tensor![-1.5, 2.25]" = "[-0.5, 0.25]" }
            relu6 { real same,
                "[`relu`](crate::Tensor::relu), but at most 6. NaN stays NaN.", "torch.nn.functional.relu6",
                "tensor![-1, 3, 8]" = "[0, 3, 6]" }
            selu { float same,
                "The scaled exponential linear unit: `1.0507 * (x if x > 0 else 1.6733 * (exp(x) - 1))`.", "torch.selu`, `torch.nn.functional.selu",
                "tensor![0.0]" = "[0.0]" }
            logsigmoid { float same,
                "The logarithm of the logistic function.", "torch.nn.functional.logsigmoid",
                "tensor![100.0, -1000.0]" = "[-3.783506e-44, -1000.0]" }
            hardsigmoid { float same,
                "`clamp(x + 3, 0, 6) / 6`.", "torch.nn.functional.hardsigmoid",
                "tensor![-4.0, 0.0, 4.0]" = "[0.0, 0.5, 1.0]" }
            hardswish { float same,
                "`x * clamp(x + 3, 0, 6) / 6`.", "torch.nn.functional.hardswish",
                "tensor![-4.0, 3.0]" = "[-0.0, 3.0]" }
            mish { float same,
                "`x * tanh(log(1 + exp(x)))`.", "torch.nn.functional.mish",
                "tensor![0.0, 100.0]" = "[0.0, 100.0]" }
            isneginf { ordered mask,
                "Whether each element is minus infinity.", "torch.isneginf",
                "tensor![1.0, f32::NEG_INFINITY]" = "[false, true]", fails_of_integers }
            isposinf { ordered mask,
                "Whether each element is plus infinity.", "torch.isposinf",
                "tensor![1.0, f32::INFINITY]" = "[false, true]", fails_of_integers }
            signbit { ordered mask,
                "Whether each element is negative; minus zero is.", "torch.signbit",
                "tensor![-0.0, 1.0]" = "[true, false]" }
            isreal { any boolean,
                "Whether each element has no imaginary part.", "torch.isreal",
                "tensor![1.0 + 0.0j, 2.0j]" = "[true, false]", holds_of_reals }
        }
    };
}

pub(crate) use unary_table;
