//! Large blocks of memory from the system, aligned to huge pages where these pay off.
//!
//! Uses the allocator; used by the pool, and by the lists that become tensors.

use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;
use std::alloc;

/// From this size on blocks are aligned to huge pages, which the system is asked to use.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// Whether such blocks are mapped instead of allocated: the system maps zeros, and pages take no memory until they are used, while the
/// allocator would write zeros to aligned memory. (Builds with debug assertions allocate them: sanitizers watch the allocator's blocks.)
const MAPS: bool = cfg!(all(target_os = "linux", not(any(miri, debug_assertions))));

fn layout(size: usize) -> Option<Layout> {
    Layout::from_size_align(size, if size >= HUGE_PAGE { HUGE_PAGE } else { super::host::ALIGNMENT }).ok()
}

/// A block of so many bytes, not 0, and whether they are zeros, which they are if that is wanted.
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

/// Gives a block back.
///
/// # Safety
/// It came from [`take`] with this size and is not used any more.
pub(super) unsafe fn free(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if MAPS && size >= HUGE_PAGE {
            unmap(start.as_ptr(), size);
        } else if let Some(layout) = layout(size) {
            // (The same layout could be made when the block was allocated.)
            alloc::dealloc(start.as_ptr(), layout);
        }
    }
}

/// A mapping of so many bytes, aligned to huge pages.
#[cfg(target_os = "linux")]
fn mapped(size: usize) -> Option<NonNull<u8>> {
    let room = size.checked_add(HUGE_PAGE)?;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping, wherever the system has room, touches nothing that is there.
    let start = unsafe { libc::mmap(core::ptr::null_mut(), room, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    let start = start.cast::<u8>();
    let before = start.align_offset(HUGE_PAGE);
    debug_assert!(size.is_multiple_of(LARGEST_PAGE));
    // SAFETY: what lies before and behind the aligned part is the mapping's, in whole pages, and nobody has it yet.
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

/// No machine has larger ordinary pages; sizes of the pool from [`HUGE_PAGE`] on are multiples of it.
#[cfg(any(test, target_os = "linux"))]
pub(super) const LARGEST_PAGE: usize = 64 << 10;

/// # Safety
/// The range is part of a mapping of ours, and nobody uses it any more.
#[cfg(target_os = "linux")]
unsafe fn unmap(start: *mut u8, size: usize) {
    if size > 0 {
        // SAFETY: the caller's promise. It fails for want of room for its own records alone, and the range stays mapped then.
        unsafe { libc::munmap(start.cast(), size) };
    }
}
#[cfg(not(target_os = "linux"))]
unsafe fn unmap(_: *mut u8, _: usize) {}

/// Asks the system for huge pages where memory that has not been written yet contains some: fewer of them have to be found while
/// elements are read, and to be made while they are first written.
#[inline]
pub(crate) fn prefer_huge_pages<T>(memory: &mut [MaybeUninit<T>]) {
    if size_of_val(memory) >= 2 * HUGE_PAGE {
        let start = memory.as_mut_ptr().cast::<u8>();
        let before = start.align_offset(HUGE_PAGE);
        advise(start.wrapping_add(before), (size_of_val(memory) - before) / HUGE_PAGE * HUGE_PAGE);
    }
}

/// Asks for huge pages in memory of ours that begins with one. The system may not have any.
fn advise(start: *mut u8, size: usize) {
    #[cfg(all(target_os = "linux", not(miri)))]
    // SAFETY: it changes nothing that the program sees, wherever the range is.
    unsafe {
        libc::madvise(start.cast(), size, libc::MADV_HUGEPAGE);
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    let _ = (start, size);
}
