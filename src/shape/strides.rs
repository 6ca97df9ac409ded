//! Strides at run time: contiguity, overlap, the layout of an elementwise result, merging axes for a loop.
//!
//! Strides are in elements, as in PyTorch. Uses nothing but errors; used by tensors and by every kernel's loop.

use super::SizeArray;
use crate::error::{Error, Result};

/// The number of elements; `None` where `usize` cannot count them (or the sizes of a non-empty part overflow).
pub const fn numel(sizes: &[usize]) -> Option<usize> {
    // A zero-sized axis makes the tensor empty, but the other sizes must still be countable (PyTorch: "Storage
    // size calculation overflowed" looks at the product of the non-zero ones).
    let mut product = 1_usize;
    let mut empty = false;
    let mut axis = 0;
    while axis < sizes.len() {
        if sizes[axis] == 0 {
            empty = true;
        } else {
            match product.checked_mul(sizes[axis]) {
                Some(next) => product = next,
                None => return None,
            }
        }
        axis += 1;
    }
    Some(if empty { 0 } else { product })
}

/// The most axes that the rules here take: as many as PyTorch's iterator does.
pub const MAX_RANK: usize = 64;

/// Row-major strides. As in PyTorch an axis of size 0 counts as 1, so that strides are never 0.
pub fn contiguous<A: SizeArray>(sizes: &A) -> A {
    let mut strides = A::filled(1);
    write_row_major(sizes.as_ref(), strides.as_mut());
    strides
}

/// The same for sizes of any number.
pub fn row_major(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; sizes.len()];
    write_row_major(sizes, &mut strides);
    strides
}

#[inline]
fn write_row_major(sizes: &[usize], strides: &mut [usize]) {
    let mut step = 1_usize;
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = step;
        // Cannot wrap for a tensor that exists: `numel` has counted the non-zero sizes.
        step = step.wrapping_mul(size.max(1));
    }
}

/// Whether elements lie in the order of `axes`, fastest first, without gaps. Axes of size 1 may have any stride.
pub(super) fn runs_along(axes: impl Iterator<Item = usize>, sizes: &[usize], strides: &[usize]) -> bool {
    let mut step = 1;
    for axis in axes {
        if sizes[axis] != 1 {
            if strides[axis] != step {
                return false;
            }
            step *= sizes[axis];
        }
    }
    true
}

/// Whether elements lie in row-major order without gaps (`is_contiguous`).
pub fn is_contiguous(sizes: &[usize], strides: &[usize]) -> bool {
    sizes.contains(&0) || runs_along((0..sizes.len()).rev(), sizes, strides)
}

/// The axes of a batch of images (batch, channels, height, width) in `channels_last` order, fastest first.
pub(super) const CHANNELS_LAST: [usize; 4] = [1, 3, 2, 0];

/// Whether every element has its own place and the places leave no gaps, in some order of the axes.
pub fn is_dense(sizes: &[usize], strides: &[usize]) -> bool {
    if sizes.contains(&0) {
        return true;
    }
    let mut axes: [u8; MAX_RANK] = core::array::from_fn(|axis| axis as u8);
    let axes = &mut axes[..sizes.len()];
    axes.sort_by_key(|&axis| if sizes[axis as usize] < 2 { (1, 0) } else { (0, strides[axis as usize]) });
    let mut step = 1;
    for axis in axes.iter().map(|&axis| axis as usize) {
        match sizes[axis] {
            1 => return true,
            size if strides[axis] == step => step *= size,
            _ => return false,
        }
    }
    true
}

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
#[inline(always)]
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
    Err(Error::InvalidArgument { op, reason })
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

/// The strides of an operand once it is broadcast to `sizes`: 0 along the axes where it repeats.
///
/// # Panics
/// If it does not broadcast to these sizes: the strides would lead beyond it. Whoever asks has looked at that before and returned an
/// error; loops rely on it.
pub fn broadcast(from_sizes: &[usize], from_strides: &[usize], sizes: &[usize], strides: &mut [usize]) {
    let missing = sizes.len() - from_sizes.len();
    strides[..missing].fill(0);
    for axis in 0..from_sizes.len() {
        assert!(
            from_sizes[axis] == sizes[missing + axis] || from_sizes[axis] == 1,
            "an operand of shape {from_sizes:?} does not broadcast to {sizes:?}"
        );
        let repeats = from_sizes[axis] == 1 && sizes[missing + axis] != 1;
        strides[missing + axis] = if repeats { 0 } else { from_strides[axis] };
    }
}

/// The strides of a fresh elementwise result (PyTorch's TensorIterator): the axes in the order the operands have
/// them in memory, the first operand with an opinion deciding. `operands` are strides broadcast to `sizes`; they are `alike`
/// where none needed to be (a scalar needs it, too).
///
/// Source: `aten/src/ATen/TensorIterator.cpp`, `reorder_dimensions` and `allocate_or_resize_outputs`;
/// `tests/oracle/memory_format.json`.
pub fn elementwise_result<A: SizeArray>(sizes: &A, operands: &[A], alike: bool) -> A {
    let mut strides = A::filled(0);
    write_elementwise(sizes.as_ref(), operands, alike, strides.as_mut());
    strides
}

/// [`elementwise_result`] for sizes of any number, at most [`MAX_RANK`].
pub(super) fn write_elementwise<L: AsRef<[usize]>>(
    sizes: &[usize],
    operands: &[L],
    alike: bool,
    strides: &mut [usize],
) {
    let rank = sizes.len();
    if alike && operands.iter().all(|of| is_contiguous(sizes, of.as_ref())) {
        return write_row_major(sizes, strides);
    }
    if alike && rank == 4 && operands.iter().all(|of| runs_along(CHANNELS_LAST.into_iter(), sizes, of.as_ref())) {
        return write_along(CHANNELS_LAST.into_iter(), sizes, strides);
    }
    if let [first, rest @ ..] = operands
        && alike
        && is_dense(sizes, first.as_ref())
        && rest.iter().all(|of| of.as_ref() == first.as_ref())
    {
        return strides.copy_from_slice(first.as_ref());
    }
    // Fastest axis first.
    let mut order = [0_u8; MAX_RANK];
    let order = &mut order[..rank];
    for (position, axis) in (0..rank).rev().enumerate() {
        order[position] = axis as u8;
    }
    // 1: the first axis should come after the second, -1: it is in place, 0: no operand has an opinion
    let compare = |first: u8, second: u8| -> i32 {
        let (first, second) = (first as usize, second as usize);
        for of in operands {
            let (a, b) = (of.as_ref()[first], of.as_ref()[second]);
            if a == 0 || b == 0 {
                continue;
            }
            if a != b {
                return if a < b { -1 } else { 1 };
            }
            if sizes[first] > sizes[second] {
                return 1;
            }
        }
        0
    };
    for position in 1..rank {
        let mut current = position;
        for before in (0..position).rev() {
            match compare(order[before], order[current]) {
                1 => {
                    order.swap(before, current);
                    current = before;
                }
                -1 => break,
                _ => {}
            }
        }
    }
    let order = order.iter().map(|&axis| axis as usize);
    if order.clone().rev().eq(0..rank) {
        return write_row_major(sizes, strides);
    }
    write_along(order, sizes, strides);
}

/// The strides of elements that lie in the order of `axes`, fastest first. (An empty axis makes those after it 0.)
pub(super) fn write_along(axes: impl Iterator<Item = usize>, sizes: &[usize], strides: &mut [usize]) {
    let mut step = 1_usize;
    for axis in axes {
        strides[axis] = step;
        step = step.wrapping_mul(sizes[axis]);
    }
}

/// The strides of a fresh copy that keeps the layout (PyTorch's `preserve_format`): those of the original where it leaves no
/// gaps, else as elementwise results are laid out.
pub fn preserved<A: SizeArray>(sizes: &A, strides: &A) -> A {
    let mut kept = A::filled(0);
    write_preserved(sizes.as_ref(), strides.as_ref(), kept.as_mut());
    kept
}

/// [`preserved`] for sizes of any number, at most [`MAX_RANK`].
pub(crate) fn write_preserved(sizes: &[usize], strides: &[usize], kept: &mut [usize]) {
    if is_dense(sizes, strides) {
        kept.copy_from_slice(strides);
    } else {
        write_elementwise(sizes, &[strides], true, kept);
    }
}

/// The strides of an operand that is converted before it is broadcast to `sizes`: the conversion closes the gaps.
pub fn converted<A: SizeArray>(from_sizes: &[usize], from_strides: &[usize], sizes: &A) -> A {
    let (mut kept, mut strides) = (A::filled(0), A::filled(0));
    let kept = &mut kept.as_mut()[..from_sizes.len()];
    write_preserved(from_sizes, from_strides, kept);
    broadcast(from_sizes, kept, sizes.as_ref(), strides.as_mut());
    strides
}

/// The strides that show the same elements, in row-major order, under other sizes; `None` where no strides do, so that a
/// copy is needed. The numbers of elements are equal.
///
/// Source: `aten/src/ATen/TensorUtils.cpp`, `computeStride`.
pub fn reshape<A: SizeArray>(sizes: &[usize], strides: &[usize], to: &A) -> Option<A> {
    let mut result = A::filled(1);
    write_reshaped(sizes, strides, to.as_ref(), result.as_mut()).then_some(result)
}

/// [`reshape`] for sizes of any number; whether there are such strides.
pub(crate) fn write_reshaped(sizes: &[usize], strides: &[usize], to: &[usize], result: &mut [usize]) -> bool {
    if numel(sizes) == Some(0) {
        write_row_major(to, result);
        return true;
    }
    result.fill(1);
    let Some(&last) = strides.last() else { return true };
    let mut at = to.len();
    // Chunks of axes that run on into one another must be filled by whole new axes.
    let (mut base, mut have, mut need) = (last, 1_usize, 1_usize);
    for axis in (0..sizes.len()).rev() {
        have *= sizes[axis];
        let ends = axis == 0 || (sizes[axis - 1] != 1 && strides[axis - 1] != have * base);
        if ends {
            while at > 0 && (need < have || to[at - 1] == 1) {
                at -= 1;
                result[at] = need * base;
                need *= to[at];
            }
            if need != have {
                return false;
            }
            if axis > 0 {
                base = strides[axis - 1];
                (have, need) = (1, 1);
            }
        }
    }
    at == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_beyond_usize_are_not_counted() {
        assert_eq!(numel(&[usize::MAX, 2]), None);
        assert_eq!(numel(&[usize::MAX, 2, 0]), None);
        assert_eq!(numel(&[0, 5]), Some(0));
        assert_eq!(numel(&[]), Some(1));
        assert_eq!(span(&[2, 2], &[usize::MAX, 1]), None);
    }

    #[test]
    fn nothing_spans_nothing_whatever_the_strides_are() {
        assert_eq!(span(&[1 << 60, 0], &[usize::MAX, usize::MAX]), Some(0));
        assert_eq!(span(&[0, 1 << 60], &[usize::MAX, usize::MAX]), Some(0));
        assert!(is_within(&[1 << 60, 0], &[usize::MAX, 1], usize::MAX, Some(0)));
        assert!(!is_within(&[2], &[1], usize::MAX, None));
        assert!(!is_within(&[2], &[usize::MAX], 1, None));
        assert!(is_within(&[2], &[3], 0, Some(4)));
        assert!(!is_within(&[2], &[3], 1, Some(4)));
    }

    /// Against all positions, one after the other.
    #[test]
    fn places_are_those_that_positions_lead_to() {
        let all = |sizes: &[usize], strides: &[usize]| {
            let mut all = vec![0];
            for (&size, &stride) in sizes.iter().zip(strides) {
                all = all.iter().flat_map(|from| (0..size).map(move |at| from + at * stride)).collect();
            }
            all.sort_unstable();
            all.dedup();
            all
        };
        for sizes in [[3, 2, 4], [1, 5, 2], [2, 0, 3], [4, 4, 4]] {
            for strides in [[8, 4, 1], [0, 1, 1], [1, 2, 3], [2, 3, 0], [5, 7, 5], [12, 2, 2], [6, 0, 9], [1, 1, 4]] {
                let (fewer_sizes, fewer_strides) = places(&sizes, &strides);
                assert_eq!(all(&fewer_sizes, &fewer_strides), all(&sizes, &strides), "{sizes:?} {strides:?}");
            }
        }
        // Windows side by side, a repeated row and rows without gaps are one run.
        assert_eq!(places(&[1 << 20, 1 << 20], &[1, 1]), (vec![(1 << 21) - 1], vec![1]));
        assert_eq!(places(&[1 << 40, 3, 4], &[0, 4, 1]), (vec![12], vec![1]));
        assert_eq!(places(&[], &[]), (vec![], vec![]));
    }

    #[test]
    fn contiguous_strides_treat_empty_axes_as_one() {
        assert_eq!(contiguous(&[2, 3, 4]), [12, 4, 1]);
        assert_eq!(contiguous(&[2, 0, 4]), [4, 4, 1]);
    }

    #[test]
    fn axes_of_size_one_may_have_any_stride() {
        assert!(is_contiguous(&[2, 1, 3], &[3, 99, 1]));
        assert!(!is_contiguous(&[2, 3], &[1, 2]));
        assert!(is_dense(&[2, 3], &[1, 2]));
        assert!(!is_dense(&[2, 3], &[6, 2]));
        assert!(!is_dense(&[2, 3], &[0, 1]));
    }
}
