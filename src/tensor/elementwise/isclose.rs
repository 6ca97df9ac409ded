//! Closeness and equality of two tensors: `isclose`, `allclose`, `equal`.

use crate::device::{Device, Meet, Source};
use crate::dtype::{Castable as _, Dtype, Element};
use crate::error::{Error, Result, unwrap};
use crate::ops;
use crate::ops::admit::SameDtypeFor;
use crate::ops::close::{Closeness, ClosenessTo};
use crate::ops::kernel::{Combining, Map2};
use crate::ops::reduce::AnyAll;
use crate::ops::{Op as _, allclose, isclose};
use crate::shape::{Broadcast, ConvertTo, Shape, SizeArray};
use crate::tensor::base::operand::{OperandSource, TensorOperand};
use crate::tensor::elementwise::apply::{broadcast, map1, map2};
use crate::tensor::reduce::reductions::reduce;
use crate::tensor::{SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;

/// The comparison, for operands that the callers know to have one dtype.
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
    /// Whether elements differ by no more than `atol + rtol * abs(other)`. Infinities are close to themselves only; NaN is close to NaN if
    /// `equal_nan`.
    ///
    /// The other operand is a tensor of the same dtype; shapes broadcast. Dtypes: all computing dtypes. Result dtype: `bool`.
    ///
    /// PyTorch: `torch.isclose`, whose defaults are `rtol` 1e-5, `atol` 1e-8 and `equal_nan` false.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast.
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

    /// Whether all elements are close: `|a - b| <= 1e-8 + 1e-5 * |b|`. Equal infinities are close, NaN is close to nothing. Shapes do not
    /// broadcast. Dtypes: all computing dtypes, the same for both tensors.
    ///
    /// PyTorch: `torch.allclose`.
    ///
    /// # Panics
    /// If sizes known at run time differ, the tensors have no data or memory runs out; `try_allclose` returns the error.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert!(tensor![0.1, 0.2].allclose(&(tensor![1.0, 2.0] / 10.0)));
    /// ```
    #[track_caller]
    pub fn allclose<F: Dtype, T, X: Device>(&self, other: &Tensor<F, T, X>) -> bool
    where
        E: Dtype,
        T: Shape + ConvertTo<S> + SameDevice<D, X> + SameDtype<E, F, allclose>,
    {
        unwrap(self.try_allclose(other, 1e-5, 1e-8))
    }

    /// [`allclose`](Self::allclose) with other tolerances: `|a - b| <= atol + rtol * |b|`.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert!(tensor![100.0, 200.0].allclose_with(&tensor![101.0, 199.0], 0.0, 1.0));
    /// ```
    #[track_caller]
    pub fn allclose_with<F: Dtype, T, X: Device>(&self, other: &Tensor<F, T, X>, rtol: f64, atol: f64) -> bool
    where
        E: Dtype,
        T: Shape + ConvertTo<S> + SameDevice<D, X> + SameDtype<E, F, allclose>,
    {
        unwrap(self.try_allclose(other, rtol, atol))
    }

    /// [`allclose_with`](Self::allclose_with), returning the error.
    ///
    /// # Errors
    /// If sizes known at run time differ, the tensors have no data or memory runs out.
    #[cfg_attr(doc, doc(hidden))]
    pub fn try_allclose<F: Dtype, T, X: Device>(&self, other: &Tensor<F, T, X>, rtol: f64, atol: f64) -> Result<bool>
    where
        E: Dtype,
        T: Shape + ConvertTo<S> + SameDevice<D, X> + SameDtype<E, F, allclose>,
    {
        let other = T::alike(T::here(other));
        if self.shape().as_ref() != other.shape().as_ref() {
            let (result, output) = (self.shape().as_ref().into(), other.shape().as_ref().into());
            return Err(Error::Output { op: "allclose", result, output });
        }
        self.holds_everywhere(other, Closeness { rtol, atol, equal_nan: false })
    }

    /// Whether `kernel` is true for all pairs of elements of two tensors with the same sizes.
    fn holds_everywhere<F: Dtype, R: Shape>(
        &self,
        other: &Tensor<F, R, D>,
        kernel: impl Map2<E, F, bool>,
    ) -> Result<bool>
    where
        E: Dtype,
    {
        let holds: Tensor<bool, S, D> =
            map2::<E, F, S, D, bool>(kernel, self.elements(), other.elements(), self.shape(), [E::DTYPE, F::DTYPE])?;
        let all: Tensor<bool, (), D> =
            reduce::<ops::reduce::all, _, bool, S, (), D>(AnyAll::ALL, &holds, u32::MAX, false)?;
        D::peek(all.elements())
    }

    /// Whether both have one shape and equal elements: NaN equals nothing, and dtypes promote.
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
        self.holds_everywhere(other, Combining::<ops::eq, E::With<F>>::new())
    }
}
