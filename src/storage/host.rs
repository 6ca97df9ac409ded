//! A reference-counted block of host memory.

use super::blocks::{Zero, allocate, free};
use super::small::SmallSize;
use crate::dtype::Element;
use crate::error::{Error, Result};
#[cfg(any(feature = "ndarray", feature = "nalgebra", feature = "faer"))]
use crate::layout::bounds::{has_gaps, span};
use core::alloc::Layout;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// Elements are aligned to cache lines and the widest vector registers.
pub(super) const ALIGNMENT: usize = 64;
/// Maximum size in bytes of blocks that are not aligned to cache lines.
pub(super) const SMALL: usize = 1024;
/// Bytes of the header, in front of the elements.
pub(super) const HEADER: usize = ALIGNMENT;
const _: () = assert!(size_of::<Header>() <= HEADER && align_of::<Header>() <= 16);

/// A reference-counted block of host memory. Shared by [`shared`](Self::shared); written only while not shared.
///
/// One allocation holds the header and the elements behind it:
///
/// ```text
/// | Header (64 bytes) | less than a page, in large blocks | elements … |
/// ```
///
/// Elements taken over from a vector stay in place, with a separate header.
///
/// A buffer may also refer to borrowed memory: see [`borrowed`](Self::borrowed). There is no `Clone`, because a second handle to borrowed
/// memory could outlive it: [`shared`](Self::shared) returns `None` for it.
#[derive(Debug)]
pub struct HostBuffer(pub(super) NonNull<Header>);

#[derive(Debug)]
pub(super) struct Header {
    pub(super) references: AtomicUsize,
    pub(super) start: NonNull<u8>,
    /// Number of initialised bytes.
    pub(super) bytes: usize,
    pub(super) origin: Origin,
    /// Whether borrowed memory may be shared at the moment, while views of it are made.
    pub(super) lends: AtomicBool,
}

impl Header {
    pub(super) fn new(start: NonNull<u8>, bytes: usize, origin: Origin, lends: bool) -> Self {
        Header { references: AtomicUsize::new(1), start, bytes, origin, lends: AtomicBool::new(lends) }
    }
}

/// How the memory is freed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Origin {
    /// Kept in the thread's list of small blocks, or freed by the allocator; header and elements are one block.
    Small(SmallSize),
    /// Returned to the pool; header and elements are one block.
    Pool { size: usize },
    /// The elements were a vector's, and are freed by the allocator.
    Vector(Layout),
    /// Not freed: the elements are borrowed. `whole`: all bytes of the block are borrowed, not only the elements of a view.
    Borrowed { writable: bool, whole: bool },
    /// Freed by the function, which frees the header and drops the owner of the elements. Not written unless `writable`, because others may
    /// read them.
    #[cfg(any(test, feature = "mmap", feature = "dlpack", feature = "arrow", feature = "faer"))]
    Foreign { free: unsafe fn(NonNull<Header>), writable: bool, whole: bool },
}

// SAFETY: a block is plain memory whose count is atomic; it is written only through `&mut` (see `start_mut`).
unsafe impl Send for HostBuffer {}
// SAFETY: as above; `&HostBuffer` only reads.
unsafe impl Sync for HostBuffer {}

impl Drop for HostBuffer {
    #[inline]
    fn drop(&mut self) {
        let references = &self.header().references;
        // The only handle skips the slower decrement: nobody else could make another one. (Acquire for the same reason as the fence.)
        if references.load(Ordering::Acquire) == 1 || references.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: this was the last reference.
            unsafe { free(self.0) }
        }
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
        // SAFETY: the function zeroes the memory that it is given.
        unsafe { Self::zeroed_by::<E>(len, |start, bytes| start.write_bytes(0, bytes)) }
    }

    /// The same, zeroed by a function, which is called for reused memory.
    ///
    /// # Safety
    /// It zeroes the given number of bytes from the given place on, and nothing else.
    pub(crate) unsafe fn zeroed_by<E: Element>(len: usize, zero: Zero) -> Result<Self> {
        allocate(len, size_of::<E>(), 0, Some(zero))
    }

    /// A buffer of `len` elements initialised by `fill`, which gets a pointer to the first element.
    ///
    /// # Safety
    /// When `fill` returns `Ok`, every one of the `len` elements is initialised.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn filled_by<E: Element>(len: usize, fill: impl FnOnce(*mut E) -> Result<()>) -> Result<Self> {
        // SAFETY: the caller's promise.
        let (buffer, start) = unsafe { Self::uninitialised(len, size_of::<E>())? };
        fill(start.cast())?;
        Ok(buffer)
    }

    /// An uninitialised buffer of `len` elements of `size` bytes, and a pointer to the first element.
    ///
    /// # Safety
    /// All elements are initialised before the buffer is read.
    #[cfg_attr(not(debug_assertions), inline(always))]
    pub(crate) unsafe fn uninitialised(len: usize, size: usize) -> Result<(Self, *mut u8)> {
        let buffer = allocate(len, size, 0, None)?;
        let start = buffer.header().start.as_ptr();
        Ok((buffer, start))
    }

    /// Buffers of `len` elements of the given sizes, initialised by one call of `fill`.
    ///
    /// # Safety
    /// As for [`filled_by`](Self::filled_by), for all.
    pub(crate) unsafe fn filled_together<const N: usize>(
        len: usize,
        sizes: [usize; N],
        fill: &mut dyn FnMut([*mut u8; N]) -> Result<()>,
    ) -> Result<[Self; N]> {
        let mut buffers = [const { None }; N];
        let mut starts = [core::ptr::null_mut(); N];
        for at in 0..N {
            let buffer = allocate(len, sizes[at], 0, None)?;
            starts[at] = buffer.header().start.as_ptr();
            buffers[at] = Some(buffer);
        }
        fill(starts)?;
        Ok(buffers.map(|buffer| buffer.unwrap_or_else(|| unreachable!("all of them have been made"))))
    }

    /// Takes over a vector's memory.
    pub(crate) fn from_vec<E: Element>(elements: Vec<E>) -> Result<Self> {
        let layout = Layout::array::<E>(elements.capacity())
            .map_err(|_| Error::OutOfMemory { bytes: usize::MAX, device: "cpu" })?;
        let mut elements = core::mem::ManuallyDrop::new(elements);
        // SAFETY: a vector's pointer is never null.
        let start = unsafe { NonNull::new_unchecked(elements.as_mut_ptr().cast()) };
        Ok(Self::alone(start, elements.len() * size_of::<E>(), Origin::Vector(layout), false))
    }

    /// Returns a vector's memory as a vector of all elements, or the buffer itself if it is shared, was not made from a vector, or was made
    /// from a vector of elements of another size or alignment (which the allocator would have to be told).
    ///
    /// # Safety
    /// The elements are valid `E`.
    pub(crate) unsafe fn into_vec<E: Element>(mut self) -> core::result::Result<Vec<E>, Self> {
        let Header { start, bytes, origin, .. } = *self.header();
        let Origin::Vector(layout) = origin else { return Err(self) };
        let fits = layout.align() == align_of::<E>()
            && layout.size().is_multiple_of(size_of::<E>())
            && bytes.is_multiple_of(size_of::<E>());
        if !fits || !self.is_unique() {
            return Err(self);
        }
        let header = core::mem::ManuallyDrop::new(self).0;
        // SAFETY: this is the last handle, so nobody else refers to the header, which is a box, or the elements, which were a vector's with
        // this layout; all of them are initialised.
        unsafe {
            drop(Box::from_raw(header.as_ptr()));
            let (len, capacity) = (bytes / size_of::<E>(), layout.size() / size_of::<E>());
            Ok(Vec::from_raw_parts(start.as_ptr().cast(), len, capacity))
        }
    }

    /// A boxed header for elements elsewhere.
    fn alone(start: NonNull<u8>, bytes: usize, origin: Origin, lends: bool) -> Self {
        let header = Box::new(Header::new(start, bytes, origin, lends));
        // SAFETY: a box's pointer is never null.
        HostBuffer(unsafe { NonNull::new_unchecked(Box::into_raw(header)) })
    }

    /// Borrows elements for reading.
    ///
    /// # Safety
    /// They stay in place, and nobody writes them, while the buffer and handles lent from it exist.
    pub(crate) unsafe fn borrowed<E>(elements: &[E]) -> Self {
        let start = NonNull::from(elements).cast();
        Self::alone(start, size_of_val(elements), Origin::Borrowed { writable: false, whole: true }, false)
    }

    /// Borrows the elements that sizes and strides reach from `start` on, for reading. The bytes between them belong to others: see
    /// [`has_others`](Self::has_others). `None` if they exceed the address space.
    ///
    /// # Safety
    /// As for `borrowed`, for these elements.
    #[cfg(any(feature = "ndarray", feature = "nalgebra", feature = "faer"))]
    pub(crate) unsafe fn borrowed_view<E>(start: *const E, sizes: &[usize], strides: &[usize]) -> Option<Self> {
        let bytes = span(sizes, strides)?.checked_mul(size_of::<E>())?;
        // SAFETY: a pointer to the caller's elements is not null.
        let start = unsafe { NonNull::new_unchecked(start.cast_mut().cast()) };
        let origin = Origin::Borrowed { writable: false, whole: !has_gaps(sizes, strides) };
        Some(Self::alone(start, bytes, origin, false))
    }

    /// Borrows elements for reading and writing in place.
    ///
    /// # Safety
    /// They stay in place while the buffer and handles lent from it exist; the elements of a view of it are read and written through that
    /// view only.
    pub(crate) unsafe fn borrowed_mut<E>(start: *mut E, len: usize) -> Self {
        // SAFETY: a pointer to the caller's elements is not null.
        let start = unsafe { NonNull::new_unchecked(start.cast()) };
        Self::alone(start, len * size_of::<E>(), Origin::Borrowed { writable: true, whole: false }, false)
    }

    /// Borrows this buffer's memory for writing in place.
    ///
    /// # Safety
    /// As for `borrowed_mut`.
    pub(crate) unsafe fn window(&mut self) -> Self {
        let Header { start, bytes, .. } = *self.header();
        Self::alone(start, bytes, Origin::Borrowed { writable: true, whole: false }, false)
    }

    /// Another handle to the block; `None` if the memory is borrowed, because the handle could outlive it.
    #[inline]
    pub(crate) fn shared(&self) -> Option<Self> {
        let header = self.header();
        if matches!(header.origin, Origin::Borrowed { .. }) && !header.lends.load(Ordering::Relaxed) {
            return None;
        }
        let before = header.references.fetch_add(1, Ordering::Relaxed);
        // As in `Arc`: only leaked handles can be that many.
        assert!(before <= isize::MAX as usize, "too many references to a buffer");
        Some(HostBuffer(self.0))
    }

    /// A handle that can be shared even if the memory is borrowed, until `close`.
    ///
    /// # Safety
    /// It is closed before anybody else sees a handle shared from it, and those handles do not outlive the borrow.
    pub(crate) unsafe fn lent(&self) -> Self {
        let Header { start, bytes, origin, .. } = *self.header();
        match self.shared() {
            Some(shared) => shared,
            None => Self::alone(start, bytes, origin, true),
        }
    }

    /// Ends `lent`: no more handles to borrowed memory are made.
    pub(crate) fn close(&self) {
        self.header().lends.store(false, Ordering::Relaxed);
    }

    /// Whether elements are written in place even if shared: the buffer is a writable borrow.
    #[inline]
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self.header().origin, Origin::Borrowed { writable: true, .. })
    }

    /// Whether bytes of the block may belong to others, who read and write them: only the elements of the view that the buffer was made
    /// for, and of views of it, are ours. Code that reaches farther ([`Backend::share_own`](crate::device::Backend::share_own)) copies
    /// these first.
    pub(crate) fn has_others(&self) -> bool {
        match self.header().origin {
            Origin::Borrowed { whole, .. } => !whole,
            #[cfg(any(test, feature = "mmap", feature = "dlpack", feature = "arrow", feature = "faer"))]
            Origin::Foreign { whole, .. } => !whole,
            Origin::Small(_) | Origin::Pool { .. } | Origin::Vector(_) => false,
        }
    }

    /// Number of elements of type `E`.
    #[inline]
    pub(crate) fn len<E>(&self) -> usize {
        self.header().bytes / size_of::<E>()
    }

    /// `len` bytes from byte `at` on; `None` if out of bounds, or if [others](Self::has_others) may write some of them.
    #[cfg(any(feature = "safetensors", all(feature = "any", any(feature = "npy", feature = "serde"))))]
    pub(crate) fn bytes(&self, at: usize, len: usize) -> Option<&[u8]> {
        let header = self.header();
        let fits = at.checked_add(len).is_some_and(|end| end <= header.bytes);
        if !fits || self.has_others() {
            return None;
        }
        // SAFETY: these bytes are initialised, and nobody writes them while there is a handle that is not borrowed exclusively.
        Some(unsafe { core::slice::from_raw_parts(header.start.as_ptr().cast_const().add(at), len) })
    }

    /// Pointer to the first element, for reading.
    #[inline]
    pub(crate) fn start<E>(&self) -> *const E {
        self.header().start.as_ptr().cast()
    }

    /// Pointer to the first element, for writing; `None` while the block is shared.
    #[inline]
    pub(crate) fn start_mut<E>(&mut self) -> Option<*mut E> {
        self.is_unique().then(|| self.header().start.as_ptr().cast())
    }

    /// Whether the block may be written: it is not shared, or is a writable borrow.
    #[inline]
    pub(crate) fn is_unique(&mut self) -> bool {
        let header = self.header();
        match header.origin {
            Origin::Borrowed { writable, .. } => writable,
            #[cfg(any(test, feature = "mmap", feature = "dlpack", feature = "arrow", feature = "faer"))]
            Origin::Foreign { writable: false, .. } => false,
            // Acquire: sees what other threads did before they dropped their handles.
            _ => header.references.load(Ordering::Acquire) == 1,
        }
    }

    /// Whether both are the same memory.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (self.header(), other.header());
        self.0 == other.0 || (a.bytes != 0 && (a.start, a.bytes) == (b.start, b.bytes))
    }
}
