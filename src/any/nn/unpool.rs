//! What `AnyTensor` has of `max_unpool` and `lp_pool` alone: sizes and calls by name.

use super::conv::each;
use super::pool::PoolOptions;
use crate::any::base::operand::same_device;
use crate::any::call::Bound;
use crate::any::{AnyTensor, Value};
use crate::composite::nn::unpool::sizes_before;
use crate::dtype::DType;
use crate::error::{Error, Result};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Checks the dtype and the device of the indices of pooled values.
    pub(crate) fn expect_index(&self, op: &'static str, index: &AnyTensor) -> Result<()> {
        same_device(op, self, index)?;
        if index.dtype == DType::I64 {
            return Ok(());
        }
        Err(Error::NotAdmitted { op, dtype: index.dtype, reason: "indices are int64".to_owned() })
    }

    /// The sizes before pooling, of the last axes.
    pub(crate) fn places_before(
        &self,
        op: &'static str,
        axes: usize,
        options: &PoolOptions,
        to: Option<&[i64]>,
    ) -> Result<Vec<usize>> {
        let windows = options.windows(op, axes)?;
        let given =
            to.map(|to| each(op, "output_size", if to.len() == axes + 2 { &to[2..] } else { to }, axes)).transpose()?;
        sizes_before(op, &self.sizes, &windows, given.as_deref())
    }

    #[each(RANK = 1 2 3)]
    #[op(nn.functional.lp_poolRANKd(input, norm_type, kernel_size, stride, ceil_mode), dtypes = float)]
    fn lp_poolRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        Ok(args.tensor("input")?.lp_poolRANKd(args.read("norm_type")?, &PoolOptions::without_padding(args)?)?.into())
    }

    #[each(RANK = 1 2 3)]
    #[op(nn.functional.max_unpoolRANKd(input, indices, kernel_size, stride, padding, output_size), dtypes = float)]
    fn max_unpoolRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        let to: Option<Vec<i64>> = args.read("output_size")?;
        let (x, options) = (args.tensor("input")?, PoolOptions::without_rounding(args)?);
        Ok(x.max_unpoolRANKd(args.tensor("indices")?, &options, to.as_deref())?.into())
    }
}
