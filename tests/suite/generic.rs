//! Generic code needs no clause beyond `Dtype`, `Shape`, `Device` (or the set that names an operation's dtypes).
//! These functions are the test: they compile. Each is run as well.

use castiron::{
    ComplexFloat, Cpu, Device, Dim, Dtype, Float, Generator, Integer, Meta, Numeric, Promoted, Real, Shape, Tensor,
    axis, dims, shape, tensor,
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

fn mixed_dims<A: Dtype, B: Dtype, N: Dim>(x: &Tensor<A, (N,)>, y: &Tensor<B, (N,)>) -> Tensor<Promoted<A, B>, (N,)> {
    x + y
}

fn mixed3<A: Dtype, B: Dtype, C: Dtype, S: Shape>(
    x: &Tensor<A, S>,
    y: &Tensor<B, S>,
    z: &Tensor<C, S>,
) -> Tensor<Promoted<Promoted<A, B>, C>, S> {
    x + y + z
}

fn half_concrete<A: Dtype, S: Shape>(x: &Tensor<A, S>, y: &Tensor<f32, S>) -> Tensor<Promoted<A, f32>, S> {
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

/// Any rank: a zero-dim result beside a tensor of unknown kind.
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

fn outer<E: Dtype, M: Dim, N: Dim>(x: &Tensor<E, (M,)>, y: &Tensor<E, (N,)>) -> Tensor<E, (M, N)> {
    x.unsqueeze(axis![-1]) * y.unsqueeze(axis![0])
}

fn scalars_of_the_same_dtype<E: Real, S: Shape>(x: &Tensor<E, S>, a: E) -> Tensor<E, S> {
    ((x - a) % a).clamp_min(a).pow(a).clamp(a, a)
}

fn float_scalars<E: Float, S: Shape>(x: &Tensor<E, S>) -> Tensor<E, S> {
    (x - 0.5).pow(2).clamp(0, 1.0) / 2 + 1
}

fn mixed_division<A: Real, B: Real, N: Dim>(x: &Tensor<A, (N,)>, y: &Tensor<B, (N,)>) -> Tensor<Promoted<A, B>, (N,)> {
    x.floor_divide(y)
}

fn bits<E: Integer, S: Shape>(x: &Tensor<E, S>, mask: E) -> Tensor<E, S> {
    (x & mask) << 1
}

fn absolute<E: ComplexFloat, S: Shape>(z: &Tensor<E, S>) -> Tensor<E::RealDtype, S> {
    (z * z.conj()).real().sqrt() + z.imag() - z.imag()
}

/// Sizes are stated and forgotten, whatever they are.
fn named<N: Dim, M: Dim>(x: &Tensor<f32, shape![_, _]>) -> castiron::Result<Tensor<f32, (N, M)>> {
    x.try_with_shape()
}
fn unnamed<N: Dim, M: Dim>(x: Tensor<f32, (N, M)>) -> Tensor<f32, shape![_, _]> {
    x.with_shape()
}

dims! { Batch, Time }

#[test]
fn sizes_are_stated_and_forgotten() {
    let x = Tensor::<f32, shape![_, _]>::ones_sized([2, 3]);
    let y: Tensor<f32, shape![Batch, 3]> = named(&x).unwrap();
    assert!(unnamed(y) == x);
    assert!(named::<castiron::dim!(2), castiron::dim!(4)>(&x).is_err());
}

#[test]
fn sets_of_dtypes_carry_their_laws() {
    assert_eq!(scalars_of_the_same_dtype(&tensor![9, 10], 4).to_vec(), [4, 4]);
    assert_eq!(float_scalars(&tensor![0.5, 1.5]).to_vec(), [1.0, 1.5]);
    assert_eq!(mixed_division(&tensor![7, -7], &tensor![2; i8].expand::<shape![2]>()).to_vec(), [3, -4]);
    assert_eq!(bits(&tensor![5, 6], 6).to_vec(), [8, 12]);
    assert_eq!(absolute(&tensor![3.0 + 4.0j]).to_vec(), [5.0]);
}

#[test]
fn generic_functions_compute() {
    let (x, y) = (tensor![1.0, 2.0], tensor![10.0, 20.0]);
    assert_eq!(axpy(2.0, &x, &y).to_vec(), [12.0, 24.0]);
    assert_eq!(axpy(2, &tensor![1, 2], &tensor![3, 4]).to_vec(), [5, 8]);
    let sum: Tensor<f32, shape![2]> = mixed(&tensor![1, 2], &x);
    assert_eq!(sum.to_vec(), [2.0, 4.0]);
    assert_eq!(mixed_dims(&tensor![true, false], &tensor![1, 2; u8]).to_vec(), [2, 2]);
    let sum: Tensor<f64, shape![2]> = mixed3(&tensor![true, true], &x, &tensor![1, 2; f64]);
    assert_eq!(sum.to_vec(), [3.0, 5.0]);
    assert_eq!(half_concrete(&tensor![2, 3], &x).to_vec(), [2.0, 6.0]);
    assert_eq!(normalize(&tensor![[1.0, 3.0], [4.0, 2.0]]).to_vec(), [0.1, 0.3, 0.4, 0.2]);
    assert_eq!(distance(&tensor![0.0, 0.0], &tensor![3.0, 4.0]).item(), 5.0);
    assert_eq!(relu_by_mask(&tensor![-1.0, 2.0]).to_vec(), [0.0, 2.0]);
    assert_eq!(count_equal(&tensor![1, 2, 3], &tensor![1, 0, 3]).item(), 2);
    assert_eq!(as_floats(&tensor![true, false]).to_vec(), [1.0, 0.0]);
    assert_eq!(outer(&tensor![1, 2], &tensor![3, 4, 5]).to_vec(), [3, 4, 5, 6, 8, 10]);
    let mut z = tensor![1, 2; u8];
    scale_in_place(&mut z, 3);
    add_in_place(&mut z, &tensor![1, 1; u8]);
    assert_eq!(z.to_vec(), [4, 7]);
}

#[test]
fn one_function_serves_every_rank_and_device() {
    let zero_dim: Tensor<f32, ()> = Tensor::scalar(3.0);
    assert_eq!(softmax(&zero_dim).item(), 1.0);
    let generator = &mut Generator::seeded(1);
    let x = Tensor::<f64, shape![2, 3, 4]>::randn(generator);
    assert!(softmax(&x).allclose(&x.softmax(axis![-1])));
    assert!(softmax(&x).sum_axis(axis![2]).allclose(&Tensor::<f64, shape![2, 3]>::ones()));
    let plan = softmax(&Tensor::<f32, shape![_, 5], Meta>::zeros_sized([7, 5]));
    assert_eq!(plan.shape(), [7, 5]);
}

#[test]
fn layers_over_named_dims() {
    let generator = &mut Generator::seeded(2);
    let x = Tensor::<f32, shape![Batch, 3]>::randn_sized([5, 3], generator);
    let weight = Tensor::<f32, shape![4, 3]>::randn(generator);
    let bias = Tensor::<f32, shape![4]>::zeros();
    let y: Tensor<f32, shape![Batch, 4]> = linear(&x, &weight, &bias);
    let normed = layer_norm(&y, &Tensor::ones(), &bias);
    assert!(normed.mean_axis(axis![1]).abs().amax().item() < 1e-6);
    let q = Tensor::<f32, shape![Batch, 2, Time, 8]>::randn_sized([3, 2, 6, 8], generator);
    let out = attention(&q, &q, &q);
    assert_eq!(out.shape(), [3, 2, 6, 8]);
    let _: Tensor<f32, shape![Batch, 2, Time, 8], Cpu> = out;
}

/// Functions of two operands and functions with parameters need no more than the set that names their dtypes.
fn functions<E: Float, N: Dim>(x: &Tensor<E, (N,)>, y: &Tensor<E, (N,)>) -> Tensor<E, (N,)> {
    let angle: Tensor<E, (N,)> = x.atan2(y);
    let length: Tensor<E, (N,)> = x.hypot(y).logaddexp(y).nextafter(x).ldexp(y).heaviside(x);
    let mut sum = angle.elu(1).nan_to_num(0.0, None, None) + length.softsign().tanhshrink();
    sum.threshold_(0, 2).copysign_(y).heaviside_(x).mish_();
    sum
}

#[test]
fn functions_in_generic_code() {
    let one = castiron::tensor![1.0];
    assert_eq!(functions(&one, &one).to_vec(), [0.865_098_36]);
}
