//! Elements combined at indices: those for one position are combined in the accumulate dtype (`f32` for `f16` and `bf16`) and rounded once.

use crate::device::{Device, on_host};
use crate::dtype::{Dtype, Element};
use crate::error::{Result, filled};
use crate::layout::strides;
use crate::ops::arguments::Indexing;
use crate::ops::kernel::{Casting, Map2};
use crate::storage::{View, ViewMut};

/// Whether results of a dtype are rounded to it from a wider accumulate dtype.
pub(super) const fn is_rounded<E: Dtype>() -> bool {
    E::DTYPE as u8 != <E::Compute as Element>::DTYPE as u8
}

/// If the output has more elements per index than this, only those at the indices are widened.
const SPARSE: usize = 16;

/// `out[…, index, …] = kernel(out[…, index, …], from)` in the order of the indices along the axis, as `Backend::scatter_with`.
pub(crate) fn combine_at<E: Dtype, D: Device>(
    indexing: Indexing,
    kernel: impl Map2<E::Compute, E::Compute, E::Compute>,
    index: View<'_, D::Storage, i64>,
    from: View<'_, D::Storage, E>,
    out: ViewMut<'_, D::Storage, E>,
) -> Result<()> {
    if const { !is_rounded::<E>() } {
        let out = ViewMut::new(out.buffer, out.offset, out.sizes, out.strides);
        return D::scatter_with::<E::Compute>(indexing, kernel, index, from.known_as(), out);
    }
    let count: usize = index.sizes.iter().product();
    if count == 0 {
        return Ok(());
    }
    let (from, steps) = widened::<E, D>(from.restrided(index.sizes, from.strides))?;
    let from = View::<_, E::Compute>::new(&from, 0, index.sizes, &steps);
    let now = View::<_, E>::new(&*out.buffer, out.offset, out.sizes, out.strides);
    if D::has_data(index.buffer) && out.sizes.iter().product::<usize>() / SPARSE > count {
        let steps = strides::row_major(index.sizes);
        let old = D::gather::<E>(indexing, now, index)?;
        let old = View::<_, E>::new(&old, 0, index.sizes, &steps);
        let mut sums = D::map1::<E, E::Compute>(Casting, old, &steps)?;
        let (firsts, repeated) = firsts::<D>(indexing, index, out.sizes[indexing.axis])?;
        let firsts = View::<_, i64>::new(&firsts, 0, index.sizes, &repeated);
        let to = ViewMut::<_, E::Compute>::new(&mut sums, 0, index.sizes, &steps);
        D::scatter_with::<E::Compute>(indexing, kernel, firsts, from, to)?;
        let sums = View::<_, E::Compute>::new(&sums, 0, index.sizes, &steps);
        let sums = D::gather::<E::Compute>(indexing, sums, firsts)?;
        let sums = View::<_, E::Compute>::new(&sums, 0, index.sizes, &steps);
        let rounded = D::map1::<E::Compute, E>(Casting, sums, &steps)?;
        return D::scatter::<E>(indexing, index, View::new(&rounded, 0, index.sizes, &steps), out);
    }
    let steps = strides::row_major(out.sizes);
    let mut sums = D::map1::<E, E::Compute>(Casting, now, &steps)?;
    let to = ViewMut::<_, E::Compute>::new(&mut sums, 0, out.sizes, &steps);
    D::scatter_with::<E::Compute>(indexing, kernel, index, from, to)?;
    D::map1_into::<E::Compute, E>(Casting, View::new(&sums, 0, out.sizes, &steps), out)
}

/// Elements converted to the accumulate dtype, and their strides. Broadcast elements are converted once.
pub(super) fn widened<E: Dtype, D: Device>(from: View<'_, D::Storage, E>) -> Result<(D::Storage, Vec<usize>)> {
    let (sizes, steps) = without_repeats(from, None);
    let whole = strides::row_major(&sizes);
    Ok((D::map1::<E, E::Compute>(Casting, from.restrided(&sizes, from.strides), &whole)?, steps))
}

/// The sizes of a view without its broadcast axes, and the strides of a row-major copy of that, broadcast to the original sizes; one axis
/// may be kept.
fn without_repeats<B, E>(view: View<'_, B, E>, kept: Option<usize>) -> (Vec<usize>, Vec<usize>) {
    let is_repeated = |at: usize| view.strides[at] == 0 && kept != Some(at);
    let once = |at: usize| if is_repeated(at) { view.sizes[at].min(1) } else { view.sizes[at] };
    let sizes: Vec<usize> = (0..view.sizes.len()).map(once).collect();
    let mut steps = strides::row_major(&sizes);
    (0..sizes.len()).filter(|&at| is_repeated(at)).for_each(|at| steps[at] = 0);
    (sizes, steps)
}

/// For each index the first position along the axis, of this size, with the same target, and the strides of these positions.
fn firsts<D: Device>(
    indexing: Indexing,
    index: View<'_, D::Storage, i64>,
    size: usize,
) -> Result<(D::Storage, Vec<usize>)> {
    let (sizes, steps) = without_repeats(index, Some(indexing.axis));
    let firsts = on_host::<D, _, Vec<i64>>("scatter", index.restrided(&sizes, index.strides), |index| {
        firsts_of_lines(&index, &sizes, indexing.axis, size as i64)
    })?;
    Ok((firsts, steps))
}

/// [`firsts`] for row-major indices on the host; there is at least one. (Inline, so that sorting is compiled only into programs that need
/// it.)
#[inline]
fn firsts_of_lines(index: &[i64], sizes: &[usize], axis: usize, size: i64) -> Result<Vec<i64>> {
    let (len, step) = (sizes[axis], sizes[axis + 1..].iter().product::<usize>());
    let mut firsts = filled(0, index.len())?;
    let mut order = filled((0, 0), len)?;
    for start in (0..index.len()).step_by(len * step).flat_map(|block| block..block + step) {
        for (at, slot) in order.iter_mut().enumerate() {
            let index = index[start + at * step];
            *slot = (if index < 0 { index + size } else { index }, at);
        }
        order.sort_unstable();
        for meeting in order.chunk_by(|a, b| a.0 == b.0) {
            meeting.iter().for_each(|&(_, at)| firsts[start + at * step] = meeting[0].1 as i64);
        }
    }
    Ok(firsts)
}
