//! Inner loops over `f16` that convert, compute in `f32` and convert back eight elements at a time in vector registers. For short formulas,
//! which do not run out of registers.

#![allow(clippy::needless_range_loop, reason = "iterators are many more functions, compiled for each operation")]

use super::simd::{self, Loop};
use crate::dtype::f16;
use crate::ops::kernel::{Map1, Map2};
use core::arch::x86_64::*;

/// Elements in a vector register.
const SIDE: usize = 8;

/// Reads eight `f16`s as `f32`.
///
/// # Safety
/// `from` points to at least eight readable elements.
#[inline]
#[target_feature(enable = "avx,f16c")]
unsafe fn read(from: *const f16) -> [f32; SIDE] {
    // SAFETY: the caller's promise; a vector of floats has the layout of an array.
    unsafe { core::mem::transmute(_mm256_cvtph_ps(_mm_loadu_si128(from.cast()))) }
}

/// Rounds eight numbers to `f16`.
///
/// # Safety
/// `to` points to room for eight elements.
#[inline]
#[target_feature(enable = "avx,f16c")]
unsafe fn write(to: *mut f16, floats: [f32; SIDE]) {
    // SAFETY: as above.
    unsafe {
        let halves = _mm256_cvtps_ph::<_MM_FROUND_TO_NEAREST_INT>(core::mem::transmute::<[f32; SIDE], __m256>(floats));
        _mm_storeu_si128(to.cast(), halves);
    }
}

/// `out = kernel(operands)` for `N` operands, all `f16`.
struct Halves<F, const N: usize> {
    kernel: F,
    out: *mut f16,
    operands: [*const f16; N],
    len: usize,
}
impl<F: Fn([f32; N]) -> f32, const N: usize> Halves<F, N> {
    /// Computes eight elements. (By plain loops: `map` of arrays is a dozen more functions for each kernel.)
    ///
    /// # Safety
    /// There are eight elements at every place, and the machine has F16C.
    #[inline(always)]
    unsafe fn some(kernel: &F, out: *mut f16, operands: [*const f16; N], at: usize) {
        let mut floats = [[0.0; SIDE]; N];
        for operand in 0..N {
            // SAFETY: the caller's promise.
            floats[operand] = unsafe { read(operands[operand].add(at)) };
        }
        let mut result = [0.0; SIDE];
        for lane in 0..SIDE {
            let mut arguments = [0.0; N];
            for operand in 0..N {
                arguments[operand] = floats[operand][lane];
            }
            result[lane] = kernel(arguments);
        }
        // SAFETY: the caller's promise.
        unsafe { write(out.add(at), result) }
    }
}
impl<F: Fn([f32; N]) -> f32, const N: usize> Loop for Halves<F, N> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Halves { kernel, out, operands, len } = self;
        let whole = len / SIDE * SIDE;
        // SAFETY: the maker of this loop promises that all places are valid; the remainder goes through buffers of eight.
        unsafe {
            let mut at = 0;
            while at < whole {
                Self::some(&kernel, out, operands, at);
                at += SIDE;
            }
            if at < len {
                let (mut buffers, mut starts) = ([[f16::ZERO; SIDE]; N], operands);
                for operand in 0..N {
                    let buffer = buffers[operand].as_mut_ptr();
                    core::ptr::copy_nonoverlapping(operands[operand].add(at), buffer, len - at);
                    starts[operand] = buffer.cast_const();
                }
                let mut result = [f16::ZERO; SIDE];
                Self::some(&kernel, result.as_mut_ptr(), starts, 0);
                core::ptr::copy_nonoverlapping(result.as_ptr(), out.add(at), len - at);
            }
        }
    }
}

/// Runs a kernel of one operand; false if the machine lacks the instructions.
///
/// # Safety
/// See [`Inner`](super::inner::Inner); all places hold `f16`s.
pub(super) unsafe fn one<K: Map1<f32, f32>>(kernel: *const (), [out, a]: [*mut u8; 2], len: usize) -> bool {
    // SAFETY: the caller's promise.
    let kernel = unsafe { *kernel.cast::<K>() };
    let kernel = move |[a]: [f32; 1]| kernel.call(a);
    simd::with_halves(Halves { kernel, out: out.cast(), operands: [a.cast()], len })
}

/// Runs a kernel of two operands; false if the machine lacks the instructions.
///
/// # Safety
/// As above.
pub(super) unsafe fn two<K: Map2<f32, f32, f32>>(kernel: *const (), [out, a, b]: [*mut u8; 3], len: usize) -> bool {
    // SAFETY: the caller's promise.
    let kernel = unsafe { *kernel.cast::<K>() };
    let kernel = move |[a, b]: [f32; 2]| kernel.call(a, b);
    simd::with_halves(Halves { kernel, out: out.cast(), operands: [a.cast(), b.cast()], len })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::kernel::{Applying, Combining};
    use crate::ops::{add, neg};

    /// Lengths that are no multiple of a register, and results in place.
    #[test]
    fn halves_in_registers_compute_as_one_by_one() {
        let number = |at: usize| f16::from_f32(at as f32 * 0.37 - 3.0);
        for len in 0..40 {
            let (a, b): (Vec<f16>, Vec<f16>) = (0..len).map(|at| (number(at), number(at * at))).unzip();
            let mut out = vec![f16::MAX; len + 1];
            let places = [out.as_mut_ptr(), a.as_ptr().cast_mut(), b.as_ptr().cast_mut()].map(|place| place.cast());
            let kernel = Combining::<add, f32>::new();
            // SAFETY: all places have `len` elements.
            if !unsafe { two::<Combining<add, f32>>((&raw const kernel).cast(), places, len) } {
                return;
            }
            assert!((0..len).all(|at| out[at] == f16::from_f32(a[at].to_f32() + b[at].to_f32())), "{len}");
            let kernel = Applying::<neg>::new();
            // SAFETY: as above; the result may be exactly the operand's memory.
            assert!(unsafe { one::<Applying<neg>>((&raw const kernel).cast(), [places[0]; 2], len) });
            assert!((0..len).all(|at| out[at] == f16::from_f32(-(a[at].to_f32() + b[at].to_f32()))), "{len}");
            assert_eq!(out[len], f16::MAX);
        }
    }
}
