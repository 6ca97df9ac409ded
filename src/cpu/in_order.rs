//! Elements of a view in row-major order, and its lanes, as adjacent elements for functions that take slices: those that lie apart are
//! gathered first, a part at a time.

use super::copying;
use super::elementwise::{result_len, source};
use super::lines;
use super::non_temporal::Staging;
use super::threads::{self, Shared};
use super::walk::{Run, Walk};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides::row_major;
use crate::storage::{HostBuffer, Scratch, View};
use core::marker::PhantomData;
use core::ops::Range;

/// Calls `work` with ranges that together are `count` things of `numel` elements: with one range, or if `is_shared` with one for each thread
/// that pays off.
pub(super) fn shared_out(
    is_shared: bool,
    count: usize,
    numel: usize,
    work: &dyn Fn(Range<usize>) -> Result<()>,
) -> Result<()> {
    // (An element takes about a nanosecond.)
    let pieces = if is_shared { threads::pieces(numel).min(count) } else { 1 };
    if pieces <= 1 {
        return work(0..count);
    }
    // (Callers that share say which of what they refer to is for one thread.)
    let work = Shared(work);
    threads::try_for_each(pieces, &|piece| {
        let work = &work;
        let part = |piece: usize| count / pieces * piece + (count % pieces).min(piece);
        work.0(part(piece)..part(piece + 1))
    })
}

/// The elements of a view in row-major order.
pub(crate) struct Elements<'a, E> {
    walk: Walk<1>,
    start: Shared<*const E>,
    len: usize,
    view: PhantomData<&'a [E]>,
}

impl<'a, E: Element> Elements<'a, E> {
    pub(crate) fn new(view: View<'a, HostBuffer, E>) -> Result<Self> {
        let walk = Walk::row_major(view.sizes, [view.strides]);
        Ok(Elements { walk, start: Shared(source(&view)), len: result_len(view.sizes)?, view: PhantomData })
    }
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    /// Calls a function with the elements of a range in order, some at a time, and the place of the first of them; until it returns false.
    pub(crate) fn visit(&self, range: Range<usize>, each: &mut dyn FnMut(usize, &[E]) -> bool) {
        let start = self.start.0.cast();
        let mut each = |at: usize, from: *const u8, len: usize| {
            // SAFETY: `visit_runs` gives that many adjacent elements, of the view or copied from it.
            each(at, unsafe { core::slice::from_raw_parts(from.cast(), len) })
        };
        // SAFETY: the view has elements at all positions of the walk.
        unsafe { visit_runs(&self.walk, start, size_of::<E>(), range, &mut each) }
    }
}

/// Runs of at least this many bytes are taken where they are.
const LONG: usize = 256;

/// Calls a function with the elements of a range of a walk: adjacent ones where they are, others gathered.
///
/// # Safety
/// The walk stays inside elements of `width` bytes from `start` on.
unsafe fn visit_runs(
    walk: &Walk<1>,
    start: *const u8,
    width: usize,
    range: Range<usize>,
    each: &mut dyn FnMut(usize, *const u8, usize) -> bool,
) {
    let mut staging = Staging::new();
    let (gathered, capacity) = (staging.start::<u8>(), Staging::BYTES / width);
    // `full` elements have been gathered, the first of which is element `at`.
    let (mut at, mut full) = (range.start, 0);
    for Run { starts: [first], len, steps: [step] } in walk.runs_between(range) {
        let from = start.wrapping_add(first * width);
        if step == 1 && len * width >= LONG {
            if full > 0 && !each(at, gathered, full) || !each(at + full, from, len) {
                return;
            }
            (at, full) = (at + full + len, 0);
            continue;
        }
        let mut taken = 0;
        while taken < len {
            let more = (len - taken).min(capacity - full);
            let (to, from) = (gathered.wrapping_add(full * width), from.wrapping_add(taken * step * width));
            // SAFETY: there is room for `more` elements, and the walk stays inside.
            unsafe { lines::copy_strided(width, more, (to, 1), (from, step)) };
            (taken, full) = (taken + more, full + more);
            if full == capacity {
                if !each(at, gathered, full) {
                    return;
                }
                (at, full) = (at + full, 0);
            }
        }
    }
    if full > 0 {
        each(at, gathered, full);
    }
}

/// The lanes of a view: its elements along some axes, for each position of the others.
pub(crate) struct Lanes<'a, E> {
    start: Shared<*mut E>,
    /// Sizes and strides, with the axes of the lanes last.
    sizes: [usize; 8],
    strides: [usize; 8],
    rank: usize,
    /// The number of axes before the lanes.
    outer: usize,
    count: usize,
    len: usize,
    view: PhantomData<&'a [E]>,
}

/// Sizes and strides with the axes of `mask` last, and the number of the others.
fn lanes_last(sizes: &[usize], strides: &[usize], mask: u32) -> ([usize; 8], [usize; 8], usize) {
    let (mut to_sizes, mut to_strides, mut at, mut outer) = ([1; 8], [0; 8], 0, 0);
    for wanted in [0, 1] {
        for axis in (0..sizes.len()).filter(|axis| mask >> axis & 1 == wanted) {
            (to_sizes[at], to_strides[at]) = (sizes[axis], strides[axis]);
            at += 1;
        }
        outer = if wanted == 0 { at } else { outer };
    }
    (to_sizes, to_strides, outer)
}

impl<'a, E: Element> Lanes<'a, E> {
    /// The lanes along the axes of `mask`.
    pub(crate) fn new(view: View<'a, HostBuffer, E>, mask: u32) -> Result<Self> {
        let rank = view.sizes.len();
        let (sizes, strides, outer) = lanes_last(view.sizes, view.strides, mask);
        let (count, len) = (result_len(&sizes[..outer])?, result_len(&sizes[outer..rank])?);
        let start = Shared(source(&view).cast_mut());
        Ok(Lanes { start, sizes, strides, rank, outer, count, len, view: PhantomData })
    }
    /// The elements of one lane after the other.
    pub(crate) fn elements(&self) -> Elements<'a, E> {
        let walk = Walk::row_major(&self.sizes[..self.rank], [&self.strides[..self.rank]]);
        Elements { walk, start: Shared(self.start.0.cast_const()), len: self.numel(), view: PhantomData }
    }
    /// The number of lanes.
    pub(crate) fn count(&self) -> usize {
        self.count
    }
    /// The number of elements of a lane.
    pub(crate) fn len(&self) -> usize {
        self.len
    }
    pub(crate) fn numel(&self) -> usize {
        self.count.saturating_mul(self.len)
    }

    /// Sizes and strides of the axes before the lanes.
    pub(crate) fn outer(&self) -> (&[usize], &[usize]) {
        (&self.sizes[..self.outer], &self.strides[..self.outer])
    }
    /// Whether neighbouring lanes are nearer to each other than the elements of a lane.
    pub(crate) fn lie_across(&self) -> bool {
        let nearest =
            |axes: Range<usize>| axes.filter(|&axis| self.sizes[axis] > 1).map(|axis| self.strides[axis]).min();
        let (between, inside) = (nearest(0..self.outer), nearest(self.outer..self.rank));
        self.count >= MANY && between.zip(inside).is_some_and(|(between, inside)| between < inside)
    }
    /// Calls a function with the place of each element of the first lane, in order.
    pub(crate) fn each_position(&self, each: &mut dyn FnMut(*const E)) {
        let axes = self.outer..self.rank;
        for run in Walk::row_major(&self.sizes[axes.clone()], [&self.strides[axes]]).runs() {
            for at in 0..run.len {
                each(self.start.0.wrapping_add(run.starts[0] + at * run.steps[0]).cast_const());
            }
        }
    }

    /// Calls a function with the lanes of a range in order, some at a time: the number of the first, its first element, and how many lie
    /// there one after the other. They are copied back if it `writes`.
    pub(crate) fn visit(
        &self,
        range: Range<usize>,
        writes: bool,
        each: &mut dyn FnMut(usize, *mut E, usize),
    ) -> Result<()> {
        if self.len == 0 {
            // Lanes without elements are nowhere.
            each(range.start, core::ptr::NonNull::dangling().as_ptr(), range.len());
            return Ok(());
        }
        let (outer, outer_strides) = self.outer();
        let (inner, strides) = (&self.sizes[self.outer..self.rank], &self.strides[self.outer..self.rank]);
        let lane = Walk::row_major(inner, [strides]);
        let is_adjacent = lane.line_run().is_some_and(|run| run.len == 1 || run.steps == [1]);
        // What is gathered at once stays in the cache, and is a few lanes even of long ones: neighbours are in one cache line.
        let width = size_of::<E>();
        let neighbours = (64 / width).min((LARGE / width / self.len).max(1));
        let most = if is_adjacent { 0 } else { (GATHERED / width / self.len).max(neighbours).min(range.len()) };
        let scratch = Scratch::<u8>::try_new([most, self.len, width])?;
        let (mut sizes, mut from_strides) = (vec![0], vec![0]);
        sizes.extend_from_slice(inner);
        from_strides.extend_from_slice(strides);
        let to_strides = row_major(&sizes);
        let mut at = range.start;
        for Run { starts: [first], len, steps: [step] } in Walk::row_major(outer, [outer_strides]).runs_between(range) {
            let from = self.start.0.wrapping_add(first);
            if is_adjacent && (step == self.len || len == 1) {
                each(at, from, len);
                at += len;
                continue;
            }
            let mut taken = 0;
            while taken < len {
                let from = from.wrapping_add(taken * step);
                let more = if is_adjacent { 1 } else { most.min(len - taken) };
                if is_adjacent {
                    each(at, from, 1);
                } else {
                    (sizes[0], from_strides[0]) = (more, step);
                    // SAFETY: there is room for `more` lanes, which are inside the view.
                    unsafe {
                        copying::copy_into(width, &sizes, [&to_strides, &from_strides], scratch.start(), from.cast());
                    }
                    each(at, scratch.start().cast(), more);
                    if writes {
                        // SAFETY: the same places, which may be written.
                        unsafe {
                            copying::copy_into(
                                width,
                                &sizes,
                                [&from_strides, &to_strides],
                                from.cast(),
                                scratch.start(),
                            );
                        }
                    }
                }
                (taken, at) = (taken + more, at + more);
            }
        }
        Ok(())
    }
}

/// Lanes for which a pass over all of them pays off.
const MANY: usize = 32;
/// Bytes of lanes that are gathered at once.
const GATHERED: usize = 32 << 10;
/// Bytes of neighbouring long lanes that are.
const LARGE: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs that are gathered before and after those that are taken where they are.
    #[test]
    fn a_range_is_given_in_order_with_its_places() {
        let buffer = HostBuffer::from_vec((0..400_i64).collect()).unwrap();
        let (sizes, strides) = ([5, 40], [70, 1]);
        let elements = Elements::<i64>::new(View::new(&buffer, 9, &sizes, &strides)).unwrap();
        for range in [0..200, 39..200, 35..121, 10..10, 100..101, 1..79] {
            let mut seen = vec![];
            elements.visit(range.clone(), &mut |start, part| {
                assert_eq!(start, range.start + seen.len());
                seen.extend_from_slice(part);
                true
            });
            let expected = range.clone().map(|at| (9 + at / 40 * 70 + at % 40) as i64);
            assert!(seen.into_iter().eq(expected), "{range:?}");
        }
        let mut calls = 0;
        elements.visit(0..200, &mut |_, _| {
            calls += 1;
            calls < 2
        });
        assert_eq!(calls, 2);
    }
}
