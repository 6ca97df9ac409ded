//! Scaled dot-product attention in tiles: the scores of a few queries with a block of keys are computed, turned into shares by a running
//! maximum and a running sum, and applied to the values, so that there is never a matrix of all scores.
//!
//! Source: Dao et al. 2022, "FlashAttention", algorithm 1; Milakov and Gimelshein 2018, "Online normalizer calculation for softmax".
//! Uses matrix products, threads and scratch memory; used by `Cpu`.

use super::conv::{narrow, widen};
use super::elementwise::{result_len, source};
use super::gemm::{Multiply, Product, one};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{Compute, Dtype};
use crate::error::Result;
use crate::ops;
use crate::ops::arguments::{Attention, Mask};
use crate::ops::reduce::{Accumulating, ExtremeOfTwo};
use crate::storage::{HostBuffer, Scratch, View};
use core::any::TypeId;

/// The most queries of a tile, and keys of a block. Each tile lays keys and values out for its products, which many queries share; of a causal
/// tile's queries all but the last see fewer keys than are computed.
const QUERIES: usize = if cfg!(debug_assertions) { 5 } else { 256 };
const CAUSAL_QUERIES: usize = if cfg!(debug_assertions) { 3 } else { 128 };
const KEYS: usize = if cfg!(debug_assertions) { 7 } else { 512 };
/// Numbers that are added up side by side.
const LANES: usize = 16;

/// Scores turned into shares, row by row.
struct Shares<C> {
    scores: *mut C,
    sizes: [usize; 2],
    /// For each row the largest score so far, the sum of the exponentials below it, and the sums of values.
    largest: *mut C,
    totals: *mut C,
    sums: *mut C,
    width: usize,
}

impl<C: Compute> Loop for Shares<C> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let [rows, columns] = self.sizes;
        let lowest = C::number(f64::NEG_INFINITY);
        for row in 0..rows {
            // SAFETY: `attend` makes it with places for so many rows and columns.
            let (scores, sums, largest, total) = unsafe {
                (
                    core::slice::from_raw_parts_mut(self.scores.add(row * columns), columns),
                    core::slice::from_raw_parts_mut(self.sums.add(row * self.width), self.width),
                    &mut *self.largest.add(row),
                    &mut *self.totals.add(row),
                )
            };
            let larger = |a: C, b: C| a.binary::<ExtremeOfTwo<true>>(b);
            let mut lanes = [lowest; LANES];
            for chunk in scores.chunks_exact(LANES) {
                lanes.iter_mut().zip(chunk).for_each(|(lane, &score)| *lane = larger(*lane, score));
            }
            let rest = scores.chunks_exact(LANES).remainder();
            let max = lanes.iter().chain(rest).fold(*largest, |max, &score| larger(max, score));
            if max == lowest {
                // Nothing is seen: no shares.
                scores.fill(C::default());
                continue;
            }
            let below = |score: C| score.binary::<ops::sub>(max).unary::<ops::exp>();
            let factor = below(*largest);
            *largest = max;
            let mut lanes = [C::default(); LANES];
            let mut chunks = scores.chunks_exact_mut(LANES);
            for chunk in &mut chunks {
                for (lane, score) in lanes.iter_mut().zip(chunk) {
                    *score = below(*score);
                    *lane = lane.binary::<Accumulating>(*score);
                }
            }
            let mut sum = total.binary::<ops::mul>(factor);
            for score in chunks.into_remainder() {
                *score = below(*score);
                sum = sum.binary::<Accumulating>(*score);
            }
            *total = lanes.into_iter().fold(sum, |sum, lane| sum.binary::<Accumulating>(lane));
            sums.iter_mut().for_each(|sum| *sum = sum.binary::<ops::mul>(factor));
        }
    }
}

/// Sums of values divided by the sums of shares; of no shares, zeros.
struct Divide<C> {
    sums: *mut C,
    totals: *const C,
    sizes: [usize; 2],
}
impl<C: Compute> Loop for Divide<C> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let [rows, columns] = self.sizes;
        for row in 0..rows {
            // SAFETY: as for `Shares`.
            let (sums, total) = unsafe {
                (core::slice::from_raw_parts_mut(self.sums.add(row * columns), columns), self.totals.add(row).read())
            };
            if total != C::default() {
                sums.iter_mut().for_each(|sum| *sum = sum.binary::<ops::div>(total));
            }
        }
    }
}

/// One operand of the heads: the first element of each, and the steps of its last two axes.
#[derive(Clone, Copy)]
struct Heads<'a, E> {
    first: *const E,
    lead: &'a [usize],
    steps: [usize; 2],
}
impl<'a, E> Heads<'a, E> {
    fn of(view: &View<'a, HostBuffer, E>) -> Self
    where
        E: crate::dtype::Element,
    {
        let (lead, steps) = view.strides.split_at(view.strides.len() - 2);
        Heads { first: source(view), lead, steps: [steps[0], steps[1]] }
    }

    /// A head by its place among the leading axes of these sizes.
    fn at(&self, mut place: usize, sizes: &[usize]) -> *const E {
        let mut first = self.first;
        for (&size, &stride) in sizes.iter().zip(self.lead).rev() {
            first = first.wrapping_add(place % size * stride);
            place /= size;
        }
        first
    }
}

/// A matrix of numbers that are computed with: where it is, or a copy.
struct Numbers<C> {
    first: *const C,
    steps: [usize; 2],
    _copy: Option<Scratch<C>>,
}

/// # Safety
/// The rows and columns are there.
unsafe fn numbers<E: Dtype>(from: *const E, steps: [usize; 2], sizes: [usize; 2]) -> Result<Numbers<E::Compute>> {
    if TypeId::of::<E>() == TypeId::of::<E::Compute>() {
        return Ok(Numbers { first: from.cast(), steps, _copy: None });
    }
    let copy = Scratch::<E::Compute>::try_new(sizes[0] * sizes[1])?;
    // SAFETY: the caller's promise, and there is room.
    unsafe { widen::<E>(from, copy.start(), sizes, steps, [sizes[1], 1]) };
    Ok(Numbers { first: copy.start(), steps: [sizes[1], 1], _copy: Some(copy) })
}

/// Attention of queries `(…, L, E)`, keys `(…, S, E)` and values `(…, S, V)` with the same leading sizes; `(…, L, V)`, row-major.
pub(crate) fn attend<E: Dtype>(attention: &Attention<'_, HostBuffer, E>) -> Result<HostBuffer> {
    let Attention { query, value, .. } = attention;
    let (lead, of) = query.sizes.split_at(query.sizes.len() - 2);
    let (queries, features) = (of[0], of[1]);
    let [keys, width] = [value.sizes[lead.len()], value.sizes[lead.len() + 1]];
    let sizes = [lead, &[queries, width]].concat();
    let len = result_len(&sizes)?;
    if len == 0 {
        return HostBuffer::zeroed::<E>(0);
    }
    let heads: usize = lead.iter().product();
    let tiles = queries.div_ceil(if attention.is_causal { CAUSAL_QUERIES } else { QUERIES });
    // As many in each tile.
    let rows = queries.div_ceil(tiles);
    let work = heads.saturating_mul(queries).saturating_mul(keys).saturating_mul(features + width) / 32;
    let is_shared = threads::pieces(work) > 1;
    // SAFETY: every tile of every head is computed, by one thread.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            let shared = Shared((attention, out));
            let one = |at: usize| {
                let (attention, out) = { &shared }.0;
                let (head, tile) = (at / tiles, at % tiles);
                let first = tile * rows;
                if first < queries { tile_of(attention, out, head, [first, rows.min(queries - first)]) } else { Ok(()) }
            };
            if is_shared { threads::try_for_each(heads * tiles, &one) } else { (0..heads * tiles).try_for_each(one) }
        })
    }
}

/// So many queries of one head from `first` on.
fn tile_of<E: Dtype>(
    attention: &Attention<'_, HostBuffer, E>,
    out: *mut E,
    head: usize,
    [first, rows]: [usize; 2],
) -> Result<()> {
    let Attention { query, key, value, mask, is_causal, scale } = attention;
    let (lead, of) = query.sizes.split_at(query.sizes.len() - 2);
    let (queries, features) = (of[0], of[1]);
    let [keys, width] = [value.sizes[lead.len()], value.sizes[lead.len() + 1]];
    let (q, k, v) = (Heads::of(query), Heads::of(key), Heads::of(value));
    let (zero, lowest) = (E::Compute::default(), E::Compute::number(f64::NEG_INFINITY));
    let block = KEYS.min(keys.max(1));
    let scores = Scratch::<E::Compute>::try_new(rows * block)?;
    let (largest, totals) = (Scratch::filled(lowest, rows), Scratch::filled(zero, rows));
    let sums = Scratch::filled(zero, rows * width);
    // SAFETY: the rows are the head's.
    let left = unsafe { numbers::<E>(q.at(head, lead).wrapping_add(first * q.steps[0]), q.steps, [rows, features])? };
    // Of later keys no query of the tile sees any.
    let end = if *is_causal { keys.min(first + rows) } else { keys };
    for low in (0..end).step_by(KEYS) {
        let count = KEYS.min(end - low);
        let row = |of: Heads<'_, E>| of.at(head, lead).wrapping_add(low * of.steps[0]);
        // SAFETY: the keys and values are the head's.
        let (keys, values) = unsafe {
            (numbers::<E>(row(k), k.steps, [count, features])?, numbers::<E>(row(v), v.steps, [count, width])?)
        };
        E::Compute::visit::<Multiply>(Product {
            sizes: [rows, features, count],
            out: scores.start(),
            out_step: count,
            left: left.first,
            left_steps: left.steps,
            right: keys.first,
            right_steps: [keys.steps[1], keys.steps[0]],
            alpha: E::Compute::number(*scale),
            adds: false,
            threads: 1,
        })?;
        for row in 0..rows {
            // SAFETY: the product has written so many rows and columns; the mask is as large as all scores.
            let scores = unsafe { core::slice::from_raw_parts_mut(scores.start().add(row * count), count) };
            match mask {
                Some(Mask::Added(mask)) => {
                    let of = Heads::of(mask);
                    let from = of.at(head, lead).wrapping_add((first + row) * of.steps[0] + low * of.steps[1]);
                    for (at, score) in scores.iter_mut().enumerate() {
                        // SAFETY: as above.
                        let added = unsafe { from.add(at * of.steps[1]).read().to_compute() };
                        *score = score.binary::<Accumulating>(added);
                    }
                }
                Some(Mask::Seen(mask)) => {
                    let of = Heads::of(mask);
                    let from = of.at(head, lead).wrapping_add((first + row) * of.steps[0] + low * of.steps[1]);
                    for (at, score) in scores.iter_mut().enumerate() {
                        // SAFETY: as above.
                        if !unsafe { from.add(at * of.steps[1]).read() } {
                            *score = lowest;
                        }
                    }
                }
                None => {}
            }
            if *is_causal {
                scores.iter_mut().skip((first + row + 1).saturating_sub(low)).for_each(|score| *score = lowest);
            }
        }
        simd::dispatch(Shares {
            scores: scores.start(),
            sizes: [rows, count],
            largest: largest.start(),
            totals: totals.start(),
            sums: sums.start(),
            width,
        });
        E::Compute::visit::<Multiply>(Product {
            sizes: [rows, count, width],
            out: sums.start(),
            out_step: width,
            left: scores.start(),
            left_steps: [count, 1],
            right: values.first,
            right_steps: values.steps,
            alpha: one::<E>(),
            adds: true,
            threads: 1,
        })?;
    }
    simd::dispatch(Divide { sums: sums.start(), totals: totals.start().cast_const(), sizes: [rows, width] });
    let out = out.wrapping_add((head * queries + first) * width);
    // SAFETY: these rows of the result are this tile's alone.
    unsafe { narrow::<E>(sums.start(), out, [rows, width], [width, 1], [width, 1]) };
    Ok(())
}
