//! Shapes that end with another shape: the normalised axes of `layer_norm` and `rms_norm`.

use super::numeral::D1;
use super::sealed::Tuple;
use super::tuple::each_suffix;
use super::{Dim, SameDim};

/// The last axes of `Self` are those of `N`.
///
/// Every [`Shape`](super::Shape) ends with its last axis; a zero-dim one counts as one axis of size 1.
#[diagnostic::on_unimplemented(
    message = "layer_norm, rms_norm: a tensor of shape `{Self}` does not end with the axes `{N}` of the weight",
    label = "the last axes are normalised: they must be those of the shape named, or of the weight",
    note = "the weight has the shape of the last axes, which are normalised: it has one axis or more, and no more than the tensor; `D3<D8<D4>>` is 384"
)]
pub trait EndsWith<N>: Tuple {}

#[diagnostic::do_not_recommend]
impl EndsWith<(D1,)> for () {}

macro_rules! ends_with {
    ([$($lead:ident)*]) => {};
    ([$($lead:ident)*] $(($a:ident $b:ident))+) => {
        #[diagnostic::do_not_recommend]
        impl<$($lead: Dim,)* $($a: Dim + SameDim<$b>, $b: Dim,)+> EndsWith<($($b,)+)> for ($($lead,)* $($a,)+) {}
    };
}
each_suffix!(ends_with);
