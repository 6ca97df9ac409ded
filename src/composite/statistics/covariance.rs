//! Statistics of samples: `cov`, `corrcoef`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Castable, Compute as _, Dtype, Element};
use crate::dtype::{Complex, MachineFloat, Parameters, Tuned, Unary};
use crate::error::{Result, invalid};
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::ops::kernel::{Constants, Slope};
use crate::ops::kernel::{Map1, Map2};
use crate::ops::pointwise::Differing;
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Mean;
use crate::ops::slope::{Derived, OfBinary, OfPair, OfUnary};
use crate::shape::{HasAxis, HasRank, Shape};
use crate::tensor::Tensor;
use castiron_macros::composites;

/// `x / factor`, conjugated or not.
#[derive(Clone, Copy)]
struct Scaled<const CONJUGATES: bool> {
    factor: f64,
}
impl<E: Dtype, const CONJUGATES: bool> Map1<E, E> for Scaled<CONJUGATES> {
    const SLOPE: Slope = if CONJUGATES && E::DTYPE.is_complex() {
        Derived::<OfUnary<ops::conj>, E>::SLOPE
    } else {
        Derived::<OfBinary<crate::ops::div>, E>::BESIDE_RIGHT
    };
    fn constants(self) -> Constants {
        [self.factor.into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, x: E) -> E {
        let x = x.to_compute();
        if CONJUGATES && E::DTYPE.is_complex() {
            return E::from_compute(x.unary::<ops::conj>());
        }
        E::from_compute(x.binary::<ops::div>(Castable::from_f64(self.factor)))
    }
    fn text(&self, kernel: &mut Kernel, x: Value) -> Value {
        let factor = kernel.parameter(<E::Compute as Castable>::from_f64(self.factor));
        let x = kernel.widen(x);
        if CONJUGATES && E::DTYPE.is_complex() {
            return kernel.rounded("conj", E::DTYPE, &[x]);
        }
        kernel.rounded("div", E::DTYPE, &[x, factor])
    }
}

/// `c / sqrt(d)`, `d` being the real part of another; in the last step parts are clamped to -1 and 1.
#[derive(Clone, Copy)]
struct ByDeviation<const CLIPS: bool>;
/// The formula, for its derivative: clipped where the constant is not 0.
struct ByDeviationFormula;
impl Tuned for ByDeviationFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(c: T, [variance, clips, _]: Parameters<T>) -> T {
        let quotient = c / variance.sqrt();
        if clips == T::zero() { quotient } else { Clipped::real(quotient) }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(c: Complex<T>, [variance, clips, _]: Parameters<Complex<T>>) -> Complex<T> {
        let quotient = c / variance.re.sqrt();
        if clips.re == T::zero() {
            quotient
        } else {
            Complex::new(Clipped::real(quotient.re), Clipped::real(quotient.im))
        }
    }
}
impl<E: Dtype, const CLIPS: bool> Map2<E, E, E> for ByDeviation<CLIPS> {
    const SLOPE: Slope = Derived::<OfPair<ByDeviationFormula>, E>::SLOPE;
    fn constants(self) -> Constants {
        [f64::from(u8::from(CLIPS)).into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, c: E, variance: E) -> E {
        let variance: E::RealDtype = variance.cast();
        let deviation = variance.to_compute().unary::<ops::sqrt>();
        let quotient = c.to_compute().binary::<ops::div>(deviation.cast());
        E::from_compute(if CLIPS { quotient.unary::<Clipped>() } else { quotient })
    }
    fn text(&self, kernel: &mut Kernel, c: Value, variance: Value) -> Value {
        let real = <E::RealDtype as Element>::DTYPE;
        let variance = kernel.operand(variance, real);
        let deviation = kernel.row("sqrt", real, &[variance]);
        let c = kernel.widen(c);
        let deviation = kernel.cast(deviation, c.dtype());
        let quotient = kernel.row("div", E::DTYPE, &[c, deviation]);
        let quotient = if CLIPS { kernel.unary::<Clipped>(quotient) } else { quotient };
        kernel.cast(quotient, E::DTYPE)
    }
}
/// Parts clamped to -1 and 1; NaN stays.
struct Clipped;
impl crate::dtype::Unary for Clipped {
    #[inline(always)]
    fn real<T: crate::dtype::MachineFloat>(x: T) -> T {
        if x > T::one() {
            T::one()
        } else if x < -T::one() {
            -T::one()
        } else {
            x
        }
    }
    #[inline(always)]
    fn complex<T: crate::dtype::MachineFloat>(z: crate::Complex<T>) -> crate::Complex<T> {
        crate::Complex::new(Self::real(z.re), Self::real(z.im))
    }
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The covariances of variables, each a row of observations. `correction` is that of [`var`](crate::Tensor::var).
    ///
    /// Integers give `f32`. For a single variable use `var`.
    #[op(cov, dtypes = numeric)]
    #[any(by_hand)]
    #[typed(<O: Dtype, T: Shape>(&self, correction: usize) -> Tensor<O, T, D>
        where
            E: NumericFor<ops::reduce::cov> + Dtype<Inexact = O>,
            S: HasRank<2, ops::reduce::cov> + HasAxis<0> + HasAxis<1, Replace<<S as HasAxis<0>>::Dim> = T>;
        correction = correction as i128)]
    #[example(let x = tensor![[1.0, 2.0], [3.0, 5.0]]; x.cov(1), x.cov(1, None, None), tensor![[0.5, 1.0], [1.0, 2.0]])]
    pub(crate) fn cov<O: Dtype>(&self, correction: i128) -> Result<Owned<O, D>>
    where
        E: Dtype<Inexact = O>,
    {
        let op = "cov";
        let &[_, observations] = self.sizes() else {
            return invalid(op, format!("a matrix is wanted, got a tensor with {} axes", self.rank()));
        };
        let left = (observations as i128).saturating_sub(correction).max(0) as f64;
        let x = self.to::<O>(op)?;
        let centered = x.map2::<O, O>(op, Differing, &x.reduce(Mean, 0b10, true)?)?;
        let products = if const { O::DTYPE.is_complex() } {
            let conjugate = centered.map1::<O>(op, Scaled::<true> { factor: 1.0 })?;
            centered.product(&conjugate.permute(op, &[1, 0])?)?
        } else {
            centered.product(&centered.permute(op, &[1, 0])?)?
        };
        products.map1::<O>(op, Scaled::<false> { factor: left })
    }

    /// The correlation coefficients of variables, each a row of observations: covariances divided by both standard deviations. Integers
    /// give `f32`.
    #[op(corrcoef, dtypes = numeric)]
    #[any(by_hand)]
    #[typed(<O: Dtype, T: Shape>(&self) -> Tensor<O, T, D>
        where
            E: NumericFor<ops::reduce::corrcoef> + Dtype<Inexact = O>,
            S: HasRank<2, ops::reduce::corrcoef> + HasAxis<0> + HasAxis<1, Replace<<S as HasAxis<0>>::Dim> = T>)]
    #[example(let x = tensor![[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]; x.corrcoef(), x.corrcoef(), tensor![[1.0, -1.0], [-1.0, 1.0]])]
    pub(crate) fn corrcoef<O: Dtype>(&self) -> Result<Owned<O, D>>
    where
        E: Dtype<Inexact = O>,
    {
        self.cov::<O>(1)?.correlations()
    }

    /// Covariances divided by both standard deviations.
    pub(crate) fn correlations(&self) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "corrcoef";
        // The diagonal has the variances: as a column for the rows, and as a row for the columns.
        let variances = self.viewed(op, 1, |own, view| Ok(own.diagonal(0, 0, 1, view)))?;
        let column = variances.viewed(op, 2, |own, view| Ok(own.unsqueeze(1, view)))?;
        self.map2::<E, E>(op, ByDeviation::<false>, &column)?.map2::<E, E>(op, ByDeviation::<true>, &variances)
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::{Complex, f16};
    suite.one::<_, f16, f16>("scaled", Scaled::<false> { factor: 3.0 });
    suite.one::<_, Complex<f32>, Complex<f32>>("scaled", Scaled::<true> { factor: 3.0 });
    suite.two::<_, f64, f64, f64>("by_deviation", ByDeviation::<false>);
    suite.two::<_, f16, f16, f16>("by_deviation", ByDeviation::<true>);
    suite.two::<_, Complex<f32>, Complex<f32>, Complex<f32>>("by_deviation", ByDeviation::<true>);
}
