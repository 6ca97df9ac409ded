//! In-place operations on `TensorViewMut` that are in no table of operations: `clamp_`, `lerp_`, `masked_fill_`, `index_put_`.

use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{CanCast, Dtype, Element, Scalar};
use crate::error::Result;
use crate::ops::admit::{InexactFor, MaskFor, OrderedFor, SameDtypeFor};
use crate::ops::{self, choosing, pointwise};
use crate::shape::{Broadcast, PlacesIn, Shape, SplitAt, WrittenAt, WrittenTo};
use crate::tensor::base::operand::{Operand, TensorOperand};
use crate::tensor::elementwise::lerp::Blended;
use crate::tensor::elementwise::where_clamp::Clamped;
use crate::tensor::{SameDevice, Tensor, TensorViewMut, WeightOf};
use castiron_macros::fallible;

/// For `clamp_` it writes `clamp_` and `try_clamp_`.
macro_rules! in_place {
    ($($inplace:ident $try_inplace:ident [$($generics:tt)*] ($($arg:ident: $ty:ty),*) [$($bounds:tt)*])*) => {
        /// In-place operations.
        impl<E: Element, S: Shape, D: Device> TensorViewMut<'_, E, S, D> {$(
            #[doc = concat!("As `Tensor::", stringify!($inplace), "`, where the elements are.")]
            ///
            /// # Panics
            /// As there; nothing is written then.
            #[fallible]
            pub fn $inplace<$($generics)*>(&mut self, $($arg: $ty),*) -> Result<&mut Self>
            where
                $($bounds)*
            {
                self.target().$try_inplace($($arg),*)?;
                Ok(self)
            }
        )*}
    };
}
pub(crate) use in_place;
in_place! {
    clamp_ try_clamp_ [L: Scalar, H: Scalar] (low: L, high: H) [
        E: OrderedFor<ops::reduce::clamp>,
        L::Counts: OrderedFor<ops::reduce::clamp>,
        H::Counts: OrderedFor<ops::reduce::clamp>,
        Clamped<E, S, L, H>: CanCast<E>,
    ]
    lerp_ try_lerp_ [R: TensorOperand, W: WeightOf<E>] (end: R, weight: W) [
        E: InexactFor<pointwise::lerp> + SameDtypeFor<R::Elem, pointwise::lerp>,
        S: Broadcast<R::Shape>,
        <S as Broadcast<R::Shape>>::Output: Broadcast<W::Shape>,
        Blended<S, R, W>: WrittenTo<S>,
        D: Receives<R::Place, Dimensioned> + Receives<W::Place, W::Kind>,
    ]
    masked_fill_ try_masked_fill_ [M: TensorOperand, V: Operand<Shape = ()>] (mask: M, value: V) [
        E: Dtype,
        S: Broadcast<M::Shape>,
        <S as Broadcast<M::Shape>>::Output: WrittenTo<S>,
        M::Elem: MaskFor<choosing::masked_fill>,
        D: Receives<M::Place, Dimensioned> + Receives<V::Place, V::Kind>,
    ]
    masked_scatter_ try_masked_scatter_ [M: TensorOperand, R: TensorOperand] (mask: M, source: R) [
        E: Dtype + SameDtypeFor<R::Elem, choosing::masked_scatter>,
        S: Broadcast<M::Shape>,
        <S as Broadcast<M::Shape>>::Output: WrittenTo<S>,
        M::Elem: MaskFor<choosing::masked_scatter>,
        D: Receives<M::Place, Dimensioned> + Receives<R::Place, Dimensioned>,
    ]
    index_put_ try_index_put_ [const N: usize, T, R: TensorOperand, X: Device]
        (indices: [&Tensor<i64, T, X>; N], values: R, accumulate: bool) [
        E: Dtype + SameDtypeFor<R::Elem, choosing::index_put>,
        S: SplitAt<N>,
        T: PlacesIn<S, N> + SameDevice<D, X>,
        R::Shape: WrittenAt<<T as PlacesIn<S, N>>::Places>,
        D: Receives<R::Place, Dimensioned>,
    ]
}
