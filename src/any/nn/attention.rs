//! `scaled_dot_product_attention`.

use crate::any::AnyTensor;
use crate::any::base::by_width::same_dtype;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::elementwise::apply::same_device;
use crate::composite::nn::conv::Laid;
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::{DType, Dtype};
use crate::error::{Error, Result, invalid};
use crate::ops::arguments::Mask;
use crate::tensor::nn::attention::{Options, attend};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Attention (`torch.nn.functional.scaled_dot_product_attention`): for each query, `(…, L, E)`, the mean of the values, `(…, S, V)`,
    /// weighted by `softmax(query @ key.T * scale)` over the keys, `(…, S, E)`. A mask of bools says which keys a query attends to; a mask
    /// of the dtype is added to the scores. Without `scale` it is `1 / sqrt(E)`. With `enable_gqa` several query heads share one key head.
    ///
    /// # Errors
    /// If dtypes differ or are not floating, sizes do not match, dropout is not 0, or both a mask and `is_causal` are given.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (q, k) = (AnyTensor::from(tensor![[0.0, 1.0]]), AnyTensor::from(tensor![[1.0, 0.0], [2.0, 0.0]]));
    /// let y = q.scaled_dot_product_attention(&k, &AnyTensor::from(tensor![[10.0], [20.0]]), None, 0.0, false, None, false)?;
    /// assert_eq!(y.to_string(), "tensor([[15.]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(nn.functional.scaled_dot_product_attention(query, key, value, attn_mask = None, dropout_p = 0.0, is_causal = false, scale = None, enable_gqa = false), dtypes = float)]
    #[allow(clippy::too_many_arguments)]
    pub fn scaled_dot_product_attention(
        &self,
        key: &AnyTensor,
        value: &AnyTensor,
        mask: Option<&AnyTensor>,
        dropout: f64,
        is_causal: bool,
        scale: Option<f64>,
        shares_heads: bool,
    ) -> Result<AnyTensor> {
        let op = "scaled_dot_product_attention";
        for other in [key, value] {
            same_dtype(op, self, other)?;
            same_device(op, self, other)?;
        }
        if dropout != 0.0 {
            return invalid(
                op,
                format!("dropout of {dropout}: use `dropout` of the result of `softmax`, which takes a generator"),
            );
        }
        if let Some(mask) = mask {
            same_device(op, self, mask)?;
            if mask.dtype != DType::Bool && mask.dtype != self.dtype {
                let reason = format!("a mask is bool or {}", self.dtype);
                return Err(Error::NotAdmitted { op, dtype: mask.dtype, reason });
            }
        }
        fn run<E: Dtype>(
            operands: [&AnyTensor; 3],
            mask: Option<&AnyTensor>,
            is_causal: bool,
            scale: Option<f64>,
            shares_heads: bool,
        ) -> Result<Laid<DynamicBuffer>> {
            let mask = match mask {
                Some(mask) if mask.dtype == DType::Bool => Some(Mask::Seen(mask.elements_as()?)),
                Some(mask) => Some(Mask::Added(mask.elements_as()?)),
                None => None,
            };
            let [query, key, value] = operands;
            let views = [query.elements_as()?, key.elements_as()?, value.elements_as()?];
            attend::<E, Dynamic>(views, Options { mask, is_causal, scale, shares_heads })
        }
        let (buffer, sizes, strides) = dispatch_dtype!(op, self.dtype, E: Float => {
            run::<E>([self, key, value], mask, is_causal, scale, shares_heads)
        })?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &sizes, &strides))
    }
}
