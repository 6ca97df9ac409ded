//! `pick` as few copies of blocks, each a view of the source or the fill value everywhere: `roll`, `pad` with a constant, `repeat`.

use super::copying;
use super::engine;
use super::threads::{self, Shared};
use crate::layout::strides::row_major;
use crate::ops::segment::Segment;

/// The bytes of an element, aligned for every dtype.
#[repr(align(16))]
pub(super) struct FillBytes(pub(super) [u8; 16]);

/// The arguments of [`pick`](super::pick::pick), untyped.
pub(super) struct PickTask<'a> {
    pub(super) axes: &'a [Vec<Segment>],
    /// The size of an element.
    pub(super) size: usize,
    /// Sizes and strides of the source.
    pub(super) sizes: &'a [usize],
    pub(super) strides: &'a [usize],
    /// Sizes of the result.
    pub(super) counts: &'a [usize],
    pub(super) from: *const u8,
    pub(super) to: *mut u8,
    /// The bytes of the fill value.
    pub(super) fill: FillBytes,
}

/// Maximum number of block copies for one result.
const BLOCKS: usize = 32;

/// A block of the result along one axis: where it starts in the result, and its source positions: `len` positions from `from` on, read
/// `repeats` times over; `None` for the fill value.
#[derive(Clone, Copy)]
struct BlockAxis {
    to: usize,
    from: Option<usize>,
    len: usize,
    /// How many times the positions are repeated.
    repeats: usize,
}

/// The blocks of an axis; `None` if it has positions in another order, or too many blocks.
fn blocks_of(segments: &[Segment]) -> Option<Vec<BlockAxis>> {
    let (mut blocks, mut to): (Vec<BlockAxis>, usize) = (Vec::new(), 0);
    for &segment in segments {
        let (from, len) = match segment {
            Segment::Forward { start, len } => (Some(start), len),
            Segment::Fill { len } => (None, len),
            Segment::Backward { .. } | Segment::Each { .. } => return None,
        };
        let count = blocks.len();
        match blocks.last_mut() {
            _ if len == 0 => {}
            // The same segment again: one more repetition.
            Some(last) if from.is_some() && last.from == from && last.len == len => last.repeats += 1,
            _ if count == BLOCKS => return None,
            _ => blocks.push(BlockAxis { to, from, len, repeats: 1 }),
        }
        to += len;
    }
    Some(blocks)
}

/// Writes the result as a few blocks, each a copy of a source view or a fill. Returns false, with nothing written, if there would be too
/// many blocks or an axis visits its positions in another order.
///
/// # Safety
/// As for [`pick_part`](super::pick).
pub(super) unsafe fn pick_blocks(task: &PickTask<'_>) -> bool {
    let rank = task.axes.len();
    let Some(blocks) = task.axes.iter().map(|segments| blocks_of(segments)).collect::<Option<Vec<_>>>() else {
        return false;
    };
    let count = blocks.iter().try_fold(1_usize, |count, blocks| count.checked_mul(blocks.len()));
    let repeated = blocks.iter().filter(|blocks| blocks.iter().any(|block| block.repeats > 1)).count();
    // A walk has eight axes at most.
    if count.is_none_or(|count| count > BLOCKS) || rank + repeated > 8 {
        return false;
    }
    let count = count.unwrap_or(0);
    let steps = row_major(task.counts);
    // A few rows of all blocks at a time, so that a cache line shared by two blocks is still cached when the second one writes it.
    let outer = (0..rank).find(|&axis| task.counts[axis] > 1).unwrap_or(0);
    let by_rows = count > 1 && matches!(blocks[outer][..], [BlockAxis { repeats: 1, .. }]);
    if !by_rows {
        // SAFETY: the caller's promise.
        (0..count).for_each(|number| unsafe { write_block(task, &blocks, &steps, number, None) });
        return true;
    }
    let (rows, row) = (task.counts[outer], steps[outer] * task.size);
    let each = (SLAB / row.max(1)).max(1);
    let slabs = rows.div_ceil(each);
    let pieces = threads::pieces(engine::copy_nanoseconds(rows * steps[outer], 2 * task.size)).min(slabs);
    let shared = Shared((task, &blocks, &steps));
    threads::for_each(pieces, &|piece| {
        let (task, blocks, steps) = { &shared }.0;
        for slab in slabs * piece / pieces..slabs * (piece + 1) / pieces {
            let some = (outer, slab * each, ((slab + 1) * each).min(rows));
            // SAFETY: the caller's promise; every row is written by one thread.
            (0..count).for_each(|number| unsafe { write_block(task, blocks, steps, number, Some(some)) });
        }
    });
    true
}

/// Bytes of result rows written for all blocks before moving on to the next rows.
const SLAB: usize = if cfg!(debug_assertions) { 64 } else { 64 << 10 };

/// Writes block `number`; with `some`, only the positions `start..end` of one axis.
///
/// # Safety
/// As for [`pick_blocks`]; the axis has a single block, repeated once.
unsafe fn write_block(
    task: &PickTask<'_>,
    blocks: &[Vec<BlockAxis>],
    steps: &[usize],
    number: usize,
    some: Option<(usize, usize, usize)>,
) {
    let (mut left, mut fills, mut to, mut from) = (number, false, 0, 0);
    let (mut sizes, mut out, mut source) = (Vec::with_capacity(8), Vec::with_capacity(8), Vec::with_capacity(8));
    for (axis, list) in blocks.iter().enumerate() {
        let mut block = list[left % list.len()];
        left /= list.len();
        if let Some((_, low, high)) = some.filter(|some| some.0 == axis) {
            let from = block.from.map(|from| from + low);
            block = BlockAxis { to: low, from, len: high - low, repeats: 1 };
        }
        to += block.to * steps[axis];
        if block.repeats > 1 {
            sizes.push(block.repeats);
            out.push(block.len * steps[axis]);
            source.push(0);
        }
        sizes.push(block.len);
        out.push(steps[axis]);
        source.push(task.strides[axis]);
        match block.from {
            Some(start) => from += start * task.strides[axis],
            None => fills = true,
        }
    }
    let mut start = task.from.wrapping_add(from * task.size);
    if fills {
        start = task.fill.0.as_ptr();
        source.fill(0);
    }
    // SAFETY: the caller's promise: the block's positions lie inside the source's axes, and those of all blocks are the result's.
    unsafe {
        let to = task.to.add(to * task.size);
        copying::copy_into(task.size, &sizes, [&out, &source], to, start);
    }
}
