//! `Cuda<N>` in a build without the feature `cuda`: it has no storage, and making a tensor is an error.

use super::Cuda;
use crate::device::call::{Call, Given};
use crate::device::{AnyDevice, Backend, Device, Place};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::expression::Expression;
use crate::ops::kernel::{Map1, Map2};
use crate::ops::reduce::Reducer;
use crate::storage::{View, ViewMut};

/// There is no CUDA storage in this build.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum NoStorage {}

/// Why there is no CUDA device, and what to do.
const ABSENT: &str =
    "this build of castiron has no CUDA support; keep the tensor on `Cpu`, or use `Meta` for shapes alone";

fn unavailable<const N: usize, T>() -> Result<T> {
    Err(Error::DeviceUnavailable { device: Cuda::<N>::name(), reason: ABSENT })
}

/// Whether the device can be used, or why not.
pub(crate) fn available(device: AnyDevice) -> Result<()> {
    Err(Error::DeviceUnavailable { device: device.to_string(), reason: ABSENT })
}

impl<const N: usize> Place for Cuda<N> {
    type Buffer = NoStorage;
}

impl<const N: usize> Backend for Cuda<N> {
    type Storage = NoStorage;

    fn build<E: Element>(_: Option<&NoStorage>, _: impl FnOnce() -> Result<Vec<E>>) -> Result<NoStorage> {
        unavailable::<N, _>()
    }
    fn zeroed<E: Element>(_: Option<&NoStorage>, _: usize) -> Result<NoStorage> {
        unavailable::<N, _>()
    }
    fn fill<E: Element>(_: Option<&NoStorage>, _: E, _: usize) -> Result<NoStorage> {
        unavailable::<N, _>()
    }
    fn tabulate<O: Element>(_: impl Map1<i64, O>, _: Option<&NoStorage>, _: usize) -> Result<NoStorage> {
        unavailable::<N, _>()
    }
    fn is_unique(storage: &mut NoStorage) -> bool {
        match *storage {}
    }
    fn share<E: Element>(view: View<'_, NoStorage, E>) -> (NoStorage, usize) {
        match *view.buffer {}
    }
    fn share_own<E: Element>(view: View<'_, NoStorage, E>) -> Result<(NoStorage, usize)> {
        match *view.buffer {}
    }
    unsafe fn lend(storage: &NoStorage) -> NoStorage {
        match *storage {}
    }
    fn close(storage: &NoStorage) {
        match *storage {}
    }
    unsafe fn window(storage: &mut NoStorage) -> NoStorage {
        match *storage {}
    }
    fn is_fixed(storage: &NoStorage) -> bool {
        match *storage {}
    }
    fn room<E: Element>(storage: &NoStorage) -> Option<usize> {
        match *storage {}
    }
    fn holds<E: Element>(storage: &NoStorage, _: usize) -> bool {
        match *storage {}
    }
    fn is_same(a: &NoStorage, _: &NoStorage) -> bool {
        match *a {}
    }
    fn peek<E: Element>(view: View<'_, NoStorage, E>) -> Result<E> {
        match *view.buffer {}
    }
    fn peek_free<E: Element>(view: View<'_, NoStorage, E>) -> Option<E> {
        match *view.buffer {}
    }
    fn download<E: Element>(view: View<'_, NoStorage, E>) -> Result<Vec<E>> {
        match *view.buffer {}
    }
    #[cfg(feature = "profile")]
    fn called(_: Option<&NoStorage>) -> String {
        Self::name()
    }
    fn run<C: Call>(call: C::Of<'_, NoStorage>) -> Result<Given<C, NoStorage>> {
        match C::place(&call) {
            Some(&storage) => match storage {},
            None => unavailable::<N, _>(),
        }
    }
    fn address<E: Element>(view: View<'_, NoStorage, E>) -> *const E {
        match *view.buffer {}
    }
    unsafe fn evaluate<X: Expression<Elem: Element>>(_: X, _: &[usize], _: &[usize]) -> Result<NoStorage> {
        unavailable::<N, _>()
    }
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(_: X, out: ViewMut<'_, NoStorage, X::Elem>) -> Result<()> {
        match *out.buffer {}
    }
    unsafe fn evaluate_update<X: Expression, O: Element>(
        _: impl Map2<O, X::Elem, O>,
        _: X,
        out: ViewMut<'_, NoStorage, O>,
    ) -> Result<()> {
        match *out.buffer {}
    }
    unsafe fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(_: R, _: X, _: &[usize], _: u32) -> Result<NoStorage> {
        unavailable::<N, _>()
    }
}
