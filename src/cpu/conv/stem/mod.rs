//! Convolutions of a few channels with windows seven columns wide and stride two, as in the first layer of a ResNet. By Winograd's
//! algorithm in one dimension, two results of a row need 9 products per channel and window row instead of 14: the four even columns of a
//! window meet the even columns of the input, by F(2, 4); the three odd ones meet the odd columns, by F(2, 3). Products at the same point
//! are summed together.
//!
//! As in `winograd`, a result depends on its window only, and non-finite results are recomputed directly.

mod transforms;

use self::transforms::{LONGEST, MOST_TILES};
pub(super) use self::transforms::{Lines, Results, Transforms, Windows, lines, results, windows};
use super::plan::{PLANES, Plan, Source};
use super::tile::{Finish, Kernels, TileArgs};
use super::weights::{RUN, strips};
use super::winograd::GAP;
use crate::dtype::Dtype;
use crate::error::{Result, numel_at_most, room};
use crate::storage::{HostBuffer, Scratch};
use core::sync::atomic::{AtomicBool, Ordering};

/// The points of the algorithm: 0, 1, -1, 2 and infinity.
const POINTS: usize = 5;
/// Transformed numbers of a tile's input, and of a window row: per point one of even columns, then one of odd columns, except at 2.
const SUMS: usize = 9;
const OF_POINT: [&[usize]; POINTS] = [&[0, 5], &[1, 6], &[2, 7], &[3], &[4, 8]];
/// Columns of a window, and its stride.
const COLUMNS: usize = 7;
const STRIDE: usize = 2;

/// Minimum output channels, result columns, and channels times window rows for which the transforms pay off.
const PAYING: [usize; 3] = if cfg!(debug_assertions) { [2, 1, 1] } else { [32, 16, 14] };
/// Maximum channels times window rows for which the transformed input of a block stays cached.
const MOST_LINES: usize = 256;
// The weights of a strip are a single chunk.
const _: () = assert!(PLANES <= RUN);
/// Maximum columns of a block, and results of a channel: its transformed input fits the L2 cache.
const BLOCK_COLUMNS: usize = if cfg!(debug_assertions) { 6 } else { 120 };
const BLOCK_RESULTS: usize = if cfg!(debug_assertions) { 20 } else { 896 };
const _: () = assert!(BLOCK_COLUMNS <= 2 * MOST_TILES && BLOCK_COLUMNS.is_multiple_of(2));

/// Whether this module supports a convolution and computes it faster than the direct algorithm. Independent of the batch size, so that an
/// image's results are the same in every batch.
pub(super) fn pays<E: Dtype>(plan: &Plan<'_, E>) -> bool {
    let ([depth, height, window], channels) = (plan.windows, plan.x_sizes[1]);
    let lines = depth.kernel.saturating_mul(height.kernel).saturating_mul(channels);
    let sizes = [plan.out_sizes[1], plan.out_sizes[4], lines];
    plan.groups == 1
        && channels <= PLANES
        && lines <= MOST_LINES
        // Every row of a block's input is transformed, so every row must be in a window.
        && height.dilation == 1
        && height.stride <= height.kernel
        && [window.kernel, window.stride, window.dilation] == [COLUMNS, STRIDE, 1]
        && sizes.iter().zip(PAYING).all(|(&size, least)| size >= least)
}

/// What blocks need in addition to their plan.
pub(super) struct Stem<'a, T> {
    /// The transformed windows: for each strip, point and number, a strip.
    windows: *const T,
    /// A strip of zeros.
    zeros: *const T,
    /// Whether all results are finite.
    finite: &'a AtomicBool,
}

/// Tiles for this many result columns, and the same rounded up to whole vectors of any kernel.
fn tiles(columns: usize) -> [usize; 2] {
    let tiles = columns.div_ceil(2);
    [tiles, tiles.next_multiple_of(LONGEST)]
}

/// Stride between the products of two points in a block's row.
fn products_len(tiles: usize, strip: usize) -> usize {
    tiles * strip + GAP
}

impl<T: Copy + 'static> Stem<'_, T> {
    /// Transformed numbers of one input line, for `columns` result columns.
    pub(super) fn line_len(columns: usize) -> usize {
        SUMS * tiles(columns)[1]
    }

    /// Transforms the input lines of a block for `columns` result columns; the strides are those of channels, lines and numbers.
    ///
    /// # Safety
    /// The lines cover the windows of whole tiles, and there is room for their sums.
    pub(super) unsafe fn sum_lines(
        kernels: Kernels<T>,
        (from, sizes, steps): (*const T, [usize; 2], [usize; 3]),
        columns: usize,
        to: *mut T,
    ) {
        let [tiles, padded] = tiles(columns);
        let lines = Lines { from, sizes, steps, tiles, to, padded };
        // SAFETY: the caller's promise.
        unsafe { (kernels.stem.lines)(&lines) }
    }

    /// A block of results, from its transformed lines, with the strides of planes, rows, tiles and channels.
    pub(super) fn block<E: Dtype<Compute = T>>(
        &self,
        plan: &Plan<'_, E>,
        x: *const T,
        [plane, line, tile, channel]: [usize; 4],
        [rows, columns]: [usize; 2],
    ) -> Result<Block<'_, T>> {
        let ([count, padded], kernels) = (tiles(columns), plan.kernels);
        let [depth, height, _] = plan.windows;
        let mut runs = [const { Vec::new() }; POINTS];
        for (runs, sums) in runs.iter_mut().zip(OF_POINT) {
            *runs = room(numel_at_most(&[depth.kernel, height.kernel, sums.len(), plan.x_sizes[1]]))?;
            for z in 0..depth.kernel {
                for y in 0..height.kernel {
                    for sum in sums {
                        let first = z * plane + y * line + sum * padded;
                        runs.extend((0..plan.x_sizes[1]).map(|at| first + at * channel));
                    }
                }
            }
        }
        Ok(Block {
            stem: self,
            kernels,
            x,
            row_step: height.stride * line,
            tile_step: tile,
            rows,
            columns,
            tiles: kernels.tiles_of(count),
            runs,
            products: Scratch::for_parts(&[&[POINTS, count, kernels.strip], &[POINTS, GAP]])?,
        })
    }
}

/// A block of results: every strip and every row has the same tiles.
pub(super) struct Block<'a, T: 'static> {
    stem: &'a Stem<'a, T>,
    kernels: Kernels<T>,
    /// The transformed lines, and their row and tile strides.
    x: *const T,
    row_step: usize,
    tile_step: usize,
    rows: usize,
    columns: usize,
    /// How a row is divided among kernels.
    tiles: Vec<usize>,
    /// For each point, the offsets of the factors of its products, in the order of the transformed windows.
    runs: [Vec<usize>; POINTS],
    /// The products of a row, by point.
    products: Scratch<T>,
}

impl<T: Copy> Block<'_, T> {
    /// Computes the strip with this index, starting from a bias: its first `written` sums are stored to a place with these row and column
    /// strides.
    pub(super) fn strip(&self, at: usize, bias: *const T, (to, to_steps): (*mut T, [usize; 2]), written: usize) {
        let (kernels, strip) = (self.kernels, self.kernels.strip);
        let step = products_len(self.columns.div_ceil(2), strip);
        let all = self.runs.iter().map(Vec::len).sum::<usize>();
        for row in 0..self.rows {
            let mut weights = self.stem.windows.wrapping_add(at * all * strip);
            for (point, runs) in self.runs.iter().enumerate() {
                // Exactly one of these points contributes to each result.
                let start = if point == 0 || point == POINTS - 1 { bias } else { self.stem.zeros };
                let mut tile = 0;
                for &pixels in &self.tiles {
                    let args = TileArgs {
                        x: self.x.wrapping_add(row * self.row_step + tile * self.tile_step),
                        step: self.tile_step,
                        runs,
                        len: 1,
                        weights,
                        weights_step: strip,
                        start,
                        start_step: 0,
                        out: self.products.start().wrapping_add(point * step + tile * strip),
                        out_step: strip,
                        columns: strip,
                        finish: Finish::Store,
                        ahead: weights,
                        ahead_step: 0,
                    };
                    // SAFETY: the transformed lines of all windows are valid for whole tiles, as are the transformed windows and the
                    // initial values; the products belong to this block.
                    unsafe { kernels.run(pixels, &args) }
                    tile += pixels;
                }
                weights = weights.wrapping_add(runs.len() * strip);
            }
            let results = Results {
                from: self.products.start(),
                from_step: step,
                columns: self.columns,
                to: to.wrapping_add(row * to_steps[0]),
                to_step: to_steps[1],
                written,
            };
            // SAFETY: the products of all points are valid, and no other block or strip writes these places of the result.
            if !unsafe { (kernels.stem.results)(&results) } {
                self.stem.finite.store(false, Ordering::Relaxed);
            }
        }
    }
}

/// Transforms all windows.
fn sum_windows<E: Dtype>(plan: &Plan<'_, E>, packed: *const E::Compute) -> Result<Scratch<E::Compute>> {
    let (channels, strip) = (plan.x_sizes[1], plan.kernels.strip);
    let (count, lines) = (strips(plan.out_sizes[1], strip), plan.windows[0].kernel * plan.windows[1].kernel);
    let memory = Scratch::<E::Compute>::try_new([count, lines, SUMS, channels, strip])?;
    for at in 0..count {
        let numbers = lines * channels * strip;
        let from = packed.wrapping_add(at * numbers * COLUMNS);
        let windows = Windows { from, lines, channels, to: memory.start().wrapping_add(at * numbers * SUMS) };
        // SAFETY: the strip's weights are packed in one chunk, and there is room for their sums.
        unsafe { (plan.kernels.stem.windows)(&windows) }
    }
    Ok(memory)
}

/// A convolution of packed weights for which this [pays](pays); `None` if some results are not finite.
pub(super) fn convolve<E: Dtype>(plan: &Plan<'_, E>, len: usize) -> Result<Option<HostBuffer>> {
    let Source::Packed(packed) = plan.weights else { unreachable!("weights are packed before") };
    let windows = sum_windows(plan, packed)?;
    let zeros = Scratch::try_filled(E::Compute::default(), [plan.kernels.strip])?;
    let finite = AtomicBool::new(true);
    let stem = Stem { windows: windows.start(), zeros: zeros.start(), finite: &finite };
    let [_, channels, _, rows, columns] = plan.out_sizes;
    // Blocks of about equal width, in whole tiles of two.
    let wide = columns.div_ceil(columns.div_ceil(BLOCK_COLUMNS)).next_multiple_of(2).min(columns);
    let high = (BLOCK_RESULTS / wide).clamp(1, rows);
    let block = [rows.div_ceil(rows.div_ceil(high)), wide];
    // SAFETY: the blocks cover the result, which is dense, and the strips all of its channels; each is computed by one thread.
    let result = unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            let weights = Source::Packed(packed);
            let plan = Plan {
                out,
                copy: Some(|plan, number, place, to| plan.copied(number, place, to)),
                block,
                weights,
                stem: Some(&stem),
                ..*plan
            };
            plan.run(strips(channels, plan.kernels.strip))
        })
    }?;
    Ok(finite.into_inner().then_some(result))
}
