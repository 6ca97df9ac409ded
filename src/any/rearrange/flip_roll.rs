//! Elements that change places, come several times or are surrounded by others.

use crate::any::base::by_width::{invalid, signed, wide};
use crate::any::view::views::{axes, axis};
use crate::any::{AnyTensor, Buffer};
use crate::axis;
use crate::device::{Backend, Cpu};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::ops::stretch::Stretch;
use crate::tensor::{pick_as_laid_out, repeated_elements, rolled};

impl AnyTensor {
    /// The elements under another dtype of the same width.
    fn relabelled(&self, dtype: DType) -> AnyTensor {
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
    pub fn flip(&self, dims: &[i64]) -> Result<AnyTensor> {
        self.flipped("flip", dims)
    }

    fn flipped(&self, op: &'static str, dims: &[i64]) -> Result<AnyTensor> {
        let named = axes(op, dims, self.rank())?;
        let mut stretches = self.whole_axes();
        for (at, list) in stretches.iter_mut().enumerate().filter(|(at, _)| named.contains(at)) {
            let size = self.sizes[at];
            *list = vec![Stretch::Backward { start: size.saturating_sub(1), len: size }];
        }
        let strides = crate::any::preserved(&self.sizes, &self.strides);
        let buffer = if self.is_meta() {
            Buffer::Meta
        } else {
            Buffer::Cpu(wide!(self.dtype, W => pick_as_laid_out::<W, Cpu>(op, self.seen(op)?, &stretches, &strides))?)
        };
        Ok(AnyTensor::fresh(buffer, self.dtype, &self.sizes, &strides))
    }

    /// The columns in reverse order (`torch.fliplr`).
    ///
    /// # Errors
    /// If there are fewer than two axes.
    pub fn fliplr(&self) -> Result<AnyTensor> {
        self.expect_rank("fliplr", 2)?;
        self.flipped("fliplr", &[1])
    }

    /// The rows in reverse order (`torch.flipud`).
    ///
    /// # Errors
    /// If there is no axis.
    pub fn flipud(&self) -> Result<AnyTensor> {
        self.expect_rank("flipud", 1)?;
        self.flipped("flipud", &[0])
    }

    /// Whether there are enough axes.
    pub(crate) fn expect_rank(&self, op: &'static str, least: usize) -> Result<()> {
        if self.rank() >= least {
            return Ok(());
        }
        invalid(op, format!("a tensor with at least {least} axes is wanted, got one with {}", self.rank()))
    }

    /// The elements moved along axes, those beyond the end coming in at the start (`torch.roll`); without axes all elements in
    /// row-major order by one shift.
    ///
    /// # Errors
    /// If an axis is out of range, or there are not as many shifts as axes.
    pub fn roll(&self, shifts: &[i64], dims: &[i64]) -> Result<AnyTensor> {
        let op = "roll";
        // PyTorch's shifts are as large as ours.
        let shift_of = |shift: i64| shift as isize;
        if let (&[shift], []) = (shifts, dims) {
            let line = self.reshape(&[-1])?;
            let rolled = line.put_together(op, &[rolled(line.numel(), shift_of(shift))], None)?;
            return rolled.shaped(&signed(&self.sizes));
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
                // Less than the size.
                *sum = (i128::from(*sum) + i128::from(shift)).rem_euclid(size) as i64;
            }
        }
        let lists: Vec<Vec<Stretch>> =
            self.sizes.iter().zip(all).map(|(&size, shift)| rolled(size, shift_of(shift))).collect();
        self.put_together(op, &lists, None)
    }

    /// Turned by quarter turns, `k` of them, from the first axis towards the second (`torch.rot90`).
    ///
    /// # Errors
    /// If the axes are out of range or one.
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

    fn repeated(&self, op: &'static str, counts: &[usize]) -> Result<AnyTensor> {
        let rank = self.rank().max(counts.len());
        crate::any::Dims::new(op, &vec![0; rank])?;
        let count = |at: usize| (at + counts.len()).checked_sub(rank).map_or(1, |at| counts[at]);
        let own = |at: usize| (at + self.rank()).checked_sub(rank).map_or(1, |at| self.sizes[at]);
        let too_large = || Error::TooLarge { op, sizes: counts.into() };
        let sizes = (0..rank).map(|at| own(at).checked_mul(count(at)).ok_or_else(too_large));
        let sizes = sizes.collect::<Result<Vec<usize>>>()?;
        self.made(
            op,
            &sizes,
            self.dtype,
            || wide!(self.dtype, W => Ok(repeated_elements::<W, Cpu>(op, self.seen(op)?, rank, counts)?.0)),
        )
    }

    /// The whole tensor as often as counts say for each axis (`torch.Tensor.repeat`); further counts make new axes in front.
    ///
    /// # Errors
    /// If there are fewer counts than axes, or the result is too large.
    pub fn repeat(&self, counts: &[usize]) -> Result<AnyTensor> {
        if counts.len() < self.rank() {
            return invalid("repeat", format!("{} counts are too few for {} axes", counts.len(), self.rank()));
        }
        self.repeated("repeat", counts)
    }

    /// [`repeat`](Self::repeat), fewer counts standing for the last axes (`torch.tile`).
    ///
    /// # Errors
    /// If the result is too large.
    pub fn tile(&self, counts: &[usize]) -> Result<AnyTensor> {
        self.repeated("tile", counts)
    }

    /// Along which axis positions are repeated: all elements in row-major order if none is named.
    fn interleaved(
        &self,
        dim: Option<i64>,
        run: impl FnOnce(&AnyTensor, usize) -> Result<AnyTensor>,
    ) -> Result<AnyTensor> {
        let (x, dim) = match dim {
            None => (self.reshape(&[-1])?, 0),
            Some(dim) => (self.lifted(), dim),
        };
        let at = axis("repeat_interleave", dim, x.rank())?;
        let result = run(&x.around(at)?, at)?;
        x.back(at, result.relabelled(self.dtype))
    }

    /// Each position along an axis so many times (`torch.repeat_interleave`); without an axis each element in row-major order.
    ///
    /// # Errors
    /// If the axis is out of range, or the result is too large.
    pub fn repeat_interleave(&self, times: usize, dim: Option<i64>) -> Result<AnyTensor> {
        if dim.is_some() {
            self.expect_rank("repeat_interleave", 1)?;
        }
        self.interleaved(dim, |cube, _| {
            crate::any::base::as_typed::on_device!(self, D => wide!(self.dtype, W => {
                let cube = cube.relabelled(W::DTYPE).cube::<W, D>()?;
                Ok(AnyTensor::from(cube.try_repeat_interleave_sized(axis![1], times)?))
            }))
        })
    }

    /// Each position along an axis as often as integers say, of which there is one for each position, or one for all
    /// (`torch.repeat_interleave`).
    ///
    /// # Errors
    /// If there are not as many, one is negative, their dtype is neither `int64` nor `int32`, or there are no data.
    pub fn repeat_interleave_by(&self, repeats: &AnyTensor, dim: Option<i64>) -> Result<AnyTensor> {
        let op = "repeat_interleave";
        if repeats.rank() > 1 {
            return invalid(op, format!("a list of counts is wanted, got a tensor of shape {:?}", repeats.shape()));
        }
        let repeats = repeats.as_index(op, true)?.lifted();
        self.interleaved(dim, |cube, _| {
            let repeats = if repeats.numel() == 1 { repeats.spread(&[cube.sizes[1]])? } else { repeats.clone() };
            crate::any::base::as_typed::on_device!(self, D => wide!(self.dtype, W => {
                let cube = cube.relabelled(W::DTYPE).cube::<W, D>()?;
                Ok(AnyTensor::from(cube.try_repeat_interleave_by(axis![1], &repeats.list::<i64, D>()?)?))
            }))
        })
    }

    fn band(&self, op: &'static str, low: isize, high: isize) -> Result<AnyTensor> {
        self.expect_rank(op, 2)?;
        let rows = self.contiguous()?;
        self.made(op, &self.sizes, self.dtype, || wide!(self.dtype, W => Cpu::band::<W>(rows.seen(op)?, low, high)))
    }

    /// Matrices with zeros above a diagonal (`torch.tril`).
    ///
    /// # Errors
    /// If there are fewer than two axes.
    pub fn tril(&self, diagonal: i64) -> Result<AnyTensor> {
        self.band("tril", isize::MIN, diagonal as isize)
    }

    /// Matrices with zeros below a diagonal (`torch.triu`).
    ///
    /// # Errors
    /// If there are fewer than two axes.
    pub fn triu(&self, diagonal: i64) -> Result<AnyTensor> {
        self.band("triu", diagonal as isize, isize::MAX)
    }

    /// The last axis laid along the diagonals of matrices of zeros, which are the axes named (`torch.diag_embed`).
    ///
    /// # Errors
    /// If there is no axis, the axes are out of range or one, or the result is too large.
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
            // As many are left as axes are not named.
            .map(|at| if named.contains(&at) { side } else { rest.next().copied().unwrap_or(1) })
            .collect();
        self.zeros_here(&sizes, self.dtype)?.with_written(op, |zeros| zeros.diagonal(offset, dim1, dim2), self)
    }

    /// A vector as the diagonal of a matrix, or the diagonal of a matrix as a vector (`torch.diag`).
    ///
    /// # Errors
    /// If it is neither.
    pub fn diag(&self, diagonal: i64) -> Result<AnyTensor> {
        match self.rank() {
            1 => self.diag_embed(diagonal, 0, 1),
            2 => self.diagonal(diagonal, 0, 1)?.copy(),
            rank => invalid("diag", format!("a vector or a matrix is wanted, got a tensor with {rank} axes")),
        }
    }

    /// All elements as the diagonal of a matrix (`torch.diagflat`).
    ///
    /// # Errors
    /// If the result is too large.
    pub fn diagflat(&self, offset: i64) -> Result<AnyTensor> {
        self.reshape(&[-1])?.diag_embed(offset, 0, 1)
    }

    /// The diagonals written with elements, which are converted (`torch.diagonal_scatter`).
    ///
    /// # Errors
    /// If the shape is not that of [`diagonal`](Self::diagonal).
    pub fn diagonal_scatter(&self, from: &AnyTensor, offset: i64, dim1: i64, dim2: i64) -> Result<AnyTensor> {
        self.with_written("diagonal_scatter", |x| x.diagonal(offset, dim1, dim2), from)
    }

    /// One position along an axis written with elements, which are converted (`torch.select_scatter`).
    ///
    /// # Errors
    /// If the shape is not that of [`select`](Self::select).
    pub fn select_scatter(&self, from: &AnyTensor, dim: i64, index: i64) -> Result<AnyTensor> {
        self.with_written("select_scatter", |x| x.select(dim, index), from)
    }

    /// Positions along an axis written with elements, which are converted (`torch.slice_scatter`).
    ///
    /// # Errors
    /// If the shape is not that of [`slice`](Self::slice).
    pub fn slice_scatter(
        &self,
        from: &AnyTensor,
        dim: i64,
        start: Option<i64>,
        end: Option<i64>,
        step: i64,
    ) -> Result<AnyTensor> {
        self.with_written("slice_scatter", |x| x.slice(dim, start, end, step), from)
    }

    /// Every element the same, in a new tensor (`torch.fill`). The value is a scalar or a zero-dim tensor.
    ///
    /// # Errors
    /// If the value does not fit the dtype, or has axes.
    pub fn fill(&self, value: impl Into<crate::any::AnyOperand>) -> Result<AnyTensor> {
        let value = self.filler("fill", &value.into())?;
        let mut filled = self.zeros_here(&self.sizes, self.dtype)?;
        if !filled.is_meta() {
            filled.copy_from(&value)?;
        }
        Ok(filled)
    }

    /// A value of the dtype as a zero-dim tensor: from a scalar, or from a zero-dim tensor of any dtype.
    pub(crate) fn filler(&self, op: &'static str, value: &crate::any::AnyOperand) -> Result<AnyTensor> {
        match value {
            crate::any::AnyOperand::Number(value) => self.scalar_here(op, *value, self.dtype),
            crate::any::AnyOperand::Array(value) if value.rank() > 0 => {
                invalid(op, format!("a scalar or a zero-dim tensor is wanted, got one of shape {:?}", value.shape()))
            }
            crate::any::AnyOperand::Array(value) if self.is_meta() || value.is_meta() => {
                crate::any::elementwise::apply::same_device(op, self, value)?;
                AnyTensor::meta(&[], self.dtype)
            }
            crate::any::AnyOperand::Array(value) if value.dtype == self.dtype => Ok(value.clone()),
            crate::any::AnyOperand::Array(value) => self.scalar_here(op, value.item()?, self.dtype),
        }
    }
}
