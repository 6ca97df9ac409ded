//! What the documentation of an operation says of its row in the table.

/// The result dtype in words.
macro_rules! result_in_words {
    (same) => {
        "`E`"
    };
    (inexact) => {
        "`E` if floating or complex, else `f32`"
    };
    (scaled) => {
        "`E` if floating or complex, else `f32`"
    };
    (divided) => {
        "`E` if floating or complex, else `f32`"
    };
    (subtracted) => {
        "`E` if floating or complex, else `f32`"
    };
    (stepwise) => {
        "`E` if floating or complex, else `f32`"
    };
    (integer) => {
        "`E`; `i64` for `bool`"
    };
    (boolean) => {
        "`bool`"
    };
    (mask) => {
        "`bool`"
    };
    (castable) => {
        "`E`"
    };
    (exact) => {
        "`E`"
    };
    (neighbour) => {
        "`E`"
    };
    (double) => {
        "`f64`; `Complex<f64>` for complex dtypes"
    };
    (real_part) => {
        "`E`; for complex dtypes that of the components"
    };
    (angle) => {
        "`E` if floating; for complex dtypes that of the components; else `f32`"
    };
}
/// The admitted dtypes in words.
macro_rules! admits_in_words {
    (any) => {
        "all computing dtypes"
    };
    (numeric) => {
        "all but `bool`"
    };
    (ordered) => {
        "all but the complex ones"
    };
    (real) => {
        "integers and floats"
    };
    (bits) => {
        "`bool` and the integers"
    };
    (float) => {
        "floats"
    };
    (inexact) => {
        "floats and complex"
    };
    (real_pair) => {
        "integers and floats; one operand may be `bool`"
    };
    (numeric_pair) => {
        "all; at most one operand may be `bool`"
    };
    (integer_pair) => {
        "integers; one operand may be `bool`"
    };
    (float_pair) => {
        "floats; one operand may be `bool` or an integer"
    };
    (inexact_pair) => {
        "floats and complex; one operand may be `bool` or an integer"
    };
    (scaling) => {
        "all, but no `bool` as the exponent of floats"
    };
    (alike) => {
        "all but the complex ones, both operands of one dtype"
    };
    (bounded) => {
        "all but the complex ones (a bool scalar does not bound bools)"
    };
}

pub(super) use {admits_in_words, result_in_words};
