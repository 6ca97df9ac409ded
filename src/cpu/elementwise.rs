//! Elementwise loops: one kernel over one to four operands.
//!
//! Inner loops are written so that the compiler vectorises the contiguous cases. Uses walks; used by `Cpu`.

use super::walk::{Run, Walk};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::kernel::{Map1, Map2, Map3};
use crate::shape::strides::{numel, span};
use crate::storage::{HostBuffer, View, ViewMut};

/// The place of a view's first element.
fn source<E: Element>(view: &View<'_, HostBuffer, E>) -> *const E {
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
fn target<E: Element>(out: &mut ViewMut<'_, HostBuffer, E>) -> *mut E {
    debug_assert!(
        span(out.sizes, out.strides).is_some_and(|span| span == 0 || out.offset + span <= out.buffer.len::<E>())
    );
    let start = out.buffer.start_mut::<E>().unwrap_or_else(|| unreachable!("a shared buffer is never written"));
    // SAFETY: as in `source`.
    unsafe { start.add(out.offset) }
}

/// # Safety
/// `o` and `a`, advanced as the run says, are places of valid elements, and the `o` are not read otherwise.
#[inline(always)]
unsafe fn run1<A: Copy, O>(kernel: impl Map1<A, O>, run: &Run<2>, o: *mut O, a: *const A) {
    // SAFETY: the caller's promise, for every index below.
    unsafe {
        let (o, a) = (o.add(run.starts[0]), a.add(run.starts[1]));
        match run.steps {
            [1, 1] => {
                for i in 0..run.len {
                    o.add(i).write(kernel.call(a.add(i).read()));
                }
            }
            [os, sa] => {
                for i in 0..run.len {
                    o.add(i * os).write(kernel.call(a.add(i * sa).read()));
                }
            }
        }
    }
}

/// # Safety
/// As for `run1`.
#[inline(always)]
unsafe fn run2<A: Copy, B: Copy, O>(kernel: impl Map2<A, B, O>, run: &Run<3>, o: *mut O, a: *const A, b: *const B) {
    // SAFETY: the caller's promise, for every index below.
    unsafe {
        let (o, a, b) = (o.add(run.starts[0]), a.add(run.starts[1]), b.add(run.starts[2]));
        match run.steps {
            [1, 1, 1] => {
                for i in 0..run.len {
                    o.add(i).write(kernel.call(a.add(i).read(), b.add(i).read()));
                }
            }
            [1, 1, 0] => {
                let b = b.read();
                for i in 0..run.len {
                    o.add(i).write(kernel.call(a.add(i).read(), b));
                }
            }
            [1, 0, 1] => {
                let a = a.read();
                for i in 0..run.len {
                    o.add(i).write(kernel.call(a, b.add(i).read()));
                }
            }
            [os, sa, sb] => {
                for i in 0..run.len {
                    o.add(i * os).write(kernel.call(a.add(i * sa).read(), b.add(i * sb).read()));
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

pub(crate) fn map1<A: Element, O: Element>(
    kernel: impl Map1<A, O>,
    a: View<'_, HostBuffer, A>,
    strides: &[usize],
) -> Result<HostBuffer> {
    let len = result_len(a.sizes)?;
    let walk = Walk::new(a.sizes, [strides, a.strides]);
    let from = source(&a);
    // SAFETY: the strides of a fresh result are dense, so the walk writes each of its `len` elements once; `from` and
    // what the walk reaches from it are valid by the view's invariant.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            walk.for_each(|run| run1(kernel, &run, out, from));
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
    let walk = Walk::new(a.sizes, [strides, a.strides, b.strides]);
    let (from_a, from_b) = (source(&a), source(&b));
    // SAFETY: as in `map1`.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            walk.for_each(|run| run2(kernel, &run, out, from_a, from_b));
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
    let walk = Walk::new(a.sizes, [strides, a.strides, b.strides, c.strides]);
    let (from_a, from_b, from_c) = (source(&a), source(&b), source(&c));
    // SAFETY: as in `map1`.
    unsafe {
        HostBuffer::filled_by(len, |out: *mut O| {
            walk.for_each(|run| {
                let [o, a, b, c] = run.starts;
                let (out, a, b, c) = (out.add(o), from_a.add(a), from_b.add(b), from_c.add(c));
                let [os, sa, sb, sc] = run.steps;
                for i in 0..run.len {
                    let value = kernel.call(a.add(i * sa).read(), b.add(i * sb).read(), c.add(i * sc).read());
                    out.add(i * os).write(value);
                }
            });
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
    let walk = Walk::new(out.sizes, [out.strides, a.strides]);
    let (to, from) = (target(&mut out), source(&a));
    // SAFETY: the output's buffer is held exclusively, so it is not the operand's; the walk stays inside both views.
    walk.for_each(|run| unsafe { run1(kernel, &run, to, from) });
}

pub(crate) fn map2_into<A: Element, B: Element, O: Element>(
    kernel: impl Map2<A, B, O>,
    a: View<'_, HostBuffer, A>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    debug_assert!(a.sizes == out.sizes && b.sizes == out.sizes);
    let walk = Walk::new(out.sizes, [out.strides, a.strides, b.strides]);
    let (to, from_a, from_b) = (target(&mut out), source(&a), source(&b));
    // SAFETY: as in `map1_into`.
    walk.for_each(|run| unsafe { run2(kernel, &run, to, from_a, from_b) });
}

pub(crate) fn update1<O: Element>(kernel: impl Map1<O, O>, mut out: ViewMut<'_, HostBuffer, O>) {
    let walk = Walk::new(out.sizes, [out.strides]);
    let to = target(&mut out);
    walk.for_each(|run| {
        // SAFETY: the output's buffer is held exclusively and the walk stays inside its view.
        unsafe {
            let to = to.add(run.starts[0]);
            if run.steps == [1] {
                for i in 0..run.len {
                    to.add(i).write(kernel.call(to.add(i).read()));
                }
            } else {
                for i in 0..run.len {
                    let place = to.add(i * run.steps[0]);
                    place.write(kernel.call(place.read()));
                }
            }
        }
    });
}

pub(crate) fn update2<B: Element, O: Element>(
    kernel: impl Map2<O, B, O>,
    b: View<'_, HostBuffer, B>,
    mut out: ViewMut<'_, HostBuffer, O>,
) {
    debug_assert_eq!(b.sizes, out.sizes);
    let walk = Walk::new(out.sizes, [out.strides, b.strides]);
    let (to, from) = (target(&mut out), source(&b));
    walk.for_each(|run| {
        // SAFETY: as in `map1_into`; each place is read before it is written.
        unsafe {
            let (to, from) = (to.add(run.starts[0]), from.add(run.starts[1]));
            match run.steps {
                [1, 1] => {
                    for i in 0..run.len {
                        to.add(i).write(kernel.call(to.add(i).read(), from.add(i).read()));
                    }
                }
                [so, sb] => {
                    for i in 0..run.len {
                        let place = to.add(i * so);
                        place.write(kernel.call(place.read(), from.add(i * sb).read()));
                    }
                }
            }
        }
    });
}

/// All elements in row-major order.
pub(crate) fn download<E: Element>(view: View<'_, HostBuffer, E>) -> Vec<E> {
    let mut elements = Vec::with_capacity(numel(view.sizes).unwrap_or(0));
    let from = source(&view);
    Walk::row_major(view.sizes, [view.strides]).for_each(|run| {
        // SAFETY: the walk stays inside the view.
        unsafe {
            let from = from.add(run.starts[0]);
            elements.extend((0..run.len).map(|i| from.add(i * run.steps[0]).read()));
        }
    });
    elements
}

/// Whether any element satisfies the test.
pub(crate) fn any<E: Element>(view: View<'_, HostBuffer, E>, test: impl Fn(E) -> bool) -> bool {
    let mut found = false;
    let from = source(&view);
    Walk::new(view.sizes, [view.strides]).for_each(|run| {
        // SAFETY: the walk stays inside the view.
        unsafe {
            let from = from.add(run.starts[0]);
            found |= (0..run.len).any(|i| test(from.add(i * run.steps[0]).read()));
        }
    });
    found
}

/// One element.
pub(crate) fn peek<E: Element>(view: View<'_, HostBuffer, E>) -> E {
    debug_assert_eq!(numel(view.sizes), Some(1));
    // SAFETY: a view of one element has it at its offset.
    unsafe { source(&view).read() }
}
