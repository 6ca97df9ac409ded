//! Random tensors with odd strides, on any device.

use super::On;
use castiron::{Cpu, Device, Dtype, Dyn, Tensor, axis};
use proptest::prelude::*;

pub type Cube<E, D = Cpu> = Tensor<E, (Dyn, Dyn, Dyn), D>;

/// Elements that meet few roundings, so that sums in any order are exact.
pub trait Small: Dtype {
    fn small(n: i32) -> Self;
}
macro_rules! small {
    ($($ty:ty: |$n:ident| $value:expr;)*) => {$(
        impl Small for $ty {
            fn small($n: i32) -> Self {
                $value
            }
        }
    )*};
}
small! {
    bool: |n| n % 2 == 0;
    u8: |n| n.unsigned_abs() as u8;
    i32: |n| n;
    i64: |n| n.into();
    f32: |n| n as f32;
    f64: |n| n as f64;
    castiron::f16: |n| castiron::f16::from_f32(n as f32);
    castiron::bf16: |n| castiron::bf16::from_f32(n as f32);
    castiron::Complex<f32>: |n| castiron::Complex::new(n as f32, (n % 3) as f32);
}

/// A tensor whose strides are as odd as views make them: a piece of a larger one, its axes permuted, perhaps repeated.
pub fn odd<D: Device, E: Small>(sizes: [usize; 3], seeds: &[i32], way: usize) -> Cube<E, D> {
    let order = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]][way % 6];
    // what the axes are before they are permuted, with a border
    let mut inner = [0; 3];
    for (axis, &from) in order.iter().enumerate() {
        inner[from] = sizes[axis];
    }
    let border = way / 6 % 3;
    let outer = inner.map(|size| size + border);
    let element = |[i, j, k]: [usize; 3]| E::small(seeds[(i * 7 + j * 3 + k * 5) % seeds.len()]);
    let whole = Cube::<E>::from_fn_sized(outer, element).on::<D>();
    let start = border / 2;
    let piece = whole.narrow(axis![0], start, inner[0]).narrow(axis![1], border - start, inner[1]).narrow(
        axis![2],
        0,
        inner[2],
    );
    match way % 6 {
        0 => piece,
        1 => piece.permute(axis![0, 2, 1]),
        2 => piece.permute(axis![1, 0, 2]),
        3 => piece.permute(axis![1, 2, 0]),
        4 => piece.permute(axis![2, 0, 1]),
        _ => piece.permute(axis![2, 1, 0]),
    }
}

pub fn cubes<D: Device, E: Small>() -> impl Strategy<Value = Cube<E, D>> {
    let sizes = [0..5_usize, 0..5_usize, 0..40_usize];
    (sizes, prop::collection::vec(-9..9, 1..20), 0..18_usize).prop_map(|(sizes, seeds, way)| odd(sizes, &seeds, way))
}

/// Two tensors that broadcast.
pub fn pairs<D: Device, E: Small, F: Small>() -> impl Strategy<Value = (Cube<E, D>, Cube<F, D>)> {
    let sizes = [0..4_usize, 0..5_usize, 0..20_usize];
    let seeds = || prop::collection::vec(-9..9, 1..20);
    (sizes, [0..3, 0..3, 0..3], seeds(), seeds(), 0..18_usize, 0..18_usize).prop_map(
        |(sizes, repeats, a, b, way_a, way_b)| {
            // 0: both have the axis, 1: the left repeats, 2: the right does
            let left = [0, 1, 2].map(|axis| if repeats[axis] == 1 { 1 } else { sizes[axis] });
            let right = [0, 1, 2].map(|axis| if repeats[axis] == 2 { 1 } else { sizes[axis] });
            (odd(left, &a, way_a), odd(right, &b, way_b))
        },
    )
}
