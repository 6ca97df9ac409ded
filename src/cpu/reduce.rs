//! Reductions over any axes.
//!
//! Partial results are merged in a tree that the shape alone decides: halves down to blocks, so that sums of floats
//! lose little and do not depend on how work is divided. Where the elements side by side in memory belong to different
//! results, a block of columns is reduced together. Uses walks; used by `Cpu`.

use super::elementwise::result_len;
use super::walk::Walk;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops::reduce::Reducer;
use crate::storage::{HostBuffer, View};

/// Elements met one after another before partial results are merged.
const BLOCK: usize = 128;
/// Partial results kept side by side, in a block and across columns.
const LANES: usize = 16;

/// The axes reduced over, in row-major order: the last one (merged with those before it where they run on) and the
/// others.
struct Inside<A> {
    from: *const A,
    len: usize,
    step: usize,
    /// Sizes and strides of the others, outermost first.
    outer: Vec<(usize, usize)>,
    rows: usize,
}

impl<A: Element> Inside<A> {
    /// The start of a row.
    fn row(&self, mut row: usize) -> usize {
        let mut offset = 0;
        for &(size, stride) in self.outer.iter().rev() {
            offset += row % size * stride;
            row /= size;
        }
        offset
    }

    /// # Safety
    /// `base` is an offset of a result's first element, so all that the axes reach from it is inside the view.
    unsafe fn reduce<R: Reducer<A>>(&self, reducer: R, base: usize) -> R::Partial {
        // SAFETY: the caller's promise.
        unsafe { self.rows(reducer, base, 0, self.rows) }
    }

    /// # Safety
    /// As for `reduce`; `low < high <= rows`.
    unsafe fn rows<R: Reducer<A>>(&self, reducer: R, base: usize, low: usize, high: usize) -> R::Partial {
        // SAFETY: the caller's promise; the halves are in range.
        unsafe {
            if high - low == 1 {
                return self.span(reducer, base + self.row(low), low * self.len, 0, self.len);
            }
            let middle = low + (high - low) / 2;
            reducer.merge(self.rows(reducer, base, low, middle), self.rows(reducer, base, middle, high))
        }
    }

    /// # Safety
    /// As for `reduce`; `low <= high <= len`.
    unsafe fn span<R: Reducer<A>>(&self, reducer: R, base: usize, index: usize, low: usize, high: usize) -> R::Partial {
        if high - low > BLOCK {
            // a multiple of the lanes, so that both halves fill them
            let middle = low + ((high - low) / 2).next_multiple_of(LANES);
            // SAFETY: the caller's promise; the halves are in range.
            unsafe {
                return reducer.merge(
                    self.span(reducer, base, index, low, middle),
                    self.span(reducer, base, index, middle, high),
                );
            }
        }
        // SAFETY: `low..high` steps from `base` are inside the view.
        let at = |i: usize| unsafe { self.from.add(base + i * self.step).read() };
        let mut lanes = [reducer.start(); LANES];
        let mut position = low;
        while position + LANES <= high {
            for (lane, partial) in lanes.iter_mut().enumerate() {
                *partial = reducer.meet(*partial, at(position + lane), index + position + lane);
            }
            position += LANES;
        }
        for (position, partial) in (position..high).zip(&mut lanes) {
            *partial = reducer.meet(*partial, at(position), index + position);
        }
        // halves, quarters, …
        let mut width = (high - low).next_power_of_two().min(LANES) / 2;
        while width > 0 {
            for lane in 0..width {
                lanes[lane] = reducer.merge(lanes[lane], lanes[lane + width]);
            }
            width /= 2;
        }
        lanes[0]
    }

    /// Reduces `LANES` neighbouring columns, `across` apart, at once.
    ///
    /// # Safety
    /// As for `reduce`, for each of the columns; `low < high <= rows * len`, counted over the reduced axes in row-major
    /// order.
    unsafe fn columns<R: Reducer<A>>(
        &self,
        reducer: R,
        base: usize,
        across: usize,
        low: usize,
        high: usize,
    ) -> [R::Partial; LANES] {
        if high - low > BLOCK {
            let middle = low + (high - low) / 2;
            // SAFETY: the caller's promise; the halves are in range.
            let (mut earlier, later) = unsafe {
                (self.columns(reducer, base, across, low, middle), self.columns(reducer, base, across, middle, high))
            };
            for (partial, later) in earlier.iter_mut().zip(later) {
                *partial = reducer.merge(*partial, later);
            }
            return earlier;
        }
        let mut partials = [reducer.start(); LANES];
        let mut index = low;
        while index < high {
            let row = index / self.len;
            let start = base + self.row(row);
            let until = high.min((row + 1) * self.len);
            for index in index..until {
                let offset = start + index % self.len * self.step;
                for (column, partial) in partials.iter_mut().enumerate() {
                    // SAFETY: the caller's promise.
                    let element = unsafe { self.from.add(offset + column * across).read() };
                    *partial = reducer.meet(*partial, element, index);
                }
            }
            index = until;
        }
        partials
    }
}

pub(crate) fn reduce<A: Element, R: Reducer<A>>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<HostBuffer> {
    let split = |reduced: bool| -> (Vec<usize>, Vec<usize>) {
        (0..a.sizes.len())
            .filter(|axis| (mask >> axis & 1 == 1) == reduced)
            .map(|axis| (a.sizes[axis], a.strides[axis]))
            .unzip()
    };
    let (kept_sizes, kept_strides) = split(false);
    let (sizes, strides) = split(true);
    // Row-major runs over the reduced axes: the inner one is the loop, the others are rows.
    let mut axes: Vec<(usize, usize)> = Vec::with_capacity(sizes.len());
    for (&size, &stride) in sizes.iter().zip(&strides) {
        match axes.last_mut() {
            _ if size == 1 => {}
            Some((outer, outer_stride)) if *outer_stride == stride * size => {
                *outer *= size;
                *outer_stride = stride;
            }
            _ => axes.push((size, stride)),
        }
    }
    let (len, step) = axes.pop().unwrap_or((1, 0));
    let rows: usize = axes.iter().map(|&(size, _)| size).product();
    // SAFETY: the offset of a view lies inside its buffer (or at its end, if the view is empty).
    let from = unsafe { a.buffer.start::<A>().add(a.offset) };
    let inside = Inside { from, len, step, outer: axes, rows };
    let count = len * rows;
    let results = result_len(&kept_sizes)?;
    let walk = Walk::row_major(&kept_sizes, [&kept_strides]);

    // SAFETY: `walk` visits the kept axes in row-major order, so `next` runs over all `results` places, each written
    // once; every offset it gives is a result's first element.
    unsafe {
        HostBuffer::filled_by(results, |out: *mut R::Out| {
            let mut next = out;
            let mut put = |partial: R::Partial| {
                next.write(reducer.finish(partial, count));
                next = next.add(1);
            };
            for run in walk.runs() {
                let (mut base, across) = (run.starts[0], run.steps[0]);
                let mut left = run.len;
                if count == 0 {
                    (0..left).for_each(|_| put(reducer.start()));
                    continue;
                }
                // Neighbours in memory belong to different results: take a block of them at once.
                if across < step || (step == 0 && across != 0) {
                    while left >= LANES {
                        inside.columns(reducer, base, across, 0, count).into_iter().for_each(&mut put);
                        base += across * LANES;
                        left -= LANES;
                    }
                }
                for result in 0..left {
                    put(inside.reduce(reducer, base + result * across));
                }
            }
            Ok(())
        })
    }
}
