//! Reductions that leave NaN out, count, and measure: `nansum`, `nanmean`, `count_nonzero`, `vector_norm`.

use super::reduce::{Accumulating, FEW, Reducer, Summing, lanes, together};
use crate::dtype::{Castable, Complex, Compute, Dtype, MachineFloat, ToReal};
use core::marker::PhantomData;

/// The sum of what is not NaN.
#[derive(Clone, Copy)]
pub struct SummingNumbers;
impl<E: Dtype> Reducer<E> for SummingNumbers {
    type Partial = <E::Sum as Dtype>::Compute;
    type Out = E::Sum;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        Default::default()
    }
    #[inline(always)]
    fn meet(self, partial: Self::Partial, element: E, index: usize) -> Self::Partial {
        let number = if is_nan(element) { E::default() } else { element };
        Summing.meet(partial, number, index)
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish(self, partial: Self::Partial, _: usize) -> E::Sum {
        Dtype::from_compute(partial)
    }
}

#[inline(always)]
fn is_nan<E: Dtype>(element: E) -> bool {
    element.to_compute().predicate::<super::isnan>()
}

/// The mean of what is not NaN.
#[derive(Clone, Copy)]
pub struct AveragingNumbers;
impl<E: Dtype> Reducer<E> for AveragingNumbers {
    /// Their sum and how many there are.
    type Partial = (E::Compute, usize);
    type Out = E;
    #[inline(always)]
    fn start(self) -> Self::Partial {
        Default::default()
    }
    #[inline(always)]
    fn meet(self, (sum, count): Self::Partial, element: E, _: usize) -> Self::Partial {
        let nan = is_nan(element);
        let number = if nan { E::Compute::default() } else { element.to_compute() };
        (sum.binary::<Accumulating>(number), count + usize::from(!nan))
    }
    #[inline(always)]
    fn merge(self, one: Self::Partial, other: Self::Partial) -> Self::Partial {
        (one.0.binary::<Accumulating>(other.0), one.1 + other.1)
    }
    #[inline(always)]
    fn finish(self, (sum, count): Self::Partial, _: usize) -> E {
        E::from_compute(sum.binary::<super::div>(<E::Compute as Castable>::from_f64(count as f64)))
    }
}

/// How many elements are not zero.
#[derive(Clone, Copy)]
pub struct Counting;
impl<E: Dtype> Reducer<E> for Counting {
    type Partial = i64;
    type Out = i64;
    #[inline(always)]
    fn start(self) -> i64 {
        0
    }
    #[inline(always)]
    fn meet(self, partial: i64, element: E, _: usize) -> i64 {
        partial + i64::from(element.cast::<bool>())
    }
    #[inline(always)]
    fn merge(self, one: i64, other: i64) -> i64 {
        one + other
    }
    #[inline(always)]
    fn finish(self, partial: i64, _: usize) -> i64 {
        partial
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

/// What elements are measured with in the machine number that `E` computes in.
type RealOf<E> = <<E as Dtype>::Compute as Compute>::Real;

/// The sum of a real function of each element.
struct Measured<F>(PhantomData<fn() -> F>);
impl<F> Clone for Measured<F> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<F> Copy for Measured<F> {}
impl<F: ToReal, E: Dtype> Reducer<E> for Measured<F> {
    type Partial = RealOf<E>;
    type Out = E::RealDtype;
    #[inline(always)]
    fn start(self) -> RealOf<E> {
        Default::default()
    }
    #[inline(always)]
    fn meet(self, partial: RealOf<E>, element: E, _: usize) -> RealOf<E> {
        partial.binary::<Accumulating>(element.to_compute().to_real::<F>())
    }
    const BY_SEVERAL: bool = true;
    #[inline(always)]
    fn several<const M: usize>(self, lines: [&[E]; M]) -> [RealOf<E>; M] {
        together(self, lines)
    }
    #[inline(always)]
    fn merge(self, one: RealOf<E>, other: RealOf<E>) -> RealOf<E> {
        one.binary::<Accumulating>(other)
    }
    #[inline(always)]
    fn finish(self, partial: RealOf<E>, _: usize) -> E::RealDtype {
        partial.cast()
    }
}

/// Which norm.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Count,
    /// The same, but NaN where there is a NaN.
    CountOfNumbers,
    Sum,
    Euclidean,
    Largest,
    /// The largest that is not NaN.
    LargestNumber,
    Smallest,
    Power(f64),
}

/// The norm of a vector.
#[derive(Clone, Copy)]
pub struct Norming {
    order: Order,
}
impl Norming {
    /// The norm of this order.
    pub fn new(ord: f64) -> Self {
        let order = match ord {
            0.0 => Order::Count,
            1.0 => Order::Sum,
            2.0 => Order::Euclidean,
            f64::INFINITY => Order::Largest,
            f64::NEG_INFINITY => Order::Smallest,
            power => Order::Power(power),
        };
        Norming { order }
    }

    /// The norm of this order of a difference, as distances have it: NaN counts in each but the largest, which leaves it out.
    /// Source: `aten/src/ATen/native/cpu/DistanceOpsKernel.cpp`.
    pub(crate) fn of_difference(p: f64) -> Self {
        match p {
            0.0 => Norming { order: Order::CountOfNumbers },
            f64::INFINITY => Norming { order: Order::LargestNumber },
            p => Norming::new(p),
        }
    }
}
impl<E: Dtype> Reducer<E> for Norming {
    type Partial = RealOf<E>;
    type Out = E::RealDtype;
    fn has_identity(self) -> bool {
        !matches!(self.order, Order::Largest | Order::Smallest) && !matches!(self.order, Order::Power(p) if p < 0.0)
    }
    #[inline(always)]
    fn start(self) -> RealOf<E> {
        match self.order {
            Order::Smallest => Castable::from_f64(f64::INFINITY),
            _ => Default::default(),
        }
    }
    #[inline(always)]
    fn meet(self, partial: RealOf<E>, element: E, index: usize) -> RealOf<E> {
        let magnitude = || element.to_compute().to_real::<super::abs>();
        let term = match self.order {
            Order::Euclidean => return Measured::<Squared>(PhantomData).meet(partial, element, index),
            Order::Count => Castable::from_f64(f64::from(u8::from(element.cast::<bool>()))),
            Order::CountOfNumbers if is_nan(element) => Castable::from_f64(f64::NAN),
            Order::CountOfNumbers => Castable::from_f64(f64::from(u8::from(element.cast::<bool>()))),
            Order::Power(power) => magnitude().binary::<super::pow>(Castable::from_f64(power)),
            Order::Sum | Order::Largest | Order::LargestNumber | Order::Smallest => magnitude(),
        };
        <Self as Reducer<E>>::merge(self, partial, term)
    }
    #[inline(always)]
    fn merge(self, one: RealOf<E>, other: RealOf<E>) -> RealOf<E> {
        match self.order {
            Order::Largest => one.binary::<super::maximum>(other),
            Order::LargestNumber => one.binary::<super::fmax>(other),
            Order::Smallest => one.binary::<super::minimum>(other),
            _ => one.binary::<Accumulating>(other),
        }
    }
    /// The common norms have loops of their own.
    #[inline(always)]
    fn block(self, elements: &[E], index: usize) -> RealOf<E> {
        match self.order {
            Order::Sum => Measured::<super::abs>(PhantomData).block(elements, index),
            Order::Euclidean => Measured::<Squared>(PhantomData).block(elements, index),
            _ => lanes::<E, Self, FEW>(self, elements, index),
        }
    }
    const BY_SEVERAL: bool = true;
    #[inline(always)]
    fn several<const M: usize>(self, lines: [&[E]; M]) -> [RealOf<E>; M] {
        match self.order {
            Order::Sum => Measured::<super::abs>(PhantomData).several(lines),
            Order::Euclidean => Measured::<Squared>(PhantomData).several(lines),
            _ => lines.map(|line| self.block(line, 0)),
        }
    }
    #[inline(always)]
    fn finish(self, partial: RealOf<E>, _: usize) -> E::RealDtype {
        let norm = match self.order {
            Order::Euclidean => partial.unary::<super::sqrt>(),
            Order::Power(power) => partial.binary::<super::pow>(Castable::from_f64(1.0 / power)),
            _ => partial,
        };
        norm.cast()
    }
}
