//! Windows: `signal.windows.*`, `hann_window` and other older names. Source: `torch/signal/windows/windows.py`.

use crate::device::Device;
use crate::dtype::Float;
use crate::error::{Result, filled, invalid, listed};
use crate::shape::{Dim, Known};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// A window function, by which samples are weighted before a transform.
///
/// ```
/// use castiron::{Tensor, fft::Window, shape};
/// assert_eq!(Tensor::<f32, shape![5]>::window(&Window::Bartlett, true).to_vec(), [0.0, 0.5, 1.0, 0.5, 0.0]);
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Window {
    /// A triangle (`bartlett`).
    Bartlett,
    /// (`blackman`)
    Blackman,
    /// Half a period of a cosine (`cosine`).
    Cosine,
    /// (`exponential`)
    Exponential {
        /// The position where the window is 1; the middle if not given. Not for symmetric windows.
        center: Option<f64>,
        /// The decay constant.
        tau: f64,
    },
    /// (`gaussian`)
    Gaussian {
        /// The standard deviation.
        std: f64,
    },
    /// A sum of cosines with these weights (`general_cosine`).
    GeneralCosine(Vec<f64>),
    /// (`general_hamming`)
    GeneralHamming {
        /// The weight of the constant.
        alpha: f64,
    },
    /// (`hamming`)
    Hamming,
    /// (`hann`)
    Hann,
    /// (`kaiser`)
    Kaiser {
        /// The shape parameter: 0 gives a rectangle.
        beta: f64,
    },
    /// Nuttall's four terms of minimum sidelobes (`nuttall`).
    Nuttall,
}

/// The modified Bessel function of order 0. Source: its power series, whose terms are positive.
fn bessel_i0(x: f64) -> f64 {
    let (mut term, mut sum, mut k) = (1.0, 1.0, 1.0);
    while term > sum * 1e-17 {
        term *= (x / (2.0 * k)) * (x / (2.0 * k));
        sum += term;
        k += 1.0;
    }
    sum
}

impl Window {
    /// The weights. A window that is not symmetric is periodic: a symmetric window of `n + 1` samples without the last.
    pub(crate) fn weights(&self, op: &'static str, n: usize, symmetric: bool) -> Result<Vec<f64>> {
        let period = if symmetric { n.saturating_sub(1) } else { n } as f64;
        let cosines = |weights: &[f64]| {
            if n == 1 {
                return filled(1.0, 1);
            }
            let step = 2.0 * core::f64::consts::PI / period;
            listed((0..n).map(|at| {
                let terms = weights.iter().enumerate().map(|(i, weight)| {
                    let sign = if i % 2 == 0 { 1.0 } else { -1.0 };
                    sign * weight * (i as f64 * at as f64 * step).cos()
                });
                terms.sum::<f64>()
            }))
        };
        match self {
            Window::Bartlett if n == 1 => filled(1.0, 1),
            Window::Bartlett => listed((0..n).map(|at| 1.0 - (2.0 * at as f64 / period - 1.0).abs())),
            Window::Blackman => cosines(&[0.42, 0.5, 0.08]),
            Window::Cosine => {
                let step = core::f64::consts::PI / if symmetric || n == 1 { n as f64 } else { n as f64 + 1.0 };
                listed((0..n).map(|at| ((at as f64 + 0.5) * step).sin()))
            }
            Window::Exponential { center, tau } => {
                if *tau <= 0.0 {
                    return invalid(op, format!("Tau must be positive, got: {tau} instead."));
                }
                if symmetric && center.is_some() {
                    return invalid(op, "Center must be None for symmetric windows".to_owned());
                }
                let middle = if !symmetric && n > 1 { n as f64 } else { n.saturating_sub(1) as f64 } / 2.0;
                let center = center.unwrap_or(middle);
                listed((0..n).map(|at| (-(at as f64 - center).abs() / tau).exp()))
            }
            Window::Gaussian { std } => {
                if *std <= 0.0 {
                    return invalid(op, format!("Standard deviation must be positive, got: {std} instead."));
                }
                let middle = if !symmetric && n > 1 { n as f64 } else { n.saturating_sub(1) as f64 } / 2.0;
                listed((0..n).map(|at| (-((at as f64 - middle) / std).powi(2) / 2.0).exp()))
            }
            Window::GeneralCosine(weights) if weights.is_empty() => {
                invalid(op, "Coefficients cannot be empty".to_owned())
            }
            Window::GeneralCosine(weights) => cosines(weights),
            Window::GeneralHamming { alpha } => cosines(&[*alpha, 1.0 - alpha]),
            Window::Hamming => cosines(&[0.54, 0.46]),
            Window::Hann => cosines(&[0.5, 0.5]),
            Window::Kaiser { beta } if *beta < 0.0 => {
                invalid(op, format!("beta must be non-negative, got: {beta} instead."))
            }
            Window::Kaiser { .. } if n == 1 => filled(1.0, 1),
            Window::Kaiser { beta } => listed((0..n).map(|at| {
                let k = (2.0 * at as f64 / period - 1.0).min(1.0);
                bessel_i0(beta * (1.0 - k * k).max(0.0).sqrt()) / bessel_i0(*beta)
            })),
            Window::Nuttall => cosines(&[0.3635819, 0.4891775, 0.1365995, 0.0106411]),
        }
    }
}

impl<E: Float, N: Dim, D: Device> Tensor<E, (N,), D> {
    /// A window with a size in the type: symmetric, or periodic, as transforms need it.
    ///
    /// PyTorch: `torch.signal.windows.*`; `torch.hann_window` and other older names are periodic by default.
    ///
    /// # Panics
    /// If a parameter is out of its range or memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, fft::Window, shape};
    /// assert_eq!(Tensor::<f32, shape![4]>::window(&Window::Hann, false).to_vec(), [0.0, 0.5, 1.0, 0.5]);
    /// ```
    #[fallible]
    pub fn window(window: &Window, symmetric: bool) -> Result<Self>
    where
        N: Known,
    {
        Self::try_window_sized(N::VALUE, window, symmetric)
    }

    /// [`window`](Self::window) of a size known at run time.
    ///
    /// # Panics
    /// As [`window`](Self::window), and if the size is not that of the type.
    ///
    /// ```
    /// use castiron::{Tensor, fft::Window, shape};
    /// let w: Tensor<f64, shape![_]> = Tensor::window_sized(3, &Window::Bartlett, true);
    /// assert_eq!(w.to_vec(), [0.0, 1.0, 0.0]);
    /// ```
    #[fallible]
    pub fn window_sized(n: usize, window: &Window, symmetric: bool) -> Result<Self> {
        let op = "window";
        expect_fit::<(N,)>(op, &[n])?;
        checked_numel::<f64>(op, &[n])?;
        let storage = D::build(None, || listed(window.weights(op, n, symmetric)?.into_iter().map(E::from_f64)))?;
        Ok(Self::dense(storage, [n]))
    }
}
