//! The 8-bit and 4-bit floats. They are *shells*: storable and convertible, without arithmetic.
//!
//! Encodings are bit-exact with PyTorch 2.13 (`tests/oracle/values.json`, f8_decode and f8_encode), which no float8 crate is: `e4m3fn`
//! saturates, `e5m2` overflows to infinity, the `fnuz` formats overflow to NaN, and `e8m0fnu` has only an exponent.

#[cfg(feature = "serde")]
use super::table::types_of;
#[cfg(feature = "serde")]
use super::{DType, Element};
use core::fmt;

/// The parameters of a sign-exponent-mantissa format.
struct FloatFormat {
    mantissa_bits: u32,
    bias: i32,
    /// The code (without sign) of the largest finite value.
    largest: u8,
    /// The codes (without sign) of overflow and of NaN.
    overflow: u8,
    nan: u8,
    /// `fnuz`: no negative zero; the code `0x80` is the only NaN, which has no sign.
    unsigned_zero: bool,
    /// The code (without sign) of infinity, if there is one.
    infinity: Option<u8>,
}

impl FloatFormat {
    const fn limits(&self) -> (i32, i32, i32, i32) {
        let mantissa = self.mantissa_bits as i32;
        let (exponent, significand) = (self.largest as i32 >> mantissa, self.largest as i32 & ((1 << mantissa) - 1));
        (mantissa, 1 - self.bias, exponent - self.bias, (1 << mantissa) - 1 - significand)
    }
    const fn decode(&self, code: u8) -> f32 {
        let magnitude = code & 0x7f;
        let sign = if code & 0x80 != 0 { -1.0 } else { 1.0 };
        if self.unsigned_zero {
            if code == self.nan {
                return f32::NAN;
            }
        } else if let Some(infinity) = self.infinity {
            if magnitude == infinity {
                return sign * f32::INFINITY;
            }
            if magnitude > infinity {
                return f32::NAN;
            }
        } else if magnitude > self.largest {
            return f32::NAN;
        }
        let exponent = (magnitude >> self.mantissa_bits) as i32;
        let mantissa = (magnitude & ((1 << self.mantissa_bits) - 1)) as i32;
        // value = mantissa x 2^scale, exactly; subnormals have no hidden bit, and the exponent of the smallest normal.
        let (mantissa, exponent) =
            if exponent == 0 { (mantissa, 1) } else { (mantissa + (1 << self.mantissa_bits), exponent) };
        let scale = exponent - self.bias - self.mantissa_bits as i32;
        sign * mantissa as f32 * f32::from_bits(((127 + scale) as u32) << 23)
    }

    /// Rounds to nearest, ties to even.
    const fn encode(&self, value: f32) -> u8 {
        let bits = value.to_bits();
        let sign = (bits >> 24) as u8 & 0x80;
        let magnitude = bits & 0x7fff_ffff;
        if magnitude > 0x7f80_0000 {
            return if self.unsigned_zero { self.nan } else { sign | self.nan };
        }
        let exponent = (magnitude >> 23) as i32 - 127 + self.bias;
        // The 24-bit significand, and how many of its bits are rounded off; more for subnormals.
        let significand = if magnitude >> 23 == 0 { magnitude } else { (magnitude & 0x7f_ffff) | 0x80_0000 };
        let mut drop = 23 - self.mantissa_bits;
        let mut base = 0;
        if exponent <= 0 {
            drop += (1 - exponent) as u32;
        } else {
            base = (exponent as u32 - 1) << self.mantissa_bits;
        }
        let code = if drop > 25 {
            0
        } else {
            let half = 1_u32 << (drop - 1);
            let odd = (significand >> drop) & 1;
            base + ((significand + half - 1 + odd) >> drop)
        };
        let code = if code > self.largest as u32 { self.overflow } else { code as u8 };
        if self.unsigned_zero && (code == 0 || code == self.nan) { code } else { sign | code }
    }
}

/// One newtype per format, with the same methods.
macro_rules! float8 {
    ($($(#[$doc:meta])* $name:ident = $format:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// Compares by value, as in PyTorch: NaN is not equal to itself. Conversion to `f32` is exact, conversion from `f32` rounds to
        /// nearest even.
        #[derive(Clone, Copy, Default)]
        #[repr(transparent)]
        pub struct $name(u8);

        impl $name {
            const FORMAT: FloatFormat = $format;
            /// Whether NaN has no sign.
            pub(super) const NAN_IS_UNSIGNED: bool = Self::FORMAT.unsigned_zero;
            /// As `finfo` has it: mantissa bits, exponents of the smallest normal and of the largest value, and how many of the largest
            /// significands are NaN.
            pub(super) const LIMITS: (i32, i32, i32, i32) = Self::FORMAT.limits();

            /// The value with this code.
            pub const fn from_bits(code: u8) -> Self {
                Self(code)
            }
            /// The code.
            pub const fn to_bits(self) -> u8 {
                self.0
            }
            /// Rounds to the nearest value.
            pub const fn from_f32(value: f32) -> Self {
                Self(Self::FORMAT.encode(value))
            }
            /// The value, exactly.
            pub const fn to_f32(self) -> f32 {
                Self::FORMAT.decode(self.0)
            }
        }
        float8!(@common $name);
    )*};
    (@common $name:ident) => {
        impl PartialEq for $name {
            fn eq(&self, other: &Self) -> bool {
                self.to_f32() == other.to_f32()
            }
        }
        impl PartialOrd for $name {
            fn partial_cmp(&self, other: &Self) -> Option<core::cmp::Ordering> {
                self.to_f32().partial_cmp(&other.to_f32())
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.to_f32(), f)
            }
        }
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.to_f32(), f)
            }
        }
    };
}

float8! {
    /// `torch.float8_e4m3fn`: S-E-M 1-4-3, no infinity. Values beyond ±448 saturate, including infinities.
    F8E4M3FN = FloatFormat {
        mantissa_bits: 3, bias: 7, largest: 0x7e, overflow: 0x7e, nan: 0x7f, unsigned_zero: false, infinity: None,
    };
    /// `torch.float8_e4m3fnuz`: S-E-M 1-4-3, no infinity, no negative zero. Values beyond ±240 become NaN.
    F8E4M3FNUZ = FloatFormat {
        mantissa_bits: 3, bias: 8, largest: 0x7f, overflow: 0x80, nan: 0x80, unsigned_zero: true, infinity: None,
    };
    /// `torch.float8_e5m2`: S-E-M 1-5-2, IEEE-like. Values beyond ±57344 become infinite.
    F8E5M2 = FloatFormat {
        mantissa_bits: 2, bias: 15, largest: 0x7b, overflow: 0x7c, nan: 0x7f, unsigned_zero: false, infinity: Some(0x7c),
    };
    /// `torch.float8_e5m2fnuz`: S-E-M 1-5-2, no infinity, no negative zero. Values beyond ±57344 become NaN.
    F8E5M2FNUZ = FloatFormat {
        mantissa_bits: 2, bias: 16, largest: 0x7f, overflow: 0x80, nan: 0x80, unsigned_zero: true, infinity: None,
    };
}

/// `torch.float8_e8m0fnu`: eight exponent bits and nothing else, a power of two from 2^-127 to 2^127 (the scales of the OCP microscaling
/// formats). The sign is dropped, zero becomes 2^-127, infinities and NaN become NaN; ties between two powers round up.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
pub struct F8E8M0FNU(u8);

impl F8E8M0FNU {
    pub(super) const NAN_IS_UNSIGNED: bool = true;
    pub(super) const LIMITS: (i32, i32, i32, i32) = (0, -127, 127, 0);
    /// The value with this code.
    pub const fn from_bits(code: u8) -> Self {
        Self(code)
    }
    /// The code.
    pub const fn to_bits(self) -> u8 {
        self.0
    }
    /// Rounds the magnitude to the nearest power of two.
    pub const fn from_f32(value: f32) -> Self {
        let bits = value.to_bits();
        let exponent = ((bits >> 23) & 0xff) as u8;
        if exponent == 0xff {
            return Self(0xff);
        }
        // Decided by the guard, round and sticky bits; a subnormal below 2^-127 + 2^-128 keeps code 0.
        let guard = bits & 0x40_0000 != 0;
        let round = bits & 0x20_0000 != 0;
        let sticky = bits & 0x1f_ffff != 0;
        let up = guard && (exponent > 0 || round || sticky);
        Self(exponent + up as u8)
    }
    /// The value, exactly.
    pub const fn to_f32(self) -> f32 {
        match self.0 {
            0 => f32::from_bits(0x40_0000),
            0xff => f32::NAN,
            exponent => f32::from_bits((exponent as u32) << 23),
        }
    }
}
float8!(@common F8E8M0FNU);

/// `torch.float4_e2m1fn_x2`: two 4-bit floats packed in a byte, S-E-M 1-2-1. One element is one byte; it can be created, copied, viewed and
/// compared, and converts only to itself.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct F4E2M1FNX2(u8);

impl F4E2M1FNX2 {
    /// The pair with this code, the first value in the low half.
    pub const fn from_bits(code: u8) -> Self {
        Self(code)
    }
    /// The code.
    pub const fn to_bits(self) -> u8 {
        self.0
    }
    /// The two values, low half first.
    pub const fn to_f32_pair(self) -> [f32; 2] {
        const VALUES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        const fn half(code: u8) -> f32 {
            let magnitude = VALUES[(code & 7) as usize];
            if code & 8 != 0 { -magnitude } else { magnitude }
        }
        [half(self.0 & 0xf), half(self.0 >> 4)]
    }
}

impl fmt::Debug for F4E2M1FNX2 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.to_f32_pair(), f)
    }
}

/// Rounds a number to an 8-bit float of a dtype, and gives its code; `None` for other dtypes.
#[cfg(feature = "serde")]
pub(crate) fn float8(dtype: DType, value: f32) -> Option<u8> {
    macro_rules! codes {
        ($($ty:ty),*) => { [$((<$ty as Element>::DTYPE, <$ty>::from_f32(value).to_bits())),*] };
    }
    let codes = types_of!(float8s codes);
    codes.iter().find(|(of, _)| *of == dtype).map(|(_, code)| *code)
}

/// PyTorch's names.
#[allow(non_camel_case_types)]
pub(super) mod aliases {
    use super::*;
    macro_rules! aliases {
        ($($name:ident = $ty:ty;)*) => {$(
            #[doc = concat!("`torch.", stringify!($name), "`")]
            pub type $name = $ty;
        )*};
    }
    aliases! {
        float8_e4m3fn = F8E4M3FN;
        float8_e4m3fnuz = F8E4M3FNUZ;
        float8_e5m2 = F8E5M2;
        float8_e5m2fnuz = F8E5M2FNUZ;
        float8_e8m0fnu = F8E8M0FNU;
        float4_e2m1fn_x2 = F4E2M1FNX2;
    }
}
