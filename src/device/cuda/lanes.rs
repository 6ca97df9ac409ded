//! Functions of lanes on a GPU: those of rows by `lanes.cuh` over the struct of a kernel, scans by `scan`.
//!
//! Uses `ops::text` for the steps of kernels, `cuda` to compile and launch; used by the operations of `Cuda`.

use super::elementwise::{count, start, unreadable};
use super::reduce::{BLOCK, uninitialised};
use super::scan;
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides;
use crate::ops::kernel::{LaneKernel, RowKernel};
use crate::ops::text::lane::LaneText;
use crate::ops::text::row::RowText;
use crate::ops::text::{PRELUDE, Unreadable};
use crate::storage::View;
use core::any::TypeId;
use core::fmt::Write as _;
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
struct Rows;

fn section(at: usize) -> (&'static str, &'static str) {
    let mut sections = TEXT.split("// ---\n");
    (sections.next().unwrap_or_default(), sections.nth(at).unwrap_or_default())
}

fn row_source(text: &RowText, shared: [bool; 2]) -> String {
    let (common, own) = section(0);
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

/// The text of a kernel, which a thread records once.
fn text_of<A: Element, O: 'static, K: LaneKernel<A, O>>(device: &CudaDevice, kernel: K) -> Result<Rc<LaneText>> {
    thread_local! {
        static TEXTS: RefCell<BTreeMap<TypeId, Rc<LaneText>>> = const { RefCell::new(BTreeMap::new()) };
    }
    let key = TypeId::of::<(K, A, O)>();
    if let Some(text) = TEXTS.with_borrow(|texts| texts.get(&key).cloned()) {
        return Ok(text);
    }
    let text = Rc::new(kernel.text().map_err(|why| unreadable(scan::OP, device, &why))?);
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
    match &*text_of::<A, O, K>(device, kernel)? {
        LaneText::Scan(text) => scan::scan::<K, A, O, 1>(device, text, a, axis).map(|[result]| result),
        LaneText::Row(text) => {
            let key = TypeId::of::<(Rows, K, A, O)>();
            row(device, text, &text.given_bytes(&[]), key, a, Lanes::along(ROWS, a, axis)?, [None; 2])
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
    match &*text_of::<A, (O, P), K>(device, kernel)? {
        LaneText::Scan(text) => scan::scan::<K, A, O, 2>(device, text, a, axis),
        LaneText::Row(_) => {
            Err(unreadable(scan::OP, device, &Unreadable::Kernel("a function of a row has one result; use the CPU")))
        }
    }
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
