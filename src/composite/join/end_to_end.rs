//! Tensors joined along an axis: `cat`, along an existing one, and `stack`, along a new one.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{CastTo, Element};
use crate::error::{Error, Result, collected, invalid, listed};
use crate::layout::dims::Dims;
use crate::layout::{MemoryFormat, memory_format, strides};
use crate::ops::kernel::Casting;
use crate::storage::View;
use crate::tensor::checked_numel;

/// A piece in the dtype of the result.
pub(crate) fn piece<'a, E: CastTo<O>, O: Element, D: Device>(
    view: View<'a, D::Storage, E>,
) -> Result<Erased<'a, O, D>> {
    if const { E::DTYPE as u8 == O::DTYPE as u8 } {
        return Ok(Erased::of(view).retyped());
    }
    let mut strides = Dims::known(view.strides);
    strides::write_preserved(view.sizes, view.strides, &mut strides);
    Ok(Erased::fresh(D::map1::<E, O>(Casting, view, &strides)?, Dims::known(view.sizes), strides))
}

/// Tensors joined end to end along an axis.
pub(crate) fn cat<E: Element, D: Device>(
    op: &'static str,
    pieces: &[Erased<'_, E, D>],
    axis: usize,
) -> Result<Owned<E, D>> {
    if pieces.iter().any(|piece| piece.rank() == 0) {
        return invalid(op, "zero-dim tensors can't be joined end to end: stack them".to_owned());
    }
    // PyTorch's `cat` skips empty vectors whatever the other shapes are.
    let is_kept = |piece: &&Erased<'_, E, D>| piece.sizes() != [0];
    let Some(first) = pieces.iter().find(is_kept).or(pieces.first()) else {
        return invalid(op, "there are no tensors to join".to_owned());
    };
    let mut kept = listed(pieces.iter().filter(is_kept))?;
    if kept.is_empty() {
        kept.push(first);
    }
    let mut sizes = first.dims();
    sizes[axis] = 0;
    for piece in &kept {
        let fits = |(at, (size, first)): (usize, (&usize, &usize))| at == axis || size == first;
        let same = piece.rank() == first.rank() && piece.sizes().iter().zip(first.sizes()).enumerate().all(fits);
        if !same {
            return Err(Error::Join { op, first: first.sizes().into(), other: piece.sizes().into(), axis });
        }
        let sum = sizes[axis].checked_add(piece.sizes()[axis]);
        sizes[axis] = sum.ok_or_else(|| Error::TooLarge { op, sizes: [usize::MAX][..].into() })?;
    }
    let suggested = listed(kept.iter().map(|piece| MemoryFormat::suggested(piece.sizes(), piece.strides())))?;
    let mut strides = sizes;
    memory_format::joined(&suggested).write_copied(op, &sizes, &[], &mut strides)?;
    laid_out(op, &collected(kept.iter().map(|piece| Ok(piece.view())))?, axis, sizes, strides)
}

/// Tensors of one shape stacked along a new axis.
pub(crate) fn stack<E: Element, D: Device>(
    op: &'static str,
    pieces: &[Erased<'_, E, D>],
    axis: usize,
) -> Result<Owned<E, D>> {
    let Some(first) = pieces.first() else { return invalid(op, "there are no tensors to join".to_owned()) };
    if let Some(other) = pieces.iter().find(|piece| piece.sizes() != first.sizes()) {
        return Err(Error::Join { op, first: first.sizes().into(), other: other.sizes().into(), axis });
    }
    let rank = first.rank() + 1;
    let lifted =
        collected(pieces.iter().map(|piece| piece.viewed(op, rank, |own, view| Ok(own.unsqueeze(axis, view)))))?;
    let mut sizes = lifted[0].dims();
    sizes[axis] = pieces.len();
    let divides_an_axis = axis + 1 < rank;
    let shown = if divides_an_axis { pieces } else { &lifted };
    let suggested = listed(shown.iter().map(|piece| MemoryFormat::suggested(piece.sizes(), piece.strides())))?;
    let strides = Dims::known(&memory_format::stacked(&sizes, axis, &suggested));
    laid_out(op, &listed(lifted.iter().map(Erased::view))?, axis, sizes, strides)
}

/// Views joined to a result with these dense strides.
fn laid_out<E: Element, D: Device>(
    op: &'static str,
    views: &[View<'_, D::Storage, E>],
    axis: usize,
    sizes: Dims,
    strides: Dims,
) -> Result<Owned<E, D>> {
    checked_numel::<E>(op, &sizes)?;
    let row_major = sizes.row_major();
    if *strides == *row_major {
        return Ok(Erased::dense(D::join(views, axis, &sizes, &strides)?, sizes));
    }
    // With its axes sorted by stride the result is row-major.
    let order = strides::from_outermost(&strides);
    let reordered = |of: &[usize]| strides::reordered(of, &order);
    let layouts = listed(views.iter().map(|view| (reordered(view.sizes), reordered(view.strides))))?;
    let views = listed(views.iter().zip(&layouts).map(|(view, (sizes, strides))| view.restrided(sizes, strides)))?;
    let axis = order.iter().position(|&at| at == axis).unwrap_or(0);
    let storage = D::join(&views, axis, &reordered(&sizes), &reordered(&strides))?;
    Ok(Erased::fresh(storage, sizes, strides))
}
