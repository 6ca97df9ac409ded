//! Elementwise operations: the same generic code on the host and on a GPU gives the same elements.

use crate::on_gpu;
use castiron::cuda_test_hooks::compilations;
use castiron::{
    Complex, Cpu, Cuda, Device, Dtype, Element, Error, Numeric, Result, Shape, Tensor, axis, bf16, f16, fused, s, shape,
};

type Matrix<E, D> = Tensor<E, shape![_, _], D>;

/// A matrix of small numbers, some of them equal, on a device.
fn matrix<E: Dtype, D: Device>(rows: usize, columns: usize, step: f64) -> Matrix<E, D> {
    let value = |at: usize| E::from_f64(((at * 7 + 3) % 11) as f64 * step + 1.0);
    let host: Matrix<E, Cpu> = Tensor::from_vec_sized((0..rows * columns).map(value).collect(), [rows, columns]);
    host.to_device::<D>().unwrap()
}

fn host<E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Vec<E> {
    x.to_device::<Cpu>().unwrap().to_vec()
}

/// Runs generic code on both devices and compares what it gives.
macro_rules! same {
    ($what:literal, $run:ident::<$E:ty>) => {
        let (host, gpu) = ($run::<$E, Cpu>().unwrap(), $run::<$E, Cuda<0>>().unwrap());
        assert_eq!(format!("{host:?}"), format!("{gpu:?}"), "{} of {:?}", $what, <$E as Element>::DTYPE);
    };
}

macro_rules! for_each_dtype {
    ($what:literal, $run:ident: $($E:ty)*) => {$( same!($what, $run::<$E>); )*};
}

/// Contiguous operands, a transposed one, one with steps, a broadcast row; new results and results in place.
fn arithmetic<E: Numeric, D: Device>() -> Result<Vec<Vec<E>>> {
    let (a, b) = (matrix::<E, D>(5, 7, 1.0), matrix::<E, D>(5, 7, 2.0));
    let (turned, row) = (matrix::<E, D>(7, 5, 1.0), matrix::<E, D>(1, 7, 3.0));
    let mut all = vec![
        host(&(&a + &b)),
        host(&(&a - &b)),
        host(&(&a * turned.t())),
        host(&(&a * &row)),
        host(&(a.slice(s![.., 2..7]) + turned.slice(s![1..6]))),
        host(&-&a),
        host(&a.square()),
    ];
    let mut c = a.clone();
    c += &b;
    c *= &row;
    all.push(host(&c));
    let mut d = turned.t().clone();
    d -= &a;
    all.push(host(&d));
    Ok(all)
}

#[test]
fn arithmetic_is_that_of_the_host() {
    on_gpu!("elementwise::arithmetic_is_that_of_the_host", {
        for_each_dtype!("arithmetic", arithmetic: u8 i8 i16 i32 i64 f16 bf16 f32 f64);
    });
}

/// Rows and columns for all, operands along other axes (through tiles), steps, blocks of larger tensors, in place.
fn layouts<E: Numeric, D: Device>() -> Result<Vec<Vec<E>>> {
    let mut all = Vec::new();
    for [rows, columns] in [[64, 96], [33, 144], [40, 24]] {
        let (a, b) = (matrix::<E, D>(rows, columns, 1.0), matrix::<E, D>(columns, rows, 2.0));
        let (row, column) = (matrix::<E, D>(1, columns, 3.0), matrix::<E, D>(rows, 1, 1.0));
        all.push(host(&(&a + &row)));
        all.push(host(&(&a - &column)));
        all.push(host(&(&row * &column)));
        all.push(host(&(&a + b.t())));
        all.push(host(&(b.t() - &column)));
        all.push(host(&(b.t() * b.t())));
        all.push(host(&b.t().contiguous()));
        all.push(host(&(a.slice(s![1.., 8..]) + b.t().slice(s![1.., 8..]))));
        all.push(host(&(a.slice(s![.., 8..24]) + &matrix::<E, D>(rows, 16, 1.0))));
        let mut c = a.clone();
        c += b.t();
        c *= &row;
        all.push(host(&c));
        let cube = b.t().contiguous().reshape_sized::<shape![_, _, _]>([2, rows * columns / 16, 8]);
        all.push(host(&cube.permute(axis![1, 0, 2]).contiguous()));
        all.push(host(&cube.permute(axis![2, 1, 0]).contiguous()));
        all.push(host(&cube.permute(axis![0, 2, 1]).contiguous()));
        all.push(host(&(cube.permute(axis![2, 0, 1]).contiguous() + cube.permute(axis![2, 0, 1]))));
    }
    // More tiles side by side than are in a band.
    all.push(host(&matrix::<E, D>(1100, 70, 1.0).t().contiguous()));
    Ok(all)
}

#[test]
fn every_layout_is_computed() {
    on_gpu!("elementwise::every_layout_is_computed", {
        for_each_dtype!("layouts", layouts: i8 bf16 f32 f64);
        for_each_dtype!("layouts", layouts: Complex<f64>);
    });
}

/// Zero-dim tensors of the host as parts of expressions: on both sides, promoted, in place, reduced, dividing.
macro_rules! with_host_values {
    ($device:ty, $weight:expr) => {{
        let (a, b) = (matrix::<f32, $device>(5, 7, 1.0), matrix::<i32, $device>(5, 7, 2.0));
        let turned = matrix::<f32, $device>(7, 5, 1.0);
        let weight: Tensor<f64, shape![], Cpu> = Tensor::full($weight);
        let count: Tensor<i32, shape![], Cpu> = Tensor::full($weight as i32);
        let mut c = a.clone();
        c.assign(a.lazy() * &weight + 1.0);
        c += a.lazy() - weight.clone();
        vec![
            host(&(a.lazy() * &weight + &b).eval()),
            host(&(a.lazy() + turned.t().lazy() * weight.clone()).eval()),
            host(&fused!(a * &weight - b)),
            host(&fused!((b % &count) * &weight).to::<f32>()),
            vec![host(&(a.lazy() * &weight).sum())[0]],
            host(&c),
        ]
    }};
}

#[test]
fn a_zero_dim_tensor_of_the_host_joins_an_expression() {
    on_gpu!("elementwise::a_zero_dim_tensor_of_the_host_joins_an_expression", ["CASTIRON_CUDA_CACHE" = ""], {
        assert_eq!(with_host_values!(Cpu, 2.5), with_host_values!(Cuda<0>, 2.5));
        // It is an argument: another value is no other kernel.
        let compiled = compilations();
        assert_eq!(with_host_values!(Cpu, 3.0), with_host_values!(Cuda<0>, 3.0));
        assert_eq!(compilations(), compiled);
        let (a, zero) = (matrix::<i32, Cuda<0>>(2, 3, 1.0), Tensor::<i32, shape![], Cpu>::full(0));
        assert!(matches!((a.lazy() % &zero).try_eval(), Err(Error::DivisionByZero { .. })));
    });
}
