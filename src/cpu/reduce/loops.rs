//! The loops over elements, which are compiled for each instruction set.

use super::plan::BLOCK;
use crate::cpu::convert;
use crate::cpu::simd::{self, Loop};
use crate::dtype::f16;
use crate::ops::reduce::{Reducer, together};
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// How many rows are met at once.
const AHEAD: usize = 4;
/// How many lines are met at once.
const TOGETHER: usize = 4;

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
    /// Whether the elements are far from the processor.
    pub far: bool,
    /// A place for each line.
    pub partials: &'a mut [R::Partial],
}
impl<A: Copy, R: Reducer<A>> Loop for Lines<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        if R::WIDENS && convert::is_fast() {
            self.widened();
        } else {
            self.met();
        }
    }
}
impl<A: Copy, R: Reducer<A>> Lines<'_, A, R> {
    #[inline(always)]
    fn met(self) {
        let Lines { reducer, from, step, len, position, next, far, partials } = self;
        // SAFETY: who makes this has found the elements of as many lines as there are places.
        let elements = |line: usize| unsafe { core::slice::from_raw_parts(from.add(line * step), len) };
        // Other partial results do not stay in the registers.
        let stays = size_of::<A>() == size_of::<f32>() && size_of::<R::Partial>() == size_of::<f32>();
        if !stays || R::HAS_POSITIONS {
            for (line, partial) in partials.iter_mut().enumerate() {
                *partial = reducer.block(elements(line), position + line * next);
            }
            return;
        }
        // Far elements come sooner in the order of memory. (What is added to what is the same in either way.)
        let (groups, others) = if far { (&mut [][..], partials) } else { partials.as_chunks_mut::<TOGETHER>() };
        let mut line = 0;
        for group in groups {
            *group = reducer.several([elements(line), elements(line + 1), elements(line + 2), elements(line + 3)]);
            line += TOGETHER;
        }
        for partial in others {
            [*partial] = reducer.several([elements(line)]);
            line += 1;
        }
    }

    /// Halves, brought to `f32` some lines at a time.
    #[inline(always)]
    fn widened(self) {
        let Lines { reducer, from, step, len, position, next, partials, .. } = self;
        let mut room = [const { MaybeUninit::<f32>::uninit() }; TOGETHER * BLOCK];
        let room: *mut f32 = room.as_mut_ptr().cast();
        assert!(len <= BLOCK, "no line is longer than a block");
        let fitting = (TOGETHER * BLOCK / len).max(1);
        for (group, some) in partials.chunks_mut(fitting).enumerate() {
            let first = group * fitting;
            for line in 0..some.len() {
                // SAFETY: as in `run`; these reductions are of halves, and there is room for so many lines.
                unsafe { convert::widen::<f16>(from.add((first + line) * step).cast(), room.add(line * len), len) }
            }
            let reducer = Wide::<A, R>(reducer, PhantomData);
            Lines { reducer, from: room.cast_const(), step: len, len, position, next, far: false, partials: some }
                .met();
        }
    }
}

/// A reduction of halves over the numbers those are computed in.
struct Wide<A, R>(R, PhantomData<fn() -> A>);
impl<A, R: Copy> Clone for Wide<A, R> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<A, R: Copy> Copy for Wide<A, R> {}
impl<A: Copy, R: Reducer<A>> Reducer<f32> for Wide<A, R> {
    type Partial = R::Partial;
    type Out = R::Out;
    #[inline(always)]
    fn start(self) -> R::Partial {
        self.0.start()
    }
    #[inline(always)]
    fn meet(self, partial: R::Partial, element: f32, _: usize) -> R::Partial {
        self.0.meet_wide(partial, element)
    }
    #[inline(always)]
    fn merge(self, one: R::Partial, other: R::Partial) -> R::Partial {
        self.0.merge(one, other)
    }
    #[inline(always)]
    fn several<const M: usize>(self, lines: [&[f32]; M]) -> [R::Partial; M] {
        together(self, lines)
    }
    fn finish(self, partial: R::Partial, count: usize) -> R::Out {
        self.0.finish(partial, count)
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
                some.iter().for_each(|row| simd::prefetch_row_nearby(row.as_ptr().wrapping_add(ahead), columns));
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
