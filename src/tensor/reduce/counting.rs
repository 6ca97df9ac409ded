//! Samples counted: `bincount`, `histc`.
//! Uses `elementwise::apply`, `index::gather`.

use crate::device::Device;
use crate::dtype::{Castable, DType, Dtype, Element, bf16, f16};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::{FloatFor, IntegerFor};
use crate::ops::arguments::Indexing;
use crate::ops::choosing::Folding;
use crate::ops::kernel::{Casting, Copying, Map1, VectorWidth};
use crate::ops::reduce::{Accumulating, MinMax, Sum};
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::kernel::{Kernel, Value};
use crate::shape::{Dim, Dyn, HasAxis, HasRank, SameSizeFor, Shape};
use crate::storage::{View, ViewMut};
use crate::tensor::elementwise::apply::map1;
use crate::tensor::index::gather::with_indices;
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;
use core::marker::PhantomData;

/// What weighs the numbers that `bincount_weighted` counts.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not weigh what `bincount_weighted` counts",
    label = "weights are real numbers",
    note = "cast first, for example `.to::<f64>()`"
)]
pub trait BinWeight: Dtype {
    /// The dtype that weights are added in.
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

/// The smallest and the largest element; NaN if there is one.
fn ends<E: Dtype, D: Device>(x: View<'_, D::Storage, E>) -> Result<[E; 2]> {
    let all = ((1_u64 << x.sizes.len()) - 1) as u32;
    let [least, largest] = D::reduce_both(MinMax::<E>::new(), x, all)?;
    Ok([D::peek(View::new(&least, 0, &[], &[]))?, D::peek(View::new(&largest, 0, &[], &[]))?])
}

/// So many numbers are counted in so many rows.
const MANY: usize = 1 << 16;
const ROWS: usize = 16;

/// For each number from 0 to the largest, or below `minlength`: what its occurrences add to a zero of `O`, one after the other.
/// There is an element to add for each number.
fn counted<O: Dtype, D: Device>(
    numbers: View<'_, D::Storage, i64>,
    added: View<'_, D::Storage, O>,
    minlength: usize,
) -> Result<Tensor<O, (Dyn,), D>> {
    let op = "bincount";
    if !D::has_data(numbers.buffer) {
        return Err(Error::NoData { op: "to_device" });
    }
    // One number that stands for more than memory holds is refused, not counted for ever.
    let copy;
    let numbers = if numbers.strides == [0] {
        copy = D::map1::<i64, i64>(Copying, numbers, &[1])?;
        View::new(&copy, 0, numbers.sizes, &[1])
    } else {
        numbers
    };
    let mut len = [minlength];
    if numbers.sizes != [0] {
        let [least, largest] = ends::<i64, D>(numbers)?;
        if least < 0 {
            let reason = format!("the numbers counted must not be negative, got {least}");
            return Err(Error::InvalidArgument { op, reason });
        }
        // None is negative.
        len = [minlength.max(largest as usize + 1)];
    }
    crate::tensor::checked_numel::<O>(op, &len)?;
    let (kernel, indexing) = (Folding::<Accumulating>::new(), Indexing { op, axis: 0, wraps: false });
    let count = numbers.sizes[0];
    // Whole numbers add up to the same in any order: threads count rows of them.
    if O::DTYPE == DType::I64 && count >= MANY && len[0] <= count / (8 * ROWS) {
        let each = count / ROWS;
        let (rows, all, strides) = ([ROWS, each], [ROWS, len[0]], [len[0], 1]);
        let mut counts = D::zeroed::<O>(Some(numbers.buffer), ROWS * len[0])?;
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
        return Ok(Tensor::dense(counts, len));
    }
    let mut counts = D::zeroed::<O>(Some(numbers.buffer), len[0])?;
    D::scatter_with::<O>(indexing, kernel, numbers, added, ViewMut::new(&mut counts, 0, &len, &[1]))?;
    Ok(Tensor::dense(counts, len))
}

/// Equal parts of a range, computed in the dtype `E`.
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

    /// A number as the dtype has it.
    #[inline(always)]
    fn rounded(x: f64) -> f64 {
        E::from_f64(x).cast::<f64>()
    }
}
impl<E: Castable> Map1<E, i64> for Bins<E> {
    /// There are no instructions for the conversion.
    const VECTORS: VectorWidth = VectorWidth::None;
    /// The part that an element falls into; their number if it is outside of the range, or NaN.
    #[inline(always)]
    fn call(self, x: E) -> i64 {
        let Bins { low, high, range, bins, count, .. } = self;
        let x = x.cast::<f64>();
        if x >= low && x <= high {
            // Truncation finds the bin; `max` itself falls into the last.
            let share = Self::rounded(Self::rounded(x - low) * count);
            (Self::rounded(share / range) as usize).min(bins - 1) as i64
        } else {
            bins as i64
        }
    }
    #[cfg(any(test, feature = "cuda"))]
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

/// A count as a number of the dtype.
#[derive(Clone, Copy)]
struct FromCount;
impl<E: Castable> Map1<i64, E> for FromCount {
    const VECTORS: VectorWidth = VectorWidth::None;
    #[inline(always)]
    fn call(self, count: i64) -> E {
        E::from_f64(count as f64)
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, count: Value) -> Value {
        let count = kernel.cast(count, DType::F64);
        kernel.cast(count, E::DTYPE)
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// How often each number occurs, from 0 to the largest, or up to `minlength` numbers where that is more.
    ///
    /// Dtypes: integers, none of which may be negative. The result is `i64`, its size known at run time.
    ///
    /// PyTorch: `torch.bincount`, without weights.
    ///
    /// # Panics
    /// If a number is negative, the tensor has no data or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1, 3, 1].bincount(0).to_vec(), [0, 2, 0, 1]);
    /// ```
    #[fallible]
    pub fn bincount(&self, minlength: usize) -> Result<Tensor<i64, (Dyn,), D>>
    where
        E: IntegerFor<ops::reduce::bincount>,
        S: HasRank<1, ops::reduce::bincount>,
    {
        with_indices::<_, D, _>(&self, |numbers| {
            let one = D::fill(Some(numbers.buffer), 1_i64, 1)?;
            counted::<i64, D>(numbers, View::new(&one, 0, numbers.sizes, &[0]), minlength)
        })
    }

    /// The sum of the weights of each number: [`bincount`](Self::bincount) where every occurrence counts as much as its weight.
    ///
    /// There are as many weights as numbers. `f32` weights are added in `f32`, all others in `f64`, which is the result's dtype.
    ///
    /// PyTorch: `torch.bincount`, with `weights`.
    ///
    /// # Panics
    /// If a number is negative, sizes known at run time differ, the tensor has no data or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1, 3, 1].bincount_weighted(&tensor![0.5, 2.0, 0.25], 0).to_vec(), [0.0, 0.75, 0.0, 2.0]);
    /// ```
    #[fallible]
    pub fn bincount_weighted<W: BinWeight, N, X: Device>(
        &self,
        weights: &Tensor<W, (N,), X>,
        minlength: usize,
    ) -> Result<Tensor<W::Total, (Dyn,), D>>
    where
        E: IntegerFor<ops::reduce::bincount>,
        S: HasRank<1, ops::reduce::bincount> + HasAxis<0>,
        <S as HasAxis<0>>::Dim: SameSizeFor<N, ops::reduce::bincount>,
        N: Dim + SameDevice<D, X>,
    {
        let weights = N::here(weights);
        if weights.numel() != self.numel() {
            let expected = format!("[{}]", self.numel());
            return Err(Error::Shape { op: "bincount", expected, found: weights.shape()[..].into() });
        }
        let weights: Tensor<W::Total, (N,), D> =
            map1::<W, (N,), D, W::Total>(Casting, weights.elements(), weights.shape(), W::DTYPE)?;
        with_indices::<_, D, _>(&self, |numbers| counted::<W::Total, D>(numbers, weights.elements(), minlength))
    }

    /// How many elements fall into each of `bins` equal parts of the range from `min` to `max`; the last part holds `max` too. Elements
    /// beyond the range do not count, nor does NaN. Where `min` and `max` are equal the range is that of the elements.
    ///
    /// Dtypes: floating-point. The result has that dtype; its size is known at run time.
    ///
    /// PyTorch: `torch.histc`.
    ///
    /// # Panics
    /// If there are no bins, the range is not finite or is reversed, the tensor has no data or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1.0, 2.0, 1.0].histc(4, 0.0, 3.0).to_vec(), [0.0, 2.0, 1.0, 0.0]);
    /// ```
    #[doc(alias = "histogram")]
    #[fallible]
    pub fn histc(&self, bins: usize, min: f64, max: f64) -> Result<Tensor<E, (Dyn,), D>>
    where
        E: FloatFor<ops::reduce::histc>,
    {
        let invalid = |reason: String| Err(Error::InvalidArgument { op: "histc", reason });
        if bins == 0 {
            return invalid("there must be at least one bin".to_owned());
        }
        crate::tensor::checked_numel::<E>("histc", &[bins])?;
        let elements = self.elements();
        if !D::has_data(elements.buffer) {
            return Err(Error::NoData { op: "to_device" });
        }
        // PyTorch computes in the dtype of the elements.
        let (mut low, mut high) = (Bins::<E>::rounded(min), Bins::<E>::rounded(max));
        if low == high && self.numel() > 0 {
            let wide: Tensor<f64, S, D> = map1::<E, S, D, f64>(Casting, elements, self.shape(), E::DTYPE)?;
            [low, high] = ends::<f64, D>(wide.elements())?;
        }
        if low == high {
            (low, high) = (low - 1.0, high + 1.0);
        }
        if !low.is_finite() || !high.is_finite() {
            return invalid(format!("the range from {low} to {high} is not finite"));
        }
        if low > high {
            return invalid(format!("`max` must be larger than `min`, got {high} and {low}"));
        }
        let kernel = Bins::<E>::new(low, high, bins);
        let own = self.shape();
        let places = D::map1::<E, i64>(kernel, elements, strides::contiguous(&own).as_ref())?;
        let (numel, kept) = ([self.numel()], [bins]);
        // One more for the elements that do not count.
        let mut counts = D::zeroed::<i64>(Some(elements.buffer), bins + 1)?;
        let one = D::fill(Some(elements.buffer), 1_i64, 1)?;
        D::scatter_with::<i64>(
            Indexing { op: "histc", axis: 0, wraps: false },
            Folding::<Accumulating>::new(),
            View::new(&places, 0, &numel, &[1]),
            View::new(&one, 0, &numel, &[0]),
            ViewMut::new(&mut counts, 0, &[bins + 1], &[1]),
        )?;
        let counts = View::<_, i64>::new(&counts, 0, &kept, &[1]);
        Ok(Tensor::dense(D::map1::<i64, E>(FromCount, counts, &[1])?, kept))
    }
}

/// The kernels of this file, for the test of their text.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::text::suite::Suite) {
    suite.one::<_, f32, i64>("bins", Bins::<f32>::new(-20.0, 20.0, 13));
    suite.one::<_, bf16, i64>("bins", Bins::<bf16>::new(1.0, 1.0, 3));
    suite.one::<_, i64, f32>("from_count", FromCount);
}
