//! A tile's sums in vector registers, generic over the vector type.

use super::{Finish, LONGEST, TileArgs};
use crate::cpu::simd::{prefetch, prefetch_row};

/// Vectors of numbers.
///
/// # Safety
/// Its functions are only called if the machine has the instructions.
pub(in crate::cpu::conv) trait Lanes {
    type Number: Copy
        + Default
        + PartialEq
        + From<f32>
        + core::ops::Add<Output = Self::Number>
        + core::ops::Div<Output = Self::Number>
        + 'static;
    type Vector: Copy;
    /// Numbers per vector.
    const LEN: usize;
    /// # Safety
    /// There are [`LEN`](Self::LEN) numbers.
    unsafe fn load(from: *const Self::Number) -> Self::Vector;
    /// # Safety
    /// There is room for [`LEN`](Self::LEN) numbers.
    unsafe fn store(vector: Self::Vector, to: *mut Self::Number);
    /// The first `count` numbers, up to [`LEN`](Self::LEN); the other lanes are zero.
    ///
    /// # Safety
    /// There are `count` numbers.
    unsafe fn load_first(from: *const Self::Number, count: usize) -> Self::Vector;
    /// # Safety
    /// There is room for `count` numbers.
    unsafe fn store_first(vector: Self::Vector, to: *mut Self::Number, count: usize);
    /// Broadcasts a number to every lane.
    unsafe fn spread(number: Self::Number) -> Self::Vector;
    /// `a * b + sums`
    unsafe fn multiply_add(a: Self::Vector, b: Self::Vector, sums: Self::Vector) -> Self::Vector;
}

/// Unroll factor over the numbers of a window.
const UNROLLED: usize = 4;

/// Returns the pointer, hiding its computation from the compiler. Otherwise the compiler keeps a pointer per pixel, and loads the numbers
/// of all pixels before the first multiplication; there are not enough registers for either.
#[inline(always)]
#[allow(clippy::pointers_in_nomem_asm_block, reason = "nothing is read or written through the pointer")]
fn opaque<T>(place: *const T) -> *const T {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut place = place;
        // SAFETY: the assembly is empty.
        unsafe { core::arch::asm!("/* {0} */", inout(reg) place, options(pure, nomem, nostack, preserves_flags)) };
        place
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    place
}

/// Addresses of a tile's pixels: byte offsets of the odd pixels from the first one. The others are two, four or eight times as far, a scale
/// factor that x86 addressing modes provide, so that few registers hold all addresses.
#[derive(Clone, Copy)]
struct Places([usize; ODD]);

/// Maximum number of odd pixels.
const ODD: usize = 8;

impl Places {
    #[inline(always)]
    fn new<T>(step: usize) -> Self {
        let step = step.wrapping_mul(size_of::<T>());
        Places(core::array::from_fn(|at| {
            opaque(core::ptr::without_provenance::<u8>((2 * at + 1).wrapping_mul(step))).addr()
        }))
    }

    /// A pixel's address, given the first one's.
    #[inline(always)]
    fn of<T>(self, pixel: usize, first: *const T) -> *const T {
        if pixel == 0 {
            return first;
        }
        let twos = pixel.trailing_zeros();
        first.wrapping_byte_add(self.0[(pixel >> twos) / 2] << twos)
    }
}

/// Adds the products of the next `COUNT` numbers of each window, from `at` on. Returns the pointer to the weights after them.
///
/// # Safety
/// As for [`Kernels::run`].
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
unsafe fn multiply<V: Lanes, const PIXELS: usize, const VECTORS: usize, const COUNT: usize>(
    sums: &mut [[V::Vector; VECTORS]; PIXELS],
    at: *const V::Number,
    places: Places,
    weights: *const V::Number,
    weights_step: usize,
) -> *const V::Number {
    // SAFETY: the caller's promise.
    unsafe {
        for k in 0..COUNT {
            let strip = weights.add(k * weights_step);
            let strip = load_strip::<V, VECTORS>(strip, VECTORS * V::LEN);
            for pixel in 0..PIXELS {
                let x = V::spread(places.of(pixel, at).add(k).read());
                for vector in 0..VECTORS {
                    sums[pixel][vector] = V::multiply_add(x, strip[vector], sums[pixel][vector]);
                }
            }
        }
        // (Past the last ones, the address may be invalid.)
        weights.wrapping_add(COUNT * weights_step)
    }
}

/// Loads the first `count` numbers of a strip; the other lanes are zero.
///
/// # Safety
/// There are `count` numbers, and the machine has the instructions.
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

/// Stores the first `count` numbers of a strip.
///
/// # Safety
/// There is room for `count` numbers, and the machine has the instructions.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
pub(in crate::cpu::conv) unsafe fn store_strip<V: Lanes, const VECTORS: usize>(
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
/// As for [`Kernels::run`]; `columns` does not exceed the vectors' numbers.
#[inline(always)]
#[allow(clippy::needless_range_loop, reason = "indices are those of registers")]
pub(super) unsafe fn tile<V: Lanes, const PIXELS: usize, const VECTORS: usize>(tile: &TileArgs<'_, V::Number>) {
    let &TileArgs { x, step, runs, len, mut weights, weights_step, start, start_step, columns, .. } = tile;
    let TileArgs { mut ahead, ahead_step, .. } = *tile;
    let places = Places::new::<V::Number>(step);
    const { assert!(2 * V::LEN <= LONGEST && PIXELS <= 2 * ODD) }
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[V::spread(V::Number::default()); VECTORS]; PIXELS];
        for pixel in 0..PIXELS {
            sums[pixel] = load_strip::<V, VECTORS>(start.add(pixel * start_step), columns);
        }
        for &run in runs {
            let mut at = x.add(run);
            if len == 1 {
                weights = multiply::<V, PIXELS, VECTORS, 1>(&mut sums, at, places, weights, weights_step);
                continue;
            }
            for _ in 0..len / UNROLLED {
                prefetch(ahead);
                ahead = ahead.wrapping_byte_add(UNROLLED * ahead_step);
                weights = multiply::<V, PIXELS, VECTORS, UNROLLED>(&mut sums, at, places, weights, weights_step);
                at = opaque(at.add(UNROLLED));
            }
            for _ in 0..len % UNROLLED {
                prefetch(ahead);
                ahead = ahead.wrapping_byte_add(ahead_step);
                weights = multiply::<V, PIXELS, VECTORS, 1>(&mut sums, at, places, weights, weights_step);
                at = opaque(at.add(1));
            }
        }
        store_tile::<V, PIXELS, VECTORS>(sums, tile);
    }
}

/// [`tile`] for one run, with sums starting from zero. If `PACKS`, strips of weights are read with the arguments' stride and copied to
/// adjacent places at `strips`; otherwise they are contiguous.
///
/// # Safety
/// As for [`Kernels::run_packed`] and [`Kernels::run_packing`].
#[inline(always)]
pub(super) unsafe fn packed_tile<V: Lanes, const PIXELS: usize, const PACKS: bool>(
    tile: &TileArgs<'_, V::Number>,
    mut strips: *mut V::Number,
) {
    let &TileArgs { x: mut at, step, len, mut weights, weights_step, mut ahead, ahead_step, out, out_step, .. } = tile;
    let places = Places::new::<V::Number>(step);
    let strip = 2 * V::LEN;
    // SAFETY: the caller's promise.
    unsafe {
        let mut sums = [[V::spread(V::Number::default()); 2]; PIXELS];
        if PACKS {
            for _ in 0..len {
                // Rows are far apart, so the hardware prefetcher does not help.
                prefetch_row(weights.wrapping_add(AHEAD * weights_step), strip);
                store_strip::<V, 2>(load_strip::<V, 2>(weights, strip), strips, strip);
                strips = strips.add(strip);
                weights = multiply::<V, PIXELS, 2, 1>(&mut sums, at, places, weights, weights_step);
                at = opaque(at.add(1));
            }
            return store_tile::<V, PIXELS, 2>(sums, tile);
        }
        // Prefetches the result's places one at a time: all at once would stall the loads.
        let first = len.min(PIXELS);
        for pixel in 0..first {
            prefetch_row(out.wrapping_add(pixel * out_step), strip);
            weights = multiply::<V, PIXELS, 2, 1>(&mut sums, at, places, weights, strip);
            at = opaque(at.add(1));
        }
        for _ in 0..(len - first) / UNROLLED {
            prefetch(ahead);
            ahead = ahead.wrapping_byte_add(UNROLLED * ahead_step);
            weights = multiply::<V, PIXELS, 2, UNROLLED>(&mut sums, at, places, weights, strip);
            at = opaque(at.add(UNROLLED));
        }
        for _ in 0..(len - first) % UNROLLED {
            weights = multiply::<V, PIXELS, 2, 1>(&mut sums, at, places, weights, strip);
            at = opaque(at.add(1));
        }
        store_tile::<V, PIXELS, 2>(sums, tile);
    }
}

/// Rows of prefetch distance while packing.
const AHEAD: usize = 24;

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
            // (Adding to this zero preserves the sign of a zero.)
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

/// [`store_tile`] for a partial strip.
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
