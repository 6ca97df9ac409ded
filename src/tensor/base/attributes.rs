//! Attributes of tensors (`shape`, `dtype`, `stride`, …), and construction of tensors from parts and of views.

use crate::device::{AnyDevice, Device};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::layout::{Geometry, ViewAxes, bounds, strides};
use crate::ops::kernel::Copying;
use crate::shape::{Shape, SizeArray};
use crate::storage::{View, ViewMut};
use crate::tensor::base::layout::{AnyLayout, Layout, StridedParts};
use crate::tensor::{Tensor, fits, shape_text};
use castiron_macros::fallible;

/// Attributes of tensors of any layout.
impl<E: Element, S: Shape, D: Device, L: Layout> Tensor<E, S, D, L> {
    /// The sizes: `[2, 3]` (`torch.Tensor.shape`).
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[1, 2, 3], [4, 5, 6]].shape(), [2, 3]);
    /// ```
    #[doc(alias = "size")]
    #[inline]
    pub fn shape(&self) -> S::Sizes {
        L::sizes(&self.parts)
    }

    /// The number of elements (`torch.Tensor.numel`).
    #[doc(alias = "size")]
    #[doc(alias = "nelement")]
    #[doc(alias = "len")]
    #[inline]
    pub fn numel(&self) -> usize {
        // The product of the sizes of an existing tensor does not overflow.
        self.shape().as_ref().iter().product()
    }

    /// Whether there are no elements.
    pub fn is_empty(&self) -> bool {
        self.numel() == 0
    }

    /// The number of axes (`torch.Tensor.dim`).
    #[doc(alias = "ndim")]
    #[doc(alias = "ndimension")]
    pub const fn rank(&self) -> usize {
        S::RANK
    }

    /// The dtype as a value (`torch.Tensor.dtype`).
    pub const fn dtype(&self) -> DType {
        E::DTYPE
    }

    /// The device as a value (`torch.Tensor.device`).
    ///
    /// ```
    /// use castiron::AnyDevice;
    /// assert_eq!(castiron::tensor![1, 2].device(), AnyDevice::CPU);
    /// ```
    ///
    /// # Panics
    /// Never: the device of an existing tensor is there.
    #[track_caller]
    pub fn device(&self) -> AnyDevice {
        crate::error::unwrap(D::default().into_device())
    }

    /// The device as PyTorch prints it: the text of [`device`](Self::device).
    pub fn device_name(&self) -> String {
        D::name()
    }

    /// The layout as a value (`torch.Tensor.layout`).
    ///
    /// ```
    /// assert_eq!(castiron::tensor![1, 2].layout().to_string(), "torch.strided");
    /// ```
    pub const fn layout(&self) -> AnyLayout {
        L::LAYOUT
    }

    /// Whether the layout is [`SparseCoo`](crate::SparseCoo) (`torch.Tensor.is_sparse`).
    pub const fn is_sparse(&self) -> bool {
        matches!(L::LAYOUT, AnyLayout::SparseCoo)
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Makes a tensor from its parts.
    ///
    /// The caller promises that every element of the storage that offset, sizes and strides reach is a valid `E`.
    ///
    /// # Panics
    /// If sizes do not agree with those known by `S`, or reach beyond the storage. Loops rely on both and all tensors are made here, so
    /// they are checked in every build: neither view arithmetic nor traits implemented outside the crate are trusted.
    #[inline]
    pub(crate) fn from_parts(storage: D::Storage, offset: usize, sizes: S::Sizes, strides: S::Sizes) -> Self {
        let room = D::room::<E>(&storage);
        Self::from_parts_within(room, storage, offset, sizes, strides)
    }

    /// [`from_parts`](Self::from_parts) where the length of the storage, `room`, is already known.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn from_parts_within(
        room: Option<usize>,
        storage: D::Storage,
        offset: usize,
        sizes: S::Sizes,
        strides: S::Sizes,
    ) -> Self {
        if !fits::<S>(sizes.as_ref()) || !bounds::is_within(sizes.as_ref(), strides.as_ref(), offset, room) {
            refused::<S>(sizes, strides, offset, room);
        }
        Tensor { parts: StridedParts::new(storage, offset, sizes, strides) }
    }

    /// [`from_parts`](Self::from_parts) of a whole storage of `len` elements, with sizes and strides from
    /// [`row_major_alike`](strides::row_major_alike).
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) fn whole(storage: D::Storage, sizes: S::Sizes, strides: S::Sizes, len: usize) -> Self {
        Self::from_parts_within(Some(len), storage, 0, sizes, strides)
    }

    /// A row-major tensor over a new storage.
    #[inline]
    pub(crate) fn dense(storage: D::Storage, sizes: S::Sizes) -> Self {
        Self::from_parts(storage, 0, sizes, strides::contiguous(&sizes))
    }

    /// The tensor as another shape type of the same rank, with the same sizes and strides.
    #[inline]
    pub(crate) fn retyped<T: Shape>(self) -> Tensor<E, T, D> {
        let (sizes, strides) = (T::Sizes::copied(self.shape().as_ref()), T::Sizes::copied(self.stride().as_ref()));
        Tensor::from_parts(self.parts.storage, self.parts.offset, sizes, strides)
    }

    /// A view by a rule of `layout`, which fills in sizes and strides and returns the offset.
    #[inline]
    pub(crate) fn try_viewed<F: Element, T: Shape>(
        &self,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> Result<usize>,
    ) -> Result<Tensor<F, T, D>> {
        let (room, storage, offset) = self.shared::<F>();
        let (mut sizes, mut strides) = (T::Sizes::filled(0), T::Sizes::filled(0));
        let own = Geometry::new(offset, self.parts.sizes.as_ref(), self.parts.strides.as_ref());
        let offset = rule(own, ViewAxes { sizes: sizes.as_mut(), strides: strides.as_mut() })?;
        Ok(Tensor::from_parts_within(room, storage, offset, sizes, strides))
    }

    /// [`try_viewed`](Self::try_viewed) by a rule that cannot fail.
    #[inline]
    pub(crate) fn viewed<F: Element, T: Shape>(
        &self,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> usize,
    ) -> Tensor<F, T, D> {
        crate::error::unwrap(self.try_viewed(|own, view| Ok(rule(own, view))))
    }

    /// A view with other sizes and strides, starting `start` elements after the first element.
    #[inline]
    pub(crate) fn restrided<T: Shape>(&self, start: usize, sizes: T::Sizes, strides: T::Sizes) -> Tensor<E, T, D> {
        let (room, storage, offset) = self.shared::<E>();
        // An empty view may have any offset, hence the wrapping addition.
        Tensor::from_parts_within(room, storage, offset.wrapping_add(start), sizes, strides)
    }

    /// [`restrided`](Self::restrided) without an offset, to sizes and strides that reach the same elements, so that bounds need no check.
    #[inline]
    pub(crate) fn rearranged<T: Shape>(&self, sizes: T::Sizes, strides: T::Sizes) -> Tensor<E, T, D> {
        if !fits::<T>(sizes.as_ref()) {
            refused::<T>(sizes, strides, self.parts.offset, D::room::<E>(self.storage()));
        }
        let (storage, offset) = D::share(self.elements());
        Tensor { parts: StridedParts::new(storage, offset, sizes, strides) }
    }

    /// Another handle to the storage, its length in elements `F`, and the offset of the tensor's first element.
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn shared<F: Element>(&self) -> (Option<usize>, D::Storage, usize) {
        // Read before the reference count is incremented: a load after that atomic operation would wait for it.
        let room = D::room::<F>(self.storage());
        let (storage, offset) = D::share(self.elements());
        let room = if D::is_same(&storage, self.storage()) { room } else { D::room::<F>(&storage) };
        (room, storage, offset)
    }

    #[inline]
    pub(crate) fn elements(&self) -> View<'_, D::Storage, E> {
        let StridedParts { storage, offset, sizes, strides, .. } = &self.parts;
        View::new(storage, *offset, sizes.as_ref(), strides.as_ref())
    }

    /// The elements for writing. Copies first if the storage is shared or two positions alias one element. (Positions of a mutable view
    /// never alias, so it is written in place.)
    pub(crate) fn elements_mut(&mut self) -> Result<ViewMut<'_, D::Storage, E>> {
        let (sizes, strides) = (self.shape(), self.stride());
        let dense = strides::is_dense(sizes.as_ref(), strides.as_ref());
        if (!dense || !D::is_unique(&mut self.parts.storage)) && !D::is_fixed(&self.parts.storage) {
            let strides = strides::preserved(&self.parts.sizes, &self.parts.strides);
            let storage = D::map1(Copying, self.elements(), strides.as_ref())?;
            self.parts = StridedParts::new(storage, 0, self.parts.sizes, strides);
        }
        let StridedParts { storage, offset, sizes, strides, .. } = &mut self.parts;
        let (sizes, strides): (&S::Sizes, &S::Sizes) = (sizes, strides);
        Ok(ViewMut::new(storage, *offset, sizes.as_ref(), strides.as_ref()))
    }

    /// Replaces the elements by the result of an operation that was computed in another tensor.
    pub(crate) fn replace(&mut self, result: Self) -> Result<()> {
        if D::is_fixed(&self.parts.storage) {
            return D::map1_into::<E, E>(Copying, result.elements(), self.elements_mut()?);
        }
        *self = result;
        Ok(())
    }

    /// The tensor itself: what a mutable view has in the same name.
    #[inline]
    pub(crate) fn target(&mut self) -> &mut Self {
        self
    }

    #[inline]
    pub(crate) fn storage(&self) -> &D::Storage {
        &self.parts.storage
    }

    /// The strides, in elements (`torch.Tensor.stride`).
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]];
    /// assert_eq!(x.stride(), [5, 1]);
    /// assert_eq!(x.t().stride(), [1, 5]);
    /// ```
    #[inline]
    pub fn stride(&self) -> S::Sizes {
        self.parts.strides
    }

    /// The offset of the first element in its storage, in elements (`torch.Tensor.storage_offset`).
    #[inline]
    pub fn storage_offset(&self) -> usize {
        self.parts.offset
    }

    /// Whether elements are in row-major order without gaps (`torch.Tensor.is_contiguous`).
    pub fn is_contiguous(&self) -> bool {
        strides::is_contiguous(self.shape().as_ref(), self.stride().as_ref())
    }

    /// The tensor itself if it is contiguous, else a row-major copy (`torch.Tensor.contiguous`).
    ///
    /// # Panics
    /// If memory runs out.
    #[fallible]
    pub fn contiguous(&self) -> Result<Self> {
        if self.is_contiguous() {
            return Ok(self.clone());
        }
        let strides = strides::contiguous(&self.shape());
        Ok(Self::from_parts(D::map1(Copying, self.elements(), strides.as_ref())?, 0, self.shape(), strides))
    }

    /// Whether the two tensors share storage.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert!(x.t().shares_storage(&x));
    /// assert!(!(&x + 0).shares_storage(&x));
    /// ```
    pub fn shares_storage<F: Element, T: Shape>(&self, other: &Tensor<F, T, D>) -> bool {
        D::is_same(self.storage(), other.storage())
    }
}

/// Panics and says what is wrong with the parts of a tensor.
#[cold]
#[inline(never)]
fn refused<S: Shape>(sizes: S::Sizes, strides: S::Sizes, offset: usize, room: Option<usize>) -> ! {
    panic!(
        "no tensor of shape {} has sizes {sizes:?} and strides {strides:?} from element {offset} on in a storage of {room:?} elements",
        shape_text::<S>()
    )
}
