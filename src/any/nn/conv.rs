//! Convolutions over one, two and three axes, and their transposes.

use crate::any::call::Bound;
use crate::any::{AnyTensor, Value};
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};
use crate::ops::window::Window;
use crate::shape::window::same;
use castiron_macros::operations;

/// The options of a convolution: one number for all axes, or one for each.
///
/// ```
/// use castiron::any::ConvOptions;
/// use castiron::{AnyTensor, DType};
/// let (x, w) = (AnyTensor::ones(&[1, 3, 32, 32], DType::F32)?, AnyTensor::ones(&[8, 3, 3, 3], DType::F32)?);
/// let y = x.conv2d(&w, None, &ConvOptions::new().stride(&[2]).padding(&[1]))?;
/// assert_eq!(y.shape(), [1, 8, 16, 16]);
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ConvOptions {
    stride: Vec<i64>,
    padding: Amount,
    output_padding: Vec<i64>,
    dilation: Vec<i64>,
    groups: i64,
}

#[derive(Clone, Debug)]
enum Amount {
    Each(Vec<i64>),
    Same,
}

impl Default for ConvOptions {
    fn default() -> Self {
        ConvOptions {
            stride: vec![1],
            padding: Amount::Each(vec![0]),
            output_padding: vec![0],
            dilation: vec![1],
            groups: 1,
        }
    }
}

impl ConvOptions {
    /// Stride 1, no padding, no dilation, one group.
    pub fn new() -> Self {
        Self::default()
    }
    /// The stride of the window.
    #[must_use]
    pub fn stride(self, stride: &[i64]) -> Self {
        ConvOptions { stride: stride.to_vec(), ..self }
    }
    /// The number of zeros before and after each axis.
    #[must_use]
    pub fn padding(self, padding: &[i64]) -> Self {
        ConvOptions { padding: Amount::Each(padding.to_vec()), ..self }
    }
    /// Padding that keeps the sizes (`padding='same'`).
    #[must_use]
    pub fn same_padding(self) -> Self {
        ConvOptions { padding: Amount::Same, ..self }
    }
    /// The number of positions that a transposed convolution adds at the end of each axis.
    #[must_use]
    pub fn output_padding(self, output_padding: &[i64]) -> Self {
        ConvOptions { output_padding: output_padding.to_vec(), ..self }
    }
    /// The dilation: the distance between positions of the window.
    #[must_use]
    pub fn dilation(self, dilation: &[i64]) -> Self {
        ConvOptions { dilation: dilation.to_vec(), ..self }
    }
    /// The number of groups that the channels are divided into.
    #[must_use]
    pub fn groups(self, groups: i64) -> Self {
        ConvOptions { groups, ..self }
    }

    /// The windows along each axis, for a weight with these kernel sizes.
    pub(crate) fn windows(&self, op: &'static str, kernel: &[usize]) -> Result<Vec<Window>> {
        let (stride, dilation) =
            (each(op, "stride", &self.stride, kernel.len())?, each(op, "dilation", &self.dilation, kernel.len())?);
        let padding = match &self.padding {
            Amount::Each(padding) => {
                each(op, "padding", padding, kernel.len())?.into_iter().map(|amount| [amount; 2]).collect()
            }
            Amount::Same if stride.iter().any(|&stride| stride != 1) => {
                return invalid(op, "padding `same` takes a stride of 1".to_owned());
            }
            Amount::Same => {
                kernel.iter().zip(&dilation).map(|(&kernel, &dilation)| same(kernel, dilation)).collect::<Vec<_>>()
            }
        };
        let window = |at: usize| {
            let [before, after] = padding[at];
            Window { kernel: kernel[at], stride: stride[at], dilation: dilation[at], before, after }
        };
        Ok((0..kernel.len()).map(window).collect())
    }

    /// The numbers of positions that are added at the ends of axes.
    pub(crate) fn extra(&self, op: &'static str, axes: usize) -> Result<Vec<usize>> {
        each(op, "output_padding", &self.output_padding, axes)
    }

    pub(crate) fn count(&self, op: &'static str) -> Result<usize> {
        usize::try_from(self.groups)
            .or_else(|_| invalid(op, format!("{} groups: expected a number from 1 up", self.groups)))
    }

    fn of(args: &Bound<'_>) -> Result<Self> {
        let options = ConvOptions {
            stride: numbers(args, "stride", 1)?,
            dilation: numbers(args, "dilation", 1)?,
            groups: args.read_or("groups", || 1)?,
            ..Self::default()
        };
        match args.get("padding") {
            Some(Value::Str(text)) if text == "same" => Ok(options.same_padding()),
            Some(Value::Str(text)) if text == "valid" => Ok(options),
            Some(other @ Value::Str(_)) => Err(args.wrong("padding", "`same`, `valid` or numbers", other)),
            _ => Ok(options.padding(&numbers(args, "padding", 0)?)),
        }
    }
}

/// One number for each axis, from one for all or one for each.
pub(crate) fn each(op: &'static str, what: &str, given: &[i64], axes: usize) -> Result<Vec<usize>> {
    if given.len() != 1 && given.len() != axes {
        return invalid(op, format!("{what} {given:?}: expected one number, or {axes}"));
    }
    let natural = |&number: &i64| {
        let refused = || Error::InvalidArgument { op, reason: format!("{what} {given:?}: a number is negative") };
        usize::try_from(number).map_err(|_| refused())
    };
    let of = given.iter().map(natural).collect::<Result<Vec<usize>>>()?;
    Ok(if of.len() == axes { of } else { vec![of[0]; axes] })
}

/// An argument that is a number or a list of numbers.
pub(crate) fn numbers(args: &Bound<'_>, name: &str, default: i64) -> Result<Vec<i64>> {
    if !args.is_given(name) {
        return Ok(vec![default]);
    }
    args.all(name)?.iter().map(|item| <i64 as crate::any::call::Item>::of(args, name, item)).collect()
}

#[operations]
impl AnyTensor {
    /// Checks the weight and the bias of a convolution, and the dtype.
    pub(crate) fn expect_convolved(
        &self,
        op: &'static str,
        axes: usize,
        others: [Option<&AnyTensor>; 2],
        options: &ConvOptions,
        is_transposed: bool,
    ) -> Result<()> {
        self.expect_one_dtype(op, others)?;
        if let Some(weight) = others[0].filter(|weight| weight.rank() != axes + 2) {
            return invalid(op, format!("a weight of {} axes is wanted, got shape {:?}", axes + 2, weight.shape()));
        }
        // PyTorch convolves integers of every width, but only `int64` if transposed, or dilated along one or two axes.
        let is_dilated = options.dilation.iter().any(|&step| step != 1);
        let is_integer = self.dtype == DType::I64 || !is_transposed && (axes == 3 || !is_dilated);
        if self.dtype.is_floating_point() || self.dtype.is_complex() || is_integer {
            return Ok(());
        }
        let reason =
            "it is defined for floats, complex numbers and int64, neither transposed nor dilated for all integers"
                .to_owned();
        Err(Error::NotAdmitted { op, dtype: self.dtype, reason })
    }

    #[each(RANK = 1 2 3)]
    #[op(nn.functional.convRANKd(input, weight, bias, stride, padding, dilation, groups), dtypes = numeric, aliases("convRANKd"))]
    fn convRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        let bias = args.get("bias").map(|_| args.tensor("bias")).transpose()?;
        Ok(args.tensor("input")?.convRANKd(args.tensor("weight")?, bias, &ConvOptions::of(args)?)?.into())
    }

    #[each(RANK = 1 2 3)]
    #[op(nn.functional.conv_transposeRANKd(input, weight, bias, stride, padding, output_padding, groups, dilation), dtypes = numeric, aliases("conv_transposeRANKd"))]
    fn conv_transposeRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        let options = ConvOptions { output_padding: numbers(args, "output_padding", 0)?, ..ConvOptions::of(args)? };
        let bias = args.get("bias").map(|_| args.tensor("bias")).transpose()?;
        Ok(args.tensor("input")?.conv_transposeRANKd(args.tensor("weight")?, bias, &options)?.into())
    }
}
