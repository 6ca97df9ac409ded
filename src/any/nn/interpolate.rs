//! `interpolate`, and its older names.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::{AnyTensor, IntoAny, Value};
use crate::composite::nn::interpolate::scaled;
use crate::error::{Result, invalid};
use crate::ops::resample::{InterpolateMode, Kernel, Resampling};
use castiron_macros::operations;

/// The sizes and the mode of resampling `(N, C, …)`, where the axes after the channels get other sizes: one number for all of them, or one
/// for each. The default mode is `nearest`.
///
/// ```
/// use castiron::any::{InterpolateMode, InterpolateOptions};
/// use castiron::{AnyTensor, DType};
/// let x = AnyTensor::ones(&[1, 3, 32, 32], DType::F32)?;
/// let y = x.interpolate(&InterpolateOptions::size(&[48, 64]).mode(InterpolateMode::Bilinear))?;
/// assert_eq!(y.shape(), [1, 3, 48, 64]);
/// assert_eq!(x.interpolate(&InterpolateOptions::scale_factor(&[0.5]))?.shape(), [1, 3, 16, 16]);
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct InterpolateOptions {
    to: To,
    mode: InterpolateMode,
    align_corners: Option<bool>,
    recomputes: bool,
    antialias: bool,
}

#[derive(Clone, Debug)]
enum To {
    Size(Vec<i64>),
    Factor(Vec<f64>),
}

impl InterpolateOptions {
    fn new(to: To) -> Self {
        InterpolateOptions {
            to,
            mode: InterpolateMode::Nearest,
            align_corners: None,
            recomputes: false,
            antialias: false,
        }
    }
    /// Resamples to these sizes.
    pub fn size(size: &[i64]) -> Self {
        Self::new(To::Size(size.to_vec()))
    }
    /// Resamples to the sizes multiplied by these factors, rounded down.
    pub fn scale_factor(factor: &[f64]) -> Self {
        Self::new(To::Factor(factor.to_vec()))
    }
    /// The interpolation mode.
    #[must_use]
    pub fn mode(self, mode: InterpolateMode) -> Self {
        InterpolateOptions { mode, ..self }
    }
    /// Whether the first and last output positions coincide with the first and last input positions, in the interpolating modes.
    #[must_use]
    pub fn align_corners(self, align_corners: bool) -> Self {
        InterpolateOptions { align_corners: Some(align_corners), ..self }
    }
    /// Whether the scale is computed from the rounded output sizes, instead of the given factors.
    #[must_use]
    pub fn recompute_scale_factor(self, recomputes: bool) -> Self {
        InterpolateOptions { recomputes, ..self }
    }
    /// Whether an output pixel averages all input pixels that it covers, in the interpolating modes of images.
    #[must_use]
    pub fn antialias(self, antialias: bool) -> Self {
        InterpolateOptions { antialias, ..self }
    }

    fn resampling(&self, op: &'static str, axes: usize) -> Result<Resampling> {
        use InterpolateMode::{Bicubic, Bilinear, Lanczos};
        let Some(kernel) = self.mode.kernel(axes) else {
            let reason = format!("mode {:?} does not resample {axes} axes behind the channels", self.mode);
            return invalid(op, reason);
        };
        if self.align_corners.is_some() && matches!(kernel, Kernel::Nearest | Kernel::NearestExact | Kernel::Area) {
            return invalid(op, format!("mode {:?} has no corners to align", self.mode));
        }
        if self.antialias && !matches!(self.mode, Bilinear | Bicubic | Lanczos) {
            return invalid(op, "antialiasing is of the modes bilinear, bicubic and lanczos".to_owned());
        }
        let align_corners = self.align_corners == Some(true);
        if self.mode == Lanczos && (align_corners || !self.antialias) {
            return invalid(op, "mode lanczos takes antialias=True, and aligns no corners".to_owned());
        }
        Ok(Resampling { kernel, align_corners, antialias: self.antialias })
    }

    /// What is resampled to which sizes, and the factors of the sizes.
    #[allow(clippy::type_complexity)]
    pub(crate) fn resolved(
        &self,
        op: &'static str,
        x: &AnyTensor,
    ) -> Result<(Resampling, Vec<usize>, Option<Vec<f64>>)> {
        let axes = x.rank().saturating_sub(2);
        if !(1..=3).contains(&axes) {
            let reason =
                format!("expected (batch, channels, …) with one to three axes behind, got shape {:?}", x.shape());
            return invalid(op, reason);
        }
        let how = self.resampling(op, axes)?;
        let own = &x.shape()[2..];
        let count = |len: usize| {
            if len != 1 && len != axes { invalid(op, format!("{len} numbers for {axes} axes")) } else { Ok(()) }
        };
        let (places, factors) = match &self.to {
            To::Size(_) if self.recomputes => {
                return invalid(op, "recompute_scale_factor is of scale factors, and a size is given".to_owned());
            }
            To::Size(size) => (super::conv::each(op, "size", size, axes)?, None),
            To::Factor(factor) => {
                count(factor.len())?;
                let factors = if factor.len() == axes { factor.clone() } else { vec![factor[0]; axes] };
                let places = own
                    .iter()
                    .zip(&factors)
                    .map(|(&size, &factor)| scaled(op, size, factor))
                    .collect::<Result<Vec<usize>>>()?;
                (places, Some(factors).filter(|_| !self.recomputes))
            }
        };
        Ok((how, places, factors))
    }

    fn of(args: &Bound<'_>, axes: usize) -> Result<Self> {
        for name in ["size", "scale_factor"] {
            if args.is_given(name) && args.is_list(name) && args.all(name)?.len() != axes {
                return args.refused(format!("{name} has {} numbers for {axes} axes", args.all(name)?.len()));
            }
        }
        match (args.is_given("size"), args.is_given("scale_factor")) {
            (true, false) => Ok(InterpolateOptions::size(&args.read::<Vec<i64>>("size")?)),
            (false, true) => Ok(InterpolateOptions::scale_factor(&args.read::<Vec<f64>>("scale_factor")?)),
            _ => args.refused("expected either a size or a scale factor".to_owned()),
        }
    }
}

impl AnyTensor {
    fn axes_behind_channels(args: &Bound<'_>) -> Result<usize> {
        Ok(args.tensor("input")?.rank().saturating_sub(2))
    }

    fn interpolated_by_name(args: &Bound<'_>, options: InterpolateOptions) -> Result<Value> {
        Ok(args.tensor("input")?.interpolate(&options)?.into())
    }

    /// The options that both `interpolate` and `upsample` have.
    fn interpolate_options(args: &Bound<'_>) -> Result<InterpolateOptions> {
        let mut options = InterpolateOptions::of(args, Self::axes_behind_channels(args)?)?;
        if args.is_given("mode") {
            options = options.mode(args.read::<&str>("mode")?.parse()?);
        }
        if args.is_given("align_corners") {
            options = options.align_corners(args.read("align_corners")?);
        }
        Ok(options)
    }
}

#[operations]
impl AnyTensor {
    #[op(nn.functional.interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias), dtypes = "floats and uint8")]
    fn interpolate_by_name(args: &Bound<'_>) -> Result<Value> {
        let options = AnyTensor::interpolate_options(args)?
            .recompute_scale_factor(args.read_or("recompute_scale_factor", || false)?)
            .antialias(args.read_or("antialias", || false)?);
        AnyTensor::interpolated_by_name(args, options)
    }
    #[op(nn.functional.upsample(input, size, scale_factor, mode, align_corners), dtypes = "floats and uint8")]
    fn upsample_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::interpolated_by_name(args, AnyTensor::interpolate_options(args)?)
    }
    #[op(nn.functional.upsample_nearest(input, size, scale_factor), dtypes = "floats and uint8")]
    fn upsample_nearest_by_name(args: &Bound<'_>) -> Result<Value> {
        let options = InterpolateOptions::of(args, AnyTensor::axes_behind_channels(args)?)?;
        AnyTensor::interpolated_by_name(args, options)
    }
    #[op(nn.functional.upsample_bilinear(input, size, scale_factor), dtypes = "floats and uint8")]
    fn upsample_bilinear_by_name(args: &Bound<'_>) -> Result<Value> {
        let options = InterpolateOptions::of(args, AnyTensor::axes_behind_channels(args)?)?;
        AnyTensor::interpolated_by_name(args, options.mode(InterpolateMode::Bilinear).align_corners(true))
    }
    #[op(_upsample_bilinear2d_aa(input, output_size, align_corners, scales_h, scales_w), dtypes = "floats and uint8")]
    fn upsample_bilinear2d_aa_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, op) = (args.tensor("input")?, args.op);
        if x.rank() != 4 {
            return args.refused(format!("expected (batch, channels, height, width), got shape {:?}", x.shape()));
        }
        let places = super::conv::each(op, "output_size", &args.read::<Vec<i64>>("output_size")?, 2)?;
        let how = Resampling { kernel: Kernel::Linear, align_corners: args.read("align_corners")?, antialias: true };
        // A factor of 0 counts as not given.
        let factors = [args.read_or("scales_h", || 0.0)?, args.read_or("scales_w", || 0.0)?];
        dispatch_dtype!(op, x.dtype, E: [u8, crate::f16, crate::bf16, f32, f64] => {
            let result = x.as_erased::<E>()?.interpolate(how, &places, Some(&factors))?;
            Ok(result.into_any().into())
        })
    }
}
