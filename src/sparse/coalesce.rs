//! `coalesce`: sorts indices, and sums the values of equal indices.

use super::attributes::columns;
use super::rows::{scatter_rows_with, select_rows, sorted};
use super::{Rows, SparseTensor};
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops::reduce::Accumulating;
use crate::shape::Shape;
use castiron_macros::fallible;

impl<E: Element, S: Shape, const N: usize> SparseTensor<E, S, N> {
    /// The same tensor with sorted, distinct indices: the values of equal indices are added in order, in their own dtype (bools: or;
    /// integers wrap). Zeros are kept, including those that result from the sums.
    ///
    /// Dtypes: all computing dtypes.
    ///
    /// PyTorch: `torch.Tensor.coalesce`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, SparseTensor, Tensor};
    /// let s: SparseTensor<u8, shape![4]> = Tensor::sparse_coo(&tensor![[3, 1, 3]], &tensor![200, 7, 100; u8]);
    /// assert_eq!(s.coalesce().indices().to_vec(), [1, 3]);
    /// assert_eq!(s.coalesce().values().to_vec(), [7, 44]);
    /// ```
    #[fallible]
    pub fn coalesce(&self) -> Result<Self>
    where
        E: Dtype,
    {
        if self.is_coalesced() {
            return Ok(self.clone());
        }
        let keys = self.keys()?;
        if keys.is_sorted_by(|a, b| a < b) {
            let mut known = self.clone();
            known.parts.coalesced = true;
            return Ok(known);
        }
        let (firsts, values) = sum_duplicates("coalesce", keys, &self.parts.values)?;
        Ok(Self::assembled(self.shape(), columns(&self.parts.indices, &firsts)?, values, true))
    }
}

/// For each distinct linear index, ascending: the position of its first occurrence, and the sum of its rows.
pub(super) fn sum_duplicates<E: Dtype>(
    op: &'static str,
    keys: Vec<i64>,
    values: &Rows<E>,
) -> Result<(Vec<i64>, Rows<E>)> {
    let (keys, places) = sorted(keys)?;
    let (mut firsts, mut rest, mut group_of_rest) = (Vec::new(), Vec::new(), Vec::new());
    let mut last = None;
    for (key, place) in keys.into_iter().zip(places) {
        if last == Some(key) {
            rest.push(place);
            group_of_rest.push(firsts.len() as i64 - 1);
        } else {
            firsts.push(place);
            last = Some(key);
        }
    }
    // The first value of each index is copied rather than added to zero, so that -0.0 is kept.
    let mut sums = select_rows(values, &firsts)?;
    if !rest.is_empty() {
        scatter_rows_with::<Accumulating, E>(op, &mut sums, group_of_rest, &select_rows(values, &rest)?)?;
    }
    Ok((firsts, sums))
}
