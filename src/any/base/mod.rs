//! What every `AnyTensor` operation uses: sizes, operands, dtype dispatch, conversion, the way to typed tensors and back.

pub(crate) mod as_typed;
pub(crate) mod by_width;
pub(crate) mod composite;
pub(crate) mod conjugate_bit;
pub(crate) mod convert;
pub(crate) mod copies;
pub(crate) mod dispatch;
pub(crate) mod fill;
#[cfg(feature = "grad")]
mod learned;
pub(crate) mod operand;
mod print;
pub(crate) mod sizes;
pub(crate) mod storage;

rows_of!(conjugate_bit, convert[CONVERSIONS OPERATIONS], copies, fill);
