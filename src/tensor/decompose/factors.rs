//! Typed factorisations: Cholesky, LU, QR, symmetric indefinite.
//! Uses `decompose::erased`.

use super::erased::{self, QrMode};
use super::solutions;
use crate::cpu::factor::field::Field;
use crate::device::{Device, Receives};
use crate::dtype::Element;
use crate::dtype::scalar::Dimensioned;
use crate::error::Result;
use crate::ops::admit::SameDtypeFor;
use crate::ops::decompose as ops;
use crate::shape::{
    Dim, Extent, FactorsOf, Matrices, NoMoreThanRows, PivotsOf, ReflectedFromLeft, ReflectedFromRight, Shape, Smaller,
    Solutions, SquareFor,
};
use crate::tensor::Tensor;
use crate::tensor::base::operand::{TensorOperand, elements_of};
use castiron_macros::fallible;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The factor `L` of `A = L L^H`, or with `upper` the `U` of `A = U^H U`, of Hermitian positive-definite matrices. One triangle is read.
    ///
    /// PyTorch: `torch.linalg.cholesky`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If a matrix is not positive-definite, sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[4.0, 2.0], [2.0, 5.0]];
    /// assert_eq!(x.cholesky(false).to_vec(), [2.0, 0.0, 1.0, 2.0]);
    /// ```
    #[fallible]
    pub fn cholesky(&self, upper: bool) -> Result<Self>
    where
        E: Field,
        S: Matrices,
        S::Rows: SquareFor<S::Columns, ops::cholesky>,
    {
        let op = "linalg.cholesky";
        erased::cholesky::<E, D>(op, self.elements(), upper, true)?.0.typed(op)
    }

    /// [`cholesky`](Self::cholesky), and for each matrix the order of the first minor that is not positive-definite, or 0.
    ///
    /// PyTorch: `torch.linalg.cholesky_ex`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[-4.0]].cholesky_ex(false).1.item(), 1);
    /// ```
    #[fallible]
    pub fn cholesky_ex<Lead: Shape>(&self, upper: bool) -> Result<(Self, Tensor<i32, Lead, D>)>
    where
        E: Field,
        S: Matrices<Lead = Lead>,
        S::Rows: SquareFor<S::Columns, ops::cholesky_ex>,
    {
        let op = "linalg.cholesky_ex";
        let (factor, info) = erased::cholesky::<E, D>(op, self.elements(), upper, false)?;
        Ok((factor.typed(op)?, info.typed(op)?))
    }

    /// Inverses of the matrices whose Cholesky factors these are.
    ///
    /// PyTorch: `torch.cholesky_inverse`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If a factor has a zero on its diagonal, sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[2.0]].cholesky_inverse(false).to_vec(), [0.25]);
    /// ```
    #[fallible]
    pub fn cholesky_inverse(&self, upper: bool) -> Result<Self>
    where
        E: Field,
        S: Matrices,
        S::Rows: SquareFor<S::Columns, ops::cholesky_inverse>,
    {
        solutions::cholesky_inverse::<E, D>(self.elements(), upper)?.typed("cholesky_inverse")
    }

    /// Solutions of `A X = self`, `A` being given by its Cholesky factor; leading axes broadcast.
    ///
    /// PyTorch: `torch.cholesky_solve`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[8.0]].cholesky_solve(&tensor![[2.0]], false).to_vec(), [2.0]);
    /// ```
    #[fallible]
    pub fn cholesky_solve<R: TensorOperand, T: Shape>(&self, factor: R, upper: bool) -> Result<Tensor<E, T, D>>
    where
        E: Field + SameDtypeFor<R::Elem, ops::cholesky_solve>,
        S: Matrices,
        R::Shape: Solutions<S, ops::cholesky_solve, Output = T>,
        D: Receives<R::Place, Dimensioned>,
    {
        let factor = elements_of::<E, D, R>(&factor)?;
        solutions::cholesky_solve::<E, D>(self.elements(), factor, upper)?.typed("cholesky_solve")
    }

    /// `(Q, R)` of `A = Q R`, with LAPACK's signs. `Reduced` factors of `(…, M, N)` are `(…, M, K)` and `(…, K, N)`, `K` being the smaller size, `Complete`
    /// ones `(…, M, M)` and `(…, M, N)`.
    ///
    /// PyTorch: `torch.linalg.qr`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{Reduced, Tensor, shape, tensor};
    /// let (q, r): (Tensor<f32, shape![2, 1]>, Tensor<f32, shape![1, 1]>) = tensor![[3.0], [4.0]].qr(Reduced);
    /// assert_eq!(r.to_vec(), [-5.0]);
    /// assert!(q.allclose(&tensor![[-0.6], [-0.8]]));
    /// ```
    #[fallible]
    pub fn qr<X: Extent, K: Dim>(
        &self,
        _extent: X,
    ) -> Result<(Tensor<E, S::With<S::Rows, X::Of<S::Rows, K>>, D>, Tensor<E, S::With<X::Of<S::Rows, K>, S::Columns>, D>)>
    where
        E: Field,
        S: Matrices<Rows: Smaller<S::Columns, Output = K>>,
    {
        let op = "linalg.qr";
        let mode = if X::COMPLETE { QrMode::Complete } else { QrMode::Reduced };
        let [q, r] = erased::qr::<E, D>(op, self.elements(), mode)?;
        Ok((q.typed(op)?, r.typed(op)?))
    }

    /// QR in one matrix: `R`, and below it the reflections whose product `Q` is; and their factors.
    ///
    /// PyTorch: `torch.geqrf`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// let (qr, tau) = castiron::tensor![[3.0], [4.0]].geqrf();
    /// assert_eq!((qr.to_vec(), tau.to_vec()), (vec![-5.0, 0.5], vec![1.6]));
    /// ```
    #[fallible]
    pub fn geqrf<K: Dim>(&self) -> Result<(Self, Tensor<E, S::WithVectors<K>, D>)>
    where
        E: Field,
        S: Matrices<Rows: Smaller<S::Columns, Output = K>>,
    {
        let [qr, tau] = erased::geqrf::<E, D>(self.elements())?;
        Ok((qr.typed("geqrf")?, tau.typed("geqrf")?))
    }

    /// The first columns of the product of reflections, as [`geqrf`](Self::geqrf) gives them.
    ///
    /// PyTorch: `torch.linalg.householder_product`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (qr, tau) = tensor![[3.0], [4.0]].geqrf();
    /// assert!(qr.householder_product(&tau).allclose(&tensor![[-0.6], [-0.8]]));
    /// ```
    #[fallible]
    pub fn householder_product<K: TensorOperand>(&self, tau: K) -> Result<Self>
    where
        E: Field + SameDtypeFor<K::Elem, ops::householder_product>,
        S: Matrices<Columns: NoMoreThanRows<S::Rows, ops::householder_product>>,
        K::Shape: FactorsOf<S, ops::householder_product>,
        D: Receives<K::Place, Dimensioned>,
    {
        let tau = elements_of::<E, D, K>(&tau)?;
        erased::householder_product::<E, D>(self.elements(), tau)?.typed("linalg.householder_product")
    }

    /// The product of reflections, as [`geqrf`](Self::geqrf) gives them, or its adjoint, applied to matrices from the left. From the right
    /// see [`rormqr`](Self::rormqr).
    ///
    /// PyTorch: `torch.ormqr`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (x, (qr, tau)) = (tensor![[3.0], [4.0]], tensor![[3.0], [4.0]].geqrf());
    /// assert!(qr.ormqr(&tau, &x, true).allclose_with(&tensor![[-5.0], [0.0]], 1e-5, 1e-5));
    /// ```
    #[fallible]
    pub fn ormqr<K: TensorOperand, R: TensorOperand>(
        &self,
        tau: K,
        other: R,
        adjoint: bool,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: Field + SameDtypeFor<K::Elem, ops::ormqr> + SameDtypeFor<R::Elem, ops::ormqr>,
        S: Matrices,
        K::Shape: FactorsOf<S, ops::ormqr>,
        R::Shape: Matrices + ReflectedFromLeft<S>,
        D: Receives<K::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
    {
        let (tau, other) = (elements_of::<E, D, K>(&tau)?, elements_of::<E, D, R>(&other)?);
        erased::ormqr::<E, D>(self.elements(), tau, other, true, adjoint)?.typed("ormqr")
    }

    /// [`ormqr`](Self::ormqr) from the right: the matrices times the product of reflections.
    ///
    /// PyTorch: `torch.ormqr` with `left=False`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (x, (qr, tau)) = (tensor![[3.0, 4.0]], tensor![[3.0], [4.0]].geqrf());
    /// assert!(qr.rormqr(&tau, &x, false).allclose_with(&tensor![[-5.0, 0.0]], 1e-5, 1e-5));
    /// ```
    #[fallible]
    pub fn rormqr<K: TensorOperand, R: TensorOperand>(
        &self,
        tau: K,
        other: R,
        adjoint: bool,
    ) -> Result<Tensor<E, R::Shape, D>>
    where
        E: Field + SameDtypeFor<K::Elem, ops::ormqr> + SameDtypeFor<R::Elem, ops::ormqr>,
        S: Matrices,
        K::Shape: FactorsOf<S, ops::ormqr>,
        R::Shape: Matrices + ReflectedFromRight<S>,
        D: Receives<K::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
    {
        let (tau, other) = (elements_of::<E, D, K>(&tau)?, elements_of::<E, D, R>(&other)?);
        erased::ormqr::<E, D>(self.elements(), tau, other, false, adjoint)?.typed("ormqr")
    }

    /// `(P, L, U)` of `A = P L U`: of `(…, M, N)` they are `(…, M, M)`, `(…, M, K)` and `(…, K, N)`, `K` being the smaller size.
    ///
    /// PyTorch: `torch.linalg.lu`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[1.0, 2.0], [4.0, 4.0]];
    /// let (p, l, u) = x.lu();
    /// assert_eq!((p.to_vec(), u.to_vec()), (vec![0.0, 1.0, 1.0, 0.0], vec![4.0, 4.0, 0.0, 1.0]));
    /// assert_eq!(p.matmul(&l).matmul(&u).to_vec(), x.to_vec());
    /// ```
    #[fallible]
    pub fn lu<K: Dim>(
        &self,
    ) -> Result<(
        Tensor<E, S::With<S::Rows, S::Rows>, D>,
        Tensor<E, S::With<S::Rows, K>, D>,
        Tensor<E, S::With<K, S::Columns>, D>,
    )>
    where
        E: Field,
        S: Matrices<Rows: Smaller<S::Columns, Output = K>>,
    {
        let op = "linalg.lu";
        let [lu, pivots, _] = erased::lu_factor::<E, D>(op, self.elements(), false)?;
        let (lu, pivots): (Self, Tensor<i32, S::WithVectors<K>, D>) = (lu.typed(op)?, pivots.typed(op)?);
        let [p, l, u] = erased::lu_unpack::<E, D>(op, lu.elements(), pivots.elements())?;
        Ok((p.typed(op)?, l.typed(op)?, u.typed(op)?))
    }

    /// `L` and `U` in one matrix, and the rows that were exchanged, counted from 1.
    ///
    /// PyTorch: `torch.linalg.lu_factor`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If a matrix is singular, or memory runs out.
    ///
    /// ```
    /// let (lu, pivots) = castiron::tensor![[1.0, 2.0], [4.0, 4.0]].lu_factor();
    /// assert_eq!((lu.to_vec(), pivots.to_vec()), (vec![4.0, 4.0, 0.25, 1.0], vec![2, 2]));
    /// ```
    #[fallible]
    pub fn lu_factor<K: Dim>(&self) -> Result<(Self, Tensor<i32, S::WithVectors<K>, D>)>
    where
        E: Field,
        S: Matrices<Rows: Smaller<S::Columns, Output = K>>,
    {
        let op = "linalg.lu_factor";
        let [lu, pivots, _] = erased::lu_factor::<E, D>(op, self.elements(), true)?;
        Ok((lu.typed(op)?, pivots.typed(op)?))
    }

    /// [`lu_factor`](Self::lu_factor), and for each matrix where the first zero on the diagonal of `U` is, counted from 1, or 0.
    ///
    /// PyTorch: `torch.linalg.lu_factor_ex`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[1.0, 1.0], [1.0, 1.0]].lu_factor_ex().2.item(), 2);
    /// ```
    #[fallible]
    pub fn lu_factor_ex<K: Dim, Lead: Shape>(
        &self,
    ) -> Result<(Self, Tensor<i32, S::WithVectors<K>, D>, Tensor<i32, Lead, D>)>
    where
        E: Field,
        S: Matrices<Lead = Lead, Rows: Smaller<S::Columns, Output = K>>,
    {
        let op = "linalg.lu_factor_ex";
        let [lu, pivots, info] = erased::lu_factor::<E, D>(op, self.elements(), false)?;
        Ok((lu.typed(op)?, pivots.typed(op)?, info.typed(op)?))
    }

    /// `(P, L, U)` of what [`lu_factor`](Self::lu_factor) gives.
    ///
    /// PyTorch: `torch.lu_unpack`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If pivots are out of range, sizes known at run time do not go together, or memory runs out.
    ///
    /// ```
    /// let (lu, pivots) = castiron::tensor![[1.0, 2.0], [4.0, 4.0]].lu_factor();
    /// assert_eq!(lu.lu_unpack(&pivots).1.to_vec(), [1.0, 0.0, 0.25, 1.0]);
    /// ```
    #[fallible]
    pub fn lu_unpack<P: TensorOperand, K: Dim>(
        &self,
        pivots: P,
    ) -> Result<(
        Tensor<E, S::With<S::Rows, S::Rows>, D>,
        Tensor<E, S::With<S::Rows, K>, D>,
        Tensor<E, S::With<K, S::Columns>, D>,
    )>
    where
        E: Field,
        i32: SameDtypeFor<P::Elem, ops::lu_unpack>,
        S: Matrices<Rows: Smaller<S::Columns, Output = K>>,
        P::Shape: PivotsOf<S, K, ops::lu_unpack>,
        D: Receives<P::Place, Dimensioned>,
    {
        let op = "lu_unpack";
        let [p, l, u] = erased::lu_unpack::<E, D>(op, self.elements(), elements_of::<i32, D, P>(&pivots)?)?;
        Ok((p.typed(op)?, l.typed(op)?, u.typed(op)?))
    }

    /// Symmetric (or `hermitian`) indefinite factors in one matrix, and the rows that were exchanged, as LAPACK writes them.
    ///
    /// PyTorch: `torch.linalg.ldl_factor`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If a matrix is singular, sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (ld, pivots) = tensor![[2.0, 1.0], [1.0, 3.0]].ldl_factor(false);
    /// assert_eq!((ld.to_vec(), pivots.to_vec()), (vec![2.0, 0.0, 0.5, 2.5], vec![1, 2]));
    /// assert_eq!(ld.ldl_solve(&pivots, &tensor![[2.0], [1.0]], false).to_vec(), [1.0, 0.0]);
    /// ```
    #[fallible]
    pub fn ldl_factor<N: Dim>(&self, hermitian: bool) -> Result<(Self, Tensor<i32, S::WithVectors<N>, D>)>
    where
        E: Field,
        S: Matrices<Rows: SquareFor<S::Columns, ops::ldl_factor, Side = N>>,
    {
        let op = "linalg.ldl_factor";
        let hermitian = hermitian && E::DTYPE.is_complex();
        let [ld, pivots, _] = erased::ldl_factor::<E, D>(op, self.elements(), hermitian, true)?;
        Ok((ld.typed(op)?, pivots.typed(op)?))
    }

    /// Solutions of `A X = B` by the factors of [`ldl_factor`](Self::ldl_factor).
    ///
    /// PyTorch: `torch.linalg.ldl_solve`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time do not go together, pivots are out of range, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (ld, pivots) = tensor![[4.0]].ldl_factor(false);
    /// assert_eq!(ld.ldl_solve(&pivots, &tensor![[2.0]], false).to_vec(), [0.5]);
    /// ```
    #[fallible]
    pub fn ldl_solve<N: Dim, P: TensorOperand, R: TensorOperand, T: Shape>(
        &self,
        pivots: P,
        b: R,
        hermitian: bool,
    ) -> Result<Tensor<E, T, D>>
    where
        E: Field + SameDtypeFor<R::Elem, ops::ldl_solve>,
        i32: SameDtypeFor<P::Elem, ops::ldl_solve>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::ldl_solve, Side = N>>
            + Solutions<R::Shape, ops::ldl_solve, Output = T>,
        P::Shape: PivotsOf<S, N, ops::ldl_solve>,
        R::Shape: Matrices,
        D: Receives<P::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
    {
        let (pivots, b) = (elements_of::<i32, D, P>(&pivots)?, elements_of::<E, D, R>(&b)?);
        let hermitian = hermitian && E::DTYPE.is_complex();
        solutions::ldl_solve::<E, D>(self.elements(), pivots, b, hermitian)?.typed("linalg.ldl_solve")
    }
}
