//! Products of vectors, the elements of the first conjugated: `vdot`, `vecdot`.

use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{Binary, Complex, Compute, Dtype, MachineFloat, MachineInt};
use crate::error::Result;
use crate::ops;
use crate::ops::admit::{InexactFor, NumericFor, SameDtypeFor};
use crate::ops::kernel::Slope;
use crate::ops::kernel::{Map1, Map2};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Sum;
use crate::ops::slope::{Derived, OfBinary, OfUnary};
use crate::shape::{AxisArg, Broadcast, Dim, HasAxis, HasRank, SameSizeFor, Shape};
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::composites;

/// `conj(a) * b`
struct ConjugateTimes;
impl Binary for ConjugateTimes {
    #[inline(always)]
    fn integer<T: MachineInt>(a: T, b: T) -> T {
        a.wrapping_mul(&b)
    }
    #[inline(always)]
    fn real<T: MachineFloat>(a: T, b: T) -> T {
        a * b
    }
    #[inline(always)]
    fn complex<T: MachineFloat>(a: Complex<T>, b: Complex<T>) -> Complex<T> {
        a.conj() * b
    }
    #[inline(always)]
    fn complex_gradient<T: MachineFloat>(by: usize, a: Complex<T>, b: Complex<T>, g: Complex<T>) -> Complex<T> {
        if by == 0 { g.conj() * b } else { a * g }
    }
}
/// `conj(a) * b` as a kernel, each product in the computing type of `E`.
#[derive(Clone, Copy)]
struct ConjugateProduct;
impl<E: Dtype> Map2<E, E, E> for ConjugateProduct {
    const SLOPE: Slope = Derived::<OfBinary<ConjugateTimes>, E>::SLOPE;
    #[inline(always)]
    fn call(self, a: E, b: E) -> E {
        E::from_compute(a.to_compute().binary::<ConjugateTimes>(b.to_compute()))
    }
    fn text(&self, kernel: &mut Kernel, a: Value, b: Value) -> Value {
        kernel.folded::<ConjugateTimes>(a, b)
    }
}

/// The conjugate.
#[derive(Clone, Copy)]
struct Conjugating;
impl<E: Dtype> Map1<E, E> for Conjugating {
    const SLOPE: Slope = Derived::<OfUnary<ops::conj>, E>::SLOPE;
    #[inline(always)]
    fn call(self, a: E) -> E {
        E::from_compute(a.to_compute().unary::<ops::conj>())
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        kernel.rounded("conj", E::DTYPE, &[a])
    }
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The product of two vectors, the elements of the first conjugated: `sum(conj(a) * b)`. Both have one dtype.
    ///
    /// # Errors
    /// If sizes differ.
    #[op(vdot(input, other), dtypes = numeric)]
    #[any(let () = self.expect_factors("vdot", [(self, 1), (other, 1)])?)]
    #[typed(<F: Dtype, N, X: Device>(&self, other: &Tensor<F, (N,), X>) -> Tensor<E, (), D>
        where
            E: NumericFor<ops::reduce::vdot> + SameDtypeFor<F, ops::reduce::vdot>,
            S: HasRank<1, ops::reduce::vdot> + HasAxis<0>,
            <S as HasAxis<0>>::Dim: SameSizeFor<N, ops::reduce::vdot>,
            N: Dim + SameDevice<D, X>)]
    #[example(let x = tensor![1.0, 2.0]; let y = tensor![3.0, 1.0]; x.vdot(&y), x.vdot(&y), Tensor::scalar(5.0))]
    pub(crate) fn vdot(&self, other: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        if const { E::DTYPE.is_complex() } {
            self.map1_dense::<E>("vdot", Conjugating)?.product(other)
        } else {
            self.product(other)
        }
    }

    /// The products of vectors along an axis, the elements of the first conjugated: `sum(conj(a) * b)`. The other axes broadcast. Both have
    /// one dtype.
    ///
    /// # Errors
    /// If shapes do not broadcast.
    #[op(linalg.vecdot(x, y, dim = -1), dtypes = inexact)]
    #[any(
        let () = self.expect_one_dtype("vecdot", [Some(other)])?,
        // PyTorch broadcasts all shapes except two vectors.
        if self.rank() == 1 && other.rank() == 1 && self.shape() != other.shape() {
            return Err(crate::Error::Broadcast { op: "vecdot", lhs: self.shape().into(), rhs: other.shape().into() });
        },
        dim: i64 = self.axis_of_both("vecdot", other, dim)?
    )]
    #[typed(<const I: isize, F: Dtype, R, T, X: Device>(&self, other: &Tensor<F, R, X>, axis: impl AxisArg<I>) -> Tensor<E, <T as HasAxis<I>>::Removed, D>
        where
            E: InexactFor<ops::reduce::vecdot> + SameDtypeFor<F, ops::reduce::vecdot> + Dtype<Sum = E>,
            S: Broadcast<R, Output = T>,
            T: Shape + HasAxis<I>,
            R: Shape + SameDevice<D, X>;
        dim = Axis({ let _ = axis; <T as HasAxis<I>>::INDEX }))]
    #[example(let x = tensor![[1.0, 2.0], [3.0, 4.0]]; let y = tensor![10.0, 1.0]; x.vecdot(&y, axis![-1]), x.vecdot(&y, -1), tensor![12.0, 34.0])]
    pub(crate) fn vecdot(&self, other: &Erased<'_, E, D>, dim: Axis) -> Result<Owned<E::Sum, D>> {
        self.map2::<E, E>("vecdot", ConjugateProduct, other)?.reduce(Sum, 1 << dim.0, false)
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.two::<_, f32, f32, f32>("conjugate_product", ConjugateProduct);
    suite.two::<_, Complex<f32>, Complex<f32>, Complex<f32>>("conjugate_product", ConjugateProduct);
    suite.one::<_, Complex<f64>, Complex<f64>>("conjugating", Conjugating);
}
