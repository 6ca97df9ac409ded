//! Normalisations backwards: the sums of gradients that a mean and a deviation have, and the gradients of elements by them.
//!
//! Sums are taken in blocks that depend on sizes alone, so that no result depends on threads.

use super::simd::{self, Loop};
use super::threads::{self, Shared};
use crate::dtype::{Element, MachineFloat, math};
use crate::error::{Result, filled, listed};
use crate::storage::HostBuffer;

/// `f32` and `f64`.
pub(crate) trait Real: num_traits::Float + Element {}
impl Real for f32 {}
impl Real for f64 {}

/// Parallel partial sums.
const LANES: usize = 32;
/// Rows whose sums are taken together.
const ROWS: usize = if cfg!(debug_assertions) { 2 } else { 64 };
/// Maximum number of blocks of rows, so that their sums take less memory than the rows.
const BLOCKS: usize = 64;

/// Two sums over the elements of three lists, as long as the first.
#[inline(always)]
fn sums<T: Real>([a, b, c]: [&[T]; 3], term: impl Fn(T, T, T) -> [T; 2]) -> [T; 2] {
    let (mut first, mut second) = ([T::zero(); LANES], [T::zero(); LANES]);
    let mut add = |a: &[T], b: &[T], c: &[T]| {
        let lanes = first.iter_mut().zip(&mut second);
        for ((((first, second), &a), &b), &c) in lanes.zip(a).zip(b).zip(c) {
            let [one, other] = term(a, b, c);
            (*first, *second) = (*first + one, *second + other);
        }
    };
    let [mut a, mut b, mut c] = [a, b, c].map(|list| list.chunks_exact(LANES));
    for ((a, b), c) in (&mut a).zip(&mut b).zip(&mut c) {
        add(a, b, c);
    }
    add(a.remainder(), b.remainder(), c.remainder());
    [first, second].map(|mut lanes| {
        let mut half = LANES / 2;
        while half > 0 {
            for at in 0..half {
                lanes[at] = lanes[at] + lanes[at + half];
            }
            half /= 2;
        }
        lanes[0]
    })
}

/// Some rows, each normalised by itself, with a weight for each column.
struct Rows<'a, T> {
    x: &'a [T],
    g: &'a [T],
    weight: &'a [T],
    /// Whether the mean is subtracted.
    is_centred: bool,
    eps: T,
    out: &'a mut [T],
    /// The sums of the gradients of weight and bias.
    shared: &'a mut [T],
}
impl<T: Real> Loop for Rows<'_, T> {
    /// Whether all deviations are numbers.
    type Output = bool;
    #[inline(always)]
    fn run(self) -> bool {
        let Rows { x, g, weight, is_centred, eps, out, shared } = self;
        let (len, zero) = (weight.len(), T::zero());
        let count = T::from(len).unwrap_or(zero);
        let (of_weight, of_bias) = shared.split_at_mut(shared.len() / 2);
        let rows = x.chunks_exact(len).zip(g.chunks_exact(len)).enumerate();
        for (row, (x, g)) in rows {
            let mean = if is_centred { sums([x; 3], |x, _, _| [x, zero])[0] / count } else { zero };
            let square = sums([x; 3], |x, _, _| [(x - mean) * (x - mean), zero])[0];
            let scale = T::one() / (square / count + eps).sqrt();
            if !(scale > zero && scale.is_finite()) {
                return false;
            }
            if let Some(out) = out.get_mut(row * len..(row + 1) * len) {
                let [sum, along] = sums([x, g, weight], |x, g, w| [g * w, g * w * (x - mean)]);
                let (sum, along) = (if is_centred { sum / count } else { zero }, along / count * scale * scale);
                for (((out, &x), &g), &w) in out.iter_mut().zip(x).zip(g).zip(weight) {
                    *out = (g * w - sum - (x - mean) * along) * scale;
                }
            }
            let shared = of_weight.iter_mut().zip(of_bias.iter_mut());
            for (((of_weight, of_bias), &x), &g) in shared.zip(x).zip(g) {
                *of_weight = *of_weight + g * ((x - mean) * scale);
                *of_bias = *of_bias + g;
            }
        }
        true
    }
}

/// The gradients of rows of `len` elements, of the weight and of the bias, as far as they are wanted; `None` if a row has no deviation that
/// is a number.
pub(crate) fn rows<T: Real>(
    [x, g]: [&[T]; 2],
    weight: Option<&[T]>,
    len: usize,
    (is_centred, eps): (bool, f64),
    [wants_x, wants_shared]: [bool; 2],
) -> Result<Option<[Option<HostBuffer>; 3]>> {
    let ones = if weight.is_none() { filled(T::one(), len)? } else { Vec::new() };
    let weight = weight.unwrap_or(&ones);
    let count = x.len() / len;
    let block = ROWS.max(count.div_ceil(BLOCKS));
    let blocks = count.div_ceil(block);
    let width = if wants_shared { 2 * len } else { 0 };
    let mut shared = filled(T::zero(), blocks * width)?;
    let mut fine = filled(true, blocks)?;
    let out_len = if wants_x { x.len() } else { 0 };
    let pieces = threads::pieces(x.len()).min(blocks);
    let eps = T::from(eps).unwrap_or(T::zero());
    let parts = Shared((shared.as_mut_ptr(), fine.as_mut_ptr()));
    // SAFETY: the blocks cover all rows, and each writes its own.
    let out = unsafe {
        HostBuffer::filled_by(out_len, |out: *mut T| {
            let out = Shared(out);
            threads::for_each(pieces, &|piece| {
                let ((shared, fine), out) = ({ &parts }.0, { &out }.0);
                for at in blocks * piece / pieces..blocks * (piece + 1) / pieces {
                    let (low, high) = (at * block * len, ((at + 1) * block).min(count) * len);
                    let out: &mut [T] = match wants_x {
                        true => core::slice::from_raw_parts_mut(out.add(low), high - low),
                        false => &mut [],
                    };
                    let shared = core::slice::from_raw_parts_mut(shared.add(at * width), width);
                    let (x, g) = (&x[low..high], &g[low..high]);
                    fine.add(at).write(simd::dispatch(Rows { x, g, weight, is_centred, eps, out, shared }));
                }
            });
            Ok(())
        })?
    };
    if fine.contains(&false) {
        return Ok(None);
    }
    let out = wants_x.then_some(out);
    if !wants_shared {
        return Ok(Some([out, None, None]));
    }
    let (sum, others) = shared.split_at_mut(width);
    for other in others.chunks_exact(width) {
        sum.iter_mut().zip(other).for_each(|(sum, &other)| *sum = *sum + other);
    }
    let list = |from: &[T]| HostBuffer::from_vec::<T>(listed(from.iter().copied())?);
    Ok(Some([out, Some(list(&sum[..len])?), Some(list(&sum[len..])?)]))
}

/// Some rows of a softmax or its logarithm, and their gradients.
struct SoftmaxRows<'a, T> {
    y: &'a [T],
    g: &'a [T],
    len: usize,
    of_logarithm: bool,
    out: &'a mut [T],
}
impl<T: Real + MachineFloat> Loop for SoftmaxRows<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let SoftmaxRows { y, g, len, of_logarithm, out } = self;
        let zero = <T as num_traits::Zero>::zero();
        for ((y, g), out) in y.chunks_exact(len).zip(g.chunks_exact(len)).zip(out.chunks_exact_mut(len)) {
            let elements = out.iter_mut().zip(y).zip(g);
            if of_logarithm {
                let [sum, _] = sums([g; 3], |g, _, _| [g, zero]);
                elements.for_each(|((out, &y), &g)| *out = g - T::elementary::<math::Exp>(y) * sum);
            } else {
                let [sum, _] = sums([y, g, g], |y, g, _| [y * g, zero]);
                elements.for_each(|((out, &y), &g)| *out = y * (g - sum));
            }
        }
    }
}

/// The gradients of rows of `len` elements whose softmax, or its logarithm, is `y`.
pub(crate) fn softmax<T: Real + MachineFloat>([y, g]: [&[T]; 2], len: usize, of_logarithm: bool) -> Result<HostBuffer> {
    let count = y.len() / len;
    let pieces = threads::pieces(y.len() / 2).min(count);
    // SAFETY: the pieces cover the result, and each writes its own.
    unsafe {
        HostBuffer::filled_by(y.len(), |out: *mut T| {
            let out = Shared(out);
            threads::for_each(pieces, &|piece| {
                let (low, high) = (count * piece / pieces * len, count * (piece + 1) / pieces * len);
                let out = core::slice::from_raw_parts_mut({ &out }.0.add(low), high - low);
                simd::dispatch(SoftmaxRows { y: &y[low..high], g: &g[low..high], len, of_logarithm, out });
            });
            Ok(())
        })
    }
}

/// Log-probabilities, and in place of the numbers in `out` the probabilities times them.
struct TimesProbabilities<'a, T> {
    logs: &'a [T],
    out: &'a mut [T],
}
impl<T: Real + MachineFloat> Loop for TimesProbabilities<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        self.out.iter_mut().zip(self.logs).for_each(|(out, &log)| *out = T::elementary::<math::Exp>(log) * *out);
    }
}

/// The gradients of rows of scores, from their log-probabilities: of each row the label, if there is one, and the gradient of the loss, which
/// is minus the label's log-probability. `None` if there is no such class.
pub(crate) fn labelled<T: Real + MachineFloat>(
    logs: &[T],
    len: usize,
    rows: &[(Option<usize>, T)],
) -> Result<Option<HostBuffer>> {
    if logs.len() != rows.len() * len || rows.iter().any(|(label, _)| label.is_some_and(|label| label >= len)) {
        return Ok(None);
    }
    // SAFETY: rows of `len` numbers are as many as the result has, and are written before they are read.
    let found = unsafe {
        HostBuffer::filled_by(logs.len(), |out: *mut T| {
            for (at, &(label, g)) in rows.iter().enumerate() {
                let g = if label.is_some() { g } else { <T as num_traits::Zero>::zero() };
                (at * len..(at + 1) * len).for_each(|at| out.add(at).write(g));
            }
            let out = core::slice::from_raw_parts_mut(out, logs.len());
            simd::dispatch(TimesProbabilities { logs, out: &mut *out });
            for (row, &(label, g)) in out.chunks_exact_mut(len).zip(rows) {
                if let Some(label) = label {
                    row[label] = row[label] - g;
                }
            }
            Ok(())
        })
    };
    found.map(Some)
}

/// Elements of several means, and their gradients, in the same order.
#[derive(Clone, Copy)]
pub(crate) struct Spread<'a, T> {
    pub(crate) x: &'a [T],
    pub(crate) g: &'a [T],
    /// The elements of a mean that are side by side; if it is 1, those of all means are, again and again.
    pub(crate) len: usize,
}

/// The sum of gradients, and of gradients times the distance from the mean, of each of some runs.
struct RunSums<'a, T> {
    of: Spread<'a, T>,
    means: &'a [T],
    out: &'a mut [[f64; 2]],
}
impl<T: Real> Loop for RunSums<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let RunSums { of: Spread { x, g, len }, means, out } = self;
        let runs = x.chunks_exact(len).zip(g.chunks_exact(len));
        for (((x, g), &mean), out) in runs.zip(means).zip(out) {
            *out = sums([x, g, g], |x, g, _| [g, g * (x - mean)]).map(|sum| sum.to_f64().unwrap_or(f64::NAN));
        }
    }
}
/// Columns whose sums are held in registers.
const COLUMNS: usize = 32;

/// Adds to the sums of `N` columns from `low` on.
#[inline(always)]
fn add_columns<'a, T: Real, const N: usize>(
    rows: impl Iterator<Item = (&'a [T], &'a [T])>,
    means: &[T],
    low: usize,
    [first, second]: [&mut [T]; 2],
) {
    let sums = (first[low..].first_chunk_mut::<N>(), second[low..].first_chunk_mut::<N>());
    let (Some(means), (Some(first), Some(second))) = (means[low..].first_chunk::<N>(), sums) else { return };
    let mut held = [*first, *second];
    for (x, g) in rows {
        if let (Some(x), Some(g)) = (x[low..].first_chunk::<N>(), g[low..].first_chunk::<N>()) {
            for at in 0..N {
                held[0][at] = held[0][at] + g[at];
                held[1][at] = held[1][at] + g[at] * (x[at] - means[at]);
            }
        }
    }
    [*first, *second] = held;
}

/// The same of each column, added to `out`.
struct ColumnSums<'a, T> {
    of: Spread<'a, T>,
    means: &'a [T],
    out: [&'a mut [T]; 2],
}
impl<T: Real> Loop for ColumnSums<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let ColumnSums { of: Spread { x, g, .. }, means, out: [first, second] } = self;
        let count = means.len();
        let rows = || x.chunks_exact(count).zip(g.chunks_exact(count));
        let mut low = 0;
        while low < count {
            if low + COLUMNS <= count {
                add_columns::<T, COLUMNS>(rows(), means, low, [&mut *first, &mut *second]);
                low += COLUMNS;
            } else {
                add_columns::<T, 1>(rows(), means, low, [&mut *first, &mut *second]);
                low += 1;
            }
        }
    }
}

/// For each run of elements, or each column: the sum of gradients, and of gradients times the distance from the mean.
pub(crate) fn sums_of<T: Real>(of: Spread<'_, T>, means: &[T]) -> Result<Vec<[f64; 2]>> {
    let Spread { x, g, len } = of;
    let mut all = filled([0.0; 2], means.len())?;
    let count = means.len();
    if len > 1 {
        let pieces = threads::pieces(x.len() / 4).min(count);
        let out = Shared(all.as_mut_ptr());
        threads::for_each(pieces, &|piece| {
            let (low, high) = (count * piece / pieces, count * (piece + 1) / pieces);
            // SAFETY: the pieces are apart.
            let out = unsafe { core::slice::from_raw_parts_mut({ &out }.0.add(low), high - low) };
            let of = Spread { x: &x[low * len..high * len], g: &g[low * len..high * len], len };
            simd::dispatch(RunSums { of, means: &means[low..high], out });
        });
        return Ok(all);
    }
    column_sums(of, means)
}

/// Rows are added in `T` a few at a time, and these sums in `f64`.
fn column_sums<T: Real>(of: Spread<'_, T>, means: &[T]) -> Result<Vec<[f64; 2]>> {
    let Spread { x, g, len } = of;
    let count = means.len();
    let rows = x.len() / count;
    let block = (4 * ROWS).max(rows.div_ceil(BLOCKS));
    let blocks = rows.div_ceil(block);
    let mut parts = filled([0.0; 2], blocks * count)?;
    let pieces = threads::pieces(x.len() / 4).min(blocks);
    let mut rooms = filled(T::zero(), pieces * 2 * count)?;
    let shared = Shared((parts.as_mut_ptr(), rooms.as_mut_ptr()));
    threads::for_each(pieces, &|piece| {
        let (parts, rooms) = { &shared }.0;
        for at in blocks * piece / pieces..blocks * (piece + 1) / pieces {
            // SAFETY: each block has its own part, and each piece its own room.
            let (part, room) = unsafe {
                let part = core::slice::from_raw_parts_mut(parts.add(at * count), count);
                (part, core::slice::from_raw_parts_mut(rooms.add(piece * 2 * count), 2 * count))
            };
            let (from, to) = (at * block * count, ((at + 1) * block).min(rows) * count);
            for low in (from..to).step_by(4 * ROWS * count) {
                let high = (low + 4 * ROWS * count).min(to);
                room.fill(T::zero());
                let (first, second) = room.split_at_mut(count);
                let of = Spread { x: &x[low..high], g: &g[low..high], len };
                simd::dispatch(ColumnSums { of, means, out: [&mut *first, &mut *second] });
                for ((sum, first), second) in part.iter_mut().zip(first).zip(second) {
                    sum[0] += first.to_f64().unwrap_or(f64::NAN);
                    sum[1] += second.to_f64().unwrap_or(f64::NAN);
                }
            }
        }
    });
    let (all, others) = parts.split_at(count);
    let mut all = listed(all.iter().copied())?;
    for part in others.chunks_exact(count) {
        all.iter_mut().zip(part).for_each(|(sum, part)| *sum = [sum[0] + part[0], sum[1] + part[1]]);
    }
    Ok(all)
}

/// `scale * g + slope * (x - mean) + shift`, of each run or column.
#[derive(Clone, Copy)]
pub(crate) struct Slope<T> {
    pub(crate) mean: T,
    pub(crate) scale: T,
    pub(crate) slope: T,
    pub(crate) shift: T,
}
struct Sloped<'a, T> {
    of: Spread<'a, T>,
    slopes: &'a [Slope<T>],
    /// The same as lists.
    lists: [&'a [T]; 4],
    out: &'a mut [T],
}
impl<T: Real> Loop for Sloped<'_, T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Sloped { of: Spread { x, g, len }, slopes, lists, out } = self;
        if len > 1 {
            let runs = x.chunks_exact(len).zip(g.chunks_exact(len)).zip(out.chunks_exact_mut(len));
            for (((x, g), out), &Slope { mean, scale, slope, shift }) in runs.zip(slopes) {
                for ((out, &x), &g) in out.iter_mut().zip(x).zip(g) {
                    *out = scale * g + slope * (x - mean) + shift;
                }
            }
            return;
        }
        let [means, scales, slopes, shifts] = lists;
        let count = means.len();
        let rows = x.chunks_exact(count).zip(g.chunks_exact(count)).zip(out.chunks_exact_mut(count));
        for ((x, g), out) in rows {
            let lists = means.iter().zip(scales).zip(slopes).zip(shifts);
            for (((out, &x), &g), (((&mean, &scale), &slope), &shift)) in out.iter_mut().zip(x).zip(g).zip(lists) {
                *out = scale * g + slope * (x - mean) + shift;
            }
        }
    }
}

/// The gradients of the elements.
pub(crate) fn sloped<T: Real>(of: Spread<'_, T>, slopes: &[Slope<T>]) -> Result<HostBuffer> {
    let Spread { x, g, len } = of;
    let lists: [fn(&Slope<T>) -> T; 4] = [|of| of.mean, |of| of.scale, |of| of.slope, |of| of.shift];
    let list = |part: fn(&Slope<T>) -> T| listed(slopes.iter().map(part));
    let [means, scales, each, shifts] = lists.map(list);
    let lists = [means?, scales?, each?, shifts?];
    // Whole runs, or whole rows of columns.
    let unit = if len > 1 { len } else { slopes.len() };
    let count = x.len() / unit;
    let pieces = threads::pieces(x.len() / 4).min(count);
    // SAFETY: the pieces cover the result, and each writes its own.
    unsafe {
        HostBuffer::filled_by(x.len(), |out: *mut T| {
            let out = Shared(out);
            threads::for_each(pieces, &|piece| {
                let (low, high) = (count * piece / pieces, count * (piece + 1) / pieces);
                let (from, to) = (low * unit, high * unit);
                let out = core::slice::from_raw_parts_mut({ &out }.0.add(from), to - from);
                let slopes = if len > 1 { &slopes[low..high] } else { slopes };
                let of = Spread { x: &x[from..to], g: &g[from..to], len };
                simd::dispatch(Sloped { of, slopes, lists: lists.each_ref().map(|list| &list[..]), out });
            });
            Ok(())
        })
    }
}
