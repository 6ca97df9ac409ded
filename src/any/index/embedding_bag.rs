//! `embedding_bag`.

use crate::any::base::by_width::same_dtype;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::same_device;
use crate::any::call::Bound;
use crate::any::{AnyTensor, Value};
use crate::device::Dynamic;
use crate::error::{Result, invalid, listed};
use crate::layout::strides;
use crate::tensor::{BagMode, Bags, bags};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The rows of this table at the indices, summed in bags (`torch.nn.functional.embedding_bag`, with its first two operands exchanged).
    /// Indices are a list with `offsets`, or a matrix with a bag in each row. Computed on the host.
    ///
    /// # Errors
    /// If an index is out of range, offsets do not ascend, weights are given for a mode other than the sum, or the dtype is no float.
    pub fn embedding_bag(
        &self,
        indices: &AnyTensor,
        offsets: Option<&AnyTensor>,
        mode: BagMode,
        weights: Option<&AnyTensor>,
        include_last: bool,
        padding: Option<i64>,
    ) -> Result<AnyTensor> {
        let op = "embedding_bag";
        if self.rank() != 2 {
            return invalid(op, format!("the table is a matrix, not of shape {:?}", self.shape()));
        }
        same_device(op, self, indices)?;
        let offsets = match (indices.rank(), offsets) {
            (1, Some(offsets)) => offsets.to_ints(op)?,
            (2, None) => listed((0..indices.sizes[0]).map(|row| (row * indices.sizes[1]) as i64))?,
            (1, None) => return invalid(op, "a list of indices has offsets".to_owned()),
            _ => return invalid(op, "indices are a list with offsets, or a matrix without".to_owned()),
        };
        if let Some(weights) = weights {
            same_dtype(op, self, weights)?;
            if weights.sizes != indices.sizes {
                return invalid(op, "there is one weight for each index".to_owned());
            }
        }
        let list = indices.as_index(op, true)?.to_ints(op)?;
        let how = Bags { offsets: &offsets, include_last, mode, padding };
        let (buffer, count) = dispatch_dtype!(op, self.dtype, E: Float => {
            let weights = weights.map(|weights| weights.as_erased::<E>()).transpose()?;
            bags::<E, Dynamic>(op, self.data_as(op)?, &list, weights.as_ref(), &how)
        })?;
        let sizes = [count, self.sizes[1]];
        Ok(AnyTensor::fresh(buffer, self.dtype, &sizes, &strides::row_major(&sizes)))
    }

    #[op(nn.functional.embedding_bag(input, weight, offsets, max_norm, norm_type, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx), dtypes = float, needs_elements)]
    fn embedding_bag_by_name(args: &Bound<'_>) -> Result<Value> {
        let mode = match args.read_or("mode", || "mean")? {
            "sum" => BagMode::Sum,
            "mean" => BagMode::Mean,
            "max" => BagMode::Max,
            other => return args.refused(format!("mode is sum, mean or max, got {other:?}")),
        };
        if args.is_given("max_norm") {
            return args.refused("`max_norm` changes the table: use `renorm` before".to_owned());
        }
        let (offsets, weights) = (args.read("offsets")?, args.read("per_sample_weights")?);
        let (last, padding) = (args.read_or("include_last_offset", || false)?, args.read("padding_idx")?);
        let table = args.tensor("weight")?;
        Ok(table.embedding_bag(args.tensor("input")?, offsets, mode, weights, last, padding)?.into())
    }
}
