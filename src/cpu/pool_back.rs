//! `max_pool` backwards: the first largest element of each window gets its gradient, or the last NaN, as in PyTorch.

use super::norm_back::Real;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::error::{Result, filled, listed};
use crate::ops::window::{Inside, Window};
use crate::storage::HostBuffer;

/// Planes of `(depth, height, width)`, and `lanes` elements at each place: the channels if these are last, else one.
#[derive(Clone, Copy)]
pub(crate) struct Planes<'a, T> {
    pub(crate) x: &'a [T],
    /// The largest elements, and their gradients.
    pub(crate) y: &'a [T],
    pub(crate) g: &'a [T],
    pub(crate) windows: [Window; 3],
    pub(crate) sizes: [usize; 3],
    pub(crate) places: [usize; 3],
    pub(crate) lanes: usize,
}

/// One plane.
struct Plane<'a, T> {
    of: Planes<'a, T>,
    /// What the windows of each axis see.
    seen: [&'a [Inside]; 3],
    /// The gradients of the elements, zeros at first, and room for those of a place.
    out: &'a mut [T],
    rest: &'a mut [T],
}
impl<T: Real> Loop for Plane<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Plane { of, seen, out, rest } = self;
        let Planes { x, y, g, windows, sizes, places, lanes } = of;
        let mut from = 0;
        for at in 0..places[0] * places[1] {
            let (depth, height) = (seen[0][at / places[1]], seen[1][at % places[1]]);
            for width in seen[2] {
                let (y, g) = (&y[from..from + lanes], &g[from..from + lanes]);
                from += lanes;
                if lanes == 1 {
                    // From the last one, so that the first is found last; without branches, which nothing would foretell.
                    let mut found = usize::MAX;
                    for d in (0..depth.count).rev() {
                        let d = (depth.first + d * windows[0].dilation) * sizes[1];
                        for h in (0..height.count).rev() {
                            let line = (d + height.first + h * windows[1].dilation) * sizes[2];
                            for w in (0..width.count).rev() {
                                let to = line + width.first + w * windows[2].dilation;
                                found = if x[to] == y[0] { to } else { found };
                            }
                        }
                    }
                    match out.get_mut(found) {
                        Some(out) => *out = *out + g[0],
                        None => add_to_last_nan(&of, [depth, height, *width], 0, g[0], out),
                    }
                    continue;
                }
                rest.copy_from_slice(g);
                for d in 0..depth.count {
                    let d = (depth.first + d * windows[0].dilation) * sizes[1];
                    for h in 0..height.count {
                        let line = (d + height.first + h * windows[1].dilation) * sizes[2];
                        for w in 0..width.count {
                            let to = (line + width.first + w * windows[2].dilation) * lanes;
                            let elements = x[to..to + lanes].iter().zip(&mut out[to..to + lanes]);
                            for (((&x, out), rest), &y) in elements.zip(rest.iter_mut()).zip(y) {
                                let hits = x == y;
                                *out = *out + if hits { *rest } else { T::zero() };
                                *rest = if hits { T::zero() } else { *rest };
                            }
                        }
                    }
                }
                if y.iter().fold(false, |any, y| any | y.is_nan()) {
                    for lane in (0..lanes).filter(|&lane| y[lane].is_nan()) {
                        add_to_last_nan(&of, [depth, height, *width], lane, g[lane], out);
                    }
                }
            }
        }
    }
}

/// Adds the gradient of a window whose result is NaN.
#[cold]
fn add_to_last_nan<T: Real>(of: &Planes<'_, T>, seen: [Inside; 3], lane: usize, g: T, out: &mut [T]) {
    let Planes { x, windows, sizes, lanes, .. } = of;
    let positions = |axis: usize| {
        let Inside { first, count, .. } = seen[axis];
        let dilation = windows[axis].dilation;
        (0..count).rev().map(move |at| first + at * dilation)
    };
    for d in positions(0) {
        for h in positions(1) {
            for w in positions(2) {
                let to = ((d * sizes[1] + h) * sizes[2] + w) * lanes + lane;
                if x[to].is_nan() {
                    out[to] = out[to] + g;
                    return;
                }
            }
        }
    }
}

/// The gradients of the elements.
pub(crate) fn largest<T: Real>(of: Planes<'_, T>) -> Result<HostBuffer> {
    let [own, left] = [of.sizes, of.places].map(|sizes| sizes.iter().product::<usize>() * of.lanes);
    let count = of.x.len() / own;
    let pieces = threads::pieces(4 * of.x.len()).min(count);
    let seen = |axis: usize| listed((0..of.places[axis]).map(|place| of.windows[axis].inside(place, of.sizes[axis])));
    let seen = [seen(0)?, seen(1)?, seen(2)?];
    let mut result = HostBuffer::zeroed::<T>(of.x.len())?;
    let Some(out) = result.start_mut::<T>() else { return Ok(result) };
    let out = Shared(out);
    let mut rooms = filled(T::zero(), pieces * of.lanes)?;
    let rooms = Shared(rooms.as_mut_ptr());
    threads::for_each(pieces, &|piece| {
        for plane in count * piece / pieces..count * (piece + 1) / pieces {
            // SAFETY: each plane is gone through once, and each piece has its own room.
            let (out, rest) = unsafe {
                let (out, rooms) = ({ &out }.0.add(plane * own), { &rooms }.0.add(piece * of.lanes));
                (core::slice::from_raw_parts_mut(out, own), core::slice::from_raw_parts_mut(rooms, of.lanes))
            };
            let (low, high) = (plane * left, (plane + 1) * left);
            let (x, y, g) = (&of.x[plane * own..][..own], &of.y[low..high], &of.g[low..high]);
            let seen = seen.each_ref().map(|axis| &axis[..]);
            simd::dispatch(Plane { of: Planes { x, y, g, ..of }, seen, out, rest });
        }
    });
    Ok(result)
}
