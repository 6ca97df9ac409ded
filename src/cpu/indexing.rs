//! Elements chosen by indices: read from where the indices say (`gather`) or written there (`scatter`), and elements chosen by
//! a mask (`compress`).
//!
//! What only moves elements is compiled once for each size of element. Uses walks; used by `Cpu`.

use super::elementwise::result_len;
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::device::Indexing;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::kernel::Map2;
use crate::storage::{HostBuffer, View, ViewMut};
use core::sync::atomic::{AtomicBool, Ordering};

/// Runs code with a type of as many bytes as an element has.
macro_rules! by_width {
    ($width:expr, $word:ident => $run:expr) => {
        match $width {
            1 => {
                type $word = u8;
                $run
            }
            2 => {
                type $word = u16;
                $run
            }
            4 => {
                type $word = u32;
                $run
            }
            8 => {
                type $word = u64;
                $run
            }
            16 => {
                type $word = [u64; 2];
                $run
            }
            _ => unreachable!("elements have 1, 2, 4, 8 or 16 bytes"),
        }
    };
}
pub(super) use by_width;

/// A view's elements as bytes: what they are is forgotten, how many bytes each has is kept beside.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a> {
    pub(super) start: *const u8,
    pub(super) sizes: &'a [usize],
    /// In elements.
    pub(super) strides: &'a [usize],
}
impl<'a> Bytes<'a> {
    pub(super) fn of<E: Element>(view: &View<'a, HostBuffer, E>) -> Self {
        // SAFETY: the offset of a view lies inside its buffer (or at its end, if the view is empty).
        let start = unsafe { view.buffer.start::<E>().add(view.offset) };
        Bytes { start: start.cast(), sizes: view.sizes, strides: view.strides }
    }
}

/// Row-major strides.
pub(super) fn row_major_strides(sizes: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; sizes.len()];
    for axis in (1..sizes.len()).rev() {
        strides[axis - 1] = strides[axis] * sizes[axis].max(1);
    }
    strides
}

/// Strides with 0 for one axis, along which the indices lead.
fn without(strides: &[usize], axis: usize) -> Vec<usize> {
    strides.iter().enumerate().map(|(at, &stride)| if at == axis { 0 } else { stride }).collect()
}

/// What an index outside of the axis is reported as.
#[cold]
fn out_of_range(indexing: Indexing, index: View<'_, HostBuffer, i64>, size: usize) -> Error {
    let fits = |index: i64| index < size as i64 && (index >= 0 || (indexing.wraps && index >= -(size as i64)));
    let all = super::elementwise::download(index);
    let index = all.into_iter().find(|&index| !fits(index)).unwrap_or_default();
    Error::IndexValue { op: indexing.op, index, axis: indexing.axis, size }
}

/// How an index becomes a place: negative ones count from the end if `wrap` is the size.
#[derive(Clone, Copy)]
struct Places {
    wrap: i64,
    size: i64,
    /// From one place to the next.
    step: usize,
}
impl Places {
    fn new(indexing: Indexing, size: usize, step: usize) -> Self {
        // No axis of a tensor that exists is longer than `i64` counts, unless it repeats one element.
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        Places { wrap: if indexing.wraps { size } else { 0 }, size, step }
    }
    /// The index counted from the first.
    #[inline(always)]
    fn position(self, index: i64) -> i64 {
        index.wrapping_add((index >> 63) & self.wrap)
    }
    /// The place of an index; anything, if it is out of range.
    #[inline(always)]
    fn place(self, index: i64) -> usize {
        (self.position(index) as usize).wrapping_mul(self.step)
    }
    /// Whether some indices are in range. Without a branch for each: the sign of a number says whether it is negative, that of
    /// its distance from the last whether it is beyond.
    ///
    /// # Safety
    /// These are places of indices.
    #[inline(always)]
    unsafe fn hold(self, index: *const i64, step: usize, len: usize) -> bool {
        let mut outside = 0;
        let mut look = |index: i64| {
            let position = self.position(index);
            outside |= position | (self.size - 1).wrapping_sub(position);
        };
        // SAFETY: the caller's promise.
        unsafe {
            if step == 1 {
                (0..len).for_each(|i| look(index.add(i).read()));
            } else {
                (0..len).for_each(|i| look(index.add(i * step).read()));
            }
        }
        outside >= 0
    }
}

/// Reads where the indices say. Operand 0 of the walk is the result, 1 the indices, 2 the source. Says whether all indices are
/// in range; it stops at those that are not.
struct Gather<'a, W, const WRAPS: bool> {
    walk: &'a Walk<3>,
    places: Places,
    to: *mut W,
    index: *const i64,
    from: *const W,
}
/// How many rows ahead memory is asked for.
const AHEAD: usize = 6;
impl<W: Copy, const WRAPS: bool> Loop for Gather<'_, W, WRAPS> {
    type Output = bool;
    #[inline(always)]
    fn run(self) -> bool {
        let Gather { walk, places, to: first_to, index: first_index, from: first_from } = self;
        // SAFETY: `gather_bytes` gives a walk whose places lie inside the operands, with every index that is in range; others
        // are not followed. Elements are read and written as bytes of any alignment.
        unsafe {
            let mut ahead = walk.runs();
            let mut next = ahead.nth(AHEAD);
            for run in walk.runs() {
                let (to, index) = (first_to.add(run.starts[0]), first_index.add(run.starts[1]));
                let from = first_from.add(run.starts[2]);
                if run.steps[1] == 0 {
                    if let Some(next) = next {
                        // Not yet checked; asking for memory that is not there does no harm.
                        let at = places.place(first_index.add(next.starts[1]).read());
                        let row: *const u8 = first_from.wrapping_add(next.starts[2].wrapping_add(at)).cast();
                        for line in 0..(run.len * size_of::<W>()).div_ceil(64).min(16) {
                            simd::prefetch(row.wrapping_add(64 * line));
                        }
                    }
                    next = ahead.next();
                    if !places.hold(index, 0, 1) {
                        return false;
                    }
                    let from = from.add(places.place(index.read()));
                    if run.steps == [1, 0, 1] {
                        core::ptr::copy_nonoverlapping(from.cast::<u8>(), to.cast(), run.len * size_of::<W>());
                    } else {
                        for i in 0..run.len {
                            to.add(i * run.steps[0]).write_unaligned(from.add(i * run.steps[2]).read_unaligned());
                        }
                    }
                    continue;
                }
                // An index out of range leads to the first place, and is told at the end: no branch depends on an index.
                let mut outside = false;
                let mut place = |index: i64| {
                    let at = if WRAPS { places.position(index) } else { index };
                    let is_outside = at as u64 >= places.size as u64;
                    outside |= is_outside;
                    if is_outside { 0 } else { at as usize }
                };
                match run.steps {
                    [1, 1, 0] if places.step == 1 => {
                        for i in 0..run.len {
                            to.add(i).write_unaligned(from.add(place(index.add(i).read())).read_unaligned());
                        }
                    }
                    steps => {
                        for i in 0..run.len {
                            let at = place(index.add(i * steps[1]).read()) * places.step;
                            to.add(i * steps[0]).write_unaligned(from.add(i * steps[2] + at).read_unaligned());
                        }
                    }
                }
                if outside {
                    return false;
                }
            }
        }
        true
    }
}

/// The elements of `a` at the positions of the result, with the index in place of the position along the axis.
pub(crate) fn gather<E: Element>(
    indexing: Indexing,
    a: View<'_, HostBuffer, E>,
    index: View<'_, HostBuffer, i64>,
) -> Result<HostBuffer> {
    gather_bytes(indexing, size_of::<E>(), Bytes::of(&a), index)
}

fn gather_bytes(
    indexing: Indexing,
    width: usize,
    a: Bytes<'_>,
    index: View<'_, HostBuffer, i64>,
) -> Result<HostBuffer> {
    let axis = indexing.axis;
    let len = result_len(index.sizes)?;
    let size = a.sizes[axis];
    assert!(index.sizes.iter().zip(a.sizes).enumerate().all(|(at, (index, a))| at == axis || index <= a));
    if len > 0 && size == 0 {
        return Err(out_of_range(indexing, index, size));
    }
    let bytes = len.checked_mul(width).ok_or_else(|| Error::TooLarge { op: indexing.op, sizes: index.sizes.into() })?;
    let strides = row_major_strides(index.sizes);
    let walk = Walk::new(index.sizes, [&strides, index.strides, &without(a.strides, axis)]);
    let places = Places::new(indexing, size, a.strides[axis]);
    let fits = AtomicBool::new(true);
    let pieces = threads::pieces((bytes / 16).max(len / 2));
    let start = Bytes::of(&index).start.cast::<i64>();
    // SAFETY: the walk visits each of the `len` places of the result once, unless an index is out of range, and what it reaches
    // from `a` and the indices lies inside their views: along the other axes the result is no larger than `a`.
    unsafe {
        HostBuffer::filled_by(bytes, |to: *mut u8| {
            if len == 0 {
                return Ok(());
            }
            let run = |walk: &Walk<3>, (to, index, from): (*mut u8, *const i64, *const u8)| {
                by_width!(width, W => {
                    let (to, from) = (to.cast::<W>(), from.cast::<W>());
                    if indexing.wraps {
                        simd::dispatch(Gather::<W, true> { walk, places, to, index, from })
                    } else {
                        simd::dispatch(Gather::<W, false> { walk, places, to, index, from })
                    }
                })
            };
            if pieces == 1 {
                fits.store(run(&walk, (to, start, a.start)), Ordering::Relaxed);
            } else {
                let (parts, operands) = (walk.split(pieces, 1), Shared((to, start, a.start)));
                threads::for_each(parts.len(), &|part| {
                    let operands = &operands;
                    if !run(&parts[part], operands.0) {
                        fits.store(false, Ordering::Relaxed);
                    }
                });
            }
            if fits.load(Ordering::Relaxed) { Ok(()) } else { Err(out_of_range(indexing, index, size)) }
        })
    }
}

/// Whether all indices are in range.
struct Fit<'a> {
    walk: &'a Walk<1>,
    places: Places,
    index: *const i64,
}
impl Loop for Fit<'_> {
    type Output = bool;
    #[inline(always)]
    fn run(self) -> bool {
        let Fit { walk, places, index } = self;
        // SAFETY: the walk stays inside the view.
        walk.runs().all(|run| unsafe { places.hold(index.add(run.starts[0]), run.steps[0], run.len) })
    }
}

/// Whether every index is one of an axis of this size.
fn check(indexing: Indexing, index: View<'_, HostBuffer, i64>, size: usize) -> Result<()> {
    if index.sizes.contains(&0) {
        return Ok(());
    }
    // What is repeated is looked at once.
    let sizes: Vec<usize> =
        index.sizes.iter().zip(index.strides).map(|(&size, &stride)| if stride == 0 { 1 } else { size }).collect();
    let walk = Walk::new(&sizes, [index.strides]);
    let places = Places::new(indexing, size, 0);
    let fits = simd::dispatch(Fit { walk: &walk, places, index: Bytes::of(&index).start.cast() });
    if fits { Ok(()) } else { Err(out_of_range(indexing, index, size)) }
}

/// Writes where the indices say, `combine` deciding what. Operand 0 of the walk is the output, 1 the indices, 2 the source.
struct Scatter<'a, W, F> {
    walk: &'a Walk<3>,
    places: Places,
    combine: F,
    to: *mut W,
    index: *const i64,
    from: *const W,
}
impl<W: Copy, F: Fn(*mut W, W)> Loop for Scatter<'_, W, F> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Scatter { walk, places, combine, to, index, from } = self;
        for run in walk.runs() {
            // SAFETY: the walk stays inside the operands, and so do the places: `scatter_by` has checked every index.
            unsafe {
                let (to, index, from) = (to.add(run.starts[0]), index.add(run.starts[1]), from.add(run.starts[2]));
                match run.steps {
                    [1, 0, 1] => {
                        let to = to.add(places.place(index.read()));
                        for i in 0..run.len {
                            combine(to.add(i), from.add(i).read_unaligned());
                        }
                    }
                    steps => {
                        for i in 0..run.len {
                            let at = places.place(index.add(i * steps[1]).read());
                            combine(to.add(i * steps[0] + at), from.add(i * steps[2]).read_unaligned());
                        }
                    }
                }
            }
        }
    }
}

/// Checks all indices, then writes; nothing is written if one is out of range. Along the axis elements are written one after
/// the other, as the indices come.
///
/// # Safety
/// The output's places lie inside its buffer, which is written by nobody else; elements have the size of `W`.
unsafe fn scatter_by<W: Copy, F: Fn(*mut W, W) + Copy + Sync>(
    indexing: Indexing,
    index: View<'_, HostBuffer, i64>,
    from: Bytes<'_>,
    to: Bytes<'_>,
    combine: F,
) -> Result<()> {
    let axis = indexing.axis;
    let fits = |at: usize| index.sizes[at] <= from.sizes[at] && (at == axis || index.sizes[at] <= to.sizes[at]);
    assert!((0..index.sizes.len()).all(fits));
    let size = to.sizes[axis];
    check(indexing, index, size)?;
    let len = result_len(index.sizes)?;
    if len == 0 {
        return Ok(());
    }
    let places = Places::new(indexing, size, to.strides[axis]);
    let strides = [&without(to.strides, axis)[..], index.strides, from.strides];
    // Threads share the longest of the other axes: along the axis indices may meet.
    let widest = (0..index.sizes.len()).filter(|&at| at != axis).max_by_key(|&at| index.sizes[at]);
    let pieces = threads::pieces(len).min(widest.map_or(1, |at| index.sizes[at]));
    let operands =
        Shared((to.start.cast_mut().cast::<W>(), Bytes::of(&index).start.cast::<i64>(), from.start.cast::<W>()));
    let combine = Shared(combine);
    let part = |part: usize| {
        let (operands, combine) = (&operands, &combine);
        let (mut to, mut index_start, mut from) = operands.0;
        let mut sizes = index.sizes.to_vec();
        if let Some(at) = widest {
            let (low, high) = (sizes[at] * part / pieces, sizes[at] * (part + 1) / pieces);
            sizes[at] = high - low;
            // SAFETY: `low` is an index of this axis.
            unsafe {
                to = to.add(low * strides[0][at]);
                index_start = index_start.add(low * strides[1][at]);
                from = from.add(low * strides[2][at]);
            }
        }
        let walk = Walk::new(&sizes, strides);
        simd::dispatch(Scatter { walk: &walk, places, combine: combine.0, to, index: index_start, from });
    };
    if pieces == 1 {
        part(0)
    } else {
        threads::for_each(pieces, &part)
    }
    Ok(())
}

/// The bytes of an output.
///
/// # Panics
/// If the buffer is shared: tensors make theirs unique before they write.
fn target<'a, E: Element>(out: &'a mut ViewMut<'_, HostBuffer, E>) -> Bytes<'a> {
    let start = out.buffer.start_mut::<E>().unwrap_or_else(|| unreachable!("a shared buffer is never written"));
    // SAFETY: the offset of a view lies inside its buffer.
    let start = unsafe { start.add(out.offset) };
    Bytes { start: start.cast_const().cast(), sizes: out.sizes, strides: out.strides }
}

/// `out[…, index, …] = b`
pub(crate) fn scatter<E: Element>(
    indexing: Indexing,
    index: View<'_, HostBuffer, i64>,
    b: View<'_, HostBuffer, E>,
    mut out: ViewMut<'_, HostBuffer, E>,
) -> Result<()> {
    scatter_bytes(indexing, size_of::<E>(), index, Bytes::of(&b), target(&mut out))
}

fn scatter_bytes(
    indexing: Indexing,
    width: usize,
    index: View<'_, HostBuffer, i64>,
    from: Bytes<'_>,
    to: Bytes<'_>,
) -> Result<()> {
    // SAFETY: the output is a view held exclusively, and `W` has as many bytes as its elements.
    by_width!(width, W => unsafe {
        scatter_by::<W, _>(indexing, index, from, to, |to: *mut W, value: W| to.write_unaligned(value))
    })
}

/// `out[…, index, …] = kernel(out[…, index, …], b)`
pub(crate) fn scatter_with<E: Element>(
    indexing: Indexing,
    kernel: impl Map2<E, E, E>,
    index: View<'_, HostBuffer, i64>,
    b: View<'_, HostBuffer, E>,
    mut out: ViewMut<'_, HostBuffer, E>,
) -> Result<()> {
    let (from, to) = (Bytes::of(&b), target(&mut out));
    // SAFETY: the output is a view held exclusively.
    unsafe {
        scatter_by::<E, _>(indexing, index, from, to, |to: *mut E, value: E| to.write(kernel.call(to.read(), value)))
    }
}
