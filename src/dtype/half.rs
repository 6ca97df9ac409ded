//! Branch-free conversions of the half-precision floats, so that loops over them vectorise.
//!
//! The results are those of the `half` crate.

use super::shell::*;
use super::table::types_of;
use ::half::{bf16, f16};

/// A float whose conversions go through `f32`.
pub(super) trait SmallFloat: Copy {
    /// Whether NaN becomes the integer 0: in formats whose NaN has no sign.
    const NAN_IS_ZERO: bool = false;
    /// The same value as `f32`.
    fn widen(self) -> f32;
    /// Rounds to nearest, ties to even.
    fn narrow(value: f32) -> Self;
    /// The same, optimised for single numbers: it branches.
    #[inline(always)]
    fn narrow_alone(value: f32) -> Self {
        Self::narrow(value)
    }
    /// The same for a value that this type represents exactly.
    #[inline(always)]
    fn narrow_exact(value: f32) -> Self {
        Self::narrow(value)
    }
}

impl SmallFloat for bf16 {
    #[inline(always)]
    fn widen(self) -> f32 {
        f32::from_bits(u32::from(self.to_bits()) << 16)
    }

    #[inline(always)]
    fn narrow(value: f32) -> bf16 {
        let bits = value.to_bits();
        let rounded = (bits.wrapping_add(0x7fff + (bits >> 16 & 1))) >> 16;
        // A NaN keeps its sign and the upper bits of its payload.
        let nan = bits >> 16 | 0x40;
        bf16::from_bits(if value.is_nan() { nan } else { rounded } as u16)
    }

    #[inline(always)]
    fn narrow_alone(value: f32) -> bf16 {
        #[cold]
        #[inline(never)]
        fn nan(value: f32) -> bf16 {
            bf16::narrow(value)
        }
        if value.is_nan() {
            return nan(value);
        }
        let bits = value.to_bits();
        bf16::from_bits((bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16)
    }

    #[inline(always)]
    fn narrow_exact(value: f32) -> bf16 {
        bf16::from_bits((value.to_bits() >> 16) as u16)
    }
}

impl SmallFloat for f16 {
    /// Source: F. Giesen, "half_to_float_fast4" (public domain).
    #[inline(always)]
    fn widen(self) -> f32 {
        const EXPONENT: u32 = 0x7c00 << 13;
        let bits = u32::from(self.to_bits());
        let sign = (bits & 0x8000) << 16;
        let shifted = (bits & 0x7fff) << 13;
        let exponent = shifted & EXPONENT;
        let normal = shifted.wrapping_add((127 - 15) << 23);
        // Infinities and NaN have the largest exponent; denormals are normal in `f32`.
        let special = normal.wrapping_add((128 - 16) << 23);
        let denormal = f32::from_bits(normal.wrapping_add(1 << 23)) - f32::from_bits(113 << 23);
        let magnitude = if exponent == EXPONENT {
            special
        } else if exponent == 0 {
            denormal.to_bits()
        } else {
            normal
        };
        f32::from_bits(magnitude | sign)
    }

    /// Source: F. Giesen, "float_to_half_fast3_rtne" (public domain).
    #[inline(always)]
    fn narrow(value: f32) -> f16 {
        const INFINITY: u32 = 255 << 23;
        const TOO_LARGE: u32 = (127 + 16) << 23;
        const SMALLEST_NORMAL: u32 = 113 << 23;
        const DENORMAL: u32 = ((127 - 15) + (23 - 10) + 1) << 23;
        let bits = value.to_bits();
        let sign = bits >> 16 & 0x8000;
        let magnitude = bits & 0x7fff_ffff;
        let odd = magnitude >> 13 & 1;
        let normal = magnitude.wrapping_sub((127 - 15) << 23).wrapping_add(0xfff + odd) >> 13;
        // The addition rounds at the bit of the smallest denormal.
        let denormal = (f32::from_bits(magnitude) + f32::from_bits(DENORMAL)).to_bits().wrapping_sub(DENORMAL);
        let nan = 0x7e00 | (magnitude >> 13 & 0x3ff);
        let finite = if magnitude < SMALLEST_NORMAL { denormal } else { normal };
        let special = if magnitude > INFINITY { nan } else { 0x7c00 };
        f16::from_bits((if magnitude >= TOO_LARGE { special } else { finite } | sign) as u16)
    }
}

macro_rules! float8 {
    ($($ty:ty),*) => {$(
        impl SmallFloat for $ty {
            const NAN_IS_ZERO: bool = <$ty>::NAN_IS_UNSIGNED;
            #[inline(always)]
            fn widen(self) -> f32 {
                self.to_f32()
            }
            #[inline(always)]
            fn narrow(value: f32) -> $ty {
                <$ty>::from_f32(value)
            }
        }
    )*};
}
types_of!(float8s float8);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_half_widens_as_the_half_crate_widens_it() {
        for bits in 0..=u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert!(a.widen().to_bits() == a.to_f32().to_bits() || a.is_nan() && a.widen().is_nan(), "{bits:04x}");
            assert!(b.widen().to_bits() == b.to_f32().to_bits() || b.is_nan() && b.widen().is_nan(), "{bits:04x}");
        }
    }

    #[test]
    fn floats_narrow_as_the_half_crate_narrows_them() {
        // Every exponent and sign; values next to each half-precision value, halfway to the next one, and all kinds of NaN.
        let halves = (0..=u16::MAX).flat_map(|bits| [f16::from_bits(bits).to_f32(), bf16::from_bits(bits).to_f32()]);
        let around = halves.flat_map(|value| {
            [0, 1, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff]
                .map(|add: u32| value.to_bits().wrapping_add(add))
        });
        let spread = (0..=u32::MAX).step_by(65_521);
        for bits in around.chain(spread) {
            let value = f32::from_bits(bits);
            assert_eq!(f16::narrow(value).to_bits(), f16::from_f32(value).to_bits(), "{bits:08x}");
            assert_eq!(bf16::narrow(value).to_bits(), bf16::from_f32(value).to_bits(), "{bits:08x}");
            assert_eq!(bf16::narrow_alone(value).to_bits(), bf16::from_f32(value).to_bits(), "{bits:08x}");
        }
    }
}
