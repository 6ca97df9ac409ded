//! A thread that lets MPI go on with what was begun while the program computes: most libraries do so only inside of their functions.

use super::library::{Handle, Loaded};
use core::ffi::c_int;
use core::time::Duration;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread::JoinHandle;

/// Whose turn it is to call MPI: one thread at a time does.
pub(super) struct Progress {
    shared: Arc<Shared>,
    /// `None` where calls of two threads, by turns, are not allowed, or ranks outnumber cores.
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    turn: Mutex<()>,
    /// How many operations were begun and are not done.
    begun: AtomicUsize,
    ended: AtomicBool,
}

impl Shared {
    fn turn(&self) -> MutexGuard<'_, ()> {
        self.turn.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl Progress {
    /// `comm` is a communicator of this rank's number `rank`.
    pub(super) fn new(mpi: &'static Loaded, comm: Handle, rank: usize, allowed: bool) -> Self {
        let shared = Arc::<Shared>::default();
        let seen = shared.clone();
        let run = move || progress(mpi, comm, rank as c_int, &seen);
        let thread = std::thread::Builder::new().name("castiron-mesh-progress".to_owned());
        let thread = if allowed { thread.spawn(run).ok() } else { None };
        Progress { shared, thread }
    }
    /// No other thread calls MPI until what is returned is dropped.
    pub(super) fn turn(&self) -> Option<MutexGuard<'_, ()>> {
        self.thread.as_ref().map(|_| self.shared.turn())
    }
    /// Something was begun.
    pub(super) fn begun(&self) {
        self.shared.begun.fetch_add(1, Ordering::AcqRel);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
    /// Something is done.
    pub(super) fn done(&self) {
        self.shared.begun.fetch_sub(1, Ordering::AcqRel);
    }
    /// The thread calls MPI no more.
    pub(super) fn end(&mut self) {
        self.shared.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // (It does not panic.)
            let _ = thread.join();
        }
    }
}

fn progress(mpi: &'static Loaded, comm: Handle, rank: c_int, shared: &Shared) {
    while !shared.ended.load(Ordering::Acquire) {
        if shared.begun.load(Ordering::Acquire) == 0 {
            std::thread::park();
            continue;
        }
        {
            let _turn = shared.turn();
            let mut found = 0;
            let mut status = [0_u64; 16];
            // Nobody sends to itself with this tag: MPI looks, and goes on with everything meanwhile.
            // SAFETY: it is this thread's turn; the communicator is there until the thread has ended; there is room for a status.
            unsafe { (mpi.functions.MPI_Iprobe)(rank, 9, comm, &mut found, status.as_mut_ptr().cast()) };
        }
        std::thread::sleep(Duration::from_micros(20));
    }
}
