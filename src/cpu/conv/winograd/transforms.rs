//! The transforms of Winograd's algorithm for windows of three with stride one or two: of tiles' inputs, of windows, and of products. One
//! channel per vector lane.

#![allow(clippy::needless_range_loop, reason = "indices are those of registers")]

use super::{FEWEST, RESULTS};
use crate::cpu::conv::tile::Lanes;

/// Maximum transformed inputs of a tile along one axis, and along both; maximum points along one axis.
const SIDE: usize = 5;
pub(super) const SUMS: usize = SIDE * SIDE;
const POINTS: usize = 4;

/// How two rows of two results are computed. Along each axis there are as many transformed inputs as inputs, and as many transformed window
/// numbers. The product of a transformed input and its window number belongs to a point; products of the same point are summed.
pub(super) struct Scheme {
    /// Inputs of a tile along an axis.
    pub(super) side: usize,
    /// Number of points.
    pub(super) points: usize,
    /// For each sum its point, and its index among the point's sums.
    pub(super) places: [[usize; 2]; SUMS],
    /// For each point its number of sums, and the total of those before it. (Past the last one, the total of all.)
    pub(super) counts: [usize; POINTS * POINTS + 1],
    pub(super) before: [usize; POINTS * POINTS + 1],
}

/// The schemes for stride one and two.
///
/// Stride two: the outer columns of a window meet the even columns of the input, by F(2, 2) with the points 0, 1 and infinity; the inner
/// one meets the odd columns, each of which belongs to one result: the points are 0 and infinity.
static SCHEMES: [Scheme; 2] = [
    Scheme::new(&[[0, 0], [1, 0], [2, 0], [3, 0]], &[1, 1, 1, 1]),
    Scheme::new(&[[0, 0], [0, 1], [1, 0], [2, 0], [2, 1]], &[2, 1, 2]),
];

impl Scheme {
    pub(super) fn of_stride(stride: usize) -> &'static Scheme {
        &SCHEMES[stride - 1]
    }

    /// From the scheme along one axis: for each sum its point and its index among the point's sums; for each point its number of sums.
    const fn new(of: &[[usize; 2]], counts: &[usize]) -> Self {
        let (side, points) = (of.len(), counts.len() * counts.len());
        let mut scheme = Scheme {
            side,
            points,
            places: [[0; 2]; SUMS],
            counts: [0; POINTS * POINTS + 1],
            before: [0; POINTS * POINTS + 1],
        };
        let mut sum = 0;
        while sum < side * side {
            let ([row, y], [column, x]) = (of[sum / side], of[sum % side]);
            scheme.places[sum] = [row * counts.len() + column, y * counts[column] + x];
            sum += 1;
        }
        let mut point = 0;
        while point < points {
            scheme.counts[point] = counts[point / counts.len()] * counts[point % counts.len()];
            scheme.before[point + 1] = scheme.before[point] + scheme.counts[point];
            point += 1;
        }
        scheme
    }
}

/// The transforms of an instruction set, for stride one and two: of inputs, of windows, of products.
pub(in crate::cpu::conv) struct Transforms<T> {
    pub(in crate::cpu::conv) inputs: [unsafe fn(&Inputs<'_, T>); 2],
    pub(in crate::cpu::conv) windows: [unsafe fn(&Windows<T>); 2],
    pub(in crate::cpu::conv) results: [unsafe fn(&Results<'_, T>) -> bool; 2],
}
impl<T> Clone for Transforms<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Transforms<T> {}

/// The inputs of tiles: `side` rows and columns of pixels, with all channels.
pub(in crate::cpu::conv) struct Inputs<'a, T> {
    pub(super) places: &'a [*const T],
    pub(super) channels: usize,
    /// For each sum, its destination for the first tile, and the stride between tiles.
    pub(super) to: [(*mut T, usize); SUMS],
}

/// The windows of a chunk of channels, for a strip of output channels.
pub(in crate::cpu::conv) struct Windows<T> {
    pub(super) from: *const T,
    pub(super) channels: usize,
    /// For each sum, its destination: a matrix `(channels, strip)`.
    pub(super) to: [*mut T; SUMS],
}

/// The results of tiles, 2 x 2 pixels of all output channels.
pub(in crate::cpu::conv) struct Results<'a, T> {
    /// For each point a matrix `(tiles, output channels)`; the point stride and the row stride.
    pub(super) from: *const T,
    pub(super) from_steps: [usize; 2],
    pub(super) channels: usize,
    pub(super) bias: *const T,
    /// Null for a pixel outside the result.
    pub(super) places: &'a [[*mut T; RESULTS]],
}

/// `a + b`
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn sum<V: Lanes>(a: V::Vector, b: V::Vector) -> V::Vector {
    // SAFETY: the caller's promise: the machine has the instructions.
    unsafe { V::multiply_add(V::spread(1.0.into()), b, a) }
}

/// `a - b`
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn difference<V: Lanes>(a: V::Vector, b: V::Vector) -> V::Vector {
    // SAFETY: as above.
    unsafe { V::multiply_add(V::spread((-1.0).into()), b, a) }
}

/// Transforms a column or row of inputs.
#[inline(always)]
unsafe fn input_sums<V: Lanes, const STRIDE: usize>([a, b, c, d, e]: [V::Vector; SIDE]) -> [V::Vector; SIDE] {
    // SAFETY: as above.
    unsafe {
        match STRIDE {
            1 => [difference::<V>(a, c), sum::<V>(b, c), difference::<V>(c, b), difference::<V>(b, d), e],
            _ => [difference::<V>(a, c), b, c, d, difference::<V>(e, c)],
        }
    }
}

/// Transforms a column or row of a window.
#[inline(always)]
unsafe fn window_sums<V: Lanes, const STRIDE: usize>([a, b, c]: [V::Vector; 3]) -> [V::Vector; SIDE] {
    // SAFETY: as above.
    unsafe {
        if STRIDE == 2 {
            return [a, b, sum::<V>(a, c), b, c];
        }
        let (zero, half) = (V::spread(V::Number::default()), V::spread(0.5.into()));
        let (outer, inner) = (V::multiply_add(half, sum::<V>(a, c), zero), V::multiply_add(half, b, zero));
        [a, sum::<V>(outer, inner), difference::<V>(outer, inner), c, zero]
    }
}

/// Transforms a column or row of products.
#[inline(always)]
unsafe fn result_sums<V: Lanes, const STRIDE: usize>([a, b, c, d]: [V::Vector; POINTS]) -> [V::Vector; 2] {
    // SAFETY: as above.
    unsafe {
        match STRIDE {
            1 => [sum::<V>(sum::<V>(b, c), a), difference::<V>(difference::<V>(b, c), d)],
            _ => [sum::<V>(a, b), sum::<V>(b, c)],
        }
    }
}

/// # Safety
/// The machine has the instructions; each place has all channels, at least one vector of them, and there is room for the sums.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn inputs<V: Lanes, const STRIDE: usize>(inputs: &Inputs<'_, V::Number>) {
    let &Inputs { places, channels, ref to } = inputs;
    let side = 3 + STRIDE;
    for (tile, places) in places.chunks_exact(side * side).enumerate() {
        let mut to_tile = [core::ptr::null_mut(); SUMS];
        for sum in 0..side * side {
            to_tile[sum] = to[sum].0.wrapping_add(tile * to[sum].1);
        }
        let mut low = 0;
        while low < channels {
            // (The last vector overlaps the one before.)
            let at = low.min(channels - V::LEN);
            // SAFETY: the caller's promise.
            unsafe {
                let zero = V::spread(V::Number::default());
                let mut sums = [[zero; SIDE]; SIDE];
                for x in 0..side {
                    let mut column = [zero; SIDE];
                    for y in 0..side {
                        column[y] = V::load(places[side * y + x].add(at));
                    }
                    sums[x] = input_sums::<V, STRIDE>(column);
                }
                for y in 0..side {
                    let row = [sums[0][y], sums[1][y], sums[2][y], sums[3][y], sums[4][y]];
                    let row = input_sums::<V, STRIDE>(row);
                    for x in 0..side {
                        V::store(row[x], to_tile[side * y + x].add(at));
                    }
                }
            }
            low += V::LEN;
        }
    }
}

/// # Safety
/// The machine has the instructions; for each window position there is a strip of weights per channel, and there is room for the sums.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn windows<V: Lanes, const STRIDE: usize>(windows: &Windows<V::Number>) {
    let &Windows { from, channels, ref to } = windows;
    let (side, position) = (3 + STRIDE, channels * 2 * V::LEN);
    let mut at = 0;
    while at < position {
        // SAFETY: the caller's promise.
        unsafe {
            let from = from.add(at);
            let mut sums = [[V::spread(V::Number::default()); SIDE]; 3];
            for x in 0..3 {
                let column = [
                    V::load(from.add(x * position)),
                    V::load(from.add((3 + x) * position)),
                    V::load(from.add((6 + x) * position)),
                ];
                sums[x] = window_sums::<V, STRIDE>(column);
            }
            for y in 0..side {
                let row = window_sums::<V, STRIDE>([sums[0][y], sums[1][y], sums[2][y]]);
                for x in 0..side {
                    V::store(row[x], to[side * y + x].add(at));
                }
            }
        }
        at += V::LEN;
    }
}

/// Returns whether all results are finite.
///
/// # Safety
/// The machine has the instructions; the products and a bias are valid for all output channels, at least one vector of them, and the places
/// that are not null are the caller's.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn results<V: Lanes, const STRIDE: usize>(results: &Results<'_, V::Number>) -> bool {
    let &Results { from, from_steps, channels, bias, places } = results;
    let points = 5 - STRIDE;
    // SAFETY: the caller's promise, for everything below.
    unsafe {
        let zero = V::spread(V::Number::default());
        // A number times zero is zero, unless the number is not finite.
        let mut zeros = zero;
        for (tile, places) in places.iter().enumerate() {
            let from = from.add(tile * from_steps[1]);
            let mut low = 0;
            while low < channels {
                let at = low.min(channels - V::LEN);
                let mut sums = [[zero; 2]; POINTS];
                for x in 0..points {
                    let mut column = [zero; POINTS];
                    for y in 0..points {
                        column[y] = V::load(from.add((points * y + x) * from_steps[0] + at));
                    }
                    sums[x] = result_sums::<V, STRIDE>(column);
                }
                let bias = V::load(bias.add(at));
                for y in 0..2 {
                    let row = result_sums::<V, STRIDE>([sums[0][y], sums[1][y], sums[2][y], sums[3][y]]);
                    for x in 0..2 {
                        let place = places[2 * y + x];
                        if !place.is_null() {
                            let result = sum::<V>(row[x], bias);
                            zeros = V::multiply_add(result, zero, zeros);
                            V::store(result, place.add(at));
                        }
                    }
                }
                low += V::LEN;
            }
        }
        let mut lanes = [V::Number::default(); FEWEST];
        V::store(zeros, lanes.as_mut_ptr());
        lanes.iter().all(|&lane| lane == V::Number::default())
    }
}
