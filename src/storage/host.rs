//! A block of host memory, shared by reference count.

use crate::dtype::Element;
use crate::error::{Error, Result};
use core::alloc::Layout;
use core::ptr::NonNull;
use std::alloc;
use std::sync::Arc;

/// Blocks are aligned for the widest vector registers.
const ALIGNMENT: usize = 64;

/// A reference-counted block of host memory. Cloning shares it; it is written only while it is not shared.
#[derive(Clone, Debug)]
pub struct HostBuffer(Arc<Block>);

#[derive(Debug)]
struct Block {
    start: NonNull<u8>,
    /// How many bytes are initialised and may be read.
    bytes: usize,
    /// What to give back to the allocator; size 0 means nothing was taken.
    layout: Layout,
}

// SAFETY: a block is plain memory owned by this value; it is written only through `&mut` (see `start_mut`).
unsafe impl Send for Block {}
// SAFETY: as above; `&Block` gives reading only.
unsafe impl Sync for Block {}

impl Drop for Block {
    fn drop(&mut self) {
        if self.layout.size() != 0 {
            // SAFETY: `start` came from the global allocator with this layout (`allocate`, or a `Vec` in `from_vec`).
            unsafe { alloc::dealloc(self.start.as_ptr(), self.layout) }
        }
    }
}

/// The bytes of `len` elements.
fn byte_size<E>(len: usize) -> Result<usize> {
    // `isize::MAX` is the largest size Rust allocates.
    len.checked_mul(size_of::<E>())
        .filter(|&bytes| bytes <= isize::MAX as usize - ALIGNMENT)
        .ok_or(Error::OutOfMemory { bytes: usize::MAX, device: "cpu" })
}

fn allocate(bytes: usize, zeroed: bool) -> Result<Block> {
    if bytes == 0 {
        // `ALIGNMENT` is a non-zero address that is aligned for every element.
        let start =
            NonNull::without_provenance(core::num::NonZero::new(ALIGNMENT).unwrap_or(core::num::NonZero::<usize>::MIN));
        return Ok(Block { start, bytes, layout: Layout::new::<()>() });
    }
    let out_of_memory = Error::OutOfMemory { bytes, device: "cpu" };
    let layout = Layout::from_size_align(bytes, ALIGNMENT).map_err(|_| out_of_memory.clone())?;
    // SAFETY: the size is not zero.
    let start = unsafe { if zeroed { alloc::alloc_zeroed(layout) } else { alloc::alloc(layout) } };
    let start = NonNull::new(start).ok_or(out_of_memory)?;
    Ok(Block { start, bytes, layout })
}

impl HostBuffer {
    /// `len` zeros.
    pub(crate) fn zeroed<E: Element>(len: usize) -> Result<Self> {
        Ok(HostBuffer(Arc::new(allocate(byte_size::<E>(len)?, true)?)))
    }

    /// `len` elements written by `fill`, which is given the first element's place and must write all `len` elements.
    ///
    /// # Safety
    /// When `fill` returns `Ok`, every one of the `len` elements is initialised.
    pub(crate) unsafe fn filled_by<E: Element>(len: usize, fill: impl FnOnce(*mut E) -> Result<()>) -> Result<Self> {
        let block = allocate(byte_size::<E>(len)?, false)?;
        fill(block.start.as_ptr().cast())?;
        Ok(HostBuffer(Arc::new(block)))
    }

    /// Takes over a vector's memory.
    pub(crate) fn from_vec<E: Element>(elements: Vec<E>) -> Result<Self> {
        let mut elements = core::mem::ManuallyDrop::new(elements);
        let bytes = elements.len() * size_of::<E>();
        let layout = Layout::array::<E>(elements.capacity())
            .map_err(|_| Error::OutOfMemory { bytes: usize::MAX, device: "cpu" })?;
        // SAFETY: a vector's pointer is never null.
        let start = unsafe { NonNull::new_unchecked(elements.as_mut_ptr().cast()) };
        Ok(HostBuffer(Arc::new(Block { start, bytes, layout })))
    }

    /// How many elements of type `E` there are.
    pub(crate) fn len<E>(&self) -> usize {
        self.0.bytes / size_of::<E>()
    }

    /// The first element's place, for reading.
    pub(crate) fn start<E>(&self) -> *const E {
        self.0.start.as_ptr().cast()
    }

    /// The first element's place, for writing; `None` while the block is shared.
    pub(crate) fn start_mut<E>(&mut self) -> Option<*mut E> {
        Arc::get_mut(&mut self.0).map(|block| block.start.as_ptr().cast())
    }

    /// Whether nobody else holds the block.
    pub(crate) fn is_unique(&mut self) -> bool {
        Arc::get_mut(&mut self.0).is_some()
    }

    /// Whether the two are the same block.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}
