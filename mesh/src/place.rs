//! Where a tensor's elements are, as types: `At<N, M>` is an axis cut into blocks along the axis `M` of a mesh of ranks, `Pending<Sum, M>`
//! says that each rank along `M` has a part of a sum. What says neither is whole: all ranks hold the same elements.
//!
//! An axis carries its mark through every rule of castiron for shapes: transposed, broadcast, multiplied or reduced it is where castiron
//! puts it. What is here are the questions that only tensors over ranks ask.

#[doc(hidden)]
pub use castiron::shape::placement::{After, First};
pub use castiron::shape::placement::{
    All, Any, Cut, Debt, Max, MeshAxes, MeshAxis, Min, Pending, Placement, Product, Reduction, ReductionKind, Settled,
    Sum, Whole,
};

use castiron::shape::{BroadcastDim, D1, Dyn, HoldsAtLeast, Known, Never, SameDim, Stride};
use castiron::{Dim, HasAxis, Shape};
use core::marker::PhantomData;

/// An axis of size `N` that is cut into blocks along the axis `M` of a mesh: each of its ranks has one, as even as can be.
///
/// It is a dimension like any other: it goes with itself and with 1, and two axes that are cut along different axes of the mesh, or one
/// that is cut and one that is whole, are different sizes for the compiler.
///
/// ```
/// use castiron::{Dim, dims};
/// use castiron_mesh::{At, mesh};
/// mesh! { Grid: Data, Model }
/// dims! { Batch }
/// type Mine = At<Batch, Data>;
/// assert_eq!(Mine::NAME, Some("Batch"));
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct At<N, M>(PhantomData<(N, M)>);

impl<N: Dim, M: MeshAxis> Dim for At<N, M> {
    const SIZE: Option<usize> = None;
    const NAME: Option<&'static str> = N::NAME;
    type Plus<R: Dim> = R::AddedToRuntime<Self>;
    type Times<R: Dim> = R::TimesRuntime<Self>;
    type CeilDiv<S: Stride> = S::OfRuntime<Self>;
    type Smaller<R: Dim> = Dyn;
    type Unnamed = Dyn;
    type AddedToKnown<L: Known> = Dyn;
    type AddedToRuntime<L: Dim> = Dyn;
    type TimesKnown<L: Known> = Dyn;
    type TimesRuntime<L: Dim> = Dyn;
    type SmallerThanKnown<L: Known> = Dyn;
    type Placement = Cut<M>;
    type Uncut = N;
}
impl<N: Dim, M: MeshAxis> SameDim<At<N, M>> for At<N, M> {
    type Merged = Self;
}
impl<N, M, K> HoldsAtLeast<K> for At<N, M> {}
// A second impl, so that rustc says that two sizes differ instead of taking them for equal.
#[diagnostic::do_not_recommend]
impl<N: Dim, M: MeshAxis> SameDim<Never> for At<N, M> {
    type Merged = Self;
}
impl<N: Dim, M: MeshAxis> BroadcastDim<At<N, M>> for At<N, M> {
    type Output = Self;
}
impl<N: Dim, M: MeshAxis> BroadcastDim<D1> for At<N, M> {
    type Output = Self;
}

/// Where axis `I` of a shape is.
pub type PlaceOf<S, const I: isize> = <<S as HasAxis<I>>::Dim as Dim>::Placement;

/// Two different axes of a mesh. [`mesh!`](crate::mesh!) writes which are.
#[diagnostic::on_unimplemented(
    message = "the mesh axis `{Self}` is used twice by this tensor: each of its ranks would hold a block of a diagonal, not of the whole",
    label = "`{M}` would cut two axes of one tensor, or one and a pending sum",
    note = "gather one of the two first: `.all_gather(axis![…], &mesh)`, or cut it along another axis of the mesh"
)]
pub trait Other<M> {}

/// An axis that each rank has whole, as functions of all its elements at once ask for.
#[diagnostic::on_unimplemented(
    message = "`{Op}` needs all elements along the axis, but each rank has a block of it: the axis is `{Self}`",
    label = "this axis is cut along the mesh",
    note = "`.all_gather(axis![…], &mesh)` gives every rank the whole axis; `.all_to_all(axis![…], axis![…], &mesh)` cuts another axis in its place"
)]
pub trait IsWhole<Op> {}
impl<Op> IsWhole<Op> for Whole {}

/// What would be pending after a reduction over axes of which none is cut: nothing.
#[diagnostic::on_unimplemented(
    message = "`{Op}` needs all elements along its axes, but each rank has a block of one of them: it would be `{Self}`",
    label = "one of these axes is cut along the mesh",
    note = "`.all_gather(axis![…], &mesh)` gives every rank the whole axis; `sum_axis`, `mean_axis`, `amax_axis` and `var_over` know axes that are cut"
)]
pub trait NoneCut<Op> {}
impl<Op> NoneCut<Op> for Settled {}

/// A shape none of whose axes is cut.
#[diagnostic::on_unimplemented(
    message = "axes of `{Self}` are cut along the mesh: no rank has the whole tensor",
    label = "each rank has a block of this tensor",
    note = "`.all_gather(axis![…], &mesh)` puts an axis together, `.block()` is what this rank has"
)]
pub trait AllWhole: Shape {}
impl AllWhole for () {}

/// A shape none of whose axes but the first is cut: each rank has some of the examples, all of each.
#[diagnostic::on_unimplemented(
    message = "an axis of `{Self}` that is not the first is cut along the mesh: no rank has a whole example",
    label = "each rank needs all elements of an example, the axes behind the first",
    note = "`.all_gather(axis![…], &mesh)` puts an axis together, `.all_to_all(axis![…], axis![0], &mesh)` cuts the batch in its place"
)]
pub trait ExamplesWhole: Shape {}

/// A shape whose axes are cut along axes of the mesh `X`, or not at all.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is cut along an axis of another mesh than `{X}`",
    label = "expected axes of the mesh `{X}`, or axes that are whole",
    note = "a program has one mesh, with as many axes as it needs: `mesh! {{ pub Grid: Data, Model }}`"
)]
pub trait OnMesh<X>: Shape {}
impl<X> OnMesh<X> for () {}

/// A place on the mesh `X`.
#[doc(hidden)]
pub trait PlaceOn<X> {}
impl<X> PlaceOn<X> for Whole {}
impl<M: MeshAxis> PlaceOn<M::Mesh> for Cut<M> {}

/// Axes of the mesh that are in use: `M`, in front of others.
#[doc(hidden)]
pub struct Used<M, Rest>(PhantomData<(M, Rest)>);

/// A list of axes of the mesh in use without `M`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "the mesh axis `{M}` is already used by this tensor")]
pub trait Without<M> {}
impl<M> Without<M> for Settled {}
#[diagnostic::do_not_recommend]
impl<Op, A: Other<M>, R: Without<M>, M> Without<M> for Pending<Op, A, R> {}
#[diagnostic::do_not_recommend]
impl<A: Other<M>, R: Without<M>, M> Without<M> for Used<A, R> {}

/// An axis beside those before it.
#[doc(hidden)]
pub trait Beside<Before> {
    type Used;
}
impl<B> Beside<B> for Whole {
    type Used = B;
}
#[diagnostic::do_not_recommend]
impl<B: Without<M>, M> Beside<B> for Cut<M> {
    type Used = Used<M, B>;
}

/// A shape that uses each axis of the mesh once, and none over which a reduction of `U` is pending.
#[diagnostic::on_unimplemented(
    message = "one axis of the mesh would cut two axes of `{Self}`, or one of them beside `{U}`: each rank would have a block on the diagonal, and nobody the others",
    label = "each axis of the mesh is used once by a tensor",
    note = "gather one of the two first, `.all_gather(axis![…], &mesh)`, or cut it along another axis of the mesh"
)]
pub trait WellPlaced<U>: Shape {}
impl<U> WellPlaced<U> for () {}

macro_rules! shapes {
    ($($dim:ident $used:ident $before:ident),+) => {
        #[diagnostic::do_not_recommend]
        impl<U, $($dim: Dim, $used,)+> WellPlaced<U> for ($($dim,)+)
        where
            $($dim::Placement: Beside<$before, Used = $used>,)+
        {
        }
        #[diagnostic::do_not_recommend]
        impl<$($dim: Dim<Placement = Whole>,)+> AllWhole for ($($dim,)+) {}
        #[diagnostic::do_not_recommend]
        impl<X, $($dim: Dim<Placement: PlaceOn<X>>,)+> OnMesh<X> for ($($dim,)+) {}
    };
}
macro_rules! examples {
    ($($rest:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<First: Dim, $($rest: Dim<Placement = Whole>),*> ExamplesWhole for (First, $($rest,)*) {}
    };
}
examples!();
examples!(B);
examples!(B C);
examples!(B C D);
examples!(B C D E);
examples!(B C D E F);
examples!(B C D E F G);
examples!(B C D E F G H);
shapes!(A UA U);
shapes!(A UA U, B UB UA);
shapes!(A UA U, B UB UA, C UC UB);
shapes!(A UA U, B UB UA, C UC UB, D UD UC);
shapes!(A UA U, B UB UA, C UC UB, D UD UC, E UE UD);
shapes!(A UA U, B UB UA, C UC UB, D UD UC, E UE UD, F UF UE);
shapes!(A UA U, B UB UA, C UC UB, D UD UC, E UE UD, F UF UE, G UG UF);
shapes!(A UA U, B UB UA, C UC UB, D UD UC, E UE UD, F UF UE, G UG UF, H UH UG);

/// A value that is there, not parts of one.
#[diagnostic::on_unimplemented(
    message = "`{Self}`: every rank holds only its own part of this value",
    label = "the parts have not been put together",
    note = "`.all_reduce(&mesh)` gives every rank the whole, `.reduce_scatter(axis![…], &mesh)` a block of it"
)]
pub trait IsSettled: Debt {}
impl IsSettled for Settled {}

/// A value, or sums of which each rank has a part: what may be scaled, negated or summed further before it is put together.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a sum, so it can't be scaled or summed before it is put together",
    label = "reduce it first: `.all_reduce(&mesh)`"
)]
pub trait IsLinear: Debt {}
impl IsLinear for Settled {}
impl<M: MeshAxis, R: IsLinear> IsLinear for Pending<Sum, M, R> {}

/// `Self + V`: both are there, or both are parts of the same sums.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{V}` can't be added: one is a part of a sum and the other is not the same part, so it would be counted once by each rank",
    label = "these two are not owed the same reduction",
    note = "reduce the sum first: `x.all_reduce(&mesh)? + y`; what is added on all ranks is added after it"
)]
pub trait AddsTo<V> {}
impl AddsTo<Settled> for Settled {}
// Second candidates, so that rustc says the message above instead of taking the two for equal.
#[diagnostic::do_not_recommend]
impl AddsTo<Never> for Settled {}
#[diagnostic::do_not_recommend]
impl<M, R> AddsTo<Never> for Pending<Sum, M, R> {}
impl<M, R: AddsTo<S>, S> AddsTo<Pending<Sum, M, S>> for Pending<Sum, M, R> {}

/// `Self * V`: at most one of the two is a part of a sum.
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{V}` can't be multiplied: the product of two sums is not the sum of the products of their parts",
    label = "one of the two must be reduced first",
    note = "`.all_reduce(&mesh)`"
)]
pub trait MultipliesTo<V> {
    /// What the product is a part of.
    type Output: Debt;
}
impl MultipliesTo<Settled> for Settled {
    type Output = Settled;
}
impl<M: MeshAxis, R: Debt> MultipliesTo<Settled> for Pending<Sum, M, R> {
    type Output = Self;
}
impl<M: MeshAxis, R: Debt> MultipliesTo<Pending<Sum, M, R>> for Settled {
    type Output = Pending<Sum, M, R>;
}

/// The first of a list.
#[doc(hidden)]
pub struct Here;
/// Behind the first of a list.
#[doc(hidden)]
pub struct Farther<P>(PhantomData<P>);

/// A reduction over `M` is pending, at a position of the list that the compiler finds.
#[diagnostic::on_unimplemented(
    message = "nothing is pending over the mesh axis `{M}`: it is `{Self}`",
    label = "there is no such reduction to do"
)]
pub trait OwesOver<M, P>: Debt {
    /// How the parts are put together.
    type Op: Reduction;
    /// What is pending after that.
    type Rest: Debt;
}
impl<Op: Reduction, M: MeshAxis, R: Debt> OwesOver<M, Here> for Pending<Op, M, R> {
    type Op = Op;
    type Rest = R;
}
impl<O: Reduction, A: MeshAxis, M, P, R: OwesOver<M, P>> OwesOver<M, Farther<P>> for Pending<O, A, R> {
    type Op = R::Op;
    type Rest = Pending<O, A, R::Rest>;
}

/// Declares a mesh of ranks and its axes: `mesh! { pub Grid: Data, Model }`.
///
/// Each axis is a type, along which tensors are cut ([`At`]) and over which sums are pending ([`Pending`]). A program has one mesh.
///
/// ```
/// use castiron_mesh::{MeshAxis, mesh};
/// mesh! { pub Grid: Data, Model }
/// assert_eq!((Data::NAME, Data::INDEX, Model::INDEX), ("Data", 0, 1));
/// ```
#[macro_export]
macro_rules! mesh {
    ($(#[$doc:meta])* $vis:vis $mesh:ident: $($axis:ident),+ $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        $vis struct $mesh;
        impl $crate::MeshAxes for $mesh {
            const NAME: &'static str = ::core::stringify!($mesh);
            const NAMES: &'static [&'static str] = &[$(::core::stringify!($axis)),+];
        }
        $crate::mesh!(@axes $vis $mesh [0] [$crate::place::First] [] $($axis)+);
    };
    (@axes $vis:vis $mesh:ident [$index:expr] [$position:ty] [$($before:ident)*]) => {};
    (@axes $vis:vis $mesh:ident [$index:expr] [$position:ty] [$($before:ident)*] $axis:ident $($rest:ident)*) => {
        /// An axis of the mesh.
        #[derive(Clone, Copy, Debug, Default)]
        $vis struct $axis;
        impl $crate::MeshAxis for $axis {
            const NAME: &'static str = ::core::stringify!($axis);
            const INDEX: usize = $index;
            type Mesh = $mesh;
            type Position = $position;
        }
        $(
            impl $crate::place::Other<$before> for $axis {}
            impl $crate::place::Other<$axis> for $before {}
        )*
        $crate::mesh!(@axes $vis $mesh [$index + 1] [$crate::place::After<$position>] [$($before)* $axis] $($rest)*);
    };
}
