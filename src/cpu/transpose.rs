//! Squares of four-byte elements turned in registers. Used by copies and by the packing of products.

use core::arch::x86_64::*;

/// Elements on a side.
pub(super) const SIDE: usize = 8;

pub(super) fn is_there() -> bool {
    std::arch::is_x86_feature_detected!("avx")
}

/// Element `i` of line `line`, which goes to `line * to_step + i`, is the one `4 * line + i * step` bytes from `from`.
///
/// # Safety
/// These places are valid, for lines and elements up to [`SIDE`], and those written are nobody else's. The machine has AVX.
#[target_feature(enable = "avx")]
#[inline]
pub(super) unsafe fn transpose(from: *const u8, step: usize, to: *mut f32, to_step: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let row = |at: usize| _mm256_loadu_ps(from.add(at * step).cast());
        let rows: [__m256; 8] = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
        // Pairs, fours, halves.
        let low = |a, b| _mm256_unpacklo_ps(rows[a], rows[b]);
        let high = |a, b| _mm256_unpackhi_ps(rows[a], rows[b]);
        let pairs = [low(0, 1), high(0, 1), low(2, 3), high(2, 3), low(4, 5), high(4, 5), low(6, 7), high(6, 7)];
        let first = |a: usize, b: usize| _mm256_shuffle_ps::<0x44>(pairs[a], pairs[b]);
        let second = |a: usize, b: usize| _mm256_shuffle_ps::<0xee>(pairs[a], pairs[b]);
        let fours = [
            first(0, 2),
            second(0, 2),
            first(1, 3),
            second(1, 3),
            first(4, 6),
            second(4, 6),
            first(5, 7),
            second(5, 7),
        ];
        for at in 0..4 {
            let (a, b) = (fours[at], fours[at + 4]);
            _mm256_storeu_ps(to.add(at * to_step), _mm256_permute2f128_ps::<0x20>(a, b));
            _mm256_storeu_ps(to.add((at + 4) * to_step), _mm256_permute2f128_ps::<0x31>(a, b));
        }
    }
}
