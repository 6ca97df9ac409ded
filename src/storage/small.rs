//! Small blocks of host memory that a thread has freed, kept for its next tensors: taking one costs less than asking the allocator.
//!
//! Each thread keeps a few blocks of a few sizes and frees them when it ends. Uses the allocator; used by host buffers.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;
use std::alloc;

/// The sizes of blocks, header and elements together.
const SIZES: [usize; 4] = [128, 256, 512, 1024];
/// The most blocks kept of each size.
const MOST: usize = 16;
/// Whether freed blocks are kept. Builds with debug assertions give them back at once, so that tools which watch memory see what is used
/// after it is freed; unit tests keep them in every build.
const KEEPS: bool = !cfg!(debug_assertions) || cfg!(test);

/// The alignment of small blocks: what the allocator gives at no cost, and enough for every element.
const ALIGNMENT: usize = 16;

/// The layout of the smallest kept block that holds so many bytes, if there is one.
#[inline]
pub(super) fn layout(bytes: usize) -> Option<Layout> {
    let size = SIZES.into_iter().find(|&size| bytes <= size)?;
    Layout::from_size_align(size, ALIGNMENT).ok()
}

/// The blocks of one size: a list in which each holds the address of the next.
struct List {
    first: Cell<Option<NonNull<u8>>>,
    len: Cell<usize>,
}

/// The blocks of one thread.
struct Kept([List; SIZES.len()]);

thread_local! {
    static KEPT: Kept = const {
        Kept([const { List { first: Cell::new(None), len: Cell::new(0) } }; SIZES.len()])
    };
}

/// Which list a layout belongs to.
#[inline]
fn place(layout: Layout) -> Option<usize> {
    // The sizes are consecutive powers of two.
    let at = layout.size().trailing_zeros().wrapping_sub(SIZES[0].trailing_zeros()) as usize;
    (SIZES.get(at) == Some(&layout.size()) && layout.align() == ALIGNMENT).then_some(at)
}

/// A block of this layout that was freed before.
#[inline]
pub(super) fn take(layout: Layout) -> Option<NonNull<u8>> {
    if !KEEPS {
        return None;
    }
    let at = place(layout)?;
    // A thread that is ending keeps none.
    KEPT.try_with(|kept| {
        let list = &kept.0[at];
        let first = list.first.get()?;
        // SAFETY: `keep` wrote the next block's address there, and nobody has used the block since.
        list.first.set(unsafe { first.cast::<Option<NonNull<u8>>>().read() });
        list.len.set(list.len.get() - 1);
        Some(first)
    })
    .ok()
    .flatten()
}

/// Keeps a block that is no longer used; `false` if it has to be freed instead.
///
/// # Safety
/// The block is one of the allocator's, of this layout, and nobody uses it.
#[inline]
pub(super) unsafe fn keep(block: NonNull<u8>, layout: Layout) -> bool {
    if !KEEPS {
        return false;
    }
    let Some(at) = place(layout) else { return false };
    let kept = |kept: &Kept| {
        let list = &kept.0[at];
        if list.len.get() == MOST {
            return false;
        }
        // SAFETY: the block is larger than a pointer, aligned for one, and the caller's to give away.
        unsafe { block.cast::<Option<NonNull<u8>>>().write(list.first.get()) }
        list.first.set(Some(block));
        list.len.set(list.len.get() + 1);
        true
    };
    KEPT.try_with(kept).unwrap_or(false)
}

impl Drop for Kept {
    fn drop(&mut self) {
        for (list, size) in self.0.iter().zip(SIZES) {
            let mut next = list.first.take();
            while let Some(block) = next {
                // SAFETY: the blocks of the list are this thread's, of this layout, and each holds the address of the next.
                unsafe {
                    next = block.cast::<Option<NonNull<u8>>>().read();
                    alloc::dealloc(block.as_ptr(), Layout::from_size_align_unchecked(size, ALIGNMENT));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(layout: Layout) -> NonNull<u8> {
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc::alloc(layout) }).unwrap()
    }

    #[test]
    fn a_block_that_was_kept_is_taken_again_by_its_size() {
        let [small, large] = [100, 300].map(|bytes| layout(bytes).unwrap());
        assert_eq!([small.size(), large.size()], [128, 512]);
        let block = fresh(small);
        // SAFETY: the block is fresh and not used any more.
        assert!(unsafe { keep(block, small) });
        assert_eq!(take(large), None);
        assert_eq!(take(small), Some(block));
        // SAFETY: it was taken out.
        unsafe { alloc::dealloc(block.as_ptr(), small) }
    }

    #[test]
    fn each_thread_keeps_few() {
        let size = layout(1024).unwrap();
        assert_eq!(layout(1025), None);
        for at in 0..MOST + 2 {
            let block = fresh(size);
            // SAFETY: as above.
            let kept = unsafe { keep(block, size) };
            assert_eq!(kept, at < MOST);
            if !kept {
                // SAFETY: nobody has it.
                unsafe { alloc::dealloc(block.as_ptr(), size) }
            }
        }
        std::thread::spawn(move || assert_eq!(take(size), None)).join().unwrap();
        // (Those that are kept are freed with the thread: leak checkers see it.)
    }
}
