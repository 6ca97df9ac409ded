//! LU with partial pivoting, by recursion over columns, and solving with it.
//! Source: LAPACK's `getrf2`, `getrs`, `getri`.

use super::field::Field;
use super::{copied, matrix, matrix_mut};
use crate::error::{Result, filled, listed};
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_solve as triangular;
use faer::prelude::{Reborrow, ReborrowMut};
use faer::{Accum, MatMut, Par};

/// Up to this many columns are factored without recursion.
const FEW: usize = 8;

/// Factors in place; `pivots` count rows from 1, as LAPACK's do.
pub(crate) fn lu<E: Field>(a: &mut [E], m: usize, n: usize, pivots: &mut [i32]) {
    let k = m.min(n);
    factor(a, m, [0, k], pivots);
    if n > k {
        swap_rows(&mut a[k * m..], m, &pivots[..k], 0);
        let (left, right) = matrix_mut(a, m, n).split_at_col_mut(k);
        triangular::solve_unit_lower_triangular_in_place(left.rb(), right, Par::Seq);
    }
}

/// Exchanges rows of whole columns, by the pivots from `first` on.
fn swap_rows<E: Copy>(columns: &mut [E], m: usize, pivots: &[i32], first: usize) {
    if m == 0 {
        return;
    }
    for column in columns.chunks_exact_mut(m) {
        for (at, &pivot) in pivots.iter().enumerate() {
            column.swap(first + at, pivot as usize - 1);
        }
    }
}

/// Factors columns `start..end`, from row `start` on.
fn factor<E: Field>(a: &mut [E], m: usize, [start, end]: [usize; 2], pivots: &mut [i32]) {
    if end - start <= FEW {
        return one_by_one(a, m, [start, end], pivots);
    }
    let middle = start + (end - start) / 2;
    factor(a, m, [start, middle], pivots);
    swap_rows(&mut a[middle * m..end * m], m, &pivots[start..middle], start);
    {
        let (left, right) = matrix_mut(&mut a[start * m..end * m], m, end - start).split_at_col_mut(middle - start);
        let (left, right) = (left.rb(), right.subrows_mut(start, m - start));
        let (top, bottom) = left.subrows(start, m - start).split_at_row(middle - start);
        let (mut upper, lower) = right.split_at_row_mut(middle - start);
        triangular::solve_unit_lower_triangular_in_place(top, upper.rb_mut(), Par::Seq);
        matmul(lower, Accum::Add, bottom, upper.rb(), -E::one_impl(), Par::Seq);
    }
    factor(a, m, [middle, end], pivots);
    swap_rows(&mut a[start * m..middle * m], m, &pivots[middle..end], middle);
}

fn one_by_one<E: Field>(a: &mut [E], m: usize, [start, end]: [usize; 2], pivots: &mut [i32]) {
    for j in start..end {
        let column = &a[j * m..(j + 1) * m];
        let (mut pivot, mut largest) = (j, column[j].size());
        for (i, x) in column.iter().enumerate().skip(j + 1) {
            if x.size() > largest {
                (pivot, largest) = (i, x.size());
            }
        }
        pivots[j] = pivot as i32 + 1;
        if a[j * m + pivot] == E::zero_impl() {
            continue;
        }
        for column in a[start * m..end * m].chunks_exact_mut(m) {
            column.swap(j, pivot);
        }
        let (left, right) = a.split_at_mut((j + 1) * m);
        let divided = &mut left[j * m..];
        let by = divided[j];
        divided[j + 1..].iter_mut().for_each(|x| *x = x.over(by));
        for column in right[..(end - j - 1) * m].chunks_exact_mut(m) {
            let factor = column[j];
            for (x, &l) in column[j + 1..].iter_mut().zip(&divided[j + 1..]) {
                *x -= factor * l;
            }
        }
    }
}

/// The index of the first zero on the diagonal of `U`, counted from 1; 0 if there is none.
pub(crate) fn info<E: Field>(lu: &[E], m: usize, n: usize) -> i32 {
    let zero = (0..m.min(n)).find(|&i| lu[i * m + i] == E::zero_impl());
    zero.map_or(0, |i| i as i32 + 1)
}

/// The matrix row that each row of the factors comes from. Pivots are user input: those out of range are ignored.
pub(crate) fn permutation(pivots: &[i32], m: usize) -> Result<Vec<usize>> {
    let mut rows = listed(0..m)?;
    for (at, &pivot) in pivots.iter().enumerate() {
        if (1..=m as i64).contains(&i64::from(pivot)) && at < m {
            rows.swap(at, pivot as usize - 1);
        }
    }
    Ok(rows)
}

/// Solves `A x = b`, or with the adjoint of `A`, in place, given the LU factors of `A`.
pub(crate) fn solve_factored<E: Field>(
    lu: &[E],
    n: usize,
    pivots: &[i32],
    mut b: MatMut<'_, E>,
    adjoint: bool,
) -> Result<()> {
    let rows = permutation(pivots, n)?;
    let lu = matrix(lu, n, n);
    let mut moved = filled(E::zero_impl(), n)?;
    if adjoint {
        triangular::solve_lower_triangular_in_place(lu.adjoint(), b.rb_mut(), Par::Seq);
        triangular::solve_unit_upper_triangular_in_place(lu.adjoint(), b.rb_mut(), Par::Seq);
        for j in 0..b.ncols() {
            (0..n).for_each(|i| moved[rows[i]] = b[(i, j)]);
            (0..n).for_each(|i| b[(i, j)] = moved[i]);
        }
        return Ok(());
    }
    for j in 0..b.ncols() {
        (0..n).for_each(|i| moved[i] = b[(rows[i], j)]);
        (0..n).for_each(|i| b[(i, j)] = moved[i]);
    }
    triangular::solve_unit_lower_triangular_in_place(lu, b.rb_mut(), Par::Seq);
    triangular::solve_upper_triangular_in_place(lu, b.rb_mut(), Par::Seq);
    Ok(())
}

/// The inverse of a matrix; returns LAPACK's `info`.
pub(crate) fn inverse<E: Field>(a: &[E], n: usize, inverse: &mut [E]) -> Result<i32> {
    let (mut factors, mut pivots) = (copied(a)?, filled(0, n)?);
    lu(&mut factors, n, n, &mut pivots);
    inverse.fill(E::zero_impl());
    (0..n).for_each(|i| inverse[i * n + i] = E::one_impl());
    solve_factored(&factors, n, &pivots, matrix_mut(inverse, n, n), false)?;
    Ok(info(&factors, n, n))
}
