//! The transforms of Winograd's algorithms F(2, 4), with the points 0, 1, -1, 2 and infinity, and F(2, 3), without 2: of input lines, with
//! one tile per vector lane, and of windows and products, with one output channel per lane.

#![allow(clippy::needless_range_loop, reason = "indices are those of registers")]

use super::{COLUMNS, OF_POINT, POINTS, SUMS};
use crate::cpu::conv::tile::{Lanes, store_strip};
use crate::cpu::conv::winograd::{difference, sum};

/// Maximum tiles in a block's row: their inputs are on the stack.
pub(super) const MOST_TILES: usize = 64;
/// Length of the longest vector.
pub(super) const LONGEST: usize = 16;

/// The transforms of an instruction set: of lines, of windows, of products.
pub(in crate::cpu::conv) struct Transforms<T> {
    pub(in crate::cpu::conv) lines: unsafe fn(&Lines<T>),
    pub(in crate::cpu::conv) windows: unsafe fn(&Windows<T>),
    pub(in crate::cpu::conv) results: unsafe fn(&Results<T>) -> bool,
}
impl<T> Clone for Transforms<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Transforms<T> {}

/// Input lines. A tile reads nine numbers of a line, starting four after the previous tile.
pub(in crate::cpu::conv) struct Lines<T> {
    pub(super) from: *const T,
    /// Number of channels and of lines.
    pub(super) sizes: [usize; 2],
    /// Strides of channels, lines and numbers.
    pub(super) steps: [usize; 3],
    pub(super) tiles: usize,
    /// The destination: for each channel, line and sum, `tiles` numbers.
    pub(super) to: *mut T,
    pub(super) padded: usize,
}

/// The windows of a strip of output channels: for each line, column and channel, a strip.
pub(in crate::cpu::conv) struct Windows<T> {
    pub(super) from: *const T,
    pub(super) lines: usize,
    pub(super) channels: usize,
    /// The destination: for each point, line, sum of the point and channel, a strip.
    pub(super) to: *mut T,
}

/// The results of a row of tiles: two per tile, each of a strip of output channels.
pub(in crate::cpu::conv) struct Results<T> {
    /// For each point one strip per tile; and the stride between points.
    pub(super) from: *const T,
    pub(super) from_step: usize,
    /// Number of results; the last tile may have only one.
    pub(super) columns: usize,
    pub(super) to: *mut T,
    pub(super) to_step: usize,
    /// Numbers of the strip that are written.
    pub(super) written: usize,
}

/// # Safety
/// The machine has the instructions; the lines have all numbers that the tiles (at most [`MOST_TILES`]) read; there is room for the sums of
/// the tiles, rounded up to whole vectors.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn lines<V: Lanes>(lines: &Lines<V::Number>) {
    let &Lines { from, sizes: [channels, count], steps: [channel, line, step], tiles, to, padded } = lines;
    // The numbers of a line at positions 0, 1, 2 and 3 modulo 4.
    let mut quarters = [[V::Number::default(); MOST_TILES + LONGEST]; 4];
    // SAFETY: the caller's promise, for everything below.
    unsafe {
        let two = V::spread(2.0.into());
        let (minus_two, minus_three) = (V::spread((-2.0).into()), V::spread((-3.0).into()));
        for number in 0..channels * count {
            let from = from.add(number / count * channel + number % count * line);
            for at in 0..=tiles {
                for quarter in 0..4 {
                    quarters[quarter][at] = from.add((4 * at + quarter) * step).read();
                }
            }
            quarters[0][tiles + 1] = from.add((4 * tiles + 4) * step).read();
            let to = to.add(number * SUMS * padded);
            for low in (0..tiles).step_by(V::LEN) {
                let load = |quarter: usize, at: usize| V::load(quarters[quarter].as_ptr().add(low + at));
                let even = [load(0, 0), load(2, 0), load(0, 1), load(2, 1), load(0, 2)];
                let odd = [load(1, 0), load(3, 0), load(1, 1), load(3, 1)];
                let outer = difference::<V>(even[3], even[1]);
                let sums = [
                    V::multiply_add(two, difference::<V>(even[0], even[2]), outer),
                    V::multiply_add(minus_two, even[1], difference::<V>(even[3], even[2])),
                    V::multiply_add(two, even[1], V::multiply_add(minus_three, even[2], even[3])),
                    outer,
                    V::multiply_add(two, difference::<V>(even[1], even[3]), difference::<V>(even[4], even[2])),
                    difference::<V>(odd[2], odd[0]),
                    sum::<V>(odd[1], odd[2]),
                    difference::<V>(odd[2], odd[1]),
                    difference::<V>(odd[3], odd[1]),
                ];
                for (at, sum) in sums.into_iter().enumerate() {
                    V::store(sum, to.add(at * padded + low));
                }
            }
        }
    }
}

/// # Safety
/// The machine has the instructions; the strips are valid, and there is room for the sums.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn windows<V: Lanes>(windows: &Windows<V::Number>) {
    let &Windows { from, lines, channels, to } = windows;
    let numbers = channels * 2 * V::LEN;
    // SAFETY: the caller's promise, for everything below.
    unsafe {
        let (half, sixth) = (V::Number::from(0.5), V::Number::from(1.0) / V::Number::from(6.0));
        let zero = V::spread(V::Number::default());
        let times = |factor: V::Number, vector: V::Vector| V::multiply_add(V::spread(factor), vector, zero);
        for line in 0..lines {
            for at in (0..numbers).step_by(V::LEN) {
                let mut columns = [zero; COLUMNS];
                for column in 0..COLUMNS {
                    columns[column] = V::load(from.add((line * COLUMNS + column) * numbers + at));
                }
                let [a, b, c, d, e, f, g] = columns;
                // Even columns (a, c, e, g), and odd ones (b, d, f).
                let (outer, inner) = (sum::<V>(a, e), sum::<V>(c, g));
                let at_two = V::multiply_add(
                    V::spread(2.0.into()),
                    V::multiply_add(V::spread(4.0.into()), g, c),
                    V::multiply_add(V::spread(4.0.into()), e, a),
                );
                let ends = times(half, sum::<V>(b, f));
                let sums = [
                    times(half, a),
                    times(V::Number::from(-0.5), sum::<V>(outer, inner)),
                    times(sixth, difference::<V>(inner, outer)),
                    times(sixth, at_two),
                    g,
                    times(V::Number::from(-1.0), b),
                    V::multiply_add(V::spread(half), d, ends),
                    V::multiply_add(V::spread(V::Number::from(-0.5)), d, ends),
                    f,
                ];
                // Number of sums of the points before.
                let mut before = 0;
                for of_point in OF_POINT {
                    for (nth, &which) in of_point.iter().enumerate() {
                        V::store(sums[which], to.add((before * lines + line * of_point.len() + nth) * numbers + at));
                    }
                    before += of_point.len();
                }
            }
        }
    }
}

/// Returns whether all results are finite.
///
/// # Safety
/// The machine has the instructions; the products are valid, and `written` places of each result are the caller's.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn results<V: Lanes>(results: &Results<V::Number>) -> bool {
    let &Results { from, from_step, columns, to, to_step, written } = results;
    let strip = 2 * V::LEN;
    // SAFETY: the caller's promise, for everything below.
    unsafe {
        let zero = V::spread(V::Number::default());
        // A number times zero is zero, unless the number is not finite.
        let mut zeros = zero;
        for column in (0..columns).step_by(2) {
            let from = from.add(column / 2 * strip);
            // The strip's two vectors, for both results.
            let mut both = [[zero; 2]; 2];
            for half in 0..2 {
                let mut points = [zero; POINTS];
                for point in 0..POINTS {
                    points[point] = V::load(from.add(point * from_step + half * V::LEN));
                }
                let [a, b, c, d, e] = points;
                both[0][half] = sum::<V>(sum::<V>(a, d), sum::<V>(b, c));
                both[1][half] = V::multiply_add(V::spread(2.0.into()), d, sum::<V>(difference::<V>(b, c), e));
            }
            for result in 0..2 {
                if column + result < columns {
                    zeros = V::multiply_add(both[result][0], zero, zeros);
                    zeros = V::multiply_add(both[result][1], zero, zeros);
                    store_strip::<V, 2>(both[result], to.add((column + result) * to_step), written);
                }
            }
        }
        let mut lanes = [V::Number::default(); LONGEST];
        V::store(zeros, lanes.as_mut_ptr());
        lanes.iter().all(|&lane| lane == V::Number::default())
    }
}
