//! The matrix exponential, by scaling, Padé's approximant and squaring.
//! Source: Higham, "The scaling and squaring method for the matrix exponential revisited" (2005).

use super::field::Field;
use super::{lu, matrix, matrix_mut};
use crate::error::{Result, filled, listed};
use faer::linalg::matmul::matmul;
use faer::{Accum, Par};
use num_traits::Float;

/// The coefficients of the approximant of degree 13, and the norm up to which it is accurate enough.
const COEFFICIENTS: [f64; 14] = [
    64764752532480000.0,
    32382376266240000.0,
    7771770303897600.0,
    1187353796428800.0,
    129060195264000.0,
    10559470521600.0,
    670442572800.0,
    33522128640.0,
    1323241920.0,
    40840800.0,
    960960.0,
    16380.0,
    182.0,
    1.0,
];
const LARGEST: f64 = 5.37;

fn product<E: Field>(a: &[E], b: &[E], n: usize) -> Result<Vec<E>> {
    let mut c = filled(E::zero_impl(), n * n)?;
    matmul(matrix_mut(&mut c, n, n), Accum::Replace, matrix(a, n, n), matrix(b, n, n), E::one_impl(), Par::Seq);
    Ok(c)
}

pub(crate) fn exponential<E: Field>(a: &[E], n: usize, result: &mut [E]) -> Result<()> {
    let sums = (0..n).map(|j| a[j * n..(j + 1) * n].iter().fold(E::real(0.0), |sum, x| sum + x.modulus()));
    let norm = sums.fold(E::real(0.0), |most, sum| if sum > most || Float::is_nan(sum) { sum } else { most });
    if !norm.is_finite() {
        result.fill(E::of_real(<E::Re as Float>::nan()));
        return Ok(());
    }
    let times = Float::max(E::real(0.0), Float::ceil(Float::log2(norm / E::real(LARGEST))));
    let factor = E::of_real(Float::powf(E::real(2.0), -times));
    let a = listed(a.iter().map(|&x| x * factor))?;
    let b = COEFFICIENTS.map(E::of_f64);
    let a2 = product(&a, &a, n)?;
    let a4 = product(&a2, &a2, n)?;
    let a6 = product(&a2, &a4, n)?;
    // `high` collects the terms with the factor `a6`.
    let sum = |at: usize| -> Result<Vec<E>> {
        let high = listed((0..n * n).map(|i| b[12 + at] * a6[i] + b[10 + at] * a4[i] + b[8 + at] * a2[i]))?;
        let mut sum = product(&a6, &high, n)?;
        for (i, x) in sum.iter_mut().enumerate() {
            let unit = if i % (n + 1) == 0 { b[at] } else { E::zero_impl() };
            *x += b[6 + at] * a6[i] + b[4 + at] * a4[i] + b[2 + at] * a2[i] + unit;
        }
        Ok(sum)
    };
    let (odd, v) = (sum(1)?, sum(0)?);
    let u = product(&a, &odd, n)?;
    let mut denominator = listed(v.iter().zip(&u).map(|(&v, &u)| v - u))?;
    for ((to, v), u) in result.iter_mut().zip(v).zip(u) {
        *to = v + u;
    }
    let mut pivots = filled(0, n)?;
    lu::lu(&mut denominator, n, n, &mut pivots);
    lu::solve_factored(&denominator, n, &pivots, matrix_mut(result, n, n), false)?;
    let mut left = times;
    while left > E::real(0.0) {
        let squared = product(result, result, n)?;
        result.copy_from_slice(&squared);
        left -= E::real(1.0);
    }
    Ok(())
}
