//! Normalisation of channels by name that `normalize` lacks: `instance_norm`, `local_response_norm`.
//! Uses `reduce::normalize`, `tensor::reduce::channels`.

use crate::any::AnyTensor;
use crate::any::base::dispatch::dispatch_dtype;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::layout::strides;
use crate::tensor::{by_neighbours, expect_several};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Standardises each channel, those of the second axis, of each example (`torch.nn.functional.instance_norm`, where `eps` is 1e-5 if
    /// not given).
    ///
    /// # Errors
    /// If there are fewer than three axes, a channel has fewer than two elements, weights have another shape or a dtype that does not go
    /// with it, or the dtype is no float.
    pub fn instance_norm(&self, weight: Option<&AnyTensor>, bias: Option<&AnyTensor>, eps: f64) -> Result<AnyTensor> {
        let op = "instance_norm";
        let &[_, channels, ref rest @ ..] = &self.sizes[..] else {
            return invalid(op, format!("at least two axes are wanted, got {}", self.rank()));
        };
        expect_several(op, rest.iter().copied())?;
        self.group_norm(channels.max(1) as i64, weight, bias, eps)
    }

    /// With running statistics in place of those of the input it is `batch_norm`.
    #[op(nn.functional.instance_norm(input, running_mean = None, running_var = None, weight = None, bias = None, use_input_stats = true, momentum = _, eps = 1e-5), dtypes = float)]
    #[allow(clippy::too_many_arguments)]
    fn instance_norm_by_name(
        &self,
        mean: Option<&AnyTensor>,
        var: Option<&AnyTensor>,
        weight: Option<&AnyTensor>,
        bias: Option<&AnyTensor>,
        use_input: bool,
        eps: f64,
    ) -> Result<AnyTensor> {
        match (use_input, mean, var) {
            (true, ..) => self.instance_norm(weight, bias, eps),
            (false, Some(mean), Some(var)) => self.batch_norm(mean, var, weight, bias, eps),
            _ => invalid("instance_norm", "without statistics of the input there must be running ones".to_owned()),
        }
    }

    /// Divides by what the squares of `size` channels around each amount to (`torch.nn.functional.local_response_norm`, where `alpha` is
    /// 1e-4, `beta` 0.75 and `k` 1 if not given).
    ///
    /// # Errors
    /// If there are fewer than three axes, `size` is 0, or the dtype is neither a float nor `int64`.
    #[op(nn.functional.local_response_norm(input, size, alpha = 1e-4, beta = 0.75, k = 1.0), dtypes = "floats and int64")]
    pub fn local_response_norm(&self, size: usize, alpha: f64, beta: f64, k: f64) -> Result<AnyTensor> {
        let op = "local_response_norm";
        if self.rank() < 3 {
            return invalid(op, format!("at least three axes are wanted, got {}", self.rank()));
        }
        if self.dtype == DType::I64 && size > 0 && !self.is_empty() {
            // The mean of integers is one, rounded down.
            let squares = self.mul(self)?;
            let zeros = |channels: usize| {
                let mut sizes = self.shape().to_vec();
                sizes[1] = channels;
                self.zeros_like_device(&sizes, self.dtype)
            };
            let padded = crate::any::cat(&[zeros(size / 2)?, squares, zeros((size - 1) / 2)?], 1)?;
            let sums = padded.unfold(1, size, 1)?.sum(Some(&[-1]), false, None)?;
            let means = sums.floor_divide(size as i64)?;
            return self.div(means.mul(alpha)?.add(k)?.pow(beta)?);
        }
        let x = if self.dtype == DType::I64 { self.to(crate::dtype::default_dtype())? } else { self.clone() };
        let buffer = dispatch_dtype!(op, x.dtype, E: Float => {
            by_neighbours::<E, Dynamic>(op, x.elements_as()?, size, [alpha, beta, k])
        })?;
        Ok(AnyTensor::fresh(buffer, x.dtype, &x.sizes, &strides::row_major(&x.sizes)))
    }
}
