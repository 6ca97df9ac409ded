//! How a line of elements is reduced: in several partial results (lanes), which the compiler keeps in vector registers and which are merged
//! pairwise at the end. The order depends on the length only. (The loops are compiled per reducer, dtype and instruction set; some use
//! counters instead of iterators, each of which would add a dozen functions.)

#![allow(
    clippy::needless_range_loop,
    reason = "iterators are many more functions, compiled for each operation and dtype"
)]

use super::{Accumulating, Reducer, registers};
use crate::dtype::Compute;

/// Minimum line length for wide lanes; number of partial results in wide and in narrow lanes.
pub(crate) const MIN_WIDE: usize = 64;
const WIDE_LANES: usize = 16;
/// Minimum line length for lanes of several vectors; elements that a lane accumulates before the next lane.
const MIN_LONG: usize = 1024;
const GROUP: usize = 4;
pub(super) const NARROW_LANES: usize = 8;
/// Shorter lines are accumulated sequentially; maximum number of lanes of any line.
const SEQUENTIAL: usize = 2 * NARROW_LANES;
const MOST_LANES: usize = 256;

/// Merges the lanes pairwise: halves, quarters, and so on.
#[inline(always)]
pub(crate) fn merge_lanes<T: Copy, const N: usize>(mut lanes: [T; N], merge: impl Fn(T, T) -> T) -> T {
    let mut width = N / 2;
    while width > 0 {
        let (low, high) = lanes.split_at_mut(width);
        for (low, high) in low.iter_mut().zip(high) {
            *low = merge(*low, *high);
        }
        width /= 2;
    }
    lanes[0]
}

/// Minimum line length for lanes of several vectors: partial results of two numbers leave registers for fewer lanes.
const fn least_long<P>() -> usize {
    match (size_of::<P>(), align_of::<P>()) {
        (8, 4) | (16, 8) => MIN_WIDE,
        (8, _) => 256,
        _ => MIN_LONG,
    }
}

/// Whether lines of this length use lanes of several vectors.
#[inline(always)]
const fn is_long<A, P>(len: usize) -> bool {
    matches!((size_of::<A>(), size_of::<P>()), (1, 1) | (2, 2) | (4 | 8, 8) | (16, 16)) && len >= least_long::<P>()
}

/// Number of lanes of long lines.
const fn long_lanes<A>() -> usize {
    match size_of::<A>() {
        1 => MOST_LANES,
        2 => 128,
        4 | 8 => 32,
        _ => 16,
    }
}

/// [`Reducer::block`] for reducers without a better implementation.
#[inline(always)]
pub(super) fn block<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    // The same number of vectors for each dtype; reductions that convert elements need some registers for that. (`if const`, unlike
    // `match`, generates no code for the other sizes.)
    let (mut accumulated, mut rest, mut first) = (None, elements, 0);
    if const { is_long::<A, R::Partial>(usize::MAX) } && is_long::<A, R::Partial>(rest.len()) {
        if const { long_lanes::<A>() == 256 } {
            (accumulated, rest) = long_line::<A, R, 256>(reducer, elements, index);
        }
        if const { long_lanes::<A>() == 128 } {
            (accumulated, rest) = long_line::<A, R, 128>(reducer, elements, index);
        }
        if const { long_lanes::<A>() == 32 } {
            (accumulated, rest) = long_line::<A, R, 32>(reducer, elements, index);
        }
        if const { long_lanes::<A>() == 16 } {
            (accumulated, rest) = long_line::<A, R, 16>(reducer, elements, index);
        }
        first = elements.len() - rest.len();
    }
    match accumulated {
        Some(accumulated) if rest.is_empty() => accumulated,
        Some(accumulated) => reducer.merge(accumulated, short_line(reducer, rest, index + first)),
        None => short_line(reducer, rest, index),
    }
}

/// [`block`] for reductions whose order does not matter, such as integer sums: with one partial result, because the compiler vectorises
/// long lines itself.
#[inline(always)]
pub(super) fn exact_or_block<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    if elements.len() < MIN_WIDE {
        return block(reducer, elements, index);
    }
    let mut partial = reducer.start();
    for &element in elements {
        partial = reducer.accumulate(partial, element, index);
    }
    partial
}

/// [`Reducer::block_small`] for reducers whose `block` is [`block`]: the same lanes, in one loop.
#[inline(always)]
pub(super) fn block_small<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    let short = |elements: &[A]| match elements.len() {
        0..SEQUENTIAL => 1,
        SEQUENTIAL..MIN_WIDE => NARROW_LANES,
        _ => WIDE_LANES,
    };
    if !is_long::<A, R::Partial>(elements.len()) {
        return lanes_small(reducer, elements, index, short(elements));
    }
    let lanes = const { long_lanes::<A>() };
    let (chunks, rest) = elements.split_at(elements.len() / lanes * lanes);
    let accumulated = lanes_small(reducer, chunks, index, lanes);
    if rest.is_empty() {
        return accumulated;
    }
    reducer.merge(accumulated, lanes_small(reducer, rest, index + chunks.len(), short(rest)))
}

/// [`lanes`] optimised for code size.
#[inline(never)]
pub(super) fn lanes_small<A: Copy, R: Reducer<A>>(
    reducer: R,
    elements: &[A],
    index: usize,
    lanes: usize,
) -> R::Partial {
    if lanes == 1 {
        return sequential(reducer, elements, index);
    }
    let (mut partials, mut lane) = ([reducer.start(); MOST_LANES], 0);
    for (at, &element) in elements.iter().enumerate() {
        partials[lane] = reducer.accumulate(partials[lane], element, index + at);
        lane = if lane + 1 == lanes { 0 } else { lane + 1 };
    }
    let mut width = lanes / 2;
    while width > 0 {
        for low in 0..width {
            partials[low] = reducer.merge(partials[low], partials[low + width]);
        }
        width /= 2;
    }
    partials[0]
}

/// Accumulates elements sequentially.
#[inline(always)]
fn sequential<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    let mut partial = reducer.start();
    // (In fours, so that the compiler does not vectorise so few elements.)
    let (fours, rest) = elements.as_chunks::<4>();
    for four in 0..fours.len() {
        for at in 0..4 {
            partial = reducer.accumulate(partial, fours[four][at], index + 4 * four + at);
        }
    }
    let first = index + elements.len() - rest.len();
    for at in 0..rest.len() {
        partial = reducer.accumulate(partial, rest[at], first + at);
    }
    partial
}

/// Reduces a short line.
#[inline(always)]
fn short_line<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    if elements.len() < SEQUENTIAL {
        sequential(reducer, elements, index)
    } else if elements.len() < MIN_WIDE {
        lanes::<A, R, NARROW_LANES>(reducer, elements, index)
    } else {
        lanes::<A, R, WIDE_LANES>(reducer, elements, index)
    }
}

/// Reduces the whole chunks of a long line in `N` lanes, and returns the remainder. (The compiler keeps the lanes in vector registers if
/// inner loops have constant length and nothing else.)
#[inline(always)]
fn long_line<A: Copy, R: Reducer<A>, const N: usize>(
    reducer: R,
    elements: &[A],
    index: usize,
) -> (Option<R::Partial>, &[A]) {
    let (chunks, rest) = elements.as_chunks::<N>();
    let (groups, others) = chunks.as_chunks::<GROUP>();
    let mut lanes = [reducer.start(); N];
    for (group, chunks) in groups.iter().enumerate() {
        for (lane, partial) in lanes.iter_mut().enumerate() {
            let mut accumulated = *partial;
            for (chunk, elements) in chunks.iter().enumerate() {
                accumulated =
                    reducer.accumulate(accumulated, elements[lane], index + (group * GROUP + chunk) * N + lane);
            }
            *partial = accumulated;
        }
    }
    for (chunk, elements) in others.iter().enumerate() {
        for (lane, partial) in lanes.iter_mut().enumerate() {
            *partial = reducer.accumulate(*partial, elements[lane], index + (groups.len() * GROUP + chunk) * N + lane);
        }
    }
    (Some(merge_lanes(lanes, |one, other| reducer.merge(one, other))), rest)
}

/// Reduces a line in `N` lanes.
#[inline(always)]
pub(super) fn lanes<A: Copy, R: Reducer<A>, const N: usize>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    let accumulate = |partial: R::Partial, element: &A, at: usize| reducer.accumulate(partial, *element, index + at);
    by_lanes::<A, R::Partial, N>(elements, reducer.start(), accumulate, |one, other| reducer.merge(one, other))
}

/// [`Reducer::four_rows`] for reducers without a better implementation. Slices as arguments tell the compiler that rows and partial results
/// do
/// not alias.
#[inline(always)]
pub(super) fn accumulate_rows<A: Copy, R: Reducer<A>>(
    reducer: R,
    partials: &mut [R::Partial],
    first: &[A],
    second: &[A],
    third: &[A],
    fourth: &[A],
    position: usize,
) {
    let len = partials.len();
    let (first, second, third, fourth) = (&first[..len], &second[..len], &third[..len], &fourth[..len]);
    for at in 0..len {
        let accumulated = reducer.accumulate(partials[at], first[at], position);
        let accumulated = reducer.accumulate(accumulated, second[at], position + 1);
        let accumulated = reducer.accumulate(accumulated, third[at], position + 2);
        partials[at] = reducer.accumulate(accumulated, fourth[at], position + 3);
    }
}

/// Four lines of at least 64 elements at once, each with the partial results of [`lanes`].
#[inline(always)]
pub(crate) fn interleave<A: Copy, R: Reducer<A>>(reducer: R, lines: [&[A]; 4]) -> [R::Partial; 4] {
    let accumulate = |partial: R::Partial, element: &A, at: usize| reducer.accumulate(partial, *element, at);
    let merge = |one, other| reducer.merge(one, other);
    in_registers::<A, R::Partial, WIDE_LANES, 4>(lines, reducer.start(), accumulate, merge)
}

/// Accumulates elements (and their positions) into `N` partial results in turn, and merges them.
#[inline(always)]
pub(crate) fn by_lanes<A, P: Copy, const N: usize>(
    elements: &[A],
    start: P,
    accumulate: impl Fn(P, &A, usize) -> P,
    merge: impl Fn(P, P) -> P,
) -> P {
    if const { size_of::<A>() == size_of::<P>() } {
        let [accumulated] = in_registers::<A, P, N, 1>([elements], start, accumulate, merge);
        return accumulated;
    }
    let mut lanes = [start; N];
    let (chunks, rest) = elements.as_chunks::<N>();
    for (chunk, elements) in chunks.iter().enumerate() {
        for (lane, partial) in lanes.iter_mut().enumerate() {
            *partial = accumulate(*partial, &elements[lane], chunk * N + lane);
        }
    }
    rest_and_merge(lanes, rest, chunks.len() * N, accumulate, merge)
}

/// The same for each of `M` equally long lines, with partial results as large as elements, which stay in registers.
#[inline(always)]
fn in_registers<A, P: Copy, const N: usize, const M: usize>(
    lines: [&[A]; M],
    start: P,
    accumulate: impl Fn(P, &A, usize) -> P,
    merge: impl Fn(P, P) -> P,
) -> [P; M] {
    // (Loops, not `map` and `from_fn`, whose closures would be separate functions compiled for the baseline.)
    let (mut chunks, mut rests): ([&[[A; N]]; M], [&[A]; M]) = ([&[]; M], [&[]; M]);
    for line in 0..M {
        (chunks[line], rests[line]) = lines[line].as_chunks();
    }
    let partials = registers::accumulate_chunks(chunks, start, &accumulate);
    let mut accumulated = [start; M];
    for line in 0..M {
        let first = chunks[line].len() * N;
        accumulated[line] = rest_and_merge(partials[line], rests[line], first, &accumulate, &merge);
    }
    accumulated
}

/// Accumulates the elements after the last chunk, starting at position `first`, and merges the lanes.
#[inline(always)]
fn rest_and_merge<A, P: Copy, const N: usize>(
    mut lanes: [P; N],
    rest: &[A],
    first: usize,
    accumulate: impl Fn(P, &A, usize) -> P,
    merge: impl Fn(P, P) -> P,
) -> P {
    for (lane, (partial, element)) in lanes.iter_mut().zip(rest).enumerate() {
        *partial = accumulate(*partial, element, first + lane);
    }
    merge_lanes(lanes, merge)
}

/// Number of lanes in which [`blocked_sum`] adds up a block of a line of this length.
pub(crate) const fn lanes_of_sum(len: usize) -> usize {
    if len < 2 * NARROW_LANES {
        1
    } else if len < MIN_WIDE {
        NARROW_LANES
    } else {
        WIDE_LANES
    }
}

/// Elements per block.
pub(crate) const SUM_BLOCK: usize = 64 * MIN_WIDE;

/// The sum of `term` over a line: in blocks, and in lanes within each block, so that it vectorises and rounding errors stay small.
#[inline(always)]
pub(crate) fn blocked_sum<E, C: Compute>(elements: &[E], term: impl Fn(&E) -> C) -> C {
    let accumulate = |sum: C, x: &E, _: usize| sum.binary::<Accumulating>(term(x));
    let merge = |one: C, other: C| one.binary::<Accumulating>(other);
    let mut sum = C::default();
    if elements.len() < 2 * NARROW_LANES {
        for x in elements {
            sum = accumulate(sum, x, 0);
        }
    } else if elements.len() < MIN_WIDE {
        sum = by_lanes::<E, C, NARROW_LANES>(elements, sum, accumulate, merge);
    } else {
        for block in elements.chunks(SUM_BLOCK) {
            sum = merge(sum, by_lanes::<E, C, WIDE_LANES>(block, C::default(), accumulate, merge));
        }
    }
    sum
}

/// Elements computed at a time.
pub(crate) const WIDTH: usize = 16;

/// Computes elements in whole vectors only: the last ones together with some that were computed before, or with copies of the first one.
/// There is at least one element, and room for a whole vector.
#[inline(always)]
pub(crate) fn in_whole_vectors<E: Copy, C>(from: &[E], to: &mut [C], compute: impl Fn(E) -> C) {
    let len = from.len();
    let mut few = [from[0]; WIDTH];
    let from = if len < WIDTH {
        few[..len].copy_from_slice(from);
        &few[..]
    } else {
        from
    };
    let mut at = 0;
    while at < len {
        let first = at.min(from.len() - WIDTH);
        let (from, to) = (&from[first..first + WIDTH], &mut to[first..first + WIDTH]);
        for (to, &x) in to.iter_mut().zip(from) {
            *to = compute(x);
        }
        at = first + WIDTH;
    }
}

/// [`blocked_sum`] of terms that take long, such as exponentials: in short lines all of them are computed in vectors.
#[inline(always)]
pub(crate) fn blocked_sum_of_costly<E: Copy, C: Compute>(elements: &[E], term: impl Fn(&E) -> C) -> C {
    const SHORT: usize = 2 * WIDTH;
    if !(1..=SHORT).contains(&elements.len()) {
        return blocked_sum(elements, term);
    }
    let mut terms = [C::default(); SHORT];
    in_whole_vectors(elements, &mut terms, |x| term(&x));
    blocked_sum(&terms[..elements.len()], |&term| term)
}

#[cfg(test)]
mod tests {
    use super::super::{AnyAll, ArgExtreme, CountNonzero, Extreme, Mean, MinMax, NanSum, Prod, Sum, VectorNorm};
    use crate::dtype::{Complex, Dtype, bf16, f16};
    use crate::ops::reduce::Reducer;

    fn check<E: Dtype, R: Reducer<E>>(reducer: R, printed: impl Fn(R::Partial) -> String) {
        let mut state = 1_u32;
        let mut element = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            E::from_f64(f64::from(state >> 26) * 0.3 - 7.0)
        };
        let elements: Vec<E> = (0..1100).map(|_| element()).collect();
        for len in (1..80).chain([255, 256, 257, 300, 1023, 1024, 1025, 1100]) {
            let line = &elements[..len];
            let (fast, small) = (printed(reducer.block(line, 3)), printed(reducer.block_small(line, 3)));
            assert_eq!(fast, small, "{} of {len} x {:?}", core::any::type_name::<R>(), E::DTYPE);
        }
    }

    fn check_ordered<E: Dtype>() {
        check::<E, _>(Extreme::<E, true>::new(), |x| format!("{x:?}"));
        check::<E, _>(ArgExtreme::<E, false>::new(), |(x, at)| format!("{x:?} {at}"));
        check::<E, _>(MinMax::<E>::new(), |x| format!("{x:?}"));
    }
    fn check_all<E: Dtype>() {
        check::<E, _>(Sum, |x| format!("{x:?}"));
        check::<E, _>(Prod, |x| format!("{x:?}"));
        check::<E, _>(CountNonzero, |x| format!("{x:?}"));
        if !E::DTYPE.is_floating_point() && !E::DTYPE.is_complex() {
            return;
        }
        for order in [0.0, 1.0, 2.0, 2.5, f64::INFINITY, f64::NEG_INFINITY] {
            check::<E, _>(VectorNorm::new(order), |x| format!("{x:?}"));
        }
    }

    #[test]
    fn small_code_gives_the_same() {
        check_all::<bool>();
        check_all::<u8>();
        check_all::<i16>();
        check_all::<i32>();
        check_all::<i64>();
        check_all::<f16>();
        check_all::<bf16>();
        check_all::<f32>();
        check_all::<f64>();
        check_all::<Complex<f32>>();
        check_all::<Complex<f64>>();
        check_ordered::<bool>();
        check_ordered::<i8>();
        check_ordered::<i64>();
        check_ordered::<f16>();
        check_ordered::<f32>();
        check_ordered::<f64>();
        check::<f32, _>(Mean, |x| format!("{x:?}"));
        check::<f32, _>(NanSum, |x| format!("{x:?}"));
        check::<u8, _>(AnyAll::ANY, |x| format!("{x:?}"));
    }
}
