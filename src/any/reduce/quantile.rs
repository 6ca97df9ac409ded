//! `quantile` and `nanquantile`. Uses `tensor::reduce::quantile`.

use crate::any::AnyTensor;
use crate::any::base::as_typed::Rank3;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::AnyOperand;
use crate::any::view::views::axis;
use crate::device::{Backend as _, Dynamic};
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result, filled, listed};
use crate::storage::View;
use crate::tensor::{Interpolation, quantiles};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The elements that shares `q` of those along an axis, or of all, are below (`torch.quantile`); `ignores_nan` leaves NaN out
    /// (`torch.nanquantile`). `q` is a scalar, or a list in the dtype of the tensor, along a new first axis.
    ///
    /// # Errors
    /// If a share is not between 0 and 1, the axis is out of range, there are no elements, or the dtype is neither `float32` nor
    /// `float64`.
    ///
    /// ```
    /// use castiron::{AnyTensor, Interpolation, tensor};
    /// let x = AnyTensor::from(tensor![1.0, 2.0, 4.0]);
    /// assert_eq!(x.quantile(0.75, None, false, Interpolation::Linear, false)?.to_string(), "tensor(3.)");
    /// let shares = AnyTensor::from(tensor![0.0, 0.75]);
    /// assert_eq!(x.quantile(shares, Some(0), false, Interpolation::Lower, false)?.to_string(), "tensor([1., 2.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "percentile")]
    pub fn quantile(
        &self,
        q: impl Into<AnyOperand>,
        dim: Option<i64>,
        keepdim: bool,
        how: Interpolation,
        ignores_nan: bool,
    ) -> Result<AnyTensor> {
        let op = if ignores_nan { "nanquantile" } else { "quantile" };
        let invalid = |reason: String| Err(Error::InvalidArgument { op, reason });
        let (shares, is_list) = match q.into() {
            AnyOperand::Number(q) => (vec![q.real_part()], false),
            AnyOperand::Array(q) if q.dtype != self.dtype => {
                return invalid(format!("`q` must have the dtype of the tensor, {}, got {}", self.dtype, q.dtype));
            }
            AnyOperand::Array(q) if q.rank() > 1 => {
                return invalid(format!("`q` is a scalar or a list, got a tensor with {} axes", q.rank()));
            }
            // On the meta device there are no data: only the number of quantiles matters.
            AnyOperand::Array(q) if !q.has_data() => (filled(0.0, q.numel())?, q.rank() == 1),
            AnyOperand::Array(q) => (listed(q.to_scalars()?.into_iter().map(ScalarValue::real_part))?, q.rank() == 1),
        };
        let mut sizes: Vec<i64> = self.sizes.iter().map(|&size| size as i64).collect();
        let (x, at) = match dim {
            Some(dim) => (self.clone(), axis(op, dim, self.rank())?),
            None => (self.reshaped(&[self.numel() as i64])?, 0),
        };
        match dim {
            Some(_) if sizes.is_empty() => {}
            Some(_) if keepdim => sizes[at] = 1,
            Some(_) => drop(sizes.remove(at)),
            None if keepdim => sizes.fill(1),
            None => sizes.clear(),
        }
        let (cube, count) = (x.as_three_axes(at)?, shares.len());
        let found = dispatch_dtype!(op, self.dtype, E: [f32, f64] => {
            let x = cube.typed_rank3::<E, Dynamic>()?;
            let (x, count) = (x.elements(), [count]);
            let q = Dynamic::build(Some(x.buffer), || Ok(shares))?;
            let (storage, sizes) = quantiles::<E, Dynamic>(op, x, View::new(&q, 0, &count, &[1]), 1, how, ignores_nan)?;
            let sizes = [sizes[0], sizes[1], sizes[2]];
            Ok(AnyTensor::from(crate::Tensor::<E, Rank3, Dynamic>::dense(storage, sizes)))
        })?;
        if is_list {
            sizes.insert(0, count as i64);
        }
        found.movedim(&[1], &[0])?.reshaped(&sizes)
    }

    #[op(
        quantile(input, q, dim = None, keepdim = false, interpolation = Interpolation::Linear),
        dtypes = "float32 and float64"
    )]
    fn quantile_by_name(
        &self,
        q: AnyOperand,
        dim: Option<i64>,
        keepdim: bool,
        interpolation: Interpolation,
    ) -> Result<AnyTensor> {
        self.quantile(q, dim, keepdim, interpolation, false)
    }

    #[op(
        nanquantile(input, q, dim = None, keepdim = false, interpolation = Interpolation::Linear),
        dtypes = "float32 and float64"
    )]
    fn nanquantile_by_name(
        &self,
        q: AnyOperand,
        dim: Option<i64>,
        keepdim: bool,
        interpolation: Interpolation,
    ) -> Result<AnyTensor> {
        self.quantile(q, dim, keepdim, interpolation, true)
    }
}
