//! Matrix products. Floats go to the `gemm` crates; complex numbers to them as real matrices twice as wide, half precision in tiles
//! of `f32`; integers, which no crate multiplies with wrap-around, and products of vectors, which memory bounds, are ours. Uses
//! walks; used by `Cpu`.

use super::elementwise::{map1, result_len, source};
use super::epilogue::{self, Then};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use super::{complex_gemm, gemv, half_gemm, integer_gemm};
use crate::dtype::{Compute, DType, Dtype, MachineFloat, MachineInt, Visitor, refused};
use crate::error::Result;
use crate::layout::strides;
use crate::ops;
use crate::ops::arguments::Added;
use crate::ops::kernel::{Copying, Map1};
use crate::storage::{HostBuffer, View};
use core::any::TypeId;
use gemm_common::Parallelism;
use num_complex::Complex;
use num_traits::{Num, One};

/// One product of an `m x k` matrix with a `k x n` matrix: places of first elements, and steps to the next row and
/// column. The elements of a row of the result lie side by side.
#[derive(Clone, Copy)]
pub(super) struct Product<T> {
    pub(super) sizes: [usize; 3],
    pub(super) out: *mut T,
    pub(super) out_step: usize,
    pub(super) left: *const T,
    pub(super) left_steps: [usize; 2],
    pub(super) right: *const T,
    pub(super) right_steps: [usize; 2],
    /// What the product is multiplied by.
    pub(super) alpha: T,
    /// Whether it is added to what is there.
    pub(super) adds: bool,
    /// How many threads may share it.
    pub(super) threads: usize,
}

/// How a product is computed, by category.
pub(super) struct Multiply;

impl Visitor for Multiply {
    type Arg<T> = Product<T>;

    fn boolean(_: Product<bool>) -> Result<()> {
        refused()
    }

    fn integer<T: MachineInt>(product: Product<T>) -> Result<()> {
        integer_gemm::multiply(product)
    }

    fn real<T: MachineFloat>(product: Product<T>) -> Result<()> {
        if product.is_tiny() {
            simd::dispatch(Tiny(product))
        } else {
            product.with_gemm()
        }
        Ok(())
    }

    fn complex<T: MachineFloat>(product: Product<Complex<T>>) -> Result<()> {
        // (What is added to loses less if the product is rounded once.)
        if product.is_tiny() && product.alpha.is_one() && !product.adds {
            simd::dispatch(Tiny(product));
            return Ok(());
        }
        complex_gemm::multiply(product)
    }
}

/// The largest size of products computed without packing.
const TINY: usize = 8;

/// A product of square matrices, all loops unrolled.
///
/// # Safety
/// The operands' places are inside their views, the result is held exclusively, all sizes are `N`.
#[inline(always)]
unsafe fn square<T: Num + Copy, const N: usize>(product: &Product<T>) {
    let Product { left, left_steps, right, right_steps, .. } = *product;
    // SAFETY: the caller's promise.
    unsafe {
        let right: [[T; N]; N] = core::array::from_fn(|p| {
            core::array::from_fn(|j| right.add(p * right_steps[0] + j * right_steps[1]).read())
        });
        for i in 0..N {
            let mut sums = [T::zero(); N];
            for (p, row) in right.iter().enumerate() {
                let factor = left.add(i * left_steps[0] + p * left_steps[1]).read();
                for (sum, &value) in sums.iter_mut().zip(row) {
                    *sum = *sum + factor * value;
                }
            }
            product.store(i, sums);
        }
    }
}

/// A product of sizes up to [`TINY`], whose rows of sums stay in registers.
struct Tiny<T>(Product<T>);

impl<T: Num + Copy> Loop for Tiny<T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Product { sizes: [m, k, n], left, left_steps, right, right_steps, .. } = self.0;
        // SAFETY: the operands' places are inside their views; the sums are at least `n`.
        unsafe {
            match [m, k, n] {
                [2, 2, 2] => return square::<_, 2>(&self.0),
                [3, 3, 3] => return square::<_, 3>(&self.0),
                [4, 4, 4] => return square::<_, 4>(&self.0),
                _ => {}
            }
            for i in 0..m {
                let mut sums = [T::zero(); TINY];
                for p in 0..k {
                    let factor = left.add(i * left_steps[0] + p * left_steps[1]).read();
                    for (j, sum) in sums[..n].iter_mut().enumerate() {
                        *sum = *sum + factor * right.add(p * right_steps[0] + j * right_steps[1]).read();
                    }
                }
                self.0.store(i, sums);
            }
        }
    }
}

impl<T: Num + Copy> Product<T> {
    /// Whether packing would take longer than the product.
    fn is_tiny(&self) -> bool {
        self.sizes.iter().all(|&size| size <= TINY)
    }

    /// Writes a row of the result.
    ///
    /// # Safety
    /// The result has row `i` and is held exclusively; there are as many sums as columns, or more.
    #[inline(always)]
    unsafe fn store<const N: usize>(&self, i: usize, sums: [T; N]) {
        // SAFETY: the caller's promise.
        unsafe {
            let out = self.out.add(i * self.out_step);
            for (j, &sum) in sums[..N.min(self.sizes[2])].iter().enumerate() {
                let earlier = if self.adds { out.add(j).read() } else { T::zero() };
                out.add(j).write(if self.adds { earlier + self.alpha * sum } else { self.alpha * sum });
            }
        }
    }
}

/// A product as the `gemm` crates compute it: rows, columns, terms; the result, from column to column, from row to row, whether it
/// is read; either operand in the same way; what the result and what the product is multiplied by; what is to be conjugated.
type Gemm<T> = unsafe fn(
    usize,
    usize,
    usize,
    *mut T,
    isize,
    isize,
    bool,
    *const T,
    isize,
    isize,
    *const T,
    isize,
    isize,
    T,
    T,
    bool,
    bool,
    bool,
    Parallelism,
);

/// The product of the crate for this float.
fn gemm_of<T: MachineFloat>() -> Gemm<T> {
    // SAFETY: either is taken for itself alone.
    unsafe {
        if TypeId::of::<T>() == TypeId::of::<f32>() {
            return core::mem::transmute_copy::<Gemm<f32>, Gemm<T>>(&gemm_f32::gemm::f32::get_gemm_fn());
        }
        assert_eq!(TypeId::of::<T>(), TypeId::of::<f64>(), "machine floats are `f32` and `f64`");
        core::mem::transmute_copy::<Gemm<f64>, Gemm<T>>(&gemm_f64::gemm::f64::get_gemm_fn())
    }
}

/// Where the sides of a result are divided: multiples of the tiles that the crates' kernels compute.
const TILE: usize = 48;
/// Parts with shorter sides, or fewer elements, are summed in another order by the crates, and results would depend on the number
/// of threads.
const SHORTEST: usize = 96;
const FEWEST: usize = 512;

impl<T: MachineFloat> Product<T> {
    /// The product by the crates, divided among threads along the longer side of the result. (The crates would share it
    /// through rayon, and wait for a thread of the pool to start.)
    pub(super) fn with_gemm(self) {
        let [m, k, n] = self.sizes;
        let (longer, shorter) = (m.max(n), m.min(n));
        let pieces = self.threads.min(longer / SHORTEST.max(FEWEST.div_ceil(shorter.max(1))));
        if pieces < 2 {
            return self.with_gemm_alone();
        }
        let tiles = longer / TILE;
        let whole = Shared(self);
        threads::for_each(pieces, &|piece| {
            let whole = &whole;
            let Product { out, out_step, left, left_steps, right, right_steps, .. } = whole.0;
            let start = piece * tiles / pieces * TILE;
            let end = if piece + 1 == pieces { longer } else { (piece + 1) * tiles / pieces * TILE };
            // The parts are inside the operands; each piece has rows or columns of the result of its own.
            let part = if m > n {
                let (out, left) = (out.wrapping_add(start * out_step), left.wrapping_add(start * left_steps[0]));
                Product { sizes: [end - start, k, n], out, left, ..whole.0 }
            } else {
                let (out, right) = (out.wrapping_add(start), right.wrapping_add(start * right_steps[1]));
                Product { sizes: [m, k, end - start], out, right, ..whole.0 }
            };
            part.with_gemm_alone();
        });
    }

    fn with_gemm_alone(self) {
        let [m, k, n] = self.sizes;
        // Steps inside an allocation fit `isize`.
        let step = |steps: [usize; 2], at: usize| steps[at] as isize;
        // SAFETY: the rows of the result are `n` elements each, held exclusively; the operands' places are inside their
        // views. The result is read only if it was written (`adds`). The crates write columns, so all is turned over.
        unsafe {
            gemm_of::<T>()(
                n,
                m,
                k,
                self.out,
                self.out_step as isize,
                1,
                self.adds,
                self.right,
                step(self.right_steps, 0),
                step(self.right_steps, 1),
                self.left,
                step(self.left_steps, 0),
                step(self.left_steps, 1),
                if self.adds { T::one() } else { T::zero() },
                self.alpha,
                false,
                false,
                false,
                Parallelism::None,
            );
        }
    }
}

/// One product of a batch, with what it is added to: places and steps as in [`Product`].
pub(super) struct GemmTask<E: Dtype> {
    pub(super) sizes: [usize; 3],
    pub(super) out: *mut E,
    pub(super) left: *const E,
    pub(super) left_steps: [usize; 2],
    pub(super) right: *const E,
    pub(super) right_steps: [usize; 2],
    pub(super) finish: Epilogue<E>,
    pub(super) threads: usize,
}

/// What becomes of a sum of products: `beta * input + alpha * sum`.
pub(super) struct Epilogue<E: Dtype> {
    pub(super) input: Option<*const E>,
    pub(super) steps: [usize; 2],
    pub(super) beta: E::Compute,
    pub(super) alpha: E::Compute,
}
impl<E: Dtype> Clone for Epilogue<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E: Dtype> Copy for Epilogue<E> {}
impl<E: Dtype> Epilogue<E> {
    /// The element at a row and a column.
    ///
    /// # Safety
    /// The input, if there is one, has them.
    #[inline(always)]
    pub(super) unsafe fn element(self, sum: E::Compute, row: usize, column: usize) -> E {
        let scaled = self.alpha.binary::<ops::mul>(sum);
        let Some(input) = self.input else { return E::from_compute(scaled) };
        // SAFETY: the caller's promise.
        let input = unsafe { input.add(row * self.steps[0] + column * self.steps[1]).read() };
        let input = self.beta.binary::<ops::mul>(input.to_compute());
        E::from_compute(input.binary::<ops::reduce::Accumulating>(scaled))
    }
}

/// `factor * a`
struct Scaling<C>(C);
impl<C: Copy> Clone for Scaling<C> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<C: Copy> Copy for Scaling<C> {}
impl<E: Dtype> Map1<E, E> for Scaling<E::Compute> {
    #[inline(always)]
    fn call(self, a: E) -> E {
        E::from_compute(self.0.binary::<ops::mul>(a.to_compute()))
    }
}

/// Whether products are computed in another type.
pub(super) const fn is_half<E: Dtype>() -> bool {
    matches!(E::DTYPE, DType::F16 | DType::BF16 | DType::C32)
}

pub(super) fn one<E: Dtype>() -> E::Compute {
    E::from_i32(1).to_compute()
}

/// Rows of the left matrices that run on through an axis of the batch, the right matrix being the same: one taller product.
/// The strides of the batch are those of the result, the left, the right and the input.
fn fold(batch: &mut Vec<usize>, strides: &mut [Vec<usize>; 4], m: &mut usize, rows: [&mut usize; 2]) {
    let [left_row, input_row] = rows;
    while let Some(&size) = batch.last() {
        let [_, left, right, input] = [0, 1, 2, 3].map(|operand| strides[operand][batch.len() - 1]);
        if size != 1 {
            let runs_on = *m == 1 || (left == *m * *left_row && input == *m * *input_row);
            if right != 0 || !runs_on {
                return;
            }
            if *m == 1 {
                (*left_row, *input_row) = (left, input);
            }
            *m *= size;
        }
        batch.pop();
        strides.iter_mut().for_each(|strides| {
            strides.pop();
        });
    }
}

/// The product of two small matrices: what others are prepared with would take longer than this.
fn tiny<E: Dtype>(a: View<'_, HostBuffer, E>, b: View<'_, HostBuffer, E>, sizes: [usize; 3]) -> Result<HostBuffer> {
    let [m, _, n] = sizes;
    let (left, right) = (source(&a), source(&b));
    // SAFETY: all `m * n` elements are written; the operands' places are inside their views.
    unsafe {
        HostBuffer::filled_by(m * n, |out: *mut E| {
            E::Compute::visit::<Multiply>(Product {
                sizes,
                // What is not half is computed in itself.
                out: out.cast(),
                out_step: n,
                left: left.cast(),
                left_steps: [a.strides[0], a.strides[1]],
                right: right.cast(),
                right_steps: [b.strides[0], b.strides[1]],
                alpha: one::<E>(),
                adds: false,
                threads: 1,
            })
        })
    }
}

/// The product of `(…, m, k)` and `(…, k, n)` with equal leading sizes, row-major, with what it is added to, and what is done to
/// its elements at the end.
pub(crate) fn matmul<E: Dtype>(
    a: View<'_, HostBuffer, E>,
    b: View<'_, HostBuffer, E>,
    added: Option<Added<'_, HostBuffer, E>>,
    then: Option<Then<'_, E>>,
) -> Result<HostBuffer> {
    if let (&[m, k], &[_, n], None, None) = (a.sizes, b.sizes, &added, then)
        && [m, k, n].iter().all(|size| (1..=TINY).contains(size))
        && const { !is_half::<E>() }
    {
        return tiny(a, b, [m, k, n]);
    }
    let last = a.sizes.len() - 1;
    let (mut m, k, n) = (a.sizes[last - 1], a.sizes[last], b.sizes[last]);
    let sizes: Vec<usize> = a.sizes[..last].iter().copied().chain([n]).collect();
    let results = result_len(&sizes)?;
    let to = strides::row_major(&sizes);
    let (input, beta, alpha) = match added {
        Some(Added { input, beta, alpha }) => (input, beta, alpha),
        None => (None, one::<E>(), one::<E>()),
    };
    let mut batch = sizes[..last - 1].to_vec();
    let none = vec![0; sizes.len()];
    let input_strides = input.map_or(&none[..], |input| input.strides);
    let mut strides = [&to[..], a.strides, b.strides, input_strides].map(|strides| strides[..last - 1].to_vec());
    let (mut left_row, mut input_row) = (a.strides[last - 1], input_strides[last - 1]);
    fold(&mut batch, &mut strides, &mut m, [&mut left_row, &mut input_row]);
    // `gemm` is as fast for a matrix whose rows lie in memory times a vector, on one thread.
    let alone = threads::pieces(m.saturating_mul(k) / (16 / size_of::<E>()).max(1)) == 1;
    let by_rows = n == 1 && m > 1 && a.strides[last] == 1 && matches!(E::DTYPE, DType::F32 | DType::F64) && alone;
    let vector = (m == 1 || n == 1) && !by_rows;
    let nothing = results == 0 || k == 0 || alpha == E::Compute::default();
    // The result starts as what the product is added to where that is the number computed in.
    let starts = input.is_some() && !(vector || is_half::<E>());
    let start = match input {
        Some(input) if nothing || (starts && then.is_none()) => Some(if beta == one::<E>() {
            map1::<E, E, _>(Copying, input, &to)?
        } else {
            map1::<E, E, _>(Scaling(beta), input, &to)?
        }),
        _ => None,
    };
    if nothing {
        let mut result = start.map_or_else(|| HostBuffer::zeroed::<E>(results), Ok)?;
        if let Some((then, out)) = then.zip(result.start_mut::<E>()).filter(|_| results > 0) {
            then(out, results);
        }
        return Ok(result);
    }

    let walk = Walk::row_major(&batch, strides.each_ref().map(|strides| &strides[..]));
    let finish = Epilogue { input: input.as_ref().map(source), steps: [input_row, input_strides[last]], beta, alpha };
    let (left, right) = (source(&a), source(&b));
    let task = |starts: [usize; 4], out: *mut E, threads: usize| GemmTask {
        sizes: [m, k, n],
        out: out.wrapping_add(starts[0]),
        left: left.wrapping_add(starts[1]),
        left_steps: [left_row, a.strides[last]],
        right: right.wrapping_add(starts[2]),
        right_steps: [b.strides[last - 1], b.strides[last]],
        finish: Epilogue { input: finish.input.map(|input| input.wrapping_add(starts[3])), ..finish },
        threads,
    };
    let multiply = |task: GemmTask<E>| {
        if vector {
            gemv::multiply(task)
        } else if const { is_half::<E>() } {
            half_gemm::multiply(task)
        } else {
            E::Compute::visit::<Multiply>(Product {
                sizes: task.sizes,
                // What is not half is computed in itself.
                out: task.out.cast(),
                out_step: n,
                left: task.left.cast(),
                left_steps: task.left_steps,
                right: task.right.cast(),
                right_steps: task.right_steps,
                alpha: task.finish.alpha,
                adds: starts,
                threads: task.threads,
            })
        }
    };
    let run = |task: GemmTask<E>| match then {
        None => multiply(task),
        Some(then) => epilogue::by_rows(task, starts, &multiply, then),
    };

    // At a few dozen multiplications in a nanosecond, or as fast as memory gives the matrix.
    let time = m.saturating_mul(k).saturating_mul(n) / if vector { 16 / size_of::<E>() } else { 32 };
    let (count, shares) = (batch.iter().product::<usize>(), threads::pieces(time));
    let fill = |out: *mut E| -> Result<()> {
        // Many matrices are divided among threads; each of few is.
        let pieces = threads::pieces(time.saturating_mul(count)).min(count);
        let (parts, shares) = if pieces > 1 && (shares == 1 || count >= threads::most()) {
            (walk.split(pieces, 1), 1)
        } else {
            (vec![walk.clone()], shares)
        };
        let whole = Shared((&parts, &task, &run, out));
        threads::try_for_each(parts.len(), &|part| {
            let whole = &whole;
            let (parts, task, run, out) = whole.0;
            for inner in parts[part].runs() {
                for matrix in 0..inner.len {
                    let starts = core::array::from_fn(|operand| inner.starts[operand] + matrix * inner.steps[operand]);
                    run(task(starts, out, shares))?;
                }
            }
            Ok(())
        })
    };
    match start {
        Some(mut start) => {
            // Nobody else has it yet.
            fill(start.start_mut::<E>().unwrap_or_else(|| unreachable!("a fresh buffer is not shared")))?;
            Ok(start)
        }
        // SAFETY: the walk visits every matrix of the result once, and all of its `m * n` elements are written.
        None => unsafe { HostBuffer::filled_by(results, fill) },
    }
}
