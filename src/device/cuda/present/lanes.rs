//! Functions of lanes on a GPU: row functions by `lanes.cuh` over a kernel's struct, scans by `scan`.

use super::axes::merged;
use super::elementwise::{count, start, unreadable};
use super::reduce::{BLOCK, uninitialised};
use super::scan;
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides;
use crate::ops::kernel::{LaneKernel, RowKernel};
use crate::ops::record::Unreadable;
use crate::ops::record::cuda::{self, with_prelude};
use crate::ops::record::lane::RecordedLane;
use crate::ops::record::row::RecordedRow;
use crate::storage::View;
use core::any::TypeId;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

const ROWS: &str = "rows";
const TEXT: &str = include_str!("lanes.cuh");

/// The struct `ci_lanes`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Lanes {
    lanes: u64,
    len: u64,
    step: u64,
    to_step: u64,
    sizes: [u64; 8],
    strides: [u64; 8],
    to_strides: [u64; 8],
    rank: u64,
}

impl Lanes {
    /// The lanes of a view along an axis, and of a row-major result. (A zero-dim tensor is one lane.)
    fn along<A>(op: &'static str, a: &View<'_, CudaBuffer, A>, axis: usize) -> Result<Lanes> {
        let to = strides::row_major(a.sizes);
        let own = |of: &[usize]| of.get(axis).map_or(1, |&size| size as u64);
        let (sizes, [strides, to_strides], rank) = merged(a.sizes, [a.strides, &to], Some(axis));
        let (len, total) = (own(a.sizes), count(op, a.sizes)? as u64);
        let lanes = total.checked_div(len).unwrap_or(0);
        Ok(Lanes { lanes, len, step: own(a.strides), to_step: own(&to), sizes, strides, to_strides, rank })
    }
}

/// The key of the kernels.
struct Rows;

/// The division of rows among threads.
#[derive(Clone, Copy)]
struct Division {
    /// The section of `lanes.cuh`.
    section: usize,
    threads: u32,
    /// For rows in registers: threads per row, packs per thread, elements per pack.
    row: u32,
    items: u32,
    pack: u32,
    /// Whether every pack is full.
    whole: bool,
    blocks: u64,
}

/// Maximum bytes of a row held by a thread.
const HELD: usize = 128;

impl Division {
    /// The division for elements of `width` bytes at these addresses: of the elements and of the shared rows.
    fn of(lanes: &Lanes, width: usize, addresses: impl Iterator<Item = u64>) -> Division {
        let rank = lanes.rank as usize;
        let is_contiguous = (lanes.step == 1 && lanes.to_step == 1) || lanes.len == 1;
        if !is_contiguous && rank > 0 && lanes.strides[rank - 1] == 1 && lanes.lanes >= 16 {
            let blocks = lanes.lanes.div_ceil(32);
            return Division { section: 2, blocks, ..Division::of_blocks(0) };
        }
        let most = (16 / width).max(1) as u64;
        let all = lanes.strides[..rank].iter().chain(&lanes.to_strides[..rank]).chain([&lanes.len]);
        let is_aligned =
            addresses.into_iter().all(|address| address.is_multiple_of((most as usize * width).min(16) as u64));
        let pack = if is_aligned && all.clone().all(|stride| stride.is_multiple_of(most)) { most } else { 1 };
        // (One-byte elements take four-byte registers.)
        let held = (HELD / width.max(2)) as u64;
        let threads = [32, 128, 256, 512, 1024].into_iter().find(|threads| lanes.len <= threads * held);
        match threads.filter(|_| is_contiguous) {
            Some(row) => {
                let items = lanes.len.div_ceil(row * pack).next_power_of_two();
                let threads = row.max(128);
                let blocks = lanes.lanes.div_ceil(threads / row);
                Division {
                    section: 0,
                    threads: threads as u32,
                    row: row as u32,
                    items: items as u32,
                    pack: pack as u32,
                    whole: lanes.len == row * items * pack,
                    blocks,
                }
            }
            None => Division::of_blocks(lanes.lanes),
        }
    }
    /// Blocks for rows that are read from memory.
    fn of_blocks(blocks: u64) -> Division {
        Division { section: 1, threads: 1024, row: 1024, items: 1, pack: 1, whole: false, blocks }
    }
    /// The number of this form in the text's key.
    fn class(self) -> u64 {
        let Division { section, row, items, pack, whole, .. } = self;
        [section as u32 + 4 * u32::from(whole), row.ilog2(), items.ilog2(), pack.ilog2()]
            .into_iter()
            .fold(0, |class, part| class * 16 + u64::from(part))
    }
}

fn row_source(text: &RecordedRow, shared: [bool; 2], division: Division) -> String {
    let mut sections = TEXT.split("// ---\n");
    let (common, own) = (sections.next().unwrap_or_default(), sections.nth(division.section).unwrap_or_default());
    let rows = [(shared[0], "weight"), (shared[1], "bias")];
    let there = || rows.iter().filter(|row| row.0).map(|row| row.1);
    let parameters: String = there().map(|row| format!(", const L::element *{row}")).collect();
    let here: String = there()
        .map(|row| format!("const ci_elements {row}_here = ci_load<L::element, CI_PACK>({row} + (i), 0);"))
        .collect();
    let elements: String = there().map(|row| format!("{row}_here.of[k], ")).collect();
    let passes: String = (0..text.passes).map(|pass| format!("CI_MEASURE({pass}, X) ")).collect();
    let Division { threads, row, items, pack, whole, .. } = division;
    with_prelude(&format!(
        "{}typedef {} L;\n#define CI_THREADS {threads}\n#define CI_ROW {row}\n#define CI_ITEMS {items}\n\
         #define CI_PACK {pack}\n#define CI_WHOLE {}\n#define CI_SHARED {parameters}\n#define CI_PASSES(X) {passes}\n#define CI_GROWS {}\n#define CI_HERE(i) {here}\n\
         #define CI_AT(x, k) L::at_{}{}(x, {elements}g)\n{BLOCK}{common}{own}",
        cuda::row(text),
        text.name,
        u8::from(whole),
        u8::from(text.grows),
        u8::from(shared[0]),
        u8::from(shared[1])
    ))
}

/// The text for a key, recorded once per thread.
fn text_of<Key: 'static>(
    device: &CudaDevice,
    record: impl FnOnce() -> core::result::Result<RecordedLane, Unreadable>,
) -> Result<Rc<RecordedLane>> {
    thread_local! {
        static TEXTS: RefCell<BTreeMap<TypeId, Rc<RecordedLane>>> = const { RefCell::new(BTreeMap::new()) };
    }
    let key = TypeId::of::<Key>();
    if let Some(text) = TEXTS.with_borrow(|texts| texts.get(&key).cloned()) {
        return Ok(text);
    }
    let text = Rc::new(record().map_err(|why| unreadable(scan::OP, device, &why))?);
    TEXTS.with_borrow_mut(|texts| texts.insert(key, Rc::clone(&text)));
    Ok(text)
}

/// Runs a kernel with one result on every lane along an axis; the result is row-major.
pub(super) fn lanes<A: Element, O: Element, K: LaneKernel<A, O>>(
    device: &'static CudaDevice,
    kernel: K,
    a: &View<'_, CudaBuffer, A>,
    axis: usize,
) -> Result<CudaBuffer> {
    match &*text_of::<(K, A, O)>(device, || kernel.text())? {
        RecordedLane::Scan(text) => scan::scan::<K, A, O, 1>(device, text, a, axis).map(|[result]| result),
        RecordedLane::Row(text) => {
            let key = TypeId::of::<(Rows, K, A, O)>();
            row(device, text, &text.given_bytes(&[]), key, a, Lanes::along(ROWS, a, axis)?, [None; 2])
        }
    }
}

/// Both results of a kernel with two.
pub(super) fn lanes_both<A: Element, O: Element, P: Element, K: LaneKernel<A, (O, P)>>(
    device: &'static CudaDevice,
    kernel: K,
    a: &View<'_, CudaBuffer, A>,
    axis: usize,
) -> Result<[CudaBuffer; 2]> {
    match &*text_of::<(K, A, O, P)>(device, || kernel.text())? {
        RecordedLane::Scan(text) => scan::scan::<K, A, O, 2>(device, text, a, axis),
        RecordedLane::Row(_) => {
            Err(unreadable(scan::OP, device, &Unreadable::Kernel("a function of a row has one result; use the CPU")))
        }
    }
}

/// A row function of these lanes.
fn row<A: Element>(
    device: &'static CudaDevice,
    text: &RecordedRow,
    given: &[u8],
    key: TypeId,
    a: &View<'_, CudaBuffer, A>,
    lanes: Lanes,
    shared: [Option<u64>; 2],
) -> Result<CudaBuffer> {
    // SAFETY: the kernel writes every element.
    let [result] = unsafe { uninitialised(device, count(ROWS, a.sizes)?, [size_of::<A>()])? };
    let from = start::<A>(a.buffer, a.offset);
    let division = Division::of(&lanes, size_of::<A>(), shared.into_iter().flatten().chain([from]));
    let there = shared.map(|row| row.is_some());
    let class = division.class() * 4 + u64::from(there[0]) + 2 * u64::from(there[1]);
    let source = || Ok(Source { name: "lanes".to_owned(), text: row_source(text, there, division) });
    let kernel = device.kernel(KernelKey::Type(key, class), &source)?;
    let mut arguments = Arguments::new();
    arguments.push(from);
    arguments.push(result.address());
    shared.into_iter().flatten().for_each(|row| arguments.push(row));
    arguments.push(lanes);
    arguments.push_bytes(given);
    let grid = Grid::blocks(division.blocks.min(i32::MAX as u64) as u32, division.threads);
    // SAFETY: as above; shared rows are as long as lanes.
    unsafe { kernel.launch(ROWS, grid, &arguments)? };
    Ok(result)
}

/// Runs a kernel on every row, with shared rows.
pub(super) fn rows<A: Element, O: Element, K: RowKernel<A, O>>(
    device: &'static CudaDevice,
    kernel: K,
    a: &View<'_, CudaBuffer, A>,
    shared: [Option<View<'_, CudaBuffer, A>>; 2],
) -> Result<CudaBuffer> {
    let text = text_of::<(Rows, K, A, O)>(device, || kernel.text().map(RecordedLane::Row))?;
    let RecordedLane::Row(text) = &*text else {
        return Err(unreadable(ROWS, device, &Unreadable::Kernel("a scan is no function of a row; use the CPU")));
    };
    let lanes = Lanes::along(ROWS, a, a.sizes.len().saturating_sub(1))?;
    let shared = shared.map(|row| row.map(|row| start::<A>(row.buffer, row.offset)));
    row::<A>(device, text, &text.given_bytes(&kernel.given()), TypeId::of::<(Rows, K, A, O)>(), a, lanes, shared)
}
