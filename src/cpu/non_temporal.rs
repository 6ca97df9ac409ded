//! Non-temporal stores, for results larger than the caches: the written lines are not read first, and the cache contents are kept.

use core::mem::MaybeUninit;

/// Minimum result size in bytes for non-temporal stores; lower in debug builds, so that small tests cover them.
const LARGE: usize = if cfg!(debug_assertions) { 16 << 10 } else { 16 << 20 };

/// Whether non-temporal stores pay off for a result of `bytes` bytes.
#[inline(always)]
pub(crate) fn pays_off(bytes: usize) -> bool {
    cfg!(target_arch = "x86_64") && bytes >= LARGE
}

/// A staging buffer for computed elements on their way to memory.
#[repr(align(64))]
pub(crate) struct Staging([MaybeUninit<u8>; Staging::BYTES]);

impl Staging {
    /// Bytes computed before they are stored; they stay in L1.
    pub(crate) const BYTES: usize = 2048;

    #[inline(always)]
    pub(crate) fn new() -> Self {
        Staging([const { MaybeUninit::uninit() }; Staging::BYTES])
    }

    /// Number of elements that fit.
    #[inline(always)]
    pub(crate) const fn capacity<T>() -> usize {
        Staging::BYTES / size_of::<T>()
    }

    /// Pointer to the first element.
    #[inline(always)]
    pub(crate) fn start<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// Stores the first `len` elements.
    ///
    /// # Safety
    /// They have been written, and `to` has room for them. Before other threads read them, [`fence`] is called.
    #[inline(always)]
    pub(crate) unsafe fn store<T>(&self, to: *mut T, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { store(to.cast(), self.0.as_ptr().cast(), len * size_of::<T>()) }
    }
}

/// Copies bytes with non-temporal stores.
///
/// # Safety
/// There are `bytes` bytes at `from`, and room for them at `to`. Before other threads read them, [`fence`] is called.
pub(crate) unsafe fn store(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: the caller's promise. The features are detected; the whole cache lines are those between the first and the last line
    // boundary.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        {
            let head = to.align_offset(x86::LINE).min(bytes);
            let lines = (bytes - head) / x86::LINE;
            let tail = head + lines * x86::LINE;
            core::ptr::copy_nonoverlapping(from, to, head);
            let (body, source) = (to.add(head), from.add(head));
            // A 64-byte store completes a line of the write-combining buffer at once; narrower stores stall each other.
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

/// Non-temporal copies of whole cache lines by vectors of each width.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    /// Bytes of a cache line.
    pub(super) const LINE: usize = 64;

    macro_rules! lines {
        ($($name:ident [$($feature:literal)?] $vector:ty, $load:ident, $stream:ident;)*) => {$(
            /// # Safety
            /// There are `lines` lines at either pointer; `to` is aligned to a line.
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

/// Orders the non-temporal stores before all later ones, so that other threads see them.
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

    /// Any alignment of the target, any number of elements.
    #[test]
    fn what_is_written_out_arrives() {
        let mut buffer = Staging::new();
        for len in [0, 1, 3, 4, 5, 100, Staging::capacity::<u32>()] {
            for shift in 0..5 {
                let mut to = vec![u32::MAX; len + 8];
                // SAFETY: `len` elements fit the buffer and the vector.
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
