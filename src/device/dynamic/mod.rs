//! `Dynamic`: a device known at run time only. Each operation dispatches on the storage of its operands.

mod buffer;
mod dispatch;
pub(crate) mod erased;
mod on_gpu;
#[cfg(feature = "cuda")]
mod reducing;
mod table_loops;
#[cfg(feature = "grad")]
#[path = "taping.rs"]
mod taping;
#[cfg(not(feature = "grad"))]
#[path = "untaped.rs"]
mod taping;

use crate::sealed::Sealed;
pub use buffer::DynamicBuffer;
pub(crate) use taping::not_recorded;
#[cfg(feature = "grad")]
pub(crate) use taping::{Seen, is_enabled, leaf_written, seen, set_enabled};

use super::call::{Call, Given, Outcome};
use super::{Backend, Cpu, Device, IntoDevice, NoData, Place};
#[cfg(feature = "grad")]
use crate::composite::primitive::{On, Primitive};
use crate::device::AnyDevice;
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::arguments::Distribution;
use crate::ops::expression::Expression;
use crate::ops::kernel::{Map1, Map2};
use crate::ops::reduce::Reducer;
use crate::storage::{HostBuffer, View, ViewMut};
use dispatch::Gpu;
use dispatch::{OnHost, dispatch_alloc, dispatch_read, dispatch_storage};

/// A device known at run time only.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dynamic;

impl Device for Dynamic {
    fn name() -> String {
        "any".to_owned()
    }
}
impl Sealed for Dynamic {}
impl Place for Dynamic {
    type Buffer = DynamicBuffer;
}
impl IntoDevice for Dynamic {
    fn into_device(self) -> Result<AnyDevice> {
        Ok(AnyDevice::CPU)
    }
}

/// What a call on the host gives. (Compiled for each kind of outcome, not for each call; so is the next.)
#[inline(never)]
fn of_host<O: Outcome>(given: Result<O::In<HostBuffer>>) -> Result<O::In<DynamicBuffer>> {
    given.map(|given| O::rehoused(given, DynamicBuffer::Cpu))
}

/// What a call gives where there are no data.
#[inline(never)]
fn without_data<O: Outcome>() -> Result<O::In<DynamicBuffer>> {
    O::without_data().map(|given| O::rehoused(given, |NoData| DynamicBuffer::Meta))
}

/// A window of a buffer that is on no tape.
///
/// # Safety
/// As for [`Backend::window`].
unsafe fn plain_window(storage: &mut DynamicBuffer) -> DynamicBuffer {
    dispatch_storage!(D of: storage => {
        // SAFETY: the caller's promise.
        of(unsafe { D::window(storage) })
    }; DynamicBuffer::Meta)
}

impl Backend for Dynamic {
    type Storage = DynamicBuffer;

    #[cfg(feature = "grad")]
    fn primitive<P: Primitive>(primitive: &P, x: On<'_, P::Operands, Self>) -> Result<On<'static, P::Results, Self>> {
        taping::primitive(primitive, x)
    }
    #[cfg(feature = "grad")]
    fn is_tracked(storage: &DynamicBuffer) -> bool {
        storage.is_recorded()
    }
    fn has_data(storage: &DynamicBuffer) -> bool {
        !matches!(storage.plain(), DynamicBuffer::Meta)
    }
    fn build<E: Element>(
        beside: Option<&DynamicBuffer>,
        make: impl FnOnce() -> Result<Vec<E>>,
    ) -> Result<DynamicBuffer> {
        dispatch_alloc!(D: beside => D::build(beside, make))
    }
    fn zeroed<E: Element>(beside: Option<&DynamicBuffer>, len: usize) -> Result<DynamicBuffer> {
        dispatch_alloc!(D: beside => D::zeroed::<E>(beside, len))
    }
    fn fill<E: Element>(beside: Option<&DynamicBuffer>, value: E, len: usize) -> Result<DynamicBuffer> {
        dispatch_alloc!(D: beside => D::fill(beside, value, len))
    }
    fn tabulate<O: Element>(
        kernel: impl Map1<i64, O>,
        beside: Option<&DynamicBuffer>,
        len: usize,
    ) -> Result<DynamicBuffer> {
        dispatch_alloc!(D: beside => D::tabulate(kernel, beside, len))
    }
    const IS_ELSEWHERE: bool = Gpu::IS_ELSEWHERE;
    fn is_on_host(beside: Option<&DynamicBuffer>) -> bool {
        !matches!(beside.map(DynamicBuffer::plain), Some(DynamicBuffer::Cuda(_)))
    }
    fn draw<E: Element>(
        beside: Option<&DynamicBuffer>,
        distribution: Distribution,
        seed: impl FnOnce() -> u64,
        len: usize,
    ) -> Result<Option<DynamicBuffer>> {
        match beside.map(DynamicBuffer::plain) {
            Some(DynamicBuffer::Cuda(own)) => {
                Gpu::draw::<E>(Some(own), distribution, seed, len).map(|drawn| drawn.map(DynamicBuffer::Cuda))
            }
            Some(_) => Ok(None),
            None => on_gpu::draw::<E>(distribution, seed, len),
        }
    }
    fn bernoulli<E: Element>(
        p: View<'_, DynamicBuffer, E>,
        seed: impl FnOnce() -> u64,
    ) -> Result<Option<DynamicBuffer>> {
        match p.buffer.plain() {
            DynamicBuffer::Cuda(buffer) => Ok(Gpu::bernoulli(p.over(buffer), seed)?.map(DynamicBuffer::Cuda)),
            _ => Ok(None),
        }
    }
    fn is_unique(storage: &mut DynamicBuffer) -> bool {
        let storage = storage.plain_mut();
        dispatch_storage!(D of: storage => D::is_unique(storage); true)
    }
    fn share<E: Element>(view: View<'_, DynamicBuffer, E>) -> (DynamicBuffer, usize) {
        #[cfg(feature = "grad")]
        if let DynamicBuffer::Taped(tracked) = view.buffer {
            let (storage, offset) = crate::grad::Taped::<Dynamic>::share(view.over(&**tracked));
            return (DynamicBuffer::tracked(storage), offset);
        }
        let offset = view.offset;
        dispatch_read!(D of: view => { let (buffer, offset) = D::share(view); (of(buffer), offset) }; (DynamicBuffer::Meta, offset))
    }
    fn share_own<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<(DynamicBuffer, usize)> {
        #[cfg(feature = "grad")]
        if let DynamicBuffer::Taped(tracked) = view.buffer {
            let (storage, offset) = crate::grad::Taped::<Dynamic>::share_own(view.over(&**tracked))?;
            return Ok((DynamicBuffer::tracked(storage), offset));
        }
        let offset = view.offset;
        dispatch_read!(D of: view => D::share_own(view).map(|(buffer, offset)| (of(buffer), offset)); Ok((DynamicBuffer::Meta, offset)))
    }
    unsafe fn lend(storage: &DynamicBuffer) -> DynamicBuffer {
        #[cfg(feature = "grad")]
        if let DynamicBuffer::Taped(tracked) = storage {
            // SAFETY: the caller's promise.
            return DynamicBuffer::tracked(unsafe { crate::grad::Taped::<Dynamic>::lend(tracked) });
        }
        dispatch_storage!(D of: storage => {
            // SAFETY: the caller's promise.
            of(unsafe { D::lend(storage) })
        }; DynamicBuffer::Meta)
    }
    fn close(storage: &DynamicBuffer) {
        let storage = storage.plain();
        dispatch_storage!(D of: storage => D::close(storage); ());
    }
    unsafe fn window(storage: &mut DynamicBuffer) -> DynamicBuffer {
        #[cfg(feature = "grad")]
        if let Some(tracked) = storage.may_be_taped() {
            // SAFETY: the caller's promise.
            let inner = unsafe { plain_window(&mut tracked.inner) };
            return DynamicBuffer::tracked(tracked.window(inner));
        }
        // SAFETY: the caller's promise.
        unsafe { plain_window(storage) }
    }
    fn is_fixed(storage: &DynamicBuffer) -> bool {
        let storage = storage.plain();
        dispatch_storage!(D of: storage => D::is_fixed(storage); false)
    }
    fn room<E: Element>(storage: &DynamicBuffer) -> Option<usize> {
        let storage = storage.plain();
        dispatch_storage!(D of: storage => D::room::<E>(storage); None)
    }
    fn holds<E: Element>(storage: &DynamicBuffer, len: usize) -> bool {
        let storage = storage.plain();
        dispatch_storage!(D of: storage => D::holds::<E>(storage, len); true)
    }
    fn is_same(a: &DynamicBuffer, b: &DynamicBuffer) -> bool {
        match (a.plain(), b.plain()) {
            (DynamicBuffer::Cpu(a), DynamicBuffer::Cpu(b)) => Cpu::is_same(a, b),
            (DynamicBuffer::Cuda(a), DynamicBuffer::Cuda(b)) => Gpu::is_same(a, b),
            _ => false,
        }
    }
    fn peek<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<E> {
        dispatch_read!(D of: view => D::peek(view); Err(Error::NoData { op: "item" }))
    }
    fn peek_free<E: Element>(view: View<'_, DynamicBuffer, E>) -> Option<E> {
        if view.buffer.is_recorded() {
            return None;
        }
        dispatch_read!(D of: view => D::peek_free(view); None)
    }
    fn download<E: Element>(view: View<'_, DynamicBuffer, E>) -> Result<Vec<E>> {
        dispatch_read!(D of: view => D::download(view); Err(Error::NoData { op: "to_device" }))
    }
    #[cfg(feature = "profile")]
    fn clock(beside: Option<&DynamicBuffer>) -> crate::profile::Clock {
        beside.map_or(crate::profile::Clock::HOST, DynamicBuffer::clock)
    }
    #[cfg(feature = "profile")]
    fn called(beside: Option<&DynamicBuffer>) -> String {
        beside.map_or("cpu", DynamicBuffer::device_name).to_owned()
    }
    fn run<C: Call>(call: C::Of<'_, DynamicBuffer>) -> Result<Given<C, DynamicBuffer>> {
        #[cfg(feature = "grad")]
        if taping::is_recorded::<C>(&call) {
            return taping::run::<C>(call);
        }
        match C::place(&call).map(DynamicBuffer::plain) {
            Some(DynamicBuffer::Cpu(_)) => match C::rehoused(call, &OnHost) {
                Ok(call) => of_host::<C::Out>(Cpu::run::<C>(call)),
                Err(reason) => Err(dispatch::elsewhere("cpu", reason)),
            },
            Some(DynamicBuffer::Cuda(own)) if const { Gpu::IS_ELSEWHERE } => {
                let device = own.device();
                match C::rehoused(call, &dispatch::OnGpu(device)) {
                    Ok(call) => Gpu::run::<C>(call).map(|given| C::Out::rehoused(given, DynamicBuffer::Cuda)),
                    Err(reason) => Err(dispatch::elsewhere(&device.name(), reason)),
                }
            }
            _ => without_data::<C::Out>(),
        }
    }
    fn address<E: Element>(view: View<'_, DynamicBuffer, E>) -> *const E {
        dispatch_read!(D of: view => D::address(view); core::ptr::null())
    }
    // Expressions consist of typed tensors, whose device is known at compile time.
    unsafe fn evaluate<X: Expression<Elem: Element>>(_: X, _: &[usize], _: &[usize]) -> Result<DynamicBuffer> {
        Err(Error::NoData { op: "lazy" })
    }
    unsafe fn evaluate_beside<X: Expression<Elem: Element>>(
        beside: &DynamicBuffer,
        x: X,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<DynamicBuffer> {
        let beside = beside.plain();
        dispatch_storage!(D of: beside => {
            // SAFETY: the caller's promise.
            unsafe { D::evaluate_beside(beside, x, sizes, strides).map(of) }
        }; Ok(DynamicBuffer::Meta))
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
    unsafe fn reduce_lazy<X: Expression<Elem: Element>, R: Reducer<X::Elem>>(
        _: R,
        _: X,
        _: &[usize],
        _: u32,
    ) -> Result<DynamicBuffer> {
        Err(Error::NoData { op: "lazy" })
    }
}
