//! Elementwise loops whose dtypes are known only at run time: the compiled tables' loops, with operands and results
//! converted in chunks where their dtypes differ, so that no loop is needed for each pair of dtypes.
//!
//! Uses inner loops, the engine and copying; used by `Dynamic`.

use super::compiled;
use super::copying;
use super::engine::run_into;
use super::kernel_body::KernelBody;
use crate::dtype::{CastTo, DType, Element};
use crate::error::Result;
use crate::ops::kernel::{Casting, Map2};
#[cfg(feature = "cuda")]
use crate::ops::text::erased::Chain;
use crate::storage::HostBuffer;

/// A loop of one operand, its types erased.
pub(crate) type Loop1 = Inner<2>;

/// Up to so many elements the fixed cost of each call matters more than threads or caches.
pub(crate) const FEW: usize = super::engine::SMALL;

pub(crate) use super::chained::{Chained, of_three};
pub(crate) use super::inner::Inner;
pub(crate) use compiled::BesideElement;
pub(crate) use compiled::tables::{Compiled, Row, binary, scalar, unary};

/// The loop that converts one dtype to another.
pub(crate) const fn cast<A: CastTo<O>, O: Element>() -> Loop1 {
    compiled::one::<Casting, A, O>()
}

/// The loop of a kernel of two operands that is no row of the tables.
pub(crate) const fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>() -> Compiled<3> {
    Compiled {
        inner: compiled::two::<K, A, B, O>(),
        #[cfg(feature = "cuda")]
        text: crate::ops::text::erased::ErasedText::two::<K, A, B, O>(),
    }
}

/// The most steps a conversion takes: three to the dtype that is rounded to, and three from there.
const STEPS: usize = 6;

/// A conversion of one or more steps.
#[derive(Clone, Copy)]
pub(crate) struct Cast {
    steps: [Option<Loop1>; STEPS],
    /// The bytes of the largest element before, between and after the steps.
    widest: usize,
    /// The dtypes, for a GPU, which converts in one step what the host does in two.
    #[cfg(feature = "cuda")]
    chain: Chain,
}

impl Cast {
    /// One step, from a dtype to another.
    pub(crate) fn one(step: Loop1, from: DType, to: DType) -> Self {
        Cast {
            steps: [Some(step), None, None, None, None, None],
            widest: from.itemsize().max(to.itemsize()),
            #[cfg(feature = "cuda")]
            chain: Chain::between(from, to),
        }
    }

    /// The dtypes of the elements.
    #[cfg(feature = "cuda")]
    pub(crate) fn chain(&self) -> Chain {
        self.chain
    }

    /// This conversion, which takes steps of no consequence, as one from a dtype to another.
    #[cfg_attr(not(feature = "cuda"), allow(unused_mut, unused_variables))]
    pub(crate) fn between(mut self, from: DType, to: DType) -> Self {
        #[cfg(feature = "cuda")]
        {
            self.chain = Chain::between(from, to);
        }
        self
    }

    fn len(&self) -> usize {
        self.steps.iter().flatten().count()
    }

    /// The bytes of the largest element before, between and after the steps.
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
        #[cfg(feature = "cuda")]
        {
            self.chain = self.chain.then(other.chain);
        }
        self
    }

    /// The last step, and those before it, if any.
    pub(crate) fn last(mut self) -> (Option<Cast>, Loop1) {
        let last = self.steps[self.len() - 1].take().unwrap_or_else(|| unreachable!("a conversion has a step"));
        ((self.len() > 0).then_some(self), last)
    }

    /// # Safety
    /// As for the loops: as many elements are valid at either place, and the buffer holds those between the steps.
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

/// One operand: its first element, the size of an element there, and the conversion to what the loop takes (for the
/// result: from what the loop gives).
#[derive(Clone, Copy)]
pub(crate) struct ErasedOperand {
    pub(crate) start: *mut u8,
    pub(crate) width: usize,
    /// `None` if the loop takes the elements as they are.
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
/// Kernel, loop, conversions and places belong together; what the strides reach is valid. Nobody else reads what is
/// written, except that an operand may alias the result exactly.
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
    // SAFETY: the caller's promise; the conversions are there until it returns.
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
    // SAFETY: the strides of a fresh result are dense; what a tensor reaches is valid.
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
