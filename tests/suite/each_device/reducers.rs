//! Reducers of one's own on every device: over axes, as scans, in expressions, of one operand or two; and formulas that give several numbers,
//! in place and into existing tensors.

use super::{Gives, On, has_data, is_host};
use castiron::{Device, Dyn, Float, Shape, Tensor, axis, bf16, f16, formula, fused, reducer, shape, tensor};

/// Mean and variance in one pass.
struct Moments;
#[reducer]
impl Moments {
    fn start<F: Float>() -> [F; 3] {
        [0.0; 3]
    }
    fn step<F: Float>([count, mean, squares]: [F; 3], x: F) -> [F; 3] {
        let more = count + 1;
        let off = x - mean;
        let new = mean + off / more;
        [more, new, squares + off * (x - new)]
    }
    fn merge<F: Float>(one: [F; 3], other: [F; 3]) -> [F; 3] {
        let count = one[0] + other[0];
        let share = select(count.gt(0), other[0] / count, 0);
        let off = other[1] - one[1];
        [count, one[1] + off * share, one[2] + other[2] + off * off * one[0] * share]
    }
    fn finish<F: Float>([count, mean, squares]: [F; 3]) -> (F, F) {
        (mean, squares / (count - 1))
    }
}
/// `log(sum(weight * exp(x)))`
pub struct WeightedLogSumExp;
#[reducer]
impl WeightedLogSumExp {
    fn start<F: Float>() -> [F; 2] {
        [f64::NEG_INFINITY, 0]
    }
    fn step<F: Float>([largest, sum]: [F; 2], x: F, weight: F) -> [F; 2] {
        let top = largest.maximum(x);
        [top, scaled(sum, largest, top) + weight * (x - top).exp()]
    }
    fn merge<F: Float>([a, of_a]: [F; 2], [b, of_b]: [F; 2]) -> [F; 2] {
        let top = a.maximum(b);
        [top, scaled(of_a, a, top) + scaled(of_b, b, top)]
    }
    fn finish<F: Float>([largest, sum]: [F; 2]) -> F {
        largest + sum.log()
    }
}
/// A sum of exponentials relative to another number; none are 0.
#[formula]
fn scaled<F: Float>(sum: F, of: F, to: F) -> F {
    select(sum.eq(0), 0, sum * (of - to).exp())
}
/// `h = a * h + x`
pub struct Recurrence;
#[reducer]
impl Recurrence {
    fn start<F: Float>() -> [F; 2] {
        [1, 0]
    }
    fn step<F: Float>([factor, h]: [F; 2], x: F, a: F) -> [F; 2] {
        [a * factor, a * h + x]
    }
    fn merge<F: Float>(earlier: [F; 2], later: [F; 2]) -> [F; 2] {
        [earlier[0] * later[0], later[0] * earlier[1] + later[1]]
    }
    fn finish<F: Float>([_, h]: [F; 2]) -> F {
        h
    }
}
/// How many are below -1, below 0, below 1, and not.
struct Bins;
#[reducer]
impl Bins {
    fn start<F: Float>() -> [F; 4] {
        [0; 4]
    }
    fn step<F: Float>(mut counts: [F; 4], x: F) -> [F; 4] {
        let mut low = f64::NEG_INFINITY;
        for at in 0..4 {
            let high = if at < 3 { at as f64 - 1.0 } else { f64::INFINITY };
            counts[at] += select(x.ge(low) & x.lt(high), 1, 0);
            low = high;
        }
        counts
    }
    fn merge<F: Float>(mut one: [F; 4], other: [F; 4]) -> [F; 4] {
        for at in 0..4 {
            one[at] += other[at];
        }
        one
    }
    fn finish<F: Float>([a, b, c, d]: [F; 4]) -> (F, F, F, F) {
        (a, b, c, d)
    }
}
/// A state of one number.
pub struct Total;
#[reducer]
impl Total {
    fn start<F: Float>() -> F {
        0
    }
    fn step<F: Float>(sum: F, x: F) -> F {
        sum + x
    }
    fn merge<F: Float>(one: F, other: F) -> F {
        one + other
    }
    fn finish<F: Float>(sum: F) -> F {
        sum
    }
}

/// Generic code has no clause for it.
fn weighted<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, weights: &Tensor<E, S, D>) -> Tensor<E, (), D> {
    x.reduce_by(WeightedLogSumExp, weights)
}
#[track_caller]
fn near<D: Device, S: Shape>(a: &Tensor<f64, S, D>, b: &Tensor<f64, S, D>, within: f64) {
    assert_eq!(a.shape().as_ref(), b.shape().as_ref());
    if !has_data::<D>() {
        return;
    }
    let (a, b) = (a.elements(), b.elements());
    let agree =
        |(a, b): (&f64, &f64)| a == b || (a - b).abs() <= within * (1.0 + b.abs()) || (a.is_nan() && b.is_nan());
    assert!(a.iter().zip(&b).all(agree), "{a:?}, not {b:?}");
}
fn wave<D: Device, S: Shape + castiron::KnownShape>() -> Tensor<f64, S, D> {
    let mut at = 0.0;
    Tensor::<f64, S>::ones()
        .map(|_| {
            at += 1.0;
            (at * 0.7_f64).sin() * 3.0 + (at * 0.013).cos()
        })
        .on::<D>()
}

pub fn reducers_over_axes_agree_with_rows<D: Device>() {
    let x = wave::<D, shape![5, 70, 33]>();
    let (mean, variance) = x.reduce_by(Moments, ());
    near(&mean, &x.mean(), 1e-12);
    near(&variance, &x.var(1), 1e-12);
    // Rows, columns, both, and an axis between.
    let (mean, variance) = x.reduce_axis_by(Moments, (), axis![2]);
    near(&mean, &x.mean_axis(axis![2]), 1e-12);
    near(&variance, &x.var_axis(axis![2], 1), 1e-12);
    near(&x.reduce_axis_by(Moments, (), axis![0]).1, &x.var_axis(axis![0], 1), 1e-12);
    let kept: Tensor<f64, shape![1, 70, 1], D> = x.reduce_axis_by(Total, (), axis![0, 2].keepdim());
    near(&kept, &x.sum_axis(axis![0, 2].keepdim()), 1e-12);
    let turned = x.permute(axis![2, 0, 1]);
    near(&turned.reduce_axis_by(Total, (), axis![1]), &turned.sum_axis(axis![1]), 1e-12);
    let (a, b, c, d) = x.reduce_axis_by(Bins, (), axis![1, 2]);
    let all = &a + &b + &c + &d;
    all.gives([2310.0; 5]);
    a.gives(x.lt(-1).to::<f64>().sum_axis(axis![1, 2]).elements());
    // Half precision is computed in single, and rounded once.
    let halves = x.to::<bf16>();
    assert_eq!(halves.reduce_axis_by(Total, (), axis![2]).elements(), halves.sum_axis(axis![2]).elements());
    // Empty and of rank 0.
    let empty = Tensor::<f32, (Dyn,)>::zeros_sized([0]).on::<D>();
    empty.reduce_by(Total, ()).gives([0.0]);
    empty.reduce_by(WeightedLogSumExp, 1).gives([f32::NEG_INFINITY]);
    Tensor::<f16, ()>::full(f16::ONE).on::<D>().reduce_by(Total, ()).gives([f16::ONE]);
}

pub fn reducers_of_two_operands_broadcast_and_promote<D: Device>() {
    let x = wave::<D, shape![40, 37]>();
    near(&x.reduce_axis_by(WeightedLogSumExp, 1, axis![1]), &x.logsumexp(axis![1]), 1e-12);
    near(&x.reduce_axis_by(WeightedLogSumExp, 1, axis![0]), &x.logsumexp(axis![0]), 1e-12);
    let weights = Tensor::<f32, shape![37]>::from_fn(|[at]| at as f32 + 0.5).on::<D>();
    let by_rows: Tensor<f64, shape![40], D> = x.reduce_axis_by(WeightedLogSumExp, &weights, axis![1]);
    let own = (&x + weights.to::<f64>().log()).logsumexp(axis![1]);
    near(&by_rows, &own, 1e-12);
    near(&weighted(&x, &x.ones_like()), &x.logsumexp(axis![0, 1]), 1e-12);
    // In expressions, in the same pass.
    let of_expression = fused!((x * 2 + 1).reduce_axis_by(WeightedLogSumExp, weights, axis![1]));
    near(&of_expression, &(&x * 2 + 1).reduce_axis_by(WeightedLogSumExp, &weights, axis![1]), 1e-13);
    near(&fused!((x - 0.5).reduce_by(Moments, ())).1, &x.var(1), 1e-12);
    // Operands that broadcast only together.
    let (column, row) = (tensor![[1.0], [2.0]; f64].on::<D>(), tensor![0.5, 1.0, 2.0; f64].on::<D>());
    let both: Tensor<f64, shape![2], D> = column.reduce_axis_by(WeightedLogSumExp, &row, axis![1]);
    near(&both, &tensor![1.0 + 3.5_f64.ln(), 2.0 + 3.5_f64.ln(); f64].on::<D>(), 1e-12);
    let unequal = Tensor::<f32, (Dyn,)>::zeros_sized([2]).on::<D>();
    assert!(Tensor::<f32, (Dyn,)>::zeros_sized([3]).on::<D>().try_reduce_by(WeightedLogSumExp, &unequal).is_err());
}

pub fn reducers_are_scans<D: Device>() {
    let x = wave::<D, shape![7, 300]>();
    near(&x.scan_by(Total, (), axis![1]), &x.cumsum(axis![1]), 1e-12);
    near(&x.scan_by(Total, (), axis![0]), &x.cumsum(axis![0]), 1e-12);
    near(&x.scan_by(WeightedLogSumExp, 1, axis![-1]), &x.logcumsumexp(axis![-1]), 1e-12);
    let factors = Tensor::<f64, shape![300]>::from_fn(|[at]| (at as f64 * 0.3).cos()).on::<D>();
    let own = x.scan_by(Recurrence, &factors, axis![1]);
    if has_data::<D>() {
        let (x, factors, own) = (x.elements(), factors.elements(), own.elements());
        for row in 0..7 {
            let mut h = 0.0;
            for at in 0..300 {
                h = factors[at] * h + x[row * 300 + at];
                let found = own[row * 300 + at];
                assert!((found - h).abs() < 1e-11 * (1.0 + h.abs()), "{found}, not {h}");
            }
        }
    }
    let (means, variances) = x.t().scan_by(Moments, (), axis![0]);
    near(&means.select(axis![0], 299), &x.mean_axis(axis![1]), 1e-12);
    near(&variances.select(axis![0], 299), &x.var_axis(axis![1], 1), 1e-12);
    assert_eq!(Tensor::<f32, shape![2, 0]>::zeros().on::<D>().scan_by(Total, (), axis![1]).numel(), 0);
}

#[formula]
fn polar<F: Float>(x: F, y: F) -> (F, F) {
    (x.hypot(y), y.atan2(x))
}
#[formula(method)]
fn parts<F: Float>(x: F) -> (F, F, F) {
    let whole = x.trunc();
    (whole, x - whole, 1)
}
#[formula]
fn decayed<F: Float>(x: F, by: F) -> F {
    x * (-by).exp()
}
#[formula]
fn twice<F: Float>(x: F) -> F {
    x * 2
}
#[formula]
fn mixed<F: Float>(x: F, y: F, by: F) -> F {
    x + by * (y - x)
}
/// A formula calls one that gives several numbers.
#[formula]
fn slanted<F: Float>(x: F, y: F) -> F {
    let (radius, angle) = polar(x, y);
    radius * angle
}

/// A loop, and four results.
#[formula]
fn roots<F: Float>(x: F, y: F) -> (F, F, F, F) {
    let (mut root, mut error) = (x, x - y);
    for _ in 0..6 {
        root = 0.5 * (root + y / root);
        error = root * root - y;
    }
    (root, error, root.exp(), x)
}
/// The results of `roots`, one by one.
#[formula]
fn root_alone<F: Float>(x: F, y: F) -> F {
    roots(x, y).0
}
#[formula]
fn error_alone<F: Float>(x: F, y: F) -> F {
    roots(x, y).1
}
#[formula]
fn exp_alone<F: Float>(x: F, y: F) -> F {
    roots(x, y).2
}
#[formula]
fn first_alone<F: Float>(x: F, y: F) -> F {
    roots(x, y).3
}
#[formula]
fn sums_of_six<F: Float>(a: F, b: F, c: F, d: F, e: F, f: F) -> (F, F) {
    (a + b + c, d + e + f)
}

/// Several results have the bits and strides of each alone.
macro_rules! each_alone {
    ($x:expr, $y:expr) => {{
        let (x, y) = (&$x, $y);
        let (root, error, exp, first) = x.apply(roots, y);
        let alone = x.apply(root_alone, y);
        assert_eq!((root.stride(), root.elements()), (alone.stride(), alone.elements()));
        assert_eq!(error.elements(), x.apply(error_alone, y).elements());
        assert_eq!(exp.elements(), x.apply(exp_alone, y).elements());
        assert_eq!(first.elements(), x.apply(first_alone, y).elements());
    }};
}

pub fn formulas_give_several_numbers<D: Device>() {
    let (x, y) = (wave::<D, shape![3, 5]>(), tensor![0.5, -2.0, 1.0, 0.0, 3.0].on::<D>());
    let (radius, angle): (Tensor<f64, shape![3, 5], D>, _) = x.apply(polar, &y);
    near(&radius, &x.hypot(&y.to::<f64>()), 1e-14);
    near(&angle, &(x.zeros_like() + y.to::<f64>()).atan2(&x), 1e-14);
    near(&x.apply(slanted, &y), &(&radius * &angle), 1e-14);
    let (whole, rest, one) = y.parts();
    whole.gives([0.0, -2.0, 1.0, 0.0, 3.0]);
    rest.gives([0.5, 0.0, 0.0, 0.0, 0.0]);
    one.gives([1.0; 5]);
    let x = wave::<D, shape![6, 70, 9]>() + 3.0;
    let y = wave::<D, shape![6, 70, 9]>() + 5.0;
    each_alone!(x, &y);
    each_alone!(x.permute(axis![1, 2, 0]), &y.permute(axis![1, 2, 0]));
    each_alone!(x.swapaxes(axis![0], axis![2]).contiguous().swapaxes(axis![0], axis![2]), &y);
    each_alone!(x.narrow(axis![1], 3, 57), &y.narrow(axis![1], 5, 57));
    each_alone!(x, &y.select(axis![0], 2));
    each_alone!(x, 4.0);
    each_alone!(x.to::<f16>(), &y.to::<f16>());
    each_alone!(x.select(axis![0], 0).select(axis![0], 1).select(axis![0], 2), 2.0);
    each_alone!(Tensor::<f32, shape![2, 0, 3]>::ones().on::<D>(), &Tensor::<f32, shape![3]>::ones().on::<D>());
    if is_host::<D>() {
        // In pieces, by several threads.
        let x = Tensor::<f32, shape![210, 300]>::from_fn(|[row, at]| 1.0 + (row * 7 + at) as f32 * 1e-3).on::<D>();
        each_alone!(x, &x.t().contiguous().t());
    }
    let (one, other) = y.apply(sums_of_six, (1, 2.5, &x, &x, 0.5));
    near(&one, &(&y + 3.5), 1e-14);
    near(&other, &(&x * 2.0 + 0.5), 1e-14);
}

pub fn formulas_in_place_and_into<D: Device>() {
    let (x, y) = (wave::<D, shape![6, 9]>(), Tensor::<f32, shape![9]>::ones().on::<D>());
    let mut z = x.clone();
    z.apply_(twice, ()).apply_(decayed, 0.5).apply_(decayed, &y).apply_(mixed, (&x, 0.25));
    let expected = (&x * 2.0 * (-0.5_f64).exp() * (-1.0_f64).exp()).apply(mixed, (&x, 0.25));
    near(&z, &expected, 1e-14);
    near(&x, &wave::<D, shape![6, 9]>(), 0.0);
    // A tensor of another dtype, through a view that is strided, and broadcast in the wrong direction.
    let mut halves = x.to::<f16>();
    halves.apply_(decayed, &x);
    assert_eq!(halves.elements(), x.to::<f16>().apply(decayed, &x).to::<f16>().elements());
    let mut base = x.clone();
    base.t_mut().narrow_mut(axis![0], 2, 3).apply_(decayed, 1);
    near(&base.narrow(axis![1], 2, 3), &x.narrow(axis![1], 2, 3).apply(decayed, 1), 1e-14);
    near(&base.narrow(axis![1], 5, 4), &x.narrow(axis![1], 5, 4), 0.0);
    let mut short = Tensor::<f32, (Dyn,)>::ones_sized([1]).on::<D>();
    assert!(short.try_apply_(decayed, &Tensor::<f32, (Dyn,)>::ones_sized([2]).on::<D>()).is_err());
    // Into another dtype and strides.
    let mut out = Tensor::<f32, shape![9, 6]>::zeros().on::<D>();
    x.t().apply_into(decayed, 1, &mut out);
    assert_eq!(out.elements(), x.t().apply(decayed, 1).to::<f32>().elements());
    let mut wrong = Tensor::<f32, (Dyn,)>::zeros_sized([2]).on::<D>();
    assert!(short.try_apply_into(twice, (), &mut wrong).is_err());
    if has_data::<D>() {
        assert_eq!((short.elements(), wrong.elements()), (vec![1.0], vec![0.0; 2]));
    }
}

#[cfg(feature = "grad")]
pub fn reducers_have_gradients<D: Device>() {
    use castiron::grad::Grad;
    let x = wave::<D, shape![4, 6, 5]>();
    let slopes = Tensor::<f64, shape![4, 5]>::from_fn(|[row, at]| (row * 5 + at) as f64 * 0.1 - 0.7).on::<D>();
    let own = x.value_and_grad((&slopes,), |x, (s,)| (x.reduce_axis_by(Moments, (), axis![1]).1 * s).sum()).1;
    let row = x.value_and_grad((&slopes,), |x, (s,)| (x.var_axis(axis![1], 1) * s).sum()).1;
    near(&own, &row, 1e-12);
    // Of both operands, one of which broadcasts; over several axes.
    let weights = Tensor::<f64, shape![5]>::from_fn(|[at]| at as f64 + 0.5).on::<D>();
    let both = (x.clone(), weights);
    let own =
        both.value_and_grad((), |(x, w), ()| x.reduce_axis_by(WeightedLogSumExp, w, axis![0, 2]).square().sum()).1;
    let row = both.value_and_grad((), |(x, w), ()| (x + w.log()).logsumexp(axis![0, 2]).square().sum()).1;
    near(&own.0, &row.0, 1e-12);
    near(&own.1, &row.1, 1e-12);
    // In expressions, and of a scan.
    let own = x.value_and_grad((), |x, ()| fused!((x * x).reduce_axis_by(Total, (), axis![0])).square().sum()).1;
    let row = x.value_and_grad((), |x, ()| x.square().sum_axis(axis![0]).square().sum()).1;
    near(&own, &row, 1e-12);
    let own = x.value_and_grad((&x,), |x, (y,)| (x.scan_by(WeightedLogSumExp, 1, axis![1]) * y).sum()).1;
    let row = x.value_and_grad((&x,), |x, (y,)| (x.logcumsumexp(axis![1]) * y).sum()).1;
    near(&own, &row, 1e-12);
    let single = x.to::<f32>();
    let own = single.value_and_grad((), |x, ()| x.reduce_by(Moments, ()).1).1;
    let row = single.value_and_grad((), |x, ()| x.var(1)).1;
    near(&own.to::<f64>(), &row.to::<f64>(), 1e-5);
    // Second derivatives: of one operand, of two, of a scan, and of nothing.
    let along = (x.cos(), both.1.sin());
    let own = x.hvp(&along.0, (&slopes,), |x, (s,)| (x.reduce_axis_by(Moments, (), axis![1]).1.square() * s).sum());
    let row = x.hvp(&along.0, (&slopes,), |x, (s,)| (x.var_axis(axis![1], 1).square() * s).sum());
    near(&own.2, &row.2, 1e-11);
    let own = both.hvp(&along, (), |(x, w), ()| x.reduce_axis_by(WeightedLogSumExp, w, axis![0, 2]).square().sum());
    let row = both.hvp(&along, (), |(x, w), ()| (x + w.log()).logsumexp(axis![0, 2]).square().sum());
    near(&own.2.0, &row.2.0, 1e-11);
    near(&own.2.1, &row.2.1, 1e-11);
    let own = x.hvp(&along.0, (&x,), |x, (y,)| (x.scan_by(WeightedLogSumExp, 1, axis![1]) * y).sum());
    let row = x.hvp(&along.0, (&x,), |x, (y,)| (x.logcumsumexp(axis![1]) * y).sum());
    near(&own.2, &row.2, 1e-11);
    let none = Tensor::<f64, shape![2, 0], D>::zeros();
    near(&none.hvp(&none, (), |x, ()| x.reduce_by(Total, ())).2, &none, 0.0);
    // Formulas that give several numbers, and in place.
    let own = x.value_and_grad((), |x, ()| {
        let (radius, angle) = x.apply(polar, 0.5);
        let mut both = radius * angle;
        both.apply_(decayed, x);
        both.sum()
    });
    let row = x.value_and_grad((), |x, ()| (x.hypot_of(0.5) * x.angle_of(0.5) * (-x).exp()).sum());
    near(&own.1, &row.1, 1e-12);
}
/// The same of operations.
#[cfg(feature = "grad")]
trait Polar {
    fn hypot_of(&self, y: f64) -> Self;
    fn angle_of(&self, y: f64) -> Self;
}
#[cfg(feature = "grad")]
impl<S: Shape, D: Device> Polar for Tensor<f64, S, D> {
    fn hypot_of(&self, y: f64) -> Self {
        (self.square() + y * y).sqrt()
    }
    fn angle_of(&self, y: f64) -> Self {
        (self.zeros_like() + y).atan2(self)
    }
}

each_device! {
    also_without_data: reducers_are_scans;
    with_data: reducers_over_axes_agree_with_rows, reducers_of_two_operands_broadcast_and_promote, formulas_give_several_numbers,
        formulas_in_place_and_into;
}
