//! Elementary and special functions are as accurate as `docs/accuracy.md` promises.

#[path = "../../examples/accuracy/src/measure.rs"]
mod measure;

use measure::{double, single};

#[test]
fn functions_keep_what_they_promise() {
    let mut broken = String::new();
    for row in measure::ROWS {
        for (dtype, error, bound) in [("f32", single(row, 262_147), row.single), ("f64", double(row), row.double)] {
            if !error.is_within(bound) {
                broken +=
                    &format!("{} of {dtype}: {:.2} ulp at {:?}, promised {bound}\n", row.name, error.ulps, error.at);
            }
        }
    }
    for row in measure::COMPLEX_ROWS {
        let errors = measure::complex(row);
        for (dtype, error, bound) in [("c64", &errors[0], row.single), ("c128", &errors[1], row.double)] {
            let (error, part) = (&error.of_larger, error.of_part.ulps);
            if !error.is_within(bound) {
                broken += &format!(
                    "{} of {dtype}: {:.2} ulp at {:?} ({part:.2} of a part), promised {bound}\n",
                    row.name, error.ulps, error.at
                );
            }
        }
    }
    assert!(broken.is_empty(), "\n{broken}");
}

/// A result does not depend on how many elements are computed with it.
#[test]
fn one_element_and_many_have_the_same_bits() {
    for row in measure::ROWS {
        for x in measure::arguments(row) {
            let (one, many) = measure::alone_and_beside_others(row, &x);
            assert!(one == many || (one.is_nan() && many.is_nan()), "{} of {x:?}: {one:?} and {many:?}", row.name);
        }
    }
}

/// Complex functions whose real part is a logarithm: on the unit circle, where squares cancel, near it, and at both ends of the numbers. Beside
/// the digits that mpmath computes of the same numbers.
#[test]
#[allow(clippy::approx_constant, clippy::excessive_precision, reason = "digits that were computed")]
fn complex_logarithms_are_as_exact_as_real_ones() {
    macro_rules! check {
        ($float:ident: $($row:expr,)*) => {
            for (name, re, im, of_re, of_im) in [$($row),*] {
                let z = castiron::tensor![castiron::Complex::<$float>::new(re, im)];
                let w = match name {
                    "log" => z.log(),
                    "log2" => z.log2(),
                    "log10" => z.log10(),
                    "log1p" => z.log1p(),
                    "sqrt" => z.sqrt(),
                    _ => z.atanh(),
                };
                let w = w.to_vec()[0];
                for (got, wanted) in [(w.re, of_re), (w.im, of_im)] {
                    let unit = f64::max((wanted as f64).abs() * f64::from($float::EPSILON), $float::from_bits(1).into());
                    let off = (f64::from(got) - wanted as f64).abs() / unit;
                    assert!(off <= 3.0, "{name} of {re:e} {im:e}: {got:e}, not {wanted:e}");
                }
            }
        };
    }
    check! {
        f32:
        ("log", 6e-1, 8e-1, 2.38418577e-8, 0.927295206),
        ("log", 7.0710677e-1, 7.0710677e-1, -1.71142712e-8, 0.785398163),
        ("log", -2.8e-1, 9.6e-1, -2.02655794e-8, 1.85459044),
        ("log", 1.0, 1e-4, 4.99999972e-9, 9.99999971e-5),
        ("log", 3e38, 3e38, 88.9434194, 0.785398163),
        ("log", 3e-45, 3e-45, -102.239209, 0.785398163),
        ("log", 1e-40, -3e-41, -92.0603187, -0.291461937),
        ("log2", 5.403023e-1, 8.4147096e-1, -5.68037556e-8, 1.44269505),
        ("log10", 5.403023e-1, -8.4147096e-1, -1.70996343e-8, -0.434294486),
        ("log10", 3e38, -3e38, 38.6276363, -0.341094088),
        ("log2", 3e-45, 1e-44, -146.13604, 1.86467853),
        ("log1p", -4e-1, 8e-1, 5.96046453e-9, 0.92729523),
        ("log1p", 2.6e-38, -1.9e-39, 2.6e-38, -1.89999957e-39),
        ("log1p", -1e-6, 1.4142134e-3, 3.37904407e-13, 0.00141421392),
        ("log1p", -2e38, 3e38, 88.7807082, 2.15879891),
        ("sqrt", 2.4e38, -1.3e38, 1.60147885e19, -4.05874868e18),
        ("atanh", 3.3e38, -7.5e37, 2.88146696e-39, -1.57079633),
    }
    check! {
        f64:
        ("log", 0.6, 0.8, 2.2204460492503132e-17, 0.92729521800161228),
        ("log", 0.7071067811865476, 0.7071067811865476, 6.8358086576619227e-17, 0.78539816339744831),
        ("log", 0.38461538461538464, 0.9230769230769231, 5.5511151231257825e-17, 1.1760052070951351),
        ("log", 1.0, 1e-9, 5.0000000000000006e-19, 1.0000000000000001e-9),
        ("log", -1.5e308, 1.2e308, 709.84902187119229, 2.4668517113662406),
        ("log", 1e-323, 1e-323, -743.40035115054134, 0.78539816339744831),
        ("log", 3e-310, -1e-309, -711.45570488703959, -1.2793395323170309),
        ("log2", 0.5403023058681398, 0.8414709848078965, 3.4954169392222384e-17, 1.4426950408889633),
        ("log10", -0.5403023058681398, 0.8414709848078965, 1.0522253460578769e-17, 0.93008187193858954),
        ("log10", 1.7e308, 1.7e308, 308.38096391921026, 0.34109408846046034),
        ("log2", 1e-323, 2e-323, -1071.8390359525563, 1.5972779646881088),
        ("log1p", -0.4, 0.8, 2.2204460492503132e-17, 0.92729521800161228),
        ("log1p", 2.6e-308, -1.9e-309, 2.6e-308, -1.8999999999999991e-309),
        ("log1p", -1e-9, 4.4721359549995795e-5, 5.0000000618673831e-19, 4.4721359564902915e-5),
        ("log1p", 1.6e308, -1.5e308, 709.98155718422491, -0.7531512809621944),
        ("sqrt", 1.3e308, -6.7e307, 1.1752654728286504e154, -2.8504198221165801e153),
        ("atanh", 1.5e308, -1.2e308, 4.0650406504065042e-309, -1.5707963267948966),
    }
}
