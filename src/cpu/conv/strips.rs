//! One block of a convolution: its strips of output channels, chunk by chunk and tile by tile, and the epilogue.

use super::patch;
use super::plan::{Plan, Source};
use super::tile::{Finish, TileArgs};
use super::weights::{chunk_of, strips};
use crate::cpu::epilogue::Then;
use crate::dtype::Dtype;
use crate::error::{Result, numel_at_most, room};
use crate::storage::Scratch;

/// Lines of memory that are prefetched part by part.
pub(super) struct Ahead {
    line: *const u8,
    /// Number of lines, bytes from one to the next, and bytes per line.
    lines: usize,
    step: usize,
    len: usize,
    /// Offset of the next byte in the line.
    at: usize,
}

impl Ahead {
    /// `lines` lines of `len` numbers, `step` numbers apart.
    pub(super) fn new<T>(first: *const T, lines: usize, step: usize, len: usize) -> Self {
        Ahead { line: first.cast(), lines, step: step * size_of::<T>(), len: len * size_of::<T>(), at: 0 }
    }

    /// Bytes per part, if divided into `parts` parts.
    fn part(&self, parts: usize) -> usize {
        (self.lines * self.len).div_ceil(parts)
    }

    /// Start of the next part.
    fn next(&mut self, part: usize) -> *const u8 {
        let place = self.line.wrapping_add(self.at);
        self.at += part;
        while self.at >= self.len && self.len > 0 {
            self.at -= self.len;
            self.line = self.line.wrapping_add(self.step);
        }
        place
    }
}

impl<E: Dtype> Plan<'_, E> {
    /// The output channels of these strips.
    pub(super) fn channels_of(&self, strips_of: core::ops::Range<usize>) -> core::ops::Range<usize> {
        if self.depthwise.is_some() {
            return 0..self.out_sizes[1];
        }
        let (per_group, strip) = (self.out_sizes[1] / self.groups, self.kernels.strip);
        let count = strips(per_group, strip);
        let first = |at: usize| at / count * per_group + (at % count * strip).min(per_group);
        first(strips_of.start)..first(strips_of.end)
    }

    /// Computes the strips of a block.
    pub(super) fn strips(
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
            if self.writes_result { None } else { Some(Scratch::<E::Compute>::try_new([rows, columns, strip])?) };
        let scratch = match &self.weights {
            Source::Packed(_) => Scratch::<E::Compute>::try_new([0])?,
            Source::Unpacked(packer) => Scratch::try_new(packer.chunk_sizes())?,
        };
        let stem = self.stem.map(|stem| stem.block(self, x, steps, [rows, columns])).transpose()?;
        let o = self.out_strides;
        let [_, high, wide, channel] = steps;
        for at in strips_of {
            let (group, low) = (at / count, at % count * strip);
            let here = strip.min(per_group - low);
            let first = group * per_group + low;
            let out = out.wrapping_add(first * o[1]);
            // Destination of the strip's sums: the place of the first pixel, and the row and column strides.
            let (to, to_steps): (*mut E::Compute, [usize; 2]) = match &sums {
                Some(sums) => (sums.start(), [columns * strip, strip]),
                None => (out.cast(), [o[3], o[4]]),
            };
            let written = if sums.is_some() { strip } else { here };
            if let Some(block) = &stem {
                block.strip(at, self.bias.wrapping_add(at * self.bias_step), (to, to_steps), written);
            }
            // (Transformed windows span all channels.)
            let chunks = if stem.is_some() { 0 } else { channels.max(1) };
            for (chunk, low) in (0..chunks).step_by(chunk_len).enumerate() {
                let (runs, len) = self.runs(steps, chunk_len.min(channels - low))?;
                let weights = match &self.weights {
                    Source::Packed(first) => first.wrapping_add((at * channels + low) * positions * strip),
                    Source::Unpacked(packer) => {
                        // SAFETY: the scratch buffer has room for a chunk, and no other call uses it.
                        unsafe { packer.pack(at, chunk, scratch.start()) };
                        scratch.start().cast_const()
                    }
                };
                let x = x.wrapping_add((group * channels + low) * channel);
                // During each tile of a chunk, a part of the next chunk is prefetched.
                let mut ahead = match &self.weights {
                    Source::Packed(_) => {
                        let len = runs.len() * len * strip;
                        Ahead::new(weights.wrapping_add(len), 1, 0, len)
                    }
                    Source::Unpacked(packer) => packer.ahead(at, chunk + 1),
                };
                let part = ahead.part(rows * tiles.len());
                let ahead_step = part.div_ceil((runs.len() * len).max(1));
                for row in 0..rows {
                    let mut column = 0;
                    for &pixels in &tiles {
                        let place = row * self.windows[1].stride * high + column * self.windows[2].stride * wide;
                        let out = to.wrapping_add(row * to_steps[0] + column * to_steps[1]);
                        // The first chunk's sums start from the bias, the others' from the previous chunk's sums.
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
                            weights_step: strip,
                            start,
                            start_step,
                            out,
                            out_step: to_steps[1],
                            columns: written,
                            finish: Finish::Store,
                            ahead: ahead.next(part).cast(),
                            ahead_step,
                        };
                        // SAFETY: windows are inside the operand or its padded copy, which is fully initialised; the chunk of weights and
                        // the initial values are valid; no other block or strip writes these places of the result.
                        unsafe { self.kernels.run(pixels, &tile) }
                        column += pixels;
                    }
                }
            }
            if sums.is_some() {
                for row in 0..rows {
                    let from = to.wrapping_add(row * to_steps[0]).cast_const();
                    // SAFETY: all sums of the block are written, and its places in the result are valid, and initialised where sums are
                    // added to them.
                    unsafe {
                        patch::store::<E>(from, strip, out.add(row * o[3]), [columns, here], [o[4], o[1]], self.adds)
                    }
                }
            }
        }
        Ok(())
    }

    /// Offsets of the contiguous runs of a window with `channels` channels, and their length, in the order of the weights.
    fn runs(&self, [planes, rows, columns, channel]: [usize; 4], channels: usize) -> Result<(Vec<usize>, usize)> {
        let [depth, height, width] = self.windows;
        // Whether adjacent columns are contiguous with all their channels.
        let joins = self.groups == 1 && width.dilation == 1 && columns == channels && (channel == 1 || channels == 1);
        let (across, len) = if joins { (1, width.kernel * channels) } else { (width.kernel, channels) };
        // Planar channels are runs of one number each.
        let (planar, len) = if len == 1 || channel == 1 || joins { (1, len) } else { (channels, 1) };
        let mut runs = room(numel_at_most(&[depth.kernel, height.kernel, across, planar]))?;
        for z in 0..depth.kernel {
            for y in 0..height.kernel {
                for x in 0..across {
                    let first = z * planes + y * height.dilation * rows + x * width.dilation * columns;
                    runs.extend((0..planar).map(|at| first + at * channel));
                }
            }
        }
        Ok((runs, len))
    }

    /// Applies the epilogue to a block's elements.
    pub(super) fn finish(
        &self,
        then: Then<'_, E>,
        out: *mut E,
        [rows, columns]: [usize; 2],
        channels: core::ops::Range<usize>,
    ) {
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
