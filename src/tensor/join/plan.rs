//! Planning a join: sizes are checked, dtypes converted, and the memory format of the result is chosen.

use crate::device::Device;
use crate::dtype::{CastTo, Element};
use crate::error::{Error, Result};
use crate::layout::{MemoryFormat, memory_format, strides};
use crate::ops::kernel::Casting;
use crate::shape::{Shape, SizeArray};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel, expect_fit};

/// The sizes of the joined tensor.
pub(super) fn joined_sizes<T: Shape>(op: &'static str, pieces: &[&[usize]], axis: usize) -> Result<T::Sizes> {
    let sizes = T::Sizes::copied(&joined(op, pieces, axis)?);
    expect_fit::<T>(op, sizes.as_ref())?;
    Ok(sizes)
}
fn joined(op: &'static str, pieces: &[&[usize]], axis: usize) -> Result<Vec<usize>> {
    let Some(&first) = pieces.first() else {
        return Err(Error::InvalidArgument { op, reason: "there are no tensors to join".to_owned() });
    };
    let mut total = 0_usize;
    for &piece in pieces {
        let fits = piece.iter().zip(first).enumerate().all(|(at, (size, first))| at == axis || size == first);
        if !fits {
            return Err(Error::Join { op, first: first.into(), other: piece.into(), axis });
        }
        total = total.checked_add(piece[axis]).ok_or_else(|| Error::TooLarge { op, sizes: [usize::MAX][..].into() })?;
    }
    let mut sizes = first.to_vec();
    sizes[axis] = total;
    Ok(sizes)
}

/// The memory format that a piece suggests, without one of its axes if given.
fn suggested(sizes: &[usize], strides: &[usize], without: Option<usize>) -> MemoryFormat {
    let Some(axis) = without else { return MemoryFormat::suggested(sizes, strides) };
    let own = |of: &[usize]| [&of[..axis], &of[axis + 1..]].concat();
    MemoryFormat::suggested(&own(sizes), &own(strides))
}

/// One piece of a joined tensor, converted to its dtype.
pub(super) struct JoinInput<B> {
    storage: B,
    offset: usize,
    sizes: Vec<usize>,
    strides: Vec<usize>,
}

impl<B> JoinInput<B> {
    pub(super) fn elements<O>(&self) -> View<'_, B, O> {
        View::new(&self.storage, self.offset, &self.sizes, &self.strides)
    }
}

/// The plan of a join: the pieces, the memory formats they suggest, and the sizes of the result.
pub(super) struct JoinPlan<O: Element, T: Shape, D: Device> {
    op: &'static str,
    /// Whether the axis is new.
    stacks: bool,
    inputs: Vec<JoinInput<D::Storage>>,
    suggested: Vec<MemoryFormat>,
    sizes: T::Sizes,
    axis: usize,
    elements: core::marker::PhantomData<O>,
}
impl<O: Element, T: Shape, D: Device> JoinPlan<O, T, D> {
    pub(super) fn new(op: &'static str, stacks: bool, sizes: T::Sizes, axis: usize) -> Result<Self> {
        checked_numel::<O>(op, sizes.as_ref())?;
        let (inputs, suggested) = (Vec::new(), Vec::new());
        Ok(JoinPlan { op, stacks, inputs, suggested, sizes, axis, elements: core::marker::PhantomData })
    }

    /// Whether pieces are stacked along a new axis that is not the last.
    pub(super) fn divides_an_axis(&self) -> bool {
        self.stacks && self.axis + 1 < T::RANK
    }

    /// Adds a piece, and converts it if it has another dtype.
    pub(super) fn push<E: CastTo<O>>(&mut self, piece: View<'_, D::Storage, E>) -> Result<()> {
        let (sizes, strides) = (piece.sizes.to_vec(), piece.strides.to_vec());
        self.suggested.push(suggested(&sizes, &strides, self.divides_an_axis().then_some(self.axis)));
        self.inputs.push(if E::DTYPE == O::DTYPE {
            let (storage, offset) = D::share(piece);
            JoinInput { storage, offset, sizes, strides }
        } else {
            let strides = MemoryFormat::PRESERVE.copied(self.op, &sizes, &strides)?;
            JoinInput { storage: D::map1::<E, O>(Casting, piece, &strides)?, offset: 0, sizes, strides }
        });
        Ok(())
    }

    pub(super) fn finish(self) -> Result<Tensor<O, T, D>> {
        let views: Vec<View<'_, D::Storage, O>> = self.inputs.iter().map(JoinInput::elements).collect();
        let (sizes, row_major) = (self.sizes.as_ref(), strides::contiguous(&self.sizes));
        let strides = match memory_format::joined(&self.suggested) {
            MemoryFormat::CONTIGUOUS => row_major,
            _ if self.divides_an_axis() => T::Sizes::copied(&memory_format::stacked(sizes, self.axis, &self.suggested)),
            format => T::Sizes::copied(&format.copied(self.op, sizes, row_major.as_ref())?),
        };
        if strides == row_major {
            let storage = D::join(&views, self.axis, sizes, strides.as_ref())?;
            return Ok(Tensor::from_parts(storage, 0, self.sizes, strides));
        }
        // With its axes sorted by stride the result is row-major.
        let order = strides::from_outermost(strides.as_ref());
        let reordered = |of: &[usize]| strides::reordered(of, &order);
        let layouts: Vec<_> = views.iter().map(|view| (reordered(view.sizes), reordered(view.strides))).collect();
        let views: Vec<_> =
            views.into_iter().zip(&layouts).map(|(view, (sizes, strides))| view.restrided(sizes, strides)).collect();
        let axis = order.iter().position(|&axis| axis == self.axis).unwrap_or(0);
        let storage = D::join(&views, axis, &reordered(sizes), &reordered(strides.as_ref()))?;
        Ok(Tensor::from_parts(storage, 0, self.sizes, strides))
    }
}

/// The sizes and strides of a piece with the new axis, of size 1, inserted.
pub(super) fn with_new_axis(sizes: &[usize], strides: &[usize], axis: usize) -> (Vec<usize>, Vec<usize>) {
    ([&sizes[..axis], &[1], &sizes[axis..]].concat(), [&strides[..axis], &[1], &strides[axis..]].concat())
}
