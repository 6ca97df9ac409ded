//! Products of vectors and matrices by rank: `mm`, `mv`, `bmm`, `dot`, `vdot`, `vecdot`, `outer`.

use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element, Promotable};
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::admit::{NumericFor, SameDtypeFor};
use crate::ops::kernel::Combining;
use crate::shape::{BatchMatMul, Dim, HasAxis, HasRank, MatMul, Shape};
use crate::tensor::base::operand::TensorOperand;
use crate::tensor::elementwise::apply::map2;
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
}
