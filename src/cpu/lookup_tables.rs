//! Functions of `f32` by lookup tables in registers: one AVX-512 permutation fetches sixteen coefficients, so that a
//! short polynomial suffices. Other functions and machines use the formulas of `ops`.

use crate::ops::kernel::Entry;

/// A loop over `len` elements; may run in place.
pub(super) type LookupLoop = unsafe fn(from: *const f32, to: *mut f32, len: usize);

/// The lookup loop of a row of the table, if it has one.
#[cfg(target_arch = "x86_64")]
pub(super) const fn of(entry: Option<Entry>) -> Option<LookupLoop> {
    use crate::dtype::DType;
    use crate::ops::{self, UnaryOp, kernel::Arity};

    const fn is<Op: UnaryOp<f32>>(row: usize) -> bool {
        const { assert!(Op::BY_LOOKUP) };
        matches!(Op::ROW, Some(of) if of == row)
    }
    match entry {
        Some(Entry { row, dtype: DType::F32, operands: Arity::One }) => {
            if is::<ops::gelu>(row) {
                Some(x86::gelu)
            } else if is::<ops::log>(row) {
                Some(x86::log)
            } else {
                None
            }
        }
        _ => None,
    }
}

/// No such loops on other architectures.
#[cfg(not(target_arch = "x86_64"))]
pub(super) const fn of(_: Option<Entry>) -> Option<LookupLoop> {
    None
}

/// Whether the machine has the instructions.
#[inline]
pub(super) fn is_there() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("avx512f") && std::arch::is_x86_feature_detected!("avx512dq");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use core::arch::x86_64::*;

    /// `name [TABLE …] |x, all| result` writes a loop that computes `result` for vectors of `x`; the tables are held in registers, and
    /// `all(c)` broadcasts `c`.
    macro_rules! looked_up {
        ($($(#[$doc:meta])* $name:ident [$($table:ident $values:expr),*] |$x:ident, $all:ident| $result:block)*) => {$(
            $(#[$doc])*
            ///
            /// # Safety
            /// There are `len` elements at both pointers, which may be equal; the machine has AVX512F and AVX512DQ.
            #[target_feature(enable = "avx512f,avx512dq")]
            pub(super) unsafe fn $name(from: *const f32, to: *mut f32, len: usize) {
                let $all = |value: f32| _mm512_set1_ps(value);
                $(
                    const { assert!(size_of_val(&$values) == size_of::<__m512>()) };
                    // SAFETY: a table is as long as a vector.
                    let $table = unsafe { _mm512_loadu_ps($values.as_ptr()) };
                )*
                let of = |$x: __m512| $result;
                let mut at = 0;
                // SAFETY: the caller's promise; the remainder is read and written under a mask.
                unsafe {
                    while at + 16 <= len {
                        _mm512_storeu_ps(to.add(at), of(_mm512_loadu_ps(from.add(at))));
                        at += 16;
                    }
                    if at < len {
                        let mask = (1 << (len - at)) - 1;
                        _mm512_mask_storeu_ps(to.add(at), mask, of(_mm512_maskz_loadu_ps(mask, from.add(at))));
                    }
                }
            }
        )*};
    }

    /// Coefficients of erf((i + t) / 4) for t from 0 to 1, for each i, in ascending powers. Largest error 2^-25,
    /// constants rounded.
    #[rustfmt::skip]
    const ERF: [[f32; 16]; 6] = [
        [0.0, 0.2763264, 0.5204999, 0.71115565, 0.8427008, 0.92290014, 0.96610516, 0.9866717, 0.9953223, 0.9985373,
            0.999593, 0.9998994, 0.9999779, 0.9999957, 0.9999993, 0.9999999],
        [0.28209466, 0.2650033, 0.21969515, 0.16073175, 0.1037776, 0.05912981, 0.029731829, 0.013193033, 0.005165648,
            0.0017846454, 0.0005459691, 0.00014610465, 3.5939684e-05, 6.7404258e-06, -2.7166967e-08, 4.913947e-07],
        [1.7889092e-06, -0.016558902, -0.027456496, -0.030128686, -0.025950594, -0.018475467, -0.011144453,
            -0.005766761, -0.0025745456, -0.0009967984, -0.00035141467, -9.7005126e-05, -3.5079174e-05,
            -1.477537e-06, 9.811695e-06, -2.3694413e-06],
        [-0.0058845645, -0.004849006, -0.0023106572, 0.00039172912, 0.0021820185, 0.002613863, 0.0021559685,
            0.001394214, 0.00072857086, 0.00031769002, 0.00016099359, 3.2394924e-05, 3.7329813e-05, -9.42152e-06,
            -3.0096156e-05, 6.1724945e-06],
        [1.3372243e-05, 0.0005328934, 0.0007561293, 0.0006252546, 0.00024329012, -2.748897e-05, -0.00016630553,
            -0.0001734493, -0.000105729305, -4.859948e-05, -6.7667395e-05, 9.8421715e-09, -3.2437503e-05,
            1.3203219e-05, 3.488507e-05, -6.957655e-06],
        [0.000101137506, 4.521778e-05, -2.8385637e-05, -7.49249e-05, -5.2954972e-05, -3.57242e-05, -1.0547157e-05,
            3.5277649e-06, 1.0304808e-06, -1.2098336e-06, 1.8505965e-05, -2.9912674e-06, 1.20801615e-05,
            -5.507204e-06, -1.399928e-05, 2.7723875e-06]];

    /// Reciprocals of numbers from 3/4 to 3/2, indexed by the top four fraction bits: exactly 1 near 1, else values near the middle of the
    /// segment whose logarithms are almost exact floats.
    #[rustfmt::skip]
    const RECIPROCALS: [f32; 16] = [1.0, 0.9140032, 0.8663314, 0.820757, 0.7811353, 0.7444245, 0.71246815, 0.6804121,
        1.3067353, 1.2542677, 1.2088013, 1.1635354, 1.1227, 1.0870434, 1.0481777, 1.0];
    /// Their negated logarithms.
    #[rustfmt::skip]
    const LOGARITHMS: [f32; 16] = [0.0, 0.08992121, 0.14348777, 0.19752823, 0.24700688, 0.2951438, 0.33902007,
        0.3850566, -0.26753187, -0.22655189, -0.18962918, -0.15146309, -0.11573648, -0.08346154, -0.04705315, 0.0];

    looked_up! {
        /// `x / 2 * (1 + erf(x / sqrt(2)))`.
        gelu [e0 ERF[0], e1 ERF[1], e2 ERF[2], e3 ERF[3], e4 ERF[4], e5 ERF[5]] |x, all| {
            // Segments are quarters; from 4 on erf is 1. NaN propagates through the last product.
            let y = _mm512_min_ps(all(15.999999), _mm512_abs_ps(_mm512_mul_ps(x, all(4.0 * core::f32::consts::FRAC_1_SQRT_2))));
            let i = _mm512_cvttps_epi32(y);
            let t = _mm512_sub_ps(y, _mm512_roundscale_ps::<{ _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC }>(y));
            let pick = |table| _mm512_permutexvar_ps(i, table);
            let erf = _mm512_fmadd_ps(pick(e5), t, pick(e4));
            let erf = _mm512_fmadd_ps(erf, t, pick(e3));
            let erf = _mm512_fmadd_ps(erf, t, pick(e2));
            let erf = _mm512_fmadd_ps(erf, t, pick(e1));
            let erf = _mm512_fmadd_ps(erf, t, pick(e0));
            let erf = _mm512_or_ps(erf, _mm512_and_ps(x, all(-0.0)));
            _mm512_mul_ps(_mm512_mul_ps(x, all(0.5)), _mm512_add_ps(all(1.0), erf))
        }

        /// `ln(x)`.
        log [reciprocals RECIPROCALS, logarithms LOGARITHMS] |x, all| {
            // x = 2^n m, with m from 3/4 to 3/2; NaN for negative numbers.
            let m = _mm512_getmant_ps::<_MM_MANT_NORM_P75_1P5, _MM_MANT_SIGN_NAN>(x);
            let n = _mm512_getexp_ps(x);
            let n = _mm512_mask_add_ps(n, _mm512_cmp_ps_mask::<_CMP_LT_OQ>(m, all(1.0)), n, all(1.0));
            let i = _mm512_srli_epi32::<19>(_mm512_castps_si512(m));
            let r = _mm512_fmsub_ps(m, _mm512_permutexvar_ps(i, reciprocals), all(1.0));
            let p = _mm512_fmadd_ps(r, all(0.18868275), all(-0.25007498));
            let p = _mm512_fmadd_ps(_mm512_fmadd_ps(p, r, all(0.33334434)), r, all(-0.5));
            let p = _mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r);
            _mm512_add_ps(_mm512_fmadd_ps(n, all(core::f32::consts::LN_2), _mm512_permutexvar_ps(i, logarithms)), p)
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{is_there, x86};

    /// The error in units in the last place.
    fn distance(result: f32, exact: f64) -> f64 {
        let nearest = exact as f32;
        if result.is_nan() || nearest.is_nan() {
            return if result.is_nan() && nearest.is_nan() { 0.0 } else { f64::INFINITY };
        }
        if nearest.is_infinite() || result.is_infinite() {
            // From half an ulp beyond the largest number on, results round to infinity.
            return if result == nearest || exact.abs() > f64::from(f32::MAX) { 0.0 } else { f64::INFINITY };
        }
        let exponent = (exact.abs().to_bits() >> 52) as i32 - 1023;
        (f64::from(result) - exact).abs() / 2.0_f64.powi(exponent.max(-126) - 23)
    }

    /// The largest error over floats of all magnitudes, with zeros, infinities, NaNs and subnormal numbers.
    fn worst(
        looked: unsafe fn(*const f32, *mut f32, usize),
        exact: impl Fn(f64) -> f64,
        counts: impl Fn(f32) -> bool,
    ) -> f64 {
        const STEP: usize = if cfg!(debug_assertions) { 4093 } else { 127 };
        let odd = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, f32::MAX, f32::MIN, 1.0];
        let x: Vec<f32> = odd.into_iter().chain((0..=u32::MAX).step_by(STEP).map(f32::from_bits)).collect();
        let mut y = vec![0.0; x.len()];
        // SAFETY: both slices have `len` elements; the machine has the instructions.
        unsafe { looked(x.as_ptr(), y.as_mut_ptr(), x.len()) }
        let errors =
            x.iter().zip(&y).filter(|(x, _)| counts(**x)).map(|(x, y)| (distance(*y, exact(f64::from(*x))), x));
        let (error, at) = errors.fold((0.0, &0.0), |worst, next| if next.0 > worst.0 { next } else { worst });
        println!("{error} at {at:e}");
        error
    }

    #[test]
    fn functions_by_lookup_are_within_two_units_in_the_last_place() {
        if !is_there() {
            return;
        }
        assert!(worst(x86::log, f64::ln, |_| true) < 1.5);
        // For negative inputs leading digits cancel, as in PyTorch.
        let erf = |x: f64| crate::dtype::MachineFloat::erf(x);
        let half = |x: f64| 1.0 + erf(x * core::f64::consts::FRAC_1_SQRT_2);
        assert!(worst(x86::gelu, |x| x / 2.0 * half(x), |x| x.is_nan() || x >= 0.0) < 2.0);
    }

    /// Whole vectors and remainders, in place and out of place.
    #[test]
    fn every_length_is_computed_alike() {
        if !is_there() {
            return;
        }
        let x: Vec<f32> = (0..100).map(|i| i as f32 / 7.0).collect();
        for looked in [x86::log, x86::gelu] {
            let mut all = x.clone();
            // SAFETY: as above; the pointers may be equal.
            unsafe { looked(all.as_ptr(), all.as_mut_ptr(), all.len()) }
            for len in 0..50 {
                let mut out = vec![-1.0; len + 1];
                // SAFETY: as above.
                unsafe { looked(x[50 - len..].as_ptr(), out.as_mut_ptr(), len) }
                assert_eq!(out[..len], all[50 - len..50]);
                assert_eq!(out[len], -1.0);
            }
        }
    }
}
