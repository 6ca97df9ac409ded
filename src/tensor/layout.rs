//! Layouts in the type. `Strided` is the dense one: storage, offset, sizes, strides.

use crate::device::Device;
use crate::dtype::Element;
use crate::shape::Shape;
use crate::storage::View;
use core::marker::PhantomData;

mod sealed {
    pub trait Sealed {}
}

/// How a tensor's elements are laid out (`torch.layout`): [`Strided`].
#[diagnostic::on_unimplemented(message = "`{Self}` is not a layout", label = "expected `Strided`")]
pub trait Layout: sealed::Sealed + Copy + Default + core::fmt::Debug + Send + Sync + 'static {
    /// What a tensor of this layout consists of.
    #[doc(hidden)]
    type Parts<E: Element, S: Shape, D: Device>: Clone + Send + Sync;
}

/// Dense elements seen through strides (`torch.strided`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strided;

impl sealed::Sealed for Strided {}
impl Layout for Strided {
    type Parts<E: Element, S: Shape, D: Device> = StridedParts<E, S, D>;
}

/// The parts of a strided tensor.
#[doc(hidden)]
pub struct StridedParts<E: Element, S: Shape, D: Device> {
    pub(super) storage: D::Storage,
    /// In elements.
    pub(super) offset: usize,
    pub(super) sizes: S::Sizes,
    /// In elements.
    pub(super) strides: S::Sizes,
    elements: PhantomData<(E, S)>,
}

impl<E: Element, S: Shape, D: Device> StridedParts<E, S, D> {
    #[inline]
    pub(super) fn new(storage: D::Storage, offset: usize, sizes: S::Sizes, strides: S::Sizes) -> Self {
        StridedParts { storage, offset, sizes, strides, elements: PhantomData }
    }
}

impl<E: Element, S: Shape, D: Device> Clone for StridedParts<E, S, D> {
    #[inline]
    fn clone(&self) -> Self {
        let view = View::<_, E>::new(&self.storage, self.offset, self.sizes.as_ref(), self.strides.as_ref());
        let (storage, offset) = D::share(view);
        Self { storage, offset, elements: PhantomData, ..*self }
    }
}
