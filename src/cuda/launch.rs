//! Launching a kernel: its arguments as bytes, its grid from the number of elements.
//!
//! Uses `device` and `compile`; used by `device::Cuda`.

use super::compile::Kernel;
use crate::error::Result;
use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::ptr;

/// Bytes of arguments that a launch may have: what every device takes.
const BYTES: usize = 4096;
/// How many arguments a launch may have.
const ARGUMENTS: usize = 128;
/// Threads of a block, where nothing else is said.
pub(crate) const THREADS: u32 = 256;

/// Arguments of a kernel, passed by value, in their order.
pub struct Arguments {
    bytes: Bytes,
    filled: usize,
    places: [u16; ARGUMENTS],
    len: usize,
}

#[repr(align(16))]
struct Bytes([MaybeUninit<u8>; BYTES]);

impl Default for Arguments {
    fn default() -> Self {
        Arguments { bytes: Bytes([MaybeUninit::uninit(); BYTES]), filled: 0, places: [0; ARGUMENTS], len: 0 }
    }
}

impl Arguments {
    /// None.
    pub fn new() -> Self {
        Self::default()
    }

    /// One more, laid out as the kernel's parameter is: a number, an address, or a struct of these.
    pub fn push<T: Copy + 'static>(&mut self, value: T) {
        const { assert!(align_of::<T>() <= 16) }
        // SAFETY: the value has so many bytes.
        unsafe { self.push_raw((&raw const value).cast(), size_of::<T>(), align_of::<T>()) }
    }

    /// One more, as bytes of a type with this alignment, a power of two up to 16.
    pub fn push_bytes(&mut self, bytes: &[u8], alignment: usize) {
        // SAFETY: so many bytes are there.
        unsafe { self.push_raw(bytes.as_ptr(), bytes.len(), alignment) }
    }

    /// # Safety
    /// `from` has so many bytes.
    unsafe fn push_raw(&mut self, from: *const u8, bytes: usize, alignment: usize) {
        debug_assert!(alignment.is_power_of_two() && alignment <= 16);
        let start = self.filled.next_multiple_of(alignment);
        // What does not fit is counted, and refused by the launch.
        if self.len < ARGUMENTS && start + bytes <= BYTES {
            // SAFETY: there is room for the bytes, and they are there.
            unsafe { ptr::copy_nonoverlapping(from, self.bytes.0.as_mut_ptr().add(start).cast(), bytes) }
            self.places[self.len] = start as u16;
        }
        self.filled = start.saturating_add(bytes);
        self.len += 1;
    }
}

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
        if arguments.len > ARGUMENTS || arguments.filled > BYTES {
            return Err(device.error(
                op,
                format!(
                    "a kernel takes at most {ARGUMENTS} arguments of {BYTES} bytes together, not {} of {}: split the expression",
                    arguments.len, arguments.filled
                ),
            ));
        }
        device.enter(op)?;
        let start = arguments.bytes.0.as_ptr().cast::<c_void>().cast_mut();
        let mut places = [ptr::null_mut(); ARGUMENTS];
        for (place, &at) in places.iter_mut().zip(&arguments.places[..arguments.len]) {
            *place = start.wrapping_byte_add(at as usize);
        }
        let (driver, places) = (device.driver, places.as_mut_ptr());
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
                places,
                ptr::null_mut(),
            )
        };
        device.check(op, code)?;
        if device.waits() { device.wait(op) } else { Ok(()) }
    }
}
