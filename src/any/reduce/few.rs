//! `logsumexp` of few elements at a time: by steps over all of them, which run on vectors, where the elements of one result are too
//! few for one.

use crate::any::AnyTensor;
use crate::device::AnyDevice;
use crate::dtype::DType;
use crate::error::Result;

/// Elements of one result that are too few for vectors, and of a tensor that are worth more than one step.
const FEW: usize = 12;
const WORTH: usize = 1024;

impl AnyTensor {
    /// Whether [`log_sum_exp_of_few`](Self::log_sum_exp_of_few) is faster with so many results.
    pub(super) fn has_few(&self, results: usize) -> bool {
        let count = self.numel() / results.max(1);
        matches!(self.dtype, DType::F32 | DType::F64)
            && (2..FEW).contains(&count)
            && self.numel() >= WORTH
            && self.has_data()
            && self.device() == AnyDevice::CPU
    }

    /// The logarithm of the sum of exponentials below the largest element, and that element, unless it is infinite.
    pub(super) fn log_sum_exp_of_few(&self, dims: Option<&[i64]>, keepdim: bool) -> Result<AnyTensor> {
        let largest = self.amax(dims, true)?;
        let largest = largest.masked_fill(&largest.isinf()?, 0)?;
        let sum = self.sub(&largest)?.exp()?.sum(dims, keepdim, None)?;
        sum.log()?.add(&largest.reshaped(&sum.signed_sizes())?)
    }
}
