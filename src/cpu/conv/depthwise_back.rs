//! The gradient of the weight of a convolution of each channel alone, channels last.

use crate::cpu::norm_back::Real;
use crate::cpu::simd::{self, Loop};
use crate::cpu::threads::{self, Shared};
use crate::error::{Result, filled, listed};
use crate::ops::window::Window;
use crate::storage::HostBuffer;

/// The least number of rows of places whose sums are taken together, and the largest number of such blocks. Both depend on sizes alone.
const ROWS: usize = if cfg!(debug_assertions) { 2 } else { 16 };
const BLOCKS: usize = 64;

/// Number of channels whose sums are held in registers.
const LANES: usize = 64;

/// Elements `(N, D, H, W, C)` with their padding, and gradients at `places`.
#[derive(Clone, Copy)]
pub(crate) struct Depthwise<'a, T> {
    pub(crate) x: &'a [T],
    pub(crate) g: &'a [T],
    pub(crate) windows: [Window; 3],
    pub(crate) sizes: [usize; 3],
    pub(crate) places: [usize; 3],
    pub(crate) channels: usize,
}

/// Some rows of places.
struct Rows<'a, T> {
    of: Depthwise<'a, T>,
    low: usize,
    high: usize,
    /// The sums of each position of the window and each channel.
    sums: &'a mut [T],
}
/// Adds products of `N` channels from `low` on: their sums stay in registers from place to place.
#[inline(always)]
fn add_products<'a, T: Real, const N: usize>(
    sums: &mut [T],
    low: usize,
    places: impl Iterator<Item = (&'a [T], &'a [T])>,
) {
    let Some(sums) = sums[low..].first_chunk_mut::<N>() else { return };
    let mut held = *sums;
    for (g, x) in places {
        if let (Some(g), Some(x)) = (g[low..].first_chunk::<N>(), x[low..].first_chunk::<N>()) {
            for at in 0..N {
                held[at] = held[at] + g[at] * x[at];
            }
        }
    }
    *sums = held;
}

impl<T: Real> Loop for Rows<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Rows { of: Depthwise { x, g, windows, sizes, places, channels }, low, high, sums } = self;
        let [depth, height, width] = windows;
        for row in low..high {
            let (image, plane, line) = (row / places[1] / places[0], row / places[1] % places[0], row % places[1]);
            let g = &g[row * places[2] * channels..][..places[2] * channels];
            for (number, sums) in sums.chunks_exact_mut(channels).enumerate() {
                let (column, at) = (number % width.kernel, number / width.kernel);
                let d = plane * depth.stride + at / height.kernel * depth.dilation;
                let h = line * height.stride + at % height.kernel * height.dilation;
                let first = ((image * sizes[0] + d) * sizes[1] + h) * sizes[2] + column * width.dilation;
                let places = || {
                    let x = x[first * channels..].chunks_exact(channels).step_by(width.stride);
                    g.chunks_exact(channels).zip(x)
                };
                let mut low = 0;
                while low < channels {
                    if low + LANES <= channels {
                        add_products::<T, LANES>(sums, low, places());
                        low += LANES;
                    } else if low + 8 <= channels {
                        add_products::<T, 8>(sums, low, places());
                        low += 8;
                    } else {
                        add_products::<T, 1>(sums, low, places());
                        low += 1;
                    }
                }
            }
        }
    }
}

/// The gradient as `(positions, channels)`.
pub(crate) fn weight<T: Real>(of: Depthwise<'_, T>) -> Result<HostBuffer> {
    let window: usize = of.windows.iter().map(|window| window.kernel).product();
    let width = window * of.channels;
    let rows = of.g.len() / (of.places[2] * of.channels);
    let block = ROWS.max(rows.div_ceil(BLOCKS));
    let blocks = rows.div_ceil(block);
    let mut sums = filled(T::zero(), blocks * width)?;
    let pieces = threads::pieces(of.g.len() * window / 16).min(blocks);
    let out = Shared(sums.as_mut_ptr());
    threads::for_each(pieces, &|piece| {
        for at in blocks * piece / pieces..blocks * (piece + 1) / pieces {
            // SAFETY: each block has its own part.
            let sums = unsafe { core::slice::from_raw_parts_mut({ &out }.0.add(at * width), width) };
            simd::dispatch(Rows { of, low: at * block, high: ((at + 1) * block).min(rows), sums });
        }
    });
    let (sum, others) = sums.split_at_mut(width);
    for other in others.chunks_exact(width) {
        sum.iter_mut().zip(other).for_each(|(sum, &other)| *sum = *sum + other);
    }
    HostBuffer::from_vec::<T>(listed(sum.iter().copied())?)
}
