//! The default dtype: that of floating-point scalars, and of floating-point results of integers. A thread-local setting that is read where
//! dtypes are chosen at run time; typed tensors have `f32`.
//!
//! Source: PyTorch, `torch.set_default_dtype`; `tests/oracle/dtypes.json`, set_default_dtype.

use super::DType;
use crate::error::{Error, Result};
use crate::scoped::{self, Guard, Setting};
use core::cell::RefCell;

std::thread_local! {
    static DEFAULT: RefCell<Setting<DType>> = Setting::new(DType::F32);
}

/// The default dtype of this thread: `float32`, unless changed by [`set_default_dtype`] (`torch.get_default_dtype`).
/// It applies where dtypes are chosen at run time: [`result_type`](super::result_type) and `AnyTensor`. The dtype of a
/// [`Tensor`](crate::Tensor) is part of its type, where the default is always `f32`.
///
/// ```
/// use castiron::dtype::{default_dtype, result_type, scoped_default_dtype};
/// use castiron::{tensor, DType};
/// assert_eq!(result_type(&tensor![1, 2], 0.5)?, DType::F32);
/// {
///     let _double = scoped_default_dtype(DType::F64)?;
///     assert_eq!(default_dtype(), DType::F64);
///     assert_eq!(result_type(&tensor![1, 2], 0.5)?, DType::F64);
/// }
/// assert_eq!(default_dtype(), DType::F32);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn default_dtype() -> DType {
    scoped::get(&DEFAULT).unwrap_or(DType::F32)
}

/// The complex dtype of complex scalars, with the precision of the [default dtype](default_dtype). (`complex64` for `bfloat16`.)
pub fn default_complex_dtype() -> DType {
    // The default dtype is one of four floats, each of which has a complex dtype.
    default_dtype().to_complex().unwrap_or(DType::C64)
}

/// A dtype that can be the default.
fn admitted(dtype: DType) -> Result<DType> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::F64 => Ok(dtype),
        _ => Err(Error::InvalidArgument {
            op: "set_default_dtype",
            reason: format!("{dtype} can't be the default dtype: it is one of float16, bfloat16, float32 and float64"),
        }),
    }
}

/// Sets the default dtype of this thread (`torch.set_default_dtype`). Inside the scope of a [`scoped_default_dtype`], the setting lasts
/// until the scope ends.
///
/// # Errors
/// If the dtype is not `float16`, `bfloat16`, `float32` or `float64`; the setting is unchanged then.
pub fn set_default_dtype(dtype: DType) -> Result<()> {
    scoped::set(&DEFAULT, admitted(dtype)?);
    Ok(())
}

/// Sets the default dtype of this thread for the lifetime of the guard.
///
/// # Errors
/// As [`set_default_dtype`].
pub fn scoped_default_dtype(dtype: DType) -> Result<DefaultDTypeGuard> {
    Ok(DefaultDTypeGuard { _guard: Guard::new(&DEFAULT, admitted(dtype)?) })
}

/// Ends the scope of [`scoped_default_dtype`] when it is dropped, also during a panic. If several guards are alive, the one created last
/// decides, in whatever order they are dropped. Not `Send`.
#[derive(Debug)]
#[must_use = "the scope ends when the guard is dropped"]
pub struct DefaultDTypeGuard {
    _guard: Guard<DType>,
}
