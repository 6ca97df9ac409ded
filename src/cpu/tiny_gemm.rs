//! Products of matrices so small that packing would take longer than the product.

use super::elementwise::source;
use super::gemm::{self, Product, is_half, one};
use super::integer_gemm;
use super::simd::{self, Loop};
use crate::dtype::{Compute, Dtype, MachineFloat, MachineInt, Visitor, refused};
use crate::error::Result;
use crate::storage::{HostBuffer, View};
use num_complex::Complex;
use num_traits::Num;

/// Maximum size of products computed without packing.
pub(super) const TINY: usize = 8;

/// A product of square matrices of size `N`, fully unrolled.
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

/// Computes a product of sizes up to [`TINY`]. For the smallest, instruction set dispatch would take longer than the product.
#[inline(always)]
pub(super) fn multiply<T: Num + Copy>(product: Product<T>) {
    // SAFETY: the operands' places are inside their views, the result is held exclusively, and the sizes match `N`.
    unsafe {
        match product.sizes {
            [2, 2, 2] => square::<_, 2>(&product),
            [3, 3, 3] => square::<_, 3>(&product),
            [4, 4, 4] => square::<_, 4>(&product),
            _ => simd::dispatch(Tiny(product)),
        }
    }
}

impl<T: Num + Copy> Product<T> {
    /// Whether packing would take longer than the product.
    pub(super) fn is_tiny(&self) -> bool {
        self.sizes.iter().all(|&size| size <= TINY)
    }

    /// Writes a row of the result.
    ///
    /// # Safety
    /// The result has row `i` and is held exclusively; `sums` has at least as many elements as the result has columns.
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

/// Multiplies small matrices, without scaling or adding.
struct MultiplySmall;

impl Visitor for MultiplySmall {
    type Arg<T> = Product<T>;

    fn boolean(_: Product<bool>) -> Result<()> {
        refused()
    }

    #[inline(always)]
    fn integer<T: MachineInt>(product: Product<T>) -> Result<()> {
        integer_gemm::multiply(product)
    }

    #[inline(always)]
    fn real<T: MachineFloat>(product: Product<T>) -> Result<()> {
        multiply(product);
        Ok(())
    }

    #[inline(always)]
    fn complex<T: MachineFloat>(product: Product<Complex<T>>) -> Result<()> {
        multiply(product);
        Ok(())
    }
}

/// The product of matrices whose sizes the caller knows at compile time.
///
/// # Panics
/// If they have different sizes.
#[inline(always)]
pub(crate) fn matmul_few<E: Dtype>(
    a: View<'_, HostBuffer, E>,
    b: View<'_, HostBuffer, E>,
    sizes: [usize; 3],
) -> Result<HostBuffer> {
    let [m, k, n] = sizes;
    assert!(a.sizes == [m, k] && b.sizes == [k, n] && sizes.iter().all(|size| (1..=TINY).contains(size)));
    if const { is_half::<E>() } { gemm::matmul(a, b, None, None) } else { tiny(a, b, sizes) }
}

/// The product of two small matrices with at least one row and column, without the setup of larger products.
#[inline(always)]
fn tiny<E: Dtype>(a: View<'_, HostBuffer, E>, b: View<'_, HostBuffer, E>, sizes: [usize; 3]) -> Result<HostBuffer> {
    let [m, _, n] = sizes;
    let (left, right) = (source(&a), source(&b));
    // SAFETY: all `m * n` elements are written; the operands' places are inside their views.
    unsafe {
        HostBuffer::filled_by(m * n, |out: *mut E| {
            E::Compute::visit::<MultiplySmall>(Product {
                sizes,
                // The accumulation type of dtypes other than half precision is the element type.
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

/// [`tiny`] for sizes known at run time only.
pub(super) fn small<E: Dtype>(
    a: View<'_, HostBuffer, E>,
    b: View<'_, HostBuffer, E>,
    sizes: [usize; 3],
) -> Result<HostBuffer> {
    tiny(a, b, sizes)
}
