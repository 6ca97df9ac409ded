//! `diagonal`, `diag`, `diag_embed`, `trace`.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::{Geometry, ViewAxes, strides};
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::ops::kernel::Copying;
use crate::ops::reduce::Sum;
use crate::shape::{
    Axis, Diag, DiagEmbed, Diagonals, Dimensional, DistinctAxes, Dyn, HasAxis, MainDiagonals, OneMatrix, Shape,
    SizeArray,
};
use crate::storage::ViewMut;
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The diagonals of a plane; `T` has the other axes, then the diagonal.
    fn diagonals<T: Shape>(&self, offset: isize, rows: usize, columns: usize) -> Tensor<E, T, D> {
        self.viewed(|own, view| own.diagonal(offset as i64, rows, columns, view))
    }

    /// Matrices of zeros with the last axis as a diagonal.
    fn embedded<T: Shape>(&self, op: &'static str, offset: isize) -> Result<Tensor<E, T, D>> {
        let (own, last) = (self.shape(), S::RANK - 1);
        let too_large = || Error::TooLarge { op, sizes: [usize::MAX][..].into() };
        let side = own.as_ref()[last].checked_add(offset.unsigned_abs()).ok_or_else(too_large)?;
        let mut sizes = T::Sizes::filled(side);
        sizes.as_mut()[..last].copy_from_slice(&own.as_ref()[..last]);
        expect_fit::<T>(op, sizes.as_ref())?;
        let strides = strides::contiguous(&sizes);
        let mut storage = D::zeroed::<E>(Some(self.elements().buffer), checked_numel::<E>(op, sizes.as_ref())?)?;
        if self.numel() > 0 {
            let (mut own, mut places) = (own, S::Sizes::filled(0));
            let view = ViewAxes { sizes: own.as_mut(), strides: places.as_mut() };
            let first =
                Geometry::new(0, sizes.as_ref(), strides.as_ref()).diagonal(offset as i64, last, last + 1, view);
            let out = ViewMut::<_, E>::new(&mut storage, first, own.as_ref(), places.as_ref());
            D::map1_into(Copying, self.elements(), out)?;
        }
        Ok(Tensor::from_parts(storage, 0, sizes, strides))
    }

    /// `diag` of either rank.
    fn diag_of<T: Shape>(&self, offset: isize) -> Result<Tensor<E, T, D>> {
        if S::RANK == 1 { self.embedded("diag", offset) } else { self.diagonals(offset, 0, 1).try_contiguous() }
    }

    /// The main diagonals of the planes of two axes, as a view with the positions of a diagonal as its last axis (`torch.diagonal`). Their
    /// length is in the type if the sizes of both axes are.
    ///
    /// ```
    /// # use castiron::{axis, shape, tensor, Tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// let y: Tensor<i64, shape![2]> = x.diagonal(axis![0, 1]);
    /// assert_eq!(y.to_vec(), [1, 5]);
    /// assert!(y.shares_storage(&x));
    /// ```
    pub fn diagonal<const I: isize, const J: isize>(
        &self,
        _plane: DistinctAxes<(Axis<I>, Axis<J>)>,
    ) -> Tensor<E, <S as MainDiagonals<I, J>>::Output, D>
    where
        S: MainDiagonals<I, J> + HasAxis<I> + HasAxis<J>,
    {
        self.diagonals(0, <S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX)
    }

    /// [`diagonal`](Self::diagonal) above the main one, or below it if the offset is negative. Its length is known at run time.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.diagonal_at(axis![0, 1], 1).to_vec(), [2, 6]);
    /// assert_eq!(x.diagonal_at(axis![0, 1], -1).to_vec(), [4]);
    /// ```
    pub fn diagonal_at<const I: isize, const J: isize>(
        &self,
        _plane: DistinctAxes<(Axis<I>, Axis<J>)>,
        offset: isize,
    ) -> Tensor<E, <S as Diagonals<I, J>>::Of<Dyn>, D>
    where
        S: Diagonals<I, J> + HasAxis<I> + HasAxis<J>,
    {
        self.diagonals(offset, <S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX)
    }

    /// The matrix with a vector as its main diagonal, or the main diagonal of a matrix (`torch.diag`).
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// # use castiron::{shape, tensor, Tensor};
    /// let y: Tensor<i64, shape![2, 2]> = tensor![1, 2].diag();
    /// assert_eq!(y.to_vec(), [1, 0, 0, 2]);
    /// assert_eq!(y.diag().to_vec(), [1, 2]);
    /// ```
    #[fallible]
    pub fn diag<T: Shape>(&self) -> Result<Tensor<E, T, D>>
    where
        S: Diag<Main = T>,
    {
        self.diag_of(0)
    }

    /// [`diag`](Self::diag) above the main diagonal, or below it if the offset is negative.
    ///
    /// # Panics
    /// If there are too many elements, or memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![1].diag_at(1).to_vec(), [0, 1, 0, 0]);
    /// ```
    #[fallible]
    pub fn diag_at<T: Shape>(&self, offset: isize) -> Result<Tensor<E, T, D>>
    where
        S: Diag<Any = T>,
    {
        self.diag_of(offset)
    }

    /// Matrices with the last axis as their main diagonal, in the last two axes of the result (`torch.diag_embed`).
    ///
    /// # Panics
    /// If there are too many elements, or memory runs out.
    ///
    /// ```
    /// # use castiron::{shape, tensor, Tensor};
    /// let y: Tensor<i64, shape![2, 2, 2]> = tensor![[1, 2], [3, 4]].diag_embed();
    /// assert_eq!(y.to_vec(), [1, 0, 0, 2, 3, 0, 0, 4]);
    /// ```
    #[fallible]
    pub fn diag_embed(&self) -> Result<Tensor<E, <S as DiagEmbed>::Main, D>>
    where
        S: Dimensional + DiagEmbed,
    {
        self.embedded("diag_embed", 0)
    }

    /// [`diag_embed`](Self::diag_embed) above the main diagonal, or below it if the offset is negative.
    ///
    /// # Panics
    /// If there are too many elements, or memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![1].diag_embed_at(-1).to_vec(), [0, 0, 1, 0]);
    /// ```
    #[fallible]
    pub fn diag_embed_at(&self, offset: isize) -> Result<Tensor<E, <S as DiagEmbed>::Any, D>>
    where
        S: Dimensional + DiagEmbed,
    {
        self.embedded("diag_embed", offset)
    }

    /// The sum of the main diagonal of a matrix (`torch.trace`). For integers it is int64.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[1, 2, 3], [4, 5, 6]].trace().item(), 6);
    /// ```
    #[fallible]
    pub fn trace<O: Dtype>(&self) -> Result<Tensor<O, (), D>>
    where
        S: OneMatrix,
        E: NumericFor<ops::reduce::trace> + Dtype<Sum = O>,
    {
        let diagonal: Tensor<E, (Dyn,), D> = self.diagonals(0, 0, 1);
        crate::tensor::reduce::reductions::reduce::<ops::reduce::sum, _, _, _, _, _>(Sum, &diagonal, 1, false)
    }
}
