//! Chunks of elements accumulated into partial results that stay in vector registers from chunk to chunk.
//!
//! Uses nothing; used by `lanes`.

/// Accumulates chunks of elements, with their positions, into `N` lanes. The lanes are vectors from chunk to chunk:
/// left to itself, the compiler sometimes processes them in pairs.
#[inline(always)]
pub(crate) fn accumulate_chunks<A, P: Copy, const N: usize>(
    line: &[[A; N]],
    start: P,
    accumulate: impl Fn(P, &A, usize) -> P,
) -> [P; N] {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    {
        use in_registers::*;
        // SAFETY: the sizes are the same.
        unsafe {
            if const { size_of::<[P; N]>() == 32 } {
                return one_line::<A, P, Vector, N>(line, start, accumulate);
            }
            if const { size_of::<[P; N]>() == 64 } {
                return one_line::<A, P, [Vector; 2], N>(line, start, accumulate);
            }
            if const { size_of::<[P; N]>() == 128 } {
                return one_line::<A, P, [Vector; 4], N>(line, start, accumulate);
            }
        }
    }
    let mut partials = [start; N];
    for (chunk, elements) in line.iter().enumerate() {
        for (lane, partial) in partials.iter_mut().enumerate() {
            *partial = accumulate(*partial, &elements[lane], chunk * N + lane);
        }
    }
    partials
}

/// [`accumulate_chunks`] of four equally long lines; lanes of four bytes stay in registers.
#[inline(always)]
pub(crate) fn accumulate_chunks_of_four<A, P: Copy, const N: usize>(
    lines: [&[[A; N]]; 4],
    start: P,
    accumulate: impl Fn(P, &A, usize) -> P,
) -> [[P; N]; 4] {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    if const { size_of::<[P; N]>() == 64 } {
        // SAFETY: the sizes are the same.
        return unsafe { in_registers::four_lines::<A, P, [in_registers::Vector; 2], N>(lines, start, accumulate) };
    }
    let mut accumulated = [[start; N]; 4];
    for (partials, line) in accumulated.iter_mut().zip(lines) {
        for (chunk, elements) in line.iter().enumerate() {
            for (lane, partial) in partials.iter_mut().enumerate() {
                *partial = accumulate(*partial, &elements[lane], chunk * N + lane);
            }
        }
    }
    accumulated
}

/// Lanes held as vectors between chunks.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
mod in_registers {
    use core::mem::{MaybeUninit, transmute_copy};

    pub(super) type Vector = MaybeUninit<core::arch::x86_64::__m256i>;

    /// Accumulates a chunk into the lanes.
    ///
    /// # Safety
    /// `V` is as large as `N` of them and may hold any bytes.
    #[inline(always)]
    unsafe fn accumulated<A, P: Copy, V, const N: usize>(
        partials: &V,
        elements: &[A; N],
        first: usize,
        accumulate: impl Fn(P, &A, usize) -> P,
    ) -> V {
        // SAFETY: the caller's promise, in both directions.
        unsafe {
            let mut lanes = transmute_copy::<V, [P; N]>(partials);
            for (lane, (partial, element)) in lanes.iter_mut().zip(elements).enumerate() {
                *partial = accumulate(*partial, element, first + lane);
            }
            transmute_copy::<[P; N], V>(&lanes)
        }
    }

    /// # Safety
    /// As for `accumulated`.
    #[inline(always)]
    pub(super) unsafe fn one_line<A, P: Copy, V, const N: usize>(
        line: &[[A; N]],
        start: P,
        accumulate: impl Fn(P, &A, usize) -> P,
    ) -> [P; N] {
        // SAFETY: the caller's promise.
        unsafe {
            let mut partials = transmute_copy::<[P; N], V>(&[start; N]);
            for (chunk, elements) in line.iter().enumerate() {
                partials = accumulated(&partials, elements, chunk * N, &accumulate);
            }
            transmute_copy(&partials)
        }
    }

    /// # Safety
    /// As for `accumulated`.
    #[inline(always)]
    pub(super) unsafe fn four_lines<A, P: Copy, V: Copy, const N: usize>(
        lines: [&[[A; N]]; 4],
        start: P,
        accumulate: impl Fn(P, &A, usize) -> P,
    ) -> [[P; N]; 4] {
        let chunks = lines[0].len().min(lines[1].len()).min(lines[2].len()).min(lines[3].len());
        let [a, b, c, d] = [&lines[0][..chunks], &lines[1][..chunks], &lines[2][..chunks], &lines[3][..chunks]];
        // SAFETY: the caller's promise.
        unsafe {
            let start = transmute_copy::<[P; N], V>(&[start; N]);
            let (mut e, mut f, mut g, mut h) = (start, start, start, start);
            for chunk in 0..chunks {
                let first = chunk * N;
                e = accumulated(&e, &a[chunk], first, &accumulate);
                f = accumulated(&f, &b[chunk], first, &accumulate);
                g = accumulated(&g, &c[chunk], first, &accumulate);
                h = accumulated(&h, &d[chunk], first, &accumulate);
            }
            [transmute_copy(&e), transmute_copy(&f), transmute_copy(&g), transmute_copy(&h)]
        }
    }
}
