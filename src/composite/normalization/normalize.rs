//! `normalize`: elements divided by norms.

use super::large::{is_seen, may_have_overflowed, over_scaled_norms};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{Castable, Compute, Dtype, Element};
use crate::dtype::{Complex, MachineFloat, Parameters, Tuned};
use crate::error::{Error, Result};
use crate::layout::memory_format::elementwise_of;
use crate::ops;
use crate::ops::admit::InexactFor;
use crate::ops::kernel::Map2;
use crate::ops::kernel::{Constants, Slope};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::{Reducer, VectorNorm};
use crate::ops::slope::{Derived, OfPair};
use crate::shape::Axes;
use castiron_macros::composites;

/// `x / max(norm, eps)`, the division in the dtype of `x`.
#[derive(Clone, Copy)]
struct DividingByNorm {
    eps: f64,
}
/// The formula, for its derivative.
struct DividedFormula;
impl Tuned for DividedFormula {
    #[inline(always)]
    fn real<T: MachineFloat>(x: T, [norm, eps, _]: Parameters<T>) -> T {
        x / if norm < eps { eps } else { norm }
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(x: Complex<T>, [norm, eps, _]: Parameters<Complex<T>>) -> Complex<T> {
        x / if norm.re < eps.re { eps.re } else { norm.re }
    }
}
impl<E: Dtype> Map2<E, E::RealDtype, E> for DividingByNorm {
    const SLOPE: Slope = Derived::<OfPair<DividedFormula>, E>::SLOPE;
    fn constants(self) -> Constants {
        [self.eps.into(), Default::default(), Default::default()]
    }
    #[inline(always)]
    fn call(self, x: E, norm: E::RealDtype) -> E {
        let norm = norm.to_compute();
        let least: E::RealDtype = Castable::from_f64(self.eps);
        let norm = norm.binary::<ops::maximum>(least.to_compute());
        E::from_compute(x.to_compute().binary::<ops::div>(norm.cast()))
    }
    fn text(&self, kernel: &mut Kernel, x: Value, norm: Value) -> Value {
        let real = <E::RealDtype as Element>::DTYPE;
        let least = kernel.parameter(<E::RealDtype as Castable>::from_f64(self.eps));
        let (norm, least) = (kernel.widen(norm), kernel.widen(least));
        let norm = kernel.row("maximum", real, &[norm, least]);
        let x = kernel.widen(x);
        let norm = kernel.cast(norm, x.dtype());
        kernel.rounded("div", E::DTYPE, &[x, norm])
    }
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Divides by the `p`-norm over axes, or by `eps` if that is larger. In PyTorch `p` is 2, the axis 1 and `eps` 1e-12 if not given.
    ///
    /// Shape: that of `self`.
    ///
    /// # Errors
    /// If a norm of negative or infinite order is over an empty axis.
    #[op(nn.functional.normalize(input, p = 2.0, dim = vec![1], eps = 1e-12), dtypes = inexact)]
    #[any(dims: &[i64] = self.reduced("normalize", Some(dims), true)?.0)]
    #[typed(<A: Axes<S>>(&self, axes: A, p: f64, eps: f64) -> Self
        where
            E: InexactFor<ops::reduce::normalize>;
        dims = {
            let _ = axes;
            A::MASK
        })]
    #[example(let x = tensor![[3.0, 4.0], [0.0, 0.0]]; x.normalize(axis![1], 2.0, 1e-12), x.normalize(2.0, &[1], 1e-12), tensor![[0.6, 0.8], [0.0, 0.0]])]
    pub(crate) fn normalize(&self, p: f64, dims: u32, eps: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let (op, norm) = ("normalize", VectorNorm::new(p));
        let is_empty = (0..self.rank()).any(|axis| dims >> axis & 1 == 1 && self.sizes()[axis] == 0);
        if is_empty && !Reducer::<E>::has_identity(norm) {
            return Err(Error::EmptyReduction { op, sizes: self.sizes().into() });
        }
        self.expect_memory()?;
        if is_seen::<E, D>(self.view()) {
            let norms = self.reduce(norm, dims, true)?;
            if !may_have_overflowed::<_, D>(norms.view())? {
                return self.map2::<E::RealDtype, E>(op, DividingByNorm { eps }, &norms);
            }
        }
        let mut kept = self.dims();
        kept.iter_mut().enumerate().for_each(|(axis, size)| *size = if dims >> axis & 1 == 1 { 1 } else { *size });
        let layouts = [(self.sizes(), self.strides(), false), (&*kept, &*kept.row_major(), false)];
        let to = elementwise_of(&self.dims(), layouts);
        Ok(Erased::fresh(over_scaled_norms::<E, D>(self.view(), dims, [p, eps], &to)?, self.dims(), to))
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    use crate::dtype::{Complex, f16};
    suite.two::<_, f16, f16, f16>("dividing_by_norm", DividingByNorm { eps: 1e-3 });
    suite.two::<_, Complex<f64>, f64, Complex<f64>>("dividing_by_norm", DividingByNorm { eps: 1e-12 });
}
