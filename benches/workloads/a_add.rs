//! `a`: the sum of two tensors of `f32`, from 16 elements to 64 MB.

use super::ceilings::Pass;
use super::data::floats;
use super::harness::{Bench, Work};
use castiron::{KnownShape, Tensor, shape};

pub fn run(bench: &mut Bench) {
    add::<shape![16]>(bench, "16");
    add::<shape![1024]>(bench, "1k");
    add::<shape![65536]>(bench, "64k");
    add::<shape![1048576]>(bench, "1M");
    add::<shape![16777216]>(bench, "16M");
}

fn add<S: KnownShape>(bench: &mut Bench, size: &str) {
    let (x, y) = (floats::<S>(1), floats::<S>(2));
    let (name, work) = (format!("a.add_f32_{size}"), Work::Bytes(Pass::Add, 12 * S::NUMEL));
    bench.run(&name, work, || &x + &y);
    let mut out = Tensor::<f32, S>::zeros();
    bench.run_as("out", &name, work, || x.add_into(&y, &mut out));
}
