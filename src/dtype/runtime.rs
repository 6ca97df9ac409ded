//! `DType`: a dtype as a value, with run-time versions of everything the types know.

use super::category::{self, Category, Marker};
use super::promote;
use super::shell::*;
use super::table::dtype_table;
use super::{Element, FloatInfo, IntInfo, ScalarValue};
use ::half::{bf16, f16};
use core::fmt;
use core::str::FromStr;
use num_complex::Complex;

macro_rules! dtype_enum {
    ($($variant:ident: $ty:ty, $name:literal [$($alias:literal),*], $category:ident, $signed:literal, $real:ty,
       $tier:ident, $doc:literal, $dlpack:tt, $stored:tt;)*) => {
        /// A dtype as a value.
        ///
        /// Parses and prints PyTorch's names, aliases included:
        /// ```
        /// use castiron::DType;
        /// let half: DType = "half".parse()?;
        /// assert_eq!(half, DType::F16);
        /// assert_eq!(half.to_string(), "float16");
        /// assert_eq!("torch.int64".parse::<DType>()?, DType::I64);
        /// assert_eq!(DType::I32.promote(DType::F16), Some(DType::F16));
        /// # Ok::<(), castiron::dtype::ParseDTypeError>(())
        /// ```
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum DType {
            $(#[doc = concat!("`", $name, "`: ", $doc)] $variant,)*
        }

        impl DType {
            /// Every dtype: the 13 that compute, then the shells.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];

            /// PyTorch's name, without `torch.`.
            pub const fn name(self) -> &'static str {
                match self { $(DType::$variant => $name,)* }
            }
            /// PyTorch's other names for it (`float` for `float32`).
            pub const fn aliases(self) -> &'static [&'static str] {
                match self { $(DType::$variant => &[$($alias),*],)* }
            }
            /// Bytes per element.
            pub const fn itemsize(self) -> usize {
                match self { $(DType::$variant => size_of::<$ty>(),)* }
            }
            /// boolean, integral, floating or complex.
            pub const fn category(self) -> Category {
                match self { $(DType::$variant => category::$category::CATEGORY,)* }
            }
            /// Whether it holds negative values (`float8_e8m0fnu` does not).
            pub const fn is_signed(self) -> bool {
                match self { $(DType::$variant => $signed,)* }
            }
            /// The component of a complex dtype, else itself.
            pub const fn to_real(self) -> DType {
                match self { $(DType::$variant => <$real as Element>::DTYPE,)* }
            }
            /// Whether it is a shell: storable and convertible, without arithmetic.
            pub const fn is_shell(self) -> bool {
                !matches!(self.tier(), Tier::Computing)
            }
            /// Whether it is one of the 8-bit floats.
            #[cfg(any(feature = "any", feature = "serde"))]
            pub(crate) const fn is_float8(self) -> bool {
                matches!(self.tier(), Tier::Float8)
            }
            const fn tier(self) -> Tier {
                match self { $(DType::$variant => Tier::$tier,)* }
            }
            /// Its code, bits and lanes in DLPack.
            #[cfg(feature = "dlpack")]
            pub(crate) const fn dlpack(self) -> (u8, u8, u16) {
                match self { $(DType::$variant => $dlpack,)* }
            }
        }
    };
}
/// What the elements are to operations: all but the first are shells.
enum Tier {
    Computing,
    ShellInteger,
    Float8,
    /// Several numbers in a byte, which are only moved.
    Packed,
}
dtype_table!(dtype_enum);

impl DType {
    /// Floating-point, including shells but not complex dtypes (`torch.is_floating_point`).
    pub const fn is_floating_point(self) -> bool {
        matches!(self.category(), Category::Floating)
    }

    /// `f16` or `bf16`, which compute in `f32`.
    pub(crate) const fn is_half(self) -> bool {
        matches!(self, DType::F16 | DType::BF16)
    }

    /// Complex (`torch.is_complex`).
    pub const fn is_complex(self) -> bool {
        matches!(self.category(), Category::Complex)
    }

    /// The complex dtype with components of this size; `None` for bools, integers and shells. `complex64` for `bfloat16`, which has no
    /// complex dtype of its own, as in PyTorch.
    pub const fn to_complex(self) -> Option<DType> {
        match self {
            DType::F16 | DType::C32 => Some(DType::C32),
            DType::BF16 | DType::F32 | DType::C64 => Some(DType::C64),
            DType::F64 | DType::C128 => Some(DType::C128),
            _ => None,
        }
    }

    /// `torch.promote_types`: the smallest dtype that holds both; `None` if either is a shell.
    pub const fn promote(self, other: DType) -> Option<DType> {
        promote::with(self, other)
    }

    /// The result dtype when an operand of this dtype outranks one of dtype `lower` (a tensor with axes outranks a zero-dim tensor, which
    /// outranks a scalar); `None` if either is a shell.
    pub const fn promote_over(self, lower: DType) -> Option<DType> {
        promote::over(self, lower)
    }

    /// `torch.can_cast`: whether a result of this dtype may be written to an output of dtype `to`.
    pub fn can_cast(self, to: DType) -> bool {
        self.category() <= to.category()
    }

    /// `torch.finfo`; `None` for bools and integers, and for `float4_e2m1fn_x2`, for which PyTorch has no limits. A complex dtype has the
    /// limits of its components.
    pub const fn finfo(self) -> Option<FloatInfo> {
        super::info::finfo(self)
    }

    /// `torch.iinfo`; `None` except for integers.
    pub const fn iinfo(self) -> Option<IntInfo> {
        super::info::iinfo(self)
    }

    /// The range of an integral dtype.
    pub(crate) const fn int_range(self) -> Option<(i128, i128)> {
        match self.iinfo() {
            Some(info) => Some((info.min, info.max)),
            None => None,
        }
    }

    /// The dtype a scalar of this value counts as in promotion.
    pub const fn of_scalar(value: ScalarValue) -> DType {
        value.dtype()
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Like PyTorch's `repr`: `torch.float32`.
impl fmt::Debug for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "torch.{}", self.name())
    }
}

/// The error for a string that is not a dtype name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseDTypeError {
    /// The given string.
    pub name: String,
}
impl fmt::Display for ParseDTypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.name;
        write!(
            f,
            "unknown dtype `{name}`: expected one of PyTorch's names, such as `float32`, `float`, `torch.int64` or `bool`"
        )
    }
}
impl core::error::Error for ParseDTypeError {}

impl FromStr for DType {
    type Err = ParseDTypeError;

    fn from_str(name: &str) -> Result<DType, ParseDTypeError> {
        let bare = name.strip_prefix("torch.").unwrap_or(name);
        DType::ALL
            .iter()
            .copied()
            .find(|dtype| dtype.name() == bare || dtype.aliases().contains(&bare))
            .ok_or_else(|| ParseDTypeError { name: name.to_owned() })
    }
}

#[cfg(feature = "serde")]
impl serde::Serialize for DType {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(feature = "serde")]
impl<'de> serde::Deserialize<'de> for DType {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<DType, D::Error> {
        struct Name;
        impl serde::de::Visitor<'_> for Name {
            type Value = DType;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a dtype, such as `float32`")
            }
            fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<DType, E> {
                name.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Name)
    }
}
