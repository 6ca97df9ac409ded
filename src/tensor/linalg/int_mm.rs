//! `int_mm`: products of matrices of 8-bit integers, in `i32`.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::shape::{Dim, HasAxis, HasRank, InnerDim, Shape, SizeArray};
use crate::tensor::{SameDevice, Tensor, checked_numel};
use castiron_macros::fallible;

/// 8-bit integer dtypes: `i8` and `u8`.
#[diagnostic::on_unimplemented(
    message = "`int_mm` multiplies bytes, not elements of dtype `{Self}`",
    label = "expected `i8` or `u8`",
    note = "`matmul` multiplies matrices of every other dtype"
)]
pub trait ByteNumber: Dtype {}
impl ByteNumber for i8 {}
impl ByteNumber for u8 {}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The product of two matrices of 8-bit integers with 32-bit sums: `(M, K)` and `(K, N)` give `(M, N)`. (The sums of
    /// [`matmul`](Self::matmul) have the dtype of the operands and wrap around.)
    ///
    /// Dtypes: `i8` or `u8` on the left, `i8` on the right; the result is `i32`.
    ///
    /// PyTorch: `torch._int_mm`.
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let (a, b) = (tensor![[100_i8, 100]], tensor![[100_i8], [-50]]);
    /// let product: Tensor<i32, shape![1, 1]> = a.int_mm(&b);
    /// assert_eq!(product.to_vec(), [5000]);
    /// ```
    #[fallible]
    pub fn int_mm<K, N: Dim, T: Shape, X: Device>(&self, other: &Tensor<i8, (K, N), X>) -> Result<Tensor<i32, T, D>>
    where
        E: ByteNumber,
        S: HasRank<2, crate::ops::reduce::int_mm> + HasAxis<1, Replace<N> = T>,
        <S as HasAxis<1>>::Dim: InnerDim<K>,
        K: Dim + SameDevice<D, X>,
    {
        let other = K::here(other);
        let ([rows, n], own) = (other.shape(), self.shape());
        let (m, columns) = (own.as_ref()[0], own.as_ref()[1]);
        if columns != rows {
            return Err(Error::MatMul { lhs: own.as_ref().into(), rhs: other.shape()[..].into(), columns, rows });
        }
        let sizes = [m, n];
        checked_numel::<i32>("int_mm", &sizes)?;
        Ok(Tensor::dense(D::int_mm(self.elements(), other.elements())?, T::Sizes::copied(&sizes)))
    }
}
