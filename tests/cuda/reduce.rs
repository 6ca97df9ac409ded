//! Reductions over all axes, rows, columns and non-adjacent axes, in one step and in chunks, compared with the host.

use crate::on_gpu;
use castiron::{
    Complex, Cpu, Cuda, Device, Dtype, Element, Float, Numeric, Real, Shape, Tensor, axis, bf16, f16, fused, s, shape,
    tensor,
};

type Line<E, D> = Tensor<E, shape![_], D>;
type Cube<E, D> = Tensor<E, shape![_, _, _], D>;

fn cube<E: Dtype, D: Device>(sizes: [usize; 3]) -> Cube<E, D> {
    let value = |at: usize| E::from_f64(((at * 7 + at / 5) % 13) as f64 - 4.0);
    let elements = (0..sizes.iter().product()).map(value).collect();
    let host: Cube<E, Cpu> = Tensor::from_vec_sized(elements, sizes);
    host.to_device::<D>().unwrap()
}

fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> String {
    crate::listed(&x.to_device::<Cpu>().unwrap().to_vec())
}

fn host_of<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Vec<E> {
    x.to_device::<Cpu>().unwrap().to_vec()
}

/// Small integers: sums are exact in every order.
fn sums<E: Numeric, D: Device>() -> Vec<String> {
    let mut all = Vec::new();
    for sizes in [[3, 4, 5], [2, 300, 3], [1, 1, 9000], [70, 1, 2], [0, 3, 2], [600, 2, 40]] {
        let x = cube::<E, D>(sizes);
        all.push(host(&x.sum()));
        all.push(host(&x.sum_axis(axis!(0))));
        all.push(host(&x.sum_axis(axis!(1))));
        all.push(host(&x.sum_axis(axis!(2))));
        all.push(host(&x.count_nonzero()));
    }
    all
}

fn extremes<E: Real, D: Device>() -> Vec<String> {
    let x = cube::<E, D>([6, 130, 7]);
    let (values, positions) = x.max_axis(axis!(1));
    vec![host(&x.max()), host(&x.argmin()), host(&values), host(&positions), host(&x.argmax_axis(axis!(2)))]
}

macro_rules! same {
    ($run:ident: $($E:ty)*) => {$(
        assert_eq!($run::<$E, Cpu>(), $run::<$E, Cuda<0>>(), "{:?}", <$E as Element>::DTYPE);
    )*};
}

#[test]
fn sums_are_those_of_the_host() {
    on_gpu!("reduce::sums_are_those_of_the_host", {
        same!(sums: u8 i32 i64 f32 f64 Complex<f64>);
    });
}

#[test]
fn extremes_and_their_positions_are_those_of_the_host() {
    on_gpu!("reduce::extremes_and_their_positions_are_those_of_the_host", {
        same!(extremes: i16 f16 bf16 f32);
    });
}

#[test]
fn means_and_variances_are_close() {
    on_gpu!("reduce::means_and_variances_are_close", {
        fn values<D: Device>() -> Vec<f32> {
            let x = cube::<f32, D>([40, 3, 900]);
            let all = [x.mean(), x.var(1), x.std(1), x.vector_norm(2.5)];
            all.iter().map(|x| x.to_device::<Cpu>().unwrap().item()).collect()
        }
        for (host, gpu) in values::<Cpu>().into_iter().zip(values::<Cuda<0>>()) {
            assert!((host - gpu).abs() <= 2e-6 * host.abs(), "{host} {gpu}");
        }
        fn spreads<E: Float, D: Device>(start: f64) -> Vec<f64> {
            let made = |far: f64| {
                let value = |at: usize| {
                    E::from_f64(if at % 2700 == 650 { far } else { start + ((at * 7 + at / 5) % 13) as f64 })
                };
                let elements = (0..12 * 900).map(value).collect();
                let host: Cube<E, Cpu> = Tensor::from_vec_sized(elements, [4, 3, 900]);
                host.to_device::<D>().unwrap()
            };
            let x = made(start);
            let mut all = host_of(&x.var_axis(axis!(2), 1).to::<f64>());
            all.extend(host_of(&x.std_axis(axis!(2), 0).to::<f64>()));
            all.extend(host_of(&x.var(0).to::<f64>()));
            all.extend(host_of(&made(f64::INFINITY).var_axis(axis!(2), 1).to::<f64>()));
            all
        }
        macro_rules! close {
            ($($type:ty, $start:expr, $error:expr;)*) => {$(
                let (host, gpu) = (spreads::<$type, Cpu>($start), spreads::<$type, Cuda<0>>($start));
                assert_eq!(host.len(), gpu.len());
                for (host, gpu) in host.into_iter().zip(gpu) {
                    let is_close = (host - gpu).abs() <= $error * host.abs() || (host.is_nan() && gpu.is_nan());
                    assert!(is_close, "{} {host} {gpu}", stringify!($type));
                }
            )*};
        }
        // (Far from 0, where sums of squares would have no digits left.)
        close! { f32, 1e4, 1e-6; bf16, 1.0, 0.01; f64, 1e8, 1e-9; }
    });
}

#[test]
fn an_expression_is_reduced() {
    on_gpu!("reduce::an_expression_is_reduced", {
        fn total<D: Device>() -> f64 {
            let (x, y) = (cube::<f64, D>([4, 5, 6]), cube::<f64, D>([4, 5, 6]));
            fused!((x * 2.0 + y).sum()).to_device::<Cpu>().unwrap().item()
        }
        assert_eq!(total::<Cpu>(), total::<Cuda<0>>());
    });
}

#[test]
fn a_division_by_zero_is_an_error() {
    on_gpu!("reduce::a_division_by_zero_is_an_error", {
        let x = tensor![6, 7].to_device::<Cuda<0>>().unwrap();
        let y = tensor![2, 0].to_device::<Cuda<0>>().unwrap();
        let error = x.try_floor_divide(&y).unwrap_err();
        assert!(matches!(error, castiron::Error::DivisionByZero { .. }), "{error}");
        assert_eq!(host(&x.floor_divide(&x)), "[1, 1]");
    });
}

/// Contiguous rows at aligned addresses and at others, columns, steps, axes apart and axes turned around, few results and many.
#[test]
fn every_layout_is_reduced() {
    on_gpu!("reduce::every_layout_is_reduced", {
        fn all<E: Real, D: Device>() -> Vec<String> {
            let mut all = Vec::new();
            for sizes in [[4, 6, 32], [1, 3, 5000], [2, 9000, 4], [700, 2, 8], [3, 40, 33]] {
                let x = cube::<E, D>(sizes);
                let apart = x.slice(s![.., 1.., ..;2]);
                let turned = x.permute(axis![2, 0, 1]);
                all.extend([host(&x.sum()), host(&apart.sum()), host(&turned.sum())]);
                all.extend([
                    host(&x.sum_axis(axis!(0))),
                    host(&apart.sum_axis(axis!(0))),
                    host(&turned.sum_axis(axis!(0))),
                ]);
                all.extend([
                    host(&x.sum_axis(axis!(1))),
                    host(&apart.sum_axis(axis!(1))),
                    host(&turned.sum_axis(axis!(1))),
                ]);
                all.extend([
                    host(&x.sum_axis(axis!(2))),
                    host(&apart.sum_axis(axis!(2))),
                    host(&turned.sum_axis(axis!(2))),
                ]);
                all.extend([host(&x.sum_axis(axis!(0, 2))), host(&turned.sum_axis(axis!(0, 2)))]);
                all.extend([host(&x.argmax()), host(&turned.argmax()), host(&apart.argmin())]);
                all.extend([host(&x.max_axis(axis!(1)).1), host(&turned.max_axis(axis!(0)).1)]);
                let line: Line<E, D> = x.reshape_sized([x.numel()]);
                all.extend([host(&line.slice(s![1..]).sum()), host(&line.slice(s![3..]).argmax())]);
            }
            all
        }
        same!(all: f32 bf16);
    });
}

/// Operands that lie as the expression is counted are read by the reduction; others are broadcast before it.
#[test]
fn expressions_of_every_layout_are_reduced() {
    on_gpu!("reduce::expressions_of_every_layout_are_reduced", {
        fn all<D: Device>() -> Vec<String> {
            let mut all = Vec::new();
            for sizes in [[4, 6, 32], [2, 9000, 4], [3, 40, 33]] {
                let (x, y) = (cube::<f64, D>(sizes), cube::<i32, D>(sizes));
                all.push(host(&fused!((x * 2.0 + y).sum())));
                all.push(host(&x.lazy().mul(&y).sum_axis(axis!(2))));
                all.push(host(&x.lazy().mul(&y).sum_axis(axis!(0))));
                all.push(host(&x.lazy().mul(&y).sum_axis(axis!(1))));
                let row = cube::<f64, D>([1, 1, sizes[2]]);
                all.push(host(&x.lazy().mul(&row).sum()));
                all.push(host(&x.lazy().mul(&y).argmax()));
            }
            all
        }
        assert_eq!(all::<Cpu>(), all::<Cuda<0>>());
    });
}

/// Steps that are long as text: logarithms of sums of complex exponentials.
#[test]
fn long_steps_are_close() {
    on_gpu!("reduce::long_steps_are_close", {
        fn values<D: Device>() -> Vec<f64> {
            let x = cube::<Complex<f64>, D>([3, 70, 4]);
            let all = [host_of(&x.logsumexp(axis!(1))), host_of(&x.logsumexp(axis!(2)))];
            all.concat().into_iter().flat_map(|x| [x.re, x.im]).collect()
        }
        for (host, gpu) in values::<Cpu>().into_iter().zip(values::<Cuda<0>>()) {
            assert!((host - gpu).abs() <= 1e-12 * host.abs().max(1.0), "{host} {gpu}");
        }
    });
}
