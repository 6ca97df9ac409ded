//! Methods of `AnyViewMut` that `AnyTensor` has, too: the in-place operations, from the tables of `ops`, and those that read without a
//! copy.

use crate::any::base::operand::AnyOperand;
use crate::any::{AnyTensor, AnyViewMut};
use crate::device::AnyDevice;
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::ops::table::{binary_table, tuned_table, unary_table};

/// For `add_` it writes `add_`, which calls that of the tensor on the borrowed elements.
macro_rules! in_place {
    ($($inplace:ident ($($arg:ident: $ty:ty),*);)*) => {
        /// In-place operations.
        impl AnyViewMut<'_> {$(
            #[doc = concat!("As [`AnyTensor::", stringify!($inplace), "`](crate::AnyTensor::", stringify!($inplace), "), where the elements are.")]
            ///
            /// # Errors
            /// As there; nothing is written then.
            pub fn $inplace(&mut self $(, $arg: $ty)*) -> Result<&mut Self> {
                self.tensor.$inplace($($arg),*)?;
                Ok(self)
            }
        )*}
    };
}
in_place! {
    copy_from(from: &AnyTensor);
    fill_(value: impl Scalar);
}
macro_rules! unary_in_place {
    ($($op:ident { [$try:ident $inplace:ident $into:ident $try_into:ident] $($rest:tt)* })*) => {
        in_place! { $($inplace();)* }
    };
}
unary_table!(unary_in_place);
macro_rules! binary_in_place {
    ($($op:ident { [$try:ident $inplace:ident $try_inplace:ident $into:ident $try_into:ident] $($rest:tt)* })*) => {
        in_place! { $($inplace(other: impl Into<AnyOperand>);)* }
    };
}
binary_table!(binary_in_place);
macro_rules! tuned_in_place {
    ($($op:ident { [$try:ident $inplace:ident $try_inplace:ident $into:ident $try_into:ident] $admits:ident $result:ident ($($name:ident: $ty:ty),*) $($rest:tt)* })*) => {
        in_place! { $($inplace($($name: $ty),*);)* }
    };
}
tuned_table!(tuned_in_place);

/// Methods that read without a copy, as those of [`AnyTensor`].
macro_rules! reads {
    ($($name:ident() -> $ty:ty;)*) => {
        /// Attributes and views of the borrowed elements.
        impl AnyViewMut<'_> {$(
            #[doc = concat!("As [`AnyTensor::", stringify!($name), "`](crate::AnyTensor::", stringify!($name), ").")]
            pub fn $name(&self) -> $ty {
                self.tensor.$name()
            }
        )*}
    };
}
reads! {
    dtype() -> DType;
    shape() -> &[usize];
    stride() -> &[usize];
    storage_offset() -> usize;
    rank() -> usize;
    numel() -> usize;
    is_empty() -> bool;
    device() -> AnyDevice;
    is_contiguous() -> bool;
    item() -> Result<ScalarValue>;
    to_scalars() -> Result<Vec<ScalarValue>>;
    to_bytes() -> Result<Vec<u8>>;
}
