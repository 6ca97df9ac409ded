//! Medians: `median` and `nanmedian`, over all elements and along an axis.

use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::dims::Dims;
use crate::ops::admit::RealFor;
use crate::ops::arguments::Order;
use crate::ops::choosing;
use crate::shape::{OneAxis, Shape};
use crate::tensor::Tensor;
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The median, the lower one of two middle elements, as a zero-dim tensor. NaN if there is one. Without elements it is NaN for floats
    /// and an error for integers.
    ///
    /// # Errors
    /// If there are no elements.
    #[op(median, dtypes = real)]
    #[any(by_hand)]
    #[typed((&self) -> Tensor<E, (), D>
        where
            E: RealFor<choosing::median>)]
    #[example(let x = tensor![[4, 1], [3, 2]]; x.median().item(), x.median(false), 2)]
    pub(crate) fn median(&self) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.median_of_all("median", false)
    }

    /// The medians along an axis, the lower one of two middle elements, and their indices. NaN if there is one.
    ///
    /// Shape: that of `self` without the axis, twice; the indices are `i64`.
    ///
    /// # Errors
    /// If the axis is empty.
    #[op(median, dtypes = real)]
    #[any(by_hand)]
    #[typed(<A: OneAxis<S, Reduced = T>, T: Shape>(&self, axis: A) -> (Tensor<E, T, D>, Tensor<i64, T, D>)
        where
            E: RealFor<choosing::median>;
        keepdim = A::KEEPS)]
    #[example(let x = tensor![[3, 7, 5], [1, 1, 2]]; x.median_axis(axis![1]).0, x.median_axis(1, false, false).0, tensor![5, 1])]
    #[example(let x = tensor![[3, 7, 5], [1, 1, 2]]; x.median_axis(axis![1]).1, x.median_axis(1, false, false).1, tensor![2, 1])]
    pub(crate) fn median_axis(&self, dim: Axis, keepdim: bool) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        self.ranked("median", Order::Median { ignores_nan: false }, dim, keepdim)
    }

    /// The median, the lower one of two middle elements, as a zero-dim tensor. NaN is ignored, unless there is nothing else. Without
    /// elements it is NaN for floats and an error for integers.
    ///
    /// # Errors
    /// If there are no elements.
    #[op(nanmedian, dtypes = real)]
    #[any(by_hand)]
    #[typed((&self) -> Tensor<E, (), D>
        where
            E: RealFor<choosing::nanmedian>)]
    #[example(let x = tensor![4.0, f32::NAN, 3.0]; x.nanmedian().item(), x.median(true), 3.0)]
    pub(crate) fn nanmedian(&self) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.median_of_all("nanmedian", true)
    }

    /// The medians along an axis, the lower one of two middle elements, and their indices. NaN is ignored, unless there is nothing else.
    ///
    /// Shape: that of `self` without the axis, twice; the indices are `i64`.
    ///
    /// # Errors
    /// If the axis is empty.
    #[op(nanmedian, dtypes = real)]
    #[any(by_hand)]
    #[typed(<A: OneAxis<S, Reduced = T>, T: Shape>(&self, axis: A) -> (Tensor<E, T, D>, Tensor<i64, T, D>)
        where
            E: RealFor<choosing::nanmedian>;
        keepdim = A::KEEPS)]
    #[example(let x = tensor![[3.0, f32::NAN, 5.0], [1.0, 1.5, 2.0]]; x.nanmedian_axis(axis![1]).0, x.median_axis(1, false, true).0, tensor![3.0, 1.5])]
    pub(crate) fn nanmedian_axis(&self, dim: Axis, keepdim: bool) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        self.ranked("nanmedian", Order::Median { ignores_nan: true }, dim, keepdim)
    }

    fn median_of_all(&self, op: &'static str, ignores_nan: bool) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        if self.is_empty() && E::DTYPE.is_floating_point() {
            let nan = D::fill(Some(self.storage()), E::from_f64(f64::NAN), 1)?;
            return Ok(Erased::dense(nan, Dims::known(&[])));
        }
        if self.is_empty() {
            return Err(Error::EmptyReduction { op, sizes: self.sizes().into() });
        }
        self.expect_memory()?;
        let list = self.reshape(op, &[self.numel()])?;
        let [values, _] = D::order(Order::Median { ignores_nan }, list.view(), 0)?;
        Ok(Erased::dense(values, Dims::known(&[])))
    }
}
