//! Triangles of matrices: `tril`, `triu`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::Matrices;
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The lower triangle of each matrix of the last two axes: zeros above a diagonal, which is counted from the main one, upwards if
    /// positive.
    ///
    /// # Errors
    /// If there are fewer than two axes.
    #[op(tril(input, diagonal = 0))]
    #[any(by_width, diagonal: i64 = diagonal as isize)]
    #[in_place("tensor![[1, 2], [3, 4]]" "0" = "[[1, 0], [3, 4]]")]
    #[typed((&self, diagonal: isize) -> Self
        where
            S: Matrices)]
    #[example(let x = tensor![[1, 2, 3], [4, 5, 6], [7, 8, 9]]; x.tril(-1), x.tril(-1), tensor![[0, 0, 0], [4, 0, 0], [7, 8, 0]])]
    pub(crate) fn tril(&self, diagonal: isize) -> Result<Owned<E, D>> {
        self.band("tril", isize::MIN, diagonal)
    }

    /// The upper triangle of each matrix of the last two axes: zeros below a diagonal, which is counted from the main one, upwards if
    /// positive.
    ///
    /// # Errors
    /// If there are fewer than two axes.
    #[op(triu(input, diagonal = 0))]
    #[any(by_width, diagonal: i64 = diagonal as isize)]
    #[in_place("tensor![[1, 2], [3, 4]]" "0" = "[[1, 2], [0, 4]]")]
    #[typed((&self, diagonal: isize) -> Self
        where
            S: Matrices)]
    #[example(let x = tensor![[1, 2, 3], [4, 5, 6], [7, 8, 9]]; x.triu(1), x.triu(1), tensor![[0, 2, 3], [0, 0, 6], [0, 0, 0]])]
    pub(crate) fn triu(&self, diagonal: isize) -> Result<Owned<E, D>> {
        self.band("triu", diagonal, isize::MAX)
    }

    fn band(&self, op: &'static str, low: isize, high: isize) -> Result<Owned<E, D>> {
        self.expect_axes(op, 2)?;
        Ok(Erased::dense(D::band(self.contiguous()?.view(), low, high)?, self.dims()))
    }
}
