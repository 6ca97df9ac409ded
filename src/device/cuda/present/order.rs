//! Sorting, selection and searches on a GPU: `order.cuh` and `radix.cuh`. Lanes that fit into a block are sorted there; for longer ones, a
//! few elements are selected, or they are sorted by radix.

use super::axes::merged;
use super::elementwise::{count, start};
use super::reduce::{BLOCK, uninitialised};
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::layout::strides;
use crate::ops::arguments::Order;
use crate::ops::record::cuda::{c_type, with_prelude};
use crate::storage::View;
use core::any::TypeId;

const OP: &str = "sort";
const TEXT: &str = include_str!("order.cuh");
const RADIX: &str = include_str!("radix.cuh");
/// Maximum lane length sorted by one warp.
const SMALL: usize = 32;
/// Maximum number of elements selected by a block.
const SELECTED: usize = 8 * THREADS as usize;
/// Number of blocks that keeps a GPU busy.
const BLOCKS: u64 = 1056;
/// From this many lanes on, one block per lane, whatever the lane length.
const MANY: u64 = 64;
/// Minimum chunk length for selection.
const CHUNK: u64 = 1 << 14;

/// The sections of `order.cuh`, then those of `radix.cuh`.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Small,
    Block,
    Select,
    Median,
    Mode,
    Search,
    Count,
    Starts,
    Scatter,
}

/// The struct `ci_order`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Lanes {
    lanes: u64,
    len: u64,
    step: u64,
    results: u64,
    to_step: u64,
    chunk: u64,
    chunks: u64,
    sizes: [u64; 8],
    strides: [u64; 8],
    to_strides: [u64; 8],
    rank: u64,
    skip: u64,
    descending: u32,
    middle: u32,
    shift: u32,
    is_first: u32,
    is_last: u32,
}

impl Lanes {
    /// The lanes of a view along an axis; those of the results have these sizes and strides.
    fn along<E>(a: &View<'_, CudaBuffer, E>, axis: usize, to: (&[usize], &[usize])) -> Lanes {
        let (sizes, [strides, to_strides], rank) = merged(a.sizes, [a.strides, to.1], Some(axis));
        Lanes {
            lanes: sizes.iter().product(),
            len: a.sizes[axis] as u64,
            step: a.strides[axis] as u64,
            results: to.0[axis] as u64,
            to_step: to.1[axis] as u64,
            chunk: a.sizes[axis] as u64,
            chunks: 1,
            sizes,
            strides,
            to_strides,
            rank,
            skip: 0,
            descending: 0,
            middle: 0,
            shift: 0,
            is_first: 1,
            is_last: 1,
        }
    }
    /// Divides lanes into chunks of at least `least` elements, a multiple of `tile`: as many as a GPU needs.
    fn divide(&mut self, least: u64, tile: u64) {
        let chunks = (self.len / least).min(BLOCKS.div_ceil(self.lanes.max(1))).max(1);
        self.chunk = self.len.div_ceil(chunks).next_multiple_of(tile);
        self.chunks = self.len.div_ceil(self.chunk);
    }
}

/// The key of the kernels.
struct Ordering;

/// Elements per thread at full occupancy for this element size.
fn most(width: usize) -> usize {
    if width == 8 { 8 } else { 16 }
}

/// Elements per thread for `count` elements.
fn items(count: usize, most: usize) -> usize {
    match count.div_ceil(THREADS as usize) {
        0 | 1 => 1,
        2..=4 => 4,
        _ => most,
    }
}

/// The text of a section; radix passes depend on whether they are the first and the last.
fn source<E: Element>(form: Form, items: usize, lanes: &Lanes) -> Source {
    let mut sections = TEXT.split("// ---\n");
    let (common, at) = (sections.next().unwrap_or_default(), form as usize);
    let own = match at.checked_sub(Form::Count as usize) {
        None => sections.nth(at),
        Some(at) => RADIX.split("// ---\n").nth(1 + at),
    };
    let (ty, has_nan) = (c_type(E::DTYPE), u8::from(E::DTYPE.is_floating_point()));
    let text = with_prelude(&format!(
        "#define CI_THREADS {THREADS}\n#define CI_ITEMS {items}\n#define CI_HAS_NAN {has_nan}\n#define CI_IS_FIRST {}\n\
         #define CI_IS_LAST {}\n{BLOCK}typedef {ty} T;\n{common}{}",
        lanes.is_first,
        lanes.is_last,
        own.unwrap_or_default()
    ));
    Source { name: "order".to_owned(), text }
}

/// Launches a section over elements `E`.
///
/// # Safety
/// The addresses match the section's parameters, with as many elements as the lanes say.
unsafe fn launch<E: Element>(
    device: &'static CudaDevice,
    (form, items): (Form, usize),
    grid: Grid,
    addresses: &[u64],
    lanes: Lanes,
) -> Result<()> {
    let pass = match form {
        Form::Count | Form::Scatter => u64::from(lanes.is_first + 2 * lanes.is_last),
        _ => 0,
    };
    let key = KernelKey::Type(TypeId::of::<(Ordering, E)>(), (form as u64 * 32 + items as u64) * 4 + pass);
    let kernel = device.kernel(key, &|| Ok(source::<E>(form, items, &lanes)))?;
    let mut arguments = Arguments::new();
    addresses.iter().for_each(|&address| arguments.push(address));
    arguments.push(lanes);
    // SAFETY: the caller's promise.
    unsafe { kernel.launch(OP, grid, &arguments) }
}

/// A grid of `count` blocks.
fn blocks(count: u64) -> Grid {
    Grid::blocks(count.min(i32::MAX as u64) as u32, THREADS)
}

/// The values that an order selects along an axis, and their positions; row-major.
pub(super) fn order<E: Element>(
    device: &'static CudaDevice,
    order: Order,
    a: &View<'_, CudaBuffer, E>,
    axis: usize,
) -> Result<[CudaBuffer; 2]> {
    order_by_digits(device, order, a, axis, size_of::<E>())
}

/// Sorts positions below `size` along an axis, and returns where they were: their upper bytes are equal, and are not sorted by.
pub(super) fn positions_in_order(
    device: &'static CudaDevice,
    positions: &View<'_, CudaBuffer, i32>,
    axis: usize,
    size: usize,
) -> Result<[CudaBuffer; 2]> {
    let bits = usize::BITS - size.saturating_sub(1).leading_zeros();
    let digits = bits.div_ceil(8).clamp(1, 4) as usize;
    order_by_digits(device, Order::Sort { descending: false }, positions, axis, digits)
}

/// Sorts elements that differ in their lowest `digits` bytes only.
fn order_by_digits<E: Element>(
    device: &'static CudaDevice,
    order: Order,
    a: &View<'_, CudaBuffer, E>,
    axis: usize,
    digits: usize,
) -> Result<[CudaBuffer; 2]> {
    let len = a.sizes[axis];
    if u32::try_from(len).is_err() {
        return invalid(OP, format!("an axis of {len} elements is too long to be put in order"));
    }
    let mut sizes = a.sizes.to_vec();
    sizes[axis] = order.len(len);
    assert!(order.admits(len) || sizes.contains(&0), "lanes have as many elements as are selected");
    // SAFETY: the last kernel writes every result.
    let results = unsafe { uninitialised(device, count(OP, &sizes)?, [size_of::<E>(), size_of::<i64>()])? };
    if sizes.contains(&0) {
        return Ok(results);
    }
    let to = strides::row_major(&sizes);
    let mut lanes = Lanes::along(a, axis, (&sizes, &to));
    lanes.descending = u32::from(order.is_descending());
    match order {
        Order::Kth { k } => lanes.skip = k as u64,
        Order::Median { ignores_nan } => lanes.middle = 1 + u32::from(ignores_nan),
        _ => {}
    }
    let from = start::<E>(a.buffer, a.offset);
    let [values, indices] = results.each_ref().map(CudaBuffer::address);
    let most = most(size_of::<E>());
    // SAFETY: what a view reaches is valid, and the results have room for all lanes.
    unsafe {
        let is_selection = match order {
            Order::Sort { .. } | Order::Mode => false,
            Order::Top { k, .. } => k <= SELECTED,
            Order::Kth { .. } | Order::Median { .. } => lanes.lanes >= MANY || len as u64 <= 4 * CHUNK,
        };
        if matches!(order, Order::Mode) {
            let (sorted, of) = sort_apart(device, a, axis, lanes)?;
            let [keys, positions] = sorted.each_ref().map(CudaBuffer::address);
            let addresses = [keys, positions, values, indices];
            launch::<E>(device, (Form::Mode, 1), blocks(of.lanes), &addresses, lanes)?;
        } else if len <= most * THREADS as usize {
            in_blocks::<E>(device, from, lanes, [values, indices])?;
        } else if is_selection {
            select::<E>(device, from, lanes, [values, indices])?;
        } else if lanes.middle > 0 {
            let (sorted, of) = sort_apart(device, a, axis, lanes)?;
            let [keys, positions] = sorted.each_ref().map(CudaBuffer::address);
            let grid = Grid::over(of.lanes as usize);
            launch::<E>(device, (Form::Median, 1), grid, &[keys, positions, values, indices], lanes)?;
        } else {
            radix::<E>(device, from, lanes, [values, indices], digits)?;
        }
    }
    Ok(results)
}

/// Sorts lanes that fit into a block, or into a warp.
///
/// # Safety
/// As for [`launch`].
unsafe fn in_blocks<E: Element>(
    device: &'static CudaDevice,
    from: u64,
    lanes: Lanes,
    [values, indices]: [u64; 2],
) -> Result<()> {
    let len = lanes.len as usize;
    let (form, grid) = match len <= SMALL {
        true => ((Form::Small, 1), blocks(lanes.lanes.div_ceil(u64::from(THREADS) / 32))),
        false => ((Form::Block, items(len, most(size_of::<E>()))), blocks(lanes.lanes)),
    };
    // SAFETY: the caller's promise.
    unsafe { launch::<E>(device, form, grid, &[from, values, indices], lanes) }
}

/// Sorts whole lanes into a buffer, and describes its layout.
///
/// # Safety
/// What the view reaches is valid.
unsafe fn sort_apart<E: Element>(
    device: &'static CudaDevice,
    a: &View<'_, CudaBuffer, E>,
    axis: usize,
    lanes: Lanes,
) -> Result<([CudaBuffer; 2], Lanes)> {
    // The strides of the other axes, with the sorted axis last.
    let mut to = vec![1; a.sizes.len()];
    let mut stride = a.sizes[axis];
    for other in (0..a.sizes.len()).rev().filter(|&other| other != axis) {
        to[other] = stride;
        stride *= a.sizes[other];
    }
    let sorted = Lanes { chunk: lanes.len, ..Lanes::along(a, axis, (a.sizes, &to)) };
    let from = start::<E>(a.buffer, a.offset);
    // SAFETY: all lanes are written, which together have the view's length; what it reaches is valid.
    unsafe {
        let buffers = uninitialised(device, count(OP, a.sizes)?, [size_of::<E>(), size_of::<i64>()])?;
        let addresses = buffers.each_ref().map(CudaBuffer::address);
        match lanes.len as usize <= most(size_of::<E>()) * THREADS as usize {
            true => in_blocks::<E>(device, from, sorted, addresses)?,
            false => radix::<E>(device, from, sorted, addresses, size_of::<E>())?,
        }
        Ok((buffers, sorted))
    }
}

/// Selects a few elements of long lanes: with one block per lane, or, for few lanes, with blocks for chunks first.
///
/// # Safety
/// As for [`launch`]; a single result per lane, or at most `SELECTED` from the first on.
unsafe fn select<E: Element>(
    device: &'static CudaDevice,
    from: u64,
    mut lanes: Lanes,
    [values, indices]: [u64; 2],
) -> Result<()> {
    let is_top = lanes.skip == 0 && lanes.middle == 0;
    let form = (Form::Select, if is_top { items(lanes.results as usize, 8) } else { 1 });
    let mut candidates: Option<[CudaBuffer; 2]> = None;
    // SAFETY: the caller's promise; each stage writes all candidates of the next.
    unsafe {
        loop {
            (lanes.chunk, lanes.chunks) = (lanes.len, 1);
            if is_top {
                lanes.divide(CHUNK.max(32 * lanes.results), 1);
            }
            lanes.is_last = u32::from(lanes.chunks == 1);
            let [keys, positions] = candidates.as_ref().map_or([0; 2], |pair| pair.each_ref().map(CudaBuffer::address));
            let units = lanes.lanes * lanes.chunks;
            if lanes.chunks == 1 {
                let addresses = [from, keys, positions, 0, 0, values, indices];
                return launch::<E>(device, form, blocks(units), &addresses, lanes);
            }
            let next = uninitialised(device, (units * lanes.results) as usize, [size_of::<E>(), size_of::<u32>()])?;
            let [to_keys, to_positions] = next.each_ref().map(CudaBuffer::address);
            let addresses = [from, keys, positions, to_keys, to_positions, values, indices];
            launch::<E>(device, form, blocks(units), &addresses, lanes)?;
            candidates = Some(next);
            lanes.is_first = 0;
            lanes.len = lanes.chunks * lanes.results;
        }
    }
}

/// Radix sort by the lower bytes of the keys; writes the requested number of results per lane.
///
/// # Safety
/// As for [`launch`].
unsafe fn radix<E: Element>(
    device: &'static CudaDevice,
    from: u64,
    mut lanes: Lanes,
    [values, indices]: [u64; 2],
    digits: usize,
) -> Result<()> {
    let (width, items) = (size_of::<E>(), most(size_of::<E>()));
    let tile = (items * THREADS as usize) as u64;
    lanes.divide(tile, tile);
    let units = lanes.lanes * lanes.chunks;
    let elements = (lanes.lanes * lanes.len) as usize;
    // SAFETY: the caller's promise; each pass fills one pair of buffers, which the next one reads, and all counts.
    unsafe {
        let [counts] = uninitialised(device, units as usize, [256 * size_of::<u32>()])?;
        let mut pairs: [Option<[CudaBuffer; 2]>; 2] = [None, None];
        for pass in 0..digits {
            (lanes.shift, lanes.is_first, lanes.is_last) =
                (8 * pass as u32, u32::from(pass == 0), u32::from(pass + 1 == digits));
            let (read, written) = (pass % 2, 1 - pass % 2);
            if lanes.is_last == 0 && pairs[written].is_none() {
                pairs[written] = Some(uninitialised(device, elements, [width, size_of::<u32>()])?);
            }
            let pair = |at: usize| pairs[at].as_ref().map_or([0; 2], |pair| pair.each_ref().map(CudaBuffer::address));
            let ([keys, positions], [to_keys, to_positions]) = (pair(read), pair(written));
            launch::<E>(device, (Form::Count, items), blocks(units), &[from, keys, counts.address()], lanes)?;
            let grid = Grid { threads: [1024, 1, 1], ..blocks(lanes.lanes) };
            launch::<E>(device, (Form::Starts, items), grid, &[counts.address()], lanes)?;
            let addresses = [from, keys, positions, counts.address(), to_keys, to_positions, values, indices];
            launch::<E>(device, (Form::Scatter, items), blocks(units), &addresses, lanes)?;
        }
    }
    Ok(())
}

/// The positions at which values would be inserted into sorted lanes along the last axis; row-major.
pub(super) fn search<E: Element>(
    device: &'static CudaDevice,
    sorted: &View<'_, CudaBuffer, E>,
    values: &View<'_, CudaBuffer, E>,
    right: bool,
) -> Result<CudaBuffer> {
    let last = sorted.sizes.len().checked_sub(1).ok_or(Error::NoData { op: "searchsorted" })?;
    assert!(values.sizes.len() == last + 1 && values.sizes[..last] == sorted.sizes[..last], "lanes are the same");
    let elements = count(OP, values.sizes)?;
    // SAFETY: the kernel writes every result.
    let [result] = unsafe { uninitialised(device, elements, [size_of::<i64>()])? };
    let mut lanes = Lanes::along(sorted, last, (values.sizes, values.strides));
    lanes.skip = u64::from(right);
    let addresses =
        [start::<E>(sorted.buffer, sorted.offset), start::<E>(values.buffer, values.offset), result.address()];
    // SAFETY: what views reach is valid; the result has the sizes of the values.
    unsafe { launch::<E>(device, (Form::Search, 1), Grid::over(elements), &addresses, lanes)? };
    Ok(result)
}
