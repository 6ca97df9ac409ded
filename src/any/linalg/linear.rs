//! `linear` and `bilinear`: weights applied to the last axis.
//! Uses `linalg::matmul`, `base::by_width`.

use crate::any::AnyTensor;
use crate::any::base::by_width::{invalid, same_dtype, signed};
use crate::any::linalg::matmul::{expect_numbers, product, widened};
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// `self @ weight.t() + bias` along the last axis (`torch.nn.functional.linear`).
    ///
    /// # Errors
    /// If dtypes differ or are bool, sizes do not match, or the bias does not expand to the result.
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

    /// `self @ weight[o] @ other` along the last axes for each output `o`, and a bias (`torch.nn.functional.bilinear`).
    ///
    /// # Errors
    /// If dtypes differ or are bool, or sizes do not match.
    #[op(nn.functional.bilinear(input1, input2, weight, bias = None), dtypes = numeric)]
    pub fn bilinear(&self, other: &AnyTensor, weight: &AnyTensor, bias: Option<&AnyTensor>) -> Result<AnyTensor> {
        let op = "bilinear";
        same_dtype(op, self, other)?;
        same_dtype(op, self, weight)?;
        expect_numbers(op, self.dtype)?;
        let (Some((&k, leading)), Some((&j, others)), &[outputs, rows, columns]) =
            (self.sizes.split_last(), other.sizes.split_last(), &*weight.sizes)
        else {
            return invalid(op, "two tensors of rows and a weight with three axes are wanted".to_owned());
        };
        if leading != others || k != rows || j != columns {
            let reason =
                format!("the shapes {:?}, {:?} and {:?} do not match", self.shape(), other.shape(), weight.shape());
            return invalid(op, reason);
        }
        let (count, wide) = (leading.iter().product::<usize>() as i64, widened(self.dtype));
        let [k, j, o] = [k as i64, j as i64, outputs as i64];
        let left = self.to(wide)?.reshaped(&[count, k])?;
        let weights = weight.to(wide)?.permute(&[1, 0, 2])?.reshaped(&[k, o * j])?;
        let inner = product(op, &left, &weights, None)?.reshaped(&[count, o, j])?;
        let right = other.to(wide)?.reshaped(&[count, j, 1])?;
        let result =
            product(op, &inner, &right, None)?.to(self.dtype)?.reshaped(&signed(&[leading, &[outputs]].concat()))?;
        match bias {
            Some(bias) => {
                same_dtype(op, self, bias)?;
                result.add(bias)
            }
            None => Ok(result),
        }
    }
}
