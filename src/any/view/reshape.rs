//! Views of the same elements with other sizes: `reshape`, `view`, `flatten`, `squeeze`, `expand` and others.
//!
//! Source: PyTorch, "Tensor Views"; `tests/oracle/views.json`.

use super::views::{axes, axis};
use crate::any::call::{Bound, Value};
use crate::any::{AnyTensor, Dims, IntoSizes};
use crate::device::DynamicBuffer;
use crate::error::{Error, Result, invalid};
use crate::layout::strides;
use castiron_macros::operations;

/// Sizes one of which may be -1, which is inferred from the number of elements.
fn inferred(op: &'static str, sizes: &[i64], x: &AnyTensor) -> Result<Dims> {
    let numel = x.numel();
    let refused = || Error::Reshape { op, from: (&*x.sizes).into(), elements: numel, to: format!("{sizes:?}") };
    let mut result = Dims::of_rank(op, sizes.len())?;
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
    crate::any::checked_numel(op, &result, x.dtype)?;
    Ok(result)
}

#[operations]
impl AnyTensor {
    /// The same elements in row-major order with other sizes, one of which may be -1; a copy if the strides allow no view
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
    #[op(reshape(input, *shape))]
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

    #[op(reshape_as(input, other))]
    fn reshape_as_by_name(&self, other: &AnyTensor) -> Result<AnyTensor> {
        self.reshape(other.shape())
    }

    #[op(ravel(input))]
    fn ravel_by_name(&self) -> Result<AnyTensor> {
        self.contiguous()?.reshape([self.numel()])
    }

    fn view_strides(&self, sizes: &[usize]) -> Option<Dims> {
        let mut to = Dims::known(sizes);
        strides::write_reshaped(&self.sizes, &self.strides, sizes, &mut to).then_some(to)
    }

    /// [`reshape`](Self::reshape) that never copies (`torch.Tensor.view`).
    ///
    /// # Errors
    /// If the numbers of elements differ, or the strides allow no such view.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert!(x.view(&[3, -1])?.shares_storage(&x));
    /// assert!(x.t()?.view(&[6]).is_err()); // `reshape` copies
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[view_mut(reshape_mut)]
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

    /// By name, sizes or a dtype.
    #[op(view(input, *shape))]
    fn view_by_name(args: &Bound<'_>) -> Result<Value> {
        let input = args.tensor("input")?;
        match args.all("*shape")? {
            [Value::Type(dtype)] => input.view_dtype(*dtype).map(Value::Array),
            _ => input.view(&args.read::<Vec<i64>>("*shape")?).map(Value::Array),
        }
    }

    #[op(view_as(input, other))]
    fn view_as_by_name(&self, other: &AnyTensor) -> Result<AnyTensor> {
        self.view(other.shape())
    }

    /// Without the axes of size 1, or those of the given axes (`torch.squeeze`).
    ///
    /// # Errors
    /// If an axis is out of range or named twice.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// let x = AnyTensor::zeros(&[1, 3, 1], DType::F32)?;
    /// assert_eq!((x.squeeze(None)?.shape(), x.squeeze(Some(&[0]))?.shape()), (&[3][..], &[3, 1][..]));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(squeeze(input, dim = None), in_place(view))]
    #[view_mut]
    pub fn squeeze(&self, dims: Option<&[i64]>) -> Result<AnyTensor> {
        let named = dims.map(|dims| axes("squeeze", dims, self.rank())).transpose()?;
        let goes = |at: usize| self.sizes[at] == 1 && named.as_ref().is_none_or(|named| named.contains(&at));
        self.picked(&(0..self.rank()).filter(|&at| !goes(at)).collect::<Vec<_>>())
    }

    /// With an axis of size 1 inserted (`torch.unsqueeze`).
    ///
    /// # Errors
    /// If the position is out of range, or there would be too many axes.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!((x.unsqueeze(0)?.shape(), x.unsqueeze(-1)?.shape()), (&[1, 2, 3][..], &[2, 3, 1][..]));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(unsqueeze(input, dim), in_place(view))]
    #[view_mut]
    pub fn unsqueeze(&self, dim: i64) -> Result<AnyTensor> {
        let (op, rank) = ("unsqueeze", self.rank() + 1);
        let at = axis(op, dim, rank)?;
        self.viewed_by(op, rank, |own, view| Ok(own.unsqueeze(at, view)))
    }

    /// Axes of size 1 repeated, and new axes in front, without a copy; -1 keeps a size (`torch.Tensor.expand`).
    ///
    /// # Errors
    /// If a size other than 1 would change.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1], [2]]);
    /// assert_eq!(x.expand(&[-1, 3])?.to_string(), "tensor([[1, 1, 1],\n        [2, 2, 2]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(expand(input, *size))]
    #[op(broadcast_to(input, size))]
    #[view_mut]
    pub fn expand(&self, sizes: impl IntoSizes) -> Result<AnyTensor> {
        let op = "expand";
        let sizes = &*sizes.signed();
        let Some(new) = sizes.len().checked_sub(self.rank()) else {
            return invalid(op, format!("{sizes:?} has fewer axes than a tensor of shape {:?}", &*self.sizes));
        };
        let mut to = Dims::of_rank(op, sizes.len())?;
        for (at, &size) in sizes.iter().enumerate() {
            to[at] = match (usize::try_from(size), at.checked_sub(new)) {
                (Ok(size), _) => size,
                (Err(_), Some(own)) if size == -1 => self.sizes[own],
                (Err(_), None) if size == -1 => {
                    return invalid(op, format!("the new axis {at} of {sizes:?} has no size to keep"));
                }
                _ => return invalid(op, format!("size {size} is negative")),
            };
        }
        crate::any::checked_numel(op, &to, self.dtype)?;
        self.viewed_by(op, sizes.len(), |own, view| {
            view.sizes.copy_from_slice(&to);
            own.expand(op, view)
        })
    }

    #[op(expand_as(input, other))]
    fn expand_as_by_name(&self, other: &AnyTensor) -> Result<AnyTensor> {
        self.expand(other.shape())
    }

    /// Axes from `start` to `end` flattened to one (`torch.flatten`); a copy if the strides allow no view.
    ///
    /// # Errors
    /// If an axis is out of range, or they are in the wrong order.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// let x = AnyTensor::zeros(&[2, 3, 4], DType::F32)?;
    /// assert_eq!((x.flatten(0, -1)?.shape(), x.flatten(1, 2)?.shape()), (&[24][..], &[2, 12][..]));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "ravel")]
    #[op(flatten(input, start_dim = 0, end_dim = -1))]
    pub fn flatten(&self, start: i64, end: i64) -> Result<AnyTensor> {
        let [from, to] = [axis("flatten", start, self.rank())?, axis("flatten", end, self.rank())?];
        if from > to {
            return invalid("flatten", format!("the first axis {start} comes after the last one {end}"));
        }
        if self.rank() == 0 {
            return self.reshape(&[1]);
        }
        let mut sizes: Vec<i64> = self.sizes[..from].iter().map(|&size| size as i64).collect();
        sizes.push(crate::any::base::as_typed::joined(&self.sizes[from..=to]));
        sizes.extend(self.sizes[to + 1..].iter().map(|&size| size as i64));
        self.reshape(&sizes)
    }

    /// One axis split into several, one of whose sizes may be -1 (`torch.unflatten`).
    ///
    /// # Errors
    /// If the axis is out of range or the product of the sizes is not that of the axis.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// let x = AnyTensor::zeros(&[2, 12], DType::F32)?;
    /// assert_eq!(x.unflatten(1, &[3, -1])?.shape(), [2, 3, 4]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(unflatten(input, dim, sizes))]
    #[view_mut]
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
        let one = AnyTensor::fresh(DynamicBuffer::NO_DATA, self.dtype, &self.sizes[at..=at], &[1]);
        let parts = inferred(op, sizes, &one)?;
        let mut all: Vec<i64> = self.sizes[..at].iter().map(|&size| size as i64).collect();
        all.extend(parts.iter().map(|&size| size as i64));
        all.extend(self.sizes[at + 1..].iter().map(|&size| size as i64));
        self.view(&all)
    }
}
