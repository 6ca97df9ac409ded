//! Shapes with so many axes at least: what `hstack` and its kin join. Uses shapes; used by the operations of these names.

use super::Shape;
use super::dim::Dim;
use super::numeral::D1;
use super::tuple::each_rank;

/// At least one axis.
#[derive(Clone, Copy, Debug)]
pub struct AtLeast1;
/// At least two axes, new ones in front.
#[derive(Clone, Copy, Debug)]
pub struct AtLeast2;
/// At least three axes: a vector lies along the middle one, a matrix along the first two.
#[derive(Clone, Copy, Debug)]
pub struct AtLeast3;
/// At least two axes, a vector as a column.
#[derive(Clone, Copy, Debug)]
pub struct AsColumns;

/// Tensors are joined along axis 0.
#[derive(Clone, Copy, Debug)]
pub struct Along0;
/// Tensors are joined along axis 1.
#[derive(Clone, Copy, Debug)]
pub struct Along1;
/// Tensors are joined along axis 2.
#[derive(Clone, Copy, Debug)]
pub struct Along2;

/// The shape with axes of size 1 added as `Rule` says. Holds for every [`Shape`].
pub trait AtLeast<Rule>: Shape {
    /// The shape with them.
    type Output: Shape;
    /// Where in it the first axis of `Self` is.
    const FIRST: usize;
    /// Along which axis such tensors are joined.
    type Along;
}

/// For `AtLeast2 Along0: (A) -> (D1 A) at 1` it writes `impl AtLeast<AtLeast2> for (A,) { type Output = (D1, A); … }`.
macro_rules! at_least {
    ($($rule:ident $along:ident: ($($from:ident)*) -> ($($to:ident)*) at $first:literal;)*) => {$(
        impl<$($from: Dim),*> AtLeast<$rule> for ($($from,)*) {
            type Output = ($($to,)*);
            const FIRST: usize = $first;
            type Along = $along;
        }
    )*};
}
at_least! {
    AtLeast1 Along0: () -> (D1) at 0;
    AtLeast1 Along0: (A) -> (A) at 0;
    AtLeast2 Along0: () -> (D1 D1) at 0;
    AtLeast2 Along0: (A) -> (D1 A) at 1;
    AtLeast3 Along2: () -> (D1 D1 D1) at 0;
    AtLeast3 Along2: (A) -> (D1 A D1) at 1;
    AtLeast3 Along2: (A B) -> (A B D1) at 0;
    AsColumns Along1: () -> (D1 D1) at 0;
    AsColumns Along1: (A) -> (A D1) at 0;
}
macro_rules! as_they_are {
    (1 $($rest:tt)*) => {};
    (2 [$($dim:ident)+] $positive:tt $negative:tt) => {
        as_they_are!(@two [$($dim)+]);
    };
    ($rank:literal [$($dim:ident)+] $positive:tt $negative:tt) => {
        as_they_are!(@two [$($dim)+]);
        at_least! { AtLeast3 Along2: ($($dim)+) -> ($($dim)+) at 0; }
    };
    (@two [$($dim:ident)+]) => {
        at_least! {
            AtLeast1 Along1: ($($dim)+) -> ($($dim)+) at 0;
            AtLeast2 Along0: ($($dim)+) -> ($($dim)+) at 0;
            AsColumns Along1: ($($dim)+) -> ($($dim)+) at 0;
        }
    };
}
each_rank!(as_they_are);
