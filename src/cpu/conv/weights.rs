//! The weights of a convolution in strips: for each group and each strip of its output channels, for each chunk of channels, for each
//! position of the window and each channel of the chunk, the strip's weights side by side.
//!
//! Uses vector dispatch and threads; used by `conv`.

use super::strips::Ahead;
use crate::cpu::simd::{self, Loop};
use crate::cpu::threads::{self, Shared};
#[cfg(target_arch = "x86_64")]
use crate::cpu::transpose;
use crate::dtype::Dtype;
use crate::error::{Result, numel_at_most, room};
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

/// How many numbers along the contiguous axis are packed before the next output channel is looked at: a cache line of `f32`.
pub(super) const RUN: usize = 16;

/// Numbers of a window in a chunk, about: its weights stay in the L1 cache while the pixels of a block take their turns.
const CHUNK: usize = if cfg!(debug_assertions) { 1 << 6 } else { 432 };
/// A window of no more numbers is one chunk: its sums are loaded and stored once.
const WHOLE: usize = if cfg!(debug_assertions) { 1 << 6 } else { 576 };

/// Channels of a chunk. Whatever the machine: the chunks decide in which order sums are taken.
pub(super) fn chunk_of(channels: usize, positions: usize) -> usize {
    let numbers = channels.saturating_mul(positions);
    let chunks = if numbers <= WHOLE { 1 } else { numbers.div_ceil(CHUNK) };
    // About as many in each, and these in whole runs.
    channels.div_ceil(chunks).next_multiple_of(RUN).min(channels).max(1)
}

/// Transposes a square: where its lines start, and the bytes from each to the next, of the source and of the result.
type Square = unsafe fn(*const u8, usize, *mut u8, usize);

/// How squares of numbers are transposed in registers, and how many are on a side; `None` where that is not done.
#[cfg(target_arch = "x86_64")]
fn squares<E: Dtype>() -> Option<(usize, Square)> {
    // (Numbers that are converted, too, are packed one by one; there are squares of four bytes and of eight.)
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
    /// Channels of a chunk.
    chunk: usize,
    /// For a whole chunk and for the last one, each number in the order of memory: how far it is from the chunk's first one, and its
    /// number in the order of the strips.
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
    #[inline(always)]
    fn run(self) {
        let PackChunk { packer, strip: at, chunk, to: packed } = self;
        let (strip, stride) = (packer.strip, packer.weights.strides[0]);
        let (first, count) = packer.source(at, chunk);
        for places in packer.places_of(chunk).chunks(RUN) {
            // Whole squares of output channels that are far apart, and of numbers that are neighbours.
            let are_neighbours = || places.windows(2).all(|two| two[1][0] == two[0][0] + 1);
            let transposed = match packer.squares {
                Some((side, square)) if stride != 1 && places.len() == RUN && are_neighbours() => {
                    // SAFETY: the places are those of the weights, and there is room for a strip at each of them.
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

/// Packs as many of the first output channels as whole squares of `SIDE` have; returns how many.
///
/// # Safety
/// The first number and those after it are weights, `stride` apart in `count` output channels; the strips of `to`, whose numbers are given,
/// have room for as many. `square` transposes squares of this side and of these elements, which are the numbers computed in.
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

    /// Output channels of a group.
    fn per_group(&self) -> usize {
        self.weights.sizes[0] / self.groups
    }

    fn per_group_strips(&self) -> usize {
        strips(self.per_group(), self.strip)
    }

    fn places_of(&self, chunk: usize) -> &[[usize; 2]] {
        &self.places[usize::from((chunk + 1) * self.chunk >= self.weights.sizes[1])]
    }

    /// Numbers of a strip of a whole chunk.
    pub(super) fn chunk_len(&self) -> usize {
        self.chunk_sizes().into_iter().product()
    }

    /// Places of a chunk, and numbers of each.
    pub(super) fn chunk_sizes(&self) -> [usize; 2] {
        [self.places[0].len(), self.strip]
    }

    /// The first weight of a chunk of a strip, and how many output channels the strip has.
    fn source(&self, strip: usize, chunk: usize) -> (*const E, usize) {
        let (group, low) = (strip / self.per_group_strips(), strip % self.per_group_strips() * self.strip);
        let channel = group * self.per_group() + low;
        let first = channel * self.weights.strides[0] + chunk * self.chunk * self.weights.strides[1];
        (self.weights.first.wrapping_add(first), self.strip.min(self.per_group() - low))
    }

    /// The memory of a chunk of a strip, or of the next strip's first one behind the last; nothing where a chunk's weights of an output
    /// channel are not contiguous.
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

    /// Packs a chunk of the strip of this number, counted through all groups.
    ///
    /// # Safety
    /// There is room for its numbers, at most [`chunk_len`](Self::chunk_len), which nobody else uses.
    pub(super) unsafe fn pack(&self, strip: usize, chunk: usize, to: *mut E::Compute) {
        simd::dispatch(PackChunk { packer: self, strip, chunk, to });
    }

    /// All strips of all groups, one after the other, packed by so many threads at most.
    pub(super) fn pack_all(&self, most: usize) -> Result<Scratch<E::Compute>> {
        let all = self.groups * self.per_group_strips();
        let packed = Scratch::<E::Compute>::try_new([all, self.weights.depth(), self.strip])?;
        let (len, chunks) = (self.weights.depth() * self.strip, self.weights.sizes[1].div_ceil(self.chunk));
        let (to, packer) = (Shared(packed.start()), Shared(self));
        // About a nanosecond for a weight.
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

/// The numbers of a chunk of so many channels, in the order of memory: how far each is from the first one, and its number in the strips.
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

/// Strips of a group of so many output channels.
pub(super) fn strips(channels: usize, strip: usize) -> usize {
    channels.div_ceil(strip)
}
