//! Views: the same elements through other sizes and strides, computed while running.
//!
//! Source: PyTorch, "Tensor Views"; `tests/oracle/views.json`.

use super::moves::invalid;
use super::{AnyTensor, Buffer, Dims, IntoSizes};
use crate::device::Cpu;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::shape::strides;

/// An axis counted from the first, in a tensor of so many (of which a zero-dim one counts as one).
pub(super) fn axis(op: &'static str, axis: i64, rank: usize) -> Result<usize> {
    let count = rank.max(1) as i64;
    if (-count..count).contains(&axis) {
        return Ok(axis.rem_euclid(count) as usize);
    }
    invalid(
        op,
        format!("axis {axis} is out of range for a tensor with {rank} axes: expected {} to {}", -count, count - 1),
    )
}

/// Several axes, each named once.
pub(super) fn axes(op: &'static str, named: &[i64], rank: usize) -> Result<Vec<usize>> {
    let mut found = Vec::with_capacity(named.len());
    for &name in named {
        let at = axis(op, name, rank)?;
        if found.contains(&at) {
            return invalid(op, format!("axis {name} is named a second time"));
        }
        found.push(at);
    }
    Ok(found)
}

/// Sizes of which one may be -1, which is what the number of elements makes it.
fn inferred(op: &'static str, sizes: &[i64], x: &AnyTensor) -> Result<Dims> {
    let numel = x.numel();
    let refused = || Error::Reshape { op, from: (&*x.sizes).into(), elements: numel, to: format!("{sizes:?}") };
    let mut result = vec![0; sizes.len()];
    let mut open = None;
    let mut known = 1_usize;
    for (at, &size) in sizes.iter().enumerate() {
        match usize::try_from(size) {
            Ok(size) => {
                result[at] = size;
                known = known.checked_mul(size).ok_or_else(refused)?;
            }
            Err(_) if size == -1 && open.is_none() => open = Some(at),
            Err(_) if size == -1 => return invalid(op, "only one size can be inferred".to_owned()),
            Err(_) => return invalid(op, format!("size {size} is negative")),
        }
    }
    match open {
        Some(_) if known == 0 => {
            return invalid(op, format!("the size -1 of {sizes:?} is ambiguous: the others have no elements"));
        }
        Some(at) if numel.is_multiple_of(known) => result[at] = numel / known,
        None if known == numel => {}
        _ => return Err(refused()),
    }
    let result = Dims::new(op, &result)?;
    super::checked_numel(op, &result, x.dtype)?;
    Ok(result)
}

/// How far `start..end` of an axis is, as Python's slices: negative positions count from the end, what is beyond it is cut off.
fn clamped(position: i64, size: usize) -> usize {
    let size = size as i64;
    (if position < 0 { position.saturating_add(size) } else { position }).clamp(0, size) as usize
}

impl AnyTensor {
    /// The axes in another order: sizes and strides picked.
    fn picked(&self, order: impl Iterator<Item = usize> + Clone) -> AnyTensor {
        self.picked_from(self.offset, order)
    }

    /// The same from an element of the storage on.
    fn picked_from(&self, first: usize, order: impl Iterator<Item = usize> + Clone) -> AnyTensor {
        let sizes: Vec<usize> = order.clone().map(|at| self.sizes[at]).collect();
        let strides: Vec<usize> = order.map(|at| self.strides[at]).collect();
        self.viewed(first, &sizes, &strides)
    }

    /// Where a position along an axis begins. (In an empty tensor, where no element is, that may be anywhere.)
    fn at(&self, axis: usize, position: usize) -> usize {
        self.offset.wrapping_add(position.wrapping_mul(self.strides[axis]))
    }

    /// The same elements in row-major order under other sizes, of which one may be -1; a copy where no view shows them
    /// (`torch.reshape`).
    ///
    /// # Errors
    /// If the numbers of elements differ, or memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let (x, y) = (AnyTensor::from(tensor![1, 2, 3, 4]), AnyTensor::from(tensor![[1, 2], [3, 4]]));
    /// assert_eq!(x.reshape(y.shape())?.shape(), x.reshape(&[2, -1])?.shape());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn reshape(&self, sizes: impl IntoSizes) -> Result<AnyTensor> {
        let sizes = inferred("reshape", &sizes.signed(), self)?;
        match self.view_strides(&sizes) {
            Some(strides) => Ok(self.viewed(self.offset, &sizes, &strides)),
            None => {
                let copy = self.contiguous()?;
                Ok(copy.viewed(copy.offset, &sizes, &strides::row_major(&sizes)))
            }
        }
    }

    fn view_strides(&self, sizes: &[usize]) -> Option<Dims> {
        if self.is_empty() && *sizes == *self.sizes {
            return Some(self.strides);
        }
        let mut to = Dims::known(sizes);
        strides::write_reshaped(&self.sizes, &self.strides, sizes, &mut to).then_some(to)
    }

    /// [`reshape`](Self::reshape) that never copies (`torch.Tensor.view`).
    ///
    /// # Errors
    /// If the numbers of elements differ, or no view shows the elements.
    pub fn view(&self, sizes: impl IntoSizes) -> Result<AnyTensor> {
        let sizes = inferred("view", &sizes.signed(), self)?;
        let Some(strides) = self.view_strides(&sizes) else {
            let reason = format!(
                "no view of shape {:?} shows the elements of a tensor of shape {:?} and strides {:?}: use `reshape`, which copies",
                &*sizes, &*self.sizes, &*self.strides
            );
            return invalid("view", reason);
        };
        Ok(self.viewed(self.offset, &sizes, &strides))
    }

    /// One position along an axis, which goes away (`torch.select`). Negative indices count from the end.
    ///
    /// # Errors
    /// If the axis or the index is out of range.
    pub fn select(&self, dim: i64, index: i64) -> Result<AnyTensor> {
        let op = "select";
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to select from".to_owned());
        }
        let at = axis(op, dim, self.rank())?;
        let size = self.sizes[at];
        let position = if index < 0 { index.saturating_add(size as i64) } else { index };
        if !(0..size as i64).contains(&position) {
            return Err(Error::IndexValue { op, index, axis: at, size });
        }
        Ok(self.picked_from(self.at(at, position as usize), (0..self.rank()).filter(|&axis| axis != at)))
    }

    /// `len` positions along an axis, from `start` (`torch.narrow`). A negative start counts from the end.
    ///
    /// # Errors
    /// If the range reaches beyond the axis.
    pub fn narrow(&self, dim: i64, start: i64, len: usize) -> Result<AnyTensor> {
        let op = "narrow";
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to narrow".to_owned());
        }
        let at = axis(op, dim, self.rank())?;
        let size = self.sizes[at];
        let from = if start < 0 { start.saturating_add(size as i64) } else { start };
        let from = usize::try_from(from).ok().filter(|from| from.checked_add(len).is_some_and(|end| end <= size));
        let Some(from) = from else {
            return invalid(
                op,
                format!("{len} positions from {start} on are out of range for axis {at} of size {size}"),
            );
        };
        let mut sizes = self.sizes;
        sizes[at] = len;
        Ok(self.viewed(self.at(at, from), &sizes, &self.strides))
    }

    /// `start:end:step` along an axis, as Python's slices (`torch.ops.aten.slice`): what is beyond the axis is cut off.
    ///
    /// # Errors
    /// If the axis is out of range or the step is not positive.
    pub fn slice(&self, dim: i64, start: Option<i64>, end: Option<i64>, step: i64) -> Result<AnyTensor> {
        let op = "slice";
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to slice".to_owned());
        }
        let at = axis(op, dim, self.rank())?;
        let Some(step) = usize::try_from(step).ok().filter(|&step| step > 0) else {
            return invalid(op, format!("the step must be positive, got {step}"));
        };
        let size = self.sizes[at];
        let start = clamped(start.unwrap_or(0), size);
        let end = end.map_or(size, |end| clamped(end, size)).max(start);
        let (mut sizes, mut strides) = (self.sizes, self.strides);
        sizes[at] = (end - start).div_ceil(step);
        // A stride this long is never taken: there is one position at most.
        strides[at] = strides[at].saturating_mul(step);
        Ok(self.viewed(self.at(at, start), &sizes, &strides))
    }

    /// Two axes exchanged (`torch.transpose`).
    ///
    /// # Errors
    /// If an axis is out of range.
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<AnyTensor> {
        let [a, b] = [axis("transpose", dim0, self.rank())?, axis("transpose", dim1, self.rank())?];
        let mut view = self.clone();
        if self.rank() > 0 {
            view.sizes.swap(a, b);
            view.strides.swap(a, b);
        }
        Ok(view)
    }

    /// The transposed matrix; a tensor of less than two axes as it is (`torch.t`).
    ///
    /// # Errors
    /// If there are more than two axes.
    pub fn t(&self) -> Result<AnyTensor> {
        match self.rank() {
            0 | 1 => Ok(self.clone()),
            2 => self.transpose(0, 1),
            rank => invalid("t", format!("a tensor with at most 2 axes is wanted, got one with {rank}")),
        }
    }

    /// The axes in another order (`torch.permute`).
    ///
    /// # Errors
    /// If not every axis is named once.
    pub fn permute(&self, dims: &[i64]) -> Result<AnyTensor> {
        let order = axes("permute", dims, self.rank())?;
        if order.len() != self.rank() {
            return invalid("permute", format!("a tensor with {} axes takes as many, got {dims:?}", self.rank()));
        }
        Ok(self.picked(order.into_iter()))
    }

    /// Axes moved to other positions, the rest staying in order (`torch.movedim`).
    ///
    /// # Errors
    /// If an axis is out of range or named twice, or the lists differ in length.
    pub fn movedim(&self, source: &[i64], destination: &[i64]) -> Result<AnyTensor> {
        let op = "movedim";
        if source.len() != destination.len() {
            return invalid(op, format!("{source:?} and {destination:?} name different numbers of axes"));
        }
        let (from, to) = (axes(op, source, self.rank())?, axes(op, destination, self.rank())?);
        if self.rank() == 0 {
            return Ok(self.clone());
        }
        let mut rest = (0..self.rank()).filter(|at| !from.contains(at));
        let order: Vec<usize> = (0..self.rank())
            .map(|at| match to.iter().position(|&to| to == at) {
                Some(named) => from[named],
                // As many are left as positions are.
                None => rest.next().unwrap_or(at),
            })
            .collect();
        Ok(self.picked(order.into_iter()))
    }

    /// Without the axes of size 1, or those of the axes named (`torch.squeeze`).
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    pub fn squeeze(&self, dims: Option<&[i64]>) -> Result<AnyTensor> {
        let named = dims.map(|dims| axes("squeeze", dims, self.rank())).transpose()?;
        let goes = |at: usize| self.sizes[at] == 1 && named.as_ref().is_none_or(|named| named.contains(&at));
        Ok(self.picked((0..self.rank()).filter(|&at| !goes(at))))
    }

    /// An axis of size 1 put in (`torch.unsqueeze`).
    ///
    /// # Errors
    /// If the position is out of range, or there would be too many axes.
    pub fn unsqueeze(&self, dim: i64) -> Result<AnyTensor> {
        let at = axis("unsqueeze", dim, self.rank() + 1)?;
        let stride = if at < self.rank() { self.sizes[at].wrapping_mul(self.strides[at]) } else { 1 };
        let (mut sizes, mut strides) = (self.sizes.to_vec(), self.strides.to_vec());
        sizes.insert(at, 1);
        strides.insert(at, stride);
        Dims::new("unsqueeze", &sizes)?;
        Ok(self.viewed(self.offset, &sizes, &strides))
    }

    /// Axes of size 1 repeated, and new ones in front, without a copy; -1 keeps a size (`torch.Tensor.expand`).
    ///
    /// # Errors
    /// If a size other than 1 would change.
    pub fn expand(&self, sizes: impl IntoSizes) -> Result<AnyTensor> {
        let op = "expand";
        let sizes = &*sizes.signed();
        let Some(new) = sizes.len().checked_sub(self.rank()) else {
            return invalid(op, format!("{sizes:?} has fewer axes than a tensor of shape {:?}", &*self.sizes));
        };
        let mut strides = Dims::new(op, &vec![0; sizes.len()])?;
        let mut result = strides;
        for (at, &size) in sizes.iter().enumerate() {
            let own = at.checked_sub(new).map(|own| (self.sizes[own], self.strides[own]));
            result[at] = match (usize::try_from(size), own) {
                (Ok(size), None) => size,
                (Ok(size), Some((own, stride))) if size == own => {
                    strides[at] = stride;
                    size
                }
                (Ok(size), Some((1, _))) => size,
                (Err(_), Some((own, stride))) if size == -1 => {
                    strides[at] = stride;
                    own
                }
                (Err(_), None) if size == -1 => {
                    return invalid(op, format!("the new axis {at} of {sizes:?} has no size to keep"));
                }
                (Err(_), _) => return invalid(op, format!("size {size} is negative")),
                (Ok(size), Some((own, _))) => {
                    return invalid(
                        op,
                        format!("axis {at} of size {own} can't be expanded to {size}: only size 1 can"),
                    );
                }
            };
        }
        // PyTorch gives new axes the stride they would have if they were not repeated.
        for at in (0..new).rev() {
            if result[at] == 1 {
                strides[at] = if at + 1 < result.len() { result[at + 1].wrapping_mul(strides[at + 1]) } else { 1 };
            }
        }
        super::checked_numel(op, &result, self.dtype)?;
        Ok(self.viewed(self.offset, &result, &strides))
    }

    /// Axes from `start` to `end` made one (`torch.flatten`); a copy where no view shows that.
    ///
    /// # Errors
    /// If an axis is out of range, or they are in the wrong order.
    pub fn flatten(&self, start: i64, end: i64) -> Result<AnyTensor> {
        let [from, to] = [axis("flatten", start, self.rank())?, axis("flatten", end, self.rank())?];
        if from > to {
            return invalid("flatten", format!("the first axis {start} comes after the last one {end}"));
        }
        if self.rank() == 0 {
            return self.reshape(&[1]);
        }
        let mut sizes: Vec<i64> = self.sizes[..from].iter().map(|&size| size as i64).collect();
        sizes.push(super::bridge::joined(&self.sizes[from..=to]));
        sizes.extend(self.sizes[to + 1..].iter().map(|&size| size as i64));
        self.reshape(&sizes)
    }

    /// An axis taken apart into several, of which one size may be -1 (`torch.unflatten`).
    ///
    /// # Errors
    /// If the axis is out of range or the sizes do not make up that of the axis.
    pub fn unflatten(&self, dim: i64, sizes: impl IntoSizes) -> Result<AnyTensor> {
        let op = "unflatten";
        let sizes = &*sizes.signed();
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to take apart".to_owned());
        }
        let at = axis(op, dim, self.rank())?;
        if sizes.is_empty() {
            return invalid(op, "at least one size is needed".to_owned());
        }
        let one = AnyTensor::fresh(Buffer::Meta, self.dtype, &self.sizes[at..=at], &[1]);
        let parts = inferred(op, sizes, &one)?;
        let mut all: Vec<i64> = self.sizes[..at].iter().map(|&size| size as i64).collect();
        all.extend(parts.iter().map(|&size| size as i64));
        all.extend(self.sizes[at + 1..].iter().map(|&size| size as i64));
        self.view(&all)
    }

    /// Windows of `size` positions along an axis, each `step` after the one before, as a new last axis
    /// (`torch.Tensor.unfold`).
    ///
    /// # Errors
    /// If the window is larger than the axis, the step is 0, or there would be more elements than can be counted.
    pub fn unfold(&self, dim: i64, size: usize, step: usize) -> Result<AnyTensor> {
        let op = "unfold";
        let at = axis(op, dim, self.rank())?;
        let own = self.sizes.get(at).copied().unwrap_or(1);
        if step == 0 {
            return invalid(op, "the step must be positive".to_owned());
        }
        if size > own {
            return invalid(op, format!("windows of {size} do not fit axis {at} of size {own}"));
        }
        let (mut sizes, mut strides) = (self.sizes.to_vec(), self.strides.to_vec());
        sizes.push(size);
        strides.push(self.strides.get(at).copied().unwrap_or(1));
        if at < self.rank() {
            sizes[at] = (own - size) / step + 1;
            strides[at] = strides[at].saturating_mul(step);
        }
        super::checked_numel(op, &Dims::new(op, &sizes)?, self.dtype)?;
        Ok(self.viewed(self.offset, &sizes, &strides))
    }

    /// The diagonals of the matrices along two axes, as a last axis (`torch.diagonal`).
    ///
    /// # Errors
    /// If the axes are out of range or one.
    pub fn diagonal(&self, offset: i64, dim1: i64, dim2: i64) -> Result<AnyTensor> {
        let op = "diagonal";
        if self.rank() < 2 {
            return invalid(op, format!("a tensor with at least 2 axes is wanted, got one with {}", self.rank()));
        }
        let [a, b] = [axis(op, dim1, self.rank())?, axis(op, dim2, self.rank())?];
        if a == b {
            return invalid(op, format!("the axes {dim1} and {dim2} are one"));
        }
        let shift = usize::try_from(offset.unsigned_abs()).unwrap_or(usize::MAX);
        let [rows, columns] = [self.sizes[a], self.sizes[b]];
        let len =
            if offset >= 0 { rows.min(columns.saturating_sub(shift)) } else { rows.saturating_sub(shift).min(columns) };
        let start = match len {
            0 => 0,
            _ => shift.wrapping_mul(if offset >= 0 { self.strides[b] } else { self.strides[a] }),
        };
        let rest = (0..self.rank()).filter(|&at| at != a && at != b);
        let (mut sizes, mut strides): (Vec<usize>, Vec<usize>) =
            rest.map(|at| (self.sizes[at], self.strides[at])).unzip();
        sizes.push(len);
        strides.push(self.strides[a].wrapping_add(self.strides[b]));
        Ok(self.viewed(self.offset.wrapping_add(start), &sizes, &strides))
    }

    /// Any sizes, strides and offset over the storage (`torch.as_strided`).
    ///
    /// # Errors
    /// If they reach beyond the storage.
    pub fn as_strided(&self, sizes: &[usize], strides: &[usize], offset: Option<usize>) -> Result<AnyTensor> {
        let op = "as_strided";
        if self.is_conj() || self.is_neg() {
            // It may reach what the tensor itself does not.
            return self.remarked(|x| x.as_strided(sizes, strides, offset));
        }
        if sizes.len() != strides.len() {
            return invalid(op, format!("{sizes:?} and {strides:?} differ in length"));
        }
        let (sizes, strides) = (Dims::new(op, sizes)?, Dims::new(op, strides)?);
        super::checked_numel(op, &sizes, self.dtype)?;
        let whole = self.shared_own()?;
        let offset = offset.unwrap_or(whole.offset);
        strides::expect_within(op, &sizes, &strides, offset, whole.room(self.dtype))?;
        if let (DType::Bool, Buffer::Cpu(buffer)) = (self.dtype, &whole.buffer) {
            let own = (whole.offset, &*whole.sizes, &*whole.strides);
            crate::tensor::expect_widened::<Cpu>(op, buffer, own, (offset, &sizes, &strides))?;
        }
        Ok(whole.viewed(offset, &sizes, &strides))
    }

    /// The tensor, for a view that reaches other elements of its storage than it does: where others may write that meanwhile, it is a
    /// copy of the tensor's own elements, as far apart as they lie and with zeros between. (The twin of `Backend::share_own`.)
    fn shared_own(&self) -> Result<AnyTensor> {
        match &self.buffer {
            Buffer::Cpu(buffer) if buffer.is_fixed() => {
                let width = self.dtype.itemsize();
                let own = crate::cpu::elementwise::kept_bytes(buffer, width, self.first(), &self.sizes, &self.strides)?;
                Ok(AnyTensor { buffer: Buffer::Cpu(own), offset: 0, ..self.clone() })
            }
            _ => Ok(self.clone()),
        }
    }
}
