//! `c`: elementwise functions, alone and in chains, on a million elements of `f32` and of `bf16`.

use super::ceilings::Pass;
use super::data::{M1, floats};
use super::harness::{Bench, Work};
use castiron::{Float, Tensor, bf16, fused, shape};

type Million<E> = Tensor<E, shape![1048576]>;

pub fn run(bench: &mut Bench) {
    let tensors = [1, 2, 3].map(floats::<shape![1048576]>);
    functions(bench, "f32", &tensors);
    functions(bench, "bf16", &tensors.map(|x| x.to::<bf16>()));
}

fn functions<E: Float>(bench: &mut Bench, dtype: &str, [x, y, z]: &[Million<E>; 3]) {
    let name = |function: &str| format!("c.{function}_{dtype}_1M");
    let work = |operands: usize| {
        Work::Bytes(if operands > 1 { Pass::Add } else { Pass::Copy }, (operands + 1) * size_of::<E>() * M1)
    };
    bench.run(&name("fma_exp"), work(3), || (x * y + z).exp());
    bench.run(&name("axpy"), work(2), || x * 2.5 + y);
    bench.run(&name("affine"), work(1), || x * 2.5 + 1.0);
    bench.run_as("fused", &name("fma_exp"), work(3), || fused!((x * y + z).exp()));
    bench.run_as("fused", &name("axpy"), work(2), || fused!(x * 2.5 + y));
    bench.run_as("fused", &name("affine"), work(1), || fused!(x * 2.5 + 1.0));
    bench.run(&name("sigmoid"), work(1), || x.sigmoid());
    bench.run(&name("gelu"), work(1), || x.gelu());
    bench.run(&name("gelutanh"), work(1), || x.gelu_tanh());
    bench.run(&name("tanh"), work(1), || x.tanh());
    bench.run(&name("exp"), work(1), || x.exp());
    bench.run(&name("log"), work(1), || x.log());
}
