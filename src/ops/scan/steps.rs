//! The steps of a scan, over numbers of any kind: what an element is, how two stretches of a lane are put together.
//!
//! Uses the numbers; used by the kernels of lanes and by `ops::text`.

use crate::dtype::Compute;
use crate::ops::reduce::Index;

/// The steps of a scan. Putting together is associative, save by rounding: stretches of a lane may be scanned side by side.
pub(crate) trait LaneSteps: Copy + Send + Sync + 'static {
    /// What is known of a stretch of a lane, which is also the result at its end.
    type Partial<C: Compute, I: Index>: Copy + Send + Sync;
    /// What stands before the first element; nothing if the first element is it.
    fn start<C: Compute, I: Index>(self) -> Option<Self::Partial<C, I>>;
    /// A stretch of one element.
    fn of<C: Compute, I: Index>(self, element: C, index: I) -> Self::Partial<C, I>;
    /// A stretch and the one behind it.
    fn merge<C: Compute, I: Index>(
        self,
        earlier: Self::Partial<C, I>,
        later: Self::Partial<C, I>,
    ) -> Self::Partial<C, I>;
}
