//! Shapes with a minimum rank: the operands of `hstack`, `vstack`, `dstack` and `column_stack`.

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
/// At least three axes: a vector becomes the middle axis, a matrix the first two.
#[derive(Clone, Copy, Debug)]
pub struct AtLeast3;
/// At least two axes, with a vector as a column.
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

/// The shape with axes of size 1 added by `Rule`. Implemented for every [`Shape`].
pub trait AtLeast<Rule>: Shape {
    /// The resulting shape.
    type Output: Shape;
    /// The position of the first axis of `Self` in it.
    const FIRST: usize;
    /// The axis along which such tensors are joined.
    type Along;
}

/// `AtLeast2 Along0: (A) -> (D1 A) at 1` writes `impl AtLeast<AtLeast2> for (A,) { type Output = (D1, A); … }`.
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
