//! Matrix products with one or two sparse operands.

use super::rows::{indices_from_linear, rows_of, sorted};
use super::{SparseCoo, SparseTensor};
use crate::cpu::sparse::{Csr, multiply};
use crate::device::{Backend as _, Cpu};
use crate::dtype::{Compute as _, Dtype, Element};
use crate::error::{Error, Result, listed};
use crate::ops;
use crate::ops::admit::{InexactFor, NumericFor, SameDtypeFor};
use crate::ops::reduce::Accumulating;
use crate::sealed::Sealed;
use crate::shape::{Dim, HasRank, InnerDim, MatMul, Shape, SizeArray};
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;

/// The elements of a sparse matrix sorted by row; the order within a row is kept.
fn by_rows<E: Element, M: Dim, K: Dim>(x: &SparseTensor<E, (M, K)>, rows: usize) -> Result<Csr<E>> {
    let nnz = x.nnz();
    let indices = Cpu::download(x.parts.indices.elements())?;
    let values = Cpu::download(x.parts.values.elements())?;
    Csr::new("matmul", rows, &indices[..nnz], &indices[nnz..], &values)
}

fn inner_sizes_differ(lhs: &[usize], rhs: &[usize], columns: usize, rows: usize) -> Error {
    Error::MatMul { lhs: lhs.into(), rhs: rhs.into(), columns, rows }
}

/// `sparse @ dense`, a matrix or a vector.
fn by_dense<E: Dtype, M: Dim, K: Dim, T: Shape, U: Shape>(
    left: &SparseTensor<E, (M, K)>,
    right: &Tensor<E, T>,
) -> Result<Tensor<E, U>> {
    let ([rows, inner], right_sizes) = (left.shape(), right.shape());
    let (right_rows, columns) = match right_sizes.as_ref() {
        &[rows] => (rows, 1),
        &[rows, columns] => (rows, columns),
        sizes => unreachable!("the type admits vectors and matrices, not {sizes:?}"),
    };
    if inner != right_rows {
        return Err(inner_sizes_differ(&left.shape(), right_sizes.as_ref(), inner, right_rows));
    }
    if checked_numel::<E>("matmul", &[rows, columns])? == 0 {
        // The number of rows can exceed memory, so they are not enumerated.
        return Ok(Tensor::dense(Cpu::zeroed::<E>(None, 0)?, U::Sizes::copied(&[rows, columns][..U::RANK])));
    }
    let whole = right.try_contiguous()?;
    let Some(elements) = whole.as_slice() else { unreachable!("it was made contiguous") };
    let storage = multiply(&by_rows(left, rows)?, elements, columns)?;
    let sizes = [rows, columns];
    Ok(Tensor::dense(storage, U::Sizes::copied(&sizes[..U::RANK])))
}

/// `sparse @ sparse`, coalesced: for each row, the products by column, summed.
fn by_sparse<E: Dtype, M: Dim, K: Dim, L: Dim, C: Dim>(
    left: &SparseTensor<E, (M, K)>,
    right: &SparseTensor<E, (L, C)>,
) -> Result<SparseTensor<E, (M, C)>> {
    let ([rows, inner], [right_rows, columns]) = (left.shape(), right.shape());
    if inner != right_rows {
        return Err(inner_sizes_differ(&left.shape(), &right.shape(), inner, right_rows));
    }
    let sizes = [rows, columns];
    super::rows::expect_countable("matmul", &sizes)?;
    let (a, b) = (left.try_coalesce()?, right.try_coalesce()?);
    // Row by row of the left tensor; both lists are sorted.
    let (a_indices, b_indices) =
        (Cpu::download(a.parts.indices.elements())?, Cpu::download(b.parts.indices.elements())?);
    let (a_values, b_values) = (Cpu::download(a.parts.values.elements())?, Cpu::download(b.parts.values.elements())?);
    let (a_rows, a_columns) = a_indices.split_at(a.nnz());
    let (b_rows, b_columns) = b_indices.split_at(b.nnz());
    let (mut keys, mut products) = (Vec::new(), Vec::<E::Compute>::new());
    let mut at = 0;
    while at < a_rows.len() {
        let row = a_rows[at];
        let (mut row_keys, mut row_products) = (Vec::new(), Vec::new());
        while at < a_rows.len() && a_rows[at] == row {
            let (inner, factor) = (a_columns[at], a_values[at].to_compute());
            let start = b_rows.partition_point(|&row| row < inner);
            for of_b in (start..b_rows.len()).take_while(|&of_b| b_rows[of_b] == inner) {
                row_keys.push(row * columns as i64 + b_columns[of_b]);
                row_products.push(factor.binary::<ops::mul>(b_values[of_b].to_compute()));
            }
            at += 1;
        }
        let (row_keys, places) = sorted(row_keys)?;
        for (key, place) in row_keys.into_iter().zip(places) {
            let product = row_products[place as usize];
            match (keys.last(), products.last_mut()) {
                (Some(&last), Some(sum)) if last == key => *sum = sum.binary::<Accumulating>(product),
                _ => {
                    keys.push(key);
                    products.push(product);
                }
            }
        }
    }
    let values: Vec<E> = listed(products.into_iter().map(E::from_compute))?;
    let count = values.len();
    Ok(SparseTensor::assembled(sizes, indices_from_linear(&keys, &sizes)?, rows_of(values, [count, 1])?, true))
}

/// A right factor for a sparse matrix of dtype `E` and shape `(M, K)`.
#[diagnostic::on_unimplemented(
    message = "a sparse matrix of shape `({M}, {K})` is not multiplied by `{Self}`",
    label = "expected a strided vector or matrix, or a sparse matrix",
    note = "both hold one dtype; `.to_dense()` makes a sparse tensor strided"
)]
pub trait SparseFactor<E: Element, M: Dim, K: Dim>: Sealed {
    /// The product: strided for a strided factor, sparse for a sparse one.
    type Output;
    #[doc(hidden)]
    fn right_of_matmul(self, left: &SparseTensor<E, (M, K)>) -> Result<Self::Output>;
}

/// A strided vector or matrix as the right factor of a sparse matrix.
#[diagnostic::on_unimplemented(
    message = "a sparse matrix is multiplied by vectors and matrices, not by a tensor of shape `{Self}`",
    label = "expected one axis or two",
    note = "batches of sparse matrices are multiplied one by one"
)]
pub trait VectorOrMatrix: Shape {}
impl<A: Dim> VectorOrMatrix for (A,) {}
impl<A: Dim, B: Dim> VectorOrMatrix for (A, B) {}

macro_rules! factors {
    ($([$($by:tt)*])*) => {$(
        impl<E, F, M, K, T> SparseFactor<E, M, K> for $($by)* Tensor<F, T>
        where
            E: NumericFor<ops::reduce::matmul> + SameDtypeFor<F, ops::reduce::matmul>,
            F: Dtype,
            M: Dim,
            K: Dim,
            T: VectorOrMatrix,
            (M, K): MatMul<T>,
        {
            type Output = Tensor<E, <(M, K) as MatMul<T>>::Output>;
            fn right_of_matmul(self, left: &SparseTensor<E, (M, K)>) -> Result<Self::Output> {
                by_dense(left, &known_as(&self))
            }
        }
        impl<E, F, M, K, L, C> SparseFactor<E, M, K> for $($by)* Tensor<F, (L, C), Cpu, SparseCoo>
        where
            E: InexactFor<ops::reduce::matmul> + SameDtypeFor<F, ops::reduce::matmul>,
            F: Dtype,
            M: Dim,
            K: Dim + InnerDim<L>,
            L: Dim,
            C: Dim,
        {
            type Output = SparseTensor<E, (M, C)>;
            fn right_of_matmul(self, left: &SparseTensor<E, (M, K)>) -> Result<Self::Output> {
                // `SameDtypeFor` holds for the same dtype only: nothing is converted.
                by_sparse(left, &self.try_to::<E>()?)
            }
        }
    )*};
}
factors! { [] [&] }

/// The tensor as the dtype that `SameDtypeFor` says it has.
fn known_as<E: Dtype, F: Dtype, T: Shape>(x: &Tensor<F, T>) -> Tensor<E, T> {
    let (storage, offset) = Cpu::share(x.elements().known_as::<E>());
    Tensor::from_parts(storage, offset, x.shape(), x.stride())
}

impl<E: Element, S: Shape> SparseTensor<E, S> {
    /// The matrix product (`torch.matmul`, `torch.mm`, `torch.mv`, `torch.sparse.mm`): strided for a strided vector or matrix on the right,
    /// sparse and coalesced for a sparse matrix.
    ///
    /// Both operands have the same dtype, which is the result's. Dtypes: all except `bool`; for two sparse matrices, floating and complex
    /// ones. `f16` and `bf16` are multiplied in `f32` and rounded once; integers wrap. The elements of a row are added in order,
    /// independent of the number of threads.
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, tensor, Tensor};
    /// let s = tensor![[0.0, 2.0], [3.0, 0.0]].to_sparse();
    /// let y: Tensor<f32, shape![2, 2]> = s.matmul(tensor![[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(y.to_vec(), [6.0, 8.0, 3.0, 6.0]);
    /// assert_eq!(s.matmul(&s).to_dense().to_vec(), [6.0, 0.0, 0.0, 6.0]);
    /// ```
    #[fallible]
    pub fn matmul<R: SparseFactor<E, S::Rows, S::Columns>>(&self, rhs: R) -> Result<R::Output>
    where
        S: HasRank<2, ops::reduce::matmul>,
    {
        rhs.right_of_matmul(&self.clone().retyped_sparse())
    }

    /// The product with a strided matrix on the left, `left @ self`; the result is strided (Python: `__rmatmul__`).
    ///
    /// # Panics
    /// If sizes known at run time do not match or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let s = tensor![[0.0, 2.0], [3.0, 0.0]].to_sparse();
    /// assert_eq!(s.rmatmul(&tensor![[1.0, 10.0]]).to_vec(), [30.0, 2.0]);
    /// ```
    #[fallible]
    pub fn rmatmul<L: Dim, C>(&self, left: &Tensor<E, (L, C)>) -> Result<Tensor<E, (L, S::Columns)>>
    where
        S: HasRank<2, ops::reduce::matmul>,
        E: NumericFor<ops::reduce::matmul>,
        C: Dim + InnerDim<S::Rows>,
    {
        let right: SparseTensor<E, (S::Rows, S::Columns)> = self.clone().retyped_sparse();
        if left.shape()[1] != right.shape()[0] {
            let (lhs, rhs) = (left.shape(), right.shape());
            return Err(inner_sizes_differ(&lhs, &rhs, lhs[1], rhs[0]));
        }
        // (A B)ᵀ = Bᵀ Aᵀ.
        let product: Tensor<E, (S::Columns, L)> = by_dense(&right.try_t()?, &left.t::<(C, L)>())?;
        Ok(product.t())
    }
}
