//! Operations on each element by itself, written from castiron's tables: each rank computes its block. What they may do to a sum that is
//! pending is a column of the tables.

use super::Dist;
use crate::place::{AddsTo, Debt, IsLinear, IsSettled, MultipliesTo, Settled};
use castiron::device::Meet;
use castiron::ops::{self, TunedOp, UnaryOp};
use castiron::shape::{Broadcast, SizeArray};
use castiron::{
    Admits, AssignedTo, Device, Dtype, Element, Operand, Outcome, OutcomeDevice, OutcomeShape, Scalar, Shape, Tensor,
    TensorOperand, bf16, f16,
};
use core::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// For `exp { any inexact, … }` it writes `exp`, of values that are there; for rows that are `linear`, of pending sums, too.
macro_rules! unary {
    ($($op:ident { $admits:ident $result:ident, $doc:literal, $torch:literal, $operand:literal = $elements:literal $(, $special:ident)* })*) => {
        $(unary!(@seek $op $doc [$($special)*]);)*
    };
    (@seek $op:ident $doc:literal [linear $($rest:ident)*]) => { unary!(@method $op IsLinear $doc); };
    (@seek $op:ident $doc:literal [$other:ident $($rest:ident)*]) => { unary!(@seek $op $doc [$($rest)*]); };
    (@seek $op:ident $doc:literal []) => { unary!(@method $op IsSettled $doc); };
    (@method $op:ident $bound:ident $doc:literal) => {
        impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
            #[doc = concat!("[`Tensor::", stringify!($op), "`](castiron::Tensor::", stringify!($op), "): each rank computes its block.")]
            ///
            /// # Panics
            /// If memory runs out.
            #[track_caller]
            pub fn $op<O: Dtype>(&self) -> Dist<O, S, U, D>
            where
                E: Dtype,
                ops::$op: UnaryOp<E, Output = O>,
                U: $bound,
            {
                Dist::new(<Tensor<E, S, D>>::$op(&self.local), self.sizes)
            }
        }
    };
}
castiron::__unary_rows!(unary);

/// For `elu { […] float same (alpha: impl Scalar), … }` it writes `elu(alpha)`.
macro_rules! tuned {
    ($($op:ident { $methods:tt $admits:ident $result:ident ($($name:ident: $ty:ty),*), $($rest:tt)* })*) => {
        impl<E: Element, S: Shape, U: IsSettled, D: Device> Dist<E, S, U, D> {$(
            #[doc = concat!("[`Tensor::", stringify!($op), "`](castiron::Tensor::", stringify!($op), "): each rank computes its block.")]
            ///
            /// # Panics
            /// If a parameter does not fit, or memory runs out.
            #[track_caller]
            pub fn $op<O: Dtype>(&self, $($name: $ty),*) -> Dist<O, S, Settled, D>
            where
                E: Dtype,
                ops::$op: TunedOp<E, Output = O>,
            {
                Dist::new(<Tensor<E, S, D>>::$op(&self.local, $($name),*), self.sizes)
            }
        )*}
    };
}
castiron::__tuned_rows!(tuned);

/// The other operand of an operation on a [`Dist`]: another, a reference to one, or a Rust scalar.
///
/// A [`Tensor`] is none: castiron does not know whether it is the same on all ranks. [`Dist::same`] says that it is.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an operand of a tensor over ranks",
    label = "expected a `Dist`, a reference to one, or a Rust scalar",
    note = "of a tensor that is the same on all ranks `Dist::same(&mesh, x)?` makes one, of one that each rank has a block of `Dist::build(&mesh, sizes, …)`"
)]
pub trait DistOperand: Sized {
    /// What castiron computes with: a tensor or a scalar.
    type Local: Operand;
    /// What is pending.
    type Owes: Debt;
    /// The block, and the sizes of all ranks together.
    #[doc(hidden)]
    fn parts(self) -> (Self::Local, <<Self::Local as Operand>::Shape as Shape>::Sizes);
}

impl<'a, E: Dtype, S: Shape, U: Debt, D: Device> DistOperand for &'a Dist<E, S, U, D> {
    type Local = &'a Tensor<E, S, D>;
    type Owes = U;
    fn parts(self) -> (&'a Tensor<E, S, D>, S::Sizes) {
        (&self.local, self.sizes)
    }
}
impl<E: Dtype, S: Shape, U: Debt, D: Device> DistOperand for Dist<E, S, U, D> {
    type Local = Tensor<E, S, D>;
    type Owes = U;
    fn parts(self) -> (Tensor<E, S, D>, S::Sizes) {
        (self.local, self.sizes)
    }
}
macro_rules! scalars {
    ($($scalar:ty)*) => {$(
        #[diagnostic::do_not_recommend]
        impl DistOperand for $scalar {
            type Local = $scalar;
            type Owes = Settled;
            fn parts(self) -> ($scalar, [usize; 0]) {
                (self, [])
            }
        }
    )*};
}
scalars!(bool u8 i8 i16 i32 i64 f16 bf16 f32 f64 castiron::Complex<f32> castiron::Complex<f64>);

/// Names for the parts of an operand.
type Elem<R> = <<R as DistOperand>::Local as Operand>::Elem;
type ShapeOf<R> = <<R as DistOperand>::Local as Operand>::Shape;
type KindOf<R> = <<R as DistOperand>::Local as Operand>::Kind;
type PlaceOf<R> = <<R as DistOperand>::Local as Operand>::Place;

/// For `add { … additive }` it writes `add`: of two values that are there, or of parts of the same sums.
macro_rules! binary {
    ($($op:ident { $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $left:literal $right:literal = $elements:literal $(, $special:ident)* })*) => {
        $(binary!(@operand $operands $op [$($special)*]);)*
    };
    (@operand tensors $op:ident $specials:tt) => { binary!(@seek $op [DistOperand<Local: TensorOperand>] $specials); };
    (@operand $scalars:ident $op:ident $specials:tt) => { binary!(@seek $op [DistOperand] $specials); };
    (@seek $op:ident $right:tt [additive $($rest:ident)*]) => { binary!(@method $op $right [AddsTo<R::Owes>] [Debt] U); };
    (@seek $op:ident $right:tt [bilinear $($rest:ident)*]) => {
        binary!(@method $op $right [MultipliesTo<R::Owes>] [Debt] <U as MultipliesTo<R::Owes>>::Output);
    };
    (@seek $op:ident $right:tt [linear_in_first $($rest:ident)*]) => { binary!(@method $op $right [IsLinear] [IsSettled] U); };
    (@seek $op:ident $right:tt [$other:ident $($rest:ident)*]) => { binary!(@seek $op $right [$($rest)*]); };
    (@seek $op:ident $right:tt []) => { binary!(@method $op $right [IsSettled] [IsSettled] Settled); };
    (@method $op:ident [$($right:tt)+] [$($own:tt)+] [$other:ident] $owes:ty) => {
        impl<E: Element, S: Shape, U: Debt, D: Device> Dist<E, S, U, D> {
            #[doc = concat!("[`Tensor::", stringify!($op), "`](castiron::Tensor::", stringify!($op), "): each rank computes its block.")]
            ///
            /// # Panics
            /// If sizes known at run time do not broadcast, on all ranks.
            #[track_caller]
            pub fn $op<R: $($right)+>(
                &self,
                right: R,
            ) -> Dist<Outcome<ops::$op, E, S, R::Local>, OutcomeShape<S, R::Local>, $owes, OutcomeDevice<D, S, R::Local>>
            where
                E: Dtype,
                ops::$op: Admits<E, Elem<R>, KindOf<R>>,
                S: Broadcast<ShapeOf<R>>,
                D: Meet<PlaceOf<R>, S::Kind, KindOf<R>>,
                U: $($own)+,
                R::Owes: $other,
            {
                let (local, sizes) = right.parts();
                let sizes = broadcast::<S, ShapeOf<R>, OutcomeShape<S, R::Local>>(stringify!($op), self.sizes, sizes);
                Dist::new(<Tensor<E, S, D>>::$op(&self.local, local), sizes)
            }
        }
    };
}
castiron::__binary_rows!(binary);

/// The sizes of a result of all ranks together. (They are the same on all ranks, and so is a panic.)
#[track_caller]
fn broadcast<S: Shape, T: Shape, O: Shape>(op: &str, left: S::Sizes, right: T::Sizes) -> O::Sizes {
    const { assert!(uses_once(O::CUTS), "one axis of the mesh would cut two axes of the result: gather one of them first") }
    let (left, right, mut sizes) = (left.as_ref(), right.as_ref(), O::Sizes::filled(1));
    // A block of one is repeated beside other sizes: of what is cut, the whole is compared.
    let whole = |sizes: &[usize], cuts: &[Option<_>], axis: usize| cuts[axis].is_some().then(|| sizes[axis]);
    let pairs = (0..S::RANK).rev().zip((0..T::RANK).rev());
    let cut_alike = pairs.into_iter().all(|(i, j)| match (whole(left, S::CUTS, i), whole(right, T::CUTS, j)) {
        (Some(one), Some(other)) => one == other,
        _ => true,
    });
    let fits = cut_alike && castiron::shape::broadcast_sizes(left, right, sizes.as_mut());
    assert!(fits, "{op}: sizes {left:?} and {right:?}, of all ranks together, do not broadcast");
    sizes
}

/// Whether no axis of the mesh cuts two axes.
const fn uses_once(cuts: &[Option<(usize, &'static str)>]) -> bool {
    let (mut used, mut axis) = (0_u64, 0);
    while axis < cuts.len() {
        if let Some((along, _)) = cuts[axis] {
            if used >> along & 1 == 1 {
                return false;
            }
            used |= 1 << along;
        }
        axis += 1;
    }
    true
}

/// What may stand at the right of `Op` beside a tensor over ranks.
///
/// The conditions of an operator are bounds on the right operand, so that rustc finds the operator and says which condition failed.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Op}` is not defined for `Dist<{E}, {S}, {U}>` and `{Self}`",
    label = "expected a `Dist`, a reference to one, or a Rust scalar",
    note = "of a tensor that is the same on all ranks `Dist::same(&mesh, x)?` makes one, of one that each rank has a block of `Dist::build(&mesh, sizes, …)`"
)]
pub trait DistRight<Op, E: Element, S: Shape, U: Debt, D: Device> {
    /// The result.
    type Output;
    /// `left Op self`.
    fn right_of(self, left: &Dist<E, S, U, D>) -> Self::Output;
}

macro_rules! operators {
    ($($Trait:ident $method:ident $sign:literal [$($own:tt)+] [$other:ident] $owes:ty;)*) => {$(
        impl<E, S, U, D, R> DistRight<ops::$method, E, S, U, D> for R
        where
            E: Dtype,
            R: DistOperand,
            ops::$method: Admits<E, Elem<R>, KindOf<R>>,
            S: Shape + Broadcast<ShapeOf<R>>,
            D: Device + Meet<PlaceOf<R>, S::Kind, KindOf<R>>,
            U: Debt + $($own)+,
            R::Owes: $other,
        {
            type Output = Dist<
                Outcome<ops::$method, E, S, R::Local>,
                OutcomeShape<S, R::Local>,
                $owes,
                OutcomeDevice<D, S, R::Local>,
            >;
            #[track_caller]
            fn right_of(self, left: &Dist<E, S, U, D>) -> Self::Output {
                left.$method(self)
            }
        }
        #[doc = concat!("`a ", $sign, " b`: [`", stringify!($method), "`](Dist::", stringify!($method), ").")]
        impl<E: Element, S: Shape, U: Debt, D: Device, R: DistRight<ops::$method, E, S, U, D>> $Trait<R> for &Dist<E, S, U, D> {
            type Output = R::Output;
            #[track_caller]
            fn $method(self, right: R) -> R::Output {
                right.right_of(self)
            }
        }
        #[doc = concat!("`a ", $sign, " b`: [`", stringify!($method), "`](Dist::", stringify!($method), ").")]
        impl<E: Element, S: Shape, U: Debt, D: Device, R: DistRight<ops::$method, E, S, U, D>> $Trait<R> for Dist<E, S, U, D> {
            type Output = R::Output;
            #[track_caller]
            fn $method(self, right: R) -> R::Output {
                right.right_of(&self)
            }
        }
    )*};
}
operators! {
    Add add "+" [AddsTo<R::Owes>] [Debt] U;
    Sub sub "-" [AddsTo<R::Owes>] [Debt] U;
    Mul mul "*" [MultipliesTo<R::Owes>] [Debt] <U as MultipliesTo<R::Owes>>::Output;
    Div div "/" [IsLinear] [IsSettled] U;
}

impl<E: Dtype, S: Shape, U: IsLinear, D: Device> Neg for &Dist<E, S, U, D>
where
    ops::neg: UnaryOp<E>,
{
    type Output = Dist<<ops::neg as UnaryOp<E>>::Output, S, U, D>;
    #[track_caller]
    fn neg(self) -> Self::Output {
        Dist::neg(self)
    }
}
impl<E: Dtype, S: Shape, U: IsLinear, D: Device> Neg for Dist<E, S, U, D>
where
    ops::neg: UnaryOp<E>,
{
    type Output = Dist<<ops::neg as UnaryOp<E>>::Output, S, U, D>;
    #[track_caller]
    fn neg(self) -> Self::Output {
        Dist::neg(&self)
    }
}

/// Scalars on the left: `2.0 * x`, `1.0 - x`.
macro_rules! scalar_first {
    ($($scalar:ty)*) => {$(
        scalar_first!(@ $scalar, Add add [AddsTo<Settled>] |x, scalar| x.add(scalar); add);
        scalar_first!(@ $scalar, Sub sub [AddsTo<Settled>] |x, scalar| x.rsub(scalar); rsub);
        scalar_first!(@ $scalar, Mul mul [MultipliesTo<Settled, Output = U>] |x, scalar| x.mul(scalar); mul);
    )*};
    (@ $scalar:ty, $Trait:ident $method:ident [$($bound:tt)+] |$x:ident, $own:ident| $body:expr; $op:ident) => {
        impl<E: Dtype, S: Shape, U: Debt + $($bound)+, D: Device> $Trait<&Dist<E, S, U, D>> for $scalar
        where
            ops::$op: Admits<E, <$scalar as Operand>::Elem, <$scalar as Operand>::Kind>,
            S: Broadcast<()>,
            D: Meet<<$scalar as Operand>::Place, S::Kind, <$scalar as Operand>::Kind>,
        {
            type Output = Dist<Outcome<ops::$op, E, S, $scalar>, OutcomeShape<S, $scalar>, U, OutcomeDevice<D, S, $scalar>>;
            #[track_caller]
            fn $method(self, $x: &Dist<E, S, U, D>) -> Self::Output {
                let $own = self;
                $body
            }
        }
        impl<E: Dtype, S: Shape, U: Debt + $($bound)+, D: Device> $Trait<Dist<E, S, U, D>> for $scalar
        where
            ops::$op: Admits<E, <$scalar as Operand>::Elem, <$scalar as Operand>::Kind>,
            S: Broadcast<()>,
            D: Meet<<$scalar as Operand>::Place, S::Kind, <$scalar as Operand>::Kind>,
        {
            type Output = Dist<Outcome<ops::$op, E, S, $scalar>, OutcomeShape<S, $scalar>, U, OutcomeDevice<D, S, $scalar>>;
            #[track_caller]
            fn $method(self, $x: Dist<E, S, U, D>) -> Self::Output {
                let $own = self;
                let $x = &$x;
                $body
            }
        }
    };
}
scalar_first!(i32 i64 f32 f64);

/// Written in place is what is there, on both sides.
macro_rules! assigning {
    ($($Trait:ident $method:ident $op:ident;)*) => {$(
        impl<E: Dtype, S: Shape, D: Device, R: DistOperand<Owes: IsSettled>> $Trait<R> for Dist<E, S, Settled, D>
        where
            S: Broadcast<ShapeOf<R>, Output = S>,
            R::Local: AssignedTo<ops::$op, E, S, D>,
        {
            #[track_caller]
            fn $method(&mut self, right: R) {
                let (local, sizes) = right.parts();
                let sizes = broadcast::<S, ShapeOf<R>, S>(stringify!($op), self.sizes, sizes);
                assert_eq!(sizes, self.sizes, "{}: the result has not the sizes of the tensor it is written to", stringify!($op));
                $Trait::$method(&mut self.local, local);
            }
        }
    )*};
}
assigning! {
    AddAssign add_assign add;
    SubAssign sub_assign sub;
    MulAssign mul_assign mul;
    DivAssign div_assign div;
}
