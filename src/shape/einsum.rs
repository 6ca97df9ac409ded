//! The letters of `einsum!`: the number of axes they name, and that a letter names axes of one size.

use super::Shape;
use super::dim::{Dim, SameDim};
use super::tuple::each_rank;

/// A tensor of this shape has one axis per letter, `N` in total.
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

/// Two axes named by the same letter, which must have the same size.
#[diagnostic::on_unimplemented(
    message = "einsum!: the letter {LETTER} names two sizes, `{Self}` and `{Rhs}`",
    label = "axes with one letter have one size",
    note = "`D3<D8<D4>>` is 384"
)]
pub trait NamedSize<Rhs, const LETTER: char> {
    /// The more specific of the two.
    type Merged: Dim;
}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B, const LETTER: char> NamedSize<B, LETTER> for A {
    type Merged = A::Merged;
}
