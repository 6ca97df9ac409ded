//! Errors at run time. What the types rule out is not in here.

// Sizes are multiplied by checked functions alone.
#![cfg_attr(not(test), deny(clippy::arithmetic_side_effects))]

use crate::dtype::{DType, ScalarValue};
use core::fmt;

/// An empty list with room for `len` elements. Every list whose length comes from arguments starts here or in one of the three functions
/// below: an expanded tensor can have more elements than fit in memory, and running out of memory must be an error, not an abort.
pub(crate) fn room<T>(len: usize) -> Result<Vec<T>> {
    let mut list = Vec::new();
    let bytes = len.saturating_mul(size_of::<T>());
    list.try_reserve_exact(len).map_err(|_| Error::OutOfMemory { bytes, device: "cpu" })?;
    // Before the list is filled: pages already in use stay small.
    crate::storage::prefer_huge_pages(list.spare_capacity_mut());
    Ok(list)
}

/// The number of elements of an array of these sizes; on overflow `usize::MAX`, for which there is no [`room`].
pub(crate) fn numel_at_most(sizes: &[usize]) -> usize {
    crate::shape::numel(sizes).unwrap_or(usize::MAX)
}

/// A list with one value repeated, if there is room.
pub(crate) fn filled<T: Clone>(value: T, len: usize) -> Result<Vec<T>> {
    let mut list = room(len)?;
    list.resize(len, value);
    Ok(list)
}

/// The elements of an iterator with a known length, if there is room.
pub(crate) fn listed<T>(items: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut list = room(items.size_hint().0)?;
    list.extend(items);
    Ok(list)
}

/// The same for an iterator over results: gives the first error, if there is one.
pub(crate) fn collected<T>(items: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let items = items.into_iter();
    let mut list = room(items.size_hint().0)?;
    for item in items {
        list.push(item?);
    }
    Ok(list)
}

/// Sizes as PyTorch prints them: `[2, 3]`.
#[derive(Clone, PartialEq, Eq)]
pub struct Sizes(Box<[usize]>);

impl Sizes {
    /// The sizes as a slice.
    pub fn as_slice(&self) -> &[usize] {
        &self.0
    }
}
impl From<&[usize]> for Sizes {
    fn from(sizes: &[usize]) -> Self {
        Sizes(sizes.into())
    }
}
impl fmt::Debug for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter()).finish()
    }
}
impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

/// An error at run time.
///
/// Every method that can fail has two forms: the plain one panics at the caller's line with this text, and its `try_` twin returns the
/// error. If the compiler knows every size, shape errors cannot happen.
///
/// ```
/// use castiron::{shape, Error, Tensor};
/// let a: Tensor<f32, shape![_]> = Tensor::ones_sized([2]);
/// let b: Tensor<f32, shape![_]> = Tensor::ones_sized([3]);
/// let error = a.try_add(&b).unwrap_err();
/// assert!(matches!(error, Error::Broadcast { op: "add", .. }));
/// assert_eq!(error.to_string(), "add: shapes [2] and [3] do not broadcast: sizes go together, from the last axis on, if they are equal or one of them is 1");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// Two shapes do not broadcast.
    #[non_exhaustive]
    Broadcast {
        /// The operation.
        op: &'static str,
        /// The left operand's shape.
        lhs: Sizes,
        /// The right operand's shape.
        rhs: Sizes,
    },
    /// A result does not have the shape of the output it is written into.
    #[non_exhaustive]
    Output {
        /// The operation.
        op: &'static str,
        /// The result's shape.
        result: Sizes,
        /// The output's shape.
        output: Sizes,
    },
    /// A tensor does not have the requested shape.
    #[non_exhaustive]
    Shape {
        /// The operation.
        op: &'static str,
        /// The requested shape, with known sizes as numbers and others as `_` or their names.
        expected: String,
        /// The tensor's shape.
        found: Sizes,
    },
    /// A tensor cannot be reshaped: the numbers of elements differ.
    #[non_exhaustive]
    Reshape {
        /// The operation.
        op: &'static str,
        /// The tensor's shape.
        from: Sizes,
        /// Its number of elements.
        elements: usize,
        /// The requested shape.
        to: String,
    },
    /// A matrix product's inner sizes differ.
    #[non_exhaustive]
    MatMul {
        /// The left operand's shape.
        lhs: Sizes,
        /// The right operand's shape.
        rhs: Sizes,
        /// The left operand's inner size.
        columns: usize,
        /// The right operand's inner size.
        rows: usize,
    },
    /// Tensors cannot be joined: sizes other than that of the axis differ.
    #[non_exhaustive]
    Join {
        /// The operation.
        op: &'static str,
        /// The first tensor's shape.
        first: Sizes,
        /// The shape of the tensor that does not fit.
        other: Sizes,
        /// The axis.
        axis: usize,
    },
    /// The number of elements, or of bytes, exceeds `usize`.
    #[non_exhaustive]
    TooLarge {
        /// The operation.
        op: &'static str,
        /// The shape.
        sizes: Sizes,
    },
    /// A list of elements has the wrong length.
    #[non_exhaustive]
    Length {
        /// The operation.
        op: &'static str,
        /// The shape.
        sizes: Sizes,
        /// Its number of elements.
        expected: usize,
        /// The number of elements given.
        found: usize,
    },
    /// The allocator has no memory.
    #[non_exhaustive]
    OutOfMemory {
        /// The number of bytes requested.
        bytes: usize,
        /// The device.
        device: &'static str,
    },
    /// A file cannot be opened or read, or does not hold what was requested.
    #[cfg(feature = "mmap")]
    #[non_exhaustive]
    File {
        /// The operation.
        op: &'static str,
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A checkpoint does not match a module. Every difference is listed.
    #[cfg(feature = "safetensors")]
    #[non_exhaustive]
    Checkpoint {
        /// The operation.
        op: &'static str,
        /// The file or folder.
        path: std::path::PathBuf,
        /// What differs, by name.
        differences: Vec<crate::io::Difference>,
    },
    /// The device is not available.
    #[non_exhaustive]
    DeviceUnavailable {
        /// The device, as PyTorch prints it.
        device: String,
        /// The reason, and what to do.
        reason: &'static str,
    },
    /// A CUDA device is out of memory, even after its cache was emptied.
    #[cfg(feature = "cuda")]
    #[non_exhaustive]
    CudaOutOfMemory {
        /// The device.
        device: String,
        /// The number of bytes requested.
        bytes: usize,
        /// The number of bytes free on the device.
        free: usize,
        /// The number of bytes that the device has.
        total: usize,
    },
    /// A CUDA device, its driver or its compiler failed. (Not called `Cuda`: the compiler's messages would then write
    /// `castiron::Cuda<0>` for the device.)
    #[cfg(feature = "cuda")]
    #[non_exhaustive]
    CudaFailure {
        /// The operation.
        op: &'static str,
        /// The device.
        device: String,
        /// What went wrong, and what to do.
        reason: String,
    },
    /// A meta tensor has a shape but no data.
    #[non_exhaustive]
    NoData {
        /// The operation.
        op: &'static str,
    },
    /// No dtype is defined for operands of these two dtypes.
    #[non_exhaustive]
    Promotion {
        /// The left operand's dtype.
        lhs: DType,
        /// The right operand's dtype.
        rhs: DType,
    },
    /// Integer division or remainder by zero.
    #[non_exhaustive]
    DivisionByZero {
        /// The operation.
        op: &'static str,
        /// The dtype of the division.
        dtype: DType,
    },
    /// An integer raised to a negative integer power.
    #[non_exhaustive]
    NegativePower {
        /// The dtype.
        dtype: DType,
        /// The exponent.
        exponent: ScalarValue,
    },
    /// A scalar does not fit the dtype it would be used in.
    #[non_exhaustive]
    ScalarOutOfRange {
        /// The operation.
        op: &'static str,
        /// The scalar.
        value: ScalarValue,
        /// The dtype.
        dtype: DType,
    },
    /// An index is out of range.
    #[non_exhaustive]
    IndexOutOfRange {
        /// The operation.
        op: &'static str,
        /// The index.
        index: usize,
        /// The axis.
        axis: usize,
        /// Its size.
        size: usize,
    },
    /// An element of a tensor of indices is out of range.
    #[non_exhaustive]
    IndexValue {
        /// The operation.
        op: &'static str,
        /// The index.
        index: i64,
        /// The axis that is indexed.
        axis: usize,
        /// The size of the axis.
        size: usize,
    },
    /// A reduction without an identity over no elements.
    #[non_exhaustive]
    EmptyReduction {
        /// The operation.
        op: &'static str,
        /// The shape.
        sizes: Sizes,
    },
    /// An operation does not accept a dtype. (In the typed API this does not compile.)
    #[non_exhaustive]
    NotAdmitted {
        /// The operation.
        op: &'static str,
        /// The dtype.
        dtype: DType,
        /// The reason, or the dtypes accepted.
        reason: String,
    },
    /// A result can't be cast to the dtype of the output it is written into. (In the typed API this does not compile.)
    #[non_exhaustive]
    NotCastable {
        /// The operation.
        op: &'static str,
        /// The dtype of the result.
        result: DType,
        /// The dtype of the output.
        output: DType,
    },
    /// Operands are on different devices. (In the typed API this does not compile.)
    #[non_exhaustive]
    DevicesDiffer {
        /// The operation.
        op: &'static str,
        /// The left operand's device.
        lhs: String,
        /// The right operand's device.
        rhs: String,
    },
    /// An argument that is invalid for every tensor; also what functions of one's own say of theirs. (Other variants may get more fields, so programs
    /// don't make them.)
    InvalidArgument {
        /// The operation.
        op: &'static str,
        /// What is wrong with it.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Broadcast { op, lhs, rhs } => write!(
                f,
                "{op}: shapes {lhs} and {rhs} do not broadcast: sizes go together, from the last axis on, if they are equal or one of them is 1"
            ),
            Error::Output { op, result, output } => {
                write!(f, "{op}: a result of shape {result} can't be written into a tensor of shape {output}")
            }
            Error::Shape { op, expected, found } => {
                write!(f, "{op}: expected a tensor of shape {expected}, got one of shape {found}")
            }
            Error::Reshape { op, from, elements, to } => {
                write!(f, "{op}: a tensor of shape {from} ({elements} elements) can't have shape {to}")
            }
            Error::MatMul { lhs, rhs, columns, rows } => {
                write!(f, "matmul: inner sizes differ: shapes {lhs} and {rhs} ({columns} columns against {rows} rows)")
            }
            Error::Join { op, first, other, axis } => write!(
                f,
                "{op}: tensors of shapes {first} and {other} can't be joined along axis {axis}: all other sizes must be the same"
            ),
            Error::TooLarge { op, sizes } => {
                write!(f, "{op}: a tensor of shape {sizes} has more elements than memory can address")
            }
            Error::Length { op, sizes, expected, found } => {
                write!(f, "{op}: shape {sizes} takes {expected} elements, got {found}")
            }
            Error::OutOfMemory { bytes, device } => {
                write!(f, "out of memory: {bytes} bytes could not be allocated on {device}")
            }
            #[cfg(feature = "mmap")]
            Error::File { op, path, reason } => write!(f, "{op}: {}: {reason}", path.display()),
            #[cfg(feature = "safetensors")]
            Error::Checkpoint { op, path, differences } => write!(
                f,
                "{op}: {}: the checkpoint does not fit ({}):{}",
                path.display(),
                count(differences),
                lines(differences)
            ),
            Error::DeviceUnavailable { device, reason } => write!(f, "{device} is not available: {reason}"),
            #[cfg(feature = "cuda")]
            Error::CudaOutOfMemory { device, bytes, free, total } => write!(
                f,
                "out of memory: {bytes} bytes could not be allocated on {device}, which has {free} of {total} bytes free"
            ),
            #[cfg(feature = "cuda")]
            Error::CudaFailure { op, device, reason } => write!(f, "{op} on {device}: {reason}"),
            Error::NoData { op } => write!(f, "{op}: a meta tensor has a shape, a dtype and strides but no data"),
            Error::Promotion { lhs, rhs } => {
                write!(f, "promotion of {lhs} and {rhs} is not defined: convert one of them first")
            }
            Error::DivisionByZero { op, dtype } => write!(f, "{op}: division of {dtype} by zero"),
            Error::NegativePower { dtype, exponent } => {
                write!(f, "pow: {dtype} can't be raised to the negative integer power {exponent}: use a float exponent")
            }
            Error::ScalarOutOfRange { op, value, dtype } => write!(f, "{op}: the scalar {value} does not fit {dtype}"),
            Error::IndexOutOfRange { op, index, axis, size } => {
                write!(f, "{op}: index {index} is out of range for axis {axis} of size {size}")
            }
            Error::IndexValue { op, index, axis, size } => {
                write!(f, "{op}: index {index} is out of range for axis {axis} of size {size}")
            }
            Error::EmptyReduction { op, sizes } => write!(
                f,
                "{op}: no elements to reduce over in a tensor of shape {sizes}: the operation has no identity"
            ),
            Error::NotAdmitted { op, dtype, reason } => write!(f, "{op} is not defined for dtype {dtype}: {reason}"),
            Error::NotCastable { op, result, output } => {
                write!(f, "{op}: result type {result} can't be cast to the desired output type {output}")
            }
            Error::DevicesDiffer { op, lhs, rhs } => {
                write!(f, "{op}: operands are on different devices: {lhs} and {rhs}")
            }
            Error::InvalidArgument { op, reason } => write!(f, "{op}: {reason}"),
        }
    }
}
impl core::error::Error for Error {}
/// For `castiron-mesh`, which says the same.
#[doc(hidden)]
impl Error {
    pub fn __out_of_memory(bytes: usize) -> Self {
        Error::OutOfMemory { bytes, device: "cpu" }
    }
    pub fn __empty_reduction(op: &'static str, sizes: &[usize]) -> Self {
        Error::EmptyReduction { op, sizes: sizes.into() }
    }
}

#[cfg(feature = "safetensors")]
fn count(differences: &[crate::io::Difference]) -> String {
    let plural = if differences.len() == 1 { "" } else { "s" };
    format!("{} difference{plural}", differences.len())
}

#[cfg(feature = "safetensors")]
fn lines(differences: &[crate::io::Difference]) -> String {
    differences.iter().map(|difference| format!("\n  {difference}")).collect()
}

/// `Result` with castiron's [`Error`].
pub type Result<T, E = Error> = core::result::Result<T, E>;

/// [`Error::InvalidArgument`].
#[cold]
pub(crate) fn invalid<T>(op: &'static str, reason: String) -> Result<T> {
    Err(Error::InvalidArgument { op, reason })
}

/// What the plain form of a fallible method does: gives the value, or panics at the caller's line.
#[track_caller]
#[inline]
pub(crate) fn unwrap<T>(result: Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => fail(error),
    }
}

#[track_caller]
#[cold]
#[inline(never)]
fn fail(error: Error) -> ! {
    panic!("{error}")
}
