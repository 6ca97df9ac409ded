//! The register kernel of convolutions: a few pixels of a row by a strip of output channels, whose sums stay in registers over all
//! positions of the window and all channels.
//!
//! Each step loads the strip's weights once and broadcasts one number of each pixel. Uses vector instructions; used by `conv`.

use super::{stem, winograd};
use crate::cpu::simd::prefetch;
use core::any::TypeId;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

/// One call of a kernel: places and steps, in numbers.
pub(super) struct TileArgs<'a, T> {
    /// The first number of the first pixel's window.
    pub(super) x: *const T,
    /// From one pixel's window to the next one's.
    pub(super) step: usize,
    /// Where runs of contiguous numbers of a window begin.
    pub(super) runs: &'a [usize],
    /// How long each run is.
    pub(super) len: usize,
    /// The weights: a strip for each number of a window.
    pub(super) weights: *const T,
    /// What the first pixel's sums start from.
    pub(super) start: *const T,
    /// From there to what the next one's start from.
    pub(super) start_step: usize,
    /// The first pixel's place in the result.
    pub(super) out: *mut T,
    /// From one pixel's place to the next one's.
    pub(super) out_step: usize,
    /// How many sums of the strip are written.
    pub(super) columns: usize,
    /// Memory that is prefetched meanwhile, and how many bytes of it for each number of a window: the prefetches are spread over the
    /// tile, because many at once would stall its loads. (The memory need not be valid.)
    pub(super) ahead: *const T,
    pub(super) ahead_step: usize,
}

/// The kernels of an instruction set.
pub(super) struct Kernels<T: 'static> {
    /// Channels of a strip.
    pub(super) strip: usize,
    /// The numbers of pixels there are kernels for, descending; the last is 1.
    pub(super) pixels: &'static [usize],
    run: unsafe fn(usize, &TileArgs<'_, T>),
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
    /// Computes so many pixels, for which there is a kernel.
    ///
    /// # Safety
    /// For each pixel the runs lie inside initialised memory; there are as many strips of weights as runs have numbers together; there
    /// are `columns` numbers for each pixel's sums to start from; nobody else uses the `columns` places of each pixel of the result.
    #[inline]
    pub(super) unsafe fn run(self, pixels: usize, tile: &TileArgs<'_, T>) {
        // SAFETY: the caller's promise; the kernels are those of this machine.
        unsafe { (self.run)(pixels, tile) }
    }

    /// How a row of so many pixels is divided into tiles, at the least cost: the pixels of each.
    pub(super) fn tiles_of(self, row: usize) -> Vec<usize> {
        // Two operations for each pixel and a little for each tile; fewer than four pixels wait for their sums.
        let cost = |pixels: usize| 8 * pixels.max(4) + 1;
        // Most are the largest; how the rest is divided is looked for.
        let largest = self.pixels[0];
        let whole = (row / largest).saturating_sub(if row.is_multiple_of(largest) { 0 } else { 2 });
        let rest = row - whole * largest;
        // The cheapest way to compute so many pixels, by its last tile.
        let mut best = vec![(0, 0)];
        for count in 1..=rest {
            let ways = self.pixels.iter().filter(|&&pixels| pixels <= count);
            best.push(ways.map(|&pixels| (best[count - pixels].0 + cost(pixels), pixels)).min().unwrap_or((0, 1)));
        }
        let (mut tiles, mut left) = (vec![largest; whole], rest);
        while left > 0 {
            tiles.push(best[left].1);
            left -= best[left].1;
        }
        tiles.sort_unstable_by(|a, b| b.cmp(a));
        tiles
    }
}

/// Vectors of numbers.
///
/// # Safety
/// Its functions are called where the machine has the instructions.
pub(super) trait Lanes {
    type Number: Copy + Default + PartialEq + From<f32> + core::ops::Div<Output = Self::Number> + 'static;
    type Vector: Copy;
    /// Numbers of a vector.
    const LEN: usize;
    /// # Safety
    /// There are as many numbers.
    unsafe fn load(from: *const Self::Number) -> Self::Vector;
    /// # Safety
    /// There is room for as many.
    unsafe fn store(vector: Self::Vector, to: *mut Self::Number);
    /// One number in every lane.
    unsafe fn spread(number: Self::Number) -> Self::Vector;
    /// `a * b + sums`
    unsafe fn multiply_add(a: Self::Vector, b: Self::Vector, sums: Self::Vector) -> Self::Vector;
}

/// The numbers of a window that are unrolled, for up to so many pixels. Of more pixels a single number keeps the ports busy, and the
/// compiler, which reads ahead what it unrolls, would run out of registers.
const UNROLLED: usize = 4;
const UNROLLED_PIXELS: usize = 8;

/// Adds the products of so many numbers of each window from `at` on. Returns the weights that follow.
///
/// # Safety
/// As for [`Kernels::run`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
unsafe fn multiply<V: Lanes, const PIXELS: usize, const COUNT: usize>(
    sums: &mut [[V::Vector; 2]; PIXELS],
    at: *const V::Number,
    step: usize,
    weights: *const V::Number,
) -> *const V::Number {
    // SAFETY: the caller's promise.
    unsafe {
        for k in 0..COUNT {
            let strip = weights.add(2 * V::LEN * k);
            let strip = [V::load(strip), V::load(strip.add(V::LEN))];
            for pixel in 0..PIXELS {
                let x = V::spread(at.add(pixel * step + k).read());
                sums[pixel][0] = V::multiply_add(x, strip[0], sums[pixel][0]);
                sums[pixel][1] = V::multiply_add(x, strip[1], sums[pixel][1]);
            }
        }
        weights.add(2 * V::LEN * COUNT)
    }
}

/// Numbers of the longest strip.
const LONGEST: usize = 32;

/// Loads the first so many numbers of a strip; zeros are the others.
///
/// # Safety
/// They are there, and the machine has the instructions.
#[inline(always)]
unsafe fn load_strip<V: Lanes>(from: *const V::Number, count: usize) -> [V::Vector; 2] {
    // SAFETY: the caller's promise.
    unsafe {
        if count == 2 * V::LEN {
            return [V::load(from), V::load(from.add(V::LEN))];
        }
        let mut strip = [V::Number::default(); LONGEST];
        strip.as_mut_ptr().copy_from_nonoverlapping(from, count);
        [V::load(strip.as_ptr()), V::load(strip.as_ptr().add(V::LEN))]
    }
}

/// Stores the first so many numbers of a strip.
///
/// # Safety
/// There is room for them, and the machine has the instructions.
#[inline(always)]
pub(super) unsafe fn store_strip<V: Lanes>(vectors: [V::Vector; 2], to: *mut V::Number, count: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if count == 2 * V::LEN {
            V::store(vectors[0], to);
            V::store(vectors[1], to.add(V::LEN));
        } else {
            let mut strip = [V::Number::default(); LONGEST];
            V::store(vectors[0], strip.as_mut_ptr());
            V::store(vectors[1], strip.as_mut_ptr().add(V::LEN));
            to.copy_from_nonoverlapping(strip.as_ptr(), count);
        }
    }
}

/// # Safety
/// As for [`Kernels::run`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
unsafe fn tile<V: Lanes, const PIXELS: usize>(tile: &TileArgs<'_, V::Number>) {
    let &TileArgs { x, step, runs, len, mut weights, start, start_step, out, out_step, columns, mut ahead, ahead_step } =
        tile;
    const { assert!(2 * V::LEN <= LONGEST) }
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[V::spread(V::Number::default()); 2]; PIXELS];
        for pixel in 0..PIXELS {
            sums[pixel] = load_strip::<V>(start.add(pixel * start_step), columns);
        }
        for &run in runs {
            let mut at = x.add(run);
            if len == 1 {
                weights = multiply::<V, PIXELS, 1>(&mut sums, at, step, weights);
                continue;
            }
            let mut left = len;
            if PIXELS <= UNROLLED_PIXELS {
                for _ in 0..len / UNROLLED {
                    prefetch(ahead);
                    ahead = ahead.wrapping_byte_add(UNROLLED * ahead_step);
                    weights = multiply::<V, PIXELS, UNROLLED>(&mut sums, at, step, weights);
                    at = at.add(UNROLLED);
                }
                left = len % UNROLLED;
            }
            for _ in 0..left {
                prefetch(ahead);
                ahead = ahead.wrapping_byte_add(ahead_step);
                weights = multiply::<V, PIXELS, 1>(&mut sums, at, step, weights);
                at = at.add(1);
            }
        }
        for pixel in 0..PIXELS {
            let to = out.add(pixel * out_step);
            store_strip::<V>(sums[pixel], to, columns);
        }
    }
}

/// Writes the kernels of an instruction set: `Name: number * lanes as vector, "features", pixels; load, store, spread, multiply_add`.
macro_rules! kernels {
    ($($name:ident: $number:ty as $vector:ty [$lanes:literal], $(#[$features:meta])? [$($pixels:literal)*];
       |$from:ident| $load:expr; |$stored:ident, $to:ident| $store:expr; |$one:ident| $spread:expr; |$a:ident, $b:ident, $c:ident| $fma:expr;)*) => {$(
        struct $name;
        impl Lanes for $name {
            type Number = $number;
            type Vector = $vector;
            const LEN: usize = $lanes;
            #[inline(always)]
            unsafe fn load($from: *const $number) -> $vector {
                // SAFETY: the caller's promise.
                unsafe { $load }
            }
            #[inline(always)]
            unsafe fn store($stored: $vector, $to: *mut $number) {
                // SAFETY: the caller's promise.
                unsafe { $store }
            }
            #[inline(always)]
            #[allow(unused_unsafe, reason = "some vectors are arrays")]
            unsafe fn spread($one: $number) -> $vector {
                // SAFETY: the machine has the instruction, the caller says.
                unsafe { $spread }
            }
            #[inline(always)]
            #[allow(unused_unsafe, reason = "some vectors are arrays")]
            unsafe fn multiply_add($a: $vector, $b: $vector, $c: $vector) -> $vector {
                // SAFETY: as above.
                unsafe { $fma }
            }
        }
        impl $name {
            const KERNELS: Kernels<$number> = Kernels { strip: 2 * $lanes, pixels: &[$($pixels),*], run: Self::run, winograd: winograd::Transforms {
                    inputs: [Self::inputs::<1>, Self::inputs::<2>],
                    windows: [Self::windows::<1>, Self::windows::<2>],
                    results: [Self::results::<1>, Self::results::<2>],
                },
                stem: stem::Transforms { lines: Self::stem_lines, windows: Self::stem_windows, results: Self::stem_results } };
            $(#[$features])?
            unsafe fn run(pixels: usize, args: &TileArgs<'_, $number>) {
                match pixels {
                    // SAFETY: the caller's promise.
                    $($pixels => unsafe { tile::<$name, $pixels>(args) },)*
                    _ => unreachable!("a number of pixels without a kernel"),
                }
            }
            $(#[$features])?
            unsafe fn inputs<const STRIDE: usize>(args: &winograd::Inputs<'_, $number>) {
                // SAFETY: the caller's promise.
                unsafe { winograd::inputs::<$name, STRIDE>(args) }
            }
            $(#[$features])?
            unsafe fn windows<const STRIDE: usize>(args: &winograd::Windows<$number>) {
                // SAFETY: the caller's promise.
                unsafe { winograd::windows::<$name, STRIDE>(args) }
            }
            $(#[$features])?
            unsafe fn results<const STRIDE: usize>(args: &winograd::Results<'_, $number>) -> bool {
                // SAFETY: the caller's promise.
                unsafe { winograd::results::<$name, STRIDE>(args) }
            }
            $(#[$features])?
            unsafe fn stem_lines(args: &stem::Lines<$number>) {
                // SAFETY: the caller's promise.
                unsafe { stem::lines::<$name>(args) }
            }
            $(#[$features])?
            unsafe fn stem_windows(args: &stem::Windows<$number>) {
                // SAFETY: the caller's promise.
                unsafe { stem::windows::<$name>(args) }
            }
            $(#[$features])?
            unsafe fn stem_results(args: &stem::Results<$number>) -> bool {
                // SAFETY: the caller's promise.
                unsafe { stem::results::<$name>(args) }
            }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
kernels! {
    Avx512Single: f32 as __m512 [16], #[target_feature(enable = "avx512f,avx2,fma")] [14 12 10 8 7 6 4 3 2 1];
        |from| _mm512_loadu_ps(from); |v, to| _mm512_storeu_ps(to, v); |one| _mm512_set1_ps(one); |a, b, c| _mm512_fmadd_ps(a, b, c);
    Avx512Double: f64 as __m512d [8], #[target_feature(enable = "avx512f,avx2,fma")] [14 12 10 8 7 6 4 3 2 1];
        |from| _mm512_loadu_pd(from); |v, to| _mm512_storeu_pd(to, v); |one| _mm512_set1_pd(one); |a, b, c| _mm512_fmadd_pd(a, b, c);
    Avx2Single: f32 as __m256 [8], #[target_feature(enable = "avx2,fma")] [6 5 4 3 2 1];
        |from| _mm256_loadu_ps(from); |v, to| _mm256_storeu_ps(to, v); |one| _mm256_set1_ps(one); |a, b, c| _mm256_fmadd_ps(a, b, c);
    Avx2Double: f64 as __m256d [4], #[target_feature(enable = "avx2,fma")] [6 5 4 3 2 1];
        |from| _mm256_loadu_pd(from); |v, to| _mm256_storeu_pd(to, v); |one| _mm256_set1_pd(one); |a, b, c| _mm256_fmadd_pd(a, b, c);
}
kernels! {
    PlainSingle: f32 as [f32; 8] [8], [4 2 1];
        |from| from.cast::<[f32; 8]>().read_unaligned(); |v, to| to.cast::<[f32; 8]>().write_unaligned(v);
        |one| [one; 8]; |a, b, c| core::array::from_fn(|lane| a[lane] * b[lane] + c[lane]);
    PlainDouble: f64 as [f64; 4] [4], [4 2 1];
        |from| from.cast::<[f64; 4]>().read_unaligned(); |v, to| to.cast::<[f64; 4]>().write_unaligned(v);
        |one| [one; 4]; |a, b, c| core::array::from_fn(|lane| a[lane] * b[lane] + c[lane]);
}

/// The fastest kernels of this machine first, then the others that it has.
fn of_machine() -> (Vec<Kernels<f32>>, Vec<Kernels<f64>>) {
    let (mut single, mut double) = (vec![], vec![]);
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let narrow = std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma");
        if narrow && std::arch::is_x86_feature_detected!("avx512f") {
            single.push(Avx512Single::KERNELS);
            double.push(Avx512Double::KERNELS);
        }
        if narrow {
            single.push(Avx2Single::KERNELS);
            double.push(Avx2Double::KERNELS);
        }
    }
    single.push(PlainSingle::KERNELS);
    double.push(PlainDouble::KERNELS);
    (single, double)
}

/// All kernels that this machine has for a type of numbers, the fastest first; none but for `f32` and `f64`.
pub(super) fn kernels<T: 'static>() -> &'static [Kernels<T>] {
    static ALL: std::sync::OnceLock<(Vec<Kernels<f32>>, Vec<Kernels<f64>>)> = std::sync::OnceLock::new();
    let (single, double) = ALL.get_or_init(of_machine);
    if TypeId::of::<T>() == TypeId::of::<f32>() {
        // SAFETY: the two types are the same.
        return unsafe { core::mem::transmute::<&[Kernels<f32>], &[Kernels<T>]>(single) };
    }
    if TypeId::of::<T>() == TypeId::of::<f64>() {
        // SAFETY: the two types are the same.
        return unsafe { core::mem::transmute::<&[Kernels<f64>], &[Kernels<T>]>(double) };
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::{TileArgs, kernels};

    /// Whole numbers, so that sums are exact in any order.
    fn number(at: usize) -> f32 {
        ((at * 37 + 11) % 17) as f32 - 8.0
    }

    /// Every kernel of the machine, every number of pixels, whole strips and parts of one.
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
                        start: start.as_ptr(),
                        start_step: 0,
                        out: out.as_mut_ptr(),
                        out_step: columns + 1,
                        columns,
                        ahead: weights.as_ptr(),
                        ahead_step: 4,
                    };
                    // SAFETY: the lists are as long as the steps reach, and the last place is that of the last column.
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
