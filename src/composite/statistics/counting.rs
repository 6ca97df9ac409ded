//! Counting samples: `bincount`, `histc`.

use crate::composite::{Axis, Erased, Owned};
use crate::device::{Device, expect_constant};
use crate::dtype::{Castable, DType, Dtype, Element, bf16, f16};
use crate::error::{Error, Result, invalid};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::{FloatFor, IntegerFor};
use crate::ops::arguments::Indexing;
use crate::ops::choosing::Folding;
use crate::ops::kernel::{Map1, VectorWidth};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::{Accumulating, MinMax, Sum};
use crate::shape::{Dim, Dyn, HasAxis, HasRank, SameSizeFor};
use crate::storage::{View, ViewMut};
use crate::tensor::{SameDevice, Tensor, checked_numel};
use castiron_macros::composites;
use core::marker::PhantomData;

/// The weights of `bincount_weighted`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not weigh what `bincount_weighted` counts",
    label = "weights are real numbers",
    note = "cast first, for example `.to::<f64>()`"
)]
pub trait BinWeight: Dtype {
    /// The dtype in which weights are added.
    type Total: Dtype;
}
macro_rules! bin_weights {
    ($($ty:ty: $sum:ty),*) => {$(
        impl BinWeight for $ty {
            type Total = $sum;
        }
    )*};
}
bin_weights!(bool: f64, u8: f64, i8: f64, i16: f64, i32: f64, i64: f64, f16: f64, bf16: f64, f32: f32, f64: f64);

/// From this many numbers on they are counted by threads, in rows.
const MANY: usize = 1 << 16;
const ROWS: usize = 16;

/// Bins of equal width, computed in the dtype `E`.
#[derive(Clone, Copy)]
struct Bins<E> {
    low: f64,
    high: f64,
    /// `high - low`
    range: f64,
    bins: usize,
    /// `bins`
    count: f64,
    dtype: PhantomData<E>,
}
impl<E: Castable> Bins<E> {
    fn new(low: f64, high: f64, bins: usize) -> Self {
        Bins {
            low,
            high,
            range: Self::rounded(high - low),
            bins,
            count: Self::rounded(bins as f64),
            dtype: PhantomData,
        }
    }

    /// A number rounded to the dtype.
    #[inline(always)]
    fn rounded(x: f64) -> f64 {
        E::from_f64(x).cast::<f64>()
    }
}
impl<E: Castable> Map1<E, i64> for Bins<E> {
    /// There is no vector instruction for the conversion.
    const VECTORS: VectorWidth = VectorWidth::None;
    /// The bin of an element; the number of bins for elements out of the range, or NaN.
    #[inline(always)]
    fn call(self, x: E) -> i64 {
        let Bins { low, high, range, bins, count, .. } = self;
        let x = x.cast::<f64>();
        if x >= low && x <= high {
            // Truncation finds the bin; `max` itself belongs to the last.
            let share = Self::rounded(Self::rounded(x - low) * count);
            (Self::rounded(share / range) as usize).min(bins - 1) as i64
        } else {
            bins as i64
        }
    }
    fn text(&self, kernel: &mut Kernel, x: Value) -> Value {
        let [low, high, range, count] = [self.low, self.high, self.range, self.count].map(|x| kernel.parameter(x));
        let (bins, last) = (kernel.parameter(self.bins as i64), kernel.parameter(self.bins as i64 - 1));
        let rounded = |kernel: &mut Kernel, x: Value| {
            let x = kernel.cast(x, E::DTYPE);
            kernel.cast(x, DType::F64)
        };
        let x = kernel.cast(x, DType::F64);
        let [above, below] = [(">=", low), ("<=", high)].map(|(sign, limit)| kernel.infix(x, sign, limit, DType::Bool));
        let inside = kernel.infix(above, "&&", below, DType::Bool);
        let share = kernel.infix(x, "-", low, DType::F64);
        let share = rounded(kernel, share);
        let share = kernel.infix(share, "*", count, DType::F64);
        let share = rounded(kernel, share);
        let share = kernel.infix(share, "/", range, DType::F64);
        let share = rounded(kernel, share);
        let bin = kernel.prelude("saturated_size", &[share], DType::I64);
        let bin = kernel.least(bin, last);
        kernel.choose(inside, bin, bins)
    }
}

/// A count converted to the dtype.
#[derive(Clone, Copy)]
struct FromCount;
impl<E: Castable> Map1<i64, E> for FromCount {
    const VECTORS: VectorWidth = VectorWidth::None;
    #[inline(always)]
    fn call(self, count: i64) -> E {
        E::from_f64(count as f64)
    }
    fn text(&self, kernel: &mut Kernel, count: Value) -> Value {
        let count = kernel.cast(count, DType::F64);
        kernel.cast(count, E::DTYPE)
    }
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// How often each number occurs, from 0 to the largest, or to `minlength - 1` if that is larger.
    ///
    /// The result is `i64`, its size known at run time.
    ///
    /// # Errors
    /// If a number is negative or the tensor has no data.
    #[op(bincount, dtypes = integer)]
    #[any(by_hand)]
    #[typed((&self, minlength: usize) -> Tensor<i64, (Dyn,), D>
        where
            E: IntegerFor<ops::reduce::bincount>,
            S: HasRank<1, ops::reduce::bincount>)]
    #[example(let x = tensor![1, 3, 1]; x.bincount(0).with_shape::<shape![4]>(), x.bincount(None, 0), tensor![0, 2, 0, 1])]
    pub(crate) fn bincount(&self, minlength: usize) -> Result<Owned<i64, D>>
    where
        E: Dtype,
    {
        let one = Owned::<i64, D>::dense(D::fill(Some(self.storage()), 1_i64, 1)?, Dims::known(&[]));
        self.to::<i64>("bincount")?.counted(&one.expand("bincount", self.sizes())?, minlength)
    }

    /// The sum of the weights of each number: [`bincount`](Self::bincount) where each occurrence counts by its weight.
    ///
    /// There are as many weights as numbers. `f32` weights are added in `f32`, all others in `f64`, which is the result's dtype.
    ///
    /// # Errors
    /// If a number is negative, sizes known at run time differ or the tensor has no data.
    #[op(bincount, dtypes = integer)]
    #[any(by_hand)]
    #[typed(<W: BinWeight, N, X: Device>(&self, weights: &Tensor<W, (N,), X>, minlength: usize) -> Tensor<W::Total, (Dyn,), D>
        where
            E: IntegerFor<ops::reduce::bincount>,
            S: HasRank<1, ops::reduce::bincount> + HasAxis<0>,
            <S as HasAxis<0>>::Dim: SameSizeFor<N, ops::reduce::bincount>,
            N: Dim + SameDevice<D, X>;
        weights = &Erased::<W, D>::of(N::here(weights).elements()))]
    #[example(let x = tensor![1, 3, 1]; let weights = tensor![0.5, 2.0, 0.25]; x.bincount_weighted(&weights, 0).with_shape::<shape![4]>(), x.bincount(Some(&weights), 0), tensor![0.0, 0.75, 0.0, 2.0])]
    pub(crate) fn bincount_weighted<W: BinWeight>(
        &self,
        weights: &Erased<'_, W, D>,
        minlength: usize,
    ) -> Result<Owned<W::Total, D>>
    where
        E: Dtype,
    {
        let op = "bincount";
        if weights.sizes() != self.sizes() {
            return Err(Error::Shape { op, expected: format!("{:?}", self.sizes()), found: weights.sizes().into() });
        }
        self.to::<i64>(op)?.counted(&weights.to::<W::Total>(op)?, minlength)
    }

    /// The number of elements in each of `bins` bins of equal width from `min` to `max`, which belongs to the last. Elements out of the
    /// range and NaN are ignored. If `min` and `max` are equal the range is that of the elements.
    ///
    /// The result has the dtype of `self`; its size is known at run time.
    ///
    /// # Errors
    /// If there are no bins, the range is not finite or is reversed, or a `Tensor` has no data.
    #[doc(alias = "histogram")]
    #[op(histc(input, bins = 100, min = 0.0, max = 0.0), dtypes = float)]
    #[any(if bins != 0 && !self.has_data() {
        self.expect_float("histc")?;
        return crate::any::AnyTensor::meta(&[bins], self.dtype());
    })]
    #[typed((&self, bins: usize, min: f64, max: f64) -> Tensor<E, (Dyn,), D>
        where
            E: FloatFor<ops::reduce::histc>)]
    #[example(let x = tensor![1.0, 2.0, 1.0]; x.histc(4, 0.0, 3.0).with_shape::<shape![4]>(), x.histc(4, 0.0, 3.0), tensor![0.0, 2.0, 1.0, 0.0])]
    pub(crate) fn histc(&self, bins: usize, min: f64, max: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let (op, beside) = ("histc", Some(self.storage()));
        if bins == 0 {
            return invalid(op, "there must be at least one bin".to_owned());
        }
        checked_numel::<E>(op, &[bins])?;
        expect_constant(op, D::is_tracked(self.storage()))?;
        if !D::has_data(self.storage()) {
            return Err(Error::NoData { op: "to_device" });
        }
        // PyTorch computes in the dtype of the elements.
        let (mut low, mut high) = (Bins::<E>::rounded(min), Bins::<E>::rounded(max));
        if low == high && !self.is_empty() {
            [low, high] = self.to::<f64>(op)?.ends()?;
        }
        if low == high {
            (low, high) = (low - 1.0, high + 1.0);
        }
        if !low.is_finite() || !high.is_finite() {
            return invalid(op, format!("the range from {low} to {high} is not finite"));
        }
        if low > high {
            return invalid(op, format!("`max` must be larger than `min`, got {high} and {low}"));
        }
        let places = self.map1_dense::<i64>(op, Bins::<E>::new(low, high, bins))?;
        let places = places.reshape(op, &[self.numel()])?;
        // One more for the elements that are ignored.
        let mut counts = D::zeroed::<i64>(beside, bins + 1)?;
        let one = Owned::<i64, D>::dense(D::fill(beside, 1_i64, 1)?, Dims::known(&[]));
        D::scatter_with::<i64>(
            Indexing { op, axis: 0, wraps: false },
            Folding::<Accumulating>::new(),
            places.view(),
            one.expand(op, places.sizes())?.view(),
            ViewMut::new(&mut counts, 0, &[bins + 1], &[1]),
        )?;
        let counts = Owned::<i64, D>::list(counts, bins + 1);
        counts.narrow(op, Axis(0), 0, bins)?.map1_dense::<E>(op, FromCount)
    }

    /// The smallest and the largest element; NaN if there is one.
    fn ends(&self) -> Result<[E; 2]>
    where
        E: Dtype,
    {
        let [least, largest] = D::reduce_both(MinMax::<E>::new(), self.view(), ((1_u64 << self.rank()) - 1) as u32)?;
        Ok([D::peek(View::new(&least, 0, &[], &[]))?, D::peek(View::new(&largest, 0, &[], &[]))?])
    }
}

impl<D: Device> Erased<'_, i64, D> {
    /// For each number from 0 to the largest, or below `minlength`: the sum, starting at a zero of `O`, of the elements added for its
    /// occurrences in order. There is an element to add for each number.
    fn counted<O: Dtype>(&self, added: &Erased<'_, O, D>, minlength: usize) -> Result<Owned<O, D>> {
        let (op, beside) = ("bincount", Some(self.storage()));
        if !D::has_data(self.storage()) {
            return Err(Error::NoData { op: "to_device" });
        }
        // A number broadcast to more elements than memory holds is refused instead of being counted forever.
        let numbers = if *self.strides() == [0] { self.contiguous()? } else { Erased::of(self.view()) };
        let mut len = [minlength];
        if !numbers.is_empty() {
            let [least, largest] = numbers.ends()?;
            if least < 0 {
                return invalid(op, format!("the numbers counted must not be negative, got {least}"));
            }
            // None is negative.
            len = [minlength.max(largest as usize + 1)];
        }
        checked_numel::<O>(op, &len)?;
        let (kernel, indexing) = (Folding::<Accumulating>::new(), Indexing { op, axis: 0, wraps: false });
        let (numbers, added) = (numbers.view(), added.view());
        let count = numbers.sizes[0];
        // Integers have the same sum in any order, so that threads count rows of them.
        if O::DTYPE == DType::I64 && count >= MANY && len[0] <= count / (8 * ROWS) {
            let each = count / ROWS;
            let (rows, all, strides) = ([ROWS, each], [ROWS, len[0]], [len[0], 1]);
            let mut counts = D::zeroed::<O>(beside, ROWS * len[0])?;
            let steps = [numbers.strides[0], added.strides[0]];
            let [own, ones] = steps.map(|step| [each * step, step]);
            let (some, more) = (numbers.restrided(&rows, &own), added.restrided(&rows, &ones));
            let along = Indexing { axis: 1, ..indexing };
            D::scatter_with::<O>(along, kernel, some, more, ViewMut::new(&mut counts, 0, &all, &strides))?;
            let left = [count - ROWS * each];
            let rest = View::new(numbers.buffer, numbers.offset + ROWS * each * steps[0], &left, numbers.strides);
            let more = View::new(added.buffer, added.offset + ROWS * each * steps[1], &left, added.strides);
            D::scatter_with::<O>(indexing, kernel, rest, more, ViewMut::new(&mut counts, 0, &len, &[1]))?;
            let counts = D::reduce(Sum, View::<_, O>::new(&counts, 0, &all, &strides), 1)?;
            return Ok(Erased::list(counts, len[0]));
        }
        let mut counts = D::zeroed::<O>(beside, len[0])?;
        D::scatter_with::<O>(indexing, kernel, numbers, added, ViewMut::new(&mut counts, 0, &len, &[1]))?;
        Ok(Erased::list(counts, len[0]))
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, f32, i64>("bins", Bins::<f32>::new(-20.0, 20.0, 13));
    suite.one::<_, bf16, i64>("bins", Bins::<bf16>::new(1.0, 1.0, 3));
    suite.one::<_, i64, f32>("from_count", FromCount);
}
