//! Rules for two numbers that hold for every number with itself, so that generic code need not state them.
//!
//! The compiler cannot evaluate a division or a subtraction of two generic numbers, but it can compare them bit by bit ([`Compared`]), and
//! a number always equals itself. So a rule is checked for different numbers only.

use super::dim::{Dim, Dyn, Known};
use core::ops::{Rem, Sub};
use typenum::{B0, B1, Bit, U1, UInt, UTerm};

/// Whether two binary numbers, or two bits, are equal.
#[doc(hidden)]
pub trait Compared<B> {
    type Is: Answer;
}
/// [`Equal`] or [`Different`].
#[doc(hidden)]
pub trait Answer {
    /// [`Equal`] if both are.
    type And<B: Answer>: Answer;
}
#[doc(hidden)]
#[derive(Debug)]
pub enum Equal {}
#[doc(hidden)]
#[derive(Debug)]
pub enum Different {}
impl Answer for Equal {
    type And<B: Answer> = B;
}
impl Answer for Different {
    type And<B: Answer> = Different;
}

/// A bit, which is equal to itself.
#[doc(hidden)]
pub trait OneBit: Bit + Compared<Self, Is = Equal> {}
impl OneBit for B0 {}
impl OneBit for B1 {}

/// `B0 B1: Different` writes `impl Compared<B1> for B0 { type Is = Different; }`.
macro_rules! compared {
    ($([$($of:ident)*] $a:ty, $b:ty: $is:ident;)*) => {$(
        impl<$($of),*> Compared<$b> for $a {
            type Is = $is;
        }
    )*};
}
compared! {
    [] B0, B0: Equal;
    [] B0, B1: Different;
    [] B1, B0: Different;
    [] B1, B1: Equal;
    [] UTerm, UTerm: Equal;
    [U B] UTerm, UInt<U, B>: Different;
    [U B] UInt<U, B>, UTerm: Different;
}
impl<U: Compared<V>, A: Compared<B>, V, B> Compared<UInt<V, B>> for UInt<U, A> {
    type Is = <<A as Compared<B>>::Is as Answer>::And<<U as Compared<V>>::Is>;
}

/// A number, or a size known at run time, fulfils a rule with another: every number with itself, and unknown sizes with everything.
#[doc(hidden)]
pub trait Keeps<Rule, B> {}
impl<Rule, B> Keeps<Rule, B> for Dyn {}
impl<Rule, A: Known> Keeps<Rule, Dyn> for A {}
impl<Rule, A: Known, B: Known> Keeps<Rule, B> for A
where
    A::Unsigned: Compared<B::Unsigned>,
    <A::Unsigned as Compared<B::Unsigned>>::Is: KeptBy<Rule, A::Unsigned, B::Unsigned>,
{
}

/// The two numbers fulfil the rule; only asked for different ones.
#[doc(hidden)]
pub trait KeptBy<Rule, A, B> {}
impl<Rule, A, B> KeptBy<Rule, A, B> for Equal {}

/// The first is a multiple of the second.
#[doc(hidden)]
#[derive(Debug)]
pub enum IsMultiple {}
impl<A: Rem<B, Output = UTerm>, B> KeptBy<IsMultiple, A, B> for Different {}
/// The first is not larger than the second.
#[doc(hidden)]
#[derive(Debug)]
pub enum IsNoLarger {}
impl<A, B: Sub<A>> KeptBy<IsNoLarger, A, B> for Different {}
/// The first equals the second or is 1.
#[doc(hidden)]
#[derive(Debug)]
pub enum Expands {}
impl<B> KeptBy<Expands, U1, B> for Different {}
/// One of the two is 1 if they differ.
#[doc(hidden)]
#[derive(Debug)]
pub enum Spreads {}
impl<B> KeptBy<Spreads, U1, B> for Different {}
impl KeptBy<Spreads, UTerm, U1> for Different {}
impl<U, A, B> KeptBy<Spreads, UInt<UInt<U, A>, B>, U1> for Different {}

/// `A` fulfils a rule with `B`; names count as sizes known at run time.
#[doc(hidden)]
pub trait Rules<Rule, B> {}
impl<Rule, A: Dim, B: Dim> Rules<Rule, B> for A where A::Unnamed: Keeps<Rule, B::Unnamed> {}
