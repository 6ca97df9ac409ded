//! Reductions on a GPU: `reduce.cuh` over the struct of a reducer.

use super::axes::merged;
use super::elementwise::{count, start, unreadable};
use crate::cuda::buffer::bytes_of;
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::{Arguments, Grid, THREADS};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::expression::Expression;
use crate::ops::record::cuda::{self, with_prelude};
use crate::ops::record::graph::Kind;
use crate::ops::record::kernel::Kernel;
use crate::ops::record::reduce::{Record, RecordedReducer, given_bytes};
use crate::ops::record::{Unreadable, describe};
use crate::ops::reduce::Reducer;
use crate::storage::View;
use core::any::TypeId;
use std::collections::BTreeMap;
use std::sync::{PoisonError, RwLock};

const OP: &str = "reduce";
const TEXT: &str = include_str!("reduce.cuh");
/// The text shared by kernels over axes and over blocks.
pub(super) const BLOCK: &str = include_str!("block.cuh");
/// Minimum packs per thread for a block, and for a chunk.
const PACKS: usize = 16;
/// Number of blocks that keeps a GPU busy.
const BLOCKS: usize = 2048;
/// Maximum elements that one thread adds sequentially, to limit rounding errors.
const IN_A_ROW: usize = 1024;
const WARP: usize = 32;
const BLOCK_THREADS: usize = THREADS as usize;

/// The struct `ci_places`.
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Places {
    kept: u64,
    reduced: u64,
    chunk: u64,
    chunks: u64,
    across: u64,
    kept_sizes: [u64; 8],
    kept_strides: [u64; 8],
    reduced_sizes: [u64; 8],
    reduced_strides: [u64; 8],
    kept_rank: u64,
    reduced_rank: u64,
}

/// Whether packs of this many elements divide the innermost axis, and are aligned along all axes.
fn holds_packs(pack: u64, (sizes, strides, rank): (&[u64; 8], &[u64; 8], u64), others: &[u64]) -> bool {
    let Some(inner) = (rank as usize).checked_sub(1) else { return false };
    let whole = inner == 0 || sizes[inner].is_multiple_of(pack);
    let outer = strides[..inner].iter().chain(others);
    strides[inner] == 1 && whole && outer.clone().all(|stride| stride.is_multiple_of(pack))
}

/// The sections of `reduce.cuh`.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Lanes,
    Block,
    Chunks,
    Columns,
    Merge,
}

/// The source of elements: the kernels' `ci_elements`.
struct Elements<'a> {
    /// The fields of the struct, and its text.
    fields: Arguments,
    text: &'a dyn Fn() -> Result<String>,
    /// Maximum elements loaded at a time.
    pack: usize,
}

/// The division of a reduction.
struct Division {
    form: Form,
    pack: usize,
    blocks: usize,
}

/// Divides a reduction among kernels: sets `across`, `chunk` and `chunks`.
fn divide(places: &mut Places, most: usize, partial: usize) -> Division {
    let (kept, reduced) = (places.kept as usize, places.reduced as usize);
    let kept_axes = (&places.kept_sizes, &places.kept_strides, places.kept_rank);
    let reduced_axes = (&places.reduced_sizes, &places.reduced_strides, places.reduced_rank);
    let inner = |(_, strides, rank): (_, &[u64; 8], u64)| (rank as usize).checked_sub(1).map(|at| strides[at]);
    let by_columns = match (inner(kept_axes), inner(reduced_axes)) {
        (Some(kept), Some(reduced)) => kept < reduced && kept != 0,
        (kept, None) => kept.is_some(),
        _ => false,
    };
    if by_columns {
        // A thread has an accumulator for each result of its pack.
        let most = most.min((64 / partial.max(1)).max(1).next_power_of_two());
        let fits = holds_packs(most as u64, kept_axes, &places.reduced_strides) && kept.is_multiple_of(most);
        let pack = if fits { most } else { 1 };
        let packs = kept.div_ceil(pack);
        let across = packs.next_power_of_two().min(WARP);
        let (tiles, down) = (packs.div_ceil(across), BLOCK_THREADS / across);
        let least = reduced.div_ceil(down * IN_A_ROW);
        let chunks = reduced.div_ceil(down * PACKS).min(BLOCKS.div_ceil(tiles)).max(least).max(1);
        places.across = across as u64;
        places.chunk = reduced.div_ceil(chunks) as u64;
        places.chunks = reduced.div_ceil(places.chunk.max(1) as usize).max(1) as u64;
        return Division { form: Form::Columns, pack, blocks: tiles.saturating_mul(places.chunks as usize) };
    }
    let pack = if holds_packs(most as u64, reduced_axes, &places.kept_strides) { most } else { 1 };
    let packs = reduced.div_ceil(pack);
    // A warp per result if there are many, part of a warp if they are short.
    let across = (packs / 4).clamp(1, WARP);
    let across = if across.is_power_of_two() { across } else { across.next_power_of_two() / 2 };
    if packs <= 4 * WARP || (kept >= 4 * BLOCKS && packs <= WARP * IN_A_ROW / pack) {
        places.across = across as u64;
        return Division { form: Form::Lanes, pack, blocks: kept.saturating_mul(across).div_ceil(BLOCK_THREADS) };
    }
    let unit = BLOCK_THREADS * PACKS * pack;
    let chunks = reduced.div_ceil(unit).min(BLOCKS.div_ceil(kept)).max(1);
    places.chunk = reduced.div_ceil(chunks).next_multiple_of(pack) as u64;
    places.chunks = reduced.div_ceil(places.chunk as usize).max(1) as u64;
    let form = if places.chunks == 1 { Form::Block } else { Form::Chunks };
    Division { form, pack, blocks: kept.saturating_mul(places.chunks as usize) }
}

/// A reducer, with its text.
struct Steps<'a> {
    /// Which of its texts to use.
    form: u32,
    text: &'a dyn Fn() -> Record<RecordedReducer>,
    /// Its run-time values.
    given: Vec<f64>,
}

/// A reduction of elements, or of the accumulators of chunks. (The type names no reducer, so it is compiled once.)
struct Job<'a> {
    device: &'static CudaDevice,
    steps: Steps<'a>,
    key: TypeId,
    places: Places,
    /// Whether the second result is written, too.
    both: bool,
    elements: Elements<'a>,
    given: Vec<u8>,
}

impl Job<'_> {
    /// # Safety
    /// The elements match the places, and the results and accumulators have room for everything the form writes.
    unsafe fn launch(&self, how: &Division, from: &Arguments, to: &[u64], writes: Writes) -> Result<()> {
        let Division { form, pack, blocks } = *how;
        let is_line = self.places.reduced_rank <= 1;
        let class = [u64::from(self.steps.form), form as u64, pack.ilog2().into(), writes as u64, is_line.into()];
        let class = class.into_iter().fold(0, |class, part| class * 8 + part);
        let kernel = self.device.kernel(KernelKey::Type(self.key, class), &|| {
            let text = (self.steps.text)().map_err(|why| unreadable(OP, self.device, &why))?;
            let elements =
                if form == Form::Merge { "struct ci_elements;\n".to_owned() } else { (self.elements.text)()? };
            Ok(Source { name: "reduce".to_owned(), text: source(&text, &elements, (form, pack, writes), is_line) })
        })?;
        let mut arguments = Arguments::new();
        arguments.push_struct(from);
        to.iter().for_each(|&to| arguments.push(to));
        arguments.push(self.places);
        if !self.given.is_empty() {
            arguments.push_bytes(&self.given);
        }
        let grid = Grid::blocks(blocks.min(i32::MAX as usize) as u32, THREADS);
        // SAFETY: these are the parameters of the text; the caller's promise.
        unsafe { kernel.launch(OP, grid, &arguments) }
    }
}

/// What a kernel writes: results or accumulators.
#[derive(Clone, Copy, PartialEq)]
enum Writes {
    Results,
    Both,
    Accumulators,
}

/// A section of `reduce.cuh` for a reducer.
fn source(
    text: &RecordedReducer,
    elements: &str,
    (form, pack, writes): (Form, usize, Writes),
    is_line: bool,
) -> String {
    let (given, no_given) =
        if text.given.is_empty() { ("", "const R::given g = {};") } else { (", const R::given g", "") };
    let (result, write) = match writes {
        Writes::Results => ("R::out *out", "out[o] = R::finish(p, (ci_i64)w.reduced, g);"),
        Writes::Both => (
            "R::out *out, R::second_out *second",
            "{ const R::partial all = p; out[o] = R::finish(all, (ci_i64)w.reduced, g); second[o] = R::second(all, (ci_i64)w.reduced, g); }",
        ),
        Writes::Accumulators => ("R::partial *to", ""),
    };
    let chunk = if writes == Writes::Accumulators { "to[o * w.chunks + chunk] = p;" } else { write };
    let mut sections = TEXT.split("// ---\n");
    let (common, own) = (sections.next().unwrap_or_default(), sections.nth(form as usize).unwrap_or_default());
    // The merging kernel does not read elements.
    let common = if form == Form::Merge { common.split("// So many packs").next().unwrap_or_default() } else { common };
    let library = cuda::reducer(text);
    with_prelude(&format!(
        "{}{}{elements}#define CI_THREADS {THREADS}\n#define CI_PACK {pack}\n#define CI_LINE {}\n#define CI_MOMENTS {}\n#define CI_GIVEN {given}\n\
         #define CI_NO_GIVEN {no_given}\n#define CI_RESULT {result}\n#define CI_WRITE(o, p) {write}\n\
         #define CI_WRITE_CHUNK(o, chunk, p) {chunk}\n{BLOCK}{common}{own}",
        library,
        steps(text, &library),
        u8::from(is_line),
        u8::from(text.has_moments)
    ))
}

/// Longer steps are function calls: inlined repeatedly, they would take NVRTC minutes.
const LONG: usize = 5000;

/// The struct `R`.
fn steps(text: &RecordedReducer, library: &str) -> String {
    let name = &text.name;
    if library.len() <= LONG {
        return format!("typedef {name} R;\n");
    }
    format!(
        "struct ci_called : {name} {{\n  \
         static __device__ __noinline__ partial accumulate(const partial p, const element x, const ci_i64 i, const given g) \
         {{ return {name}::accumulate(p, x, i, g); }}\n  \
         static __device__ __noinline__ partial merge(const partial p, const partial q, const given g) \
         {{ return {name}::merge(p, q, g); }}\n}};\ntypedef ci_called R;\n"
    )
}

/// The layout of elements, and the axes to reduce over.
#[derive(Clone, Copy)]
struct Axes<'a> {
    sizes: &'a [usize],
    strides: &'a [usize],
    mask: u32,
}

/// Reduces over the axes of `mask`, to one or two results with these element sizes in bytes.
pub(super) fn reduce<A: Element, R: Reducer<A>, const N: usize>(
    device: &'static CudaDevice,
    reducer: R,
    a: &View<'_, CudaBuffer, A>,
    mask: u32,
    widths: [usize; N],
) -> Result<[CudaBuffer; N]> {
    let from = start::<A>(a.buffer, a.offset);
    let pack = (16 / size_of::<A>()).max(1);
    let elements = Elements {
        fields: Arguments::from([from]),
        text: &|| Ok(cuda::stored(A::DTYPE)),
        pack: if from.is_multiple_of((pack * size_of::<A>()).min(16) as u64) { pack } else { 1 },
    };
    let axes = Axes { sizes: a.sizes, strides: a.strides, mask };
    // SAFETY: what a view reaches is valid.
    unsafe { run::<A, R, N>(device, reducer, (TypeId::of::<(A, R)>(), elements), axes, widths) }
}

/// Reduces an expression over the axes of `mask` within one kernel; `None` if its operands are not laid out in the order of its elements.
///
/// # Safety
/// The expression was made for these sizes, and its leaves are on this device.
pub(super) unsafe fn reduce_expression<X: Expression<Elem: Element>, R: Reducer<X::Elem>>(
    device: &'static CudaDevice,
    reducer: R,
    x: &X,
    sizes: &[usize],
    mask: u32,
) -> Result<Option<CudaBuffer>> {
    let strides = strides::row_major(sizes);
    let described = describe::tree(Kernel::launched(), x);
    if described.counts() || !described.has_strides(sizes, &strides) {
        return Ok(None);
    }
    let refused = |why: Unreadable| unreadable(OP, device, &why);
    let (pack, is_aligned) = described.pack();
    let elements = Elements {
        fields: described.fields(),
        text: &|| cuda::computed(&describe::tree(Kernel::written(), x)).map_err(refused),
        pack: if is_aligned { pack } else { 1 },
    };
    let axes = Axes { sizes, strides: &strides, mask };
    // SAFETY: the caller's promise; all operands have these strides.
    let [result] = unsafe {
        run::<X::Elem, R, 1>(device, reducer, (TypeId::of::<(X, R)>(), elements), axes, [size_of::<R::Out>()])?
    };
    Ok(Some(result))
}

/// The kept and reduced axes, with the largest strides first if the order does not matter.
fn places(of: Axes<'_>, in_order: bool) -> Result<Places> {
    let axes = |reduced: bool| -> Vec<(usize, usize)> {
        let both = of.sizes.iter().copied().zip(of.strides.iter().copied()).enumerate();
        both.filter(|&(axis, _)| (of.mask >> axis & 1 == 1) == reduced).map(|(_, axis)| axis).collect()
    };
    let (kept_axes, mut reduced_axes) = (axes(false), axes(true));
    if !in_order {
        reduced_axes.sort_by_key(|&(_, stride)| core::cmp::Reverse(stride));
    }
    let sizes: Vec<usize> = kept_axes.iter().map(|&(size, _)| size).collect();
    let (kept, all) = (count(OP, &sizes)?, count(OP, of.sizes)?);
    let walked = |axes: &[(usize, usize)]| {
        let (sizes, strides): (Vec<usize>, Vec<usize>) = axes.iter().copied().unzip();
        merged(&sizes, [&strides], None)
    };
    let (kept_sizes, [kept_strides], kept_rank) = walked(&kept_axes);
    let (reduced_sizes, [reduced_strides], reduced_rank) = walked(&reduced_axes);
    Ok(Places {
        kept: kept as u64,
        reduced: all.checked_div(kept).unwrap_or(0) as u64,
        chunk: 0,
        chunks: 1,
        across: 1,
        kept_sizes,
        kept_strides,
        reduced_sizes,
        reduced_strides,
        kept_rank,
        reduced_rank,
    })
}

/// # Safety
/// There are elements at all positions of the axes.
unsafe fn run<A: Element, R: Reducer<A>, const N: usize>(
    device: &'static CudaDevice,
    reducer: R,
    (key, elements): (TypeId, Elements<'_>),
    of: Axes<'_>,
    widths: [usize; N],
) -> Result<[CudaBuffer; N]> {
    let places = places(of, R::HAS_POSITIONS)?;
    // SAFETY: the kernels write every result.
    let results = unsafe { uninitialised(device, places.kept as usize, widths)? };
    if places.kept == 0 {
        return Ok(results);
    }
    // (As on the host, where reductions with two results have no form for a single one.)
    let reducer = if places.kept == 1 && N == 1 { reducer.single() } else { reducer };
    let steps = Steps { form: reducer.form(), text: &|| reducer.text(), given: reducer.given() };
    // SAFETY: the caller's promise; there is room for each result.
    unsafe { run_steps(device, steps, (key, elements), (of.sizes, places), &results)? };
    Ok(results)
}

/// [`run`] by the reducer's text, to one or two existing results.
///
/// # Safety
/// As for [`run`]; there is room for all results.
unsafe fn run_steps(
    device: &'static CudaDevice,
    steps: Steps<'_>,
    (key, elements): (TypeId, Elements<'_>),
    (sizes, mut places): (&[usize], Places),
    results: &[CudaBuffer],
) -> Result<()> {
    let refused = |why| unreadable(OP, device, &why);
    let shape = known((key, steps.form), || (steps.text)().map(|text| Shape::of(&text))).map_err(refused)?;
    let division = divide(&mut places, elements.pack, shape.partial);
    let given = given_bytes(&shape.given, &steps.given);
    let job = Job { device, steps, key, places, both: results.len() == 2, elements, given };
    let writes = if job.both { Writes::Both } else { Writes::Results };
    let to: Vec<u64> = results.iter().map(CudaBuffer::address).collect();
    // SAFETY: the caller's promise; there is room for each accumulator.
    unsafe {
        if places.chunks == 1 {
            return job.launch(&division, &job.elements.fields, &to, writes);
        }
        let kept = places.kept as usize;
        let units = kept.checked_mul(places.chunks as usize);
        let units = units.ok_or_else(|| Error::TooLarge { op: OP, sizes: sizes.into() })?;
        let [partials] = uninitialised(device, units, [shape.partial])?;
        job.launch(&division, &job.elements.fields, &[partials.address()], Writes::Accumulators)?;
        let merge = Division { form: Form::Merge, pack: 1, blocks: kept };
        job.launch(&merge, &Arguments::from([partials.address()]), &to, writes)
    }
}

/// What a launch needs to know about a reducer's text.
#[derive(Clone)]
struct Shape {
    /// The bytes of an accumulator.
    partial: usize,
    given: Vec<Kind>,
}
impl Shape {
    fn of(text: &RecordedReducer) -> Shape {
        Shape { partial: text.partial_size(), given: text.given.clone() }
    }
}

/// The shape of a key's text, which is written once.
fn known(
    key: (TypeId, u32),
    make: impl FnOnce() -> core::result::Result<Shape, Unreadable>,
) -> core::result::Result<Shape, Unreadable> {
    static KNOWN: RwLock<BTreeMap<(TypeId, u32), Shape>> = RwLock::new(BTreeMap::new());
    if let Some(shape) = KNOWN.read().unwrap_or_else(PoisonError::into_inner).get(&key) {
        return Ok(shape.clone());
    }
    let shape = make()?;
    KNOWN.write().unwrap_or_else(PoisonError::into_inner).insert(key, shape.clone());
    Ok(shape)
}

/// Buffers of `len` elements of these widths.
///
/// # Safety
/// All elements will be written.
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
