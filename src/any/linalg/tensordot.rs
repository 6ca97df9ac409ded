//! Products over chosen axes: `outer`, `inner`, `tensordot`, `kron`.
//! Uses `linalg::matmul`, `view::views`, `base::by_width`, `tensor::linalg::tensordot`.

use crate::any::base::by_width::{invalid, same_dtype, signed};
use crate::any::call::{Bound, Item};
use crate::any::linalg::matmul::{expect_numbers, expect_ranks, product};
use crate::any::view::views::axes;
use crate::any::{AnyTensor, Value};
use crate::error::Result;
use crate::tensor::{KroneckerAxes, Paired, kronecker_axes, paired};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Every element of a vector times every element of another (`torch.outer`). Dtypes promote.
    ///
    /// # Errors
    /// If one is no vector.
    #[op(outer(input, vec2), dtypes = any, aliases("ger"))]
    pub fn outer(&self, other: &AnyTensor) -> Result<AnyTensor> {
        expect_ranks("outer", [(self, 1), (other, 1)])?;
        self.unsqueeze(1)?.mul(other)
    }

    /// The sums of products along the last axes (`torch.inner`); a zero-dim tensor multiplies all of the other.
    ///
    /// # Errors
    /// If dtypes differ or are bool, or the last sizes differ.
    #[op(inner(input, other), dtypes = numeric)]
    pub fn inner(&self, other: &AnyTensor) -> Result<AnyTensor> {
        if self.rank() == 0 || other.rank() == 0 {
            return self.mul(other);
        }
        self.contracted("inner", other, [&[self.rank() - 1], &[other.rank() - 1]], false)
    }

    /// The sums of products over pairs of axes (`torch.tensordot`): the result has the other axes of `self`, then those of the
    /// other. An axis of size 1 goes with one of any size.
    ///
    /// # Errors
    /// If dtypes differ or are bool, an axis is out of range or named twice, or sizes differ.
    pub fn tensordot(&self, other: &AnyTensor, dims: &[i64], other_dims: &[i64]) -> Result<AnyTensor> {
        let op = "tensordot";
        same_dtype(op, self, other)?;
        expect_numbers(op, self.dtype)?;
        if dims.len() != other_dims.len() {
            return invalid(op, format!("{} axes of the one go with {} of the other", dims.len(), other_dims.len()));
        }
        let (left, right) = (axes(op, dims, self.rank())?, axes(op, other_dims, other.rank())?);
        if !left.is_empty() && (self.rank() == 0 || other.rank() == 0) {
            return invalid(op, "a zero-dim tensor has no axis to sum over".to_owned());
        }
        self.contracted(op, other, [&left, &right], true)
    }

    /// The sums over pairs of axes: as a product of matrices. If it `spreads`, an axis of size 1 goes with one of any size.
    fn contracted(
        &self,
        op: &'static str,
        other: &AnyTensor,
        [left, right]: [&[usize]; 2],
        spreads: bool,
    ) -> Result<AnyTensor> {
        let Paired { sizes: [ours, theirs], kept: [rows, columns], .. } =
            paired([(&self.sizes, &self.strides), (&other.sizes, &other.strides)], [left, right], spreads)?;
        let (a, b) = (self.expand(&signed(&ours))?, other.expand(&signed(&theirs))?);
        let count = |x: &AnyTensor, axes: &[usize]| axes.iter().map(|&axis| x.sizes[axis]).product::<usize>() as i64;
        let order = |first: &[usize], then: &[usize]| -> Vec<i64> {
            first.iter().chain(then).map(|&axis| axis as i64).collect()
        };
        let rows_of_a = a.permute(&order(&rows, left))?.reshaped(&[count(&a, &rows), count(&a, left)])?;
        let columns_of_b = b.permute(&order(right, &columns))?.reshaped(&[count(&b, right), count(&b, &columns)])?;
        let sizes = rows.iter().map(|&at| self.sizes[at]).chain(columns.iter().map(|&at| other.sizes[at]));
        product(op, &rows_of_a, &columns_of_b, None)?.reshaped(&signed(&sizes.collect::<Vec<_>>()))
    }

    /// The Kronecker product (`torch.kron`): each element of `self` times the whole of the other. Dtypes promote.
    ///
    /// # Errors
    /// If there are more than eight axes larger than 1 in the two together, or the result is too large.
    #[op(kron(input, other), dtypes = any)]
    pub fn kron(&self, other: &AnyTensor) -> Result<AnyTensor> {
        let KroneckerAxes { factors: [left, right], result } = kronecker_axes("kron", &self.sizes, &other.sizes)?;
        self.reshaped(&signed(&left))?.mul(&other.reshaped(&signed(&right))?)?.reshaped(&signed(&result))
    }

    /// `dims` names so many last and first axes, or two lists.
    #[op(tensordot(a, b, dims), dtypes = numeric)]
    fn tensordot_by_name(args: &Bound<'_>) -> Result<Value> {
        let (a, b) = (args.tensor("a")?, args.tensor("b")?);
        if let Some(Value::List(lists)) = args.get("dims") {
            let axes = |list: &Value| match list {
                Value::List(items) => items.iter().map(|item| i64::of(args, "dims", item)).collect::<Result<Vec<_>>>(),
                one => Ok(vec![i64::of(args, "dims", one)?]),
            };
            let [left, right] = &lists[..] else {
                return Err(args.wrong("dims", "two lists of axes", args.value("dims")?));
            };
            return Ok(a.tensordot(b, &axes(left)?, &axes(right)?)?.into());
        }
        let count = args.read_or("dims", || 2_i64)?;
        if count < 0 || count > a.rank().min(b.rank()) as i64 {
            return invalid(args.op, format!("{count} axes are wanted of tensors with {} and {}", a.rank(), b.rank()));
        }
        let first = a.rank() as i64 - count;
        Ok(a.tensordot(b, &(first..first + count).collect::<Vec<_>>(), &(0..count).collect::<Vec<_>>())?.into())
    }
}
