//! `TensorViewMut`: elements of a tensor or a slice, borrowed to be written where they are.

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

/// Elements of a tensor or a slice, borrowed to be written where they are: an edit is seen in what they belong to.
///
/// It is made by [`Tensor::view_mut`], [`select_mut`](Tensor::select_mut), [`slice_mut`](Tensor::slice_mut) and their kin, and has all
/// forms of operations in place (`add_`, `exp_`, `+=`, [`assign`](Self::assign), …). While it exists nobody else reads or writes what
/// it borrows. It is read as a [`Tensor`], which it dereferences to; a [`Tensor`] made of it has elements of its own.
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
/// Elements that are repeated (`expand`) cannot be written one by one: there is no `expand_mut`, and a tensor that was expanded
/// gets an element for each position before it is borrowed.
pub struct TensorViewMut<'a, E: Element, S: Shape, D: Device = Cpu> {
    /// Over memory borrowed for `'a`; no other reference may read or write the elements that this view reaches.
    ///
    /// It is never given away, and never lent as `&mut` to anybody outside, who could take it: whoever has `&Tensor` gets another
    /// `Tensor` through `Backend::share` alone, which copies the elements of borrowed memory. No two positions share a place.
    pub(crate) tensor: Tensor<E, S, D>,
    memory: PhantomData<&'a mut [E]>,
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// All elements, to be written where they are. Makes storage unique first.
    ///
    /// # Panics
    /// If storage is shared and memory for a copy runs out.
    #[fallible]
    pub fn view_mut(&mut self) -> Result<TensorViewMut<'_, E, S, D>> {
        // From here on no two positions alias, and the storage is not shared.
        self.elements_mut()?;
        // SAFETY: the storage is borrowed with the tensor: until the view is gone nobody reads, writes, shares or drops it.
        let storage = unsafe { D::window(&mut self.parts.storage) };
        let tensor = Tensor::from_parts(storage, self.storage_offset(), self.shape(), self.stride());
        Ok(TensorViewMut { tensor, memory: PhantomData })
    }
}

impl<'a, E: Element, S: Shape> TensorViewMut<'a, E, S> {
    /// A slice's elements in row-major order, to be written where they are.
    ///
    /// # Panics
    /// If there are not as many as the shape takes.
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

    /// [`from_slice_mut`](Self::from_slice_mut) where sizes are known at run time only: takes them all.
    ///
    /// # Panics
    /// If there are not as many elements as the sizes say.
    #[fallible]
    pub fn from_slice_mut_sized(elements: &'a mut [E], sizes: S::Sizes) -> Result<Self> {
        expect_len::<E>("from_slice_mut", sizes.as_ref(), elements.len())?;
        Self::try_from_slice_mut_strided(elements, sizes, strides::contiguous(&sizes))
    }

    /// Those elements of a slice that sizes and strides reach from its first.
    ///
    /// # Panics
    /// If they reach beyond the slice, or strides lead to an element twice.
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
        // SAFETY: the elements are borrowed for `'a` by this view, and by those made of it, of which no two reach the same.
        let storage = unsafe { HostBuffer::borrowed_mut(elements.as_mut_ptr(), elements.len()) };
        Ok(TensorViewMut { tensor: Tensor::from_parts(storage, 0, sizes, strides), memory: PhantomData })
    }
}

impl<'a, E: Element, S: Shape, D: Device> TensorViewMut<'a, E, S, D> {
    /// The tensor, to be written by an operation of this crate that leaves it where it is.
    #[inline]
    pub(crate) fn target(&mut self) -> &mut Tensor<E, S, D> {
        &mut self.tensor
    }

    /// # Safety
    /// The tensor's memory is borrowed for `'a`, and what it reaches is reached through it alone; no two positions share a place.
    pub(crate) unsafe fn of(tensor: Tensor<E, S, D>) -> Self {
        TensorViewMut { tensor, memory: PhantomData }
    }

    /// A view of what this one reaches, which it takes the place of.
    fn seen<F: Element, T: Shape>(
        self,
        view: impl FnOnce(&Tensor<E, S, D>) -> Result<Tensor<F, T, D>>,
    ) -> Result<TensorViewMut<'a, F, T, D>> {
        // SAFETY: the closures below make views that reach no element twice; this view is gone.
        unsafe { Ok(TensorViewMut::of(self.tensor.lend(view)?)) }
    }

    /// A tensor of its own, with a copy of the elements.
    ///
    /// # Panics
    /// If memory runs out.
    pub fn to_tensor(&self) -> Tensor<E, S, D> {
        self.tensor.clone()
    }

    /// The same elements, until the result is gone.
    pub fn view_mut(&mut self) -> TensorViewMut<'_, E, S, D> {
        // SAFETY: this view is borrowed as long as the result exists.
        unsafe { TensorViewMut::of(self.tensor.lend(Tensor::clone)) }
    }

    pub(crate) fn try_view_mut(&mut self) -> Result<TensorViewMut<'_, E, S, D>> {
        Ok(self.view_mut())
    }

    /// The same elements to be read, until the result is gone.
    pub fn as_view(&self) -> TensorView<'_, E, S, D> {
        // SAFETY: this view is borrowed, and so not written, as long as the result exists.
        unsafe { TensorView::of(self.tensor.lend(Tensor::clone)) }
    }

    /// The same elements to be read from now on.
    pub fn into_view(self) -> TensorView<'a, E, S, D> {
        // SAFETY: nobody writes the elements any more: this view is gone.
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
        /// Views to be written.
        #[allow(non_snake_case)]
        impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {
            $(views!(@ $row);)*
        }
        /// Views to be written.
        #[allow(non_snake_case)]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(views!(@ $row);)*
        }
    };
}
view_table!(views);

impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {
    /// As [`Tensor::assign`](crate::Tensor::assign), where the elements are.
    ///
    /// # Panics
    /// As there; nothing is written then.
    #[fallible]
    pub fn assign<R: AssignedFrom<E, S, D>>(&mut self, rhs: R) -> Result<()> {
        rhs.assigned_from(&mut self.tensor, Inside)
    }

    /// As [`Tensor::copy_from`](crate::Tensor::copy_from), where the elements are.
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

    /// As [`Tensor::fill`](crate::Tensor::fill), where the elements are.
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

    /// As [`Tensor::zero_`](crate::Tensor::zero_), where the elements are.
    pub fn zero_(&mut self) -> &mut Self {
        self.tensor.zero_();
        self
    }
}

impl<E: Element, S: Shape> TensorViewMut<'_, E, S> {
    /// The elements as a slice to write to, if they lie in row-major order without gaps.
    pub fn as_mut_slice(&mut self) -> Option<&mut [E]> {
        // A contiguous tensor's slice is where its elements are.
        if self.tensor.is_contiguous() { Some(self.tensor.as_mut_slice()) } else { None }
    }

    /// One element to write to, `None` if an index is out of range.
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
