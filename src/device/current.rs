//! The devices used if none is given: the current CUDA device, and the default device of `AnyTensor`'s factories. Both are thread-local
//! settings.

use super::cuda;
use super::value::{AnyDevice, DeviceType, IntoDevice};
use crate::error::{Error, Result};
use crate::scoped::{self, Guard, Setting};
use core::cell::RefCell;

std::thread_local! {
    static CURRENT: RefCell<Setting<u8>> = Setting::new(0);
    static DEFAULT: RefCell<Setting<AnyDevice>> = Setting::new(AnyDevice::CPU);
}

/// Checks that there is an accelerator, for an ordinal without a type.
pub(super) fn expect_accelerator() -> Result<()> {
    cuda::available(AnyDevice::cuda(0)).map_err(|error| match error {
        Error::DeviceUnavailable { reason, .. } => {
            Error::DeviceUnavailable { device: "the accelerator that an ordinal counts".to_owned(), reason }
        }
        other => other,
    })
}

/// The ordinal of the current CUDA device.
pub(super) fn cuda_index() -> Option<u8> {
    scoped::get(&CURRENT)
}

/// The current CUDA device of this thread, which `cuda` without an ordinal refers to. The first one, unless changed by
/// [`set_current_device`] (`torch.accelerator.current_device_index`).
///
/// # Errors
/// If there is no CUDA device.
///
/// ```
/// match castiron::device::current_device() {
///     Ok(device) => assert_eq!(device.to_string(), "cuda:0"),
///     Err(error) => assert!(error.to_string().starts_with("cuda:0 is not available")), // without CUDA
/// }
/// ```
pub fn current_device() -> Result<AnyDevice> {
    let device = AnyDevice::cuda(cuda_index().unwrap_or(0));
    cuda::available(device)?;
    Ok(device)
}

/// The ordinal of a CUDA device to make current.
fn ordinal(device: impl IntoDevice) -> Result<u8> {
    let device = device.into_device()?;
    if device.kind() != DeviceType::CUDA {
        return Err(Error::InvalidArgument {
            op: "set_current_device",
            reason: format!("`{device}` is not an accelerator: the current device is one of `cuda`"),
        });
    }
    Ok(device.resolve()?.small_index().unwrap_or(0))
}

/// Makes a CUDA device the current one of this thread (`torch.cuda.set_device`). Inside the scope of a [`scoped_current_device`], the
/// setting lasts until the scope ends.
///
/// # Errors
/// If the device is not available or not a CUDA device; the setting is unchanged then.
///
/// ```
/// use castiron::device::set_current_device;
/// assert!(set_current_device("cuda:63").is_err()); // with fewer GPUs, or without CUDA
/// assert!(set_current_device("cpu").is_err());
/// ```
pub fn set_current_device(device: impl IntoDevice) -> Result<()> {
    scoped::set(&CURRENT, ordinal(device)?);
    Ok(())
}

/// Makes a CUDA device the current one of this thread for the lifetime of the guard (`with torch.cuda.device(…)`).
///
/// # Errors
/// As [`set_current_device`].
pub fn scoped_current_device(device: impl IntoDevice) -> Result<CurrentDeviceGuard> {
    Ok(CurrentDeviceGuard { _guard: Guard::new(&CURRENT, ordinal(device)?) })
}

/// The device of this thread on which `AnyTensor`'s factories make tensors if none is given: `cpu`, unless changed by
/// [`set_default_device`] (`torch.get_default_device`). The device of a [`Tensor`](crate::Tensor) is part of its type and not affected.
///
/// ```
/// use castiron::AnyDevice;
/// use castiron::device::{default_device, scoped_default_device};
/// assert_eq!(default_device(), AnyDevice::CPU);
/// {
///     let _planning = scoped_default_device("meta")?;
///     assert_eq!(default_device(), AnyDevice::META);
/// }
/// assert_eq!(default_device(), AnyDevice::CPU);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn default_device() -> AnyDevice {
    scoped::get(&DEFAULT).unwrap_or(AnyDevice::CPU)
}

/// Sets the default device of this thread (`torch.set_default_device`). Its availability is checked when a tensor is made. Inside the scope
/// of a [`scoped_default_device`], the setting lasts until the scope ends.
///
/// # Errors
/// If the argument does not name a device; the setting is unchanged then.
pub fn set_default_device(device: impl IntoDevice) -> Result<()> {
    scoped::set(&DEFAULT, device.into_device()?);
    Ok(())
}

/// Sets the default device of this thread for the lifetime of the guard (`with torch.device(…)`).
///
/// # Errors
/// If the argument does not name a device.
pub fn scoped_default_device(device: impl IntoDevice) -> Result<DefaultDeviceGuard> {
    Ok(DefaultDeviceGuard { _guard: Guard::new(&DEFAULT, device.into_device()?) })
}

/// Ends the scope of [`scoped_current_device`] when it is dropped, also during a panic. If several guards are alive, the one created last
/// decides, in whatever order they are dropped. Not `Send`.
#[derive(Debug)]
#[must_use = "the scope ends when the guard is dropped"]
pub struct CurrentDeviceGuard {
    _guard: Guard<u8>,
}

/// Ends the scope of [`scoped_default_device`] when it is dropped, also during a panic. If several guards are alive, the one created last
/// decides, in whatever order they are dropped. Not `Send`.
#[derive(Debug)]
#[must_use = "the scope ends when the guard is dropped"]
pub struct DefaultDeviceGuard {
    _guard: Guard<AnyDevice>,
}
