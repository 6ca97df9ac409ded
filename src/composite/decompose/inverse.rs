//! Inverses and exponentials of matrices.

use super::matrices::cost;
#[cfg(feature = "grad")]
use crate::composite::Axis;
#[cfg(feature = "grad")]
use crate::composite::algebra::OP;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
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
use core::marker::PhantomData;

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
        D::primitive(&Inverting::<E> { op, check, dtype: PhantomData }, (Erased::of(self.view()),))
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
        self.split_squares(op)?;
        Ok(D::primitive(&Exponential::<E>(PhantomData), (Erased::of(self.view()),))?.0)
    }
}

/// The inverses of matrices, and `info`.
#[derive(Clone)]
struct Inverting<E> {
    op: &'static str,
    check: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for Inverting<E> {
    type Operands = (E,);
    type Results = (E, i32);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (a,): On<'_, (E,), D>) -> Result<On<'static, (E, i32), D>> {
        let Inverting { op, check, .. } = *self;
        let (batch, a, n) = a.as_squares(op)?;
        let (inverse, info) = batch.each(cost([n, n, n]), [n, n], |at, to| factor::inverse(a.at(at), n, to))?;
        if check {
            batch.check(&info, singular)?;
        }
        Ok((batch.matrices(inverse, [n, n])?, batch.numbers(info)?))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 1];
    /// `-Y^H g Y^H`
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g), _) = back.g else { return Ok((None,)) };
        let y = read(&back.y.0)?.adjoint()?;
        Ok((Some(y.product(&g)?.product(&y)?.negated()?),))
    }
}

/// The exponentials of matrices.
#[derive(Clone)]
struct Exponential<E>(PhantomData<fn() -> E>);
impl<E: Field> Primitive for Exponential<E> {
    type Operands = (E,);
    type Results = (E,);
    fn op(&self) -> &'static str {
        "linalg.matrix_exp"
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E,), D>> {
        let op = self.op();
        let (batch, a, n) = x.as_squares(op)?;
        let (exponential, _) = batch.each(cost([n, n, n.saturating_mul(10)]), [n, n], |at, to| {
            factor::exponential(a.at(at), n, to).map(|()| 0)
        })?;
        Ok((batch.matrices(exponential, [n, n])?,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [1, 0];
    /// The last block of the exponential of `[[A^H, g], [0, A^H]]` (Mathias, "A Chain Rule for Matrix Functions", 1996).
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g),) = back.g else { return Ok((None,)) };
        let a = read(&back.x.0)?.adjoint()?;
        let (rank, n) = (a.rank(), a.sizes()[a.rank() - 1]);
        let upper = a.followed_by(&g, rank - 1)?;
        let lower = a.scaled_by(0.0)?.followed_by(&a, rank - 1)?;
        let both = upper.followed_by(&lower, rank - 2)?.matrix_exp()?;
        let right = both.narrow(OP, Axis(rank - 1), n, n)?;
        Ok((Some(right.narrow(OP, Axis(rank - 2), 0, n)?.share()),))
    }
}
