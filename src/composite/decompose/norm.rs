//! Operations by singular values: norms and condition numbers, ranks, pseudoinverses.

use super::matrices::{Batch, cost};
use super::singular::not_found;
#[cfg(feature = "grad")]
use crate::composite::Axis;
#[cfg(feature = "grad")]
use crate::composite::algebra::OP;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, Scaled, Vectors, field::Field};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, filled, invalid, listed};
#[cfg(feature = "grad")]
use crate::ops::kernel::{Casting, ChoosingLeft};
#[cfg(feature = "grad")]
use crate::ops::reduce::{Extreme, Sum, VectorNorm};
use crate::shape::{Matrices, Shape};
use crate::tensor::Tensor;
use castiron_macros::composites;
use core::marker::PhantomData;
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use num_traits::{Float, ToPrimitive};

/// The tolerance below which a singular value counts as 0: absolute and relative, one for all matrices or one for each.
#[derive(Clone, Copy, Default)]
pub(crate) struct Tolerance<'a> {
    pub(crate) atol: Option<&'a [f64]>,
    pub(crate) rtol: Option<&'a [f64]>,
}

impl<'a> Tolerance<'a> {
    /// That of the dtype.
    #[cfg(feature = "grad")]
    pub(super) const NONE: Self = Tolerance { atol: None, rtol: None };
    /// One tolerance for all matrices.
    fn new(atol: &'a Option<f64>, rtol: &'a Option<f64>) -> Self {
        Tolerance { atol: atol.as_ref().map(core::slice::from_ref), rtol: rtol.as_ref().map(core::slice::from_ref) }
    }
    fn of(&self, number: usize, largest: f64, default: f64) -> f64 {
        let at = |list: Option<&[f64]>| list.map(|list| if list.len() == 1 { list[0] } else { list[number] });
        let atol = at(self.atol).unwrap_or(0.0);
        let rtol = at(self.rtol).unwrap_or(if atol > 0.0 { 0.0 } else { default });
        atol.max(rtol * largest)
    }
    fn fits(&self, op: &'static str, lead: &[usize]) -> Result<()> {
        let count: usize = lead.iter().product();
        for list in [self.atol, self.rtol].into_iter().flatten() {
            if list.len() != 1 && list.len() != count {
                return invalid(op, format!("{} tolerances do not go with {count} matrices", list.len()));
            }
        }
        Ok(())
    }
}

/// A result, or `info` if the algorithm did not converge.
type Found<T> = core::result::Result<T, i32>;

fn float<E: Field>(x: E::Re) -> f64 {
    x.to_f64().unwrap_or(f64::NAN)
}

pub(super) fn epsilon<E: Field>() -> f64 {
    float::<E>(<E::Re as Float>::epsilon())
}

/// The absolute values of eigenvalues, or singular values; `info` if they did not converge.
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

/// Writes `V diag(1 / S) U^H` of a scaled matrix, without the small singular values; returns the number of those kept, and all values.
/// `bound` gives the threshold of small values for the largest value of the matrix before scaling. `info` if they did not converge.
pub(super) fn pseudoinverse<E: Field>(
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
    // Rows of `Vh`, divided, are columns of `V`.
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

/// The gradient that comes back to `A` from its pseudoinverse `Y`, given that of `Y` (`pinv_backward`).
#[cfg(feature = "grad")]
pub(super) fn inverse_pulled<E: Field, D: Device>(
    a: &Erased<'_, E, D>,
    y: &Erased<'_, E, D>,
    g: &Erased<'_, E, D>,
) -> Result<Owned<E, D>> {
    let (g, adjoint) = (g.adjoint()?, y.adjoint()?);
    let rank = a.rank();
    if a.sizes()[rank - 2] <= a.sizes()[rank - 1] {
        let k = g.product(y)?;
        let k_adjoint = k.product(&adjoint)?;
        let first = y.product(&k)?.adjoint()?;
        let third = a.product(y)?.product(&k_adjoint)?;
        let fourth = adjoint.product(y)?.product(&g.minus(&k.product(a)?)?)?;
        return k_adjoint.minus(&first)?.minus(&third)?.plus(&fourth);
    }
    let k = y.product(&g)?;
    let k_adjoint = adjoint.product(&k)?;
    let first = k.product(y)?.adjoint()?;
    let second = g.minus(&a.product(&k)?)?.product(y)?.product(&adjoint)?;
    let fourth = k_adjoint.product(y)?.product(a)?;
    second.minus(&first)?.plus(&k_adjoint)?.minus(&fourth)
}

/// A norm of matrices.
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
    /// The norm for PyTorch's numeric order.
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

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// The number of singular values above `max(atol, rtol * largest)`, where `rtol` is the machine epsilon times the larger size if
    /// neither is given: `(…, M, N)` gives `(…)`, `i64`. For `hermitian` matrices eigenvalues are used.
    ///
    /// # Errors
    /// If an element is not finite.
    #[op(linalg.matrix_rank, dtypes = field)]
    #[any(tolerance(atol: Option<f64>, rtol: Option<f64>) = Tolerance::new(&atol, &rtol))]
    #[typed(<Lead: Shape>(&self, rtol: Option<f64>, hermitian: bool) -> Tensor<i64, Lead, D>
        where
            E: Field,
            S: Matrices<Lead = Lead>;
        tolerance = Tolerance::new(&None, &rtol))]
    #[example(let x = tensor![[[1.0, 2.0], [2.0, 4.0]]]; x.matrix_rank(None, false), x.matrix_rank(None, None, false), tensor![1])]
    pub(crate) fn matrix_rank(&self, tolerance: Tolerance<'_>, hermitian: bool) -> Result<Owned<i64, D>> {
        let op = "linalg.matrix_rank";
        let (lead, matrix @ [m, n]) = self.split_spectral(op, hermitian)?;
        tolerance.fits(op, lead)?;
        let (batch, a) = (Batch::beside(op, self, lead), self.constant_matrices_of(lead)?);
        let lens = Lens { ints: 1, ..Lens::default() };
        let done = batch.run::<E>(cost([m, n, m.min(n).saturating_mul(4)]), lens, |at, slots| {
            let s = match magnitudes(a.at(at), matrix, hermitian)? {
                Ok(s) => s,
                Err(info) => return Ok(info),
            };
            let bound = tolerance.of(at, largest::<E>(&s), epsilon::<E>() * m.max(n) as f64);
            slots.ints[0] = s.iter().filter(|&&x| float::<E>(x) > bound).count() as i32;
            Ok(0)
        })?;
        batch.check(&done.info, not_found)?;
        batch.numbers(listed(done.ints.into_iter().map(i64::from))?)
    }

    /// The Moore-Penrose pseudoinverse, `(…, M, N)` to `(…, N, M)`. Singular values up to `max(atol, rtol * largest)` are left out, where
    /// `rtol` is the machine epsilon times the larger size if neither is given; for `hermitian` matrices eigenvalues are computed instead.
    ///
    /// # Errors
    /// If an element is not finite.
    #[op(linalg.pinv, dtypes = field)]
    #[any(tolerance(atol: Option<f64>, rtol: Option<f64>) = Tolerance::new(&atol, &rtol))]
    #[typed((&self, rtol: Option<f64>, hermitian: bool) -> Tensor<E, S::With<S::Columns, S::Rows>, D>
        where
            E: Field,
            S: Matrices;
        tolerance = Tolerance::new(&None, &rtol))]
    #[example(let x = tensor![[3.0, 4.0]]; x.pinv(None, false), x.pinv(None, None, false), ~ tensor![[0.12], [0.16]])]
    pub(crate) fn pinv(&self, tolerance: Tolerance<'_>, hermitian: bool) -> Result<Owned<E, D>> {
        let op = "linalg.pinv";
        let (lead, _) = self.split_spectral(op, hermitian)?;
        tolerance.fits(op, lead)?;
        let owned = |list: Option<&[f64]>| list.map(|list| listed(list.iter().copied())).transpose();
        let (atol, rtol) = (owned(tolerance.atol)?, owned(tolerance.rtol)?);
        let inverting = PseudoInverse::<E> { atol, rtol, hermitian, dtype: PhantomData };
        Ok(D::primitive(&inverting, (Erased::of(self.view()),))?.0)
    }

    /// Leading axes, rows and columns; Hermitian matrices must be square.
    fn split_spectral(&self, op: &'static str, hermitian: bool) -> Result<(&[usize], [usize; 2])> {
        if hermitian {
            self.split_squares(op)?;
        }
        self.split_matrices(op)
    }

    /// Condition numbers: the norm of a matrix times that of its inverse, of order 1, -1, 2, -2, infinity or minus infinity; infinite for
    /// singular matrices.
    ///
    /// # Errors
    /// If the order is another, matrices are not square (allowed for 2 and -2), or an element is not finite.
    #[op(linalg.cond, dtypes = field)]
    #[typed(<Re: Element, Lead: Shape>(&self, p: f64) -> Tensor<Re, Lead, D>
        where
            E: Field<Re = Re>,
            S: Matrices<Lead = Lead>)]
    #[example(let x = tensor![[2.0, 0.0], [0.0, 8.0]]; x.cond(2.0), x.cond(2.0), Tensor::scalar(4.0))]
    pub(crate) fn cond(&self, p: f64) -> Result<Owned<E::Re, D>> {
        let op = "linalg.cond";
        self.condition(Norm::of(op, p)?)
    }

    pub(crate) fn condition(&self, norm: Norm) -> Result<Owned<E::Re, D>> {
        let op = "linalg.cond";
        let by_values = matches!(norm, Norm::Two | Norm::MinusTwo);
        let (_, matrix) = self.split_spectral(op, !by_values)?;
        #[cfg(feature = "grad")]
        if D::is_tracked(self.storage()) && !matrix.contains(&0) {
            return self.recorded_condition(norm);
        }
        self.real_of_each(op, |a| {
            let [m, n] = matrix;
            if m == 0 || n == 0 {
                return Ok(Ok(E::real(0.0)));
            }
            if by_values {
                let s = magnitudes(&Scaled::of(a)?.elements, matrix, false)?;
                return Ok(s.map(|s| {
                    let (first, last) = (s[0], s[s.len() - 1]);
                    if norm == Norm::Two { first / last } else { last / first }
                }));
            }
            let mut inverse = filled(E::zero_impl(), n * n)?;
            if factor::inverse(a, n, &mut inverse)? != 0 {
                return Ok(Ok(<E::Re as Float>::infinity()));
            }
            Ok(match (norm.value(a, matrix)?, norm.value(&inverse, matrix)?) {
                (Ok(x), Ok(y)) => Ok(x * y),
                (Err(info), _) | (_, Err(info)) => Err(info),
            })
        })
    }

    /// The largest singular values, PyTorch's `ord=2`: `(…, M, N)` gives `(…)`.
    ///
    /// # Errors
    /// If an element is not finite.
    #[op(linalg.matrix_norm, dtypes = field)]
    #[any(by_hand)]
    #[typed(<Re: Element, Lead: Shape>(&self) -> Tensor<Re, Lead, D>
        where
            E: Field<Re = Re>,
            S: Matrices<Lead = Lead>)]
    #[example(let x = tensor![[3.0, 0.0], [0.0, 4.0]]; x.spectral_norm(), _, Tensor::scalar(4.0))]
    pub(crate) fn spectral_norm(&self) -> Result<Owned<E::Re, D>> {
        let op = "linalg.matrix_norm";
        self.norm_of_matrices(op, Norm::Two)
    }

    /// The sums of singular values, PyTorch's `ord="nuc"`: `(…, M, N)` gives `(…)`.
    ///
    /// # Errors
    /// If an element is not finite.
    #[op(linalg.matrix_norm, dtypes = field)]
    #[any(by_hand)]
    #[typed(<Re: Element, Lead: Shape>(&self) -> Tensor<Re, Lead, D>
        where
            E: Field<Re = Re>,
            S: Matrices<Lead = Lead>)]
    #[example(let x = tensor![[3.0, 0.0], [0.0, 4.0]]; x.nuclear_norm(), _, Tensor::scalar(7.0))]
    pub(crate) fn nuclear_norm(&self) -> Result<Owned<E::Re, D>> {
        let op = "linalg.matrix_norm";
        self.norm_of_matrices(op, Norm::Nuclear)
    }

    pub(crate) fn norm_of_matrices(&self, op: &'static str, norm: Norm) -> Result<Owned<E::Re, D>> {
        let (lead, matrix @ [m, n]) = self.split_matrices(op)?;
        if m.min(n) == 0 && norm == Norm::MinusTwo && !lead.contains(&0) {
            return invalid(op, format!("the smallest singular value of a {m} by {n} matrix: there is none"));
        }
        #[cfg(feature = "grad")]
        if D::is_tracked(self.storage()) && m.min(n) > 0 {
            return self.recorded_norm(norm);
        }
        self.real_of_each(op, |a| norm.value(a, matrix))
    }

    /// A number for each matrix.
    fn real_of_each(
        &self,
        op: &'static str,
        value: impl Fn(&[E]) -> Result<Found<E::Re>> + Sync,
    ) -> Result<Owned<E::Re, D>> {
        let (batch, a, [m, n]) = self.as_matrices(op)?;
        let lens = Lens { real: [1, 0], ..Lens::default() };
        let done = batch.run::<E>(cost([m, n, m.min(n).saturating_mul(4)]), lens, |at, slots| {
            Ok(match value(a.at(at))? {
                Ok(value) => {
                    slots.real[0][0] = value;
                    0
                }
                Err(info) => info,
            })
        })?;
        batch.check(&done.info, not_found)?;
        let [numbers, _] = done.real;
        batch.numbers(numbers)
    }
}

/// Pseudoinverses.
#[derive(Clone)]
struct PseudoInverse<E> {
    atol: Option<Vec<f64>>,
    rtol: Option<Vec<f64>>,
    hermitian: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for PseudoInverse<E> {
    type Operands = (E,);
    type Results = (E,);
    fn op(&self) -> &'static str {
        "linalg.pinv"
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E,), D>> {
        let (op, hermitian) = (self.op(), self.hermitian);
        let tolerance = Tolerance { atol: self.atol.as_deref(), rtol: self.rtol.as_deref() };
        let (lead, matrix @ [m, n]) = x.split_matrices(op)?;
        let (batch, a) = (Batch::beside(op, &x, lead), x.matrices_of(op, lead)?);
        let (to, info) = batch.each(cost([m, n, m.min(n).saturating_mul(12)]), matrix, |at, to| {
            let bound = |most| tolerance.of(at, most, epsilon::<E>() * m.max(n) as f64);
            let a = Scaled::of(a.at(at))?;
            let info = pseudoinverse(&a, matrix, hermitian, bound, to)?.err().unwrap_or(0);
            factor::scale(to, -a.exponent);
            Ok(info)
        })?;
        batch.check(&info, not_found)?;
        Ok((batch.matrices(to, [n, m])?,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [1, 1];
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g),) = &back.g else { return Ok((None,)) };
        let (a, y) = (read(&back.x.0)?, read(&back.y.0)?);
        Ok((Some(inverse_pulled(a, y, g)?),))
    }
}

/// Norms that a tape sees composed of singular values and sums.
#[cfg(feature = "grad")]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// Of matrices that are not empty.
    fn recorded_norm(&self, norm: Norm) -> Result<Owned<E::Re, D>> {
        let rank = self.rank();
        let (columns, rows) = (1_u32 << (rank - 1), 1_u32 << (rank - 2));
        let extreme = |x: &Erased<'_, E::Re, D>, mask: u32, largest: bool| -> Result<Owned<E::Re, D>> {
            if largest {
                return Ok(x.reduce(Extreme::<E::Re, true>::new(), mask, false)?.retyped());
            }
            Ok(x.reduce(Extreme::<E::Re, false>::new(), mask, false)?.retyped())
        };
        match norm {
            Norm::Two | Norm::MinusTwo => extreme(&self.svdvals()?, rows, norm == Norm::Two),
            Norm::Nuclear => Ok(self.svdvals()?.reduce(Sum, rows, false)?.retyped()),
            Norm::Frobenius => Ok(self.reduce(VectorNorm::new(2.0), columns | rows, false)?.retyped()),
            Norm::Sums { columns: of_columns, largest } => {
                let mask = if of_columns { rows } else { columns };
                let sums = self.reduce(VectorNorm::new(1.0), mask, false)?.retyped::<E::Re>();
                extreme(&sums, rows, largest)
            }
        }
    }
    fn recorded_condition(&self, norm: Norm) -> Result<Owned<E::Re, D>> {
        if let Norm::Two | Norm::MinusTwo = norm {
            let s = self.svdvals()?;
            let axis = s.rank() - 1;
            let at = |at: usize| s.narrow(OP, Axis(axis), at, 1)?.without_axis(axis).map(|one| one.share());
            let (first, last) = (at(0)?, at(s.sizes()[axis] - 1)?);
            return if norm == Norm::Two { first.over(&last) } else { last.over(&first) };
        }
        let (inverse, info) = self.inv_ex(false)?;
        let product = self.recorded_norm(norm)?.times(&inverse.recorded_norm(norm)?)?;
        // That of a singular matrix is infinite.
        let is_singular = info.map1::<bool>(OP, Casting)?;
        is_singular.map2::<E::Re, E::Re>(OP, ChoosingLeft(E::real(f64::INFINITY)), &product)
    }
}
