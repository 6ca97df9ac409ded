//! The order of frequencies: `fftshift`, `ifftshift`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{AxisArg, HasAxis};
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Frequencies in ascending order, 0 in the middle. For `AnyTensor` along all axes if none are given.
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    #[op(fft.fftshift(input, dim = None), dtypes = any)]
    #[any(by_width, dims(dim: Option<&[i64]>) = &self.axes_or_all("fft.fftshift", dim)?)]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>) -> Self
        where
            S: HasAxis<I>;
        dims = { let _ = axis; &[<S as HasAxis<I>>::INDEX] })]
    #[example(let x = tensor![0, 1, 2, -2, -1]; x.fftshift(axis![0]), x.fftshift(None), tensor![-2, -1, 0, 1, 2])]
    pub(crate) fn fftshift(&self, dims: &[usize]) -> Result<Owned<E, D>> {
        self.shifted_by("fft.fftshift", dims, |n| n / 2)
    }

    /// The opposite of [`fftshift`](Self::fftshift).
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    #[op(fft.ifftshift(input, dim = None), dtypes = any)]
    #[any(by_width, dims(dim: Option<&[i64]>) = &self.axes_or_all("fft.ifftshift", dim)?)]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>) -> Self
        where
            S: HasAxis<I>;
        dims = { let _ = axis; &[<S as HasAxis<I>>::INDEX] })]
    #[example(let x = tensor![-2, -1, 0, 1, 2]; x.ifftshift(axis![0]), x.ifftshift(None), tensor![0, 1, 2, -2, -1])]
    pub(crate) fn ifftshift(&self, dims: &[usize]) -> Result<Owned<E, D>> {
        self.shifted_by("fft.ifftshift", dims, |n| n.div_ceil(2))
    }

    fn shifted_by(&self, op: &'static str, dims: &[usize], by: impl Fn(usize) -> usize) -> Result<Owned<E, D>> {
        let shift = |at: usize| self.sizes().get(at).map_or(0, |&size| by(size) as i64);
        self.shifted(op, dims.iter().map(|&at| (at, shift(at))))
    }
}
