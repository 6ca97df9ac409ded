//! Typed linear systems and least squares.
//! Uses `decompose::erased`, `decompose::spectral`.

use super::solutions;
use super::spectral::{self, Driver};
use crate::cpu::factor::Triangle;
use crate::cpu::factor::field::Field;
use crate::device::{Device, Receives};
use crate::dtype::Element;
use crate::dtype::scalar::Dimensioned;
use crate::error::{Result, invalid};
use crate::ops::admit::SameDtypeFor;
use crate::ops::decompose as ops;
use crate::shape::{Broadcast, Factor, Matrices, PivotsOf, Shape, Smaller, Solutions, SolutionsFromRight, SquareFor};
use crate::tensor::Tensor;
use crate::tensor::base::operand::{TensorOperand, elements_of};
use castiron_macros::fallible;

/// Refuses a batch of vectors, which the type takes for matrices.
fn expect_matrices(op: &'static str, a: &[usize], b: &[usize]) -> Result<()> {
    if b.len() > 1 && a.len() == b.len() + 1 && *b == a[..a.len() - 1] {
        return invalid(
            op,
            format!("a right side of shape {b:?} beside {a:?} is a batch of vectors: give it a last axis of 1"),
        );
    }
    Ok(())
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Solutions of `A X = B`: `(…, N, N)` and `(…, N, K)` give `(…, N, K)`, leading axes broadcast, and a vector `(N)` gives `(…, N)`.
    ///
    /// PyTorch: `torch.linalg.solve`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If a matrix is singular, sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let a = tensor![[2.0, 0.0], [0.0, 4.0]];
    /// assert_eq!(a.solve(&tensor![2.0, 2.0]).to_vec(), [1.0, 0.5]);
    /// ```
    #[doc(alias = "linsolve")]
    #[fallible]
    pub fn solve<R: TensorOperand, T: Shape>(&self, b: R) -> Result<Tensor<E, T, D>>
    where
        E: Field + SameDtypeFor<R::Elem, ops::solve>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::solve>> + Solutions<R::Shape, ops::solve, Output = T>,
        D: Receives<R::Place, Dimensioned>,
    {
        let (op, b) = ("linalg.solve", elements_of::<E, D, R>(&b)?);
        expect_matrices(op, self.shape().as_ref(), b.sizes)?;
        solutions::solve::<E, D>(op, self.elements(), b, true, true)?.0.typed(op)
    }

    /// Solutions of `X A = B`: `(…, N, N)` and `(…, K, N)` give `(…, K, N)`.
    ///
    /// PyTorch: `torch.linalg.solve` with `left=False`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If a matrix is singular, sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let a = tensor![[2.0, 1.0], [0.0, 4.0]];
    /// assert_eq!(a.rsolve(&tensor![[2.0, 5.0]]).to_vec(), [1.0, 1.0]);
    /// ```
    #[fallible]
    pub fn rsolve<R: TensorOperand, T: Shape>(&self, b: R) -> Result<Tensor<E, T, D>>
    where
        E: Field + SameDtypeFor<R::Elem, ops::solve>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::solve>>,
        R::Shape: Matrices + SolutionsFromRight<S, ops::solve, Output = T>,
        D: Receives<R::Place, Dimensioned>,
    {
        let (op, b) = ("linalg.solve", elements_of::<E, D, R>(&b)?);
        solutions::solve::<E, D>(op, self.elements(), b, false, true)?.0.typed(op)
    }

    /// [`solve`](Self::solve), and for each matrix where a zero made it singular, counted from 1, or 0.
    ///
    /// PyTorch: `torch.linalg.solve_ex`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[0.0]].solve_ex(&tensor![[1.0]]).1.item(), 1);
    /// ```
    #[fallible]
    pub fn solve_ex<R: TensorOperand, T: Shape, B: Shape>(&self, b: R) -> Result<(Tensor<E, T, D>, Tensor<i32, B, D>)>
    where
        E: Field + SameDtypeFor<R::Elem, ops::solve_ex>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::solve_ex>> + Solutions<R::Shape, ops::solve_ex, Output = T>,
        S::Lead: Broadcast<<R::Shape as Factor>::Batch, Output = B>,
        R::Shape: Factor,
        D: Receives<R::Place, Dimensioned>,
    {
        let (op, b) = ("linalg.solve_ex", elements_of::<E, D, R>(&b)?);
        expect_matrices(op, self.shape().as_ref(), b.sizes)?;
        let (x, info) = solutions::solve::<E, D>(op, self.elements(), b, true, false)?;
        Ok((x.typed(op)?, info.typed(op)?))
    }

    /// Solutions of `A X = B` by the factors of [`lu_factor`](Self::lu_factor), or with the adjoint of `A`.
    ///
    /// PyTorch: `torch.linalg.lu_solve`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (lu, pivots) = tensor![[2.0, 0.0], [0.0, 4.0]].lu_factor();
    /// assert_eq!(lu.lu_solve(&pivots, &tensor![[2.0], [2.0]], false).to_vec(), [1.0, 0.5]);
    /// ```
    #[fallible]
    pub fn lu_solve<P: TensorOperand, R: TensorOperand, T: Shape>(
        &self,
        pivots: P,
        b: R,
        adjoint: bool,
    ) -> Result<Tensor<E, T, D>>
    where
        E: Field + SameDtypeFor<R::Elem, ops::lu_solve>,
        i32: SameDtypeFor<P::Elem, ops::lu_solve>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::lu_solve>> + Solutions<R::Shape, ops::lu_solve, Output = T>,
        P::Shape: PivotsOf<S, <S::Rows as Smaller<S::Columns>>::Output, ops::lu_solve>,
        R::Shape: Matrices,
        D: Receives<P::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
    {
        let (pivots, b) = (elements_of::<i32, D, P>(&pivots)?, elements_of::<E, D, R>(&b)?);
        solutions::lu_solve::<E, D>(self.elements(), pivots, b, true, adjoint)?.typed("linalg.lu_solve")
    }

    /// Solutions of triangular systems `A X = B`. The other triangle is not read, and with `unitriangular` the diagonal neither: it counts
    /// as ones. Singular matrices give infinities and NaN.
    ///
    /// PyTorch: `torch.linalg.solve_triangular`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let a = tensor![[2.0, 1.0], [0.0, 4.0]];
    /// assert_eq!(a.solve_triangular(&tensor![[3.0], [4.0]], true, false).to_vec(), [1.0, 1.0]);
    /// ```
    #[fallible]
    pub fn solve_triangular<R: TensorOperand, T: Shape>(
        &self,
        b: R,
        upper: bool,
        unitriangular: bool,
    ) -> Result<Tensor<E, T, D>>
    where
        E: Field + SameDtypeFor<R::Elem, ops::solve_triangular>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::solve_triangular>>
            + Solutions<R::Shape, ops::solve_triangular, Output = T>,
        R::Shape: Matrices,
        D: Receives<R::Place, Dimensioned>,
    {
        let (op, b) = ("linalg.solve_triangular", elements_of::<E, D, R>(&b)?);
        let triangle = Triangle { upper, unit: unitriangular, transposed: false };
        solutions::solve_triangular::<E, D>(op, self.elements(), b, triangle, true)?.typed(op)
    }

    /// Solutions of triangular systems `X A = B`: see [`solve_triangular`](Self::solve_triangular).
    ///
    /// PyTorch: `torch.linalg.solve_triangular` with `left=False`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use castiron::tensor;
    /// let a = tensor![[2.0, 1.0], [0.0, 4.0]];
    /// assert_eq!(a.rsolve_triangular(&tensor![[2.0, 5.0]], true, false).to_vec(), [1.0, 1.0]);
    /// ```
    #[fallible]
    pub fn rsolve_triangular<R: TensorOperand, T: Shape>(
        &self,
        b: R,
        upper: bool,
        unitriangular: bool,
    ) -> Result<Tensor<E, T, D>>
    where
        E: Field + SameDtypeFor<R::Elem, ops::solve_triangular>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::solve_triangular>>,
        R::Shape: Matrices + SolutionsFromRight<S, ops::solve_triangular, Output = T>,
        D: Receives<R::Place, Dimensioned>,
    {
        let (op, b) = ("linalg.solve_triangular", elements_of::<E, D, R>(&b)?);
        let triangle = Triangle { upper, unit: unitriangular, transposed: false };
        solutions::solve_triangular::<E, D>(op, self.elements(), b, triangle, false)?.typed(op)
    }

    /// The `X` of least squares `|A X - B|`, of several the shortest: `(…, M, N)` and `(…, M, K)` give `(…, N, K)`, and a vector `(M)` gives `(…, N)`; and the
    /// ranks of the matrices.
    /// Singular values up to `rcond` times the largest count as 0, without it up to the machine epsilon times the larger size.
    ///
    /// PyTorch: `torch.linalg.lstsq` with the driver `"gelsy"`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (x, rank) = tensor![[1.0], [1.0]].lstsq(&tensor![[1.0], [3.0]], None);
    /// assert!(x.allclose(&tensor![[2.0]]));
    /// assert_eq!(rank.item(), 1);
    /// assert!(tensor![[1.0], [1.0]].lstsq(tensor![1.0, 3.0], None).0.allclose(&tensor![2.0]));
    /// ```
    #[doc(alias = "least_squares")]
    #[fallible]
    pub fn lstsq<R: TensorOperand, T: Shape, B: Shape>(
        &self,
        b: R,
        rcond: Option<f64>,
    ) -> Result<(Tensor<E, T, D>, Tensor<i64, B, D>)>
    where
        E: Field + SameDtypeFor<R::Elem, ops::lstsq>,
        S: Matrices<Lead: Broadcast<<R::Shape as Factor>::Batch, Output = B>>,
        S::With<S::Columns, S::Rows>: Solutions<R::Shape, ops::lstsq, Output = T>,
        R::Shape: Factor,
        D: Receives<R::Place, Dimensioned>,
    {
        let (op, b) = ("linalg.lstsq", elements_of::<E, D, R>(&b)?);
        expect_matrices(op, self.shape().as_ref(), b.sizes)?;
        let [x, _, rank, _] = spectral::lstsq::<E, D>(self.elements(), b, rcond, Driver::Gelsy)?;
        Ok((x.typed(op)?, rank.typed(op)?))
    }
}
