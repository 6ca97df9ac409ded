//! `im2col` and `col2im` by name: `nn.functional.unfold` and `nn.functional.fold`.

use super::conv::{each, numbers};
use crate::any::call::Bound;
use crate::any::{AnyTensor, PoolOptions, Value};
use crate::error::Result;
use castiron_macros::operations;

impl PoolOptions {
    /// The sizes of an image: one number for both, or two.
    pub(crate) fn image(&self, op: &'static str, sizes: &[i64]) -> Result<Vec<usize>> {
        each(op, "output_size", sizes, 2)
    }

    fn of_patches(args: &Bound<'_>) -> Result<PoolOptions> {
        let options = PoolOptions::new(&numbers(args, "kernel_size", 1)?).stride(&numbers(args, "stride", 1)?);
        Ok(options.padding(&numbers(args, "padding", 0)?).dilation(&numbers(args, "dilation", 1)?))
    }
}

#[operations]
impl AnyTensor {
    #[op(nn.functional.unfold(input, kernel_size, dilation, padding, stride), dtypes = "bool, floats and complex")]
    fn im2col_by_name(args: &Bound<'_>) -> Result<Value> {
        Ok(args.tensor("input")?.im2col(&PoolOptions::of_patches(args)?)?.into())
    }
    #[op(nn.functional.fold(input, output_size, kernel_size, dilation, padding, stride), dtypes = "bool, floats and complex")]
    fn col2im_by_name(args: &Bound<'_>) -> Result<Value> {
        let image = args.read::<Vec<i64>>("output_size")?;
        Ok(args.tensor("input")?.col2im(&image, &PoolOptions::of_patches(args)?)?.into())
    }
}
