//! Launching a kernel: its grid follows from the number of elements.

use super::compile::Kernel;
use crate::error::Result;
pub use crate::ops::record::arguments::{Arguments, MOST_BYTES};
use core::ptr;

/// Maximum number of arguments of a launch.
const ARGUMENTS: usize = 128;
/// Default number of threads per block.
pub(crate) const THREADS: u32 = 256;

/// Number of blocks and of threads per block along x, y and z, and dynamic shared memory per block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Grid {
    pub(crate) blocks: [u32; 3],
    pub(crate) threads: [u32; 3],
    pub(crate) shared: u32,
}

impl Grid {
    /// One thread per element, up to the maximum grid; kernels loop over the rest.
    pub(crate) fn over(elements: usize) -> Self {
        // The maximum grid size along x.
        let blocks = elements.div_ceil(THREADS as usize).min(i32::MAX as usize);
        Grid::blocks(blocks as u32, THREADS)
    }

    /// A grid of this many blocks and threads per block.
    pub(crate) fn blocks(blocks: u32, threads: u32) -> Self {
        Grid { blocks: [blocks, 1, 1], threads: [threads, 1, 1], shared: 0 }
    }
}

impl Kernel {
    /// Starts a launch. An empty grid does nothing.
    ///
    /// # Safety
    /// The arguments match the kernel's parameters in number, size and alignment. What it reads and writes over this grid is memory of its
    /// device, alive when this returns; what it writes may be written.
    ///
    /// # Errors
    /// If the device was lost or rejects the launch. A fault of the kernel is reported by a later call, or here with
    /// `CASTIRON_CUDA_SYNC=1`.
    pub(crate) unsafe fn launch(&self, op: &'static str, grid: Grid, arguments: &Arguments) -> Result<()> {
        let Grid { blocks, threads, shared } = grid;
        if blocks.contains(&0) || threads.contains(&0) {
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
        // SAFETY: the caller's promise. The driver copies the arguments before it returns, and does not write them.
        let code = unsafe {
            (driver.cuLaunchKernel)(
                self.function,
                blocks[0],
                blocks[1],
                blocks[2],
                threads[0],
                threads[1],
                threads[2],
                shared,
                device.stream(),
                places.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        device.check(op, code)?;
        if device.waits() { device.wait(op) } else { Ok(()) }
    }
}
