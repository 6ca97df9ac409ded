//! Products over chosen axes: `outer`, `inner`, `tensordot`, `kron`.

use crate::any::base::by_width::signed;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::{Bound, Item};
use crate::any::linalg::matmul::expect_ranks;
use crate::any::{AnyTensor, IntoAny, Value};
use crate::composite::linalg::contraction::{KroneckerAxes, kronecker_axes};
use crate::error::{Result, invalid};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Every element of a vector times every element of another (`torch.outer`). Dtypes promote.
    ///
    /// # Errors
    /// If one is not a vector.
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
        self.expect_alike("inner", other)?;
        dispatch_dtype!("inner", self.dtype, E: Numeric => {
            self.as_erased::<E>()?.inner(&other.as_erased()?).map(IntoAny::into_any)
        })
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

    /// By name, `dims` is a number of last and first axes, or two lists.
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
