//! Statistics of samples: `cov`, `corrcoef`.
//! Uses `elementwise::apply`, `linalg::matmul`, `reduce::reductions`.

use crate::device::Device;
use crate::dtype::{Castable, Compute as _, Dtype, Element};
use crate::error::Result;
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::ops::kernel::{Casting, Map1, Map2};
use crate::ops::pointwise::Differing;
use crate::ops::reduce::Mean;
#[cfg(any(test, feature = "cuda"))]
use crate::ops::text::kernel::{Kernel, Value};
use crate::shape::{Dyn, HasAxis, HasRank, Shape};
use crate::tensor::Tensor;
use crate::tensor::elementwise::apply::{map1, map2};
use crate::tensor::linalg::matmul::multiply;
use crate::tensor::reduce::reductions::reduce;
use castiron_macros::fallible;

/// `x / factor`, conjugated or not.
#[derive(Clone, Copy)]
struct Scaled<const CONJUGATES: bool> {
    factor: f64,
}
impl<E: Dtype, const CONJUGATES: bool> Map1<E, E> for Scaled<CONJUGATES> {
    #[inline(always)]
    fn call(self, x: E) -> E {
        let x = x.to_compute();
        if CONJUGATES && E::DTYPE.is_complex() {
            return E::from_compute(x.unary::<ops::conj>());
        }
        E::from_compute(x.binary::<ops::div>(Castable::from_f64(self.factor)))
    }
    #[cfg(any(test, feature = "cuda"))]
    fn text(&self, kernel: &mut Kernel, x: Value) -> Value {
        let factor = kernel.parameter(<E::Compute as Castable>::from_f64(self.factor));
        let x = kernel.widen(x);
        if CONJUGATES && E::DTYPE.is_complex() {
            return kernel.rounded("conj", E::DTYPE, &[x]);
        }
        kernel.rounded("div", E::DTYPE, &[x, factor])
    }
}

/// `c / sqrt(d)`, `d` being the real part of another; the last time the parts come within -1 and 1.
#[derive(Clone, Copy)]
struct ByDeviation<const CLIPS: bool>;
impl<E: Dtype, const CLIPS: bool> Map2<E, E, E> for ByDeviation<CLIPS> {
    #[inline(always)]
    fn call(self, c: E, variance: E) -> E {
        let variance: E::RealDtype = variance.cast();
        let deviation = variance.to_compute().unary::<ops::sqrt>();
        let quotient = c.to_compute().binary::<ops::div>(deviation.cast());
        E::from_compute(if CLIPS { quotient.unary::<Clipped>() } else { quotient })
    }
    #[cfg(any(test, feature = "cuda"))]
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
/// Parts within -1 and 1; NaN stays.
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

type Rows<O, D> = Tensor<O, (Dyn, Dyn), D>;

/// The sums of products of deviations from the means of rows, divided by `count`.
pub(crate) fn covariance<E: Dtype, O: Dtype, D: Device>(x: Rows<E, D>, count: f64) -> Result<Rows<O, D>> {
    let sizes @ [variables, _] = x.shape();
    let x: Rows<O, D> = if const { E::DTYPE as u8 == O::DTYPE as u8 } {
        let (storage, offset) = D::share(x.elements());
        Tensor::from_parts(storage, offset, sizes, x.stride())
    } else {
        map1::<E, (Dyn, Dyn), D, O>(Casting, x.elements(), sizes, E::DTYPE)?
    };
    let means: Rows<O, D> = reduce::<ops::reduce::cov, _, O, (Dyn, Dyn), _, D>(Mean, &x, 0b10, true)?;
    let centered: Rows<O, D> = map2(Differing, x.elements(), means.elements(), sizes, [O::DTYPE; 2])?;
    let conjugate: Rows<O, D> = if const { !O::DTYPE.is_complex() } {
        centered.clone()
    } else {
        map1::<O, (Dyn, Dyn), D, O>(Scaled::<true> { factor: 1.0 }, centered.elements(), sizes, O::DTYPE)?
    };
    let products: Rows<O, D> = multiply(centered.elements(), conjugate.t::<(Dyn, Dyn)>().elements(), None)?;
    map1::<O, (Dyn, Dyn), D, O>(Scaled::<false> { factor: count }, products.elements(), [variables; 2], O::DTYPE)
}

/// Covariances divided by both standard deviations.
pub(crate) fn correlations<O: Dtype, D: Device>(covariances: Rows<O, D>) -> Result<Rows<O, D>> {
    let sizes @ [count, _] = covariances.shape();
    // The diagonal holds the variances: as a column beside every row, and as a row below every column.
    let diagonal = |down: usize, across: usize| {
        covariances.restrided::<(Dyn, Dyn)>(0, sizes, [down * (count + 1), across * (count + 1)])
    };
    let half: Rows<O, D> =
        map2(ByDeviation::<false>, covariances.elements(), diagonal(1, 0).elements(), sizes, [O::DTYPE; 2])?;
    map2(ByDeviation::<true>, half.elements(), diagonal(0, 1).elements(), sizes, [O::DTYPE; 2])
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The covariances of variables, each a row of observations. `correction` is that of [`var`](Self::var).
    ///
    /// Dtypes: all but `bool`; integers give `f32`.
    ///
    /// PyTorch: `torch.cov` of a matrix, where `correction` is 1 if not given. Of one variable use [`var`](Self::var).
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[1.0, 2.0], [3.0, 5.0]].cov(1).to_vec(), [0.5, 1.0, 1.0, 2.0]);
    /// ```
    #[fallible]
    pub fn cov<O: Dtype, T: Shape>(&self, correction: usize) -> Result<Tensor<O, T, D>>
    where
        E: NumericFor<ops::reduce::cov> + Dtype<Inexact = O>,
        S: HasRank<2, ops::reduce::cov> + HasAxis<0> + HasAxis<1, Replace<<S as HasAxis<0>>::Dim> = T>,
    {
        let x = self.clone().retyped::<(Dyn, Dyn)>();
        let count = x.shape()[1].saturating_sub(correction) as f64;
        Ok(covariance::<E, O, D>(x, count)?.retyped())
    }

    /// The correlation coefficients of variables, each a row of observations: covariances divided by both standard deviations.
    ///
    /// Dtypes: all but `bool`; integers give `f32`.
    ///
    /// PyTorch: `torch.corrcoef` of a matrix.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]].corrcoef().to_vec(), [1.0, -1.0, -1.0, 1.0]);
    /// ```
    #[fallible]
    pub fn corrcoef<O: Dtype, T: Shape>(&self) -> Result<Tensor<O, T, D>>
    where
        E: NumericFor<ops::reduce::corrcoef> + Dtype<Inexact = O>,
        S: HasRank<2, ops::reduce::corrcoef> + HasAxis<0> + HasAxis<1, Replace<<S as HasAxis<0>>::Dim> = T>,
    {
        let x = self.clone().retyped::<(Dyn, Dyn)>();
        let count = x.shape()[1].saturating_sub(1) as f64;
        Ok(correlations::<O, D>(covariance::<E, O, D>(x, count)?)?.retyped())
    }
}

/// The kernels of this file, for the test of their text.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::text::suite::Suite) {
    use crate::dtype::{Complex, f16};
    suite.one::<_, f16, f16>("scaled", Scaled::<false> { factor: 3.0 });
    suite.one::<_, Complex<f32>, Complex<f32>>("scaled", Scaled::<true> { factor: 3.0 });
    suite.two::<_, f64, f64, f64>("by_deviation", ByDeviation::<false>);
    suite.two::<_, f16, f16, f16>("by_deviation", ByDeviation::<true>);
    suite.two::<_, Complex<f32>, Complex<f32>, Complex<f32>>("by_deviation", ByDeviation::<true>);
}
