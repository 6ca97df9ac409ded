//! Copying elements to other places on a GPU: gather, `pick` and `band`, and the shared part of `index.cuh`'s kernels. Compiled per element
//! width, not per dtype.

use super::axes::merged;
use super::elementwise::{count, start};
use super::memory::download;
use super::reduce::{BLOCK, uninitialised};
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice, recording};
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::ops::arguments::Indexing;
use crate::ops::record::cuda::with_prelude;
use crate::ops::segment::Segment;
use crate::storage::View;

const TEXT: &str = include_str!("index.cuh");

/// The sections of `index.cuh`. (`Before` is not a kernel: it precedes the later sections.)
#[derive(Clone, Copy, PartialEq, PartialOrd)]
pub(super) enum Form {
    Gather,
    Positions,
    Scatter,
    Sorted,
    Pick,
    Band,
    Before,
    Count,
    Scan,
    Select,
    Rows,
}

/// The word type that is copied: its bytes, and whether counts and offsets have 32 bits.
#[derive(Clone, Copy)]
pub(super) struct Words {
    pub(super) bytes: usize,
    pub(super) narrow: bool,
}

impl Words {
    /// With 64-bit offsets.
    pub(super) fn of(bytes: usize) -> Words {
        Words { bytes, narrow: false }
    }
    /// With 32-bit offsets if `most` and everything smaller fit.
    pub(super) fn up_to(bytes: usize, most: usize) -> Words {
        Words { bytes, narrow: most <= i32::MAX as usize }
    }
    /// The C++ type of counts and offsets.
    pub(super) fn places(self) -> &'static str {
        if self.narrow { "ci_u32" } else { "ci_u64" }
    }
    /// The C++ type for elements of this size.
    fn word(self) -> &'static str {
        match self.bytes {
            1 => "typedef ci_u8 word;",
            2 => "typedef ci_u16 word;",
            4 => "typedef ci_u32 word;",
            8 => "typedef ci_u64 word;",
            // (16-byte elements are aligned to 8; packs of 16 bytes are aligned to 16.)
            16 => "struct word { ci_u64 low, high; };",
            _ => "struct alignas(16) word { ci_u64 low, high; };",
        }
    }
}

/// The size code of 16-byte packs aligned to 16.
const PACK: usize = 32;

/// The text of a section, after the definitions of `word` and of the scattered values.
pub(super) fn source(form: Form, places: &str, words: &str) -> Source {
    let section = |at: usize| TEXT.split("// ---\n").nth(at).unwrap_or_default();
    let shared = if form > Form::Before { section(1 + Form::Before as usize) } else { "" };
    let (common, own) = (section(0), section(1 + form as usize));
    let text = with_prelude(&format!(
        "{words}\n#define CI_THREADS {THREADS}\n#define CI_PLACES {places}\n{BLOCK}{common}{shared}{own}"
    ));
    Source { name: "moved".to_owned(), text }
}

/// Launches a section for a word type.
///
/// # Safety
/// The arguments match the section, and what it reads and writes with them is valid.
pub(super) unsafe fn launch(
    op: &'static str,
    device: &'static CudaDevice,
    (form, words): (Form, Words),
    grid: Grid,
    arguments: &Arguments,
) -> Result<()> {
    let class = (form as u64 * 64 + words.bytes as u64) * 2 + u64::from(words.narrow);
    let kernel = device.kernel(KernelKey::Name("moved", class), &|| {
        let word = format!("{}\n#define CI_VALUES\n#define CI_COMBINED(old, given) given", words.word());
        Ok(source(form, words.places(), &word))
    })?;
    // SAFETY: the caller's promise.
    unsafe { kernel.launch(op, grid, arguments) }
}

/// Up to eight sizes or strides.
fn padded(of: &[usize]) -> [u64; 8] {
    let mut all = [0; 8];
    all.iter_mut().zip(of).for_each(|(to, &from)| *to = from as u64);
    all
}

/// The struct `ci_indexed`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct Indexed {
    pub(super) count: u64,
    pub(super) rank: u64,
    pub(super) sizes: [u64; 8],
    pub(super) strides: [[u64; 8]; 3],
    pub(super) len: u64,
    pub(super) steps: [u64; 3],
    pub(super) size: i64,
    pub(super) wrap: i64,
}

impl Indexed {
    /// The lines along the indexed axis, with the strides of up to three operands; indices point to an axis of `size`.
    pub(super) fn lines(indexing: Indexing, sizes: &[usize], of: [&[usize]; 3], size: usize) -> Result<Indexed> {
        let Indexing { op, axis, wraps } = indexing;
        let (merged, strides, rank) = merged(sizes, of, Some(axis));
        // Only a broadcast axis can be longer than `i64::MAX`.
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        Ok(Indexed {
            count: (count(op, sizes)?.checked_div(sizes[axis])).unwrap_or(0) as u64,
            rank,
            sizes: merged,
            strides,
            len: sizes[axis] as u64,
            steps: of.map(|strides| strides.get(axis).map_or(0, |&step| step as u64)),
            size,
            wrap: if wraps { size } else { 0 },
        })
    }
    /// The maximum offset and count of these operands.
    pub(super) fn most(&self) -> usize {
        let reach = |k: usize| {
            let others =
                (0..self.rank as usize).map(|axis| (self.sizes[axis] - 1).saturating_mul(self.strides[k][axis]));
            let along = self.steps[k].saturating_mul(self.len.max(self.size as u64));
            others.fold(along, u64::saturating_add)
        };
        (0..3).map(reach).fold(self.count.saturating_mul(self.len.max(1)), u64::max) as usize
    }
}

/// The error for an index out of range: the first one, as on the host.
#[cold]
pub(super) fn out_of_range(indexing: Indexing, index: &View<'_, CudaBuffer, i64>, size: usize) -> Error {
    let fits = |index: i64| index < size as i64 && (index >= 0 || (indexing.wraps && index >= -(size as i64)));
    match download(View::<_, i64>::new(index.buffer, index.offset, index.sizes, index.strides)) {
        Ok(all) => {
            let index = all.into_iter().find(|&index| !fits(index)).unwrap_or_default();
            Error::IndexValue { op: indexing.op, index, axis: indexing.axis, size }
        }
        Err(error) => error,
    }
}

/// A flag that kernels set if an index is out of range.
pub(super) fn outside(device: &'static CudaDevice) -> Result<CudaBuffer> {
    CudaBuffer::zeroed(device, size_of::<u32>())
}

/// Whether the flag was set. Waits for the kernel.
pub(super) fn is_outside(word: &CudaBuffer) -> Result<bool> {
    // SAFETY: any bytes are a valid number.
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
    let (total, width) = (count(op, index.sizes)?, size_of::<E>());
    // SAFETY: the kernel writes every element unless an index is out of range; then the result is dropped.
    let [result] = unsafe { uninitialised(device, total, [width])? };
    if total == 0 {
        return Ok(result);
    }
    // Walks positions, not lines: the stride of `a` along the axis is 0, and the index determines the position.
    let mut still = a.strides.to_vec();
    still[axis] = 0;
    let mut places = Indexed::lines(indexing, index.sizes, [index.strides, a.strides, &[]], a.sizes[axis])?;
    (places.sizes, places.strides, places.rank) = merged(index.sizes, [index.strides, &still, &[]], None);
    places.count = total as u64;
    let from = start::<E>(a.buffer, a.offset);
    let bytes = widened(&mut places, width, from);
    let words = Words::up_to(if bytes == 16 && bytes > width { PACK } else { bytes }, places.most());
    let outside = outside(device)?;
    let mut arguments = Arguments::new();
    arguments.push(start::<i64>(index.buffer, index.offset));
    arguments.push(from);
    arguments.push(result.address());
    arguments.push(outside.address());
    arguments.push(places);
    let grid = Grid::over((places.count as usize).div_ceil(4));
    // SAFETY: these are the parameters; what a view reaches is valid, and along the other axes the result is no larger than `a`.
    unsafe { launch(op, device, (Form::Gather, words), grid, &arguments)? };
    // (In a graph the elements of such an index are anything, until the replay is an error.)
    if !recording::reads_later(op, &outside) && is_outside(&outside)? {
        return Err(out_of_range(indexing, index, a.sizes[axis]));
    }
    Ok(result)
}

/// Combines adjacent elements under one index into wider words; returns the bytes of a word.
fn widened(places: &mut Indexed, width: usize, from: u64) -> usize {
    let Some(last) = (places.rank as usize).checked_sub(1) else { return width };
    if places.strides[0][last] != 0 || places.strides[1][last] != 1 {
        return width;
    }
    let fits = |bytes: usize| {
        let (times, whole) = ((bytes / width) as u64, |elements: u64| elements.is_multiple_of((bytes / width) as u64));
        times > 1
            && from.is_multiple_of(bytes as u64)
            && whole(places.sizes[last])
            && whole(places.steps[1])
            && places.strides[1][..last].iter().all(|&stride| whole(stride))
    };
    let Some(bytes) = [16, 8, 4, 2].into_iter().find(|&bytes| bytes > width && fits(bytes)) else { return width };
    let times = (bytes / width) as u64;
    places.sizes[last] /= times;
    places.count /= times;
    places.steps[1] /= times;
    places.strides[1][..last].iter_mut().for_each(|stride| *stride /= times);
    bytes
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
    packed: u64,
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
    if axes.is_empty() {
        // A zero-dim tensor has one axis of size 1.
        stretches.push(Stretch { at: 0, start: 0, step: 1, times: 1 });
        sizes.push(1);
        first[1] = 1;
    }
    let (rank, strides) = (sizes.len() as u64, padded(a.strides));
    let pack = (16 / size_of::<E>()).max(1);
    let packed = pack > 1 && sizes.last().is_some_and(|size| size.is_multiple_of(pack));
    let reach = crate::layout::bounds::span(a.sizes, a.strides).unwrap_or(usize::MAX);
    let words = Words::up_to(size_of::<E>(), total.max(reach));
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
    arguments.push(Picked { count: total as u64, rank, packed: packed.into(), sizes: padded(&sizes), strides, first });
    arguments.push(fill);
    let grid = Grid::over(if packed { total / pack } else { total });
    // SAFETY: these are the parameters; segments lie inside the axes of the view, and each axis of the result has some.
    unsafe { launch(OP, device, (Form::Pick, words), grid, &arguments)? };
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
    // SAFETY: these are the parameters; the view and the result have `total` elements.
    unsafe { launch(OP, device, (Form::Band, Words::up_to(size_of::<E>(), total)), Grid::over(total), &arguments)? };
    Ok(result)
}
