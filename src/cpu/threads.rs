//! Sharing work between threads: rayon's, in the caller's pool if there is one.
//!
//! How work is divided never changes a result: elementwise pieces are independent, and reductions merge in an order that
//! shape and strides alone decide. Uses nothing; used by every loop of this room.

use crate::error::Result;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::OnceLock;

/// A place that several threads read from or write to, each in its own part.
pub(crate) struct Shared<T>(pub(crate) T);
impl<T: Copy> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Copy> Copy for Shared<T> {}
// SAFETY: it carries raw places between threads; whoever uses one says why its part is its own.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

/// How many nanoseconds of work make a piece worth another thread: starting one takes some ten microseconds. Builds with debug
/// assertions take much longer than the estimates, which are those of optimised code.
const GRAIN: usize = if cfg!(debug_assertions) { 500 } else { 40_000 };

/// Into how many pieces work of so many nanoseconds (roughly) is divided.
#[inline]
pub(crate) fn pieces(nanoseconds: usize) -> usize {
    // Small work does not even ask, which would start the pool.
    if nanoseconds < 2 * GRAIN { 1 } else { (nanoseconds / GRAIN).min(rayon::current_num_threads()) }
}

/// Into how many pieces work is divided at most.
pub(crate) fn most() -> usize {
    rayon::current_num_threads()
}

/// Calls `work` with each number below `pieces`, in parallel. Not generic: what it takes to run in parallel is compiled once
/// and not for every loop.
///
/// The calling thread takes pieces as the others do, from the first moment on: it does not wait for them to wake up.
pub(crate) fn for_each(pieces: usize, work: &(dyn Fn(usize) + Sync)) {
    if pieces <= 1 {
        return (0..pieces).for_each(work);
    }
    let next = AtomicUsize::new(0);
    let take = || {
        loop {
            // Every piece is taken by one thread; what it has done is seen after the scope.
            let piece = next.fetch_add(1, Ordering::Relaxed);
            if piece >= pieces {
                return;
            }
            work(piece);
        }
    };
    rayon::in_place_scope(|scope| {
        for _ in 1..pieces.min(most()) {
            scope.spawn(|_| take());
        }
        take();
    });
}

/// The same of work that can fail: one of its errors, if there are some.
pub(crate) fn try_for_each(pieces: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    let failed = OnceLock::new();
    for_each(pieces, &|piece| {
        if let Err(error) = work(piece) {
            // Another one came first.
            let _ = failed.set(error);
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}
