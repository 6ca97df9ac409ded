//! Depthwise convolutions (each channel is a group): vector lanes are channels.

use super::patch;
use super::plan::Plan;
use crate::cpu::simd::{self, Loop};
use crate::dtype::{Compute, Dtype};
use crate::error::{Result, listed, numel_at_most};
use crate::ops;
use crate::storage::Scratch;

/// Number of channels whose sums are held in registers.
const LANES: usize = 64;

/// A row of pixels.
struct Row<'a, T> {
    x: *const T,
    step: usize,
    /// Offsets of the window's positions.
    positions: &'a [usize],
    channels: usize,
    /// For each position, one weight per channel.
    weights: *const T,
    start: *const T,
    out: *mut T,
    out_step: usize,
    pixels: usize,
}

impl<T: Compute> Row<'_, T> {
    /// # Safety
    /// There are `COUNT` channels from `low` on.
    #[inline(always)]
    unsafe fn channels<const COUNT: usize>(&self, pixel: usize, low: usize) {
        // SAFETY: `block` makes rows with valid windows, weights and places.
        unsafe {
            let mut sums: [T; COUNT] = self.start.add(low).cast::<[T; COUNT]>().read();
            for (position, &place) in self.positions.iter().enumerate() {
                let x = self.x.add(pixel * self.step + place + low);
                let weights = self.weights.add(position * self.channels + low);
                for (lane, sum) in sums.iter_mut().enumerate() {
                    let product = x.add(lane).read().binary::<ops::mul>(weights.add(lane).read());
                    *sum = sum.binary::<ops::reduce::Accumulating>(product);
                }
            }
            self.out.add(pixel * self.out_step + low).cast::<[T; COUNT]>().write(sums);
        }
    }
}

impl<T: Compute> Loop for Row<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        for pixel in 0..self.pixels {
            let mut low = 0;
            // SAFETY: that many channels are left.
            unsafe {
                while low + LANES <= self.channels {
                    self.channels::<LANES>(pixel, low);
                    low += LANES;
                }
                while low + 8 <= self.channels {
                    self.channels::<8>(pixel, low);
                    low += 8;
                }
                while low < self.channels {
                    self.channels::<1>(pixel, low);
                    low += 1;
                }
            }
        }
    }
}

/// Computes the rows and columns of a block; the input's strides are those of planes, rows, columns and channels, which are contiguous.
pub(super) fn block<E: Dtype>(
    plan: &Plan<'_, E>,
    weights: *const E::Compute,
    x: *const E::Compute,
    [planes, high, wide, _]: [usize; 4],
    out: *mut E,
    [rows, columns]: [usize; 2],
) -> Result<()> {
    let [depth, height, width] = plan.windows;
    let channels = plan.x_sizes[1];
    let kernel = [depth.kernel, height.kernel, width.kernel];
    let positions = listed((0..numel_at_most(&kernel)).map(|at: usize| {
        let (z, y, x) = (at / kernel[2] / kernel[1], at / kernel[2] % kernel[1], at % kernel[2]);
        z * planes + y * height.dilation * high + x * width.dilation * wide
    }))?;
    let sums = if plan.writes_result { None } else { Some(Scratch::<E::Compute>::try_new([columns, channels])?) };
    let o = plan.out_strides;
    for row in 0..rows {
        let out = out.wrapping_add(row * o[3]);
        let (to, out_step) = match &sums {
            Some(sums) => (sums.start(), channels),
            None => (out.cast(), o[4]),
        };
        simd::dispatch(Row {
            x: x.wrapping_add(row * height.stride * high),
            step: width.stride * wide,
            positions: &positions,
            channels,
            weights,
            start: plan.bias,
            out: to,
            out_step,
            pixels: columns,
        });
        if sums.is_some() {
            // SAFETY: all sums of the row are written, and its places in the result are valid.
            unsafe { patch::narrow::<E>(to, out, [columns, channels], [channels, 1], [o[4], o[1]]) }
        }
    }
    Ok(())
}
