//! Older forms of solvers of linear systems, least squares by driver, `tensorsolve`.

use super::over_field;
use crate::any::AnyTensor;
use crate::any::base::by_width::signed;
use crate::composite::decompose::least_squares::Driver;
use crate::cpu::factor::Triangle;
use crate::error::{Result, invalid};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    #[op(lu_solve(b, LU_data, LU_pivots), dtypes = "float32, float64, complex64 and complex128")]
    fn old_lu_solve(&self, lu: &AnyTensor, pivots: &AnyTensor) -> Result<AnyTensor> {
        lu.lu_solve(pivots, self, true, false)
    }

    /// `self` is the right side; `A` is returned with the solution.
    #[op(
        triangular_solve(b, A, upper = true, transpose = false, unitriangular = false),
        dtypes = "float32, float64, complex64 and complex128"
    )]
    fn triangular_solve(
        &self,
        a: &AnyTensor,
        upper: bool,
        transpose: bool,
        unitriangular: bool,
    ) -> Result<(AnyTensor, AnyTensor)> {
        let op = "triangular_solve";
        self.expect_alike(op, a)?;
        let triangle = Triangle { upper, unit: unitriangular, transposed: transpose };
        let x =
            over_field!(op, self.dtype, E => a.as_erased::<E>()?.triangular(op, &self.as_erased()?, triangle, true))?;
        let sizes = [&x.sizes[..x.rank() - 2], &a.sizes[a.rank() - 2..]].concat();
        Ok((x, a.expanded_to(&sizes)?.copy()?))
    }

    /// Least squares (`torch.linalg.lstsq`): the solution, residuals, rank and singular values; those that the driver does not compute are
    /// empty. Drivers are `"gelsy"` (the default), `"gels"`, `"gelsd"` and `"gelss"`.
    ///
    /// # Errors
    /// If sizes do not match, dtypes differ, elements are not finite, or matrices of this dtype are not factored.
    #[doc(alias = "least_squares")]
    #[op(linalg.lstsq(A, B, rcond = None, driver = "gelsy"), dtypes = "float32, float64, complex64 and complex128")]
    pub fn lstsq(&self, b: &AnyTensor, rcond: Option<f64>, driver: &str) -> Result<Vec<AnyTensor>> {
        let op = "linalg.lstsq";
        self.expect_alike(op, b)?;
        let driver = match driver {
            "gels" => Driver::Gels,
            "gelsy" => Driver::Gelsy,
            "gelsd" => Driver::Gelsd,
            "gelss" => Driver::Gelss,
            other => {
                return invalid(
                    op,
                    format!("parameter `driver` should be one of (gels, gelsy, gelsd, gelss), got {other}"),
                );
            }
        };
        let (x, residuals, rank, values) =
            over_field!(op, self.dtype, E => self.as_erased::<E>()?.least_squares(&b.as_erased()?, rcond, driver))?;
        Ok(vec![x, residuals, rank, values])
    }

    /// The solution of `tensordot(self, X) = B` (`torch.linalg.tensorsolve`); the axes `dims` are moved to the end first.
    ///
    /// # Errors
    /// As [`solve`](Self::solve), and if the axes do not have as many elements as `b`.
    #[op(linalg.tensorsolve(A, B, dims = None), dtypes = "float32, float64, complex64 and complex128")]
    pub fn tensorsolve(&self, b: &AnyTensor, dims: Option<&[i64]>) -> Result<AnyTensor> {
        let op = "linalg.tensorsolve";
        let x = match dims {
            None => self.clone(),
            Some(dims) => {
                let to: Vec<i64> = (0..dims.len() as i64).map(|at| at - dims.len() as i64).collect();
                self.movedim(dims, &to)?
            }
        };
        let sizes = &x.sizes[b.rank().min(x.rank())..];
        let columns: usize = sizes.iter().product();
        let rows = b.numel();
        if rows != columns || rows.checked_mul(columns) != Some(x.numel()) {
            return invalid(
                op,
                format!(
                    "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got {columns} != {rows}"
                ),
            );
        }
        let matrix = x.reshaped(&[rows as i64, columns as i64])?;
        matrix.solve(&b.reshaped(&[rows as i64])?, true)?.reshaped(&signed(sizes))
    }
}
