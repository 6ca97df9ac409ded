//! The methods of lazy expressions, written from the table of operations.

use super::operand::{LazyOperand, RightOfLazy};
use super::{Applied1, Lazy, Node};
use crate::device::Device;
use crate::dtype::{Dtype, Scalar};
use crate::ops::kernel::{Applying, Tuning};
use crate::ops::table::{binary_table, tuned_table, unary_table};
use crate::ops::{TunedOp, UnaryOp};
use crate::shape::Shape;
use crate::tensor::elementwise::parametric::{Given, parameters};

macro_rules! unary_methods {
    ($($op:ident { $methods:tt $admits:ident $result:ident, $doc:literal $($rest:tt)* })*) => {
        // Operators are in `operators.rs`.
        #[allow(clippy::should_implement_trait)]
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
            $(
                #[doc = $doc]
                ///
                #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), ").")]
                pub fn $op<O: Dtype>(self) -> Lazy<O, S, D, Applied1<Applying<crate::ops::$op>, X, O>>
                where
                    crate::ops::$op: UnaryOp<E, Output = O>,
                {
                    self.map(Ok(Applying::new()))
                }
            )*
        }
    };
}
unary_table!(unary_methods);

macro_rules! binary_methods {
    ($($op:ident { $methods:tt $admits:ident $result:ident $operands:ident, $doc:literal $($rest:tt)* })*) => {
        // Operators are in `operators.rs`.
        #[allow(clippy::should_implement_trait)]
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
            $(
                #[doc = $doc]
                ///
                #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), "), beside an expression, a tensor or a scalar.")]
                pub fn $op<R: LazyOperand<D> + RightOfLazy<crate::ops::$op, E, S, D, X>>(self, rhs: R) -> R::Output {
                    rhs.right_of(self)
                }
            )*

            /// As [`Tensor::clamp`](crate::Tensor::clamp): elements limited to at least `low` and at most `high`.
            pub fn clamp<L, H, F: Dtype, T: Shape, Y, O>(self, low: L, high: H) -> O
            where
                L: LazyOperand<D> + RightOfLazy<crate::ops::clamp_min, E, S, D, X, Output = Lazy<F, T, D, Y>>,
                H: LazyOperand<D> + RightOfLazy<crate::ops::clamp_max, F, T, D, Y, Output = O>,
            {
                high.right_of(low.right_of(self))
            }
        }
    };
}
binary_table!(binary_methods);

macro_rules! tuned_methods {
    ($($op:ident { $methods:tt $admits:ident $result:ident ($($name:ident: $ty:ty),*), $doc:literal $($rest:tt)* })*) => {
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
            $(
                #[doc = $doc]
                ///
                #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), ").")]
                pub fn $op<O: Dtype>(self, $($name: $ty),*) -> Lazy<O, S, D, Applied1<Tuning<crate::ops::$op, E>, X, O>>
                where
                    crate::ops::$op: TunedOp<E, Output = O>,
                {
                    self.map(<crate::ops::$op as TunedOp<E>>::prepare(parameters!($($name)*)).map(Tuning))
                }
            )*
        }
    };
}
tuned_table!(tuned_methods);
