//! Reductions over any axes.
//!
//! Elements are met block by block, and the blocks' partial results merged in a tree: neighbours, then pairs of neighbours,
//! and so on. Shape and strides alone decide the tree, so sums of floats lose little and do not depend on how many threads there
//! are. Where the elements side by side in memory belong to different results, many columns are reduced together.
//! Uses walks; used by `Cpu`.

use super::elementwise::result_len;
use super::fused;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops::expression::{AXES, CHUNK as PIECE, Expression};
use crate::ops::reduce::Reducer;
use crate::shape::strides::is_contiguous;
use crate::storage::{HostBuffer, View};
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

/// Elements in a block.
const BLOCK: usize = 1024;
/// Blocks that a thread takes at once: a power of two, so that their tree is a part of the whole one.
const CHUNK: usize = 64;
/// Columns reduced together, at most.
const COLUMNS: usize = 512;
/// The same where they are computed.
const LAZY_COLUMNS: usize = 128;
/// What the partial results of columns reduced together take at most.
const COLUMN_BYTES: usize = 4096;
/// Columns are divided among threads in multiples of so many.
const WIDTH: usize = 64;
/// How many elements of a column are met at once.
const AHEAD: usize = 4;
/// Elements of a column met before partial results are merged.
const ROWS: usize = 128;

/// Partial results merged in the order of a binary counter: one for each power of two blocks.
struct Tree<P> {
    levels: Vec<P>,
    count: usize,
}

impl<P> Tree<P> {
    fn new() -> Self {
        Tree { levels: Vec::new(), count: 0 }
    }

    /// Merges as many equally large ones as the counter carries.
    #[inline(always)]
    fn push(&mut self, mut partial: P, merge: impl Fn(P, P) -> P) {
        let mut carry = self.count;
        while carry & 1 == 1 {
            match self.levels.pop() {
                Some(earlier) => partial = merge(earlier, partial),
                None => break,
            }
            carry >>= 1;
        }
        self.levels.push(partial);
        self.count += 1;
    }

    #[inline(always)]
    fn finish(mut self, merge: impl Fn(P, P) -> P) -> Option<P> {
        let mut partial = self.levels.pop()?;
        while let Some(earlier) = self.levels.pop() {
            partial = merge(earlier, partial);
        }
        Some(partial)
    }
}

/// What is reduced, seen from one result at a time: its elements in blocks, or those of neighbouring results side by side.
trait Inner<A>: Sync {
    /// How many elements are reduced to one.
    fn count(&self) -> usize;

    /// Into how many blocks they are divided.
    fn blocks(&self) -> usize;

    /// One block.
    ///
    /// # Safety
    /// `base` stands for a result.
    unsafe fn block<R: Reducer<A>>(&self, reducer: R, base: usize, block: usize) -> R::Partial;

    /// Meets element `index` of as many neighbouring results, `across` apart, as there are partial results.
    ///
    /// # Safety
    /// As for `block`, for each of the results; there are elements.
    unsafe fn meet<R: Reducer<A>>(
        &self,
        reducer: R,
        base: usize,
        across: usize,
        index: usize,
        partials: &mut [R::Partial],
    );

    /// The same for elements `index..index + AHEAD`.
    ///
    /// # Safety
    /// As for `meet`.
    #[inline(always)]
    unsafe fn meet_some<R: Reducer<A>>(
        &self,
        reducer: R,
        base: usize,
        across: usize,
        index: usize,
        partials: &mut [R::Partial],
    ) {
        for index in index..index + AHEAD {
            // SAFETY: the caller's promise.
            unsafe { self.meet(reducer, base, across, index, partials) }
        }
    }

    /// Some of the blocks of one result.
    ///
    /// # Safety
    /// As for `block`.
    #[inline(always)]
    unsafe fn some<R: Reducer<A>>(&self, reducer: R, base: usize, blocks: Range<usize>) -> R::Partial {
        // SAFETY: the caller's promise.
        unsafe {
            if blocks.len() == 1 {
                return self.block(reducer, base, blocks.start);
            }
            let mut tree = Tree::new();
            for block in blocks {
                tree.push(self.block(reducer, base, block), |a, b| reducer.merge(a, b));
            }
            tree.finish(|a, b| reducer.merge(a, b)).unwrap_or_else(|| reducer.start())
        }
    }

    /// Some neighbouring columns, `across` apart.
    ///
    /// # Safety
    /// As for `meet`.
    #[inline(always)]
    unsafe fn columns<R: Reducer<A>>(
        &self,
        reducer: R,
        base: usize,
        across: usize,
        columns: usize,
    ) -> [R::Partial; COLUMNS] {
        let merge = |mut earlier: [R::Partial; COLUMNS], later: [R::Partial; COLUMNS]| {
            for (earlier, &later) in earlier[..columns].iter_mut().zip(&later[..columns]) {
                *earlier = reducer.merge(*earlier, later);
            }
            earlier
        };
        let mut tree = Tree::new();
        let count = self.count();
        for low in (0..count).step_by(ROWS) {
            let mut partials = [reducer.start(); COLUMNS];
            let (mut index, high) = (low, count.min(low + ROWS));
            let met = &mut partials[..columns];
            // SAFETY: the caller's promise.
            unsafe {
                while index + AHEAD <= high {
                    self.meet_some(reducer, base, across, index, met);
                    index += AHEAD;
                }
                while index < high {
                    self.meet(reducer, base, across, index, met);
                    index += 1;
                }
            }
            tree.push(partials, merge);
        }
        tree.finish(merge).unwrap_or([reducer.start(); COLUMNS])
    }
}

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
    fn new(from: *const A, sizes: &[usize], strides: &[usize]) -> Self {
        let mut axes: Vec<(usize, usize)> = Vec::with_capacity(sizes.len());
        for (&size, &stride) in sizes.iter().zip(strides) {
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
        let rows = axes.iter().map(|&(size, _)| size).product();
        Inside { from, len, step, outer: axes, rows }
    }

    /// The start of a row.
    fn row(&self, mut row: usize) -> usize {
        let mut offset = 0;
        for &(size, stride) in self.outer.iter().rev() {
            offset += row % size * stride;
            row /= size;
        }
        offset
    }

    fn blocks_in_a_row(&self) -> usize {
        self.len.div_ceil(BLOCK)
    }
}

// SAFETY: elements are only read.
unsafe impl<A: Sync> Sync for Inside<A> {}

impl<A: Element> Inner<A> for Inside<A> {
    fn count(&self) -> usize {
        self.len * self.rows
    }

    fn blocks(&self) -> usize {
        self.rows * self.blocks_in_a_row()
    }

    // `base` is the offset of a result's first element, so all that the axes reach from it is inside the view.
    #[inline(always)]
    unsafe fn block<R: Reducer<A>>(&self, reducer: R, base: usize, block: usize) -> R::Partial {
        let in_a_row = self.blocks_in_a_row();
        let (row, low) = (block / in_a_row, block % in_a_row * BLOCK);
        let len = BLOCK.min(self.len - low);
        let (index, step) = (row * self.len + low, self.step);
        // SAFETY: the caller's promise, for `low..low + len` of this row.
        unsafe {
            let from = self.from.add(base + self.row(row) + low * step);
            if step == 1 {
                // The next block: hardware stops at the end of a page.
                simd::prefetch_row(from.wrapping_add(len), BLOCK);
                reducer.block(|i| from.add(i).read(), len, index)
            } else {
                reducer.block(|i| from.add(i * step).read(), len, index)
            }
        }
    }

    #[inline(always)]
    unsafe fn meet<R: Reducer<A>>(
        &self,
        reducer: R,
        base: usize,
        across: usize,
        index: usize,
        partials: &mut [R::Partial],
    ) {
        let offset = base + self.row(index / self.len) + index % self.len * self.step;
        // SAFETY: the caller's promise.
        unsafe {
            let from = self.from.add(offset);
            if across == 1 {
                for (column, partial) in partials.iter_mut().enumerate() {
                    *partial = reducer.meet(*partial, from.add(column).read(), index);
                }
            } else {
                for (column, partial) in partials.iter_mut().enumerate() {
                    *partial = reducer.meet(*partial, from.add(column * across).read(), index);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn meet_some<R: Reducer<A>>(
        &self,
        reducer: R,
        base: usize,
        across: usize,
        index: usize,
        partials: &mut [R::Partial],
    ) {
        let place =
            |index: usize| self.from.wrapping_add(base + self.row(index / self.len) + index % self.len * self.step);
        let rows: [*const A; AHEAD] = core::array::from_fn(|row| place(index + row));
        if across != 1 {
            for (column, partial) in partials.iter_mut().enumerate() {
                for (row, from) in rows.iter().enumerate() {
                    // SAFETY: the caller's promise.
                    *partial = reducer.meet(*partial, unsafe { from.add(column * across).read() }, index + row);
                }
            }
            return;
        }
        for from in rows {
            // The elements after these, in all likelihood.
            simd::prefetch_row(from.wrapping_add(AHEAD * self.step), partials.len());
        }
        for (column, partial) in partials.iter_mut().enumerate() {
            for (row, from) in rows.iter().enumerate() {
                // SAFETY: the caller's promise.
                *partial = reducer.meet(*partial, unsafe { from.add(column).read() }, index + row);
            }
        }
    }
}

/// How many columns are reduced together: as many as leave the nearest cache room for their elements.
const fn columns_of<P>() -> usize {
    let fitting = COLUMN_BYTES / if size_of::<P>() == 0 { 1 } else { size_of::<P>() };
    if fitting > COLUMNS {
        COLUMNS
    } else if fitting < WIDTH {
        WIDTH
    } else {
        fitting
    }
}

/// Every result of a walk over the axes that are kept: operand 0 is the result, operand 1 its first element.
struct Results<'a, A, R: Reducer<A>> {
    walk: &'a Walk<2>,
    inside: &'a Inside<A>,
    reducer: R,
    /// Whether neighbouring results are reduced together.
    together: bool,
    out: *mut R::Out,
}
impl<A: Element, R: Reducer<A>> Loop for Results<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Results { walk, inside, reducer, together, out } = self;
        let count = inside.count();
        for run in walk.runs() {
            let ([to, base], [to_step, across]) = (run.starts, run.steps);
            // SAFETY: the walk gives places of results, each once, and offsets of their first elements.
            unsafe {
                if together {
                    let width = const { columns_of::<R::Partial>() };
                    for left in (0..run.len).step_by(width) {
                        let columns = width.min(run.len - left);
                        let partials = inside.columns(reducer, base + left * across, across, columns);
                        for (column, partial) in partials[..columns].iter().enumerate() {
                            out.add(to + (left + column) * to_step).write(reducer.finish(*partial, count));
                        }
                    }
                    continue;
                }
                for result in 0..run.len {
                    let partial = inside.some(reducer, base + result * across, 0..inside.blocks());
                    out.add(to + result * to_step).write(reducer.finish(partial, count));
                }
            }
        }
    }
}

/// Some of the blocks of one result.
struct Part<'a, I, A, R> {
    inside: &'a I,
    reducer: R,
    base: usize,
    blocks: Range<usize>,
    elements: PhantomData<fn() -> A>,
}
impl<A, I: Inner<A>, R: Reducer<A>> Loop for Part<'_, I, A, R> {
    type Output = R::Partial;
    #[inline(always)]
    fn run(self) -> R::Partial {
        // SAFETY: `base` stands for a result.
        unsafe { self.inside.some(self.reducer, self.base, self.blocks) }
    }
}

/// One result by several threads: each reduces chunks of blocks.
fn shared<A, I: Inner<A>, R: Reducer<A>>(inside: &I, reducer: R, base: usize) -> R::Partial {
    let blocks = inside.blocks();
    let mut partials = vec![reducer.start(); blocks.div_ceil(CHUNK)];
    let places = Shared(partials.as_mut_ptr());
    threads::for_each(partials.len(), &|chunk| {
        let (places, low) = (&places, chunk * CHUNK);
        let part = Part { inside, reducer, base, blocks: low..blocks.min(low + CHUNK), elements: PhantomData };
        // SAFETY: each chunk has a place of its own.
        unsafe { places.0.add(chunk).write(simd::dispatch(part)) }
    });
    let mut tree = Tree::new();
    for partial in partials {
        tree.push(partial, |a, b| reducer.merge(a, b));
    }
    tree.finish(|a, b| reducer.merge(a, b)).unwrap_or_else(|| reducer.start())
}

pub(crate) fn reduce<A: Element, R: Reducer<A>>(
    reducer: R,
    a: View<'_, HostBuffer, A>,
    mask: u32,
) -> Result<HostBuffer> {
    // SAFETY: the offset of a view lies inside its buffer (or at its end, if the view is empty).
    let from = unsafe { a.buffer.start::<A>().add(a.offset) };
    let all = a.sizes.len() as u32;
    if (mask.trailing_ones() >= all || all == 0) && is_contiguous(a.sizes, a.strides) {
        let inside = Inside { from, len: a.sizes.iter().product(), step: 1, outer: Vec::new(), rows: 1 };
        return one(reducer, &inside, size_of::<A>());
    }
    let split = |reduced: bool| -> (Vec<usize>, Vec<usize>) {
        (0..a.sizes.len())
            .filter(|axis| (mask >> axis & 1 == 1) == reduced)
            .map(|axis| (a.sizes[axis], a.strides[axis]))
            .unzip()
    };
    let (kept_sizes, kept_strides) = split(false);
    let (sizes, strides) = split(true);
    let inside = Inside::new(from, &sizes, &strides);
    let (count, results) = (inside.count(), result_len(&kept_sizes)?);
    let mut result_strides = vec![0; kept_sizes.len()];
    let mut stride = 1;
    for (result_stride, size) in result_strides.iter_mut().zip(&kept_sizes).rev() {
        *result_stride = stride;
        stride *= size;
    }
    let walk = Walk::row_major(&kept_sizes, [&result_strides, &kept_strides]);
    // Neighbours in memory belong to different results: many of them are taken at once. Decided for all of them, so that a
    // thread that is left with one column adds its elements in the same order.
    let together = count > 1
        && walk.runs().next().is_some_and(|run| {
            let across = run.steps[1];
            run.len > 1 && (across < inside.step || (inside.step == 0 && across != 0))
        });
    let pieces = threads::pieces(results.saturating_mul(count) / 64 * size_of::<A>());

    // SAFETY: the walk visits each of the `results` places once; every offset it gives is a result's first element.
    unsafe {
        HostBuffer::filled_by(results, |out: *mut R::Out| {
            if results == 0 {
            } else if count == 0 {
                (0..results).for_each(|at| out.add(at).write(reducer.finish(reducer.start(), 0)));
            } else if results == 1 && pieces > 1 {
                out.write(reducer.finish(shared(&inside, reducer, 0), count));
            } else if pieces > 1 {
                let (inside, out) = (&inside, Shared(out));
                let parts = walk.split(pieces, WIDTH);
                threads::for_each(parts.len(), &|part| {
                    let out = &out;
                    simd::dispatch(Results { walk: &parts[part], inside, reducer, together, out: out.0 });
                });
            } else {
                simd::dispatch(Results { walk: &walk, inside: &inside, reducer, together, out });
            }
            Ok(())
        })
    }
}

/// An expression seen from its results, which are counted in row-major order: first the axes that are kept, then those
/// reduced over.
struct Lazily<X> {
    x: X,
    sizes: [usize; AXES],
    /// How many axes are kept, and how many there are.
    kept: usize,
    rank: usize,
    /// The last axis reduced over, and how many there are of it.
    len: usize,
    rows: usize,
}

impl<X: Expression> Lazily<X> {
    /// The index of a result and of a row of the elements reduced to it.
    #[inline(always)]
    fn index(&self, mut result: usize, mut row: usize) -> [usize; AXES] {
        let mut index = [0; AXES];
        for axis in (0..self.kept).rev() {
            index[axis] = result % self.sizes[axis];
            result /= self.sizes[axis];
        }
        for axis in (self.kept..self.rank.saturating_sub(1)).rev() {
            index[axis] = row % self.sizes[axis];
            row /= self.sizes[axis];
        }
        index
    }

    /// The axis along which blocks lie: one of size 1 if there is nothing to reduce over.
    #[inline(always)]
    fn along(&self, index: &mut [usize; AXES], low: usize) -> usize {
        if self.rank > self.kept {
            index[self.rank - 1] = low;
            self.rank - 1
        } else {
            AXES - 1
        }
    }
}

impl<X: Expression> Inner<X::Elem> for Lazily<X> {
    fn count(&self) -> usize {
        self.len * self.rows
    }
    fn blocks(&self) -> usize {
        self.rows * self.len.div_ceil(BLOCK)
    }
    unsafe fn block<R: Reducer<X::Elem>>(&self, reducer: R, base: usize, block: usize) -> R::Partial {
        let in_a_row = self.len.div_ceil(BLOCK);
        let (row, low) = (block / in_a_row, block % in_a_row * BLOCK);
        let len = BLOCK.min(self.len - low);
        let mut index = self.index(base, row);
        // The elements first, then their reduction: two loops of their own, so that the second is the same for every expression.
        let mut elements = [const { MaybeUninit::uninit() }; BLOCK];
        for start in (0..len).step_by(PIECE) {
            let along = self.along(&mut index, low + start);
            let out = &mut elements[start..len.min(start + PIECE)];
            simd::dispatch(Piece { x: self.x, index: &index, along, out });
        }
        simd::dispatch(Block { reducer, elements: &elements[..len], position: row * self.len + low })
    }
    #[inline(always)]
    unsafe fn meet<R: Reducer<X::Elem>>(
        &self,
        reducer: R,
        base: usize,
        _: usize,
        position: usize,
        partials: &mut [R::Partial],
    ) {
        let mut index = self.index(base, position / self.len);
        self.along(&mut index, position % self.len);
        let mut room = X::room();
        // SAFETY: the sizes of an expression are those its leaves are broadcast to; the room stays here, and there are at most
        // `LAZY_COLUMNS` partial results, fewer than a piece has elements.
        unsafe {
            let places = self.x.places(&mut room, &index, self.kept - 1, partials.len());
            for (column, partial) in partials.iter_mut().enumerate() {
                *partial = reducer.meet(*partial, self.x.get(places, column), position);
            }
        }
    }
}

/// Neighbouring columns, reduced together.
struct Columns<'a, X: Expression, R: Reducer<X::Elem>> {
    inside: &'a Lazily<X>,
    reducer: R,
    base: usize,
    columns: usize,
}
impl<X: Expression, R: Reducer<X::Elem>> Loop for Columns<'_, X, R> {
    type Output = [R::Partial; COLUMNS];
    #[inline(always)]
    fn run(self) -> Self::Output {
        // SAFETY: `base` is a result, with as many neighbours.
        unsafe { self.inside.columns(self.reducer, self.base, 1, self.columns) }
    }
}

/// Some elements of an expression.
struct Piece<'a, X: Expression> {
    x: X,
    index: &'a [usize; AXES],
    along: usize,
    out: &'a mut [MaybeUninit<X::Elem>],
}
impl<X: Expression> Loop for Piece<'_, X> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let mut room = X::room();
        // SAFETY: the sizes of an expression are those its leaves are broadcast to; the room stays here, and a piece fits it.
        let places = unsafe { self.x.places(&mut room, self.index, self.along, self.out.len()) };
        fused::fill(self.x, places, self.out);
    }
}

/// The reduction of a block of elements.
struct Block<'a, A, R> {
    reducer: R,
    elements: &'a [MaybeUninit<A>],
    position: usize,
}
impl<A: Copy, R: Reducer<A>> Loop for Block<'_, A, R> {
    type Output = R::Partial;
    #[inline(always)]
    fn run(self) -> R::Partial {
        let elements = self.elements;
        // SAFETY: all of them have been written.
        self.reducer.block(|i| unsafe { elements.as_ptr().add(i).cast::<A>().read() }, elements.len(), self.position)
    }
}

/// Some results of an expression: neighbours that are reduced together (`width` of each line of them), or single ones.
struct LazyResults<'a, X: Expression, R: Reducer<X::Elem>> {
    inside: &'a Lazily<X>,
    reducer: R,
    units: Range<usize>,
    /// Results in a line, and how many are taken together.
    line: usize,
    width: usize,
    out: *mut R::Out,
}
impl<X: Expression, R: Reducer<X::Elem>> LazyResults<'_, X, R> {
    fn run(self) {
        let LazyResults { inside, reducer, units, line, width, out } = self;
        let (in_a_line, count) = (line.div_ceil(width), inside.count());
        for unit in units {
            let left = unit % in_a_line * width;
            let base = unit / in_a_line * line + left;
            // SAFETY: units are results, each of them once.
            unsafe {
                if width == 1 {
                    out.add(base).write(reducer.finish(inside.some(reducer, base, 0..inside.blocks()), count));
                    continue;
                }
                let columns = width.min(line - left);
                let partials = simd::dispatch(Columns { inside, reducer, base, columns });
                for (column, partial) in partials[..columns].iter().enumerate() {
                    out.add(base + column).write(reducer.finish(*partial, count));
                }
            }
        }
    }
}

/// All elements to one.
fn one<A, I: Inner<A>, R: Reducer<A>>(reducer: R, inside: &I, bytes: usize) -> Result<HostBuffer> {
    let count = inside.count();
    let partial = if count == 0 {
        reducer.start()
    } else if threads::pieces(count / 64 * bytes) > 1 {
        shared(inside, reducer, 0)
    } else {
        simd::dispatch(Part { inside, reducer, base: 0, blocks: 0..inside.blocks(), elements: PhantomData })
    };
    // SAFETY: the one element is written.
    unsafe {
        HostBuffer::filled_by(1, |out: *mut R::Out| {
            out.write(reducer.finish(partial, count));
            Ok(())
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
    let axes = |reduced: bool| (0..sizes.len()).filter(move |axis| (mask >> axis & 1 == 1) == reduced);
    let results = result_len(&axes(false).map(|axis| sizes[axis]).collect::<Vec<_>>())?;
    let order: Vec<usize> = axes(false).chain(axes(true)).filter(|&axis| sizes[axis] != 1).collect();
    let kept = axes(false).filter(|&axis| sizes[axis] != 1).count();
    let mut all = [1; AXES];
    order.iter().enumerate().for_each(|(to, &from)| all[to] = sizes[from]);
    fused::reorder(&mut x, &order);
    let rank = fused::merge(&mut x, &mut all[..order.len()], kept, None);
    let (line, len) = (if kept > 0 { all[kept - 1] } else { 1 }, if rank > kept { all[rank - 1] } else { 1 });
    let rows: usize = all[kept..rank.max(kept + 1) - 1].iter().product();
    // Whether leaves have neighbouring results closer than the elements of one.
    let mut closer = 0_isize;
    x.strides(&mut |strides| {
        let inner = if rank > kept { strides[rank - 1] } else { 1 };
        let across = if kept > 0 { strides[kept - 1] } else { 0 };
        closer += if across != 0 && (across < inner || inner == 0) { 1 } else { -1 };
    });
    let inside = Lazily { x, sizes: all, kept, rank, len, rows };
    let count = inside.count();
    let width = if kept > 0 && rank > kept && closer > 0 { LAZY_COLUMNS } else { 1 };
    let pieces = threads::pieces(results.saturating_mul(count) / 64 * X::BYTES.max(1));
    // SAFETY: every result is written once; the units are those of all lines.
    unsafe {
        HostBuffer::filled_by(results, |out: *mut R::Out| {
            let units = if results == 0 { 0 } else { results / line * line.div_ceil(width) };
            if results > 0 && count == 0 {
                (0..results).for_each(|at| out.add(at).write(reducer.finish(reducer.start(), 0)));
            } else if results == 1 && pieces > 1 {
                out.write(reducer.finish(shared(&inside, reducer, 0), count));
            } else {
                let (inside, out, each) = (&inside, Shared(out), units.div_ceil(pieces).max(1));
                threads::for_each(units.div_ceil(each), &|piece| {
                    let out = &out;
                    let units = piece * each..units.min((piece + 1) * each);
                    LazyResults { inside, reducer, units, line, width, out: out.0 }.run();
                });
            }
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The order of merging: what a counter in binary carries, and the rest from the smallest up.
    #[test]
    fn partial_results_merge_in_a_tree_of_neighbours() {
        let merged = |count: usize| {
            let mut tree = Tree::new();
            (0..count).for_each(|at| tree.push(at.to_string(), |a, b| format!("({a} {b})")));
            tree.finish(|a, b| format!("({a} {b})")).unwrap_or_default()
        };
        assert_eq!(merged(0), "");
        assert_eq!(merged(4), "((0 1) (2 3))");
        assert_eq!(merged(7), "(((0 1) (2 3)) ((4 5) 6))");
    }
}
