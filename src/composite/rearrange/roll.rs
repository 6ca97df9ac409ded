//! Elements shifted along axes: `roll`.

use super::flip::indices;
use super::segments::rolled;
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, filled, invalid, listed};
use crate::shape::{AxisList, Shifts as _};
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Elements shifted in row-major order, those beyond the end coming in at the start. For `AnyTensor` there may be axes, along which
    /// they are shifted, one shift for each; without axes there is one shift.
    ///
    /// Shape: that of `self`.
    ///
    /// # Errors
    /// If an axis is out of range, or there are not as many shifts as axes.
    #[op(roll(input, shifts, dims = vec![]))]
    #[any(by_width, dims: &[i64] = &self.shifted_axes(dims)?)]
    #[typed((&self, shift: isize) -> Self; shifts = &[shift as i64], dims = &[])]
    #[example(let x = tensor![[1, 2], [3, 4]]; x.roll(1), x.roll(&[1], &[]), tensor![[4, 1], [2, 3]])]
    pub(crate) fn roll(&self, shifts: &[i64], dims: &[usize]) -> Result<Owned<E, D>> {
        let op = "roll";
        if let (&[shift], []) = (shifts, dims) {
            let numel = self.numel();
            let line = self.reshape(op, &[numel])?;
            let (storage, ..) = line.assembled(op, &[rolled(numel, shift.into())], E::default())?.into_parts();
            return Ok(Erased::dense(storage, self.dims()));
        }
        if shifts.is_empty() || shifts.len() != dims.len() {
            return invalid(op, format!("{} shifts do not go with {} axes", shifts.len(), dims.len()));
        }
        self.shifted(op, dims.iter().copied().zip(shifts.iter().copied()))
    }

    /// Elements shifted along axes, those beyond the end coming in at the start: one shift for one axis, an array for several.
    #[op(roll)]
    #[any(by_hand)]
    #[typed(<A: AxisList<S>>(&self, axes: A, shifts: A::Shifts) -> Self;
        shifts = &listed(shifts.shifts().iter().map(|&shift| shift as i64))?, dims = indices::<S, A>(axes))]
    #[example(let x = tensor![[1, 2, 3], [4, 5, 6]]; x.roll_axis(axis![1], 1), x.roll(&[1], &[1]), tensor![[3, 1, 2], [6, 4, 5]])]
    #[example(let x = tensor![[1, 2, 3], [4, 5, 6]]; x.roll_axis(axis![0, 1], [1, -1]), x.roll(&[1, -1], &[0, 1]), tensor![[5, 6, 4], [2, 3, 1]])]
    pub(crate) fn roll_axis(&self, shifts: &[i64], dims: &[usize]) -> Result<Owned<E, D>> {
        self.roll(shifts, dims)
    }

    /// Shifted along axes; shifts along one axis add up.
    pub(crate) fn shifted(&self, op: &'static str, shifts: impl Iterator<Item = (usize, i64)>) -> Result<Owned<E, D>> {
        let mut sums = filled(0_i128, self.rank())?;
        for (at, shift) in shifts {
            // A zero-dim tensor counts as one axis of size 1, which stays as it is.
            if let Some(sum) = sums.get_mut(at) {
                // Both terms are far from the limits.
                *sum = (*sum + i128::from(shift)) % (self.sizes()[at].max(1) as i128);
            }
        }
        let axes = listed(self.sizes().iter().zip(sums).map(|(&size, shift)| rolled(size, shift)))?;
        self.assembled_in_format(op, &axes, E::default())
    }
}
