//! The weights of a convolution in strips: for each group, strip of output channels, chunk of channels, window position and channel of the
//! chunk, the strip's weights are contiguous.

use super::strips::Ahead;
use crate::cpu::simd::{self, Loop};
use crate::cpu::threads::{self, Shared};
#[cfg(target_arch = "x86_64")]
use crate::cpu::transpose;
use crate::dtype::Dtype;
use crate::error::{Result, numel_at_most, room};
use crate::ops::kernel::VectorWidth;
use crate::storage::Scratch;

/// Weights of sizes (output channels, channels, depth, height, width).
#[derive(Clone, Copy)]
pub(super) struct Weights<'a, E> {
    pub(super) first: *const E,
    pub(super) sizes: &'a [usize],
    pub(super) strides: &'a [usize],
}
impl<E> Weights<'_, E> {
    /// Number of window positions.
    fn positions(&self) -> usize {
        self.sizes[2..].iter().product()
    }

    /// Numbers in a window.
    pub(super) fn depth(&self) -> usize {
        self.sizes[1] * self.positions()
    }
}

/// Numbers along the contiguous axis that are packed per output channel in turn: a cache line of `f32`.
pub(super) const RUN: usize = 16;

/// Approximate numbers of a window per chunk: its weights stay in the L1 cache while the block's pixels are processed.
const CHUNK: usize = if cfg!(debug_assertions) { 1 << 6 } else { 432 };
/// Maximum window that is one chunk: its sums are loaded and stored once.
const WHOLE: usize = if cfg!(debug_assertions) { 1 << 6 } else { 576 };

/// Channels per chunk. The same on every machine, because chunks determine the order of summation.
pub(super) fn chunk_of(channels: usize, positions: usize) -> usize {
    let numbers = channels.saturating_mul(positions);
    let chunks = if numbers <= WHOLE { 1 } else { numbers.div_ceil(CHUNK) };
    // Chunks of about equal size, in whole runs.
    channels.div_ceil(chunks).next_multiple_of(RUN).min(channels).max(1)
}

/// Transposes a square: start and line stride in bytes, of the source and of the result.
type Square = unsafe fn(*const u8, usize, *mut u8, usize);

/// The function that transposes squares in registers, and the side of its square; `None` if there is none.
#[cfg(target_arch = "x86_64")]
fn squares<E: Dtype>() -> Option<(usize, Square)> {
    // (Numbers that are converted are packed one by one; there are squares of four-byte and eight-byte elements.)
    let is_computed = core::any::TypeId::of::<E>() == core::any::TypeId::of::<E::Compute>() && size_of::<E>() >= 4;
    if is_computed { transpose::squares(size_of::<E>()) } else { None }
}
#[cfg(not(target_arch = "x86_64"))]
fn squares<E: Dtype>() -> Option<(usize, Square)> {
    None
}

/// Packs strips.
pub(super) struct Packer<'a, E> {
    weights: Weights<'a, E>,
    /// Channels per chunk.
    chunk: usize,
    /// For a whole chunk and for the last one, its numbers in memory order: the offset from the chunk's first number, and the index in the
    /// strip.
    places: [Vec<[usize; 2]>; 2],
    groups: usize,
    strip: usize,
    squares: Option<(usize, Square)>,
}

/// Packs one chunk of a strip.
struct PackChunk<'a, E: Dtype> {
    packer: &'a Packer<'a, E>,
    strip: usize,
    chunk: usize,
    to: *mut E::Compute,
}
impl<E: Dtype> Loop for PackChunk<'_, E> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) {
        let PackChunk { packer, strip: at, chunk, to: packed } = self;
        let (strip, stride) = (packer.strip, packer.weights.strides[0]);
        let (first, count) = packer.source(at, chunk);
        for places in packer.places_of(chunk).chunks(RUN) {
            // Whole squares: output channels that are far apart, numbers that are adjacent.
            let are_neighbours = || places.windows(2).all(|two| two[1][0] == two[0][0] + 1);
            let transposed = match packer.squares {
                Some((side, square)) if stride != 1 && places.len() == RUN && are_neighbours() => {
                    // SAFETY: the places are inside the weights, and there is room for a strip at each of them.
                    unsafe {
                        match side {
                            8 => transposed::<E, 8>(square, first, stride, places, (packed, strip), count),
                            4 => transposed::<E, 4>(square, first, stride, places, (packed, strip), count),
                            _ => 0,
                        }
                    }
                }
                _ => 0,
            };
            // SAFETY: as above.
            unsafe {
                if stride == 1 {
                    for &[from, to] in places {
                        for lane in 0..count {
                            packed.add(to * strip + lane).write(first.add(from + lane).read().to_compute());
                        }
                    }
                } else {
                    for lane in transposed..count {
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

/// Packs output channels in whole squares of `SIDE`; returns how many were packed.
///
/// # Safety
/// From `from` on there are weights, `stride` apart in `count` output channels; `to` has room for strips at the given indices. `square`
/// transposes squares of this side and element type, which is the compute type.
#[inline(always)]
unsafe fn transposed<E: Dtype, const SIDE: usize>(
    square: Square,
    first: *const E,
    stride: usize,
    places: &[[usize; 2]],
    (packed, strip): (*mut E::Compute, usize),
    count: usize,
) -> usize {
    let whole = count - count % SIDE;
    for low in (0..whole).step_by(SIDE) {
        for places in places.chunks_exact(SIDE) {
            let mut lines = [[E::Compute::default(); SIDE]; SIDE];
            // SAFETY: the caller's promise.
            unsafe {
                let from = first.add(places[0][0] + low * stride);
                square(from.cast(), stride * size_of::<E>(), lines.as_mut_ptr().cast(), SIDE * size_of::<E>());
                for (line, &[_, to]) in lines.iter().zip(places) {
                    packed.add(to * strip + low).cast::<[E::Compute; SIDE]>().write_unaligned(*line);
                }
            }
        }
    }
    whole
}

impl<'a, E: Dtype> Packer<'a, E> {
    pub(super) fn new(weights: Weights<'a, E>, groups: usize, strip: usize) -> Result<Self> {
        let chunk = chunk_of(weights.sizes[1], weights.positions());
        let channels = weights.sizes[1];
        let last = channels - channels.saturating_sub(1) / chunk * chunk;
        let places = [places(weights, chunk)?, places(weights, last)?];
        Ok(Packer { weights, chunk, places, groups, strip, squares: squares::<E>() })
    }

    /// Output channels per group.
    fn per_group(&self) -> usize {
        self.weights.sizes[0] / self.groups
    }

    fn per_group_strips(&self) -> usize {
        strips(self.per_group(), self.strip)
    }

    fn places_of(&self, chunk: usize) -> &[[usize; 2]] {
        &self.places[usize::from((chunk + 1) * self.chunk >= self.weights.sizes[1])]
    }

    /// Numbers in a strip of a whole chunk.
    pub(super) fn chunk_len(&self) -> usize {
        self.chunk_sizes().into_iter().product()
    }

    /// Places of a chunk, and numbers per place.
    pub(super) fn chunk_sizes(&self) -> [usize; 2] {
        [self.places[0].len(), self.strip]
    }

    /// The first weight of a strip's chunk, and the strip's number of output channels.
    fn source(&self, strip: usize, chunk: usize) -> (*const E, usize) {
        let (group, low) = (strip / self.per_group_strips(), strip % self.per_group_strips() * self.strip);
        let channel = group * self.per_group() + low;
        let first = channel * self.weights.strides[0] + chunk * self.chunk * self.weights.strides[1];
        (self.weights.first.wrapping_add(first), self.strip.min(self.per_group() - low))
    }

    /// The memory of a strip's chunk (past the last chunk: of the next strip's first one), for prefetching; empty if an output channel's
    /// weights in a chunk are not contiguous.
    pub(super) fn ahead(&self, strip: usize, chunk: usize) -> Ahead {
        let (channels, positions) = (self.weights.sizes[1], self.weights.positions());
        let (strip, chunk) = if chunk * self.chunk < channels { (strip, chunk) } else { (strip + 1, 0) };
        let is_contiguous = self.weights.strides[1] == positions && self.weights.strides[4] == 1;
        if !is_contiguous || strip >= self.groups * self.per_group_strips() {
            return Ahead::new(self.weights.first, 0, 0, 0);
        }
        let (first, lines) = self.source(strip, chunk);
        Ahead::new(first, lines, self.weights.strides[0], self.chunk.min(channels - chunk * self.chunk) * positions)
    }

    /// Packs a chunk of the strip with this index, counted through all groups.
    ///
    /// # Safety
    /// There is room for its numbers, at most [`chunk_len`](Self::chunk_len), and nobody else uses it.
    pub(super) unsafe fn pack(&self, strip: usize, chunk: usize, to: *mut E::Compute) {
        simd::dispatch(PackChunk { packer: self, strip, chunk, to });
    }

    /// Packs all strips of all groups, one after the other, with at most `most` threads.
    pub(super) fn pack_all(&self, most: usize) -> Result<Scratch<E::Compute>> {
        let all = self.groups * self.per_group_strips();
        let packed = Scratch::<E::Compute>::try_new([all, self.weights.depth(), self.strip])?;
        let (len, chunks) = (self.weights.depth() * self.strip, self.weights.sizes[1].div_ceil(self.chunk));
        let (to, packer) = (Shared(packed.start()), Shared(self));
        // An estimate of one nanosecond per weight.
        let pieces = threads::pieces(all * len).min(all).min(most);
        threads::for_each(pieces, &|piece| {
            let (to, packer) = ({ &to }.0, { &packer }.0);
            for at in piece * all / pieces.max(1)..(piece + 1) * all / pieces.max(1) {
                for chunk in 0..chunks {
                    let to = to.wrapping_add(at * len + chunk * packer.chunk_len());
                    // SAFETY: chunks do not overlap, and there is room for all of them.
                    unsafe { packer.pack(at, chunk, to) }
                }
            }
        });
        Ok(packed)
    }
}

/// The numbers of a chunk of `channels` channels in memory order: the offset from the first one, and the index in the strip.
fn places<E>(weights: Weights<'_, E>, channels: usize) -> Result<Vec<[usize; 2]>> {
    let [_, _, depth, height, width]: [usize; 5] = core::array::from_fn(|axis| weights.sizes[axis]);
    let [_, channel, plane, row, column]: [usize; 5] = core::array::from_fn(|axis| weights.strides[axis]);
    let positions = depth * height * width;
    let mut places = room::<[usize; 2]>(numel_at_most(&[channels, depth, height, width]))?;
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
    Ok(places)
}

/// Number of strips in a group of `channels` output channels.
pub(super) fn strips(channels: usize, strip: usize) -> usize {
    channels.div_ceil(strip)
}
