//! `Meta`: shape, dtype and strides without data. Operations check their arguments and compute nothing.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use super::{Backend, Device, Place};
use crate::dtype::{Castable, Dtype, Element};
use crate::error::{Error, Result};
use crate::ops::arguments::{Added, Attention, Indexing, Order, Sought};
use crate::ops::expression::Expression;
use crate::ops::kernel::{LaneKernel, Map1, Map2, Map3, RowKernel};
use crate::ops::reduce::{Reducer, TwoResults};
use crate::ops::segment::Segment;
use crate::ops::window::Convolution;
use crate::storage::{View, ViewMut};

/// A device without data: operations compute the shape, dtype and strides of their results, without allocating memory.
///
/// ```
/// use castiron::{shape, Meta, Tensor};
/// // A plan for four terabytes of weights.
/// let w: Tensor<f32, shape![1048576, 1048576], Meta> = Tensor::zeros();
/// let x: Tensor<f32, shape![_, 1048576], Meta> = Tensor::zeros_sized([8, 1048576]);
/// let y: Tensor<f32, shape![_, 1048576], Meta> = x.matmul(&w.t());
/// assert_eq!(y.shape(), [8, 1048576]);
/// assert!(y.to_device::<castiron::Cpu>().is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Meta;

/// The storage of a tensor without data.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct NoData;

impl Device for Meta {
    fn name() -> String {
        "meta".to_owned()
    }
}
impl Place for Meta {
    type Buffer = NoData;
}

impl Backend for Meta {
    type Storage = NoData;

    fn has_data(_: &NoData) -> bool {
        false
    }
    fn build<E: Element>(_: Option<&NoData>, _: impl FnOnce() -> Result<Vec<E>>) -> Result<NoData> {
        Ok(NoData)
    }
    fn zeroed<E: Element>(_: Option<&NoData>, _: usize) -> Result<NoData> {
        Ok(NoData)
    }
    fn fill<E: Element>(_: Option<&NoData>, _: E, _: usize) -> Result<NoData> {
        Ok(NoData)
    }
    fn tabulate<O: Element>(_: impl Map1<i64, O>, _: Option<&NoData>, _: usize) -> Result<NoData> {
        Ok(NoData)
    }
    fn is_unique(_: &mut NoData) -> bool {
        true
    }
    fn share<E: Element>(view: View<'_, NoData, E>) -> (NoData, usize) {
        (NoData, view.offset)
    }
    fn share_own<E: Element>(view: View<'_, NoData, E>) -> Result<(NoData, usize)> {
        Ok((NoData, view.offset))
    }
    unsafe fn lend(_: &NoData) -> NoData {
        NoData
    }
    fn close(_: &NoData) {}
    unsafe fn window(_: &mut NoData) -> NoData {
        NoData
    }
    fn is_fixed(_: &NoData) -> bool {
        false
    }
    fn room<E: Element>(_: &NoData) -> Option<usize> {
        None
    }
    fn holds<E: Element>(_: &NoData, _: usize) -> bool {
        true
    }
    fn is_same(_: &NoData, _: &NoData) -> bool {
        false
    }
    fn peek<E: Element>(_: View<'_, NoData, E>) -> Result<E> {
        Err(Error::NoData { op: "item" })
    }
    fn peek_free<E: Element>(_: View<'_, NoData, E>) -> Option<E> {
        None
    }
    fn download<E: Element>(_: View<'_, NoData, E>) -> Result<Vec<E>> {
        Err(Error::NoData { op: "to_device" })
    }
    fn has<E: Castable>(_: View<'_, NoData, E>, _: Sought) -> Result<bool> {
        Ok(false)
    }
    fn map1<A: Element, O: Element>(_: impl Map1<A, O>, _: View<'_, NoData, A>, _: &[usize]) -> Result<NoData> {
        Ok(NoData)
    }
    fn map2<A: Element, B: Element, O: Element>(
        _: impl Map2<A, B, O>,
        _: View<'_, NoData, A>,
        _: View<'_, NoData, B>,
        _: &[usize],
    ) -> Result<NoData> {
        Ok(NoData)
    }
    fn map3<A: Element, B: Element, C: Element, O: Element>(
        _: impl Map3<A, B, C, O>,
        _: View<'_, NoData, A>,
        _: View<'_, NoData, B>,
        _: View<'_, NoData, C>,
        _: &[usize],
    ) -> Result<NoData> {
        Ok(NoData)
    }
    fn map1_line<A: Element, O: Element>(_: impl Map1<A, O>, _: View<'_, NoData, A>, _: usize) -> Result<NoData> {
        Ok(NoData)
    }
    fn map2_line<A: Element, B: Element, O: Element>(
        _: impl Map2<A, B, O>,
        _: View<'_, NoData, A>,
        _: View<'_, NoData, B>,
        _: usize,
    ) -> Result<NoData> {
        Ok(NoData)
    }
    fn map1_into<A: Element, O: Element>(
        _: impl Map1<A, O>,
        _: View<'_, NoData, A>,
        _: ViewMut<'_, NoData, O>,
    ) -> Result<()> {
        Ok(())
    }
    fn map2_into<A: Element, B: Element, O: Element>(
        _: impl Map2<A, B, O>,
        _: View<'_, NoData, A>,
        _: View<'_, NoData, B>,
        _: ViewMut<'_, NoData, O>,
    ) -> Result<()> {
        Ok(())
    }
    fn update1<O: Element>(_: impl Map1<O, O>, _: ViewMut<'_, NoData, O>) -> Result<()> {
        Ok(())
    }
    fn update2<B: Element, O: Element>(
        _: impl Map2<O, B, O>,
        _: View<'_, NoData, B>,
        _: ViewMut<'_, NoData, O>,
    ) -> Result<()> {
        Ok(())
    }
    fn address<E: Element>(_: View<'_, NoData, E>) -> *const E {
        core::ptr::null()
    }
    unsafe fn evaluate<X: Expression<Elem: Element>>(_: X, _: &[usize], _: &[usize]) -> Result<NoData> {
        Ok(NoData)
    }
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(_: X, _: ViewMut<'_, NoData, X::Elem>) -> Result<()> {
        Ok(())
    }
    unsafe fn evaluate_update<X: Expression, O: Element>(
        _: impl Map2<O, X::Elem, O>,
        _: X,
        _: ViewMut<'_, NoData, O>,
    ) -> Result<()> {
        Ok(())
    }
    unsafe fn reduce_lazy<X: Expression, R: Reducer<X::Elem>>(_: R, _: X, _: &[usize], _: u32) -> Result<NoData> {
        Ok(NoData)
    }
    fn reduce<A: Element, R: Reducer<A>>(_: R, _: View<'_, NoData, A>, _: u32) -> Result<NoData> {
        Ok(NoData)
    }
    fn reduce_both<A: Element, R: TwoResults<A>>(_: R, _: View<'_, NoData, A>, _: u32) -> Result<[NoData; 2]> {
        Ok([NoData, NoData])
    }
    fn lanes<A: Element, O: Element>(_: impl LaneKernel<A, O>, _: View<'_, NoData, A>, _: usize) -> Result<NoData> {
        Ok(NoData)
    }
    fn lanes_both<A: Element, O: Element, P: Element>(
        _: impl LaneKernel<A, (O, P)>,
        _: View<'_, NoData, A>,
        _: usize,
    ) -> Result<[NoData; 2]> {
        Ok([NoData, NoData])
    }
    fn pick<E: Element>(_: View<'_, NoData, E>, _: &[Vec<Segment>], _: E) -> Result<NoData> {
        Ok(NoData)
    }
    fn join<E: Element>(_: &[View<'_, NoData, E>], _: usize, _: &[usize], _: &[usize]) -> Result<NoData> {
        Ok(NoData)
    }
    fn band<E: Element>(_: View<'_, NoData, E>, _: isize, _: isize) -> Result<NoData> {
        Ok(NoData)
    }
    fn rows<A: Element, O: Element>(
        _: impl RowKernel<A, O>,
        _: View<'_, NoData, A>,
        _: [Option<View<'_, NoData, A>>; 2],
    ) -> Result<NoData> {
        Ok(NoData)
    }
    fn matmul<E: Dtype>(
        _: View<'_, NoData, E>,
        _: View<'_, NoData, E>,
        _: Option<Added<'_, NoData, E>>,
    ) -> Result<NoData> {
        Ok(NoData)
    }
    fn matmul_then<E: Dtype>(
        _: impl Map1<E, E>,
        _: View<'_, NoData, E>,
        _: View<'_, NoData, E>,
        _: Option<Added<'_, NoData, E>>,
    ) -> Result<NoData> {
        Ok(NoData)
    }
    fn convolve<E: Dtype>(
        _: &Convolution,
        _: View<'_, NoData, E>,
        _: View<'_, NoData, E>,
        _: Option<View<'_, NoData, E>>,
        _: &[usize],
        _: &[usize],
    ) -> Result<NoData> {
        Ok(NoData)
    }
    fn attend<E: Dtype>(_: &Attention<'_, NoData, E>) -> Result<NoData> {
        Ok(NoData)
    }
    fn int_mm<E: Dtype>(_: View<'_, NoData, E>, _: View<'_, NoData, i8>) -> Result<NoData> {
        Ok(NoData)
    }
    fn gather<E: Element>(_: Indexing, _: View<'_, NoData, E>, _: View<'_, NoData, i64>) -> Result<NoData> {
        Ok(NoData)
    }
    fn scatter<E: Element>(
        _: Indexing,
        _: View<'_, NoData, i64>,
        _: View<'_, NoData, E>,
        _: ViewMut<'_, NoData, E>,
    ) -> Result<()> {
        Ok(())
    }
    fn scatter_with<E: Element>(
        _: Indexing,
        _: impl Map2<E, E, E>,
        _: View<'_, NoData, i64>,
        _: View<'_, NoData, E>,
        _: ViewMut<'_, NoData, E>,
    ) -> Result<()> {
        Ok(())
    }
    fn compress<E: Element>(_: View<'_, NoData, E>, _: View<'_, NoData, bool>) -> Result<(NoData, usize)> {
        Err(Error::NoData { op: "masked_select" })
    }
    fn order<E: Element>(_: Order, _: View<'_, NoData, E>, _: usize) -> Result<[NoData; 2]> {
        Ok([NoData; 2])
    }
    fn search<E: Element>(_: View<'_, NoData, E>, _: View<'_, NoData, E>, _: bool) -> Result<NoData> {
        Ok(NoData)
    }
}
