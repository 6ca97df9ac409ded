//! Views: `t`, `transpose`, `permute`, `squeeze`, `unsqueeze`, `expand`, `select`, `narrow`, `real`, `imag`. No element
//! moves; storage is shared.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, invalid};
use crate::layout::{Geometry, ViewAxes, exchanged, write_moved};
use crate::ops;
use crate::ops::admit::ComplexFor;
use crate::shape::{
    AxisArg, AxisPosition, D1, Dyn, ExpandTo, HasAxis, InsertAxis, KnownShape, MoveAxis, Permute, Reverse, Shape,
    SizeArray, Squeeze, SqueezeAxis, Transpose,
};
use crate::tensor::{Tensor, expect_fit};
use castiron_macros::fallible;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// A view whose axis `i` is axis `order[i]` of `self`.
    #[inline]
    pub(crate) fn reordered<T: Shape>(&self, order: impl Iterator<Item = usize>) -> Tensor<E, T, D> {
        let (mut sizes, mut strides) = (T::Sizes::filled(0), T::Sizes::filled(0));
        let mut named = 0_u32;
        let own = Geometry::new(0, self.parts.sizes.as_ref(), self.parts.strides.as_ref());
        let view = ViewAxes { sizes: sizes.as_mut(), strides: strides.as_mut() };
        own.pick(order.inspect(|from| named |= 1 << from), view);
        let permutes = T::RANK == S::RANK && named.count_ones() as usize == S::RANK;
        if permutes { self.rearranged(sizes, strides) } else { self.restrided(0, sizes, strides) }
    }

    /// The transposed matrix (`torch.t`); vectors and zero-dim tensors are unchanged.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.t().to_vec(), [1, 4, 2, 5, 3, 6]);
    /// ```
    pub fn t<T: Shape>(&self) -> Tensor<E, T, D>
    where
        // Not `<S as Reverse>::Output` in the result: rustc would report a missing method instead of the reason.
        S: Reverse<Output = T>,
    {
        self.reordered((0..S::RANK).rev())
    }

    /// Exchanges two axes (`torch.transpose`).
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let x = Tensor::<f32, shape![2, 3, 4]>::zeros();
    /// let y: Tensor<f32, shape![2, 4, 3]> = x.transpose(axis![-2], axis![-1]);
    /// assert_eq!(y.stride(), [12, 1, 4]);
    /// ```
    #[doc(alias = "swapaxes")]
    #[doc(alias = "swapdims")]
    pub fn transpose<const I: isize, const J: isize>(
        &self,
        _first: impl AxisArg<I>,
        _second: impl AxisArg<J>,
    ) -> Tensor<E, <S as Transpose<I, J>>::Output, D>
    where
        S: Transpose<I, J> + HasAxis<I> + HasAxis<J>,
    {
        let (first, second) = (<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
        self.reordered(exchanged(S::RANK, first, second))
    }

    /// Permutes the axes, each given once (`torch.permute`).
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let image = Tensor::<u8, shape![480, 640, 3]>::zeros();
    /// let planes: Tensor<u8, shape![3, 480, 640]> = image.permute(axis![2, 0, 1]);
    /// assert_eq!(planes.stride(), [1, 1920, 3]);
    /// ```
    pub fn permute<Order>(&self, _order: Order) -> Tensor<E, <S as Permute<Order>>::Output, D>
    where
        S: Permute<Order>,
    {
        self.reordered(<S as Permute<Order>>::ORDER.iter().copied())
    }

    /// Removes every axis of size 1 (`torch.squeeze`). All sizes must be known to the compiler, since the rank depends on
    /// them; otherwise name the axis with [`squeeze_axis`](Self::squeeze_axis).
    ///
    /// ```
    /// # use castiron::{shape, Tensor};
    /// let x: Tensor<f32, shape![3]> = Tensor::<f32, shape![1, 3, 1]>::zeros().squeeze();
    /// assert_eq!(x.shape(), [3]);
    /// ```
    pub fn squeeze<T: Shape>(&self) -> Tensor<E, T, D>
    where
        S: Squeeze<Output = T>,
    {
        self.reordered((0..S::RANK).filter(|&axis| self.shape().as_ref()[axis] != 1))
    }

    /// Removes an axis if its size is 1 and keeps it otherwise (`torch.squeeze(dim)`). The compiler must know the size.
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let x = Tensor::<f32, shape![_, 1]>::zeros_sized([5, 1]);
    /// let y: Tensor<f32, shape![_]> = x.squeeze_axis(axis![-1]);
    /// assert_eq!(y.shape(), [5]);
    /// ```
    pub fn squeeze_axis<const I: isize>(&self, _axis: impl AxisArg<I>) -> Tensor<E, <S as SqueezeAxis<I>>::Output, D>
    where
        S: SqueezeAxis<I> + HasAxis<I>,
    {
        let index = <S as HasAxis<I>>::INDEX;
        self.reordered((0..S::RANK).filter(|&axis| axis != index || self.shape().as_ref()[axis] != 1))
    }

    /// Inserts an axis of size 1 (`torch.unsqueeze`); the position is that in the result.
    ///
    /// ```
    /// # use castiron::{axis, shape, tensor, Tensor};
    /// let labels = tensor![2, 0, 1];
    /// let one_hot: Tensor<bool, shape![3, 3]> = labels.unsqueeze(axis![1]).eq(tensor![0, 1, 2]);
    /// assert_eq!(one_hot.argmax_label(), [2, 0, 1]);
    /// # trait Label { fn argmax_label(&self) -> Vec<usize>; }
    /// # impl Label for Tensor<bool, shape![3, 3]> {
    /// #     fn argmax_label(&self) -> Vec<usize> { (0..3).map(|i| (0..3).find(|&j| self[(i, j)]).unwrap()).collect() }
    /// # }
    /// ```
    #[doc(alias = "expand_dims")]
    #[doc(alias = "newaxis")]
    pub fn unsqueeze<const I: isize>(&self, _axis: impl AxisArg<I>) -> Tensor<E, <S as InsertAxis<I>>::Inserted<D1>, D>
    where
        S: InsertAxis<I>,
    {
        self.viewed(|own, view| own.unsqueeze(<S as InsertAxis<I>>::INDEX, view))
    }

    /// Repeats axes of size 1, and new axes in front, without copying (`torch.expand`).
    ///
    /// # Panics
    /// If a size known at run time cannot be expanded.
    ///
    /// ```
    /// # use castiron::{shape, tensor};
    /// let row = tensor![1, 2, 3];
    /// let rows = row.expand::<shape![2, 3]>();
    /// assert_eq!(rows.to_vec(), [1, 2, 3, 1, 2, 3]);
    /// assert_eq!(rows.stride(), [0, 1]);
    /// ```
    #[doc(alias = "broadcast_to")]
    #[fallible]
    pub fn expand<T: KnownShape>(&self) -> Result<Tensor<E, T, D>>
    where
        S: ExpandTo<T>,
    {
        self.try_expand_sized(T::SIZES)
    }

    /// [`expand`](Self::expand) with sizes known at run time: takes all of them.
    ///
    /// # Panics
    /// If a size cannot be expanded.
    #[fallible]
    pub fn expand_sized<T: Shape>(&self, sizes: T::Sizes) -> Result<Tensor<E, T, D>>
    where
        S: ExpandTo<T>,
    {
        let op = "expand";
        expect_fit::<T>(op, sizes.as_ref())?;
        crate::tensor::checked_numel::<E>(op, sizes.as_ref())?;
        self.try_viewed(|own, view| {
            view.sizes.copy_from_slice(sizes.as_ref());
            own.expand(op, view)
        })
    }

    /// One position along an axis, which is removed (`torch.select`). Negative indices count from the end.
    ///
    /// # Panics
    /// If the index is out of range.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.select(axis![0], 1).to_vec(), [4, 5, 6]);
    /// assert_eq!(x.select(axis![1], -1).to_vec(), [3, 6]);
    /// ```
    #[doc(alias = "index")]
    #[fallible]
    pub fn select<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        index: impl AxisPosition,
    ) -> Result<Tensor<E, <S as HasAxis<I>>::Removed, D>>
    where
        S: HasAxis<I>,
    {
        let (op, axis) = ("select", <S as HasAxis<I>>::INDEX);
        let index = index.counted(op, axis, self.shape().as_ref().get(axis).copied().unwrap_or(1))?;
        self.try_viewed(|own, view| own.select(op, axis, index, view))
    }

    /// `len` positions along an axis, from `start` (`torch.narrow`). The new size is known at run time; use
    /// [`with_shape`](Self::with_shape) to make it known to the compiler.
    ///
    /// # Panics
    /// If the range reaches beyond the axis.
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.narrow(axis![1], 1, 2).to_vec(), [2, 3, 5, 6]);
    /// ```
    #[fallible]
    pub fn narrow<const I: isize>(
        &self,
        axis: impl AxisArg<I>,
        start: usize,
        len: usize,
    ) -> Result<Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>>
    where
        S: HasAxis<I>,
    {
        let op = "narrow";
        if S::RANK == 0 {
            return invalid(op, "a zero-dim tensor has no axis to narrow".to_owned());
        }
        self.try_viewed(|own, view| own.narrow(op, <S as HasAxis<I>>::INDEX, start, len, view))
    }

    /// The real part: a view of complex tensors, the tensor itself for real ones (`torch.real`).
    ///
    /// ```
    /// let z = castiron::tensor![1.0 + 2.0j, 3.0j];
    /// assert_eq!(z.real().to_vec(), [1.0, 0.0]);
    /// assert!(z.real().shares_storage(&z));
    /// ```
    pub fn real<O: Dtype>(&self) -> Tensor<O, S, D>
    where
        E: Dtype<RealDtype = O>,
    {
        self.viewed(|own, view| own.part(size_of::<E>() / size_of::<O>(), 0, view))
    }

    /// The imaginary part of a complex tensor, as a view (`torch.imag`). Real tensors have none.
    ///
    /// ```
    /// let z = castiron::tensor![1.0 + 2.0j, 3.0j];
    /// assert_eq!(z.imag().to_vec(), [2.0, 3.0]);
    /// ```
    pub fn imag<O: Dtype>(&self) -> Tensor<O, S, D>
    where
        E: ComplexFor<ops::reduce::imag> + Dtype<RealDtype = O>,
    {
        self.viewed(|own, view| own.part(2, 1, view))
    }

    /// [`transpose`](Self::transpose) by its other name (`torch.swapaxes`).
    ///
    /// ```
    /// # use castiron::{axis, tensor};
    /// assert_eq!(tensor![[1, 2, 3], [4, 5, 6]].swapaxes(axis![0], axis![1]).shape(), [3, 2]);
    /// ```
    pub fn swapaxes<const I: isize, const J: isize>(
        &self,
        first: impl AxisArg<I>,
        second: impl AxisArg<J>,
    ) -> Tensor<E, <S as Transpose<I, J>>::Output, D>
    where
        S: Transpose<I, J> + HasAxis<I> + HasAxis<J>,
    {
        self.transpose(first, second)
    }

    /// Moves an axis to another position, the others keeping their order (`torch.movedim`): a view.
    ///
    /// ```
    /// # use castiron::{axis, shape, Tensor};
    /// let image = Tensor::<u8, shape![480, 640, 3]>::zeros();
    /// let planes: Tensor<u8, shape![3, 480, 640]> = image.movedim(axis![-1], axis![0]);
    /// assert!(planes.shares_storage(&image));
    /// ```
    #[doc(alias = "moveaxis")]
    pub fn movedim<const I: isize, const J: isize>(
        &self,
        _from: impl AxisArg<I>,
        _to: impl AxisArg<J>,
    ) -> Tensor<E, <S as MoveAxis<I, J>>::Output, D>
    where
        S: MoveAxis<I, J> + HasAxis<I> + HasAxis<J>,
    {
        let (from, to) = (<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
        let mut order = S::Sizes::filled(0);
        write_moved(&[from], &[to], order.as_mut());
        self.reordered(order.as_ref().iter().copied())
    }
}
