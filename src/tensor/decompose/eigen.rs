//! Typed singular values and eigenvalues.
//! Uses `decompose::erased`.

use super::erased;
use crate::cpu::factor::Vectors;
use crate::cpu::factor::field::Field;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops::decompose as ops;
use crate::shape::{Dim, Extent, Matrices, Shape, Smaller, SquareFor};
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// Which triangle of a symmetric or Hermitian matrix is read (PyTorch's `UPLO`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Uplo {
    /// The one below the diagonal.
    #[default]
    Lower,
    /// The one above it.
    Upper,
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// `(U, S, Vh)` of `A = U diag(S) Vh`, singular values from the largest on. `Reduced` factors of `(…, M, N)` are `(…, M, K)` and `(…, K, N)`, `K` being
    /// the smaller size, `Complete` ones `(…, M, M)` and `(…, N, N)`.
    ///
    /// PyTorch: `torch.linalg.svd`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complete, Tensor, shape, tensor};
    /// let x = tensor![[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]];
    /// let (u, s, vh) = x.svd(Complete);
    /// assert_eq!(s.to_vec(), [4.0, 3.0]);
    /// let same: (&Tensor<f32, shape![2, 2]>, &Tensor<f32, shape![3, 3]>) = (&u, &vh);
    /// ```
    #[fallible]
    pub fn svd<X: Extent, K: Dim, Re: Element>(
        &self,
        _extent: X,
    ) -> Result<(
        Tensor<E, S::With<S::Rows, X::Of<S::Rows, K>>, D>,
        Tensor<Re, S::WithVectors<K>, D>,
        Tensor<E, S::With<X::Of<S::Columns, K>, S::Columns>, D>,
    )>
    where
        E: Field<Re = Re>,
        S: Matrices<Rows: Smaller<S::Columns, Output = K>>,
    {
        let op = "linalg.svd";
        let vectors = if X::COMPLETE { Vectors::Complete } else { Vectors::Reduced };
        let [u, s, vh] = erased::svd::<E, D>(op, self.elements(), vectors)?;
        Ok((u.typed(op)?, s.typed(op)?, vh.typed(op)?))
    }

    /// Singular values, from the largest on: `(…, M, N)` gives `(…, K)`, the smaller size.
    ///
    /// PyTorch: `torch.linalg.svdvals`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, or memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[3.0, 0.0], [0.0, 4.0]].svdvals().to_vec(), [4.0, 3.0]);
    /// ```
    #[fallible]
    pub fn svdvals<K: Dim, Re: Element>(&self) -> Result<Tensor<Re, S::WithVectors<K>, D>>
    where
        E: Field<Re = Re>,
        S: Matrices<Rows: Smaller<S::Columns, Output = K>>,
    {
        let op = "linalg.svdvals";
        let [_, s, _] = erased::svd::<E, D>(op, self.elements(), Vectors::None)?;
        s.typed(op)
    }

    /// Ascending eigenvalues and, in columns, eigenvectors of symmetric or Hermitian matrices, of which one triangle is read.
    ///
    /// PyTorch: `torch.linalg.eigh`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::{Uplo, tensor};
    /// let (w, v) = tensor![[2.0, 0.0], [0.0, 1.0]].eigh(Uplo::Lower);
    /// assert_eq!((w.to_vec(), v.abs().to_vec()), (vec![1.0, 2.0], vec![0.0, 1.0, 1.0, 0.0]));
    /// ```
    #[fallible]
    pub fn eigh<N: Dim, Re: Element>(&self, uplo: Uplo) -> Result<(Tensor<Re, S::WithVectors<N>, D>, Self)>
    where
        E: Field<Re = Re>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::eigh, Side = N>>,
    {
        let op = "linalg.eigh";
        let [w, v] = erased::eigh::<E, D>(op, self.elements(), uplo == Uplo::Upper, true)?;
        Ok((w.typed(op)?, v.typed(op)?))
    }

    /// The eigenvalues of [`eigh`](Self::eigh).
    ///
    /// PyTorch: `torch.linalg.eigvalsh`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::{Uplo, tensor};
    /// assert_eq!(tensor![[2.0, 0.0], [0.0, 1.0]].eigvalsh(Uplo::Lower).to_vec(), [1.0, 2.0]);
    /// ```
    #[fallible]
    pub fn eigvalsh<N: Dim, Re: Element>(&self, uplo: Uplo) -> Result<Tensor<Re, S::WithVectors<N>, D>>
    where
        E: Field<Re = Re>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::eigvalsh, Side = N>>,
    {
        let op = "linalg.eigvalsh";
        let [w, _] = erased::eigh::<E, D>(op, self.elements(), uplo == Uplo::Upper, false)?;
        w.typed(op)
    }

    /// Eigenvalues and, in columns of norm 1, eigenvectors, both complex.
    ///
    /// PyTorch: `torch.linalg.eig`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, tensor};
    /// let (w, v) = tensor![[0.0, -1.0], [1.0, 0.0]].eig();
    /// assert_eq!(w.to_vec(), [Complex::new(0.0, 1.0), Complex::new(0.0, -1.0)]);
    /// ```
    #[fallible]
    pub fn eig<N: Dim, Cx: Element>(&self) -> Result<(Tensor<Cx, S::WithVectors<N>, D>, Tensor<Cx, S, D>)>
    where
        E: Field<Cx = Cx>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::eig, Side = N>>,
    {
        let op = "linalg.eig";
        let [w, v] = erased::eig::<E, D>(op, self.elements(), true)?;
        Ok((w.typed(op)?, v.typed(op)?))
    }

    /// The eigenvalues of [`eig`](Self::eig).
    ///
    /// PyTorch: `torch.linalg.eigvals`. Dtypes: `f32`, `f64`, `Complex<f32>`, `Complex<f64>`.
    ///
    /// # Panics
    /// If an element is not finite, sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, tensor};
    /// assert_eq!(tensor![[2.0]].eigvals().to_vec(), [Complex::new(2.0, 0.0)]);
    /// ```
    #[fallible]
    pub fn eigvals<N: Dim, Cx: Element>(&self) -> Result<Tensor<Cx, S::WithVectors<N>, D>>
    where
        E: Field<Cx = Cx>,
        S: Matrices<Rows: SquareFor<S::Columns, ops::eigvals, Side = N>>,
    {
        let op = "linalg.eigvals";
        let [w, _] = erased::eig::<E, D>(op, self.elements(), false)?;
        w.typed(op)
    }
}
