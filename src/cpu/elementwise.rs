//! Elementwise loops: one kernel over one to four operands.
//!
//! Inner loops are written so that the compiler vectorises the contiguous cases. Uses walks; used by `Cpu`.

use super::simd::{self, Loop};
use super::stream::{self, Room};
use super::threads::{self, Shared};
use super::walk::{Planes, Run, TILE, Walk};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::kernel::{Map1, Map2, Map3};
use crate::shape::strides::{numel, span};
use crate::storage::{HostBuffer, View, ViewMut};
use core::mem::MaybeUninit;

/// The place of a view's first element.
pub(crate) fn source<E: Element>(view: &View<'_, HostBuffer, E>) -> *const E {
    debug_assert!(
        span(view.sizes, view.strides).is_some_and(|span| span == 0 || view.offset + span <= view.buffer.len::<E>())
    );
    // SAFETY: the offset of a view lies inside its buffer (or at its end, if the view is empty).
    unsafe { view.buffer.start::<E>().add(view.offset) }
}

/// The place of an output's first element.
///
/// # Panics
/// If the buffer is shared: tensors make theirs unique before they write.
pub(super) fn target<E: Element>(out: &mut ViewMut<'_, HostBuffer, E>) -> *mut E {
    debug_assert!(
        span(out.sizes, out.strides).is_some_and(|span| span == 0 || out.offset + span <= out.buffer.len::<E>())
    );
    let start = out.buffer.start_mut::<E>().unwrap_or_else(|| unreachable!("a shared buffer is never written"));
    // SAFETY: as in `source`.
    unsafe { start.add(out.offset) }
}

/// What is done along one inner loop of `N` operands, the first of which is written.
trait Body<const N: usize>: Copy {
    /// The bytes read and written for each element.
    const BYTES: usize;
    /// The type of the elements written.
    type Out;
    /// Whether what stands where it writes is not read, so that it may write elsewhere as well.
    const WRITES_ONLY: bool;
    /// Where it writes to.
    fn out(&mut self) -> &mut *mut Self::Out;
    /// # Safety
    /// The operands' places, advanced as the run says, are valid; those written are read and written by nobody else.
    unsafe fn run(self, run: Run<N>);

    /// Some lines of `len` elements: `steps` from line to line and from element to element.
    ///
    /// # Safety
    /// As for `run`, for every line.
    #[inline(always)]
    unsafe fn tile(self, starts: [usize; N], steps: [[usize; N]; 2], lines: usize, len: usize) {
        for line in 0..lines {
            let starts = core::array::from_fn(|operand| starts[operand] + line * steps[0][operand]);
            // SAFETY: the caller's promise.
            unsafe { self.run(Run { starts, len, steps: steps[1] }) }
        }
    }
}

/// How many tiles are visited along both axes before the next ones.
const TILES: usize = 8;

/// A tile of an operand, turned so that its lines are those of the result.
struct Turned<T>([MaybeUninit<T>; TILE * TILE]);
impl<T: Copy> Turned<T> {
    #[inline(always)]
    fn new() -> Self {
        Turned([const { MaybeUninit::uninit() }; TILE * TILE])
    }

    /// Element `i` of line `line` is the one `line + i * step` from `from`. What lies side by side is read side by side: each
    /// cache line once.
    ///
    /// # Safety
    /// These are places of valid elements; `lines` and `len` are at most `TILE`.
    #[inline(always)]
    unsafe fn fill(&mut self, from: *const T, step: usize, lines: usize, len: usize) -> *const T {
        let to: *mut T = self.0.as_mut_ptr().cast();
        // SAFETY: the caller's promise; `line * TILE + i` is inside the tile.
        unsafe {
            for i in 0..len {
                // The tile after this one: so far apart no hardware prefetcher sees a pattern.
                simd::prefetch(from.wrapping_add((i + TILE) * step));
                simd::prefetch(from.wrapping_add((i + TILE) * step + lines / 2));
                for line in 0..lines {
                    to.add(line * TILE + i).write(from.add(line + i * step).read());
                }
            }
        }
        to
    }
}

/// Every inner loop of a walk.
struct Everywhere<'a, B, const N: usize>(&'a Walk<N>, B);
impl<B: Body<N>, const N: usize> Loop for Everywhere<'_, B, N> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let Everywhere(walk, body) = self;
        let Planes { outer, sizes, steps, tile } = walk.planes();
        for run in outer {
            for plane in 0..run.len {
                let start = |operand: usize| run.starts[operand] + plane * run.steps[operand];
                let start: [usize; N] = core::array::from_fn(start);
                // Tiles of tiles: the pages of all operands stay within reach. (Loops with `while`: a `step_by` divides.)
                let blocks = if tile[0] > 1 { [TILES * TILE; 2] } else { sizes };
                let mut corner = [0, 0];
                while corner[0] < sizes[0] {
                    corner[1] = 0;
                    while corner[1] < sizes[1] {
                        let end = [0, 1].map(|axis| sizes[axis].min(corner[axis] + blocks[axis]));
                        let mut top = corner[0];
                        while top < end[0] {
                            let mut left = corner[1];
                            while left < end[1] {
                                let (lines, len) = (tile[0].min(end[0] - top), tile[1].min(end[1] - left));
                                let place = |operand: usize| {
                                    start[operand] + top * steps[0][operand] + left * steps[1][operand]
                                };
                                // SAFETY: `execute`'s caller promises it for all that the walk reaches.
                                unsafe { body.tile(core::array::from_fn(place), steps, lines, len) }
                                left += tile[1];
                            }
                            top += tile[0];
                        }
                        corner[1] += blocks[1];
                    }
                    corner[0] += blocks[0];
                }
            }
        }
    }
}

/// A single inner loop: what most walks are. It has a function of its own because small tensors feel what the general one
/// costs before it starts.
struct Line<B, const N: usize>(Run<N>, B);
impl<B: Body<N>, const N: usize> Loop for Line<B, N> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        // SAFETY: `execute`'s caller promises it.
        unsafe { self.1.run(self.0) }
    }
}

/// The same where the result is too large for the caches: it is computed piece by piece and written past them.
struct LargeLine<B, const N: usize>(Run<N>, B);
impl<B: Body<N>, const N: usize> Loop for LargeLine<B, N> {
    type Output = ();
    #[inline(always)]
    fn run(self) {
        let LargeLine(run, mut body) = self;
        let mut room = Room::new();
        let to = core::mem::replace(body.out(), room.start());
        let mut at = 0;
        while at < run.len {
            let len = Room::capacity::<B::Out>().min(run.len - at);
            let mut starts: [usize; N] = core::array::from_fn(|operand| run.starts[operand] + at * run.steps[operand]);
            let place = core::mem::replace(&mut starts[0], 0);
            // SAFETY: `execute`'s caller promises it; the piece fits the room.
            unsafe {
                body.run(Run { starts, len, steps: run.steps });
                room.write_out(to.add(place), len);
            }
            at += len;
        }
        stream::finish();
    }
}

/// Runs a single inner loop of a result of `total` elements.
#[inline(always)]
fn run_line<B: Body<N>, const N: usize>(run: Run<N>, body: B, total: usize) {
    // A condition of its own: what is behind it is then compiled only where it holds.
    #[allow(clippy::collapsible_if)]
    if const { B::WRITES_ONLY } {
        if stream::is_large(total * size_of::<B::Out>()) && run.steps[0] == 1 {
            return simd::dispatch(LargeLine(run, body));
        }
    }
    simd::dispatch(Line(run, body));
}

/// Runs a body along a walk over `len` elements, with the best instructions and as many threads as are worth it.
///
/// # Safety
/// For every run of the walk, what [`Body::run`] asks for; no element is written twice.
#[inline]
unsafe fn execute<B: Body<N>, const N: usize>(len: usize, walk: &Walk<N>, body: B) {
    if len == 0 {
        return;
    }
    // Memory gives some 64 bytes in a nanosecond.
    let pieces = threads::pieces(len / 64 * B::BYTES);
    if !cfg!(debug_assertions)
        && pieces == 1
        && let Some(run) = walk.line_run()
    {
        run_line(run, body, len);
    } else if pieces == 1 {
        simd::dispatch(Everywhere(walk, body));
    } else {
        let (parts, body) = (walk.split(pieces, 64), Shared(body));
        threads::for_each(parts.len(), &|part| {
            let body = &body;
            match parts[part].line_run() {
                Some(run) if !cfg!(debug_assertions) => run_line(run, body.0, len),
                _ => simd::dispatch(Everywhere(&parts[part], body.0)),
            }
        });
    }
}

/// Elements side by side looked at before they are computed, where a kernel has a form for usual ones.
const LOOK: usize = 512;

/// Writes `kernel(a)` for elements side by side. (The two places may be one.)
///
/// # Safety
/// `len` elements are valid at either place.
#[inline(always)]
unsafe fn side_by_side<A: Copy, O, K: Map1<A, O>>(kernel: K, a: *const A, out: *mut O, len: usize) {
    // SAFETY: the caller's promise.
    unsafe {
        if !K::HAS_USUAL {
            for i in 0..len {
                out.add(i).write(kernel.call(a.add(i).read()));
            }
            return;
        }
        let mut low = 0;
        while low < len {
            let high = len.min(low + LOOK);
            let mut usual = true;
            for i in low..high {
                usual &= kernel.is_usual(a.add(i).read());
            }
            if usual {
                for i in low..high {
                    out.add(i).write(kernel.usual(a.add(i).read()));
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

/// For `One (a: A) [1 1] …` it writes a body that calls a kernel with an element of `a` and writes the result. Each pattern of
/// steps gets a loop of its own, so that the compiler knows which operands lie side by side and which repeat one element;
/// the last loop takes any steps.
macro_rules! bodies {
    ($($(#[$doc:meta])* $name:ident: $map:ident ($($operand:ident: $ty:ident = $index:literal),*) of $count:literal $patterns:tt;)*) => {$(
        $(#[$doc])*
        struct $name<K, $($ty,)* O> {
            kernel: K,
            out: *mut O,
            $($operand: *const $ty,)*
        }
        impl<K: Copy, $($ty,)* O> Clone for $name<K, $($ty,)* O> {
            fn clone(&self) -> Self {
                *self
            }
        }
        impl<K: Copy, $($ty,)* O> Copy for $name<K, $($ty,)* O> {}
        impl<K: $map<$($ty,)* O>, $($ty: Copy,)* O> Body<$count> for $name<K, $($ty,)* O> {
            const BYTES: usize = size_of::<O>() $(+ size_of::<$ty>())*;
            type Out = O;
            const WRITES_ONLY: bool = true;
            #[inline(always)]
            fn out(&mut self) -> &mut *mut O {
                &mut self.out
            }
            #[inline(always)]
            unsafe fn run(self, run: Run<$count>) {
                // SAFETY: the caller's promise, for every index below.
                unsafe {
                    let out = self.out.add(run.starts[0]);
                    $(let $operand = self.$operand.add(run.starts[$index]);)*
                    // Builds with debug assertions want to be built soon: they have the last loop alone.
                    #[cfg(not(debug_assertions))]
                    {
                        bodies!(@loops $patterns, self, run, out, ($($operand)*));
                    }
                    let steps = run.steps;
                    for i in 0..run.len {
                        let value = self.kernel.call($($operand.add(i * steps[$index]).read()),*);
                        out.add(i * steps[0]).write(value);
                    }
                }
            }
        }
    )*};
    (@loops [], $self:ident, $run:ident, $out:ident, $operands:tt) => {};
    (@loops [$pattern:ident $(, $patterns:ident)*], $self:ident, $run:ident, $out:ident, $operands:tt) => {
        bodies!(@loop $pattern, $self, $run, $out, $operands);
        bodies!(@loops [$($patterns),*], $self, $run, $out, $operands);
    };
    // Both side by side.
    (@loop line, $self:ident, $run:ident, $out:ident, ($a:ident)) => {
        if $run.steps == [1, 1] {
            side_by_side($self.kernel, $a, $out, $run.len);
            return;
        }
    };
    // All side by side.
    (@loop ones, $self:ident, $run:ident, $out:ident, ($($operand:ident)*)) => {
        if $run.steps.iter().all(|&step| step == 1) {
            for i in 0..$run.len {
                $out.add(i).write($self.kernel.call($($operand.add(i).read()),*));
            }
            return;
        }
    };
    // The last operand is one element.
    (@loop last, $self:ident, $run:ident, $out:ident, ($a:ident $b:ident)) => {
        if $run.steps == [1, 1, 0] {
            let $b = $b.read();
            for i in 0..$run.len {
                $out.add(i).write($self.kernel.call($a.add(i).read(), $b));
            }
            return;
        }
    };
    // The first operand is one element.
    (@loop first, $self:ident, $run:ident, $out:ident, ($a:ident $b:ident)) => {
        if $run.steps == [1, 0, 1] {
            let $a = $a.read();
            for i in 0..$run.len {
                $out.add(i).write($self.kernel.call($a, $b.add(i).read()));
            }
            return;
        }
    };
}
bodies! {
    /// A function of one operand.
    One: Map1 (a: A = 1) of 2 [line];
    /// A function of two operands.
    Two: Map2 (a: A = 1, b: B = 2) of 3 [ones, last, first];
    /// A function of three operands.
    Three: Map3 (a: A = 1, b: B = 2, c: C = 3) of 4 [ones];
}

/// Elements moved without change: what runs across the result is turned a tile at a time.
#[derive(Clone, Copy)]
struct Moving<A> {
    out: *mut A,
    a: *const A,
}
impl<A: Copy> Body<2> for Moving<A> {
    const BYTES: usize = 2 * size_of::<A>();
    type Out = A;
    // Copies of memory look after themselves.
    const WRITES_ONLY: bool = false;
    #[inline(always)]
    fn out(&mut self) -> &mut *mut A {
        &mut self.out
    }

    #[inline(always)]
    unsafe fn run(self, run: Run<2>) {
        // SAFETY: the caller's promise.
        unsafe {
            let (out, a) = (self.out.add(run.starts[0]), self.a.add(run.starts[1]));
            if run.steps == [1, 1] {
                core::ptr::copy_nonoverlapping(a, out, run.len);
            } else {
                for i in 0..run.len {
                    out.add(i * run.steps[0]).write(a.add(i * run.steps[1]).read());
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn tile(self, starts: [usize; 2], steps: [[usize; 2]; 2], lines: usize, len: usize) {
        let mut turned = Turned::<A>::new();
        let (mut body, mut from, mut along) = (self, starts[1], [steps[0][1], steps[1][1]]);
        if lines > 1 && steps[0][1] == 1 && steps[1][1] > 1 {
            // SAFETY: the caller's promise; only tiles have several lines, and those are no larger than `TILE`.
            body.a = unsafe { turned.fill(self.a.add(from), along[1], lines, len) };
            (from, along) = (0, [TILE, 1]);
        }
        for line in 0..lines {
            let starts = [starts[0] + line * steps[0][0], from + line * along[0]];
            if lines > 1 {
                // The tile after this one.
                let next = self.out.wrapping_add(starts[0] + TILE);
                simd::prefetch(next);
                simd::prefetch(next.wrapping_add(TILE / 2));
            }
            // SAFETY: the caller's promise, and the turned tile has `lines` lines of `len` elements.
            unsafe { body.run(Run { starts, len, steps: [steps[1][0], along[1]] }) }
        }
    }
}

/// A function of the element that is written.
#[derive(Clone, Copy)]
struct Update1<K, O> {
    kernel: K,
    out: *mut O,
}
impl<K: Map1<O, O>, O: Copy> Body<1> for Update1<K, O> {
    const BYTES: usize = 2 * size_of::<O>();
    type Out = O;
    const WRITES_ONLY: bool = false;
    #[inline(always)]
    fn out(&mut self) -> &mut *mut O {
        &mut self.out
    }
    #[inline(always)]
    unsafe fn run(self, run: Run<1>) {
        // SAFETY: the caller's promise.
        unsafe {
            let out = self.out.add(run.starts[0]);
            if run.steps == [1] {
                side_by_side(self.kernel, out, out, run.len);
            } else {
                for i in 0..run.len {
                    let place = out.add(i * run.steps[0]);
                    place.write(self.kernel.call(place.read()));
                }
            }
        }
    }
}

/// A function of the element that is written and of another.
#[derive(Clone, Copy)]
struct Update2<K, O, B> {
    kernel: K,
    out: *mut O,
    b: *const B,
}
impl<K: Map2<O, B, O>, O: Copy, B: Copy> Body<2> for Update2<K, O, B> {
    const BYTES: usize = 2 * size_of::<O>() + size_of::<B>();
    type Out = O;
    const WRITES_ONLY: bool = false;
    #[inline(always)]
    fn out(&mut self) -> &mut *mut O {
        &mut self.out
    }
    #[inline(always)]
    unsafe fn run(self, run: Run<2>) {
        // SAFETY: the caller's promise; each place is read before it is written.
        unsafe {
            let (out, b) = (self.out.add(run.starts[0]), self.b.add(run.starts[1]));
            if run.steps == [1, 1] {
                for i in 0..run.len {
                    out.add(i).write(self.kernel.call(out.add(i).read(), b.add(i).read()));
                }
            } else {
                for i in 0..run.len {
                    let place = out.add(i * run.steps[0]);
                    place.write(self.kernel.call(place.read(), b.add(i * run.steps[1]).read()));
                }
            }
        }
    }
}

/// How many elements a result has. Tensors check sizes before they ask for one; what is written through raw places is
/// counted once more here.
pub(super) fn result_len(sizes: &[usize]) -> Result<usize> {
    numel(sizes).ok_or_else(|| Error::TooLarge { op: "result", sizes: sizes.into() })
}

/// Runs a body over `len` elements side by side in every operand.
///
/// # Safety
/// As for [`execute`].
#[inline]
unsafe fn line<B: Body<N>, const N: usize>(len: usize, body: B) {
    // SAFETY: the caller's promise.
    unsafe {
        if !cfg!(debug_assertions) && threads::pieces(len / 64 * B::BYTES) == 1 {
            run_line(Run { starts: [0; N], len, steps: [1; N] }, body, len);
        } else {
            execute(len, &Walk::line(len), body);
        }
    }
}

/// Runs a body over a fresh result and its operands; without a walk where all lie alike, as small tensors mostly do.
///
/// # Safety
/// As for [`execute`]; the result's strides come first and leave no gaps.
#[inline]
unsafe fn spread<B: Body<N>, const N: usize>(len: usize, sizes: &[usize], strides: [&[usize]; N], body: B) {
    // SAFETY: the caller's promise. The result leaves no gaps, so operands with its strides are lines beside it.
    unsafe {
        if strides[1..].iter().any(|operand| *operand != strides[0]) {
            execute(len, &Walk::new(sizes, strides), body);
        } else {
            line(len, body);
        }
    }
}

/// Runs a body over an output and what it is computed from; without a walk where all are row-major.
///
/// # Safety
/// As for [`execute`].
#[inline]
unsafe fn over<B: Body<N>, const N: usize>(sizes: &[usize], strides: [&[usize]; N], body: B) {
    let mut len = 1;
    let mut row_major = true;
    for (axis, &size) in sizes.iter().enumerate().rev() {
        row_major &= strides.iter().all(|strides| strides[axis] == len);
        // The output exists, so its elements can be counted.
        len *= size;
    }
    // SAFETY: the caller's promise; row-major operands are lines.
    unsafe {
        if row_major {
            line(len, body);
        } else {
            execute(len, &Walk::new(sizes, strides), body);
        }
    }
}

#[inline]
pub(crate) fn map1_line<A: Element, O: Element>(
    kernel: impl Map1<A, O>,
    a: View<'_, HostBuffer, A>,
    len: usize,
) -> Result<HostBuffer> {
    let a = source(&a);
    // SAFETY: the caller says that `len` elements lie side by side from the view's first.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            line(len, One { kernel, out, a });
            Ok(())
        })
    }
}

#[inline]
pub(crate) fn map2_line<A: Element, B: Element, O: Element>(
    kernel: impl Map2<A, B, O>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    len: usize,
) -> Result<HostBuffer> {
    let (a, b) = (source(&a), source(&b));
    // SAFETY: as in `map1_line`.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            line(len, Two { kernel, out, a, b });
            Ok(())
        })
    }
}

/// Pieces end to end along an axis of a fresh result.
pub(crate) fn join<E: Element>(
    pieces: &[View<'_, HostBuffer, E>],
    axis: usize,
    sizes: &[usize],
    strides: &[usize],
) -> Result<HostBuffer> {
    let len = result_len(sizes)?;
    assert_eq!(pieces.iter().map(|piece| piece.sizes[axis]).sum::<usize>(), sizes[axis], "pieces fill the axis");
    // SAFETY: the pieces are as long along the axis as the result is, and have its other sizes, so that every element is written
    // once; what is reached from a piece is valid by its view's invariant.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut E| {
            let mut start = 0;
            for piece in pieces {
                let out = out.wrapping_add(start * strides[axis]);
                over(piece.sizes, [strides, piece.strides], Moving { out, a: source(piece) });
                start += piece.sizes[axis];
            }
            Ok(())
        })
    }
}

pub(crate) fn map1<A: Element, O: Element, K: Map1<A, O>>(
    kernel: K,
    a: View<'_, HostBuffer, A>,
    strides: &[usize],
) -> Result<HostBuffer> {
    let len = result_len(a.sizes)?;
    let (sizes, all) = (a.sizes, [strides, a.strides]);
    let a = source(&a);
    // SAFETY: the strides of a fresh result are dense, so the walk writes each of its `len` elements once; what it reaches
    // from `a` is valid by the view's invariant.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            if K::MOVES {
                // A kernel that moves elements has one type on both sides.
                spread(len, sizes, all, Moving { out: out.cast::<A>(), a });
            } else {
                spread(len, sizes, all, One { kernel, out, a });
            }
            Ok(())
        })
    }
}

pub(crate) fn map2<A: Element, B: Element, O: Element>(
    kernel: impl Map2<A, B, O>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    strides: &[usize],
) -> Result<HostBuffer> {
    debug_assert_eq!(a.sizes, b.sizes);
    let len = result_len(a.sizes)?;
    let (sizes, all) = (a.sizes, [strides, a.strides, b.strides]);
    let (a, b) = (source(&a), source(&b));
    // SAFETY: as in `map1`.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            spread(len, sizes, all, Two { kernel, out, a, b });
            Ok(())
        })
    }
}

pub(crate) fn map3<A: Element, B: Element, C: Element, O: Element>(
    kernel: impl Map3<A, B, C, O>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    c: View<'_, HostBuffer, C>,
    strides: &[usize],
) -> Result<HostBuffer> {
    debug_assert!(a.sizes == b.sizes && a.sizes == c.sizes);
    let len = result_len(a.sizes)?;
    let (sizes, all) = (a.sizes, [strides, a.strides, b.strides, c.strides]);
    let (a, b, c) = (source(&a), source(&b), source(&c));
    // SAFETY: as in `map1`.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            spread(len, sizes, all, Three { kernel, out, a, b, c });
            Ok(())
        })
    }
}

pub(crate) fn map1_into<A: Element, O: Element>(
    kernel: impl Map1<A, O>,
    a: View<'_, HostBuffer, A>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    debug_assert_eq!(a.sizes, out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, a.strides]);
    let (out, a) = (target(&mut out), source(&a));
    // SAFETY: the output's buffer is held exclusively, so it is not the operand's; the walk stays inside both views.
    unsafe { over(sizes, strides, One { kernel, out, a }) }
}

pub(crate) fn map2_into<A: Element, B: Element, O: Element>(
    kernel: impl Map2<A, B, O>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    debug_assert!(a.sizes == out.sizes && b.sizes == out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, a.strides, b.strides]);
    let (out, a, b) = (target(&mut out), source(&a), source(&b));
    // SAFETY: as in `map1_into`.
    unsafe { over(sizes, strides, Two { kernel, out, a, b }) }
}

pub(crate) fn update1<O: Element>(kernel: impl Map1<O, O>, mut out: ViewMut<'_, HostBuffer, O>) {
    let (sizes, strides) = (out.sizes, [out.strides]);
    let out = target(&mut out);
    // SAFETY: the output's buffer is held exclusively and the walk stays inside its view.
    unsafe { over(sizes, strides, Update1 { kernel, out }) }
}

pub(crate) fn update2<B: Element, O: Element>(
    kernel: impl Map2<O, B, O>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    debug_assert_eq!(b.sizes, out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, b.strides]);
    let (out, b) = (target(&mut out), source(&b));
    // SAFETY: as in `map1_into`.
    unsafe { over(sizes, strides, Update2 { kernel, out, b }) }
}

/// All elements in row-major order.
pub(crate) fn download<E: Element>(view: View<'_, HostBuffer, E>) -> Vec<E> {
    let mut elements = Vec::with_capacity(numel(view.sizes).unwrap_or(0));
    let from = source(&view);
    for run in Walk::row_major(view.sizes, [view.strides]).runs() {
        // SAFETY: the walk stays inside the view.
        unsafe {
            let from = from.add(run.starts[0]);
            elements.extend((0..run.len).map(|i| from.add(i * run.steps[0]).read()));
        }
    }
    elements
}

/// Whether any element satisfies the test.
pub(crate) fn any<E: Element>(view: View<'_, HostBuffer, E>, test: impl Fn(E) -> bool) -> bool {
    let mut found = false;
    let from = source(&view);
    for run in Walk::new(view.sizes, [view.strides]).runs() {
        // SAFETY: the walk stays inside the view.
        unsafe {
            let from = from.add(run.starts[0]);
            found |= (0..run.len).any(|i| test(from.add(i * run.steps[0]).read()));
        }
    }
    found
}

/// One element.
pub(crate) fn peek<E: Element>(view: View<'_, HostBuffer, E>) -> E {
    debug_assert_eq!(numel(view.sizes), Some(1));
    // SAFETY: a view of one element has it at its offset.
    unsafe { source(&view).read() }
}
