//! QR by Householder reflections `H = 1 - tau v v^H`, with `v` 1 on the diagonal, applied in panels of columns.
//! Source: LAPACK's `larfg`, `geqr2`, `larft`, `ormqr`; signs and factors are the same.

use super::field::Field;
use super::{matrix, matrix_mut};
use crate::error::{Result, filled};
use faer::linalg::matmul::matmul;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, MatRef, Par};
use num_traits::{Float, One};

/// Columns per panel.
const PANEL: usize = 32;

/// Makes the reflection that zeroes a column except for its first element: returns `tau`, and writes `v` over the rest.
fn reflection<E: Field>(column: &mut [E]) -> E {
    let Some((first, rest)) = column.split_first() else { return E::zero_impl() };
    let zero = <E::Re as num_traits::Zero>::zero();
    let largest = rest.iter().fold(zero, |most, x| Float::max(most, x.size()));
    let alpha = *first;
    if largest == zero && alpha.imaginary_part() == zero && rest.iter().all(|x| x.finite()) {
        return E::zero_impl();
    }
    let scale = Float::max(largest, alpha.size());
    let (least, digit) = (<E::Re as Float>::min_positive_value(), <E::Re as Float>::epsilon());
    if scale < least / digit && scale > zero {
        // A column of denormal numbers has too few digits for a reflection.
        let more = E::Re::one() / (digit * digit);
        column.iter_mut().for_each(|x| *x = x.times_real(more));
        let tau = reflection(column);
        column[0] = column[0].over_real(more);
        return tau;
    }
    let Some((first, rest)) = column.split_first_mut() else { return E::zero_impl() };
    // Scaled, so that squares neither overflow nor underflow.
    let squared = |x: E| {
        let (re, im) = (x.real_part() / scale, x.imaginary_part() / scale);
        re * re + im * im
    };
    let norm = Float::sqrt(rest.iter().fold(squared(alpha), |sum, &x| sum + squared(x))) * scale;
    let beta = if Float::is_sign_negative(alpha.real_part()) { norm } else { -norm };
    let divisor = alpha - E::of_real(beta);
    rest.iter_mut().for_each(|x| *x = x.over(divisor));
    *first = E::of_real(beta);
    (-divisor).over_real(beta)
}

/// Factors in place; `tau` has one number per reflection (the smaller of columns and rows).
pub(crate) fn qr<E: Field>(a: &mut [E], m: usize, n: usize, tau: &mut [E]) -> Result<()> {
    let k = m.min(n);
    for start in (0..k).step_by(PANEL) {
        let end = k.min(start + PANEL);
        for j in start..end {
            tau[j] = reflection(&mut a[j * m + j..(j + 1) * m]);
            let (left, right) = a.split_at_mut((j + 1) * m);
            let v = &left[j * m + j + 1..];
            let last = if end < k { end } else { n.min(end.max(j + 1)) };
            for column in right[..(last - j - 1) * m].chunks_exact_mut(m) {
                let (first, rest) = (column[j], &column[j + 1..]);
                let dot = v.iter().zip(rest).fold(first, |sum, (v, &x)| sum + v.conjugate() * x);
                let factor = tau[j].conjugate() * dot;
                column[j] -= factor;
                for (x, &v) in column[j + 1..].iter_mut().zip(v) {
                    *x -= factor * v;
                }
            }
        }
        if end < n {
            let (left, right) = a.split_at_mut(end * m);
            let block = Block::of(&left[start * m..], m, start, &tau[start..end])?;
            let right = matrix_mut(right, m, n - end);
            block.times_left(right.subrows_mut(start, m - start), true)?;
        }
    }
    Ok(())
}

/// Several reflections as one: `1 - V T V^H`.
struct Block<E: Field> {
    v: Vec<E>,
    /// Rows of `V`.
    rows: usize,
    t: Vec<E>,
    /// Number of reflections.
    k: usize,
}

impl<E: Field> Block<E> {
    /// From columns of a factored matrix; the first reflection begins in row `start`.
    fn of(columns: &[E], m: usize, start: usize, tau: &[E]) -> Result<Self> {
        let (k, rows) = (tau.len(), m - start);
        let mut v = filled(E::zero_impl(), rows * k)?;
        for j in 0..k {
            v[j * rows + j] = E::one_impl();
            v[j * rows + j + 1..(j + 1) * rows].copy_from_slice(&columns[j * m + start + j + 1..(j + 1) * m]);
        }
        let mut products = filled(E::zero_impl(), k * k)?;
        let of_v = matrix(&v, rows, k);
        matmul(matrix_mut(&mut products, k, k), Accum::Replace, of_v.adjoint(), of_v, E::one_impl(), Par::Seq);
        let mut t = filled(E::zero_impl(), k * k)?;
        for i in 0..k {
            t[i * k + i] = tau[i];
            for row in 0..i {
                let sum = (row..i).fold(E::zero_impl(), |sum, at| sum + t[at * k + row] * products[i * k + at]);
                t[i * k + row] = -tau[i] * sum;
            }
        }
        Ok(Block { v, rows, t, k })
    }

    /// `V` and `T`.
    fn parts(&self) -> [MatRef<'_, E>; 2] {
        [matrix(&self.v, self.rows, self.k), matrix(&self.t, self.k, self.k)]
    }

    /// `C = (1 - V T V^H) C`, or with the adjoint.
    fn times_left(&self, c: MatMut<'_, E>, adjoint: bool) -> Result<()> {
        let mut c = c;
        let ([v, t], k, columns) = (self.parts(), self.k, c.ncols());
        let (mut w, mut tw) = (filled(E::zero_impl(), k * columns)?, filled(E::zero_impl(), k * columns)?);
        let (mut w, mut tw) = (matrix_mut(&mut w, k, columns), matrix_mut(&mut tw, k, columns));
        matmul(w.rb_mut(), Accum::Replace, v.adjoint(), c.rb(), E::one_impl(), Par::Seq);
        if adjoint {
            matmul(tw.rb_mut(), Accum::Replace, t.adjoint(), w.rb(), E::one_impl(), Par::Seq);
        } else {
            matmul(tw.rb_mut(), Accum::Replace, t, w.rb(), E::one_impl(), Par::Seq);
        }
        matmul(c.rb_mut(), Accum::Add, v, tw.rb(), -E::one_impl(), Par::Seq);
        Ok(())
    }

    /// `C = C (1 - V T V^H)`, or with the adjoint.
    fn times_right(&self, c: MatMut<'_, E>, adjoint: bool) -> Result<()> {
        let mut c = c;
        let ([v, t], k, rows) = (self.parts(), self.k, c.nrows());
        let (mut w, mut wt) = (filled(E::zero_impl(), rows * k)?, filled(E::zero_impl(), rows * k)?);
        let (mut w, mut wt) = (matrix_mut(&mut w, rows, k), matrix_mut(&mut wt, rows, k));
        matmul(w.rb_mut(), Accum::Replace, c.rb(), v, E::one_impl(), Par::Seq);
        if adjoint {
            matmul(wt.rb_mut(), Accum::Replace, w.rb(), t.adjoint(), E::one_impl(), Par::Seq);
        } else {
            matmul(wt.rb_mut(), Accum::Replace, w.rb(), t, E::one_impl(), Par::Seq);
        }
        matmul(c.rb_mut(), Accum::Add, wt.rb(), v.adjoint(), -E::one_impl(), Par::Seq);
        Ok(())
    }
}

/// How the `Q` of a factored matrix is applied.
#[derive(Clone, Copy)]
pub(crate) struct Applied {
    pub(crate) left: bool,
    pub(crate) adjoint: bool,
}

/// `Q C`, `Q^H C`, `C Q` or `C Q^H` in place of `C`, where `Q` is the product of the reflections below the diagonal of `a`.
pub(crate) fn apply<E: Field>(
    a: &[E],
    m: usize,
    tau: &[E],
    c: &mut [E],
    [rows, columns]: [usize; 2],
    how: Applied,
) -> Result<()> {
    let panels = tau.len().div_ceil(PANEL);
    // `Q = H1 H2 …`: applied from the left, the last reflection comes first.
    let backwards = how.left != how.adjoint;
    for at in 0..panels {
        let start = PANEL * if backwards { panels - 1 - at } else { at };
        let end = tau.len().min(start + PANEL);
        let block = Block::of(&a[start * m..end * m], m, start, &tau[start..end])?;
        let c = matrix_mut(c, rows, columns);
        if how.left {
            block.times_left(c.subrows_mut(start, rows - start), how.adjoint)?;
        } else {
            block.times_right(c.subcols_mut(start, columns - start), how.adjoint)?;
        }
    }
    Ok(())
}

/// The first columns of `Q`.
pub(crate) fn columns_of_q<E: Field>(a: &[E], m: usize, tau: &[E], q: &mut [E], columns: usize) -> Result<()> {
    q.fill(E::zero_impl());
    (0..m.min(columns)).for_each(|i| q[i * m + i] = E::one_impl());
    apply(a, m, tau, q, [m, columns], Applied { left: true, adjoint: false })
}
