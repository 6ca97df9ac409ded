//! Symmetric (or Hermitian) indefinite factorisation, `A = L D L^T`, where `D` has diagonal blocks of size one and two.
//! Source: LAPACK's `sytf2` and `hetf2` of the lower triangle (Bunch and Kaufman); the pivots are the same.

use super::field::Field;
use num_traits::Float;

/// Factors the lower triangle in place; returns the index of the first zero block, counted from 1, or 0.
pub(crate) fn ldl<E: Field>(a: &mut [E], n: usize, hermitian: bool, pivots: &mut [i32]) -> i32 {
    let flip = |x: E| if hermitian { x.conjugate() } else { x };
    let alpha = E::real((1.0 + 17f64.sqrt()) / 8.0);
    let zero = E::real(0.0);
    let (mut info, mut k) = (0, 0);
    let diagonal = |x: E| if hermitian { Float::abs(x.real_part()) } else { x.size() };
    while k < n {
        let mut step = 1;
        let here = diagonal(a[k * n + k]);
        let (mut row, mut most) = (k, zero);
        for i in k + 1..n {
            if a[k * n + i].size() > most {
                (row, most) = (i, a[k * n + i].size());
            }
        }
        let mut pivot = k;
        // (Also true for NaN.)
        let has_pivot = Float::max(here, most) > zero;
        if !has_pivot {
            if info == 0 {
                info = k as i32 + 1;
            }
            if hermitian {
                a[k * n + k] = E::of_real(a[k * n + k].real_part());
            }
        } else {
            if here < alpha * most {
                // The largest element in that element's row.
                let across = (k..row).map(|j| a[j * n + row].size());
                let down = (row + 1..n).map(|i| a[row * n + i].size());
                let largest = across.chain(down).fold(zero, Float::max);
                if here < alpha * most * (most / largest) {
                    pivot = row;
                    step = if diagonal(a[row * n + row]) >= alpha * largest { 1 } else { 2 };
                }
            }
            let end = k + step - 1;
            if pivot != end {
                // Exchanges rows and columns `end` and `pivot` of the remaining matrix.
                for i in pivot + 1..n {
                    a.swap(end * n + i, pivot * n + i);
                }
                for j in end + 1..pivot {
                    let (x, y) = (a[end * n + j], a[j * n + pivot]);
                    (a[end * n + j], a[j * n + pivot]) = (flip(y), flip(x));
                }
                a[end * n + pivot] = flip(a[end * n + pivot]);
                a.swap(end * n + end, pivot * n + pivot);
                if step == 2 {
                    a.swap(k * n + end, k * n + pivot);
                }
            }
            if hermitian {
                for j in [k, end] {
                    a[j * n + j] = E::of_real(a[j * n + j].real_part());
                }
            }
            if step == 1 {
                let d = a[k * n + k];
                for j in k + 1..n {
                    let factor = flip(a[k * n + j]).over(d);
                    for i in j..n {
                        let x = a[k * n + i];
                        a[j * n + i] -= x * factor;
                    }
                }
                for i in k + 1..n {
                    a[k * n + i] = a[k * n + i].over(d);
                }
            } else {
                // Divided by the off-diagonal element, so that products neither overflow nor underflow.
                let scale = a[k * n + k + 1].size();
                let block = [a[k * n + k], a[k * n + k + 1], a[(k + 1) * n + k + 1]];
                let [d11, d21, d22] = block.map(|x| x.over_real(scale));
                let determinant = d11 * d22 - d21 * flip(d21);
                for j in k + 2..n {
                    let (x, y) = (a[k * n + j], a[(k + 1) * n + j]);
                    // The row of `L` at this position: `[x y]` times the inverse of the block.
                    let [x, y] = [x, y].map(|x| x.over_real(scale));
                    let w1 = (x * d22 - y * d21).over(determinant);
                    let w2 = (y * d11 - x * flip(d21)).over(determinant);
                    for i in j..n {
                        let (p, q) = (a[k * n + i], a[(k + 1) * n + i]);
                        a[j * n + i] -= p * flip(w1) + q * flip(w2);
                    }
                    (a[k * n + j], a[(k + 1) * n + j]) = (w1, w2);
                }
            }
            if hermitian {
                for j in k + step..n {
                    a[j * n + j] = E::of_real(a[j * n + j].real_part());
                }
            }
        }
        if step == 1 {
            pivots[k] = pivot as i32 + 1;
        } else {
            (pivots[k], pivots[k + 1]) = (-(pivot as i32 + 1), -(pivot as i32 + 1));
        }
        k += step;
    }
    info
}

/// Solves `A x = b` in place, given the factors of `A`; pivots are user input, checked by the caller.
pub(crate) fn ldl_solve<E: Field>(ld: &[E], n: usize, hermitian: bool, pivots: &[i32], b: &mut [E]) {
    if n == 0 {
        return;
    }
    let flip = |x: E| if hermitian { x.conjugate() } else { x };
    for b in b.chunks_exact_mut(n) {
        let mut k = 0;
        while k < n {
            if pivots[k] > 0 || k + 1 == n {
                b.swap(k, pivots[k].unsigned_abs() as usize - 1);
                for i in k + 1..n {
                    let x = b[k];
                    b[i] -= ld[k * n + i] * x;
                }
                b[k] = b[k].over(ld[k * n + k]);
                k += 1;
            } else {
                b.swap(k + 1, pivots[k].unsigned_abs() as usize - 1);
                let (x, y) = (b[k], b[k + 1]);
                for i in k + 2..n {
                    b[i] -= ld[k * n + i] * x + ld[(k + 1) * n + i] * y;
                }
                let scale = ld[k * n + k + 1].size();
                let block = [ld[k * n + k], ld[k * n + k + 1], ld[(k + 1) * n + k + 1]];
                let [d11, d21, d22] = block.map(|x| x.over_real(scale));
                let [x, y] = [x, y].map(|x| x.over_real(scale));
                let determinant = d11 * d22 - d21 * flip(d21);
                b[k] = (x * d22 - y * flip(d21)).over(determinant);
                b[k + 1] = (y * d11 - x * d21).over(determinant);
                k += 2;
            }
        }
        // Backwards, with the transpose (or adjoint) of `L`.
        let mut k = n;
        while k > 0 {
            let at = k - 1;
            let step = if pivots[at] > 0 || at == 0 { 1 } else { 2 };
            let first = k - step;
            for j in first..k {
                let sum = (k..n).fold(E::zero_impl(), |sum, i| sum + flip(ld[j * n + i]) * b[i]);
                b[j] -= sum;
            }
            b.swap(at, pivots[at].unsigned_abs() as usize - 1);
            k -= step;
        }
    }
}
