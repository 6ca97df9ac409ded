//! The kernels of each instruction set.

use super::dots::{self, Dots};
use super::sums::{Lanes, packed_tile, tile};
use super::{Kernels, TileArgs, last_tiles};
use crate::cpu::conv::{stem, winograd};
use crate::dtype::MachineFloat;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

/// A mask of AVX with the first `count` lanes set: of four bytes each, or eight.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn first_lanes<const WIDTH: usize>(count: usize) -> *const __m256i {
    static LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    LANES[8 - count.min(32 / WIDTH) * (WIDTH / 4)..].as_ptr().cast()
}

/// The first `count` numbers, padded with zeros.
///
/// # Safety
/// There are `count` numbers, at most `LEN`.
unsafe fn first<T: Copy + Default, const LEN: usize>(from: *const T, count: usize) -> [T; LEN] {
    let mut numbers = [T::default(); LEN];
    // SAFETY: the caller's promise.
    unsafe { numbers.as_mut_ptr().copy_from_nonoverlapping(from, count) }
    numbers
}

/// `a * b + c`, fused where the machine's baseline has an instruction for it.
#[inline(always)]
fn plain<T: MachineFloat>(a: T, b: T, c: T) -> T {
    if cfg!(target_arch = "aarch64") { a.mul_add(b, c) } else { a * b + c }
}

/// Writes the kernels of an instruction set: `Name: number as vector [lanes], attributes, [pixels]; load, store, load_first, store_first, spread,
/// multiply_add`.
macro_rules! kernels {
    ($($name:ident: $number:ty as $vector:ty [$lanes:literal], $(#[$attributes:meta])* [$($pixels:literal)*];
       |$from:ident| $load:expr; |$stored:ident, $to:ident| $store:expr;
       |$first:ident, $len:ident| $load_first:expr; |$last:ident, $there:ident, $count:ident| $store_first:expr; |$one:ident| $spread:expr; |$a:ident, $b:ident, $c:ident| $fma:expr;)*) => {$(
        pub(super) struct $name;
        impl Lanes for $name {
            type Number = $number;
            type Vector = $vector;
            const LEN: usize = $lanes;
            #[inline(always)]
            unsafe fn load($from: *const $number) -> $vector {
                // SAFETY: the caller's promise.
                unsafe { $load }
            }
            #[inline(always)]
            unsafe fn store($stored: $vector, $to: *mut $number) {
                // SAFETY: the caller's promise.
                unsafe { $store }
            }
            #[inline(always)]
            unsafe fn load_first($first: *const $number, $len: usize) -> $vector {
                // SAFETY: the caller's promise.
                unsafe { $load_first }
            }
            #[inline(always)]
            unsafe fn store_first($last: $vector, $there: *mut $number, $count: usize) {
                // SAFETY: the caller's promise.
                unsafe { $store_first }
            }
            #[inline(always)]
            #[allow(unused_unsafe, reason = "some vectors are arrays")]
            unsafe fn spread($one: $number) -> $vector {
                // SAFETY: the caller promises that the machine has the instruction.
                unsafe { $spread }
            }
            #[inline(always)]
            #[allow(unused_unsafe, reason = "some vectors are arrays")]
            unsafe fn multiply_add($a: $vector, $b: $vector, $c: $vector) -> $vector {
                // SAFETY: as above.
                unsafe { $fma }
            }
        }
        impl $name {
            pub(super) const KERNELS: Kernels<$number> = Kernels { strip: 2 * $lanes, pixels: &[$($pixels),*], last: &const { last_tiles(&[$($pixels),*]) }, run: Self::run, run_packed: Self::run_packed, run_packing: Self::run_packing, dots: [Self::dots::<{ dots::TILE[0] }, { dots::TILE[1] }>, Self::dots::<{ dots::LINE[0] }, { dots::LINE[1] }>], winograd: winograd::Transforms {
                    inputs: [Self::inputs::<1>, Self::inputs::<2>],
                    windows: [Self::windows::<1>, Self::windows::<2>],
                    results: [Self::results::<1>, Self::results::<2>],
                },
                stem: stem::Transforms { lines: Self::stem_lines, windows: Self::stem_windows, results: Self::stem_results } };
            $(#[$attributes])*
            unsafe fn run(pixels: usize, args: &TileArgs<'_, $number>) {
                match pixels {
                    // SAFETY: the caller's promise.
                    $($pixels if args.columns > $lanes => unsafe { tile::<$name, $pixels, 2>(args) },)*
                    // SAFETY: the caller's promise; one vector holds all columns.
                    $($pixels => unsafe { tile::<$name, $pixels, 1>(args) },)*
                    _ => unreachable!("a number of pixels without a kernel"),
                }
            }
            $(#[$attributes])*
            unsafe fn run_packed(pixels: usize, args: &TileArgs<'_, $number>) {
                match pixels {
                    // SAFETY: the caller's promise.
                    $($pixels => unsafe { packed_tile::<$name, $pixels, false>(args, core::ptr::null_mut()) },)*
                    _ => unreachable!("a number of pixels without a kernel"),
                }
            }
            $(#[$attributes])*
            unsafe fn run_packing(args: &TileArgs<'_, $number>, strips: *mut $number) {
                // SAFETY: the caller's promise.
                unsafe { packed_tile::<$name, { [$($pixels),*][0] }, true>(args, strips) }
            }
            $(#[$attributes])*
            unsafe fn dots<const ROWS: usize, const COLUMNS: usize>(args: &Dots<$number>) {
                // SAFETY: the caller's promise.
                unsafe { dots::dots::<$name, ROWS, COLUMNS>(args) }
            }
            $(#[$attributes])*
            unsafe fn inputs<const STRIDE: usize>(args: &winograd::Inputs<'_, $number>) {
                // SAFETY: the caller's promise.
                unsafe { winograd::inputs::<$name, STRIDE>(args) }
            }
            $(#[$attributes])*
            unsafe fn windows<const STRIDE: usize>(args: &winograd::Windows<$number>) {
                // SAFETY: the caller's promise.
                unsafe { winograd::windows::<$name, STRIDE>(args) }
            }
            $(#[$attributes])*
            unsafe fn results<const STRIDE: usize>(args: &winograd::Results<'_, $number>) -> bool {
                // SAFETY: the caller's promise.
                unsafe { winograd::results::<$name, STRIDE>(args) }
            }
            $(#[$attributes])*
            unsafe fn stem_lines(args: &stem::Lines<$number>) {
                // SAFETY: the caller's promise.
                unsafe { stem::lines::<$name>(args) }
            }
            $(#[$attributes])*
            unsafe fn stem_windows(args: &stem::Windows<$number>) {
                // SAFETY: the caller's promise.
                unsafe { stem::windows::<$name>(args) }
            }
            $(#[$attributes])*
            unsafe fn stem_results(args: &stem::Results<$number>) -> bool {
                // SAFETY: the caller's promise.
                unsafe { stem::results::<$name>(args) }
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
kernels! {
    Avx512Single: f32 as __m512 [16], #[target_feature(enable = "avx512f,avx2,fma")] [14 12 10 8 7 6 4 3 2 1];
        |from| _mm512_loadu_ps(from); |v, to| _mm512_storeu_ps(to, v);
        |from, len| _mm512_maskz_loadu_ps(((1_u32 << len) - 1) as __mmask16, from);
        |v, to, len| _mm512_mask_storeu_ps(to, ((1_u32 << len) - 1) as __mmask16, v); |one| _mm512_set1_ps(one); |a, b, c| _mm512_fmadd_ps(a, b, c);
    Avx512Double: f64 as __m512d [8], #[cfg_attr(not(feature = "precompiled"), inline)] #[target_feature(enable = "avx512f,avx2,fma")] [14 12 10 8 7 6 4 3 2 1];
        |from| _mm512_loadu_pd(from); |v, to| _mm512_storeu_pd(to, v);
        |from, len| _mm512_maskz_loadu_pd(((1_u32 << len) - 1) as __mmask8, from);
        |v, to, len| _mm512_mask_storeu_pd(to, ((1_u32 << len) - 1) as __mmask8, v); |one| _mm512_set1_pd(one); |a, b, c| _mm512_fmadd_pd(a, b, c);
    Avx2Single: f32 as __m256 [8], #[target_feature(enable = "avx2,fma")] [6 5 4 3 2 1];
        |from| _mm256_loadu_ps(from); |v, to| _mm256_storeu_ps(to, v);
        |from, len| _mm256_maskload_ps(from, _mm256_loadu_si256(first_lanes::<4>(len)));
        |v, to, len| _mm256_maskstore_ps(to, _mm256_loadu_si256(first_lanes::<4>(len)), v); |one| _mm256_set1_ps(one); |a, b, c| _mm256_fmadd_ps(a, b, c);
    Avx2Double: f64 as __m256d [4], #[cfg_attr(not(feature = "precompiled"), inline)] #[target_feature(enable = "avx2,fma")] [6 5 4 3 2 1];
        |from| _mm256_loadu_pd(from); |v, to| _mm256_storeu_pd(to, v);
        |from, len| _mm256_maskload_pd(from, _mm256_loadu_si256(first_lanes::<8>(len)));
        |v, to, len| _mm256_maskstore_pd(to, _mm256_loadu_si256(first_lanes::<8>(len)), v); |one| _mm256_set1_pd(one); |a, b, c| _mm256_fmadd_pd(a, b, c);
}
kernels! {
    PlainSingle: f32 as [f32; 8] [8], [4 2 1];
        |from| from.cast::<[f32; 8]>().read_unaligned(); |v, to| to.cast::<[f32; 8]>().write_unaligned(v);
        |from, len| first(from, len); |v, to, len| to.copy_from_nonoverlapping(v.as_ptr(), len);
        |one| [one; 8]; |a, b, c| core::array::from_fn(|lane| plain(a[lane], b[lane], c[lane]));
    PlainDouble: f64 as [f64; 4] [4], #[cfg_attr(not(feature = "precompiled"), inline)] [4 2 1];
        |from| from.cast::<[f64; 4]>().read_unaligned(); |v, to| to.cast::<[f64; 4]>().write_unaligned(v);
        |from, len| first(from, len); |v, to, len| to.copy_from_nonoverlapping(v.as_ptr(), len);
        |one| [one; 4]; |a, b, c| core::array::from_fn(|lane| plain(a[lane], b[lane], c[lane]));
}
