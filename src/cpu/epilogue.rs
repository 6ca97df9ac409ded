//! Products whose elements go through a function while they are in the cache: some rows are multiplied, then computed. Used by
//! `gemm`.

use super::compiled;
use super::gemm::{Epilogue, GemmTask};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{Compute, Dtype};
use crate::error::Result;
use crate::ops;
use crate::ops::kernel::Map1;
use core::mem::MaybeUninit;

/// What is done to so many elements side by side, which nobody else sees.
pub(crate) type Then<'a, E> = &'a (dyn Fn(*mut E, usize) + Sync);

/// Bytes of a result that are computed at once: a part of the farthest cache. Fewer would not pay for preparing the right matrix
/// each time. (Builds with debug assertions are for tests, which want several blocks of small results.)
const BYTES: usize = if cfg!(debug_assertions) { 1 << 14 } else { 1 << 22 };
/// Rows that are worth preparing it for.
const HEIGHT: usize = if cfg!(debug_assertions) { 100 } else { 512 };

/// Elements that are brought elsewhere before they are computed.
const PIECE: usize = 512;

/// `out = kernel(out)`, from a copy of a few elements at a time: loops are fastest where what they write is not what they read.
pub(crate) fn apply<E: Dtype, K: Map1<E, E>>(kernel: K, out: *mut E, len: usize) {
    let mut buffer = [const { MaybeUninit::<E>::uninit() }; PIECE];
    for low in (0..len).step_by(PIECE) {
        let (to, count) = (out.wrapping_add(low), PIECE.min(len - low));
        // SAFETY: whoever calls a [`Then`] has `len` elements at `out`; the room holds as many as are copied, and the loop is that of
        // the kernel.
        unsafe {
            buffer.as_mut_ptr().cast::<E>().copy_from_nonoverlapping(to, count);
            let places = [to.cast(), buffer.as_mut_ptr().cast()];
            compiled::one::<K, E, E>()((&raw const kernel).cast(), places, count);
        }
    }
}

/// What a product is added to, where the product starts from it.
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
    /// Some of its rows.
    fn rows(&self, top: usize, rows: usize, threads: usize) -> Self {
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

/// Runs a product some rows at a time, and then what is done to them. The rows start as the input if `starts`.
pub(super) fn by_rows<E: Dtype>(
    task: GemmTask<E>,
    starts: bool,
    run: &(dyn Fn(GemmTask<E>) -> Result<()> + Sync),
    then: Then<'_, E>,
) -> Result<()> {
    let [m, _, n] = task.sizes;
    let high = (BYTES / size_of::<E>() / n).max(HEIGHT);
    let blocks = (m / high).max(1);
    // Few blocks are divided among threads; of many each has one.
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
