//! `i`: tensors so small that only the calls count. Lines marked `dyn` have sizes known only at run time; in lines marked `any` (with the
//! feature of that name) dtypes are known only at run time, too.

use super::data::floats;
use super::harness::{Bench, Work};
use castiron::{Tensor, axis, shape};

pub fn run(bench: &mut Bench) {
    let (x, y) = (floats::<shape![4]>(1), floats::<shape![4]>(2));
    bench.run("i.add_4", Work::Calls, || &x + &y);
    let (x, y): (Tensor<_, shape![_]>, Tensor<_, shape![_]>) = (x.with_shape(), y.with_shape());
    bench.run_as("dyn", "i.add_4", Work::Calls, || &x + &y);

    let (x, y) = (floats::<shape![3, 3]>(1), floats::<shape![3, 3]>(2));
    bench.run("i.mm_3x3", Work::Calls, || x.matmul(&y));
    let (x, y): (Tensor<_, shape![_, _]>, Tensor<_, shape![_, _]>) = (x.with_shape(), y.with_shape());
    bench.run_as("dyn", "i.mm_3x3", Work::Calls, || x.matmul(&y));
    let (x, weight, bias) = (floats::<shape![1, 4]>(1), floats::<shape![8, 4]>(2), floats::<shape![8]>(3));
    bench.run("i.linear_4x8", Work::Calls, || x.linear(&weight, Some(&bias)));

    let (x, y) = (floats::<shape![8]>(1), floats::<shape![8]>(2));
    bench.run("i.chain10_8", Work::Calls, || (0..5).fold(x.clone(), |z, _| (z + &y) * &y));
    bench.run("i.clone_8", Work::Calls, || x.clone());
    let x = floats::<shape![64]>(1);
    bench.run("i.sum_64", Work::Calls, || x.sum());
    bench.run("i.mean_64", Work::Calls, || x.mean());
    bench.run("i.exp_64", Work::Calls, || x.exp());
    bench.run("i.reshape_t_8x8", Work::Calls, || x.reshape::<shape![8, 8]>().t());
    let x = x.reshape::<shape![8, 8]>();
    bench.run("i.t_8x8", Work::Calls, || x.t());
    bench.run("i.sum_axis_8x8", Work::Calls, || x.sum_axis(axis![1]));
    #[cfg(feature = "any")]
    any(bench);
}

#[cfg(feature = "any")]
fn any(bench: &mut Bench) {
    use castiron::AnyTensor;
    use castiron::any::Value;
    let [x, y] = [1, 2].map(|seed| AnyTensor::from(floats::<shape![4]>(seed)));
    bench.run_as("any", "i.add_4", Work::Calls, || &x + &y);
    bench.run_as("any", "i.add_scalar_4", Work::Calls, || &x + 2.0);
    bench.run_as("any", "i.exp_4", Work::Calls, || x.exp());
    bench.run_as("any", "i.sum_4", Work::Calls, || x.sum(None, false, None));
    let x = AnyTensor::from(floats::<shape![2, 2]>(1));
    bench.run_as("any", "i.t_2x2", Work::Calls, || x.t());
    bench.run_as("any", "i.index_2x2", Work::Calls, || x.index(&[Value::from(1)]));
    bench.run_as("any", "i.clone_2x2", Work::Calls, || x.clone());
    bench.run_as("any", "i.mm_2x2", Work::Calls, || x.matmul(&x));
}
