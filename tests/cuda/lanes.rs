//! Scans, softmax and normalisations along every axis, compared with the host.

use crate::on_gpu;
use castiron::{Complex, Cpu, Cuda, Device, Element, Float, Numeric, Shape, Tensor, axis, bf16, s, shape};

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

/// Every way of dividing lanes: a thread for each, columns, rows by warps and by blocks, with packs and without; each also in chunks.
#[test]
fn scans_of_many_forms_are_those_of_the_host() {
    on_gpu!("lanes::scans_of_many_forms_are_those_of_the_host", {
        fn along<E: Numeric, D: Device>(sizes: [usize; 2]) -> Vec<Vec<E::Sum>> {
            let value = |at: usize| E::from_f64(((at * 7 + at / 5) % 5) as f64 - 2.0);
            let elements = (0..sizes[0] * sizes[1]).map(value).collect();
            let x: Tensor<E, shape![_, _], Cpu> = Tensor::from_vec_sized(elements, sizes);
            let x = x.to_device::<D>().unwrap();
            let part = x.slice(s![.., 1..]);
            vec![
                host(&x.cumsum(axis!(1))),
                host(&x.cumsum(axis!(0))),
                host(&x.t().cumsum(axis!(0))),
                host(&part.cumsum(axis!(1))),
                host(&part.cumsum(axis!(0))),
            ]
        }
        // (The last is scanned by rows of one chunk, for there are many.)
        let all =
            [[1, 70_001], [1, 65_536], [3, 5000], [3, 5001], [70, 200], [2000, 3], [1500, 33], [40, 16], [300, 4100]];
        for sizes in all {
            assert!(along::<f64, Cpu>(sizes) == along::<f64, Cuda<0>>(sizes), "{sizes:?}");
        }
        for sizes in [[2, 40_000], [700, 40]] {
            assert!(along::<i32, Cpu>(sizes) == along::<i32, Cuda<0>>(sizes), "{sizes:?}");
            assert!(along::<i8, Cpu>(sizes) == along::<i8, Cuda<0>>(sizes), "{sizes:?}");
            assert!(along::<Complex<f32>, Cpu>(sizes) == along::<Complex<f32>, Cuda<0>>(sizes), "{sizes:?}");
        }
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
        // Long lanes, and a NaN in the middle of one. Of equals the last counts, so that the order of merging shows.
        fn long<D: Device>(sizes: [usize; 2]) -> [(Vec<u32>, Vec<i64>); 2] {
            let number = |at: usize| if at == 30_000 { f32::NAN } else { (at * 37 % 1000 * (at % 3)) as f32 };
            let elements = (0..sizes[0] * sizes[1]).map(number).collect();
            let x: Tensor<f32, shape![_, _], Cpu> = Tensor::from_vec_sized(elements, sizes);
            let x = x.to_device::<D>().unwrap();
            let (rows, columns) = (x.cummax(axis!(1)), x.cummin(axis!(0)));
            let bits = |x: Tensor<f32, shape![_, _], D>| host(&x).into_iter().map(f32::to_bits).collect::<Vec<u32>>();
            [(bits(rows.0), host(&rows.1)), (bits(columns.0), host(&columns.1))]
        }
        for sizes in [[1, 50_000], [2, 33_333], [1000, 40], [5000, 8]] {
            assert!(long::<Cpu>(sizes) == long::<Cuda<0>>(sizes), "{sizes:?}");
        }
    });
}

/// Of one precision, sums are formed in double precision; of less, they are rounded after each step here and there. Logarithms of sums, of
/// complex numbers as well.
#[test]
fn scans_of_floats_are_close() {
    on_gpu!("lanes::scans_of_floats_are_close", {
        fn long<E: Float, D: Device>(sizes: [usize; 2]) -> Vec<f64> {
            let elements = (0..sizes[0] * sizes[1]).map(|at| E::from_f64((at * 37 % 101) as f64 / 64.0)).collect();
            let x: Tensor<E, shape![_, _], Cpu> = Tensor::from_vec_sized(elements, sizes);
            let x = x.to_device::<D>().unwrap();
            let all = [x.cumsum(axis!(1)), x.cumsum(axis!(0)), x.logcumsumexp(axis!(1)), x.logcumsumexp(axis!(0))];
            all.iter().flat_map(|x| x.to_device::<Cpu>().unwrap().to::<f64>().to_vec()).collect()
        }
        fn close<E: Float>(sizes: [usize; 2], share: f64) {
            let (cpu, gpu) = (long::<E, Cpu>(sizes), long::<E, Cuda<0>>(sizes));
            assert_eq!(cpu.len(), gpu.len());
            for (cpu, gpu) in cpu.into_iter().zip(gpu) {
                assert!((cpu - gpu).abs() <= share * cpu.abs().max(1.0), "{cpu} {gpu}");
            }
        }
        close::<f32>([2, 9000], 1e-6);
        close::<f32>([700, 48], 1e-6);
        close::<f64>([2, 9000], 1e-12);
        close::<bf16>([3, 1200], 0.03);
        fn complex<D: Device>() -> Vec<Complex<f32>> {
            let elements =
                (0..3000).map(|at| Complex { re: (at % 7) as f32 / 8.0, im: (at % 5) as f32 / 8.0 }).collect();
            let x: Tensor<Complex<f32>, shape![3000], Cpu> = Tensor::from_vec_sized(elements, [3000]);
            let x = x.to_device::<D>().unwrap();
            let mut all = host(&x.cumsum(axis!(0)));
            all.extend(host(&x.logcumsumexp(axis!(0))));
            all
        }
        for (cpu, gpu) in complex::<Cpu>().into_iter().zip(complex::<Cuda<0>>()) {
            let apart = (cpu.re - gpu.re).abs() + (cpu.im - gpu.im).abs();
            assert!(apart <= 1e-4 * (cpu.re.abs() + cpu.im.abs()).max(1.0), "{cpu:?} {gpu:?}");
        }
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

/// Rows of a warp, of a block, of more than fits registers; packs and none; rows that are columns in memory.
#[test]
fn rows_of_every_length_are_close() {
    on_gpu!("lanes::rows_of_every_length_are_close", {
        fn matrix<E: Numeric, D: Device>(sizes: [usize; 2]) -> Tensor<E, shape![_, _], D> {
            let value = |at: usize| E::from_f64(((at * 7 + at / 5) % 11) as f64 / 4.0 - 1.0);
            let host: Tensor<E, shape![_, _]> =
                Tensor::from_vec_sized((0..sizes[0] * sizes[1]).map(value).collect(), sizes);
            host.to_device::<D>().unwrap()
        }
        fn run<E: Float, D: Device>(lengths: &[usize]) -> Vec<f64> {
            let mut all: Vec<f64> = Vec::new();
            for &len in lengths {
                let x = matrix::<E, D>([3, len]);
                let weight: Tensor<E, shape![_], D> = matrix::<E, D>([1, len]).reshape_sized([len]);
                all.extend(host(&x.softmax(axis!(1)).to::<f64>()));
                all.extend(host(&x.slice(s![1..]).log_softmax(axis!(1)).to::<f64>()));
                all.extend(host(&x.layer_norm(Some(&weight), Some(&weight), 1e-5).to::<f64>()));
                all.extend(host(&x.slice(s![.., 1..]).rms_norm::<shape![_]>(None, None).to::<f64>()));
                all.extend(host(&matrix::<E, D>([len.min(300), 40]).softmax(axis!(0)).to::<f64>()));
            }
            all
        }
        macro_rules! close {
            ($E:ty, $error:expr, $lengths:expr) => {
                let (cpu, gpu) = (run::<$E, Cpu>($lengths), run::<$E, Cuda<0>>($lengths));
                assert_eq!(cpu.len(), gpu.len());
                for (at, (cpu, gpu)) in cpu.into_iter().zip(gpu).enumerate() {
                    assert!((cpu - gpu).abs() <= $error * cpu.abs().max(1e-3), "{at}: {cpu} {gpu}");
                }
            };
        }
        close!(f32, 1e-5, &[2, 31, 64, 1000, 1024, 5000, 40_000]);
        close!(bf16, 0.01, &[8, 30, 2048]);
        close!(f64, 1e-12, &[3, 600]);
    });
}
