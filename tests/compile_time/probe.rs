//! The questions: which operation on which operands. Each question is a type of its own, with the operands `L` and `R` (or a dtype `E`) as
//! parameters: if all shared one type, the compiler would try the constants of every question for each cell.

use castiron::ops::admit::{
    ComplexFor, FloatFor, InexactFor, NumericFor, OrderedFor, Precisely, RealFor, SameDtypeFor,
};
use castiron::ops::{self, BinaryOp, TunedOp, UnaryOp};
use castiron::shape::{Broadcast, WrittenTo};
use castiron::{
    Admits, CanCast, CastTo, Cpu, DType, Dtype, Dyn, Element, Layout, Operand, Outcome, Shape, Tensor, TensorOperand,
    TunedWrites, Writes,
};
use core::ops as std_ops;
use std::marker::PhantomData;

/// The dtype of a tensor type.
pub trait Typed {
    const DTYPE: DType;
}
impl<E: Element, S: Shape, L: Layout> Typed for Tensor<E, S, Cpu, L> {
    const DTYPE: DType = E::DTYPE;
}

/// The answer where a question has no constant of its own.
pub trait Refused {
    const RESULT: Option<DType> = None;
}
impl<Question> Refused for Question {}

/// Operators, asked through `core::ops`.
pub mod operator {
    macro_rules! operators {
        ($($name:ident: $trait:ident;)*) => {$(
            #[allow(non_camel_case_types)]
            pub struct $name<L, R>(super::PhantomData<(L, R)>);
            impl<L: super::std_ops::$trait<R>, R> $name<L, R>
            where
                L::Output: super::Typed,
            {
                pub const RESULT: Option<super::DType> = Some(<L::Output as super::Typed>::DTYPE);
            }
        )*};
    }
    operators! {
        add: Add; sub: Sub; mul: Mul; div: Div; rem: Rem;
        bitand: BitAnd; bitor: BitOr; bitxor: BitXor; shl: Shl; shr: Shr;
    }
    macro_rules! assigning {
        ($($name:ident: $trait:ident;)*) => {$(
            #[allow(non_camel_case_types)]
            pub struct $name<L, R>(super::PhantomData<(L, R)>);
            impl<L: super::std_ops::$trait<R> + super::Typed, R> $name<L, R> {
                pub const RESULT: Option<super::DType> = Some(L::DTYPE);
            }
        )*};
    }
    assigning! {
        add_assign: AddAssign; sub_assign: SubAssign; mul_assign: MulAssign; div_assign: DivAssign; rem_assign: RemAssign;
        bitand_assign: BitAndAssign; bitor_assign: BitOrAssign; bitxor_assign: BitXorAssign;
        shl_assign: ShlAssign; shr_assign: ShrAssign;
    }
}

/// Methods, asked through their bounds: `x.pow(r)` exists where `pow: Admits<…>` does and `r` is an operand.
pub struct Method<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: BinaryOp, E: Dtype, S: Shape, R: Operand> Method<Op, &Tensor<E, S>, R>
where
    Op: Admits<E, R::Elem, R::Kind>,
    S: Broadcast<R::Shape>,
{
    pub const RESULT: Option<DType> = Some(<Outcome<Op, E, S, R> as Element>::DTYPE);
}
/// Methods that take tensors only.
pub struct TensorMethod<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: BinaryOp, E: Dtype, S: Shape, R: TensorOperand> TensorMethod<Op, &Tensor<E, S>, R>
where
    Op: Admits<E, R::Elem, R::Kind>,
    S: Broadcast<R::Shape>,
{
    pub const RESULT: Option<DType> = Some(<Outcome<Op, E, S, R> as Element>::DTYPE);
}
/// In-place methods: `x.pow_(r)`.
pub struct InPlace<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: BinaryOp, E: Dtype, S: Shape, R: Operand> InPlace<Op, Tensor<E, S>, R>
where
    Op: Admits<E, R::Elem, R::Kind>,
    Outcome<Op, E, S, R>: CanCast<E>,
    S: Broadcast<R::Shape>,
    <S as Broadcast<R::Shape>>::Output: WrittenTo<S>,
{
    pub const RESULT: Option<DType> = Some(E::DTYPE);
}
/// In-place methods that take tensors only.
pub struct TensorInPlace<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: BinaryOp, E: Dtype, S: Shape, R: TensorOperand> TensorInPlace<Op, Tensor<E, S>, R>
where
    Op: Admits<E, R::Elem, R::Kind>,
    Outcome<Op, E, S, R>: CanCast<E>,
    S: Broadcast<R::Shape>,
    <S as Broadcast<R::Shape>>::Output: WrittenTo<S>,
{
    pub const RESULT: Option<DType> = Some(E::DTYPE);
}
/// In-place methods whose result is not converted.
pub struct InPlacePrecisely<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: BinaryOp, E: Dtype, S: Shape, R: Operand> InPlacePrecisely<Op, Tensor<E, S>, R>
where
    Op: Admits<E, R::Elem, R::Kind>,
    Outcome<Op, E, S, R>: Precisely<E>,
    S: Broadcast<R::Shape>,
    <S as Broadcast<R::Shape>>::Output: WrittenTo<S>,
{
    pub const RESULT: Option<DType> = Some(E::DTYPE);
}
/// `x.isclose(&y, …)`.
pub struct IsClose<L, R>(PhantomData<(L, R)>);
impl<E: Dtype, S: Shape, R: TensorOperand> IsClose<&Tensor<E, S>, R>
where
    E: SameDtypeFor<R::Elem, ops::isclose>,
    S: Broadcast<R::Shape>,
{
    pub const RESULT: Option<DType> = Some(DType::Bool);
}
/// `Op` of two tensors of one dtype into an output, whose dtype is that of the result.
pub struct IntoPrecisely<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: BinaryOp, E: Dtype, F: Dtype, S: Shape> IntoPrecisely<Op, Tensor<F, S>, &Tensor<E, S>>
where
    Op: Admits<E, E, S::Kind>,
    Outcome<Op, E, S, &'static Tensor<E, S>>: Precisely<F>,
{
    pub const RESULT: Option<DType> = Some(F::DTYPE);
}
/// `Op` of two tensors of one dtype into an output of another: `x.add_into(&x, &mut out)`; `L` is the output.
pub struct Into<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: BinaryOp, E: Dtype, F: Dtype, S: Shape> Into<Op, Tensor<F, S>, &Tensor<E, S>>
where
    Op: Admits<E, E, S::Kind>,
    Outcome<Op, E, S, &'static Tensor<E, S>>: CanCast<F>,
{
    pub const RESULT: Option<DType> = Some(F::DTYPE);
}
/// `x.exp_into(&mut out)`; `L` is the output.
pub struct UnaryInto<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: UnaryOp<E> + Writes<E, F>, E: Dtype, F: Dtype, S: Shape> UnaryInto<Op, Tensor<F, S>, &Tensor<E, S>> {
    pub const RESULT: Option<DType> = Some(F::DTYPE);
}
/// `x.exp_()`.
pub struct UnaryInPlace<Op, E>(PhantomData<(Op, E)>);
impl<Op: UnaryOp<E> + castiron::InPlace<E>, E: Dtype> UnaryInPlace<Op, E> {
    pub const RESULT: Option<DType> = Some(E::DTYPE);
}
/// `x.fill(scalar)`.
pub struct Fill<L, R>(PhantomData<(L, R)>);
impl<E: castiron::dtype::Castable, S: Shape, R: castiron::Scalar> Fill<Tensor<E, S>, R> {
    pub const RESULT: Option<DType> = Some(E::DTYPE);
}
/// `tensor.rpow(scalar)`, which is `scalar ** tensor`.
pub struct ScalarFirst<Op, L, R>(PhantomData<(Op, L, R)>);
impl<Op: Admits<L::Counts, E, S::Kind>, L: castiron::Scalar, E: Dtype, S: Shape> ScalarFirst<Op, L, &Tensor<E, S>> {
    pub const RESULT: Option<DType> = Some(
        <castiron::dtype::promote::ResultType<castiron::dtype::scalar::ScalarKind, L::Counts, S::Kind, E> as Element>::DTYPE,
    );
}
/// `x.copy_from(&y)`.
pub struct CopyFrom<L, R>(PhantomData<(L, R)>);
impl<E: Element, F: castiron::CastTo<E>, S: Shape, T: Shape> CopyFrom<Tensor<E, S>, &Tensor<F, T>>
where
    S: Broadcast<T>,
    <S as Broadcast<T>>::Output: WrittenTo<S>,
{
    pub const RESULT: Option<DType> = Some(E::DTYPE);
}
/// `where_(mask, a, b)`.
pub struct Where<L, R>(PhantomData<(L, R)>);
impl<L: Operand, R: Operand> Where<L, R>
where
    (Dyn,): Broadcast<L::Shape, Output = (Dyn,)> + Broadcast<R::Shape>,
{
    pub const RESULT: Option<DType> =
        Some(<castiron::dtype::promote::ResultType<L::Kind, L::Elem, R::Kind, R::Elem> as Element>::DTYPE);
}
/// `Op(x)`.
pub struct Unary<Op, E>(PhantomData<(Op, E)>);
impl<Op: UnaryOp<E>, E: Dtype> Unary<Op, E> {
    pub const RESULT: Option<DType> = Some(<Op::Output as Element>::DTYPE);
}

/// `x.elu(1)`.
pub struct Tuned<Op, E>(PhantomData<(Op, E)>);
impl<Op: TunedOp<E>, E: Dtype> Tuned<Op, E> {
    pub const RESULT: Option<DType> = Some(<Op::Output as Element>::DTYPE);
}
/// `x.elu_(1)`.
pub struct TunedInPlace<Op, E>(PhantomData<(Op, E)>);
impl<Op: TunedOp<E> + TunedWrites<E, E>, E: Dtype> TunedInPlace<Op, E> {
    pub const RESULT: Option<DType> = Some(E::DTYPE);
}

/// `x.sum()`, `x.real()` and other methods that are not elementwise.
macro_rules! other_methods {
    ($($name:ident [$($bound:tt)*] $out:ty;)*) => {
        /// Their names.
        #[allow(non_camel_case_types)]
        pub mod other {
            $(pub struct $name<E>(core::marker::PhantomData<E>);)*
        }
        $(impl<E: $($bound)*> other::$name<E> {
            pub const RESULT: Option<DType> = Some(<$out as Element>::DTYPE);
        })*
    };
}
other_methods! {
    sum [Dtype] E::Sum;
    prod [Dtype] E::Sum;
    mean [InexactFor<ops::reduce::mean>] E;
    var [InexactFor<ops::reduce::var>] E::RealDtype;
    std [InexactFor<ops::reduce::std>] E::RealDtype;
    max [OrderedFor<ops::reduce::amax>] E;
    min [OrderedFor<ops::reduce::amin>] E;
    argmax [RealFor<ops::reduce::argmax>] i64;
    argmin [RealFor<ops::reduce::argmin>] i64;
    any [Dtype] bool;
    cumsum [Dtype] E::Sum;
    softmax [FloatFor<ops::scan::softmax>] E;
    log_softmax [FloatFor<ops::scan::log_softmax>] E;
    logsumexp [Dtype] E::Inexact;
    matmul [NumericFor<ops::reduce::matmul>] E;
    real [Dtype] E::RealDtype;
    imag [ComplexFor<ops::reduce::imag>] E::RealDtype;
}
/// `x.to::<F>()`.
pub struct To<F, E>(PhantomData<(F, E)>);
impl<E: CastTo<F>, F: Element> To<F, E> {
    pub const RESULT: Option<DType> = Some(F::DTYPE);
}
