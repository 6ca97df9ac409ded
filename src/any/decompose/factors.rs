//! Cholesky's factor, LU, QR, and symmetric indefinite factors.
//! Uses `tensor::decompose::erased`.

use super::{any, any2, any3, over_field};
use crate::any::AnyTensor;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::tensor::decompose::{QrMode, erased, solutions};
use castiron_macros::operations;

/// Refuses what PyTorch has on GPUs alone.
fn expect_pivoting(op: &'static str, pivot: bool) -> Result<()> {
    if pivot { Ok(()) } else { invalid(op, "LU without pivoting is not implemented on the CPU".to_owned()) }
}

#[operations]
impl AnyTensor {
    /// The factor `L` of `A = L L^H`, or with `upper` the `U` of `A = U^H U`, of Hermitian positive-definite matrices
    /// (`torch.linalg.cholesky`). One triangle is read.
    ///
    /// # Errors
    /// If matrices are not square or not positive-definite, or the dtype is none that matrices are factored in.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[4.0, 2.0], [2.0, 5.0]]);
    /// assert_eq!(x.cholesky(false)?.to_string(), "tensor([[2., 0.],\n        [1., 2.]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(linalg.cholesky(A, upper = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn cholesky(&self, upper: bool) -> Result<AnyTensor> {
        let op = "linalg.cholesky";
        let (factor, _) =
            over_field!(op, self.dtype, E => erased::cholesky::<E, Dynamic>(op, self.elements_as()?, upper, true))?;
        any(op, factor, self.dtype)
    }

    #[op(cholesky(input, upper = false), dtypes = "float32, float64, complex64 and complex128")]
    fn old_cholesky(&self, upper: bool) -> Result<AnyTensor> {
        self.cholesky(upper)
    }

    /// [`cholesky`](Self::cholesky), and for each matrix the order of the first minor that is not positive-definite, or 0
    /// (`torch.linalg.cholesky_ex`).
    ///
    /// # Errors
    /// As there, but one that is not positive-definite is an error if `check_errors` only.
    #[op(linalg.cholesky_ex(A, upper = false, check_errors = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn cholesky_ex(&self, upper: bool, check_errors: bool) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.cholesky_ex";
        let (factor, info) = over_field!(op, self.dtype, E => erased::cholesky::<E, Dynamic>(op, self.elements_as()?, upper, check_errors))?;
        any2(op, [factor, info], [self.dtype, DType::I32])
    }

    /// Solutions of `A X = self`, `A` being given by its factor (`torch.cholesky_solve`).
    ///
    /// # Errors
    /// If sizes do not go together, or dtypes differ.
    #[op(cholesky_solve(B, L, upper = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn cholesky_solve(&self, factor: &AnyTensor, upper: bool) -> Result<AnyTensor> {
        let op = "cholesky_solve";
        self.expect_partner(op, factor)?;
        let x = over_field!(op, self.dtype, E => solutions::cholesky_solve::<E, Dynamic>(self.elements_as()?, factor.elements_as()?, upper))?;
        any(op, x, self.dtype)
    }

    /// Inverses of the matrices whose factors these are (`torch.cholesky_inverse`).
    ///
    /// # Errors
    /// If matrices are not square, or a factor has a zero on its diagonal.
    #[op(cholesky_inverse(L, upper = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn cholesky_inverse(&self, upper: bool) -> Result<AnyTensor> {
        let op = "cholesky_inverse";
        let x =
            over_field!(op, self.dtype, E => solutions::cholesky_inverse::<E, Dynamic>(self.elements_as()?, upper))?;
        any(op, x, self.dtype)
    }

    /// `(Q, R)` of `A = Q R` (`torch.linalg.qr`). The mode is `"reduced"`, `"complete"`, or `"r"`, which leaves `Q` without elements.
    ///
    /// # Errors
    /// If the tensor is no matrix or batch of them, the mode is none, or the dtype is none that matrices are factored in.
    #[op(linalg.qr(A, mode = "reduced"), dtypes = "float32, float64, complex64 and complex128")]
    pub fn qr(&self, mode: &str) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.qr";
        let mode = match mode {
            "reduced" => QrMode::Reduced,
            "complete" => QrMode::Complete,
            "r" => QrMode::R,
            other => {
                return invalid(
                    op,
                    format!(
                        "qr received unrecognized mode '{other}' but expected one of 'reduced' (default), 'r', or 'complete'"
                    ),
                );
            }
        };
        let parts = over_field!(op, self.dtype, E => erased::qr::<E, Dynamic>(op, self.elements_as()?, mode))?;
        any2(op, parts, [self.dtype; 2])
    }

    #[op(qr(input, some = true), dtypes = "float32, float64, complex64 and complex128")]
    fn old_qr(&self, some: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.qr(if some { "reduced" } else { "complete" })
    }

    /// QR in one matrix: `R`, and below it the reflections whose product `Q` is, and their factors (`torch.geqrf`).
    ///
    /// # Errors
    /// If the tensor is no matrix or batch of them, or the dtype is none that matrices are factored in.
    #[op(geqrf(input), dtypes = "float32, float64, complex64 and complex128")]
    pub fn geqrf(&self) -> Result<(AnyTensor, AnyTensor)> {
        let op = "geqrf";
        let parts = over_field!(op, self.dtype, E => erased::geqrf::<E, Dynamic>(self.elements_as()?))?;
        any2(op, parts, [self.dtype; 2])
    }

    /// The first columns of the product of reflections (`torch.linalg.householder_product`).
    ///
    /// # Errors
    /// If there are more reflections than columns, or more columns than rows, or dtypes differ.
    #[op(linalg.householder_product(A, tau), dtypes = "float32, float64, complex64 and complex128", aliases("orgqr"))]
    pub fn householder_product(&self, tau: &AnyTensor) -> Result<AnyTensor> {
        let op = "linalg.householder_product";
        self.expect_partner(op, tau)?;
        let q = over_field!(op, self.dtype, E => erased::householder_product::<E, Dynamic>(self.elements_as()?, tau.elements_as()?))?;
        any(op, q, self.dtype)
    }

    /// The product of reflections applied to matrices from the left or the right, or its adjoint (`torch.ormqr`).
    ///
    /// # Errors
    /// If sizes do not go together, or dtypes differ.
    #[op(
        ormqr(input, tau, other, left = true, transpose = false),
        dtypes = "float32, float64, complex64 and complex128"
    )]
    pub fn ormqr(&self, tau: &AnyTensor, other: &AnyTensor, left: bool, transpose: bool) -> Result<AnyTensor> {
        let op = "ormqr";
        self.expect_partner(op, tau)?;
        self.expect_partner(op, other)?;
        let c = over_field!(op, self.dtype, E => erased::ormqr::<E, Dynamic>(self.elements_as()?, tau.elements_as()?, other.elements_as()?, left, transpose))?;
        any(op, c, self.dtype)
    }

    /// `(P, L, U)` of `A = P L U` (`torch.linalg.lu`).
    ///
    /// # Errors
    /// If the tensor is no matrix or batch of them, or the dtype is none that matrices are factored in.
    #[op(linalg.lu(A, pivot = true), dtypes = "float32, float64, complex64 and complex128")]
    pub fn lu(&self, pivot: bool) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "linalg.lu";
        expect_pivoting(op, pivot)?;
        let (lu, pivots, _) = self.lu_factor_ex(pivot, false)?;
        lu.lu_unpack(&pivots, true, true)
    }

    /// `L` and `U` in one matrix, and the rows that were exchanged, counted from 1 (`torch.linalg.lu_factor`).
    ///
    /// # Errors
    /// As [`lu`](Self::lu), and if a matrix is singular.
    #[op(linalg.lu_factor(A, pivot = true), dtypes = "float32, float64, complex64 and complex128")]
    pub fn lu_factor(&self, pivot: bool) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.lu_factor";
        expect_pivoting(op, pivot)?;
        let parts = over_field!(op, self.dtype, E => erased::lu_factor::<E, Dynamic>(op, self.elements_as()?, true))?;
        let (lu, pivots, _) = any3(op, parts, [self.dtype, DType::I32, DType::I32])?;
        Ok((lu, pivots))
    }

    #[op(lu(A, pivot = true, get_infos = false), dtypes = "float32, float64, complex64 and complex128")]
    fn old_lu(&self, pivot: bool, get_infos: bool) -> Result<Vec<AnyTensor>> {
        let (lu, pivots, info) = self.lu_factor_ex(pivot, !get_infos)?;
        Ok(if get_infos { vec![lu, pivots, info] } else { vec![lu, pivots] })
    }

    /// [`lu_factor`](Self::lu_factor), and for each matrix where the first zero on the diagonal of `U` is, counted from 1, or 0
    /// (`torch.linalg.lu_factor_ex`).
    ///
    /// # Errors
    /// As there, but singular matrices are an error if `check_errors` only.
    #[op(linalg.lu_factor_ex(A, pivot = true, check_errors = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn lu_factor_ex(&self, pivot: bool, check_errors: bool) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "linalg.lu_factor_ex";
        expect_pivoting(op, pivot)?;
        let parts =
            over_field!(op, self.dtype, E => erased::lu_factor::<E, Dynamic>(op, self.elements_as()?, check_errors))?;
        any3(op, parts, [self.dtype, DType::I32, DType::I32])
    }

    /// `(P, L, U)` of what [`lu_factor`](Self::lu_factor) gives (`torch.lu_unpack`); what is not asked for has no elements.
    ///
    /// # Errors
    /// If the pivots do not go with the factors.
    #[op(
        lu_unpack(LU_data, LU_pivots, unpack_data = true, unpack_pivots = true),
        dtypes = "float32, float64, complex64 and complex128"
    )]
    pub fn lu_unpack(
        &self,
        pivots: &AnyTensor,
        unpack_data: bool,
        unpack_pivots: bool,
    ) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "lu_unpack";
        self.expect_pivots(op, pivots)?;
        let parts = over_field!(op, self.dtype, E => erased::lu_unpack::<E, Dynamic>(op, self.elements_as()?, pivots.elements_as()?))?;
        let (mut p, mut l, mut u) = any3(op, parts, [self.dtype; 3])?;
        if !unpack_pivots {
            p = self.zeros_like_device(&[0], self.dtype)?;
        }
        if !unpack_data {
            (l, u) = (self.zeros_like_device(&[0], self.dtype)?, self.zeros_like_device(&[0], self.dtype)?);
        }
        Ok((p, l, u))
    }

    /// Symmetric (or Hermitian) indefinite factors in one matrix, and the rows that were exchanged, as LAPACK writes them
    /// (`torch.linalg.ldl_factor`).
    ///
    /// # Errors
    /// If matrices are not square or are singular.
    #[op(linalg.ldl_factor(A, hermitian = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn ldl_factor(&self, hermitian: bool) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.ldl_factor";
        let hermitian = hermitian && self.dtype.is_complex();
        let parts = over_field!(op, self.dtype, E => erased::ldl_factor::<E, Dynamic>(op, self.elements_as()?, hermitian, true))?;
        let (ld, pivots, _) = any3(op, parts, [self.dtype, DType::I32, DType::I32])?;
        Ok((ld, pivots))
    }

    /// [`ldl_factor`](Self::ldl_factor), and for each matrix where its first zero block is, or 0 (`torch.linalg.ldl_factor_ex`).
    ///
    /// # Errors
    /// As there, but singular matrices are an error if `check_errors` only.
    #[op(linalg.ldl_factor_ex(A, hermitian = false, check_errors = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn ldl_factor_ex(&self, hermitian: bool, check_errors: bool) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "linalg.ldl_factor_ex";
        let hermitian = hermitian && self.dtype.is_complex();
        let parts = over_field!(op, self.dtype, E => erased::ldl_factor::<E, Dynamic>(op, self.elements_as()?, hermitian, check_errors))?;
        any3(op, parts, [self.dtype, DType::I32, DType::I32])
    }

    /// Solutions of `A X = B` by the factors of [`ldl_factor`](Self::ldl_factor) (`torch.linalg.ldl_solve`).
    ///
    /// # Errors
    /// If sizes do not go together, dtypes differ or pivots are out of range.
    #[op(linalg.ldl_solve(LD, pivots, B, hermitian = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn ldl_solve(&self, pivots: &AnyTensor, b: &AnyTensor, hermitian: bool) -> Result<AnyTensor> {
        let op = "linalg.ldl_solve";
        self.expect_partner(op, b)?;
        self.expect_pivots(op, pivots)?;
        let hermitian = hermitian && self.dtype.is_complex();
        let x = over_field!(op, self.dtype, E => solutions::ldl_solve::<E, Dynamic>(self.elements_as()?, pivots.elements_as()?, b.elements_as()?, hermitian))?;
        any(op, x, self.dtype)
    }
}
