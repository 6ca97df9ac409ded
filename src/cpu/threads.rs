//! Divides work among threads of rayon's pool: the caller's own pool if it runs in one.
//!
//! The division never changes a result: elementwise pieces are independent, and reductions merge in an order fixed by shape and strides.

use crate::error::Result;
use core::cell::OnceCell;
use core::ops::Range;
use core::panic::AssertUnwindSafe;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

/// Shares a raw pointer between threads, each of which uses its own part.
pub(crate) struct Shared<T>(pub(crate) T);
impl<T: Copy> Clone for Shared<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T: Copy> Copy for Shared<T> {}
// SAFETY: it only passes pointers between threads; each user justifies that its part is exclusive.
unsafe impl<T> Send for Shared<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Shared<T> {}

/// Nanoseconds of work that are worth another thread: a lingering helper starts within a microsecond, a sleeping one after about ten, and
/// waking it costs the caller about three. Smaller in debug builds, so that tests share small work.
pub(crate) const GRAIN: usize = if cfg!(debug_assertions) { 500 } else { 6_000 };

/// Number of pieces for work of roughly `nanoseconds`.
#[inline]
pub(crate) fn pieces(nanoseconds: usize) -> usize {
    // Small work does not query the pool, because that would start it.
    if nanoseconds < 2 * GRAIN { 1 } else { (nanoseconds / GRAIN).min(rayon::current_num_threads()) }
}

/// Maximum number of pieces.
pub(crate) fn most() -> usize {
    rayon::current_num_threads()
}

/// Calls `work` with each number below `pieces`, in parallel. Not generic, so that the machinery is compiled once and
/// not for every loop.
///
/// The calling thread takes pieces itself, from the start. It waits for helpers that have begun a piece, never for
/// one that has not started: a pool whose threads are busy, or blocked by a lock that the caller holds, delays
/// nothing.
pub(crate) fn for_each(pieces: usize, work: &(dyn Fn(usize) + Sync)) {
    if pieces <= 1 {
        return (0..pieces).for_each(work);
    }
    let wanted = pieces.min(most()) - 1;
    let job = Arc::new(PoolJob {
        next: AtomicUsize::new(0),
        pieces,
        state: AtomicUsize::new(0),
        caller: thread::current(),
        panic: Mutex::new(None),
        // SAFETY: only the lifetime is erased. A helper calls it between `enter` and `leave`; `Closing` waits, before
        // `work` goes out of scope, until every helper that entered has left, and lets none enter afterwards.
        work: unsafe { core::mem::transmute::<&(dyn Fn(usize) + Sync), &'static (dyn Fn(usize) + Sync)>(work) },
    });
    let closing = Closing(&job);
    // A thread that is exiting has lost its thread-locals, and works alone.
    let helpers = HELPERS.try_with(|helpers| helpers.get_or_init(Default::default).clone()).ok();
    if let Some(helpers) = helpers {
        let lingering = helpers.offer(&job);
        for _ in lingering..wanted {
            // Earlier helpers have not started: the pool is busy, and more would only queue up.
            if helpers.queued.fetch_add(1, Ordering::Relaxed) >= MOST_QUEUED {
                helpers.queued.fetch_sub(1, Ordering::Relaxed);
                break;
            }
            let (job, helpers) = (job.clone(), helpers.clone());
            rayon::spawn(move || {
                helpers.queued.fetch_sub(1, Ordering::Relaxed);
                job.help();
                drop(job);
                helpers.linger();
            });
        }
    }
    job.take_pieces();
    // Waits for the helpers even if one of the caller's pieces panics.
    drop(closing);
    let panic = job.panic.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let Some(panic) = panic {
        resume_unwind(panic);
    }
}

/// [`for_each`] of fallible work; returns one of the errors, if any.
pub(crate) fn try_for_each(pieces: usize, work: &(dyn Fn(usize) -> Result<()> + Sync)) -> Result<()> {
    let failed = OnceLock::new();
    for_each(pieces, &|piece| {
        if let Err(error) = work(piece) {
            // Another error came first.
            let _ = failed.set(error);
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

/// Calls `work` with each part, in parallel.
pub(crate) fn try_for_each_part<T: Send>(parts: Vec<T>, work: &(dyn Fn(T) -> Result<()> + Sync)) -> Result<()> {
    let parts: Vec<Mutex<Option<T>>> = parts.into_iter().map(|part| Mutex::new(Some(part))).collect();
    try_for_each(parts.len(), &|at| {
        let part = parts[at].lock().unwrap_or_else(PoisonError::into_inner).take();
        part.into_iter().try_for_each(work)
    })
}

/// Pieces of work that workers take one at a time: each from the front of its own range, whose pieces are adjacent and share its cache;
/// when that is empty, from the back of the others' ranges.
pub(crate) struct Queue(Vec<Mutex<Range<usize>>>);

impl Queue {
    pub(crate) fn new(pieces: usize, workers: usize) -> Self {
        let (each, more) = (pieces / workers, pieces % workers);
        let start = |worker: usize| worker * each + worker.min(more);
        Queue((0..workers).map(|worker| Mutex::new(start(worker)..start(worker + 1))).collect())
    }

    /// The next piece for a worker. Each piece is handed out once.
    pub(crate) fn take(&self, worker: usize) -> Option<usize> {
        let range = |at: usize| self.0[at].lock().unwrap_or_else(PoisonError::into_inner);
        let own = range(worker).next();
        own.or_else(|| (1..self.0.len()).find_map(|step| range((worker + step) % self.0.len()).next_back()))
    }
}

/// Maximum number of helpers of one thread waiting to start, which bounds the queue of a busy pool.
const MOST_QUEUED: usize = 256;

thread_local! {
    /// The helpers of this thread. They belong to the same pool as the thread, or to the global one if it is in none.
    static HELPERS: OnceCell<Arc<Helpers>> = const { OnceCell::new() };
}

/// How long a finished helper polls for its caller's next work before it returns to the pool and may sleep: chained operations follow each
/// other within a few microseconds.
const LINGER: Duration = Duration::from_micros(if cfg!(miri) { 0 } else { 25 });

/// The helpers of one calling thread.
#[derive(Default)]
struct Helpers {
    /// Number of helpers spawned but not started.
    queued: AtomicUsize,
    /// Number of helpers polling for work.
    lingering: AtomicUsize,
    /// Counts the jobs offered to them.
    offers: AtomicUsize,
    /// The job of the last offer. (It may be closed by now, which keeps helpers out of it.)
    offered: Mutex<Option<Arc<PoolJob>>>,
}

impl Helpers {
    /// Offers a job to the lingering helpers, and returns their number. If some leave at this moment, the others take more pieces.
    fn offer(&self, job: &Arc<PoolJob>) -> usize {
        let lingering = self.lingering.load(Ordering::Relaxed);
        if lingering > 0 {
            let before = self.offered.lock().unwrap_or_else(PoisonError::into_inner).replace(job.clone());
            // Dropped after the lock is released: dropping the last handle of a job drops a panic payload, which is a user's value.
            drop(before);
            // Release: whoever sees the count sees the job. (The lock alone would suffice.)
            self.offers.fetch_add(1, Ordering::Release);
        }
        lingering
    }

    /// Helps with the caller's jobs, until it has offered none for a while.
    fn linger(&self) {
        let mut seen = self.offers.load(Ordering::Acquire);
        self.lingering.fetch_add(1, Ordering::Relaxed);
        let mut since = Instant::now();
        while since.elapsed() < LINGER {
            for _ in 0..LOOKS {
                core::hint::spin_loop();
                let offers = self.offers.load(Ordering::Acquire);
                if offers == seen {
                    continue;
                }
                seen = offers;
                let job = self.offered.lock().unwrap_or_else(PoisonError::into_inner).clone();
                if let Some(job) = job {
                    self.lingering.fetch_sub(1, Ordering::Relaxed);
                    job.help();
                    self.lingering.fetch_add(1, Ordering::Relaxed);
                }
                since = Instant::now();
            }
        }
        self.lingering.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Polls of a lingering helper between two reads of the clock.
const LOOKS: usize = 16;

/// Work shared by a caller and its helpers.
struct PoolJob {
    /// The next piece to take.
    next: AtomicUsize,
    pieces: usize,
    /// [`CLOSED`] or not, plus [`HELPER`] for each helper inside.
    state: AtomicUsize,
    caller: Thread,
    /// The first panic of a helper.
    panic: Mutex<Option<Box<dyn core::any::Any + Send>>>,
    /// Valid until the job is closed and all helpers have left.
    work: &'static (dyn Fn(usize) + Sync),
}

/// No helper may enter any more.
const CLOSED: usize = 1;
/// One helper inside.
const HELPER: usize = 2;

impl PoolJob {
    /// Takes pieces until none is left. Every piece is taken by one thread.
    fn take_pieces(&self) {
        loop {
            let piece = self.next.fetch_add(1, Ordering::Relaxed);
            if piece >= self.pieces {
                return;
            }
            (self.work)(piece);
        }
    }

    /// What a helper runs on a thread of the pool.
    fn help(&self) {
        let entered = |state| (state & CLOSED == 0).then_some(state + HELPER);
        // Acquire: sees what the caller prepared.
        if self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, entered).is_err() {
            return;
        }
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.take_pieces())) {
            // (The other payload, a user's value, is dropped after the lock is released.)
            let other = {
                let mut first = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
                if first.is_none() { first.replace(panic) } else { Some(panic) }
            };
            drop(other);
        }
        // Release: the caller sees what was written.
        if self.state.fetch_sub(HELPER, Ordering::Release) == CLOSED + HELPER {
            self.caller.unpark();
        }
    }
}

/// How often the caller spins before it sleeps: about as long as a piece of work takes.
const SPINS: usize = if cfg!(miri) { 1 } else { 2000 };

/// Closes a job on drop, and waits until every helper that entered has left.
struct Closing<'a>(&'a PoolJob);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        let state = &self.0.state;
        state.fetch_or(CLOSED, Ordering::Relaxed);
        let mut looks = 0;
        // Acquire: sees what the helpers wrote.
        while state.load(Ordering::Acquire) != CLOSED {
            if looks < SPINS {
                looks += 1;
                core::hint::spin_loop();
            } else {
                // The last helper to leave unparks this thread. (Spurious wake-ups are harmless.)
                thread::park();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::sync::atomic::AtomicBool;
    use rayon::{ThreadPool, ThreadPoolBuilder};
    use std::sync::mpsc::channel;

    const ROUNDS: usize = if cfg!(miri) { 3 } else { 2000 };

    fn pool(threads: usize) -> ThreadPool {
        ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
    }

    /// The helpers' writes are visible when `for_each` returns, and nobody accesses them afterwards.
    #[test]
    fn every_piece_is_done_once_before_the_caller_goes_on() {
        pool(3).install(|| {
            for round in 0..ROUNDS {
                let mut done = vec![0; 2 + round % 7];
                let places = Shared(done.as_mut_ptr());
                for_each(done.len(), &|piece| {
                    let places = &places;
                    // SAFETY: each piece has a place of its own.
                    unsafe { *places.0.add(piece) += piece + 1 }
                });
                assert!(done.into_iter().eq(1..=2 + round % 7));
            }
        });
    }

    /// A worker takes its own pieces in order, then the others' from the end; together they take every piece once.
    #[test]
    fn a_queue_gives_each_piece_once() {
        let alone = Queue::new(7, 3);
        assert_eq!(core::iter::from_fn(|| alone.take(1)).collect::<Vec<_>>(), [3, 4, 6, 5, 2, 1, 0]);
        for (pieces, workers) in [(0, 2), (1, 4), (100, 3)] {
            let (queue, taken) = (Queue::new(pieces, workers), Mutex::new(vec![]));
            thread::scope(|scope| {
                for worker in 0..workers {
                    let (queue, taken) = (&queue, &taken);
                    scope.spawn(move || {
                        while let Some(piece) = queue.take(worker) {
                            taken.lock().unwrap().push(piece);
                        }
                    });
                }
            });
            let mut taken = taken.into_inner().unwrap();
            taken.sort_unstable();
            assert!(taken.into_iter().eq(0..pieces));
        }
    }

    #[test]
    fn parts_are_given_away_one_by_one() {
        let mut numbers = vec![1; 10];
        let parts = numbers.chunks_mut(3).collect();
        let filled = pool(2).install(|| {
            try_for_each_part(parts, &|part| {
                part.fill(part.len());
                Ok(())
            })
        });
        assert!(filled.is_ok());
        assert_eq!(numbers, [3, 3, 3, 3, 3, 3, 3, 3, 3, 1]);
    }

    #[test]
    fn an_error_of_a_piece_is_the_result() {
        let error = || crate::Error::InvalidArgument { op: "test", reason: "piece 3".to_owned() };
        let result = pool(2).install(|| try_for_each(7, &|piece| if piece == 3 { Err(error()) } else { Ok(()) }));
        assert_eq!(result.unwrap_err().to_string(), error().to_string());
    }

    /// One of two threads panics, whichever takes the piece, while the other one works.
    #[test]
    fn a_panic_reaches_the_caller_when_all_threads_are_done() {
        for panicking in 0..2 {
            let (working, started) = (AtomicBool::new(false), AtomicUsize::new(0));
            let result = catch_unwind(AssertUnwindSafe(|| {
                pool(2).install(|| {
                    for_each(2, &|piece| {
                        // Both threads take a piece, unless the other one never starts: then the caller takes both.
                        started.fetch_add(1, Ordering::Relaxed);
                        for _ in 0..10_000 {
                            if started.load(Ordering::Relaxed) >= 2 {
                                break;
                            }
                            thread::yield_now();
                        }
                        if piece == panicking {
                            panic!("piece {piece}");
                        }
                        working.store(true, Ordering::Relaxed);
                        for _ in 0..100 {
                            thread::yield_now();
                        }
                        working.store(false, Ordering::Relaxed);
                    });
                });
            }));
            assert_eq!(result.unwrap_err().downcast_ref::<String>(), Some(&format!("piece {panicking}")));
            assert!(!working.load(Ordering::Relaxed));
        }
    }

    /// A finished helper polls for its caller's next job, and takes it without being spawned again. (Depends on real time, which Miri does
    /// not model.)
    #[test]
    #[cfg_attr(miri, ignore)]
    fn a_helper_that_lingers_takes_the_next_job() {
        let pool = pool(2);
        let took_an_offer = || {
            let helpers = HELPERS.with(|helpers| helpers.get_or_init(Default::default).clone());
            let offers = helpers.offers.load(Ordering::Relaxed);
            let started = AtomicUsize::new(0);
            let since = Instant::now();
            for_each(2, &|_| {
                // Time for another thread to take the second piece.
                started.fetch_add(1, Ordering::Relaxed);
                while started.load(Ordering::Relaxed) < 2 && since.elapsed() < Duration::from_millis(1) {
                    core::hint::spin_loop();
                }
            });
            // One helper is needed: if it was offered the job, none was spawned.
            let in_time = since.elapsed() < Duration::from_millis(1);
            helpers.offers.load(Ordering::Relaxed) > offers && in_time
        };
        assert!(pool.install(|| (0..100_000).any(|_| took_an_offer())));
    }

    /// The pool's other thread is busy: the caller does all the work, and the pool's queue stays bounded.
    #[test]
    fn helpers_that_do_not_start_are_bounded_in_number() {
        let pool = pool(2);
        let (start, started) = channel();
        let (stop, stopped) = channel::<()>();
        pool.spawn(move || {
            start.send(()).unwrap();
            // An error means that the other end was dropped, too.
            let _ = stopped.recv();
        });
        started.recv().unwrap();
        let helpers = pool.install(|| {
            for _ in 0..MOST_QUEUED + ROUNDS {
                for_each(2, &|_| {});
            }
            let helpers = HELPERS.with(|helpers| helpers.get().unwrap().clone());
            // (Afterwards this thread of the pool starts them itself.)
            assert_eq!(helpers.queued.load(Ordering::Relaxed), MOST_QUEUED);
            helpers
        });
        stop.send(()).unwrap();
        while helpers.queued.load(Ordering::Relaxed) != 0 {
            thread::yield_now();
        }
    }
}
