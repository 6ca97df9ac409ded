//! Operators and methods of two operands.

use crate::common::{self, csv};
use crate::compare::{Tally, compare, theirs, wider, zero_dim_twin};
use crate::grid::Answers;
use crate::probe::{IsClose, Method, Refused, ScalarFirst, TensorMethod, Where, operator};
use castiron::ops;
use std::collections::HashMap;

/// The operations of `binary_ops` that castiron has, by the oracle's name.
fn binary_answers() -> Vec<(&'static [&'static str], Answers)> {
    macro_rules! table {
        ($($op:ty: $($name:literal)+;)*) => { vec![$((&[$($name),+][..], pairs!(answers $op, out))),*] };
    }
    table! {
        operator::add<L, R>: "add" "op_add";
        operator::sub<L, R>: "sub" "op_sub";
        operator::mul<L, R>: "mul" "op_mul";
        operator::div<L, R>: "op_truediv" "div";
        operator::rem<L, R>: "op_mod" "remainder";
        operator::bitand<L, R>: "op_and" "bitwise_and";
        operator::bitor<L, R>: "op_or" "bitwise_or";
        operator::bitxor<L, R>: "op_xor" "bitwise_xor";
        operator::shl<L, R>: "op_lshift" "bitwise_left_shift";
        operator::shr<L, R>: "op_rshift" "bitwise_right_shift";
        Method<ops::add, L, R>: "result_type_meta_add";
        Method<ops::floor_divide, L, R>: "floor_divide" "op_floordiv" "div_floor";
        Method<ops::trunc_divide, L, R>: "div_trunc";
        Method<ops::fmod, L, R>: "fmod";
        Method<ops::pow, L, R>: "pow" "op_pow";
        Method<ops::clamp_min, L, R>: "clamp_min";
        Method<ops::clamp_max, L, R>: "clamp_max";
        Method<ops::eq, L, R>: "eq";
        Method<ops::ne, L, R>: "ne";
        Method<ops::lt, L, R>: "lt";
        Method<ops::le, L, R>: "le";
        Method<ops::gt, L, R>: "gt";
        Method<ops::ge, L, R>: "ge";
        TensorMethod<ops::maximum, L, R>: "maximum";
        TensorMethod<ops::minimum, L, R>: "minimum";
        TensorMethod<ops::logical_and, L, R>: "logical_and";
        TensorMethod<ops::logical_or, L, R>: "logical_or";
        TensorMethod<ops::logical_xor, L, R>: "logical_xor";
        Method<ops::rsub, L, R>: "rsub";
        Method<ops::true_divide, L, R>: "true_divide";
        Method<ops::float_power, L, R>: "float_power";
        Method<ops::copysign, L, R>: "copysign";
        Method<ops::xlogy, L, R>: "xlogy";
        Method<ops::xlog1py, L, R>: "special_xlog1py";
        Method<ops::zeta, L, R>: "special_zeta";
        TensorMethod<ops::fmax, L, R>: "fmax";
        TensorMethod<ops::fmin, L, R>: "fmin";
        TensorMethod<ops::gcd, L, R>: "gcd";
        TensorMethod<ops::lcm, L, R>: "lcm";
        TensorMethod<ops::atan2, L, R>: "atan2";
        TensorMethod<ops::hypot, L, R>: "hypot";
        TensorMethod<ops::igamma, L, R>: "igamma";
        TensorMethod<ops::igammac, L, R>: "igammac";
        TensorMethod<ops::nextafter, L, R>: "nextafter";
        TensorMethod<ops::heaviside, L, R>: "heaviside";
        TensorMethod<ops::ldexp, L, R>: "ldexp";
        TensorMethod<ops::logaddexp, L, R>: "logaddexp";
        TensorMethod<ops::logaddexp2, L, R>: "logaddexp2";
        IsClose<L, R>: "isclose";
        Where<L, R>: "where";
    }
}

#[test]
fn every_operator_gives_pytorchs_dtype_for_every_pair_and_kind() {
    let table = csv("binary_ops.csv");
    let rows: HashMap<[&str; 4], &str> =
        table.rows.iter().map(|row| ([0, 1, 2, 3].map(|i| &*row[i]), &*row[4])).collect();
    let mut tally = Tally::default();
    let answers = binary_answers();
    let scalar_first = [
        ("op_pow", pairs!(answers ScalarFirst<ops::pow, L, R>, out)),
        ("op_floordiv", pairs!(answers ScalarFirst<ops::floor_divide, L, R>, out)),
    ];
    let cells: usize = answers.iter().map(|(_, answers)| answers.cells()).sum();
    for (names, answers) in &answers {
        for &name in *names {
            for (&[op, kinds, left, right], &result) in &rows {
                // Scalars on the left of a method (`torch.eq(1, t)`) have no Rust form.
                let has_form = name.starts_with("op_") || ["add", "sub", "mul", "where"].contains(&name);
                if op != name || (kinds == "ST" && !has_form) {
                    continue;
                }
                let theirs = theirs(&table, result);
                let reversed = scalar_first.iter().find(|(op, _)| *op == name && kinds == "ST");
                let ours = reversed.map_or(answers, |(_, answers)| answers).get(kinds, left, right);
                let complex_bound = name.starts_with("clamp") && right == "py.complex" && theirs.is_ok();
                if complex_bound && ours == Some(None) {
                    // PyTorch reads a complex bound whose imaginary part is zero as a real one; complex bounds are refused here
                    *tally.departures.entry("complex bounds of clamp refused".to_owned()).or_default() += 1;
                    continue;
                }
                // Rows of a zero-dim left operand are left out where they equal those of a dimensioned one; their dtypes never differ.
                if let Some(zero_dim) = zero_dim_twin(kinds)
                    && !rows.contains_key(&[op, zero_dim, left, right])
                    && let (Some(Some(ours)), Ok(theirs)) = (answers.get(zero_dim, left, right), &theirs)
                {
                    compare(
                        &mut tally,
                        &format!("{name} {zero_dim}"),
                        Some(Some(ours)),
                        Ok(*theirs),
                        left,
                        right,
                        || true,
                    );
                }
                compare(&mut tally, &format!("{name} {kinds}"), ours, theirs, left, right, || {
                    let key = [name, kinds, wider(left), wider(right)];
                    rows.get(&key).is_none_or(|result| !table.errors.contains_key(*result))
                });
            }
        }
    }
    println!("{cells} cells asked of the compiler");
    tally.finish("binary_ops");
}

#[test]
fn result_types_and_sums_are_those_of_the_promotion_table() {
    let table = common::json("promotion.json");
    let answers = dtypes!(answers operator::add<L, R>, all);
    let mut tally = Tally::default();
    for row in table["rows"].as_array().unwrap() {
        let [lk, left, rk, right, _, sum] = [0, 1, 2, 3, 4, 5].map(|i| row[i].as_str().unwrap());
        if lk == "S" && (rk == "S" || rk == "Z") {
            continue;
        }
        let kinds = format!("{lk}{rk}");
        let theirs = match table["errors"].get(sum) {
            Some(error) => Err(error[1].as_str().unwrap().to_owned()),
            None => Ok(sum),
        };
        let ours = answers.get(&kinds, left, right);
        compare(&mut tally, &kinds, ours, theirs, left, right, || true);
    }
    tally.finish("promotion");
}
