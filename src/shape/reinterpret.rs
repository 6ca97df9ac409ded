//! The shapes of tensors whose bytes are reinterpreted as another dtype.

use super::arithmetic::DivideExactly;
use super::dim::{Dim, Known, SameDim};
use super::numeral::{D1, D2, D4, D6, D8};
use super::{Dimensional, HasAxis, Shape};
use crate::dtype::shell::*;
use crate::dtype::table::types_of;
use crate::dtype::{Complex, bf16, f16};
use crate::sealed::Sealed;

/// The bytes per element, as a dimension.
pub trait ItemSize: Sealed {
    /// The number of bytes.
    type Dim: Known;
}
macro_rules! item_sizes {
    ($($bytes:ty: $($element:ty),+;)*) => {$($(
        impl ItemSize for $element {
            type Dim = $bytes;
        }
    )+)*};
}
item_sizes! {
    D1: bool, u8, i8;
    D2: i16, u16, f16, bf16;
    D4: i32, u32, f32, Complex<f16>;
    D8: i64, u64, f64, Complex<f32>;
    D1<D6>: Complex<f64>;
}
macro_rules! bytes {
    ($($element:ty),*) => { item_sizes! { D1: $($element),*; } };
}
types_of!(shell_bytes bytes);

/// The elements `E` of a tensor of this shape can be reinterpreted as elements `F`: the bytes along the last axis are a multiple of `F`'s
/// size.
#[diagnostic::on_unimplemented(
    message = "elements `{E}` of a tensor of shape `{Self}` can't be seen as `{F}`",
    label = "the bytes along the last axis must make whole elements",
    note = "a zero-dim tensor is seen as elements of the same size only; `.to::<{F}>()` converts the values"
)]
pub trait ViewedAs<E, F>: Sealed {
    /// The shape with the last axis scaled by the ratio of the element sizes.
    type Output: Shape;
}
/// Number of bytes along the last axis.
type LastBytes<S, E> = <<<S as HasAxis<-1>>::Dim as Dim>::Unnamed as Dim>::Times<<E as ItemSize>::Dim>;
#[diagnostic::do_not_recommend]
impl<E: ItemSize, F: ItemSize, S: Dimensional, Len> ViewedAs<E, F> for S
where
    LastBytes<S, E>: DivideExactly<F::Dim, Output = Len>,
    Len: Dim,
{
    type Output = <S as HasAxis<-1>>::Replace<Len>;
}
#[diagnostic::do_not_recommend]
impl<E: ItemSize, F: ItemSize> ViewedAs<E, F> for ()
where
    E::Dim: SameDim<F::Dim>,
{
    type Output = ();
}

/// The size of an axis of real and imaginary parts: 2.
#[diagnostic::on_unimplemented(
    message = "`view_as_complex` takes a last axis of size 2, not of `{Self}`",
    label = "the last axis must hold the real and the imaginary part of each number"
)]
pub trait RealAndImaginary {}
#[diagnostic::do_not_recommend]
impl<D: Dim> RealAndImaginary for D where D::Unnamed: SameDim<D2> {}
