//! Matrix products. Float and complex products are computed in blocks that stay in the caches (`float_gemm`); half precision is widened to
//! `f32` in tiles (`half_gemm`). Integers, which must wrap (`integer_gemm`), and matrix-vector products, which are memory-bound (`gemv`),
//! have loops of their own.

use super::conv::{self, FewRows};
use super::elementwise::{map1, map2, result_len, source};
use super::epilogue::{self, Then};
use super::threads::{self, Shared};
use super::tiny_gemm::{self, TINY, small};
use super::walk::Walk;
use super::{complex_gemm, float_gemm, gemv, half_gemm, integer_gemm};
use crate::dtype::{Compute, DType, Dtype, MachineFloat, MachineInt, Visitor, refused};
use crate::error::Result;
use crate::layout::strides;
use crate::ops;
use crate::ops::arguments::Added;
use crate::ops::kernel::{Combining, Copying, Map1};
use crate::ops::record::kernel::{Kernel, Value};
use crate::storage::{HostBuffer, View};
use core::mem::MaybeUninit;
use num_complex::Complex;
use num_traits::One;

/// One product of an `m x k` matrix and a `k x n` matrix: pointers to the first elements, and the row and column strides. Rows of the
/// result are contiguous.
#[derive(Clone, Copy)]
pub(super) struct Product<T> {
    pub(super) sizes: [usize; 3],
    pub(super) out: *mut T,
    pub(super) out_step: usize,
    pub(super) left: *const T,
    pub(super) left_steps: [usize; 2],
    pub(super) right: *const T,
    pub(super) right_steps: [usize; 2],
    /// The scale factor of the product.
    pub(super) alpha: T,
    /// Whether the product is added to the result's current values.
    pub(super) adds: bool,
    /// The most threads to use.
    pub(super) threads: usize,
}

/// Chooses the algorithm by category.
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
            tiny_gemm::multiply(product);
            return Ok(());
        }
        float_gemm::multiply::<T, 1>(product)
    }

    fn complex<T: MachineFloat>(product: Product<Complex<T>>) -> Result<()> {
        // Adding the input is more accurate if the product is rounded once.
        if product.is_tiny() && product.alpha.is_one() && !product.adds {
            tiny_gemm::multiply(product);
            return Ok(());
        }
        complex_gemm::multiply(product)
    }
}

/// One product of a batch, with its input: pointers and strides as in [`Product`].
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

/// The epilogue of each sum: `beta * input + alpha * sum`.
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
    /// The result's element at a row and a column.
    ///
    /// # Safety
    /// The input, if any, has an element there.
    #[inline(always)]
    pub(super) unsafe fn element(self, sum: E::Compute, row: usize, column: usize) -> E {
        let scaled = self.alpha.binary::<ops::mul>(sum);
        let Some(input) = self.input else { return E::from_compute(scaled) };
        // SAFETY: the caller's promise.
        let input = unsafe { input.add(row * self.steps[0] + column * self.steps[1]).read() };
        let input = self.beta.binary::<ops::mul>(input.to_compute());
        E::from_compute(input.binary::<ops::reduce::Accumulating>(scaled))
    }

    /// Writes elements of a row of the result, from `column` on, one per sum. (Loops over slices vectorise.)
    ///
    /// # Safety
    /// The result has them, nobody else writes them, and the input, if any, has them, too.
    #[inline(always)]
    pub(super) unsafe fn row(self, sums: &[E::Compute], out: *mut E, [row, column]: [usize; 2]) {
        let (alpha, beta, len) = (self.alpha, self.beta, sums.len());
        // SAFETY: the caller's promise; the input never aliases the result, which is new.
        unsafe {
            let fresh = core::slice::from_raw_parts_mut(out.cast::<MaybeUninit<E>>(), len);
            match self.input {
                None => fresh.iter_mut().zip(sums).for_each(|(out, &sum)| {
                    out.write(E::from_compute(alpha.binary::<ops::mul>(sum)));
                }),
                Some(input) if self.steps[1] == 1 => {
                    let input = core::slice::from_raw_parts(input.add(row * self.steps[0] + column), len);
                    fresh.iter_mut().zip(sums).zip(input).for_each(|((out, &sum), input)| {
                        let input = beta.binary::<ops::mul>(input.to_compute());
                        let scaled = alpha.binary::<ops::mul>(sum);
                        out.write(E::from_compute(input.binary::<ops::reduce::Accumulating>(scaled)));
                    });
                }
                Some(_) => fresh.iter_mut().zip(sums).enumerate().for_each(|(at, (out, &sum))| {
                    out.write(self.element(sum, row, column + at));
                }),
            }
        }
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
    fn text(&self, kernel: &mut Kernel, a: Value) -> Value {
        let factor = kernel.parameter(self.0);
        kernel.rounded("mul", E::DTYPE, &[factor, a])
    }
}

/// Whether products accumulate in a wider type.
pub(super) const fn is_half<E: Dtype>() -> bool {
    matches!(E::DTYPE, DType::F16 | DType::BF16 | DType::C32)
}

pub(super) fn one<E: Dtype>() -> E::Compute {
    E::from_i32(1).to_compute()
}

/// Folds batch axes into the rows of the left matrix where the right matrix is broadcast, giving one taller product. The batch strides are
/// those of the result, the left, the right and the input.
fn fold(batch: &mut Vec<usize>, strides: &mut [Vec<usize>; 4], m: &mut usize, rows: [&mut usize; 2]) {
    let [left_row, input_row] = rows;
    while let Some(&size) = batch.last() {
        let last = batch.len() - 1;
        let (left, right, input) = (strides[1][last], strides[2][last], strides[3][last]);
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

/// The product of `(…, m, k)` and `(…, k, n)` with equal leading sizes, row-major, with its input and its epilogue.
#[inline]
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
        return small(a, b, [m, k, n]);
    }
    larger(a, b, added, then)
}

/// [`matmul`] of columns and rows: each element is one product.
fn outer<E: Dtype>(
    a: View<'_, HostBuffer, E>,
    b: View<'_, HostBuffer, E>,
    sizes: &[usize],
    to: &[usize],
) -> Result<HostBuffer> {
    let (mut left, mut right) = (a.strides.to_vec(), b.strides.to_vec());
    (left[sizes.len() - 1], right[sizes.len() - 2]) = (0, 0);
    let (a, b) = (View::new(a.buffer, a.offset, sizes, &left), View::new(b.buffer, b.offset, sizes, &right));
    map2::<E, E, E, _>(Combining::<ops::mul, E>::new(), a, b, to)
}

/// [`matmul`] beyond the smallest matrices.
fn larger<E: Dtype>(
    a: View<'_, HostBuffer, E>,
    b: View<'_, HostBuffer, E>,
    added: Option<Added<'_, HostBuffer, E>>,
    then: Option<Then<'_, E>>,
) -> Result<HostBuffer> {
    let last = a.sizes.len() - 1;
    let (mut m, k, n) = (a.sizes[last - 1], a.sizes[last], b.sizes[last]);
    let sizes: Vec<usize> = a.sizes[..last].iter().copied().chain([n]).collect();
    let results = result_len(&sizes)?;
    let to = strides::row_major(&sizes);
    if k == 1 && added.is_none() && then.is_none() && const { !matches!(E::DTYPE, DType::Bool) } {
        return outer::<E>(a, b, &sizes, &to);
    }
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
    let (one_vector, alongside) = (m == 1 || n == 1, [a.strides[last], b.strides[last - 1]]);
    // (`bf16` is widened by a shift, without a copy; half precision has an epilogue of its own.)
    let are_lines = const { conv::has::<E>() && !matches!(E::DTYPE, DType::BF16) }
        && (alpha == one::<E>() || const { is_half::<E>() })
        && conv::are_lines([m, k, n], alongside);
    let vector = one_vector && !are_lines;
    let nothing = results == 0 || k == 0 || alpha == E::Compute::default();
    // Where sums accumulate in the element type, the result starts as `beta * input`.
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
            if const { conv::has::<E>() } && task.finish.alpha == one::<E>() {
                let few = FewRows {
                    sizes: task.sizes,
                    out: task.out,
                    out_step: n,
                    left: task.left,
                    left_steps: task.left_steps,
                    right: task.right,
                    right_steps: task.right_steps,
                    adds: starts,
                    threads: task.threads,
                };
                let few = if n == 1 { few.transposed() } else { few };
                if few.pays() {
                    return few.multiply();
                }
            }
            E::Compute::visit::<Multiply>(Product {
                sizes: task.sizes,
                // The accumulation type of dtypes other than half precision is the element type.
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

    // An estimate: a few dozen multiplications per nanosecond, or the matrix at memory speed.
    let time = m.saturating_mul(k).saturating_mul(n) / if one_vector { 16 / size_of::<E>() } else { 32 };
    let (count, shares) = (batch.iter().product::<usize>(), threads::pieces(time));
    let fill = |out: *mut E| -> Result<()> {
        // If there are many matrices, each thread takes its own; otherwise each product is divided among the threads.
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
            // A fresh buffer.
            fill(start.start_mut::<E>().unwrap_or_else(|| unreachable!("a fresh buffer is not shared")))?;
            Ok(start)
        }
        // SAFETY: the walk visits every matrix of the result once, and all of its `m * n` elements are written.
        None => unsafe { HostBuffer::filled_by(results, fill) },
    }
}

/// The kernels of this file, for the test of their GPU text.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    suite.one::<_, crate::dtype::f16, crate::dtype::f16>("scaling", Scaling(0.3_f32));
    suite.one::<_, i8, i8>("scaling", Scaling(3_i8));
}
