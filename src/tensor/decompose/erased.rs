//! Factorisations, over views: each operation once, for both fronts.
//! Uses `decompose::matrices`, `cpu::factor`; used by the typed methods of this folder and by `any`.

use super::matrices::{Part, Results, area, cost, operand, parts_of, run, square};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::field::Field;
use crate::cpu::factor::{self, Applied, NOT_CONVERGED, NOT_FINITE, Scaled, Vectors};
use crate::device::Device;
use crate::error::{Result, filled, invalid};
use crate::storage::View;
use num_traits::Float;

pub(super) type Of<'a, D, E> = View<'a, <D as crate::device::Backend>::Storage, E>;

/// A result and its `info`, and what goes with them.
pub(crate) type WithInfo<D> = (Part<D>, Part<D>);

fn zeros<E: Field>() -> E {
    E::zero_impl()
}

/// Cholesky's factor; with `check` the error where a matrix is not positive-definite.
pub(crate) fn cholesky<E: Field, D: Device>(
    op: &'static str,
    a: Of<'_, D, E>,
    upper: bool,
    check: bool,
) -> Result<WithInfo<D>> {
    let (batch, n) = square(op, a.sizes)?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [area(n, n), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, n / 3]), lens, &|at, slots| {
        factor::cholesky(a.at(at), n, upper, slots.own.into_iter().next().unwrap_or_default())
    })?;
    if check {
        results.check(&done.info, |order| format!(
            "The factorization could not be completed because the input is not positive-definite (the leading minor of order {order} is not positive-definite)."
        ))?;
    }
    let [factor, ..] = done.own;
    Ok((results.matrices(factor, [n, n])?, results.numbers(done.info)?))
}

/// LU in one matrix, its pivots, and `info`.
pub(crate) fn lu_factor<E: Field, D: Device>(op: &'static str, a: Of<'_, D, E>, check: bool) -> Result<[Part<D>; 3]> {
    let (batch, [m, n]) = parts_of(op, a.sizes)?;
    let k = m.min(n);
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [area(m, n), 0, 0], ints: k, ..Lens::default() };
    let done = run(&results, cost([m, n, k]), lens, &|at, slots| {
        let [lu, ..] = slots.own;
        lu.copy_from_slice(a.at(at));
        factor::lu(lu, m, n, slots.ints);
        Ok(factor::info(lu, m, n))
    })?;
    if check {
        results.check(&done.info, |at| format!("U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"))?;
    }
    let [lu, ..] = done.own;
    Ok([results.matrices(lu, [m, n])?, results.vectors(done.ints, k)?, results.numbers(done.info)?])
}

/// `P`, `L` and `U` of what `lu_factor` gives.
pub(crate) fn lu_unpack<E: Field, D: Device>(
    op: &'static str,
    lu: Of<'_, D, E>,
    pivots: Of<'_, D, i32>,
) -> Result<[Part<D>; 3]> {
    let (batch, [m, n]) = parts_of(op, lu.sizes)?;
    let k = m.min(n);
    if pivots.sizes != [batch, &[k]].concat() {
        return invalid(op, format!("pivots of shape {:?} are wanted, got {:?}", [batch, &[k]].concat(), pivots.sizes));
    }
    let results = Results::<D> { op, beside: lu.buffer, batch };
    let (lu, pivots) = (operand::<E, D>(lu, batch, 2)?, operand::<i32, D>(pivots, batch, 1)?);
    let lens = Lens { own: [area(m, m), area(m, k), area(k, n)], ..Lens::default() };
    let done = run(&results, cost([m, m, 4]), lens, &|at, slots| {
        let [p, l, u] = slots.own;
        let lu: &[E] = lu.at(at);
        for (row, from) in factor::permutation(pivots.at(at), m)?.into_iter().enumerate() {
            p[row * m + from] = E::one_impl();
        }
        for j in 0..k {
            l[j * m + j] = E::one_impl();
            l[j * m + j + 1..(j + 1) * m].copy_from_slice(&lu[j * m + j + 1..(j + 1) * m]);
        }
        for j in 0..n {
            let rows = k.min(j + 1);
            u[j * k..j * k + rows].copy_from_slice(&lu[j * m..j * m + rows]);
        }
        Ok(0)
    })?;
    let [p, l, u] = done.own;
    Ok([results.matrices(p, [m, m])?, results.matrices(l, [m, k])?, results.matrices(u, [k, n])?])
}

/// Determinants: of each matrix the sign and the absolute value, or its logarithm.
fn determinants<E: Field, D: Device>(
    results: &Results<'_, D>,
    a: Of<'_, D, E>,
    n: usize,
    lens: Lens,
    put: &(dyn Fn(&mut dyn Iterator<Item = E>, E, crate::cpu::factor::batch::Slots<'_, E>) + Sync),
) -> Result<crate::cpu::factor::batch::Done<E>> {
    let a = operand::<E, D>(a, results.batch, 2)?;
    run(results, cost([n, n, n / 3]), lens, &|at, slots| {
        let (mut lu, mut pivots) = (factor::copied(a.at(at))?, filled(0, n)?);
        factor::lu(&mut lu, n, n, &mut pivots);
        let swaps = pivots.iter().enumerate().filter(|&(at, &pivot)| pivot != at as i32 + 1).count();
        let sign = if swaps % 2 == 0 { E::one_impl() } else { -E::one_impl() };
        put(&mut (0..n).map(|i| lu[i * n + i]), sign, slots);
        Ok(0)
    })
}

/// Determinants.
pub(crate) fn det<E: Field, D: Device>(op: &'static str, a: Of<'_, D, E>) -> Result<Part<D>> {
    let (batch, n) = square(op, a.sizes)?;
    let results = Results::<D> { op, beside: a.buffer, batch };
    let lens = Lens { own: [1, 0, 0], ..Lens::default() };
    let done = determinants(&results, a, n, lens, &|diagonal, sign, slots| {
        slots.own[0][0] = diagonal.fold(sign, |product, x| product * x);
    })?;
    let [det, ..] = done.own;
    results.numbers(det)
}

/// Signs of determinants, and logarithms of their absolute values.
pub(crate) fn slogdet<E: Field, D: Device>(op: &'static str, a: Of<'_, D, E>) -> Result<[Part<D>; 2]> {
    let (batch, n) = square(op, a.sizes)?;
    let results = Results::<D> { op, beside: a.buffer, batch };
    let lens = Lens { own: [1, 0, 0], real: [1, 0], ..Lens::default() };
    let done = determinants(&results, a, n, lens, &|diagonal, sign, slots| {
        let (mut sign, mut sum) = (sign, E::real(0.0));
        for x in diagonal {
            let size = x.modulus();
            sum += Float::ln(size);
            sign = if size == E::real(0.0) || (E::IS_REAL && Float::is_nan(size)) {
                // (As PyTorch: a real NaN has no sign.)
                zeros::<E>()
            } else if E::IS_REAL {
                if x.real_part() < E::real(0.0) { -sign } else { sign }
            } else {
                sign * x.over_real(size)
            };
        }
        (slots.own[0][0], slots.real[0][0]) = (sign, sum);
    })?;
    let ([sign, ..], [log, _]) = (done.own, done.real);
    Ok([results.numbers(sign)?, results.numbers(log)?])
}

/// What is kept of `Q` and `R`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum QrMode {
    Reduced,
    Complete,
    R,
}

/// `A = Q R`. Without `Q` there is a tensor of no elements in its place.
pub(crate) fn qr<E: Field, D: Device>(op: &'static str, a: Of<'_, D, E>, mode: QrMode) -> Result<[Part<D>; 2]> {
    let (batch, [m, n]) = parts_of(op, a.sizes)?;
    let k = m.min(n);
    let rows = if mode == QrMode::Complete { m } else { k };
    let q_len = if mode == QrMode::R { 0 } else { area(m, rows) };
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [q_len, area(rows, n), 0], ..Lens::default() };
    let done = run(&results, cost([m, n, k]), lens, &|at, slots| {
        let ([q, r, _], mut a) = (slots.own, factor::copied(a.at(at))?);
        let mut tau = filled(zeros::<E>(), k)?;
        factor::qr(&mut a, m, n, &mut tau)?;
        for j in 0..n {
            let len = rows.min(j + 1);
            r[j * rows..j * rows + len].copy_from_slice(&a[j * m..j * m + len]);
        }
        if q_len > 0 {
            factor::columns_of_q(&a, m, &tau, q, rows)?;
        }
        Ok(0)
    })?;
    let [q, r, _] = done.own;
    let q = if mode == QrMode::R { results.nothing::<E>()? } else { results.matrices(q, [m, rows])? };
    Ok([q, results.matrices(r, [rows, n])?])
}

/// QR in one matrix, and the factors of its reflections.
pub(crate) fn geqrf<E: Field, D: Device>(a: Of<'_, D, E>) -> Result<[Part<D>; 2]> {
    let op = "geqrf";
    let (batch, [m, n]) = parts_of(op, a.sizes)?;
    let k = m.min(n);
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [area(m, n), k, 0], ..Lens::default() };
    let done = run(&results, cost([m, n, k]), lens, &|at, slots| {
        let [qr, tau, _] = slots.own;
        qr.copy_from_slice(a.at(at));
        factor::qr(qr, m, n, tau)?;
        Ok(0)
    })?;
    let [qr, tau, _] = done.own;
    Ok([results.matrices(qr, [m, n])?, results.vectors(tau, k)?])
}

/// The reflections beside their matrix.
fn expect_reflections(op: &'static str, a: &[usize], tau: &[usize]) -> Result<usize> {
    let (batch, [m, n]) = parts_of(op, a)?;
    match tau.split_last() {
        Some((&k, lead)) if lead == batch && k <= n && n <= m => Ok(k),
        _ => invalid(
            op,
            format!(
                "the reflections of shape {tau:?} do not go with a tensor of shape {a:?}: there are at most as many as columns, and no more columns than rows"
            ),
        ),
    }
}

/// The first columns of the product of reflections.
pub(crate) fn householder_product<E: Field, D: Device>(a: Of<'_, D, E>, tau: Of<'_, D, E>) -> Result<Part<D>> {
    let op = "linalg.householder_product";
    let k = expect_reflections(op, a.sizes, tau.sizes)?;
    let (batch, [m, n]) = parts_of(op, a.sizes)?;
    let results = Results::<D> { op, beside: a.buffer, batch };
    let (a, tau) = (operand::<E, D>(a, batch, 2)?, operand::<E, D>(tau, batch, 1)?);
    let lens = Lens { own: [area(m, n), 0, 0], ..Lens::default() };
    let done = run(&results, cost([m, n, k]), lens, &|at, slots| {
        let [q, ..] = slots.own;
        factor::columns_of_q(a.at(at), m, tau.at(at), q, n)?;
        Ok(0)
    })?;
    let [q, ..] = done.own;
    results.matrices(q, [m, n])
}

/// The product of reflections applied to a matrix.
pub(crate) fn ormqr<E: Field, D: Device>(
    a: Of<'_, D, E>,
    tau: Of<'_, D, E>,
    c: Of<'_, D, E>,
    left: bool,
    adjoint: bool,
) -> Result<Part<D>> {
    let op = "ormqr";
    let (lead, [m, columns]) = parts_of(op, a.sizes)?;
    let (batch, [rows, others]) = parts_of(op, c.sizes)?;
    let fits = tau.sizes.split_last().is_some_and(|(&k, of)| of == lead && k <= columns.min(m));
    if !fits || lead != batch || (if left { rows } else { others }) != m {
        return invalid(op, format!("shapes {:?}, {:?} and {:?} do not go together", a.sizes, tau.sizes, c.sizes));
    }
    let results = Results::<D> { op, beside: c.buffer, batch };
    let (a, tau, c) = (operand::<E, D>(a, batch, 2)?, operand::<E, D>(tau, batch, 1)?, operand::<E, D>(c, batch, 2)?);
    let lens = Lens { own: [area(rows, others), 0, 0], ..Lens::default() };
    let done = run(&results, cost([rows, others, columns]), lens, &|at, slots| {
        let [to, ..] = slots.own;
        to.copy_from_slice(c.at(at));
        factor::apply(a.at(at), m, tau.at(at), to, [rows, others], Applied { left, adjoint })?;
        Ok(0)
    })?;
    let [to, ..] = done.own;
    results.matrices(to, [rows, others])
}

/// `U`, `S` and `Vh`; without vectors `U` and `Vh` have no elements.
pub(crate) fn svd<E: Field, D: Device>(op: &'static str, a: Of<'_, D, E>, vectors: Vectors) -> Result<[Part<D>; 3]> {
    let (batch, [m, n]) = parts_of(op, a.sizes)?;
    let k = m.min(n);
    let [columns, rows] = match vectors {
        Vectors::None => [0, 0],
        Vectors::Reduced => [k, k],
        Vectors::Complete => [m, n],
    };
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [area(m, columns), area(rows, n), 0], real: [k, 0], ..Lens::default() };
    let done = run(&results, cost([m, n, k.saturating_mul(12)]), lens, &|at, slots| {
        let ([u, vh, _], [s, _]) = (slots.own, slots.real);
        factor::svd(a.at(at), [m, n], vectors, u, s, vh)
    })?;
    results.check(&done.info, no_singular_values)?;
    let ([u, vh, _], [s, _]) = (done.own, done.real);
    Ok([results.matrices(u, [m, columns])?, results.vectors(s, k)?, results.matrices(vh, [rows, n])?])
}

pub(super) fn no_singular_values(info: i32) -> String {
    factor::not_found(info, "The algorithm failed to converge because the input matrix contained non-finite values.")
}

/// Eigenvalues of symmetric or Hermitian matrices, and eigenvectors.
pub(crate) fn eigh<E: Field, D: Device>(
    op: &'static str,
    a: Of<'_, D, E>,
    upper: bool,
    vectors: bool,
) -> Result<[Part<D>; 2]> {
    let (batch, n) = square(op, a.sizes)?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [if vectors { area(n, n) } else { 0 }, 0, 0], real: [n, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, n.saturating_mul(6)]), lens, &|at, slots| {
        let ([v, ..], [w, _]) = (slots.own, slots.real);
        factor::eigenvalues_of_symmetric(a.at(at), n, upper, w, v)
    })?;
    results.check(&done.info, |info| factor::not_found(info, ""))?;
    let ([v, ..], [w, _]) = (done.own, done.real);
    Ok([results.vectors(w, n)?, results.matrices(v, [n, if vectors { n } else { 0 }])?])
}

/// Eigenvalues, which are complex, and eigenvectors.
pub(crate) fn eig<E: Field, D: Device>(op: &'static str, a: Of<'_, D, E>, vectors: bool) -> Result<[Part<D>; 2]> {
    let (batch, n) = square(op, a.sizes)?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { complex: [n, if vectors { area(n, n) } else { 0 }], ..Lens::default() };
    let done = run::<E, D>(&results, cost([n, n, n.saturating_mul(20)]), lens, &|at, slots| {
        let ([w, v], a) = (slots.complex, a.at(at));
        if !factor::all_finite(a) {
            return Ok(NOT_FINITE);
        }
        if n == 0 {
            return Ok(0);
        }
        let Scaled { elements, exponent } = Scaled::of(a)?;
        let matrix = faer::MatRef::from_column_major_slice(&elements, n, n);
        let Some((values, columns)) = E::eigen(matrix, vectors)? else { return Ok(NOT_CONVERGED) };
        w.copy_from_slice(&values);
        factor::scale(w, exponent);
        if vectors {
            v.copy_from_slice(&columns);
            factor::normalized::<E::Cx>(v, n);
        }
        Ok(0)
    })?;
    results.check(&done.info, |info| factor::not_found(info, "input tensor should not contain infs or NaNs."))?;
    let [w, v] = done.complex;
    Ok([results.vectors(w, n)?, results.matrices(v, [n, if vectors { n } else { 0 }])?])
}

/// Exponentials.
pub(crate) fn exponential<E: Field, D: Device>(a: Of<'_, D, E>) -> Result<Part<D>> {
    let op = "linalg.matrix_exp";
    let (batch, n) = square(op, a.sizes)?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [area(n, n), 0, 0], ..Lens::default() };
    let done = run(&results, cost([n, n, n.saturating_mul(10)]), lens, &|at, slots| {
        let [to, ..] = slots.own;
        factor::exponential(a.at(at), n, to)?;
        Ok(0)
    })?;
    let [to, ..] = done.own;
    results.matrices(to, [n, n])
}

/// Symmetric or Hermitian indefinite factors in one matrix, their pivots, and `info`.
pub(crate) fn ldl_factor<E: Field, D: Device>(
    op: &'static str,
    a: Of<'_, D, E>,
    hermitian: bool,
    check: bool,
) -> Result<[Part<D>; 3]> {
    let (batch, n) = square(op, a.sizes)?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { own: [area(n, n), 0, 0], ints: n, ..Lens::default() };
    let done = run(&results, cost([n, n, n]), lens, &|at, slots| {
        let [ld, ..] = slots.own;
        ld.copy_from_slice(a.at(at));
        for j in 0..n {
            ld[j * n..j * n + j].fill(zeros());
        }
        Ok(factor::ldl(ld, n, hermitian, slots.ints))
    })?;
    if check {
        results.check(&done.info, |at| {
            format!("D[{at},{at}] is zero and using it on ldl_solve would result in a division by zero.")
        })?;
    }
    let [ld, ..] = done.own;
    Ok([results.matrices(ld, [n, n])?, results.vectors(done.ints, n)?, results.numbers(done.info)?])
}
