//! What sizes and strides reach: the bounds check of every view, and whether two positions can share an element.
//!
//! Uses errors; used wherever a tensor, a view or a kernel's view is made.

use crate::error::{Result, invalid};

/// One past the farthest element from the offset: how long a buffer must be at least. 0 where there are no elements, whatever the
/// other sizes and the strides are.
pub fn span(sizes: &[usize], strides: &[usize]) -> Option<usize> {
    if sizes.contains(&0) {
        return Some(0);
    }
    let mut last = 0_usize;
    for (&size, &stride) in sizes.iter().zip(strides) {
        last = last.checked_add((size - 1).checked_mul(stride)?)?;
    }
    last.checked_add(1)
}

/// Whether all that sizes and strides reach from element `offset` on lies in a storage of `room` elements (`None`: one that holds no
/// elements, which has room for all that `usize` counts).
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_within(sizes: &[usize], strides: &[usize], offset: usize, room: Option<usize>) -> bool {
    // Without branches: every tensor that is made comes through here. `last` is the place of the farthest element.
    let (mut last, mut overflows, mut is_empty) = (offset, false, false);
    for (&size, &stride) in sizes.iter().zip(strides) {
        let (steps, beyond) = size.wrapping_sub(1).overflowing_mul(stride);
        let (next, too_far) = last.overflowing_add(steps);
        last = next;
        overflows |= beyond | too_far;
        is_empty |= size == 0;
    }
    is_empty | (!overflows & (last < room.unwrap_or(usize::MAX)))
}

/// The bounds check of `as_strided`, whatever the kind of tensor, and of views over slices: [`is_within`], or the error.
pub(crate) fn expect_within(
    op: &'static str,
    sizes: &[usize],
    strides: &[usize],
    offset: usize,
    room: Option<usize>,
) -> Result<()> {
    if is_within(sizes, strides, offset, room) {
        return Ok(());
    }
    let room = room.map_or("any storage".to_owned(), |room| format!("a storage of {room} elements"));
    let reason = format!("sizes {sizes:?} and strides {strides:?} from element {offset} on reach beyond {room}");
    invalid(op, reason)
}

/// Sizes and strides that lead to the same places in fewer steps: a place that is repeated (`expand`) or that windows share is met
/// once, and axes that run on into one another are one.
///
/// The places `{i * s: i < n}` and `{j * c * s: j < k}` put together are `{m * s: m < n + c * (k - 1)}` where `c <= n`.
pub(crate) fn places(sizes: &[usize], strides: &[usize]) -> (Vec<usize>, Vec<usize>) {
    if sizes.contains(&0) {
        return (vec![0], vec![1]);
    }
    let mut axes: Vec<(usize, usize)> =
        strides.iter().copied().zip(sizes.iter().copied()).filter(|&(stride, size)| stride != 0 && size > 1).collect();
    axes.sort_unstable();
    let (mut sizes, mut strides): (Vec<usize>, Vec<usize>) = (Vec::new(), Vec::new());
    for (stride, size) in axes {
        match (sizes.last_mut(), strides.last()) {
            (Some(places), Some(&unit)) if stride.is_multiple_of(unit) && stride / unit <= *places => {
                *places += stride / unit * (size - 1);
            }
            _ => {
                sizes.push(size);
                strides.push(stride);
            }
        }
    }
    (sizes, strides)
}

/// The strides of another library, if they lead forward alone, as those of tensors do. Where an axis has one position or none, its stride
/// leads nowhere and may be any number: one that no memory has becomes 0.
#[cfg(any(feature = "ndarray", feature = "dlpack"))]
pub(crate) fn forward(sizes: &[usize], strides: impl Iterator<Item = i64>) -> Option<Vec<usize>> {
    let forward = |(&size, stride): (&usize, i64)| match usize::try_from(stride).ok() {
        own if size > 1 => own,
        own => Some(own.filter(|&own| own <= isize::MAX as usize / 16).unwrap_or(0)),
    };
    sizes.iter().zip(strides).map(forward).collect()
}

/// Whether there are elements between those that sizes and strides reach.
#[cfg(any(feature = "ndarray", feature = "dlpack"))]
pub(crate) fn has_gaps(sizes: &[usize], strides: &[usize]) -> bool {
    let (sizes, strides) = places(sizes, strides);
    !sizes.contains(&0) && !matches!(strides[..], [] | [1])
}

/// Whether no two positions share a place, as far as strides tell: each reaches beyond all that the smaller ones span.
pub(crate) fn has_places(sizes: &[usize], strides: &[usize]) -> bool {
    let mut axes: Vec<(usize, usize)> =
        strides.iter().copied().zip(sizes.iter().copied()).filter(|of| of.1 > 1).collect();
    axes.sort_unstable();
    let mut span = 1_usize;
    sizes.contains(&0)
        || axes.into_iter().all(|(stride, size)| {
            let fits = stride >= span;
            // The elements were counted, so this does not wrap where it fits.
            span = span.wrapping_add(stride.wrapping_mul(size - 1));
            fits
        })
}
