//! The loops over elements, which are compiled for each instruction set.

use crate::cpu::simd::{self, Loop};
use crate::ops::reduce::Reducer;

/// How many rows are met at once.
const AHEAD: usize = 4;

/// Each line to a partial result.
pub(super) struct Lines<'a, A: Copy, R: Reducer<A>> {
    pub reducer: R,
    pub from: *const A,
    /// From line to line.
    pub step: usize,
    pub len: usize,
    /// The position of the first element, and from line to line.
    pub position: usize,
    pub next: usize,
    /// A place for each line.
    pub partials: &'a mut [R::Partial],
}
impl<A: Copy, R: Reducer<A>> Loop for Lines<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Lines { reducer, from, step, len, position, next, partials } = self;
        for (line, partial) in partials.iter_mut().enumerate() {
            // SAFETY: who makes this has found the elements of as many lines as there are places.
            let elements = unsafe { core::slice::from_raw_parts(from.add(line * step), len) };
            *partial = reducer.block(elements, position + line * next);
        }
    }
}

/// Rows met by partial results, one for each column.
pub(super) struct Rows<'a, A: Copy, R: Reducer<A>> {
    pub reducer: R,
    pub from: *const A,
    /// From row to row.
    pub step: usize,
    pub rows: usize,
    /// The position of the first row's elements.
    pub position: usize,
    /// Whether the elements are far from the processor.
    pub far: bool,
    pub partials: &'a mut [R::Partial],
}
impl<A: Copy, R: Reducer<A>> Loop for Rows<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Rows { reducer, from, step, rows, position, far, partials } = self;
        let columns = partials.len();
        // SAFETY: who makes this has found the elements of these rows, one for each partial result.
        let row = |at: usize| unsafe { core::slice::from_raw_parts(from.add(at * step), columns) };
        let mut at = 0;
        while at + AHEAD <= rows {
            let some = [row(at), row(at + 1), row(at + 2), row(at + 3)];
            if far {
                // The next rows, or what lies beside these.
                let ahead = if at + 2 * AHEAD <= rows { AHEAD * step } else { columns };
                some.iter().for_each(|row| simd::prefetch_row(row.as_ptr().wrapping_add(ahead), columns));
            }
            meet_some(reducer, partials, some[0], some[1], some[2], some[3], position + at);
            at += AHEAD;
        }
        while at < rows {
            meet_one(reducer, partials, row(at), position + at);
            at += 1;
        }
    }
}

#[inline(always)]
fn meet_one<A: Copy, R: Reducer<A>>(reducer: R, partials: &mut [R::Partial], row: &[A], position: usize) {
    for (partial, &element) in partials.iter_mut().zip(row) {
        *partial = reducer.meet(*partial, element, position);
    }
}

/// (As arguments the compiler knows that rows are not where partial results are.)
#[inline(always)]
fn meet_some<A: Copy, R: Reducer<A>>(
    reducer: R,
    partials: &mut [R::Partial],
    first: &[A],
    second: &[A],
    third: &[A],
    fourth: &[A],
    position: usize,
) {
    for ((((partial, &a), &b), &c), &d) in partials.iter_mut().zip(first).zip(second).zip(third).zip(fourth) {
        let met = reducer.meet(reducer.meet(*partial, a, position), b, position + 1);
        *partial = reducer.meet(reducer.meet(met, c, position + 2), d, position + 3);
    }
}
