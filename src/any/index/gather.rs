//! Elements selected by index tensors: `index_select`, `gather`, `take`, `take_along_dim`, `embedding`.

use crate::any::base::by_width::signed;
use crate::any::base::dispatch::{is_integer, refused};
use crate::any::base::operand::{broadcast_to, same_device};
use crate::any::view::views::axis;
use crate::any::{AnyTensor, IntoSizes};
use crate::device::DynamicBuffer;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result, invalid};
use castiron_macros::operations;

#[operations]
impl AnyTensor {
    /// The slices at a list of indices along an axis (`torch.index_select`). Indices are `int64` or `int32`, not negative.
    ///
    /// # Errors
    /// If an index or the axis is out of range, or the indices are not a list.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// let y = x.index_select(1, &AnyTensor::from(tensor![2, 0]))?;
    /// assert_eq!(y.to_string(), "tensor([[3, 1],\n        [6, 4]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "take")]
    #[op(index_select(input, dim, index))]
    pub fn index_select(&self, dim: i64, index: &AnyTensor) -> Result<AnyTensor> {
        let op = "index_select";
        let at = axis(op, dim, self.rank())?;
        let own = self.at_least_1d();
        let list = index.as_index(op, true)?;
        let index = own.index_along_axis(op, at, &list, None)?;
        if self.rank() == 0 && index.numel() != 1 {
            return invalid(op, format!("a zero-dim tensor takes one index, got {}", index.numel()));
        }
        own.expect_inside(op, at, &list)?;
        let result = own.gathered(op, at, &index, false)?;
        if self.rank() == 0 { result.reshaped(&[]) } else { Ok(result) }
    }

    /// Checks that indices are in range, for a tensor without elements: otherwise reading them checks it.
    pub(crate) fn expect_inside(&self, op: &'static str, axis: usize, index: &AnyTensor) -> Result<()> {
        if !self.is_empty() || !index.has_data() {
            return Ok(());
        }
        let size = self.sizes[axis];
        let index = index.to(DType::I64)?;
        let outside = |at: i64| usize::try_from(at).map_or(true, |at| at >= size);
        match DynamicBuffer::find(index.elements_as::<i64>()?, outside)? {
            Some(index) => Err(Error::IndexValue { op, index, axis, size }),
            None => Ok(()),
        }
    }

    /// A list of indices, or a single one, expanded to the other axes; `from` has the sizes of the result.
    pub(crate) fn index_along_axis(
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
        let index = index.at_least_1d();
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
        index.reshaped(&own)?.expanded_to(&sizes)
    }

    /// For each index the element at this position along the axis, the other indices being the same (`torch.gather`). The index tensor is
    /// `int64` or `int32`, not negative, has the same rank, and is no larger along the other axes.
    ///
    /// # Errors
    /// If an index or the axis is out of range, or sizes do not fit.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// let y = x.gather(1, &AnyTensor::from(tensor![[2], [0]]))?; // one of each row
    /// assert_eq!(y.to_string(), "tensor([[3],\n        [4]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(gather(input, dim, index, sparse_grad = _))]
    pub fn gather(&self, dim: i64, index: &AnyTensor) -> Result<AnyTensor> {
        let op = "gather";
        let at = axis(op, dim, self.rank())?;
        same_device(op, self, index)?;
        // PyTorch does not check the dtype of an empty index tensor.
        let own_index = if index.is_empty() { index.to(DType::I64)? } else { index.as_index(op, true)? };
        let (own, along) = (self.at_least_1d(), own_index.at_least_1d());
        if own.rank() != along.rank() && !index.is_empty() {
            return invalid(op, format!("{} axes of indices do not go with {}", index.rank(), self.rank()));
        }
        if index.is_empty() {
            return self.none_of(&index.sizes);
        }
        own.gathered(op, at, &along, false)?.reshaped(&signed(&index.sizes))
    }

    /// The elements at positions counted in row-major order (`torch.take`). The indices are `int64`; negative ones count from the
    /// end.
    ///
    /// # Errors
    /// If an index is out of range.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.take(&AnyTensor::from(tensor![0, 4, -1]))?.to_string(), "tensor([1, 5, 6])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(take(input, index))]
    pub fn take(&self, index: &AnyTensor) -> Result<AnyTensor> {
        let op = "take";
        same_device(op, self, index)?;
        let flat = index.as_index(op, false)?.reshape(&[index.numel() as i64])?;
        self.reshape(&[self.numel() as i64])?.gathered(op, 0, &flat, true)?.reshaped(&signed(&index.sizes))
    }

    /// [`gather`](Self::gather) with both broadcast along the other axes, and negative indices counting from the end
    /// (`torch.take_along_dim`); without an axis [`take`](Self::take), as a vector. The indices are `int64`.
    ///
    /// # Errors
    /// If an index or the axis is out of range, or shapes do not broadcast.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[3, 1, 2], [6, 5, 4]]);
    /// let sorted = x.take_along_dim(&x.argsort(1, false)?, Some(1))?;
    /// assert_eq!(sorted.to_string(), "tensor([[1, 2, 3],\n        [4, 5, 6]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(take_along_dim(input, indices, dim = None))]
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
        self.expanded_to(&from)?.gathered(op, at, &index.expanded_to(&to)?, true)
    }

    /// The rows of a matrix at indices of any shape (`torch.nn.functional.embedding`, with its operands exchanged). The indices are `int64`
    /// or `int32`, not negative.
    ///
    /// # Errors
    /// If an index is out of range, or `self` is not a matrix.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let weight = AnyTensor::from(tensor![[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]]);
    /// let y = weight.embedding(&AnyTensor::from(tensor![2, 0]))?;
    /// assert_eq!(y.to_string(), "tensor([[2.0000, 2.5000],\n        [0.0000, 0.5000]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn embedding(&self, index: &AnyTensor) -> Result<AnyTensor> {
        let op = "embedding";
        if self.rank() != 2 {
            return invalid(op, format!("a matrix is wanted, got a tensor of shape {:?}", self.shape()));
        }
        let list = index.as_index(op, true)?.reshape(&[index.numel() as i64])?;
        let along = self.index_along_axis(op, 0, &list, None)?;
        self.expect_inside(op, 0, &list)?;
        let rows = self.gathered(op, 0, &along, false)?;
        rows.reshaped(&signed(&[&*index.sizes, &[self.sizes[1]]].concat()))
    }

    /// [`embedding`](Self::embedding) with the selected rows scaled down to a norm, if theirs is greater.
    fn embedding_within(&self, index: &AnyTensor, norm: f64, order: f64) -> Result<AnyTensor> {
        let op = "embedding";
        if self.dtype.category() < Category::Floating {
            return Err(Error::NotAdmitted {
                op,
                dtype: self.dtype,
                reason: "norms are those of floats and complex".to_owned(),
            });
        }
        let rows = self.embedding(index)?;
        let wide = crate::any::base::convert::widened(self.dtype);
        let lengths = rows.to(wide)?.abs()?;
        let lengths = if order == 2.0 {
            lengths.square()?.sum(Some(&[-1]), true, None)?.sqrt()?
        } else {
            lengths.pow(order)?.sum(Some(&[-1]), true, None)?.pow(1.0 / order)?
        };
        let factor = lengths.add(1e-7)?.reciprocal()?.mul(norm)?;
        let shortened = rows.mul(&factor)?.to(self.dtype)?;
        AnyTensor::select_by_mask(op, &lengths.gt(norm)?, &shortened, &rows)
    }

    #[op(
        nn.functional.embedding(input, weight, padding_idx = None, max_norm = None, norm_type = 2.0, scale_grad_by_freq = false, sparse = _),
        dtypes = "all dtypes; floats and complex with `max_norm`"
    )]
    fn embedding_by_name(
        index: &AnyTensor,
        weight: &AnyTensor,
        padding: Option<i64>,
        max_norm: Option<f64>,
        norm_type: f64,
        scales_gradient: bool,
    ) -> Result<AnyTensor> {
        if weight.is_recorded() {
            return weight.embedding_with_gradient(
                index,
                padding,
                max_norm.map(|norm| (norm, norm_type)),
                scales_gradient,
            );
        }
        match max_norm {
            None => weight.embedding(index),
            Some(norm) => weight.embedding_within(index, norm, norm_type),
        }
    }

    /// An embedding whose gradient is recorded: rows of the padding have none, and a norm that rows are scaled down to does not enter it.
    fn embedding_with_gradient(
        &self,
        index: &AnyTensor,
        padding: Option<i64>,
        within: Option<(f64, f64)>,
        scales: bool,
    ) -> Result<AnyTensor> {
        let op = "embedding";
        if scales {
            return invalid(op, "`scale_grad_by_freq` has no gradient here".to_owned());
        }
        let mut rows = self.embedding(index)?;
        if let Some((norm, order)) = within {
            let shortened = self.off_tape().embedding_within(index, norm, order)?;
            let _guard = crate::any::grad::scoped_no_grad();
            rows.copy_from(&shortened)?;
        }
        let Some(padding) = padding else { return Ok(rows) };
        let padding = if padding < 0 { padding + self.sizes[0] as i64 } else { padding };
        let is_padding = index.eq(padding)?.unsqueeze(-1)?;
        AnyTensor::select_by_mask(op, &is_padding, &rows.off_tape(), &rows)
    }

    /// Positions in the row-major order of a shape as positions along each of its axes (`torch.unravel_index`).
    ///
    /// # Errors
    /// If the dtype is no integer, or a size is negative.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let places = AnyTensor::from(tensor![1, 5]).unravel_index(&[2, 3])?;
    /// assert_eq!(places[0].to_string(), "tensor([0, 1])"); // rows
    /// assert_eq!(places[1].to_string(), "tensor([1, 2])"); // columns
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(unravel_index(indices, shape), dtypes = integer)]
    pub fn unravel_index(&self, sizes: impl IntoSizes) -> Result<Vec<AnyTensor>> {
        let op = "unravel_index";
        let sizes = &*sizes.signed();
        if !is_integer(self.dtype) {
            return Err(refused(op, self.dtype));
        }
        if sizes.iter().any(|&size| size < 0) {
            return invalid(op, format!("sizes must not be negative, got {sizes:?}"));
        }
        let x = self.to(DType::I64)?;
        let along = |at: usize| {
            let step = sizes[at + 1..].iter().try_fold(1_i64, |product, &size| product.checked_mul(size));
            let Some(step) = step else { return invalid(op, format!("the sizes {sizes:?} are too large")) };
            x.floor_divide(step)?.remainder(sizes[at])
        };
        (0..sizes.len()).map(along).collect()
    }
}
