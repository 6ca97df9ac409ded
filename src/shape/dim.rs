//! Dimensions: a number known to the compiler, `Dyn` (known at run time), or a name declared with `dims!`.
//!
//! Arithmetic on them is total (`A::Plus<B>`, `A::Smaller<B>`): if a size is unknown, the result is `Dyn`.

use super::broadcast::BroadcastDim;
use super::convert::{MayBe, Size};
use super::numeral::*;
use super::order::{Compared, Equal};
use super::placement::{Placement, Whole};
use crate::sealed::Sealed;
use typenum::UInt;

/// The size of one axis as a type.
///
/// - a number: `dim!(384)`, written in digits as `D3<D8<D4>>`;
/// - [`Dyn`]: a size known at run time;
/// - a name declared with [`dims!`](crate::dims): a size known at run time that the compiler distinguishes from other names.
///
/// ```
/// use castiron::{dims, dim, shape, Dim, Tensor};
/// dims! { Batch, Features }
///
/// fn center<B: Dim, N: Dim>(x: &Tensor<f32, (B, N)>) -> Tensor<f32, (B, N)> {
///     x - x.mean_axis(castiron::axis![0].keepdim())
/// }
/// let known: Tensor<f32, shape![2, 3]> = Tensor::ones();
/// let named: Tensor<f32, shape![Batch, 3]> = Tensor::ones_sized([7, 3]);
/// assert_eq!(center(&known).shape(), [2, 3]);
/// assert_eq!(center(&named).shape(), [7, 3]);
/// assert_eq!(<dim!(384) as Dim>::SIZE, Some(384));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a dimension",
    label = "expected a number (`dim!(384)`), `Dyn`, or a name declared with `dims!`"
)]
pub trait Dim:
    Copy
    + Default
    + core::fmt::Debug
    + Send
    + Sync
    + 'static
    + BroadcastDim<Self, Output = Self>
    + BroadcastDim<D1, Output = Self>
    + SameDim<Self, Merged = Self>
{
    /// The size, if it is known at compile time.
    const SIZE: Option<usize>;
    /// The name, for dimensions declared with [`dims!`](crate::dims).
    const NAME: Option<&'static str> = None;
    /// `Self + R`: known if both are, else `Dyn`.
    type Plus<R: Dim>: Dim;
    /// `Self * R`: known if both are, else `Dyn`.
    type Times<R: Dim>: Dim;
    /// `Self / S` rounded up: known if `Self` is, else `Dyn`; `Self` for a stride of 1.
    type CeilDiv<S: Stride>: Dim;
    /// The smaller of `Self` and `R`: known if both are, else `Dyn`.
    type Smaller<R: Dim>: Dim;
    /// `Self` if it is a number, else `Dyn`: forgets the name.
    type Unnamed: Size;
    #[doc(hidden)]
    type AddedToKnown<L: Known>: Dim;
    #[doc(hidden)]
    type AddedToRuntime<L: Dim>: Dim;
    #[doc(hidden)]
    type TimesKnown<L: Known>: Dim;
    #[doc(hidden)]
    type TimesRuntime<L: Dim>: Dim;
    #[doc(hidden)]
    type SmallerThanKnown<L: Known>: Dim;
    /// Whether each process has all of the axis: for `castiron-mesh`.
    #[doc(hidden)]
    type Placement: Placement;
    /// The axis where each process has all of it.
    #[doc(hidden)]
    type Uncut: Dim;
}

/// A dimension whose size is known at compile time.
#[diagnostic::on_unimplemented(
    message = "the size of dimension `{Self}` is not known to the compiler",
    label = "a number is needed here",
    note = "where sizes are known at run time only, use the method of the same name that takes them: `eye_sized([n, n])`, `zeros_sized`, `from_vec_sized`, `reshape_sized`, …; beside a tensor of this shape `x.eye_like()`, `x.zeros_like()`, …",
    note = "in generic code a number is `N: Known`"
)]
pub trait Known: Sealed + Dim + Numeral {
    /// The size. Numbers beyond `usize` fail to compile when used.
    const VALUE: usize = match <Self as Numeral>::NUMBER {
        Some(value) => value,
        None => panic!("a dimension exceeds usize"),
    };
    /// The same number in binary, for `typenum`.
    #[doc(hidden)]
    type Unsigned: typenum::Unsigned + Compared<Self::Unsigned, Is = Equal>;
}

/// A stride by which every size can be divided, so that generic code needs no bound: 1, 2, 4 and 8.
#[diagnostic::on_unimplemented(
    message = "a stride of `{Self}` is not known to divide every size",
    label = "expected a stride of 1, 2, 4 or 8",
    note = "with padding that is a number, `.padding::<dim!(1)>()`, strides are any numbers"
)]
pub trait Stride: Known {
    #[doc(hidden)]
    type OfKnown<N: Known>: Dim;
    #[doc(hidden)]
    type OfRuntime<N: Dim>: Dim;
}
/// Half, rounded up.
type HalfUp<N> = HalfOf<Plus<N, D1>>;
impl Stride for D1 {
    type OfKnown<N: Known> = N;
    type OfRuntime<N: Dim> = N;
}
impl Stride for D2 {
    type OfKnown<N: Known> = HalfUp<N>;
    type OfRuntime<N: Dim> = Dyn;
}
impl Stride for D4 {
    type OfKnown<N: Known> = HalfUp<HalfUp<N>>;
    type OfRuntime<N: Dim> = Dyn;
}
impl Stride for D8 {
    type OfKnown<N: Known> = HalfUp<HalfUp<HalfUp<N>>>;
    type OfRuntime<N: Dim> = Dyn;
}

/// Two dimensions of the same size: equal numbers, equal names, or a number and `Dyn` (checked at run time). A name matches only itself.
#[diagnostic::on_unimplemented(
    message = "dimensions differ: `{Self}` and `{Rhs}`",
    label = "these sizes must be equal",
    note = "a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis"
)]
pub trait SameDim<Rhs> {
    /// The more specific of the two.
    type Merged: Dim;
}

/// Two dimensions that must be equal for an operation `Op`: [`SameDim`], with the operation in the message.
#[diagnostic::on_unimplemented(
    message = "`{Op}`: sizes differ: `{Self}` and `{Rhs}`",
    label = "`{Op}` takes two equal sizes here",
    note = "a name is the same as itself only, not as `_`: `.with_shape::<…>()` renames an axis; `D3<D8<D4>>` is 384"
)]
pub trait SameSizeFor<Rhs, Op> {}
#[diagnostic::do_not_recommend]
impl<A: SameDim<B>, B, Op> SameSizeFor<B, Op> for A {}

/// Stands for "some other type", so that rustc does not infer from a trait with a single impl that two types are equal before it has seen
/// the second.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Never;

/// A size known at run time only.
///
/// Use it where one type must cover several sizes: methods of a trait object cannot be generic, so layers behind `dyn` take a batch of `_`.
/// Numbers and names are converted to it by [`with_shape`](crate::Tensor::with_shape), and restated afterwards.
///
/// ```
/// use castiron::{Tensor, dims, shape};
/// dims! { Batch }
/// type Features = Tensor<f32, shape![_, 8]>;
/// trait Layer {
///     fn forward(&self, x: Features) -> Features;
/// }
/// struct Scale(f32);
/// impl Layer for Scale {
///     fn forward(&self, x: Features) -> Features {
///         x * self.0
///     }
/// }
/// let layers: Vec<Box<dyn Layer>> = vec![Box::new(Scale(2.0)), Box::new(Scale(3.0))];
/// let x: Tensor<f32, shape![Batch, 8]> = Tensor::ones_sized([5, 8]);
/// let y = layers.iter().fold(x.with_shape(), |x, layer| layer.forward(x));
/// let y: Tensor<f32, shape![Batch, 8]> = y.with_shape();
/// assert_eq!((y.shape(), y[(4, 7)]), ([5, 8], 6.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dyn;

impl Sealed for Dyn {}
impl Dim for Dyn {
    const SIZE: Option<usize> = None;
    type Plus<R: Dim> = R::AddedToRuntime<Dyn>;
    type Times<R: Dim> = R::TimesRuntime<Dyn>;
    type CeilDiv<S: Stride> = Dyn;
    type Unnamed = Dyn;
    type AddedToKnown<L: Known> = Dyn;
    type AddedToRuntime<L: Dim> = Dyn;
    type TimesKnown<L: Known> = Dyn;
    type TimesRuntime<L: Dim> = Dyn;
    type Smaller<R: Dim> = Dyn;
    type SmallerThanKnown<L: Known> = Dyn;
    type Placement = Whole;
    type Uncut = Dyn;
}
#[diagnostic::do_not_recommend]
impl SameDim<Dyn> for Dyn {
    type Merged = Dyn;
}

/// The impls that all numbers share. `[R] D2<R>` writes them for all numbers that start with a 2.
macro_rules! number {
    ([$($r:ident)?] $number:ty;
     $(plus |$p:ident| $plus:ty;)? $(times |$t:ident| $times:ty;)? added |$l:ident| $added:ty; timed |$m:ident| $timed:ty;
     binary $binary:ty) => {
        impl$(<$r: Numeral>)? Dim for $number {
            const SIZE: Option<usize> = Some(<Self as Known>::VALUE);
            number!(@plus $(|$p| $plus)?);
            number!(@times $(|$t| $times)?);
            type CeilDiv<S: Stride> = S::OfKnown<Self>;
            type Unnamed = Self;
            type AddedToKnown<L: Known> = Plus<L, Self>;
            type AddedToRuntime<$l: Dim> = $added;
            type TimesKnown<L: Known> = Times<L, Self>;
            type TimesRuntime<$m: Dim> = $timed;
            type Smaller<R2: Dim> = R2::SmallerThanKnown<Self>;
            type SmallerThanKnown<L: Known> = SmallerOf<L, Self>;
            type Placement = Whole;
            type Uncut = Self;
        }
        impl$(<$r: Numeral>)? Known for $number {
            type Unsigned = $binary;
        }
        impl$(<$r: Numeral>)? Size for $number {}
        impl$(<$r: Numeral>)? MayBe<Dyn> for $number {}
        impl$(<$r: Numeral>)? MayBe<$number> for $number {}
        #[diagnostic::do_not_recommend]
        impl$(<$r: Numeral>)? SameDim<$number> for $number {
            type Merged = $number;
        }
        #[diagnostic::do_not_recommend]
        impl$(<$r: Numeral>)? SameDim<Dyn> for $number {
            type Merged = $number;
        }
        #[diagnostic::do_not_recommend]
        impl$(<$r: Numeral>)? SameDim<$number> for Dyn {
            type Merged = $number;
        }
    };
    (@plus |$p:ident| $plus:ty) => { type Plus<$p: Dim> = $plus; };
    (@plus) => { type Plus<R2: Dim> = R2::AddedToKnown<Self>; };
    (@times |$t:ident| $times:ty) => { type Times<$t: Dim> = $times; };
    (@times) => { type Times<R2: Dim> = R2::TimesKnown<Self>; };
}
/// `[R] D2<R>;` for the numbers other than 0 and 1.
macro_rules! larger_numbers {
    ($([$r:ident] $number:ty;)*) => {$(
        number!([$r] $number; added |L| Dyn; timed |L| Dyn;
            binary UInt<<HalfOf<Self> as Known>::Unsigned, LowestBit<Self>>);
    )*};
}
number!([] D0; plus |R2| R2; times |R2| D0; added |L| L; timed |L| D0; binary typenum::UTerm);
number!([] D1; times |R2| R2; added |L| Dyn; timed |L| L; binary typenum::U1);
numbers_above_one!(larger_numbers);

/// Declares named dimensions: sizes known at run time that the compiler distinguishes.
///
/// A name broadcasts with itself and with 1 only; [`with_shape`](crate::Tensor::with_shape) turns a `Dyn` tensor into a named one.
///
/// ```
/// use castiron::{dims, shape, Tensor};
/// dims! {
///     /// Examples in a batch.
///     pub Batch,
///     Features,
/// }
/// let x: Tensor<f32, shape![Batch, Features]> = Tensor::zeros_sized([32, 64]);
/// let scale: Tensor<f32, shape![Features]> = Tensor::ones_sized([64]);
/// let _: Tensor<f32, shape![Batch, Features]> = x * scale;
/// ```
#[macro_export]
macro_rules! dims {
    ($($(#[$doc:meta])* $vis:vis $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        $vis struct $name;

        impl $crate::shape::Dim for $name {
            const SIZE: ::core::option::Option<usize> = ::core::option::Option::None;
            const NAME: ::core::option::Option<&'static str> = ::core::option::Option::Some(stringify!($name));
            type Plus<R: $crate::shape::Dim> = R::AddedToRuntime<$name>;
            type Times<R: $crate::shape::Dim> = R::TimesRuntime<$name>;
            type CeilDiv<S: $crate::shape::Stride> = S::OfRuntime<$name>;
            type Unnamed = $crate::shape::Dyn;
            type AddedToKnown<L: $crate::shape::Known> = $crate::shape::Dyn;
            type AddedToRuntime<L: $crate::shape::Dim> = $crate::shape::Dyn;
            type TimesKnown<L: $crate::shape::Known> = $crate::shape::Dyn;
            type TimesRuntime<L: $crate::shape::Dim> = $crate::shape::Dyn;
            type Smaller<R: $crate::shape::Dim> = $crate::shape::Dyn;
            type SmallerThanKnown<L: $crate::shape::Known> = $crate::shape::Dyn;
            type Placement = $crate::shape::placement::Whole;
            type Uncut = $name;
        }
        impl $crate::shape::SameDim<$name> for $name {
            type Merged = $name;
        }
        impl<K> $crate::shape::HoldsAtLeast<K> for $name {}
        #[diagnostic::do_not_recommend]
        impl $crate::shape::SameDim<$crate::shape::Never> for $name {
            type Merged = $name;
        }
        impl<K: $crate::Dim, S: $crate::Dim, P: $crate::Dim, L: $crate::Dim> $crate::shape::ConvSize<K, S, P, L> for $name {
            type Output = $crate::Dyn;
        }
        impl $crate::shape::BroadcastDim<$name> for $name {
            type Output = $name;
        }
        impl $crate::shape::BroadcastDim<$crate::shape::D1> for $name {
            type Output = $name;
        }
    )*};
}
