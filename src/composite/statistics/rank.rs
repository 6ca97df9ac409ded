//! The rank of a quantile among the numbers of a lane, as kernels: the elements below and above it, and the weight of the one above.

use crate::dtype::DType;
use crate::dtype::Dtype;
use crate::ops::kernel::Map2;
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
    fn of(self, numbers: i64, q: f64) -> f64 {
        let last = self.len as i64 - 1;
        if !self.ignores_nan && numbers <= last {
            // NaN is sorted last.
            return last as f64;
        }
        // Rounded to the dtype, as the factors are.
        let rounded = |x: f64| E::from_f64(x).cast::<f64>();
        let rank = rounded(rounded(q) * rounded((numbers - 1).max(0) as f64));
        match self.how {
            Interpolation::Lower => rank.floor(),
            Interpolation::Higher => rank.ceil(),
            Interpolation::Nearest => rank.round_ties_even(),
            Interpolation::Linear | Interpolation::Midpoint => rank,
        }
    }
    /// `of` as kernel source.
    fn text(self, kernel: &mut Kernel, numbers: Value, q: Value) -> Value {
        let (last, ignores_nan) = (kernel.parameter(self.len as i64 - 1), kernel.parameter(self.ignores_nan));
        let [lower, higher, nearest] = [Interpolation::Lower, Interpolation::Higher, Interpolation::Nearest]
            .map(|how| kernel.parameter(self.how == how));
        let rounded = |kernel: &mut Kernel, x: Value| {
            let x = kernel.cast(x, E::DTYPE);
            kernel.cast(x, DType::F64)
        };
        let (zero, one) = (kernel.constant(0.0, DType::I64), kernel.constant(1.0, DType::I64));
        let most = kernel.prelude("sub", &[numbers, one], DType::I64);
        let is_negative = kernel.infix(most, "<", zero, DType::Bool);
        let most = kernel.choose(is_negative, zero, most);
        let most = kernel.cast(most, DType::F64);
        let (q, most) = (rounded(kernel, q), rounded(kernel, most));
        let rank = kernel.infix(q, "*", most, DType::F64);
        let rank = rounded(kernel, rank);
        let [floor, ceil, round] =
            ["floor", "ceil", "round_ties_even"].map(|name| kernel.prelude(name, &[rank], DType::F64));
        let rank = kernel.choose(lower, floor, rank);
        let rank = kernel.choose(higher, ceil, rank);
        let rank = kernel.choose(nearest, round, rank);
        // NaN is sorted last.
        let fewer = kernel.infix(numbers, "<=", last, DType::Bool);
        let counts_nan = kernel.not(ignores_nan);
        let has_nan = kernel.infix(counts_nan, "&&", fewer, DType::Bool);
        let last = kernel.cast(last, DType::F64);
        kernel.choose(has_nan, last, rank)
    }
}
/// The element below.
pub(super) struct Below<E>(pub(super) Rank<E>);
/// The element above.
pub(super) struct Above<E>(pub(super) Rank<E>);
/// The weight between the element below (0) and the one above (1).
pub(super) struct Weight<E>(pub(super) Rank<E>);
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
    Weight -> E: |rank, numbers, q| {
        let at = rank.of(numbers, q);
        E::from_f64(if rank.how == Interpolation::Midpoint { 0.5 } else { at - at.floor() })
    }, |kernel, at| {
        let (is_middle, half) = (kernel.parameter(rank.how == Interpolation::Midpoint), kernel.constant(0.5, DType::F64));
        let below = kernel.prelude("floor", &[at], DType::F64);
        let far = kernel.infix(at, "-", below, DType::F64);
        let weight = kernel.choose(is_middle, half, far);
        kernel.cast(weight, E::DTYPE)
    };
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use Interpolation::{Higher, Linear, Lower, Midpoint, Nearest};
    for how in [Linear, Lower, Higher, Midpoint, Nearest] {
        for ignores_nan in [false, true] {
            let rank = Rank::<f32> { len: 20, ignores_nan, how, dtype: PhantomData };
            suite.two::<_, i64, f64, i64>("below", Below(rank)).ordinary();
            suite.two::<_, i64, f64, i64>("above", Above(rank)).ordinary();
            suite.two::<_, i64, f64, f32>("weight", Weight(rank)).ordinary();
        }
    }
}
