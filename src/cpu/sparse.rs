//! The product of a sparse matrix (CSR) and a strided one.
//!
//! Each row of the result is computed by one thread in the order of its elements, so the number of threads does not change results.

use super::simd::{self, Loop};
use super::threads;
use crate::dtype::{Compute as _, Dtype, Element};
use crate::error::{Error, Result, filled, listed};
use crate::ops;
use crate::ops::reduce::Accumulating;
use crate::storage::HostBuffer;

/// A sparse matrix: row `i` has the elements from `starts[i]` to `starts[i + 1]`.
pub(crate) struct Csr<E> {
    starts: Vec<usize>,
    columns: Vec<usize>,
    values: Vec<E>,
}

impl<E: Element> Csr<E> {
    /// Sorts elements by row (counting sort, stable); row numbers are in range.
    pub(crate) fn new(op: &'static str, rows: usize, row: &[i64], column: &[i64], value: &[E]) -> Result<Self> {
        let too_many = |_| Error::TooLarge { op, sizes: [rows][..].into() };
        let mut starts = filled(0, rows.saturating_add(1)).map_err(too_many)?;
        for &row in row {
            starts[row as usize + 1] += 1;
        }
        for at in 0..rows {
            starts[at + 1] += starts[at];
        }
        let mut order = filled(0, row.len())?;
        for (at, &row) in row.iter().enumerate() {
            order[starts[row as usize]] = at;
            starts[row as usize] += 1;
        }
        // Each start has advanced to the next row's.
        starts.copy_within(..rows, 1);
        starts[0] = 0;
        let columns = listed(order.iter().map(|&at| column[at] as usize))?;
        let values = listed(order.iter().map(|&at| value[at]))?;
        Ok(Csr { starts, columns, values })
    }
}

/// A range of rows of the product.
struct SparseProduct<'a, E: Dtype> {
    left: &'a Csr<E>,
    right: &'a [E],
    /// The columns of the right matrix.
    width: usize,
    first: usize,
    out: &'a mut [E],
}
impl<E: Dtype> Loop for SparseProduct<'_, E> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let SparseProduct { left, right, width, first, out } = self;
        let mut sums = filled(E::Compute::default(), width)?;
        for (row, out) in out.chunks_exact_mut(width).enumerate() {
            sums.fill(E::Compute::default());
            for at in left.starts[first + row]..left.starts[first + row + 1] {
                let factor = left.values[at].to_compute();
                let other = &right[left.columns[at] * width..][..width];
                for (sum, other) in sums.iter_mut().zip(other) {
                    *sum = sum.binary::<Accumulating>(factor.binary::<ops::mul>(other.to_compute()));
                }
            }
            for (out, sum) in out.iter_mut().zip(&sums) {
                *out = E::from_compute(*sum);
            }
        }
        Ok(())
    }
}

/// `left @ right`, where `right` is row-major with `width` columns.
pub(crate) fn multiply<E: Dtype>(left: &Csr<E>, right: &[E], width: usize) -> Result<HostBuffer> {
    let rows = left.starts.len() - 1;
    let mut out = filled(E::default(), rows.saturating_mul(width))?;
    if width > 0 {
        let pieces = threads::pieces(left.values.len().saturating_mul(width)).clamp(1, rows.max(1));
        let per_piece = rows.div_ceil(pieces).max(1);
        let run = |(piece, out): (usize, &mut [E])| {
            simd::dispatch(SparseProduct { left, right, width, first: piece * per_piece, out })
        };
        threads::try_for_each_part(out.chunks_mut(per_piece * width).enumerate().collect(), &run)?;
    }
    HostBuffer::from_vec(out)
}
