//! Copies built from segments of positions along each axis: the loops of `flip`, `roll`, `pad` and `repeat`.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::ops::segment::Segment;
use crate::shape::{Shape, SizeArray};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel, expect_fit};

/// The size of an axis built from segments.
pub(crate) fn positions(op: &'static str, list: &[Segment]) -> Result<usize> {
    let sum = list.iter().try_fold(0_usize, |sum, stretch| sum.checked_add(stretch.positions()?));
    sum.ok_or_else(|| Error::TooLarge { op, sizes: [usize::MAX][..].into() })
}

/// Row-major elements whose axes are built from segments of a view's.
pub(crate) fn pick_elements<E: Element, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    axes: &[Vec<Segment>],
    fill: E,
) -> Result<D::Storage> {
    let sizes = axes.iter().map(|list| positions(op, list)).collect::<Result<Vec<usize>>>()?;
    checked_numel::<E>(op, &sizes)?;
    if axes.is_empty() {
        return D::map1(Copying, view, &[]);
    }
    // A transposed view is copied to row-major first: a tiled transpose is faster than strided reads element by element.
    if view.strides.last().is_some_and(|&last| last > 1) && view.strides.contains(&1) {
        let strides = strides::row_major(view.sizes);
        let storage = D::map1(Copying, view, &strides)?;
        return D::pick(View::new(&storage, 0, view.sizes, &strides), axes, fill);
    }
    D::pick(view, axes, fill)
}

/// A row-major tensor whose axes are built from segments of a view's.
pub(crate) fn pick<E: Element, T: Shape, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    axes: &[Vec<Segment>],
    fill: E,
) -> Result<Tensor<E, T, D>> {
    let mut sizes = T::Sizes::filled(0);
    for (size, list) in sizes.as_mut().iter_mut().zip(axes) {
        *size = positions(op, list)?;
    }
    expect_fit::<T>(op, sizes.as_ref())?;
    Ok(Tensor::dense(pick_elements::<E, D>(op, view, axes, fill)?, sizes))
}

/// The two segments of an axis shifted by `shift`, with positions beyond the end coming in at the start.
pub(crate) fn rolled(size: usize, shift: isize) -> Vec<Segment> {
    if size == 0 {
        return vec![Segment::whole(0)];
    }
    // The remainder is below `size`, so it fits `isize`.
    let start = (-(shift as i128)).rem_euclid(size as i128) as usize;
    vec![Segment::Forward { start, len: size - start }, Segment::Forward { start: 0, len: start }]
}

/// Each axis built from segments of the same total size, into a dense result with these strides.
pub(crate) fn pick_as_laid_out<E: Element, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    axes: &[Vec<Segment>],
    strides: &[usize],
) -> Result<D::Storage> {
    // With its axes sorted by stride the result is row-major.
    let mut order: Vec<usize> = (0..strides.len()).collect();
    order.sort_by_key(|&axis| core::cmp::Reverse((strides[axis], view.sizes[axis])));
    let reordered = |of: &[usize]| -> Vec<usize> { order.iter().map(|&axis| of[axis]).collect() };
    let (sizes, own) = (reordered(view.sizes), reordered(view.strides));
    let axes: Vec<Vec<Segment>> = order.iter().map(|&axis| axes[axis].clone()).collect();
    pick_elements::<E, D>(op, view.restrided(&sizes, &own), &axes, E::default())
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Segments that keep every axis unchanged.
    pub(crate) fn whole_axes(&self) -> Vec<Vec<Segment>> {
        self.shape().as_ref().iter().map(|&size| vec![Segment::whole(size)]).collect()
    }
}
