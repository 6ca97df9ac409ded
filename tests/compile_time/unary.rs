//! Operations of one operand: elementwise ones, reductions, scans, conversions.

use crate::common::csv;
use crate::compare::{Tally, compare, theirs, wider};
use crate::grid::DTYPES;
use crate::probe::{Refused, To, Tuned, Unary, other};
use castiron::{DType, ops};
use std::collections::HashMap;

type Row = (&'static [&'static str], &'static [Option<DType>; 22]);

/// Reductions, scans, matrix products, parts of complex numbers.
fn methods() -> Vec<Row> {
    macro_rules! table {
        ($($op:ident: $($name:literal)+;)*) => { vec![$((&[$($name),+][..], dtypes!(unary_answers other::$op<E>))),*] };
    }
    table! {
        sum: "sum" "sum_dim0"; prod: "prod" "prod_dim0"; mean: "mean" "mean_dim0"; var: "var" "var_dim0"; std: "std" "std_dim0";
        max: "max" "amax" "amax_dim0"; min: "min" "amin" "amin_dim0"; argmax: "argmax" "argmax_dim0";
        argmin: "argmin" "argmin_dim0"; any: "any" "any_dim0" "all" "all_dim0"; cumsum: "cumsum_dim0"; softmax: "softmax_dim0";
        log_softmax: "log_softmax_dim0"; logsumexp: "logsumexp_dim0"; matmul: "mm_self" "dot_self"; real: "real"; imag: "imag";
    }
}

/// Functions with parameters.
fn tuned() -> Vec<Row> {
    macro_rules! table {
        ($($op:ident: $($name:literal)+;)*) => { vec![$((&[$($name),+][..], dtypes!(unary_answers Tuned<ops::$op, E>))),*] };
    }
    table! {
        elu: "F_elu"; celu: "F_celu"; softplus: "F_softplus"; softshrink: "F_softshrink"; hardshrink: "F_hardshrink";
        hardtanh: "F_hardtanh"; leaky_relu: "F_leaky_relu"; logit: "logit"; nan_to_num: "nan_to_num";
        round_decimals: "round_decimals1"; polygamma: "polygamma_1"; mvlgamma: "mvlgamma_1";
    }
}

/// `to` between all dtypes.
fn conversions() -> Vec<Row> {
    macro_rules! table {
        ([$($to:tt)*]) => { [$(dtypes!(unary_answers To<t!($to), E>)),*] };
    }
    let names: [&[&str]; 22] = [
        &["to_bool", "type_bool", "bool()"],
        &["to_u8", "type_u8"],
        &["to_i8", "type_i8"],
        &["to_i16", "type_i16"],
        &["to_i32", "type_i32", "int()"],
        &["to_i64", "type_i64", "long()"],
        &["to_f16", "type_f16", "half()"],
        &["to_bf16", "type_bf16", "bfloat16()"],
        &["to_f32", "type_f32", "float()"],
        &["to_f64", "type_f64", "double()"],
        &["to_c32", "type_c32", "chalf()"],
        &["to_c64", "type_c64", "cfloat()"],
        &["to_c128", "type_c128"],
        &["to_u16"],
        &["to_u32"],
        &["to_u64"],
        &["to_f8e4m3fn"],
        &["to_f8e4m3fnuz"],
        &["to_f8e5m2"],
        &["to_f8e5m2fnuz"],
        &["to_f8e8m0fnu"],
        &["to_f4e2m1x2"],
    ];
    names.into_iter().zip(dtypes!(table)).collect()
}

#[test]
fn every_unary_operation_gives_pytorchs_dtype() {
    macro_rules! table {
        ($($op:ident: $($name:literal)+;)*) => { vec![$((&[$($name),+][..], dtypes!(unary_answers Unary<ops::$op, E>))),*] };
    }
    let answers: Vec<(&[&str], &[Option<DType>; 22])> = table! {
        abs: "abs" "py_abs" "absolute"; neg: "neg" "py_neg" "negative"; sign: "sign"; square: "square"; exp: "exp"; log: "log";
        sqrt: "sqrt"; rsqrt: "rsqrt"; reciprocal: "reciprocal"; sin: "sin"; cos: "cos"; tan: "tan"; tanh: "tanh";
        sigmoid: "sigmoid"; erf: "erf"; relu: "relu"; gelu: "F_gelu"; silu: "F_silu"; floor: "floor"; ceil: "ceil";
        round: "round"; trunc: "trunc"; conj: "conj"; angle: "angle"; logical_not: "logical_not";
        bitwise_not: "bitwise_not"; isnan: "isnan"; isinf: "isinf"; isfinite: "isfinite";
        acos: "acos" "arccos"; acosh: "acosh"; asin: "asin"; asinh: "asinh"; atan: "atan"; atanh: "atanh"; sinh: "sinh";
        cosh: "cosh"; exp2: "exp2"; expm1: "expm1"; log2: "log2"; log10: "log10"; log1p: "log1p"; sinc: "sinc";
        softsign: "F_softsign"; tanhshrink: "F_tanhshrink"; erfc: "erfc"; erfinv: "erfinv"; erfcx: "special_erfcx";
        lgamma: "lgamma"; digamma: "digamma" "special_psi"; entr: "special_entr"; ndtr: "special_ndtr"; ndtri: "special_ndtri";
        log_ndtr: "special_log_ndtr"; i0: "i0" "special_i0"; i0e: "special_i0e"; i1: "special_i1"; i1e: "special_i1e";
        airy_ai: "special_airy_ai"; bessel_j0: "special_bessel_j0"; bessel_j1: "special_bessel_j1"; bessel_y0: "special_bessel_y0";
        bessel_y1: "special_bessel_y1"; modified_bessel_i0: "special_modified_bessel_i0";
        modified_bessel_k0: "special_modified_bessel_k0"; scaled_modified_bessel_k0: "special_scaled_modified_bessel_k0";
        spherical_bessel_j0: "special_spherical_bessel_j0"; deg2rad: "deg2rad"; rad2deg: "rad2deg"; sgn: "sgn";
        positive: "positive" "py_pos"; conj_physical: "conj_physical"; fix: "fix"; frac: "frac"; relu6: "F_relu6"; selu: "selu";
        logsigmoid: "F_logsigmoid"; hardsigmoid: "F_hardsigmoid"; hardswish: "F_hardswish"; mish: "F_mish";
        isneginf: "isneginf"; isposinf: "isposinf"; signbit: "signbit"; isreal: "isreal";
    };
    let answers = answers.into_iter().chain(tuned()).chain(methods()).chain(conversions());
    let table = csv("unary_ops.csv");
    let rows: HashMap<[&str; 2], &str> = table.rows.iter().map(|row| ([0, 1].map(|i| &*row[i]), &*row[2])).collect();
    let mut tally = Tally::default();
    for (names, answers) in answers {
        for (&[op, dtype], &result) in rows.iter().filter(|([op, _], _)| names.contains(op)) {
            let ours = DTYPES.iter().position(|known| *known == dtype).map(|at| answers[at]);
            if dtype == "u8" && (op.starts_with("any") || op.starts_with("all")) {
                // a question's answer is a bool
                assert_eq!((ours, result), (Some(Some(DType::Bool)), "u8"));
                *tally.departures.entry("any and all of uint8 give bool".to_owned()).or_default() += 1;
                continue;
            }
            if (op, dtype) == ("F_hardtanh", "u8") {
                // whether the bounds are negative is found out while running
                *tally.departures.entry("bounds of uint8 judged while running".to_owned()).or_default() += 1;
                continue;
            }
            compare(&mut tally, op, ours, theirs(&table, result), dtype, "", || {
                rows.get(&[op, wider(dtype)]).is_none_or(|result| !table.errors.contains_key(*result))
            });
        }
    }
    tally.finish("unary_ops");
}
