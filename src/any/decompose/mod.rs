//! Factorisations and solvers that are called by name only, or take more arguments at run time: see `composite::decompose`.

pub(crate) mod factors;
pub(crate) mod singular;
pub(crate) mod solve;

rows_of!(factors, singular, solve);

/// Runs a composite over the dtype of a tensor, one of those that matrices are factored in, and converts its result.
macro_rules! over_field {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        crate::any::base::dispatch::dispatch_dtype!($op, $dtype, $E: [f32, f64, crate::Complex<f32>, crate::Complex<f64>] =>
            $body.map(crate::any::IntoAny::into_any))
    };
}
pub(crate) use over_field;
