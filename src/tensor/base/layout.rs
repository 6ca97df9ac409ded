//! Layouts as types and as values. `Strided` is the dense one: storage, offset, sizes, strides. (`SparseCoo` is in `sparse`.)

use crate::device::Device;
use crate::dtype::Element;
use crate::shape::Shape;
use crate::storage::View;
use core::marker::PhantomData;

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// How a tensor's elements are laid out (`torch.layout`): [`Strided`] or [`SparseCoo`](crate::SparseCoo).
#[diagnostic::on_unimplemented(message = "`{Self}` is not a layout", label = "expected `Strided` or `SparseCoo`")]
pub trait Layout: sealed::Sealed + Copy + Default + core::fmt::Debug + Send + Sync + 'static {
    /// The layout as a value.
    const LAYOUT: AnyLayout;
    /// The parts of a tensor of this layout.
    #[doc(hidden)]
    type Parts<E: Element, S: Shape, D: Device>: Clone + Send + Sync;
    #[doc(hidden)]
    fn sizes<E: Element, S: Shape, D: Device>(parts: &Self::Parts<E, S, D>) -> S::Sizes;
}

/// A layout as a value (`torch.layout`), printed as PyTorch prints it.
///
/// ```
/// use castiron::{tensor, AnyLayout};
/// let x = tensor![[0.0, 2.0]];
/// assert_eq!(x.layout(), AnyLayout::Strided);
/// assert_eq!(x.to_sparse().layout().to_string(), "torch.sparse_coo");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AnyLayout {
    /// Dense elements with strides (`torch.strided`).
    Strided,
    /// Indices and values (`torch.sparse_coo`).
    SparseCoo,
}
impl core::fmt::Display for AnyLayout {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            AnyLayout::Strided => "torch.strided",
            AnyLayout::SparseCoo => "torch.sparse_coo",
        })
    }
}

/// Dense elements with strides (`torch.strided`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strided;

impl sealed::Sealed for Strided {}
impl Layout for Strided {
    const LAYOUT: AnyLayout = AnyLayout::Strided;
    type Parts<E: Element, S: Shape, D: Device> = StridedParts<E, S, D>;
    #[inline]
    fn sizes<E: Element, S: Shape, D: Device>(parts: &StridedParts<E, S, D>) -> S::Sizes {
        parts.sizes
    }
}

/// The parts of a strided tensor.
#[doc(hidden)]
pub struct StridedParts<E: Element, S: Shape, D: Device> {
    pub(crate) storage: D::Storage,
    /// In elements.
    pub(crate) offset: usize,
    pub(crate) sizes: S::Sizes,
    /// In elements.
    pub(crate) strides: S::Sizes,
    elements: PhantomData<(E, S)>,
}

impl<E: Element, S: Shape, D: Device> StridedParts<E, S, D> {
    #[inline]
    pub(crate) fn new(storage: D::Storage, offset: usize, sizes: S::Sizes, strides: S::Sizes) -> Self {
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
