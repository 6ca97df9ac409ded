//! `max_unpool` and `lp_pool` over one, two and three axes.

use super::conv::each;
use super::pool::PoolOptions;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::elementwise::apply::same_device;
use crate::any::{AnyTensor, Value};
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::nn::pooling::Pooling;
use crate::tensor::nn::unpool::{norms, sizes_before, unpooled};
use castiron_macros::operations;

impl AnyTensor {
    fn norm_of_windows(&self, op: &'static str, axes: usize, norm: f64, options: &PoolOptions) -> Result<AnyTensor> {
        let windows = options.windows(op, axes)?;
        let pooling = Pooling { op, windows: &windows, rounds_up: options.rounds_up() };
        let (buffer, sizes, strides) =
            dispatch_dtype!(op, self.dtype, E: Float => norms::<E, Dynamic>(pooling, self.elements_as()?, norm))?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &sizes, &strides))
    }

    fn put_back(
        &self,
        op: &'static str,
        axes: usize,
        index: &AnyTensor,
        options: &PoolOptions,
        to: Option<&[i64]>,
    ) -> Result<AnyTensor> {
        same_device(op, self, index)?;
        if index.dtype != DType::I64 {
            return Err(Error::NotAdmitted { op, dtype: index.dtype, reason: "indices are int64".to_owned() });
        }
        let windows = options.windows(op, axes)?;
        let given =
            to.map(|to| each(op, "output_size", if to.len() == axes + 2 { &to[2..] } else { to }, axes)).transpose()?;
        let places = sizes_before(op, &self.sizes, &windows, given.as_deref())?;
        let (buffer, sizes, strides) = dispatch_dtype!(
            op, self.dtype, E: Float => unpooled::<E, Dynamic>(op, self.elements_as()?, index.elements_as()?, &places)
        )?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &sizes, &strides))
    }

    fn norm_of_windows_by_name(args: &Bound<'_>, axes: usize) -> Result<Value> {
        let norm: f64 = args.read("norm_type")?;
        let options = PoolOptions::without_padding(args)?;
        Ok(args.tensor("input")?.norm_of_windows(args.op, axes, norm, &options)?.into())
    }

    fn put_back_by_name(args: &Bound<'_>, axes: usize) -> Result<Value> {
        let options = PoolOptions::without_rounding(args)?;
        let to: Option<Vec<i64>> = args.read("output_size")?;
        Ok(args.tensor("input")?.put_back(args.op, axes, args.tensor("indices")?, &options, to.as_deref())?.into())
    }
}

macro_rules! poolings {
    ($($axes:literal $norm:ident $unpool:ident $ones:literal $norms:literal;)*) => {
        impl AnyTensor {$(
            #[doc = concat!("The norm of each window over the last axes, ", $axes, " of them (`torch.nn.functional.", stringify!($norm), "`): \
                `(sum of x ** norm) ** (1 / norm)`. No padding.")]
            ///
            /// # Errors
            /// If a window does not fit, an axis other than the batch is empty, `norm` is 0, or the dtype is not floating.
            ///
            /// ```
            /// use castiron::any::PoolOptions;
            /// use castiron::{AnyTensor, DType};
            #[doc = concat!("let x = AnyTensor::ones(&", $ones, ", DType::F64)?;")]
            #[doc = concat!("let y = x.", stringify!($norm), "(1.0, &PoolOptions::new(&[2]))?;")]
            #[doc = concat!("assert_eq!(y.amax(None, false)?.to_string(), \"tensor(", $norms, "., dtype=torch.float64)\");")]
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn $norm(&self, norm: f64, options: &PoolOptions) -> Result<AnyTensor> {
                self.norm_of_windows(stringify!($norm), $axes, norm, options)
            }

            #[doc = concat!("Elements that pooling over the last axes, ", $axes, " of them, has found, put back where its indices say, among zeros \
                (`torch.nn.functional.", stringify!($unpool), "`); to sizes that pooling makes the same of, where they are given.")]
            ///
            /// # Errors
            /// If an index is not int64 or out of range, shapes differ, an output size is impossible, or the dtype is not floating.
            pub fn $unpool(&self, index: &AnyTensor, options: &PoolOptions, sizes: Option<&[i64]>) -> Result<AnyTensor> {
                self.put_back(stringify!($unpool), $axes, index, options, sizes)
            }
        )*}
    };
}
poolings! {
    1 lp_pool1d max_unpool1d "[1, 4]" "2";
    2 lp_pool2d max_unpool2d "[1, 4, 4]" "4";
    3 lp_pool3d max_unpool3d "[1, 2, 4, 4]" "8";
}

#[operations]
impl AnyTensor {
    #[op(nn.functional.lp_pool1d(input, norm_type, kernel_size, stride, ceil_mode), dtypes = float)]
    fn lp_pool1d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::norm_of_windows_by_name(args, 1)
    }
    #[op(nn.functional.lp_pool2d(input, norm_type, kernel_size, stride, ceil_mode), dtypes = float)]
    fn lp_pool2d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::norm_of_windows_by_name(args, 2)
    }
    #[op(nn.functional.lp_pool3d(input, norm_type, kernel_size, stride, ceil_mode), dtypes = float)]
    fn lp_pool3d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::norm_of_windows_by_name(args, 3)
    }
    #[op(nn.functional.max_unpool1d(input, indices, kernel_size, stride, padding, output_size), dtypes = float)]
    fn max_unpool1d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::put_back_by_name(args, 1)
    }
    #[op(nn.functional.max_unpool2d(input, indices, kernel_size, stride, padding, output_size), dtypes = float)]
    fn max_unpool2d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::put_back_by_name(args, 2)
    }
    #[op(nn.functional.max_unpool3d(input, indices, kernel_size, stride, padding, output_size), dtypes = float)]
    fn max_unpool3d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::put_back_by_name(args, 3)
    }
}
