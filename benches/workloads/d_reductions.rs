//! `d`: reductions over everything and over one axis, and operations built from them.

use super::ceilings::Pass;
use super::data::{M1, M16, drawn, floats};
use super::harness::{Bench, Work};
use castiron::{axis, bf16, shape};

pub fn run(bench: &mut Bench) {
    let read = |bytes| Work::Bytes(Pass::Read, bytes);
    let all = floats::<shape![16777216]>(2);
    bench.run("d.sum_f32_16M", read(4 * M16), || all.sum());
    bench.run("d.max_all_16M", read(4 * M16), || all.amax());
    bench.run("d.argmax_all_16M", read(4 * M16), || all.argmax());
    let brains = all.to::<bf16>();
    bench.run("d.sum_bf16_16M", read(2 * M16), || brains.sum());
    let small = drawn::<i8, shape![16777216]>(2, |x| (x * 100.0) as i8);
    bench.run("d.sum_i8_16M", read(M16), || small.sum());

    let square = floats::<shape![4096, 4096]>(1);
    bench.run("d.sum_last_4096", read(4 * M16), || square.sum_axis(axis![1]));
    bench.run("d.sum_first_4096", read(4 * M16), || square.sum_axis(axis![0]));

    let rows = floats::<shape![4096, 1024]>(3);
    bench.run("d.argmax_last_4kx1k", read(16 * M1), || rows.argmax_axis(axis![1]));
    bench.run("d.max_last_4kx1k", read(16 * M1), || rows.amax_axis(axis![1]));
    bench.run("d.mean_last_4kx1k", read(16 * M1), || rows.mean_axis(axis![1]));
    bench.run("d.var_last_4kx1k", read(16 * M1), || rows.var_axis(axis![1], 1));
    let copy = Work::Bytes(Pass::Copy, 32 * M1);
    bench.run("d.softmax_last_4kx1k", copy, || rows.softmax(axis![1]));
    bench.run("d.layernorm_4kx1k", copy, || rows.layer_norm::<shape![1024]>(None, None, 1e-5));
}
