//! Dot products by AVX2, AVX-512 and AMX instructions.

use super::{Dot, TileArgs, VectorDot, tile_of};
use crate::dtype::bf16;
use core::arch::x86_64::*;
use core::mem::transmute;

/// Whether the machine has all of these features; detected once.
macro_rules! has {
    ($($feature:tt)*) => { true $(&& std::arch::is_x86_feature_detected!($feature))* };
}

/// Writes a [`Dot`]: its types, how vectors are made, loaded and stored, and the instruction.
macro_rules! instructions {
    ($($(#[$doc:meta])* $name:ident [$features:literal: $($feature:tt)*] $left:ty, $right:ty as $group:ty => [$sum:ty; $lanes:literal * $vectors:literal],
       sums $sums:ty { $zero:expr; |$from:ident| $load:expr; |$stored:ident, $to:ident| $store:expr }
       spread $spread:ty { |$group_:ident| $one:expr }
       groups $groups:ty { |$place:ident| $each:expr }
       dot { |$s:ident, $a:ident, $b:ident| $dot:expr })*) => {$(
        $(#[$doc])*
        pub(in crate::cpu) struct $name;
        impl $name {
            pub(in crate::cpu) fn is_there() -> bool {
                has!($($feature)*)
            }
        }
        impl Dot for $name {
            type Group = $group;
            type Left = $left;
            type Right = $right;
            type Sum = $sum;
            const LANES: usize = $lanes;
            const VECTORS: usize = $vectors;
            #[cfg_attr(not(feature = "precompiled"), inline)]
            unsafe fn tile(vectors: usize, tile: TileArgs<$group, $sum>) {
                #[cfg_attr(not(feature = "precompiled"), inline)]
                #[target_feature(enable = $features)]
                unsafe fn enabled(vectors: usize, tile: TileArgs<$group, $sum>) {
                    // SAFETY: the caller's promise.
                    unsafe { tile_of::<$name>(vectors, tile) }
                }
                // SAFETY: the caller's promise.
                unsafe { enabled(vectors, tile) }
            }
        }
        impl VectorDot for $name {
            type Sums = $sums;
            type Spread = $spread;
            type Groups = $groups;
            #[inline(always)]
            unsafe fn zero() -> $sums {
                // SAFETY: the caller's promise: the machine has the instructions.
                unsafe { $zero }
            }
            #[inline(always)]
            unsafe fn load($from: *const $sum) -> $sums {
                // SAFETY: as above; the pointer has a vector of sums.
                unsafe { $load }
            }
            #[inline(always)]
            unsafe fn store($stored: $sums, $to: *mut $sum) {
                // SAFETY: as above.
                unsafe { $store }
            }
            #[inline(always)]
            unsafe fn spread($group_: $group) -> $spread {
                // SAFETY: as above; any bits are a valid vector.
                unsafe { $one }
            }
            #[inline(always)]
            unsafe fn groups($place: *const $group) -> $groups {
                // SAFETY: as above; the pointer has a vector of groups.
                unsafe { $each }
            }
            #[inline(always)]
            unsafe fn dot($s: $sums, $a: $spread, $b: $groups) -> $sums {
                // SAFETY: as above.
                unsafe { $dot }
            }
        }
    )*};
}

/// The instructions of AVX2.
pub(in crate::cpu) mod avx2 {
    use super::*;
    instructions! {
        /// Pairs of 16-bit integers, in 32 bits.
        Shorts ["avx2": "avx2"] i16, i16 as u32 => [i32; 8 * 2],
            sums __m256i { _mm256_setzero_si256(); |from| _mm256_loadu_si256(from.cast()); |sums, to| _mm256_storeu_si256(to.cast(), sums) }
            spread __m256i { |group| _mm256_set1_epi32(group.cast_signed()) }
            groups __m256i { |place| _mm256_loadu_si256(place.cast()) }
            dot { |sums, a, b| _mm256_add_epi32(sums, _mm256_madd_epi16(a, b)) }
        /// 32-bit integers.
        Words ["avx2": "avx2"] i32, i32 as u32 => [i32; 8 * 2],
            sums __m256i { _mm256_setzero_si256(); |from| _mm256_loadu_si256(from.cast()); |sums, to| _mm256_storeu_si256(to.cast(), sums) }
            spread __m256i { |group| _mm256_set1_epi32(group.cast_signed()) }
            groups __m256i { |place| _mm256_loadu_si256(place.cast()) }
            dot { |sums, a, b| _mm256_add_epi32(sums, _mm256_mullo_epi32(a, b)) }
        /// 64-bit integers: low products and cross products are accumulated separately and combined at the end.
        Longs ["avx2": "avx2"] i64, i64 as u64 => [i64; 4 * 1],
            sums [__m256i; 2] {
                [_mm256_setzero_si256(); 2];
                |from| [_mm256_loadu_si256(from.cast()), _mm256_setzero_si256()];
                |sums, to| {
                    let crossed = _mm256_add_epi32(sums[1], _mm256_srli_epi64::<32>(sums[1]));
                    _mm256_storeu_si256(to.cast(), _mm256_add_epi64(sums[0], _mm256_slli_epi64::<32>(crossed)))
                }
            }
            spread __m256i { |group| _mm256_set1_epi64x(group.cast_signed()) }
            groups [__m256i; 2] { |place| {
                let whole = _mm256_loadu_si256(place.cast());
                [whole, _mm256_shuffle_epi32::<0b10_11_00_01>(whole)]
            } }
            dot { |sums, a, b| [
                _mm256_add_epi64(sums[0], _mm256_mul_epu32(a, b[0])),
                _mm256_add_epi32(sums[1], _mm256_mullo_epi32(a, b[1])),
            ] }
    }
}

/// The instructions of AVX-512.
pub(in crate::cpu) mod avx512 {
    use super::*;
    instructions! {
        /// Pairs of `bf16`: the second terms' product is added first, then the first terms', each sum rounded to nearest regardless of the
        /// rounding mode. Denormal inputs and outputs are flushed to zero.
        Halves ["avx512f,avx512bf16": "avx512f" "avx512bf16"] bf16, bf16 as u32 => [f32; 16 * 4],
            sums __m512 { _mm512_setzero_ps(); |from| _mm512_loadu_ps(from); |sums, to| _mm512_storeu_ps(to, sums) }
            spread __m512bh { |group| transmute::<__m512i, __m512bh>(_mm512_set1_epi32(group.cast_signed())) }
            groups __m512bh { |place| transmute::<__m512i, __m512bh>(_mm512_loadu_si512(place.cast())) }
            dot { |sums, a, b| _mm512_dpbf16_ps(sums, a, b) }
        /// Four unsigned bytes times four signed ones, accumulated in 32 bits.
        Bytes ["avx512f,avx512vnni": "avx512f" "avx512vnni"] u8, i8 as u32 => [i32; 16 * 4],
            sums __m512i { _mm512_setzero_si512(); |from| _mm512_loadu_si512(from.cast()); |sums, to| _mm512_storeu_si512(to.cast(), sums) }
            spread __m512i { |group| _mm512_set1_epi32(group.cast_signed()) }
            groups __m512i { |place| _mm512_loadu_si512(place.cast()) }
            dot { |sums, a, b| _mm512_dpbusd_epi32(sums, a, b) }
        /// Pairs of 16-bit integers, in 32 bits.
        Shorts ["avx512f,avx512vnni": "avx512f" "avx512vnni"] i16, i16 as u32 => [i32; 16 * 4],
            sums __m512i { _mm512_setzero_si512(); |from| _mm512_loadu_si512(from.cast()); |sums, to| _mm512_storeu_si512(to.cast(), sums) }
            spread __m512i { |group| _mm512_set1_epi32(group.cast_signed()) }
            groups __m512i { |place| _mm512_loadu_si512(place.cast()) }
            dot { |sums, a, b| _mm512_dpwssd_epi32(sums, a, b) }
        /// 32-bit integers.
        Words ["avx512f": "avx512f"] i32, i32 as u32 => [i32; 16 * 4],
            sums __m512i { _mm512_setzero_si512(); |from| _mm512_loadu_si512(from.cast()); |sums, to| _mm512_storeu_si512(to.cast(), sums) }
            spread __m512i { |group| _mm512_set1_epi32(group.cast_signed()) }
            groups __m512i { |place| _mm512_loadu_si512(place.cast()) }
            dot { |sums, a, b| _mm512_add_epi32(sums, _mm512_mullo_epi32(a, b)) }
        /// 64-bit integers.
        Longs ["avx512f,avx512dq": "avx512f" "avx512dq"] i64, i64 as u64 => [i64; 8 * 4],
            sums __m512i { _mm512_setzero_si512(); |from| _mm512_loadu_si512(from.cast()); |sums, to| _mm512_storeu_si512(to.cast(), sums) }
            spread __m512i { |group| _mm512_set1_epi64(group.cast_signed()) }
            groups __m512i { |place| _mm512_loadu_si512(place.cast()) }
            dot { |sums, a, b| _mm512_add_epi64(sums, _mm512_mullo_epi64(a, b)) }
    }
}

/// AMX instructions, which multiply tiles: registers of 16 rows of 64 bytes.
///
/// Written in assembly, because Rust's intrinsics for them are unstable.
#[cfg(target_os = "linux")]
pub(in crate::cpu) mod amx {
    use super::*;
    use core::arch::asm;
    use std::sync::LazyLock;

    /// Rows of a tile register; a row has 64 bytes.
    const SIDE: usize = 16;
    const BYTES: usize = 64;

    /// Bits of `cpuid`'s leaf 7 in `edx`.
    const TILES: u32 = 1 << 24;
    const TILES_OF_BF16: u32 = 1 << 22;
    const TILES_OF_BYTES: u32 = 1 << 25;

    /// Whether the machine has the instructions and the operating system grants their use, which must be requested.
    fn is_there(features: u32) -> bool {
        static THERE: LazyLock<u32> = LazyLock::new(|| {
            // SAFETY: every x86-64 processor has the instruction. (It is a safe function from Rust 1.94 on.)
            #[allow(unused_unsafe)]
            let features = unsafe { if __cpuid(0).eax < 7 { 0 } else { __cpuid_count(7, 0).edx } };
            if features & TILES != 0 && may_use_tiles() { features } else { 0 }
        });
        *THERE & features == features
    }

    fn may_use_tiles() -> bool {
        // From the kernel's `asm/prctl.h` and `asm/fpu/types.h`.
        const ARCH_REQ_XCOMP_PERM: libc::c_long = 0x1023;
        const XFEATURE_XTILEDATA: libc::c_long = 18;
        // SAFETY: the call only changes what this process may use.
        unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA) == 0 }
    }

    /// The operand of `ldtilecfg`: all tiles have full size.
    #[repr(C, align(64))]
    struct Config {
        palette: u8,
        start: u8,
        reserved: [u8; 14],
        bytes: [u16; 16],
        rows: [u8; 16],
    }
    static CONFIG: Config = {
        let (mut bytes, mut rows, mut at) = ([0; 16], [0; 16], 0);
        while at < 8 {
            (bytes[at], rows[at], at) = (BYTES as u16, SIDE as u8, at + 1);
        }
        Config { palette: 1, start: 0, reserved: [0; 14], bytes, rows }
    };

    /// Writes a [`Dot`] over tile registers: its types and the instruction.
    macro_rules! tiles {
        ($($(#[$doc:meta])* $name:ident [$feature:ident] $left:ty, $right:ty => $sum:ty, $dot:literal;)*) => {$(
            $(#[$doc])*
            pub(in crate::cpu) struct $name;
            impl $name {
                pub(in crate::cpu) fn is_there() -> bool {
                    is_there($feature)
                }
            }
            impl Dot for $name {
                type Group = u32;
                type Left = $left;
                type Right = $right;
                type Sum = $sum;
                // Four tiles of sums, two of each operand.
                const ROWS: usize = 2 * SIDE;
                const LANES: usize = 2 * SIDE;
                const VECTORS: usize = 1;
                const RUN: usize = SIDE;
                // Loading and storing sums costs as much as many products, so blocks are deep.
                const DEPTH: usize = 512;
                const HEIGHT: usize = 256;

                unsafe fn begin() {
                    // SAFETY: the machine has the instruction, which reads the 64 bytes.
                    unsafe { asm!("ldtilecfg [{}]", in(reg) &raw const CONFIG, options(nostack, preserves_flags, readonly)) }
                }
                unsafe fn end() {
                    // SAFETY: as above; this releases the tiles that `begin` configured.
                    unsafe { asm!("tilerelease", options(nostack, preserves_flags, nomem)) }
                }

                #[cfg_attr(not(feature = "precompiled"), inline)]
                unsafe fn tile(_: usize, tile: TileArgs<u32, $sum>) {
                    let TileArgs { depth, left, right, sums, adds } = tile;
                    // SAFETY: a run of the left operand is two tiles one after the other; one of the right operand is two tiles side by
                    // side, as are the sums. The caller promises that they are valid. The tiles are configured, and nobody else uses them.
                    unsafe {
                        asm!(
                            "test {adds:e}, {adds:e}",
                            "jz 2f",
                            "tileloadd tmm0, [{upper} + {wide}]",
                            "tileloadd tmm1, [{upper} + {wide} + 64]",
                            "tileloadd tmm2, [{lower} + {wide}]",
                            "tileloadd tmm3, [{lower} + {wide} + 64]",
                            "jmp 3f",
                            "2:",
                            "tilezero tmm0",
                            "tilezero tmm1",
                            "tilezero tmm2",
                            "tilezero tmm3",
                            "3:",
                            "test {runs}, {runs}",
                            "jz 5f",
                            "4:",
                            "tileloadd tmm4, [{left} + {narrow}]",
                            "tileloadd tmm6, [{right} + {wide}]",
                            "tileloadd tmm5, [{left} + {narrow} + 1024]",
                            concat!($dot, " tmm0, tmm4, tmm6"),
                            "tileloadd tmm7, [{right} + {wide} + 64]",
                            concat!($dot, " tmm2, tmm5, tmm6"),
                            concat!($dot, " tmm1, tmm4, tmm7"),
                            concat!($dot, " tmm3, tmm5, tmm7"),
                            "add {left}, 2048",
                            "add {right}, 2048",
                            "dec {runs}",
                            "jnz 4b",
                            "5:",
                            "tilestored [{upper} + {wide}], tmm0",
                            "tilestored [{upper} + {wide} + 64], tmm1",
                            "tilestored [{lower} + {wide}], tmm2",
                            "tilestored [{lower} + {wide} + 64], tmm3",
                            adds = in(reg) u32::from(adds),
                            runs = inout(reg) depth / SIDE => _,
                            left = inout(reg) left => _,
                            right = inout(reg) right => _,
                            upper = in(reg) sums,
                            lower = in(reg) sums.add(SIDE * Self::STRIP),
                            wide = in(reg) 2 * BYTES,
                            narrow = in(reg) BYTES,
                            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                            options(nostack),
                        );
                    }
                }
            }
        )*};
    }
    tiles! {
        /// Pairs of `bf16`: both products are summed, then added to the sum. Denormal inputs and outputs are flushed to zero.
        Halves [TILES_OF_BF16] bf16, bf16 => f32, "tdpbf16ps";
        /// Four unsigned bytes times four signed ones, accumulated in 32 bits.
        Bytes [TILES_OF_BYTES] u8, i8 => i32, "tdpbusd";
        /// Four pairs of signed bytes, in 32 bits.
        SignedBytes [TILES_OF_BYTES] i8, i8 => i32, "tdpbssd";
    }
}
