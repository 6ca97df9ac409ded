//! A running reduction: units of results, blocks of elements, and their division among threads.

use super::functions::{Destination, LineRun, ReduceLoops, RowRun};
use super::plan::{Block, ReducePlan, SHORT};
use super::source::{ElementSource, Patch};
use super::tree::MergeTree;
use crate::cpu::bytes::{self, Block16, ByteBuffer};
use crate::cpu::threads::{self, Shared};
use crate::error::Result;
use crate::ops::expression::AXES;
use crate::ops::formula::MOST_RESULTS;
use core::ops::Range;

/// A thread's buffers.
struct Workspace {
    buffer: ByteBuffer,
    tree: MergeTree,
}
impl Workspace {
    fn new(size: usize) -> Self {
        Workspace { buffer: ByteBuffer::new(), tree: MergeTree::new(size) }
    }
}

/// Partial results stored inline, without allocation, in units of 16 bytes.
pub(super) const INLINE_PARTIALS: usize = 64;

/// A running reduction.
pub(super) struct ReduceTask<'a> {
    pub(super) functions: &'a dyn ReduceLoops,
    pub(super) plan: &'a ReducePlan,
    pub(super) source: &'a dyn ElementSource,
    pub(super) outs: [*mut u8; MOST_RESULTS],
    /// Sizes of a partial result and of an element in bytes.
    pub(super) size: usize,
    pub(super) element: usize,
    /// Whether the data exceeds the caches, so that it is prefetched.
    pub(super) exceeds_caches: bool,
}

impl ReduceTask<'_> {
    /// Reduces a range of blocks of a unit; returns one partial result per result of the unit.
    fn part(&self, unit: usize, blocks: Range<usize>, workspace: &mut Workspace) -> *mut u8 {
        let plan = self.plan;
        let (mut index, width) = plan.unit(unit);
        let Workspace { buffer, tree } = workspace;
        tree.clear(width * plan.folds);
        let Range { start: mut block, end } = blocks;
        let mut some_partials = [Block16::UNINIT; INLINE_PARTIALS];
        let fitting = size_of_val(&some_partials) / self.size.max(1);
        while block < end {
            let some = plan.block(block, &mut index);
            // SAFETY: the plan gives indices of elements; there is room for the partial results, which are written.
            unsafe {
                if width == 1 && !plan.by_columns && fitting > 0 {
                    let partials = some_partials.as_mut_ptr().cast();
                    let accumulated =
                        self.blocks(&index, &some, buffer, partials, some.alike.min(end - block).min(fitting));
                    tree.climb(self.functions, partials, accumulated);
                    block += accumulated;
                    continue;
                }
                let partials = tree.grow();
                if plan.by_columns {
                    self.functions.start(partials, width * plan.folds);
                    self.columns(index, &some, width, buffer, partials);
                } else {
                    self.lines(index, &some, width, buffer, partials);
                }
            }
            tree.carry(self.functions);
            block += 1;
        }
        tree.join(self.functions)
    }

    /// Reduces up to `count` consecutive blocks of one result; returns how many were reduced.
    ///
    /// # Safety
    /// These elements exist, and there is room for the partial results.
    unsafe fn blocks(
        &self,
        index: &[usize; AXES],
        block: &Block,
        buffer: &mut ByteBuffer,
        partials: *mut u8,
        mut count: usize,
    ) -> usize {
        let [_, along] = self.plan.axes();
        let &Block { position, len, across, .. } = block;
        let lines = if across.is_some() { count } else { 1 };
        let patch = Patch {
            lines,
            across: across.unwrap_or(AXES - 1),
            len: len * (count / lines),
            along,
            multiple: 1,
            dense: false,
        };
        // SAFETY: the caller's promise.
        unsafe {
            let found = self.source.find(index, patch, buffer);
            let mut step = len;
            if across.is_some() {
                (count, step) = (found.lines, found.step);
            }
            let lines =
                LineRun { from: found.from, step, len, position, next: len, exceeds_caches: self.exceeds_caches };
            self.functions.lines(lines, partials, count);
        }
        count
    }

    /// Reduces one block of each of `width` results.
    ///
    /// # Safety
    /// These elements exist, and there is room for the partial results.
    unsafe fn lines(
        &self,
        mut index: [usize; AXES],
        block: &Block,
        width: usize,
        buffer: &mut ByteBuffer,
        partials: *mut u8,
    ) {
        let [across, along] = self.plan.axes();
        let &Block { position, len, .. } = block;
        let mut done = 0;
        while done < width {
            let patch = Patch { lines: width - done, across, len, along, multiple: 1, dense: false };
            // SAFETY: the caller's promise.
            unsafe {
                let found = self.source.find(&index, patch, buffer);
                let lines = LineRun {
                    from: found.from,
                    step: found.step,
                    len,
                    position,
                    next: 0,
                    exceeds_caches: self.exceeds_caches,
                };
                self.functions.lines(lines, partials.add(done * self.size), found.lines);
                index[across] += found.lines;
                done += found.lines;
            }
        }
    }

    /// Reduces a block of rows, each of which has one element of each of `width` results.
    ///
    /// # Safety
    /// These elements exist, and the partial results are initialised.
    unsafe fn columns(
        &self,
        mut index: [usize; AXES],
        block: &Block,
        width: usize,
        buffer: &mut ByteBuffer,
        partials: *mut u8,
    ) {
        let (folds, exceeds_caches) = (self.plan.folds, self.exceeds_caches);
        let [along, across] = self.plan.axes();
        let &Block { mut position, len: mut lines, .. } = block;
        while lines > 0 {
            let patch = Patch { lines, across, len: width, along, multiple: folds, dense: folds > 1 };
            // SAFETY: the caller's promise.
            unsafe {
                let found = self.source.find(&index, patch, buffer);
                // A folded row is `folds` contiguous rows; the last may be shorter.
                let (rows, rest) = (found.lines / folds, found.lines % folds);
                let (from, step) = (found.from, if folds > 1 { folds * width } else { found.step });
                self.functions.rows(RowRun { from, step, rows, position, exceeds_caches }, partials, width * folds);
                if rest > 0 {
                    let from = from.wrapping_add(rows * step * self.element);
                    self.functions.rows(
                        RowRun { from, step, rows: 1, position, exceeds_caches },
                        partials,
                        rest * width,
                    );
                }
                index[across] += found.lines;
                position += found.lines;
                lines -= found.lines;
            }
        }
    }

    /// Writes the results of a unit.
    ///
    /// # Safety
    /// The partial results of the unit are written.
    unsafe fn write(&self, unit: usize, partials: *mut u8) {
        let (index, width) = self.plan.unit(unit);
        let (first, step) = self.plan.places(&index);
        let mut folds = self.plan.folds;
        // SAFETY: the caller's promise; the plan gives places of results.
        unsafe {
            while folds > 1 {
                let half = folds.div_ceil(2);
                let later = partials.add(half * width * self.size);
                self.functions.merge(partials, later, (folds - half) * width);
                folds = half;
            }
            let ReducePlan { count, results, .. } = *self.plan;
            let places = Destination { outs: self.outs, first, step, count, is_single: results == 1 };
            self.functions.finish(places, partials, width);
        }
    }

    /// Few results of one block each: no merging, no allocation.
    fn single(&self) {
        let (mut buffer, mut partials) = (ByteBuffer::new(), [Block16::UNINIT; INLINE_PARTIALS]);
        let (mut index, width) = self.plan.unit(0);
        let block = self.plan.block(0, &mut index);
        let partials = partials.as_mut_ptr().cast();
        // SAFETY: the plan gives indices of elements; the caller has checked that there is room for the partial results.
        unsafe {
            if self.plan.by_columns {
                self.functions.start(partials, width * self.plan.folds);
                self.columns(index, &block, width, &mut buffer, partials);
            } else {
                self.lines(index, &block, width, &mut buffer, partials);
            }
            self.write(0, partials);
        }
    }

    fn units(&self, units: Range<usize>) {
        let (mut workspace, blocks) = (Workspace::new(self.size), self.plan.blocks());
        for unit in units {
            let partials = self.part(unit, 0..blocks, &mut workspace);
            // SAFETY: these are the partial results of the unit.
            unsafe { self.write(unit, partials) }
        }
    }

    /// Reduces all units on `pieces` threads.
    pub(super) fn run(&self, pieces: usize) -> Result<()> {
        let (units, blocks, chunk) = (self.plan.units(), self.plan.blocks(), self.plan.chunk());
        let width = self.plan.width * self.plan.folds;
        if units == 1 && blocks == 1 && width <= SHORT && width * self.size <= size_of::<[Block16; INLINE_PARTIALS]>() {
            self.single();
            return Ok(());
        }
        if pieces == 1 {
            self.units(0..units);
            return Ok(());
        }
        let task = Shared(self);
        if units >= pieces || blocks <= chunk {
            let each = units.div_ceil(pieces);
            threads::for_each(units.div_ceil(each), &|piece| {
                let task = &task;
                task.0.units(piece * each..units.min((piece + 1) * each));
            });
            return Ok(());
        }
        // With few results, threads divide their blocks.
        let chunks = blocks.div_ceil(chunk);
        let work = units * chunks;
        let mut partials = bytes::uninitialised(work.saturating_mul(width).saturating_mul(self.size))?;
        let bytes = width * self.size;
        let (places, each) = (Shared(partials.as_mut_ptr().cast::<u8>()), work.div_ceil(4 * pieces));
        threads::for_each(work.div_ceil(each), &|piece| {
            let (task, places) = (&task, &places);
            let mut workspace = Workspace::new(task.0.size);
            for at in piece * each..work.min((piece + 1) * each) {
                let (unit, low) = (at / chunks, at % chunks * chunk);
                let some = task.0.part(unit, low..blocks.min(low + chunk), &mut workspace);
                // SAFETY: each piece of work has its own places, one per result of a unit.
                unsafe { places.0.add(at * bytes).copy_from_nonoverlapping(some, task.0.row(unit)) };
            }
        });
        let mut tree = MergeTree::new(self.size);
        for unit in 0..units {
            tree.clear(self.plan.unit(unit).1 * self.plan.folds);
            for chunk in 0..chunks {
                // SAFETY: the pieces of work have initialised them.
                unsafe {
                    tree.grow().copy_from_nonoverlapping(places.0.add((unit * chunks + chunk) * bytes), self.row(unit))
                }
                tree.carry(self.functions);
            }
            // SAFETY: these are the partial results of the unit.
            unsafe { self.write(unit, tree.join(self.functions)) }
        }
        Ok(())
    }

    /// Bytes of a unit's partial results.
    fn row(&self, unit: usize) -> usize {
        self.plan.unit(unit).1 * self.plan.folds * self.size
    }
}
