//! Reductions of type-erased elements, on the host and on a GPU, as one trait object.

use super::DynamicBuffer;
use super::dispatch::Gpu;
use crate::cpu::reduce::{FirstOnly, ReduceLoops, WithSecond};
use crate::device::Backend;
use crate::device::cuda::erased::Elements;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops::reduce::{Reducer, TwoResults};

/// The host loops and the GPU kernels of a reduction.
pub(crate) trait Reducing: ReduceLoops {
    /// Reduces over the axes of `mask`, to all of its results.
    ///
    /// # Safety
    /// The elements are of the reduction's dtype.
    unsafe fn reduced(&self, a: Elements<'_>, mask: u32, results: &mut [DynamicBuffer]) -> Result<()>;
}

impl<A: Element, R: Reducer<A>> Reducing for FirstOnly<A, R> {
    unsafe fn reduced(&self, a: Elements<'_>, mask: u32, results: &mut [DynamicBuffer]) -> Result<()> {
        let result = Gpu::reduce::<A, R>(self.reducer(), a.view(), mask)?;
        results.iter_mut().zip([result]).for_each(|(to, result)| *to = DynamicBuffer::Cuda(result));
        Ok(())
    }
}

impl<A: Element, R: TwoResults<A>> Reducing for WithSecond<A, R> {
    unsafe fn reduced(&self, a: Elements<'_>, mask: u32, results: &mut [DynamicBuffer]) -> Result<()> {
        let both = Gpu::reduce_both::<A, R>(self.reducer(), a.view(), mask)?;
        results.iter_mut().zip(both).for_each(|(to, result)| *to = DynamicBuffer::Cuda(result));
        Ok(())
    }
}
