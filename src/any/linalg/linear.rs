//! `linear` and `bilinear`: weights applied to the last axis.

use crate::any::AnyTensor;
use crate::any::base::by_width::{invalid, same_dtype, signed};
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::elementwise::apply::same_device;
use crate::any::linalg::matmul::product;
use crate::device::Dynamic;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};
use crate::tensor::bilinear;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// `self @ weight.t() + bias` along the last axis (`torch.nn.functional.linear`).
    ///
    /// # Errors
    /// If dtypes differ or are bool, sizes do not match, or the bias does not expand to the result.
    #[doc(alias = "dense")]
    #[doc(alias = "fully_connected")]
    #[op(nn.functional.linear(input, weight, bias = None), dtypes = numeric)]
    pub fn linear(&self, weight: &AnyTensor, bias: Option<&AnyTensor>) -> Result<AnyTensor> {
        let op = "linear";
        if weight.rank() == 1 && bias.is_none() {
            return product(op, self, weight, None);
        }
        let (Some((&k, leading)), &[n, columns]) = (self.sizes.split_last(), &*weight.sizes) else {
            let reason = format!("shapes {:?} and {:?} are no rows and no matrix", self.shape(), weight.shape());
            return invalid(op, reason);
        };
        if k != columns {
            let (lhs, rhs) = (self.shape().into(), weight.shape().into());
            return Err(Error::MatMul { lhs, rhs, columns: k, rows: columns });
        }
        let count: usize = leading.iter().product();
        let (rows, turned) = (self.reshaped(&[count as i64, k as i64])?, weight.transpose(0, 1)?);
        let one = [ScalarValue::Int(1); 2];
        let result = product(op, &rows, &turned, bias.map(|bias| (bias, one)))?;
        result.reshaped(&signed(&[leading, &[n]].concat()))
    }

    /// `self @ weight[o] @ other` along the last axes for each output `o`, plus a bias (`torch.nn.functional.bilinear`).
    ///
    /// # Errors
    /// If dtypes differ or are bool, or sizes do not match.
    #[op(nn.functional.bilinear(input1, input2, weight, bias = None), dtypes = numeric, aliases("bilinear"))]
    pub fn bilinear(&self, other: &AnyTensor, weight: &AnyTensor, bias: Option<&AnyTensor>) -> Result<AnyTensor> {
        let op = "bilinear";
        for other in [other, weight].into_iter().chain(bias) {
            same_dtype(op, self, other)?;
            same_device(op, self, other)?;
        }
        let buffer = dispatch_dtype!(op, self.dtype, E: Numeric => {
            let bias = bias.map(|bias| bias.elements_as::<E>()).transpose()?;
            bilinear::<E, Dynamic>(self.elements_as()?, other.elements_as()?, weight.elements_as()?, bias)
        })?;
        let mut sizes = self.sizes;
        if let (Some(last), Some(&outputs)) = (sizes.last_mut(), weight.sizes.first()) {
            *last = outputs;
        }
        Ok(AnyTensor::fresh_row_major(buffer, self.dtype, sizes))
    }
}
