//! The input of the convolution kernels: the padded part of the operand that a block needs, channels last, in the accumulation type. And
//! their output: sums stored to the result.

use crate::cpu::simd::{self, Loop};
#[cfg(target_arch = "x86_64")]
use crate::cpu::transpose::{SIDE, transpose};
use crate::dtype::{Compute, Dtype};
use crate::ops;
use crate::ops::kernel::VectorWidth;

/// Converts the numbers of a two-dimensional part while copying: `lines` lines of `len`.
struct Convert<A, B, F> {
    from: *const A,
    to: *mut B,
    lines: usize,
    len: usize,
    from_steps: [usize; 2],
    to_steps: [usize; 2],
    call: F,
}

/// Lines copied together where source and destination are contiguous along different axes: a cache line of numbers.
const TOGETHER: usize = 16;

impl<A: Copy, B, F: Fn(A) -> B> Loop for Convert<A, B, F> {
    type Output = ();
    const WIDEST: VectorWidth = VectorWidth::Narrow;
    #[inline(always)]
    fn run(self) {
        let Convert { from, to, lines, len, from_steps, to_steps, call } = self;
        let place = |line: usize, at: usize| {
            // SAFETY: the callers of `widen` and `narrow` promise that both pointers have these places.
            unsafe {
                let value = from.add(line * from_steps[0] + at * from_steps[1]).read();
                to.add(line * to_steps[0] + at * to_steps[1]).write(call(value));
            }
        };
        if from_steps[1] == 1 && to_steps[1] == 1 {
            for line in 0..lines {
                // SAFETY: as above.
                let (from, to) = unsafe { (from.add(line * from_steps[0]), to.add(line * to_steps[0])) };
                for at in 0..len {
                    // SAFETY: as above.
                    unsafe { to.add(at).write(call(from.add(at).read())) }
                }
            }
            return;
        }
        // Lines run along the source's contiguous axis; several at once fill cache lines of the destination.
        for low in (0..lines).step_by(TOGETHER) {
            let high = (low + TOGETHER).min(lines);
            if high - low == TOGETHER {
                for at in 0..len {
                    (low..low + TOGETHER).for_each(|line| place(line, at));
                }
            } else {
                for at in 0..len {
                    (low..high).for_each(|line| place(line, at));
                }
            }
        }
    }
}

/// Copies `sizes[0]` times `sizes[1]` elements, converted to the compute type.
///
/// # Safety
/// Everything that sizes and strides reach is initialised in `from`, and the caller's to write in `to`.
pub(in crate::cpu) unsafe fn widen<E: Dtype>(
    from: *const E,
    to: *mut E::Compute,
    sizes: [usize; 2],
    from_steps: [usize; 2],
    to_steps: [usize; 2],
) {
    copy(from, to, sizes, from_steps, to_steps, |x: E| x.to_compute());
}

/// The same, multiplied by a factor.
///
/// # Safety
/// As for [`widen`].
pub(in crate::cpu) unsafe fn scale<E: Dtype>(
    from: *const E,
    to: *mut E::Compute,
    sizes: [usize; 2],
    from_steps: [usize; 2],
    to_steps: [usize; 2],
    factor: E::Compute,
) {
    copy(from, to, sizes, from_steps, to_steps, |x: E| x.to_compute().binary::<ops::mul>(factor));
}

/// The reverse of [`widen`], rounding.
///
/// # Safety
/// As for [`widen`].
pub(super) unsafe fn narrow<E: Dtype>(
    from: *const E::Compute,
    to: *mut E,
    sizes: [usize; 2],
    from_steps: [usize; 2],
    to_steps: [usize; 2],
) {
    copy(from, to, sizes, from_steps, to_steps, |x: E::Compute| E::from_compute(x));
}

/// Stores the sums of pixels, `strip` apart, in the result: `sizes` are the numbers of pixels and channels, `to_steps` their strides in the
/// result. The sums overwrite the result or are added to it.
///
/// # Safety
/// As for [`narrow`]; values that are added to are initialised.
pub(super) unsafe fn store<E: Dtype>(
    from: *const E::Compute,
    strip: usize,
    to: *mut E,
    [pixels, channels]: [usize; 2],
    to_steps: [usize; 2],
    adds: bool,
) {
    #[cfg(target_arch = "x86_64")]
    let done = if to_steps[0] == 1
        && core::any::TypeId::of::<E>() == core::any::TypeId::of::<f32>()
        && crate::cpu::transpose::is_there()
    {
        let squares = [pixels, channels].map(|size| size - size % SIDE);
        // SAFETY: whole squares, of `f32`; the machine has the instructions.
        unsafe { store_squares(from.cast(), strip, to.cast(), squares, to_steps[1], adds) }
        squares
    } else {
        [0; 2]
    };
    #[cfg(not(target_arch = "x86_64"))]
    let done = [0; 2];
    // The rest outside the squares: the last channels of the squares' pixels, and the last pixels.
    for [low, high] in [[[0, done[1]], [done[0], channels]], [[done[0], 0], [pixels, channels]]] {
        let sizes = [high[0] - low[0], high[1] - low[1]];
        // SAFETY: the caller's promise.
        unsafe {
            let from = from.add(low[0] * strip + low[1]);
            let to = to.add(low[0] * to_steps[0] + low[1] * to_steps[1]);
            if adds {
                add::<E>(from, to, sizes, [strip, 1], to_steps);
            } else {
                narrow::<E>(from, to, sizes, [strip, 1], to_steps);
            }
        }
    }
}

/// Adds sums to the current values.
unsafe fn add<E: Dtype>(
    from: *const E::Compute,
    to: *mut E,
    sizes: [usize; 2],
    from_steps: [usize; 2],
    to_steps: [usize; 2],
) {
    for line in 0..sizes[0] {
        for at in 0..sizes[1] {
            // SAFETY: the caller's places.
            unsafe {
                let sum = from.add(line * from_steps[0] + at * from_steps[1]).read();
                let to = to.add(line * to_steps[0] + at * to_steps[1]);
                let there = to.read().to_compute();
                to.write(E::from_compute(there.binary::<ops::reduce::Accumulating>(sum)));
            }
        }
    }
}

/// [`store`] for whole squares whose pixels are contiguous in the result.
///
/// # Safety
/// As there; the machine has AVX.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx")]
unsafe fn store_squares(
    from: *const f32,
    strip: usize,
    to: *mut f32,
    [pixels, channels]: [usize; 2],
    to_step: usize,
    adds: bool,
) {
    for pixel in (0..pixels).step_by(SIDE) {
        for channel in (0..channels).step_by(SIDE) {
            // SAFETY: the caller's promise.
            unsafe {
                let (from, to) = (from.add(pixel * strip + channel), to.add(channel * to_step + pixel));
                if !adds {
                    transpose(from.cast(), 4 * strip, to, to_step);
                    continue;
                }
                let mut lines = [[0.0_f32; SIDE]; SIDE];
                transpose(from.cast(), 4 * strip, lines.as_mut_ptr().cast(), SIDE);
                for (line, list) in lines.iter().enumerate() {
                    let there = core::slice::from_raw_parts_mut(to.add(line * to_step), SIDE);
                    there.iter_mut().zip(list).for_each(|(there, sum)| *there += sum);
                }
            }
        }
    }
}

fn copy<A: Copy, B>(
    from: *const A,
    to: *mut B,
    [rows, columns]: [usize; 2],
    from_steps: [usize; 2],
    to_steps: [usize; 2],
    call: impl Fn(A) -> B,
) {
    // Copies along the axis that is contiguous in both, or else in the source.
    let turns = from_steps[1] != 1 && (from_steps[0] == 1 || to_steps[0] == 1);
    let turned = |steps: [usize; 2]| if turns { [steps[1], steps[0]] } else { steps };
    let [lines, len] = turned([rows, columns]);
    let (from_steps, to_steps) = (turned(from_steps), turned(to_steps));
    simd::dispatch(Convert { from, to, lines, len, from_steps, to_steps, call });
}

/// One axis of a block's input: positions from `start` on; those outside the operand are zero.
#[derive(Clone, Copy)]
pub(super) struct Part {
    /// The first position, counted from the start of the leading padding.
    pub(super) start: usize,
    pub(super) len: usize,
    /// The leading padding, and the operand's size.
    pub(super) before: usize,
    pub(super) size: usize,
    pub(super) stride: usize,
}
impl Part {
    /// The operand's position for one of this part; `None` in the padding.
    fn position(self, at: usize) -> Option<usize> {
        (self.start + at).checked_sub(self.before).filter(|&at| at < self.size)
    }
}

/// Copies a part of rows and columns, with all channels, to contiguous rows, channels last.
///
/// # Safety
/// `from` is the operand's first element, all of its elements are initialised, and there is room for the part at `to`.
pub(super) unsafe fn copy_part<E: Dtype>(
    from: *const E,
    to: *mut E::Compute,
    rows: Part,
    columns: Part,
    channels: usize,
    channel_stride: usize,
) {
    let row_len = columns.len * channels;
    // The columns inside the operand are adjacent.
    let first = columns.before.saturating_sub(columns.start).min(columns.len);
    let end = (columns.before + columns.size).saturating_sub(columns.start).clamp(first, columns.len);
    for row in 0..rows.len {
        // SAFETY: the caller's promise: a row of the part fits, and the positions are inside the operand.
        unsafe {
            let to = to.add(row * row_len);
            let Some(y) = rows.position(row) else {
                zero::<E>(to, row_len);
                continue;
            };
            zero::<E>(to, first * channels);
            zero::<E>(to.add(end * channels), (columns.len - end) * channels);
            let Some(x) = columns.position(first).filter(|_| first < end) else { continue };
            let from = from.add(y * rows.stride + x * columns.stride);
            let to = to.add(first * channels);
            if channel_stride == 1 && columns.stride == channels {
                // One line.
                widen::<E>(from, to, [1, (end - first) * channels], [0, 1], [0, 1]);
            } else {
                widen::<E>(from, to, [channels, end - first], [channel_stride, columns.stride], [1, channels]);
            }
        }
    }
}

unsafe fn zero<E: Dtype>(to: *mut E::Compute, len: usize) {
    // SAFETY: the caller's places.
    (0..len).for_each(|at| unsafe { to.add(at).write(E::Compute::default()) });
}
