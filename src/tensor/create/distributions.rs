//! Random tensors of other distributions: `exponential`, `cauchy`, `log_normal`, `geometric`.
//!
//! Each is a function of uniform or normal `f64` samples, which the device draws.

use super::random::{Generator, random};
use crate::device::Device;
use crate::dtype::{Dtype, Float, Real};
use crate::error::{Result, invalid};
use crate::ops::kernel::Casting;
use crate::shape::{Dyn, KnownShape, Shape};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// A one-dimensional tensor of `f64`.
type Numbers<D> = Tensor<f64, (Dyn,), D>;

/// Samples reshaped and converted to the shape and dtype of a tensor.
fn shaped<E: Dtype, S: Shape, D: Device>(
    op: &'static str,
    sizes: S::Sizes,
    draw: impl FnOnce([usize; 1]) -> Result<Numbers<D>>,
) -> Result<Tensor<E, S, D>> {
    expect_fit::<S>(op, sizes.as_ref())?;
    let numbers = draw([checked_numel::<f64>(op, sizes.as_ref())?])?.try_contiguous()?;
    Ok(Tensor::dense(D::map1::<f64, E>(Casting, numbers.elements(), &[1])?, sizes))
}

random! {
    /// Samples of the exponential distribution of the rate `lambda`, with mean `1 / lambda` (`torch.Tensor.exponential_`, where `lambda` is
    /// 1 if not given).
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let x = Tensor::<f64, shape![10_000]>::exponential(2.0, &mut Generator::seeded(0));
    /// assert!((x.mean().item() - 0.5).abs() < 0.05 && x.iter().all(|&x| x >= 0.0));
    /// ```
    exponential exponential_sized<E: Float>(lambda: f64) |sizes, generator| {
        if lambda.is_nan() || lambda <= 0.0 {
            return invalid("exponential", format!("`lambda` must be greater than 0, got {lambda}"));
        }
        shaped("exponential", sizes, |numel| {
            Numbers::<D>::try_rand_sized(numel, generator)?.try_neg()?.try_log1p()?.try_div(-lambda)
        })
    };

    /// Samples of the Cauchy distribution (`torch.Tensor.cauchy_`, where the median is 0 and `sigma` 1 if not given).
    cauchy cauchy_sized<E: Float>(median: f64, sigma: f64) |sizes, generator| {
        if sigma.is_nan() || sigma <= 0.0 {
            return invalid("cauchy", format!("`sigma` must be greater than 0, got {sigma}"));
        }
        shaped("cauchy", sizes, |numel| {
            let angles = Numbers::<D>::try_rand_sized(numel, generator)?.try_sub(0.5)?.try_mul(core::f64::consts::PI)?;
            angles.try_tan()?.try_mul(sigma)?.try_add(median)
        })
    };

    /// Samples of the log-normal distribution (`torch.Tensor.log_normal_`, where `mean` is 1 and `std` 2 if not given).
    log_normal log_normal_sized<E: Float>(mean: f64, std: f64) |sizes, generator| {
        if std.is_nan() || std <= 0.0 {
            return invalid("log_normal", format!("`std` must be greater than 0, got {std}"));
        }
        shaped("log_normal", sizes, |numel| Numbers::<D>::try_normal_sized(numel, mean, std, generator)?.try_exp())
    };

    /// Samples of the geometric distribution: trials up to a success of probability `p` (`torch.Tensor.geometric_`).
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let x = Tensor::<i64, shape![10_000]>::geometric(0.25, &mut Generator::seeded(0));
    /// assert!((x.to::<f64>().mean().item() - 4.0).abs() < 0.2 && x.iter().all(|&x| x >= 1));
    /// ```
    geometric geometric_sized<E: Real>(p: f64) |sizes, generator| {
        if !(p > 0.0 && p < 1.0) {
            return invalid("geometric", format!("`p` must lie between 0 and 1, got {p}"));
        }
        shaped("geometric", sizes, |numel| {
            let trials = Numbers::<D>::try_rand_sized(numel, generator)?.try_neg()?.try_log1p()?.try_div((-p).ln_1p())?;
            trials.try_ceil()?.try_clamp_min(1.0)
        })
    };
}
