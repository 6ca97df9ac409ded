//! Elements moved to other places on a GPU: gather and scatter, `pick` and `band`. The kernels of `index.cuh` are compiled for each
//! width of elements, not for each dtype.
//!
//! Uses `cuda` to compile and launch, `ops::text` for what scatters compute; used by the operations of `Cuda` and by `select`.

use super::elementwise::{count, operand_of, start, unreadable, written};
use super::present::download;
use super::reduce::{BLOCK, uninitialised};
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::ops::arguments::Indexing;
use crate::ops::kernel::Map2;
use crate::ops::segment::Segment;
use crate::ops::text::kernel::{Kernel, c_type};
use crate::ops::text::{PRELUDE, Unreadable, describe};
use crate::storage::{View, ViewMut};

const TEXT: &str = include_str!("index.cuh");

/// The sections of `index.cuh`. (Of `Before` there is no kernel: it stands before those behind it.)
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Form {
    Gather,
    Check,
    Scatter,
    Pick,
    Band,
    Before,
    Count,
    Scan,
    Select,
}

/// The C++ type that stands for elements of so many bytes.
fn word(width: usize) -> &'static str {
    match width {
        1 => "typedef ci_u8 word;",
        2 => "typedef ci_u16 word;",
        4 => "typedef ci_u32 word;",
        8 => "typedef ci_u64 word;",
        _ => "struct word { ci_u64 low, high; };",
    }
}

/// The text of a section over what says what a `word` is, and what scatters write.
pub(super) fn source(form: Form, words: &str) -> Source {
    let section = |at: usize| TEXT.split("// ---\n").nth(at).unwrap_or_default();
    let shared = if form > Form::Before { section(1 + Form::Before as usize) } else { "" };
    let (common, own) = (section(0), section(1 + form as usize));
    let text = format!("{PRELUDE}{words}\n#define CI_THREADS {THREADS}\n{BLOCK}{common}{shared}{own}");
    Source { name: "moved".to_owned(), text }
}

/// Launches a section for elements of so many bytes.
///
/// # Safety
/// The arguments are those of the section, and what it reads and writes with them is valid.
pub(super) unsafe fn launch(
    op: &'static str,
    device: &'static CudaDevice,
    (form, width): (Form, usize),
    grid: Grid,
    arguments: &Arguments,
) -> Result<()> {
    let kernel = device.kernel(KernelKey::Name("moved", form as u64 * 32 + width as u64), || {
        Ok(source(form, &format!("{}\n#define CI_VALUES\n#define CI_COMBINED(old, given) given", word(width))))
    })?;
    // SAFETY: the caller's promise.
    unsafe { kernel.launch(op, grid, arguments) }
}

/// Up to eight sizes or strides.
pub(super) fn padded(of: &[usize]) -> [u64; 8] {
    let mut all = [0; 8];
    all.iter_mut().zip(of).for_each(|(to, &from)| *to = from as u64);
    all
}

/// The struct `ci_indexed`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Indexed {
    count: u64,
    rank: u64,
    sizes: [u64; 8],
    strides: [[u64; 8]; 3],
    len: u64,
    steps: [u64; 3],
    size: i64,
    wrap: i64,
}

impl Indexed {
    /// All places of these sizes, with the strides of up to three operands, to be indexed along an axis of `size`.
    fn new(indexing: Indexing, sizes: &[usize], strides: [&[usize]; 3], size: usize) -> Result<Indexed> {
        let Indexing { op, axis, wraps } = indexing;
        // An axis longer than `i64::MAX` can only be a broadcast one.
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        Ok(Indexed {
            count: count(op, sizes)? as u64,
            rank: sizes.len() as u64,
            sizes: padded(sizes),
            strides: strides.map(padded),
            len: sizes[axis] as u64,
            steps: strides.map(|strides| strides.get(axis).map_or(0, |&step| step as u64)),
            size,
            wrap: if wraps { size } else { 0 },
        })
    }
    /// The lines along the axis in place of all places.
    fn lines(mut self, axis: usize) -> Indexed {
        self.count /= self.len.max(1);
        self.sizes[axis] = 1;
        self
    }
    fn grid(&self) -> Grid {
        Grid::over(self.count as usize)
    }
}

/// The error for an index out of range: of the first one, as on the host.
#[cold]
fn out_of_range(indexing: Indexing, index: &View<'_, CudaBuffer, i64>, size: usize) -> Error {
    let fits = |index: i64| index < size as i64 && (index >= 0 || (indexing.wraps && index >= -(size as i64)));
    match download(View::<_, i64>::new(index.buffer, index.offset, index.sizes, index.strides)) {
        Ok(all) => {
            let index = all.into_iter().find(|&index| !fits(index)).unwrap_or_default();
            Error::IndexValue { op: indexing.op, index, axis: indexing.axis, size }
        }
        Err(error) => error,
    }
}

/// A word that kernels set where an index is out of range.
fn outside(device: &'static CudaDevice) -> Result<CudaBuffer> {
    CudaBuffer::zeroed(device, size_of::<u32>())
}

/// Whether the word was set. It waits for the kernel.
fn is_outside(word: &CudaBuffer) -> Result<bool> {
    // SAFETY: any bytes are a number.
    Ok(unsafe { word.elements::<u32>(0, 1)? }.first() != Some(&0))
}

/// The elements of `a` at the positions of the result, with the index in place of the position along the axis.
pub(super) fn gather<E: Element>(
    device: &'static CudaDevice,
    indexing: Indexing,
    a: &View<'_, CudaBuffer, E>,
    index: &View<'_, CudaBuffer, i64>,
) -> Result<CudaBuffer> {
    let Indexing { op, axis, .. } = indexing;
    assert!(index.sizes.iter().zip(a.sizes).enumerate().all(|(at, (index, a))| at == axis || index <= a));
    let mut places = Indexed::new(indexing, index.sizes, [index.strides, a.strides, &[]], a.sizes[axis])?;
    places.strides[1][axis] = 0;
    // SAFETY: the kernel writes every element, save where an index is out of range: then nobody sees them.
    let [result] = unsafe { uninitialised(device, places.count as usize, [size_of::<E>()])? };
    if places.count == 0 {
        return Ok(result);
    }
    let outside = outside(device)?;
    let mut arguments = Arguments::new();
    arguments.push(start::<i64>(index.buffer, index.offset));
    arguments.push(start::<E>(a.buffer, a.offset));
    arguments.push(result.address());
    arguments.push(outside.address());
    arguments.push(places);
    // SAFETY: these are the parameters; what a view reaches is valid, and along the other axes the result is no larger than `a`.
    unsafe { launch(op, device, (Form::Gather, size_of::<E>()), places.grid(), &arguments)? };
    if is_outside(&outside)? { Err(out_of_range(indexing, index, a.sizes[axis])) } else { Ok(result) }
}

/// Where a scatter reads and writes, once all indices have been found to be in range; `None` where there is nothing to write.
pub(super) fn scattered<E: Element>(
    device: &'static CudaDevice,
    indexing: Indexing,
    index: &View<'_, CudaBuffer, i64>,
    b: &View<'_, CudaBuffer, E>,
    out: &ViewMut<'_, CudaBuffer, E>,
) -> Result<Option<(Indexed, Arguments)>> {
    let Indexing { op, axis, .. } = indexing;
    let fits = |at: usize| index.sizes[at] <= b.sizes[at] && (at == axis || index.sizes[at] <= out.sizes[at]);
    assert!((0..index.sizes.len()).all(fits));
    let size = out.sizes[axis];
    let places = Indexed::new(indexing, index.sizes, [index.strides, b.strides, out.strides], size)?;
    if places.count == 0 {
        return Ok(None);
    }
    let (outside, indices) = (outside(device)?, start::<i64>(index.buffer, index.offset));
    let mut arguments = Arguments::new();
    arguments.push(indices);
    arguments.push(outside.address());
    arguments.push(places);
    // SAFETY: these are the parameters; what a view reaches is valid.
    unsafe { launch(op, device, (Form::Check, size_of::<u8>()), places.grid(), &arguments)? };
    if is_outside(&outside)? {
        return Err(out_of_range(indexing, index, size));
    }
    let mut lines = places.lines(axis);
    (0..3).for_each(|operand| lines.strides[operand][axis] = 0);
    let mut arguments = Arguments::new();
    arguments.push(indices);
    arguments.push(start::<E>(b.buffer, b.offset));
    arguments.push(start::<E>(out.buffer, out.offset));
    arguments.push(lines);
    Ok(Some((lines, arguments)))
}

/// `out[…, index, …] = b`; of several at one place the last along the axis stays.
pub(super) fn scatter<E: Element>(
    device: &'static CudaDevice,
    indexing: Indexing,
    index: &View<'_, CudaBuffer, i64>,
    b: &View<'_, CudaBuffer, E>,
    out: &ViewMut<'_, CudaBuffer, E>,
) -> Result<()> {
    let Some((lines, arguments)) = scattered(device, indexing, index, b, out)? else { return Ok(()) };
    // SAFETY: these are the parameters, all indices are in range, and the output is held exclusively; two lines have no place in common.
    unsafe { launch(indexing.op, device, (Form::Scatter, size_of::<E>()), lines.grid(), &arguments) }
}

/// What `scatter_with` is known by.
struct Combined;

/// `out[…, index, …] = kernel(out[…, index, …], b)`, in the order of the indices along the axis.
pub(super) fn scatter_with<E: Element, K: Map2<E, E, E>>(
    device: &'static CudaDevice,
    indexing: Indexing,
    kernel: &K,
    index: &View<'_, CudaBuffer, i64>,
    b: &View<'_, CudaBuffer, E>,
    out: &ViewMut<'_, CudaBuffer, E>,
) -> Result<()> {
    let Some((lines, mut arguments)) = scattered(device, indexing, index, b, out)? else { return Ok(()) };
    let described = |to: Kernel| describe::map2::<K, E, E, E>(to, kernel, [written(out), operand_of(b)]);
    described(Kernel::launched()).values().bytes().for_each(|bytes| arguments.push_bytes(bytes, 8));
    let compiled = device.kernel(KernelKey::of::<(Combined, K, E)>(0), || {
        let refused = |why: Unreadable| unreadable(indexing.op, device, &why);
        let (function, types) = described(Kernel::written()).element("combined").map_err(refused)?;
        let parameters: String = types.iter().enumerate().map(|(at, ty)| format!(", const {ty} s{at}")).collect();
        let values: String = (0..types.len()).map(|at| format!("s{at}, ")).collect();
        let words = format!(
            "{function}typedef {} word;\n#define CI_VALUES {parameters}\n\
             #define CI_COMBINED(old, given) combined_element(old, given, {values}(ci_i64)i)",
            c_type(E::DTYPE)
        );
        Ok(source(Form::Scatter, &words))
    })?;
    // SAFETY: as in `scatter`; values are the last parameters.
    unsafe { compiled.launch(indexing.op, lines.grid(), &arguments) }
}

/// The struct `ci_segment`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Stretch {
    at: u64,
    start: u64,
    step: u64,
    times: u64,
}

/// The struct `ci_picked`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Picked {
    count: u64,
    rank: u64,
    sizes: [u64; 8],
    strides: [u64; 8],
    first: [u64; 9],
}

/// Assembles each axis from segments of the operand's; the result is row-major.
pub(super) fn pick<E: Element>(
    device: &'static CudaDevice,
    a: &View<'_, CudaBuffer, E>,
    axes: &[Vec<Segment>],
    fill: E,
) -> Result<CudaBuffer> {
    const OP: &str = "pick";
    assert!(
        axes.len() == a.sizes.len()
            && axes.iter().zip(a.sizes).all(|(list, &size)| list.iter().all(|segment| segment.inside(size))),
        "segments lie inside their axes"
    );
    let (mut stretches, mut sizes, mut first) = (Vec::new(), Vec::with_capacity(axes.len()), [0; 9]);
    for (axis, list) in axes.iter().enumerate() {
        let mut at = 0_usize;
        for segment in list {
            let (start, step, times) = match *segment {
                Segment::Forward { start, .. } => (start, 1, 1),
                Segment::Backward { start, .. } => (start, u64::MAX, 1),
                Segment::Each { start, times, .. } => (start, 1, times),
                Segment::Fill { .. } => (0, 0, 0),
            };
            let len = segment.positions().unwrap_or(usize::MAX);
            if len > 0 {
                stretches.push(Stretch { at: at as u64, start: start as u64, step, times: times as u64 });
            }
            at = at.saturating_add(len);
        }
        sizes.push(at);
        first[axis + 1] = stretches.len() as u64;
    }
    let total = count(OP, &sizes)?;
    let (rank, strides) = (axes.len() as u64, padded(a.strides));
    // SAFETY: the kernel writes every element.
    let [result] = unsafe { uninitialised(device, total, [size_of::<E>()])? };
    if total == 0 {
        return Ok(result);
    }
    let table = CudaBuffer::upload(device, &stretches)?;
    let mut arguments = Arguments::new();
    arguments.push(start::<E>(a.buffer, a.offset));
    arguments.push(table.address());
    arguments.push(result.address());
    arguments.push(Picked { count: total as u64, rank, sizes: padded(&sizes), strides, first });
    arguments.push(fill);
    // SAFETY: these are the parameters; segments lie inside the axes of the view, and each axis of the result has some.
    unsafe { launch(OP, device, (Form::Pick, size_of::<E>()), Grid::over(total), &arguments)? };
    Ok(result)
}

/// Contiguous matrices, zeroed except where `low <= column - row <= high`.
pub(super) fn band<E: Element>(
    device: &'static CudaDevice,
    a: &View<'_, CudaBuffer, E>,
    low: isize,
    high: isize,
) -> Result<CudaBuffer> {
    const OP: &str = "band";
    let [.., height, width] = *a.sizes else { return invalid(OP, "matrices have two axes".to_owned()) };
    debug_assert!(crate::layout::strides::is_contiguous(a.sizes, a.strides));
    let total = count(OP, a.sizes)?;
    // SAFETY: the kernel writes every element.
    let [result] = unsafe { uninitialised(device, total, [size_of::<E>()])? };
    if total == 0 {
        return Ok(result);
    }
    let mut arguments = Arguments::new();
    arguments.push(start::<E>(a.buffer, a.offset));
    arguments.push(result.address());
    [total, height, width].into_iter().for_each(|size| arguments.push(size as u64));
    [low, high].into_iter().for_each(|side| arguments.push(side as i64));
    // SAFETY: these are the parameters; the view and the result have so many elements.
    unsafe { launch(OP, device, (Form::Band, size_of::<E>()), Grid::over(total), &arguments)? };
    Ok(result)
}
