//! Tensors as arrays and record batches of Apache Arrow (the crates `arrow-array` and `arrow-schema`), and the other way round. (Feature
//! `arrow`.)
//!
//! | from | to | |
//! |---|---|---|
//! | a tensor of one axis | an array of numbers | [`to_array`]: no copy if its elements lie side by side |
//! | a tensor of more axes | `FixedSizeList`s in each other, as `arrow.fixed_shape_tensor` stores them | the same |
//! | an array of either kind | a tensor | [`from_array`]: no copy; slices too |
//! | one with missing values | a tensor, and a mask of those that are there | [`from_array_with_mask`]: no copy of the values |
//! | a matrix | a record batch, a column for each | [`to_batch`]: no copy of columns whose elements lie side by side |
//! | a record batch, whose columns have one type | a matrix of (rows, columns) | [`from_batch`]: columns are copied side by side |
//!
//! Numbers keep their memory, which Arrow and castiron both count references to: whichever drops it last frees it, and a tensor is copied before
//! it is written. Bools are bits in Arrow, and are copied. Dates, times and decimals are numbers with a meaning that a dtype does not have:
//! they are refused, and cast with Arrow first.
//!
//! ```
//! use arrow_array::{Array, Float64Array};
//! use castiron::{io::arrow, shape, Tensor};
//!
//! let prices = Float64Array::from(vec![9.5, 12.0, 7.25]);
//! let x: Tensor<f64, shape![_]> = arrow::from_array(&prices.slice(1, 2))?;
//! assert_eq!(x.as_slice().unwrap().as_ptr(), &raw const prices.values()[1]);
//!
//! let doubled = arrow::to_array(&(x * 2))?;
//! assert_eq!(doubled.as_ref(), &Float64Array::from(vec![24.0, 14.5]) as &dyn Array);
//! # Ok::<(), castiron::Error>(())
//! ```

use crate::dtype::Element;
use crate::error::{Error, Result, filled, invalid};
use crate::shape::{Dim, Dimensional, Shape, SizeArray};
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, expect_fit, shape_text};
use ::half::f16;
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, BooleanArray, FixedSizeListArray, PrimitiveArray, RecordBatch};
use arrow_buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field, Schema};
use core::ptr::NonNull;
use std::sync::Arc;

/// A dtype that is a type of Arrow, too: bools, integers and floats.
#[diagnostic::on_unimplemented(
    message = "Arrow has no type for the elements `{Self}`",
    label = "expected a tensor of bools, integers, `f16`, `f32` or `f64`",
    note = "convert first, for example by `.to::<f32>()`; of complex numbers `.view_as_real()` is a tensor of reals"
)]
pub trait ArrowElement: Element {
    /// The type in Arrow.
    const DATA_TYPE: DataType;
    /// An array of these bytes, `len` elements that are aligned.
    #[doc(hidden)]
    fn array(bytes: Buffer, len: usize) -> ArrayRef;
    /// The elements of an array, a byte for each bool; `None` if it is of another type.
    #[doc(hidden)]
    fn values(array: &dyn Array) -> Option<Buffer>;
}

macro_rules! numbers {
    ($($elem:ty: $arrow:ty, $data_type:ident;)*) => {$(
        impl ArrowElement for $elem {
            const DATA_TYPE: DataType = DataType::$data_type;
            fn array(bytes: Buffer, len: usize) -> ArrayRef {
                let values = match len {
                    // (An empty buffer may be anywhere, aligned or not.)
                    0 => ScalarBuffer::from(Vec::<$elem>::new()),
                    _ => ScalarBuffer::new(bytes, 0, len),
                };
                Arc::new(PrimitiveArray::<$arrow>::new(values, None))
            }
            fn values(array: &dyn Array) -> Option<Buffer> {
                Some(array.as_any().downcast_ref::<PrimitiveArray<$arrow>>()?.values().inner().clone())
            }
        }
    )*};
}
numbers! {
    u8: UInt8Type, UInt8;
    i8: Int8Type, Int8;
    i16: Int16Type, Int16;
    i32: Int32Type, Int32;
    i64: Int64Type, Int64;
    u16: UInt16Type, UInt16;
    u32: UInt32Type, UInt32;
    u64: UInt64Type, UInt64;
    f16: Float16Type, Float16;
    f32: Float32Type, Float32;
    f64: Float64Type, Float64;
}
impl ArrowElement for bool {
    const DATA_TYPE: DataType = DataType::Boolean;
    fn array(bytes: Buffer, len: usize) -> ArrayRef {
        let bytes = bytes.as_slice();
        Arc::new(BooleanArray::new(BooleanBuffer::collect_bool(len, |at| bytes[at] != 0), None))
    }
    fn values(array: &dyn Array) -> Option<Buffer> {
        let bits = array.as_any().downcast_ref::<BooleanArray>()?.values();
        Some(Buffer::from_vec(bits.iter().map(u8::from).collect()))
    }
}

/// An error of Arrow's.
fn failed(op: &'static str, error: arrow_schema::ArrowError) -> Error {
    Error::InvalidArgument { op, reason: error.to_string() }
}

/// The elements of a tensor in row-major order as a buffer, which shares them if they are so already.
fn buffer<E: Element, S: Shape>(x: &Tensor<E, S>) -> Result<Buffer> {
    // (Borrowed memory is copied.)
    let own = x.try_contiguous()?;
    let bytes = own.numel() * size_of::<E>();
    let start = own.storage().start::<u8>().wrapping_add(own.storage_offset() * size_of::<E>());
    let Some(start) = NonNull::new(start.cast_mut()).filter(|_| bytes > 0) else {
        return Ok(Buffer::from_vec(Vec::<u8>::new()));
    };
    // SAFETY: these bytes are elements of the storage, which is Arrow's from here on; while it is held nobody writes it.
    unsafe { Ok(Buffer::from_custom_allocation(start, bytes, Arc::new(own.parts.storage))) }
}

/// A tensor as an array: of more than one axis, the others are `FixedSizeList`s. Its memory is shared if it is in row-major order.
///
/// # Errors
/// If an axis but the first has more than `i32::MAX` positions, or memory for a copy runs out.
///
/// ```
/// use arrow_array::{Array, cast::AsArray, types::Int64Type};
/// use castiron::{io::arrow, tensor};
/// let array = arrow::to_array(&tensor![[1, 2, 3], [4, 5, 6]])?;
/// let row = array.as_fixed_size_list().value(1);
/// assert_eq!((array.len(), row.as_primitive::<Int64Type>().values().to_vec()), (2, vec![4, 5, 6]));
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn to_array<E: ArrowElement, S: Dimensional>(x: &Tensor<E, S>) -> Result<ArrayRef> {
    let op = "arrow::to_array";
    let (sizes, mut array) = (x.shape(), E::array(buffer(x)?, x.numel()));
    let sizes = sizes.as_ref();
    for axis in (1..sizes.len()).rev() {
        let Ok(size) = i32::try_from(sizes[axis]) else {
            return invalid(op, format!("lists of Arrow have no {} elements", sizes[axis]));
        };
        let (field, len) =
            (Arc::new(Field::new("item", array.data_type().clone(), false)), sizes[..axis].iter().product());
        let list = FixedSizeListArray::try_new_with_length(field, size, array, None, len);
        array = Arc::new(list.map_err(|error| failed(op, error))?);
    }
    Ok(array)
}

/// What an array holds, lists taken apart.
struct Parts {
    sizes: Vec<usize>,
    /// The array of numbers.
    numbers: ArrayRef,
    /// Which elements are missing: a list of bits, and how many elements each stands for.
    missing: Vec<(NullBuffer, usize)>,
}

fn parts<S: Shape>(op: &'static str, array: &dyn Array) -> Result<Parts> {
    let mut found = Parts { sizes: vec![array.len()], numbers: array.slice(0, array.len()), missing: Vec::new() };
    let mut lists = Vec::new();
    while let Some(list) = found.numbers.as_any().downcast_ref::<FixedSizeListArray>() {
        let size = usize::try_from(list.value_length()).unwrap_or(0);
        lists.extend(list.nulls().cloned());
        found.sizes.push(size);
        let inside = list.values().slice(0, list.len().saturating_mul(size).min(list.values().len()));
        found.numbers = inside;
    }
    lists.extend(found.numbers.nulls().cloned());
    let of_each = |nulls: NullBuffer| {
        let each = found.numbers.len().checked_div(nulls.len()).unwrap_or(0);
        (nulls, each)
    };
    found.missing = lists.into_iter().filter(|nulls| nulls.null_count() > 0).map(of_each).collect();
    if found.sizes.len() != S::RANK {
        return Err(Error::Shape { op, expected: shape_text::<S>(), found: found.sizes.as_slice().into() });
    }
    expect_fit::<S>(op, &found.sizes)?;
    Ok(found)
}

/// The numbers as a tensor, which shares them.
fn tensor<E: ArrowElement, S: Shape>(op: &'static str, parts: &Parts) -> Result<Tensor<E, S>> {
    let Some(values) = E::values(&parts.numbers) else {
        let (expected, found) = (E::DATA_TYPE, parts.numbers.data_type());
        let reason =
            format!("expected an array of {expected}, found one of {found}: cast it first (`arrow_cast::cast`)");
        return invalid(op, reason);
    };
    let sizes = S::Sizes::copied(&parts.sizes);
    if values.len() != crate::tensor::checked_numel::<E>(op, &parts.sizes)? * size_of::<E>() {
        return invalid(op, format!("sizes {:?} are not those of {} bytes", parts.sizes, values.len()));
    }
    Ok(Tensor::dense(shared::<E>(values)?, sizes))
}

/// A buffer of Arrow as a storage that holds it.
fn shared<E: Element>(values: Buffer) -> Result<HostBuffer> {
    let bytes = values.len();
    match NonNull::new(values.as_ptr().cast_mut()).filter(|_| bytes > 0) {
        // SAFETY: an immutable buffer keeps its bytes where they are, and nobody writes them while a handle to it exists. They are
        // elements: arrays align them, and each byte of a bool was made of a bit.
        Some(start) => Ok(unsafe { HostBuffer::foreign_read_only(values, start, bytes, true) }),
        None => HostBuffer::zeroed::<E>(0),
    }
}

/// An array of numbers, or `FixedSizeList`s of them, as a tensor that shares its memory.
///
/// # Errors
/// If the type or the sizes differ from the tensor's, or a value is missing.
///
/// ```
/// use arrow_array::{Int32Array, StringArray};
/// use castiron::{io::arrow, shape, Tensor};
/// let x: Tensor<i32, shape![3]> = arrow::from_array(&Int32Array::from(vec![1, 2, 3]))?;
/// assert_eq!(x.to_vec(), [1, 2, 3]);
/// let error = arrow::from_array::<i32, shape![_]>(&Int32Array::from(vec![Some(1), None])).unwrap_err();
/// assert!(error.to_string().contains("1 of 2 values is missing"), "{error}");
/// assert!(arrow::from_array::<i32, shape![_]>(&StringArray::from(vec!["a"])).is_err());
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn from_array<E: ArrowElement, S: Shape>(array: &dyn Array) -> Result<Tensor<E, S>> {
    let op = "arrow::from_array";
    let parts = parts::<S>(op, array)?;
    if let Some((nulls, _)) = parts.missing.first() {
        let (count, len) = (nulls.null_count(), nulls.len());
        let verb = if count == 1 { "is" } else { "are" };
        let reason = format!("{count} of {len} values {verb} missing: `from_array_with_mask` says which");
        return invalid(op, reason);
    }
    tensor(op, &parts)
}

/// The same of an array with missing values: a tensor, and a mask that is `true` where there is a value. What stands where there is none
/// is any number.
///
/// # Errors
/// As of [`from_array`], but for missing values; if memory for the mask runs out.
///
/// ```
/// use arrow_array::Float32Array;
/// use castiron::{io::arrow, shape, where_, Tensor};
/// let array = Float32Array::from(vec![Some(1.0), None, Some(3.0)]);
/// let (x, is_there) = arrow::from_array_with_mask::<f32, shape![_]>(&array)?;
/// assert_eq!(is_there.to_vec(), [true, false, true]);
/// let or_zero: Tensor<f32, shape![_]> = where_(is_there, x, 0);
/// assert_eq!(or_zero.to_vec(), [1.0, 0.0, 3.0]);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn from_array_with_mask<E: ArrowElement, S: Shape>(array: &dyn Array) -> Result<(Tensor<E, S>, Tensor<bool, S>)> {
    let op = "arrow::from_array_with_mask";
    let parts = parts::<S>(op, array)?;
    let values = tensor(op, &parts)?;
    let mut mask = filled(true, parts.numbers.len())?;
    for (nulls, each) in parts.missing {
        let missing = (0..nulls.len()).filter(|&at| nulls.is_null(at));
        missing.for_each(|at| mask[at * each..(at + 1) * each].fill(false));
    }
    Ok((values, Tensor::try_from_vec_sized(mask, S::Sizes::copied(&parts.sizes))?))
}

/// A matrix as a record batch, a column of a name for each of its columns. Columns whose elements lie side by side share their memory, as
/// those of `x.t()` for rows that do.
///
/// # Errors
/// If there are not as many names as columns, or memory for a copy runs out.
///
/// ```
/// use castiron::{io::arrow, tensor};
/// let batch = arrow::to_batch(&tensor![[1.0, 2.0], [3.0, 4.0]], &["x", "y"])?;
/// assert_eq!((batch.num_rows(), batch.schema().field(1).name().as_str()), (2, "y"));
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn to_batch<E: ArrowElement, R: Dim, C: Dim>(x: &Tensor<E, (R, C)>, names: &[&str]) -> Result<RecordBatch> {
    let op = "arrow::to_batch";
    // (Borrowed memory is copied, once.)
    let x = x.clone();
    let ([rows, columns], [down, across]) = (x.shape(), x.stride());
    if names.len() != columns {
        return invalid(op, format!("the matrix has {columns} columns, and there are {} names", names.len()));
    }
    let column = |at: usize| {
        let column: Tensor<E, (R,)> = x.restrided(at * across, [rows], [down]);
        Ok(E::array(buffer(&column)?, rows))
    };
    let arrays = (0..columns).map(column).collect::<Result<Vec<_>>>()?;
    let fields: Vec<Field> = names.iter().map(|name| Field::new(*name, E::DATA_TYPE, false)).collect();
    let options = arrow_array::RecordBatchOptions::new().with_row_count(Some(rows));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options);
    batch.map_err(|error| failed(op, error))
}

/// A record batch as a matrix of (rows, columns). Columns are copied side by side, so that the matrix is in column-major order. (A single
/// column is shared by [`from_array`] of `batch.column(i)`.)
///
/// # Errors
/// If a column has another type or missing values, the sizes differ from the type's, or memory runs out.
///
/// ```
/// use castiron::{io::arrow, shape, tensor, Tensor};
/// let batch = arrow::to_batch(&tensor![[1, 2], [3, 4], [5, 6]], &["x", "y"])?;
/// let x: Tensor<i64, shape![_, 2]> = arrow::from_batch(&batch)?;
/// assert_eq!((x.to_vec(), x.stride()), (vec![1, 2, 3, 4, 5, 6], [1, 3]));
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn from_batch<E: ArrowElement, R: Dim, C: Dim>(batch: &RecordBatch) -> Result<Tensor<E, (R, C)>> {
    let op = "arrow::from_batch";
    let sizes = [batch.num_rows(), batch.num_columns()];
    expect_fit::<(R, C)>(op, &sizes)?;
    let mut elements: Vec<E> = filled(E::default(), crate::tensor::checked_numel::<E>(op, &sizes)?)?;
    for (at, (field, array)) in batch.schema().fields().iter().zip(batch.columns()).enumerate() {
        let column: Tensor<E, (R,)> = from_array(array).map_err(|error| Error::InvalidArgument {
            op,
            reason: format!("of the column `{}`: {error}", field.name()),
        })?;
        let whole = column.as_slice().unwrap_or_else(|| unreachable!("arrays are contiguous"));
        elements[at * sizes[0]..][..sizes[0]].copy_from_slice(whole);
    }
    Ok(Tensor::from_parts(HostBuffer::from_vec(elements)?, 0, sizes, [1, sizes[0].max(1)]))
}
