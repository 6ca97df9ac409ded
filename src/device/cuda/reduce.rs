//! Reductions on a GPU: `reduce.cuh` over the struct of a reducer.
//!
//! Uses `ops::text` for the steps of reducers, `cuda` to compile and launch; used by the operations of `Cuda`.

use super::elementwise::{count, start, unreadable};
use crate::cuda::buffer::bytes_of;
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::reduce::Reducer;
use crate::ops::text::PRELUDE;
use crate::ops::text::reduce::ReducerText;
use crate::storage::View;
use core::any::TypeId;

const OP: &str = "reduce";
const TEXT: &str = include_str!("reduce.cuh");
/// What kernels over axes and over blocks share.
pub(super) const BLOCK: &str = include_str!("block.cuh");
/// Results of fewer elements are reduced by one thread each.
const SHORT: usize = 64;
/// So many elements at least make a chunk of a block, and of a thread.
const BLOCK_CHUNK: usize = 16 * THREADS as usize;
const THREAD_CHUNK: usize = 256;
/// With so many blocks, and threads, a GPU has enough to do.
const BLOCKS: usize = 1024;
const MANY: usize = 1 << 17;

/// The struct `ci_places`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Places {
    kept: u64,
    reduced: u64,
    chunk: u64,
    chunks: u64,
    kept_sizes: [u64; 8],
    kept_strides: [u64; 8],
    reduced_sizes: [u64; 8],
    reduced_strides: [u64; 8],
    kept_rank: u64,
    reduced_rank: u64,
}

/// Axes in row-major order, neighbours that can be walked as one merged.
fn merged(axes: impl Iterator<Item = (usize, usize)>) -> ([u64; 8], [u64; 8], u64) {
    let (mut sizes, mut strides, mut rank) = ([1; 8], [0; 8], 0_usize);
    for (size, stride) in axes.filter(|&(size, _)| size != 1) {
        let (size, stride) = (size as u64, stride as u64);
        if rank > 0 && strides[rank - 1] == stride * size {
            sizes[rank - 1] *= size;
            strides[rank - 1] = stride;
        } else {
            (sizes[rank], strides[rank]) = (size, stride);
            rank += 1;
        }
    }
    (sizes, strides, rank as u64)
}

/// The sections of `reduce.cuh`.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Thread,
    Block,
    BlockChunks,
    ThreadChunks,
    Merge,
}

/// A reduction of a view, or of the chunks of one.
struct Job<R> {
    device: &'static CudaDevice,
    reducer: R,
    key: TypeId,
    places: Places,
    /// Whether the second result is written, too.
    both: bool,
}

impl<R: Copy> Job<R> {
    /// # Safety
    /// The elements are those of the places, and the results and accumulators have room for as many as the form writes.
    unsafe fn launch<A: Element>(&self, form: Form, grid: Grid, from: u64, to: &[u64]) -> Result<()>
    where
        R: Reducer<A>,
    {
        let class = u64::from(self.reducer.form()) * 16 + 2 * form as u64 + u64::from(self.both);
        let (refused, values) = (|why| unreadable(OP, self.device, &why), self.reducer.given());
        // (How large the values are is in the text, which is written once more for those that have some.)
        let given = match values.is_empty() {
            true => Vec::new(),
            false => self.reducer.text().map_err(refused)?.given_bytes(&values),
        };
        let kernel = self.device.kernel(KernelKey::Type(self.key, class), || {
            let text = self.reducer.text().map_err(refused)?;
            Ok(Source { name: "reduce".to_owned(), text: source(&text, form, self.both) })
        })?;
        let mut arguments = Arguments::new();
        arguments.push(from);
        to.iter().for_each(|&to| arguments.push(to));
        arguments.push(self.places);
        if !given.is_empty() {
            arguments.push_bytes(&given, 8);
        }
        // SAFETY: these are the parameters of the text; the caller's promise.
        unsafe { kernel.launch(OP, grid, &arguments) }
    }
}

/// A section of `reduce.cuh` for a reducer.
fn source(text: &ReducerText, form: Form, both: bool) -> String {
    let (given, no_given) =
        if text.given.is_empty() { ("", "const R::given g = {};") } else { (", const R::given g", "") };
    let (second, write) = match both && !matches!(form, Form::BlockChunks | Form::ThreadChunks) {
        true => (", R::second_out *second", "second[o] = R::second(p, (ci_i64)w.reduced, g);"),
        false => ("", ""),
    };
    let mut sections = TEXT.split("// ---\n");
    let (common, own) = (sections.next().unwrap_or_default(), sections.nth(form as usize).unwrap_or_default());
    format!(
        "{PRELUDE}{}typedef {} R;\n#define CI_THREADS {THREADS}\n#define CI_GIVEN {given}\n#define CI_NO_GIVEN {no_given}\n\
         #define CI_SECOND {second}\n#define CI_WRITE_SECOND {write}\n{BLOCK}{common}{own}",
        text.library, text.name
    )
}

/// Reduces over the axes of `mask`, into results of the given sizes in bytes, one or two.
pub(super) fn reduce<A: Element, R: Reducer<A>, const N: usize>(
    device: &'static CudaDevice,
    reducer: R,
    a: &View<'_, CudaBuffer, A>,
    mask: u32,
    widths: [usize; N],
) -> Result<[CudaBuffer; N]> {
    let axes = |reduced: bool| {
        let both = a.sizes.iter().copied().zip(a.strides.iter().copied()).enumerate();
        both.filter(move |&(axis, _)| (mask >> axis & 1 == 1) == reduced).map(|(_, axis)| axis)
    };
    let sizes: Vec<usize> = axes(false).map(|(size, _)| size).collect();
    let (kept, elements) = (count(OP, &sizes)?, count(OP, a.sizes)?);
    let reduced = elements.checked_div(kept).unwrap_or(0);
    let (kept_sizes, kept_strides, kept_rank) = merged(axes(false));
    let (reduced_sizes, reduced_strides, reduced_rank) = merged(axes(true));
    let mut places = Places {
        kept: kept as u64,
        reduced: reduced as u64,
        chunk: reduced as u64,
        chunks: 1,
        kept_sizes,
        kept_strides,
        reduced_sizes,
        reduced_strides,
        kept_rank,
        reduced_rank,
    };
    // SAFETY: the kernels write every result.
    let results = unsafe { uninitialised(device, kept, widths)? };
    if kept == 0 {
        return Ok(results);
    }
    // Where neighbouring results are neighbours in memory, neighbouring threads reduce one each.
    let by_columns = kept_rank > 0
        && kept_strides[kept_rank as usize - 1] == 1
        && (reduced_rank == 0 || reduced_strides[reduced_rank as usize - 1] != 1);
    let is_short = reduced <= SHORT;
    let chunks = match (is_short, by_columns) {
        (true, _) => 1,
        (false, true) => reduced.div_ceil(THREAD_CHUNK).min(MANY.div_ceil(kept)),
        (false, false) => reduced.div_ceil(BLOCK_CHUNK).min(BLOCKS.div_ceil(kept)),
    };
    // A thread does not add up more than some elements one after the other, for its sum loses digits.
    let by_threads = is_short || (by_columns && reduced.div_ceil(chunks) <= 4 * THREAD_CHUNK);
    let chunks =
        if by_threads || !by_columns { chunks } else { reduced.div_ceil(BLOCK_CHUNK).min(BLOCKS.div_ceil(kept)) };
    places.chunk = reduced.div_ceil(chunks.max(1)) as u64;
    places.chunks = chunks as u64;
    let reducer = if kept == 1 { reducer.single() } else { reducer };
    let job = Job { device, reducer, key: TypeId::of::<(A, R)>(), places, both: N == 2 };
    let from = start::<A>(a.buffer, a.offset);
    let to = results.each_ref().map(CudaBuffer::address);
    let blocks = |units: usize| Grid::blocks(units.min(i32::MAX as usize) as u32, THREADS);
    // SAFETY: what a view reaches is valid; there is room for each result, and for each accumulator.
    unsafe {
        if chunks == 1 {
            let (form, grid) = if by_threads { (Form::Thread, Grid::over(kept)) } else { (Form::Block, blocks(kept)) };
            job.launch::<A>(form, grid, from, &to)?;
        } else {
            let refused = |why| unreadable(OP, device, &why);
            let width = reducer.text().map_err(refused)?.partial_size();
            let units = kept.checked_mul(chunks).ok_or_else(|| Error::TooLarge { op: OP, sizes: a.sizes.into() })?;
            let [partials] = uninitialised(device, units, [width])?;
            let (form, grid) = match by_threads {
                true => (Form::ThreadChunks, Grid::over(units)),
                false => (Form::BlockChunks, blocks(units)),
            };
            job.launch::<A>(form, grid, from, &[partials.address()])?;
            job.launch::<A>(Form::Merge, blocks(kept), partials.address(), &to)?;
        }
    }
    Ok(results)
}

/// Buffers of so many elements of these widths.
///
/// # Safety
/// All elements are written.
pub(super) unsafe fn uninitialised<const N: usize>(
    device: &'static CudaDevice,
    len: usize,
    widths: [usize; N],
) -> Result<[CudaBuffer; N]> {
    let mut all = [const { None }; N];
    for (buffer, width) in all.iter_mut().zip(widths) {
        // SAFETY: the caller's promise.
        *buffer = Some(unsafe { CudaBuffer::uninitialised(device, bytes_of(device, len, width)?)? });
    }
    Ok(all.map(|buffer| buffer.unwrap_or_else(|| unreachable!("all of them have been made"))))
}
