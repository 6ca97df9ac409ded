//! Large copies between the host and a GPU through a ring of pinned memory: several host threads copy one part while the GPU copies
//! another. (For memory that is not pinned, the driver does the same with a single thread.)

use super::bindings::cu;
use super::device::CudaDevice;
use crate::cpu::threads::{self, Shared};
use crate::error::Result;
use core::ffi::c_void;
use core::ptr;
use std::sync::{Mutex, PoisonError};

/// Minimum bytes for copies through the ring.
pub(super) const LARGE: usize = 1 << 20;
/// Number of parts in flight, and maximum bytes per part.
const SLOTS: usize = 4;
const PART: usize = 8 << 20;
/// Bytes per host thread.
const PIECE: usize = 256 << 10;

/// The ring of a device, allocated by the first large copy.
#[derive(Default)]
pub(super) struct Staging(Mutex<Ring>);

#[derive(Default)]
enum Ring {
    #[default]
    Unasked,
    Held([Slot; SLOTS]),
    /// There is no pinned memory: the driver copies directly.
    Refused,
}

/// Pinned memory, never freed, and the event after the last copy that used it.
#[derive(Clone, Copy)]
struct Slot {
    memory: *mut u8,
    event: cu::CUevent,
}

// SAFETY: memory and event are only used by the holder of the lock.
unsafe impl Send for Ring {}

impl Ring {
    /// The slots, if available.
    fn slots(&mut self, device: &CudaDevice) -> Option<[Slot; SLOTS]> {
        if let Ring::Unasked = self {
            *self = Slot::make(device).map_or(Ring::Refused, Ring::Held);
        }
        match self {
            Ring::Held(slots) => Some(*slots),
            _ => None,
        }
    }
}

impl Slot {
    /// Allocates all slots as parts of one block; `None` if the driver has no memory.
    fn make(device: &CudaDevice) -> Option<[Slot; SLOTS]> {
        let driver = device.driver;
        let mut memory = ptr::null_mut();
        let mut events = [ptr::null_mut(); SLOTS];
        // SAFETY: each call writes its first argument. Flags: none for the memory, which the host reads, too; events without timing.
        unsafe {
            for event in &mut events {
                if (driver.cuEventCreate)(event, cu::CUevent_flags::CU_EVENT_DISABLE_TIMING as u32) != 0 {
                    return None;
                }
            }
            if (driver.cuMemHostAlloc)(&mut memory, SLOTS * PART, 0) != 0 {
                return None;
            }
        }
        let mut at = 0;
        Some(events.map(|event| {
            at += 1;
            Slot { memory: memory.cast::<u8>().wrapping_add((at - 1) * PART), event }
        }))
    }

    /// Waits for all work that uses the memory.
    fn wait(&self, device: &CudaDevice, op: &'static str) -> Result<()> {
        // SAFETY: the event was created for this device. (An event that was never recorded counts as complete.)
        device.check(op, unsafe { (device.driver.cuEventSynchronize)(self.event) })
    }

    /// Marks the memory as in use until the stream reaches this point.
    fn mark(&self, device: &CudaDevice, op: &'static str) -> Result<()> {
        // SAFETY: as above.
        device.check(op, unsafe { (device.driver.cuEventRecord)(self.event, device.stream()) })
    }
}

/// Copies bytes with several threads.
///
/// # Safety
/// There are `bytes` bytes at both places, which do not overlap.
unsafe fn copy(from: *const u8, to: *mut u8, bytes: usize) {
    let both = Shared((from, to));
    threads::for_each(bytes.div_ceil(PIECE), &|piece| {
        let whole: Shared<_> = both;
        let (from, to) = whole.0;
        let at = piece * PIECE;
        // SAFETY: the caller's promise; the pieces are disjoint.
        unsafe { ptr::copy_nonoverlapping(from.add(at), to.add(at), PIECE.min(bytes - at)) }
    });
}

/// The offsets and lengths of the parts of a copy: at least as many as slots, so that copies overlap, and none longer than a slot.
fn parts(bytes: usize) -> impl Iterator<Item = (usize, usize)> + Clone {
    let part = bytes.div_ceil(SLOTS).next_multiple_of(4096).min(PART);
    (0..bytes).step_by(part).map(move |at| (at, part.min(bytes - at)))
}

impl Staging {
    /// Runs a copy with the ring; `false` if there is none.
    fn with(
        &self,
        device: &CudaDevice,
        op: &'static str,
        work: impl FnOnce(&[Slot; SLOTS]) -> Result<()>,
    ) -> Result<bool> {
        // (Pool threads that wait here delay nobody: `for_each` does not wait for helpers that have not started.)
        let mut ring = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(slots) = ring.slots(device) else { return Ok(false) };
        match work(&slots) {
            Ok(()) => Ok(true),
            Err(error) => {
                // Copies without an event after them may be pending.
                if device.wait(op).is_err() {
                    *ring = Ring::Refused;
                }
                Err(error)
            }
        }
    }

    /// Copies host bytes to an address; they have been read when this returns. `false` if nothing was done.
    ///
    /// # Safety
    /// There are that many bytes at both places; the device's context is current.
    pub(super) unsafe fn upload(&self, device: &CudaDevice, from: *const u8, to: u64, bytes: usize) -> Result<bool> {
        const OP: &str = "upload";
        self.with(device, OP, |slots| {
            for ((at, len), slot) in parts(bytes).zip(slots.iter().cycle()) {
                slot.wait(device, OP)?;
                // SAFETY: the caller's promise; nothing uses the slot any more.
                let code = unsafe {
                    copy(from.add(at), slot.memory, len);
                    (device.driver.cuMemcpyHtoDAsync_v2)(
                        to + at as u64,
                        slot.memory.cast::<c_void>(),
                        len,
                        device.stream(),
                    )
                };
                device.check(OP, code)?;
                slot.mark(device, OP)?;
            }
            Ok(())
        })
    }

    /// Copies bytes at an address to the host, and waits for them. `false` if nothing was done.
    ///
    /// # Safety
    /// As for [`upload`](Self::upload).
    pub(super) unsafe fn download(&self, device: &CudaDevice, from: u64, to: *mut u8, bytes: usize) -> Result<bool> {
        const OP: &str = "download";
        self.with(device, OP, |slots| {
            let begin = |((at, len), slot): ((usize, usize), &Slot)| {
                // (An upload may still be pending.)
                slot.wait(device, OP)?;
                let memory = slot.memory.cast::<c_void>();
                // SAFETY: the caller's promise; nothing uses the slot any more.
                let code =
                    unsafe { (device.driver.cuMemcpyDtoHAsync_v2)(memory, from + at as u64, len, device.stream()) };
                device.check(OP, code)?;
                slot.mark(device, OP)
            };
            let all = || parts(bytes).zip(slots.iter().cycle());
            all().take(SLOTS).try_for_each(begin)?;
            let mut later = all().skip(SLOTS);
            for ((at, len), slot) in all() {
                slot.wait(device, OP)?;
                // SAFETY: the caller's promise; the part has arrived.
                unsafe { copy(slot.memory, to.add(at), len) };
                // Starts the next part for this slot.
                later.next().map_or(Ok(()), begin)?;
            }
            Ok(())
        })
    }
}
