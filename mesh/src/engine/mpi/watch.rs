//! A thread that sees to it that nobody waits for ever: it ends all ranks when a call takes longer than it may.

use super::super::{Call, Limits, described::Described};
use super::library::Loaded;
use core::time::Duration;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// What a rank does last.
pub(super) const ENDING: &str = "to end";

/// The thread, and what it is told.
pub(super) struct Watch {
    now: Arc<Mutex<Option<Doing>>>,
    // Dropped, it ends the thread.
    _going_on: Sender<()>,
}

/// What this rank waits for.
struct Doing {
    since: Instant,
    call: Option<Call>,
    what: &'static str,
}

/// While it is there, the thread counts.
pub(super) struct Watched<'a>(&'a Watch);
impl Drop for Watched<'_> {
    fn drop(&mut self) {
        *self.0.now() = None;
    }
}

impl Watch {
    pub(super) fn new(mpi: &'static Loaded, rank: usize, limits: Limits) -> Self {
        let (going_on, ended) = channel();
        let now: Arc<Mutex<Option<Doing>>> = Arc::default();
        let seen = now.clone();
        let run = move || watch(mpi, rank, limits, &seen, &ended);
        // Without the thread, nobody counts, and everything else goes on.
        let _ = std::thread::Builder::new().name("castiron-mesh".to_owned()).spawn(run);
        Watch { now, _going_on: going_on }
    }

    fn now(&self) -> std::sync::MutexGuard<'_, Option<Doing>> {
        self.now.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Counts until what is returned is dropped.
    pub(super) fn call(&self, call: &Call) -> Watched<'_> {
        *self.now() = Some(Doing { since: Instant::now(), call: Some(call.clone()), what: "" });
        Watched(self)
    }
    /// The same for what is no operation of a line.
    pub(super) fn other(&self, what: &'static str) -> Watched<'_> {
        *self.now() = Some(Doing { since: Instant::now(), call: None, what });
        Watched(self)
    }
}

fn watch(mpi: &'static Loaded, rank: usize, limits: Limits, now: &Mutex<Option<Doing>>, ended: &Receiver<()>) {
    let step = (limits.wait / 8).clamp(Duration::from_millis(1), Duration::from_secs(1));
    let mut told = false;
    while let Err(RecvTimeoutError::Timeout) = ended.recv_timeout(step) {
        // The error that a program ends with is printed after this, and may be why the others do not come.
        let ending = |now: &Doing| now.what == ENDING && now.since.elapsed() > Duration::from_secs(5);
        if !told && now.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).as_ref().is_some_and(ending) {
            told = true;
            eprintln!("rank {rank} has come to the end of its mesh, and waits for the others");
        }
        let late = now
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
            .take_if(|now| now.since.elapsed() > limits.wait);
        if let Some(late) = late {
            let what = late.call.as_ref().map_or_else(|| late.what.to_owned(), |call| Described::new(call).to_string());
            end(mpi, &late_text(rank, limits, &what), 1);
        }
    }
}

pub(super) fn late_text(rank: usize, limits: Limits, what: &str) -> String {
    format!("rank {rank}: not all ranks came within {} s (CASTIRON_MESH_SECONDS): {what}", limits.wait.as_secs_f64())
}

/// Ends all ranks. What was begun can't be taken back: MPI still reads and writes its memory, so that this process must end, too.
pub(super) fn end(mpi: &'static Loaded, text: &str, code: i32) -> ! {
    eprintln!("{text}");
    // The launcher ends the others when this one ends, if MPI can't be told (another thread may be inside of it).
    std::thread::spawn(move || {
        // Launchers may lose what was printed just before.
        std::thread::sleep(Duration::from_millis(100));
        // SAFETY: MPI was initialised; its standard has a rank ended at any time.
        unsafe { (mpi.functions.MPI_Abort)(mpi.world(), code) };
    });
    std::thread::sleep(Duration::from_secs(2));
    // SAFETY: it has no requirements; destructors, which might wait for other ranks, do not run.
    unsafe { libc::_exit(code) }
}
