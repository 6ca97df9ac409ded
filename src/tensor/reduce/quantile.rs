//! Quantiles: `quantile` and `nanquantile`, over everything and along an axis.
//!
//! As PyTorch computes them: lanes are sorted, and the rank of the quantile is computed in the dtype itself.
//! Source: `aten/src/ATen/native/Sorting.cpp`, `quantile_compute`.
//! Uses `index::gather`, `index::masked`, `base::operand`, `ops::choosing`, `ops`; used by `any`.

use crate::device::{Device, Receives};
use crate::dtype::scalar::Dimensioned;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result};
use crate::layout::strides;
use crate::ops::Op;
use crate::ops::admit::SameDtypeFor;
use crate::ops::arguments::{Indexing, Order, Sought};
use crate::ops::choosing::{self, WideFloatFor};
use crate::ops::kernel::Casting;
use crate::ops::pointwise::Lerping;
use crate::ops::reduce::CountNumbers;
use crate::shape::{Dim, IndexList, InsertAxis, OneAxis, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::base::operand::TensorOperand;
use crate::tensor::index::gather::{dense, elements, lifted};
use crate::tensor::index::masked::first;
use crate::tensor::reduce::rank::{Above, Below, Rank, Weight};
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;
use core::marker::PhantomData;

/// What a quantile between two elements is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// As far between them as its rank is.
    Linear,
    /// The lower one.
    Lower,
    /// The higher one.
    Higher,
    /// In the middle.
    Midpoint,
    /// The nearer one, the one of even rank if neither is.
    Nearest,
}

/// The quantile of each lane along an axis. `T` is the shape without it, or with size 1 in its place.
fn quantile_along<O: Op, E: Dtype, T: Shape, D: Device>(
    x: View<'_, D::Storage, E>,
    q: f64,
    axis: usize,
    how: Interpolation,
    ignores_nan: bool,
) -> Result<Tensor<E, T, D>> {
    let q = D::fill(Some(x.buffer), q, 1)?;
    let q = View::<_, f64>::new(&q, 0, &[1], &[1]);
    let (storage, mut sizes) = quantiles::<E, D>(O::NAME, x, q, axis, how, ignores_nan)?;
    if T::RANK < sizes.len() {
        sizes.remove(axis);
    }
    Ok(dense(storage, &sizes))
}

/// Several quantiles of each lane. `T` is the shape of one with their number in front.
fn quantiles_along<O: Op, E: Dtype, R, T: Shape, D: Device + Receives<R::Place, Dimensioned>>(
    x: View<'_, D::Storage, E>,
    q: &R,
    axis: usize,
    how: Interpolation,
    ignores_nan: bool,
) -> Result<Tensor<E, T, D>>
where
    R: TensorOperand,
{
    let q = elements::<R, D>(q)?.known_as::<E>();
    let count = [q.sizes.first().copied().unwrap_or(1)];
    let q = D::map1::<E, f64>(Casting, q.restrided(&count, &[q.strides.first().copied().unwrap_or(1)]), &[1])?;
    let q = View::<_, f64>::new(&q, 0, &count, &[1]);
    let (storage, sizes) = quantiles::<E, D>(O::NAME, x, q, axis, how, ignores_nan)?;
    // Moves the axis of quantiles to the front; with `keepdim` an axis of size 1 stays in its place.
    let strides = strides::row_major(&sizes);
    let (mut own, mut steps) = (vec![sizes[axis]], vec![strides[axis]]);
    for at in (0..sizes.len()).filter(|&at| at != axis || T::RANK > sizes.len()) {
        own.push(if at == axis { 1 } else { sizes[at] });
        steps.push(strides[at]);
    }
    own.truncate(T::RANK);
    steps.truncate(T::RANK);
    Ok(Tensor::from_parts(storage, 0, T::Sizes::copied(&own), T::Sizes::copied(&steps)))
}

/// The quantiles of each lane for a list of `q`, in place of the axis, and the sizes of the result.
pub(crate) fn quantiles<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    q: View<'_, D::Storage, f64>,
    axis: usize,
    how: Interpolation,
    ignores_nan: bool,
) -> Result<(D::Storage, Vec<usize>)> {
    if D::has(q, Sought::NoShare)? {
        let q = first::<f64, D>(q, Sought::NoShare)?;
        return Err(Error::InvalidArgument { op, reason: format!("q goes from 0 to 1, got {q}") });
    }
    let (mut sizes, strides) = lifted(&x);
    if checked_numel::<E>(op, &sizes)? == 0 {
        return Err(Error::EmptyReduction { op, sizes: x.sizes.into() });
    }
    let len = sizes[axis];
    let [sorted, _] = D::order(Order::Sort { descending: false }, x.restrided(&sizes, &strides), axis)?;
    let own = sizes.clone();
    let own_strides = strides::row_major(&own);
    let sorted = View::<_, E>::new(&sorted, 0, &own, &own_strides);
    let numbers = D::reduce(CountNumbers, sorted, 1 << axis)?;
    sizes[axis] = 1;
    let mut lane = strides::row_major(&sizes);
    sizes[axis] = q.sizes[0];
    checked_numel::<E>(op, &sizes)?;
    // Broadcast with stride 0: the count of a lane over its quantiles, a quantile over all lanes.
    lane[axis] = 0;
    let mut place = vec![0; sizes.len()];
    place[axis] = q.strides[0];
    let numbers = View::<_, i64>::new(&numbers, 0, &sizes, &lane);
    let q = q.restrided(&sizes, &place);
    let dense = strides::row_major(&sizes);
    let rank = Rank::<E> { len, ignores_nan, how, dtype: PhantomData };
    let indexing = Indexing { op, axis, wraps: false };
    let below = D::map2::<i64, f64, i64>(Below(rank), numbers, q, &dense)?;
    let low = D::gather(indexing, sorted, View::new(&below, 0, &sizes, &dense))?;
    if !matches!(how, Interpolation::Linear | Interpolation::Midpoint) {
        return Ok((low, sizes));
    }
    let above = D::map2::<i64, f64, i64>(Above(rank), numbers, q, &dense)?;
    let high = D::gather(indexing, sorted, View::new(&above, 0, &sizes, &dense))?;
    let weight = D::map2::<i64, f64, E>(Weight(rank), numbers, q, &dense)?;
    let view = |of| View::<_, E>::new(of, 0, &sizes, &dense);
    let between = D::map3::<E, E, E, E>(Lerping, view(&low), view(&high), view(&weight), &dense)?;
    Ok((between, sizes))
}

/// Writes the forms of a quantile.
macro_rules! quantiles {
    ($($ignores:literal $name:ident $axis:ident $each:ident $each_axis:ident, $nan:literal, $all:literal, $along:literal;)*) => {$(
        /// A quantile, over everything and along an axis.
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
                let flat = self.try_contiguous()?;
                let sizes = [self.numel()];
                let line = View::<_, E>::new(flat.storage(), flat.storage_offset(), &sizes, &[1]);
                quantile_along::<choosing::$name, E, (), D>(line, q, 0, interpolation, $ignores)
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
                let axis = A::MASK.trailing_zeros() as usize;
                quantile_along::<choosing::$name, E, _, D>(self.elements(), q, axis, interpolation, $ignores)
            }

            #[doc = concat!("Several of [`", stringify!($name), "`](Self::", stringify!($name), "): one for each element of `q`, a list.")]
            ///
            /// Shape: one axis, as long as `q`. Dtypes: `f32` and `f64`, `q` holding the same.
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
                let flat = self.try_contiguous()?;
                let sizes = [self.numel()];
                let line = View::<_, E>::new(flat.storage(), flat.storage_offset(), &sizes, &[1]);
                quantiles_along::<choosing::$name, E, R, (Q,), D>(line, &q, 0, interpolation, $ignores)
            }

            #[doc = concat!("Several of [`", stringify!($axis), "`](Self::", stringify!($axis), "): one for each element of `q`, a list.")]
            ///
            /// Shape: as there, with an axis in front that is as long as `q`. Dtypes: `f32` and `f64`, `q` holding the same.
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
                let axis = A::MASK.trailing_zeros() as usize;
                quantiles_along::<choosing::$name, E, R, _, D>(self.elements(), &q, axis, interpolation, $ignores)
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
