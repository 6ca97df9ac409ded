//! Sharing work between threads: rayon's, in the caller's pool if there is one.
//!
//! How work is divided never changes a result: elementwise pieces are independent, and reductions merge in an order that
//! the shape alone decides. Uses nothing; used by every loop of this room.

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

/// How many nanoseconds of work make a piece worth another thread: starting one takes some ten microseconds.
const GRAIN: usize = 40_000;

/// Into how many pieces work of so many nanoseconds (roughly) is divided.
#[inline]
pub(crate) fn pieces(nanoseconds: usize) -> usize {
    // Small work does not even ask, which would start the pool.
    if nanoseconds < 2 * GRAIN { 1 } else { (nanoseconds / GRAIN).min(rayon::current_num_threads()) }
}

/// Runs `work` for each piece, in parallel.
pub(crate) fn for_each<P: Send>(pieces: Vec<P>, work: impl Fn(P) + Sync) {
    fn split<P: Send>(mut pieces: Vec<P>, work: &(impl Fn(P) + Sync)) {
        if pieces.len() < 2 {
            pieces.into_iter().for_each(work);
            return;
        }
        let later = pieces.split_off(pieces.len() / 2);
        rayon::join(|| split(pieces, work), || split(later, work));
    }
    split(pieces, &work);
}
