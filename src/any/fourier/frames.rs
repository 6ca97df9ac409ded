//! `stft` and `istft` by name, and windows of signals.

use super::transforms::over_signal;
use crate::any::base::operand::same_device;
use crate::any::call::Bound;
use crate::any::{AnyTensor, IntoAny, Value};
use crate::composite::fourier::frames::{Beyond, Frames};
use crate::composite::fourier::signal::Spectral;
use crate::device::{Backend as _, Dynamic, expect_constant};
use crate::dtype::{Complex, Element};
use crate::error::{Result, filled, invalid, listed};
use castiron_macros::operations;

/// The arguments of both.
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

impl AnyTensor {
    /// Checks that frames can be made of the tensor.
    pub(crate) fn expect_framed(&self, window: Option<&AnyTensor>, frames: &Frames) -> Result<()> {
        let op = "stft";
        if !self.dtype.is_floating_point() && !self.dtype.is_complex() {
            return invalid(op, format!("expected a tensor of floating point or complex values, got {}", self.dtype));
        }
        if frames.onesided && window.is_some_and(|window| window.dtype.is_complex()) {
            return invalid(op, "Cannot have onesided output if window or input is complex".to_owned());
        }
        Ok(())
    }

    /// The weights of a window, for a signal of dtype `E`; none are needed without data.
    pub(crate) fn weights_beside<E: Spectral>(
        &self,
        op: &'static str,
        window: Option<&AnyTensor>,
    ) -> Result<Option<Vec<Complex<E::Re>>>> {
        let Some(window) = window else { return Ok(None) };
        same_device(op, self, window)?;
        if window.rank() != 1 {
            return invalid(op, format!("expected a 1D window tensor, got a tensor of shape {:?}", window.shape()));
        }
        if !window.has_data() {
            return filled(num_traits::One::one(), window.numel()).map(Some);
        }
        let window = window.to(<E::Cx as Element>::DTYPE)?;
        let elements = window.data_as::<E::Cx>(op)?;
        expect_constant("the window of a short-time transform", Dynamic::is_tracked(elements.buffer))?;
        listed(Dynamic::download::<E::Cx>(elements)?.into_iter().map(Spectral::wave)).map(Some)
    }
}

#[operations]
impl AnyTensor {
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
        over_signal!(op, self.dtype, E => {
            let (x, weights) = (self.as_erased::<E>()?, self.weights_beside::<E>(op, window)?);
            match complex {
                true => x.overlapped(weights, frames, length, true, E::spectrum).map(IntoAny::into_any),
                false => x.istft(weights, frames, length).map(IntoAny::into_any),
            }
        })
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
        // Without the argument, `onesided` is inferred from the number of frequencies.
        let n_fft: i64 = args.read("n_fft")?;
        let frames = frames_of(args, args.read_or("onesided", || x.sizes[x.rank() - 2] as i64 != n_fft)?)?;
        Ok(x.istft(window, &frames, args.read("length")?, complex)?.into())
    }
}
