//! Singular values.

use super::matrices::{area, cost};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, Vectors, field::Field};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{Dim, Extent, Matrices, Smaller};
use crate::tensor::Tensor;
use castiron_macros::composites;

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
        Ok(self.singular(op, Vectors::None)?.1)
    }

    /// Without vectors `U` and `Vh` are empty.
    fn singular(&self, op: &'static str, vectors: Vectors) -> Result<(Owned<E, D>, Owned<E::Re, D>, Owned<E, D>)> {
        let (batch, a, [m, n]) = self.as_matrices(op)?;
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
}
