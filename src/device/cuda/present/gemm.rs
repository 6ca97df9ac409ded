//! Matrix products with cublasLt: batches are folded and merged, supported layouts are used directly, others are packed, and the input is
//! added.

use super::elementwise::{Target, count, fresh, operand, run, start};
use super::product::OP;
use super::reduce::uninitialised;
use crate::cuda::blas::{Factor, Gemm, Matrix, Summand, multiplies};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::{Compute, DType, Dtype, Element};
use crate::error::Result;
use crate::layout::strides::row_major;
use crate::ops::arguments::Added;
use crate::ops::kernel::Copying;
use crate::ops::record::describe;
use crate::storage::View;

/// The version of cublasLt, as `(13, 0, 2)`, if matrix products use it. Loads it if necessary.
///
/// # Errors
/// If castiron's own kernel computes all products, which is slower for floats: the error says why, and what to install.
pub fn cublas_lt_version() -> Result<(usize, usize, usize)> {
    crate::cuda::blas::version()
}

/// Number of multiplications below which our own kernel, which reads any strides, is faster than packing.
const SMALL: usize = 1 << 21;
/// Maximum number of calls for a batch without uniform strides; beyond, it is packed.
const CALLS: usize = 64;
/// Maximum number of matrices per call: the grid limit along its last axis.
const BATCH: usize = 65_535;

/// A leading axis: its size, and its strides in the left, the right, the input and the result.
#[derive(Clone, Copy)]
struct Axis {
    size: usize,
    strides: [usize; 4],
}
const LEFT: usize = 0;
const RIGHT: usize = 1;
const INPUT: usize = 2;

/// A batch of products: addresses of first elements, strides of matrices, and the leading axes.
#[derive(Clone)]
struct Batch {
    sizes: [usize; 3],
    axes: Vec<Axis>,
    addresses: [u64; 3],
    steps: [[usize; 2]; 3],
    adds: bool,
}

impl Batch {
    /// Folds matrices that share the right factor into rows of one taller product, merges mergeable axes, and drops axes of size 1.
    fn simplify(&mut self) {
        self.axes.retain(|axis| axis.size != 1);
        while let Some(&Axis { size, strides }) = self.axes.last() {
            let rows = self.sizes[0];
            let runs_on = |of: usize| rows == 1 || strides[of] == rows * self.steps[of][0];
            if strides[RIGHT] != 0 || !runs_on(LEFT) || (self.adds && !runs_on(INPUT)) {
                break;
            }
            if rows == 1 {
                (self.steps[LEFT][0], self.steps[INPUT][0]) = (strides[LEFT], strides[INPUT]);
            }
            self.sizes[0] *= size;
            self.axes.pop();
        }
        let mut merged: Vec<Axis> = Vec::new();
        for axis in self.axes.drain(..).rev() {
            match merged.last_mut() {
                Some(inner) if (0..4).all(|of| axis.strides[of] == inner.strides[of] * inner.size) => {
                    inner.size *= axis.size;
                }
                _ => merged.push(axis),
            }
        }
        merged.reverse();
        self.axes = merged;
    }

    /// Number of calls: the longest axis is handled within a call.
    fn calls(&self) -> usize {
        let all: usize = self.axes.iter().map(|axis| axis.size).product();
        all / self.longest().map_or(1, |at| self.axes[at].size)
    }

    fn longest(&self) -> Option<usize> {
        (0..self.axes.len()).max_by_key(|&at| self.axes[at].size)
    }

    /// Sizes of a factor's matrices.
    fn matrix(&self, of: usize) -> [usize; 2] {
        let [m, k, n] = self.sizes;
        if of == LEFT { [m, k] } else { [k, n] }
    }
}

/// The layout of a matrix for cublasLt: leading dimension, and whether columns are contiguous; `None` if neither axis is.
fn arranged([rows, columns]: [usize; 2], [down, across]: [usize; 2]) -> Option<(usize, bool)> {
    // The stride of an axis of size 1 is not used.
    let by_rows = (columns == 1 || across == 1) && (rows == 1 || down >= columns);
    let by_columns = (rows == 1 || down == 1) && (columns == 1 || across >= rows);
    let lead = |count: usize, stride: usize, len: usize| if count == 1 { len } else { stride };
    // Contiguous elements of a single column are a column, rather than many rows of one element.
    match (by_rows, by_columns) {
        (_, true) if columns == 1 || !by_rows => Some((lead(columns, across, rows), true)),
        (true, _) => Some((lead(rows, down, columns), false)),
        _ => None,
    }
}

/// Copies a factor so that its rows (or columns) are contiguous; broadcast axes are kept.
fn pack<E: Element>(device: &'static CudaDevice, batch: &mut Batch, of: usize, by_columns: bool) -> Result<CudaBuffer> {
    let mut matrix = batch.matrix(of);
    if by_columns {
        matrix.reverse();
        batch.steps[of].reverse();
    }
    let own = |axis: &Axis| if axis.strides[of] == 0 { 1 } else { axis.size };
    let sizes: Vec<usize> = batch.axes.iter().map(own).chain(matrix).collect();
    let strides: Vec<usize> = batch.axes.iter().map(|axis| axis.strides[of]).chain(batch.steps[of]).collect();
    let from = operand(batch.addresses[of], &strides);
    let packed = row_major(&sizes);
    // SAFETY: the factor has elements at all of these places.
    let copy =
        unsafe { fresh(E::DTYPE, OP, device, (&sizes, &packed), &|to| describe::map1::<_, E, E>(to, &Copying, from))? };
    for (axis, &stride) in batch.axes.iter_mut().zip(&packed) {
        axis.strides[of] = if axis.strides[of] == 0 { 0 } else { stride };
    }
    batch.steps[of] = if by_columns { [1, matrix[1]] } else { [matrix[1], 1] };
    batch.addresses[of] = copy.address();
    Ok(copy)
}

/// A scale factor's bytes.
fn factor<C: Compute>(value: C) -> Factor {
    const { assert!(size_of::<C>() <= 16) }
    let mut factor = Factor([0; 16]);
    // SAFETY: a number has that many bytes and no padding.
    unsafe { core::ptr::copy_nonoverlapping((&raw const value).cast::<u8>(), factor.0.as_mut_ptr(), size_of::<C>()) };
    factor
}

/// The product of `(…, m, k)` and `(…, k, n)` and its input, by cublasLt; `None` if our own kernel should compute it.
pub(super) fn gemm<E: Dtype>(
    device: &'static CudaDevice,
    a: &View<'_, CudaBuffer, E>,
    b: &View<'_, CudaBuffer, E>,
    added: Option<&Added<'_, CudaBuffer, E>>,
) -> Result<Option<CudaBuffer>> {
    if !multiplies(E::DTYPE, E::DTYPE) {
        return Ok(None);
    }
    let one = E::from_f64(1.0).to_compute();
    let (input, beta, alpha) = added.map_or((None, one, one), |added| (added.input.as_ref(), added.beta, added.alpha));
    let (leading, matrix) = a.sizes.split_at(a.sizes.len() - 2);
    let (m, k, n) = (matrix[0], matrix[1], b.sizes[b.sizes.len() - 1]);
    let result_sizes: Vec<usize> = leading.iter().copied().chain([m, n]).collect();
    let elements = count(OP, &result_sizes)?;
    // (Empty products and sums, and a factor of 0, which ignores the product, are left to our own kernel.)
    if elements == 0 || k == 0 || alpha == E::Compute::default() {
        return Ok(None);
    }
    let split = |strides: &[usize]| {
        let (leading, last) = strides.split_at(strides.len().saturating_sub(2));
        (leading.to_vec(), [last[0], last[1]])
    };
    let result_strides = row_major(&result_sizes);
    let none = vec![0; result_sizes.len()];
    let all = [a.strides, b.strides, input.map_or(&none[..], |input| input.strides), &result_strides].map(split);
    let at = |view: &View<'_, CudaBuffer, E>| start::<E>(view.buffer, view.offset);
    let mut batch = Batch {
        sizes: [m, k, n],
        axes: (0..leading.len())
            .map(|axis| Axis { size: leading[axis], strides: all.each_ref().map(|(strides, _)| strides[axis]) })
            .collect(),
        addresses: [at(a), at(b), input.map_or(0, at)],
        steps: [all[0].1, all[1].1, all[2].1],
        adds: input.is_some(),
    };
    batch.simplify();
    // Packs unsupported layouts if the product is large enough.
    let work = elements.saturating_mul(k);
    let odd = |batch: &Batch, of: usize| arranged(batch.matrix(of), batch.steps[of]).is_none();
    let mut packed = Vec::new();
    let many = batch.calls() > CALLS;
    for of in [LEFT, RIGHT] {
        if odd(&batch, of) || many {
            if work < SMALL {
                return Ok(None);
            }
            packed.push(pack::<E>(device, &mut batch, of, false)?);
        }
    }
    if !packed.is_empty() {
        batch.simplify();
    }
    // SAFETY: every element is written by the products, or by a copy of the input and then the products.
    let [result] = unsafe { uninitialised(device, elements, [size_of::<E>()])? };
    let ones = alpha == one && beta == one;
    let summand = addend::<E>(device, &mut batch, (&result, &result_sizes, &result_strides), (input, ones))?;
    let factors = [factor(alpha), factor(beta)];
    let mut begun = begin::<E>(device, &batch, result.address(), summand, factors)?;
    if let (false, Summand::Row(_)) = (begun, summand) {
        let summand = addend::<E>(device, &mut batch, (&result, &result_sizes, &result_strides), (input, false))?;
        begun = begin::<E>(device, &batch, result.address(), summand, factors)?;
    }
    Ok(begun.then_some(result))
}

/// The product of `i8` matrices in `i32`; `None` if our own kernel should compute it. cublasLt needs factors that are contiguous along the
/// summed axis, and sizes that are multiples of four. (Sums that may overflow 32 bits are left to ours, which wraps.)
pub(super) fn bytes<E: Element>(
    device: &'static CudaDevice,
    a: &View<'_, CudaBuffer, E>,
    b: &View<'_, CudaBuffer, i8>,
) -> Result<Option<CudaBuffer>> {
    let &[m, k] = a.sizes else { return Ok(None) };
    let n = b.sizes[1];
    let work = count(OP, &[m, n])?.saturating_mul(k);
    let whole = [m, k, n].iter().all(|size| size.is_multiple_of(4)) && k < 1 << 17;
    if work == 0 || !whole || !multiplies(E::DTYPE, DType::I32) {
        return Ok(None);
    }
    let mut batch = Batch {
        sizes: [m, k, n],
        axes: Vec::new(),
        addresses: [start::<E>(a.buffer, a.offset), start::<i8>(b.buffer, b.offset), 0],
        steps: [[a.strides[0], a.strides[1]], [b.strides[0], b.strides[1]], [0; 2]],
        adds: false,
    };
    let mut packed = Vec::new();
    let mut factors = [Matrix { address: 0, lead: 0, step: 0, by_columns: false }; 2];
    for (of, by_columns) in [(LEFT, false), (RIGHT, true)] {
        let fitting = |batch: &Batch| {
            let found =
                arranged(batch.matrix(of), batch.steps[of]).filter(|&(lead, by)| by == by_columns && lead % 4 == 0);
            found.filter(|_| batch.addresses[of].is_multiple_of(4))
        };
        if fitting(&batch).is_none() {
            if work < SMALL {
                return Ok(None);
            }
            // (Both are of bytes.)
            packed.push(pack::<i8>(device, &mut batch, of, by_columns)?);
        }
        let Some((lead, _)) = fitting(&batch) else { return Ok(None) };
        factors[of] = Matrix { address: batch.addresses[of], lead, step: 0, by_columns };
    }
    // SAFETY: the product writes every element.
    let [result] = unsafe { uninitialised(device, m * n, [size_of::<i32>()])? };
    let gemm = Gemm {
        dtypes: [DType::I8, DType::I32],
        sizes: batch.sizes,
        batch: 1,
        left: factors[LEFT],
        right: factors[RIGHT],
        summand: Summand::Nothing,
        out: Matrix { address: result.address(), lead: n, step: 0, by_columns: false },
    };
    // SAFETY: what views reach is valid, and the result is new; the scale factors are `i32`, the compute type.
    let begun = unsafe { device.gemm(OP, &gemm, &factor(1_i32), &factor(0_i32))? };
    Ok(begun.then_some(result))
}

/// How the input is added: as a row, directly, or copied to the result, to which the product is then added.
fn addend<E: Dtype>(
    device: &'static CudaDevice,
    batch: &mut Batch,
    (result, sizes, strides): (&CudaBuffer, &[usize], &[usize]),
    (input, ones): (Option<&View<'_, CudaBuffer, E>>, bool),
) -> Result<Summand> {
    let Some(input) = input else { return Ok(Summand::Nothing) };
    let [m, _, n] = batch.sizes;
    let ([down, across], address) = (batch.steps[INPUT], batch.addresses[INPUT]);
    let rows_are_one = (m == 1 || down == 0) && batch.axes.iter().all(|axis| axis.strides[INPUT] == 0);
    let contiguous = n == 1 || across == 1;
    let has_rows = matches!(E::DTYPE, DType::F16 | DType::BF16 | DType::F32);
    if ones && rows_are_one && contiguous && has_rows && address % 16 == 0 {
        return Ok(Summand::Row(address));
    }
    if contiguous && (m == 1 || down >= n) {
        let lead = if m == 1 { n } else { down };
        return Ok(Summand::Matrix(Matrix { address, lead, step: 0, by_columns: false }));
    }
    let target = Target { to: operand(result.address(), strides), sizes, in_place: false };
    let from = operand(address, input.strides);
    // SAFETY: the input has the result's sizes, and the result is new.
    unsafe { run(E::DTYPE, OP, device, &target, &|to| describe::map1::<_, E, E>(to, &Copying, from))? };
    batch.steps[INPUT] = [n, 1];
    batch.addresses[INPUT] = result.address();
    batch.axes.iter_mut().for_each(|axis| axis.strides[INPUT] = axis.strides[3]);
    Ok(Summand::Matrix(Matrix { address: result.address(), lead: n, step: 0, by_columns: false }))
}

/// Starts the products, with one call per position along the other axes than the longest; `false` if cublasLt does not support them.
fn begin<E: Dtype>(
    device: &'static CudaDevice,
    batch: &Batch,
    out: u64,
    summand: Summand,
    [alpha, beta]: [Factor; 2],
) -> Result<bool> {
    let Some([left, right]) = [LEFT, RIGHT]
        .map(|of| arranged(batch.matrix(of), batch.steps[of]))
        .into_iter()
        .collect::<Option<Vec<_>>>()
        .and_then(|both| <[(usize, bool); 2]>::try_from(both).ok())
    else {
        return Ok(false);
    };
    let mut outer = batch.axes.clone();
    let inner = batch.longest().map_or(Axis { size: 1, strides: [0; 4] }, |at| outer.remove(at));
    let calls: usize = outer.iter().map(|axis| axis.size).product();
    for call in 0..calls {
        // The offsets of a call along the other axes.
        let mut offsets = [0; 4];
        let mut rest = call;
        for axis in outer.iter().rev() {
            let place = rest % axis.size;
            rest /= axis.size;
            (0..4).for_each(|of| offsets[of] += place * axis.strides[of]);
        }
        for first in (0..inner.size).step_by(BATCH) {
            let at =
                |address: u64, of: usize| address + ((offsets[of] + first * inner.strides[of]) * size_of::<E>()) as u64;
            let factor = |of: usize, (lead, by_columns): (usize, bool)| Matrix {
                address: at(batch.addresses[of], of),
                lead,
                step: inner.strides[of],
                by_columns,
            };
            let gemm = Gemm {
                dtypes: [E::DTYPE; 2],
                sizes: batch.sizes,
                batch: (inner.size - first).min(BATCH),
                left: factor(LEFT, left),
                right: factor(RIGHT, right),
                summand: match summand {
                    Summand::Matrix(matrix) => Summand::Matrix(Matrix {
                        address: at(matrix.address, INPUT),
                        step: inner.strides[INPUT],
                        ..matrix
                    }),
                    other => other,
                },
                out: Matrix { address: at(out, 3), lead: batch.sizes[2], step: inner.strides[3], by_columns: false },
            };
            // SAFETY: what views reach is valid, and the result is new; the scale factors have the dtype's compute type.
            if !unsafe { device.gemm(OP, &gemm, &alpha, &beta)? } {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
