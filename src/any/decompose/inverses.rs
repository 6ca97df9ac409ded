//! Inverses, determinants and exponentials.
//! Uses `tensor::decompose::erased`.

use super::{any, any2, over_field};
use crate::any::AnyTensor;
use crate::any::base::by_width::signed;
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::tensor::decompose::{erased, solutions};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Inverses (`torch.linalg.inv`).
    ///
    /// # Errors
    /// If matrices are not square, one is singular, or the dtype is none that matrices are factored in.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[2.0, 0.0], [0.0, 4.0]]);
    /// assert_eq!(x.inv()?.to_string(), "tensor([[0.5000, 0.0000],\n        [0.0000, 0.2500]])");
    /// let error = AnyTensor::from(tensor![[1.0, 1.0], [1.0, 1.0]]).inv().unwrap_err();
    /// assert!(error.to_string().starts_with("linalg.inv: The diagonal element 2 is zero"));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(linalg.inv(A), dtypes = "float32, float64, complex64 and complex128", aliases("inverse"))]
    pub fn inv(&self) -> Result<AnyTensor> {
        let op = "linalg.inv";
        let (x, _) = over_field!(op, self.dtype, E => solutions::inverse::<E, Dynamic>(op, self.elements_as()?, true))?;
        any(op, x, self.dtype)
    }

    /// [`inv`](Self::inv), and for each matrix where a zero made it singular, counted from 1, or 0 (`torch.linalg.inv_ex`).
    ///
    /// # Errors
    /// As there, but singular matrices are an error if `check_errors` only.
    #[op(linalg.inv_ex(A, check_errors = false), dtypes = "float32, float64, complex64 and complex128")]
    pub fn inv_ex(&self, check_errors: bool) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.inv_ex";
        let (x, info) =
            over_field!(op, self.dtype, E => solutions::inverse::<E, Dynamic>(op, self.elements_as()?, check_errors))?;
        any2(op, [x, info], [self.dtype, DType::I32])
    }

    /// Determinants (`torch.linalg.det`).
    ///
    /// # Errors
    /// If matrices are not square, or the dtype is none that matrices are factored in.
    #[op(linalg.det(A), dtypes = "float32, float64, complex64 and complex128", aliases("det"))]
    pub fn det(&self) -> Result<AnyTensor> {
        let op = "linalg.det";
        let x = over_field!(op, self.dtype, E => erased::det::<E, Dynamic>(op, self.elements_as()?))?;
        any(op, x, self.dtype)
    }

    /// Signs of determinants, and the logarithms of their absolute values (`torch.linalg.slogdet`).
    ///
    /// # Errors
    /// As [`det`](Self::det).
    #[op(linalg.slogdet(A), dtypes = "float32, float64, complex64 and complex128", aliases("slogdet"))]
    pub fn slogdet(&self) -> Result<(AnyTensor, AnyTensor)> {
        let op = "linalg.slogdet";
        let parts = over_field!(op, self.dtype, E => erased::slogdet::<E, Dynamic>(op, self.elements_as()?))?;
        any2(op, parts, [self.dtype, self.real_dtype()])
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

    /// Exponentials of matrices (`torch.linalg.matrix_exp`).
    ///
    /// # Errors
    /// If matrices are not square, or the dtype is none that matrices are factored in.
    #[op(linalg.matrix_exp(A), dtypes = "floats, complex64 and complex128", aliases("matrix_exp"))]
    pub fn matrix_exp(&self) -> Result<AnyTensor> {
        let op = "linalg.matrix_exp";
        if matches!(self.dtype, DType::F16 | DType::BF16) {
            return self.to(DType::F32)?.matrix_exp()?.to(self.dtype);
        }
        let x = over_field!(op, self.dtype, E => erased::exponential::<E, Dynamic>(self.elements_as()?))?;
        any(op, x, self.dtype)
    }

    /// The inverse of the linear map from the last axes to the first `ind` (`torch.linalg.tensorinv`).
    ///
    /// # Errors
    /// As [`inv`](Self::inv), and if the axes on both sides do not have as many elements.
    #[op(linalg.tensorinv(A, ind = 2), dtypes = "float32, float64, complex64 and complex128")]
    pub fn tensorinv(&self, ind: i64) -> Result<AnyTensor> {
        let op = "linalg.tensorinv";
        let Some(ind) = usize::try_from(ind).ok().filter(|&ind| ind > 0) else {
            return invalid(op, "Expected a strictly positive integer for 'ind'".to_owned());
        };
        let (start, end) = self.sizes.split_at(ind.min(self.rank()));
        let (rows, columns): (usize, usize) = (start.iter().product(), end.iter().product());
        if rows != columns {
            return invalid(
                op,
                format!(
                    "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {columns} != {rows}"
                ),
            );
        }
        self.reshaped(&[rows as i64, columns as i64])?.inv()?.reshaped(&signed(&[end, start].concat()))
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
