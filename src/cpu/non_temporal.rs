//! Results too large for the caches are written past them: the lines written need not be read first, and what is in the
//! caches stays there.
//!
//! Uses nothing; used by the elementwise loops.

use core::mem::MaybeUninit;

/// Bytes of a result from which on it is written past the caches.
///
/// Builds with debug assertions do so sooner, so that tests need not be large to see it.
const LARGE: usize = if cfg!(debug_assertions) { 16 << 10 } else { 16 << 20 };

/// Whether a result of so many bytes is written past the caches.
#[inline(always)]
pub(crate) fn pays_off(bytes: usize) -> bool {
    cfg!(target_arch = "x86_64") && bytes >= LARGE
}

/// Room for elements on their way.
#[repr(align(64))]
pub(crate) struct Staging([MaybeUninit<u8>; Staging::BYTES]);

impl Staging {
    /// Bytes computed before they are written out: they stay in the nearest cache.
    pub(crate) const BYTES: usize = 2048;

    #[inline(always)]
    pub(crate) fn new() -> Self {
        Staging([const { MaybeUninit::uninit() }; Staging::BYTES])
    }

    /// How many elements there is room for.
    #[inline(always)]
    pub(crate) const fn capacity<T>() -> usize {
        Staging::BYTES / size_of::<T>()
    }

    /// The first element's place.
    #[inline(always)]
    pub(crate) fn start<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// Writes the first `len` elements out.
    ///
    /// # Safety
    /// They have been written, and `to` has room for them. Before others read them, [`fence`] is called.
    #[inline(always)]
    pub(crate) unsafe fn store<T>(&self, to: *mut T, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { store(to.cast(), self.0.as_ptr().cast(), len * size_of::<T>()) }
    }
}

/// Writes bytes out.
///
/// # Safety
/// There are so many at `from` and as many places at `to`. Before others read them, [`fence`] is called.
pub(crate) unsafe fn store(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise. The features are asked for; whole lines are those between the first and the last boundary.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            let head = to.align_offset(x86::LINE).min(bytes);
            let lines = (bytes - head) / x86::LINE;
            let tail = head + lines * x86::LINE;
            core::ptr::copy_nonoverlapping(from, to, head);
            let (body, source) = (to.add(head), from.add(head));
            // Whole lines at once where there are such registers: halves of them wait for each other.
            if std::arch::is_x86_feature_detected!("avx512f") {
                x86::wide(body, source, lines);
            } else if std::arch::is_x86_feature_detected!("avx") {
                x86::half(body, source, lines);
            } else {
                x86::quarter(body, source, lines);
            }
            core::ptr::copy_nonoverlapping(from.add(tail), to.add(tail), bytes - tail);
        }
        #[cfg(not(target_arch = "x86_64"))]
        core::ptr::copy_nonoverlapping(from, to, bytes);
    }
}

/// Cache lines written past the caches by registers of each width.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    /// Bytes of a cache line.
    pub(super) const LINE: usize = 64;

    macro_rules! lines {
        ($($name:ident [$($feature:literal)?] $vector:ty, $load:ident, $stream:ident;)*) => {$(
            /// # Safety
            /// There are as many lines at either place; `to` is aligned to them.
            $(#[target_feature(enable = $feature)])?
            pub(super) unsafe fn $name(to: *mut u8, from: *const u8, lines: usize) {
                for at in (0..lines * LINE).step_by(size_of::<$vector>()) {
                    // SAFETY: the caller's promise.
                    unsafe { $stream(to.add(at).cast(), $load(from.add(at).cast())) }
                }
            }
        )*};
    }
    lines! {
        wide ["avx512f"] __m512i, _mm512_loadu_si512, _mm512_stream_si512;
        half ["avx"] __m256i, _mm256_loadu_si256, _mm256_stream_si256;
        quarter [] __m128i, _mm_loadu_si128, _mm_stream_si128;
    }
}

/// Makes what has been written out visible to all.
#[inline(always)]
pub(crate) fn fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 has this instruction; it orders stores and does nothing else.
    unsafe {
        core::arch::x86_64::_mm_sfence();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wherever the target begins, and however many elements there are.
    #[test]
    fn what_is_written_out_arrives() {
        let mut buffer = Staging::new();
        for len in [0, 1, 3, 4, 5, 100, Staging::capacity::<u32>()] {
            for shift in 0..5 {
                let mut to = vec![u32::MAX; len + 8];
                // SAFETY: `len` elements fit the room and the vector.
                unsafe {
                    (0..len).for_each(|i| buffer.start::<u32>().add(i).write(i as u32));
                    buffer.store(to.as_mut_ptr().add(shift), len);
                }
                fence();
                assert!((0..len).all(|i| to[shift + i] == i as u32));
                assert!(to[..shift].iter().chain(&to[shift + len..]).all(|&untouched| untouched == u32::MAX));
            }
        }
    }
}
