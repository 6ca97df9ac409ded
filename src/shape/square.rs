//! Square matrices, and reduced or complete factors.

use super::dim::{Dim, SameDim};
use super::order::{IsNoLarger, Rules};
use super::{Beside, ConvertTo, Dimensional, HasAxis, MatrixParts, MayEqual, Shape, Smaller, SplitAt};
use crate::sealed::Sealed;

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

/// The pivots of factors of shape `Factors`, `N` for each matrix of the batch.
#[diagnostic::on_unimplemented(
    message = "`{Op}`: pivots of shape `{Self}` do not go with factors of shape `{Factors}`",
    label = "there are `{N}` pivots for each matrix, and the same leading axes",
    note = "`lu_factor` and `ldl_factor` give factors and pivots together; `D3<D8<D4>>` is 384"
)]
pub trait PivotsOf<Factors, N, Op>: Sealed {}
#[diagnostic::do_not_recommend]
impl<P: ConvertTo<S::WithVectors<N>>, S: MatrixParts, N: Dim, Op> PivotsOf<S, N, Op> for P {}

/// The factors of reflections that are stored in matrices of shape `Reflections`: no more than rows or columns, in the same batch.
#[diagnostic::on_unimplemented(
    message = "`{Op}`: factors of shape `{Self}` do not go with reflections of shape `{Reflections}`",
    label = "there are as many factors as reflections: at most one for each row, and one for each column",
    note = "`geqrf` gives reflections and their factors together; `D3<D8<D4>>` is 384"
)]
pub trait FactorsOf<Reflections, Op>: Sealed {}
#[diagnostic::do_not_recommend]
impl<K, S: MatrixParts, Op> FactorsOf<S, Op> for K where
    K: Dimensional
        + HasAxis<-1, Removed: ConvertTo<S::Lead>, Dim: Rules<IsNoLarger, <S::Rows as Smaller<S::Columns>>::Output>>
{
}

/// The columns of reflections, of whose product they are the first: no more than the rows.
#[diagnostic::on_unimplemented(
    message = "`{Op}`: the reflections have `{Self}` columns and `{Rows}` rows",
    label = "there are no more columns than rows",
    note = "the product of reflections is a square matrix of as many rows, of which these are the first columns; `D3<D8<D4>>` is 384",
    note = "in generic code the bound is `N: NoMoreThanRows<M, ops::decompose::householder_product>`"
)]
pub trait NoMoreThanRows<Rows, Op> {}
#[diagnostic::do_not_recommend]
impl<N: Rules<IsNoLarger, M>, M, Op> NoMoreThanRows<M, Op> for N {}

/// A product of reflections of shape `Reflections` is applied to tensors of this shape from the left.
#[diagnostic::on_unimplemented(
    message = "`ormqr`: reflections of shape `{Reflections}` do not apply to a tensor of shape `{Self}` from the left",
    label = "the tensor has as many rows as the reflections, and the same leading axes",
    note = "`rormqr` applies them from the right, to as many columns; `D3<D8<D4>>` is 384"
)]
pub trait ReflectedFromLeft<Reflections>: Sealed {}
#[diagnostic::do_not_recommend]
impl<R: Shape, S: MatrixParts> ReflectedFromLeft<S> for R where
    R: MatrixParts<Lead: ConvertTo<S::Lead>, Rows: MayEqual<S::Rows>>
{
}
/// A product of reflections of shape `Reflections` is applied to tensors of this shape from the right.
#[diagnostic::on_unimplemented(
    message = "`rormqr`: reflections of shape `{Reflections}` do not apply to a tensor of shape `{Self}` from the right",
    label = "the tensor has as many columns as the reflections have rows, and the same leading axes",
    note = "`ormqr` applies them from the left, to as many rows; `D3<D8<D4>>` is 384"
)]
pub trait ReflectedFromRight<Reflections>: Sealed {}
#[diagnostic::do_not_recommend]
impl<R: Shape, S: MatrixParts> ReflectedFromRight<S> for R where
    R: MatrixParts<Lead: ConvertTo<S::Lead>, Columns: MayEqual<S::Rows>>
{
}

/// A linear map from the axes behind the first `N` to those, which has an inverse: there are as many elements of both.
#[diagnostic::on_unimplemented(
    message = "`linalg.tensorinv`: a tensor of shape `{Self}` is no map between as many elements at its first {N} axes",
    label = "the first {N} axes have as many elements as the others",
    note = "say how many axes come first: `x.tensorinv::<2>()`; `D3<D8<D4>>` is 384"
)]
pub trait TensorInverse<const N: usize>: Sealed {
    /// The shape of the inverse: the last axes, then the first.
    type Output: Shape;
}
#[diagnostic::do_not_recommend]
impl<S, const N: usize, Rows: Shape, Columns: Shape> TensorInverse<N> for S
where
    S: SplitAt<N, Front = Rows, Back = Columns>,
    Rows::Numel: MayEqual<Columns::Numel>,
    Columns: Beside<Rows>,
{
    type Output = <Columns as Beside<Rows>>::Output;
}

/// The form of a factor: [`Reduced`] or [`Complete`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how much of the factors is kept",
    label = "expected `Reduced` or `Complete`"
)]
pub trait Extent: Sealed + Copy {
    /// The size of an axis that has `Whole` positions in the complete factor and `Rank` in the reduced one.
    type Of<Whole: Dim, Rank: Dim>: Dim;
    #[doc(hidden)]
    const COMPLETE: bool;
}

/// Factors with as many columns (or rows) as there are singular values (PyTorch's `"reduced"`, `full_matrices=False`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Reduced;
impl Sealed for Reduced {}
impl Extent for Reduced {
    type Of<Whole: Dim, Rank: Dim> = Rank;
    const COMPLETE: bool = false;
}

/// Square factors (PyTorch's `"complete"`, `full_matrices=True`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Complete;
impl Sealed for Complete {}
impl Extent for Complete {
    type Of<Whole: Dim, Rank: Dim> = Whole;
    const COMPLETE: bool = true;
}
