//! Unary operations with parameters: their markers, result dtypes and formulas.

use super::Op;
use super::kernel::{TakesMap1, Tuning};
use super::rules::admit::bound_of_one;
use super::rules::result::{form_of_result, output};
use crate::dtype::math;
use crate::dtype::{
    Binary as _, Compute, DType, Dtype, MachineFloat, MachineInt, Parameters, ScalarValue, Special, Tuned,
};
use crate::error::{Error, Result};
use crate::ops::slope::{Derived, OfTuned, Slope};
use num_complex::Complex;

/// The table of unary operations with parameters.
///
/// `name { admits result (parameters), "what it does", "PyTorch's name", "an operand" "arguments" = "the resulting elements" }`; in front,
/// a reader gets the method names, as in `binary_table`. A parameter is a scalar, or an `Option<f64>` whose `None` has a meaning of the
/// operation's own. After it comes how PyTorch calls it, with its defaults: see `castiron_macros::operations`.
macro_rules! tuned_table {
    ($use:ident) => {
        castiron_macros::named! { [try_x x_ try_x_ x_into try_x_into] $use
            elu { float same (alpha: impl Scalar),
                "The exponential linear unit: `x if x > 0 else alpha * (exp(x) - 1)`. PyTorch's default: `alpha` 1.", "torch.nn.functional.elu",
                "tensor![-1000.0, 2.0]" "1" = "[-1.0, 2.0]",
                #[op(nn.functional.elu(input, alpha = 1.0, inplace = _), dtypes = float, in_place)] }
            celu { float same (alpha: impl Scalar),
                "The continuously differentiable exponential linear unit: `x if x > 0 else alpha * (exp(x / alpha) - 1)`. PyTorch's default: `alpha` 1. An `alpha` of 0 is an error.", "torch.nn.functional.celu",
                "tensor![-1000.0, 2.0]" "1" = "[-1.0, 2.0]",
                #[op(nn.functional.celu(input, alpha = 1.0, inplace = _), dtypes = float, in_place)] }
            softplus { float same (beta: impl Scalar, threshold: impl Scalar),
                "`log(1 + exp(beta * x)) / beta`, and `x` where `beta * x` is above the threshold. PyTorch's defaults: `beta` 1, `threshold` 20.", "torch.nn.functional.softplus",
                "tensor![-1000.0, 30.0]" "1, 20" = "[0.0, 30.0]",
                #[op(nn.functional.softplus(input, beta = 1.0, threshold = 20.0), dtypes = float)] }
            softshrink { float same (lambda: impl Scalar),
                "Each element moved towards zero by `lambda`, and 0 within it. PyTorch's default: `lambda` 0.5. A negative `lambda` is an error.", "torch.nn.functional.softshrink",
                "tensor![-1.0, 0.25, 2.0]" "0.5" = "[-0.5, 0.0, 1.5]",
                #[op(nn.functional.softshrink(input, lambd = 0.5), dtypes = float)] }
            hardshrink { float same (lambda: impl Scalar),
                "Each element, and 0 from `-lambda` to `lambda`. PyTorch's default: `lambda` 0.5.", "torch.nn.functional.hardshrink",
                "tensor![-1.0, 0.25, 2.0]" "0.5" = "[-1.0, 0.0, 2.0]",
                #[op(nn.functional.hardshrink(input, lambd = 0.5), dtypes = float)] }
            hardtanh { real same (min: impl Scalar, max: impl Scalar),
                "Each element, but at least `min` and at most `max`; NaN stays NaN. PyTorch's defaults: -1 and 1. A negative bound of `u8` is an error.", "torch.nn.functional.hardtanh",
                "tensor![-3, 0, 3]" "-1, 1" = "[-1, 0, 1]",
                #[op(nn.functional.hardtanh(input, min_val = -1.0, max_val = 1.0, inplace = _), dtypes = real, in_place)] }
            leaky_relu { float same (negative_slope: impl Scalar),
                "Each element where it is positive, else `negative_slope` times it. PyTorch's default: 0.01.", "torch.nn.functional.leaky_relu",
                "tensor![-2.0, 2.0]" "0.5" = "[-1.0, 2.0]",
                #[op(nn.functional.leaky_relu(input, negative_slope = 0.01, inplace = _), dtypes = float, in_place)] }
            threshold { real castable (threshold: impl Scalar, value: impl Scalar),
                "Each element where it is above the threshold, else `value`. NaN stays NaN.", "torch.nn.functional.threshold",
                "tensor![1, 5]" "3, -1" = "[-1, 5]",
                #[op(nn.functional.threshold(input, threshold, value, inplace = _), dtypes = real, in_place)] }
            logit { ordered stepwise (eps: Option<f64>),
                "`log(x / (1 - x))`, `x` kept between `eps` and `1 - eps` if that is given. PyTorch's default: `None`.", "torch.logit`, `torch.special.logit",
                "tensor![0.5, 1.0]" "None" = "[0.0, f32::INFINITY]",
                #[op(logit(input, eps = None), dtypes = ordered, in_place, aliases("special.logit"))] }
            nan_to_num { any same (nan: f64, posinf: Option<f64>, neginf: Option<f64>),
                "Each element, with NaN and the infinities replaced; `None` stands for the largest and the smallest number of the dtype. PyTorch's defaults: `nan` 0, `None`, `None`.", "torch.nan_to_num",
                "tensor![f32::NAN, f32::INFINITY, 2.0]" "0.0, Some(9.0), None" = "[0.0, 9.0, 2.0]",
                #[op(nan_to_num(input, nan = 0.0, posinf = None, neginf = None), dtypes = any, in_place)] }
            round_decimals { float same (decimals: i64),
                "Rounds to this number of digits after the point; a negative number rounds to tens, hundreds and so on.", "torch.round(decimals=…)",
                "tensor![2.125, 17.0]" "-1" = "[0.0, 20.0]" }
            polygamma { ordered stepwise (n: i64),
                "The `n`-th derivative of [`digamma`](crate::Tensor::digamma). A negative `n` is an error.", "torch.polygamma`, `torch.special.polygamma",
                "tensor![0.0]" "1" = "[f32::INFINITY]",
                #[op(polygamma(n, input = self), dtypes = ordered, in_place, aliases("special.polygamma"))] }
            mvlgamma { ordered stepwise (p: i64),
                "The logarithm of the multivariate gamma function of dimension `p`. A `p` below 1 or above 2^24 is an error.", "torch.mvlgamma`, `torch.special.multigammaln",
                "tensor![1.0]" "1" = "[0.0]",
                #[op(mvlgamma(input, p), dtypes = ordered, in_place, aliases("special.multigammaln"))] }
        }
    };
}

pub(crate) use tuned_table;

/// The rows for other crates.
macro_rules! export {
    ($($rows:tt)*) => { crate::ops::table::exported! { ($) __tuned_rows { $($rows)* } } };
}
tuned_table!(export);

/// An operation of one operand of dtype `E` and parameters. It computes in the result dtype.
pub trait TunedOp<E: Dtype>: Op {
    /// The dtype of the result.
    type Output: Dtype;
    /// The derivative.
    #[doc(hidden)]
    const SLOPE: Slope = Slope::Missing;
    /// Whether nonnegative elements are unchanged.
    #[doc(hidden)]
    const KEEPS_POSITIVE: bool = false;
    /// Whether it is a sum of `lgamma`s, as many as the first parameter, of the element shifted by halves.
    #[doc(hidden)]
    const ADDS_LGAMMAS: bool = false;
    /// Whether the dtype is `f16` or `bf16`, and computed as the `f32` that it converts to.
    #[doc(hidden)]
    const WIDENS: bool = false;
    /// The kernel over `f32`, where that is so.
    #[doc(hidden)]
    fn widened<T: TakesMap1>() -> T::Out {
        unreachable!("an operation that computes in its own dtype")
    }
    /// The parameters in the compute type; `None` for one left at its default.
    #[doc(hidden)]
    fn prepare(given: Parameters<Option<ScalarValue>>) -> Result<Parameters<<Self::Output as Dtype>::Compute>>;
    /// One element.
    #[doc(hidden)]
    fn apply(x: E, parameters: Parameters<<Self::Output as Dtype>::Compute>) -> Self::Output;
}

/// The parameters of `F`, an operation called `op`, in the compute type `C`.
fn prepared<F: Tuned, E: Dtype, C: Dtype>(
    op: &'static str,
    given: Parameters<Option<ScalarValue>>,
) -> Result<Parameters<C::Compute>> {
    let values = values_of(op, given, [E::DTYPE, C::DTYPE], (F::absent, F::refusal))?;
    converted::<C>(op, F::completed(values), F::ROUNDS_PARAMETERS)
}

/// The parameters of an operation from the first dtype to the second, with the defaults of those that are not given.
fn values_of(
    op: &'static str,
    given: Parameters<Option<ScalarValue>>,
    [dtype, computes]: [DType; 2],
    (absent, refusal): (fn(DType, usize) -> f64, fn(DType, Parameters<f64>) -> Option<&'static str>),
) -> Result<Parameters<ScalarValue>> {
    let mut values = [ScalarValue::Float(0.0); 3];
    for (place, (value, given)) in values.iter_mut().zip(given).enumerate() {
        *value = given.unwrap_or_else(|| ScalarValue::Float(absent(computes, place)));
        if matches!(value, ScalarValue::Complex(_)) {
            return Err(Error::ScalarOutOfRange { op, value: *value, dtype: computes });
        }
    }
    if let Some(reason) = refusal(dtype, values.map(ScalarValue::real_part)) {
        return Err(Error::InvalidArgument { op, reason: reason.into() });
    }
    Ok(values)
}

/// The same as they are computed with.
fn converted<C: Dtype>(
    op: &'static str,
    values: Parameters<ScalarValue>,
    rounds: bool,
) -> Result<Parameters<C::Compute>> {
    let mut parameters = Parameters::<C::Compute>::default();
    for (parameter, value) in parameters.iter_mut().zip(values) {
        let converted =
            if rounds { value.to_dtype::<C>().map(Dtype::to_compute) } else { value.to_dtype::<C::Compute>() };
        *parameter = converted.ok_or(Error::ScalarOutOfRange { op, value, dtype: C::DTYPE })?;
    }
    Ok(parameters)
}

/// `elu […] float same (alpha: impl Scalar)` writes the marker `elu` and `impl<E: FloatFor<elu>> TunedOp<E> for elu { type Output = E; …
/// }`.
macro_rules! tuned_ops {
    ($($op:ident { $methods:tt $admits:ident $result:ident ($($name:ident: $ty:ty),*), $doc:literal $($rest:tt)* })*) => {$(
        #[doc = concat!("The operation `", stringify!($op), "`: ", $doc)]
        #[allow(non_camel_case_types)]
        #[derive(Clone, Copy, Default)]
        pub struct $op {}
        impl crate::ops::sealed::Op for $op {}
        impl Op for $op {
            const NAME: &'static str = stringify!($op);
        }
        bound_of_one!($admits, $op, tuned_ops { @of $op $result });
    )*};
    (@of $op:ident $result:ident $bound:tt) => {
        form_of_result!(tuned $result, tuned_ops { @form $op $result $bound });
    };
    (@form $op:ident $result:ident $bound:tt own $outputs:ident) => {
        tuned_ops!(@computes output!($result, E), $op by $op, $op, $bound,
            const WIDENS: bool = E::DTYPE.is_half();
            fn widened<T: TakesMap1>() -> T::Out {
                T::take::<Tuning<$op, f32>, f32, <$op as TunedOp<f32>>::Output>()
            }
        );
    };
    (@form $op:ident $result:ident $bound:tt stepwise $outputs:ident) => {
        tuned_ops!(@computes output!($result, E), $op by Stepwise<$op, output!($result, E)>, Stepwise<$op, f64>, $bound,);
    };
    (@computes $output:ty, $op:ident by $formula:ty, $derived:ty, [$($bound:tt)+], $($widened:tt)*) => {
        impl<E: $($bound)+> TunedOp<E> for $op {
            const SLOPE: Slope = Derived::<OfTuned<$derived>, $output>::SLOPE;
            type Output = $output;
            $($widened)*
            const KEEPS_POSITIVE: bool = <$formula as Tuned>::KEEPS_POSITIVE;
            const ADDS_LGAMMAS: bool = <$formula as Tuned>::ADDS_LGAMMAS;
            fn prepare(given: Parameters<Option<ScalarValue>>) -> Result<Parameters<<$output as Dtype>::Compute>> {
                prepared::<$formula, E, $output>(<$op as Op>::NAME, given)
            }
            #[inline(always)]
            fn apply(x: E, parameters: Parameters<<$output as Dtype>::Compute>) -> $output {
                <$output>::from_compute(x.cast::<$output>().to_compute().tuned::<$formula>(parameters))
            }
        }
    };
}
tuned_table!(tuned_ops);

/// The formula of `Op` with each step rounded to the dtype `C`, as in PyTorch's composite operations.
pub(crate) struct Stepwise<Op, C>(core::marker::PhantomData<fn() -> (Op, C)>);

/// Formulas of real floating-point numbers, with their parameter checks.
macro_rules! real_formulas {
    ($($op:ident: |$x:ident, $p:pat_param| $real:expr $(, with { $($apart:tt)* })?;)*) => {$(
        impl Tuned for $op {
            $($($apart)*)?
            #[inline(always)]
            fn real<T: MachineFloat>($x: T, $p: Parameters<T>) -> T {
                $real
            }
        }
    )*};
}
/// 1 beyond two numbers, else 0; so for NaN.
#[inline(always)]
fn outside<T: MachineFloat>(x: T, low: T, high: T) -> T {
    if (x < low) | (x > high) { T::one() } else { T::zero() }
}
real_formulas! {
    elu: |x, [alpha, ..]| if x < T::zero() { T::elementary::<math::Expm1>(x) * alpha } else { x }, with {
        const KEEPS_POSITIVE: bool = true;
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: usize, x: T, [alpha, ..]: Parameters<T>) -> T {
            if x > T::zero() { T::one() } else { T::elementary::<math::Exp>(x) * alpha }
        }
    };
    celu: |x, [alpha, inverse, _]| if x < T::zero() { T::elementary::<math::Expm1>(x * inverse) * alpha } else { x }, with {
        const KEEPS_POSITIVE: bool = true;
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: usize, x: T, [_, inverse, _]: Parameters<T>) -> T {
            if x > T::zero() { T::one() } else { T::elementary::<math::Exp>(x * inverse) }
        }
        fn refusal(_: DType, [alpha, ..]: Parameters<f64>) -> Option<&'static str> {
            (alpha == 0.0).then_some("`alpha` must not be 0")
        }
        fn completed([alpha, ..]: Parameters<ScalarValue>) -> Parameters<ScalarValue> {
            [alpha, ScalarValue::Float(alpha.real_part().recip()), ScalarValue::Float(0.0)]
        }
    };
    softplus: |x, [beta, threshold, _]| {
        let smooth = T::elementary::<math::Log1p>(T::elementary::<math::Exp>(x * beta)) / beta;
        if x * beta > threshold { x } else { smooth }
    };
    softshrink: |x, [lambda, ..]| {
        if x > lambda {
            x - lambda
        } else if x < -lambda {
            x + lambda
        } else {
            x * T::zero()
        }
    }, with {
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: usize, x: T, [lambda, ..]: Parameters<T>) -> T {
            outside(x, -lambda, lambda)
        }
        fn refusal(_: DType, [lambda, ..]: Parameters<f64>) -> Option<&'static str> {
            (lambda < 0.0).then_some("`lambda` must not be negative")
        }
    };
    hardshrink: |x, [lambda, ..]| if x >= -lambda && x <= lambda { T::zero() } else { x }, with {
        const ROUNDS_PARAMETERS: bool = true;
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: usize, x: T, [lambda, ..]: Parameters<T>) -> T {
            outside(x, -lambda, lambda)
        }
    };
    leaky_relu: |x, [slope, ..]| if x > T::zero() { x } else { x * slope }, with {
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: usize, x: T, [slope, ..]: Parameters<T>) -> T {
            if x > T::zero() { T::one() } else { slope }
        }
    };
    round_decimals: |x, [decimals, ..]| {
        let scale = T::lit(10.0).powf(decimals.abs());
        if decimals < T::zero() {
            (x / scale).round_ties_even() * scale
        } else if decimals == T::zero() {
            x.round_ties_even()
        } else {
            (x * scale).round_ties_even() / scale
        }
    }, with {
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: usize, _: T, _: Parameters<T>) -> T {
            T::zero()
        }
    };
}

/// The constant term of `mvlgamma`.
#[inline(always)]
pub(crate) fn beside_lgammas<T: MachineFloat>(p: T) -> T {
    p * (p - T::one()) * T::lit(core::f64::consts::PI.ln()) * T::lit(0.25)
}

/// Formulas of real floating-point numbers that round each step.
macro_rules! stepwise_formulas {
    ($($op:ident: |$x:ident, $p:pat_param, $round:ident| $real:expr $(, with { $($apart:tt)* })?;)*) => {$(
        impl<C: Dtype> Tuned for Stepwise<$op, C> {
            $($($apart)*)?
            #[inline(always)]
            fn real<T: MachineFloat>($x: T, $p: Parameters<T>) -> T {
                let $round = |x: T| x.rounded_to(C::DTYPE);
                $real
            }
        }
    )*};
}
stepwise_formulas! {
    logit: |x, [eps, ..], round| {
        let x = if eps < T::zero() {
            x
        } else if x < eps {
            eps
        } else if x > round(T::one() - eps) {
            round(T::one() - eps)
        } else {
            x
        };
        T::elementary::<math::Log>(round(x / round(T::one() - x)))
    }, with {
        const ROUNDS_PARAMETERS: bool = true;
        fn absent(_: DType, _: usize) -> f64 {
            -1.0
        }
        /// NaN outside 0 and 1, or 0 beyond `eps`.
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: usize, x: T, [eps, ..]: Parameters<T>) -> T {
            let (is_free, one) = (eps < T::zero(), T::one());
            let (low, high) = if is_free { (T::zero(), one) } else { (eps, one - eps) };
            let beyond = if is_free { T::nan() } else { T::zero() };
            if (x < low) | (x > high) { beyond } else { one / (x * (one - x)) }
        }
    };
    polygamma: |x, [n, ..], round| {
        if n == T::zero() {
            x.digamma()
        } else if n == T::one() {
            x.trigamma()
        } else {
            let sign = if n % T::lit(2.0) == T::zero() { -T::one() } else { T::one() };
            // PyTorch rounds only the zeta function: `n!` exceeds the range of half precision from `n` of 9 on.
            sign * Special::lgamma(n + T::one()).exp() * round(Special::zeta(n + T::one(), x))
        }
    }, with {
        fn refusal(_: DType, [n, ..]: Parameters<f64>) -> Option<&'static str> {
            (n < 0.0).then_some("`n` must not be negative")
        }
        #[inline(always)]
        fn derivative<T: MachineFloat>(_: usize, x: T, [n, second, third]: Parameters<T>) -> T {
            Self::real(x, [n + T::one(), second, third])
        }
    };
    mvlgamma: |x, [p, ..], round| {
        let sum = x.sum_of_lgammas((T::one() - p) * T::lit(0.5), C::DTYPE);
        round(sum) + beside_lgammas(p)
    }, with {
        const ADDS_LGAMMAS: bool = true;
        fn refusal(_: DType, [p, ..]: Parameters<f64>) -> Option<&'static str> {
            // Maximum terms of the series. Beyond it `float32` cannot represent the next half, and the series would not end.
            let most = f64::from(1 << 24);
            if p > most { Some("`p` must be at most 2^24") } else { (p < 1.0).then_some("`p` must be at least 1") }
        }
    };
}

/// `clamp`: the upper bound wins; NaN in the element or a bound propagates.
impl Tuned for hardtanh {
    const ROUNDS_PARAMETERS: bool = true;
    fn refusal(dtype: DType, [min, max, _]: Parameters<f64>) -> Option<&'static str> {
        (dtype == DType::U8 && (min <= -1.0 || max <= -1.0)).then_some("`u8` has no negative bounds")
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T, [min, max, _]: Parameters<T>) -> T {
        super::clamp_max::integer(super::clamp_min::integer(x, min), max)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [min, max, _]: Parameters<T>) -> T {
        super::clamp_max::real(super::clamp_min::real(x, min), max)
    }
    /// 0 at the bounds.
    #[inline(always)]
    fn derivative<T: MachineFloat>(_: usize, x: T, [min, max, _]: Parameters<T>) -> T {
        if (x > min) & (x < max) { T::one() } else { T::zero() }
    }
}

impl Tuned for threshold {
    #[inline(always)]
    fn integer<T: MachineInt>(x: T, [threshold, value, _]: Parameters<T>) -> T {
        if x <= threshold { value } else { x }
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [threshold, value, _]: Parameters<T>) -> T {
        if x <= threshold { value } else { x }
    }
}

/// Replaces NaN and the infinities by numbers.
#[inline(always)]
fn replaced<T: MachineFloat>(x: T, [nan, above, below]: Parameters<T>) -> T {
    if x.is_nan() {
        nan
    } else if x == T::infinity() {
        above
    } else if x == T::neg_infinity() {
        below
    } else {
        x
    }
}
impl Tuned for nan_to_num {
    const ROUNDS_PARAMETERS: bool = true;
    fn absent(dtype: DType, place: usize) -> f64 {
        dtype.finfo().map_or(0.0, |info| if place == 1 { info.max } else { info.min })
    }
    #[inline(always)]
    fn boolean(x: bool, _: Parameters<bool>) -> bool {
        x
    }
    #[inline(always)]
    fn integer<T: MachineInt>(x: T, _: Parameters<T>) -> T {
        x
    }
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, parameters: Parameters<T>) -> T {
        replaced(x, parameters)
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>, parameters: Parameters<Complex<T>>) -> Complex<T> {
        let parameters = parameters.map(|parameter| parameter.re);
        Complex::new(replaced(z.re, parameters), replaced(z.im, parameters))
    }
}
