//! Operations, posted: what MPI is called with.

use super::super::{Call, Collective};
use super::Ranks;
use super::library::Handle;
use crate::error::Result;
use core::ffi::c_int;
use std::time::Instant;

/// What was posted, and is not done: dropped, it waits.
pub(super) struct Posted<'a> {
    pub ranks: &'a Ranks,
    pub call: &'a Call,
    pub requests: Vec<Pending>,
}

pub(super) struct Pending {
    pub request: Handle,
    /// How many elements must come, if it receives from one rank.
    pub received: Option<c_int>,
}

/// Numbers that MPI reads until an operation is done.
#[derive(Default)]
pub(super) struct Numbers {
    counts: Vec<c_int>,
    starts: Vec<c_int>,
}

impl Numbers {
    /// Of collectives that take them; `None` if they are beyond an `int`, or the piece.
    fn new(counts: &[usize], most: usize) -> Option<Self> {
        let mut numbers = Numbers::default();
        let mut start = 0_usize;
        for count in counts {
            numbers.counts.push(c_int::try_from(*count).ok()?);
            numbers.starts.push(c_int::try_from(start).ok()?);
            start = start.checked_add(*count).filter(|all| *all <= most)?;
        }
        Some(numbers)
    }
}

/// Calls the blocking form of a function, or begins the other.
macro_rules! either {
    ($posted:ident, $blocks:expr, $blocking:ident, $begun:ident, ($($argument:expr),* $(,)?)) => {{
        let functions = &$posted.ranks.mpi.functions;
        if $blocks {
            // SAFETY: as `post` asks.
            let code = unsafe { (functions.$blocking)($($argument),*) };
            $posted.ranks.check($posted.call, code)
        } else {
            let mut request = 0;
            // SAFETY: as `post` asks.
            let code = unsafe { (functions.$begun)($($argument,)* &mut request) };
            $posted.ranks.check($posted.call, code).map(|()| $posted.requests.push(Pending { request, received: None }))
        }
    }};
}

impl Posted<'_> {
    /// Posts an operation, or does it at once if `blocks`.
    ///
    /// # Safety
    /// `own` and `into` have the elements of the call, and stay as they are, as `numbers` do, until this is finished or dropped.
    pub(super) unsafe fn post(&mut self, own: *const u8, into: *mut u8, numbers: &Numbers, blocks: bool) -> Result<()> {
        let (ranks, call) = (self.ranks, self.call);
        let (mpi, width) = (ranks.mpi, call.dtype.itemsize());
        let (comm, dtype) = (ranks.comms[call.line.axis], mpi.dtype(call.dtype));
        let most = ranks.most(call);
        // SAFETY (of each `byte_add`): a position within the elements.
        match &call.collective {
            Collective::Reduce(reduce) => {
                let op = ranks.operation(call.dtype, *reduce)?;
                for (start, len) in pieces(call.len, most) {
                    // SAFETY: within the elements.
                    let at = unsafe { into.byte_add(start * width) }.cast();
                    either!(self, blocks, MPI_Allreduce, MPI_Iallreduce, (mpi.in_place(), at, len, dtype, op, comm))?;
                }
            }
            Collective::Broadcast(from) => {
                for (start, len) in pieces(call.len, most) {
                    // SAFETY: within the elements.
                    let at = unsafe { into.byte_add(start * width) }.cast();
                    either!(self, blocks, MPI_Bcast, MPI_Ibcast, (at, len, dtype, *from as c_int, comm))?;
                }
            }
            Collective::Gather(counts) if numbers.counts.is_empty() => {
                // Too many for one call: each rank's block is broadcast.
                let mut block = into;
                for (from, count) in counts.iter().enumerate() {
                    if from == call.line.rank {
                        // SAFETY: the own block, as long here as there.
                        unsafe { core::ptr::copy_nonoverlapping(own, block, count * width) };
                    }
                    for (start, len) in pieces(*count, most) {
                        // SAFETY: within the elements.
                        let at = unsafe { block.byte_add(start * width) }.cast();
                        either!(self, blocks, MPI_Bcast, MPI_Ibcast, (at, len, dtype, from as c_int, comm))?;
                    }
                    // SAFETY: at most behind the last element.
                    block = unsafe { block.byte_add(count * width) };
                }
            }
            Collective::Gather(_) => {
                let (counts, starts) = (numbers.counts.as_ptr(), numbers.starts.as_ptr());
                let len = numbers.counts[call.line.rank];
                let (own, into) = (own.cast(), into.cast());
                either!(
                    self,
                    blocks,
                    MPI_Allgatherv,
                    MPI_Iallgatherv,
                    (own, len, dtype, into, counts, starts, dtype, comm)
                )?;
            }
            Collective::ScatterReduced(reduce, counts) if numbers.counts.is_empty() => {
                let op = ranks.operation(call.dtype, *reduce)?;
                let mut block = own;
                for (to, count) in counts.iter().enumerate() {
                    for (start, len) in pieces(*count, most) {
                        // SAFETY: within the elements, those of `into` on the rank that gets them.
                        let from = unsafe { block.byte_add(start * width) }.cast();
                        let at = if to == call.line.rank { into.wrapping_byte_add(start * width) } else { into };
                        either!(
                            self,
                            blocks,
                            MPI_Reduce,
                            MPI_Ireduce,
                            (from, at.cast(), len, dtype, op, to as c_int, comm)
                        )?;
                    }
                    // SAFETY: at most behind the last element.
                    block = unsafe { block.byte_add(count * width) };
                }
            }
            Collective::ScatterReduced(reduce, _) => {
                let op = ranks.operation(call.dtype, *reduce)?;
                let (counts, own, into) = (numbers.counts.as_ptr(), own.cast(), into.cast());
                either!(self, blocks, MPI_Reduce_scatter, MPI_Ireduce_scatter, (own, into, counts, dtype, op, comm))?;
            }
            Collective::Exchange(to, from) => {
                let (rank, mut starts) = (call.line.rank, [0, 0]);
                for (other, (out, inn)) in to.iter().zip(from).enumerate() {
                    let [out_start, in_start] = starts;
                    starts = [out_start + out, in_start + inn];
                    // SAFETY: where the parts for and from the other rank begin.
                    let (out_at, in_at) = unsafe { (own.byte_add(out_start * width), into.byte_add(in_start * width)) };
                    if other == rank {
                        // SAFETY: what stays is as long here as there.
                        unsafe { core::ptr::copy_nonoverlapping(out_at, in_at, out * width) };
                        continue;
                    }
                    // SAFETY: the parts.
                    unsafe { self.receive(in_at, *inn, other, 0)? };
                    // SAFETY: the parts.
                    unsafe { self.send(out_at, *out, other, 0)? };
                }
            }
            Collective::Neighbours { sent, received, periodic } => {
                let (rank, size) = (call.line.rank, call.line.size);
                let before = (*periodic || rank > 0).then_some((rank + size - 1) % size);
                let after = (*periodic || rank + 1 < size).then_some((rank + 1) % size);
                // What goes up has another tag than what goes down: the two neighbours may be one rank.
                let (down, up) = (1, 2);
                if let Some(before) = before {
                    // SAFETY: the first part of both.
                    unsafe { self.receive(into, received[0], before, up)? };
                }
                if let Some(after) = after {
                    // SAFETY: the second part.
                    unsafe { self.receive(into.byte_add(received[0] * width), received[1], after, down)? };
                }
                if let Some(before) = before {
                    // SAFETY: the first part.
                    unsafe { self.send(own, sent[0], before, down)? };
                }
                if let Some(after) = after {
                    // SAFETY: the second part.
                    unsafe { self.send(own.byte_add(sent[0] * width), sent[1], after, up)? };
                }
            }
        }
        Ok(())
    }

    /// # Safety
    /// As for `post`.
    unsafe fn send(&mut self, from: *const u8, len: usize, to: usize, tag: c_int) -> Result<()> {
        let (ranks, call) = (self.ranks, self.call);
        let (dtype, comm) = (ranks.mpi.dtype(call.dtype), ranks.comms[call.line.axis]);
        for (start, len) in pieces(len, ranks.most(call)) {
            let mut request = 0;
            let at = from.wrapping_byte_add(start * call.dtype.itemsize()).cast();
            // SAFETY: as asked.
            let code = unsafe { (ranks.mpi.functions.MPI_Isend)(at, len, dtype, to as c_int, tag, comm, &mut request) };
            ranks.check(call, code)?;
            self.requests.push(Pending { request, received: None });
        }
        Ok(())
    }
    /// # Safety
    /// As for `post`.
    unsafe fn receive(&mut self, into: *mut u8, len: usize, from: usize, tag: c_int) -> Result<()> {
        let (ranks, call) = (self.ranks, self.call);
        let (dtype, comm) = (ranks.mpi.dtype(call.dtype), ranks.comms[call.line.axis]);
        for (start, len) in pieces(len, ranks.most(call)) {
            let mut request = 0;
            let at = into.wrapping_byte_add(start * call.dtype.itemsize()).cast();
            // SAFETY: as asked.
            let code =
                unsafe { (ranks.mpi.functions.MPI_Irecv)(at, len, dtype, from as c_int, tag, comm, &mut request) };
            ranks.check(call, code)?;
            self.requests.push(Pending { request, received: Some(len) });
        }
        Ok(())
    }

    /// Waits for everything; the first error, if there is one.
    pub(super) fn finish(&mut self) -> Result<()> {
        let since = Instant::now();
        let mut outcome = Ok(());
        for mut pending in core::mem::take(&mut self.requests) {
            outcome = outcome.and(self.ranks.finish(self.call, &mut pending, since));
        }
        outcome
    }
}

impl Drop for Posted<'_> {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

impl Ranks {
    /// How many elements one call takes.
    fn most(&self, call: &Call) -> usize {
        (self.limits.piece / call.dtype.itemsize()).max(1)
    }
    pub(super) fn numbers(&self, call: &Call) -> Numbers {
        match &call.collective {
            Collective::Gather(counts) | Collective::ScatterReduced(_, counts) => {
                Numbers::new(counts, self.most(call)).unwrap_or_default()
            }
            _ => Numbers::default(),
        }
    }
}

/// Parts of `len` elements: where each begins, and how many it has. There is one if there are none, since all ranks come to meet.
fn pieces(len: usize, most: usize) -> impl Iterator<Item = (usize, c_int)> {
    (0..len.max(1)).step_by(most).map(move |start| (start, most.min(len - start) as c_int))
}

/// Where elements are. Rust's address of no bytes may be 1, which is `MPI_IN_PLACE`.
pub(super) fn place(start: *const u8, bytes: usize) -> *const u8 {
    static NONE: [u64; 2] = [0; 2];
    if bytes == 0 { NONE.as_ptr().cast() } else { start }
}
