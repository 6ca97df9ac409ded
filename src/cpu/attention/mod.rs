//! Scaled dot-product attention in blocks: the scores of a few queries with a block of keys are computed, turned into a softmax with a
//! running maximum and a running sum, and multiplied with the values, so that the full score matrix never exists.
//!
//! A block of keys and values is packed once for many queries, which are processed in tiles whose scores stay in the L1 cache. Source: Dao
//! et al. 2022, "FlashAttention", algorithm 1.

mod softmax;

use self::softmax::{Divide, Exponential, LANES, OnlineSoftmax};
use super::conv::{self, Panel, Rows, widen};
use super::elementwise::{result_len, source};
use super::gemm::{Multiply, Product, one};
use super::simd;
use super::threads::{self, Shared};
use crate::dtype::{Compute, Dtype, Element};
use crate::error::{Result, filled};
use crate::ops;
use crate::ops::arguments::{Attention, Mask};
use crate::ops::reduce::{Accumulating, ExtremeOfTwo};
use crate::storage::{HostBuffer, Scratch, View};
use core::any::TypeId;

/// Keys per block: a tile's scores stay in L1, the packed keys and values in L2.
const KEYS: usize = if cfg!(debug_assertions) { 16 } else { 256 };
/// Maximum number of queries that share packed keys and values, and the minimum when there are many threads.
const QUERIES: usize = if cfg!(debug_assertions) { 9 } else { 1024 };
const FEWEST: usize = if cfg!(debug_assertions) { 5 } else { 64 };
/// Minimum number of queries for which keys and values are packed.
const PACKED: usize = if cfg!(debug_assertions) { 4 } else { 8 };
/// Kernel tiles per tile of queries.
const TILES: usize = if cfg!(debug_assertions) { 1 } else { 4 };

/// One operand of all heads: the first element of each, and the strides of its last two axes.
#[derive(Clone, Copy)]
struct Heads<'a, E> {
    first: *const E,
    lead: &'a [usize],
    steps: [usize; 2],
}
impl<'a, E> Heads<'a, E> {
    fn of(view: &View<'a, HostBuffer, E>) -> Self
    where
        E: Element,
    {
        let (lead, steps) = view.strides.split_at(view.strides.len() - 2);
        Heads { first: source(view), lead, steps: [steps[0], steps[1]] }
    }

    /// The head at this row-major position among leading axes of these sizes.
    fn at(&self, mut place: usize, sizes: &[usize]) -> *const E {
        let mut first = self.first;
        for (&size, &stride) in sizes.iter().zip(self.lead).rev() {
            first = first.wrapping_add(place % size * stride);
            place /= size;
        }
        first
    }
}

/// The right side of the products of a block.
enum Right<C: 'static> {
    Packed(Panel<C>),
    /// Strided: the first number, and the row and column strides. Or a converted copy.
    Strided {
        first: *const C,
        steps: [usize; 2],
        _copy: Option<Scratch<C>>,
    },
}

impl<C: Compute> Right<C> {
    /// # Safety
    /// The rows and columns are valid.
    unsafe fn new<E: Dtype<Compute = C>>(
        from: *const E,
        sizes: [usize; 2],
        steps: [usize; 2],
        packs: bool,
    ) -> Result<Self> {
        if packs {
            // SAFETY: the caller's promise.
            return Ok(Right::Packed(unsafe { Panel::pack(from, sizes, steps)? }));
        }
        if TypeId::of::<E>() == TypeId::of::<C>() {
            return Ok(Right::Strided { first: from.cast(), steps, _copy: None });
        }
        let copy = Scratch::<C>::try_new(sizes)?;
        // SAFETY: the caller's promise; the copy has room.
        unsafe { widen::<E>(from, copy.start(), sizes, steps, [sizes[1], 1]) };
        Ok(Right::Strided { first: copy.start(), steps: [sizes[1], 1], _copy: Some(copy) })
    }

    /// # Safety
    /// As for [`Panel::multiply`].
    unsafe fn multiply<E: Dtype<Compute = C>>(&self, rows: Rows<C>) -> Result<()> {
        match self {
            // SAFETY: the caller's promise.
            Right::Packed(panel) => unsafe { panel.multiply(rows) },
            &Right::Strided { first, steps, .. } => C::visit::<Multiply>(Product {
                sizes: [rows.count, rows.terms, rows.columns],
                out: rows.out,
                out_step: rows.out_step,
                left: rows.left,
                left_steps: [rows.left_step, 1],
                right: first,
                right_steps: steps,
                alpha: one::<E>(),
                adds: rows.adds,
                threads: 1,
            })?,
        }
        Ok(())
    }
}

/// Attention of queries `(…, L, E)`, keys `(…, S, E)` and values `(…, S, V)` with the same leading sizes; `(…, L, V)`, row-major.
pub(crate) fn attend<E: Dtype>(attention: &Attention<'_, HostBuffer, E>) -> Result<HostBuffer> {
    let Attention { query, value, .. } = attention;
    let (lead, of) = query.sizes.split_at(query.sizes.len() - 2);
    let (queries, features) = (of[0], of[1]);
    let [keys, width] = [value.sizes[lead.len()], value.sizes[lead.len() + 1]];
    let sizes = [lead, &[queries, width]].concat();
    let len = result_len(&sizes)?;
    if len == 0 || keys == 0 {
        return HostBuffer::zeroed::<E>(len);
    }
    let heads: usize = lead.iter().product();
    let work = heads.saturating_mul(queries).saturating_mul(keys).saturating_mul(features + width) / 32;
    let threads = threads::pieces(work);
    // Several groups per thread, unless they would be too small.
    let wanted = if threads == 1 { 1 } else { (4 * threads).div_ceil(heads).min(queries.div_ceil(FEWEST)) };
    let groups = queries.div_ceil(QUERIES).max(wanted);
    let rows = queries.div_ceil(groups);
    // SAFETY: every group of every head is computed, each by one thread.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            let shared = Shared((attention, out));
            let one = |at: usize| {
                let (attention, out) = { &shared }.0;
                let (head, first) = (at / groups, at % groups * rows);
                if first >= queries {
                    return Ok(());
                }
                Group::new(attention, head, first, rows.min(queries - first))?.run(out)
            };
            if threads > 1 {
                threads::try_for_each(heads * groups, &one)
            } else {
                (0..heads * groups).try_for_each(one)
            }
        })
    }
}

/// Some queries of one head.
struct Group<'a, E: Dtype> {
    attention: &'a Attention<'a, HostBuffer, E>,
    head: usize,
    /// The first query, and the number of queries.
    first: usize,
    rows: usize,
    /// Whether keys and values are packed.
    packs: bool,
    /// The queries, scaled.
    queries: Scratch<E::Compute>,
    /// The scores of a tile with a block of keys, and the row stride.
    scores: Scratch<E::Compute>,
    score_step: usize,
    /// For each query: the largest score so far, the sum of exponentials, and the sums of values with their row stride.
    largest: Scratch<E::Compute>,
    totals: Scratch<E::Compute>,
    sums: Scratch<E::Compute>,
    sum_step: usize,
}

impl<'a, E: Dtype> Group<'a, E> {
    fn new(attention: &'a Attention<'a, HostBuffer, E>, head: usize, first: usize, rows: usize) -> Result<Self> {
        let Attention { query, value, scale, .. } = attention;
        let lead = &query.sizes[..query.sizes.len() - 2];
        let (features, width) = (query.sizes[lead.len() + 1], value.sizes[lead.len() + 1]);
        // (Independent of the groups, so that every query is computed the same way.)
        let packs = query.sizes[lead.len()] >= PACKED && conv::has::<E>();
        let strip = if packs { Panel::<E::Compute>::strip_and_rows()[0] } else { 1 };
        let of = Heads::of(query);
        let from = of.at(head, lead).wrapping_add(first * of.steps[0]);
        let queries = Scratch::<E::Compute>::try_new([rows, features])?;
        let factor = E::Compute::number(*scale);
        // SAFETY: the rows are the head's, and the buffer has room.
        unsafe { conv::scale::<E>(from, queries.start(), [rows, features], of.steps, [features, 1], factor) };
        let (zero, lowest) = (E::Compute::default(), E::Compute::number(f64::NEG_INFINITY));
        let (score_step, sum_step) = (KEYS.next_multiple_of(LANES.max(strip)), width.next_multiple_of(strip));
        Ok(Group {
            attention,
            head,
            first,
            rows,
            packs,
            queries,
            scores: Scratch::try_new([Self::tile_rows(rows, packs), score_step])?,
            score_step,
            largest: Scratch::try_filled(lowest, [rows])?,
            totals: Scratch::try_filled(zero, [rows])?,
            sums: Scratch::try_new([rows, sum_step])?,
            sum_step,
        })
    }

    /// The queries of a tile.
    fn tile_rows(rows: usize, packs: bool) -> usize {
        if packs { rows.min(TILES * Panel::<E::Compute>::strip_and_rows()[1]) } else { rows }
    }

    fn run(self, out: *mut E) -> Result<()> {
        let Attention { query, key, value, is_causal, .. } = self.attention;
        let lead = &query.sizes[..query.sizes.len() - 2];
        let [queries, features] = [query.sizes[lead.len()], query.sizes[lead.len() + 1]];
        let [keys, width] = [value.sizes[lead.len()], value.sizes[lead.len() + 1]];
        let (k, v) = (Heads::of(key), Heads::of(value));
        // Number of keys visible to some query before `end`.
        let seen = |end: usize| if *is_causal { keys.min(self.first + end) } else { keys };
        let tile_rows = Self::tile_rows(self.rows, self.packs);
        for low in (0..seen(self.rows)).step_by(KEYS) {
            let count = KEYS.min(seen(self.rows) - low);
            let from = |of: Heads<'_, E>| of.at(self.head, lead).wrapping_add(low * of.steps[0]);
            // SAFETY: the keys and values are the head's.
            let (keys, values) = unsafe {
                (
                    Right::new::<E>(from(k), [features, count], [k.steps[1], k.steps[0]], self.packs)?,
                    Right::new::<E>(from(v), [count, width], v.steps, self.packs)?,
                )
            };
            for row in (0..self.rows).step_by(tile_rows) {
                let rows = tile_rows.min(self.rows - row);
                let count = count.min(seen(row + rows).saturating_sub(low));
                if count > 0 {
                    self.tile([row, rows], [low, count], &keys, &values)?;
                }
            }
        }
        if self.attention.mask.is_some() || *is_causal {
            for row in 0..self.rows {
                // SAFETY: the first block of keys has written the sums of every query.
                let sum = |at: usize| unsafe { self.sums.start().add(row * self.sum_step + at).read() };
                if (0..width).any(|at| sum(at) != sum(at)) {
                    self.again(row)?;
                }
            }
        }
        let out = out.wrapping_add((self.head * queries + self.first) * width);
        // (No other group writes these rows of the result.)
        simd::dispatch(Divide::<E> {
            sums: self.sums.start().cast_const(),
            step: self.sum_step,
            totals: self.totals.start().cast_const(),
            out,
            sizes: [self.rows, width],
        });
        Ok(())
    }

    /// Computes some of the queries with the first keys of a block.
    fn tile(
        &self,
        [row, rows]: [usize; 2],
        [low, count]: [usize; 2],
        keys: &Right<E::Compute>,
        values: &Right<E::Compute>,
    ) -> Result<()> {
        let Attention { query, value, .. } = self.attention;
        let (features, width) = (query.sizes[query.sizes.len() - 1], value.sizes[value.sizes.len() - 1]);
        let sums = self.sums.start().wrapping_add(row * self.sum_step);
        let (scores, step) = (self.scores.start(), self.score_step);
        let products = Rows {
            count: rows,
            left: self.queries.start().wrapping_add(row * features).cast_const(),
            left_step: features,
            out: scores,
            out_step: step,
            adds: false,
            terms: features,
            columns: count,
        };
        // SAFETY: all queries are written, and the scores buffer has room for a tile with a block.
        unsafe { keys.multiply::<E>(products)? };
        self.mask([row, rows], [low, count]);
        simd::dispatch(OnlineSoftmax {
            scores,
            step,
            rows,
            count,
            largest: self.largest.start().wrapping_add(row),
            totals: self.totals.start().wrapping_add(row),
            sums,
            width: self.sum_step,
        });
        let products = Rows {
            count: rows,
            left: scores.cast_const(),
            left_step: step,
            out: sums,
            out_step: self.sum_step,
            adds: low > 0,
            terms: count,
            columns: width,
        };
        // SAFETY: the scores are written, and so are the sums that are added to: by the first block, in which every query sees a key; the
        // buffer has room for whole strips of them.
        unsafe { values.multiply::<E>(products) }
    }

    /// Recomputes a query by the definition, over visible keys only. (A product of tiles multiplies masked values by zero, which is NaN
    /// where they are NaN or infinite.)
    #[cold]
    #[inline(never)]
    fn again(&self, row: usize) -> Result<()> {
        let Attention { query, key, value, mask, is_causal, .. } = self.attention;
        let lead = &query.sizes[..query.sizes.len() - 2];
        let [keys, width] = [value.sizes[lead.len()], value.sizes[lead.len() + 1]];
        let (features, at) = (query.sizes[lead.len() + 1], self.first + row);
        let lowest = E::Compute::number(f64::NEG_INFINITY);
        let product = |a: E::Compute, b: E::Compute| a.binary::<ops::mul>(b);
        let place = |of: &Heads<'_, E>, line: usize, column: usize| {
            of.at(self.head, lead).wrapping_add(line * of.steps[0] + column * of.steps[1])
        };
        let (k, v) = (Heads::of(key), Heads::of(value));
        let mut scores = filled(None, keys)?;
        for (number, score) in scores.iter_mut().enumerate().take(if *is_causal { at + 1 } else { keys }) {
            // SAFETY: a mask has an element for each query and key; the positions are below the sizes of the views.
            unsafe {
                let added = match mask {
                    Some(Mask::Seen(mask)) if !self.row_of(mask, at, number).0.read() => continue,
                    Some(Mask::Added(mask)) => self.row_of(mask, at, number).0.read().to_compute(),
                    _ => E::Compute::default(),
                };
                if added == lowest {
                    continue;
                }
                let terms = (0..features).map(|feature| {
                    let left = self.queries.start().add(row * features + feature).read();
                    product(left, place(&k, number, feature).read().to_compute())
                });
                *score = Some(terms.fold(added, |sum, term| sum.binary::<Accumulating>(term)));
            }
        }
        let larger = |a: E::Compute, b: &E::Compute| a.binary::<ExtremeOfTwo<true>>(*b);
        let largest = scores.iter().flatten().fold(lowest, larger);
        // SAFETY: these are the row's elements, as above.
        unsafe {
            let sums = core::slice::from_raw_parts_mut(self.sums.start().add(row * self.sum_step), width);
            let total = &mut *self.totals.start().add(row);
            (*total, _) = (E::Compute::default(), sums.fill(E::Compute::default()));
            if largest == lowest {
                return Ok(());
            }
            for (number, &score) in scores.iter().enumerate() {
                let Some(score) = score else { continue };
                let share = score.binary::<ops::sub>(largest).unary::<Exponential>();
                *total = total.binary::<Accumulating>(share);
                for (column, sum) in sums.iter_mut().enumerate() {
                    *sum = sum.binary::<Accumulating>(product(share, place(&v, number, column).read().to_compute()));
                }
            }
        }
        Ok(())
    }

    /// The mask's element for a query and a key, and the stride to the next key.
    fn row_of<M: Element>(&self, mask: &View<'_, HostBuffer, M>, query: usize, key: usize) -> (*const M, usize) {
        let lead = &self.attention.query.sizes[..self.attention.query.sizes.len() - 2];
        let of = Heads::of(mask);
        (of.at(self.head, lead).wrapping_add(query * of.steps[0] + key * of.steps[1]), of.steps[1])
    }

    /// Adds the mask to the scores, or sets masked scores to the lowest value.
    fn mask(&self, [row, rows]: [usize; 2], [low, count]: [usize; 2]) {
        let Attention { mask, is_causal, .. } = self.attention;
        let lowest = E::Compute::number(f64::NEG_INFINITY);
        if mask.is_none() && !is_causal {
            return;
        }
        for at in 0..rows {
            let query = self.first + row + at;
            // SAFETY: `count` scores are written.
            let scores =
                unsafe { core::slice::from_raw_parts_mut(self.scores.start().add(at * self.score_step), count) };
            match mask {
                Some(Mask::Added(mask)) => {
                    // (A masked score is not read: it may be NaN.)
                    let add = |score: E::Compute, added: E| match added.to_compute() {
                        added if added == lowest => lowest,
                        added => score.binary::<Accumulating>(added),
                    };
                    // SAFETY: a mask is as large as all scores.
                    unsafe { each(self.row_of(mask, query, low), scores, add) }
                }
                Some(Mask::Seen(mask)) => {
                    let choose = |score, seen: bool| if seen { score } else { lowest };
                    // SAFETY: as above.
                    unsafe { each(self.row_of(mask, query, low), scores, choose) }
                }
                None => {}
            }
            if *is_causal {
                scores.iter_mut().skip((query + 1).saturating_sub(low)).for_each(|score| *score = lowest);
            }
        }
    }
}

/// Applies `call` to each score and its mask element.
///
/// # Safety
/// There are as many elements as scores, `step` apart.
unsafe fn each<C: Copy, M: Copy>((from, step): (*const M, usize), scores: &mut [C], call: impl Fn(C, M) -> C) {
    if step == 1 {
        // SAFETY: the caller's promise.
        let row = unsafe { core::slice::from_raw_parts(from, scores.len()) };
        scores.iter_mut().zip(row).for_each(|(score, &element)| *score = call(*score, element));
        return;
    }
    for (at, score) in scores.iter_mut().enumerate() {
        // SAFETY: as above.
        *score = call(*score, unsafe { from.wrapping_add(at * step).read() });
    }
}

#[cfg(test)]
mod tests;
