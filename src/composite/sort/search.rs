//! Searching elements: `searchsorted`, `bucketize`, `isin`; and `one_hot`.

use crate::composite::{Erased, Owned};
use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element, Promotable, Scalar, ScalarValue};
use crate::error::{Error, Result, invalid};
use crate::layout::dims::Dims;
use crate::ops::admit::{RealFor, SameDtypeFor};
use crate::ops::arguments::{Indexing, Order};
use crate::ops::choosing::{self, Equal, IndexFor};
use crate::ops::kernel::Casting;
use crate::ops::record::kernel::{Kernel, Value};
use crate::shape::{Dyn, IndexList, InsertAxis, Known, SearchedBy};
use crate::storage::ViewMut;
use crate::tensor::{Tensor, TensorOperand, at_axis, checked_numel, elements_of, fill_value};
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The positions at which values would be inserted to keep the last axis of `self` sorted: before equal elements, or after them if
    /// `right` is true.
    ///
    /// Shape: that of the values; one sorted list takes values of any shape, several take a lane of values each. Both tensors have one
    /// dtype; the result is `i64`. It is not checked that `self` is sorted.
    ///
    /// # Errors
    /// If sizes differ.
    #[op(searchsorted, dtypes = real)]
    #[any(by_hand)]
    #[typed(<R: TensorOperand>(&self, values: R, right: bool) -> Tensor<i64, R::Shape, D>
        where
            S: SearchedBy<R::Shape>,
            E: RealFor<choosing::searchsorted> + SameDtypeFor<R::Elem, choosing::searchsorted>,
            D: Receives<R::Place, Dimensioned>)]
    #[example(let sorted = tensor![1, 3, 5, 7]; let values = tensor![[3, 4], [0, 9]]; sorted.searchsorted(&values, false), sorted.searchsorted(&values, false, None), tensor![[1, 2], [0, 4]])]
    pub(crate) fn searchsorted(&self, values: &Erased<'_, E, D>, right: bool) -> Result<Owned<i64, D>> {
        self.places_of("searchsorted", values, right)
    }

    /// [`searchsorted`](Self::searchsorted) of one value, which may have another dtype: 2.5 is between the integers 2 and 3.
    ///
    /// # Errors
    /// If the value is complex.
    #[op(searchsorted, dtypes = real)]
    #[any(by_hand)]
    #[typed((&self, value: impl Scalar, right: bool) -> Tensor<i64, (), D>
        where
            S: IndexList,
            E: RealFor<choosing::searchsorted>;
        value = value.value())]
    #[example(let sorted = tensor![1.0, 3.0, 5.0]; sorted.searchsorted_scalar(3, true).item(), sorted.searchsorted(3, true, None), 2)]
    pub(crate) fn searchsorted_scalar(&self, value: ScalarValue, right: bool) -> Result<Owned<i64, D>>
    where
        E: Dtype,
    {
        let (value, right) = sought::<E>(value, right)?;
        let value = D::fill(Some(self.storage()), value, 1)?;
        self.places_of("searchsorted", &Erased::dense(value, Dims::known(&[])), right)
    }

    /// The bucket of each element: the number of boundaries below it, or, if `right` is true, not above it.
    ///
    /// Shape: that of `self`. The boundaries have one axis, are sorted and have the same dtype; the result is `i64`.
    #[doc(alias = "digitize")]
    #[op(bucketize, dtypes = real)]
    #[any(by_hand)]
    #[typed(<R: TensorOperand>(&self, boundaries: R, right: bool) -> Tensor<i64, S, D>
        where
            R::Shape: IndexList,
            E: RealFor<choosing::bucketize> + SameDtypeFor<R::Elem, choosing::bucketize>,
            D: Receives<R::Place, Dimensioned>)]
    #[example(let x = tensor![0.5, 1.0, 7.0]; let boundaries = tensor![1.0, 2.0]; x.bucketize(&boundaries, false), x.bucketize(&boundaries, false), tensor![0, 0, 2])]
    pub(crate) fn bucketize(&self, boundaries: &Erased<'_, E, D>, right: bool) -> Result<Owned<i64, D>> {
        boundaries.places_of("bucketize", self, right)
    }

    /// The positions of values in sorted lanes.
    fn places_of(&self, op: &'static str, values: &Erased<'_, E, D>, right: bool) -> Result<Owned<i64, D>> {
        checked_numel::<i64>(op, values.sizes())?;
        let (sorted, lanes) = (self.lifted(op)?, values.lifted(op)?);
        let (own, sizes) = (sorted.sizes(), lanes.sizes());
        let last = sizes.len() - 1;
        // A vector of sorted elements is broadcast to all lanes of values.
        if own.len() > 1 && (own.len() != sizes.len() || own[..last] != sizes[..last]) {
            let reason = format!("all sizes but the last must be the same: sorted {own:?}, values {sizes:?}");
            return invalid(op, reason);
        }
        let sorted = sorted.expand(op, &[&sizes[..last], &own[own.len() - 1..]].concat())?;
        Ok(Erased::dense(D::search(sorted.view(), lanes.view(), right)?, values.dims()))
    }

    /// Whether each element is in another tensor. NaN never is.
    ///
    /// Shape: that of `self`, whatever that of the other. Dtypes promote.
    #[op(isin, dtypes = real)]
    #[any(by_hand)]
    #[typed(<R: TensorOperand>(&self, test: R) -> Tensor<bool, S, D>
        where
            E: RealFor<choosing::isin>,
            R::Elem: RealFor<choosing::isin>,
            D: Receives<R::Place, Dimensioned>;
        test = &Erased::of(elements_of::<R::Elem, D, R>(&test)?))]
    #[example(let x = tensor![[1, 2], [3, 4]]; let test = tensor![4, 2, 9]; x.isin(&test), x.isin(&test), tensor![[false, true], [false, true]])]
    pub(crate) fn isin<F: Dtype>(&self, test: &Erased<'_, F, D>) -> Result<Owned<bool, D>>
    where
        E: Dtype,
    {
        self.is_in::<F, <E as Promotable>::With<F>>(test)
    }

    /// Searches each element in the sorted test elements, converted to `P`, and compares it with the element found.
    fn is_in<F: Dtype, P: Dtype>(&self, test: &Erased<'_, F, D>) -> Result<Owned<bool, D>>
    where
        E: Dtype,
    {
        let (op, numel) = ("isin", self.numel());
        let none = || Ok(Erased::dense(D::zeroed::<bool>(Some(self.storage()), numel)?, self.dims()));
        if !D::has_data(test.storage()) {
            return none();
        }
        let (values, test) = (self.map1_dense::<P>(op, Casting)?, test.map1_dense::<P>(op, Casting)?);
        let test = test.reshape(op, &[test.numel()])?;
        // NaN is equal to nothing; lists are searched without it.
        let numbers = test.map2_dense::<P, bool>(op, Equal, &test)?;
        let (test, count) = D::compress(test.view(), numbers.view())?;
        if count == 0 {
            return none();
        }
        let test = Owned::<P, D>::list(test, count);
        let [test, _] = D::order(Order::Sort { descending: false }, test.view(), 0)?;
        let (sorted, values) = (Owned::<P, D>::list(test, count), values.reshape(op, &[numel])?);
        // A position after the last element is clamped: the element there differs, as any would.
        let places = Owned::<i64, D>::list(D::search(sorted.view(), values.view(), false)?, numel);
        let places = places.map1_dense::<i64>(op, Last(count as i64 - 1))?;
        let found = D::gather(Indexing { op, axis: 0, wraps: false }, sorted.view(), places.view())?;
        let found = Owned::<P, D>::list(found, numel).map2_dense::<P, bool>(op, Equal, &values)?;
        Ok(Erased::dense(found.into_parts().0, self.dims()))
    }

    /// For each class a vector with a one at its position and zeros elsewhere. `K` is the number of classes: `one_hot::<dim!(10)>()`.
    ///
    /// Shape: that of `self` with `K` as the last axis. Classes are `i64` or `i32`, the result `i64`.
    ///
    /// # Errors
    /// If a class is not below `K`.
    #[op(nn.functional.one_hot, dtypes = integer)]
    #[any(by_hand)]
    #[typed(<K: Known>(&self) -> Tensor<i64, <S as InsertAxis<-1>>::Inserted<K>, D>
        where
            S: InsertAxis<-1>,
            E: IndexFor<choosing::one_hot>;
        classes = K::VALUE)]
    #[example(let x = tensor![2, 0]; x.one_hot::<dim!(3)>(), x.one_hot(Some(3)), tensor![[0, 0, 1], [1, 0, 0]])]
    pub(crate) fn one_hot(&self, classes: usize) -> Result<Owned<i64, D>>
    where
        E: Dtype,
    {
        let (op, last) = ("one_hot", self.rank());
        let sizes = Dims::new(op, &[self.sizes(), &[classes]].concat())?;
        // Written zeros instead of zero pages of the system, which are mapped one by one: all of them are written.
        let mut storage = D::fill(Some(self.storage()), 0_i64, checked_numel::<i64>(op, &sizes)?)?;
        let one = Owned::<i64, D>::dense(D::fill(Some(self.storage()), 1_i64, 1)?, Dims::known(&[]));
        // One index for each lane of classes.
        let index = self.to::<i64>(op)?;
        let index = index.viewed(op, last + 1, |own, view| Ok(own.unsqueeze(last, view)))?;
        let (one, to) = (one.expand(op, index.sizes())?, sizes.row_major());
        let indexing = Indexing { op, axis: last, wraps: false };
        D::scatter(indexing, index.view(), one.view(), ViewMut::<_, i64>::new(&mut storage, 0, &sizes, &to))
            .map_err(|error| at_axis(error, last))?;
        Ok(Erased::dense(storage, sizes))
    }

    /// [`one_hot`](Self::one_hot) with a number of classes known at run time.
    ///
    /// # Errors
    /// If a class is not below the number of classes.
    #[op(nn.functional.one_hot, dtypes = integer)]
    #[any(by_hand)]
    #[typed((&self, classes: usize) -> Tensor<i64, <S as InsertAxis<-1>>::Inserted<Dyn>, D>
        where
            S: InsertAxis<-1>,
            E: IndexFor<choosing::one_hot>)]
    #[example(let x = tensor![2, 0]; x.one_hot_sized(3).with_shape::<shape![2, 3]>(), x.one_hot(Some(3)), tensor![[0, 0, 1], [1, 0, 0]])]
    pub(crate) fn one_hot_sized(&self, classes: usize) -> Result<Owned<i64, D>>
    where
        E: Dtype,
    {
        self.one_hot(classes)
    }
}

/// The element, and the side of it, at which a scalar would be inserted.
fn sought<E: Dtype>(value: ScalarValue, right: bool) -> Result<(E, bool)> {
    if let ScalarValue::Complex(_) = value {
        let reason = "complex numbers have no order".to_owned();
        return Err(Error::InvalidArgument { op: "searchsorted", reason });
    }
    let Some((min, max)) = E::DTYPE.int_range() else {
        return Ok((fill_value("searchsorted", value).unwrap_or_else(|_| E::from_f64(value.real_part())), right));
    };
    let whole = match value {
        ScalarValue::Int(value) => value,
        // The cast saturates, far beyond every integer dtype. NaN sorts after all numbers.
        other => match other.real_part() {
            x if x.is_nan() => i128::MAX,
            x if right => x.floor() as i128,
            x => x.ceil() as i128,
        },
    };
    let place = if whole > max {
        (max, true)
    } else if whole < min {
        (min, false)
    } else {
        (whole, right)
    };
    // Within the dtype's range.
    Ok((E::from_i64(place.0 as i64), place.1))
}

/// An index, clamped to the last one.
#[derive(Clone, Copy)]
struct Last(i64);
impl crate::ops::kernel::Map1<i64, i64> for Last {
    #[inline(always)]
    fn call(self, index: i64) -> i64 {
        index.min(self.0)
    }
    fn text(&self, kernel: &mut Kernel, index: Value) -> Value {
        let last = kernel.parameter(self.0);
        kernel.least(index, last)
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, i64, i64>("last", Last(5));
}
