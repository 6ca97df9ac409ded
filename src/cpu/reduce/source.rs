//! Where the elements that are reduced come from: memory, or an expression that is computed on the way.

use super::plan::Strided;
use crate::cpu::fused;
use crate::cpu::simd::{self, Loop};
use crate::ops::expression::{AXES, CHUNK as PIECE, Expression};
use crate::storage::Scratch;
use core::mem::MaybeUninit;

/// Elements brought side by side at once.
const GATHERED: usize = 16_384;
/// Elements of an expression computed at once: they stay in the nearest cache.
const COMPUTED: usize = 8192;
/// How many elements and how many rows ahead of their use they are asked for.
const AHEAD: usize = 64;
const ROWS_AHEAD: usize = 4;

/// Room for elements brought side by side.
pub(super) struct Room<A>(Vec<MaybeUninit<A>>);
impl<A> Room<A> {
    pub(super) fn new() -> Self {
        Room(Vec::new())
    }
    fn start(&mut self, len: usize) -> *mut A {
        self.0.clear();
        self.0.reserve(len);
        self.0.as_mut_ptr().cast()
    }
}

/// Lines of elements: how many lines, along which axis one follows the other, how many elements, along which axis.
#[derive(Clone, Copy)]
pub(super) struct Patch {
    pub lines: usize,
    pub across: usize,
    pub len: usize,
    pub along: usize,
    /// Fewer lines than all may be given at once, in multiples of so many.
    pub multiple: usize,
    /// Whether a line must start where the one before ends.
    pub dense: bool,
}
impl Patch {
    /// As many lines as fit.
    fn fitting(self, room: usize) -> Self {
        let multiples = (room / (self.len * self.multiple).max(1)).max(1);
        Patch { lines: self.lines.min(multiples * self.multiple), ..self }
    }
}

/// Where lines are: the elements of each side by side.
pub(super) struct Found<A> {
    pub from: *const A,
    /// From line to line.
    pub step: usize,
    pub lines: usize,
}

/// Something whose elements can be found.
pub(super) trait Source<A>: Sync {
    /// The first lines of a patch that starts at `index`.
    ///
    /// # Safety
    /// There are such elements. What is found is valid as long as the room is left alone.
    unsafe fn find(&self, index: &[usize; AXES], patch: Patch, room: &mut Room<A>) -> Found<A>;
}

/// Elements in memory.
pub(super) struct Memory<A> {
    pub from: *const A,
    pub strides: [usize; AXES],
}
// SAFETY: elements are only read.
unsafe impl<A: Sync> Sync for Memory<A> {}
impl<A> Strided for Memory<A> {
    fn show(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
        see(&mut self.strides);
    }
}
impl<A: Copy + Sync> Source<A> for Memory<A> {
    unsafe fn find(&self, index: &[usize; AXES], patch: Patch, room: &mut Room<A>) -> Found<A> {
        let offset: usize = index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum();
        let (across, along) = (self.strides[patch.across], self.strides[patch.along]);
        // SAFETY: the caller's promise, for all lines of the patch; the room has been made for as many as are copied.
        unsafe {
            let from = self.from.add(offset);
            if (along == 1 || patch.len == 1) && (!patch.dense || across == patch.len || patch.lines == 1) {
                return Found { from, step: across, lines: patch.lines };
            }
            let Patch { lines, len, .. } = patch.fitting(GATHERED);
            // An odd number of cache lines, so that not all lines want the same part of the cache.
            let step = if patch.dense || lines == 1 { len } else { len + 64_usize.div_ceil(size_of::<A>().max(1)) };
            let to = room.start(lines * step);
            // In the order of memory.
            if lines == 1 || along <= across {
                for line in 0..lines {
                    for i in 0..len {
                        simd::prefetch(from.wrapping_add(line * across + (i + AHEAD) * along));
                        to.add(line * step + i).write(from.add(line * across + i * along).read());
                    }
                }
            } else {
                for i in 0..len {
                    simd::prefetch_row(from.wrapping_add((i + ROWS_AHEAD) * along), lines * across);
                    for line in 0..lines {
                        to.add(line * step + i).write(from.add(line * across + i * along).read());
                    }
                }
            }
            Found { from: to, step, lines }
        }
    }
}

/// An expression.
pub(super) struct Computed<X>(pub X);
impl<X: Expression> Source<X::Elem> for Computed<X> {
    unsafe fn find(&self, index: &[usize; AXES], patch: Patch, room: &mut Room<X::Elem>) -> Found<X::Elem> {
        let Patch { mut lines, across, mut len, along, .. } = patch.fitting(COMPUTED);
        let (to, step, found) = (room.start(lines * len), len, lines);
        let mut x = self.0;
        let (mut runs_on, mut aligned) = (true, true);
        x.strides(&mut |strides| {
            runs_on &= lines == 1 || Some(strides[across]) == strides[along].checked_mul(len);
            aligned &= strides[along] == 1;
        });
        if runs_on {
            (lines, len) = (1, lines * len);
        }
        let piece = if aligned { len.min(fused::longest::<X>()) } else { PIECE };
        simd::dispatch(Compute { x, index, lines: [lines, across], along: [len, along], piece, to });
        Found { from: to, step, lines: found }
    }
}

/// The elements of lines, piece by piece.
struct Compute<'a, X: Expression> {
    x: X,
    index: &'a [usize; AXES],
    lines: [usize; 2],
    along: [usize; 2],
    piece: usize,
    to: *mut X::Elem,
}
impl<X: Expression> Loop for Compute<'_, X> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Compute { x, index, lines: [lines, across], along: [len, along], piece, to } = self;
        let (mut room, computed) = (X::room(), fused::computed::<X>());
        let computed = computed.as_ref().map_or(core::ptr::null_mut(), Scratch::start);
        let mut at = *index;
        for line in 0..lines {
            at[across] = index[across] + line;
            for low in (0..len).step_by(piece) {
                at[along] = index[along] + low;
                let piece = piece.min(len - low);
                // SAFETY: the sizes of an expression are those its leaves are broadcast to; the room stays here, and a piece
                // fits it or is read where it is; there is room for all elements.
                unsafe {
                    let places = x.places(fused::Compiled, &mut room, computed, &at, along, piece);
                    let to = to.add(line * len + low).cast::<MaybeUninit<X::Elem>>();
                    fused::fill(x, places, core::slice::from_raw_parts_mut(to, piece));
                }
            }
        }
    }
}
