//! `AnyTensor`: tensors whose dtype, shape, device and strides are values known at run time; every method returns a `Result`.
//!
//! Elementwise operations run the loops compiled for the tables of operations, operands of other dtypes being converted piece by
//! piece; views are computed from sizes and strides; everything else goes to the typed tensors, with up to three axes whose sizes
//! are known while running. Uses `tensor` and `cpu`.
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

// rustdoc lists methods in the order of these modules: what most readers look for comes first.

// What every `AnyTensor` operation uses: sizes, operands, dtype dispatch, conversion, the way to typed tensors and back.
mod base;

// Tensors made from nothing, dtype, sizes and device being values.
mod create;

// Operations on each element by itself: dtypes, devices and shapes are checked at run time, then the loop of the table runs.
mod elementwise;

// Reductions of all elements or along axes, statistics and normalisation.
mod reduce;

// Operations along one axis that keep it.
mod scan;

// Sorting and searching.
mod sort;

// Views, which share storage and copy nothing, and `AnyViewMut`, which borrows it.
mod view;

// Elements moved to other positions, repeated or padded; each makes a new tensor.
mod rearrange;

// Several tensors made one: `cat`, `stack` and their kin, `meshgrid`, `block_diag`.
mod join;

// Elements chosen by index tensors and masks: `x[…]`, gather, scatter, masked operations, `index_put`.
mod index;

// Products of vectors and matrices: `matmul`, `addmm`, `tensordot`, `einsum`.
mod linalg;

// `AnySparse`: sparse tensors.
mod sparse;

// Operations by name.
mod call;

use crate::device::{AnyDevice, Cpu, Device, Dynamic, DynamicBuffer, IntoDevice, Meta};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::{Geometry, MemoryFormat, ViewAxes, bounds, strides};
use crate::shape::{Shape, SizeArray};
use crate::storage::HostBuffer;
use crate::tensor::{Printed, Tensor};
use base::dims::Dims;
#[doc(hidden)]
pub use base::dispatch::{Visited, not_among};
pub use base::operand::AnyOperand;
pub use base::sizes::IntoSizes;
pub use call::outputs::{call_in_place, call_into};
pub use call::{Args, NamedOp, Value, alias, call, ops};
use castiron_macros::operations;
use core::any::TypeId;
use core::fmt;
pub use elementwise::where_::where_;
pub use join::cat_stack::{
    block_diag, broadcast_tensors, cartesian_prod, cat, column_stack, dstack, hstack, meshgrid, stack, vstack,
};
pub use linalg::einsum::einsum;
pub use linalg::matrix_power::multi_dot;
pub use sparse::AnySparse;
pub use view::any_view_mut::AnyViewMut;

/// A tensor whose dtype, shape and device are known while running.
///
/// The same operations as [`Tensor`]'s, with the same results; what the compiler refuses there is an [`Error`] here. Cloning is
/// O(1) and shares storage; a tensor is never changed through another, because writing to shared storage copies it first. Parts are
/// written where they are through an [`AnyViewMut`], and [`visit!`](crate::visit) runs typed code on whatever the tensor holds.
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
    buffer: Buffer,
    dtype: DType,
    /// In elements.
    offset: usize,
    sizes: Dims,
    /// In elements.
    strides: Dims,
}

/// Where the elements are.
enum Buffer {
    Cpu(HostBuffer),
    /// Elements that count as conjugated or negated.
    WithBit(std::sync::Arc<base::conjugate_bit::BitStorage>),
    Meta,
}

impl<E: Element, S: Shape, D: Device> From<Tensor<E, S, D>> for AnyTensor {
    fn from(tensor: Tensor<E, S, D>) -> Self {
        AnyTensor::from(&tensor)
    }
}
/// Shares storage: O(1).
impl<E: Element, S: Shape, D: Device> From<&Tensor<E, S, D>> for AnyTensor {
    fn from(tensor: &Tensor<E, S, D>) -> Self {
        // (Borrowed memory is copied.)
        let (storage, offset) = D::share(tensor.elements());
        let (sizes, strides) = (tensor.shape(), tensor.stride());
        let mut storage = Some(storage);
        let storage: &mut dyn core::any::Any = &mut storage;
        let buffer = match storage.downcast_mut::<Option<DynamicBuffer>>().and_then(Option::take) {
            Some(DynamicBuffer::Cpu(buffer)) => Some(buffer),
            Some(DynamicBuffer::Meta) => None,
            // CUDA tensors can't be made yet: what is not on the host is on the meta device.
            None => storage.downcast_mut::<Option<HostBuffer>>().and_then(Option::take),
        };
        AnyTensor::over(buffer, E::DTYPE, offset, sizes.as_ref(), strides.as_ref())
    }
}

#[operations]
impl AnyTensor {
    /// A tensor over the host's memory, or without data.
    fn over(buffer: Option<HostBuffer>, dtype: DType, offset: usize, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        let (buffer, offset) = match buffer {
            // A vector's memory is aligned for its own elements; here they may become others of any width.
            Some(buffer) if !buffer.start::<u64>().is_aligned() => {
                let kept = crate::cpu::read::copy_span_bytes(&buffer, dtype.itemsize(), offset, sizes, strides);
                // `From` has no other way to say that memory runs out.
                (Buffer::Cpu(kept.unwrap_or_else(|error| panic!("{error}"))), 0)
            }
            Some(buffer) => (Buffer::Cpu(buffer), offset),
            None => (Buffer::Meta, offset),
        };
        AnyTensor { buffer, dtype, offset, sizes: Dims::known(sizes), strides: Dims::known(strides) }
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

    /// Where in its storage the first element is, in elements (`torch.Tensor.storage_offset`).
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
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The number of elements (`torch.Tensor.numel`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// assert_eq!(AnyTensor::from(tensor![[1, 2, 3], [4, 5, 6]]).numel(), 6);
    /// ```
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
        match self.buffer {
            Buffer::Cpu(_) | Buffer::WithBit(_) => AnyDevice::CPU,
            Buffer::Meta => AnyDevice::META,
        }
    }

    /// The tensor on another device (`torch.Tensor.to(device)`). To the same device it shares storage; to `meta` it leaves the
    /// elements behind.
    ///
    /// # Errors
    /// If the device is not there, or a meta tensor, which has no elements, is to be moved.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1.0, 2.0]);
    /// assert_eq!(x.to_device("meta")?.to_string(), "tensor(..., device='meta', size=(2,))");
    /// assert!(x.to_device("cuda:0").is_err()); // on a machine without CUDA
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn to_device(&self, device: impl IntoDevice) -> Result<AnyTensor> {
        let device = AnyDevice::new(device)?.resolve()?;
        if device == self.device() {
            return Ok(self.clone());
        }
        match device {
            AnyDevice::META => {
                let strides = preserved(&self.sizes, &self.strides);
                Ok(AnyTensor::fresh(Buffer::Meta, self.dtype, &self.sizes, &strides))
            }
            _ => Err(Error::NoData { op: "to_device" }),
        }
    }

    /// [`to_device("cpu")`](Self::to_device) (`torch.Tensor.cpu`).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// assert!(x.cpu()?.shares_storage(&x)); // it is there
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn cpu(&self) -> Result<AnyTensor> {
        self.to_device(AnyDevice::CPU)
    }

    /// [`to_device("cuda")`](Self::to_device), the current GPU (`torch.Tensor.cuda`).
    ///
    /// # Errors
    /// As there.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// assert!(x.cuda().is_err()); // on a machine without CUDA
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn cuda(&self) -> Result<AnyTensor> {
        self.to_device("cuda")
    }

    /// The device as PyTorch prints it.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// assert_eq!(AnyTensor::from(tensor![1, 2]).device_name(), "cpu");
    /// ```
    pub fn device_name(&self) -> &'static str {
        match self.buffer {
            Buffer::Cpu(_) | Buffer::WithBit(_) => "cpu",
            Buffer::Meta => "meta",
        }
    }

    /// Whether elements lie in the order of a format without gaps (`torch.Tensor.is_contiguous(memory_format=…)`).
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, MemoryFormat};
    /// let x = AnyTensor::zeros(&[1, 2, 3, 4], DType::F32)?;
    /// assert!(x.is_contiguous_in(MemoryFormat::CONTIGUOUS) && !x.is_contiguous_in(MemoryFormat::CHANNELS_LAST));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn is_contiguous_in(&self, format: MemoryFormat) -> bool {
        format.is_order_of(&self.sizes, &self.strides)
    }

    /// The tensor itself if it is in the order of the format, else a copy that is (`torch.Tensor.contiguous(memory_format=…)`).
    ///
    /// # Errors
    /// If the format is for another number of axes, or none to bring elements into.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, MemoryFormat};
    /// let x = AnyTensor::zeros(&[1, 2, 3, 4], DType::F32)?.contiguous_in(MemoryFormat::CHANNELS_LAST)?;
    /// assert_eq!(x.stride(), [24, 1, 8, 2]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(contiguous(input, memory_format = MemoryFormat::CONTIGUOUS))]
    pub fn contiguous_in(&self, format: MemoryFormat) -> Result<AnyTensor> {
        match format.made_contiguous(&self.sizes, &self.strides)? {
            Some(strides) => self.copied(&strides),
            None => Ok(self.clone()),
        }
    }

    /// A copy in a format (`torch.clone(memory_format=…)`).
    ///
    /// # Errors
    /// If the format is for another number of axes, or memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, MemoryFormat, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]).t()?;
    /// assert_eq!(x.copy_in(MemoryFormat::PRESERVE)?.stride(), [1, 2]);
    /// assert_eq!(x.copy_in(MemoryFormat::CONTIGUOUS)?.stride(), [2, 1]);
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[op(clone(input, memory_format = MemoryFormat::PRESERVE))]
    pub fn copy_in(&self, format: MemoryFormat) -> Result<AnyTensor> {
        self.copied(&format.copied("clone", &self.sizes, &self.strides)?)
    }

    #[op(detach(input))]
    fn detach_by_name(&self) -> Result<AnyTensor> {
        Ok(self.clone())
    }

    /// Whether elements lie in row-major order without gaps (`torch.Tensor.is_contiguous`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert!(x.is_contiguous() && !x.t()?.is_contiguous());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn is_contiguous(&self) -> bool {
        strides::is_contiguous(&self.sizes, &self.strides)
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
        matches!((self.storage(), other.storage()), (Some(a), Some(b)) if a.is_same(b))
    }

    /// The typed tensor, if dtype, shape and device are those of the type; the error names everything that differs.
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

    /// The typed tensor over a handle to the buffer.
    fn typed_over<E: Element, S: Shape, D: Device>(
        &self,
        op: &'static str,
        handle: impl FnOnce(&HostBuffer) -> HostBuffer,
    ) -> Result<Tensor<E, S, D>> {
        let fits = self.rank() == S::RANK && crate::tensor::fits::<S>(&self.sizes);
        let is = |other: TypeId| TypeId::of::<D>() == other;
        let (dynamic, meta) = (is(TypeId::of::<Dynamic>()), self.is_meta());
        let storage: Option<D::Storage> = if dynamic {
            let held = if meta { DynamicBuffer::Meta } else { DynamicBuffer::Cpu(handle(self.host(op)?)) };
            Some(as_storage::<D, _>(held))
        } else if meta {
            is(TypeId::of::<Meta>()).then(|| as_storage::<D, _>(crate::device::NoData))
        } else if is(TypeId::of::<Cpu>()) {
            Some(as_storage::<D, _>(handle(self.host(op)?)))
        } else {
            None
        };
        match storage {
            Some(storage) if fits && self.dtype == E::DTYPE => {
                let (sizes, strides) = (S::Sizes::copied(&self.sizes), S::Sizes::copied(&self.strides));
                Ok(Tensor::from_parts(storage, self.first(), sizes, strides))
            }
            storage => Err(self.is_another(
                op,
                E::DTYPE,
                (crate::tensor::shape_text::<S>(), fits),
                (D::name(), storage.is_some()),
            )),
        }
    }

    /// The error for a tensor of another dtype, shape or device than was expected; beside the latter two, whether they are right.
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

    /// Where the first element is; where there is none, at the start, for the offset may be anywhere.
    fn first(&self) -> usize {
        if self.is_empty() { 0 } else { self.offset }
    }

    /// The host's buffer with the elements.
    fn host(&self, op: &'static str) -> Result<&HostBuffer> {
        match &self.buffer {
            Buffer::Cpu(buffer) => Ok(buffer),
            Buffer::WithBit(storage) => storage.resolved(),
            Buffer::Meta => Err(Error::NoData { op }),
        }
    }

    /// The storage that is shared, whatever its elements count as.
    fn storage(&self) -> Option<&HostBuffer> {
        match &self.buffer {
            Buffer::Cpu(buffer) => Some(buffer),
            Buffer::WithBit(storage) => Some(&storage.base),
            Buffer::Meta => None,
        }
    }

    /// The same storage seen through other sizes and strides.
    ///
    /// # Panics
    /// If these reach beyond it. All views are made here and loops rely on it, so it is checked in every build.
    fn viewed(&self, offset: usize, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        self.viewed_as(self.dtype, offset, sizes, strides)
    }

    /// The same as elements of another dtype, which offset, sizes and strides count.
    fn viewed_as(&self, dtype: DType, offset: usize, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        let room = self.room(dtype);
        assert!(
            bounds::is_within(sizes, strides, offset, room),
            "no view has sizes {sizes:?} and strides {strides:?} from element {offset} on in a storage of {room:?} elements"
        );
        AnyTensor { dtype, offset, sizes: Dims::known(sizes), strides: Dims::known(strides), ..self.clone() }
    }

    /// The view of so many axes that a rule of `layout` makes, which fills in its sizes and strides and returns where its first element is.
    fn viewed_by(
        &self,
        op: &'static str,
        rank: usize,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> Result<usize>,
    ) -> Result<AnyTensor> {
        self.bits_viewed_by(op, self.dtype, rank, rule)
    }

    /// The same as elements of another dtype.
    fn bits_viewed_by(
        &self,
        op: &'static str,
        dtype: DType,
        rank: usize,
        rule: impl FnOnce(Geometry<'_>, ViewAxes<'_>) -> Result<usize>,
    ) -> Result<AnyTensor> {
        let (mut sizes, mut strides) = (Dims::of_rank(op, rank)?, Dims::of_rank(op, rank)?);
        let own = Geometry::new(self.offset, &self.sizes, &self.strides);
        let offset = rule(own, ViewAxes { sizes: &mut sizes, strides: &mut strides })?;
        Ok(self.viewed_as(dtype, offset, &sizes, &strides))
    }

    /// How many elements of a dtype the storage holds; `None` on the meta device.
    fn room(&self, dtype: DType) -> Option<usize> {
        // A shift instead of a division, since item sizes are powers of two and known at run time only.
        self.storage().map(|buffer| buffer.len::<u8>() >> dtype.itemsize().trailing_zeros())
    }

    /// A fresh row-major or other dense tensor.
    fn fresh(buffer: Buffer, dtype: DType, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        AnyTensor { buffer, dtype, offset: 0, sizes: Dims::known(sizes), strides: Dims::known(strides) }
    }

    /// Copies before a write if the storage is shared or two positions alias one element. (A mutable view is written in place: its
    /// positions never alias.)
    fn make_unique(&mut self) -> Result<()> {
        let dense = strides::is_dense(&self.sizes, &self.strides);
        let is_own = match &mut self.buffer {
            Buffer::Cpu(buffer) => (dense && buffer.is_unique()) || buffer.is_fixed(),
            Buffer::WithBit(_) => false,
            Buffer::Meta => true,
        };
        if !is_own {
            *self = self.copied(&preserved(&self.sizes, &self.strides))?;
        }
        Ok(())
    }

    /// A dense copy with these strides.
    pub(in crate::any) fn copied(&self, strides: &[usize]) -> Result<AnyTensor> {
        let buffer = if self.is_meta() {
            Buffer::Meta
        } else {
            Buffer::Cpu(crate::cpu::erased::copy(
                self.host("clone")?,
                self.first(),
                self.dtype.itemsize(),
                &self.sizes,
                [strides, &self.strides],
            )?)
        };
        Ok(AnyTensor::fresh(buffer, self.dtype, &self.sizes, strides))
    }

    /// The tensor itself if it is contiguous, else a row-major copy (`torch.Tensor.contiguous`).
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1, 2], [3, 4]]);
    /// assert!(x.contiguous()?.shares_storage(&x) && !x.t()?.contiguous()?.shares_storage(&x));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn contiguous(&self) -> Result<AnyTensor> {
        if self.is_contiguous() { Ok(self.clone()) } else { self.copied(&strides::row_major(&self.sizes)) }
    }

    /// A copy that keeps the layout where it leaves no gaps (`torch.clone`); [`Clone`] shares storage instead.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![1, 2]);
    /// assert!(x.clone().shares_storage(&x) && !x.copy()?.shares_storage(&x));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn copy(&self) -> Result<AnyTensor> {
        self.copied(&preserved(&self.sizes, &self.strides))
    }
}

/// One more handle to a buffer: no `AnyTensor` borrows one, but those of mutable views, which give handles.
fn shared(buffer: &HostBuffer) -> HostBuffer {
    buffer.shared().unwrap_or_else(|| unreachable!("what is borrowed was copied"))
}

impl Clone for Buffer {
    fn clone(&self) -> Self {
        match self {
            Buffer::Cpu(buffer) => Buffer::Cpu(shared(buffer)),
            Buffer::WithBit(storage) => Buffer::WithBit(storage.clone()),
            Buffer::Meta => Buffer::Meta,
        }
    }
}

/// A device's storage, which is that of a device it is known to be.
fn as_storage<D: Device, T: 'static>(storage: T) -> D::Storage {
    let mut slot = Some(storage);
    let slot: &mut dyn core::any::Any = &mut slot;
    slot.downcast_mut::<Option<D::Storage>>()
        .and_then(Option::take)
        .unwrap_or_else(|| unreachable!("the device was compared before"))
}

/// The strides of a copy that keeps the layout.
fn preserved(sizes: &[usize], strides: &[usize]) -> Dims {
    let mut kept = Dims::known(strides);
    strides::write_preserved(sizes, strides, &mut kept);
    kept
}

/// The number of elements, if memory can address so many of the dtype; where there are none, as many as the axes without those of
/// size 0 would have.
fn checked_numel(op: &'static str, sizes: &[usize], dtype: DType) -> Result<usize> {
    let bytes =
        sizes.iter().filter(|&&size| size != 0).try_fold(dtype.itemsize(), |bytes, &size| bytes.checked_mul(size));
    match bytes {
        Some(bytes) if isize::try_from(bytes).is_ok() => Ok(sizes.iter().product()),
        _ => Err(Error::TooLarge { op, sizes: sizes.into() }),
    }
}

impl AnyTensor {
    /// The element so far from the first; nothing on a device without data.
    fn element(&self, at: usize) -> Option<ScalarValue> {
        let buffer = self.host("item").ok()?;
        let value = base::dispatch::dispatch_dtype!("item", self.dtype, E: Element => {
            let view = crate::storage::View::<_, E>::new(buffer, self.offset + at, &[], &[]);
            Ok(crate::cpu::read::peek(view).to_scalar())
        });
        value.ok()
    }

    /// The only element as a scalar (`torch.Tensor.item`).
    ///
    /// # Errors
    /// If there is not exactly one element, or no data.
    ///
    /// ```
    /// use castiron::{AnyTensor, ScalarValue, tensor};
    /// assert_eq!(AnyTensor::from(tensor![1, 2]).sum(None, false, None)?.item()?, ScalarValue::Int(3));
    /// assert!(AnyTensor::from(tensor![1, 2]).item().is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn item(&self) -> Result<ScalarValue> {
        if self.numel() != 1 {
            let reason = format!("a tensor of one element is wanted, got one of shape {:?}", self.shape());
            return Err(Error::InvalidArgument { op: "item", reason });
        }
        if self.dtype == DType::F4E2M1FNX2 {
            let reason = "an element holds two numbers".to_owned();
            return Err(Error::NotAdmitted { op: "item", dtype: self.dtype, reason });
        }
        self.element(0).ok_or(Error::NoData { op: "item" })
    }
}

/// As PyTorch prints a tensor.
impl fmt::Display for AnyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (device, has_data) = (self.device_name(), !self.is_meta());
        let (sizes, strides, element) = (&*self.sizes, &*self.strides, |at| self.element(at));
        Printed { dtype: self.dtype, device, has_data, sizes, strides, element: &element }.fmt(f)
    }
}

/// What the tensor is, then its elements as `Display` prints them.
impl fmt::Debug for AnyTensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnyTensor")
            .field("dtype", &format_args!("{}", self.dtype))
            .field("shape", &self.shape())
            .field("stride", &self.stride())
            .field("storage_offset", &self.storage_offset())
            .field("device", &format_args!("{}", self.device_name()))
            .field("elements", &format_args!("{self}"))
            .finish()
    }
}
