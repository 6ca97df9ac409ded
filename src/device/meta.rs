//! `Meta`: shape, dtype and strides without data. Operations check their arguments and compute nothing.
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

use super::call::{Call, Given, Outcome};
use super::{Backend, Device, Place};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::ops::expression::Expression;
use crate::ops::kernel::{Map1, Map2};
use crate::ops::reduce::Reducer;
use crate::sealed::Sealed;
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
impl Sealed for Meta {}
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
    #[cfg(feature = "profile")]
    fn called(_: Option<&NoData>) -> String {
        Self::name()
    }
    fn run<C: Call>(_: C::Of<'_, NoData>) -> Result<Given<C, NoData>> {
        C::Out::without_data()
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
    unsafe fn reduce_lazy<X: Expression<Elem: Element>, R: Reducer<X::Elem>>(
        _: R,
        _: X,
        _: &[usize],
        _: u32,
    ) -> Result<NoData> {
        Ok(NoData)
    }
}
