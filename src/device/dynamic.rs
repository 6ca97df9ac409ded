//! `Dynamic`: the device of a tensor of which that is known while running. Each operation asks the storage of its operands where
//! they are, and hands over to the device that they are on. Used by `AnyTensor`.

use super::{Backend, Cpu, Device, IntoDevice, Place};
use crate::device::AnyDevice;
use crate::dtype::{Castable, Dtype, Element};
use crate::error::{Error, Result};
use crate::ops::arguments::{Added, Indexing, Order, Sought};
use crate::ops::expression::Expression;
use crate::ops::kernel::{LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::storage::{HostBuffer, View, ViewMut};

/// A device that is known while running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dynamic;

/// Where the elements are, on one of the devices.
#[derive(Debug)]
pub enum Held {
    /// On the host.
    Cpu(HostBuffer),
    /// Nowhere.
    Meta,
}

impl Device for Dynamic {
    fn name() -> String {
        "any".to_owned()
    }
}
impl Place for Dynamic {
    type Buffer = Held;
}
impl IntoDevice for Dynamic {
    fn into_device(self) -> Result<AnyDevice> {
        Ok(AnyDevice::CPU)
    }
}

/// `on!(a b => Cpu::map2(kernel, a, b, strides))`: what the device does that the operands are on, without data if any is.
macro_rules! on {
    ($a:ident => $run:expr; $meta:expr) => {
        match $a.buffer {
            Held::Cpu(buffer) => {
                let $a = $a.over(buffer);
                $run
            }
            Held::Meta => $meta,
        }
    };
    ($a:ident => $run:expr) => { on!($a => $run.map(Held::Cpu); Ok(Held::Meta)) };
    ($a:ident $b:ident => $run:expr; $meta:expr) => {
        match ($a.buffer, $b.buffer) {
            (Held::Cpu(first), Held::Cpu(second)) => {
                let ($a, $b) = ($a.over(first), $b.over(second));
                $run
            }
            _ => $meta,
        }
    };
    ($a:ident $b:ident => $run:expr) => { on!($a $b => $run.map(Held::Cpu); Ok(Held::Meta)) };
}

/// What is written, on the host; `None` if it is not.
fn on_host<'a, E>(out: ViewMut<'a, Held, E>) -> Option<ViewMut<'a, HostBuffer, E>> {
    match out.buffer {
        Held::Cpu(buffer) => Some(ViewMut::new(buffer, out.offset, out.sizes, out.strides)),
        Held::Meta => None,
    }
}

/// What a product is added to, on the host; `None` if it is not.
fn added<'a, E: Dtype>(
    added: Option<Added<'a, Held, E>>,
) -> core::result::Result<Option<Added<'a, HostBuffer, E>>, NoData> {
    let Some(Added { input, beta, alpha }) = added else { return Ok(None) };
    let input = match input {
        None => None,
        Some(input) => match input.buffer {
            Held::Cpu(buffer) => Some(input.over(buffer)),
            Held::Meta => return Err(NoData),
        },
    };
    Ok(Some(Added { input, beta, alpha }))
}
struct NoData;

impl Backend for Dynamic {
    type Storage = Held;

    fn has_data(storage: &Held) -> bool {
        matches!(storage, Held::Cpu(_))
    }
    fn build<E: Element>(beside: Option<&Held>, make: impl FnOnce() -> Result<Vec<E>>) -> Result<Held> {
        match beside {
            Some(Held::Meta) => Ok(Held::Meta),
            _ => Cpu::build(None, make).map(Held::Cpu),
        }
    }
    fn zeroed<E: Element>(beside: Option<&Held>, len: usize) -> Result<Held> {
        match beside {
            Some(Held::Meta) => Ok(Held::Meta),
            _ => Cpu::zeroed::<E>(None, len).map(Held::Cpu),
        }
    }
    fn is_unique(storage: &mut Held) -> bool {
        match storage {
            Held::Cpu(buffer) => Cpu::is_unique(buffer),
            Held::Meta => true,
        }
    }
    fn share<E: Element>(view: View<'_, Held, E>) -> (Held, usize) {
        let offset = view.offset;
        on!(view => { let (buffer, offset) = Cpu::share(view); (Held::Cpu(buffer), offset) }; (Held::Meta, offset))
    }
    fn share_own<E: Element>(view: View<'_, Held, E>) -> Result<(Held, usize)> {
        let offset = view.offset;
        on!(view => Cpu::share_own(view).map(|(buffer, offset)| (Held::Cpu(buffer), offset)); Ok((Held::Meta, offset)))
    }
    unsafe fn lend(storage: &Held) -> Held {
        match storage {
            // SAFETY: the caller's promise.
            Held::Cpu(buffer) => Held::Cpu(unsafe { Cpu::lend(buffer) }),
            Held::Meta => Held::Meta,
        }
    }
    fn close(storage: &Held) {
        if let Held::Cpu(buffer) = storage {
            Cpu::close(buffer);
        }
    }
    unsafe fn window(storage: &mut Held) -> Held {
        match storage {
            // SAFETY: the caller's promise.
            Held::Cpu(buffer) => Held::Cpu(unsafe { Cpu::window(buffer) }),
            Held::Meta => Held::Meta,
        }
    }
    fn is_fixed(storage: &Held) -> bool {
        matches!(storage, Held::Cpu(buffer) if Cpu::is_fixed(buffer))
    }
    fn room<E: Element>(storage: &Held) -> Option<usize> {
        match storage {
            Held::Cpu(buffer) => Cpu::room::<E>(buffer),
            Held::Meta => None,
        }
    }
    fn holds<E: Element>(storage: &Held, len: usize) -> bool {
        match storage {
            Held::Cpu(buffer) => Cpu::holds::<E>(buffer, len),
            Held::Meta => true,
        }
    }
    fn is_same(a: &Held, b: &Held) -> bool {
        matches!((a, b), (Held::Cpu(a), Held::Cpu(b)) if Cpu::is_same(a, b))
    }
    fn peek<E: Element>(view: View<'_, Held, E>) -> Result<E> {
        on!(view => Cpu::peek(view); Err(Error::NoData { op: "item" }))
    }
    fn peek_free<E: Element>(view: View<'_, Held, E>) -> Option<E> {
        on!(view => Cpu::peek_free(view); None)
    }
    fn download<E: Element>(view: View<'_, Held, E>) -> Result<Vec<E>> {
        on!(view => Cpu::download(view); Err(Error::NoData { op: "to_device" }))
    }
    fn has<E: Castable>(view: View<'_, Held, E>, what: Sought) -> Result<bool> {
        on!(view => Cpu::has(view, what); Ok(false))
    }
    fn map1<A: Element, O: Element>(kernel: impl Map1<A, O>, a: View<'_, Held, A>, strides: &[usize]) -> Result<Held> {
        on!(a => Cpu::map1(kernel, a, strides))
    }
    fn map2<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Held, A>,
        b: View<'_, Held, B>,
        strides: &[usize],
    ) -> Result<Held> {
        on!(a b => Cpu::map2(kernel, a, b, strides))
    }
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        kernel: impl Map3<A, B, C, O>,
        a: View<'_, Held, A>,
        b: View<'_, Held, B>,
        c: View<'_, Held, C>,
        strides: &[usize],
    ) -> Result<Held> {
        on!(a b => on!(c => Cpu::map3(kernel, a, b, c, strides)); Ok(Held::Meta))
    }
    fn map1_line<A: Element, O: Element>(kernel: impl Map1<A, O>, a: View<'_, Held, A>, len: usize) -> Result<Held> {
        on!(a => Cpu::map1_line(kernel, a, len))
    }
    fn map2_line<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Held, A>,
        b: View<'_, Held, B>,
        len: usize,
    ) -> Result<Held> {
        on!(a b => Cpu::map2_line(kernel, a, b, len))
    }
    fn map1_into<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, Held, A>,
        out: ViewMut<'_, Held, O>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(a => Cpu::map1_into(kernel, a, out); Ok(()))
    }
    fn map2_into<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, Held, A>,
        b: View<'_, Held, B>,
        out: ViewMut<'_, Held, O>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(a b => Cpu::map2_into(kernel, a, b, out); Ok(()))
    }
    fn update1<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, Held, O>) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        Cpu::update1(kernel, out)
    }
    fn update2<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, Held, B>,
        out: ViewMut<'_, Held, O>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(b => Cpu::update2(kernel, b, out); Ok(()))
    }
    fn address<E: Element>(view: View<'_, Held, E>) -> *const E {
        on!(view => Cpu::address(view); core::ptr::null())
    }
    // Expressions are of typed tensors, whose device is known.
    unsafe fn evaluate<X: Expression<Elem: Element>>(_: X, _: &[usize], _: &[usize]) -> Result<Held> {
        Err(Error::NoData { op: "lazy" })
    }
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(_: X, _: ViewMut<'_, Held, X::Elem>) -> Result<()> {
        Err(Error::NoData { op: "lazy" })
    }
    unsafe fn evaluate_update<X: Expression, O: Element>(
        _: impl Map2<O, X::Elem, O>,
        _: X,
        _: ViewMut<'_, Held, O>,
    ) -> Result<()> {
        Err(Error::NoData { op: "lazy" })
    }
    unsafe fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(_: R, _: X, _: &[usize], _: u32) -> Result<Held> {
        Err(Error::NoData { op: "lazy" })
    }
    fn reduce<A: Element, R: Reducer<A>>(reducer: R, a: View<'_, Held, A>, mask: u32) -> Result<Held> {
        on!(a => Cpu::reduce(reducer, a, mask))
    }
    fn reduce_both<A: Element, R: TwoResults<A>>(reducer: R, a: View<'_, Held, A>, mask: u32) -> Result<[Held; 2]> {
        on!(a => Cpu::reduce_both(reducer, a, mask).map(both); Ok([Held::Meta, Held::Meta]))
    }
    fn lanes<A: Element, O: Element>(kernel: impl LaneKernel<A, O>, a: View<'_, Held, A>, axis: usize) -> Result<Held> {
        on!(a => Cpu::lanes(kernel, a, axis))
    }
    fn lanes_both<A: Element, O: Element, P: Element>(
        kernel: impl LaneKernel<A, (O, P)>,
        a: View<'_, Held, A>,
        axis: usize,
    ) -> Result<[Held; 2]> {
        on!(a => Cpu::lanes_both(kernel, a, axis).map(both); Ok([Held::Meta, Held::Meta]))
    }
    fn pick<E: Element>(a: View<'_, Held, E>, axes: &[Vec<Segment>], fill: E) -> Result<Held> {
        on!(a => Cpu::pick(a, axes, fill))
    }
    fn join<E: Element>(pieces: &[View<'_, Held, E>], axis: usize, sizes: &[usize], strides: &[usize]) -> Result<Held> {
        let pieces: Option<Vec<_>> = pieces.iter().map(|&piece| on!(piece => Some(piece); None)).collect();
        match pieces {
            Some(pieces) => Cpu::join(&pieces, axis, sizes, strides).map(Held::Cpu),
            None => Ok(Held::Meta),
        }
    }
    fn band<E: Element>(a: View<'_, Held, E>, low: isize, high: isize) -> Result<Held> {
        on!(a => Cpu::band(a, low, high))
    }
    fn rows<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, Held, A>,
        shared: [Option<View<'_, Held, A>>; 2],
    ) -> Result<Held> {
        let shared = shared.map(|row| row.map(|row| on!(row => Ok(row); Err(NoData))).transpose());
        let [Ok(first), Ok(second)] = shared else { return Ok(Held::Meta) };
        on!(a => Cpu::rows(kernel, a, [first, second]))
    }
    fn matmul<E: Dtype>(a: View<'_, Held, E>, b: View<'_, Held, E>, to: Option<Added<'_, Held, E>>) -> Result<Held> {
        let Ok(to) = added(to) else { return Ok(Held::Meta) };
        on!(a b => Cpu::matmul(a, b, to))
    }
    fn matmul_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        a: View<'_, Held, E>,
        b: View<'_, Held, E>,
        to: Option<Added<'_, Held, E>>,
    ) -> Result<Held> {
        let Ok(to) = added(to) else { return Ok(Held::Meta) };
        on!(a b => Cpu::matmul_then(kernel, a, b, to))
    }
    fn int_mm<E: Dtype>(a: View<'_, Held, E>, b: View<'_, Held, i8>) -> Result<Held> {
        on!(a b => Cpu::int_mm(a, b))
    }
    fn gather<E: Element>(indexing: Indexing, a: View<'_, Held, E>, index: View<'_, Held, i64>) -> Result<Held> {
        on!(a index => Cpu::gather(indexing, a, index))
    }
    fn scatter<E: Element>(
        indexing: Indexing,
        index: View<'_, Held, i64>,
        b: View<'_, Held, E>,
        out: ViewMut<'_, Held, E>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(index b => Cpu::scatter(indexing, index, b, out); Ok(()))
    }
    fn scatter_with<E: Element>(
        indexing: Indexing,
        kernel: impl Map2<E, E, E>,
        index: View<'_, Held, i64>,
        b: View<'_, Held, E>,
        out: ViewMut<'_, Held, E>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(index b => Cpu::scatter_with(indexing, kernel, index, b, out); Ok(()))
    }
    fn compress<E: Element>(a: View<'_, Held, E>, mask: View<'_, Held, bool>) -> Result<(Held, usize)> {
        on!(a mask => Cpu::compress(a, mask).map(|(buffer, len)| (Held::Cpu(buffer), len)); Err(Error::NoData { op: "masked_select" }))
    }
    fn order<E: Element>(order: Order, a: View<'_, Held, E>, axis: usize) -> Result<[Held; 2]> {
        on!(a => Cpu::order(order, a, axis).map(both); Ok([Held::Meta, Held::Meta]))
    }
    fn search<E: Element>(sorted: View<'_, Held, E>, values: View<'_, Held, E>, right: bool) -> Result<Held> {
        on!(sorted values => Cpu::search(sorted, values, right))
    }
}

fn both(buffers: [HostBuffer; 2]) -> [Held; 2] {
    buffers.map(Held::Cpu)
}
