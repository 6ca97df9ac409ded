//! Looking for elements: `searchsorted`, `bucketize`, `isin`; and `one_hot`.
//! Uses `index::gather`, `base::operand`, `create::constructors`, `ops::choosing`.

use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element, Promotable, Scalar, ScalarValue};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::admit::{RealFor, SameDtypeFor};
use crate::ops::arguments::{Indexing, Order};
use crate::ops::choosing::{self, Equal, IndexFor};
use crate::ops::kernel::Casting;
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::kernel::{Kernel, Value};
use crate::shape::{Dim, Dyn, IndexList, InsertAxis, Known, SearchedBy, Shape, SizeArray};
use crate::storage::{View, ViewMut};
use crate::tensor::base::operand::TensorOperand;
use crate::tensor::create::constructors::fill_value;
use crate::tensor::index::gather::{at_axis, elements, lifted, with_indices};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// Where values would stand in sorted lanes.
fn search<E: Element, T: Shape, D: Device>(
    op: &'static str,
    sorted: View<'_, D::Storage, E>,
    values: View<'_, D::Storage, E>,
    right: bool,
) -> Result<Tensor<i64, T, D>> {
    let (sizes, value_strides) = lifted(&values);
    let (own, own_strides) = lifted(&sorted);
    checked_numel::<i64>(op, &sizes)?;
    // A vector of sorted elements is broadcast to all lanes of values.
    let mut sorted_sizes = sizes.clone();
    let mut sorted_strides = vec![0; sizes.len()];
    let last = sizes.len() - 1;
    if own.len() == 1 {
        (sorted_sizes[last], sorted_strides[last]) = (own[0], own_strides[0]);
    } else {
        if own.len() != sizes.len() || own[..last] != sizes[..last] {
            let reason = format!("all sizes but the last must be the same: sorted {own:?}, values {sizes:?}");
            return Err(Error::InvalidArgument { op, reason });
        }
        (sorted_sizes, sorted_strides) = (own, own_strides);
    }
    let sorted = sorted.restrided(&sorted_sizes, &sorted_strides);
    let storage = D::search(sorted, values.restrided(&sizes, &value_strides), right)?;
    Ok(crate::tensor::index::gather::dense(storage, &sizes))
}

/// The element, and the side of it, where a scalar would stand.
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

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Where values would have to be put in to keep the last axis of `self` sorted: before the elements equal to them, or
    /// behind if `right` is true.
    ///
    /// Shape: that of the values; one sorted list takes values of any shape, several take a lane of values each. Dtypes: integers
    /// and floats, both tensors holding the same; the result is `i64`. That `self` is sorted is not checked.
    ///
    /// PyTorch: `torch.searchsorted`.
    ///
    /// # Panics
    /// If sizes known at run time differ.
    ///
    /// ```
    /// use castiron::tensor;
    /// let sorted = tensor![1, 3, 5, 7];
    /// assert_eq!(sorted.searchsorted(tensor![[3, 4], [0, 9]], false).to_vec(), [1, 2, 0, 4]);
    /// assert_eq!(sorted.searchsorted(tensor![3], true).to_vec(), [2]);
    /// ```
    #[fallible]
    pub fn searchsorted<R: TensorOperand>(&self, values: R, right: bool) -> Result<Tensor<i64, R::Shape, D>>
    where
        S: SearchedBy<R::Shape>,
        E: RealFor<choosing::searchsorted> + SameDtypeFor<R::Elem, choosing::searchsorted>,
        D: Receives<R::Place, Dimensioned>,
    {
        search("searchsorted", self.elements(), elements::<R, D>(&values)?.known_as(), right)
    }

    /// [`searchsorted`](Self::searchsorted) of one value, which need not be of the dtype: 2.5 stands between the integers 2 and 3.
    ///
    /// PyTorch: `torch.searchsorted` with a scalar.
    ///
    /// # Panics
    /// If the value is complex.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1.0, 3.0, 5.0].searchsorted_scalar(3, true).item(), 2);
    /// ```
    #[fallible]
    pub fn searchsorted_scalar(&self, value: impl Scalar, right: bool) -> Result<Tensor<i64, (), D>>
    where
        S: IndexList,
        E: RealFor<choosing::searchsorted>,
    {
        self.searchsorted_value(value.value(), right)
    }

    /// The same of a value known while running.
    pub(crate) fn searchsorted_value(&self, value: ScalarValue, right: bool) -> Result<Tensor<i64, (), D>>
    where
        S: IndexList,
        E: RealFor<choosing::searchsorted>,
    {
        let (value, right) = sought::<E>(value, right)?;
        let value = D::fill(Some(self.elements().buffer), value, 1)?;
        search("searchsorted", self.elements(), View::<_, E>::new(&value, 0, &[], &[]), right)
    }

    /// In which bucket each element is: the number of boundaries below it, or of those not above it if `right` is true.
    ///
    /// Shape: that of `self`. Dtypes: integers and floats, the boundaries (one axis, sorted) holding the same; the result is
    /// `i64`.
    ///
    /// PyTorch: `torch.bucketize`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![0.5, 1.0, 7.0].bucketize(tensor![1.0, 2.0], false).to_vec(), [0, 0, 2]);
    /// ```
    #[doc(alias = "digitize")]
    #[fallible]
    pub fn bucketize<R: TensorOperand>(&self, boundaries: R, right: bool) -> Result<Tensor<i64, S, D>>
    where
        R::Shape: IndexList,
        E: RealFor<choosing::bucketize> + SameDtypeFor<R::Elem, choosing::bucketize>,
        D: Receives<R::Place, Dimensioned>,
    {
        search("bucketize", elements::<R, D>(&boundaries)?.known_as(), self.elements(), right)
    }

    /// Whether each element is one of those of another tensor. NaN is none.
    ///
    /// Shape: that of `self`; the other's does not matter. Dtypes: integers and floats, which promote.
    ///
    /// PyTorch: `torch.isin`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[1, 2], [3, 4]].isin(tensor![4, 2, 9]).to_vec(), [false, true, false, true]);
    /// ```
    #[fallible]
    pub fn isin<R: TensorOperand>(&self, test: R) -> Result<Tensor<bool, S, D>>
    where
        E: RealFor<choosing::isin>,
        R::Elem: RealFor<choosing::isin>,
        D: Receives<R::Place, Dimensioned>,
    {
        let test = elements::<R, D>(&test)?;
        is_in::<E, <E as Promotable>::With<R::Elem>, R, S, D>(self, test)
    }

    /// For each class a vector with a one at its place and zeros elsewhere. `K` is their number: `one_hot::<dim!(10)>()`.
    ///
    /// Shape: that of `self` with `K` as the last axis. Dtype: `i64`, the result's too.
    ///
    /// PyTorch: `torch.nn.functional.one_hot`.
    ///
    /// # Panics
    /// If a class is not below `K`.
    ///
    /// ```
    /// use castiron::{dim, shape, tensor, Tensor};
    /// let rows: Tensor<i64, shape![2, 3]> = tensor![2, 0].one_hot::<dim!(3)>();
    /// assert_eq!(rows.to_vec(), [0, 0, 1, 1, 0, 0]);
    /// ```
    #[fallible]
    pub fn one_hot<K: Known>(&self) -> Result<Tensor<i64, <S as InsertAxis<-1>>::Inserted<K>, D>>
    where
        S: InsertAxis<-1>,
        E: IndexFor<choosing::one_hot>,
    {
        one_hot::<E, K, S, D>(self, K::VALUE)
    }

    /// [`one_hot`](Self::one_hot) with a number of classes known at run time.
    ///
    /// # Panics
    /// If a class is not below it.
    #[fallible]
    pub fn one_hot_sized(&self, classes: usize) -> Result<Tensor<i64, <S as InsertAxis<-1>>::Inserted<Dyn>, D>>
    where
        S: InsertAxis<-1>,
        E: IndexFor<choosing::one_hot>,
    {
        one_hot::<E, Dyn, S, D>(self, classes)
    }
}

/// Looks in the sorted test elements for the place of each element, and there for the element.
fn is_in<E: Dtype, P: Dtype, R: TensorOperand, S: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    test: View<'_, D::Storage, R::Elem>,
) -> Result<Tensor<bool, S, D>> {
    let sizes = x.shape();
    if !D::has_data(test.buffer) {
        return Ok(Tensor::dense(D::zeroed::<bool>(Some(test.buffer), x.numel())?, sizes));
    }
    let own = strides::contiguous(&sizes);
    let values = D::map1::<E, P>(Casting, x.elements(), own.as_ref())?;
    let len = [test.sizes.iter().product()];
    let other = strides::contiguous(&<R::Shape as Shape>::Sizes::copied(test.sizes));
    let test = D::map1::<R::Elem, P>(Casting, test, other.as_ref())?;
    let test = View::<_, P>::new(&test, 0, &len, &[1]);
    // NaN is equal to nothing; lists are searched without it.
    let numbers = D::map2::<P, P, bool>(Equal, test, test, &[1])?;
    let (test, count) = D::compress(test, View::<_, bool>::new(&numbers, 0, &len, &[1]))?;
    if count == 0 {
        return Tensor::try_zeros_sized(sizes);
    }
    let (count, numel) = ([count], [x.numel()]);
    let [test, _] = D::order(Order::Sort { descending: false }, View::<_, P>::new(&test, 0, &count, &[1]), 0)?;
    let values = View::<_, P>::new(&values, 0, &numel, &[1]);
    let sorted = View::<_, P>::new(&test, 0, &count, &[1]);
    // Behind the last of the smaller ones, or not smaller than any: then there is none, and any place will do.
    let places = D::search(sorted, values, false)?;
    let places = D::map1::<i64, i64>(Last(count[0] as i64 - 1), View::new(&places, 0, &numel, &[1]), &[1])?;
    let indexing = Indexing { op: "isin", axis: 0, wraps: false };
    let found = D::gather(indexing, sorted, View::new(&places, 0, &numel, &[1]))?;
    let storage = D::map2::<P, P, bool>(Equal, View::new(&found, 0, &numel, &[1]), values, &[1])?;
    Ok(Tensor::dense(storage, sizes))
}

/// An index, or the last one there is.
#[derive(Clone, Copy)]
struct Last(i64);
impl crate::ops::kernel::Map1<i64, i64> for Last {
    #[inline(always)]
    fn call(self, index: i64) -> i64 {
        index.min(self.0)
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, index: Value) -> Value {
        let last = kernel.parameter(self.0);
        kernel.least(index, last)
    }
}

fn one_hot<E: Dtype, K: Dim, S: Shape + InsertAxis<-1>, D: Device>(
    x: &Tensor<E, S, D>,
    classes: usize,
) -> Result<Tensor<i64, <S as InsertAxis<-1>>::Inserted<K>, D>> {
    let op = "one_hot";
    let mut sizes = <<S as InsertAxis<-1>>::Inserted<K> as Shape>::Sizes::filled(classes);
    let last = S::RANK;
    sizes.as_mut()[..last].copy_from_slice(x.shape().as_ref());
    expect_fit::<<S as InsertAxis<-1>>::Inserted<K>>(op, sizes.as_ref())?;
    // Zeros that are written, not asked of the system, whose pages come one by one: they are written to all over.
    let mut storage = D::fill(Some(x.elements().buffer), 0_i64, checked_numel::<i64>(op, sizes.as_ref())?)?;
    let strides = strides::contiguous(&sizes);
    let one = D::fill(Some(x.elements().buffer), 1_i64, 1)?;
    with_indices::<_, D, _>(&x, |index| {
        // One index for each lane of classes.
        let mut index_sizes = index.sizes.to_vec();
        let mut index_strides = index.strides.to_vec();
        index_sizes.push(1);
        index_strides.push(1);
        let nothing = vec![0; index_sizes.len()];
        let indexing = Indexing { op, axis: last, wraps: false };
        D::scatter(
            indexing,
            index.restrided(&index_sizes, &index_strides),
            View::<_, i64>::new(&one, 0, &index_sizes, &nothing),
            ViewMut::new(&mut storage, 0, sizes.as_ref(), strides.as_ref()),
        )
        .map_err(|error| at_axis(error, last))
    })?;
    Ok(Tensor::dense(storage, sizes))
}

/// The kernels of this file, for the test of their text.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::text::suite::Suite) {
    suite.one::<_, i64, i64>("last", Last(5));
}
