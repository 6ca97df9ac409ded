//! How a line of elements is reduced: several partial results side by side (lanes), which the compiler keeps in vector registers, merged
//! in halves at the end. The order depends on the length alone.
//!
//! Uses `registers`; used by the reducers, by scans and by the host's loops.

use super::{Accumulating, Reducer, registers};
use crate::dtype::Compute;

/// How many elements are many; partial results kept side by side over them, and over few.
pub(crate) const MIN_WIDE: usize = 64;
const WIDE_LANES: usize = 16;
/// A long line, and how many of its elements a partial result meets before the next one does.
const MIN_LONG: usize = 1024;
const GROUP: usize = 4;
pub(super) const NARROW_LANES: usize = 8;

/// Merges what is kept side by side: halves, quarters, ….
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

/// [`Reducer::block`], where a reducer has no better way.
#[inline(always)]
pub(super) fn block<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    // As many vectors of each dtype; what is converted on the way needs registers for that. (`if const`, unlike `match`, leaves no
    // code of the sizes that are not these.)
    let (mut accumulated, mut rest, mut first) = (None, elements, 0);
    if const { matches!((size_of::<A>(), size_of::<R::Partial>()), (1, 1) | (2, 2) | (4 | 8, 8) | (16, 16)) }
        && rest.len() >= const { if size_of::<R::Partial>() == 8 { 256 } else { MIN_LONG } }
    {
        if const { size_of::<A>() == 1 } {
            (accumulated, rest) = long_line::<A, R, 256>(reducer, elements, index);
        }
        if const { size_of::<A>() == 2 } {
            (accumulated, rest) = long_line::<A, R, 128>(reducer, elements, index);
        }
        if const { matches!(size_of::<A>(), 4 | 8) } {
            (accumulated, rest) = long_line::<A, R, 32>(reducer, elements, index);
        }
        if const { size_of::<A>() == 16 } {
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

/// Meets elements in turn.
#[inline(always)]
fn sequential<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    let mut partial = reducer.start();
    for (at, &element) in elements.iter().enumerate() {
        partial = reducer.accumulate(partial, element, index + at);
    }
    partial
}

/// The reduction of a short line.
#[inline(always)]
fn short_line<A: Copy, R: Reducer<A>>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    if elements.len() < 2 * NARROW_LANES {
        sequential(reducer, elements, index)
    } else if elements.len() < MIN_WIDE {
        lanes::<A, R, NARROW_LANES>(reducer, elements, index)
    } else {
        lanes::<A, R, WIDE_LANES>(reducer, elements, index)
    }
}

/// The reduction of a long line by `N` partial results side by side, and what is left over of it. (Loops of a known length over the
/// partial results, and nothing else, are what the compiler keeps in vector registers.)
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

/// The reduction of elements by `N` partial results side by side.
#[inline(always)]
pub(super) fn lanes<A: Copy, R: Reducer<A>, const N: usize>(reducer: R, elements: &[A], index: usize) -> R::Partial {
    let accumulate = |partial: R::Partial, element: &A, at: usize| reducer.accumulate(partial, *element, index + at);
    by_lanes::<A, R::Partial, N>(elements, reducer.start(), accumulate, |one, other| reducer.merge(one, other))
}

/// Lines of 64 elements or more at once by the partial results of [`lanes`].
#[inline(always)]
pub(crate) fn interleave<A: Copy, R: Reducer<A>, const M: usize>(reducer: R, lines: [&[A]; M]) -> [R::Partial; M] {
    let accumulate = |partial: R::Partial, element: &A, at: usize| reducer.accumulate(partial, *element, at);
    let merge = |one, other| reducer.merge(one, other);
    in_registers::<A, R::Partial, WIDE_LANES, M>(lines, reducer.start(), accumulate, merge)
}

/// Accumulates elements (and where they stand) into `N` partial results in turn, and merges them.
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
    let first = chunks.len() * N;
    for (lane, (partial, element)) in lanes.iter_mut().zip(rest).enumerate() {
        *partial = accumulate(*partial, element, first + lane);
    }
    merge_lanes(lanes, merge)
}

/// The same for each of `M` lines, which are equally long, by partial results as large as elements: they stay in registers.
#[inline(always)]
fn in_registers<A, P: Copy, const N: usize, const M: usize>(
    lines: [&[A]; M],
    start: P,
    accumulate: impl Fn(P, &A, usize) -> P,
    merge: impl Fn(P, P) -> P,
) -> [P; M] {
    let lines = lines.map(|line| line.as_chunks::<N>());
    let mut partials = registers::accumulate_chunks(lines.map(|(chunks, _)| chunks), start, &accumulate);
    core::array::from_fn(|line| {
        let ((chunks, rest), lanes) = (lines[line], &mut partials[line]);
        let first = chunks.len() * N;
        for (lane, (partial, element)) in lanes.iter_mut().zip(rest).enumerate() {
            *partial = accumulate(*partial, element, first + lane);
        }
        merge_lanes(*lanes, &merge)
    })
}

/// The sum of `term` over elements side by side: in blocks, and several sums side by side within a block, so that it vectorises
/// and loses little.
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
        for block in elements.chunks(64 * MIN_WIDE) {
            sum = merge(sum, by_lanes::<E, C, WIDE_LANES>(block, C::default(), accumulate, merge));
        }
    }
    sum
}
