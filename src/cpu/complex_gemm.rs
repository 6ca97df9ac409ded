//! Complex matrix products as float products: a complex matrix in memory is a float matrix with twice the columns, real and imaginary parts
//! interleaved. On the right, each row is followed by `i` times itself, to match the imaginary parts on the left.

use super::float_gemm;
use super::gemm::Product;
use super::simd::{self, Loop};
use crate::dtype::MachineFloat;
use crate::error::Result;
use crate::storage::Scratch;
use num_complex::Complex;
use num_traits::One;

/// `out = factor * a` or `out += factor * a`. Rows are contiguous; the rows of `a` have no gaps between them.
struct Scale<T> {
    a: *const Complex<T>,
    factor: Complex<T>,
    adds: bool,
    out: *mut Complex<T>,
    out_step: usize,
    sizes: [usize; 2],
}
impl<T: MachineFloat> Loop for Scale<T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Scale { a, factor, adds, out, out_step, sizes: [rows, columns] } = self;
        for row in 0..rows {
            for column in 0..columns {
                // SAFETY: rows and columns are those of the result, which is held exclusively, and `a` has the same sizes.
                // Where the result is added to, it has been initialised.
                unsafe {
                    let (a, out) = (a.add(row * columns + column).read(), out.add(row * out_step + column));
                    let earlier = if adds { out.read() } else { Complex::default() };
                    let re = a.re.mul_add(factor.re, (-a.im).mul_add(factor.im, earlier.re));
                    let im = a.re.mul_add(factor.im, a.im.mul_add(factor.re, earlier.im));
                    out.write(Complex::new(re, im));
                }
            }
        }
    }
}

/// A product of complex matrices.
pub(super) fn multiply<T: MachineFloat>(product: Product<Complex<T>>) -> Result<()> {
    if product.alpha.is_one() {
        return plain(product);
    }
    let Product { sizes: [m, _, n], out, out_step, alpha: factor, adds, .. } = product;
    let buffer = Scratch::<Complex<T>>::try_new([m, n])?;
    plain(Product { out: buffer.start(), out_step: n, alpha: Complex::one(), adds: false, ..product })?;
    simd::dispatch(Scale { a: buffer.start(), factor, adds, out, out_step, sizes: [m, n] });
    Ok(())
}

/// A product without a scale factor.
fn plain<T: MachineFloat>(product: Product<Complex<T>>) -> Result<()> {
    // (Strides of existing elements cannot overflow when doubled; those of missing elements are multiplied by zero.)
    let steps = |steps: [usize; 2]| steps.map(|step| step.wrapping_mul(2));
    float_gemm::multiply::<T, 2>(Product {
        sizes: product.sizes,
        out: product.out.cast(),
        out_step: 2 * product.out_step,
        left: product.left.cast(),
        left_steps: steps(product.left_steps),
        right: product.right.cast(),
        right_steps: steps(product.right_steps),
        alpha: T::one(),
        adds: product.adds,
        threads: product.threads,
    })
}
