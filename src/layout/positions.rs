//! Positions along an axis: negative ones count from the end, ranges are clipped to the axis, slices keep some.

use crate::error::{Error, Result, invalid};

/// A position counted from the start; `None` if it is before the start.
#[inline]
pub(crate) fn from_end(at: i64, size: usize) -> Option<usize> {
    match usize::try_from(at) {
        Ok(at) => Some(at),
        Err(_) if at > 0 => Some(usize::MAX),
        Err(_) => size.checked_sub(usize::try_from(at.unsigned_abs()).ok()?),
    }
}

/// A bound of a range, clamped to the axis like Python's slices.
#[inline]
pub(crate) fn clamped(at: i64, size: usize) -> usize {
    from_end(at, size).unwrap_or(0).min(size)
}

/// Checks that a position is in range.
#[inline]
pub(crate) fn expect_index(op: &'static str, index: usize, axis: usize, size: usize) -> Result<()> {
    if index < size { Ok(()) } else { Err(Error::IndexOutOfRange { op, index, axis, size }) }
}

/// A position in range, which may count from the end if negative.
#[inline]
pub(crate) fn index_from_end(op: &'static str, index: i64, axis: usize, size: usize) -> Result<usize> {
    from_end(index, size).filter(|&at| at < size).ok_or(Error::IndexValue { op, index, axis, size })
}

/// A position along an axis: a nonnegative integer, or a negative one, where -1 is the last position.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position along an axis",
    label = "expected an integer: from 0 on, or a negative one, counted from the end",
    note = "several positions are picked by `index_select` and `narrow`, or as `slice(s![1..3])`"
)]
pub trait AxisPosition: Copy + sealed::Sealed {
    /// The position counted from the start.
    #[doc(hidden)]
    fn counted(self, op: &'static str, axis: usize, size: usize) -> Result<usize>;
}
mod sealed {
    pub trait Sealed {}
}
impl sealed::Sealed for usize {}
impl AxisPosition for usize {
    #[inline]
    fn counted(self, op: &'static str, axis: usize, size: usize) -> Result<usize> {
        expect_index(op, self, axis, size).map(|()| self)
    }
}
macro_rules! counted_from_the_end_too {
    ($($integer:ty),*) => {$(
        impl sealed::Sealed for $integer {}
        impl AxisPosition for $integer {
            #[inline]
            fn counted(self, op: &'static str, axis: usize, size: usize) -> Result<usize> {
                index_from_end(op, self as i64, axis, size)
            }
        }
    )*};
}
counted_from_the_end_too!(i32, i64, isize);

/// Checks that `len` positions from `start` on are in range.
#[inline]
pub(crate) fn expect_range(op: &'static str, start: usize, len: usize, axis: usize, size: usize) -> Result<()> {
    if start.checked_add(len).is_some_and(|end| end <= size) {
        return Ok(());
    }
    let index = if start > size { start } else { start.saturating_add(len) };
    Err(Error::IndexOutOfRange { op, index, axis, size })
}

/// The positions of an axis that a slice keeps: `len` of them, `step` apart.
#[derive(Clone, Copy)]
pub(crate) struct Kept {
    pub(crate) first: usize,
    pub(crate) len: usize,
    pub(crate) step: usize,
    /// Whether the axis is removed.
    pub(crate) is_one: bool,
}

impl Kept {
    /// All positions.
    #[inline]
    pub(crate) fn whole(size: usize) -> Kept {
        Kept { first: 0, len: size, step: 1, is_one: false }
    }

    /// One position; the axis is removed.
    #[inline]
    pub(crate) fn one(op: &'static str, index: i64, axis: usize, size: usize) -> Result<Kept> {
        Ok(Kept { first: index_from_end(op, index, axis, size)?, len: 1, step: 1, is_one: true })
    }

    /// `start..end` with step `step`, like Python's slices.
    #[inline]
    pub(crate) fn between(op: &'static str, [start, end]: [Option<i64>; 2], step: i64, size: usize) -> Result<Kept> {
        let (first, end) = (start.map_or(0, |at| clamped(at, size)), end.map_or(size, |at| clamped(at, size)));
        match usize::try_from(step) {
            Ok(step @ 1..) => Ok(Kept { first, len: end.saturating_sub(first).div_ceil(step), step, is_one: false }),
            _ => invalid(op, format!("the step of a range must be positive, not {step}")),
        }
    }
}

/// Whether two slices of one tensor have a common element: a common position on every axis.
pub(crate) fn meet(a: &[Kept], b: &[Kept]) -> bool {
    // (With an empty axis, the other axes may be too large to count.)
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

#[cfg(test)]
mod tests {
    use super::{Kept, meet};

    #[test]
    fn slices_meet_where_they_have_a_position_in_common() {
        let all = || (0..4).flat_map(|first| (0..4).flat_map(move |len| (1..4).map(move |step| (first, len, step))));
        for (a, b) in all().flat_map(|a| all().map(move |b| (a, b))) {
            let positions = |(first, len, step): (usize, usize, usize)| (0..len).map(move |at| first + at * step);
            let common = positions(a).any(|at| positions(b).any(|other| other == at));
            let kept = |(first, len, step)| [Kept { first, len, step, is_one: false }];
            assert_eq!(meet(&kept(a), &kept(b)), common, "{a:?} {b:?}");
        }
    }
}
