//! A reference-counted block of host memory.
//!
//! Uses blocks; used by devices and tensors.

use super::blocks::{Zero, allocate, free};
use super::small::SmallSize;
use crate::dtype::Element;
use crate::error::{Error, Result};
#[cfg(feature = "ndarray")]
use crate::layout::bounds::{has_gaps, span};
use core::alloc::Layout;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};

/// Elements are aligned to cache lines and the widest vector registers.
pub(super) const ALIGNMENT: usize = 64;
/// The largest block that need not be aligned to cache lines, in bytes.
pub(super) const SMALL: usize = 1024;
/// Bytes of the header, in front of the elements.
pub(super) const HEADER: usize = ALIGNMENT;
const _: () = assert!(size_of::<Header>() <= HEADER && align_of::<Header>() <= 16);

/// A reference-counted block of host memory. It is shared through [`shared`](Self::shared) and written only while it is not shared.
///
/// One allocation holds the header and the elements behind it:
///
/// ```text
/// | Header (64 bytes) | less than a page, in large blocks | elements … |
/// ```
///
/// Elements taken over from a vector stay where they are, and the header stands alone.
///
/// A buffer may also stand for memory that somebody else owns: see [`borrowed`](Self::borrowed). There is no `Clone`, because a
/// second handle to such memory could outlive it: [`shared`](Self::shared) gives none.
#[derive(Debug)]
pub struct HostBuffer(pub(super) NonNull<Header>);

#[derive(Debug)]
pub(super) struct Header {
    pub(super) references: AtomicUsize,
    pub(super) start: NonNull<u8>,
    /// How many bytes are initialised.
    pub(super) bytes: usize,
    pub(super) origin: Origin,
    /// Whether borrowed memory may be shared, while views of it are made.
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
    /// Kept for the thread's next tensors, or by the allocator; header and elements are one block.
    Small(SmallSize),
    /// Returned to the pool, header and elements in one block.
    Pool { size: usize },
    /// The elements were a vector's, which the allocator frees.
    Vector(Layout),
    /// Not at all: somebody else owns the elements. `whole`: all bytes of the block are borrowed, not those of a view's elements alone.
    Borrowed { writable: bool, whole: bool },
    /// By the function, which frees the header and drops the owner of the elements behind it. Where others read them, they are not
    /// written.
    #[cfg(any(test, feature = "mmap", feature = "dlpack"))]
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
        // The only handle need not count down, which takes longer: nobody else could make another one. (Acquire: as for the fence.)
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

    /// The same by a function, which is called where memory was used before.
    ///
    /// # Safety
    /// It zeroes so many bytes from the place on that it is given, and nothing else.
    pub(crate) unsafe fn zeroed_by<E: Element>(len: usize, zero: Zero) -> Result<Self> {
        allocate(len, size_of::<E>(), 0, Some(zero))
    }

    /// A buffer of `len` elements initialised by `fill`, which is given the first element's place.
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

    /// A buffer of `len` elements of so many bytes each, and the first element's place.
    ///
    /// # Safety
    /// Every one of the elements is initialised before the buffer is read.
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

    /// Returns a vector's memory as a vector of all elements, or the buffer itself if that is impossible: it is
    /// shared, was not made from a vector, or was one of elements of another size or alignment, which the allocator
    /// must be told.
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
        // SAFETY: this is the last handle, so nobody else refers to the header, which is a box, and the elements.
        // These were a vector's of this layout, as many bytes of it as are initialised.
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
    /// They stay where they are, and are written by nobody, as long as the buffer and handles lent from it exist.
    pub(crate) unsafe fn borrowed<E>(elements: &[E]) -> Self {
        let start = NonNull::from(elements).cast();
        Self::alone(start, size_of_val(elements), Origin::Borrowed { writable: false, whole: true }, false)
    }

    /// Borrows the elements that sizes and strides reach from one on for reading. What lies between them is somebody else's: see
    /// [`has_others`](Self::has_others). `None` if they reach farther than memory does.
    ///
    /// # Safety
    /// As for `borrowed`, of these elements.
    #[cfg(feature = "ndarray")]
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
    /// They stay where they are as long as the buffer and handles lent from it exist; what a view of it reaches is
    /// read and written through that view alone.
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
        // As in `Arc`: only forgotten handles can be so many.
        assert!(before <= isize::MAX as usize, "too many references to a buffer");
        Some(HostBuffer(self.0))
    }

    /// A handle that can be shared even if the memory is borrowed, until `close`.
    ///
    /// # Safety
    /// It is closed before anybody else sees a handle shared from it, and those exist no longer than the memory is
    /// borrowed.
    pub(crate) unsafe fn lent(&self) -> Self {
        let Header { start, bytes, origin, .. } = *self.header();
        match self.shared() {
            Some(shared) => shared,
            None => Self::alone(start, bytes, origin, true),
        }
    }

    /// Ends `lent`: no more handles to borrowed memory.
    pub(crate) fn close(&self) {
        self.header().lends.store(false, Ordering::Relaxed);
    }

    /// Whether elements are written in place even if shared: it is a writable borrow.
    #[inline]
    pub(crate) fn is_fixed(&self) -> bool {
        matches!(self.header().origin, Origin::Borrowed { writable: true, .. })
    }

    /// Whether bytes of the block may be somebody else's, who reads and writes them: only the elements of the view that it was made for,
    /// and of those made of that view, are ours. What reaches farther ([`Backend::share_own`](crate::device::Backend::share_own)) copies
    /// these first.
    pub(crate) fn has_others(&self) -> bool {
        match self.header().origin {
            Origin::Borrowed { whole, .. } => !whole,
            #[cfg(any(test, feature = "mmap", feature = "dlpack"))]
            Origin::Foreign { whole, .. } => !whole,
            Origin::Small(_) | Origin::Pool { .. } | Origin::Vector(_) => false,
        }
    }

    /// How many elements of type `E` there are.
    #[inline]
    pub(crate) fn len<E>(&self) -> usize {
        self.header().bytes / size_of::<E>()
    }

    /// `len` bytes from place `at` on; `None` where the buffer ends before, or [others](Self::has_others) may write some of them.
    #[cfg(any(feature = "safetensors", all(feature = "any", any(feature = "npy", feature = "serde"))))]
    pub(crate) fn bytes(&self, at: usize, len: usize) -> Option<&[u8]> {
        let header = self.header();
        let fits = at.checked_add(len).is_some_and(|end| end <= header.bytes);
        if !fits || self.has_others() {
            return None;
        }
        // SAFETY: so many bytes are initialised from `start` on, and nobody writes them while there is a handle to them that is not
        // borrowed exclusively.
        Some(unsafe { core::slice::from_raw_parts(header.start.as_ptr().cast_const().add(at), len) })
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

    /// Whether the block may be written: it is not shared, or it is a writable borrow.
    #[inline]
    pub(crate) fn is_unique(&mut self) -> bool {
        let header = self.header();
        match header.origin {
            Origin::Borrowed { writable, .. } => writable,
            #[cfg(any(test, feature = "mmap", feature = "dlpack"))]
            Origin::Foreign { writable: false, .. } => false,
            // Acquire: sees what other threads did before they dropped their handles.
            _ => header.references.load(Ordering::Acquire) == 1,
        }
    }

    /// Whether the two are the same memory.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let (a, b) = (self.header(), other.header());
        self.0 == other.0 || (a.bytes != 0 && (a.start, a.bytes) == (b.start, b.bytes))
    }
}
