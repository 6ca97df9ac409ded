//! Matrix products. Floats and complex numbers go to the `gemm` crate; half precision through `f32`; integers, which no
//! crate multiplies with wrap-around, are ours. Uses walks; used by `Cpu`.

use super::elementwise::{map1, result_len};
use super::simd::{self, Loop};
use super::threads;
use super::walk::Walk;
use crate::dtype::{Compute, Dtype, MachineFloat, MachineInt, Visitor, refused};
use crate::error::Result;
use crate::ops::kernel::Map1;
use crate::storage::{HostBuffer, View};
use core::any::TypeId;
use num_complex::Complex;

/// One product of an `m x k` matrix with a `k x n` matrix: places of first elements, and steps to the next row and
/// column. The result is row-major.
struct Product<T> {
    sizes: [usize; 3],
    out: *mut T,
    left: *const T,
    left_steps: [usize; 2],
    right: *const T,
    right_steps: [usize; 2],
}

/// How a product is computed, by category.
struct Multiply;

impl Visitor for Multiply {
    type Arg<T> = Product<T>;

    fn boolean(_: Product<bool>) {
        refused()
    }

    fn integer<T: MachineInt>(product: Product<T>) {
        simd::dispatch(Plain {
            product,
            zero: T::zero(),
            term: |sum: T, a: T, b: T| sum.wrapping_add(&a.wrapping_mul(&b)),
        });
    }

    fn real<T: MachineFloat>(product: Product<T>) {
        if product.is_small() {
            let term = |sum: T, a: T, b: T| sum + a * b;
            return simd::dispatch(Tiny(Plain { product, zero: T::zero(), term }));
        }
        product.with_gemm(T::zero(), T::one());
    }

    fn complex<T: MachineFloat>(product: Product<Complex<T>>) {
        product.with_gemm(Complex::new(T::zero(), T::zero()), Complex::new(T::one(), T::zero()));
    }
}

/// A product by three loops: for integers, and for floats where packing would take longer.
struct Plain<T, F> {
    product: Product<T>,
    zero: T,
    /// `sum + a * b`
    term: F,
}

/// The largest size of products computed without packing.
const TINY: usize = 8;

/// A product of square matrices, all loops unrolled.
///
/// # Safety
/// As for [`Plain`], all sizes being `N`.
#[inline(always)]
unsafe fn square<T: Copy, F: Fn(T, T, T) -> T, const N: usize>(product: Product<T>, zero: T, term: F) {
    let Product { out, left, left_steps, right, right_steps, .. } = product;
    // SAFETY: the caller's promise.
    unsafe {
        let right: [[T; N]; N] = core::array::from_fn(|p| {
            core::array::from_fn(|j| right.add(p * right_steps[0] + j * right_steps[1]).read())
        });
        for i in 0..N {
            let mut sums = [zero; N];
            for (p, row) in right.iter().enumerate() {
                let factor = left.add(i * left_steps[0] + p * left_steps[1]).read();
                for (sum, &value) in sums.iter_mut().zip(row) {
                    *sum = term(*sum, factor, value);
                }
            }
            out.add(i * N).cast::<[T; N]>().write(sums);
        }
    }
}

/// A product of sizes up to [`TINY`], whose rows of sums stay in registers.
struct Tiny<T, F>(Plain<T, F>);

impl<T: Copy, F: Fn(T, T, T) -> T> Loop for Tiny<T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Plain { product, zero, term } = self.0;
        let Product { sizes: [m, k, n], out, left, left_steps, right, right_steps } = product;
        // SAFETY: as in `Plain`; the sums are at least `n`.
        unsafe {
            match [m, k, n] {
                [2, 2, 2] => return square::<_, _, 2>(product, zero, term),
                [3, 3, 3] => return square::<_, _, 3>(product, zero, term),
                [4, 4, 4] => return square::<_, _, 4>(product, zero, term),
                _ => {}
            }
            for i in 0..m {
                let mut sums = [zero; TINY];
                for p in 0..k {
                    let factor = left.add(i * left_steps[0] + p * left_steps[1]).read();
                    for (j, sum) in sums[..n].iter_mut().enumerate() {
                        *sum = term(*sum, factor, right.add(p * right_steps[0] + j * right_steps[1]).read());
                    }
                }
                core::ptr::copy_nonoverlapping(sums.as_ptr(), out.add(i * n), n);
            }
        }
    }
}

/// Columns of the result that are summed side by side.
const STRIP: usize = 64;
/// Rows of the result that share what is read of the right operand.
const ROWS: usize = 4;

impl<T: Copy, F: Fn(T, T, T) -> T> Loop for Plain<T, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Plain { product: Product { sizes: [m, k, n], out, left, left_steps, right, right_steps }, zero, term } =
            self;
        // Columns apart from each other are gathered, a strip at a time; those side by side are read where they are.
        let mut strip = if right_steps[1] == 1 { Vec::new() } else { vec![zero; k * STRIP] };
        for first in (0..n).step_by(STRIP) {
            let columns = STRIP.min(n - first);
            // SAFETY: the operands' places are inside their views; row `i` of the result is `n` elements from `out + i * n`,
            // held exclusively; the strip has `k` rows of `STRIP`.
            unsafe {
                let (rows, step) = if right_steps[1] == 1 {
                    (right.add(first), right_steps[0])
                } else {
                    for p in 0..k {
                        for j in 0..columns {
                            strip[p * STRIP + j] = right.add(p * right_steps[0] + (first + j) * right_steps[1]).read();
                        }
                    }
                    (strip.as_ptr(), STRIP)
                };
                let mut i = 0;
                if columns == STRIP {
                    while i + ROWS <= m {
                        let mut sums = [[zero; STRIP]; ROWS];
                        for p in 0..k {
                            let row = rows.add(p * step);
                            for (r, sums) in sums.iter_mut().enumerate() {
                                let factor = left.add((i + r) * left_steps[0] + p * left_steps[1]).read();
                                for (j, sum) in sums.iter_mut().enumerate() {
                                    *sum = term(*sum, factor, row.add(j).read());
                                }
                            }
                        }
                        for (r, sums) in sums.iter().enumerate() {
                            core::ptr::copy_nonoverlapping(sums.as_ptr(), out.add((i + r) * n + first), STRIP);
                        }
                        i += ROWS;
                    }
                }
                while i < m {
                    let mut sums = [zero; STRIP];
                    for p in 0..k {
                        let factor = left.add(i * left_steps[0] + p * left_steps[1]).read();
                        let row = rows.add(p * step);
                        for (j, sum) in sums[..columns].iter_mut().enumerate() {
                            *sum = term(*sum, factor, row.add(j).read());
                        }
                    }
                    core::ptr::copy_nonoverlapping(sums.as_ptr(), out.add(i * n + first), columns);
                    i += 1;
                }
            }
        }
    }
}

impl<T: Copy + 'static> Product<T> {
    /// Whether three loops beat packing.
    fn is_small(&self) -> bool {
        self.sizes.iter().all(|&size| size <= TINY)
    }

    /// `T` is one of `f32`, `f64` and the complex types over them, which are those that `gemm` takes.
    fn with_gemm(self, zero: T, one: T) {
        let [m, k, n] = self.sizes;
        if k == 0 {
            // SAFETY: the result is `m * n` elements from `out`.
            unsafe { (0..m * n).for_each(|at| self.out.add(at).write(zero)) }
            return;
        }
        // Steps inside an allocation fit `isize`.
        let step = |steps: [usize; 2], at: usize| steps[at] as isize;
        // SAFETY: the result is `m * n` elements from `out`, held exclusively; the operands' places are inside their
        // views. The result is not read (`read_dst` is false).
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                self.out,
                1,
                n as isize,
                false,
                self.left,
                step(self.left_steps, 1),
                step(self.left_steps, 0),
                self.right,
                step(self.right_steps, 1),
                step(self.right_steps, 0),
                zero,
                one,
                false,
                false,
                false,
                parallelism(m * n * k),
            );
        }
    }
}

/// How many threads share one product of so many multiplications.
fn parallelism(multiplications: usize) -> gemm::Parallelism {
    // At a few dozen multiplications in a nanosecond.
    match threads::pieces(multiplications / 32) {
        1 => gemm::Parallelism::None,
        pieces => gemm::Parallelism::Rayon(pieces),
    }
}

/// An operand in the type it is computed in: where it was, or a row-major copy.
struct Widened<T> {
    start: *const T,
    strides: Vec<usize>,
    /// Keeps the copy alive.
    _copy: Option<HostBuffer>,
}

fn computes_itself<E: Dtype>() -> bool {
    TypeId::of::<E>() == TypeId::of::<E::Compute>()
}

fn row_major(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; sizes.len()];
    for axis in (1..sizes.len()).rev() {
        strides[axis - 1] = strides[axis] * sizes[axis].max(1);
    }
    strides
}

fn widen<E: Dtype>(view: View<'_, HostBuffer, E>) -> Result<Widened<E::Compute>> {
    if computes_itself::<E>() {
        // SAFETY: the offset of a view lies inside its buffer; `E` and `E::Compute` are one type.
        let start = unsafe { view.buffer.start::<E::Compute>().add(view.offset) };
        return Ok(Widened { start, strides: view.strides.to_vec(), _copy: None });
    }
    let strides = row_major(view.sizes);
    let copy = map1::<E, E::Compute, _>(Widening, view, &strides)?;
    Ok(Widened { start: copy.start(), strides, _copy: Some(copy) })
}

#[derive(Clone, Copy)]
struct Widening;
impl<E: Dtype> Map1<E, E::Compute> for Widening {
    #[inline(always)]
    fn call(self, a: E) -> E::Compute {
        a.to_compute()
    }
}

/// Rounds a product to its dtype.
struct Narrowing<E>(core::marker::PhantomData<fn() -> E>);
impl<E> Clone for Narrowing<E> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<E> Copy for Narrowing<E> {}
impl<E: Dtype> Map1<E::Compute, E> for Narrowing<E> {
    #[inline(always)]
    fn call(self, a: E::Compute) -> E {
        E::from_compute(a)
    }
}

/// The product of `(…, m, k)` and `(…, k, n)` with equal leading sizes, row-major.
pub(crate) fn matmul<E: Dtype>(a: View<'_, HostBuffer, E>, b: View<'_, HostBuffer, E>) -> Result<HostBuffer> {
    let last = a.sizes.len() - 1;
    let (m, k, n) = (a.sizes[last - 1], a.sizes[last], b.sizes[last]);
    let batch = &a.sizes[..last - 1];
    if batch.is_empty() && computes_itself::<E>() {
        // SAFETY: as below, for the one matrix; `E` and `E::Compute` are one type, and offsets lie inside their buffers.
        return unsafe {
            HostBuffer::filled_by(result_len(&[m, n])?, |out: *mut E::Compute| {
                E::Compute::visit::<Multiply>(Product {
                    sizes: [m, k, n],
                    out,
                    left: a.buffer.start::<E::Compute>().add(a.offset),
                    left_steps: [a.strides[0], a.strides[1]],
                    right: b.buffer.start::<E::Compute>().add(b.offset),
                    right_steps: [b.strides[0], b.strides[1]],
                });
                Ok(())
            })
        };
    }
    let (left, right) = (widen(a)?, widen(b)?);
    let result_sizes: Vec<usize> = batch.iter().copied().chain([m, n]).collect();
    let results = result_len(&result_sizes)?;
    let result_strides = row_major(&result_sizes);
    let walk =
        Walk::row_major(batch, [&result_strides[..last - 1], &left.strides[..last - 1], &right.strides[..last - 1]]);

    // SAFETY: the walk visits every matrix of the result once and `Multiply` writes all of its `m * n` elements.
    let product = unsafe {
        HostBuffer::filled_by(results, |out: *mut E::Compute| {
            for run in walk.runs() {
                for matrix in 0..run.len {
                    let at = |operand: usize| run.starts[operand] + matrix * run.steps[operand];
                    E::Compute::visit::<Multiply>(Product {
                        sizes: [m, k, n],
                        out: out.add(at(0)),
                        left: left.start.add(at(1)),
                        left_steps: [left.strides[last - 1], left.strides[last]],
                        right: right.start.add(at(2)),
                        right_steps: [right.strides[last - 1], right.strides[last]],
                    });
                }
            }
            Ok(())
        })?
    };
    if computes_itself::<E>() {
        return Ok(product);
    }
    let view = View::<_, E::Compute>::new(&product, 0, core::slice::from_ref(&results), &[1]);
    map1(Narrowing::<E>(core::marker::PhantomData), view, &[1])
}
