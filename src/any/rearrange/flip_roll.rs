//! `flip`, `roll`, `rot90`, `tril`, `triu`: elements moved to other positions.

use crate::any::AnyTensor;
use crate::any::base::by_width::{invalid, signed};
use crate::any::view::views::{axes, axis};
use crate::device::{Backend, Dynamic};
use crate::dtype::DType;
use crate::dtype::width::of_width;
use crate::error::Result;
use crate::ops::segment::Segment;
use crate::tensor::{pick_as_laid_out, rolled};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The same bytes as another dtype of the same width.
    pub(crate) fn relabelled(&self, dtype: DType) -> AnyTensor {
        debug_assert_eq!(self.dtype.itemsize(), dtype.itemsize());
        AnyTensor { dtype, ..self.clone() }
    }

    /// The elements along axes in reverse order (`torch.flip`).
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert_eq!(x.flip(&[0])?.to_string(), "tensor([[3, 4],\n        [1, 2]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "reverse")]
    #[doc(alias = "flipud")]
    #[op(flip(input, *dims))]
    pub fn flip(&self, dims: &[i64]) -> Result<AnyTensor> {
        self.flipped("flip", dims)
    }

    fn flipped(&self, op: &'static str, dims: &[i64]) -> Result<AnyTensor> {
        let named = axes(op, dims, self.rank())?;
        let mut stretches = self.whole_axes();
        for (at, list) in stretches.iter_mut().enumerate().filter(|(at, _)| named.contains(at)) {
            let size = self.sizes[at];
            *list = vec![Segment::Backward { start: size.saturating_sub(1), len: size }];
        }
        let strides = crate::any::preserved(&self.sizes, &self.strides);
        let buffer = of_width!(self.dtype.itemsize(), W => {
            pick_as_laid_out::<W, Dynamic>(op, self.elements_as()?, &stretches, &strides)
        })?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &self.sizes, &strides))
    }

    /// The columns in reverse order (`torch.fliplr`).
    ///
    /// # Errors
    /// If there are fewer than two axes.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.fliplr()?.to_string(), "tensor([[3, 2, 1],\n        [6, 5, 4]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(fliplr(input))]
    pub fn fliplr(&self) -> Result<AnyTensor> {
        self.expect_rank("fliplr", 2)?;
        self.flipped("fliplr", &[1])
    }

    /// The rows in reverse order (`torch.flipud`).
    ///
    /// # Errors
    /// If there is no axis.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.flipud()?.to_string(), "tensor([[4, 5, 6],\n        [1, 2, 3]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(flipud(input))]
    pub fn flipud(&self) -> Result<AnyTensor> {
        self.expect_rank("flipud", 1)?;
        self.flipped("flipud", &[0])
    }

    /// Checks that there are at least this many axes.
    pub(crate) fn expect_rank(&self, op: &'static str, least: usize) -> Result<()> {
        if self.rank() >= least {
            return Ok(());
        }
        invalid(op, format!("a tensor with at least {least} axes is wanted, got one with {}", self.rank()))
    }

    /// The elements shifted along axes, those beyond the end coming in at the start (`torch.roll`); without axes all elements in row-major
    /// order.
    ///
    /// # Errors
    /// If an axis is out of range, or there are not as many shifts as axes.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.roll(&[1], &[1])?.to_string(), "tensor([[3, 1, 2],\n        [6, 4, 5]])");
    /// assert_eq!(x.roll(&[1], &[])?.to_string(), "tensor([[6, 1, 2],\n        [3, 4, 5]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(roll(input, shifts, dims = vec![]))]
    pub fn roll(&self, shifts: &[i64], dims: &[i64]) -> Result<AnyTensor> {
        let op = "roll";
        // PyTorch's shifts are 64 bits wide, too.
        let shift_of = |shift: i64| shift as isize;
        if let (&[shift], []) = (shifts, dims) {
            let line = self.reshape(&[-1])?;
            let rolled = line.concat_stretches(op, &[rolled(line.numel(), shift_of(shift))], None)?;
            return rolled.reshaped(&signed(&self.sizes));
        }
        if shifts.is_empty() || shifts.len() != dims.len() {
            return invalid(op, format!("{} shifts do not go with {} axes", shifts.len(), dims.len()));
        }
        self.expect_rank(op, 1)?;
        let mut all = vec![0_i64; self.rank()];
        for (&shift, &dim) in shifts.iter().zip(dims) {
            let at = axis(op, dim, self.rank())?;
            if let Some(sum) = all.get_mut(at) {
                // Shifts along one axis add up.
                let size = self.sizes[at].max(1) as i128;
                // The remainder is less than the size.
                *sum = (i128::from(*sum) + i128::from(shift)).rem_euclid(size) as i64;
            }
        }
        let lists: Vec<Vec<Segment>> =
            self.sizes.iter().zip(all).map(|(&size, shift)| rolled(size, shift_of(shift))).collect();
        self.concat_in_format(op, &lists, None)
    }

    /// Rotated by `k` quarter turns from the first axis towards the second (`torch.rot90`).
    ///
    /// # Errors
    /// If the axes are out of range or the same.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert_eq!(x.rot90(1, [0, 1])?.to_string(), "tensor([[2, 4],\n        [1, 3]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(rot90(input, k = 1, dims = [0, 1]))]
    pub fn rot90(&self, k: i64, dims: [i64; 2]) -> Result<AnyTensor> {
        let op = "rot90";
        self.expect_rank(op, 2)?;
        let named = axes(op, &dims, self.rank())?;
        let [a, b] = [named[0] as i64, named[1] as i64];
        match k.rem_euclid(4) {
            0 => self.copy(),
            1 => self.flipped(op, &[b])?.transpose(a, b),
            2 => self.flipped(op, &[a, b]),
            _ => self.flipped(op, &[a])?.transpose(a, b),
        }
    }

    fn band(&self, op: &'static str, low: isize, high: isize) -> Result<AnyTensor> {
        self.expect_rank(op, 2)?;
        let rows = self.contiguous()?;
        self.allocated_like(
            op,
            &self.sizes,
            self.dtype,
            || of_width!(self.dtype.itemsize(), W => Dynamic::band::<W>(rows.data_as(op)?, low, high)),
        )
    }

    /// Lower triangles of matrices: zeros above a diagonal (`torch.tril`).
    ///
    /// # Errors
    /// If there are fewer than two axes.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.tril(0)?.to_string(), "tensor([[1, 0, 0],\n        [4, 5, 0]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(tril(input, diagonal = 0))]
    #[in_place("tensor![[1, 2], [3, 4]]" "0" = "[[1, 0], [3, 4]]")]
    pub fn tril(&self, diagonal: i64) -> Result<AnyTensor> {
        self.band("tril", isize::MIN, diagonal as isize)
    }

    /// Upper triangles of matrices: zeros below a diagonal (`torch.triu`).
    ///
    /// # Errors
    /// If there are fewer than two axes.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.triu(1)?.to_string(), "tensor([[0, 2, 3],\n        [0, 0, 6]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(triu(input, diagonal = 0))]
    #[in_place("tensor![[1, 2], [3, 4]]" "0" = "[[1, 2], [0, 4]]")]
    pub fn triu(&self, diagonal: i64) -> Result<AnyTensor> {
        self.band("triu", diagonal as isize, isize::MAX)
    }
}
