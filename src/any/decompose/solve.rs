//! Linear systems and least squares.
//! Uses `tensor::decompose`.

use super::{any, any2, over_field};
use crate::any::AnyTensor;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::tensor::decompose::{Driver, Triangle, solutions, spectral};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Solutions of `A X = B`, or without `left` of `X A = B` (`torch.linalg.solve`). `B` holds matrices, or vectors if it has one axis or
    /// the shape of `A` without the last; leading axes broadcast.
    ///
    /// # Errors
    /// If sizes do not go together, dtypes differ, a matrix is singular, or the dtype is none that matrices are factored in.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let a = AnyTensor::from(tensor![[2.0, 0.0], [0.0, 4.0]]);
    /// assert_eq!(a.solve(&AnyTensor::from(tensor![2.0, 2.0]), true)?.to_string(), "tensor([1.0000, 0.5000])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "linsolve")]
    #[op(linalg.solve(A, B, left = true), dtypes = "float32, float64, complex64 and complex128")]
    pub fn solve(&self, b: &AnyTensor, left: bool) -> Result<AnyTensor> {
        let op = "linalg.solve";
        self.expect_partner(op, b)?;
        let (x, _) = over_field!(op, self.dtype, E => solutions::solve::<E, Dynamic>(op, self.elements_as()?, b.elements_as()?, left, true))?;
        any(op, x, self.dtype)
    }

    /// [`solve`](Self::solve), and for each matrix where a zero made it singular, counted from 1, or 0 (`torch.linalg.solve_ex`).
    ///
    /// # Errors
    /// As there, but singular matrices are an error if `check_errors` only.
    #[op(linalg.solve_ex(A, B, left = true, check_errors = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn solve_ex(&self, b: &AnyTensor, left: bool, check_errors: bool) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.solve_ex";
        self.expect_partner(op, b)?;
        let (x, info) = over_field!(op, self.dtype, E => solutions::solve::<E, Dynamic>(op, self.elements_as()?, b.elements_as()?, left, check_errors))?;
        any2(op, [x, info], [self.dtype, DType::I32])
    }

    /// Solutions by the factors of [`lu_factor`](Self::lu_factor) (`torch.linalg.lu_solve`): of `A X = B`, without `left` of `X A = B`, with
    /// `adjoint` of the adjoint of `A`.
    ///
    /// # Errors
    /// If sizes do not go together or dtypes differ.
    #[op(linalg.lu_solve(LU, pivots, B, left = true, adjoint = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn lu_solve(&self, pivots: &AnyTensor, b: &AnyTensor, left: bool, adjoint: bool) -> Result<AnyTensor> {
        let op = "linalg.lu_solve";
        self.expect_partner(op, b)?;
        self.expect_pivots(op, pivots)?;
        let x = over_field!(op, self.dtype, E => solutions::lu_solve::<E, Dynamic>(self.elements_as()?, pivots.elements_as()?, b.elements_as()?, left, adjoint))?;
        any(op, x, self.dtype)
    }

    #[op(lu_solve(b, LU_data, LU_pivots), dtypes = "float32, float64, complex64 and complex128")]
    fn old_lu_solve(&self, lu: &AnyTensor, pivots: &AnyTensor) -> Result<AnyTensor> {
        lu.lu_solve(pivots, self, true, false)
    }

    /// Solutions of triangular systems `A X = B`, or without `left` of `X A = B` (`torch.linalg.solve_triangular`). The other triangle is not
    /// read, and with `unitriangular` the diagonal neither: it counts as ones. Singular matrices give infinities and NaN.
    ///
    /// # Errors
    /// If sizes do not go together, dtypes differ, or the dtype is none that matrices are factored in.
    #[op(linalg.solve_triangular(A, B, upper, left = true, unitriangular = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn solve_triangular(&self, b: &AnyTensor, upper: bool, left: bool, unitriangular: bool) -> Result<AnyTensor> {
        let op = "linalg.solve_triangular";
        self.expect_partner(op, b)?;
        let triangle = Triangle { upper, unit: unitriangular, transposed: false };
        let x = over_field!(op, self.dtype, E => solutions::solve_triangular::<E, Dynamic>(op, self.elements_as()?, b.elements_as()?, triangle, left))?;
        any(op, x, self.dtype)
    }

    /// `self` is the right side; `A` comes back beside the solution.
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
        self.expect_partner(op, a)?;
        let triangle = Triangle { upper, unit: unitriangular, transposed: transpose };
        let x = over_field!(op, self.dtype, E => solutions::solve_triangular::<E, Dynamic>(op, a.elements_as()?, self.elements_as()?, triangle, true))?;
        let x = any(op, x, self.dtype)?;
        let sizes = [&x.sizes[..x.rank() - 2], &a.sizes[a.rank() - 2..]].concat();
        Ok((x, a.expanded_to(&sizes)?.copy()?))
    }

    /// Least squares (`torch.linalg.lstsq`): the solution, residuals, rank and singular values, of which those that the driver does not
    /// compute have no elements. Drivers are `"gelsy"` (the default), `"gels"`, `"gelsd"` and `"gelss"`.
    ///
    /// # Errors
    /// If sizes do not go together, dtypes differ, elements are not finite, or the dtype is none that matrices are factored in.
    #[doc(alias = "least_squares")]
    #[op(linalg.lstsq(A, B, rcond = None, driver = "gelsy"), dtypes = "float32, float64, complex64 and complex128")]
    pub fn lstsq(&self, b: &AnyTensor, rcond: Option<f64>, driver: &str) -> Result<Vec<AnyTensor>> {
        let op = "linalg.lstsq";
        self.expect_partner(op, b)?;
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
        let [x, residuals, rank, values] = over_field!(op, self.dtype, E => spectral::lstsq::<E, Dynamic>(self.elements_as()?, b.elements_as()?, rcond, driver))?;
        let real = self.real_dtype();
        Ok(vec![any(op, x, self.dtype)?, any(op, residuals, real)?, any(op, rank, DType::I64)?, any(op, values, real)?])
    }
}
