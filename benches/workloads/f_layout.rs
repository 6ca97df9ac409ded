//! `f`: elements reordered, repeated and joined.

use super::ceilings::Pass;
use super::data::{M1, M16, floats};
use super::harness::{Bench, Work};
use castiron::{axis, cat, shape};

pub fn run(bench: &mut Bench) {
    let copy = |bytes| Work::Bytes(Pass::Copy, bytes);
    let square = floats::<shape![4096, 4096]>(1);
    bench.run("f.transpose_4096", copy(8 * M16), || square.t().contiguous());
    let (column, row) = (floats::<shape![4096, 1]>(2), floats::<shape![1, 4096]>(3));
    bench.run("f.bcast_outer_4096", copy(4 * M16), || &column + &row);
    let row = floats::<shape![4096]>(4);
    bench.run("f.bcast_row_4096", copy(8 * M16), || &square + &row);
    // every second element: the first of each pair
    let pairs = floats::<shape![8388608, 2]>(5);
    bench.run("f.slice2_16M", copy(6 * M16), || pairs.select(axis![1], 0).contiguous());

    let images = floats::<shape![8, 64, 112, 112]>(6);
    bench.run("f.nhwc_8x64x112x112", copy(8 * images.numel()), || images.permute(axis![0, 2, 3, 1]).contiguous());
    let x = floats::<shape![32, 128, 16, 64]>(7);
    bench.run("f.permute_0213", copy(8 * x.numel()), || x.permute(axis![0, 2, 1, 3]).contiguous());
    let x = floats::<shape![64, 32, 32, 64]>(8);
    bench.run("f.permute_3210", copy(8 * x.numel()), || x.permute(axis![3, 2, 1, 0]).contiguous());

    let pieces = [0, 1, 2, 3, 4, 5, 6, 7].map(floats::<shape![1048576]>);
    bench.run("f.cat8_dim0", copy(64 * M1), || cat(&pieces, axis![0]));
    let pieces = pieces.map(|piece| piece.reshape::<shape![1024, 1024]>());
    bench.run("f.cat8_dim1", copy(64 * M1), || cat(&pieces, axis![1]));
}
