//! Pooling of channels-last images: vector lanes are channels, and windows are clipped at the ends of an axis, so that no padding is
//! materialised.

use super::elementwise::{result_len, source};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::Element;
use crate::error::{Result, listed};
use crate::ops::reduce::Reducer;
use crate::ops::window::{Inside, Window};
use crate::storage::{HostBuffer, View};

/// Maximum window size that is reduced sequentially. Larger windows use the ordinary reductions: pairwise sums, and several threads per
/// window.
const MOST: usize = 256;

/// Rows of the result: the windows of `(N, D, H, W, C)`, with contiguous channels.
struct Rows<'a, A, R: Reducer<A>>
where
    A: Copy,
{
    reducer: R,
    windows: &'a [Window; 3],
    sizes: &'a [usize; 5],
    strides: &'a [usize; 5],
    /// The sizes of the result's depth, height and width.
    places: [usize; 3],
    /// The part of each window that is inside the operand along the width.
    across: &'a [Inside],
    /// Window size, padding included.
    volume: usize,
    x: *const A,
    out: *mut R::Out,
    rows: core::ops::Range<usize>,
}

impl<A: Copy, R: Reducer<A>> Rows<'_, A, R> {
    /// One window of `COUNT` channels.
    ///
    /// # Safety
    /// There are `COUNT` channels at these positions and places.
    #[inline(always)]
    unsafe fn channels<const COUNT: usize>(&self, x: *const A, [planes, rows, columns]: [usize; 3], out: *mut R::Out) {
        // (If windows have one position along an axis, the step is not used and may be anything.)
        let step = |axis: usize| self.windows[axis].dilation.wrapping_mul(self.strides[axis + 1]);
        let steps = [step(0), step(1), step(2)];
        let mut partials = [self.reducer.start(); COUNT];
        for plane in 0..planes {
            for row in 0..rows {
                for column in 0..columns {
                    let place = plane * steps[0] + row * steps[1] + column * steps[2];
                    for (lane, partial) in partials.iter_mut().enumerate() {
                        // SAFETY: the caller's promise.
                        let element = unsafe { x.add(place + lane).read() };
                        *partial = self.reducer.accumulate(*partial, element, 0);
                    }
                }
            }
        }
        for (lane, &partial) in partials.iter().enumerate() {
            // SAFETY: the caller's promise.
            unsafe { out.add(lane).write(self.reducer.finish(partial, self.volume)) }
        }
    }

    /// One window of all channels.
    ///
    /// # Safety
    /// These positions and places are valid.
    #[inline(always)]
    unsafe fn window(&self, x: *const A, counts: [usize; 3], out: *mut R::Out) {
        let (channels, mut low) = (self.sizes[4], 0);
        // SAFETY: the caller's promise; that many channels are left.
        unsafe {
            // As many channels as fit half of the registers: the compiler keeps these there. (Of 64 bytes it keeps each by itself.)
            if const { size_of::<R::Partial>() == 2 } {
                while low + 64 <= channels {
                    self.channels::<64>(x.add(low), counts, out.add(low));
                    low += 64;
                }
            }
            if const { size_of::<R::Partial>() < 8 } {
                while low + 32 <= channels {
                    self.channels::<32>(x.add(low), counts, out.add(low));
                    low += 32;
                }
            }
            while low + 16 <= channels {
                self.channels::<16>(x.add(low), counts, out.add(low));
                low += 16;
            }
            while low < channels && channels >= 8 {
                // The last group overlaps the one before.
                let first = low.min(channels - 8);
                self.channels::<8>(x.add(first), counts, out.add(first));
                low += 8;
            }
            while low < channels {
                self.channels::<1>(x.add(low), counts, out.add(low));
                low += 1;
            }
        }
    }
}

impl<A: Copy, R: Reducer<A>> Loop for Rows<'_, A, R> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let [_, depth, height, _, channels] = *self.sizes;
        let strides = self.strides;
        for row in self.rows.clone() {
            let (y, z, image) =
                (row % self.places[1], row / self.places[1] % self.places[0], row / self.places[1] / self.places[0]);
            let (z, y) = (self.windows[0].inside(z, depth), self.windows[1].inside(y, height));
            let first = image * strides[0] + z.first * strides[1] + y.first * strides[2];
            for (column, x) in self.across.iter().enumerate() {
                // (A window entirely in the padding starts outside the operand.)
                let from = self.x.wrapping_add(first + x.first * strides[3]);
                let to = (row * self.places[2] + column) * channels;
                // SAFETY: the clipped positions are elements of the view, and places are inside the result.
                unsafe { self.window(from, [z.count, y.count, x.count], self.out.add(to)) }
            }
        }
    }
}

/// Reduces each window of `(N, D, H, W, C)` to one element, ignoring positions outside an axis. The result is row-major with `places`
/// instead of `D`, `H` and `W`; `None` where channels are not contiguous or windows are large.
pub(crate) fn pool<A: Element, R: Reducer<A>>(
    reducer: R,
    windows: &[Window; 3],
    x: View<'_, HostBuffer, A>,
    places: [usize; 3],
) -> Result<Option<HostBuffer>> {
    let five = |of: &[usize]| -> [usize; 5] { core::array::from_fn(|at| of[at]) };
    let (sizes, strides) = (five(x.sizes), five(x.strides));
    let volume = windows.iter().fold(1_usize, |volume, window| volume.saturating_mul(window.kernel));
    if volume > MOST || sizes[4] > 1 && strides[4] != 1 {
        return Ok(None);
    }
    let total = result_len(&[sizes[0], places[0], places[1], places[2], sizes[4]])?;
    let across: Vec<Inside> = listed((0..places[2]).map(|place| windows[2].inside(place, sizes[3])))?;
    let rows = sizes[0] * places[0] * places[1];
    // An estimate of an eighth of a nanosecond per element of a window.
    let pieces = threads::pieces(total.saturating_mul(volume) / 8).min(rows.max(1));
    // SAFETY: the rows cover the result, and each is written whole.
    let storage = unsafe {
        HostBuffer::filled_by(total, |out: *mut R::Out| {
            if total == 0 {
                return Ok(());
            }
            let shared = Shared((reducer, source(&x), out, across.as_slice()));
            threads::for_each(pieces, &|piece| {
                let (reducer, x, out, across) = { &shared }.0;
                let rows = rows * piece / pieces..rows * (piece + 1) / pieces;
                let (sizes, strides) = (&sizes, &strides);
                simd::dispatch(Rows { reducer, windows, sizes, strides, places, across, volume, x, out, rows });
            });
            Ok(())
        })?
    };
    Ok(Some(storage))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::strides::row_major;
    use crate::ops::reduce::{Extreme, Sum};

    fn window(kernel: usize, stride: usize, dilation: usize, padding: usize) -> Window {
        Window { kernel, stride, dilation, before: padding, after: padding }
    }

    /// The elements of a channel that a window covers.
    fn seen(windows: &[Window; 3], x: &[i64], sizes: &[usize; 5], [n, z, y, at, c]: [usize; 5]) -> Vec<i64> {
        let axis = |axis: usize, place: usize| {
            let window = windows[axis];
            let position = move |k: usize| (place * window.stride + k * window.dilation).checked_sub(window.before);
            let size = sizes[axis + 1];
            (0..window.kernel).filter_map(position).filter(move |&at| at < size)
        };
        let list = row_major(sizes);
        let steps: [usize; 5] = core::array::from_fn(|axis| list[axis]);
        let rows = axis(0, z).flat_map(|z| axis(1, y).map(move |y| z * steps[1] + y * steps[2]));
        let places: Vec<usize> = rows.collect();
        let columns: Vec<usize> = axis(2, at).map(|at| at * steps[3]).collect();
        places.iter().flat_map(|row| columns.iter().map(move |at| x[n * steps[0] + row + at + c])).collect()
    }

    #[test]
    fn windows_see_what_is_no_padding() {
        for (channels, windows) in [1, 5, 8, 19, 32, 100].into_iter().flat_map(|channels| {
            [
                [Window::POINT, window(3, 2, 1, 1), window(2, 1, 3, 2)],
                [window(2, 1, 1, 1), window(1, 2, 1, 0), window(3, 3, 2, 2)],
                [Window::POINT; 3],
            ]
            .map(|windows| (channels, windows))
        }) {
            let sizes = [2, 3, 5, 6, channels];
            let x: Vec<i64> = (0..sizes.iter().product::<usize>() as i64).map(|at| at * 7919 % 1009 - 500).collect();
            let storage = HostBuffer::from_vec(x.clone()).unwrap();
            let strides = row_major(&sizes);
            let places = [0, 1, 2].map(|axis| windows[axis].places(sizes[axis + 1]).unwrap());
            let all = [sizes[0], places[0], places[1], places[2], channels];
            let steps = row_major(&all);
            let at = |place: usize| core::array::from_fn(|axis| place / steps[axis] % all[axis]);
            let total = all.iter().product();
            let view = View::<_, i64>::new(&storage, 0, &sizes, &strides);
            let largest = pool(Extreme::<i64, true>::new(), &windows, view, places).unwrap().unwrap();
            let sums = pool(Sum, &windows, view, places).unwrap().unwrap();
            // SAFETY: `total` elements are written.
            let list = |of: &HostBuffer| unsafe { core::slice::from_raw_parts(of.start::<i64>(), total).to_vec() };
            let expected: Vec<Vec<i64>> = (0..total).map(|place| seen(&windows, &x, &sizes, at(place))).collect();
            let max = |seen: &Vec<i64>| seen.iter().copied().max().unwrap_or(i64::MIN);
            assert_eq!(list(&largest), expected.iter().map(max).collect::<Vec<_>>(), "{channels} {windows:?}");
            let sum = |seen: &Vec<i64>| seen.iter().sum();
            assert_eq!(list(&sums), expected.iter().map(sum).collect::<Vec<i64>>(), "{channels} {windows:?}");
        }
    }

    #[test]
    fn channels_with_a_step_and_large_windows_are_left_to_reductions() {
        let storage = HostBuffer::from_vec(vec![0_i64; 2 * 17 * 17 * 4]).unwrap();
        let windows = |kernel| [Window::POINT, window(kernel, 1, 1, 0), window(kernel, 1, 1, 0)];
        let found = |kernel: usize, step: usize| {
            let (sizes, strides) = ([1, 1, 17, 17, 4], [0, 0, 17 * 4 * step, 4 * step, step]);
            let places = [1, 18 - kernel, 18 - kernel];
            pool(Sum, &windows(kernel), View::<_, i64>::new(&storage, 0, &sizes, &strides), places).unwrap().is_some()
        };
        assert_eq!([found(2, 1), found(16, 1), found(17, 1), found(2, 2)], [true, true, false, false]);
    }
}
