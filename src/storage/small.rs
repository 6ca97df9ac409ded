//! Small blocks of host memory that a thread has freed, kept for its next tensors: faster than the allocator.
//!
//! Each thread keeps a few blocks of a few sizes and frees them when it ends.

use core::alloc::Layout;
use core::cell::Cell;
use core::ptr::NonNull;
use std::alloc;

/// Number of sizes: from 128 bytes to 64 KiB, including the header, two per power of two.
const SIZES: usize = 19;
/// Maximum bytes kept per size (at least two blocks), and maximum blocks.
const MOST_BYTES: usize = 64 << 10;
const MOST: usize = 64;
/// Maximum blocks kept of the sizes up to 512 bytes: a tape has hundreds of steps of such, which are freed together.
const MOST_OF_LEAST: usize = 1024;
/// Whether freed blocks are kept. Debug builds free them at once, and allocate exact sizes, so that memory checkers see accesses beyond a
/// block or after it is freed; unit tests keep them in every build.
const KEEPS: bool = !cfg!(debug_assertions) || cfg!(test);

/// The size of a kind of block: 128, 192, 256, 384, …
const fn size_of_kind(kind: usize) -> usize {
    if kind.is_multiple_of(2) { 128 << (kind / 2) } else { 192 << (kind / 2) }
}

/// The alignment of every block at least.
pub(super) const ALIGNMENT_OF_SMALL: usize = 16;
/// The alignment of a kind of block: for the smallest, the allocator's default, which suffices for every element.
const fn alignment(kind: usize) -> usize {
    if size_of_kind(kind) <= super::host::SMALL { ALIGNMENT_OF_SMALL } else { super::host::ALIGNMENT }
}

/// Maximum blocks kept of a kind.
const fn most(kind: usize) -> usize {
    if cfg!(feature = "grad") && size_of_kind(kind) <= 512 {
        return MOST_OF_LEAST;
    }
    let fitting = MOST_BYTES / size_of_kind(kind);
    if fitting < 2 {
        2
    } else if fitting > MOST {
        MOST
    } else {
        fitting
    }
}

/// The size of a small block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SmallSize {
    /// The index of its list.
    kind: u32,
    bytes: u32,
}

impl SmallSize {
    /// The smallest kind that holds `bytes` bytes, if there is one.
    #[inline]
    pub(super) fn holding(bytes: usize) -> Option<Self> {
        let kind = if bytes <= size_of_kind(0) {
            0
        } else {
            // The kind is one and a half times this power of two, or twice.
            let power = (bytes - 1).ilog2() as usize;
            2 * (power - 7) + if bytes <= 3 << (power - 1) { 1 } else { 2 }
        };
        let size = |kind| if KEEPS { size_of_kind(kind) } else { bytes };
        (kind < SIZES).then(|| SmallSize { kind: kind as u32, bytes: size(kind) as u32 })
    }

    /// The layout for the allocator.
    #[inline]
    pub(super) fn layout(self) -> Layout {
        // SAFETY: the alignment is a power of two, and the size far below the maximum.
        unsafe { Layout::from_size_align_unchecked(self.bytes as usize, alignment(self.kind as usize)) }
    }
}

/// The free blocks of one size: a linked list in which each block holds the address of the next.
struct List {
    first: Cell<Option<NonNull<u8>>>,
    /// How many more blocks may be kept: 0 before the thread has registered its destructor, and after that has run.
    room: Cell<usize>,
}

thread_local! {
    // (Without destructor, so that access needs no check.)
    static KEPT: [List; SIZES] = const { [const { List { first: Cell::new(None), room: Cell::new(0) } }; SIZES] };
    /// Frees the blocks when the thread ends.
    static OWNER: Owner = const { Owner { keeps: Cell::new(false) } };
}

struct Owner {
    keeps: Cell<bool>,
}

/// A block of this size, which the thread has kept or the allocator gives.
#[cfg(any(test, feature = "grad"))]
#[inline]
pub(super) fn block(size: SmallSize) -> NonNull<u8> {
    #[cold]
    #[inline(never)]
    fn fresh(size: SmallSize) -> NonNull<u8> {
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc::alloc(size.layout()) }).unwrap_or_else(|| alloc::handle_alloc_error(size.layout()))
    }
    take(size).unwrap_or_else(|| fresh(size))
}

/// Takes a free block of this size.
#[inline]
pub(super) fn take(size: SmallSize) -> Option<NonNull<u8>> {
    if !KEEPS {
        return None;
    }
    KEPT.with(|lists| {
        let list = &lists[size.kind as usize];
        let first = list.first.get()?;
        // SAFETY: `keep` wrote the next block's address there, and nobody has used the block since.
        list.first.set(unsafe { first.cast::<Option<NonNull<u8>>>().read() });
        list.room.set(list.room.get() + 1);
        Some(first)
    })
}

/// Keeps a block that is no longer used, or frees it.
///
/// # Safety
/// The block is one of the allocator's, of this size, and nobody uses it.
#[inline]
pub(super) unsafe fn give_back(block: NonNull<u8>, size: SmallSize) {
    // SAFETY: the caller's promise.
    unsafe {
        if !keep(block, size) {
            free_or_begin(block, size);
        }
    }
}

/// Keeps a block if there is room for it.
///
/// # Safety
/// As for [`give_back`], if it is kept.
#[inline]
unsafe fn keep(block: NonNull<u8>, size: SmallSize) -> bool {
    KEPT.with(|lists| {
        let list = &lists[size.kind as usize];
        let room = list.room.get();
        if room != 0 {
            // SAFETY: the block is larger than a pointer, aligned for one, and owned by the caller.
            unsafe { block.cast::<Option<NonNull<u8>>>().write(list.first.get()) }
            list.first.set(Some(block));
            list.room.set(room - 1);
        }
        room != 0
    })
}

/// Frees a block, or keeps it as the first one of its thread.
///
/// # Safety
/// As for [`give_back`].
#[cold]
#[inline(never)]
unsafe fn free_or_begin(block: NonNull<u8>, size: SmallSize) {
    // A thread that is exiting keeps none.
    let begins = KEEPS && OWNER.try_with(|owner| !owner.keeps.replace(true)).unwrap_or(false);
    if begins {
        KEPT.with(|lists| lists.iter().enumerate().for_each(|(kind, list)| list.room.set(most(kind))));
    }
    // SAFETY: the caller's promise.
    unsafe {
        if !(begins && keep(block, size)) {
            alloc::dealloc(block.as_ptr(), size.layout());
        }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        KEPT.with(|lists| {
            for (kind, list) in lists.iter().enumerate() {
                list.room.set(0);
                let mut next = list.first.take();
                while let Some(block) = next {
                    let size = SmallSize { kind: kind as u32, bytes: size_of_kind(kind) as u32 };
                    // SAFETY: the blocks of the list are this thread's, of this size, and each holds the address of the next.
                    unsafe {
                        next = block.cast::<Option<NonNull<u8>>>().read();
                        alloc::dealloc(block.as_ptr(), size.layout());
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fresh(size: SmallSize) -> NonNull<u8> {
        // SAFETY: the size is not zero.
        NonNull::new(unsafe { alloc::alloc(size.layout()) }).unwrap()
    }

    /// Gives back a block; returns whether it was kept.
    fn gives_back(block: NonNull<u8>, size: SmallSize) -> bool {
        // SAFETY: the tests no longer use it.
        unsafe { give_back(block, size) }
        KEPT.with(|lists| lists[size.kind as usize].first.get() == Some(block))
    }

    fn free(block: NonNull<u8>, size: SmallSize) {
        // SAFETY: it was taken out.
        unsafe { alloc::dealloc(block.as_ptr(), size.layout()) }
    }

    #[test]
    fn every_block_has_the_smallest_size_that_holds_it() {
        let sizes: Vec<usize> = (0..SIZES).map(size_of_kind).collect();
        assert_eq!(sizes[..5], [128, 192, 256, 384, 512]);
        assert!(sizes.is_sorted() && sizes[SIZES - 1] == 64 << 10);
        for bytes in 1..=64 << 10 {
            let smallest = sizes.iter().copied().find(|&size| bytes <= size);
            assert_eq!(SmallSize::holding(bytes).map(|size| size.layout().size()), smallest, "{bytes}");
        }
        assert_eq!(SmallSize::holding((64 << 10) + 1), None);
        assert!((0..SIZES).all(|kind| SmallSize::holding(size_of_kind(kind)).unwrap().kind as usize == kind));
    }

    #[test]
    fn a_block_that_was_kept_is_taken_again_by_its_size() {
        for (bytes, other) in [(100, 300), (2000, 5000), (60_000, 40_000)] {
            let [size, other] = [bytes, other].map(|bytes| SmallSize::holding(bytes).unwrap());
            let block = fresh(size);
            assert!(gives_back(block, size));
            assert_eq!(take(other), None);
            assert_eq!(take(size), Some(block));
            assert_eq!(take(size), None);
            free(block, size);
        }
    }

    #[test]
    fn each_thread_keeps_few() {
        for (bytes, most) in [(1024, MOST), (16 << 10, 4), (64 << 10, 2)] {
            let size = SmallSize::holding(bytes).unwrap();
            // (Kept blocks are freed with the thread, the others at once: leak checkers verify it.)
            let kept = |count: usize| (0..count).map(|_| fresh(size)).filter(|&block| gives_back(block, size)).count();
            assert_eq!(kept(MOST + 2), most);
            // Taking one makes room for one.
            free(take(size).unwrap(), size);
            assert_eq!(kept(2), 1);
            std::thread::spawn(move || assert_eq!(take(size), None)).join().unwrap();
        }
    }

    /// A tensor that outlives the thread's list, because another thread-local destructor drops it.
    #[test]
    fn a_thread_that_is_ending_frees_what_it_gives_back() {
        struct Last(Cell<Option<NonNull<u8>>>);
        impl Drop for Last {
            fn drop(&mut self) {
                let size = SmallSize::holding(200).unwrap();
                assert!(OWNER.try_with(|_| ()).is_err());
                assert_eq!(take(size), None);
                assert!(!gives_back(self.0.take().unwrap(), size));
            }
        }
        thread_local! {
            static LAST: Last = const { Last(Cell::new(None)) };
        }
        let keeps = || {
            let size = SmallSize::holding(200).unwrap();
            // Destructors run in the reverse order of first use.
            LAST.with(|last| last.0.set(Some(fresh(size))));
            assert!(gives_back(fresh(size), size));
        };
        std::thread::spawn(keeps).join().unwrap();
    }
}
