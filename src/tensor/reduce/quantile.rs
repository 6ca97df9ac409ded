//! Quantiles: `quantile` and `nanquantile`, over all elements and along an axis.

use crate::composite::statistics::quantile::Quantiles;
use crate::composite::{Axis, Erased, Owned};
use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::layout::dims::Dims;
use crate::ops::admit::SameDtypeFor;
use crate::ops::choosing::{self, WideFloatFor};
use crate::shape::{Dim, IndexList, InsertAxis, OneAxis, Shape};
use crate::tensor::Tensor;
use crate::tensor::base::operand::{TensorOperand, elements_of};
use castiron_macros::fallible;

/// The value of a quantile between two elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interpolation {
    /// Linear interpolation.
    Linear,
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
    /// The mean of both.
    Midpoint,
    /// The nearer one; if both are equally near, the one of even rank.
    Nearest,
}

/// A list of probabilities as `f64`.
fn shares<E: Dtype, R: TensorOperand, D: Device + Receives<R::Place, Dimensioned>>(q: &R) -> Result<Owned<f64, D>> {
    let list = Erased::<E, D>::of(elements_of::<E, D, R>(q)?);
    Ok(list.lifted("quantile")?.to::<f64>("quantile")?.share())
}

fn along<S: Shape, A: OneAxis<S>>() -> Option<Axis> {
    Some(Axis(A::MASK.trailing_zeros() as usize))
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    fn share_of(&self, q: f64) -> Result<Owned<f64, D>> {
        Ok(Erased::dense(D::fill(Some(self.elements().buffer), q, 1)?, Dims::known(&[])))
    }
}

/// Writes the forms of a quantile.
macro_rules! quantiles {
    ($($ignores:literal $name:ident $axis:ident $each:ident $each_axis:ident, $nan:literal, $all:literal, $along:literal;)*) => {$(
        /// A quantile, over all elements and along an axis.
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = concat!("The element that a share `q` of all elements is below, as a zero-dim tensor. ", $nan)]
            ///
            /// Dtypes: `f32` and `f64`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`.")]
            ///
            /// # Panics
            /// If `q` is not between 0 and 1 or there are no elements.
            ///
            /// ```
            /// # use castiron::{axis, tensor, Interpolation};
            #[doc = $all]
            /// ```
            #[fallible]
            pub fn $name(&self, q: f64, interpolation: Interpolation) -> Result<Tensor<E, (), D>>
            where
                E: WideFloatFor<choosing::$name>,
            {
                let found = Quantiles { op: stringify!($name), how: interpolation, ignores_nan: $ignores };
                self.erased().quantiles(found, &self.share_of(q)?, None, false)?.typed(found.op)
            }

            #[doc = concat!("The element of each lane along an axis that a share `q` of the lane is below. ", $nan)]
            ///
            /// Shape: that of `self` without the axis. Dtypes: `f32` and `f64`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`, with `dim` and `keepdim`.")]
            ///
            /// # Panics
            /// If `q` is not between 0 and 1 or there are no elements.
            ///
            /// ```
            /// # use castiron::{axis, tensor, Interpolation};
            #[doc = $along]
            /// ```
            #[fallible]
            pub fn $axis<A: OneAxis<S, Reduced = T>, T: Shape>(&self, axis: A, q: f64, interpolation: Interpolation) -> Result<Tensor<E, T, D>>
            where
                E: WideFloatFor<choosing::$name>,
            {
                let found = Quantiles { op: stringify!($name), how: interpolation, ignores_nan: $ignores };
                let _ = axis;
                self.erased().quantiles(found, &self.share_of(q)?, along::<S, A>(), A::KEEPS)?.typed(found.op)
            }

            #[doc = concat!("Several of [`", stringify!($name), "`](Self::", stringify!($name), "): one for each element of `q`, a list.")]
            ///
            /// Shape: one axis, as long as `q`. Dtypes: `f32` and `f64`, the same for `q`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "` with a tensor `q`.")]
            ///
            /// # Panics
            /// As there.
            ///
            /// ```
            /// # use castiron::{tensor, Interpolation};
            #[doc = concat!("let x = tensor![5.0, 1.0, 4.0, 2.0, 3.0];\nassert_eq!(x.", stringify!($each), "(tensor![0.0, 0.25, 1.0], Interpolation::Linear).to_vec(), [1.0, 2.0, 5.0]);")]
            /// ```
            #[fallible]
            pub fn $each<R: TensorOperand, Q: Dim>(&self, q: R, interpolation: Interpolation) -> Result<Tensor<E, (Q,), D>>
            where
                E: WideFloatFor<choosing::$name> + SameDtypeFor<R::Elem, choosing::$name>,
                R::Shape: IndexList<Dim = Q>,
                D: Receives<R::Place, Dimensioned>,
            {
                let found = Quantiles { op: stringify!($name), how: interpolation, ignores_nan: $ignores };
                self.erased().quantiles(found, &shares::<E, R, D>(&q)?, None, false)?.typed(found.op)
            }

            #[doc = concat!("Several of [`", stringify!($axis), "`](Self::", stringify!($axis), "): one for each element of `q`, a list.")]
            ///
            /// Shape: as of one quantile, with an axis in front that is as long as `q`. Dtypes: `f32` and `f64`, the same for `q`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "` with a tensor `q`, `dim` and `keepdim`.")]
            ///
            /// # Panics
            /// As there.
            ///
            /// ```
            /// # use castiron::{axis, tensor, Interpolation};
            #[doc = concat!("let x = tensor![[1.0, 2.0], [3.0, 6.0]];\nassert_eq!(x.", stringify!($each_axis), "(axis![1], tensor![0.0, 0.5], Interpolation::Linear).to_vec(), [1.0, 3.0, 1.5, 4.5]);")]
            /// ```
            #[fallible]
            pub fn $each_axis<R: TensorOperand, Q: Dim, A: OneAxis<S, Reduced = T>, T>(
                &self,
                axis: A,
                q: R,
                interpolation: Interpolation,
            ) -> Result<Tensor<E, <T as InsertAxis<0>>::Inserted<Q>, D>>
            where
                E: WideFloatFor<choosing::$name> + SameDtypeFor<R::Elem, choosing::$name>,
                R::Shape: IndexList<Dim = Q>,
                T: Shape + InsertAxis<0>,
                D: Receives<R::Place, Dimensioned>,
            {
                let found = Quantiles { op: stringify!($name), how: interpolation, ignores_nan: $ignores };
                let _ = axis;
                self.erased().quantiles(found, &shares::<E, R, D>(&q)?, along::<S, A>(), A::KEEPS)?.typed(found.op)
            }
        }
    )*};
}
quantiles! {
    false quantile quantile_axis quantiles quantiles_axis,
        "NaN if there is one.",
        "assert_eq!(tensor![4.0, 1.0, 3.0, 2.0].quantile(0.5, Interpolation::Linear).item(), 2.5);",
        "let x = tensor![[4.0, 1.0, 3.0], [0.0, 0.0, 5.0]];\nassert_eq!(x.quantile_axis(axis![1], 0.75, Interpolation::Higher).to_vec(), [4.0, 5.0]);";
    true nanquantile nanquantile_axis nanquantiles nanquantiles_axis,
        "NaN does not count, unless there is nothing else.",
        "assert_eq!(tensor![4.0, f32::NAN, 3.0].nanquantile(0.5, Interpolation::Linear).item(), 3.5);",
        "let x = tensor![[4.0, f32::NAN, 3.0], [0.0, 0.0, 5.0]];\nassert_eq!(x.nanquantile_axis(axis![1], 1.0, Interpolation::Nearest).to_vec(), [4.0, 5.0]);";
}
