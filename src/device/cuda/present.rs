//! `Cuda<N>` on the CUDA runtime: memory, copies, downloads, and calls into the files of operations.
//!
//! The operands determine the device; operations without operands use ordinal `N`.

use super::Cuda;
use super::elementwise::{self, Seeking, Target, count, fresh, operand, operand_of, run, written};
use super::memory::{copy_span, download, fill, reach};
use super::{attend, index, lanes, order, product, random, reduce, scatter, select};
use crate::cuda::buffer::bytes_of;
use crate::cuda::{CudaBuffer, CudaDevice, device};
use crate::device::{AnyDevice, Backend, Place, attention};
use crate::dtype::{Castable, Dtype, Element};
use crate::error::Result;
use crate::layout::strides;
use crate::ops::arguments::{Added, Attention, Distribution, Indexing, Order, Sought};
use crate::ops::expression::Expression;
use crate::ops::kernel::{Copying, LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{AnyAll, Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::ops::text::describe;
use crate::shape::numel;
use crate::storage::{View, ViewMut};

/// Whether the device can be used, or why not.
pub(crate) fn available(which: AnyDevice) -> Result<()> {
    device(which.index().unwrap_or(0)).map(|_| ())
}

/// The device of another buffer, or the one with ordinal `N`. (`Dynamic` runs all buffers with one `N`, whatever their device.)
fn placed<const N: usize>(beside: Option<&CudaBuffer>) -> Result<&'static CudaDevice> {
    beside.map_or_else(|| device(N), |beside| Ok(beside.device()))
}

/// Checks that operands have the same sizes.
///
/// # Panics
/// If they differ.
fn expect_same(a: &[usize], b: &[usize]) {
    assert!(a == b, "operands arrive broadcast");
}

/// `len` contiguous elements from the first of a view on.
fn line_of<'a, E>(view: &View<'a, CudaBuffer, E>, len: &'a [usize; 1]) -> View<'a, CudaBuffer, E> {
    View::new(view.buffer, view.offset, len, &[1])
}

impl<const N: usize> Place for Cuda<N> {
    type Buffer = CudaBuffer;
}

impl<const N: usize> Backend for Cuda<N> {
    type Storage = CudaBuffer;

    fn build<E: Element>(beside: Option<&CudaBuffer>, make: impl FnOnce() -> Result<Vec<E>>) -> Result<CudaBuffer> {
        let device = placed::<N>(beside)?;
        CudaBuffer::upload(device, &make()?)
    }
    fn zeroed<E: Element>(beside: Option<&CudaBuffer>, len: usize) -> Result<CudaBuffer> {
        let device = placed::<N>(beside)?;
        CudaBuffer::zeroed(device, bytes_of(device, len, size_of::<E>())?)
    }
    fn fill<E: Element>(beside: Option<&CudaBuffer>, value: E, len: usize) -> Result<CudaBuffer> {
        fill(placed::<N>(beside)?, value, len)
    }
    fn tabulate<O: Element>(kernel: impl Map1<i64, O>, beside: Option<&CudaBuffer>, len: usize) -> Result<CudaBuffer> {
        // SAFETY: it reads nothing.
        unsafe {
            fresh(O::DTYPE, "tabulate", placed::<N>(beside)?, (&[len], &[1]), &|to| describe::tabulate(to, &kernel))
        }
    }
    fn is_on_host(_beside: Option<&CudaBuffer>) -> bool {
        false
    }
    fn draw<E: Element>(
        beside: Option<&CudaBuffer>,
        distribution: Distribution,
        seed: impl FnOnce() -> u64,
        len: usize,
    ) -> Result<Option<CudaBuffer>> {
        random::draw::<E>(placed::<N>(beside)?, distribution, seed(), len).map(Some)
    }
    fn bernoulli<E: Element>(p: View<'_, CudaBuffer, E>, seed: impl FnOnce() -> u64) -> Result<Option<CudaBuffer>> {
        random::bernoulli(p.buffer.device(), &p, seed())
    }
    fn is_unique(storage: &mut CudaBuffer) -> bool {
        storage.is_unique()
    }
    fn share<E: Element>(view: View<'_, CudaBuffer, E>) -> (CudaBuffer, usize) {
        match view.buffer.shared() {
            Some(shared) => (shared, view.offset),
            // As on the host, there is no other way to report that memory runs out.
            None => (copy_span(view).unwrap_or_else(|error| panic!("{error}")), 0),
        }
    }
    fn share_own<E: Element>(view: View<'_, CudaBuffer, E>) -> Result<(CudaBuffer, usize)> {
        match view.buffer.shared() {
            Some(shared) if !view.buffer.is_fixed() => Ok((shared, view.offset)),
            _ => Ok((copy_span(view)?, 0)),
        }
    }
    unsafe fn lend(storage: &CudaBuffer) -> CudaBuffer {
        storage.lent()
    }
    fn close(storage: &CudaBuffer) {
        storage.close();
    }
    unsafe fn window(storage: &mut CudaBuffer) -> CudaBuffer {
        storage.window()
    }
    fn is_fixed(storage: &CudaBuffer) -> bool {
        storage.is_fixed()
    }
    fn room<E: Element>(storage: &CudaBuffer) -> Option<usize> {
        Some(storage.len::<E>())
    }
    fn holds<E: Element>(storage: &CudaBuffer, len: usize) -> bool {
        storage.len::<E>() == len
    }
    fn is_same(a: &CudaBuffer, b: &CudaBuffer) -> bool {
        a.is_same(b)
    }
    fn peek<E: Element>(view: View<'_, CudaBuffer, E>) -> Result<E> {
        debug_assert_eq!(numel(view.sizes), Some(1));
        let (at, _) = reach("item", &view)?;
        // SAFETY: what a view reaches is valid elements.
        let elements = unsafe { view.buffer.elements::<E>(at, 1)? };
        Ok(elements[0])
    }
    fn peek_free<E: Element>(_: View<'_, CudaBuffer, E>) -> Option<E> {
        None
    }
    fn download<E: Element>(view: View<'_, CudaBuffer, E>) -> Result<Vec<E>> {
        download(view)
    }
    fn address<E: Element>(view: View<'_, CudaBuffer, E>) -> *const E {
        let address = view.buffer.address() as usize;
        core::ptr::without_provenance::<E>(address).wrapping_add(view.offset)
    }
    fn has<E: Castable>(view: View<'_, CudaBuffer, E>, what: Sought) -> Result<bool> {
        if count("has", view.sizes)? == 0 {
            return Ok(false);
        }
        let strides = strides::row_major(view.sizes);
        let found = Self::map1::<E, bool>(Seeking(what), view, &strides)?;
        let mask = (1_u32 << view.sizes.len()) - 1;
        let any = Self::reduce::<bool, _>(AnyAll::ANY, View::new(&found, 0, view.sizes, &strides), mask)?;
        Self::peek(View::<_, bool>::new(&any, 0, &[], &[]))
    }
    fn map1<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, CudaBuffer, A>,
        strides: &[usize],
    ) -> Result<CudaBuffer> {
        let place = (a.sizes, strides);
        // SAFETY: what a view reaches is valid; views of `Cuda<N>` are on this device.
        unsafe { fresh(O::DTYPE, "map", a.buffer.device(), place, &|to| describe::map1(to, &kernel, operand_of(&a))) }
    }
    fn map2<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, CudaBuffer, A>,
        b: View<'_, CudaBuffer, B>,
        strides: &[usize],
    ) -> Result<CudaBuffer> {
        expect_same(a.sizes, b.sizes);
        let place = (a.sizes, strides);
        // SAFETY: as in `map1`; both views have these sizes.
        unsafe {
            fresh(O::DTYPE, "map", a.buffer.device(), place, &|to| {
                describe::map2(to, &kernel, [operand_of(&a), operand_of(&b)])
            })
        }
    }
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        kernel: impl Map3<A, B, C, O>,
        a: View<'_, CudaBuffer, A>,
        b: View<'_, CudaBuffer, B>,
        c: View<'_, CudaBuffer, C>,
        strides: &[usize],
    ) -> Result<CudaBuffer> {
        expect_same(a.sizes, b.sizes);
        expect_same(a.sizes, c.sizes);
        let (place, operands) = ((a.sizes, strides), [operand_of(&a), operand_of(&b), operand_of(&c)]);
        // SAFETY: as in `map2`.
        unsafe { fresh(O::DTYPE, "map", a.buffer.device(), place, &|to| describe::map3(to, &kernel, operands)) }
    }
    fn map1_line<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, CudaBuffer, A>,
        len: usize,
    ) -> Result<CudaBuffer> {
        let line = [len];
        Self::map1(kernel, line_of(&a, &line), &[1])
    }
    fn map2_line<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, CudaBuffer, A>,
        b: View<'_, CudaBuffer, B>,
        len: usize,
    ) -> Result<CudaBuffer> {
        let line = [len];
        Self::map2(kernel, line_of(&a, &line), line_of(&b, &line), &[1])
    }
    fn map1_into<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, CudaBuffer, A>,
        out: ViewMut<'_, CudaBuffer, O>,
    ) -> Result<()> {
        expect_same(a.sizes, out.sizes);
        let target = Target { to: written(&out), sizes: out.sizes, in_place: false };
        // SAFETY: what views reach is valid; the output is held exclusively, so the operand does not overlap it.
        unsafe { run(O::DTYPE, "map", out.buffer.device(), &target, &|to| describe::map1(to, &kernel, operand_of(&a))) }
    }
    fn map2_into<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, CudaBuffer, A>,
        b: View<'_, CudaBuffer, B>,
        out: ViewMut<'_, CudaBuffer, O>,
    ) -> Result<()> {
        expect_same(a.sizes, out.sizes);
        expect_same(b.sizes, out.sizes);
        let target = Target { to: written(&out), sizes: out.sizes, in_place: false };
        // SAFETY: as in `map1_into`.
        unsafe {
            run(O::DTYPE, "map", out.buffer.device(), &target, &|to| {
                describe::map2(to, &kernel, [operand_of(&a), operand_of(&b)])
            })
        }
    }
    fn update1<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, CudaBuffer, O>) -> Result<()> {
        let target = Target { to: written(&out), sizes: out.sizes, in_place: true };
        // SAFETY: the operand is the output itself.
        unsafe { run(O::DTYPE, "update", out.buffer.device(), &target, &|to| describe::map1(to, &kernel, target.to)) }
    }
    fn update2<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, CudaBuffer, B>,
        out: ViewMut<'_, CudaBuffer, O>,
    ) -> Result<()> {
        expect_same(b.sizes, out.sizes);
        let target = Target { to: written(&out), sizes: out.sizes, in_place: true };
        // SAFETY: the first operand is the output itself; the output is held exclusively, so the second does not overlap it.
        unsafe {
            run(O::DTYPE, "update", out.buffer.device(), &target, &|to| {
                describe::map2(to, &kernel, [target.to, operand_of(&b)])
            })
        }
    }
    unsafe fn evaluate<X: Expression<Elem: Element>>(x: X, sizes: &[usize], strides: &[usize]) -> Result<CudaBuffer> {
        // SAFETY: the caller's promise.
        unsafe { fresh(X::Elem::DTYPE, "evaluate", device(N)?, (sizes, strides), &|to| describe::tree(to, &x)) }
    }
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(x: X, out: ViewMut<'_, CudaBuffer, X::Elem>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { elementwise::evaluate_into(out.buffer.device(), &x, &out) }
    }
    unsafe fn evaluate_update<X: Expression, O: Element>(
        kernel: impl Map2<O, X::Elem, O>,
        x: X,
        out: ViewMut<'_, CudaBuffer, O>,
    ) -> Result<()> {
        let target = Target { to: written(&out), sizes: out.sizes, in_place: true };
        // SAFETY: the caller's promise.
        unsafe {
            run(O::DTYPE, "update", out.buffer.device(), &target, &|to| describe::update(to, &kernel, &x, target.to))
        }
    }
    unsafe fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(
        reducer: R,
        x: X,
        sizes: &[usize],
        mask: u32,
    ) -> Result<CudaBuffer> {
        // SAFETY: the caller's promise.
        if let Some(result) = unsafe { reduce::reduce_expression(device(N)?, reducer, &x, sizes, mask)? } {
            return Ok(result);
        }
        // Broadcast or strided operands are evaluated into a tensor first.
        let strides = strides::row_major(sizes);
        // SAFETY: the caller's promise.
        let elements = unsafe { Self::evaluate(x, sizes, &strides)? };
        Self::reduce(reducer, View::<_, X::Elem>::new(&elements, 0, sizes, &strides), mask)
    }
    fn reduce<A: Element, R: Reducer<A>>(reducer: R, a: View<'_, CudaBuffer, A>, mask: u32) -> Result<CudaBuffer> {
        reduce::reduce(a.buffer.device(), reducer, &a, mask, [size_of::<R::Out>()]).map(|[result]| result)
    }
    fn reduce_both<A: Element, R: TwoResults<A>>(
        reducer: R,
        a: View<'_, CudaBuffer, A>,
        mask: u32,
    ) -> Result<[CudaBuffer; 2]> {
        reduce::reduce(a.buffer.device(), reducer, &a, mask, [size_of::<R::Out>(), size_of::<R::Second>()])
    }
    fn lanes<A: Element, O: Element>(
        kernel: impl LaneKernel<A, O>,
        a: View<'_, CudaBuffer, A>,
        axis: usize,
    ) -> Result<CudaBuffer> {
        lanes::lanes(a.buffer.device(), kernel, &a, axis)
    }
    fn lanes_both<A: Element, O: Element, P: Element>(
        kernel: impl LaneKernel<A, (O, P)>,
        a: View<'_, CudaBuffer, A>,
        axis: usize,
    ) -> Result<[CudaBuffer; 2]> {
        lanes::lanes_both(a.buffer.device(), kernel, &a, axis)
    }
    fn pick<E: Element>(a: View<'_, CudaBuffer, E>, axes: &[Vec<Segment>], fill: E) -> Result<CudaBuffer> {
        index::pick(a.buffer.device(), &a, axes, fill)
    }
    fn join<E: Element>(
        pieces: &[View<'_, CudaBuffer, E>],
        axis: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<CudaBuffer> {
        let device = placed::<N>(pieces.first().map(|piece| piece.buffer))?;
        assert_eq!(pieces.iter().map(|piece| piece.sizes[axis]).sum::<usize>(), sizes[axis], "pieces fill the axis");
        let bytes = bytes_of(device, count("cat", sizes)?, size_of::<E>())?;
        // SAFETY: the pieces fill the result, whose strides leave no gaps.
        let result = unsafe { CudaBuffer::uninitialised(device, bytes)? };
        let mut at = 0;
        for piece in pieces {
            let place = result.address() + (at * strides[axis] * size_of::<E>()) as u64;
            let target = Target { to: operand(place, strides), sizes: piece.sizes, in_place: false };
            // SAFETY: the piece has the result's other sizes, and fits along the axis; what a view reaches is valid.
            unsafe {
                run(E::DTYPE, "cat", device, &target, &|to| describe::map1::<_, E, E>(to, &Copying, operand_of(piece)))?
            };
            at += piece.sizes[axis];
        }
        Ok(result)
    }
    fn band<E: Element>(a: View<'_, CudaBuffer, E>, low: isize, high: isize) -> Result<CudaBuffer> {
        index::band(a.buffer.device(), &a, low, high)
    }
    fn rows<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, CudaBuffer, A>,
        shared: [Option<View<'_, CudaBuffer, A>>; 2],
    ) -> Result<CudaBuffer> {
        lanes::rows(a.buffer.device(), kernel, &a, shared)
    }
    fn matmul<E: Dtype>(
        a: View<'_, CudaBuffer, E>,
        b: View<'_, CudaBuffer, E>,
        added: Option<Added<'_, CudaBuffer, E>>,
    ) -> Result<CudaBuffer> {
        product::matmul(a.buffer.device(), &Copying, &a, &b, added)
    }
    fn matmul_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        a: View<'_, CudaBuffer, E>,
        b: View<'_, CudaBuffer, E>,
        added: Option<Added<'_, CudaBuffer, E>>,
    ) -> Result<CudaBuffer> {
        product::matmul(a.buffer.device(), &kernel, &a, &b, added)
    }
    fn attend<E: Dtype>(attention: &Attention<'_, CudaBuffer, E>) -> Result<CudaBuffer> {
        let [shares, result] = attention::composed::<Self, E>(attention)?;
        attend::without_unseen(attention, &shares, &result)?;
        Ok(result)
    }
    fn int_mm<E: Dtype>(a: View<'_, CudaBuffer, E>, b: View<'_, CudaBuffer, i8>) -> Result<CudaBuffer> {
        product::int_mm(a.buffer.device(), &a, &b)
    }
    fn gather<E: Element>(
        indexing: Indexing,
        a: View<'_, CudaBuffer, E>,
        index: View<'_, CudaBuffer, i64>,
    ) -> Result<CudaBuffer> {
        index::gather(a.buffer.device(), indexing, &a, &index)
    }
    fn scatter<E: Element>(
        indexing: Indexing,
        index: View<'_, CudaBuffer, i64>,
        b: View<'_, CudaBuffer, E>,
        out: ViewMut<'_, CudaBuffer, E>,
    ) -> Result<()> {
        scatter::scatter(out.buffer.device(), indexing, &index, &b, &out)
    }
    fn scatter_with<E: Element>(
        indexing: Indexing,
        kernel: impl Map2<E, E, E>,
        index: View<'_, CudaBuffer, i64>,
        b: View<'_, CudaBuffer, E>,
        out: ViewMut<'_, CudaBuffer, E>,
    ) -> Result<()> {
        scatter::scatter_with(out.buffer.device(), indexing, &kernel, &index, &b, &out)
    }
    fn compress<E: Element>(
        a: View<'_, CudaBuffer, E>,
        mask: View<'_, CudaBuffer, bool>,
    ) -> Result<(CudaBuffer, usize)> {
        select::compress(a.buffer.device(), &a, &mask)
    }
    fn index_rows(mask: View<'_, CudaBuffer, bool>) -> Result<Option<(CudaBuffer, usize)>> {
        select::index_rows(mask.buffer.device(), &mask).map(Some)
    }
    fn order<E: Element>(order: Order, a: View<'_, CudaBuffer, E>, axis: usize) -> Result<[CudaBuffer; 2]> {
        order::order(a.buffer.device(), order, &a, axis)
    }
    fn search<E: Element>(
        sorted: View<'_, CudaBuffer, E>,
        values: View<'_, CudaBuffer, E>,
        right: bool,
    ) -> Result<CudaBuffer> {
        order::search(sorted.buffer.device(), &sorted, &values, right)
    }
}
