//! Points in time: of the host, or of a GPU's stream.

use crate::cuda::{CudaDevice, Event};
use std::time::Instant;

/// What measures the time of a call: the device where its operands are.
#[doc(hidden)]
#[derive(Clone, Copy)]
pub struct Clock(Of);

#[derive(Clone, Copy)]
enum Of {
    Host,
    Gpu(&'static CudaDevice),
}

/// A point in time.
pub(super) enum Mark {
    Host(Instant),
    Gpu(Event),
}

impl Clock {
    pub(crate) const HOST: Clock = Clock(Of::Host);

    pub(crate) fn gpu(device: &'static CudaDevice) -> Clock {
        Clock(Of::Gpu(device))
    }

    /// The ordinal of a GPU.
    pub(super) fn ordinal(self) -> Option<usize> {
        match self.0 {
            Of::Host => None,
            Of::Gpu(device) => Some(device.ordinal()),
        }
    }

    /// Now, or when the stream comes here.
    pub(super) fn mark(self) -> Mark {
        match self.0 {
            Of::Host => Mark::Host(Instant::now()),
            // Without an event the times are those of the host, which only begins work.
            Of::Gpu(device) => Event::recorded(device).map_or_else(|_| Mark::Host(Instant::now()), Mark::Gpu),
        }
    }
}

impl Mark {
    /// Seconds from another point in time of the same clock until this one; waits until it has come.
    pub(super) fn since(&self, earlier: &Mark) -> f64 {
        match (earlier, self) {
            (Mark::Host(start), Mark::Host(end)) => end.duration_since(*start).as_secs_f64(),
            (Mark::Gpu(start), Mark::Gpu(end)) => end.since(start).unwrap_or(0.0),
            _ => 0.0,
        }
    }
}
