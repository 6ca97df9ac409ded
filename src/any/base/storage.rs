//! The buffer of a tensor, its elements for reading and writing, and views of it.

use super::copies::preserved;
use crate::any::{AnyTensor, Elements};
use crate::device::erased::{ErasedView, ErasedViewMut};
use crate::device::{Backend, Dynamic, DynamicBuffer};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::dims::Dims;
use crate::layout::{Geometry, ViewAxes, bounds, strides};
use crate::storage::{View, ViewMut};

impl AnyTensor {
    /// The offset of the first element; 0 for an empty tensor, whose offset may be out of bounds.
    #[inline]
    pub(in crate::any) fn first(&self) -> usize {
        if self.is_empty() { 0 } else { self.offset }
    }

    /// The buffer with the elements, after the conjugate or negative bit is applied.
    #[inline]
    pub(in crate::any) fn buffer(&self) -> Result<&DynamicBuffer> {
        match &self.elements {
            Elements::Plain(buffer) => Ok(buffer),
            Elements::WithBit(storage) => storage.resolved(),
        }
    }

    /// [`buffer`](Self::buffer), or an error if there are no data.
    pub(in crate::any) fn data(&self, op: &'static str) -> Result<&DynamicBuffer> {
        let buffer = self.buffer()?;
        if Dynamic::has_data(buffer) { Ok(buffer) } else { Err(Error::NoData { op }) }
    }

    /// The shared storage, without applying a conjugate or negative bit.
    #[inline]
    pub(in crate::any) fn storage(&self) -> &DynamicBuffer {
        match &self.elements {
            Elements::Plain(buffer) => buffer,
            Elements::WithBit(storage) => &storage.base,
        }
    }

    /// Whether there are data: not on the meta device.
    pub(crate) fn has_data(&self) -> bool {
        Dynamic::has_data(self.storage())
    }

    /// The elements without their type, for operations on any dtype.
    #[inline]
    pub(in crate::any) fn erased(&self) -> Result<ErasedView<'_>> {
        let (offset, width) = (self.first(), self.dtype.itemsize());
        Ok(ErasedView { buffer: self.buffer()?, offset, width, sizes: &self.sizes, strides: &self.strides })
    }

    /// [`erased`](Self::erased) for writing; the storage must not be shared.
    pub(in crate::any) fn erased_mut(&mut self, op: &'static str) -> Result<ErasedViewMut<'_>> {
        let (offset, width) = (self.first(), self.dtype.itemsize());
        let Elements::Plain(buffer) = &mut self.elements else { return Err(Error::NoData { op }) };
        Ok(ErasedViewMut { buffer, offset, width, sizes: &self.sizes, strides: &self.strides })
    }

    /// The elements as a type of the same width.
    #[inline]
    pub(in crate::any) fn elements_as<W>(&self) -> Result<View<'_, DynamicBuffer, W>> {
        debug_assert_eq!(size_of::<W>(), self.dtype.itemsize());
        Ok(View::new(self.buffer()?, self.first(), &self.sizes, &self.strides))
    }

    /// [`elements_as`](Self::elements_as), or an error if there are no data.
    pub(in crate::any) fn data_as<W>(&self, op: &'static str) -> Result<View<'_, DynamicBuffer, W>> {
        self.data(op)?;
        self.elements_as()
    }

    /// [`data_as`](Self::data_as) for writing; the storage must not be shared.
    pub(in crate::any) fn data_as_mut<W>(&mut self, op: &'static str) -> Result<ViewMut<'_, DynamicBuffer, W>> {
        debug_assert_eq!(size_of::<W>(), self.dtype.itemsize());
        let first = self.first();
        let Elements::Plain(buffer) = &mut self.elements else { return Err(Error::NoData { op }) };
        Ok(ViewMut::new(buffer, first, &self.sizes, &self.strides))
    }

    /// A view of the same storage with another offset, sizes and strides.
    ///
    /// # Panics
    /// If it reaches beyond the storage. All views are made here and loops rely on it, so it is checked in every build.
    pub(in crate::any) fn viewed(&self, offset: usize, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        self.viewed_as(self.dtype, offset, sizes, strides)
    }

    /// [`viewed`](Self::viewed) as another dtype; offset, sizes and strides count elements of that dtype.
    pub(in crate::any) fn viewed_as(
        &self,
        dtype: DType,
        offset: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> AnyTensor {
        self.viewed_in(dtype, offset, Dims::known(sizes), Dims::known(strides))
    }

    /// [`viewed_as`](Self::viewed_as) with sizes and strides as tensors store them.
    fn viewed_in(&self, dtype: DType, offset: usize, sizes: Dims, strides: Dims) -> AnyTensor {
        let room = self.room(dtype);
        if !bounds::is_within(&sizes, &strides, offset, room) {
            refused(sizes, strides, offset, room);
        }
        AnyTensor { elements: self.elements.clone(), dtype, offset, sizes, strides }
    }

    /// A view with `rank` axes: `rule`, of `layout`, fills in sizes and strides and returns the offset.
    pub(in crate::any) fn viewed_by(
        &self,
        op: &'static str,
        rank: usize,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> Result<usize>,
    ) -> Result<AnyTensor> {
        self.bits_viewed_by(op, self.dtype, rank, rule)
    }

    /// [`viewed_by`](Self::viewed_by) as another dtype.
    pub(in crate::any) fn bits_viewed_by(
        &self,
        op: &'static str,
        dtype: DType,
        rank: usize,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> Result<usize>,
    ) -> Result<AnyTensor> {
        let (mut sizes, mut strides) = (Dims::of_rank(op, rank)?, Dims::of_rank(op, rank)?);
        let own = Geometry::new(self.offset, &self.sizes, &self.strides);
        let offset = rule(own, ViewAxes { sizes: &mut sizes, strides: &mut strides })?;
        Ok(self.viewed_in(dtype, offset, sizes, strides))
    }

    /// How many elements of a dtype the storage holds; `None` on the meta device.
    #[inline]
    pub(in crate::any) fn room(&self, dtype: DType) -> Option<usize> {
        // A shift instead of a division, since item sizes are powers of two and known at run time only.
        Dynamic::room::<u8>(self.storage()).map(|bytes| bytes >> dtype.itemsize().trailing_zeros())
    }

    /// A new tensor over a buffer with dense strides.
    #[inline]
    pub(in crate::any) fn fresh(buffer: DynamicBuffer, dtype: DType, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        let elements = Elements::Plain(buffer);
        AnyTensor { elements, dtype, offset: 0, sizes: Dims::known(sizes), strides: Dims::known(strides) }
    }

    /// A tensor over a storage of this dtype, with an offset, sizes and strides that were checked to fit.
    pub(in crate::any) fn from_erased(
        buffer: DynamicBuffer,
        dtype: DType,
        offset: usize,
        sizes: Dims,
        strides: Dims,
    ) -> AnyTensor {
        AnyTensor { elements: Elements::Plain(buffer), dtype, offset, sizes, strides }
    }

    /// A new row-major tensor.
    #[inline]
    pub(in crate::any) fn fresh_row_major(buffer: DynamicBuffer, dtype: DType, sizes: Dims) -> AnyTensor {
        AnyTensor { elements: Elements::Plain(buffer), dtype, offset: 0, sizes, strides: sizes.row_major() }
    }

    /// The same dtype, sizes and strides without data, to find out what an operation would give.
    pub(in crate::any) fn planned(&self) -> AnyTensor {
        AnyTensor { elements: Elements::Plain(DynamicBuffer::NO_DATA), ..*self }
    }

    /// Copies before a write if the storage is shared or two positions alias one element. (Positions of a mutable view never alias, so it
    /// is written in place.)
    pub(in crate::any) fn make_unique(&mut self) -> Result<()> {
        if self.keeps_its_value()? {
            return Ok(());
        }
        let dense = strides::is_dense(&self.sizes, &self.strides);
        let is_own = match &mut self.elements {
            Elements::Plain(buffer) => {
                (dense && Dynamic::is_unique(buffer)) || Dynamic::is_fixed(buffer) || !Dynamic::has_data(buffer)
            }
            Elements::WithBit(_) => false,
        };
        if !is_own {
            *self = self.copied(&preserved(&self.sizes, &self.strides))?;
        }
        Ok(())
    }
}

/// Panics and says why there is no such view.
#[cold]
#[inline(never)]
fn refused(sizes: Dims, strides: Dims, offset: usize, room: Option<usize>) -> ! {
    let (sizes, strides) = (&*sizes, &*strides);
    panic!(
        "no view has sizes {sizes:?} and strides {strides:?} from element {offset} on in a storage of {room:?} elements"
    )
}

/// The number of elements, or an error if memory cannot address that many of the dtype. For an empty tensor the axes other than those of
/// size 0 are checked.
pub(crate) fn checked_numel(op: &'static str, sizes: &[usize], dtype: DType) -> Result<usize> {
    let bytes =
        sizes.iter().filter(|&&size| size != 0).try_fold(dtype.itemsize(), |bytes, &size| bytes.checked_mul(size));
    match bytes {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(sizes.iter().product()),
        _ => Err(Error::TooLarge { op, sizes: sizes.into() }),
    }
}
