//! `Taped<D>`: the device `D`, and a record of what is computed there from parameters.

use super::primitive::WayBack;
use super::pull::derivative::DerivativeCall;
use super::pull::ways::{of_dtype, of_primitive};
use super::pull::{PullsBack, SlopeCall};
use super::record::has_gradients;
use super::rule::Rule;
use super::tape::{Layout, Node, Operand, Tape, Tracked};
use crate::composite::primitive::{Dtypes as _, On, Primitive};
use crate::device::call::{Call, Given, Kind, Outcome, Rehouse, Rehoused};
use crate::device::{AnyDevice, Backend, Device, IntoDevice, Place};
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::ops::arguments::Distribution;
use crate::ops::expression::Expression;
use crate::ops::kernel::{Map1, Map2};
use crate::ops::record::derivative::Derivative;
use crate::ops::reduce::Reducer;
use crate::ops::slope::Formula;
use crate::storage::{View, ViewMut};
use core::marker::PhantomData;
use std::sync::Arc;

/// The device `D`, and a record of what is computed there from parameters: the device of tensors inside
/// [`value_and_grad`](super::Grad::value_and_grad).
///
/// Generic code runs on it as on every device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Taped<D>(PhantomData<fn() -> D>);

impl<D: Device> Place for Taped<D> {
    type Buffer = Tracked<D::Storage>;
}
impl<D: Device> IntoDevice for Taped<D> {
    fn into_device(self) -> Result<AnyDevice> {
        D::default().into_device()
    }
}
impl<D: Device> Device for Taped<D> {
    fn name() -> String {
        D::name()
    }
}

/// From storages on a tape to those of the device inside.
pub(super) struct Inside;
impl<B> Rehouse<Tracked<B>, B> for Inside {
    #[inline]
    fn shared<'a: 'b, 'b>(&'b self, storage: &'a Tracked<B>) -> Rehoused<&'b B> {
        Ok(&storage.inner)
    }
    #[inline]
    fn exclusive<'a: 'b, 'b>(&'b self, storage: &'a mut Tracked<B>) -> Rehoused<&'b mut B> {
        Ok(&mut storage.inner)
    }
}
/// The same elements on the device inside.
#[inline]
pub(super) fn inside<B, E>(view: View<'_, Tracked<B>, E>) -> View<'_, B, E> {
    View::new(&view.buffer.inner, view.offset, view.sizes, view.strides)
}
fn beside<B>(place: Option<&Tracked<B>>) -> Option<&B> {
    place.map(|tracked| &tracked.inner)
}

/// A handle to a storage, or to a copy of its elements.
fn handle<D: Device>(of: &Tracked<D::Storage>, inner: D::Storage) -> Tracked<D::Storage> {
    if of.is_window() && D::is_same(&of.inner, &inner) { of.handle(inner) } else { of.beside(inner) }
}

#[cold]
fn no_memory<T>() -> Result<T> {
    Err(Error::OutOfMemory { bytes: 0, device: "cpu" })
}

/// Operands that were recorded on two tapes.
#[cold]
pub(super) fn two_tapes<T>(op: &'static str) -> Result<T> {
    let reason =
        "values of two gradients meet: pass the outer one to the inner closure as a constant, or `.detach()` it";
    invalid(op, reason.to_owned())
}

/// The tape of the operands that are on one.
#[derive(Default)]
struct Found {
    tape: Option<Tape>,
    has_two: bool,
}
impl Found {
    #[inline]
    fn see<B>(&mut self, storage: &Tracked<B>) {
        storage.with_node(|node| match (self.tape, node) {
            (_, None) => {}
            (None, Some(node)) => self.tape = Some(node.tape()),
            (Some(tape), Some(node)) => self.has_two |= tape != node.tape(),
        });
    }
    #[inline]
    fn tape(self, op: &'static str) -> Result<Option<Tape>> {
        if self.has_two { two_tapes(op) } else { Ok(self.tape) }
    }
}

impl<D: Device> Backend for Taped<D> {
    type Storage = Tracked<D::Storage>;
    const RECORDS: bool = true;

    fn run<C: Call>(call: C::Of<'_, Self::Storage>) -> Result<Given<C, Self::Storage>> {
        let mut found = Found::default();
        C::storages(&call, &mut |storage| found.see(storage));
        match found.tape(C::NAME)? {
            Some(tape) => C::record::<D>(call, tape),
            None => {
                // (Only a list of operands needs memory.)
                let Ok(call) = C::rehoused(call, &Inside) else { return no_memory() };
                let given = D::run::<C>(call)?;
                Ok(<C as Kind>::Out::rehoused(given, Tracked::constant))
            }
        }
    }

    fn primitive<P: Primitive>(primitive: &P, x: On<'_, P::Operands, Self>) -> Result<On<'static, P::Results, Self>> {
        let mut found = Found::default();
        P::Operands::storages::<Self>(&x, &mut |storage| found.see(storage));
        super::primitive::record::<P, D>(primitive, &x, found.tape(primitive.op())?)
    }
    fn is_tracked(storage: &Self::Storage) -> bool {
        storage.is_tracked() || D::is_tracked(&storage.inner)
    }

    fn has_data(storage: &Self::Storage) -> bool {
        D::has_data(&storage.inner)
    }
    fn build<E: Element>(
        place: Option<&Self::Storage>,
        make: impl FnOnce() -> Result<Vec<E>>,
    ) -> Result<Self::Storage> {
        D::build(beside(place), make).map(Tracked::constant)
    }
    fn zeroed<E: Element>(place: Option<&Self::Storage>, len: usize) -> Result<Self::Storage> {
        D::zeroed::<E>(beside(place), len).map(Tracked::constant)
    }
    fn fill<E: Element>(place: Option<&Self::Storage>, value: E, len: usize) -> Result<Self::Storage> {
        D::fill(beside(place), value, len).map(Tracked::constant)
    }
    fn tabulate<O: Element>(
        kernel: impl Map1<i64, O>,
        place: Option<&Self::Storage>,
        len: usize,
    ) -> Result<Self::Storage> {
        D::tabulate(kernel, beside(place), len).map(Tracked::constant)
    }
    fn iota(place: Option<&Self::Storage>, len: usize) -> Result<Self::Storage> {
        D::iota(beside(place), len).map(Tracked::constant)
    }
    const IS_ELSEWHERE: bool = D::IS_ELSEWHERE;
    fn is_on_host(place: Option<&Self::Storage>) -> bool {
        D::is_on_host(beside(place))
    }
    fn draw<E: Element>(
        place: Option<&Self::Storage>,
        distribution: Distribution,
        seed: impl FnOnce() -> u64,
        len: usize,
    ) -> Result<Option<Self::Storage>> {
        Ok(D::draw::<E>(beside(place), distribution, seed, len)?.map(Tracked::constant))
    }
    fn bernoulli<E: Element>(
        p: View<'_, Self::Storage, E>,
        seed: impl FnOnce() -> u64,
    ) -> Result<Option<Self::Storage>> {
        Ok(D::bernoulli(inside(p), seed)?.map(Tracked::constant))
    }
    fn is_unique(storage: &mut Self::Storage) -> bool {
        D::is_unique(&mut storage.inner)
    }
    fn share<E: Element>(view: View<'_, Self::Storage, E>) -> (Self::Storage, usize) {
        let (inner, offset) = D::share(inside(view));
        (handle::<D>(view.buffer, inner), offset)
    }
    fn untracked(storage: Self::Storage) -> Self::Storage {
        Tracked::constant(D::untracked(storage.inner))
    }
    fn share_own<E: Element>(view: View<'_, Self::Storage, E>) -> Result<(Self::Storage, usize)> {
        let (inner, offset) = D::share_own(inside(view))?;
        Ok((handle::<D>(view.buffer, inner), offset))
    }
    unsafe fn lend(storage: &Self::Storage) -> Self::Storage {
        // SAFETY: the caller's promise.
        storage.handle(unsafe { D::lend(&storage.inner) })
    }
    fn close(storage: &Self::Storage) {
        D::close(&storage.inner);
    }
    unsafe fn window(storage: &mut Self::Storage) -> Self::Storage {
        // SAFETY: the caller's promise.
        let inner = unsafe { D::window(&mut storage.inner) };
        storage.window(inner)
    }
    fn is_fixed(storage: &Self::Storage) -> bool {
        D::is_fixed(&storage.inner)
    }
    fn room<E: Element>(storage: &Self::Storage) -> Option<usize> {
        D::room::<E>(&storage.inner)
    }
    fn holds<E: Element>(storage: &Self::Storage, len: usize) -> bool {
        D::holds::<E>(&storage.inner, len)
    }
    fn is_same(a: &Self::Storage, b: &Self::Storage) -> bool {
        D::is_same(&a.inner, &b.inner)
    }
    fn peek<E: Element>(view: View<'_, Self::Storage, E>) -> Result<E> {
        D::peek(inside(view))
    }
    fn peek_free<E: Element>(view: View<'_, Self::Storage, E>) -> Option<E> {
        if view.buffer.is_tracked() { None } else { D::peek_free(inside(view)) }
    }
    fn download<E: Element>(view: View<'_, Self::Storage, E>) -> Result<Vec<E>> {
        D::download(inside(view))
    }
    #[cfg(feature = "profile")]
    fn clock(place: Option<&Self::Storage>) -> crate::profile::Clock {
        D::clock(beside(place))
    }
    #[cfg(feature = "profile")]
    fn called(place: Option<&Self::Storage>) -> String {
        D::called(beside(place))
    }
    fn address<E: Element>(view: View<'_, Self::Storage, E>) -> *const E {
        D::address(inside(view))
    }
    // Expressions are computed one operation after another (`RECORDS`).
    unsafe fn evaluate<X: Expression<Elem: Element>>(_: X, _: &[usize], _: &[usize]) -> Result<Self::Storage> {
        not_recorded()
    }
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(_: X, _: ViewMut<'_, Self::Storage, X::Elem>) -> Result<()> {
        not_recorded()
    }
    unsafe fn evaluate_update<X: Expression, O: Element>(
        _: impl Map2<O, X::Elem, O>,
        _: X,
        _: ViewMut<'_, Self::Storage, O>,
    ) -> Result<()> {
        not_recorded()
    }
    unsafe fn reduce_lazy<X: Expression<Elem: Element>, R: Reducer<X::Elem>>(
        _: R,
        _: X,
        _: &[usize],
        _: u32,
    ) -> Result<Self::Storage> {
        not_recorded()
    }
}
#[cold]
fn not_recorded<T>() -> Result<T> {
    invalid("lazy", "an expression is recorded one operation after another".to_owned())
}

/// Gradients of gradients.
impl<D: Device> PullsBack for Taped<D> {
    type Inside = D;
    const IS_DYNAMIC: bool = D::IS_DYNAMIC;
    fn off<E: Element>(view: View<'_, Self::Storage, E>) -> (D::Storage, usize) {
        D::share(inside(view))
    }
    fn operand<E: Element>(view: View<'_, Self::Storage, E>) -> Operand<D::Storage> {
        let node = if has_gradients(E::DTYPE) { view.buffer.node() } else { None };
        Operand::new(node, view.offset, (E::DTYPE, view.sizes, view.strides), of_dtype::<E, D>(E::DTYPE), None)
    }
    fn with_way_back(
        op: &'static str,
        result: D::Storage,
        layout: Layout,
        mut way_back: impl WayBack<D::Storage> + 'static,
    ) -> Result<Self::Storage> {
        let mut tape: Option<Tape> = None;
        let mut has_two = false;
        way_back.each_operand(&mut |operand| {
            if let Some(node) = &operand.node {
                match &tape {
                    None => tape = Some(node.tape()),
                    Some(tape) => has_two |= *tape != node.tape(),
                }
            }
        });
        if has_two {
            return two_tapes(op);
        }
        let Some(tape) = tape.filter(|_| has_gradients(layout.dtype)) else { return Ok(Tracked::constant(result)) };
        let step = tape.begin(op)?;
        step.fill([Some(layout.extent()), None, None, None], Rule::Primitive(Box::new(way_back)), of_primitive::<D>);
        Ok(Tracked::of(result, Node { step, result: 0 }))
    }
    fn slope(formula: &'static Formula, call: SlopeCall<'_, Self>) -> Result<Self::Storage> {
        super::pull::derivative::slope::<D>(formula, call)
    }
    fn derivative(derivative: &Arc<Derivative>, call: DerivativeCall<'_, Self>) -> Result<Self::Storage> {
        super::pull::derivative::derivative::<D>(derivative, call)
    }
}
