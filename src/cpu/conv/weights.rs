//! The weights of a convolution in strips: for each group and each strip of its output channels, for each position of the window and
//! each channel, the strip's weights side by side. Weights whose output channels are last in memory may be read where they are.
//!
//! Uses vector dispatch and threads; used by `conv`.

use crate::cpu::simd::{self, Loop};
use crate::cpu::threads::{self, Shared};
use crate::dtype::Dtype;
use crate::error::{Result, room};
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

/// Packs strips.
pub(super) struct Packer<'a, E> {
    weights: Weights<'a, E>,
    /// Each number of a window in the order of memory: how far it is from the first one, and its number in the order of the strips.
    places: Vec<[usize; 2]>,
    groups: usize,
    strip: usize,
}

struct PackStrip<'a, E: Dtype> {
    packer: &'a Packer<'a, E>,
    at: usize,
    to: *mut E::Compute,
}
impl<E: Dtype> Loop for PackStrip<'_, E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let PackStrip { packer, at, to: packed } = self;
        let strip = packer.strip;
        let (per_group, stride) = (packer.per_group(), packer.weights.strides[0]);
        let (group, low) = (at / packer.per_group_strips(), at % packer.per_group_strips() * strip);
        let count = strip.min(per_group - low);
        let first = packer.weights.first.wrapping_add((group * per_group + low) * stride);
        for places in packer.places.chunks(RUN) {
            // SAFETY: the places are those of the weights, and there is room for a strip at each of them.
            unsafe {
                if stride == 1 {
                    for &[from, to] in places {
                        for lane in 0..count {
                            packed.add(to * strip + lane).write(first.add(from + lane).read().to_compute());
                        }
                    }
                } else {
                    for lane in 0..count {
                        for &[from, to] in places {
                            let weight = first.add(from + lane * stride).read();
                            packed.add(to * strip + lane).write(weight.to_compute());
                        }
                    }
                }
                for &[_, to] in places {
                    for lane in count..strip {
                        packed.add(to * strip + lane).write(E::Compute::default());
                    }
                }
            }
        }
    }
}

impl<'a, E: Dtype> Packer<'a, E> {
    pub(super) fn new(weights: Weights<'a, E>, groups: usize, strip: usize) -> Result<Self> {
        let [_, channels, depth, height, width]: [usize; 5] = core::array::from_fn(|axis| weights.sizes[axis]);
        let [_, channel, plane, row, column]: [usize; 5] = core::array::from_fn(|axis| weights.strides[axis]);
        let mut places = room::<[usize; 2]>(weights.depth())?;
        let positions = depth * height * width;
        let from = |at: usize| at / width / height * plane + at / width % height * row + at % width * column;
        if channel == 1 {
            for at in 0..positions {
                places.extend((0..channels).map(|c| [from(at) + c, at * channels + c]));
            }
        } else {
            for c in 0..channels {
                places.extend((0..positions).map(|at| [from(at) + c * channel, at * channels + c]));
            }
        }
        Ok(Packer { weights, places, groups, strip })
    }

    /// Output channels of a group.
    fn per_group(&self) -> usize {
        self.weights.sizes[0] / self.groups
    }

    fn per_group_strips(&self) -> usize {
        strips(self.per_group(), self.strip)
    }

    /// Numbers of a strip.
    pub(super) fn strip_len(&self) -> usize {
        self.places.len() * self.strip
    }

    /// Packs the strip of this number, counted through all groups.
    ///
    /// # Safety
    /// There is room for [`strip_len`](Self::strip_len) numbers, which nobody else uses.
    pub(super) unsafe fn pack(&self, at: usize, to: *mut E::Compute) {
        simd::dispatch(PackStrip { packer: self, at, to });
    }

    /// All strips of all groups, one after the other.
    pub(super) fn pack_all(&self) -> Result<Scratch<E::Compute>> {
        let (all, len) = (self.groups * self.per_group_strips(), self.strip_len());
        let packed = Scratch::<E::Compute>::try_new(all * len)?;
        let (to, packer) = (Shared(packed.start()), Shared(self));
        // About a nanosecond for a weight.
        let pieces = threads::pieces(all * len).min(all);
        threads::for_each(pieces, &|piece| {
            let (to, packer) = ({ &to }.0, { &packer }.0);
            for at in piece * all / pieces.max(1)..(piece + 1) * all / pieces.max(1) {
                // SAFETY: strips do not overlap, and there is room for all of them.
                unsafe { packer.pack(at, to.wrapping_add(at * len)) }
            }
        });
        Ok(packed)
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
