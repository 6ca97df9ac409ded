//! Compiles each loop once for every instruction set and picks one at run time, because users build for baseline
//! x86-64.
//!
//! A loop is plain Rust in an always-inlined function; inlined into a function with more target features, it is vectorised for those.
//! Builds with debug assertions compile each loop once, for the baseline.

use crate::ops::kernel::VectorWidth;
use core::mem::MaybeUninit;

/// A loop over elements. `run` and all that it calls per element must be `#[inline(always)]`: only what is inlined is
/// compiled for the instruction set.
pub(crate) trait Loop: Sized {
    /// The loop's result.
    type Output;
    /// The widest vectors worth compiling the loop for.
    #[cfg_attr(not(all(target_arch = "x86_64", not(debug_assertions))), allow(dead_code))]
    const WIDEST: VectorWidth = VectorWidth::Wide;
    /// Which of the two codegen units compiles it.
    #[cfg_attr(not(all(target_arch = "x86_64", not(debug_assertions))), allow(dead_code))]
    const IS_ODD: bool = false;
    /// Runs the loop.
    fn run(self) -> Self::Output;
    /// The same result by small rather than fast code: for x86-64 machines without AVX2, which are rare, where the loop is also compiled
    /// for AVX2.
    #[cfg_attr(not(all(target_arch = "x86_64", not(debug_assertions))), allow(dead_code))]
    #[inline(always)]
    fn run_small(self) -> Self::Output {
        self.run()
    }
}

/// The next position of a loop, in a way opaque to the compiler, which then neither vectorises nor unrolls it. (No iterator: it would be
/// several functions for each loop.)
#[cfg_attr(not(all(target_arch = "x86_64", not(debug_assertions))), allow(dead_code))]
#[inline(always)]
pub(crate) fn next_alone(at: usize) -> usize {
    core::hint::black_box(at + 1)
}

#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
mod x86 {
    use super::Loop;
    use core::sync::atomic::{AtomicU8, Ordering};

    /// The same functions in two modules: rustc compiles a module in one codegen unit, on one core, and these functions are most of the
    /// crate.
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

    /// [`Filling::fill`](super::Filling::fill) with AVX2.
    #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt,popcnt,f16c")]
    pub(super) fn avx2_filling<L: super::Filling>(
        body: L,
        state: &mut L::State,
        out: &mut [core::mem::MaybeUninit<L::Out>],
    ) {
        body.fill(state, out);
    }

    /// (Not inline: few machines run this, and its callers stay short.)
    #[inline(never)]
    pub(super) fn small<L: Loop>(body: L) -> L::Output {
        body.run_small()
    }

    pub(super) const BASELINE: u8 = 1;
    pub(super) const AVX2: u8 = 2;
    pub(super) const AVX512: u8 = 3;

    /// The best instruction set of this machine; detected once.
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

/// Runs a loop if the machine has AVX2 and F16C; returns whether it has.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
pub(crate) fn with_halves(body: impl Loop<Output = ()>) -> bool {
    let has = x86::level() >= x86::AVX2;
    if has {
        // SAFETY: `level` has found the features on this machine.
        unsafe { x86::narrow_even::avx2(body) }
    }
    has
}

/// Prefetches a cache line. The address need not be valid.
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

/// Prefetches `len` elements, `step` bytes apart. The addresses need not be valid.
#[inline(always)]
pub(crate) fn prefetch_steps(place: *const u8, len: usize, step: usize) {
    let mut at = 0;
    while at < len * step {
        prefetch(place.wrapping_add(at));
        at += step.max(64);
    }
}

/// Maximum bytes of a row that are prefetched: a part of the L1 cache.
const ASKED: usize = 8192;

/// Prefetches the start of a row. The addresses need not be valid.
#[inline(always)]
pub(crate) fn prefetch_row<T>(place: *const T, len: usize) {
    for line in (0..(len * size_of::<T>()).min(ASKED)).step_by(64) {
        prefetch(place.wrapping_byte_add(line));
    }
}

/// Prefetches the start of one of several rows into L2: rows a large power of two apart would evict each other from
/// L1.
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

/// Prefetches several rows of `len` bytes, `step` bytes apart, like [`prefetch_row_nearby`]. (Not inline: a call is cheap compared with a
/// cache miss, and loops are compiled many times.)
#[inline(never)]
pub(crate) fn prefetch_rows_nearby(place: *const u8, rows: usize, step: usize, len: usize) {
    for row in 0..rows {
        prefetch_row_nearby(place.wrapping_add(row * step), len);
    }
}

/// Runs a loop with the best instruction set of the machine.
///
/// (One call of a function that is chosen before: with a call for each instruction set the loop is moved three times, in as many
/// instructions to compile as its own.)
#[inline]
pub(crate) fn dispatch<L: Loop>(body: L) -> L::Output {
    // `if const` generates no code for the branches not taken.
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    if const { !matches!(L::WIDEST, VectorWidth::None) } {
        let level = x86::level();
        let run: unsafe fn(L) -> L::Output =
            if const { L::WIDEST as u8 >= VectorWidth::Wide as u8 } && level == x86::AVX512 {
                const { if L::IS_ODD { x86::wide_odd::avx512::<L> } else { x86::wide_even::avx512::<L> } }
            } else if level >= x86::AVX2 {
                const { if L::IS_ODD { x86::narrow_odd::avx2::<L> } else { x86::narrow_even::avx2::<L> } }
            } else {
                x86::small::<L>
            };
        // SAFETY: `level` has found the features on this machine.
        return unsafe { run(body) };
    }
    // Elsewhere the baseline has vectors (NEON on AArch64).
    body.run()
}

/// A loop that fills places with what a user's closure makes. The closure and the places are arguments of their own, and not parts of a
/// struct as in [`Loop`]: so the compiler knows that the places are neither read nor what the closure refers to, which it loads once.
pub(crate) trait Filling: Sized {
    /// The closure.
    type State;
    /// What it makes.
    type Out;
    /// Runs the loop. It is `#[inline(always)]`.
    fn fill(self, state: &mut Self::State, out: &mut [MaybeUninit<Self::Out>]);
}

/// Runs such a loop with AVX2 where the machine has it: wider vectors would be a third copy of each closure to compile.
#[inline]
pub(crate) fn dispatch_filling<L: Filling>(body: L, state: &mut L::State, out: &mut [MaybeUninit<L::Out>]) {
    #[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
    if x86::level() >= x86::AVX2 {
        // SAFETY: `level` has found the features on this machine.
        return unsafe { x86::avx2_filling(body, state, out) };
    }
    body.fill(state, out);
}
