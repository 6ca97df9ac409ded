//! Inverses and exponentials of matrices.

use super::matrices::cost;
use crate::composite::{Erased, Owned};
use crate::cpu::factor::{self, field::Field};
use crate::device::Device;
#[cfg(feature = "any")]
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::ops::decompose as ops;
use crate::shape::{Matrices, Shape, SquareFor, TensorInverse};
use crate::tensor::Tensor;
use castiron_macros::composites;

pub(super) fn singular(at: i32) -> String {
    format!(
        "The diagonal element {at} is zero, the inversion could not be completed because the input matrix is singular."
    )
}

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// Inverses of square matrices, `(…, N, N)`.
    ///
    /// # Errors
    /// If a matrix is singular, or matrices are not square.
    #[op(linalg.inv(A), dtypes = field, aliases("inverse"))]
    #[typed((&self) -> Self
        where
            E: Field,
            S: Matrices,
            S::Rows: SquareFor<S::Columns, ops::inv>)]
    #[example(let x = tensor![[2.0, 0.0], [0.0, 4.0]]; x.inv(), x.inv(), tensor![[0.5, 0.0], [0.0, 0.25]])]
    #[doc(alias = "inverse")]
    pub(crate) fn inv(&self) -> Result<Owned<E, D>> {
        let op = "linalg.inv";
        Ok(self.inverse(op, true)?.0)
    }

    /// Inverses, and for each matrix the position, counted from 1, of the zero pivot that makes it singular, or 0.
    ///
    /// # Errors
    /// If matrices are not square.
    #[op(linalg.inv_ex(A, check_errors = false), dtypes = field)]
    #[typed(<Lead: Shape>(&self) -> (Self, Tensor<i32, Lead, D>)
        where
            E: Field,
            S: Matrices<Lead = Lead>,
            S::Rows: SquareFor<S::Columns, ops::inv_ex>;
        check_errors = false)]
    #[example(let x = tensor![[[1.0, 1.0], [1.0, 1.0]]]; x.inv_ex(), x.inv_ex(false), (_, tensor![2; i32]))]
    pub(crate) fn inv_ex(&self, check_errors: bool) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        let op = "linalg.inv_ex";
        self.inverse(op, check_errors)
    }

    fn inverse(&self, op: &'static str, check: bool) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        let (batch, a, n) = self.as_squares(op)?;
        let (inverse, info) = batch.each(cost([n, n, n]), [n, n], |at, to| factor::inverse(a.at(at), n, to))?;
        if check {
            batch.check(&info, singular)?;
        }
        Ok((batch.matrices(inverse, [n, n])?, batch.numbers(info)?))
    }

    /// The inverse of the linear map from the last axes to the first `ind`: the result has the last axes, then the first.
    ///
    /// # Errors
    /// If the map is singular, or the numbers of elements of the axes on both sides differ.
    #[op(linalg.tensorinv(A, ind = 2), dtypes = field)]
    #[any(ind: i64 = match usize::try_from(ind) {
        Ok(ind @ 1..) => ind,
        _ => return invalid("linalg.tensorinv", "Expected a strictly positive integer for 'ind'".to_owned()),
    })]
    #[typed(<const N: usize>(&self) -> Tensor<E, <S as TensorInverse<N>>::Output, D>
        where
            E: Field,
            S: TensorInverse<N>;
        ind = N)]
    #[example(let x = tensor![[[2.0, 0.0]], [[0.0, 4.0]]]; x.tensorinv::<1>(), x.tensorinv(1), tensor![[[0.5, 0.0], [0.0, 0.25]]])]
    pub(crate) fn tensorinv(&self, ind: usize) -> Result<Owned<E, D>> {
        let op = "linalg.tensorinv";
        let (start, end) = self.sizes().split_at(ind.min(self.rank()));
        let [rows, columns] = [start, end].map(|of| of.iter().fold(1_usize, |count, &size| count.saturating_mul(size)));
        if rows != columns {
            return invalid(
                op,
                format!(
                    "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {columns} != {rows}"
                ),
            );
        }
        let (inverse, _) = self.reshape(op, &[rows, columns])?.inverse(op, true)?;
        Ok(inverse.reshape(op, &[end, start].concat())?.share())
    }

    /// Exponentials of square matrices.
    ///
    /// # Errors
    /// If matrices are not square.
    #[op(linalg.matrix_exp(A), dtypes = "floats, complex64 and complex128", over = field, aliases("matrix_exp"))]
    #[any(if matches!(self.dtype(), DType::F16 | DType::BF16) {
        return self.to(DType::F32)?.matrix_exp()?.to(self.dtype());
    })]
    #[typed((&self) -> Self
        where
            E: Field,
            S: Matrices,
            S::Rows: SquareFor<S::Columns, ops::matrix_exp>)]
    #[example(let x = tensor![[0.0, 1.0], [0.0, 0.0]]; x.matrix_exp(), x.matrix_exp(), tensor![[1.0, 1.0], [0.0, 1.0]])]
    pub(crate) fn matrix_exp(&self) -> Result<Owned<E, D>> {
        let op = "linalg.matrix_exp";
        let (batch, a, n) = self.as_squares(op)?;
        let (exponential, _) = batch.each(cost([n, n, n.saturating_mul(10)]), [n, n], |at, to| {
            factor::exponential(a.at(at), n, to).map(|()| 0)
        })?;
        batch.matrices(exponential, [n, n])
    }
}
