//! Reductions over any axes, of tensors and of expressions.
//!
//! Elements are reduced in blocks, and the blocks' partial results merged pairwise in a tree (pairwise summation).
//! Shape and strides alone fix the tree, so results do not depend on the number of threads. Where contiguous elements
//! belong to different results, many columns are reduced together.
//!
//! `plan` decides the blocking, `source` delivers elements, `loops` accumulates, `tree` merges. Used by `Cpu` and
//! `Dynamic`.

mod loops;
mod plan;
mod source;
mod tree;

use self::loops::{Destination, Facts, LineRun, RowRun};
pub(crate) use self::loops::{FirstOnly, ReduceLoops, WithSecond};
use self::plan::{Block, ReducePlan, SHORT};
use self::source::{Computed, ElementSource, Memory, Patch};
use self::tree::MergeTree;
use super::bytes::{Block16, ByteBuffer};
use super::elementwise::{self, result_len};
use super::threads::{self, Shared};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::layout::strides::is_contiguous;
use crate::ops::expression::{AXES, Expression};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::storage::{HostBuffer, View};
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

/// Partial results that need no allocation, in units of 16 bytes.
const INLINE_PARTIALS: usize = 64;

/// A reduction being carried out.
struct ReduceTask<'a> {
    functions: &'a dyn ReduceLoops,
    plan: &'a ReducePlan,
    source: &'a dyn ElementSource,
    outs: [*mut u8; 2],
    /// Sizes of a partial result and of an element in bytes.
    size: usize,
    element: usize,
    /// Whether the data is larger than the caches, so that it is prefetched.
    exceeds_caches: bool,
}

impl ReduceTask<'_> {
    /// Reduces a range of blocks of a unit; returns partial results, one for each of the unit's results.
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

    /// Reduces up to `count` consecutive blocks of one result; returns how many.
    ///
    /// # Safety
    /// There are such elements, and places for the partial results.
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
    /// There are such elements, and places for the partial results.
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

    /// Reduces a block of rows, each of which holds one element of each of `width` results.
    ///
    /// # Safety
    /// There are such elements, and the partial results have been started.
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
    /// The partial results of the unit have been written.
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

    /// Few results of one block each: nothing to merge, nothing to allocate.
    fn single(&self) {
        let (mut buffer, mut partials) = (ByteBuffer::new(), [Block16::UNINIT; INLINE_PARTIALS]);
        let (mut index, width) = self.plan.unit(0);
        let block = self.plan.block(0, &mut index);
        let partials = partials.as_mut_ptr().cast();
        // SAFETY: the plan gives indices of elements; who calls has seen that there is room for the partial results.
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

    /// Reduces all units, on so many threads.
    fn run(&self, pieces: usize) -> Result<()> {
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
        // Few results: threads divide their blocks.
        let chunks = blocks.div_ceil(chunk);
        let work = units * chunks;
        let mut partials = ByteBuffer::try_new(work.saturating_mul(width).saturating_mul(self.size))?;
        let bytes = width * self.size;
        let (places, each) = (Shared(partials.reserve(0)), work.div_ceil(4 * pieces));
        threads::for_each(work.div_ceil(each), &|piece| {
            let (task, places) = (&task, &places);
            let mut workspace = Workspace::new(task.0.size);
            for at in piece * each..work.min((piece + 1) * each) {
                let (unit, low) = (at / chunks, at % chunks * chunk);
                let some = task.0.part(unit, low..blocks.min(low + chunk), &mut workspace);
                // SAFETY: each piece of work has places of its own, as many as a unit has results.
                unsafe { places.0.add(at * bytes).copy_from_nonoverlapping(some, task.0.row(unit)) };
            }
        });
        let mut tree = MergeTree::new(self.size);
        for unit in 0..units {
            tree.clear(self.plan.unit(unit).1 * self.plan.folds);
            for chunk in 0..chunks {
                // SAFETY: the pieces of work have written them.
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

/// Data of so many bytes is prefetched; less may be in a cache.
const FAR: usize = 8 << 20;

/// Carries out a plan; `bytes` are read for each element.
fn results_of<const N: usize>(
    functions: &dyn ReduceLoops,
    facts: Facts,
    mut plan: ReducePlan,
    source: &dyn ElementSource,
    bytes: usize,
) -> Result<[HostBuffer; N]> {
    let sizes = core::array::from_fn(|at| facts.outs[at].map_or(0, DType::itemsize));
    let (size, element) = (facts.partial, facts.element);
    // SAFETY: every result is written, each at a place of its own.
    unsafe {
        HostBuffer::filled_together(plan.results, sizes, &mut |starts: [*mut u8; N]| {
            let mut outs = [core::ptr::null_mut(); 2];
            outs[..N].copy_from_slice(&starts);
            if plan.count == 0 {
                let mut partial = ByteBuffer::new();
                let partial = partial.reserve(size);
                functions.start(partial, 1);
                let is_single = plan.results == 1;
                for first in 0..plan.results {
                    functions.finish(Destination { outs, first, step: 1, count: 0, is_single }, partial, 1);
                }
            } else if plan.results > 0 {
                let read = plan.results.saturating_mul(plan.count) / 64 * bytes.max(1);
                let pieces = threads::pieces(read);
                if pieces > 1 {
                    plan.spread(pieces);
                }
                return ReduceTask {
                    functions,
                    plan: &plan,
                    source,
                    outs,
                    size,
                    element,
                    exceeds_caches: read > FAR / 64,
                }
                .run(pieces);
            }
            Ok(())
        })
    }
}

/// Reduces elements of the functions' dtype over the axes of `mask`; the results, as many as the functions have, are
/// row-major over the others.
///
/// # Safety
/// From the pointer on there are elements of these sizes and strides.
pub(crate) unsafe fn run<const N: usize>(
    functions: &dyn ReduceLoops,
    from: *const u8,
    sizes: &[usize],
    strides: &[usize],
    mask: u32,
) -> Result<[HostBuffer; N]> {
    let facts = functions.facts();
    assert_eq!(facts.outs.iter().flatten().count(), N, "a buffer for each result");
    let mut memory = Memory { from, size: facts.element, strides: [0; AXES] };
    let plan = if mask.trailing_ones() as usize >= sizes.len() && is_contiguous(sizes, strides) {
        memory.strides[0] = 1;
        ReducePlan::line(sizes.iter().product())
    } else {
        kept_len(sizes, mask)?;
        memory.strides[..strides.len()].copy_from_slice(strides);
        let mut read = [1; AXES];
        let read = &mut read[..sizes.len()];
        read.copy_from_slice(sizes);
        if !facts.counts_repeats {
            once(read, strides, mask);
        }
        ReducePlan::new(&mut memory, read, mask, facts, false)
    };
    results_of(functions, facts, plan, &memory, memory.size)
}

/// Reduces the axes of `mask` with broadcast elements to size 1.
fn once(sizes: &mut [usize], strides: &[usize], mask: u32) {
    for (axis, (size, &stride)) in sizes.iter_mut().zip(strides).enumerate() {
        if mask >> axis & 1 == 1 && stride == 0 {
            *size = (*size).min(1);
        }
    }
}

/// Reduces over the axes of `mask`; the result is row-major over the others.
pub(crate) fn reduce<A: Element, R: Reducer<A>>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<HostBuffer> {
    let from = elementwise::source(&a).cast();
    // SAFETY: the view's invariant.
    let [result] = unsafe { run(&FirstOnly::<A, R>::new(reducer), from, a.sizes, a.strides, mask)? };
    Ok(result)
}

/// Both results of a reduction.
pub(crate) fn reduce_both<A: Element, R: TwoResults<A>>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<[HostBuffer; 2]> {
    let from = elementwise::source(&a).cast();
    // SAFETY: the view's invariant.
    unsafe { run(&WithSecond::<A, R>::new(reducer), from, a.sizes, a.strides, mask) }
}

/// Reduces an expression over the axes of `mask`, in the same order as its evaluated elements would be.
pub(crate) fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(
    reducer: R,
    mut x: X,
    sizes: &[usize],
    mask: u32,
) -> Result<HostBuffer> {
    kept_len(sizes, mask)?;
    let functions = FirstOnly::<X::Elem, R>::new(reducer);
    let facts = functions.facts();
    let plan = ReducePlan::new(&mut x, sizes, mask, facts, true);
    let [result] = results_of(&functions, facts, plan, &Computed(x), X::BYTES)?;
    Ok(result)
}

/// Checks that the number of results does not overflow.
fn kept_len(sizes: &[usize], mask: u32) -> Result<usize> {
    let mut kept = [1; AXES];
    let axes = (0..sizes.len()).filter(|axis| mask >> axis & 1 == 0);
    axes.enumerate().for_each(|(to, from)| kept[to] = sizes[from]);
    result_len(&kept)
}
