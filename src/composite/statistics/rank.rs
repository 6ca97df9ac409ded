//! The rank of a quantile among the numbers of a lane, as kernels: the elements below and above it, and the highest rank.

use crate::dtype::DType;
use crate::dtype::Dtype;
use crate::ops::kernel::{Map1, Map2, Slope};
use crate::ops::record::kernel::{Kernel, Value};
use crate::tensor::Interpolation;
use core::marker::PhantomData;

/// The rank of a quantile among a number of elements.
pub(super) struct Rank<E> {
    pub(super) len: usize,
    pub(super) ignores_nan: bool,
    pub(super) how: Interpolation,
    pub(super) dtype: PhantomData<fn() -> E>,
}
impl<E> Clone for Rank<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Rank<E> {}
impl<E: Dtype> Rank<E> {
    /// The highest rank of a lane of this many numbers; `None` if the quantile is its NaN.
    fn highest(self, numbers: i64) -> Option<i64> {
        (self.ignores_nan || numbers >= self.len as i64).then(|| (numbers - 1).max(0))
    }
    fn of(self, numbers: i64, q: f64) -> f64 {
        let Some(highest) = self.highest(numbers) else {
            // NaN is sorted last.
            return (self.len as i64 - 1) as f64;
        };
        // Rounded to the dtype, as the factors are.
        let rounded = |x: f64| E::from_f64(x).cast::<f64>();
        let rank = rounded(rounded(q) * rounded(highest as f64));
        match self.how {
            Interpolation::Lower => rank.floor(),
            Interpolation::Higher => rank.ceil(),
            Interpolation::Nearest => rank.round_ties_even(),
            Interpolation::Linear | Interpolation::Midpoint => rank,
        }
    }
    /// `highest` as kernel source: the rank, and whether the quantile is NaN.
    fn highest_text(self, kernel: &mut Kernel, numbers: Value) -> (Value, Value) {
        let (len, ignores_nan) = (kernel.parameter(self.len as i64), kernel.parameter(self.ignores_nan));
        let (zero, one) = (kernel.constant(0.0, DType::I64), kernel.constant(1.0, DType::I64));
        let highest = kernel.prelude("sub", &[numbers, one], DType::I64);
        let is_negative = kernel.infix(highest, "<", zero, DType::Bool);
        let highest = kernel.choose(is_negative, zero, highest);
        let fewer = kernel.infix(numbers, "<", len, DType::Bool);
        let counts_nan = kernel.not(ignores_nan);
        (highest, kernel.infix(counts_nan, "&&", fewer, DType::Bool))
    }
    /// `of` as kernel source.
    fn text(self, kernel: &mut Kernel, numbers: Value, q: Value) -> Value {
        let last = kernel.parameter(self.len as i64 - 1);
        let [lower, higher, nearest] = [Interpolation::Lower, Interpolation::Higher, Interpolation::Nearest]
            .map(|how| kernel.parameter(self.how == how));
        let rounded = |kernel: &mut Kernel, x: Value| {
            let x = kernel.cast(x, E::DTYPE);
            kernel.cast(x, DType::F64)
        };
        let (highest, has_nan) = self.highest_text(kernel, numbers);
        let highest = kernel.cast(highest, DType::F64);
        let (q, highest) = (rounded(kernel, q), rounded(kernel, highest));
        let rank = kernel.infix(q, "*", highest, DType::F64);
        let rank = rounded(kernel, rank);
        let [floor, ceil, round] =
            ["floor", "ceil", "round_ties_even"].map(|name| kernel.prelude(name, &[rank], DType::F64));
        let rank = kernel.choose(lower, floor, rank);
        let rank = kernel.choose(higher, ceil, rank);
        let rank = kernel.choose(nearest, round, rank);
        // NaN is sorted last.
        let last = kernel.cast(last, DType::F64);
        kernel.choose(has_nan, last, rank)
    }
}
/// The element below.
pub(super) struct Below<E>(pub(super) Rank<E>);
/// The element above.
pub(super) struct Above<E>(pub(super) Rank<E>);
/// The highest rank of the numbers of a lane; 0 where there are none, and where NaN is the result.
pub(super) struct Highest<E>(pub(super) Rank<E>);
macro_rules! ranks {
    ($($name:ident -> $out:ty: |$rank:ident, $numbers:ident, $q:ident| $value:expr, |$kernel:ident, $at:ident| $text:expr;)*) => {$(
        impl<E> Clone for $name<E> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<E> Copy for $name<E> {}
        impl<E: Dtype> Map2<i64, f64, $out> for $name<E> {
            #[inline(always)]
            fn call(self, $numbers: i64, $q: f64) -> $out {
                let $rank = self.0;
                $value
            }
            fn text(&self, $kernel: &mut Kernel, $numbers: Value, $q: Value) -> Value {
                let $rank = self.0;
                let $at = $rank.text($kernel, $numbers, $q);
                $text
            }
        }
    )*};
}
ranks! {
    Below -> i64: |rank, numbers, q| rank.of(numbers, q) as i64, |kernel, at| kernel.prelude("saturated", &[at], DType::I64);
    Above -> i64: |rank, numbers, q| rank.of(numbers, q).ceil() as i64, |kernel, at| {
        let above = kernel.prelude("ceil", &[at], DType::F64);
        kernel.prelude("saturated", &[above], DType::I64)
    };
}
impl<E> Clone for Highest<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Highest<E> {}
impl<E: Dtype> Map1<i64, E> for Highest<E> {
    const SLOPE: Slope = Slope::Flat;
    #[inline(always)]
    fn call(self, numbers: i64) -> E {
        E::from_f64(self.0.highest(numbers).unwrap_or(0) as f64)
    }
    fn text(&self, kernel: &mut Kernel, numbers: Value) -> Value {
        let (highest, has_nan) = self.0.highest_text(kernel, numbers);
        let zero = kernel.constant(0.0, DType::I64);
        let highest = kernel.choose(has_nan, zero, highest);
        kernel.cast(highest, E::DTYPE)
    }
}

/// How far a rank is above the element below: 0 there, 1 at the one above.
#[derive(Clone, Copy)]
pub(super) struct Fraction;
impl<E: Dtype> Map1<E, E> for Fraction {
    const SLOPE: Slope = Slope::Moves(0);
    #[inline(always)]
    fn call(self, rank: E) -> E {
        let rank = rank.cast::<f64>();
        E::from_f64(rank - rank.floor())
    }
    fn text(&self, kernel: &mut Kernel, rank: Value) -> Value {
        let rank = kernel.cast(rank, DType::F64);
        let below = kernel.prelude("floor", &[rank], DType::F64);
        let above = kernel.infix(rank, "-", below, DType::F64);
        kernel.cast(above, E::DTYPE)
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use Interpolation::{Higher, Linear, Lower, Midpoint, Nearest};
    suite.one::<_, f32, f32>("fraction", Fraction).ordinary();
    for how in [Linear, Lower, Higher, Midpoint, Nearest] {
        for ignores_nan in [false, true] {
            let rank = Rank::<f32> { len: 20, ignores_nan, how, dtype: PhantomData };
            suite.two::<_, i64, f64, i64>("below", Below(rank)).ordinary();
            suite.two::<_, i64, f64, i64>("above", Above(rank)).ordinary();
            suite.one::<_, i64, f32>("highest", Highest(rank)).ordinary();
        }
    }
}
