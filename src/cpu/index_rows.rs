//! The positions where a mask is true, as rows of indices: `nonzero`.
//!
//! Compiled once.

use super::compress::CountTrue;
use super::elementwise;
use super::indexing::RawView;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::error::{Result, listed};
use crate::layout::strides;
use crate::ops::kernel::{Copying, VectorWidth};
use crate::storage::{HostBuffer, View};
use core::sync::atomic::{AtomicUsize, Ordering};

/// Maximum number of axes of a tensor.
const AXES: usize = 8;

/// Writes the indices of the true elements in the row-major positions `low..high`. The mask is contiguous and has at least one axis.
struct WriteRows<'a> {
    mask: *const u8,
    sizes: &'a [usize],
    low: usize,
    high: usize,
    to: *mut i64,
}
impl Loop for WriteRows<'_> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) {
        let WriteRows { mask, sizes, low, high, mut to } = self;
        let Some((&inner, outer)) = sizes.split_last().filter(|_| low < high) else { return };
        let (rank, mut row) = (sizes.len(), [0; AXES]);
        let (mut number, mut first) = (low / inner, low % inner);
        for (index, &size) in row.iter_mut().zip(outer).rev() {
            (*index, number) = ((number % size) as i64, number / size);
        }
        let mut place = low;
        while place < high {
            let len = (inner - first).min(high - place);
            // SAFETY: the positions are inside the mask, and `to` has a row for each true one.
            unsafe {
                let line = mask.add(place);
                let count = CountTrue { mask: line, step: 1, len }.run();
                match rank {
                    1 => write_line::<1>(to, &row, line, first, [count, len]),
                    2 => write_line::<2>(to, &row, line, first, [count, len]),
                    3 => write_line::<3>(to, &row, line, first, [count, len]),
                    4 => write_line::<4>(to, &row, line, first, [count, len]),
                    _ => {
                        let (mut written, mut at) = (0, 0);
                        while written < count {
                            row[rank - 1] = (first + at) as i64;
                            to.add(written * rank).copy_from_nonoverlapping(row.as_ptr(), rank);
                            written += usize::from(line.add(at).read());
                            at += 1;
                        }
                    }
                }
                to = to.add(count * rank);
            }
            (place, first) = (place + len, 0);
            for (index, &size) in row.iter_mut().zip(outer).rev() {
                *index += 1;
                if *index < size as i64 {
                    break;
                }
                *index = 0;
            }
        }
    }
}

/// Writes the rows of one line of elements, `count` of them true; the outer indices are those of `row`, the last index starts at `first`.
///
/// # Safety
/// There are `len` elements, and room for `count` rows.
#[inline(always)]
unsafe fn write_line<const RANK: usize>(
    to: *mut i64,
    row: &[i64; AXES],
    line: *const u8,
    first: usize,
    [count, len]: [usize; 2],
) {
    let to = to.cast::<[i64; RANK]>();
    let mut indices = [0; RANK];
    indices.copy_from_slice(&row[..RANK]);
    let mut of = |at: usize| {
        indices[RANK - 1] = (first + at) as i64;
        indices
    };
    // SAFETY: the caller's promise. Where not all are true, every row is written, and overwritten by the next if its element is false; the
    // last true element ends the loop.
    unsafe {
        if count == len {
            (0..len).for_each(|at| to.add(at).write(of(at)));
            return;
        }
        let (mut written, mut at) = (0, 0);
        while written < count {
            to.add(written).write(of(at));
            written += usize::from(line.add(at).read());
            at += 1;
        }
    }
}

/// The indices of the true elements, one row each, in row-major order, and their number. There is at least one axis.
pub(crate) fn index_rows(mask: View<'_, HostBuffer, bool>) -> Result<(HostBuffer, usize)> {
    let own = strides::row_major(mask.sizes);
    if strides::is_contiguous(mask.sizes, mask.strides) {
        return rows_of(RawView::of(&mask));
    }
    let copy = elementwise::map1::<bool, bool, _>(Copying, mask, &own)?;
    rows_of(RawView::of(&View::<_, bool>::new(&copy, 0, mask.sizes, &own)))
}

fn rows_of(mask: RawView<'_>) -> Result<(HostBuffer, usize)> {
    let (len, rank) = (mask.sizes.iter().product::<usize>(), mask.sizes.len());
    let pieces = threads::pieces(len.saturating_mul(rank));
    let bounds = |piece: usize| len / pieces * piece + len % pieces * piece / pieces;
    let (from, counts) = (Shared(mask.start), listed((0..pieces).map(|_| AtomicUsize::default()))?);
    threads::for_each(pieces, &|piece| {
        let from = &from;
        let (low, high) = (bounds(piece), bounds(piece + 1));
        // SAFETY: the mask is contiguous.
        let mask = unsafe { from.0.add(low) };
        counts[piece].store(simd::dispatch(CountTrue { mask, step: 1, len: high - low }), Ordering::Relaxed);
    });
    let mut total = 0;
    let firsts = listed(counts.into_iter().map(|count| {
        let first = total;
        total += count.into_inner();
        first
    }))?;
    // SAFETY: each piece writes one row per true element of its own, one after the other.
    let buffer = unsafe {
        HostBuffer::filled_by(total.saturating_mul(rank), |to: *mut i64| {
            let places = Shared((mask.start, to));
            threads::for_each(pieces, &|piece| {
                let places = &places;
                let (from, to) = places.0;
                let (low, high, to) = (bounds(piece), bounds(piece + 1), to.add(firsts[piece] * rank));
                simd::dispatch(WriteRows { mask: from, sizes: mask.sizes, low, high, to });
            });
            Ok(())
        })?
    };
    Ok((buffer, total))
}
