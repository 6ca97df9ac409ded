//! Generic code needs no where-clause beyond `Dtype`, `Shape`, `Device` (or the set that names an operation's dtypes). That these functions
//! compile is the test. Each is also run, on every device.

use super::{Gives, On};
use castiron::{
    ComplexFloat, Device, Dim, Dtype, Float, Generator, Integer, Numeric, Promoted, Real, Shape, Tensor, axis, dims,
    shape, tensor,
};

fn axpy<E: Dtype, S: Shape, D: Device>(a: E, x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    x * a + y
}

fn mixed<A: Dtype, B: Dtype, S: Shape, D: Device>(
    x: &Tensor<A, S, D>,
    y: &Tensor<B, S, D>,
) -> Tensor<Promoted<A, B>, S, D> {
    x + y
}

fn mixed_dims<A: Dtype, B: Dtype, N: Dim, D: Device>(
    x: &Tensor<A, (N,), D>,
    y: &Tensor<B, (N,), D>,
) -> Tensor<Promoted<A, B>, (N,), D> {
    x + y
}

fn mixed3<A: Dtype, B: Dtype, C: Dtype, S: Shape, D: Device>(
    x: &Tensor<A, S, D>,
    y: &Tensor<B, S, D>,
    z: &Tensor<C, S, D>,
) -> Tensor<Promoted<Promoted<A, B>, C>, S, D> {
    x + y + z
}

fn half_concrete<A: Dtype, S: Shape, D: Device>(
    x: &Tensor<A, S, D>,
    y: &Tensor<f32, S, D>,
) -> Tensor<Promoted<A, f32>, S, D> {
    x * y
}

fn softmax<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    let shifted = x - x.amax_axis(axis![-1].keepdim());
    let exponentials = shifted.exp();
    &exponentials / exponentials.sum_axis(axis![-1].keepdim())
}

fn standardize<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    let centered = x - x.mean_axis(axis![-1].keepdim());
    let variance = x.var_axis(axis![-1].keepdim(), 0);
    centered / (variance + 1e-5).sqrt()
}

fn layer_norm<E: Float, B: Dim, N: Dim, D: Device>(
    x: &Tensor<E, (B, N), D>,
    weight: &Tensor<E, (N,), D>,
    bias: &Tensor<E, (N,), D>,
) -> Tensor<E, (B, N), D> {
    standardize(x) * weight + bias
}

fn linear<E: Numeric, Batch: Dim, In: Dim, Out: Dim, D: Device>(
    x: &Tensor<E, (Batch, In), D>,
    weight: &Tensor<E, (Out, In), D>,
    bias: &Tensor<E, (Out,), D>,
) -> Tensor<E, (Batch, Out), D> {
    x.matmul(&weight.t()) + bias
}

fn attention<E: Float, B: Dim, H: Dim, T: Dim, K: Dim, D: Device>(
    q: &Tensor<E, (B, H, T, K), D>,
    k: &Tensor<E, (B, H, T, K), D>,
    v: &Tensor<E, (B, H, T, K), D>,
) -> Tensor<E, (B, H, T, K), D> {
    let scale = 1.0 / (k.size(axis![-1]) as f32).sqrt();
    let scores: Tensor<E, (B, H, T, T), D> = q.matmul(&k.transpose(axis![-2], axis![-1])) * scale;
    scores.softmax(axis![-1]).matmul(v)
}

fn scale_in_place<E: Dtype, S: Shape, D: Device>(x: &mut Tensor<E, S, D>, by: E) {
    *x *= by;
}

fn add_in_place<E: Dtype, S: Shape, D: Device>(x: &mut Tensor<E, S, D>, y: &Tensor<E, S, D>) {
    *x += y;
}

/// Any rank: a zero-dim result combined with a tensor of unknown kind.
fn normalize<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    x / x.sum()
}

fn distance<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<E, (), D> {
    (x - y).square().sum().sqrt()
}

fn relu_by_mask<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    castiron::where_(x.gt(0), x, x.zeros_like())
}

fn count_equal<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>, y: &Tensor<E, S, D>) -> Tensor<i64, (), D> {
    x.eq(y).sum()
}

fn as_floats<E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<f32, S, D> {
    x.to::<f32>()
}

fn outer<E: Dtype, M: Dim, N: Dim, D: Device>(x: &Tensor<E, (M,), D>, y: &Tensor<E, (N,), D>) -> Tensor<E, (M, N), D> {
    x.unsqueeze(axis![-1]) * y.unsqueeze(axis![0])
}

fn scalars_of_the_same_dtype<E: Real, S: Shape, D: Device>(x: &Tensor<E, S, D>, a: E) -> Tensor<E, S, D> {
    ((x - a) % a).clamp_min(a).pow(a).clamp(a, a)
}

fn float_scalars<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    (x - 0.5).pow(2).clamp(0, 1.0) / 2 + 1
}

fn mixed_division<A: Real, B: Real, N: Dim, D: Device>(
    x: &Tensor<A, (N,), D>,
    y: &Tensor<B, (N,), D>,
) -> Tensor<Promoted<A, B>, (N,), D> {
    x.floor_divide(y)
}

fn bits<E: Integer, S: Shape, D: Device>(x: &Tensor<E, S, D>, mask: E) -> Tensor<E, S, D> {
    (x & mask) << 1
}

fn absolute<E: ComplexFloat, S: Shape, D: Device>(z: &Tensor<E, S, D>) -> Tensor<E::RealDtype, S, D> {
    (z * z.conj()).real().sqrt() + z.imag() - z.imag()
}

/// Sizes are stated and forgotten, whatever they are.
fn named<N: Dim, M: Dim, D: Device>(x: &Tensor<f32, shape![_, _], D>) -> castiron::Result<Tensor<f32, (N, M), D>> {
    x.try_with_shape()
}
fn unnamed<N: Dim, M: Dim, D: Device>(x: Tensor<f32, (N, M), D>) -> Tensor<f32, shape![_, _], D> {
    x.with_shape()
}

dims! { Batch, Time }

pub fn sizes_are_stated_and_forgotten<D: Device>() {
    let x = Tensor::<f32, shape![_, _], D>::ones_sized([2, 3]);
    let y: Tensor<f32, shape![Batch, 3], D> = named(&x).unwrap();
    unnamed(y).gives([1.0; 6]);
    assert!(named::<castiron::dim!(2), castiron::dim!(4), D>(&x).is_err());
}

pub fn sets_of_dtypes_carry_their_laws<D: Device>() {
    scalars_of_the_same_dtype(&tensor![9, 10].on::<D>(), 4).gives([4, 4]);
    float_scalars(&tensor![0.5, 1.5].on::<D>()).gives([1.0, 1.5]);
    let two = tensor![2; i8].on::<D>();
    mixed_division(&tensor![7, -7].on::<D>(), &two.expand::<shape![2]>()).gives([3, -4]);
    bits(&tensor![5, 6].on::<D>(), 6).gives([8, 12]);
    absolute(&tensor![3.0 + 4.0j].on::<D>()).gives([5.0]);
}

pub fn generic_functions_compute<D: Device>() {
    let (x, y) = (tensor![1.0, 2.0].on::<D>(), tensor![10.0, 20.0].on::<D>());
    let integers = tensor![1, 2].on::<D>();
    axpy(2.0, &x, &y).gives([12.0, 24.0]);
    axpy(2, &integers, &tensor![3, 4].on::<D>()).gives([5, 8]);
    let sum: Tensor<f32, shape![2], D> = mixed(&integers, &x);
    sum.gives([2.0, 4.0]);
    mixed_dims(&tensor![true, false].on::<D>(), &tensor![1, 2; u8].on::<D>()).gives([2, 2]);
    let sum: Tensor<f64, shape![2], D> = mixed3(&tensor![true, true].on::<D>(), &x, &tensor![1, 2; f64].on::<D>());
    sum.gives([3.0, 5.0]);
    half_concrete(&tensor![2, 3].on::<D>(), &x).gives([2.0, 6.0]);
    normalize(&tensor![[1.0, 3.0], [4.0, 2.0]].on::<D>()).gives([0.1, 0.3, 0.4, 0.2]);
    distance(&tensor![0.0, 0.0].on::<D>(), &tensor![3.0, 4.0].on::<D>()).gives([5.0]);
    relu_by_mask(&tensor![-1.0, 2.0].on::<D>()).gives([0.0, 2.0]);
    count_equal(&tensor![1, 2, 3].on::<D>(), &tensor![1, 0, 3].on::<D>()).gives([2]);
    as_floats(&tensor![true, false].on::<D>()).gives([1.0, 0.0]);
    outer(&integers, &tensor![3, 4, 5].on::<D>()).gives([3, 4, 5, 6, 8, 10]);
    let mut z = tensor![1, 2; u8].on::<D>();
    scale_in_place(&mut z, 3);
    add_in_place(&mut z, &tensor![1, 1; u8].on::<D>());
    z.gives([4, 7]);
}

pub fn one_function_serves_every_rank_and_device<D: Device>() {
    let zero_dim: Tensor<f32, (), D> = Tensor::scalar(3.0);
    softmax(&zero_dim).gives([1.0]);
    let x = Tensor::<f64, shape![2, 3, 4]>::randn(&mut Generator::seeded(1)).on::<D>();
    (softmax(&x) - x.softmax(axis![-1])).all_are(|x| x.abs() < 1e-6);
    softmax(&x).sum_axis(axis![2]).all_are(|sum| (sum - 1.0).abs() < 1e-6);
    let plan = softmax(&Tensor::<f32, shape![_, 5], D>::zeros_sized([7, 5]));
    assert_eq!(plan.shape(), [7, 5]);
}

pub fn layers_over_named_dims<D: Device>() {
    let generator = &mut Generator::seeded(2);
    let x = Tensor::<f32, shape![Batch, 3]>::randn_sized([5, 3], generator).on::<D>();
    let weight = Tensor::<f32, shape![4, 3]>::randn(generator).on::<D>();
    let bias = Tensor::<f32, shape![4], D>::zeros();
    let y: Tensor<f32, shape![Batch, 4], D> = linear(&x, &weight, &bias);
    let normed = layer_norm(&y, &Tensor::ones(), &bias);
    normed.mean_axis(axis![1]).all_are(|mean| mean.abs() < 1e-6);
    let q = Tensor::<f32, shape![Batch, 2, Time, 8]>::randn_sized([3, 2, 6, 8], generator).on::<D>();
    let out = attention(&q, &q, &q);
    assert_eq!(out.shape(), [3, 2, 6, 8]);
    let _: Tensor<f32, shape![Batch, 2, Time, 8], D> = out;
}

/// Functions of two operands and functions with parameters need no more than the set that names their dtypes.
fn functions<E: Float, N: Dim, D: Device>(x: &Tensor<E, (N,), D>, y: &Tensor<E, (N,), D>) -> Tensor<E, (N,), D> {
    let angle: Tensor<E, (N,), D> = x.atan2(y);
    let length: Tensor<E, (N,), D> = x.hypot(y).logaddexp(y).nextafter(x).ldexp(y).heaviside(x);
    let mut sum = angle.elu(1).nan_to_num(0.0, None, None) + length.softsign().tanhshrink();
    sum.threshold_(0, 2).copysign_(y).heaviside_(x).mish_();
    sum
}

pub fn functions_in_generic_code<D: Device>() {
    let one = tensor![1.0].on::<D>();
    functions(&one, &one).all_are(|x| (x - 0.865_098_36).abs() < 1e-6);
}

each_device! {
    also_without_data:
        sizes_are_stated_and_forgotten, sets_of_dtypes_carry_their_laws, generic_functions_compute,
        one_function_serves_every_rank_and_device, layers_over_named_dims, functions_in_generic_code;
    with_data: ;
}
