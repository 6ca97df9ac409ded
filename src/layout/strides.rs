//! Strides of new tensors and views: row-major ones, those of a copy, of an elementwise result, of a broadcast operand, of a reshaped view.
//!
//! Strides are in elements, as in PyTorch.

use crate::shape::{Shape, SizeArray, known_numel, numel};

/// Maximum rank that these rules support, the same as PyTorch's iterator.
pub const MAX_RANK: usize = 64;

/// Row-major strides. As in PyTorch an axis of size 0 counts as 1, so that strides are never 0.
#[inline]
pub fn contiguous<A: SizeArray>(sizes: &A) -> A {
    let mut strides = A::filled(1);
    write_row_major(sizes.as_ref(), strides.as_mut());
    strides
}

/// The same for sizes of any rank.
pub fn row_major(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1_usize; sizes.len()];
    write_row_major(sizes, &mut strides);
    strides
}

/// The two sizes, or strides, of a matrix.
pub(crate) fn of_matrix(list: &[usize]) -> [usize; 2] {
    [list[0], list[1]]
}

/// The axes from the outermost on: descending strides.
pub(crate) fn from_outermost(strides: &[usize]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..strides.len()).collect();
    order.sort_by_key(|&axis| core::cmp::Reverse(strides[axis]));
    order
}

/// Sizes or strides with the axes in another order.
pub(crate) fn reordered(of: &[usize], order: &[usize]) -> Vec<usize> {
    order.iter().map(|&axis| of[axis]).collect()
}

/// Whether strides equal those of [`row_major`], also along axes of size 1 and for empty tensors.
#[cfg(feature = "any")]
pub fn are_row_major(sizes: &[usize], strides: &[usize]) -> bool {
    let mut step = 1_usize;
    sizes.len() == strides.len()
        && sizes.iter().zip(strides).rev().all(|(&size, &stride)| {
            let fits = stride == step;
            step = step.wrapping_mul(size.max(1));
            fits
        })
}

/// The common sizes, row-major strides and number of elements of operands that are all contiguous and have the same shape; else `None`,
/// also for empty ones. (A fast path: most operands are like this, and for small ones a closer look is expensive. What the shape type knows
/// is a constant for the caller.)
#[cfg_attr(not(debug_assertions), inline(always))]
pub(crate) fn row_major_alike<const N: usize, T: Shape>(
    operands: [(&[usize], &[usize]); N],
) -> Option<(T::Sizes, T::Sizes, usize)> {
    let (mut sizes, mut strides, mut len) = (T::Sizes::filled(0), T::Sizes::filled(0), 1);
    if operands.iter().any(|(sizes, strides)| sizes.len() != T::RANK || strides.len() != T::RANK) {
        return None;
    }
    for axis in (0..T::RANK).rev() {
        let size = T::KNOWN[axis].unwrap_or(operands[0].0[axis]);
        if operands.iter().any(|(sizes, strides)| sizes[axis] != size || strides[axis] != len) {
            return None;
        }
        (sizes.as_mut()[axis], strides.as_mut()[axis]) = (size, len);
        // The operands exist, so the product of their sizes does not overflow.
        len *= size;
    }
    // The same number as a compile-time constant.
    let len = const { known_numel(T::KNOWN) }.unwrap_or(len);
    (len != 0).then_some((sizes, strides, len))
}

#[inline]
pub(crate) fn write_row_major(sizes: &[usize], strides: &mut [usize]) {
    let mut step = 1_usize;
    for (stride, &size) in strides.iter_mut().zip(sizes).rev() {
        *stride = step;
        // Does not wrap for an existing tensor: `numel` has multiplied the nonzero sizes.
        step = step.wrapping_mul(size.max(1));
    }
}

/// Whether elements are in the order of `axes`, fastest first, without gaps. Axes of size 1 may have any stride.
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

/// Whether elements are in row-major order without gaps (`is_contiguous`).
pub fn is_contiguous(sizes: &[usize], strides: &[usize]) -> bool {
    sizes.contains(&0) || runs_along((0..sizes.len()).rev(), sizes, strides)
}

/// The axes of a batch of images (batch, channels, height, width) in `channels_last` order, fastest first.
pub(super) const CHANNELS_LAST: [usize; 4] = [1, 3, 2, 0];

/// Whether elements do not overlap and leave no gaps, for some order of the axes.
pub fn is_dense(sizes: &[usize], strides: &[usize]) -> bool {
    if is_contiguous(sizes, strides) {
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

/// The strides of an operand broadcast to `sizes`: 0 along broadcast axes.
///
/// # Panics
/// If it does not broadcast to these sizes: the strides would reach outside it. Callers check that first and return an error; loops rely on
/// it.
pub fn broadcast<A: SizeArray>(from_sizes: &[usize], from_strides: &[usize], sizes: &A) -> A {
    let mut strides = A::filled(0);
    write_broadcast(from_sizes, from_strides, sizes.as_ref(), strides.as_mut());
    strides
}

/// [`broadcast`] to sizes of any rank.
pub(crate) fn broadcast_list(from_sizes: &[usize], from_strides: &[usize], sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![0; sizes.len()];
    write_broadcast(from_sizes, from_strides, sizes, &mut strides);
    strides
}

/// [`broadcast`] into a slice as long as the sizes.
pub(crate) fn write_broadcast(from_sizes: &[usize], from_strides: &[usize], sizes: &[usize], strides: &mut [usize]) {
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

/// The strides of a new elementwise result (PyTorch's TensorIterator): the axes in the operands' memory order; the first operand whose
/// order is not ambiguous decides. `operands` are strides broadcast to `sizes`; `alike` if no operand (including scalars) had to be
/// broadcast.
///
/// Source: `aten/src/ATen/TensorIterator.cpp`, `reorder_dimensions` and `allocate_or_resize_outputs`;
/// `tests/oracle/memory_format.json`.
pub fn elementwise_result<A: SizeArray>(sizes: &A, operands: &[A], alike: bool) -> A {
    let mut strides = A::filled(0);
    write_elementwise(sizes.as_ref(), operands, alike, strides.as_mut());
    strides
}

/// [`elementwise_result`] for sizes of any rank up to [`MAX_RANK`].
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
    // 1: the first axis should come after the second; -1: they are in order; 0: ambiguous in all operands.
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

/// The strides of elements in the order of `axes`, fastest first. (An empty axis makes the strides after it 0.)
pub(super) fn write_along(axes: impl Iterator<Item = usize>, sizes: &[usize], strides: &mut [usize]) {
    let mut step = 1_usize;
    for axis in axes {
        strides[axis] = step;
        step = step.wrapping_mul(sizes[axis]);
    }
}

/// The strides of a new copy that keeps the layout (PyTorch's `preserve_format`): those of the original if it is dense, else those of an
/// elementwise result.
pub fn preserved<A: SizeArray>(sizes: &A, strides: &A) -> A {
    let mut kept = A::filled(0);
    write_preserved(sizes.as_ref(), strides.as_ref(), kept.as_mut());
    kept
}

/// [`preserved`] for sizes of any rank up to [`MAX_RANK`].
pub(crate) fn write_preserved(sizes: &[usize], strides: &[usize], kept: &mut [usize]) {
    if is_dense(sizes, strides) {
        kept.copy_from_slice(strides);
    } else {
        write_elementwise(sizes, &[strides], true, kept);
    }
}

/// The strides of an operand that is converted before it is broadcast to `sizes`: the converted copy has no gaps.
pub fn converted<A: SizeArray>(from_sizes: &[usize], from_strides: &[usize], sizes: &A) -> A {
    let mut kept = A::filled(0);
    let kept = &mut kept.as_mut()[..from_sizes.len()];
    write_preserved(from_sizes, from_strides, kept);
    broadcast(from_sizes, kept, sizes)
}

/// The strides that view the same elements, in row-major order, with other sizes; `None` if a copy is needed. The numbers of elements are
/// equal.
///
/// Source: `aten/src/ATen/TensorUtils.cpp`, `computeStride`.
pub fn reshape<A: SizeArray>(sizes: &[usize], strides: &[usize], to: &A) -> Option<A> {
    let mut result = A::filled(1);
    write_reshaped(sizes, strides, to.as_ref(), result.as_mut()).then_some(result)
}

/// [`reshape`] for sizes of any rank; returns whether there are such strides.
pub(crate) fn write_reshaped(sizes: &[usize], strides: &[usize], to: &[usize], result: &mut [usize]) -> bool {
    if numel(sizes) == Some(0) {
        if sizes == to {
            result.copy_from_slice(strides)
        } else {
            write_row_major(to, result)
        }
        return true;
    }
    result.fill(1);
    let Some(&last) = strides.last() else { return true };
    let mut at = to.len();
    // Groups of mergeable axes must be filled by whole new axes.
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
