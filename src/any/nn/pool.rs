//! Pooling over one, two and three axes.

use super::conv::{each, numbers};
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::{AnyTensor, Value};
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::{DType, Dtype};
use crate::error::{Error, Result, invalid};
use crate::ops::window::Window;
use crate::tensor::nn::adaptive_pool::{adaptive_largest, adaptive_largest_with_index, adaptive_mean};
use crate::tensor::nn::conv::Laid;
use crate::tensor::nn::pooling::Pooling;
use castiron_macros::operations;

/// The options of pooling: one number for all axes, or one for each. The default stride is the size of the window.
///
/// ```
/// use castiron::any::PoolOptions;
/// use castiron::{AnyTensor, DType};
/// let x = AnyTensor::ones(&[1, 64, 112, 112], DType::F32)?;
/// let y = x.max_pool2d(&PoolOptions::new(&[3]).stride(&[2]).padding(&[1]))?;
/// assert_eq!(y.shape(), [1, 64, 56, 56]);
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct PoolOptions {
    kernel: Vec<i64>,
    stride: Vec<i64>,
    padding: Vec<i64>,
    dilation: Vec<i64>,
    rounds_up: bool,
    counts_padding: bool,
    divisor: Option<i64>,
}

impl PoolOptions {
    /// A window of this size, which is the stride, too.
    pub fn new(kernel: &[i64]) -> Self {
        PoolOptions {
            kernel: kernel.to_vec(),
            stride: vec![],
            padding: vec![0],
            dilation: vec![1],
            rounds_up: false,
            counts_padding: true,
            divisor: None,
        }
    }
    /// The stride of the window.
    #[must_use]
    pub fn stride(self, stride: &[i64]) -> Self {
        PoolOptions { stride: stride.to_vec(), ..self }
    }
    /// The number of padding positions before and after each axis: at most half of the window's size.
    #[must_use]
    pub fn padding(self, padding: &[i64]) -> Self {
        PoolOptions { padding: padding.to_vec(), ..self }
    }
    /// The dilation: the distance between positions of the window; average pooling has none.
    #[must_use]
    pub fn dilation(self, dilation: &[i64]) -> Self {
        PoolOptions { dilation: dilation.to_vec(), ..self }
    }
    /// Whether the last window may extend beyond the padding: output sizes are rounded up.
    #[must_use]
    pub fn ceil_mode(self, rounds_up: bool) -> Self {
        PoolOptions { rounds_up, ..self }
    }
    /// Whether averages include the padding, as zeros.
    #[must_use]
    pub fn count_include_pad(self, counts_padding: bool) -> Self {
        PoolOptions { counts_padding, ..self }
    }
    /// The divisor of sums, instead of the number of elements.
    #[must_use]
    pub fn divisor_override(self, divisor: i64) -> Self {
        PoolOptions { divisor: Some(divisor), ..self }
    }

    pub(super) fn windows(&self, op: &'static str, axes: usize) -> Result<Vec<Window>> {
        let kernel = each(op, "kernel_size", &self.kernel, axes)?;
        let stride = if self.stride.is_empty() { kernel.clone() } else { each(op, "stride", &self.stride, axes)? };
        let padding = each(op, "padding", &self.padding, axes)?;
        let dilation = each(op, "dilation", &self.dilation, axes)?;
        let window = |at: usize| Window {
            kernel: kernel[at],
            stride: stride[at],
            dilation: dilation[at],
            before: padding[at],
            after: padding[at],
        };
        Ok((0..axes).map(window).collect())
    }

    pub(super) fn rounds_up(&self) -> bool {
        self.rounds_up
    }

    fn kernel_and_stride(args: &Bound<'_>) -> Result<Self> {
        let kernel = numbers(args, "kernel_size", 1)?;
        let stride = if args.is_given("stride") { numbers(args, "stride", 1)? } else { vec![] };
        Ok(PoolOptions::new(&kernel).stride(&stride))
    }

    /// The options of operations without padding.
    pub(super) fn without_padding(args: &Bound<'_>) -> Result<Self> {
        Ok(Self::kernel_and_stride(args)?.ceil_mode(args.read_or("ceil_mode", || false)?))
    }

    /// The options of operations without `ceil_mode`.
    pub(super) fn without_rounding(args: &Bound<'_>) -> Result<Self> {
        Ok(Self::kernel_and_stride(args)?.padding(&numbers(args, "padding", 0)?))
    }

    fn of(args: &Bound<'_>) -> Result<Self> {
        Ok(Self::without_padding(args)?.padding(&numbers(args, "padding", 0)?))
    }
}

impl AnyTensor {
    fn of_laid(&self, (buffer, sizes, strides): Laid<DynamicBuffer>, dtype: DType) -> AnyTensor {
        AnyTensor::fresh(buffer, dtype, &sizes, &strides)
    }

    /// Checks the dtype: over one axis PyTorch's max pooling takes floats only.
    fn expect_pooled(&self, op: &'static str, axes: usize) -> Result<()> {
        if axes > 1 || self.dtype.is_floating_point() {
            return Ok(());
        }
        Err(Error::NotAdmitted {
            op,
            dtype: self.dtype,
            reason: "it is defined for floating-point dtypes only".to_owned(),
        })
    }

    fn pooled_max(&self, op: &'static str, axes: usize, options: &PoolOptions) -> Result<AnyTensor> {
        let windows = options.windows(op, axes)?;
        self.expect_pooled(op, axes)?;
        let pooling = Pooling { op, windows: &windows, rounds_up: options.rounds_up };
        let result = dispatch_dtype!(op, self.dtype, E: Real => pooling.largest::<E, Dynamic>(self.elements_as()?))?;
        Ok(self.of_laid(result, self.dtype))
    }

    fn pooled_max_with_index(&self, op: &'static str, axes: usize, options: &PoolOptions) -> Result<[AnyTensor; 2]> {
        let windows = options.windows(op, axes)?;
        self.expect_pooled(op, axes)?;
        let pooling = Pooling { op, windows: &windows, rounds_up: options.rounds_up };
        let [values, index] =
            dispatch_dtype!(op, self.dtype, E: Real => pooling.largest_with_index::<E, Dynamic>(self.elements_as()?))?;
        Ok([self.of_laid(values, self.dtype), self.of_laid(index, DType::I64)])
    }

    fn pooled_mean(&self, op: &'static str, axes: usize, options: &PoolOptions) -> Result<AnyTensor> {
        let windows = options.windows(op, axes)?;
        if options.divisor == Some(0) {
            return invalid(op, "a divisor of 0: expected another number".to_owned());
        }
        if self.dtype != DType::I64 && (!self.dtype.is_floating_point() || self.dtype.is_shell()) {
            return Err(Error::NotAdmitted {
                op,
                dtype: self.dtype,
                reason: "means are of floats and int64".to_owned(),
            });
        }
        let pooling = Pooling { op, windows: &windows, rounds_up: options.rounds_up };
        fn run<E: Dtype>(x: &AnyTensor, pooling: Pooling<'_>, options: &PoolOptions) -> Result<Laid<DynamicBuffer>> {
            pooling.mean::<E, Dynamic>(x.elements_as()?, options.counts_padding, options.divisor)
        }
        let result = dispatch_dtype!(op, self.dtype, E: Real => run::<E>(self, pooling, options))?;
        Ok(self.of_laid(result, self.dtype))
    }

    fn pooled_max_by_name(args: &Bound<'_>, axes: usize) -> Result<Value> {
        let options = PoolOptions::of(args)?.dilation(&numbers(args, "dilation", 1)?);
        let x = args.tensor("input")?;
        if args.read_or("return_indices", || false)? {
            let [values, index] = x.pooled_max_with_index(args.op, axes, &options)?;
            return Ok(Value::List(vec![values.into(), index.into()].into()));
        }
        Ok(x.pooled_max(args.op, axes, &options)?.into())
    }

    fn pooled_mean_by_name(args: &Bound<'_>, axes: usize) -> Result<Value> {
        let mut options = PoolOptions::of(args)?.count_include_pad(args.read_or("count_include_pad", || true)?);
        if axes > 1 && args.is_given("divisor_override") {
            options = options.divisor_override(args.read("divisor_override")?);
        }
        Ok(args.tensor("input")?.pooled_mean(args.op, axes, &options)?.into())
    }

    /// The output sizes of an adaptive pooling: `None` keeps the operand's.
    fn adaptive_sizes(&self, args: &Bound<'_>, axes: usize) -> Result<Vec<usize>> {
        let list = args.all("output_size")?;
        let own = self.sizes.get(self.rank().saturating_sub(axes)..).unwrap_or(&[]);
        if own.len() != axes || list.len() != 1 && list.len() != axes {
            return args.refused(format!("expected {axes} sizes for a tensor of more axes, got {}", list.len()));
        }
        (0..axes)
            .map(|axis| match &list[if list.len() == 1 { 0 } else { axis }] {
                Value::Absent => Ok(own[axis]),
                given => {
                    let size = <i64 as crate::any::call::Item>::of(args, "output_size", given)?;
                    usize::try_from(size).or_else(|_| args.refused(format!("a size of {size}")))
                }
            })
            .collect()
    }

    fn adaptive_max_by_name(args: &Bound<'_>, axes: usize) -> Result<Value> {
        let x = args.tensor("input")?;
        let places = x.adaptive_sizes(args, axes)?;
        if args.read_or("return_indices", || false)? {
            let [values, index] = x.adaptive_max_with_index(args.op, &places)?;
            return Ok(Value::List(vec![values.into(), index.into()].into()));
        }
        Ok(x.adaptive_max(args.op, &places)?.into())
    }

    fn adaptive_mean_by_name(args: &Bound<'_>, axes: usize) -> Result<Value> {
        let x = args.tensor("input")?;
        let places = x.adaptive_sizes(args, axes)?;
        Ok(x.adaptive_mean(args.op, &places)?.into())
    }

    fn adaptive_max(&self, op: &'static str, places: &[usize]) -> Result<AnyTensor> {
        let result = dispatch_dtype!(op, self.dtype, E: Float => adaptive_largest::<E, Dynamic>(op, self.elements_as()?, places))?;
        Ok(self.of_laid(result, self.dtype))
    }

    fn adaptive_max_with_index(&self, op: &'static str, places: &[usize]) -> Result<[AnyTensor; 2]> {
        let [values, index] = dispatch_dtype!(op, self.dtype, E: Float => {
            adaptive_largest_with_index::<E, Dynamic>(op, self.elements_as()?, places)
        })?;
        Ok([self.of_laid(values, self.dtype), self.of_laid(index, DType::I64)])
    }

    fn adaptive_mean(&self, op: &'static str, places: &[usize]) -> Result<AnyTensor> {
        let result =
            dispatch_dtype!(op, self.dtype, E: Float => adaptive_mean::<E, Dynamic>(op, self.elements_as()?, places))?;
        Ok(self.of_laid(result, self.dtype))
    }
}

macro_rules! poolings {
    ($($axes:literal $max:ident $with_index:ident $avg:ident $adaptive_max:ident $adaptive_avg:ident;)*) => {
        impl AnyTensor {$(
            #[doc = concat!("The largest element of each window over the last axes, ", $axes, " of them (`torch.nn.functional.", stringify!($max), "`).")]
            ///
            /// # Errors
            /// If a window does not fit, the padding is more than half of it, an axis other than the batch is empty, or the dtype has no
            /// order.
            ///
            /// ```
            /// use castiron::any::PoolOptions;
            /// use castiron::{AnyTensor, tensor};
            /// let x = AnyTensor::from(tensor![[1.0, 5.0, 2.0, 3.0]]);
            /// assert_eq!(x.max_pool1d(&PoolOptions::new(&[2]))?.to_string(), "tensor([[5., 3.]])");
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn $max(&self, options: &PoolOptions) -> Result<AnyTensor> {
                self.pooled_max(stringify!($max), $axes, options)
            }

            #[doc = concat!("[`", stringify!($max), "`](Self::", stringify!($max), ") and where each element is among the positions of the last axes \
                (`return_indices=True`).")]
            ///
            /// # Errors
            /// As there.
            pub fn $with_index(&self, options: &PoolOptions) -> Result<(AnyTensor, AnyTensor)> {
                let [values, index] = self.pooled_max_with_index(stringify!($max), $axes, options)?;
                Ok((values, index))
            }

            #[doc = concat!("The mean of each window over the last axes, ", $axes, " of them (`torch.nn.functional.", stringify!($avg), "`).")]
            ///
            /// # Errors
            /// If a window does not fit, the padding is more than half of it, an axis other than the batch is empty, or the dtype is
            /// neither floating-point nor int64.
            pub fn $avg(&self, options: &PoolOptions) -> Result<AnyTensor> {
                self.pooled_mean(stringify!($avg), $axes, options)
            }

            #[doc = concat!("The largest element of each of so many parts of the last axes (`torch.nn.functional.", stringify!($adaptive_max), "`).")]
            ///
            /// # Errors
            /// If an axis other than the batch is empty, or the dtype is not floating.
            pub fn $adaptive_max(&self, places: [usize; $axes]) -> Result<AnyTensor> {
                self.adaptive_max(stringify!($adaptive_max), &places)
            }

            #[doc = concat!("The mean of each of so many parts of the last axes (`torch.nn.functional.", stringify!($adaptive_avg), "`).")]
            ///
            /// # Errors
            /// If an axis other than the batch is empty, or the dtype is not floating.
            pub fn $adaptive_avg(&self, places: [usize; $axes]) -> Result<AnyTensor> {
                self.adaptive_mean(stringify!($adaptive_avg), &places)
            }
        )*}
    };
}
poolings! {
    1 max_pool1d max_pool1d_with_indices avg_pool1d adaptive_max_pool1d adaptive_avg_pool1d;
    2 max_pool2d max_pool2d_with_indices avg_pool2d adaptive_max_pool2d adaptive_avg_pool2d;
    3 max_pool3d max_pool3d_with_indices avg_pool3d adaptive_max_pool3d adaptive_avg_pool3d;
}

#[operations]
impl AnyTensor {
    #[op(nn.functional.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices), dtypes = real, aliases("max_pool1d"))]
    fn max_pool1d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::pooled_max_by_name(args, 1)
    }
    #[op(nn.functional.avg_pool1d(input, kernel_size, stride, padding, ceil_mode, count_include_pad), dtypes = real, aliases("avg_pool1d"))]
    fn avg_pool1d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::pooled_mean_by_name(args, 1)
    }
    #[op(nn.functional.adaptive_max_pool1d(input, output_size, return_indices), dtypes = float)]
    fn adaptive_max_pool1d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::adaptive_max_by_name(args, 1)
    }
    #[op(nn.functional.adaptive_avg_pool1d(input, output_size), dtypes = float, aliases("adaptive_avg_pool1d"))]
    fn adaptive_avg_pool1d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::adaptive_mean_by_name(args, 1)
    }
    #[op(nn.functional.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices), dtypes = real, aliases("max_pool2d"))]
    fn max_pool2d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::pooled_max_by_name(args, 2)
    }
    #[op(nn.functional.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), dtypes = real)]
    fn avg_pool2d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::pooled_mean_by_name(args, 2)
    }
    #[op(nn.functional.adaptive_max_pool2d(input, output_size, return_indices), dtypes = float)]
    fn adaptive_max_pool2d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::adaptive_max_by_name(args, 2)
    }
    #[op(nn.functional.adaptive_avg_pool2d(input, output_size), dtypes = float)]
    fn adaptive_avg_pool2d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::adaptive_mean_by_name(args, 2)
    }
    #[op(nn.functional.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices), dtypes = real, aliases("max_pool3d"))]
    fn max_pool3d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::pooled_max_by_name(args, 3)
    }
    #[op(nn.functional.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override), dtypes = real)]
    fn avg_pool3d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::pooled_mean_by_name(args, 3)
    }
    #[op(nn.functional.adaptive_max_pool3d(input, output_size, return_indices), dtypes = float)]
    fn adaptive_max_pool3d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::adaptive_max_by_name(args, 3)
    }
    #[op(nn.functional.adaptive_avg_pool3d(input, output_size), dtypes = float)]
    fn adaptive_avg_pool3d_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::adaptive_mean_by_name(args, 3)
    }
}
