//! Allocates and frees the blocks of host buffers: the thread's list of small blocks, the pool, the allocator.

use super::host::{ALIGNMENT, HEADER, Header, HostBuffer, Origin};
use super::pool;
use super::small::{self, SmallSize};
use crate::error::{Error, Result};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::alloc;

/// Elements of large blocks start at varying offsets in their pages. Otherwise corresponding elements of several operands would compete for
/// the same cache sets and alias in the store buffer.
const PAGE: usize = 4096;
/// The offset's increment from block to block, so that consecutive blocks' offsets are far apart.
const SHIFT: usize = 21 * ALIGNMENT;
static SHIFTS: AtomicUsize = AtomicUsize::new(0);

/// # Safety
/// There are no more references to the block.
#[inline(never)]
pub(super) unsafe fn free(header: NonNull<Header>) {
    // SAFETY: the caller's promise; the header is alive until here, and its origin says where the memory came from.
    unsafe {
        match header.as_ref().origin {
            Origin::Small(size) => small::give_back(header.cast(), size),
            _ => free_other(header),
        }
    }
}

/// # Safety
/// As for [`free`].
#[inline(never)]
unsafe fn free_other(header: NonNull<Header>) {
    // SAFETY: as in `free`.
    unsafe {
        let Header { start, ref origin, .. } = *header.as_ref();
        match *origin {
            Origin::Small(size) => small::give_back(header.cast(), size),
            Origin::Pool { size } => pool::give_back(header.cast(), size),
            Origin::Vector(layout) => {
                drop(Box::from_raw(header.as_ptr()));
                if layout.size() != 0 {
                    alloc::dealloc(start.as_ptr(), layout);
                }
            }
            Origin::Borrowed { .. } => drop(Box::from_raw(header.as_ptr())),
            #[cfg(any(test, feature = "mmap", feature = "dlpack", feature = "arrow", feature = "faer"))]
            Origin::Foreign { free, .. } => free(header),
        }
    }
}

/// The bytes of `len` elements of the given size, or `None` if memory cannot hold them.
#[inline]
fn bytes_of(len: usize, size: usize) -> Option<usize> {
    // `isize::MAX` is the largest size Rust allocates.
    len.checked_mul(size).filter(|&bytes| bytes <= isize::MAX as usize - HEADER - ALIGNMENT)
}

/// The out-of-memory error for `len` elements of the given size.
#[cold]
#[inline(never)]
fn out_of_memory(len: usize, size: usize) -> Error {
    Error::OutOfMemory { bytes: bytes_of(len, size).unwrap_or(usize::MAX), device: "cpu" }
}

/// Zeroes bytes: start and length.
pub(crate) type Zero = unsafe fn(*mut u8, usize);

/// A block of at least `least` bytes for `len` elements of the given size. With `zero`, it is zeroed by that function unless it is zero
/// already.
#[inline]
pub(super) fn allocate(len: usize, size: usize, least: usize, zero: Option<Zero>) -> Result<HostBuffer> {
    let block = bytes_of(len, size).and_then(|bytes| {
        let bytes = bytes.max(least);
        if zero.is_none() { uninitialised(bytes) } else { larger(bytes, zero) }
    });
    match block {
        Some(buffer) => Ok(buffer),
        None => Err(out_of_memory(len, size)),
    }
}

/// The fast path: most blocks are small, and the thread has freed one before. (The slow path is a separate function, so that this one saves
/// no registers.)
#[inline(never)]
fn uninitialised(bytes: usize) -> Option<HostBuffer> {
    if let Some(size) = SmallSize::holding(HEADER + bytes)
        && let Some(block) = small::take(size)
    {
        // SAFETY: the block has this size.
        return Some(unsafe { with_header(block, 0, bytes, Origin::Small(size)) });
    }
    larger(bytes, None)
}

/// Writes the header of a block, whose elements start `shift` bytes behind it.
///
/// # Safety
/// The block is aligned for the header and has room for it, the shift and the bytes; it is freed as the origin says.
#[inline]
unsafe fn with_header(block: NonNull<u8>, shift: usize, bytes: usize, origin: Origin) -> HostBuffer {
    // SAFETY: the caller's promise.
    unsafe {
        let start = block.add(HEADER + shift);
        let header = block.cast::<Header>();
        header.write(Header::new(start, bytes, origin, false));
        HostBuffer(header)
    }
}

/// A block, zeroed by the function, if given, unless it is zero already; `None` if memory runs out.
#[inline(never)]
fn larger(bytes: usize, zero: Option<Zero>) -> Option<HostBuffer> {
    let zeroed = zero.is_some();
    let size = HEADER + bytes;
    let mut shift = 0;
    let (block, origin) = if size < pool::SMALLEST {
        let size = SmallSize::holding(size)?;
        let block = match small::take(size) {
            Some(block) => {
                if let Some(zero) = zero {
                    // SAFETY: the block has room for the header and the bytes.
                    unsafe { zero(block.add(HEADER).as_ptr(), bytes) }
                }
                block
            }
            None => {
                let layout = size.layout();
                // SAFETY: the size is not zero.
                NonNull::new(unsafe { if zeroed { alloc::alloc_zeroed(layout) } else { alloc::alloc(layout) } })?
            }
        };
        (block, Origin::Small(size))
    } else {
        let size = pool::block_size(size)?;
        let (block, size, is_zeroed) = pool::take(size, zeroed).ok()?;
        if size - HEADER - bytes >= PAGE {
            shift = SHIFTS.fetch_add(SHIFT, Ordering::Relaxed) % PAGE;
        }
        if let Some(zero) = zero.filter(|_| !is_zeroed) {
            // SAFETY: the block has room for the header, the shift and the bytes.
            unsafe { zero(block.add(HEADER + shift).as_ptr(), bytes) }
        }
        (block, Origin::Pool { size })
    };
    // SAFETY: the block has room for the header, the shift and the bytes, and the origin is right.
    Some(unsafe { with_header(block, shift, bytes, origin) })
}
