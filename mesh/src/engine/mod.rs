//! What carries elements between ranks. An engine knows bytes, lengths and dtypes, and is compiled once; what is generic over elements
//! (`front.rs`) only hands them on.

mod combine;
mod described;
mod front;
mod limits;
#[cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]
mod mpi;
#[cfg(not(all(target_os = "linux", target_pointer_width = "64", target_endian = "little")))]
#[path = "mpi/absent.rs"]
mod mpi;
mod threads;
mod wire;

#[cfg(test)]
mod tests;

pub use threads::simulate;
pub(crate) use wire::Wire;

pub(crate) use front::{Request, add};
pub(crate) use limits::Limits;

use crate::error::{Error, Result};
use castiron::DType;
use core::panic::Location;
use wire::Memory;

/// What is made of the elements that the ranks have in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduce {
    /// `+`
    Sum,
    /// `*`
    Product,
    /// NaN if there is one.
    Max,
    /// NaN if there is one.
    Min,
    /// Bit by bit, of integers and truth values.
    And,
    /// Bit by bit, of integers and truth values.
    Or,
}

impl Reduce {
    pub(crate) const ALL: [Reduce; 6] =
        [Reduce::Sum, Reduce::Product, Reduce::Max, Reduce::Min, Reduce::And, Reduce::Or];
}

/// The ranks along one axis of the mesh, or all of them, as this one sees them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line {
    /// This rank's position among them.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
    /// 0 for all ranks, else one more than the axis' position.
    pub(crate) axis: usize,
    // Their numbers among all ranks: `first + position * step`.
    pub(crate) first: usize,
    pub(crate) step: usize,
}

impl Line {
    /// The number among all ranks of the one at this position.
    pub(crate) fn number(&self, position: usize) -> usize {
        self.first + position * self.step
    }
}

/// What the ranks of a line do together. Counts are elements.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Collective {
    /// In place.
    Reduce(Reduce),
    /// Each rank has as many as its count; all get all.
    Gather(Vec<usize>),
    /// Each rank has all; each gets as many of the reduced as its count.
    ScatterReduced(Reduce, Vec<usize>),
    /// Counts for each rank, and from each.
    Exchange(Vec<usize>, Vec<usize>),
    /// In place, from this rank of the line.
    Broadcast(usize),
    /// Elements for the rank before and for the one after; from the one before, and from the one after. At an end they are 0.
    Neighbours { sent: [usize; 2], received: [usize; 2], periodic: bool },
}

impl Collective {
    /// Whether what it reads is where it writes.
    fn is_in_place(&self) -> bool {
        matches!(self, Collective::Reduce(_) | Collective::Broadcast(_))
    }
}

/// An operation of a line.
#[derive(Clone, Debug)]
pub(crate) struct Call {
    pub what: &'static str,
    pub line: Line,
    pub dtype: DType,
    /// How many elements this rank has.
    pub len: usize,
    pub collective: Collective,
    pub at: &'static Location<'static>,
    /// Which of this rank's operations it is.
    pub number: u64,
}

/// What carries elements between ranks. Lines of more than one rank come here, and lengths that fit.
pub(crate) trait Engine {
    /// Does an operation. `own` is what this rank has, and empty if that is in `into` already (`is_in_place`).
    fn run(&self, call: &Call, own: &[u8], into: &mut [u8]) -> Result<()>;
    /// Begins an operation; the memory is the engine's until it is done.
    fn begin(&self, call: Call, own: Box<dyn Memory>, into: Box<dyn Memory>) -> Result<Box<dyn InFlight>>;
    /// A line about it.
    fn name(&self) -> String;
    /// Ends all ranks.
    fn abort(&self, text: &str) -> !;
    /// This rank's code panics, and is about to leave.
    fn panicking(&self);
    /// Whether it compares by itself what the ranks are about to do.
    fn compares(&self) -> bool;
}

/// What was begun. Dropped, it waits.
pub(crate) trait InFlight {
    /// Waits; gives the memory it has written.
    fn finish(self: Box<Self>) -> Result<Box<dyn Memory>>;
}

/// Whether a launcher has started this program.
pub(crate) fn is_launched() -> bool {
    mpi::is_launched()
}

/// What the launcher of this program has started; `None` without one.
pub(crate) fn start() -> Result<Option<mpi::Started>> {
    if mpi::is_launched() {
        return mpi::Started::new().map(Some);
    }
    // Each would be a mesh of its own, and do everything.
    match std::env::var("SLURM_STEP_NUM_TASKS").ok().and_then(|tasks| tasks.parse::<usize>().ok()) {
        Some(tasks) if tasks > 1 => Err(Error::Mpi(format!(
            "srun has started {tasks} of this program, and does not tell them of each other: `srun --mpi=pmix` or `--mpi=pmi2` does (`srun --mpi=list` \
             says which there are)"
        ))),
        _ => Ok(None),
    }
}

/// An empty list with room for `len` elements.
pub(crate) fn room<T>(len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    list.try_reserve_exact(len).map_err(|_| castiron::Error::__out_of_memory(len.saturating_mul(size_of::<T>())))?;
    Ok(list)
}

/// As many elements as `len`, which are written next.
pub(crate) fn blank<E: Wire>(len: usize) -> Result<Vec<E>> {
    let mut list = room(len)?;
    list.resize(len, E::default());
    Ok(list)
}
