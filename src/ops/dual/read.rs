//! The formulas on dual numbers, wrapped as functions of one type, for the tests of derivatives.

use super::Dual;
use crate::dtype::{Binary, Compare, Complex, Predicate, ToReal, Tuned, Unary};
use crate::ops::{Among, Stepwise};

/// Operands and parameters of a formula, or its result.
#[derive(Clone, Debug)]
pub(crate) enum Numbers {
    Real(Vec<Dual<f64>>),
    Complex(Vec<Complex<Dual<f64>>>),
}
use Numbers::{Complex as Plane, Real};

/// `unary: Unary |x| F::real(x[0]), F::complex(x[0]);` writes a reader that returns these two.
macro_rules! readers {
    ($($name:ident: $trait:ident |$x:ident| $real:expr, $complex:expr;)*) => {$(
        pub(crate) fn $name<F: $trait>(given: &Numbers) -> Option<Numbers> {
            Some(match given {
                Real($x) => Real(vec![$real]),
                Plane($x) => Plane(vec![$complex]),
            })
        }
    )*};
}
readers! {
    unary: Unary |x| F::real(x[0]), F::complex(x[0]);
    to_real: ToReal |x| F::real(x[0]), Complex::new(F::complex(x[0]), Dual::default());
    binary: Binary |x| F::real(x[0], x[1]), F::complex(x[0], x[1]);
    binary_by_scalar: Binary |x| F::real_by_scalar(x[0], x[1]), F::complex_by_scalar(x[0], x[1]);
    tuned: Tuned |x| F::real(x[0], [x[1], x[2], x[3]]), F::complex(x[0], [x[1], x[2], x[3]]);
}
/// Boolean results have no derivative.
macro_rules! answers {
    ($($name:ident: $trait:ident)*) => {$(
        #[allow(clippy::extra_unused_type_parameters)]
        pub(crate) fn $name<F: $trait>(_: &Numbers) -> Option<Numbers> {
            None
        }
    )*};
}
answers! { predicate: Predicate compare: Compare }
pub(crate) fn neighbour<Op>(given: &Numbers) -> Option<Numbers>
where
    Among<Op, f64>: Binary,
{
    binary::<Among<Op, f64>>(given)
}
pub(crate) fn stepwise<Op>(given: &Numbers) -> Option<Numbers>
where
    Stepwise<Op, f64>: Tuned,
{
    tuned::<Stepwise<Op, f64>>(given)
}
