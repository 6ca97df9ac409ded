//! `TensorView`: a tensor that borrows its elements, from a slice, from bytes or from another tensor.

use crate::device::{Cpu, Device};
use crate::dtype::{DType, Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::{bounds, strides};
use crate::ops::{self, admit::ComplexFor, pointwise::PartFor};
use crate::shape::slicing::{Items, Slice};
use crate::shape::{
    Axes, Axis, AxisArg, AxisPosition, CutEqually, D1, D2, Diagonals, Dimensional, DistinctAxes, Dyn, ExpandTo,
    Flatten, HasAxis, Inferable, InsertAxis, Known, KnownShape, MainDiagonals, Matrices, MoveAxis, Permute,
    RealAndImaginary, ReshapeTo, Reverse, Shape, Squeeze, SqueezeAxes, SqueezeAxis, Transpose, Unbind, Unflatten,
    ViewedAs, Windows,
};
use crate::storage::HostBuffer;
use crate::tensor::view::view_table::{parts_table, view_table};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;
use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

/// A tensor that borrows its elements, from a slice, from bytes (for example a memory map) or from another tensor. Nothing is copied.
///
/// It dereferences to [`Tensor`] for reading: every method that reads, operator, reduction and function that takes `&Tensor` works. Its own
/// views ([`select`](Self::select), [`t`](Self::t), [`slice`](Self::slice), …) borrow from the same memory. A [`Tensor`] made from it, for
/// example by [`to_tensor`](Self::to_tensor), may outlive the memory.
///
/// ```
/// use castiron::{axis, shape, Tensor, TensorView};
/// let memory = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
/// let x: TensorView<f32, shape![2, 3]> = TensorView::from_slice(&memory);
/// assert_eq!(x.sum_axis(axis![1]).to_vec(), [6.0, 15.0]);
/// assert_eq!((&x.t() * 2.0).shape(), [3, 2]);
/// assert_eq!(x.select(axis![0], 1).as_slice().unwrap().as_ptr(), &raw const memory[3]);
/// fn largest<S: castiron::Shape>(x: &Tensor<f32, S>) -> f32 { x.iter().copied().fold(0.0, f32::max) }
/// assert_eq!(largest(&x), 6.0);
/// ```
pub struct TensorView<'a, E: Element, S: Shape, D: Device = Cpu> {
    /// Over memory that is borrowed for `'a`, or shared with a tensor.
    ///
    /// It is never moved out and never lent as `&mut`: from `&Tensor` another `Tensor` is made by `Backend::share` only, which copies the
    /// elements of borrowed memory.
    tensor: Tensor<E, S, D>,
    memory: PhantomData<&'a [E]>,
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Calls `view` on the tensor with its memory borrowed, so that the views are made without a copy.
    ///
    /// # Safety
    /// `view` makes only views, and these exist no longer than the memory is borrowed.
    pub(crate) unsafe fn lend<R>(&self, view: impl FnOnce(&Self) -> R) -> R {
        // SAFETY: closed below, before the views are used; the rest is the caller's promise. (If `view` panics, none of them is left.)
        let storage = unsafe { D::lend(self.storage()) };
        let lent = Tensor::from_parts(storage, self.storage_offset(), self.shape(), self.stride());
        let views = view(&lent);
        D::close(lent.storage());
        views
    }

    /// The tensor as a borrowing view, for functions that take views.
    ///
    /// ```
    /// let x = castiron::tensor![1, 2];
    /// assert!(x.as_view().shares_storage(&x));
    /// ```
    pub fn as_view(&self) -> TensorView<'_, E, S, D> {
        // Shares storage. Borrowed memory can't be shared, so it is copied.
        TensorView { tensor: self.clone(), memory: PhantomData }
    }
}

/// Checks the number of elements.
pub(crate) fn expect_len<E: Element>(op: &'static str, sizes: &[usize], found: usize) -> Result<()> {
    let expected = checked_numel::<E>(op, sizes)?;
    if expected == found { Ok(()) } else { Err(Error::Length { op, sizes: sizes.into(), expected, found }) }
}

/// Checks that the elements that sizes and strides reach are among the first `len`.
pub(crate) fn expect_reach<E: Element>(op: &'static str, sizes: &[usize], strides: &[usize], len: usize) -> Result<()> {
    checked_numel::<E>(op, sizes)?;
    bounds::expect_within(op, sizes, strides, 0, Some(len))
}

impl<'a, E: Element, S: Shape> TensorView<'a, E, S> {
    /// A slice's elements in row-major order, without a copy (`torch.from_numpy`).
    ///
    /// # Panics
    /// If the number of elements is not that of the shape.
    #[fallible]
    pub fn from_slice(elements: &'a [E]) -> Result<Self>
    where
        S: KnownShape,
    {
        Self::try_from_slice_sized(elements, S::SIZES)
    }

    /// [`from_slice`](Self::from_slice) with sizes known at run time: takes all of them.
    ///
    /// # Panics
    /// If the number of elements is not that of the sizes.
    ///
    /// ```
    /// use castiron::{shape, TensorView};
    /// let pixels = vec![0_u8; 6];
    /// let image: TensorView<u8, shape![_, _, 3]> = TensorView::from_slice_sized(&pixels, [1, 2, 3]);
    /// ```
    #[fallible]
    pub fn from_slice_sized(elements: &'a [E], sizes: S::Sizes) -> Result<Self> {
        expect_len::<E>("from_slice", sizes.as_ref(), elements.len())?;
        Self::try_from_slice_strided(elements, sizes, strides::contiguous(&sizes))
    }

    /// A view of a slice by sizes and strides, starting at its first element.
    ///
    /// # Panics
    /// If they reach beyond the slice.
    ///
    /// ```
    /// use castiron::{shape, TensorView};
    /// let columns: TensorView<i32, shape![2, 2]> = TensorView::from_slice_strided(&[1, 2, 3, 4], [2, 2], [1, 2]);
    /// assert_eq!(columns.to_vec(), [1, 3, 2, 4]);
    /// ```
    #[fallible]
    pub fn from_slice_strided(elements: &'a [E], sizes: S::Sizes, strides: S::Sizes) -> Result<Self> {
        let op = "from_slice";
        expect_fit::<S>(op, sizes.as_ref())?;
        expect_reach::<E>(op, sizes.as_ref(), strides.as_ref(), elements.len())?;
        // SAFETY: the elements are borrowed for `'a`, and so are all holders of the buffer: this view, and those lent from it.
        let storage = unsafe { HostBuffer::borrowed(elements) };
        Ok(TensorView { tensor: Tensor::from_parts(storage, 0, sizes, strides), memory: PhantomData })
    }

    /// Bytes as elements in row-major order and native endianness, without a copy (`torch.frombuffer`): for example those of a memory map.
    ///
    /// # Errors
    /// If the number of bytes is not that of the sizes, they are not aligned for the elements, or a byte read as a bool is neither 0 nor 1.
    ///
    /// ```
    /// use castiron::{shape, tensor, TensorView};
    /// let file = tensor![1, 2; i32].view_dtype::<u8>();
    /// let x: TensorView<i32, shape![_]> = TensorView::from_bytes(file.as_slice().unwrap(), [2])?;
    /// assert_eq!(x.to_vec(), [1, 2]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_bytes(bytes: &'a [u8], sizes: S::Sizes) -> Result<Self> {
        let op = "from_bytes";
        let invalid = |reason: String| Err(Error::InvalidArgument { op, reason });
        let expected = checked_numel::<E>(op, sizes.as_ref())?;
        if bytes.len() != expected * size_of::<E>() {
            let (len, dtype) = (bytes.len(), E::DTYPE);
            return invalid(format!(
                "shape {:?} of {dtype} takes {} bytes, got {len}",
                sizes,
                expected * size_of::<E>()
            ));
        }
        if !bytes.as_ptr().cast::<E>().is_aligned() {
            let (dtype, align) = (E::DTYPE, align_of::<E>());
            return invalid(format!("the bytes of {dtype} must start at a multiple of {align}: copy them first"));
        }
        if E::DTYPE == DType::Bool && bytes.iter().any(|&byte| byte > 1) {
            return invalid("a bool is a byte of 0 or 1, and there are others".to_owned());
        }
        // SAFETY: `expected` aligned elements are there; every dtype but bool allows any bytes, and those of bools were checked.
        let elements = unsafe { core::slice::from_raw_parts(bytes.as_ptr().cast::<E>(), expected) };
        Self::try_from_slice_sized(elements, sizes)
    }
}

impl<'a, E: Element, S: Shape, D: Device> TensorView<'a, E, S, D> {
    /// # Safety
    /// The tensor's memory is shared, or borrowed for `'a`.
    pub(crate) unsafe fn of(tensor: Tensor<E, S, D>) -> Self {
        TensorView { tensor, memory: PhantomData }
    }

    /// Views of the same memory.
    fn seen<F: Element, T: Shape>(
        &self,
        view: impl FnOnce(&Tensor<E, S, D>) -> Result<Tensor<F, T, D>>,
    ) -> Result<TensorView<'a, F, T, D>> {
        // SAFETY: the closures below make views, which are borrowed for as long as this one.
        unsafe { Ok(TensorView::of(self.tensor.lend(view)?)) }
    }

    /// A tensor that owns its elements: they are copied, unless they are shared with a tensor.
    ///
    /// # Panics
    /// If memory runs out.
    pub fn to_tensor(&self) -> Tensor<E, S, D> {
        self.tensor.clone()
    }

    /// The same view again.
    pub fn as_view(&self) -> TensorView<'a, E, S, D> {
        self.clone()
    }
}

/// For `t` it writes `t`, which borrows from the same memory as the view.
macro_rules! views {
    (@ { $kind:ident [$name:ident $($mut:ident)?] [$($generics:tt)*] ($($arg:ident: $ty:ty),*) -> $elem:ty, $shape:ty
        where [$($bounds:tt)*] |$x:ident| $body:expr }) => {
        #[doc = concat!("As [`Tensor::", stringify!($name), "`](crate::Tensor::", stringify!($name), "), of the same memory.")]
        ///
        /// # Panics
        /// As there.
        #[fallible]
        pub fn $name<$($generics)*>(&self $(, $arg: $ty)*) -> Result<TensorView<'a, $elem, $shape, D>>
        where
            $($bounds)*
        {
            self.seen(|$x| $body)
        }
    };
    ($($row:tt)*) => {
        /// Views of borrowed memory.
        #[allow(non_snake_case)]
        impl<'a, E: Element, S: Shape, D: Device> TensorView<'a, E, S, D> {
            $(views!(@ $row);)*
        }
    };
}
view_table!(views);

/// For `split` it writes `split`.
macro_rules! parts {
    (@ { vec [$($name:ident)+] [$($generics:tt)*] $arguments:tt -> $shape:ty where $bounds:tt |$x:ident| $body:expr }) => {
        parts!(@@ [$($name)+] [$($generics)*] $arguments [Vec<TensorView<'a, E, $shape, D>>] $bounds |$x| $body,
            // SAFETY: the parts were lent by `self`.
            |parts| parts.into_iter().map(|part| unsafe { TensorView::of(part) }).collect());
    };
    (@ { array [$($name:ident)+] [$($generics:tt)*] $arguments:tt -> $shape:ty where $bounds:tt |$x:ident| $body:expr }) => {
        parts!(@@ [$($name)+] [$($generics)*] $arguments [[TensorView<'a, E, $shape, D>; N]] $bounds |$x| $body,
            // SAFETY: the parts were lent by `self`.
            |parts| parts.map(|part| unsafe { TensorView::of(part) }));
    };
    (@@ [$name:ident $mut:ident] [$($generics:tt)*] ($($arg:ident: $ty:ty),*) [$out:ty] [$($bounds:tt)*]
        |$x:ident| $body:expr, |$parts:ident| $wrap:expr) => {
        #[doc = concat!("As [`Tensor::", stringify!($name), "`](crate::Tensor::", stringify!($name), "), of the same memory.")]
        ///
        /// # Panics
        /// As there.
        #[fallible]
        pub fn $name<$($generics)*>(&self $(, $arg: $ty)*) -> Result<$out>
        where
            $($bounds)*
        {
            // SAFETY: parts are views, which are borrowed for as long as this one.
            let $parts = unsafe { self.tensor.lend(|$x| $body) }?;
            Ok($wrap)
        }
    };
    ($($row:tt)*) => {
        /// Parts of borrowed memory.
        impl<'a, E: Element, S: Shape, D: Device> TensorView<'a, E, S, D> {
            $(parts!(@ $row);)*
        }
    };
}
parts_table!(parts);

impl<E: Element, S: Shape, D: Device> Deref for TensorView<'_, E, S, D> {
    type Target = Tensor<E, S, D>;
    #[inline]
    fn deref(&self) -> &Tensor<E, S, D> {
        &self.tensor
    }
}
impl<E: Element, S: Shape, D: Device> Clone for TensorView<'_, E, S, D> {
    /// The same view again; nothing is copied.
    fn clone(&self) -> Self {
        // SAFETY: a clone that was lent is a view of the same memory, borrowed for as long.
        unsafe { TensorView::of(self.tensor.lend(Tensor::clone)) }
    }
}
impl<E: Element, S: Shape, D: Device> fmt::Debug for TensorView<'_, E, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.tensor, f)
    }
}
impl<E: Element, S: Shape, D: Device> fmt::Display for TensorView<'_, E, S, D> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.tensor, f)
    }
}

/// A readable tensor: `Tensor`, [`TensorView`], [`TensorViewMut`](crate::TensorViewMut), or a reference to one. A function of `x: impl
/// AsTensor<E, S, D>` takes all of them; one of `x: &Tensor<E, S, D>` takes references to all of them, as views dereference to tensors.
///
/// ```
/// use castiron::{axis, tensor, AsTensor, Device, Float, Shape, Tensor, TensorView};
/// fn spread<E: Float, S: Shape, D: Device>(x: impl AsTensor<E, S, D>) -> Tensor<E, (), D> {
///     let x = x.as_tensor();
///     x.amax() - x.amin()
/// }
/// let mut x = tensor![[1.0, 2.0], [3.0, 5.0]];
/// assert_eq!(spread(&x).item(), 4.0);
/// assert_eq!(spread(x.select_mut(axis![0], 0)).item(), 1.0);
/// assert_eq!(spread(TensorView::<f64, (castiron::Dyn,)>::from_slice_sized(&[2.5, 0.5], [2])).item(), 2.0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Tensor<{E}, {S}, {D}>`, nor a view of one",
    label = "expected a tensor, a view, or a reference to one",
    note = "memory is seen as a tensor by `TensorView::from_slice(&memory)`, or `from_slice_sized`"
)]
pub trait AsTensor<E: Element, S: Shape, D: Device = Cpu> {
    /// The tensor, for reading.
    fn as_tensor(&self) -> &Tensor<E, S, D>;
}
impl<E: Element, S: Shape, D: Device> AsTensor<E, S, D> for Tensor<E, S, D> {
    fn as_tensor(&self) -> &Tensor<E, S, D> {
        self
    }
}
impl<E: Element, S: Shape, D: Device> AsTensor<E, S, D> for TensorView<'_, E, S, D> {
    fn as_tensor(&self) -> &Tensor<E, S, D> {
        self
    }
}
impl<E: Element, S: Shape, D: Device> AsTensor<E, S, D> for crate::TensorViewMut<'_, E, S, D> {
    fn as_tensor(&self) -> &Tensor<E, S, D> {
        self
    }
}
impl<E: Element, S: Shape, D: Device, T: AsTensor<E, S, D>> AsTensor<E, S, D> for &T {
    fn as_tensor(&self) -> &Tensor<E, S, D> {
        (**self).as_tensor()
    }
}
