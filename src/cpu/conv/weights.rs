//! The weights of a convolution in strips: for each group and each strip of its output channels, for each position of the window and
//! each channel, the strip's weights side by side.
//!
//! Uses vector dispatch and threads; used by `conv`.

use crate::cpu::simd::{self, Loop};
use crate::cpu::threads::{self, Shared};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::storage::Scratch;

/// Weights of sizes (output channels, channels, depth, height, width).
#[derive(Clone, Copy)]
pub(super) struct Weights<'a, E> {
    pub(super) first: *const E,
    pub(super) sizes: &'a [usize],
    pub(super) strides: &'a [usize],
}
impl<E> Weights<'_, E> {
    /// Positions of the window.
    fn positions(&self) -> usize {
        self.sizes[2..].iter().product()
    }

    /// Numbers of a window.
    pub(super) fn depth(&self) -> usize {
        self.sizes[1] * self.positions()
    }
}

/// One strip.
struct PackStrip<'a, E: Dtype> {
    weights: Weights<'a, E>,
    /// Its first output channel, and how many it has.
    low: usize,
    count: usize,
    strip: usize,
    to: *mut E::Compute,
}
impl<E: Dtype> Loop for PackStrip<'_, E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let PackStrip { weights, low, count, strip, to } = self;
        let Weights { first, sizes, strides } = weights;
        let (channels, kernel) = (sizes[1], [sizes[2], sizes[3], sizes[4]]);
        // Output channels are read in parallel, each from its own run of memory: along what is contiguous there.
        let positions = kernel.iter().product();
        let by_channel = strides[1] == 1;
        let [outer, inner] = if by_channel { [positions, channels] } else { [channels, positions] };
        for i in 0..outer {
            for j in 0..inner {
                let [position, channel] = if by_channel { [i, j] } else { [j, i] };
                let (y, x) = (position / kernel[2], position % kernel[2]);
                let (z, y) = (y / kernel[1], y % kernel[1]);
                let at = channel * strides[1] + z * strides[2] + y * strides[3] + x * strides[4];
                // SAFETY: the positions are those of the weights; `pack` has room for a strip at each row.
                unsafe {
                    let (from, to) =
                        (first.add(low * strides[0] + at), to.add((position * channels + channel) * strip));
                    for lane in 0..count {
                        to.add(lane).write(from.add(lane * strides[0]).read().to_compute());
                    }
                    for lane in count..strip {
                        to.add(lane).write(E::Compute::default());
                    }
                }
            }
        }
    }
}

/// Strips of a group of so many output channels.
pub(super) fn strips(channels: usize, strip: usize) -> usize {
    channels.div_ceil(strip)
}

/// All strips of all groups, one after the other.
pub(super) fn pack<E: Dtype>(weights: Weights<'_, E>, groups: usize, strip: usize) -> Result<Scratch<E::Compute>> {
    let (per_group, depth) = (weights.sizes[0] / groups, weights.depth());
    let (strips, len) = (strips(per_group, strip), depth * strip);
    let packed = Scratch::<E::Compute>::try_new(groups * strips * len)?;
    let (to, shared) = (Shared(packed.start()), Shared(weights));
    // About a nanosecond for a weight.
    let pieces = threads::pieces(groups * strips * len).min(groups * strips);
    threads::for_each(pieces, &|piece| {
        let (to, weights) = ({ &to }.0, { &shared }.0);
        let all = groups * strips;
        for at in piece * all / pieces.max(1)..(piece + 1) * all / pieces.max(1) {
            let (group, low) = (at / strips, at % strips * strip);
            let count = strip.min(per_group - low);
            // Strips do not overlap, and there is room for all of them.
            simd::dispatch(PackStrip {
                weights,
                low: group * per_group + low,
                count,
                strip,
                to: to.wrapping_add(at * len),
            });
        }
    });
    Ok(packed)
}
