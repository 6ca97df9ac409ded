//! The operands of `zip_map`, and the way to the loops: broadcast sizes, strides of the result.

use super::{HostClosures, Seen, bytes, recorded};
use crate::cpu::closures::{self, Closure, Items};
use crate::cpu::elementwise::source;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::layout::strides;
use crate::sealed::Sealed;
use crate::shape::{Broadcast, Shape, SizeArray, expect_broadcast};
use crate::tensor::elementwise::apply::broadcast_all;
use crate::tensor::{SameDevice, Tensor, TensorView, TensorViewMut};

/// An operand of `zip_map`: a tensor, a view, or a reference to one. Its dtype may be any.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand of a closure over elements: it is not a tensor",
    label = "expected `&tensor`, or a tuple of up to three",
    note = "memory is borrowed as a tensor by `TensorView::from_slice(&v)`; a number is captured by the closure"
)]
pub trait ZipOperand: Sealed {
    /// The dtype.
    type Elem: Element;
    /// The shape.
    type Shape: Shape;
    /// The device.
    type Device: Device;
    #[doc(hidden)]
    fn operand(&self) -> &Tensor<Self::Elem, Self::Shape, Self::Device>;
}
/// For a tensor or a view it writes `impl ZipOperand`.
macro_rules! operands {
    ($($of:ty),*) => {$(
        impl<E: Element, S: Shape, D: Device> ZipOperand for $of {
            type Elem = E;
            type Shape = S;
            type Device = D;
            fn operand(&self) -> &Tensor<E, S, D> {
                self
            }
        }
    )*};
}
operands!(Tensor<E, S, D>, TensorView<'_, E, S, D>, TensorViewMut<'_, E, S, D>);
impl<T: ZipOperand> ZipOperand for &T {
    type Elem = T::Elem;
    type Shape = T::Shape;
    type Device = T::Device;
    fn operand(&self) -> &Tensor<T::Elem, T::Shape, T::Device> {
        (**self).operand()
    }
}

/// What is zipped with a tensor of dtype `E`, shape `S` and device `D`: `&b`, `(&b, &c)` or `(&b, &c, &d)`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be zipped with a tensor: it is no tensor, nor a tuple of tensors",
    label = "expected `&b`, `(&b, &c)` or `(&b, &c, &d)`",
    note = "memory is borrowed as a tensor by `TensorView::from_slice(&v)`; a number is captured by the closure"
)]
pub trait ZipOperands<E: Element, S: Shape, D: Device>: Sealed {
    /// What the closure is called with: an element of the tensor and of each operand.
    type Items;
    /// The shape to which all broadcast.
    type Output: Shape;
    #[doc(hidden)]
    fn fresh<O: Element, C: Closure<Self::Items, O>>(
        &self,
        op: &'static str,
        x: &Tensor<E, S, D>,
        closure: C,
    ) -> Result<Tensor<O, Self::Output, D>>
    where
        D: HostClosures;
    #[doc(hidden)]
    fn update<C: Closure<Self::Items, E>>(&self, op: &'static str, x: &mut Tensor<E, S, D>, closure: C) -> Result<()>
    where
        D: HostClosures;
}

/// For `[P 0 Q 1] 4` it writes `impl ZipOperands for (P, Q)`; `4` places are those of the result, the tensor, and the operands.
macro_rules! zipped {
    ($([$($operand:ident $at:tt)*] $of:ty, $places:literal, $output:ty, [$($bounds:tt)*];)*) => {$(
        impl<E, S, D, $($operand),*> ZipOperands<E, S, D> for $of
        where
            E: Element,
            S: Shape,
            D: Device,
            $($operand: ZipOperand<Shape: SameDevice<D, $operand::Device>>,)*
            $($bounds)*
        {
            type Items = (E, $($operand::Elem,)*);
            type Output = $output;
            fn fresh<O: Element, C: Closure<Self::Items, O>>(
                &self,
                op: &'static str,
                x: &Tensor<E, S, D>,
                closure: C,
            ) -> Result<Tensor<O, $output, D>>
            where
                D: HostClosures,
            {
                let x = Operand::of(D::host(x));
                let all = [x, x $(, zipped!(@operand self $operand $at))*];
                // SAFETY: these are the elements of the items.
                let run = || unsafe { fresh::<$output, _, Self::Items, O, $places>(op, &all, closure) };
                recorded(op, all[1..].iter().map(|operand| operand.seen), bytes, run).map(D::from_host)
            }
            fn update<C: Closure<Self::Items, E>>(
                &self,
                op: &'static str,
                x: &mut Tensor<E, S, D>,
                closure: C,
            ) -> Result<()>
            where
                D: HostClosures,
            {
                let sizes = x.shape();
                let to = D::host_mut(x).elements_mut()?;
                let strides = to.strides;
                let start = to.buffer.start_mut::<E>().unwrap_or_else(|| unreachable!("`elements_mut` has made it unique"));
                let seen = Seen { dtype: E::DTYPE, sizes: sizes.as_ref(), strides };
                let x = Operand { seen, place: start.wrapping_add(to.offset).cast() };
                let all = [x, x $(, zipped!(@operand self $operand $at))*];
                // SAFETY: these are the elements of the items, and those of `x` are borrowed for writing.
                let run = || unsafe { update::<S, _, Self::Items, $places>(op, &all, sizes, closure) };
                recorded(op, all[1..].iter().map(|operand| operand.seen), |()| x.bytes(), run)
            }
        }
    )*};
    (@operand $this:ident $operand:ident alone) => {
        Operand::of(D::host(<$operand::Shape as SameDevice<D, $operand::Device>>::here($this.operand())))
    };
    (@operand $this:ident $operand:ident $at:tt) => {
        Operand::of(D::host(<$operand::Shape as SameDevice<D, $operand::Device>>::here($this.$at.operand())))
    };
}
/// The shape of two operands.
type Of<S, P> = <S as Broadcast<<P as ZipOperand>::Shape>>::Output;
zipped! {
    [] (), 2, S, [];
    [P alone] P, 3, Of<S, P>, [S: Broadcast<P::Shape>];
    [P 0 Q 1] (P, Q), 4, Of<Of<S, P>, Q>, [S: Broadcast<P::Shape>, Of<S, P>: Broadcast<Q::Shape>];
    [P 0 Q 1 R 2] (P, Q, R), 5, Of<Of<Of<S, P>, Q>, R>,
        [S: Broadcast<P::Shape>, Of<S, P>: Broadcast<Q::Shape>, Of<Of<S, P>, Q>: Broadcast<R::Shape>];
}

/// An operand of any dtype.
#[derive(Clone, Copy)]
struct Operand<'a> {
    seen: Seen<'a>,
    place: *mut u8,
}
impl<'a> Operand<'a> {
    /// The bytes of its elements.
    fn bytes(&self) -> usize {
        self.seen.sizes.iter().product::<usize>() * self.seen.dtype.itemsize()
    }
    fn of<E: Element, S: Shape>(x: &'a Tensor<E, S>) -> Self {
        Operand { seen: Seen::of(x), place: source(&x.elements()).cast_mut().cast() }
    }
}

/// The results of a closure as a new tensor. The first operand stands for the result, and is the same as the second.
///
/// # Safety
/// The operands but the first have elements of `I`.
unsafe fn fresh<T: Shape, C: Closure<I, O>, I: Items<N>, O: Element, const N: usize>(
    op: &'static str,
    all: &[Operand<'_>; N],
    closure: C,
) -> Result<Tensor<O, T>> {
    let places = all.each_ref().map(|operand| operand.place);
    let layouts = all.each_ref().map(|operand| (operand.seen.sizes, operand.seen.strides));
    if let Some((sizes, strides, len)) = strides::row_major_alike::<N, T>(layouts) {
        crate::tensor::checked_numel::<O>(op, sizes.as_ref())?;
        // SAFETY: the caller's promise; all operands have `len` contiguous elements.
        let storage = unsafe { closures::zip_line::<C, I, O, N>(len, places, closure) }?;
        return Ok(Tensor::whole(storage, sizes, strides, len));
    }
    let sizes = broadcast_all::<T, O>(op, &all.each_ref().map(|operand| operand.seen.sizes))?;
    let mut spread = [T::Sizes::filled(0); N];
    for (spread, operand) in spread.iter_mut().zip(all) {
        *spread = strides::broadcast(operand.seen.sizes, operand.seen.strides, &sizes);
    }
    let alike = all.iter().all(|operand| operand.seen.sizes == sizes.as_ref());
    spread[0] = strides::elementwise_result(&sizes, &spread[1..], alike);
    let all_strides = spread.each_ref().map(|strides| strides.as_ref());
    // SAFETY: the caller's promise; the strides of a new result are dense, and operands are broadcast.
    let storage = unsafe { closures::zip::<C, I, O, N>(sizes.as_ref(), all_strides, places, closure) }?;
    Ok(Tensor::from_parts(storage, 0, sizes, spread[0]))
}

/// The results of a closure, written into the first operand, which is also the second.
///
/// # Safety
/// As for [`fresh`]; the first may be written, no two of its positions are one.
unsafe fn update<S: Shape, C: Closure<I, I::First>, I: Items<N>, const N: usize>(
    op: &'static str,
    all: &[Operand<'_>; N],
    sizes: S::Sizes,
    closure: C,
) -> Result<()> {
    let mut spread = [S::Sizes::filled(0); N];
    for (spread, operand) in spread.iter_mut().zip(all) {
        expect_broadcast(op, operand.seen.sizes, sizes.as_ref())?;
        *spread = strides::broadcast(operand.seen.sizes, operand.seen.strides, &sizes);
    }
    let places = all.each_ref().map(|operand| operand.place);
    let all_strides = spread.each_ref().map(|strides| strides.as_ref());
    // SAFETY: the caller's promise; operands are broadcast.
    unsafe { closures::zip_in_place::<C, I, N>(sizes.as_ref(), all_strides, places, closure) };
    Ok(())
}
