//! `flip`, `roll`, `rot90`, `tril`, `triu`: elements moved to other positions.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides;
use crate::ops::segment::Segment;
use crate::shape::{Axis, AxisList, Dimensional, DistinctAxes, HasAxis, Matrices, Rotate, Shape, Shifts};
use crate::storage::View;
use crate::tensor::Tensor;
use crate::tensor::rearrange::pick::{pick, pick_as_laid_out, pick_elements, rolled};
use castiron_macros::fallible;

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The same layout with other elements: each axis built from segments of its positions, of the same total size.
    fn replaced(&self, op: &'static str, axes: &[Vec<Segment>]) -> Result<Self> {
        let (sizes, own) = (self.shape(), self.stride());
        let strides = strides::preserved(&sizes, &own);
        let storage = pick_as_laid_out::<E, D>(op, self.elements(), axes, strides.as_ref())?;
        Ok(Tensor::from_parts(storage, 0, self.shape(), strides))
    }

    /// The elements in reverse order along the axes (`torch.flip`).
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.flip(axis![1]).to_vec(), [3, 2, 1, 6, 5, 4]);
    /// assert_eq!(x.flip(axis![0, 1]).to_vec(), [6, 5, 4, 3, 2, 1]);
    /// ```
    #[doc(alias = "reverse")]
    #[doc(alias = "flipud")]
    #[fallible]
    pub fn flip<A: AxisList<S>>(&self, axes: A) -> Result<Self> {
        self.flipped("flip", A::INDICES)
    }

    /// Columns in reverse order (`torch.fliplr`): [`flip`](Self::flip) along axis 1.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[1, 2], [3, 4]].fliplr().to_vec(), [2, 1, 4, 3]);
    /// ```
    #[fallible]
    pub fn fliplr(&self) -> Result<Self>
    where
        S: HasAxis<1>,
    {
        self.flipped("fliplr", &[1])
    }

    /// Rows in reverse order (`torch.flipud`): [`flip`](Self::flip) along axis 0.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![[1, 2], [3, 4]].flipud().to_vec(), [3, 4, 1, 2]);
    /// ```
    #[fallible]
    pub fn flipud(&self) -> Result<Self>
    where
        S: Dimensional,
    {
        self.flipped("flipud", &[0])
    }

    /// Elements shifted by `shift` in row-major order, those beyond the end coming in at the start (`torch.roll(x, shift)`).
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2], [3, 4]];
    /// assert_eq!(x.roll(1).to_vec(), [4, 1, 2, 3]);
    /// assert_eq!(x.roll(-1).to_vec(), [2, 3, 4, 1]);
    /// ```
    #[fallible]
    pub fn roll(&self, shift: isize) -> Result<Self> {
        let rows = self.try_contiguous()?;
        let view = rows.elements();
        let numel = [rows.numel()];
        let line = View::new(view.buffer, view.offset, &numel, &[1]);
        let storage = pick_elements::<E, D>("roll", line, &[rolled(numel[0], shift)], E::default())?;
        Ok(Self::dense(storage, self.shape()))
    }

    /// Elements shifted along axes, those beyond the end coming in at the start (`torch.roll(x, shifts, dims)`): one shift for one axis, an
    /// array for several.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// assert_eq!(x.roll_axis(axis![1], 1).to_vec(), [3, 1, 2, 6, 4, 5]);
    /// assert_eq!(x.roll_axis(axis![0, 1], [1, -1]).to_vec(), [5, 6, 4, 2, 3, 1]);
    /// ```
    #[fallible]
    pub fn roll_axis<A: AxisList<S>>(&self, axes: A, shifts: A::Shifts) -> Result<Self> {
        let mut axes = self.whole_axes();
        for (&axis, &shift) in A::INDICES.iter().zip(shifts.shifts()) {
            // A zero-dim tensor counts as one axis of size 1, which stays as it is.
            if let Some(&size) = self.shape().as_ref().get(axis) {
                axes[axis] = rolled(size, shift);
            }
        }
        pick("roll", self.elements(), &axes, E::default())
    }

    /// The plane of two axes rotated by `K` right angles, from the first axis towards the second, or back if `K` is negative
    /// (`torch.rot90`). `K` is from -4 to 4.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, shape, tensor, Tensor};
    /// let x = tensor![[1, 2, 3], [4, 5, 6]];
    /// let turned: Tensor<i64, shape![3, 2]> = x.rot90::<1, _, _>(axis![0, 1]);
    /// assert_eq!(turned.to_vec(), [3, 6, 2, 5, 1, 4]);
    /// ```
    #[fallible]
    pub fn rot90<const K: isize, const I: isize, const J: isize>(
        &self,
        plane: DistinctAxes<(Axis<I>, Axis<J>)>,
    ) -> Result<Tensor<E, <S as Rotate<K, I, J>>::Output, D>>
    where
        S: Rotate<K, I, J> + HasAxis<I> + HasAxis<J>,
    {
        let (first, second) = (<S as HasAxis<I>>::INDEX, <S as HasAxis<J>>::INDEX);
        match K.rem_euclid(4) {
            0 => Ok(self.clone().retyped()),
            1 => Ok(self.flipped("rot90", &[second])?.exchanged(first, second)),
            2 => Ok(self.flipped("rot90", &[first, second])?.retyped()),
            _ => Ok(self.flipped("rot90", &[first])?.exchanged(first, second)),
        }
    }

    /// The lower triangle of each matrix of the last two axes: zeros above a diagonal (`torch.tril`). The diagonal is counted from the main
    /// one, upwards if positive.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2, 3], [4, 5, 6], [7, 8, 9]];
    /// assert_eq!(x.tril(0).to_vec(), [1, 0, 0, 4, 5, 0, 7, 8, 9]);
    /// assert_eq!(x.tril(-1).to_vec(), [0, 0, 0, 4, 0, 0, 7, 8, 0]);
    /// ```
    #[fallible]
    pub fn tril(&self, diagonal: isize) -> Result<Self>
    where
        S: Matrices,
    {
        self.band(isize::MIN, diagonal)
    }

    /// The upper triangle of each matrix of the last two axes: zeros below a diagonal (`torch.triu`). The diagonal is counted from the main
    /// one, upwards if positive.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// let x = castiron::tensor![[1, 2, 3], [4, 5, 6], [7, 8, 9]];
    /// assert_eq!(x.triu(1).to_vec(), [0, 2, 3, 0, 0, 6, 0, 0, 0]);
    /// ```
    #[fallible]
    pub fn triu(&self, diagonal: isize) -> Result<Self>
    where
        S: Matrices,
    {
        self.band(diagonal, isize::MAX)
    }

    fn flipped(&self, op: &'static str, axes: &[usize]) -> Result<Self> {
        let mut stretches = self.whole_axes();
        for &axis in axes {
            // A zero-dim tensor counts as one axis of size 1.
            if let Some(&size) = self.shape().as_ref().get(axis) {
                stretches[axis] = vec![Segment::Backward { start: size.saturating_sub(1), len: size }];
            }
        }
        self.replaced(op, &stretches)
    }

    fn band(&self, low: isize, high: isize) -> Result<Self> {
        let rows = self.try_contiguous()?;
        Ok(Self::dense(D::band(rows.elements(), low, high)?, self.shape()))
    }
}
