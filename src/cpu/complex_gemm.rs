//! Products of complex matrices, as products of real ones. A complex matrix in memory is a real one with twice the columns, real
//! and imaginary parts in turn, and in that form `a @ b` is `re(a) @ b + im(a) @ (i * b)`. Used by `gemm`.

use super::gemm::Product;
use super::simd::{self, Loop};
use crate::dtype::MachineFloat;
use crate::error::Result;
use crate::storage::Scratch;
use num_complex::Complex;
use num_traits::One;

/// Terms and columns of the right operand that are prepared at once.
const DEPTH: usize = 512;
const WIDTH: usize = 1024;

/// A part of the right operand times `i`, without gaps; and itself, if its rows have gaps.
struct Prepare<T> {
    from: *const Complex<T>,
    steps: [usize; 2],
    sizes: [usize; 2],
    rotated: *mut Complex<T>,
    copy: Option<*mut Complex<T>>,
}
impl<T: MachineFloat> Loop for Prepare<T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Prepare { from, steps, sizes: [rows, columns], rotated, copy } = self;
        for row in 0..rows {
            for column in 0..columns {
                // SAFETY: the part is inside the operand's view, and there is room for it where it goes.
                unsafe {
                    let value = from.add(row * steps[0] + column * steps[1]).read();
                    let at = row * columns + column;
                    rotated.add(at).write(Complex::new(-value.im, value.re));
                    if let Some(copy) = copy {
                        copy.add(at).write(value);
                    }
                }
            }
        }
    }
}

/// `out = factor * a`, or that added to what is there. The elements of a row lie side by side; those of `a` without gaps.
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
                // SAFETY: rows and columns are those of the result, which is held exclusively, and `a` has as many. What is added
                // to has been written.
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
    let buffer = Scratch::<Complex<T>>::try_new(m * n)?;
    plain(Product { out: buffer.start(), out_step: n, alpha: Complex::one(), adds: false, ..product })?;
    simd::dispatch(Scale { a: buffer.start(), factor, adds, out, out_step, sizes: [m, n] });
    Ok(())
}

/// A product that is multiplied by nothing.
fn plain<T: MachineFloat>(product: Product<Complex<T>>) -> Result<()> {
    let Product { sizes: [m, k, n], out, out_step, left, left_steps, right, right_steps, adds, threads, .. } = product;
    let len = k.min(DEPTH) * n.min(WIDTH);
    let rotated = Scratch::<Complex<T>>::try_new(len)?;
    let copy = (right_steps[1] != 1).then(|| Scratch::<Complex<T>>::try_new(len)).transpose()?;
    for column in (0..n).step_by(WIDTH) {
        let columns = WIDTH.min(n - column);
        for low in (0..k).step_by(DEPTH) {
            let sizes = [DEPTH.min(k - low), columns];
            let from = right.wrapping_add(low * right_steps[0] + column * right_steps[1]);
            let (rotated, copy) = (rotated.start(), copy.as_ref().map(Scratch::start));
            simd::dispatch(Prepare { from, steps: right_steps, sizes, rotated, copy });
            let itself = copy.map_or((from, right_steps[0]), |copy| (copy.cast_const(), columns));
            for (part, (right, step)) in [itself, (rotated.cast_const(), columns)].into_iter().enumerate() {
                let product = Product {
                    sizes: [m, sizes[0], 2 * columns],
                    out: out.wrapping_add(column).cast::<T>(),
                    out_step: 2 * out_step,
                    left: left.wrapping_add(low * left_steps[1]).cast::<T>().wrapping_add(part),
                    left_steps: left_steps.map(|step| 2 * step),
                    right: right.cast::<T>(),
                    right_steps: [2 * step, 1],
                    alpha: T::one(),
                    adds: adds || low > 0 || part > 0,
                    threads,
                };
                product.with_gemm();
            }
        }
    }
    Ok(())
}
