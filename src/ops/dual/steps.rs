//! Reductions, row functions and scans on dual numbers, compared with central differences.

use super::Dual;
use super::tests::difference;
use crate::dtype::compute::computes;
use crate::dtype::{Binary, Compare, Complex, Compute, Parameters, Predicate, ToReal, Tuned, Unary, Visitor};
use crate::error::Result;
use crate::ops::reduce::rows::{Pass, RowSteps};
use crate::ops::reduce::steps::{Given, Steps};
use crate::ops::reduce::variance::Spread;
use crate::ops::reduce::{
    ExtremeOfTwo, LogSumExp, Mean, NanMean, NanSum, Prod, RootMeanSquare, Standardizing, StepsOfTwo, Sum, Variance,
    VectorNorm,
};
use crate::ops::scan::steps::LaneSteps;
use crate::ops::scan::{RunningLogSumExp, RunningProduct, RunningSum, Softmax};

computes! { by Dual::constant;
    Dual<f64> as Dual<f64>: real real_by_scalar real_lanes;
}
fn plane(value: f64) -> Complex<Dual<f64>> {
    Complex::new(Dual::constant(value), Dual::constant(0.0))
}
computes! { by plane;
    Complex<Dual<f64>> as Dual<f64>: complex complex_by_scalar complex_lanes;
}
type Number = Dual<f64>;

const AT: [f64; 7] = [0.31, -1.27, 2.58, 0.72, -0.43, 1.63, 0.09];

/// Compares the derivative of `f` by each of its numbers with differences; at least one must not be zero.
fn check(name: &str, f: impl Fn(&[Number]) -> Number) {
    let mut moves = 0;
    for place in 0..AT.len() {
        let of = |x: f64, tangent: f64| {
            let mut numbers: Vec<Number> = AT.iter().map(|&x| Dual::constant(x)).collect();
            numbers[place] = Dual::new(x, tangent);
            f(&numbers)
        };
        let (expected, unsure) = difference(|x| of(x, 0.0).value, AT[place]);
        let found = of(AT[place], 1.0).tangent;
        moves += usize::from(found != 0.0);
        let agree = (found - expected).abs() <= unsure + 2e-7 * (1.0 + expected.abs());
        assert!(agree, "{name} by number {place}: {found}, not {expected}");
    }
    assert!(moves > 0, "{name} moves by none of its numbers");
}

/// Reduces in two halves and merges them.
fn reduced<S: Steps, C: Compute>(steps: S, numbers: &[C], given: Given<C>) -> (S::Partial<C, usize>, S::Out<C, usize>) {
    let (low, high) = numbers.split_at(numbers.len() / 2);
    let half = |first: usize, numbers: &[C]| {
        let mut partial = steps.start::<C, usize>();
        for (at, &x) in numbers.iter().enumerate() {
            partial = steps.accumulate(partial, x, first + at, given);
        }
        partial
    };
    let partial = steps.merge::<C, usize>(half(0, low), half(low.len(), high));
    let count = C::number(steps.counted::<C, usize>(partial, numbers.len()) as f64);
    (partial, steps.finish::<C, usize>(partial, count, given))
}
fn check_reducer<S: Steps<Out<Number, usize> = Number>>(name: &str, steps: S, given: [f64; 2]) {
    check(name, |x| reduced::<S, Number>(steps, x, given.map(Dual::constant)).1);
}

#[test]
fn derivatives_of_reductions_are_what_differences_say() {
    check_reducer("sum", Sum, [0.0; 2]);
    check_reducer("prod", Prod, [0.0; 2]);
    check_reducer("mean", Mean, [0.0; 2]);
    check_reducer("nansum", NanSum, [0.0; 2]);
    check_reducer("nanmean", NanMean, [0.0; 2]);
    check_reducer("logsumexp", LogSumExp, [0.0; 2]);
    check_reducer("amax", ExtremeOfTwo::<true>, [0.0; 2]);
    check_reducer("amin", ExtremeOfTwo::<false>, [0.0; 2]);
    for (name, variance) in [("var", Variance::var(1.0)), ("std", Variance::std(0.0))] {
        check_reducer(name, variance.steps::<1>(crate::dtype::DType::F64), [1.0, 0.0]);
    }
    for ord in [1.0, 2.0, 3.0, -1.5, f64::INFINITY, f64::NEG_INFINITY] {
        check_reducer(&format!("norm {ord}"), VectorNorm::new(ord), [ord, 1.0 / ord]);
    }
    let spread: Spread<1> = Variance::var(1.0).steps(crate::dtype::DType::F64);
    check("mean of var_mean", |x| {
        StepsOfTwo::second::<Number, usize>(spread, reduced(spread, x, [Dual::constant(1.0); 2]).0)[0]
    });
}

#[test]
fn complex_derivatives_of_reductions_are_what_differences_say() {
    let numbers = |x: &[Number]| -> Vec<Complex<Number>> {
        x.iter().zip(x.iter().rev()).map(|(&re, &im)| Complex::new(re, im * Dual::constant(0.7))).collect()
    };
    check("complex sum", |x| reduced(Sum, &numbers(x), [Dual::default(); 2]).1.re);
    check("complex prod", |x| reduced(Prod, &numbers(x), [Dual::default(); 2]).1.im);
    check("complex logsumexp", |x| reduced(LogSumExp, &numbers(x), [Dual::default(); 2]).1.re);
    check("complex norm", |x| reduced(VectorNorm::new(2.0), &numbers(x), [Dual::default(); 2]).1);
    let spread: Spread<2> = Variance::var(1.0).steps(crate::dtype::DType::C128);
    check("complex var", |x| reduced(spread, &numbers(x), [Dual::constant(1.0); 2]).1);
}

fn check_row<S: RowSteps>(name: &str, steps: S, eps: f64) {
    let eps = Dual::constant(eps);
    for at in [0, 4] {
        check(&format!("{name} at {at}"), |x| {
            let mut measured = [Number::default(); 2];
            for (pass, &how) in S::PASSES.iter().enumerate() {
                let terms = x.iter().map(|&x| steps.term(pass, x, measured));
                let total = terms.fold(Pass::start(how), |total, term| how.merge(total, term));
                measured[pass] = steps.measured(pass, total, Dual::constant(x.len() as f64), eps);
            }
            steps.element(measured, x[at], [Some(x[1]), Some(x[2])])
        });
    }
}
fn check_scan<S: LaneSteps<Partial<Number, usize> = Number>>(name: &str, steps: S) {
    check(name, |x| {
        let start = steps.start::<Number, usize>().unwrap_or_default();
        x.iter().fold(start, |sum, &x| steps.merge::<Number, usize>(sum, steps.of::<Number, usize>(x, 0)))
    });
}

#[test]
fn derivatives_of_rows_and_scans_are_what_differences_say() {
    check_row("softmax", Softmax::<false>, 0.0);
    check_row("log_softmax", Softmax::<true>, 0.0);
    check_row("layer_norm", Standardizing { eps: 1e-5 }, 1e-5);
    check_row("rms_norm", RootMeanSquare { eps: 1e-6 }, 1e-6);
    check_scan("cumsum", RunningSum);
    check_scan("cumprod", RunningProduct);
    check_scan("logcumsumexp", RunningLogSumExp);
}
