//! `Cuda<N>` in a build without the feature `cuda`: it has no storage, and making a tensor is an error.

use super::Cuda;
use crate::device::{AnyDevice, Backend, Device, Place};
use crate::dtype::{Castable, Dtype, Element};
use crate::error::{Error, Result};
use crate::ops::arguments::{Added, Attention, Indexing, Order, Sought};
use crate::ops::expression::Expression;
use crate::ops::kernel::{LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::storage::{View, ViewMut};

/// There is no CUDA storage in this build.
#[doc(hidden)]
#[derive(Clone, Debug)]
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
    fn has<E: Castable>(view: View<'_, NoStorage, E>, _: Sought) -> Result<bool> {
        match *view.buffer {}
    }
    fn map1<A: Element, O: Element>(_: impl Map1<A, O>, a: View<'_, NoStorage, A>, _: &[usize]) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn map2<A: Element, B: Element, O: Element>(
        _: impl Map2<A, B, O>,
        a: View<'_, NoStorage, A>,
        _: View<'_, NoStorage, B>,
        _: &[usize],
    ) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        _: impl Map3<A, B, C, O>,
        a: View<'_, NoStorage, A>,
        _: View<'_, NoStorage, B>,
        _: View<'_, NoStorage, C>,
        _: &[usize],
    ) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn map1_line<A: Element, O: Element>(_: impl Map1<A, O>, a: View<'_, NoStorage, A>, _: usize) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn map2_line<A: Element, B: Element, O: Element>(
        _: impl Map2<A, B, O>,
        a: View<'_, NoStorage, A>,
        _: View<'_, NoStorage, B>,
        _: usize,
    ) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn map1_into<A: Element, O: Element>(
        _: impl Map1<A, O>,
        a: View<'_, NoStorage, A>,
        _: ViewMut<'_, NoStorage, O>,
    ) -> Result<()> {
        match *a.buffer {}
    }
    fn map2_into<A: Element, B: Element, O: Element>(
        _: impl Map2<A, B, O>,
        a: View<'_, NoStorage, A>,
        _: View<'_, NoStorage, B>,
        _: ViewMut<'_, NoStorage, O>,
    ) -> Result<()> {
        match *a.buffer {}
    }
    fn update1<O: Element>(_: impl Map1<O, O>, out: ViewMut<'_, NoStorage, O>) -> Result<()> {
        match *out.buffer {}
    }
    fn update2<B: Element, O: Element>(
        _: impl Map2<O, B, O>,
        b: View<'_, NoStorage, B>,
        _: ViewMut<'_, NoStorage, O>,
    ) -> Result<()> {
        match *b.buffer {}
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
    fn reduce<A: Element, R: Reducer<A>>(_: R, a: View<'_, NoStorage, A>, _: u32) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn reduce_both<A: Element, R: TwoResults<A>>(_: R, a: View<'_, NoStorage, A>, _: u32) -> Result<[NoStorage; 2]> {
        match *a.buffer {}
    }
    fn lanes<A: Element, O: Element>(
        _: impl LaneKernel<A, O>,
        a: View<'_, NoStorage, A>,
        _: usize,
    ) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn lanes_both<A: Element, O: Element, P: Element>(
        _: impl LaneKernel<A, (O, P)>,
        a: View<'_, NoStorage, A>,
        _: usize,
    ) -> Result<[NoStorage; 2]> {
        match *a.buffer {}
    }
    fn pick<E: Element>(a: View<'_, NoStorage, E>, _: &[Vec<Segment>], _: E) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn join<E: Element>(pieces: &[View<'_, NoStorage, E>], _: usize, _: &[usize], _: &[usize]) -> Result<NoStorage> {
        match pieces {
            [piece, ..] => match *piece.buffer {},
            [] => Err(Error::NoData { op: "cat" }),
        }
    }
    fn band<E: Element>(a: View<'_, NoStorage, E>, _: isize, _: isize) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn rows<A: Element, O: Element>(
        _: impl RowKernel<A, O>,
        a: View<'_, NoStorage, A>,
        _: [Option<View<'_, NoStorage, A>>; 2],
    ) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn matmul<E: Dtype>(
        a: View<'_, NoStorage, E>,
        _: View<'_, NoStorage, E>,
        _: Option<Added<'_, NoStorage, E>>,
    ) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn matmul_then<E: Dtype>(
        _: impl Map1<E, E>,
        a: View<'_, NoStorage, E>,
        _: View<'_, NoStorage, E>,
        _: Option<Added<'_, NoStorage, E>>,
    ) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn attend<E: Dtype>(attention: &Attention<'_, NoStorage, E>) -> Result<NoStorage> {
        match *attention.query.buffer {}
    }
    fn int_mm<E: Dtype>(a: View<'_, NoStorage, E>, _: View<'_, NoStorage, i8>) -> Result<NoStorage> {
        match *a.buffer {}
    }
    fn gather<E: Element>(
        _: Indexing,
        _: View<'_, NoStorage, E>,
        index: View<'_, NoStorage, i64>,
    ) -> Result<NoStorage> {
        match *index.buffer {}
    }
    fn scatter<E: Element>(
        _: Indexing,
        index: View<'_, NoStorage, i64>,
        _: View<'_, NoStorage, E>,
        _: ViewMut<'_, NoStorage, E>,
    ) -> Result<()> {
        match *index.buffer {}
    }
    fn scatter_with<E: Element>(
        _: Indexing,
        _: impl Map2<E, E, E>,
        index: View<'_, NoStorage, i64>,
        _: View<'_, NoStorage, E>,
        _: ViewMut<'_, NoStorage, E>,
    ) -> Result<()> {
        match *index.buffer {}
    }
    fn compress<E: Element>(a: View<'_, NoStorage, E>, _: View<'_, NoStorage, bool>) -> Result<(NoStorage, usize)> {
        match *a.buffer {}
    }
    fn order<E: Element>(_: Order, a: View<'_, NoStorage, E>, _: usize) -> Result<[NoStorage; 2]> {
        match *a.buffer {}
    }
    fn search<E: Element>(sorted: View<'_, NoStorage, E>, _: View<'_, NoStorage, E>, _: bool) -> Result<NoStorage> {
        match *sorted.buffer {}
    }
}
