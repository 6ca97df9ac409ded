//! The loops of the tables on elements whose dtype is known at run time only: a loop, its operands, and the destination.

use super::DynamicBuffer;
use super::erased::{Cast, Compiled, ErasedView, ErasedViewMut, start_mut};
use super::on_gpu::{device_of, given, run_on};
use crate::cpu::erased::{self as loops, ErasedOperand};
use crate::device::cuda::erased::Elements;
use crate::error::Result;

/// A loop over `N` places, the first of which is written.
#[derive(Clone, Copy)]
pub(crate) struct Loop<const N: usize> {
    pub(crate) compiled: Compiled<N>,
    pub(crate) kernel: *const (),
    pub(crate) is_compute_bound: bool,
    /// The loop for runs with one constant operand.
    pub(crate) beside_element: Option<loops::BesideElement>,
}

/// An operand of a loop.
#[derive(Clone, Copy)]
pub(crate) struct Operand<'a> {
    /// The elements, with the sizes of the result; `None` for the destination itself.
    pub(crate) view: Option<ErasedView<'a>>,
    /// The conversion to the loop's operand dtype, if it differs.
    pub(crate) cast: Option<Cast>,
}

/// The places of a loop and their strides; `None` if an operand has no data.
fn places<'a, const N: usize>(
    out: ErasedOperand,
    strides: &'a [usize],
    operands: &[Operand<'a>],
) -> Option<([ErasedOperand; N], [&'a [usize]; N])> {
    let (mut places, mut all) = ([out; N], [strides; N]);
    debug_assert_eq!(operands.len() + 1, N);
    for (at, &Operand { view, cast }) in operands.iter().enumerate() {
        places[at + 1].cast = cast;
        if let Some(view) = view {
            let DynamicBuffer::Cpu(buffer) = view.buffer.plain() else { return None };
            places[at + 1] = loops::place(buffer, view.offset, view.width, cast);
            all[at + 1] = view.strides;
        }
    }
    Some((places, all))
}

/// Runs a loop over operands; the result, converted by `cast` if given, is a new buffer of elements of `width` bytes, without data if any
/// operand is. (The caller has checked that the operands are on one device.)
///
/// # Safety
/// Loop, kernel and conversions match each other and the dtypes of operands and result, operands have these sizes, and the strides leave no
/// gaps.
pub(crate) unsafe fn run<const N: usize>(
    call: Loop<N>,
    operands: &[Operand<'_>],
    (width, cast): (usize, Option<Cast>),
    sizes: &[usize],
    strides: &[usize],
) -> Result<DynamicBuffer> {
    if let Some(device) = device_of(operands) {
        // SAFETY: the caller's promise.
        return unsafe { run_on(device, call, operands, cast, sizes, strides) };
    }
    let nowhere = ErasedOperand { start: core::ptr::null_mut(), width, cast };
    let Some((mut places, all)) = places::<N>(nowhere, strides, operands) else { return Ok(DynamicBuffer::Meta) };
    let Loop { compiled: Compiled { inner, .. }, kernel, is_compute_bound, beside_element } = call;
    let ways = (beside_element, is_compute_bound);
    // SAFETY: the caller's promise; what a view reaches is valid.
    let result = unsafe {
        loops::fresh(sizes.iter().product(), width, |out| {
            places[0].start = out;
            loops::run(inner, kernel, places, sizes, all, ways);
        })
    };
    result.map(DynamicBuffer::Cpu)
}

/// [`run`] without a walk, for a few elements that are contiguous and of the loop's dtypes; `None` if there are many elements, or any is
/// not on the host.
///
/// # Safety
/// As for [`run`], and each operand has `len` contiguous elements from its first on.
pub(crate) unsafe fn run_few<const N: usize>(
    compiled: Compiled<N>,
    kernel: *const (),
    operands: &[ErasedView<'_>],
    (width, len): (usize, usize),
) -> Result<Option<DynamicBuffer>> {
    let mut places = [core::ptr::null_mut(); N];
    if len > loops::FEW {
        return Ok(None);
    }
    for (place, view) in places[1..].iter_mut().zip(operands) {
        let DynamicBuffer::Cpu(buffer) = view.buffer.plain() else { return Ok(None) };
        *place = view.start(buffer).cast_mut();
    }
    // SAFETY: the caller's promise; what a view reaches is valid.
    let result = unsafe {
        loops::fresh(len, width, |out| {
            places[0] = out;
            if len != 0 {
                (compiled.inner)(kernel, places, len);
            }
        })
    };
    result.map(|buffer| Some(DynamicBuffer::Cpu(buffer)))
}

/// Two loops in one pass, as an inner loop of the operands: see [`loops::Chained`]. The result is a new buffer; `None` if an operand is not
/// on the host.
///
/// # Safety
/// As for [`run`]; `inner` runs the loops of `chained`, whose operands and results have their width.
pub(crate) unsafe fn run_chained<const N: usize>(
    (inner, chained): (loops::Inner<N>, &loops::Chained),
    operands: &[Operand<'_>],
    (width, cast): (usize, Option<Cast>),
    sizes: &[usize],
    strides: &[usize],
) -> Result<Option<DynamicBuffer>> {
    let nowhere = ErasedOperand { start: core::ptr::null_mut(), width, cast };
    let Some((mut places, all)) = places::<N>(nowhere, strides, operands) else { return Ok(None) };
    let kernel = core::ptr::from_ref(chained).cast();
    // SAFETY: the caller's promise; what a view reaches is valid.
    let result = unsafe {
        loops::fresh(sizes.iter().product(), width, |out| {
            places[0].start = out;
            loops::run(inner, kernel, places, sizes, all, (None, false));
        })
    };
    result.map(|buffer| Some(DynamicBuffer::Cpu(buffer)))
}

/// [`run`] to existing elements; operands may be these.
///
/// # Safety
/// As for [`run`], except for the strides.
pub(crate) unsafe fn run_into<const N: usize>(
    call: Loop<N>,
    operands: &[Operand<'_>],
    cast: Option<Cast>,
    out: ErasedViewMut<'_>,
) -> Result<()> {
    let ErasedViewMut { buffer, offset, width, sizes, strides } = out;
    let buffer = match buffer.plain_mut() {
        DynamicBuffer::Cpu(buffer) => buffer,
        DynamicBuffer::Cuda(buffer) => {
            let device = buffer.device();
            let given = |operand: &Operand<'_>| {
                let view = operand.view.map(|view| given(device, &view)).transpose()?;
                Ok((view, operand.cast.map(|cast| cast.chain())))
            };
            let operands = operands.iter().map(given).collect::<Result<Vec<_>>>()?;
            let out = Elements { buffer, offset, width, sizes, strides };
            // SAFETY: the caller's promise; the output is held exclusively.
            return unsafe { call.on_gpu(cast).written(out, &operands) };
        }
        _ => return Ok(()),
    };
    let place = ErasedOperand { start: start_mut(buffer, offset * width), width, cast };
    let (places, all) = places::<N>(place, strides, operands)
        .ok_or_else(|| super::dispatch::device_mismatch_with("cpu".to_owned(), &DynamicBuffer::NO_DATA))?;
    let Loop { compiled: Compiled { inner, .. }, kernel, is_compute_bound, beside_element } = call;
    let ways = (beside_element, is_compute_bound);
    // SAFETY: the caller's promise; the output is held exclusively, so that no operand except itself overlaps it, and what views reach is
    // valid.
    unsafe { loops::run(inner, kernel, places, sizes, all, ways) }
    Ok(())
}
