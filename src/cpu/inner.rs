//! Inner loops: a kernel over contiguous operands.
//!
//! Each is compiled once per kernel and then called as a function over untyped pointers, so that walks, threads and buffers are compiled
//! once for all; non-contiguous operands are gathered first. Written so that the compiler vectorises them.

use super::lookup_tables;
use super::simd::{self, Loop};
use crate::ops::kernel::{Entry, Map1, Map2, Map3, VectorWidth};
use core::mem::MaybeUninit;

/// A loop over `N` operands, the first of which is written: the kernel, the start of each operand, and the number of
/// elements.
///
/// # Safety
/// The kernel is the one the loop was made for, and all places are valid for its types. Nobody else reads the written places; the first
/// operand may be exactly the result's memory if it has the same type.
pub(crate) type Inner<const N: usize> = unsafe fn(kernel: *const (), places: [*mut u8; N], len: usize);

/// Elements checked before the kernel's fast path is taken for all of them.
const CHECKED: usize = 512;

/// A copy of an operand's elements, so that the compiler sees that a loop over them does not alias its output.
struct Block<A>([MaybeUninit<A>; CHECKED]);
impl<A: Copy> Block<A> {
    /// Copies `len` elements, at most [`CHECKED`].
    ///
    /// # Safety
    /// `from` has `len` elements.
    #[inline(always)]
    unsafe fn of(from: *const A, len: usize) -> Self {
        let mut block = Block([const { MaybeUninit::uninit() }; CHECKED]);
        // SAFETY: the caller's promise; the block has room for them.
        unsafe { core::ptr::copy_nonoverlapping(from, block.0.as_mut_ptr().cast(), len) }
        block
    }
    /// The element at `at`.
    ///
    /// # Safety
    /// That element was copied.
    #[inline(always)]
    unsafe fn get(&self, at: usize) -> A {
        // SAFETY: the caller's promise.
        unsafe { self.0.get_unchecked(at).assume_init() }
    }
}

/// Writes `kernel(a)`. (`a` and `out` may alias only where the compiler can see it, or the kernel has a fast path.)
///
/// # Safety
/// There are `len` elements at both pointers.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn side_by_side<A: Copy, O, K: Map1<A, O>>(kernel: K, a: *const A, out: *mut O, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if const { !K::HAS_FAST_PATH } {
            for i in 0..len {
                out.add(i).write(kernel.call(a.add(i).read()));
            }
            return;
        }
        for low in (0..len).step_by(CHECKED) {
            let (a, out, len) = (a.add(low), out.add(low), CHECKED.min(len - low));
            let mut fast_path = true;
            for i in 0..len {
                fast_path &= kernel.takes_fast_path(a.add(i).read());
            }
            if const { K::FAST_PATH_IS_BRIEF } && fast_path && out.cast_const().cast() != a {
                for i in 0..len {
                    out.add(i).write(kernel.fast_path(a.add(i).read()));
                }
                continue;
            }
            let a = Block::of(a, len);
            if fast_path {
                for i in 0..len {
                    out.add(i).write(kernel.fast_path(a.get(i)));
                }
            } else {
                for i in 0..len {
                    out.add(i).write(kernel.call(a.get(i)));
                }
            }
        }
    }
}

/// The same for two operands and a kernel with a fast path.
///
/// # Safety
/// There are `len` elements at each pointer.
#[cfg_attr(not(debug_assertions), inline(always))]
unsafe fn by_blocks<A: Copy, B: Copy, O, K: Map2<A, B, O>>(
    kernel: K,
    (a, b): (*const A, *const B),
    out: *mut O,
    len: usize,
) {
    for low in (0..len).step_by(CHECKED) {
        // SAFETY: the caller's promise.
        unsafe {
            let (out, len) = (out.add(low), CHECKED.min(len - low));
            let (a, b) = (Block::of(a.add(low), len), Block::of(b.add(low), len));
            let mut fast_path = true;
            for i in 0..len {
                fast_path &= kernel.takes_fast_path(a.get(i), b.get(i));
            }
            if fast_path {
                for i in 0..len {
                    out.add(i).write(kernel.fast_path(a.get(i), b.get(i)));
                }
            } else {
                for i in 0..len {
                    out.add(i).write(kernel.call(a.get(i), b.get(i)));
                }
            }
        }
    }
}

/// [`side_by_side`] optimised for code size.
///
/// # Safety
/// As for [`side_by_side`]; the pointers may be equal.
#[inline(always)]
unsafe fn small<A: Copy, O, K: Map1<A, O>>(kernel: K, a: *const A, out: *mut O, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if const { !K::HAS_FAST_PATH } {
            let mut at = 0;
            while at < len {
                out.add(at).write(kernel.call(a.add(at).read()));
                at = simd::next_alone(at);
            }
            return;
        }
        let (mut at, mut end, mut fast_path) = (0, 0, false);
        while at < len {
            if at == end {
                end = len.min(at + CHECKED);
                fast_path = true;
                let mut checked = at;
                while checked < end {
                    fast_path &= kernel.takes_fast_path(a.add(checked).read());
                    checked = simd::next_alone(checked);
                }
            }
            let value = a.add(at).read();
            out.add(at).write(if fast_path { kernel.fast_path(value) } else { kernel.call(value) });
            at = simd::next_alone(at);
        }
    }
}

/// Whether the row's index is odd: the rows of the tables alternate between two codegen units.
const fn is_odd(entry: Option<Entry>) -> bool {
    match entry {
        Some(entry) => entry.row % 2 == 1,
        None => false,
    }
}

/// `out = kernel(a)`
struct Map1Loop<K, A, O> {
    kernel: K,
    out: *mut O,
    a: *const A,
    len: usize,
}
impl<K: Map1<A, O>, A: Copy, O> Loop for Map1Loop<K, A, O> {
    type Output = ();
    const WIDEST: VectorWidth = K::VECTORS;
    const IS_ODD: bool = is_odd(K::ENTRY);
    #[inline(always)]
    fn run(self) {
        let Map1Loop { kernel, out, a, len } = self;
        // SAFETY: the maker of this loop promises that all places are valid.
        unsafe {
            // The compiler does not vectorise where operands may overlap, so the in-place case is a loop of its own.
            if const { !matches!(K::VECTORS, VectorWidth::None) && !K::HAS_FAST_PATH && size_of::<A>() == size_of::<O>() }
                && out.cast_const().cast() == a
            {
                side_by_side(kernel, out.cast::<A>(), out, len);
            } else {
                side_by_side(kernel, a, out, len);
            }
        }
    }
    #[inline(always)]
    fn run_small(self) {
        let Map1Loop { kernel, out, a, len } = self;
        // SAFETY: as above.
        unsafe { small(kernel, a, out, len) }
    }
}

/// `out = kernel(a, b)`
struct Map2Loop<K, A, B, O> {
    kernel: K,
    out: *mut O,
    a: *const A,
    b: *const B,
    len: usize,
}
impl<K: Map2<A, B, O>, A: Copy, B: Copy, O> Loop for Map2Loop<K, A, B, O> {
    type Output = ();
    const WIDEST: VectorWidth = K::VECTORS;
    const IS_ODD: bool = is_odd(K::ENTRY);
    #[inline(always)]
    fn run(self) {
        let Map2Loop { kernel, out, a, b, len } = self;
        // SAFETY: as above.
        unsafe {
            if const { K::HAS_FAST_PATH } {
                by_blocks(kernel, (a, b), out, len);
            } else if const { !matches!(K::VECTORS, VectorWidth::None) && size_of::<A>() == size_of::<O>() }
                && out.cast_const().cast() == a
            {
                for i in 0..len {
                    out.add(i).write(kernel.call(out.cast::<A>().add(i).read(), b.add(i).read()));
                }
            } else {
                for i in 0..len {
                    out.add(i).write(kernel.call(a.add(i).read(), b.add(i).read()));
                }
            }
        }
    }
    #[inline(always)]
    fn run_small(self) {
        let Map2Loop { kernel, out, a, b, len } = self;
        let mut at = 0;
        while at < len {
            // SAFETY: as above. (The fast path only affects speed.)
            unsafe { out.add(at).write(kernel.call(a.add(at).read(), b.add(at).read())) }
            at = simd::next_alone(at);
        }
    }
}

/// `out = kernel(a, b, c)`
struct Map3Loop<K, A, B, C, O> {
    kernel: K,
    out: *mut O,
    a: *const A,
    b: *const B,
    c: *const C,
    len: usize,
}
impl<K: Map3<A, B, C, O>, A: Copy, B: Copy, C: Copy, O> Loop for Map3Loop<K, A, B, C, O> {
    type Output = ();
    const WIDEST: VectorWidth = K::VECTORS;
    #[inline(always)]
    fn run(self) {
        let Map3Loop { kernel, out, a, b, c, len } = self;
        // SAFETY: as above.
        unsafe {
            for i in 0..len {
                out.add(i).write(kernel.call(a.add(i).read(), b.add(i).read(), c.add(i).read()));
            }
        }
    }
}

/// Runs a kernel of one operand.
///
/// # Safety
/// See [`Inner`].
#[inline(always)]
pub(super) unsafe fn one<K: Map1<A, O>, A: Copy, O>(kernel: *const (), [out, a]: [*mut u8; 2], len: usize) {
    if let Some(looked) = const { lookup_tables::of(K::ENTRY) }
        && lookup_tables::is_there()
    {
        // SAFETY: the caller's promise. The rows of the table have operands and results of the dtype they name.
        return unsafe { looked(a.cast(), out.cast(), len) };
    }
    // SAFETY: the caller's promise.
    let kernel = unsafe { *kernel.cast::<K>() };
    simd::dispatch(Map1Loop::<K, A, O> { kernel, out: out.cast(), a: a.cast(), len });
}

/// Runs a kernel of two operands.
///
/// # Safety
/// See [`Inner`].
#[inline(always)]
pub(super) unsafe fn two<K: Map2<A, B, O>, A: Copy, B: Copy, O>(
    kernel: *const (),
    [out, a, b]: [*mut u8; 3],
    len: usize,
) {
    // SAFETY: the caller's promise.
    let kernel = unsafe { *kernel.cast::<K>() };
    simd::dispatch(Map2Loop::<K, A, B, O> { kernel, out: out.cast(), a: a.cast(), b: b.cast(), len });
}

/// Runs a kernel of three operands.
///
/// # Safety
/// See [`Inner`].
#[inline(always)]
pub(super) unsafe fn three<K: Map3<A, B, C, O>, A: Copy, B: Copy, C: Copy, O>(
    kernel: *const (),
    [out, a, b, c]: [*mut u8; 4],
    len: usize,
) {
    // SAFETY: the caller's promise.
    let kernel = unsafe { *kernel.cast::<K>() };
    simd::dispatch(Map3Loop::<K, A, B, C, O> { kernel, out: out.cast(), a: a.cast(), b: b.cast(), c: c.cast(), len });
}
