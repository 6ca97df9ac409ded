//! A device around another: what it takes to see each call, for those that record, check or count.

use super::call::{Call, Given};
use super::{AnyDevice, Backend, Device, IntoDevice, Place};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::layout::bounds;
use crate::ops::expression::Expression;
use crate::ops::kernel::{Map1, Map2};
use crate::ops::reduce::{Reducer, SeveralResults};
use crate::sealed::Sealed;
use crate::storage::{View, ViewMut};
use crate::{Cpu, Tensor, axis, shape, tensor};
use core::cell::RefCell;
use core::marker::PhantomData;

/// A device `D` whose calls are checked and listed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Checked<D>(PhantomData<D>);

/// A call: what profiles call it, and dtype and sizes of each operand.
type Listed = (&'static str, Vec<(DType, Vec<usize>)>);
thread_local! {
    static CALLS: RefCell<Vec<Listed>> = const { RefCell::new(Vec::new()) };
}

impl<D: Device> Sealed for Checked<D> {}
impl<D: Device> Place for Checked<D> {
    type Buffer = D::Storage;
}
impl<D: Device> IntoDevice for Checked<D> {
    fn into_device(self) -> Result<AnyDevice> {
        D::default().into_device()
    }
}
impl<D: Device> Device for Checked<D> {
    fn name() -> String {
        D::name()
    }
}

/// Functions that the device inside does alone.
macro_rules! inside {
    ($($(#[$attribute:meta])* fn $name:ident $(<$($g:ident: $bound:path),*>)? ($($arg:ident: $ty:ty),*) -> $out:ty;)*) => {$(
        $(#[$attribute])*
        fn $name $(<$($g: $bound),*>)? ($($arg: $ty),*) -> $out {
            D::$name $(::<$($g),*>)? ($($arg),*)
        }
    )*};
}

impl<D: Device> Backend for Checked<D> {
    type Storage = D::Storage;

    fn run<C: Call>(call: C::Of<'_, D::Storage>) -> Result<Given<C, D::Storage>> {
        let mut operands = Vec::new();
        C::each(&call, &mut |dtype, sizes, strides, _| {
            assert!(sizes.contains(&0) || bounds::span(sizes, strides).is_some(), "{}: {sizes:?} {strides:?}", C::NAME);
            operands.push((dtype, sizes.to_vec()));
        });
        CALLS.with_borrow_mut(|calls| calls.push((C::NAME, operands)));
        D::run::<C>(call)
    }

    inside! {
        fn has_data(storage: &D::Storage) -> bool;
        fn zeroed<E: Element>(beside: Option<&D::Storage>, len: usize) -> Result<D::Storage>;
        fn fill<E: Element>(beside: Option<&D::Storage>, value: E, len: usize) -> Result<D::Storage>;
        fn is_unique(storage: &mut D::Storage) -> bool;
        fn share<E: Element>(view: View<'_, D::Storage, E>) -> (D::Storage, usize);
        fn share_own<E: Element>(view: View<'_, D::Storage, E>) -> Result<(D::Storage, usize)>;
        fn untracked(storage: D::Storage) -> D::Storage;
        fn close(storage: &D::Storage) -> ();
        fn is_fixed(storage: &D::Storage) -> bool;
        fn room<E: Element>(storage: &D::Storage) -> Option<usize>;
        fn holds<E: Element>(storage: &D::Storage, len: usize) -> bool;
        fn is_same(a: &D::Storage, b: &D::Storage) -> bool;
        fn peek<E: Element>(view: View<'_, D::Storage, E>) -> Result<E>;
        fn peek_free<E: Element>(view: View<'_, D::Storage, E>) -> Option<E>;
        fn download<E: Element>(view: View<'_, D::Storage, E>) -> Result<Vec<E>>;
        fn called(beside: Option<&D::Storage>) -> String;
        fn address<E: Element>(view: View<'_, D::Storage, E>) -> *const E;
    }
    fn build<E: Element>(beside: Option<&D::Storage>, make: impl FnOnce() -> Result<Vec<E>>) -> Result<D::Storage> {
        D::build(beside, make)
    }
    fn tabulate<O: Element>(kernel: impl Map1<i64, O>, beside: Option<&D::Storage>, len: usize) -> Result<D::Storage> {
        D::tabulate(kernel, beside, len)
    }
    unsafe fn lend(storage: &D::Storage) -> D::Storage {
        // SAFETY: the caller's promise.
        unsafe { D::lend(storage) }
    }
    unsafe fn window(storage: &mut D::Storage) -> D::Storage {
        // SAFETY: the caller's promise.
        unsafe { D::window(storage) }
    }
    unsafe fn evaluate<X: Expression<Elem: Element>>(x: X, sizes: &[usize], strides: &[usize]) -> Result<D::Storage> {
        // SAFETY: the caller's promise.
        unsafe { D::evaluate(x, sizes, strides) }
    }
    const EVALUATES_EACH: bool = D::EVALUATES_EACH;
    unsafe fn evaluate_each<X: Expression<Elem = [O; N]>, O: Element, const N: usize>(
        x: X,
        sizes: &[usize],
        strides: &[usize],
    ) -> Result<[D::Storage; N]> {
        // SAFETY: the caller's promise.
        unsafe { D::evaluate_each(x, sizes, strides) }
    }
    fn reduce_several<A: Element, R: SeveralResults<A>, const N: usize>(
        reducer: R,
        a: View<'_, D::Storage, A>,
        mask: u32,
    ) -> Result<[D::Storage; N]> {
        D::reduce_several(reducer, a, mask)
    }
    unsafe fn reduce_lazy_several<X: Expression<Elem: Element>, R: SeveralResults<X::Elem>, const N: usize>(
        reducer: R,
        x: X,
        sizes: &[usize],
        mask: u32,
    ) -> Result<[D::Storage; N]> {
        // SAFETY: the caller's promise.
        unsafe { D::reduce_lazy_several(reducer, x, sizes, mask) }
    }
    unsafe fn evaluate_into<X: Expression<Elem: Element>>(x: X, out: ViewMut<'_, D::Storage, X::Elem>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { D::evaluate_into(x, out) }
    }
    unsafe fn evaluate_update<X: Expression, O: Element>(
        kernel: impl Map2<O, X::Elem, O>,
        x: X,
        out: ViewMut<'_, D::Storage, O>,
    ) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { D::evaluate_update(kernel, x, out) }
    }
    unsafe fn reduce_lazy<X: Expression<Elem: Element>, R: Reducer<X::Elem>>(
        reducer: R,
        x: X,
        sizes: &[usize],
        mask: u32,
    ) -> Result<D::Storage> {
        // SAFETY: the caller's promise.
        unsafe { D::reduce_lazy(reducer, x, sizes, mask) }
    }
}

/// A network's layer, which knows no device.
fn layer<D: Device>(x: &Tensor<f32, shape![4, 6], D>, w: &Tensor<f32, shape![6, 8], D>) -> Tensor<f32, shape![4], D> {
    x.matmul(w).glu(axis![-1]).softmax(axis![1]).sort(axis![1], true).0.select(axis![1], 0) + 1.0
}

#[test]
fn a_device_around_another_sees_each_call() {
    let numbers = |count: usize| (0..count).map(|number| number as f32 * 0.1).collect::<Vec<_>>();
    let storage = |count| Cpu::build(None, || Ok(numbers(count))).unwrap();
    let plain = layer(&Tensor::from_vec(numbers(24)), &Tensor::from_vec(numbers(48)));
    let checked = layer::<Checked<Cpu>>(&Tensor::dense(storage(24), [4, 6]), &Tensor::dense(storage(48), [6, 8]));
    assert_eq!(Cpu::download(checked.elements()).unwrap(), plain.to_vec());
    let calls = CALLS.with_borrow_mut(core::mem::take);
    let names: Vec<&str> = calls.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["matmul", "map", "lanes", "sort", "map"]);
    assert_eq!(calls[0].1, [(DType::F32, vec![4, 6]), (DType::F32, vec![6, 8])]);
    assert_eq!(calls[1].1, [(DType::F32, vec![4, 4]), (DType::F32, vec![4, 4])]);
    let _ = tensor![1.0, 2.0].exp();
    assert!(CALLS.with_borrow(Vec::is_empty));
}
