//! Tensors as matrices of the crate `nalgebra`, and the other way round. (Feature `nalgebra`.)
//!
//! | from | to | |
//! |---|---|---|
//! | `&Tensor`, `&TensorView` | `DMatrixView` | [`as_matrix`]: no copy, of columns whose elements are one after another |
//! | `TensorViewMut`, as `x.t_mut()` gives | `DMatrixViewMut` | [`as_matrix_mut`]: the same |
//! | `Tensor` | `DMatrix` | [`into_matrix`]: no copy if it is in column-major order and was made from a vector |
//! | a matrix, a vector, a view of one | `TensorView`, `TensorViewMut` | [`as_tensor`], [`as_tensor_mut`]: no copy |
//! | `DMatrix`, `DVector`, `RowDVector` | `Tensor` | [`from_matrix`]: no copy |
//!
//! Matrices of `nalgebra` are in column-major order, so the tensor of one has strides `[1, rows]`. A tensor of one axis is a column. Of a new tensor,
//! which is in row-major order, nalgebra sees the transpose without a copy.
//!
//! Import functions or `castiron::io`, not this module: `matrix!` and the other macros of nalgebra look for that crate by the name `nalgebra`.
//!
//! ```
//! use castiron::{axis, io, shape, tensor, Tensor, TensorView};
//! use ::nalgebra::{DMatrix, matrix};
//!
//! let rotation = matrix![0.0, -1.0; 1.0, 0.0];
//! let x: TensorView<f64, shape![2, 2]> = io::nalgebra::as_tensor(&rotation)?;
//! assert_eq!(x.matmul(&tensor![1.0, 0.0; f64]).to_vec(), [0.0, 1.0]);
//!
//! let x = tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]; f64];
//! let ones = matrix![1.0; 1.0; 1.0];
//! assert_eq!(io::nalgebra::as_matrix(&x.t())?.tr_mul(&ones), matrix![6.0; 15.0]);
//! assert_eq!(io::nalgebra::into_matrix(x) * ones, matrix![6.0; 15.0]);
//! # Ok::<(), castiron::Error>(())
//! ```

use super::matrix::{MatrixShape, axes, rows_and_columns, start, start_mut, view, view_mut};
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::shape::Dyn as AnySize;
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, TensorView, TensorViewMut};
use nalgebra::{
    DMatrix, DMatrixView, DMatrixViewMut, Dim, Dyn, Matrix, RawStorage, RawStorageMut, VecStorage, ViewStorage,
    ViewStorageMut,
};

/// A tensor as a view of the same memory.
///
/// # Errors
/// If there are other elements between those of a column, as in a tensor in row-major order, or elements are repeated (`expand`).
/// (`nalgebra` 0.35 takes the elements between for rows: the product of such a view and a vector writes past the end of its result.)
///
/// ```
/// use castiron::{io, tensor};
/// let x = tensor![[1, 2, 3], [4, 5, 6]];
/// assert_eq!(io::nalgebra::as_matrix(&x.t())?[(2, 0)], 3);
/// assert!(io::nalgebra::as_matrix(&x).is_err());
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn as_matrix<E: Element, S: MatrixShape>(x: &Tensor<E, S>) -> Result<DMatrixView<'_, E, Dyn, Dyn>> {
    let (sizes, strides) = rows_and_columns(x);
    let ([rows, columns], [down, across]) = (sizes, steps("nalgebra::as_matrix", sizes, strides)?);
    // SAFETY: every element that sizes and strides reach is inside the storage, and stays while the tensor is borrowed; no stride is 0.
    let storage = unsafe { ViewStorage::from_raw_parts(start(x), (Dyn(rows), Dyn(columns)), (Dyn(down), Dyn(across))) };
    Ok(Matrix::from_data(storage))
}

/// The strides, if nalgebra computes rightly with them: down a column 1 (`axcpy_uninit` takes the length of a column's memory for its number of
/// elements), and none of 0 (iterators find the end of a column by them, and run past it). An axis of one position has any.
fn steps(op: &'static str, [rows, columns]: [usize; 2], [down, across]: [usize; 2]) -> Result<[usize; 2]> {
    let is_empty = rows == 0 || columns == 0;
    if is_empty || ((rows == 1 || down == 1) && (columns == 1 || across > 0)) {
        return Ok([1, across.max(1)]);
    }
    let reason = format!(
        "a column's elements are {down} apart and columns {across}, and nalgebra takes those that are one after another: \
         `x.t()` of a tensor in row-major order is seen without a copy, `into_matrix(x.clone())` copies"
    );
    invalid(op, reason)
}

/// A mutable view as a mutable view of the same memory.
///
/// # Errors
/// As of [`as_matrix`].
///
/// ```
/// use castiron::{io, tensor};
/// let mut x = tensor![[1.0, 2.0], [3.0, 4.0]];
/// io::nalgebra::as_matrix_mut(x.t_mut())?.fill_row(0, 0.0);
/// assert_eq!(x.to_vec(), [0.0, 2.0, 0.0, 4.0]);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn as_matrix_mut<E: Element, S: MatrixShape>(
    mut x: TensorViewMut<'_, E, S>,
) -> Result<DMatrixViewMut<'_, E, Dyn, Dyn>> {
    let (sizes, strides) = rows_and_columns(&x);
    let ([rows, columns], [down, across]) = (sizes, steps("nalgebra::as_matrix_mut", sizes, strides)?);
    let start = start_mut(&mut x);
    // SAFETY: every element that sizes and strides reach is inside the memory that the view had mutably borrowed; it is consumed, and no
    // two positions of it are one element.
    let storage = unsafe { ViewStorageMut::from_raw_parts(start, (Dyn(rows), Dyn(columns)), (Dyn(down), Dyn(across))) };
    Ok(Matrix::from_data(storage))
}

/// A tensor as an owned matrix. Takes over the vector that the tensor was made from, if it is in column-major order and
/// [`into_vec`](Tensor::into_vec) returns that vector; else copies the elements.
///
/// ```
/// use castiron::{io, tensor};
/// let matrix = io::nalgebra::into_matrix(tensor![[1, 2, 3], [4, 5, 6]]);
/// assert_eq!(matrix, ::nalgebra::dmatrix![1, 2, 3; 4, 5, 6]);
/// ```
pub fn into_matrix<E: Element, S: MatrixShape>(x: Tensor<E, S>) -> DMatrix<E> {
    let ([rows, columns], [down, across]) = rows_and_columns(&x);
    // (The other way round it is in row-major order. The memory is handed on, so that nobody else holds it.)
    let offset = x.storage_offset();
    let turned: Tensor<E, (AnySize, AnySize)> =
        Tensor::from_parts(x.parts.storage, offset, [columns, rows], [across, down]);
    DMatrix::from_vec_storage(VecStorage::new(Dyn(rows), Dyn(columns), turned.into_vec()))
}

/// The sizes and strides of a matrix.
fn described<E, R: Dim, C: Dim, T: RawStorage<E, R, C>>(matrix: &Matrix<E, R, C, T>) -> ([usize; 2], [usize; 2]) {
    let (down, across) = matrix.strides();
    ([matrix.nrows(), matrix.ncols()], [down, across])
}

/// A matrix, a vector or a view as a view of the same memory.
///
/// # Errors
/// If the sizes differ from the type's. A tensor of one axis takes one column or one row.
///
/// ```
/// use castiron::{io, shape, TensorView};
/// let m = ::nalgebra::matrix![1, 2, 3; 4, 5, 6];
/// let x: TensorView<i32, shape![2, _]> = io::nalgebra::as_tensor(&m)?;
/// assert_eq!((x.to_vec(), x.stride()), (vec![1, 2, 3, 4, 5, 6], [1, 2]));
/// let row = m.row(1);
/// let x: TensorView<i32, shape![3]> = io::nalgebra::as_tensor(&row)?;
/// assert_eq!(x.to_vec(), [4, 5, 6]);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn as_tensor<'a, E, S, R, C, T>(matrix: &'a Matrix<E, R, C, T>) -> Result<TensorView<'a, E, S>>
where
    E: Element,
    S: MatrixShape,
    R: Dim,
    C: Dim,
    T: RawStorage<E, R, C>,
{
    let (sizes, strides) = described(matrix);
    // SAFETY: a storage promises that its elements are where its strides say; they are borrowed with the matrix.
    unsafe { view("nalgebra::as_tensor", matrix.as_ptr(), sizes, strides) }
}

/// A matrix, a vector or a view as a mutable view of the same memory.
///
/// # Errors
/// As of [`as_tensor`].
///
/// ```
/// use castiron::{io, shape, TensorViewMut};
/// let mut m = ::nalgebra::matrix![1.0, 4.0; 9.0, 16.0];
/// let mut x: TensorViewMut<f64, shape![2, 2]> = io::nalgebra::as_tensor_mut(&mut m)?;
/// x.sqrt_();
/// assert_eq!(m, ::nalgebra::matrix![1.0, 2.0; 3.0, 4.0]);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn as_tensor_mut<'a, E, S, R, C, T>(matrix: &'a mut Matrix<E, R, C, T>) -> Result<TensorViewMut<'a, E, S>>
where
    E: Element,
    S: MatrixShape,
    R: Dim,
    C: Dim,
    T: RawStorageMut<E, R, C>,
{
    let (sizes, strides) = described(matrix);
    // SAFETY: as in `as_tensor`, mutably.
    unsafe { view_mut("nalgebra::as_tensor_mut", matrix.as_mut_ptr(), sizes, strides) }
}

/// A matrix or a vector as a tensor with its memory, in column-major order.
///
/// # Errors
/// If the sizes differ from the type's, or memory runs out.
///
/// ```
/// use castiron::{io, shape, Tensor};
/// let m = ::nalgebra::dmatrix![1, 2, 3; 4, 5, 6];
/// let place = m.as_ptr();
/// let x: Tensor<i32, shape![2, 3]> = io::nalgebra::from_matrix(m)?;
/// assert_eq!((x.to_vec(), &raw const x[(0, 0)]), (vec![1, 2, 3, 4, 5, 6], place));
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn from_matrix<E: Element, S: MatrixShape, R: Dim, C: Dim>(
    matrix: Matrix<E, R, C, VecStorage<E, R, C>>,
) -> Result<Tensor<E, S>>
where
    VecStorage<E, R, C>: RawStorage<E, R, C>,
{
    let (sizes, strides) = described(&matrix);
    let (sizes, strides) = axes::<S>("nalgebra::from_matrix", sizes, strides)?;
    let storage = HostBuffer::from_vec(Vec::from(matrix.data))?;
    Ok(Tensor::from_parts(storage, 0, sizes, strides))
}
