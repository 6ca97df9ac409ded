//! `Cpu`: the host, whose loops are in `cpu`.

use super::{Backend, Device, Place, convolving};
use crate::cpu::conv::Weight;
use crate::cpu::epilogue::Then;
use crate::cpu::{
    attention, compress, conv, elementwise, epilogue, fresh, fused, gather, gemm, index_rows, integer_gemm, lanes,
    moving, order, pool, read, reduce, rows, scatter, search, tiny_gemm,
};
use crate::dtype::{Castable, Dtype, Element};
use crate::error::Result;
use crate::ops::arguments::{Added, Attention, Indexing, Order, Sought};
use crate::ops::expression::Expression;
use crate::ops::kernel::{LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::ops::window::{Convolution, Window};
use crate::storage::{HostBuffer, View, ViewMut};

/// The host. The default device of [`Tensor`](crate::Tensor).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu;

impl Device for Cpu {
    fn name() -> String {
        "cpu".to_owned()
    }
}
impl Place for Cpu {
    type Buffer = HostBuffer;
}

impl Backend for Cpu {
    type Storage = HostBuffer;

    fn build<E: Element>(_: Option<&HostBuffer>, make: impl FnOnce() -> Result<Vec<E>>) -> Result<HostBuffer> {
        HostBuffer::from_vec(make()?)
    }
    fn zeroed<E: Element>(_: Option<&HostBuffer>, len: usize) -> Result<HostBuffer> {
        fresh::zeroed::<E>(len)
    }
    fn fill<E: Element>(_: Option<&HostBuffer>, value: E, len: usize) -> Result<HostBuffer> {
        fresh::fill(value, len)
    }
    fn tabulate<O: Element>(kernel: impl Map1<i64, O>, _: Option<&HostBuffer>, len: usize) -> Result<HostBuffer> {
        fresh::tabulate(kernel, len)
    }
    #[inline]
    fn is_unique(storage: &mut HostBuffer) -> bool {
        storage.is_unique()
    }
    #[inline]
    fn share<E: Element>(view: View<'_, HostBuffer, E>) -> (HostBuffer, usize) {
        match view.buffer.shared() {
            Some(shared) => (shared, view.offset),
            None => (read::copy_span::<E>(view.buffer, view.offset, view.sizes, view.strides), 0),
        }
    }
    fn share_own<E: Element>(view: View<'_, HostBuffer, E>) -> Result<(HostBuffer, usize)> {
        if view.buffer.has_others() { Ok((read::try_copy_span(view)?, 0)) } else { Ok(Self::share(view)) }
    }
    unsafe fn lend(storage: &HostBuffer) -> HostBuffer {
        // SAFETY: the caller's promise.
        unsafe { storage.lent() }
    }
    fn close(storage: &HostBuffer) {
        storage.close();
    }
    unsafe fn window(storage: &mut HostBuffer) -> HostBuffer {
        // SAFETY: the caller's promise.
        unsafe { storage.window() }
    }
    #[inline]
    fn is_fixed(storage: &HostBuffer) -> bool {
        storage.is_fixed()
    }
    #[inline]
    fn room<E: Element>(storage: &HostBuffer) -> Option<usize> {
        Some(storage.len::<E>())
    }
    #[inline]
    fn holds<E: Element>(storage: &HostBuffer, len: usize) -> bool {
        storage.len::<E>() == len
    }
    fn is_same(a: &HostBuffer, b: &HostBuffer) -> bool {
        a.is_same(b)
    }
    fn peek<E: Element>(view: View<'_, HostBuffer, E>) -> Result<E> {
        Ok(read::peek(view))
    }
    fn peek_free<E: Element>(view: View<'_, HostBuffer, E>) -> Option<E> {
        Some(read::peek(view))
    }
    fn download<E: Element>(view: View<'_, HostBuffer, E>) -> Result<Vec<E>> {
        read::download(view)
    }
    fn has<E: Castable>(view: View<'_, HostBuffer, E>, what: Sought) -> Result<bool> {
        Ok(read::has(view, what))
    }
    fn map1<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, HostBuffer, A>,
        strides: &[usize],
    ) -> Result<HostBuffer> {
        elementwise::map1(kernel, a, strides)
    }
    fn map2<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, HostBuffer, A>,
        b: View<'_, HostBuffer, B>,
        strides: &[usize],
    ) -> Result<HostBuffer> {
        elementwise::map2(kernel, a, b, strides)
    }
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        kernel: impl Map3<A, B, C, O>,
        a: View<'_, HostBuffer, A>,
        b: View<'_, HostBuffer, B>,
        c: View<'_, HostBuffer, C>,
        strides: &[usize],
    ) -> Result<HostBuffer> {
        elementwise::map3(kernel, a, b, c, strides)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn map1_line<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, HostBuffer, A>,
        len: usize,
    ) -> Result<HostBuffer> {
        elementwise::map1_line(kernel, a, len)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn map2_line<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, HostBuffer, A>,
        b: View<'_, HostBuffer, B>,
        len: usize,
    ) -> Result<HostBuffer> {
        elementwise::map2_line(kernel, a, b, len)
    }
    fn map1_into<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, HostBuffer, A>,
        out: ViewMut<'_, HostBuffer, O>,
    ) -> Result<()> {
        elementwise::map1_into(kernel, a, out);
        Ok(())
    }
    fn map2_into<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, HostBuffer, A>,
        b: View<'_, HostBuffer, B>,
        out: ViewMut<'_, HostBuffer, O>,
    ) -> Result<()> {
        elementwise::map2_into(kernel, a, b, out);
        Ok(())
    }
    fn update1<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, HostBuffer, O>) -> Result<()> {
        elementwise::update1(kernel, out);
        Ok(())
    }
    fn update2<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, HostBuffer, B>,
        out: ViewMut<'_, HostBuffer, O>,
    ) -> Result<()> {
        elementwise::update2(kernel, b, out);
        Ok(())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn update1_line<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, HostBuffer, O>, len: usize) -> Result<()> {
        elementwise::update1_line(kernel, out, len);
        Ok(())
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn update2_line<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, HostBuffer, B>,
        out: ViewMut<'_, HostBuffer, O>,
        len: usize,
    ) -> Result<()> {
        elementwise::update2_line(kernel, b, out, len);
        Ok(())
    }
    fn address<E: Element>(view: View<'_, HostBuffer, E>) -> *const E {
        elementwise::source(&view)
    }
    unsafe fn evaluate<X: Expression<Elem: Element>>(x: X, sizes: &[usize], strides: &[usize]) -> Result<HostBuffer> {
        fused::evaluate(x, sizes, strides)
    }
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(x: X, out: ViewMut<'_, HostBuffer, X::Elem>) -> Result<()> {
        fused::evaluate_into(x, out);
        Ok(())
    }
    unsafe fn evaluate_update<X: Expression, O: Element>(
        kernel: impl Map2<O, X::Elem, O>,
        x: X,
        out: ViewMut<'_, HostBuffer, O>,
    ) -> Result<()> {
        fused::update(kernel, x, out);
        Ok(())
    }
    unsafe fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(
        reducer: R,
        x: X,
        sizes: &[usize],
        mask: u32,
    ) -> Result<HostBuffer> {
        reduce::reduce_lazy(reducer, x, sizes, mask)
    }
    fn reduce_pairs<A: Element, B: Element, C: Element>(
        reducer: impl Reducer<C>,
        kernel: impl Map2<A, B, C>,
        a: View<'_, HostBuffer, A>,
        b: View<'_, HostBuffer, B>,
        mask: u32,
    ) -> Result<HostBuffer> {
        reduce::reduce_pairs(reducer, &kernel, a, b, mask)
    }
    #[inline]
    fn reduce<A: Element, R: Reducer<A>>(reducer: R, a: View<'_, HostBuffer, A>, mask: u32) -> Result<HostBuffer> {
        reduce::reduce(reducer, a, mask)
    }
    fn reduce_both<A: Element, R: TwoResults<A>>(
        reducer: R,
        a: View<'_, HostBuffer, A>,
        mask: u32,
    ) -> Result<[HostBuffer; 2]> {
        reduce::reduce_both(reducer, a, mask)
    }
    fn lanes<A: Element, O: Element>(
        kernel: impl LaneKernel<A, O>,
        a: View<'_, HostBuffer, A>,
        axis: usize,
    ) -> Result<HostBuffer> {
        lanes::lanes(kernel, a, axis)
    }
    fn lanes_both<A: Element, O: Element, P: Element>(
        kernel: impl LaneKernel<A, (O, P)>,
        a: View<'_, HostBuffer, A>,
        axis: usize,
    ) -> Result<[HostBuffer; 2]> {
        lanes::lanes_both(kernel, a, axis)
    }
    fn pick<E: Element>(a: View<'_, HostBuffer, E>, axes: &[Vec<Segment>], fill: E) -> Result<HostBuffer> {
        moving::pick(a, axes, fill)
    }
    fn join<E: Element>(
        pieces: &[View<'_, HostBuffer, E>],
        axis: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<HostBuffer> {
        elementwise::join(pieces, axis, sizes, strides)
    }
    fn band<E: Element>(a: View<'_, HostBuffer, E>, low: isize, high: isize) -> Result<HostBuffer> {
        moving::band(a, low, high)
    }
    fn rows<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, HostBuffer, A>,
        shared: [Option<View<'_, HostBuffer, A>>; 2],
    ) -> Result<HostBuffer> {
        rows::rows(kernel, a, shared)
    }
    fn groups<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, HostBuffer, A>,
        shared: [Option<View<'_, HostBuffer, A>>; 2],
    ) -> Result<Option<HostBuffer>> {
        rows::groups(kernel, a, shared)
    }
    #[inline]
    fn matmul<E: Dtype>(
        a: View<'_, HostBuffer, E>,
        b: View<'_, HostBuffer, E>,
        added: Option<Added<'_, HostBuffer, E>>,
    ) -> Result<HostBuffer> {
        gemm::matmul(a, b, added, None)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn matmul_few<E: Dtype>(
        a: View<'_, HostBuffer, E>,
        b: View<'_, HostBuffer, E>,
        sizes: [usize; 3],
    ) -> Result<HostBuffer> {
        tiny_gemm::matmul_few(a, b, sizes)
    }
    fn matmul_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        a: View<'_, HostBuffer, E>,
        b: View<'_, HostBuffer, E>,
        added: Option<Added<'_, HostBuffer, E>>,
    ) -> Result<HostBuffer> {
        gemm::matmul(a, b, added, Some(&|out, len| epilogue::apply(kernel, out, len)))
    }
    fn convolve<E: Dtype>(
        convolution: &Convolution,
        x: View<'_, HostBuffer, E>,
        weight: View<'_, HostBuffer, E>,
        bias: Option<View<'_, HostBuffer, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<HostBuffer> {
        // Images that lie channel by channel are the right factor of a product as they are.
        let is_product = convolution.is_pointwise() && convolving::is_row_major(sizes, strides);
        if const { conv::has::<E>() } && !is_product {
            return conv::convolve(convolution, x, Weight::Tensor(weight), bias, [sizes, strides], None);
        }
        convolving::composed::<Self, E>(convolution, x, weight, bias, sizes, strides)
    }
    fn convolve_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        convolution: &Convolution,
        x: View<'_, HostBuffer, E>,
        weight: View<'_, HostBuffer, E>,
        bias: Option<View<'_, HostBuffer, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<HostBuffer> {
        if const { conv::has::<E>() } {
            let then = |out: *mut E, len: usize| epilogue::apply(kernel, out, len);
            return conv::convolve(convolution, x, Weight::Tensor(weight), bias, [sizes, strides], Some(&then));
        }
        let result = convolving::composed::<Self, E>(convolution, x, weight, bias, sizes, strides)?;
        elementwise::map1(kernel, View::<_, E>::new(&result, 0, sizes, strides), strides)
    }
    fn pack<E: Dtype>(weight: View<'_, HostBuffer, E>, groups: usize) -> Result<HostBuffer> {
        if const { conv::has::<E>() } {
            return conv::pack(weight, groups);
        }
        convolving::copied::<Self, E>(weight)
    }
    fn convolve_packed<E: Dtype, K: Map1<E, E>>(
        kernel: Option<K>,
        convolution: &Convolution,
        x: View<'_, HostBuffer, E>,
        weight: View<'_, HostBuffer, E>,
        bias: Option<View<'_, HostBuffer, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<HostBuffer> {
        if const { !conv::has::<E>() } {
            return convolving::with_copy::<Self, E, K>(kernel, convolution, x, weight, bias, [sizes, strides]);
        }
        let then = kernel.map(|kernel| move |out: *mut E, len: usize| epilogue::apply(kernel, out, len));
        let then = then.as_ref().map(|then| then as Then<'_, E>);
        let weight = Weight::Packed { buffer: weight.buffer, sizes: weight.sizes };
        conv::convolve(convolution, x, weight, bias, [sizes, strides], then)
    }
    fn multiply_packed<E: Dtype, K: Map1<E, E>>(
        kernel: Option<K>,
        x: View<'_, HostBuffer, E>,
        weight: View<'_, HostBuffer, E>,
        bias: Option<View<'_, HostBuffer, E>>,
    ) -> Result<HostBuffer> {
        if const { !conv::has::<E>() } {
            return convolving::product_with_copy::<Self, E, K>(kernel, x, weight, bias);
        }
        let then = kernel.map(|kernel| move |out: *mut E, len: usize| epilogue::apply(kernel, out, len));
        conv::multiply_packed(x, weight, bias, then.as_ref().map(|then| then as Then<'_, E>))
    }
    fn pool<A: Element, R: Reducer<A>>(
        reducer: R,
        windows: &[Window; 3],
        x: View<'_, HostBuffer, A>,
        places: [usize; 3],
    ) -> Result<Option<HostBuffer>> {
        pool::pool(reducer, windows, x, places)
    }
    fn attend<E: Dtype>(attention: &Attention<'_, HostBuffer, E>) -> Result<HostBuffer> {
        attention::attend(attention)
    }
    fn int_mm<E: Dtype>(a: View<'_, HostBuffer, E>, b: View<'_, HostBuffer, i8>) -> Result<HostBuffer> {
        integer_gemm::int_mm(a, b)
    }
    fn gather<E: Element>(
        indexing: Indexing,
        a: View<'_, HostBuffer, E>,
        index: View<'_, HostBuffer, i64>,
    ) -> Result<HostBuffer> {
        gather::gather(indexing, a, index)
    }
    fn scatter<E: Element>(
        indexing: Indexing,
        index: View<'_, HostBuffer, i64>,
        b: View<'_, HostBuffer, E>,
        out: ViewMut<'_, HostBuffer, E>,
    ) -> Result<()> {
        scatter::scatter(indexing, index, b, out)
    }
    fn scatter_with<E: Element>(
        indexing: Indexing,
        kernel: impl Map2<E, E, E>,
        index: View<'_, HostBuffer, i64>,
        b: View<'_, HostBuffer, E>,
        out: ViewMut<'_, HostBuffer, E>,
    ) -> Result<()> {
        scatter::scatter_with(indexing, kernel, index, b, out)
    }
    fn compress<E: Element>(
        a: View<'_, HostBuffer, E>,
        mask: View<'_, HostBuffer, bool>,
    ) -> Result<(HostBuffer, usize)> {
        compress::compress(a, mask)
    }
    fn index_rows(mask: View<'_, HostBuffer, bool>) -> Result<Option<(HostBuffer, usize)>> {
        index_rows::index_rows(mask).map(Some)
    }
    fn order<E: Element>(order: Order, a: View<'_, HostBuffer, E>, axis: usize) -> Result<[HostBuffer; 2]> {
        order::order(order, a, axis)
    }
    fn search<E: Element>(
        sorted: View<'_, HostBuffer, E>,
        values: View<'_, HostBuffer, E>,
        right: bool,
    ) -> Result<HostBuffer> {
        search::search(sorted, values, right)
    }
}
