//! What singular values decide, over views: ranks, pseudoinverses, condition numbers, least squares.
//! Uses `decompose::matrices`, `cpu::factor`; used by the typed methods of this folder and by `any`.

use super::erased::{Of, no_singular_values};
use super::matrices::{Part, Results, area, common, cost, operand, parts_of, run, square};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::field::Field;
use crate::cpu::factor::{self, Scaled, Vectors};
use crate::device::Device;
use crate::error::{Result, filled, invalid, listed};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use num_traits::{Float, ToPrimitive};

/// Below what a singular value counts as 0: an absolute and a relative bound, one for all matrices or one for each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tolerance {
    pub(crate) atol: Option<Vec<f64>>,
    pub(crate) rtol: Option<Vec<f64>>,
}

impl Tolerance {
    fn of(&self, number: usize, largest: f64, default: f64) -> f64 {
        let at =
            |list: &Option<Vec<f64>>| list.as_ref().map(|list| if list.len() == 1 { list[0] } else { list[number] });
        let atol = at(&self.atol).unwrap_or(0.0);
        let rtol = at(&self.rtol).unwrap_or(if atol > 0.0 { 0.0 } else { default });
        atol.max(rtol * largest)
    }
    fn fits(&self, op: &'static str, count: usize) -> Result<()> {
        for list in [&self.atol, &self.rtol].into_iter().flatten() {
            if list.len() != 1 && list.len() != count {
                return invalid(op, format!("{} tolerances do not go with {count} matrices", list.len()));
            }
        }
        Ok(())
    }
}

/// What was computed, or `info` where it was not found.
type Found<T> = core::result::Result<T, i32>;

fn float<E: Field>(x: E::Re) -> f64 {
    x.to_f64().unwrap_or(f64::NAN)
}

fn epsilon<E: Field>() -> f64 {
    float::<E>(<E::Re as Float>::epsilon())
}

/// The absolute values of eigenvalues, or singular values; `info` where they were not found.
fn magnitudes<E: Field>(a: &[E], [m, n]: [usize; 2], hermitian: bool) -> Result<Found<Vec<E::Re>>> {
    let mut s = filled(E::real(0.0), m.min(n))?;
    let info = if hermitian {
        factor::eigenvalues_of_symmetric(a, n, false, &mut s, &mut [])?
    } else {
        factor::svd(a, [m, n], Vectors::None, &mut [], &mut s, &mut [])?
    };
    s.iter_mut().for_each(|x| *x = Float::abs(*x));
    Ok(if info == 0 { Ok(s) } else { Err(info) })
}

/// `x 2^exponent`
fn times_power(x: f64, exponent: i32) -> f64 {
    let mut product = [x];
    factor::scale(&mut product, exponent);
    product[0]
}

fn largest<E: Field>(s: &[E::Re]) -> f64 {
    s.iter().fold(0.0, |most, &x| float::<E>(x).max(most))
}

/// Leading axes, rows and columns; of Hermitian matrices they are as many.
fn shape(op: &'static str, sizes: &[usize], hermitian: bool) -> Result<(Vec<usize>, [usize; 2])> {
    if hermitian {
        square(op, sizes)?;
    }
    parts_of(op, sizes).map(|(batch, matrix)| (batch.to_owned(), matrix))
}

/// How many singular values exceed a bound, as `i64`.
pub(crate) fn matrix_rank<E: Field, D: Device>(
    a: Of<'_, D, E>,
    tolerance: &Tolerance,
    hermitian: bool,
) -> Result<Part<D>> {
    let op = "linalg.matrix_rank";
    let (batch, [m, n]) = shape(op, a.sizes, hermitian)?;
    tolerance.fits(op, batch.iter().product())?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch: &batch }, operand::<E, D>(a, &batch, 2)?);
    let lens = Lens { ints: 1, ..Lens::default() };
    let done = run::<E, D>(&results, cost([m, n, m.min(n).saturating_mul(4)]), lens, &|at, slots| {
        let s = match magnitudes(a.at(at), [m, n], hermitian)? {
            Ok(s) => s,
            Err(info) => return Ok(info),
        };
        let bound = tolerance.of(at, largest::<E>(&s), epsilon::<E>() * m.max(n) as f64);
        slots.ints[0] = s.iter().filter(|&&x| float::<E>(x) > bound).count() as i32;
        Ok(0)
    })?;
    results.check(&done.info, no_singular_values)?;
    results.numbers(listed(done.ints.into_iter().map(i64::from))?)
}

/// Writes `V diag(1 / S) U^H` of a scaled matrix, the small singular values left out; returns how many were kept, and all values. `bound`
/// says below what a value is small, given the largest value of the matrix before it was scaled. `info` where they were not found.
fn pseudoinverse<E: Field>(
    a: &Scaled<E>,
    [m, n]: [usize; 2],
    hermitian: bool,
    bound: impl Fn(f64) -> f64,
    to: &mut [E],
) -> Result<Found<(usize, Vec<E::Re>)>> {
    let k = m.min(n);
    let (mut u, mut vh) = (filled(E::zero_impl(), m * k)?, filled(E::zero_impl(), k * n)?);
    let mut s = filled(E::real(0.0), k)?;
    let info = if hermitian {
        factor::eigenvalues_of_symmetric(&a.elements, n, false, &mut s, &mut u)?
    } else {
        factor::svd(&a.elements, [m, n], Vectors::Reduced, &mut u, &mut s, &mut vh)?
    };
    if info != 0 {
        return Ok(Err(info));
    }
    let sizes = listed(s.iter().map(|&x| times_power(float::<E>(x).abs(), a.exponent)))?;
    let bound = bound(sizes.iter().copied().fold(0.0, f64::max));
    let kept = |at: usize| sizes[at] > bound || sizes[at].is_nan();
    let rank = (0..k).filter(|&at| kept(at)).count();
    if hermitian {
        for i in 0..k {
            for j in 0..n {
                vh[j * k + i] = u[i * m + j].conjugate();
            }
        }
    }
    // (Rows of `Vh`, divided, are columns of `V`.)
    for at in 0..k {
        (0..n).for_each(|j| vh[j * k + at] = if kept(at) { vh[j * k + at].over_real(s[at]) } else { E::zero_impl() });
    }
    matmul(
        MatMut::from_column_major_slice_mut(to, n, m),
        Accum::Replace,
        MatRef::from_column_major_slice(&vh, k, n).adjoint(),
        MatRef::from_column_major_slice(&u, m, k).adjoint(),
        E::one_impl(),
        Par::Seq,
    );
    Ok(Ok((rank, s)))
}

/// Pseudoinverses.
pub(crate) fn pinv<E: Field, D: Device>(a: Of<'_, D, E>, tolerance: &Tolerance, hermitian: bool) -> Result<Part<D>> {
    let op = "linalg.pinv";
    let (batch, [m, n]) = shape(op, a.sizes, hermitian)?;
    tolerance.fits(op, batch.iter().product())?;
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch: &batch }, operand::<E, D>(a, &batch, 2)?);
    let lens = Lens { own: [area(m, n), 0, 0], ..Lens::default() };
    let done = run(&results, cost([m, n, m.min(n).saturating_mul(12)]), lens, &|at, slots| {
        let [to, ..] = slots.own;
        let bound = |most| tolerance.of(at, most, epsilon::<E>() * m.max(n) as f64);
        let a = Scaled::of(a.at(at))?;
        let info = pseudoinverse(&a, [m, n], hermitian, bound, to)?.err().unwrap_or(0);
        factor::scale(to, -a.exponent);
        Ok(info)
    })?;
    results.check(&done.info, no_singular_values)?;
    let [to, ..] = done.own;
    results.matrices(to, [n, m])
}

/// Which norm a condition number, or a norm by singular values, is of.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(not(feature = "any"), allow(dead_code))]
pub(crate) enum Norm {
    /// The largest singular value, or the smallest.
    Two,
    MinusTwo,
    /// Their sum.
    Nuclear,
    Frobenius,
    /// The largest, or smallest, sum of absolute values of columns (1) or rows (infinity).
    Sums {
        columns: bool,
        largest: bool,
    },
}

impl Norm {
    /// The norm that PyTorch gives a number for.
    pub(crate) fn of(op: &'static str, order: f64) -> Result<Self> {
        match order {
            2.0 => Ok(Norm::Two),
            -2.0 => Ok(Norm::MinusTwo),
            1.0 | -1.0 => Ok(Norm::Sums { columns: true, largest: order > 0.0 }),
            f64::INFINITY | f64::NEG_INFINITY => Ok(Norm::Sums { columns: false, largest: order > 0.0 }),
            _ => invalid(op, format!("Order {order} not supported.")),
        }
    }

    fn value<E: Field>(self, a: &[E], [m, n]: [usize; 2]) -> Result<Found<E::Re>> {
        let zero = E::real(0.0);
        if m == 0 || n == 0 {
            return Ok(Ok(zero));
        }
        let sum = |i: usize, j: usize, by: usize, len: usize| {
            (0..len).fold(zero, |sum, at| sum + a[j * m + i + at * by].modulus())
        };
        let most = |x: E::Re, y: E::Re| if y.is_nan() || y > x { y } else { x };
        let least = |x: E::Re, y: E::Re| if y.is_nan() || y < x { y } else { x };
        match self {
            Norm::Frobenius => {
                let Scaled { elements, exponent } = Scaled::of(a)?;
                let squares = elements.iter().fold(zero, |sum, x| sum + x.modulus() * x.modulus());
                let mut norm = [Float::sqrt(squares)];
                factor::scale(&mut norm, exponent);
                return Ok(Ok(norm[0]));
            }
            Norm::Sums { columns, largest } => {
                let mut sums = (0..if columns { n } else { m })
                    .map(|at| if columns { sum(0, at, 1, m) } else { sum(at, 0, m, n) });
                let first = sums.next().unwrap_or(zero);
                return Ok(Ok(if largest { sums.fold(first, most) } else { sums.fold(first, least) }));
            }
            _ => {}
        }
        let s = magnitudes(a, [m, n], false)?;
        Ok(s.map(|s| match self {
            Norm::Two => s.first().copied().unwrap_or(zero),
            Norm::MinusTwo => s.last().copied().unwrap_or(zero),
            _ => s.iter().fold(zero, |sum, &x| sum + x),
        }))
    }
}

/// Norms of matrices.
pub(crate) fn norm<E: Field, D: Device>(op: &'static str, a: Of<'_, D, E>, norm: Norm) -> Result<Part<D>> {
    let (batch, matrix @ [m, n]) = parts_of(op, a.sizes)?;
    if m.min(n) == 0 && norm == Norm::MinusTwo && !batch.contains(&0) {
        return invalid(op, format!("the smallest singular value of a {m} by {n} matrix: there is none"));
    }
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { real: [1, 0], ..Lens::default() };
    let done = run::<E, D>(&results, cost([m, n, m.min(n).saturating_mul(4)]), lens, &|at, slots| {
        Ok(match norm.value(a.at(at), matrix)? {
            Ok(value) => {
                slots.real[0][0] = value;
                0
            }
            Err(info) => info,
        })
    })?;
    results.check(&done.info, no_singular_values)?;
    let [norms, _] = done.real;
    results.numbers(norms)
}

/// Condition numbers.
pub(crate) fn cond<E: Field, D: Device>(a: Of<'_, D, E>, norm: Norm) -> Result<Part<D>> {
    let op = "linalg.cond";
    let by_values = matches!(norm, Norm::Two | Norm::MinusTwo);
    let (batch, matrix @ [m, n]) = parts_of(op, a.sizes)?;
    if !by_values {
        square(op, a.sizes)?;
    }
    let (results, a) = (Results::<D> { op, beside: a.buffer, batch }, operand::<E, D>(a, batch, 2)?);
    let lens = Lens { real: [1, 0], ..Lens::default() };
    let done = run::<E, D>(&results, cost([m, n, m.min(n).saturating_mul(4)]), lens, &|at, slots| {
        let ([to, _], a) = (slots.real, a.at(at));
        if m == 0 || n == 0 {
            return Ok(0);
        }
        if by_values {
            let s = match magnitudes(&Scaled::of(a)?.elements, matrix, false)? {
                Ok(s) => s,
                Err(info) => return Ok(info),
            };
            let (first, last) = (s[0], s[s.len() - 1]);
            to[0] = if norm == Norm::Two { first / last } else { last / first };
            return Ok(0);
        }
        let mut inverse = filled(E::zero_impl(), n * n)?;
        if factor::inverse(a, n, &mut inverse)? != 0 {
            to[0] = <E::Re as Float>::infinity();
            return Ok(0);
        }
        match (norm.value(a, matrix)?, norm.value(&inverse, matrix)?) {
            (Ok(x), Ok(y)) => to[0] = x * y,
            (Err(info), _) | (_, Err(info)) => return Ok(info),
        }
        Ok(0)
    })?;
    results.check(&done.info, no_singular_values)?;
    let [values, _] = done.real;
    results.numbers(values)
}

/// How least squares are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(feature = "any"), allow(dead_code))]
pub(crate) enum Driver {
    Gels,
    Gelsy,
    Gelsd,
    Gelss,
}

/// Least squares: solution, residuals, rank and singular values; what the driver does not compute has no elements.
pub(crate) fn lstsq<E: Field, D: Device>(
    a: Of<'_, D, E>,
    b: Of<'_, D, E>,
    rcond: Option<f64>,
    driver: Driver,
) -> Result<[Part<D>; 4]> {
    let op = "linalg.lstsq";
    let (lead, matrix @ [m, n]) = parts_of(op, a.sizes)?;
    let is_vector =
        b.sizes.len() == 1 || (a.sizes.len() == b.sizes.len() + 1 && *b.sizes == a.sizes[..a.sizes.len() - 1]);
    if b.sizes.is_empty() {
        return invalid(
            op,
            "input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1".to_owned(),
        );
    }
    let (b_lead, rest) = b.sizes.split_at(b.sizes.len() - if is_vector { 1 } else { 2 });
    let (rows, columns) = (rest[0], rest.get(1).copied().unwrap_or(1));
    if rows != m {
        return invalid(op, format!("input.size(-2) should match other.size(-2): {m} and {rows}"));
    }
    let batch = common(op, lead, b_lead)?;
    let k = m.min(n);
    let results = Results::<D> { op, beside: a.buffer, batch: &batch };
    let (of, b) = (operand::<E, D>(a, &batch, 2)?, operand::<E, D>(b, &batch, if is_vector { 1 } else { 2 })?);
    let lens = Lens { own: [area(n, columns), 0, 0], real: [columns, k], ints: 1, ..Lens::default() };
    let done = run(&results, cost([m, n, k.saturating_mul(12)]), lens, &|at, slots| {
        let ([x, ..], [residuals, values]) = (slots.own, slots.real);
        // Both scaled: neither squares of residuals nor thresholds depend on the size of the numbers.
        let (of, b) = (Scaled::of(of.at(at))?, Scaled::of(b.at(at))?);
        let mut inverse = filled(E::zero_impl(), n * m)?;
        let bound = |most: f64| match (driver, rcond) {
            (Driver::Gels, _) => 0.0,
            (_, Some(rcond)) => rcond * most,
            _ => epsilon::<E>() * m.max(n) as f64 * most,
        };
        let (rank, s) = match pseudoinverse(&of, matrix, false, bound, &mut inverse)? {
            Ok(found) => found,
            Err(info) => return Ok(info),
        };
        values.copy_from_slice(&s);
        slots.ints[0] = rank as i32;
        let a = MatRef::from_column_major_slice(&of.elements, m, n);
        let rhs = MatRef::from_column_major_slice(&b.elements, m, columns);
        let inverse = MatRef::from_column_major_slice(&inverse, n, m);
        matmul(
            MatMut::from_column_major_slice_mut(&mut *x, n, columns),
            Accum::Replace,
            inverse,
            rhs,
            E::one_impl(),
            Par::Seq,
        );
        // Once more for what is left, which the pseudoinverse of an ill-conditioned matrix rounds away.
        let mut left = filled(E::zero_impl(), m * columns)?;
        for again in [true, false] {
            for (j, column) in left.chunks_exact_mut(m.max(1)).enumerate() {
                (0..m).for_each(|i| column[i] = rhs[(i, j)]);
            }
            let x_now = MatRef::from_column_major_slice(&*x, n, columns);
            matmul(
                MatMut::from_column_major_slice_mut(&mut left, m, columns),
                Accum::Add,
                a,
                x_now,
                -E::one_impl(),
                Par::Seq,
            );
            if again {
                let left = MatRef::from_column_major_slice(&left, m, columns);
                matmul(
                    MatMut::from_column_major_slice_mut(&mut *x, n, columns),
                    Accum::Add,
                    inverse,
                    left,
                    E::one_impl(),
                    Par::Seq,
                );
            }
        }
        for (residual, column) in residuals.iter_mut().zip(left.chunks_exact(m.max(1))) {
            *residual = column.iter().fold(E::real(0.0), |sum, x| sum + x.modulus() * x.modulus());
        }
        factor::scale(x, b.exponent - of.exponent);
        factor::scale(residuals, 2 * b.exponent);
        factor::scale(values, of.exponent);
        Ok(0)
    })?;
    results.check(&done.info, |info| factor::not_found(info, "the matrix contains NaN or infinite values"))?;
    let ([x, ..], [residuals, values], ranks) = (done.own, done.real, done.ints);
    let full = ranks.iter().all(|&rank| rank as usize == n);
    let solution = if is_vector { results.vectors(x, n)? } else { results.matrices(x, [n, columns])? };
    let residuals = if m > n && full && driver != Driver::Gelsy {
        if is_vector { results.vectors(residuals, 1)? } else { results.vectors(residuals, columns)? }
    } else {
        results.nothing::<E::Re>()?
    };
    let rank = if driver == Driver::Gels {
        results.nothing::<i64>()?
    } else {
        results.numbers(listed(ranks.into_iter().map(i64::from))?)?
    };
    let values = if matches!(driver, Driver::Gelsd | Driver::Gelss) {
        results.vectors(values, k)?
    } else {
        results.nothing::<E::Re>()?
    };
    Ok([solution, residuals, rank, values])
}
