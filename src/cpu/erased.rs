//! Elementwise loops whose dtypes are known only at run time: the compiled tables' loops, with operands and results
//! converted in chunks where their dtypes differ, so that no loop is needed for each pair of dtypes.
//!
//! Uses inner loops, the engine and copying; used by `Dynamic`.

use super::compiled;
use super::copying;
use super::engine::{Body, copy_nanoseconds, run_into, visit_tiles};
use super::inner::Inner;
use super::non_temporal::Staging;
use super::simd;
use super::walk::{Run, Walk, side};
use crate::dtype::{CastTo, DType, Element};
use crate::error::Result;
use crate::ops::kernel::Casting;
#[cfg(feature = "cuda")]
use crate::ops::text::erased::Chain;
use crate::storage::HostBuffer;

/// A loop of one operand, its types erased.
pub(crate) type Loop1 = Inner<2>;

pub(crate) use compiled::tables::{Compiled, Row, binary, scalar, unary};

/// The loop that converts one dtype to another.
pub(crate) const fn cast<A: CastTo<O>, O: Element>() -> Loop1 {
    compiled::one::<Casting, A, O>()
}

/// The most steps a conversion takes: two to the dtype that is rounded to, and two from there.
const STEPS: usize = 4;

/// A conversion of one or more steps.
#[derive(Clone, Copy)]
pub(crate) struct Cast {
    steps: [Option<Loop1>; STEPS],
    /// The dtypes, for a GPU, which converts in one step what the host does in two.
    #[cfg(feature = "cuda")]
    chain: Chain,
}

impl Cast {
    /// One step, from a dtype to another.
    #[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
    pub(crate) fn one(step: Loop1, from: DType, to: DType) -> Self {
        Cast {
            steps: [Some(step), None, None, None],
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

    /// This conversion, followed by another.
    pub(crate) fn then(mut self, other: Cast) -> Self {
        let len = self.len();
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
    unsafe fn run(&self, mut from: *mut u8, to: *mut u8, buffer: *mut u8, len: usize) {
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

#[derive(Clone, Copy)]
struct Converting<const N: usize> {
    inner: Inner<N>,
    kernel: *const (),
    places: [ErasedOperand; N],
    is_compute_bound: bool,
}

/// Elements of a chunk, for the largest elements.
const PIECE: usize = Staging::BYTES / 16;

impl<const N: usize> Body<N> for Converting<N> {
    fn nanoseconds(&self, len: usize) -> usize {
        if self.is_compute_bound {
            len
        } else {
            copy_nanoseconds(len, self.places.iter().map(|place| place.width).sum())
        }
    }

    #[inline(never)]
    unsafe fn run(self, run: Run<N>) {
        let at = |operand: usize, element: usize| {
            let ErasedOperand { start, width, .. } = self.places[operand];
            start.wrapping_add((run.starts[operand] + element * run.steps[operand]) * width)
        };
        if run.steps == [1; N] && self.places.iter().all(|place| place.cast.is_none()) {
            let apart = (1..N).all(|operand| at(operand, 0) != at(0, 0));
            if apart {
                // SAFETY: the caller's promise; whoever made it put kernel, loop and operands together.
                return unsafe { (self.inner)(self.kernel, core::array::from_fn(|operand| at(operand, 0)), run.len) };
            }
        }
        let mut gathered: [Staging; N] = core::array::from_fn(|_| Staging::new());
        let mut converted: [Staging; N] = core::array::from_fn(|_| Staging::new());
        let mut between = Staging::new();
        let gathered = gathered.each_mut().map(|buffer| buffer.start::<u8>());
        let converted = converted.each_mut().map(|buffer| buffer.start::<u8>());
        let between = between.start::<u8>();
        let mut low = 0;
        while low < run.len {
            let len = PIECE.min(run.len - low);
            // SAFETY: the caller's promise for these elements; buffers hold as many.
            unsafe {
                let mut given = converted;
                for operand in 1..N {
                    let ErasedOperand { width, cast, .. } = self.places[operand];
                    let mut from = at(operand, low);
                    if run.steps[operand] != 1 {
                        copying::copy_strided(width, len, (gathered[operand], 1), (from, run.steps[operand]));
                        from = gathered[operand];
                    }
                    given[operand] = match &cast {
                        None => from,
                        Some(cast) => {
                            cast.run(from, converted[operand], between, len);
                            converted[operand]
                        }
                    };
                }
                (self.inner)(self.kernel, given, len);
                let ErasedOperand { width, cast, .. } = self.places[0];
                let mut result = converted[0];
                if let Some(cast) = &cast {
                    cast.run(result, gathered[0], between, len);
                    result = gathered[0];
                }
                copying::copy_strided(width, len, (at(0, low), run.steps[0]), (result, 1));
            }
            low += len;
        }
    }

    fn side(&self) -> usize {
        side(self.places.iter().fold(0, |widest, place| widest.max(place.width)))
    }

    fn prefetch_line(&self, run: Run<N>) {
        for (operand, place) in self.places.iter().enumerate().skip(1) {
            if run.steps[operand] == 1 {
                let start = place.start.wrapping_add(run.starts[operand] * place.width);
                simd::prefetch_row(start.cast_const(), run.len * place.width);
            }
        }
    }

    unsafe fn single_loop(self, run: Run<N>, _: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.run(run) }
    }

    unsafe fn contiguous(self, len: usize) {
        // SAFETY: the caller's promise.
        unsafe { self.run(Run { starts: [0; N], len, steps: [1; N] }) }
    }

    #[inline(never)]
    unsafe fn whole_walk(self, walk: &Walk<N>, _: usize) {
        // SAFETY: the caller's promise.
        unsafe { visit_tiles(walk, self) }
    }
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
    is_compute_bound: bool,
) {
    if sizes.contains(&0) {
        return;
    }
    // SAFETY: the caller's promise.
    unsafe { run_into(sizes, strides, Converting { inner, kernel, places, is_compute_bound }) }
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
