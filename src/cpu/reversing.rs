//! Loops that copy elements of a line in another order: backwards, in groups, or each several times.

use super::simd::Loop;
use crate::ops::kernel::VectorWidth;

/// Copies contiguous elements in reverse order.
pub(super) struct Reversing<T> {
    /// The last element, which is read first.
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) len: usize,
}
impl<T: Copy> Loop for Reversing<T> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Reversing { from, to, len } = self;
        for i in 0..len {
            // SAFETY: `Picking::axis` makes it with `len` elements on both sides.
            unsafe { to.add(i).write_unaligned(from.add(len - 1 - i).read_unaligned()) }
        }
    }
}

/// Copies elements in reverse order, `step` apart in the source.
pub(super) struct Backwards<T> {
    /// The last element, which is read first.
    pub(super) from: *const T,
    pub(super) step: usize,
    pub(super) to: *mut T,
    pub(super) len: usize,
}
impl<T: Copy> Loop for Backwards<T> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) {
        let Backwards { from, step, to, len } = self;
        for i in 0..len {
            // SAFETY: `Picking::axis` makes it with `len` elements on both sides.
            unsafe { to.add(i).write_unaligned(from.sub(i * step).read_unaligned()) }
        }
    }
}

/// Maximum group size that is reversed group by group.
pub(super) const GROUP: usize = 4;

/// Copies groups of contiguous elements, each in reverse order.
pub(super) struct ReversingGroups<T> {
    /// The first element, and the distance from group to group.
    pub(super) from: *const T,
    pub(super) stride: usize,
    pub(super) to: *mut T,
    /// At most [`GROUP`].
    pub(super) len: usize,
    pub(super) groups: usize,
}
impl<T: Copy> ReversingGroups<T> {
    /// # Safety
    /// There are `groups` groups of `LEN` elements on both sides.
    #[inline(always)]
    unsafe fn of<const LEN: usize>(&self) {
        for group in 0..self.groups {
            for at in 0..LEN {
                // SAFETY: the caller's promise.
                unsafe {
                    let value = self.from.add(group * self.stride + LEN - 1 - at).read_unaligned();
                    self.to.add(group * LEN + at).write_unaligned(value);
                }
            }
        }
    }
}
impl<T: Copy> Loop for ReversingGroups<T> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) {
        // SAFETY: `Picking::axis` makes it with groups of `len` elements on both sides.
        unsafe {
            match self.len {
                1 => self.of::<1>(),
                2 => self.of::<2>(),
                3 => self.of::<3>(),
                _ => self.of::<GROUP>(),
            }
        }
    }
}

/// Repeats each contiguous element `TIMES` times, or `times` times if `TIMES` is 0.
pub(super) struct Repeating<T, const TIMES: usize> {
    pub(super) from: *const T,
    pub(super) to: *mut T,
    pub(super) len: usize,
    pub(super) times: usize,
}
impl<T: Copy, const TIMES: usize> Loop for Repeating<T, TIMES> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Repeating { from, to, len, times } = self;
        let times = if TIMES == 0 { times } else { TIMES };
        for i in 0..len {
            // SAFETY: `Picking::axis` makes it with `len` elements on one side and `len * times` on the other.
            unsafe {
                let value = from.add(i).read_unaligned();
                for copy in 0..times {
                    to.add(i * times + copy).write_unaligned(value);
                }
            }
        }
    }
}
