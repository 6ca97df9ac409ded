//! Copies of views, by name: `permute_copy` and others; and tensors resized: `resize_`.

use crate::any::call::{Args, Bound, call};
use crate::any::{AnyTensor, Value};
use crate::error::{Result, invalid};
use castiron_macros::operations;

/// The result of a view operation, copied.
fn copied(args: &Bound<'_>, of: &str, names: &[&str]) -> Result<Value> {
    let mut given = Args::new();
    for name in names {
        match args.get(name) {
            Some(value) => given = given.named(name, value.clone()),
            None => continue,
        }
    }
    fn copy(value: Value) -> Result<Value> {
        match value {
            Value::Array(view) => view.copy().map(Value::Array),
            Value::List(views) => views.into_iter().map(copy).collect::<Result<_>>().map(Value::List),
            other => Ok(other),
        }
    }
    copy(call(of, &given)?)
}

macro_rules! copies {
    ($($name:ident: $of:literal [$($argument:literal)*] #[op $called:tt])*) => {
        #[operations(COPIES)]
        impl AnyTensor {$(
            #[op $called]
            fn $name(args: &Bound<'_>) -> Result<Value> {
                copied(args, $of, &[$($argument),*])
            }
        )*}
    };
}
copies! {
    as_strided_copy: "as_strided" ["input" "size" "stride" "storage_offset"] #[op(as_strided_copy(input, size, stride, storage_offset))]
    diagonal_copy: "diagonal" ["input" "offset" "dim1" "dim2"] #[op(diagonal_copy(input, offset, dim1, dim2))]
    permute_copy: "permute" ["input" "dims"] #[op(permute_copy(input, dims))]
    select_copy: "select" ["input" "dim" "index"] #[op(select_copy(input, dim, index))]
    squeeze_copy: "squeeze" ["input" "dim"] #[op(squeeze_copy(input, dim))]
    t_copy: "t" ["input"] #[op(t_copy(input))]
    transpose_copy: "transpose" ["input" "dim0" "dim1"] #[op(transpose_copy(input, dim0, dim1))]
    unbind_copy: "unbind" ["input" "dim"] #[op(unbind_copy(input, dim))]
    unsqueeze_copy: "unsqueeze" ["input" "dim"] #[op(unsqueeze_copy(input, dim))]
}

#[operations]
impl AnyTensor {
    #[op(alias_copy(input))]
    fn alias_copy_by_name(&self) -> Result<AnyTensor> {
        self.copy()
    }

    #[op(expand_copy(input, size, implicit = _))]
    fn expand_copy_by_name(&self, size: &[i64]) -> Result<AnyTensor> {
        self.expand(size)?.copy()
    }

    #[op(view_copy(input, size))]
    fn view_copy_by_name(&self, size: &[i64]) -> Result<AnyTensor> {
        // (PyTorch's copies where no view can be taken.)
        self.reshape(size)?.copy()
    }

    #[op(unfold_copy(input, dimension, size, step))]
    fn unfold_copy_by_name(args: &Bound<'_>) -> Result<Value> {
        let given = Args::new().arg(args.tensor("input")?).arg(args.value("dimension")?.clone());
        let given = given.arg(args.value("size")?.clone()).arg(args.value("step")?.clone());
        call("unfold", &given)?.tensor()?.copy().map(Value::from)
    }

    #[op(split_with_sizes_copy(input, split_sizes, dim = 0))]
    fn split_with_sizes_copy_by_name(args: &Bound<'_>) -> Result<Value> {
        let given = Args::new().arg(args.tensor("input")?).arg(args.value("split_sizes")?.clone());
        let parts = match call("split_with_sizes", &given.named("dim", args.read_or("dim", || 0_i64)?))? {
            Value::List(parts) => parts,
            other => vec![other].into(),
        };
        let copies = parts.into_iter().map(|part| part.tensor()?.copy().map(Value::from));
        copies.collect::<Result<_>>().map(Value::List)
    }

    /// A dense copy with elements written at other sizes, strides and an offset (`torch.as_strided_scatter`).
    ///
    /// # Errors
    /// If these reach beyond the elements, or the shape is another.
    #[op(as_strided_scatter(input, src, size, stride, storage_offset = None))]
    pub fn as_strided_scatter(
        &self,
        from: &AnyTensor,
        sizes: &[usize],
        strides: &[usize],
        offset: Option<usize>,
    ) -> Result<AnyTensor> {
        self.with_view_overwritten("as_strided_scatter", |x| x.as_strided(sizes, strides, offset), from)
    }

    /// Zeros of the same shape and dtype.
    #[op(zero_(input))]
    fn zero_by_name(&self) -> Result<AnyTensor> {
        self.zeros_like_device(&self.sizes, self.dtype)
    }

    /// The elements in row-major order with other sizes: missing elements are zero, surplus ones are dropped (`torch.Tensor.resize_`, where
    /// missing elements are undefined).
    ///
    /// # Errors
    /// If a size is negative or memory runs out.
    #[op(resize_(input, *size, memory_format = _))]
    pub fn resized(&self, size: &[i64]) -> Result<AnyTensor> {
        let op = "resize_";
        if let Some(size) = size.iter().find(|&&size| size < 0) {
            return invalid(op, format!("a size must not be negative, got {size}"));
        }
        let sizes: Vec<usize> = size.iter().map(|&size| size as usize).collect();
        let wanted = crate::any::checked_numel(op, &sizes, self.dtype)?;
        let flat = self.reshaped(&[self.numel() as i64])?;
        let flat = if wanted <= self.numel() {
            flat.narrow(0, 0, wanted)?
        } else {
            let more = self.zeros_like_device(&[wanted - self.numel()], self.dtype)?;
            crate::any::cat(&[flat, more], 0)?
        };
        flat.reshaped(size)
    }

    #[op(resize_as_(input, the_template, memory_format = _))]
    fn resize_as_by_name(&self, other: &AnyTensor) -> Result<AnyTensor> {
        self.resized(&crate::any::base::by_width::signed(&other.sizes))
    }

    /// The sizes that shapes broadcast to.
    #[op(broadcast_shapes(*shapes))]
    fn broadcast_shapes_by_name(args: &Bound<'_>) -> Result<Value> {
        let mut sizes = crate::any::Dims::known(&[]);
        for shape in args.all("*shapes")? {
            let items: &[Value] = match shape {
                Value::List(items) => items,
                one => core::slice::from_ref(one),
            };
            let own = items.iter().map(|item| crate::any::call::Item::of(args, "shapes", item));
            let own = own.collect::<Result<Vec<usize>>>()?;
            sizes = crate::any::base::operand::broadcast_to("broadcast_shapes", &sizes, &own)?;
        }
        Ok(Value::List(sizes.iter().map(|&size| Value::from(size as i64)).collect()))
    }

    /// [`layer_norm`](Self::layer_norm), and the means and inverse standard deviations.
    #[op(native_layer_norm(input, normalized_shape, weight, bias, eps), dtypes = float)]
    fn native_layer_norm_by_name(
        &self,
        sizes: &[i64],
        weight: Option<&AnyTensor>,
        bias: Option<&AnyTensor>,
        eps: f64,
    ) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
        let result = self.layer_norm(sizes, weight, bias, eps)?;
        let axes: Vec<i64> = (1..=sizes.len() as i64).map(|axis| -axis).collect();
        let variances = self.var(Some(&axes), 0.0, true)?;
        Ok((result, self.mean(Some(&axes), true, None)?, variances.add(eps)?.rsqrt()?))
    }

    /// [`softmax`](Self::softmax), but zeros where all elements are minus infinity.
    #[op(ops.aten._safe_softmax.default(input, dim, dtype = None), dtypes = float, aliases("torch.ops.aten._safe_softmax.default"))]
    fn safe_softmax_by_name(&self, dim: i64, dtype: Option<crate::dtype::DType>) -> Result<AnyTensor> {
        let probabilities = self.softmax(dim, dtype)?;
        if self.is_empty() {
            return Ok(probabilities);
        }
        let hidden = self.eq(f64::NEG_INFINITY)?.all(Some(&[dim]), true)?;
        probabilities.masked_fill(&hidden, 0)
    }
}
