//! Sparse plus and minus sparse: the indices are merged.

use super::SparseTensor;
use super::dense::expect_same;
use super::rows::{indices_from_linear, scatter_rows_with, zero_rows};
use crate::dtype::{Binary, Dtype};
use crate::error::{Result, room};
use crate::ops::reduce::Accumulating;
use crate::shape::{Shape, SizeArray};
use core::cmp::Ordering;

/// `F(left, right)`, where `F` is a sum or a difference, in the dtype `P` and of shape `U`.
///
/// Merges the two lists of indices as PyTorch does (`add_out_sparse_cpu`), even if they are not sorted: only equal elements at the fronts
/// are combined. So the result of uncoalesced tensors is uncoalesced and may have duplicate indices.
pub(super) fn merge_sum<F: Binary, A: Dtype, B: Dtype, P: Dtype, S: Shape, T: Shape, U: Shape, const N: usize>(
    op: &'static str,
    left: &SparseTensor<A, S, N>,
    right: &SparseTensor<B, T, N>,
) -> Result<SparseTensor<P, U, N>> {
    expect_same(op, left.shape().as_ref(), right.shape().as_ref())?;
    let Merged { keys, from_a, from_b } = Merged::of(&left.keys()?, &right.keys()?)?;
    let mut values = zero_rows::<P>(op, [keys.len(), left.parts.values.shape()[1]])?;
    scatter_rows_with::<Accumulating, P>(op, &mut values, from_a, &left.parts.values.try_to::<P>()?)?;
    scatter_rows_with::<F, P>(op, &mut values, from_b, &right.parts.values.try_to::<P>()?)?;
    let indices = indices_from_linear(&keys, left.sparse_and_dense_sizes().0)?;
    let coalesced = left.is_coalesced() && right.is_coalesced();
    Ok(SparseTensor::assembled(U::Sizes::copied(left.shape().as_ref()), indices, values, coalesced))
}

/// Two lists of keys as one, and where the keys of each are in it.
struct Merged {
    keys: Vec<i64>,
    from_a: Vec<i64>,
    from_b: Vec<i64>,
}
impl Merged {
    #[inline]
    fn of(a: &[i64], b: &[i64]) -> Result<Self> {
        let mut keys = room(a.len() + b.len())?;
        let (mut from_a, mut from_b) = (room(a.len())?, room(b.len())?);
        while from_a.len() < a.len() || from_b.len() < b.len() {
            let next = (a.get(from_a.len()), b.get(from_b.len()));
            let order = match next {
                (Some(a), Some(b)) => a.cmp(b),
                (Some(_), None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            let at = keys.len() as i64;
            keys.extend(if order.is_le() { next.0 } else { next.1 });
            if order.is_le() {
                from_a.push(at);
            }
            if order.is_ge() {
                from_b.push(at);
            }
        }
        Ok(Merged { keys, from_a, from_b })
    }
}
