//! `AnyTensor`: tensors whose dtype, shape, device and strides are values known at run time; every method returns a `Result`.
//!
//! Elementwise operations run the loops compiled for the tables of operations, and convert operands of other dtypes in blocks; views are
//! computed from sizes and strides; everything else goes to typed tensors with up to three axes whose sizes are known at run time.
//! `device::Dynamic` alone knows where elements are.
//!
//! | PyTorch | castiron, each `?` |
//! |---|---|
//! | `torch.tensor([[1., 2.]])`, `torch.zeros(n, 3, device=d)` | `AnyTensor::from(tensor![[1.0, 2.0]])`, `AnyTensor::zeros_on(&[n, 3], DType::F32, d)` |
//! | `torch.rand(2, 3, generator=g)` | `AnyTensor::rand(&[2, 3], DType::F32, &mut g)` |
//! | `(x + 1) @ w`, `2 / x`, `x > y` | `(&x + 1)?.matmul(&w)`, `2 / &x`, `x.gt(&y)` |
//! | `x.sum(0, keepdim=True)`, `x.to(torch.int64)` | `x.sum(Some(&[0]), true, None)`, `x.to(DType::I64)` |
//! | `x[:, 1:3]`, `x[mask]`, `x[..., [0, 2]]` | `x.slice(1, Some(1), Some(3), 1)`, `x.index(&[(&mask).into()])`, `x.index(&[Value::Rest, vec![0_i64, 2].into()])` |
//! | `x[mask] = 0`, `x[:, 1] += y` | `x.set(&[(&mask).into()], 0)`, `x.select_mut(1, 1)?.add_(&y)` |
//! | `x.lerp_(y, 0.5)`, `torch.add(x, y, out=z)` | `x.lerp_(&y, 0.5)`, `x.add_into(&y, &mut z)` |
//! | `x.conj()`, `x.mH`, `x.to_sparse()` | `x.conj()`, `x.adjoint()` (views both), `x.to_sparse(0)` |
//! | any of these by name | [`call`], [`call_in_place`], [`call_into`] |
//! | a formula of one's own by name | [`register`] |
//! | `x.requires_grad_()`, `loss.backward()`, `x.grad` (feature `grad`) | `x.requires_grad_(true)`, `loss.backward()`, `x.grad()` |

// rustdoc lists methods in the order of these modules: the most frequent ones come first.

// Shared by all `AnyTensor` operations: sizes, operands, dtype dispatch, conversion, from and to typed tensors.
mod base;

// Tensors created with dtype, sizes and device as values.
mod create;

// Operations on each element by itself: dtypes, devices and shapes are checked at run time, then the loop of the table runs.
mod elementwise;

// Reductions of all elements or along axes, and statistics and normalisation that only `AnyTensor` has.
mod reduce;

// Operations along one axis that keep it.
mod scan;

// Sorting and searching.
mod sort;

// Views, which share storage and copy nothing, and `AnyViewMut`, which borrows it.
mod view;

// Elements moved to other positions, repeated or padded; each makes a new tensor.
mod rearrange;

// Several tensors joined into one: `cat`, `stack` and others, `meshgrid`, `block_diag`.
mod join;

// Elements selected by index tensors and masks: `x[…]`, gather, scatter, masked operations, `index_put`.
mod index;

// Products of vectors and matrices: `matmul`, `addmm`, `tensordot`, `einsum`.
mod linalg;

// Losses of predictions and targets.
mod loss;

// Layers of networks: convolutions, pooling.
mod nn;

// Factorisations of matrices and solvers.
#[cfg(feature = "linalg")]
mod decompose;

// Fourier transforms and windows.
#[cfg(feature = "fft")]
pub(crate) mod fourier;

// `AnySparse`: sparse tensors.
mod sparse;

// Gradients.
#[cfg(feature = "grad")]
mod grad;
#[cfg(not(feature = "grad"))]
#[path = "grad/absent.rs"]
mod grad;

// Operations by name.
pub(crate) mod call;

use crate::device::erased::ErasedView;
use crate::device::{AnyDevice, Backend, Device, Dynamic, DynamicBuffer};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::dims::Dims;
#[cfg(feature = "safetensors")]
pub(crate) use crate::layout::dims::MOST as MOST_AXES;
pub use crate::ops::grid::{GridMode, GridPadding};
pub use crate::ops::resample::InterpolateMode;
use crate::shape::{Shape, SizeArray};
use crate::tensor::Tensor;
pub(crate) use base::composite::IntoAny;
use base::copies::preserved;
pub(crate) use base::dispatch::dispatch_dtype;
#[doc(hidden)]
pub use base::dispatch::{Visited, not_among};
pub use base::operand::AnyOperand;
pub use base::sizes::IntoSizes;
pub(crate) use base::storage::checked_numel;
pub use call::outputs::{call_in_place, call_into};
pub use call::{Args, NamedOp, Value, ValueList, alias, call, ops};
pub use elementwise::formula::register;
pub use elementwise::where_::where_;
#[cfg(feature = "grad")]
pub use grad::{GradOptions, HookHandle, NoGrad, grad, scoped_no_grad};
pub use join::cat_stack::{cat, column_stack, dstack, hstack, stack, vstack};
pub use join::meshgrid::{block_diag, broadcast_tensors, cartesian_prod, meshgrid};
pub use linalg::einsum::einsum;
pub use linalg::matrix_power::multi_dot;
pub use nn::conv::ConvOptions;
pub use nn::interpolate::InterpolateOptions;
pub use nn::pool::PoolOptions;
pub use reduce::histogram::HistogramBins;
pub use sparse::AnySparse;
pub use view::any_view_mut::AnyViewMut;

/// A tensor whose dtype, shape and device are known at run time.
///
/// It has the same operations as [`Tensor`], with the same results; what the compiler refuses there is an [`Error`] here. Cloning is O(1)
/// and shares storage; a tensor is never changed through another, because writing to shared storage copies it first. Parts are written in
/// place through an [`AnyViewMut`], and [`visit!`](crate::visit) runs typed code on whatever the tensor holds.
///
/// ```
/// use castiron::{AnyTensor, DType, tensor};
/// let pixels = AnyTensor::from(tensor![[0, 51], [102, 255]; u8]);
/// let scaled = (&pixels / 255.0)?;
/// assert_eq!((scaled.dtype(), scaled.shape()), (DType::F32, &[2, 2][..]));
/// assert!((&scaled + &AnyTensor::from(tensor![1, 2, 3])).is_err());
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Clone)]
pub struct AnyTensor {
    elements: Elements,
    dtype: DType,
    /// In elements.
    offset: usize,
    sizes: Dims,
    /// In elements.
    strides: Dims,
}

/// The elements, on any device. They are read through [`AnyTensor::buffer`], which applies a conjugate or negative bit.
enum Elements {
    Plain(DynamicBuffer),
    /// Elements that are read as conjugated or negated.
    WithBit(std::sync::Arc<base::conjugate_bit::BitStorage>),
}

impl<E: Element, S: Shape, D: Device> From<Tensor<E, S, D>> for AnyTensor {
    fn from(tensor: Tensor<E, S, D>) -> Self {
        AnyTensor::from(&tensor)
    }
}
/// Shares storage: O(1).
///
/// # Panics
/// If memory runs out for a copy of borrowed elements (`From` cannot return an error).
impl<E: Element, S: Shape, D: Device> From<&Tensor<E, S, D>> for AnyTensor {
    fn from(tensor: &Tensor<E, S, D>) -> Self {
        // (Borrowed memory is copied.)
        let (storage, offset) = D::share(tensor.elements());
        let (sizes, strides) = (tensor.shape(), tensor.stride());
        AnyTensor::over(DynamicBuffer::from_typed::<D>(storage), E::DTYPE, offset, sizes.as_ref(), strides.as_ref())
    }
}

impl AnyTensor {
    /// A tensor over the buffer of a typed one.
    fn over(buffer: DynamicBuffer, dtype: DType, offset: usize, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        let given = ErasedView { buffer: &buffer, offset, width: dtype.itemsize(), sizes, strides };
        // A vector's memory is aligned for its own elements; here they may be read as elements of any width. (`From` cannot return an error
        // if memory runs out.)
        let (buffer, offset) = match given.aligned().unwrap_or_else(|error| panic!("{error}")) {
            Some(aligned) => (aligned, 0),
            None => (buffer, offset),
        };
        AnyTensor { offset, ..AnyTensor::fresh(buffer, dtype, sizes, strides) }
    }

    /// The dtype (`torch.Tensor.dtype`).
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, tensor};
    /// assert_eq!(AnyTensor::from(tensor![1, 2]).dtype(), DType::I64);
    /// ```
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// The sizes (`torch.Tensor.shape`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// assert_eq!(AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]).shape(), [2, 3]);
    /// ```
    #[doc(alias = "size")]
    pub fn shape(&self) -> &[usize] {
        &self.sizes
    }

    /// The strides, in elements (`torch.Tensor.stride`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!((x.stride(), x.t()?.stride()), (&[3, 1][..], &[1, 3][..]));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn stride(&self) -> &[usize] {
        &self.strides
    }

    /// The offset of the first element in its storage, in elements (`torch.Tensor.storage_offset`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]);
    /// assert_eq!(x.select(0, 1)?.storage_offset(), 3);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn storage_offset(&self) -> usize {
        self.offset
    }

    /// The number of axes (`torch.Tensor.dim`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// assert_eq!(AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]).rank(), 2);
    /// ```
    #[doc(alias = "ndim")]
    #[doc(alias = "ndimension")]
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The number of elements (`torch.Tensor.numel`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// assert_eq!(AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]).numel(), 6);
    /// ```
    #[doc(alias = "size")]
    #[doc(alias = "nelement")]
    #[doc(alias = "len")]
    pub fn numel(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Whether there are no elements.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType};
    /// assert!(AnyTensor::zeros(&[2, 0], DType::F32)?.is_empty());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.sizes.contains(&0)
    }

    /// The device (`torch.Tensor.device`).
    ///
    /// ```
    /// use castiron::{AnyDevice, AnyTensor, tensor};
    /// assert_eq!(AnyTensor::from(tensor![1, 2]).device(), AnyDevice::CPU);
    /// ```
    pub fn device(&self) -> AnyDevice {
        self.storage().device()
    }

    /// The device as PyTorch prints it.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// assert_eq!(AnyTensor::from(tensor![1, 2]).device_name(), "cpu");
    /// ```
    pub fn device_name(&self) -> &'static str {
        self.storage().device_name()
    }

    /// Whether the two tensors share storage.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert!(x.t()?.shares_storage(&x) && !x.add(1)?.shares_storage(&x));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn shares_storage(&self, other: &AnyTensor) -> bool {
        Dynamic::is_same(self.storage(), other.storage())
    }

    /// The typed tensor, if dtype, shape and device match the type; the error names everything that differs.
    ///
    /// ```
    /// use castiron::{AnyTensor, Cpu, shape, tensor};
    /// let any = AnyTensor::from(tensor![[1.0, 2.0], [3.0, 4.0]]);
    /// let typed = any.typed::<f32, shape![_, 2], Cpu>()?;
    /// assert_eq!(typed.sum().item(), 10.0);
    /// let error = any.typed::<i64, shape![3, _], Cpu>().unwrap_err();
    /// assert_eq!(error.to_string(), "typed: expected a tensor of int64, shape [3, _], on cpu, \
    ///     got one of float32, shape [2, 2], on cpu: the dtype and the shape differ");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn typed<E: Element, S: Shape, D: Device>(&self) -> Result<Tensor<E, S, D>> {
        self.typed_over("typed", shared)
    }

    /// The typed tensor, sharing the buffer.
    fn typed_over<E: Element, S: Shape, D: Device>(
        &self,
        op: &'static str,
        handle: impl FnOnce(&DynamicBuffer) -> DynamicBuffer,
    ) -> Result<Tensor<E, S, D>> {
        self.expect_off_tape::<D>(op)?;
        let fits = self.rank() == S::RANK && crate::tensor::fits::<S>(&self.sizes);
        let storage = handle(self.buffer()?).into_typed::<D>();
        let another = (E::DTYPE, (crate::tensor::shape_text::<S> as fn() -> String, fits));
        let storage = self.expected(op, another, D::name, storage)?;
        let (sizes, strides) = (S::Sizes::copied(&self.sizes), S::Sizes::copied(&self.strides));
        Ok(Tensor::from_parts(storage, self.first(), sizes, strides))
    }

    /// The storage of a tensor if dtype, shape and device are the expected ones: compiled once for each kind of storage.
    #[inline(never)]
    fn expected<B>(
        &self,
        op: &'static str,
        (dtype, (shape, fits)): (DType, (fn() -> String, bool)),
        device: fn() -> String,
        storage: Option<B>,
    ) -> Result<B> {
        match storage {
            Some(storage) if fits && self.dtype == dtype => Ok(storage),
            storage => Err(self.is_another(op, dtype, (shape(), fits), (device(), storage.is_some()))),
        }
    }

    /// The error for a tensor of another dtype, shape or device than expected; the bools say whether shape and device match.
    #[cold]
    fn is_another(&self, op: &'static str, dtype: DType, shape: (String, bool), device: (String, bool)) -> Error {
        let of = [("the dtype", self.dtype == dtype), ("the shape", shape.1), ("the device", device.1)];
        let differs: Vec<&str> = of.iter().filter(|(_, same)| !same).map(|(what, _)| *what).collect();
        let verb = if differs.len() == 1 { "differs" } else { "differ" };
        let reason = format!(
            "expected a tensor of {dtype}, shape {}, on {}, got one of {}, shape {:?}, on {}: {} {verb}",
            shape.0,
            device.0,
            self.dtype,
            &*self.sizes,
            self.device_name(),
            differs.join(" and "),
        );
        Error::InvalidArgument { op, reason }
    }
}

/// Another handle to a buffer. No `AnyTensor` borrows its buffer, except inside mutable views, which give handles.
#[inline]
fn shared(buffer: &DynamicBuffer) -> DynamicBuffer {
    buffer.shared().unwrap_or_else(|| unreachable!("what is borrowed was copied"))
}

impl Clone for Elements {
    fn clone(&self) -> Self {
        match self {
            Elements::Plain(buffer) => Elements::Plain(shared(buffer)),
            Elements::WithBit(storage) => Elements::WithBit(storage.clone()),
        }
    }
}
