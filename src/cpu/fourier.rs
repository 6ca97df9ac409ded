//! Fourier transforms of contiguous lanes in host memory, by `rustfft` and `realfft`: plans are cached, and lanes are divided among
//! threads.

use super::threads;
use crate::dtype::{Complex, Dtype};
use crate::error::{Result, filled, numel_at_most};
use num_traits::Float;
use realfft::{RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftNum, FftPlanner};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// The real numbers that transforms compute in: `f32` and `f64`.
#[doc(hidden)]
pub trait WaveNumber: Dtype + FftNum + Float {
    fn planners() -> &'static Mutex<Planners<Self>>;
    fn of_f64(value: f64) -> Self;
    fn as_f64(self) -> f64;
}

/// The cached plans, kept by the crates' planners.
#[doc(hidden)]
pub struct Planners<T: FftNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
}

macro_rules! waves {
    ($($real:ty)*) => {$(
        impl WaveNumber for $real {
            fn planners() -> &'static Mutex<Planners<Self>> {
                static PLANNERS: OnceLock<Mutex<Planners<$real>>> = OnceLock::new();
                PLANNERS.get_or_init(|| {
                    Mutex::new(Planners { complex: FftPlanner::new(), real: RealFftPlanner::new() })
                })
            }
            fn of_f64(value: f64) -> Self {
                value as $real
            }
            fn as_f64(self) -> f64 {
                self.into()
            }
        }
    )*};
}
waves!(f32 f64);

fn plan<T: WaveNumber, P>(make: impl FnOnce(&mut Planners<T>) -> P) -> P {
    make(&mut T::planners().lock().unwrap_or_else(PoisonError::into_inner))
}

/// Number of threads for lanes of this length, and lanes per thread.
fn shares(count: usize, n: usize) -> usize {
    let pieces = threads::pieces(count.saturating_mul(n).saturating_mul(2)).clamp(1, count.max(1));
    count.div_ceil(pieces).max(1)
}

/// Transforms lanes of length `n` in place, and scales the result.
pub(crate) fn complex<T: WaveNumber>(lanes: &mut [Complex<T>], n: usize, forward: bool, scale: f64) -> Result<()> {
    if lanes.is_empty() || n == 0 {
        return Ok(());
    }
    let fft: Arc<dyn Fft<T>> =
        plan(|of| if forward { of.complex.plan_fft_forward(n) } else { of.complex.plan_fft_inverse(n) });
    let each = shares(lanes.len() / n, n);
    let scale = T::of_f64(scale);
    threads::try_for_each_part(lanes.chunks_mut(each * n).collect(), &|part: &mut [Complex<T>]| {
        let mut scratch = filled(Complex::new(T::zero(), T::zero()), fft.get_inplace_scratch_len())?;
        fft.process_with_scratch(part, &mut scratch);
        if scale != T::one() {
            part.iter_mut().for_each(|x| *x = Complex::new(x.re * scale, x.im * scale));
        }
        Ok(())
    })
}

/// The first `n / 2 + 1` frequencies of real lanes of length `n`, or their conjugates. Overwrites the lanes.
pub(crate) fn real<T: WaveNumber>(lanes: &mut [T], n: usize, conjugated: bool, scale: f64) -> Result<Vec<Complex<T>>> {
    let zero = Complex::new(T::zero(), T::zero());
    if lanes.is_empty() || n == 0 {
        return Ok(Vec::new());
    }
    let (count, half) = (lanes.len() / n, n / 2 + 1);
    let mut result = filled(zero, numel_at_most(&[count, half]))?;
    let fft: Arc<dyn RealToComplex<T>> = plan(|of| of.real.plan_fft_forward(n));
    let each = shares(count, n);
    let scale = T::of_f64(scale);
    let parts = lanes.chunks_mut(each * n).zip(result.chunks_mut(each * half)).collect();
    threads::try_for_each_part(parts, &|(from, to): (&mut [T], &mut [Complex<T>])| {
        let mut scratch = filled(zero, fft.get_scratch_len())?;
        for (from, to) in from.chunks_exact_mut(n).zip(to.chunks_exact_mut(half)) {
            // It fails only for slices of wrong lengths.
            let _ = fft.process_with_scratch(from, to, &mut scratch);
        }
        if scale != T::one() || conjugated {
            let imaginary = if conjugated { -scale } else { scale };
            to.iter_mut().for_each(|x| *x = Complex::new(x.re * scale, x.im * imaginary));
        }
        Ok(())
    })?;
    Ok(result)
}

/// Real lanes of length `n` from their first `n / 2 + 1` frequencies, or from the conjugates of these. Overwrites the frequencies.
pub(crate) fn back_to_real<T: WaveNumber>(
    lanes: &mut [Complex<T>],
    n: usize,
    conjugated: bool,
    scale: f64,
) -> Result<Vec<T>> {
    let half = n / 2 + 1;
    if lanes.is_empty() || n == 0 {
        return Ok(Vec::new());
    }
    let count = lanes.len() / half;
    let mut result = filled(T::zero(), count * n)?;
    let fft = plan(|of| of.real.plan_fft_inverse(n));
    let each = shares(count, n);
    let scale = T::of_f64(scale);
    let parts = lanes.chunks_mut(each * half).zip(result.chunks_mut(each * n)).collect();
    threads::try_for_each_part(parts, &|(from, to): (&mut [Complex<T>], &mut [T])| {
        let mut scratch = filled(Complex::new(T::zero(), T::zero()), fft.get_scratch_len())?;
        for (from, to) in from.chunks_exact_mut(half).zip(to.chunks_exact_mut(n)) {
            if conjugated {
                from.iter_mut().for_each(|x| *x = x.conj());
            }
            // The imaginary parts of these have no counterpart in a real lane, and count as 0.
            from[0].im = T::zero();
            if n.is_multiple_of(2) {
                from[half - 1].im = T::zero();
            }
            // It fails only for slices of wrong lengths and for nonzero imaginary parts there.
            let _ = fft.process_with_scratch(from, to, &mut scratch);
        }
        if scale != T::one() {
            to.iter_mut().for_each(|x| *x = *x * scale);
        }
        Ok(())
    })?;
    Ok(result)
}
