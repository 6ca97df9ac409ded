//! `renorm`: slices scaled down to a norm.

use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{DType, Dtype, Element};
use crate::error::{Result, invalid};
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::losses::{Losing, Renormed};
use crate::ops::reduce::VectorNorm;
use crate::shape::{AxisArg, HasAxis};
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Scales slices along an axis down to the `p`-norm `maxnorm` if theirs is larger. Norms of 16-bit elements are computed in `f32`.
    ///
    /// # Errors
    /// If there are fewer than two axes, `p` is not positive or `maxnorm` is negative.
    #[op(renorm(input, p, dim, maxnorm), dtypes = inexact, over = [crate::f16, crate::bf16, f32, f64, crate::Complex<f32>, crate::Complex<f64>])]
    #[in_place("tensor![[6.0, 8.0], [0.0, 1.0]]" "2.0, 0, 5.0" = "[[3.0, 4.0], [0.0, 1.0]]")]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>, p: f64, maxnorm: f64) -> Self
        where
            E: FloatFor<ops::losses::renorm>,
            S: HasAxis<I>)]
    #[example(let x = tensor![[6.0, 8.0], [0.0, 1.0]]; x.renorm(axis![0], 2.0, 5.0), x.renorm(2.0, 0, 5.0), tensor![[3.0, 4.0], [0.0, 1.0]])]
    pub(crate) fn renorm(&self, p: f64, dim: Axis, maxnorm: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "renorm";
        if self.rank() < 2 {
            return invalid(op, format!("at least two axes are wanted, got {}", self.rank()));
        }
        if p.is_nan() || p <= 0.0 || maxnorm.is_nan() || maxnorm < 0.0 {
            return invalid(op, format!("`p` is positive and `maxnorm` not negative, got {p} and {maxnorm}"));
        }
        let to = self.dims().row_major();
        if self.is_empty() {
            return Ok(Erased::fresh(D::zeroed::<E>(Some(self.storage()), 0)?, self.dims(), to));
        }
        self.expect_memory()?;
        let (norm, mask) = (VectorNorm::new(p), ((1_u32 << self.rank()) - 1) & !(1 << dim.0));
        if const { matches!(E::DTYPE, DType::F16 | DType::BF16) } {
            let norms = self.to::<f32>(op)?.reduce(norm, mask, true)?;
            return self.scaled_where(&norms, maxnorm);
        }
        let norms = self.reduce(norm, mask, true)?;
        if const { !E::DTYPE.is_complex() } {
            return self.scaled_where::<E::RealDtype>(&norms, maxnorm);
        }
        // Real and imaginary parts are scaled.
        let norms = norms.viewed(op, self.rank() + 1, |own, view| Ok(own.unsqueeze(self.rank(), view)))?;
        let (storage, ..) = self.parts(op)?.scaled_where(&norms, maxnorm)?.into_parts();
        Ok(Erased::dense(storage, self.dims()))
    }

    fn scaled_where<N: Dtype>(&self, norms: &Erased<'_, N, D>, maxnorm: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.map2_dense::<N, E>("renorm", Losing::<Renormed>::new([maxnorm, 0.0]), norms)
    }
}
