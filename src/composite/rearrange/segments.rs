//! Copies built from segments of positions along each axis: the loops of `flip`, `roll`, `pad` and `repeat`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, collected, invalid, listed};
use crate::layout::dims::Dims;
use crate::layout::{MemoryFormat, strides};
use crate::ops::kernel::Copying;
use crate::ops::segment::Segment;
use crate::storage::View;
use crate::tensor::checked_numel;

/// The size of an axis built from segments.
fn positions(op: &'static str, list: &[Segment]) -> Result<usize> {
    let sum = list.iter().try_fold(0_usize, |sum, segment| sum.checked_add(segment.positions()?));
    sum.ok_or_else(|| Error::TooLarge { op, sizes: [usize::MAX][..].into() })
}

/// Row-major elements whose axes are built from segments of a view's.
pub(super) fn picked<E: Element, D: Device>(
    op: &'static str,
    view: View<'_, D::Storage, E>,
    axes: &[Vec<Segment>],
    fill: E,
) -> Result<D::Storage> {
    let sizes = collected(axes.iter().map(|list| positions(op, list)))?;
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

impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Segments that keep every axis unchanged.
    pub(super) fn whole_axes(&self) -> Result<Vec<Vec<Segment>>> {
        listed(self.sizes().iter().map(|&size| vec![Segment::whole(size)]))
    }

    /// Checks that there are at least this many axes.
    pub(super) fn expect_axes(&self, op: &'static str, least: usize) -> Result<()> {
        if self.rank() >= least {
            return Ok(());
        }
        invalid(op, format!("a tensor with at least {least} axes is wanted, got one with {}", self.rank()))
    }

    fn assembled_sizes(&self, op: &'static str, axes: &[Vec<Segment>]) -> Result<Dims> {
        let mut sizes = self.dims();
        for (size, list) in sizes.iter_mut().zip(axes) {
            *size = positions(op, list)?;
        }
        Ok(sizes)
    }

    /// A row-major tensor whose axes are built from segments of this one's.
    pub(super) fn assembled(&self, op: &'static str, axes: &[Vec<Segment>], fill: E) -> Result<Owned<E, D>> {
        let sizes = self.assembled_sizes(op, axes)?;
        Ok(Erased::dense(picked::<E, D>(op, self.view(), axes, fill)?, sizes))
    }

    /// [`assembled`](Self::assembled), but images in `channels_last` stay in it, as in PyTorch.
    pub(super) fn assembled_in_format(&self, op: &'static str, axes: &[Vec<Segment>], fill: E) -> Result<Owned<E, D>> {
        match MemoryFormat::suggested(self.sizes(), self.strides()) {
            MemoryFormat::CONTIGUOUS => self.assembled(op, axes, fill),
            format => {
                let sizes = self.assembled_sizes(op, axes)?;
                let mut strides = sizes;
                format.write_copied(op, &sizes, &[], &mut strides)?;
                self.assembled_to(op, axes, sizes, strides, fill)
            }
        }
    }

    /// [`assembled`](Self::assembled) with these sizes and dense strides.
    pub(super) fn assembled_to(
        &self,
        op: &'static str,
        axes: &[Vec<Segment>],
        sizes: Dims,
        strides: Dims,
        fill: E,
    ) -> Result<Owned<E, D>> {
        // With its axes sorted by stride the result is row-major.
        let order = strides::from_outermost(&strides);
        let axes = collected(order.iter().map(|&axis| listed(axes[axis].iter().copied())))?;
        let (storage, ..) = self.permute(op, &order)?.assembled(op, &axes, fill)?.into_parts();
        Ok(Erased::fresh(storage, sizes, strides))
    }
}

/// The two segments of an axis shifted by `shift`, with positions beyond the end coming in at the start.
pub(super) fn rolled(size: usize, shift: i128) -> Vec<Segment> {
    if size == 0 {
        return vec![Segment::whole(0)];
    }
    // The remainder is below `size`, so it fits.
    let start = (-shift).rem_euclid(size as i128) as usize;
    vec![Segment::Forward { start, len: size - start }, Segment::Forward { start: 0, len: start }]
}
