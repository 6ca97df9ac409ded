//! Sorting and selecting along one axis: what comes first, where it was, and how much of it there is.
//!
//! Elements become keys packed with their positions, which are sorted as integers: by digits where there are many, by
//! comparison where there are few. Compiled once for each dtype. Uses walks and keys; used by `Cpu`.

use super::elementwise::result_len;
use super::indexing::Bytes;
use super::keys::{Keyed, Packed, by_ordered_dtype};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::device::Order;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::shape::strides;
use crate::storage::{HostBuffer, View};
use std::sync::{Mutex, PoisonError};

/// From how many elements on they are sorted by digits.
const MANY: usize = 1000;

/// Room that lanes share.
struct Room<T: Keyed> {
    /// A lane whose elements do not lie side by side.
    lane: Vec<T>,
    /// Few packed keys.
    packed: Vec<T::Packed>,
    /// Many packed keys, from one digit to the next in turn.
    many: Option<[HostBuffer; 2]>,
}

/// Sorts a lane; equals stay in their order. Gives the packed keys.
#[inline(always)]
fn sort<'a, T: Keyed>(
    lane: &[T],
    flip: T::Key,
    packed: &'a mut Vec<T::Packed>,
    many: &'a mut Option<[HostBuffer; 2]>,
) -> Result<&'a [T::Packed]> {
    if lane.len() < MANY {
        packed.clear();
        packed.extend(lane.iter().enumerate().map(|(at, x)| T::Packed::pack(x.key() ^ flip, at)));
        packed.sort_unstable();
        return Ok(packed);
    }
    let buffers = match many {
        Some(buffers) => buffers,
        None => {
            let bytes = lane.len() * size_of::<T::Packed>();
            many.insert([HostBuffer::zeroed::<u8>(bytes)?, HostBuffer::zeroed::<u8>(bytes)?])
        }
    };
    // How many there are of each digit; then where those of each digit start.
    let mut starts = [[0_usize; 256]; 8];
    let digits = T::Packed::DIGITS;
    for x in lane {
        let key = T::Packed::pack(x.key() ^ flip, 0);
        for (at, starts) in starts.iter_mut().enumerate().take(digits) {
            starts[key.digit(at)] += 1;
        }
    }
    let mut turn = None;
    for (at, starts) in starts.iter_mut().enumerate().take(digits) {
        // A digit in which all are alike sorts nothing; the first pass packs, and is needed whatever it sorts.
        if starts.contains(&lane.len()) && (turn.is_some() || at + 1 < digits) {
            continue;
        }
        let mut total = 0;
        for start in starts.iter_mut() {
            (*start, total) = (total, total + *start);
        }
        let [one, other] = &mut *buffers;
        let (from, to) = if turn == Some(0) { (one, other) } else { (other, one) };
        let from: *const T::Packed = from.start();
        let Some(to) = to.start_mut::<T::Packed>() else { unreachable!("nobody shares this room") };
        let mut put = |packed: T::Packed| {
            let start = &mut starts[packed.digit(at)];
            // SAFETY: `start` counts up to where the next digit's places start, the last of which end with the lane; the buffer
            // has room for as many packed keys, at the alignment of cache lines.
            unsafe { to.add(*start).write(packed) };
            *start += 1;
        };
        if turn.is_none() {
            lane.iter().enumerate().for_each(|(at, x)| put(T::Packed::pack(x.key() ^ flip, at)));
        } else {
            // SAFETY: the pass before this one has written as many packed keys as the lane has elements.
            unsafe { core::slice::from_raw_parts(from, lane.len()) }.iter().for_each(|&packed| put(packed));
        }
        turn = Some(if turn == Some(0) { 1 } else { 0 });
    }
    // SAFETY: the last pass has written them; there is one at least.
    Ok(unsafe { core::slice::from_raw_parts(buffers[turn.unwrap_or(0)].start(), lane.len()) })
}

/// A lane's elements by rank: the packed keys of those that are the answer, in order.
#[inline(always)]
fn rank<'a, T: Keyed>(
    order: Order,
    lane: &[T],
    packed: &'a mut Vec<T::Packed>,
    many: &'a mut Option<[HostBuffer; 2]>,
) -> Result<&'a [T::Packed]> {
    packed.clear();
    let pack = |flip: T::Key| lane.iter().enumerate().map(move |(at, x)| T::Packed::pack(x.key() ^ flip, at));
    let flip = if order.turned() { T::ALL } else { T::NONE };
    let one = |packed: &mut Vec<T::Packed>, chosen: T::Packed| {
        packed.clear();
        packed.push(chosen);
    };
    match order {
        Order::Sort { .. } => return sort(lane, flip, packed, many),
        Order::Top { k, .. } => {
            if k > 0 && k < lane.len() / 8 {
                best(lane, k, flip, packed);
            } else {
                packed.extend(pack(flip));
            }
            if k < packed.len() && k > 0 {
                packed.select_nth_unstable(k - 1);
            }
            packed.truncate(k);
            packed.sort_unstable();
        }
        Order::Kth { k } => {
            packed.extend(pack(flip));
            let chosen = *packed.select_nth_unstable(k).1;
            one(packed, chosen);
        }
        Order::Median { ignores_nan } => {
            let nans = lane.iter().filter(|x| x.is_nan()).count();
            match lane.iter().position(|x| x.is_nan()) {
                Some(first) if !ignores_nan || nans == lane.len() => {
                    packed.push(T::Packed::pack(lane[first].key(), first))
                }
                _ => {
                    packed.extend(pack(flip));
                    let chosen = *packed.select_nth_unstable((lane.len() - nans - 1) / 2).1;
                    one(packed, chosen);
                }
            }
        }
        Order::Mode => {
            let sorted = sort(lane, flip, packed, many)?;
            // The last of the longest run of equals; of the smallest, where several are as long. No NaN equals another.
            let (mut longest, mut chosen, mut run) = (0, 0, 0);
            for at in 0..sorted.len() {
                let alone = at == 0 || sorted[at].key() != sorted[at - 1].key() || lane[sorted[at].position()].is_nan();
                run = if alone { 1 } else { run + 1 };
                if run > longest {
                    (longest, chosen) = (run, at);
                }
            }
            let chosen = sorted[chosen];
            one(packed, chosen);
        }
    }
    Ok(packed)
}

/// Elements looked at together.
const BLOCK: usize = 16;

/// The packed keys of a few elements among which the `k` smallest are. Most elements are compared with the `k`-th so far and
/// go no farther.
#[inline(always)]
fn best<T: Keyed>(lane: &[T], k: usize, flip: T::Key, packed: &mut Vec<T::Packed>) {
    let room = 2 * k + 2 * BLOCK;
    let mut limit = None;
    for (block, elements) in lane.chunks(BLOCK).enumerate() {
        // Without a branch for each element. An equal one that comes later is no better.
        let any = limit.is_none_or(|limit| elements.iter().fold(false, |any, x| any | ((x.key() ^ flip) < limit)));
        if any {
            for (at, x) in elements.iter().enumerate() {
                let key = x.key() ^ flip;
                if limit.is_none_or(|limit| key < limit) {
                    packed.push(T::Packed::pack(key, block * BLOCK + at));
                }
            }
            if packed.len() + BLOCK > room {
                let (_, &mut last, _) = packed.select_nth_unstable(k - 1);
                limit = Some(last.key());
                packed.truncate(k);
            }
        }
    }
}

/// Lanes of a walk over the other axes: operands 0 is the values, with the strides of the indices, operand 1 the source.
struct Lanes<'a, T> {
    walk: &'a Walk<2>,
    order: Order,
    /// Elements of a lane of the source, and from one to the next in the results and in the source.
    len: usize,
    steps: [usize; 2],
    from: *const T,
    values: *mut T,
    indices: *mut i64,
}
impl<T: Keyed> Loop for Lanes<'_, T> {
    type Output = Result<()>;
    #[inline(always)]
    fn run(self) -> Result<()> {
        let Lanes { walk, order, len, steps, from, values, indices } = self;
        let mut room = Room::<T> { lane: Vec::new(), packed: Vec::new(), many: None };
        let flip = if order.turned() { T::ALL } else { T::NONE };
        for run in walk.runs() {
            for lane in 0..run.len {
                // SAFETY: the walk gives the first elements of lanes; all elements of each lie inside the view and the
                // results, and lanes are disjoint.
                unsafe {
                    let from = from.add(run.starts[1] + lane * run.steps[1]);
                    let elements = if steps[1] == 1 {
                        core::slice::from_raw_parts(from, len)
                    } else {
                        room.lane.clear();
                        room.lane.extend((0..len).map(|i| from.add(i * steps[1]).read()));
                        &room.lane
                    };
                    let ranked = rank(order, elements, &mut room.packed, &mut room.many)?;
                    let start = run.starts[0] + lane * run.steps[0];
                    for (i, one) in ranked.iter().enumerate() {
                        let (position, place) = (one.position(), start + i * steps[0]);
                        let value = T::from_key(one.key() ^ flip).unwrap_or_else(|| *elements.get_unchecked(position));
                        values.add(place).write(value);
                        indices.add(place).write(position as i64);
                    }
                }
            }
        }
        Ok(())
    }
}

/// The values that an order asks for along an axis and where they were; row-major. The view has at least one axis.
pub(crate) fn order<E: Element>(order: Order, a: View<'_, HostBuffer, E>, axis: usize) -> Result<[HostBuffer; 2]> {
    by_dtype(E::DTYPE, order, Bytes::of(&a), axis)
}

fn by_dtype(dtype: DType, order: Order, a: Bytes<'_>, axis: usize) -> Result<[HostBuffer; 2]> {
    by_ordered_dtype!(dtype, T => lanes::<T>(order, a, axis))
}

fn lanes<T: Keyed + Element>(order: Order, a: Bytes<'_>, axis: usize) -> Result<[HostBuffer; 2]> {
    let (len, step) = (a.sizes[axis], a.strides[axis]);
    // Half of a packed key is the position.
    if size_of::<T>() < 8 && len as u64 > 1 << 32 {
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
    // SAFETY: the lanes together hold every place of both results, and `rank` leaves as many packed keys as the order says.
    unsafe {
        HostBuffer::filled_by_both(total, |values: *mut T, indices: *mut i64| {
            if total == 0 {
                return Ok(());
            }
            let (from, steps) = (a.start.cast::<T>(), [result_strides[axis], step]);
            if pieces == 1 {
                simd::dispatch(Lanes { walk: &walk, order, len, steps, from, values, indices })
            } else {
                let (parts, places) = (walk.split(pieces, 1), Shared((from, values, indices)));
                let failure = Mutex::new(Ok(()));
                threads::for_each(parts.len(), &|part| {
                    let places = &places;
                    let (from, values, indices) = places.0;
                    let done = simd::dispatch(Lanes { walk: &parts[part], order, len, steps, from, values, indices });
                    if done.is_err() {
                        *failure.lock().unwrap_or_else(PoisonError::into_inner) = done;
                    }
                });
                failure.into_inner().unwrap_or_else(PoisonError::into_inner)
            }
        })
    }
}
