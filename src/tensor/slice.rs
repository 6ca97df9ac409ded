//! `slice`: positions, ranges and new axes for all axes at once, as a view.

use super::moving::fallible;
use super::{Tensor, expect_fit};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::shape::slicing::{Items, Selection, Slice};
use crate::shape::{Shape, SizeArray};

/// The positions of an axis that a slice keeps: `len` of them, `step` apart.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) first: usize,
    pub(crate) len: usize,
    pub(crate) step: usize,
    /// Whether the axis disappears.
    pub(crate) is_one: bool,
}

/// What an item keeps of an axis.
fn kept(selection: Selection, axis: usize, size: usize) -> Result<Kept> {
    let op = "slice";
    match selection {
        Selection::Whole | Selection::New | Selection::Rest => Ok(Kept { first: 0, len: size, step: 1, is_one: false }),
        Selection::At(index) => match on_axis(index, size).filter(|&at| at < size) {
            Some(first) => Ok(Kept { first, len: 1, step: 1, is_one: true }),
            None => Err(Error::IndexValue { op, index: index as i64, axis, size }),
        },
        Selection::Between { start, end, step } => {
            // As in PyTorch a bound beyond the axis is its end.
            let clamp = |at: isize| on_axis(at, size).unwrap_or(0).min(size);
            let (first, end) = (start.map_or(0, clamp), end.map_or(size, clamp));
            match usize::try_from(step) {
                Ok(step @ 1..) => {
                    Ok(Kept { first, len: end.saturating_sub(first).div_ceil(step), step, is_one: false })
                }
                _ => {
                    let reason = format!("the step of a range must be positive, not {step}");
                    Err(Error::InvalidArgument { op, reason })
                }
            }
        }
    }
}

/// Shows for each item what it keeps of which axis, and `None` for new axes.
fn each(items: &dyn Items, sizes: &[usize], mut see: impl FnMut(usize, Option<Kept>)) -> Result<()> {
    let takes = |selection: Selection| usize::from(!matches!(selection, Selection::New | Selection::Rest));
    let mut named = 0;
    items.each(&mut |selection| named += takes(selection));
    let (mut axis, mut wrong) = (0, None);
    let whole = |axis: &mut usize, count: usize, see: &mut dyn FnMut(usize, Option<Kept>)| {
        for _ in 0..count {
            see(*axis, Some(Kept { first: 0, len: sizes[*axis], step: 1, is_one: false }));
            *axis += 1;
        }
    };
    items.each(&mut |selection| match selection {
        Selection::New => see(axis, None),
        // The types have counted the axes.
        Selection::Rest => whole(&mut axis, sizes.len() - named, &mut see),
        _ => {
            match kept(selection, axis, sizes[axis]) {
                Ok(kept) => see(axis, Some(kept)),
                Err(error) => wrong = Some(error),
            }
            axis += 1;
        }
    });
    let left = sizes.len() - axis;
    whole(&mut axis, left, &mut see);
    wrong.map_or(Ok(()), Err)
}

/// Sizes, strides and first element (any, if there is none) of a slice. There are as many places for sizes and strides as the slice has axes.
fn cut(
    items: &dyn Items,
    (sizes, strides): (&[usize], &[usize]),
    (to_sizes, to_strides): (&mut [usize], &mut [usize]),
) -> Result<usize> {
    let (mut start, mut to) = (0_usize, 0);
    each(items, sizes, |axis, kept| {
        let (size, stride) = match kept {
            // PyTorch gives the new axis the stride of a row-major tensor.
            None => (1, sizes.get(axis).map_or(1, |&size| size.wrapping_mul(strides[axis]))),
            Some(kept) => {
                start = start.wrapping_add(kept.first.wrapping_mul(strides[axis]));
                if kept.is_one {
                    return;
                }
                // With one position nothing is reached through the stride.
                (kept.len, strides[axis].saturating_mul(kept.step))
            }
        };
        (to_sizes[to], to_strides[to]) = (size, stride);
        to += 1;
    })?;
    Ok(start)
}

/// The positions that a slice keeps of each axis.
pub(super) fn kept_of(items: &dyn Items, sizes: &[usize]) -> Result<Vec<Kept>> {
    let mut all = Vec::new();
    each(items, sizes, |_, kept| all.extend(kept))?;
    Ok(all)
}

/// Whether two slices of one tensor have an element in common: a position in common on every axis.
pub(crate) fn meet(a: &[Kept], b: &[Kept]) -> bool {
    // (The axes beside an empty one may have more positions than anybody counts.)
    if a.iter().chain(b).any(|kept| kept.len == 0) {
        return false;
    }
    a.iter().zip(b).all(|(a, b)| {
        let (few, many) = if a.len <= b.len { (a, b) } else { (b, a) };
        let mut positions = (0..few.len).map(|at| few.first + at * few.step);
        positions.any(|at| {
            at.checked_sub(many.first).is_some_and(|from| from % many.step == 0 && from / many.step < many.len)
        })
    })
}

/// A position counted from the start; `None` if it comes before it.
fn on_axis(at: isize, size: usize) -> Option<usize> {
    match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) => size.checked_sub(at.unsigned_abs()),
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    fallible! {
        /// Positions, ranges and new axes, written with [`s!`](crate::s!), as a view (`x[1:3, None, ::2, 0]`).
        ///
        /// # Errors
        /// If a position is out of range, a step is not positive, or a range of literals is longer than an axis whose size is known
        /// at run time.
        ///
        /// ```
        /// use castiron::{s, shape, tensor, Tensor};
        /// let x = tensor![[1, 2, 3, 4], [5, 6, 7, 8]];
        /// let y: Tensor<i64, shape![2, 2]> = x.slice(s![.., 1..3]);
        /// assert_eq!(y.to_vec(), [2, 3, 6, 7]);
        /// let last: Tensor<i64, shape![2]> = x.slice(s![-1, ..;2]);
        /// assert_eq!(last.to_vec(), [5, 7]);
        /// assert!(last.shares_storage(&x));
        /// ```
        slice try_slice<{I: Items} I, {T: Shape} T>(&self, items: I) -> Tensor<E, T, D>
        where [S: Slice<I, Output = T>] {
            let (mut sizes, mut strides) = (T::Sizes::filled(0), T::Sizes::filled(0));
            let (own, steps) = (self.shape(), self.stride());
            let start = cut(&items, (own.as_ref(), steps.as_ref()), (sizes.as_mut(), strides.as_mut()))?;
            expect_fit::<T>("slice", sizes.as_ref())?;
            Ok(self.restrided(start, sizes, strides))
        }
    }
}
