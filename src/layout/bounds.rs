//! The memory range of sizes and strides: the bounds check of every view, and whether two positions can share an element.

use crate::error::{Result, invalid};

/// The minimum buffer length from the offset on: one past the farthest element, or 0 for an empty view, whatever its other sizes and
/// strides.
/// `None` on overflow.
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

/// Whether everything that sizes and strides reach from `offset` on is inside a storage of `room` elements (`None`: a storage without
/// elements, such as `Meta`'s, limited by `usize` only), and there are no more elements than `usize` can count: places that are repeated
/// or shared by windows count each time.
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn is_within(sizes: &[usize], strides: &[usize], offset: usize, room: Option<usize>) -> bool {
    // Branch-free, because every new tensor is checked. `last` is the offset of the farthest element.
    let (mut last, mut count, mut overflows, mut is_empty) = (offset, 1_usize, false, false);
    for (&size, &stride) in sizes.iter().zip(strides) {
        let (steps, beyond) = size.wrapping_sub(1).overflowing_mul(stride);
        let (next, too_far) = last.overflowing_add(steps);
        let (more, too_many) = count.overflowing_mul(size);
        (last, count) = (next, more);
        overflows |= beyond | too_far | too_many;
        is_empty |= size == 0;
    }
    is_empty | (!overflows & (last < room.unwrap_or(usize::MAX)))
}

/// The bounds check of `as_strided` for every kind of tensor, and of views over slices: [`is_within`], or the error.
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

/// Sizes and strides that reach the same places with fewer steps: places that are repeated (`expand`) or shared by windows are visited
/// once, and contiguous axes are merged.
///
/// The union of the places `{i * s + j * c * s: i < n, j < k}` is `{m * s: m < n + c * (k - 1)}` if `c <= n`.
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

/// The strides of another library's tensor, or `None` if one is negative. The stride of an axis of size 0 or 1 is not used and may be
/// anything; an invalid one becomes 0.
#[cfg(any(feature = "ndarray", feature = "dlpack", feature = "faer"))]
pub(crate) fn forward(sizes: &[usize], strides: impl Iterator<Item = i64>) -> Option<Vec<usize>> {
    let forward = |(&size, stride): (&usize, i64)| match usize::try_from(stride).ok() {
        own if size > 1 => own,
        own => Some(own.filter(|&own| own <= isize::MAX as usize / 16).unwrap_or(0)),
    };
    sizes.iter().zip(strides).map(forward).collect()
}

/// Whether there are gaps between the elements that sizes and strides reach.
#[cfg(any(feature = "ndarray", feature = "dlpack", feature = "nalgebra", feature = "faer"))]
pub(crate) fn has_gaps(sizes: &[usize], strides: &[usize]) -> bool {
    let (sizes, strides) = places(sizes, strides);
    !sizes.contains(&0) && !matches!(strides[..], [] | [1])
}

/// Whether no two positions share a place, as far as the strides show: each stride exceeds the span of all smaller ones.
pub(crate) fn has_places(sizes: &[usize], strides: &[usize]) -> bool {
    // (Often the axes are in order already.)
    if has_places_in_order(strides.iter().copied().zip(sizes.iter().copied()).rev()) || sizes.contains(&0) {
        return true;
    }
    let mut axes: Vec<(usize, usize)> =
        strides.iter().copied().zip(sizes.iter().copied()).filter(|of| of.1 > 1).collect();
    axes.sort_unstable();
    has_places_in_order(axes.into_iter())
}
/// [`has_places`], where axes of a size have this order: `(stride, size)`.
fn has_places_in_order(mut axes: impl Iterator<Item = (usize, usize)>) -> bool {
    let mut span = 1_usize;
    axes.all(|(stride, size)| {
        let fits = stride >= span || size <= 1;
        // Existing elements have been counted, so this does not wrap for them.
        span = span.wrapping_add(stride.wrapping_mul(size.saturating_sub(1)));
        fits
    })
}
