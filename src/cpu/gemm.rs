//! Matrix products. Floats and complex numbers go to the `gemm` crate; half precision through `f32`; integers, which no
//! crate multiplies with wrap-around, are ours. Uses walks; used by `Cpu`.

use super::elementwise::{map1, result_len};
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
        let Product { sizes: [m, k, n], out, left, left_steps, right, right_steps } = product;
        for i in 0..m {
            // SAFETY: row `i` of the result is `n` elements from `out + i * n`, not yet read by anyone; the operands'
            // places are inside their views.
            unsafe {
                let out = out.add(i * n);
                (0..n).for_each(|j| out.add(j).write(T::zero()));
                for p in 0..k {
                    let factor = left.add(i * left_steps[0] + p * left_steps[1]).read();
                    let row = right.add(p * right_steps[0]);
                    for j in 0..n {
                        let term = factor.wrapping_mul(&row.add(j * right_steps[1]).read());
                        out.add(j).write(out.add(j).read().wrapping_add(&term));
                    }
                }
            }
        }
    }

    fn real<T: MachineFloat>(product: Product<T>) {
        product.with_gemm(T::zero(), T::one());
    }

    fn complex<T: MachineFloat>(product: Product<Complex<T>>) {
        product.with_gemm(Complex::new(T::zero(), T::zero()), Complex::new(T::one(), T::zero()));
    }
}

impl<T: Copy + 'static> Product<T> {
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
                gemm::Parallelism::None,
            );
        }
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
    let copy = map1::<E, E::Compute>(Widening, view, &strides)?;
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
