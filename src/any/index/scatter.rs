//! Elements written, added and reduced at indices.

use crate::any::base::by_width::{same_dtype, signed};
use crate::any::base::operand::same_device;
use crate::any::call::{Bound, Value};
use crate::any::view::views::axis;
use crate::any::{AnyOperand, AnyTensor};
use crate::axis;
use crate::device::Dynamic;
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result, invalid};
use crate::ops::arguments::Indexing;
use crate::storage::View;
use crate::tensor::ScatterReduce;
use crate::{Dyn, Tensor};
use castiron_macros::operations;

/// A shape with the maximal rank; tensors of lower rank get axes of size 1 in front.
type Most = (Dyn, Dyn, Dyn, Dyn, Dyn, Dyn, Dyn, Dyn);

fn most(x: &AnyTensor) -> Result<AnyTensor> {
    let mut sizes = vec![1; crate::layout::dims::MOST - x.rank()];
    sizes.extend(signed(&x.sizes));
    x.reshaped(&sizes)
}

#[operations]
impl AnyTensor {
    /// Reduces elements into the positions of indices along an axis. All tensors have the same rank, at least 1.
    pub(crate) fn reduced_into(
        &self,
        op: &'static str,
        (axis, wraps): (usize, bool),
        index: &AnyTensor,
        from: &AnyTensor,
        reduce: ScatterReduce,
        include_self: bool,
    ) -> Result<AnyTensor> {
        self.expect_writable(op, axis, index, from)?;
        let refused = match reduce {
            ScatterReduce::Amax | ScatterReduce::Amin => self.dtype.is_complex(),
            ScatterReduce::Mean => self.dtype == DType::Bool,
            ScatterReduce::Sum | ScatterReduce::Prod => false,
        };
        if refused {
            return Err(crate::any::base::dispatch::refused(op, self.dtype));
        }
        let own = most(self)?;
        // Axes of size 1 in front can have any stride.
        let (index, from) = (most(index)?, most(from)?);
        let indexing = Indexing { op, axis: crate::layout::dims::MOST - self.rank() + axis, wraps };
        crate::any::base::dispatch::dispatch_dtype!(op, self.dtype, E: Dtype => {
            if !self.has_data() {
                return AnyTensor::meta(&self.sizes, self.dtype);
            }
            let mut out: Tensor<E, Most, Dynamic> = own.typed::<E, Most, Dynamic>()?.try_contiguous()?;
            let from: View<'_, _, E> = from.data_as(op)?;
            crate::tensor::reduce_into(&mut out, indexing, index.data_as(op)?, from, reduce, include_self)?;
            AnyTensor::from(out).reshaped(&signed(&self.sizes))
        })
    }

    /// The operands of an operation that writes along an axis: the tensors with at least one axis, and the axis.
    fn writing(
        &self,
        op: &'static str,
        dim: i64,
        index: &AnyTensor,
        from: &AnyTensor,
    ) -> Result<(usize, [AnyTensor; 3])> {
        let at = axis(op, dim, self.rank())?;
        same_dtype(op, self, from)?;
        for other in [index, from] {
            same_device(op, self, other)?;
        }
        // PyTorch does not check the dtype of an empty index tensor.
        let index = if index.is_empty() { index.to(DType::I64)? } else { index.as_index(op, true)? };
        let all = [self.at_least_1d(), index.at_least_1d(), from.at_least_1d()];
        if !index.is_empty() && all.iter().any(|x| x.rank() != all[0].rank()) {
            let reason = format!(
                "a tensor with {} axes takes indices and a source with as many, got {} and {}",
                self.rank(),
                index.rank(),
                from.rank()
            );
            return invalid(op, reason);
        }
        Ok((at, all))
    }

    /// Writes the source at indices along an axis (`torch.scatter`): `result[index[i][j]][j] = source[i][j]` along axis 0. The indices are
    /// `int64` or `int32`, not negative. The source is a tensor of the same dtype, or a scalar. Of several elements for one position the
    /// last one stays.
    ///
    /// # Errors
    /// If an index or the axis is out of range, sizes do not match, or a scalar does not fit.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[0, 0, 0], [0, 0, 0]]);
    /// let y = x.scatter(1, &AnyTensor::from(tensor![[2], [0]]), &AnyTensor::from(tensor![[7], [8]]))?;
    /// assert_eq!(y.to_string(), "tensor([[0, 0, 7],\n        [8, 0, 0]])");
    /// assert_eq!(x.scatter(1, &AnyTensor::from(tensor![[1], [1]]), 5)?.to_string(), "tensor([[0, 5, 0],\n        [0, 5, 0]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[in_place("tensor![0, 0, 0]" "0, &AnyTensor::from(tensor![2, 0]), tensor![5, 6]" = "[6, 0, 5]")]
    pub fn scatter(&self, dim: i64, index: &AnyTensor, source: impl Into<AnyOperand>) -> Result<AnyTensor> {
        if self.dtype == DType::F4E2M1FNX2 {
            return Err(crate::any::base::dispatch::refused("scatter", self.dtype));
        }
        let (op, source) = ("scatter", self.source("scatter", index, &source.into())?);
        let (at, [own, along, from]) = self.writing(op, dim, index, &source)?;
        if along.is_empty() {
            return self.copy();
        }
        own.scattered(op, at, &along, &from, false)?.reshaped(&signed(&self.sizes))
    }

    #[op(scatter(input, dim, index, src, value, reduce), in_place)]
    fn scatter_by_name(args: &Bound<'_>) -> Result<Value> {
        let (input, dim, index) = (args.tensor("input")?, args.read("dim")?, args.tensor("index")?);
        let source = args.read::<AnyOperand>(if args.is_given("src") { "src" } else { "value" })?;
        let result = match args.read_or("reduce", || "")? {
            "" => input.scatter(dim, index, source)?,
            "add" | "multiply" => input.scatter_combining(dim, index, &source, args.read("reduce")?)?,
            other => return args.refused(format!("`reduce` is `add` or `multiply`, got {other:?}")),
        };
        Ok(result.into())
    }

    /// The source, expanded to the sizes of the indices if it is a scalar.
    fn source(&self, op: &'static str, index: &AnyTensor, source: &AnyOperand) -> Result<AnyTensor> {
        match source {
            AnyOperand::Array(source) => Ok(source.clone()),
            AnyOperand::Number(value) => self.scalar_on_device(op, *value, self.dtype)?.expanded_to(&index.sizes),
        }
    }

    fn scattered_with(
        &self,
        op: &'static str,
        dim: i64,
        index: &AnyTensor,
        source: &AnyTensor,
        reduce: ScatterReduce,
        include_self: bool,
    ) -> Result<AnyTensor> {
        let (at, [own, along, from]) = self.writing(op, dim, index, source)?;
        if along.is_empty() {
            return self.copy();
        }
        own.reduced_into(op, (at, false), &along, &from, reduce, include_self)?.reshaped(&signed(&self.sizes))
    }

    /// [`scatter`](Self::scatter) that adds to or multiplies the elements: `torch.scatter` with `reduce="add"` or `"multiply"`.
    fn scatter_combining(
        &self,
        dim: i64,
        index: &AnyTensor,
        source: &AnyOperand,
        reduce: ScatterReduce,
    ) -> Result<AnyTensor> {
        let source = self.source("scatter", index, source)?;
        self.scattered_with("scatter", dim, index, &source, reduce, true)
    }

    /// Adds the source at indices along an axis (`torch.scatter_add`).
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let counts = AnyTensor::from(tensor![0, 0, 0]);
    /// let y = counts.scatter_add(0, &AnyTensor::from(tensor![2, 0, 2]), &AnyTensor::from(tensor![1, 1, 1]))?;
    /// assert_eq!(y.to_string(), "tensor([1, 0, 2])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(scatter_add(input, dim, index, src), dtypes = any)]
    #[in_place("tensor![1, 1, 1]" "0, &AnyTensor::from(tensor![0, 0]), &AnyTensor::from(tensor![2, 3])" = "[6, 1, 1]")]
    pub fn scatter_add(&self, dim: i64, index: &AnyTensor, source: &AnyTensor) -> Result<AnyTensor> {
        self.scattered_with("scatter_add", dim, index, source, ScatterReduce::Sum, true)
    }

    /// Reduces the source at indices along an axis, including the elements of `self` if `include_self` (`torch.scatter_reduce`).
    ///
    /// # Errors
    /// As [`scatter`](Self::scatter); and if the elements are complex and their maximum or minimum is asked for, or bools and their mean.
    ///
    /// ```
    /// use castiron::{AnyTensor, ScatterReduce, tensor};
    /// let x = AnyTensor::from(tensor![5, 5]);
    /// let (index, source) = (AnyTensor::from(tensor![0, 0, 1]), AnyTensor::from(tensor![7, 9, 3]));
    /// assert_eq!(x.scatter_reduce(0, &index, &source, ScatterReduce::Amax, true)?.to_string(), "tensor([9, 5])");
    /// assert_eq!(x.scatter_reduce(0, &index, &source, ScatterReduce::Amax, false)?.to_string(), "tensor([9, 3])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(scatter_reduce(input, dim, index, src, reduce, include_self = true), dtypes = any)]
    #[in_place("tensor![1, 2]" "0, &AnyTensor::from(tensor![0, 0]), &AnyTensor::from(tensor![3, 5]), ScatterReduce::Amax, true" = "[5, 2]")]
    pub fn scatter_reduce(
        &self,
        dim: i64,
        index: &AnyTensor,
        source: &AnyTensor,
        reduce: ScatterReduce,
        include_self: bool,
    ) -> Result<AnyTensor> {
        self.scattered_with("scatter_reduce", dim, index, source, reduce, include_self)
    }

    /// Checks that the source has the same rank.
    fn expect_axes_of(&self, op: &'static str, source: &AnyTensor) -> Result<()> {
        if self.rank() == source.rank() || self.rank() == 0 {
            return Ok(());
        }
        invalid(op, format!("a source with {} axes is wanted, got one of shape {:?}", self.rank(), source.shape()))
    }

    /// The operands of an operation that writes slices.
    fn slices(
        &self,
        op: &'static str,
        dim: i64,
        [index, from]: [&AnyTensor; 2],
        short: bool,
    ) -> Result<(usize, [AnyTensor; 3])> {
        let at = axis(op, dim, self.rank())?;
        same_dtype(op, self, from)?;
        same_device(op, self, from)?;
        let (own, from) = (self.at_least_1d(), from.at_least_1d());
        let index = own.index_along_axis(op, at, &index.as_index(op, short)?, Some(&from))?;
        Ok((at, [own, index, from]))
    }

    /// Writes slices of the source to the positions in a list of `int64` indices along an axis (`torch.index_copy`).
    ///
    /// # Errors
    /// If an index or the axis is out of range, or sizes do not fit.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// let y = x.index_copy(1, &AnyTensor::from(tensor![2]), &AnyTensor::from(tensor![[0], [0]]))?;
    /// assert_eq!(y.to_string(), "tensor([[1, 2, 0],\n        [4, 5, 0]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(index_copy(input, dim, index, source))]
    #[in_place("tensor![0, 0, 0]" "0, &AnyTensor::from(tensor![2]), &AnyTensor::from(tensor![7])" = "[0, 0, 7]")]
    pub fn index_copy(&self, dim: i64, index: &AnyTensor, source: &AnyTensor) -> Result<AnyTensor> {
        let (at, [own, along, from]) = self.slices("index_copy", dim, [index, source], false)?;
        own.scattered("index_copy", at, &along, &from, false)?.reshaped(&signed(&self.sizes))
    }

    /// Adds slices of the source, times `alpha`, to the positions in a list of `int64` or `int32` indices along an axis
    /// (`torch.index_add`).
    ///
    /// # Errors
    /// If an index or the axis is out of range, sizes do not fit, or `alpha` does not fit the dtype.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2, 3]);
    /// let y = x.index_add(0, &AnyTensor::from(tensor![0, 0]), &AnyTensor::from(tensor![1, 2]), 10)?;
    /// assert_eq!(y.to_string(), "tensor([31,  2,  3])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(index_add(input, dim, index, source, alpha = 1), dtypes = any)]
    #[in_place("tensor![1, 1]" "0, &AnyTensor::from(tensor![1, 1]), &AnyTensor::from(tensor![2, 3]), 10" = "[1, 51]")]
    pub fn index_add(&self, dim: i64, index: &AnyTensor, source: &AnyTensor, alpha: impl Scalar) -> Result<AnyTensor> {
        let op = "index_add";
        self.expect_axes_of(op, source)?;
        let (at, [own, _, from]) = self.slices(op, dim, [index, source], true)?;
        let (cube, from, index) = (own.as_three_axes(at)?, from.as_three_axes(at)?, index.as_index(op, true)?);
        let alpha = AnyTensor::scalar_of(op, alpha, self.dtype)?;
        let sum = crate::any::base::dispatch::dispatch_dtype!(op, self.dtype, E: Dtype => {
            let alpha: E = alpha.typed::<E, (), Dynamic>()?.try_item()?;
            let (cube, from) = (cube.typed_rank3::<E, Dynamic>()?, from.typed_rank3::<E, Dynamic>()?);
            let sum = cube.try_index_add(axis![1], &index.typed_rank1::<i64, Dynamic>()?, &from, alpha);
            Ok(AnyTensor::from(sum.map_err(|error| crate::any::index::indexed_axes::at_axis(error, &[at; 3]))?))
        })?;
        sum.reshaped(&signed(&self.sizes))
    }

    /// Writes a value, a scalar or a zero-dim tensor, to the positions in a list of `int64` indices along an axis (`torch.index_fill`).
    /// Negative indices count from the end.
    ///
    /// # Errors
    /// If an index or the axis is out of range, or the value has axes or does not fit.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.index_fill(1, &AnyTensor::from(tensor![0, -1]), 9)?.to_string(), "tensor([[9, 2, 9],\n        [9, 5, 9]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(index_fill(input, dim, index, value))]
    #[in_place("tensor![1, 2, 3]" "0, &AnyTensor::from(tensor![0, 2]), 9" = "[9, 2, 9]")]
    pub fn index_fill(&self, dim: i64, index: &AnyTensor, value: impl Into<AnyOperand>) -> Result<AnyTensor> {
        let op = "index_fill";
        let at = axis(op, dim, self.rank())?;
        let value = value.into();
        if value.dtype().is_complex() && !self.dtype.is_complex() {
            let reason = "a complex value does not become a real one here".to_owned();
            return Err(Error::NotAdmitted { op, dtype: self.dtype, reason });
        }
        let (own, value) = (self.at_least_1d(), self.fill_scalar(op, &value)?);
        let along = own.index_along_axis(op, at, &index.as_index(op, false)?, None)?;
        if value.is_recorded() {
            // A position that is named twice is written once.
            let none = self.zeros_like_device(&own.sizes, DType::Bool)?;
            let written = self.scalar_on_device(op, ScalarValue::Bool(true), DType::Bool)?;
            let written = none.scattered(op, at, &along, &written.expanded_to(&along.sizes)?, true)?;
            return AnyTensor::select_by_mask(op, &written, &value, &own)?.reshaped(&signed(&self.sizes));
        }
        own.scattered(op, at, &along, &value.expanded_to(&along.sizes)?, true)?.reshaped(&signed(&self.sizes))
    }

    /// Reduces slices of the source into the positions in a list of indices along an axis (`torch.index_reduce`): their product, mean,
    /// maximum or minimum.
    ///
    /// # Errors
    /// If an index or the axis is out of range, sizes do not fit, or the elements are bools or complex.
    ///
    /// ```
    /// use castiron::{AnyTensor, ScatterReduce, tensor};
    /// let x = AnyTensor::from(tensor![1.0, 2.0]);
    /// let (index, source) = (AnyTensor::from(tensor![0, 0]), AnyTensor::from(tensor![3.0, 4.0]));
    /// assert_eq!(x.index_reduce(0, &index, &source, ScatterReduce::Prod, true)?.to_string(), "tensor([12.,  2.])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(index_reduce(input, dim, index, source, reduce, include_self = true), dtypes = real)]
    #[in_place("tensor![1, 2]" "0, &AnyTensor::from(tensor![1, 1]), &AnyTensor::from(tensor![3, 5]), ScatterReduce::Prod, true" = "[1, 30]")]
    pub fn index_reduce(
        &self,
        dim: i64,
        index: &AnyTensor,
        source: &AnyTensor,
        reduce: ScatterReduce,
        include_self: bool,
    ) -> Result<AnyTensor> {
        let op = "index_reduce";
        // PyTorch admits bools and complex numbers for some ranks only; here they are refused for all.
        if self.dtype == DType::Bool || self.dtype.is_complex() {
            return Err(crate::any::base::dispatch::refused(op, self.dtype));
        }
        self.expect_axes_of(op, source)?;
        if reduce == ScatterReduce::Sum {
            return invalid(op, "there is no sum: use `index_add`".to_owned());
        }
        let (at, [own, along, from]) = self.slices(op, dim, [index, source], true)?;
        own.expect_inside(op, at, &index.as_index(op, true)?)?;
        if along.is_empty() {
            return self.copy();
        }
        own.reduced_into(op, (at, false), &along, &from, reduce, include_self)?.reshaped(&signed(&self.sizes))
    }

    /// Writes elements to row-major positions (`torch.put`), or adds to the elements there. The indices are `int64`; negative ones count
    /// from the end.
    ///
    /// # Errors
    /// If an index is out of range, or there are not as many elements as indices.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// let y = x.put(&AnyTensor::from(tensor![1, -1]), &AnyTensor::from(tensor![7, 8]), false)?;
    /// assert_eq!(y.to_string(), "tensor([[1, 7, 3],\n        [4, 5, 8]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(put(input, index, source, accumulate = false))]
    #[in_place("tensor![[1, 2], [3, 4]]" "&AnyTensor::from(tensor![0, 3]), &AnyTensor::from(tensor![9, 8]), false" = "[[9, 2], [3, 8]]")]
    pub fn put(&self, index: &AnyTensor, source: &AnyTensor, accumulate: bool) -> Result<AnyTensor> {
        let op = "put";
        same_dtype(op, self, source)?;
        let index = index.as_index(op, false)?;
        if index.numel() != source.numel() {
            let reason = format!("{} indices do not go with {} elements", index.numel(), source.numel());
            return invalid(op, reason);
        }
        if !self.has_data() {
            return AnyTensor::meta(&self.sizes, self.dtype);
        }
        same_device(op, self, &index)?;
        same_device(op, self, source)?;
        let count = [index.numel() as i64];
        if index.is_empty() {
            return self.copy();
        }
        let (flat, index, from) =
            (self.reshape(&[self.numel() as i64])?, index.reshape(&count)?, source.reshape(&count)?);
        let written = if accumulate {
            flat.reduced_into(op, (0, true), &index, &from, ScatterReduce::Sum, true)?
        } else {
            flat.scattered(op, 0, &index, &from, true)?
        };
        written.reshaped(&signed(&self.sizes))
    }
}
