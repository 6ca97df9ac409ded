//! Sources of the elements to reduce: memory, or an expression computed on the fly.

use crate::cpu::bytes::ByteBuffer;
use crate::cpu::engine::Body;
use crate::cpu::fused;
use crate::cpu::fused_plan::HasStrides;
use crate::cpu::kernel_body::KernelBody;
use crate::cpu::simd::{self, Loop};
use crate::cpu::walk::Run;
use crate::ops::expression::{AXES, CHUNK as PIECE, Expression};
use crate::storage::Scratch;
use core::marker::PhantomData;
use core::mem::MaybeUninit;

/// Elements gathered at a time.
const GATHERED: usize = 16_384;
/// Elements of an expression computed at a time: they stay in L1.
const COMPUTED: usize = 8192;
/// Prefetch distance in elements and in rows.
const AHEAD: usize = 64;
const ROWS_AHEAD: usize = 4;
/// Minimum stride in bytes for prefetching: elements in different cache lines.
const NEAR: usize = 64;

/// A patch of elements: number of lines and their axis, line length and its axis.
#[derive(Clone, Copy)]
pub(super) struct Patch {
    pub lines: usize,
    pub across: usize,
    pub len: usize,
    pub along: usize,
    /// Fewer lines may be returned, in multiples of this.
    pub multiple: usize,
    /// Whether lines must be contiguous with each other.
    pub dense: bool,
}
impl Patch {
    /// As many lines as fit the buffer.
    fn fitting(self, buffer: usize) -> Self {
        let multiples = (buffer / (self.len * self.multiple).max(1)).max(1);
        Patch { lines: self.lines.min(multiples * self.multiple), ..self }
    }
}

/// Lines of contiguous elements.
pub(super) struct Found {
    pub from: *const u8,
    /// Stride between lines, in elements.
    pub step: usize,
    pub lines: usize,
}

/// A source of elements, ordered by a plan.
pub(super) trait ElementSource: HasStrides + Sync {
    /// Delivers the first lines of a patch that starts at `index`.
    ///
    /// # Safety
    /// These elements exist. The result is valid until the buffer is used again.
    unsafe fn find(&self, index: &[usize; AXES], patch: Patch, buffer: &mut ByteBuffer) -> Found;
}

/// Elements in memory, `size` bytes each.
pub(super) struct Memory {
    pub from: *const u8,
    pub size: usize,
    pub strides: [usize; AXES],
}
// SAFETY: elements are only read.
unsafe impl Sync for Memory {}
impl HasStrides for Memory {
    fn show(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
        see(&mut self.strides);
    }
}
impl ElementSource for Memory {
    unsafe fn find(&self, index: &[usize; AXES], patch: Patch, buffer: &mut ByteBuffer) -> Found {
        let offset: usize = index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum();
        let (across, along) = (self.strides[patch.across], self.strides[patch.along]);
        let from = self.from.wrapping_add(offset * self.size);
        if (along == 1 || patch.len == 1) && (!patch.dense || across == patch.len || patch.lines == 1) {
            return Found { from, step: across, lines: patch.lines };
        }
        let Patch { lines, len, .. } = patch.fitting(GATHERED);
        // An odd number of cache lines, so that lines do not compete for the same cache sets.
        let step = if patch.dense || lines == 1 { len } else { len + 64_usize.div_ceil(self.size) };
        let to = buffer.reserve(lines * step * self.size);
        let (sizes, steps) = ([lines, len], [[step, 1], [across, along]]);
        // SAFETY: the caller's promise, for all lines of the patch; the buffer has room for everything that is copied.
        unsafe {
            match self.size {
                1 => gather::<u8>(to, from, sizes, steps),
                2 => gather::<u16>(to, from, sizes, steps),
                4 => gather::<u32>(to, from, sizes, steps),
                8 => gather::<u64>(to, from, sizes, steps),
                16 => gather::<[u64; 2]>(to, from, sizes, steps),
                size => unreachable!("no element has {size} bytes"),
            }
        }
        Found { from: to, step, lines }
    }
}

/// Gathers lines of elements; `steps` are those between lines and between elements, in the buffer and in memory.
///
/// # Safety
/// All of them exist, and the buffer has room for them.
unsafe fn gather<T: Copy>(to: *mut u8, from: *const u8, [lines, len]: [usize; 2], steps: [[usize; 2]; 2]) {
    let (to, from) = (to.cast::<T>(), from.cast::<T>());
    let [[step, _], [across, along]] = steps;
    // SAFETY: the caller's promise.
    unsafe {
        // In memory order; line by line if all lines share cache lines.
        if along <= across || (lines - 1) * across * size_of::<T>() < NEAR {
            for line in 0..lines {
                let (to, from) = (to.add(line * step), from.add(line * across));
                if along == 2 {
                    // (A constant stride, so that the compiler loads whole vectors.)
                    for i in 0..len {
                        to.add(i).write_unaligned(from.add(2 * i).read_unaligned());
                    }
                } else if along * size_of::<T>() < NEAR {
                    // The hardware prefetcher suffices.
                    for i in 0..len {
                        to.add(i).write_unaligned(from.add(i * along).read_unaligned());
                    }
                } else {
                    for i in 0..len {
                        simd::prefetch(from.wrapping_add((i + AHEAD) * along));
                        to.add(i).write_unaligned(from.add(i * along).read_unaligned());
                    }
                }
            }
        } else {
            for i in 0..len {
                simd::prefetch_row(from.wrapping_add((i + ROWS_AHEAD) * along), lines * across);
                for line in 0..lines {
                    to.add(line * step + i).write_unaligned(from.add(line * across + i * along).read_unaligned());
                }
            }
        }
    }
}

/// An expression, computed on demand.
pub(super) struct Computed<X>(pub X);
impl<X: Expression> HasStrides for Computed<X> {
    fn show(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
        self.0.strides(see);
    }
}
impl<X: Expression> ElementSource for Computed<X> {
    unsafe fn find(&self, index: &[usize; AXES], patch: Patch, buffer: &mut ByteBuffer) -> Found {
        let (size, longest) = (size_of::<X::Elem>(), fused::longest::<X>());
        let computed = ComputedPatch::new(&mut Computed(self.0), patch, buffer, (size, longest));
        let ComputedPatch { found, across, along, lines, len, piece, to } = computed;
        simd::dispatch(ComputeLines {
            x: self.0,
            index,
            lines: [lines, across],
            along: [len, along],
            piece,
            to: to.cast(),
        });
        found
    }
}

/// What a kernel makes of two operands, computed on demand by its inner loop, so that this is compiled once for all of them.
pub(super) struct Paired<'a> {
    /// The kernel and the operands; the result is in a buffer.
    pub body: KernelBody<3>,
    pub strides: [[usize; AXES]; 2],
    /// For as long as the kernel and the operands are there.
    pub borrows: PhantomData<&'a ()>,
}
// SAFETY: kernels are `Sync`, and elements are only read.
unsafe impl Sync for Paired<'_> {}
impl HasStrides for Paired<'_> {
    fn show(&mut self, see: &mut dyn FnMut(&mut [usize; AXES])) {
        self.strides.iter_mut().for_each(see);
    }
}
impl ElementSource for Paired<'_> {
    unsafe fn find(&self, index: &[usize; AXES], patch: Patch, buffer: &mut ByteBuffer) -> Found {
        let Patch { lines, across, len, along, .. } = patch.fitting(COMPUTED);
        let mut body = self.body;
        let to = buffer.reserve(lines * len * body.sizes[0]);
        body.places[0] = to;
        let seen = |strides: &[usize; AXES]| {
            let start = index.iter().zip(strides).map(|(index, stride)| index * stride).sum::<usize>();
            (start, strides[across], strides[along])
        };
        let (a, b) = (seen(&self.strides[0]), seen(&self.strides[1]));
        // SAFETY: the caller's promise, for all lines of the patch; the buffer has been made for as many elements.
        unsafe {
            if lines == 1 || [a, b].iter().all(|&(_, across, along)| along.checked_mul(len) == Some(across)) {
                // Lines that run on are one.
                body.run(Run { starts: [0, a.0, b.0], len: lines * len, steps: [1, a.2, b.2] });
            } else {
                body.lines([0, a.0, b.0], [[len, a.1, b.1], [1, a.2, b.2]], [lines, len]);
            }
        }
        Found { from: to, step: len, lines }
    }
}

/// The part of a patch to compute, and the chunk length.
struct ComputedPatch {
    found: Found,
    across: usize,
    along: usize,
    /// Contiguous lines count as one.
    lines: usize,
    len: usize,
    piece: usize,
    to: *mut u8,
}
impl ComputedPatch {
    fn new(x: &mut dyn HasStrides, patch: Patch, buffer: &mut ByteBuffer, (size, longest): (usize, usize)) -> Self {
        let Patch { mut lines, across, mut len, along, .. } = patch.fitting(COMPUTED);
        let to = buffer.reserve(lines * len * size);
        let found = Found { from: to, step: len, lines };
        let (mut runs_on, mut aligned) = (true, true);
        x.show(&mut |strides| {
            runs_on &= lines == 1 || Some(strides[across]) == strides[along].checked_mul(len);
            aligned &= strides[along] == 1;
        });
        if runs_on {
            (lines, len) = (1, lines * len);
        }
        let piece = if aligned { len.min(longest) } else { PIECE };
        ComputedPatch { found, across, along, lines, len, piece, to }
    }
}

/// Computes lines of elements in chunks.
struct ComputeLines<'a, X: Expression> {
    x: X,
    index: &'a [usize; AXES],
    lines: [usize; 2],
    along: [usize; 2],
    piece: usize,
    to: *mut X::Elem,
}
impl<X: Expression> Loop for ComputeLines<'_, X> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let ComputeLines { x, index, lines: [lines, across], along: [len, along], piece, to } = self;
        let (mut buffer, computed) = (X::buffers(), fused::computed::<X>());
        let computed = computed.as_ref().map_or(core::ptr::null_mut(), Scratch::start);
        let mut at = *index;
        for line in 0..lines {
            at[across] = index[across] + line;
            for low in (0..len).step_by(piece) {
                at[along] = index[along] + low;
                let piece = piece.min(len - low);
                // SAFETY: an expression's sizes are those its leaves are broadcast to; the buffers outlive the loop, and a chunk fits them
                // or is read in place; the destination has room for all elements.
                unsafe {
                    let places = x.places(fused::Compiled, &mut buffer, computed, &at, along, piece);
                    let to = to.add(line * len + low).cast::<MaybeUninit<X::Elem>>();
                    fused::fill(x, places, core::slice::from_raw_parts_mut(to, piece));
                }
            }
        }
    }
}
