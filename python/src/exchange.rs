//! Tensors and arrays of other libraries as capsules of DLPack, in its versioned form and the older one.

use crate::value::keywords;
use crate::{PyTensor, raised};
use castiron::AnyTensor;
use castiron::io::DlPack;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// `(kDLCPU, 0)`
pub const HOST: (i32, i32) = (1, 0);
const VERSIONED: &CStr = c"dltensor_versioned";
const USED_VERSIONED: &CStr = c"used_dltensor_versioned";
const OLDER: &CStr = c"dltensor";
const USED_OLDER: &CStr = c"used_dltensor";

/// `DLTensor`, from `dlpack.h`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Described {
    data: *mut c_void,
    device: [i32; 2],
    rank: i32,
    dtype: u32,
    sizes: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`, the form before versions.
#[repr(C)]
struct Older {
    tensor: Described,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Older)>,
}

/// `DLManagedTensorVersioned`
#[repr(C)]
struct Versioned {
    version: [u32; 2],
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Described,
}

/// Frees a versioned tensor in the older form.
///
/// # Safety
/// It was made by [`in_older_form`], and nobody uses it any more.
unsafe extern "C" fn free_older(of: *mut Older) {
    // SAFETY: the caller's promise: it came from a box, and its context is a versioned tensor that it owns.
    unsafe {
        let of = Box::from_raw(of);
        drop(DlPack::from_raw(of.context));
    }
}

/// A versioned tensor in the form of libraries that know no versions.
fn in_older_form(of: DlPack) -> *mut Older {
    let context = of.into_raw();
    // SAFETY: the pointer is that of a versioned tensor.
    let tensor = unsafe { (*context.cast::<Versioned>()).tensor };
    Box::into_raw(Box::new(Older { tensor, context, deleter: Some(free_older) }))
}

/// Frees a tensor of the older form in the versioned one.
///
/// # Safety
/// It was made by [`in_versioned_form`], and nobody uses it any more.
unsafe extern "C" fn free_versioned(of: *mut Versioned) {
    // SAFETY: the caller's promise: it came from a box, and its context is a tensor of the older form that it owns.
    unsafe {
        let older = Box::from_raw(of).context.cast::<Older>();
        if let Some(deleter) = (*older).deleter {
            deleter(older);
        }
    }
}

/// A tensor of the older form in the versioned one.
///
/// # Safety
/// The pointer is that of such a tensor, which is taken over.
unsafe fn in_versioned_form(of: NonNull<Older>) -> *mut c_void {
    // SAFETY: the caller's promise.
    let tensor = unsafe { of.as_ref().tensor };
    let context = of.as_ptr().cast();
    Box::into_raw(Box::new(Versioned { version: [1, 0], context, deleter: Some(free_versioned), flags: 0, tensor }))
        .cast()
}

/// Frees what is in a capsule that nobody has taken.
///
/// # Safety
/// Python calls it, with a capsule made by [`exported`].
unsafe extern "C" fn free_capsule(capsule: *mut ffi::PyObject) {
    // SAFETY: a capsule of this name holds a pointer of that kind; whoever takes it renames the capsule.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, VERSIONED.as_ptr()) == 1 {
            drop(DlPack::from_raw(ffi::PyCapsule_GetPointer(capsule, VERSIONED.as_ptr())));
        } else if ffi::PyCapsule_IsValid(capsule, OLDER.as_ptr()) == 1 {
            free_older(ffi::PyCapsule_GetPointer(capsule, OLDER.as_ptr()).cast());
        }
    }
}

/// A tensor as a capsule.
pub fn exported<'py>(
    py: Python<'py>,
    x: &AnyTensor,
    has_stream: bool,
    max_version: Option<(u32, u32)>,
    device: Option<(i32, i32)>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    if has_stream {
        return Err(PyBufferError::new_err("a tensor on the host has no stream"));
    }
    if device.is_some_and(|device| device != HOST) {
        return Err(PyBufferError::new_err("the tensor is on the host, and is not moved to other devices"));
    }
    let is_versioned = max_version.is_some_and(|(major, _)| major >= 1);
    // The older form can't say that memory is read-only: its reader gets memory of its own.
    if !is_versioned && copy == Some(false) {
        return Err(PyBufferError::new_err(
            "without a copy the memory is read-only, which DLPack says since its version 1: `__dlpack__(max_version=(1, 0))`",
        ));
    }
    let given = match copy == Some(true) || !is_versioned {
        true => {
            py.detach(|| castiron::any::call("clone", &castiron::any::Args::new().arg(x)).and_then(|of| of.tensor()))
        }
        false => Ok(x.clone()),
    };
    let given = given.and_then(|of| of.to_dlpack()).map_err(raised)?;
    let (pointer, name) = match is_versioned {
        true => (given.into_raw(), VERSIONED),
        false => (in_older_form(given).cast(), OLDER),
    };
    // SAFETY: the pointer is not null, and the name is a constant.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyCapsule_New(pointer, name.as_ptr(), Some(free_capsule))) }
}

/// The tensor of a capsule, which is empty then.
///
/// # Safety
/// Who made the capsule keeps DLPack's promises, and nobody writes the elements while the tensor exists.
unsafe fn taken(capsule: &Bound<'_, PyAny>) -> PyResult<AnyTensor> {
    let object = capsule.as_ptr();
    for (name, used) in [(VERSIONED, USED_VERSIONED), (OLDER, USED_OLDER)] {
        // SAFETY: a capsule of this name holds a pointer of that kind, which is taken over by giving it another name.
        unsafe {
            if ffi::PyCapsule_IsValid(object, name.as_ptr()) != 1 {
                continue;
            }
            let pointer = ffi::PyCapsule_GetPointer(object, name.as_ptr());
            if ffi::PyCapsule_SetName(object, used.as_ptr()) != 0 {
                return Err(PyErr::fetch(capsule.py()));
            }
            let pointer = match NonNull::new(pointer) {
                Some(of) if name == OLDER => in_versioned_form(of.cast()),
                _ => pointer,
            };
            return AnyTensor::from_dlpack(DlPack::from_raw(pointer).map_err(raised)?).map_err(raised);
        }
    }
    Err(PyTypeError::new_err("`__dlpack__` gave no capsule of DLPack, or one that was taken already"))
}

/// A tensor of an array of another library's.
pub fn imported(x: &Bound<'_, PyAny>, copy: Option<bool>) -> PyResult<AnyTensor> {
    let py = x.py();
    if let Ok(own) = x.cast::<PyTensor>() {
        return Ok(own.try_borrow()?.0.clone());
    }
    let (kind, _): (i32, i32) = x.call_method0("__dlpack_device__")?.extract()?;
    if kind != HOST.0 {
        let text = format!("the array is on a device of DLPack's kind {kind}, and not on the host");
        return Err(PyBufferError::new_err(text));
    }
    // (Libraries that know no versions don't know the argument.)
    let asked = keywords(py, [("max_version", (1_u32, 0_u32).into_pyobject(py)?.into_any())])?;
    let capsule = match x.call_method("__dlpack__", (), Some(&asked)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => x.call_method0("__dlpack__"),
        given => given,
    }?;
    // SAFETY: libraries keep DLPack's promises. Who calls `from_dlpack` promises not to write the array; of operands of operators the tensor
    // is gone when the operation is done, or its result has memory of its own.
    let shared = unsafe { taken(&capsule) }?;
    // Bytes that are written into another library's bools may be none.
    let is_bool = shared.dtype() == castiron::DType::Bool;
    if is_bool && copy == Some(false) {
        return Err(PyBufferError::new_err("bools of other libraries are copied"));
    }
    let copied = || castiron::any::call("clone", &castiron::any::Args::new().arg(&shared)).and_then(|of| of.tensor());
    if is_bool {
        // (Without letting other threads of Python in, which could write another byte after the check of `taken`.)
        return copied().map_err(raised);
    }
    if copy == Some(true) {
        return py.detach(copied).map_err(raised);
    }
    Ok(shared)
}

/// A NumPy array of a tensor.
pub fn array<'py>(
    x: &Bound<'py, PyTensor>,
    dtype: Option<&Bound<'py, PyAny>>,
    copy: Option<bool>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = x.py();
    let array = py.import("numpy")?.call_method1("from_dlpack", (x,))?;
    let dtype = dtype.filter(|dtype| !dtype.is_none());
    if let Some(dtype) = dtype.filter(|&dtype| !array.getattr("dtype").and_then(|own| own.eq(dtype)).unwrap_or(false)) {
        if copy == Some(false) {
            return Err(pyo3::exceptions::PyValueError::new_err("an array of another dtype is a copy"));
        }
        return array.call_method1("astype", (dtype,));
    }
    if copy == Some(true) { array.call_method0("copy") } else { Ok(array) }
}
