//! The shapes of resampling, of patches cut out of images and of images put together from them.
//!
//! Source: PyTorch, `torch.nn.Upsample`, `torch.nn.Unfold`, `torch.nn.Fold`, `torch.nn.MaxUnpool2d` ("Shape").

use super::arithmetic::{DivideExactly, Sum};
use super::dim::{Dim, Known, SameDim};
use super::numeral::{D0, D1, D2, D3, D4, End};
use super::order::{IsNoLarger, Rules};
use super::window::{EachAxis, Moves, NumbersFor, Padding, Pool, TransposedSize};
use super::{ConvertTo, Shape};
use crate::ops::window::Window;
use crate::sealed::Sealed;
use core::marker::PhantomData;

/// Resampling along one axis: `(batch, channels, length)`.
#[derive(Clone, Copy, Debug)]
pub struct Lines;
/// Resampling along two axes: `(batch, channels, height, width)`.
#[derive(Clone, Copy, Debug)]
pub struct Images;
/// Resampling along three axes: `(batch, channels, depth, height, width)`.
#[derive(Clone, Copy, Debug)]
pub struct Volumes;

/// A shape that can be resampled to the sizes `R`.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be resampled to sizes `{R}`",
    label = "expected (batch, channels, …) with one to three axes behind, and a size for each of these",
    note = "without a batch use `unsqueeze` first; sizes are a shape: `interpolate::<shape![8, 8]>(…)`"
)]
pub trait Interpolated<R>: Sealed {}

/// A shape whose axes after the channels can be multiplied by `K`: one number for all, or one per axis.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be upsampled",
    label = "expected (batch, channels, …) with one to three axes behind",
    note = "without a batch use `unsqueeze` first"
)]
pub trait Upsampled<K>: Sealed {
    /// The factor of each axis.
    #[doc(hidden)]
    fn factors() -> Vec<usize>;
}

/// A shape whose axes after the channels get sizes known at run time: `F` has a number per axis.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be scaled by factors `{F}`",
    label = "expected (batch, channels, …) with one to three axes behind, and a factor for each of these, as in `[1.5, 2.0]`",
    note = "without a batch use `unsqueeze` first"
)]
pub trait Scaled<F>: Sealed {}

macro_rules! resampled {
    ($($what:ident $rank:literal: [$($axis:ident $size:ident $place:ident)+];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<N: Dim, C: Dim, $($axis: Dim, $size: Dim),+> Interpolated<($($size,)+)> for (N, C, $($axis),+) {}
        impl<N: Dim, C: Dim, $($axis: Dim,)+ K: EachAxis<First: Known, Second: Known, Third: Known>> Upsampled<K> for (N, C, $($axis),+)
        where
            K::Count: NumbersFor<$rank>,
        {
            fn factors() -> Vec<usize> {
                vec![$(<K::$place as Known>::VALUE),+]
            }
        }
        #[diagnostic::do_not_recommend]
        impl<N: Dim, C: Dim, $($axis: Dim),+> Scaled<[f64; $rank]> for (N, C, $($axis),+) {}
    )*};
}
resampled! {
    Lines 1: [L L1 First];
    Images 2: [H H1 First W W1 Second];
    Volumes 3: [B B1 First H H1 Second W W1 Third];
}

/// A window that extracts patches from images: its size, stride, padding and dilation. The default stride is 1.
///
/// ```
/// use castiron::{dim, nn::Patches, shape, Tensor};
/// let x = Tensor::<f32, shape![1, 3, 224, 224]>::ones();
/// let y: Tensor<f32, shape![1, 768, 196]> = x.im2col(Patches::<dim!(16)>::new().stride::<dim!(16)>());
/// # let _ = y;
/// ```
pub struct Patches<K, S = D1, P = D0, L = D1>(PhantomData<(K, S, P, L)>);

impl<K: EachAxis> Patches<K> {
    /// A window of this size with stride 1.
    pub const fn new() -> Self {
        Patches(PhantomData)
    }
}
impl<K, S, P, L> Patches<K, S, P, L> {
    /// The stride.
    pub const fn stride<T: EachAxis>(self) -> Patches<K, T, P, L> {
        Patches(PhantomData)
    }
    /// The number of zeros before and after each axis.
    pub const fn padding<T: EachAxis>(self) -> Patches<K, S, T, L> {
        Patches(PhantomData)
    }
    /// The dilation: the distance between adjacent positions of the window.
    pub const fn dilation<T: EachAxis>(self) -> Patches<K, S, P, T> {
        Patches(PhantomData)
    }
}
impl<K, S, P, L> Clone for Patches<K, S, P, L> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<K, S, P, L> Copy for Patches<K, S, P, L> {}
impl<K: EachAxis> Default for Patches<K> {
    fn default() -> Self {
        Self::new()
    }
}
impl<K, S, P, L> core::fmt::Debug for Patches<K, S, P, L> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Patches")
    }
}

/// A window with sizes known at compile time: [`Patches`] or [`Pool`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say how a window moves",
    label = "expected `Patches` or `Pool`, with sizes that the compiler knows",
    note = "write `Patches::<dim!(3)>::new().stride::<dim!(2)>()`"
)]
pub trait MovingWindow: Sealed + Copy {
    /// The windows of three axes.
    #[doc(hidden)]
    fn windows() -> Vec<Window>;
}
macro_rules! moving {
    ($($name:ident)*) => {$(
        impl<K, S, P, L> crate::sealed::Sealed for $name<K, S, P, L> {}
        impl<K: EachAxis<First: Known, Second: Known, Third: Known>, S, P, L> MovingWindow for $name<K, S, P, L>
        where
            (S, P, L): Moves,
        {
            fn windows() -> Vec<Window> {
                <(S, P, L)>::windows(&[<K::First as Known>::VALUE, <K::Second as Known>::VALUE, <K::Third as Known>::VALUE])
            }
        }
    )*};
}
moving!(Patches Pool);

/// Images from which `P` ([`Patches`]) extracts columns, one per patch.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be cut into patches",
    label = "expected images: (batch, channels, height, width) or (channels, height, width)"
)]
pub trait Unfolded<P>: Sealed {
    /// The shape of the result: `(batch, channels * patch positions, patches)`.
    type Output: Shape;
}

/// Columns that are patches of images of the sizes `R`, for `P` ([`Patches`]).
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` does not hold patches of images of sizes `{R}`",
    label = "expected (batch, channels * positions of a patch, patches), or the same without a batch, and sizes (height, width)"
)]
pub trait Folded<P, R>: Sealed {
    /// The shape of the result: `(batch, channels, height, width)`.
    type Output: Shape;
}

/// Rows that are divisible into patches of `Area` positions, one per channel.
#[diagnostic::on_unimplemented(
    message = "`{Self}` rows are not those of patches of `{Area}` positions",
    label = "there are as many rows as channels times positions of a patch",
    note = "columns are (batch, channels * positions of a patch, patches); `D3<D8<D4>>` is 384"
)]
pub trait RowsOfPatches<Area>: Sealed + Dim {
    /// The number of channels.
    type Channels: Dim;
}
#[diagnostic::do_not_recommend]
impl<C: Dim + DivideExactly<Area>, Area> RowsOfPatches<Area> for C {
    type Channels = <C as DivideExactly<Area>>::Output;
}

/// Columns, one per window.
#[diagnostic::on_unimplemented(
    message = "there are `{Self}` columns, and the window has `{Places}` places",
    label = "there is one column for each place of the window on the image",
    note = "columns are (batch, channels * positions of a patch, patches); `D3<D8<D4>>` is 384"
)]
pub trait ColumnForEach<Places>: Dim {}
#[diagnostic::do_not_recommend]
impl<N: Dim + SameDim<Places>, Places> ColumnForEach<Places> for N {}

macro_rules! patches {
    ($([$($lead:ident)?];)*) => {$(
        impl<$($lead: Dim,)? C: Dim, H: Dim, W: Dim, K: EachAxis<First: Known, Second: Known>, S: EachAxis, P: EachAxis, L: EachAxis>
            Unfolded<Patches<K, S, P, L>> for ($($lead,)? C, H, W)
        where
            K::Count: NumbersFor<2>,
            S::Count: NumbersFor<2>,
            P::Count: NumbersFor<2>,
            L::Count: NumbersFor<2>,
            P::First: Padding<H, K::First, S::First, L::First>,
            P::Second: Padding<W, K::Second, S::Second, L::Second>,
        {
            type Output = (
                $($lead,)?
                C::Times<<K::First as Dim>::Times<K::Second>>,
                <<P::First as Padding<H, K::First, S::First, L::First>>::Places as Dim>::Times<
                    <P::Second as Padding<W, K::Second, S::Second, L::Second>>::Places,
                >,
            );
        }
        impl<$($lead: Dim,)? C: Dim, N: Dim, H: Dim, W: Dim, K: EachAxis<First: Known, Second: Known>, S: EachAxis, P: EachAxis, L: EachAxis>
            Folded<Patches<K, S, P, L>, (H, W)> for ($($lead,)? C, N)
        where
            K::Count: NumbersFor<2>,
            S::Count: NumbersFor<2>,
            P::Count: NumbersFor<2>,
            L::Count: NumbersFor<2>,
            P::First: Padding<H, K::First, S::First, L::First>,
            P::Second: Padding<W, K::Second, S::Second, L::Second>,
            C: RowsOfPatches<<K::First as Dim>::Times<K::Second>>,
            N: ColumnForEach<
                <<P::First as Padding<H, K::First, S::First, L::First>>::Places as Dim>::Times<
                    <P::Second as Padding<W, K::Second, S::Second, L::Second>>::Places,
                >,
            >,
        {
            type Output = ($($lead,)? C::Channels, H, W);
        }
    )*};
}
patches! { []; [B]; }

/// A shape that `P` (a [`Pool`]) makes by pooling along `RANK` axes.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be what `{P}` pooled along {RANK} axes",
    label = "expected (batch, channels, …) or (channels, …), with {RANK} axes behind, and a window with numbers for padding"
)]
pub trait Unpooled<P, const RANK: usize>: Sealed {
    /// The shape before pooling.
    type Output: Shape;
}
macro_rules! unpooled {
    ($($rank:literal: ($($lead:ident)?) [$($axis:ident $place:ident)+];)*) => {$(
        impl<$($lead: Dim,)? C: Dim, $($axis: Dim,)+ K: EachAxis, S: EachAxis, P: EachAxis> Unpooled<Pool<K, S, P>, $rank> for ($($lead,)? C, $($axis),+)
        where
            K::Count: NumbersFor<$rank>,
            S::Count: NumbersFor<$rank>,
            P::Count: NumbersFor<$rank>,
            $($axis: TransposedSize<K::$place, S::$place, P::$place, D1, D0>,)+
        {
            type Output = ($($lead,)? C, $(<$axis as TransposedSize<K::$place, S::$place, P::$place, D1, D0>>::Output),+);
        }
    )*};
}
unpooled! {
    1: () [H First];
    1: (N) [H First];
    2: () [H First W Second];
    2: (N) [H First W Second];
    3: () [B First H Second W Third];
    3: (N) [B First H Second W Third];
}

/// Indices of this shape, as pooling gives them, go with values of shape `Values`: there is one for each.
#[diagnostic::on_unimplemented(
    message = "indices of shape `{Self}` do not go with pooled values of shape `{Values}`",
    label = "there is an index for each value",
    note = "`max_pool2d_with_indices` and its kin give values and indices together; `D3<D8<D4>>` is 384"
)]
pub trait PlacesOf<Values>: Sealed {}
#[diagnostic::do_not_recommend]
impl<T: ConvertTo<S>, S> PlacesOf<S> for T {}

/// Sizes of the axes from which a tensor of shape `T` may have been pooled by `P` (a [`Pool`]).
#[diagnostic::on_unimplemented(
    message = "sizes `{Self}` are not those of which `{P}` makes a tensor of shape `{T}`, pooling along {RANK} axes",
    label = "expected a size for each of the last {RANK} axes"
)]
pub trait SizesBefore<T, P, const RANK: usize>: Sealed {}
/// An axis of this size has as many places for a window of stride `S` as one of size `Own`: it is less than a stride away.
#[diagnostic::on_unimplemented(
    message = "an axis of size `{Self}` can't be what was pooled: windows reach `{Own}` positions, and move by `{S}`",
    label = "the size is less than a stride away from what the windows reach",
    note = "without sizes, `max_unpool2d` and its kin give what the windows reach; `D3<D8<D4>>` is 384"
)]
pub trait WithinStrideOf<Own, S> {}
#[diagnostic::do_not_recommend]
impl<N: Dim, Own: Dim, S: Dim> WithinStrideOf<Own, S> for N
where
    Sum<N, D1>: Rules<IsNoLarger, Sum<Own, S>>,
    Sum<Own, D1>: Rules<IsNoLarger, Sum<N, S>>,
{
}
macro_rules! sizes_before {
    ($($rank:literal: ($($lead:ident)?) [$($axis:ident $size:ident $place:ident)+];)*) => {$(
        impl<$($lead: Dim,)? C: Dim, $($axis: Dim, $size: Dim,)+ K: EachAxis, S: EachAxis, P: EachAxis>
            SizesBefore<($($lead,)? C, $($axis),+), Pool<K, S, P>, $rank> for ($($size,)+)
        where
            $($axis: TransposedSize<K::$place, S::$place, P::$place, D1, D0>,)+
            $($size: WithinStrideOf<<$axis as TransposedSize<K::$place, S::$place, P::$place, D1, D0>>::Output, S::$place>,)+
        {
        }
    )*};
}
sizes_before! {
    1: () [H R0 First];
    1: (N) [H R0 First];
    2: () [H R0 First W R1 Second];
    2: (N) [H R0 First W R1 Second];
    3: () [B R0 First H R1 Second W R2 Third];
    3: (N) [B R0 First H R1 Second W R2 Third];
}

/// Axes behind the channels that have room for as many windows of `K` (numbers for each axis) as the shape `R` says, at random places.
#[diagnostic::on_unimplemented(
    message = "windows of `{K}` are too large for `{R}` places in a tensor of shape `{Self}`",
    label = "along each axis places and window together are at most one more than the size, and of volumes at most the size"
)]
pub trait HasRoomFor<R, K, const RANK: usize>: Sealed {}
macro_rules! has_room {
    ($($rank:literal + $more:ty: ($($lead:ident)?) [$($axis:ident $size:ident $place:ident)+];)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($lead: Dim,)? C: Dim, $($axis: Dim, $size: Dim,)+ K: EachAxis<First: Dim, Second: Dim, Third: Dim>>
            HasRoomFor<($($size,)+), K, $rank> for ($($lead,)? C, $($axis),+)
        where
            $(Sum<$size, K::$place>: Rules<IsNoLarger, Sum<$axis, $more>>,)+
        {
        }
    )*};
}
has_room! {
    2 + D1: () [H R0 First W R1 Second];
    2 + D1: (N) [H R0 First W R1 Second];
    3 + D0: () [B R0 First H R1 Second W R2 Third];
    3 + D0: (N) [B R0 First H R1 Second W R2 Third];
}

/// Affine maps of a batch, for grids over images or volumes of the sizes `R`.
#[diagnostic::on_unimplemented(
    message = "affine maps of shape `{Self}` do not make a grid of sizes `{R}`",
    label = "expected (batch, 2, 3) and sizes (height, width), or (batch, 3, 4) and sizes (depth, height, width)"
)]
pub trait AffineMaps<R>: Sealed {
    /// The shape of the grid: `(batch, sizes…, axes)`.
    type Output: Shape;
}
impl<N: Dim, H: Dim, W: Dim> AffineMaps<(H, W)> for (N, D2<End>, D3<End>) {
    type Output = (N, H, W, D2<End>);
}
impl<N: Dim, B: Dim, H: Dim, W: Dim> AffineMaps<(B, H, W)> for (N, D3<End>, D4<End>) {
    type Output = (N, B, H, W, D3<End>);
}

/// A shape that can be sampled at the positions of a grid of shape `G`.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be sampled by a grid of shape `{G}`",
    label = "expected images (batch, channels, height, width) and a grid (batch, …, …, 2), or volumes and a grid (batch, …, …, …, 3)",
    note = "both have one batch; the last axis of a grid holds x, y, and z of volumes; `D3<D8<D4>>` is 384"
)]
pub trait SampledBy<G>: Sealed {
    /// The shape of the result: `(batch, channels, …)` with the sizes of the grid.
    type Output: Shape;
    /// [`Images`] or [`Volumes`].
    type What;
}
#[diagnostic::do_not_recommend]
impl<N: Dim, C: Dim, H: Dim, W: Dim, M: Dim + SameDim<N>, H1: Dim, W1: Dim> SampledBy<(M, H1, W1, D2<End>)>
    for (N, C, H, W)
{
    type Output = (N, C, H1, W1);
    type What = Images;
}
#[diagnostic::do_not_recommend]
impl<N: Dim, C: Dim, B: Dim, H: Dim, W: Dim, M: Dim + SameDim<N>, B1: Dim, H1: Dim, W1: Dim>
    SampledBy<(M, B1, H1, W1, D3<End>)> for (N, C, B, H, W)
{
    type Output = (N, C, B1, H1, W1);
    type What = Volumes;
}
// Second candidates, so that rustc reports the message above instead of unifying: see `Never`.
#[diagnostic::do_not_recommend]
impl<N: Dim, C: Dim, H: Dim, W: Dim> SampledBy<super::Never> for (N, C, H, W) {
    type Output = ();
    type What = Images;
}
#[diagnostic::do_not_recommend]
impl<N: Dim, C: Dim, B: Dim, H: Dim, W: Dim> SampledBy<super::Never> for (N, C, B, H, W) {
    type Output = ();
    type What = Volumes;
}
