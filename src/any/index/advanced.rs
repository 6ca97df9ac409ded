//! `x[…]` with masks, lists and tensors of indices; `index_put`.
//! Uses `elementwise::apply`, `tensor::index::scatter`, `tensor::index::index_put`, `device`; used by `view::any_view_mut`, `index::scatter`.

use crate::any::base::by_width::{invalid, signed};
use crate::any::base::dims::MOST;
use crate::any::call::Value;
use crate::any::elementwise::apply::{SCALAR, broadcast_to, result_strides, same_device};
use crate::any::{AnyTensor, Dims};
use crate::device::{AnyDevice, DynamicBuffer};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::tensor::ScatterReduce;
use crate::tensor::places;
use castiron_macros::operations;

/// Advanced indexing: index tensors along some axes, and the tensor permuted so that these axes are adjacent.
struct IndexedAxes {
    /// The tensor with the indexed axes adjacent.
    turned: AnyTensor,
    /// The permutation that was applied, if any.
    order: Option<Vec<usize>>,
    /// The sizes before the axes, the number of positions along them, and the sizes after them.
    before: Vec<usize>,
    outer: usize,
    after: Vec<usize>,
    /// The positions, and the sizes they have.
    positions: AnyTensor,
    sizes: Vec<usize>,
    /// The axis whose indices are the positions themselves, negative ones counted from the end, where there is but one.
    lone: Option<usize>,
}

impl IndexedAxes {
    /// Of a tensor and the indices along its axes, which are in order.
    fn new(op: &'static str, x: &AnyTensor, indices: &[(usize, AnyTensor)]) -> Result<Self> {
        let axes: Vec<usize> = indices.iter().map(|(axis, _)| *axis).collect();
        let none = crate::any::Dims::new(op, &[])?;
        let sizes = indices.iter().try_fold(none, |sizes, (_, index)| broadcast_to(op, &sizes, &index.sizes))?;
        for (_, index) in indices {
            // As in PyTorch, indices on the host go with every device that has elements.
            if !(x.has_data() && index.device() == AnyDevice::CPU) {
                same_device(op, x, index)?;
            }
        }
        let adjacent = axes.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let rest = (0..x.rank()).filter(|axis| !axes.contains(axis));
        let order: Option<Vec<usize>> = (!adjacent).then(|| axes.iter().copied().chain(rest).collect());
        let turned = match &order {
            Some(order) => x.permute(&order.iter().map(|&axis| axis as i64).collect::<Vec<_>>())?,
            None => x.clone(),
        };
        let start = if adjacent { axes.first().copied().unwrap_or(0) } else { 0 };
        let (before, rest) = turned.sizes.split_at(start);
        let (own, after) = rest.split_at(axes.len());
        let (before, own, after) = (before.to_vec(), own.to_vec(), after.to_vec());
        let outer = own.iter().product();
        let has_positions = x.has_data() && !(outer > 0 && (before.contains(&0) || after.contains(&0)));
        let on_host = x.device() == AnyDevice::CPU && indices.iter().all(|(_, index)| index.device() == AnyDevice::CPU);
        // (Where nothing is read, the indices have to be looked at all the same; and before memory runs out, where they are repeated.)
        let lone = match indices {
            [(axis, index)]
                if on_host && has_positions && outer > 0 && !index.is_empty() && index.expect_memory().is_ok() =>
            {
                Some(*axis)
            }
            _ => None,
        };
        let positions = if let (Some(_), [(_, index)]) = (lone, indices) {
            index.clone()
        } else if !x.has_data() {
            AnyTensor::meta(&sizes, DType::I64)?
        } else if outer > 0 && (before.contains(&0) || after.contains(&0)) {
            // Nothing is read or written, so PyTorch does not check the indices.
            AnyTensor::zeros_on(&sizes, DType::I64, x.device())?
        } else if let Some(places) = on_gpu(x, indices, &own, &sizes)? {
            places
        } else {
            let spread = indices.iter().map(|(_, index)| index.expanded_to(&sizes)?.to_ints(op));
            let places = places(op, spread, &own).map_err(|error| outside(op, indices, &own).unwrap_or(error));
            AnyTensor::of_ints(places.map_err(|error| at_axis(error, &axes))?, &sizes)?.to_device(x.device())?
        };
        Ok(IndexedAxes { turned, order, before, outer, after, positions, sizes: sizes.to_vec(), lone })
    }

    /// The tensor as `[before, outer, after]`.
    fn as_three_axes(&self) -> Result<AnyTensor> {
        let product = |sizes: &[usize]| sizes.iter().product::<usize>() as i64;
        self.turned.reshaped(&[product(&self.before), self.outer as i64, product(&self.after)])
    }

    /// The positions beside each of the others.
    fn along(&self, op: &'static str, cube: &AnyTensor) -> Result<AnyTensor> {
        cube.index_along_axis(op, 1, &self.positions.reshaped(&[self.positions.numel() as i64])?, None)
    }

    /// The axis of an error as the caller knows it.
    fn named<T>(&self, result: Result<T>) -> Result<T> {
        match self.lone {
            Some(axis) => result.map_err(|error| at_axis(error, &[axis; MOST])),
            None => result,
        }
    }

    /// The sizes of what is read or written.
    fn whole(&self) -> Vec<usize> {
        [&self.before[..], &self.sizes, &self.after].concat()
    }

    fn read(&self, op: &'static str) -> Result<AnyTensor> {
        crate::any::Dims::new(op, &self.whole())?;
        let (cube, whole) = (self.as_three_axes()?, self.whole());
        let gathered = cube.gathered(op, 1, &self.along(op, &cube)?, self.lone.is_some());
        let result = self.named(gathered)?.reshaped(&signed(&whole))?;
        // The strides are PyTorch's: those of an elementwise result of the tensor (stride 0 at the indices) and the indices.
        let (before, rest) = self.turned.strides.split_at(self.before.len());
        let (here, none) = (vec![0; self.sizes.len()], |of: &[usize]| vec![0; of.len()]);
        let own = [before, &here, &rest[rest.len() - self.after.len()..]].concat();
        let indices = [none(&self.before), strides::row_major(&self.sizes), none(&self.after)].concat();
        let to = result_strides(&whole, &[(&whole, &own, false), (&whole, &indices, false), SCALAR]);
        if result.strides == to { Ok(result) } else { result.copied(&to) }
    }
}

/// The positions that indices lead to, where they are computed on a GPU.
#[cfg(feature = "cuda")]
fn on_gpu(x: &AnyTensor, indices: &[(usize, AnyTensor)], own: &[usize], sizes: &Dims) -> Result<Option<AnyTensor>> {
    if !x.is_on_gpu() {
        return Ok(None);
    }
    crate::any::index::on_gpu::positions(x.device(), indices, own, sizes)
}
#[cfg(not(feature = "cuda"))]
fn on_gpu(_: &AnyTensor, _: &[(usize, AnyTensor)], _: &[usize], _: &Dims) -> Result<Option<AnyTensor>> {
    Ok(None)
}

/// The first index out of range, where there was no room for a list of all.
fn outside(op: &'static str, indices: &[(usize, AnyTensor)], sizes: &[usize]) -> Option<Error> {
    indices.iter().zip(sizes).enumerate().find_map(|(axis, ((_, index), &size))| {
        let within = -(size as i64)..size as i64;
        let index = DynamicBuffer::find(index.elements_as::<i64>().ok()?, |index| !within.contains(&index)).ok()??;
        Some(Error::IndexValue { op, index, axis, size })
    })
}

/// The axis as the caller knows it.
pub(crate) fn at_axis(error: Error, axes: &[usize]) -> Error {
    match error {
        Error::IndexValue { op, index, axis, size } => {
            Error::IndexValue { op, index, axis: axes.get(axis).copied().unwrap_or(axis), size }
        }
        error => error,
    }
}

/// A list, which may hold lists, as a tensor of indices or a mask.
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

/// Indices along axes from `at` on: a mask gives one for each of its axes.
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

/// Whether all that chooses among elements are masks.
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
    /// choose elements, and where several are given their shapes broadcast. As in PyTorch the axes they make stand where the
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

    /// The view that an index makes, and the indices that choose elements of it, by axes.
    pub(crate) fn met(&self, op: &'static str, index: &[Value]) -> Result<(AnyTensor, Vec<(usize, AnyTensor)>)> {
        let mut items = Vec::with_capacity(index.len());
        for item in index {
            items.push(match item {
                Value::List(list) => Value::Array(from_list(op, list)?),
                item => item.clone(),
            });
        }
        let takes = |item: &Value| match item {
            Value::Array(tensor) if is_mask(tensor) => tensor.rank(),
            Value::Rest | Value::Absent | Value::Number(ScalarValue::Bool(_)) => 0,
            _ => 1,
        };
        let taken: usize = items.iter().map(takes).sum();
        let Some(left) = self.rank().checked_sub(taken) else {
            return invalid(op, format!("{taken} indices are too many for a tensor with {} axes", self.rank()));
        };
        let (mut view, mut at, mut indices) = (self.clone(), 0_usize, Vec::new());
        for item in &items {
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

    /// Writes values where indices meet (`torch.index_put`): a tensor of indices or a mask for each axis from the first on, or
    /// none where whole axes are meant. With `accumulate` the values are added to what is there and to one another.
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

    /// Whether one value where a mask is true is a choice between two, in the layout that writing has.
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

    /// Writes values of the same dtype where indices of axes meet.
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
