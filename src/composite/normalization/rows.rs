//! Normalisation over the last axes: `layer_norm`, `rms_norm`.

#[cfg(feature = "any")]
use crate::any::IntoSizes;
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{DType, Dtype, Element};
use crate::error::{Error, Result, invalid};
use crate::layout::dims::Dims;
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::{FloatFor, InexactFor};
use crate::ops::kernel::RowKernel;
use crate::ops::reduce::{RootMeanSquare, Standardizing};
use crate::shape::{EndsWith, Shape};
use crate::tensor::{Optional, expect_fit};
use castiron_macros::composites;

/// Checks that the last of these sizes are those of `N`. (A zero-dim tensor counts as one axis of size 1.)
fn last_of<N: Shape>(op: &'static str, sizes: &[usize]) -> Result<Dims> {
    if sizes.is_empty() {
        return Ok(Dims::known(&[]));
    }
    let last = &sizes[sizes.len().saturating_sub(N::RANK)..];
    expect_fit::<N>(op, last)?;
    Ok(Dims::known(last))
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Standardises over the last axes, of these sizes or those of shape `N`: `(x - mean) / sqrt(variance + eps) * weight + bias`, with the
    /// biased variance. `weight` and `bias` have the normalised shape; if both are `None`, `N` is written out. In PyTorch `eps` is
    /// 1e-5 if not given.
    ///
    /// Shape: that of `self`. `f16` and `bf16` are computed in `f32` and rounded once; weights of an `AnyTensor` of them may be `float32`.
    ///
    /// # Errors
    /// If the last sizes differ or a weight has another shape.
    #[op(nn.functional.layer_norm(input, normalized_shape, weight = None, bias = None, eps = 1e-5), dtypes = float, aliases("layer_norm"))]
    #[any(
        let last = self.last_sizes("layer_norm", sizes)?,
        if let Some(wide) = self.widened_beside("layer_norm", [weight, bias])? {
            return wide.layer_norm(&last[..], weight, bias, eps)?.to(self.dtype());
        },
        sizes: impl IntoSizes = &last
    )]
    #[typed(<N: Shape>(&self, weight: impl Optional<E, N, D>, bias: impl Optional<E, N, D>, eps: f64) -> Self
        where
            E: FloatFor<ops::reduce::layer_norm>,
            S: EndsWith<N>;
        sizes = &last_of::<N>("layer_norm", self.shape().as_ref())?)]
    #[example(let x = tensor![[1.0, 3.0], [-5.0, 5.0]]; x.layer_norm::<shape![2]>(None, None, 0.0), x.layer_norm(&[2], None, None, 0.0), tensor![[-1.0, 1.0], [-1.0, 1.0]])]
    #[example(let x = tensor![[1.0, 3.0], [-5.0, 5.0]]; let weight = tensor![1.0, 10.0]; let bias = tensor![0.0, 0.5]; x.layer_norm(Some(&weight), Some(&bias), 0.0), x.layer_norm(&[2], Some(&weight), Some(&bias), 0.0), tensor![[-1.0, 10.5], [-1.0, 10.5]])]
    pub(crate) fn layer_norm(
        &self,
        sizes: &[usize],
        weight: Option<&Erased<'_, E, D>>,
        bias: Option<&Erased<'_, E, D>>,
        eps: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.over_rows("layer_norm", Standardizing { eps }, sizes, [weight, bias])
    }

    /// Divides by the root mean square over the last axes, of these sizes or those of shape `N`: `x / sqrt(mean(x * x) + eps) * weight`.
    /// `weight` has the normalised shape; if it is `None`, `N` is written out. If `eps` is `None` it is that of the computing dtype.
    ///
    /// Shape: that of `self`. `f16` and `bf16` are computed in `f32` and rounded once; the weight of an `AnyTensor` may have another dtype.
    ///
    /// # Errors
    /// If the last sizes differ or the weight has another shape.
    #[op(nn.functional.rms_norm(input, normalized_shape, weight = None, eps = None), dtypes = inexact, aliases("rms_norm"))]
    #[any(
        let last = self.last_sizes("rms_norm", sizes)?,
        if let Some(weight) = weight.filter(|weight| weight.dtype() != self.dtype()) {
            return self.rms_norm_beside(&last, weight, eps);
        },
        sizes: impl IntoSizes = &last
    )]
    #[typed(<N: Shape>(&self, weight: impl Optional<E, N, D>, eps: Option<f64>) -> Self
        where
            E: InexactFor<ops::reduce::rms_norm>,
            S: EndsWith<N>;
        sizes = &last_of::<N>("rms_norm", self.shape().as_ref())?)]
    #[example(let x = tensor![[1.0, 7.0], [5.0, 5.0]]; x.rms_norm::<shape![2]>(None, Some(0.0)), x.rms_norm(&[2], None, Some(0.0)), tensor![[0.2, 1.4], [1.0, 1.0]])]
    #[example(let x = tensor![[1.0, 7.0], [5.0, 5.0]]; let weight = tensor![5.0, 10.0]; x.rms_norm(Some(&weight), Some(0.0)), x.rms_norm(&[2], Some(&weight), Some(0.0)), tensor![[1.0, 14.0], [5.0, 10.0]])]
    pub(crate) fn rms_norm(
        &self,
        sizes: &[usize],
        weight: Option<&Erased<'_, E, D>>,
        eps: Option<f64>,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let of_dtype = || if matches!(E::DTYPE, DType::F64 | DType::C128) { f64::EPSILON } else { f32::EPSILON.into() };
        self.over_rows("rms_norm", RootMeanSquare { eps: eps.unwrap_or_else(of_dtype) }, sizes, [weight, None])
    }

    /// Runs a kernel over the last axes, of these sizes, as rows.
    fn over_rows(
        &self,
        op: &'static str,
        kernel: impl RowKernel<E, E>,
        sizes: &[usize],
        shared: [Option<&Erased<'_, E, D>>; 2],
    ) -> Result<Owned<E, D>> {
        let own = if self.rank() == 0 { &[1][..] } else { sizes };
        if !self.sizes().ends_with(sizes) {
            return invalid(op, format!("the last sizes must be {sizes:?}, got {:?}", self.sizes()));
        }
        let mut lists = [None, None];
        for (list, given) in lists.iter_mut().zip(shared) {
            let Some(given) = given else { continue };
            if given.sizes() != own {
                return Err(Error::Shape { op, expected: format!("{own:?}"), found: given.sizes().into() });
            }
            *list = Some(given.contiguous()?);
        }
        let outer = self.rank() - sizes.len();
        let is_dense = strides::is_contiguous(sizes, &self.strides()[outer..]);
        let x = if is_dense { Erased::of(self.view()) } else { self.contiguous()? };
        let len = [sizes.iter().product()];
        let (rows, steps) = ([&x.sizes()[..outer], &len].concat(), [&x.strides()[..outer], &[1]].concat());
        let shared = lists.each_ref().map(|list| list.as_ref().map(|list| list.view().restrided(&len, &[1])));
        Ok(Erased::dense(D::rows(kernel, x.view().restrided(&rows, &steps), shared)?, self.dims()))
    }
}
