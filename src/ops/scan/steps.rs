//! The steps of a scan, generic over the number type: the value of an element, and how two adjacent segments of a lane are combined.

use crate::dtype::Compute;
use crate::ops::reduce::Index;

/// The steps of a scan. `merge` is associative up to rounding, so segments of a lane may be scanned in parallel.
pub(crate) trait LaneSteps: Copy + Send + Sync + 'static {
    /// The value of a segment of a lane, which is also the result at its end.
    type Partial<C: Compute, I: Index>: Copy + Send + Sync;
    /// The initial value, if there is one; else the first element is it.
    fn start<C: Compute, I: Index>(self) -> Option<Self::Partial<C, I>>;
    /// A segment of one element.
    fn of<C: Compute, I: Index>(self, element: C, index: I) -> Self::Partial<C, I>;
    /// Combines a segment with the one after it.
    fn merge<C: Compute, I: Index>(
        self,
        earlier: Self::Partial<C, I>,
        later: Self::Partial<C, I>,
    ) -> Self::Partial<C, I>;
    /// Whether the result at the end of a segment is what [`finish`](Self::finish) makes of its value.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "for kernels of GPUs"))]
    const FINISHES: bool = false;
    /// That result.
    #[cfg_attr(not(feature = "cuda"), allow(dead_code, reason = "likewise"))]
    fn finish<C: Compute, I: Index>(self, _value: Self::Partial<C, I>) -> C::Real {
        C::Real::default()
    }
}
