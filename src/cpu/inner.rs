//! Inner loops: one kernel over operands that lie side by side.
//!
//! Each is compiled once for a kernel, and what its operands are is forgotten: walks, threads and rooms are the same for all, and
//! operands that do not lie side by side are brought together first. Loops are written so that the compiler vectorises them.
//! Uses the instruction sets; used by the elementwise loops.

use super::lookup;
use super::simd::{self, Loop};
use crate::ops::kernel::{Entry, Map1, Map2, Map3, VectorWidth};

/// A loop over `N` operands, the first of which is written: the kernel, where each operand starts, and how many elements there
/// are.
///
/// # Safety
/// The kernel is the one it was made for, and all places are valid for its types. Those written are read by nobody else; the first
/// operand after them may be those very places, if it has the same type.
pub(super) type Inner<const N: usize> = unsafe fn(kernel: *const (), places: [*mut u8; N], len: usize);

/// Elements looked at before they are computed, where a kernel has a form for usual ones.
const CHECKED: usize = 512;

/// Writes `kernel(a)`. (The two places may be one, where that is known when compiling.)
///
/// # Safety
/// `len` elements are valid at either place.
#[inline(always)]
unsafe fn side_by_side<A: Copy, O, K: Map1<A, O>>(kernel: K, a: *const A, out: *mut O, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if !K::HAS_FAST_PATH {
            for i in 0..len {
                out.add(i).write(kernel.call(a.add(i).read()));
            }
            return;
        }
        let mut low = 0;
        while low < len {
            let high = len.min(low + CHECKED);
            let mut fast_path = true;
            for i in low..high {
                fast_path &= kernel.takes_fast_path(a.add(i).read());
            }
            if fast_path {
                for i in low..high {
                    out.add(i).write(kernel.fast_path(a.add(i).read()));
                }
            } else {
                for i in low..high {
                    out.add(i).write(kernel.call(a.add(i).read()));
                }
            }
            low = high;
        }
    }
}

/// Every other row of the tables.
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
        // SAFETY: whoever made it promises that all places are valid.
        unsafe {
            // The compiler does not vectorise where it can't exclude that one operand is another.
            if size_of::<A>() == size_of::<O>() && !K::HAS_FAST_PATH && out.cast_const().cast() == a {
                side_by_side(kernel, out.cast::<A>(), out, len);
            } else {
                side_by_side(kernel, a, out, len);
            }
        }
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
            if size_of::<A>() == size_of::<O>() && out.cast_const().cast() == a {
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

/// A function of one operand.
///
/// # Safety
/// See [`Inner`].
#[inline(always)]
pub(super) unsafe fn one<K: Map1<A, O>, A: Copy, O>(kernel: *const (), [out, a]: [*mut u8; 2], len: usize) {
    if let Some(looked) = const { lookup::of(K::ENTRY) }
        && lookup::is_there()
    {
        // SAFETY: the caller's promise. Rows of the table have operands and results of the dtype they say.
        return unsafe { looked(a.cast(), out.cast(), len) };
    }
    // SAFETY: the caller's promise.
    let kernel = unsafe { *kernel.cast::<K>() };
    simd::dispatch(Map1Loop::<K, A, O> { kernel, out: out.cast(), a: a.cast(), len });
}

/// A function of two operands.
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

/// A function of three operands.
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
