//! Transforms along several axes: `fftn`, `ifftn`, `rfftn`, `irfftn`.

use super::lanes::{Step, Transform};
use super::signal::{Direction, Norm, RealSignal, Spectral};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, listed};
use crate::shape::{Axes, Shape};
use crate::tensor::Tensor;
use crate::tensor::fourier::AsManyAxes;
use castiron_macros::composites;

/// The axes in a type, with their sizes; the last one has size `last` if given. (A zero-dim tensor has none.)
fn axes_of<S: Shape, A: Axes<S>>(_: A, sizes: &[usize], last: Option<usize>) -> Result<Vec<(usize, usize)>> {
    let mut axes = listed(A::LIST.iter().filter_map(|&at| Some((at, *sizes.get(at)?))))?;
    if let (Some((_, n)), Some(last)) = (axes.last_mut(), last) {
        *n = last;
    }
    Ok(axes)
}

#[composites]
impl<E: Spectral, D: Device> Erased<'_, E, D> {
    /// [`fft`](Self::fft) along several axes.
    ///
    /// For `AnyTensor` without axes they are all of them, or with lengths `s` one of the last axes for each length; -1 is the size of the
    /// axis.
    ///
    /// # Errors
    /// If an axis has no elements or is named twice.
    #[op(fft.fftn(input, s = None, dim = None, norm = None), dtypes = spectral)]
    #[any([self] = [self.as_signal("fft.fftn")?], axes(s: Option<&[i64]>, dim: Option<&[i64]>) = &self.axes_and_lengths("fft.fftn", s, dim, false)?, norm: Option<&str> = Norm::named("fft.fftn", norm)?)]
    #[typed(<A: Axes<S>, Cx: Element>(&self, axes: A, norm: Norm) -> Tensor<Cx, S, D>
        where
            E: Spectral<Cx = Cx>;
        axes = &axes_of::<S, A>(axes, self.shape().as_ref(), None)?)]
    #[example(let x = tensor![[1.0, 0.0]]; x.fftn(axis![0, 1], Norm::Backward), x.fftn(None, None, None), tensor![[Complex::new(1.0_f32, 0.0), Complex::new(1.0, 0.0)]])]
    pub(crate) fn fftn(&self, axes: &[(usize, usize)], norm: Norm) -> Result<Owned<E::Cx, D>> {
        let op = "fft.fftn";
        self.all_to_complex(Transform { op, direction: Direction::Forward, norm }, Step::Complex, axes)
    }

    /// [`ifft`](Self::ifft) along several axes.
    ///
    /// For `AnyTensor` without axes they are all of them, or with lengths `s` one of the last axes for each length; -1 is the size of the
    /// axis.
    ///
    /// # Errors
    /// If an axis has no elements or is named twice.
    #[op(fft.ifftn(input, s = None, dim = None, norm = None), dtypes = spectral)]
    #[any([self] = [self.as_signal("fft.ifftn")?], axes(s: Option<&[i64]>, dim: Option<&[i64]>) = &self.axes_and_lengths("fft.ifftn", s, dim, false)?, norm: Option<&str> = Norm::named("fft.ifftn", norm)?)]
    #[typed(<A: Axes<S>, Cx: Element>(&self, axes: A, norm: Norm) -> Tensor<Cx, S, D>
        where
            E: Spectral<Cx = Cx>;
        axes = &axes_of::<S, A>(axes, self.shape().as_ref(), None)?)]
    #[example(let x = tensor![[2.0, 0.0]]; x.ifftn(axis![0, 1], Norm::Backward), x.ifftn(None, None, None), tensor![[Complex::new(1.0_f32, 0.0), Complex::new(1.0, 0.0)]])]
    pub(crate) fn ifftn(&self, axes: &[(usize, usize)], norm: Norm) -> Result<Owned<E::Cx, D>> {
        let op = "fft.ifftn";
        self.all_to_complex(Transform { op, direction: Direction::Inverse, norm }, Step::Complex, axes)
    }

    /// [`rfft`](Self::rfft) along the last of several axes, [`fft`](Self::fft) along the others. The type of a `Tensor` has the result's
    /// shape, in which the last of these axes has `n / 2 + 1` elements.
    ///
    /// For `AnyTensor` without axes they are all of them, or with lengths `s` one of the last axes for each length; -1 is the size of the
    /// axis.
    ///
    /// # Errors
    /// If an axis has no elements or is named twice, or there is none.
    #[op(fft.rfftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32 and float64", over = [f32, f64])]
    #[any([self] = [self.as_real_signal("fft.rfftn")?], axes(s: Option<&[i64]>, dim: Option<&[i64]>) = &self.axes_and_lengths("fft.rfftn", s, dim, false)?, norm: Option<&str> = Norm::named("fft.rfftn", norm)?)]
    #[typed(<T, A: Axes<S>>(&self, axes: A, norm: Norm) -> Tensor<E::Cx, T, D>
        where
            E: RealSignal,
            T: Shape + AsManyAxes<S>;
        axes = &axes_of::<S, A>(axes, self.shape().as_ref(), None)?)]
    #[example(let x = tensor![[1.0, 0.0]]; x.rfftn::<shape![1, 2], _>(axis![0, 1], Norm::Backward), x.rfftn(None, None, None), tensor![[Complex::new(1.0_f32, 0.0), Complex::new(1.0, 0.0)]])]
    pub(crate) fn rfftn(&self, axes: &[(usize, usize)], norm: Norm) -> Result<Owned<E::Cx, D>>
    where
        E: RealSignal,
    {
        let op = "fft.rfftn";
        self.all_to_complex(Transform { op, direction: Direction::Forward, norm }, Step::Real, axes)
    }

    /// [`irfft`](Self::irfft) along the last of several axes, to `n` real samples, [`ifft`](Self::ifft) along the others. The type of a
    /// `Tensor` has the result's shape.
    ///
    /// For `AnyTensor` without axes they are all of them, or with lengths `s` one of the last axes for each length; -1 is the size of the
    /// axis.
    ///
    /// # Errors
    /// If an axis has no elements or is named twice, or there is none.
    #[op(fft.irfftn(input, s = None, dim = None, norm = None), dtypes = spectral)]
    #[any([self] = [self.as_signal("fft.irfftn")?], axes(s: Option<&[i64]>, dim: Option<&[i64]>) = &self.axes_and_lengths("fft.irfftn", s, dim, true)?, norm: Option<&str> = Norm::named("fft.irfftn", norm)?)]
    #[typed(<T, A: Axes<S>>(&self, axes: A, n: usize, norm: Norm) -> Tensor<E::Re, T, D>
        where
            E: Spectral,
            T: Shape + AsManyAxes<S>;
        axes = &axes_of::<S, A>(axes, self.shape().as_ref(), Some(n))?)]
    #[example(let x = tensor![[2.0, 2.0]]; x.irfftn::<shape![1, 2], _>(axis![0, 1], 2, Norm::Backward), x.irfftn(None, None, None), tensor![[2.0, 0.0]])]
    pub(crate) fn irfftn(&self, axes: &[(usize, usize)], norm: Norm) -> Result<Owned<E::Re, D>> {
        let op = "fft.irfftn";
        self.all_to_real(Transform { op, direction: Direction::Inverse, norm }, axes)
    }
}
