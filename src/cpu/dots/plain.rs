//! Dot products in plain Rust, for machines without the instructions of `x86`.

use super::{Dot, TileArgs, VectorDot, tile_of};

/// `Name: Left, Right as Group => [Sum; lanes], |sum, left, right| value` writes a [`Dot`] over arrays.
macro_rules! plain {
    ($($(#[$doc:meta])* $name:ident: $left:ty, $right:ty as $group:ty => [$sum:ty; $lanes:literal * $vectors:literal],
       |$s:ident, $a:ident, $b:ident| $value:expr;)*) => {$(
        $(#[$doc])*
        pub(in crate::cpu) struct $name;
        impl Dot for $name {
            type Group = $group;
            type Left = $left;
            type Right = $right;
            type Sum = $sum;
            const LANES: usize = $lanes;
            const VECTORS: usize = $vectors;
            #[cfg_attr(not(feature = "precompiled"), inline)]
            unsafe fn tile(vectors: usize, tile: TileArgs<$group, $sum>) {
                // SAFETY: the caller's promise.
                unsafe { tile_of::<Self>(vectors, tile) }
            }
        }
        impl VectorDot for $name {
            type Sums = [$sum; $lanes];
            type Spread = $group;
            type Groups = [$group; $lanes];
            #[inline(always)]
            unsafe fn zero() -> [$sum; $lanes] {
                [<$sum>::default(); $lanes]
            }
            #[inline(always)]
            unsafe fn load(from: *const $sum) -> [$sum; $lanes] {
                // SAFETY: the caller's promise.
                unsafe { from.cast::<[$sum; $lanes]>().read() }
            }
            #[inline(always)]
            unsafe fn store(sums: [$sum; $lanes], to: *mut $sum) {
                // SAFETY: as above.
                unsafe { to.cast::<[$sum; $lanes]>().write(sums) }
            }
            #[inline(always)]
            unsafe fn spread(group: $group) -> $group {
                group
            }
            #[inline(always)]
            unsafe fn groups(from: *const $group) -> [$group; $lanes] {
                // SAFETY: as above.
                unsafe { from.cast::<[$group; $lanes]>().read() }
            }
            #[inline(always)]
            unsafe fn dot(mut sums: [$sum; $lanes], $a: $group, right: [$group; $lanes]) -> [$sum; $lanes] {
                for (sum, $b) in sums.iter_mut().zip(right) {
                    let $s = *sum;
                    *sum = $value;
                }
                sums
            }
        }
    )*};
}
#[cfg(test)]
pub(super) use plain;

/// The product of the second terms plus that of the first.
#[inline(always)]
fn pair(a: u32, b: u32) -> i32 {
    let term = |group: u32, at: u32| i32::from((group >> at) as i16);
    (term(a, 16) * term(b, 16)).wrapping_add(term(a, 0) * term(b, 0))
}

plain! {
    /// Pairs of 16-bit integers, accumulated in 32 bits.
    Shorts: i16, i16 as u32 => [i32; 8 * 1], |sum, a, b| sum.wrapping_add(pair(a, b));
    /// 32-bit integers.
    Words: i32, i32 as u32 => [i32; 8 * 1], |sum, a, b| sum.wrapping_add(a.wrapping_mul(b).cast_signed());
    /// 64-bit integers.
    Longs: i64, i64 as u64 => [i64; 4 * 1], |sum, a, b| sum.wrapping_add(a.wrapping_mul(b).cast_signed());
}
