//! Compiles a loop once for each instruction set and picks one while running: users build for plain x86-64.
//!
//! A loop is written as plain Rust in a function that is always inlined; inside a function with more target features the
//! compiler vectorises it for those. Builds with debug assertions, which are not vectorised and want to be built soon, have
//! each loop once. Uses nothing; used by every loop of this room.

use crate::ops::kernel::VectorWidth;

/// A loop over elements. `run` must be `#[inline(always)]`, and so must all that it calls per element: only what is inlined
/// is compiled for the instruction set at hand.
pub(crate) trait Loop {
    /// What comes out.
    type Output;
    /// The widest vectors that it is worth compiling for.
    #[cfg_attr(not(all(target_arch = "x86_64", not(debug_assertions))), allow(dead_code))]
    const WIDEST: VectorWidth = VectorWidth::Wide;
    /// Which of two units it is compiled in.
    #[cfg_attr(not(all(target_arch = "x86_64", not(debug_assertions))), allow(dead_code))]
    const IS_ODD: bool = false;
    /// Runs it.
    fn run(self) -> Self::Output;
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
mod x86 {
    use core::sync::atomic::{AtomicU8, Ordering};

    /// The same functions in modules of their own: rustc puts what it compiles of one module into one unit, which one processor
    /// compiles, and these functions are most of the crate.
    macro_rules! units {
        ($($unit:ident: $name:ident $features:literal;)*) => {$(
            pub(super) mod $unit {
                use crate::cpu::simd::Loop;

                #[target_feature(enable = $features)]
                pub(in crate::cpu::simd) fn $name<L: Loop>(body: L) -> L::Output {
                    body.run()
                }
            }
        )*};
    }
    units! {
        wide_even: avx512 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c";
        wide_odd: avx512 "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c";
        narrow_even: avx2 "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c";
        narrow_odd: avx2 "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c";
    }

    pub(super) const BASELINE: u8 = 1;
    pub(super) const AVX2: u8 = 2;
    pub(super) const AVX512: u8 = 3;

    /// The best instruction set this machine has; asked once.
    #[inline]
    pub(super) fn level() -> u8 {
        static LEVEL: AtomicU8 = AtomicU8::new(0);
        match LEVEL.load(Ordering::Relaxed) {
            0 => {
                let level = detect();
                LEVEL.store(level, Ordering::Relaxed);
                level
            }
            level => level,
        }
    }

    #[cold]
    fn detect() -> u8 {
        macro_rules! has {
            ($($feature:tt)*) => { true $(&& std::arch::is_x86_feature_detected!($feature))* };
        }
        if !has!("avx2" "fma" "bmi1" "bmi2" "lzcnt" "popcnt" "f16c") {
            BASELINE
        } else if !has!("avx512f" "avx512bw" "avx512cd" "avx512dq" "avx512vl") {
            AVX2
        } else {
            AVX512
        }
    }
}

/// Runs a loop if the machine has vectors of eight floats and converts `f16`; whether it has.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
pub(crate) fn with_halves(body: impl Loop<Output = ()>) -> bool {
    let has = x86::level() >= x86::AVX2;
    if has {
        // SAFETY: `level` has found the features on this machine.
        unsafe { x86::narrow_even::avx2(body) }
    }
    has
}

/// Asks for a cache line ahead of its use. The place need not be valid.
#[inline(always)]
pub(crate) fn prefetch<T>(place: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: prefetching reads nothing that the program sees and never faults.
    unsafe {
        core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T0 }>(place.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = place;
}

/// A part of the nearest cache: so many bytes of a row are asked for at most.
const ASKED: usize = 8192;

/// Asks for the first cache lines of a row ahead of its use. The places need not be valid.
#[inline(always)]
pub(crate) fn prefetch_row<T>(place: *const T, len: usize) {
    for line in (0..(len * size_of::<T>()).min(ASKED)).step_by(64) {
        prefetch(place.wrapping_byte_add(line));
    }
}

/// The same for one of several rows: not into the nearest cache, where rows whose distance is a large power of two have few places.
#[inline(always)]
pub(crate) fn prefetch_row_nearby<T>(place: *const T, len: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in (0..(len * size_of::<T>()).min(ASKED)).step_by(64) {
        let place = place.wrapping_byte_add(line);
        // SAFETY: as in `prefetch`.
        unsafe { core::arch::x86_64::_mm_prefetch::<{ core::arch::x86_64::_MM_HINT_T1 }>(place.cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    prefetch_row(place, len);
}

/// Runs a loop with the best instruction set there is.
#[inline]
pub(crate) fn dispatch<L: Loop>(body: L) -> L::Output {
    // (`if const` leaves nothing of what is not compiled.)
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    {
        if const { L::WIDEST as u8 >= VectorWidth::Wide as u8 } && x86::level() == x86::AVX512 {
            // SAFETY: `level` has found the features on this machine.
            return unsafe {
                if const { L::IS_ODD } { x86::wide_odd::avx512(body) } else { x86::wide_even::avx512(body) }
            };
        }
        if const { L::WIDEST as u8 >= VectorWidth::Narrow as u8 } && x86::level() >= x86::AVX2 {
            // SAFETY: as above.
            return unsafe {
                if const { L::IS_ODD } { x86::narrow_odd::avx2(body) } else { x86::narrow_even::avx2(body) }
            };
        }
        body.run()
    }
    // Elsewhere the baseline has vectors (NEON on AArch64).
    #[cfg(not(all(target_arch = "x86_64", not(debug_assertions))))]
    body.run()
}
