//! Type-level rules of transforms: numbers of frequencies and of samples, shapes, windows.

use crate::device::Device;
use crate::dtype::Element;
use crate::sealed::Sealed;
use crate::shape::{D1, D2, Dim, DivideBy, Dyn, HoldsAtLeast, InsertAxis, Known, SameRank, Sum};
use crate::tensor::{SameDevice, Tensor};

/// The number of frequencies of `Self` real samples: `n / 2 + 1`; the others are their conjugates.
///
/// ```
/// use castiron::{Dim, dim, fft::Frequencies};
/// assert_eq!(<<dim!(8) as Frequencies>::Output as Dim>::SIZE, Some(5));
/// ```
#[diagnostic::on_unimplemented(
    message = "a transform of `{Self}` real samples",
    label = "expected an axis of one sample or more, whose number the compiler can halve",
    note = "in generic code the bound is `N: fft::Frequencies`, or take `rfft_sized` and its kin, whose number of samples is known at run time"
)]
pub trait Frequencies: Sealed {
    /// The number of frequencies; `Dyn` if the number of samples is.
    type Output: Dim;
}
#[diagnostic::do_not_recommend]
impl<N: HoldsAtLeast<D1> + DivideBy<D2, Output = Half>, Half: Dim> Frequencies for N {
    type Output = Sum<Half, D1>;
}

/// The shape of a transform along several axes, of the same rank.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{S}` is not transformed to shape `{Self}`",
    label = "a transform has as many axes",
    note = "where a size is not known to the compiler it is written `_`"
)]
pub trait AsManyAxes<S>: Sealed {}
#[diagnostic::do_not_recommend]
impl<T: SameRank<S>, S> AsManyAxes<S> for T {}

/// A number of samples in the type, at least 1.
#[diagnostic::on_unimplemented(
    message = "a transform back to `{Self}` samples",
    label = "expected a number from 1 up",
    note = "the number of samples is written as a type, `irfft::<dim!(64), _>(…)`, or given at run time, `irfft_sized(…, 64, …)`; in generic code the bound is `N: fft::Samples`"
)]
pub trait Samples: Known {}
#[diagnostic::do_not_recommend]
impl<N: Known + HoldsAtLeast<D1>> Samples for N {}

/// The shape of the transform of frames of a signal of shape `Signal`: one axis more.
#[diagnostic::on_unimplemented(
    message = "`stft`: a signal of shape `{Signal}` is not transformed to shape `{Self}`",
    label = "`(…, T)` gives `(…, frequencies, frames)`: an axis more"
)]
pub trait FramesOf<Signal>: Sealed {}
#[diagnostic::do_not_recommend]
impl<T: SameRank<<S as InsertAxis<-1>>::Inserted<Dyn>>, S: InsertAxis<-1>> FramesOf<S> for T {}

/// The dtype of a window: that of the signal.
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

/// The window that [`stft`](Tensor::stft) multiplies frames by: `Some(&window)`, a tensor with one axis, or `None`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no window of dtype `{E}`",
    label = "expected `Some(&window)`, a tensor with one axis, or `None`",
    note = "windows are made by `Tensor::<{E}, shape![…]>::window(&Window::Hann, true)`; a view is passed as `Some(&*view)`"
)]
pub trait Weights<E: Element, W: Dim, D: Device>: Sealed {
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
