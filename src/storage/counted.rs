//! `Counted`: a value with several handles, as in `Arc`, but without weak ones: the only handle is dropped, and its value changed, without an
//! atomic write. Steps of tapes are made, seen by one handle and dropped again, often.

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
        let place = Box::leak(Box::<Inner<T>>::new_uninit()).as_mut_ptr();
        // SAFETY: the box has room for both fields, and they are written before anybody reads them. (One by one, so that a constant is
        // copied there at once.)
        unsafe {
            (&raw mut (*place).handles).write(AtomicUsize::new(1));
            (&raw mut (*place).value).write(value);
            Counted(NonNull::new_unchecked(place))
        }
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
            // SAFETY: this was the last handle, and the value came from a box.
            drop(unsafe { Box::from_raw(self.0.as_ptr()) });
        }
    }
}
