//! What may be written where: `+=` and its kin, in-place methods, `_into` forms, `copy_from` and `fill`.

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
        ($($op:ty: $($name:literal)+;)*) => { vec![$((&[$($name),+][..], dtypes!(answers $op, place))),*] };
    }
    let answers: Vec<(&[&str], Answers)> = table! {
        operator::add_assign: "iadd" "add_";
        operator::sub_assign: "isub" "sub_";
        operator::mul_assign: "imul" "mul_";
        operator::div_assign: "itruediv" "div_";
        operator::rem_assign: "imod" "remainder_";
        operator::bitand_assign: "iand" "bitwise_and_";
        operator::bitor_assign: "ior" "bitwise_or_";
        operator::bitxor_assign: "ixor" "bitwise_xor_";
        operator::shl_assign: "ilshift" "bitwise_left_shift_";
        operator::shr_assign: "irshift" "bitwise_right_shift_";
        InPlace<ops::floor_divide>: "ifloordiv" "floor_divide_" "div_floor_";
        InPlace<ops::trunc_divide>: "div_trunc_";
        InPlace<ops::fmod>: "fmod_";
        InPlace<ops::pow>: "ipow" "pow_";
        InPlace<ops::clamp_min>: "clamp_min_";
        InPlace<ops::clamp_max>: "clamp_max_";
        InPlace<ops::eq>: "eq_";
        InPlace<ops::lt>: "lt_";
        InPlace<ops::le>: "le_";
        InPlace<ops::gt>: "gt_";
        InPlace<ops::ge>: "ge_";
        InPlace<ops::ne>: "ne_";
        TensorInPlace<ops::logical_and>: "logical_and_";
        TensorInPlace<ops::logical_or>: "logical_or_";
        TensorInPlace<ops::logical_xor>: "logical_xor_";
        InPlacePrecisely<ops::float_power>: "float_power_";
        InPlace<ops::copysign>: "copysign_";
        InPlace<ops::xlogy>: "xlogy_";
        TensorInPlace<ops::atan2>: "atan2_";
        TensorInPlace<ops::hypot>: "hypot_";
        TensorInPlace<ops::nextafter>: "nextafter_";
        TensorInPlace<ops::gcd>: "gcd_";
        TensorInPlace<ops::lcm>: "lcm_";
        TensorInPlace<ops::ldexp>: "ldexp_";
        TensorInPlace<ops::heaviside>: "heaviside_";
        CopyFrom: "copy_";
        Fill: "fill_";
    };
    let outs: Vec<(&str, Answers)> = {
        macro_rules! outs {
            ($($op:ty: $name:literal;)*) => { vec![$(($name, dtypes!(answers $op, place))),*] };
        }
        outs! {
            Into<ops::add>: "add"; Into<ops::sub>: "sub"; Into<ops::mul>: "mul"; Into<ops::div>: "div";
            Into<ops::floor_divide>: "floor_divide"; Into<ops::floor_divide>: "div_floor"; Into<ops::trunc_divide>: "div_trunc";
            Into<ops::remainder>: "remainder"; Into<ops::fmod>: "fmod"; Into<ops::pow>: "pow";
            Into<ops::maximum>: "maximum"; Into<ops::minimum>: "minimum";
            Into<ops::bitwise_and>: "bitwise_and"; Into<ops::bitwise_left_shift>: "bitwise_left_shift";
            Into<ops::eq>: "eq"; Into<ops::ne>: "ne"; Into<ops::lt>: "lt"; Into<ops::le>: "le"; Into<ops::gt>: "gt";
            Into<ops::ge>: "ge"; Into<ops::logical_and>: "logical_and"; Into<ops::logical_or>: "logical_or";
            UnaryInto<ops::abs>: "abs"; UnaryInto<ops::neg>: "neg"; UnaryInto<ops::sign>: "sign"; UnaryInto<ops::square>: "square";
            UnaryInto<ops::exp>: "exp"; UnaryInto<ops::sqrt>: "sqrt"; UnaryInto<ops::reciprocal>: "reciprocal";
            UnaryInto<ops::sin>: "sin"; UnaryInto<ops::sigmoid>: "sigmoid"; UnaryInto<ops::floor>: "floor";
            UnaryInto<ops::round>: "round"; UnaryInto<ops::bitwise_not>: "bitwise_not"; UnaryInto<ops::logical_not>: "logical_not";
            UnaryInto<ops::angle>: "angle"; UnaryInto<ops::signbit>: "signbit";
            Into<ops::atan2>: "atan2"; Into<ops::copysign>: "copysign"; IntoPrecisely<ops::float_power>: "float_power";
            Into<ops::fmax>: "fmax"; Into<ops::fmin>: "fmin"; Into<ops::gcd>: "gcd"; Into<ops::lcm>: "lcm";
            IntoPrecisely<ops::heaviside>: "heaviside"; Into<ops::hypot>: "hypot"; Into<ops::ldexp>: "ldexp";
            Into<ops::logaddexp>: "logaddexp"; Into<ops::nextafter>: "nextafter"; Into<ops::xlogy>: "xlogy";
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
        ($($op:ident)*) => { vec![$((stringify!($op), dtypes!(unary_answers UnaryInPlace<ops::$op>))),*] };
    }
    let answers: Vec<(&str, &[Option<DType>; 22])> = table! {
        neg abs sqrt exp sin sigmoid reciprocal floor ceil round trunc sign logical_not bitwise_not square rsqrt log tanh relu
        erf frac lgamma conj_physical
    };
    let nan_to_num: &[Option<DType>; 22] = dtypes!(unary_answers TunedInPlace<ops::nan_to_num>);
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
