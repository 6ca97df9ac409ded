//! A convolution divided into blocks: their size, what a block reads, and how blocks are divided among threads.

use super::patch::{self, Part};
use super::stem::Stem;
use super::tile::Kernels;
use super::weights::Packer;
use crate::cpu::epilogue::Then;
use crate::cpu::threads::{self, Queue, Shared};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::window::Window;
use crate::storage::Scratch;

/// Maximum numbers of a block's input: a part of the L2 cache.
const INPUT: usize = if cfg!(debug_assertions) { 1 << 8 } else { 1 << 16 };
/// Maximum number of channels for which the planar layout is kept.
pub(super) const PLANES: usize = 4;
/// Pixels per block.
const PIXELS: usize = if cfg!(debug_assertions) { 20 } else { 448 };
/// Pieces of work per thread, if there is enough work.
const PIECES: usize = 16;

/// A convolution's parameters for its blocks. Sizes are (batch, channels, depth, height, width).
pub(super) struct Plan<'a, E: Dtype> {
    pub(super) windows: [Window; 3],
    pub(super) groups: usize,
    pub(super) x: *const E,
    pub(super) x_sizes: [usize; 5],
    pub(super) x_strides: [usize; 5],
    pub(super) out: *mut E,
    pub(super) out_sizes: [usize; 5],
    pub(super) out_strides: [usize; 5],
    pub(super) kernels: Kernels<E::Compute>,
    /// How a block's input is copied; windows are read from the operand directly if it is not.
    pub(super) copy: Option<CopyBlock<E>>,
    /// Whether copied windows keep the planar layout. With few channels, copying planes line by line is faster than interleaving them
    /// number by number.
    pub(super) is_planar: bool,
    /// Whether sums are stored directly into the result.
    pub(super) writes_result: bool,
    /// Whether sums are added to the result's values; never when they are stored directly.
    pub(super) adds: bool,
    /// How a block is computed where each channel is its own group. (A function, as above, so that products of matrices do not compile it.)
    pub(super) depthwise: Option<DepthwiseBlock<E>>,
    /// Rows and columns of a block.
    pub(super) block: [usize; 2],
    pub(super) weights: Source<'a, E>,
    /// Numbers in a window of one group.
    pub(super) depth: usize,
    /// The initial values of sums: one strip per strip of packed weights, and the stride between them.
    pub(super) bias: *const E::Compute,
    pub(super) bias_step: usize,
    pub(super) then: Option<Then<'a, E>>,
    /// Maximum number of threads.
    pub(super) threads: usize,
    /// For windows of seven columns with stride two (fewer products along rows); the input is copied.
    pub(super) stem: Option<&'a Stem<'a, E::Compute>>,
}

/// [`Plan::copied`].
pub(super) type CopyBlock<E> = fn(
    &Plan<'_, E>,
    usize,
    BlockPlace,
    &mut Copied<<E as Dtype>::Compute>,
) -> Result<(*const <E as Dtype>::Compute, [usize; 4])>;
/// [`depthwise::block`].
pub(super) type DepthwiseBlock<E> = fn(
    &Plan<'_, E>,
    *const <E as Dtype>::Compute,
    *const <E as Dtype>::Compute,
    [usize; 4],
    *mut E,
    [usize; 2],
) -> Result<()>;

/// Where a block stands, and how many of its columns there are.
pub(super) struct BlockPlace {
    image: usize,
    plane: usize,
    corner: [usize; 2],
    sizes: [usize; 2],
}

/// Where the strips of weights come from.
pub(super) enum Source<'a, E: Dtype> {
    /// Packed, one after the other.
    Packed(*const E::Compute),
    /// Not packed yet. If there is one block, each chunk is used once, right after it is packed, while it is cached.
    Unpacked(&'a Packer<'a, E>),
}

/// Whether two axes can be merged, by their sizes and strides.
fn runs_on(sizes: [usize; 2], strides: [usize; 2]) -> bool {
    sizes[0] == 1 || strides[0] == sizes[1] * strides[1]
}

impl<E: Dtype> Plan<'_, E> {
    /// For windows of one position: merges the axes, and the batch, into rows as long as memory allows.
    pub(super) fn flatten(&mut self) {
        if self.windows != [Window::POINT; 3] || self.is_planar && self.x_sizes[4] == 1 {
            return;
        }
        for axis in [3, 2, 0] {
            // (An axis of size 1 has any stride.)
            for (sizes, strides) in [(&self.x_sizes, &mut self.x_strides), (&self.out_sizes, &mut self.out_strides)] {
                strides[4] = if sizes[4] == 1 { strides[axis] } else { strides[4] };
            }
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

    /// Chooses the block size: its input fits the cache, and there are enough blocks for all threads.
    pub(super) fn choose_block(&mut self) {
        let [_, _, _, rows, columns] = self.out_sizes;
        let window = self.windows[2];
        let span =
            |places: usize, window: Window| (places - 1) * window.stride + (window.kernel - 1) * window.dilation + 1;
        let deep = self.x_sizes[1].saturating_mul(self.windows[0].kernel);
        let wide = columns.min(PIXELS).min((INPUT / deep.max(1)).max(PIXELS / 8));
        let row = span(wide, window).saturating_mul(deep);
        let mut high = (PIXELS / wide).clamp(1, rows);
        while high > 1 && span(high, self.windows[1]).saturating_mul(row) > INPUT {
            high -= 1;
        }
        // Blocks of equal height.
        let blocks = rows.div_ceil(high);
        let pieces = columns.div_ceil(wide);
        // Blocks of about equal width, in whole tiles.
        let wide = columns.div_ceil(pieces).next_multiple_of(self.kernels.pixels[0]).min(columns);
        self.block = [rows.div_ceil(blocks), wide];
    }

    /// The sizes of one block's input: planes, rows, columns, channels.
    fn input_of(&self, rows: usize, columns: usize) -> [usize; 4] {
        let span =
            |places: usize, window: Window| (places - 1) * window.stride + (window.kernel - 1) * window.dilation + 1;
        // (Whole tiles of two results.)
        let columns = if self.stem.is_some() { columns.next_multiple_of(2) } else { columns };
        [self.windows[0].kernel, span(rows, self.windows[1]), span(columns, self.windows[2]), self.x_sizes[1]]
    }

    /// The sizes of the transformed input of a block, for `stem`.
    fn sums_of(&self, [planes, high, _, channels]: [usize; 4], columns: usize) -> [usize; 4] {
        let line = if self.stem.is_some() { Stem::<E::Compute>::line_len(columns) } else { 0 };
        [planes, high, channels, line]
    }

    /// Computes one block, for some of the strips of all groups.
    fn block(&self, number: usize, strips_of: core::ops::Range<usize>, copied: &mut Copied<E::Compute>) -> Result<()> {
        let (planes, grid) = (self.out_sizes[2], self.grid());
        let (at, column) = (number / grid[1], number % grid[1]);
        let (at, row) = (at / grid[0], at % grid[0]);
        let (image, plane) = (at / planes, at % planes);
        let corner = [row * self.block[0], column * self.block[1]];
        let [rows, columns] =
            [self.block[0].min(self.out_sizes[3] - corner[0]), self.block[1].min(self.out_sizes[4] - corner[1])];
        // The input, and its strides: planes, rows, columns, channels.
        let (x, steps) = match self.copy {
            Some(copy) => copy(self, number, BlockPlace { image, plane, corner, sizes: [rows, columns] }, copied)?,
            None => {
                let s = self.x_strides;
                let corner = plane * self.windows[0].stride * s[2]
                    + corner[0] * self.windows[1].stride * s[3]
                    + corner[1] * self.windows[2].stride * s[4];
                // (Where windows are read directly, elements have the compute type.)
                (self.x.wrapping_add(image * s[0] + corner).cast(), [self.windows[0].dilation * s[2], s[3], s[4], s[1]])
            }
        };
        let o = self.out_strides;
        let out = self.out.wrapping_add(image * o[0] + plane * o[2] + corner[0] * o[3] + corner[1] * o[4]);
        match (&self.weights, self.depthwise) {
            // (Depthwise weights are always packed.)
            (&Source::Packed(first), Some(block)) => block(self, first, x, steps, out, [rows, columns])?,
            _ => self.strips(x, steps, out, [rows, columns], strips_of.clone())?,
        }
        if let Some(then) = self.then {
            let channels = self.channels_of(strips_of);
            self.finish(then, out, [rows, columns], channels);
        }
        Ok(())
    }

    /// Copies the input of a block, unless `copied` holds it already; the copy and its strides.
    pub(super) fn copied(
        &self,
        number: usize,
        BlockPlace { image, plane, corner, sizes: [rows, columns] }: BlockPlace,
        copied: &mut Copied<E::Compute>,
    ) -> Result<(*const E::Compute, [usize; 4])> {
        let input = self.input_of(rows, columns);
        // Room for the input of the largest block, followed by the sums of its lines.
        let most = self.input_of(self.block[0], self.block[1]);
        let memory = match &copied.memory {
            Some(memory) => memory,
            None => copied.memory.insert(Scratch::for_parts(&[&most, &self.sums_of(most, self.block[1])])?),
        };
        // (Its overflow is checked above.)
        let copy_len = most.into_iter().product::<usize>();
        let [planes, high, wide, channels] = input;
        let sums = memory.start().wrapping_add(copy_len);
        let planar = |line: usize| [high * line, line, 1, planes * high * line];
        let steps = match self.is_planar {
            true => planar(wide),
            false => [high * wide * channels, wide * channels, channels, 1],
        };
        if copied.block != Some(number) {
            self.copy_input(memory, image, plane, corner, input);
            if self.stem.is_some() {
                let lines = (memory.start().cast_const(), [channels, planes * high], [steps[3], steps[1], steps[2]]);
                // SAFETY: the copy has these lines, for whole tiles, and there is room for their sums.
                unsafe { Stem::sum_lines(self.kernels, lines, columns, sums) }
            }
            copied.block = Some(number);
        }
        Ok(match self.stem {
            Some(_) => (sums.cast_const(), planar(Stem::<E::Compute>::line_len(columns))),
            None => (memory.start().cast_const(), steps),
        })
    }

    /// Copies the input of a block to a buffer with room for it.
    fn copy_input(
        &self,
        to: &Scratch<E::Compute>,
        image: usize,
        plane: usize,
        corner: [usize; 2],
        [planes, high, wide, channels]: [usize; 4],
    ) {
        let part = |axis: usize, start: usize, len: usize| {
            let window = self.windows[axis];
            let (size, stride) = (self.x_sizes[axis + 2], self.x_strides[axis + 2]);
            Part { start: start * window.stride, len, before: window.before, size, stride }
        };
        // Parts that the channels are divided into, and channels per part.
        let (parts, channels) = if self.is_planar { (channels, 1) } else { (1, channels) };
        let len = high * wide * channels;
        for (part_at, at) in (0..parts).flat_map(|part| (0..planes).map(move |at| (part, at))) {
            let depth = self.windows[0];
            let z = (plane * depth.stride + at * depth.dilation).checked_sub(depth.before);
            let z = z.filter(|&z| z < self.x_sizes[2]);
            // A plane in the padding has no rows.
            let (mut rows, columns) = (part(1, corner[0], high), part(2, corner[1], wide));
            if z.is_none() {
                rows.size = 0;
            }
            let s = self.x_strides;
            let from = self.x.wrapping_add(image * s[0] + part_at * s[1] + z.unwrap_or(0) * s[2]);
            // SAFETY: the positions are inside the view, and there is room for the planes of all parts.
            unsafe {
                let to = to.start().add((part_at * planes + at) * len);
                patch::copy_part::<E>(from, to, rows, columns, channels, s[1]);
            }
        }
    }

    /// Rows and columns of blocks in a plane.
    pub(super) fn grid(&self) -> [usize; 2] {
        [self.out_sizes[3].div_ceil(self.block[0]), self.out_sizes[4].div_ceil(self.block[1])]
    }

    /// Number of blocks.
    pub(super) fn blocks(&self) -> usize {
        self.out_sizes[0] * self.out_sizes[2] * self.grid().into_iter().product::<usize>()
    }

    /// Computes all blocks, divided among threads; `count` is the number of strips.
    pub(super) fn run(&self, count: usize) -> Result<()> {
        let blocks = self.blocks();
        // An estimate: a multiplication takes about a hundredth of a nanosecond.
        let work = self.out_sizes.iter().product::<usize>().saturating_mul(self.depth) / 64;
        let threads = threads::pieces(work).min(self.threads);
        // Blocks are divided by strips, too, so that no thread waits long for another one's last piece.
        let most = if threads == 1 { 1 } else { (PIECES * threads).div_ceil(blocks) };
        let each = count / most.min(count).min(work / blocks / threads::GRAIN).max(1);
        let parts = count.div_ceil(each);
        let (plan, queue) = (Shared(self), Queue::new(blocks * parts, threads));
        // Each thread reuses one input buffer for all its blocks, which stays in its cache.
        threads::try_for_each(threads, &|worker| {
            let (plan, mut copied) = ({ &plan }.0, Copied { block: None, memory: None });
            while let Some(piece) = queue.take(worker) {
                let (number, part) = (piece / parts, piece % parts);
                plan.block(number, part * each..((part + 1) * each).min(count), &mut copied)?;
            }
            Ok(())
        })
    }
}

/// A thread's input buffer, and the block it holds.
pub(super) struct Copied<T> {
    block: Option<usize>,
    memory: Option<Scratch<T>>,
}
