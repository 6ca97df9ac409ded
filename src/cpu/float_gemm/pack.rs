//! Operands of products as the kernels read them: rows of numbers side by side, and columns in strips.
//!
//! Uses vector dispatch; used by `float_gemm`.

use crate::cpu::simd::{self, Loop};
#[cfg(target_arch = "x86_64")]
use crate::cpu::transpose;
use crate::dtype::MachineFloat;

/// Transposes a square: where its lines start, and the bytes from each to the next, of the source and of the result.
type Square = unsafe fn(*const u8, usize, *mut u8, usize);

/// How squares of elements of `width` bytes are transposed in registers, and the elements on their sides.
fn squares(width: usize) -> Option<(usize, Square)> {
    #[cfg(target_arch = "x86_64")]
    return transpose::squares(width);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = width;
        None
    }
}

/// Where pieces of `side` elements begin that together cover `len`: the last piece may overlap the one before. None if `len` is shorter.
#[inline(always)]
fn covering(len: usize, side: usize) -> impl Iterator<Item = usize> {
    let count = if len < side { 0 } else { len.div_ceil(side) };
    (0..count).map(move |at| (at * side).min(len - side))
}

/// Copies elements of `PARTS` numbers each, `lines` lines of `len` elements, transposed: the elements of a line are `from_step` apart
/// where they come from, and lines are side by side there.
///
/// # Safety
/// The places that sizes and steps reach are initialised in `from`, and the caller's to write in `to`.
#[inline(always)]
unsafe fn transposed<T: MachineFloat, const PARTS: usize>(
    from: *const T,
    from_step: usize,
    to: *mut T,
    to_step: usize,
    [lines, len]: [usize; 2],
) {
    let place = |line: usize, at: usize| {
        (from.wrapping_add(at * from_step + line * PARTS), to.wrapping_add(line * to_step + at * PARTS))
    };
    if let Some((side, square)) = squares(PARTS * size_of::<T>()).filter(|&(side, _)| lines >= side && len >= side) {
        for at in covering(len, side) {
            for line in covering(lines, side) {
                let (from, to) = place(line, at);
                // SAFETY: the square is inside both.
                unsafe { square(from.cast(), from_step * size_of::<T>(), to.cast(), to_step * size_of::<T>()) }
            }
        }
        return;
    }
    for line in 0..lines {
        for at in 0..len {
            let (from, to) = place(line, at);
            // SAFETY: the caller's promise.
            unsafe { to.copy_from_nonoverlapping(from, PARTS) }
        }
    }
}

/// Packs rows: `sizes` says how many, and of how many terms.
struct Rows<T, const PARTS: usize> {
    from: *const T,
    steps: [usize; 2],
    to: *mut T,
    sizes: [usize; 2],
    to_step: usize,
}
impl<T: MachineFloat, const PARTS: usize> Loop for Rows<T, PARTS> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Rows { from, steps, to, sizes: [rows, terms], to_step } = self;
        // SAFETY: `rows` promises that the places are there.
        unsafe {
            if steps[1] == PARTS {
                for row in 0..rows {
                    to.add(row * to_step).copy_from_nonoverlapping(from.add(row * steps[0]), terms * PARTS);
                }
            } else if steps[0] == PARTS {
                transposed::<T, PARTS>(from, steps[1], to, to_step, [rows, terms]);
            } else {
                for row in 0..rows {
                    for term in 0..terms {
                        let from = from.add(row * steps[0] + term * steps[1]);
                        to.add(row * to_step + term * PARTS).copy_from_nonoverlapping(from, PARTS);
                    }
                }
            }
        }
    }
}

/// Packs rows of a left operand: the terms of a packed row are contiguous.
///
/// # Safety
/// The operand has these rows and terms, and there is room for the rows, `to_step` numbers apart, which no other thread uses.
pub(super) unsafe fn rows<T: MachineFloat, const PARTS: usize>(
    from: *const T,
    steps: [usize; 2],
    to: *mut T,
    sizes: [usize; 2],
    to_step: usize,
) {
    simd::dispatch(Rows::<T, PARTS> { from, steps, to, sizes, to_step });
}

/// How many rows ahead are prefetched: they are far apart, which the processor does not foresee.
const AHEAD: usize = 24;

/// Packs a strip, whose numbers in each row are `STRIP`.
struct Strip<T, const PARTS: usize, const STRIP: usize> {
    from: *const T,
    steps: [usize; 2],
    to: *mut T,
    sizes: [usize; 2],
}
impl<T: MachineFloat, const PARTS: usize, const STRIP: usize> Loop for Strip<T, PARTS, STRIP> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Strip { from, steps, to, sizes: [terms, columns] } = self;
        // SAFETY: `strip` promises that the places are there.
        unsafe {
            if PARTS == 2 {
                // A complex number times one is in a row of it, and times `i` in the next.
                for term in 0..terms {
                    let from = from.add(term * steps[0]);
                    simd::prefetch_row(from.wrapping_add(steps[0].wrapping_mul(AHEAD)), STRIP);
                    let mut line = [T::zero(); STRIP];
                    if columns == STRIP && steps[1] == 2 {
                        line = from.cast::<[T; STRIP]>().read();
                    } else {
                        for (column, pair) in line.chunks_exact_mut(2).enumerate().take(columns / 2) {
                            pair.copy_from_slice(&from.add(column * steps[1]).cast::<[T; 2]>().read());
                        }
                    }
                    let mut turned = line;
                    for pair in turned.chunks_exact_mut(2) {
                        (pair[0], pair[1]) = (-pair[1], pair[0]);
                    }
                    to.cast::<[[T; STRIP]; 2]>().add(term).write([line, turned]);
                }
            } else if columns == STRIP && steps[0] == 1 {
                // What is a row here is a column there.
                transposed::<T, PARTS>(from, steps[1], to, STRIP, [terms, STRIP]);
            } else {
                for term in 0..terms {
                    let mut line = [T::zero(); STRIP];
                    let mut done = 0;
                    if steps[1] == 1 {
                        while done + 4 <= columns {
                            let four = from.add(term * steps[0] + done).cast::<[T; 4]>().read();
                            line[done..done + 4].copy_from_slice(&four);
                            done += 4;
                        }
                    }
                    for (column, number) in line.iter_mut().enumerate().take(columns).skip(done) {
                        *number = from.add(term * steps[0] + column * steps[1]).read();
                    }
                    to.cast::<[T; STRIP]>().add(term).write(line);
                }
            }
        }
    }
}

/// Packs whole strips, whose columns are side by side: row by row, across all of them.
struct Whole<T, const STRIP: usize> {
    from: *const T,
    step: usize,
    to: *mut T,
    /// Terms, and strips.
    sizes: [usize; 2],
    /// From one packed strip to the next.
    strip_len: usize,
}
impl<T: MachineFloat, const STRIP: usize> Loop for Whole<T, STRIP> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Whole { from, step, to, sizes: [terms, strips], strip_len } = self;
        for term in 0..terms {
            for strip in 0..strips {
                let from = from.wrapping_add(term * step).cast::<[T; STRIP]>().wrapping_add(strip);
                let to = to.wrapping_add(strip * strip_len).cast::<[T; STRIP]>().wrapping_add(term);
                // SAFETY: `whole` promises that the places are there.
                unsafe { to.write(from.read()) }
            }
        }
    }
}

/// Packs whole strips of a right operand whose rows are contiguous, and `step` apart; `sizes` are the numbers of terms and of strips. A strip
/// has `wide` numbers of each term, and begins `strip_len` numbers behind the one before.
///
/// # Safety
/// The operand has these terms and columns, and there is room for the strips, which no other thread uses.
pub(super) unsafe fn whole<T: MachineFloat>(
    from: *const T,
    step: usize,
    to: *mut T,
    sizes: [usize; 2],
    [wide, strip_len]: [usize; 2],
) {
    match wide {
        8 => simd::dispatch(Whole::<T, 8> { from, step, to, sizes, strip_len }),
        16 => simd::dispatch(Whole::<T, 16> { from, step, to, sizes, strip_len }),
        32 => simd::dispatch(Whole::<T, 32> { from, step, to, sizes, strip_len }),
        _ => unreachable!("a strip of another length"),
    }
}

/// Packs any strip of columns of a right operand; a strip of fewer columns is filled up with zeros. Of complex numbers each row is followed by
/// `i` times itself.
///
/// # Safety
/// The operand has these terms and columns, and there is room for a strip, which no other thread uses.
pub(super) unsafe fn strip<T: MachineFloat, const PARTS: usize>(
    from: *const T,
    steps: [usize; 2],
    to: *mut T,
    sizes: [usize; 2],
    strip: usize,
) {
    match strip {
        8 => simd::dispatch(Strip::<T, PARTS, 8> { from, steps, to, sizes }),
        16 => simd::dispatch(Strip::<T, PARTS, 16> { from, steps, to, sizes }),
        32 => simd::dispatch(Strip::<T, PARTS, 32> { from, steps, to, sizes }),
        _ => unreachable!("a strip of another length"),
    }
}
