//! `Counted`: a value with several handles, as in `Arc`, but without weak ones: the only handle is dropped, and its value changed, without an
//! atomic write, and small ones are in blocks that the thread keeps. Steps of tapes are made, seen by one handle and dropped again, often.

use super::small::{self, ALIGNMENT_OF_SMALL, SmallSize};
use core::ops::Deref;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicUsize, Ordering, fence};

/// A handle to a value.
pub(crate) struct Counted<T>(NonNull<Inner<T>>);
struct Inner<T> {
    handles: AtomicUsize,
    value: T,
}

// SAFETY: handles of several threads refer to the value, and the last one drops it, wherever it is.
unsafe impl<T: Send + Sync> Send for Counted<T> {}
// SAFETY: as above; a shared handle can be cloned.
unsafe impl<T: Send + Sync> Sync for Counted<T> {}

impl<T> Counted<T> {
    #[inline(always)]
    pub(crate) fn new(value: T) -> Self {
        Self::made(|| value)
    }
    /// A value that is made where it stays: a constant is copied there at once.
    #[inline(always)]
    pub(crate) fn made(make: impl FnOnce() -> T) -> Self {
        let place = match Self::small() {
            Some(size) => small::block(size).cast::<Inner<T>>().as_ptr(),
            None => Box::leak(Box::<Inner<T>>::new_uninit()).as_mut_ptr(),
        };
        // SAFETY: the block has room for both fields, and they are written before anybody reads them. (It is lost if the value is not made.)
        unsafe {
            (&raw mut (*place).handles).write(AtomicUsize::new(1));
            (&raw mut (*place).value).write(make());
            Counted(NonNull::new_unchecked(place))
        }
    }
    /// The size of its block, if the thread's list of small blocks has such.
    #[inline]
    fn small() -> Option<SmallSize> {
        if const { align_of::<Inner<T>>() > ALIGNMENT_OF_SMALL } {
            return None;
        }
        SmallSize::holding(size_of::<Inner<T>>())
    }
    #[inline]
    fn inner(&self) -> &Inner<T> {
        // SAFETY: the value lives as long as there are handles to it, and this is one.
        unsafe { self.0.as_ref() }
    }
    /// Whether this is the only handle: nobody else can make another one.
    #[inline]
    pub(crate) fn is_unique(&self) -> bool {
        // (Acquire: what other handles did happens before.)
        self.inner().handles.load(Ordering::Acquire) == 1
    }
    /// The value, if this is the only handle.
    #[inline]
    pub(crate) fn get_mut(&mut self) -> Option<&mut T> {
        if !self.is_unique() {
            return None;
        }
        // SAFETY: there is no other handle, and this one is borrowed exclusively.
        Some(unsafe { &mut self.0.as_mut().value })
    }
    #[cfg(any(test, feature = "any"))]
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}
impl<T> Counted<T> {
    /// Drops the value and frees its block.
    ///
    /// # Safety
    /// Nobody else has a handle, and this one is not used any more.
    #[inline(never)]
    unsafe fn free(&mut self) {
        // SAFETY: the caller's promise; the block has come from the list or from a box, as its size says.
        unsafe {
            match Self::small() {
                Some(size) => {
                    self.0.drop_in_place();
                    small::give_back(self.0.cast(), size);
                }
                None => drop(Box::from_raw(self.0.as_ptr())),
            }
        }
    }
}
impl<T> Deref for Counted<T> {
    type Target = T;
    #[inline]
    fn deref(&self) -> &T {
        &self.inner().value
    }
}
impl<T> Clone for Counted<T> {
    #[inline]
    fn clone(&self) -> Self {
        let before = self.inner().handles.fetch_add(1, Ordering::Relaxed);
        // As in `Arc`: only leaked handles can be that many.
        assert!(before <= isize::MAX as usize, "too many handles to a value");
        Counted(self.0)
    }
}
impl<T> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        // The only handle skips the slower decrement, as in `HostBuffer`.
        if self.is_unique() || self.inner().handles.fetch_sub(1, Ordering::Release) == 1 {
            fence(Ordering::Acquire);
            // SAFETY: this was the last handle, and `new` took the block from where it is given back to.
            unsafe { self.free() }
        }
    }
}
