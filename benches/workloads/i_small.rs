//! `i`: tensors so small that only the calls count. The lines marked `dyn` know their sizes at run time only.

use super::data::floats;
use super::harness::{Bench, Work};
use castiron::{Tensor, shape};

pub fn run(bench: &mut Bench) {
    let (x, y) = (floats::<shape![4]>(1), floats::<shape![4]>(2));
    bench.run("i.add_4", Work::Calls, || &x + &y);
    let (x, y): (Tensor<_, shape![_]>, Tensor<_, shape![_]>) = (x.with_shape(), y.with_shape());
    bench.run_as("dyn", "i.add_4", Work::Calls, || &x + &y);

    let (x, y) = (floats::<shape![3, 3]>(1), floats::<shape![3, 3]>(2));
    bench.run("i.mm_3x3", Work::Calls, || x.matmul(&y));
    let (x, y): (Tensor<_, shape![_, _]>, Tensor<_, shape![_, _]>) = (x.with_shape(), y.with_shape());
    bench.run_as("dyn", "i.mm_3x3", Work::Calls, || x.matmul(&y));

    let (x, y) = (floats::<shape![8]>(1), floats::<shape![8]>(2));
    bench.run("i.chain10_8", Work::Calls, || (0..5).fold(x.clone(), |z, _| (z + &y) * &y));
    let x = floats::<shape![64]>(1);
    bench.run("i.sum_64", Work::Calls, || x.sum());
    bench.run("i.reshape_t_8x8", Work::Calls, || x.reshape::<shape![8, 8]>().t());
}
