//! `stft` and `istft`.
//! Uses `tensor::fourier::frames`.

use super::transforms::{any, dtypes, over_signal};
use crate::any::call::Bound;
use crate::any::elementwise::apply::same_device;
use crate::any::{AnyTensor, Value};
use crate::device::{Backend as _, Dynamic};
use crate::dtype::Complex;
use crate::error::{Result, filled, invalid, listed};
use crate::tensor::fourier::{Beyond, Frames, Spectral, frames};
use castiron_macros::operations;

/// The arguments that both have.
fn frames_of(args: &Bound<'_>, onesided: bool) -> Result<Frames> {
    let positive = |name: &str, n: i64| match usize::try_from(n) {
        Ok(n) if n > 0 => Ok(n),
        _ => args.refused(format!("expected {name} > 0, but got {name}={n}")),
    };
    let n_fft = positive("n_fft", args.read("n_fft")?)?;
    Ok(Frames {
        hop: positive("hop_length", args.read_or("hop_length", || (n_fft / 4) as i64)?)?,
        window: positive("win_length", args.read_or("win_length", || n_fft as i64)?)?,
        center: args.read_or("center", || true)?,
        normalized: args.read_or("normalized", || false)?,
        onesided,
        ..Frames::new(n_fft)
    })
}

/// A window's weights, beside a signal; without data none are needed.
fn weights<E: Spectral>(
    op: &'static str,
    signal: &AnyTensor,
    window: Option<&AnyTensor>,
) -> Result<Option<Vec<Complex<E::Re>>>> {
    let Some(window) = window else { return Ok(None) };
    same_device(op, signal, window)?;
    if window.rank() != 1 {
        return invalid(op, format!("expected a 1D window tensor, got a tensor of shape {:?}", window.shape()));
    }
    if !window.has_data() {
        return filled(num_traits::One::one(), window.numel()).map(Some);
    }
    let window = window.to(dtypes(signal.dtype)[1])?;
    listed(Dynamic::download::<E::Cx>(window.data_as(op)?)?.into_iter().map(Spectral::wave)).map(Some)
}

#[operations]
impl AnyTensor {
    /// Transforms of overlapping frames, `(…, T)` to `(…, frequencies, frames)`, complex (`torch.stft`).
    ///
    /// # Errors
    /// If the frames do not fit the signal, the window has another length than they say, or the dtype is a 16-bit float.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, fft::{Frames, Window}};
    /// let (x, w) = (AnyTensor::ones(&[16], DType::F32)?, AnyTensor::window(&Window::Hann, 8, false, DType::F32)?);
    /// assert_eq!(x.stft(Some(&w), &Frames::new(8))?.shape(), [5, 9]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn stft(&self, window: Option<&AnyTensor>, frames: &Frames) -> Result<AnyTensor> {
        let op = "stft";
        let x = self;
        if !x.dtype.is_floating_point() && !x.dtype.is_complex() {
            return invalid(op, format!("expected a tensor of floating point or complex values, got {}", x.dtype));
        }
        if frames.onesided && window.is_some_and(|window| window.dtype.is_complex()) {
            return invalid(op, "Cannot have onesided output if window or input is complex".to_owned());
        }
        let result = over_signal!(op, x.dtype, E => {
            let weights = weights::<E>(op, x, window)?;
            frames::stft::<E, Dynamic>(x.elements_as()?, weights, frames)
        })?;
        any(op, result, dtypes(x.dtype)[1])
    }

    /// The signal whose [`stft`](Self::stft) this is, `(…, frequencies, frames)` to `(…, T)`, real or complex (`torch.istft`).
    ///
    /// # Errors
    /// If the frames do not fit, a sample is in no frame that weighs it, or the tensor is not complex.
    pub fn istft(
        &self,
        window: Option<&AnyTensor>,
        frames: &Frames,
        length: Option<usize>,
        complex: bool,
    ) -> Result<AnyTensor> {
        let op = "istft";
        if !self.dtype.is_complex() {
            return invalid(op, format!("istft requires a complex-valued input tensor, got {}", self.dtype));
        }
        let result = over_signal!(op, self.dtype, E => {
            let weights = weights::<E>(op, self, window)?;
            frames::istft::<E, Dynamic>(self.elements_as()?, weights, frames, length, complex)
        })?;
        any(op, result, dtypes(self.dtype)[usize::from(complex)])
    }

    #[op(
        stft(
            input,
            n_fft,
            hop_length,
            win_length,
            window,
            center,
            pad_mode,
            normalized,
            onesided,
            return_complex,
            align_to_window
        ),
        dtypes = "float32, float64, complex64 and complex128"
    )]
    fn stft_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let window: Option<&AnyTensor> = args.read("window")?;
        let is_complex = x.dtype.is_complex() || window.is_some_and(|window| window.dtype.is_complex());
        let Some(complex) = args.read::<Option<bool>>("return_complex")?.or(is_complex.then_some(true)) else {
            return args.refused("stft requires the return_complex parameter be given for real inputs".to_owned());
        };
        if !(1..=2).contains(&x.rank()) {
            return args.refused(format!("expected a 1D or 2D tensor, got one of shape {:?}", x.shape()));
        }
        let beyond = match args.read_or("pad_mode", || "reflect")? {
            "reflect" => Beyond::Mirror,
            "constant" => Beyond::Zeros,
            "replicate" => Beyond::Edge,
            "circular" => Beyond::Wrap,
            other => return args.refused(format!("Unrecognised padding mode {other}")),
        };
        let frames = Frames { beyond, ..frames_of(args, args.read_or("onesided", || !is_complex)?)? };
        let result = x.stft(window, &frames)?;
        Ok(if complex { result } else { result.view_as_real()? }.into())
    }

    #[op(
        istft(input, n_fft, hop_length, win_length, window, center, normalized, onesided, length, return_complex),
        dtypes = "complex64 and complex128"
    )]
    fn istft_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let window: Option<&AnyTensor> = args.read("window")?;
        let complex = args.read_or("return_complex", || false)?;
        if !(2..=3).contains(&x.rank()) {
            return args.refused(format!("expected a tensor with 2 or 3 dimensions, got one of shape {:?}", x.shape()));
        }
        // Half of the frequencies are known by how many there are, if nothing is said.
        let n_fft: i64 = args.read("n_fft")?;
        let frames = frames_of(args, args.read_or("onesided", || x.sizes[x.rank() - 2] as i64 != n_fft)?)?;
        Ok(x.istft(window, &frames, args.read("length")?, complex)?.into())
    }
}
