//! `logsumexp` of few elements for each result: by elementwise operations over the whole tensor, which are vectorised where a single result
//! has too few elements.

use crate::any::AnyTensor;
use crate::device::AnyDevice;
use crate::dtype::DType;
use crate::error::Result;

/// A reduction over fewer elements is not vectorised; a tensor must have more of them for this path to pay.
const FEW: usize = 12;
const WORTH: usize = 1024;

impl AnyTensor {
    /// Whether [`log_sum_exp_of_few`](Self::log_sum_exp_of_few) is faster for this number of results.
    pub(super) fn has_few(&self, results: usize) -> bool {
        let count = self.numel() / results.max(1);
        matches!(self.dtype, DType::F32 | DType::F64)
            && (2..FEW).contains(&count)
            && self.numel() >= WORTH
            && self.has_data()
            && self.device() == AnyDevice::CPU
    }

    /// `m + log(sum(exp(x - m)))`, where `m` is the largest element, or 0 if that is infinite.
    pub(super) fn log_sum_exp_of_few(&self, dims: Option<&[i64]>, keepdim: bool) -> Result<AnyTensor> {
        let largest = self.amax(dims, true)?;
        let largest = largest.masked_fill(&largest.isinf()?, 0)?;
        let sum = self.sub(&largest)?.exp()?.sum(dims, keepdim, None)?;
        sum.log()?.add(&largest.reshaped(&sum.signed_sizes())?)
    }
}
