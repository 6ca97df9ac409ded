//! LU factors, and solvers by them.

use super::matrices::{Batch, area, common, cost};
#[cfg(feature = "grad")]
use crate::composite::Axis;
#[cfg(feature = "grad")]
use crate::composite::algebra::OP;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::batch::Lens;
use crate::cpu::factor::{self, field::Field};
use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::error::{Result, invalid};
use crate::ops::admit::SameDtypeFor;
use crate::ops::decompose as ops;
use crate::shape::{Dim, Matrices, PivotsOf, Shape, Smaller, Solutions, SquareFor};
use crate::tensor::{Tensor, TensorOperand};
use castiron_macros::composites;
use core::marker::PhantomData;

/// Factors in one matrix, pivots, and `info`.
pub(super) type Factored<E, D> = (Owned<E, D>, Owned<i32, D>, Owned<i32, D>);

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// `(P, L, U)` of `A = P L U`: for `(…, M, N)` they are `(…, M, M)`, `(…, M, K)` and `(…, K, N)`, `K` being the smaller size.
    ///
    /// # Errors
    /// If there are fewer than two axes.
    #[op(linalg.lu(A, pivot = true), dtypes = field)]
    #[typed(<K: Dim>(&self) -> (
            Tensor<E, S::With<S::Rows, S::Rows>, D>,
            Tensor<E, S::With<S::Rows, K>, D>,
            Tensor<E, S::With<K, S::Columns>, D>,
        )
        where
            E: Field,
            S: Matrices<Rows: Smaller<S::Columns, Output = K>>;
        pivot = true)]
    #[example(let x = tensor![[1.0, 2.0], [4.0, 4.0]]; x.lu(), x.lu(true), (tensor![[0.0, 1.0], [1.0, 0.0]], _, tensor![[4.0, 4.0], [0.0, 1.0]]))]
    pub(crate) fn lu(&self, pivot: bool) -> Result<(Owned<E, D>, Owned<E, D>, Owned<E, D>)> {
        let op = "linalg.lu";
        let (lu, pivots, _) = self.factored_by_lu(op, pivot, false)?;
        lu.unpacked(op, &pivots)
    }

    /// `L` and `U` in one matrix, and the pivots: exchanged rows, counted from 1.
    ///
    /// # Errors
    /// If a matrix is singular.
    #[op(linalg.lu_factor(A, pivot = true), dtypes = field)]
    #[typed(<K: Dim>(&self) -> (Self, Tensor<i32, S::WithVectors<K>, D>)
        where
            E: Field,
            S: Matrices<Rows: Smaller<S::Columns, Output = K>>;
        pivot = true)]
    #[example(let x = tensor![[1.0, 2.0], [4.0, 4.0]]; x.lu_factor(), x.lu_factor(true), (tensor![[4.0, 4.0], [0.25, 1.0]], tensor![2, 2; i32]))]
    pub(crate) fn lu_factor(&self, pivot: bool) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        let op = "linalg.lu_factor";
        let (lu, pivots, _) = self.factored_by_lu(op, pivot, true)?;
        Ok((lu, pivots))
    }

    /// [`lu_factor`](Self::lu_factor), and for each matrix the position of the first zero on the diagonal of `U`, counted from 1, or 0.
    ///
    /// # Errors
    /// If there are fewer than two axes.
    #[op(linalg.lu_factor_ex(A, pivot = true, check_errors = false), dtypes = field)]
    #[typed(<K: Dim, Lead: Shape>(&self) -> (Self, Tensor<i32, S::WithVectors<K>, D>, Tensor<i32, Lead, D>)
        where
            E: Field,
            S: Matrices<Lead = Lead, Rows: Smaller<S::Columns, Output = K>>;
        pivot = true, check_errors = false)]
    #[example(let x = tensor![[[1.0, 1.0], [1.0, 1.0]]]; x.lu_factor_ex(), x.lu_factor_ex(true, false), (_, _, tensor![2; i32]))]
    pub(crate) fn lu_factor_ex(
        &self,
        pivot: bool,
        check_errors: bool,
    ) -> Result<(Owned<E, D>, Owned<i32, D>, Owned<i32, D>)> {
        let op = "linalg.lu_factor_ex";
        self.factored_by_lu(op, pivot, check_errors)
    }

    fn factored_by_lu(&self, op: &'static str, pivot: bool, check: bool) -> Result<Factored<E, D>> {
        if !pivot {
            // PyTorch implements it on GPUs only.
            return invalid(op, "LU without pivoting is not implemented on the CPU".to_owned());
        }
        self.split_matrices(op)?;
        D::primitive(&Factoring::<E> { op, check, dtype: PhantomData }, (Erased::of(self.view()),))
    }

    /// `(P, L, U)` from the result of [`lu_factor`](Self::lu_factor).
    ///
    /// # Errors
    /// If pivots are out of range, or sizes do not match.
    #[op(lu_unpack(LU_data, LU_pivots, unpack_data = true, unpack_pivots = true), dtypes = field)]
    #[typed(<P: TensorOperand, K: Dim>(&self, pivots: P) -> (
            Tensor<E, S::With<S::Rows, S::Rows>, D>,
            Tensor<E, S::With<S::Rows, K>, D>,
            Tensor<E, S::With<K, S::Columns>, D>,
        )
        where
            E: Field,
            i32: SameDtypeFor<P::Elem, ops::lu_unpack>,
            S: Matrices<Rows: Smaller<S::Columns, Output = K>>,
            P::Shape: PivotsOf<S, K, ops::lu_unpack>,
            D: Receives<P::Place, Dimensioned>;
        unpack_data = true, unpack_pivots = true)]
    #[example(let lu = tensor![[4.0, 4.0], [0.25, 1.0]]; let pivots = tensor![2, 2; i32]; lu.lu_unpack(&pivots), lu.lu_unpack(&pivots, true, true), (_, tensor![[1.0, 0.0], [0.25, 1.0]], _))]
    pub(crate) fn lu_unpack(
        &self,
        pivots: &Erased<'_, i32, D>,
        unpack_data: bool,
        unpack_pivots: bool,
    ) -> Result<(Owned<E, D>, Owned<E, D>, Owned<E, D>)> {
        let op = "lu_unpack";
        let ((p, l, u), none) = (self.unpacked(op, pivots)?, Batch::beside(op, self, &[]));
        // Results that are not requested are empty.
        Ok((
            if unpack_pivots { p } else { none.nothing()? },
            if unpack_data { l } else { none.nothing()? },
            if unpack_data { u } else { none.nothing()? },
        ))
    }

    fn unpacked(
        &self,
        op: &'static str,
        pivots: &Erased<'_, i32, D>,
    ) -> Result<(Owned<E, D>, Owned<E, D>, Owned<E, D>)> {
        let (lead, [m, n]) = self.split_matrices(op)?;
        expect_pivots(op, pivots.sizes(), &[lead, &[m.min(n)]].concat())?;
        let operands = (Erased::of(self.view()), Erased::of(pivots.view()));
        D::primitive(&Unpacking::<E> { op, dtype: PhantomData }, operands)
    }

    /// Solutions of `A X = B` by the factors of [`lu_factor`](Self::lu_factor), or with the adjoint of `A`.
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(linalg.lu_solve(LU, pivots, B, left = true, adjoint = false), dtypes = field)]
    #[typed(<P: TensorOperand, R: TensorOperand, T: Shape>(&self, pivots: P, b: R, adjoint: bool) -> Tensor<E, T, D>
        where
            E: Field + SameDtypeFor<R::Elem, ops::lu_solve>,
            i32: SameDtypeFor<P::Elem, ops::lu_solve>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::lu_solve>> + Solutions<R::Shape, ops::lu_solve, Output = T>,
            P::Shape: PivotsOf<S, <S::Rows as Smaller<S::Columns>>::Output, ops::lu_solve>,
            R::Shape: Matrices,
            D: Receives<P::Place, Dimensioned> + Receives<R::Place, Dimensioned>;
        left = true)]
    #[example(let lu = tensor![[2.0, 0.0], [0.0, 4.0]]; let pivots = tensor![1, 2; i32]; let b = tensor![[2.0], [2.0]]; lu.lu_solve(&pivots, &b, false), lu.lu_solve(&pivots, &b, true, false), tensor![[1.0], [0.5]])]
    pub(crate) fn lu_solve(
        &self,
        pivots: &Erased<'_, i32, D>,
        b: &Erased<'_, E, D>,
        left: bool,
        adjoint: bool,
    ) -> Result<Owned<E, D>> {
        let op = "linalg.lu_solve";
        let ((lead, n), (b_lead, [rows, columns])) = (self.split_squares(op)?, b.split_matrices(op)?);
        expect_pivots(op, pivots.sizes(), &[lead, &[n]].concat())?;
        if (if left { rows } else { columns }) != n {
            return invalid(op, format!("Incompatible shapes of A and B: {n}x{n} and {rows}x{columns}"));
        }
        common(op, lead, b_lead)?;
        let operands = (Erased::of(self.view()), Erased::of(pivots.view()), Erased::of(b.view()));
        Ok(D::primitive(&SolvingByFactors::<E> { left, adjoint, dtype: PhantomData }, operands)?.0)
    }
}

fn expect_pivots(op: &'static str, pivots: &[usize], wanted: &[usize]) -> Result<()> {
    if pivots == wanted {
        return Ok(());
    }
    invalid(op, format!("pivots of shape {wanted:?} are wanted, got {pivots:?}"))
}

/// Packed factors, pivots, and `info`.
#[derive(Clone)]
struct Factoring<E> {
    op: &'static str,
    check: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for Factoring<E> {
    type Operands = (E,);
    type Results = (E, i32, i32);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E, i32, i32), D>> {
        let Factoring { op, check, .. } = *self;
        let (batch, a, [m, n]) = x.as_matrices(op)?;
        let k = m.min(n);
        let lens = Lens { own: [area(m, n), 0, 0], ints: k, ..Lens::default() };
        let done = batch.run(cost([m, n, k]), lens, |at, slots| {
            let [lu, ..] = slots.own;
            lu.copy_from_slice(a.at(at));
            factor::lu(lu, m, n, slots.ints);
            Ok(factor::info(lu, m, n))
        })?;
        if check {
            batch.check(&done.info, |at| format!("U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"))?;
        }
        let [lu, ..] = done.own;
        Ok((batch.matrices(lu, [m, n])?, batch.vectors(done.ints, k)?, batch.numbers(done.info)?))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0b11];
    /// Of `P^T A = L U`, where both have as many rows as columns, `g = L^-H (tril(L^H g_L, -1) + triu(g_U U^H)) U^-H`. What lies beside
    /// these is `L U_2` or `L_2 U`, from which gradients of `L` or `U` come back, too.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g), ..) = &back.g else { return Ok((None,)) };
        let (packed, pivots) = (read(&back.y.0)?, read(&back.y.1)?);
        let (p, l, u) = packed.unpacked(OP, pivots)?;
        let rank = packed.rank();
        let [m, n] = [packed.sizes()[rank - 2], packed.sizes()[rank - 1]];
        let k = m.min(n);
        let [rows, columns] = [Axis(rank - 2), Axis(rank - 1)];
        let of_l = g.narrow(OP, columns, 0, k)?.tril(-1)?;
        let of_u = g.narrow(OP, rows, 0, k)?.triu(0)?;
        let (l1, of_l1) = (l.narrow(OP, rows, 0, k)?, of_l.narrow(OP, rows, 0, k)?);
        let (u1, of_u1) = (u.narrow(OP, columns, 0, k)?, of_u.narrow(OP, columns, 0, k)?);
        let mut lower = l1.adjoint_times(&of_l1)?;
        let mut upper = of_u1.times_adjoint(&u1)?;
        let (u1, l1) = (u1.adjoint()?, l1.adjoint()?);
        let mut beside = None;
        if n > k {
            let (u2, of_u2) = (u.narrow(OP, columns, k, n - k)?, of_u.narrow(OP, columns, k, n - k)?);
            lower = lower.minus(&of_u2.times_adjoint(&u2)?)?;
            beside = Some(l1.solve_triangular(&of_u2, true, true, true)?);
        } else if m > k {
            let (l2, of_l2) = (l.narrow(OP, rows, k, m - k)?, of_l.narrow(OP, rows, k, m - k)?);
            upper = upper.minus(&l2.adjoint_times(&of_l2)?)?;
            beside = Some(u1.solve_triangular(&of_l2, false, false, false)?);
        }
        let inner = lower.tril(-1)?.plus(&upper.triu(0)?)?;
        let inner = u1.solve_triangular(&inner, false, false, false)?;
        let mut of_a = l1.solve_triangular(&inner, true, true, true)?;
        if let Some(beside) = beside {
            of_a = of_a.followed_by(&beside, if n > k { rank - 1 } else { rank - 2 })?;
        }
        Ok((Some(p.product(&of_a)?),))
    }
}

/// Factors from packed ones.
#[derive(Clone)]
struct Unpacking<E> {
    op: &'static str,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for Unpacking<E> {
    type Operands = (E, i32);
    type Results = (E, E, E);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x, pivots): On<'_, (E, i32), D>) -> Result<On<'static, (E, E, E), D>> {
        let op = self.op;
        let (lead, [m, n]) = x.split_matrices(op)?;
        let k = m.min(n);
        let batch = Batch::beside(op, &x, lead);
        let (lu, pivots) = (x.matrices_of(op, lead)?, pivots.vectors_of(op, lead)?);
        let lens = Lens { own: [area(m, m), area(m, k), area(k, n)], ..Lens::default() };
        let done = batch.run(cost([m, m, 4]), lens, |at, slots| {
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
        Ok((batch.matrices(p, [m, m])?, batch.matrices(l, [m, k])?, batch.matrices(u, [k, n])?))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0];
    /// The triangles that were read. The permutation has none.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, i32), D>> {
        let rank = back.sizes[0].len();
        let [m, n] = [back.sizes[0][rank - 2], back.sizes[0][rank - 1]];
        let (_, of_l, of_u) = &back.g;
        let of_l = of_l.as_ref().map(|g| g.tril(-1)?.fitted(rank - 1, n)).transpose()?;
        let of_u = of_u.as_ref().map(|g| g.triu(0)?.fitted(rank - 2, m)).transpose()?;
        let sum = match (of_l, of_u) {
            (Some(l), Some(u)) => Some(l.plus(&u)?),
            (l, u) => l.or(u),
        };
        Ok((sum, None))
    }
}

/// Solutions of systems whose matrices are given by their LU factors.
#[derive(Clone)]
struct SolvingByFactors<E> {
    left: bool,
    adjoint: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for SolvingByFactors<E> {
    type Operands = (E, i32, E);
    type Results = (E,);
    fn op(&self) -> &'static str {
        "linalg.lu_solve"
    }
    fn run<D: Device>(&self, (factors, pivots, right): On<'_, (E, i32, E), D>) -> Result<On<'static, (E,), D>> {
        let SolvingByFactors { left, adjoint, .. } = *self;
        let op = self.op();
        let ((lead, n), (b_lead, [rows, columns])) = (factors.split_squares(op)?, right.split_matrices(op)?);
        let lead = common(op, lead, b_lead)?;
        let batch = Batch::beside(op, &factors, &lead);
        let (lu, pivots, b) =
            (factors.matrices_of(op, &lead)?, pivots.vectors_of(op, &lead)?, right.matrices_of(op, &lead)?);
        let (x, _) = batch.each(cost([n, n, columns]), [rows, columns], |at, x| {
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
        Ok((batch.matrices(x, [rows, columns])?,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b11, 1];
    /// With `M = L U` and `C = P^T B`, `g_C = M^-H g` and `g_M = -g_C X^H`; of `M^H P^T X = B`, `g_M = -P^T X g_B^H`. Then `g_L` is the lower
    /// triangle of `g_M U^H`, and `g_U` the upper one of `L^H g_M`. From the right it is the adjoint of these.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, i32, E), D>> {
        let SolvingByFactors { left, adjoint, .. } = *self;
        let (Some(g),) = &back.g else { return Ok((None, None, None)) };
        let (packed, pivots, x) = (read(&back.x.0)?, read(&back.x.1)?, read(&back.y.0)?);
        let of_b = packed.lu_solve(pivots, g, left, !adjoint)?;
        let mut of_packed = None;
        if back.wants[0] {
            let (p, l, u) = packed.unpacked(OP, pivots)?;
            let (x, b) = if left { (x.share(), of_b.share()) } else { (x.adjoint()?, of_b.adjoint()?) };
            let product = if adjoint == left {
                p.adjoint_times(&x)?.times_adjoint(&b)?
            } else {
                p.adjoint_times(&b)?.times_adjoint(&x)?
            };
            let product = product.negated()?;
            let (of_l, of_u) = (product.times_adjoint(&u)?.tril(-1)?, l.adjoint_times(&product)?.triu(0)?);
            of_packed = Some(of_l.plus(&of_u)?.summed_to(&back.sizes[0])?);
        }
        Ok((of_packed, None, Some(of_b.summed_to(&back.sizes[2])?)))
    }
}
