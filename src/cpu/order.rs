//! Sorting and selecting along one axis: what comes first, where it was, and how much of it there is.
//!
//! Elements become keys packed with their positions, which are sorted as integers: by digits where there are many, by
//! comparison where there are few. Compiled once for each dtype. Uses walks and keys; used by `Cpu`.

use super::elementwise::result_len;
use super::indexing::{Bytes, row_major_strides};
use super::keys::{Keyed, Packed, by_ordered_dtype};
use super::simd::{self, Loop};
use super::threads::{self, Shared};
use super::walk::Walk;
use crate::device::Order;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::storage::{HostBuffer, View};

/// From how many elements on they are sorted by digits.
const MANY: usize = 1200;
/// The bits of a digit.
const DIGIT: u32 = 11;

/// Sorts; equal keys in the order of their positions. `spare` is room for as many.
fn sort<K, P: Packed<K>>(packed: &mut Vec<P>, spare: &mut Vec<P>) {
    if packed.len() < MANY {
        packed.sort_unstable();
        return;
    }
    // Keys alone: the packed come in the order of their positions, and sorting by a digit keeps the order of equals.
    let differing = P::differing(packed);
    spare.clear();
    spare.extend_from_slice(packed);
    let mut from = P::KEY_BITS.start;
    while from < P::KEY_BITS.end {
        let bits = DIGIT.min(P::KEY_BITS.end - from);
        if differing.bits(from, bits) != 0 {
            let mut starts = [0_usize; 1 << DIGIT];
            for one in packed.iter() {
                starts[one.bits(from, bits)] += 1;
            }
            let mut total = 0;
            for start in &mut starts[..1 << bits] {
                (*start, total) = (total, total + *start);
            }
            for &one in packed.iter() {
                let start = &mut starts[one.bits(from, bits)];
                // SAFETY: `start` counts up to where the next digit's places start: below the length, which `spare` has too.
                unsafe { *spare.get_unchecked_mut(*start) = one };
                *start += 1;
            }
            core::mem::swap(packed, spare);
        }
        from += bits;
    }
}

/// Room that lanes share.
struct Room<T: Keyed> {
    lane: Vec<T>,
    packed: Vec<T::Packed>,
    spare: Vec<T::Packed>,
}

/// A lane's elements by rank: writes their packed keys to `room.packed`, the first of which are the answer.
#[inline(always)]
fn rank<T: Keyed>(order: Order, lane: &[T], packed: &mut Vec<T::Packed>, spare: &mut Vec<T::Packed>) {
    packed.clear();
    let pack = |flip: T::Key| lane.iter().enumerate().map(move |(at, x)| T::Packed::pack(x.key() ^ flip, at));
    // The `k`-th by rank, counted from 0, comes to the front.
    let select = |packed: &mut Vec<T::Packed>, k: usize| {
        let (_, &mut chosen, _) = packed.select_nth_unstable(k);
        packed.clear();
        packed.push(chosen);
    };
    match order {
        Order::Sort { descending } => {
            packed.extend(pack(if descending { T::ALL } else { T::NONE }));
            sort(packed, spare);
        }
        Order::Top { k, largest } => {
            let flip = if largest { T::ALL } else { T::NONE };
            if k > 0 && k < lane.len() / 8 {
                best(lane, k, flip, packed);
            } else {
                packed.extend(pack(flip));
            }
            if k < packed.len() && k > 0 {
                packed.select_nth_unstable(k - 1);
            }
            packed.truncate(k);
            sort(packed, spare);
        }
        Order::Kth { k } => {
            packed.extend(pack(T::NONE));
            select(packed, k);
        }
        Order::Median { ignores_nan } => {
            let nans = lane.iter().filter(|x| x.is_nan()).count();
            match lane.iter().position(|x| x.is_nan()) {
                Some(first) if !ignores_nan || nans == lane.len() => packed.push(T::Packed::pack(lane[first].key(), first)),
                _ => {
                    packed.extend(pack(T::NONE));
                    select(packed, (lane.len() - nans - 1) / 2);
                }
            }
        }
        Order::Mode => {
            packed.extend(pack(T::NONE));
            sort(packed, spare);
            // The last of the longest run of equals; of the smallest, where several are as long. No NaN equals another.
            let (mut longest, mut chosen, mut run) = (0, 0, 0);
            for at in 0..packed.len() {
                let alone = at == 0 || packed[at].key() != packed[at - 1].key() || lane[packed[at].position()].is_nan();
                run = if alone { 1 } else { run + 1 };
                if run > longest {
                    (longest, chosen) = (run, at);
                }
            }
            let chosen = packed[chosen];
            packed.clear();
            packed.push(chosen);
        }
    }
}

/// Elements looked at together.
const BLOCK: usize = 64;

/// The packed keys of a few elements among which the `k` smallest are. Most elements are compared with the `k`-th so far and
/// go no farther.
#[inline(always)]
fn best<T: Keyed>(lane: &[T], k: usize, flip: T::Key, packed: &mut Vec<T::Packed>) {
    let room = 2 * k + 2 * BLOCK;
    let mut limit = None;
    for (block, elements) in lane.chunks(BLOCK).enumerate() {
        // Without a branch for each element. An equal one that comes later is no better.
        let any = limit.is_none_or(|limit| {
            elements.iter().fold(false, |any, x| any | ((x.key() ^ flip) < limit))
        });
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
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Lanes { walk, order, len, steps, from, values, indices } = self;
        let mut room = Room::<T> { lane: Vec::new(), packed: Vec::new(), spare: Vec::new() };
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
                    rank(order, elements, &mut room.packed, &mut room.spare);
                    let flip = if order.turned() { T::ALL } else { T::NONE };
                    let start = run.starts[0] + lane * run.steps[0];
                    for (i, one) in room.packed.iter().enumerate() {
                        let (position, place) = (one.position(), start + i * steps[0]);
                        let value = T::from_key(one.key() ^ flip).unwrap_or_else(|| *elements.get_unchecked(position));
                        values.add(place).write(value);
                        indices.add(place).write(position as i64);
                    }
                }
            }
        }
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
    // Half of a packed key is the position; no lane of elements that lie in memory is longer than 2^32 unless they repeat.
    assert!(size_of::<T>() == 8 || len as u64 <= 1 << 32, "lanes of up to 2^32 elements can be sorted");
    let mut sizes = a.sizes.to_vec();
    sizes[axis] = order.len(len);
    assert!(order.admits(len) || sizes.contains(&0));
    let total = result_len(&sizes)?;
    let result_strides = row_major_strides(&sizes);
    let others = |of: &[usize]| [&of[..axis], &of[axis + 1..]].concat();
    let walk = Walk::row_major(&others(&sizes), [&others(&result_strides), &others(a.strides)]);
    let lanes: usize = others(&sizes).iter().product();
    let pieces = if lanes > 1 { threads::pieces(lanes.saturating_mul(len).saturating_mul(8)) } else { 1 };
    let mut indices: Option<HostBuffer> = None;
    // SAFETY: the lanes together hold every place of both results, and `rank` leaves as many packed keys as the order says.
    let values = unsafe {
        HostBuffer::filled_by(total, |values: *mut T| {
            indices = Some(HostBuffer::filled_by(total, |indices: *mut i64| {
                if total == 0 {
                    return Ok(());
                }
                let (from, steps) = (a.start.cast::<T>(), [result_strides[axis], step]);
                if pieces == 1 {
                    simd::dispatch(Lanes { walk: &walk, order, len, steps, from, values, indices });
                } else {
                    let (parts, places) = (walk.split(pieces, 1), Shared((from, values, indices)));
                    threads::for_each(parts.len(), &|part| {
                        let places = &places;
                        let (from, values, indices) = places.0;
                        simd::dispatch(Lanes { walk: &parts[part], order, len, steps, from, values, indices });
                    });
                }
                Ok(())
            })?);
            Ok(())
        })?
    };
    let Some(indices) = indices else { unreachable!("the indices are made with the values") };
    Ok([values, indices])
}
