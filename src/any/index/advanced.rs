//! Advanced indexing: `x[…]` with masks, lists and index tensors; `index_put`.

use super::indexed_axes::IndexedAxes;
use crate::any::AnyTensor;
use crate::any::base::by_width::signed;
use crate::any::base::operand::same_device;
use crate::any::call::{Value, expect_shallow};
use crate::device::AnyDevice;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result, invalid};
use crate::tensor::ScatterReduce;
use castiron_macros::operations;
use std::borrow::Cow;

/// A list, possibly nested, as an index tensor or a mask.
fn from_list(op: &'static str, items: &[Value]) -> Result<AnyTensor> {
    let mixed = || Error::InvalidArgument {
        op,
        reason: "a list of indices holds integers, or bools, or lists alike".to_owned(),
    };
    if items.iter().any(|item| matches!(item, Value::List(_))) {
        let rows = items.iter().map(|item| match item {
            Value::List(items) => from_list(op, items),
            _ => Err(mixed()),
        });
        return crate::any::stack(&rows.collect::<Result<Vec<_>>>()?, 0);
    }
    let (mut ints, mut bools) = (Vec::new(), 0);
    for item in items {
        match item {
            Value::Number(ScalarValue::Int(int)) => ints.push(i64::try_from(*int).map_err(|_| mixed())?),
            Value::Number(ScalarValue::Bool(value)) => {
                bools += 1;
                ints.push(i64::from(*value));
            }
            Value::Array(tensor) if tensor.numel() == 1 => ints.extend(tensor.to_ints(op)?),
            _ => return Err(mixed()),
        }
    }
    let list = AnyTensor::of_ints(ints, &[items.len()])?;
    match bools {
        0 => Ok(list),
        all if all == items.len() => list.to(DType::Bool),
        _ => Err(mixed()),
    }
}

/// Index tensors along axes from `at` on: a mask gives one for each of its axes.
fn indices_of(op: &'static str, x: &AnyTensor, at: usize, index: &AnyTensor) -> Result<Vec<(usize, AnyTensor)>> {
    match index.dtype {
        DType::Bool | DType::U8 => {
            let own = x.sizes.get(at..at + index.rank());
            if own != Some(&*index.sizes) {
                let reason = format!(
                    "the shape {:?} of the mask does not match that of the tensor, {:?}, from axis {at} on",
                    index.shape(),
                    x.shape()
                );
                return invalid(op, reason);
            }
            let columns = index.nonzero_tuple()?;
            Ok(columns.into_iter().enumerate().map(|(axis, column)| (at + axis, column)).collect())
        }
        DType::I64 | DType::I32 => Ok(vec![(at, index.to(DType::I64)?)]),
        dtype => {
            let reason = "indices are int64 or int32, masks bool".to_owned();
            Err(Error::NotAdmitted { op, dtype, reason })
        }
    }
}

fn is_mask(tensor: &AnyTensor) -> bool {
    matches!(tensor.dtype, DType::Bool | DType::U8)
}

/// Whether all advanced indices are masks.
pub(crate) fn are_masks(index: &[Value]) -> bool {
    fn is_mask(item: &Value) -> bool {
        match item {
            Value::Array(tensor) => tensor.dtype == DType::Bool || (tensor.rank() == 0 && is_integral(tensor)),
            Value::List(items) => items.first().is_some_and(is_truth),
            _ => true,
        }
    }
    fn is_truth(item: &Value) -> bool {
        match item {
            Value::Number(value) => matches!(value, ScalarValue::Bool(_)),
            item => is_mask(item),
        }
    }
    index.iter().all(is_mask)
}

fn is_integral(tensor: &AnyTensor) -> bool {
    tensor.dtype != DType::Bool && tensor.dtype.int_range().is_some()
}

#[operations]
impl AnyTensor {
    /// `x[…]` (`torch.Tensor.__getitem__`): integers, slices, `None` and `...` give a view; masks, lists and tensors of indices
    /// select elements; several of them broadcast. As in PyTorch the axes of the result stand where the
    /// indices stood, or in front if others stood between them.
    ///
    /// # Errors
    /// If an index is out of range, there are too many, or a mask has another shape.
    ///
    /// ```
    /// use castiron::any::Value;
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// let columns = x.index(&[Value::Rest, vec![2_i64, 0].into()])?;
    /// assert_eq!(columns.to_string(), "tensor([[3, 1],\n        [6, 4]])");
    /// assert_eq!(x.index(&[(&x.gt(4)?).into()])?.to_string(), "tensor([5, 6])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(__getitem__(input, index))]
    #[view_mut]
    pub fn index(&self, index: &[Value]) -> Result<AnyTensor> {
        let op = "index";
        if let [Value::Array(mask)] = index
            && mask.dtype == DType::Bool
            && mask.rank() > 0
            && mask.sizes == self.sizes
            && self.has_data()
            && mask.has_data()
            && [self, mask].map(AnyTensor::device) == [AnyDevice::CPU; 2]
        {
            return self.masked_elements(op, mask);
        }
        let (view, indices) = self.met(op, index)?;
        if indices.is_empty() { Ok(view) } else { IndexedAxes::new(op, &view, &indices)?.read(op) }
    }

    /// The view by the basic indices, and the advanced indices into it, by axes.
    pub(crate) fn met(&self, op: &'static str, index: &[Value]) -> Result<(AnyTensor, Vec<(usize, AnyTensor)>)> {
        expect_shallow(op, index)?;
        let mut items = Vec::with_capacity(index.len());
        for item in index {
            items.push(match item {
                Value::List(list) => Cow::Owned(Value::Array(from_list(op, list)?)),
                item => Cow::Borrowed(item),
            });
        }
        let takes = |item: &Value| match item {
            Value::Array(tensor) if is_mask(tensor) => tensor.rank(),
            Value::Rest | Value::Absent | Value::Number(ScalarValue::Bool(_)) => 0,
            _ => 1,
        };
        let taken: usize = items.iter().map(|item| takes(item)).sum();
        let Some(left) = self.rank().checked_sub(taken) else {
            return invalid(op, format!("{taken} indices are too many for a tensor with {} axes", self.rank()));
        };
        let (mut view, mut at, mut indices) = (self.clone(), 0_usize, Vec::new());
        for item in &items {
            let item = &**item;
            // A bool adds an axis of size 1 or 0.
            let truth = match item {
                Value::Number(ScalarValue::Bool(truth)) => Some(*truth),
                Value::Array(tensor) if tensor.rank() == 0 && tensor.dtype == DType::Bool => {
                    Some(tensor.item()? == ScalarValue::Bool(true))
                }
                _ => None,
            };
            match item {
                _ if truth.is_some() => {
                    view = view.unsqueeze(at as i64)?;
                    let count = usize::from(truth == Some(true));
                    indices.push((at, AnyTensor::of_ints(vec![0; count], &[count])?));
                    at += 1;
                }
                Value::Rest => at += left,
                Value::Absent => {
                    view = view.unsqueeze(at as i64)?;
                    at += 1;
                }
                Value::Number(ScalarValue::Int(index)) => {
                    let index = i64::try_from(*index).unwrap_or(if *index < 0 { i64::MIN } else { i64::MAX });
                    view = view.select(at as i64, index)?;
                }
                Value::Slice(start, end, step) => {
                    view = view.slice(at as i64, *start, *end, step.unwrap_or(1))?;
                    at += 1;
                }
                Value::Array(tensor) if tensor.rank() == 0 && is_integral(tensor) => {
                    view = view.select(at as i64, tensor.to_ints(op)?.first().copied().unwrap_or(0))?;
                }
                Value::Array(tensor) => {
                    let more = indices_of(op, &view, at, tensor)?;
                    at += more.len();
                    indices.extend(more);
                }
                other => {
                    let reason = format!("integers, slices, None, `...`, masks and indices are wanted, got {other:?}");
                    return invalid(op, reason);
                }
            }
        }
        Ok((view, indices))
    }

    /// Writes values where indices meet (`torch.index_put`): an index tensor or a mask for each axis from the first on, or `None` for a
    /// whole axis. With `accumulate` values are added to the elements, also several at one position.
    ///
    /// # Errors
    /// If an index is out of range, there are too many, dtypes differ or the values do not broadcast.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// let (rows, columns) = (AnyTensor::from(tensor![0, 1]), AnyTensor::from(tensor![2, 0]));
    /// let y = x.index_put(&[Some(&rows), Some(&columns)], &AnyTensor::from(tensor![10, 20]), true)?;
    /// assert_eq!(y.to_string(), "tensor([[ 1,  2, 13],\n        [24,  5,  6]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(index_put(input, indices, values, accumulate = false))]
    #[in_place("tensor![1, 2, 3]" "&[Some(&AnyTensor::from(tensor![0, 2]))], &AnyTensor::from(tensor![7, 8]), false" = "[7, 2, 8]")]
    pub fn index_put(&self, indices: &[Option<&AnyTensor>], values: &AnyTensor, accumulate: bool) -> Result<AnyTensor> {
        let op = "index_put";
        if let [Some(mask)] = indices
            && !accumulate
            && values.numel() == 1
            && values.dtype == self.dtype
            && self.is_filled_by(mask)
            && values.has_data()
            && values.device() == self.device()
        {
            return AnyTensor::select_by_mask(op, mask, &values.reshape(&[])?, self);
        }
        let (mut at, mut found) = (0, Vec::new());
        for index in indices {
            let taken = index.map_or(1, |index| if is_mask(index) { index.rank() } else { 1 });
            if at + taken > self.rank() {
                return invalid(op, format!("there are too many indices for a tensor with {} axes", self.rank()));
            }
            if let Some(index) = index {
                found.extend(indices_of(op, self, at, index)?);
            }
            at += taken;
        }
        if found.is_empty() {
            return invalid(op, "there are no indices".to_owned());
        }
        self.put_at(op, &found, values, accumulate)
    }

    /// Whether writing one value by a mask can be done by `where`, with the same strides of the result.
    fn is_filled_by(&self, mask: &AnyTensor) -> bool {
        let alike = mask.dtype == DType::Bool && mask.rank() > 0 && mask.sizes == self.sizes;
        alike
            && self.has_data()
            && mask.has_data()
            && [self, mask].map(AnyTensor::device) == [AnyDevice::CPU; 2]
            && self.is_contiguous()
            && mask.is_contiguous()
            && !self.dtype.is_shell()
    }

    /// Writes values of the same dtype at the positions of indices along axes.
    pub(crate) fn put_at(
        &self,
        op: &'static str,
        found: &[(usize, AnyTensor)],
        values: &AnyTensor,
        accumulate: bool,
    ) -> Result<AnyTensor> {
        crate::any::base::by_width::same_dtype(op, self, values)?;
        same_device(op, self, values)?;
        let values = &values.to_device(self.device())?;
        let indexed = IndexedAxes::new(op, self, found)?;
        let whole = indexed.whole();
        let refused = |_| Error::Broadcast { op, lhs: values.shape().into(), rhs: whole[..].into() };
        let cube = indexed.as_three_axes()?;
        let along = indexed.along(op, &cube)?;
        let from = values.expanded_to(&whole).map_err(refused)?.reshaped(&signed(&along.sizes))?;
        let wraps = indexed.lone.is_some();
        let written = indexed.named(if accumulate {
            cube.reduced_into(op, (1, wraps), &along, &from, ScatterReduce::Sum, true)
        } else {
            cube.scattered(op, 1, &along, &from, wraps)
        })?;
        let written = written.reshaped(&signed(&indexed.turned.sizes))?;
        let Some(order) = indexed.order else { return Ok(written) };
        let back = (0..order.len()).map(|axis| order.iter().position(|&from| from == axis).unwrap_or(axis) as i64);
        written.permute(&back.collect::<Vec<_>>())?.contiguous()
    }
}
