//! Packs operands for the product kernels: rows contiguously, columns in strips.

use crate::cpu::simd::{self, Loop};
#[cfg(target_arch = "x86_64")]
use crate::cpu::transpose;
use crate::dtype::MachineFloat;

/// Transposes a square: start and line stride in bytes, of the source and of the result.
type Square = unsafe fn(*const u8, usize, *mut u8, usize);

/// The function that transposes squares of `width`-byte elements in registers, and the side of its square.
fn squares(width: usize) -> Option<(usize, Square)> {
    #[cfg(target_arch = "x86_64")]
    return transpose::squares(width);
    #[cfg(not(target_arch = "x86_64"))]
    {
        let _ = width;
        None
    }
}

/// Starts of pieces of `side` elements that together cover `len`; the last piece may overlap the one before. Empty if `len` is shorter.
#[inline(always)]
fn covering(len: usize, side: usize) -> impl Iterator<Item = usize> {
    let count = if len < side { 0 } else { len.div_ceil(side) };
    (0..count).map(move |at| (at * side).min(len - side))
}

/// Copies `lines` lines of `len` elements of `PARTS` numbers each, transposed: in the source, the elements of a line are `from_step` apart
/// and lines are contiguous.
///
/// # Safety
/// Everything that sizes and strides reach is initialised in `from`, and the caller's to write in `to`.
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

/// Packs rows: `sizes` are the numbers of rows and of terms.
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
        // SAFETY: the caller of `rows` promises that the places are valid.
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

/// Packs rows of a left operand, with contiguous terms.
///
/// # Safety
/// The operand has these rows and terms, and there is room for the rows, `to_step` numbers apart, which no other thread accesses.
pub(super) unsafe fn rows<T: MachineFloat, const PARTS: usize>(
    from: *const T,
    steps: [usize; 2],
    to: *mut T,
    sizes: [usize; 2],
    to_step: usize,
) {
    simd::dispatch(Rows::<T, PARTS> { from, steps, to, sizes, to_step });
}

/// Rows of prefetch distance: rows are far apart, where the hardware prefetcher does not help.
const AHEAD: usize = 24;

/// Packs a strip of `STRIP` numbers per row.
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
        // SAFETY: the caller of `strip` promises that the places are valid.
        unsafe {
            if PARTS == 2 {
                // A complex number fills two rows: times one, then times `i`.
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
                // Source columns become rows of the strip.
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

/// Packs whole strips with contiguous columns: row by row, across all strips.
struct Whole<T, const STRIP: usize> {
    from: *const T,
    step: usize,
    to: *mut T,
    /// Number of terms, and of strips.
    sizes: [usize; 2],
    /// Stride between packed strips.
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
                // SAFETY: the caller of `whole` promises that the places are valid.
                unsafe { to.write(from.read()) }
            }
        }
    }
}

/// Packs whole strips of a right operand with contiguous rows, `step` apart; `sizes` are the numbers of terms and of strips. A strip has
/// `wide` numbers per term; strips begin `strip_len` numbers apart.
///
/// # Safety
/// The operand has these terms and columns, and there is room for the strips, which no other thread accesses.
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

/// Packs strips whose numbers are somewhere in each row.
struct Gathering<'a, T, const STRIP: usize> {
    from: *const T,
    rows: &'a [usize],
    strips: &'a [usize],
    to: *mut T,
    strip_len: usize,
}
impl<T: MachineFloat, const STRIP: usize> Loop for Gathering<'_, T, STRIP> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Gathering { from, rows, strips, to, strip_len } = self;
        for (term, &row) in rows.iter().enumerate() {
            for (at, &strip) in strips.iter().enumerate() {
                let from = from.wrapping_add(row + strip).cast::<[T; STRIP]>();
                let to = to.wrapping_add(at * strip_len).cast::<[T; STRIP]>().wrapping_add(term);
                // SAFETY: the caller of `gathered` promises that the places are valid.
                unsafe { to.write(from.read()) }
            }
        }
    }
}

/// Packs whole strips of a right operand: the numbers of a strip are `rows[term] + strips[strip]` numbers behind the first one. A strip has
/// `wide` numbers per term; strips begin `strip_len` numbers apart.
///
/// # Safety
/// The numbers are all there, and there is room for the strips, which no other thread accesses.
pub(super) unsafe fn gathered<T: MachineFloat>(
    from: *const T,
    rows: &[usize],
    strips: &[usize],
    to: *mut T,
    [wide, strip_len]: [usize; 2],
) {
    match wide {
        8 => simd::dispatch(Gathering::<T, 8> { from, rows, strips, to, strip_len }),
        16 => simd::dispatch(Gathering::<T, 16> { from, rows, strips, to, strip_len }),
        32 => simd::dispatch(Gathering::<T, 32> { from, rows, strips, to, strip_len }),
        _ => unreachable!("a strip of another length"),
    }
}

/// Packs one strip of columns of a right operand, padding a narrower one with zeros. For complex numbers, each row is followed by `i` times
/// itself.
///
/// # Safety
/// The operand has these terms and columns, and there is room for a strip, which no other thread accesses.
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
