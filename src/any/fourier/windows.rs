//! Windows at run time: `signal.windows.*`, `hann_window` and the other older names.

use super::transforms::placed;
use crate::any::AnyTensor;
use crate::any::base::operand::default_float;
use crate::device::AnyDevice;
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::tensor::fourier::Window;
use castiron_macros::operations;

/// A window of `signal.windows`, which gives `float32` and `float64`.
fn window(
    op: &'static str,
    m: i64,
    symmetric: bool,
    dtype: Option<DType>,
    device: Option<AnyDevice>,
    window: &Window,
) -> Result<AnyTensor> {
    let dtype = dtype.unwrap_or_else(default_float);
    if !matches!(dtype, DType::F32 | DType::F64) {
        return invalid(op, format!("expects float32 or float64 dtypes, got: {dtype}"));
    }
    let Ok(n) = usize::try_from(m) else {
        return invalid(op, format!("requires non-negative window length, got M={m}"));
    };
    placed(window.weights(op, n, symmetric)?, dtype, device)
}

/// A window by its older name, in any floating dtype.
fn older(
    op: &'static str,
    n: i64,
    periodic: bool,
    dtype: Option<DType>,
    device: Option<AnyDevice>,
    window: &Window,
) -> Result<AnyTensor> {
    let dtype = dtype.unwrap_or_else(default_float);
    if !dtype.is_floating_point() || dtype.is_shell() {
        return invalid(op, format!("expects floating point dtypes, got: {dtype}"));
    }
    let Ok(n) = usize::try_from(n) else {
        return invalid(op, format!("requires non-negative window_length, got window_length={n}"));
    };
    placed(window.weights(op, n, !periodic)?, dtype, device)
}

#[operations]
impl AnyTensor {
    /// A window of `n` samples, symmetric or periodic (`torch.signal.windows.*`).
    ///
    /// # Errors
    /// If a parameter is out of its range, or the dtype is no float.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, fft::Window};
    /// assert_eq!(AnyTensor::window(&Window::Hann, 4, false, DType::F32)?.to_string(), "tensor([0.0000, 0.5000, 1.0000, 0.5000])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn window(window: &Window, n: usize, symmetric: bool, dtype: DType) -> Result<AnyTensor> {
        older("window", n as i64, !symmetric, Some(dtype), None, window)
    }

    #[op(signal.windows.bartlett(M, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn bartlett_by_name(m: i64, sym: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        window("signal.windows.bartlett", m, sym, dtype, device, &Window::Bartlett)
    }

    #[op(signal.windows.blackman(M, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn blackman_by_name(m: i64, sym: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        window("signal.windows.blackman", m, sym, dtype, device, &Window::Blackman)
    }

    #[op(signal.windows.cosine(M, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn cosine_by_name(m: i64, sym: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        window("signal.windows.cosine", m, sym, dtype, device, &Window::Cosine)
    }

    #[op(signal.windows.exponential(M, center = None, tau = 1.0, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn exponential_by_name(
        m: i64,
        center: Option<f64>,
        tau: f64,
        sym: bool,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        window("signal.windows.exponential", m, sym, dtype, device, &Window::Exponential { center, tau })
    }

    #[op(signal.windows.gaussian(M, std = 1.0, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn gaussian_by_name(
        m: i64,
        std: f64,
        sym: bool,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        window("signal.windows.gaussian", m, sym, dtype, device, &Window::Gaussian { std })
    }

    #[op(signal.windows.general_cosine(M, a, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn general_cosine_by_name(
        m: i64,
        a: Vec<f64>,
        sym: bool,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        window("signal.windows.general_cosine", m, sym, dtype, device, &Window::GeneralCosine(a))
    }

    #[op(signal.windows.general_hamming(M, alpha = 0.54, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn general_hamming_by_name(
        m: i64,
        alpha: f64,
        sym: bool,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        window("signal.windows.general_hamming", m, sym, dtype, device, &Window::GeneralHamming { alpha })
    }

    #[op(signal.windows.hamming(M, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn hamming_by_name(m: i64, sym: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        window("signal.windows.hamming", m, sym, dtype, device, &Window::Hamming)
    }

    #[op(signal.windows.hann(M, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn hann_by_name(m: i64, sym: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        window("signal.windows.hann", m, sym, dtype, device, &Window::Hann)
    }

    #[op(signal.windows.kaiser(M, beta = 12.0, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn kaiser_by_name(
        m: i64,
        beta: f64,
        sym: bool,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        window("signal.windows.kaiser", m, sym, dtype, device, &Window::Kaiser { beta })
    }

    #[op(signal.windows.nuttall(M, sym = true, dtype = None, device = None), dtypes = "float32 and float64")]
    fn nuttall_by_name(m: i64, sym: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        window("signal.windows.nuttall", m, sym, dtype, device, &Window::Nuttall)
    }

    #[op(bartlett_window(window_length, periodic = true, dtype = None, device = None), dtypes = "floats")]
    fn bartlett_window(n: i64, periodic: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        older("bartlett_window", n, periodic, dtype, device, &Window::Bartlett)
    }

    #[op(blackman_window(window_length, periodic = true, dtype = None, device = None), dtypes = "floats")]
    fn blackman_window(n: i64, periodic: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        older("blackman_window", n, periodic, dtype, device, &Window::Blackman)
    }

    #[op(hann_window(window_length, periodic = true, dtype = None, device = None), dtypes = "floats")]
    fn hann_window(n: i64, periodic: bool, dtype: Option<DType>, device: Option<AnyDevice>) -> Result<AnyTensor> {
        older("hann_window", n, periodic, dtype, device, &Window::Hann)
    }

    #[op(kaiser_window(window_length, periodic = true, beta = 12.0, dtype = None, device = None), dtypes = "floats")]
    fn kaiser_window(
        n: i64,
        periodic: bool,
        beta: f64,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        older("kaiser_window", n, periodic, dtype, device, &Window::Kaiser { beta })
    }

    #[op(hamming_window(window_length, periodic = true, alpha = 0.54, beta = 0.46, dtype = None, device = None), dtypes = "floats")]
    fn hamming_window(
        n: i64,
        periodic: bool,
        alpha: f64,
        beta: f64,
        dtype: Option<DType>,
        device: Option<AnyDevice>,
    ) -> Result<AnyTensor> {
        older("hamming_window", n, periodic, dtype, device, &Window::GeneralCosine(vec![alpha, beta]))
    }
}
