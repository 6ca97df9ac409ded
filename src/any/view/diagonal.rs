//! `diag`, `diag_embed`, `diagflat`: matrices made from their diagonals. The view `diagonal` is in `views`.

use crate::any::AnyTensor;
use crate::any::view::views::axes;
use crate::error::{Error, Result, invalid};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// Matrices of zeros with the last axis as their diagonals, along the two given axes (`torch.diag_embed`).
    ///
    /// # Errors
    /// If there is no axis, the axes are out of range or the same, or the result is too large.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// assert_eq!(x.diag_embed(1, 0, 1)?.to_string(), "tensor([[0, 1, 0],\n        [0, 0, 2],\n        [0, 0, 0]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(diag_embed(input, offset = 0, dim1 = -2, dim2 = -1))]
    pub fn diag_embed(&self, offset: i64, dim1: i64, dim2: i64) -> Result<AnyTensor> {
        let op = "diag_embed";
        let Some((&len, rest)) = self.sizes.split_last() else {
            return invalid(op, "a zero-dim tensor has no last axis".to_owned());
        };
        let named = axes(op, &[dim1, dim2], self.rank() + 1)?;
        let shift = usize::try_from(offset.unsigned_abs()).ok().and_then(|shift| len.checked_add(shift));
        let side = shift.ok_or_else(|| Error::TooLarge { op, sizes: (&*self.sizes).into() })?;
        let mut rest = rest.iter();
        let sizes: Vec<usize> = (0..=self.rank())
            // One size remains for each axis that is not named.
            .map(|at| if named.contains(&at) { side } else { rest.next().copied().unwrap_or(1) })
            .collect();
        self.zeros_like_device(&sizes, self.dtype)?.view_overwritten(
            op,
            |zeros| zeros.diagonal(offset, dim1, dim2),
            self,
        )
    }

    /// A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector (`torch.diag`).
    ///
    /// # Errors
    /// If it is neither a vector nor a matrix.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// assert_eq!(x.diag(0)?.to_string(), "tensor([[1, 0],\n        [0, 2]])");
    /// assert_eq!(x.diag(0)?.diag(0)?.to_string(), "tensor([1, 2])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(diag(input, diagonal = 0))]
    pub fn diag(&self, diagonal: i64) -> Result<AnyTensor> {
        match self.rank() {
            1 => self.diag_embed(diagonal, 0, 1),
            2 => self.diagonal(diagonal, 0, 1)?.copy(),
            rank => invalid("diag", format!("a vector or a matrix is wanted, got a tensor with {rank} axes")),
        }
    }

    /// A matrix with all elements as its diagonal (`torch.diagflat`).
    ///
    /// # Errors
    /// If the result is too large.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1], [2]]);
    /// assert_eq!(x.diagflat(0)?.to_string(), "tensor([[1, 0],\n        [0, 2]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(diagflat(input, offset = 0))]
    pub fn diagflat(&self, offset: i64) -> Result<AnyTensor> {
        self.reshape(&[-1])?.diag_embed(offset, 0, 1)
    }
}
