//! Writes elements at indices: `scatter`, `scatter_add`, `index_put`.

use super::elementwise::result_len;
use super::indexing::{IndexMap, PART, RawView, in_parts, out_of_range, without};
use super::read::without_repeats;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::Element;
use crate::dtype::width::loop_by_width;
use crate::error::Result;
use crate::ops::arguments::Indexing;
use crate::ops::kernel::{Map2, VectorWidth};
use crate::storage::{HostBuffer, View, ViewMut};
use core::sync::atomic::{AtomicBool, Ordering};

/// Checks whether all indices are in range.
struct Fit<'a> {
    walk: &'a Walk<1>,
    places: IndexMap,
    index: *const i64,
}
impl Loop for Fit<'_> {
    type Output = bool;
    #[inline(always)]
    fn run(self) -> bool {
        let Fit { walk, places, index } = self;
        walk.runs().all(|run| {
            let step = run.steps[0];
            (0..run.len).step_by(PART).all(|low| {
                let len = PART.min(run.len - low);
                // SAFETY: the walk stays inside the view.
                unsafe {
                    let index = index.add(run.starts[0] + low * step);
                    if step == 1 {
                        places.prefetch_indices(index, len);
                    }
                    places.hold(index, step, len)
                }
            })
        })
    }
}

/// Checks that every index is in range for an axis of this size.
fn check(indexing: Indexing, index: View<'_, HostBuffer, i64>, size: usize) -> Result<()> {
    if index.sizes.contains(&0) {
        return Ok(());
    }
    // Broadcast axes are checked once.
    let sizes = without_repeats(index.sizes, index.strides);
    let (walk, len) = (Walk::new(&sizes, [index.strides]), sizes.iter().product::<usize>());
    let places = IndexMap::new(indexing, &index, size, 0);
    let (pieces, start) = (threads::pieces(len / 2), RawView::of(&index).start.cast::<i64>());
    let fit = AtomicBool::new(true);
    if pieces == 1 {
        fit.store(simd::dispatch(Fit { walk: &walk, places, index: start }), Ordering::Relaxed);
    } else {
        let (parts, start) = (walk.split(pieces, 1), Shared(start));
        threads::for_each(parts.len(), &|part| {
            let start = &start;
            if !simd::dispatch(Fit { walk: &parts[part], places, index: start.0 }) {
                fit.store(false, Ordering::Relaxed);
            }
        });
    }
    if fit.into_inner() { Ok(()) } else { Err(out_of_range(indexing, index, size)) }
}

/// Scatters along a walk; `combine` writes one element, `combine_next` one element of a row. Operand 0 of the walk is the source, 1 the
/// indices, 2 the output.
struct Scatter<'a, W, F, G> {
    walk: &'a Walk<3>,
    places: IndexMap,
    combine: F,
    combine_next: G,
    to: *mut W,
    index: *const i64,
    from: *const W,
}
impl<W: Copy, F: Fn(*mut W, W), G: Fn(*mut W, W) + Copy> Loop for Scatter<'_, W, F, G> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::None;
    #[inline(always)]
    fn run(self) {
        let Scatter { walk, places, combine, combine_next, to, index, from } = self;
        for run in walk.runs() {
            // SAFETY: the walk stays inside the operands, and so do the scattered places: `scatter_by` has checked every index.
            unsafe {
                let (from, index, to) = (from.add(run.starts[0]), index.add(run.starts[1]), to.add(run.starts[2]));
                match run.steps {
                    [1, 0, 1] => {
                        let to = to.add(places.place(index.read()));
                        simd::dispatch(CombineRow { to, from, len: run.len, combine: combine_next });
                    }
                    [step, 1, 0] if step <= 1 && places.step == 1 => {
                        scatter_line(places, (to, index), (from, step), run.len, &combine)
                    }
                    [0, 0, 1] => {
                        let (to, value) = (to.add(places.place(index.read())), from.read_unaligned());
                        for i in 0..run.len {
                            combine_next(to.add(i), value);
                        }
                    }
                    steps => in_parts(run.len, |low, high| {
                        if steps[1] == 1 {
                            places.prefetch_indices(index.add(low), high - low);
                        }
                        for i in low..high {
                            let at = places.place(index.add(i * steps[1]).read());
                            combine(to.add(i * steps[2] + at), from.add(i * steps[0]).read_unaligned());
                        }
                    }),
                }
            }
        }
    }
}

/// Combines elements of a line, `step` apart, with the elements at their indices. A separate function, so that its loop has all registers.
///
/// # Safety
/// There are `len` elements and indices, and the indices lead to elements of a contiguous lane.
#[inline(never)]
unsafe fn scatter_line<W: Copy>(
    places: IndexMap,
    (to, index): (*mut W, *const i64),
    (from, step): (*const W, usize),
    len: usize,
    combine: &impl Fn(*mut W, W),
) {
    in_parts(len, |low, high| {
        // SAFETY: the caller's promise.
        unsafe {
            let (index, from) = (index.add(low), from.add(low * step));
            places.prefetch_indices(index, high - low);
            places.prefetch_next_lane(to, low, high - low);
            for i in 0..high - low {
                let at = places.position(index.add(i).read()) as usize;
                combine(to.add(at), from.add(i * step).read_unaligned());
            }
        }
    });
}

/// Combines a row with another. (Only rows benefit from vectors; the walk around them is scalar.)
struct CombineRow<W, F> {
    to: *mut W,
    from: *const W,
    len: usize,
    combine: F,
}
impl<W: Copy, F: Fn(*mut W, W)> Loop for CombineRow<W, F> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) {
        let CombineRow { to, from, len, combine } = self;
        for i in 0..len {
            // SAFETY: `Scatter` makes it with `len` elements on both sides.
            unsafe { combine(to.add(i), from.add(i).read_unaligned()) }
        }
    }
}

/// The order in which a scatter visits positions. Along the indexed axis it is always ascending: elements for the same place must be
/// written in order.
struct Visits {
    /// The axes, the innermost last.
    axes: Vec<usize>,
    /// Number of innermost positions visited before moving on.
    most: usize,
}
/// Minimum run length that pays for its setup.
const SHORT: usize = 8;
impl Visits {
    /// `strides` are those of the source, the indices and the output, whose stride along the indexed axis is `step`; elements have
    /// `width` bytes.
    fn new(sizes: &[usize], strides: [&[usize]; 3], step: usize, axis: usize, width: usize) -> Self {
        let mut axes: Vec<usize> = (0..sizes.len()).filter(|&at| sizes[at] != 1).collect();
        // In the source's memory order; where the source is broadcast, in the output's.
        let output = |at: usize| if at == axis { step } else { strides[2][at] };
        let key = |at: usize| if strides[0][at] == 0 { output(at) } else { strides[0][at] };
        axes.sort_by_key(|&at| core::cmp::Reverse(key(at)));
        let mut most = usize::MAX;
        let is_near = |at: &usize| *at != axis && strides[2][*at] == 1 && sizes[*at] >= SHORT;
        match axes.as_slice() {
            [.., next, last] if sizes[*last] < SHORT && sizes[*next] >= SHORT => {
                let len = axes.len();
                axes.swap(len - 2, len - 1);
            }
            // Neighbours in the output are far apart in the source: visits a few of them in turn, so that both sides stay cached.
            [.., last] if strides[2][*last] != 1 || *last == axis => {
                if let Some(at) = axes.iter().position(is_near) {
                    axes[at..].rotate_left(1);
                    most = (64 / width).max(SHORT);
                }
            }
            _ => {}
        }
        Visits { axes, most }
    }

    /// Calls `visit` with the walks over these sizes and their starts.
    fn each(&self, sizes: &[usize], strides: [&[usize]; 3], visit: &dyn Fn(&Walk<3>, [usize; 3])) {
        let in_order = |of: &[usize]| -> Vec<usize> { self.axes.iter().map(|&at| of[at]).collect() };
        let mut sizes = in_order(sizes);
        let strides = [in_order(strides[0]), in_order(strides[1]), in_order(strides[2])];
        let inner = sizes.len().wrapping_sub(1);
        let len = sizes.get(inner).copied().unwrap_or(1);
        for first in (0..len).step_by(self.most) {
            let start = |strides: &[usize]| first * strides.get(inner).copied().unwrap_or(0);
            let starts = [start(&strides[0]), start(&strides[1]), start(&strides[2])];
            if let Some(size) = sizes.get_mut(inner) {
                *size = self.most.min(len - first);
            }
            visit(&Walk::row_major(&sizes, [&strides[0], &strides[1], &strides[2]]), starts);
        }
    }
}

/// Checks all indices, then writes; nothing is written if one is out of range. Along the axis elements are written in
/// the order of the indices.
///
/// # Safety
/// The output's places are inside its buffer, which nobody else writes; elements have the size of `W`.
unsafe fn scatter_by<W: Copy, F: Fn(*mut W, W) + Copy, G: Fn(*mut W, W) + Copy>(
    indexing: Indexing,
    index: View<'_, HostBuffer, i64>,
    from: RawView<'_>,
    to: RawView<'_>,
    (combine, combine_next): (F, G),
) -> Result<()> {
    let operands =
        Shared((to.start.cast_mut().cast::<W>(), RawView::of(&index).start.cast::<i64>(), from.start.cast::<W>()));
    let combine = Shared((combine, combine_next));
    walk_checked(indexing, &index, from, (to, size_of::<W>()), &|places, walk, starts| {
        let (operands, combine) = (&operands, &combine);
        let ((to, index, from), (combine, combine_next)) = (operands.0, combine.0);
        // SAFETY: the parts of the walk lie inside of it.
        let (from, index, to) = unsafe { (from.add(starts[0]), index.add(starts[1]), to.add(starts[2])) };
        simd::dispatch(Scatter { walk, places, combine, combine_next, to, index, from });
    })
}

/// Checks all indices, then calls `visit` from several threads with the parts of the walk over source, indices and output, and their
/// starts.
/// (The type names no elements, so this is compiled once.)
fn walk_checked(
    indexing: Indexing,
    index: &View<'_, HostBuffer, i64>,
    from: RawView<'_>,
    (to, width): (RawView<'_>, usize),
    visit: &(dyn Fn(IndexMap, &Walk<3>, [usize; 3]) + Sync),
) -> Result<()> {
    let axis = indexing.axis;
    let fits = |at: usize| index.sizes[at] <= from.sizes[at] && (at == axis || index.sizes[at] <= to.sizes[at]);
    assert!((0..index.sizes.len()).all(fits));
    let size = to.sizes[axis];
    check(indexing, *index, size)?;
    let len = result_len(index.sizes)?;
    if len == 0 {
        return Ok(());
    }
    let places = IndexMap::new(indexing, index, size, to.strides[axis]);
    let strides = [from.strides, index.strides, &without(to.strides, axis)];
    let order = Visits::new(index.sizes, strides, to.strides[axis], axis, width);
    // Threads divide the longest of the other axes: along the indexed axis their writes could collide.
    let widest = (0..index.sizes.len()).filter(|&at| at != axis).max_by_key(|&at| index.sizes[at]);
    let pieces = threads::pieces(len).min(widest.map_or(1, |at| index.sizes[at]));
    let part = |part: usize| {
        let (mut sizes, mut first) = (index.sizes.to_vec(), [0; 3]);
        if let Some(at) = widest {
            let (low, high) = (sizes[at] * part / pieces, sizes[at] * (part + 1) / pieces);
            sizes[at] = high - low;
            first = [low * strides[0][at], low * strides[1][at], low * strides[2][at]];
        }
        order.each(&sizes, strides, &|walk, starts| {
            visit(places, walk, [first[0] + starts[0], first[1] + starts[1], first[2] + starts[2]]);
        });
    };
    if pieces == 1 {
        part(0)
    } else {
        threads::for_each(pieces, &part)
    }
    Ok(())
}

/// The output as untyped memory.
///
/// # Panics
/// If the buffer is shared: tensors make theirs unique before they write.
fn target<'a, E: Element>(out: &'a mut ViewMut<'_, HostBuffer, E>) -> RawView<'a> {
    let start = out.buffer.start_mut::<E>().unwrap_or_else(|| unreachable!("a shared buffer is never written"));
    // The offset of an empty view may lie outside its buffer.
    let start = start.wrapping_add(out.offset);
    RawView { start: start.cast_const().cast(), sizes: out.sizes, strides: out.strides }
}

/// `out[…, index, …] = b`
pub(crate) fn scatter<E: Element>(
    indexing: Indexing,
    index: View<'_, HostBuffer, i64>,
    b: View<'_, HostBuffer, E>,
    mut out: ViewMut<'_, HostBuffer, E>,
) -> Result<()> {
    // SAFETY: the output is a view held exclusively, and elements have the loop's width.
    unsafe { scatter_bytes(indexing, write_of::<E>(), index, RawView::of(&b), target(&mut out)) }
}

/// [`scatter_by`] for elements that are stored unchanged.
type Write = unsafe fn(Indexing, View<'_, HostBuffer, i64>, RawView<'_>, RawView<'_>) -> Result<()>;

unsafe fn write<W: Copy>(
    indexing: Indexing,
    index: View<'_, HostBuffer, i64>,
    from: RawView<'_>,
    to: RawView<'_>,
) -> Result<()> {
    // SAFETY: the caller's promise.
    let write = |to: *mut W, value: W| unsafe { to.write_unaligned(value) };
    // SAFETY: the caller's promise.
    unsafe { scatter_by::<W, _, _>(indexing, index, from, to, (write, write)) }
}
loop_by_width! { fn write_of -> Write: W => write::<W> }

/// # Safety
/// See [`scatter_by`].
unsafe fn scatter_bytes(
    indexing: Indexing,
    write: Write,
    index: View<'_, HostBuffer, i64>,
    from: RawView<'_>,
    to: RawView<'_>,
) -> Result<()> {
    // Broadcast elements with broadcast indices are written once.
    let repeated = |at: usize| index.strides[at] == 0 && from.strides[at] == 0 && at == indexing.axis;
    let sizes: Vec<usize> =
        (0..index.sizes.len()).map(|at| if repeated(at) { index.sizes[at].min(1) } else { index.sizes[at] }).collect();
    let index = index.restrided(&sizes, index.strides);
    // SAFETY: the caller's promise.
    unsafe { write(indexing, index, from, to) }
}

/// `out[…, index, …] = kernel(out[…, index, …], b)`
pub(crate) fn scatter_with<E: Element>(
    indexing: Indexing,
    kernel: impl Map2<E, E, E>,
    index: View<'_, HostBuffer, i64>,
    b: View<'_, HostBuffer, E>,
    mut out: ViewMut<'_, HostBuffer, E>,
) -> Result<()> {
    let (from, to) = (RawView::of(&b), target(&mut out));
    // SAFETY: the output is a view held exclusively.
    unsafe {
        let alone = |to: *mut E, value: E| to.write(kernel.call_alone(to.read(), value));
        let next = |to: *mut E, value: E| to.write(kernel.call(to.read(), value));
        scatter_by::<E, _, _>(indexing, index, from, to, (alone, next))
    }
}
