//! Ranks as processes, by MPI.
//!
//! Where ranks do not outnumber the cores of their host, operations are MPI's blocking ones, and a thread (`watch.rs`) sees to the limit of time; where they
//! do, they are begun, and asked for by turns with giving the core to others: a blocking call may spin while those it waits for have no core.

mod library;
mod operations;
mod posted;
mod progress;
mod watch;

pub(super) use library::is_launched;

use super::described::Described;
use super::wire::Memory;
use super::{Call, Engine, InFlight, Limits, Reduce};
use crate::error::{Error, Result};
use castiron::DType;
use core::cell::RefCell;
use core::ffi::{c_int, c_void};
use library::{Abi, Handle, Loaded};
use posted::{Numbers, Pending, Posted, place};
use progress::Progress;
use std::collections::HashMap;
use std::rc::Rc;
use std::time::Instant;
use watch::{ENDING, Watch, end, late_text};

/// MPI, initialised, with the communicators of a mesh.
struct Mpi(Rc<Ranks>);

struct Ranks {
    mpi: &'static Loaded,
    rank: usize,
    limits: Limits,
    /// Of all ranks, and of the line along each axis.
    comms: Vec<Handle>,
    /// Operations that are made of functions of this crate.
    operations: RefCell<HashMap<(DType, Reduce), Handle>>,
    /// Whether calls may block.
    blocks: bool,
    watch: Watch,
    progress: Progress,
}

/// The library, initialised: how many ranks there are, and which one this is.
pub(crate) struct Started {
    mpi: &'static Loaded,
    rank: usize,
    ranks: usize,
    /// Whether threads may call MPI by turns.
    by_turns: bool,
}

impl Started {
    pub(crate) fn rank(&self) -> usize {
        self.rank
    }
    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    pub(crate) fn new() -> Result<Self> {
        // (Never unloaded: its threads may go on after its last function.)
        let mpi: &'static Loaded = Box::leak(Box::new(Loaded::find()?));
        let mut is_initialised = 0;
        // SAFETY: it may be called before MPI is initialised; a number is written.
        check(mpi, unsafe { (mpi.functions.MPI_Initialized)(&mut is_initialised) })?;
        if is_initialised != 0 {
            return Err(Error::Mpi(format!("{}: another part of this program has initialised MPI", mpi.name)));
        }
        let (none, mut provided) = (core::ptr::null_mut(), 0);
        // SAFETY: MPI is initialised once, as a process has one mesh; no arguments of the program are given.
        check(mpi, unsafe { (mpi.functions.MPI_Init_thread)(none, none.cast(), mpi.by_turns(), &mut provided) })?;
        let world = mpi.world();
        // SAFETY: a communicator and a handler of errors of this library.
        check(mpi, unsafe { (mpi.functions.MPI_Comm_set_errhandler)(world, mpi.errors_return) })?;
        let (rank, ranks) = (rank_in(mpi, world)?, size_of_comm(mpi, world)?);
        if let Some(told) = library::ranks_told().filter(|told| *told != ranks) {
            return Err(Error::Mpi(format!(
                "the launcher says that there are {told} ranks, and {} ({}) that there are {ranks}: it is not the library of this launcher; CASTIRON_MPI \
                 names another",
                mpi.name,
                mpi.version()
            )));
        }
        Ok(Started { mpi, rank, ranks, by_turns: provided >= mpi.by_turns() })
    }

    /// Ends MPI, with all other ranks.
    pub(crate) fn leave(self) {
        // SAFETY: MPI was initialised, and nothing was begun.
        unsafe { (self.mpi.functions.MPI_Finalize)() };
    }

    /// The engine of a mesh of these sizes.
    pub(crate) fn engine(self, sizes: &[usize], limits: Limits) -> Result<Box<dyn Engine>> {
        let Started { mpi, rank, ranks, by_turns } = self;
        let watch = Watch::new(mpi, rank, limits);
        let watched = watch.other("to join the mesh");
        let split = |first: usize, at: usize| {
            let (Ok(first), Ok(at)) = (c_int::try_from(first), c_int::try_from(at)) else {
                return Err(Error::Mpi(format!("{ranks} ranks are more than MPI has")));
            };
            let mut comm = 0;
            // SAFETY: all ranks split the same communicator.
            check(mpi, unsafe { (mpi.functions.MPI_Comm_split)(mpi.world(), first, at, &mut comm) })?;
            Ok(comm)
        };
        let mut comms = vec![split(0, rank)?];
        for axis in 0..sizes.len() {
            let step: usize = sizes[axis + 1..].iter().product();
            let at = rank / step % sizes[axis];
            comms.push(split(rank - at * step, at)?);
        }
        let blocks = has_cores(mpi)?;
        drop(watched);
        let progress = Progress::new(mpi, comms[0], rank, blocks && by_turns);
        let ranks = Ranks { mpi, rank, limits, comms, operations: RefCell::default(), blocks, watch, progress };
        Ok(Box::new(Mpi(Rc::new(ranks))))
    }
}

fn check(mpi: &Loaded, code: c_int) -> Result<()> {
    if code == 0 { Ok(()) } else { Err(Error::Mpi(mpi.error_text(code))) }
}
fn rank_in(mpi: &Loaded, comm: Handle) -> Result<usize> {
    let mut rank = 0;
    // SAFETY: a communicator of this library; a number is written.
    check(mpi, unsafe { (mpi.functions.MPI_Comm_rank)(comm, &mut rank) })?;
    Ok(usize::try_from(rank).unwrap_or(0))
}
fn size_of_comm(mpi: &Loaded, comm: Handle) -> Result<usize> {
    let mut size = 0;
    // SAFETY: a communicator of this library; a number is written.
    check(mpi, unsafe { (mpi.functions.MPI_Comm_size)(comm, &mut size) })?;
    Ok(usize::try_from(size).unwrap_or(1))
}

/// Whether the ranks on each host have a core each: those that any of them may run on are counted.
fn has_cores(mpi: &Loaded) -> Result<bool> {
    let mut host = 0;
    // SAFETY: all ranks split the same communicator.
    check(mpi, unsafe { (mpi.functions.MPI_Comm_split_type)(mpi.world(), mpi.shared(), 0, mpi.no_info, &mut host) })?;
    let ranks = size_of_comm(mpi, host)?;
    // SAFETY: a set of cores is bits.
    let mut set: libc::cpu_set_t = unsafe { core::mem::zeroed() };
    // SAFETY: the call writes at most the bytes of `set`, whose length it is given.
    unsafe { libc::sched_getaffinity(0, size_of_val(&set), &mut set) };
    // SAFETY: a set of cores is bits.
    let count = |set: &libc::cpu_set_t| usize::try_from(unsafe { libc::CPU_COUNT(set) }).unwrap_or(0);
    let own = count(&set);
    combine_bytes(mpi, host, Reduce::Or, &mut set)?;
    // (A quota of a container is no set of cores.)
    let allowed = std::thread::available_parallelism().map_or(own, |cores| cores.get());
    let cores = if allowed < own { allowed } else { count(&set) };
    // What blocks on one rank must block on all.
    let mut all = [u8::from(ranks <= cores)];
    combine_bytes(mpi, mpi.world(), Reduce::And, &mut all)?;
    Ok(all[0] != 0)
}

/// Combines the bytes of a value of each rank of a communicator.
fn combine_bytes<T: Copy>(mpi: &Loaded, comm: Handle, reduce: Reduce, value: &mut T) -> Result<()> {
    let (dtype, operation) = (mpi.dtype(DType::U8), mpi.operation(DType::U8, reduce).unwrap_or(0));
    let (start, len) = (core::ptr::from_mut(value).cast(), size_of::<T>() as c_int);
    // SAFETY: as many bytes are read and written in place on each rank; the two callers' types are bits.
    check(mpi, unsafe { (mpi.functions.MPI_Allreduce)(mpi.in_place(), start, len, dtype, operation, comm) })
}

impl Ranks {
    fn error(&self, call: &Call, code: c_int) -> Error {
        let text = self.mpi.error_text(code);
        Error::Mpi(format!("rank {}: {}: {text}", self.rank, Described::new(call)))
    }
    fn check(&self, call: &Call, code: c_int) -> Result<()> {
        if code == 0 { Ok(()) } else { Err(self.error(call, code)) }
    }

    fn operation(&self, dtype: DType, reduce: Reduce) -> Result<Handle> {
        if let Some(own) = self.mpi.operation(dtype, reduce) {
            return Ok(own);
        }
        if let Some(made) = self.operations.borrow().get(&(dtype, reduce)) {
            return Ok(*made);
        }
        let function = operations::function(dtype, reduce)
            .ok_or_else(|| Error::Arguments(format!("there is no {reduce:?} of {dtype}")))?;
        let mut made = 0;
        // SAFETY: the function is there as long as the program; it commutes.
        check(self.mpi, unsafe { (self.mpi.functions.MPI_Op_create)(function, 1, &mut made) })?;
        self.operations.borrow_mut().insert((dtype, reduce), made);
        Ok(made)
    }

    /// Waits for a request.
    fn finish(&self, call: &Call, pending: &mut Pending, since: Instant) -> Result<()> {
        // Longer than a status of any ABI.
        let mut status = [0_u64; 16];
        let place = status.as_mut_ptr().cast::<c_void>();
        let functions = &self.mpi.functions;
        let request = &mut pending.request;
        if self.blocks {
            // SAFETY: a request of this library that was not waited for; there is room for a status.
            self.check(call, unsafe { (functions.MPI_Wait)(request, place) })?;
        } else {
            let (mut done, mut turns) = (0, 0_u32);
            loop {
                // SAFETY: the same.
                self.check(call, unsafe { (functions.MPI_Test)(request, &mut done, place) })?;
                if done != 0 {
                    break;
                }
                turns = turns.wrapping_add(1);
                if turns.is_multiple_of(16) {
                    if since.elapsed() > self.limits.wait {
                        end(self.mpi, &late_text(self.rank, self.limits, &Described::new(call).to_string()), 1);
                    }
                    std::thread::yield_now();
                }
            }
        }
        if let Some(expected) = pending.received {
            let mut count = 0;
            // SAFETY: a status that was written, a datatype of this library.
            let code = unsafe { (functions.MPI_Get_count)(place, self.mpi.dtype(call.dtype), &mut count) };
            self.check(call, code)?;
            if count != expected {
                return Err(Error::Mismatch(format!(
                    "rank {}: {count} elements came, and {expected} were expected: {}",
                    self.rank,
                    Described::new(call)
                )));
            }
        }
        Ok(())
    }
}

impl Engine for Mpi {
    fn run(&self, call: &Call, own: &[u8], into: &mut [u8]) -> Result<()> {
        let ranks = &*self.0;
        let _watched = ranks.blocks.then(|| ranks.watch.call(call));
        let _turn = ranks.progress.turn();
        let numbers = ranks.numbers(call);
        let mut posted = Posted { ranks, call, requests: Vec::new() };
        // SAFETY: the front compares lengths with the call; all are borrowed until everything is finished.
        unsafe {
            let into = place(into.as_mut_ptr(), into.len()).cast_mut();
            posted.post(place(own.as_ptr(), own.len()), into, &numbers, ranks.blocks)?;
        }
        posted.finish()
    }

    fn begin(&self, call: Call, own: Box<dyn Memory>, into: Box<dyn Memory>) -> Result<Box<dyn InFlight>> {
        let ranks = self.0.clone();
        let numbers = ranks.numbers(&call);
        let mut flight = Flight { ranks, call, requests: Vec::new(), numbers, own, into: Some(into) };
        let Flight { ranks, call, numbers, own, into, .. } = &mut flight;
        let turn = ranks.progress.turn();
        let mut posted = Posted { ranks, call, requests: Vec::new() };
        let into = into.as_mut().map_or(core::ptr::null_mut(), |into| {
            let bytes = into.bytes().len();
            place(into.start(), bytes).cast_mut()
        });
        // SAFETY: the front compares lengths with the call; the flight owns all of them until everything is finished.
        unsafe { posted.post(place(own.bytes().as_ptr(), own.bytes().len()), into, numbers, false)? };
        let requests = core::mem::take(&mut posted.requests);
        drop(posted);
        drop(turn);
        ranks.progress.begun();
        flight.requests = requests;
        Ok(Box::new(flight))
    }

    fn name(&self) -> String {
        let Loaded { abi, name, .. } = self.0.mpi;
        let abi = match abi {
            Abi::Standard => "standard ABI",
            Abi::OpenMpi => "ABI of Open MPI",
            Abi::Mpich => "ABI of MPICH",
        };
        let calls = if self.0.blocks { "blocking calls" } else { "calls that yield" };
        format!("{} ({name}, {abi}, {calls})", self.0.mpi.version())
    }
    fn abort(&self, text: &str) -> ! {
        end(self.0.mpi, text, 1)
    }
    fn panicking(&self) {
        end(self.0.mpi, &format!("rank {}: it panicked, and ends the others", self.0.rank), 101)
    }
    fn compares(&self) -> bool {
        false
    }
}

/// What was begun, with its memory.
struct Flight {
    ranks: Rc<Ranks>,
    call: Call,
    requests: Vec<Pending>,
    numbers: Numbers,
    own: Box<dyn Memory>,
    into: Option<Box<dyn Memory>>,
}

impl Flight {
    fn wait(&mut self) -> Result<()> {
        let requests = core::mem::take(&mut self.requests);
        let ranks = &*self.ranks;
        ranks.progress.done();
        let _watched = ranks.blocks.then(|| ranks.watch.call(&self.call));
        let _turn = ranks.progress.turn();
        Posted { ranks, call: &self.call, requests }.finish()
    }
}

impl InFlight for Flight {
    fn finish(mut self: Box<Self>) -> Result<Box<dyn Memory>> {
        self.wait()?;
        let mut into = self.into.take().ok_or_else(|| Error::Arguments("waited for twice".to_owned()))?;
        into.settle();
        Ok(into)
    }
}

impl Drop for Flight {
    fn drop(&mut self) {
        // MPI writes the memory until it is done.
        if !self.requests.is_empty() {
            let _ = self.wait();
        }
    }
}

impl Drop for Ranks {
    fn drop(&mut self) {
        self.progress.end();
        let _watched = self.watch.other(ENDING);
        // SAFETY: what was begun has a reference to this, and so is finished.
        unsafe { (self.mpi.functions.MPI_Finalize)() };
    }
}
