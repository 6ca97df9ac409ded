//! `addr`: the sum with an outer product.

use crate::composite::linalg::addmm::factor;
use crate::composite::linalg::product::Summand;
use crate::device::Device;
use crate::dtype::{Castable as _, Complex, MachineFloat, Parameters, Tuned};
use crate::dtype::{Category, Compute, DType, Dtype, Element, Scalar, ScalarValue};
use crate::error::{Error, Result};
use crate::ops::admit::NumericFor;
use crate::ops::kernel::{Constants, Slope};
use crate::ops::kernel::{Map1, Map2};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Accumulating;
use crate::ops::slope::{Derived, OfBinary, OfPair};
use crate::ops::{self, Op};
use crate::shape::{Dim, ExpandTo, Shape};
use crate::tensor::linalg::products::outer_product;
use crate::tensor::{SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;

/// `beta * input + alpha * product`, element by element; a `beta` of 0 ignores the input, even NaN.
struct Adding<C> {
    beta: C,
    alpha: C,
}
impl<C: Copy> Clone for Adding<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Copy> Copy for Adding<C> {}
impl<C: Compute> Adding<C> {
    #[inline(always)]
    fn scaled(self, product: C) -> C {
        self.alpha.binary::<ops::mul>(product)
    }
}
/// The formula, for its derivative.
struct AddingFormula;
impl Tuned for AddingFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(product: T, [input, alpha, beta]: Parameters<T>) -> T {
        alpha * product + beta * input
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(product: Complex<T>, [input, alpha, beta]: Parameters<Complex<T>>) -> Complex<T> {
        alpha * product + beta * input
    }
}
impl<E: Dtype> Map2<E, E, E> for Adding<E::Compute> {
    const SLOPE: Slope = Derived::<OfPair<AddingFormula>, E>::SLOPE;
    fn constants(self) -> Constants {
        [self.alpha.cast(), self.beta.cast(), Default::default()]
    }
    #[inline(always)]
    fn call(self, product: E, input: E) -> E {
        let input = self.beta.binary::<ops::mul>(input.to_compute());
        E::from_compute(input.binary::<Accumulating>(self.scaled(product.to_compute())))
    }
    fn text(&self, kernel: &mut Kernel, product: Value, input: Value) -> Value {
        let (beta, alpha) = (kernel.parameter(self.beta), kernel.parameter(self.alpha));
        let (product, input) = (kernel.widen(product), kernel.widen(input));
        let input = kernel.row("mul", E::DTYPE, &[beta, input]);
        let product = kernel.row("mul", E::DTYPE, &[alpha, product]);
        kernel.rounded("sum", E::DTYPE, &[input, product])
    }
}
impl<E: Dtype> Map1<E, E> for Adding<E::Compute> {
    const SLOPE: Slope = Derived::<OfBinary<crate::ops::mul>, E>::BESIDE_RIGHT;
    fn constants(self) -> Constants {
        [self.alpha.cast(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, product: E) -> E {
        E::from_compute(self.scaled(product.to_compute()))
    }
    fn text(&self, kernel: &mut Kernel, product: Value) -> Value {
        let (alpha, product) = (kernel.parameter(self.alpha), kernel.widen(product));
        kernel.rounded("mul", E::DTYPE, &[alpha, product])
    }
}

/// Checks that a factor of `addr` on integers is an integer, as PyTorch does. (The other operations truncate the factor.)
pub(crate) fn expect_whole_factor(op: &'static str, name: &str, value: ScalarValue, dtype: DType) -> Result<()> {
    let floating = matches!(value, ScalarValue::Float(_) | ScalarValue::Complex(_));
    if dtype.category() <= Category::Integral && floating {
        let reason = format!("`{name}` must not be a floating-point number for tensors of integers, got {value}");
        return Err(Error::InvalidArgument { op, reason });
    }
    Ok(())
}

/// `beta * input + alpha * outer(a, b)`, which PyTorch computes element by element.
fn add_outer<E: Dtype, S: Shape, M: Dim, N: Dim, D: Device>(
    input: &Tensor<E, S, D>,
    a: &Tensor<E, (M,), D>,
    b: &Tensor<E, (N,), D>,
    factors: [ScalarValue; 2],
) -> Result<Tensor<E, (M, N), D>> {
    for (name, factor) in ["beta", "alpha"].into_iter().zip(factors) {
        expect_whole_factor(ops::reduce::addr::NAME, name, factor, E::DTYPE)?;
    }
    let op = ops::reduce::addr::NAME;
    let (beta, alpha) = (factor::<E>(op, factors[0])?, factor::<E>(op, factors[1])?);
    let (summand, adding) = (Summand { op, input: input.elements(), beta, alpha }, Adding { beta, alpha });
    let mut product = outer_product::<E, E, E, M, N, D>(a, b)?;
    let sizes = product.shape();
    let strides = summand.strides(&sizes)?;
    if adding.beta == E::Compute::default() {
        D::update1::<E>(adding, product.elements_mut()?)?;
        return Ok(product);
    }
    D::update2::<E, E>(adding, summand.input.restrided(&sizes, &strides), product.elements_mut()?)?;
    Ok(product)
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// `beta * self + alpha * outer(vec1, vec2)`, of vectors.
    ///
    /// `self` is expanded to the shape of the result; a `beta` of 0 ignores it, even NaN. All have one dtype, which is the result's; `bool`
    /// is refused. Integers take no fractions as factors.
    ///
    /// PyTorch: `torch.addr`, where both factors are 1 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not match, or a factor does not fit.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1].addr(&tensor![1, 2], &tensor![3, 4], 1, 10).to_vec(), [31, 41, 61, 81]);
    /// ```
    #[fallible]
    pub fn addr<M, N, F: Element, G: Element, X: Device, Y: Device>(
        &self,
        vec1: &Tensor<F, (M,), X>,
        vec2: &Tensor<G, (N,), Y>,
        beta: impl Scalar,
        alpha: impl Scalar,
    ) -> Result<Tensor<E, (M, N), D>>
    where
        E: NumericFor<ops::reduce::addr>,
        M: Dim,
        N: Dim,
        S: ExpandTo<(M, N)>,
        M: SameDevice<D, X> + SameDtype<E, F, ops::reduce::addr>,
        N: SameDevice<D, Y> + SameDtype<E, G, ops::reduce::addr>,
    {
        add_outer(self, M::alike(M::here(vec1)), N::alike(N::here(vec2)), [beta.value(), alpha.value()])
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::{Complex, f16};
    suite.two::<_, f16, f16, f16>("adding", Adding { beta: 0.3_f32, alpha: 1.7 });
    suite.one::<_, i64, i64>("adding", Adding { beta: 2_i64, alpha: 3 });
    let (beta, alpha) = (Complex::new(0.5_f32, 1.0), Complex::new(2.0, -0.5));
    suite.two::<_, Complex<f32>, Complex<f32>, Complex<f32>>("adding", Adding { beta, alpha });
}
