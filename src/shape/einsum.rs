//! The letters of `einsum!`: how many axes they name, and that a letter names one size. Uses dimensions; used by `einsum!`.

use super::Shape;
use super::dim::{Dim, SameDim};
use super::tuple::each_rank;

/// A tensor of this shape has an axis for each of `N` letters.
#[diagnostic::on_unimplemented(
    message = "einsum!: `{N}` letters do not name the axes of a tensor of shape `{Self}`",
    label = "each axis has one letter"
)]
pub trait Lettered<const N: usize>: Shape {}
impl Lettered<0> for () {}
macro_rules! lettered {
    ($rank:literal [$($dim:ident)+] $positive:tt $negative:tt) => {
        impl<$($dim: Dim,)+> Lettered<$rank> for ($($dim,)+) {}
    };
}
each_rank!(lettered);

/// Two axes that one letter names: they have one size.
#[diagnostic::on_unimplemented(
    message = "einsum!: the letter {LETTER} names two sizes, `{Self}` and `{Rhs}`",
    label = "axes with one letter have one size",
    note = "`D3<D8<D4>>` is 384"
)]
pub trait NamedSize<Rhs, const LETTER: char> {
    /// The one of the two that says more.
    type Merged: Dim;
}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B, const LETTER: char> NamedSize<B, LETTER> for A {
    type Merged = A::Merged;
}
