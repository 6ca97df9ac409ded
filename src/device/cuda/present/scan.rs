//! Scans on a GPU: `scan.cuh` over the struct of a scan.

use super::axes::merged;
use super::elementwise::{count, start};
use super::reduce::{BLOCK, uninitialised};
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides;
use crate::ops::record::cuda::{self, with_prelude};
use crate::ops::record::lane::RecordedScan;
use crate::storage::View;
use core::any::TypeId;

pub(super) const OP: &str = "scan";
const TEXT: &str = include_str!("scan.cuh");
/// Maximum lane length scanned by one thread.
const SHORT: u64 = 16;
/// Number of blocks that keeps a GPU busy; with fewer than `FEW`, lanes are divided into chunks.
const BLOCKS: u64 = 1056;
const FEW: u64 = 264;
/// Number of threads or warps that fully occupies a GPU.
const MANY_THREADS: u64 = 1 << 17;
const MANY_WARPS: u64 = 1 << 12;
/// Number of warps that the largest GPUs run concurrently.
const WARPS_AT_ONCE: u64 = 1 << 12;
/// Minimum parts of a chunk for which dividing a lane among warps pays off.
const PARTS: u64 = 32;
/// Steps with a longer text are function calls.
const LONG: usize = 2000;
/// Warps per block.
const WARPS: u64 = THREADS as u64 / 32;

/// The struct `ci_scanned`.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
struct Scanned {
    lanes: u64,
    len: u64,
    step: u64,
    to_step: u64,
    chunk: u64,
    chunks: u64,
    sizes: [u64; 8],
    strides: [u64; 8],
    to_strides: [u64; 8],
    rank: u64,
}

impl Scanned {
    /// The lanes of a view along an axis, and of a row-major result; mergeable axes are merged. (A zero-dim tensor is one lane.)
    fn along(sizes: &[usize], strides: &[usize], axis: usize) -> Scanned {
        let to = strides::row_major(sizes);
        let own = |of: &[usize]| of.get(axis).map_or(1, |&size| size as u64);
        let (others, [from, into], rank) = merged(sizes, [strides, &to], Some(axis));
        Scanned {
            lanes: others.iter().product(),
            len: own(sizes),
            step: own(strides),
            to_step: own(&to),
            chunk: own(sizes),
            chunks: 1,
            sizes: others,
            strides: from,
            to_strides: into,
            rank,
        }
    }
    /// Number of lanes that are adjacent in memory.
    fn neighbours(&self) -> u64 {
        let last = (self.rank as usize).checked_sub(1).filter(|&last| self.strides[last] == 1);
        last.map_or(1, |last| self.sizes[last])
    }
    /// Divides lanes into at most `chunks` chunks of at least `least` elements, a multiple of `tile`.
    fn divide(&mut self, chunks: u64, least: u64, tile: u64) {
        let chunks = (self.len / least.max(1)).min(chunks).max(1);
        self.chunk = self.len.div_ceil(chunks).next_multiple_of(tile.max(1));
        self.chunks = self.len.div_ceil(self.chunk);
    }
}

/// The sections of `scan.cuh`, and their parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Form {
    /// One thread per chunk.
    Threads,
    /// One block per chunk of 32 lanes.
    Columns,
    /// Several warps per chunk; whether elements are read in packs.
    Rows { warps: u64, packed: bool },
}

/// The sizes that determine the division of work: bytes of an element, of the largest result, of a partial value.
#[derive(Clone, Copy)]
struct Widths {
    element: usize,
    out: usize,
    partial: usize,
}

impl Widths {
    /// Elements per pack: its results take at most 16 bytes.
    fn pack(self) -> u64 {
        (16 / self.element.max(self.out)).max(1) as u64
    }
    /// Elements per thread at a time: their partial values take 64 bytes of registers, so that a multiprocessor can run a thousand threads.
    fn column(self) -> u64 {
        (64 / self.partial.max(1) as u64).clamp(1, 16)
    }
    /// The same, in packs of this many elements.
    fn rounds(self, pack: u64) -> u64 {
        (self.column() / pack).clamp(1, 8)
    }
}

/// Divides the work for the elements of a view at `address`.
fn plan(lanes: &mut Scanned, widths: Widths, address: u64) -> Form {
    let near = lanes.neighbours();
    let by_columns = lanes.step != 1 && near > 1;
    if lanes.len <= SHORT || (by_columns && (lanes.lanes >= MANY_THREADS || lanes.len <= 4 * SHORT)) {
        return Form::Threads;
    }
    if by_columns && near >= 16 {
        let (blocks, tile) = (lanes.lanes.div_ceil(32), WARPS * widths.column());
        if blocks < FEW {
            lanes.divide(BLOCKS / 2 / blocks, 2 * tile, tile);
        }
        return Form::Columns;
    }
    if by_columns {
        // (A thread first combines the totals of all chunks before its own.)
        lanes.divide((MANY_THREADS / lanes.lanes).min(lanes.len.isqrt()), 4 * SHORT, 1);
        return Form::Threads;
    }
    let pack = widths.pack();
    let whole = |elements: u64| elements.is_multiple_of(pack);
    let rank = lanes.rank as usize;
    let packed = pack > 1
        && (lanes.step, lanes.to_step) == (1, 1)
        && address.is_multiple_of(pack * widths.element as u64)
        && (rank == 0 || (whole(lanes.len) && lanes.strides[..rank].iter().all(|&stride| whole(stride))));
    let pack = if packed { pack } else { 1 };
    let part = 32 * pack * widths.rounds(pack);
    if lanes.len <= part || lanes.lanes >= MANY_WARPS {
        return Form::Rows { warps: 1, packed };
    }
    if lanes.lanes < FEW {
        // (The warps of a block synchronise in every tile.)
        let chunks = WARPS_AT_ONCE.div_ceil(lanes.lanes);
        if lanes.len >= chunks * PARTS * part {
            lanes.divide(chunks, part, part);
            return Form::Rows { warps: 1, packed };
        }
        lanes.divide(BLOCKS.div_ceil(lanes.lanes), 2 * WARPS * part, WARPS * part);
    }
    Form::Rows { warps: WARPS, packed }
}

/// The key of a kernel.
struct Known<K, A, O>(core::marker::PhantomData<(K, A, O)>);

/// The kernel of a form: the one that writes results, or the one that writes the totals of chunks.
fn source(text: &RecordedScan, form: Form, widths: Widths, is_total: bool, both: bool) -> Source {
    let (section, warps, pack, rounds) = match form {
        Form::Threads => (0, 0, 1, 8),
        Form::Columns => (1, 0, 1, widths.column()),
        Form::Rows { warps, packed } => {
            let pack = if packed { widths.pack() } else { 1 };
            (2, warps, pack, widths.rounds(pack))
        }
    };
    let begins = if text.has_start { "known.p = L::start(); known.is_there = true;" } else { "" };
    let mut sections = TEXT.split("// ---\n");
    let (common, own) = (sections.next().unwrap_or_default(), sections.nth(section).unwrap_or_default());
    let library = cuda::scan(text);
    let text = with_prelude(&format!(
        "{library}typedef {} L;\n#define CI_THREADS {THREADS}\n#define CI_WARPS {warps}\n#define CI_PACK {pack}\n\
         #define CI_ROUNDS {rounds}\n#define CI_IS_TOTAL {}\n#define CI_BOTH {}\n#define CI_IS_LONG {}\n#define CI_START {begins}\n{BLOCK}{common}{own}",
        text.name,
        u8::from(is_total),
        u8::from(both),
        u8::from(library.len() > LONG)
    ));
    Source { name: "scan".to_owned(), text }
}

/// The scan `K` along an axis, to a row-major result, or two with positions.
pub(super) fn scan<K: 'static, A: Element, O: Element, const N: usize>(
    device: &'static CudaDevice,
    text: &RecordedScan,
    a: &View<'_, CudaBuffer, A>,
    axis: usize,
) -> Result<[CudaBuffer; N]> {
    let elements = count(OP, a.sizes)?;
    let mut sizes = [size_of::<i64>(); N];
    sizes[0] = size_of::<O>();
    // SAFETY: the kernel writes every result.
    let results = unsafe { uninitialised(device, elements, sizes)? };
    if elements == 0 {
        return Ok(results);
    }
    let both = N == 2;
    let out = if both { size_of::<i64>().max(size_of::<O>()) } else { size_of::<O>() };
    let widths = Widths { element: size_of::<A>(), out, partial: text.partial_size() };
    let from = start::<A>(a.buffer, a.offset);
    let mut lanes = Scanned::along(a.sizes, a.strides, axis);
    let form = plan(&mut lanes, widths, from);
    let of_a_block = match form {
        Form::Threads => u64::from(THREADS),
        Form::Columns => 32,
        Form::Rows { warps, .. } => WARPS / warps,
    };
    let totals = lanes.lanes * (lanes.chunks - 1);
    let launch = |is_total: bool, totals: u64, results: &[CudaBuffer; N]| {
        let class = match form {
            Form::Threads => 0,
            Form::Columns => 1,
            Form::Rows { warps, packed } => 2 + 2 * u64::from(warps == 1) + u64::from(packed),
        };
        let key = KernelKey::Type(TypeId::of::<(Known<K, A, O>, [u8; N])>(), 2 * class + u64::from(is_total));
        let kernel = device.kernel(key, &|| Ok(source(text, form, widths, is_total, both)))?;
        let mut arguments = Arguments::new();
        arguments.push(from);
        arguments.push(totals);
        results.iter().for_each(|result| arguments.push(result.address()));
        arguments.push(lanes);
        let blocks = (lanes.lanes * (lanes.chunks - u64::from(is_total))).div_ceil(of_a_block);
        let grid = Grid::blocks(blocks.min(i32::MAX as u64) as u32, THREADS);
        // SAFETY: these are the parameters of the text; what a view reaches is valid, results have its size, and there is room for the
        // totals of all but the last chunk of each lane.
        unsafe { kernel.launch(OP, grid, &arguments) }
    };
    if totals == 0 {
        launch(false, 0, &results)?;
    } else {
        // SAFETY: the first kernel writes every total.
        let [totals] = unsafe { uninitialised(device, totals as usize, [widths.partial])? };
        launch(true, totals.address(), &results)?;
        launch(false, totals.address(), &results)?;
    }
    Ok(results)
}
