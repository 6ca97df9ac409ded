//! Conversion of half-precision floats to `f32` and back: by the machine's instructions where it has them (`f16` both
//! ways, `bf16` rounding), else by code that vectorises.

use super::inner::Inner;
use super::simd::{self, Loop};
use crate::dtype::{DType, Dtype, bf16, f16};
use core::mem::MaybeUninit;

/// Half-precision elements to `f32`.
struct Widening<H>(*const H, *mut f32, usize);
impl<H: Dtype<Compute = f32>> Loop for Widening<H> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Widening(from, to, len) = self;
        for i in 0..len {
            // SAFETY: the maker of this loop promises `len` elements at both pointers.
            unsafe { to.add(i).write(from.add(i).read().to_compute()) }
        }
    }
}

/// `f32` to half-precision elements.
struct Narrowing<H>(*const f32, *mut H, usize);
impl<H: Dtype<Compute = f32>> Loop for Narrowing<H> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Narrowing(from, to, len) = self;
        for i in 0..len {
            // SAFETY: as above.
            unsafe { to.add(i).write(H::from_compute(from.add(i).read())) }
        }
    }
}

/// Instructions that plain Rust does not generate.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use crate::dtype::{Dtype, bf16};
    use core::arch::x86_64::*;

    pub(super) fn rounds_to_bf16() -> bool {
        macro_rules! has {
            ($($feature:tt)*) => { true $(&& std::arch::is_x86_feature_detected!($feature))* };
        }
        has!("avx512f" "avx512bw" "avx512dq" "avx512vl" "avx512bf16")
    }

    /// # Safety
    /// There are `len` elements at both pointers.
    #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512bf16")]
    pub(super) unsafe fn round_to_bf16(from: *const f32, to: *mut bf16, len: usize) {
        /// Float classes that the instruction treats differently: it flushes subnormal numbers to zero and changes NaN payloads.
        const OTHERWISE: i32 = 0x20 | 0x80 | 0x01;
        const AT_ONCE: usize = 64;
        let mut at = 0;
        // SAFETY: the caller's promise. A `bf16` is 16 bits, so 32 of them fill a vector.
        unsafe {
            let one_by_one = |from: *const f32, to: *mut bf16, len: usize| {
                for i in 0..len {
                    to.add(i).write(bf16::from_compute(from.add(i).read()));
                }
            };
            while at + AT_ONCE <= len {
                let [a, b, c, d] = [0, 16, 32, 48].map(|lane| _mm512_loadu_ps(from.add(at + lane)));
                let [ka, kb, kc, kd] = [a, b, c, d].map(|x| _mm512_fpclass_ps_mask::<OTHERWISE>(x));
                if (ka | kb) | (kc | kd) == 0 {
                    for (lane, low, high) in [(0, a, b), (32, c, d)] {
                        let halves = _mm512_cvtne2ps_pbh(high, low);
                        to.add(at + lane).cast::<__m512bh>().write_unaligned(halves);
                    }
                } else {
                    one_by_one(from.add(at), to.add(at), AT_ONCE);
                }
                at += AT_ONCE;
            }
            one_by_one(from.add(at), to.add(at), len - at);
        }
    }

    pub(super) fn is_there() -> bool {
        std::arch::is_x86_feature_detected!("avx") && std::arch::is_x86_feature_detected!("f16c")
    }

    /// # Safety
    /// There are `len` elements at both pointers.
    #[target_feature(enable = "avx,f16c")]
    pub(super) unsafe fn widen(from: *const u16, to: *mut f32, len: usize) {
        let mut at = 0;
        // SAFETY: the caller's promise; the remainder goes through buffers of eight.
        unsafe {
            while at + 32 <= len {
                for at in [at, at + 8, at + 16, at + 24] {
                    _mm256_storeu_ps(to.add(at), _mm256_cvtph_ps(_mm_loadu_si128(from.add(at).cast())));
                }
                at += 32;
            }
            while at + 8 <= len {
                _mm256_storeu_ps(to.add(at), _mm256_cvtph_ps(_mm_loadu_si128(from.add(at).cast())));
                at += 8;
            }
            if at < len {
                let (mut halves, mut floats) = ([0_u16; 8], [0_f32; 8]);
                core::ptr::copy_nonoverlapping(from.add(at), halves.as_mut_ptr(), len - at);
                _mm256_storeu_ps(floats.as_mut_ptr(), _mm256_cvtph_ps(_mm_loadu_si128(halves.as_ptr().cast())));
                core::ptr::copy_nonoverlapping(floats.as_ptr(), to.add(at), len - at);
            }
        }
    }

    /// # Safety
    /// There are `len` elements at both pointers.
    #[target_feature(enable = "avx,f16c")]
    pub(super) unsafe fn narrow(from: *const f32, to: *mut u16, len: usize) {
        const NEAREST: i32 = _MM_FROUND_TO_NEAREST_INT;
        let mut at = 0;
        // SAFETY: as above.
        unsafe {
            while at + 32 <= len {
                for at in [at, at + 8, at + 16, at + 24] {
                    _mm_storeu_si128(to.add(at).cast(), _mm256_cvtps_ph::<NEAREST>(_mm256_loadu_ps(from.add(at))));
                }
                at += 32;
            }
            while at + 8 <= len {
                _mm_storeu_si128(to.add(at).cast(), _mm256_cvtps_ph::<NEAREST>(_mm256_loadu_ps(from.add(at))));
                at += 8;
            }
            if at < len {
                let (mut floats, mut halves) = ([0_f32; 8], [0_u16; 8]);
                core::ptr::copy_nonoverlapping(from.add(at), floats.as_mut_ptr(), len - at);
                _mm_storeu_si128(
                    halves.as_mut_ptr().cast(),
                    _mm256_cvtps_ph::<NEAREST>(_mm256_loadu_ps(floats.as_ptr())),
                );
                core::ptr::copy_nonoverlapping(halves.as_ptr(), to.add(at), len - at);
            }
        }
    }
}

/// Whether the machine has conversion instructions for `f16`.
pub(super) fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return x86::is_there();
    #[cfg(not(target_arch = "x86_64"))]
    false
}

/// Converts half-precision elements to `f32`.
///
/// # Safety
/// There are `len` elements at both pointers.
pub(super) unsafe fn widen<H: Dtype<Compute = f32>>(from: *const H, to: *mut f32, len: usize) {
    #[cfg(target_arch = "x86_64")]
    if const { matches!(H::DTYPE, DType::F16) } && x86::is_there() {
        // SAFETY: the caller's promise; the instructions are available, and `f16` is 16 plain bits.
        return unsafe { x86::widen(from.cast(), to, len) };
    }
    simd::dispatch(Widening(from, to, len));
}

/// Rounds `f32` to half-precision elements.
///
/// # Safety
/// There are `len` elements at both pointers.
pub(super) unsafe fn narrow<H: Dtype<Compute = f32>>(from: *const f32, to: *mut H, len: usize) {
    #[cfg(target_arch = "x86_64")]
    if const { matches!(H::DTYPE, DType::F16) } && x86::is_there() {
        // SAFETY: as above.
        return unsafe { x86::narrow(from, to.cast(), len) };
    }
    #[cfg(target_arch = "x86_64")]
    if const { matches!(H::DTYPE, DType::BF16) } && x86::rounds_to_bf16() {
        // SAFETY: as above; `H` is `bf16`, which no other type's `DTYPE` says.
        return unsafe { x86::round_to_bf16(from, to.cast(), len) };
    }
    simd::dispatch(Narrowing(from, to, len));
}

/// [`widen`] in the form of an inner loop.
///
/// # Safety
/// See [`Inner`].
pub(super) unsafe fn widening<H: Dtype<Compute = f32>>(_: *const (), [out, a]: [*mut u8; 2], len: usize) {
    // SAFETY: the caller's promise.
    unsafe { widen::<H>(a.cast(), out.cast(), len) }
}

/// [`narrow`] in the form of an inner loop.
///
/// # Safety
/// See [`Inner`].
pub(super) unsafe fn narrowing<H: Dtype<Compute = f32>>(_: *const (), [out, a]: [*mut u8; 2], len: usize) {
    // SAFETY: the caller's promise.
    unsafe { narrow::<H>(a.cast(), out.cast(), len) }
}

/// Elements converted at once on their way to and from a loop over `f32`.
const PIECE: usize = 1024;

/// A buffer for one chunk, aligned so that vectors do not straddle cache lines.
#[repr(align(64))]
struct ConvertBuffer([MaybeUninit<f32>; PIECE]);

/// What a place of a loop over `f32` holds.
#[derive(Clone, Copy)]
pub(super) enum Held {
    /// Elements of this many bytes, as the loop takes them.
    AsTaken(usize),
    F16,
    BF16,
    /// What no loop takes. (Not an assertion in `of`, which the compiler evaluates for branches, too, that it then leaves out.)
    Other,
}
impl Held {
    /// Elements of a dtype where the loop takes another, which is the same or `f32` in place of a 16-bit float.
    pub(super) const fn of(dtype: DType, taken: DType) -> Self {
        match (dtype, taken) {
            (DType::F16, DType::F32) => Held::F16,
            (DType::BF16, DType::F32) => Held::BF16,
            _ if dtype as u8 == taken as u8 => Held::AsTaken(dtype.itemsize()),
            _ => Held::Other,
        }
    }
}

/// Runs a loop over `f32` on half-precision operands and results, converting them in chunks. (Compiled once for all dtypes.)
///
/// # Safety
/// See [`Inner`]; each place holds what `held` says.
#[inline(never)]
pub(super) unsafe fn in_chunks<const N: usize>(
    held: &[Held; N],
    inner: Inner<N>,
    kernel: *const (),
    places: [*mut u8; N],
    len: usize,
) {
    let mut buffers = [const { ConvertBuffer([MaybeUninit::uninit(); PIECE]) }; N];
    let mut low = 0;
    while low < len {
        let count = PIECE.min(len - low);
        let mut given = places;
        // SAFETY: the caller's promise for this chunk; the buffers hold `PIECE` elements.
        unsafe {
            for at in 0..N {
                let buffer = buffers[at].0.as_mut_ptr().cast::<f32>();
                given[at] = match held[at] {
                    Held::AsTaken(width) => places[at].add(low * width),
                    Held::F16 | Held::BF16 => buffer.cast(),
                    Held::Other => unreachable!("only 16-bit floats are widened"),
                };
                match held[at] {
                    Held::F16 if at > 0 => widen::<f16>(places[at].cast::<f16>().add(low), buffer, count),
                    Held::BF16 if at > 0 => widen::<bf16>(places[at].cast::<bf16>().add(low), buffer, count),
                    _ => {}
                }
            }
            inner(kernel, given, count);
            match held[0] {
                Held::AsTaken(_) | Held::Other => {}
                Held::F16 => narrow(given[0].cast(), places[0].cast::<f16>().add(low), count),
                Held::BF16 => narrow(given[0].cast(), places[0].cast::<bf16>().add(low), count),
            }
        }
        low += count;
    }
}

/// Runs the `f32` loop of a kernel on half-precision operands and result, converting them in chunks.
///
/// # Safety
/// See [`Inner`]; all places hold elements of type `H`.
#[cfg(any(not(debug_assertions), feature = "precompiled"))]
#[inline(always)]
pub(super) unsafe fn by_floats<H: Dtype<Compute = f32>, const N: usize>(
    inner: Inner<N>,
    kernel: *const (),
    places: [*mut u8; N],
    len: usize,
) {
    // SAFETY: the caller's promise.
    unsafe { in_chunks(const { &[Held::of(H::DTYPE, DType::F32); N] }, inner, kernel, places, len) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every half-precision value, the floats next to each and halfway to the next one, at every length.
    #[test]
    fn halves_side_by_side_convert_as_one_by_one() {
        fn check<H: Dtype<Compute = f32>>(from_bits: impl Fn(u16) -> H, bits: impl Fn(H) -> u16) {
            let halves: Vec<H> = (0..=u16::MAX).map(from_bits).collect();
            let mut floats = vec![0.0; halves.len()];
            // SAFETY: both vectors have that length.
            unsafe { widen(halves.as_ptr(), floats.as_mut_ptr(), halves.len()) }
            for (half, float) in halves.iter().zip(&floats) {
                let expected = half.to_compute();
                assert!(float.to_bits() == expected.to_bits() || float.is_nan() && expected.is_nan());
            }
            let around = [0, 1, 0xfff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff];
            let floats: Vec<f32> = floats
                .iter()
                .flat_map(|float| around.map(|add: u32| f32::from_bits(float.to_bits().wrapping_add(add))))
                .collect();
            for len in [floats.len(), 0, 1, 7, 8, 9, 300] {
                let mut narrowed = vec![H::default(); len];
                // SAFETY: both vectors have at least `len` elements.
                unsafe { narrow(floats.as_ptr(), narrowed.as_mut_ptr(), len) }
                for (half, float) in narrowed.iter().zip(&floats) {
                    assert_eq!(bits(*half), bits(H::from_compute(*float)), "{:08x}", float.to_bits());
                }
            }
        }
        check(f16::from_bits, f16::to_bits);
        check(bf16::from_bits, bf16::to_bits);
    }
}
