//! Resampling: from which positions of an axis, and with which weights, each place of a result is computed.
//!
//! Source: `aten/src/ATen/native/UpSample.h`, `cpu/UpSampleKernel.cpp`; steps and roundings are the same.

use crate::error::{Error, Result, filled, room};

/// How elements between positions are interpolated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// The position before (rounded down).
    Nearest,
    /// The nearest position.
    NearestExact,
    /// Linear interpolation between two positions.
    Linear,
    /// Cubic interpolation over four positions.
    Cubic,
    /// Six positions, weighted by the Lanczos window.
    Lanczos,
    /// The mean over the part of the axis that a place covers.
    Area,
}

/// How elements between positions are interpolated, with the number of axes: PyTorch's `mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum InterpolateMode {
    /// The position before (rounded down); for one to three axes.
    #[default]
    Nearest,
    /// The nearest position; for one to three axes.
    NearestExact,
    /// Linear interpolation along one axis.
    Linear,
    /// Linear interpolation along two axes.
    Bilinear,
    /// Linear interpolation along three axes.
    Trilinear,
    /// Cubic interpolation along two axes.
    Bicubic,
    /// The Lanczos window along two axes.
    Lanczos,
    /// The mean over what a place covers; for one to three axes.
    Area,
}

impl core::str::FromStr for InterpolateMode {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        Ok(match text {
            "nearest" => InterpolateMode::Nearest,
            "nearest-exact" => InterpolateMode::NearestExact,
            "linear" => InterpolateMode::Linear,
            "bilinear" => InterpolateMode::Bilinear,
            "trilinear" => InterpolateMode::Trilinear,
            "bicubic" => InterpolateMode::Bicubic,
            "lanczos" => InterpolateMode::Lanczos,
            "area" => InterpolateMode::Area,
            _ => {
                let reason = format!(
                    "there is no mode {text:?}: it is nearest, nearest-exact, linear, bilinear, trilinear, bicubic, lanczos or area"
                );
                return Err(Error::InvalidArgument { op: "interpolate", reason });
            }
        })
    }
}

impl InterpolateMode {
    /// The kernel along each of `axes` axes; `None` if the mode is for another number of axes.
    pub fn kernel(self, axes: usize) -> Option<Kernel> {
        let (kernel, own) = match self {
            InterpolateMode::Nearest => (Kernel::Nearest, axes),
            InterpolateMode::NearestExact => (Kernel::NearestExact, axes),
            InterpolateMode::Area => (Kernel::Area, axes),
            InterpolateMode::Linear => (Kernel::Linear, 1),
            InterpolateMode::Bilinear => (Kernel::Linear, 2),
            InterpolateMode::Trilinear => (Kernel::Linear, 3),
            InterpolateMode::Bicubic => (Kernel::Cubic, 2),
            InterpolateMode::Lanczos => (Kernel::Lanczos, 2),
        };
        (own == axes && (1..=3).contains(&axes)).then_some(kernel)
    }
}

/// How tensors are resampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resampling {
    /// The interpolation kernel.
    pub kernel: Kernel,
    /// Whether the centres of the first and last places are aligned with the operand's.
    pub align_corners: bool,
    /// Whether a place averages over all positions that it covers.
    pub antialias: bool,
}

/// The source positions of each place of an axis, and their weights.
#[derive(Clone, Debug)]
pub struct Taps {
    /// Maximum number of positions per place.
    pub width: usize,
    /// Number of positions of each place.
    pub counts: Vec<usize>,
    /// Positions, `width` per place.
    pub index: Vec<usize>,
    /// Their weights.
    pub weights: Vec<f64>,
}

impl Taps {
    /// The places to which each of `size` positions contributes, and the weights. A position without places has one of weight 0.
    pub(crate) fn transposed(&self, size: usize) -> Result<Taps> {
        let all = || {
            self.counts.iter().enumerate().flat_map(|(place, &count)| {
                (place * self.width..place * self.width + count)
                    .map(move |tap| (place, self.index[tap], self.weights[tap]))
            })
        };
        let mut counts = filled(0_usize, size)?;
        all().for_each(|(_, position, _)| counts[position] += 1);
        let width = counts.iter().copied().max().unwrap_or(0).max(1);
        let len = size.saturating_mul(width);
        let (mut index, mut weights) = (filled(0, len)?, filled(0.0, len)?);
        counts.fill(0);
        for (place, position, weight) in all() {
            let at = position * width + counts[position];
            (index[at], weights[at]) = (place, weight);
            counts[position] += 1;
        }
        counts.iter_mut().for_each(|count| *count = (*count).max(1));
        Ok(Taps { width, counts, index, weights })
    }
}

/// Rounds numbers to the precision in which an axis is measured.
#[derive(Clone, Copy)]
pub(crate) struct Rounding {
    pub(crate) is_single: bool,
}

impl Rounding {
    pub(crate) fn of(self, x: f64) -> f64 {
        if self.is_single { f64::from(x as f32) } else { x }
    }

    /// Number of operand positions per place.
    fn scale(self, size: usize, places: usize, align_corners: bool, factor: Option<f64>) -> f64 {
        let number = |n: usize| self.of(n as f64);
        match factor {
            _ if align_corners && places > 1 => self.of(number(size - 1) / number(places - 1)),
            _ if align_corners => 0.0,
            Some(factor) if factor > 0.0 => self.of(1.0 / factor),
            _ => self.of(number(size) / number(places)),
        }
    }

    /// The coordinate of a place on the operand's axis.
    fn source(self, scale: f64, place: usize, align_corners: bool, is_cubic: bool) -> f64 {
        let place = self.of(place as f64);
        if align_corners {
            return self.of(scale * place);
        }
        let source = self.of(self.of(scale * self.of(place + 0.5)) - 0.5);
        if source < 0.0 && !is_cubic { 0.0 } else { source }
    }

    /// The position before, and the fraction beyond it.
    fn split(self, source: f64, size: usize) -> (i64, f64) {
        let index = f64::from((source as f32).floor()).min((size - 1) as f64);
        (index as i64, self.of(source - index).clamp(0.0, 1.0))
    }
}

/// The cubic convolution kernel for `|x| <= 1`, and beyond; `a` is its slope.
fn near(x: f64, a: f64, round: Rounding) -> f64 {
    let r = |x| round.of(x);
    r(r(r(r(r(a + 2.0) * x) - r(a + 3.0)) * r(x * x)) + 1.0)
}
fn far(x: f64, a: f64, round: Rounding) -> f64 {
    let r = |x| round.of(x);
    r(r(r(r(r(r(a * x) - 5.0 * a) * x) + 8.0 * a) * x) - 4.0 * a)
}

/// The weights of the four positions around a point that is `t` beyond the second one.
pub(crate) fn cubic(t: f64, round: Rounding) -> [f64; 4] {
    let (a, rest) = (-0.75, round.of(1.0 - t));
    [far(round.of(t + 1.0), a, round), near(t, a, round), near(rest, a, round), far(round.of(rest + 1.0), a, round)]
}

/// How these weights change with `t`.
#[cfg(feature = "grad")]
pub(crate) fn cubic_slopes(t: f64) -> [f64; 4] {
    let (a, rest) = (-0.75, 1.0 - t);
    let near = |x: f64| (3.0 * (a + 2.0) * x - 2.0 * (a + 3.0)) * x;
    let far = |x: f64| (3.0 * a * x - 10.0 * a) * x + 8.0 * a;
    [far(t + 1.0), near(t), -near(rest), -far(rest + 1.0)]
}

/// The window of an antialiased kernel, or of bytes; `slope` is the parameter of cubic convolution.
fn window(kernel: Kernel, x: f64, slope: f64, round: Rounding) -> f64 {
    let x = x.abs();
    match kernel {
        Kernel::Cubic if x < 1.0 => near(x, slope, round),
        Kernel::Cubic if x < 2.0 => far(x, slope, round),
        Kernel::Lanczos if x < 3.0 => {
            let sinc = |x: f64| {
                let x = x * core::f64::consts::PI;
                if x == 0.0 { 1.0 } else { x.sin() / x }
            };
            round.of(sinc(x) * sinc(x / 3.0))
        }
        Kernel::Linear if x < 1.0 => round.of(1.0 - x),
        _ => 0.0,
    }
}

/// Number of positions in a kernel's support.
fn reach(kernel: Kernel) -> usize {
    match kernel {
        Kernel::Nearest | Kernel::NearestExact | Kernel::Area => 1,
        Kernel::Linear => 2,
        Kernel::Cubic => 4,
        Kernel::Lanczos => 6,
    }
}

/// The source position of each place for nearest-neighbour kernels. (PyTorch measures images with two axes differently from lines and
/// volumes:
/// always in single precision, and without rounding for sizes that stay or double.)
#[derive(Clone, Copy, Debug)]
pub struct Neighbours {
    /// [`Kernel::NearestExact`] instead of [`Kernel::Nearest`].
    pub is_exact: bool,
    /// Whether there are two axes.
    pub is_image: bool,
    /// Whether the axis is measured in single precision.
    pub is_single: bool,
}

impl Neighbours {
    /// The positions, one per place; `factor` is the scale factor, if it was given.
    pub fn positions(self, size: usize, places: usize, factor: Option<f64>) -> impl Iterator<Item = usize> {
        let round = Rounding { is_single: self.is_single || self.is_image };
        let scale = round.scale(size, places, false, factor);
        let floor = |x: f64| f64::from((x as f32).floor()) as usize;
        (0..places).map(move |place| {
            let index = match (self.is_exact, self.is_image) {
                (true, true) => floor((place as f64 + 0.5) * scale),
                (true, false) => round.of(round.source(scale, place, false, false) + 0.5) as usize,
                (false, true) if places == size => place,
                (false, true) if places == size.saturating_mul(2) => place / 2,
                (false, _) => floor(round.source(scale, place, true, false)),
            };
            index.min(size - 1)
        })
    }
}

/// (`inline`, so that only programs that resample compile it.)
impl Resampling {
    /// The taps of each place of an axis; `factor` is the scale factor, if it was given.
    #[inline]
    pub fn taps(self, size: usize, places: usize, factor: Option<f64>, is_single: bool) -> Result<Taps> {
        let round = Rounding { is_single };
        let scale = round.scale(size, places, self.align_corners, factor);
        if self.antialias {
            return self.covered(size, places, scale, round);
        }
        let width = reach(self.kernel);
        let (mut index, mut weights) = (room(places.saturating_mul(width))?, room(places.saturating_mul(width))?);
        for place in 0..places {
            if self.kernel == Kernel::Linear {
                if size == places {
                    index.extend([place; 2]);
                    weights.extend([1.0, 0.0]);
                    continue;
                }
                let (at, after) = round.split(round.source(scale, place, self.align_corners, false), size);
                let at = at as usize;
                index.extend([at, (at + 1).min(size - 1)]);
                weights.extend([round.of(1.0 - after), after]);
                continue;
            }
            let (at, t) = round.split(round.source(scale, place, self.align_corners, true), size);
            index.extend((-1..3).map(|step| (at + step).clamp(0, size as i64 - 1) as usize));
            weights.extend(cubic(t, round));
        }
        let counts = crate::error::filled(width, places)?;
        Ok(Taps { width, counts, index, weights })
    }

    /// The same over all positions that a place covers (antialiased).
    #[inline]
    fn covered(self, size: usize, places: usize, scale: f64, round: Rounding) -> Result<Taps> {
        let half = reach(self.kernel) as f64 * 0.5;
        let support = if scale >= 1.0 { round.of(half * scale) } else { half };
        let inverse = if scale >= 1.0 { round.of(1.0 / scale) } else { 1.0 };
        // (A place covers at most the whole axis.)
        let width = ((support.ceil() as usize).saturating_mul(2).saturating_add(1)).min(size);
        let all = places.saturating_mul(width);
        let (mut counts, mut index, mut weights) = (room(places)?, room(all)?, room(all)?);
        for place in 0..places {
            let center = round.of(scale * (place as f64 + 0.5));
            let low = (round.of(center - support) + 0.5).max(0.0) as usize;
            let high = ((round.of(center + support) + 0.5) as usize).min(size);
            let count = high.saturating_sub(low).min(width);
            let first = weights.len();
            let mut total = 0.0;
            for at in low..low + count {
                let x = round.of((round.of(at as f64 - center) + 0.5) * inverse);
                let weight = window(self.kernel, x, -0.5, round);
                total = round.of(total + weight);
                weights.push(weight);
                index.push(at);
            }
            if total != 0.0 {
                weights[first..].iter_mut().for_each(|weight| *weight = round.of(*weight / total));
            }
            weights.resize(first + width, 0.0);
            index.resize(first + width, 0);
            counts.push(count);
        }
        Ok(Taps { width, counts, index, weights })
    }

    /// The same for bytes: weights outside the axis count for its end positions.
    #[inline]
    pub fn taps_of_bytes(self, size: usize, places: usize, factor: Option<f64>) -> Result<ByteTaps> {
        let round = Rounding { is_single: false };
        let scale = round.scale(size, places, self.align_corners, factor);
        let taps =
            if self.antialias { self.covered(size, places, scale, round)? } else { self.clamped(size, places, scale)? };
        let largest = taps.weights.iter().copied().fold(0.0, f64::max);
        // As many fraction bits as the largest weight allows in 16 bits.
        let fits = |bits: &u32| ((0.5 + largest * f64::from(1 << (bits + 1))) as i64) < 1 << 15;
        let bits = (0..22).take_while(fits).count() as u32;
        let rounded = |weight: &f64| {
            let scaled = weight * f64::from(1 << bits);
            (if scaled < 0.0 { scaled - 0.5 } else { scaled + 0.5 }) as i32
        };
        let weights = crate::error::listed(taps.weights.iter().map(rounded))?;
        Ok(ByteTaps { width: taps.width, counts: taps.counts, index: taps.index, weights, bits })
    }

    #[inline]
    fn clamped(self, size: usize, places: usize, scale: f64) -> Result<Taps> {
        let round = Rounding { is_single: false };
        let reach = reach(self.kernel);
        let half = (reach / 2) as i64;
        let width = reach.min(size);
        let all = places.saturating_mul(width);
        let (mut counts, mut index, mut weights) = (room(places)?, room(all)?, room(all)?);
        for place in 0..places {
            let source = round.source(scale, place, self.align_corners, reach > 2);
            let (at, after) = round.split(source, size);
            let unbound = at - half + 1;
            let low = unbound.max(0);
            let count = ((at + half + 1).min(size as i64) - low).clamp(0, width as i64) as usize;
            let mut of = [0.0; 6];
            let mut slot = 0;
            for step in 0..reach as i64 {
                let weight = window(self.kernel, (step + 1 - half) as f64 - after, -0.75, round);
                if unbound + step <= 0 {
                    slot = 0;
                } else if unbound + step >= size as i64 - 1 {
                    slot = count.saturating_sub(1);
                }
                of[slot] += weight;
                slot += 1;
            }
            weights.extend(&of[..width]);
            index.extend((0..width).map(|step| (low as usize + step).min(size - 1)));
            counts.push(count);
        }
        Ok(Taps { width, counts, index, weights })
    }
}

/// [`Taps`] for bytes: weights are integers, in units of `1 / 2^bits`.
#[derive(Clone, Debug)]
pub struct ByteTaps {
    /// Maximum number of positions per place.
    pub width: usize,
    /// Number of positions of each place.
    pub counts: Vec<usize>,
    /// Positions, `width` per place.
    pub index: Vec<usize>,
    /// Their weights.
    pub weights: Vec<i32>,
    /// Number of fraction bits.
    pub bits: u32,
}
