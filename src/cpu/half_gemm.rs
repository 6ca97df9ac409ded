//! Products of matrices in half precision: tile by tile, widened to the number they are computed in, added up in it over all
//! terms, and rounded once; `bf16` by an instruction of its own where the machine has one. Used by `gemm`.

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
use core::mem::MaybeUninit;

/// Terms widened at once.
const DEPTH: usize = 512;
/// The sides of a tile of the result, and of one of a small result.
const TILES: [usize; 2] = [512, 256];
/// Elements of a result that is not small.
const LARGE: usize = 1 << 20;

/// A part of an operand, widened into one without gaps that lies as the operand does.
struct Widen<E: Dtype> {
    from: *const E,
    steps: [usize; 2],
    sizes: [usize; 2],
    to: *mut E::Compute,
}
impl<E: Dtype> Widen<E> {
    /// Whether columns are what lies side by side.
    fn is_transposed(&self) -> bool {
        self.steps[0] < self.steps[1]
    }
    /// From row to row and from column to column of what is written.
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
            // SAFETY: the part is inside the operand's view, and there is room for it where it goes.
            unsafe {
                let (from, to) = (self.from.add(line * across), self.to.add(line * len));
                if along == 1 && const { matches!(E::DTYPE, DType::F16) } {
                    // What `f16` computes in is `f32`.
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

/// A tile of sums, rounded into the result.
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
                let (from, out) = (self.from.add(row * columns), self.out.add(row * self.out_step));
                for column in 0..columns {
                    out.add(column).write(self.finish.element(from.add(column).read(), row, column));
                }
            }
        }
    }
}

/// Where a thread keeps what it has widened, and its sums.
struct TileBuffers<C>([Vec<C>; 3]);

/// A tile of a product: rows and columns from a corner on.
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

/// Sums of a tile of `bf16`s, rounded into the result.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
struct Round<'a> {
    sums: &'a [f32],
    /// How many columns a strip has.
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
                if task.finish.input.is_none() {
                    // In vectors.
                    let (out, alpha) = (core::slice::from_raw_parts_mut(out.cast(), columns), task.finish.alpha);
                    out.iter_mut()
                        .zip(sums)
                        .for_each(|(out, &sum)| _ = MaybeUninit::write(out, bf16::from_f32(alpha * sum)));
                    continue;
                }
                for (column, &sum) in sums.iter().enumerate().take(columns) {
                    out.add(column).write(task.finish.element(sum, top + row, left + column));
                }
            }
        }
    }
}

/// A product of `bf16`s by an instruction for pairs of them.
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

/// A product of matrices of halves.
pub(super) fn multiply<E: Dtype>(task: GemmTask<E>) -> Result<()> {
    #[cfg(target_arch = "x86_64")]
    if const { matches!(E::DTYPE, DType::BF16) } {
        // SAFETY: `E` is `bf16`, the one dtype of that name; a task is places, sizes and numbers.
        let task = || unsafe { core::mem::transmute_copy(&task) };
        #[cfg(target_os = "linux")]
        if amx::Halves::is_there() {
            return by_pairs::<amx::Halves>(task());
        }
        if avx512::Halves::is_there() {
            return by_pairs::<avx512::Halves>(task());
        }
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
