//! `AnyTensor`: tensors whose dtype, shape, device and strides are values known at run time; every method returns a `Result`.
//!
//! Elementwise operations run the loops compiled for the tables of operations, operands of other dtypes being converted piece by
//! piece; views are computed from sizes and strides; everything else goes to the typed tensors, with up to three axes whose sizes
//! are known while running. Uses `tensor` and `device::Dynamic`, which alone knows where elements are.
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

use crate::device::erased::{ErasedView, ErasedViewMut};
use crate::device::{AnyDevice, Backend, Device, Dynamic, DynamicBuffer, IntoDevice};
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::{Geometry, MemoryFormat, ViewAxes, bounds, strides};
use crate::shape::{Shape, SizeArray};
use crate::storage::{View, ViewMut};
use crate::tensor::{Printed, Tensor};
use base::dims::Dims;
#[doc(hidden)]
pub use base::dispatch::{Visited, not_among};
pub use base::operand::AnyOperand;
pub use base::sizes::IntoSizes;
pub use call::outputs::{call_in_place, call_into};
pub use call::{Args, NamedOp, Value, alias, call, ops};
use castiron_macros::operations;
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
    elements: Elements,
    dtype: DType,
    /// In elements.
    offset: usize,
    sizes: Dims,
    /// In elements.
    strides: Dims,
}

/// The elements, on any device. Whoever reads them asks [`AnyTensor::buffer`], which computes those that count as something else.
enum Elements {
    Plain(DynamicBuffer),
    /// Elements that count as conjugated or negated.
    WithBit(std::sync::Arc<base::conjugate_bit::BitStorage>),
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
        AnyTensor::over(DynamicBuffer::from_typed::<D>(storage), E::DTYPE, offset, sizes.as_ref(), strides.as_ref())
    }
}

#[operations]
impl AnyTensor {
    /// A tensor over the memory of a typed one.
    fn over(buffer: DynamicBuffer, dtype: DType, offset: usize, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        let given = ErasedView { buffer: &buffer, offset, width: dtype.itemsize(), sizes, strides };
        // A vector's memory is aligned for its own elements; here they may become others of any width. (`From` has no other way to say
        // that memory runs out.)
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
        self.storage().device()
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
        self.viewed_keeping_bit(|x| {
            let strides = preserved(&x.sizes, &x.strides);
            Ok(AnyTensor::fresh(x.erased()?.moved(device, &strides)?, x.dtype, &x.sizes, &strides))
        })
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
        self.storage().device_name()
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
        Dynamic::is_same(self.storage(), other.storage())
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
        handle: impl FnOnce(&DynamicBuffer) -> DynamicBuffer,
    ) -> Result<Tensor<E, S, D>> {
        let fits = self.rank() == S::RANK && crate::tensor::fits::<S>(&self.sizes);
        let storage = handle(self.buffer()?).into_typed::<D>();
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

    /// The buffer with the elements, which are computed first if they count as something else.
    fn buffer(&self) -> Result<&DynamicBuffer> {
        match &self.elements {
            Elements::Plain(buffer) => Ok(buffer),
            Elements::WithBit(storage) => storage.resolved(),
        }
    }

    /// The same, where there are data.
    fn data(&self, op: &'static str) -> Result<&DynamicBuffer> {
        let buffer = self.buffer()?;
        if Dynamic::has_data(buffer) { Ok(buffer) } else { Err(Error::NoData { op }) }
    }

    /// The storage that is shared, whatever its elements count as.
    fn storage(&self) -> &DynamicBuffer {
        match &self.elements {
            Elements::Plain(buffer) => buffer,
            Elements::WithBit(storage) => &storage.base,
        }
    }

    /// Whether there are data: there are none on the meta device.
    pub(crate) fn has_data(&self) -> bool {
        Dynamic::has_data(self.storage())
    }

    /// The elements as operations take them that work on any dtype.
    fn erased(&self) -> Result<ErasedView<'_>> {
        let (offset, width) = (self.first(), self.dtype.itemsize());
        Ok(ErasedView { buffer: self.buffer()?, offset, width, sizes: &self.sizes, strides: &self.strides })
    }

    /// The same for writing; the storage must not be shared.
    fn erased_mut(&mut self, op: &'static str) -> Result<ErasedViewMut<'_>> {
        let (offset, width) = (self.first(), self.dtype.itemsize());
        let Elements::Plain(buffer) = &mut self.elements else { return Err(Error::NoData { op }) };
        Ok(ErasedViewMut { buffer, offset, width, sizes: &self.sizes, strides: &self.strides })
    }

    /// The elements under a type of their width.
    fn elements_as<W>(&self) -> Result<View<'_, DynamicBuffer, W>> {
        debug_assert_eq!(size_of::<W>(), self.dtype.itemsize());
        Ok(View::new(self.buffer()?, self.first(), &self.sizes, &self.strides))
    }

    /// The same, where there are data.
    fn data_as<W>(&self, op: &'static str) -> Result<View<'_, DynamicBuffer, W>> {
        self.data(op)?;
        self.elements_as()
    }

    /// The same for writing; the storage must not be shared.
    fn data_as_mut<W>(&mut self, op: &'static str) -> Result<ViewMut<'_, DynamicBuffer, W>> {
        debug_assert_eq!(size_of::<W>(), self.dtype.itemsize());
        let first = self.first();
        let Elements::Plain(buffer) = &mut self.elements else { return Err(Error::NoData { op }) };
        Ok(ViewMut::new(buffer, first, &self.sizes, &self.strides))
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
        Dynamic::room::<u8>(self.storage()).map(|bytes| bytes >> dtype.itemsize().trailing_zeros())
    }

    /// A fresh row-major or other dense tensor.
    fn fresh(buffer: DynamicBuffer, dtype: DType, sizes: &[usize], strides: &[usize]) -> AnyTensor {
        let elements = Elements::Plain(buffer);
        AnyTensor { elements, dtype, offset: 0, sizes: Dims::known(sizes), strides: Dims::known(strides) }
    }

    /// The same dtype, sizes and strides without data, for those who only ask what an operation would give.
    fn planned(&self) -> AnyTensor {
        AnyTensor { elements: Elements::Plain(DynamicBuffer::NO_DATA), ..*self }
    }

    /// Copies before a write if the storage is shared or two positions alias one element. (A mutable view is written in place: its
    /// positions never alias.)
    fn make_unique(&mut self) -> Result<()> {
        let dense = strides::is_dense(&self.sizes, &self.strides);
        let is_own = match &mut self.elements {
            Elements::Plain(buffer) => {
                (dense && Dynamic::is_unique(buffer)) || Dynamic::is_fixed(buffer) || !Dynamic::has_data(buffer)
            }
            Elements::WithBit(_) => false,
        };
        if !is_own {
            *self = self.copied(&preserved(&self.sizes, &self.strides))?;
        }
        Ok(())
    }

    /// A dense copy with these strides.
    pub(in crate::any) fn copied(&self, strides: &[usize]) -> Result<AnyTensor> {
        let buffer = self.erased()?.copied(strides)?;
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
        let buffer = self.buffer().ok()?;
        let value = base::dispatch::dispatch_dtype!("item", self.dtype, E: Element => {
            let view = crate::storage::View::<_, E>::new(buffer, self.offset + at, &[], &[]);
            Dynamic::peek(view).map(Element::to_scalar)
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
        let (device, has_data) = (self.device_name(), self.has_data());
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
