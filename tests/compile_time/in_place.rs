//! What may be written to what: `+=` and the like, in-place methods, `_into` forms, `copy_from` and `fill`.

use crate::common::csv;
use crate::compare::{Tally, compare, theirs, wider, zero_dim_twin};
use crate::grid::{Answers, DTYPES};
use crate::probe::{
    CopyFrom, Fill, InPlace, InPlacePrecisely, Into, IntoPrecisely, Refused, TensorInPlace, TunedInPlace, UnaryInPlace,
    UnaryInto, operator,
};
use castiron::{DType, ops};
use std::collections::HashMap;

#[test]
fn every_in_place_form_is_admitted_or_refused_as_in_pytorch() {
    macro_rules! table {
        ($($op:ty: $($name:literal)+;)*) => { vec![$((&[$($name),+][..], pairs!(answers $op, place))),*] };
    }
    let answers: Vec<(&[&str], Answers)> = table! {
        operator::add_assign<L, R>: "iadd" "add_";
        operator::sub_assign<L, R>: "isub" "sub_";
        operator::mul_assign<L, R>: "imul" "mul_";
        operator::div_assign<L, R>: "itruediv" "div_";
        operator::rem_assign<L, R>: "imod" "remainder_";
        operator::bitand_assign<L, R>: "iand" "bitwise_and_";
        operator::bitor_assign<L, R>: "ior" "bitwise_or_";
        operator::bitxor_assign<L, R>: "ixor" "bitwise_xor_";
        operator::shl_assign<L, R>: "ilshift" "bitwise_left_shift_";
        operator::shr_assign<L, R>: "irshift" "bitwise_right_shift_";
        InPlace<ops::floor_divide, L, R>: "ifloordiv" "floor_divide_" "div_floor_";
        InPlace<ops::trunc_divide, L, R>: "div_trunc_";
        InPlace<ops::fmod, L, R>: "fmod_";
        InPlace<ops::pow, L, R>: "ipow" "pow_";
        InPlace<ops::clamp_min, L, R>: "clamp_min_";
        InPlace<ops::clamp_max, L, R>: "clamp_max_";
        InPlace<ops::eq, L, R>: "eq_";
        InPlace<ops::lt, L, R>: "lt_";
        InPlace<ops::le, L, R>: "le_";
        InPlace<ops::gt, L, R>: "gt_";
        InPlace<ops::ge, L, R>: "ge_";
        InPlace<ops::ne, L, R>: "ne_";
        TensorInPlace<ops::logical_and, L, R>: "logical_and_";
        TensorInPlace<ops::logical_or, L, R>: "logical_or_";
        TensorInPlace<ops::logical_xor, L, R>: "logical_xor_";
        InPlacePrecisely<ops::float_power, L, R>: "float_power_";
        InPlace<ops::copysign, L, R>: "copysign_";
        InPlace<ops::xlogy, L, R>: "xlogy_";
        TensorInPlace<ops::atan2, L, R>: "atan2_";
        TensorInPlace<ops::hypot, L, R>: "hypot_";
        TensorInPlace<ops::nextafter, L, R>: "nextafter_";
        TensorInPlace<ops::gcd, L, R>: "gcd_";
        TensorInPlace<ops::lcm, L, R>: "lcm_";
        TensorInPlace<ops::ldexp, L, R>: "ldexp_";
        TensorInPlace<ops::heaviside, L, R>: "heaviside_";
        CopyFrom<L, R>: "copy_";
        Fill<L, R>: "fill_";
    };
    let outs: Vec<(&str, Answers)> = {
        macro_rules! outs {
            ($($op:ty: $name:literal;)*) => { vec![$(($name, pairs!(answers $op, place))),*] };
        }
        outs! {
            Into<ops::add, L, R>: "add"; Into<ops::sub, L, R>: "sub"; Into<ops::mul, L, R>: "mul"; Into<ops::div, L, R>: "div";
            Into<ops::floor_divide, L, R>: "floor_divide"; Into<ops::floor_divide, L, R>: "div_floor"; Into<ops::trunc_divide, L, R>: "div_trunc";
            Into<ops::remainder, L, R>: "remainder"; Into<ops::fmod, L, R>: "fmod"; Into<ops::pow, L, R>: "pow";
            Into<ops::maximum, L, R>: "maximum"; Into<ops::minimum, L, R>: "minimum";
            Into<ops::bitwise_and, L, R>: "bitwise_and"; Into<ops::bitwise_left_shift, L, R>: "bitwise_left_shift";
            Into<ops::eq, L, R>: "eq"; Into<ops::ne, L, R>: "ne"; Into<ops::lt, L, R>: "lt"; Into<ops::le, L, R>: "le"; Into<ops::gt, L, R>: "gt";
            Into<ops::ge, L, R>: "ge"; Into<ops::logical_and, L, R>: "logical_and"; Into<ops::logical_or, L, R>: "logical_or";
            UnaryInto<ops::abs, L, R>: "abs"; UnaryInto<ops::neg, L, R>: "neg"; UnaryInto<ops::sign, L, R>: "sign"; UnaryInto<ops::square, L, R>: "square";
            UnaryInto<ops::exp, L, R>: "exp"; UnaryInto<ops::sqrt, L, R>: "sqrt"; UnaryInto<ops::reciprocal, L, R>: "reciprocal";
            UnaryInto<ops::sin, L, R>: "sin"; UnaryInto<ops::sigmoid, L, R>: "sigmoid"; UnaryInto<ops::floor, L, R>: "floor";
            UnaryInto<ops::round, L, R>: "round"; UnaryInto<ops::bitwise_not, L, R>: "bitwise_not"; UnaryInto<ops::logical_not, L, R>: "logical_not";
            UnaryInto<ops::angle, L, R>: "angle"; UnaryInto<ops::signbit, L, R>: "signbit";
            Into<ops::atan2, L, R>: "atan2"; Into<ops::copysign, L, R>: "copysign"; IntoPrecisely<ops::float_power, L, R>: "float_power";
            Into<ops::fmax, L, R>: "fmax"; Into<ops::fmin, L, R>: "fmin"; Into<ops::gcd, L, R>: "gcd"; Into<ops::lcm, L, R>: "lcm";
            IntoPrecisely<ops::heaviside, L, R>: "heaviside"; Into<ops::hypot, L, R>: "hypot"; Into<ops::ldexp, L, R>: "ldexp";
            Into<ops::logaddexp, L, R>: "logaddexp"; Into<ops::nextafter, L, R>: "nextafter"; Into<ops::xlogy, L, R>: "xlogy";
        }
    };
    let table = csv("inplace.csv");
    let mut tally = Tally::default();
    let rows: HashMap<[&str; 5], &str> =
        table.rows.iter().map(|row| ([0, 1, 2, 3, 4].map(|i| &*row[i]), &*row[5])).collect();
    let all = answers.iter().map(|(_, answers)| answers).chain(outs.iter().map(|(_, answers)| answers));
    let cells: usize = all.map(Answers::cells).sum();
    for (&[form, op, kinds, left, right], &result) in &rows {
        let found = match form {
            "ip" => answers.iter().find(|(names, _)| names.contains(&op)).map(|(_, answers)| answers),
            "out" => outs.iter().find(|(name, _)| *name == op).map(|(_, answers)| answers),
            _ => None,
        };
        let Some(answers) = found else { continue };
        // Tensors are copied, scalars filled in: PyTorch's two methods take either.
        let tensors_only = op == "copy_" && kinds.ends_with('S');
        let scalars_only = op == "fill_" && !kinds.ends_with('S');
        if tensors_only || scalars_only {
            continue;
        }
        let ours = answers.get(kinds, left, right);
        let theirs = match theirs(&table, result) {
            // "ok", or "resized" where PyTorch changes the output's shape, which a type cannot
            Ok("resized") => continue,
            other => other,
        };
        let complex_bound = op.starts_with("clamp") && right == "py.complex" && theirs.is_ok();
        if complex_bound && ours == Some(None) {
            *tally.departures.entry("complex bounds of clamp refused".to_owned()).or_default() += 1;
            continue;
        }
        if op == "fill_" && right == "py.complex" && theirs.is_err() {
            // whether a complex value fits a real dtype depends on the value: found out while running
            *tally.departures.entry("complex fill values judged while running".to_owned()).or_default() += 1;
            continue;
        }
        if let Some(zero_dim) = zero_dim_twin(kinds)
            && !rows.contains_key(&[form, op, zero_dim, left, right])
            && theirs.is_ok()
        {
            let ours = answers.get(zero_dim, left, right);
            compare(&mut tally, &format!("{form} {op} {zero_dim}"), ours, theirs.clone(), left, right, || true);
        }
        compare(&mut tally, &format!("{form} {op} {kinds}"), ours, theirs, left, right, || {
            let key = [form, op, kinds, wider(left), wider(right)];
            rows.get(&key).is_none_or(|result| !table.errors.contains_key(*result))
        });
    }
    println!("{cells} cells asked of the compiler");
    tally.finish("inplace");
}

#[test]
fn every_unary_operation_is_done_in_place_where_pytorch_does_it() {
    macro_rules! table {
        ($($op:ident)*) => { vec![$((stringify!($op), dtypes!(unary_answers UnaryInPlace<ops::$op, E>))),*] };
    }
    let answers: Vec<(&str, &[Option<DType>; 22])> = table! {
        neg abs sqrt exp sin sigmoid reciprocal floor ceil round trunc sign logical_not bitwise_not square rsqrt log tanh relu
        erf frac lgamma conj_physical
    };
    let nan_to_num: &[Option<DType>; 22] = dtypes!(unary_answers TunedInPlace<ops::nan_to_num, E>);
    let answers: Vec<_> = answers.into_iter().chain([("nan_to_num", nan_to_num)]).collect();
    let table = csv("inplace.csv");
    let mut tally = Tally::default();
    for row in table.rows.iter().filter(|row| row[0] == "self") {
        let found = answers.iter().find(|(op, _)| row[1].strip_suffix('_') == Some(op));
        let (Some((_, answers)), Some(at)) = (found, DTYPES.iter().position(|known| *known == row[3])) else {
            continue;
        };
        compare(&mut tally, &row[1], Some(answers[at]), theirs(&table, &row[5]), &row[3], "", || true);
    }
    tally.finish("in-place unary");
}
