//! Reductions over any axes.

use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::base::operand::default_float;
use crate::any::call::Bound;
use crate::any::view::views::axes;
use crate::any::{AnyTensor, Dims, IntoSizes, Value, checked_numel, grad};
use crate::device::erased::{FirstOnly, Reducing, WithSecond};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, Complex, DType, bf16, f16};
use crate::error::{Error, Result};
use crate::ops::reduce::reducers::*;
use crate::ops::reduce::{LogSumExp, reduction_table};
use crate::ops::rules::admit::{admits_in_words, set_of_one};
use crate::ops::{Op, reduce as ops};
use castiron_macros::operations;

/// Reduces the axes in `mask`: the results are row-major, of these sizes.
pub(in crate::any) fn over_axes<const N: usize>(
    op: &'static str,
    functions: &dyn Reducing,
    x: &AnyTensor,
    (mask, sizes): (u32, Dims),
) -> Result<[AnyTensor; N]> {
    let facts = functions.facts();
    let is_reduced = |axis: usize| mask >> axis & 1 == 1;
    if !facts.has_identity && (0..x.rank()).any(|axis| is_reduced(axis) && x.sizes[axis] == 0) {
        return Err(Error::EmptyReduction { op, sizes: x.shape().into() });
    }
    let dtype = |at: usize| facts.outs[at].unwrap_or_else(|| unreachable!("a dtype for each result"));
    if x.is_recorded() {
        return grad::reduced(op, functions, x, (mask, sizes));
    }
    let mut results = [const { None }; N];
    // SAFETY: the functions are those of the tensor's dtype.
    let run = || unsafe { x.erased()?.reduced::<N>(functions, mask) };
    let buffers = crate::any::base::by_width::recorded(op, &[x], (dtype(0), &sizes), run)?;
    for ((at, result), buffer) in results.iter_mut().enumerate().zip(buffers) {
        checked_numel(op, &sizes, dtype(at))?;
        *result = Some(AnyTensor::fresh_row_major(buffer, dtype(at), sizes));
    }
    Ok(results.map(|result| result.unwrap_or_else(|| unreachable!("all of them have been made"))))
}

/// Converts elements without loops of their own to a dtype with loops: `complex32` to `complex64`, and, for the maximum and minimum, bools
/// to bytes (`bytes`).
fn widened(x: &AnyTensor, bytes: bool) -> Result<(AnyTensor, bool)> {
    match x.dtype {
        DType::C32 => Ok((x.to(DType::C64)?, true)),
        DType::Bool if bytes => Ok((AnyTensor { dtype: DType::U8, ..x.clone() }, true)),
        _ => Ok((x.clone(), false)),
    }
}

/// The result of a reduction of [`widened`] elements, converted back.
fn narrowed(result: AnyTensor, is_widened: bool) -> Result<AnyTensor> {
    match result.dtype {
        DType::C64 if is_widened => result.to(DType::C32),
        DType::F32 if is_widened => result.to(DType::F16),
        DType::U8 if is_widened => Ok(AnyTensor { dtype: DType::Bool, ..result }),
        _ => Ok(result),
    }
}

/// Whether bools of a set of dtypes are reduced as bytes.
macro_rules! by_bytes {
    (Ordered) => {
        true
    };
    ($set:ident) => {
        false
    };
}

/// [`dispatch_dtype!`] over dtypes after [`widened`].
macro_rules! dispatch_widened {
    ($op:expr, $dtype:expr, $E:ident: Dtype => $body:expr) => {
        dispatch_dtype!($op, $dtype, $E: [bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64, Complex<f32>, Complex<f64>] => $body)
    };
    ($op:expr, $dtype:expr, $E:ident: Ordered => $body:expr) => { dispatch_dtype!($op, $dtype, $E: Real => $body) };
    ($op:expr, $dtype:expr, $E:ident: Inexact => $body:expr) => {
        dispatch_dtype!($op, $dtype, $E: [f16, bf16, f32, f64, Complex<f32>, Complex<f64>] => $body)
    };
    ($op:expr, $dtype:expr, $E:ident: $set:ident => $body:expr) => { dispatch_dtype!($op, $dtype, $E: $set => $body) };
}

/// `over!(x, ops::prod, Dtype, E => Prod, dims, keepdim)`: `x` reduced over axes.
macro_rules! over {
    ($x:expr, $op:ident, $set:ident, $E:ident => $reducer:expr, $dims:expr, $keepdim:expr) => {{
        let (x, op): (&AnyTensor, _) = ($x, <ops::$op as Op>::NAME);
        let reduced = x.reduced(op, $dims, $keepdim)?;
        dispatch_dtype!(op, x.dtype, $E: $set => Ok(()))?;
        let (x, is_widened) = widened(x, by_bytes!($set))?;
        let [result] = dispatch_widened!(op, x.dtype, $E: $set => over_axes(op, &FirstOnly::<$E, _>::new($reducer), &x, reduced))?;
        narrowed(result, is_widened)
    }};
}

/// `over!` for reductions with two results.
macro_rules! over_both {
    ($x:expr, $op:ident, $set:ident, $E:ident => $reducer:expr, $dims:expr, $keepdim:expr) => {{
        let (x, op): (&AnyTensor, _) = ($x, <ops::$op as Op>::NAME);
        let reduced = x.reduced(op, $dims, $keepdim)?;
        dispatch_dtype!(op, x.dtype, $E: $set => Ok(()))?;
        let (x, is_widened) = widened(x, by_bytes!($set))?;
        let [first, second] =
            dispatch_widened!(op, x.dtype, $E: $set => over_axes(op, &WithSecond::<$E, _>::new($reducer), &x, reduced))?;
        Ok::<_, Error>((narrowed(first, is_widened)?, narrowed(second, is_widened)?))
    }};
}

#[operations]
impl AnyTensor {
    /// The reduced axes as a bit mask, and the sizes of the result.
    pub(crate) fn reduced(&self, op: &'static str, dims: Option<&[i64]>, keepdim: bool) -> Result<(u32, Dims)> {
        let all = (1_u32 << self.rank()) - 1;
        let mask = match dims {
            // As in PyTorch an empty list means all axes. (A zero-dim tensor counts as having one axis.)
            Some(dims) if !dims.is_empty() => {
                axes(op, dims, self.rank())?.into_iter().fold(0, |mask, at| mask | 1 << at) & all
            }
            _ => all,
        };
        let (mut sizes, mut rank) = (self.sizes, 0);
        for (at, &size) in self.sizes.iter().enumerate() {
            let is_reduced = mask >> at & 1 == 1;
            if keepdim || !is_reduced {
                sizes[rank] = if is_reduced { 1 } else { size };
                rank += 1;
            }
        }
        Ok((mask, Dims::known(&sizes[..rank])))
    }

    /// Converted to a dtype, if one is given.
    pub(crate) fn in_dtype(&self, dtype: Option<DType>) -> Result<AnyTensor> {
        dtype.map_or_else(|| Ok(self.clone()), |dtype| self.to(dtype))
    }

    /// The sum over axes with NaN as 0 (`torch.nansum`). Bools and integers give `int64` unless a dtype is given.
    ///
    /// # Errors
    /// If an axis is out of range or named twice, or the dtype is complex.
    #[op(nansum(input, dim = None, keepdim = false, dtype = None), dtypes = ordered, output = Computes)]
    pub fn nansum(&self, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<AnyTensor> {
        match self.dtype.category() {
            // Integers have no NaN.
            Category::Boolean | Category::Integral => return self.sum(dims, keepdim, dtype),
            Category::Floating if !self.dtype.is_shell() || dtype.is_some_and(DType::is_floating_point) => {}
            _ => return Err(refused("nansum", self.dtype)),
        }
        let x = self.in_dtype(dtype)?;
        if x.dtype.category() <= Category::Integral {
            return x.sum(dims, keepdim, dtype);
        }
        dispatch_dtype!("nansum", x.dtype, E: Ordered => Ok(()))?;
        over!(&x, nansum, Float, E => NanSum, dims, keepdim)?.in_dtype(dtype)
    }

    /// The mean over axes without NaN (`torch.nanmean`), of floats.
    ///
    /// # Errors
    /// If an axis is out of range or named twice, or the dtype is no float.
    #[op(nanmean(input, dim = None, keepdim = false, dtype = None), dtypes = float)]
    pub fn nanmean(&self, dims: Option<&[i64]>, keepdim: bool, dtype: Option<DType>) -> Result<AnyTensor> {
        if !self.dtype.is_floating_point() {
            return Err(refused("nanmean", self.dtype));
        }
        over!(&self.in_dtype(dtype)?, nanmean, Float, E => NanMean, dims, keepdim)
    }

    /// The variance and the mean over axes, all if none are given, in one pass (`torch.var_mean`).
    ///
    /// # Errors
    /// As [`var`](Self::var).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (var, mean) = AnyTensor::from(tensor![[1.0, 3.0], [2.0, 2.0]]).var_mean(Some(&[1]), 0.0, false)?;
    /// assert_eq!((var.to_string(), mean.to_string()), ("tensor([1., 0.])".to_owned(), "tensor([2., 2.])".to_owned()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn var_mean(&self, dims: Option<&[i64]>, correction: f64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        over_both!(self, var, Inexact, E => Variance::var(correction), dims, keepdim)
    }

    /// The standard deviation and the mean over axes, all if none are given, in one pass (`torch.std_mean`).
    ///
    /// # Errors
    /// As [`var`](Self::var).
    pub fn std_mean(&self, dims: Option<&[i64]>, correction: f64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        over_both!(self, std, Inexact, E => Variance::std(correction), dims, keepdim)
    }

    /// The smallest and the largest element over axes, all if none are given, in one pass (`torch.aminmax`); NaN if there is one.
    ///
    /// # Errors
    /// As [`amax`](Self::amax).
    pub fn aminmax(&self, dims: Option<&[i64]>, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        over_both!(self, amin, Ordered, E => MinMax::<E>::new(), dims, keepdim)
    }

    /// The index of the largest element along an axis, or in the row-major order of all (`torch.argmax`).
    ///
    /// # Errors
    /// If the axis is out of range or empty, or the dtype is neither an integer nor a float.
    #[op(argmax(input, dim = None, keepdim = false), dtypes = real)]
    pub fn argmax(&self, dim: Option<i64>, keepdim: bool) -> Result<AnyTensor> {
        let dims = dim.map(|dim| [dim]);
        over!(self, argmax, Real, E => ArgExtreme::<E, true>::new(), dims.as_ref().map(|dims| &dims[..]), keepdim)
    }

    /// The index of the smallest element along an axis, or in the row-major order of all (`torch.argmin`).
    ///
    /// # Errors
    /// As [`argmax`](Self::argmax).
    #[op(argmin(input, dim = None, keepdim = false), dtypes = real)]
    pub fn argmin(&self, dim: Option<i64>, keepdim: bool) -> Result<AnyTensor> {
        let dims = dim.map(|dim| [dim]);
        over!(self, argmin, Real, E => ArgExtreme::<E, false>::new(), dims.as_ref().map(|dims| &dims[..]), keepdim)
    }

    /// The largest elements along an axis, and their indices (`torch.max(dim=…)`).
    ///
    /// # Errors
    /// As [`amax`](Self::amax).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (values, indices) = AnyTensor::from(tensor![[1, 5], [4, 3]]).max_axis(1, false)?;
    /// assert_eq!((values.to_string(), indices.to_string()), ("tensor([5, 4])".into(), "tensor([1, 0])".into()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn max_axis(&self, dim: i64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        let (places, extremes) =
            over_both!(self, max, Ordered, E => ArgExtreme::<E, true>::new(), Some(&[dim]), keepdim)?;
        Ok((extremes, places))
    }

    /// The smallest elements along an axis, and their indices (`torch.min(dim=…)`).
    ///
    /// # Errors
    /// As [`amin`](Self::amin).
    pub fn min_axis(&self, dim: i64, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        let (places, extremes) =
            over_both!(self, min, Ordered, E => ArgExtreme::<E, false>::new(), Some(&[dim]), keepdim)?;
        Ok((extremes, places))
    }

    /// The number of elements over axes that are not zero (`torch.count_nonzero`).
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    #[op(count_nonzero(input, dim = None), dtypes = any)]
    pub fn count_nonzero(&self, dims: Option<&[i64]>) -> Result<AnyTensor> {
        over!(self, count_nonzero, Dtype, E => CountNonzero, dims, false)
    }

    /// The logarithm of the sum of exponentials over axes (`torch.logsumexp`). Bools and integers give `float32`.
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    #[op(logsumexp(input, dim, keepdim = false), dtypes = any, aliases("special.logsumexp"))]
    pub fn logsumexp(&self, dims: Option<&[i64]>, keepdim: bool) -> Result<AnyTensor> {
        let lifts = self.dtype.category() <= Category::Integral;
        let x = if lifts { self.to(default_float())? } else { self.clone() };
        if x.has_few(x.reduced("logsumexp", dims, true)?.1.iter().product()) {
            return x.log_sum_exp_of_few(dims, keepdim);
        }
        over!(&x, logsumexp, Inexact, E => LogSumExp, dims, keepdim)
    }

    /// The sum over axes that reduces the tensor to these sizes, which must broadcast to its own (`torch.Tensor.sum_to_size`).
    ///
    /// # Errors
    /// If they do not broadcast.
    #[op(sum_to_size(input, *size), dtypes = any)]
    pub fn sum_to_size(&self, sizes: impl IntoSizes) -> Result<AnyTensor> {
        let op = "sum_to_size";
        let sizes = &*sizes.signed();
        let refused = || {
            let reason = format!("sizes {sizes:?} do not broadcast to {:?}", self.shape());
            Error::InvalidArgument { op, reason }
        };
        if sizes.is_empty() {
            return self.sum(None, false, None);
        }
        let lead = self.rank().checked_sub(sizes.len()).ok_or_else(refused)?;
        let mut added: Vec<i64> = (0..lead as i64).collect();
        for (at, &size) in sizes.iter().enumerate() {
            let own = self.sizes[lead + at] as i64;
            match size {
                size if size == own => {}
                1 => added.push((lead + at) as i64),
                _ => return Err(refused()),
            }
        }
        if added.is_empty() {
            return Ok(self.clone());
        }
        self.sum(Some(&added), true, None)?.reshaped(sizes)
    }

    /// The sum of the diagonal of a matrix (`torch.trace`).
    ///
    /// # Errors
    /// If the tensor does not have two axes, or holds bools.
    #[op(trace(input), dtypes = numeric)]
    pub fn trace(&self) -> Result<AnyTensor> {
        if self.rank() != 2 {
            let reason = format!("a matrix is wanted, got a tensor with {} axes", self.rank());
            return Err(Error::InvalidArgument { op: "trace", reason });
        }
        if self.dtype == DType::Bool {
            return Err(crate::any::base::dispatch::refused("trace", self.dtype));
        }
        self.diagonal(0, 0, 1)?.sum(None, false, None)
    }

    #[op(aminmax(input, dim = None, keepdim = false), dtypes = ordered)]
    fn aminmax_by_name(&self, dim: Option<i64>, keepdim: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.aminmax(dim.as_ref().map(core::slice::from_ref), keepdim)
    }

    #[op(max(input, dim, keepdim, other), dtypes = ordered)]
    fn max_by_name(args: &Bound<'_>) -> Result<Value> {
        extreme(args, AnyTensor::amax, AnyTensor::max_axis, |a, b| a.maximum(b))
    }

    #[op(min(input, dim, keepdim, other), dtypes = ordered)]
    fn min_by_name(args: &Bound<'_>) -> Result<Value> {
        extreme(args, AnyTensor::amin, AnyTensor::min_axis, |a, b| a.minimum(b))
    }

    #[op(var(input, dim, unbiased, keepdim, correction), dtypes = inexact, output = AsReal)]
    fn var_by_name(args: &Bound<'_>) -> Result<Value> {
        corrected(args, AnyTensor::var)
    }

    #[op(std(input, dim, unbiased, keepdim, correction), dtypes = inexact, output = AsReal)]
    fn std_by_name(args: &Bound<'_>) -> Result<Value> {
        corrected(args, AnyTensor::std)
    }

    #[op(var_mean(input, dim, unbiased, keepdim, correction), dtypes = inexact)]
    fn var_mean_by_name(args: &Bound<'_>) -> Result<Value> {
        corrected(args, AnyTensor::var_mean)
    }

    #[op(std_mean(input, dim, unbiased, keepdim, correction), dtypes = inexact)]
    fn std_mean_by_name(args: &Bound<'_>) -> Result<Value> {
        corrected(args, AnyTensor::std_mean)
    }
}

/// `var` and others: `(input, unbiased)` or `(input, dim, unbiased, keepdim)`, with `correction` in place of `unbiased`.
fn corrected<T: Into<Value>>(
    args: &Bound<'_>,
    run: fn(&AnyTensor, Option<&[i64]>, f64, bool) -> Result<T>,
) -> Result<Value> {
    let (dims, unbiased) = match args.get("dim") {
        Some(Value::Number(ScalarValue::Bool(unbiased))) => (None, Some(*unbiased)),
        _ => (args.read::<Option<Vec<i64>>>("dim")?, args.read("unbiased")?),
    };
    let correction = match unbiased {
        Some(unbiased) => f64::from(u8::from(unbiased)),
        None => args.read_or("correction", || 1.0)?,
    };
    Ok(run(args.tensor("input")?, dims.as_deref(), correction, args.read_or("keepdim", || false)?)?.into())
}

/// `max` and `min`: of all elements, along an axis, or of two tensors.
fn extreme(
    args: &Bound<'_>,
    all: fn(&AnyTensor, Option<&[i64]>, bool) -> Result<AnyTensor>,
    along: fn(&AnyTensor, i64, bool) -> Result<(AnyTensor, AnyTensor)>,
    paired: fn(&AnyTensor, &AnyTensor) -> Result<AnyTensor>,
) -> Result<Value> {
    let x = args.tensor("input")?;
    if let Some(other) = args.read("other")? {
        return paired(x, other).map(Value::Array);
    }
    match args.get("dim") {
        None => all(x, None, false).map(Value::Array),
        Some(Value::Array(other)) => paired(x, other).map(Value::Array),
        Some(_) => Ok(along(x, args.read("dim")?, args.read_or("keepdim", || false)?)?.into()),
    }
}

/// Writes the method of each row of the table of reductions that has a run-time signature.
macro_rules! reductions {
    ($($op:ident { $axis:ident $admits:ident $result:ident ($($parameter:tt)*), $reducer:expr, $doc:literal, $torch:literal,
       $operand:literal $(($arguments:literal))? = $all:literal axis $at:literal = $along:literal,
       $(#[$($attribute:tt)*] fn [$($before:ident: $before_ty:ty)?] $dims:ident [$($between:ident: $between_ty:ty)?] $keepdim:ident [$($dtype:ident)?] $call:literal)? })*) => {
        /// Reductions over axes, all if none are given.
        #[operations(REDUCTIONS)]
        impl AnyTensor {$($(
            #[doc = $doc]
            ///
            #[doc = concat!("Over axes, all if none are named (`", $torch, "`).")]
            ///
            /// # Errors
            #[doc = concat!("If an axis is out of range or named twice, the dtype is not among ", admits_in_words!($admits), ", or there are no elements and the operation has no result for none.")]
            ///
            /// ```
            /// use castiron::{AnyTensor, tensor};
            #[doc = concat!("let x = AnyTensor::from(", $operand, ");")]
            #[doc = concat!("assert_eq!(x.", stringify!($op), "(", $call, ")?.to_string(), tensor!", $along, ".to_string());")]
            /// # Ok::<(), castiron::Error>(())
            /// ```
            #[$($attribute)*]
            pub fn $op(&self, $($before: $before_ty,)? $dims: Option<&[i64]>, $($between: $between_ty,)? $keepdim: bool $(, $dtype: Option<DType>)?) -> Result<AnyTensor> {
                let x = self;
                $(let x = &x.in_dtype($dtype)?;)?
                let result = set_of_one!($admits, reductions { @over x $op [$reducer] $dims $keepdim })?;
                $(let result = result.in_dtype($dtype)?;)?
                Ok(result)
            }
        )?)*}
    };
    (@over $x:ident $op:ident [$reducer:expr] $dims:ident $keepdim:ident $set:ident $inexact:ident) => {
        over!($x, $op, $set, E => $reducer, $dims, $keepdim)
    };
}
reduction_table!(reductions);
