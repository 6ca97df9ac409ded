//! `tril_indices`, `triu_indices`: where the elements of a triangle are.
//! Uses `create::constructors`, `device`.

use crate::device::Device;
use crate::dtype::{Castable, ScalarValue};
use crate::error::{Error, Result};
use crate::shape::{D2, Dim, Shape};
use crate::tensor::Tensor;
use crate::tensor::create::constructors::fill_value;
use castiron_macros::fallible;
use core::ops::Range;

/// The dtypes of indices: `i32` and `i64`.
#[diagnostic::on_unimplemented(message = "indices are int32 or int64, not `{Self}`", label = "expected `i32` or `i64`")]
pub trait IndexDtype: Castable {}
impl IndexDtype for i32 {}
impl IndexDtype for i64 {}

/// Writes a constructor of the rows and columns of a triangle.
macro_rules! triangles {
    ($($(#[$doc:meta])* $name:ident $side:ident;)*) => {
        impl<E: IndexDtype, N: Dim, D: Device> Tensor<E, (D2, N), D>
        where
            (D2, N): Shape<Sizes = [usize; 2]>,
        {$(
            $(#[$doc])*
            ///
            /// # Panics
            /// If there are not as many places as the type says, an index does not fit the dtype, or memory runs out.
            #[fallible]
            pub fn $name(rows: usize, columns: usize, offset: isize) -> Result<Self> {
                Self::build_triangle(stringify!($name), Triangle::new(Side::$side, rows, columns, offset))
            }
        )*}
    };
}

/// On which side of the diagonal, which belongs to both.
#[derive(Clone, Copy)]
enum Side {
    Lower,
    Upper,
}

/// The places of a triangle: of each row the columns before its end, or from there on.
struct Triangle {
    side: Side,
    rows: usize,
    columns: usize,
    /// Where the first row ends if it is not clamped to the columns; that of each following row is one more.
    first: i128,
}

impl Triangle {
    fn new(side: Side, rows: usize, columns: usize, offset: isize) -> Self {
        let on_diagonal = matches!(side, Side::Lower);
        Triangle { side, rows, columns, first: offset as i128 + i128::from(on_diagonal) }
    }

    /// The rows whose end is below so many columns.
    fn rows_below(&self, columns: i128) -> usize {
        // Between 0 and the number of rows.
        (columns - self.first).clamp(0, self.rows as i128) as usize
    }

    /// The rows that have places in the triangle.
    fn rows(&self) -> Range<usize> {
        match self.side {
            Side::Lower => self.rows_below(1)..self.rows,
            Side::Upper => 0..self.rows_below(self.columns as i128),
        }
    }

    /// The columns of a row.
    fn columns(&self, row: usize) -> Range<usize> {
        // Between 0 and the number of columns.
        let end = (row as i128 + self.first).clamp(0, self.columns as i128) as usize;
        match self.side {
            Side::Lower => 0..end,
            Side::Upper => end..self.columns,
        }
    }

    /// How many places there are, by a formula: the rows may be more than can be counted in any time.
    fn count(&self) -> Option<usize> {
        let rows = self.rows();
        if rows.is_empty() || self.columns == 0 {
            return Some(0);
        }
        // Those whose ends move, and those that are whole.
        let (moving, whole) = match self.side {
            Side::Lower => {
                let whole = self.rows_below(self.columns as i128);
                (rows.start..whole, whole..rows.end)
            }
            Side::Upper => {
                let whole = self.rows_below(1);
                (whole..rows.end, rows.start..whole)
            }
        };
        let ends = match moving.clone().next_back() {
            Some(last) => self.columns(moving.start).len() as u128 + self.columns(last).len() as u128,
            None => 0,
        };
        let moved = (moving.len() as u128).checked_mul(ends)? / 2;
        let all = moved.checked_add((whole.len() as u128).checked_mul(self.columns as u128)?)?;
        usize::try_from(all).ok()
    }
}

impl<E: IndexDtype, N: Dim, D: Device> Tensor<E, (D2, N), D>
where
    (D2, N): Shape<Sizes = [usize; 2]>,
{
    fn build_triangle(op: &'static str, triangle: Triangle) -> Result<Self> {
        let sizes = [triangle.rows, triangle.columns];
        for size in sizes {
            fill_value::<E>(op, ScalarValue::Int(size as i128))?;
        }
        let count = triangle.count().ok_or_else(|| Error::TooLarge { op, sizes: sizes[..].into() })?;
        // Listed on the host: it takes a step for each row, of which there may be too many to give a device as a list.
        Self::build(op, [2, count], |_, elements| {
            let rows = if count == 0 { 0..0 } else { triangle.rows() };
            // Checked above to fit the dtype, hence `i64`.
            let index = |at: usize| E::from_i64(at as i64);
            for row in rows.clone() {
                elements.extend(triangle.columns(row).map(|_| index(row)));
            }
            for row in rows {
                elements.extend(triangle.columns(row).map(index));
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
    tril_indices Lower;

    /// The rows and the columns of the places on and above a diagonal of a matrix, row by row (`torch.triu_indices`). The
    /// diagonal is counted from the main one, upwards if positive.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let places = Tensor::<i64, shape![2, _]>::triu_indices(2, 3, 0);
    /// assert_eq!(places.to_vec(), [0, 0, 0, 1, 1, 0, 1, 2, 1, 2]);
    /// ```
    triu_indices Upper;
}
