//! `embedding_bag`: rows at indices, summed in bags, on the host.

#[cfg(feature = "grad")]
use crate::composite::Axis;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::device::{Device, on_host};
use crate::dtype::{Compute, Dtype, Element};
use crate::error::{Error, Result, collected, filled, invalid, listed, numel_at_most, room};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::FloatFor;
#[cfg(feature = "grad")]
use crate::ops::arguments::Indexing;
#[cfg(feature = "grad")]
use crate::ops::choosing::Folding;
use crate::ops::choosing::IndexFor;
#[cfg(feature = "grad")]
use crate::ops::reduce::Accumulating;
use crate::shape::{Dim, Dyn, HasRank, Shape};
use crate::storage::View;
#[cfg(feature = "grad")]
use crate::storage::ViewMut;
use crate::tensor::{Optional, SameDevice, Tensor, checked_numel};
use castiron_macros::fallible;
use core::marker::PhantomData;
use core::ops::Range;

/// The reduction of the rows of a bag (`mode` of `torch.nn.functional.embedding_bag`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
    weights: Option<&Erased<'_, E, D>>,
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
    if weights.is_some_and(|weights| weights.numel() != indices.len()) {
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
    let bags = collected(starts.iter().zip(&ends).map(|(&start, &end)| Ok(start as usize..end as usize)))?;
    let bagging =
        Bagging::<E> { op, indices: listed(indices.iter().copied())?, bags, mode, padding, dtype: PhantomData };
    let ones;
    let weights = match weights {
        Some(weights) => weights.reshape(op, &[indices.len()])?,
        None => {
            let one = E::from_compute(Compute::number(1.0));
            ones = Owned::<E, D>::list(D::fill::<E>(Some(table.buffer), one, 1)?, 1);
            ones.expand(op, &[indices.len()])?
        }
    };
    let (storage, ..) = D::primitive(&bagging, (Erased::of(table), weights))?.0.into_parts();
    Ok((storage, count))
}

/// Rows summed in bags, or their means or maxima, and the rows of the maxima.
#[derive(Clone)]
struct Bagging<E> {
    op: &'static str,
    indices: Vec<i64>,
    /// The positions of indices in each bag.
    bags: Vec<Range<usize>>,
    mode: BagMode,
    padding: Option<i64>,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for Bagging<E> {
    type Operands = (E, E);
    type Results = (E, i64);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (table, weights): On<'_, (E, E), D>) -> Result<On<'static, (E, i64), D>> {
        let Bagging { op, ref indices, ref bags, mode, padding, .. } = *self;
        let columns = table.sizes()[1];
        let sizes = [bags.len(), columns];
        let operands = (table.view(), weights.view());
        let (sums, rows) = on_host::<D, _, (Vec<E>, Vec<i64>)>(op, operands, |(table, weights)| {
            let mut sums = filled(0.0_f64, numel_at_most(&sizes))?;
            let mut largest = filled(0_i64, if mode == BagMode::Max { sums.len() } else { 0 })?;
            for (bag, places) in bags.iter().enumerate() {
                let own = &mut sums[bag * columns..][..columns];
                let mut rows = 0;
                for at in places.clone() {
                    if Some(indices[at]) == padding {
                        continue;
                    }
                    let row = &table[indices[at] as usize * columns..][..columns];
                    let weight = weights[at].cast::<f64>();
                    for (column, (sum, element)) in own.iter_mut().zip(row).enumerate() {
                        let element = element.cast::<f64>();
                        if mode != BagMode::Max {
                            *sum += element * weight;
                        } else if rows == 0 || element > *sum || element.is_nan() {
                            (*sum, largest[bag * columns + column]) = (element, indices[at]);
                        }
                    }
                    rows += 1;
                }
                if mode == BagMode::Mean && rows > 0 {
                    own.iter_mut().for_each(|sum| *sum /= f64::from(rows));
                }
            }
            Ok((listed(sums.into_iter().map(E::from_f64))?, largest))
        })?;
        let rows = match mode {
            BagMode::Max => Erased::dense(rows, Dims::known(&sizes)),
            _ => Erased::list(rows, 0),
        };
        Ok((Erased::dense(sums, Dims::known(&sizes)), rows))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b11, 0b10];
    /// The gradient of each bag, added to its rows; for maxima, to the rows of these.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, E), D>> {
        let Bagging { op, ref indices, ref bags, mode, padding, .. } = *self;
        let (Some(g), _) = &back.g else { return Ok((None, None)) };
        let (table, weights) = (read(&back.x.0)?, read(&back.x.1)?);
        let (rows, columns) = (table.dims(), table.sizes()[1]);
        let count = |places: &Range<usize>| places.clone().filter(|&at| Some(indices[at]) != padding).count();
        let counts: Vec<usize> = listed(bags.iter().map(count))?;
        let numbers = |list: Vec<f64>| -> Result<Owned<E, D>> {
            let len = list.len();
            let list = || listed(list.into_iter().map(|x| E::from_compute(Compute::number(x))));
            Ok(Owned::list(D::build::<E>(Some(g.storage()), list)?, len))
        };
        let mut sums = D::zeroed::<E>(Some(g.storage()), rows.iter().product())?;
        let strides = rows.row_major();
        let kernel = Folding::<Accumulating>::new();
        let indexing = Indexing { op, axis: 0, wraps: false };
        if mode == BagMode::Max {
            // Empty bags have no row.
            let factors = listed((0..bags.len()).map(|bag| if counts[bag] > 0 { 1.0 } else { 0.0 }))?;
            let g = g.times(&numbers(factors)?.as_columns()?)?;
            let out = ViewMut::new(&mut sums, 0, &rows, &strides);
            if g.numel() > 0 && rows[0] > 0 {
                D::scatter_with::<E>(indexing, kernel, read(&back.y.1)?.view(), g.view(), out)?;
            }
            return Ok((Some(Erased::dense(sums, rows)), None));
        }
        // A place after the other: its bag, its row, and its factor.
        let places = || bags.iter().enumerate().flat_map(|(bag, places)| places.clone().map(move |at| (bag, at)));
        let factor = |(bag, at): (usize, usize)| match mode {
            _ if Some(indices[at]) == padding => 0.0,
            BagMode::Mean => 1.0 / counts[bag] as f64,
            _ => 1.0,
        };
        let factors = numbers(listed(places().map(factor))?)?;
        let count = factors.numel();
        let index = |of: &mut dyn Iterator<Item = i64>| -> Result<Owned<i64, D>> {
            let list = D::build::<i64>(Some(g.storage()), || listed(of))?;
            let list = Owned::<i64, D>::list(list, count);
            Ok(list
                .viewed(op, 2, |own, view| {
                    view.sizes.copy_from_slice(&[count, columns]);
                    view.strides.copy_from_slice(&[1, 0]);
                    Ok(own.offset)
                })?
                .share())
        };
        let (of_bags, of_rows) =
            (index(&mut places().map(|(bag, _)| bag as i64))?, index(&mut places().map(|(_, at)| indices[at]))?);
        let used = index(&mut places().map(|(_, at)| at as i64))?;
        let sizes = Dims::known(&[count, columns]);
        let g = Owned::<E, D>::dense(D::gather::<E>(indexing, g.view(), of_bags.view())?, sizes);
        let g = g.times(&factors.as_columns()?)?;
        let mut of_weights = None;
        if back.wants[1] {
            let elements = Owned::<E, D>::dense(D::gather::<E>(indexing, table.view(), of_rows.view())?, sizes);
            let own = elements.times(&g)?.reduce(ops::reduce::Sum, 0b10, false)?.retyped::<E>();
            // Positions before the first bag or after the last one are in none.
            let mut all = D::zeroed::<E>(Some(g.storage()), indices.len())?;
            let used = used.narrow(op, Axis(1), 0, 1.min(columns))?;
            if columns > 0 {
                let (len, used) = ([indices.len()], used.reshape(op, &[count])?);
                let out = ViewMut::new(&mut all, 0, &len, &[1]);
                D::scatter::<E>(indexing, used.view(), own.view(), out)?;
            }
            of_weights = Some(Owned::list(all, indices.len()));
        }
        let weights = Owned::<E, D>::dense(
            D::gather::<E>(indexing, weights.as_columns()?.expand(op, &[indices.len(), columns])?.view(), used.view())?,
            sizes,
        );
        let g = g.times(&weights)?;
        let out = ViewMut::new(&mut sums, 0, &rows, &strides);
        D::scatter_with::<E>(indexing, kernel, of_rows.view(), g.view(), out)?;
        Ok((Some(Erased::dense(sums, rows)), of_weights))
    }
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
        let weights = weights.map(|weights| weights.erased());
        let how = Bags { offsets, include_last, mode, padding };
        let (storage, count) = bags::<E, D>(op, self.elements(), &list, weights.as_ref(), &how)?;
        Ok(Tensor::dense(storage, [count, columns]))
    }
}
