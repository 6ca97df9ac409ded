//! Operations along one axis that keep it: running sums and their kin, `softmax`; and differences of neighbours.
//! Uses `view::views`, `elementwise::apply`, `cpu`, `device`; used by `sort::unique`, `call::ops::scan`, `scan::trapezoid`.

use crate::any::AnyTensor;
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::view::views::axis;
use crate::axis;
use crate::cpu::erased;
use crate::device::Cpu;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::strides;
use castiron_macros::operations;

/// `along!(x, op, dim, Dtype, E => try_cumsum)`: what is done along the second axis of three, by a method that keeps dtype and sizes.
macro_rules! along {
    ($x:expr, $op:literal, $dim:expr, $set:ident, $E:ident => $method:ident) => {{
        let (x, at): (&AnyTensor, usize) = ($x, axis($op, $dim, $x.rank())?);
        let cube = x.as_three_axes(at)?;
        let result = dispatch_dtype!($op, x.dtype, $E: $set => match cube.is_meta() {
            true => AnyTensor::meta(&cube.sizes, cube.dtype),
            false => Ok(AnyTensor::from(cube.typed_rank3::<$E, Cpu>()?.$method(axis![1])?)),
        })?;
        x.with_axis_restored(at, result)
    }};
}

/// The same of values and their positions.
macro_rules! along2 {
    ($x:expr, $op:literal, $dim:expr, $set:ident, $E:ident => $method:ident) => {{
        let (x, at): (&AnyTensor, usize) = ($x, axis($op, $dim, $x.rank())?);
        let cube = x.as_three_axes(at)?;
        let (values, places) = dispatch_dtype!($op, x.dtype, $E: $set => match cube.is_meta() {
            true => Ok((AnyTensor::meta(&cube.sizes, cube.dtype)?, AnyTensor::meta(&cube.sizes, DType::I64)?)),
            false => {
                let (values, places) = cube.typed_rank3::<$E, Cpu>()?.$method(axis![1])?;
                Ok((AnyTensor::from(values), AnyTensor::from(places)))
            }
        })?;
        Ok((x.with_axis_restored(at, values)?, x.with_axis_restored(at, places)?))
    }};
}

#[operations]
impl AnyTensor {
    /// Running sums along an axis (`torch.cumsum`). Bools and integers give `int64` unless a dtype is given.
    ///
    /// # Errors
    /// If the axis is out of range, or the dtype asked for is `bool`.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert_eq!(x.cumsum(0, None)?.to_string(), "tensor([[1, 2],\n        [4, 6]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(cumsum(input, dim, dtype = None), dtypes = any, output = Computes)]
    #[in_place]
    pub fn cumsum(&self, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
        let x = self.running_in("cumsum", dtype)?;
        if let Some(nothing) = x.nothing("cumsum", dim, x.dtype.is_complex())? {
            return Ok(nothing);
        }
        along!(&x, "cumsum", dim, Dtype, E => try_cumsum)?.in_dtype(dtype)
    }

    /// Running products along an axis (`torch.cumprod`). Bools and integers give `int64` unless a dtype is given.
    ///
    /// # Errors
    /// As [`cumsum`](Self::cumsum).
    #[op(cumprod(input, dim, dtype = None), dtypes = any, output = Computes)]
    #[in_place]
    pub fn cumprod(&self, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
        let x = self.running_in("cumprod", dtype)?;
        if let Some(nothing) = x.nothing("cumprod", dim, x.dtype.is_complex())? {
            return Ok(nothing);
        }
        along!(&x, "cumprod", dim, Dtype, E => try_cumprod)?.in_dtype(dtype)
    }

    /// The result for a tensor without elements: as in PyTorch, dtypes that are refused otherwise are admitted then.
    fn nothing(&self, op: &'static str, dim: i64, is_refused: bool) -> Result<Option<AnyTensor>> {
        if !is_refused || !self.is_empty() || self.dtype.is_shell() {
            return Ok(None);
        }
        axis(op, dim, self.rank())?;
        self.zeros_like_device(&self.sizes, self.dtype).map(Some)
    }

    fn running_in(&self, op: &'static str, dtype: Option<DType>) -> Result<AnyTensor> {
        if dtype == Some(DType::Bool) {
            return Err(refused(op, DType::Bool));
        }
        self.in_dtype(dtype)
    }

    /// The largest element so far along an axis, and where it is (`torch.cummax`).
    ///
    /// # Errors
    /// If the axis is out of range or the dtype has no order.
    #[op(cummax(input, dim), dtypes = ordered)]
    pub fn cummax(&self, dim: i64) -> Result<(AnyTensor, AnyTensor)> {
        if let Some(nothing) = self.nothing("cummax", dim, self.dtype.is_complex())? {
            let places = self.zeros_like_device(&self.sizes, DType::I64)?;
            return Ok((nothing, places));
        }
        along2!(self, "cummax", dim, Ordered, E => try_cummax)
    }

    /// The smallest element so far along an axis, and where it is (`torch.cummin`).
    ///
    /// # Errors
    /// As [`cummax`](Self::cummax).
    #[op(cummin(input, dim), dtypes = ordered)]
    pub fn cummin(&self, dim: i64) -> Result<(AnyTensor, AnyTensor)> {
        if let Some(nothing) = self.nothing("cummin", dim, self.dtype.is_complex())? {
            let places = self.zeros_like_device(&self.sizes, DType::I64)?;
            return Ok((nothing, places));
        }
        along2!(self, "cummin", dim, Ordered, E => try_cummin)
    }

    /// The logarithm of running sums of exponentials along an axis (`torch.logcumsumexp`).
    ///
    /// # Errors
    /// If the axis is out of range or the dtype is neither floating-point nor complex.
    #[op(logcumsumexp(input, dim), dtypes = inexact)]
    pub fn logcumsumexp(&self, dim: i64) -> Result<AnyTensor> {
        along!(self, "logcumsumexp", dim, Inexact, E => try_logcumsumexp)
    }

    /// Shares of exponentials along an axis (`torch.softmax`), of floats, or of what `dtype` makes one.
    ///
    /// # Errors
    /// If the axis is out of range or the dtype is no float.
    #[op(softmax(input, dim, dtype = None), dtypes = float, aliases("special.softmax", "nn.functional.softmax"))]
    pub fn softmax(&self, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
        let x = self.in_dtype(dtype)?;
        if let Some(nothing) = x.nothing("softmax", dim, !x.dtype.is_floating_point())? {
            return Ok(nothing);
        }
        along!(&x, "softmax", dim, Float, E => try_softmax)
    }

    /// The logarithm of [`softmax`](Self::softmax) (`torch.log_softmax`).
    ///
    /// # Errors
    /// As there.
    #[op(log_softmax(input, dim, dtype = None), dtypes = float, aliases("nn.functional.log_softmax", "special.log_softmax"))]
    pub fn log_softmax(&self, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
        let x = self.in_dtype(dtype)?;
        if let Some(nothing) = x.nothing("log_softmax", dim, !x.dtype.is_floating_point())? {
            return Ok(nothing);
        }
        along!(&x, "log_softmax", dim, Float, E => try_log_softmax)
    }

    #[op(nn.functional.softmin(input, dim, dtype = None), dtypes = float)]
    fn softmin(&self, dim: i64, dtype: Option<DType>) -> Result<AnyTensor> {
        self.neg()?.softmax(dim, dtype)
    }

    #[op(diff(input, n = 1, dim = -1, prepend = None, append = None), dtypes = any)]
    fn diff_between(
        &self,
        n: usize,
        dim: i64,
        prepend: Option<&AnyTensor>,
        append: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        let op = "diff";
        let pieces: Vec<&AnyTensor> = [prepend, Some(self), append].into_iter().flatten().collect();
        if pieces.len() == 1 || n == 0 || self.rank() == 0 {
            return self.diff(n, dim);
        }
        let mut dtype = self.dtype;
        for piece in &pieces {
            if piece.rank() != self.rank() {
                let (axes, found) = (self.rank(), piece.shape());
                let reason = format!("`prepend` and `append` must have {axes} axes, as the input, got shape {found:?}");
                return Err(Error::InvalidArgument { op, reason });
            }
            dtype = dtype.promote(piece.dtype).ok_or_else(|| refused(op, piece.dtype))?;
        }
        let pieces = pieces.into_iter().map(|piece| piece.to(dtype)).collect::<Result<Vec<_>>>()?;
        let at = axis(op, dim, self.rank())?;
        end_to_end(op, &pieces.iter().collect::<Vec<_>>(), at)?.diff(n, dim)
    }

    /// Differences of neighbours along an axis, taken `n` times (`torch.diff`); whether they differ where they are bools.
    ///
    /// # Errors
    /// If the axis is out of range or the tensor is zero-dim.
    pub fn diff(&self, n: usize, dim: i64) -> Result<AnyTensor> {
        let op = "diff";
        let at = axis(op, dim, self.rank())?;
        if self.rank() == 0 {
            return Err(Error::InvalidArgument { op, reason: "a zero-dim tensor has no neighbours".to_owned() });
        }
        let mut differences = self.clone();
        let times = n.min(self.sizes[at]);
        for done in 0..times {
            if done > 0 && differences.is_empty() {
                // A tensor without elements can have an axis of any size, too many steps to loop over.
                return differences.narrow(at as i64, 0, differences.sizes[at] - (times - done));
            }
            let rest = differences.sizes[at].saturating_sub(1);
            let later = differences.narrow(at as i64, (differences.sizes[at] - rest) as i64, rest)?;
            let earlier = differences.narrow(at as i64, 0, rest)?;
            differences = if self.dtype == DType::Bool { later.ne(&earlier)? } else { later.sub(&earlier)? };
        }
        Ok(differences)
    }
}

/// Tensors of one dtype end to end along an axis; their other sizes are the same.
pub(crate) fn end_to_end(op: &'static str, pieces: &[&AnyTensor], at: usize) -> Result<AnyTensor> {
    let Some(first) = pieces.first() else {
        return Err(Error::InvalidArgument { op, reason: "there is no tensor to join".to_owned() });
    };
    let mut sizes = first.sizes;
    let mut size = Some(0_usize);
    for piece in pieces {
        let alike = piece.rank() == first.rank() && piece.dtype == first.dtype;
        if !alike || (0..first.rank()).any(|axis| axis != at && piece.sizes[axis] != first.sizes[axis]) {
            let (expected, found) = (format!("{:?}", first.shape()), piece.shape().into());
            return Err(Error::Shape { op, expected, found });
        }
        crate::any::elementwise::apply::same_device(op, first, piece)?;
        size = size.and_then(|size| size.checked_add(piece.sizes[at]));
    }
    sizes[at] = size.ok_or_else(|| Error::TooLarge { op, sizes: first.shape().into() })?;
    if first.is_meta() {
        return AnyTensor::meta(&sizes, first.dtype);
    }
    let (width, own) = (first.dtype.itemsize(), strides::row_major(&sizes));
    let len = crate::any::checked_numel(op, &sizes, first.dtype)?;
    let buffers = pieces.iter().map(|piece| piece.host(op)).collect::<Result<Vec<_>>>()?;
    // SAFETY: the pieces fill the result, each at its place; what a tensor reaches is valid.
    let buffer = unsafe {
        erased::fresh(len, width, |out| {
            let mut place = 0;
            for (piece, buffer) in pieces.iter().zip(&buffers) {
                let from = buffer.start::<u8>().wrapping_add(piece.first() * width);
                let to = out.wrapping_add(place * own[at] * width);
                erased::copy_over(width, &piece.sizes, [&own, &piece.strides], to, from);
                place += piece.sizes[at];
            }
        })
    }?;
    Ok(AnyTensor::fresh(crate::any::Buffer::Cpu(buffer), first.dtype, &sizes, &own))
}
