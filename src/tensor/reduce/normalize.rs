//! Normalisation: `layer_norm` and `rms_norm` over the last axes, `normalize` along one.
//! Uses `elementwise::apply`, `reduce::reductions`, `ops::reduce`, `ops::kernel`.

use crate::device::Device;
use crate::dtype::{Castable, Compute, DType, Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::admit::{FloatFor, InexactFor};
use crate::ops::kernel::Map2;
use crate::ops::kernel::RowKernel;
use crate::ops::reduce::VectorNorm;
use crate::ops::reduce::{RootMeanSquare, Standardizing};
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::kernel::{Kernel, Value};
use crate::ops::{self, Op};
use crate::shape::{Axes, EndsWith, Shape};
use crate::tensor::elementwise::apply::map2;
use crate::tensor::reduce::large::{is_seen, may_have_overflowed, over_scaled_norms};
use crate::tensor::reduce::reductions::{kept, reduce};
use crate::tensor::{Optional, Tensor, expect_fit, shape_text};
use castiron_macros::fallible;

/// Runs a kernel over the last axes, which are `N`, as rows.
fn over_rows<O: Op, E: Element, S: Shape, N: Shape, D: Device>(
    kernel: impl RowKernel<E, E>,
    x: &Tensor<E, S, D>,
    shared: [Option<&Tensor<E, N, D>>; 2],
) -> Result<Tensor<E, S, D>> {
    let sizes = x.shape();
    let outer = S::RANK.saturating_sub(N::RANK);
    let last = &sizes.as_ref()[outer..];
    if S::RANK > 0 {
        expect_fit::<N>(O::NAME, last)?;
    }
    let mut rows = [None, None];
    for (row, given) in rows.iter_mut().zip(shared) {
        let Some(given) = given else { continue };
        if given.numel() != last.iter().product::<usize>() || (S::RANK > 0 && given.shape().as_ref() != last) {
            let expected = if S::RANK > 0 { format!("{last:?}") } else { shape_text::<N>() };
            return Err(Error::Shape { op: O::NAME, expected, found: given.shape().as_ref().into() });
        }
        *row = Some(given.try_contiguous()?);
    }
    let dense = strides::is_contiguous(last, &x.stride().as_ref()[outer..]);
    let rows_of_x = if dense { None } else { Some(x.try_contiguous()?) };
    let x = rows_of_x.as_ref().unwrap_or(x);
    let len = [last.iter().product()];
    let (row_sizes, row_strides) =
        ([&sizes.as_ref()[..outer], &len].concat(), [&x.stride().as_ref()[..outer], &[1]].concat());
    let [weight, bias] = rows.each_ref().map(|row| row.as_ref().map(|row| row.elements().restrided(&len, &[1])));
    Ok(Tensor::dense(D::rows(kernel, x.elements().restrided(&row_sizes, &row_strides), [weight, bias])?, sizes))
}

/// `x / max(norm, eps)`, the division in the dtype of `x`.
#[derive(Clone, Copy)]
struct DividingByNorm {
    eps: f64,
}
impl<E: Dtype> Map2<E, E::RealDtype, E> for DividingByNorm {
    #[inline(always)]
    fn call(self, x: E, norm: E::RealDtype) -> E {
        let norm = norm.to_compute();
        let least: E::RealDtype = Castable::from_f64(self.eps);
        let norm = norm.binary::<ops::maximum>(least.to_compute());
        E::from_compute(x.to_compute().binary::<ops::div>(norm.cast()))
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, x: Value, norm: Value) -> Value {
        let real = <E::RealDtype as Element>::DTYPE;
        let least = kernel.parameter(<E::RealDtype as Castable>::from_f64(self.eps));
        let (norm, least) = (kernel.widen(norm), kernel.widen(least));
        let norm = kernel.row("maximum", real, &[norm, least]);
        let x = kernel.widen(x);
        let norm = kernel.cast(norm, x.dtype());
        kernel.rounded("div", E::DTYPE, &[x, norm])
    }
}

/// `x` divided by its norms over the axes of `mask`, which `T` has with size 1.
fn over_norms<E: Dtype, S: Shape, T: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    mask: u32,
    p: f64,
    eps: f64,
) -> Result<Tensor<E, S, D>> {
    let plain = |norm| reduce::<ops::reduce::normalize, _, E, S, T, D>(norm, x, mask, true);
    let norm = VectorNorm::new(p);
    let seen = if is_seen::<E, D>(x.elements()) { Some(plain(norm)?) } else { None };
    let norms = match seen {
        Some(norms) if !may_have_overflowed::<_, D>(norms.elements())? => norms,
        _ => {
            kept::<ops::reduce::normalize, VectorNorm, E, T>(norm, x.shape().as_ref(), mask, true)?;
            let (sizes, strides) = (x.shape(), strides::elementwise_result(&x.shape(), &[x.stride()], true));
            let storage = over_scaled_norms::<E, D>(x.elements(), mask, [p, eps], strides.as_ref())?;
            return Ok(Tensor::from_parts(storage, 0, sizes, strides));
        }
    };
    let kernel = DividingByNorm { eps };
    map2::<E, E::RealDtype, S, D, E>(kernel, x.elements(), norms.elements(), x.shape(), [E::DTYPE; 2])
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Divides by the `p`-norm over axes, or by `eps` where that is larger.
    ///
    /// Shape: that of `self`. Dtypes: floating-point and complex.
    ///
    /// PyTorch: `torch.nn.functional.normalize`, where `p` is 2, the axis 1 and `eps` 1e-12 if not given.
    ///
    /// # Panics
    /// If memory runs out, or a norm of negative or infinite order is over an empty axis.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[3.0, 4.0], [0.0, 0.0]];
    /// assert_eq!(x.normalize(axis![1], 2.0, 1e-12).to_vec(), [0.6, 0.8, 0.0, 0.0]);
    /// ```
    #[fallible]
    pub fn normalize<A: Axes<S>>(&self, axes: A, p: f64, eps: f64) -> Result<Self>
    where
        E: InexactFor<ops::reduce::normalize>,
    {
        over_norms::<E, S, A::Kept, D>(self, A::MASK, p, eps)
    }

    /// Standardises the last axes, those of shape `N`: `(x - mean) / sqrt(variance + eps) * weight + bias`, the variance being that
    /// of a population. `weight` and `bias` have the shape normalised over; where both are `None` it is written
    /// out.
    ///
    /// Shape: that of `self`. Dtypes: floating-point; `f16` and `bf16` are computed in `f32` and rounded once.
    ///
    /// PyTorch: `torch.nn.functional.layer_norm`, where `eps` is 1e-5 if not given.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor};
    /// let x = tensor![[1.0, 3.0], [-5.0, 5.0]];
    /// assert_eq!(x.layer_norm::<shape![2]>(None, None, 0.0).to_vec(), [-1.0, 1.0, -1.0, 1.0]);
    /// assert_eq!(x.layer_norm(Some(&tensor![1.0, 10.0]), Some(&tensor![0.0, 0.5]), 0.0).to_vec(), [-1.0, 10.5, -1.0, 10.5]);
    /// ```
    #[fallible]
    pub fn layer_norm<N: Shape>(
        &self,
        weight: impl Optional<E, N, D>,
        bias: impl Optional<E, N, D>,
        eps: f64,
    ) -> Result<Self>
    where
        E: FloatFor<ops::reduce::layer_norm>,
        S: EndsWith<N>,
    {
        over_rows::<ops::reduce::layer_norm, E, S, N, D>(Standardizing { eps }, self, [weight.given(), bias.given()])
    }

    /// Divides by the root of the mean of squares over the last axes, those of shape `N`: `x / sqrt(mean(x * x) + eps) * weight`.
    /// `weight` has the shape normalised over; where it is `None` that is written out. `eps` is that of the dtype computed in if it is
    /// `None`.
    ///
    /// Shape: that of `self`. Dtypes: floating-point and complex; `f16` and `bf16` are computed in `f32` and rounded
    /// once.
    ///
    /// PyTorch: `torch.nn.functional.rms_norm`.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor};
    /// let x = tensor![[1.0, 7.0], [5.0, 5.0]];
    /// assert_eq!(x.rms_norm::<shape![2]>(None, Some(0.0)).to_vec(), [0.2, 1.4, 1.0, 1.0]);
    /// assert_eq!(x.rms_norm(Some(&tensor![5.0, 10.0]), Some(0.0)).to_vec(), [1.0, 14.0, 5.0, 10.0]);
    /// ```
    #[fallible]
    pub fn rms_norm<N: Shape>(&self, weight: impl Optional<E, N, D>, eps: Option<f64>) -> Result<Self>
    where
        E: InexactFor<ops::reduce::rms_norm>,
        S: EndsWith<N>,
    {
        let of_dtype = || if matches!(E::DTYPE, DType::F64 | DType::C128) { f64::EPSILON } else { f32::EPSILON.into() };
        let eps = eps.unwrap_or_else(of_dtype);
        over_rows::<ops::reduce::rms_norm, E, S, N, D>(RootMeanSquare { eps }, self, [weight.given(), None])
    }
}

/// The kernels of this file, for the test of their text.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::text::suite::Suite) {
    use crate::dtype::{Complex, f16};
    suite.two::<_, f16, f16, f16>("dividing_by_norm", DividingByNorm { eps: 1e-3 });
    suite.two::<_, Complex<f64>, f64, Complex<f64>>("dividing_by_norm", DividingByNorm { eps: 1e-12 });
}
