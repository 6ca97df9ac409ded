//! Products of a few rows with a few columns whose terms are contiguous in memory: dot products, several at a time.

use super::sums::Lanes;

/// Rows and columns of a tile: as many sums as fit the registers of AVX2.
pub(in crate::cpu) const TILE: [usize; 2] = [4, 3];
/// The same of a tile for a single row. (More columns that lie a multiple of a page apart would drop each other from the L1 cache.)
pub(in crate::cpu) const LINE: [usize; 2] = [1, 6];
/// Terms accumulated in lanes before the lanes are merged.
const TERMS: usize = 1024;

/// Arguments of a kernel call: first elements, and strides in numbers.
#[derive(Clone, Copy)]
pub(in crate::cpu) struct Dots<T> {
    pub(in crate::cpu) rows: *const T,
    pub(in crate::cpu) row_step: usize,
    pub(in crate::cpu) columns: *const T,
    pub(in crate::cpu) column_step: usize,
    /// Terms of a dot product.
    pub(in crate::cpu) len: usize,
    /// The first row's place for the first column; the columns of the result are contiguous.
    pub(in crate::cpu) out: *mut T,
    pub(in crate::cpu) out_step: usize,
    /// Rows and columns that there are, at least one and at most those of the tile.
    pub(in crate::cpu) sizes: [usize; 2],
    /// Whether the result's current values are added to.
    pub(in crate::cpu) adds: bool,
}

/// A tile of at most `ROWS` rows and `COLUMNS` columns.
///
/// # Safety
/// There are `len` initialised terms of each row and column, and no other thread accesses their places of the result. If these are added to,
/// they are initialised.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
pub(super) unsafe fn dots<V: Lanes, const ROWS: usize, const COLUMNS: usize>(args: &Dots<V::Number>) {
    let Dots { rows, row_step, columns, column_step, len, out, out_step, sizes, adds } = *args;
    if const { is_rare::<V>() && ROWS * COLUMNS > 1 } {
        for row in 0..sizes[0] {
            for column in 0..sizes[1] {
                let one = Dots {
                    rows: rows.wrapping_add(row * row_step),
                    columns: columns.wrapping_add(column * column_step),
                    out: out.wrapping_add(row * out_step + column),
                    sizes: [1, 1],
                    ..*args
                };
                // SAFETY: the caller's promise.
                unsafe { dots::<V, 1, 1>(&one) }
            }
        }
        return;
    }
    let mut totals = [[V::Number::default(); COLUMNS]; ROWS];
    // (Instead of rows and columns that a tile lacks, its last ones are multiplied once more: that takes no longer than a smaller tile.)
    let rows: [*const V::Number; ROWS] =
        core::array::from_fn(|row| rows.wrapping_add(row.min(sizes[0] - 1) * row_step));
    let columns: [*const V::Number; COLUMNS] =
        core::array::from_fn(|column| columns.wrapping_add(column.min(sizes[1] - 1) * column_step));
    // SAFETY: the caller's promise.
    unsafe {
        for low in (0..len).step_by(TERMS) {
            let high = len.min(low + TERMS);
            let mut sums = [[V::spread(V::Number::default()); COLUMNS]; ROWS];
            let mut at = low;
            while at + V::LEN <= high {
                let right: [V::Vector; COLUMNS] = core::array::from_fn(|column| V::load(columns[column].add(at)));
                for row in 0..ROWS {
                    let left = V::load(rows[row].add(at));
                    for column in 0..COLUMNS {
                        sums[row][column] = V::multiply_add(left, right[column], sums[row][column]);
                    }
                }
                at += V::LEN;
            }
            if at < high {
                for row in 0..ROWS {
                    let left = V::load_first(rows[row].add(at), high - at);
                    for column in 0..COLUMNS {
                        let right = V::load_first(columns[column].add(at), high - at);
                        sums[row][column] = V::multiply_add(left, right, sums[row][column]);
                    }
                }
            }
            for row in 0..ROWS {
                for column in 0..COLUMNS {
                    totals[row][column] = totals[row][column] + merged::<V>(sums[row][column]);
                }
            }
        }
        for row in 0..sizes[0].min(ROWS) {
            for column in 0..sizes[1].min(COLUMNS) {
                let place = out.add(row * out_step + column);
                place.write(if adds { place.read() + totals[row][column] } else { totals[row][column] });
            }
        }
    }
}

/// Whether these are the vectors of machines that have none of the wider ones, where those are rare: small code rather than fast.
const fn is_rare<V: Lanes>() -> bool {
    cfg!(target_arch = "x86_64") && align_of::<V::Vector>() == align_of::<V::Number>()
}

/// The sum of a vector's lanes.
///
/// # Safety
/// The machine has the instructions.
#[inline(always)]
unsafe fn merged<V: Lanes>(vector: V::Vector) -> V::Number {
    let mut lanes = [V::Number::default(); super::LONGEST];
    // SAFETY: a vector is shorter than the longest strip.
    unsafe { V::store(vector, lanes.as_mut_ptr()) }
    let mut half = V::LEN / 2;
    while half > 0 {
        for lane in 0..half {
            lanes[lane] = lanes[lane] + lanes[lane + half];
        }
        half /= 2;
    }
    lanes[0]
}
