//! Convolutions of windows of 3 x 3 by Winograd's algorithm F(2 x 2, 3 x 3): a tile of 2 x 2 results needs 16 products for each pair of an
//! input and an output channel instead of 36. The 16 numbers of a tile's input and of a window are sums of some of them, so that the
//! products are those of 16 pairs of matrices, `(tiles, channels)` and `(channels, output channels)`.
//!
//! What a result is computed from lies in its window, as in a direct convolution: its error is of the same order, and a NaN reaches the
//! same results. An infinity may become a NaN, so results that are not finite are computed directly.
//!
//! Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015. Uses `tile`, `patch`, `weights`, threads; used by `conv`.

mod transforms;

pub(super) use self::transforms::{Inputs, Results, Transforms, Windows, difference, inputs, results, sum, windows};
use super::patch::{self, Part};
use super::plan::{Plan, Source};
use super::tile::TileArgs;
use super::weights::{chunk_of, strips};
use crate::cpu::threads::{self, Queue, Shared};
use crate::dtype::Dtype;
use crate::error::{Result, room};
use crate::ops::window::Window;
use crate::storage::{HostBuffer, Scratch};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// The products of a tile, and its results.
const PRODUCTS: usize = 16;
const RESULTS: usize = 4;
/// The fewest channels, of the operand and of the result: as many as a vector has numbers.
const FEWEST: usize = 16;
/// With fewer channels, or fewer tiles of an image, the sums of inputs, windows and products take as long as what they save.
const PAYING_CHANNELS: usize = if cfg!(debug_assertions) { FEWEST } else { 32 };
const PAYING_TILES: usize = if cfg!(debug_assertions) { 2 } else { 32 };
/// Tiles of a block, about: its input and its products are in the L2 cache.
const TILES: usize = 48;

/// The numbers of a matrix, and of a gap behind it: if as many bytes as a page has divided the step from one product's matrix to the next
/// one's, their numbers for one tile would compete for the same places in the L1 cache.
fn matrix_len(rows: usize, columns: usize) -> usize {
    const GAP: usize = 16;
    rows * columns + GAP
}

/// Whether this module computes a convolution, and faster than it is computed directly. The batch does not count: an image's results are the
/// same in each.
pub(super) fn pays<E: Dtype>(plan: &Plan<'_, E>) -> bool {
    let is_three = |window: Window| [window.kernel, window.stride, window.dilation] == [3, 1, 1];
    let [_, channels, _, rows, columns] = plan.out_sizes;
    plan.groups == 1
        && plan.windows[0] == Window::POINT
        && plan.x_sizes[2] == 1
        && is_three(plan.windows[1])
        && is_three(plan.windows[2])
        && plan.x_sizes[1].min(channels) >= PAYING_CHANNELS
        && rows.div_ceil(2) * columns.div_ceil(2) >= PAYING_TILES
}
const _: () = assert!(PAYING_CHANNELS >= FEWEST);

/// Pixels of all channels, one after the other: the step from one image to the next one, from row to row and from pixel to pixel.
#[derive(Clone, Copy)]
struct Pixels<T> {
    first: *mut T,
    steps: [usize; 3],
}
impl<T> Pixels<T> {
    fn contiguous(memory: &Scratch<T>, [rows, columns, channels]: [usize; 3]) -> Self {
        Pixels { first: memory.start(), steps: [rows * columns * channels, columns * channels, channels] }
    }

    fn at(&self, image: usize, row: usize, column: usize) -> *mut T {
        let [images, rows, columns] = self.steps;
        self.first.wrapping_add(image * images + row * rows + column * columns)
    }
}

/// A convolution whose windows have been summed.
struct Winograd<'p, 'a, E: Dtype> {
    plan: &'p Plan<'a, E>,
    x: Pixels<E::Compute>,
    out: Pixels<E::Compute>,
    windows: *const E::Compute,
    /// Zeros for all channels: a pixel of the padding, and what sums start from.
    zeros: *const E::Compute,
    /// Whether results are written where they belong, so that the epilogue follows at once.
    writes_result: bool,
}

impl<E: Dtype> Winograd<'_, '_, E> {
    /// Rows and columns of tiles of an image.
    fn grid(&self) -> [usize; 2] {
        [self.plan.out_sizes[3].div_ceil(2), self.plan.out_sizes[4].div_ceil(2)]
    }

    fn padded_channels(&self) -> usize {
        self.plan.out_sizes[1].next_multiple_of(self.plan.kernels.strip)
    }

    /// The image of a tile and the row and column of its first result.
    fn corner(&self, tile: usize) -> [usize; 3] {
        let [rows, columns] = self.grid();
        [tile / columns / rows, tile / columns % rows * 2, tile % columns * 2]
    }

    /// The pixels that a tile reads.
    fn input_places(&self, tile: usize) -> [*const E::Compute; PRODUCTS] {
        let ([image, row, column], plan) = (self.corner(tile), self.plan);
        let position = |start: usize, at: usize, axis: usize| {
            let position = (start + at).checked_sub(plan.windows[axis].before);
            position.filter(|&position| position < plan.x_sizes[axis + 2])
        };
        core::array::from_fn(|at| match (position(row, at / 4, 1), position(column, at % 4, 2)) {
            (Some(row), Some(column)) => self.x.at(image, row, column).cast_const(),
            _ => self.zeros,
        })
    }

    /// The pixels of its results.
    fn result_places(&self, tile: usize) -> [*mut E::Compute; RESULTS] {
        let ([image, row, column], sizes) = (self.corner(tile), self.plan.out_sizes);
        core::array::from_fn(|at| match [row + at / 2, column + at % 2] {
            [row, column] if row < sizes[3] && column < sizes[4] => self.out.at(image, row, column),
            _ => core::ptr::null_mut(),
        })
    }

    /// The steps from one product's matrix of a block to the next one's: of the sums of inputs, and of the products.
    fn matrices(&self, tiles: usize) -> [usize; 2] {
        [self.plan.x_sizes[1], self.padded_channels()].map(|channels| matrix_len(tiles, channels))
    }

    /// Computes some of the tiles, with scratch memory. Returns whether all results are finite.
    fn block(&self, tiles: Range<usize>, [sums, products]: [*mut E::Compute; 2]) -> Result<bool> {
        let (plan, count) = (self.plan, tiles.len());
        let (channels, padded) = (plan.x_sizes[1], self.padded_channels());
        let [sums_len, products_len] = self.matrices(count);
        let mut input_places = room(count)?;
        input_places.extend(tiles.clone().map(|tile| self.input_places(tile)));
        let inputs = Inputs { places: &input_places, channels, to: sums, to_step: sums_len };
        // SAFETY: the places are pixels of the operand or zeros, and there is room for the sums.
        unsafe { (plan.kernels.winograd.inputs)(&inputs) };
        for at in 0..PRODUCTS {
            self.multiply(at, count, sums.wrapping_add(at * sums_len), products.wrapping_add(at * products_len));
        }
        let mut places = room(count)?;
        places.extend(tiles.map(|tile| self.result_places(tile)));
        let results = Results {
            from: products,
            from_steps: [products_len, padded],
            channels: plan.out_sizes[1],
            bias: plan.bias,
            places: &places,
        };
        // SAFETY: all products have been computed, there is a bias for each channel of the strips, and the places are the tiles' pixels.
        let finite = unsafe { (plan.kernels.winograd.results)(&results) };
        if let (Some(then), true) = (plan.then, self.writes_result) {
            for place in places.into_iter().flatten().filter(|place| !place.is_null()) {
                then(place.cast(), plan.out_sizes[1]);
            }
        }
        Ok(finite)
    }

    /// The product of this number, of a matrix `(tiles, channels)` and its window sums.
    fn multiply(&self, at: usize, count: usize, sums: *const E::Compute, products: *mut E::Compute) {
        let (plan, strip) = (self.plan, self.plan.kernels.strip);
        let (channels, padded) = (plan.x_sizes[1], self.padded_channels());
        let (chunk, tiles) = (chunk_of(channels, 1), plan.kernels.tiles_of(count));
        for strip_at in 0..padded / strip {
            for low in (0..channels).step_by(chunk) {
                let weights =
                    self.windows.wrapping_add((strip_at * PRODUCTS + at) * matrix_len(channels, strip) + low * strip);
                let len = chunk.min(channels - low);
                // The weights of the next strip.
                let mut ahead = weights.wrapping_add(PRODUCTS * matrix_len(channels, strip));
                let part = (len * strip).div_ceil(tiles.len());
                let mut row = 0;
                for &pixels in &tiles {
                    let out = products.wrapping_add(row * padded + strip_at * strip);
                    let (start, start_step) = if low == 0 { (self.zeros, 0) } else { (out.cast_const(), padded) };
                    let tile = TileArgs {
                        x: sums.wrapping_add(row * channels + low),
                        step: channels,
                        runs: &[0],
                        len,
                        weights,
                        start,
                        start_step,
                        out,
                        out_step: padded,
                        columns: strip,
                        ahead,
                        ahead_step: (part * size_of::<E::Compute>()).div_ceil(len),
                    };
                    // SAFETY: the sums of all inputs and windows are there, and the products are this block's.
                    unsafe { plan.kernels.run(pixels, &tile) }
                    ahead = ahead.wrapping_add(part);
                    row += pixels;
                }
            }
        }
    }

    /// All tiles, divided among threads. Returns whether all results are finite.
    fn run(&self) -> Result<bool> {
        let plan = self.plan;
        let tiles = plan.out_sizes[0] * self.grid().into_iter().product::<usize>();
        let work = (tiles * PRODUCTS * plan.out_sizes[1]).saturating_mul(plan.x_sizes[1]) / 64;
        let threads = threads::pieces(work).min(plan.threads);
        // As many tiles in each block, about, and these in whole tiles of the kernels.
        let blocks = tiles.div_ceil(TILES).next_multiple_of(threads);
        let each = tiles.div_ceil(blocks).next_multiple_of(plan.kernels.pixels[0]).min(tiles);
        let (queue, finite, all) = (Queue::new(tiles.div_ceil(each), threads), AtomicBool::new(true), Shared(self));
        threads::try_for_each(threads, &|worker| {
            let all = { &all }.0;
            let [sums, products] = all.matrices(each).map(|len| PRODUCTS * len);
            let memory = [Scratch::try_new(sums)?, Scratch::try_new(products)?];
            while let Some(piece) = queue.take(worker) {
                let tiles = piece * each..((piece + 1) * each).min(tiles);
                if !all.block(tiles, [memory[0].start(), memory[1].start()])? {
                    finite.store(false, Ordering::Relaxed);
                }
            }
            Ok(())
        })?;
        Ok(finite.into_inner())
    }
}

/// Divides images and rows among threads: about a nanosecond for each number.
fn for_each_row(images: usize, rows: usize, row_len: usize, work: &(dyn Fn(usize, Range<usize>) + Sync)) {
    let all = images * rows;
    let pieces = threads::pieces(all.saturating_mul(row_len) / 2).min(all);
    threads::for_each(pieces, &|piece| {
        let (mut low, end) = (piece * all / pieces, (piece + 1) * all / pieces);
        while low < end {
            let count = (rows - low % rows).min(end - low);
            work(low / rows, low % rows..low % rows + count);
            low += count;
        }
    });
}

/// The operand with the channels of each pixel side by side.
fn channels_last<E: Dtype>(plan: &Plan<'_, E>) -> Result<Scratch<E::Compute>> {
    let ([images, channels, _, rows, columns], strides) = (plan.x_sizes, plan.x_strides);
    let memory = Scratch::try_new(images * rows * columns * channels)?;
    let all = Shared((plan.x, Pixels::contiguous(&memory, [rows, columns, channels])));
    for_each_row(images, rows, columns * channels, &|image, here| {
        let (x, pixels) = { &all }.0;
        let from = x.wrapping_add(image * strides[0]);
        let part = |start, len, size, stride| Part { start, len, before: 0, size, stride };
        let high = part(here.start, here.len(), rows, strides[3]);
        let wide = part(0, columns, columns, strides[4]);
        // SAFETY: the rows are the operand's, and nobody else writes their copy.
        unsafe { patch::copy_part::<E>(from, pixels.at(image, here.start, 0), high, wide, channels, strides[1]) }
    });
    Ok(memory)
}

/// The sums of all windows: for each strip, for each product, a matrix `(channels, strip)`.
fn sum_windows<E: Dtype>(plan: &Plan<'_, E>, packed: *const E::Compute) -> Result<Scratch<E::Compute>> {
    let (channels, strip) = (plan.x_sizes[1], plan.kernels.strip);
    let (count, chunk, positions) = (strips(plan.out_sizes[1], strip), chunk_of(channels, 9), 9);
    let matrix = matrix_len(channels, strip);
    let memory = Scratch::<E::Compute>::try_new(count * PRODUCTS * matrix)?;
    let (to, packed) = (Shared(memory.start()), Shared(packed));
    let (transform, pieces) =
        (plan.kernels.winograd.windows, threads::pieces(count * matrix).min(count).min(plan.threads));
    threads::for_each(pieces, &|piece| {
        let (to, packed) = ({ &to }.0, { &packed }.0);
        for at in piece * count / pieces..(piece + 1) * count / pieces {
            for low in (0..channels).step_by(chunk) {
                let windows = Windows {
                    from: packed.wrapping_add((at * channels + low) * positions * strip),
                    channels: chunk.min(channels - low),
                    to: to.wrapping_add(at * PRODUCTS * matrix + low * strip),
                    to_step: matrix,
                };
                // SAFETY: the weights have been packed, chunk by chunk, and there is room for a strip's sums.
                unsafe { transform(&windows) }
            }
        }
    });
    Ok(memory)
}

/// A convolution of packed weights for which this [pays](pays); `None` if some of the results are not finite.
pub(super) fn convolve<E: Dtype>(plan: &Plan<'_, E>, len: usize) -> Result<Option<HostBuffer>> {
    let Source::Packed(packed) = plan.weights else { unreachable!("weights are packed before") };
    let windows = sum_windows(plan, packed)?;
    let zeros = Scratch::try_filled(E::Compute::default(), plan.x_sizes[1].max(plan.kernels.strip))?;
    let same = core::any::TypeId::of::<E>() == core::any::TypeId::of::<E::Compute>();
    let (mut x_memory, mut out_memory) = (None, None);
    let x = match same && plan.x_strides[1] == 1 {
        true => {
            let s = plan.x_strides;
            Pixels { first: plan.x.cast_mut().cast(), steps: [s[0], s[3], s[4]] }
        }
        false => {
            let [_, channels, _, rows, columns] = plan.x_sizes;
            Pixels::contiguous(x_memory.insert(channels_last(plan)?), [rows, columns, channels])
        }
    };
    let ([images, channels, _, rows, columns], o) = (plan.out_sizes, plan.out_strides);
    let mut finite = true;
    // SAFETY: every pixel of the result is one of a tile, or of a row that is stored.
    let result = unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            let writes_result = same && o[1] == 1;
            let pixels = match writes_result {
                true => Pixels { first: out.cast(), steps: [o[0], o[3], o[4]] },
                false => {
                    let memory = out_memory.insert(Scratch::try_new(images * rows * columns * channels)?);
                    Pixels::contiguous(memory, [rows, columns, channels])
                }
            };
            let winograd =
                Winograd { plan, x, out: pixels, windows: windows.start(), zeros: zeros.start(), writes_result };
            finite = winograd.run()?;
            if !writes_result {
                let all = Shared((plan, pixels, out));
                for_each_row(images, rows, columns * channels, &|image, here| {
                    let (plan, pixels, out) = { &all }.0;
                    for row in here {
                        let to = out.wrapping_add(image * o[0] + row * o[3]);
                        let from = pixels.at(image, row, 0).cast_const();
                        patch::store::<E>(from, channels, to, [columns, channels], [o[4], o[1]], false);
                        if let Some(then) = plan.then {
                            plan.finish(then, to, [1, columns], 0..channels);
                        }
                    }
                });
            }
            Ok(())
        })
    }?;
    Ok(finite.then_some(result))
}
