//! Operations that no device sees as a call, so that a tape records each as one step: what they compute, and their derivative beside it.

use super::Erased;
use crate::device::Device;
#[cfg(all(feature = "any", feature = "grad"))]
use crate::device::{Dynamic, DynamicBuffer};
use crate::dtype::Element;
use crate::error::Result;
#[cfg(feature = "grad")]
use crate::error::invalid;
#[cfg(feature = "grad")]
use crate::grad::Taped;
#[cfg(feature = "grad")]
use crate::grad::primitive::{self, Given, Kept, Seen, Storage};
#[cfg(feature = "grad")]
use crate::grad::tape::Operand;
#[cfg(feature = "grad")]
use crate::layout::dims::Dims;

/// An operation with a derivative of its own: its arguments besides tensors, as a value.
///
/// Composites run it by [`Backend::primitive`](crate::device::Backend::primitive).
pub trait Primitive: Clone + Send + 'static {
    /// The dtypes of its operands, `(f32, i64)`.
    type Operands: Dtypes;
    /// The dtypes of its results.
    type Results: Dtypes;
    /// The name of the operation in errors.
    fn op(&self) -> &'static str;
    /// Computes it, of operands that no tape sees.
    fn run<D: Device>(&self, x: On<'_, Self::Operands, D>) -> Result<On<'static, Self::Results, D>>;

    /// Which operands [`pull`](Self::pull) reads, and which results, a bit each.
    #[cfg(feature = "grad")]
    const READS: [u32; 2];
    /// The gradients of the operands, as large as these, by those of the results. Made of the device's own operations it has a
    /// derivative, too; computed on the host it has none, which is an error.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, Self::Operands, D>>;
}

/// Tensors of these dtypes.
pub type On<'a, L, D> = <L as Dtypes>::On<'a, D>;
/// Tensors of these dtypes, as far as they are there.
#[cfg(feature = "grad")]
pub type Perhaps<'a, L, D> = <L as Dtypes>::Perhaps<'a, D>;

/// The most operands of a primitive.
#[cfg(feature = "grad")]
pub(crate) const MOST: usize = 6;
/// What the derivative of a primitive is given.
#[cfg(feature = "grad")]
pub struct Back<'a, P: Primitive, D: Device> {
    /// The operands that it reads.
    pub(crate) x: Perhaps<'a, P::Operands, D>,
    /// The results that it reads.
    pub(crate) y: Perhaps<'a, P::Results, D>,
    /// The gradients that came back to results.
    pub(crate) g: Perhaps<'a, P::Results, D>,
    /// The sizes of the operands.
    pub(crate) sizes: [Dims; MOST],
    /// Which operands want a gradient.
    pub(crate) wants: [bool; MOST],
}
/// What `READS` says is there.
#[cfg(feature = "grad")]
pub(crate) fn read<T>(kept: &Option<T>) -> Result<&T> {
    match kept {
        Some(kept) => Ok(kept),
        None => invalid("backward", "an operand was not kept".to_owned()),
    }
}

/// A list of dtypes, and what is done with tensors of them, one after the other.
pub trait Dtypes: Sized + 'static {
    type On<'a, D: Device>;
    #[cfg(feature = "grad")]
    type Perhaps<'a, D: Device>;
    /// Calls a function with the storage of each.
    #[cfg(feature = "grad")]
    fn storages<D: Device>(x: &On<'_, Self, D>, see: &mut dyn FnMut(&D::Storage));
    /// The same elements in storages of another device.
    #[cfg(feature = "grad")]
    fn moved<'a, D: Device, F: Device>(
        x: &'a On<'_, Self, D>,
        to: &mut dyn FnMut(&'a D::Storage) -> &'a F::Storage,
    ) -> On<'a, Self, F>;
    /// Tensors of the run-time device as its tape sees them.
    #[cfg(all(feature = "any", feature = "grad"))]
    fn onto(x: On<'_, Self, Dynamic>) -> On<'static, Self, Taped<Dynamic>>;
    /// Those that are on a tape as tensors of the run-time device.
    #[cfg(all(feature = "any", feature = "grad"))]
    fn dynamic(y: On<'static, Self, Taped<Dynamic>>) -> On<'static, Self, Dynamic>;
    /// Operands as a tape keeps them; the bits say whose elements.
    #[cfg(feature = "grad")]
    fn operands<D: Device>(x: &On<'_, Self, Taped<D>>, reads: u32) -> Result<Vec<Operand<D::Storage>>>;
    /// Results put on a tape, and as it keeps them. One that does not fill its storage is copied.
    #[cfg(feature = "grad")]
    fn tracked<D: Device>(
        y: On<'static, Self, D>,
        reads: u32,
        track: &mut dyn FnMut(Storage<D>, Kept<D::Storage>) -> Storage<Taped<D>>,
    ) -> Result<On<'static, Self, Taped<D>>>;
    /// Tensors of what was kept.
    #[cfg(feature = "grad")]
    fn seen<'a, D: Device>(find: &mut dyn FnMut(usize) -> Option<Seen<'a, D>>) -> Perhaps<'a, Self, D>;
    /// Gives gradients away.
    #[cfg(feature = "grad")]
    fn given<D: Device>(
        gradients: Perhaps<'static, Self, D>,
        give: &mut dyn FnMut(usize, Given<D>) -> Result<()>,
    ) -> Result<()>;
}

/// Lists of up to six dtypes.
macro_rules! lists {
    ($($($T:ident $x:ident $at:literal),*;)*) => {$(
        impl<$($T: Element),*> Dtypes for ($($T,)*) {
            type On<'a, D: Device> = ($(Erased<'a, $T, D>,)*);
            #[cfg(feature = "grad")]
            type Perhaps<'a, D: Device> = ($(Option<Erased<'a, $T, D>>,)*);
            #[cfg(feature = "grad")]
            fn storages<D: Device>(($($x,)*): &On<'_, Self, D>, see: &mut dyn FnMut(&D::Storage)) {
                $(see($x.storage());)*
            }
            #[cfg(feature = "grad")]
            fn moved<'a, D: Device, F: Device>(
                ($($x,)*): &'a On<'_, Self, D>,
                to: &mut dyn FnMut(&'a D::Storage) -> &'a F::Storage,
            ) -> On<'a, Self, F> {
                ($(primitive::moved($x, to),)*)
            }
            #[cfg(all(feature = "any", feature = "grad"))]
            fn onto(($($x,)*): On<'_, Self, Dynamic>) -> On<'static, Self, Taped<Dynamic>> {
                ($($x.rehoused::<Taped<Dynamic>>(DynamicBuffer::into_tracked),)*)
            }
            #[cfg(all(feature = "any", feature = "grad"))]
            fn dynamic(($($x,)*): On<'static, Self, Taped<Dynamic>>) -> On<'static, Self, Dynamic> {
                ($($x.rehoused::<Dynamic>(DynamicBuffer::tracked),)*)
            }
            #[cfg(feature = "grad")]
            fn operands<D: Device>(
                ($($x,)*): &On<'_, Self, Taped<D>>,
                reads: u32,
            ) -> Result<Vec<Operand<D::Storage>>> {
                Ok(vec![$(primitive::operand($x, reads >> $at & 1 == 1)?),*])
            }
            #[cfg(feature = "grad")]
            fn tracked<D: Device>(
                ($($x,)*): On<'static, Self, D>,
                reads: u32,
                track: &mut dyn FnMut(Storage<D>, Kept<D::Storage>) -> Storage<Taped<D>>,
            ) -> Result<On<'static, Self, Taped<D>>> {
                Ok(($(primitive::tracked($x, reads >> $at & 1 == 1, track)?,)*))
            }
            #[cfg(feature = "grad")]
            fn seen<'a, D: Device>(find: &mut dyn FnMut(usize) -> Option<Seen<'a, D>>) -> Perhaps<'a, Self, D> {
                ($(find($at).map(Seen::erased::<$T>),)*)
            }
            #[cfg(feature = "grad")]
            fn given<D: Device>(
                ($($x,)*): Perhaps<'static, Self, D>,
                give: &mut dyn FnMut(usize, Given<D>) -> Result<()>,
            ) -> Result<()> {
                $(if let Some(x) = $x {
                    give($at, Given::of(x))?;
                })*
                Ok(())
            }
        }
    )*};
}
lists! {
    A a 0;
    A a 0, B b 1;
    A a 0, B b 1, C c 2;
    A a 0, B b 1, C c 2, G g 3;
    A a 0, B b 1, C c 2, G g 3, H h 4;
    A a 0, B b 1, C c 2, G g 3, H h 4, I i 5;
}
