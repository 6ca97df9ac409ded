//! Convolutions with 3 x 3 windows by Winograd's algorithm. For stride one, F(2 x 2, 3 x 3): a tile of 2 x 2 results needs 16 products per
//! pair of input and output channel instead of 36. For stride two, F(2, 2) on every other row and column of the input: 25 products. A
//! tile's input and the windows are transformed so that the products become matrix products, `(tiles, channels)` by `(channels, output
//! channels)`, one per point of the algorithm.
//!
//! A result depends on its window only, as in a direct convolution: its error is of the same order, and NaN reaches the same results. An
//! infinity may become NaN, so non-finite results are recomputed directly.
//!
//! Source: Lavin and Gray, Fast Algorithms for Convolutional Neural Networks, 2015.

mod transforms;

pub(super) use self::transforms::{Inputs, Results, Transforms, Windows, difference, inputs, results, sum, windows};
use self::transforms::{SUMS, Scheme};
use super::patch::{self, Part};
use super::plan::{Plan, Source};
use super::tile::{Finish, TileArgs};
use super::weights::{chunk_of, strips};
use crate::cpu::threads::{self, Queue, Shared};
use crate::dtype::Dtype;
use crate::error::{Result, numel_at_most, room};
use crate::ops::window::Window;
use crate::storage::{HostBuffer, Scratch};
use core::ops::Range;
use core::sync::atomic::{AtomicBool, Ordering};

/// Results per tile.
const RESULTS: usize = 4;
/// Minimum channels of the operand and of the result: one vector.
const FEWEST: usize = 16;
/// Minimum channels (for stride one and two) and tiles per image for which the transforms pay off.
const PAYING_CHANNELS: [usize; 2] = if cfg!(debug_assertions) { [FEWEST; 2] } else { [32, 64] };
const PAYING_TILES: usize = if cfg!(debug_assertions) { 2 } else { 32 };
/// Approximate tiles per block: its input and its products fit the L2 cache.
const TILES: usize = 48;

/// Padding between the matrices of points: if their stride were a multiple of the page size, one tile's numbers would compete for the same
/// L1 cache sets.
pub(super) const GAP: usize = 16;

impl Scheme {
    /// Start of a point's matrix, for `numbers` numbers per sum; past the last point, the total of all matrices.
    fn matrix(&self, point: usize, numbers: usize) -> usize {
        self.before[point] * numbers + point * GAP
    }

    /// The total numbers of all points' matrices.
    fn matrices(&self, numbers: usize) -> usize {
        self.matrix(self.points, numbers)
    }

    /// Room for `count` times the [`matrices`](Self::matrices) of sums with `rows * columns` numbers.
    fn room<T>(&self, count: usize, [rows, columns]: [usize; 2]) -> Result<Scratch<T>> {
        Scratch::for_parts(&[&[count, self.before[self.points], rows, columns], &[count, self.points, GAP]])
    }

    /// The place of each sum: `of` gets the start of its point's matrix, the number of sums of that point, and the sum's index among them.
    fn places<T>(&self, numbers: usize, of: impl Fn(usize, usize, usize) -> T) -> [T; SUMS] {
        core::array::from_fn(|sum| {
            let [point, nth] = self.places[sum];
            of(self.matrix(point, numbers), self.counts[point], nth)
        })
    }
}

/// Whether this module supports a convolution and computes it faster than the direct algorithm. Independent of the batch size, so that an
/// image's results are the same in every batch.
pub(super) fn pays<E: Dtype>(plan: &Plan<'_, E>) -> bool {
    let stride = plan.windows[1].stride;
    let is_three = |window: Window| [window.kernel, window.stride, window.dilation] == [3, stride, 1];
    let [_, channels, _, rows, columns] = plan.out_sizes;
    let Some(&least) = PAYING_CHANNELS.get(stride - 1) else { return false };
    plan.groups == 1
        && plan.windows[0] == Window::POINT
        && plan.x_sizes[2] == 1
        && is_three(plan.windows[1])
        && is_three(plan.windows[2])
        && plan.x_sizes[1].min(channels) >= least
        && rows.div_ceil(2) * columns.div_ceil(2) >= PAYING_TILES
}
const _: () = assert!(PAYING_CHANNELS[0] >= FEWEST && PAYING_CHANNELS[1] >= FEWEST);

/// Pixels with all their channels contiguous: the strides of images, rows and pixels.
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

/// A convolution with transformed windows.
struct Winograd<'p, 'a, E: Dtype> {
    plan: &'p Plan<'a, E>,
    scheme: &'static Scheme,
    x: Pixels<E::Compute>,
    out: Pixels<E::Compute>,
    windows: *const E::Compute,
    /// Zeros for all channels: a pixel of the padding, and the initial values of sums.
    zeros: *const E::Compute,
    /// Whether results are stored directly, so that the epilogue follows at once.
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

    /// The image of a tile, and the row and column of its first result.
    fn corner(&self, tile: usize) -> [usize; 3] {
        let [rows, columns] = self.grid();
        [tile / columns / rows, tile / columns % rows * 2, tile % columns * 2]
    }

    /// Lists the pixels that a tile reads.
    fn input_places(&self, tile: usize, list: &mut Vec<*const E::Compute>) {
        let ([image, row, column], plan) = (self.corner(tile), self.plan);
        let position = |start: usize, at: usize, axis: usize| {
            let window = plan.windows[axis];
            let position = (start * window.stride + at).checked_sub(window.before);
            position.filter(|&position| position < plan.x_sizes[axis + 2])
        };
        for y in 0..self.scheme.side {
            let row = position(row, y, 1);
            list.extend((0..self.scheme.side).map(|x| match (row, position(column, x, 2)) {
                (Some(row), Some(column)) => self.x.at(image, row, column).cast_const(),
                _ => self.zeros,
            }));
        }
    }

    /// The pixels of a tile's results.
    fn result_places(&self, tile: usize) -> [*mut E::Compute; RESULTS] {
        let ([image, row, column], sizes) = (self.corner(tile), self.plan.out_sizes);
        core::array::from_fn(|at| match [row + at / 2, column + at % 2] {
            [row, column] if row < sizes[3] && column < sizes[4] => self.out.at(image, row, column),
            _ => core::ptr::null_mut(),
        })
    }

    /// Stride between the products of two points, for this many tiles.
    fn products_len(&self, tiles: usize) -> usize {
        tiles * self.padded_channels() + GAP
    }

    /// Computes some of the tiles in scratch memory. Returns whether all results are finite.
    fn block(&self, tiles: Range<usize>, [sums, products]: [*mut E::Compute; 2]) -> Result<bool> {
        let (plan, scheme, count) = (self.plan, self.scheme, tiles.len());
        let (channels, padded, products_len) = (plan.x_sizes[1], self.padded_channels(), self.products_len(count));
        let transforms = plan.kernels.winograd;
        let stride = plan.windows[1].stride;
        let mut input_places = room(numel_at_most(&[count, scheme.side, scheme.side]))?;
        tiles.clone().for_each(|tile| self.input_places(tile, &mut input_places));
        let to = scheme.places(count * channels, |first, sums_of_point, nth| {
            (sums.wrapping_add(first + nth * channels), sums_of_point * channels)
        });
        let inputs = Inputs { places: &input_places, channels, to };
        // SAFETY: the places are pixels of the operand or zeros, and there is room for the sums.
        unsafe { (transforms.inputs[stride - 1])(&inputs) };
        for point in 0..scheme.points {
            self.multiply(point, count, sums, products.wrapping_add(point * products_len));
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
        // SAFETY: all products are computed, there is a bias per channel of the strips, and the places are the tiles' pixels.
        let finite = unsafe { (transforms.results[stride - 1])(&results) };
        if let (Some(then), true) = (plan.then, self.writes_result) {
            for place in places.into_iter().flatten().filter(|place| !place.is_null()) {
                then(place.cast(), plan.out_sizes[1]);
            }
        }
        Ok(finite)
    }

    /// The products of a point: a matrix `(tiles, channels)` for each of its sums, side by side, times the matrix of its windows.
    fn multiply(&self, point: usize, count: usize, sums: *const E::Compute, products: *mut E::Compute) {
        let (plan, scheme, strip) = (self.plan, self.scheme, self.plan.kernels.strip);
        let (channels, padded) = (plan.x_sizes[1], self.padded_channels());
        let sums = sums.wrapping_add(scheme.matrix(point, count * channels));
        let windows = self.windows.wrapping_add(scheme.matrix(point, channels * strip));
        // Channels of all sums together.
        let depth = scheme.counts[point] * channels;
        let (chunk, tiles) = (chunk_of(depth, 1), plan.kernels.tiles_of(count));
        let windows_len = scheme.matrices(channels * strip);
        for strip_at in 0..padded / strip {
            for low in (0..depth).step_by(chunk) {
                let weights = windows.wrapping_add(strip_at * windows_len + low * strip);
                let len = chunk.min(depth - low);
                // The weights of the next strip.
                let mut ahead = weights.wrapping_add(windows_len);
                let part = (len * strip).div_ceil(tiles.len());
                let mut row = 0;
                for &pixels in &tiles {
                    let out = products.wrapping_add(row * padded + strip_at * strip);
                    let (start, start_step) = if low == 0 { (self.zeros, 0) } else { (out.cast_const(), padded) };
                    let tile = TileArgs {
                        x: sums.wrapping_add(row * depth + low),
                        step: depth,
                        runs: &[0],
                        len,
                        weights,
                        weights_step: strip,
                        start,
                        start_step,
                        out,
                        out_step: padded,
                        columns: strip,
                        finish: Finish::Store,
                        ahead,
                        ahead_step: (part * size_of::<E::Compute>()).div_ceil(len),
                    };
                    // SAFETY: the transformed inputs and windows are valid, and the products belong to this block.
                    unsafe { plan.kernels.run(pixels, &tile) }
                    ahead = ahead.wrapping_add(part);
                    row += pixels;
                }
            }
        }
    }

    /// Computes all tiles, divided among threads. Returns whether all results are finite.
    fn run(&self) -> Result<bool> {
        let plan = self.plan;
        let tiles = plan.out_sizes[0] * self.grid().into_iter().product::<usize>();
        let products = self.scheme.side * self.scheme.side;
        let work = (tiles * products * plan.out_sizes[1]).saturating_mul(plan.x_sizes[1]) / 64;
        let threads = threads::pieces(work).min(plan.threads);
        // Blocks of about equal size, in whole tiles of the kernels.
        let blocks = tiles.div_ceil(TILES).next_multiple_of(threads);
        let each = tiles.div_ceil(blocks).next_multiple_of(plan.kernels.pixels[0]).min(tiles);
        let (queue, finite, all) = (Queue::new(tiles.div_ceil(each), threads), AtomicBool::new(true), Shared(self));
        threads::try_for_each(threads, &|worker| {
            let all = { &all }.0;
            let points = all.scheme.points;
            let memory = [
                all.scheme.room(1, [each, all.plan.x_sizes[1]])?,
                // (The same count as `products_len`.)
                Scratch::for_parts(&[&[points, each, all.padded_channels()], &[points, GAP]])?,
            ];
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

/// Divides images and rows among threads, at an estimated nanosecond per number.
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

/// The operand, channels last.
fn channels_last<E: Dtype>(plan: &Plan<'_, E>) -> Result<Scratch<E::Compute>> {
    let ([images, channels, _, rows, columns], strides) = (plan.x_sizes, plan.x_strides);
    let memory = Scratch::try_new([images, rows, columns, channels])?;
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

/// Transforms all windows: for each strip, point and sum of the point, a matrix `(channels, strip)`.
fn sum_windows<E: Dtype>(
    plan: &Plan<'_, E>,
    scheme: &Scheme,
    packed: *const E::Compute,
) -> Result<Scratch<E::Compute>> {
    let (channels, strip) = (plan.x_sizes[1], plan.kernels.strip);
    let (count, chunk, positions) = (strips(plan.out_sizes[1], strip), chunk_of(channels, 9), 9);
    let len = scheme.matrices(channels * strip);
    let memory = scheme.room::<E::Compute>(count, [channels, strip])?;
    let (to, packed) = (Shared(memory.start()), Shared(packed));
    let transform = plan.kernels.winograd.windows[plan.windows[1].stride - 1];
    let pieces = threads::pieces(count * len / 16).min(count).min(plan.threads);
    threads::for_each(pieces, &|piece| {
        let (to, packed) = ({ &to }.0, { &packed }.0);
        for at in piece * count / pieces..(piece + 1) * count / pieces {
            for low in (0..channels).step_by(chunk) {
                let to = scheme.places(channels * strip, |first, _, nth| {
                    to.wrapping_add(at * len + first + (nth * channels + low) * strip)
                });
                let from = packed.wrapping_add((at * channels + low) * positions * strip);
                let windows = Windows { from, channels: chunk.min(channels - low), to };
                // SAFETY: the weights are packed chunk by chunk, and there is room for a strip's sums.
                unsafe { transform(&windows) }
            }
        }
    });
    Ok(memory)
}

/// A convolution of packed weights for which this [pays](pays); `None` if some results are not finite.
pub(super) fn convolve<E: Dtype>(plan: &Plan<'_, E>, len: usize) -> Result<Option<HostBuffer>> {
    let Source::Packed(packed) = plan.weights else { unreachable!("weights are packed before") };
    let scheme = Scheme::of_stride(plan.windows[1].stride);
    let windows = sum_windows(plan, scheme, packed)?;
    let zeros = Scratch::try_filled(E::Compute::default(), [plan.x_sizes[1].max(plan.kernels.strip)])?;
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
    // SAFETY: every pixel of the result belongs to a tile, or to a row that is stored.
    let result = unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            let writes_result = same && o[1] == 1;
            let pixels = match writes_result {
                true => Pixels { first: out.cast(), steps: [o[0], o[3], o[4]] },
                false => {
                    let memory = out_memory.insert(Scratch::try_new([images, rows, columns, channels])?);
                    Pixels::contiguous(memory, [rows, columns, channels])
                }
            };
            let winograd = Winograd {
                plan,
                scheme,
                x,
                out: pixels,
                windows: windows.start(),
                zeros: zeros.start(),
                writes_result,
            };
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
