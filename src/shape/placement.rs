//! Where the elements of an axis are: whole in each process, or cut into blocks along an axis of a mesh of processes.
//!
//! Nothing here runs. The package `castiron-mesh` cuts tensors; what it has to know of a shape without a bound in generic code is computed
//! by the rules for shapes: which axes are cut, and what is left to be put together after a reduction over them.

use core::fmt::Debug;
use core::marker::PhantomData;

/// An axis of a mesh of processes. `castiron_mesh::mesh!` declares them.
pub trait MeshAxis: Copy + Default + Debug + Send + Sync + 'static {
    /// As it is declared.
    const NAME: &'static str;
    /// Its position among the axes of the mesh.
    const INDEX: usize;
    /// The mesh.
    type Mesh: MeshAxes;
    /// [`INDEX`](Self::INDEX) as a type.
    type Position: Position;
}

/// The axes of a mesh, in the order they are declared.
pub trait MeshAxes: 'static {
    /// Of the mesh.
    const NAME: &'static str;
    /// Of its axes.
    const NAMES: &'static [&'static str];
}

/// Whether each process has all of an axis.
pub trait Placement: 'static {
    /// The axis of the mesh along which it is cut: its index and its name.
    const CUT: Option<(usize, &'static str)>;
    /// What is left to be put together once an axis in this place has been reduced by `Op`.
    type After<Op: Reduction, U: Debt>: Debt;
}

/// Each process has the whole axis.
#[derive(Clone, Copy, Debug)]
pub struct Whole;
impl Placement for Whole {
    const CUT: Option<(usize, &'static str)> = None;
    type After<Op: Reduction, U: Debt> = U;
}

/// Each process along the axis `M` of the mesh has a block.
#[derive(Clone, Copy, Debug)]
pub struct Cut<M>(PhantomData<M>);
impl<M: MeshAxis> Placement for Cut<M> {
    const CUT: Option<(usize, &'static str)> = Some((M::INDEX, M::NAME));
    type After<Op: Reduction, U: Debt> = U::With<Op, M>;
}

/// How the parts that processes have are put together.
pub trait Reduction: Copy + Debug + 'static {
    /// The same as a value.
    const KIND: ReductionKind;
}

/// How parts are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReductionKind {
    /// Added.
    Sum,
    /// Multiplied.
    Product,
    /// The largest; NaN if there is one.
    Max,
    /// The smallest; NaN if there is one.
    Min,
    /// Whether all are true.
    All,
    /// Whether one is true.
    Any,
}

macro_rules! reductions {
    ($($kind:ident $doc:literal;)*) => {$(
        #[doc = $doc]
        #[derive(Clone, Copy, Debug)]
        pub struct $kind;
        impl Reduction for $kind {
            const KIND: ReductionKind = ReductionKind::$kind;
        }
    )*};
}
reductions! {
    Sum "The parts are added.";
    Product "The parts are multiplied.";
    Max "The largest of the parts counts, NaN if there is one.";
    Min "The smallest of the parts counts, NaN if there is one.";
    All "True if all parts are.";
    Any "True if one part is.";
}

/// What is left to be put together before a value is there: a list of reductions, in the order of the axes of the mesh.
pub trait Debt: 'static {
    /// This, and a reduction over `M`.
    type With<Op: Reduction, M: MeshAxis>: Debt;
    /// Whether nothing is left.
    const IS_SETTLED: bool;
    /// Calls `with` for each: how, over which axis of the mesh, and the axis' name.
    fn each(with: &mut dyn FnMut(ReductionKind, usize, &'static str));
}

/// The value is there.
#[derive(Clone, Copy, Debug)]
pub struct Settled;
impl Debt for Settled {
    type With<Op: Reduction, M: MeshAxis> = Pending<Op, M, Settled>;
    const IS_SETTLED: bool = true;
    fn each(_: &mut dyn FnMut(ReductionKind, usize, &'static str)) {}
}

/// Each process along `M` has a part; the value is what `Op` makes of them.
#[derive(Clone, Copy, Debug)]
pub struct Pending<Op, M, Rest = Settled>(PhantomData<(Op, M, Rest)>);
impl<O: Reduction, A: MeshAxis, R: Debt> Debt for Pending<O, A, R> {
    type With<Op: Reduction, M: MeshAxis> = <<M::Position as Position>::IsBefore<A::Position> as Answer>::Either<
        Pending<Op, M, Self>,
        Pending<O, A, R::With<Op, M>>,
    >;
    const IS_SETTLED: bool = false;
    fn each(with: &mut dyn FnMut(ReductionKind, usize, &'static str)) {
        with(O::KIND, A::INDEX, A::NAME);
        R::each(with);
    }
}

/// Yes or no.
pub trait Answer: 'static {
    /// The first for yes, the second for no.
    type Either<A: Debt, B: Debt>: Debt;
}
/// Yes.
pub struct Yes;
impl Answer for Yes {
    type Either<A: Debt, B: Debt> = A;
}
/// No.
pub struct No;
impl Answer for No {
    type Either<A: Debt, B: Debt> = B;
}

/// A position in a list.
pub trait Position: 'static {
    /// Whether it is before `Q`.
    type IsBefore<Q: Position>: Answer;
    /// Whether the position after `P` is before it.
    type IsBehindNext<P: Position>: Answer;
    /// Whether it is not the first.
    type IsBehindFirst: Answer;
}
/// The first.
pub struct First;
impl Position for First {
    type IsBefore<Q: Position> = Q::IsBehindFirst;
    type IsBehindNext<P: Position> = No;
    type IsBehindFirst = No;
}
/// The one after `P`.
pub struct After<P>(PhantomData<P>);
impl<P: Position> Position for After<P> {
    type IsBefore<Q: Position> = Q::IsBehindNext<P>;
    type IsBehindNext<O: Position> = O::IsBefore<P>;
    type IsBehindFirst = Yes;
}
