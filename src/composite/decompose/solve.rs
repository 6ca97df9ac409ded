//! Systems of linear equations.

use super::matrices::{Batch, common, cost};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::factor::{self, Triangle, field::Field};
use crate::device::{Device, Receives};
use crate::dtype::Element;
use crate::dtype::scalar::Dimensioned;
use crate::error::{Result, filled, invalid};
use crate::ops::admit::SameDtypeFor;
use crate::ops::decompose as ops;
use crate::shape::{Broadcast, Factor, Matrices, Shape, Solutions, SolutionsFromRight, SquareFor};
use crate::tensor::{Tensor, TensorOperand};
use castiron_macros::composites;
use core::marker::PhantomData;

/// Whether the right side of a system holds vectors: it has one axis, or the leading axes and rows of `a`.
pub(super) fn holds_vectors(a: &[usize], b: &[usize]) -> bool {
    b.len() == 1 || (a.len() == b.len() + 1 && *b == a[..a.len() - 1])
}

/// Refuses a batch of vectors, which the type would take for matrices.
pub(super) fn expect_matrices(op: &'static str, a: &[usize], b: &[usize]) -> Result<()> {
    if b.len() > 1 && holds_vectors(a, b) {
        return invalid(
            op,
            format!("a right side of shape {b:?} beside {a:?} is a batch of vectors: give it a last axis of 1"),
        );
    }
    Ok(())
}

/// Whether the right side of a system holds vectors, and its leading axes and columns.
fn right_side<'a, E: Element, D: Device>(
    op: &'static str,
    a: &[usize],
    b: &'a Erased<'_, E, D>,
    rows: usize,
    left: bool,
) -> Result<(bool, &'a [usize], usize)> {
    let is_vector = holds_vectors(a, b.sizes());
    if is_vector && left {
        let (lead, size) = b.sizes().split_at(b.rank() - 1);
        if size[0] != rows {
            let size = size[0];
            let equation = "Incompatible shapes of A and B for the equation AX = B";
            return invalid(op, format!("{equation} ({rows} rows and a vector of {size})"));
        }
        return Ok((true, lead, 1));
    }
    if is_vector && b.rank() < 2 {
        return invalid(op, "Vector broadcasting of the left hand side is not supported for left=False. In this case A must be a matrix".to_owned());
    }
    let (lead, [m, n]) = b.split_matrices(op)?;
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

#[composites]
impl<E: Field, D: Device> Erased<'_, E, D> {
    /// Solutions of `A X = B`: `(…, N, N)` and `(…, N, K)` give `(…, N, K)`, leading axes broadcast, and a vector `(N)` gives `(…, N)`.
    ///
    /// # Errors
    /// If a matrix is singular, or sizes do not match.
    #[op(linalg.solve(A, B, left = true), dtypes = field)]
    #[any(vectors = true)]
    #[typed(<R: TensorOperand, T: Shape>(&self, b: R) -> Tensor<E, T, D>
        where
            E: Field + SameDtypeFor<R::Elem, ops::solve>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::solve>> + Solutions<R::Shape, ops::solve, Output = T>,
            D: Receives<R::Place, Dimensioned>;
        left = true, vectors = false)]
    #[example(let a = tensor![[2.0, 0.0], [0.0, 4.0]]; let b = tensor![2.0, 2.0]; a.solve(&b), a.solve(&b, true), tensor![1.0, 0.5])]
    #[doc(alias = "linsolve")]
    pub(crate) fn solve(&self, b: &Erased<'_, E, D>, left: bool, vectors: bool) -> Result<Owned<E, D>> {
        let op = "linalg.solve";
        Ok(self.solutions(op, b, left, vectors, true)?.0)
    }

    /// Solutions of `X A = B`, PyTorch's `left=False`: `(…, N, N)` and `(…, K, N)` give `(…, K, N)`.
    ///
    /// # Errors
    /// If a matrix is singular, or sizes do not match.
    #[op(linalg.solve, dtypes = field)]
    #[any(by_hand)]
    #[typed(<R: TensorOperand, T: Shape>(&self, b: R) -> Tensor<E, T, D>
        where
            E: Field + SameDtypeFor<R::Elem, ops::solve>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::solve>>,
            R::Shape: Matrices + SolutionsFromRight<S, ops::solve, Output = T>,
            D: Receives<R::Place, Dimensioned>)]
    #[example(let a = tensor![[2.0, 1.0], [0.0, 4.0]]; let b = tensor![[2.0, 5.0]]; a.rsolve(&b), _, tensor![[1.0, 1.0]])]
    pub(crate) fn rsolve(&self, b: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let op = "linalg.solve";
        Ok(self.solutions(op, b, false, true, true)?.0)
    }

    /// [`solve`](Self::solve), and for each matrix the position, counted from 1, of the zero pivot that makes it singular, or 0.
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(linalg.solve_ex(A, B, left = true, check_errors = false), dtypes = field)]
    #[any(vectors = true)]
    #[typed(<R: TensorOperand, T: Shape, B: Shape>(&self, b: R) -> (Tensor<E, T, D>, Tensor<i32, B, D>)
        where
            E: Field + SameDtypeFor<R::Elem, ops::solve_ex>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::solve_ex>> + Solutions<R::Shape, ops::solve_ex, Output = T>,
            S::Lead: Broadcast<<R::Shape as Factor>::Batch, Output = B>,
            R::Shape: Factor,
            D: Receives<R::Place, Dimensioned>;
        left = true, vectors = false, check_errors = false)]
    #[example(let a = tensor![[[0.0]]]; let b = tensor![[[1.0]]]; a.solve_ex(&b), a.solve_ex(&b, true, false), (_, tensor![1; i32]))]
    pub(crate) fn solve_ex(
        &self,
        b: &Erased<'_, E, D>,
        left: bool,
        vectors: bool,
        check_errors: bool,
    ) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        let op = "linalg.solve_ex";
        self.solutions(op, b, left, vectors, check_errors)
    }

    /// Solutions of `A X = B`, or `X A = B`, and `info`. A batch of vectors is refused without `vectors`.
    fn solutions(
        &self,
        op: &'static str,
        b: &Erased<'_, E, D>,
        left: bool,
        vectors: bool,
        check: bool,
    ) -> Result<(Owned<E, D>, Owned<i32, D>)> {
        if !vectors {
            expect_matrices(op, self.sizes(), b.sizes())?;
        }
        let (lead, n) = self.split_squares(op)?;
        let (is_vector, b_lead, _) = right_side(op, self.sizes(), b, n, left)?;
        common(op, lead, b_lead)?;
        let operands = (Erased::of(self.view()), Erased::of(b.view()));
        D::primitive(&Solving::<E> { op, left, is_vector, check, dtype: PhantomData }, operands)
    }

    /// Solutions of triangular systems `A X = B`. The other triangle is not read, nor, with `unitriangular`, the diagonal, which counts as
    /// ones. Singular matrices give infinities and NaN.
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(linalg.solve_triangular(A, B, upper, left = true, unitriangular = false), dtypes = field)]
    #[typed(<R: TensorOperand, T: Shape>(&self, b: R, upper: bool, unitriangular: bool) -> Tensor<E, T, D>
        where
            E: Field + SameDtypeFor<R::Elem, ops::solve_triangular>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::solve_triangular>>
                + Solutions<R::Shape, ops::solve_triangular, Output = T>,
            R::Shape: Matrices,
            D: Receives<R::Place, Dimensioned>;
        left = true)]
    #[example(let a = tensor![[2.0, 1.0], [0.0, 4.0]]; let b = tensor![[3.0], [4.0]]; a.solve_triangular(&b, true, false), a.solve_triangular(&b, true, true, false), tensor![[1.0], [1.0]])]
    pub(crate) fn solve_triangular(
        &self,
        b: &Erased<'_, E, D>,
        upper: bool,
        left: bool,
        unitriangular: bool,
    ) -> Result<Owned<E, D>> {
        let op = "linalg.solve_triangular";
        self.triangular(op, b, Triangle { upper, unit: unitriangular, transposed: false }, left)
    }

    /// Solutions of triangular systems `X A = B`, PyTorch's `left=False`: see [`solve_triangular`](Self::solve_triangular).
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(linalg.solve_triangular, dtypes = field)]
    #[any(by_hand)]
    #[typed(<R: TensorOperand, T: Shape>(&self, b: R, upper: bool, unitriangular: bool) -> Tensor<E, T, D>
        where
            E: Field + SameDtypeFor<R::Elem, ops::solve_triangular>,
            S: Matrices<Rows: SquareFor<S::Columns, ops::solve_triangular>>,
            R::Shape: Matrices + SolutionsFromRight<S, ops::solve_triangular, Output = T>,
            D: Receives<R::Place, Dimensioned>)]
    #[example(let a = tensor![[2.0, 1.0], [0.0, 4.0]]; let b = tensor![[2.0, 5.0]]; a.rsolve_triangular(&b, true, false), _, tensor![[1.0, 1.0]])]
    pub(crate) fn rsolve_triangular(
        &self,
        b: &Erased<'_, E, D>,
        upper: bool,
        unitriangular: bool,
    ) -> Result<Owned<E, D>> {
        let op = "linalg.solve_triangular";
        self.triangular(op, b, Triangle { upper, unit: unitriangular, transposed: false }, false)
    }

    pub(crate) fn triangular(
        &self,
        op: &'static str,
        b: &Erased<'_, E, D>,
        triangle: Triangle,
        left: bool,
    ) -> Result<Owned<E, D>> {
        let ((lead, n), (b_lead, [rows, columns])) = (self.split_squares(op)?, b.split_matrices(op)?);
        if (if left { rows } else { columns }) != n {
            return invalid(op, format!("Incompatible shapes of A and B: {n}x{n} and {rows}x{columns}"));
        }
        common(op, lead, b_lead)?;
        let operands = (Erased::of(self.view()), Erased::of(b.view()));
        Ok(D::primitive(&SolvingTriangle::<E> { op, triangle, left, dtype: PhantomData }, operands)?.0)
    }
}

fn transpose<E: Copy>(a: &mut [E], n: usize) {
    for j in 0..n {
        for i in j + 1..n {
            a.swap(j * n + i, i * n + j);
        }
    }
}

/// Solutions of systems of equations, and `info`.
#[derive(Clone)]
struct Solving<E> {
    op: &'static str,
    left: bool,
    is_vector: bool,
    check: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for Solving<E> {
    type Operands = (E, E);
    type Results = (E, i32);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (a, b): On<'_, (E, E), D>) -> Result<On<'static, (E, i32), D>> {
        let Solving { op, left, is_vector, check, .. } = *self;
        let (lead, n) = a.split_squares(op)?;
        let (_, b_lead, columns) = right_side(op, a.sizes(), &b, n, left)?;
        let lead = common(op, lead, b_lead)?;
        let batch = Batch::beside(op, &a, &lead);
        let of = a.matrices_of(op, &lead)?;
        let b = if is_vector { b.vectors_of(op, &lead)? } else { b.matrices_of(op, &lead)? };
        let (x, info) = batch.each(cost([n, n, (n / 3).saturating_add(columns)]), [n, columns], |at, x| {
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
            batch.check(&info, |_| "The solver failed because the input matrix is singular.".to_owned())?;
        }
        // `info` is for the matrices before they are broadcast, as in PyTorch.
        let info = batch.numbers(info)?;
        let x = match (is_vector, left) {
            (true, _) => batch.vectors(x, n)?,
            (false, true) => batch.matrices(x, [n, columns])?,
            (false, false) => batch.matrices(x, [columns, n])?,
        };
        Ok((x, info))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b01, 0b01];
    /// `g_B = A^-H g`, and `g_A = -g_B X^H`; from the right `g_B = g A^-H`, and `g_A = -X^H g_B`.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, E), D>> {
        let (Some(g), _) = &back.g else { return Ok((None, None)) };
        let (a, x) = (read(&back.x.0)?, read(&back.y.0)?);
        let column = |of: &Erased<'_, E, D>| -> Result<Owned<E, D>> {
            Ok(if self.is_vector { of.as_columns()?.share() } else { of.share() })
        };
        let (g, x) = (column(g)?, column(x)?);
        let b = a.adjoint()?.solve_ex(&g, self.left, false, false)?.0;
        let mut of_a = None;
        if back.wants[0] {
            let product = if self.left { b.times_adjoint(&x)? } else { x.adjoint_times(&b)? };
            of_a = Some(product.negated()?.summed_to(&back.sizes[0])?);
        }
        let b = if self.is_vector { b.without_axis(b.rank() - 1)?.share() } else { b };
        Ok((of_a, Some(b.summed_to(&back.sizes[1])?)))
    }
}

/// Solutions of systems of equations with triangular matrices.
#[derive(Clone)]
struct SolvingTriangle<E> {
    op: &'static str,
    triangle: Triangle,
    left: bool,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Field> Primitive for SolvingTriangle<E> {
    type Operands = (E, E);
    type Results = (E,);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (of, right): On<'_, (E, E), D>) -> Result<On<'static, (E,), D>> {
        let SolvingTriangle { op, triangle, left, .. } = *self;
        let ((lead, n), (b_lead, [rows, columns])) = (of.split_squares(op)?, right.split_matrices(op)?);
        let lead = common(op, lead, b_lead)?;
        let batch = Batch::beside(op, &of, &lead);
        let (a, b) = (of.matrices_of(op, &lead)?, right.matrices_of(op, &lead)?);
        let others = if left { columns } else { rows };
        let (x, _) = batch.each(cost([n, n, others]), [rows, columns], |at, x| {
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
        Ok((batch.matrices(x, [rows, columns])?,))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0b01, 0b01];
    /// That of other systems, in the triangle.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E, E), D>> {
        let SolvingTriangle { op, triangle, left, .. } = *self;
        let (Some(g),) = &back.g else { return Ok((None, None)) };
        let (a, x) = (read(&back.x.0)?, read(&back.y.0)?);
        let turned = Triangle { transposed: !triangle.transposed, ..triangle };
        let b = a.conjugated()?.triangular(op, g, turned, left)?;
        let mut of_a = None;
        if back.wants[0] {
            let mut product = if left { b.times_adjoint(x)? } else { x.adjoint_times(&b)? };
            if triangle.transposed {
                product = product.turned()?.share();
            }
            let product = product.negated()?.summed_to(&back.sizes[0])?;
            let skipped = isize::from(triangle.unit);
            of_a = Some(if triangle.upper { product.triu(skipped)? } else { product.tril(-skipped)? });
        }
        Ok((of_a, Some(b.summed_to(&back.sizes[1])?)))
    }
}
