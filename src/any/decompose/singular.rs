//! Operations by singular values, by name: tolerances that are tensors, norms by their names, low-rank matrices.

use super::over_field;
use crate::any::call::Bound;
use crate::any::create::drawn::unseeded;
use crate::any::view::views::axes;
use crate::any::{AnyTensor, Value};
use crate::composite::decompose::norm::{Norm, Tolerance};
use crate::device::{Backend as _, Dynamic};
use crate::dtype::DType;
use crate::error::{Result, invalid};
use castiron_macros::operations;

/// The tolerance below which singular values count as 0: a number, or a tensor with one for each matrix.
fn bounds(args: &Bound<'_>, name: &str, batch: &[usize]) -> Result<Option<Vec<f64>>> {
    match args.get(name) {
        None => Ok(None),
        Some(Value::Array(tensor)) => {
            if tensor.dtype.is_complex() {
                return args.refused(format!("{name} tensor of complex type is not supported"));
            }
            let spread = tensor.to(DType::F64)?.expanded_to(batch)?;
            Ok(Some(Dynamic::download::<f64>(spread.data_as(args.op)?)?))
        }
        Some(_) => Ok(Some(vec![args.read(name)?])),
    }
}

#[operations]
impl AnyTensor {
    /// Gives `V` instead of its adjoint; without vectors `U` and `V` are zeros.
    #[op(svd(input, some = true, compute_uv = true), dtypes = "float32, float64, complex64 and complex128")]
    fn old_svd(&self, some: bool, compute_uv: bool) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        if compute_uv {
            let (u, s, vh) = self.svd(!some)?;
            return Ok((u, s, vh.adjoint()?));
        }
        let s = self.svdvals()?;
        let [.., m, n] = self.sizes[..] else { return invalid("svd", "expected a matrix".to_owned()) };
        let lead = &self.sizes[..self.rank() - 2];
        let u = self.zeros_like_device(&[lead, &[m, m]].concat(), self.dtype)?;
        Ok((u, s, self.zeros_like_device(&[lead, &[n, n]].concat(), self.dtype)?))
    }

    #[op(linalg.matrix_rank(A, tol, hermitian, atol, rtol), dtypes = "float32, float64, complex64 and complex128")]
    fn rank_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("A")?;
        let batch = &x.sizes[..x.rank().saturating_sub(2)];
        let (tol, hermitian) = (bounds(args, "tol", batch)?, args.read_or("hermitian", || false)?);
        let (atol, rtol) = (bounds(args, "atol", batch)?, bounds(args, "rtol", batch)?);
        let tolerance = match &tol {
            Some(tol) => Tolerance { atol: Some(tol), rtol: Some(&[0.0]) },
            None => Tolerance { atol: atol.as_deref(), rtol: rtol.as_deref() },
        };
        let rank = over_field!(args.op, x.dtype, E => x.as_erased::<E>()?.matrix_rank(tolerance, hermitian))?;
        Ok(rank.into())
    }

    #[op(linalg.pinv(A, rcond, hermitian, atol, rtol), dtypes = "float32, float64, complex64 and complex128")]
    fn pinv_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("A")?;
        let batch = &x.sizes[..x.rank().saturating_sub(2)];
        let (rcond, hermitian) = (bounds(args, "rcond", batch)?, args.read_or("hermitian", || false)?);
        let (atol, rtol) = (bounds(args, "atol", batch)?, bounds(args, "rtol", batch)?);
        let tolerance = Tolerance { atol: atol.as_deref(), rtol: rcond.as_deref().or(rtol.as_deref()) };
        let inverse = over_field!(args.op, x.dtype, E => x.as_erased::<E>()?.pinv(tolerance, hermitian))?;
        Ok(inverse.into())
    }

    #[op(pinverse(input, rcond = 1e-15), dtypes = "float32, float64, complex64 and complex128")]
    fn old_pinv(&self, rcond: f64) -> Result<AnyTensor> {
        self.pinv(None, Some(rcond), false)
    }

    #[op(linalg.cond(A, p), dtypes = "float32, float64, complex64 and complex128")]
    fn cond_by_name(args: &Bound<'_>) -> Result<Value> {
        let (op, x) = ("linalg.cond", args.tensor("A")?);
        let norm = match args.get("p") {
            None => Norm::Two,
            Some(Value::Str(text)) if text == "fro" => Norm::Frobenius,
            Some(Value::Str(text)) if text == "nuc" => Norm::Nuclear,
            Some(Value::Str(text)) if text == "inf" => Norm::of(op, f64::INFINITY)?,
            Some(Value::Str(text)) if text == "-inf" => Norm::of(op, f64::NEG_INFINITY)?,
            Some(_) => Norm::of(op, args.read("p")?)?,
        };
        Ok(over_field!(op, x.dtype, E => x.as_erased::<E>()?.condition(norm))?.into())
    }

    /// A norm of matrices by singular values: the largest (`ord` 2), the smallest (-2), or their sum (`"nuc"`).
    pub(in crate::any) fn norm_by_singular_values(
        &self,
        norm: Norm,
        dims: [i64; 2],
        keepdim: bool,
    ) -> Result<AnyTensor> {
        let op = "linalg.matrix_norm";
        let both = axes(op, &dims, self.rank())?;
        let x = self.movedim(&[both[0] as i64, both[1] as i64], &[-2, -1])?;
        let norms = over_field!(op, x.dtype, E => x.as_erased::<E>()?.norm_of_matrices(op, norm))?;
        if !keepdim {
            return Ok(norms);
        }
        let mut sizes = self.signed_sizes();
        both.iter().for_each(|&at| sizes[at] = 1);
        norms.reshaped(&sizes)
    }

    #[op(svd_lowrank(A, q, niter, M, generator), dtypes = "float32, float64, complex64 and complex128")]
    fn svd_lowrank_by_name(args: &Bound<'_>) -> Result<Value> {
        let generator = &mut args.read_or("generator", unseeded)?;
        let (q, niter) = (args.read::<Option<usize>>("q")?, args.read::<Option<usize>>("niter")?);
        let mut x = args.tensor("A")?.clone();
        if let Some(mean) = args.read::<Option<&AnyTensor>>("M")? {
            x = x.sub(mean.expanded_to(&x.sizes)?)?;
        }
        let (u, s, v) = x.svd_lowrank(q.unwrap_or(6), niter.unwrap_or(2), generator)?;
        Ok(Value::List(vec![u.into(), s.into(), v.into()].into()))
    }

    #[op(pca_lowrank(A, q, center, niter, generator), dtypes = "float32, float64, complex64 and complex128")]
    fn pca_lowrank_by_name(args: &Bound<'_>) -> Result<Value> {
        let generator = &mut args.read_or("generator", unseeded)?;
        let (q, center) = (args.read::<Option<usize>>("q")?, args.read_or("center", || true)?);
        let niter = args.read_or("niter", || 2)?;
        let (u, s, v) = args.tensor("A")?.pca_lowrank(q, center, niter, generator)?;
        Ok(Value::List(vec![u.into(), s.into(), v.into()].into()))
    }
}
