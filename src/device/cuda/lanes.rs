//! Scans and functions of rows on a GPU: `lanes.cuh` over the struct of a kernel.
//!
//! Uses `ops::text` for the steps of kernels, `cuda` to compile and launch; used by the operations of `Cuda`.

use super::elementwise::{count, start, unreadable};
use super::reduce::{BLOCK, uninitialised};
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides;
use crate::ops::kernel::{LaneKernel, RowKernel};
use crate::ops::text::lane::{LaneText, ScanText};
use crate::ops::text::row::RowText;
use crate::ops::text::{PRELUDE, Unreadable};
use crate::storage::View;
use core::any::TypeId;
use core::fmt::Write as _;

const SCAN: &str = "scan";
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
        let mut lanes = Lanes {
            lanes: 1,
            len: own(a.sizes),
            step: own(a.strides),
            to_step: own(&to),
            sizes: [1; 8],
            strides: [0; 8],
            to_strides: [0; 8],
            rank: 0,
        };
        let others = (0..a.sizes.len()).filter(|&at| at != axis);
        for (at, axis) in others.enumerate() {
            lanes.sizes[at] = a.sizes[axis] as u64;
            lanes.strides[at] = a.strides[axis] as u64;
            lanes.to_strides[at] = to[axis] as u64;
            lanes.rank = at as u64 + 1;
        }
        let total = count(op, a.sizes)? as u64;
        lanes.lanes = total.checked_div(lanes.len).unwrap_or(0);
        Ok(lanes)
    }
    fn grid(&self) -> Grid {
        Grid::blocks(self.lanes.min(i32::MAX as u64) as u32, THREADS)
    }
}

/// What the kernels are known by.
struct Scanned;
struct Rows;

fn section(at: usize) -> (&'static str, &'static str) {
    let mut sections = TEXT.split("// ---\n");
    (sections.next().unwrap_or_default(), sections.nth(at).unwrap_or_default())
}

fn scan_source(text: &ScanText, both: bool) -> String {
    let (common, own) = section(0);
    let before = match text.has_start {
        true => "L::partial before = L::start(); bool is_there = true;",
        false => "L::partial before; bool is_there = false;",
    };
    let (second, write) = match both {
        true => (", L::second_out *second", "second[to + i * w.to_step] = L::second(p);"),
        false => ("", ""),
    };
    format!(
        "{PRELUDE}{}typedef {} L;\n#define CI_THREADS {THREADS}\n#define CI_BEFORE {before}\n#define CI_SECOND {second}\n\
         #define CI_WRITE_SECOND {write}\n{BLOCK}{common}{own}",
        text.library, text.name
    )
}

fn row_source(text: &RowText, shared: [bool; 2]) -> String {
    let (common, own) = section(1);
    let rows = [(shared[0], "weight"), (shared[1], "bias")];
    let there = || rows.iter().filter(|row| row.0).map(|row| row.1);
    let parameters: String = there().map(|row| format!(", const L::element *{row}")).collect();
    let elements: String = there().map(|row| format!("{row}[i], ")).collect();
    let mut passes = String::new();
    for pass in 0..text.passes {
        // Steps of each thread, merged by the block.
        let _ = write!(
            passes,
            "{{ L::pass{pass}::partial p = L::pass{pass}::start(g); \
             for (ci_u64 i = threadIdx.x; i < w.len; i += CI_THREADS) p = L::pass{pass}::accumulate(p, from[i * w.step], (ci_i64)i, g); \
             g = L::with{pass}(g, L::pass{pass}::finish(ci_merged<L::pass{pass}>(p, g), (ci_i64)w.len, g)); }} "
        );
    }
    format!(
        "{PRELUDE}{}typedef {} L;\n#define CI_THREADS {THREADS}\n#define CI_SHARED {parameters}\n#define CI_PASSES {passes}\n\
         #define CI_AT L::at_{}{}(from[i * w.step], {elements}g)\n{BLOCK}{common}{own}",
        text.library,
        text.name,
        u8::from(shared[0]),
        u8::from(shared[1])
    )
}

/// Runs a kernel with one result on every lane along an axis; the result is row-major.
pub(super) fn lanes<A: Element, O: Element, K: LaneKernel<A, O>>(
    device: &'static CudaDevice,
    kernel: K,
    a: &View<'_, CudaBuffer, A>,
    axis: usize,
) -> Result<CudaBuffer> {
    let lanes = Lanes::along(SCAN, a, axis)?;
    match kernel.text().map_err(|why| unreadable(SCAN, device, &why))? {
        LaneText::Scan(text) => {
            let key = TypeId::of::<(Scanned, K, A, O)>();
            scan(device, &text, key, a, lanes, [size_of::<O>()]).map(|[result]| result)
        }
        LaneText::Row(text) => {
            let key = TypeId::of::<(Rows, K, A, O)>();
            row(device, &text, &text.given_bytes(&[]), key, a, lanes, [None; 2])
        }
    }
}

/// Both results of a kernel that has two.
pub(super) fn lanes_both<A: Element, O: Element, P: Element, K: LaneKernel<A, (O, P)>>(
    device: &'static CudaDevice,
    kernel: K,
    a: &View<'_, CudaBuffer, A>,
    axis: usize,
) -> Result<[CudaBuffer; 2]> {
    match kernel.text().map_err(|why| unreadable(SCAN, device, &why))? {
        LaneText::Scan(text) => {
            let key = TypeId::of::<(Scanned, K, A, O, P)>();
            scan(device, &text, key, a, Lanes::along(SCAN, a, axis)?, [size_of::<O>(), size_of::<P>()])
        }
        LaneText::Row(_) => {
            Err(unreadable(SCAN, device, &Unreadable::Kernel("a function of a row has one result; use the CPU")))
        }
    }
}

/// A scan of these lanes, into row-major results of the given sizes in bytes.
fn scan<A: Element, const N: usize>(
    device: &'static CudaDevice,
    text: &ScanText,
    key: TypeId,
    a: &View<'_, CudaBuffer, A>,
    lanes: Lanes,
    widths: [usize; N],
) -> Result<[CudaBuffer; N]> {
    // SAFETY: the kernel writes every result.
    let results = unsafe { uninitialised(device, count(SCAN, a.sizes)?, widths)? };
    let source = || Ok(Source { name: "lanes".to_owned(), text: scan_source(text, N == 2) });
    let kernel = device.kernel(KernelKey::Type(key, 0), source)?;
    let mut arguments = Arguments::new();
    arguments.push(start::<A>(a.buffer, a.offset));
    results.iter().for_each(|result| arguments.push(result.address()));
    arguments.push(lanes);
    // SAFETY: these are the parameters of the text; what a view reaches is valid, and results are as large as it.
    unsafe { kernel.launch(SCAN, lanes.grid(), &arguments)? };
    Ok(results)
}

/// A function of the rows that these lanes are.
fn row<A: Element>(
    device: &'static CudaDevice,
    text: &RowText,
    given: &[u8],
    key: TypeId,
    a: &View<'_, CudaBuffer, A>,
    lanes: Lanes,
    shared: [Option<u64>; 2],
) -> Result<CudaBuffer> {
    // SAFETY: the kernel writes every element.
    let [result] = unsafe { uninitialised(device, count(ROWS, a.sizes)?, [size_of::<A>()])? };
    let there = shared.map(|row| row.is_some());
    let class = u64::from(there[0]) + 2 * u64::from(there[1]);
    let source = || Ok(Source { name: "lanes".to_owned(), text: row_source(text, there) });
    let kernel = device.kernel(KernelKey::Type(key, class), source)?;
    let mut arguments = Arguments::new();
    arguments.push(start::<A>(a.buffer, a.offset));
    arguments.push(result.address());
    shared.into_iter().flatten().for_each(|row| arguments.push(row));
    arguments.push(lanes);
    arguments.push_bytes(given, 8);
    // SAFETY: as above; shared rows are as long as lanes.
    unsafe { kernel.launch(ROWS, lanes.grid(), &arguments)? };
    Ok(result)
}

/// Runs a kernel on every row, with shared rows.
pub(super) fn rows<A: Element, O: Element, K: RowKernel<A, O>>(
    device: &'static CudaDevice,
    kernel: K,
    a: &View<'_, CudaBuffer, A>,
    shared: [Option<View<'_, CudaBuffer, A>>; 2],
) -> Result<CudaBuffer> {
    let text = kernel.text().map_err(|why| unreadable(ROWS, device, &why))?;
    let lanes = Lanes::along(ROWS, a, a.sizes.len().saturating_sub(1))?;
    let shared = shared.map(|row| row.map(|row| start::<A>(row.buffer, row.offset)));
    row::<A>(device, &text, &text.given_bytes(&kernel.given()), TypeId::of::<(Rows, K, A, O)>(), a, lanes, shared)
}
