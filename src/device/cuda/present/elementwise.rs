//! Elementwise kernels on a GPU: a described kernel is compiled once per type and form, and launched over strided operands.

use crate::cuda::buffer::bytes_of;
use crate::cuda::compile::{KernelKey, Source};
use crate::cuda::launch::Grid;
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::dtype::{Castable, DType, Element};
use crate::error::{Error, Result};
use crate::ops::arguments::Sought;
use crate::ops::expression::Expression;
use crate::ops::kernel::Map1;
use crate::ops::record::Unreadable;
use crate::ops::record::cuda::{self, with_prelude};
use crate::ops::record::describe::{self, Described};
use crate::ops::record::kernel::{Kernel, Operand, Value};
use crate::ops::record::plan::{Form, Layout};
use crate::storage::{View, ViewMut};

/// The number of elements of a result, if it can be addressed.
pub(super) fn count(op: &'static str, sizes: &[usize]) -> Result<usize> {
    crate::shape::numel(sizes).ok_or_else(|| Error::TooLarge { op, sizes: sizes.into() })
}

/// Elements at an address.
pub(super) fn operand(address: u64, strides: &[usize]) -> Operand {
    let mut operand = Operand { address, strides: [0; 8] };
    operand.strides[..strides.len()].copy_from_slice(strides);
    operand
}

/// The address of the first element of a view.
pub(super) fn start<E: Element>(buffer: &CudaBuffer, offset: usize) -> u64 {
    buffer.address().wrapping_add((offset * size_of::<E>()) as u64)
}

/// A view as an operand to read.
pub(super) fn operand_of<E: Element>(view: &View<'_, CudaBuffer, E>) -> Operand {
    operand(start::<E>(view.buffer, view.offset), view.strides)
}

/// A view as the destination.
pub(super) fn written<E: Element>(out: &ViewMut<'_, CudaBuffer, E>) -> Operand {
    operand(start::<E>(out.buffer, out.offset), out.strides)
}

/// The error for a kernel that has no text.
pub(super) fn unreadable(op: &'static str, device: &CudaDevice, why: &Unreadable) -> Error {
    Error::CudaFailure { op, device: device.name(), reason: why.to_string() }
}

/// A number per form; below 16 bits for kernels with up to four operands, so that the key of conversions fits next to it.
fn class(form: Form) -> u64 {
    let layout = match form.layout {
        Layout::Packs => 0,
        Layout::Contiguous => 1,
        Layout::Strided32 => 2,
        Layout::Strided64 => 3,
        Layout::Rows { wide, broadcast } => 4 + u64::from(wide) + (u64::from(broadcast) << 3),
        // (The result is never transposed: its bit stores the edge.)
        Layout::Tiles { wide, turned, edge } => 6 + u64::from(wide) + ((u64::from(turned) | u64::from(edge > 32)) << 3),
    };
    layout * 2 + u64::from(form.in_place)
}

/// The destination of a kernel.
pub(super) struct Target<'a> {
    pub(super) to: Operand,
    pub(super) sizes: &'a [usize],
    /// Whether an operand is the result itself.
    pub(super) in_place: bool,
}

/// Describes a kernel: called for each launch, and once more if its text is not known yet. (A trait object, so that its callers are
/// compiled once.)
pub(super) type Describe<'a> = &'a dyn Fn(Kernel) -> Described;

/// Runs a described kernel over all elements of the target, with this dtype.
///
/// # Safety
/// The operands have elements at all positions of the target's sizes, on this device; the target may be written, and is not read except by
/// an operand that is exactly the target.
pub(super) unsafe fn run(
    dtype: DType,
    op: &'static str,
    device: &'static CudaDevice,
    target: &Target<'_>,
    describe: Describe<'_>,
) -> Result<()> {
    if count(op, target.sizes)? == 0 {
        return Ok(());
    }
    let described = describe(Kernel::launched());
    let plan = described.refined(dtype, described.plan(dtype, target.to, target.sizes, target.in_place));
    let refused = |why: Unreadable| unreadable(op, device, &why);
    let kernel =
        device.kernel(KernelKey::Type(described.key(), class(plan.form) + (described.around() << 16)), &|| {
            let text = cuda::source(&describe(Kernel::written()), "elementwise", plan.form).map_err(refused)?;
            Ok(Source { name: "elementwise".to_owned(), text: with_prelude(&text) })
        })?;
    let arguments = described.arguments(&plan).map_err(refused)?;
    // SAFETY: these are the parameters of the text, which reads and writes what the caller promises.
    unsafe { kernel.launch(op, Grid::over(plan.threads), &arguments) }
}

/// The result of a kernel as a new buffer with these sizes and strides, which leave no gaps.
///
/// # Safety
/// As for [`run`], with a new result.
pub(super) unsafe fn fresh(
    dtype: DType,
    op: &'static str,
    device: &'static CudaDevice,
    (sizes, strides): (&[usize], &[usize]),
    describe: Describe<'_>,
) -> Result<CudaBuffer> {
    let bytes = bytes_of(device, count(op, sizes)?, dtype.itemsize())?;
    // SAFETY: the kernel writes every element, because the strides leave no gaps.
    unsafe {
        let buffer = CudaBuffer::uninitialised(device, bytes)?;
        let target = Target { to: operand(buffer.address(), strides), sizes, in_place: false };
        run(dtype, op, device, &target, describe)?;
        Ok(buffer)
    }
}

/// `out = x`, over the elements of `out`.
///
/// # Safety
/// The expression was made for these sizes, its leaves are on this device, and it does not read `out`.
pub(super) unsafe fn evaluate_into<X: Expression<Elem: Element>>(
    device: &'static CudaDevice,
    x: &X,
    out: &ViewMut<'_, CudaBuffer, X::Elem>,
) -> Result<()> {
    let target = Target { to: written(out), sizes: out.sizes, in_place: false };
    // SAFETY: the caller's promise; what a view reaches is valid.
    unsafe { run(X::Elem::DTYPE, "evaluate", device, &target, &|to| describe::tree(to, x)) }
}

/// Whether an element matches.
#[derive(Clone, Copy)]
pub(super) struct Seeking(pub(super) Sought);
impl<E: Castable> Map1<E, bool> for Seeking {
    #[inline(always)]
    fn call(self, element: E) -> bool {
        self.0.is(element)
    }
    fn text(&self, kernel: &mut Kernel, element: Value) -> Value {
        self.0.text(kernel, element)
    }
}
