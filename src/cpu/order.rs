//! Sorting and selection along one axis: `sort`, `topk`, `kthvalue`, `median`, `mode`, each with the positions of the results.
//!
//! Elements become integer keys packed with their positions, sorted by radix (long lanes) or by comparison (short ones).

use super::elementwise::result_len;
use super::indexing::RawView;
use super::keys::{Keyed, Packed, loop_by_dtype};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::arguments::Order;
use crate::ops::kernel::VectorWidth;
use crate::storage::{HostBuffer, Scratch, View};
use core::hint::select_unpredictable;
use num_traits::AsPrimitive;
use std::sync::{Mutex, PoisonError};

/// Minimum lane length for radix sort.
const MANY: usize = 1000;

/// Sorts packed keys, stably. Each radix pass moves them between the lane and the spare buffer.
fn sorted<'a, P: Packed>(packed: &'a mut [P], spare: &'a mut Option<Scratch<P>>, digits: usize) -> Result<&'a [P]> {
    let len = packed.len();
    if len < MANY {
        packed.sort_unstable();
        return Ok(packed);
    }
    // A histogram per digit; then the start of each digit's keys.
    let mut starts = [[0_usize; 256]; 8];
    for key in packed.iter() {
        for (at, starts) in starts.iter_mut().enumerate().take(digits) {
            starts[key.digit(at)] += 1;
        }
    }
    let spare = match spare {
        Some(spare) => spare,
        none => none.insert(Scratch::try_new([len])?),
    };
    let (mut from, mut to) = (packed.as_mut_ptr(), spare.start());
    for (at, starts) in starts.iter_mut().enumerate().take(digits) {
        // A digit that all keys share needs no pass.
        if starts.contains(&len) {
            continue;
        }
        let mut total = 0;
        for start in starts.iter_mut() {
            (*start, total) = (total, total + *start);
        }
        for position in 0..len {
            // SAFETY: `from` holds `len` keys. A digit's start counts up to the start of the next digit, and the last one ends with the
            // lane; all lanes of a call are equally long.
            unsafe {
                let key = from.add(position).read();
                let start = &mut starts[key.digit(at)];
                to.add(*start).write(key);
                *start += 1;
            }
        }
        core::mem::swap(&mut from, &mut to);
    }
    // SAFETY: either the keys are still where they were, or the last pass has written all of them.
    Ok(unsafe { core::slice::from_raw_parts(from, len) })
}

/// Maximum `k` for which the smallest keys are found by insertion into an ordered list.
const MOST_LEAST: usize = 4;
const SHORT: usize = 64;

/// Moves the `K` smallest packed keys to the start, in order; there are at least `K`. The rest is lost.
fn least<P: Packed, const K: usize>(packed: &mut [P]) {
    let Some((start, rest)) = packed.split_first_chunk_mut::<K>() else { return };
    start.sort_unstable();
    let mut kept = *start;
    for &one in &*rest {
        // Moves past the smaller keys, then takes the place of the next one.
        let mut one = one;
        for kept in &mut kept {
            let is_less = one < *kept;
            let (less, more) = (select_unpredictable(is_less, one, *kept), select_unpredictable(is_less, *kept, one));
            (*kept, one) = (less, more);
        }
    }
    *start = kept;
}

/// The same for up to four keys.
fn few_least<P: Packed>(packed: &mut [P], k: usize) {
    match k {
        1 => least::<P, 1>(packed),
        2 => least::<P, 2>(packed),
        3 => least::<P, 3>(packed),
        _ => least::<P, MOST_LEAST>(packed),
    }
}

/// The packed keys that `order` selects from a lane, in order. `nan` is the key of NaN, if the dtype has it.
#[inline(never)]
fn rank<'a, P: Packed>(
    order: Order,
    packed: &'a mut [P],
    spare: &'a mut Option<Scratch<P>>,
    digits: usize,
    nan: Option<P>,
) -> Result<&'a [P]> {
    let is_nan = |one: &P| nan.is_some_and(|nan| one.key() == nan);
    let at = match order {
        Order::Sort { .. } => return sorted(packed, spare, digits),
        Order::Top { k, .. } if (1..=MOST_LEAST.min(packed.len())).contains(&k) && packed.len() <= SHORT => {
            few_least(packed, k);
            return Ok(&packed[..k]);
        }
        Order::Kth { k } if k < MOST_LEAST.min(packed.len()) && packed.len() <= SHORT => {
            few_least(packed, k + 1);
            k
        }
        Order::Top { k, .. } => {
            if k < packed.len() && k > 0 {
                packed.select_nth_unstable(k - 1);
            }
            packed[..k].sort_unstable();
            return Ok(&packed[..k]);
        }
        Order::Kth { k } => {
            packed.select_nth_unstable(k);
            k
        }
        Order::Median { ignores_nan } => {
            let nans = packed.iter().filter(|one| is_nan(one)).count();
            match packed.iter().position(is_nan) {
                Some(first) if !ignores_nan || nans == packed.len() => first,
                _ => {
                    let middle = (packed.len() - nans - 1) / 2;
                    packed.select_nth_unstable(middle);
                    middle
                }
            }
        }
        Order::Mode => {
            let sorted = sorted(packed, spare, digits)?;
            // The last key of the longest run of equal keys; of equally long runs, the first. NaNs are not equal to each other.
            let (mut longest, mut chosen, mut run) = (0, 0, 0);
            for at in 0..sorted.len() {
                let alone = at == 0 || sorted[at].key() != sorted[at - 1].key() || is_nan(&sorted[at]);
                run = if alone { 1 } else { run + 1 };
                if run > longest {
                    (longest, chosen) = (run, at);
                }
            }
            return Ok(&sorted[chosen..=chosen]);
        }
    };
    Ok(&packed[at..=at])
}

/// Elements compared per block; candidates are pruned when there are this many more than `2 * k`.
const BLOCK: usize = 64;
const FEW: usize = 8;

/// Maximum `k` that is kept in an ordered list while the lane is read; for larger `k`, candidates are collected.
const KEPT: usize = 16;

/// Collects the packed keys of a few candidates that include the `k` smallest. Most elements are dropped after one comparison with the
/// `k`-th smallest so far.
///
/// # Safety
/// The lane has `len` elements, `step` apart.
#[inline(always)]
unsafe fn best<T: Keyed>(from: *const T, step: usize, len: usize, k: usize, flip: T::Key, packed: &mut Vec<T::Packed>) {
    packed.clear();
    let mut limit = None;
    for start in (0..len).step_by(BLOCK) {
        // SAFETY: the caller's promise for every position below `len`.
        let element = |at: usize| unsafe { from.add(at * step).read() };
        let end = len.min(start + BLOCK);
        // One vectorised comparison for the whole block. Equal elements that come later do not replace earlier ones.
        let any = limit.is_none_or(|limit| {
            let least = |least: T::Key, x: T| least.min(x.key() ^ flip);
            if step == 1 {
                // SAFETY: they are contiguous and inside the lane.
                let elements = unsafe { core::slice::from_raw_parts(from.add(start), end - start) };
                elements.iter().fold(T::ALL, |so_far, &x| least(so_far, x)) < limit
            } else {
                (start..end).fold(T::ALL, |so_far, at| least(so_far, element(at))) < limit
            }
        });
        if any && k <= KEPT {
            for at in start..end {
                let key = element(at).key() ^ flip;
                if limit.is_none_or(|limit| key < limit) {
                    limit = keep(packed, T::Packed::pack(key.as_(), at), k).map(AsPrimitive::as_);
                }
            }
        } else if any {
            for at in start..end {
                let key = element(at).key() ^ flip;
                if limit.is_none_or(|limit| key < limit) {
                    packed.push(T::Packed::pack(key.as_(), at));
                }
            }
            if packed.len() > 2 * k + FEW {
                limit = Some(kth(packed, k).as_());
            }
        }
    }
}

/// Inserts a key into the ordered list of at most `k`; returns the key of the last one if the list is full.
#[inline(always)]
fn keep<P: Packed>(kept: &mut Vec<P>, one: P, k: usize) -> Option<P> {
    if kept.len() < k {
        kept.push(one);
    }
    // It replaces the last one, and moves before those that are larger.
    let mut at = kept.len() - 1;
    while at > 0 && one < kept[at - 1] {
        kept[at] = kept[at - 1];
        at -= 1;
    }
    kept[at] = one;
    (kept.len() == k).then(|| kept[k - 1].key())
}

/// Keeps the `k` smallest; returns the key of the last of them.
#[inline(never)]
fn kth<P: Packed>(packed: &mut Vec<P>, k: usize) -> P {
    let key = packed.select_nth_unstable(k - 1).1.key();
    packed.truncate(k);
    key
}

/// Counting sort of a lane whose keys are one byte.
///
/// # Safety
/// The lane has `len` elements at `from`, and both results have room for as many; steps are those of the results and of the source.
#[inline(always)]
unsafe fn sort_by_counting<T: Keyed>(
    from: *const T,
    len: usize,
    flip: T::Key,
    (values, indices): (*mut T, *mut i64),
    [to_step, step]: [usize; 2],
) {
    let digit = |element: T| element.packed(flip, 0).digit(0);
    // Several histograms, so that increments of the same count do not wait for each other.
    let mut counts = [[0_usize; 256]; 4];
    // SAFETY: the caller's promise. A digit's start counts up to the start of the next digit, and the last one ends with the lane.
    unsafe {
        (0..len).for_each(|at| counts[at % 4][digit(from.add(at * step).read())] += 1);
        let (mut starts, mut total) = ([0; 256], 0);
        for (at, start) in starts.iter_mut().enumerate() {
            *start = total;
            total += counts.iter().map(|counts| counts[at]).sum::<usize>();
        }
        for at in 0..len {
            let element = from.add(at * step).read();
            let start = &mut starts[digit(element)];
            values.add(*start * to_step).write(element);
            indices.add(*start * to_step).write(at as i64);
            *start += 1;
        }
    }
}

/// The lanes of a walk over the other axes: operand 0 is the values (and indices, with the same strides), operand 1 the source.
struct SortLanes<'a, T> {
    walk: &'a Walk<2>,
    order: Order,
    /// Length of a source lane; steps in the results and in the source.
    len: usize,
    steps: [usize; 2],
    from: *const T,
    values: *mut T,
    indices: *mut i64,
}
impl<T: Keyed> Loop for SortLanes<'_, T> {
    type Output = Result<()>;
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let SortLanes { walk, order, len, steps, from, values, indices } = self;
        let flip = if order.is_descending() { T::ALL } else { T::NONE };
        let (digits, nan) = (size_of::<T>(), T::HAS_NAN.then(|| T::ALL.as_()));
        let few = match order {
            Order::Top { k, .. } if k > 0 && k < len / 8 => Some(k),
            _ => None,
        };
        // Buffers reused from lane to lane: the candidates, or the keys of a whole lane and a spare buffer for radix sort.
        let mut best_ones = Vec::new();
        let counts = T::FEW_VALUES && matches!(order, Order::Sort { .. }) && len >= MANY;
        let all = if few.is_none() && !counts { Some(Scratch::<T::Packed>::try_new([len])?) } else { None };
        let mut spare = None;
        for run in walk.runs() {
            for lane in 0..run.len {
                // SAFETY: the walk gives the first element of each lane; every element of a lane is inside the view and the results, and
                // lanes are disjoint.
                unsafe {
                    let from = from.add(run.starts[1] + lane * run.steps[1]);
                    if T::FEW_VALUES && counts {
                        let start = run.starts[0] + lane * run.steps[0];
                        sort_by_counting(from, len, flip, (values.add(start), indices.add(start)), steps);
                        continue;
                    }
                    if let Some(k) = few {
                        best(from, steps[1], len, k, flip, &mut best_ones);
                    }
                    let packed = match &all {
                        None => &mut best_ones[..],
                        Some(all) => {
                            for at in 0..len {
                                all.start().add(at).write(from.add(at * steps[1]).read().packed(flip, at));
                            }
                            core::slice::from_raw_parts_mut(all.start(), len)
                        }
                    };
                    let ranked = rank(order, packed, &mut spare, digits, nan)?;
                    let start = run.starts[0] + lane * run.steps[0];
                    for (i, one) in ranked.iter().enumerate() {
                        let (position, place) = (one.position(), start + i * steps[0]);
                        let value =
                            T::from_key(one.key().as_() ^ flip).unwrap_or_else(|| from.add(position * steps[1]).read());
                        values.add(place).write(value);
                        indices.add(place).write(position as i64);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The values that an order selects along an axis, and their positions; row-major. The view has at least one axis.
pub(crate) fn order<E: Element>(order: Order, a: View<'_, HostBuffer, E>, axis: usize) -> Result<[HostBuffer; 2]> {
    lanes((size_of::<E>(), sort_walk_of::<E>()), order, RawView::of(&a), axis)
}

/// Runs [`SortLanes`] along a walk: the lane length, its steps, and the starts of source, values and indices.
///
/// # Safety
/// Every element of a lane is inside the source and the results, and of the loop's dtype.
type SortWalk = unsafe fn(&Walk<2>, Order, usize, [usize; 2], (*const u8, *mut u8, *mut i64)) -> Result<()>;

unsafe fn sort_walk<T: Keyed>(
    walk: &Walk<2>,
    order: Order,
    len: usize,
    steps: [usize; 2],
    (from, values, indices): (*const u8, *mut u8, *mut i64),
) -> Result<()> {
    simd::dispatch(SortLanes::<T> { walk, order, len, steps, from: from.cast(), values: values.cast(), indices })
}
loop_by_dtype! { fn sort_walk_of -> SortWalk: T => sort_walk::<T> }

fn lanes((width, sort_walk): (usize, SortWalk), order: Order, a: RawView<'_>, axis: usize) -> Result<[HostBuffer; 2]> {
    let (len, step) = (a.sizes[axis], a.strides[axis]);
    // The position takes half of a packed key.
    if width < 8 && len as u64 > 1 << 32 {
        let reason = format!("an axis of {len} elements has an order for `i64` and `f64` alone; cast first");
        return Err(Error::InvalidArgument { op: "sort", reason });
    }
    let mut sizes = a.sizes.to_vec();
    sizes[axis] = order.len(len);
    assert!(order.admits(len) || sizes.contains(&0));
    let total = result_len(&sizes)?;
    let result_strides = strides::row_major(&sizes);
    let others = |of: &[usize]| [&of[..axis], &of[axis + 1..]].concat();
    let walk = Walk::row_major(&others(&sizes), [&others(&result_strides), &others(a.strides)]);
    let lanes: usize = others(&sizes).iter().product();
    let pieces = if lanes > 1 { threads::pieces(lanes.saturating_mul(len).saturating_mul(8)) } else { 1 };
    // SAFETY: the lanes cover both results, and `rank` returns as many packed keys as the order asks for.
    unsafe {
        HostBuffer::filled_together(total, [width, size_of::<i64>()], &mut |[values, indices]| {
            if total == 0 {
                return Ok(());
            }
            let (places, steps) = ((a.start, values, indices.cast()), [result_strides[axis], step]);
            if pieces == 1 {
                return sort_walk(&walk, order, len, steps, places);
            }
            let (parts, places) = (walk.split(pieces, 1), Shared(places));
            let failure = Mutex::new(Ok(()));
            threads::for_each(parts.len(), &|part| {
                let places = &places;
                let done = sort_walk(&parts[part], order, len, steps, places.0);
                if done.is_err() {
                    *failure.lock().unwrap_or_else(PoisonError::into_inner) = done;
                }
            });
            failure.into_inner().unwrap_or_else(PoisonError::into_inner)
        })
    }
}
