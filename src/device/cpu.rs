//! `Cpu`: the host, whose loops are in `cpu`.

use super::call::{Call, Convolve, Given, RunOn, runs};
use super::{Backend, Device, Place, convolution};
use crate::cpu::conv::Weight;
use crate::cpu::epilogue::Then;
use crate::cpu::{
    attention, compress, conv, elementwise, epilogue, fill, fused, gather, gemm, index_rows, integer_gemm, lanes,
    order, pick, pool, read, reduce, rows, scatter, search, tiny_gemm,
};
use crate::dtype::{Castable, Dtype, Element};
use crate::error::Result;
use crate::ops::expression::Expression;
use crate::ops::kernel::{LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, SeveralResults, TwoResults};
use crate::sealed::Sealed;
use crate::storage::{HostBuffer, View, ViewMut};

/// The host. The default device of [`Tensor`](crate::Tensor).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cpu;

impl Device for Cpu {
    fn name() -> String {
        "cpu".to_owned()
    }
}
impl Sealed for Cpu {}
impl Place for Cpu {
    type Buffer = HostBuffer;
}

impl Backend for Cpu {
    type Storage = HostBuffer;

    fn build<E: Element>(_: Option<&HostBuffer>, make: impl FnOnce() -> Result<Vec<E>>) -> Result<HostBuffer> {
        HostBuffer::from_vec(make()?)
    }
    fn zeroed<E: Element>(_: Option<&HostBuffer>, len: usize) -> Result<HostBuffer> {
        fill::zeroed::<E>(len)
    }
    fn fill<E: Element>(_: Option<&HostBuffer>, value: E, len: usize) -> Result<HostBuffer> {
        fill::fill(value, len)
    }
    fn tabulate<O: Element>(kernel: impl Map1<i64, O>, _: Option<&HostBuffer>, len: usize) -> Result<HostBuffer> {
        fill::tabulate(kernel, len)
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
    #[cfg(feature = "profile")]
    fn called(_: Option<&HostBuffer>) -> String {
        Self::name()
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn run<C: Call>(call: C::Of<'_, HostBuffer>) -> Result<Given<C, HostBuffer>> {
        <C as RunOn<HostBuffer>>::run(call)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn map1_line<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, HostBuffer, A>,
        len: usize,
    ) -> Result<HostBuffer> {
        #[cfg(feature = "profile")]
        if crate::profile::is_on() {
            return Self::map1(kernel, a.restrided(&[len], &[1]), &[1]);
        }
        elementwise::map1_line(kernel, a, len)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn map2_line<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, HostBuffer, A>,
        b: View<'_, HostBuffer, B>,
        len: usize,
    ) -> Result<HostBuffer> {
        #[cfg(feature = "profile")]
        if crate::profile::is_on() {
            return Self::map2(kernel, a.restrided(&[len], &[1]), b.restrided(&[len], &[1]), &[1]);
        }
        elementwise::map2_line(kernel, a, b, len)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn update1_line<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, HostBuffer, O>, len: usize) -> Result<()> {
        #[cfg(feature = "profile")]
        if crate::profile::is_on() {
            return Self::update1(kernel, out);
        }
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
        #[cfg(feature = "profile")]
        if crate::profile::is_on() {
            return Self::update2(kernel, b, out);
        }
        elementwise::update2_line(kernel, b, out, len);
        Ok(())
    }
    fn address<E: Element>(view: View<'_, HostBuffer, E>) -> *const E {
        elementwise::source(&view)
    }
    unsafe fn evaluate<X: Expression<Elem: Element>>(x: X, sizes: &[usize], strides: &[usize]) -> Result<HostBuffer> {
        fused::evaluate(x, sizes, strides)
    }
    const EVALUATES_EACH: bool = true;
    unsafe fn evaluate_each<X: Expression<Elem = [O; N]>, O: Element, const N: usize>(
        x: X,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<[HostBuffer; N]> {
        fused::evaluate_each(x, sizes, strides)
    }
    fn reduce_several<A: Element, R: SeveralResults<A>, const N: usize>(
        reducer: R,
        a: View<'_, HostBuffer, A>,
        mask: u32,
    ) -> Result<[HostBuffer; N]> {
        reduce::reduce_several(reducer, a, mask)
    }
    unsafe fn reduce_lazy_several<X: Expression<Elem: Element>, R: SeveralResults<X::Elem>, const N: usize>(
        reducer: R,
        x: X,
        sizes: &[usize],
        mask: u32,
    ) -> Result<[HostBuffer; N]> {
        reduce::reduce_lazy_several(reducer, x, sizes, mask)
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
    unsafe fn reduce_lazy<X: Expression<Elem: Element>, R: Reducer<X::Elem>>(
        reducer: R,
        x: X,
        sizes: &[usize],
        mask: u32,
    ) -> Result<HostBuffer> {
        reduce::reduce_lazy(reducer, x, sizes, mask)
    }
    #[cfg_attr(not(debug_assertions), inline(always))]
    fn matmul_few<E: Dtype>(
        a: View<'_, HostBuffer, E>,
        b: View<'_, HostBuffer, E>,
        sizes: [usize; 3],
    ) -> Result<HostBuffer> {
        #[cfg(feature = "profile")]
        if crate::profile::is_on() {
            return Self::matmul(a, b, None);
        }
        tiny_gemm::matmul_few(a, b, sizes)
    }
}

runs! { HostBuffer:
    Unary [A: Element, O: Element, K: Map1<A, O>] |call| elementwise::map1(call.kernel, call.a, call.strides);
    Binary [A: Element, C: Element, O: Element, K: Map2<A, C, O>] |call| elementwise::map2(call.kernel, call.a, call.b, call.strides);
    Ternary [A: Element, C: Element, F: Element, O: Element, K: Map3<A, C, F, O>] |call| {
        elementwise::map3(call.kernel, call.a, call.b, call.c, call.strides)
    };
    UnaryInto [A: Element, O: Element, K: Map1<A, O>] |call| {
        elementwise::map1_into(call.kernel, call.a, call.out);
        Ok(())
    };
    BinaryInto [A: Element, C: Element, O: Element, K: Map2<A, C, O>] |call| {
        elementwise::map2_into(call.kernel, call.a, call.b, call.out);
        Ok(())
    };
    Update [O: Element, K: Map1<O, O>] |call| {
        elementwise::update1(call.kernel, call.out);
        Ok(())
    };
    UpdateBy [C: Element, O: Element, K: Map2<O, C, O>] |call| {
        elementwise::update2(call.kernel, call.b, call.out);
        Ok(())
    };
    Seek [E: Castable] |call| Ok(read::has(call.a, call.what));
    Reduce [A: Element, R: Reducer<A>] |call| reduce::reduce(call.reducer, call.a, call.mask);
    ReduceBoth [A: Element, R: TwoResults<A>] |call| reduce::reduce_both(call.reducer, call.a, call.mask);
    ReducePairs [A: Element, C: Element, E: Element, K: Map2<A, C, E>, R: Reducer<E>] |call| {
        reduce::reduce_pairs(call.reducer, &call.kernel, call.a, call.b, call.mask)
    };
    Lanes [A: Element, O: Element, K: LaneKernel<A, O>] |call| lanes::lanes(call.kernel, call.a, call.axis);
    LanesBoth [A: Element, O: Element, P: Element, K: LaneKernel<A, (O, P)>] |call| {
        lanes::lanes_both(call.kernel, call.a, call.axis)
    };
    Rows [A: Element, O: Element, K: RowKernel<A, O>] |call| rows::rows(call.kernel, call.a, call.shared);
    Groups [A: Element, O: Element, K: RowKernel<A, O>] |call| rows::groups(call.kernel, call.a, call.shared);
    Pick [E: Element] |call| pick::pick(call.a, call.axes, call.fill);
    Join [E: Element] |call| elementwise::join(&call.pieces, call.axis, call.sizes, call.strides);
    Band [E: Element] |call| pick::band(call.a, call.low, call.high);
    Gather [E: Element] |call| gather::gather(call.indexing, call.a, call.index);
    Scatter [E: Element] |call| scatter::scatter(call.indexing, call.index, call.b, call.out);
    ScatterWith [E: Element, K: Map2<E, E, E>] |call| {
        scatter::scatter_with(call.indexing, call.kernel, call.index, call.b, call.out)
    };
    Compress [E: Element] |call| compress::compress(call.a, call.mask);
    IndexRows [] |call| index_rows::index_rows(call.mask).map(Some);
    Sort [E: Element] |call| order::order(call.order, call.a, call.axis);
    Search [E: Element] |call| search::search(call.sorted, call.values, call.right);
    Product [E: Dtype, K: Map1<E, E>] |call| match call.kernel {
        None => gemm::matmul(call.a, call.b, call.added, None),
        Some(kernel) => {
            gemm::matmul(call.a, call.b, call.added, Some(&|out, len| epilogue::apply(kernel, out, len)))
        }
    };
    ProductByPacked [E: Dtype, K: Map1<E, E>] |call| {
        if const { !conv::has::<E>() } {
            return convolution::product_with_copy::<Cpu, E, K>(call.kernel, call.x, call.weight, call.bias);
        }
        let then = call.kernel.map(|kernel| move |out: *mut E, len: usize| epilogue::apply(kernel, out, len));
        conv::multiply_packed(call.x, call.weight, call.bias, then.as_ref().map(|then| then as Then<'_, E>))
    };
    ProductOfBytes [E: Dtype] |call| integer_gemm::int_mm(call.a, call.b);
    Convolve [E: Dtype, K: Map1<E, E>] |call| convolve(call);
    Pack [E: Dtype] |call| {
        if const { conv::has::<E>() } { conv::pack(call.weight, call.groups) } else { convolution::copied::<Cpu, E>(call.weight) }
    };
    Pool [A: Element, R: Reducer<A>] |call| pool::pool(call.reducer, call.windows, call.x, call.places);
    Attend [E: Dtype] |call| attention::attend(&call.attention);
}

fn convolve<E: Dtype, K: Map1<E, E>>(call: Convolve<'_, HostBuffer, E, K>) -> Result<HostBuffer> {
    let Convolve { kernel, is_packed, convolution, sizes, strides, x, weight, bias, .. } = call;
    // Images that lie channel by channel are the right factor of a product as they are; images of one position are the rows of the left one.
    let is_product = (kernel.is_none() || sizes[2..] == [1; 3])
        && !is_packed
        && convolution.is_pointwise()
        && convolution::is_row_major(sizes, strides);
    if const { !conv::has::<E>() } {
        return convolution::run::<Cpu, E, K>(call);
    }
    if is_product {
        return convolution::run::<Cpu, E, K>(call);
    }
    let then = kernel.map(|kernel| move |out: *mut E, len: usize| epilogue::apply(kernel, out, len));
    let then = then.as_ref().map(|then| then as Then<'_, E>);
    let weight = match is_packed {
        true => Weight::Packed { buffer: weight.buffer, sizes: weight.sizes },
        false => Weight::Tensor(weight),
    };
    conv::convolve(convolution, x, weight, bias, [sizes, strides], then)
}
