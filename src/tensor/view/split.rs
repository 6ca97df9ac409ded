//! `chunk`, `split`, `tensor_split`, `unbind`, `unfold`: a tensor's parts along an axis, as views.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, collected, invalid, unwrap};
use crate::layout::{ViewAxes, parts};
use crate::shape::{
    AxisArg, Cut, CutEqually, Dimensional, Dyn, HasAxis, InsertAxis, Known, KnownShape, Shape, Unbind, Windows,
};
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;
use core::ops::Range;

/// The parts of [`Tensor::split_into`]: a tensor for each shape of a tuple.
pub trait Parts<E: Element, D: Device> {
    /// The tensors, as a tuple.
    type Tensors;
    #[doc(hidden)]
    fn cut<S: Shape>(x: &Tensor<E, S, D>, axis: usize, parts: impl Iterator<Item = Range<usize>>) -> Self::Tensors;
}
/// For two parts it writes `impl Parts<E, D> for (A, B) { type Tensors = (Tensor<E, A, D>, Tensor<E, B, D>); … }`.
macro_rules! parts {
    ($([$($part:ident)+];)*) => {$(
        impl<E: Element, D: Device, $($part: Shape),+> Parts<E, D> for ($($part,)+) {
            type Tensors = ($(Tensor<E, $part, D>,)+);
            fn cut<S: Shape>(x: &Tensor<E, S, D>, axis: usize, mut parts: impl Iterator<Item = Range<usize>>) -> Self::Tensors {
                // There are as many ranges as parts.
                ($(x.part::<$part>(axis, parts.next().unwrap_or(0..0)),)+)
            }
        }
    )*};
}
parts! {
    [A]; [A B]; [A B C]; [A B C F]; [A B C F G]; [A B C F G H]; [A B C F G H I]; [A B C F G H I J];
}

/// A tensor with a size known at run time in place of axis `I`.
type Part<E, S, D, const I: isize> = Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// A range of an axis; it must be in bounds.
    fn part<T: Shape>(&self, axis: usize, positions: Range<usize>) -> Tensor<E, T, D> {
        unwrap(self.try_viewed(|own, view| own.narrow("narrow", axis, positions.start, positions.len(), view)))
    }

    fn parts_of<const I: isize>(&self, parts: impl Iterator<Item = Range<usize>>) -> Result<Vec<Part<E, S, D, I>>>
    where
        S: HasAxis<I>,
    {
        collected(parts.map(|part| Ok(self.part(<S as HasAxis<I>>::INDEX, part))))
    }

    fn axis_size<const I: isize>(&self) -> usize
    where
        S: HasAxis<I>,
    {
        self.shape().as_ref()[<S as HasAxis<I>>::INDEX]
    }

    /// At most `chunks` views of equal size along an axis; the last one may be smaller (`torch.chunk`).
    /// [`chunk_array`](Self::chunk_array) gives an array.
    ///
    /// # Panics
    /// If `chunks` is 0.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let parts = tensor![1, 2, 3, 4, 5].chunk(axis![0], 2);
    /// assert_eq!((parts[0].to_vec(), parts[1].to_vec()), (vec![1, 2, 3], vec![4, 5]));
    /// ```
    #[fallible]
    pub fn chunk<const I: isize>(&self, axis: impl AxisArg<I>, chunks: usize) -> Result<Vec<Part<E, S, D, I>>>
    where
        S: Dimensional + HasAxis<I>,
    {
        self.parts_of::<I>(parts::chunk("chunk", self.axis_size::<I>(), chunks)?)
    }

    /// `N` equal views along an axis as an array (`torch.chunk`, where the number divides the size). The size of each is in the type if
    /// that of the axis is; otherwise a size that is not divisible is an error.
    ///
    /// # Panics
    /// If a size known at run time is not divisible by `N`.
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let x = Tensor::<f32, shape![_, 384]>::zeros_sized([8, 384]);
    /// let [query, key, value] = x.chunk_array(axis![-1]);
    /// let value: Tensor<f32, shape![_, 128]> = value;
    /// ```
    #[fallible]
    pub fn chunk_array<const N: usize, const I: isize>(
        &self,
        axis: impl AxisArg<I>,
    ) -> Result<[Tensor<E, <S as CutEqually<I, N>>::Output, D>; N]>
    where
        S: Dimensional + CutEqually<I, N> + HasAxis<I>,
    {
        let (axis, size) = (<S as HasAxis<I>>::INDEX, self.axis_size::<I>());
        if !size.is_multiple_of(N) {
            return invalid("chunk", format!("axis {axis} of size {size} can't be cut into {N} equal parts"));
        }
        let len = size / N;
        Ok(core::array::from_fn(|part| self.part(axis, part * len..(part + 1) * len)))
    }

    /// Views of `size` positions along an axis; the last one may be smaller (`torch.split`).
    ///
    /// # Panics
    /// If `size` is 0 and the axis is not empty.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let parts = tensor![1, 2, 3, 4, 5].split(axis![0], 2);
    /// assert_eq!(parts.iter().map(|part| part.to_vec()).collect::<Vec<_>>(), [vec![1, 2], vec![3, 4], vec![5]]);
    /// ```
    #[fallible]
    pub fn split<const I: isize>(&self, axis: impl AxisArg<I>, size: usize) -> Result<Vec<Part<E, S, D, I>>>
    where
        S: Dimensional + HasAxis<I>,
    {
        self.parts_of::<I>(parts::split("split", self.axis_size::<I>(), size)?)
    }

    /// Views of these sizes along an axis, which add up to its own (`torch.split` with a list of sizes).
    ///
    /// # Panics
    /// If the sizes do not add up to that of the axis.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let parts = tensor![1, 2, 3].split_sizes(axis![0], &[1, 2]);
    /// assert_eq!((parts[0].to_vec(), parts[1].to_vec()), (vec![1], vec![2, 3]));
    /// ```
    #[fallible]
    pub fn split_sizes<const I: isize>(&self, axis: impl AxisArg<I>, sizes: &[usize]) -> Result<Vec<Part<E, S, D, I>>>
    where
        S: Dimensional + HasAxis<I>,
    {
        self.parts_of::<I>(parts::of_sizes("split", <S as HasAxis<I>>::INDEX, self.axis_size::<I>(), sizes)?)
    }

    /// Views along an axis of the sizes in a shape, as a tuple (`torch.split` with a list of sizes). The compiler checks their sum if it
    /// knows the size of the axis.
    ///
    /// # Panics
    /// If the sizes do not add up to one known at run time.
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let x = Tensor::<f32, shape![_, 512]>::zeros_sized([8, 512]);
    /// let (query, key, value) = x.split_into::<shape![256, 128, 128], _>(axis![-1]);
    /// let value: Tensor<f32, shape![_, 128]> = value;
    /// ```
    #[fallible]
    pub fn split_into<Sizes: KnownShape, const I: isize>(
        &self,
        axis: impl AxisArg<I>,
    ) -> Result<<<S as Cut<I, Sizes>>::Shapes as Parts<E, D>>::Tensors>
    where
        S: Dimensional + Cut<I, Sizes> + HasAxis<I>,
        <S as Cut<I, Sizes>>::Shapes: Parts<E, D>,
    {
        let (axis, sizes) = (<S as HasAxis<I>>::INDEX, Sizes::SIZES);
        let parts = parts::of_sizes("split", axis, self.axis_size::<I>(), sizes.as_ref())?;
        Ok(<<S as Cut<I, Sizes>>::Shapes as Parts<E, D>>::cut(self, axis, parts))
    }

    /// `sections` views along an axis, whose sizes differ by one at most, the larger ones first (`torch.tensor_split`).
    ///
    /// # Panics
    /// If `sections` is 0.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let parts = tensor![1, 2, 3, 4, 5].tensor_split(axis![0], 3);
    /// assert_eq!(parts.iter().map(|part| part.to_vec()).collect::<Vec<_>>(), [vec![1, 2], vec![3, 4], vec![5]]);
    /// ```
    #[fallible]
    pub fn tensor_split<const I: isize>(&self, axis: impl AxisArg<I>, sections: usize) -> Result<Vec<Part<E, S, D, I>>>
    where
        S: Dimensional + HasAxis<I>,
    {
        self.parts_of::<I>(parts::sections("tensor_split", self.axis_size::<I>(), sections)?)
    }

    /// The parts of an axis split at these positions, as views (`torch.tensor_split` with a list of indices). Negative positions count from
    /// the end; positions beyond the axis are clamped; a part that would end before it starts is empty.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let parts = tensor![1, 2, 3, 4].tensor_split_at(axis![0], &[1, -1]);
    /// assert_eq!(parts.iter().map(|part| part.to_vec()).collect::<Vec<_>>(), [vec![1], vec![2, 3], vec![4]]);
    /// ```
    #[fallible]
    pub fn tensor_split_at<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        positions: &[isize],
    ) -> Result<Vec<Part<E, S, D, I>>>
    where
        S: Dimensional + HasAxis<I>,
    {
        self.parts_of::<I>(parts::at_positions(self.axis_size::<I>(), positions.iter().map(|&at| at as i64)))
    }

    /// Views of every position along an axis, which is removed (`torch.unbind`). [`unbind_array`](Self::unbind_array) gives an array.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let rows = tensor![[1, 2], [3, 4]].unbind(axis![0]);
    /// assert_eq!((rows[0].to_vec(), rows[1].to_vec()), (vec![1, 2], vec![3, 4]));
    /// ```
    #[fallible]
    pub fn unbind<const I: isize>(&self, axis: impl AxisArg<I>) -> Result<Vec<Tensor<E, <S as HasAxis<I>>::Removed, D>>>
    where
        S: Dimensional + HasAxis<I>,
    {
        collected((0..self.axis_size::<I>()).map(|at| self.try_select(axis, at)))
    }

    /// Views of every position along an axis, which is removed, as an array (`torch.unbind`). If the size is known at run time only, it is
    /// an error if it is not that of the array.
    ///
    /// # Panics
    /// If a size known at run time is not `N`.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let [x, y] = tensor![[1, 2, 3], [4, 5, 6]].unbind_array(axis![0]);
    /// assert_eq!((x + y).to_vec(), [5, 7, 9]);
    /// ```
    #[fallible]
    pub fn unbind_array<const N: usize, const I: isize>(
        &self,
        axis: impl AxisArg<I>,
    ) -> Result<[Tensor<E, <S as Unbind<I, N>>::Output, D>; N]>
    where
        S: Dimensional + Unbind<I, N> + HasAxis<I>,
    {
        let (axis, size) = (<S as HasAxis<I>>::INDEX, self.axis_size::<I>());
        if size != N {
            return invalid("unbind", format!("axis {axis} has {size} positions, not {N}"));
        }
        Ok(core::array::from_fn(|at| unwrap(self.try_viewed(|own, view| own.select("unbind", axis, at, view)))))
    }

    /// Windows of `Size` positions along an axis, at a distance of `Step`, as a view with the positions in a window as its last axis
    /// (`torch.Tensor.unfold`).
    ///
    /// # Panics
    /// If the window does not fit an axis whose size is known at run time, or there would be more elements than can be counted.
    ///
    /// ```
    /// # use castiron::{axis, dim, shape, tensor, Tensor};
    /// let x = tensor![1, 2, 3, 4, 5];
    /// let windows: Tensor<i64, shape![2, 3]> = x.unfold::<dim!(3), dim!(2), _>(axis![0]);
    /// assert_eq!(windows.to_vec(), [1, 2, 3, 3, 4, 5]);
    /// ```
    #[fallible]
    pub fn unfold<Size: Known, Step: Known, const I: isize>(
        &self,
        axis: impl AxisArg<I>,
    ) -> Result<Tensor<E, <S as Windows<I, Size, Step>>::Output, D>>
    where
        S: Dimensional + Windows<I, Size, Step> + HasAxis<I>,
    {
        self.windows(<S as HasAxis<I>>::INDEX, Size::VALUE, Step::VALUE)
    }

    /// [`unfold`](Self::unfold) with a window known at run time.
    ///
    /// # Panics
    /// If the window does not fit the axis, `step` is 0, or there would be more elements than can be counted.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// assert_eq!(tensor![1, 2, 3].unfold_sized(axis![0], 2, 1).to_vec(), [1, 2, 2, 3]);
    /// ```
    #[fallible]
    pub fn unfold_sized<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        size: usize,
        step: usize,
    ) -> Result<Tensor<E, <<S as HasAxis<I>>::Replace<Dyn> as InsertAxis<-1>>::Inserted<Dyn>, D>>
    where
        S: Dimensional + HasAxis<I>,
        <S as HasAxis<I>>::Replace<Dyn>: InsertAxis<-1>,
    {
        self.windows(<S as HasAxis<I>>::INDEX, size, step)
    }

    /// The view of both: windows share elements, so that there may be more than memory has.
    fn windows<T: Shape>(&self, axis: usize, size: usize, step: usize) -> Result<Tensor<E, T, D>> {
        self.try_viewed(|own, view| {
            let ViewAxes { sizes, strides } = view;
            let offset = own.unfold("unfold", axis, size, step, ViewAxes { sizes: &mut *sizes, strides })?;
            checked_numel::<E>("unfold", sizes)?;
            Ok(offset)
        })
    }
}
