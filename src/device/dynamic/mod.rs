//! `Dynamic`: a device known only at run time. Each operation dispatches on the storage of its operands. Used by
//! `AnyTensor`.

mod buffer;
pub(crate) mod erased;

pub use buffer::DynamicBuffer;

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

/// `on!(a b => Cpu::map2(kernel, a, b, strides))`: what the device does that the operands are on. (That
/// they are on one device has been looked at before, where the operation is known.)
macro_rules! on {
    ($a:ident => $run:expr; $meta:expr) => {
        match $a.buffer {
            DynamicBuffer::Cpu(buffer) => {
                let $a = $a.over(buffer);
                $run
            }
            DynamicBuffer::Meta => $meta,
        }
    };
    ($a:ident => $run:expr) => { on!($a => $run.map(DynamicBuffer::Cpu); Ok(DynamicBuffer::Meta)) };
    ($a:ident $b:ident => $run:expr; $meta:expr) => {
        match ($a.buffer, $b.buffer) {
            (DynamicBuffer::Cpu(first), DynamicBuffer::Cpu(second)) => {
                let ($a, $b) = ($a.over(first), $b.over(second));
                $run
            }
            (DynamicBuffer::Meta, DynamicBuffer::Meta) => $meta,
            _ => Err(apart()),
        }
    };
    ($a:ident $b:ident => $run:expr) => { on!($a $b => $run.map(DynamicBuffer::Cpu); Ok(DynamicBuffer::Meta)) };
}

/// Operands on different devices.
#[cold]
fn apart() -> Error {
    Error::DevicesDiffer { op: "device", lhs: AnyDevice::CPU.to_string(), rhs: AnyDevice::META.to_string() }
}

/// What is written, on the host; `None` if it is not.
fn on_host<'a, E>(out: ViewMut<'a, DynamicBuffer, E>) -> Option<ViewMut<'a, HostBuffer, E>> {
    match out.buffer {
        DynamicBuffer::Cpu(buffer) => Some(ViewMut::new(buffer, out.offset, out.sizes, out.strides)),
        DynamicBuffer::Meta => None,
    }
}

/// The input of a product on the host, or `None`.
fn added<'a, E: Dtype>(
    added: Option<Added<'a, DynamicBuffer, E>>,
) -> core::result::Result<Option<Added<'a, HostBuffer, E>>, OffHost> {
    let Some(Added { input, beta, alpha }) = added else { return Ok(None) };
    let input = match input {
        None => None,
        Some(input) => match input.buffer {
            DynamicBuffer::Cpu(buffer) => Some(input.over(buffer)),
            DynamicBuffer::Meta => return Err(OffHost),
        },
    };
    Ok(Some(Added { input, beta, alpha }))
}
/// An operand without data.
struct OffHost;

impl Backend for Dynamic {
    type Storage = DynamicBuffer;

    fn has_data(storage: &DynamicBuffer) -> bool {
        matches!(storage, DynamicBuffer::Cpu(_))
    }
    fn build<E: Element>(
        beside: Option<&DynamicBuffer>,
        make: impl FnOnce() -> Result<Vec<E>>,
    ) -> Result<DynamicBuffer> {
        match beside {
            Some(DynamicBuffer::Meta) => Ok(DynamicBuffer::Meta),
            _ => Cpu::build(None, make).map(DynamicBuffer::Cpu),
        }
    }
    fn zeroed<E: Element>(beside: Option<&DynamicBuffer>, len: usize) -> Result<DynamicBuffer> {
        match beside {
            Some(DynamicBuffer::Meta) => Ok(DynamicBuffer::Meta),
            _ => Cpu::zeroed::<E>(None, len).map(DynamicBuffer::Cpu),
        }
    }
    fn fill<E: Element>(beside: Option<&DynamicBuffer>, value: E, len: usize) -> Result<DynamicBuffer> {
        match beside {
            Some(DynamicBuffer::Meta) => Ok(DynamicBuffer::Meta),
            _ => Cpu::fill(None, value, len).map(DynamicBuffer::Cpu),
        }
    }
    fn tabulate<O: Element>(
        kernel: impl Map1<i64, O>,
        beside: Option<&DynamicBuffer>,
        len: usize,
    ) -> Result<DynamicBuffer> {
        match beside {
            Some(DynamicBuffer::Meta) => Ok(DynamicBuffer::Meta),
            _ => Cpu::tabulate(kernel, None, len).map(DynamicBuffer::Cpu),
        }
    }
    fn is_unique(storage: &mut DynamicBuffer) -> bool {
        match storage {
            DynamicBuffer::Cpu(buffer) => Cpu::is_unique(buffer),
            DynamicBuffer::Meta => true,
        }
    }
    fn share<E: Element>(view: View<'_, DynamicBuffer, E>) -> (DynamicBuffer, usize) {
        let offset = view.offset;
        on!(view => { let (buffer, offset) = Cpu::share(view); (DynamicBuffer::Cpu(buffer), offset) }; (DynamicBuffer::Meta, offset))
    }
    fn share_own<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<(DynamicBuffer, usize)> {
        let offset = view.offset;
        on!(view => Cpu::share_own(view).map(|(buffer, offset)| (DynamicBuffer::Cpu(buffer), offset)); Ok((DynamicBuffer::Meta, offset)))
    }
    unsafe fn lend(storage: &DynamicBuffer) -> DynamicBuffer {
        match storage {
            // SAFETY: the caller's promise.
            DynamicBuffer::Cpu(buffer) => DynamicBuffer::Cpu(unsafe { Cpu::lend(buffer) }),
            DynamicBuffer::Meta => DynamicBuffer::Meta,
        }
    }
    fn close(storage: &DynamicBuffer) {
        if let DynamicBuffer::Cpu(buffer) = storage {
            Cpu::close(buffer);
        }
    }
    unsafe fn window(storage: &mut DynamicBuffer) -> DynamicBuffer {
        match storage {
            // SAFETY: the caller's promise.
            DynamicBuffer::Cpu(buffer) => DynamicBuffer::Cpu(unsafe { Cpu::window(buffer) }),
            DynamicBuffer::Meta => DynamicBuffer::Meta,
        }
    }
    fn is_fixed(storage: &DynamicBuffer) -> bool {
        matches!(storage, DynamicBuffer::Cpu(buffer) if Cpu::is_fixed(buffer))
    }
    fn room<E: Element>(storage: &DynamicBuffer) -> Option<usize> {
        match storage {
            DynamicBuffer::Cpu(buffer) => Cpu::room::<E>(buffer),
            DynamicBuffer::Meta => None,
        }
    }
    fn holds<E: Element>(storage: &DynamicBuffer, len: usize) -> bool {
        match storage {
            DynamicBuffer::Cpu(buffer) => Cpu::holds::<E>(buffer, len),
            DynamicBuffer::Meta => true,
        }
    }
    fn is_same(a: &DynamicBuffer, b: &DynamicBuffer) -> bool {
        matches!((a, b), (DynamicBuffer::Cpu(a), DynamicBuffer::Cpu(b)) if Cpu::is_same(a, b))
    }
    fn peek<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<E> {
        on!(view => Cpu::peek(view); Err(Error::NoData { op: "item" }))
    }
    fn peek_free<E: Element>(view: View<'_, DynamicBuffer, E>) -> Option<E> {
        on!(view => Cpu::peek_free(view); None)
    }
    fn download<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<Vec<E>> {
        on!(view => Cpu::download(view); Err(Error::NoData { op: "to_device" }))
    }
    fn has<E: Castable>(view: View<'_, DynamicBuffer, E>, what: Sought) -> Result<bool> {
        on!(view => Cpu::has(view, what); Ok(false))
    }
    fn map1<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, DynamicBuffer, A>,
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        on!(a => Cpu::map1(kernel, a, strides))
    }
    fn map2<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        on!(a b => Cpu::map2(kernel, a, b, strides))
    }
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        kernel: impl Map3<A, B, C, O>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        c: View<'_, DynamicBuffer, C>,
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        on!(a b => on!(c => Cpu::map3(kernel, a, b, c, strides)); Ok(DynamicBuffer::Meta))
    }
    fn map1_line<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, DynamicBuffer, A>,
        len: usize,
    ) -> Result<DynamicBuffer> {
        on!(a => Cpu::map1_line(kernel, a, len))
    }
    fn map2_line<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        len: usize,
    ) -> Result<DynamicBuffer> {
        on!(a b => Cpu::map2_line(kernel, a, b, len))
    }
    fn map1_into<A: Element, O: Element>(
        kernel: impl Map1<A, O>,
        a: View<'_, DynamicBuffer, A>,
        out: ViewMut<'_, DynamicBuffer, O>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(a => Cpu::map1_into(kernel, a, out); Err(apart()))
    }
    fn map2_into<A: Element, B: Element, O: Element>(
        kernel: impl Map2<A, B, O>,
        a: View<'_, DynamicBuffer, A>,
        b: View<'_, DynamicBuffer, B>,
        out: ViewMut<'_, DynamicBuffer, O>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(a b => Cpu::map2_into(kernel, a, b, out); Err(apart()))
    }
    fn update1<O: Element>(kernel: impl Map1<O, O>, out: ViewMut<'_, DynamicBuffer, O>) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        Cpu::update1(kernel, out)
    }
    fn update2<B: Element, O: Element>(
        kernel: impl Map2<O, B, O>,
        b: View<'_, DynamicBuffer, B>,
        out: ViewMut<'_, DynamicBuffer, O>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(b => Cpu::update2(kernel, b, out); Err(apart()))
    }
    fn address<E: Element>(view: View<'_, DynamicBuffer, E>) -> *const E {
        on!(view => Cpu::address(view); core::ptr::null())
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
    fn reduce<A: Element, R: Reducer<A>>(
        reducer: R,
        a: View<'_, DynamicBuffer, A>,
        mask: u32,
    ) -> Result<DynamicBuffer> {
        on!(a => Cpu::reduce(reducer, a, mask))
    }
    fn reduce_both<A: Element, R: TwoResults<A>>(
        reducer: R,
        a: View<'_, DynamicBuffer, A>,
        mask: u32,
    ) -> Result<[DynamicBuffer; 2]> {
        on!(a => Cpu::reduce_both(reducer, a, mask).map(both); Ok([DynamicBuffer::Meta, DynamicBuffer::Meta]))
    }
    fn lanes<A: Element, O: Element>(
        kernel: impl LaneKernel<A, O>,
        a: View<'_, DynamicBuffer, A>,
        axis: usize,
    ) -> Result<DynamicBuffer> {
        on!(a => Cpu::lanes(kernel, a, axis))
    }
    fn lanes_both<A: Element, O: Element, P: Element>(
        kernel: impl LaneKernel<A, (O, P)>,
        a: View<'_, DynamicBuffer, A>,
        axis: usize,
    ) -> Result<[DynamicBuffer; 2]> {
        on!(a => Cpu::lanes_both(kernel, a, axis).map(both); Ok([DynamicBuffer::Meta, DynamicBuffer::Meta]))
    }
    fn pick<E: Element>(a: View<'_, DynamicBuffer, E>, axes: &[Vec<Segment>], fill: E) -> Result<DynamicBuffer> {
        on!(a => Cpu::pick(a, axes, fill))
    }
    fn join<E: Element>(
        pieces: &[View<'_, DynamicBuffer, E>],
        axis: usize,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        let pieces: Option<Vec<_>> = pieces.iter().map(|&piece| on!(piece => Some(piece); None)).collect();
        match pieces {
            Some(pieces) => Cpu::join(&pieces, axis, sizes, strides).map(DynamicBuffer::Cpu),
            None => Ok(DynamicBuffer::Meta),
        }
    }
    fn band<E: Element>(a: View<'_, DynamicBuffer, E>, low: isize, high: isize) -> Result<DynamicBuffer> {
        on!(a => Cpu::band(a, low, high))
    }
    fn rows<A: Element, O: Element>(
        kernel: impl RowKernel<A, O>,
        a: View<'_, DynamicBuffer, A>,
        shared: [Option<View<'_, DynamicBuffer, A>>; 2],
    ) -> Result<DynamicBuffer> {
        let shared = shared.map(|row| row.map(|row| on!(row => Ok(row); Err(OffHost))).transpose());
        let [Ok(first), Ok(second)] = shared else { return Ok(DynamicBuffer::Meta) };
        on!(a => Cpu::rows(kernel, a, [first, second]))
    }
    fn matmul<E: Dtype>(
        a: View<'_, DynamicBuffer, E>,
        b: View<'_, DynamicBuffer, E>,
        to: Option<Added<'_, DynamicBuffer, E>>,
    ) -> Result<DynamicBuffer> {
        let Ok(to) = added(to) else { return Ok(DynamicBuffer::Meta) };
        on!(a b => Cpu::matmul(a, b, to))
    }
    fn matmul_then<E: Dtype>(
        kernel: impl Map1<E, E>,
        a: View<'_, DynamicBuffer, E>,
        b: View<'_, DynamicBuffer, E>,
        to: Option<Added<'_, DynamicBuffer, E>>,
    ) -> Result<DynamicBuffer> {
        let Ok(to) = added(to) else { return Ok(DynamicBuffer::Meta) };
        on!(a b => Cpu::matmul_then(kernel, a, b, to))
    }
    fn int_mm<E: Dtype>(a: View<'_, DynamicBuffer, E>, b: View<'_, DynamicBuffer, i8>) -> Result<DynamicBuffer> {
        on!(a b => Cpu::int_mm(a, b))
    }
    fn gather<E: Element>(
        indexing: Indexing,
        a: View<'_, DynamicBuffer, E>,
        index: View<'_, DynamicBuffer, i64>,
    ) -> Result<DynamicBuffer> {
        on!(a index => Cpu::gather(indexing, a, index))
    }
    fn scatter<E: Element>(
        indexing: Indexing,
        index: View<'_, DynamicBuffer, i64>,
        b: View<'_, DynamicBuffer, E>,
        out: ViewMut<'_, DynamicBuffer, E>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(index b => Cpu::scatter(indexing, index, b, out); Err(apart()))
    }
    fn scatter_with<E: Element>(
        indexing: Indexing,
        kernel: impl Map2<E, E, E>,
        index: View<'_, DynamicBuffer, i64>,
        b: View<'_, DynamicBuffer, E>,
        out: ViewMut<'_, DynamicBuffer, E>,
    ) -> Result<()> {
        let Some(out) = on_host(out) else { return Ok(()) };
        on!(index b => Cpu::scatter_with(indexing, kernel, index, b, out); Err(apart()))
    }
    fn compress<E: Element>(
        a: View<'_, DynamicBuffer, E>,
        mask: View<'_, DynamicBuffer, bool>,
    ) -> Result<(DynamicBuffer, usize)> {
        on!(a mask => Cpu::compress(a, mask).map(|(buffer, len)| (DynamicBuffer::Cpu(buffer), len)); Err(Error::NoData { op: "masked_select" }))
    }
    fn order<E: Element>(order: Order, a: View<'_, DynamicBuffer, E>, axis: usize) -> Result<[DynamicBuffer; 2]> {
        on!(a => Cpu::order(order, a, axis).map(both); Ok([DynamicBuffer::Meta, DynamicBuffer::Meta]))
    }
    fn search<E: Element>(
        sorted: View<'_, DynamicBuffer, E>,
        values: View<'_, DynamicBuffer, E>,
        right: bool,
    ) -> Result<DynamicBuffer> {
        on!(sorted values => Cpu::search(sorted, values, right))
    }
}

fn both(buffers: [HostBuffer; 2]) -> [DynamicBuffer; 2] {
    buffers.map(DynamicBuffer::Cpu)
}
