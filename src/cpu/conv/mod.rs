//! Convolutions of floating-point numbers, computed directly: no matrix of patches is made. The result is computed in blocks of rows
//! and columns; what a block reads is copied first, padded, with the channels of a pixel side by side, unless it lies so already.
//!
//! Every sum is taken in one order, chunk by chunk of the channels, position by position and channel by channel, whatever the blocks and
//! threads.
//! Uses `tile`, `patch`, `weights`, threads and scratch memory; used by `Cpu`.

mod depthwise;
mod patch;
mod product;
mod tile;
mod weights;

use self::patch::Part;
pub(super) use self::patch::{narrow, widen};
pub(super) use self::product::FewRows;
use self::tile::{Kernels, TileArgs};
use self::weights::{Packer, Weights, chunk_of, strips};
use super::elementwise::{result_len, source};
use super::epilogue::Then;
use super::simd;
use super::threads::{self, Shared};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::window::{Convolution, Window};
use crate::storage::{HostBuffer, Scratch, View};
use core::any::TypeId;

/// Numbers of a block's input: a part of the L2 cache.
const INPUT: usize = if cfg!(debug_assertions) { 1 << 8 } else { 1 << 16 };
/// Pixels of a block.
const PIXELS: usize = if cfg!(debug_assertions) { 20 } else { 224 };

/// A convolution as the blocks see it. Sizes are (batch, channels, depth, height, width).
struct Plan<'a, E: Dtype> {
    windows: [Window; 3],
    groups: usize,
    x: *const E,
    x_sizes: [usize; 5],
    x_strides: [usize; 5],
    out: *mut E,
    out_sizes: [usize; 5],
    out_strides: [usize; 5],
    kernels: Kernels<E::Compute>,
    /// Whether windows are read where they are.
    is_direct: bool,
    /// Whether sums are written where the result has them.
    writes_result: bool,
    /// Whether sums are added to what the result holds; never where they are written there.
    adds: bool,
    /// Whether each channel is a group of its own.
    is_depthwise: bool,
    /// Rows and columns of a block.
    block: [usize; 2],
    weights: Source<'a, E>,
    /// Numbers of a window of one group.
    depth: usize,
    /// What sums start from: a strip for each of the packed weights, and the step from one to the next.
    bias: *const E::Compute,
    bias_step: usize,
    then: Option<Then<'a, E>>,
    /// The most threads to use.
    threads: usize,
}

/// Where the strips of weights are.
enum Source<'a, E: Dtype> {
    /// One after the other in memory.
    Packed(*const E::Compute),
    /// Nowhere yet. Where there is one block, each chunk is used once, right after it is packed, while it is in the cache.
    Unpacked(&'a Packer<'a, E>),
}

/// Whether there are kernels for a dtype.
pub(crate) fn has<E: Dtype>() -> bool {
    !tile::kernels::<E::Compute>().is_empty()
}

fn five(of: &[usize]) -> [usize; 5] {
    core::array::from_fn(|at| of[at])
}

/// Whether one axis runs on into the next one, in strides and sizes.
fn runs_on(sizes: [usize; 2], strides: [usize; 2]) -> bool {
    sizes[0] == 1 || strides[0] == sizes[1] * strides[1]
}

impl<E: Dtype> Plan<'_, E> {
    /// Where each position is a window, rows are as long as they run on in memory: the batch and all axes are one, if they do.
    fn flatten(&mut self) {
        if self.windows != [Window::POINT; 3] {
            return;
        }
        for axis in [3, 2, 0] {
            let merges = |sizes: &[usize; 5], strides: &[usize; 5]| {
                runs_on([sizes[axis], sizes[4]], [strides[axis], strides[4]])
            };
            if !merges(&self.x_sizes, &self.x_strides) || !merges(&self.out_sizes, &self.out_strides) {
                return;
            }
            for sizes in [&mut self.x_sizes, &mut self.out_sizes] {
                sizes[4] *= sizes[axis];
                sizes[axis] = 1;
            }
        }
    }

    /// How large a block is: its input is in the cache, and there are enough of them for all threads.
    fn choose_block(&mut self) {
        let [_, _, _, rows, columns] = self.out_sizes;
        let window = self.windows[2];
        let span =
            |places: usize, window: Window| (places - 1) * window.stride + (window.kernel - 1) * window.dilation + 1;
        let deep = self.x_sizes[1] * self.windows[0].kernel;
        let wide = columns.min(PIXELS).min((INPUT / deep.max(1)).max(PIXELS / 4));
        let row = span(wide, window) * deep;
        let mut high = (PIXELS / wide).clamp(1, rows);
        while high > 1 && span(high, self.windows[1]) * row > INPUT {
            high -= 1;
        }
        // As many rows in each block.
        let blocks = rows.div_ceil(high);
        let pieces = columns.div_ceil(wide);
        self.block = [rows.div_ceil(blocks), columns.div_ceil(pieces)];
    }

    /// The numbers of one block's input, in each axis: planes, rows, columns, channels.
    fn input_of(&self, rows: usize, columns: usize) -> [usize; 4] {
        let span =
            |places: usize, window: Window| (places - 1) * window.stride + (window.kernel - 1) * window.dilation + 1;
        [self.windows[0].kernel, span(rows, self.windows[1]), span(columns, self.windows[2]), self.x_sizes[1]]
    }

    /// Computes the rows and columns of one block, for some of the strips of all groups.
    fn block(&self, image: usize, plane: usize, corner: [usize; 2], strips_of: core::ops::Range<usize>) -> Result<()> {
        let [rows, columns] =
            [self.block[0].min(self.out_sizes[3] - corner[0]), self.block[1].min(self.out_sizes[4] - corner[1])];
        let input = self.input_of(rows, columns);
        let copied = if self.is_direct { None } else { Some(self.copy_input(image, plane, corner, input)?) };
        // The steps of the input: planes, rows, columns, channels.
        let (x, steps): (*const E::Compute, [usize; 4]) = match &copied {
            Some(copied) => {
                let [_, high, wide, channels] = input;
                (copied.start().cast_const(), [high * wide * channels, wide * channels, channels, 1])
            }
            None => {
                let s = self.x_strides;
                let corner = plane * self.windows[0].stride * s[2]
                    + corner[0] * self.windows[1].stride * s[3]
                    + corner[1] * self.windows[2].stride * s[4];
                // (Elements are the numbers computed in where windows are read directly.)
                (self.x.wrapping_add(image * s[0] + corner).cast(), [self.windows[0].dilation * s[2], s[3], s[4], s[1]])
            }
        };
        let o = self.out_strides;
        let out = self.out.wrapping_add(image * o[0] + plane * o[2] + corner[0] * o[3] + corner[1] * o[4]);
        match &self.weights {
            // (Those are always packed.)
            &Source::Packed(first) if self.is_depthwise => {
                depthwise::block(self, first, x, steps, out, [rows, columns])?;
            }
            _ => self.strips(x, steps, out, [rows, columns], strips_of.clone())?,
        }
        if let Some(then) = self.then {
            let channels = self.channels_of(strips_of);
            self.finish(then, out, [rows, columns], channels);
        }
        Ok(())
    }

    /// The output channels of strips.
    fn channels_of(&self, strips_of: core::ops::Range<usize>) -> core::ops::Range<usize> {
        if self.is_depthwise {
            return 0..self.out_sizes[1];
        }
        let (per_group, strip) = (self.out_sizes[1] / self.groups, self.kernels.strip);
        let count = strips(per_group, strip);
        let first = |at: usize| at / count * per_group + (at % count * strip).min(per_group);
        first(strips_of.start)..first(strips_of.end)
    }

    fn copy_input(
        &self,
        image: usize,
        plane: usize,
        corner: [usize; 2],
        [planes, high, wide, channels]: [usize; 4],
    ) -> Result<Scratch<E::Compute>> {
        let copied = Scratch::<E::Compute>::try_new(planes * high * wide * channels)?;
        let part = |axis: usize, start: usize, len: usize| {
            let window = self.windows[axis];
            let (size, stride) = (self.x_sizes[axis + 2], self.x_strides[axis + 2]);
            Part { start: start * window.stride, len, before: window.before, size, stride }
        };
        let len = high * wide * channels;
        for at in 0..planes {
            let depth = self.windows[0];
            let z = (plane * depth.stride + at * depth.dilation).checked_sub(depth.before);
            let z = z.filter(|&z| z < self.x_sizes[2]);
            // A plane in the padding has no rows.
            let (mut rows, columns) = (part(1, corner[0], high), part(2, corner[1], wide));
            if z.is_none() {
                rows.size = 0;
            }
            let from = self.x.wrapping_add(image * self.x_strides[0] + z.unwrap_or(0) * self.x_strides[2]);
            // SAFETY: the positions are those of the view, and there is room for as many planes.
            unsafe {
                patch::copy_part::<E>(from, copied.start().add(at * len), rows, columns, channels, self.x_strides[1]);
            }
        }
        Ok(copied)
    }

    /// The strips of a block.
    fn strips(
        &self,
        x: *const E::Compute,
        steps: [usize; 4],
        out: *mut E,
        [rows, columns]: [usize; 2],
        strips_of: core::ops::Range<usize>,
    ) -> Result<()> {
        let (per_group, strip) = (self.out_sizes[1] / self.groups, self.kernels.strip);
        let (count, channels) = (strips(per_group, strip), self.x_sizes[1] / self.groups);
        let positions = self.windows.iter().map(|window| window.kernel).product::<usize>();
        let chunk_len = chunk_of(channels, positions);
        let tiles = self.kernels.tiles_of(columns);
        let sums =
            if self.writes_result { None } else { Some(Scratch::<E::Compute>::try_new(rows * columns * strip)?) };
        let scratch = match &self.weights {
            Source::Packed(_) => Scratch::<E::Compute>::try_new(0)?,
            Source::Unpacked(packer) => Scratch::try_new(packer.chunk_len())?,
        };
        let o = self.out_strides;
        let [_, high, wide, channel] = steps;
        for at in strips_of {
            let (group, low) = (at / count, at % count * strip);
            let here = strip.min(per_group - low);
            let first = group * per_group + low;
            let out = out.wrapping_add(first * o[1]);
            // Where the strip's sums go: the place of the first pixel, the steps to the next row and the next column.
            let (to, to_steps): (*mut E::Compute, [usize; 2]) = match &sums {
                Some(sums) => (sums.start(), [columns * strip, strip]),
                None => (out.cast(), [o[3], o[4]]),
            };
            for (chunk, low) in (0..channels.max(1)).step_by(chunk_len).enumerate() {
                let (runs, len) = self.runs(steps, chunk_len.min(channels - low));
                let weights = match &self.weights {
                    Source::Packed(first) => first.wrapping_add((at * channels + low) * positions * strip),
                    Source::Unpacked(packer) => {
                        // SAFETY: the scratch buffer has room for a chunk, and is this call's.
                        unsafe { packer.pack(at, chunk, scratch.start()) };
                        scratch.start().cast_const()
                    }
                };
                let x = x.wrapping_add((group * channels + low) * channel);
                // While a packed chunk is used, a part of the next one is fetched before each tile.
                let len_of_chunk = runs.len() * len * strip;
                let part = match &self.weights {
                    Source::Packed(_) => len_of_chunk.div_ceil(rows * tiles.len()),
                    Source::Unpacked(_) => 0,
                };
                let mut next = weights.wrapping_add(len_of_chunk);
                for row in 0..rows {
                    let mut column = 0;
                    for &pixels in &tiles {
                        let place = row * self.windows[1].stride * high + column * self.windows[2].stride * wide;
                        let out = to.wrapping_add(row * to_steps[0] + column * to_steps[1]);
                        // The first chunk's sums start from the bias, the others' from those of the chunk before.
                        let (start, start_step) = match low {
                            0 => (self.bias.wrapping_add(at * self.bias_step), 0),
                            _ => (out.cast_const(), to_steps[1]),
                        };
                        let tile = TileArgs {
                            x: x.wrapping_add(place),
                            step: self.windows[2].stride * wide,
                            runs: &runs,
                            len,
                            weights,
                            start,
                            start_step,
                            out,
                            out_step: to_steps[1],
                            columns: if sums.is_some() { strip } else { here },
                        };
                        simd::prefetch_row(next, part);
                        next = next.wrapping_add(part);
                        // SAFETY: windows lie inside the operand or its padded copy, where every number is written; the chunk of weights
                        // and what sums start from are there; the places of the result are this block's and this strip's alone.
                        unsafe { self.kernels.run(pixels, &tile) }
                        column += pixels;
                    }
                }
            }
            if sums.is_some() {
                for row in 0..rows {
                    let from = to.wrapping_add(row * to_steps[0]).cast_const();
                    // SAFETY: all sums of the block are written, and its places in the result are there, and written where sums are
                    // added to them.
                    unsafe {
                        patch::store::<E>(from, strip, out.add(row * o[3]), [columns, here], [o[4], o[1]], self.adds)
                    }
                }
            }
        }
        Ok(())
    }

    /// Where the runs of a window of so many channels begin, and how long they are, in the order of the weights.
    fn runs(&self, [planes, rows, columns, channel]: [usize; 4], channels: usize) -> (Vec<usize>, usize) {
        let [depth, height, width] = self.windows;
        // The channels of neighbouring columns are neighbours.
        let joins = self.groups == 1 && width.dilation == 1 && columns == channels && (channel == 1 || channels == 1);
        let (across, len) = if joins { (1, width.kernel * channels) } else { (width.kernel, channels) };
        let mut runs = Vec::with_capacity(depth.kernel * height.kernel * across);
        for z in 0..depth.kernel {
            for y in 0..height.kernel {
                for x in 0..across {
                    runs.push(z * planes + y * height.dilation * rows + x * width.dilation * columns);
                }
            }
        }
        (runs, len)
    }

    /// Applies the epilogue to a block's elements.
    fn finish(&self, then: Then<'_, E>, out: *mut E, [rows, columns]: [usize; 2], channels: core::ops::Range<usize>) {
        let o = self.out_strides;
        let (first, count) = (channels.start, channels.len());
        for row in 0..rows {
            let out = out.wrapping_add(row * o[3] + first * o[1]);
            if o[1] == 1 && o[4] == count {
                then(out, columns * count);
            } else if o[1] == 1 {
                (0..columns).for_each(|column| then(out.wrapping_add(column * o[4]), count));
            } else if o[4] == 1 {
                (0..count).for_each(|channel| then(out.wrapping_add(channel * o[1]), columns));
            } else {
                for at in 0..columns * count {
                    then(out.wrapping_add(at / count * o[4] + at % count * o[1]), 1);
                }
            }
        }
    }
}

/// The weight of a convolution, `(O, C / groups, D, H, W)`.
#[derive(Clone, Copy)]
pub(crate) enum Weight<'a, E> {
    Tensor(View<'a, HostBuffer, E>),
    /// What [`pack`] has made of a weight of these sizes.
    Packed {
        buffer: &'a HostBuffer,
        sizes: &'a [usize],
    },
}
impl<'a, E> Weight<'a, E> {
    fn sizes(&self) -> &'a [usize] {
        match self {
            Weight::Tensor(view) => view.sizes,
            Weight::Packed { sizes, .. } => sizes,
        }
    }
}

/// Whether each channel is a group of its own: there is one strip, of all channels.
fn is_depthwise(weight: &[usize], groups: usize) -> bool {
    groups > 1 && weight[1] == 1 && weight[0] == groups
}

/// Packs a weight `(O, C / groups, D, H, W)`, of a dtype that [has](has) kernels, for a convolution with so many groups.
pub(crate) fn pack<E: Dtype>(weight: View<'_, HostBuffer, E>, groups: usize) -> Result<HostBuffer> {
    pack_by(tile::kernels::<E::Compute>()[0], weight, groups)
}

fn pack_by<E: Dtype>(
    kernels: Kernels<E::Compute>,
    weight: View<'_, HostBuffer, E>,
    groups: usize,
) -> Result<HostBuffer> {
    Ok(packer_of(kernels, weight, groups)?.pack_all(usize::MAX)?.into_buffer())
}

fn packer_of<'a, E: Dtype>(
    kernels: Kernels<E::Compute>,
    weight: View<'a, HostBuffer, E>,
    groups: usize,
) -> Result<Packer<'a, E>> {
    let weights = Weights { first: source(&weight), sizes: weight.sizes, strides: weight.strides };
    if is_depthwise(weights.sizes, groups) {
        return Packer::new(weights, 1, groups);
    }
    Packer::new(weights, groups, kernels.strip)
}

/// The convolution of `(N, C, D, H, W)` with weights `(O, C / groups, D, H, W)`, as a fresh result with these sizes and strides; `then`
/// is applied to its elements. The windows fit, the groups divide both numbers of channels, and the dtype [has](has) kernels.
pub(crate) fn convolve<E: Dtype>(
    convolution: &Convolution,
    x: View<'_, HostBuffer, E>,
    weight: Weight<'_, E>,
    bias: Option<View<'_, HostBuffer, E>>,
    result: [&[usize]; 2],
    then: Option<Then<'_, E>>,
) -> Result<HostBuffer> {
    convolve_by(tile::kernels::<E::Compute>()[0], convolution, x, weight, bias, result, then)
}

fn convolve_by<E: Dtype>(
    kernels: Kernels<E::Compute>,
    &Convolution { windows, groups }: &Convolution,
    x: View<'_, HostBuffer, E>,
    weight: Weight<'_, E>,
    bias: Option<View<'_, HostBuffer, E>>,
    [sizes, out_strides]: [&[usize]; 2],
    then: Option<Then<'_, E>>,
) -> Result<HostBuffer> {
    let len = result_len(sizes)?;
    if len == 0 {
        return HostBuffer::zeroed::<E>(0);
    }
    let (x_sizes, x_strides) = (five(x.sizes), five(x.strides));
    let same = TypeId::of::<E>() == TypeId::of::<E::Compute>();
    let unpadded = windows.iter().all(|window| window.before == 0 && window.after == 0);
    let per_group = [x_sizes[1] / groups, sizes[1] / groups];
    let is_depthwise = is_depthwise(weight.sizes(), groups);
    let strip = if is_depthwise { groups } else { kernels.strip };
    let count = if is_depthwise { 1 } else { groups * strips(per_group[1], strip) };
    let start = Scratch::<E::Compute>::filled(E::Compute::default(), count * strip);
    if let Some(bias) = bias {
        let first = source(&bias);
        for channel in 0..sizes[1] {
            let at = if is_depthwise {
                channel
            } else {
                let (group, within) = (channel / per_group[1], channel % per_group[1]);
                group * strips(per_group[1], strip) * strip + within
            };
            // SAFETY: the bias has an element for each output channel, and the strips a place.
            unsafe { start.start().add(at).write(first.add(channel * bias.strides[0]).read().to_compute()) }
        }
    }
    let packer = match weight {
        Weight::Tensor(view) => Some(packer_of(kernels, view, groups)?),
        Weight::Packed { .. } => None,
    };
    let mut plan = Plan {
        windows,
        groups,
        x: source(&x),
        x_sizes,
        x_strides,
        out: core::ptr::null_mut(),
        out_sizes: five(sizes),
        out_strides: five(out_strides),
        kernels,
        is_direct: same && unpadded && (x_strides[1] == 1 || per_group[0] == 1 && !is_depthwise),
        writes_result: same && (out_strides[1] == 1 || sizes[1] == 1),
        adds: false,
        is_depthwise,
        block: [1, 1],
        weights: match (&packer, weight) {
            (Some(packer), _) => Source::Unpacked(packer),
            (_, Weight::Packed { buffer, .. }) => Source::Packed(buffer.start::<E::Compute>()),
            _ => unreachable!("a tensor is packed"),
        },
        depth: weight.sizes()[1..].iter().product(),
        bias: start.start(),
        bias_step: strip,
        then,
        threads: usize::MAX,
    };
    plan.flatten();
    plan.choose_block();
    // (It is kept until the blocks are computed.)
    let mut packed = None;
    if let Some(packer) = &packer
        && (is_depthwise || plan.blocks() > 1)
    {
        plan.weights = Source::Packed(packed.insert(packer.pack_all(usize::MAX)?).start().cast_const());
    }
    // SAFETY: the blocks are all of the result, which is dense, and strips all of its channels; each is computed by one thread.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            plan.out = out;
            plan.run(count)
        })
    }
}

impl<E: Dtype> Plan<'_, E> {
    /// Rows and columns of blocks in a plane.
    fn grid(&self) -> [usize; 2] {
        [self.out_sizes[3].div_ceil(self.block[0]), self.out_sizes[4].div_ceil(self.block[1])]
    }

    /// How many blocks there are.
    fn blocks(&self) -> usize {
        self.out_sizes[0] * self.out_sizes[2] * self.grid().into_iter().product::<usize>()
    }

    /// All blocks, divided among threads; `count` is the number of strips.
    fn run(&self, count: usize) -> Result<()> {
        let (planes, grid, blocks) = (self.out_sizes[2], self.grid(), self.blocks());
        // A multiplication takes about a hundredth of a nanosecond.
        let work = self.out_sizes.iter().product::<usize>().saturating_mul(self.depth) / 64;
        let threads = threads::pieces(work).min(self.threads);
        // Few blocks are shared by their strips.
        let parts = if blocks >= 4 * threads { 1 } else { (4 * threads).div_ceil(blocks).min(count) };
        let plan = Shared(self);
        threads::try_for_each(if threads == 1 { 1 } else { blocks * parts }, &|piece| {
            let plan = { &plan }.0;
            let one = |at: usize| {
                let (at, part) = (at / parts, at % parts);
                let (at, column) = (at / grid[1], at % grid[1]);
                let (at, row) = (at / grid[0], at % grid[0]);
                let (image, depth) = (at / planes, at % planes);
                let corner = [row * plan.block[0], column * plan.block[1]];
                plan.block(image, depth, corner, part * count / parts..(part + 1) * count / parts)
            };
            if threads == 1 { (0..blocks * parts).try_for_each(one) } else { one(piece) }
        })
    }
}

#[cfg(test)]
mod tests;
