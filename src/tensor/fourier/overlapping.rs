//! The typed `stft` and `istft`. Uses `fourier::frames`.

use super::erased::Spectral;
use super::frames::{self, Frames};
use crate::device::Device;
use crate::dtype::{Complex, Element};
use crate::error::{Result, listed};
use crate::shape::{Dim, Dyn, InsertAxis, SameRank, Shape};
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;

/// The shape of the transform of frames of a signal of shape `Signal`: an axis more.
#[diagnostic::on_unimplemented(
    message = "`stft`: a signal of shape `{Signal}` is not transformed to shape `{Self}`",
    label = "`(…, T)` gives `(…, frequencies, frames)`: an axis more"
)]
pub trait FramesOf<Signal> {}
#[diagnostic::do_not_recommend]
impl<T: SameRank<<S as InsertAxis<-1>>::Inserted<Dyn>>, S: InsertAxis<-1>> FramesOf<S> for T {}

/// The dtype of a window beside a signal's: the same.
#[diagnostic::on_unimplemented(
    message = "`stft`: a window of `{Window}` beside a signal of `{Self}`",
    label = "signal and window hold one dtype",
    note = "cast the window, `.to::<{Self}>()`, or make it a tensor of that dtype: `Tensor::<{Self}, shape![…]>::window(…)`"
)]
pub trait SameDtypeAsWindow<Window>: Element {
    #[doc(hidden)]
    fn known<W: Dim, D: Device>(window: &Tensor<Window, (W,), D>) -> &Tensor<Self, (W,), D>
    where
        Window: Element;
}
impl<E: Element> SameDtypeAsWindow<E> for E {
    fn known<W: Dim, D: Device>(window: &Tensor<E, (W,), D>) -> &Tensor<E, (W,), D> {
        window
    }
}

/// What [`stft`](Tensor::stft) multiplies frames by: `Some(&window)`, a tensor with one axis, or `None`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no window of dtype `{E}`",
    label = "expected `Some(&window)`, a tensor with one axis, or `None`",
    note = "windows are made by `Tensor::<{E}, shape![…]>::window(&Window::Hann, true)`; a view is passed as `Some(&*view)`"
)]
pub trait Weights<E: Element, W: Dim, D: Device> {
    /// The window, if there is one.
    #[doc(hidden)]
    fn given(&self) -> Option<&Tensor<E, (W,), D>>;
}
impl<E, F, W, X, D> Weights<E, W, D> for Option<&Tensor<F, (W,), X>>
where
    E: SameDtypeAsWindow<F>,
    F: Element,
    W: Dim + SameDevice<D, X>,
    X: Device,
    D: Device,
{
    fn given(&self) -> Option<&Tensor<E, (W,), D>> {
        self.map(|window| W::here(E::known(window)))
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Transforms of overlapping frames, `(…, T)` to `(…, frequencies, frames)`. The type says the result's shape, often `shape![_, _]`; without a
    /// window samples count as they are.
    ///
    /// PyTorch: `torch.stft` with `return_complex=True`.
    ///
    /// # Panics
    /// If the frames do not fit the signal, the window has another length than they say, the shape is another, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, Tensor, fft::{Frames, Window}, shape};
    /// let (x, w) = (Tensor::<f32, shape![16]>::ones(), Tensor::<f32, shape![8]>::window(&Window::Hann, false));
    /// let y: Tensor<Complex<f32>, shape![5, _]> = x.stft(Some(&w), &Frames::new(8));
    /// assert_eq!(y.shape(), [5, 9]);
    /// ```
    #[fallible]
    pub fn stft<T, W: Dim>(&self, window: impl Weights<E::Re, W, D>, frames: &Frames) -> Result<Tensor<E::Cx, T, D>>
    where
        E: Spectral,
        T: Shape + FramesOf<S>,
    {
        let weights = weights::<E, W, D>(window.given())?;
        frames::stft::<E, D>(self.elements(), weights, frames)?.typed("stft")
    }

    /// The signal whose [`stft`](Self::stft) this is: `(…, frequencies, frames)` to `(…, T)`. The type says the result's shape.
    ///
    /// PyTorch: `torch.istft`.
    ///
    /// # Panics
    /// If the frames do not fit, a sample is in no frame that weighs it, the shape is another, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, Tensor, fft::{Frames, Window}, shape};
    /// let (x, w) = (Tensor::<f64, shape![16]>::linspace(0.0, 1.0), Tensor::<f64, shape![8]>::window(&Window::Hann, false));
    /// let y: Tensor<Complex<f64>, shape![5, _]> = x.stft(Some(&w), &Frames::new(8));
    /// let z: Tensor<f64, shape![16]> = y.istft(Some(&w), &Frames::new(8), None);
    /// assert!(z.allclose(&x));
    /// ```
    #[fallible]
    pub fn istft<T: Shape, W: Dim>(
        &self,
        window: impl Weights<E::Re, W, D>,
        frames: &Frames,
        length: Option<usize>,
    ) -> Result<Tensor<E::Re, T, D>>
    where
        E: Spectral,
        S: FramesOf<T>,
    {
        let weights = weights::<E, W, D>(window.given())?;
        frames::istft::<E, D>(self.elements(), weights, frames, length, false)?.typed("istft")
    }
}

/// A window's elements; there are none to be read without data, and none are needed.
fn weights<E: Spectral, W: Dim, D: Device>(
    window: Option<&Tensor<E::Re, (W,), D>>,
) -> Result<Option<Vec<Complex<E::Re>>>> {
    let Some(window) = window else { return Ok(None) };
    if !D::has_data(window.storage()) {
        return crate::error::filled(num_traits::One::one(), window.numel()).map(Some);
    }
    listed(D::download(window.elements())?.into_iter().map(Spectral::wave)).map(Some)
}
