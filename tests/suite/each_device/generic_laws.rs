//! Laws of promotion in generic code: what an unknown dtype becomes when combined with bools, integers, floats, its own parts and scalars.
//! Each function compiles only if rustc knows the law, without any where-clause. Those that a program might contain are also run.

use super::{Gives, On, is_host};
use castiron::{
    Bits, Complex, ComplexFloat, Device, Dim, Dtype, Element, Float, Generator, Inexact, Integer, Numeric, Ordered,
    Promoted, Real, Shape, Tensor, axis, shape, tensor, where_,
};

/// Compiling is the test.
#[allow(dead_code)]
mod laws {
    use super::*;

    pub fn mask_right<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>, m: &Tensor<bool, S, D>) -> Tensor<E, S, D> {
        x * m
    }
    pub fn mask_left<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>, m: &Tensor<bool, S, D>) -> Tensor<E, S, D> {
        m * x
    }
    pub fn mask_zero<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>, m: &Tensor<bool, (), D>) -> Tensor<E, S, D> {
        x * m
    }
    pub fn mask_zero_left<E: Dtype, S: Shape, D: Device>(
        x: &Tensor<E, S, D>,
        m: &Tensor<bool, (), D>,
    ) -> Tensor<E, S, D> {
        x + m
    }
    pub fn mask_dim<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, (), D>, m: &Tensor<bool, S, D>) -> Tensor<E, S, D> {
        m * x
    }
    pub fn mask_in_place<E: Dtype, S: Shape, D: Device>(x: &mut Tensor<E, S, D>, m: &Tensor<bool, S, D>) {
        *x *= m;
    }
    pub fn mask_own<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        x * x.gt(0)
    }
    pub fn promoted_bool<E: Dtype>(x: Promoted<E, bool>) -> E {
        x
    }
    pub fn promoted_bool2<E: Dtype>(x: Promoted<bool, E>) -> E {
        x
    }
    pub fn promoted_same<E: Dtype>(x: Promoted<E, E>) -> E {
        x
    }
    pub fn counts<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, n: &Tensor<i64, S, D>) -> Tensor<E, S, D> {
        x / n
    }
    pub fn counts_left<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, n: &Tensor<i64, S, D>) -> Tensor<E, S, D> {
        n * x
    }
    pub fn counts_u8<E: Inexact, S: Shape, D: Device>(x: &Tensor<E, S, D>, n: &Tensor<u8, S, D>) -> Tensor<E, S, D> {
        n * x - n
    }
    pub fn counts_i32_z<E: Inexact, S: Shape, D: Device>(
        x: &Tensor<E, (), D>,
        n: &Tensor<i32, S, D>,
    ) -> Tensor<E, S, D> {
        n * x
    }
    pub fn counts_i32_z2<E: Inexact, S: Shape, D: Device>(
        x: &Tensor<E, S, D>,
        n: &Tensor<i32, (), D>,
    ) -> Tensor<E, S, D> {
        x / n
    }
    pub fn ints_f32<E: Bits, S: Shape, D: Device>(n: &Tensor<E, S, D>, x: &Tensor<f32, S, D>) -> Tensor<f32, S, D> {
        n * x + x * n
    }
    pub fn ints_f32_z<E: Bits, S: Shape, D: Device>(n: &Tensor<E, S, D>, x: &Tensor<f32, (), D>) -> Tensor<f32, S, D> {
        n * x
    }
    pub fn ints_i64<E: Bits, S: Shape, D: Device>(n: &Tensor<E, S, D>, x: &Tensor<i64, S, D>) -> Tensor<i64, S, D> {
        n * x + x * n
    }
    pub fn reals_f64<E: Real, S: Shape, D: Device>(n: &Tensor<E, S, D>, x: &Tensor<f64, S, D>) -> Tensor<f64, S, D> {
        n * x + x * n
    }
    pub fn all_c128<E: Dtype, S: Shape, D: Device>(
        n: &Tensor<E, S, D>,
        x: &Tensor<Complex<f64>, S, D>,
    ) -> Tensor<Complex<f64>, S, D> {
        n * x + x * n
    }
    pub fn complex_by_real<E: ComplexFloat, S: Shape, D: Device>(z: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        z / z.abs()
    }
    pub fn real_by_complex<E: ComplexFloat, S: Shape, D: Device>(z: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        z.abs() * z
    }
    pub fn inexact_by_abs<E: Inexact, S: Shape, D: Device>(z: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        z / z.abs().sum()
    }
    pub fn float_by_complex<E: Float, S: Shape, D: Device>(
        x: &Tensor<E, S, D>,
        z: &Tensor<E::Complex, S, D>,
    ) -> Tensor<E::Complex, S, D> {
        z * x
    }
    pub fn sum_of_sums<E: Dtype, M: Dim, N: Dim, D: Device>(x: &Tensor<E, (M, N), D>) -> Tensor<E::Sum, (), D> {
        x.sum_axis(axis![0]).sum()
    }
    pub fn abs_max<E: Numeric, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E::RealDtype, (), D> {
        x.abs().amax()
    }
    pub fn root<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E::Inexact, S, D> {
        x.sqrt() * x
    }
    pub fn root2<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E::Inexact, S, D> {
        x * x.sqrt()
    }
    pub fn true_mean<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E::Inexact, (), D> {
        x.sum() / x.numel()
    }
    pub fn div<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E::Inexact, S, D> {
        x / y
    }
    pub fn abs_real<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        x.abs()
    }
    pub fn where_scalar<E: Dtype, S: Shape, D: Device>(m: &Tensor<bool, S, D>, x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        where_(m, x, false)
    }
    pub fn where_zero<E: Numeric, S: Shape, D: Device>(m: &Tensor<bool, S, D>, x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        where_(m, x, 0)
    }
    pub fn where_bool<E: Dtype, S: Shape, D: Device>(m: &Tensor<bool, S, D>, x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        where_(m, x, m)
    }
    pub fn where_i64<E: Float, S: Shape, D: Device>(
        m: &Tensor<bool, S, D>,
        x: &Tensor<E, S, D>,
        n: &Tensor<i64, S, D>,
    ) -> Tensor<E, S, D> {
        where_(m, n, x)
    }
    pub fn element_real<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<<E as Element>::Real, S, D> {
        x.abs()
    }
    pub fn where_self<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        where_(x.eq(x), x, x)
    }
    pub fn numeric_minus_mean<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        x - x.mean()
    }
    pub fn int_mask_sum<E: Float, B: Dim, N: Dim, D: Device>(
        x: &Tensor<E, (B, N), D>,
        m: &Tensor<bool, (B, N), D>,
    ) -> Tensor<E, (B,), D> {
        (x * m).sum_axis(axis![1]) / m.sum_axis(axis![1])
    }
    pub fn scalar_first<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        1.0 - x * 2 + true
    }
    pub fn bits<E: Bits, S: Shape, D: Device>(x: &Tensor<E, S, D>, m: &Tensor<bool, S, D>) -> Tensor<E, S, D> {
        x & m
    }
    pub fn compare<E: Ordered, S: Shape, D: Device>(x: &Tensor<E, S, D>, n: &Tensor<i64, S, D>) -> Tensor<bool, S, D> {
        x.gt(n) & x.ne(true)
    }
    pub fn maximum<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>, m: &Tensor<bool, S, D>) -> Tensor<E, S, D> {
        x.maximum(m)
    }
    pub fn int_sum<E: Integer, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<i64, (), D> {
        x.sum() + x.prod()
    }
    pub fn where_float_first<E: Inexact, S: Shape, D: Device>(
        m: &Tensor<bool, S, D>,
        x: &Tensor<E, S, D>,
    ) -> Tensor<E, S, D> {
        where_(m, 0.5, where_(m, 0, x))
    }
    pub fn where_integer_first<E: Integer, S: Shape, D: Device>(
        m: &Tensor<bool, S, D>,
        x: &Tensor<E, S, D>,
    ) -> Tensor<E, S, D> {
        where_(m, 0, where_(m, true, x))
    }
    pub fn pow_of_scalar<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
        castiron::pow(2, x)
    }
}

/// Zeroes what the mask leaves out, in both orders, in place and by a zero-dim mask.
fn masked<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>, mask: &Tensor<bool, S, D>) -> Tensor<E, S, D> {
    let mut y = x * mask;
    y *= mask;
    mask * y * Tensor::<bool, (), D>::ones()
}

/// The mean of what the mask keeps, of each row.
fn masked_mean<E: Float, B: Dim, N: Dim, D: Device>(
    x: &Tensor<E, (B, N), D>,
    mask: &Tensor<bool, (B, N), D>,
) -> Tensor<E, (B,), D> {
    (x * mask).sum_axis(axis![1]) / mask.sum_axis(axis![1])
}

fn masked_standardize<E: Float, S: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    mask: &Tensor<bool, S, D>,
) -> Tensor<E, S, D> {
    let count = mask.sum();
    let centered = (x - (x * mask).sum() / &count) * mask;
    let variance = centered.square().sum() / count;
    centered / (variance + 1e-5).sqrt()
}

fn weighted_average<E: Float, S: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    counts: &Tensor<i64, S, D>,
) -> Tensor<E, (), D> {
    (counts * x).sum() / counts.sum()
}

fn weighted_by_bytes<E: Float, S: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    weights: &Tensor<u8, S, D>,
) -> Tensor<E, (), D> {
    (x * weights).sum() / weights.sum()
}

/// The share of rows whose largest entry is where the one-hot target is.
fn one_hot_accuracy<E: Real, B: Dim, K: Dim, D: Device>(
    logits: &Tensor<E, (B, K), D>,
    one_hot: &Tensor<E, (B, K), D>,
) -> Tensor<f32, (), D> {
    logits.argmax_axis(axis![1]).eq(one_hot.argmax_axis(axis![1])).to::<f32>().mean()
}

fn masked_loss<E: Float, S: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    y: &Tensor<E, S, D>,
    mask: &Tensor<bool, S, D>,
) -> Tensor<E, (), D> {
    let error = (x - y).abs();
    let huber = where_(error.lt(1), 0.5 * error.square(), error - 0.5);
    (huber * mask).sum() / mask.sum().clamp_min(1)
}

fn binary_cross_entropy<E: Float, S: Shape, D: Device>(
    p: &Tensor<E, S, D>,
    y: &Tensor<bool, S, D>,
) -> Tensor<E, (), D> {
    let other: Tensor<E, S, D> = 1 - p;
    -(y * p.log() + !y * other.log()).mean()
}

/// Squared distances of points and centres, and the new centres: means of the points nearest to each.
fn k_means_step<E: Float, N: Dim, K: Dim, F: Dim, D: Device>(
    points: &Tensor<E, (N, F), D>,
    centres: &Tensor<E, (K, F), D>,
    numbers: &Tensor<i64, (K,), D>,
) -> Tensor<E, (K, F), D> {
    let products: Tensor<E, (N, K), D> = 2 * points.matmul(centres.t());
    let distances = (centres.square().sum_axis(axis![1]) - products) + points.square().sum_axis(axis![1].keepdim());
    let nearest = distances.argmin_axis(axis![1]);
    let belongs: Tensor<bool, (K, N), D> = numbers.unsqueeze(axis![1]).eq(nearest);
    let counts = belongs.sum_axis(axis![1].keepdim());
    belongs.to::<E>().matmul(points) / counts.clamp_min(1)
}

struct Adam<E: Element, S: Shape, D: Device> {
    mean: Tensor<E, S, D>,
    square: Tensor<E, S, D>,
    steps: i32,
}
impl<E: Float, S: Shape, D: Device> Adam<E, S, D> {
    fn step(&mut self, x: &mut Tensor<E, S, D>, gradient: &Tensor<E, S, D>, rate: f64) {
        self.steps += 1;
        self.mean = &self.mean * 0.9 + gradient * (1.0 - 0.9);
        self.square = 0.999 * &self.square + (1.0 - 0.999) * gradient.square();
        let mean = &self.mean / (1.0 - 0.9_f64.powi(self.steps));
        let square = &self.square / (1.0 - 0.999_f64.powi(self.steps));
        *x -= rate * mean / (square.sqrt() + 1e-8);
    }
}

fn causal_scores<E: Float, T: Dim, D: Device>(
    scores: &Tensor<E, (T, T), D>,
    allowed: &Tensor<bool, (T, T), D>,
) -> Tensor<E, (T, T), D> {
    where_(allowed, scores, f64::NEG_INFINITY).softmax(axis![-1]) * allowed
}

fn dropout<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, keep: &Tensor<bool, S, D>, p: f64) -> Tensor<E, S, D> {
    x * keep / (1.0 - p)
}

/// Over floats and complex numbers alike.
fn unit<E: Inexact, S: Shape, D: Device>(z: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    z / z.abs().sum()
}

fn mean_of_integers<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E::Inexact, (), D> {
    x.sum() / x.numel()
}

pub fn a_mask_leaves_the_dtype<D: Device>() {
    let keep = tensor![true, false, true].on::<D>();
    masked(&tensor![1.5, f32::MAX, -2.0].on::<D>(), &keep).gives([1.5, 0.0, -2.0]);
    masked(&tensor![1, 2, 255; u8].on::<D>(), &keep).gives([1_u8, 0, 255]);
    masked(&keep, &keep).gives([true, false, true]);
    masked(&tensor![1.0 + 1.0j].on::<D>(), &tensor![false].on::<D>()).gives([Complex::new(0.0, 0.0)]);
    masked(&Tensor::<f64, (), D>::scalar(3.0), &Tensor::scalar(true)).gives([3.0]);
    assert!(masked(&Tensor::<f64, shape![0, 2], D>::ones(), &Tensor::zeros()).is_empty());
    let x = tensor![[1.0, 2.0, 30.0], [4.0, 5.0, 6.0]].on::<D>();
    let mask = tensor![[true, true, false], [false, false, true]].on::<D>();
    masked_mean(&x, &mask).gives([1.5, 6.0]);
    let (x, mask) = (tensor![1.0, 3.0, 9.0].on::<D>(), tensor![true, true, false].on::<D>());
    masked_standardize(&x, &mask).round().gives([-1.0, 1.0, 0.0]);
    let (x, y) = (tensor![1.0, 5.0, 9.0].on::<D>(), tensor![1.5, 1.0, 0.0].on::<D>());
    masked_loss(&x, &y, &mask).gives([1.8125]);
    dropout(&tensor![1.0, 2.0].on::<D>(), &tensor![true, false].on::<D>(), 0.5).gives([2.0, 0.0]);
    let entropy = binary_cross_entropy(&tensor![0.5, 0.5; f64].on::<D>(), &tensor![true, false].on::<D>());
    entropy.all_are(|entropy| (entropy - 2.0_f64.ln()).abs() < 1e-12);
    let scores = Tensor::<f64, shape![2, 2], D>::zeros();
    causal_scores(&scores, &tensor![[true, false], [true, true]].on::<D>()).gives([1.0, 0.0, 0.5, 0.5]);
}

pub fn integers_beside_floats_are_floats<D: Device>() {
    weighted_average(&tensor![1.0, 5.0; f64].on::<D>(), &tensor![3, 1].on::<D>()).gives([2.0_f64]);
    weighted_by_bytes(&tensor![1.0, 5.0].on::<D>(), &tensor![3, 1; u8].on::<D>()).gives([2.0_f32]);
    let halves = tensor![1.0, 5.0].on::<D>().to::<castiron::bf16>();
    weighted_average(&halves, &tensor![3, 1].on::<D>()).gives([castiron::bf16::from_f32(2.0)]);
    let points = tensor![[0.0, 0.0], [0.0, 2.0], [9.0, 9.0]].on::<D>();
    let centres = k_means_step(&points, &tensor![[1.0, 0.0], [8.0, 8.0]].on::<D>(), &tensor![0, 1].on::<D>());
    centres.gives([0.0, 1.0, 9.0, 9.0]);
    one_hot_accuracy(&tensor![[1, 3], [5, 2]].on::<D>(), &tensor![[0, 1], [0, 1]].on::<D>()).gives([0.5]);
    mean_of_integers(&tensor![1, 2; u8].on::<D>()).gives([1.5_f32]);
    mean_of_integers(&tensor![1.0, 2.0; f64].on::<D>()).gives([1.5_f64]);
    unit(&tensor![3.0 + 4.0j].on::<D>()).gives([Complex::new(0.6, 0.8)]);
    unit(&tensor![-2.0, 2.0].on::<D>()).gives([-0.5, 0.5]);
}

pub fn an_optimizer_steps<D: Device>() {
    let mut x = Tensor::<f64, shape![3]>::randn(&mut Generator::seeded(1)).on::<D>();
    let mut adam = Adam { mean: x.zeros_like(), square: x.zeros_like(), steps: 0 };
    // (Each step is some twenty kernels.)
    let steps = if is_host::<D>() { 200 } else { 8 };
    let before = x.abs().amax();
    for _ in 0..steps {
        let gradient = 2 * &x;
        adam.step(&mut x, &gradient, 0.1);
    }
    x.abs().amax().lt(before).gives([true]);
    x.abs().amax().all_are(|largest| largest < 0.1 || steps < 200);
}

/// The laws agree with the table: where rustc is told that a dtype results for all kinds, it does.
pub fn promoted_with_itself_and_bool_it_is_itself<D: Device>() {
    assert_eq!(
        (laws::promoted_bool::<i16>(3), laws::promoted_bool2::<f64>(0.5), laws::promoted_same::<u8>(1)),
        (3, 0.5, 1)
    );
    let (n, x) = (tensor![1, 2; u8].on::<D>(), Tensor::<castiron::f16, (), D>::ones());
    laws::counts_i32_z(&x, &n.to::<i32>()).to::<f32>().gives([1.0, 2.0]);
    laws::scalar_first(&tensor![2.0, 0.5].on::<D>()).gives([-2.0, 1.0]);
    laws::ints_i64(&tensor![true, false].on::<D>(), &tensor![5, 6].on::<D>()).gives([10, 0]);
}

each_device! {
    also_without_data:
        a_mask_leaves_the_dtype, integers_beside_floats_are_floats, an_optimizer_steps,
        promoted_with_itself_and_bool_it_is_itself;
    with_data: ;
}
