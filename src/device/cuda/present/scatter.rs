//! Scatter on a GPU. A thread writes the elements of a line along the axis, in the order of the indices; for few long lines, or if all
//! lines have the same indices, positions are sorted first, and a thread writes those of one place.

use super::elementwise::{Describe, operand_of, start, unreadable, written};
use super::index::{Form, Indexed, Words, is_outside, launch, out_of_range, outside, source};
use super::order;
use super::reduce::uninitialised;
use crate::cuda::compile::KernelKey;
use crate::cuda::launch::{Arguments, Grid};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::ops::arguments::Indexing;
use crate::ops::kernel::Map2;
use crate::ops::record::cuda::{self, c_type};
use crate::ops::record::kernel::Kernel;
use crate::ops::record::{Unreadable, describe};
use crate::storage::{View, ViewMut};
use core::any::TypeId;

/// Maximum indices per line for one thread per line.
const SHORT: u64 = 32;
/// Number of lines that keeps a GPU busy, if they are no longer than `LONG`.
const MANY: u64 = 1 << 16;
const LONG: u64 = 1 << 12;

/// A scatter whose indices are checked.
struct Scattered {
    lines: Indexed,
    words: Words,
    arguments: Arguments,
    form: Form,
    /// Keeps the buffers that the arguments point to.
    _sorted: Option<[CudaBuffer; 2]>,
}

impl Scattered {
    fn grid(&self) -> Grid {
        let each = if self.form == Form::Sorted { self.lines.len } else { 1 };
        Grid::over((self.lines.count * each) as usize)
    }
}

/// Checks the indices, and sorts them if that helps; `None` if there is nothing to write.
fn scattered<E: Element>(
    device: &'static CudaDevice,
    indexing: Indexing,
    index: &View<'_, CudaBuffer, i64>,
    b: &View<'_, CudaBuffer, E>,
    out: &ViewMut<'_, CudaBuffer, E>,
) -> Result<Option<Scattered>> {
    let Indexing { op, axis, .. } = indexing;
    let fits = |at: usize| index.sizes[at] <= b.sizes[at] && (at == axis || index.sizes[at] <= out.sizes[at]);
    assert!((0..index.sizes.len()).all(fits));
    let size = out.sizes[axis];
    let lines = Indexed::lines(indexing, index.sizes, [index.strides, b.strides, out.strides], size)?;
    if lines.count * lines.len == 0 {
        return Ok(None);
    }
    // If all lines have the same indices, only one line's are checked.
    let is_shared = lines.strides[0].iter().all(|&stride| stride == 0);
    let looked_at = if is_shared { Indexed { count: 1, rank: 0, ..lines } } else { lines };
    let is_long = lines.len > SHORT && (is_shared || lines.count < MANY || lines.len > LONG);
    let is_sorted = is_long && i32::try_from(size).is_ok() && u32::try_from(lines.len).is_ok();
    let words = Words::up_to(size_of::<E>(), lines.most());
    let (outside, indices) = (outside(device)?, start::<i64>(index.buffer, index.offset));
    let positions = (looked_at.count * looked_at.len) as usize;
    // SAFETY: the kernel writes every position unless an index is out of range; then nobody reads them.
    let [numbers] = unsafe { uninitialised(device, if is_sorted { positions } else { 0 }, [size_of::<i32>()])? };
    let mut arguments = Arguments::new();
    arguments.push(indices);
    arguments.push(numbers.address());
    arguments.push(outside.address());
    arguments.push(looked_at);
    // SAFETY: these are the parameters; what a view reaches is valid.
    unsafe { launch(op, device, (Form::Positions, words), Grid::over(positions), &arguments)? };
    if is_outside(&outside)? {
        return Err(out_of_range(indexing, index, size));
    }
    let (from, to) = (start::<E>(b.buffer, b.offset), start::<E>(out.buffer, out.offset));
    let mut arguments = Arguments::new();
    if !is_sorted {
        arguments.push(indices);
        arguments.push(from);
        arguments.push(to);
        arguments.push(lines);
        return Ok(Some(Scattered { lines, words, arguments, form: Form::Scatter, _sorted: None }));
    }
    let (sizes, strides) = ([looked_at.count as usize, lines.len as usize], [lines.len as usize, 1]);
    let view = View::<_, i32>::new(&numbers, 0, &sizes, &strides);
    let sorted = order::positions_in_order(device, &view, 1, size)?;
    sorted.iter().for_each(|sorted| arguments.push(sorted.address()));
    arguments.push(from);
    arguments.push(to);
    arguments.push(lines);
    arguments.push(u64::from(is_shared));
    Ok(Some(Scattered { lines, words, arguments, form: Form::Sorted, _sorted: Some(sorted) }))
}

/// `out[…, index, …] = b`; at equal indices, the last one along the axis wins.
pub(super) fn scatter<E: Element>(
    device: &'static CudaDevice,
    indexing: Indexing,
    index: &View<'_, CudaBuffer, i64>,
    b: &View<'_, CudaBuffer, E>,
    out: &ViewMut<'_, CudaBuffer, E>,
) -> Result<()> {
    let Some(job) = scattered(device, indexing, index, b, out)? else { return Ok(()) };
    // SAFETY: these are the parameters, all indices are in range, and the output is held exclusively; lines do not overlap.
    unsafe { launch(indexing.op, device, (job.form, job.words), job.grid(), &job.arguments) }
}

/// The key of `scatter_with`.
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
    let Some(job) = scattered(device, indexing, index, b, out)? else { return Ok(()) };
    let describe = |to: Kernel| describe::map2::<K, E, E, E>(to, kernel, [written(out), operand_of(b)]);
    // SAFETY: as in `scatter`.
    unsafe { combine(E::DTYPE, device, indexing.op, TypeId::of::<(Combined, K, E)>(), job, &describe) }
}

/// Launches a scatter with a described kernel.
///
/// # Safety
/// All indices are in range, and the operands are as in [`scatter_with`].
unsafe fn combine(
    dtype: DType,
    device: &'static CudaDevice,
    op: &'static str,
    key: TypeId,
    mut job: Scattered,
    describe: Describe<'_>,
) -> Result<()> {
    job.arguments.append(describe(Kernel::launched()).values());
    let class = 2 * job.form as u64 + u64::from(job.words.narrow);
    let compiled = device.kernel(KernelKey::Type(key, class), &|| {
        let refused = |why: Unreadable| unreadable(op, device, &why);
        let (function, types) = cuda::element(&describe(Kernel::written()), "combined").map_err(refused)?;
        let parameters: String = types.iter().enumerate().map(|(at, ty)| format!(", const {ty} s{at}")).collect();
        let values: String = (0..types.len()).map(|at| format!("s{at}, ")).collect();
        let words = format!(
            "{function}typedef {} word;\n#define CI_VALUES {parameters}\n\
             #define CI_COMBINED(old, given) combined_element(old, given, {values}(ci_i64)i)",
            c_type(dtype)
        );
        Ok(source(job.form, job.words.places(), &words))
    })?;
    // SAFETY: as in `scatter`; values are the last parameters.
    unsafe { compiled.launch(op, job.grid(), &job.arguments) }
}
