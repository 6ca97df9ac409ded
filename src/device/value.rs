//! A device as a value: `AnyDevice`, its parsing and printing; and `IntoDevice`, for arguments that name one.
//!
//! Source: `c10/core/Device.cpp`; `tests/oracle/device.json`.

use super::{Cpu, Cuda, Meta, cuda, current};
use crate::error::{Error, Result};
use core::fmt;
use core::str::FromStr;

/// Writes the enum, its names and the list of all variants.
macro_rules! device_types {
    ($($variant:ident $name:literal,)*) => {
        /// The type of a device: the part of its name before the colon.
        ///
        /// All of PyTorch's types can be parsed and printed. Tensors exist on `cpu`, `cuda` and `meta`; using another type is
        /// [`Error::DeviceUnavailable`]. (The variants are in capitals because `Cpu`, `Cuda` and `Meta` are the devices as types.)
        ///
        /// ```
        /// use castiron::device::DeviceType;
        /// assert_eq!("cuda".parse::<DeviceType>()?, DeviceType::CUDA);
        /// assert_eq!(DeviceType::META.to_string(), "meta");
        /// # Ok::<(), castiron::Error>(())
        /// ```
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DeviceType {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl DeviceType {
            /// Every type.
            pub const ALL: &'static [DeviceType] = &[$(DeviceType::$variant),*];

            /// PyTorch's name.
            pub const fn name(self) -> &'static str {
                match self { $(DeviceType::$variant => $name,)* }
            }
        }

        /// The expected types, for error messages.
        const EXPECTED: &str = concat!("expected one of `cpu`" $(, device_types!(@list $variant $name))*);
    };
    (@list CPU $name:literal) => { "" };
    (@list $variant:ident $name:literal) => { concat!(", `", $name, "`") };
}
device_types! {
    CPU "cpu", CUDA "cuda", IPU "ipu", XPU "xpu", MKLDNN "mkldnn", OPENGL "opengl", OPENCL "opencl", IDEEP "ideep",
    HIP "hip", VE "ve", FPGA "fpga", MAIA "maia", XLA "xla", LAZY "lazy", VULKAN "vulkan", MPS "mps", META "meta",
    HPU "hpu", MTIA "mtia", PRIVATEUSEONE "privateuseone",
}

fn invalid<T>(reason: String) -> Result<T> {
    Err(Error::InvalidArgument { op: "device", reason })
}

impl FromStr for DeviceType {
    type Err = Error;

    fn from_str(name: &str) -> Result<DeviceType> {
        match DeviceType::ALL.iter().find(|known| known.name() == name) {
            Some(known) => Ok(*known),
            None => invalid(format!("no device type is called `{name}`: {EXPECTED}")),
        }
    }
}

impl fmt::Display for DeviceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A device as a value (`torch.device`): a type and an optional ordinal.
///
/// It relates to [`Device`](crate::Device), the trait of devices as types, as `AnyTensor` does to [`Tensor`](crate::Tensor); generic code
/// uses the trait.
///
/// It parses and prints like PyTorch's. Making one does not check that the device is available: using it does ([`resolve`](Self::resolve)).
/// `cuda` without an ordinal means the current device at the time of use.
///
/// ```
/// use castiron::AnyDevice;
/// let gpu: AnyDevice = "cuda:1".parse()?;
/// assert_eq!((gpu.kind().name(), gpu.index()), ("cuda", Some(1)));
/// assert_eq!(gpu.to_string(), "cuda:1");
/// assert_eq!(format!("{gpu:?}"), "device(type='cuda', index=1)");
/// assert_eq!(AnyDevice::new(("cuda", 1))?, gpu);
/// assert_ne!(AnyDevice::new("cuda")?, gpu);
/// assert!(AnyDevice::new("gpu").is_err() && AnyDevice::new("cuda:1000").is_err());
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct AnyDevice {
    kind: DeviceType,
    index: Option<u8>,
}

/// The largest ordinal: PyTorch stores them as `int8_t`.
const LAST: u8 = i8::MAX as u8;

impl AnyDevice {
    /// The host.
    pub const CPU: AnyDevice = AnyDevice { kind: DeviceType::CPU, index: None };
    /// The device without data.
    pub const META: AnyDevice = AnyDevice { kind: DeviceType::META, index: None };

    /// A device from a string, an ordinal, both, or a typed device (`torch.device(…)`).
    ///
    /// # Errors
    /// If the string does not name a device, the ordinal is out of range, or only an ordinal is given and there is no accelerator.
    pub fn new(device: impl IntoDevice) -> Result<Self> {
        device.into_device()
    }

    /// The type (`torch.device.type`).
    pub const fn kind(self) -> DeviceType {
        self.kind
    }

    /// The ordinal, if given (`torch.device.index`).
    pub const fn index(self) -> Option<usize> {
        match self.index {
            Some(index) => Some(index as usize),
            None => None,
        }
    }

    /// The actual device for a tensor made on this one: there is one `cpu` and one `meta`, whatever the ordinal, and `cuda` without an
    /// ordinal is the [current device](crate::device::current_device).
    ///
    /// # Errors
    /// If the device is not available: the error says what to do.
    ///
    /// ```
    /// use castiron::AnyDevice;
    /// assert_eq!(AnyDevice::new("cpu:0")?.resolve()?, AnyDevice::CPU);
    /// let error = AnyDevice::new("mps")?.resolve().unwrap_err();
    /// assert_eq!(error.to_string(), "mps is not available: castiron makes tensors on `cpu`, `cuda` and `meta`");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn resolve(self) -> Result<Self> {
        match self.kind {
            DeviceType::CPU => Ok(AnyDevice::CPU),
            DeviceType::META => Ok(AnyDevice::META),
            DeviceType::CUDA => {
                let index = self.index.or_else(current::cuda_index);
                let device = AnyDevice { index, ..self };
                cuda::available(device)?;
                Ok(device)
            }
            _ => Err(Error::DeviceUnavailable {
                device: self.to_string(),
                reason: "castiron makes tensors on `cpu`, `cuda` and `meta`",
            }),
        }
    }

    /// Whether tensors can be made on it (`torch.cuda.is_available()` for `cuda`).
    ///
    /// ```
    /// use castiron::AnyDevice;
    /// assert!(AnyDevice::CPU.is_available());
    /// assert!(!AnyDevice::new("xla").unwrap().is_available());
    /// ```
    pub fn is_available(self) -> bool {
        self.resolve().is_ok()
    }

    /// A CUDA device by its ordinal.
    pub(super) const fn cuda(index: u8) -> Self {
        AnyDevice { kind: DeviceType::CUDA, index: Some(index) }
    }

    pub(super) const fn small_index(self) -> Option<u8> {
        self.index
    }

    fn numbered(kind: DeviceType, index: Option<i128>) -> Result<Self> {
        let Some(index) = index else { return Ok(AnyDevice { kind, index: None }) };
        match u8::try_from(index) {
            Ok(index @ 0..=LAST) => Ok(AnyDevice { kind, index: Some(index) }),
            _ => invalid(format!("ordinal {index} of `{kind}` is out of range: ordinals are 0 to {LAST}")),
        }
    }
}

/// `cpu`, `cuda:1`: like PyTorch's `str`.
impl fmt::Display for AnyDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            None => f.pad(self.kind.name()),
            Some(index) => f.pad(&format!("{}:{index}", self.kind)),
        }
    }
}

/// `device(type='cuda', index=1)`: like PyTorch's `repr`.
impl fmt::Debug for AnyDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.index {
            None => write!(f, "device(type='{}')", self.kind),
            Some(index) => write!(f, "device(type='{}', index={index})", self.kind),
        }
    }
}

impl FromStr for AnyDevice {
    type Err = Error;

    fn from_str(text: &str) -> Result<AnyDevice> {
        let malformed = |what: &str| {
            invalid(format!("`{text}` is not a device: {what}; devices are written `cpu`, `cuda`, `cuda:1`, `meta`"))
        };
        if text.is_empty() {
            return malformed("it is empty");
        }
        let (name, index) = match text.split_once(':') {
            Some((name, index)) => (name, Some(index)),
            None => (text, None),
        };
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_') {
            return malformed("a type, in letters, comes first");
        }
        let index = match index {
            None => None,
            Some(digits) if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) => {
                return malformed("an ordinal, in digits, follows the colon");
            }
            Some(digits) if digits.len() > 1 && digits.starts_with('0') => {
                return malformed("an ordinal has no zeros before it");
            }
            // Too many digits are out of range, too.
            Some(digits) => Some(digits.parse().unwrap_or(i128::MAX)),
        };
        AnyDevice::numbered(name.parse()?, index)
    }
}

impl TryFrom<&str> for AnyDevice {
    type Error = Error;

    fn try_from(text: &str) -> Result<AnyDevice> {
        text.parse()
    }
}

impl TryFrom<String> for AnyDevice {
    type Error = Error;

    fn try_from(text: String) -> Result<AnyDevice> {
        text.parse()
    }
}

impl From<Cpu> for AnyDevice {
    fn from(_: Cpu) -> AnyDevice {
        AnyDevice::CPU
    }
}

impl From<Meta> for AnyDevice {
    fn from(_: Meta) -> AnyDevice {
        AnyDevice::META
    }
}

/// A value that names a device: an [`AnyDevice`], a string, an ordinal (of the current accelerator), a type and an ordinal, or a device
/// type ([`Cpu`], [`Cuda<1>`](Cuda), [`Meta`]).
///
/// ```
/// use castiron::device::{AnyDevice, IntoDevice};
/// fn plan(device: impl IntoDevice) -> castiron::Result<AnyDevice> { device.into_device() }
/// assert_eq!(plan("meta")?, plan(castiron::Meta)?);
/// assert_eq!(plan(("cuda", 1))?, plan(castiron::Cuda::<1>)?);
/// // An ordinal alone refers to the accelerator, if there is one.
/// assert!(plan(0).map_or_else(|_| true, |device| device == "cuda:0".parse().unwrap()));
/// # Ok::<(), castiron::Error>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not name a device",
    label = "expected a string such as \"cuda:1\", an ordinal, `(\"cuda\", 1)`, `Cpu`, `Cuda<N>`, `Meta` or an `AnyDevice`"
)]
pub trait IntoDevice {
    /// The device, or what is wrong with its name.
    fn into_device(self) -> Result<AnyDevice>;
}

impl IntoDevice for AnyDevice {
    fn into_device(self) -> Result<AnyDevice> {
        Ok(self)
    }
}
impl IntoDevice for &AnyDevice {
    fn into_device(self) -> Result<AnyDevice> {
        Ok(*self)
    }
}
impl IntoDevice for DeviceType {
    fn into_device(self) -> Result<AnyDevice> {
        AnyDevice::numbered(self, None)
    }
}
impl IntoDevice for &str {
    fn into_device(self) -> Result<AnyDevice> {
        self.parse()
    }
}
impl IntoDevice for &String {
    fn into_device(self) -> Result<AnyDevice> {
        self.parse()
    }
}
impl IntoDevice for String {
    fn into_device(self) -> Result<AnyDevice> {
        self.parse()
    }
}
impl IntoDevice for Cpu {
    fn into_device(self) -> Result<AnyDevice> {
        Ok(AnyDevice::CPU)
    }
}
impl IntoDevice for Meta {
    fn into_device(self) -> Result<AnyDevice> {
        Ok(AnyDevice::META)
    }
}
impl<const N: usize> IntoDevice for Cuda<N> {
    fn into_device(self) -> Result<AnyDevice> {
        AnyDevice::numbered(DeviceType::CUDA, Some(N as i128))
    }
}

/// A device from the name of its type and an ordinal. A name that includes an ordinal is rejected.
fn named(name: &str, index: i128) -> Result<AnyDevice> {
    let device: AnyDevice = name.parse()?;
    if device.index.is_some() {
        return invalid(format!("`{name}` has an ordinal, and {index} is given beside it"));
    }
    AnyDevice::numbered(device.kind, Some(index))
}

/// The device of the current accelerator with this ordinal.
fn counted(index: i128) -> Result<AnyDevice> {
    let device = AnyDevice::numbered(DeviceType::CUDA, Some(index))?;
    current::expect_accelerator()?;
    Ok(device)
}

macro_rules! ordinals {
    ($($int:ty)*) => {$(
        impl IntoDevice for $int {
            fn into_device(self) -> Result<AnyDevice> {
                counted(self as i128)
            }
        }
        impl IntoDevice for (&str, $int) {
            fn into_device(self) -> Result<AnyDevice> {
                named(self.0, self.1 as i128)
            }
        }
        impl IntoDevice for (DeviceType, $int) {
            fn into_device(self) -> Result<AnyDevice> {
                AnyDevice::numbered(self.0, Some(self.1 as i128))
            }
        }
    )*};
}
impl<I> IntoDevice for (&str, Option<I>)
where
    for<'a> (&'a str, I): IntoDevice,
{
    fn into_device(self) -> Result<AnyDevice> {
        match self.1 {
            Some(index) => (self.0, index).into_device(),
            None => self.0.into_device(),
        }
    }
}

ordinals! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }
