//! The instructions of AVX2 and AVX-512 that multiply and add groups of terms.

use super::{Dot, Tile, tile_of};
use crate::dtype::bf16;
use core::arch::x86_64::*;
use core::mem::transmute;

/// Whether the machine has all of these features; asked once.
macro_rules! has {
    ($($feature:tt)*) => { true $(&& std::arch::is_x86_feature_detected!($feature))* };
}

/// Writes a [`Dot`]: what it takes and gives, how vectors are made, loaded and stored, and how they are multiplied.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident [$features:literal: $($feature:tt)*] $left:ty, $right:ty as $group:ty => [$sum:ty; $lanes:literal * $vectors:literal],
       sums $sums:ty { $zero:expr; |$from:ident| $load:expr; |$stored:ident, $to:ident| $store:expr }
       spread $spread:ty { |$group_:ident| $one:expr }
       groups $groups:ty { |$place:ident| $each:expr }
       dot { |$s:ident, $a:ident, $b:ident| $dot:expr })*) => {$(
        $(#[$doc])*
        pub(in crate::cpu) struct $name;
        impl $name {
            pub(in crate::cpu) fn is_there() -> bool {
                has!($($feature)*)
            }
        }
        impl Dot for $name {
            type Group = $group;
            type Left = $left;
            type Right = $right;
            type Sum = $sum;
            type Sums = $sums;
            type Spread = $spread;
            type Groups = $groups;
            const LANES: usize = $lanes;
            const VECTORS: usize = $vectors;
            #[inline(always)]
            unsafe fn zero() -> $sums {
                // SAFETY: the caller's promise: the machine has the instructions.
                unsafe { $zero }
            }
            #[inline(always)]
            unsafe fn load($from: *const $sum) -> $sums {
                // SAFETY: as above; the places are those of as many sums.
                unsafe { $load }
            }
            #[inline(always)]
            unsafe fn store($stored: $sums, $to: *mut $sum) {
                // SAFETY: as above.
                unsafe { $store }
            }
            #[inline(always)]
            unsafe fn spread($group_: $group) -> $spread {
                // SAFETY: as above; all values of a vector are valid.
                unsafe { $one }
            }
            #[inline(always)]
            unsafe fn groups($place: *const $group) -> $groups {
                // SAFETY: as above; the places are those of as many groups.
                unsafe { $each }
            }
            #[inline(always)]
            unsafe fn dot($s: $sums, $a: $spread, $b: $groups) -> $sums {
                // SAFETY: as above.
                unsafe { $dot }
            }
            unsafe fn tile(vectors: usize, tile: Tile<$group, $sum>) {
                #[target_feature(enable = $features)]
                unsafe fn enabled(vectors: usize, tile: Tile<$group, $sum>) {
                    // SAFETY: the caller's promise.
                    unsafe { tile_of::<$name>(vectors, tile) }
                }
                // SAFETY: the caller's promise.
                unsafe { enabled(vectors, tile) }
            }
        }
    )*};
}

/// The instructions of AVX2.
pub(in crate::cpu) mod avx2 {
    use super::*;
    instructions! {
        /// Pairs of 16-bit integers, in 32 bits.
        Shorts ["avx2": "avx2"] i16, i16 as u32 => [i32; 8 * 2],
            sums __m256i { _mm256_setzero_si256(); |from| _mm256_loadu_si256(from.cast()); |sums, to| _mm256_storeu_si256(to.cast(), sums) }
            spread __m256i { |group| _mm256_set1_epi32(group.cast_signed()) }
            groups __m256i { |place| _mm256_loadu_si256(place.cast()) }
            dot { |sums, a, b| _mm256_add_epi32(sums, _mm256_madd_epi16(a, b)) }
        /// 32-bit integers.
        Words ["avx2": "avx2"] i32, i32 as u32 => [i32; 8 * 2],
            sums __m256i { _mm256_setzero_si256(); |from| _mm256_loadu_si256(from.cast()); |sums, to| _mm256_storeu_si256(to.cast(), sums) }
            spread __m256i { |group| _mm256_set1_epi32(group.cast_signed()) }
            groups __m256i { |place| _mm256_loadu_si256(place.cast()) }
            dot { |sums, a, b| _mm256_add_epi32(sums, _mm256_mullo_epi32(a, b)) }
        /// 64-bit integers: the products of low halves, and those of a low and a high one, which are brought together at the end.
        Longs ["avx2": "avx2"] i64, i64 as u64 => [i64; 4 * 1],
            sums [__m256i; 2] {
                [_mm256_setzero_si256(); 2];
                |from| [_mm256_loadu_si256(from.cast()), _mm256_setzero_si256()];
                |sums, to| {
                    let crossed = _mm256_add_epi32(sums[1], _mm256_srli_epi64::<32>(sums[1]));
                    _mm256_storeu_si256(to.cast(), _mm256_add_epi64(sums[0], _mm256_slli_epi64::<32>(crossed)))
                }
            }
            spread __m256i { |group| _mm256_set1_epi64x(group.cast_signed()) }
            groups [__m256i; 2] { |place| {
                let whole = _mm256_loadu_si256(place.cast());
                [whole, _mm256_shuffle_epi32::<0b10_11_00_01>(whole)]
            } }
            dot { |sums, a, b| [
                _mm256_add_epi64(sums[0], _mm256_mul_epu32(a, b[0])),
                _mm256_add_epi32(sums[1], _mm256_mullo_epi32(a, b[1])),
            ] }
    }
}

/// The instructions of AVX-512.
pub(in crate::cpu) mod avx512 {
    use super::*;
    instructions! {
        /// Pairs of `bf16`: the product of the second terms is added first, then that of the first ones, each sum being rounded to
        /// the nearest whatever the rounding mode. Denormals, taken and given, are zeros.
        Halves ["avx512f,avx512bf16": "avx512f" "avx512bf16"] bf16, bf16 as u32 => [f32; 16 * 4],
            sums __m512 { _mm512_setzero_ps(); |from| _mm512_loadu_ps(from); |sums, to| _mm512_storeu_ps(to, sums) }
            spread __m512bh { |group| transmute::<__m512i, __m512bh>(_mm512_set1_epi32(group.cast_signed())) }
            groups __m512bh { |place| transmute::<__m512i, __m512bh>(_mm512_loadu_si512(place.cast())) }
            dot { |sums, a, b| _mm512_dpbf16_ps(sums, a, b) }
        /// Fours of unsigned bytes and signed ones, in 32 bits.
        Bytes ["avx512f,avx512vnni": "avx512f" "avx512vnni"] u8, i8 as u32 => [i32; 16 * 4],
            sums __m512i { _mm512_setzero_si512(); |from| _mm512_loadu_si512(from.cast()); |sums, to| _mm512_storeu_si512(to.cast(), sums) }
            spread __m512i { |group| _mm512_set1_epi32(group.cast_signed()) }
            groups __m512i { |place| _mm512_loadu_si512(place.cast()) }
            dot { |sums, a, b| _mm512_dpbusd_epi32(sums, a, b) }
        /// Pairs of 16-bit integers, in 32 bits.
        Shorts ["avx512f,avx512vnni": "avx512f" "avx512vnni"] i16, i16 as u32 => [i32; 16 * 4],
            sums __m512i { _mm512_setzero_si512(); |from| _mm512_loadu_si512(from.cast()); |sums, to| _mm512_storeu_si512(to.cast(), sums) }
            spread __m512i { |group| _mm512_set1_epi32(group.cast_signed()) }
            groups __m512i { |place| _mm512_loadu_si512(place.cast()) }
            dot { |sums, a, b| _mm512_dpwssd_epi32(sums, a, b) }
        /// 32-bit integers.
        Words ["avx512f": "avx512f"] i32, i32 as u32 => [i32; 16 * 4],
            sums __m512i { _mm512_setzero_si512(); |from| _mm512_loadu_si512(from.cast()); |sums, to| _mm512_storeu_si512(to.cast(), sums) }
            spread __m512i { |group| _mm512_set1_epi32(group.cast_signed()) }
            groups __m512i { |place| _mm512_loadu_si512(place.cast()) }
            dot { |sums, a, b| _mm512_add_epi32(sums, _mm512_mullo_epi32(a, b)) }
        /// 64-bit integers.
        Longs ["avx512f,avx512dq": "avx512f" "avx512dq"] i64, i64 as u64 => [i64; 8 * 4],
            sums __m512i { _mm512_setzero_si512(); |from| _mm512_loadu_si512(from.cast()); |sums, to| _mm512_storeu_si512(to.cast(), sums) }
            spread __m512i { |group| _mm512_set1_epi64(group.cast_signed()) }
            groups __m512i { |place| _mm512_loadu_si512(place.cast()) }
            dot { |sums, a, b| _mm512_add_epi64(sums, _mm512_mullo_epi64(a, b)) }
    }
}
