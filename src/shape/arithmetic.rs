//! Arithmetic on dimensions: the sizes of concatenated, padded, split, pooled and convolved tensors.
//!
//! Sums, products and the smaller of two sizes are total ([`Sum`], [`Product`], [`Smaller`]); subtraction and division, which can fail, are
//! traits implemented with `typenum`. If a size is unknown, the result is `Dyn`, checked at run time.

use super::dim::{Dim, Dyn, Known, Never};
use super::numeral::{D0, D1, Doubled, DoubledPlusOne, End, FromReversed, Numeral};
use crate::sealed::Sealed;
use core::ops::{Div, Rem, Sub};
use typenum::{B0, B1, UInt, UTerm};

/// `A + B`: the size of two concatenated axes.
///
/// ```
/// use castiron::{dim, shape::Sum, Dim, Dyn};
/// assert_eq!(<Sum<dim!(384), dim!(128)> as Dim>::SIZE, Some(512));
/// assert_eq!(<Sum<dim!(384), Dyn> as Dim>::SIZE, None);
/// ```
pub type Sum<A, B> = <A as Dim>::Plus<B>;

/// `A * B`: the size of two axes flattened into one.
pub type Product<A, B> = <A as Dim>::Times<B>;

/// `N + Before + After`: the size of a padded axis.
pub type Padded<N, Before, After> = Sum<Sum<Before, N>, After>;

/// A binary number as a dimension.
#[doc(hidden)]
pub trait ToDim {
    type Reversed: Numeral;
    type Dim: Known;
}
impl ToDim for UTerm {
    type Reversed = End;
    type Dim = D0;
}
impl<U: ToDim> ToDim for UInt<U, B0> {
    type Reversed = Doubled<U::Reversed>;
    type Dim = FromReversed<Self::Reversed>;
}
impl<U: ToDim> ToDim for UInt<U, B1> {
    type Reversed = DoubledPlusOne<U::Reversed>;
    type Dim = FromReversed<Self::Reversed>;
}

/// `Self - R`, for sizes that shrink (`narrow`, unpadded windows).
///
/// ```
/// use castiron::{dim, shape::Minus, Dim};
/// assert_eq!(<<dim!(100) as Minus<dim!(1)>>::Output as Dim>::SIZE, Some(99));
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is smaller than `{R}`", label = "the size would be negative")]
pub trait Minus<R>: Sealed {
    /// The difference.
    type Output: Dim;
}
#[diagnostic::do_not_recommend]
impl<A: Known, B: Known> Minus<B> for A
where
    A::Unsigned: Sub<B::Unsigned>,
    <A::Unsigned as Sub<B::Unsigned>>::Output: ToDim,
{
    type Output = <<A::Unsigned as Sub<B::Unsigned>>::Output as ToDim>::Dim;
}
impl<B: Dim> Minus<B> for Dyn {
    type Output = Dyn;
}
impl<A: Known> Minus<Dyn> for A {
    type Output = Dyn;
}

/// An axis with at least `K` elements, as far as its size is known.
#[diagnostic::on_unimplemented(
    message = "an axis of `{Self}` elements is not known to hold `{K}`",
    label = "the axis is shorter, or its size is generic",
    note = "`D1<D0>` is 10; in generic code the bound is `N: Dim + HoldsAtLeast<dim!(…)>`, or take a number that is known at run time: `topk_sized`"
)]
pub trait HoldsAtLeast<K> {}
#[diagnostic::do_not_recommend]
impl<N: Known + Minus<K>, K: Known> HoldsAtLeast<K> for N {}
impl<K> HoldsAtLeast<K> for Dyn {}

/// `Self / R` rounded down.
///
/// ```
/// use castiron::{dim, shape::DivideBy, Dim};
/// assert_eq!(<<dim!(7) as DivideBy<dim!(2)>>::Output as Dim>::SIZE, Some(3));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be divided by `{R}`",
    label = "a size is divided by a number from 1 up"
)]
pub trait DivideBy<R>: Sealed {
    /// The quotient.
    type Output: Dim;
}
#[diagnostic::do_not_recommend]
impl<A: Known, B: Known> DivideBy<B> for A
where
    A::Unsigned: Div<B::Unsigned>,
    <A::Unsigned as Div<B::Unsigned>>::Output: ToDim,
{
    type Output = <<A::Unsigned as Div<B::Unsigned>>::Output as ToDim>::Dim;
}
impl<B: Dim> DivideBy<B> for Dyn {
    type Output = Dyn;
}
impl<A: Known> DivideBy<Dyn> for A {
    type Output = Dyn;
}

/// `Self / R` without remainder: equal parts (`split`, `unflatten`).
///
/// ```
/// use castiron::{dim, shape::DivideExactly, Dim};
/// assert_eq!(<<dim!(384) as DivideExactly<dim!(12)>>::Output as Dim>::SIZE, Some(32));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not divide into `{R}` equal parts",
    label = "something would be left over"
)]
pub trait DivideExactly<R>: Sealed {
    /// The size of one part.
    type Output: Dim;
}
/// A zero remainder.
#[doc(hidden)]
pub trait Nothing {}
impl Nothing for UTerm {}
impl Nothing for Never {}
#[diagnostic::do_not_recommend]
impl<A: Known, B: Known> DivideExactly<B> for A
where
    A::Unsigned: Div<B::Unsigned> + Rem<B::Unsigned>,
    <A::Unsigned as Rem<B::Unsigned>>::Output: Nothing,
    <A::Unsigned as Div<B::Unsigned>>::Output: ToDim,
{
    type Output = <<A::Unsigned as Div<B::Unsigned>>::Output as ToDim>::Dim;
}
impl<B: Dim> DivideExactly<B> for Dyn {
    type Output = Dyn;
}
impl<A: Known> DivideExactly<Dyn> for A {
    type Output = Dyn;
}

/// The size of an axis after a convolution or a pooling window:
/// `(N + 2 * Padding - Dilation * (Kernel - 1) - 1) / Stride + 1`, rounded down.
///
/// Source: PyTorch, `torch.nn.Conv2d`.
///
/// ```
/// use castiron::{dim, shape::ConvSize, Dim, Dyn};
/// type Same = <dim!(224) as ConvSize<dim!(3), dim!(1), dim!(1), dim!(1)>>::Output;
/// type Halved = <dim!(224) as ConvSize<dim!(7), dim!(2), dim!(3), dim!(1)>>::Output;
/// assert_eq!((Same::SIZE, Halved::SIZE), (Some(224), Some(112)));
/// assert_eq!(<Dyn as ConvSize<dim!(3), dim!(1), dim!(1), dim!(1)>>::Output::SIZE, None);
/// castiron::dims! { Height }
/// assert_eq!(<Height as ConvSize<dim!(3), dim!(1), dim!(1), dim!(1)>>::Output::SIZE, None);
/// ```
#[diagnostic::on_unimplemented(
    message = "a window of `{Kernel}` (stride `{Stride}`, padding `{Padding}`, dilation `{Dilation}`) does not fit an axis of `{Self}`",
    label = "the window is larger than the padded axis, or the stride is 0",
    note = "write a smaller window, or more padding",
    note = "of a generic axis nothing is known: `.padding::<Half>()` needs no bound, other paddings need `N: Dim + shape::ConvSize<…>`"
)]
// (Open, as `Dim` is: `dims!` implements it for names.)
pub trait ConvSize<Kernel, Stride, Padding, Dilation> {
    /// The number of windows.
    type Output: Dim;
}
#[diagnostic::do_not_recommend]
impl<N: Known, K: Known, S: Known, P: Known, L: Known, Room, Places> ConvSize<K, S, P, L> for N
where
    // Room = N + 2P + Dilation - Dilation * Kernel - 1
    Sum<Padded<N, P, P>, L>: Minus<Sum<Product<L, K>, D1>, Output = Room>,
    Room: DivideBy<S, Output = Places>,
    Places: Dim,
{
    type Output = Sum<Places, D1>;
}
impl<K: Dim, S: Dim, P: Dim, L: Dim> ConvSize<K, S, P, L> for Dyn {
    type Output = Dyn;
}

/// The smaller of the two: the number of columns of a matrix' factors, the length of a diagonal. It exists for all dimensions, so generic
/// code needs no bound: [`Dim::Smaller`], which is `Dyn` if either is a name or a size known at run time.
///
/// ```
/// use castiron::{dim, shape::Smaller, Dim, Dyn};
/// assert_eq!(<<dim!(7) as Smaller<dim!(13)>>::Output as Dim>::SIZE, Some(7));
/// assert_eq!(<<dim!(7) as Smaller<Dyn>>::Output as Dim>::SIZE, None);
/// ```
pub trait Smaller<R> {
    /// The smaller one; `Dyn` if either is.
    type Output: Dim;
}
#[diagnostic::do_not_recommend]
impl<A: Dim, B: Dim> Smaller<B> for A {
    type Output = A::Smaller<B>;
}
