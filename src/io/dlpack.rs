//! Zero-copy exchange of tensors with other libraries in the process: the structs of DLPack 1, from `dlpack.h`.
//!
//! They are defined here, in 60 lines, because a crate's wrappers would not help: the rules are the tensors' own.

use crate::device::Cpu;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result, invalid};
use crate::layout::{bounds, strides};
use crate::shape::{Shape, SizeArray};
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, expect_bools, fits, shape_text};
use core::ffi::c_void;
use core::ptr::NonNull;

const OP: &str = "from_dlpack";
/// The version of the structs: only the major version matters.
const VERSION: Version = Version { major: 1, minor: 0 };
/// `kDLCPU`
const CPU: i32 = 1;
/// `DLPACK_FLAG_BITMASK_READ_ONLY`
const READ_ONLY: u64 = 1;
/// More axes than any library supports.
const MOST_AXES: usize = 64;

#[repr(C)]
struct Version {
    major: u32,
    minor: u32,
}

#[repr(C)]
struct DeviceOf {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy, PartialEq)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

/// `DLTensor`
#[repr(C)]
struct Described {
    data: *mut c_void,
    device: DeviceOf,
    rank: i32,
    dtype: DataType,
    sizes: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensorVersioned`
#[repr(C)]
struct Managed {
    version: Version,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
    flags: u64,
    tensor: Described,
}

/// The `DLDataType` of a dtype.
fn described(dtype: DType) -> DataType {
    let (code, bits, lanes) = dtype.dlpack();
    DataType { code, bits, lanes }
}

/// A tensor in the form in which libraries of one process exchange them (`DLManagedTensorVersioned`, `x.__dlpack__(max_version=(1, 0))`).
/// (Feature `dlpack`.)
///
/// It owns the tensor: when dropped, it calls the deleter of the library that made it.
///
/// ```
/// use castiron::{Tensor, io::DlPack, shape, tensor};
/// let x = tensor![[1.0, 2.0], [3.0, 4.0]];
/// let given: *mut std::ffi::c_void = x.t().to_dlpack().into_raw(); // to another library
/// // SAFETY: it is the pointer of a `DLManagedTensorVersioned`, and nobody writes the tensor.
/// let y: Tensor<f32, shape![2, _]> = unsafe { Tensor::from_dlpack(DlPack::from_raw(given)?) }?;
/// assert_eq!((y.to_vec(), y.stride()), (vec![1.0, 3.0, 2.0, 4.0], [1, 2]));
/// assert_eq!(y.select(castiron::axis![0], 0).get(0).unwrap() as *const f32, &raw const x[(0, 0)]);
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Debug)]
pub struct DlPack(NonNull<Managed>);

// SAFETY: only the holder reads it; the maker promises that its deleter may be called on any thread.
unsafe impl Send for DlPack {}

impl Drop for DlPack {
    fn drop(&mut self) {
        // SAFETY: the struct exists until its deleter is called, which is done once.
        unsafe {
            if let Some(deleter) = self.0.as_ref().deleter {
                deleter(self.0.as_ptr());
            }
        }
    }
}

impl DlPack {
    /// The pointer to a `DLManagedTensorVersioned`; the receiver frees it by calling its deleter.
    pub fn into_raw(self) -> *mut c_void {
        core::mem::ManuallyDrop::new(self).0.as_ptr().cast()
    }

    /// Takes over a tensor from another library.
    ///
    /// # Errors
    /// If the pointer is null, or the major version of DLPack is not 1; the struct is left untouched then.
    ///
    /// # Safety
    /// The pointer is null or that of a `DLManagedTensorVersioned` that nobody else uses any more and whose deleter may be called on any
    /// thread.
    pub unsafe fn from_raw(pointer: *mut c_void) -> Result<Self> {
        let Some(managed) = NonNull::new(pointer.cast::<Managed>()) else {
            return invalid(OP, "the pointer is null".to_owned());
        };
        if !managed.is_aligned() {
            return invalid(OP, "the pointer is not aligned".to_owned());
        }
        // SAFETY: the caller's promise. (The version is the first field in all versions.)
        let Version { major, minor } = unsafe { &managed.as_ref().version };
        if *major != VERSION.major {
            return invalid(OP, format!("the tensor is of DLPack {major}.{minor}, and {}.* is known", VERSION.major));
        }
        Ok(DlPack(managed))
    }

    /// The tensor's parts, checked as far as possible: a buffer, the offset of the first element, sizes and strides.
    fn parts<E: Element>(self) -> Result<(HostBuffer, Vec<usize>, Vec<usize>)> {
        // SAFETY: the struct exists while `self` does.
        let Described { data, device, rank, dtype, sizes, strides: steps, byte_offset } =
            unsafe { &self.0.as_ref().tensor };
        if device.kind != CPU {
            return invalid(
                OP,
                format!("the tensor is on a device of DLPack's kind {}, and not on the host", device.kind),
            );
        }
        let rank = usize::try_from(*rank).ok().filter(|&rank| rank <= MOST_AXES);
        let Some(rank) = rank else { return invalid(OP, "the number of axes is none".to_owned()) };
        if rank > 0 && sizes.is_null() {
            return invalid(OP, "the sizes are a null pointer".to_owned());
        }
        // SAFETY: there are `rank` numbers, as the struct's maker promises.
        let list = |of: *mut i64| if rank == 0 { &[][..] } else { unsafe { core::slice::from_raw_parts(of, rank) } };
        let not_positive = |what: &str, list: &[i64]| Error::InvalidArgument {
            op: OP,
            reason: format!("the {what} {list:?} are not all positive"),
        };
        let sizes = list(*sizes);
        let counted = sizes.iter().map(|&size| usize::try_from(size)).collect::<core::result::Result<Vec<_>, _>>();
        let sizes = counted.map_err(|_| not_positive("sizes", sizes))?;
        let steps = match steps.is_null() || sizes.contains(&0) {
            true => strides::row_major(&sizes),
            false => {
                let steps = list(*steps);
                bounds::forward(&sizes, steps.iter().copied()).ok_or_else(|| not_positive("strides", steps))?
            }
        };
        if described(E::DTYPE) != *dtype {
            let DataType { code, bits, lanes } = dtype;
            let reason = format!(
                "expected {}, found elements of DLPack's code {code} with {bits} bits and {lanes} lanes",
                E::DTYPE
            );
            return invalid(OP, reason);
        }
        crate::tensor::checked_numel::<E>(OP, &sizes)?;
        let bytes = bounds::span(&sizes, &steps).and_then(|span| span.checked_mul(size_of::<E>()));
        let Some(bytes) = bytes.filter(|&bytes| isize::try_from(bytes).is_ok()) else {
            return invalid(OP, format!("sizes {sizes:?} and strides {steps:?} reach beyond the memory"));
        };
        if bytes == 0 {
            return Ok((HostBuffer::zeroed::<E>(0)?, sizes, steps));
        }
        let offset = usize::try_from(*byte_offset).ok();
        let start =
            offset.and_then(|offset| data.addr().checked_add(offset).map(|_| data.cast::<u8>().wrapping_add(offset)));
        let Some(start) = start.and_then(NonNull::new).filter(|_| !data.is_null()) else {
            return invalid(OP, "the elements are a null pointer".to_owned());
        };
        if !start.cast::<E>().is_aligned() {
            return invalid(OP, format!("the elements are not aligned for {}", E::DTYPE));
        }
        let whole = !bounds::has_gaps(&sizes, &steps);
        // SAFETY: the tensor's maker keeps its elements until the deleter is called, which the buffer does when it is dropped; nobody
        // writes them, as the caller of `from_dlpack` promises.
        let buffer = unsafe { HostBuffer::foreign_read_only(self, start, bytes, whole) };
        if E::DTYPE == DType::Bool {
            expect_bools::<Cpu>(OP, &buffer, 0, &sizes, &steps)?;
        }
        Ok((buffer, sizes, steps))
    }
}

/// The parts of an exported tensor; the struct comes first, so that a pointer to it is a pointer to all.
#[repr(C)]
struct Exported {
    managed: Managed,
    /// Keeps the elements.
    _buffer: HostBuffer,
    sizes: Vec<i64>,
    strides: Vec<i64>,
}

/// # Safety
/// The pointer is that of an [`Exported`] that nobody uses any more.
unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: the caller's promise; it came from a box.
    drop(unsafe { Box::from_raw(managed.cast::<Exported>()) });
}

/// Exports a tensor's elements from a place on, read-only.
fn export(buffer: HostBuffer, start: *const u8, dtype: DType, sizes: &[usize], strides: &[usize]) -> DlPack {
    let numbers = |of: &[usize]| of.iter().map(|&number| number as i64).collect::<Vec<i64>>();
    let (sizes, strides) = (numbers(sizes), numbers(strides));
    let tensor = Described {
        data: start.cast_mut().cast(),
        device: DeviceOf { kind: CPU, id: 0 },
        // (There are at most eight axes.)
        rank: sizes.len() as i32,
        dtype: described(dtype),
        sizes: core::ptr::null_mut(),
        strides: core::ptr::null_mut(),
        byte_offset: 0,
    };
    let managed =
        Managed { version: VERSION, context: core::ptr::null_mut(), deleter: Some(delete), flags: READ_ONLY, tensor };
    let mut exported = Box::new(Exported { managed, _buffer: buffer, sizes, strides });
    exported.managed.tensor.sizes = exported.sizes.as_mut_ptr();
    exported.managed.tensor.strides = exported.strides.as_mut_ptr();
    DlPack(NonNull::from(Box::leak(exported)).cast())
}

impl<E: Element, S: Shape> Tensor<E, S> {
    /// Exports the tensor to another library (`x.__dlpack__()`), sharing the elements. It is marked read-only, because tensors never change
    /// through another handle. (Feature `dlpack`.)
    pub fn to_dlpack(&self) -> DlPack {
        // (Borrowed memory is copied.)
        let own = self.clone();
        let place = if own.is_empty() { 0 } else { own.storage_offset() };
        let start = own.storage().start::<E>().wrapping_add(place).cast();
        let (sizes, strides) = (own.shape(), own.stride());
        export(own.parts.storage, start, E::DTYPE, sizes.as_ref(), strides.as_ref())
    }

    /// Imports another library's tensor, sharing the elements (`torch.from_dlpack`). Writing to it copies it first. (Feature `dlpack`.)
    ///
    /// # Errors
    /// If dtype or sizes differ from the type's, the tensor is not on the host, a stride is negative, elements are not aligned or out of
    /// bounds, or a `bool` is neither 0 nor 1.
    ///
    /// # Safety
    /// The struct describes existing elements, aligned and initialised, at its pointer with its sizes and strides; nobody writes them while
    /// the tensor, a view or a clone of it exists. Bytes between them are not read.
    pub unsafe fn from_dlpack(given: DlPack) -> Result<Self> {
        let (buffer, sizes, strides) = given.parts::<E>()?;
        if sizes.len() != S::RANK || !fits::<S>(&sizes) {
            let found = sizes.as_slice().into();
            return Err(Error::Shape { op: OP, expected: shape_text::<S>(), found });
        }
        Ok(Tensor::from_parts(buffer, 0, S::Sizes::copied(&sizes), S::Sizes::copied(&strides)))
    }
}

#[cfg(feature = "any")]
impl crate::AnyTensor {
    /// Exports the tensor to another library: see [`Tensor::to_dlpack`]. (Feature `dlpack`.)
    ///
    /// # Errors
    /// If it is not on the host.
    pub fn to_dlpack(&self) -> Result<DlPack> {
        let (buffer, start) = self.host_handle("to_dlpack")?;
        Ok(export(buffer, start, self.dtype(), self.shape(), self.stride()))
    }

    /// Imports another library's tensor of any dtype and sizes: see [`Tensor::from_dlpack`]. (Feature `dlpack`.)
    ///
    /// # Errors
    /// As there, and if castiron has no such dtype, or there are more than eight axes.
    ///
    /// # Safety
    /// As there.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[true, false]]);
    /// // SAFETY: nobody writes the tensor.
    /// let y = unsafe { AnyTensor::from_dlpack(x.to_dlpack()?) }?;
    /// assert_eq!(y.to_string(), "tensor([[ True, False]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub unsafe fn from_dlpack(given: DlPack) -> Result<Self> {
        // SAFETY: the struct exists while `given` does.
        let found = unsafe { given.0.as_ref().tensor.dtype };
        let Some(&dtype) = DType::ALL.iter().find(|&&dtype| described(dtype) == found) else {
            let DataType { code, bits, lanes } = found;
            return invalid(
                OP,
                format!("no dtype has elements of DLPack's code {code} with {bits} bits and {lanes} lanes"),
            );
        };
        let (buffer, sizes, strides) = crate::any::dispatch_dtype!(OP, dtype, E: Element => given.parts::<E>())?;
        crate::AnyTensor::strided_from(OP, buffer, 0, dtype, &sizes, &strides)
    }
}
