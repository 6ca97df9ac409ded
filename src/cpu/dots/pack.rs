//! Packing: interleaves groups of terms of several lines (rows on the left, columns on the right), one group at a time.

use super::ROWS;
use crate::cpu::simd::Loop;
#[cfg(target_arch = "x86_64")]
use crate::cpu::transpose;
use crate::dtype::bf16;
use core::marker::PhantomData;
use core::ops::Range;
use num_traits::PrimInt;

/// A term in a group: the first term takes the lowest bits.
pub(in crate::cpu) trait PackTerm<G>: Copy {
    /// Its bits, zero-extended.
    fn bits(self) -> G;
}
macro_rules! factors {
    ($($factor:ty: $group:ty, |$x:ident| $bits:expr;)*) => {$(
        impl PackTerm<$group> for $factor {
            #[inline(always)]
            fn bits(self) -> $group {
                let $x = self;
                $bits
            }
        }
    )*};
}
factors! {
    bf16: u32, |x| x.to_bits().into();
    u8: u32, |x| x.into();
    i8: u32, |x| x.cast_unsigned().into();
    i16: u32, |x| x.cast_unsigned().into();
    i32: u32, |x| x.cast_unsigned();
    i64: u64, |x| x.cast_unsigned();
}

/// Groups of a line packed before the next line: one or two cache lines.
const RUN: usize = 16;
/// Bytes of a cache line.
const LINE: usize = 64;
/// Lines packed at a time where the operand is contiguous across lines.
const SIDE: usize = 16;

/// Packs terms of `lines` lines as factors `F`, padded with zeros beyond the last line and the last term.
pub(super) struct Pack<T, F, G> {
    pub(super) from: *const T,
    /// Strides from line to line and from term to term.
    pub(super) steps: [usize; 2],
    pub(super) lines: usize,
    pub(super) terms: usize,
    /// Groups in the destination.
    pub(super) groups: usize,
    /// Lines in the destination.
    pub(super) width: usize,
    pub(super) to: *mut G,
    /// Bits to invert.
    pub(super) flip: G,
    pub(super) factor: PhantomData<F>,
}

impl<T: Copy, F: PackTerm<G> + From<T>, G: PrimInt> Pack<T, F, G> {
    /// Terms in a group.
    const TERMS: usize = size_of::<G>() / size_of::<F>();

    /// A term shifted to its place in the group.
    #[inline(always)]
    fn bits(value: T, term: usize) -> G {
        let bits = F::from(value).bits();
        if Self::TERMS == 1 { bits } else { bits << (term * 8 * size_of::<F>()) }
    }

    /// The group of up to [`TERMS`](Self::TERMS) terms of a line.
    ///
    /// # Safety
    /// The operand has these terms.
    #[inline(always)]
    unsafe fn group(&self, line: usize, first: usize, terms: usize) -> G {
        let mut group = self.flip;
        for term in 0..terms {
            // SAFETY: the caller's promise.
            let value = unsafe { self.from.add(line * self.steps[0] + (first + term) * self.steps[1]).read() };
            group = group ^ Self::bits(value, term);
        }
        group
    }

    /// Packs all lines, whose terms are contiguous.
    ///
    /// # Safety
    /// The operand has `groups` whole groups, and there is room for them.
    #[inline(always)]
    unsafe fn along(&self, groups: usize) {
        // Where factors are the operand's own elements, a group is read from memory directly.
        let raw = size_of::<T>() == size_of::<F>() && cfg!(target_endian = "little");
        #[cfg_attr(not(target_arch = "x86_64"), allow(unused_mut))]
        let mut done = 0;
        // SAFETY: the caller's promise.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            if raw && size_of::<G>() == 4 && self.flip.is_zero() && transpose::is_there() {
                let step = self.steps[0] * size_of::<T>();
                let whole = groups / transpose::SIDE * transpose::SIDE;
                while done + transpose::SIDE <= self.lines {
                    for p in (0..whole).step_by(transpose::SIDE) {
                        let from = self.from.byte_add(done * step + p * size_of::<G>());
                        transpose::transpose(from.cast(), step, self.to.add(p * self.width + done).cast(), self.width);
                    }
                    self.lines_along(done..done + transpose::SIDE, whole..groups, raw);
                    done += transpose::SIDE;
                }
            }
            self.lines_along(done..self.lines, 0..groups, raw);
        }
    }

    /// Packs a range of groups of a range of lines, whose terms are contiguous.
    ///
    /// # Safety
    /// The operand has these lines and whole groups, and there is room for them; if `raw`, factors are elements.
    #[inline(always)]
    unsafe fn lines_along(&self, lines: Range<usize>, groups: Range<usize>, raw: bool) {
        for low in groups.clone().step_by(RUN) {
            let high = groups.end.min(low + RUN);
            for line in lines.clone() {
                for p in low..high {
                    // SAFETY: the caller's promise.
                    unsafe {
                        let group = if raw {
                            let from = self.from.add(line * self.steps[0] + p * Self::TERMS);
                            from.cast::<G>().read_unaligned() ^ self.flip
                        } else {
                            self.group(line, p * Self::TERMS, Self::TERMS)
                        };
                        self.to.add(p * self.width + line).write(group);
                    }
                }
            }
        }
    }

    /// Packs `N` lines that are adjacent in memory.
    ///
    /// # Safety
    /// The operand has `N` lines from `line` on with these groups, and there is room for them.
    #[inline(always)]
    unsafe fn across<const N: usize>(&self, line: usize, groups: usize) {
        for p in 0..groups {
            let mut packed = [self.flip; N];
            // SAFETY: the caller's promise.
            unsafe {
                for term in 0..Self::TERMS {
                    let terms = self.from.add(line + (p * Self::TERMS + term) * self.steps[1]).cast::<[T; N]>().read();
                    packed.iter_mut().zip(terms).for_each(|(group, x)| *group = *group ^ Self::bits(x, term));
                }
                self.to.add(p * self.width + line).cast::<[G; N]>().write(packed);
            }
        }
    }
}

/// Packs a run of groups of each line, then the next run.
pub(super) struct PackRuns<T, F, G> {
    pack: Pack<T, F, G>,
    run: usize,
}

impl<T: Copy, F: PackTerm<G> + From<T>, G: PrimInt> Pack<T, F, G> {
    /// Packs in runs of `run` groups, a divisor of the destination's groups.
    pub(super) fn in_runs(self, run: usize) -> PackRuns<T, F, G> {
        PackRuns { pack: self, run }
    }
}

impl<T: Copy, F: PackTerm<G> + From<T>, G: PrimInt> Loop for PackRuns<T, F, G> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let PackRuns { pack, run } = self;
        let Pack { from, steps, lines, terms, groups, width, to, flip, .. } = pack;
        let count = Pack::<T, F, G>::TERMS;
        let raw = size_of::<T>() == size_of::<F>() && cfg!(target_endian = "little") && flip.is_zero();
        let place = |line: usize, p: usize| to.wrapping_add((p / run * width + line) * run + p % run);
        // SAFETY: as for `Pack`.
        unsafe {
            if terms < groups * count || lines < width {
                to.write_bytes(0, groups * width);
            }
            let whole = terms / count;
            if raw && steps[1] == 1 {
                for line in 0..lines {
                    for low in (0..whole).step_by(run) {
                        let from = from.add(line * steps[0] + low * count).cast::<u8>();
                        let bytes = run.min(whole - low) * size_of::<G>();
                        if bytes == LINE {
                            place(line, low).cast::<[u8; LINE]>().write(from.cast::<[u8; LINE]>().read());
                        } else {
                            place(line, low).cast::<u8>().copy_from_nonoverlapping(from, bytes);
                        }
                    }
                }
            } else if raw {
                // Adjacent lines, or arbitrary strides.
                for term in 0..whole * count {
                    for line in 0..lines {
                        let x = from.add(line * steps[0] + term * steps[1]).read();
                        place(line, term / count).cast::<T>().add(term % count).write(x);
                    }
                }
            } else {
                for p in 0..whole {
                    (0..lines).for_each(|line| place(line, p).write(pack.group(line, p * count, count)));
                }
            }
            if terms % count > 0 {
                let rest = terms % count;
                (0..lines).for_each(|line| place(line, whole).write(pack.group(line, whole * count, rest)));
            }
        }
    }
}

impl<T: Copy, F: PackTerm<G> + From<T>, G: PrimInt> Loop for Pack<T, F, G> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let (groups, rest) = (self.terms / Self::TERMS, self.terms % Self::TERMS);
        let mut done = 0;
        // SAFETY: the maker of this loop promises that the operand has the lines and terms, and that there is room for `width` lines of
        // enough groups for the terms.
        unsafe {
            if self.steps[1] == 1 {
                self.along(groups);
                done = self.lines;
            } else if self.steps[0] == 1 {
                while done + SIDE <= self.lines {
                    self.across::<SIDE>(done, groups);
                    done += SIDE;
                }
                if self.lines == ROWS {
                    self.across::<ROWS>(0, groups);
                    done = ROWS;
                }
            }
            for p in 0..groups {
                for line in done..self.lines {
                    self.to.add(p * self.width + line).write(self.group(line, p * Self::TERMS, Self::TERMS));
                }
            }
            if rest > 0 {
                for line in 0..self.lines {
                    self.to.add(groups * self.width + line).write(self.group(line, groups * Self::TERMS, rest));
                }
            }
            let packed = self.terms.div_ceil(Self::TERMS);
            if self.lines < self.width {
                for p in 0..packed {
                    self.to.add(p * self.width + self.lines).write_bytes(0, self.width - self.lines);
                }
            }
            self.to.add(packed * self.width).write_bytes(0, (self.groups - packed) * self.width);
        }
    }
}
