//! Where the blocks of host buffers come from and go to: the thread that keeps small ones, the pool, the allocator.
//!
//! Uses small blocks and the pool; used by host buffers and scratch memory.

use super::host::{ALIGNMENT, HEADER, Header, HostBuffer, Origin};
use super::pool;
use super::small::{self, SmallSize};
use crate::error::{Error, Result};
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::alloc;

/// Elements of large blocks start at varying offsets in their pages. Otherwise the same elements of several operands
/// would compete for the same cache sets and alias in the store buffer.
const PAGE: usize = 4096;
/// The offset grows by this much from block to block, so that neighbouring blocks' offsets stay far apart.
const SHIFT: usize = 21 * ALIGNMENT;
static SHIFTS: AtomicUsize = AtomicUsize::new(0);

/// # Safety
/// There are no references to the block any more.
#[inline(never)]
pub(super) unsafe fn free(header: NonNull<Header>) {
    // SAFETY: the caller's promise; the header is alive until here, and the memory came from where its origin says.
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
            #[cfg(any(test, feature = "mmap", feature = "dlpack"))]
            Origin::Foreign { free, .. } => free(header),
        }
    }
}

/// The bytes of `len` elements of the given size, if memory can have so many.
#[inline]
fn bytes_of(len: usize, size: usize) -> Option<usize> {
    // `isize::MAX` is the largest size Rust allocates.
    len.checked_mul(size).filter(|&bytes| bytes <= isize::MAX as usize - HEADER - ALIGNMENT)
}

/// The error of memory for `len` elements of the given size.
#[cold]
#[inline(never)]
fn out_of_memory(len: usize, size: usize) -> Error {
    Error::OutOfMemory { bytes: bytes_of(len, size).unwrap_or(usize::MAX), device: "cpu" }
}

/// Zeroes so many bytes from a place on.
pub(crate) type Zero = unsafe fn(*mut u8, usize);

/// A block of at least so many bytes for `len` elements of the given size, zeroed by the function, if one is given and they are not zeros
/// anyway.
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

/// Most blocks are small, and the thread has freed one before. (What need not be done for these is done in a function of its own, so that
/// this one saves no registers.)
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

/// Writes the header of a block, whose elements are `shift` bytes behind it.
///
/// # Safety
/// The block has room for the header, which it is aligned for, the shift and the bytes, and is freed as the origin says.
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

/// A block whose bytes are zeroed by the function, if one is given and they are not zeros anyway; `None` if memory runs out.
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
        let (block, is_zeroed) = pool::take(size, zeroed).ok()?;
        if size - HEADER - bytes >= PAGE {
            shift = SHIFTS.fetch_add(SHIFT, Ordering::Relaxed) % PAGE;
        }
        if let Some(zero) = zero.filter(|_| !is_zeroed) {
            // SAFETY: the block has room for the header, the shift and the bytes.
            unsafe { zero(block.add(HEADER + shift).as_ptr(), bytes) }
        }
        (block, Origin::Pool { size })
    };
    // SAFETY: the block has room for the header, the shift and the bytes, and came from there.
    Some(unsafe { with_header(block, shift, bytes, origin) })
}
