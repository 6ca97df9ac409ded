//! Sorting, selection and searches: along every axis, with equal elements and NaN, as on the host.

use crate::on_gpu;
use castiron::{Cpu, Cuda, Device, Element, Real, Shape, Tensor, axis, f16, shape, tensor};

fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> String {
    format!("{:?}", x.to_device::<Cpu>().unwrap().to_vec())
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

#[test]
fn no_number_comes_last() {
    on_gpu!("order::no_number_comes_last", {
        fn run<D: Device>() -> Vec<String> {
            let x = tensor![[2.0, f32::NAN, -1.0, 2.0], [f32::NAN, f32::NAN, 1.0, f32::INFINITY]];
            let x = x.to_device::<D>().unwrap();
            let (sorted, positions) = x.sort(axis!(1), false);
            let (median, at) = x.median_axis(axis!(1));
            let (middle, of) = x.nanmedian_axis(axis!(1));
            vec![host(&sorted), host(&positions), host(&median), host(&at), host(&middle), host(&of)]
        }
        assert_eq!(run::<Cpu>(), run::<Cuda<0>>());
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
