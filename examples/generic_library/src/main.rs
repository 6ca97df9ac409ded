//! How to write a library on castiron: generic over dtype, shape and device, without where-clauses.
//!
//! `cargo run --release -p generic_library`
//!
//! The rules, each shown below:
//! - elementwise code takes `E: Dtype` (or the set that names its dtypes: `Numeric`, `Real`, `Float`, `Integer`, …), `S: Shape`
//!   and `D: Device`, and needs no other bounds;
//! - code that knows its axes names them: `B: Dim, N: Dim` and `Tensor<E, (B, N), D>`;
//! - an operation on two dtypes gives `Promoted<A, B>`, which is defined for every pair;
//! - sizes are checked once, where data comes in, with an error that says what came; inside they are types.

use castiron::shape::Sum;
use castiron::{
    Cpu, Device, Dim, Dtype, Float, Generator, Integer, Meta, Numeric, Promoted, Shape, Tensor, axis, bf16, cat, dims,
    shape, tensor,
};

/// Any rank, any device: the last axis standardised. `HasAxis<-1>` comes with `Shape`.
fn standardize<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
    let centered = x - x.mean_axis(axis![-1].keepdim());
    let deviation = (x.var_axis(axis![-1].keepdim(), 0) + 1e-5).sqrt();
    centered / deviation
}

/// Two dtypes: the result has the dtype they promote to, whatever they are.
fn blend<A: Numeric, B: Numeric, S: Shape, D: Device>(
    x: &Tensor<A, S, D>,
    y: &Tensor<B, S, D>,
) -> Tensor<Promoted<A, B>, S, D> {
    x + y
}

/// Integers only: the bound says so, and provides the operations of integers.
fn low_bits<E: Integer, S: Shape>(x: &Tensor<E, S>, bits: u32) -> Tensor<E, S> {
    x & ((1_i64 << bits) - 1)
}

/// Sizes add up in the type.
fn side_by_side<E: Dtype, B: Dim, M: Dim, N: Dim>(
    x: &Tensor<E, (B, M)>,
    y: &Tensor<E, (B, N)>,
) -> Tensor<E, (B, Sum<M, N>)> {
    cat((x, y), axis![1])
}

/// Something that turns tensors into tensors. The input is a parameter, so one layer serves every batch size and device.
trait Layer<Input> {
    type Output;
    fn apply(&self, input: &Input) -> Self::Output;
}

/// A linear layer. Its sizes are types: two layers fit together or do not compile.
struct Linear<E: Float, In: Dim, Out: Dim, D: Device = Cpu> {
    weight: Tensor<E, (Out, In), D>,
    bias: Tensor<E, (Out,), D>,
}

impl<E: Float, B: Dim, In: Dim, Out: Dim, D: Device> Layer<Tensor<E, (B, In), D>> for Linear<E, In, Out, D> {
    type Output = Tensor<E, (B, Out), D>;
    fn apply(&self, input: &Tensor<E, (B, In), D>) -> Self::Output {
        input.matmul(self.weight.t()) + &self.bias
    }
}

/// One layer after another.
impl<Input, First: Layer<Input>, Second: Layer<First::Output>> Layer<Input> for (First, Second) {
    type Output = Second::Output;
    fn apply(&self, input: &Input) -> Self::Output {
        self.1.apply(&self.0.apply(input))
    }
}

dims! { Batch }

/// Where data comes in: the sizes are unknown, then checked. The error says what was expected and what came.
fn load(rows: usize, columns: usize) -> castiron::Result<Tensor<f32, shape![Batch, 3]>> {
    let values = (0..rows * columns).map(|i| i as f32).collect();
    Tensor::<f32, shape![_, _]>::try_from_vec_sized(values, [rows, columns])?.try_with_shape()
}

fn main() -> castiron::Result<()> {
    println!("one function, three shapes:");
    println!("{}", standardize(&tensor![1.0, 2.0, 3.0]));
    println!("{}", standardize(&tensor![[1.0, 2.0, 3.0], [10.0, 20.0, 60.0]]));
    println!("{}\n", standardize(&tensor![[[1.0, 5.0]]; bf16]));

    let sum: Tensor<f32, shape![2]> = blend(&tensor![1, 2; u8], &tensor![0.5, 0.25]);
    println!("uint8 + float32: {sum}");
    println!("low bits: {}", low_bits(&tensor![5, 6, 7; u8], 2));
    let wide: Tensor<i64, shape![2, 3]> = side_by_side(&tensor![[1], [2]], &tensor![[3, 4], [5, 6]]);
    println!("side by side: {wide}\n");

    let generator = &mut Generator::seeded(1);
    let network = (
        Linear { weight: Tensor::<f32, shape![8, 3]>::randn(generator), bias: Tensor::zeros() },
        Linear { weight: Tensor::<f32, shape![2, 8]>::randn(generator), bias: Tensor::zeros() },
    );
    let output: Tensor<f32, shape![Batch, 2]> = network.apply(&load(4, 3)?);
    println!("(Batch, 3) through (3, 8) and (8, 2): {:?}", output.shape());
    match load(4, 5) {
        Ok(_) => unreachable!("five columns are not three"),
        Err(error) => println!("and the wrong data: {error}"),
    }

    // The same code on tensors without elements: gives the shapes and strides of the results at no cost.
    let plan = (
        Linear::<f32, _, _, Meta> { weight: Tensor::<_, shape![4096, 1024], _>::zeros(), bias: Tensor::zeros() },
        Linear::<f32, _, _, Meta> { weight: Tensor::<_, shape![1024, 4096], _>::zeros(), bias: Tensor::zeros() },
    );
    let input: Tensor<f32, shape![Batch, 1024], Meta> = Tensor::zeros_sized([1 << 20, 1024]);
    println!("planned: {:?}", plan.apply(&input).shape());
    Ok(())
}
