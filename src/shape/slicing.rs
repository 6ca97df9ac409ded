//! The shapes of slices: the items that [`s!`](crate::s!) writes, and their effect on the axes of a shape.
//!
//! The items are nested pairs, `(a, (b, ()))`. Literals are part of their types.

use super::Shape;
use super::arithmetic::{DivideBy, Minus, Smaller, Sum};
use super::dim::{Dim, Dyn, Known};
use super::list::{Cons, List, Nil, ToShape};
pub use super::list::{Next, Zero};
use super::numeral::D1;
use crate::sealed::Sealed;
use core::marker::PhantomData;

/// A whole axis: `..`.
#[derive(Clone, Copy, Debug, Default)]
pub struct All;
/// A new axis of size 1, in [`s!`](crate::s!).
#[derive(Clone, Copy, Debug, Default)]
pub struct NewAxis;
/// All axes that the items after it leave: `...`. `After` is the number of those items.
pub struct Rest<After>(PhantomData<After>);
/// One position, which may count from the end: the axis is removed.
#[derive(Clone, Copy, Debug)]
pub struct At(pub isize);
/// Index `I` from the start, written as a literal.
pub struct AtFront<I>(PhantomData<I>);
/// Index `I` from the end, written as a literal.
pub struct AtBack<I>(PhantomData<I>);
/// A range with bounds or a step known at run time.
#[derive(Clone, Copy, Debug)]
pub struct Between {
    start: Option<isize>,
    end: Option<isize>,
    step: isize,
}
/// A range written in literals: from one [`Front`] or [`Back`] to another, with step `Step`; `Less` is `Step - 1`, and `Len` the number of
/// positions on an axis that is long enough, if that does not depend on its size.
pub struct Fixed<From, To, Step, Less, Len>(PhantomData<(From, To, Step, Less, Len)>);
/// The position `I` from the start.
pub struct Front<I>(PhantomData<I>);
/// The position `I` from the end.
pub struct Back<I>(PhantomData<I>);

macro_rules! markers {
    ($($name:ident<$($parameter:ident),+>;)*) => {$(
        impl<$($parameter),+> Default for $name<$($parameter),+> {
            fn default() -> Self {
                $name(PhantomData)
            }
        }
        impl<$($parameter),+> Clone for $name<$($parameter),+> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<$($parameter),+> Copy for $name<$($parameter),+> {}
    )*};
}
markers! { Rest<After>; AtFront<I>; AtBack<I>; Fixed<From, To, Step, Less, Len>; }

impl Between {
    /// `start..end` with step `step`.
    pub fn new(start: Option<isize>, end: Option<isize>, step: isize) -> Self {
        Between { start, end, step }
    }
}

/// A position: any integer; negative ones count from the end.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a position on an axis",
    label = "expected an integer, a range of them, `...` or `NewAxis`"
)]
pub trait Bound: Sealed {
    /// Saturates at `isize`, which no axis exceeds.
    fn position(self) -> isize;
}
macro_rules! positions {
    ($($int:ty),*) => {$(
        impl Bound for $int {
            #[inline]
            fn position(self) -> isize {
                isize::try_from(self).unwrap_or(isize::MAX)
            }
        }
    )*};
}
positions!(usize, isize, u8, u16, u32, u64, i8, i16, i32);
impl Bound for i64 {
    #[inline]
    fn position(self) -> isize {
        isize::try_from(self).unwrap_or(if self < 0 { isize::MIN } else { isize::MAX })
    }
}

/// Any integer as a position.
#[inline]
pub fn position<P: Bound>(position: P) -> isize {
    position.position()
}
/// The position after an integer: `None` for the end of the axis.
#[inline]
pub fn after<P: Bound>(position: P) -> Option<isize> {
    match position.position() {
        -1 => None,
        at => Some(at.saturating_add(1)),
    }
}

/// The effect of an item on an axis, at run time.
#[derive(Clone, Copy, Debug)]
pub enum Selection {
    /// Keeps the axis.
    Whole,
    /// Inserts an axis.
    New,
    /// Keeps all remaining axes.
    Rest,
    /// One position.
    At(isize),
    /// A range.
    Between {
        /// The first position, or the start.
        start: Option<isize>,
        /// The position after the last, or the end.
        end: Option<isize>,
        /// The step.
        step: isize,
    },
}

/// Sealed, because the disjointness of slices that are written together is decided by their items.
mod sealed {
    pub trait Sealed {}
}
macro_rules! sealed {
    ($([$($parameter:ident),*] $item:ty;)*) => {$(
        impl<$($parameter),*> sealed::Sealed for $item {}
    )*};
}
sealed! {
    [] All; [] NewAxis; [After] Rest<After>; [] At; [] Between; [I] AtFront<I>; [I] AtBack<I>;
    [From, To, Step, Less, Len] Fixed<From, To, Step, Less, Len>; [] (); [I, R] (I, R);
}

/// One item of a slice.
pub trait Item: Copy + sealed::Sealed {
    /// Its effect.
    fn selection(&self) -> Selection;
}
impl Item for All {
    fn selection(&self) -> Selection {
        Selection::Whole
    }
}
impl Item for NewAxis {
    fn selection(&self) -> Selection {
        Selection::New
    }
}
impl<After> Item for Rest<After> {
    fn selection(&self) -> Selection {
        Selection::Rest
    }
}
impl Item for At {
    fn selection(&self) -> Selection {
        Selection::At(self.0)
    }
}
impl Item for Between {
    fn selection(&self) -> Selection {
        Selection::Between { start: self.start, end: self.end, step: self.step }
    }
}
/// A literal position; `None` is the end.
trait Literal {
    const AT: Option<isize>;
}
/// Saturates at `isize`, which no axis exceeds.
const fn number(number: usize) -> isize {
    if number > isize::MAX as usize { isize::MAX } else { number as isize }
}
impl<I: Known> Literal for Front<I> {
    const AT: Option<isize> = Some(number(I::VALUE));
}
impl<I: Known> Literal for Back<I> {
    const AT: Option<isize> = if I::VALUE == 0 { None } else { Some(-number(I::VALUE)) };
}
impl<I: Known> Item for AtFront<I> {
    fn selection(&self) -> Selection {
        Selection::At(number(I::VALUE))
    }
}
impl<I: Known> Item for AtBack<I> {
    fn selection(&self) -> Selection {
        Selection::At(-number(I::VALUE))
    }
}
#[allow(private_bounds)]
impl<From: Literal, To: Literal, Step: Known, Less, Len> Item for Fixed<From, To, Step, Less, Len> {
    fn selection(&self) -> Selection {
        Selection::Between { start: From::AT, end: To::AT, step: number(Step::VALUE) }
    }
}

/// The items of a slice, in nested pairs.
#[diagnostic::on_unimplemented(message = "`{Self}` is not a slice", label = "expected `s![…]`")]
pub trait Items: sealed::Sealed {
    /// Calls `see` with the effect of each item.
    fn each(&self, see: &mut dyn FnMut(Selection));
}
impl Items for () {
    fn each(&self, _: &mut dyn FnMut(Selection)) {}
}
#[diagnostic::do_not_recommend]
impl<I: Item, R: Items> Items for (I, R) {
    fn each(&self, see: &mut dyn FnMut(Selection)) {
        see(self.0.selection());
        self.1.each(see);
    }
}

/// A tensor of this shape can be sliced by the items `I`.
pub trait Slice<I> {
    /// The shape of the slice.
    type Output: Shape;
}
impl<I, S: Shape> Slice<I> for S
where
    S::Axes: CutBy<I>,
    <S::Axes as CutBy<I>>::Output: ToShape,
{
    type Output = <<S::Axes as CutBy<I>>::Output as ToShape>::Shape;
}

/// The effect of items on a list of axes.
#[diagnostic::on_unimplemented(
    message = "too many indices: the slice names more axes than the tensor has",
    label = "there is no axis for an item of this slice",
    note = "`NewAxis` takes no axis, and axes that are not named stay whole; a slice is written `s![0, 1..3]`"
)]
pub trait CutBy<Items> {
    /// The axes of the slice.
    type Output: List;
}
impl<L: List> CutBy<()> for L {
    type Output = L;
}
impl<L: CutBy<R>, R> CutBy<(NewAxis, R)> for L {
    type Output = <L::Output as List>::Push<D1>;
}
impl<Head: Dim, Tail: CutBy<R>, R> CutBy<(All, R)> for Cons<Head, Tail> {
    type Output = <Tail::Output as List>::Push<Head>;
}
impl<Head: Dim, Tail: CutBy<R>, R> CutBy<(Between, R)> for Cons<Head, Tail> {
    type Output = <Tail::Output as List>::Push<Dyn>;
}
impl<Head: Dim, Tail: CutBy<R>, R> CutBy<(At, R)> for Cons<Head, Tail> {
    type Output = Tail::Output;
}
impl<Head: Dim, Tail: CutBy<R>, R, I> CutBy<(AtFront<I>, R)> for Cons<Head, Tail>
where
    Head::Unnamed: HasFront<I>,
{
    type Output = Tail::Output;
}
impl<Head: Dim, Tail: CutBy<R>, R, I> CutBy<(AtBack<I>, R)> for Cons<Head, Tail>
where
    Head::Unnamed: HasBack<I>,
{
    type Output = Tail::Output;
}
impl<Head: Dim, Tail: CutBy<R>, R, From, To, Step, Less, Len> CutBy<(Fixed<From, To, Step, Less, Len>, R)>
    for Cons<Head, Tail>
where
    Head::Unnamed: Ranged<From, To, Step, Less, Len>,
{
    type Output = <Tail::Output as List>::Push<<Head::Unnamed as Ranged<From, To, Step, Less, Len>>::Output>;
}
impl<L: Length, R, After, Skipped> CutBy<(Rest<After>, R)> for L
where
    L::Length: LessBy<After, Output = Skipped>,
    L: CutAfter<Skipped, R>,
{
    type Output = <L as CutAfter<Skipped, R>>::Output;
}

/// The length of a list.
pub trait Length {
    /// As a position.
    type Length;
}
impl Length for Nil {
    type Length = Zero;
}
impl<Head, Tail: Length> Length for Cons<Head, Tail> {
    type Length = Next<Tail::Length>;
}
/// The difference of two numbers.
#[diagnostic::on_unimplemented(
    message = "too many indices: the slice names more axes after `...` than the tensor has",
    label = "there is no axis for an item of this slice"
)]
pub trait LessBy<Other> {
    /// The difference.
    type Output;
}
impl<N> LessBy<Zero> for N {
    type Output = N;
}
impl<N: LessBy<M>, M> LessBy<Next<M>> for Next<N> {
    type Output = N::Output;
}
/// The items after `...`, which keeps this number of axes.
#[diagnostic::on_unimplemented(
    message = "too many indices: the slice names more axes after `...` than the tensor has",
    label = "there is no axis for an item of this slice"
)]
pub trait CutAfter<Skipped, Items> {
    /// The axes of the slice.
    type Output: List;
}
impl<L: CutBy<R>, R> CutAfter<Zero, R> for L {
    type Output = L::Output;
}
impl<Head: Dim, Tail: CutAfter<N, R>, N, R> CutAfter<Next<N>, R> for Cons<Head, Tail> {
    type Output = <Tail::Output as List>::Push<Head>;
}

/// An axis of this size has, or may have, position `I`.
#[diagnostic::on_unimplemented(
    message = "index `{I}` is out of range for an axis of size `{Self}`",
    label = "there is no such position",
    note = "positions count from 0, or from -1 backwards"
)]
pub trait HasFront<I> {}
#[diagnostic::do_not_recommend]
impl<N: Known, I: Dim> HasFront<I> for N where N: Minus<Sum<I, D1>> {}
impl<I> HasFront<I> for Dyn {}
/// An axis of this size has, or may have, position `I` from the end.
#[diagnostic::on_unimplemented(
    message = "index -`{I}` is out of range for an axis of size `{Self}`",
    label = "there is no such position",
    note = "positions count from 0, or from -1 backwards"
)]
pub trait HasBack<I> {}
#[diagnostic::do_not_recommend]
impl<N: Known, I> HasBack<I> for N where N: Minus<I> {}
impl<I> HasBack<I> for Dyn {}

/// A bound clamped to an axis of size `N`, as in PyTorch.
pub trait Clamped<N> {
    /// Counted from the start.
    type At: Dim;
}
impl<N: Known, I: Known> Clamped<N> for Front<I>
where
    N: Smaller<I>,
{
    type At = <N as Smaller<I>>::Output;
}
impl<N: Known, I: Known, Nearest> Clamped<N> for Back<I>
where
    N: Smaller<I, Output = Nearest> + Minus<Nearest>,
{
    type At = <N as Minus<Nearest>>::Output;
}

/// The number of positions of a range of literals on an axis of this size.
pub trait Ranged<From, To, Step, Less, Len> {
    /// The number, if known.
    type Output: Dim;
}
impl<N: Known, From, To, Start, End, Met, Covered, Step, Less: Dim, Len> Ranged<From, To, Step, Less, Len> for N
where
    From: Clamped<N, At = Start>,
    To: Clamped<N, At = End>,
    End: Smaller<Start, Output = Met> + Minus<Met, Output = Covered>,
    Covered: Dim,
    // Rounded up.
    Sum<Covered, Less>: DivideBy<Step>,
{
    type Output = <Sum<Covered, Less> as DivideBy<Step>>::Output;
}
impl<From, To, Step, Less, Len: Dim> Ranged<From, To, Step, Less, Len> for Dyn {
    type Output = Len;
}
