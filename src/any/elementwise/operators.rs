//! Methods and operators of the elementwise operations, written from the tables.

use crate::any::AnyTensor;
use crate::any::base::operand::AnyOperand;
use crate::any::elementwise::binary::{combine, combine_tensor};
use crate::any::elementwise::op_table::{binary, unary};
use crate::error::Result;
use crate::ops::table::{binary_table, unary_table};
use castiron_macros::operations;

/// The example of an in-place form, by the rule of the result.
macro_rules! example_in_place {
    (mask $inplace:ident $operand:literal $arguments:literal $elements:literal) => {
        concat!(
            "assert!(AnyTensor::from(",
            $operand,
            ").",
            stringify!($inplace),
            "().is_err()); // bools are written over bools alone"
        )
    };
    (boolean $inplace:ident $operand:literal $arguments:literal $elements:literal) => {
        concat!(
            "let mut x = AnyTensor::from(",
            $operand,
            ");\nx.",
            stringify!($inplace),
            "(",
            $arguments,
            ")?; // 1 where it is true\n",
            "assert_eq!(x.to_string(), AnyTensor::from(tensor!",
            $elements,
            ").to(x.dtype())?.to_string());"
        )
    };
    ($result:ident $inplace:ident $operand:literal $arguments:literal $elements:literal) => {
        concat!(
            "let mut x = AnyTensor::from(",
            $operand,
            ");\nx.",
            stringify!($inplace),
            "(",
            $arguments,
            ")?;\n",
            "assert_eq!(x.to_string(), tensor!",
            $elements,
            ".to_string());"
        )
    };
}

macro_rules! unary_methods {
    ($($op:ident { [$try:ident $inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident, $doc:literal, $torch:literal, $operand:literal = $elements:literal $($rest:tt)* })*) => {
        impl AnyTensor {$(
            #[doc = $doc]
            ///
            #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), "). PyTorch: `", $torch, "`.")]
            ///
            /// # Errors
            /// If the operation does not admit the dtype, or memory runs out.
            #[castiron_macros::aliased]
            pub fn $op(&self) -> Result<AnyTensor> {
                self.run_unary(unary::$op)
            }

            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") in place. The result must be castable to the dtype.")]
            ///
            /// ```
            /// # use castiron::{AnyTensor, tensor};
            #[doc = example_in_place!($result $inplace $operand "" $elements)]
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn $inplace(&mut self) -> Result<&mut Self> {
                self.apply_in_place(unary::$op)
            }

            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") into an existing tensor of the same shape (`out=`).")]
            pub fn $into(&self, out: &mut AnyTensor) -> Result<()> {
                self.apply_into(unary::$op, out)
            }
        )*}
    };
}
unary_table!(unary_methods);

macro_rules! binary_methods {
    ($($op:ident { [$try:ident $inplace:ident $try_inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident $operands:ident, $doc:literal, $torch:literal, $operand:literal $other:literal = $elements:literal $($rest:tt)* })*) => {
        impl AnyTensor {$(
            #[doc = $doc]
            ///
            #[doc = concat!("As [`Tensor::", stringify!($op), "`](crate::Tensor::", stringify!($op), "). PyTorch: `", $torch, "`.")]
            ///
            /// # Errors
            /// If the operation does not admit the dtypes, shapes do not broadcast, a scalar does not fit, devices differ, or memory
            /// runs out.
            #[castiron_macros::aliased]
            pub fn $op(&self, other: impl Into<AnyOperand>) -> Result<AnyTensor> {
                combine_tensor(binary::$op, self, &other.into())
            }

            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") in place. The result must be castable to the dtype and have the shape of `self`.")]
            ///
            /// ```
            /// # use castiron::{AnyTensor, tensor};
            #[doc = example_in_place!($result $inplace $operand $other $elements)]
            /// # Ok::<(), castiron::Error>(())
            /// ```
            pub fn $inplace(&mut self, other: impl Into<AnyOperand>) -> Result<&mut Self> {
                self.combine_in_place(binary::$op, &other.into())
            }

            #[doc = concat!("[`", stringify!($op), "`](Self::", stringify!($op), ") into an existing tensor (`out=`).")]
            pub fn $into(&self, other: impl Into<AnyOperand>, out: &mut AnyTensor) -> Result<()> {
                self.combine_into(binary::$op, &other.into(), out)
            }
        )*}
    };
}
binary_table!(binary_methods);

/// Operators between tensors, and between tensors and scalars on either side.
macro_rules! operators {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl<R: Into<AnyOperand>> core::ops::$trait<R> for &AnyTensor {
            type Output = Result<AnyTensor>;
            fn $method(self, other: R) -> Result<AnyTensor> {
                combine_tensor(binary::$op, self, &other.into())
            }
        }
        impl<R: Into<AnyOperand>> core::ops::$trait<R> for AnyTensor {
            type Output = Result<AnyTensor>;
            fn $method(self, other: R) -> Result<AnyTensor> {
                combine_tensor(binary::$op, &self, &other.into())
            }
        }
        // One integer and one float type, so that the compiler can infer the type of `1 - &x`; others are `x.rsub(1_u8)`.
        operators!(@scalars $trait $method $op: i64, f64);
    )*};
    (@scalars $trait:ident $method:ident $op:ident: $($ty:ty),*) => {$(
        impl core::ops::$trait<&AnyTensor> for $ty {
            type Output = Result<AnyTensor>;
            fn $method(self, other: &AnyTensor) -> Result<AnyTensor> {
                combine(binary::$op, &self.into(), &other.into())
            }
        }
        impl core::ops::$trait<AnyTensor> for $ty {
            type Output = Result<AnyTensor>;
            fn $method(self, other: AnyTensor) -> Result<AnyTensor> {
                combine(binary::$op, &self.into(), &other.into())
            }
        }
    )*};
}
operators!(
    Add add add, Sub sub sub, Mul mul mul, Div div div, Rem rem remainder, BitAnd bitand bitwise_and, BitOr bitor bitwise_or,
    BitXor bitxor bitwise_xor, Shl shl bitwise_left_shift, Shr shr bitwise_right_shift
);

macro_rules! signs {
    ($($trait:ident $method:ident $op:ident),*) => {$(
        impl core::ops::$trait for &AnyTensor {
            type Output = Result<AnyTensor>;
            fn $method(self) -> Result<AnyTensor> {
                self.run_unary(unary::$op)
            }
        }
        impl core::ops::$trait for AnyTensor {
            type Output = Result<AnyTensor>;
            fn $method(self) -> Result<AnyTensor> {
                self.run_unary(unary::$op)
            }
        }
    )*};
}
signs!(Neg neg neg, Not not bitwise_not);

/// For `__radd__ = add any` it writes the operator with exchanged operands by name; `any` is the rule of admission.
macro_rules! reversed {
    ($($name:ident = $op:ident $admits:ident;)*) => {
        /// Operators with exchanged operands, by name.
        #[operations]
        impl AnyTensor {$(
            #[op($name(input, other), dtypes = $admits)]
            fn $name(&self, other: AnyOperand) -> Result<AnyTensor> {
                combine(binary::$op, &other, &self.into())
            }
        )*}
    };
}
reversed! {
    __radd__ = add any;
    __rsub__ = sub numeric;
    __rmul__ = mul any;
    __rdiv__ = div any;
    __rmod__ = remainder real;
    __rpow__ = pow numeric;
    __rand__ = bitwise_and bits;
    __ror__ = bitwise_or bits;
    __rxor__ = bitwise_xor bits;
}
