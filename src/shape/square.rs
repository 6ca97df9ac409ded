//! Square matrices, and reduced or complete factors.

use super::dim::{Dim, SameDim};

/// The number of rows of a square matrix, which must equal the number of columns.
#[diagnostic::on_unimplemented(
    message = "`linalg.{Op}` needs a square matrix, the last axes are `{Self}` and `{Columns}`",
    label = "the last two axes must be equal",
    note = "a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis; `D3<D8<D4>>` is 384"
)]
pub trait SquareFor<Columns, Op> {
    /// The common size, known if either is.
    type Side: Dim;
}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B, Merged = Side>, B, Op, Side: Dim> SquareFor<B, Op> for A {
    type Side = Side;
}

/// The form of a factor: [`Reduced`] or [`Complete`].
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

/// Factors with as many columns (or rows) as there are singular values (PyTorch's `"reduced"`, `full_matrices=False`).
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
