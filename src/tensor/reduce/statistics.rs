//! Statistics of samples: `cov`, `corrcoef`, `bincount`, `histc`.
//! Uses `elementwise::apply`, `linalg::matmul`, `reduce::reductions`, `scan::cumulative`.

use crate::device::Device;
use crate::dtype::{Castable, Compute, Dtype, Element, bf16, f16};
use crate::error::{Error, Result, filled, listed};
use crate::ops;
use crate::ops::admit::{FloatFor, IntegerFor, NumericFor};
use crate::ops::kernel::{Casting, Map1, Map2};
use crate::ops::reduce::{Accumulating, Mean};
use crate::shape::{Dim, Dyn, HasAxis, HasRank, SameSizeFor, Shape};
use crate::tensor::Tensor;
use crate::tensor::elementwise::apply::{map1, map2};
use crate::tensor::linalg::matmul::multiply;
use crate::tensor::reduce::reductions::reduce;
use crate::tensor::scan::cumulative::Differing;
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

/// For each number from 0 to the largest, or below `minlength`: what its occurrences have added to a zero of `O`.
fn counted<O: Dtype, E: Dtype, S: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    minlength: usize,
    add: impl Fn(&mut O, usize),
) -> Result<Tensor<O, (Dyn,), D>> {
    let numbers: Vec<i64> = listed(D::download(x.elements())?.into_iter().map(|x: E| x.cast::<i64>()))?;
    let least = numbers.iter().min().copied().unwrap_or(0);
    if least < 0 {
        let reason = format!("the numbers counted must not be negative, got {least}");
        return Err(Error::InvalidArgument { op: "bincount", reason });
    }
    // None is negative.
    let len = numbers.iter().max().map_or(0, |&largest| largest as usize + 1).max(minlength);
    crate::tensor::checked_numel::<O>("bincount", &[len])?;
    let storage = D::build::<O>(Some(x.elements().buffer), || {
        let mut counts = filled(O::default(), len)?;
        numbers.iter().enumerate().for_each(|(at, &number)| add(&mut counts[number as usize], at));
        Ok(counts)
    })?;
    Ok(Tensor::dense(storage, [len]))
}

type Rows<O, D> = Tensor<O, (Dyn, Dyn), D>;

fn covariance<E: Dtype, O: Dtype, D: Device>(x: Rows<E, D>, correction: usize) -> Result<Rows<O, D>> {
    let sizes @ [variables, observations] = x.shape();
    let x: Rows<O, D> = map1::<E, (Dyn, Dyn), D, O>(Casting, x.elements(), sizes, E::DTYPE)?;
    let means: Rows<O, D> = reduce::<ops::reduce::cov, _, O, (Dyn, Dyn), _, D>(Mean, &x, 0b10, true)?;
    let centered: Rows<O, D> = map2(Differing, x.elements(), means.elements(), sizes, [O::DTYPE; 2])?;
    let conjugate: Rows<O, D> =
        map1::<O, (Dyn, Dyn), D, O>(Scaled::<true> { factor: 1.0 }, centered.elements(), sizes, O::DTYPE)?;
    let products: Rows<O, D> = multiply(centered.elements(), conjugate.t::<(Dyn, Dyn)>().elements(), None)?;
    let factor = observations.saturating_sub(correction) as f64;
    map1::<O, (Dyn, Dyn), D, O>(Scaled::<false> { factor }, products.elements(), [variables; 2], O::DTYPE)
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
        Ok(covariance::<E, O, D>(self.clone().retyped(), correction)?.retyped())
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
        let covariances = covariance::<E, O, D>(self.clone().retyped(), 1)?;
        let sizes @ [count, _] = covariances.shape();
        // The diagonal holds the variances: as a column beside every row, and as a row below every column.
        let diagonal = |down: usize, across: usize| {
            covariances.restrided::<(Dyn, Dyn)>(0, sizes, [down * (count + 1), across * (count + 1)])
        };
        let half: Rows<O, D> =
            map2(ByDeviation::<false>, covariances.elements(), diagonal(1, 0).elements(), sizes, [O::DTYPE; 2])?;
        let whole: Rows<O, D> =
            map2(ByDeviation::<true>, half.elements(), diagonal(0, 1).elements(), sizes, [O::DTYPE; 2])?;
        Ok(whole.retyped())
    }

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
        counted::<i64, E, S, D>(self, minlength, |count, _| *count += 1)
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
    pub fn bincount_weighted<W: BinWeight, N: Dim>(
        &self,
        weights: &Tensor<W, (N,), D>,
        minlength: usize,
    ) -> Result<Tensor<W::Total, (Dyn,), D>>
    where
        E: IntegerFor<ops::reduce::bincount>,
        S: HasRank<1, ops::reduce::bincount> + HasAxis<0>,
        <S as HasAxis<0>>::Dim: SameSizeFor<N, ops::reduce::bincount>,
    {
        if weights.numel() != self.numel() {
            let expected = format!("[{}]", self.numel());
            return Err(Error::Shape { op: "bincount", expected, found: weights.shape()[..].into() });
        }
        let weights = D::download(weights.elements())?;
        let add = |sum: &mut W::Total, at: usize| {
            let weight = weights[at].cast::<W::Total>().to_compute();
            *sum = Dtype::from_compute(sum.to_compute().binary::<Accumulating>(weight));
        };
        counted::<W::Total, E, S, D>(self, minlength, add)
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
        let elements: Vec<f64> = listed(D::download(self.elements())?.into_iter().map(|x: E| x.cast::<f64>()))?;
        // PyTorch computes in the dtype of the elements.
        let rounded = |x: f64| <E as Castable>::from_f64(x).cast::<f64>();
        let (mut low, mut high) = (rounded(min), rounded(max));
        if low == high && !elements.is_empty() {
            let nan = elements.iter().find(|x| x.is_nan()).copied();
            low = nan.unwrap_or(elements.iter().copied().fold(f64::INFINITY, f64::min));
            high = nan.unwrap_or(elements.iter().copied().fold(f64::NEG_INFINITY, f64::max));
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
        let mut counts = filled(0_u64, bins)?;
        for x in elements.into_iter().filter(|&x| x >= low && x <= high) {
            // Truncation finds the bin; `max` itself falls into the last.
            let bin = rounded(rounded(rounded(x - low) * rounded(bins as f64)) / rounded(high - low));
            counts[(bin as usize).min(bins - 1)] += 1;
        }
        let storage = D::build::<E>(Some(self.elements().buffer), || {
            listed(counts.into_iter().map(|count| Castable::from_f64(count as f64)))
        })?;
        Ok(Tensor::dense(storage, [bins]))
    }
}
