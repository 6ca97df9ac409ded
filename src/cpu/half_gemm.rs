//! Half-precision matrix products: operands are widened to `f32` tile by tile, accumulated over all terms and rounded once. `bf16` uses
//! AVX-512 or AMX instructions where the machine has them.

use super::conv::{self, FewRows};
use super::convert;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
use super::dots::x86::amx;
#[cfg(target_arch = "x86_64")]
use super::dots::x86::avx512;
use super::dots::{Dot, PackedProduct, ResultBlock};
use super::gemm::{Epilogue, GemmTask, Multiply, Product, one};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{Compute, DType, Dtype, bf16, f16};
use crate::error::Result;
use crate::storage::Scratch;

/// Terms widened at once.
const DEPTH: usize = 512;
/// Tile sides for a large and for a small result.
const TILES: [usize; 2] = [512, 256];
/// Minimum elements of a large result.
const LARGE: usize = 1 << 20;

/// A block of an operand, widened and packed, keeping the operand's row or column order.
struct Widen<E: Dtype> {
    from: *const E,
    steps: [usize; 2],
    sizes: [usize; 2],
    to: *mut E::Compute,
}
impl<E: Dtype> Widen<E> {
    /// Whether columns are contiguous.
    fn is_transposed(&self) -> bool {
        self.steps[0] < self.steps[1]
    }
    /// Row and column strides of the packed block.
    fn steps(&self) -> [usize; 2] {
        if self.is_transposed() { [1, self.sizes[0]] } else { [self.sizes[1], 1] }
    }
}
impl<E: Dtype> Loop for Widen<E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let transposed = usize::from(self.is_transposed());
        let [lines, len] = [self.sizes[transposed], self.sizes[1 - transposed]];
        let [across, along] = [self.steps[transposed], self.steps[1 - transposed]];
        for line in 0..lines {
            // SAFETY: the block is inside the operand's view, and the destination has room for it.
            unsafe {
                let (from, to) = (self.from.add(line * across), self.to.add(line * len));
                if along == 1 && const { matches!(E::DTYPE, DType::F16) } {
                    // The accumulation type of `f16` is `f32`.
                    convert::widen::<f16>(from.cast(), to.cast(), len);
                } else if along == 1 {
                    for i in 0..len {
                        to.add(i).write(from.add(i).read().to_compute());
                    }
                } else {
                    for i in 0..len {
                        to.add(i).write(from.add(i * along).read().to_compute());
                    }
                }
            }
        }
    }
}

/// Rounds a tile of sums into the result.
struct Narrow<E: Dtype> {
    from: *const E::Compute,
    sizes: [usize; 2],
    finish: Epilogue<E>,
    out: *mut E,
    out_step: usize,
}
impl<E: Dtype> Loop for Narrow<E> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let [rows, columns] = self.sizes;
        for row in 0..rows {
            // SAFETY: the tile is inside the result (and so inside the input), and nobody else writes it.
            unsafe {
                let sums = core::slice::from_raw_parts(self.from.add(row * columns), columns);
                self.finish.row(sums, self.out.add(row * self.out_step), [row, 0]);
            }
        }
    }
}

/// A thread's widened blocks and sums.
struct TileBuffers<C>([Vec<C>; 3]);

/// Computes the tile of the result at `corner`.
fn tile<E: Dtype>(
    task: &GemmTask<E>,
    corner: [usize; 2],
    sizes: [usize; 2],
    buffer: &mut TileBuffers<E::Compute>,
) -> Result<()> {
    let [[top, left], [rows, columns]] = [corner, sizes];
    let TileBuffers([a, b, sums]) = buffer;
    for low in (0..task.sizes[1]).step_by(DEPTH) {
        let depth = DEPTH.min(task.sizes[1] - low);
        let a = Widen {
            from: task.left.wrapping_add(top * task.left_steps[0] + low * task.left_steps[1]),
            steps: task.left_steps,
            sizes: [rows, depth],
            to: a.as_mut_ptr(),
        };
        let b = Widen {
            from: task.right.wrapping_add(low * task.right_steps[0] + left * task.right_steps[1]),
            steps: task.right_steps,
            sizes: [depth, columns],
            to: b.as_mut_ptr(),
        };
        let product = Product {
            sizes: [rows, depth, columns],
            out: sums.as_mut_ptr(),
            out_step: columns,
            left: a.to.cast_const(),
            left_steps: a.steps(),
            right: b.to.cast_const(),
            right_steps: b.steps(),
            alpha: one::<E>(),
            adds: low > 0,
            threads: 1,
        };
        simd::dispatch(a);
        simd::dispatch(b);
        E::Compute::visit::<Multiply>(product)?;
    }
    let Epilogue { input, steps, .. } = task.finish;
    simd::dispatch(Narrow {
        from: sums.as_ptr(),
        sizes,
        finish: Epilogue { input: input.map(|at| at.wrapping_add(top * steps[0] + left * steps[1])), ..task.finish },
        out: task.out.wrapping_add(top * task.sizes[2] + left),
        out_step: task.sizes[2],
    });
    Ok(())
}

/// Rounds a tile of `bf16` products into the result.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct Round<'a> {
    sums: &'a [f32],
    /// Columns per strip.
    strip: usize,
    part: ResultBlock,
    task: &'a GemmTask<bf16>,
}
impl Loop for Round<'_> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Round { sums, strip, part: ResultBlock { corner: [top, left], sizes: [rows, columns] }, task } = self;
        for (row, sums) in sums.chunks_exact(strip).enumerate().take(rows) {
            // SAFETY: the part is inside the result (and so inside the input), and nobody else writes it.
            unsafe {
                let out = task.out.add((top + row) * task.sizes[2] + left);
                task.finish.row(&sums[..columns], out, [top + row, left]);
            }
        }
    }
}

/// A `bf16` product with an instruction that multiplies pairs of them.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
pub(super) fn by_pairs<D: Dot<Group = u32, Left = bf16, Right = bf16, Sum = f32>>(task: GemmTask<bf16>) -> Result<()> {
    let GemmTask { sizes, left, left_steps, right, right_steps, threads, .. } = task;
    let operands = PackedProduct::<D, bf16, bf16> { sizes, left, left_steps, right, right_steps, flip: 0 };
    let shared = Shared(task);
    operands.multiply(threads, &|sums, _, part| {
        let shared = &shared;
        simd::dispatch(Round { sums, strip: D::STRIP, part, task: &shared.0 });
    })
}

/// Columns that are widened at once for dot products.
const WIDE: usize = 6;
/// Terms of these.
const LONG: usize = 4096;

/// A product of a few rows, or with a vector, whose terms lie side by side: the rows are widened, then some terms of some columns at a time,
/// which stay in the L2 cache. `E` is computed in `f32`.
fn by_dots<E: Dtype>(task: GemmTask<E>) -> Result<()> {
    let task = if task.sizes[2] == 1 { transposed(task) } else { task };
    let [m, k, n] = task.sizes;
    let rows = Scratch::<E::Compute>::try_new([m, k])?;
    simd::dispatch(Widen { from: task.left, steps: task.left_steps, sizes: [m, k], to: rows.start() });
    let pieces = task.threads.clamp(1, n.div_ceil(WIDE));
    let shared = Shared((task, rows.start()));
    threads::try_for_each(pieces, &|piece| {
        let shared = &shared;
        let (task, rows) = &shared.0;
        let widened = Scratch::<E::Compute>::try_new([WIDE, k.min(LONG)])?;
        let sums = Scratch::<E::Compute>::try_new([m, WIDE])?;
        let end = (piece + 1) * n / pieces;
        for left in (piece * n / pieces..end).step_by(WIDE) {
            let columns = WIDE.min(end - left);
            for low in (0..k).step_by(LONG) {
                let depth = LONG.min(k - low);
                simd::dispatch(Widen {
                    from: task.right.wrapping_add(low + left * task.right_steps[1]),
                    steps: [task.right_steps[1], 1],
                    sizes: [columns, depth],
                    to: widened.start(),
                });
                FewRows::<f32> {
                    sizes: [m, depth, columns],
                    out: sums.start().cast(),
                    out_step: WIDE,
                    left: rows.wrapping_add(low).cast(),
                    left_steps: [k, 1],
                    right: widened.start().cast(),
                    right_steps: [1, depth],
                    adds: low > 0,
                    threads: 1,
                }
                .multiply_dots(conv::single_kernels());
            }
            // SAFETY: the sums of these columns were computed, and no other piece has them.
            unsafe {
                for row in 0..m {
                    let sums = core::slice::from_raw_parts(sums.start().add(row * WIDE), columns);
                    task.finish.row(sums, task.out.add(row * n + left), [row, left]);
                }
            }
        }
        Ok(())
    })
}
/// A product of a matrix and a vector, whose results are contiguous, as that of the vector and the transposed matrix.
fn transposed<E: Dtype>(task: GemmTask<E>) -> GemmTask<E> {
    let [m, k, n] = task.sizes;
    let turned = |[a, b]: [usize; 2]| [b, a];
    GemmTask {
        sizes: [n, k, m],
        left: task.right,
        left_steps: turned(task.right_steps),
        right: task.left,
        right_steps: turned(task.left_steps),
        finish: Epilogue { steps: turned(task.finish.steps), ..task.finish },
        ..task
    }
}
/// Maximum number of rows that are multiplied by dot products.
const FEW_ROWS: usize = 12;

/// Whether [`by_dots`] is faster than tiles.
fn are_dots<E: Dtype>(task: &GemmTask<E>) -> bool {
    let ([m, k, n], alongside) = (task.sizes, [task.left_steps[1], task.right_steps[0]]);
    let are_few = m == 1 || n == 1 || m <= FEW_ROWS && n >= WIDE && k >= 128;
    alongside == [1, 1] && are_few
}

/// A product of half-precision matrices.
pub(super) fn multiply<E: Dtype>(task: GemmTask<E>) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if const { matches!(E::DTYPE, DType::BF16) } {
        // SAFETY: `E` is `bf16`, the one type of that dtype; a task is plain pointers, sizes and numbers.
        let task = || unsafe { core::mem::transmute_copy(&task) };
        #[cfg(target_os = "linux")]
        if amx::Halves::is_there() {
            return by_pairs::<amx::Halves>(task());
        }
        if avx512::Halves::is_there() {
            return by_pairs::<avx512::Halves>(task());
        }
    }
    // (Not `complex32`.)
    if const { conv::has::<E>() } && are_dots(&task) {
        return by_dots(task);
    }
    let [m, k, n] = task.sizes;
    let side = TILES[usize::from(m * n < LARGE)];
    let across = n.div_ceil(side);
    let tiles = m.div_ceil(side) * across;
    let pieces = task.threads.clamp(1, tiles);
    let threads = Shared(task);
    threads::try_for_each(pieces, &|piece| {
        let (task, [rows, columns]) = (&threads, [m.min(side), n.min(side)]);
        let sizes = [rows * k.min(DEPTH), k.min(DEPTH) * columns, rows * columns];
        let mut buffer = TileBuffers(sizes.map(|size| vec![E::Compute::default(); size]));
        for at in piece * tiles / pieces..(piece + 1) * tiles / pieces {
            let (top, left) = (at / across * side, at % across * side);
            tile(&task.0, [top, left], [side.min(m - top), side.min(n - left)], &mut buffer)?;
        }
        Ok(())
    })
}
