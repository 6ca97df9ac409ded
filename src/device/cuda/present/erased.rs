//! Operations on GPU elements whose dtype is known at run time only: copies, conversions, and the kernels of the tables.

use super::Cuda;
use super::elementwise::{Target, fresh, operand, run};
use super::memory::{fill, reach};
use crate::cuda::{CudaBuffer, CudaDevice};
use crate::device::Backend;
use crate::dtype::DType;
use crate::dtype::width::of_width;
use crate::error::Result;
use crate::ops::kernel::Copying;
use crate::ops::record::erased::{Chain, Converted, ErasedKernel, Given, converted};
use crate::ops::record::kernel::Operand;
use crate::storage::{HostBuffer, View, ViewMut};

/// Elements of `width` bytes in a buffer, with their type erased.
///
/// Invariant, guaranteed by the tensor it comes from: every element that sizes, strides and offset reach is inside the buffer.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a> {
    pub(crate) buffer: &'a CudaBuffer,
    pub(crate) offset: usize,
    pub(crate) width: usize,
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [usize],
}

impl<'a> Elements<'a> {
    /// As elements of a type of their width.
    pub(crate) fn view<W>(self) -> View<'a, CudaBuffer, W> {
        View::new(self.buffer, self.offset, self.sizes, self.strides)
    }

    /// As an operand to read.
    pub(crate) fn operand(self) -> Operand {
        operand(self.buffer.address().wrapping_add((self.offset * self.width) as u64), self.strides)
    }

    /// A copy with these strides, which leave no gaps.
    pub(crate) fn copied(self, strides: &[usize]) -> Result<CudaBuffer> {
        if *strides == *self.strides {
            return self.span_copied(self.buffer.device());
        }
        of_width!(self.width, W => Cuda::<0>::map1::<W, W>(Copying, self.view(), strides))
    }

    /// Copies the whole span of the view to a new buffer on a device, with the same strides.
    pub(crate) fn span_copied(self, device: &'static CudaDevice) -> Result<CudaBuffer> {
        let (at, bytes) = self.reach()?;
        self.buffer.copied(at, bytes, device)
    }

    /// Copies the whole span of the view to the host.
    pub(crate) fn downloaded(self) -> Result<HostBuffer> {
        let (at, bytes) = self.reach()?;
        // SAFETY: all bytes are written.
        unsafe { HostBuffer::filled_by::<u8>(bytes, |to| self.buffer.read(at, bytes, to)) }
    }

    fn reach(self) -> Result<(usize, usize)> {
        of_width!(self.width, W => reach::<W>("copy", &self.view()))
    }

    /// Copies to the elements of another buffer, which has the same sizes.
    pub(crate) fn copy_into(self, out: &mut CudaBuffer, offset: usize, strides: &[usize]) -> Result<()> {
        let sizes = self.sizes;
        of_width!(self.width, W => {
            Cuda::<0>::map1_into::<W, W>(Copying, self.view(), ViewMut::new(out, offset, sizes, strides))
        })
    }

    /// Fills with one element.
    pub(crate) fn filled(self, one: Given) -> Result<()> {
        of_width!(self.width, W => {
            let text = ErasedKernel::one::<Copying, W, W>();
            // SAFETY: the kernel is zero-sized; the element has this width, and the caller holds the destination exclusively.
            unsafe { Call { text, kernel: core::ptr::null(), result: None }.written(self, &[(Some(one), None)]) }
        })
    }

    /// A copy converted from the first dtype of a chain to its last, with strides that leave no gaps.
    ///
    /// # Safety
    /// The elements are of the first dtype.
    pub(crate) unsafe fn converted(self, chain: Chain, to: DType, strides: &[usize]) -> Result<CudaBuffer> {
        let device = self.buffer.device();
        // SAFETY: the caller's promise; what a view reaches is valid.
        unsafe { fresh(to, "to", device, (self.sizes, strides), &|to| converted(to, chain, self.operand())) }
    }
}

/// A buffer with one element of `width` bytes.
pub(crate) fn one(device: &'static CudaDevice, width: usize, bytes: [u8; 16]) -> Result<CudaBuffer> {
    of_width!(width, W => {
        // SAFETY: there are at least `width` bytes, and any bits are valid.
        fill(device, unsafe { bytes.as_ptr().cast::<W>().read_unaligned() }, 1)
    })
}

/// Concatenates pieces of one width along an axis into a new buffer with strides that leave no gaps.
pub(crate) fn join(pieces: &[Elements<'_>], axis: usize, sizes: &[usize], strides: &[usize]) -> Result<CudaBuffer> {
    of_width!(pieces.first().map_or(1, |piece| piece.width), W => {
        let views: Vec<View<'_, CudaBuffer, W>> = pieces.iter().map(|piece| piece.view()).collect();
        Cuda::<0>::join(&views, axis, sizes, strides)
    })
}

/// A kernel of the tables, and the conversion of its result.
#[derive(Clone, Copy)]
pub(crate) struct Call<const N: usize> {
    pub(crate) text: ErasedKernel<N>,
    pub(crate) kernel: *const (),
    pub(crate) result: Option<Chain>,
}

impl<const N: usize> Call<N> {
    fn gives(&self) -> DType {
        self.result.and_then(Chain::last).unwrap_or(self.text.gives())
    }

    /// Computes the result into a new buffer.
    ///
    /// # Safety
    /// Text, kernel and conversions match each other and the operands, which have elements at all positions of the sizes, on this device;
    /// the strides leave no gaps.
    pub(crate) unsafe fn fresh(
        &self,
        device: &'static CudaDevice,
        operands: &[Converted],
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<CudaBuffer> {
        // SAFETY: the caller's promise.
        unsafe {
            fresh(self.gives(), "elementwise", device, (sizes, strides), &|to| {
                self.text.described(to, self.kernel, operands, self.result)
            })
        }
    }

    /// Computes the result into existing elements; an operand `None` is the destination itself.
    ///
    /// # Safety
    /// As for [`fresh`](Self::fresh); the output is held exclusively, so that no other operand overlaps it.
    pub(crate) unsafe fn written(&self, out: Elements<'_>, operands: &[(Option<Given>, Option<Chain>)]) -> Result<()> {
        let to = out.operand();
        let in_place = operands.iter().any(|(given, _)| given.is_none());
        let all: Vec<Converted> = operands
            .iter()
            .map(|&(given, chain)| Converted { given: given.unwrap_or(Given::Elements(to)), chain })
            .collect();
        let target = Target { to, sizes: out.sizes, in_place };
        // SAFETY: the caller's promise.
        unsafe {
            run(self.gives(), "elementwise", out.buffer.device(), &target, &|to| {
                self.text.described(to, self.kernel, &all, self.result)
            })
        }
    }
}
