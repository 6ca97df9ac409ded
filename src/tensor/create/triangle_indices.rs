//! `tril_indices`, `triu_indices`: rows and columns of the elements of a triangle.

use crate::device::Device;
use crate::dtype::{Castable, ScalarValue};
use crate::error::{Error, Result};
use crate::shape::{D2, Dim, Shape};
use crate::tensor::Tensor;
use crate::tensor::create::constructors::fill_value;
use crate::{
    dtype::DType,
    ops::kernel::Map1,
    ops::record::kernel::{Kernel, Value},
};
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
            /// If the number of elements is not that of the type, an index does not fit the dtype, or memory runs out.
            #[fallible]
            pub fn $name(rows: usize, columns: usize, offset: isize) -> Result<Self> {
                Self::build_triangle(stringify!($name), Triangle::new(Side::$side, rows, columns, offset))
            }
        )*}
    };
}

/// The side of the diagonal, which belongs to both.
#[derive(Clone, Copy)]
enum Side {
    Lower,
    Upper,
}

/// A triangle of a matrix: in each row the columns before an end, or from there on.
struct Triangle {
    side: Side,
    rows: usize,
    columns: usize,
    /// The end in the first row, not clamped to the columns; it grows by one for each following row.
    first: i128,
}

impl Triangle {
    fn new(side: Side, rows: usize, columns: usize, offset: isize) -> Self {
        let on_diagonal = matches!(side, Side::Lower);
        Triangle { side, rows, columns, first: offset as i128 + i128::from(on_diagonal) }
    }

    /// The number of rows whose end is below `columns`.
    fn rows_below(&self, columns: i128) -> usize {
        // Between 0 and the number of rows.
        (columns - self.first).clamp(0, self.rows as i128) as usize
    }

    /// The rows with elements in the triangle.
    fn rows(&self) -> Range<usize> {
        match self.side {
            Side::Lower => self.rows_below(1)..self.rows,
            Side::Upper => 0..self.rows_below(self.columns as i128),
        }
    }

    /// The columns of the triangle in a row.
    fn columns(&self, row: usize) -> Range<usize> {
        // Between 0 and the number of columns.
        let end = (row as i128 + self.first).clamp(0, self.columns as i128) as usize;
        match self.side {
            Side::Lower => 0..end,
            Side::Upper => end..self.columns,
        }
    }

    /// The number of elements, by a formula: there may be too many rows to iterate over.
    fn count(&self) -> Option<usize> {
        let rows = self.rows();
        if rows.is_empty() || self.columns == 0 {
            return Some(0);
        }
        // Rows whose length grows, and rows that are full.
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

/// The row and column of each element of a triangle, by its number. From the first row on (or mirrored, from the last one backwards), each
/// row is one element longer than the one before, until rows are full.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// The number of elements.
    count: i64,
    /// The first row, or mirrored the last one.
    first: i64,
    /// The length of that row.
    width: i64,
    /// The number of rows that are not full.
    moving: i64,
    columns: i64,
    mirrored: bool,
}

impl Triangle {
    /// The parameters of the formula. Memory holds `count` elements, so that numbers fit `i64`.
    fn place(&self, count: usize) -> Place {
        let (rows, columns) = (self.rows(), self.columns as i64);
        let mirrored = matches!(self.side, Side::Upper);
        let first = if mirrored { rows.end.saturating_sub(1) } else { rows.start };
        let moving = match self.side {
            Side::Lower => self.rows_below(columns.into()).clamp(rows.start, rows.end) - rows.start,
            Side::Upper => rows.end - self.rows_below(1).clamp(rows.start, rows.end),
        };
        let width = if count == 0 { 0 } else { self.columns(first).len() as i64 };
        Place { count: count as i64, first: first as i64, width, moving: moving as i64, columns, mirrored }
    }
}

impl<E: IndexDtype> Map1<i64, E> for Place {
    fn call(self, i: i64) -> E {
        let Place { count, first, width, moving, columns, mirrored } = self;
        let is_column = i >= count;
        let at = if is_column { i - count } else { i };
        let at = if mirrored { count - 1 - at } else { at };
        // The number of elements in the first `rows` rows.
        let before = |rows: i64| rows * width + rows * (rows - 1) / 2;
        let (row, column) = if at < before(moving) {
            // The root of a quadratic equation; rounding may be off slightly.
            let b = 2.0 * width as f64 - 1.0;
            let mut row = (4.0 * at as f64 / ((b * b + 8.0 * at as f64).sqrt() + b)) as i64;
            while row > 0 && before(row) > at {
                row -= 1;
            }
            while before(row + 1) <= at {
                row += 1;
            }
            (row, at - before(row))
        } else {
            let at = at - before(moving);
            (moving + at / columns, at % columns)
        };
        E::from_i64(match (is_column, mirrored) {
            (true, true) => columns - 1 - column,
            (true, false) => column,
            (false, true) => first - row,
            (false, false) => first + row,
        })
    }
    fn text(&self, kernel: &mut Kernel, i: Value) -> Value {
        let Place { count, first, width, moving, columns, mirrored } = *self;
        let numbers = [count, first, width, moving, columns].map(|number| kernel.parameter(number));
        let [count, first, width, moving, columns] = numbers;
        let mirrored = kernel.parameter(mirrored);
        let index = kernel.prelude("triangle", &[i, count, first, width, moving, columns, mirrored], DType::I64);
        kernel.cast(index, E::DTYPE)
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
        if const { D::IS_ELSEWHERE } && !D::is_on_host(None) {
            return Self::tabulated(op, [2, count], |_| triangle.place(count));
        }
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
    /// The rows and the columns of the elements on and below a diagonal of a matrix, row by row (`torch.tril_indices`). The diagonal is
    /// counted from the main one, upwards if positive.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let places = Tensor::<i64, shape![2, _]>::tril_indices(2, 3, 0);
    /// assert_eq!(places.to_vec(), [0, 1, 1, 0, 0, 1]);
    /// ```
    tril_indices Lower;

    /// The rows and the columns of the elements on and above a diagonal of a matrix, row by row (`torch.triu_indices`). The diagonal is
    /// counted from the main one, upwards if positive.
    ///
    /// ```
    /// use castiron::{shape, Tensor};
    /// let places = Tensor::<i64, shape![2, _]>::triu_indices(2, 3, 0);
    /// assert_eq!(places.to_vec(), [0, 0, 0, 1, 1, 0, 1, 2, 1, 2]);
    /// ```
    triu_indices Upper;
}

/// For `AnyTensor` on a GPU: the rows and columns of the lower or upper triangle, on the device of another tensor, and the number of
/// elements.
#[cfg(feature = "any")]
pub(crate) fn places<E: IndexDtype, D: Device>(
    op: &'static str,
    is_lower: bool,
    [rows, columns]: [usize; 2],
    offset: isize,
    beside: &D::Storage,
) -> Result<(D::Storage, usize)> {
    let triangle = Triangle::new(if is_lower { Side::Lower } else { Side::Upper }, rows, columns, offset);
    let sizes = [rows, columns];
    for size in sizes {
        fill_value::<E>(op, ScalarValue::Int(size as i128))?;
    }
    let count = triangle.count().ok_or_else(|| Error::TooLarge { op, sizes: sizes[..].into() })?;
    let numel = crate::tensor::checked_numel::<E>(op, &[2, count])?;
    Ok((D::tabulate::<E>(triangle.place(count), Some(beside), numel)?, count))
}

/// The kernels of this file, for the test of their generated source.
#[cfg(all(test, unix, debug_assertions))]
pub(crate) fn kernels(suite: &mut crate::ops::record::suite::Suite) {
    let (lower, upper) = (Triangle::new(Side::Lower, 40, 30, -2), Triangle::new(Side::Upper, 40, 50, -3));
    suite.table::<_, i64>("lower", lower.place(1000));
    suite.table::<_, i32>("upper", upper.place(1000));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula agrees with iterating over the rows.
    #[test]
    fn places_follow_from_their_positions() {
        for side in [Side::Lower, Side::Upper] {
            for (rows, columns) in [(0, 3), (3, 0), (1, 1), (2, 7), (7, 2), (5, 5), (6, 4)] {
                for offset in -8..9 {
                    let triangle = Triangle::new(side, rows, columns, offset);
                    let all: Vec<[usize; 2]> =
                        (0..rows).flat_map(|row| triangle.columns(row).map(move |column| [row, column])).collect();
                    let count = triangle.count().unwrap();
                    assert_eq!(count, all.len());
                    let place = triangle.place(count);
                    for (i, [row, column]) in all.into_iter().enumerate() {
                        let [found_row, found_column]: [i64; 2] = [i, i + count].map(|i| place.call(i as i64));
                        assert_eq!((found_row, found_column), (row as i64, column as i64), "{place:?} {i}");
                    }
                }
            }
        }
    }

    /// Also where numbers are too large for floats to represent exactly.
    #[test]
    fn far_places_are_exact() {
        let rows = 3_000_000_000_usize;
        for (side, offset) in [(Side::Lower, 0), (Side::Upper, 0), (Side::Lower, 12_345_678), (Side::Upper, 77)] {
            let triangle = Triangle::new(side, rows, rows, offset);
            let count = triangle.count().unwrap();
            let place = triangle.place(count);
            let at = |i: usize| -> [i64; 2] { [i, i + count].map(|i| place.call(i as i64)) };
            for row in [triangle.rows().start, 1, 94_906_265, 94_906_267, 2_000_000_000, triangle.rows().end - 1] {
                // The number of elements in the rows before.
                let columns = triangle.columns(row);
                let before = match side {
                    Side::Lower => Triangle::new(side, row, rows, offset).count().unwrap(),
                    Side::Upper => {
                        count
                            - Triangle { side, rows: rows - row, columns: rows, first: triangle.first + row as i128 }
                                .count()
                                .unwrap()
                    }
                };
                assert_eq!(at(before), [row as i64, columns.start as i64], "{place:?}");
                assert_eq!(at(before + columns.len() - 1), [row as i64, columns.end as i64 - 1], "{place:?}");
            }
        }
    }
}
