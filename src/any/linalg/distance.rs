//! Distances and the cross product: `dist`, `cdist`, `cross`.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::same_device;
use crate::any::view::views::axis;
use crate::any::{AnyTensor, IntoAny};
use crate::composite::Axis;
use crate::error::{Result, invalid};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Checks that both have one dtype and one device.
    pub(crate) fn expect_alike(&self, op: &'static str, other: &AnyTensor) -> Result<()> {
        same_device(op, self, other)?;
        if self.dtype == other.dtype {
            return Ok(());
        }
        invalid(op, format!("both tensors must hold one dtype, got {} and {}", self.dtype, other.dtype))
    }

    /// The `p`-norm of the difference (`torch.dist`).
    ///
    /// # Errors
    /// If shapes do not broadcast, or the difference is neither floating-point nor complex.
    #[op(dist(input, other, p = 2.0), dtypes = inexact)]
    pub fn dist(&self, other: &AnyTensor, p: f64) -> Result<AnyTensor> {
        self.sub(other)?.vector_norm(p, None, false)
    }

    /// The cross product along an axis of size 3 (`torch.linalg.cross`, where the axis is the last if not given); other axes broadcast.
    ///
    /// # Errors
    /// If ranks differ, sizes do not match, dtypes differ or are `bool`.
    #[op(linalg.cross(input, other, dim = -1), dtypes = numeric)]
    pub fn cross(&self, other: &AnyTensor, dim: i64) -> Result<AnyTensor> {
        let op = "cross";
        self.expect_alike(op, other)?;
        if self.rank() != other.rank() {
            return invalid(
                op,
                format!("both tensors must have as many axes, got {} and {}", self.rank(), other.rank()),
            );
        }
        let at = axis(op, dim, self.rank())?;
        dispatch_dtype!(op, self.dtype, E: Numeric => {
            self.as_erased::<E>()?.cross(&other.as_erased()?, Axis(at)).map(IntoAny::into_any)
        })
    }

    /// By name, without an axis: the first of size 3.
    #[op(cross(input, other, dim = None), dtypes = numeric)]
    fn cross_by_name(&self, other: &AnyTensor, dim: Option<i64>) -> Result<AnyTensor> {
        let first = || self.shape().iter().position(|&size| size == 3).map(|at| at as i64);
        match dim.or_else(first) {
            Some(dim) => self.cross(other, dim),
            None => invalid("cross", format!("no axis of {:?} has size 3", self.shape())),
        }
    }
}
