//! Reductions over any axes, of tensors and of expressions.
//!
//! Elements are met block by block, and the blocks' partial results merged in a tree: neighbours, then pairs of neighbours,
//! and so on. Shape and strides alone decide the tree, so sums of floats lose little and do not depend on how many threads there
//! are. Where the elements side by side in memory belong to different results, many columns are reduced together.
//!
//! `plan` says what is met with what, `source` finds the elements, `loops` meet them, `tree` merges. Used by `Cpu`.

mod loops;
mod plan;
mod source;
mod tree;

use self::loops::{Lines, Rows};
use self::plan::{Block, Needs, Plan, SHORT};
use self::source::{Computed, Memory, Patch, Room, Source};
use self::tree::Tree;
use super::elementwise::{self, result_len};
use super::simd;
use super::threads::{self, Shared};
use crate::dtype::Element;
use crate::error::{Result, filled};
use crate::layout::strides::is_contiguous;
use crate::ops::expression::{AXES, Expression};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::storage::{HostBuffer, View};
use core::ops::Range;

/// What a thread works with: room for elements, and partial results.
struct Desk<A, P> {
    room: Room<A>,
    tree: Tree<P>,
}
impl<A, P: Copy> Desk<A, P> {
    fn new() -> Self {
        Desk { room: Room::new(), tree: Tree::new() }
    }
}

/// What becomes of the partial results of all elements: the place of the first result, from each to the next, and the partial results.
type Results<'a, P> = dyn Fn(usize, usize, &[P]) + Sync + 'a;

/// A reduction that is carried out.
struct Task<'a, A, R: Reducer<A>>
where
    A: Copy,
{
    reducer: R,
    plan: &'a Plan,
    source: &'a dyn Source<A>,
    results: &'a Results<'a, R::Partial>,
    /// Whether the elements are far from the processor.
    far: bool,
}

impl<A: Copy, R: Reducer<A>> Task<'_, A, R> {
    fn merge(&self) -> impl Fn(R::Partial, R::Partial) -> R::Partial + use<A, R> {
        let reducer = self.reducer;
        move |one, other| reducer.merge(one, other)
    }

    /// Some of the blocks of a unit.
    fn part<'d>(&self, unit: usize, blocks: Range<usize>, desk: &'d mut Desk<A, R::Partial>) -> &'d mut [R::Partial] {
        let (plan, start) = (self.plan, self.reducer.start());
        let (mut index, width) = plan.unit(unit);
        let Desk { room, tree } = desk;
        tree.clear(width * plan.folds);
        let Range { start: mut block, end } = blocks;
        while block < end {
            let some = plan.block(block, &mut index);
            // SAFETY: the plan gives indices of elements.
            unsafe {
                if width == 1 && !plan.by_columns {
                    let mut partials = [start; SHORT];
                    let partials = self.blocks(&index, &some, room, &mut partials[..some.alike.min(end - block)]);
                    block += partials.len();
                    for &mut partial in partials {
                        tree.grow(partial);
                        tree.carry(self.merge());
                    }
                    continue;
                }
                let partials = tree.grow(start);
                if plan.by_columns {
                    self.columns(index, &some, width, room, partials);
                } else {
                    self.lines(index, &some, room, partials);
                }
            }
            tree.carry(self.merge());
            block += 1;
        }
        tree.join(self.merge())
    }

    /// Blocks of one result that follow one another: as many of them as are found at once.
    ///
    /// # Safety
    /// There are such elements.
    unsafe fn blocks<'p>(
        &self,
        index: &[usize; AXES],
        block: &Block,
        room: &mut Room<A>,
        partials: &'p mut [R::Partial],
    ) -> &'p mut [R::Partial] {
        let [_, along] = self.plan.axes();
        let &Block { position, len, across, .. } = block;
        let lines = if across.is_some() { partials.len() } else { 1 };
        let patch = Patch {
            lines,
            across: across.unwrap_or(AXES - 1),
            len: len * (partials.len() / lines),
            along,
            multiple: 1,
            dense: false,
        };
        // SAFETY: the caller's promise.
        let found = unsafe { self.source.find(index, patch, room) };
        let partials = if across.is_some() { &mut partials[..found.lines] } else { partials };
        let (reducer, from) = (self.reducer, found.from);
        let step = if across.is_some() { found.step } else { len };
        simd::dispatch(Lines { reducer, from, step, len, position, next: len, far: self.far, partials });
        partials
    }

    /// A block of each result.
    ///
    /// # Safety
    /// There are such elements.
    unsafe fn lines(
        &self,
        mut index: [usize; AXES],
        block: &Block,
        room: &mut Room<A>,
        mut partials: &mut [R::Partial],
    ) {
        let [across, along] = self.plan.axes();
        let &Block { position, len, .. } = block;
        while !partials.is_empty() {
            let patch = Patch { lines: partials.len(), across, len, along, multiple: 1, dense: false };
            // SAFETY: the caller's promise.
            let found = unsafe { self.source.find(&index, patch, room) };
            let some;
            (some, partials) = partials.split_at_mut(found.lines);
            let (reducer, from, step) = (self.reducer, found.from, found.step);
            simd::dispatch(Lines { reducer, from, step, len, position, next: 0, far: self.far, partials: some });
            index[across] += found.lines;
        }
    }

    /// A block of rows that hold an element of each of `width` results.
    ///
    /// # Safety
    /// There are such elements.
    unsafe fn columns(
        &self,
        mut index: [usize; AXES],
        block: &Block,
        width: usize,
        room: &mut Room<A>,
        partials: &mut [R::Partial],
    ) {
        let (reducer, folds) = (self.reducer, self.plan.folds);
        let [along, across] = self.plan.axes();
        let &Block { mut position, len: mut lines, .. } = block;
        while lines > 0 {
            let patch = Patch { lines, across, len: width, along, multiple: folds, dense: folds > 1 };
            // SAFETY: the caller's promise.
            let found = unsafe { self.source.find(&index, patch, room) };
            // Folded rows are `folds` rows side by side; the last may be shorter.
            let (rows, rest) = (found.lines / folds, found.lines % folds);
            let (from, step) = (found.from, if folds > 1 { folds * width } else { found.step });
            simd::dispatch(Rows { reducer, from, step, rows, position, far: self.far, partials });
            if rest > 0 {
                let (from, partials) = (from.wrapping_add(rows * step), &mut partials[..rest * width]);
                simd::dispatch(Rows { reducer, from, step, rows: 1, position, far: self.far, partials });
            }
            index[across] += found.lines;
            position += found.lines;
            lines -= found.lines;
        }
    }

    /// Writes the results of a unit.
    fn write(&self, unit: usize, partials: &mut [R::Partial]) {
        let (index, width) = self.plan.unit(unit);
        let mut folds = self.plan.folds;
        while folds > 1 {
            let half = folds.div_ceil(2);
            let (low, high) = partials.split_at_mut(half * width);
            for (low, high) in low.iter_mut().zip(&high[..(folds - half) * width]) {
                *low = self.reducer.merge(*low, *high);
            }
            folds = half;
        }
        let (first, step) = self.plan.places(&index);
        (self.results)(first, step, &partials[..width]);
    }

    /// Few results of one block each: there is nothing to merge, and no memory is asked for.
    fn single(&self) {
        let (mut room, mut partials) = (Room::new(), [self.reducer.start(); SHORT]);
        let (mut index, width) = self.plan.unit(0);
        let block = self.plan.block(0, &mut index);
        let partials = &mut partials[..width * self.plan.folds];
        // SAFETY: the plan gives indices of elements.
        unsafe {
            if self.plan.by_columns {
                self.columns(index, &block, width, &mut room, partials);
            } else {
                self.lines(index, &block, &mut room, partials);
            }
        }
        self.write(0, partials);
    }

    fn units(&self, units: Range<usize>) {
        let (mut desk, blocks) = (Desk::new(), self.plan.blocks());
        for unit in units {
            let partials = self.part(unit, 0..blocks, &mut desk);
            self.write(unit, partials);
        }
    }

    /// All units, by so many threads.
    fn run(&self, pieces: usize) -> Result<()> {
        let (units, blocks, chunk) = (self.plan.units(), self.plan.blocks(), self.plan.chunk());
        if units == 1 && blocks == 1 && self.plan.width * self.plan.folds <= SHORT {
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
        // Few results: each thread takes some blocks of some.
        let (chunks, width) = (blocks.div_ceil(chunk), self.plan.width * self.plan.folds);
        let mut partials = filled(self.reducer.start(), (units * chunks).saturating_mul(width))?;
        let places = Shared(partials.as_mut_ptr());
        let (work, each) = (units * chunks, (units * chunks).div_ceil(4 * pieces));
        threads::for_each(work.div_ceil(each), &|piece| {
            let (task, places) = (&task, &places);
            let mut desk = Desk::new();
            for at in piece * each..work.min((piece + 1) * each) {
                let (unit, low) = (at / chunks, at % chunks * chunk);
                let some = task.0.part(unit, low..blocks.min(low + chunk), &mut desk);
                // SAFETY: each piece of work has places of its own, as many as a unit has results.
                unsafe { places.0.add(at * width).copy_from_nonoverlapping(some.as_ptr(), some.len()) };
            }
        });
        let mut tree = Tree::new();
        for unit in 0..units {
            tree.clear(self.plan.unit(unit).1 * self.plan.folds);
            for chunk in partials[unit * chunks * width..].chunks(width).take(chunks) {
                let row = tree.grow(self.reducer.start());
                row.copy_from_slice(&chunk[..row.len()]);
                tree.carry(self.merge());
            }
            self.write(unit, tree.join(self.merge()));
        }
        Ok(())
    }
}

/// Elements of so many bytes are asked for ahead of their use where they lie in rows; fewer may be in a cache.
const FAR: usize = 8 << 20;

/// Carries out a plan; `bytes` are read for each element. Each result is given once to `results`.
fn execute<A: Copy, R: Reducer<A>>(
    reducer: R,
    plan: &mut Plan,
    source: &dyn Source<A>,
    bytes: usize,
    results: &Results<'_, R::Partial>,
) -> Result<()> {
    let read = plan.results.saturating_mul(plan.count) / 64 * bytes.max(1);
    let pieces = threads::pieces(read);
    if pieces > 1 {
        plan.spread(pieces);
    }
    if plan.count == 0 {
        (0..plan.results).for_each(|at| results(at, 1, &[reducer.start()]));
    } else if plan.results > 0 {
        return Task { reducer, plan, source, results, far: read > FAR / 64 }.run(pieces);
    }
    Ok(())
}

/// The results of a plan.
fn results_of<A: Copy, R: Reducer<A>>(
    reducer: R,
    mut plan: Plan,
    source: &dyn Source<A>,
    bytes: usize,
) -> Result<HostBuffer> {
    let count = plan.count;
    // SAFETY: every result is written, each at a place of its own.
    unsafe {
        HostBuffer::filled_by(plan.results, |out: *mut R::Out| {
            let out = Shared(out);
            execute(reducer, &mut plan, source, bytes, &|first, step, partials| {
                let out = &out;
                for (at, &partial) in partials.iter().enumerate() {
                    out.0.add(first + at * step).write(reducer.finish(partial, count));
                }
            })
        })
    }
}

fn needs<A: Copy, R: Reducer<A>>(computes: bool) -> Needs {
    Needs { has_positions: R::HAS_POSITIONS, by_blocks: R::BY_BLOCKS, computes, bytes: size_of::<R::Partial>() }
}

/// Where elements are, and how they are reduced over the axes of `mask`.
fn planned<A: Element, R: Reducer<A>>(a: View<'_, HostBuffer, A>, mask: u32) -> Result<(Memory<A>, Plan)> {
    let from = elementwise::source(&a);
    let mut memory = Memory { from, strides: [0; AXES] };
    if mask.trailing_ones() as usize >= a.sizes.len() && is_contiguous(a.sizes, a.strides) {
        memory.strides[0] = 1;
        return Ok((memory, Plan::line(a.sizes.iter().product())));
    }
    kept_len(a.sizes, mask)?;
    memory.strides[..a.strides.len()].copy_from_slice(a.strides);
    let mut sizes = [1; AXES];
    let sizes = &mut sizes[..a.sizes.len()];
    sizes.copy_from_slice(a.sizes);
    if !R::COUNTS_REPEATS {
        once(sizes, a.strides, mask);
    }
    let plan = Plan::new(&mut memory, sizes, mask, needs::<A, R>(false));
    Ok((memory, plan))
}

/// Axes of `mask` along which elements are repeated, made one position.
fn once(sizes: &mut [usize], strides: &[usize], mask: u32) {
    for (axis, (size, &stride)) in sizes.iter_mut().zip(strides).enumerate() {
        if mask >> axis & 1 == 1 && stride == 0 {
            *size = (*size).min(1);
        }
    }
}

pub(crate) fn reduce<A: Element, R: Reducer<A>>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<HostBuffer> {
    let (memory, plan) = planned::<A, R>(a, mask)?;
    results_of(reducer, plan, &memory, size_of::<A>())
}

/// Both results of a reduction.
pub(crate) fn reduce_both<A: Element, R: TwoResults<A>>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<[HostBuffer; 2]> {
    let (memory, mut plan) = planned::<A, R>(a, mask)?;
    let (results, count) = (plan.results, plan.count);
    // SAFETY: as in `results_of`.
    unsafe {
        HostBuffer::filled_by_both(results, |out: *mut R::Out, second: *mut R::Second| {
            let places = Shared((out, second));
            execute(reducer, &mut plan, &memory, size_of::<A>(), &|first, step, partials| {
                let places = &places;
                for (at, &partial) in partials.iter().enumerate() {
                    let place = first + at * step;
                    places.0.0.add(place).write(reducer.finish(partial, count));
                    places.0.1.add(place).write(reducer.second(partial, count));
                }
            })
        })
    }
}

/// Reduces an expression over the axes of `mask`, in the order in which its evaluated elements would be reduced.
pub(crate) fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(
    reducer: R,
    mut x: X,
    sizes: &[usize],
    mask: u32,
) -> Result<HostBuffer> {
    kept_len(sizes, mask)?;
    let plan = Plan::new(&mut x, sizes, mask, needs::<X::Elem, R>(true));
    results_of(reducer, plan, &Computed(x), X::BYTES)
}

/// That the number of results is a number.
fn kept_len(sizes: &[usize], mask: u32) -> Result<usize> {
    let mut kept = [1; AXES];
    let axes = (0..sizes.len()).filter(|axis| mask >> axis & 1 == 0);
    axes.enumerate().for_each(|(to, from)| kept[to] = sizes[from]);
    result_len(&kept)
}
