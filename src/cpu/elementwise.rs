//! Elementwise operations: a kernel's inner loop and the places of its operands, which are brought together where they do not
//! lie side by side.
//!
//! Uses inner loops, walks and copying; used by `Cpu`.

use super::engine::{Body, copy_nanoseconds, run_contiguous, run_fresh, run_into, visit_tiles};
use super::inner::{self, Inner};
use super::non_temporal::{self, Staging};
use super::simd;
use super::walk::{Run, Walk, side};
use super::{compiled, copying};
use crate::dtype::{Castable, Element};
use crate::error::{Error, Result, room};
use crate::layout::bounds::{expect_within, is_within, places, span};
use crate::layout::strides::is_contiguous;
use crate::ops::arguments::Sought;
use crate::ops::kernel::{Map1, Map2, Map3};
use crate::shape::numel;
use crate::storage::{HostBuffer, View, ViewMut};

/// The place of a view's first element.
pub(crate) fn source<E: Element>(view: &View<'_, HostBuffer, E>) -> *const E {
    debug_assert!(is_within(view.sizes, view.strides, view.offset, Some(view.buffer.len::<E>())));
    // The offset of a view lies inside its buffer, but that of an empty one may lie anywhere.
    view.buffer.start::<E>().wrapping_add(view.offset)
}

/// The place of an output's first element.
///
/// # Panics
/// If the buffer is shared: tensors make theirs unique before they write.
pub(super) fn target<E: Element>(out: &mut ViewMut<'_, HostBuffer, E>) -> *mut E {
    debug_assert!(is_within(out.sizes, out.strides, out.offset, Some(out.buffer.len::<E>())));
    let start = out.buffer.start_mut::<E>().unwrap_or_else(|| unreachable!("a shared buffer is never written"));
    start.wrapping_add(out.offset)
}

/// Operands arrive broadcast to one shape: loops walk over the sizes of one of them. A comparison of few numbers, not a call.
///
/// # Panics
/// If they do not.
#[inline(always)]
fn expect_same(a: &[usize], b: &[usize]) {
    assert!(a.iter().eq(b), "operands arrive broadcast");
}

/// How many elements a result has. Tensors check sizes before they ask for one; what is written through raw places is
/// counted once more here.
pub(super) fn result_len(sizes: &[usize]) -> Result<usize> {
    numel(sizes).ok_or_else(|| Error::TooLarge { op: "result", sizes: sizes.into() })
}

/// Bytes of a line of a large result that are worth being written past the caches.
const LINE: usize = Staging::BYTES;

/// A kernel's inner loop and where its operands are.
#[derive(Clone, Copy)]
struct KernelBody<const N: usize> {
    inner: Inner<N>,
    kernel: *const (),
    places: [*mut u8; N],
    /// The bytes of each operand's element.
    sizes: [usize; N],
    /// Whether the loop is not vectorised where an operand is written over.
    needs_copy_in_place: bool,
    /// Whether an element takes longer to compute than memory takes to give it.
    is_compute_bound: bool,
    /// Whether long lines of the result are written past the caches.
    non_temporal: bool,
}

impl KernelBody<2> {
    /// `out = kernel(a)`
    #[inline(always)]
    fn one<K: Map1<A, O>, A: Element, O: Element>(kernel: &K, out: *mut O, a: *const A) -> Self {
        KernelBody {
            inner: const { compiled::one::<K, A, O>() },
            kernel: core::ptr::from_ref(kernel).cast(),
            places: [out.cast(), a.cast_mut().cast()],
            sizes: [size_of::<O>(), size_of::<A>()],
            needs_copy_in_place: K::HAS_FAST_PATH,
            is_compute_bound: K::IS_COMPUTE_BOUND,
            non_temporal: false,
        }
    }
}

impl KernelBody<3> {
    /// `out = kernel(a, b)`
    #[inline(always)]
    fn two<K: Map2<A, B, O>, A: Element, B: Element, O: Element>(
        kernel: &K,
        out: *mut O,
        a: *const A,
        b: *const B,
    ) -> Self {
        KernelBody {
            inner: const { compiled::two::<K, A, B, O>() },
            kernel: core::ptr::from_ref(kernel).cast(),
            places: [out.cast(), a.cast_mut().cast(), b.cast_mut().cast()],
            sizes: [size_of::<O>(), size_of::<A>(), size_of::<B>()],
            needs_copy_in_place: false,
            is_compute_bound: false,
            non_temporal: false,
        }
    }
}

impl KernelBody<4> {
    /// `out = kernel(a, b, c)`
    #[inline(always)]
    fn three<K: Map3<A, B, C, O>, A: Element, B: Element, C: Element, O: Element>(
        kernel: &K,
        out: *mut O,
        (a, b, c): (*const A, *const B, *const C),
    ) -> Self {
        KernelBody {
            inner: inner::three::<K, A, B, C, O>,
            kernel: core::ptr::from_ref(kernel).cast(),
            places: [out.cast(), a.cast_mut().cast(), b.cast_mut().cast(), c.cast_mut().cast()],
            sizes: [size_of::<O>(), size_of::<A>(), size_of::<B>(), size_of::<C>()],
            needs_copy_in_place: false,
            is_compute_bound: false,
            non_temporal: false,
        }
    }
}

impl<const N: usize> KernelBody<N> {
    /// Whether a result of so many elements is written past the caches.
    #[inline(always)]
    fn is_large(&self, total: usize) -> bool {
        non_temporal::pays_off(total * self.sizes[0]) && self.places[0] != self.places[1]
    }

    /// Where each operand's element `at` of a run is.
    #[inline(always)]
    fn places(&self, run: &Run<N>, at: usize) -> [*mut u8; N] {
        core::array::from_fn(|operand| {
            self.places[operand].wrapping_add((run.starts[operand] + at * run.steps[operand]) * self.sizes[operand])
        })
    }

    /// Piece by piece: operands whose elements do not lie side by side are brought together first, and results that don't, or
    /// that are to go past the caches, are written from there.
    ///
    /// # Safety
    /// As for `run`.
    #[inline(never)]
    unsafe fn by_pieces(self, run: Run<N>, non_temporal: bool) {
        let mut buffers: [Staging; N] = core::array::from_fn(|_| Staging::new());
        let buffers = buffers.each_mut().map(|buffer| buffer.start::<u8>());
        let capacity = Staging::BYTES / self.sizes.iter().fold(1, |most, &size| most.max(size));
        let elsewhere = run.steps[0] != 1 || non_temporal || self.places[0] == self.places[1];
        let mut at = 0;
        while at < run.len {
            let len = capacity.min(run.len - at);
            let places = self.places(&run, at);
            let mut given = places;
            // SAFETY: the caller's promise; a room holds as many elements.
            unsafe {
                for operand in 1..N {
                    let (width, step) = (self.sizes[operand], run.steps[operand]);
                    if step != 1 {
                        given[operand] = buffers[operand];
                        // One element for all is there from the first piece on.
                        if step != 0 || at == 0 {
                            copying::copy_strided(width, len, (buffers[operand], 1), (places[operand], step));
                        }
                    }
                }
                if elsewhere {
                    given[0] = buffers[0];
                }
                (self.inner)(self.kernel, given, len);
                if elsewhere {
                    if non_temporal {
                        non_temporal::store(places[0], buffers[0], len * self.sizes[0]);
                    } else {
                        copying::copy_strided(self.sizes[0], len, (places[0], run.steps[0]), (buffers[0], 1));
                    }
                }
            }
            at += len;
        }
        if non_temporal {
            non_temporal::fence();
        }
    }

    /// A tile, operands that run across being turned, so that their lines are those of the result.
    ///
    /// # Safety
    /// As for `tile`.
    #[inline(never)]
    unsafe fn transposed_tile(mut self, mut starts: [usize; N], mut steps: [[usize; N]; 2], lines: usize, len: usize) {
        let side = self.side();
        let mut buffers: [copying::TransposeTile; N] = core::array::from_fn(|_| copying::TransposeTile::new());
        // SAFETY: the caller's promise; only tiles have several lines, and those are no larger than `side`.
        unsafe {
            for operand in 1..N {
                if steps[0][operand] == 1 && steps[1][operand] > 1 {
                    let (width, step) = (self.sizes[operand], steps[1][operand]);
                    let from = self.places[operand].add(starts[operand] * width);
                    self.places[operand] = buffers[operand].transpose(width, side, from, step, [lines, len]);
                    (starts[operand], steps[0][operand], steps[1][operand]) = (0, side, 1);
                }
            }
            for line in 0..lines {
                let starts = core::array::from_fn(|operand| starts[operand] + line * steps[0][operand]);
                self.run(Run { starts, len, steps: steps[1] });
            }
        }
    }
}

impl<const N: usize> Body<N> for KernelBody<N> {
    #[inline(always)]
    fn nanoseconds(&self, len: usize) -> usize {
        if self.is_compute_bound { len } else { copy_nanoseconds(len, self.sizes.iter().sum()) }
    }

    #[inline(always)]
    unsafe fn run(self, run: Run<N>) {
        let alike = run.steps == [1; N] || run.len == 1;
        // SAFETY: the caller's promise; whoever made it put kernel, loop and places together.
        unsafe {
            if self.non_temporal && run.steps[0] == 1 && run.len * self.sizes[0] >= LINE {
                self.by_pieces(run, true);
            } else if alike && !(self.needs_copy_in_place && self.places[0] == self.places[1]) {
                (self.inner)(self.kernel, self.places(&run, 0), run.len);
            } else {
                self.by_pieces(run, false);
            }
        }
    }

    fn side(&self) -> usize {
        side(self.sizes.iter().fold(0, |widest, &size| widest.max(size)))
    }

    #[inline(always)]
    fn prefetch_line(&self, run: Run<N>) {
        let places = self.places(&run, 0);
        for (operand, place) in places.into_iter().enumerate().skip(1) {
            if run.steps[operand] == 1 {
                simd::prefetch_row(place.cast_const(), run.len * self.sizes[operand]);
            }
        }
    }

    #[inline(always)]
    unsafe fn single_loop(self, run: Run<N>, total: usize) {
        let non_temporal = self.is_large(total) && run.steps[0] == 1;
        // SAFETY: the caller's promise.
        unsafe {
            if non_temporal {
                self.by_pieces(run, true);
            } else {
                self.run(run);
            }
        }
    }

    #[inline(always)]
    unsafe fn contiguous(self, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if self.needs_copy_in_place && self.places[0] == self.places[1] {
                self.by_pieces(Run { starts: [0; N], len, steps: [1; N] }, false);
            } else {
                (self.inner)(self.kernel, self.places, len);
            }
        }
    }

    #[inline(never)]
    unsafe fn whole_walk(mut self, walk: &Walk<N>, total: usize) {
        self.non_temporal = self.is_large(total);
        // SAFETY: the caller's promise.
        unsafe { visit_tiles(walk, self) }
    }

    #[inline(always)]
    unsafe fn tile(self, starts: [usize; N], steps: [[usize; N]; 2], lines: usize, len: usize) {
        // SAFETY: the caller's promise.
        unsafe {
            if lines == 1 {
                self.run(Run { starts, len, steps: steps[1] });
            } else {
                self.transposed_tile(starts, steps, lines, len);
            }
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
            run_contiguous(len, KernelBody::one(&kernel, out, a));
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
            run_contiguous(len, KernelBody::two(&kernel, out, a, b));
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
            if is_contiguous(sizes, strides) && pieces.iter().all(|piece| is_contiguous(piece.sizes, piece.strides)) {
                let runs = pieces.iter().map(|piece| {
                    let run: usize = piece.sizes[axis..].iter().product();
                    (source(piece).cast(), run * size_of::<E>())
                });
                let rows = sizes[..axis].iter().product();
                if copying::interleave(rows, &runs.collect::<Vec<_>>(), out.cast()) {
                    return Ok(());
                }
            }
            let mut start = 0;
            for piece in pieces {
                let out = out.wrapping_add(start * strides[axis]);
                copying::copy_into(
                    size_of::<E>(),
                    piece.sizes,
                    [strides, piece.strides],
                    out.cast(),
                    source(piece).cast(),
                );
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
                copying::copy_fresh(size_of::<A>(), len, sizes, all, out.cast(), a.cast());
            } else {
                run_fresh(len, sizes, all, KernelBody::one(&kernel, out, a));
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
    expect_same(a.sizes, b.sizes);
    let len = result_len(a.sizes)?;
    let (sizes, all) = (a.sizes, [strides, a.strides, b.strides]);
    let (a, b) = (source(&a), source(&b));
    // SAFETY: as in `map1`.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            run_fresh(len, sizes, all, KernelBody::two(&kernel, out, a, b));
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
    expect_same(a.sizes, b.sizes);
    expect_same(a.sizes, c.sizes);
    let len = result_len(a.sizes)?;
    let (sizes, all) = (a.sizes, [strides, a.strides, b.strides, c.strides]);
    let (a, b, c) = (source(&a), source(&b), source(&c));
    // SAFETY: as in `map1`.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            run_fresh(len, sizes, all, KernelBody::three(&kernel, out, (a, b, c)));
            Ok(())
        })
    }
}

pub(crate) fn map1_into<A: Element, O: Element>(
    kernel: impl Map1<A, O>,
    a: View<'_, HostBuffer, A>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    expect_same(a.sizes, out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, a.strides]);
    let (out, a) = (target(&mut out), source(&a));
    // SAFETY: the output's buffer is held exclusively, so it is not the operand's; the walk stays inside both views.
    unsafe { run_into(sizes, strides, KernelBody::one(&kernel, out, a)) }
}

pub(crate) fn map2_into<A: Element, B: Element, O: Element>(
    kernel: impl Map2<A, B, O>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    expect_same(a.sizes, out.sizes);
    expect_same(b.sizes, out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, a.strides, b.strides]);
    let (out, a, b) = (target(&mut out), source(&a), source(&b));
    // SAFETY: as in `map1_into`.
    unsafe { run_into(sizes, strides, KernelBody::two(&kernel, out, a, b)) }
}

pub(crate) fn update1<O: Element>(kernel: impl Map1<O, O>, mut out: ViewMut<'_, HostBuffer, O>) {
    let (sizes, strides) = (out.sizes, [out.strides; 2]);
    let out = target(&mut out);
    // SAFETY: the output's buffer is held exclusively and the walk stays inside its view.
    unsafe { run_into(sizes, strides, KernelBody::one(&kernel, out, out)) }
}

pub(crate) fn update2<B: Element, O: Element>(
    kernel: impl Map2<O, B, O>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    expect_same(b.sizes, out.sizes);
    let (sizes, strides) = (out.sizes, [out.strides, out.strides, b.strides]);
    let (out, b) = (target(&mut out), source(&b));
    // SAFETY: as in `map1_into`.
    unsafe { run_into(sizes, strides, KernelBody::two(&kernel, out, out, b)) }
}

/// A buffer of its own with the elements of a view at the same distances from the first; between them are zeros.
///
/// # Panics
/// If memory runs out; [`try_copy_span`] returns the error.
#[cold]
pub(crate) fn copy_span<E: Element>(view: View<'_, HostBuffer, E>) -> HostBuffer {
    try_copy_span(view).unwrap_or_else(|error| panic!("{error}"))
}

/// [`copy_span`], returning the error.
#[cold]
pub(crate) fn try_copy_span<E: Element>(view: View<'_, HostBuffer, E>) -> Result<HostBuffer> {
    copy_span_bytes(view.buffer, size_of::<E>(), view.offset, view.sizes, view.strides)
}

/// [`try_copy_span`] of elements of so many bytes, whatever they are: zeros are valid elements of every dtype.
pub(crate) fn copy_span_bytes(
    buffer: &HostBuffer,
    width: usize,
    offset: usize,
    sizes: &[usize],
    strides: &[usize],
) -> Result<HostBuffer> {
    expect_within("share", sizes, strides, offset, Some(buffer.len::<u8>() / width))?;
    let too_large = || Error::TooLarge { op: "share", sizes: sizes.into() };
    let bytes = span(sizes, strides).and_then(|span| span.checked_mul(width)).ok_or_else(too_large)?;
    let mut copy = HostBuffer::zeroed::<u8>(bytes)?;
    let Some(to) = copy.start_mut::<u8>() else { unreachable!("a fresh buffer is not shared") };
    let from = buffer.start::<u8>().wrapping_add(offset.wrapping_mul(width));
    // What is repeated or shared by windows is copied once.
    let (sizes, strides) = places(sizes, strides);
    for run in Walk::new(&sizes, [&strides]).runs() {
        let (start, step) = (run.starts[0] * width, run.steps[0]);
        // SAFETY: the walk reaches what the view does, which lies inside its buffer, and the copy has the view's span.
        unsafe { copying::copy_strided(width, run.len, (to.add(start), step), (from.add(start), step)) }
    }
    Ok(copy)
}

/// The sizes of a view in which what is repeated is there once.
pub(super) fn without_repeats(sizes: &[usize], strides: &[usize]) -> Vec<usize> {
    let size = |(&size, &stride): (&usize, &usize)| if stride == 0 { size.min(1) } else { size };
    sizes.iter().zip(strides).map(size).collect()
}

/// All elements in row-major order.
pub(crate) fn download<E: Element>(view: View<'_, HostBuffer, E>) -> Result<Vec<E>> {
    let mut elements = room(result_len(view.sizes)?)?;
    let from = source(&view);
    for run in Walk::row_major(view.sizes, [view.strides]).runs() {
        // SAFETY: the walk stays inside the view.
        unsafe {
            let from = from.add(run.starts[0]);
            elements.extend((0..run.len).map(|i| from.add(i * run.steps[0]).read()));
        }
    }
    Ok(elements)
}

/// The first element in row-major order that satisfies the test. What is repeated is looked at once.
pub(crate) fn find<E: Element>(view: View<'_, HostBuffer, E>, test: impl Fn(E) -> bool) -> Option<E> {
    let (sizes, from) = (without_repeats(view.sizes, view.strides), source(&view));
    let walk = Walk::row_major(&sizes, [view.strides]);
    walk.runs().find_map(|run| {
        // SAFETY: the walk stays inside the view.
        (0..run.len)
            .map(|i| unsafe { from.add(run.starts[0] + i * run.steps[0]).read() })
            .find(|&element| test(element))
    })
}

/// Whether any element satisfies the test.
pub(crate) fn has<E: Castable>(view: View<'_, HostBuffer, E>, what: Sought) -> bool {
    let (sizes, from) = (without_repeats(view.sizes, view.strides), source(&view));
    Walk::new(&sizes, [view.strides]).runs().any(|run| {
        // SAFETY: the walk stays inside the view.
        (0..run.len).any(|i| what.is(unsafe { from.add(run.starts[0] + i * run.steps[0]).read() }))
    })
}

/// One element.
pub(crate) fn peek<E: Element>(view: View<'_, HostBuffer, E>) -> E {
    debug_assert_eq!(numel(view.sizes), Some(1));
    // SAFETY: a view of one element has it at its offset.
    unsafe { source(&view).read() }
}
