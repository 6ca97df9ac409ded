//! `TensorViewMut`: a mutable borrow of elements of a tensor or a slice.

use crate::device::{Cpu, Device};
use crate::dtype::{CastTo, Castable, Dtype, Element, Scalar};
use crate::error::{Error, Result};
use crate::layout::{bounds, strides};
use crate::ops::{self, admit::ComplexFor, pointwise::PartFor};
use crate::shape::slicing::{Items, Slice};
use crate::shape::{
    Axes, Axis, AxisArg, AxisPosition, Broadcast, D1, D2, Diagonals, Dimensional, DistinctAxes, Dyn, HasAxis,
    Inferable, InsertAxis, KnownShape, MainDiagonals, Matrices, MoveAxis, Permute, RealAndImaginary, ReshapeTo,
    Reverse, Shape, Squeeze, SqueezeAxes, SqueezeAxis, Transpose, WrittenTo,
};
use crate::storage::HostBuffer;
use crate::tensor::base::assign::{AssignedFrom, Inside};
use crate::tensor::view::tensor_view::{expect_len, expect_reach};
use crate::tensor::view::view_table::view_table;
use crate::tensor::{Position, SameDevice, Tensor, TensorView, expect_fit};
use castiron_macros::fallible;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Deref, Index, IndexMut};

/// A mutable view of elements of a tensor or a slice: writes are visible in these.
///
/// It is made by [`Tensor::view_mut`], [`select_mut`](Tensor::select_mut), [`slice_mut`](Tensor::slice_mut) and so on, and has all in-place
/// forms of operations (`add_`, `exp_`, `+=`, [`assign`](Self::assign), …). While it exists nothing else reads or writes the memory it
/// borrows. It dereferences to [`Tensor`] for reading; a [`Tensor`] made from it owns its elements.
///
/// ```
/// use castiron::{axis, s, tensor};
/// let mut x = tensor![[1, 2, 3], [4, 5, 6]];
/// let before = x.clone();
/// let mut column = x.select_mut(axis![1], 2);
/// column += 10;
/// assert_eq!(column.sum().item(), 29);
/// x.slice_mut(s![0, ..2]).fill(0);
/// assert_eq!(x.to_vec(), [0, 0, 13, 4, 5, 16]);
/// assert_eq!(before.to_vec(), [1, 2, 3, 4, 5, 6]); // `x` became its own first
/// ```
///
/// Repeated elements (`expand`) cannot be written one by one: there is no `expand_mut`, and an expanded tensor is copied, with an element
/// for each position, before it is borrowed.
pub struct TensorViewMut<'a, E: Element, S: Shape, D: Device = Cpu> {
    /// Over memory borrowed for `'a`; no other reference may read or write the elements that this view reaches.
    ///
    /// It is never moved out, and never lent as `&mut` outside the crate, where it could be: from `&Tensor` another `Tensor` is made by
    /// `Backend::share` only, which copies the elements of borrowed memory. No two positions alias.
    pub(crate) tensor: Tensor<E, S, D>,
    memory: PhantomData<&'a mut [E]>,
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// A mutable view of all elements. Makes storage unique first.
    ///
    /// # Panics
    /// If storage is shared and memory for a copy runs out.
    #[fallible]
    pub fn view_mut(&mut self) -> Result<TensorViewMut<'_, E, S, D>> {
        // From here on no two positions alias, and the storage is not shared.
        self.elements_mut()?;
        // SAFETY: the storage is borrowed with the tensor: while the view exists nothing reads, writes, shares or drops it.
        let storage = unsafe { D::window(&mut self.parts.storage) };
        let tensor = Tensor::from_parts(storage, self.storage_offset(), self.shape(), self.stride());
        Ok(TensorViewMut { tensor, memory: PhantomData })
    }
}

impl<'a, E: Element, S: Shape> TensorViewMut<'a, E, S> {
    /// A mutable view of a slice's elements in row-major order.
    ///
    /// # Panics
    /// If the number of elements is not that of the shape.
    ///
    /// ```
    /// use castiron::{shape, TensorViewMut};
    /// let mut memory = [1.0, 4.0, 9.0, 16.0];
    /// TensorViewMut::<f32, shape![2, 2]>::from_slice_mut(&mut memory).sqrt_();
    /// assert_eq!(memory, [1.0, 2.0, 3.0, 4.0]);
    /// ```
    #[fallible]
    pub fn from_slice_mut(elements: &'a mut [E]) -> Result<Self>
    where
        S: KnownShape,
    {
        Self::try_from_slice_mut_sized(elements, S::SIZES)
    }

    /// [`from_slice_mut`](Self::from_slice_mut) with sizes known at run time: takes all of them.
    ///
    /// # Panics
    /// If the number of elements is not that of the sizes.
    #[fallible]
    pub fn from_slice_mut_sized(elements: &'a mut [E], sizes: S::Sizes) -> Result<Self> {
        expect_len::<E>("from_slice_mut", sizes.as_ref(), elements.len())?;
        Self::try_from_slice_mut_strided(elements, sizes, strides::contiguous(&sizes))
    }

    /// A mutable view of a slice by sizes and strides, starting at its first element.
    ///
    /// # Panics
    /// If they reach beyond the slice, or two positions are one element.
    ///
    /// ```
    /// use castiron::{shape, TensorViewMut};
    /// let mut memory = [0; 6];
    /// TensorViewMut::<i32, shape![3]>::from_slice_mut_strided(&mut memory, [3], [2]).fill(7);
    /// assert_eq!(memory, [7, 0, 7, 0, 7, 0]);
    /// assert!(TensorViewMut::<i32, shape![2, 3]>::try_from_slice_mut_strided(&mut memory, [2, 3], [1, 1]).is_err());
    /// ```
    #[fallible]
    pub fn from_slice_mut_strided(elements: &'a mut [E], sizes: S::Sizes, strides: S::Sizes) -> Result<Self> {
        let op = "from_slice_mut";
        expect_fit::<S>(op, sizes.as_ref())?;
        expect_reach::<E>(op, sizes.as_ref(), strides.as_ref(), elements.len())?;
        if !bounds::has_places(sizes.as_ref(), strides.as_ref()) {
            let reason = format!("sizes {sizes:?} and strides {strides:?} may lead to an element twice");
            return Err(Error::InvalidArgument { op, reason });
        }
        // SAFETY: the elements are borrowed for `'a` by this view, and by those made from it, no two of which reach the same element.
        let storage = unsafe { HostBuffer::borrowed_mut(elements.as_mut_ptr(), elements.len()) };
        Ok(TensorViewMut { tensor: Tensor::from_parts(storage, 0, sizes, strides), memory: PhantomData })
    }
}

impl<'a, E: Element, S: Shape, D: Device> TensorViewMut<'a, E, S, D> {
    /// The tensor, for operations of this crate that write it without moving it out.
    #[inline]
    pub(crate) fn target(&mut self) -> &mut Tensor<E, S, D> {
        &mut self.tensor
    }

    /// # Safety
    /// The tensor's memory is borrowed for `'a`, and its elements are reached through it only; no two positions alias.
    pub(crate) unsafe fn of(tensor: Tensor<E, S, D>) -> Self {
        TensorViewMut { tensor, memory: PhantomData }
    }

    /// Consumes this view and makes one of a part of its elements.
    fn seen<F: Element, T: Shape>(
        self,
        view: impl FnOnce(&Tensor<E, S, D>) -> Result<Tensor<F, T, D>>,
    ) -> Result<TensorViewMut<'a, F, T, D>> {
        // SAFETY: the closures below make views in which no two positions alias; this view is consumed.
        unsafe { Ok(TensorViewMut::of(self.tensor.lend(view)?)) }
    }

    /// A new tensor with a copy of the elements.
    ///
    /// # Panics
    /// If memory runs out.
    pub fn to_tensor(&self) -> Tensor<E, S, D> {
        self.tensor.clone()
    }

    /// The same elements, borrowed for the lifetime of the result.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, E, S, D> {
        // SAFETY: this view is borrowed as long as the result exists.
        unsafe { TensorViewMut::of(self.tensor.lend(Tensor::clone)) }
    }

    pub(crate) fn try_view_mut(&mut self) -> Result<TensorViewMut<'_, E, S, D>> {
        Ok(self.view_mut())
    }

    /// The same elements for reading, borrowed for the lifetime of the result.
    pub fn as_view(&self) -> TensorView<'_, E, S, D> {
        // SAFETY: this view is borrowed, and so not written, as long as the result exists.
        unsafe { TensorView::of(self.tensor.lend(Tensor::clone)) }
    }

    /// Turns the view into one for reading only.
    pub fn into_view(self) -> TensorView<'a, E, S, D> {
        // SAFETY: nothing writes the elements any more: this view is consumed.
        unsafe { TensorView::of(self.tensor.lend(Tensor::clone)) }
    }
}

/// For `t_mut` it writes `t_mut`, of a mutable view and of a tensor.
macro_rules! views {
    (@ { read $($rest:tt)* }) => {};
    (@ { both [$name:ident $mut:ident] [$($generics:tt)*] ($($arg:ident: $ty:ty),*) -> $elem:ty, $shape:ty
        where [$($bounds:tt)*] |$x:ident| $body:expr }) => {
        #[doc = concat!("As [`Tensor::", stringify!($name), "`](crate::Tensor::", stringify!($name), "), to be written where the elements are.")]
        ///
        /// # Panics
        /// As there.
        #[fallible]
        pub fn $mut<$($generics)*>(&mut self $(, $arg: $ty)*) -> Result<TensorViewMut<'_, $elem, $shape, D>>
        where
            $($bounds)*
        {
            self.try_view_mut().and_then(|view| view.seen(|$x| $body))
        }
    };
    ($($row:tt)*) => {
        /// Mutable views.
        #[allow(non_snake_case)]
        impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {
            $(views!(@ $row);)*
        }
        /// Mutable views.
        #[allow(non_snake_case)]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(views!(@ $row);)*
        }
    };
}
view_table!(views);

impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {
    /// As [`Tensor::assign`](crate::Tensor::assign), into the borrowed elements.
    ///
    /// # Panics
    /// As there; nothing is written then.
    #[fallible]
    pub fn assign<R: AssignedFrom<E, S, D>>(&mut self, rhs: R) -> Result<()> {
        rhs.assigned_from(&mut self.tensor, Inside)
    }

    /// As [`Tensor::copy_from`](crate::Tensor::copy_from), into the borrowed elements.
    ///
    /// # Panics
    /// As there; nothing is written then.
    #[fallible]
    pub fn copy_from<F: CastTo<E>, T, X: Device>(&mut self, from: &Tensor<F, T, X>) -> Result<()>
    where
        S: Broadcast<T>,
        <S as Broadcast<T>>::Output: WrittenTo<S>,
        T: Shape + SameDevice<D, X>,
    {
        self.tensor.try_copy_from(from)
    }

    /// As [`Tensor::fill`](crate::Tensor::fill), into the borrowed elements.
    ///
    /// # Panics
    /// As there; nothing is written then.
    #[fallible]
    pub fn fill(&mut self, value: impl Scalar) -> Result<()>
    where
        E: Castable,
    {
        self.tensor.try_fill(value)
    }

    /// As [`Tensor::zero_`](crate::Tensor::zero_), into the borrowed elements.
    pub fn zero_(&mut self) -> &mut Self {
        self.tensor.zero_();
        self
    }
}

impl<E: Element, S: Shape> TensorViewMut<'_, E, S> {
    /// The elements as a mutable slice, if they are contiguous in row-major order.
    pub fn as_mut_slice(&mut self) -> Option<&mut [E]> {
        // A contiguous tensor is not copied.
        if self.tensor.is_contiguous() { Some(self.tensor.as_mut_slice()) } else { None }
    }

    /// One element for writing, `None` if an index is out of range.
    pub fn get_mut(&mut self, position: impl Position<S>) -> Option<&mut E> {
        self.tensor.get_mut(position)
    }
}
impl<E: Element, S: Shape, P: Position<S>> Index<P> for TensorViewMut<'_, E, S> {
    type Output = E;
    /// # Panics
    /// If an index is out of range; [`get`](Tensor::get) returns `None`.
    #[track_caller]
    fn index(&self, position: P) -> &E {
        &self.tensor[position]
    }
}
impl<E: Element, S: Shape, P: Position<S>> IndexMut<P> for TensorViewMut<'_, E, S> {
    /// # Panics
    /// If an index is out of range; [`get_mut`](Self::get_mut) returns `None`.
    #[track_caller]
    fn index_mut(&mut self, position: P) -> &mut E {
        &mut self.tensor[position]
    }
}

impl<E: Element, S: Shape, D: Device> Deref for TensorViewMut<'_, E, S, D> {
    type Target = Tensor<E, S, D>;
    #[inline]
    fn deref(&self) -> &Tensor<E, S, D> {
        &self.tensor
    }
}
impl<E: Element, S: Shape, D: Device> fmt::Debug for TensorViewMut<'_, E, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.tensor, f)
    }
}
impl<E: Element, S: Shape, D: Device> fmt::Display for TensorViewMut<'_, E, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.tensor, f)
    }
}
