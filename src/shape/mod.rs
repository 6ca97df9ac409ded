//! Shapes as types: tuples of dimensions, ranks 0 to 8, and each shape rule as a trait.
//!
//! The traits are for bounds. Castiron implements them, and its macros (`dims!`) for names; an implementation elsewhere is outside of what versions
//! promise, and a new item in one of them is no breaking change.
//!
//! Each rule is in one file, its run-time form next to its type-level form. Depends on `dtype` (for the kinds of operand) and nothing else.

mod arithmetic;
mod at_least;
mod attention;
mod axis;
mod broadcast;
mod choosing;
mod convert;
mod diagonal;
mod dim;
mod einsum;
mod join;
mod list;
mod matmul;
mod network;
mod numeral;
mod order;
mod parts;
#[doc(hidden)]
pub mod placement;
mod product;
mod rearrange;
mod reinterpret;
mod resample;
mod reshape;
mod results;
pub mod slicing;
#[cfg(feature = "linalg")]
mod square;
mod suffix;
mod tuple;
pub(crate) mod window;

pub use crate::layout::positions::AxisPosition;
pub use arithmetic::{ConvSize, DivideBy, DivideExactly, HoldsAtLeast, Minus, Padded, Product, Smaller, Sum};
pub use at_least::{Along0, Along1, Along2, AsColumns, AtLeast, AtLeast1, AtLeast2, AtLeast3};
pub use attention::{AsManyValues, Attended, KeyFeatures, MaskAxis, MaskOf, SameLead, SharesHeads};
pub use axis::{Axes, Axis, AxisArg, DistinctAxes, HasAxis, InsertAxis, KeepDim, OneAxis};
pub(crate) use broadcast::expect_broadcast;
pub use broadcast::{Broadcast, BroadcastDim, broadcast_size, broadcast_sizes, broadcasts_to};
pub use choosing::{
    CountForEach, IndexBeside, IndexList, IndexOf, NoLargerThan, PlacesIn, SameRank, SearchedBy, SlopesOf, Within,
    WrittenAt,
};
#[doc(hidden)]
pub use convert::MayBe;
pub use convert::{ConvertTo, MayEqual, Size, WrittenTo};
pub use diagonal::{Diag, DiagEmbed, Diagonals, MainDiagonals, OneMatrix};
pub use dim::{Dim, Dyn, Known, Never, SameDim, SameSizeFor, Stride};
pub use einsum::{Lettered, NamedSize};
pub use join::{Concat, Merge, Slices, StackedOn};
pub use matmul::{
    BatchMatMul, Factor, InFeatures, InnerDim, InputBeside, MatMul, SameBatch, SameColumns, SameRows, Solutions,
    SolutionsFromRight,
};
pub use network::{
    Halved, HasChannels, HasSpatialAxes, HasVariance, InGroups, LabelsOf, ListOrMatrix, OneForEach, Scores,
    ShufflePixels, TargetOf, UnshufflePixels,
};
pub use numeral::{D0, D1, D2, D3, D4, D5, D6, D7, D8, D9, End};
#[doc(hidden)]
pub use order::{
    Answer, Compared, Different, Equal, Expands, IsMultiple, IsNoLarger, Keeps, KeptBy, OneBit, Rules, Spreads,
};
pub use parts::{
    AxisList, Count, Counted, Cut, CutEqually, Dimensional, Matrices, MoveAxis, Pad, Repeat, Rotate, Shifts, Tile,
    Unbind, Weights, Windows,
};
pub use product::{Beside, HasRank, Inner, Kronecker, OfThree, PairedWith, SplitAt, SummedWith};
pub use results::{MatrixParts, ResampleParts};

pub use rearrange::{ExpandTo, Permute, Reverse, Squeeze, SqueezeAxes, SqueezeAxis, Transpose};
pub use reinterpret::{ItemSize, RealAndImaginary, ViewedAs};
pub use resample::{
    AffineMaps, ColumnForEach, Folded, HasRoomFor, Images, Interpolated, Lines, MovingWindow, Patches, PlacesOf,
    RowsOfPatches, SampledBy, Scaled, SizesBefore, Unfolded, Unpooled, Upsampled, Volumes, WithinStrideOf,
};
pub use reshape::{Flatten, Inferable, OneElement, ReshapeTo, Unflatten};
#[cfg(feature = "linalg")]
pub use square::{
    Complete, Extent, FactorsOf, NoMoreThanRows, PivotsOf, Reduced, ReflectedFromLeft, ReflectedFromRight, SquareFor,
    TensorInverse,
};
pub use suffix::EndsWith;
#[doc(hidden)]
pub use window::{AllAxes, IsOne, Moves, PaddingAmount};
pub use window::{
    BelowStride, Conv, Convolved, EachAxis, Half, InChannels, NumbersFor, OddWindow, Padding, Pool, Pooled, Resized,
    Same, Transposed, TransposedChannels, TransposedSize, WithinHalf,
};

use crate::dtype::scalar::{Dimensioned, TensorKind, ZeroDim};
use core::fmt::Debug;
use list::List;
use tuple::each_rank;

/// Sealed traits: loops rely on what they say about rank, sizes, and the choice and order of axes. (A name declared with `dims!` is a
/// user's type, so `Dim` and the rules for two dimensions are open; no memory access depends on them, because sizes are compared with the
/// type wherever a tensor is made.)
mod sealed {
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a shape: shapes are tuples of dimensions",
        label = "this trait is castiron's alone",
        note = "write a shape with `shape!`, and declare names for dimensions with `dims!`"
    )]
    pub trait Shape: Sized + super::MatrixParts + super::ResampleParts + super::Within<Self> {}
    /// The seal of the rules that are supertraits of [`Shape`](super::Shape), which would be a cycle as theirs.
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a shape: shapes are tuples of dimensions",
        label = "this trait is castiron's alone",
        note = "write a shape with `shape!`, and declare names for dimensions with `dims!`"
    )]
    pub trait Tuple: crate::sealed::Sealed {}
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't hold the sizes of a shape: arrays of `usize` do",
        label = "this trait is castiron's alone",
        note = "write sizes as an array: `[2, 3]`"
    )]
    pub trait SizeArray {}
    #[diagnostic::on_unimplemented(
        message = "`{Self}` can't be made a set of axes",
        label = "this trait is castiron's alone",
        note = "write axes with `axis!`: `axis![0]`, `axis![0, 2]`, either with `.keepdim()`"
    )]
    pub trait Axes {}
    #[diagnostic::on_unimplemented(
        message = "`{Order}` can't be made an order of axes",
        label = "this trait is castiron's alone",
        note = "write an order with `axis!`: `axis![1, 0]`"
    )]
    pub trait InOrder<Order> {}

    impl<const N: usize> SizeArray for [usize; N] {}
    impl<const I: isize> Axes for super::Axis<I> {}
    impl<T> Axes for super::DistinctAxes<T> {}
    impl<A> Axes for super::KeepDim<A> {}
    impl<S, const I: isize> InOrder<super::Axis<I>> for S {}
    impl<S, T> InOrder<super::DistinctAxes<T>> for S {}
    impl Shape for () {}
    impl Tuple for () {}
    macro_rules! shapes {
        ($rank:literal [$($dim:ident)+] $positive:tt $negative:tt) => {
            impl<$($dim),+> Tuple for ($($dim,)+) {}
            impl<$($dim: super::Dim,)+> Shape for ($($dim,)+) {}
        };
    }
    super::tuple::each_rank!(shapes);
}

/// The sizes or strides of a shape: `[usize; RANK]`.
pub trait SizeArray:
    sealed::SizeArray + Copy + Debug + PartialEq + Eq + Send + Sync + AsRef<[usize]> + AsMut<[usize]> + 'static
{
    /// An array with all entries equal.
    fn filled(value: usize) -> Self;
    /// A copy of a slice of the right length.
    fn copied(from: &[usize]) -> Self {
        let mut to = Self::filled(0);
        to.as_mut().copy_from_slice(from);
        to
    }
}
impl<const N: usize> SizeArray for [usize; N] {
    #[inline]
    fn filled(value: usize) -> Self {
        [value; N]
    }
}

/// The number of elements; `None` if it overflows `usize` (even if an empty axis would make it 0).
pub const fn numel(sizes: &[usize]) -> Option<usize> {
    // A zero-sized axis makes the tensor empty, but the product of the other sizes must not overflow (PyTorch: "Storage size calculation
    // overflowed" considers the nonzero sizes).
    let mut product = 1_usize;
    let mut empty = false;
    let mut axis = 0;
    while axis < sizes.len() {
        if sizes[axis] == 0 {
            empty = true;
        } else {
            match product.checked_mul(sizes[axis]) {
                Some(next) => product = next,
                None => return None,
            }
        }
        axis += 1;
    }
    Some(if empty { 0 } else { product })
}

/// The number of elements of a shape whose sizes are all known at compile time.
pub(crate) const fn known_numel(known: &[Option<usize>]) -> Option<usize> {
    let mut product = 1_usize;
    let mut axis = 0;
    while axis < known.len() {
        let Some(size) = known[axis] else { return None };
        let Some(next) = product.checked_mul(size) else { return None };
        product = next;
        axis += 1;
    }
    Some(product)
}

/// A shape as a type: a tuple of [`Dim`]s, `()` to eight of them. Write it with [`shape!`](crate::shape!).
///
/// `S: Shape` is the only bound that generic code needs for elementwise operations, whole-tensor reductions and reductions over the last
/// axis:
///
/// ```
/// use castiron::{axis, Device, Float, Shape, Tensor};
/// fn standardize<E: Float, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Tensor<E, S, D> {
///     let centered = x - x.mean_axis(axis![-1].keepdim());
///     let deviation = centered.std_axis(axis![-1].keepdim(), 0);
///     centered / deviation
/// }
/// let x = castiron::tensor![[1.0, 2.0, 3.0], [10.0, 20.0, 30.0]];
/// assert!(standardize(&x).select(axis![0], 0).allclose(&standardize(&x).select(axis![0], 1)));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a shape",
    label = "expected a tuple of up to eight dimensions, such as `shape![_, 384]`"
)]
pub trait Shape:
    sealed::Shape
    + Copy
    + Default
    + Debug
    + Send
    + Sync
    + 'static
    + Broadcast<Self, Output = Self>
    + Broadcast<(), Output = Self>
    + Broadcast<<Self as HasAxis<-1>>::Kept, Output = Self>
    + WrittenTo<Self>
    + ConvertTo<Self>
    + Merge<Self, Output = Self>
    + SameRank<Self>
    + HasAxis<-1>
    + EndsWith<(<Self as HasAxis<-1>>::Dim,)>
{
    /// The number of axes.
    const RANK: usize;
    /// The size of each axis, if known at compile time.
    const KNOWN: &'static [Option<usize>];
    /// The name of each axis, if it has one.
    const NAMES: &'static [Option<&'static str>];
    /// Zero-dim or with axes.
    type Kind: TensorKind;
    /// The array of sizes or strides: `[usize; RANK]`.
    type Sizes: SizeArray;
    /// The number of axes as a dimension.
    type Rank: Known;
    /// The number of elements as a dimension.
    type Numel: Dim;
    /// The same shape as a list, for recursive rules.
    #[doc(hidden)]
    type Axes: List;
    /// The axis of a mesh along which each axis is cut: for `castiron-mesh`.
    #[doc(hidden)]
    const CUTS: &'static [Option<(usize, &'static str)>];
    /// The shape where each process has all of every axis.
    #[doc(hidden)]
    type Uncut: Shape;
    /// What is left to be put together once all axes have been reduced by `Op`.
    #[doc(hidden)]
    type After<Op: placement::Reduction, U: placement::Debt>: placement::Debt;

    /// The sizes, if all are known.
    fn known_sizes() -> Option<Self::Sizes> {
        let mut sizes = Self::Sizes::filled(0);
        for (size, known) in sizes.as_mut().iter_mut().zip(Self::KNOWN) {
            *size = (*known)?;
        }
        Some(sizes)
    }
}

/// A shape whose sizes are all known at compile time, so that `zeros()` and similar functions need no sizes.
#[diagnostic::on_unimplemented(
    message = "shape `{Self}` has sizes that are known at run time only",
    label = "the sizes have to be given",
    note = "use the method of the same name that takes them, `zeros_sized([n, 384])` instead of `zeros()`, or beside a tensor of this shape `x.zeros_like()`",
    note = "in generic code a shape whose sizes are numbers is `S: KnownShape`"
)]
pub trait KnownShape: Shape {
    /// The sizes.
    const SIZES: Self::Sizes;
    /// The number of elements. A shape whose number of elements overflows `usize` fails to compile when used.
    const NUMEL: usize;
}

impl Shape for () {
    const RANK: usize = 0;
    const KNOWN: &'static [Option<usize>] = &[];
    const NAMES: &'static [Option<&'static str>] = &[];
    type Kind = ZeroDim;
    type Sizes = [usize; 0];
    type Rank = D0;
    type Numel = D1;
    type Axes = list::Nil;
    const CUTS: &'static [Option<(usize, &'static str)>] = &[];
    type Uncut = ();
    type After<Op: placement::Reduction, U: placement::Debt> = U;
}
impl KnownShape for () {
    const SIZES: [usize; 0] = [];
    const NUMEL: usize = 1;
}

macro_rules! shapes {
    ($rank:literal [$($dim:ident)+] $positive:tt $negative:tt) => {
        impl<$($dim: Dim,)+> Shape for ($($dim,)+) {
            const RANK: usize = $rank;
            const KNOWN: &'static [Option<usize>] = &[$($dim::SIZE),+];
            const NAMES: &'static [Option<&'static str>] = &[$($dim::NAME),+];
            type Kind = Dimensioned;
            type Sizes = [usize; $rank];
            type Rank = shapes!(@rank $($dim)+);
            type Numel = shapes!(@product $($dim)+);
            type Axes = shapes!(@list $($dim)+);
            const CUTS: &'static [Option<(usize, &'static str)>] = &[$(<$dim::Placement as placement::Placement>::CUT),+];
            type Uncut = ($($dim::Uncut,)+);
            type After<Op: placement::Reduction, U: placement::Debt> = shapes!(@after Op, [U] $($dim)+);
        }
        impl<$($dim: Known,)+> KnownShape for ($($dim,)+) {
            const SIZES: [usize; $rank] = [$($dim::VALUE),+];
            const NUMEL: usize = match numel(&[$($dim::VALUE),+]) {
                Some(numel) => numel,
                None => panic!("the shape has more elements than usize counts"),
            };
        }
    };
    (@rank A) => { D1 };
    (@rank A B) => { D2 };
    (@rank A B C) => { D3 };
    (@rank A B C D) => { D4 };
    (@rank A B C D E) => { D5 };
    (@rank A B C D E F) => { D6 };
    (@rank A B C D E F G) => { D7 };
    (@rank A B C D E F G H) => { D8 };
    (@product $last:ident) => { $last };
    (@product $first:ident $second:ident $($rest:ident)*) => { shapes!(@fold [<$first as Dim>::Times<$second>] $($rest)*) };
    (@fold [$product:ty]) => { $product };
    (@fold [$product:ty] $next:ident $($rest:ident)*) => { shapes!(@fold [<$product as Dim>::Times<$next>] $($rest)*) };
    (@after $op:ident, [$owed:ty]) => { $owed };
    (@after $op:ident, [$owed:ty] $first:ident $($rest:ident)*) => {
        shapes!(@after $op, [<$first::Placement as placement::Placement>::After<$op, $owed>] $($rest)*)
    };
    (@list) => { list::Nil };
    (@list $first:ident $($rest:ident)*) => { list::Cons<$first, shapes!(@list $($rest)*)> };
}
each_rank!(shapes);
