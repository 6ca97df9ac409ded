//! Reductions that skip NaN, counts and norms: `nansum`, `nanmean`, `count_nonzero`, `vector_norm`.

use super::lanes::{NARROW_LANES, block_small, lanes, lanes_small};
use super::steps::{Given, by_steps, is_nan, is_truth, nothing};
use super::{Accumulating, Index, Reducer, Steps, interleave};
use crate::dtype::{Castable, Complex, Compute, Dtype, MachineFloat, Promotable, ToReal};
use crate::ops::kernel::Precompiled;
use crate::ops::record::reduce::{Record, RecordedReducer, Reduction};
use core::marker::PhantomData;

/// The rows of norms and counts in the table of reductions.
macro_rules! norms_rows {
    ($reader:tt { $($rows:tt)* } $($files:ident)*) => {
        $crate::ops::table::joined! { $reader { $($rows)*
            nansum { nansum_axis ordered sum (), NanSum,
                "The sum of the elements that are numbers: NaN counts as 0. Bools and integers are summed in `i64`, which wraps.", "torch.nansum",
                "tensor![[1.0, f32::NAN], [2.0, 3.0]]" = "6.0" axis "0" = "[3.0, 3.0]", }
            nanmean { nanmean_axis float same (), NanMean,
                "The mean of the elements that are numbers, of floating dtypes: NaN does not count. NaN where there are none.", "torch.nanmean",
                "tensor![[1.0, f32::NAN], [2.0, 3.0]]" = "2.0" axis "0" = "[1.5, 3.0]", }
            count_nonzero { count_nonzero_axis any i64 (), CountNonzero,
                "How many elements are not zero, in `i64`.", "torch.count_nonzero",
                "tensor![[0, 2], [5, 1]]" = "3" axis "0" = "[1, 2]", }
            vector_norm { vector_norm_axis inexact real (ord: f64), VectorNorm::new(ord),
                "The `ord`-norm, of floating and complex dtypes; real: `sum(abs(x) ** ord) ** (1 / ord)`, the largest absolute value for \
                infinity, the smallest for minus infinity, the number of elements other than zero for 0. Of nothing it is 0; where `ord` \
                is negative or infinite: an error.", "torch.linalg.vector_norm",
                "tensor![[3.0, -4.0], [0.0, 12.0]]" ("2.0") = "13.0" axis "1" = "[5.0, 12.0]",
                #[doc(alias = "norm")]
                fn [ord: f64] dims [] keepdim [] "2.0, Some(&[1]), false" }
            norm { norm_axis inexact real (p: f64), VectorNorm::new(p),
                "[`vector_norm`](Tensor::vector_norm) under PyTorch's older name.", "torch.norm",
                "tensor![[3.0, -4.0], [6.0, 8.0]]" ("1.0") = "21.0" axis "1" = "[7.0, 14.0]", }
        } $($files)* }
    };
}
pub(crate) use norms_rows;

/// The sum of the elements that are not NaN.
#[derive(Clone, Copy)]
pub struct NanSum;
impl Steps for NanSum {
    type Partial<C: Compute, I: Index> = C;
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> C {
        C::default()
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: C, element: C, _: I, _: Given<C>) -> C {
        partial.binary::<Accumulating>(if is_nan(element) { C::default() } else { element })
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: C, other: C) -> C {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: C, _: C, _: Given<C>) -> C {
        partial
    }
}
/// The type in which sums of `E` accumulate.
type SumNumber<E> = <<E as Promotable>::Sum as Dtype>::Compute;
impl<E: Dtype> Reducer<E> for NanSum {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::NanSum;
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::NanSum);
    type Partial = SumNumber<E>;
    type Out = E::Sum;
    by_steps! { self: self, SumNumber<E>, usize, nothing::<SumNumber<E>>();
        |x| x.cast::<E::Sum>().to_compute(); |sum| Dtype::from_compute(sum)
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn four_lines(self, lines: [&[E]; 4]) -> [Self::Partial; 4] {
        interleave(self, lines)
    }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("nansum").computes::<E::Sum>().gives::<E::Sum>().read(self)
    }
}

/// The mean of the elements that are not NaN.
#[derive(Clone, Copy)]
pub struct NanMean;
impl Steps for NanMean {
    /// Their sum and count.
    type Partial<C: Compute, I: Index> = (C, I);
    type Out<C: Compute, I: Index> = C;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> (C, I) {
        (C::default(), I::from(false))
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, (sum, count): (C, I), element: C, _: I, _: Given<C>) -> (C, I) {
        let nan = is_nan(element);
        let number = if nan { C::default() } else { element };
        (sum.binary::<Accumulating>(number), count + I::from(!nan))
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: (C, I), other: (C, I)) -> (C, I) {
        (one.0.binary::<Accumulating>(other.0), one.1 + other.1)
    }
    #[inline(always)]
    fn counted<C: Compute, I: Index>(self, (_, count): (C, I), _: I) -> I {
        count
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, (sum, _): (C, I), count: C, _: Given<C>) -> C {
        sum.binary::<crate::ops::div>(count)
    }
}
impl<E: Dtype> Reducer<E> for NanMean {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::NanMean;
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::NanMean);
    type Partial = (E::Compute, usize);
    type Out = E;
    by_steps! { self: self, E::Compute, usize, nothing::<E::Compute>(); |x| x.to_compute(); |mean| E::from_compute(mean) }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("nanmean").gives::<E>().read(self)
    }
}

/// The number of nonzero elements.
#[derive(Clone, Copy)]
pub struct CountNonzero;
impl Steps for CountNonzero {
    type Partial<C: Compute, I: Index> = I;
    type Out<C: Compute, I: Index> = I;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> I {
        I::from(false)
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: I, element: C, _: I, _: Given<C>) -> I {
        partial + I::from(is_truth(element))
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: I, other: I) -> I {
        one + other
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: I, _: C, _: Given<C>) -> I {
        partial
    }
}
impl<E: Dtype> Reducer<E> for CountNonzero {
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::CountNonzero);
    type Partial = i64;
    type Out = i64;
    by_steps! { self: self, E::Compute, i64, nothing::<E::Compute>(); |x| x.to_compute(); |count| count }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("count_nonzero").gives::<i64>().read(self)
    }
}

/// The number of elements that are not NaN.
#[derive(Clone, Copy)]
pub struct CountNumbers;
impl Steps for CountNumbers {
    type Partial<C: Compute, I: Index> = I;
    type Out<C: Compute, I: Index> = I;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> I {
        I::from(false)
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: I, element: C, _: I, _: Given<C>) -> I {
        partial + I::from(!is_nan(element))
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: I, other: I) -> I {
        one + other
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: I, _: C, _: Given<C>) -> I {
        partial
    }
}
impl<E: Dtype> Reducer<E> for CountNumbers {
    type Partial = i64;
    type Out = i64;
    by_steps! { self: self, E::Compute, i64, nothing::<E::Compute>(); |x| x.to_compute(); |count| count }
    fn text(self) -> Record<RecordedReducer> {
        Reduction::of::<E>("count_numbers").gives::<i64>().read(self)
    }
}

/// The square of the absolute value.
pub(crate) struct Squared;
impl ToReal for Squared {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T) -> T {
        x * x
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(z: Complex<T>) -> T {
        z.re * z.re + z.im * z.im
    }
}

/// The real type of the compute type of `E`.
type RealOf<E> = <<E as Dtype>::Compute as Compute>::Real;

/// The sum of a real function of each element.
struct SumOf<F>(PhantomData<fn() -> F>);
impl<F> Clone for SumOf<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for SumOf<F> {}
impl<F: ToReal> Steps for SumOf<F> {
    type Partial<C: Compute, I: Index> = C::Real;
    type Out<C: Compute, I: Index> = C::Real;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> C::Real {
        Default::default()
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(self, partial: C::Real, element: C, _: I, _: Given<C>) -> C::Real {
        partial.binary::<Accumulating>(element.to_real::<F>())
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: C::Real, other: C::Real) -> C::Real {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: C::Real, _: C, _: Given<C>) -> C::Real {
        partial
    }
}
/// Part of a norm; only the host's loops use it as a reducer.
impl<F: ToReal, E: Dtype> Reducer<E> for SumOf<F> {
    type Partial = RealOf<E>;
    type Out = E::RealDtype;
    by_steps! { self: self, E::Compute, usize, nothing::<E::Compute>(); |x| x.to_compute(); |sum| sum.cast() }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn four_lines(self, lines: [&[E]; 4]) -> [RealOf<E>; 4] {
        interleave(self, lines)
    }
}

/// The order of a norm.
#[derive(Clone, Copy, PartialEq)]
enum NormOrder {
    Count,
    /// The largest magnitude; NaN propagates.
    CountOfNumbers,
    Sum,
    Euclidean,
    Largest,
    /// The largest magnitude that is not NaN.
    LargestNumber,
    Smallest,
    Power(f64),
}

/// The norm of a vector.
#[derive(Clone, Copy)]
pub struct VectorNorm {
    order: NormOrder,
}
impl VectorNorm {
    /// The norm of this order.
    pub fn new(ord: f64) -> Self {
        let order = match ord {
            0.0 => NormOrder::Count,
            1.0 => NormOrder::Sum,
            2.0 => NormOrder::Euclidean,
            f64::INFINITY => NormOrder::Largest,
            f64::NEG_INFINITY => NormOrder::Smallest,
            power => NormOrder::Power(power),
        };
        VectorNorm { order }
    }

    /// The norm of a difference as PyTorch's distances define it: NaN propagates, except that the maximum ignores it.
    /// Source: `aten/src/ATen/native/cpu/DistanceOpsKernel.cpp`.
    pub(crate) fn of_difference(p: f64) -> Self {
        match p {
            0.0 => VectorNorm { order: NormOrder::CountOfNumbers },
            f64::INFINITY => VectorNorm { order: NormOrder::LargestNumber },
            p => VectorNorm::new(p),
        }
    }
    /// The order.
    fn ord(self) -> f64 {
        match self.order {
            NormOrder::Count | NormOrder::CountOfNumbers => 0.0,
            NormOrder::Sum => 1.0,
            NormOrder::Euclidean => 2.0,
            NormOrder::Largest | NormOrder::LargestNumber => f64::INFINITY,
            NormOrder::Smallest => f64::NEG_INFINITY,
            NormOrder::Power(power) => power,
        }
    }
    /// The exponent and its inverse.
    #[inline(always)]
    fn values(self) -> [f64; 2] {
        match self.order {
            NormOrder::Power(power) => [power, 1.0 / power],
            _ => [0.0; 2],
        }
    }
    #[inline(always)]
    fn numbers<C: Compute>(self) -> Given<C> {
        self.values().map(C::Real::number)
    }
}
impl Steps for VectorNorm {
    type Partial<C: Compute, I: Index> = C::Real;
    type Out<C: Compute, I: Index> = C::Real;
    #[inline(always)]
    fn start<C: Compute, I: Index>(self) -> C::Real {
        match self.order {
            NormOrder::Smallest => C::Real::number(f64::INFINITY),
            _ => Default::default(),
        }
    }
    #[inline(always)]
    fn accumulate<C: Compute, I: Index>(
        self,
        partial: C::Real,
        element: C,
        index: I,
        [power, inverse]: Given<C>,
    ) -> C::Real {
        let magnitude = || element.to_real::<crate::ops::abs>();
        let one_or_none = || C::Real::number(f64::from(u8::from(is_truth(element))));
        let term = match self.order {
            NormOrder::Euclidean => {
                return Steps::accumulate(SumOf::<Squared>(PhantomData), partial, element, index, [power, inverse]);
            }
            NormOrder::CountOfNumbers if is_nan(element) => C::Real::number(f64::NAN),
            NormOrder::Count | NormOrder::CountOfNumbers => one_or_none(),
            NormOrder::Power(_) => magnitude().binary::<crate::ops::pow>(power),
            NormOrder::Sum | NormOrder::Largest | NormOrder::LargestNumber | NormOrder::Smallest => magnitude(),
        };
        Steps::merge::<C, I>(self, partial, term)
    }
    #[inline(always)]
    fn merge<C: Compute, I: Index>(self, one: C::Real, other: C::Real) -> C::Real {
        match self.order {
            NormOrder::Largest => one.binary::<crate::ops::maximum>(other),
            NormOrder::LargestNumber => one.binary::<crate::ops::fmax>(other),
            NormOrder::Smallest => one.binary::<crate::ops::minimum>(other),
            _ => one.binary::<Accumulating>(other),
        }
    }
    #[inline(always)]
    fn finish<C: Compute, I: Index>(self, partial: C::Real, _: C, [_, inverse]: Given<C>) -> C::Real {
        match self.order {
            NormOrder::Euclidean => partial.unary::<crate::ops::sqrt>(),
            NormOrder::Power(_) => partial.binary::<crate::ops::pow>(inverse),
            _ => partial,
        }
    }
}
impl<E: Dtype> Reducer<E> for VectorNorm {
    const SLOPE: crate::ops::slope::ReduceSlope = crate::ops::slope::ReduceSlope::Norm;
    fn numbers(self) -> [f64; 2] {
        [self.ord(), 0.0]
    }
    const PRECOMPILED: Option<Precompiled> = Some(Precompiled::VectorNorm);
    type Partial = RealOf<E>;
    type Out = E::RealDtype;
    fn cost(self) -> usize {
        if matches!(self.order, NormOrder::Power(_)) { 64 } else { 2 }
    }
    fn has_identity(self) -> bool {
        !matches!(self.order, NormOrder::Largest | NormOrder::Smallest)
            && !matches!(self.order, NormOrder::Power(p) if p < 0.0)
    }
    by_steps! { self: self, E::Compute, usize, self.numbers::<E::Compute>(); |x| x.to_compute(); |norm| norm.cast() }
    /// Specialised loops for the common norms.
    #[inline(always)]
    fn block(self, elements: &[E], index: usize) -> RealOf<E> {
        match self.order {
            NormOrder::Sum => SumOf::<crate::ops::abs>(PhantomData).block(elements, index),
            NormOrder::Euclidean => SumOf::<Squared>(PhantomData).block(elements, index),
            _ => lanes::<E, Self, NARROW_LANES>(self, elements, index),
        }
    }
    #[inline(always)]
    fn block_small(self, elements: &[E], index: usize) -> RealOf<E> {
        match self.order {
            NormOrder::Sum | NormOrder::Euclidean => block_small(self, elements, index),
            _ => lanes_small(self, elements, index, NARROW_LANES),
        }
    }
    const INTERLEAVES: bool = true;
    #[inline(always)]
    fn interleaves(self) -> bool {
        matches!(self.order, NormOrder::Sum | NormOrder::Euclidean)
    }
    #[inline(always)]
    fn four_lines(self, lines: [&[E]; 4]) -> [RealOf<E>; 4] {
        match self.order {
            NormOrder::Sum => SumOf::<crate::ops::abs>(PhantomData).four_lines(lines),
            NormOrder::Euclidean => SumOf::<Squared>(PhantomData).four_lines(lines),
            _ => unreachable!("these do not interleave"),
        }
    }
    #[inline(always)]
    fn four_rows(self, partials: &mut [RealOf<E>], rows: [&[E]; 4], position: usize) {
        match self.order {
            NormOrder::Sum => SumOf::<crate::ops::abs>(PhantomData).four_rows(partials, rows, position),
            NormOrder::Euclidean => SumOf::<Squared>(PhantomData).four_rows(partials, rows, position),
            _ => rows.iter().for_each(|row| {
                for (partial, &x) in partials.iter_mut().zip(*row) {
                    *partial = Reducer::<E>::accumulate(self, *partial, x, position);
                }
            }),
        }
    }
    fn text(self) -> Record<RecordedReducer> {
        let name = match self.order {
            NormOrder::Count => "norm_0",
            NormOrder::CountOfNumbers => "norm_0_of_numbers",
            NormOrder::Sum => "norm_1",
            NormOrder::Euclidean => "norm_2",
            NormOrder::Largest => "norm_inf",
            NormOrder::LargestNumber => "norm_inf_of_numbers",
            NormOrder::Smallest => "norm_minus_inf",
            NormOrder::Power(_) => "norm_p",
        };
        let given = if matches!(self.order, NormOrder::Power(_)) { 2 } else { 0 };
        Reduction::of::<E>(name).gives::<E::RealDtype>().given(given).read(self)
    }
    fn form(self) -> u32 {
        match self.order {
            NormOrder::Count => 0,
            NormOrder::CountOfNumbers => 1,
            NormOrder::Sum => 2,
            NormOrder::Euclidean => 3,
            NormOrder::Largest => 4,
            NormOrder::LargestNumber => 5,
            NormOrder::Smallest => 6,
            NormOrder::Power(_) => 7,
        }
    }
    fn given(self) -> Vec<f64> {
        if matches!(self.order, NormOrder::Power(_)) { self.values().to_vec() } else { Vec::new() }
    }
}
