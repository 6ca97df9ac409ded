//! `embedding_bag`: rows at indices, summed in bags, on the host.

use crate::device::{Device, on_host};
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, filled, invalid, listed, numel_at_most, room};
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::choosing::IndexFor;
use crate::shape::{Dim, Dyn, HasRank, Shape};
use crate::storage::View;
use crate::tensor::{Optional, SameDevice, Tensor, checked_numel};
use castiron_macros::fallible;

/// The reduction of the rows of a bag (`mode` of `torch.nn.functional.embedding_bag`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BagMode {
    /// Their sum.
    Sum,
    /// Their mean; zeros for an empty bag.
    Mean,
    /// The maximum of each column; zeros for an empty bag.
    Max,
}

/// The division of indices into bags, and their weights.
pub(crate) struct Bags<'a> {
    /// The start of each bag.
    pub(crate) offsets: &'a [i64],
    /// Whether the last offset is the end of the last bag.
    pub(crate) include_last: bool,
    pub(crate) mode: BagMode,
    /// An index that is ignored.
    pub(crate) padding: Option<i64>,
}

/// The reduced rows of bags, row-major.
pub(crate) fn bags<E: Dtype, D: Device>(
    op: &'static str,
    table: View<'_, D::Storage, E>,
    indices: &[i64],
    weights: Option<&[E]>,
    how: &Bags<'_>,
) -> Result<(D::Storage, usize)> {
    let [rows, columns] = [table.sizes[0], table.sizes[1]];
    let Bags { offsets, include_last, mode, padding } = *how;
    if let Some(&index) = indices.iter().find(|&&index| index < 0 || index as usize >= rows) {
        return Err(Error::IndexValue { op, index, axis: 0, size: rows });
    }
    if include_last && offsets.is_empty() {
        return invalid(op, "the last offset is to be included, but there is none".to_owned());
    }
    if weights.is_some() && mode != BagMode::Sum {
        return invalid(op, "weights of indices are for sums".to_owned());
    }
    if weights.is_some_and(|weights| weights.len() != indices.len()) {
        return invalid(op, "there is one weight for each index".to_owned());
    }
    // As in PyTorch, a negative padding index counts from the end.
    let padding = padding.map(|index| if index < 0 { index + rows as i64 } else { index });
    let mut ends = room(offsets.len())?;
    ends.extend(offsets.iter().copied().skip(1));
    if !include_last && !offsets.is_empty() {
        ends.push(indices.len() as i64);
    }
    let starts = &offsets[..ends.len()];
    let in_order = |(&start, &end): (&i64, &i64)| start >= 0 && start <= end && end as usize <= indices.len();
    if !starts.iter().zip(&ends).all(in_order) || offsets.first().is_some_and(|&first| first != 0) {
        return invalid(op, format!("offsets begin with 0 and rise up to {}, got {offsets:?}", indices.len()));
    }
    let count = ends.len();
    checked_numel::<E>(op, &[count, columns])?;
    let storage = on_host::<D, _, Vec<E>>(op, table, |table: Vec<E>| {
        let mut sums = filled(0.0_f64, numel_at_most(&[count, columns]))?;
        for (bag, (&start, &end)) in starts.iter().zip(&ends).enumerate() {
            let own = &mut sums[bag * columns..][..columns];
            let mut rows = 0;
            for at in start as usize..end as usize {
                if Some(indices[at]) == padding {
                    continue;
                }
                let row = &table[indices[at] as usize * columns..][..columns];
                let weight = weights.map_or(1.0, |weights| weights[at].cast::<f64>());
                for (sum, element) in own.iter_mut().zip(row) {
                    let element = element.cast::<f64>();
                    *sum = match mode {
                        BagMode::Max if rows == 0 || element > *sum || element.is_nan() => element,
                        BagMode::Max => *sum,
                        _ => *sum + element * weight,
                    };
                }
                rows += 1;
            }
            if mode == BagMode::Mean && rows > 0 {
                own.iter_mut().for_each(|sum| *sum /= f64::from(rows));
            }
        }
        listed(sums.into_iter().map(E::from_f64))
    })?;
    Ok((storage, count))
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The rows at indices, summed in bags (or their mean or maximum). Each bag begins at an offset into the indices and ends where the
    /// next begins; with `include_last` the last offset is the end of the last bag. Indices equal to `padding` are ignored. `weights`, one
    /// for each index, multiply the rows of sums.
    ///
    /// `self` is `(V, M)`, and the result has a row for each bag. Dtypes: floating-point, `i64` indices. Computed on the host.
    ///
    /// PyTorch: `torch.nn.functional.embedding_bag`, with its first two operands exchanged.
    ///
    /// # Panics
    /// If an index is out of range, offsets do not ascend, weights do not match, or memory runs out.
    ///
    /// ```
    /// use castiron::{BagMode, tensor};
    /// let table = tensor![[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]];
    /// let bags = table.embedding_bag(&tensor![1, 2, 0, 2], &[0, 3], false, BagMode::Mean, None, None);
    /// assert_eq!(bags.to_vec(), [2.0, 3.0, 4.0, 5.0]);
    /// ```
    #[fallible]
    pub fn embedding_bag<I, N, X: Device>(
        &self,
        indices: &Tensor<I, (N,), X>,
        offsets: &[i64],
        include_last: bool,
        mode: BagMode,
        weights: impl Optional<E, (N,), D>,
        padding: Option<i64>,
    ) -> Result<Tensor<E, (Dyn, S::Columns), D>>
    where
        S: HasRank<2, ops::losses::embedding_bag>,
        E: FloatFor<ops::losses::embedding_bag>,
        I: Dtype + IndexFor<ops::losses::embedding_bag>,
        N: Dim + SameDevice<D, X>,
    {
        let (indices, weights) = (N::here(indices), weights.given());
        let op = "embedding_bag";
        let columns = self.shape().as_ref()[1];
        let index = indices.elements().known_as::<i64>();
        if !D::has_data(index.buffer) {
            let count = offsets.len() - usize::from(include_last && !offsets.is_empty());
            return Ok(Tensor::dense(D::zeroed::<E>(Some(self.elements().buffer), 0)?, [count, columns]));
        }
        let list = D::download(index)?;
        let weights = weights.map(|weights| D::download(weights.elements())).transpose()?;
        let how = Bags { offsets, include_last, mode, padding };
        let (storage, count) = bags::<E, D>(op, self.elements(), &list, weights.as_deref(), &how)?;
        Ok(Tensor::dense(storage, [count, columns]))
    }
}
