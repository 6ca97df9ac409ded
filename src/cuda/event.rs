//! Points of a device's stream, with the times at which it came there.

use super::bindings::cu;
use super::device::CudaDevice;
use crate::error::Result;
use core::ptr;
use std::sync::Mutex;

/// A point of the stream. Events are kept for later ones when it is dropped.
pub(crate) struct Event {
    device: &'static CudaDevice,
    event: cu::CUevent,
}

/// Events that nobody uses: the ordinal of the device and the address.
static UNUSED: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

impl Event {
    /// The point after all work that was given to the device.
    ///
    /// # Errors
    /// If the driver gives no event.
    pub(crate) fn recorded(device: &'static CudaDevice) -> Result<Event> {
        const OP: &str = "profile";
        super::recording::expect_off(OP, "times are taken when work runs")?;
        device.enter(OP)?;
        let kept = UNUSED.lock().ok().and_then(|mut unused| {
            let at = unused.iter().position(|(ordinal, _)| *ordinal == device.ordinal())?;
            Some(unused.swap_remove(at).1 as cu::CUevent)
        });
        let event = match kept {
            Some(event) => event,
            None => {
                let mut event = ptr::null_mut();
                // SAFETY: it writes the event.
                device.check(OP, unsafe { (device.driver.cuEventCreate)(&mut event, 0) })?;
                event
            }
        };
        let event = Event { device, event };
        // SAFETY: the event was made for this device.
        device.check(OP, unsafe { (device.driver.cuEventRecord)(event.event, device.stream()) })?;
        Ok(event)
    }

    /// Seconds from an earlier point of the same stream until this one, which is waited for.
    ///
    /// # Errors
    /// If the device was lost.
    pub(crate) fn since(&self, earlier: &Event) -> Result<f64> {
        const OP: &str = "profile";
        self.device.enter(OP)?;
        let mut milliseconds = 0.0_f32;
        // SAFETY: both events were made for this device and recorded; the second call writes a number.
        unsafe {
            self.device.check(OP, (self.device.driver.cuEventSynchronize)(self.event))?;
            let code = (self.device.driver.cuEventElapsedTime)(&mut milliseconds, earlier.event, self.event);
            self.device.check(OP, code)?;
        }
        Ok(f64::from(milliseconds) / 1e3)
    }

    /// The ordinal of its device.
    pub(crate) fn ordinal(&self) -> usize {
        self.device.ordinal()
    }
}
impl Drop for Event {
    fn drop(&mut self) {
        if let Ok(mut unused) = UNUSED.lock() {
            unused.push((self.device.ordinal(), self.event as usize));
        }
    }
}
