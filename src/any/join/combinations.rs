//! `combinations` on a GPU: the rows of length `n + 1` follow from those of length `n`, each repeated for every element after its last.

use crate::any::{AnyTensor, stack};
use crate::device::{Backend as _, Dynamic};
use crate::dtype::DType;
use crate::error::Result;

/// The numbers from 0 to `len - 1`, on the device of another tensor.
pub(crate) fn count_up(beside: &AnyTensor, len: usize) -> Result<AnyTensor> {
    Ok(AnyTensor::fresh(Dynamic::iota(Some(beside.storage()), len)?, DType::I64, &[len], &[1]))
}

/// The positions of all ways to choose `r` of `len` elements, as consecutive rows; positions in a row are at least `step` apart.
pub(crate) fn rows_of_positions(beside: &AnyTensor, [len, r, step]: [usize; 3]) -> Result<AnyTensor> {
    // The last position that column `at` of a row can have.
    let last = |at: usize| (len - 1 - (r - 1 - at) * step) as i64;
    let mut columns = vec![count_up(beside, last(0) as usize + 1)?];
    for at in 1..r {
        let before = columns[at - 1].add(step)?;
        let counts = before.neg()?.add(last(at) + 1)?;
        let from = count_up(beside, counts.numel())?.repeat_interleave_by(&counts, None)?;
        // The number of each row among those that extend the same shorter row.
        let first = before.sub(&counts.cumsum(0, None)?)?.add(&counts)?;
        for column in &mut columns {
            *column = column.index_select(0, &from)?;
        }
        columns.push(first.index_select(0, &from)?.add(count_up(beside, from.numel())?)?);
    }
    stack(&columns, 1)?.reshape(&[-1])
}
