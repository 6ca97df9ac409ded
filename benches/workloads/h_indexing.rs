//! `h`: elements chosen by indices, by masks and by rank.

use super::ceilings::Pass;
use super::data::{M1, floats, integers};
use super::harness::{Bench, Work};
use castiron::{axis, dim, shape, where_};

pub fn run(bench: &mut Bench) {
    let rows = floats::<shape![65536, 128]>(1);
    let which = integers::<shape![65536]>(2, 65536);
    bench.run("h.index_select_64kx128", Work::Bytes(Pass::Copy, 64 * M1 + 8 * 65536), || {
        rows.index_select(axis![0], &which)
    });
    drop((rows, which));
    let square = floats::<shape![1024, 1024]>(1);
    let places = integers::<shape![1024, 1024]>(3, 1024);
    bench.run("h.gather_1024", Work::Bytes(Pass::Add, 16 * M1), || square.gather(axis![1], &places));
    let [x, y, z] = [1, 2, 3].map(floats::<shape![1048576]>);
    // half of it true, at random
    let mask = z.gt(0.6);
    bench.run("h.masked_select_1M", Work::Bytes(Pass::Add, 7 * M1), || x.masked_select(&mask));
    bench.run("h.where_1M", Work::Bytes(Pass::Add, 13 * M1), || where_(&mask, &x, &y));
    bench.run("h.sort_1M", Work::Bytes(Pass::Copy, 16 * M1), || x.sort(axis![0], false));
    bench.run("h.topk100_1M", Work::Bytes(Pass::Read, 4 * M1), || x.topk::<dim!(100), _>(axis![0], true));
}
