//! Elements without repetition: `unique`, `unique_consecutive`. How many there are depends on the data.
//! Uses `ops`, `ops::admit`, `ops::arguments`, `index::masked`.

use crate::device::Device;
use crate::dtype::{Compute as _, Dtype, Element};
use crate::error::{Error, Result, filled, listed, numel_at_most, room};
use crate::ops::admit::OrderedFor;
use crate::ops::arguments::{Indexing, Order};
use crate::ops::choosing::{self, Equal};
use crate::ops::kernel::Map1;
use crate::ops::pointwise::Differing;
use crate::ops::scan::RunningSum;
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::kernel::{Kernel, Value};
use crate::ops::{self, Op};
use crate::shape::{AxisArg, Dyn, HasAxis, Shape, SizeArray};
use crate::storage::{View, ViewMut};
use crate::tensor::index::masked::positions;
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;
use core::cmp::Ordering;

/// The elements without repetition, and how many there are; for each element which of them it is, and how often each was there: what is
/// not wanted of these is empty.
struct Distinct<B> {
    values: B,
    inverse: B,
    counts: B,
    count: usize,
}
impl<B> Distinct<B> {
    fn tensors<E: Element, S: Shape, D: Device<Storage = B>>(
        self,
        sizes: S::Sizes,
    ) -> (Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>) {
        let Distinct { values, inverse, counts, count } = self;
        (Tensor::dense(values, [count]), Tensor::dense(inverse, sizes), Tensor::dense(counts, [count]))
    }
}

/// The same of slices along an axis.
pub type Slices<E, S, D, const I: isize> =
    (Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>, Tensor<i64, (<S as HasAxis<I>>::Dim,), D>, Tensor<i64, (Dyn,), D>);

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

/// Puts neighbours together that are equal. `places` says where each element comes from, if not from where it stands; `wanted` whether it
/// is asked which of the values each element is, and how often each is there.
fn together<E: Element, D: Device>(
    elements: View<'_, D::Storage, E>,
    places: Option<View<'_, D::Storage, i64>>,
    wanted: [bool; 2],
) -> Result<Distinct<D::Storage>> {
    let beside = Some(elements.buffer);
    checked_numel::<i64>("unique", elements.sizes)?;
    let Some(more) = elements.sizes[0].checked_sub(1) else {
        let [inverse, counts] = [D::zeroed::<i64>(beside, 0)?, D::zeroed::<i64>(beside, 0)?];
        return Ok(Distinct { values: D::zeroed::<E>(beside, 0)?, inverse, counts, count: 0 });
    };
    let equal = {
        let len = [more];
        let next = View::new(elements.buffer, elements.offset + 1, &len, &[1]);
        D::map2::<E, E, bool>(Equal, elements.restrided(&len, &[1]), next, &[1])?
    };
    let runs = runs::<D>(View::new(&equal, 0, &[more], &[1]), places, wanted)?;
    let (values, count) = D::compress(elements, View::new(&runs.starts, 0, elements.sizes, &[1]))?;
    debug_assert!(!wanted[1] || runs.count == count);
    let Runs { inverse, counts, .. } = runs;
    Ok(Distinct { values, inverse, counts, count })
}

/// Runs of equal elements: which elements start one, in which run each is, how long each run is, and how many there are if this was asked.
pub(super) struct Runs<B> {
    pub(super) starts: B,
    pub(super) inverse: B,
    pub(super) counts: B,
    pub(super) count: usize,
}

/// The runs of elements of which each but the last is equal to the next or not; `wanted` as for [`together`].
pub(super) fn runs<D: Device>(
    equal: View<'_, D::Storage, bool>,
    places: Option<View<'_, D::Storage, i64>>,
    wanted: [bool; 2],
) -> Result<Runs<D::Storage>> {
    let (beside, more) = (Some(equal.buffer), equal.sizes);
    let len = [more[0] + 1];
    // The first element counts as no start at first, so that the runs are numbered from 0.
    let mut starts = D::zeroed::<bool>(beside, len[0])?;
    D::map1_into::<bool, bool>(IsFalse, equal, ViewMut::new(&mut starts, 1, more, &[1]))?;
    let mut inverse = if wanted[0] {
        D::lanes::<bool, i64>(RunningSum, View::new(&starts, 0, &len, &[1]), 0)?
    } else {
        D::zeroed::<i64>(beside, 0)?
    };
    if let Some(places) = places.filter(|_| wanted[0]) {
        let mut scattered = D::zeroed::<i64>(beside, len[0])?;
        let indexing = Indexing { op: "unique", axis: 0, wraps: false };
        let numbers = View::<_, i64>::new(&inverse, 0, &len, &[1]);
        D::scatter(indexing, places, numbers, ViewMut::new(&mut scattered, 0, &len, &[1]))?;
        inverse = scattered;
    }
    D::update1::<bool>(Always(true), ViewMut::new(&mut starts, 0, &[1], &[1]))?;
    if !wanted[1] {
        return Ok(Runs { starts, inverse, counts: D::zeroed::<i64>(beside, 0)?, count: 0 });
    }
    let (first, count) = positions::<D>(View::new(&starts, 0, &len, &[1]))?;
    // A run ends where the next one starts, the last at the end.
    let end = D::fill(beside, len[0] as i64, 1)?;
    let (all, rest) = ([count], [count - 1]);
    let next = View::<_, i64>::new(&first, 1, &rest, &[1]);
    let ends = D::join(&[next, View::new(&end, 0, &[1], &[1])], 0, &all, &[1])?;
    let (ends, first) = (View::<_, i64>::new(&ends, 0, &all, &[1]), View::<_, i64>::new(&first, 0, &all, &[1]));
    let counts = D::map2::<i64, i64, i64>(Differing, ends, first, &[1])?;
    Ok(Runs { starts, inverse, counts, count })
}

/// Whether a bool is false.
#[derive(Clone, Copy)]
struct IsFalse;
impl Map1<bool, bool> for IsFalse {
    #[inline(always)]
    fn call(self, a: bool) -> bool {
        !a
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        kernel.not(a)
    }
}

/// A value, whatever was there.
#[derive(Clone, Copy)]
struct Always(bool);
impl Map1<bool, bool> for Always {
    #[inline(always)]
    fn call(self, _: bool) -> bool {
        self.0
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, _: Value) -> Value {
        kernel.parameter(self.0)
    }
}

/// All elements in row-major order.
fn flat<O: Op, E: Element, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Result<Tensor<E, S, D>> {
    if D::has_data(x.elements().buffer) { x.try_contiguous() } else { Err(Error::NoData { op: O::NAME }) }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The elements without repetition from the smallest to the largest; for each element of `self` which of them it is; and how
    /// often each is there. No NaN equals another.
    ///
    /// Shapes: one axis, whose size is known at run time; that of `self`; one axis. Dtypes: all with an order; the other two are
    /// `i64`. A tensor without data has no answer.
    ///
    /// PyTorch: `torch.unique(return_inverse=True, return_counts=True)`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (values, inverse, counts) = tensor![[7, 3], [3, 3]].unique();
    /// assert_eq!(values.to_vec(), [3, 7]);
    /// assert_eq!(inverse.to_vec(), [1, 0, 0, 0]);
    /// assert_eq!(counts.to_vec(), [3, 1]);
    /// ```
    #[fallible]
    pub fn unique(&self) -> Result<(Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>)>
    where
        E: OrderedFor<choosing::unique>,
    {
        Ok(self.distinct([true; 2])?.tensors::<E, S, D>(self.shape()))
    }

    fn distinct(&self, wanted: [bool; 2]) -> Result<Distinct<D::Storage>> {
        let flat = flat::<choosing::unique, E, S, D>(self)?;
        let sizes = [self.numel()];
        let line = View::<_, E>::new(flat.storage(), flat.storage_offset(), &sizes, &[1]);
        let [values, places] = D::order(Order::Sort { descending: false }, line, 0)?;
        together::<E, D>(View::new(&values, 0, &sizes, &[1]), Some(View::new(&places, 0, &sizes, &[1])), wanted)
    }

    /// [`unique`](Self::unique), of whose second and third result those that are wanted.
    #[cfg(feature = "any")]
    #[allow(clippy::type_complexity)]
    pub(crate) fn unique_wanted(
        &self,
        wanted: [bool; 2],
    ) -> Result<(Tensor<E, (Dyn,), D>, Option<Tensor<i64, S, D>>, Option<Tensor<i64, (Dyn,), D>>)> {
        let Distinct { values, inverse, counts, count } = self.distinct(wanted)?;
        Ok((
            Tensor::dense(values, [count]),
            wanted[0].then(|| Tensor::dense(inverse, self.shape())),
            wanted[1].then(|| Tensor::dense(counts, [count])),
        ))
    }

    /// The slices along an axis without repetition, in the order of their elements; for each slice of `self` which of them it is;
    /// and how often each is there. No NaN equals another.
    ///
    /// Shapes: that of `self` with the size of the axis known at run time; one axis as long as that of `self`; one axis. Dtypes:
    /// all with an order; the other two are `i64`. A tensor without data has no answer.
    ///
    /// PyTorch: `torch.unique(dim=…, return_inverse=True, return_counts=True)`.
    ///
    /// # Panics
    /// If another axis is empty or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let (values, inverse, counts) = tensor![[7, 3], [1, 5], [7, 3]].unique_axis(axis![0]);
    /// assert_eq!(values.to_vec(), [1, 5, 7, 3]);
    /// assert_eq!(inverse.to_vec(), [1, 0, 1]);
    /// assert_eq!(counts.to_vec(), [1, 2]);
    /// ```
    #[fallible]
    pub fn unique_axis<const I: isize>(&self, axis: impl AxisArg<I>) -> Result<Slices<E, S, D, I>>
    where
        S: HasAxis<I>,
        E: OrderedFor<choosing::unique>,
    {
        let (op, axis) = (choosing::unique::NAME, <S as HasAxis<I>>::INDEX);
        let flat = flat::<choosing::unique, E, S, D>(self)?;
        let own = self.shape();
        let sizes = own.as_ref();
        // (A zero-dim tensor has one slice.)
        let len = sizes.get(axis).copied().unwrap_or(1);
        if sizes.iter().enumerate().any(|(at, &size)| size == 0 && (at != axis)) {
            let reason = format!("slices of {sizes:?} along axis {axis} have no elements to compare");
            return Err(Error::InvalidArgument { op, reason });
        }
        let inner: usize = sizes.iter().skip(axis + 1).product();
        let outer: usize = sizes.iter().take(axis).product();
        #[cfg(feature = "cuda")]
        if len > 1 && !D::is_on_host(Some(flat.elements().buffer)) {
            let found = super::slices::distinct::<E, D>(flat.elements(), [outer, len, inner])?;
            let mut kept = <<S as HasAxis<I>>::Replace<Dyn> as Shape>::Sizes::copied(sizes);
            if let Some(size) = kept.as_mut().get_mut(axis) {
                *size = found.count;
            }
            return Ok((
                Tensor::dense(found.values, kept),
                Tensor::dense(found.inverse, [len]),
                Tensor::dense(found.counts, [found.count]),
            ));
        }
        // Slices of any length are compared element by element.
        let elements = D::download(flat.elements())?;
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
        let count = chosen.len();
        let mut kept = <<S as HasAxis<I>>::Replace<Dyn> as Shape>::Sizes::copied(sizes);
        if let Some(size) = kept.as_mut().get_mut(axis) {
            *size = count;
        }
        // A tensor without elements can have any number of rows, too many to loop over.
        let rows = if elements.is_empty() { 0 } else { outer };
        let mut values = room(numel_at_most(&[rows, count, inner]))?;
        for row in elements.chunks_exact((len * inner).max(1)) {
            if inner == 1 {
                values.extend(chosen.iter().map(|&at| row[at]));
            } else {
                chosen.iter().for_each(|&at| values.extend_from_slice(&row[at * inner..][..inner]));
            }
        }
        Ok((
            Tensor::dense(D::build(Some(self.elements().buffer), || Ok(values))?, kept),
            Tensor::dense(D::build(Some(self.elements().buffer), || Ok(inverse))?, [len]),
            Tensor::dense(D::build(Some(self.elements().buffer), || Ok(counts))?, [count]),
        ))
    }

    /// The elements in row-major order without those that equal the one before; for each element of `self` which of them it is;
    /// and how many stood together. No NaN equals another.
    ///
    /// Shapes: one axis, whose size is known at run time; that of `self`; one axis. Dtypes: all computing dtypes; the other two
    /// are `i64`. A tensor without data has no answer.
    ///
    /// PyTorch: `torch.unique_consecutive(return_inverse=True, return_counts=True)`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (values, inverse, counts) = tensor![1, 1, 2, 1].unique_consecutive();
    /// assert_eq!(values.to_vec(), [1, 2, 1]);
    /// assert_eq!(inverse.to_vec(), [0, 0, 1, 2]);
    /// assert_eq!(counts.to_vec(), [2, 1, 1]);
    /// ```
    #[fallible]
    pub fn unique_consecutive(&self) -> Result<(Tensor<E, (Dyn,), D>, Tensor<i64, S, D>, Tensor<i64, (Dyn,), D>)>
    where
        E: Dtype,
    {
        let flat = flat::<choosing::unique_consecutive, E, S, D>(self)?;
        let sizes = [self.numel()];
        let line = View::<_, E>::new(flat.storage(), flat.storage_offset(), &sizes, &[1]);
        Ok(together::<E, D>(line, None, [true; 2])?.tensors::<E, S, D>(self.shape()))
    }
}

/// The kernels of this file, for the test of their text.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::text::suite::Suite) {
    suite.one::<_, bool, bool>("is_false", IsFalse);
    suite.one::<_, bool, bool>("always", Always(true));
}
