//! Losses: their markers, their reduction, their formulas over a prediction and its target, and the kernels that run these.
//!
//! Source: `aten/src/ATen/native/Loss.cpp` and `cpu/PointwiseOpsKernel.cpp`.

use super::kernel::{Constants, Map1, Map2, Map3, Slope, TakesMap2, VectorWidth};
use super::reduce::op;
use super::reduce::rows::PowerOfRow;
use crate::dtype::{Castable, Compute as _, Dtype, Element, MachineFloat, Tuned, Unary, math};
use crate::ops::slope::{Derived, OfPair, OfThree};
use crate::{
    dtype::DType,
    ops::record::kernel::{Kernel, Value},
};
use core::marker::PhantomData;

op!(mse_loss l1_loss smooth_l1_loss huber_loss soft_margin_loss hinge_embedding_loss kl_div poisson_nll_loss gaussian_nll_loss);
op!(binary_cross_entropy binary_cross_entropy_with_logits cross_entropy nll_loss ctc_loss);
op!(margin_ranking_loss cosine_embedding_loss triplet_margin_loss multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss);
op!(pairwise_distance cosine_similarity pdist batch_norm group_norm instance_norm local_response_norm glu renorm bilinear);
op!(dropout embedding_bag rope);

/// Scale times alpha of `selu`: its limit at minus infinity is `-ALPHA`.
pub(crate) const ALPHA: f64 = 1.758_099_340_847_376_6;

/// The reduction over the losses of single elements, chosen at run time (`reduction` in PyTorch).
///
/// Typed methods take the types [`Mean`](crate::reduction::Mean), [`Sum`](crate::reduction::Sum) and
/// [`Unreduced`](crate::reduction::Unreduced), which determine the shape of the result.
///
/// ```
/// use castiron::reduction::LossReduction;
/// assert_eq!("mean".parse(), Ok(LossReduction::Mean));
/// assert!("median".parse::<LossReduction>().is_err());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LossReduction {
    /// No reduction: the loss of each element (`"none"`).
    None,
    /// Their mean; with weights, the weighted sum divided by the sum of the weights (`"mean"`).
    Mean,
    /// Their sum (`"sum"`).
    Sum,
    /// Their sum divided by the size of the first axis (`"batchmean"`); for `kl_div` only.
    BatchMean,
}

impl core::str::FromStr for LossReduction {
    type Err = crate::error::Error;
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "none" => Ok(LossReduction::None),
            "mean" => Ok(LossReduction::Mean),
            "sum" => Ok(LossReduction::Sum),
            "batchmean" => Ok(LossReduction::BatchMean),
            other => crate::error::invalid("loss", format!("reduction is none, mean or sum, got {other:?}")),
        }
    }
}

/// Formulas of two numbers and up to two parameters: `Huber: |x, y, [delta, _]| …`. `slope |x, y| …` is the derivative by `x` where dual numbers read another one than PyTorch's.
macro_rules! formulas {
    ($($(#[$doc:meta])* $name:ident: |$x:ident, $y:ident, $given:pat_param| $value:expr $(, slope |$a:ident, $b:ident| $slope:expr)?;)*) => {$(
        $(#[$doc])*
        pub(crate) struct $name;
        impl $crate::dtype::Tuned for $name {
            #[inline(always)]
            fn real<T: $crate::dtype::MachineFloat>($x: T, [$y, first, second]: $crate::dtype::Parameters<T>) -> T {
                let $given = [first, second];
                $value
            }
            $(
                #[inline(always)]
                fn derivative<T: $crate::dtype::MachineFloat>(by: usize, $a: T, p: $crate::dtype::Parameters<T>) -> T {
                    let [$b, ..] = p;
                    if by == 0 { $slope } else { $crate::ops::slope::tuned_derivative::<Self, T>(by, $a, p) }
                }
            )?
        }
    )*};
}

#[allow(unused_imports)]
pub(crate) use formulas;

/// `log(1 / (1 + exp(-x)))`, without overflow.
#[inline(always)]
fn log_sigmoid<T: MachineFloat>(x: T) -> T {
    let below = if x < T::zero() { x } else { T::zero() };
    let farther = if x < T::zero() { x } else { -x };
    below - T::elementary::<math::Log1p>(T::elementary::<math::Exp>(farther))
}

/// `max(x, 0)`, with NaN kept.
#[inline(always)]
fn above_zero<T: MachineFloat>(x: T) -> T {
    if x < T::zero() { T::zero() } else { x }
}

/// `x * log(x)`, 0 at 0.
#[inline(always)]
fn x_log_x<T: MachineFloat>(x: T) -> T {
    if x == T::zero() { T::zero() } else { x * T::elementary::<math::Log>(x) }
}

/// Stirling's term of Poisson losses with `full`, for targets above 1.
#[inline(always)]
fn stirling<T: MachineFloat>(y: T, full: T) -> T {
    let term = y * T::elementary::<math::Log>(y) - y
        + T::lit(0.5) * T::elementary::<math::Log>(T::lit(core::f64::consts::TAU) * y);
    if full > T::zero() && y > T::one() { term } else { T::zero() }
}

formulas! {
    SquaredDifference: |x, y, _| (x - y) * (x - y);
    AbsoluteDifference: |x, y, _| {
        let difference = x - y;
        // The derivative of equals is 0.
        if difference > T::zero() {
            difference
        } else if difference < T::zero() {
            -difference
        } else {
            difference.abs() * T::zero()
        }
    };
    SmoothL1: |x, y, [beta, _]| {
        let distance = (x - y).abs();
        if distance < beta {
            T::lit(0.5) * distance * distance / beta
        } else {
            distance - T::lit(0.5) * beta
        }
    };
    Huber: |x, y, [delta, _]| {
        let distance = (x - y).abs();
        if distance <= delta {
            T::lit(0.5) * distance * distance
        } else {
            delta * (distance - T::lit(0.5) * delta)
        }
    };
    SoftMargin: |x, y, _| T::elementary::<math::Log1p>(T::elementary::<math::Exp>(-y * x));
    HingeEmbedding: |x, y, [margin, _]| {
        let close = if y != -T::one() { x } else { T::zero() };
        let far = if y != T::one() { above_zero(margin - x) } else { T::zero() };
        far + close
    };
    KlDivergence: |x, y, _| x_log_x(y) - y * x;
    KlDivergenceOfLogs: |x, y, _| T::elementary::<math::Exp>(y) * (y - x);
    /// The prediction is a rate.
    Poisson: |x, y, [eps, full]| x - y * T::elementary::<math::Log>(x + eps) + stirling(y, full);
    /// The prediction is the logarithm of a rate.
    PoissonOfLog: |x, y, [_eps, full]| T::elementary::<math::Exp>(x) - y * x + stirling(y, full);
    /// From the squared difference and the variance.
    Gaussian: |x, y, [eps, constant]| {
        let variance = if y < eps { eps } else { y };
        T::lit(0.5) * (T::elementary::<math::Log>(variance) + x / variance) + constant
    };
    /// The prediction is a probability.
    BinaryCrossEntropy: |x, y, _| {
        let least = T::lit(-100.0);
        let log = T::elementary::<math::Log>(x);
        let other = T::elementary::<math::Log1p>(-x);
        let log = if log < least { least } else { log };
        let other = if other < least { least } else { other };
        (y - T::one()) * other - y * log
    }, slope |x, y| {
        let variance = (T::one() - x) * x;
        let least = T::lit(1e-12);
        (x - y) / if variance > least { variance } else { least }
    };
    BinaryCrossEntropyOfLogits: |x, y, _| (T::one() - y) * x - log_sigmoid(x);
    /// The term that the weight of positive targets multiplies.
    PositiveLogit: |x, y, _| -y * log_sigmoid(x);
    /// The term that it does not multiply.
    NegativeLogit: |x, y, _| (T::one() - y) * (x - log_sigmoid(x));
    MultilabelSoftMargin: |x, y, _| -(y * log_sigmoid(x) + (T::one() - y) * log_sigmoid(-x));
    /// From a difference and a target of 1 or -1.
    MarginRanking: |x, y, [margin, _]| above_zero(margin - y * x);
    /// From two distances.
    TripletMargin: |x, y, [margin, _]| above_zero(margin + x - y);
    /// From a cosine and a target of 1 or -1.
    CosineEmbedding: |x, y, [margin, _]| {
        if y == T::one() {
            T::one() - x
        } else if y == -T::one() {
            above_zero(x - margin)
        } else {
            T::zero()
        }
    };
    /// The product of two norms, from their squares.
    Lengths: |x, y, [eps, _]| ((x + eps) * (y + eps)).sqrt();
    /// The same, with each norm at least `eps`.
    LengthsFrom: |x, y, [eps, _]| {
        let (x, y) = (x.sqrt(), y.sqrt());
        (if x < eps { eps } else { x }) * (if y < eps { eps } else { y })
    };
    Difference: |x, y, [more, _]| x - y + more;
    Product: |x, y, _| x * y;
    NegativeProduct: |x, y, _| -(x * y);
    Quotient: |x, y, _| x / y;
    /// A probability, from its logarithm, times a number: for gradients.
    #[cfg_attr(not(feature = "grad"), allow(dead_code))]
    ExpTimes: |x, y, _| T::elementary::<math::Exp>(x) * y;
    Smaller: |x, y, _| if y < x || y.is_nan() { y } else { x };
    First: |x, _y, _| x;
    /// A weighted sum.
    Blend: |x, y, [first, second]| first * x + second * y;
    /// A log-probability times a smoothed target probability.
    NegativeSmoothed: |x, y, [kept, more]| -(x * (y * kept + more));
    /// Scale and shift.
    Affine: |x, y, [shift, _]| x * y + shift;
    /// The inverse standard deviation.
    InverseRoot: |x, _y, [eps, _]| T::one() / (x + eps).sqrt();
    /// The same for numbers that were multiplied by a power of two.
    InverseRootBeside: |x, power, [eps, _]| T::one() / (x + eps * power * power).sqrt();
    /// The bias minus the scaled mean.
    Shifted: |x, y, [scale, _]| y - x * scale;
    /// The base of `local_response_norm`'s divisor, from the sum of squares of adjacent channels.
    Neighbours: |x, _y, [alpha, k]| k + alpha * x;
    DividedByPower: |x, y, [beta, _]| x / T::elementary_of_two::<math::Pow>(y, beta);
    /// `glu`: a number times the sigmoid of its gate.
    Gated: |x, y, _| x * (T::one() / (T::one() + T::elementary::<math::Exp>(-y)));
    /// `renorm`: an element, given the norm of its slice.
    Renormed: |x, y, [most, _]| if y > most { x * (most / (y + T::lit(1e-7))) } else { x };
    /// The power of two that scales a row with this largest element.
    RowPower: |x, _y, _| <PowerOfRow as Unary>::real(x);
    /// The same, scaled to far above 1, where squares would overflow `f64`; 1 for most rows.
    LargePower: |x, _y, _| if x >= T::lit(2f64.powi(480)) { T::lit(2f64.powi(256)) * <PowerOfRow as Unary>::real(x) } else { T::one() };
    /// A score plus its mask: a masked score (negative infinity) is not read. (The host's attention has its own loops.)
    Masked: |score, mask, _| if mask == T::neg_infinity() { mask } else { score + mask };
    /// Dropout: an element kept and scaled, or zeroed.
    Dropped: |x, y, [scale, _]| if y > T::zero() { x * scale } else { x * T::zero() };
    AlphaDropped: |x, y, [scale, p]| {
        let alpha = T::lit(ALPHA);
        x * (y * scale) + (y - T::one()) * (alpha * scale) + alpha * scale * p
    };
    /// Rotary embedding: a component plus the other component times the sine.
    Turned: |x, y, [sine, _]| x + y * sine;
    /// 1 where the second is negative, else 0.
    Negative: |_x, y, _| if y < T::zero() { T::one() } else { T::zero() };
}

/// A formula of two elements and parameters, computed in the first one's compute type; the result is converted to the output's dtype.
pub(crate) struct Losing<F> {
    given: [f64; 2],
    formula: PhantomData<fn() -> F>,
}
impl<F> Clone for Losing<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Losing<F> {}
impl<F> Losing<F> {
    /// The kernel of `F` with these parameters.
    pub(crate) const fn new(given: [f64; 2]) -> Self {
        Losing { given, formula: PhantomData }
    }
}
impl<F: Tuned, A: Dtype, B: Dtype, O: Castable> Map2<A, B, O> for Losing<F> {
    const VECTORS: VectorWidth = if F::IS_MEMORY_BOUND { VectorWidth::Narrow } else { VectorWidth::Wide };
    const SLOPE: Slope = Derived::<OfPair<F>, A>::SLOPE;
    fn constants(self) -> Constants {
        [self.given[0].into(), self.given[1].into(), Default::default()]
    }
    const WIDENS: bool = matches!(<A::Compute as Element>::DTYPE, DType::F32);
    fn widened<T: TakesMap2>() -> T::Out {
        if const { O::DTYPE.is_half() } {
            T::take::<Self, A::Compute, B::Compute, f32>()
        } else {
            T::take::<Self, A::Compute, B::Compute, O>()
        }
    }
    #[inline(always)]
    fn call(self, x: A, y: B) -> O {
        let parameter = <A::Compute as Castable>::from_f64;
        x.to_compute().tuned::<F>([y.cast(), parameter(self.given[0]), parameter(self.given[1])]).cast()
    }
    fn text(&self, kernel: &mut Kernel, x: Value, y: Value) -> Value {
        let parameter = <A::Compute as Castable>::from_f64;
        let (first, second) = (kernel.parameter(parameter(self.given[0])), kernel.parameter(parameter(self.given[1])));
        let x = kernel.widen(x);
        let y = kernel.cast(y, x.dtype());
        let value = kernel.tuned::<F>(x, [y, first, second]);
        kernel.cast(value, O::DTYPE)
    }
}

/// The same for three elements and one parameter.
impl<F: Tuned, A: Dtype, B: Dtype, C: Dtype, O: Castable> Map3<A, B, C, O> for Losing<F> {
    const VECTORS: VectorWidth = if F::IS_MEMORY_BOUND { VectorWidth::Narrow } else { VectorWidth::Wide };
    const SLOPE: Slope = Derived::<OfThree<F>, A>::SLOPE;
    fn constants(self) -> Constants {
        [self.given[0].into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, x: A, y: B, z: C) -> O {
        x.to_compute().tuned::<F>([y.cast(), z.cast(), <A::Compute as Castable>::from_f64(self.given[0])]).cast()
    }
    fn text(&self, kernel: &mut Kernel, x: Value, y: Value, z: Value) -> Value {
        let given = kernel.parameter(<A::Compute as Castable>::from_f64(self.given[0]));
        let x = kernel.widen(x);
        let (y, z) = (kernel.cast(y, x.dtype()), kernel.cast(z, x.dtype()));
        let value = kernel.tuned::<F>(x, [y, z, given]);
        kernel.cast(value, O::DTYPE)
    }
}

/// A label as an index; the ignored label becomes 0.
#[derive(Clone, Copy)]
pub(crate) struct KeptIndex(pub(crate) i64);
impl Map1<i64, i64> for KeptIndex {
    #[inline(always)]
    fn call(self, label: i64) -> i64 {
        if label == self.0 { 0 } else { label }
    }
    fn text(&self, kernel: &mut Kernel, label: Value) -> Value {
        let none = kernel.constant(0.0, DType::I64);
        without(kernel, self.0, label, label, none)
    }
}

/// 1 for each label that is not ignored, else 0.
#[derive(Clone, Copy)]
pub(crate) struct Counting(pub(crate) i64);
impl<E: Castable> Map1<i64, E> for Counting {
    #[inline(always)]
    fn call(self, label: i64) -> E {
        E::from_bool(label != self.0)
    }
    fn text(&self, kernel: &mut Kernel, label: Value) -> Value {
        let (one, none) = (kernel.constant(1.0, E::DTYPE), kernel.constant(0.0, E::DTYPE));
        without(kernel, self.0, label, one, none)
    }
}

/// The loss of a log-probability: minus it, or zero where the label is the ignored one.
#[derive(Clone, Copy)]
pub(crate) struct KeptLoss(pub(crate) i64);
impl<E: Dtype> Map2<E, i64, f64> for KeptLoss {
    #[inline(always)]
    fn call(self, log: E, label: i64) -> f64 {
        let log: f64 = log.cast();
        if label == self.0 { 0.0 } else { -log }
    }
    fn text(&self, kernel: &mut Kernel, log: Value, label: Value) -> Value {
        let (log, none) = (kernel.cast(log, DType::F64), kernel.constant(0.0, DType::F64));
        let loss = kernel.row("neg", DType::F64, &[log]);
        without(kernel, self.0, label, loss, none)
    }
}

/// `Kept` as a formula, for its derivative.
struct KeptFormula;
impl Tuned for KeptFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [label, ignored, _]: crate::dtype::Parameters<T>) -> T {
        if label == ignored { T::zero() } else { x }
    }
}

/// An element, or zero where the label is the ignored one.
#[derive(Clone, Copy)]
pub(crate) struct Kept(pub(crate) i64);
impl<E: Castable> Map2<E, i64, E> for Kept {
    const SLOPE: Slope = Derived::<OfPair<KeptFormula>, E>::SLOPE;
    fn constants(self) -> Constants {
        [(self.0 as f64).into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, element: E, label: i64) -> E {
        if label == self.0 { E::from_bool(false) } else { element }
    }
    fn text(&self, kernel: &mut Kernel, element: Value, label: Value) -> Value {
        let none = kernel.constant(0.0, E::DTYPE);
        without(kernel, self.0, label, element, none)
    }
}

fn without(kernel: &mut Kernel, ignored: i64, label: Value, kept: Value, none: Value) -> Value {
    let ignored = kernel.parameter(ignored);
    let is_left_out = kernel.infix(label, "==", ignored, DType::Bool);
    kernel.choose(is_left_out, none, kept)
}

/// The kernels of this file, for the test of their GPU text.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::{bf16, f16};
    macro_rules! each {
        ($($formula:ident)*) => {$(
            suite.two::<_, f32, f32, f32>(stringify!($formula), Losing::<$formula>::new([0.5, 0.25])).ordinary();
            suite.two::<_, f16, f16, f64>(stringify!($formula), Losing::<$formula>::new([0.5, 0.25])).ordinary();
        )*};
    }
    each!(SquaredDifference AbsoluteDifference SmoothL1 Huber SoftMargin HingeEmbedding KlDivergence KlDivergenceOfLogs);
    each!(Poisson PoissonOfLog Gaussian BinaryCrossEntropy BinaryCrossEntropyOfLogits PositiveLogit NegativeLogit);
    each!(MultilabelSoftMargin MarginRanking TripletMargin CosineEmbedding Lengths LengthsFrom Difference Product NegativeProduct);
    each!(Quotient ExpTimes Smaller First Blend NegativeSmoothed Negative);
    each!(Dropped AlphaDropped Turned Affine InverseRoot Shifted Neighbours DividedByPower Gated Renormed Masked RowPower InverseRootBeside);
    suite.three::<_, f32, f64, f64, f32>("affine", Losing::<Affine>::new([0.0; 2])).ordinary();
    suite.two::<_, f64, bf16, bool>("losing_mixed", Losing::<Negative>::new([0.0; 2]));
    suite.one::<_, i64, i64>("kept_index", KeptIndex(3));
    suite.one::<_, i64, f16>("counting", Counting(3));
    suite.two::<_, f32, i64, f32>("kept", Kept(3));
    suite.two::<_, f16, i64, f64>("kept_loss", KeptLoss(3));
}
