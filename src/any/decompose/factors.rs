//! Older forms of factorisations.

use super::over_field;
use crate::any::AnyTensor;
use crate::error::Result;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    #[op(qr(input, some = true), dtypes = "float32, float64, complex64 and complex128")]
    fn old_qr(&self, some: bool) -> Result<(AnyTensor, AnyTensor)> {
        self.qr(if some { "reduced" } else { "complete" })
    }

    #[op(lu(A, pivot = true, get_infos = false), dtypes = "float32, float64, complex64 and complex128")]
    fn old_lu(&self, pivot: bool, get_infos: bool) -> Result<Vec<AnyTensor>> {
        let (lu, pivots, info) = self.lu_factor_ex(pivot, !get_infos)?;
        Ok(if get_infos { vec![lu, pivots, info] } else { vec![lu, pivots] })
    }

    /// [`ldl_factor`](Self::ldl_factor), and for each matrix the position of its first zero block, or 0 (`torch.linalg.ldl_factor_ex`).
    ///
    /// # Errors
    /// As [`ldl_factor`](Self::ldl_factor), but singular matrices are an error only if `check_errors`.
    #[op(linalg.ldl_factor_ex(A, hermitian = false, check_errors = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn ldl_factor_ex(&self, hermitian: bool, check_errors: bool) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let op = "linalg.ldl_factor_ex";
        over_field!(op, self.dtype, E => self.as_erased::<E>()?.ldl(op, hermitian, check_errors))
    }

    /// Logarithms of determinants (`torch.logdet`): NaN where a real one is negative.
    ///
    /// # Errors
    /// As [`det`](Self::det).
    #[op(logdet(input), dtypes = "float32, float64, complex64 and complex128")]
    pub fn logdet(&self) -> Result<AnyTensor> {
        let (sign, log) = self.slogdet()?;
        sign.log()?.add(&log)
    }
}
