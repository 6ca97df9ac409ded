//! Sorting, selection and searches along every axis, with equal elements and NaN, compared with the host.

use crate::on_gpu;
use castiron::{Cpu, Cuda, Device, Element, Real, Shape, Tensor, axis, bf16, dim, f16, shape, tensor};

fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> String {
    crate::listed(&x.to_device::<Cpu>().unwrap().to_vec())
}

fn matrix<E: Real, D: Device>(rows: usize, columns: usize) -> Tensor<E, shape![_, _], D> {
    let value = |at: usize| E::from_f64(((at * 31 + at / 7) % 17) as f64);
    let elements = (0..rows * columns).map(value).collect();
    Tensor::<E, shape![_, _]>::from_vec_sized(elements, [rows, columns]).to_device().unwrap()
}

fn selected<E: Real, D: Device>() -> Vec<String> {
    let mut all = Vec::new();
    for [rows, columns] in [[3, 40], [1, 1], [300, 2], [0, 4]] {
        let x = matrix::<E, D>(rows, columns);
        let (sorted, positions) = x.sort(axis!(1), false);
        all.extend([host(&sorted), host(&positions)]);
        let (sorted, positions) = x.sort(axis!(0), true);
        all.extend([host(&sorted), host(&positions)]);
    }
    let x = matrix::<E, D>(3, 40);
    let (median, at) = x.median_axis(axis!(1));
    all.extend([host(&median), host(&at)]);
    let (mode, at) = x.mode(axis!(1));
    all.extend([host(&mode), host(&at)]);
    all
}

#[test]
fn selections_are_those_of_the_host() {
    on_gpu!("order::selections_are_those_of_the_host", {
        assert_eq!(selected::<i32, Cpu>(), selected::<i32, Cuda<0>>());
        assert_eq!(selected::<f16, Cpu>(), selected::<f16, Cuda<0>>());
    });
}

/// Lanes for a warp, for a block with one or more elements for each thread, and longer ones; equal elements show whether they keep their
/// order.
#[test]
fn lanes_of_every_length_are_sorted() {
    on_gpu!("order::lanes_of_every_length_are_sorted", {
        fn run<E: Real, D: Device>(rows: usize, columns: usize) -> Vec<String> {
            let x = matrix::<E, D>(rows, columns);
            let mut all = Vec::new();
            for descending in [false, true] {
                let (sorted, positions) = x.sort(axis!(1), descending);
                all.extend([host(&sorted), host(&positions)]);
            }
            let (sorted, positions) = x.t().sort(axis!(0), false);
            all.extend([host(&sorted), host(&positions)]);
            let (mode, at) = x.mode(axis!(1));
            all.extend([host(&mode), host(&at)]);
            all
        }
        fn same<E: Real>(rows: usize, columns: usize) {
            assert!(run::<E, Cpu>(rows, columns) == run::<E, Cuda<0>>(rows, columns), "{rows} {columns}");
        }
        [32, 33, 256, 257, 1025, 4096, 4097, 13_000].into_iter().for_each(|columns| same::<i16>(2, columns));
        [31, 2048, 2049, 9000].into_iter().for_each(|columns| same::<i64>(1, columns));
        same::<i8>(3, 5000);
        same::<f32>(1, 9000);
        same::<f64>(2, 2500);
        same::<bf16>(1, 4500);
    });
}

/// A few of many: by a block for each lane, by blocks for chunks, and of lanes that are sorted.
#[test]
fn few_of_long_lanes_are_selected() {
    on_gpu!("order::few_of_long_lanes_are_selected", {
        fn run<E: Real, D: Device>(rows: usize, columns: usize) -> Vec<String> {
            let x = matrix::<E, D>(rows, columns);
            let mut all = Vec::new();
            for largest in [false, true] {
                let (top, positions) = x.topk::<dim!(3), _>(axis!(1), largest);
                all.extend([host(&top), host(&positions)]);
                let (top, positions) = x.topk_sized(axis!(1), (columns / 9).min(700), largest);
                all.extend([host(&top), host(&positions)]);
            }
            for k in [1, columns / 3, columns] {
                let (value, at) = x.kthvalue(axis!(1), k);
                all.extend([host(&value), host(&at)]);
            }
            let (median, at) = x.median_axis(axis!(1));
            all.extend([host(&median), host(&at)]);
            all
        }
        fn same<E: Real>(rows: usize, columns: usize) {
            let (cpu, gpu) = (run::<E, Cpu>(rows, columns), run::<E, Cuda<0>>(rows, columns));
            for (at, (cpu, gpu)) in cpu.iter().zip(&gpu).enumerate() {
                assert!(cpu == gpu, "result {at} of {rows} {columns}");
            }
        }
        same::<f32>(2, 30);
        same::<i16>(3, 700);
        same::<f32>(3, 6000);
        same::<i64>(65, 2100);
        same::<bf16>(1, 40_000);
        same::<i32>(1, 70_000);
    });
}

#[test]
fn no_number_comes_last() {
    on_gpu!("order::no_number_comes_last", {
        fn run<D: Device>() -> Vec<String> {
            let x = tensor![[2.0, f32::NAN, -1.0, 2.0], [f32::NAN, f32::NAN, 1.0, f32::INFINITY]];
            let x = x.to_device::<D>().unwrap();
            let (sorted, positions) = x.sort(axis!(1), false);
            let (median, at) = x.median_axis(axis!(1));
            let (middle, of) = x.nanmedian_axis(axis!(1));
            let mut all = vec![host(&sorted), host(&positions), host(&median), host(&at), host(&middle), host(&of)];
            // Longer lanes, with zeros of both signs, which are equal, and lanes of NaN alone.
            for (rows, columns) in [(3, 40), (2, 9000), (66, 4200), (1, 70_000)] {
                let number = |at: usize| match at % 7 {
                    _ if at / columns == 1 => f32::NAN,
                    2 => f32::NAN,
                    3 => -0.0,
                    4 => 0.0,
                    5 => f32::NEG_INFINITY,
                    _ => (at * 31 % 1000) as f32 - 500.0,
                };
                let elements = (0..rows * columns).map(number).collect();
                let x: Tensor<f32, shape![_, _], Cpu> = Tensor::from_vec_sized(elements, [rows, columns]);
                let x = x.to_device::<D>().unwrap();
                for descending in [false, true] {
                    let (sorted, positions) = x.sort(axis!(1), descending);
                    let (top, of) = x.topk_sized(axis!(1), 30, descending);
                    all.extend([host(&sorted), host(&positions), host(&top), host(&of)]);
                }
                let (median, at) = x.median_axis(axis!(1));
                let (middle, of) = x.nanmedian_axis(axis!(1));
                let (mode, last) = x.mode(axis!(1));
                all.extend([host(&median), host(&at), host(&middle), host(&of), host(&mode), host(&last)]);
            }
            all
        }
        let (cpu, gpu) = (run::<Cpu>(), run::<Cuda<0>>());
        for (at, (cpu, gpu)) in cpu.iter().zip(&gpu).enumerate() {
            assert!(cpu == gpu, "result {at}");
        }
    });
}

#[test]
fn searches_are_those_of_the_host() {
    on_gpu!("order::searches_are_those_of_the_host", {
        fn run<D: Device>() -> Vec<String> {
            let sorted = tensor![1.0, 3.0, 3.0, 5.0].to_device::<D>().unwrap();
            let values = tensor![0.0, 1.0, 3.0, 4.0, 9.0, f32::NAN].to_device::<D>().unwrap();
            vec![host(&sorted.searchsorted(&values, false)), host(&sorted.searchsorted(&values, true))]
        }
        assert_eq!(run::<Cpu>(), run::<Cuda<0>>());
    });
}
