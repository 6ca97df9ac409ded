//! Frequencies: `fftfreq`.

use crate::device::Device;
use crate::dtype::Float;
use crate::error::{Result, collected, listed};
use crate::shape::Dim;
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// The frequencies of a transform of `n` samples at a distance of `d`: all, or the first half.
pub(crate) fn frequencies(n: usize, d: f64, half: bool) -> Result<Vec<f64>> {
    let step = 1.0 / (n as f64 * d);
    let count = if half && n > 0 {
        n / 2 + 1
    } else if half {
        1
    } else {
        n
    };
    collected((0..count).map(|at| {
        let at = if half || at < n.div_ceil(2) { at as f64 } else { at as f64 - n as f64 };
        Ok(at * step)
    }))
}

impl<E: Float, N: Dim, D: Device> Tensor<E, (N,), D> {
    fn of_frequencies(op: &'static str, n: usize, d: f64, half: bool) -> Result<Self> {
        checked_numel::<f64>(op, &[n])?;
        let len = if half { n / 2 + 1 } else { n };
        expect_fit::<(N,)>(op, &[len])?;
        let storage = D::build(None, || listed(frequencies(n, d, half)?.into_iter().map(E::from_f64)))?;
        Ok(Self::dense(storage, [len]))
    }

    /// The frequencies of [`fft`](Tensor::fft) of `n` samples at a distance of `d` (`torch.fft.fftfreq`).
    ///
    /// # Panics
    /// If the size is not that of the type, or memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// assert_eq!(Tensor::<f32, shape![4]>::fftfreq(4, 0.5).to_vec(), [0.0, 0.5, -1.0, -0.5]);
    /// ```
    #[fallible]
    pub fn fftfreq(n: usize, d: f64) -> Result<Self> {
        Self::of_frequencies("fft.fftfreq", n, d, false)
    }

    /// The frequencies of [`rfft`](Tensor::rfft) of `n` samples at a distance of `d` (`torch.fft.rfftfreq`): `n / 2 + 1` of them.
    ///
    /// # Panics
    /// If the size is not that of the type, or memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// assert_eq!(Tensor::<f32, shape![3]>::rfftfreq(4, 0.5).to_vec(), [0.0, 0.5, 1.0]);
    /// ```
    #[fallible]
    pub fn rfftfreq(n: usize, d: f64) -> Result<Self> {
        Self::of_frequencies("fft.rfftfreq", n, d, true)
    }
}
