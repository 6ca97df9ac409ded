//! The register kernel of convolutions and of products of matrices: a few pixels of a row by a strip of output channels, whose sums stay
//! in registers over all positions of the window and all channels. (Of a product the pixels are rows, the channels columns.)
//!
//! Each step loads the strip's weights once and broadcasts one number of each pixel. Uses vector instructions; used by `conv` and
//! `float_gemm`.

use super::{stem, winograd};
use crate::cpu::simd::{prefetch, prefetch_row};
use core::any::TypeId;
#[cfg(target_arch = "x86_64")]
use core::arch::x86_64::*;

/// One call of a kernel: places and steps, in numbers.
pub(in crate::cpu) struct TileArgs<'a, T> {
    /// The first number of the first pixel's window.
    pub(in crate::cpu) x: *const T,
    /// From one pixel's window to the next one's.
    pub(in crate::cpu) step: usize,
    /// Where runs of contiguous numbers of a window begin.
    pub(in crate::cpu) runs: &'a [usize],
    /// How long each run is.
    pub(in crate::cpu) len: usize,
    /// The weights: a strip for each number of a window, and the numbers from one strip to the next.
    pub(in crate::cpu) weights: *const T,
    pub(in crate::cpu) weights_step: usize,
    /// What the first pixel's sums start from.
    pub(in crate::cpu) start: *const T,
    /// From there to what the next one's start from.
    pub(in crate::cpu) start_step: usize,
    /// The first pixel's place in the result.
    pub(in crate::cpu) out: *mut T,
    /// From one pixel's place to the next one's.
    pub(in crate::cpu) out_step: usize,
    /// How many sums of the strip are written, and how.
    pub(in crate::cpu) columns: usize,
    pub(in crate::cpu) finish: Finish<T>,
    /// Memory that is prefetched meanwhile, and how many bytes of it for each number of a window: the prefetches are spread over the
    /// tile, because many at once would stall its loads. (The memory need not be valid.)
    pub(in crate::cpu) ahead: *const T,
    pub(in crate::cpu) ahead_step: usize,
}

/// What becomes of sums.
#[derive(Clone, Copy)]
pub(in crate::cpu) enum Finish<T> {
    Store,
    /// They are multiplied by a factor.
    Scale(T),
    /// They are multiplied by a factor and added to what the result has.
    Add(T),
}

/// The kernels of an instruction set.
pub(in crate::cpu) struct Kernels<T: 'static> {
    /// Channels of a strip.
    pub(in crate::cpu) strip: usize,
    /// The numbers of pixels there are kernels for, descending; the last is 1.
    pub(in crate::cpu) pixels: &'static [usize],
    /// For each number of pixels the last of the tiles that they are divided into.
    last: &'static [usize; DIVIDED + 1],
    run: unsafe fn(usize, &TileArgs<'_, T>),
    /// From one packed pixel to the next.
    pub(in crate::cpu) packed: usize,
    run_packed: unsafe fn(usize, &TileArgs<'_, T>),
    run_packing: unsafe fn(&TileArgs<'_, T>, *mut T),
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
    pub(in crate::cpu) unsafe fn run(self, pixels: usize, tile: &TileArgs<'_, T>) {
        // SAFETY: the caller's promise; the kernels are those of this machine.
        unsafe { (self.run)(pixels, tile) }
    }

    /// Computes so many pixels that are packed: each has one run, whose strips of weights are side by side, and the next one is `packed`
    /// numbers further on. Their sums start from zero. (What the arguments say of these is not read.)
    ///
    /// # Safety
    /// As for [`run`](Self::run).
    #[inline]
    pub(in crate::cpu) unsafe fn run_packed(self, pixels: usize, tile: &TileArgs<'_, T>) {
        // SAFETY: the caller's promise; the kernels are those of this machine.
        unsafe { (self.run_packed)(pixels, tile) }
    }

    /// [`run_packed`](Self::run_packed) of as many pixels as there is a kernel for at most, with strips of weights that are where the
    /// arguments say, and are packed on the way: they are copied, one after another.
    ///
    /// # Safety
    /// As for [`run`](Self::run); there is room for the strips, which nobody else uses.
    #[inline]
    pub(in crate::cpu) unsafe fn run_packing(self, tile: &TileArgs<'_, T>, strips: *mut T) {
        // SAFETY: the caller's promise; the kernels are those of this machine.
        unsafe { (self.run_packing)(tile, strips) }
    }

    /// How a row of so many pixels is divided into tiles, at the least cost: the pixels of each.
    pub(in crate::cpu) fn tiles_of(self, row: usize) -> Vec<usize> {
        // Most are the largest; how the rest is divided is looked up.
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

/// Pixels that are divided at the least cost, at most: as many as three of the largest tiles have.
const DIVIDED: usize = 3 * 14;

/// For each number of pixels the last tile of the cheapest way to divide them into tiles of these sizes.
const fn last_tiles(sizes: &[usize]) -> [usize; DIVIDED + 1] {
    let (mut last, mut costs) = ([1; DIVIDED + 1], [0; DIVIDED + 1]);
    let mut count = 1;
    while count <= DIVIDED {
        costs[count] = usize::MAX;
        // (The smallest comes last, and wins where costs are equal.)
        let mut at = 0;
        while at < sizes.len() {
            let size = sizes[at];
            if size <= count {
                // Two operations for each pixel and a little for each tile; fewer than four pixels wait for their sums.
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

/// Vectors of numbers.
///
/// # Safety
/// Its functions are called where the machine has the instructions.
pub(super) trait Lanes {
    type Number: Copy + Default + PartialEq + From<f32> + core::ops::Div<Output = Self::Number> + 'static;
    type Vector: Copy;
    /// Numbers of a vector.
    const LEN: usize;
    /// From one packed pixel to the next: a constant of the code, and no two pixels of a tile are in the same set of the L1 cache.
    const PACKED: usize = packed_terms::<Self::Number>() + 64 / size_of::<Self::Number>();
    /// # Safety
    /// There are as many numbers.
    unsafe fn load(from: *const Self::Number) -> Self::Vector;
    /// # Safety
    /// There is room for as many.
    unsafe fn store(vector: Self::Vector, to: *mut Self::Number);
    /// The first so many numbers, up to [`LEN`](Self::LEN); zeros are the others.
    ///
    /// # Safety
    /// They are there.
    unsafe fn load_first(from: *const Self::Number, count: usize) -> Self::Vector;
    /// # Safety
    /// There is room for as many.
    unsafe fn store_first(vector: Self::Vector, to: *mut Self::Number, count: usize);
    /// One number in every lane.
    unsafe fn spread(number: Self::Number) -> Self::Vector;
    /// `a * b + sums`
    unsafe fn multiply_add(a: Self::Vector, b: Self::Vector, sums: Self::Vector) -> Self::Vector;
}

/// The numbers of a window that are unrolled, for up to so many pixels. Of more pixels a single number keeps the ports busy, and the
/// compiler, which reads ahead what it unrolls, would run out of registers.
const UNROLLED: usize = 4;
const UNROLLED_PIXELS: usize = 8;

/// The most numbers of a packed pixel.
pub(in crate::cpu) const fn packed_terms<T>() -> usize {
    if size_of::<T>() == 4 { 256 } else { 256 }
}

/// Numbers of the longest strip.
pub(in crate::cpu) const LONGEST: usize = 32;

/// Adds the products of so many numbers of each window from `at` on. Returns the weights that follow.
///
/// # Safety
/// As for [`Kernels::run`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
unsafe fn multiply<V: Lanes, const PIXELS: usize, const VECTORS: usize, const COUNT: usize>(
    sums: &mut [[V::Vector; VECTORS]; PIXELS],
    at: *const V::Number,
    step: usize,
    weights: *const V::Number,
    weights_step: usize,
) -> *const V::Number {
    // SAFETY: the caller's promise.
    unsafe {
        for k in 0..COUNT {
            let strip = weights.add(k * weights_step);
            let strip = load_strip::<V, VECTORS>(strip, VECTORS * V::LEN);
            for pixel in 0..PIXELS {
                let x = V::spread(at.add(pixel * step + k).read());
                for vector in 0..VECTORS {
                    sums[pixel][vector] = V::multiply_add(x, strip[vector], sums[pixel][vector]);
                }
            }
        }
        weights.add(COUNT * weights_step)
    }
}

/// Loads the first so many numbers of a strip; zeros are the others.
///
/// # Safety
/// They are there, and the machine has the instructions.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
unsafe fn load_strip<V: Lanes, const VECTORS: usize>(from: *const V::Number, count: usize) -> [V::Vector; VECTORS] {
    // SAFETY: the caller's promise.
    unsafe {
        let mut strip = [V::spread(V::Number::default()); VECTORS];
        for vector in 0..VECTORS {
            let (from, low) = (from.add(vector * V::LEN), vector * V::LEN);
            if count == VECTORS * V::LEN {
                strip[vector] = V::load(from);
            } else if low < count {
                strip[vector] = V::load_first(from, (count - low).min(V::LEN));
            }
        }
        strip
    }
}

/// Stores the first so many numbers of a strip.
///
/// # Safety
/// There is room for them, and the machine has the instructions.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
pub(super) unsafe fn store_strip<V: Lanes, const VECTORS: usize>(
    vectors: [V::Vector; VECTORS],
    to: *mut V::Number,
    count: usize,
) {
    // SAFETY: the caller's promise.
    unsafe {
        for vector in 0..VECTORS {
            let (to, low) = (to.add(vector * V::LEN), vector * V::LEN);
            if count == VECTORS * V::LEN {
                V::store(vectors[vector], to);
            } else if low < count {
                V::store_first(vectors[vector], to, (count - low).min(V::LEN));
            }
        }
    }
}

/// # Safety
/// As for [`Kernels::run`]; the columns are no more than the vectors have numbers.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
unsafe fn tile<V: Lanes, const PIXELS: usize, const VECTORS: usize>(tile: &TileArgs<'_, V::Number>) {
    let &TileArgs { x, step, runs, len, mut weights, weights_step, start, start_step, columns, .. } = tile;
    let TileArgs { mut ahead, ahead_step, .. } = *tile;
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[V::spread(V::Number::default()); VECTORS]; PIXELS];
        for pixel in 0..PIXELS {
            sums[pixel] = load_strip::<V, VECTORS>(start.add(pixel * start_step), columns);
        }
        for &run in runs {
            let mut at = x.add(run);
            if len == 1 {
                weights = multiply::<V, PIXELS, VECTORS, 1>(&mut sums, at, step, weights, weights_step);
                continue;
            }
            let mut left = len;
            if PIXELS <= UNROLLED_PIXELS {
                for _ in 0..len / UNROLLED {
                    prefetch(ahead);
                    ahead = ahead.wrapping_byte_add(UNROLLED * ahead_step);
                    weights = multiply::<V, PIXELS, VECTORS, UNROLLED>(&mut sums, at, step, weights, weights_step);
                    at = at.add(UNROLLED);
                }
                left = len % UNROLLED;
            }
            for _ in 0..left {
                prefetch(ahead);
                ahead = ahead.wrapping_byte_add(ahead_step);
                weights = multiply::<V, PIXELS, VECTORS, 1>(&mut sums, at, step, weights, weights_step);
                at = at.add(1);
            }
        }
        store_tile::<V, PIXELS, VECTORS>(sums, tile);
    }
}

/// [`tile`] of pixels that are packed, [`Lanes::PACKED`] numbers apart. If it packs, the strips of weights are where the arguments say,
/// and are copied to `strips` one after another; otherwise they are side by side.
///
/// # Safety
/// As for [`Kernels::run_packed`] and [`Kernels::run_packing`].
#[inline(always)]
unsafe fn packed_tile<V: Lanes, const PIXELS: usize, const PACKS: bool>(
    tile: &TileArgs<'_, V::Number>,
    mut strips: *mut V::Number,
) {
    let &TileArgs { x: mut at, len, mut weights, weights_step, mut ahead, ahead_step, out, out_step, .. } = tile;
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[V::spread(V::Number::default()); 2]; PIXELS];
        let mut left = len;
        if !PACKS {
            // Meanwhile the places of the result are prefetched: all at once would stall the loads.
            let first = len.min(PIXELS);
            for pixel in 0..first {
                prefetch_row(out.wrapping_add(pixel * out_step), 2 * V::LEN);
                weights = multiply::<V, PIXELS, 2, 1>(&mut sums, at, V::PACKED, weights, 2 * V::LEN);
                at = at.add(1);
            }
            left -= first;
        }
        let len = left;
        if PIXELS <= UNROLLED_PIXELS && !PACKS {
            for _ in 0..len / UNROLLED {
                prefetch(ahead);
                ahead = ahead.wrapping_byte_add(UNROLLED * ahead_step);
                weights = multiply::<V, PIXELS, 2, UNROLLED>(&mut sums, at, V::PACKED, weights, 2 * V::LEN);
                at = at.add(UNROLLED);
            }
            left = len % UNROLLED;
        }
        for _ in 0..left {
            if PACKS {
                // Rows are far apart, which the processor does not foresee.
                prefetch_row(weights.wrapping_add(AHEAD * weights_step), 2 * V::LEN);
                store_strip::<V, 2>(load_strip::<V, 2>(weights, 2 * V::LEN), strips, 2 * V::LEN);
                strips = strips.add(2 * V::LEN);
                weights = multiply::<V, PIXELS, 2, 1>(&mut sums, at, V::PACKED, weights, weights_step);
            } else {
                prefetch(ahead);
                ahead = ahead.wrapping_byte_add(ahead_step);
                weights = multiply::<V, PIXELS, 2, 1>(&mut sums, at, V::PACKED, weights, 2 * V::LEN);
            }
            at = at.add(1);
        }
        store_tile::<V, PIXELS, 2>(sums, tile);
    }
}

/// How many rows ahead are prefetched where they are packed.
const AHEAD: usize = 12;

/// Writes the sums of a tile.
///
/// # Safety
/// As for [`Kernels::run`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
unsafe fn store_tile<V: Lanes, const PIXELS: usize, const VECTORS: usize>(
    sums: [[V::Vector; VECTORS]; PIXELS],
    tile: &TileArgs<'_, V::Number>,
) {
    let &TileArgs { out, out_step, columns, finish, .. } = tile;
    // SAFETY: the caller's promise.
    unsafe {
        if columns != VECTORS * V::LEN {
            return store_part::<V, PIXELS, VECTORS>(sums, tile);
        }
        match finish {
            Finish::Store => {
                for pixel in 0..PIXELS {
                    for vector in 0..VECTORS {
                        V::store(sums[pixel][vector], out.add(pixel * out_step + vector * V::LEN));
                    }
                }
            }
            // (Added to this zero, a zero keeps its sign.)
            Finish::Scale(factor) => {
                let (factor, zero) = (V::spread(factor), V::spread(V::Number::from(-0.0)));
                for pixel in 0..PIXELS {
                    for vector in 0..VECTORS {
                        let to = out.add(pixel * out_step + vector * V::LEN);
                        V::store(V::multiply_add(factor, sums[pixel][vector], zero), to);
                    }
                }
            }
            Finish::Add(factor) => {
                let factor = V::spread(factor);
                for pixel in 0..PIXELS {
                    for vector in 0..VECTORS {
                        let to = out.add(pixel * out_step + vector * V::LEN);
                        V::store(V::multiply_add(factor, sums[pixel][vector], V::load(to)), to);
                    }
                }
            }
        }
    }
}

/// [`store_tile`] of a part of a strip.
///
/// # Safety
/// As there.
#[inline(always)]
unsafe fn store_part<V: Lanes, const PIXELS: usize, const VECTORS: usize>(
    sums: [[V::Vector; VECTORS]; PIXELS],
    tile: &TileArgs<'_, V::Number>,
) {
    let &TileArgs { out, out_step, columns, finish, .. } = tile;
    // SAFETY: the caller's promise.
    unsafe {
        for (pixel, &(mut sums)) in sums.iter().enumerate() {
            let to = out.add(pixel * out_step);
            for sum in &mut sums {
                *sum = match finish {
                    Finish::Scale(factor) => V::multiply_add(V::spread(factor), *sum, V::spread(V::Number::from(-0.0))),
                    _ => *sum,
                };
            }
            if let Finish::Add(factor) = finish {
                let there = load_strip::<V, VECTORS>(to, columns);
                for (sum, there) in sums.iter_mut().zip(there) {
                    *sum = V::multiply_add(V::spread(factor), *sum, there);
                }
            }
            store_strip::<V, VECTORS>(sums, to, columns);
        }
    }
}

/// The first so many lanes as the masks of AVX: of four bytes each, or eight.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn first_lanes<const WIDTH: usize>(count: usize) -> *const __m256i {
    static LANES: [i32; 16] = [-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0];
    LANES[8 - count.min(32 / WIDTH) * (WIDTH / 4)..].as_ptr().cast()
}

/// The first so many numbers, and zeros.
///
/// # Safety
/// They are there, and no more than `LEN`.
unsafe fn first<T: Copy + Default, const LEN: usize>(from: *const T, count: usize) -> [T; LEN] {
    let mut numbers = [T::default(); LEN];
    // SAFETY: the caller's promise.
    unsafe { numbers.as_mut_ptr().copy_from_nonoverlapping(from, count) }
    numbers
}

/// Writes the kernels of an instruction set: `Name: number as vector [lanes], features, [pixels]; load, store, load_first, store_first, spread,
/// multiply_add`.
macro_rules! kernels {
    ($($name:ident: $number:ty as $vector:ty [$lanes:literal], $(#[$features:meta])? [$($pixels:literal)*];
       |$from:ident| $load:expr; |$stored:ident, $to:ident| $store:expr;
       |$first:ident, $len:ident| $load_first:expr; |$last:ident, $there:ident, $count:ident| $store_first:expr; |$one:ident| $spread:expr; |$a:ident, $b:ident, $c:ident| $fma:expr;)*) => {$(
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
            unsafe fn load_first($first: *const $number, $len: usize) -> $vector {
                // SAFETY: the caller's promise.
                unsafe { $load_first }
            }
            #[inline(always)]
            unsafe fn store_first($last: $vector, $there: *mut $number, $count: usize) {
                // SAFETY: the caller's promise.
                unsafe { $store_first }
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
            const KERNELS: Kernels<$number> = Kernels { strip: 2 * $lanes, pixels: &[$($pixels),*], last: &const { last_tiles(&[$($pixels),*]) }, run: Self::run, packed: Self::PACKED, run_packed: Self::run_packed, run_packing: Self::run_packing, winograd: winograd::Transforms {
                    inputs: [Self::inputs::<1>, Self::inputs::<2>],
                    windows: [Self::windows::<1>, Self::windows::<2>],
                    results: [Self::results::<1>, Self::results::<2>],
                },
                stem: stem::Transforms { lines: Self::stem_lines, windows: Self::stem_windows, results: Self::stem_results } };
            $(#[$features])?
            unsafe fn run(pixels: usize, args: &TileArgs<'_, $number>) {
                match pixels {
                    // SAFETY: the caller's promise.
                    $($pixels if args.columns > $lanes => unsafe { tile::<$name, $pixels, 2>(args) },)*
                    // SAFETY: the caller's promise; one vector has all columns.
                    $($pixels => unsafe { tile::<$name, $pixels, 1>(args) },)*
                    _ => unreachable!("a number of pixels without a kernel"),
                }
            }
            $(#[$features])?
            unsafe fn run_packed(pixels: usize, args: &TileArgs<'_, $number>) {
                match pixels {
                    // SAFETY: the caller's promise.
                    $($pixels => unsafe { packed_tile::<$name, $pixels, false>(args, core::ptr::null_mut()) },)*
                    _ => unreachable!("a number of pixels without a kernel"),
                }
            }
            $(#[$features])?
            unsafe fn run_packing(args: &TileArgs<'_, $number>, strips: *mut $number) {
                // SAFETY: the caller's promise.
                unsafe { packed_tile::<$name, { [$($pixels),*][0] }, true>(args, strips) }
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
        |from| _mm512_loadu_ps(from); |v, to| _mm512_storeu_ps(to, v);
        |from, len| _mm512_maskz_loadu_ps(((1_u32 << len) - 1) as __mmask16, from);
        |v, to, len| _mm512_mask_storeu_ps(to, ((1_u32 << len) - 1) as __mmask16, v); |one| _mm512_set1_ps(one); |a, b, c| _mm512_fmadd_ps(a, b, c);
    Avx512Double: f64 as __m512d [8], #[target_feature(enable = "avx512f,avx2,fma")] [14 12 10 8 7 6 4 3 2 1];
        |from| _mm512_loadu_pd(from); |v, to| _mm512_storeu_pd(to, v);
        |from, len| _mm512_maskz_loadu_pd(((1_u32 << len) - 1) as __mmask8, from);
        |v, to, len| _mm512_mask_storeu_pd(to, ((1_u32 << len) - 1) as __mmask8, v); |one| _mm512_set1_pd(one); |a, b, c| _mm512_fmadd_pd(a, b, c);
    Avx2Single: f32 as __m256 [8], #[target_feature(enable = "avx2,fma")] [6 5 4 3 2 1];
        |from| _mm256_loadu_ps(from); |v, to| _mm256_storeu_ps(to, v);
        |from, len| _mm256_maskload_ps(from, _mm256_loadu_si256(first_lanes::<4>(len)));
        |v, to, len| _mm256_maskstore_ps(to, _mm256_loadu_si256(first_lanes::<4>(len)), v); |one| _mm256_set1_ps(one); |a, b, c| _mm256_fmadd_ps(a, b, c);
    Avx2Double: f64 as __m256d [4], #[target_feature(enable = "avx2,fma")] [6 5 4 3 2 1];
        |from| _mm256_loadu_pd(from); |v, to| _mm256_storeu_pd(to, v);
        |from, len| _mm256_maskload_pd(from, _mm256_loadu_si256(first_lanes::<8>(len)));
        |v, to, len| _mm256_maskstore_pd(to, _mm256_loadu_si256(first_lanes::<8>(len)), v); |one| _mm256_set1_pd(one); |a, b, c| _mm256_fmadd_pd(a, b, c);
}
kernels! {
    PlainSingle: f32 as [f32; 8] [8], [4 2 1];
        |from| from.cast::<[f32; 8]>().read_unaligned(); |v, to| to.cast::<[f32; 8]>().write_unaligned(v);
        |from, len| first(from, len); |v, to, len| to.copy_from_nonoverlapping(v.as_ptr(), len);
        |one| [one; 8]; |a, b, c| core::array::from_fn(|lane| a[lane] * b[lane] + c[lane]);
    PlainDouble: f64 as [f64; 4] [4], [4 2 1];
        |from| from.cast::<[f64; 4]>().read_unaligned(); |v, to| to.cast::<[f64; 4]>().write_unaligned(v);
        |from, len| first(from, len); |v, to, len| to.copy_from_nonoverlapping(v.as_ptr(), len);
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
pub(in crate::cpu) fn kernels<T: 'static>() -> &'static [Kernels<T>] {
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
    use super::{Finish, TileArgs, kernels};

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
