//! Launching a kernel: its grid from the number of elements.
//!
//! Uses `device`, `compile` and the arguments of `ops::text`; used by `device::Cuda`.

use super::compile::Kernel;
use crate::error::Result;
pub use crate::ops::text::arguments::{Arguments, MOST_BYTES};
use core::ptr;

/// How many arguments a launch may have.
const ARGUMENTS: usize = 128;
/// Threads of a block, where nothing else is said.
pub(crate) const THREADS: u32 = 256;

/// How many blocks of how many threads, and what memory each block has for itself beside what the kernel declares.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) blocks: u32,
    pub(crate) threads: u32,
    pub(crate) shared: u32,
}

impl Grid {
    /// A thread for each element, as far as a grid goes: a kernel steps over the rest.
    pub(crate) fn over(elements: usize) -> Self {
        // The most that a grid has along x.
        let blocks = elements.div_ceil(THREADS as usize).min(i32::MAX as usize);
        Grid { blocks: blocks as u32, threads: THREADS, shared: 0 }
    }

    /// So many blocks of so many threads.
    pub(crate) fn blocks(blocks: u32, threads: u32) -> Self {
        Grid { blocks, threads, shared: 0 }
    }
}

impl Kernel {
    /// Begins a launch. Over no elements there is nothing to do.
    ///
    /// # Safety
    /// The arguments are the kernel's parameters, of the same number, sizes and alignments. What it reads and writes over this grid is
    /// memory of its device, alive when this returns; what it writes may be written.
    ///
    /// # Errors
    /// If the device was lost or refuses the launch. A fault of the kernel shows in a later call, or here where
    /// `CASTIRON_CUDA_SYNC=1`.
    pub(crate) unsafe fn launch(&self, op: &'static str, grid: Grid, arguments: &Arguments) -> Result<()> {
        let Grid { blocks, threads, shared } = grid;
        if blocks == 0 || threads == 0 {
            return Ok(());
        }
        let device = self.device;
        if arguments.len() > ARGUMENTS || arguments.size() > MOST_BYTES {
            return Err(device.error(
                op,
                format!(
                    "a kernel takes at most {ARGUMENTS} arguments of {MOST_BYTES} bytes together, not {} of {}: split the expression",
                    arguments.len(),
                    arguments.size()
                ),
            ));
        }
        device.enter(op)?;
        let (driver, mut places) = (device.driver, arguments.pointers());
        // SAFETY: the caller's promise. The driver copies the arguments before it returns, and writes none of them.
        let code = unsafe {
            (driver.cuLaunchKernel)(
                self.function,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                shared,
                device.stream,
                places.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        device.check(op, code)?;
        if device.waits() { device.wait(op) } else { Ok(()) }
    }
}
