//! `Dynamic`: a device known only at run time. Each operation dispatches on the storage of its operands. Used by
//! `AnyTensor`.

mod buffer;
pub(crate) mod erased;
mod on;
#[cfg(feature = "cuda")]
mod on_gpu;
#[cfg(feature = "cuda")]
mod reducing;
mod table_loops;

pub use buffer::DynamicBuffer;

use super::{Backend, Cpu, Device, IntoDevice, Place};
use crate::device::AnyDevice;
use crate::dtype::{Castable, Dtype, Element};
use crate::error::{Error, Result};
#[cfg(feature = "cuda")]
use crate::ops::arguments::Distribution;
use crate::ops::arguments::{Added, Attention, Indexing, Mask, Order, Sought};
use crate::ops::expression::Expression;
use crate::ops::kernel::{LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::ops::window::{Convolution, Window};
use crate::storage::{View, ViewMut};
#[cfg(feature = "cuda")]
use on::Gpu;
use on::{There, apart, apart_from, beside, held, on, onto};

/// A device known only at run time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dynamic;

impl Device for Dynamic {
    fn name() -> String {
        "any".to_owned()
    }
}
impl Place for Dynamic {
    type Buffer = DynamicBuffer;
}
impl IntoDevice for Dynamic {
    fn into_device(self) -> Result<AnyDevice> {
        Ok(AnyDevice::CPU)
    }
}

/// The input of a product, on the device of its factors.
fn added<'a, D: There, E: Dtype>(
    added: Option<Added<'a, DynamicBuffer, E>>,
    own: &D::Storage,
) -> Result<Option<Added<'a, D::Storage, E>>> {
    let Some(Added { input, beta, alpha }) = added else { return Ok(None) };
    let input = input.map(|input| D::joining(input, own)).transpose()?;
    Ok(Some(Added { input, beta, alpha }))
}

impl Backend for Dynamic {
    type Storage = DynamicBuffer;

    fn has_data(storage: &DynamicBuffer) -> bool {
        !matches!(storage, DynamicBuffer::Meta)
    }
    fn build<E: Element>(
        beside: Option<&DynamicBuffer>,
        make: impl FnOnce() -> Result<Vec<E>>,
    ) -> Result<DynamicBuffer> {
        beside!(D: beside => D::build(beside, make))
    }
    fn zeroed<E: Element>(beside: Option<&DynamicBuffer>, len: usize) -> Result<DynamicBuffer> {
        beside!(D: beside => D::zeroed::<E>(beside, len))
    }
    fn fill<E: Element>(beside: Option<&DynamicBuffer>, value: E, len: usize) -> Result<DynamicBuffer> {
        beside!(D: beside => D::fill(beside, value, len))
    }
    fn tabulate<O: Element>(
        kernel: impl Map1<i64, O>,
        beside: Option<&DynamicBuffer>,
        len: usize,
    ) -> Result<DynamicBuffer> {
        beside!(D: beside => D::tabulate(kernel, beside, len))
    }
    #[cfg(feature = "cuda")]
    fn is_on_host(beside: Option<&DynamicBuffer>) -> bool {
        !matches!(beside, Some(DynamicBuffer::Cuda(_)))
    }
    #[cfg(feature = "cuda")]
    fn draw<E: Element>(
        beside: Option<&DynamicBuffer>,
        distribution: Distribution,
        seed: impl FnOnce() -> u64,
        len: usize,
    ) -> Result<Option<DynamicBuffer>> {
        match beside {
            Some(DynamicBuffer::Cuda(own)) => {
                Gpu::draw::<E>(Some(own), distribution, seed, len).map(|drawn| drawn.map(DynamicBuffer::Cuda))
            }
            Some(_) => Ok(None),
            None => on_gpu::draw::<E>(distribution, seed, len),
        }
    }
    #[cfg(feature = "cuda")]
    fn bernoulli<E: Element>(
        p: View<'_, DynamicBuffer, E>,
        seed: impl FnOnce() -> u64,
    ) -> Result<Option<DynamicBuffer>> {
        match p.buffer {
            DynamicBuffer::Cuda(buffer) => Ok(Gpu::bernoulli(p.over(buffer), seed)?.map(DynamicBuffer::Cuda)),
            _ => Ok(None),
        }
    }
    fn is_unique(storage: &mut DynamicBuffer) -> bool {
        held!(D of: storage => D::is_unique(storage); true)
    }
    fn share<E: Element>(view: View<'_, DynamicBuffer, E>) -> (DynamicBuffer, usize) {
        let offset = view.offset;
        on!(D of: view => { let (buffer, offset) = D::share(view); (of(buffer), offset) }; (DynamicBuffer::Meta, offset))
    }
    fn share_own<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<(DynamicBuffer, usize)> {
        let offset = view.offset;
        on!(D of: view => D::share_own(view).map(|(buffer, offset)| (of(buffer), offset)); Ok((DynamicBuffer::Meta, offset)))
    }
    unsafe fn lend(storage: &DynamicBuffer) -> DynamicBuffer {
        held!(D of: storage => {
            // SAFETY: the caller's promise.
            of(unsafe { D::lend(storage) })
        }; DynamicBuffer::Meta)
    }
    fn close(storage: &DynamicBuffer) {
        held!(D of: storage => D::close(storage); ());
    }
    unsafe fn window(storage: &mut DynamicBuffer) -> DynamicBuffer {
        held!(D of: storage => {
            // SAFETY: the caller's promise.
            of(unsafe { D::window(storage) })
        }; DynamicBuffer::Meta)
    }
    fn is_fixed(storage: &DynamicBuffer) -> bool {
        held!(D of: storage => D::is_fixed(storage); false)
    }
    fn room<E: Element>(storage: &DynamicBuffer) -> Option<usize> {
        held!(D of: storage => D::room::<E>(storage); None)
    }
    fn holds<E: Element>(storage: &DynamicBuffer, len: usize) -> bool {
        held!(D of: storage => D::holds::<E>(storage, len); true)
    }
    fn is_same(a: &DynamicBuffer, b: &DynamicBuffer) -> bool {
        match (a, b) {
            (DynamicBuffer::Cpu(a), DynamicBuffer::Cpu(b)) => Cpu::is_same(a, b),
            #[cfg(feature = "cuda")]
            (DynamicBuffer::Cuda(a), DynamicBuffer::Cuda(b)) => Gpu::is_same(a, b),
            _ => false,
        }
    }
    fn peek<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<E> {
        on!(D of: view => D::peek(view); Err(Error::NoData { op: "item" }))
    }
    fn peek_free<E: Element>(view: View<'_, DynamicBuffer, E>) -> Option<E> {
        on!(D of: view => D::peek_free(view); None)
    }
    fn download<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<Vec<E>> {
        on!(D of: view => D::download(view); Err(Error::NoData { op: "to_device" }))
    }
    fn has<E: Castable>(view: View<'_, DynamicBuffer, E>, what: Sought) -> Result<bool> {
        on!(D of: view => D::has(view, what); Ok(false))
    }
    fn map1<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, DynamicBuffer, A>,
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        on!(D: a => D::map1(kernel, a, strides))
    }
    fn map2<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        on!(D: a b => D::map2(kernel, a, b, strides))
    }
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        kernel: impl Map3<A, B, C, O>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        c: View<'_, DynamicBuffer, C>,
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        on!(D: a b c => D::map3(kernel, a, b, c, strides))
    }
    fn map1_line<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, DynamicBuffer, A>,
        len: usize,
    ) -> Result<DynamicBuffer> {
        on!(D: a => D::map1_line(kernel, a, len))
    }
    fn map2_line<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        len: usize,
    ) -> Result<DynamicBuffer> {
        on!(D: a b => D::map2_line(kernel, a, b, len))
    }
    fn map1_into<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, DynamicBuffer, A>,
        out: ViewMut<'_, DynamicBuffer, O>,
    ) -> Result<()> {
        onto!(D: out, a => D::map1_into(kernel, a, out))
    }
    fn map2_into<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        out: ViewMut<'_, DynamicBuffer, O>,
    ) -> Result<()> {
        onto!(D: out, a b => D::map2_into(kernel, a, b, out))
    }
    fn update1<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, DynamicBuffer, O>) -> Result<()> {
        onto!(D: out, => D::update1(kernel, out))
    }
    fn update2<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, DynamicBuffer, B>,
        out: ViewMut<'_, DynamicBuffer, O>,
    ) -> Result<()> {
        onto!(D: out, b => D::update2(kernel, b, out))
    }
    fn address<E: Element>(view: View<'_, DynamicBuffer, E>) -> *const E {
        on!(D of: view => D::address(view); core::ptr::null())
    }
    // Expressions are made of typed tensors, whose device is known at compile time.
    unsafe fn evaluate<X: Expression<Elem: Element>>(_: X, _: &[usize], _: &[usize]) -> Result<DynamicBuffer> {
        Err(Error::NoData { op: "lazy" })
    }
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(_: X, _: ViewMut<'_, DynamicBuffer, X::Elem>) -> Result<()> {
        Err(Error::NoData { op: "lazy" })
    }
    unsafe fn evaluate_update<X: Expression, O: Element>(
        _: impl Map2<O, X::Elem, O>,
        _: X,
        _: ViewMut<'_, DynamicBuffer, O>,
    ) -> Result<()> {
        Err(Error::NoData { op: "lazy" })
    }
    unsafe fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(
        _: R,
        _: X,
        _: &[usize],
        _: u32,
    ) -> Result<DynamicBuffer> {
        Err(Error::NoData { op: "lazy" })
    }
    fn reduce_pairs<A: Element, B: Element, C: Element>(
        reducer: impl Reducer<C>,
        kernel: impl Map2<A, B, C>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        mask: u32,
    ) -> Result<DynamicBuffer> {
        match (a.buffer, b.buffer) {
            (DynamicBuffer::Cpu(left), DynamicBuffer::Cpu(right)) => {
                Cpu::reduce_pairs(reducer, kernel, a.over(left), b.over(right), mask).map(DynamicBuffer::Cpu)
            }
            (DynamicBuffer::Meta, _) => Ok(DynamicBuffer::Meta),
            #[cfg(not(feature = "cuda"))]
            _ => Err(apart(a.buffer, b.buffer)),
            // Expressions run on the device of a type; this goes where the operands are.
            #[cfg(feature = "cuda")]
            _ => {
                let strides = crate::layout::strides::row_major(a.sizes);
                let elements = Self::map2::<A, B, C>(kernel, a, b, &strides)?;
                Self::reduce(reducer, View::<_, C>::new(&elements, 0, a.sizes, &strides), mask)
            }
        }
    }
    fn reduce<A: Element, R: Reducer<A>>(
        reducer: R,
        a: View<'_, DynamicBuffer, A>,
        mask: u32,
    ) -> Result<DynamicBuffer> {
        on!(D: a => D::reduce(reducer, a, mask))
    }
    fn reduce_both<A: Element, R: TwoResults<A>>(
        reducer: R,
        a: View<'_, DynamicBuffer, A>,
        mask: u32,
    ) -> Result<[DynamicBuffer; 2]> {
        on!(D of: a => D::reduce_both(reducer, a, mask).map(|both| both.map(of)); Ok([DynamicBuffer::Meta, DynamicBuffer::Meta]))
    }
    fn lanes<A: Element, O: Element>(
        kernel: impl LaneKernel<A, O>,
        a: View<'_, DynamicBuffer, A>,
        axis: usize,
    ) -> Result<DynamicBuffer> {
        on!(D: a => D::lanes(kernel, a, axis))
    }
    fn lanes_both<A: Element, O: Element, P: Element>(
        kernel: impl LaneKernel<A, (O, P)>,
        a: View<'_, DynamicBuffer, A>,
        axis: usize,
    ) -> Result<[DynamicBuffer; 2]> {
        on!(D of: a => D::lanes_both(kernel, a, axis).map(|both| both.map(of)); Ok([DynamicBuffer::Meta, DynamicBuffer::Meta]))
    }
    fn pick<E: Element>(a: View<'_, DynamicBuffer, E>, axes: &[Vec<Segment>], fill: E) -> Result<DynamicBuffer> {
        on!(D: a => D::pick(a, axes, fill))
    }
    fn join<E: Element>(
        pieces: &[View<'_, DynamicBuffer, E>],
        axis: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        let Some(first) = pieces.first() else { return Ok(DynamicBuffer::Meta) };
        match first.buffer {
            DynamicBuffer::Cpu(own) => {
                let pieces: Result<Vec<_>> = pieces.iter().map(|&piece| Cpu::joining(piece, own)).collect();
                Cpu::join(&pieces?, axis, sizes, strides).map(DynamicBuffer::Cpu)
            }
            #[cfg(feature = "cuda")]
            DynamicBuffer::Cuda(own) => {
                let pieces: Result<Vec<_>> = pieces.iter().map(|&piece| Gpu::joining(piece, own)).collect();
                Gpu::join(&pieces?, axis, sizes, strides).map(DynamicBuffer::Cuda)
            }
            DynamicBuffer::Meta => Ok(DynamicBuffer::Meta),
        }
    }
    fn band<E: Element>(a: View<'_, DynamicBuffer, E>, low: isize, high: isize) -> Result<DynamicBuffer> {
        on!(D: a => D::band(a, low, high))
    }
    fn rows<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, DynamicBuffer, A>,
        shared: [Option<View<'_, DynamicBuffer, A>>; 2],
    ) -> Result<DynamicBuffer> {
        on!(D of: a => {
            let [first, second] = shared.map(|row| row.map(|row| D::joining(row, a.buffer)).transpose());
            D::rows(kernel, a, [first?, second?]).map(of)
        }; Ok(DynamicBuffer::Meta))
    }
    fn groups<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, DynamicBuffer, A>,
        shared: [Option<View<'_, DynamicBuffer, A>>; 2],
    ) -> Result<Option<DynamicBuffer>> {
        on!(D of: a => {
            let [first, second] = shared.map(|list| list.map(|list| D::joining(list, a.buffer)).transpose());
            D::groups(kernel, a, [first?, second?]).map(|result| result.map(of))
        }; Ok(None))
    }
    fn matmul<E: Dtype>(
        a: View<'_, DynamicBuffer, E>,
        b: View<'_, DynamicBuffer, E>,
        to: Option<Added<'_, DynamicBuffer, E>>,
    ) -> Result<DynamicBuffer> {
        on!(D of: a b => {
            let to = added::<D, E>(to, a.buffer)?;
            D::matmul(a, b, to).map(of)
        }; Ok(DynamicBuffer::Meta))
    }
    fn matmul_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        a: View<'_, DynamicBuffer, E>,
        b: View<'_, DynamicBuffer, E>,
        to: Option<Added<'_, DynamicBuffer, E>>,
    ) -> Result<DynamicBuffer> {
        on!(D of: a b => {
            let to = added::<D, E>(to, a.buffer)?;
            D::matmul_then(kernel, a, b, to).map(of)
        }; Ok(DynamicBuffer::Meta))
    }
    fn convolve<E: Dtype>(
        convolution: &Convolution,
        x: View<'_, DynamicBuffer, E>,
        weight: View<'_, DynamicBuffer, E>,
        bias: Option<View<'_, DynamicBuffer, E>>,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        on!(D of: x weight => {
            let bias = bias.map(|bias| D::joining(bias, x.buffer)).transpose()?;
            D::convolve(convolution, x, weight, bias, sizes, strides).map(of)
        }; Ok(DynamicBuffer::Meta))
    }
    fn pool<A: Element, R: Reducer<A>>(
        reducer: R,
        windows: &[Window; 3],
        x: View<'_, DynamicBuffer, A>,
        places: [usize; 3],
    ) -> Result<Option<DynamicBuffer>> {
        on!(D of: x => D::pool(reducer, windows, x, places).map(|pooled| pooled.map(of)); Ok(None))
    }
    fn attend<E: Dtype>(attention: &Attention<'_, DynamicBuffer, E>) -> Result<DynamicBuffer> {
        let &Attention { query, key, value, ref mask, is_causal, scale } = attention;
        on!(D of: query key value => {
            let mask = match mask {
                Some(Mask::Seen(mask)) => Some(Mask::Seen(D::joining(*mask, query.buffer)?)),
                Some(Mask::Added(mask)) => Some(Mask::Added(D::joining(*mask, query.buffer)?)),
                None => None,
            };
            D::attend(&Attention { query, key, value, mask, is_causal, scale }).map(of)
        }; Ok(DynamicBuffer::Meta))
    }
    fn int_mm<E: Dtype>(a: View<'_, DynamicBuffer, E>, b: View<'_, DynamicBuffer, i8>) -> Result<DynamicBuffer> {
        on!(D: a b => D::int_mm(a, b))
    }
    fn gather<E: Element>(
        indexing: Indexing,
        a: View<'_, DynamicBuffer, E>,
        index: View<'_, DynamicBuffer, i64>,
    ) -> Result<DynamicBuffer> {
        on!(D: a index => D::gather(indexing, a, index))
    }
    fn scatter<E: Element>(
        indexing: Indexing,
        index: View<'_, DynamicBuffer, i64>,
        b: View<'_, DynamicBuffer, E>,
        out: ViewMut<'_, DynamicBuffer, E>,
    ) -> Result<()> {
        onto!(D: out, index b => D::scatter(indexing, index, b, out))
    }
    fn scatter_with<E: Element>(
        indexing: Indexing,
        kernel: impl Map2<E, E, E>,
        index: View<'_, DynamicBuffer, i64>,
        b: View<'_, DynamicBuffer, E>,
        out: ViewMut<'_, DynamicBuffer, E>,
    ) -> Result<()> {
        onto!(D: out, index b => D::scatter_with(indexing, kernel, index, b, out))
    }
    fn compress<E: Element>(
        a: View<'_, DynamicBuffer, E>,
        mask: View<'_, DynamicBuffer, bool>,
    ) -> Result<(DynamicBuffer, usize)> {
        on!(D of: a mask => D::compress(a, mask).map(|(buffer, len)| (of(buffer), len)); Err(Error::NoData { op: "masked_select" }))
    }
    fn index_rows(mask: View<'_, DynamicBuffer, bool>) -> Result<Option<(DynamicBuffer, usize)>> {
        on!(D of: mask => D::index_rows(mask).map(|rows| rows.map(|(buffer, len)| (of(buffer), len))); Ok(None))
    }
    fn order<E: Element>(order: Order, a: View<'_, DynamicBuffer, E>, axis: usize) -> Result<[DynamicBuffer; 2]> {
        on!(D of: a => D::order(order, a, axis).map(|both| both.map(of)); Ok([DynamicBuffer::Meta, DynamicBuffer::Meta]))
    }
    fn search<E: Element>(
        sorted: View<'_, DynamicBuffer, E>,
        values: View<'_, DynamicBuffer, E>,
        right: bool,
    ) -> Result<DynamicBuffer> {
        on!(D: sorted values => D::search(sorted, values, right))
    }
}
