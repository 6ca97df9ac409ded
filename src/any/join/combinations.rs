//! `combinations` on a GPU: those of one element more follow from those of one less, each as often as there are elements behind its last.

use crate::any::{AnyTensor, stack};
use crate::device::{Backend as _, Dynamic};
use crate::dtype::DType;
use crate::error::Result;

/// The numbers from 0 up to `len`, where another tensor is.
pub(crate) fn count_up(beside: &AnyTensor, len: usize) -> Result<AnyTensor> {
    Ok(AnyTensor::fresh(Dynamic::iota(Some(beside.storage()), len)?, DType::I64, &[len], &[1]))
}

/// The positions of all ways to take `r` of `len` elements, as rows one after the other; positions of a row are `step` apart at least.
pub(crate) fn rows_of_positions(beside: &AnyTensor, [len, r, step]: [usize; 3]) -> Result<AnyTensor> {
    // The last position that the element at a place of a row can have.
    let last = |at: usize| (len - 1 - (r - 1 - at) * step) as i64;
    let mut columns = vec![count_up(beside, last(0) as usize + 1)?];
    for at in 1..r {
        let before = columns[at - 1].add(step)?;
        let counts = before.neg()?.add(last(at) + 1)?;
        let from = count_up(beside, counts.numel())?.repeat_interleave_by(&counts, None)?;
        // Which of those that follow from one it is.
        let first = before.sub(&counts.cumsum(0, None)?)?.add(&counts)?;
        for column in &mut columns {
            *column = column.index_select(0, &from)?;
        }
        columns.push(first.index_select(0, &from)?.add(count_up(beside, from.numel())?)?);
    }
    stack(&columns, 1)?.reshape(&[-1])
}
