//! Shapes of matrices and batches of them: leading axes, rows and columns; and which are square.
//! Uses shapes; used by `tensor::decompose`.

use super::dim::{Dim, SameDim};
use super::tuple::each_rank;
use super::{Matrices, MatrixParts, Shape};

/// A matrix, or a batch of them, taken apart.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` is no matrix",
    label = "expected a tensor of at least two axes: the last two are rows and columns",
    note = "`.unsqueeze(axis![0])` or `.reshape::<shape![…]>()` makes one of a vector; in generic code, give the shape its axes: `(M, N)` of `M: Dim, N: Dim`"
)]
pub trait MatrixShape: Matrices + MatrixParts {
    /// The axes before the last two.
    type Lead: Shape;
}

macro_rules! matrices {
    (1 $dims:tt $positive:tt $negative:tt) => {};
    ($rank:literal $dims:tt $positive:tt $negative:tt) => {
        matrices!(@matrix [] $dims);
    };
    (@matrix [$($batch:ident)*] [$rows:ident $columns:ident]) => {
        #[diagnostic::do_not_recommend]
        impl<$($batch: Dim,)* $rows: Dim, $columns: Dim> MatrixShape for ($($batch,)* $rows, $columns,) {
            type Lead = ($($batch,)*);
        }
    };
    (@matrix [$($batch:ident)*] [$next:ident $($rest:ident)+]) => {
        matrices!(@matrix [$($batch)* $next] [$($rest)+]);
    };
}
each_rank!(matrices);

/// The rows of matrices that an operation takes square: as many as the columns.
#[diagnostic::on_unimplemented(
    message = "`linalg.{Op}` needs a square matrix, the last axes are `{Self}` and `{Columns}`",
    label = "the last two axes must be equal",
    note = "`D3<D8<D4>>` is 384"
)]
pub trait SquareFor<Columns, Op> {
    /// The size of both, which one of the two may know.
    type Side: Dim;
}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B, Merged = Side>, B, Op, Side: Dim> SquareFor<B, Op> for A {
    type Side = Side;
}

/// How much of a factor is kept: [`Reduced`] or [`Complete`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how much of the factors is kept",
    label = "expected `Reduced` or `Complete`"
)]
pub trait Extent: Copy {
    /// The size of an axis that has `Whole` positions in the complete factor and `Rank` in the reduced one.
    type Of<Whole: Dim, Rank: Dim>: Dim;
    #[doc(hidden)]
    const COMPLETE: bool;
}

/// Factors with as many columns, or rows, as there are singular values (PyTorch's `"reduced"`, `full_matrices=False`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Reduced;
impl Extent for Reduced {
    type Of<Whole: Dim, Rank: Dim> = Rank;
    const COMPLETE: bool = false;
}

/// Square factors (PyTorch's `"complete"`, `full_matrices=True`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Complete;
impl Extent for Complete {
    type Of<Whole: Dim, Rank: Dim> = Whole;
    const COMPLETE: bool = true;
}
