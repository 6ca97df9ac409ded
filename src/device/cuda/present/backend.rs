//! Memory, copies, downloads, and calls into the files of operations.
//!
//! The operands determine the device; operations without operands use ordinal `N`.

use super::Cuda;
use super::elementwise::{self, Seeking, Target, count, fresh, operand, operand_of, run, written};
use super::memory::{copy_span, download, fill, reach};
use super::{attend, index, lanes, order, product, random, reduce, scatter, select};
use crate::cuda::buffer::bytes_of;
use crate::cuda::{CudaBuffer, CudaDevice, device};
use crate::device::call::{
    Binary, BinaryInto, Call, Given, Join, Product, ReducePairs, RunOn, Seek, Ternary, UnaryInto, Update, UpdateBy,
    runs,
};
use crate::device::{AnyDevice, Backend, Place, attention, convolution};
use crate::dtype::{Castable, Dtype, Element};
use crate::error::Result;
use crate::layout::strides;
use crate::ops::arguments::Distribution;
use crate::ops::expression::{AXES, Expression, Leaf, Mapped2};
use crate::ops::kernel::{Copying, LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::record::describe;
use crate::ops::reduce::{AnyAll, Reducer, TwoResults};
use crate::sealed::Sealed;
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

impl<const N: usize> Sealed for Cuda<N> {}
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
    const IS_ELSEWHERE: bool = true;
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
    #[cfg(feature = "profile")]
    fn clock(beside: Option<&CudaBuffer>) -> crate::profile::Clock {
        placed::<N>(beside).map_or(crate::profile::Clock::HOST, crate::profile::Clock::gpu)
    }
    #[cfg(feature = "profile")]
    fn called(beside: Option<&CudaBuffer>) -> String {
        placed::<N>(beside).map_or_else(|_| <Self as crate::device::Device>::name(), CudaDevice::name)
    }
    fn run<C: Call>(call: C::Of<'_, CudaBuffer>) -> Result<Given<C, CudaBuffer>> {
        <C as RunOn<CudaBuffer>>::run(call)
    }
    unsafe fn evaluate<X: Expression<Elem: Element>>(x: X, sizes: &[usize], strides: &[usize]) -> Result<CudaBuffer> {
        // SAFETY: the caller's promise.
        unsafe { fresh(X::Elem::DTYPE, "evaluate", device(N)?, (sizes, strides), &|to| describe::tree(to, &x)) }
    }
    unsafe fn evaluate_beside<X: Expression<Elem: Element>>(
        beside: &CudaBuffer,
        x: X,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<CudaBuffer> {
        let device = beside.device();
        // SAFETY: the caller's promise.
        unsafe { fresh(X::Elem::DTYPE, "evaluate", device, (sizes, strides), &|to| describe::tree(to, &x)) }
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
    unsafe fn reduce_lazy<X: Expression<Elem: Element>, R: Reducer<X::Elem>>(
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
}

/// The device of operands: calls do not ask for an ordinal.
type Gpu = Cuda<0>;

runs! { CudaBuffer:
    Unary [A: Element, O: Element, K: Map1<A, O>] |call| {
        let place = (call.a.sizes, call.strides);
        // SAFETY: what a view reaches is valid.
        unsafe {
            fresh(O::DTYPE, "map", call.a.buffer.device(), place, &|to| {
                describe::map1(to, &call.kernel, operand_of(&call.a))
            })
        }
    };
    Binary [A: Element, C: Element, O: Element, K: Map2<A, C, O>] |call| {
        let Binary { kernel, strides, a, b, .. } = call;
        expect_same(a.sizes, b.sizes);
        // SAFETY: as in `Unary`; both have these sizes.
        unsafe {
            fresh(O::DTYPE, "map", a.buffer.device(), (a.sizes, strides), &|to| {
                describe::map2(to, &kernel, [operand_of(&a), operand_of(&b)])
            })
        }
    };
    Ternary [A: Element, C: Element, F: Element, O: Element, K: Map3<A, C, F, O>] |call| {
        let Ternary { kernel, strides, a, b, c, .. } = call;
        expect_same(a.sizes, b.sizes);
        expect_same(a.sizes, c.sizes);
        let operands = [operand_of(&a), operand_of(&b), operand_of(&c)];
        // SAFETY: as in `Binary`.
        unsafe {
            fresh(O::DTYPE, "map", a.buffer.device(), (a.sizes, strides), &|to| describe::map3(to, &kernel, operands))
        }
    };
    UnaryInto [A: Element, O: Element, K: Map1<A, O>] |call| {
        let UnaryInto { kernel, out, a, .. } = call;
        expect_same(a.sizes, out.sizes);
        let target = Target { to: written(&out), sizes: out.sizes, in_place: false };
        // SAFETY: what views reach is valid; the output is held exclusively, so that the operand is elsewhere.
        unsafe { run(O::DTYPE, "map", out.buffer.device(), &target, &|to| describe::map1(to, &kernel, operand_of(&a))) }
    };
    BinaryInto [A: Element, C: Element, O: Element, K: Map2<A, C, O>] |call| {
        let BinaryInto { kernel, out, a, b, .. } = call;
        expect_same(a.sizes, out.sizes);
        expect_same(b.sizes, out.sizes);
        let target = Target { to: written(&out), sizes: out.sizes, in_place: false };
        // SAFETY: as in `UnaryInto`.
        unsafe {
            run(O::DTYPE, "map", out.buffer.device(), &target, &|to| {
                describe::map2(to, &kernel, [operand_of(&a), operand_of(&b)])
            })
        }
    };
    Update [O: Element, K: Map1<O, O>] |call| {
        let Update { kernel, out, .. } = call;
        let target = Target { to: written(&out), sizes: out.sizes, in_place: true };
        // SAFETY: the operand is the output itself.
        unsafe { run(O::DTYPE, "update", out.buffer.device(), &target, &|to| describe::map1(to, &kernel, target.to)) }
    };
    UpdateBy [C: Element, O: Element, K: Map2<O, C, O>] |call| {
        let UpdateBy { kernel, out, b, .. } = call;
        expect_same(b.sizes, out.sizes);
        let target = Target { to: written(&out), sizes: out.sizes, in_place: true };
        // SAFETY: the first operand is the output itself; the output is held exclusively, so that the second is elsewhere.
        unsafe {
            run(O::DTYPE, "update", out.buffer.device(), &target, &|to| {
                describe::map2(to, &kernel, [target.to, operand_of(&b)])
            })
        }
    };
    Seek [E: Castable] |call| {
        let Seek { what, a, .. } = call;
        if count("has", a.sizes)? == 0 {
            return Ok(false);
        }
        let strides = strides::row_major(a.sizes);
        let found = Gpu::map1::<E, bool>(Seeking(what), a, &strides)?;
        let mask = (1_u32 << a.sizes.len()) - 1;
        let any = Gpu::reduce::<bool, _>(AnyAll::ANY, View::new(&found, 0, a.sizes, &strides), mask)?;
        Gpu::peek(View::<_, bool>::new(&any, 0, &[], &[]))
    };
    Reduce [A: Element, R: Reducer<A>] |call| {
        let device = call.a.buffer.device();
        reduce::reduce(device, call.reducer, &call.a, call.mask, [size_of::<R::Out>()]).map(|[result]| result)
    };
    ReduceBoth [A: Element, R: TwoResults<A>] |call| {
        let sizes = [size_of::<R::Out>(), size_of::<R::Second>()];
        reduce::reduce(call.a.buffer.device(), call.reducer, &call.a, call.mask, sizes)
    };
    ReducePairs [A: Element, C: Element, E: Element, K: Map2<A, C, E>, R: Reducer<E>] |call| {
        let ReducePairs { reducer, kernel, mask, a, b, .. } = call;
        let leaf = |strides: &[usize]| {
            let mut steps = [0; AXES];
            steps[..strides.len()].copy_from_slice(strides);
            steps
        };
        let (x, y) = (Leaf::new(Gpu::address(a), leaf(a.strides)), Leaf::new(Gpu::address(b), leaf(b.strides)));
        // SAFETY: both views are of these sizes, and what they borrow exists and is written by nobody.
        let whole = unsafe {
            let pairs = Mapped2::<_, _, _, E>::new(kernel, x, y);
            reduce::reduce_expression(a.buffer.device(), reducer, &pairs, a.sizes, mask)?
        };
        if let Some(result) = whole {
            return Ok(result);
        }
        // Where operands are broadcast or strided, by way of a tensor.
        let strides = strides::row_major(a.sizes);
        let elements = Gpu::map2::<A, C, E>(kernel, a, b, &strides)?;
        Gpu::reduce(reducer, View::<_, E>::new(&elements, 0, a.sizes, &strides), mask)
    };
    Lanes [A: Element, O: Element, K: LaneKernel<A, O>] |call| {
        lanes::lanes(call.a.buffer.device(), call.kernel, &call.a, call.axis)
    };
    LanesBoth [A: Element, O: Element, P: Element, K: LaneKernel<A, (O, P)>] |call| {
        lanes::lanes_both(call.a.buffer.device(), call.kernel, &call.a, call.axis)
    };
    Rows [A: Element, O: Element, K: RowKernel<A, O>] |call| {
        lanes::rows(call.a.buffer.device(), call.kernel, &call.a, call.shared)
    };
    Groups [A: Element, O: Element, K: RowKernel<A, O>] |_call| Ok(None);
    Pick [E: Element] |call| index::pick(call.a.buffer.device(), &call.a, call.axes, call.fill);
    Join [E: Element] |call| join(call);
    Band [E: Element] |call| index::band(call.a.buffer.device(), &call.a, call.low, call.high);
    Gather [E: Element] |call| index::gather(call.a.buffer.device(), call.indexing, &call.a, &call.index);
    Scatter [E: Element] |call| {
        scatter::scatter(call.out.buffer.device(), call.indexing, &call.index, &call.b, &call.out)
    };
    ScatterWith [E: Element, K: Map2<E, E, E>] |call| {
        let device = call.out.buffer.device();
        scatter::scatter_with(device, call.indexing, &call.kernel, &call.index, &call.b, &call.out)
    };
    Compress [E: Element] |call| select::compress(call.a.buffer.device(), &call.a, &call.mask);
    IndexRows [] |call| select::index_rows(call.mask.buffer.device(), &call.mask).map(Some);
    Sort [E: Element] |call| order::order(call.a.buffer.device(), call.order, &call.a, call.axis);
    Search [E: Element] |call| {
        order::search(call.sorted.buffer.device(), &call.sorted, &call.values, call.right)
    };
    Product [E: Dtype, K: Map1<E, E>] |call| {
        let Product { kernel, a, b, added, .. } = call;
        match kernel {
            None => product::matmul(a.buffer.device(), &Copying, &a, &b, added),
            Some(kernel) => product::matmul(a.buffer.device(), &kernel, &a, &b, added),
        }
    };
    ProductByPacked [E: Dtype, K: Map1<E, E>] |call| {
        convolution::product_with_copy::<Gpu, E, K>(call.kernel, call.x, call.weight, call.bias)
    };
    ProductOfBytes [E: Dtype] |call| product::int_mm(call.a.buffer.device(), &call.a, &call.b);
    Convolve [E: Dtype, K: Map1<E, E>] |call| convolution::run::<Gpu, E, K>(call);
    Pack [E: Dtype] |call| convolution::copied::<Gpu, E>(call.weight);
    Pool [A: Element, R: Reducer<A>] |_call| Ok(None);
    Attend [E: Dtype] |call| {
        let [shares, result] = attention::composed::<Gpu, E>(&call.attention)?;
        attend::without_unseen(&call.attention, &shares, &result)?;
        Ok(result)
    };
}

fn join<E: Element>(call: Join<'_, CudaBuffer, E>) -> Result<CudaBuffer> {
    let Join { pieces, axis, sizes, strides, .. } = call;
    let device = placed::<0>(pieces.first().map(|piece| piece.buffer))?;
    assert_eq!(pieces.iter().map(|piece| piece.sizes[axis]).sum::<usize>(), sizes[axis], "pieces fill the axis");
    let bytes = bytes_of(device, count("cat", sizes)?, size_of::<E>())?;
    // SAFETY: the pieces fill the result, whose strides leave no gaps.
    let result = unsafe { CudaBuffer::uninitialised(device, bytes)? };
    let mut at = 0;
    for piece in pieces.iter() {
        let place = result.address() + (at * strides[axis] * size_of::<E>()) as u64;
        let target = Target { to: operand(place, strides), sizes: piece.sizes, in_place: false };
        // SAFETY: the piece has the result's other sizes, and its place along the axis; what a view reaches is valid.
        unsafe {
            run(E::DTYPE, "cat", device, &target, &|to| describe::map1::<_, E, E>(to, &Copying, operand_of(piece)))?
        };
        at += piece.sizes[axis];
    }
    Ok(result)
}
