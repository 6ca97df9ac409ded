//! Products of vectors and matrices by rank: `mm`, `mv`, `bmm`, `dot`, `vdot`, `vecdot`, `outer`.

use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Binary, Complex, Compute, Dtype, Element, MachineFloat, MachineInt, Promotable};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::admit::{InexactFor, NumericFor, SameDtypeFor};
use crate::ops::kernel::{Combining, Map1, Map2};
use crate::ops::record::kernel::{Kernel, Value};
use crate::ops::reduce::Sum;
use crate::shape::{AxisArg, BatchMatMul, Broadcast, Dim, HasAxis, HasRank, MatMul, SameSizeFor, Shape};
use crate::storage::View;
use crate::tensor::base::operand::TensorOperand;
use crate::tensor::elementwise::apply::{broadcast, map2};
use crate::tensor::linalg::matmul::multiply;
use crate::tensor::{SameDevice, Tensor, checked_numel};
use castiron_macros::fallible;

/// Writes products that are `matmul` for tensors of given ranks.
macro_rules! products {
    ($($(#[$doc:meta])* $name:ident [$left:literal $right:literal] $torch:literal, $example:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ").")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            #[doc = concat!("As [`matmul`](Self::matmul), for operands of rank ", $left, " and ", $right, ".")]
            ///
            #[doc = concat!("PyTorch: `", $torch, "`.")]
            ///
            /// # Panics
            /// If sizes known at run time do not match or memory runs out.
            ///
            /// ```
            /// use castiron::{shape, tensor, Tensor};
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<R: TensorOperand, T: Shape>(&self, other: R) -> Result<Tensor<E, T, D>>
            where
                E: NumericFor<ops::reduce::$name> + SameDtypeFor<R::Elem, ops::reduce::$name>,
                S: HasRank<$left, ops::reduce::$name> + MatMul<R::Shape, Output = T>,
                R::Shape: HasRank<$right, ops::reduce::$name>,
                D: Receives<R::Place, Dimensioned>,
            {
                self.product_with::<ops::reduce::$name, R, T>(other)
            }
        }
    )*};
}
products! {
    /// The product of two matrices.
    mm [2 2] "torch.mm",
        "assert_eq!(tensor![[1, 2], [3, 4]].mm(tensor![[1, 0], [1, 1]]).to_vec(), [3, 2, 7, 4]);";
    /// The product of a matrix and a vector.
    mv [2 1] "torch.mv",
        "assert_eq!(tensor![[1, 2], [3, 4]].mv(tensor![10, 1]).to_vec(), [12, 34]);";
    /// The product of two vectors: the sum of the products of their elements.
    dot [1 1] "torch.dot",
        "assert_eq!(tensor![1, 2, 3].dot(tensor![4, 5, 6]).item(), 32);";
}

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
}
/// `conj(a) * b` as a kernel, each product in the computing type of `E`.
#[derive(Clone, Copy)]
struct ConjugateProduct;
impl<E: Dtype> Map2<E, E, E> for ConjugateProduct {
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
    #[inline(always)]
    fn call(self, a: E) -> E {
        E::from_compute(a.to_compute().unary::<ops::conj>())
    }
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        kernel.rounded("conj", E::DTYPE, &[a])
    }
}

/// `a[i] * b[j]`, computed in the dtype `P`.
pub(crate) fn outer_product<P: Dtype, E: Dtype, F: Dtype, M: Dim, N: Dim, D: Device>(
    a: &Tensor<E, (M,), D>,
    b: &Tensor<F, (N,), D>,
) -> Result<Tensor<P, (M, N), D>> {
    let ([m], [n]) = (a.shape(), b.shape());
    checked_numel::<P>("outer", &[m, n])?;
    let column = a.elements();
    let (sizes, strides) = ([m, 1], [column.strides[0], 0]);
    let column = column.restrided(&sizes, &strides);
    map2::<E, F, (M, N), D, P>(Combining::<ops::mul, P>::new(), column, b.elements(), [m, n], [P::DTYPE; 2])
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The products of two batches of matrices, pair by pair: `(B, M, K)` and `(B, K, N)` give `(B, M, N)`. The batches have one length;
    /// [`matmul`](Self::matmul) broadcasts.
    ///
    /// PyTorch: `torch.bmm`.
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let (a, b) = (Tensor::<f32, shape![8, 2, 3]>::ones(), Tensor::<f32, shape![8, 3, 4]>::ones());
    /// let product: Tensor<f32, shape![8, 2, 4]> = a.bmm(&b);
    /// assert_eq!(product[(7, 1, 3)], 3.0);
    /// ```
    #[fallible]
    pub fn bmm<R: TensorOperand, T: Shape>(&self, other: R) -> Result<Tensor<E, T, D>>
    where
        E: NumericFor<ops::reduce::bmm> + SameDtypeFor<R::Elem, ops::reduce::bmm>,
        S: BatchMatMul<R::Shape, Output = T>,
        D: Receives<R::Place, Dimensioned>,
    {
        if let crate::tensor::base::operand::OperandSource::View(right) = other.source() {
            let own = self.shape();
            if own.as_ref()[0] != right.sizes[0] {
                return Err(Error::Broadcast { op: "bmm", lhs: own.as_ref().into(), rhs: right.sizes.into() });
            }
        }
        self.product_with::<ops::reduce::bmm, R, T>(other)
    }

    /// The outer product: every element of one vector times every element of another, `(M)` and `(N)` give `(M, N)`. Dtypes promote.
    ///
    /// PyTorch: `torch.outer`.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![1, 2].outer(&tensor![0.5, 10.0]).to_vec(), [0.5, 10.0, 1.0, 20.0]);
    /// ```
    #[doc(alias = "ger")]
    #[fallible]
    pub fn outer<F: Dtype, P: Dtype, M: Dim, N, X: Device>(
        &self,
        other: &Tensor<F, (N,), X>,
    ) -> Result<Tensor<P, (M, N), D>>
    where
        E: Dtype + Promotable<With<F> = P>,
        S: HasRank<1, ops::reduce::outer> + HasAxis<0, Dim = M>,
        N: Dim + SameDevice<D, X>,
    {
        outer_product::<P, E, F, M, N, D>(&self.clone().retyped(), N::here(other))
    }

    /// The product of two vectors, the elements of the first conjugated: `sum(conj(a) * b)`.
    ///
    /// PyTorch: `torch.vdot`. Both have one dtype; `bool` is refused.
    ///
    /// # Panics
    /// If sizes known at run time differ or memory runs out.
    ///
    /// ```
    /// use castiron::{tensor, Complex};
    /// assert_eq!(tensor![1.0j, 2.0].vdot(&tensor![1.0j, 1.0]).item(), Complex::new(3.0, 0.0));
    /// ```
    #[fallible]
    pub fn vdot<F: Dtype, N, X: Device>(&self, other: &Tensor<F, (N,), X>) -> Result<Tensor<E, (), D>>
    where
        E: NumericFor<ops::reduce::vdot> + SameDtypeFor<F, ops::reduce::vdot>,
        S: HasRank<1, ops::reduce::vdot> + HasAxis<0>,
        <S as HasAxis<0>>::Dim: SameSizeFor<N, ops::reduce::vdot>,
        N: Dim + SameDevice<D, X>,
    {
        let other = N::here(other);
        let other = other.elements().known_as::<E>();
        if !E::DTYPE.is_complex() {
            return multiply(self.elements(), other, None);
        }
        let conjugate = D::map1::<E, E>(Conjugating, self.elements(), &[1])?;
        multiply(View::new(&conjugate, 0, self.shape().as_ref(), &[1]), other, None)
    }

    /// The products of vectors along an axis, the elements of the first conjugated: `sum(conj(a) * b)`. The other axes broadcast.
    ///
    /// PyTorch: `torch.linalg.vecdot`. Dtypes: floating-point and complex, the same for both.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast or memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[1.0, 2.0], [3.0, 4.0]];
    /// assert_eq!(x.vecdot(&tensor![10.0, 1.0], axis![-1]).to_vec(), [12.0, 34.0]);
    /// ```
    #[fallible]
    pub fn vecdot<const I: isize, F: Dtype, R, T, X: Device>(
        &self,
        other: &Tensor<F, R, X>,
        axis: impl AxisArg<I>,
    ) -> Result<Tensor<E, <T as HasAxis<I>>::Removed, D>>
    where
        E: InexactFor<ops::reduce::vecdot> + SameDtypeFor<F, ops::reduce::vecdot> + Dtype<Sum = E>,
        S: Broadcast<R, Output = T>,
        T: Shape + HasAxis<I>,
        R: Shape + SameDevice<D, X>,
    {
        let other = R::here(other);
        let sizes = broadcast::<T, E>("vecdot", self.shape().as_ref(), other.shape().as_ref())?;
        let other = other.elements().known_as::<E>();
        let terms: Tensor<E, T, D> = map2(ConjugateProduct, self.elements(), other, sizes, [E::DTYPE; 2])?;
        crate::tensor::reduce::reductions::reduce::<ops::reduce::vecdot, _, E, T, _, D>(
            Sum,
            &terms,
            1 << <T as HasAxis<I>>::INDEX,
            false,
        )
    }
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.two::<_, f32, f32, f32>("conjugate_product", ConjugateProduct);
    suite.two::<_, Complex<f32>, Complex<f32>, Complex<f32>>("conjugate_product", ConjugateProduct);
    suite.one::<_, Complex<f64>, Complex<f64>>("conjugating", Conjugating);
}
