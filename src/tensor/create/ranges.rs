//! Counted tensors: `arange`, `linspace` and `logspace`.
//!
//! PyTorch converts the arguments to the dtype first (an integral dtype truncates their fractions) and rounds every step of the arithmetic
//! to it; the results here are the same.

use crate::device::Device;
use crate::dtype::{Castable, Category, DType, Real, Scalar, ScalarValue};
use crate::error::{Error, Result};
use crate::ops::kernel::{Map1, VectorWidth};
use crate::ops::record::kernel::{Kernel, Value};
use crate::shape::{Dim, KnownShape};
use crate::tensor::Tensor;
use crate::tensor::create::constructors::fill_value;
use castiron_macros::fallible;

/// A bound or a step as a float, or an error.
fn real(op: &'static str, value: ScalarValue) -> Result<f64> {
    match value {
        ScalarValue::Bool(value) => Ok(f64::from(u8::from(value))),
        ScalarValue::Int(value) => Ok(value as f64),
        ScalarValue::Float(value) if value.is_finite() => Ok(value),
        ScalarValue::Float(_) => Err(invalid(op, format!("the argument {value} is not finite"))),
        ScalarValue::Complex(_) => {
            Err(invalid(op, format!("the argument {value} is complex: complex numbers have no order")))
        }
    }
}

fn invalid(op: &'static str, reason: String) -> Error {
    Error::InvalidArgument { op, reason }
}

/// A bound or a step as an integer, truncated.
fn whole<E: Real>(op: &'static str, value: ScalarValue) -> Result<i128> {
    match value {
        ScalarValue::Int(value) => Ok(value),
        _ => {
            let float = real(op, value)?;
            // Within `i64`, as every integral dtype is, the conversion is exact.
            if float.abs() < 9_223_372_036_854_775_808.0 {
                Ok(float as i128)
            } else {
                Err(Error::ScalarOutOfRange { op, value, dtype: E::DTYPE })
            }
        }
    }
}

/// The number of elements, or an error if it is no valid size.
fn size(op: &'static str, count: f64) -> Result<usize> {
    if count < isize::MAX as f64 {
        Ok(count as usize)
    } else {
        Err(Error::TooLarge { op, sizes: [usize::MAX][..].into() })
    }
}

/// `first + by * i`, in `f64`.
#[derive(Clone, Copy)]
struct Stepping {
    first: f64,
    by: f64,
}
impl<E: Castable> Map1<i64, E> for Stepping {
    #[inline(always)]
    fn call(self, i: i64) -> E {
        E::from_f64(self.first + self.by * i as f64)
    }
    fn text(&self, kernel: &mut Kernel, i: Value) -> Value {
        let (first, by) = (kernel.parameter(self.first), kernel.parameter(self.by));
        let i = kernel.cast(i, DType::F64);
        let steps = kernel.infix(by, "*", i, DType::F64);
        let number = kernel.infix(first, "+", steps, DType::F64);
        kernel.cast(number, E::DTYPE)
    }
}

/// `start + step * i`
#[derive(Clone, Copy)]
struct Counting {
    start: i64,
    step: i64,
}
impl<E: Castable> Map1<i64, E> for Counting {
    #[inline(always)]
    fn call(self, i: i64) -> E {
        E::from_i64(self.start.wrapping_add(self.step.wrapping_mul(i)))
    }
    fn text(&self, kernel: &mut Kernel, i: Value) -> Value {
        let (start, step) = (kernel.parameter(self.start), kernel.parameter(self.step));
        let steps = kernel.prelude("mul", &[step, i], DType::I64);
        let number = kernel.prelude("add", &[start, steps], DType::I64);
        kernel.cast(number, E::DTYPE)
    }
}

/// Rounds to the dtype; integers compute in `f64`. Rounding an `f64` result gives the dtype's own result: `f64` has more than twice the
/// digits of the smaller floats.
#[inline(always)]
fn in_f64<E: Real>(x: f64) -> f64 {
    if E::DTYPE.category() == Category::Integral { x } else { E::from_f64(x).to_scalar().real_part() }
}

/// Rounds to the dtype; integers compute in `f32`.
#[inline(always)]
fn in_f32<E: Real>(x: f64) -> f64 {
    if E::DTYPE.category() == Category::Integral { f64::from(x as f32) } else { in_f64::<E>(x) }
}

/// `in_f64` as kernel source.
fn text_in_f64<E: Real>(kernel: &mut Kernel, x: Value) -> Value {
    let dtype = if E::DTYPE.category() == Category::Integral { DType::F64 } else { E::DTYPE };
    let x = kernel.cast(x, dtype);
    kernel.cast(x, DType::F64)
}
/// `in_f32` as kernel source.
fn text_in_f32<E: Real>(kernel: &mut Kernel, x: Value) -> Value {
    let dtype = if E::DTYPE.category() == Category::Integral { DType::F32 } else { E::DTYPE };
    let x = kernel.cast(x, dtype);
    kernel.cast(x, DType::F64)
}

/// Evenly spaced numbers, computed from both ends, so that the last one is exactly the end.
#[derive(Clone, Copy)]
pub(crate) struct Spaced {
    start: f64,
    end: f64,
    step: f64,
    /// The index of the last number.
    last: i64,
    /// The number of elements that are computed from the start.
    half: i64,
}
impl Spaced {
    pub(crate) fn new(start: f64, end: f64, numel: usize, rounded: impl Fn(f64) -> f64) -> Self {
        let step = if numel > 1 { rounded(rounded(end - start) / rounded((numel - 1) as f64)) } else { 0.0 };
        // The number of elements fits `i64`.
        Spaced { start, end, step, last: numel as i64 - 1, half: if numel < 2 { 1 } else { numel as i64 / 2 } }
    }

    /// The number at an index; all steps of the arithmetic except the last are rounded.
    #[inline(always)]
    pub(crate) fn at(self, i: i64, rounded: impl Fn(f64) -> f64) -> f64 {
        let steps = |i: i64| rounded(self.step * rounded(i as f64));
        if i < self.half { self.start + steps(i) } else { self.end - steps(self.last - i) }
    }

    /// [`at`](Self::at) as kernel source.
    fn text_of_number(self, kernel: &mut Kernel, i: Value, rounded: impl Fn(&mut Kernel, Value) -> Value) -> Value {
        let [start, end, step] = [self.start, self.end, self.step].map(|x| kernel.parameter(x));
        let [last, half] = [self.last, self.half].map(|x| kernel.parameter(x));
        let from_end = kernel.prelude("sub", &[last, i], DType::I64);
        let [below, above] = [i, from_end].map(|i| {
            let i = kernel.cast(i, DType::F64);
            let i = rounded(kernel, i);
            let steps = kernel.infix(step, "*", i, DType::F64);
            rounded(kernel, steps)
        });
        let (below, above) = (kernel.infix(start, "+", below, DType::F64), kernel.infix(end, "-", above, DType::F64));
        let is_below = kernel.infix(i, "<", half, DType::Bool);
        kernel.choose(is_below, below, above)
    }
}
impl<E: Real> Map1<i64, E> for Spaced {
    #[inline(always)]
    fn call(self, i: i64) -> E {
        E::from_f64(self.at(i, in_f64::<E>))
    }
    fn text(&self, kernel: &mut Kernel, i: Value) -> Value {
        let number = self.text_of_number(kernel, i, text_in_f64::<E>);
        kernel.cast(number, E::DTYPE)
    }
}

/// A base to the power of evenly spaced exponents; a single exponent is used as given, not rounded.
#[derive(Clone, Copy)]
struct PowersOf {
    base: f64,
    start: f64,
    exponents: Spaced,
}
/// `powf` as kernel source.
struct Power;
impl crate::dtype::Binary for Power {
    fn real<T: crate::dtype::MachineFloat>(base: T, exponent: T) -> T {
        base.powf(exponent)
    }
}
impl<E: Real> Map1<i64, E> for PowersOf {
    /// `powf` is a library function without a vectorised form.
    const VECTORS: VectorWidth = VectorWidth::None;
    #[inline(always)]
    fn call(self, i: i64) -> E {
        let exponent =
            if self.exponents.last < 1 { self.start } else { in_f32::<E>(self.exponents.at(i, in_f32::<E>)) };
        E::from_f64(self.base.powf(exponent))
    }
    fn text(&self, kernel: &mut Kernel, i: Value) -> Value {
        let (base, start) = (kernel.parameter(self.base), kernel.parameter(self.start));
        let is_single = kernel.parameter(self.exponents.last < 1);
        let exponent = self.exponents.text_of_number(kernel, i, text_in_f32::<E>);
        let exponent = text_in_f32::<E>(kernel, exponent);
        let exponent = kernel.choose(is_single, start, exponent);
        let power = kernel.binary::<Power>(base, exponent);
        kernel.cast(power, E::DTYPE)
    }
}

impl<E: Real, N: Dim, D: Device> Tensor<E, (N,), D> {
    /// The numbers from `start` up to but not including `end`, at a distance of `step` (`torch.arange`).
    ///
    /// An integral dtype truncates start and step; int64 all three arguments. The other integral dtypes count the numbers before that: from
    /// 0 to 3 by 1.5 they are 0, 1, and by 0.75 they are 0, 0, 0, 0, as in PyTorch.
    ///
    /// # Panics
    /// If the step is zero (for int64: less than one) or leads away from the end, if an argument is complex, not finite or does not fit the
    /// dtype, if the number of elements is not that of the type, or if memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<i64, shape![5]>::arange(0, 10, 2).to_vec(), [0, 2, 4, 6, 8]);
    /// assert_eq!(Tensor::<f32, shape![_]>::arange(1.0, 2.0, 0.25).to_vec(), [1.0, 1.25, 1.5, 1.75]);
    /// ```
    #[fallible]
    pub fn arange(start: impl Scalar, end: impl Scalar, step: impl Scalar) -> Result<Self> {
        let op = "arange";
        let arguments = [start.value(), end.value(), step.value()];
        let [start, end, step] = arguments;
        let [first, last, by] = [real(op, start)?, real(op, end)?, real(op, step)?];
        if by == 0.0 {
            return Err(invalid(op, "the step must not be zero".to_owned()));
        }
        if (last - first) * by.signum() < 0.0 {
            return Err(invalid(op, format!("a step of {step} leads away from {end}")));
        }
        // A range of integers is counted exactly; so is one of int64, from its truncated arguments. Other dtypes count from the arguments
        // as they are.
        let integers = match arguments {
            [ScalarValue::Int(start), ScalarValue::Int(end), ScalarValue::Int(step)] => Some([start, end, step]),
            _ if E::DTYPE == DType::I64 => Some([whole::<E>(op, start)?, whole::<E>(op, end)?, whole::<E>(op, step)?]),
            _ => None,
        };
        let numel = match integers {
            Some([_, _, 0]) => return Err(invalid(op, format!("a step of {step} is zero as {}", E::DTYPE))),
            Some([start, end, step]) => size(op, (end - start).unsigned_abs().div_ceil(step.unsigned_abs()) as f64)?,
            None => size(op, ((last - first) / by).ceil())?,
        };
        if E::DTYPE.category() != Category::Integral {
            return Self::tabulated(op, [numel], |_| Stepping { first, by });
        }
        let [start, step] = [whole::<E>(op, start)?, whole::<E>(op, step)?];
        if let Some(steps) = numel.checked_sub(1) {
            for value in [start, start + step * steps as i128] {
                fill_value::<E>(op, ScalarValue::Int(value))?;
            }
        }
        // The numbers lie between two that fit the dtype, and hence `i64`; a larger step does not matter.
        Self::tabulated(op, [numel], |_| Counting { start: start as i64, step: step as i64 })
    }

    /// Evenly spaced numbers from `start` to `end`, both included (`torch.linspace`), as many as the type says. An integral dtype truncates
    /// both ends and each number.
    ///
    /// # Panics
    /// If an end is complex, not finite or does not fit the dtype, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<f32, shape![5]>::linspace(0.0, 1.0).to_vec(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    /// ```
    #[fallible]
    pub fn linspace(start: impl Scalar, end: impl Scalar) -> Result<Self>
    where
        (N,): KnownShape<Sizes = [usize; 1]>,
    {
        Self::try_linspace_sized(<(N,) as KnownShape>::SIZES, start, end)
    }

    /// [`linspace`](Self::linspace) with a size known at run time.
    ///
    /// # Panics
    /// If the size is not that of the type, an end is complex, not finite or does not fit the dtype, or memory runs out.
    #[fallible]
    pub fn linspace_sized(sizes: [usize; 1], start: impl Scalar, end: impl Scalar) -> Result<Self> {
        let op = "linspace";
        let bound = |value: ScalarValue| {
            Ok::<f64, Error>(real(op, value).and(fill_value::<E>(op, value))?.to_scalar().real_part())
        };
        let (start, end) = (bound(start.value())?, bound(end.value())?);
        Self::tabulated(op, sizes, |numel| Spaced::new(start, end, numel, in_f64::<E>))
    }

    /// Powers of a base whose exponents are evenly spaced from `start` to `end`, both included (`torch.logspace`), as many as the type
    /// says. An integral dtype truncates both ends and each power.
    ///
    /// # Panics
    /// If an argument is complex, not finite or does not fit the dtype, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// assert_eq!(Tensor::<f32, shape![4]>::logspace(0, 3, 10).to_vec(), [1.0, 10.0, 100.0, 1000.0]);
    /// ```
    #[fallible]
    pub fn logspace(start: impl Scalar, end: impl Scalar, base: impl Scalar) -> Result<Self>
    where
        (N,): KnownShape<Sizes = [usize; 1]>,
    {
        Self::try_logspace_sized(<(N,) as KnownShape>::SIZES, start, end, base)
    }

    /// [`logspace`](Self::logspace) with a size known at run time.
    ///
    /// # Panics
    /// If the size is not that of the type, an argument is complex, not finite or does not fit the dtype, or memory runs out.
    #[fallible]
    pub fn logspace_sized(sizes: [usize; 1], start: impl Scalar, end: impl Scalar, base: impl Scalar) -> Result<Self> {
        let op = "logspace";
        let bound = |value: ScalarValue| {
            Ok::<f64, Error>(real(op, value).and(fill_value::<E>(op, value))?.to_scalar().real_part())
        };
        let (start, end, base) = (start.value(), end.value(), real(op, base.value())?);
        let (first, last) = (bound(start)?, bound(end)?);
        let base = if E::DTYPE.category() == Category::Integral { base } else { in_f32::<E>(base) };
        let start = real(op, start)?;
        Self::tabulated(op, sizes, |numel| PowersOf {
            base,
            start,
            exponents: Spaced::new(first, last, numel, in_f32::<E>),
        })
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::{bf16, f16};
    suite.table::<_, f32>("stepping", Stepping { first: 0.3, by: 0.7 });
    suite.table::<_, i32>("stepping", Stepping { first: 0.3, by: 0.7 });
    suite.table::<_, i64>("counting", Counting { start: -5, step: 3 });
    suite.table::<_, f16>("counting", Counting { start: -5, step: 3 });
    let spaced = Spaced::new(0.1, 7.3, 287, in_f64::<f16>);
    suite.table::<_, f16>("spaced", spaced);
    suite.table::<_, f32>("spaced", Spaced::new(0.1, 7.3, 287, in_f64::<f32>));
    suite.table::<_, i32>("spaced", Spaced::new(0.1, 700.3, 287, in_f64::<i32>));
    suite.table::<_, bf16>("powers", PowersOf { base: 2.0, start: 0.1, exponents: spaced });
    suite.table::<_, i64>(
        "powers",
        PowersOf { base: 2.0, start: 0.1, exponents: Spaced::new(0.0, 40.0, 287, in_f32::<i64>) },
    );
    suite.table::<_, f64>(
        "powers",
        PowersOf { base: 3.0, start: 0.1, exponents: Spaced::new(0.1, 0.1, 1, in_f32::<f64>) },
    );
    suite.table::<_, i64>("copy", crate::ops::kernel::Copying);
}
