//! Large blocks of memory from the system, aligned to huge pages where these pay off.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::alloc;

/// From this size on, blocks are aligned to huge pages, which the operating system is asked to use.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// Whether such blocks are mapped rather than allocated: mapped pages are zero and take no memory until used, while the allocator would
/// zero aligned memory by writing. (Debug builds allocate them, because sanitizers watch the allocator's blocks.)
const MAPS: bool = cfg!(all(target_os = "linux", not(any(miri, debug_assertions))));

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, if size >= HUGE_PAGE { HUGE_PAGE } else { super::host::ALIGNMENT }).ok()
}

/// A block of `size` bytes (not 0), and whether it is zeroed; it is if `zeroed` is requested.
pub(super) fn take(size: usize, zeroed: bool) -> Option<(NonNull<u8>, bool)> {
    if MAPS && size >= HUGE_PAGE {
        return mapped(size).map(|start| (start, true));
    }
    let layout = layout(size)?;
    // SAFETY: the size is not zero.
    let start = unsafe { if zeroed { alloc::alloc_zeroed(layout) } else { alloc::alloc(layout) } };
    let start = NonNull::new(start)?;
    if size >= HUGE_PAGE {
        advise(start.as_ptr(), size);
    }
    Some((start, zeroed))
}

/// Frees a block.
///
/// # Safety
/// It came from [`take`] with this size and is no longer used.
pub(super) unsafe fn free(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if MAPS && size >= HUGE_PAGE {
            unmap(start.as_ptr(), size);
        } else if let Some(layout) = layout(size) {
            // (The layout was valid when the block was allocated.)
            alloc::dealloc(start.as_ptr(), layout);
        }
    }
}

/// A mapping of `size` bytes, aligned to huge pages.
#[cfg(target_os = "linux")]
fn mapped(size: usize) -> Option<NonNull<u8>> {
    let room = size.checked_add(HUGE_PAGE)?;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at an address the system chooses touches nothing that exists.
    let start = unsafe { libc::mmap(core::ptr::null_mut(), room, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start = start.cast::<u8>();
    let before = start.align_offset(HUGE_PAGE);
    debug_assert!(size.is_multiple_of(LARGEST_PAGE));
    // SAFETY: the parts before and behind the aligned part belong to the mapping, in whole pages, and nobody uses them yet.
    unsafe {
        let aligned = NonNull::new(start.add(before))?;
        unmap(start, before);
        unmap(aligned.as_ptr().add(size), room - before - size);
        advise(aligned.as_ptr(), size);
        Some(aligned)
    }
}
#[cfg(not(target_os = "linux"))]
fn mapped(_: usize) -> Option<NonNull<u8>> {
    None
}

/// The largest ordinary page size of any machine; the pool's sizes from [`HUGE_PAGE`] on are multiples of it.
#[cfg(any(test, target_os = "linux"))]
pub(super) const LARGEST_PAGE: usize = 64 << 10;

/// # Safety
/// The range is part of our mapping, and nobody uses it any more.
#[cfg(target_os = "linux")]
unsafe fn unmap(start: *mut u8, size: usize) {
    if size > 0 {
        // SAFETY: the caller's promise. It fails only if the kernel runs out of memory for its records; then the range stays mapped.
        unsafe { libc::munmap(start.cast(), size) };
    }
}
#[cfg(not(target_os = "linux"))]
unsafe fn unmap(_: *mut u8, _: usize) {}

/// Asks the system for huge pages in memory that has not been written yet: this saves TLB misses on reads, and page faults on the first
/// writes.
#[inline]
pub(crate) fn prefer_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    if size_of_val(memory) >= 2 * HUGE_PAGE {
        let start = memory.as_mut_ptr().cast::<u8>();
        let before = start.align_offset(HUGE_PAGE);
        advise(start.wrapping_add(before), (size_of_val(memory) - before) / HUGE_PAGE * HUGE_PAGE);
    }
}

/// Asks for huge pages in our memory, which starts at a huge-page boundary. The system may have none.
fn advise(start: *mut u8, size: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: a hint that does not change what the program sees, for any range.
    unsafe {
        libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, size);
}
