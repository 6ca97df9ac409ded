//! The table of elementwise operations. Each row: the operation and the names of its methods, the dtypes it
//! admits, how its result dtype follows, and its documentation. Read by `ops` (the markers), by `tensor` (the
//! methods) and by the tests.
//!
//! Admission (`admit.rs`): `any`, `numeric`, `ordered`, `real`, `bits`, `float`, `inexact`; for two operands
//! also `real_pair`, `numeric_pair`, `integer_pair`, `float_pair`, `inexact_pair`, `bounded`, `scaling` and `alike`, which
//! look at both.
//! Result: `same` (the dtype computed in), `inexact` (floats and complex stay, the rest becomes `f32`), `boolean`,
//! `real_part` (complex becomes real), `integer` (`bool` becomes `i64`), `angle`, `double` (`f64` or `Complex<f64>`),
//! `divided` and `subtracted` (`inexact`; the operand divided by what the formula gives, in the operand's dtype, and less
//! that, in the result's), `stepwise` (`inexact`, each step of the formula rounded to the dtype),
//! `neighbour` (the dtype, whose numbers the formula steps through), `scaled` (`inexact`, by the operands' own dtypes).
//! Some results are written into outputs of their own dtype only: those of unary `same`, of `mask` (a bool), `exact` (the
//! dtype) and `double`; `castable` is `same` without that.

mod binary;
mod tuned;
mod unary;

pub(crate) use binary::binary_table;
pub(crate) use tuned::tuned_table;
pub(crate) use unary::unary_table;
