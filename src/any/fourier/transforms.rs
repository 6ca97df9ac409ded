//! Fourier transforms that are only called at run time: along two axes, `hfftn`, `ihfftn`; and frequencies.

use crate::any::base::operand::default_float;
use crate::any::view::views::{axes, axis};
use crate::any::{AnyTensor, IntoAny};
use crate::composite::fourier::lanes::{Step, Transform};
use crate::composite::fourier::signal::{Direction, Norm};
use crate::device::{AnyDevice, default_device};
use crate::dtype::DType;
use crate::error::{Error, Result, invalid, listed};
use crate::tensor::fourier::frequencies;
use crate::{Cpu, Dyn, Tensor};
use castiron_macros::operations;

/// Runs code over the dtype of a signal, one of those that are transformed.
macro_rules! over_signal {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        crate::any::base::dispatch::dispatch_dtype!($op, $dtype, $E: [f32, f64, crate::Complex<f32>, crate::Complex<f64>] => $body)
    };
}
pub(super) use over_signal;

/// The length of a transform, if one is given, as PyTorch accepts it.
pub(crate) fn length(op: &'static str, n: Option<i64>) -> Result<Option<usize>> {
    match n.map(usize::try_from) {
        Some(Ok(0) | Err(_)) => {
            invalid(op, format!("Invalid number of data points ({}) specified", n.unwrap_or_default()))
        }
        n => Ok(n.and_then(|n| n.ok())),
    }
}

impl AnyTensor {
    /// The signal in a dtype that is transformed: integers and bools become the default float.
    pub(crate) fn as_signal(&self, op: &'static str) -> Result<AnyTensor> {
        let is_whole = !self.dtype.is_shell() && !self.dtype.is_floating_point() && !self.dtype.is_complex();
        if !is_whole {
            return Ok(self.clone());
        }
        self.to(default_float())
            .map_err(|_| Error::InvalidArgument { op, reason: format!("Unsupported dtype {}", self.dtype) })
    }

    /// [`as_signal`](Self::as_signal) of a signal that must be real.
    pub(crate) fn as_real_signal(&self, op: &'static str) -> Result<AnyTensor> {
        if self.dtype.is_complex() {
            let name = op.trim_start_matches("fft.");
            return invalid(op, format!("{name} expects a real input tensor, but got {}", self.dtype));
        }
        self.as_signal(op)
    }

    /// The axes and lengths of a transform along several axes; if it goes back `to_real`, the last length is inferred from half of the
    /// frequencies.
    pub(crate) fn axes_and_lengths(
        &self,
        op: &'static str,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
        to_real: bool,
    ) -> Result<Vec<(usize, usize)>> {
        let rank = self.rank();
        let dims: Vec<i64> = match (dim, s) {
            (Some(dim), Some(s)) if dim.len() != s.len() => {
                return invalid(op, "When given, dim and shape arguments must have the same length".to_owned());
            }
            (Some(dim), _) => dim.to_vec(),
            (None, Some(s)) if s.len() > rank => {
                return invalid(
                    op,
                    format!("Got shape with {} values but input tensor only has {rank} dimensions.", s.len()),
                );
            }
            (None, Some(s)) => (0..s.len() as i64).map(|at| at - s.len() as i64).collect(),
            (None, None) => (0..rank as i64).collect(),
        };
        let at = dims.iter().map(|&dim| axis(op, dim, rank)).collect::<Result<Vec<usize>>>()?;
        let last = at.len().wrapping_sub(1);
        let mut all = Vec::with_capacity(at.len());
        for (place, &axis) in at.iter().enumerate() {
            let Some(&own) = self.sizes.get(axis) else {
                return invalid(op, "a zero-dim tensor has no axis to transform".to_owned());
            };
            let samples = if to_real && place == last { 2 * (own as i64 - 1) } else { own as i64 };
            let n = length(op, Some(s.map(|s| s[place]).filter(|&n| n != -1).unwrap_or(samples)))?;
            all.push((axis, n.unwrap_or_default()));
        }
        Ok(all)
    }

    /// Transforms along all axes: to complex numbers, or, without a last step, to real ones.
    fn transformed_all(
        &self,
        (op, direction): (&'static str, Direction),
        step: Option<Step>,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
        norm: Option<&str>,
    ) -> Result<AnyTensor> {
        let x = if step == Some(Step::Real) { self.as_real_signal(op)? } else { self.as_signal(op)? };
        let of = Transform { op, direction, norm: Norm::named(op, norm)? };
        let axes = self.axes_and_lengths(op, s, dim, step.is_none())?;
        over_signal!(op, x.dtype, E => match step {
            Some(step) => x.as_erased::<E>()?.all_to_complex(of, step, &axes).map(IntoAny::into_any),
            None => x.as_erased::<E>()?.all_to_real(of, &axes).map(IntoAny::into_any),
        })
    }

    /// Rolls axes by a share of their size.
    /// The axes given, each named once; all if none are.
    pub(crate) fn axes_or_all(&self, op: &'static str, dim: Option<&[i64]>) -> Result<Vec<usize>> {
        dim.map_or_else(|| listed(0..self.rank()), |dim| axes(op, dim, self.rank()))
    }
}

#[operations]
impl AnyTensor {
    /// [`fft`](Self::fft) along two axes (`torch.fft.fft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.fft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn fft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all(("fft.fft2", Direction::Forward), Some(Step::Complex), s, Some(dim), norm)
    }

    /// [`ifft`](Self::ifft) along two axes (`torch.fft.ifft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.ifft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn ifft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all(("fft.ifft2", Direction::Inverse), Some(Step::Complex), s, Some(dim), norm)
    }

    /// [`rfft`](Self::rfft) along two axes (`torch.fft.rfft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.rfft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn rfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all(("fft.rfft2", Direction::Forward), Some(Step::Real), s, Some(dim), norm)
    }

    /// [`irfft`](Self::irfft) along two axes (`torch.fft.irfft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.irfft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn irfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all(("fft.irfft2", Direction::Inverse), None, s, Some(dim), norm)
    }

    /// [`hfft`](Self::hfft) along two axes (`torch.fft.hfft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.hfft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn hfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all(("fft.hfft2", Direction::Forward), None, s, Some(dim), norm)
    }

    /// [`hfft`](Self::hfft) along several axes (`torch.fft.hfftn`): all if none are given, or as many of the last ones as there are
    /// lengths. `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.hfftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn hfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all(("fft.hfftn", Direction::Forward), None, s, dim, norm)
    }

    /// [`ihfft`](Self::ihfft) along two axes (`torch.fft.ihfft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.ihfft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn ihfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all(("fft.ihfft2", Direction::Inverse), Some(Step::Real), s, Some(dim), norm)
    }

    /// [`ihfft`](Self::ihfft) along several axes (`torch.fft.ihfftn`): all if none are given, or as many of the last ones as there are
    /// lengths. `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.ihfftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn ihfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all(("fft.ihfftn", Direction::Inverse), Some(Step::Real), s, dim, norm)
    }

    #[op(fft.fftfreq(n, d = 1.0, dtype = None, device = None), dtypes = "floats and complex")]
    fn fftfreq_by_name(n: i64, d: f64, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        of_frequencies("fft.fftfreq", n, d, false, dtype, device)
    }

    #[op(fft.rfftfreq(n, d = 1.0, dtype = None, device = None), dtypes = "floats and complex")]
    fn rfftfreq_by_name(n: i64, d: f64, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        of_frequencies("fft.rfftfreq", n, d, true, dtype, device)
    }
}

/// Numbers computed on the host, converted to a dtype and moved to the given or the default device.
pub(super) fn placed(numbers: Vec<f64>, dtype: DType, device: Option<AnyDevice>) -> Result<AnyTensor> {
    let len = numbers.len();
    let tensor = Tensor::<f64, (Dyn,), Cpu>::try_from_vec_sized(numbers, [len])?;
    AnyTensor::from(tensor).to(dtype)?.to_device(device.unwrap_or_else(default_device))
}

fn of_frequencies(
    op: &'static str,
    n: i64,
    d: f64,
    half: bool,
    dtype: Option<DType>,
    device: Option<AnyDevice>,
) -> Result<AnyTensor> {
    let dtype = dtype.unwrap_or_else(default_float);
    if !dtype.is_floating_point() && !dtype.is_complex() {
        return invalid(op, format!("{} requires a floating point or complex dtype", op.trim_start_matches("fft.")));
    }
    let Ok(n) = usize::try_from(n) else {
        return invalid(op, format!("the number of samples must not be negative, got {n}"));
    };
    placed(frequencies(n, d, half)?, dtype, device)
}
