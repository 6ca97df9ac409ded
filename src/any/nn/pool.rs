//! Pooling over one, two and three axes.

use super::conv::{each, numbers};
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::{AnyTensor, IntoAny, Value};
use crate::composite::nn::adaptive_pool::adaptive_largest_with_index;
use crate::composite::nn::laid;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};
use crate::ops::window::Window;
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

    pub(crate) fn windows(&self, op: &'static str, axes: usize) -> Result<Vec<Window>> {
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

    pub(crate) fn rounds_up(&self) -> bool {
        self.rounds_up
    }
    pub(crate) fn counts_padding(&self) -> bool {
        self.counts_padding
    }
    pub(crate) fn divisor(&self) -> Option<i64> {
        self.divisor
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
    /// Checks the dtype: over one axis PyTorch's max pooling takes floats only.
    pub(crate) fn expect_pooled(&self, op: &'static str, axes: usize) -> Result<()> {
        if axes > 1 || self.dtype.is_floating_point() {
            return Ok(());
        }
        Err(Error::NotAdmitted {
            op,
            dtype: self.dtype,
            reason: "it is defined for floating-point dtypes only".to_owned(),
        })
    }

    /// Checks the divisor and the dtype of means.
    pub(crate) fn expect_averaged(&self, op: &'static str, options: &PoolOptions) -> Result<()> {
        if options.divisor == Some(0) {
            return invalid(op, "a divisor of 0: expected another number".to_owned());
        }
        if self.dtype == DType::I64 || (self.dtype.is_floating_point() && !self.dtype.is_shell()) {
            return Ok(());
        }
        let reason = "means are of floats and int64".to_owned();
        Err(Error::NotAdmitted { op, dtype: self.dtype, reason })
    }

    /// The output sizes of an adaptive pooling: `None` keeps the operand's.
    fn adaptive_sizes<const AXES: usize>(&self, args: &Bound<'_>) -> Result<[usize; AXES]> {
        let list = args.all("output_size")?;
        let own = self.sizes.get(self.rank().saturating_sub(AXES)..).unwrap_or(&[]);
        if own.len() != AXES || list.len() != 1 && list.len() != AXES {
            return args.refused(format!("expected {AXES} sizes for a tensor of more axes, got {}", list.len()));
        }
        let mut sizes = [0; AXES];
        for (axis, to) in sizes.iter_mut().enumerate() {
            *to = match &list[if list.len() == 1 { 0 } else { axis }] {
                Value::Absent => own[axis],
                given => {
                    let size = <i64 as crate::any::call::Item>::of(args, "output_size", given)?;
                    usize::try_from(size).or_else(|_| args.refused(format!("a size of {size}")))?
                }
            };
        }
        Ok(sizes)
    }

    fn adaptive_max_with_index(&self, op: &'static str, places: &[usize]) -> Result<(AnyTensor, AnyTensor)> {
        dispatch_dtype!(op, self.dtype, E: Float => {
            let [values, index] = adaptive_largest_with_index::<E, Dynamic>(op, self.elements_as()?, places)?;
            Ok((laid::<E, Dynamic>(values).into_any(), laid::<i64, Dynamic>(index).into_any()))
        })
    }
}

#[operations]
impl AnyTensor {
    #[each(RANK = 1 2 3)]
    #[op(nn.functional.max_poolRANKd(input, kernel_size, stride, padding, dilation, ceil_mode, return_indices), dtypes = real, aliases("max_poolRANKd"))]
    fn max_poolRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        let options = PoolOptions::of(args)?.dilation(&numbers(args, "dilation", 1)?);
        let x = args.tensor("input")?;
        if args.read_or("return_indices", || false)? {
            return Ok(x.max_poolRANKd_with_indices(&options)?.into());
        }
        Ok(x.max_poolRANKd(&options)?.into())
    }

    #[each(
        RANK = 1 2 3,
        DIVISOR = () (, divisor_override) (, divisor_override),
        GIVEN = None (args.read("divisor_override")?) (args.read("divisor_override")?),
        ALIASES = (, aliases("avg_pool1d")) () ()
    )]
    #[op(nn.functional.avg_poolRANKd(input, kernel_size, stride, padding, ceil_mode, count_include_pad DIVISOR), dtypes = real ALIASES)]
    fn avg_poolRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        let options = PoolOptions { divisor: GIVEN, ..PoolOptions::of(args)? };
        let options = options.count_include_pad(args.read_or("count_include_pad", || true)?);
        Ok(args.tensor("input")?.avg_poolRANKd(&options)?.into())
    }

    #[each(RANK = 1 2 3)]
    #[op(nn.functional.adaptive_max_poolRANKd(input, output_size, return_indices), dtypes = float)]
    fn adaptive_max_poolRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let places: [usize; RANK] = x.adaptive_sizes(args)?;
        if args.read_or("return_indices", || false)? {
            return Ok(x.adaptive_max_with_index(args.op, &places)?.into());
        }
        Ok(x.adaptive_max_poolRANKd(places)?.into())
    }

    #[each(RANK = 1 2 3, ALIASES = (, aliases("adaptive_avg_pool1d")) () ())]
    #[op(nn.functional.adaptive_avg_poolRANKd(input, output_size), dtypes = float ALIASES)]
    fn adaptive_avg_poolRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        Ok(x.adaptive_avg_poolRANKd(x.adaptive_sizes(args)?)?.into())
    }
}
