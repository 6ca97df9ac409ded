//! `multinomial` on a GPU: with replacement, by searching uniform numbers among cumulative sums of the weights; without, by the largest
//! quotients of weights and exponential samples.

use crate::device::Device;
use crate::dtype::{Castable, DType};
use crate::error::Result;
use crate::ops::arguments::{Distribution, Order};
use crate::ops::kernel::{Map1, Map2};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::{AnyAll, Extreme};
use crate::ops::scan::RunningSum;
use crate::storage::View;

/// A weight, or NaN if it is negative or not finite.
#[derive(Clone, Copy)]
struct Weight;
impl<E: Castable> Map1<E, f64> for Weight {
    #[inline(always)]
    fn call(self, x: E) -> f64 {
        let x = x.cast::<f64>();
        if (0.0..f64::INFINITY).contains(&x) { x } else { f64::NAN }
    }
    fn text(&self, kernel: &mut Kernel, x: Value) -> Value {
        let x = kernel.cast(x, DType::F64);
        let [none, endless, nan] = [0.0, f64::INFINITY, f64::NAN].map(|number| kernel.constant(number, DType::F64));
        let (from, to) = (kernel.infix(x, ">=", none, DType::Bool), kernel.infix(x, "<", endless, DType::Bool));
        let inside = kernel.infix(from, "&&", to, DType::Bool);
        kernel.choose(inside, x, nan)
    }
}

/// Whether the largest weight of a row is 0 or NaN, so that nothing can be drawn.
#[derive(Clone, Copy)]
struct IsNothing;
impl Map1<f64, bool> for IsNothing {
    #[inline(always)]
    fn call(self, x: f64) -> bool {
        x.is_nan() || x <= 0.0
    }
    fn text(&self, kernel: &mut Kernel, x: Value) -> Value {
        let none = kernel.constant(0.0, DType::F64);
        let some = kernel.infix(x, ">", none, DType::Bool);
        kernel.not(some)
    }
}

/// A weight divided by the largest one, so that no sum overflows.
#[derive(Clone, Copy)]
struct Share;
impl Map2<f64, f64, f64> for Share {
    #[inline(always)]
    fn call(self, weight: f64, largest: f64) -> f64 {
        weight / largest
    }
    fn text(&self, kernel: &mut Kernel, weight: Value, largest: Value) -> Value {
        kernel.infix(weight, "/", largest, DType::F64)
    }
}

/// A uniform number times the total, below the total whatever the rounding.
#[derive(Clone, Copy)]
struct Below;
impl Map2<f64, f64, f64> for Below {
    #[inline(always)]
    fn call(self, share: f64, total: f64) -> f64 {
        let number = share * total;
        if number < total { number } else { libm::nextafter(total, 0.0) }
    }
    fn text(&self, kernel: &mut Kernel, share: Value, total: Value) -> Value {
        let (number, none) = (kernel.infix(share, "*", total, DType::F64), kernel.constant(0.0, DType::F64));
        let (less, last) =
            (kernel.infix(number, "<", total, DType::Bool), kernel.prelude("next_towards", &[total, none], DType::F64));
        kernel.choose(less, number, last)
    }
}

/// A weight divided by an exponential sample, which is computed from a uniform one; 0 if the weight is 0.
#[derive(Clone, Copy)]
struct Raced;
impl Map2<f64, f64, f64> for Raced {
    #[inline(always)]
    fn call(self, weight: f64, uniform: f64) -> f64 {
        let time = -libm::log1p(-uniform);
        if weight > 0.0 { weight / time.max(f64::MIN_POSITIVE) } else { 0.0 }
    }
    fn text(&self, kernel: &mut Kernel, weight: Value, uniform: Value) -> Value {
        let [none, least] = [0.0, f64::MIN_POSITIVE].map(|number| kernel.constant(number, DType::F64));
        let uniform = kernel.infix(none, "-", uniform, DType::F64);
        let logarithm = kernel.prelude("log1p", &[uniform], DType::F64);
        let time = kernel.infix(none, "-", logarithm, DType::F64);
        let time = kernel.prelude("max", &[time, least], DType::F64);
        let (some, quotient) =
            (kernel.infix(weight, ">", none, DType::Bool), kernel.infix(weight, "/", time, DType::F64));
        kernel.choose(some, quotient, none)
    }
}

/// Positions drawn from each row of weights, `(rows, samples)`; `None` if the host draws them, or makes the error.
pub(super) fn drawn<E: Castable, D: Device>(
    weights: View<'_, D::Storage, E>,
    samples: usize,
    replacement: bool,
    mut seed: impl FnMut() -> u64,
) -> Result<Option<D::Storage>> {
    let beside = Some(weights.buffer);
    let sizes = match *weights.sizes {
        [len] => [1, len],
        [rows, len] => [rows, len],
        _ => return Ok(None),
    };
    let from = match *weights.strides {
        [step] => [0, step],
        [row, step] => [row, step],
        _ => return Ok(None),
    };
    let ([rows, len], steps) = (sizes, [sizes[1], 1]);
    if rows == 0 {
        return Ok(None);
    }
    let own = D::map1::<E, f64>(Weight, weights.restrided(&sizes, &from), &steps)?;
    let own = || View::<_, f64>::new(&own, 0, &sizes, &steps);
    let largest = D::reduce::<f64, _>(Extreme::<f64, true>::new(), own(), 2)?;
    let (line, spread) = ([rows], [1, 0]);
    let nothing = D::map1::<f64, bool>(IsNothing, View::new(&largest, 0, &line, &[1]), &[1])?;
    let nothing = D::reduce::<bool, _>(AnyAll::ANY, View::new(&nothing, 0, &line, &[1]), 1)?;
    if D::peek(View::<_, bool>::new(&nothing, 0, &[], &[]))? {
        return Ok(None);
    }
    let uniform =
        |len: usize, seed: u64| D::draw::<f64>(beside, Distribution::Uniform { low: 0.0, high: 1.0 }, || seed, len);
    if !replacement {
        let Some(uniform) = uniform(rows * len, seed())? else { return Ok(None) };
        let keys = D::map2::<f64, f64, f64>(Raced, own(), View::new(&uniform, 0, &sizes, &steps), &steps)?;
        let order = Order::Top { k: samples, largest: true };
        let [_, positions] = D::order(order, View::<_, f64>::new(&keys, 0, &sizes, &steps), 1)?;
        return Ok(Some(positions));
    }
    let shares = D::map2::<f64, f64, f64>(Share, own(), View::new(&largest, 0, &sizes, &spread), &steps)?;
    let sums = D::lanes::<f64, f64>(RunningSum, View::new(&shares, 0, &sizes, &steps), 1)?;
    let Some(uniform) = uniform(rows * samples, seed())? else { return Ok(None) };
    let (wanted, apart, ends) = ([rows, samples], [samples, 1], [len, 0]);
    let total = View::<_, f64>::new(&sums, len - 1, &wanted, &ends);
    let numbers = D::map2::<f64, f64, f64>(Below, View::new(&uniform, 0, &wanted, &apart), total, &apart)?;
    let numbers = View::<_, f64>::new(&numbers, 0, &wanted, &apart);
    D::search(View::<_, f64>::new(&sums, 0, &sizes, &steps), numbers, true).map(Some)
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, f32, f64>("weight", Weight);
    suite.one::<_, f64, bool>("is_nothing", IsNothing);
    suite.two::<_, f64, f64, f64>("share", Share);
    suite.two::<_, f64, f64, f64>("below", Below);
}
