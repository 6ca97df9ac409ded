//! Fused epilogues of matrix products: a block of rows is multiplied, then a function is applied to it while it is in
//! the cache.

use super::compiled;
use super::gemm::{Epilogue, GemmTask};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{Compute, Dtype};
use crate::error::Result;
use crate::ops;
use crate::ops::kernel::Map1;
use core::mem::MaybeUninit;

/// A function applied in place to `usize` contiguous elements that nobody else accesses.
pub(crate) type Then<'a, E> = &'a (dyn Fn(*mut E, usize) + Sync);

/// Bytes of the result per block: a part of the last-level cache. Smaller blocks would not pay for packing the right matrix each time.
/// (Smaller in debug builds, so that tests have several blocks.)
const BYTES: usize = if cfg!(debug_assertions) { 1 << 14 } else { 1 << 22 };
/// Minimum rows per block, to pay for packing the right matrix.
const HEIGHT: usize = if cfg!(debug_assertions) { 100 } else { 512 };

/// Elements copied to a buffer at once.
const PIECE: usize = 512;

/// `out = kernel(out)` through a buffer, because loops that run in place do not vectorise well.
pub(crate) fn apply<E: Dtype, K: Map1<E, E>>(kernel: K, out: *mut E, len: usize) {
    let mut buffer = [const { MaybeUninit::<E>::uninit() }; PIECE];
    for low in (0..len).step_by(PIECE) {
        let (to, count) = (out.wrapping_add(low), PIECE.min(len - low));
        // SAFETY: the caller of a [`Then`] has `len` elements at `out`; the buffer holds a piece, and the loop is the kernel's.
        unsafe {
            buffer.as_mut_ptr().cast::<E>().copy_from_nonoverlapping(to, count);
            let places = [to.cast(), buffer.as_mut_ptr().cast()];
            compiled::one_or_widened::<K, E, E>()((&raw const kernel).cast(), places, count);
        }
    }
}

/// Initialises the result with `beta * input`, for products that accumulate into it.
struct Start<E: Dtype> {
    finish: Epilogue<E>,
    sizes: [usize; 2],
    out: *mut E,
}
impl<E: Dtype> Loop for Start<E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Start { finish: Epilogue { input, steps, beta, .. }, sizes: [rows, columns], out } = self;
        let Some(input) = input else { return };
        let copies = beta == E::from_i32(1).to_compute();
        for row in 0..rows {
            // SAFETY: the rows and columns are those of the result, and so of the input.
            unsafe {
                let (from, to) = (input.add(row * steps[0]), out.add(row * columns));
                if copies && steps[1] == 1 {
                    to.copy_from_nonoverlapping(from, columns);
                } else {
                    for column in 0..columns {
                        let value = from.add(column * steps[1]).read().to_compute();
                        to.add(column).write(E::from_compute(beta.binary::<ops::mul>(value)));
                    }
                }
            }
        }
    }
}

impl<E: Dtype> GemmTask<E> {
    /// A range of its rows.
    pub(super) fn rows(&self, top: usize, rows: usize, threads: usize) -> Self {
        let ([_, k, n], finish) = (self.sizes, self.finish);
        let input = finish.input.map(|input| input.wrapping_add(top * finish.steps[0]));
        GemmTask {
            sizes: [rows, k, n],
            out: self.out.wrapping_add(top * n),
            left: self.left.wrapping_add(top * self.left_steps[0]),
            finish: Epilogue { input, ..finish },
            threads,
            ..*self
        }
    }
}

/// Runs a product one block of rows at a time, then `then` on each block. If `starts`, the rows are initialised with the input first.
pub(super) fn by_rows<E: Dtype>(
    task: GemmTask<E>,
    starts: bool,
    run: &(dyn Fn(GemmTask<E>) -> Result<()> + Sync),
    then: Then<'_, E>,
) -> Result<()> {
    let [m, _, n] = task.sizes;
    let high = (BYTES / size_of::<E>() / n).max(HEIGHT);
    let blocks = (m / high).max(1);
    // If there are few blocks, each is divided among the threads; otherwise each thread takes blocks of its own.
    let (pieces, threads) = if blocks < task.threads { (1, task.threads) } else { (task.threads.max(1), 1) };
    let task = Shared(task);
    threads::try_for_each(pieces, &|piece| {
        let task = &task;
        for block in piece * blocks / pieces..(piece + 1) * blocks / pieces {
            let (top, end) = (block * m / blocks, (block + 1) * m / blocks);
            let task = task.0.rows(top, end - top, threads);
            let out = task.out;
            if starts {
                simd::dispatch(Start { finish: task.finish, sizes: [end - top, n], out });
            }
            run(task)?;
            let (out, len) = (Shared(out), (end - top) * n);
            threads::for_each(threads, &|part| {
                let out = &out;
                let (low, high) = (part * len / threads, (part + 1) * len / threads);
                then(out.0.wrapping_add(low), high - low);
            });
        }
        Ok(())
    })
}
