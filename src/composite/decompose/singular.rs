//! Singular values.

use super::matrices::{area, cost};
#[cfg(feature = "grad")]
use crate::composite::Axis;
#[cfg(feature = "grad")]
use crate::composite::algebra::OP;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, Vectors, field::Field};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{Dim, Extent, Matrices, Smaller};
use crate::tensor::Tensor;
use castiron_macros::composites;
use core::marker::PhantomData;

pub(super) fn not_found(info: i32) -> String {
    factor::not_found(info, "The algorithm failed to converge because the input matrix contained non-finite values.")
}

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// `(U, S, Vh)` of `A = U diag(S) Vh`, singular values descending. Reduced factors of `(…, M, N)` are `(…, M, K)` and `(…, K, N)`, `K`
    /// being the smaller size; complete ones are `(…, M, M)` and `(…, N, N)`.
    ///
    /// # Errors
    /// If an element is not finite.
    #[op(linalg.svd(A, full_matrices = true, driver = _), dtypes = field)]
    #[typed(<X: Extent, K: Dim, Re: Element>(&self, extent: X) -> (
            Tensor<E, S::With<S::Rows, X::Of<S::Rows, K>>, D>,
            Tensor<Re, S::WithVectors<K>, D>,
            Tensor<E, S::With<X::Of<S::Columns, K>, S::Columns>, D>,
        )
        where
            E: Field<Re = Re>,
            S: Matrices<Rows: Smaller<S::Columns, Output = K>>;
        full_matrices = { let _ = extent; X::COMPLETE })]
    #[example(let x = tensor![[3.0, 0.0, 0.0], [0.0, 4.0, 0.0]]; x.svd(Complete), x.svd(true), (_, tensor![4.0, 3.0], _))]
    pub(crate) fn svd(&self, full_matrices: bool) -> Result<(Owned<E, D>, Owned<E::Re, D>, Owned<E, D>)> {
        let op = "linalg.svd";
        self.singular(op, if full_matrices { Vectors::Complete } else { Vectors::Reduced })
    }

    /// Singular values, descending: `(…, M, N)` gives `(…, K)`, `K` being the smaller size.
    ///
    /// # Errors
    /// If an element is not finite.
    #[op(linalg.svdvals(A, driver = _), dtypes = field)]
    #[typed(<K: Dim, Re: Element>(&self) -> Tensor<Re, S::WithVectors<K>, D>
        where
            E: Field<Re = Re>,
            S: Matrices<Rows: Smaller<S::Columns, Output = K>>)]
    #[example(let x = tensor![[3.0, 0.0], [0.0, 4.0]]; x.svdvals(), x.svdvals(), tensor![4.0, 3.0])]
    pub(crate) fn svdvals(&self) -> Result<Owned<E::Re, D>> {
        let op = "linalg.svdvals";
        // The derivative reads the vectors.
        let vectors = if D::is_tracked(self.storage()) { Vectors::Reduced } else { Vectors::None };
        Ok(self.singular(op, vectors)?.1)
    }

    /// Without vectors `U` and `Vh` are empty.
    fn singular(&self, op: &'static str, vectors: Vectors) -> Result<(Owned<E, D>, Owned<E::Re, D>, Owned<E, D>)> {
        self.split_matrices(op)?;
        D::primitive(&Singular::<E> { op, vectors, dtype: PhantomData }, (Erased::of(self.view()),))
    }
}

/// Singular values, and the vectors that are wanted.
#[derive(Clone)]
struct Singular<E> {
    op: &'static str,
    vectors: Vectors,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for Singular<E> {
    type Operands = (E,);
    type Results = (E, E::Re, E);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E, E::Re, E), D>> {
        let Singular { op, vectors, .. } = *self;
        let (batch, a, [m, n]) = x.as_matrices(op)?;
        let k = m.min(n);
        let [columns, rows] = match vectors {
            Vectors::None => [0, 0],
            Vectors::Reduced => [k, k],
            Vectors::Complete => [m, n],
        };
        let lens = Lens { own: [area(m, columns), area(rows, n), 0], real: [k, 0], ..Lens::default() };
        let done = batch.run(cost([m, n, k.saturating_mul(12)]), lens, |at, slots| {
            let ([u, vh, _], [s, _]) = (slots.own, slots.real);
            factor::svd(a.at(at), [m, n], vectors, u, s, vh)
        })?;
        batch.check(&done.info, not_found)?;
        let ([u, vh, _], [s, _]) = (done.own, done.real);
        Ok((batch.matrices(u, [m, columns])?, batch.vectors(s, k)?, batch.matrices(vh, [rows, n])?))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0b111];
    /// With `P = U^H g_U` and `Q = V^H g_V`, less their adjoints, and `E_ij = S_j^2 - S_i^2`, it is
    /// `U ((P S + S Q) / E + g_S + diag(P) / 2S) V^H`, and what lies beside the columns of `U` or the rows of `V^H` (`svd_backward`).
    /// Columns beyond the singular values have no gradient, as in PyTorch.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (u, s, vh) = (read(&back.y.0)?, read(&back.y.1)?, read(&back.y.2)?);
        let (rank, k) = (u.rank(), s.sizes()[s.rank() - 1]);
        let [columns, rows] = [Axis(rank - 1), Axis(rank - 2)];
        let (u, vh) = (u.narrow(OP, columns, 0, k)?, vh.narrow(OP, rows, 0, k)?);
        let (of_u, of_s, of_vh) = &back.g;
        let of_u = of_u.as_ref().map(|g| g.narrow(OP, columns, 0, k)).transpose()?;
        let of_vh = of_vh.as_ref().map(|g| g.narrow(OP, rows, 0, k)).transpose()?;
        let [m, n] = [u.sizes()[rank - 2], vh.sizes()[rank - 1]];
        if k == 0 {
            return Ok((None,));
        }
        let of_s = of_s.as_ref().map(|g| g.cast::<E>()?.as_diagonals()).transpose()?;
        if let (None, None, Some(of_s)) = (&of_u, &of_vh, &of_s) {
            return Ok((Some(u.product(of_s)?.product(&vh)?),));
        }
        let squares = s.times(s)?;
        let apart =
            squares.as_rows_of_one()?.minus(&squares.as_columns()?)?.plus(&s.identity_beside(k)?)?.cast::<E>()?;
        let s = s.cast::<E>()?;
        let (row, column) = (s.as_rows_of_one()?, s.as_columns()?);
        let mut inner = of_s;
        let mut add = |more: Owned<E, D>| -> Result<()> {
            inner = Some(match inner.take() {
                Some(inner) => inner.plus(&more)?,
                None => more,
            });
            Ok(())
        };
        if let Some(g) = &of_u {
            let p = u.adjoint_times(g)?;
            let p = p.minus(&p.adjoint()?)?;
            add(p.over(&apart)?.times(&row)?)?;
            if const { E::DTYPE.is_complex() } {
                add(p.main_diagonals()?.over(&s.scaled_by(2.0)?)?.as_diagonals()?)?;
            }
        }
        if let Some(g) = &of_vh {
            let q = vh.times_adjoint(g)?;
            let q = q.minus(&q.adjoint()?)?;
            add(q.over(&apart)?.times(&column)?)?;
        }
        let Some(inner) = inner else { return Ok((None,)) };
        let mut left = u.product(&inner)?;
        if let (Some(g), true) = (&of_u, m > k) {
            let g = g.over(&row)?;
            left = left.plus(&g.minus(&u.product(&u.adjoint_times(&g)?)?)?)?;
        }
        let mut a = left.product(&vh)?;
        if let (Some(g), true) = (&of_vh, n > k) {
            let g = g.over(&column)?;
            a = a.plus(&u.product(&g.minus(&g.times_adjoint(&vh)?.product(&vh)?)?)?)?;
        }
        Ok((Some(a),))
    }
}
