//! `Launch`: the grid of a kernel.

/// How a kernel is launched: the blocks of its grid, the threads of a block, and shared memory whose size the launch decides
/// (`kernel<<<grid, block, shared>>>`).
///
/// ```
/// use castiron::gpu::Launch;
/// let elements = Launch::over(1_000_000);          // a thread for each, in blocks of 256
/// let tiles = Launch::new([32, 32], [16, 16]);      // blocks and threads along x and y
/// let sums = Launch::new(8, 1024).shared_memory(4096);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launch {
    pub(super) grid: [usize; 3],
    pub(super) block: [usize; 3],
    pub(super) shared: usize,
}

/// Threads of a block of [`Launch::over`].
const THREADS: usize = 256;
/// The limits that every CUDA device has.
const MOST_BLOCKS: [usize; 3] = [i32::MAX as usize, 65_535, 65_535];
const MOST_THREADS: [usize; 3] = [1024, 1024, 64];
const MOST_SHARED: usize = 48 << 10;

impl Launch {
    /// A thread for each of `count` elements, in blocks of 256, up to 2^31 - 1 blocks. The last block may have more threads
    /// than there are elements left.
    pub fn over(count: usize) -> Self {
        Launch { grid: [count.div_ceil(THREADS).min(MOST_BLOCKS[0]), 1, 1], block: [THREADS, 1, 1], shared: 0 }
    }

    /// A grid of blocks and a block of threads, each a number, or an array of the numbers along x, y and z. Without blocks nothing is
    /// launched.
    pub fn new(grid: impl Extent, block: impl Extent) -> Self {
        Launch { grid: grid.along_axes(), block: block.along_axes(), shared: 0 }
    }

    /// With this number of bytes of `extern __shared__` memory for each block.
    pub fn shared_memory(self, bytes: usize) -> Self {
        Launch { shared: bytes, ..self }
    }

    /// What is wrong with it.
    pub(super) fn mistake(&self) -> Option<String> {
        let Launch { grid, block, shared } = *self;
        let above = |of: [usize; 3], most: [usize; 3]| of.iter().zip(most).any(|(&of, most)| of > most);
        let threads = block.iter().try_fold(1_usize, |all, &threads| all.checked_mul(threads));
        if block.contains(&0) {
            return Some(format!("a block of {block:?} threads is empty"));
        }
        if above(block, MOST_THREADS) || threads.is_none_or(|threads| threads > MOST_THREADS[0]) {
            return Some(format!(
                "a block of {block:?} threads is too large: there are at most {MOST_THREADS:?}, and 1024 in all"
            ));
        }
        if above(grid, MOST_BLOCKS) {
            return Some(format!("a grid of {grid:?} blocks is too large: there are at most {MOST_BLOCKS:?}"));
        }
        (shared > MOST_SHARED)
            .then(|| format!("a block has at most {MOST_SHARED} bytes of shared memory, and {shared} are asked for"))
    }
}

mod sealed {
    pub trait Extent {}
}

/// Numbers of blocks, or of threads, along x, y and z: a number, or an array of two or three.
pub trait Extent: sealed::Extent {
    #[doc(hidden)]
    fn along_axes(self) -> [usize; 3];
}
impl sealed::Extent for usize {}
impl Extent for usize {
    fn along_axes(self) -> [usize; 3] {
        [self, 1, 1]
    }
}
impl sealed::Extent for [usize; 2] {}
impl Extent for [usize; 2] {
    fn along_axes(self) -> [usize; 3] {
        [self[0], self[1], 1]
    }
}
impl sealed::Extent for [usize; 3] {}
impl Extent for [usize; 3] {
    fn along_axes(self) -> [usize; 3] {
        self
    }
}
