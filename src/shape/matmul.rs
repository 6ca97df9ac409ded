//! The shape of a matrix product, with PyTorch's rules: vectors on either side, leading axes broadcast.
//! Uses shapes; used by `matmul`.

use super::dim::{Dim, SameDim};
use super::tuple::each_rank;
use super::{Broadcast, Shape};

/// The sizes that a matrix product sums over.
#[diagnostic::on_unimplemented(
    message = "matmul: inner dimensions differ: `{Self}` and `{Rhs}`",
    label = "the left operand has `{Self}` columns, the right one `{Rhs}` rows"
)]
pub trait InnerDim<Rhs> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B> InnerDim<B> for A {}

/// A shape of rank 2 or more: matrices, with leading axes that broadcast.
#[diagnostic::on_unimplemented(
    message = "matmul takes vectors and matrices, not a tensor of shape `{Self}`",
    label = "expected one axis or more (axes before the last two broadcast)",
    note = "use `*` to scale by a number"
)]
pub trait Matrix: Shape {
    /// The axes before the last two.
    type Batch: Shape;
    /// The last axis but one.
    type Rows: Dim;
    /// The last axis.
    type Columns: Dim;
}

/// A shape with one more axis at the end.
pub trait Push<D> {
    /// The longer shape.
    type Output: Shape;
}
impl<D: Dim> Push<D> for () {
    type Output = (D,);
}

/// `Self @ T` has a shape: `(K) @ (K)` is a number, `(…, M, K) @ (…, K, N)` is `(…, M, N)` with the leading axes
/// broadcast, and a vector on either side takes part without its axis appearing in the result.
///
/// ```
/// use castiron::{shape, shape::MatMul, Shape};
/// type Product = <shape![8, 1, 2, 3] as MatMul<shape![4, 3, 5]>>::Output;
/// assert_eq!(Product::KNOWN, [Some(8), Some(4), Some(2), Some(5)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "matmul is not defined for shapes `{Self}` and `{T}`",
    label = "matmul takes vectors and matrices (with leading axes that broadcast), not zero-dim tensors",
    note = "use `*` to scale by a number"
)]
pub trait MatMul<T> {
    /// The shape of the product.
    type Output: Shape;
}

#[diagnostic::do_not_recommend]
impl<A: Dim + InnerDim<B>, B: Dim> MatMul<(B,)> for (A,) {
    type Output = ();
}
#[diagnostic::do_not_recommend]
impl<S: Matrix, B: Dim> MatMul<(B,)> for S
where
    S::Columns: InnerDim<B>,
    S::Batch: Push<S::Rows>,
{
    type Output = <S::Batch as Push<S::Rows>>::Output;
}
#[diagnostic::do_not_recommend]
impl<A: Dim, T: Matrix> MatMul<T> for (A,)
where
    A: InnerDim<T::Rows>,
    T::Batch: Push<T::Columns>,
{
    type Output = <T::Batch as Push<T::Columns>>::Output;
}
impl<S: Matrix, T: Matrix> MatMul<T> for S
where
    S::Columns: InnerDim<T::Rows>,
    S::Batch: Broadcast<T::Batch>,
    <S::Batch as Broadcast<T::Batch>>::Output: Push<S::Rows>,
    <<S::Batch as Broadcast<T::Batch>>::Output as Push<S::Rows>>::Output: Push<T::Columns>,
{
    type Output = <<<S::Batch as Broadcast<T::Batch>>::Output as Push<S::Rows>>::Output as Push<T::Columns>>::Output;
}

macro_rules! matrices {
    (1 [$a:ident] $positive:tt $negative:tt) => {
        matrices!(@push [$a]);
    };
    (8 $dims:tt $positive:tt $negative:tt) => {
        matrices!(@matrix [] $dims);
    };
    ($rank:literal $dims:tt $positive:tt $negative:tt) => {
        matrices!(@push $dims);
        matrices!(@matrix [] $dims);
    };
    (@push [$($dim:ident)+]) => {
        impl<$($dim: Dim,)+ New: Dim> Push<New> for ($($dim,)+) {
            type Output = ($($dim,)+ New,);
        }
    };
    (@matrix [$($batch:ident)*] [$rows:ident $columns:ident]) => {
        impl<$($batch: Dim,)* $rows: Dim, $columns: Dim> Matrix for ($($batch,)* $rows, $columns,) {
            type Batch = ($($batch,)*);
            type Rows = $rows;
            type Columns = $columns;
        }
    };
    (@matrix [$($batch:ident)*] [$next:ident $($rest:ident)+]) => {
        matrices!(@matrix [$($batch)* $next] [$($rest)+]);
    };
}
each_rank!(matrices);
