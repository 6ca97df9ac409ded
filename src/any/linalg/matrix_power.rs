//! Powers of matrices and vectors, and products of several matrices: `matrix_power`, `vander`, `multi_dot`.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::linalg::matmul::{expect_numbers, product};
use crate::any::{AnyTensor, IntoAny};
use crate::composite::Erased;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::device::{Backend as _, Device, Dynamic, on_host};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, Complex, DType};
use crate::error::{Error, Result, collected, invalid, listed};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The `power`-th power of a square matrix or of batches of them (`torch.linalg.matrix_power`); 0 gives the identity.
    ///
    /// # Errors
    /// If it is not square or bool; and if the power is negative, which needs the inverse, and the dtype has none or the matrix is
    /// singular.
    #[op(linalg.matrix_power(input, n), dtypes = numeric)]
    pub fn matrix_power(&self, power: i64) -> Result<AnyTensor> {
        let op = "matrix_power";
        self.expect_rank(op, 2)?;
        expect_numbers(op, self.dtype)?;
        let size = self.sizes[self.rank() - 1];
        if self.sizes[self.rank() - 2] != size {
            return invalid(op, format!("square matrices are wanted, got a tensor of shape {:?}", self.shape()));
        }
        let mut rest = power.unsigned_abs();
        let mut result = None;
        let mut square = if power < 0 { self.inverse(op)? } else { self.clone() };
        while rest > 0 {
            if rest % 2 == 1 {
                result = Some(match result {
                    None => square.clone(),
                    Some(result) => product(op, &square, &result)?,
                });
            }
            rest /= 2;
            if rest > 0 {
                square = product(op, &square, &square)?;
            }
        }
        match result {
            Some(result) => result.copy(),
            None => {
                let ones = self.scalar_on_device(op, ScalarValue::Int(1), self.dtype)?.expanded_to(&[size])?;
                ones.diag(0)?.expanded_to(&self.sizes)?.copy()
            }
        }
    }

    /// The inverses of square matrices by Gauss-Jordan elimination in double precision, with the largest element of a column as pivot.
    fn inverse(&self, op: &'static str) -> Result<AnyTensor> {
        if !matches!(self.dtype, DType::F32 | DType::F64 | DType::C64 | DType::C128) {
            let reason = "there are inverses of float32, float64, complex64 and complex128".to_owned();
            return Err(Error::NotAdmitted { op, dtype: self.dtype, reason });
        }
        let inverses = self.allocated_like(op, &self.sizes, DType::C128, || {
            let wide = self.to(DType::C128)?;
            Ok(Dynamic::primitive(&Inverting(op), (wide.as_erased()?,))?.0.into_parts().0)
        })?;
        inverses.to(self.dtype)
    }

    /// The powers of the elements from 0 up along a new last axis (`torch.linalg.vander`): `count` of them, or as many as there are
    /// elements. Integers give `int64`.
    ///
    /// # Errors
    /// If the dtype has none, or fewer than two powers are asked for.
    #[op(linalg.vander(x, N = None), dtypes = "integers, floats and complex of 32 bits or more")]
    pub fn vander(&self, count: Option<i64>) -> Result<AnyTensor> {
        let op = "vander";
        if matches!(self.dtype, DType::Bool | DType::F16 | DType::BF16 | DType::C32) || self.dtype.is_shell() {
            return Err(crate::any::base::dispatch::refused(op, self.dtype));
        }
        let x = self.at_least_1d();
        let count = count.unwrap_or(x.sizes[x.rank() - 1] as i64);
        if count <= 1 {
            return invalid(op, format!("more than one power is wanted, got {count}"));
        }
        x.powers(op, count as usize, true)
    }

    /// The matrix with the powers of each element of a list as a row (`torch.vander`), descending, or ascending from 0 if `increasing`.
    /// Bools and integers give `int64`.
    #[op(vander(x, N = None, increasing = false), dtypes = "all computing dtypes but complex32")]
    pub(crate) fn vander_rows(&self, count: Option<i64>, increasing: bool) -> Result<AnyTensor> {
        let op = "vander";
        if self.dtype == DType::C32 || self.dtype.is_shell() {
            return Err(crate::any::base::dispatch::refused(op, self.dtype));
        }
        if self.rank() != 1 {
            return invalid(op, format!("a tensor with one axis is wanted, got one with {}", self.rank()));
        }
        let count = count.unwrap_or(self.sizes[0] as i64);
        let Ok(count) = usize::try_from(count) else {
            return invalid(op, format!("{count} powers can't be made"));
        };
        self.powers(op, count, increasing)
    }

    #[op(linalg.multi_dot(tensors), dtypes = numeric)]
    fn multi_dot_by_name(matrices: &[AnyTensor]) -> Result<AnyTensor> {
        multi_dot(matrices)
    }

    /// `count` powers of the elements along a new last axis, ascending from 0 or descending to 0; those of integers and bools are `int64`.
    fn powers(&self, op: &'static str, count: usize, increasing: bool) -> Result<AnyTensor> {
        let x = if self.dtype.category() <= Category::Integral { self.to(DType::I64)? } else { self.clone() };
        let sizes = [&*x.sizes, &[count]].concat();
        crate::any::checked_numel(op, &sizes, x.dtype)?;
        if sizes.contains(&0) {
            return x.zeros_like_device(&sizes, x.dtype);
        }
        // As PyTorch: a one, then cumulative products.
        let one = x.scalar_on_device(op, ScalarValue::Int(1), x.dtype)?;
        let last = x.rank() as i64;
        let mut powers = one.expanded_to(&[&*x.sizes, &[1]].concat())?;
        if count > 1 {
            let each = x.unsqueeze(last)?.expanded_to(&[&*x.sizes, &[count - 1]].concat())?;
            powers = crate::any::cat(&[powers, each.cumprod(last, None)?], last)?;
        }
        if !increasing {
            return powers.flip(&[last]);
        }
        // (What is joined is nobody else's.)
        if count > 1 { Ok(powers) } else { powers.copy() }
    }
}

/// The product of several matrices, the first and last of which may be vectors, in the order with the fewest multiplications
/// (`torch.linalg.multi_dot`).
///
/// # Errors
/// If there are fewer than two, dtypes differ or are bool, or neighbours do not match.
pub fn multi_dot(matrices: &[AnyTensor]) -> Result<AnyTensor> {
    let op = "multi_dot";
    let [first, middle @ .., last] = matrices else {
        return invalid(op, format!("at least two matrices are wanted, got {}", matrices.len()));
    };
    let is_vector = |x: &AnyTensor| x.rank() == 1;
    let row = if is_vector(first) { first.unsqueeze(0)? } else { first.clone() };
    let column = if is_vector(last) { last.unsqueeze(1)? } else { last.clone() };
    let all: Vec<&AnyTensor> = core::iter::once(&row).chain(middle).chain([&column]).collect();
    for matrix in &all {
        first.expect_one_dtype(op, [Some(*matrix)])?;
        if matrix.rank() != 2 {
            return invalid(op, format!("matrices are wanted, got a tensor of shape {:?}", matrix.shape()));
        }
    }
    let mut result = dispatch_dtype!(op, first.dtype, E: Numeric => {
        let lent = collected(all.iter().map(|x| x.as_erased::<E>()))?;
        crate::composite::linalg::multi_dot::multi_dot(&lent).map(IntoAny::into_any)
    })?;
    if is_vector(last) {
        result = result.select(1, 0)?;
    }
    if is_vector(first) {
        result = result.select(0, 0)?;
    }
    Ok(result)
}

/// The inverses of square matrices.
#[derive(Clone)]
struct Inverting(&'static str);
impl Primitive for Inverting {
    type Operands = (Complex<f64>,);
    type Results = (Complex<f64>,);
    fn op(&self) -> &'static str {
        self.0
    }
    fn run<D: Device>(&self, (x,): On<'_, (Complex<f64>,), D>) -> Result<On<'static, (Complex<f64>,), D>> {
        let (op, size) = (self.0, x.sizes()[x.rank() - 1]);
        let (zero, one) = (Complex::new(0.0, 0.0), Complex::new(1.0, 0.0));
        let storage = on_host::<D, _, Vec<Complex<f64>>>(op, x.view(), |mut elements: Vec<Complex<f64>>| {
            for matrix in elements.chunks_exact_mut((size * size).max(1)) {
                // The augmented matrix [A | I] of Gauss-Jordan elimination.
                let row = |at: usize| {
                    let own = matrix[at * size..(at + 1) * size].iter().copied();
                    listed(own.chain((0..size).map(|column| if column == at { one } else { zero })))
                };
                let mut rows = collected((0..size).map(row))?;
                for at in 0..size {
                    let largest = |a: &usize, b: &usize| rows[*a][at].norm_sqr().total_cmp(&rows[*b][at].norm_sqr());
                    let pivot = (at..size).max_by(largest).unwrap_or(at);
                    if rows[pivot][at] == zero {
                        return invalid(op, "the matrix is singular: it has no inverse".to_owned());
                    }
                    rows.swap(at, pivot);
                    let factor = one / rows[at][at];
                    rows[at].iter_mut().for_each(|element| *element *= factor);
                    let own = rows[at].clone();
                    for (_, row) in rows.iter_mut().enumerate().filter(|(other, _)| *other != at) {
                        let factor = row[at];
                        row.iter_mut().zip(&own).for_each(|(element, own)| *element -= factor * own);
                    }
                }
                for (to, row) in matrix.chunks_exact_mut(size).zip(rows) {
                    to.copy_from_slice(&row[size..]);
                }
            }
            Ok(elements)
        })?;
        Ok((Erased::dense(storage, x.dims()),))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 1];
    /// `-Y^H g Y^H`
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (Complex<f64>,), D>> {
        let (Some(g),) = &back.g else { return Ok((None,)) };
        let y = read(&back.y.0)?.adjoint()?;
        Ok((Some(y.product(g)?.product(&y)?.negated()?),))
    }
}
