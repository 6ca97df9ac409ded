//! `im2col` and `col2im`, by name `nn.functional.unfold` and `nn.functional.fold`.

use super::conv::{each, numbers};
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::{AnyTensor, PoolOptions, Value};
use crate::device::Dynamic;
use crate::error::Result;
use crate::tensor::nn::patches::{cut, sum_of};
use castiron_macros::operations;

impl AnyTensor {
    fn cut_by(&self, op: &'static str, options: &PoolOptions) -> Result<AnyTensor> {
        let windows = options.windows(op, 2)?;
        let (buffer, sizes, strides) = dispatch_dtype!(
            op, self.dtype,
            E: [bool, crate::f16, crate::bf16, f32, f64, crate::Complex<crate::f16>, crate::Complex<f32>, crate::Complex<f64>]
                => cut::<E, Dynamic>(op, self.elements_as()?, &windows)
        )?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &sizes, &strides))
    }

    fn summed_of(&self, op: &'static str, image: &[i64], options: &PoolOptions) -> Result<AnyTensor> {
        let (windows, image) = (options.windows(op, 2)?, each(op, "output_size", image, 2)?);
        let (buffer, sizes, strides) = dispatch_dtype!(
            op, self.dtype,
            E: [bool, crate::f16, crate::bf16, f32, f64, crate::Complex<crate::f16>, crate::Complex<f32>, crate::Complex<f64>]
                => sum_of::<E, Dynamic>(op, self.elements_as()?, &windows, &image)
        )?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &sizes, &strides))
    }

    fn patch_options(args: &Bound<'_>) -> Result<PoolOptions> {
        let options = PoolOptions::new(&numbers(args, "kernel_size", 1)?).stride(&numbers(args, "stride", 1)?);
        Ok(options.padding(&numbers(args, "padding", 0)?).dilation(&numbers(args, "dilation", 1)?))
    }
}

#[operations]
impl AnyTensor {
    /// The patches of images under a sliding window, as columns (`torch.nn.functional.unfold`): `(N, C, H, W)` or `(C, H, W)` becomes `(N,
    /// C * kernel positions, window positions)`. The default stride is the size of the window.
    ///
    /// # Errors
    /// If the window does not fit, an axis other than the batch is empty, or the dtype is an integer.
    ///
    /// ```
    /// use castiron::any::PoolOptions;
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]]);
    /// let y = x.im2col(&PoolOptions::new(&[2]).stride(&[1]))?;
    /// assert_eq!(y.t()?.to_string(), "tensor([[1., 2., 4., 5.],\n        [2., 3., 5., 6.]])");
    /// assert_eq!(y.col2im(&[2, 3], &PoolOptions::new(&[2]).stride(&[1]))?.to_string(), "tensor([[[ 1.,  4.,  3.],\n         [ 4., 10.,  6.]]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn im2col(&self, options: &PoolOptions) -> Result<AnyTensor> {
        self.cut_by("im2col", options)
    }

    /// Images from patches as columns, summed where they overlap (`torch.nn.functional.fold`): the inverse operation of
    /// [`im2col`](Self::im2col).
    ///
    /// # Errors
    /// If the numbers of columns or rows do not match the windows, or the dtype is an integer.
    pub fn col2im(&self, sizes: &[i64], options: &PoolOptions) -> Result<AnyTensor> {
        self.summed_of("col2im", sizes, options)
    }

    #[op(nn.functional.unfold(input, kernel_size, dilation, padding, stride), dtypes = "bool, floats and complex")]
    fn im2col_by_name(args: &Bound<'_>) -> Result<Value> {
        Ok(args.tensor("input")?.cut_by(args.op, &AnyTensor::patch_options(args)?)?.into())
    }
    #[op(nn.functional.fold(input, output_size, kernel_size, dilation, padding, stride), dtypes = "bool, floats and complex")]
    fn col2im_by_name(args: &Bound<'_>) -> Result<Value> {
        let image = args.read::<Vec<i64>>("output_size")?;
        Ok(args.tensor("input")?.summed_of(args.op, &image, &AnyTensor::patch_options(args)?)?.into())
    }
}
