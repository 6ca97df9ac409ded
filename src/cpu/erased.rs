//! Elementwise loops whose dtypes are known only at run time: the compiled tables' loops, with operands and results
//! converted in chunks where their dtypes differ, so that no loop is needed for each pair of dtypes.

use super::compiled;
use super::copying;
use super::engine::run_into;
use super::kernel_body::KernelBody;
use crate::dtype::{CastTo, DType, Element};
use crate::error::Result;
use crate::ops::kernel::Casting;
use crate::ops::record::erased::Chain;
use crate::storage::HostBuffer;
use core::mem::MaybeUninit;

/// A type-erased loop of one operand.
pub(crate) type Loop1 = Inner<2>;

/// Up to this many elements, the fixed cost of a call matters more than threads or caches.
pub(crate) const FEW: usize = super::engine::SMALL;

pub(crate) use super::chained::{Chained, Term, adding_a_term, of_three};
pub(crate) use super::inner::Inner;
pub(crate) use compiled::BesideElement;
pub(crate) use compiled::tables::{Compiled, Row, binary, scalar, unary};

/// The loop that converts one dtype to another.
pub(crate) const fn cast<A: CastTo<O>, O: Element>() -> Loop1 {
    compiled::one::<Casting, A, O>()
}

/// The most steps a conversion takes: three to the dtype that is rounded to, and three from there.
const STEPS: usize = 6;

/// A conversion of one or more steps.
#[derive(Clone, Copy)]
pub(crate) struct Cast {
    steps: [Option<Loop1>; STEPS],
    /// Bytes of the largest element type before, between and after the steps.
    widest: usize,
    /// The dtypes of all steps, for GPUs, which convert in one step where the host takes two.
    chain: Chain,
}

impl Cast {
    /// One step, from a dtype to another.
    pub(crate) fn one(step: Loop1, from: DType, to: DType) -> Self {
        Cast {
            steps: [Some(step), None, None, None, None, None],
            widest: from.itemsize().max(to.itemsize()),
            chain: Chain::between(from, to),
        }
    }

    /// The dtypes of the elements.
    pub(crate) fn chain(&self) -> Chain {
        self.chain
    }

    /// This conversion as a single step between two dtypes, where the steps between do not change the result.
    pub(crate) fn between(mut self, from: DType, to: DType) -> Self {
        self.chain = Chain::between(from, to);
        self
    }

    fn len(&self) -> usize {
        self.steps.iter().flatten().count()
    }

    /// Bytes of the largest element type before, between and after the steps.
    pub(super) fn widest(&self) -> usize {
        self.widest
    }

    /// This conversion, followed by another.
    pub(crate) fn then(mut self, other: Cast) -> Self {
        let len = self.len();
        self.widest = self.widest.max(other.widest);
        for (at, step) in other.steps.iter().flatten().enumerate() {
            self.steps[len + at] = Some(*step);
        }
        self.chain = self.chain.then(other.chain);
        self
    }

    /// # Safety
    /// As for the loops: there are `len` elements at both places, and the buffer has room for `len` elements of any step.
    pub(super) unsafe fn run(&self, mut from: *mut u8, to: *mut u8, buffer: *mut u8, len: usize) {
        let mut left = self.len();
        for step in self.steps.iter().flatten() {
            // The two places alternate so that the last step writes to `to`.
            let place = if left % 2 == 1 { to } else { buffer };
            // SAFETY: the caller's promise; conversions ignore the kernel.
            unsafe { step(core::ptr::null(), [place, from], len) };
            (from, left) = (place, left - 1);
        }
    }
}

/// Bytes between two steps of a conversion, which stay in the cache.
const BETWEEN: usize = 8192;

/// A place for them.
#[repr(align(64))]
struct Between([MaybeUninit<u8>; BETWEEN]);

/// A conversion of several steps, as the kernel of a loop of one operand.
struct InSteps {
    cast: Cast,
    /// The bytes of an element of the result and of the operand.
    widths: [usize; 2],
}

/// # Safety
/// See [`Inner`]; the kernel is an [`InSteps`] of these elements, and the result does not overlap the operand.
unsafe fn in_steps(kernel: *const (), places: [*mut u8; 2], len: usize) {
    // SAFETY: the caller's promise.
    let InSteps { cast, widths } = unsafe { &*kernel.cast::<InSteps>() };
    let mut buffers = [const { Between([MaybeUninit::uninit(); BETWEEN]) }; 2];
    let (count, last, mut at) = (BETWEEN / cast.widest, cast.len() - 1, 0);
    while at < len {
        let count = count.min(len - at);
        // SAFETY: the caller's promise for this part; a buffer holds as many of the widest elements, and conversions ignore the kernel.
        unsafe {
            let mut from = places[1].add(at * widths[1]);
            for (step, inner) in cast.steps.iter().flatten().enumerate() {
                let to =
                    if step == last { places[0].add(at * widths[0]) } else { buffers[step % 2].0.as_mut_ptr().cast() };
                inner(core::ptr::null(), [to, from], count);
                from = to;
            }
        }
        at += count;
    }
}

/// Converts elements to a result that does not overlap them.
///
/// # Safety
/// As for [`run`], where neither place has a conversion of its own.
pub(crate) unsafe fn convert(cast: Cast, places: [ErasedOperand; 2], sizes: &[usize], strides: [&[usize]; 2]) {
    let kernel = InSteps { cast, widths: places.each_ref().map(|place| place.width) };
    let (inner, kernel) = match cast.steps {
        [Some(one), None, ..] => (one, core::ptr::null()),
        _ => (in_steps as Loop1, core::ptr::from_ref(&kernel).cast()),
    };
    // SAFETY: the caller's promise.
    unsafe { run(inner, kernel, places, sizes, strides, (None, false)) }
}

/// One operand: its first element, the element size in memory, and the conversion to the loop's operand type (for the result: from the
/// loop's result type).
#[derive(Clone, Copy)]
pub(crate) struct ErasedOperand {
    pub(crate) start: *mut u8,
    pub(crate) width: usize,
    /// `None` if the loop takes the elements unconverted.
    pub(crate) cast: Option<Cast>,
}

/// The operand at element `offset` of a buffer.
pub(crate) fn place(buffer: &HostBuffer, offset: usize, width: usize, cast: Option<Cast>) -> ErasedOperand {
    let start = buffer.start::<u8>().cast_mut().wrapping_add(offset * width);
    ErasedOperand { start, width, cast }
}

/// Runs a loop over operands broadcast to `sizes`, the first of which is written.
///
/// # Safety
/// Kernel, loop, conversions and places have matching types; everything the strides reach is valid. Nobody else reads what is written,
/// except that an operand may be exactly the result's memory.
pub(crate) unsafe fn run<const N: usize>(
    inner: Inner<N>,
    kernel: *const (),
    places: [ErasedOperand; N],
    sizes: &[usize],
    strides: [&[usize]; N],
    (beside_element, is_compute_bound): (Option<BesideElement>, bool),
) {
    if sizes.contains(&0) {
        return;
    }
    let casts = places.each_ref().map(|place| place.cast);
    // SAFETY: the caller's promise; the conversions live until it returns.
    unsafe {
        run_into(sizes, strides, KernelBody::erased(inner, kernel, &places, &casts, beside_element, is_compute_bound))
    }
}

/// A fresh buffer of `len` elements of `width` bytes.
///
/// # Safety
/// `fill` writes all of them.
pub(crate) unsafe fn fresh(len: usize, width: usize, fill: impl FnOnce(*mut u8)) -> Result<HostBuffer> {
    let bytes = len.checked_mul(width).ok_or(crate::Error::OutOfMemory { bytes: usize::MAX, device: "cpu" })?;
    // SAFETY: the caller's promise.
    unsafe {
        HostBuffer::filled_by::<u8>(bytes, |out| {
            fill(out);
            Ok(())
        })
    }
}

/// A copy of elements of `width` bytes, with these strides.
pub(crate) fn copy(
    buffer: &HostBuffer,
    offset: usize,
    width: usize,
    sizes: &[usize],
    strides: [&[usize]; 2],
) -> Result<HostBuffer> {
    let len = sizes.iter().product();
    // SAFETY: the strides of a new result are dense; a tensor's elements are valid.
    unsafe {
        fresh(len, width, |out| {
            let from = buffer.start::<u8>().wrapping_add(offset * width);
            copying::copy_fresh(width, len, sizes, strides, out, from);
        })
    }
}

/// Copies elements of `width` bytes into existing places.
///
/// # Safety
/// As for [`over`].
pub(crate) unsafe fn copy_over(width: usize, sizes: &[usize], strides: [&[usize]; 2], out: *mut u8, from: *const u8) {
    if !sizes.contains(&0) {
        // SAFETY: the caller's promise.
        unsafe { copying::copy_into(width, sizes, strides, out, from) }
    }
}
