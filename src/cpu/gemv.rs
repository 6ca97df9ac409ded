//! Matrix-vector products, which are memory-bound. Each matrix element is read once, in memory order: along rows (dot products) or across
//! them (accumulating scaled rows).

use super::gemm::{Epilogue, GemmTask};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{Compute, Dtype};
use crate::error::{Result, filled, listed};
use crate::ops;
use crate::ops::reduce::{Accumulating, merge_lanes};
use core::hint::black_box;
use core::mem::MaybeUninit;
use core::ops::Range;

/// Parallel partial sums: as many as fit the vector registers.
const LANES: usize = 64;
/// Terms accumulated in lanes before the lanes are merged (pairwise summation).
const BLOCK: usize = 4096;
/// Terms of a chunk; each chunk is one thread's task.
const CHUNK: usize = 16 * BLOCK;
/// Columns accumulated at once, in the L1 cache: the longer, the better a row's memory is read ahead; and rows before their sums are merged.
const COLUMNS: usize = 4096;
const HEIGHT: usize = 256;
/// With fewer terms than these, scaled rows are accumulated: a dot product would take longer to merge its lanes than to add its terms.
const FEW: usize = 16;
/// A thread's columns are a multiple of this.
const SHARE: usize = 128;

/// `matrix @ vector`: strides from result to result and from term to term; the vector is contiguous.
struct MatrixVector<E: Dtype> {
    matrix: *const E,
    steps: [usize; 2],
    vector: *const E,
    len: usize,
    finish: Epilogue<E>,
    /// Stride of the input from result to result.
    input_step: usize,
    out: *mut E,
}
impl<E: Dtype> Clone for MatrixVector<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Dtype> Copy for MatrixVector<E> {}

#[inline(always)]
fn term<E: Dtype>(sum: E::Compute, a: E, b: E) -> E::Compute {
    sum.binary::<Accumulating>(a.to_compute().binary::<ops::mul>(b.to_compute()))
}

impl<E: Dtype> MatrixVector<E> {
    /// The sum of a range of a result's terms.
    ///
    /// # Safety
    /// Result and terms are in range.
    #[inline(always)]
    unsafe fn sum(&self, result: usize, terms: Range<usize>) -> E::Compute {
        let mut total = E::Compute::default();
        for low in terms.clone().step_by(BLOCK) {
            let high = terms.end.min(low + BLOCK);
            let mut sums = [E::Compute::default(); LANES];
            let mut at = low;
            // SAFETY: the caller's promise.
            unsafe {
                let (row, vector) = (self.matrix.add(result * self.steps[0]), self.vector);
                if self.steps[1] == 1 {
                    while at + LANES <= high {
                        for (lane, sum) in sums.iter_mut().enumerate() {
                            *sum = term(*sum, row.add(at + lane).read(), vector.add(at + lane).read());
                        }
                        at += LANES;
                    }
                }
                if at < high {
                    // The remainder has partial sums of its own, so that the others stay in registers.
                    let mut rest = [E::Compute::default(); LANES];
                    for at in at..high {
                        let sum = &mut rest[(at - low) % LANES];
                        *sum = term(*sum, row.add(at * self.steps[1]).read(), vector.add(at).read());
                    }
                    for (sum, rest) in sums.iter_mut().zip(rest) {
                        *sum = sum.binary::<Accumulating>(rest);
                    }
                }
            }
            // (Without `black_box` the compiler moves the pairwise merging into the loop and vectorises by two only.)
            let sum = merge_lanes(black_box(sums), |one, other| one.binary::<Accumulating>(other));
            total = total.binary::<Accumulating>(sum);
        }
        total
    }

    /// # Safety
    /// `result` is in range, and nobody else writes it.
    #[inline(always)]
    unsafe fn write(&self, result: usize, sum: E::Compute) {
        // SAFETY: the caller's promise.
        unsafe { self.out.add(result).write(self.finish.element(sum, 0, result * self.input_step)) }
    }
}

/// Results as dot products along rows, chunk by chunk.
struct Along<E: Dtype>(MatrixVector<E>, Range<usize>);
impl<E: Dtype> Loop for Along<E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Along(lines, results) = self;
        for result in results {
            let mut total = E::Compute::default();
            // SAFETY: the range is inside the results, and nobody else writes them.
            unsafe {
                for low in (0..lines.len).step_by(CHUNK) {
                    total = total.binary::<Accumulating>(lines.sum(result, low..lines.len.min(low + CHUNK)));
                }
                lines.write(result, total);
            }
        }
    }
}

/// One chunk of one result's terms.
struct ChunkSum<E: Dtype>(MatrixVector<E>, usize, Range<usize>);
impl<E: Dtype> Loop for ChunkSum<E> {
    type Output = E::Compute;
    #[inline(always)]
    fn run(self) -> E::Compute {
        // SAFETY: the range is inside the terms.
        unsafe { self.0.sum(self.1, self.2) }
    }
}

/// Writes zeros.
#[inline(always)]
fn zeros<C: Compute>(room: &mut [MaybeUninit<C>]) -> &mut [C] {
    room.iter_mut().for_each(|place| _ = place.write(C::default()));
    // SAFETY: all of them were written.
    unsafe { &mut *(room as *mut [MaybeUninit<C>] as *mut [C]) }
}

/// Results that are contiguous in each row: accumulates scaled rows.
struct Across<E: Dtype>(MatrixVector<E>, Range<usize>);
impl<E: Dtype> Loop for Across<E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Across(lines, results) = self;
        let MatrixVector { matrix, steps, vector, len, .. } = lines;
        let mut rooms = [[const { MaybeUninit::uninit() }; COLUMNS]; 2];
        for left in results.clone().step_by(COLUMNS) {
            let columns = COLUMNS.min(results.end - left);
            let [totals, sums] = rooms.each_mut().map(|room| zeros(&mut room[..columns]));
            for low in (0..len).step_by(HEIGHT) {
                let high = len.min(low + HEIGHT);
                sums.fill(E::Compute::default());
                let mut at = low;
                // SAFETY: results and terms are in range.
                unsafe {
                    while at + 4 <= high {
                        let rows: [*const E; 4] =
                            core::array::from_fn(|row| matrix.add(left * steps[0] + (at + row) * steps[1]));
                        let factors: [E; 4] = core::array::from_fn(|row| vector.add(at + row).read());
                        if steps[0] == 1 {
                            rows.iter().for_each(|row| simd::prefetch_row(row.wrapping_add(4 * steps[1]), columns));
                            for (column, sum) in sums.iter_mut().enumerate() {
                                for row in 0..4 {
                                    *sum = term(*sum, rows[row].add(column).read(), factors[row]);
                                }
                            }
                        } else {
                            for (column, sum) in sums.iter_mut().enumerate() {
                                for row in 0..4 {
                                    *sum = term(*sum, rows[row].add(column * steps[0]).read(), factors[row]);
                                }
                            }
                        }
                        at += 4;
                    }
                    while at < high {
                        let row = matrix.add(left * steps[0] + at * steps[1]);
                        let factor = vector.add(at).read();
                        if steps[0] == 1 {
                            for (column, sum) in sums.iter_mut().enumerate() {
                                *sum = term(*sum, row.add(column).read(), factor);
                            }
                        } else {
                            for (column, sum) in sums.iter_mut().enumerate() {
                                *sum = term(*sum, row.add(column * steps[0]).read(), factor);
                            }
                        }
                        at += 1;
                    }
                }
                for (total, &mut sum) in totals.iter_mut().zip(sums.iter_mut()) {
                    *total = total.binary::<Accumulating>(sum);
                }
            }
            for (column, &total) in totals.iter().enumerate() {
                // SAFETY: nobody else writes these results.
                unsafe { lines.write(left + column, total) }
            }
        }
    }
}

/// A product whose left operand has one row, or whose right operand has one column.
pub(super) fn multiply<E: Dtype>(task: GemmTask<E>) -> Result<()> {
    let GemmTask { sizes: [m, k, n], out, left, left_steps, right, right_steps, finish, threads } = task;
    let (results, matrix, steps, vector, step, input_step) = if n == 1 {
        (m, left, left_steps, right, right_steps[0], finish.steps[0])
    } else {
        (n, right, [right_steps[1], right_steps[0]], left, left_steps[1], finish.steps[1])
    };
    // The input is read as a single row.
    let finish = Epilogue { steps: [0, 1], ..finish };
    let gathered: Vec<E>;
    let vector = if step == 1 || k == 1 {
        vector
    } else {
        // SAFETY: the vector has `k` elements, `step` apart.
        gathered = listed((0..k).map(|at| unsafe { vector.add(at * step).read() }))?;
        gathered.as_ptr()
    };
    let lines = MatrixVector { matrix, steps, vector, len: k, finish, input_step, out };
    if (steps[1] <= steps[0] && k >= FEW) || results == 1 {
        if results < threads && k > CHUNK {
            return few(lines, results);
        }
        share(results, threads, 1, lines, &|lines, range| simd::dispatch(Along(lines, range)));
    } else {
        share(results, threads, SHARE, lines, &|lines, range| simd::dispatch(Across(lines, range)));
    }
    Ok(())
}

/// Divides results among threads, in multiples of `multiple`.
fn share<E: Dtype>(
    results: usize,
    threads: usize,
    multiple: usize,
    lines: MatrixVector<E>,
    work: &(dyn Fn(MatrixVector<E>, Range<usize>) + Sync),
) {
    let each = results.div_ceil(threads.max(1)).next_multiple_of(multiple);
    let lines = Shared(lines);
    threads::for_each(results.div_ceil(each), &|piece| {
        let lines = &lines;
        work(lines.0, piece * each..results.min((piece + 1) * each));
    });
}

/// For few results with many terms: divides the terms among threads.
fn few<E: Dtype>(lines: MatrixVector<E>, results: usize) -> Result<()> {
    let mut partials = filled(E::Compute::default(), lines.len.div_ceil(CHUNK))?;
    for result in 0..results {
        let places = Shared((lines, partials.as_mut_ptr()));
        threads::for_each(partials.len(), &|chunk| {
            let places = &places;
            let (lines, partials) = places.0;
            let terms = chunk * CHUNK..lines.len.min((chunk + 1) * CHUNK);
            // SAFETY: each chunk has its own place.
            unsafe { partials.add(chunk).write(simd::dispatch(ChunkSum(lines, result, terms))) }
        });
        let total = partials.iter().fold(E::Compute::default(), |total, &sum| total.binary::<Accumulating>(sum));
        // SAFETY: `result` is in range.
        unsafe { lines.write(result, total) }
    }
    Ok(())
}
