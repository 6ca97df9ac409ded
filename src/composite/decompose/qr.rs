//! QR factors, and products of Householder reflections.

use super::matrices::{Batch, area, cost};
#[cfg(feature = "grad")]
use crate::composite::Axis;
#[cfg(feature = "grad")]
use crate::composite::algebra::OP;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, Applied, field::Field};
use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::error::{Result, filled, invalid};
use crate::ops::admit::SameDtypeFor;
use crate::ops::decompose as ops;
use crate::shape::{Dim, Extent, FactorsOf, Matrices, NoMoreThanRows, ReflectedFromLeft, ReflectedFromRight, Smaller};
use crate::tensor::{Tensor, TensorOperand};
use castiron_macros::composites;
use core::marker::PhantomData;

/// The parts of `Q` and `R` that are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(feature = "any"), allow(dead_code))]
pub(crate) enum Kept {
    Reduced,
    Complete,
    /// `R` only; `Q` is an empty tensor.
    R,
}
#[cfg(feature = "any")]
impl Kept {
    fn named(mode: &str) -> Result<Self> {
        match mode {
            "reduced" => Ok(Kept::Reduced),
            "complete" => Ok(Kept::Complete),
            "r" => Ok(Kept::R),
            other => invalid(
                "linalg.qr",
                format!(
                    "qr received unrecognized mode '{other}' but expected one of 'reduced' (default), 'r', or 'complete'"
                ),
            ),
        }
    }
}

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// `(Q, R)` of `A = Q R`, with LAPACK's signs. Reduced factors of `(…, M, N)` are `(…, M, K)` and `(…, K, N)`, `K` being the smaller
    /// size; complete ones are `(…, M, M)` and `(…, M, N)`.
    ///
    /// # Errors
    /// If there are fewer than two axes.
    #[op(linalg.qr(A, mode = "reduced"), dtypes = field)]
    #[any(mode: &str = Kept::named(mode)?)]
    #[typed(<X: Extent, K: Dim>(&self, extent: X) -> (Tensor<E, S::With<S::Rows, X::Of<S::Rows, K>>, D>, Tensor<E, S::With<X::Of<S::Rows, K>, S::Columns>, D>)
        where
            E: Field,
            S: Matrices<Rows: Smaller<S::Columns, Output = K>>;
        mode = { let _ = extent; if X::COMPLETE { Kept::Complete } else { Kept::Reduced } })]
    #[example(let x = tensor![[3.0], [4.0]]; x.qr(Reduced), x.qr("reduced"), (~ tensor![[-0.6], [-0.8]], tensor![[-5.0]]))]
    pub(crate) fn qr(&self, mode: Kept) -> Result<(Owned<E, D>, Owned<E, D>)> {
        let op = "linalg.qr";
        self.split_matrices(op)?;
        D::primitive(&Factoring::<E> { mode, dtype: PhantomData }, (Erased::of(self.view()),))
    }

    /// QR in one matrix: `R`, and below it the Householder vectors whose reflections multiply to `Q`; and their factors.
    ///
    /// # Errors
    /// If there are fewer than two axes.
    #[op(geqrf(input), dtypes = field)]
    #[typed(<K: Dim>(&self) -> (Self, Tensor<E, S::WithVectors<K>, D>)
        where
            E: Field,
            S: Matrices<Rows: Smaller<S::Columns, Output = K>>)]
    #[example(let x = tensor![[3.0], [4.0]]; x.geqrf(), x.geqrf(), (tensor![[-5.0], [0.5]], tensor![1.6]))]
    pub(crate) fn geqrf(&self) -> Result<(Owned<E, D>, Owned<E, D>)> {
        let op = "geqrf";
        let (batch, a, [m, n]) = self.as_matrices(op)?;
        let k = m.min(n);
        let lens = Lens { own: [area(m, n), k, 0], ..Lens::default() };
        let done = batch.run(cost([m, n, k]), lens, |at, slots| {
            let [qr, tau, _] = slots.own;
            qr.copy_from_slice(a.at(at));
            factor::qr(qr, m, n, tau).map(|()| 0)
        })?;
        let [qr, tau, _] = done.own;
        Ok((batch.matrices(qr, [m, n])?, batch.vectors(tau, k)?))
    }

    /// The first columns of the product of reflections from [`geqrf`](Self::geqrf).
    ///
    /// # Errors
    /// If there are more reflections than columns, or more columns than rows.
    #[op(linalg.householder_product(A, tau), dtypes = field, aliases("orgqr"))]
    #[typed(<K: TensorOperand>(&self, tau: K) -> Self
        where
            E: Field + SameDtypeFor<K::Elem, ops::householder_product>,
            S: Matrices<Columns: NoMoreThanRows<S::Rows, ops::householder_product>>,
            K::Shape: FactorsOf<S, ops::householder_product>,
            D: Receives<K::Place, Dimensioned>)]
    #[example(let qr = tensor![[-5.0], [0.5]]; let tau = tensor![1.6]; qr.householder_product(&tau), qr.householder_product(&tau), ~ tensor![[-0.6], [-0.8]])]
    pub(crate) fn householder_product(&self, tau: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let op = "linalg.householder_product";
        let (lead, [m, n]) = self.split_matrices(op)?;
        let k = match tau.sizes().split_last() {
            Some((&k, of)) if of == lead && k <= n && n <= m => k,
            _ => {
                let (a, tau) = (self.sizes(), tau.sizes());
                return invalid(
                    op,
                    format!(
                        "the reflections of shape {tau:?} do not go with a tensor of shape {a:?}: there are at most as many as columns, and no more columns than rows"
                    ),
                );
            }
        };
        #[cfg(feature = "grad")]
        if D::is_tracked(self.storage()) || D::is_tracked(tau.storage()) {
            let eye = self.identity_beside(m)?;
            let columns = eye.narrow(op, Axis(1), 0, n)?;
            return self.reflected(tau, &columns.expand(op, self.sizes())?, true);
        }
        let (batch, a, tau) = (Batch::beside(op, self, lead), self.matrices_of(op, lead)?, tau.vectors_of(op, lead)?);
        let (q, _) = batch
            .each(cost([m, n, k]), [m, n], |at, q| factor::columns_of_q(a.at(at), m, tau.at(at), q, n).map(|()| 0))?;
        batch.matrices(q, [m, n])
    }

    /// The product of reflections from [`geqrf`](Self::geqrf), or its adjoint, applied to matrices.
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(ormqr(input, tau, other, left = true, transpose = false), dtypes = field)]
    #[typed(<K: TensorOperand, R: TensorOperand>(&self, tau: K, other: R, adjoint: bool) -> Tensor<E, R::Shape, D>
        where
            E: Field + SameDtypeFor<K::Elem, ops::ormqr> + SameDtypeFor<R::Elem, ops::ormqr>,
            S: Matrices,
            K::Shape: FactorsOf<S, ops::ormqr>,
            R::Shape: Matrices + ReflectedFromLeft<S>,
            D: Receives<K::Place, Dimensioned> + Receives<R::Place, Dimensioned>;
        left = true)]
    #[example(let qr = tensor![[-5.0], [0.5]]; let tau = tensor![1.6]; let x = tensor![[-0.6], [-0.8]]; qr.ormqr(&tau, &x, false), qr.ormqr(&tau, &x, true, false), ~ tensor![[1.0], [0.0]])]
    pub(crate) fn ormqr(
        &self,
        tau: &Erased<'_, E, D>,
        other: &Erased<'_, E, D>,
        left: bool,
        adjoint: bool,
    ) -> Result<Owned<E, D>> {
        let op = "ormqr";
        let ((lead, [m, columns]), (other_lead, [rows, others])) =
            (self.split_matrices(op)?, other.split_matrices(op)?);
        let fits = tau.sizes().split_last().is_some_and(|(&k, of)| of == lead && k <= columns.min(m));
        if !fits || lead != other_lead || (if left { rows } else { others }) != m {
            let (a, tau, other) = (self.sizes(), tau.sizes(), other.sizes());
            return invalid(op, format!("shapes {a:?}, {tau:?} and {other:?} do not go together"));
        }
        #[cfg(feature = "grad")]
        if D::is_tracked(self.storage()) || D::is_tracked(tau.storage()) || D::is_tracked(other.storage()) {
            // `C Q` is the adjoint of `Q^H C^H`.
            return if left {
                self.reflected(tau, other, !adjoint)
            } else {
                self.reflected(tau, &other.adjoint()?, adjoint)?.adjoint()
            };
        }
        let batch = Batch::beside(op, other, lead);
        let (a, tau, other) = (self.matrices_of(op, lead)?, tau.vectors_of(op, lead)?, other.matrices_of(op, lead)?);
        let (to, _) = batch.each(cost([rows, others, columns]), [rows, others], |at, to| {
            to.copy_from_slice(other.at(at));
            factor::apply(a.at(at), m, tau.at(at), to, [rows, others], Applied { left, adjoint }).map(|()| 0)
        })?;
        batch.matrices(to, [rows, others])
    }

    /// [`ormqr`](Self::ormqr) from the right, PyTorch's `left=False`: the matrices times the product of reflections.
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(ormqr, dtypes = field)]
    #[any(by_hand)]
    #[typed(<K: TensorOperand, R: TensorOperand>(&self, tau: K, other: R, adjoint: bool) -> Tensor<E, R::Shape, D>
        where
            E: Field + SameDtypeFor<K::Elem, ops::ormqr> + SameDtypeFor<R::Elem, ops::ormqr>,
            S: Matrices,
            K::Shape: FactorsOf<S, ops::ormqr>,
            R::Shape: Matrices + ReflectedFromRight<S>,
            D: Receives<K::Place, Dimensioned> + Receives<R::Place, Dimensioned>)]
    #[example(let qr = tensor![[-5.0], [0.5]]; let tau = tensor![1.6]; let x = tensor![[-0.6, -0.8]]; qr.rormqr(&tau, &x, false), _, ~ tensor![[1.0, 0.0]])]
    pub(crate) fn rormqr(
        &self,
        tau: &Erased<'_, E, D>,
        other: &Erased<'_, E, D>,
        adjoint: bool,
    ) -> Result<Owned<E, D>> {
        self.ormqr(tau, other, false, adjoint)
    }
}

/// Reflections that a tape sees one after the other.
#[cfg(feature = "grad")]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// The product of reflections `I - tau v v^H` with matrices, or of their adjoints: from the last one on if `backwards`.
    fn reflected(&self, tau: &Erased<'_, E, D>, x: &Erased<'_, E, D>, backwards: bool) -> Result<Owned<E, D>> {
        let (rank, count) = (self.rank(), tau.sizes()[tau.rank() - 1]);
        let m = self.sizes()[rank - 2];
        let below = self.tril(-1)?;
        let eye = self.identity_beside(m)?;
        let mut x = x.share();
        for at in 0..count {
            let at = if backwards { count - 1 - at } else { at };
            let v = below.narrow(OP, Axis(rank - 1), at, 1)?.plus(&eye.narrow(OP, Axis(1), at, 1)?)?;
            let one = tau.narrow(OP, Axis(rank - 2), at, 1)?;
            let one = if backwards { one } else { one.conjugated()?.share() };
            let along = v.times(&one.as_columns()?)?.product(&v.adjoint_times(&x)?)?;
            x = x.minus(&along)?;
        }
        Ok(x)
    }
}

/// Orthogonal and triangular factors.
#[derive(Clone)]
struct Factoring<E> {
    mode: Kept,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for Factoring<E> {
    type Operands = (E,);
    type Results = (E, E);
    fn op(&self) -> &'static str {
        "linalg.qr"
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E, E), D>> {
        let (op, mode) = (self.op(), self.mode);
        let (batch, a, [m, n]) = x.as_matrices(op)?;
        let k = m.min(n);
        let rows = if mode == Kept::Complete { m } else { k };
        let q_len = if mode == Kept::R { 0 } else { area(m, rows) };
        let lens = Lens { own: [q_len, area(rows, n), 0], ..Lens::default() };
        let done = batch.run(cost([m, n, k]), lens, |at, slots| {
            let ([q, r, _], mut a) = (slots.own, factor::copied(a.at(at))?);
            let mut tau = filled(E::zero_impl(), k)?;
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
        let q = if mode == Kept::R { batch.nothing()? } else { batch.matrices(q, [m, rows])? };
        Ok((q, batch.matrices(r, [rows, n])?))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0b11];
    /// `(g_Q + Q H) R^-H`, where `H` is the upper triangle of `g_R R^H - Q^H g_Q`, made Hermitian. Columns beyond the rows are `Q R_2`.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let rank = back.sizes[0].len();
        let [m, n] = [back.sizes[0][rank - 2], back.sizes[0][rank - 1]];
        if self.mode == Kept::R {
            let reason = "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, mode='reduced')";
            return invalid(self.op(), reason.to_owned());
        }
        if self.mode == Kept::Complete && m > n {
            let reason = "The QR decomposition is not differentiable when mode='complete' and nrows > ncols";
            return invalid(self.op(), reason.to_owned());
        }
        let (q, r) = (read(&back.y.0)?, read(&back.y.1)?);
        let (of_q, of_r) = (&back.g.0, &back.g.1);
        let mut of_q = of_q.as_ref().map(|g| g.share());
        let k = m.min(n);
        let columns = Axis(rank - 1);
        let r1 = r.narrow(OP, columns, 0, k)?;
        let mut beside = None;
        if let (Some(g), true) = (of_r, n > k) {
            let (r2, g2) = (r.narrow(OP, columns, k, n - k)?, g.narrow(OP, columns, k, n - k)?);
            beside = Some(q.product(&g2)?);
            let more = q.product(&r2)?.times_adjoint(&g2)?;
            of_q = Some(match of_q {
                Some(g) => g.plus(&more)?,
                None => more,
            });
        }
        let inner = match (of_r, &of_q) {
            (Some(of_r), Some(of_q)) => {
                let of_r = of_r.narrow(OP, columns, 0, k)?;
                of_r.times_adjoint(&r1)?.minus(&q.adjoint_times(of_q)?)?
            }
            (Some(of_r), None) => of_r.narrow(OP, columns, 0, k)?.times_adjoint(&r1)?,
            (None, Some(of_q)) => q.adjoint_times(of_q)?.negated()?,
            (None, None) => return Ok((None,)),
        };
        let mut sum = q.product(&inner.triu(0)?.with_adjoint(true)?)?;
        if let Some(of_q) = of_q {
            sum = sum.plus(&of_q)?;
        }
        let mut of_a = r1.adjoint()?.solve_triangular(&sum, false, false, false)?;
        if n > k {
            of_a = match beside {
                Some(beside) => of_a.followed_by(&beside, rank - 1)?,
                None => of_a.fitted(rank - 1, n)?,
            };
        }
        Ok((Some(of_a),))
    }
}
