//! `fft.fft` and its kin, along one axis and along several, and the order of frequencies.
//! Uses `tensor::fourier::erased`.

use crate::any::base::operand::default_float;
use crate::any::view::views::{axes, axis};
use crate::any::{AnyTensor, Dims};
use crate::device::{AnyDevice, Dynamic, default_device};
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};
use crate::tensor::fourier::erased::{along, along_all, frequencies};
use crate::tensor::fourier::{Along, Direction, Norm, Step, Transformed};
use crate::{Cpu, Dyn, Tensor};
use castiron_macros::operations;

/// Code over the dtype of a signal, one of those that are transformed.
macro_rules! over_signal {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        crate::any::base::dispatch::dispatch_dtype!($op, $dtype, $E: [f32, f64, crate::Complex<f32>, crate::Complex<f64>] => $body)
    };
}
pub(super) use over_signal;

pub(super) fn norm(op: &'static str, name: Option<&str>) -> Result<Norm> {
    match name {
        None | Some("backward") => Ok(Norm::Backward),
        Some("forward") => Ok(Norm::Forward),
        Some("ortho") => Ok(Norm::Ortho),
        Some(other) => invalid(op, format!("Invalid normalization mode: \"{other}\"")),
    }
}

/// The dtype of a real result, and of a complex one.
pub(super) fn dtypes(signal: DType) -> [DType; 2] {
    match signal {
        DType::F64 | DType::C128 => [DType::F64, DType::C128],
        _ => [DType::F32, DType::C64],
    }
}

pub(super) fn any(op: &'static str, result: Transformed<Dynamic>, dtype: DType) -> Result<AnyTensor> {
    Dims::new(op, &result.sizes)?;
    Ok(AnyTensor::fresh(result.storage, dtype, &result.sizes, &result.strides))
}

/// A length that PyTorch takes.
fn length(op: &'static str, n: i64) -> Result<usize> {
    match usize::try_from(n) {
        Ok(n) if n > 0 => Ok(n),
        _ => invalid(op, format!("Invalid number of data points ({n}) specified")),
    }
}

/// How many samples so many frequencies are of, if nothing is said.
fn samples(op: &'static str, frequencies: usize) -> Result<usize> {
    length(op, 2 * (frequencies as i64 - 1))
}

impl AnyTensor {
    /// The signal in a dtype that is transformed: integers and bools in the default one.
    pub(super) fn as_signal(&self, op: &'static str) -> Result<AnyTensor> {
        let is_whole = !self.dtype.is_shell() && !self.dtype.is_floating_point() && !self.dtype.is_complex();
        if !is_whole {
            return Ok(self.clone());
        }
        self.to(default_float())
            .map_err(|_| Error::InvalidArgument { op, reason: format!("Unsupported dtype {}", self.dtype) })
    }

    fn expect_real(&self, op: &'static str) -> Result<()> {
        if !self.dtype.is_complex() {
            return Ok(());
        }
        invalid(op, format!("{} expects a real input tensor, but got {}", op.trim_start_matches("fft."), self.dtype))
    }

    fn transformed(
        &self,
        op: &'static str,
        step: Step,
        direction: Direction,
        n: Option<i64>,
        dim: i64,
        name: Option<&str>,
    ) -> Result<AnyTensor> {
        if self.rank() == 0 {
            return invalid(op, format!("Dimension specified as {dim} but tensor has no dimensions"));
        }
        if step == Step::Real {
            self.expect_real(op)?;
        }
        let (x, at, norm) = (self.as_signal(op)?, axis(op, dim, self.rank())?, norm(op, name)?);
        let n = match (n, step) {
            (Some(n), _) => length(op, n)?,
            (None, Step::BackToReal) => samples(op, x.sizes[at])?,
            (None, _) => length(op, x.sizes[at] as i64)?,
        };
        let of = Along { op, axis: at, n, direction, norm };
        let result = over_signal!(op, x.dtype, E => along::<E, Dynamic>(x.elements_as()?, step, of))?;
        any(op, result, dtypes(x.dtype)[usize::from(step != Step::BackToReal)])
    }

    /// The axes of a transform of several, and the lengths of their signals.
    fn axes_and_lengths(
        &self,
        op: &'static str,
        step: Step,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
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
            let n = match s.map(|s| s[place]).filter(|&n| n != -1) {
                Some(n) => length(op, n)?,
                None if step == Step::BackToReal && place == last => samples(op, own)?,
                None => length(op, own as i64)?,
            };
            all.push((axis, n));
        }
        Ok(all)
    }

    fn transformed_all(
        &self,
        op: &'static str,
        step: Step,
        direction: Direction,
        s: Option<&[i64]>,
        dim: Option<&[i64]>,
        name: Option<&str>,
    ) -> Result<AnyTensor> {
        if step == Step::Real {
            self.expect_real(op)?;
        }
        let (x, norm) = (self.as_signal(op)?, norm(op, name)?);
        let axes = self.axes_and_lengths(op, step, s, dim)?;
        let result = over_signal!(op, x.dtype, E => along_all::<E, Dynamic>(op, x.elements_as()?, step, &axes, direction, norm))?;
        any(op, result, dtypes(x.dtype)[usize::from(step != Step::BackToReal)])
    }

    /// Moves positions up along axes by a share of their size.
    fn shifted(&self, op: &'static str, dim: Option<&[i64]>, by: impl Fn(usize) -> usize) -> Result<AnyTensor> {
        let dims: Vec<i64> = match dim {
            Some(dim) => axes(op, dim, self.rank())?.into_iter().map(|at| at as i64).collect(),
            None => (0..self.rank() as i64).collect(),
        };
        if self.rank() == 0 {
            return Ok(self.clone());
        }
        let shifts: Vec<i64> = dims.iter().map(|&at| by(self.sizes[at as usize]) as i64).collect();
        if dims.is_empty() { self.copy() } else { self.roll(&shifts, &dims) }
    }
}

#[operations]
impl AnyTensor {
    /// The discrete Fourier transform along an axis (`torch.fft.fft`): `n` cuts off or fills up with zeros; `norm` is `"backward"`, `"forward"` or `"ortho"`.
    ///
    /// # Errors
    /// If the axis is out of range, a length is not positive, the norm is none, or the dtype is a 16-bit float.
    #[op(fft.fft(input, n = None, dim = -1, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn fft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed("fft.fft", Step::Complex, Direction::Forward, n, dim, norm)
    }

    /// The inverse discrete Fourier transform along an axis (`torch.fft.ifft`): `n` cuts off or fills up with zeros; `norm` is `"backward"`, `"forward"` or `"ortho"`.
    ///
    /// # Errors
    /// If the axis is out of range, a length is not positive, the norm is none, or the dtype is a 16-bit float.
    #[op(fft.ifft(input, n = None, dim = -1, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn ifft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed("fft.ifft", Step::Complex, Direction::Inverse, n, dim, norm)
    }

    /// The first half of the frequencies of real samples (`torch.fft.rfft`): `n` cuts off or fills up with zeros; `norm` is `"backward"`, `"forward"` or `"ortho"`.
    ///
    /// # Errors
    /// If the axis is out of range, a length is not positive, the norm is none, or the dtype is complex or a 16-bit float.
    #[op(fft.rfft(input, n = None, dim = -1, norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn rfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed("fft.rfft", Step::Real, Direction::Forward, n, dim, norm)
    }

    /// Real samples of the first half of their frequencies (`torch.fft.irfft`): `n` cuts off or fills up with zeros the samples, `2 m - 2` if not given; `norm` is `"backward"`, `"forward"` or `"ortho"`.
    ///
    /// # Errors
    /// If the axis is out of range, a length is not positive, the norm is none, or the dtype is a 16-bit float.
    #[op(fft.irfft(input, n = None, dim = -1, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn irfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed("fft.irfft", Step::BackToReal, Direction::Inverse, n, dim, norm)
    }

    /// The frequencies, which are real, of the first half of a signal whose other half are the conjugates (`torch.fft.hfft`): `n` cuts off or fills up with zeros the frequencies, `2 m - 2` if not given; `norm` is `"backward"`, `"forward"` or `"ortho"`.
    ///
    /// # Errors
    /// If the axis is out of range, a length is not positive, the norm is none, or the dtype is a 16-bit float.
    #[op(fft.hfft(input, n = None, dim = -1, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn hfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed("fft.hfft", Step::BackToReal, Direction::Forward, n, dim, norm)
    }

    /// The inverse transform of real samples, of which the first half is given (`torch.fft.ihfft`): `n` cuts off or fills up with zeros; `norm` is `"backward"`, `"forward"` or `"ortho"`.
    ///
    /// # Errors
    /// If the axis is out of range, a length is not positive, the norm is none, or the dtype is complex or a 16-bit float.
    #[op(fft.ihfft(input, n = None, dim = -1, norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn ihfft(&self, n: Option<i64>, dim: i64, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed("fft.ihfft", Step::Real, Direction::Inverse, n, dim, norm)
    }

    /// [`fft`](Self::fft) along two axes (`torch.fft.fft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.fft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn fft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.fft2", Step::Complex, Direction::Forward, s, Some(dim), norm)
    }

    /// [`fft`](Self::fft) along several axes (`torch.fft.fftn`); all if none are given, or the last ones of which there are lengths. `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.fftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn fftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.fftn", Step::Complex, Direction::Forward, s, dim, norm)
    }

    /// [`ifft`](Self::ifft) along two axes (`torch.fft.ifft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.ifft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn ifft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.ifft2", Step::Complex, Direction::Inverse, s, Some(dim), norm)
    }

    /// [`ifft`](Self::ifft) along several axes (`torch.fft.ifftn`); all if none are given, or the last ones of which there are lengths. `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.ifftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn ifftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.ifftn", Step::Complex, Direction::Inverse, s, dim, norm)
    }

    /// [`rfft`](Self::rfft) along two axes (`torch.fft.rfft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.rfft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn rfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.rfft2", Step::Real, Direction::Forward, s, Some(dim), norm)
    }

    /// [`rfft`](Self::rfft) along several axes (`torch.fft.rfftn`); all if none are given, or the last ones of which there are lengths. `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.rfftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn rfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.rfftn", Step::Real, Direction::Forward, s, dim, norm)
    }

    /// [`irfft`](Self::irfft) along two axes (`torch.fft.irfft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.irfft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn irfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.irfft2", Step::BackToReal, Direction::Inverse, s, Some(dim), norm)
    }

    /// [`irfft`](Self::irfft) along several axes (`torch.fft.irfftn`); all if none are given, or the last ones of which there are lengths. `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.irfftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn irfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.irfftn", Step::BackToReal, Direction::Inverse, s, dim, norm)
    }

    /// [`hfft`](Self::hfft) along two axes (`torch.fft.hfft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.hfft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn hfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.hfft2", Step::BackToReal, Direction::Forward, s, Some(dim), norm)
    }

    /// [`hfft`](Self::hfft) along several axes (`torch.fft.hfftn`); all if none are given, or the last ones of which there are lengths. `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.hfftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32, float64, complex64 and complex128")]
    pub fn hfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.hfftn", Step::BackToReal, Direction::Forward, s, dim, norm)
    }

    /// [`ihfft`](Self::ihfft) along two axes (`torch.fft.ihfft2`). `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.ihfft2(input, s = None, dim = vec![-2, -1], norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn ihfft2(&self, s: Option<&[i64]>, dim: &[i64], norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.ihfft2", Step::Real, Direction::Inverse, s, Some(dim), norm)
    }

    /// [`ihfft`](Self::ihfft) along several axes (`torch.fft.ihfftn`); all if none are given, or the last ones of which there are lengths. `s` are the lengths, -1 being that of the axis.
    ///
    /// # Errors
    /// As there, and if an axis is named twice or there are not as many lengths as axes.
    #[op(fft.ihfftn(input, s = None, dim = None, norm = None), dtypes = "integers, bool, float32 and float64")]
    pub fn ihfftn(&self, s: Option<&[i64]>, dim: Option<&[i64]>, norm: Option<&str>) -> Result<AnyTensor> {
        self.transformed_all("fft.ihfftn", Step::Real, Direction::Inverse, s, dim, norm)
    }

    /// Frequencies in the order of numbers, 0 in the middle (`torch.fft.fftshift`); along all axes if none are given.
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    #[op(fft.fftshift(input, dim = None), dtypes = any)]
    pub fn fftshift(&self, dim: Option<&[i64]>) -> Result<AnyTensor> {
        self.shifted("fft.fftshift", dim, |n| n / 2)
    }

    /// The opposite of [`fftshift`](Self::fftshift) (`torch.fft.ifftshift`).
    ///
    /// # Errors
    /// As there.
    #[op(fft.ifftshift(input, dim = None), dtypes = any)]
    pub fn ifftshift(&self, dim: Option<&[i64]>) -> Result<AnyTensor> {
        self.shifted("fft.ifftshift", dim, |n| n.div_ceil(2))
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

/// Numbers computed on the host, in a dtype, where they are asked for or on the default device.
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
