//! Integration by the trapezoidal rule: `trapezoid` and `cumulative_trapezoid`, over equal steps and over given coordinates.

use crate::device::Device;
use crate::dtype::{Castable, Compute, Dtype, Element, Inexact};
use crate::dtype::{Complex, MachineFloat, Parameters, Tuned};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::Op;
use crate::ops::admit::NumericFor;
use crate::ops::kernel::{Constants, Slope};
use crate::ops::kernel::{Map1, Map2, Map3};
use crate::ops::pointwise::Differing;
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::{Accumulating, Sum};
use crate::ops::scan::RunningSum;
use crate::ops::slope::{Derived, OfBinary, OfPair, OfThree};
use crate::shape::{AxisArg, Dim, Dyn, HasAxis, SameSizeFor, Shape, SizeArray};
use crate::tensor::elementwise::apply::{map1, map2, map3};
use crate::tensor::reduce::reductions::reduce;
use crate::tensor::scan::cumulative::neighbours;
use crate::tensor::{SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;

/// `(a + b) * factor`, in the dtype `O`.
struct Pairs<C> {
    factor: C,
}
impl<C: Copy> Clone for Pairs<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Copy> Copy for Pairs<C> {}
/// The formula, for its derivative.
struct PairsFormula;
impl Tuned for PairsFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, [b, factor, _]: Parameters<T>) -> T {
        (a + b) * factor
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, [b, factor, _]: Parameters<Complex<T>>) -> Complex<T> {
        (a + b) * factor
    }
}
impl<E: Dtype, O: Dtype> Map2<E, E, O> for Pairs<O::Compute> {
    const SLOPE: Slope = Derived::<OfPair<PairsFormula>, O>::SLOPE;
    fn constants(self) -> Constants {
        [self.factor.cast(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, a: E, b: E) -> O {
        let sum = a.cast::<O>().to_compute().binary::<Accumulating>(b.cast::<O>().to_compute());
        O::from_compute(sum.binary::<ops::mul>(self.factor))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        let (a, b) = (kernel.operand(a, O::DTYPE), kernel.operand(b, O::DTYPE));
        let sum = kernel.row("sum", O::DTYPE, &[a, b]);
        let factor = kernel.parameter(self.factor);
        kernel.rounded("mul", O::DTYPE, &[sum, factor])
    }
}

/// `a + b`, or `a * b` with `TIMES`; integers wrap.
#[derive(Clone, Copy)]
struct Together<const TIMES: bool>;
impl<E: Dtype, const TIMES: bool> Map2<E, E, E> for Together<TIMES> {
    const SLOPE: Slope =
        if TIMES { Derived::<OfBinary<ops::mul>, E>::SLOPE } else { Derived::<OfBinary<Accumulating>, E>::SLOPE };
    #[inline(always)]
    fn call(self, a: E, b: E) -> E {
        let (a, b) = (a.to_compute(), b.to_compute());
        E::from_compute(if TIMES { a.binary::<ops::mul>(b) } else { a.binary::<Accumulating>(b) })
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        kernel.rounded(if TIMES { "mul" } else { "sum" }, E::DTYPE, &[a, b])
    }
}
/// Half of a sum, in the dtype `O`.
#[derive(Clone, Copy)]
struct Halving;
impl<E: Dtype, O: Dtype> Map1<E, O> for Halving {
    const SLOPE: Slope = Derived::<OfBinary<crate::ops::mul>, O>::BESIDE_RIGHT;
    fn constants(self) -> Constants {
        [0.5.into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, sum: E) -> O {
        O::from_compute(sum.cast::<O>().to_compute().binary::<ops::mul>(Castable::from_f64(0.5)))
    }
    fn text(&self, kernel: &mut Kernel, sum: Value) -> Value {
        let sum = kernel.operand(sum, O::DTYPE);
        let half = kernel.constant(0.5, sum.dtype());
        kernel.rounded("mul", O::DTYPE, &[sum, half])
    }
}

/// `(sum - (first + last) / 2) * dx`, in the dtype `O`: PyTorch's formula, with the ends added in their own dtype.
#[derive(Clone, Copy)]
struct WithoutHalfTheEnds {
    dx: f64,
}
/// The formula, for its derivative.
struct WithoutEndsFormula;
impl Tuned for WithoutEndsFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(sum: T, [first, last, dx]: Parameters<T>) -> T {
        (sum - (first + last) * T::lit(0.5)) * dx
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(sum: Complex<T>, [first, last, dx]: Parameters<Complex<T>>) -> Complex<T> {
        (sum - (first + last) * T::lit(0.5)) * dx
    }
}
impl<T: Dtype, E: Dtype, O: Dtype> Map3<T, E, E, O> for WithoutHalfTheEnds {
    const SLOPE: Slope = Derived::<OfThree<WithoutEndsFormula>, O>::SLOPE;
    fn constants(self) -> Constants {
        [self.dx.into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, sum: T, first: E, last: E) -> O {
        let ends: E = Together::<false>.call(first, last);
        let half: O = Halving.call(ends);
        let whole = sum.cast::<O>().to_compute().binary::<ops::sub>(half.to_compute());
        O::from_compute(whole.binary::<ops::mul>(Castable::from_f64(self.dx)))
    }
    fn text(&self, kernel: &mut Kernel, sum: Value, first: Value, last: Value) -> Value {
        let dx = kernel.parameter(<O::Compute as Castable>::from_f64(self.dx));
        let ends = Map2::<E, E, E>::text(&Together::<false>, kernel, first, last);
        let half = Map1::<E, O>::text(&Halving, kernel, ends);
        let (sum, half) = (kernel.operand(sum, O::DTYPE), kernel.widen(half));
        let whole = kernel.row("sub", O::DTYPE, &[sum, half]);
        kernel.rounded("mul", O::DTYPE, &[whole, dx])
    }
}

fn has_axis<P: Op, S: Shape>() -> Result<()> {
    if S::RANK > 0 {
        return Ok(());
    }
    let reason = "a zero-dim tensor has no axis to integrate along".to_owned();
    Err(Error::InvalidArgument { op: P::NAME, reason })
}

/// Twice the areas between adjacent elements at coordinates `x`, in the dtype of the elements: `(y[i] + y[i + 1]) * (x[i + 1] - x[i])`.
fn double_areas<P: Op, E: Dtype, S: Shape, T: Shape, N: Dim, D: Device>(
    y: &Tensor<E, S, D>,
    x: &Tensor<E, (N,), D>,
    axis: usize,
) -> Result<Tensor<E, T, D>> {
    has_axis::<P, S>()?;
    let len = y.shape().as_ref()[axis];
    if x.numel() != len {
        let expected = format!("[{len}]");
        return Err(Error::Shape { op: P::NAME, expected, found: x.shape()[..].into() });
    }
    let pairs: Tensor<E, T, D> = neighbours(Together::<false>, &y.clone().retyped::<T>(), axis)?;
    let steps: Tensor<E, (Dyn,), D> = neighbours(Differing, &x.clone().retyped::<(Dyn,)>(), 0)?;
    let (sizes, mut strides) = (pairs.shape(), T::Sizes::filled(0));
    strides.as_mut()[axis] = 1;
    let steps = steps.elements().restrided(sizes.as_ref(), strides.as_ref());
    map2::<E, E, T, D, E>(Together::<true>, pairs.elements(), steps, sizes, [E::DTYPE; 2])
}

/// Writes both forms of a rule: over equal steps and over given coordinates.
macro_rules! rules {
    ($($(#[$doc:meta])* $op:ident $name:ident $over:ident -> $result:ident, $even:ident $finish:ident $example:literal, $example_over:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ").")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// The elements are at a distance of `dx`. Dtypes: all but `bool`; integers give `f32`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`, with `dx`.")]
            ///
            /// # Panics
            /// If the tensor is zero-dim or memory runs out.
            ///
            /// ```
            /// use castiron::{axis, tensor};
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<const I: isize, O: Inexact>(&self, axis: impl AxisArg<I>, dx: f64) -> Result<Tensor<O, rules!(@$result S I), D>>
            where
                E: NumericFor<ops::reduce::$op> + Dtype<Inexact = O>,
                S: HasAxis<I>,
            {
                $even::<E, O, S, _, D>(self, dx, <S as HasAxis<I>>::INDEX)
            }

            $(#[$doc])*
            ///
            /// The elements are at coordinates `x`, one for each position along the axis. Dtypes: all but `bool`; integers give `f32`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`, with `x`.")]
            ///
            /// # Panics
            /// If the tensor is zero-dim, sizes known at run time differ or memory runs out.
            ///
            /// ```
            /// use castiron::{axis, tensor};
            #[doc = $example_over]
            /// ```
            #[fallible]
            pub fn $over<const I: isize, N, O: Inexact, F: Element, X: Device>(&self, x: &Tensor<F, (N,), X>, axis: impl AxisArg<I>) -> Result<Tensor<O, rules!(@$result S I), D>>
            where
                E: NumericFor<ops::reduce::$op> + Dtype<Inexact = O>,
                S: HasAxis<I>,
                <S as HasAxis<I>>::Dim: SameSizeFor<N, ops::reduce::$op>,
                N: Dim + SameDevice<D, X> + SameDtype<E, F, ops::reduce::$op>,
            {
                let x = N::alike(N::here(x));
                type T<S, const I: isize> = <S as HasAxis<I>>::Replace<Dyn>;
                let axis = <S as HasAxis<I>>::INDEX;
                let areas = double_areas::<ops::reduce::$op, E, S, T<S, I>, N, D>(self, x, axis)?;
                let sum: Tensor<E::Sum, rules!(@$result S I), D> = $finish(areas, axis)?;
                map1::<E::Sum, _, D, O>(Halving, sum.elements(), sum.shape(), E::Sum::DTYPE)
            }
        }
    )*};
    (@removed $S:ident $I:ident) => { <$S as HasAxis<$I>>::Removed };
    (@replaced $S:ident $I:ident) => { <$S as HasAxis<$I>>::Replace<Dyn> };
}
rules! {
    /// The integral along an axis by the trapezoidal rule.
    trapezoid trapezoid trapezoid_over -> removed, even_integral integral
        "assert_eq!(tensor![1.0, 5.0, 10.0].trapezoid(axis![0], 1.0).item(), 10.5);",
        "assert_eq!(tensor![1.0, 5.0, 10.0].trapezoid_over(&tensor![1.0, 2.0, 4.0], axis![0]).item(), 18.0);";
    /// The cumulative integral along an axis by the trapezoidal rule; the axis is one shorter.
    cumulative_trapezoid cumulative_trapezoid cumulative_trapezoid_over -> replaced, even_running_integral running_integral
        "assert_eq!(tensor![1, 5, 10].cumulative_trapezoid(axis![0], 1.0).to_vec(), [3.0, 10.5]);",
        "assert_eq!(tensor![1, 5, 10].cumulative_trapezoid_over(&tensor![1, 2, 4], axis![0]).to_vec(), [3.0, 18.0]);";
}

/// The integral over equal steps.
fn even_integral<E: Dtype, O: Dtype, S: Shape, R: Shape, D: Device>(
    y: &Tensor<E, S, D>,
    dx: f64,
    axis: usize,
) -> Result<Tensor<O, R, D>> {
    has_axis::<ops::reduce::trapezoid, S>()?;
    let sums: Tensor<E::Sum, R, D> = reduce::<ops::reduce::trapezoid, _, E, S, R, D>(Sum, y, 1 << axis, false)?;
    let Some(last) = y.shape().as_ref()[axis].checked_sub(1) else {
        return map1::<E::Sum, R, D, O>(Halving, sums.elements(), sums.shape(), E::Sum::DTYPE);
    };
    let end = |at: usize| y.try_viewed::<E, R>(|own, view| own.select("trapezoid", axis, at, view));
    let (first, last) = (end(0)?, end(last)?);
    let common = [E::Sum::DTYPE, E::DTYPE, E::DTYPE];
    let kernel = WithoutHalfTheEnds { dx };
    map3::<E::Sum, E, E, R, D, O>(kernel, sums.elements(), first.elements(), last.elements(), first.shape(), common)
}

/// The cumulative integral over equal steps: the cumulative sum of `(y[i] + y[i + 1]) * dx`, halved. `R` is `S` with a run-time size in
/// place of the axis.
fn even_running_integral<E: Dtype, O: Inexact, S: Shape, R: Shape, D: Device>(
    y: &Tensor<E, S, D>,
    dx: f64,
    axis: usize,
) -> Result<Tensor<O, R, D>> {
    has_axis::<ops::reduce::cumulative_trapezoid, S>()?;
    let factor: O::Compute = Castable::from_f64(dx / 2.0);
    let areas: Tensor<O, R, D> = neighbours(Pairs { factor }, &y.clone().retyped::<R>(), axis)?;
    running_integral::<O, O, R, R, D>(areas, axis)
}

/// The sum of areas, `O` being the dtype of sums of `E`.
fn integral<E: Dtype<Sum = O>, O: Dtype, T: Shape, R: Shape, D: Device>(
    areas: Tensor<E, T, D>,
    axis: usize,
) -> Result<Tensor<O, R, D>> {
    reduce::<ops::reduce::trapezoid, _, E, T, R, D>(Sum, &areas, 1 << axis, false)
}

/// The cumulative sums of areas. `R` is `T`.
fn running_integral<E: Dtype<Sum = O>, O: Dtype, T: Shape, R: Shape, D: Device>(
    areas: Tensor<E, T, D>,
    axis: usize,
) -> Result<Tensor<O, R, D>> {
    let storage = D::lanes::<E, O>(RunningSum, areas.elements(), axis)?;
    Ok(Tensor::dense(storage, R::Sizes::copied(areas.shape().as_ref())))
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::{bf16, f16};
    suite.two::<_, i32, i32, f32>("pairs", Pairs { factor: 0.3_f32 });
    suite.two::<_, f16, f16, f16>("pairs", Pairs { factor: 0.3_f32 });
    suite.two::<_, i8, i8, i8>("sum", Together::<false>);
    suite.two::<_, bf16, bf16, bf16>("product", Together::<true>);
    suite.one::<_, bf16, bf16>("halving", Halving);
    suite.one::<_, i64, f32>("halving", Halving);
    suite.three::<_, i64, i16, i16, f32>("without_half_the_ends", WithoutHalfTheEnds { dx: 0.3 });
}
