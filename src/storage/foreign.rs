//! Memory that belongs to something else, such as a file that is mapped, and is given back by dropping that.
//!
//! Uses host buffers; used by `io`.

use super::HostBuffer;
use super::host::{Header, Origin};
use core::ptr::NonNull;

/// One allocation: the header comes first, so that a pointer to it is one to both.
#[repr(C)]
struct Owned<T> {
    header: Header,
    owner: T,
}

impl HostBuffer {
    /// A block of bytes that are dropped with their owner, by whichever thread holds the last handle.
    ///
    /// # Safety
    /// While the owner exists, even if it is moved, so many bytes are initialised from `start` on, and nobody else reads or writes them.
    #[cfg(any(test, feature = "mmap"))]
    pub(crate) unsafe fn foreign<T: Send + 'static>(owner: T, start: NonNull<u8>, bytes: usize) -> Self {
        Self::owned(owner, start, bytes, Origin::Foreign { free: free::<T>, writable: true, whole: true })
    }

    /// The same of elements that others read, too: they are copied before they are written, whoever holds handles. What lies between
    /// them, if they are not `whole`, is somebody else's: see [`has_others`](Self::has_others).
    ///
    /// # Safety
    /// While the owner exists, even if it is moved, the elements in the first `bytes` bytes from `start` on are initialised, and nobody
    /// writes them. `whole`: every byte belongs to one of them.
    #[cfg(feature = "dlpack")]
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
/// The header is that of an `Owned<T>` made by [`HostBuffer::owned`], and there are no references to it any more.
unsafe fn free<T>(header: NonNull<Header>) {
    // SAFETY: the caller's promise; the pointer came from a box.
    drop(unsafe { Box::from_raw(header.cast::<Owned<T>>().as_ptr()) });
}
