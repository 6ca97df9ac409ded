//! Broadcasting: the run-time rule and the type-level rule.
//!
//! PyTorch, "Broadcasting semantics": shapes are aligned at the last axis; two sizes are compatible if they are equal or one of them is 1.

use super::dim::{Dim, Dyn};
use super::numeral::*;
use super::sealed::Tuple;
use super::{Shape, tuple::each_suffix};
use crate::error::{Error, Result};

/// The rule for two sizes at run time; `None` if they are not compatible.
#[inline]
pub const fn broadcast_size(a: usize, b: usize) -> Option<usize> {
    if a == b || b == 1 {
        Some(a)
    } else if a == 1 {
        Some(b)
    } else {
        None
    }
}

/// The rule for two shapes at run time: writes the result to `out`, whose length is the larger rank. Returns `false` if the shapes are not
/// compatible.
pub fn broadcast_sizes(a: &[usize], b: &[usize], out: &mut [usize]) -> bool {
    let rank = out.len();
    debug_assert_eq!(rank, a.len().max(b.len()));
    let size = |sizes: &[usize], axis: usize| {
        let missing = rank - sizes.len();
        if axis < missing { 1 } else { sizes[axis - missing] }
    };
    for (axis, out) in out.iter_mut().enumerate() {
        match broadcast_size(size(a, axis), size(b, axis)) {
            Some(size) => *out = size,
            None => return false,
        }
    }
    true
}

/// Whether a tensor of sizes `from` broadcasts to sizes `to`: axes of size 1 are repeated, and new ones are added in front.
pub fn broadcasts_to(from: &[usize], to: &[usize]) -> bool {
    from.len() <= to.len()
        && from.iter().rev().zip(to.iter().rev()).all(|(&from, &to)| broadcast_size(from, to) == Some(to))
}

/// Checks that a result can be written to an output of these sizes.
pub(crate) fn expect_broadcast(op: &'static str, from: &[usize], to: &[usize]) -> Result<()> {
    if broadcasts_to(from, to) { Ok(()) } else { Err(Error::Output { op, result: from.into(), output: to.into() }) }
}

/// The rule for two dimensions as a type function.
///
/// Equal numbers and equal names are compatible; 1 is compatible with everything; `Dyn` with a number `n >= 2` gives `n` (checked at run
/// time), with 1 gives `Dyn`. A name is compatible with itself and 1 only.
#[diagnostic::on_unimplemented(
    message = "shapes do not broadcast: dimension `{Self}` against `{Rhs}`",
    label = "these two are not the same, and neither is 1",
    note = "sizes go together, from the last axis on, if they are equal or one of them is 1, as `axis![1].keepdim()` leaves a reduced axis; `D3<D8<D4>>` is 384",
    note = "a name goes with itself and 1 only: `.with_shape::<…>()` renames an axis"
)]
pub trait BroadcastDim<Rhs> {
    /// The size of the result.
    type Output: Dim;
}

impl<N: Dim> BroadcastDim<N> for D1 {
    type Output = N;
}
impl BroadcastDim<Dyn> for Dyn {
    type Output = Dyn;
}
impl BroadcastDim<D1> for Dyn {
    type Output = Dyn;
}

/// The numbers other than 1: compatible with themselves, with 1 and with `Dyn`.
macro_rules! not_one {
    ($([$($r:ident)?] $number:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl$(<$r: Numeral>)? BroadcastDim<$number> for $number {
            type Output = $number;
        }
        #[diagnostic::do_not_recommend]
        impl$(<$r: Numeral>)? BroadcastDim<D1> for $number {
            type Output = $number;
        }
        #[diagnostic::do_not_recommend]
        impl$(<$r: Numeral>)? BroadcastDim<Dyn> for $number {
            type Output = $number;
        }
        #[diagnostic::do_not_recommend]
        impl$(<$r: Numeral>)? BroadcastDim<$number> for Dyn {
            type Output = $number;
        }
    )*};
}
not_one! { [] D0; }
numbers_above_one!(not_one);

/// The rule for two shapes as a type function: axes are aligned at the last one.
///
/// Every [`Shape`] implements `S: Broadcast<S, Output = S>` and `S: Broadcast<(), Output = S>`, so code generic over one shape needs no
/// bound.
#[diagnostic::on_unimplemented(
    message = "shapes do not broadcast: `{Self}` against `{Rhs}`",
    label = "these shapes do not go together",
    note = "sizes go together, from the last axis on, if they are equal or one of them is 1, as `axis![1].keepdim()` leaves a reduced axis; `D3<D8<D4>>` is 384"
)]
pub trait Broadcast<Rhs>: Tuple {
    /// The shape of the result.
    type Output: Shape;
}

impl<S: Shape> Broadcast<S> for () {
    type Output = S;
}

/// For the suffixes `(A, X) (B, Y)` and the longer operand's leading axis `L` it expands to
/// ```text
/// impl Broadcast<(X, Y)> for (L, A, B) where A: BroadcastDim<X>, … { type Output = (L, A::Output, B::Output); }
/// impl Broadcast<(L, X, Y)> for (A, B) …
/// ```
macro_rules! broadcast {
    ([] $(($a:ident $b:ident))+) => {
        impl<$($a: BroadcastDim<$b>,)+ $($b,)+> Broadcast<($($b,)+)> for ($($a,)+) {
            type Output = ($(<$a as BroadcastDim<$b>>::Output,)+);
        }
    };
    ([$($lead:ident)+] $(($a:ident $b:ident))+) => {
        impl<$($lead: Dim,)+ $($a: BroadcastDim<$b>,)+ $($b,)+> Broadcast<($($b,)+)> for ($($lead,)+ $($a,)+) {
            type Output = ($($lead,)+ $(<$a as BroadcastDim<$b>>::Output,)+);
        }
        impl<$($lead: Dim,)+ $($a: BroadcastDim<$b>,)+ $($b,)+> Broadcast<($($lead,)+ $($b,)+)> for ($($a,)+) {
            type Output = ($($lead,)+ $(<$a as BroadcastDim<$b>>::Output,)+);
        }
    };
    ([$($lead:ident)+]) => {
        impl<$($lead: Dim,)+> Broadcast<()> for ($($lead,)+) {
            type Output = ($($lead,)+);
        }
    };
}
each_suffix!(broadcast);
