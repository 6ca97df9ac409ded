//! The methods of operations of one operand and parameters, written from the table: `elu`, `try_elu`, `elu_`, `try_elu_`, `elu_into`,
//! `try_elu_into`; and so on.

use crate::device::Device;
use crate::dtype::{CanCast, Dtype, Element, Scalar, ScalarValue};
use crate::error::Result;
use crate::layout::strides;
use crate::ops::admit::ExactlyFor;
use crate::ops::kernel::Tuning;
use crate::ops::rules::admit::admits_in_words;
use crate::ops::rules::result::{form_of_result, result_in_words};
use crate::ops::table::tuned_table;
use crate::ops::{Op, TunedOp};
use crate::shape::{Shape, WrittenTo};
use crate::tensor::elementwise::methods::map_into_by;
use crate::tensor::{SameDevice, Tensor, TensorViewMut};
use castiron_macros::fallible;

/// A parameter as it was given; `None` for the default.
pub(crate) trait Given {
    fn given(self) -> Option<ScalarValue>;
}
impl<T: Scalar> Given for T {
    fn given(self) -> Option<ScalarValue> {
        Some(self.value())
    }
}
impl Given for ScalarValue {
    fn given(self) -> Option<ScalarValue> {
        Some(self)
    }
}
impl Given for Option<f64> {
    fn given(self) -> Option<ScalarValue> {
        self.map(ScalarValue::Float)
    }
}

/// Three parameters; those that an operation does not have are zero.
macro_rules! parameters {
    ($a:ident) => {
        [$a.given(), 0.0.given(), 0.0.given()]
    };
    ($a:ident $b:ident) => {
        [$a.given(), $b.given(), 0.0.given()]
    };
    ($a:ident $b:ident $c:ident) => {
        [$a.given(), $b.given(), $c.given()]
    };
}

/// The dtype of `Op` on elements of dtype `E`.
type Result1<O, E> = <O as TunedOp<E>>::Output;

fn map<O: TunedOp<E>, E: Dtype, S: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    given: [Option<ScalarValue>; 3],
) -> Result<Tensor<O::Output, S, D>> {
    let kernel = Tuning::<O, E>(O::prepare(given)?);
    let strides = strides::elementwise_result(&x.shape(), &[x.stride()], true);
    let storage = D::map1::<E, O::Output>(kernel, x.elements(), strides.as_ref())?;
    Ok(Tensor::from_parts(storage, 0, x.shape(), strides))
}

fn update<O: TunedOp<E>, E: Dtype, S: Shape, D: Device>(
    x: &mut Tensor<E, S, D>,
    given: [Option<ScalarValue>; 3],
) -> Result<&mut Tensor<E, S, D>> {
    let kernel = Tuning::<O, E>(O::prepare(given)?);
    D::update1(kernel, x.elements_mut()?)?;
    Ok(x)
}

/// `Op` on elements of dtype `E` may be written into elements of dtype `To`.
#[doc(hidden)]
pub trait TunedWrites<E, To>: Op {}

/// Which outputs an operation may write, by the rule of its result dtype.
macro_rules! writes {
    ($($op:ident { $methods:tt $admits:ident $result:ident $($rest:tt)* })*) => {$(
        form_of_result!(tuned $result, writes { $op });
    )*};
    ($op:ident $form:ident exactly) => { impl<E: ExactlyFor<To, crate::ops::$op>, To> TunedWrites<E, To> for crate::ops::$op {} };
    ($op:ident $form:ident castable) => {
        impl<E: Dtype, To> TunedWrites<E, To> for crate::ops::$op
        where
            crate::ops::$op: TunedOp<E>,
            Result1<crate::ops::$op, E>: CanCast<To>,
        {
        }
    };
}
tuned_table!(writes);

/// For `elu […] float same (alpha: impl Scalar)` it writes `elu(alpha)`, `try_elu(alpha)`, `elu_(alpha)` and so on.
macro_rules! tuned_methods {
    ($($op:ident { [$try:ident $inplace:ident $try_inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident ($($name:ident: $ty:ty),*), $doc:literal, $torch:literal, $operand:literal $arguments:literal = $elements:literal $($rest:tt)* })*) => {
        /// The forms of each operation.
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {$(
            #[doc = $doc]
            ///
            #[doc = concat!("Shape: that of `self`. Dtypes: ", admits_in_words!($admits), ". Result dtype: ", result_in_words!($result), ".")]
            ///
            #[doc = concat!("PyTorch: `", $torch, "`. Forms: `", stringify!($inplace), "`, `", stringify!($into), "`.")]
            ///
            /// # Panics
            /// If a parameter does not fit.
            ///
            /// ```
            /// # use castiron::tensor;
            #[doc = concat!("assert_eq!(", $operand, ".", stringify!($op), "(", $arguments, ").to_vec(), ", $elements, ");")]
            /// ```
            #[fallible]
            pub fn $op<O: Dtype>(&self, $($name: $ty),*) -> Result<Tensor<O, S, D>>
            where
                E: Dtype,
                crate::ops::$op: TunedOp<E, Output = O>,
            {
                map::<crate::ops::$op, E, S, D>(self, parameters!($($name)*))
            }

            #[cfg_attr(doc, doc(hidden))]
            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") in place. The result must be castable to `E`.")]
            ///
            /// # Panics
            /// If a parameter does not fit; nothing is written then.
            #[fallible]
            pub fn $inplace(&mut self, $($name: $ty),*) -> Result<&mut Self>
            where
                E: Dtype,
                crate::ops::$op: TunedOp<E> + TunedWrites<E, E>,
            {
                update::<crate::ops::$op, E, S, D>(self, parameters!($($name)*))
            }

            #[cfg_attr(doc, doc(hidden))]
            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") into an existing tensor of the same shape, converting to its dtype where PyTorch does (`out=`).")]
            ///
            /// # Panics
            /// If sizes known at run time differ, or a parameter does not fit; nothing is written then.
            #[fallible]
            pub fn $into<F: Dtype, T: Shape + SameDevice<D, X>, X: Device>(&self, $($name: $ty,)* out: &mut Tensor<F, T, X>) -> Result<()>
            where
                E: Dtype,
                crate::ops::$op: TunedOp<E> + TunedWrites<E, F>,
                S: WrittenTo<T>,
            {
                let kernel = Tuning::<crate::ops::$op, E>(<crate::ops::$op as TunedOp<E>>::prepare(parameters!($($name)*))?);
                map_into_by(<crate::ops::$op as Op>::NAME, kernel, self, T::here_mut(out))
            }
        )*}

        /// The in-place forms of each operation.
        impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {$(
            #[doc = concat!("As `Tensor::", stringify!($inplace), "`, where the elements are.")]
            ///
            /// # Panics
            /// As there; nothing is written then.
            #[fallible]
            pub fn $inplace(&mut self, $($name: $ty),*) -> Result<&mut Self>
            where
                E: Dtype,
                crate::ops::$op: TunedOp<E> + TunedWrites<E, E>,
            {
                self.target().$try_inplace($($name),*)?;
                Ok(self)
            }
        )*}
    };
}
tuned_table!(tuned_methods);

pub(crate) use parameters;
