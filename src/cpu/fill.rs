//! Results without operands: filled with one value (`fill`, `zeroed`) or with a function of the position (`tabulate`).

use super::copying;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::kernel::{Map1, VectorWidth};
use crate::storage::HostBuffer;

/// The out-of-memory error.
fn out_of_memory<E>(len: usize) -> Error {
    Error::OutOfMemory { bytes: len.saturating_mul(size_of::<E>()), device: "cpu" }
}

/// Up to this many elements, a plain loop is faster than choosing a method.
const FEW: usize = 64;

/// `len` copies of a value.
#[inline]
pub(crate) fn fill<E: Element>(value: E, len: usize) -> Result<HostBuffer> {
    // SAFETY: one element, which lives until the end, is copied to each of the `len` places.
    unsafe {
        HostBuffer::filled_by(len, |to: *mut E| {
            if len <= FEW {
                (0..len).for_each(|at| to.add(at).write(value));
            } else {
                let from = (&raw const value).cast::<u8>();
                copying::copy_fresh(size_of::<E>(), len, &[len], [&[1], &[0]], to.cast(), from);
            }
            Ok(())
        })
    }
    .map_err(|_| out_of_memory::<E>(len))
}

/// Zeroes `bytes` bytes.
///
/// # Safety
/// The caller may write to them.
unsafe fn zero(start: *mut u8, bytes: usize) {
    let (word, words) = (0_u64, bytes / size_of::<u64>());
    let done = if bytes < MANY || !start.cast::<u64>().is_aligned() { 0 } else { words * size_of::<u64>() };
    // SAFETY: the caller's promise; the one word lives until the end.
    unsafe {
        if done > 0 {
            copying::copy_fresh(size_of::<u64>(), words, &[words], [&[1], &[0]], start, (&raw const word).cast());
        }
        start.add(done).write_bytes(0, bytes - done);
    }
}

/// From this many bytes on, zeroing uses threads and non-temporal stores, where these pay off.
const MANY: usize = if cfg!(debug_assertions) { 1 << 10 } else { 1 << 20 };

/// `len` zeros.
pub(crate) fn zeroed<E: Element>(len: usize) -> Result<HostBuffer> {
    // SAFETY: `zero` initialises them.
    unsafe { HostBuffer::zeroed_by::<E>(len, zero) }
}

/// A part of [`tabulate`].
struct Tabulating<K, O> {
    kernel: K,
    /// The first element of the whole result.
    to: *mut O,
    low: usize,
    high: usize,
}
impl<K: Map1<i64, O>, O> Loop for Tabulating<K, O> {
    type Output = ();
    const WIDEST: VectorWidth = K::VECTORS;
    #[inline(always)]
    fn run(self) {
        let Tabulating { kernel, to, low, high } = self;
        for at in low..high {
            // SAFETY: `tabulate` makes it with valid places.
            unsafe { to.add(at).write(kernel.call(at as i64)) }
        }
    }
}

/// `kernel(0)`, `kernel(1)`, … up to `len` elements.
pub(crate) fn tabulate<O: Element>(kernel: impl Map1<i64, O>, len: usize) -> Result<HostBuffer> {
    // SAFETY: the pieces cover the `len` elements; each is written by one thread.
    unsafe {
        HostBuffer::filled_by(len, |to: *mut O| {
            let (to, pieces) = (Shared(to), threads::pieces(len));
            threads::for_each(pieces, &|piece| {
                let to = { &to }.0;
                let low = len / pieces * piece;
                let high = if piece + 1 == pieces { len } else { low + len / pieces };
                simd::dispatch(Tabulating { kernel, to, low, high });
            });
            Ok(())
        })
    }
    .map_err(|_| out_of_memory::<O>(len))
}
