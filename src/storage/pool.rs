//! A pool of large blocks of host memory, kept for later tensors of the same size.
//!
//! Page faults on new memory cost more than most operations on it. The pool is bounded: beyond its limit, the least recently used blocks
//! are freed.

use super::pages::{self, HUGE_PAGE};
use crate::error::{Error, Result};
use core::ptr::NonNull;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Minimum size of pooled blocks; below it the allocator is as fast.
pub(super) const SMALLEST: usize = 64 << 10;
/// Maximum number of blocks held, so that a search is fast: more than a step of learning has at once, which would get new pages each time.
const MOST_BLOCKS: usize = 512;
/// How many times as large as wanted a free block may be.
const SLACK: usize = 2;
/// The default limit in bytes.
const LIMIT: usize = 512 << 20;

/// A free block.
struct Idle {
    start: NonNull<u8>,
    size: usize,
}
// SAFETY: a free block is memory owned by the pool alone.
unsafe impl Send for Idle {}

struct Pool {
    /// Least recently used first.
    idle: Vec<Idle>,
    held: usize,
    limit: usize,
    used: usize,
    peak: usize,
}

static POOL: Mutex<Pool> = Mutex::new(Pool { idle: Vec::new(), held: 0, limit: LIMIT, used: 0, peak: 0 });

fn pool() -> MutexGuard<'static, Pool> {
    // A panic cannot leave the pool inconsistent under the lock.
    POOL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Bytes held and handed out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolUse {
    /// Bytes in blocks in use.
    pub used: usize,
    /// Bytes in free blocks.
    pub held: usize,
    /// The peak of `used`.
    pub peak: usize,
    /// The limit.
    pub limit: usize,
}

/// The block size for `bytes` bytes: one of eight sizes between two powers of two.
pub(super) fn block_size(bytes: usize) -> Option<usize> {
    let step = (bytes.checked_next_power_of_two()? / 8).max(SMALLEST / 8);
    bytes.checked_next_multiple_of(step).filter(|&size| size <= isize::MAX as usize - HUGE_PAGE)
}

fn out_of_memory(bytes: usize) -> Error {
    Error::OutOfMemory { bytes, device: "cpu" }
}

/// Takes a block of at least a size given by [`block_size`]; its size, and whether it is known to be zeroed.
pub(super) fn take(size: usize, zeroed: bool) -> Result<(NonNull<u8>, usize, bool)> {
    let found = {
        let mut pool = pool();
        // For the caller, zeroing a used block is faster than a new zeroed one from the system.
        let found = pool.fitting(size).map(|at| pool.idle.remove(at));
        let size = found.as_ref().map_or(size, |idle| idle.size);
        pool.held -= found.as_ref().map_or(0, |idle| idle.size);
        pool.used += size;
        pool.peak = pool.peak.max(pool.used);
        found
    };
    if let Some(Idle { start, size }) = found {
        return Ok((start, size, false));
    }
    let (start, zeroed) = pages::take(size, zeroed).ok_or_else(|| {
        pool().used -= size;
        out_of_memory(size)
    })?;
    Ok((start, size, zeroed))
}

/// Returns a block to the pool.
///
/// # Safety
/// The block came from [`take`] with this size and is no longer used.
pub(super) unsafe fn give_back(start: NonNull<u8>, size: usize) {
    let mut pool = pool();
    pool.used -= size;
    pool.idle.push(Idle { start, size });
    pool.held += size;
    let gone = pool.surplus();
    drop(pool);
    free(gone);
}

impl Pool {
    /// The free block for a size: the one of this size that was used last, or else the smallest of up to [`SLACK`] times as much, so that
    /// blocks of other sizes are not held for nothing.
    fn fitting(&self, size: usize) -> Option<usize> {
        let mut best = None;
        for (at, idle) in self.idle.iter().enumerate().rev() {
            if idle.size == size {
                return Some(at);
            }
            let is_better = best.is_none_or(|best: usize| idle.size < self.idle[best].size);
            if idle.size > size && idle.size <= size.saturating_mul(SLACK) && is_better {
                best = Some(at);
            }
        }
        best
    }

    /// Removes blocks beyond the limits, least recently used first.
    fn surplus(&mut self) -> Vec<Idle> {
        let mut gone = 0;
        while self.held > self.limit || self.idle.len() - gone > MOST_BLOCKS {
            self.held -= self.idle[gone].size;
            gone += 1;
        }
        self.idle.drain(..gone).collect()
    }
}

fn free(blocks: Vec<Idle>) {
    for Idle { start, size } in blocks {
        // SAFETY: the block came from the system with this size, and is no longer in the pool.
        unsafe { pages::free(start, size) }
    }
}

/// Frees all blocks held.
pub(crate) fn empty() {
    let mut pool = pool();
    pool.held = 0;
    let gone = core::mem::take(&mut pool.idle);
    drop(pool);
    free(gone);
}

/// Sets the limit, and frees blocks beyond it.
pub(crate) fn set_limit(bytes: usize) {
    let mut pool = pool();
    pool.limit = bytes;
    let gone = pool.surplus();
    drop(pool);
    free(gone);
}

pub(crate) fn usage() -> PoolUse {
    let pool = pool();
    PoolUse { used: pool.used, held: pool.held, peak: pool.peak, limit: pool.limit }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_the_size_or_else_the_smallest_of_up_to_twice_as_much_is_taken() {
        let idle = [8, 3, 5, 4, 9].map(|size| Idle { start: NonNull::dangling(), size });
        let pool = Pool { idle: idle.into(), held: 0, limit: 0, used: 0, peak: 0 };
        let found = [4, 3, 6, 5, 2, 1, 10].map(|size| pool.fitting(size));
        assert_eq!(found, [Some(3), Some(1), Some(0), Some(2), Some(1), None, None]);
    }
}
