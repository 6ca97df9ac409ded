//! Splitting an axis: `split`, `chunk`, `tensor_split` as ranges of positions.

use super::positions::clamped;
use crate::error::{Result, invalid};
use core::ops::Range;

/// The ranges between these ends, one after the other.
#[inline]
pub(crate) fn between(ends: impl Iterator<Item = usize>) -> impl Iterator<Item = Range<usize>> {
    let mut start = 0;
    ends.map(move |end| {
        let part = start..end.max(start);
        start = end;
        part
    })
}

/// `count` parts of `size` positions, clipped to the axis.
#[inline]
fn of_size(count: usize, size: usize, whole: usize) -> impl Iterator<Item = Range<usize>> {
    between((0..count).map(move |part| (part + 1).saturating_mul(size).min(whole)))
}

/// Parts of `size` positions; the last one may be smaller.
#[inline]
pub(crate) fn split(op: &'static str, whole: usize, size: usize) -> Result<impl Iterator<Item = Range<usize>>> {
    if size == 0 && whole > 0 {
        return invalid(op, format!("an axis of size {whole} can't be cut into parts of size 0"));
    }
    // An empty axis is one part.
    Ok(of_size(if whole == 0 { 1 } else { whole.div_ceil(size) }, size, whole))
}

/// At most `chunks` parts of equal size; an empty axis has exactly `chunks`.
#[inline]
pub(crate) fn chunk(op: &'static str, whole: usize, chunks: usize) -> Result<impl Iterator<Item = Range<usize>>> {
    if chunks == 0 {
        return invalid(op, "there must be at least one chunk".to_owned());
    }
    let size = whole.div_ceil(chunks);
    Ok(of_size(if size == 0 { chunks } else { whole.div_ceil(size) }, size, whole))
}

/// `sections` parts, whose sizes differ by at most 1.
#[inline]
pub(crate) fn sections(op: &'static str, whole: usize, sections: usize) -> Result<impl Iterator<Item = Range<usize>>> {
    if sections == 0 {
        return invalid(op, "there must be at least one section".to_owned());
    }
    let (least, larger) = (whole / sections, whole % sections);
    Ok(between((0..sections).map(move |part| (part + 1) * least + (part + 1).min(larger))))
}

/// Parts of these sizes, which must add up to the axis.
#[inline]
pub(crate) fn of_sizes<'a>(
    op: &'static str,
    axis: usize,
    whole: usize,
    sizes: &'a [usize],
) -> Result<impl Iterator<Item = Range<usize>> + 'a> {
    if sizes.iter().try_fold(0_usize, |sum, &size| sum.checked_add(size)) != Some(whole) {
        return invalid(op, format!("sizes {sizes:?} do not add up to {whole}, the size of axis {axis}"));
    }
    let mut end = 0;
    Ok(between(sizes.iter().map(move |size| {
        end += size;
        end
    })))
}

/// The parts before, between and after these positions, which are clipped to the axis.
#[inline]
pub(crate) fn at_positions(whole: usize, positions: impl Iterator<Item = i64>) -> impl Iterator<Item = Range<usize>> {
    between(positions.map(move |at| clamped(at, whole)).chain([whole]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_up_the_axis() {
        let lens = |parts: Vec<Range<usize>>| parts.iter().map(Range::len).collect::<Vec<_>>();
        for whole in 0..12 {
            for count in 1..8 {
                for parts in [
                    split("split", whole, count).unwrap().collect::<Vec<_>>(),
                    chunk("chunk", whole, count).unwrap().collect(),
                    sections("tensor_split", whole, count).unwrap().collect(),
                ] {
                    let all: Vec<usize> = parts.iter().cloned().flatten().collect();
                    assert_eq!(all, (0..whole).collect::<Vec<_>>(), "{whole} in {count}");
                }
                let equal = lens(split("split", whole, count).unwrap().collect());
                assert!(
                    equal.iter().rev().skip(1).all(|&len| len == count) && equal.len() == whole.div_ceil(count).max(1)
                );
                let sections = lens(sections("tensor_split", whole, count).unwrap().collect());
                assert_eq!(sections.len(), count);
                assert!(sections.iter().max().unwrap() - sections.iter().min().unwrap() <= 1);
            }
        }
        assert_eq!(chunk("chunk", 0, 3).unwrap().collect::<Vec<_>>(), [0..0, 0..0, 0..0]);
        assert_eq!(of_sizes("split", 0, 5, &[2, 0, 3]).unwrap().collect::<Vec<_>>(), [0..2, 2..2, 2..5]);
        assert!(of_sizes("split", 0, 5, &[usize::MAX, 6]).is_err());
        assert!(of_sizes("split", 0, 5, &[2, 2]).is_err());
        assert!(split("split", 5, 0).is_err());
        assert!(chunk("chunk", 5, 0).is_err());
        assert!(sections("s", 5, 0).is_err());
        assert_eq!(
            split("split", usize::MAX, usize::MAX - 1).unwrap().map(|part| part.len()).collect::<Vec<_>>(),
            [usize::MAX - 1, 1]
        );
        let at = |positions: &[i64]| at_positions(5, positions.iter().copied()).collect::<Vec<_>>();
        assert_eq!(at(&[2, -1]), [0..2, 2..4, 4..5]);
        assert_eq!(at(&[4, 1, i64::MAX, i64::MIN]), [0..4, 4..4, 1..5, 5..5, 0..5]);
    }
}
