//! The shape of a matrix product, with PyTorch's rules: vectors on either side, leading axes broadcast.

use super::dim::{Dim, SameDim};
use super::tuple::each_rank;
use super::{Broadcast, ConvertTo, Dimensional, HasAxis, Shape};
use crate::sealed::Sealed;

/// The inner size of a matrix product, over which it sums.
#[diagnostic::on_unimplemented(
    message = "matmul: inner dimensions differ: `{Self}` and `{Rhs}`",
    label = "the left operand has `{Self}` columns, the right one `{Rhs}` rows",
    note = "these two sizes must be the same; a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis",
    note = "a matrix stored the other way round is transposed: `x.matmul(w.t())`; `x.linear(&w, None)` takes the weight of a layer as it is stored",
    note = "`D3<D8<D4>>` is 384"
)]
pub trait InnerDim<Rhs> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B> InnerDim<B> for A {}

/// The number of features that a linear layer takes: the last axis of its input.
#[diagnostic::on_unimplemented(
    message = "linear: the input has `{Self}` features, the weight takes `{K}`",
    label = "the last axis of the input and the last axis of the weight must be equal",
    note = "a weight is stored as (out, in), as PyTorch keeps it; where yours is (in, out), pass `&weight.t()`; `D3<D8<D4>>` is 384",
    note = "a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis"
)]
pub trait InFeatures<K> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B> InFeatures<B> for A {}

/// A shape beside that of another input of `bilinear`, `S`: they differ in the last size alone.
#[diagnostic::on_unimplemented(
    message = "bilinear: inputs of shapes `{S}` and `{Self}` differ beside the last axis",
    label = "both inputs have the same leading axes",
    note = "`unsqueeze` and `expand` make them alike; `D3<D8<D4>>` is 384"
)]
pub trait InputBeside<S>: Sealed {}
#[diagnostic::do_not_recommend]
impl<R: Dimensional, S: Shape> InputBeside<S> for R where
    <R as HasAxis<-1>>::Removed: ConvertTo<<S as HasAxis<-1>>::Removed>
{
}

/// An operand of a matrix product: vectors, and matrices with leading axes that broadcast.
///
/// A vector is a row on the left and a column on the right; the added axis is removed from the product.
#[diagnostic::on_unimplemented(
    message = "matmul takes vectors and matrices, not a tensor of shape `{Self}`",
    label = "expected one axis or more (axes before the last two broadcast)",
    note = "zero-dim tensors are multiplied by `*`; in generic code, give the shape its axes: `(M, K)` of `M: Dim, K: Dim`"
)]
pub trait Factor: Shape {
    /// The axes before the last two.
    type Batch: Shape;
    /// The last axis: the inner size if this is on the left.
    type Columns: Dim;
    /// The second to last axis, or a vector's only one: the inner size if this is on the right.
    type Rows: Dim;
    /// The part of the product that comes from this as the left factor: its rows, or nothing.
    type FromLeft;
    /// The part of the product that comes from this as the right factor: its columns, or nothing.
    type FromRight;
}
#[diagnostic::do_not_recommend]
impl<A: Dim> Factor for (A,) {
    type Batch = ();
    type Columns = A;
    type Rows = A;
    type FromLeft = NoAxis;
    type FromRight = NoAxis;
}

/// Stands for a missing axis.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct NoAxis;

/// A shape with one more axis at the end.
pub trait Push<D> {
    /// The longer shape.
    type Output: Shape;
}
impl<D: Dim> Push<D> for () {
    type Output = (D,);
}
impl<S: Shape> Push<NoAxis> for S {
    type Output = S;
}

/// The shape of `Self @ T`: `(K) @ (K)` is a number, `(…, M, K) @ (…, K, N)` is `(…, M, N)` with broadcast leading axes, and the axis added
/// to a vector on either side does not appear in the result.
///
/// ```
/// use castiron::{shape, shape::MatMul, Shape};
/// type Product = <shape![8, 1, 2, 3] as MatMul<shape![4, 3, 5]>>::Output;
/// assert_eq!(Product::KNOWN, [Some(8), Some(4), Some(2), Some(5)]);
/// ```
#[diagnostic::on_unimplemented(
    message = "matmul takes vectors and matrices, not a tensor of shape `{Self}`",
    label = "expected one axis or more (axes before the last two broadcast)",
    note = "zero-dim tensors are multiplied by `*`; in generic code, give the shape its axes: `(M, K)` of `M: Dim, K: Dim`"
)]
pub trait MatMul<T>: Sealed {
    /// The shape of the product.
    type Output: Shape;
}
// The only impl for shapes, so that rustc says which of its conditions failed. (It shows these lines in messages.)
impl<S: Factor, T: Factor, Batch, Left> MatMul<T> for S
where
    <S as Factor>::Columns: InnerDim<<T as Factor>::Rows>,
    S::Batch: Broadcast<T::Batch, Output = Batch>,
    Batch: Push<S::FromLeft, Output = Left>,
    Left: Push<T::FromRight, Output: Shape>,
{
    type Output = <Left as Push<T::FromRight>>::Output;
}

// A second impl, so that rustc waits for the right shape before it compares sizes: see `Never`.
#[diagnostic::do_not_recommend]
impl<S: Factor> MatMul<super::Never> for S {
    type Output = ();
}

/// `solutions!(Trait, Inner)` gives `Trait` the shape of a product, like [`MatMul`], for factors whose inner sizes fulfil `Inner`.
macro_rules! solutions {
    ($solutions:ident, $inner:ident) => {
        impl<S: Factor, T: Factor, Op, Batch, Left> $solutions<T, Op> for S
        where
            <S as Factor>::Columns: $inner<<T as Factor>::Rows, Op>,
            S::Batch: Broadcast<T::Batch, Output = Batch>,
            Batch: Push<S::FromLeft, Output = Left>,
            Left: Push<T::FromRight, Output: Shape>,
        {
            type Output = <Left as Push<T::FromRight>>::Output;
        }
        // A second impl, as above.
        #[diagnostic::do_not_recommend]
        impl<S: Factor, Op> $solutions<super::Never, Op> for S {
            type Output = ();
        }
    };
}

/// The columns of the inverse of a matrix; the right-hand side must have as many rows.
#[diagnostic::on_unimplemented(
    message = "`linalg.{Op}`: the matrix has `{Self}` rows, the right-hand side `{Rhs}`",
    label = "the right-hand side has as many rows as the matrix, a vector as many elements",
    note = "where it stands the other way round, pass `b.t()`; of a batch of vectors `b.unsqueeze(axis![-1])` makes matrices",
    note = "a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis; `D3<D8<D4>>` is 384"
)]
pub trait SameRows<Rhs, Op> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B, Op> SameRows<B, Op> for A {}

/// The shape of solutions: `Self`, the shape of the matrices' inverses, times the right-hand sides `T`, like [`MatMul`].
#[diagnostic::on_unimplemented(
    message = "`linalg.{Op}` solves for vectors and matrices, not for a tensor of shape `{T}`",
    label = "expected one axis or more (axes before the last two broadcast)",
    note = "in generic code, give the shape its axes: `(N, K)` of `N: Dim, K: Dim`"
)]
pub trait Solutions<T, Op>: Sealed {
    /// The shape of the solutions.
    type Output: Shape;
}
solutions!(Solutions, SameRows);

/// The columns of right-hand sides `B` of `X A = B`; the matrix must have as many.
#[diagnostic::on_unimplemented(
    message = "`linalg.{Op}`: the right-hand side has `{Self}` columns, the matrix `{Rhs}`",
    label = "in `X A = B` the right-hand side has as many columns as the matrix",
    note = "`A X = B`, where rows go together, is solved by `solve` and `solve_triangular`",
    note = "a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis; `D3<D8<D4>>` is 384"
)]
pub trait SameColumns<Rhs, Op> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B, Op> SameColumns<B, Op> for A {}

/// The shape of solutions of `X A = B`: the right-hand sides `Self` times the shape `A` of the matrices' inverses.
#[diagnostic::on_unimplemented(
    message = "`linalg.{Op}` solves for matrices, not for a tensor of shape `{Self}`",
    label = "expected two axes or more (axes before the last two broadcast)",
    note = "in generic code, give the shape its axes: `(M, N)` of `M: Dim, N: Dim`"
)]
pub trait SolutionsFromRight<A, Op>: Sealed {
    /// The shape of the solutions.
    type Output: Shape;
}
solutions!(SolutionsFromRight, SameColumns);

/// Two batches of the same number of matrices.
#[diagnostic::on_unimplemented(
    message = "bmm: a batch of `{Self}` and one of `{Rhs}` matrices are not multiplied matrix by matrix",
    label = "both operands must have as many matrices",
    note = "`matmul` repeats a batch of one; `D3<D8<D4>>` is 384",
    note = "a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis"
)]
pub trait SameBatch<Rhs> {
    /// The more specific of the two.
    type Output: Dim;
}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B, Merged = Met>, B, Met: Dim> SameBatch<B> for A {
    type Output = Met;
}

/// Two batches of matrices with products: `(B, M, K)` and `(B, K, N)` give `(B, M, N)`.
#[diagnostic::on_unimplemented(
    message = "`bmm` takes two batches of matrices, not tensors of shapes `{Self}` and `{T}`",
    label = "expected three axes each",
    note = "`matmul` takes vectors, matrices and batches of them"
)]
pub trait BatchMatMul<T>: Sealed {
    /// The shape of the products.
    type Output: Shape;
}
impl<B, M: Dim, K, C, L, N: Dim, Batch: Dim> BatchMatMul<(C, L, N)> for (B, M, K)
where
    B: SameBatch<C, Output = Batch>,
    K: InnerDim<L>,
{
    type Output = (Batch, M, N);
}
// A second impl, so that rustc reports the message above instead of unifying: see `Never`.
#[diagnostic::do_not_recommend]
impl<B, M, K> BatchMatMul<super::Never> for (B, M, K) {
    type Output = ();
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
        #[diagnostic::do_not_recommend]
        impl<$($batch: Dim,)* $rows: Dim, $columns: Dim> Factor for ($($batch,)* $rows, $columns,) {
            type Batch = ($($batch,)*);
            type Columns = $columns;
            type Rows = $rows;
            type FromLeft = $rows;
            type FromRight = $columns;
        }
    };
    (@matrix [$($batch:ident)*] [$next:ident $($rest:ident)+]) => {
        matrices!(@matrix [$($batch)* $next] [$($rest)+]);
    };
}
each_rank!(matrices);
