//! The output dtypes that a result may be written to, where that is not every dtype it can be cast to: bounds with their messages.
//!
//! `result.rs` assigns them to the rules of results.

use crate::dtype::{Complex, Dtype, bf16, f16, is};
use crate::sealed::Sealed;

/// A result of dtype `Self` may be written to an output of dtype `To`: only of the same dtype.
#[diagnostic::on_unimplemented(
    message = "the result `{Self}` is not converted to the desired output type `{To}`",
    label = "the output must hold `{Self}`",
    note = "this operation writes its own dtype only; cast the operands first, or use `copy_from`"
)]
pub trait Precisely<To>: Sealed {}
impl<E: Dtype> Precisely<E> for E {}
// A second impl, so that rustc reports the message above instead of unifying the types.
#[diagnostic::do_not_recommend]
impl<E: Dtype> Precisely<crate::shape::Never> for E {}

/// A result of `Op` and dtype `Self` may be written to an output of dtype `To`: only of the same dtype (PyTorch's operations that keep the
/// dtype do not cast their output either).
#[diagnostic::on_unimplemented(
    message = "`{Op}` writes its own dtype `{Self}`, not `{To}`",
    label = "the output must hold `{Self}`",
    note = "operations that leave the dtype as it is do not cast their output; cast the operand first, or use `copy_from`"
)]
pub trait ExactlyFor<To, Op>: Sealed {}
impl<E: Dtype, Op> ExactlyFor<E, Op> for E {}
// A second impl, so that rustc reports the message above instead of unifying the types.
#[diagnostic::do_not_recommend]
impl<E: Dtype, Op> ExactlyFor<crate::shape::Never, Op> for E {}

/// The absolute value of `Self` may be written to an output of dtype `To`: the same dtype for real elements; for complex ones any floating
/// dtype, or their own.
#[diagnostic::on_unimplemented(
    message = "the absolute value of `{Self}` can't be written into a tensor of `{To}`",
    label = "the output must hold the dtype of the result",
    note = "for real dtypes that is `{Self}` itself, for complex ones any floating-point dtype"
)]
pub trait AbsInto<To>: Sealed {}
macro_rules! abs_into {
    ($($real:ty),*; $($part:ty),*) => {
        $(impl AbsInto<$real> for $real {})*
        $(
            impl<To: is::Float> AbsInto<To> for Complex<$part> {}
            impl AbsInto<Complex<$part>> for Complex<$part> {}
        )*
    };
}
abs_into!(bool, u8, i8, i16, i32, i64, f16, bf16, f32, f64; f16, f32, f64);
