//! Resampling in host memory: each place of an axis, or of a grid, is a weighted sum of positions. Also sums overlapping patches (`fold`).

use super::threads;
use crate::dtype::{Compute, Dtype};
use crate::error::{Result, filled};
use crate::ops;
use crate::ops::resample::ByteTaps;
use crate::ops::window::Window;

/// The source positions and weights for each place of an axis, in the compute type.
pub(crate) struct Weighted<C> {
    /// Maximum number of positions per place.
    pub(crate) width: usize,
    /// Number of positions of each place.
    pub(crate) counts: Vec<usize>,
    /// Positions, `width` per place.
    pub(crate) index: Vec<usize>,
    /// Their weights.
    pub(crate) weights: Vec<C>,
}

/// Fills the `count` parts of a result in parallel: `work` gets the index of each part and its elements.
pub(crate) fn parts<T: Send>(
    result: &mut [T],
    len: usize,
    steps: usize,
    work: &(dyn Fn(usize, &mut [T]) -> Result<()> + Sync),
) -> Result<()> {
    if result.is_empty() {
        return Ok(());
    }
    let count = result.len() / len;
    let pieces = threads::pieces(result.len().saturating_mul(steps)).clamp(1, count);
    let each = count.div_ceil(pieces);
    let list = result.chunks_mut(each * len).enumerate().collect();
    threads::try_for_each_part(list, &|(at, part): (usize, &mut [T])| {
        part.chunks_exact_mut(len).enumerate().try_for_each(|(within, part)| work(at * each + within, part))
    })
}

/// Resamples `outer * size * inner` numbers to `outer * places * inner`.
pub(crate) fn floats<C: Compute>(from: &[C], size: usize, inner: usize, taps: &Weighted<C>) -> Result<Vec<C>> {
    let places = taps.counts.len();
    let outer = from.len().checked_div(size * inner).unwrap_or(0);
    let mut result = filled(C::default(), outer.saturating_mul(places).saturating_mul(inner))?;
    let sum = |from: &[C], place: usize, at: usize| {
        let first = place * taps.width;
        let mut sum = from[taps.index[first] * inner + at].binary::<ops::mul>(taps.weights[first]);
        for tap in first + 1..first + taps.counts[place] {
            sum = sum.binary::<ops::add>(from[taps.index[tap] * inner + at].binary::<ops::mul>(taps.weights[tap]));
        }
        sum
    };
    if inner == 1 {
        parts(&mut result, places, taps.width, &|row, to| {
            let from = &from[row * size..][..size];
            to.iter_mut().enumerate().for_each(|(place, to)| *to = sum(from, place, 0));
            Ok(())
        })?;
        return Ok(result);
    }
    parts(&mut result, inner, taps.width, &|line, to| {
        let (outer, place) = (line / places, line % places);
        let from = &from[outer * size * inner..][..size * inner];
        let first = place * taps.width;
        let lane = |tap: usize| (&from[taps.index[tap] * inner..][..inner], taps.weights[tap]);
        let (lines, weight) = lane(first);
        to.iter_mut().zip(lines).for_each(|(to, &x)| *to = x.binary::<ops::mul>(weight));
        for tap in first + 1..first + taps.counts[place] {
            let (lines, weight) = lane(tap);
            to.iter_mut().zip(lines).for_each(|(to, &x)| *to = to.binary::<ops::add>(x.binary::<ops::mul>(weight)));
        }
        Ok(())
    })?;
    Ok(result)
}

/// The same for bytes, in integer arithmetic.
pub(crate) fn bytes(from: &[u8], size: usize, inner: usize, taps: &ByteTaps) -> Result<Vec<u8>> {
    let places = taps.counts.len();
    let outer = from.len().checked_div(size * inner).unwrap_or(0);
    let mut result = filled(0_u8, outer.saturating_mul(places).saturating_mul(inner))?;
    let half = if taps.bits == 0 { 0 } else { 1 << (taps.bits - 1) };
    parts(&mut result, places * inner, taps.width, &|outer, to| {
        let from = &from[outer * size * inner..][..size * inner];
        for (place, to) in to.chunks_exact_mut(inner).enumerate() {
            let taps_of = place * taps.width..place * taps.width + taps.counts[place];
            for (at, to) in to.iter_mut().enumerate() {
                let each = taps_of.clone().map(|tap| i32::from(from[taps.index[tap] * inner + at]) * taps.weights[tap]);
                *to = ((half + each.sum::<i32>()) >> taps.bits).clamp(0, 255) as u8;
            }
        }
        Ok(())
    })?;
    Ok(result)
}

/// Images of planes (height, width), each the sum of its overlapping patches: `(planes, window, window, places, places)`.
pub(crate) fn patches<E: Dtype>(
    from: &[E],
    windows: [Window; 2],
    places: [usize; 2],
    image: [usize; 2],
) -> Result<Vec<E>> {
    let [high, wide] = image;
    let patch = windows[0].kernel * windows[1].kernel * places[0] * places[1];
    let planes = from.len().checked_div(patch).unwrap_or(0);
    let mut result = filled(E::default(), planes.saturating_mul(high * wide))?;
    // Where a window position falls on the image, if inside.
    let on = |axis: usize, place: usize, position: usize| {
        let window = windows[axis];
        (place * window.stride + position * window.dilation).checked_sub(window.before).filter(|&at| at < image[axis])
    };
    parts(&mut result, high * wide, patch.div_ceil(high * wide), &|plane, to| {
        let from = &from[plane * patch..][..patch];
        let rows = (0..windows[0].kernel * windows[1].kernel).flat_map(|at| (0..places[0]).map(move |row| (at, row)));
        for ((at, row), from) in rows.zip(from.chunks_exact(places[1])) {
            let Some(y) = on(0, row, at / windows[1].kernel) else { continue };
            for (column, x) in from.iter().enumerate() {
                if let Some(at) = on(1, column, at % windows[1].kernel) {
                    let to = &mut to[y * wide + at];
                    *to = E::from_compute(to.to_compute().binary::<ops::add>(x.to_compute()));
                }
            }
        }
        Ok(())
    })?;
    Ok(result)
}
