//! Sliding windows as types: the options of convolutions and pooling ([`Conv`], [`Pool`]), and the resulting shapes. The run-time form is
//! `ops::window`.
//!
//! Source: PyTorch, `torch.nn.Conv2d`, `torch.nn.ConvTranspose2d`, `torch.nn.MaxPool2d` ("Shape").

use super::Shape;
use super::arithmetic::{ConvSize, Minus, Product, Sum};
use super::dim::{Dim, Dyn, Known, SameDim, Stride};
use super::network::InGroups;
use super::numeral::{D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, LowestBit, Numeral, numbers_above_one};
use crate::ops::window::Window;
use crate::sealed::Sealed;
use core::marker::PhantomData;

/// The options of a convolution: stride, padding, dilation and groups, each one number for all axes (`dim!(2)`) or one per axis (`shape![2,
/// 1]`). Padding may also be [`Same`] or [`Half`].
///
/// ```
/// use castiron::{dim, nn::Conv, shape, Tensor};
/// let (image, weight) = (Tensor::<f32, shape![1, 3, 224, 224]>::ones(), Tensor::<f32, shape![64, 3, 7, 7]>::ones());
/// let stem = Conv::new().stride::<dim!(2)>().padding::<dim!(3)>();
/// let y: Tensor<f32, shape![1, 64, 112, 112]> = image.conv2d(&weight, None, stem);
/// assert_eq!(y[(0, 0, 50, 50)], 147.0);
/// ```
pub struct Conv<S = D1, P = D0, L = D1, G = D1, A = D0>(PhantomData<(S, P, L, G, A)>);

impl Conv {
    /// Stride 1, no padding, no dilation, one group.
    pub const fn new() -> Self {
        Conv(PhantomData)
    }
}
impl<S, P, L, G, A> Conv<S, P, L, G, A> {
    /// The stride.
    pub const fn stride<T: EachAxis>(self) -> Conv<T, P, L, G, A> {
        Conv(PhantomData)
    }
    /// The number of zeros before and after each axis.
    pub const fn padding<T: EachAxis>(self) -> Conv<S, T, L, G, A> {
        Conv(PhantomData)
    }
    /// The dilation: the distance between adjacent positions of the window.
    pub const fn dilation<T: EachAxis>(self) -> Conv<S, P, T, G, A> {
        Conv(PhantomData)
    }
    /// The number of positions that a transposed convolution adds after each axis. (Other convolutions take none.)
    pub const fn output_padding<T: EachAxis>(self) -> Conv<S, P, L, G, T> {
        Conv(PhantomData)
    }
    /// The number of groups that the channels are divided into, each with its own weights.
    pub const fn groups<T: Known>(self) -> Conv<S, P, L, T, A> {
        Conv(PhantomData)
    }
}

/// The options of pooling: window size, stride, padding and dilation. The default stride is the size.
///
/// ```
/// use castiron::{dim, nn::Pool, shape, Tensor};
/// let x = Tensor::<f32, shape![1, 64, 112, 112]>::ones();
/// let y: Tensor<f32, shape![1, 64, 56, 56]> = x.max_pool2d(Pool::<dim!(3)>::new().stride::<dim!(2)>().padding::<dim!(1)>());
/// let z: Tensor<f32, shape![1, 64, 56, 56]> = x.avg_pool2d(Pool::<dim!(2)>::new());
/// # let _ = (y, z);
/// ```
pub struct Pool<K, S = K, P = D0, L = D1>(PhantomData<(K, S, P, L)>);

impl<K: EachAxis> Pool<K> {
    /// A window of this size, with the same stride.
    pub const fn new() -> Self {
        Pool(PhantomData)
    }
}
impl<K, S, P, L> Pool<K, S, P, L> {
    /// The stride.
    pub const fn stride<T: EachAxis>(self) -> Pool<K, T, P, L> {
        Pool(PhantomData)
    }
    /// The number of positions before and after each axis: at most half of the window's.
    pub const fn padding<T: EachAxis>(self) -> Pool<K, S, T, L> {
        Pool(PhantomData)
    }
    /// The dilation: the distance between adjacent positions of the window.
    pub const fn dilation<T: EachAxis>(self) -> Pool<K, S, P, T> {
        Pool(PhantomData)
    }
}

macro_rules! plain {
    ($([$($of:ident)+] $name:ident $text:literal $default:tt;)*) => {$(
        impl<$($of),+> Clone for $name<$($of),+> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($of),+> Copy for $name<$($of),+> {}
        plain!(@default $default [$($of)+] $name);
        impl<$($of),+> core::fmt::Debug for $name<$($of),+> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.write_str($text)
            }
        }
    )*};
    (@default true [$($of:ident)+] $name:ident) => {
        impl<$($of),+> Default for $name<$($of),+> {
            fn default() -> Self {
                $name(PhantomData)
            }
        }
    };
}
plain! {
    [S P L G A] Conv "Conv" true;
    [K S P L] Pool "Pool" true;
}

/// Padding that keeps the size of an axis, for stride 1 (PyTorch's `padding='same'`): if the number of zeros is odd, there is one more
/// after the axis.
#[derive(Clone, Copy, Debug, Default)]
pub struct Same;

/// Padding by half of the (odd) window on both sides: an axis of `n` gets `n / stride` places, rounded up, for any window. Needs no bounds
/// in generic code.
///
/// ```
/// use castiron::nn::{Conv, Half};
/// use castiron::{dim, shape, Device, Dim, Float, Tensor};
/// fn down<E: Float, N: Dim, H: Dim, W: Dim, D: Device>(
///     x: &Tensor<E, (N, dim!(64), H, W), D>,
///     weight: &Tensor<E, shape![128, 64, 3, 3], D>,
/// ) -> Tensor<E, (N, dim!(128), H::CeilDiv<dim!(2)>, W::CeilDiv<dim!(2)>), D> {
///     x.conv2d(weight, None, Conv::new().stride::<dim!(2)>().padding::<Half>())
/// }
/// let x = Tensor::<f32, shape![1, 64, 7, 8]>::ones();
/// let y: Tensor<f32, shape![1, 128, 4, 4]> = down(&x, &Tensor::ones());
/// assert_eq!(y[(0, 0, 1, 1)], 576.0);
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Half;

/// One number for all axes, or one per axis for two or three axes.
#[diagnostic::on_unimplemented(
    message = "`{Self}` says nothing of the axes that a window moves along",
    label = "expected a number, `dim!(2)`, or one for each axis, `shape![2, 1]`",
    note = "padding may also be `Same` or `Half`"
)]
pub trait EachAxis: Sealed + 'static {
    /// The number of axes, to be compared by [`NumbersFor`].
    type Count;
    /// The number for the first axis.
    type First: 'static;
    /// The number for the second axis.
    type Second: 'static;
    /// The number for the third axis.
    type Third: 'static;
}
impl<A: Known> EachAxis for A {
    type Count = AllAxes;
    type First = A;
    type Second = A;
    type Third = A;
}
impl Sealed for Same {}
impl Sealed for Half {}
impl EachAxis for Same {
    type Count = AllAxes;
    type First = Same;
    type Second = Same;
    type Third = Same;
}
impl EachAxis for Half {
    type Count = AllAxes;
    type First = Half;
    type Second = Half;
    type Third = Half;
}
impl<A: Known> EachAxis for (A,) {
    type Count = D1;
    type First = A;
    type Second = A;
    type Third = A;
}
impl<A: Known, B: Known> EachAxis for (A, B) {
    type Count = D2;
    type First = A;
    type Second = B;
    type Third = B;
}
impl<A: Known, B: Known, C: Known> EachAxis for (A, B, C) {
    type Count = D3;
    type First = A;
    type Second = B;
    type Third = C;
}

/// A single number for all axes.
#[doc(hidden)]
pub struct AllAxes;

/// A list of this length has one number for each of `AXES` axes. (As in PyTorch, none is repeated or omitted.)
#[diagnostic::on_unimplemented(
    message = "a list of `{Self}` numbers for {AXES} axes",
    label = "write one number for each of the {AXES} axes behind the channels, or one for all: `dim!(…)`"
)]
pub trait NumbersFor<const AXES: usize>: Sealed {}
impl Sealed for AllAxes {}
impl<const AXES: usize> NumbersFor<AXES> for AllAxes {}
impl NumbersFor<1> for D1 {}
impl NumbersFor<2> for D2 {}
impl NumbersFor<3> for D3 {}

/// The padding of an axis of `N` positions, for a window of `K` with stride `S` and dilation `L`.
#[diagnostic::on_unimplemented(
    message = "an axis of `{N}` can't be padded by `{Self}` for a window of `{K}` with stride `{S}` and dilation `{L}`",
    label = "`Same` takes a stride of 1, `Half` an odd window without dilation",
    note = "padding is a number, `dim!(1)`, `Same` or `Half`"
)]
pub trait Padding<N, K, S, L>: Sealed {
    /// The number of windows.
    type Places: Dim;
}
#[diagnostic::do_not_recommend]
impl<P: Known, N: ConvSize<K, S, P, L>, K, S, L> Padding<N, K, S, L> for P {
    type Places = N::Output;
}
#[diagnostic::do_not_recommend]
impl<N: Dim, K, L> Padding<N, K, D1, L> for Same {
    type Places = N;
}
#[diagnostic::do_not_recommend]
impl<N: Dim, K: OddWindow, S: Stride> Padding<N, K, S, D1> for Half {
    type Places = N::CeilDiv<S>;
}

/// Padding of pools: at most half of the window, so that every window contains an element. `K` is the window, `L` its dilation.
#[diagnostic::on_unimplemented(
    message = "padding by `{Self}` is more than half of a pool's window of `{K}`",
    label = "at most half of a window, dilation `{L}` included, stands outside of the axis",
    note = "`.pad(…)` makes an axis longer before it is pooled"
)]
pub trait WithinHalf<K, L>: Sealed {}
#[diagnostic::do_not_recommend]
impl<K, L> WithinHalf<K, L> for Same {}
#[diagnostic::do_not_recommend]
impl<K, L> WithinHalf<K, L> for Half {}
#[diagnostic::do_not_recommend]
impl<K, L> WithinHalf<K, L> for D0 {}

/// Output padding of a transposed convolution: less than the stride, or less than the dilation if that is larger.
#[diagnostic::on_unimplemented(
    message = "output padding by `{Self}` is not below the stride `{S}`",
    label = "a transposed convolution adds less than its stride, or than its dilation, `{L}`, if that is larger",
    note = "output padding chooses among the sizes that one stride makes alike; `.pad(…)` makes the result longer"
)]
pub trait BelowStride<S, L>: Sealed {}
#[diagnostic::do_not_recommend]
impl<S, L> BelowStride<S, L> for D0 {}

/// For a number above 0, which is checked, writes
/// ```text
/// impl WithinHalf<K, L> for D1 where 2 + L <= L * K + 1 {}
/// impl BelowStride<S, L> for D1 where 2 <= max(S, L) {}
/// ```
macro_rules! paddings {
    ($([$($r:ident)?] $number:ty;)*) => {$(
        #[diagnostic::do_not_recommend]
        impl<$($r: Numeral,)? K: Known, L: Known> WithinHalf<K, L> for $number where
            Sum<Product<L, K>, D1>: Minus<Sum<Sum<$number, $number>, L>>
        {
        }
        #[diagnostic::do_not_recommend]
        impl<$($r: Numeral,)? S: Known, L: Known> BelowStride<S, L> for $number
        where
            S::Unsigned: typenum::Max<L::Unsigned>,
            typenum::Maximum<S::Unsigned, L::Unsigned>: Above<<$number as Known>::Unsigned>,
        {
        }
    )*};
}
/// A binary number above 0.
#[doc(hidden)]
pub trait IsPositive {}
impl<U, B> IsPositive for typenum::UInt<U, B> {}
/// A binary number above another.
#[doc(hidden)]
pub trait Above<B> {}
impl<A: core::ops::Sub<B>, B> Above<B> for A where A::Output: IsPositive {}
paddings!([] D1;);
numbers_above_one!(paddings);

/// A window with a centre: of odd size.
#[diagnostic::on_unimplemented(
    message = "a window of `{Self}` has no middle",
    label = "`Half` pads for windows of an odd number of positions, which the compiler knows",
    note = "pad by a number: `.padding::<dim!(1)>()`"
)]
pub trait OddWindow: Sealed {}
#[doc(hidden)]
pub trait IsOne {}
impl IsOne for typenum::B1 {}
#[diagnostic::do_not_recommend]
impl<K: Known + Numeral> OddWindow for K where LowestBit<K>: IsOne {}

/// The padding before and after, at run time.
#[doc(hidden)]
pub trait PaddingAmount {
    fn amount(kernel: usize, dilation: usize) -> [usize; 2];
}
impl<P: Known> PaddingAmount for P {
    fn amount(_: usize, _: usize) -> [usize; 2] {
        [P::VALUE; 2]
    }
}
impl PaddingAmount for Same {
    fn amount(kernel: usize, dilation: usize) -> [usize; 2] {
        same(kernel, dilation)
    }
}
impl PaddingAmount for Half {
    fn amount(kernel: usize, _: usize) -> [usize; 2] {
        [kernel / 2; 2]
    }
}

/// The padding before and after that keeps the size of an axis.
pub(crate) fn same(kernel: usize, dilation: usize) -> [usize; 2] {
    let all = kernel.saturating_sub(1).saturating_mul(dilation);
    [all / 2, all - all / 2]
}

/// The options of a window along three axes, at run time; leading numbers are for leading axes.
#[doc(hidden)]
pub trait Moves {
    /// The windows for these kernel sizes.
    fn windows(kernel: &[usize]) -> Vec<Window>;
}
impl<S, P, L> Moves for (S, P, L)
where
    S: EachAxis<First: Known, Second: Known, Third: Known>,
    L: EachAxis<First: Known, Second: Known, Third: Known>,
    P: EachAxis<First: PaddingAmount, Second: PaddingAmount, Third: PaddingAmount>,
{
    fn windows(kernel: &[usize]) -> Vec<Window> {
        fn of<S: Known, P: PaddingAmount, L: Known>(kernel: usize) -> Window {
            let [before, after] = P::amount(kernel, L::VALUE);
            Window { kernel, stride: S::VALUE, dilation: L::VALUE, before, after }
        }
        let each: [fn(usize) -> Window; 3] = [
            of::<S::First, P::First, L::First>,
            of::<S::Second, P::Second, L::Second>,
            of::<S::Third, P::Third, L::Third>,
        ];
        kernel.iter().zip(each).map(|(&kernel, of)| of(kernel)).collect()
    }
}

/// The number of channels of a convolution's input; its weight takes `CG` in each of `G` groups.
#[diagnostic::on_unimplemented(
    message = "convolution: the input has `{Self}` channels, the weight takes `{CG}` in each group, of which there are `{G}`",
    label = "the channels of the input must be those of the weight times the groups",
    note = "a weight is (out channels, channels / groups, window…), images are (batch, channels, height, width); `D3<D8<D4>>` is 384"
)]
pub trait InChannels<CG, G> {}
#[diagnostic::do_not_recommend]
impl<C: SameDim<Product<G, CG>>, CG: Dim, G: Dim> InChannels<CG, G> for C {}

/// A shape that can be convolved with weights of shape `W` and options `C` (a [`Conv`]).
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be convolved by a weight of shape `{W}`",
    label = "expected (batch, channels, …) or (channels, …), with as many axes behind as the weight's window has",
    note = "a weight is (out channels, channels / groups, window…)"
)]
pub trait Convolved<W, C>: Sealed {
    /// The shape of the result.
    type Output: Shape;
}

/// A shape for a transposed convolution with weights of shape `W` and options `C` (a [`Conv`]).
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be convolved by a transposed weight of shape `{W}`",
    label = "expected (batch, channels, …) or (channels, …), with as many axes behind as the weight's window has",
    note = "a transposed weight is (channels, out channels / groups, window…), its padding a number"
)]
pub trait Transposed<W, C>: Sealed {
    /// The shape of the result.
    type Output: Shape;
}

/// The number of channels of a transposed convolution's input, which must equal that of its weight.
#[diagnostic::on_unimplemented(
    message = "transposed convolution: the input has `{Self}` channels, the weight takes `{CW}`",
    label = "the channels of the input must be the weight's first axis",
    note = "a transposed weight is (channels, out channels / groups, window…); `D3<D8<D4>>` is 384"
)]
pub trait TransposedChannels<CW> {}
#[diagnostic::do_not_recommend]
impl<C: SameDim<CW>, CW> TransposedChannels<CW> for C {}

/// A shape that can be pooled with options `P` (a [`Pool`]).
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be pooled by `{P}` over {RANK} axes",
    label = "expected (batch, channels, …) or (channels, …), with {RANK} axes behind"
)]
pub trait Pooled<P, const RANK: usize>: Sealed {
    /// The shape of the result.
    type Output: Shape;
}

/// A shape whose last `RANK` axes are resized to the shape `T`.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{Self}` can't be pooled to `{T}`",
    label = "expected (batch, channels, …) or (channels, …), and a size for each axis behind"
)]
pub trait Resized<T>: Sealed {
    /// The shape of the result.
    type Output: Shape;
}

macro_rules! windows {
    ($($rank:literal: ($($lead:ident)?) [$($axis:ident $kernel:ident $place:ident)+];)*) => {$(
        impl<$($lead: Dim,)? C: Dim, O: Dim, CG: Dim, $($axis: Dim, $kernel: Dim,)+ S: EachAxis, P: EachAxis, L: EachAxis, G: Known>
            Convolved<(O, CG, $($kernel),+), Conv<S, P, L, G>> for ($($lead,)? C, $($axis),+)
        where
            C: InChannels<CG, G>,
            O: InGroups<G>,
            S::Count: NumbersFor<$rank>,
            P::Count: NumbersFor<$rank>,
            L::Count: NumbersFor<$rank>,
            $(P::$place: Padding<$axis, $kernel, S::$place, L::$place>,)+
        {
            type Output = ($($lead,)? O, $(<P::$place as Padding<$axis, $kernel, S::$place, L::$place>>::Places),+);
        }
        impl<$($lead: Dim,)? C: Dim, CW: Dim, O: Dim, $($axis: Dim, $kernel: Dim,)+ S: EachAxis, P: EachAxis, L: EachAxis, G: Known, A: EachAxis>
            Transposed<(CW, O, $($kernel),+), Conv<S, P, L, G, A>> for ($($lead,)? C, $($axis),+)
        where
            C: TransposedChannels<CW> + InGroups<G>,
            S::Count: NumbersFor<$rank>,
            P::Count: NumbersFor<$rank>,
            L::Count: NumbersFor<$rank>,
            A::Count: NumbersFor<$rank>,
            $($axis: TransposedSize<$kernel, S::$place, P::$place, L::$place, A::$place>,)+
            $(A::$place: BelowStride<S::$place, L::$place>,)+
        {
            type Output = (
                $($lead,)?
                Product<G, O>,
                $(<$axis as TransposedSize<$kernel, S::$place, P::$place, L::$place, A::$place>>::Output),+
            );
        }
        impl<$($lead: Dim,)? C: Dim, $($axis: Dim,)+ K: EachAxis, S: EachAxis, P: EachAxis, L: EachAxis> Pooled<Pool<K, S, P, L>, $rank>
            for ($($lead,)? C, $($axis),+)
        where
            K::Count: NumbersFor<$rank>,
            S::Count: NumbersFor<$rank>,
            P::Count: NumbersFor<$rank>,
            L::Count: NumbersFor<$rank>,
            $(P::$place: Padding<$axis, K::$place, S::$place, L::$place> + WithinHalf<K::$place, L::$place>,)+
        {
            type Output = ($($lead,)? C, $(<P::$place as Padding<$axis, K::$place, S::$place, L::$place>>::Places),+);
        }
        impl<$($lead: Dim,)? C: Dim, $($axis: Dim, $kernel: Dim),+> Resized<($($kernel,)+)> for ($($lead,)? C, $($axis),+) {
            type Output = ($($lead,)? C, $($kernel),+);
        }
    )*};
}
windows! {
    1: () [H K0 First];
    1: (N) [H K0 First];
    2: () [H K0 First W K1 Second];
    2: (N) [H K0 First W K1 Second];
    3: () [B K0 First H K1 Second W K2 Third];
    3: (N) [B K0 First H K1 Second W K2 Third];
}

/// The size of an axis after a transposed convolution: `(N - 1) * Stride - 2 * Padding + Dilation * (Kernel - 1) + OutputPadding + 1`.
///
/// Source: PyTorch, `torch.nn.ConvTranspose2d`.
#[diagnostic::on_unimplemented(
    message = "a transposed window of `{Kernel}` (stride `{Stride}`, padding `{Padding}`, dilation `{Dilation}`) leaves nothing of an axis of `{Self}`",
    label = "the padding is larger than the result"
)]
pub trait TransposedSize<Kernel, Stride, Padding, Dilation, OutputPadding>: Sealed {
    /// The size of the result.
    type Output: Dim;
}
#[diagnostic::do_not_recommend]
impl<N: Known, K: Known, S: Known, P: Known, L: Known, A: Known, Size> TransposedSize<K, S, P, L, A> for N
where
    // (N * Stride + Dilation * Kernel + OutputPadding + 1) - (Stride + 2 * Padding + Dilation)
    Sum<Sum<Product<N, S>, Product<L, K>>, Sum<A, D1>>: Minus<Sum<S, Sum<Sum<P, P>, L>>, Output = Size>,
    Size: Dim,
{
    type Output = Size;
}
impl<K: Dim, S: Dim, P: Dim, L: Dim, A: Dim> TransposedSize<K, S, P, L, A> for Dyn {
    type Output = Dyn;
}
