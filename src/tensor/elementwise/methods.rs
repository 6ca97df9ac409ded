//! The methods of the elementwise operations, written from the table: `exp`, `try_exp`, `exp_`, `exp_into`, `try_exp_into`; `add`,
//! `try_add`, `add_`, `try_add_`, `add_into`, `try_add_into`; and so on.

use crate::device::{Device, Meet, Receives};
use crate::dtype::promote::ResultType;
use crate::dtype::scalar::ScalarKind;
use crate::dtype::{CanCast, Dtype, Element, Scalar};
use crate::error::{Error, Result, unwrap};
use crate::layout::strides;
use crate::ops::admit::{AbsInto, ExactlyFor, OrderedFor, Precisely};
use crate::ops::kernel::{Applying, CombiningLeft, Map1};
use crate::ops::rules::admit::{admits_in_words, bounds_of_two};
use crate::ops::rules::result::{form_of_result, result_in_words};
use crate::ops::table::{binary_table, unary_table};
use crate::ops::{Op, UnaryOp};
use crate::shape::{Broadcast, Shape, WrittenTo};
use crate::tensor::base::operand::{Operand, TensorOperand};
use crate::tensor::elementwise::apply::{Outcome, OutcomeDevice, OutcomeShape, combine, combine_scalar};
use crate::tensor::elementwise::output::{combine_into, update};
use crate::tensor::{SameDevice, Tensor, TensorViewMut};
use castiron_macros::fallible;

/// The dtype of `Op` on elements of dtype `E`.
type Result1<O, E> = <O as UnaryOp<E>>::Output;

fn map<O: UnaryOp<E>, E: Dtype, S: Shape, D: Device>(x: &Tensor<E, S, D>) -> Result<Tensor<O::Output, S, D>> {
    let own = x.elements();
    if let Some((sizes, strides, len)) = strides::row_major_alike::<1, S>([(own.sizes, own.strides)]) {
        let storage = D::map1_line::<E, O::Output>(Applying::<O>::new(), own, len)?;
        return Ok(Tensor::whole(storage, sizes, strides, len));
    }
    let strides = strides::elementwise_result(&x.shape(), &[x.stride()], true);
    let storage = D::map1::<E, O::Output>(Applying::<O>::new(), x.elements(), strides.as_ref())?;
    Ok(Tensor::from_parts(storage, 0, x.shape(), strides))
}

fn map_into<O: UnaryOp<E>, E: Dtype, F: Dtype, S: Shape, T: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    out: &mut Tensor<F, T, D>,
) -> Result<()> {
    map_into_by(O::NAME, Applying::<O>::new(), x, out)
}

/// `out = kernel(x)`, for the operation of this name.
pub(crate) fn map_into_by<E: Dtype, F: Dtype, S: Shape, T: Shape, D: Device>(
    op: &'static str,
    kernel: impl Map1<E, F>,
    x: &Tensor<E, S, D>,
    out: &mut Tensor<F, T, D>,
) -> Result<()> {
    if x.shape().as_ref() != out.shape().as_ref() {
        return Err(Error::Output { op, result: x.shape().as_ref().into(), output: out.shape().as_ref().into() });
    }
    D::map1_into::<E, F>(kernel, x.elements(), out.elements_mut()?)
}

/// `Op` on elements of dtype `E` may be written into elements of dtype `To`.
#[doc(hidden)]
pub trait Writes<E, To>: Op {}

/// Which outputs an operation may write, by the rule of its result dtype. For `exp […] any inexact` it expands to `impl<E: Dtype, To>
/// Writes<E, To> for exp where exp: UnaryOp<E>, Result1<exp, E>: CanCast<To> {}`.
macro_rules! writes {
    ($($op:ident { $methods:tt $admits:ident $result:ident $($rest:tt)* })*) => {$(
        form_of_result!(one $result, writes { $op });
    )*};
    ($op:ident $form:ident exactly) => { impl<E: ExactlyFor<To, crate::ops::$op>, To> Writes<E, To> for crate::ops::$op {} };
    ($op:ident $form:ident absolute) => { impl<E: AbsInto<To>, To> Writes<E, To> for crate::ops::$op {} };
    ($op:ident $form:ident mask) => {
        impl<E: Dtype, To> Writes<E, To> for crate::ops::$op
        where
            crate::ops::$op: UnaryOp<E>,
            Result1<crate::ops::$op, E>: ExactlyFor<To, crate::ops::$op>,
        {
        }
    };
    ($op:ident $form:ident castable) => {
        impl<E: Dtype, To> Writes<E, To> for crate::ops::$op
        where
            crate::ops::$op: UnaryOp<E>,
            Result1<crate::ops::$op, E>: CanCast<To>,
        {
        }
    };
}
unary_table!(writes);

/// `Op` has an in-place form on elements of dtype `E`.
#[doc(hidden)]
pub trait InPlace<E>: Op {}

/// As `writes!`, with one exception: PyTorch has no in-place `abs` of complex elements, although the result could be cast.
macro_rules! in_place {
    ($($op:ident { $methods:tt $admits:ident $result:ident $($rest:tt)* })*) => {$(
        form_of_result!(one $result, in_place { $op });
    )*};
    ($op:ident $form:ident absolute) => { impl<E: OrderedFor<crate::ops::$op>> InPlace<E> for crate::ops::$op {} };
    ($op:ident $form:ident mask) => {
        impl<E: Dtype> InPlace<E> for crate::ops::$op
        where
            crate::ops::$op: UnaryOp<E>,
            Result1<crate::ops::$op, E>: ExactlyFor<E, crate::ops::$op>,
        {
        }
    };
    ($op:ident $form:ident $other:ident) => {
        impl<E: Dtype> InPlace<E> for crate::ops::$op
        where
            crate::ops::$op: UnaryOp<E>,
            Result1<crate::ops::$op, E>: CanCast<E>,
        {
        }
    };
}
unary_table!(in_place);

/// For `exp […] any inexact` it writes `exp`, `try_exp`, `exp_`, `exp_into` and `try_exp_into`.
macro_rules! unary_methods {
    ($($op:ident { [$try:ident $inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident, $doc:literal, $torch:literal, $operand:literal = $elements:literal $($rest:tt)* })*) => {
        /// The forms of each operation. (The result dtype is a type parameter, and `E: Dtype` a condition of the method, so that the
        /// compiler reports the failed condition instead of a missing method.)
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {$(
            #[doc = $doc]
            ///
            #[doc = concat!("Shape: that of `self`. Dtypes: ", admits_in_words!($admits), ". Result dtype: ", result_in_words!($result), ".")]
            ///
            #[doc = concat!("PyTorch: `", $torch, "`. Forms: `", stringify!($inplace), "`, `", stringify!($into), "`.")]
            ///
            /// # Panics
            /// If memory runs out.
            ///
            /// ```
            /// # use castiron::tensor;
            #[doc = concat!("assert_eq!(", $operand, ".", stringify!($op), "().to_vec(), ", $elements, ");")]
            /// ```
            #[fallible]
            pub fn $op<O: Dtype>(&self) -> Result<Tensor<O, S, D>>
            where
                E: Dtype,
                crate::ops::$op: UnaryOp<E, Output = O>,
            {
                map::<crate::ops::$op, E, S, D>(self)
            }

            #[cfg_attr(doc, doc(hidden))]
            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") in place. The result must be castable to `E`.")]
            ///
            /// # Panics
            /// If storage is shared and memory for a copy runs out.
            #[track_caller]
            pub fn $inplace(&mut self) -> &mut Self
            where
                E: Dtype,
                crate::ops::$op: UnaryOp<E> + InPlace<E>,
            {
                unwrap(self.elements_mut().and_then(|view| D::update1(Applying::<crate::ops::$op>::new(), view)));
                self
            }

            #[cfg_attr(doc, doc(hidden))]
            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") into an existing tensor of the same shape, converting to its dtype (`out=`).")]
            ///
            /// # Panics
            /// If sizes known at run time differ.
            #[fallible]
            pub fn $into<F: Dtype, T: Shape + SameDevice<D, X>, X: Device>(&self, out: &mut Tensor<F, T, X>) -> Result<()>
            where
                E: Dtype,
                crate::ops::$op: UnaryOp<E> + Writes<E, F>,
                S: WrittenTo<T>,
            {
                map_into::<crate::ops::$op, E, F, S, T, D>(self, T::here_mut(out))
            }
        )*}

        /// The in-place forms of each operation.
        impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {$(
            #[doc = concat!("As `Tensor::", stringify!($inplace), "`, where the elements are.")]
            #[track_caller]
            pub fn $inplace(&mut self) -> &mut Self
            where
                E: Dtype,
                crate::ops::$op: UnaryOp<E> + InPlace<E>,
            {
                self.target().$inplace();
                self
            }
        )*}
    };
}
unary_table!(unary_methods);

/// `Op` admits a tensor of dtype `A` with an operand of dtype `B` and kind `K`; the table of operations decides.
#[doc(hidden)]
pub trait Admits<A, B, K>: Op {}

/// For `sub […] numeric …` it writes `impl<A: NumericFor<sub>, B: NumericFor<sub>, K> Admits<A, B, K> for sub {}`.
macro_rules! admissions {
    ($($op:ident { $methods:tt $admits:ident $($rest:tt)* })*) => {$(
        bounds_of_two!($admits, crate::ops::$op, admissions { $op });
    )*};
    ($op:ident [$($left:tt)*] [$($right:tt)*]) => {
        impl<A: $($left)*, B: $($right)*, K> Admits<A, B, K> for crate::ops::$op {}
    };
    ($op:ident [bools by scalars]) => { impl Admits<bool, bool, ScalarKind> for crate::ops::$op {} };
}
binary_table!(admissions);

/// For `add […] any same any` it writes `add`, `try_add`, `add_`, `try_add_`, `add_into` and `try_add_into`.
macro_rules! binary_methods {
    ($($op:ident { $methods:tt $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $example:literal $other:literal = $elements:literal $($rest:tt)* })*) => {$(
        form_of_result!(two $result, binary_methods {
            @of $op $methods $admits $result $operands, $doc, $torch, [$example $other $elements],
        });
    )*};
    // (Of shell dtypes they are functions, in `shells`.)
    (@of $op:ident $methods:tt $admits:ident $result:ident shells, $doc:literal, $torch:literal, $example:tt, $form:ident castable) => {
        binary_methods!(@ Element CanCast, $op $methods $admits $result any, $doc, $torch, $example);
    };
    (@of $op:ident $methods:tt $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $example:tt, $form:ident castable) => {
        binary_methods!(@ Element CanCast, $op $methods $admits $result $operands, $doc, $torch, $example);
    };
    // Results that are not converted.
    (@of $op:ident $methods:tt $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $example:tt, $form:ident exactly) => {
        binary_methods!(@ Element Precisely, $op $methods $admits $result $operands, $doc, $torch, $example);
    };
    (@ $of:ident $writes:ident, $op:ident $methods:tt $admits:ident $result:ident scalars, $($rest:tt)*) => {
        binary_methods!(@ $of $writes, $op $methods $admits $result any, $($rest)*);
    };
    (@ $of:ident $writes:ident, $op:ident $methods:tt $admits:ident $result:ident any, $($rest:tt)*) => {
        binary_methods!(@@ $of $writes, $op $methods $admits $result Operand "tensor or scalar", $($rest)*);
    };
    (@ $of:ident $writes:ident, $op:ident $methods:tt $admits:ident $result:ident tensors, $($rest:tt)*) => {
        binary_methods!(@@ $of $writes, $op $methods $admits $result TensorOperand "tensor", $($rest)*);
    };
    (@@ $of:ident $writes:ident, $op:ident [$try:ident $inplace:ident $try_inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident $operand:ident $what:literal, $doc:literal, $torch:literal, [$left:literal $right:literal $elements:literal]) => {
        /// The forms of one operation.
        impl<E: $of, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = $doc]
            ///
            #[doc = concat!("The other operand is a ", $what, "; shapes broadcast and dtypes promote. Dtypes: ", admits_in_words!($admits), ". Result dtype, from the promoted dtype `E`: ", result_in_words!($result), ".")]
            ///
            #[doc = concat!("PyTorch: `", $torch, "`. Forms: `", stringify!($inplace), "`, `", stringify!($into), "`.")]
            ///
            /// # Panics
            /// If sizes known at run time do not broadcast, or a scalar does not fit.
            ///
            /// ```
            /// # use castiron::tensor;
            #[doc = concat!("assert_eq!(", $left, ".", stringify!($op), "(", $right, ").to_vec(), ", $elements, ");")]
            /// ```
            #[fallible]
            pub fn $op<R: $operand>(&self, rhs: R) -> Result<Tensor<Outcome<crate::ops::$op, E, S, R>, OutcomeShape<S, R>, OutcomeDevice<D, S, R>>>
            where
                E: Dtype,
                crate::ops::$op: Admits<E, R::Elem, R::Kind>,
                S: Broadcast<R::Shape>,
                D: Meet<R::Place, S::Kind, R::Kind>,
            {
                combine::<crate::ops::$op, E, S, D, R, _, _>(self, &rhs)
            }

            #[cfg_attr(doc, doc(hidden))]
            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") in place. The result must be castable to `E` and have the shape of `self`.")]
            ///
            /// # Panics
            /// If sizes known at run time do not broadcast to those of `self`, or a scalar does not fit; nothing is written then.
            #[fallible]
            pub fn $inplace<R: $operand>(&mut self, rhs: R) -> Result<&mut Self>
            where
                E: Dtype,
                crate::ops::$op: Admits<E, R::Elem, R::Kind>,
                Outcome<crate::ops::$op, E, S, R>: $writes<E>,
                S: Broadcast<R::Shape>,
                <S as Broadcast<R::Shape>>::Output: WrittenTo<S>,
                D: Receives<R::Place, R::Kind>,
            {
                update::<crate::ops::$op, E, S, D, R>(self, &rhs)?;
                Ok(self)
            }

            #[cfg_attr(doc, doc(hidden))]
            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") into an existing tensor of the result's shape, converting to its dtype (`out=`).")]
            ///
            /// # Panics
            /// If sizes known at run time do not match those of `out`, or a scalar does not fit; nothing is written then.
            #[fallible]
            pub fn $into<R: $operand, F: Dtype, T: Shape + SameDevice<D, X>, X: Device>(&self, rhs: R, out: &mut Tensor<F, T, X>) -> Result<()>
            where
                E: Dtype,
                crate::ops::$op: Admits<E, R::Elem, R::Kind>,
                Outcome<crate::ops::$op, E, S, R>: $writes<F>,
                S: Broadcast<R::Shape>,
                <S as Broadcast<R::Shape>>::Output: WrittenTo<T>,
                D: Receives<R::Place, R::Kind>,
            {
                combine_into::<crate::ops::$op, E, S, D, R, F, T>(self, &rhs, T::here_mut(out))
            }
        }

        /// The in-place forms of one operation.
        impl<E: $of, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {
            #[doc = concat!("As `Tensor::", stringify!($inplace), "`, where the elements are.")]
            ///
            /// # Panics
            /// As there; nothing is written then.
            #[fallible]
            pub fn $inplace<R: $operand>(&mut self, rhs: R) -> Result<&mut Self>
            where
                E: Dtype,
                crate::ops::$op: Admits<E, R::Elem, R::Kind>,
                Outcome<crate::ops::$op, E, S, R>: $writes<E>,
                S: Broadcast<R::Shape>,
                <S as Broadcast<R::Shape>>::Output: WrittenTo<S>,
                D: Receives<R::Place, R::Kind>,
            {
                self.target().$try_inplace(rhs)?;
                Ok(self)
            }
        }
    };
}
binary_table!(binary_methods);

/// For `rpow = pow` it writes the forms with a scalar on the left and `self` on the right, for which Rust has no operator.
macro_rules! scalar_first {
    ($($name:ident = $op:ident, $doc:literal, $torch:literal, $example:literal = $elements:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($op), "`](Tensor::", stringify!($op), ") with a scalar on the left.")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = $doc]
            ///
            #[doc = concat!("PyTorch: `", $torch, "`.")]
            ///
            /// # Panics
            /// If the scalar does not fit the dtype.
            ///
            /// ```
            /// # use castiron::tensor;
            #[doc = concat!("assert_eq!(", $example, ".to_vec(), ", $elements, ");")]
            /// ```
            #[fallible]
            pub fn $name<L: Scalar>(&self, left: L) -> Result<Tensor<ResultType<S::Kind, E, ScalarKind, L::Counts>, S, D>>
            where
                E: Dtype,
                crate::ops::$op: Admits<L::Counts, E, S::Kind>,
            {
                combine_scalar::<crate::ops::$op, E, ResultType<S::Kind, E, ScalarKind, L::Counts>, S, D, _>(
                    left.value(),
                    self,
                    false,
                    CombiningLeft::<crate::ops::$op, ResultType<S::Kind, E, ScalarKind, L::Counts>>,
                )
            }
        }
    )*};
}
scalar_first! {
    rpow = pow, "A scalar raised to each element.", "torch.pow(scalar, tensor)",
        "tensor![1, 3].rpow(2)" = "[2_i64, 8]";
    rfloor_divide = floor_divide, "A scalar divided by each element, rounded down.", "scalar // tensor",
        "tensor![2, 4].rfloor_divide(9)" = "[4_i64, 2]";
}
