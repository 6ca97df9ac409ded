//! Compatible shapes: conversion between known, named and run-time sizes, and writing a result to an output.

use super::dim::{Dim, Dyn, SameDim};
use super::order::{Expands, IsMultiple, IsNoLarger, Keeps, Spreads};
use super::sealed::Tuple;
use super::tuple::each_rank;
use crate::sealed::Sealed;

/// Two dimensions whose sizes may be equal: all except two different numbers. Names are ignored.
#[diagnostic::on_unimplemented(
    message = "a dimension of size `{Self}` is never one of size `{To}`",
    label = "these sizes differ"
)]
pub trait MayEqual<To> {}
#[diagnostic::do_not_recommend]
impl<A: Dim, B: Dim> MayEqual<B> for A where A::Unnamed: MayBe<B::Unnamed> {}

/// A size without a name: a number, or [`Dyn`].
///
/// Each may be `Dyn` and itself, and `Dyn` may be each, which lets generic code state sizes (`(Dyn, Dyn)` as `(N, M)`) and forget them
/// without a where-clause.
pub trait Size:
    Sealed
    + Dim
    + MayBe<Self>
    + MayBe<Dyn>
    + Keeps<IsMultiple, Self>
    + Keeps<IsMultiple, Dyn>
    + Keeps<IsNoLarger, Self>
    + Keeps<IsNoLarger, Dyn>
    + Keeps<Expands, Self>
    + Keeps<Expands, Dyn>
    + Keeps<Spreads, Self>
    + Keeps<Spreads, Dyn>
{
}

/// Two sizes without names that may be equal.
#[doc(hidden)]
pub trait MayBe<To> {}
impl<D: Size> MayBe<D> for Dyn {}
impl Size for Dyn {}

/// A tensor of this shape may have shape `To` at run time: same rank, and no axis with two different numbers.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can never have shape `{To}`",
    label = "the ranks differ, or two known sizes do",
    note = "to change the shape use `reshape`, `permute` or `expand`; `D3<D8<D4>>` is 384"
)]
pub trait ConvertTo<To>: Tuple {}
#[diagnostic::do_not_recommend]
impl ConvertTo<()> for () {}

/// A result of this shape can be written to an output of shape `To`: the same sizes, axis by axis.
#[diagnostic::on_unimplemented(
    message = "a result of shape `{Self}` can't be written into a tensor of shape `{To}`",
    label = "an output must have the shape of the result",
    note = "only the other operand is broadcast to the output, never the output to it: make a new tensor, `let x = x + y`",
    note = "a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis; `D3<D8<D4>>` is 384"
)]
pub trait WrittenTo<To>: Tuple {}
#[diagnostic::do_not_recommend]
impl WrittenTo<()> for () {}
// A second impl, so that rustc reports the message above instead of unifying: see `Never`.
#[diagnostic::do_not_recommend]
impl WrittenTo<super::Never> for () {}

macro_rules! conversions {
    ($rank:literal [$($from:ident)+] $positive:tt $negative:tt) => {
        conversions!(@pair [$($from)+] [$($from)+] [A2 B2 C2 D2 E2 F2 G2 H2] []);
    };
    (@pair $all:tt [$from:ident $($rest:ident)*] [$to:ident $($tos:ident)*] [$($pair:tt)*]) => {
        conversions!(@pair $all [$($rest)*] [$($tos)*] [$($pair)* ($from $to)]);
    };
    (@pair $all:tt [] $unused:tt [$(($from:ident $to:ident))+]) => {
        #[diagnostic::do_not_recommend]
        impl<$($from: MayEqual<$to>, $to,)+> ConvertTo<($($to,)+)> for ($($from,)+) {}
        #[diagnostic::do_not_recommend]
        impl<$($from: SameDim<$to>, $to,)+> WrittenTo<($($to,)+)> for ($($from,)+) {}
        #[diagnostic::do_not_recommend]
        impl<$($from,)+> WrittenTo<super::Never> for ($($from,)+) {}
    };
}
each_rank!(conversions);
