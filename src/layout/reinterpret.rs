//! The rules of views with another dtype: complex numbers as pairs and their parts, bits as other elements.

use super::{Geometry, ViewAxes};
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};

impl Geometry<'_> {
    /// Part `at` of elements that consist of `per` parts each.
    #[inline]
    pub(crate) fn part(self, per: usize, at: usize, mut view: ViewAxes<'_>) -> usize {
        view.copy(self);
        view.strides[..self.sizes.len()].iter_mut().for_each(|stride| *stride = stride.wrapping_mul(per));
        self.offset.wrapping_mul(per).wrapping_add(at)
    }

    /// Complex elements as pairs of real ones along a new last axis.
    #[inline]
    pub(crate) fn pairs(self, mut view: ViewAxes<'_>) -> usize {
        view.set(self.sizes.len(), 2, 1);
        self.part(2, 0, view)
    }

    /// Pairs of real elements along the last axis as complex ones.
    #[inline]
    pub(crate) fn paired(self, op: &'static str, view: ViewAxes<'_>) -> Result<usize> {
        let Geometry { offset, sizes, strides } = self;
        match (sizes.split_last(), strides.split_last()) {
            (Some((2, kept)), Some((1, rest)))
                if offset.is_multiple_of(2) && rest.iter().all(|stride| stride.is_multiple_of(2)) =>
            {
                view.sizes.copy_from_slice(kept);
                view.strides.iter_mut().zip(rest).for_each(|(to, stride)| *to = stride / 2);
                Ok(offset / 2)
            }
            _ => {
                let reason = format!(
                    "the last axis must have size 2 and stride 1, and other strides and the offset must be even: got sizes {sizes:?}, \
                     strides {strides:?} and offset {offset}"
                );
                invalid(op, reason)
            }
        }
    }

    /// The bits as elements of another dtype, which changes the size of the last axis.
    pub(crate) fn bits(self, op: &'static str, [from, to]: [DType; 2], mut view: ViewAxes<'_>) -> Result<usize> {
        view.copy(self);
        let (old, new) = (from.itemsize(), to.itemsize());
        if old == new {
            return Ok(self.offset);
        }
        let (Some(last), Some((&unit, strides))) = (view.sizes.last_mut(), self.strides.split_last()) else {
            return invalid(op, "a zero-dim tensor is seen as elements of the same size only".to_owned());
        };
        if unit != 1 {
            return invalid(op, format!("the last stride must be 1 to see {from} as {to}, not {unit}"));
        }
        let to_strides = view.strides.iter_mut().zip(strides);
        if old > new {
            let ratio = old / new;
            *last = last.checked_mul(ratio).ok_or_else(|| Error::TooLarge { op, sizes: self.sizes.into() })?;
            to_strides.for_each(|(to, stride)| *to = stride.saturating_mul(ratio));
            return Ok(self.offset.wrapping_mul(ratio));
        }
        let ratio = new / old;
        let fits = |number: &usize| number.is_multiple_of(ratio);
        if !fits(last) || !fits(&self.offset) || !strides.iter().all(fits) {
            return invalid(
                op,
                format!(
                    "the last size, the offset and all strides but the last must be divisible by {ratio} to see {from} as {to}: got sizes \
                 {:?}, offset {} and strides {:?}",
                    self.sizes, self.offset, self.strides
                ),
            );
        }
        *last /= ratio;
        to_strides.for_each(|(to, stride)| *to = stride / ratio);
        Ok(self.offset / ratio)
    }
}
