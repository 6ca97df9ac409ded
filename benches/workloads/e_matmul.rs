//! `e`: matrix products, by size and by dtype.

use super::ceilings::Pass;
use super::data::{M1, drawn, floats};
use super::harness::{Bench, Work};
use castiron::{Complex, Dim, KnownShape, bf16, dim, f16, shape};

pub fn run(bench: &mut Bench) {
    square::<dim!(256)>(bench);
    square::<dim!(512)>(bench);
    square::<dim!(1024)>(bench);
    square::<dim!(2048)>(bench);

    let (x, y) = (floats::<shape![1024, 1024]>(1), floats::<shape![1024, 1024]>(2));
    let flops = 2 << 30;
    bench.run("e.mm_f32_1024_nt", Work::Flops32(flops), || x.matmul(y.t()));
    let (p, q) = (x.to::<f64>(), y.to::<f64>());
    bench.run("e.mm_f64_1024", Work::Flops64(flops), || p.matmul(&q));
    let (p, q) = (x.to::<bf16>(), y.to::<bf16>());
    bench.run("e.mm_bf16_1024", Work::Flops32(flops), || p.matmul(&q));
    let (p, q) = (x.to::<f16>(), y.to::<f16>());
    bench.run("e.mm_f16_1024", Work::Flops32(flops), || p.matmul(&q));

    let flops = 1 << 27;
    let p = drawn::<_, shape![512, 512]>(1, |x| Complex::new(x, 0.5));
    let q = drawn::<_, shape![512, 512]>(1, |x| Complex::new(0.5, x));
    bench.run("e.mm_c64_512", Work::Flops32(8 * flops), || p.matmul(&q));
    let p = drawn::<_, shape![512, 512]>(1, |x| (x * 100.0) as i32);
    bench.run("e.mm_i32_512", Work::Flops32(2 * flops), || p.matmul(&p));

    let (p, q) = (floats::<shape![64, 128, 64]>(1), floats::<shape![64, 64, 128]>(2));
    bench.run("e.bmm_f32_64x128x64x128", Work::Flops32(2 * 64 * 128 * 64 * 128), || p.matmul(&q));
    let v = floats::<shape![1024]>(3);
    bench.run("e.mv_f32_1024", Work::Bytes(Pass::Read, 4 * M1), || x.matmul(&v));
}

fn square<N: Dim>(bench: &mut Bench)
where
    (N, N): KnownShape<Sizes = [usize; 2]>,
{
    let (x, y) = (floats::<(N, N)>(1), floats::<(N, N)>(2));
    let [n, _] = x.shape();
    bench.run(&format!("e.mm_f32_{n}"), Work::Flops32(2 * n * n * n), || x.matmul(&y));
}
