//! Operations of `Dynamic` on elements whose dtype is known at run time only, too: copies, conversions, reductions and, in `table_loops`,
//! the loops of the tables, each compiled once for all dtypes.
//!
//! Elements are passed as [`ErasedView`] or [`ErasedViewMut`]; without data nothing is done.

use super::DynamicBuffer;
use super::dispatch::device_mismatch;
use super::on_gpu::{given, gpu};
use crate::cpu::erased::{self as loops, ErasedOperand};
use crate::cpu::read;
use crate::device::cuda::erased::Elements;
use crate::device::{AnyDevice, Backend, Dynamic};
use crate::dtype::width::of_width;
use crate::error::{Error, Result, collected, listed};
use crate::layout::strides::is_dense;
use crate::ops::kernel::Copying;
use crate::ops::record::erased::Given;
use crate::storage::{HostBuffer, View, ViewMut};

#[cfg(feature = "cuda")]
pub(crate) use super::reducing::Reducing;
pub(crate) use super::table_loops::{Loop, Operand, run, run_chained, run_few, run_into};
pub(crate) use crate::cpu::erased::{BesideElement, Cast, Compiled, Row, binary, cast, scalar, unary};
pub(crate) use crate::cpu::erased::{Chained, Term, adding_a_term, of_three};
#[cfg(not(feature = "cuda"))]
pub(crate) use crate::cpu::reduce::ReduceLoops as Reducing;
pub(crate) use crate::cpu::reduce::{FirstOnly, WithSecond};

/// Elements of `width` bytes of a buffer with sizes and strides: a `View` with its element type erased.
///
/// Invariant, guaranteed by the tensor it comes from: every element that sizes, strides and offset reach is inside the buffer.
#[derive(Clone, Copy)]
pub(crate) struct ErasedView<'a> {
    pub(crate) buffer: &'a DynamicBuffer,
    pub(crate) offset: usize,
    pub(crate) width: usize,
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [usize],
}

/// Writable elements of an unshared buffer. No two positions share an element; the invariant is that of [`ErasedView`].
pub(crate) struct ErasedViewMut<'a> {
    pub(crate) buffer: &'a mut DynamicBuffer,
    pub(crate) offset: usize,
    pub(crate) width: usize,
    pub(crate) sizes: &'a [usize],
    pub(crate) strides: &'a [usize],
}

impl<'a> ErasedView<'a> {
    /// The first element, on the host.
    pub(super) fn start(&self, buffer: &HostBuffer) -> *const u8 {
        buffer.start::<u8>().wrapping_add(self.offset * self.width)
    }

    /// The elements as a type of their width.
    fn elements<W>(self) -> View<'a, DynamicBuffer, W> {
        View::new(self.buffer, self.offset, self.sizes, self.strides)
    }

    /// The elements, on a GPU.
    pub(super) fn on_gpu(self, buffer: &'a crate::cuda::CudaBuffer) -> Elements<'a> {
        let ErasedView { offset, width, sizes, strides, .. } = self;
        Elements { buffer, offset, width, sizes, strides }
    }

    /// The bytes of the elements on the host; there are no gaps between them.
    fn host_bytes(&self, buffer: &'a HostBuffer) -> &'a [u8] {
        let len = self.sizes.iter().product::<usize>() * self.width;
        // SAFETY: elements without gaps take that many bytes, which the view reaches.
        unsafe { core::slice::from_raw_parts(self.start(buffer), len) }
    }

    /// A copy with these strides.
    ///
    /// # Panics
    /// If they leave gaps.
    pub(crate) fn copied(self, strides: &[usize]) -> Result<DynamicBuffer> {
        assert!(is_dense(self.sizes, strides), "a copy has no gaps");
        if self.buffer.is_recorded() {
            return of_width!(self.width, W => Dynamic::map1::<W, W>(Copying, self.elements(), strides));
        }
        match self.buffer.plain() {
            DynamicBuffer::Cpu(buffer) => {
                loops::copy(buffer, self.offset, self.width, self.sizes, [strides, self.strides])
                    .map(DynamicBuffer::Cpu)
            }
            DynamicBuffer::Cuda(buffer) => self.on_gpu(buffer).copied(strides).map(DynamicBuffer::Cuda),
            _ => Ok(DynamicBuffer::Meta),
        }
    }

    /// A copy with these strides, converted to elements of `width` bytes.
    ///
    /// # Safety
    /// The conversion is from the elements' dtype to one of that width; the strides leave no gaps.
    pub(crate) unsafe fn converted(self, cast: Cast, width: usize, strides: &[usize]) -> Result<DynamicBuffer> {
        let buffer = match self.buffer.plain() {
            DynamicBuffer::Cpu(buffer) => buffer,
            DynamicBuffer::Cuda(buffer) => {
                let chain = cast.chain();
                let to = chain.last().unwrap_or_else(|| unreachable!("a conversion leads to a dtype"));
                // SAFETY: the caller's promise.
                return unsafe { self.on_gpu(buffer).converted(chain, to, strides).map(DynamicBuffer::Cuda) };
            }
            _ => return Ok(DynamicBuffer::Meta),
        };
        let from = loops::place(buffer, self.offset, self.width, None);
        // SAFETY: the caller's promise; what a view reaches is valid.
        let result = unsafe {
            loops::fresh(self.sizes.iter().product(), width, |out| {
                let out = ErasedOperand { start: out, width, cast: None };
                loops::convert(cast, [out, from], self.sizes, [strides, self.strides]);
            })
        };
        result.map(DynamicBuffer::Cpu)
    }

    /// Copies to elements of another buffer.
    ///
    /// # Panics
    /// If sizes or width differ.
    pub(crate) fn copy_into(self, out: ErasedViewMut<'_>) -> Result<()> {
        assert_eq!((self.sizes, self.width), (out.sizes, out.width));
        if self.buffer.is_recorded() || out.buffer.is_recorded() {
            return of_width!(self.width, W => {
                let out = ViewMut::new(out.buffer, out.offset, out.sizes, out.strides);
                Dynamic::map1_into::<W, W>(Copying, self.elements(), out)
            });
        }
        match (out.buffer.plain_mut(), self.buffer.plain()) {
            (DynamicBuffer::Cpu(to), DynamicBuffer::Cpu(buffer)) => {
                let to = start_mut(to, out.offset * out.width);
                // SAFETY: the output is held exclusively, so the operand does not overlap it; what views reach is valid.
                unsafe { loops::copy_over(self.width, self.sizes, [out.strides, self.strides], to, self.start(buffer)) }
                Ok(())
            }
            (DynamicBuffer::Cuda(to), from) => match from.beside(to) {
                Some(buffer) => self.on_gpu(buffer).copy_into(to, out.offset, out.strides),
                None => {
                    let ErasedViewMut { offset, width, sizes, strides, .. } = out;
                    let given = given(to.device(), &self)?;
                    Elements { buffer: to, offset, width, sizes, strides }.filled(given)
                }
            },
            (DynamicBuffer::Meta, _) => Ok(()),
            (to, from) => Err(device_mismatch(to, from)),
        }
    }

    /// Reduces over the axes of `mask`: the functions' `N` results, row-major over the other axes.
    ///
    /// # Safety
    /// The functions are those of the elements' dtype.
    pub(crate) unsafe fn reduced<const N: usize>(
        self,
        functions: &dyn Reducing,
        mask: u32,
    ) -> Result<[DynamicBuffer; N]> {
        match self.buffer.plain() {
            DynamicBuffer::Cpu(buffer) => {
                // SAFETY: the caller's promise; what a view reaches is valid.
                let results: [HostBuffer; N] =
                    unsafe { crate::cpu::reduce::run(functions, self.start(buffer), self.sizes, self.strides, mask)? };
                Ok(results.map(DynamicBuffer::Cpu))
            }
            #[cfg(not(feature = "cuda"))]
            DynamicBuffer::Cuda(buffer) => match *buffer {},
            #[cfg(feature = "cuda")]
            DynamicBuffer::Cuda(buffer) => {
                let mut results = [const { DynamicBuffer::Meta }; N];
                // SAFETY: the caller's promise.
                unsafe { functions.reduced(self.on_gpu(buffer), mask, &mut results)? };
                Ok(results)
            }
            _ => Ok([const { DynamicBuffer::Meta }; N]),
        }
    }

    /// Copies to another device, with these strides, which leave no gaps.
    ///
    /// # Errors
    /// If there are no data.
    pub(crate) fn moved(self, device: AnyDevice, strides: &[usize]) -> Result<DynamicBuffer> {
        if self.buffer.is_recorded() {
            return Err(super::not_recorded("to_device"));
        }
        match (self.buffer.plain(), device) {
            (_, AnyDevice::META) => Ok(DynamicBuffer::Meta),
            (DynamicBuffer::Cpu(_) | DynamicBuffer::Cuda(_), _) if strides != self.strides => {
                let copy = self.copied(strides)?;
                ErasedView { buffer: &copy, offset: 0, strides, ..self }.moved(device, strides)
            }
            (DynamicBuffer::Cuda(buffer), AnyDevice::CPU) => self.on_gpu(buffer).downloaded().map(DynamicBuffer::Cpu),
            (DynamicBuffer::Cuda(buffer), _) => self.on_gpu(buffer).span_copied(gpu(device)?).map(DynamicBuffer::Cuda),
            (DynamicBuffer::Cpu(_), _) if device != AnyDevice::CPU && self.sizes.iter().all(|&size| size == 1) => {
                // A single element is filled in rather than uploaded, which would wait.
                let device = gpu(device)?;
                let Given::One(bytes) = given(device, &self)? else {
                    return Err(super::dispatch::device_mismatch_with(device.name(), self.buffer));
                };
                crate::device::cuda::erased::one(device, self.width, bytes).map(DynamicBuffer::Cuda)
            }
            (DynamicBuffer::Cpu(buffer), _) if device != AnyDevice::CPU => {
                crate::cuda::CudaBuffer::upload(gpu(device)?, self.host_bytes(buffer)).map(DynamicBuffer::Cuda)
            }
            (DynamicBuffer::Cpu(_), _) => self.copied(strides),
            (_, _) => Err(Error::NoData { op: "to_device" }),
        }
    }

    /// The bytes of contiguous elements; an error without data.
    pub(crate) fn bytes(self, op: &'static str) -> Result<Vec<u8>> {
        let buffer = match self.buffer.plain() {
            DynamicBuffer::Cpu(buffer) => buffer,
            DynamicBuffer::Cuda(buffer) => {
                let len = self.sizes.iter().product::<usize>() * self.width;
                // SAFETY: any bytes are valid numbers.
                return unsafe { buffer.elements::<u8>(if len == 0 { 0 } else { self.offset * self.width }, len) };
            }
            _ => return Err(Error::NoData { op }),
        };
        let len = self.sizes.iter().product::<usize>() * self.width;
        // SAFETY: the elements are contiguous, so the view reaches that many bytes.
        let bytes = unsafe { core::slice::from_raw_parts(self.start(buffer), len) };
        listed(bytes.iter().copied())
    }

    /// A copy with the same strides, for a view that reaches other elements than this one, if others may write those; `None` if storage can
    /// be shared. (`Backend::share_own` with the element type erased.)
    pub(crate) fn share_own(self) -> Result<Option<DynamicBuffer>> {
        if self.buffer.is_recorded() && Dynamic::is_fixed(self.buffer) {
            return Err(super::not_recorded("as_strided"));
        }
        match self.buffer.plain() {
            DynamicBuffer::Cpu(buffer) if buffer.has_others() => self.span_copied(buffer).map(Some),
            DynamicBuffer::Cuda(buffer) if buffer.is_fixed() => {
                self.on_gpu(buffer).span_copied(buffer.device()).map(|copy| Some(DynamicBuffer::Cuda(copy)))
            }
            _ => Ok(None),
        }
    }

    /// A copy of the elements with the same strides, if they are not aligned for every dtype.
    pub(crate) fn aligned(self) -> Result<Option<DynamicBuffer>> {
        match self.buffer.plain() {
            DynamicBuffer::Cpu(buffer) if !buffer.start::<u64>().is_aligned() => self.span_copied(buffer).map(Some),
            _ => Ok(None),
        }
    }

    fn span_copied(self, buffer: &HostBuffer) -> Result<DynamicBuffer> {
        read::copy_span_bytes(buffer, self.width, self.offset, self.sizes, self.strides).map(DynamicBuffer::Cpu)
    }
}

/// The byte at an offset of a buffer, for writing.
pub(super) fn start_mut(buffer: &mut HostBuffer, offset: usize) -> *mut u8 {
    let start = buffer.start_mut::<u8>().unwrap_or_else(|| unreachable!("what is written is not shared"));
    start.wrapping_add(offset)
}

/// Concatenates pieces of one width along an axis into a new buffer; without data if any piece is.
///
/// # Panics
/// If the sizes do not match the pieces, or the strides leave gaps.
pub(crate) fn join(
    pieces: &[ErasedView<'_>],
    axis: usize,
    sizes: &[usize],
    strides: &[usize],
) -> Result<DynamicBuffer> {
    let width = pieces[0].width;
    let fits = |piece: &ErasedView<'_>| {
        let same = |(at, (own, of))| at == axis || own == of;
        piece.width == width && piece.sizes.len() == sizes.len() && piece.sizes.iter().zip(sizes).enumerate().all(same)
    };
    let size = pieces.iter().map(|piece| piece.sizes[axis]).sum::<usize>();
    assert!(pieces.iter().all(fits) && size == sizes[axis] && is_dense(sizes, strides), "the pieces fill the result");
    if pieces.iter().any(|piece| piece.buffer.is_recorded()) {
        return of_width!(width, W => {
            let pieces = collected(pieces.iter().map(|piece| Ok(piece.elements())))?;
            Dynamic::join::<W>(&pieces, axis, sizes, strides)
        });
    }
    if let DynamicBuffer::Cuda(own) = pieces[0].buffer.plain() {
        let there = pieces.iter().map(|piece| match piece.buffer.beside(own) {
            Some(buffer) => Ok(piece.on_gpu(buffer)),
            None => Err(super::dispatch::device_mismatch_with(own.device().name(), piece.buffer)),
        });
        let pieces = there.collect::<Result<Vec<_>>>()?;
        return crate::device::cuda::erased::join(&pieces, axis, sizes, strides).map(DynamicBuffer::Cuda);
    }
    let mut starts = listed(pieces.iter().map(|_| core::ptr::null()))?;
    for (start, piece) in starts.iter_mut().zip(pieces) {
        match piece.buffer.plain() {
            DynamicBuffer::Cpu(buffer) => *start = piece.start(buffer),
            DynamicBuffer::Meta => return Ok(DynamicBuffer::Meta),
            other => return Err(device_mismatch(pieces[0].buffer, other)),
        }
    }
    // SAFETY: the pieces fill the result, each at its place; what a view reaches is valid.
    let result = unsafe {
        loops::fresh(sizes.iter().product(), width, |out| {
            let mut place = 0;
            for (piece, &from) in pieces.iter().zip(&starts) {
                let to = out.wrapping_add(place * strides[axis] * width);
                loops::copy_over(width, piece.sizes, [strides, piece.strides], to, from);
                place += piece.sizes[axis];
            }
        })
    };
    result.map(DynamicBuffer::Cpu)
}
