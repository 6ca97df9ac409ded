//! Scans, softmax and normalisations: along every axis, as on the host.

use crate::on_gpu;
use castiron::{Cpu, Cuda, Device, Element, Numeric, Shape, Tensor, axis, shape};

type Cube<E, D> = Tensor<E, shape![_, _, 5], D>;

fn cube<E: Numeric, D: Device>(sizes: [usize; 2]) -> Cube<E, D> {
    let value = |at: usize| E::from_f64(((at * 7 + at / 5) % 5) as f64 - 1.0);
    let elements = (0..sizes[0] * sizes[1] * 5).map(value).collect();
    let host: Cube<E, Cpu> = Tensor::from_vec_sized(elements, [sizes[0], sizes[1], 5]);
    host.to_device::<D>().unwrap()
}

fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Vec<E> {
    x.to_device::<Cpu>().unwrap().to_vec()
}

/// Small integers: sums are exact in every order; lanes of several tiles, of one element, of none.
#[test]
fn scans_are_those_of_the_host() {
    on_gpu!("lanes::scans_are_those_of_the_host", {
        fn run<E: Numeric, D: Device>() -> Vec<String> {
            let mut all = Vec::new();
            for sizes in [[3, 4], [2, 600], [1, 1], [0, 3]] {
                let x = cube::<E, D>(sizes);
                all.push(format!("{:?}", host(&x.cumsum(axis!(0)))));
                all.push(format!("{:?}", host(&x.cumsum(axis!(1)))));
                all.push(format!("{:?}", host(&x.cumsum(axis!(2)))));
            }
            all
        }
        assert_eq!(run::<i32, Cpu>(), run::<i32, Cuda<0>>());
        assert_eq!(run::<f64, Cpu>(), run::<f64, Cuda<0>>());
    });
}

#[test]
fn running_extremes_come_with_positions() {
    on_gpu!("lanes::running_extremes_come_with_positions", {
        fn run<D: Device>() -> (Vec<f32>, Vec<i64>, Vec<i16>) {
            let (values, positions) = cube::<f32, D>([2, 300]).cummax(axis!(1));
            (host(&values), host(&positions), host(&cube::<i16, D>([2, 300]).cummin(axis!(1)).0))
        }
        assert_eq!(run::<Cpu>(), run::<Cuda<0>>());
    });
}

#[test]
fn softmax_and_normalisations_are_close() {
    on_gpu!("lanes::softmax_and_normalisations_are_close", {
        fn run<D: Device>() -> Vec<f32> {
            let x = cube::<f32, D>([3, 700]);
            let weight = Tensor::<f32, shape![5]>::from_vec_sized(vec![1.0, 2.0, 0.5, -1.0, 3.0], [5]);
            let weight = weight.to_device::<D>().unwrap();
            let mut all = host(&x.softmax(axis!(1)));
            all.extend(host(&x.log_softmax(axis!(2))));
            all.extend(host(&x.layer_norm(Some(&weight), None, 1e-5)));
            all
        }
        let (cpu, gpu) = (run::<Cpu>(), run::<Cuda<0>>());
        assert_eq!(cpu.len(), gpu.len());
        for (cpu, gpu) in cpu.into_iter().zip(gpu) {
            assert!((cpu - gpu).abs() <= 4e-6 * cpu.abs().max(1.0), "{cpu} {gpu}");
        }
    });
}
