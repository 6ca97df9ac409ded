//! `p`: layers other than plain products and convolutions.

use super::ceilings::Pass;
use super::data::{floats, integers};
use super::harness::{Bench, Work};
use castiron::nn::{Half, Pool};
use castiron::reduction::Mean;
use castiron::{ChannelsLast, Tensor, dim, ops, shape};

pub fn run(bench: &mut Bench) {
    let x = floats::<shape![256, 384]>(1);
    let (w, b) = (floats::<shape![1536, 384]>(2), floats::<shape![1536]>(3));
    let flops = Work::Flops32(2 * 256 * 384 * 1536);
    bench.run("p.linear_gelu_256", flops, || x.linear_with(&w, Some(&b), ops::gelu {}));
    let (w, b) = (floats::<shape![384]>(2), floats::<shape![384]>(3));
    let moved = |count: usize| Work::Bytes(Pass::Copy, 4 * 2 * count);
    bench.run("p.layer_norm_256x384", moved(256 * 384), || x.layer_norm(Some(&w), Some(&b), 1e-5));

    let x = floats::<shape![8, 64, 56, 56]>(4);
    let (w, b) = (floats::<shape![64]>(5), floats::<shape![64]>(6));
    let all = moved(8 * 64 * 56 * 56);
    bench.run("p.batch_norm_8x64x56", all, || x.batch_norm(&w, &b, &w, &b, 1e-5));
    bench.run("p.group_norm_8x64x56", all, || x.group_norm::<dim!(8), _, _>(&w, &b, 1e-5));

    let x = floats::<shape![1, 64, 112, 112]>(7);
    let last: Tensor<f32, shape![1, 64, 112, 112]> = x.to_memory_format(ChannelsLast);
    let pool = Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<Half>();
    let read = Work::Bytes(Pass::Read, 4 * 64 * 112 * 112);
    bench.run("p.max_pool_3s2_64x112_nchw", read, || x.max_pool2d(pool));
    bench.run("p.max_pool_3s2_64x112_nhwc", read, || last.max_pool2d(pool));
    bench.run("p.avg_pool_2_64x112_nchw", read, || x.avg_pool2d(Pool::<dim!(2)>::new()));
    bench.run("p.avg_pool_2_64x112_nhwc", read, || last.avg_pool2d(Pool::<dim!(2)>::new()));
    bench.run("p.adaptive_avg_pool_64x112_nhwc", read, || last.adaptive_avg_pool2d::<shape![1, 1]>());

    let (scores, labels) = (floats::<shape![256, 1000]>(8), integers::<shape![256]>(9, 1000));
    let read = Work::Bytes(Pass::Read, 4 * 256 * 1000);
    bench.run("p.cross_entropy_256x1000", read, || scores.cross_entropy(&labels, (), -100, 0.0, Mean));
    let (table, words) = (floats::<shape![30522, 384]>(10), integers::<shape![8, 128]>(11, 30522));
    bench.run("p.embedding_8x128x384", moved(8 * 128 * 384), || table.embedding(&words));
}
