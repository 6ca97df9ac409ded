//! Operations along one axis that keep it, written from their table (`ops::scan`): `cumsum`, `softmax`, … ; `cummax` and `cummin`; and
//! `diff`.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops;
use crate::ops::admit::OrderedFor;
use crate::ops::kernel::{LaneKernel, Map2};
use crate::ops::rules::admit::bound_of_one;
use crate::ops::scan::kernels::*;
use crate::ops::scan::scan_table;
use crate::shape::{AxisArg, HasAxis, Shape};
use crate::tensor::Tensor;
use crate::tensor::elementwise::apply::map2;
use castiron_macros::fallible;

/// Writes the method of each row.
macro_rules! scans {
    ($($op:ident { $admits:ident $result:ident, $kernel:expr, $doc:literal, $torch:literal, $operand:literal axis $at:literal = $elements:literal, $($run_time:tt)* })*) => {
        /// Along one axis.
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(bound_of_one! { $admits, ops::scan::$op, scans { @result $result { $op, $kernel, $doc, $torch,
                concat!("assert_eq!(", $operand, ".", stringify!($op), "(axis![", $at, "]).to_string(), tensor!", $elements, ".to_string());")
            } } })*
        }
    };
    (@result same { $($row:tt)* } [$($bound:tt)+]) => { scans! { @method $($row)*, [$($bound)+] E } };
    (@result sum { $($row:tt)* } [$($bound:tt)+]) => { scans! { @method $($row)*, <O> [Dtype<Sum = O>] O } };
    (@method $op:ident, $kernel:expr, $doc:literal, $torch:literal, $example:expr, $(<$o:ident>)? [$($bound:tt)+] $out:ty) => {
        #[doc = $doc]
        ///
        #[doc = concat!("PyTorch: `", $torch, "`.")]
        ///
        /// # Panics
        /// If memory runs out.
        ///
        /// ```
        /// use castiron::{axis, tensor};
        #[doc = $example]
        /// ```
        #[fallible]
        pub fn $op<const I: isize $(, $o: Dtype)?>(&self, axis: impl AxisArg<I>) -> Result<Tensor<$out, S, D>>
        where
            E: $($bound)+,
            S: HasAxis<I>,
        {
            along($kernel, self, <S as HasAxis<I>>::INDEX)
        }
    };
}
scan_table!(scans);

/// Runs a lane kernel along an axis.
pub(crate) fn along<E: Element, O: Element, S: Shape, D: Device>(
    kernel: impl LaneKernel<E, O>,
    x: &Tensor<E, S, D>,
    axis: usize,
) -> Result<Tensor<O, S, D>> {
    Ok(Tensor::dense(D::lanes(kernel, x.elements(), axis)?, x.shape()))
}

/// [`along`] for a kernel with two results.
pub(crate) fn along_both<E: Element, O: Element, P: Element, S: Shape, D: Device>(
    kernel: impl LaneKernel<E, (O, P)>,
    x: &Tensor<E, S, D>,
    axis: usize,
) -> Result<(Tensor<O, S, D>, Tensor<P, S, D>)> {
    let [first, second] = D::lanes_both(kernel, x.elements(), axis)?;
    Ok((Tensor::dense(first, x.shape()), Tensor::dense(second, x.shape())))
}

/// Writes `cummax` and `cummin`.
macro_rules! running_extremes {
    ($($max:literal $what:literal $name:ident, $example:literal;)*) => {$(
        #[doc = concat!("The ", $what, " element so far, and where it is.")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = concat!("The ", $what, " element so far along an axis, and where it is: values and `i64` indices. Of equals the last counts; once there is a NaN, the last NaN.")]
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "`.")]
            ///
            /// # Panics
            /// If memory runs out.
            ///
            /// ```
            /// use castiron::{axis, tensor};
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<const I: isize>(&self, axis: impl AxisArg<I>) -> Result<(Tensor<E, S, D>, Tensor<i64, S, D>)>
            where
                E: OrderedFor<ops::scan::$name>,
                S: HasAxis<I>,
            {
                along_both(RunningExtreme::<$max>, self, <S as HasAxis<I>>::INDEX)
            }
        }
    )*};
}
running_extremes! {
    true "largest" cummax,
        "let (values, indices) = tensor![1, 3, 2, 3].cummax(axis![0]);\nassert_eq!((values.to_vec(), indices.to_vec()), (vec![1, 3, 3, 3], vec![0, 1, 1, 3]));";
    false "smallest" cummin,
        "let (values, indices) = tensor![3, 1, 2, 1].cummin(axis![0]);\nassert_eq!((values.to_vec(), indices.to_vec()), (vec![3, 1, 1, 1], vec![0, 1, 1, 3]));";
}

/// `kernel(x[i + 1], x[i])` along an axis whose size is not in the shape type.
pub(crate) fn neighbours<E: Dtype, O: Dtype, T: Shape, D: Device>(
    kernel: impl Map2<E, E, O>,
    x: &Tensor<E, T, D>,
    axis: usize,
) -> Result<Tensor<O, T, D>> {
    let (mut sizes, strides) = (x.shape(), x.stride());
    let len = sizes.as_ref()[axis];
    sizes.as_mut()[axis] = len.saturating_sub(1);
    // An empty axis has no adjacent elements to compare.
    let step = if len > 1 { strides.as_ref()[axis] } else { 0 };
    let former = x.restrided::<T>(0, sizes, strides);
    let latter = x.restrided::<T>(step, sizes, strides);
    map2::<E, E, T, D, O>(kernel, latter.elements(), former.elements(), sizes, [E::DTYPE; 2])
}
