//! Memory owned by something else, such as a memory-mapped file, and released by dropping the owner.

use super::HostBuffer;
use super::host::{Header, Origin};
use core::ptr::NonNull;

/// One allocation whose header comes first, so that a pointer to the header is a pointer to both.
#[repr(C)]
struct Owned<T> {
    header: Header,
    owner: T,
}

impl HostBuffer {
    /// A block whose bytes are released by dropping their owner, in whichever thread drops the last handle.
    ///
    /// # Safety
    /// While the owner exists, even if it is moved, `bytes` bytes from `start` on are initialised, and nobody else reads or writes them.
    #[cfg(any(test, feature = "mmap"))]
    pub(crate) unsafe fn foreign<T: Send + 'static>(owner: T, start: NonNull<u8>, bytes: usize) -> Self {
        Self::owned(owner, start, bytes, Origin::Foreign { free: free::<T>, writable: true, whole: true })
    }

    /// The same for memory that others read, too: it is always copied before it is written. Unless `whole`, the bytes between the elements
    /// belong to others: see [`has_others`](Self::has_others).
    ///
    /// # Safety
    /// While the owner exists, even if it is moved, the elements in the first `bytes` bytes from `start` on are initialised, and nobody
    /// writes them.
    /// If `whole`, every byte belongs to an element.
    #[cfg(any(feature = "dlpack", feature = "arrow", feature = "faer"))]
    pub(crate) unsafe fn foreign_read_only<T: Send + 'static>(
        owner: T,
        start: NonNull<u8>,
        bytes: usize,
        whole: bool,
    ) -> Self {
        Self::owned(owner, start, bytes, Origin::Foreign { free: free::<T>, writable: false, whole })
    }

    fn owned<T: Send + 'static>(owner: T, start: NonNull<u8>, bytes: usize, origin: Origin) -> Self {
        let header = Header::new(start, bytes, origin, false);
        let block = NonNull::from(Box::leak(Box::new(Owned { header, owner })));
        HostBuffer(block.cast())
    }
}

/// # Safety
/// The header is that of an `Owned<T>` made by [`HostBuffer::owned`], and there are no more references to it.
unsafe fn free<T>(header: NonNull<Header>) {
    // SAFETY: the caller's promise; the pointer came from a box.
    drop(unsafe { Box::from_raw(header.cast::<Owned<T>>().as_ptr()) });
}
