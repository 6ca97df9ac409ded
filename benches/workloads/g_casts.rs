//! `g`: conversion from one dtype to another, of 16 million elements.

use super::ceilings::Pass;
use super::data::{M16, floats, integers};
use super::harness::{Bench, Work};
use castiron::{bf16, f16, shape};

pub fn run(bench: &mut Bench) {
    let work = |bytes| Work::Bytes(Pass::Copy, bytes * M16);
    let floats = floats::<shape![16777216]>(1) * 100;
    let longs = integers::<shape![16777216]>(1, 1000);
    let brains = floats.to::<bf16>();
    bench.run("g.f32_bf16_16M", work(6), || floats.to::<bf16>());
    bench.run("g.f32_f16_16M", work(6), || floats.to::<f16>());
    bench.run("g.i64_f32_16M", work(12), || longs.to::<f32>());
    bench.run("g.f32_u8_16M", work(5), || floats.to::<u8>());
    bench.run("g.bf16_f32_16M", work(6), || brains.to::<f32>());
}
