//! Closeness of two tensors.
//! Uses `elementwise::apply`, `base::operand`, `reduce::reductions`, `ops::admit`.

use crate::device::{Device, Meet, Source};
use crate::dtype::{Castable as _, Dtype, Element};
use crate::error::Result;
use crate::ops;
use crate::ops::admit::SameDtypeFor;
use crate::ops::close::{Closeness, ClosenessTo};
use crate::ops::kernel::Combining;
use crate::ops::reduce::AnyAll;
use crate::ops::{Op as _, isclose};
use crate::shape::{Broadcast, Shape, SizeArray};
use crate::tensor::base::operand::{OperandSource, TensorOperand};
use crate::tensor::elementwise::apply::{broadcast, map1, map2};
use crate::tensor::reduce::reductions::reduce;
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;

/// The comparison, for operands whose dtypes the callers know to be one.
fn compare_within<E, S, D, R, T, X>(lhs: &Tensor<E, S, D>, rhs: &R, closeness: Closeness) -> Result<Tensor<bool, T, X>>
where
    E: Dtype,
    S: Shape + Broadcast<R::Shape, Output = T>,
    D: Device + Meet<R::Place, S::Kind, R::Kind, Output = X>,
    R: TensorOperand,
    T: Shape,
    X: Device,
{
    let left = <D as Meet<R::Place, S::Kind, R::Kind>>::left(lhs.elements())?;
    let OperandSource::View(right) = rhs.source() else { unreachable!("the operand is a tensor") };
    let right = <D as Meet<R::Place, S::Kind, R::Kind>>::right(right)?;
    match (left, right) {
        (Source::View(left), Source::View(right)) => {
            let sizes = broadcast::<T, bool>(isclose::NAME, left.sizes, right.sizes)?;
            map2::<_, _, T, X, _>(closeness, left, right, sizes, [E::DTYPE; 2])
        }
        (Source::View(left), Source::Value(value)) => {
            let kernel = ClosenessTo { closeness, value: value.cast::<E>(), value_is_left: false };
            let sizes = T::Sizes::copied(left.sizes);
            map1::<_, T, X, _>(kernel, left, sizes, E::DTYPE)
        }
        (Source::Value(value), Source::View(right)) => {
            let kernel = ClosenessTo { closeness, value: value.cast::<E>(), value_is_left: true };
            let sizes = T::Sizes::copied(right.sizes);
            map1::<_, T, X, _>(kernel, right, sizes, E::DTYPE)
        }
        (Source::Value(_), Source::Value(_)) => unreachable!("one of two operands is where the result is"),
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Whether elements differ by no more than `atol + rtol * abs(other)`. Infinities are close to themselves only; NaN is
    /// close to NaN if `equal_nan` says so.
    ///
    /// The other operand is a tensor of the same dtype; shapes broadcast. Dtypes: all computing dtypes. Result dtype: `bool`.
    ///
    /// PyTorch: `torch.isclose`, whose defaults are `rtol` 1e-5, `atol` 1e-8 and `equal_nan` false.
    ///
    /// # Panics
    /// Where sizes known at run time do not broadcast.
    ///
    /// ```
    /// use castiron::tensor;
    /// let close = tensor![1.0, 2.0].isclose(tensor![1.000001, 2.1], 1e-5, 1e-8, false);
    /// assert_eq!(close.to_vec(), [true, false]);
    /// ```
    #[fallible]
    pub fn isclose<R: TensorOperand>(
        &self,
        other: R,
        rtol: f64,
        atol: f64,
        equal_nan: bool,
    ) -> Result<Tensor<bool, <S as Broadcast<R::Shape>>::Output, <D as Meet<R::Place, S::Kind, R::Kind>>::Output>>
    where
        E: Dtype + SameDtypeFor<R::Elem, isclose>,
        S: Broadcast<R::Shape>,
        D: Meet<R::Place, S::Kind, R::Kind>,
    {
        compare_within(self, &other, Closeness { rtol, atol, equal_nan })
    }

    /// Whether the two have one shape and equal elements: NaN equals nothing, and dtypes promote.
    ///
    /// PyTorch: `torch.equal`.
    ///
    /// # Panics
    /// If the tensors have no data or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert!(tensor![1, 2].equal(&tensor![1.0, 2.0]));
    /// assert!(!tensor![1, 2].equal(&tensor![[1, 2]]));
    /// ```
    #[fallible]
    pub fn equal<F: Dtype, R, X: Device>(&self, other: &Tensor<F, R, X>) -> Result<bool>
    where
        E: Dtype,
        R: Shape + SameDevice<D, X>,
    {
        let other = R::here(other);
        if self.shape().as_ref() != other.shape().as_ref() {
            return Ok(false);
        }
        let sizes = self.shape();
        let kernel = Combining::<ops::eq, E::With<F>>::new();
        let equal: Tensor<bool, S, D> =
            map2::<E, F, S, D, bool>(kernel, self.elements(), other.elements(), sizes, [E::DTYPE, F::DTYPE])?;
        let all: Tensor<bool, (), D> =
            reduce::<ops::reduce::all, _, bool, S, (), D>(AnyAll::ALL, &equal, u32::MAX, false)?;
        D::peek(all.elements())
    }
}
