//! What is solved with factors, over views: systems of equations and inverses, each once, for both fronts.
//! Uses `decompose::matrices`, `cpu::factor`; used by the typed methods of this folder and by `any`.

use super::erased::{Of, WithInfo};
use super::matrices::{Part, Results, area, common, cost, operand, parts_of, run, square};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::field::Field;
use crate::cpu::factor::{self, Triangle};
use crate::device::Device;
use crate::error::{Result, filled, invalid};

/// Solves with the matrix whose Cholesky factor is given.
pub(crate) fn cholesky_solve<E: Field, D: Device>(
    b: Of<'_, D, E>,
    factor: Of<'_, D, E>,
    upper: bool,
) -> Result<Part<D>> {
    let op = "cholesky_solve";
    let ((lead, n), (b_lead, [rows, columns])) = (square(op, factor.sizes)?, parts_of(op, b.sizes)?);
    if rows != n {
        return invalid(
            op,
            format!(
                "Incompatible matrix sizes for cholesky_solve: each A matrix is {n} by {n} but each b matrix is {rows} by {columns}"
            ),
        );
    }
    let batch = common(op, lead, b_lead)?;
    let results = Results::<D> { op, beside: b.buffer, batch: &batch };
    let (factor, b) = (operand::<E, D>(factor, &batch, 2)?, operand::<E, D>(b, &batch, 2)?);
    let lens = Lens { own: [area(n, columns), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, columns]), lens, &|at, slots| {
        let [x, ..] = slots.own;
        x.copy_from_slice(b.at(at));
        factor::cholesky_solve(factor.at(at), n, upper, x, columns);
        Ok(0)
    })?;
    let [x, ..] = done.own;
    results.matrices(x, [n, columns])
}

/// The inverse of the matrix whose Cholesky factor is given.
pub(crate) fn cholesky_inverse<E: Field, D: Device>(factor: Of<'_, D, E>, upper: bool) -> Result<Part<D>> {
    let op = "cholesky_inverse";
    let (batch, n) = square(op, factor.sizes)?;
    let (results, factor) = (Results::<D> { op, beside: factor.buffer, batch }, operand::<E, D>(factor, batch, 2)?);
    let lens = Lens { own: [area(n, n), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, n]), lens, &|at, slots| {
        let [inverse, ..] = slots.own;
        Ok(factor::cholesky_inverse(factor.at(at), n, upper, inverse))
    })?;
    results.check(&done.info, singular)?;
    let [inverse, ..] = done.own;
    results.matrices(inverse, [n, n])
}

fn singular(at: i32) -> String {
    format!(
        "The diagonal element {at} is zero, the inversion could not be completed because the input matrix is singular."
    )
}

/// Inverses.
pub(crate) fn inverse<E: Field, D: Device>(op: &'static str, a: Of<'_, D, E>, check: bool) -> Result<WithInfo<D>> {
    let (batch, n) = square(op, a.sizes)?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [area(n, n), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, n]), lens, &|at, slots| {
        let [inverse, ..] = slots.own;
        factor::inverse(a.at(at), n, inverse)
    })?;
    if check {
        results.check(&done.info, singular)?;
    }
    let [inverse, ..] = done.own;
    Ok((results.matrices(inverse, [n, n])?, results.numbers(done.info)?))
}

/// Of the right side of a system: whether it holds vectors, and its leading axes and columns.
fn right_side<'a>(
    op: &'static str,
    a: &[usize],
    b: &'a [usize],
    rows: usize,
    left: bool,
) -> Result<(bool, &'a [usize], usize)> {
    let is_vector = b.len() == 1 || (a.len() == b.len() + 1 && *b == a[..a.len() - 1]);
    if is_vector && left {
        let (lead, size) = b.split_at(b.len() - 1);
        if size[0] != rows {
            return invalid(
                op,
                format!(
                    "Incompatible shapes of A and B for the equation AX = B ({rows} rows and a vector of {})",
                    size[0]
                ),
            );
        }
        return Ok((true, lead, 1));
    }
    if is_vector && b.len() < 2 {
        return invalid(op, "Vector broadcasting of the left hand side is not supported for left=False. In this case A must be a matrix".to_owned());
    }
    let (lead, [m, n]) = parts_of(op, b)?;
    let (own, columns) = if left { (m, n) } else { (n, m) };
    if own != rows {
        let equation = if left { "AX = B" } else { "XA = B" };
        return invalid(
            op,
            format!("Incompatible shapes of A and B for the equation {equation} ({rows}x{rows} and {m}x{n})"),
        );
    }
    Ok((false, lead, columns))
}

/// Solutions of `A X = B`, or `X A = B`.
pub(crate) fn solve<E: Field, D: Device>(
    op: &'static str,
    a: Of<'_, D, E>,
    b: Of<'_, D, E>,
    left: bool,
    check: bool,
) -> Result<WithInfo<D>> {
    let (a_lead, n) = square(op, a.sizes)?;
    let (is_vector, b_lead, columns) = right_side(op, a.sizes, b.sizes, n, left)?;
    let batch = common(op, a_lead, b_lead)?;
    let results = Results::<D> { op, beside: a.buffer, batch: &batch };
    let (of, b) = (operand::<E, D>(a, &batch, 2)?, operand::<E, D>(b, &batch, if is_vector { 1 } else { 2 })?);
    let lens = Lens { own: [area(n, columns), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, (n / 3).saturating_add(columns)]), lens, &|at, slots| {
        let [x, ..] = slots.own;
        x.copy_from_slice(b.at(at));
        let (mut lu, mut pivots) = (factor::copied(of.at(at))?, filled(0, n)?);
        if !left {
            // `X A = B` is `A^T X^T = B^T`.
            transpose(&mut lu, n);
        }
        factor::lu(&mut lu, n, n, &mut pivots);
        let x = if left {
            faer::MatMut::from_column_major_slice_mut(x, n, columns)
        } else {
            faer::MatMut::from_row_major_slice_mut(x, n, columns)
        };
        factor::solve_factored(&lu, n, &pivots, x, false)?;
        Ok(factor::info(&lu, n, n))
    })?;
    if check {
        results.check(&done.info, |_| "The solver failed because the input matrix is singular.".to_owned())?;
    }
    let [x, ..] = done.own;
    // (`info` is of the matrices, not of what they are broadcast to; PyTorch's is as well, where nothing is broadcast.)
    let info = results.numbers(done.info)?;
    let x = match (is_vector, left) {
        (true, _) => results.vectors(x, n)?,
        (false, true) => results.matrices(x, [n, columns])?,
        (false, false) => results.matrices(x, [columns, n])?,
    };
    Ok((x, info))
}

fn transpose<E: Copy>(a: &mut [E], n: usize) {
    for j in 0..n {
        for i in j + 1..n {
            a.swap(j * n + i, i * n + j);
        }
    }
}

/// Solutions of `A X = B` by the factors of `lu_factor`; of `X A = B`, and with the adjoint of `A`.
pub(crate) fn lu_solve<E: Field, D: Device>(
    lu: Of<'_, D, E>,
    pivots: Of<'_, D, i32>,
    b: Of<'_, D, E>,
    left: bool,
    adjoint: bool,
) -> Result<Part<D>> {
    let op = "linalg.lu_solve";
    let ((lead, n), (b_lead, [rows, columns])) = (square(op, lu.sizes)?, parts_of(op, b.sizes)?);
    if pivots.sizes != [lead, &[n]].concat() {
        return invalid(op, format!("pivots of shape {:?} are wanted, got {:?}", [lead, &[n]].concat(), pivots.sizes));
    }
    if (if left { rows } else { columns }) != n {
        return invalid(op, format!("Incompatible shapes of A and B: {n}x{n} and {rows}x{columns}"));
    }
    let batch = common(op, lead, b_lead)?;
    let results = Results::<D> { op, beside: lu.buffer, batch: &batch };
    let (lu, b) = (operand::<E, D>(lu, &batch, 2)?, operand::<E, D>(b, &batch, 2)?);
    let pivots = operand::<i32, D>(pivots, &batch, 1)?;
    let lens = Lens { own: [area(rows, columns), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, columns]), lens, &|at, slots| {
        let [x, ..] = slots.own;
        x.copy_from_slice(b.at(at));
        if left {
            let x = faer::MatMut::from_column_major_slice_mut(x, n, columns);
            factor::solve_factored(lu.at(at), n, pivots.at(at), x, adjoint)?;
        } else {
            // The adjoint of `X A = B` is `A^H X^H = B^H`.
            x.iter_mut().for_each(|x| *x = x.conjugate());
            let y = faer::MatMut::from_row_major_slice_mut(&mut *x, n, rows);
            factor::solve_factored(lu.at(at), n, pivots.at(at), y, !adjoint)?;
            x.iter_mut().for_each(|x| *x = x.conjugate());
        }
        Ok(0)
    })?;
    let [x, ..] = done.own;
    results.matrices(x, [rows, columns])
}

/// Solutions of triangular systems.
pub(crate) fn solve_triangular<E: Field, D: Device>(
    op: &'static str,
    a: Of<'_, D, E>,
    b: Of<'_, D, E>,
    triangle: Triangle,
    left: bool,
) -> Result<Part<D>> {
    let ((lead, n), (b_lead, [rows, columns])) = (square(op, a.sizes)?, parts_of(op, b.sizes)?);
    if (if left { rows } else { columns }) != n {
        return invalid(op, format!("Incompatible shapes of A and B: {n}x{n} and {rows}x{columns}"));
    }
    let batch = common(op, lead, b_lead)?;
    let results = Results::<D> { op, beside: a.buffer, batch: &batch };
    let (a, b) = (operand::<E, D>(a, &batch, 2)?, operand::<E, D>(b, &batch, 2)?);
    let lens = Lens { own: [area(rows, columns), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, if left { columns } else { rows }]), lens, &|at, slots| {
        let [x, ..] = slots.own;
        x.copy_from_slice(b.at(at));
        if left {
            let x = faer::MatMut::from_column_major_slice_mut(x, n, columns);
            factor::solve_triangular(a.at(at), n, triangle, x);
        } else {
            let x = faer::MatMut::from_row_major_slice_mut(x, n, rows);
            let transposed = !triangle.transposed;
            factor::solve_triangular(a.at(at), n, Triangle { transposed, ..triangle }, x);
        }
        Ok(0)
    })?;
    let [x, ..] = done.own;
    results.matrices(x, [rows, columns])
}

/// Solutions by the factors of `ldl_factor`.
pub(crate) fn ldl_solve<E: Field, D: Device>(
    ld: Of<'_, D, E>,
    pivots: Of<'_, D, i32>,
    b: Of<'_, D, E>,
    hermitian: bool,
) -> Result<Part<D>> {
    let op = "linalg.ldl_solve";
    let ((lead, n), (b_lead, [rows, columns])) = (square(op, ld.sizes)?, parts_of(op, b.sizes)?);
    if pivots.sizes != [lead, &[n]].concat() || rows != n {
        return invalid(op, format!("shapes {:?}, {:?} and {:?} do not go together", ld.sizes, pivots.sizes, b.sizes));
    }
    let batch = common(op, lead, b_lead)?;
    let results = Results::<D> { op, beside: ld.buffer, batch: &batch };
    let (ld, b) = (operand::<E, D>(ld, &batch, 2)?, operand::<E, D>(b, &batch, 2)?);
    let pivots = operand::<i32, D>(pivots, &batch, 1)?;
    let lens = Lens { own: [area(rows, columns), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, columns]), lens, &|at, slots| {
        let [x, ..] = slots.own;
        x.copy_from_slice(b.at(at));
        if pivots.at(at).iter().any(|&pivot| !(1..=n as i64).contains(&i64::from(pivot).abs())) {
            return Ok(1);
        }
        factor::ldl_solve(ld.at(at), n, hermitian, pivots.at(at), x);
        Ok(0)
    })?;
    results.check(&done.info, |_| format!("pivots are from 1 to {n}, or the negatives of such"))?;
    let [x, ..] = done.own;
    results.matrices(x, [rows, columns])
}
