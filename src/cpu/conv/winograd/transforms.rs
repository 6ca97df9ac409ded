//! The sums of Winograd's algorithm F(2 x 2, 3 x 3): of the inputs of tiles, of windows, and of products. A vector holds as many channels.
//!
//! Uses `tile`; used by `winograd`.

#![allow(clippy::needless_range_loop, reason = "indices are those of registers")]

use super::{FEWEST, PRODUCTS, RESULTS};
use crate::cpu::conv::tile::Lanes;

/// The sums of an instruction set: of inputs, of windows, of products.
pub(in crate::cpu::conv) struct Transforms<T> {
    pub(in crate::cpu::conv) inputs: unsafe fn(&Inputs<'_, T>),
    pub(in crate::cpu::conv) windows: unsafe fn(&Windows<T>),
    pub(in crate::cpu::conv) results: unsafe fn(&Results<'_, T>) -> bool,
}
impl<T> Clone for Transforms<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Transforms<T> {}

/// The inputs of tiles, 4 x 4 pixels of all channels.
pub(in crate::cpu::conv) struct Inputs<'a, T> {
    pub(super) places: &'a [[*const T; PRODUCTS]],
    pub(super) channels: usize,
    /// Where the sums go: for each product a matrix `(tiles, channels)`; and from one to the next.
    pub(super) to: *mut T,
    pub(super) to_step: usize,
}

/// The windows of a chunk of channels, for a strip of output channels.
pub(in crate::cpu::conv) struct Windows<T> {
    pub(super) from: *const T,
    pub(super) channels: usize,
    /// Where the sums go: for each product a matrix `(channels, strip)`; and from one to the next.
    pub(super) to: *mut T,
    pub(super) to_step: usize,
}

/// The results of tiles, 2 x 2 pixels of all output channels.
pub(in crate::cpu::conv) struct Results<'a, T> {
    /// For each product a matrix `(tiles, output channels)`; from one to the next, and from one row to the next.
    pub(super) from: *const T,
    pub(super) from_steps: [usize; 2],
    pub(super) channels: usize,
    pub(super) bias: *const T,
    /// Null for a pixel outside of the result.
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

/// Sums of a column or row of inputs.
#[inline(always)]
unsafe fn input_sums<V: Lanes>([a, b, c, d]: [V::Vector; 4]) -> [V::Vector; 4] {
    // SAFETY: as above.
    unsafe { [difference::<V>(a, c), sum::<V>(b, c), difference::<V>(c, b), difference::<V>(b, d)] }
}

/// Sums of a column or row of a window.
#[inline(always)]
unsafe fn window_sums<V: Lanes>([a, b, c]: [V::Vector; 3]) -> [V::Vector; 4] {
    // SAFETY: as above.
    unsafe {
        let (zero, half) = (V::spread(V::Number::default()), V::spread(0.5.into()));
        let (outer, inner) = (V::multiply_add(half, sum::<V>(a, c), zero), V::multiply_add(half, b, zero));
        [a, sum::<V>(outer, inner), difference::<V>(outer, inner), c]
    }
}

/// Sums of a column or row of products.
#[inline(always)]
unsafe fn result_sums<V: Lanes>([a, b, c, d]: [V::Vector; 4]) -> [V::Vector; 2] {
    // SAFETY: as above.
    unsafe { [sum::<V>(sum::<V>(b, c), a), difference::<V>(difference::<V>(b, c), d)] }
}

/// # Safety
/// The machine has the instructions; each place has the numbers of all channels, at least as many as a vector, and there is room for the
/// sums.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn inputs<V: Lanes>(inputs: &Inputs<'_, V::Number>) {
    let &Inputs { places, channels, to, to_step } = inputs;
    for (tile, places) in places.iter().enumerate() {
        let to = to.wrapping_add(tile * channels);
        let mut low = 0;
        while low < channels {
            // (The last vector overlaps with the one before.)
            let at = low.min(channels - V::LEN);
            // SAFETY: the caller's promise.
            unsafe {
                let mut sums = [[V::spread(V::Number::default()); 4]; 4];
                for x in 0..4 {
                    let column = [
                        V::load(places[x].add(at)),
                        V::load(places[4 + x].add(at)),
                        V::load(places[8 + x].add(at)),
                        V::load(places[12 + x].add(at)),
                    ];
                    sums[x] = input_sums::<V>(column);
                }
                for y in 0..4 {
                    let row = input_sums::<V>([sums[0][y], sums[1][y], sums[2][y], sums[3][y]]);
                    for x in 0..4 {
                        V::store(row[x], to.add((4 * y + x) * to_step + at));
                    }
                }
            }
            low += V::LEN;
        }
    }
}

/// # Safety
/// The machine has the instructions; for each position of the window there is a strip of weights for each channel, and there is room for the
/// sums.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn windows<V: Lanes>(windows: &Windows<V::Number>) {
    let &Windows { from, channels, to, to_step } = windows;
    let position = channels * 2 * V::LEN;
    let mut at = 0;
    while at < position {
        // SAFETY: the caller's promise.
        unsafe {
            let from = from.add(at);
            let mut sums = [[V::spread(V::Number::default()); 4]; 3];
            for x in 0..3 {
                let column = [
                    V::load(from.add(x * position)),
                    V::load(from.add((3 + x) * position)),
                    V::load(from.add((6 + x) * position)),
                ];
                sums[x] = window_sums::<V>(column);
            }
            for y in 0..4 {
                let row = window_sums::<V>([sums[0][y], sums[1][y], sums[2][y]]);
                for x in 0..4 {
                    V::store(row[x], to.add((4 * y + x) * to_step + at));
                }
            }
        }
        at += V::LEN;
    }
}

/// Whether all results are finite.
///
/// # Safety
/// The machine has the instructions; the products and a bias are there for all output channels, at least as many as a vector has numbers,
/// and the places that are not null are the caller's.
#[inline(always)]
pub(in crate::cpu::conv) unsafe fn results<V: Lanes>(results: &Results<'_, V::Number>) -> bool {
    let &Results { from, from_steps, channels, bias, places } = results;
    // SAFETY: the caller's promise, for all that follows.
    unsafe {
        let zero = V::spread(V::Number::default());
        // A number times zero is zero, unless it is not finite.
        let mut zeros = zero;
        for (tile, places) in places.iter().enumerate() {
            let from = from.add(tile * from_steps[1]);
            let mut low = 0;
            while low < channels {
                let at = low.min(channels - V::LEN);
                let mut sums = [[zero; 2]; 4];
                for x in 0..4 {
                    let from = from.add(x * from_steps[0] + at);
                    let column = [
                        V::load(from),
                        V::load(from.add(4 * from_steps[0])),
                        V::load(from.add(8 * from_steps[0])),
                        V::load(from.add(12 * from_steps[0])),
                    ];
                    sums[x] = result_sums::<V>(column);
                }
                let bias = V::load(bias.add(at));
                for y in 0..2 {
                    let row = result_sums::<V>([sums[0][y], sums[1][y], sums[2][y], sums[3][y]]);
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
