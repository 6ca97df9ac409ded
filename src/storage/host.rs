//! A block of host memory, shared by reference count.

use super::pool;
use crate::dtype::Element;
use crate::error::{Error, Result};
use core::alloc::Layout;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering, fence};
use std::alloc;

/// Elements are aligned to cache lines and the widest vector registers.
pub(super) const ALIGNMENT: usize = 64;
/// Elements of a small block: what the allocator gives without taking longer, and enough for every element.
const SMALL_ALIGNMENT: usize = 16;
/// Blocks up to this size are small.
const SMALL: usize = 1024;
/// What the header takes in front of the elements.
const HEADER: usize = ALIGNMENT;
const _: () = assert!(size_of::<Header>() <= HEADER && align_of::<Header>() <= SMALL_ALIGNMENT);

/// A reference-counted block of host memory. Cloning shares it; it is written only while it is not shared.
///
/// One allocation holds the header and the elements behind it:
///
/// ```text
/// | Header (64 bytes) | elements … |
/// ```
///
/// Elements taken over from a vector stay where they are, and the header stands alone.
#[derive(Debug)]
pub struct HostBuffer(NonNull<Header>);

#[derive(Debug)]
struct Header {
    references: AtomicUsize,
    start: NonNull<u8>,
    /// How many bytes are initialised and may be read.
    bytes: usize,
    origin: Origin,
}

/// Where the memory goes when nobody uses it.
#[derive(Clone, Copy, Debug)]
enum Origin {
    /// Back to the allocator, elements and header in one.
    Allocator(Layout),
    /// Back to the pool, elements and header in one.
    Pool { size: usize },
    /// The elements were a vector's.
    Vector(Layout),
}

// SAFETY: a block is plain memory whose count is atomic; it is written only through `&mut` (see `start_mut`).
unsafe impl Send for HostBuffer {}
// SAFETY: as above; `&HostBuffer` gives reading only.
unsafe impl Sync for HostBuffer {}

impl Clone for HostBuffer {
    #[inline]
    fn clone(&self) -> Self {
        let before = self.header().references.fetch_add(1, Ordering::Relaxed);
        // As in `Arc`: so many clones can only have been forgotten.
        assert!(before <= isize::MAX as usize, "too many references to a buffer");
        HostBuffer(self.0)
    }
}

impl Drop for HostBuffer {
    #[inline]
    fn drop(&mut self) {
        if self.header().references.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: this was the last reference.
            unsafe { free(self.0) }
        }
    }
}

/// # Safety
/// Nobody refers to the block any more.
unsafe fn free(header: NonNull<Header>) {
    // SAFETY: the header is alive until here; the memory came from where its origin says.
    unsafe {
        let Header { start, origin, .. } = header.read();
        match origin {
            Origin::Allocator(layout) => alloc::dealloc(header.as_ptr().cast(), layout),
            Origin::Pool { size } => pool::give_back(header.cast(), size),
            Origin::Vector(layout) => {
                drop(Box::from_raw(header.as_ptr()));
                if layout.size() != 0 {
                    alloc::dealloc(start.as_ptr(), layout);
                }
            }
        }
    }
}

/// The bytes of `len` elements.
fn byte_size<E>(len: usize) -> Result<usize> {
    // `isize::MAX` is the largest size Rust allocates.
    len.checked_mul(size_of::<E>())
        .filter(|&bytes| bytes <= isize::MAX as usize - HEADER - ALIGNMENT)
        .ok_or(Error::OutOfMemory { bytes: usize::MAX, device: "cpu" })
}

fn allocate(bytes: usize, zeroed: bool) -> Result<HostBuffer> {
    let out_of_memory = || Error::OutOfMemory { bytes, device: "cpu" };
    let size = HEADER + bytes;
    let (block, origin) = if size < pool::SMALLEST {
        let alignment = if size <= SMALL { SMALL_ALIGNMENT } else { ALIGNMENT };
        let layout = Layout::from_size_align(size, alignment).map_err(|_| out_of_memory())?;
        // SAFETY: the size is not zero.
        let block = unsafe { if zeroed { alloc::alloc_zeroed(layout) } else { alloc::alloc(layout) } };
        (NonNull::new(block).ok_or_else(out_of_memory)?, Origin::Allocator(layout))
    } else {
        let size = pool::block_size(size).ok_or_else(out_of_memory)?;
        let (block, is_zeroed) = pool::take(size, zeroed).map_err(|_| out_of_memory())?;
        if zeroed && !is_zeroed {
            // SAFETY: the block has room for the header and the bytes.
            unsafe { block.add(HEADER).write_bytes(0, bytes) }
        }
        (block, Origin::Pool { size })
    };
    // SAFETY: the block has room for the header and is aligned for it.
    unsafe {
        let start = block.add(HEADER);
        let header = block.cast::<Header>();
        header.write(Header { references: AtomicUsize::new(1), start, bytes, origin });
        Ok(HostBuffer(header))
    }
}

impl HostBuffer {
    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the header lives as long as there are references to it, and this is one.
        unsafe { self.0.as_ref() }
    }

    /// `len` zeros.
    pub(crate) fn zeroed<E: Element>(len: usize) -> Result<Self> {
        allocate(byte_size::<E>(len)?, true)
    }

    /// `len` elements written by `fill`, which is given the first element's place and must write all `len` elements.
    ///
    /// # Safety
    /// When `fill` returns `Ok`, every one of the `len` elements is initialised.
    #[inline]
    pub(crate) unsafe fn filled_by<E: Element>(len: usize, fill: impl FnOnce(*mut E) -> Result<()>) -> Result<Self> {
        let buffer = allocate(byte_size::<E>(len)?, false)?;
        fill(buffer.header().start.as_ptr().cast())?;
        Ok(buffer)
    }

    /// Takes over a vector's memory.
    pub(crate) fn from_vec<E: Element>(elements: Vec<E>) -> Result<Self> {
        let layout = Layout::array::<E>(elements.capacity())
            .map_err(|_| Error::OutOfMemory { bytes: usize::MAX, device: "cpu" })?;
        let mut elements = core::mem::ManuallyDrop::new(elements);
        // SAFETY: a vector's pointer is never null.
        let start = unsafe { NonNull::new_unchecked(elements.as_mut_ptr().cast()) };
        let header = Header {
            references: AtomicUsize::new(1),
            start,
            bytes: elements.len() * size_of::<E>(),
            origin: Origin::Vector(layout),
        };
        // SAFETY: a box's pointer is never null.
        Ok(HostBuffer(unsafe { NonNull::new_unchecked(Box::into_raw(Box::new(header))) }))
    }

    /// How many elements of type `E` there are.
    #[inline]
    pub(crate) fn len<E>(&self) -> usize {
        self.header().bytes / size_of::<E>()
    }

    /// The first element's place, for reading.
    #[inline]
    pub(crate) fn start<E>(&self) -> *const E {
        self.header().start.as_ptr().cast()
    }

    /// The first element's place, for writing; `None` while the block is shared.
    #[inline]
    pub(crate) fn start_mut<E>(&mut self) -> Option<*mut E> {
        self.is_unique().then(|| self.header().start.as_ptr().cast())
    }

    /// Whether nobody else holds the block.
    #[inline]
    pub(crate) fn is_unique(&mut self) -> bool {
        // Acquire: what others did before they let go has happened.
        self.header().references.load(Ordering::Acquire) == 1
    }

    /// Whether the two are the same block.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
