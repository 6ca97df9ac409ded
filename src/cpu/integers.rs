//! Products of matrices of integers, which wrap around. Both operands are packed block by block, so that what a few rows and a
//! strip of columns need lies side by side, and their sums stay in registers. Used by `gemm`.

use super::elementwise::{result_len, source};
use super::gemm::Product;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{Dtype, MachineInt};
use crate::error::Result;
use crate::storage::{HostBuffer, View};
use core::marker::PhantomData;

/// Rows of the result that are summed together.
const ROWS: usize = 4;
/// Terms packed at once.
const DEPTH: usize = 256;
/// Rows packed at once.
const HEIGHT: usize = 128;

/// Columns computed at once.
const WIDTH: usize = 1024;

/// Sizes, places and steps of the operands.
#[derive(Clone, Copy)]
struct Operands<L, R> {
    sizes: [usize; 3],
    left: *const L,
    left_steps: [usize; 2],
    right: *const R,
    right_steps: [usize; 2],
}

/// A product of elements `L` and `R`, computed in `W` and written by `write`, in strips of `STRIP` columns.
struct Blocks<L, R, W, O, In, Out, const STRIP: usize> {
    operands: Operands<L, R>,
    out: *mut O,
    out_step: usize,
    /// Writes the sum of the first terms, or adds that of further ones.
    write: Out,
    types: PhantomData<fn() -> (W, In)>,
}

/// How operands become what is multiplied.
trait Widen<L, R, W> {
    fn left(value: L) -> W;
    fn right(value: R) -> W;
}
/// Both to what their dtype is multiplied in.
struct Factors;
impl<T: MachineInt> Widen<T, T, T::Factor> for Factors {
    #[inline(always)]
    fn left(value: T) -> T::Factor {
        value.widen()
    }
    #[inline(always)]
    fn right(value: T) -> T::Factor {
        value.widen()
    }
}
/// Both to 32 bits.
struct Words;
impl<E: Dtype> Widen<E, i8, i32> for Words {
    #[inline(always)]
    fn left(value: E) -> i32 {
        value.cast()
    }
    #[inline(always)]
    fn right(value: i8) -> i32 {
        value.into()
    }
}

/// `sum + a * b` in rows of a strip: `depth` groups of [`ROWS`] factors, and as many strips. It is a function of its own, in which
/// the compiler keeps the sums in registers.
struct Kernel<'a, W, const STRIP: usize> {
    left: *const W,
    right: *const W,
    depth: usize,
    to: &'a mut [[W; STRIP]; ROWS],
}
impl<W: MachineInt, const STRIP: usize> Loop for Kernel<'_, W, STRIP> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Kernel { left, right, depth, to } = self;
        let mut sums = [[W::zero(); STRIP]; ROWS];
        for p in 0..depth {
            // SAFETY: `Blocks` has packed so many.
            let (factors, strip) = unsafe {
                (left.add(p * ROWS).cast::<[W; ROWS]>().read(), right.add(p * STRIP).cast::<[W; STRIP]>().read())
            };
            for row in 0..ROWS {
                for column in 0..STRIP {
                    sums[row][column] = sums[row][column].wrapping_add(&factors[row].wrapping_mul(&strip[column]));
                }
            }
        }
        *to = sums;
    }
}

impl<L: Copy, R: Copy, W, O, In, Out, const STRIP: usize> Blocks<L, R, W, O, In, Out, STRIP>
where
    W: MachineInt,
    In: Widen<L, R, W>,
    Out: Fn(*mut O, W, bool),
{
    fn run(self) {
        let Operands { sizes: [m, k, n], left, left_steps, right, right_steps } = self.operands;
        let (strips, deepest) = (n.div_ceil(STRIP), DEPTH.min(k));
        let mut packed_left = vec![W::zero(); HEIGHT.min(m.next_multiple_of(ROWS)) * deepest];
        let mut sums = [[W::zero(); STRIP]; ROWS];
        let mut packed_right = vec![W::zero(); strips * STRIP * deepest];
        for low in (0..k).step_by(DEPTH) {
            let depth = DEPTH.min(k - low);
            for (strip, to) in packed_right.chunks_exact_mut(STRIP * deepest).enumerate() {
                let first = strip * STRIP;
                // What lies beyond the last column stays zero.
                let columns = STRIP.min(n - first);
                for (p, to) in to.chunks_exact_mut(STRIP).take(depth).enumerate() {
                    // SAFETY: the terms and columns are those of the right operand.
                    unsafe {
                        let from = right.add((low + p) * right_steps[0] + first * right_steps[1]);
                        if right_steps[1] == 1 && columns == STRIP {
                            let from = from.cast::<[R; STRIP]>().read();
                            to.iter_mut().zip(from).for_each(|(to, x)| *to = In::right(x));
                        } else {
                            for (j, to) in to[..columns].iter_mut().enumerate() {
                                *to = In::right(from.add(j * right_steps[1]).read());
                            }
                        }
                    }
                }
            }
            for top in (0..m).step_by(HEIGHT) {
                let rows = HEIGHT.min(m - top);
                for (group, to) in packed_left.chunks_exact_mut(ROWS * deepest).enumerate() {
                    for r in 0..ROWS.min(rows.saturating_sub(group * ROWS)) {
                        // SAFETY: the rows and terms are those of the left operand.
                        unsafe {
                            let from = left.add((top + group * ROWS + r) * left_steps[0] + low * left_steps[1]);
                            for p in 0..depth {
                                to[p * ROWS + r] = In::left(from.add(p * left_steps[1]).read());
                            }
                        }
                    }
                }
                for strip in 0..strips {
                    let first = strip * STRIP;
                    let columns = STRIP.min(n - first);
                    for group in 0..rows.div_ceil(ROWS) {
                        // SAFETY: the packed blocks have `depth` groups of factors and strips; the rows and columns written are
                        // those of the result, which nobody else writes.
                        unsafe {
                            simd::dispatch(Kernel {
                                left: packed_left.as_ptr().add(group * ROWS * deepest),
                                right: packed_right.as_ptr().add(strip * STRIP * deepest),
                                depth,
                                to: &mut sums,
                            });
                            let at = top + group * ROWS;
                            for (r, sums) in sums.iter().enumerate().take(ROWS.min(m - at)) {
                                let out = self.out.add((at + r) * self.out_step + first);
                                if columns == STRIP {
                                    (0..STRIP).for_each(|j| (self.write)(out.add(j), sums[j], low > 0));
                                } else {
                                    (0..columns).for_each(|j| (self.write)(out.add(j), sums[j], low > 0));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

impl<L: Copy, R: Copy, W, O, In, Out, const STRIP: usize> Blocks<L, R, W, O, In, Out, STRIP>
where
    W: MachineInt,
    In: Widen<L, R, W>,
    Out: Fn(*mut O, W, bool) + Copy,
{
    /// Computes it with some threads: columns that fit the cache, and rows of them.
    fn share(self, threads: usize) {
        let Operands { sizes: [m, k, n], left_steps, right_steps, .. } = self.operands;
        let across = n.div_ceil(WIDTH);
        // As many pieces of rows as keep all threads busy.
        let height = m.div_ceil(threads.div_ceil(across).max(1)).next_multiple_of(ROWS);
        let whole = Shared(self);
        threads::for_each(m.div_ceil(height) * across, &|piece| {
            let whole = &whole;
            let blocks = &whole.0;
            let (top, left) = (piece / across * height, piece % across * WIDTH);
            let operands = Operands {
                sizes: [height.min(m - top), k, WIDTH.min(n - left)],
                left: blocks.operands.left.wrapping_add(top * left_steps[0]),
                right: blocks.operands.right.wrapping_add(left * right_steps[1]),
                ..blocks.operands
            };
            let out = blocks.out.wrapping_add(top * blocks.out_step + left);
            let Blocks { out_step, write, types, .. } = *blocks;
            Blocks::<_, _, _, _, _, _, STRIP> { operands, out, out_step, write, types }.run();
        });
    }
}

/// A product with strips of one cache line.
fn product<L: Copy, R: Copy, W: MachineInt, O, In: Widen<L, R, W>>(
    operands: Operands<L, R>,
    (out, out_step): (*mut O, usize),
    write: impl Fn(*mut O, W, bool) + Copy,
    threads: usize,
) {
    let types = PhantomData::<fn() -> (W, In)>;
    if const { size_of::<W>() == 2 } {
        Blocks::<_, _, _, _, _, _, 32> { operands, out, out_step, write, types }.share(threads);
    } else if const { size_of::<W>() == 4 } {
        Blocks::<_, _, _, _, _, _, 16> { operands, out, out_step, write, types }.share(threads);
    } else {
        Blocks::<_, _, _, _, _, _, 8> { operands, out, out_step, write, types }.share(threads);
    }
}

/// A product in the operands' own dtype.
pub(super) fn multiply<T: MachineInt>(product: Product<T>) {
    let Product { sizes, out, out_step, left, left_steps, right, right_steps, alpha, adds, threads } = product;
    let operands = Operands { sizes, left, left_steps, right, right_steps };
    let write = |out: *mut T, sum: T::Factor, more: bool| {
        let value = alpha.wrapping_mul(&T::narrow(sum));
        // SAFETY: `Blocks` gives places of the result, which were written before if they are added to.
        unsafe { out.write(if adds || more { out.read().wrapping_add(&value) } else { value }) }
    };
    self::product::<_, _, _, _, Factors>(operands, (out, out_step), write, threads);
}

/// A product of bytes, signed or not, with signed bytes, in 32 bits; row-major.
pub(crate) fn int_mm<E: Dtype>(a: View<'_, HostBuffer, E>, b: View<'_, HostBuffer, i8>) -> Result<HostBuffer> {
    let (&[m, k], &[_, n]) = (a.sizes, b.sizes) else { unreachable!("operands are matrices") };
    let results = result_len(&[m, n])?;
    if results == 0 || k == 0 {
        return HostBuffer::zeroed::<i32>(results);
    }
    let steps = |strides: &[usize]| [strides[0], strides[1]];
    let operands = Operands {
        sizes: [m, k, n],
        left: source(&a),
        left_steps: steps(a.strides),
        right: source(&b),
        right_steps: steps(b.strides),
    };
    let write = |out: *mut i32, sum: i32, more: bool| {
        // SAFETY: as in `multiply`.
        unsafe { out.write(if more { out.read().wrapping_add(sum) } else { sum }) }
    };
    // SAFETY: the blocks cover the result.
    unsafe {
        HostBuffer::filled_by(results, |out| {
            product::<_, _, _, _, Words>(
                operands,
                (out, n),
                write,
                threads::pieces(m.saturating_mul(n).saturating_mul(k) / 32),
            );
            Ok(())
        })
    }
}
