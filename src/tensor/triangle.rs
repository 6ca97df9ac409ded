//! `tril_indices`, `triu_indices`: where the elements of a triangle are.

use super::Tensor;
use super::create::fill_value;
use crate::device::Device;
use crate::dtype::{Castable, ScalarValue};
use crate::error::{Error, Result, unwrap};
use crate::shape::{D2, Dim, Shape};

/// The dtypes of indices: `i32` and `i64`.
#[diagnostic::on_unimplemented(message = "indices are int32 or int64, not `{Self}`", label = "expected `i32` or `i64`")]
pub trait IndexDtype: Castable {}
impl IndexDtype for i32 {}
impl IndexDtype for i64 {}

/// Writes a constructor of the rows and columns of a triangle, and its `try_` twin.
macro_rules! triangles {
    ($($(#[$doc:meta])* $name:ident $try:ident |$row:ident, $columns:ident, $offset:ident| $range:expr;)*) => {
        impl<E: IndexDtype, N: Dim, D: Device> Tensor<E, (D2, N), D>
        where
            (D2, N): Shape<Sizes = [usize; 2]>,
        {$(
            $(#[$doc])*
            ///
            /// # Panics
            #[doc = concat!("If there are not as many places as the type says, an index does not fit the dtype, or memory runs out; [`", stringify!($try), "`](Self::", stringify!($try), ") returns the error.")]
            #[track_caller]
            pub fn $name(rows: usize, columns: usize, offset: isize) -> Self {
                unwrap(Self::$try(rows, columns, offset))
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), "), returning the error.")]
            pub fn $try(rows: usize, $columns: usize, $offset: isize) -> Result<Self> {
                let op = stringify!($name);
                let range = |$row: usize| -> core::ops::Range<usize> { $range };
                Self::build_triangle(op, rows, $columns, range)
            }
        )*}
    };
}

/// How many columns of a row lie before the diagonal.
fn before(row: usize, columns: usize, offset: i128) -> usize {
    // Between 0 and the number of columns.
    (row as i128 + offset).clamp(0, columns as i128) as usize
}

impl<E: IndexDtype, N: Dim, D: Device> Tensor<E, (D2, N), D>
where
    (D2, N): Shape<Sizes = [usize; 2]>,
{
    fn build_triangle(
        op: &'static str,
        rows: usize,
        columns: usize,
        range: impl Fn(usize) -> core::ops::Range<usize>,
    ) -> Result<Self> {
        let too_large = || Error::TooLarge { op, sizes: [rows, columns][..].into() };
        // All that could be listed, so that rows are not counted for nothing.
        super::checked_numel::<E>(op, &[rows, columns])?;
        for size in [rows, columns] {
            fill_value::<E>(op, ScalarValue::Int(size as i128))?;
        }
        let rows = if columns == 0 { 0 } else { rows };
        let count = (0..rows).try_fold(0_usize, |sum, row| sum.checked_add(range(row).len())).ok_or_else(too_large)?;
        Self::build(op, [2, count], |_, elements| {
            // Checked above to fit the dtype, hence `i64`.
            let index = |at: usize| E::from_i64(at as i64);
            for row in 0..rows {
                elements.extend(range(row).map(|_| index(row)));
            }
            for row in 0..rows {
                elements.extend(range(row).map(index));
            }
            Ok(())
        })
    }
}

triangles! {
    /// The rows and the columns of the places on and below a diagonal of a matrix, row by row (`torch.tril_indices`). The
    /// diagonal is counted from the main one, upwards if positive.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let places = Tensor::<i64, shape![2, _]>::tril_indices(2, 3, 0);
    /// assert_eq!(places.to_vec(), [0, 1, 1, 0, 0, 1]);
    /// ```
    tril_indices try_tril_indices |row, columns, offset| 0..before(row, columns, offset as i128 + 1);

    /// The rows and the columns of the places on and above a diagonal of a matrix, row by row (`torch.triu_indices`). The
    /// diagonal is counted from the main one, upwards if positive.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let places = Tensor::<i64, shape![2, _]>::triu_indices(2, 3, 0);
    /// assert_eq!(places.to_vec(), [0, 0, 0, 1, 1, 0, 1, 2, 1, 2]);
    /// ```
    triu_indices try_triu_indices |row, columns, offset| before(row, columns, offset as i128)..columns;
}
