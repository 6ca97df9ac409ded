//! Transposes squares of elements in vector registers, for element widths up to eight bytes.

use core::arch::x86_64::*;

/// Transposes a square: start and line stride in bytes, of the source and of the result.
pub(super) type Square = unsafe fn(*const u8, usize, *mut u8, usize);

/// The transposing function for elements of `width` bytes, and the side of its square; `None` where there are no instructions.
///
/// # Safety
/// (Of the returned function.) All places of the square are valid, and nobody else accesses the written ones.
#[inline]
pub(super) fn squares(width: usize) -> Option<(usize, Square)> {
    match width {
        1 => Some((16, bytes)),
        2 => Some((8, pairs)),
        4 if is_there() => Some((SIDE, fours)),
        8 if is_there() => Some((4, eights)),
        _ => None,
    }
}

/// Rows of 16 bytes, pairs of which have their halves interleaved by elements.
macro_rules! interleaved {
    ($rows:expr, $low:ident, $high:ident) => {{
        let rows = $rows;
        // Row `at` is paired with the one half of the rows further on.
        core::array::from_fn(|at| {
            let (a, b) = (rows[at / 2], rows[at / 2 + rows.len() / 2]);
            if at % 2 == 0 { $low(a, b) } else { $high(a, b) }
        })
    }};
}

/// 16 by 16 bytes. Each step interleaves the lower half of the rows with the upper half: four steps transpose.
///
/// # Safety
/// See [`squares`].
unsafe fn bytes(from: *const u8, step: usize, to: *mut u8, to_step: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows: [__m128i; 16] = core::array::from_fn(|at| _mm_loadu_si128(from.add(at * step).cast()));
        for _ in 0..4 {
            rows = interleaved!(rows, _mm_unpacklo_epi8, _mm_unpackhi_epi8);
        }
        for (at, row) in rows.into_iter().enumerate() {
            _mm_storeu_si128(to.add(at * to_step).cast(), row);
        }
    }
}

/// 8 by 8 elements of two bytes.
///
/// # Safety
/// See [`squares`].
unsafe fn pairs(from: *const u8, step: usize, to: *mut u8, to_step: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let mut rows: [__m128i; 8] = core::array::from_fn(|at| _mm_loadu_si128(from.add(at * step).cast()));
        for _ in 0..3 {
            rows = interleaved!(rows, _mm_unpacklo_epi16, _mm_unpackhi_epi16);
        }
        for (at, row) in rows.into_iter().enumerate() {
            _mm_storeu_si128(to.add(at * to_step).cast(), row);
        }
    }
}

/// 8 by 8 elements of four bytes: [`transpose`], with strides in bytes.
///
/// # Safety
/// See [`squares`]; the machine has AVX.
#[target_feature(enable = "avx")]
unsafe fn fours(from: *const u8, step: usize, to: *mut u8, to_step: usize) {
    // SAFETY: the caller's promise.
    unsafe { transpose(from, step, to.cast(), to_step / 4) }
}

/// 4 by 4 elements of eight bytes.
///
/// # Safety
/// See [`squares`]; the machine has AVX.
#[target_feature(enable = "avx")]
unsafe fn eights(from: *const u8, step: usize, to: *mut u8, to_step: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let row = |at: usize| _mm256_loadu_pd(from.add(at * step).cast());
        let rows = [row(0), row(1), row(2), row(3)];
        let pairs = [
            _mm256_unpacklo_pd(rows[0], rows[1]),
            _mm256_unpackhi_pd(rows[0], rows[1]),
            _mm256_unpacklo_pd(rows[2], rows[3]),
            _mm256_unpackhi_pd(rows[2], rows[3]),
        ];
        for at in 0..2 {
            let (a, b) = (pairs[at], pairs[at + 2]);
            _mm256_storeu_pd(to.add(at * to_step).cast(), _mm256_permute2f128_pd::<0x20>(a, b));
            _mm256_storeu_pd(to.add((at + 2) * to_step).cast(), _mm256_permute2f128_pd::<0x31>(a, b));
        }
    }
}

/// The side of [`transpose`]'s square.
pub(super) const SIDE: usize = 8;

pub(super) fn is_there() -> bool {
    std::arch::is_x86_feature_detected!("avx")
}

/// Transposes a square: the element at byte `4 * line + i * step` goes to element `line * to_step + i`.
///
/// # Safety
/// These places are valid for lines and elements up to [`SIDE`], and nobody else accesses the written ones. The machine has AVX.
#[target_feature(enable = "avx")]
#[inline]
pub(super) unsafe fn transpose(from: *const u8, step: usize, to: *mut f32, to_step: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        let row = |at: usize| _mm256_loadu_ps(from.add(at * step).cast());
        let rows: [__m256; 8] = [row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)];
        // Interleaves pairs, then fours, then halves of registers.
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

#[cfg(test)]
mod tests {
    use super::squares;

    /// Every element of a square is written to its place, and nothing else is written.
    #[test]
    fn squares_are_transposed() {
        for width in [1, 2, 4, 8] {
            let Some((side, square)) = squares(width) else { continue };
            // (Only the result is aligned to its elements.)
            let (step, to_step) = (side * width + 3, (side + 1) * width);
            let from: Vec<u8> = (0..side * step).map(|at| (at * 7 + at / 251) as u8).collect();
            let mut to = vec![0xAA; side * to_step];
            // SAFETY: both buffers have that many lines of that many bytes; `squares` has checked for the instructions.
            unsafe { square(from.as_ptr(), step, to.as_mut_ptr(), to_step) }
            for line in 0..side {
                for at in 0..side {
                    let given = &from[at * step + line * width..][..width];
                    assert_eq!(&to[line * to_step + at * width..][..width], given, "{width} {line} {at}");
                }
                assert!(to[line * to_step + side * width..][..width].iter().all(|&untouched| untouched == 0xAA));
            }
        }
        assert!(squares(16).is_none());
    }
}
