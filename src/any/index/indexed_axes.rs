//! A tensor with index tensors along some of its axes: these axes made adjacent, and the positions of the indices.

use crate::any::base::by_width::signed;
use crate::any::base::operand::{broadcast_to, result_strides, same_device};
use crate::any::elementwise::apply::SCALAR;
use crate::any::{AnyTensor, Dims};
use crate::device::{AnyDevice, DynamicBuffer};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::layout::dims::MOST;
use crate::layout::strides;
use crate::tensor::places;

/// Advanced indexing: index tensors along some axes, and the tensor permuted so that these axes are adjacent.
pub(super) struct IndexedAxes {
    /// The tensor with the indexed axes adjacent.
    pub(super) turned: AnyTensor,
    /// The permutation that was applied, if any.
    pub(super) order: Option<Vec<usize>>,
    /// The sizes before the axes, the number of positions along them, and the sizes after them.
    pub(super) before: Vec<usize>,
    pub(super) outer: usize,
    pub(super) after: Vec<usize>,
    /// The positions, and the sizes they have.
    pub(super) positions: AnyTensor,
    pub(super) sizes: Vec<usize>,
    /// The indexed axis if there is one only: its positions are the indices, negative ones counted from the end.
    pub(super) lone: Option<usize>,
}

impl IndexedAxes {
    /// From a tensor and the indices along its axes, which are in order.
    pub(super) fn new(op: &'static str, x: &AnyTensor, indices: &[(usize, AnyTensor)]) -> Result<Self> {
        let axes: Vec<usize> = indices.iter().map(|(axis, _)| *axis).collect();
        let none = crate::any::Dims::new(op, &[])?;
        let sizes = indices.iter().try_fold(none, |sizes, (_, index)| broadcast_to(op, &sizes, &index.sizes))?;
        for (_, index) in indices {
            // As in PyTorch, index tensors on the host go with a tensor on any device with elements.
            if !(x.has_data() && index.device() == AnyDevice::CPU) {
                same_device(op, x, index)?;
            }
        }
        let adjacent = axes.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let rest = (0..x.rank()).filter(|axis| !axes.contains(axis));
        let order: Option<Vec<usize>> = (!adjacent).then(|| axes.iter().copied().chain(rest).collect());
        let turned = match &order {
            Some(order) => x.permute(&order.iter().map(|&axis| axis as i64).collect::<Vec<_>>())?,
            None => x.clone(),
        };
        let start = if adjacent { axes.first().copied().unwrap_or(0) } else { 0 };
        let (before, rest) = turned.sizes.split_at(start);
        let (own, after) = rest.split_at(axes.len());
        let (before, own, after) = (before.to_vec(), own.to_vec(), after.to_vec());
        let outer = own.iter().product();
        let has_positions = x.has_data() && !(outer > 0 && (before.contains(&0) || after.contains(&0)));
        let on_host = x.device() == AnyDevice::CPU && indices.iter().all(|(_, index)| index.device() == AnyDevice::CPU);
        // The indices are checked even if nothing is read, and, if they are broadcast, before memory is allocated.
        let lone = match indices {
            [(axis, index)]
                if on_host && has_positions && outer > 0 && !index.is_empty() && index.expect_memory().is_ok() =>
            {
                Some(*axis)
            }
            _ => None,
        };
        let positions = if let (Some(_), [(_, index)]) = (lone, indices) {
            index.clone()
        } else if !x.has_data() {
            AnyTensor::meta(&sizes, DType::I64)?
        } else if outer > 0 && (before.contains(&0) || after.contains(&0)) {
            // Nothing is read or written, so PyTorch does not check the indices.
            AnyTensor::zeros_on(&sizes, DType::I64, x.device())?
        } else if let Some(places) = on_gpu(x, indices, &own, &sizes)? {
            places
        } else {
            let spread = indices.iter().map(|(_, index)| index.expanded_to(&sizes)?.to_ints(op));
            let places = places(op, spread, &own).map_err(|error| outside(op, indices, &own).unwrap_or(error));
            AnyTensor::of_ints(places.map_err(|error| at_axis(error, &axes))?, &sizes)?.to_device(x.device())?
        };
        Ok(IndexedAxes { turned, order, before, outer, after, positions, sizes: sizes.to_vec(), lone })
    }

    /// The tensor as `[before, outer, after]`.
    pub(super) fn as_three_axes(&self) -> Result<AnyTensor> {
        let product = |sizes: &[usize]| sizes.iter().product::<usize>() as i64;
        self.turned.reshaped(&[product(&self.before), self.outer as i64, product(&self.after)])
    }

    /// The positions expanded to the other axes.
    pub(super) fn along(&self, op: &'static str, cube: &AnyTensor) -> Result<AnyTensor> {
        cube.index_along_axis(op, 1, &self.positions.reshaped(&[self.positions.numel() as i64])?, None)
    }

    /// Names the axis in an error as the caller counts it.
    pub(super) fn named<T>(&self, result: Result<T>) -> Result<T> {
        match self.lone {
            Some(axis) => result.map_err(|error| at_axis(error, &[axis; MOST])),
            None => result,
        }
    }

    /// The sizes of the elements that are read or written.
    pub(super) fn whole(&self) -> Vec<usize> {
        [&self.before[..], &self.sizes, &self.after].concat()
    }

    pub(super) fn read(&self, op: &'static str) -> Result<AnyTensor> {
        crate::any::Dims::new(op, &self.whole())?;
        let (cube, whole) = (self.as_three_axes()?, self.whole());
        let gathered = cube.gathered(op, 1, &self.along(op, &cube)?, self.lone.is_some());
        let result = self.named(gathered)?.reshaped(&signed(&whole))?;
        // The strides are PyTorch's: those of an elementwise result of the tensor (stride 0 at the indices) and the indices.
        let (before, rest) = self.turned.strides.split_at(self.before.len());
        let (here, none) = (vec![0; self.sizes.len()], |of: &[usize]| vec![0; of.len()]);
        let own = [before, &here, &rest[rest.len() - self.after.len()..]].concat();
        let indices = [none(&self.before), strides::row_major(&self.sizes), none(&self.after)].concat();
        let to = result_strides(&whole, &[(&whole, &own, false), (&whole, &indices, false), SCALAR]);
        if result.strides == to { Ok(result) } else { result.copied(&to) }
    }
}

/// The positions of the indices, computed on a GPU.
fn on_gpu(x: &AnyTensor, indices: &[(usize, AnyTensor)], own: &[usize], sizes: &Dims) -> Result<Option<AnyTensor>> {
    if !x.is_on_gpu() {
        return Ok(None);
    }
    crate::any::index::on_gpu::positions(x.device(), indices, own, sizes)
}

/// The error for the first index out of range, if there was no room for a list of all.
fn outside(op: &'static str, indices: &[(usize, AnyTensor)], sizes: &[usize]) -> Option<Error> {
    indices.iter().zip(sizes).enumerate().find_map(|(axis, ((_, index), &size))| {
        let within = -(size as i64)..size as i64;
        let index = DynamicBuffer::find(index.elements_as::<i64>().ok()?, |index| !within.contains(&index)).ok()??;
        Some(Error::IndexValue { op, index, axis, size })
    })
}

/// Names the axis in an error as the caller counts it.
pub(crate) fn at_axis(error: Error, axes: &[usize]) -> Error {
    match error {
        Error::IndexValue { op, index, axis, size } => {
            Error::IndexValue { op, index, axis: axes.get(axis).copied().unwrap_or(axis), size }
        }
        error => error,
    }
}
