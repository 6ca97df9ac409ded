//! Tensors as matrices of the crate `faer`, and the other way round. (Feature `faer`.)
//!
//! | from | to | |
//! |---|---|---|
//! | `&Tensor`, `&TensorView` | `MatRef` | [`as_mat`]: no copy, any strides; `.to_owned()` of it is a `Mat` |
//! | `TensorViewMut`, as `x.view_mut()` gives | `MatMut` | [`as_mat_mut`]: no copy |
//! | `MatRef`, `MatMut` | `TensorView`, `TensorViewMut` | [`as_tensor`], [`as_tensor_mut`]: no copy |
//! | `Mat` | `Tensor` | [`from_mat`]: no copy until it is written |
//!
//! A tensor of one axis is a column. castiron's own factorisations (feature `linalg`) run on faer, too; this is for what faer has besides.
//!
//! ```
//! use castiron::{io::faer, shape, tensor, Tensor};
//! let x = tensor![[4.0, 1.0], [1.0, 3.0]; f64];
//! let product = faer::as_mat(&x) * faer::as_mat(&x);
//! let y: Tensor<f64, shape![2, 2]> = faer::from_mat(product)?;
//! assert_eq!(y.to_vec(), [17.0, 7.0, 7.0, 10.0]);
//! # Ok::<(), castiron::Error>(())
//! ```

use super::matrix::{MatrixShape, axes, rows_and_columns, start, start_mut, view, view_mut};
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::layout::bounds;
use crate::storage::HostBuffer;
use crate::tensor::{Tensor, TensorView, TensorViewMut, checked_numel};
use core::ptr::NonNull;
use faer::{Mat, MatMut, MatRef};

/// A tensor as a view of the same memory.
///
/// ```
/// use castiron::{io::faer, tensor};
/// let x = tensor![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// assert_eq!(faer::as_mat(&x)[(1, 0)], 4.0);
/// assert_eq!(faer::as_mat(&x.t()).shape(), (3, 2));
/// ```
pub fn as_mat<E: Element, S: MatrixShape>(x: &Tensor<E, S>) -> MatRef<'_, E> {
    let ([rows, columns], [down, across]) = rows_and_columns(x);
    // SAFETY: every element that sizes and strides reach is inside the storage, and stays while the tensor is borrowed; strides of what
    // exists fit `isize`.
    unsafe { MatRef::from_raw_parts(start(x), rows, columns, down as isize, across as isize) }
}

/// A mutable view as a mutable view of the same memory.
///
/// ```
/// use castiron::{io::faer, tensor};
/// let mut x = tensor![[1.0, 2.0], [3.0, 4.0]];
/// faer::as_mat_mut(x.view_mut())[(0, 1)] = 7.0;
/// assert_eq!(x.to_vec(), [1.0, 7.0, 3.0, 4.0]);
/// ```
pub fn as_mat_mut<E: Element, S: MatrixShape>(mut x: TensorViewMut<'_, E, S>) -> MatMut<'_, E> {
    let ([rows, columns], [down, across]) = rows_and_columns(&x);
    let start = start_mut(&mut x);
    // SAFETY: every element that sizes and strides reach is inside the memory that the view had mutably borrowed; it is consumed, and no
    // two positions of it are one element.
    unsafe { MatMut::from_raw_parts_mut(start, rows, columns, down as isize, across as isize) }
}

/// The sizes and strides of a matrix; an error if one leads backward.
fn described<E: Element>(op: &'static str, matrix: MatRef<'_, E>) -> Result<([usize; 2], [usize; 2])> {
    let sizes = [matrix.nrows(), matrix.ncols()];
    checked_numel::<E>(op, &sizes)?;
    let strides = [matrix.row_stride(), matrix.col_stride()];
    match bounds::forward(&sizes, strides.iter().map(|&stride| stride as i64)).as_deref() {
        Some(&[down, across]) => Ok((sizes, [down, across])),
        _ => {
            let reason = format!(
                "strides {strides:?} lead backward, as those of tensors do not: `matrix.to_owned()` is in order"
            );
            invalid(op, reason)
        }
    }
}

/// A matrix as a view of the same memory.
///
/// # Errors
/// If the sizes differ from the type's, or rows or columns are reversed: strides of tensors are not negative. A tensor of one axis takes one
/// column or one row.
///
/// ```
/// use castiron::{io::faer, shape, TensorView};
/// let m = ::faer::mat![[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]];
/// let x: TensorView<f64, shape![_, 3]> = faer::as_tensor(m.as_ref())?;
/// assert_eq!(x.to_vec(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn as_tensor<'a, E: Element, S: MatrixShape>(matrix: MatRef<'a, E>) -> Result<TensorView<'a, E, S>> {
    let op = "faer::as_tensor";
    let (sizes, strides) = described(op, matrix)?;
    // SAFETY: the elements are borrowed for `'a`.
    unsafe { view(op, matrix.as_ptr(), sizes, strides) }
}

/// A matrix as a mutable view of the same memory.
///
/// # Errors
/// As of [`as_tensor`].
///
/// ```
/// use castiron::{io::faer, shape, TensorViewMut};
/// let mut m = ::faer::mat![[1.0, 4.0], [9.0, 16.0]];
/// let mut x: TensorViewMut<f64, shape![2, 2]> = faer::as_tensor_mut(m.as_mut())?;
/// x.sqrt_();
/// assert_eq!(m[(1, 0)], 3.0);
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn as_tensor_mut<'a, E: Element, S: MatrixShape>(matrix: MatMut<'a, E>) -> Result<TensorViewMut<'a, E, S>> {
    let op = "faer::as_tensor_mut";
    let (sizes, strides) = described(op, matrix.as_ref())?;
    // SAFETY: the elements are mutably borrowed for `'a`, and the matrix is consumed.
    unsafe { view_mut(op, matrix.as_ptr_mut(), sizes, strides) }
}

/// A matrix as a tensor with its memory, in column-major order. Written, the tensor is copied first: the memory stays the matrix's.
///
/// # Errors
/// If the sizes differ from the type's.
///
/// ```
/// use castiron::{io::faer, shape, Tensor};
/// let m = ::faer::mat![[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]];
/// let place = m.as_ptr();
/// let x: Tensor<f64, shape![_, 2]> = faer::from_mat(m)?;
/// assert_eq!((x.to_vec(), &raw const x[(0, 0)]), (vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], place));
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn from_mat<E: Element, S: MatrixShape>(matrix: Mat<E>) -> Result<Tensor<E, S>> {
    let op = "faer::from_mat";
    let (sizes, strides) = described(op, matrix.as_ref())?;
    let (sizes, strides) = axes::<S>(op, sizes, strides)?;
    let bytes = bounds::span(sizes.as_ref(), strides.as_ref()).map(|span| span * size_of::<E>());
    let start = NonNull::new(matrix.as_ptr().cast_mut().cast());
    let storage = match (bytes, start) {
        (Some(bytes @ 1..), Some(start)) => {
            let whole = !bounds::has_gaps(sizes.as_ref(), strides.as_ref());
            // SAFETY: the elements that sizes and strides reach are the matrix's, which keeps them where they are when it is moved; it is
            // the buffer's from here on, so that nobody writes them. (Between columns there may be memory that is not initialised.)
            unsafe { HostBuffer::foreign_read_only(matrix, start, bytes, whole) }
        }
        _ => HostBuffer::zeroed::<E>(0)?,
    };
    Ok(Tensor::from_parts(storage, 0, sizes, strides))
}
