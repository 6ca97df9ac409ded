//! `b`: two dtypes in one operation, and a dtype that the processor cannot compute in directly.

use super::ceilings::Pass;
use super::data::{floats, integers};
use super::harness::{Bench, Work};
use castiron::{KnownShape, bf16, f16, shape};

pub fn run(bench: &mut Bench) {
    mixed::<shape![1048576]>(bench, "1M");
    mixed::<shape![16777216]>(bench, "16M");
}

fn mixed<S: KnownShape>(bench: &mut Bench, size: &str) {
    let (longs, floats) = (integers::<S>(1, 100), floats::<S>(2));
    let (ints, bytes) = (longs.to::<i32>(), longs.to::<u8>());
    let (halves, brains, mask) = (floats.to::<f16>(), floats.to::<bf16>(), floats.gt(0.6));
    let work = |bytes| Work::Bytes(Pass::Add, bytes * S::NUMEL);
    bench.run(&format!("b.add_i32_f32_{size}"), work(12), || &ints + &floats);
    bench.run(&format!("b.add_u8_i64_{size}"), work(17), || &bytes + &longs);
    bench.run(&format!("b.add_bf16_f32_{size}"), work(10), || &brains + &floats);
    bench.run(&format!("b.mul_f16_f16_{size}"), work(6), || &halves * &halves);
    bench.run(&format!("b.mul_bool_f32_{size}"), work(9), || &mask * &floats);
}
