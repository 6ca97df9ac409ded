//! The weights of a convolution in strips: for each group and each strip of its output channels, for each position of the window and
//! each channel, the strip's weights side by side. Weights whose output channels are last in memory may be read where they are.
//!
//! Uses vector dispatch and threads; used by `conv`.

use crate::cpu::simd::{self, Loop};
use crate::cpu::threads::{self, Shared};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::storage::Scratch;
use core::any::TypeId;

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

/// Strips as kernels find them.
#[derive(Clone, Copy)]
pub(super) struct Strips<T> {
    pub(super) first: *const T,
    /// From one strip of output channels to the next.
    pub(super) step: usize,
    /// Within a strip, from the weights of one number of a window to those of the next.
    pub(super) row: usize,
}

/// How many numbers along the contiguous axis are packed before the next output channel is looked at: a cache line of `f32`.
const RUN: usize = 16;

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
        let PackStrip { weights, low, count, strip, to: packed } = self;
        let Weights { first, sizes, strides } = weights;
        let (channels, kernel) = (sizes[1], [sizes[2], sizes[3], sizes[4]]);
        let positions: usize = kernel.iter().product();
        let by_channel = strides[1] == 1;
        let [outer, inner] = if by_channel { [positions, channels] } else { [channels, positions] };
        // Where a number of the window is, and which row it becomes.
        let place = |i: usize, j: usize| {
            let [position, channel] = if by_channel { [i, j] } else { [j, i] };
            let (y, x) = (position / kernel[2], position % kernel[2]);
            let (z, y) = (y / kernel[1], y % kernel[1]);
            let at = channel * strides[1] + z * strides[2] + y * strides[3] + x * strides[4];
            (low * strides[0] + at, (position * channels + channel) * strip)
        };
        for i in 0..outer {
            for start in (0..inner).step_by(RUN) {
                let len = RUN.min(inner - start);
                let mut places = [(0, 0); RUN];
                places[..len].iter_mut().zip(start..).for_each(|(to, j)| *to = place(i, j));
                // SAFETY: the positions are those of the weights; `pack` has room for a strip at each row.
                unsafe {
                    if strides[0] == 1 {
                        for &(from, to) in &places[..len] {
                            for lane in 0..count {
                                packed.add(to + lane).write(first.add(from + lane).read().to_compute());
                            }
                        }
                    } else {
                        for lane in 0..count {
                            for &(from, to) in &places[..len] {
                                packed.add(to + lane).write(first.add(from + lane * strides[0]).read().to_compute());
                            }
                        }
                    }
                    for &(_, to) in &places[..len] {
                        for lane in count..strip {
                            packed.add(to + lane).write(E::Compute::default());
                        }
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

/// The strips of weights that can be read where they are: of one group, in whole strips, with output channels, then channels, then the
/// window's positions contiguous, as [`prepack`](crate::Tensor::prepack) leaves them.
pub(super) fn in_place<E: Dtype>(weights: Weights<'_, E>, groups: usize, strip: usize) -> Option<Strips<E::Compute>> {
    let Weights { first, sizes, strides } = weights;
    let is_computed = TypeId::of::<E>() == TypeId::of::<E::Compute>();
    if !is_computed || groups != 1 || !sizes[0].is_multiple_of(strip) || strides[0] != 1 {
        return None;
    }
    // (Strides of axes with one position count for nothing.)
    let mut step = sizes[0];
    for axis in [1, 4, 3, 2] {
        if sizes[axis] != 1 && strides[axis] != step {
            return None;
        }
        step *= sizes[axis];
    }
    Some(Strips { first: first.cast(), step: strip, row: sizes[0] })
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
