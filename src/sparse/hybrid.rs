//! Hybrid tensors in types: which axes of a shape are dense, and the shape of the values.

use crate::shape::{Dim, Dyn, Shape};

/// A shape whose last `N` axes can be dense.
///
/// Every [`Shape`] implements `DenseAxes<0>`.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't have {N} dense axes",
    label = "the last {N} axes would be dense",
    note = "there are no more dense axes than axes, and seven at most"
)]
pub trait DenseAxes<const N: usize>: Shape {
    /// The shape of the values: their number, followed by the dense axes.
    type Values: Shape;
}
impl<S: Shape> DenseAxes<0> for S {
    type Values = (Dyn,);
}

/// Values of this shape are blocks of `N` axes.
#[diagnostic::on_unimplemented(
    message = "values of shape `{Self}` are not blocks of {N} axes",
    label = "the first axis counts the values, the others are the dense axes of the tensor"
)]
pub trait SparseValues<const N: usize>: Shape {}
impl<Count: Dim> SparseValues<0> for (Count,) {}

/// `2 [A B C D E F] [Y Z]` writes `DenseAxes<2>` for shapes that end with `Y, Z`, preceded by up to all of `A` to `F`, and
/// `SparseValues<2>`.
macro_rules! dense_axes {
    ($($count:literal [$($lead:ident)*] [$($dense:ident)*];)*) => {$(
        impl<Count: Dim, $($dense: Dim,)*> SparseValues<$count> for (Count, $($dense,)*) {}
        dense_axes!(@ $count [$($lead)*] [$($dense)*]);
    )*};
    (@ $count:literal [] [$($dense:ident)+]) => { dense_axes!(@one $count [] [$($dense)+]); };
    (@ $count:literal [$first:ident $($rest:ident)*] [$($dense:ident)+]) => {
        dense_axes!(@one $count [$first $($rest)*] [$($dense)+]);
        dense_axes!(@ $count [$($rest)*] [$($dense)+]);
    };
    (@one $count:literal [$($lead:ident)*] [$($dense:ident)+]) => {
        impl<$($lead: Dim,)* $($dense: Dim,)+> DenseAxes<$count> for ($($lead,)* $($dense,)+) {
            type Values = (Dyn, $($dense,)+);
        }
    };
}
dense_axes! {
    1 [A B C D E F G] [Z];
    2 [A B C D E F] [Y Z];
    3 [A B C D E] [X Y Z];
    4 [A B C D] [W X Y Z];
    5 [A B C] [V W X Y Z];
    6 [A B] [U V W X Y Z];
    7 [A] [T U V W X Y Z];
}
