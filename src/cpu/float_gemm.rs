//! Products of floats by the `gemm` crates, divided among threads.
//!
//! Used by `gemm` and, through it, by the products of complex and half-precision numbers.

use super::gemm::Product;
use super::threads::{self, Shared};
use crate::dtype::MachineFloat;
use core::any::TypeId;
use gemm_common::Parallelism;

/// The signature of the `gemm` crates: m, n, k; the result with column and row stride, and whether it is read; each
/// operand with its strides; the factors of the result and of the product; what is conjugated.
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

/// The crates' product for this float.
fn gemm_of<T: MachineFloat>() -> Gemm<T> {
    // SAFETY: each branch transmutes a function to its own type.
    unsafe {
        if TypeId::of::<T>() == TypeId::of::<f32>() {
            return core::mem::transmute_copy::<Gemm<f32>, Gemm<T>>(&gemm_f32::gemm::f32::get_gemm_fn());
        }
        assert_eq!(TypeId::of::<T>(), TypeId::of::<f64>(), "machine floats are `f32` and `f64`");
        core::mem::transmute_copy::<Gemm<f64>, Gemm<T>>(&gemm_f64::gemm::f64::get_gemm_fn())
    }
}

/// Results are divided at multiples of the crates' register tiles.
const TILE: usize = 48;
/// The crates sum smaller parts in another order, which would make results depend on the number of threads.
const SHORTEST: usize = 96;
const FEWEST: usize = 512;

impl<T: MachineFloat> Product<T> {
    /// The product by the crates, divided among threads along the longer side of the result. (The crates' own
    /// parallelism goes through rayon and waits for its threads to start.)
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
            // Each part lies inside the operands and owns its rows or columns of the result.
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
        // SAFETY: the rows of the result are `n` elements each, held exclusively; the operands' places are inside
        // their views. The result is read only if it was written (`adds`). The crates want column-major results, so
        // the product is computed transposed.
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
