//! Grid sampling: for each place, the operand's positions around it and their weights.
//!
//! Source: `aten/src/ATen/native/GridSampler.h`, `cpu/GridSamplerKernel.cpp`.

#[cfg(feature = "grad")]
use super::resample::cubic_slopes;
use super::resample::{Rounding, cubic};

/// The value outside the operand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GridPadding {
    /// Zeros.
    #[default]
    Zeros,
    /// The border elements, repeated.
    Border,
    /// The elements reflected at the border.
    Reflection,
}

/// How elements between positions are interpolated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum GridMode {
    /// Linear interpolation along every axis.
    #[default]
    Bilinear,
    /// The nearest position.
    Nearest,
    /// Cubic interpolation; images only.
    Bicubic,
}

/// How an operand is sampled.
#[derive(Clone, Copy, Debug)]
pub struct Sampling {
    /// The interpolation.
    pub mode: GridMode,
    /// The value outside the operand.
    pub padding: GridPadding,
    /// Whether -1 and 1 are the centres of the corner pixels instead of their outer edges.
    pub align_corners: bool,
    /// Whether positions are computed in single precision.
    pub is_single: bool,
}

/// A position (`usize::MAX` if outside) and its weight.
pub type Tap = (usize, f64);

/// Maximum taps per axis.
const MOST: usize = 4;

impl Sampling {
    /// Number of positions per place.
    pub fn taps(&self, axes: usize) -> usize {
        self.width().pow(axes as u32)
    }

    fn width(&self) -> usize {
        match self.mode {
            GridMode::Nearest => 1,
            GridMode::Bilinear => 2,
            GridMode::Bicubic => MOST,
        }
    }

    fn round(&self) -> Rounding {
        Rounding { is_single: self.is_single }
    }

    /// Converts a coordinate between -1 and 1 to a position on an axis.
    fn position(&self, x: f64, size: usize) -> f64 {
        let round = self.round();
        let (size, x) = (size as f64, round.of(x + 1.0));
        if self.align_corners {
            return round.of(x * round.of((size - 1.0) / 2.0));
        }
        round.of(round.of(x * (size / 2.0)) - 0.5)
    }

    /// The position after padding; NaN counts as 0 in images, as the last position in volumes.
    fn inside(&self, x: f64, size: usize, is_image: bool) -> f64 {
        let round = self.round();
        let last = (size - 1) as f64;
        let clipped = |x: f64| match () {
            () if x.is_nan() => {
                if is_image {
                    0.0
                } else {
                    last
                }
            }
            () => x.clamp(0.0, last),
        };
        match self.padding {
            GridPadding::Zeros => x,
            GridPadding::Border => clipped(x),
            GridPadding::Reflection => {
                let (low, span) = if self.align_corners { (0.0, last) } else { (-0.5, size as f64) };
                if span == 0.0 {
                    return 0.0;
                }
                let x = round.of(x - low).abs();
                let extra = round.of(x % (2.0 * span));
                clipped(round.of(extra.min(round.of(2.0 * span - extra)) + low))
            }
        }
    }

    /// The taps along one axis, as many as the mode has. (`inline`, here and below, so that only programs that sample grids compile it.)
    #[inline]
    fn axis(&self, x: f64, size: usize, is_image: bool) -> [Tap; MOST] {
        let round = self.round();
        let tap = |position: f64, weight: f64| -> Tap {
            let is_inside = position >= 0.0 && position < size as f64;
            (if is_inside { position as usize } else { usize::MAX }, weight)
        };
        let x = self.position(x, size);
        let mut taps = [(usize::MAX, 0.0); MOST];
        match self.mode {
            GridMode::Nearest => taps[0] = tap(self.inside(x, size, is_image).round_ties_even(), 1.0),
            GridMode::Bilinear => {
                let x = self.inside(x, size, is_image);
                let before = x.floor();
                let after = round.of(x - before);
                let rest = if is_image { round.of(1.0 - after) } else { round.of(before + 1.0 - x) };
                taps[..2].copy_from_slice(&[tap(before, rest), tap(before + 1.0, after)]);
            }
            GridMode::Bicubic => {
                let before = x.floor();
                let weights = cubic(round.of(x - before), round);
                for (step, weight) in weights.into_iter().enumerate() {
                    taps[step] = tap(self.inside(before + step as f64 - 1.0, size, is_image), weight);
                }
            }
        }
        taps
    }

    /// How the weights along one axis change with the coordinate, in the order of [`axis`](Self::axis).
    #[cfg(feature = "grad")]
    fn axis_slopes(&self, x: f64, size: usize, is_image: bool) -> [f64; MOST] {
        let scale = if self.align_corners { (size as f64 - 1.0) / 2.0 } else { size as f64 / 2.0 };
        let x = self.position(x, size);
        let mut slopes = [0.0; MOST];
        match self.mode {
            GridMode::Nearest => {}
            GridMode::Bilinear => {
                let slope = scale * self.inside_slope(x, size);
                slopes[..2].copy_from_slice(&[-slope, slope]);
            }
            GridMode::Bicubic => {
                let _ = is_image;
                slopes = cubic_slopes(x - x.floor()).map(|slope| slope * scale);
            }
        }
        slopes
    }

    /// The derivative of [`inside`](Self::inside): 0 where a position is moved to the border.
    #[cfg(feature = "grad")]
    fn inside_slope(&self, x: f64, size: usize) -> f64 {
        let last = (size - 1) as f64;
        let clipped = |x: f64| if x > 0.0 && x < last { 1.0 } else { 0.0 };
        match self.padding {
            GridPadding::Zeros => 1.0,
            GridPadding::Border => clipped(x),
            GridPadding::Reflection => {
                let (low, span) = if self.align_corners { (0.0, last) } else { (-0.5, size as f64) };
                if span == 0.0 {
                    return 0.0;
                }
                let sign = if x < low { -1.0 } else { 1.0 };
                let extra = (x - low).abs() % (2.0 * span);
                let (place, sign) = if extra <= span { (extra, sign) } else { (2.0 * span - extra, -sign) };
                sign * clipped(place + low)
            }
        }
    }

    /// How the weights of the taps of one place change with each of its coordinates, for a tap after the other.
    #[cfg(feature = "grad")]
    pub(crate) fn place_slopes(&self, at: &[f64], sizes: &[usize], see: &mut dyn FnMut(usize, [f64; 3])) {
        let axes = sizes.len();
        let each: [_; 3] = core::array::from_fn(|axis| match sizes.get(axis) {
            Some(&size) => {
                let x = at[axes - 1 - axis];
                (self.axis(x, size, axes == 2), self.axis_slopes(x, size, axes == 2))
            }
            None => ([(0, 1.0); MOST], [0.0; MOST]),
        });
        let width = self.width();
        for number in 0..self.taps(axes) {
            let place = |axis: usize| number / width.pow((axes - 1 - axis) as u32) % width;
            let slopes = core::array::from_fn(|coordinate| {
                // x, the coordinate along the last axis, comes first.
                let Some(own) = (axes - 1).checked_sub(coordinate) else { return 0.0 };
                let weights = (0..axes).map(|axis| {
                    let ((_, weight), slope) = (each[axis].0[place(axis)], each[axis].1[place(axis)]);
                    if axis == own { slope } else { weight }
                });
                weights.product()
            });
            see(number, slopes);
        }
    }

    /// The taps of one place: `at` are its coordinates, x first; `sizes` those of the axes, x last. Positions are row-major.
    #[inline]
    pub fn place(&self, at: &[f64], sizes: &[usize], taps: &mut [Tap]) {
        let axes = sizes.len();
        let each: [[Tap; MOST]; 3] = core::array::from_fn(|axis| match sizes.get(axis) {
            Some(&size) => self.axis(at[axes - 1 - axis], size, axes == 2),
            None => [(0, 1.0); MOST],
        });
        let width = self.width();
        for (number, tap) in taps.iter_mut().enumerate() {
            let (mut rest, mut flat, mut weight, mut step) = (number, 0, 1.0, 1);
            for axis in (0..axes).rev() {
                let (position, own) = each[axis][rest % width];
                rest /= width;
                weight = self.round().of(weight * own);
                flat = if position == usize::MAX || flat == usize::MAX { usize::MAX } else { flat + position * step };
                step *= sizes[axis];
            }
            *tap = (flat, weight);
        }
    }
}
