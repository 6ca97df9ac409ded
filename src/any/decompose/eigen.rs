//! Singular values, eigenvalues, and norms, ranks and condition numbers by them.
//! Uses `tensor::decompose`.

use super::{any, any2, any3, over_field};
use crate::any::call::Bound;
use crate::any::view::views::axes;
use crate::any::{AnyTensor, Value};
use crate::device::{Backend as _, Dynamic};
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::tensor::decompose::{Norm, Tolerance, Vectors, erased, spectral};
use castiron_macros::operations;

/// Which triangle is read.
fn is_upper(op: &'static str, uplo: &str) -> Result<bool> {
    match uplo {
        "L" | "l" => Ok(false),
        "U" | "u" => Ok(true),
        other => invalid(op, format!("Expected UPLO argument to be 'L' or 'U', but got {other}")),
    }
}

/// A bound below which singular values count as 0: a number, or a tensor of one for each matrix.
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
    /// `(U, S, Vh)` of `A = U diag(S) Vh`, singular values from the largest on (`torch.linalg.svd`). Without `full_matrices` `U` has as
    /// many columns, and `Vh` as many rows, as there are singular values.
    ///
    /// # Errors
    /// If the tensor is no matrix or batch of them, has elements that are not finite, or its dtype is none that matrices are factored in.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[3.0, 0.0], [0.0, 4.0]]);
    /// let (u, s, vh) = x.svd(true)?;
    /// assert_eq!(s.to_string(), "tensor([4., 3.])");
    /// assert!(u.matmul(&s.diag(0)?)?.matmul(&vh)?.allclose(&x, 1e-5, 1e-6, false)?);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(linalg.svd(A, full_matrices = true, driver = _), dtypes = "float32, float64, complex64 and complex128")]
    pub fn svd(&self, full_matrices: bool) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "linalg.svd";
        let vectors = if full_matrices { Vectors::Complete } else { Vectors::Reduced };
        let parts = over_field!(op, self.dtype, E => erased::svd::<E, Dynamic>(op, self.elements_as()?, vectors))?;
        any3(op, parts, [self.dtype, self.real_dtype(), self.dtype])
    }

    /// `V` and not its adjoint; without vectors they are zeros.
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

    /// Singular values, from the largest on (`torch.linalg.svdvals`).
    ///
    /// # Errors
    /// As [`svd`](Self::svd).
    #[op(linalg.svdvals(A, driver = _), dtypes = "float32, float64, complex64 and complex128")]
    pub fn svdvals(&self) -> Result<AnyTensor> {
        let op = "linalg.svdvals";
        let [_, s, _] =
            over_field!(op, self.dtype, E => erased::svd::<E, Dynamic>(op, self.elements_as()?, Vectors::None))?;
        any(op, s, self.real_dtype())
    }

    /// Ascending eigenvalues and, in columns, eigenvectors of symmetric or Hermitian matrices, of which the triangle `uplo`, `"L"` or
    /// `"U"`, is read (`torch.linalg.eigh`).
    ///
    /// # Errors
    /// If matrices are not square, or the dtype is none that matrices are factored in.
    #[op(linalg.eigh(A, UPLO = "L"), dtypes = "float32, float64, complex64 and complex128")]
    pub fn eigh(&self, uplo: &str) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.eigh";
        let upper = is_upper(op, uplo)?;
        let parts = over_field!(op, self.dtype, E => erased::eigh::<E, Dynamic>(op, self.elements_as()?, upper, true))?;
        any2(op, parts, [self.real_dtype(), self.dtype])
    }

    /// The eigenvalues of [`eigh`](Self::eigh) (`torch.linalg.eigvalsh`).
    ///
    /// # Errors
    /// As there.
    #[op(linalg.eigvalsh(A, UPLO = "L"), dtypes = "float32, float64, complex64 and complex128")]
    pub fn eigvalsh(&self, uplo: &str) -> Result<AnyTensor> {
        let op = "linalg.eigvalsh";
        let upper = is_upper(op, uplo)?;
        let [w, _] =
            over_field!(op, self.dtype, E => erased::eigh::<E, Dynamic>(op, self.elements_as()?, upper, false))?;
        any(op, w, self.real_dtype())
    }

    /// Eigenvalues and, in columns of norm 1, eigenvectors, both complex (`torch.linalg.eig`).
    ///
    /// # Errors
    /// If matrices are not square or have elements that are not finite, or the dtype is none that matrices are factored in.
    #[op(linalg.eig(A), dtypes = "float32, float64, complex64 and complex128")]
    pub fn eig(&self) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.eig";
        let parts = over_field!(op, self.dtype, E => erased::eig::<E, Dynamic>(op, self.elements_as()?, true))?;
        any2(op, parts, [self.complex_dtype(); 2])
    }

    /// The eigenvalues of [`eig`](Self::eig) (`torch.linalg.eigvals`).
    ///
    /// # Errors
    /// As there.
    #[op(linalg.eigvals(A), dtypes = "float32, float64, complex64 and complex128")]
    pub fn eigvals(&self) -> Result<AnyTensor> {
        let op = "linalg.eigvals";
        let [w, _] = over_field!(op, self.dtype, E => erased::eig::<E, Dynamic>(op, self.elements_as()?, false))?;
        any(op, w, self.complex_dtype())
    }

    /// How many singular values exceed `max(atol, rtol * largest)` (`torch.linalg.matrix_rank`); `rtol` is the machine epsilon times the
    /// larger size if neither is given. Of Hermitian matrices eigenvalues count.
    ///
    /// # Errors
    /// As [`svd`](Self::svd).
    pub fn matrix_rank(&self, atol: Option<f64>, rtol: Option<f64>, hermitian: bool) -> Result<AnyTensor> {
        let list = |x: Option<f64>| x.map(|x| vec![x]);
        self.rank_within(&Tolerance { atol: list(atol), rtol: list(rtol) }, hermitian)
    }

    fn rank_within(&self, tolerance: &Tolerance, hermitian: bool) -> Result<AnyTensor> {
        let op = "linalg.matrix_rank";
        let rank = over_field!(op, self.dtype, E => spectral::matrix_rank::<E, Dynamic>(self.elements_as()?, tolerance, hermitian))?;
        any(op, rank, DType::I64)
    }

    #[op(linalg.matrix_rank(A, tol, hermitian, atol, rtol), dtypes = "float32, float64, complex64 and complex128")]
    fn rank_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("A")?;
        let batch = &x.sizes[..x.rank().saturating_sub(2)];
        let mut tolerance = Tolerance { atol: bounds(args, "atol", batch)?, rtol: bounds(args, "rtol", batch)? };
        if let Some(tol) = bounds(args, "tol", batch)? {
            tolerance = Tolerance { atol: Some(tol), rtol: Some(vec![0.0]) };
        }
        Ok(x.rank_within(&tolerance, args.read_or("hermitian", || false)?)?.into())
    }

    /// The pseudoinverse of Moore and Penrose (`torch.linalg.pinv`), singular values up to `max(atol, rtol * largest)` left out; `rtol`
    /// is the machine epsilon times the larger size if neither is given.
    ///
    /// # Errors
    /// As [`svd`](Self::svd).
    pub fn pinv(&self, atol: Option<f64>, rtol: Option<f64>, hermitian: bool) -> Result<AnyTensor> {
        let list = |x: Option<f64>| x.map(|x| vec![x]);
        self.pinv_within(&Tolerance { atol: list(atol), rtol: list(rtol) }, hermitian)
    }

    fn pinv_within(&self, tolerance: &Tolerance, hermitian: bool) -> Result<AnyTensor> {
        let op = "linalg.pinv";
        let x =
            over_field!(op, self.dtype, E => spectral::pinv::<E, Dynamic>(self.elements_as()?, tolerance, hermitian))?;
        any(op, x, self.dtype)
    }

    #[op(linalg.pinv(A, rcond, hermitian, atol, rtol), dtypes = "float32, float64, complex64 and complex128")]
    fn pinv_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("A")?;
        let batch = &x.sizes[..x.rank().saturating_sub(2)];
        let mut tolerance = Tolerance { atol: bounds(args, "atol", batch)?, rtol: bounds(args, "rtol", batch)? };
        if let Some(rcond) = bounds(args, "rcond", batch)? {
            tolerance.rtol = Some(rcond);
        }
        Ok(x.pinv_within(&tolerance, args.read_or("hermitian", || false)?)?.into())
    }

    #[op(pinverse(input, rcond = 1e-15), dtypes = "float32, float64, complex64 and complex128")]
    fn old_pinv(&self, rcond: f64) -> Result<AnyTensor> {
        self.pinv(None, Some(rcond), false)
    }

    /// Condition numbers: the norm of the matrix times that of its inverse (`torch.linalg.cond`); by singular values for the orders 2
    /// (PyTorch's default) and -2. Infinite for singular matrices.
    ///
    /// # Errors
    /// As [`svd`](Self::svd), and if the order is none of 1, -1, 2, -2, inf and -inf.
    #[op(linalg.cond(A, p), dtypes = "float32, float64, complex64 and complex128")]
    fn cond_by_name(args: &Bound<'_>) -> Result<Value> {
        let norm = match args.get("p") {
            None => Norm::Two,
            Some(Value::Str(text)) if text == "fro" => Norm::Frobenius,
            Some(Value::Str(text)) if text == "nuc" => Norm::Nuclear,
            Some(Value::Str(text)) if text == "inf" => Norm::of("linalg.cond", f64::INFINITY)?,
            Some(Value::Str(text)) if text == "-inf" => Norm::of("linalg.cond", f64::NEG_INFINITY)?,
            Some(_) => Norm::of("linalg.cond", args.read("p")?)?,
        };
        Ok(args.tensor("A")?.condition(norm)?.into())
    }

    fn condition(&self, norm: Norm) -> Result<AnyTensor> {
        let op = "linalg.cond";
        let x = over_field!(op, self.dtype, E => spectral::cond::<E, Dynamic>(self.elements_as()?, norm))?;
        any(op, x, self.real_dtype())
    }

    /// Condition numbers: the norm of the matrix times that of its inverse (`torch.linalg.cond`); by singular values for the orders 2
    /// (PyTorch's default) and -2. Infinite for singular matrices.
    ///
    /// # Errors
    /// As [`svd`](Self::svd), and if the order is none of 1, -1, 2, -2, inf and -inf.
    pub fn cond(&self, p: f64) -> Result<AnyTensor> {
        self.condition(Norm::of("linalg.cond", p)?)
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
        let norms = over_field!(op, x.dtype, E => spectral::norm::<E, Dynamic>(op, x.elements_as()?, norm))?;
        let norms = any(op, norms, x.real_dtype())?;
        if !keepdim {
            return Ok(norms);
        }
        let mut sizes = self.signed_sizes();
        both.iter().for_each(|&at| sizes[at] = 1);
        norms.reshaped(&sizes)
    }
}
