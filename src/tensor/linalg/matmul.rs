//! Matrix products: vectors, matrices and batches of them, with PyTorch's rules.

use crate::composite::linalg::product::product;
use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops;
use crate::ops::admit::{NumericFor, SameDtypeFor};
use crate::shape::{MatMul, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::base::operand::{TensorOperand, elements_of};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The matrix product (`torch.matmul`): `(K) @ (K)` is a number, `(…, M, K) @ (…, K, N)` is `(…, M, N)` with the leading axes
    /// broadcast, and the axis of a vector on either side does not appear in the result.
    ///
    /// Inner sizes are compared by the compiler where it knows them. Both operands have one dtype, which is the result's (PyTorch does not
    /// promote here); `bool` is refused. `f16` and `bf16` are multiplied in `f32` and rounded once (matrices of `bf16` by AVX512-BF16 where
    /// the machine has it, which treats denormals as zeros, as does PyTorch there); integers wrap.
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let a = tensor![[1.0, 2.0], [3.0, 4.0]];
    /// let x = tensor![10.0, 1.0];
    /// assert_eq!(a.matmul(&x).to_vec(), [12.0, 34.0]);
    /// let batch = Tensor::<f32, shape![8, 3, 2]>::ones();
    /// let product: Tensor<f32, shape![8, 3, 2]> = batch.matmul(&a);
    /// assert_eq!(product[(7, 2, 1)], 6.0);
    /// ```
    #[doc(alias = "mm")]
    #[doc(alias = "dot")]
    #[fallible]
    pub fn matmul<R: TensorOperand, T: Shape>(&self, rhs: R) -> Result<Tensor<E, T, D>>
    where
        E: NumericFor<ops::reduce::matmul> + SameDtypeFor<R::Elem, ops::reduce::matmul>,
        S: MatMul<R::Shape, Output = T>,
        D: Receives<R::Place, Dimensioned>,
    {
        self.product_with::<ops::reduce::matmul, R, T>(rhs)
    }

    /// The product with a tensor whose shape has been checked.
    pub(crate) fn product_with<Op, R: TensorOperand, T: Shape>(&self, rhs: R) -> Result<Tensor<E, T, D>>
    where
        E: NumericFor<Op> + SameDtypeFor<R::Elem, Op>,
        D: Receives<R::Place, Dimensioned>,
    {
        let (left, right) = (self.elements(), elements_of::<E, D, R>(&rhs)?);
        if let Some(sizes) = const { few(S::KNOWN, T::KNOWN) }
            && let [m, k, n] = sizes
            && left.sizes == [m, k]
            && right.sizes == [k, n]
        {
            let storage = D::matmul_few(left, right, sizes)?;
            return Ok(Tensor::whole(storage, T::Sizes::copied(&[m, n]), T::Sizes::copied(&[n, 1]), m * n));
        }
        multiply(left, right)
    }
}

/// Rows and columns of the left matrix and columns of the right one, if the types know them and they are small enough for the loops to be
/// unrolled.
const fn few(left: &[Option<usize>], result: &[Option<usize>]) -> Option<[usize; 3]> {
    match (left, result) {
        (&[Some(m @ 1..=4), Some(k @ 1..=4)], &[Some(_), Some(n @ 1..=4)]) => Some([m, k, n]),
        _ => None,
    }
}

/// The product of two views; `T` is the shape that the types give.
#[inline]
fn multiply<E: Dtype, T: Shape, D: Device>(
    left: View<'_, D::Storage, E>,
    right: View<'_, D::Storage, E>,
) -> Result<Tensor<E, T, D>> {
    match (left.sizes, right.sizes) {
        (&[m, columns], &[rows, n]) if columns == rows => {
            // The sizes of the result follow from those of the operands.
            checked_numel::<E>("matmul", &[m, n])?;
            Ok(Tensor::dense(D::matmul(left, right, None)?, T::Sizes::copied(&[m, n])))
        }
        _ => multiply_unlike(left, right),
    }
}

/// [`multiply`] of operands of any rank.
#[inline(never)]
fn multiply_unlike<E: Dtype, T: Shape, D: Device>(
    left: View<'_, D::Storage, E>,
    right: View<'_, D::Storage, E>,
) -> Result<Tensor<E, T, D>> {
    let (storage, sizes) = product::<E, D>(left, right, None, &|sizes| expect_fit::<T>("matmul", sizes))?;
    Ok(Tensor::dense(storage, T::Sizes::copied(&sizes)))
}
