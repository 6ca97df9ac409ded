//! `t`: closures over elements; with the feature `ndarray` beside those of that crate.

use super::ceilings::Pass;
use super::data::{M1, floats};
use super::harness::{Bench, Work};
use castiron::{Tensor, axis, shape};

type Matrix = Tensor<f32, shape![1024, 1024]>;

/// A polynomial of degree 6.
#[inline(always)]
fn polynomial(v: f32) -> f32 {
    [0.008, 0.04, 0.17, 0.5, 1.0, 1.0].into_iter().fold(0.0014, |sum, next| sum * v + next)
}

pub fn run(bench: &mut Bench) {
    let [mut x, y, z]: [Matrix; 3] = [1, 2, 3].map(floats);
    let few = floats::<shape![64]>(4);
    let (t, scale) = (x.t(), x[(0, 7)]);
    let read = Work::Bytes(Pass::Read, 4 * M1);
    let (one, two) = (Work::Bytes(Pass::Copy, 8 * M1), Work::Bytes(Pass::Add, 12 * M1));
    bench.run("t.square_1M", one, || x.map(|v| v * v + 1.0));
    bench.run("t.scale_1M", one, || x.map(|v| v * scale));
    bench.run("t.polynomial_1M", one, || x.map(polynomial));
    bench.run("t.square_transposed_1M", one, || t.map(|v| v * v + 1.0));
    bench.run("t.square_64", Work::Calls, || few.map(|v| v * v + 1.0));
    bench.run("t.zip_1M", two, || x.zip_map(&y, |(a, b)| a * b + 1.0));
    bench.run("t.zip3_1M", two, || x.zip_map((&y, &z), |(a, b, c)| a * b + c));
    bench.run("t.zip_transposed_1M", two, || t.zip_map(&y, |(a, b)| a * b + 1.0));
    bench.run("t.indexed_1M", one, || x.map_indexed(|[i, j], v| if i >= j { v } else { 0.0 }));
    bench.run("t.fold_1M", read, || x.fold(0.0_f32, |most, v| if v > most { v } else { most }));
    bench.run("t.fold_rows_1M", read, || x.fold_axis(axis![1], 0.0_f32, |sum, v| sum + v));
    bench.run("t.fold_columns_1M", read, || x.fold_axis(axis![0], 0.0_f32, |sum, v| sum + v));
    bench.run("t.lanes_1M", read, || x.map_lanes(axis![1], |row| row.iter().map(|v| v * v).sum::<f32>()));
    bench.run("t.lanes_columns_1M", read, || x.map_lanes(axis![0], |column| column.iter().map(|v| v * v).sum::<f32>()));
    bench.run_as("parallel", "t.polynomial_1M", one, || x.par_map(polynomial));
    bench.run("t.square_in_place_1M", Work::Bytes(Pass::Update, 8 * M1), || {
        x.map_(|v| v * v * 0.5 + 0.1);
    });
    #[cfg(feature = "ndarray")]
    beside_ndarray(bench, &x, [&y, &z], &few);
}

#[cfg(feature = "ndarray")]
fn beside_ndarray(bench: &mut Bench, x: &Matrix, [y, z]: [&Matrix; 2], few: &Tensor<f32, shape![64]>) {
    use ndarray::{Array1, Array2, Axis, Zip};
    let array = |x: &Matrix| Array2::from_shape_vec((1024, 1024), x.to_vec()).unwrap();
    let (mut x, y, z) = (array(x), array(y), array(z));
    let few = Array1::from_vec(few.to_vec());
    let scale = x[(0, 7)];
    let read = Work::Bytes(Pass::Read, 4 * M1);
    let (one, two) = (Work::Bytes(Pass::Copy, 8 * M1), Work::Bytes(Pass::Add, 12 * M1));
    let mut run = |name: &str, work: Work, workload: &mut dyn FnMut()| bench.run_as("ndarray", name, work, workload);
    run("t.square_1M", one, &mut || drop(x.mapv(|v| v * v + 1.0)));
    run("t.scale_1M", one, &mut || drop(x.mapv(|v| v * scale)));
    run("t.polynomial_1M", one, &mut || drop(x.mapv(polynomial)));
    run("t.square_transposed_1M", one, &mut || drop(x.t().mapv(|v| v * v + 1.0)));
    run("t.square_64", Work::Calls, &mut || drop(few.mapv(|v| v * v + 1.0)));
    run("t.zip_1M", two, &mut || drop(Zip::from(&x).and(&y).map_collect(|a, b| a * b + 1.0)));
    run("t.zip3_1M", two, &mut || drop(Zip::from(&x).and(&y).and(&z).map_collect(|a, b, c| a * b + c)));
    run("t.zip_transposed_1M", two, &mut || drop(Zip::from(x.t()).and(&y).map_collect(|a, b| a * b + 1.0)));
    run("t.indexed_1M", one, &mut || {
        drop(Zip::indexed(&x).map_collect(|(i, j), &v| if i >= j { v } else { 0.0 }));
    });
    run("t.fold_1M", read, &mut || {
        std::hint::black_box(x.fold(0.0_f32, |most, &v| if v > most { v } else { most }));
    });
    run("t.fold_rows_1M", read, &mut || drop(x.fold_axis(Axis(1), 0.0_f32, |sum, v| sum + v)));
    run("t.fold_columns_1M", read, &mut || drop(x.fold_axis(Axis(0), 0.0_f32, |sum, v| sum + v)));
    run("t.lanes_1M", read, &mut || drop(x.map_axis(Axis(1), |row| row.iter().map(|v| v * v).sum::<f32>())));
    run("t.lanes_columns_1M", read, &mut || {
        drop(x.map_axis(Axis(0), |column| column.iter().map(|v| v * v).sum::<f32>()));
    });
    run("t.square_in_place_1M", Work::Bytes(Pass::Update, 8 * M1), &mut || x.mapv_inplace(|v| v * v * 0.5 + 0.1));
}
