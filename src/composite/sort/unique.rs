//! Distinct elements: `unique`, `unique_consecutive`. The size of the result depends on the data.

use super::runs::{Runs, runs};
use crate::composite::{Axis, Erased, Owned};
use crate::device::{Device, on_host};
use crate::dtype::{Compute as _, Dtype, Element};
use crate::error::{Error, Result, filled, invalid, listed, numel_at_most, room};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::OrderedFor;
use crate::ops::arguments::Order;
use crate::ops::choosing::{self, Equal};
use crate::ops::reduce::AnyAll;
use crate::shape::{AxisArg, Dyn, HasAxis};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel, selected, true_positions};
use castiron_macros::composites;
use core::cmp::Ordering;

/// Distinct elements or slices, inverse indices and counts; those of the last two that are not wanted are empty.
pub(crate) type Distinct<E, D> = (Owned<E, D>, Owned<i64, D>, Owned<i64, D>);

/// The order of elements, NaN after all numbers.
fn compare<E: Dtype>(a: E, b: E) -> Ordering {
    let less = |a: E, b: E| a.to_compute().compare::<ops::lt>(b.to_compute());
    #[allow(clippy::eq_op)]
    let is_nan = |x: E| x != x;
    if less(a, b) {
        Ordering::Less
    } else if less(b, a) {
        Ordering::Greater
    } else {
        is_nan(a).cmp(&is_nan(b))
    }
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The distinct elements in ascending order; for each element of `self` its index among them; and the count of each. No NaN equals
    /// another.
    ///
    /// Shapes: one axis, whose size is known at run time; that of `self`; one axis. The last two are `i64`. A tensor without data is an
    /// error.
    #[op(unique, dtypes = ordered)]
    #[typed((&self) -> (Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>)
        where
            E: OrderedFor<choosing::unique>)]
    #[example(let x = tensor![[7, 3], [3, 3]]; x.unique().0.with_shape::<shape![2]>(), x.unique().0, tensor![3, 7])]
    #[example(let x = tensor![[7, 3], [3, 3]]; x.unique().1, x.unique().1, tensor![[1, 0], [0, 0]])]
    #[example(let x = tensor![[7, 3], [3, 3]]; x.unique().2.with_shape::<shape![2]>(), x.unique().2, tensor![3, 1])]
    pub(crate) fn unique(&self) -> Result<(Owned<E, D>, Owned<i64, D>, Owned<i64, D>)>
    where
        E: Dtype,
    {
        self.distinct([true; 2])
    }

    /// [`unique`](Self::unique) with those of its second and third result that are wanted.
    pub(crate) fn distinct(&self, wanted: [bool; 2]) -> Result<Distinct<E, D>>
    where
        E: Dtype,
    {
        let list = self.as_list("unique")?;
        let [values, places] = D::order(Order::Sort { descending: false }, list.view(), 0)?;
        let [len] = *list.sizes() else { return Err(Error::NoData { op: "unique" }) };
        let (values, places) = (Owned::<E, D>::list(values, len), Owned::<i64, D>::list(places, len));
        values.together("unique", Axis(0), Some(places.view()), wanted, self.dims())
    }

    /// The distinct slices along an axis, in lexicographic order; for each slice of `self` its index among them; and the count of each. No
    /// NaN equals another.
    ///
    /// Shapes: that of `self` with the size of the axis known at run time; one axis as long as that of `self`; one axis. The last two are
    /// `i64`. A tensor without data is an error.
    ///
    /// # Errors
    /// If another axis is empty.
    #[op(unique, dtypes = ordered)]
    #[any(dim: i64 = self.sliced("unique", dim)?)]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>) -> (Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>, Tensor<i64, (<S as HasAxis<I>>::Dim,), D>, Tensor<i64, (Dyn,), D>)
        where
            S: HasAxis<I>,
            E: OrderedFor<choosing::unique>)]
    #[example(let x = tensor![[7, 3], [1, 5], [7, 3]]; x.unique_axis(axis![0]).0.with_shape::<shape![2, 2]>(), x.unique_axis(0).0, tensor![[1, 5], [7, 3]])]
    #[example(let x = tensor![[7, 3], [1, 5], [7, 3]]; x.unique_axis(axis![0]).1, x.unique_axis(0).1, tensor![1, 0, 1])]
    #[example(let x = tensor![[7, 3], [1, 5], [7, 3]]; x.unique_axis(axis![0]).2.with_shape::<shape![2]>(), x.unique_axis(0).2, tensor![1, 2])]
    pub(crate) fn unique_axis(&self, dim: Axis) -> Result<(Owned<E, D>, Owned<i64, D>, Owned<i64, D>)>
    where
        E: Dtype,
    {
        let (op, axis) = ("unique", dim.0);
        self.as_data(op)?;
        let elements = self.contiguous()?;
        self.expect_slices(op, dim)?;
        let sizes = self.sizes();
        // A zero-dim tensor has one slice.
        let len = sizes.get(axis).copied().unwrap_or(1);
        let inner: usize = sizes.iter().skip(axis + 1).product();
        let outer: usize = sizes.iter().take(axis).product();
        let found = |values, inverse, counts, count: usize| {
            let mut kept = self.dims();
            if let Some(size) = kept.get_mut(axis) {
                *size = count;
            }
            (Erased::dense(values, kept), Erased::list(inverse, len), Erased::list(counts, count))
        };
        if const { D::IS_ELSEWHERE } && len > 1 && !D::is_on_host(Some(self.storage())) {
            let slices = super::slices::distinct::<E, D>(elements.view(), [outer, len, inner])?;
            return Ok(found(slices.values, slices.inverse, slices.counts, slices.count));
        }
        // Slices of any length are compared element by element.
        let mut count = 0;
        let lists = on_host::<D, _, ((Vec<E>, Vec<i64>), Vec<i64>)>(op, elements.view(), |elements: Vec<E>| {
            let slice = |at: usize| {
                let elements = &elements;
                (0..outer).flat_map(move |row| &elements[(row * len + at) * inner..][..inner])
            };
            let mut order: Vec<usize> = listed(0..len)?;
            order.sort_by(|&a, &b| {
                let ways = slice(a).zip(slice(b)).map(|(&a, &b)| compare(a, b));
                ways.into_iter().find(|way| way.is_ne()).unwrap_or(Ordering::Equal)
            });
            let (mut chosen, mut counts): (Vec<usize>, Vec<i64>) = (Vec::new(), Vec::new());
            let mut inverse = filled(0, len)?;
            for at in order {
                match (chosen.last(), counts.last_mut()) {
                    (Some(&last), Some(count)) if slice(last).eq(slice(at)) => *count += 1,
                    _ => {
                        chosen.push(at);
                        counts.push(1);
                    }
                }
                inverse[at] = chosen.len() as i64 - 1;
            }
            // A tensor without elements can have any number of rows, too many to loop over.
            count = chosen.len();
            let rows = if elements.is_empty() { 0 } else { outer };
            let mut values = room(numel_at_most(&[rows, count, inner]))?;
            for row in elements.chunks_exact((len * inner).max(1)) {
                if inner == 1 {
                    values.extend(chosen.iter().map(|&at| row[at]));
                } else {
                    chosen.iter().for_each(|&at| values.extend_from_slice(&row[at * inner..][..inner]));
                }
            }
            Ok(((values, inverse), counts))
        })?;
        let ((values, inverse), counts) = lists;
        Ok(found(values, inverse, counts, count))
    }

    /// The elements in row-major order without those that equal the one before; for each element of `self` its index among them; and the
    /// length of each run. No NaN equals another.
    ///
    /// Shapes: one axis, whose size is known at run time; that of `self`; one axis. The last two are `i64`. A `Tensor` may be complex. A
    /// tensor without data is an error.
    #[op(unique_consecutive, dtypes = ordered)]
    #[typed((&self) -> (Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>)
        where
            E: Dtype)]
    #[example(let x = tensor![1, 1, 2, 1]; x.unique_consecutive().0.with_shape::<shape![3]>(), x.unique_consecutive().0, tensor![1, 2, 1])]
    #[example(let x = tensor![1, 1, 2, 1]; x.unique_consecutive().1, x.unique_consecutive().1, tensor![0, 0, 1, 2])]
    #[example(let x = tensor![1, 1, 2, 1]; x.unique_consecutive().2.with_shape::<shape![3]>(), x.unique_consecutive().2, tensor![2, 1, 1])]
    pub(crate) fn unique_consecutive(&self) -> Result<(Owned<E, D>, Owned<i64, D>, Owned<i64, D>)>
    where
        E: Dtype,
    {
        self.consecutive([true; 2])
    }

    /// [`unique_consecutive`](Self::unique_consecutive) with those of its second and third result that are wanted.
    pub(crate) fn consecutive(&self, wanted: [bool; 2]) -> Result<Distinct<E, D>>
    where
        E: Dtype,
    {
        let op = "unique_consecutive";
        self.as_list(op)?.together(op, Axis(0), None, wanted, self.dims())
    }

    /// [`consecutive`](Self::consecutive) for slices along an axis.
    #[cfg(feature = "any")]
    pub(crate) fn consecutive_slices(&self, dim: Axis, wanted: [bool; 2]) -> Result<Distinct<E, D>>
    where
        E: Dtype,
    {
        let op = "unique_consecutive";
        self.expect_slices(op, dim)?;
        self.as_data(op)?.together(op, dim, None, wanted, Dims::known(&[self.sizes()[dim.0]]))
    }

    /// Merges adjacent equal slices along an axis. `places` has their original positions, if they were sorted; `wanted` says whether
    /// inverse indices, with these sizes, and counts are requested.
    fn together(
        &self,
        op: &'static str,
        Axis(at): Axis,
        places: Option<View<'_, D::Storage, i64>>,
        wanted: [bool; 2],
        sizes: Dims,
    ) -> Result<Distinct<E, D>>
    where
        E: Dtype,
    {
        let (beside, len) = (Some(self.storage()), self.sizes()[at]);
        checked_numel::<i64>(op, &[len])?;
        let none = || D::zeroed::<i64>(beside, 0);
        let Some(more) = len.checked_sub(1) else {
            let values = Erased::dense(D::zeroed::<E>(beside, 0)?, self.dims());
            return Ok((values, Erased::dense(none()?, sizes), Erased::list(none()?, 0)));
        };
        let next = self.narrow(op, Axis(at), 1, more)?;
        let mut equal = next.map2_dense::<E, bool>(op, Equal, &self.narrow(op, Axis(at), 0, more)?)?;
        if self.rank() > 1 {
            equal = equal.reduce(AnyAll::ALL, ((1 << self.rank()) - 1) & !(1 << at), false)?;
        }
        let Runs { starts, inverse, counts, count } = runs::<D>(equal.view(), places, wanted)?;
        let starts = Owned::<bool, D>::list(starts, len);
        let (values, count) = if self.rank() == 1 {
            let (values, found) = D::compress(self.view(), starts.view())?;
            debug_assert!(!wanted[1] || found == count);
            (Erased::list(values, found), found)
        } else {
            let (chosen, found) = true_positions::<D>(starts.view())?;
            let mut kept = self.dims();
            kept[at] = found;
            (Erased::dense(selected::<E, D>(op, self.view(), at, &chosen, &kept)?, kept), found)
        };
        let inverse = if wanted[0] { Erased::dense(inverse, sizes) } else { Erased::list(inverse, 0) };
        Ok((values, inverse, Erased::list(counts, if wanted[1] { count } else { 0 })))
    }

    /// Checks that slices have elements to compare.
    fn expect_slices(&self, op: &'static str, Axis(at): Axis) -> Result<()> {
        let sizes = self.sizes();
        if sizes.iter().enumerate().any(|(axis, &size)| size == 0 && axis != at) {
            return invalid(op, format!("slices of {sizes:?} along axis {at} have no elements to compare"));
        }
        Ok(())
    }

    /// The elements, or an error on a device without data.
    fn as_data(&self, op: &'static str) -> Result<Erased<'_, E, D>> {
        if D::has_data(self.storage()) { Ok(Erased::of(self.view())) } else { Err(Error::NoData { op }) }
    }

    /// The elements in row-major order as a list, or an error on a device without data.
    fn as_list(&self, op: &'static str) -> Result<Erased<'_, E, D>> {
        self.as_data(op)?.expect_memory()?;
        self.reshape(op, &[self.numel()])
    }
}
