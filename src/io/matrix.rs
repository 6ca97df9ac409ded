//! What matrices of other crates and tensors have in common: sizes and strides of rows and columns.

use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::bounds;
use crate::shape::{Dim, Shape, SizeArray};
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, TensorView, TensorViewMut, checked_numel, expect_fit, shape_text};

/// The shape of a matrix: (rows, columns), or (elements) of one column or one row.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` is not a matrix of another crate",
    label = "expected rows and columns, or one axis",
    note = "of a batch `x.select(axis![0], 0)` is one matrix; other axes are joined by `x.flatten(…)`"
)]
pub trait MatrixShape: Shape {}
impl<R: Dim, C: Dim> MatrixShape for (R, C) {}
impl<N: Dim> MatrixShape for (N,) {}

/// Sizes and strides of a matrix as those of a tensor. One axis takes a matrix of one column or one row.
pub(super) fn axes<S: MatrixShape>(
    op: &'static str,
    sizes: [usize; 2],
    strides: [usize; 2],
) -> Result<(S::Sizes, S::Sizes)> {
    let kept = match (S::RANK, sizes) {
        (1, [_, 1]) => 0..1,
        (1, [1, _]) => 1..2,
        (2, _) => 0..2,
        _ => return Err(crate::Error::Shape { op, expected: shape_text::<S>(), found: sizes[..].into() }),
    };
    expect_fit::<S>(op, &sizes[kept.clone()])?;
    Ok((S::Sizes::copied(&sizes[kept.clone()]), S::Sizes::copied(&strides[kept])))
}

/// A view of a matrix's elements.
///
/// # Safety
/// The elements that sizes and strides reach from `start` on are borrowed for `'a`.
pub(super) unsafe fn view<'a, E: Element, S: MatrixShape>(
    op: &'static str,
    start: *const E,
    sizes: [usize; 2],
    strides: [usize; 2],
) -> Result<TensorView<'a, E, S>> {
    checked_numel::<E>(op, &sizes)?;
    let (sizes, strides) = axes::<S>(op, sizes, strides)?;
    // SAFETY: the caller's promise: they are borrowed as long as this view and those lent from it exist.
    let storage = unsafe { HostBuffer::borrowed_view(start, sizes.as_ref(), strides.as_ref()) };
    // (An existing matrix does not exceed the address space.)
    let Some(storage) = storage else { return invalid(op, "the strides overflow".to_owned()) };
    // SAFETY: as above.
    unsafe { Ok(TensorView::of(Tensor::from_parts(storage, 0, sizes, strides))) }
}

/// A mutable view of a matrix's elements.
///
/// # Safety
/// The elements that sizes and strides reach from `start` on are mutably borrowed for `'a`.
pub(super) unsafe fn view_mut<'a, E: Element, S: MatrixShape>(
    op: &'static str,
    start: *mut E,
    sizes: [usize; 2],
    strides: [usize; 2],
) -> Result<TensorViewMut<'a, E, S>> {
    checked_numel::<E>(op, &sizes)?;
    let (sizes, strides) = axes::<S>(op, sizes, strides)?;
    if !bounds::has_places(sizes.as_ref(), strides.as_ref()) {
        let reason = format!("sizes {sizes:?} and strides {strides:?} may lead to an element twice");
        return invalid(op, reason);
    }
    let Some(len) = bounds::span(sizes.as_ref(), strides.as_ref()) else {
        return invalid(op, "the strides overflow".to_owned());
    };
    // SAFETY: the caller's promise: this view, and those made from it, are all that reaches them, and no two reach the same element.
    unsafe {
        let storage = HostBuffer::borrowed_mut(start, len);
        Ok(TensorViewMut::of(Tensor::from_parts(storage, 0, sizes, strides)))
    }
}

/// Sizes and strides of a tensor as those of a matrix: one axis is a column.
pub(super) fn rows_and_columns<E: Element, S: MatrixShape>(x: &Tensor<E, S>) -> ([usize; 2], [usize; 2]) {
    match (x.shape().as_ref(), x.stride().as_ref()) {
        (&[rows, columns], &[down, across]) => ([rows, columns], [down, across]),
        (&[rows], &[down]) => ([rows, 1], [down, down.saturating_mul(rows).max(1)]),
        _ => unreachable!("the shape is that of a matrix"),
    }
}

/// The place of a tensor's first element, or some place that is aligned if there is none.
pub(super) fn start<E: Element, S: Shape>(x: &Tensor<E, S>) -> *const E {
    match x.is_empty() {
        // (An empty view may have any offset.)
        true => core::ptr::NonNull::<E>::dangling().as_ptr().cast_const(),
        false => x.storage().start::<E>().wrapping_add(x.storage_offset()),
    }
}

/// The same of a mutable view, for writing.
pub(super) fn start_mut<E: Element, S: Shape>(x: &mut TensorViewMut<'_, E, S>) -> *mut E {
    if x.is_empty() {
        return core::ptr::NonNull::dangling().as_ptr();
    }
    let offset = x.storage_offset();
    let Some(start) = x.tensor.parts.storage.start_mut::<E>() else {
        unreachable!("a mutable view is written in place")
    };
    start.wrapping_add(offset)
}
