//! Shapes as linked lists, for rules that are simplest by recursion (removing axes, flattening ranges). Everything here is a total or
//! structural type function; nothing exists at run time.

use super::Shape;
use super::dim::Dim;
use super::numeral::D1;
use super::tuple::each_rank;

#[derive(Clone, Copy, Debug, Default)]
pub struct Nil;
#[derive(Clone, Copy, Debug, Default)]
pub struct Cons<Head, Tail>(core::marker::PhantomData<(Head, Tail)>);

/// Positions: `Zero`, `Next<Zero>`, …
pub struct Zero;
/// The position after another.
pub struct Next<N>(core::marker::PhantomData<N>);

/// A list of dims.
pub trait List: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The same list with every axis still open: see `Take`.
    type Open: OpenList;
    /// This list with `D` in front.
    type Push<D: Dim>: List;
    /// The product of all sizes times `Acc`.
    type Product<Acc: Dim>: Dim;
    /// This list followed by `Other`.
    type Append<Other: List>: List;
}
impl List for Nil {
    type Open = Nil;
    type Push<D: Dim> = Cons<D, Nil>;
    type Product<Acc: Dim> = Acc;
    type Append<Other: List> = Other;
}
impl<Head: Dim, Tail: List> List for Cons<Head, Tail> {
    type Open = Cons<Open<Head>, Tail::Open>;
    type Push<D: Dim> = Cons<D, Self>;
    type Product<Acc: Dim> = Tail::Product<Acc::Times<Head>>;
    type Append<Other: List> = Cons<Head, Tail::Append<Other>>;
}

/// An axis that is not taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Open<D>(core::marker::PhantomData<D>);
/// An axis that has been taken.
#[derive(Clone, Copy, Debug, Default)]
pub struct Taken;

/// A list of open and taken axes.
pub trait OpenList: Copy + core::fmt::Debug + Send + Sync + 'static {
    /// The open axes; taken axes are dropped.
    type Left: List;
    /// All axes, with taken axes kept with size 1.
    type Kept: List;
}
impl OpenList for Nil {
    type Left = Nil;
    type Kept = Nil;
}
impl<D: Dim, Tail: OpenList> OpenList for Cons<Open<D>, Tail> {
    type Left = Cons<D, Tail::Left>;
    type Kept = Cons<D, Tail::Kept>;
}
impl<Tail: OpenList> OpenList for Cons<Taken, Tail> {
    type Left = Tail::Left;
    type Kept = Cons<D1, Tail::Kept>;
}

/// Takes the axis at a position; an axis can be taken once.
#[diagnostic::on_unimplemented(
    message = "an axis is named twice",
    label = "each axis may be named once",
    note = "negative axes count from the last: in rank 2, `-1` is axis 1"
)]
pub trait Take<Position> {
    type Dim: Dim;
    type Rest: OpenList;
}
impl<D: Dim, Tail: OpenList> Take<Zero> for Cons<Open<D>, Tail> {
    type Dim = D;
    type Rest = Cons<Taken, Tail>;
}
#[diagnostic::do_not_recommend]
impl<D: Dim, N, Tail: Take<N>> Take<Next<N>> for Cons<Open<D>, Tail> {
    type Dim = Tail::Dim;
    type Rest = Cons<Open<D>, Tail::Rest>;
}
#[diagnostic::do_not_recommend]
impl<N, Tail: Take<N>> Take<Next<N>> for Cons<Taken, Tail> {
    type Dim = Tail::Dim;
    type Rest = Cons<Taken, Tail::Rest>;
}

/// The shape (tuple) with these axes. Lists of more than eight have none.
#[diagnostic::on_unimplemented(
    message = "the result would have more than eight axes",
    label = "shapes have at most eight axes"
)]
pub trait ToShape {
    type Shape: Shape;
}
impl ToShape for Nil {
    type Shape = ();
}

macro_rules! to_shape {
    ($rank:literal [$($dim:ident)+] $positive:tt $negative:tt) => {
        impl<$($dim: Dim,)+> ToShape for to_shape!(@list $($dim)+) {
            type Shape = ($($dim,)+);
        }
    };
    (@list) => { Nil };
    (@list $first:ident $($rest:ident)*) => { Cons<$first, to_shape!(@list $($rest)*)> };
}
each_rank!(to_shape);
