//! Medians: `median` and `nanmedian`, over everything and along an axis.
//! Uses `sort::sort_topk`, `ops`, `ops::admit`, `ops::arguments`; used by `any`.

use crate::device::Device;
use crate::dtype::{Castable, Element};
use crate::error::{Error, Result};
use crate::ops::Op;
use crate::ops::admit::RealFor;
use crate::ops::arguments::Order;
use crate::ops::choosing;
use crate::shape::{OneAxis, Shape, SizeArray};
use crate::storage::View;
use crate::tensor::Tensor;
use crate::tensor::sort::sort_topk::ranked;
use castiron_macros::fallible;

/// The median of all elements.
pub(crate) fn median_of_all<E: Element + Castable, S: Shape, D: Device>(
    op: &'static str,
    x: &Tensor<E, S, D>,
    ignores_nan: bool,
) -> Result<Tensor<E, (), D>> {
    if x.is_empty() && E::DTYPE.is_floating_point() {
        return Tensor::try_scalar(E::from_f64(f64::NAN));
    }
    let flat = x.try_contiguous()?;
    let sizes = [x.numel()];
    let line = View::<_, E>::new(flat.storage(), flat.storage_offset(), &sizes, &[1]);
    if x.is_empty() {
        return Err(Error::EmptyReduction { op, sizes: x.shape().as_ref().into() });
    }
    let [values, _] = D::order(Order::Median { ignores_nan }, line, 0)?;
    Ok(Tensor::dense(values, <() as Shape>::Sizes::filled(0)))
}

/// Writes the forms of a median.
macro_rules! medians {
    ($($ignores:literal $name:ident $axis:ident, $nan:literal, $all:literal, $along:literal;)*) => {$(
        /// A median, over everything and along an axis.
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = concat!("The element in the middle, the lower one of two, as a zero-dim tensor. ", $nan)]
            ///
            /// Dtypes: integers and floats. The median of no floats is NaN, that of no integers an error.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`.")]
            ///
            /// # Panics
            /// If there are no elements.
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            #[doc = $all]
            /// ```
            #[fallible]
            pub fn $name(&self) -> Result<Tensor<E, (), D>>
            where
                E: RealFor<choosing::$name>,
            {
                median_of_all::<E, S, D>(choosing::$name::NAME, self, $ignores)
            }

            #[doc = concat!("The elements in the middle along an axis, the lower one of two, and where they are. ", $nan)]
            ///
            /// Shape: that of `self` without the axis, twice. Dtypes: integers and floats; the indices are `i64`.
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "(dim=…)`.")]
            ///
            /// # Panics
            /// If the axis is empty.
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            #[doc = $along]
            /// ```
            #[fallible]
            pub fn $axis<A: OneAxis<S, Reduced = T>, T: Shape>(&self, axis: A) -> Result<(Tensor<E, T, D>, Tensor<i64, T, D>)>
            where
                E: RealFor<choosing::$name>,
            {
                let order = Order::Median { ignores_nan: $ignores };
                ranked::<E, S, _, D>(choosing::$name::NAME, self, order, A::MASK.trailing_zeros() as usize)
            }
        }
    )*};
}
medians! {
    false median median_axis, "NaN if there is one.",
        "assert_eq!(tensor![[4, 1], [3, 2]].median().item(), 2);",
        "let (values, indices) = tensor![[3, 7, 5], [1, 1, 2]].median_axis(axis![1]);\nassert_eq!(values.to_vec(), [5, 1]);\nassert_eq!(indices.to_vec(), [2, 1]);";
    true nanmedian nanmedian_axis, "NaN does not count, unless there is nothing else.",
        "assert_eq!(tensor![4.0, f32::NAN, 3.0].nanmedian().item(), 3.0);",
        "let (values, _) = tensor![[3.0, f32::NAN, 5.0], [1.0, 1.5, 2.0]].nanmedian_axis(axis![1]);\nassert_eq!(values.to_vec(), [3.0, 1.5]);";
}
