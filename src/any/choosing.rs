//! Elements chosen by conditions, masks and indices.

use super::elementwise::{broadcast_to, same_device};
use super::moves::{common_sizes, invalid, signed};
use super::operand::{promoted, scalar_dtype};
use super::views::axis;
use super::{AnyOperand, AnyTensor, Buffer};
use crate::device::Cpu;
use crate::dtype::scalar::KindRank;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result};
use crate::layout::positions::index_rows;
use crate::tensor::true_positions;

/// A mask of bools.
fn mask_of(op: &'static str, mask: &AnyTensor) -> Result<()> {
    if mask.dtype == DType::Bool {
        return Ok(());
    }
    Err(Error::NotAdmitted { op, dtype: mask.dtype, reason: "masks are bool".to_owned() })
}

/// `a` where the condition is true, else `b` (`torch.where`). All broadcast; tensors and scalars promote.
///
/// # Errors
/// If the condition is neither bool nor `uint8`, shapes do not broadcast, or a scalar does not fit.
///
/// ```
/// use castiron::{any, AnyTensor, tensor};
/// let x = AnyTensor::from(tensor![1, -2, 3]);
/// assert_eq!(any::where_(&x.gt(0)?, &x, 0)?.to_string(), "tensor([1, 0, 3])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn where_(condition: &AnyTensor, a: impl Into<AnyOperand>, b: impl Into<AnyOperand>) -> Result<AnyTensor> {
    let (op, a, b) = ("where", a.into(), b.into());
    let mask = match condition.dtype {
        DType::Bool => condition.clone(),
        DType::U8 => condition.to(DType::Bool)?,
        dtype => return Err(Error::NotAdmitted { op, dtype, reason: "conditions are bool".to_owned() }),
    };
    let dtype = if a.dtype() == b.dtype() { a.dtype() } else { promoted(op, [&a, &b].map(|x| (x.kind(), x.dtype())))? };
    // Two scalars have nothing to be refused beside.
    let both = a.kind() == KindRank::Scalar && b.kind() == KindRank::Scalar;
    let of = |x: &AnyOperand| match x {
        AnyOperand::Array(x) => {
            same_device(op, condition, x)?;
            x.to(dtype)
        }
        AnyOperand::Number(value) if both => {
            mask.scalar_here(op, *value, scalar_dtype(*value)).and_then(|value| value.to(dtype))
        }
        AnyOperand::Number(value) => mask.scalar_here(op, *value, dtype),
    };
    let (a, b) = (of(&a)?, of(&b)?);
    same_device(op, &a, &b)?;
    AnyTensor::chosen(op, &mask, &a, &b)
}

impl AnyTensor {
    /// A value, which is converted, where the mask is true, else the element (`torch.masked_fill`). The two broadcast.
    ///
    /// # Errors
    /// If the mask is not bool, or the value has axes or does not fit the dtype.
    pub fn masked_fill(&self, mask: &AnyTensor, value: impl Into<AnyOperand>) -> Result<AnyTensor> {
        let op = "masked_fill";
        mask_of(op, mask)?;
        same_device(op, self, mask)?;
        AnyTensor::chosen(op, mask, &self.filler(op, &value.into())?, self)
    }

    /// The elements where the mask is true, in row-major order (`torch.masked_select`). The two broadcast.
    ///
    /// # Errors
    /// If the mask is not bool, shapes do not broadcast, or there are no data.
    pub fn masked_select(&self, mask: &AnyTensor) -> Result<AnyTensor> {
        let op = "masked_select";
        mask_of(op, mask)?;
        let sizes = common_sizes(op, [self, mask])?;
        self.spread(&sizes)?.compressed(op, &mask.spread(&sizes)?)
    }

    /// The elements of another tensor, one after the other, where the mask is true (`torch.masked_scatter`).
    ///
    /// # Errors
    /// If the mask is not bool, the dtypes differ, or there are too few elements.
    pub fn masked_scatter(&self, mask: &AnyTensor, source: &AnyTensor) -> Result<AnyTensor> {
        let op = "masked_scatter";
        mask_of(op, mask)?;
        super::moves::same_dtype(op, self, source)?;
        let sizes = common_sizes(op, [self, mask])?;
        let whole = self.spread(&sizes)?;
        if [self, mask, source].iter().any(|x| x.is_meta()) {
            same_device(op, self, mask)?;
            same_device(op, self, source)?;
            return AnyTensor::meta(&sizes, self.dtype);
        }
        let places = mask.spread(&sizes)?.true_places(op)?;
        let (count, there) = (places.numel(), source.numel());
        if there < count {
            return invalid(op, format!("the mask is true {count} times, but there are {there} elements to write"));
        }
        let from = source.reshape(&[-1])?.narrow(0, 0, count)?;
        whole.reshape(&[whole.numel() as i64])?.scattered(op, 0, &places, &from, false)?.shaped(&signed(&sizes))
    }

    /// The elements that are positive, the others times a weight (`torch.nn.functional.prelu`): one of the same dtype for all, or one
    /// for each position along the second axis.
    ///
    /// # Errors
    /// If the dtype is no float, or the weights have another dtype, more than one axis, or are neither one nor as many as there are
    /// positions.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1.0, -2.0], [-3.0, 4.0]]);
    /// let weights = AnyTensor::from(tensor![0.5, 0.25]);
    /// assert_eq!(x.prelu(&weights)?.to_string(), "tensor([[ 1.0000, -0.5000],\n        [-1.5000,  4.0000]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn prelu(&self, weight: &AnyTensor) -> Result<AnyTensor> {
        let op = "prelu";
        super::moves::same_dtype(op, self, weight)?;
        if !self.dtype.is_floating_point() || self.dtype.is_shell() {
            return Err(super::dispatch::refused(op, self.dtype));
        }
        if (self.rank() == 0 && weight.numel() != 1) || weight.rank() > 1 {
            let reason = format!(
                "a weight, or a list of them and a tensor with axes are wanted, got {:?} and {:?}",
                self.shape(),
                weight.shape()
            );
            return invalid(op, reason);
        }
        let channels = if self.rank() > 1 { self.sizes[1] } else { 1 };
        if weight.numel() != 1 && weight.numel() != channels {
            return invalid(op, format!("{} weights are not one for each of {channels} channels", weight.numel()));
        }
        let mut sizes = vec![1; self.rank()];
        if let Some(of_channels) = sizes.get_mut(1) {
            *of_channels = weight.numel() as i64;
        }
        let scaled = self.mul(weight.shaped(&sizes)?)?;
        where_(&self.gt(0)?, self, scaled)
    }

    /// The positions in row-major order where a mask of bools is true.
    fn true_places(&self, op: &'static str) -> Result<AnyTensor> {
        let (buffer, count) = true_positions::<Cpu>(self.seen(op)?)?;
        Ok(AnyTensor::fresh(Buffer::Cpu(buffer), DType::I64, &[count], &[1]))
    }

    /// For each axis the indices of the elements that are not zero, in row-major order of these (`torch.nonzero` with
    /// `as_tuple`).
    ///
    /// # Errors
    /// If there are no data.
    pub fn nonzero_tuple(&self) -> Result<Vec<AnyTensor>> {
        let rows = self.lifted().nonzero()?;
        (0..rows.sizes[1]).map(|at| rows.select(1, at as i64)).collect()
    }

    /// The positions of the elements that are not zero, in row-major order: a row for each, with an index for each axis
    /// (`torch.nonzero`, `torch.argwhere`).
    ///
    /// # Errors
    /// If there are no data.
    pub fn nonzero(&self) -> Result<AnyTensor> {
        let op = "nonzero";
        let places = self.to(DType::Bool)?.true_places(op)?;
        let rows = index_rows(&places.to_ints(op)?, &self.sizes)?;
        AnyTensor::of_ints(rows, &[places.numel(), self.rank()])
    }

    /// [`nonzero`](Self::nonzero) with so many rows, of which those that are left over hold a value (`torch.nonzero_static`).
    ///
    /// # Errors
    /// If there are no data.
    pub fn nonzero_static(&self, size: usize, fill: i64) -> Result<AnyTensor> {
        let rows = self.nonzero()?;
        let kept = rows.narrow(0, 0, size.min(rows.sizes[0]))?;
        let mut rest = AnyTensor::on_host(&[size - kept.sizes[0], self.rank()], DType::I64)?;
        rest.fill_(fill)?;
        super::cat(&[kept, rest], 0)
    }

    /// The positions that indices, `int64` or `int32` and from 0 up, name along an axis (`torch.index_select`).
    ///
    /// # Errors
    /// If an index or the axis is out of range, or the indices are no list.
    pub fn index_select(&self, dim: i64, index: &AnyTensor) -> Result<AnyTensor> {
        let op = "index_select";
        let at = axis(op, dim, self.rank())?;
        let own = self.lifted();
        let list = index.as_index(op, true)?;
        let index = own.listed(op, at, &list, None)?;
        if self.rank() == 0 && index.numel() != 1 {
            return invalid(op, format!("a zero-dim tensor takes one index, got {}", index.numel()));
        }
        own.expect_inside(op, at, &list)?;
        let result = own.gathered(op, at, &index, false)?;
        if self.rank() == 0 { result.shaped(&[]) } else { Ok(result) }
    }

    /// Whether indices are those of an axis, in a tensor without elements: where there are some, reading them tells.
    pub(super) fn expect_inside(&self, op: &'static str, axis: usize, index: &AnyTensor) -> Result<()> {
        if !self.is_empty() || index.is_meta() {
            return Ok(());
        }
        let size = self.sizes[axis];
        let index = index.to(DType::I64)?;
        let outside = |at: i64| usize::try_from(at).map_or(true, |at| at >= size);
        match crate::cpu::read::find(index.seen::<i64>(op)?, outside) {
            Some(index) => Err(Error::IndexValue { op, index, axis, size }),
            None => Ok(()),
        }
    }

    /// A list of indices, or one, beside each position of the other axes; `from` has the sizes there are then.
    pub(super) fn listed(
        &self,
        op: &'static str,
        axis: usize,
        index: &AnyTensor,
        from: Option<&AnyTensor>,
    ) -> Result<AnyTensor> {
        if index.rank() > 1 {
            return invalid(op, format!("a list of indices is wanted, got a tensor of shape {:?}", index.shape()));
        }
        same_device(op, self, index)?;
        let index = index.lifted();
        let mut sizes = self.sizes;
        sizes[axis] = index.numel();
        if let Some(from) = from
            && from.sizes != sizes
        {
            let reason = format!(
                "{} indices take a source of shape {:?}, got one of shape {:?}",
                index.numel(),
                &*sizes,
                from.shape()
            );
            return invalid(op, reason);
        }
        let mut own = vec![1; self.rank()];
        own[axis] = index.numel() as i64;
        index.shaped(&own)?.spread(&sizes)
    }

    /// For each index the element at its position, with the index in place of the position along the axis (`torch.gather`). The
    /// indices are `int64` or `int32`, from 0 up, have as many axes, and are no larger along the others.
    ///
    /// # Errors
    /// If an index or the axis is out of range, or sizes do not fit.
    pub fn gather(&self, dim: i64, index: &AnyTensor) -> Result<AnyTensor> {
        let op = "gather";
        let at = axis(op, dim, self.rank())?;
        same_device(op, self, index)?;
        // PyTorch does not look at the dtype of no indices.
        let own_index = if index.is_empty() { index.to(DType::I64)? } else { index.as_index(op, true)? };
        let (own, along) = (self.lifted(), own_index.lifted());
        if own.rank() != along.rank() && !index.is_empty() {
            return invalid(op, format!("{} axes of indices do not go with {}", index.rank(), self.rank()));
        }
        if index.is_empty() {
            return self.zeros_here(&index.sizes, self.dtype);
        }
        own.gathered(op, at, &along, false)?.shaped(&signed(&index.sizes))
    }

    /// The elements at positions counted in row-major order (`torch.take`). The indices are `int64`; negative ones count from the
    /// end.
    ///
    /// # Errors
    /// If an index is out of range.
    pub fn take(&self, index: &AnyTensor) -> Result<AnyTensor> {
        let op = "take";
        same_device(op, self, index)?;
        let flat = index.as_index(op, false)?.reshape(&[index.numel() as i64])?;
        self.reshape(&[self.numel() as i64])?.gathered(op, 0, &flat, true)?.shaped(&signed(&index.sizes))
    }

    /// [`gather`](Self::gather) with the two broadcast along the other axes, and negative indices counting from the end
    /// (`torch.take_along_dim`); without an axis [`take`](Self::take), as a vector. The indices are `int64`.
    ///
    /// # Errors
    /// If an index or the axis is out of range, or shapes do not broadcast.
    pub fn take_along_dim(&self, index: &AnyTensor, dim: Option<i64>) -> Result<AnyTensor> {
        let op = "take_along_dim";
        same_device(op, self, index)?;
        let index = index.as_index(op, false)?;
        let Some(dim) = dim else {
            return self.take(&index.reshape(&[index.numel() as i64])?);
        };
        if self.rank() != index.rank() {
            return invalid(op, format!("{} axes of indices do not go with {}", index.rank(), self.rank()));
        }
        self.expect_rank(op, 1)?;
        let at = axis(op, dim, self.rank())?;
        let mut kept = self.sizes;
        kept[at] = 1;
        let sizes = broadcast_to(op, &kept, &index.sizes)?;
        let (mut from, mut to) = (sizes, sizes);
        (from[at], to[at]) = (self.sizes[at], index.sizes[at]);
        self.spread(&from)?.gathered(op, at, &index.spread(&to)?, true)
    }

    /// The rows of a matrix that indices of any shape name (`torch.nn.functional.embedding`, whose operands come the other way
    /// round). The indices are `int64` or `int32`, from 0 up.
    ///
    /// # Errors
    /// If an index is out of range, or this is no matrix.
    pub fn embedding(&self, index: &AnyTensor) -> Result<AnyTensor> {
        let op = "embedding";
        if self.rank() != 2 {
            return invalid(op, format!("a matrix is wanted, got a tensor of shape {:?}", self.shape()));
        }
        let list = index.as_index(op, true)?.reshape(&[index.numel() as i64])?;
        let along = self.listed(op, 0, &list, None)?;
        self.expect_inside(op, 0, &list)?;
        let rows = self.gathered(op, 0, &along, false)?;
        rows.shaped(&signed(&[&*index.sizes, &[self.sizes[1]]].concat()))
    }

    /// [`embedding`](Self::embedding) after the rows that are named have been shortened to a norm, where theirs is greater.
    pub(super) fn embedding_within(&self, index: &AnyTensor, norm: f64, order: f64) -> Result<AnyTensor> {
        let op = "embedding";
        if self.dtype.category() < Category::Floating {
            return Err(Error::NotAdmitted {
                op,
                dtype: self.dtype,
                reason: "norms are those of floats and complex".to_owned(),
            });
        }
        let rows = self.embedding(index)?;
        let wide = super::products::widened(self.dtype);
        let lengths = rows.to(wide)?.abs()?;
        let lengths = if order == 2.0 {
            lengths.square()?.sum(Some(&[-1]), true, None)?.sqrt()?
        } else {
            lengths.pow(order)?.sum(Some(&[-1]), true, None)?.pow(1.0 / order)?
        };
        let factor = lengths.add(1e-7)?.reciprocal()?.mul(norm)?;
        let shortened = rows.mul(&factor)?.to(self.dtype)?;
        AnyTensor::chosen(op, &lengths.gt(norm)?, &shortened, &rows)
    }

    /// For each class a vector with a one at its place and zeros elsewhere (`torch.nn.functional.one_hot`), as long as there are
    /// classes: one more than the largest if the number is not given.
    ///
    /// # Errors
    /// If the dtype is not `int64`, a class is negative or not below the number, or there is nothing to tell the number from.
    pub fn one_hot(&self, classes: Option<usize>) -> Result<AnyTensor> {
        let op = "one_hot";
        if self.dtype != DType::I64 {
            return Err(Error::NotAdmitted { op, dtype: self.dtype, reason: "classes are int64".to_owned() });
        }
        let classes = match classes {
            Some(classes) => classes,
            None => {
                let largest = self.to_ints(op)?.into_iter().max();
                let Some(largest) = largest else {
                    return invalid(op, "the number of classes can't be told from an empty tensor".to_owned());
                };
                usize::try_from(largest).map_or(0, |largest| largest.saturating_add(1))
            }
        };
        let rows = super::bridge::on_device!(self, D => {
            let rows = self.list::<i64, D>()?.try_one_hot_sized(classes)?;
            Ok::<_, Error>(AnyTensor::from(rows))
        })?;
        rows.shaped(&signed(&[&*self.sizes, &[classes]].concat()))
    }
}
