//! Small blocks of host memory that a thread has freed, kept for its next tensors: taking one costs less than asking the allocator.
//!
//! Each thread keeps a few blocks of a few sizes and frees them when it ends. Uses the allocator; used by host buffers.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;
use std::alloc;

/// How many sizes there are: from 128 bytes to 64 KiB, header and elements together, two for each power of two.
const SIZES: usize = 19;
/// The most bytes kept of each size (two blocks at least), and the most blocks.
const MOST_BYTES: usize = 64 << 10;
const MOST: usize = 16;
/// Whether freed blocks are kept. Builds with debug assertions give them back at once, and make them no larger than is asked for, so that
/// tools which watch memory see what is used beyond a block or after it is freed; unit tests keep them in every build.
const KEEPS: bool = !cfg!(debug_assertions) || cfg!(test);

/// The size of one kind of block: 128, 192, 256, 384, …
const fn size_of_kind(kind: usize) -> usize {
    if kind.is_multiple_of(2) { 128 << (kind / 2) } else { 192 << (kind / 2) }
}

/// The alignment of one kind of block: of the smallest, what the allocator gives at no cost, and enough for every element.
const fn alignment(kind: usize) -> usize {
    if size_of_kind(kind) <= super::host::SMALL { 16 } else { super::host::ALIGNMENT }
}

/// The smallest kind of block that holds so many bytes, if there is one.
#[inline]
fn kind_for(bytes: usize) -> Option<usize> {
    if bytes <= size_of_kind(0) {
        return Some(0);
    }
    // More bytes than this power of two: up to one and a half of it, or up to twice.
    let power = (bytes - 1).ilog2() as usize;
    let kind = 2 * (power - 7) + if bytes <= 3 << (power - 1) { 1 } else { 2 };
    (kind < SIZES).then_some(kind)
}

/// The layout of the smallest kept block that holds so many bytes, if there is one.
#[inline]
pub(super) fn layout(bytes: usize) -> Option<Layout> {
    let kind = kind_for(bytes)?;
    Layout::from_size_align(if KEEPS { size_of_kind(kind) } else { bytes }, alignment(kind)).ok()
}

/// The blocks of one size: a list in which each holds the address of the next.
struct List {
    first: Cell<Option<NonNull<u8>>>,
    len: Cell<usize>,
}

/// The blocks of one thread.
struct Kept([List; SIZES]);

thread_local! {
    static KEPT: Kept = const {
        Kept([const { List { first: Cell::new(None), len: Cell::new(0) } }; SIZES])
    };
}

/// Which list a layout belongs to.
#[inline]
fn place(layout: Layout) -> Option<usize> {
    let kind = kind_for(layout.size())?;
    (size_of_kind(kind) == layout.size() && alignment(kind) == layout.align()).then_some(kind)
}

/// The most blocks kept of a kind.
#[inline]
fn most(kind: usize) -> usize {
    (MOST_BYTES / size_of_kind(kind)).clamp(2, MOST)
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
        if list.len.get() >= most(at) {
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
        for (kind, list) in self.0.iter().enumerate() {
            let mut next = list.first.take();
            while let Some(block) = next {
                // SAFETY: the blocks of the list are this thread's, of this layout, and each holds the address of the next.
                unsafe {
                    next = block.cast::<Option<NonNull<u8>>>().read();
                    alloc::dealloc(
                        block.as_ptr(),
                        Layout::from_size_align_unchecked(size_of_kind(kind), alignment(kind)),
                    );
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
    fn every_block_has_the_smallest_size_that_holds_it() {
        let sizes: Vec<usize> = (0..SIZES).map(size_of_kind).collect();
        assert_eq!(sizes[..5], [128, 192, 256, 384, 512]);
        assert!(sizes.is_sorted() && sizes[SIZES - 1] == 64 << 10);
        for bytes in 1..=64 << 10 {
            let smallest = sizes.iter().copied().find(|&size| bytes <= size);
            assert_eq!(layout(bytes).map(|layout| layout.size()), smallest, "{bytes}");
        }
        assert_eq!(layout((64 << 10) + 1), None);
        assert!((0..SIZES).all(|kind| place(layout(size_of_kind(kind)).unwrap()) == Some(kind)));
    }

    #[test]
    fn a_block_that_was_kept_is_taken_again_by_its_size() {
        for (bytes, other) in [(100, 300), (2000, 5000), (60_000, 40_000)] {
            let [layout_of, other] = [bytes, other].map(|bytes| layout(bytes).unwrap());
            let block = fresh(layout_of);
            // SAFETY: the block is fresh and not used any more.
            assert!(unsafe { keep(block, layout_of) });
            assert_eq!(take(other), None);
            assert_eq!(take(layout_of), Some(block));
            // SAFETY: it was taken out.
            unsafe { alloc::dealloc(block.as_ptr(), layout_of) }
        }
    }

    #[test]
    fn each_thread_keeps_few() {
        for (bytes, most) in [(1024, MOST), (16 << 10, 4), (64 << 10, 2)] {
            let size = layout(bytes).unwrap();
            for at in 0..MOST + 2 {
                let block = fresh(size);
                // SAFETY: as above.
                let kept = unsafe { keep(block, size) };
                assert_eq!(kept, at < most);
                if !kept {
                    // SAFETY: nobody has it.
                    unsafe { alloc::dealloc(block.as_ptr(), size) }
                }
            }
            std::thread::spawn(move || assert_eq!(take(size), None)).join().unwrap();
            // (Those that are kept are freed with the thread: leak checkers see it.)
        }
    }
}
