//! Packing, blocking and edges, with the instructions emulated in plain Rust; and the machine's own instructions, where available.

use super::plain::plain;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::x86::amx;
#[cfg(target_arch = "x86_64")]
use super::x86::{avx2, avx512};
use super::*;
use crate::cpu::gemm::{Epilogue, GemmTask, Product};
use crate::cpu::{half_gemm, integer_gemm};
use crate::dtype::{MachineInt, bf16};
use crate::error::Result;
use num_traits::AsPrimitive;

/// Flushes denormals to zero.
fn flush(x: f32) -> f32 {
    if x.is_subnormal() { 0.0_f32.copysign(x) } else { x }
}

/// `vdpbf16ps`
fn add_pair(mut sum: f32, a: u32, b: u32) -> f32 {
    for half in [16, 0] {
        let [a, b] = [a, b].map(|group| flush(f32::from_bits((group >> half) << 16)));
        sum = flush(a.mul_add(b, flush(sum)));
    }
    sum
}

/// `vpdpbusd`
fn add_four(sum: i32, a: u32, b: u32) -> i32 {
    let products = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
    products.fold(sum, |sum, (a, b)| sum.wrapping_add(i32::from(a) * i32::from(b.cast_signed())))
}

plain! {
    EmulatedHalves: bf16, bf16 as u32 => [f32; 16 * 4], |sum, a, b| add_pair(sum, a, b);
    EmulatedBytes: u8, i8 as u32 => [i32; 16 * 4], |sum, a, b| add_four(sum, a, b);
}

/// Sizes around those of tiles, strips and groups, and beyond those of blocks.
fn sizes() -> Vec<[usize; 3]> {
    let edges = [1, 2, 5, 6, 7, 15, 16, 17, 63, 64, 65, 70];
    let mut all: Vec<_> = (0..90).map(|at| [edges[at % 12], edges[at / 5 % 12], edges[at / 7 % 12]]).collect();
    all.extend([[1, 600, 3], [7, 513, 70], [125, 1030, 20], [3, 2050, 9], [9, 3, 1100], [125, 3, 1025]]);
    all
}

/// Row-major, column-major and padded strides, each with its buffer length.
fn layouts([rows, columns]: [usize; 2]) -> [([usize; 2], usize); 3] {
    [([columns, 1], rows * columns), ([1, rows], rows * columns), ([2 * columns + 3, 2], rows * (2 * columns + 3))]
}

fn naive<T: Copy>(
    [m, k, n]: [usize; 3],
    (a, a_steps): (&[T], [usize; 2]),
    (b, b_steps): (&[T], [usize; 2]),
    number: impl Fn(T) -> i64,
) -> Vec<i64> {
    let mut sums = vec![0; m * n];
    for (at, sum) in sums.iter_mut().enumerate() {
        for p in 0..k {
            let (x, y) = (a[at / n * a_steps[0] + p * a_steps[1]], b[p * b_steps[0] + at % n * b_steps[1]]);
            *sum = i64::wrapping_add(*sum, number(x).wrapping_mul(number(y)));
        }
    }
    sums
}

/// Pseudorandom numbers.
fn noise(len: usize, seed: u32) -> impl Iterator<Item = u32> {
    (0..len as u32).map(move |at| {
        let x = (at ^ seed << 20).wrapping_mul(0x9e37_79b9);
        (x ^ x >> 15).wrapping_mul(0x85eb_ca6b) >> 8
    })
}

fn product_of_halves<D: Dot<Group = u32, Left = bf16, Right = bf16, Sum = f32>>(
    sizes: [usize; 3],
    (a, left_steps): (&[bf16], [usize; 2]),
    (b, right_steps): (&[bf16], [usize; 2]),
    threads: usize,
) -> Vec<bf16> {
    let mut result = vec![bf16::from_f32(f32::NAN); sizes[0] * sizes[2]];
    let finish = Epilogue { input: None, steps: [0; 2], beta: 1.0, alpha: 1.0 };
    let (left, right, out) = (a.as_ptr(), b.as_ptr(), result.as_mut_ptr());
    half_gemm::by_pairs::<D>(GemmTask { sizes, out, left, left_steps, right, right_steps, finish, threads }).unwrap();
    result
}

/// Integers, whose sums are exact, so that only the result is rounded.
fn halves_are_naive<D: Dot<Group = u32, Left = bf16, Right = bf16, Sum = f32>>() {
    for (at, sizes @ [m, k, n]) in sizes().into_iter().enumerate() {
        let (left_steps, left_len) = layouts([m, k])[at % 3];
        let (right_steps, right_len) = layouts([k, n])[at / 3 % 3];
        let whole =
            |len, seed| -> Vec<bf16> { noise(len, seed).map(|x| bf16::from_f32((x % 33) as f32 - 16.0)).collect() };
        let (a, b) = (whole(left_len, 1), whole(right_len, 2));
        let out = product_of_halves::<D>(sizes, (&a, left_steps), (&b, right_steps), 1 + at % 4);
        let expected = naive(sizes, (&a, left_steps), (&b, right_steps), |x| x.to_f32() as i64);
        let expected: Vec<bf16> = expected.into_iter().map(|sum| bf16::from_f32(sum as f32)).collect();
        assert!(out == expected, "{sizes:?} {left_steps:?} {right_steps:?}");
    }
}

/// Bytes of either sign in 32 bits.
fn bytes_are_naive(multiply: fn(integer_gemm::ByteProduct<u8>, bool) -> Result<()>) {
    for (at, sizes @ [m, k, n]) in sizes().into_iter().enumerate() {
        let signed = at % 2 == 1;
        let (left_steps, left_len) = layouts([m, k])[at % 3];
        let (right_steps, right_len) = layouts([k, n])[at / 3 % 3];
        let bytes = |len, seed| -> Vec<u8> { noise(len, seed).map(|x| x as u8).collect() };
        let (a, b) = (bytes(left_len, 1), bytes(right_len, 2));
        let mut result = vec![i32::MIN; m * n];
        let (left, right, out) = (a.as_ptr(), b.as_ptr().cast(), result.as_mut_ptr());
        let threads = 1 + at % 4;
        multiply(integer_gemm::ByteProduct { sizes, left, left_steps, right, right_steps, out, threads }, signed)
            .unwrap();
        let wide = |x: &u8| if signed { i16::from(x.cast_signed()) } else { i16::from(*x) };
        let (a, b): (Vec<i16>, Vec<i16>) =
            (a.iter().map(wide).collect(), b.iter().map(|x| i16::from(x.cast_signed())).collect());
        let expected = naive(sizes, (&a, left_steps), (&b, right_steps), i64::from);
        let expected: Vec<i32> = expected.into_iter().map(|sum| sum as i32).collect();
        assert!(result == expected, "{sizes:?} {left_steps:?} {right_steps:?} {signed}");
    }
}

/// Integers of any bits, which wrap around.
fn integers_are_naive<D: Dot, T: MachineInt + Default + AsPrimitive<i64>>()
where
    D::Left: From<T>,
    D::Right: From<T>,
    D::Sum: AsPrimitive<T>,
    u64: AsPrimitive<T>,
    i64: AsPrimitive<T>,
{
    for (at, sizes @ [m, k, n]) in sizes().into_iter().enumerate().step_by(3) {
        let (left_steps, left_len) = layouts([m, k])[at / 3 % 3];
        let (right_steps, right_len) = layouts([k, n])[at / 9 % 3];
        let any = |len, seed| -> Vec<T> {
            noise(len, seed)
                .map(|x| u64::from(x).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(x % 64).as_())
                .collect()
        };
        let (a, b) = (any(left_len, 1), any(right_len, 2));
        let mut result = vec![T::default(); m * n];
        let (left, right, out) = (a.as_ptr(), b.as_ptr(), result.as_mut_ptr());
        let (alpha, threads) = (T::one(), 1 + at % 4);
        integer_gemm::run::<D, T>(Product {
            sizes,
            out,
            out_step: n,
            left,
            left_steps,
            right,
            right_steps,
            alpha,
            adds: true,
            threads,
        })
        .unwrap();
        let expected = naive(sizes, (&a, left_steps), (&b, right_steps), |x| x.as_());
        let expected: Vec<T> = expected.into_iter().map(|sum| sum.as_()).collect();
        assert!(result == expected, "{sizes:?} {left_steps:?} {right_steps:?}");
    }
}

#[test]
fn products_in_plain_rust_are_loops() {
    halves_are_naive::<EmulatedHalves>();
    bytes_are_naive(integer_gemm::of_unsigned::<EmulatedBytes>);
    integers_are_naive::<plain::Shorts, i8>();
    integers_are_naive::<plain::Shorts, i16>();
    integers_are_naive::<plain::Words, i32>();
    integers_are_naive::<plain::Longs, i64>();
}

#[cfg(target_arch = "x86_64")]
#[test]
fn products_by_instructions_are_loops() {
    if avx2::Shorts::is_there() {
        integers_are_naive::<avx2::Shorts, i8>();
        integers_are_naive::<avx2::Shorts, i16>();
        integers_are_naive::<avx2::Words, i32>();
        integers_are_naive::<avx2::Longs, i64>();
    }
    if avx512::Bytes::is_there() && avx512::Longs::is_there() {
        bytes_are_naive(integer_gemm::of_unsigned::<avx512::Bytes>);
        integers_are_naive::<avx512::Shorts, i8>();
        integers_are_naive::<avx512::Shorts, i16>();
        integers_are_naive::<avx512::Words, i32>();
        integers_are_naive::<avx512::Longs, i64>();
    }
    if avx512::Halves::is_there() {
        halves_are_naive::<avx512::Halves>();
        let sizes @ [m, k, n] = [65, 701, 90];
        let (a, b) = (any_halves(m * k, 3), any_halves(k * n, 4));
        let [own, emulated] = [product_of_halves::<avx512::Halves>, product_of_halves::<EmulatedHalves>]
            .map(|product| product(sizes, (&a, [k, 1]), (&b, [n, 1]), 2));
        assert!(are_same(&own, &emulated));
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn products_by_tiles_are_loops() {
    if amx::Bytes::is_there() {
        bytes_are_naive(integer_gemm::by_tiles::<u8>);
    }
    if amx::Halves::is_there() {
        halves_are_naive::<amx::Halves>();
        // On a thread that has not used tiles before.
        std::thread::spawn(halves_are_naive::<amx::Halves>).join().unwrap();
        // Infinities and NaN as in the plain loop.
        let sizes @ [m, k, n] = [65, 701, 90];
        let (a, b) = (any_halves(m * k, 3), any_halves(k * n, 4));
        let [own, emulated] = [product_of_halves::<amx::Halves>, product_of_halves::<EmulatedHalves>]
            .map(|product| product(sizes, (&a, [k, 1]), (&b, [n, 1]), 2));
        for (own, emulated) in own.iter().zip(&emulated) {
            let [own, emulated] = [own, emulated].map(|x| x.to_f32());
            let near = (own - emulated).abs() <= 0.01 * emulated.abs().max(1.0);
            assert!(near || own == emulated || own.is_nan() && emulated.is_nan(), "{own} instead of {emulated}");
        }
    }
}

fn are_same(a: &[bf16], b: &[bf16]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan())
}

/// Any values, including denormals, infinities and NaN.
fn any_halves(len: usize, seed: u32) -> Vec<bf16> {
    noise(len, seed)
        .map(|x| match x % 1000 {
            0 => bf16::from_bits(x as u16 >> 3),
            1 => bf16::from_bits(1 + (x >> 4) as u16 % 0x7f),
            _ => bf16::from_f32((x % 4001) as f32 / 1000.0 - 2.0),
        })
        .collect()
}

/// Every sum adds its terms in order, the second of each pair first, whatever the blocks and threads.
#[test]
fn sums_are_those_of_pairs_in_order() {
    let sizes @ [m, k, n] = [13, 1101, 70];
    let (a, b) = (any_halves(m * k, 1), any_halves(k * n, 2));
    let mut expected = vec![bf16::from_f32(0.0); m * n];
    for (at, out) in expected.iter_mut().enumerate() {
        let mut sum = 0.0;
        for low in (0..k).step_by(2) {
            for p in (low..k.min(low + 2)).rev() {
                let [x, y] = [a[at / n * k + p], b[p * n + at % n]].map(|x| flush(x.to_f32()));
                sum = flush(x.mul_add(y, sum));
            }
        }
        *out = bf16::from_f32(sum);
    }
    for threads in [1, 3] {
        let out = product_of_halves::<EmulatedHalves>(sizes, (&a, [k, 1]), (&b, [n, 1]), threads);
        assert!(are_same(&out, &expected));
    }
}
