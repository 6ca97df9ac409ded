//! Conversion between tensors and arrays of the crate `ndarray`, without a copy if the strides allow it.

use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::bounds;
use crate::shape::{Shape, SizeArray};
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, TensorView, checked_numel, expect_fit};
use ndarray::{Array, ArrayView, Dim, Dimension, IntoDimension, IxDyn, ShapeBuilder};

const OP: &str = "from_ndarray";

/// The `ndarray` dimension type for a number of sizes: `Ix0` to `Ix6`, and `IxDyn` beyond.
pub trait ArraySizes: SizeArray {
    /// The dimension type.
    type Dim: Dimension;
    #[doc(hidden)]
    fn dim(self) -> Self::Dim;
}
macro_rules! sizes {
    ($($rank:literal)*) => {$(
        impl ArraySizes for [usize; $rank] {
            type Dim = Dim<[usize; $rank]>;
            fn dim(self) -> Self::Dim {
                self.into_dimension()
            }
        }
    )*};
}
sizes!(0 1 2 3 4 5 6);
impl ArraySizes for [usize; 7] {
    type Dim = IxDyn;
    fn dim(self) -> IxDyn {
        IxDyn(&self)
    }
}
impl ArraySizes for [usize; 8] {
    type Dim = IxDyn;
    fn dim(self) -> IxDyn {
        IxDyn(&self)
    }
}

/// The strides, which must not be negative; an error for a reversed axis.
fn forward<S: Shape>(strides: &[isize], sizes: &[usize]) -> Result<S::Sizes> {
    match bounds::forward(sizes, strides.iter().map(|&stride| stride as i64)) {
        Some(own) => Ok(S::Sizes::copied(&own)),
        None => {
            let reason = format!(
                "strides {strides:?} lead backward, as those of tensors do not: `array.as_standard_layout()` is in order"
            );
            invalid(OP, reason)
        }
    }
}

/// The sizes of an array, if they match the type.
fn sizes_of<S: Shape>(sizes: &[usize]) -> Result<S::Sizes> {
    if sizes.len() != S::RANK {
        let (expected, found) = (crate::tensor::shape_text::<S>(), sizes.into());
        return Err(crate::Error::Shape { op: OP, expected, found });
    }
    expect_fit::<S>(OP, sizes)?;
    Ok(S::Sizes::copied(sizes))
}

impl<E: Element, S: Shape<Sizes: ArraySizes>> Tensor<E, S> {
    /// The tensor as an array view with the same memory and strides. (Feature `ndarray`.)
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// let array = x.as_ndarray();
    /// assert_eq!(array[[1, 0]], 4);
    /// assert_eq!(x.t().as_ndarray(), array.t());
    /// ```
    pub fn as_ndarray(&self) -> ArrayView<'_, E, <S::Sizes as ArraySizes>::Dim> {
        let start = match self.is_empty() {
            // (An empty view may have any offset.)
            true => core::ptr::NonNull::<E>::dangling().as_ptr().cast_const(),
            false => self.storage().start::<E>().wrapping_add(self.storage_offset()),
        };
        let strides = if self.is_empty() { S::Sizes::filled(0) } else { self.stride() };
        // SAFETY: every element that sizes and strides reach is a valid `E` inside the storage, and stays so while `self` is borrowed; its
        // bytes fit `isize`, and strides are not negative.
        unsafe { ArrayView::from_shape_ptr(self.shape().dim().strides(strides.dim()), start) }
    }

    /// The tensor as an owned array. Reuses the memory of the vector that the tensor was made from if [`into_vec`](Self::into_vec) returns
    /// it, else copies the elements. (Feature `ndarray`.)
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.into_ndarray(), ndarray::array![[1, 2, 3], [4, 5, 6]]);
    /// ```
    pub fn into_ndarray(self) -> Array<E, <S::Sizes as ArraySizes>::Dim> {
        let sizes = self.shape();
        let array = Array::from_shape_vec(sizes.dim(), self.into_vec());
        array.unwrap_or_else(|_| unreachable!("there are as many elements as the sizes take"))
    }

    /// An array as a tensor, with the array's memory and strides; an array with reversed axes is copied. (Feature `ndarray`.)
    ///
    /// # Errors
    /// If the sizes differ from the type's, or memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// let array = ndarray::array![[1, 2, 3], [4, 5, 6]];
    /// let place = array.as_ptr();
    /// let x: Tensor<i64, shape![2, _]> = Tensor::from_ndarray(array.reversed_axes().reversed_axes())?;
    /// assert_eq!((x.as_slice().unwrap().as_ptr(), x.to_vec()), (place, vec![1, 2, 3, 4, 5, 6]));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_ndarray<D: Dimension>(array: Array<E, D>) -> Result<Self> {
        let sizes = sizes_of::<S>(array.shape())?;
        let Ok(strides) = forward::<S>(array.strides(), array.shape()) else {
            return Self::try_from_vec_sized(array.iter().copied().collect(), sizes);
        };
        let (elements, offset) = array.into_raw_vec_and_offset();
        let storage = HostBuffer::from_vec(elements)?;
        let is_empty = sizes.as_ref().contains(&0);
        Ok(Tensor::from_parts(storage, offset.filter(|_| !is_empty).unwrap_or(0), sizes, strides))
    }
}

impl<'a, E: Element, S: Shape> TensorView<'a, E, S> {
    /// A view of an array's elements. (Feature `ndarray`.)
    ///
    /// # Errors
    /// If the sizes differ from the type's, an axis is reversed (strides of tensors are not negative), or a broadcast array has more bytes
    /// than can be counted.
    ///
    /// ```
    /// use castiron::{TensorView, shape};
    /// let array = ndarray::array![[1, 2, 3], [4, 5, 6]];
    /// let x: TensorView<i64, shape![_, 2]> = TensorView::from_ndarray(array.t())?;
    /// assert_eq!(x.to_vec(), [1, 4, 2, 5, 3, 6]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn from_ndarray<D: Dimension>(array: ArrayView<'a, E, D>) -> Result<Self> {
        let sizes = sizes_of::<S>(array.shape())?;
        let strides = forward::<S>(array.strides(), array.shape())?;
        checked_numel::<E>(OP, sizes.as_ref())?;
        // SAFETY: the elements that the strides reach are borrowed for `'a`, and so is everything that holds the buffer: this view, and
        // those lent from it.
        unsafe {
            let storage = HostBuffer::borrowed_view(array.as_ptr(), sizes.as_ref(), strides.as_ref());
            // (An existing array does not exceed the address space.)
            let Some(storage) = storage else { return invalid(OP, "the strides overflow".to_owned()) };
            Ok(TensorView::of(Tensor::from_parts(storage, 0, sizes, strides)))
        }
    }
}
