//! Gradients that are seen as views: those of sums are the same along axes, those of what was joined or transposed lie in a larger gradient or
//! in another order. Their elements are written out where their step needs that.

use crate::composite::Erased;
use crate::device::{Backend, Device};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::grad::tape::RESULTS;
use crate::layout::dims::Dims;
use crate::ops::kernel::Copying;
use crate::storage::View;

/// Fewer elements are written out at once, and so are those that are repeated, but fewer times.
const ELEMENTS: usize = if cfg!(debug_assertions) { 2 } else { 1 << 12 };
const TIMES: usize = if cfg!(debug_assertions) { 2 } else { 16 };

/// The gradients of a step's results, each a storage of the node's extent, but the first one may be [seen](Seen) as a view.
#[doc(hidden)]
pub struct Cotangents<B> {
    pub(crate) of: [Option<B>; RESULTS],
    seen: Option<Box<Seen<B>>>,
}

/// Where the elements of a gradient are in its storage.
pub(crate) struct Seen<B> {
    /// How they are written out.
    write: fn(&Seen<B>, &B) -> Result<B>,
    sizes: Dims,
    /// The strides of the node's own elements.
    own: Dims,
    pub(crate) offset: usize,
    pub(crate) strides: Dims,
}
impl<B> Seen<B> {
    /// Whether the node's elements have these sizes and strides.
    pub(crate) fn is_of(&self, sizes: &[usize], strides: &[usize]) -> bool {
        *self.sizes == *sizes && (0..sizes.len()).all(|axis| sizes[axis] == 1 || self.own[axis] == strides[axis])
    }
    /// Whether there are fewer elements in memory than there are seen.
    pub(crate) fn is_repeated(&self) -> bool {
        times(&self.sizes, &self.strides) > 1
    }
    pub(super) fn view<'a, E>(&'a self, gradient: &'a B) -> View<'a, B, E> {
        View::new(gradient, self.offset, &self.sizes, &self.strides)
    }
    /// The gradient as a storage of the node's extent.
    pub(crate) fn written_out(&self, gradient: &B) -> Result<B> {
        (self.write)(self, gradient)
    }
}
fn write<E: Dtype, D: Device>(seen: &Seen<D::Storage>, gradient: &D::Storage) -> Result<D::Storage> {
    D::map1::<E, E>(Copying, seen.view(gradient), &seen.own)
}

/// How often each element is repeated.
fn times(sizes: &[usize], strides: &[usize]) -> usize {
    sizes.iter().zip(strides).filter(|&(_, &stride)| stride == 0).map(|(&size, _)| size).product()
}

/// Whether a gradient that fills its node is kept as a view. (On a tape it is written out, which is recorded.)
pub(super) fn pays_off<E: Dtype, D: Device>(g: &Erased<'_, E, D>) -> bool {
    let times = times(g.sizes(), g.strides());
    (times == 1 || times >= TIMES) && g.numel() >= ELEMENTS && D::host_buffer(g.storage()).is_some()
}

impl<B> Cotangents<B> {
    pub(super) const NONE: Self = Cotangents { of: [const { None }; RESULTS], seen: None };

    /// Keeps the gradient of the first result as a view, for elements of these strides that fill the node.
    pub(super) fn put_view<E: Dtype, D: Device + Backend<Storage = B>>(&mut self, g: Erased<'_, E, D>, own: Dims) {
        let (storage, offset, sizes, strides) = g.into_parts();
        self.of[0] = Some(storage);
        self.seen = Some(Box::new(Seen { write: write::<E, D>, sizes, own, offset, strides }));
    }
    /// The gradients, all of them storages of the node's extents.
    pub(crate) fn whole(&mut self) -> Result<&mut [Option<B>; RESULTS]> {
        if let Some(seen) = self.seen.take()
            && let Some(first) = &mut self.of[0]
        {
            *first = seen.written_out(first)?;
        }
        Ok(&mut self.of)
    }
    /// Whether the first one is seen as a view.
    pub(super) fn is_view(&self) -> bool {
        self.seen.is_some()
    }
    /// How the first one is seen, if that is wanted: the caller reads it as a view.
    pub(crate) fn take_view(&mut self, wanted: impl FnOnce(&Seen<B>) -> bool) -> Option<Box<Seen<B>>> {
        self.seen.take_if(|seen| wanted(seen))
    }
}
