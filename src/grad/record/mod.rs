//! What is recorded of each kind of call.
//!
//! A call whose operands depend on a parameter is run by the device inside, and a step is put on the tape; or it is done by other calls,
//! which are recorded. Calls that nothing here differentiates are refused by name.

mod elementwise;
mod moves;
mod products;
mod reduce;

#[cfg(feature = "any")]
pub(crate) use elementwise::elementwise;
#[cfg(feature = "any")]
pub(crate) use reduce::{left, reduced, reduced_both};

use super::pull::ways::of_dtype;
use super::tape::{Kept, Operand, Tape, Tracked};
use super::taped::inside;
use crate::device::call::{Given, Kind};
use crate::device::{Backend, Device};
use crate::dtype::{DType, Element};
use crate::error::{Result, invalid};
use crate::storage::View;

type On<D> = Tracked<<D as Backend>::Storage>;

/// How a tape records a kind of call. At least one of its operands depends on a parameter.
pub trait Recorded: Kind {
    /// Runs the call and records it.
    fn record<D: Device>(call: Self::Of<'_, On<D>>, tape: Tape) -> Result<Given<Self, On<D>>>;
}

/// Whether elements of this dtype have gradients.
pub(crate) const fn has_gradients(dtype: DType) -> bool {
    matches!(dtype, DType::F16 | DType::BF16 | DType::F32 | DType::F64 | DType::C32 | DType::C64 | DType::C128)
}

/// The error of an operation without derivative.
#[cold]
fn missing<T>(op: &str) -> Result<T> {
    let word = op.split('<').next().unwrap_or(op).rsplit("::").next().unwrap_or(op);
    let reason = format!(
        "`{word}` has no derivative here: compute it of `.detach()`ed tensors, or write one with `grad::custom`"
    );
    invalid("value_and_grad", reason)
}

/// An operand as the tape keeps it, with a handle to its elements if the way back reads them.
pub(super) fn operand<E: Element, D: Device>(view: &View<'_, On<D>, E>, keeps: bool) -> Result<Operand<D::Storage>> {
    operand_as::<E, D>(view, E::DTYPE, keeps)
}
/// The same where the type may only stand for the width of elements of this dtype.
fn operand_as<E: Element, D: Device>(
    view: &View<'_, On<D>, E>,
    dtype: DType,
    keeps: bool,
) -> Result<Operand<D::Storage>> {
    let mut operand = Operand::EMPTY;
    fill_operand::<E, D>(view, dtype, keeps, &mut operand)?;
    Ok(operand)
}
/// The same, written into a record.
fn fill_operand<E: Element, D: Device>(
    view: &View<'_, On<D>, E>,
    dtype: DType,
    keeps: bool,
    to: &mut Operand<D::Storage>,
) -> Result<()> {
    to.layout.put(dtype, view.sizes, view.strides);
    to.offset = view.offset;
    if has_gradients(dtype) {
        to.node = view.buffer.node();
    }
    to.of = of_dtype::<E, D>(dtype);
    if keeps {
        to.kept = Some(kept::<E, D>(view)?);
    }
    Ok(())
}
/// A handle to elements. Those of a window are copied: it is written again, and the memory is borrowed.
pub(super) fn kept<E: Element, D: Device>(view: &View<'_, On<D>, E>) -> Result<Kept<D::Storage>> {
    let (storage, offset) = D::share_own(inside(*view))?;
    Ok(Kept { storage, offset })
}
/// A handle to a new result, which nobody else has yet.
fn kept_result<D: Device>(storage: &D::Storage) -> Kept<D::Storage> {
    let (storage, offset) = D::share(View::<_, u8>::new(storage, 0, &[], &[]));
    Kept { storage, offset }
}

/// The dtype of elements that are only moved: where the code is compiled for widths, that of a value on the tape.
fn moved<'a, E: Element, B: 'a>(storages: impl IntoIterator<Item = &'a Tracked<B>>) -> DType {
    if has_gradients(E::DTYPE) {
        return E::DTYPE;
    }
    let node = storages.into_iter().find_map(Tracked::node);
    node.and_then(|node| seen_in(node.extent().dtype, size_of::<E>())).unwrap_or(E::DTYPE)
}
/// The dtype of this width that elements of a storage are seen as: its own, that of the parts of its complex numbers, or that of complex
/// numbers whose parts they are.
fn seen_in(of: DType, width: usize) -> Option<DType> {
    match of.itemsize() {
        own if own == width => Some(of),
        own if own == 2 * width && of.is_complex() => Some(of.to_real()),
        own if 2 * own == width && !of.is_complex() => of.to_complex(),
        _ => None,
    }
}

/// Where elements are: their dtype, sizes and strides.
pub(crate) type Lying<'a> = (DType, &'a [usize], &'a [usize]);
