//! Distances and the cross product: `dist`, `cdist`, `cross`. Uses `tensor::linalg::distance`.

use crate::any::AnyTensor;
use crate::any::base::by_width::signed;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::elementwise::apply::{broadcast_to, same_device};
use crate::any::view::views::axis;
use crate::axis;
use crate::device::Dynamic;
use crate::error::{Result, invalid};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// One dtype and one device.
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

    /// The `p`-norms of the differences between every row of matrices and every row of others (`torch.cdist`); leading axes broadcast.
    ///
    /// # Errors
    /// If shapes do not match, dtypes differ or are no floats, or `p` is negative.
    #[op(cdist(x1, x2, p = 2.0, compute_mode = _), dtypes = float)]
    pub fn cdist(&self, other: &AnyTensor, p: f64) -> Result<AnyTensor> {
        let op = "cdist";
        self.expect_alike(op, other)?;
        let (Some((a_lead, &[m, k])), Some((b_lead, &[n, k2]))) =
            (self.sizes.split_last_chunk::<2>(), other.sizes.split_last_chunk::<2>())
        else {
            return invalid(op, "both tensors must be matrices, or batches of them".to_owned());
        };
        let lead = signed(&broadcast_to(op, a_lead, b_lead)?);
        let batch: i64 = lead.iter().product();
        let cube = |x: &AnyTensor, rows: usize, columns: usize| {
            let (rows, columns) = (rows as i64, columns as i64);
            x.expand(&[&lead[..], &[rows, columns]].concat())?.reshaped(&[batch, rows, columns])
        };
        let (a, b) = (cube(self, m, k)?, cube(other, n, k2)?);
        let distances = dispatch_dtype!(op, self.dtype, E: Float => {
            a.typed_rank3::<E, Dynamic>()?.try_cdist(&b.typed_rank3::<E, Dynamic>()?, p).map(AnyTensor::from)
        })?;
        distances.reshaped(&[&lead[..], &[m as i64, n as i64]].concat())
    }

    /// The cross product along an axis of size 3 (`torch.linalg.cross`, where the axis is the last if not given); other axes broadcast.
    ///
    /// # Errors
    /// If there are not as many axes in both, sizes do not match, dtypes differ or are `bool`.
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
        let size = |x: &AnyTensor| x.sizes.get(at).copied();
        if size(self) != Some(3) || size(other) != Some(3) {
            let (a, b) = (self.shape(), other.shape());
            return invalid(op, format!("axis {at} must have size 3 in both tensors, got shapes {a:?} and {b:?}"));
        }
        let sizes = signed(&broadcast_to(op, &self.sizes, &other.sizes)?);
        let (a, b) = (self.expand(&sizes)?, other.expand(&sizes)?);
        let (left, right) = (a.as_three_axes(at)?, b.as_three_axes(at)?);
        let product = dispatch_dtype!(op, self.dtype, E: Numeric => {
            left.typed_rank3::<E, Dynamic>()?.try_cross(&right.typed_rank3::<E, Dynamic>()?, axis![1]).map(AnyTensor::from)
        })?;
        a.with_axis_restored(at, product)
    }

    /// Without an axis it is the first of size 3.
    #[op(cross(input, other, dim = None), dtypes = numeric)]
    fn cross_by_name(&self, other: &AnyTensor, dim: Option<i64>) -> Result<AnyTensor> {
        let first = || self.shape().iter().position(|&size| size == 3).map(|at| at as i64);
        match dim.or_else(first) {
            Some(dim) => self.cross(other, dim),
            None => invalid("cross", format!("no axis of {:?} has size 3", self.shape())),
        }
    }
}
