//! Where values would stand in sorted lanes. Compiled once for each dtype. Uses walks; used by `Cpu`.

use super::elementwise::result_len;
use super::indexing::RawView;
use super::keys::by_ordered_dtype;
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::layout::strides;
use crate::storage::{HostBuffer, View};

/// For each value the first position in its lane of `sorted` (the last axis) before which everything is smaller, or after
/// `right` before which everything is not larger. The leading sizes are the same; those of `sorted` may have stride 0.
pub(crate) fn search<E: Element>(
    sorted: View<'_, HostBuffer, E>,
    values: View<'_, HostBuffer, E>,
    right: bool,
) -> Result<HostBuffer> {
    by_dtype(E::DTYPE, RawView::of(&sorted), RawView::of(&values), right)
}

fn by_dtype(dtype: DType, sorted: RawView<'_>, values: RawView<'_>, right: bool) -> Result<HostBuffer> {
    by_ordered_dtype!(dtype, T => search_in::<T>(sorted, values, right))
}

/// Source: `aten/src/ATen/native/Bucketization.cpp`, `cus_lower_bound` and `cus_upper_bound`. The comparisons stand as they do
/// there, which decides what becomes of NaN.
#[inline(always)]
fn position<T: PartialOrd + Copy>(len: usize, get: impl Fn(usize) -> T, value: T, right: bool) -> usize {
    // Without a branch on what is compared: no guess can be wrong.
    let (mut start, mut left) = (0, len);
    while left > 0 {
        let half = left / 2;
        let middle = get(start + half);
        let stops = if right { middle > value } else { middle >= value };
        start = if stops { start } else { start + half + 1 };
        left = if stops { half } else { left - half - 1 };
    }
    start
}

fn search_in<T: PartialOrd + Copy + Send + Sync>(
    sorted: RawView<'_>,
    values: RawView<'_>,
    right: bool,
) -> Result<HostBuffer> {
    let last = sorted.sizes.len() - 1;
    let (len, step) = (sorted.sizes[last], sorted.strides[last]);
    assert!(values.sizes.len() == sorted.sizes.len() && values.sizes[..last] == sorted.sizes[..last]);
    let total = result_len(values.sizes)?;
    let strides = strides::row_major(values.sizes);
    let mut lanes = sorted.strides.to_vec();
    lanes[last] = 0;
    let walk = Walk::new(values.sizes, [&strides, values.strides, &lanes]);
    let pieces = threads::pieces(total.saturating_mul(4 * (usize::BITS - len.leading_zeros()) as usize));
    // SAFETY: the walk visits each place of the result once and stays inside the views.
    unsafe {
        HostBuffer::filled_by(total, |to: *mut i64| {
            let (parts, places) =
                (walk.split(pieces, 1), Shared((to, values.start.cast::<T>(), sorted.start.cast::<T>())));
            threads::for_each(parts.len(), &|part| {
                let places = &places;
                let (to, values, sorted) = places.0;
                for run in parts[part].runs() {
                    for i in 0..run.len {
                        let lane = sorted.add(run.starts[2] + i * run.steps[2]);
                        let value = values.add(run.starts[1] + i * run.steps[1]).read();
                        let found = position(len, |at| lane.add(at * step).read(), value, right);
                        to.add(run.starts[0] + i * run.steps[0]).write(found as i64);
                    }
                }
            });
            Ok(())
        })
    }
}
