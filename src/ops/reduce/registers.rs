//! Chunks of elements accumulated into partial results that stay in vector registers from chunk to chunk.

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
use core::mem::{MaybeUninit, transmute_copy};

/// Accumulates chunks of elements (with their positions in the line); each of a line's `N` partial results takes one element per chunk; all
/// lines are equally long. The partial results stay in vector registers from chunk to chunk: by itself, the compiler sometimes vectorises
/// by two only.
#[inline(always)]
pub(crate) fn accumulate_chunks<A, P: Copy, const N: usize, const M: usize>(
    lines: [&[[A; N]]; M],
    start: P,
    accumulate: impl Fn(P, &A, usize) -> P,
) -> [[P; N]; M] {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    {
        type Vector = MaybeUninit<core::arch::x86_64::__m256i>;
        /// Aligned, so that spilled vectors do not straddle cache lines.
        #[derive(Clone, Copy)]
        #[repr(align(64))]
        struct Aligned<const N: usize>(#[allow(dead_code)] [Vector; N]);
        // SAFETY: the sizes are the same.
        unsafe {
            if const { size_of::<[P; N]>() == 32 } {
                return in_registers::<A, P, Vector, N, M>(lines, start, accumulate);
            }
            if const { size_of::<[P; N]>() == 64 } {
                return in_registers::<A, P, Aligned<2>, N, M>(lines, start, accumulate);
            }
            if const { size_of::<[P; N]>() == 128 } {
                return in_registers::<A, P, Aligned<4>, N, M>(lines, start, accumulate);
            }
        }
    }
    let mut accumulated = [[start; N]; M];
    for (partials, line) in accumulated.iter_mut().zip(lines) {
        for (chunk, elements) in line.iter().enumerate() {
            for (lane, partial) in partials.iter_mut().enumerate() {
                *partial = accumulate(*partial, &elements[lane], chunk * N + lane);
            }
        }
    }
    accumulated
}

/// The same, with a line's partial results held as a `V`. (Loops over the lines, because arrays' `map` would add a dozen functions for
/// each.
/// Chunks are indexed with a bounds check: without it the compiler vectorises `i64` by two only. Software prefetching was slower on
/// processors with good hardware prefetchers.)
///
/// # Safety
/// `V` has the size of the partial results, and any bytes are a valid `V`.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[inline(always)]
unsafe fn in_registers<A, P: Copy, V: Copy, const N: usize, const M: usize>(
    mut lines: [&[[A; N]]; M],
    start: P,
    accumulate: impl Fn(P, &A, usize) -> P,
) -> [[P; N]; M] {
    let mut chunks = usize::MAX;
    for line in &lines {
        chunks = if line.len() < chunks { line.len() } else { chunks };
    }
    for line in &mut lines {
        *line = &line[..chunks];
    }
    // SAFETY: the caller's promise, in both directions.
    let (pack, unpack) = unsafe {
        (|lanes: [P; N]| transmute_copy::<[P; N], V>(&lanes), |packed: &V| transmute_copy::<V, [P; N]>(packed))
    };
    let mut partials = [pack([start; N]); M];
    for chunk in 0..chunks {
        for (line, partial) in lines.iter().zip(&mut partials) {
            let mut lanes = unpack(partial);
            for (lane, (partial, element)) in lanes.iter_mut().zip(&line[chunk]).enumerate() {
                *partial = accumulate(*partial, element, chunk * N + lane);
            }
            *partial = pack(lanes);
        }
    }
    // Otherwise the compiler moves the pairwise merging that follows into the loop, and vectorises by two only. (With several lines it does
    // not.)
    if const { M == 1 } {
        partials = core::hint::black_box(partials);
    }
    let mut accumulated = [[start; N]; M];
    for (accumulated, partial) in accumulated.iter_mut().zip(&partials) {
        *accumulated = unpack(partial);
    }
    accumulated
}
