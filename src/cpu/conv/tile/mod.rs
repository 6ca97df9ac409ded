//! The register kernel of convolutions and matrix products: a few pixels of a row times a strip of output channels, whose sums stay in
//! registers over all window positions and channels. (In a matrix product, pixels are rows and channels are columns.)
//!
//! Each step loads the strip's weights once and broadcasts one number of each pixel.

pub(in crate::cpu) mod dots;
mod instructions;
mod sums;

use self::dots::Dots;
pub(super) use self::sums::{Lanes, store_strip};
use super::{stem, winograd};
use core::any::TypeId;

/// Length of the longest strip.
pub(in crate::cpu) const LONGEST: usize = 32;

/// Arguments of a kernel call: pointers, and strides in numbers.
pub(in crate::cpu) struct TileArgs<'a, T> {
    /// The first number of the first pixel's window.
    pub(in crate::cpu) x: *const T,
    /// Stride between the windows of adjacent pixels.
    pub(in crate::cpu) step: usize,
    /// Offsets of the contiguous runs of a window.
    pub(in crate::cpu) runs: &'a [usize],
    /// Length of each run.
    pub(in crate::cpu) len: usize,
    /// The weights: one strip per number of a window, and the stride between strips.
    pub(in crate::cpu) weights: *const T,
    pub(in crate::cpu) weights_step: usize,
    /// Initial values of the first pixel's sums.
    pub(in crate::cpu) start: *const T,
    /// Stride between the initial values of adjacent pixels.
    pub(in crate::cpu) start_step: usize,
    /// The first pixel's place in the result.
    pub(in crate::cpu) out: *mut T,
    /// Stride between pixels in the result.
    pub(in crate::cpu) out_step: usize,
    /// Number of the strip's sums that are written, and how.
    pub(in crate::cpu) columns: usize,
    pub(in crate::cpu) finish: Finish<T>,
    /// Memory to prefetch meanwhile, and bytes per number of a window: the prefetches are spread over the tile, because many at once would
    /// stall its loads. (The memory need not be valid.)
    pub(in crate::cpu) ahead: *const T,
    pub(in crate::cpu) ahead_step: usize,
}

/// How the sums are written.
#[derive(Clone, Copy)]
pub(in crate::cpu) enum Finish<T> {
    Store,
    /// Multiplied by a factor.
    Scale(T),
    /// Multiplied by a factor and added to the result's values.
    Add(T),
}

/// The kernels of an instruction set.
pub(in crate::cpu) struct Kernels<T: 'static> {
    /// Channels per strip.
    pub(in crate::cpu) strip: usize,
    /// The pixel counts that have kernels, descending; the last is 1.
    pub(in crate::cpu) pixels: &'static [usize],
    /// For each number of pixels, the last tile of its cheapest division.
    last: &'static [usize; DIVIDED + 1],
    run: unsafe fn(usize, &TileArgs<'_, T>),
    run_packed: unsafe fn(usize, &TileArgs<'_, T>),
    run_packing: unsafe fn(&TileArgs<'_, T>, *mut T),
    /// Of [`dots::TILE`] and of [`dots::LINE`].
    dots: [unsafe fn(&Dots<T>); 2],
    pub(super) winograd: winograd::Transforms<T>,
    pub(super) stem: stem::Transforms<T>,
}
impl<T> Clone for Kernels<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for Kernels<T> {}

impl<T> Kernels<T> {
    /// Computes a tile of `pixels` pixels, a count that has a kernel.
    ///
    /// # Safety
    /// Each pixel's runs are inside initialised memory; there is a strip of weights for each number of all runs; each pixel has `columns`
    /// initial values; no other thread accesses the `columns` places of each pixel of the result.
    #[inline]
    pub(in crate::cpu) unsafe fn run(self, pixels: usize, tile: &TileArgs<'_, T>) {
        // SAFETY: the caller's promise; the kernels are those of this machine.
        unsafe { (self.run)(pixels, tile) }
    }

    /// Computes `pixels` pixels of one run each, with contiguous strips of weights. The sums start from zero. (The arguments' strides of
    /// weights and initial values are ignored.)
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline]
    pub(in crate::cpu) unsafe fn run_packed(self, pixels: usize, tile: &TileArgs<'_, T>) {
        // SAFETY: the caller's promise; the kernels are those of this machine.
        unsafe { (self.run_packed)(pixels, tile) }
    }

    /// [`run_packed`](Self::run_packed) for the largest tile, reading strips of weights with the arguments' stride and copying them to
    /// adjacent places on the way.
    ///
    /// # Safety
    /// As for [`run`](Self::run); there is room for the strips, and no other thread uses it.
    #[inline]
    pub(in crate::cpu) unsafe fn run_packing(self, tile: &TileArgs<'_, T>, strips: *mut T) {
        // SAFETY: the caller's promise; the kernels are those of this machine.
        unsafe { (self.run_packing)(tile, strips) }
    }

    /// Computes a tile of dot products: [`dots::LINE`], or [`dots::TILE`].
    ///
    /// # Safety
    /// There are `len` initialised terms of each row and column; no other thread accesses their places of the result. Those that are added to
    /// are initialised.
    #[inline]
    pub(in crate::cpu) unsafe fn dots(self, is_line: bool, args: &Dots<T>) {
        // SAFETY: the caller's promise; the kernels are those of this machine.
        unsafe { (self.dots[usize::from(is_line)])(args) }
    }

    /// The cheapest division of a row of pixels into tiles, as pixels per tile.
    pub(in crate::cpu) fn tiles_of(self, row: usize) -> Vec<usize> {
        // Mostly the largest tile; the division of the rest is looked up.
        let largest = self.pixels[0];
        let whole = (row / largest).saturating_sub(if row.is_multiple_of(largest) { 0 } else { 2 });
        let mut left = row - whole * largest;
        let mut tiles = Vec::with_capacity(whole + 4);
        tiles.resize(whole, largest);
        while left > 0 {
            tiles.push(self.last[left]);
            left -= self.last[left];
        }
        tiles.sort_unstable_by(|a, b| b.cmp(a));
        tiles
    }
}

/// Maximum pixels whose division is looked up: three of the largest tiles.
const DIVIDED: usize = 3 * 14;

/// For each number of pixels, the last tile of the cheapest division into tiles of these sizes.
const fn last_tiles(sizes: &[usize]) -> [usize; DIVIDED + 1] {
    let (mut last, mut costs) = ([1; DIVIDED + 1], [0; DIVIDED + 1]);
    let mut count = 1;
    while count <= DIVIDED {
        costs[count] = usize::MAX;
        // (The smallest size comes last, and wins ties.)
        let mut at = 0;
        while at < sizes.len() {
            let size = sizes[at];
            if size <= count {
                // Two operations per pixel plus overhead per tile; fewer than four pixels stall on their sums.
                let cost = costs[count - size] + 8 * (if size < 4 { 4 } else { size }) + 1;
                if cost <= costs[count] {
                    (costs[count], last[count]) = (cost, size);
                }
            }
            at += 1;
        }
        count += 1;
    }
    last
}

/// Writes a function that returns this machine's kernels for a number type, fastest first.
macro_rules! of_machine {
    ($($(#[$attribute:meta])? $name:ident: $number:ty, $wide:ident $narrow:ident $plain:ident;)*) => {$(
        $(#[$attribute])?
        fn $name() -> &'static [Kernels<$number>] {
            static ALL: std::sync::OnceLock<Vec<Kernels<$number>>> = std::sync::OnceLock::new();
            ALL.get_or_init(|| {
                let mut all = vec![];
                #[cfg(all(target_arch = "x86_64", not(miri)))]
                {
                    let narrow = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
                    if narrow && std::arch::is_x86_feature_detected!("avx512f") {
                        all.push(instructions::$wide::KERNELS);
                    }
                    if narrow {
                        all.push(instructions::$narrow::KERNELS);
                    }
                }
                all.push(instructions::$plain::KERNELS);
                all
            })
        }
    )*};
}
of_machine! {
    single: f32, Avx512Single Avx2Single PlainSingle;
    // Few programs use `f64` products and convolutions; those compile the kernels themselves.
    #[cfg_attr(not(feature = "precompiled"), inline)]
    double: f64, Avx512Double Avx2Double PlainDouble;
}

/// All kernels that this machine has for a number type, fastest first; none except for `f32` and `f64`.
pub(in crate::cpu) fn kernels<T: 'static>() -> &'static [Kernels<T>] {
    // (Types of other sizes do not compile the kernels.)
    if const { size_of::<T>() == 4 } && TypeId::of::<T>() == TypeId::of::<f32>() {
        // SAFETY: the two types are the same.
        return unsafe { core::mem::transmute::<&[Kernels<f32>], &[Kernels<T>]>(single()) };
    }
    if const { size_of::<T>() == 8 } && TypeId::of::<T>() == TypeId::of::<f64>() {
        // SAFETY: the two types are the same.
        return unsafe { core::mem::transmute::<&[Kernels<f64>], &[Kernels<T>]>(double()) };
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::{Finish, TileArgs, kernels};

    /// Integers, so that sums are exact in any order.
    fn number(at: usize) -> f32 {
        ((at * 37 + 11) % 17) as f32 - 8.0
    }

    /// Every kernel of the machine, every pixel count, whole and partial strips.
    #[test]
    fn every_kernel_sums_the_products_of_its_windows() {
        for kernels in kernels::<f32>() {
            for &pixels in kernels.pixels {
                for (len, columns) in [(1, kernels.strip), (4, kernels.strip - 1), (7, 1), (9, kernels.strip)] {
                    let (step, runs) = (5, [0, 13, 40]);
                    let x: Vec<f32> = (0..(pixels - 1) * step + 40 + len).map(number).collect();
                    let weights: Vec<f32> = (0..3 * len * kernels.strip).map(|at| number(at + 5)).collect();
                    let start: Vec<f32> = (0..kernels.strip).map(number).collect();
                    let mut out = vec![99.0; pixels * (columns + 1)];
                    let args = TileArgs {
                        x: x.as_ptr(),
                        step,
                        runs: &runs,
                        len,
                        weights: weights.as_ptr(),
                        weights_step: kernels.strip,
                        start: start.as_ptr(),
                        start_step: 0,
                        out: out.as_mut_ptr(),
                        out_step: columns + 1,
                        columns,
                        finish: Finish::Store,
                        ahead: weights.as_ptr(),
                        ahead_step: 4,
                    };
                    // SAFETY: the lists are as long as the strides reach, and the last place is that of the last column.
                    unsafe { kernels.run(pixels, &args) };
                    for pixel in 0..pixels {
                        for column in 0..columns {
                            let terms = (0..3).flat_map(|run| (0..len).map(move |k| (run, k)));
                            let sum = terms.fold(start[column], |sum, (run, k)| {
                                sum + x[pixel * step + runs[run] + k]
                                    * weights[(run * len + k) * kernels.strip + column]
                            });
                            assert_eq!(out[pixel * (columns + 1) + column], sum, "{pixels} {len} {columns}");
                        }
                        assert_eq!(out[pixel * (columns + 1) + columns], 99.0);
                    }
                }
            }
        }
    }
}
