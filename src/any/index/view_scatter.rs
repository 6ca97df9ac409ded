//! Copies with one view overwritten: `select_scatter`, `slice_scatter`, `diagonal_scatter`.

use crate::any::AnyTensor;
use crate::error::Result;
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// A copy with its diagonals overwritten with elements, which are converted (`torch.diagonal_scatter`).
    ///
    /// # Errors
    /// If the shape is not that of [`diagonal`](Self::diagonal).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// let y = x.diagonal_scatter(&AnyTensor::from(tensor![0, 0]), 0, 0, 1)?;
    /// assert_eq!(y.to_string(), "tensor([[0, 2],\n        [3, 0]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(diagonal_scatter(input, src, offset = 0, dim1 = 0, dim2 = 1))]
    pub fn diagonal_scatter(&self, from: &AnyTensor, offset: i64, dim1: i64, dim2: i64) -> Result<AnyTensor> {
        self.with_view_overwritten("diagonal_scatter", |x| x.diagonal(offset, dim1, dim2), from)
    }

    /// A copy with one position along an axis overwritten with elements, which are converted (`torch.select_scatter`).
    ///
    /// # Errors
    /// If the shape is not that of [`select`](Self::select).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// let y = x.select_scatter(&AnyTensor::from(tensor![7, 8]), 0, 1)?;
    /// assert_eq!(y.to_string(), "tensor([[1, 2],\n        [7, 8]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(select_scatter(input, src, dim, index))]
    pub fn select_scatter(&self, from: &AnyTensor, dim: i64, index: i64) -> Result<AnyTensor> {
        self.with_view_overwritten("select_scatter", |x| x.select(dim, index), from)
    }

    /// A copy with a slice along an axis overwritten with elements, which are converted (`torch.slice_scatter`).
    ///
    /// # Errors
    /// If the shape is not that of [`slice`](Self::slice).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3, 4]);
    /// let y = x.slice_scatter(&AnyTensor::from(tensor![0, 0]), 0, None, None, 2)?;
    /// assert_eq!(y.to_string(), "tensor([0, 2, 0, 4])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(slice_scatter(input, src, dim = 0, start = None, end = None, step = 1))]
    pub fn slice_scatter(
        &self,
        from: &AnyTensor,
        dim: i64,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<AnyTensor> {
        self.with_view_overwritten("slice_scatter", |x| x.slice(dim, start, end, step), from)
    }
}
