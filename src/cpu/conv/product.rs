//! Matrix products by the convolution kernels, as convolutions with windows of one position.
//!
//! With a weight packed once, the rows on the left are the pixels. For a few rows and the transpose of an unpacked weight, the rows of the
//! weight are the pixels, read in place, and the rows on the left are the output channels, which are packed. (With few rows, packing the
//! weight would take as long as the product.) For fewer rows still, nothing is packed: a tile is some dot products.

use super::plan::{Plan, Source};
use super::tile::dots::{Dots, LINE, TILE};
use super::tile::{self, Kernels};
use super::weights::{Packer, Weights, strips};
use super::{Weight, convolve};
use crate::cpu::epilogue::Then;
use crate::cpu::threads::{self, Shared};
use crate::dtype::Dtype;
use crate::error::Result;
use crate::ops::window::{Convolution, Window};
use crate::storage::{HostBuffer, Scratch, View};
use core::any::TypeId;

/// One product of an `m x k` matrix and a `k x n` matrix whose element type is its compute type: first elements, and row and column
/// strides.
/// Rows of the result are contiguous.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct FewRows<E> {
    pub(in crate::cpu) sizes: [usize; 3],
    pub(in crate::cpu) out: *mut E,
    pub(in crate::cpu) out_step: usize,
    pub(in crate::cpu) left: *const E,
    pub(in crate::cpu) left_steps: [usize; 2],
    pub(in crate::cpu) right: *const E,
    pub(in crate::cpu) right_steps: [usize; 2],
    /// Whether the product is added to the result's current values.
    pub(in crate::cpu) adds: bool,
    /// Maximum number of threads.
    pub(in crate::cpu) threads: usize,
}

/// Maximum number of rows on the left: for more, packing the right matrix is cheap.
const MOST: usize = 128;
/// Minimum columns and terms that pay for packing.
const FEWEST: usize = 32;
/// Minimum number of terms of dot products: shorter ones are packed fast.
const LONG: usize = 128;
/// Minimum number of dot products with one row.
const LINES: usize = 8;

/// Whether a product with a vector is one of dot products of terms that lie side by side, and enough of them; given the strides from term to
/// term.
pub(in crate::cpu) fn are_lines([m, k, n]: [usize; 3], strides: [usize; 2]) -> bool {
    (m == 1 || n == 1) && m.max(n) >= LINES && k >= LONG && strides == [1, 1]
}

impl<E: Dtype> FewRows<E> {
    /// A product of a matrix and a vector, whose results are contiguous, as that of the vector and the transposed matrix.
    pub(in crate::cpu) fn transposed(self) -> Self {
        let ([m, k, n], [rows, terms], [steps, columns]) = (self.sizes, self.left_steps, self.right_steps);
        let (left, right) = (self.right, self.left);
        FewRows {
            sizes: [n, k, m],
            left,
            left_steps: [columns, steps],
            right,
            right_steps: [terms, rows],
            out_step: m,
            ..self
        }
    }

    /// Whether this is faster than the blocked product, which packs the right matrix.
    pub(in crate::cpu) fn pays(&self) -> bool {
        let [m, k, n] = self.sizes;
        // The columns of the right matrix are contiguous: it is the transpose of a layer's weight.
        TypeId::of::<E>() == TypeId::of::<E::Compute>()
            && super::has::<E>()
            && self.right_steps[0] == 1
            && (self.dots_pay() || (4..=MOST.min(n)).contains(&m) && k >= FEWEST && n >= FEWEST)
    }

    /// Whether dot products of rows and columns are faster than either, since they pack nothing. (What is packed is padded to a strip.)
    fn dots_pay(&self) -> bool {
        let ([m, k, n], strip) = (self.sizes, tile::kernels::<E::Compute>()[0].strip);
        let are_few = m <= strip / 4 * 3 || n <= strip / 8 * 3 || m.max(n) < FEWEST;
        if m == 1 && n < LINES {
            return false;
        }
        are_few && k >= LONG && self.left_steps[1] == 1
    }

    pub(in crate::cpu) fn multiply(self) -> Result<()> {
        let kernels = tile::kernels::<E::Compute>()[0];
        if self.dots_pay() {
            self.multiply_dots(kernels);
            return Ok(());
        }
        self.multiply_by(kernels)
    }

    /// The product as dot products of rows and columns, in place.
    pub(in crate::cpu) fn multiply_dots(self, kernels: Kernels<E::Compute>) {
        let [m, k, n] = self.sizes;
        let (is_line, [rows, columns]) = if m == 1 { (true, LINE) } else { (false, TILE) };
        // The longer side is read once, a few rows or columns at a time, and divided among the threads.
        let by_rows = m > n;
        let (long, short) = if by_rows { ([m, rows], [n, columns]) } else { ([n, columns], [m, rows]) };
        let pieces = self.threads.clamp(1, long[0].div_ceil(long[1]));
        let task = Shared(self);
        threads::for_each(pieces, &|piece| {
            let task = &task;
            let FewRows { out, out_step, left, left_steps, right, right_steps, adds, .. } = task.0;
            let end = (piece + 1) * long[0] / pieces;
            for at in (piece * long[0] / pieces..end).step_by(long[1]) {
                for beside in (0..short[0]).step_by(short[1]) {
                    let sizes = [long[1].min(end - at), short[1].min(short[0] - beside)];
                    let ([row, column], [rows, columns]) =
                        if by_rows { ([at, beside], sizes) } else { ([beside, at], [sizes[1], sizes[0]]) };
                    let args = Dots {
                        rows: left.wrapping_add(row * left_steps[0]).cast(),
                        row_step: left_steps[0],
                        columns: right.wrapping_add(column * right_steps[1]).cast(),
                        column_step: right_steps[1],
                        len: k,
                        out: out.wrapping_add(row * out_step + column).cast(),
                        out_step,
                        sizes: [rows, columns],
                        adds,
                    };
                    // SAFETY: the tile is inside the product, and `E` is its compute type. No other piece has its rows, or its columns.
                    unsafe { kernels.dots(is_line, &args) }
                }
            }
        });
    }

    /// The product by these kernels.
    pub(super) fn multiply_by(self, kernels: Kernels<E::Compute>) -> Result<()> {
        let [m, k, n] = self.sizes;
        let (sizes, strides) = ([m, k, 1, 1, 1], [self.left_steps[0], self.left_steps[1], 0, 0, 0]);
        let packer = Packer::new(Weights { first: self.left, sizes: &sizes, strides: &strides }, 1, kernels.strip)?;
        let packed = packer.pack_all(self.threads)?;
        let start = Scratch::<E::Compute>::try_filled(E::Compute::default(), [kernels.strip])?;
        let mut plan = Plan {
            windows: [Window::POINT; 3],
            groups: 1,
            x: self.right,
            x_sizes: [1, k, 1, 1, n],
            x_strides: [0, 1, 0, 0, self.right_steps[1]],
            out: self.out,
            out_sizes: [1, m, 1, 1, n],
            out_strides: [0, self.out_step, 0, 0, 1],
            kernels,
            copy: None,
            is_planar: false,
            writes_result: false,
            adds: self.adds,
            depthwise: None,
            block: [1, 1],
            weights: Source::Packed(packed.start().cast_const()),
            depth: k,
            bias: start.start(),
            bias_step: 0,
            then: None,
            threads: self.threads,
            stem: None,
        };
        plan.choose_block();
        plan.run(strips(m, kernels.strip))
    }
}

/// The product of `(m, k)` and the transpose of a weight `(n, k)` packed by [`pack`](super::pack), with a bias `(n)`: a convolution whose
/// pixels are the rows. The result is row-major, and `then` is applied to its elements.
pub(crate) fn multiply_packed<E: Dtype>(
    x: View<'_, HostBuffer, E>,
    weight: View<'_, HostBuffer, E>,
    bias: Option<View<'_, HostBuffer, E>>,
    then: Option<Then<'_, E>>,
) -> Result<HostBuffer> {
    let (m, n, k) = (x.sizes[0], weight.sizes[0], weight.sizes[1]);
    // (Strides of axes of size 1 are not used.)
    let (x_sizes, x_strides) = ([1, k, 1, 1, m], [0, x.strides[1], 0, 0, x.strides[0]]);
    let (sizes, strides) = ([1, n, 1, 1, m], [m * n, 1, m * n, m * n, n]);
    let weight = Weight::Packed { buffer: weight.buffer, sizes: &[n, k, 1, 1, 1] };
    let convolution = Convolution { windows: [Window::POINT; 3], groups: 1 };
    convolve(&convolution, x.restrided(&x_sizes, &x_strides), weight, bias, [&sizes, &strides], then)
}

#[cfg(test)]
mod tests {
    use super::{FewRows, tile};

    /// Every kernel, sizes that are multiples of nothing, and results that are added to.
    #[test]
    fn products_are_those_of_the_definition() {
        for &kernels in tile::kernels::<f32>() {
            for ([m, k, n], adds) in [
                ([1, 1, 1], false),
                ([5, 40, 33], true),
                ([37, 300, 250], false),
                ([70, 9, 500], true),
                ([300, 70, 41], true),
                ([300, 30, 50], false),
            ] {
                let number = |at: usize| ((at * 7919) % 7) as f32 - 3.0;
                let (left, right): (Vec<f32>, Vec<f32>) =
                    ((0..m * (k + 1)).map(number).collect(), (0..n * (k + 2)).map(|at| number(at + 3)).collect());
                let mut out = vec![2.0; m * n];
                let mut dots = out.clone();
                let product = FewRows {
                    sizes: [m, k, n],
                    out: out.as_mut_ptr(),
                    out_step: n,
                    left: left.as_ptr(),
                    left_steps: [k + 1, 1],
                    right: right.as_ptr(),
                    right_steps: [1, k + 2],
                    adds,
                    threads: 2,
                };
                product.multiply_by(kernels).unwrap();
                FewRows { out: dots.as_mut_ptr(), ..product }.multiply_dots(kernels);
                assert_eq!(out, dots, "{m} {k} {n}");
                for (at, &found) in out.iter().enumerate() {
                    let (i, j) = (at / n, at % n);
                    let terms = (0..k).map(|p| left[i * (k + 1) + p] * right[j * (k + 2) + p]);
                    assert_eq!(found, terms.sum::<f32>() + if adds { 2.0 } else { 0.0 }, "{m} {k} {n} at {at}");
                }
            }
        }
    }
}
