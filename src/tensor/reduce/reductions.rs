//! Reductions: `sum`, `mean`, `max` and others, over the whole tensor, one axis or several.
//!
//! `x.sum()` reduces all elements to a zero-dim tensor; `x.sum_axis(axis![0, 2])` reduces axes, which the compiler checks against the rank;
//! `.keepdim()` on the axes keeps them with size 1.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, unwrap};
use crate::ops::admit::{OrderedFor, RealFor};
use crate::ops::reduce::reducers::*;
use crate::ops::reduce::{LogSumExp, Reducer, TwoResults, reduction_table};
use crate::ops::rules::admit::bound_of_one;
use crate::ops::{self, Op};
use crate::shape::{Axes, OneAxis, Shape, SizeArray};
use crate::tensor::Tensor;
use crate::tensor::lazy::{Lazy, Node};
use castiron_macros::fallible;

/// All axes.
const ALL: u32 = u32::MAX;

/// Reduces over the axes of `mask` to a tensor of shape `T`.
pub(crate) fn reduce<O: Op, R: Reducer<E>, E: Element, S: Shape, T: Shape, D: Device>(
    reducer: R,
    x: &Tensor<E, S, D>,
    mask: u32,
    keeps: bool,
) -> Result<Tensor<R::Out, T, D>> {
    reduce_by::<O, R, E, T, D>(reducer, x.shape().as_ref(), mask, keeps, |reducer| {
        D::reduce(reducer, x.elements(), mask)
    })
}

/// [`reduce`] for reductions with two results.
pub(crate) fn reduce_both<O: Op, R: TwoResults<E>, E: Element, S: Shape, T: Shape, D: Device>(
    reducer: R,
    x: &Tensor<E, S, D>,
    mask: u32,
    keeps: bool,
) -> Result<(Tensor<R::Out, T, D>, Tensor<R::Second, T, D>)> {
    let kept = kept::<O, R, E, T>(reducer, x.shape().as_ref(), mask, keeps)?;
    let [first, second] = D::reduce_both(reducer, x.elements(), mask)?;
    Ok((Tensor::dense(first, kept), Tensor::dense(second, kept)))
}

/// Checks the sizes of a reduction and runs it.
pub(crate) fn reduce_by<O: Op, R: Reducer<E>, E: Copy, T: Shape, D: Device>(
    reducer: R,
    sizes: &[usize],
    mask: u32,
    keeps: bool,
    run: impl FnOnce(R) -> Result<D::Storage>,
) -> Result<Tensor<R::Out, T, D>> {
    let kept = kept::<O, R, E, T>(reducer, sizes, mask, keeps)?;
    Ok(Tensor::dense(run(reducer)?, kept))
}

/// The sizes of the results, or an error if they need an element and there is none.
pub(crate) fn kept<O: Op, R: Reducer<E>, E: Copy, T: Shape>(
    reducer: R,
    sizes: &[usize],
    mask: u32,
    keeps: bool,
) -> Result<T::Sizes> {
    let mut kept = T::Sizes::filled(1);
    keep(O::NAME, reducer.has_identity(), sizes, mask, keeps, kept.as_mut())?;
    Ok(kept)
}
pub(crate) fn keep(
    op: &'static str,
    has_identity: bool,
    sizes: &[usize],
    mask: u32,
    keeps: bool,
    kept: &mut [usize],
) -> Result<()> {
    let reduced = |axis: &usize| mask >> axis & 1 == 1;
    if !has_identity && (0..sizes.len()).filter(reduced).any(|axis| sizes[axis] == 0) {
        return Err(Error::EmptyReduction { op, sizes: sizes.into() });
    }
    let axes = (0..sizes.len()).filter(|axis| keeps || !reduced(axis));
    for (kept, axis) in kept.iter_mut().zip(axes) {
        *kept = if reduced(&axis) { 1 } else { sizes[axis] };
    }
    Ok(())
}

/// Writes both forms of each row of the table: over all elements and over axes. They are methods of every tensor, and the rule of admission
/// is a condition of the method, so that the compiler reports the failed condition instead of a missing method. (Of shell dtypes
/// some are functions, in `shells`.)
macro_rules! reductions {
    ($($op:ident { $axis:ident $admits:ident $result:ident ($($parameter:ident: $ty:ty),*), $reducer:expr, $doc:literal, $torch:literal,
       $operand:literal $(($arguments:literal))? = $all:literal axis $at:literal = $along:literal, $($run_time:tt)* })*) => {$(
        bound_of_one! { $admits, ops::reduce::$op, reductions { @result $result {
            $op $axis ($($parameter: $ty),*) $reducer, $doc, $torch,
            concat!("assert_eq!(", $operand, ".", stringify!($op), "(" $(, $arguments)?, ").item(), ", $all, ");"),
            concat!("assert_eq!(", $operand, ".", stringify!($axis), "(axis![", $at, "]" $(, ", ", $arguments)?, ").to_vec(), ", $along, ");")
        } } }
    )*};
    (@result same { $($row:tt)* } [$($bound:tt)+]) => { reductions! { @methods $($row)*, [$($bound)+] E } };
    (@result sum { $($row:tt)* } [$($bound:tt)+]) => { reductions! { @methods $($row)*, <O> [$($bound)+ + Dtype<Sum = O>] O } };
    (@result real { $($row:tt)* } [$($bound:tt)+]) => { reductions! { @methods $($row)*, <O> [$($bound)+ + Dtype<RealDtype = O>] O } };
    (@result $dtype:ident { $($row:tt)* } [$($bound:tt)+]) => { reductions! { @methods $($row)*, [$($bound)+] $dtype } };
    (@methods $op:ident $axis:ident ($($parameter:ident: $ty:ty),*) $reducer:expr, $doc:literal, $torch:literal, $all:expr, $along:expr,
        $(<$o:ident>)? [$($bound:tt)+] $out:ty) => {
        #[doc = concat!("[`", stringify!($op), "`](Tensor::", stringify!($op), ") over everything and over axes.")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = $doc]
            ///
            #[doc = concat!("Over all elements, to a zero-dim tensor; along an axis it is `x.", stringify!($axis), "(axis![0])`.")]
            ///
            #[doc = concat!("PyTorch: `", $torch, "`.")]
            ///
            /// # Panics
            /// If memory runs out, or there are no elements and the operation has no identity.
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            #[doc = $all]
            /// ```
            #[fallible]
            pub fn $op$(<$o: Dtype>)?(&self $(, $parameter: $ty)*) -> Result<Tensor<$out, (), D>>
            where
                E: Dtype + $($bound)+,
            {
                reduce::<ops::reduce::$op, _, E, S, (), D>($reducer, self, ALL, false)
            }

            #[doc = $doc]
            ///
            /// Reduces the given axes, which are removed, or kept with size 1 by `.keepdim()`.
            ///
            #[doc = concat!("PyTorch: `", $torch, "`, with `dim` and `keepdim`.")]
            ///
            /// # Panics
            /// If memory runs out, or there are no elements and the operation has no identity.
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            #[doc = $along]
            /// ```
            #[fallible]
            pub fn $axis<A: Axes<S> $(, $o: Dtype)?>(&self, axes: A $(, $parameter: $ty)*) -> Result<Tensor<$out, A::Reduced, D>>
            where
                E: Dtype + $($bound)+,
            {
                reduce::<ops::reduce::$op, _, E, S, A::Reduced, D>($reducer, self, A::MASK, A::KEEPS)
            }
        }

        /// The same reductions of a lazy expression, which is computed in the same pass.
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
            #[doc = concat!("As [`Tensor::", stringify!($op), "`], without a tensor of the elements.")]
            #[fallible]
            pub fn $op$(<$o: Dtype>)?(self $(, $parameter: $ty)*) -> Result<Tensor<$out, (), D>>
            where
                E: $($bound)+,
            {
                self.reduce::<ops::reduce::$op, _, _>($reducer, ALL, false)
            }

            #[doc = concat!("As [`Tensor::", stringify!($axis), "`], without a tensor of the elements.")]
            #[fallible]
            pub fn $axis<A: Axes<S> $(, $o: Dtype)?>(self, axes: A $(, $parameter: $ty)*) -> Result<Tensor<$out, A::Reduced, D>>
            where
                E: $($bound)+,
            {
                self.reduce::<ops::reduce::$op, _, _>($reducer, A::MASK, A::KEEPS)
            }
        }
    };
}
reduction_table!(reductions);

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The logarithm of the sum of exponentials over axes (`torch.logsumexp`). Integers and bools give `f32`. Computed
    /// without overflow.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![[1000.0, 0.0], [5.0, -1000.0]].logsumexp(axis![1]).to_vec(), [1000.0, 5.0]);
    /// ```
    #[fallible]
    pub fn logsumexp<A: Axes<S>, O: Dtype>(&self, axes: A) -> Result<Tensor<O, A::Reduced, D>>
    where
        E: Dtype<Inexact = O>,
    {
        reduce::<ops::reduce::logsumexp, _, E, S, A::Reduced, D>(LogSumExp, self, A::MASK, A::KEEPS)
    }
}

/// Writes `max`, `argmax` and their forms, or those of the minimum.
macro_rules! extremes {
    ($($max:literal $what:literal $name:ident $axis:ident $amax:ident
       $arg:ident $arg_axis:ident, $all:literal, $along:literal, $at:literal, $at_along:literal;)*) => {$(
        #[doc = concat!("The ", $what, " element and where it is.")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = concat!("The ", $what, " element, as a zero-dim tensor; NaN if there is one. Along an axis it is `x.", stringify!($axis), "(axis![0])`; of two tensors, element by element, ")]
            /// [`maximum`](Self::maximum) and [`minimum`](Self::minimum); of each element and a number `clamp_min` and `clamp_max`.
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
                E: OrderedFor<ops::reduce::$name>,
            {
                reduce::<ops::reduce::$name, _, E, S, (), D>(Extreme::<E, $max>::new(), self, ALL, false)
            }

            #[doc = concat!("The ", $what, " elements along an axis and where they are: values and `i64` indices. Of equals the first counts; NaN is more extreme than any number.")]
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($name), "(dim=…)`. For the values alone, or over several axes, use [`", stringify!($amax), "_axis`](Self::", stringify!($amax), "_axis).")]
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
                E: OrderedFor<ops::reduce::$name>,
            {
                let reducer = ArgExtreme::<E, $max>::new();
                let (indices, values) = reduce_both::<ops::reduce::$name, _, E, S, A::Reduced, D>(reducer, self, A::MASK, A::KEEPS)?;
                Ok((values, indices))
            }

            #[doc = concat!("Where the ", $what, " element is, counted in row-major order, as a zero-dim `i64` tensor. Of equals the first counts; NaN is more extreme than any number.")]
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($arg), "`.")]
            ///
            /// # Panics
            /// If there are no elements.
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            #[doc = $at]
            /// ```
            #[fallible]
            pub fn $arg(&self) -> Result<Tensor<i64, (), D>>
            where
                E: RealFor<ops::reduce::$arg>,
            {
                reduce::<ops::reduce::$arg, _, E, S, (), D>(ArgExtreme::<E, $max>::new(), self, ALL, false)
            }

            #[doc = concat!("Where the ", $what, " elements along an axis are, as `i64`. Of equals the first counts; NaN is more extreme than any number.")]
            ///
            #[doc = concat!("PyTorch: `torch.", stringify!($arg), "`, with `dim` and `keepdim`.")]
            ///
            /// # Panics
            /// If the axis is empty.
            ///
            /// ```
            /// # use castiron::{axis, tensor};
            #[doc = $at_along]
            /// ```
            #[fallible]
            pub fn $arg_axis<A: OneAxis<S, Reduced = T>, T: Shape>(&self, axis: A) -> Result<Tensor<i64, T, D>>
            where
                E: RealFor<ops::reduce::$arg>,
            {
                reduce::<ops::reduce::$arg, _, E, S, A::Reduced, D>(ArgExtreme::<E, $max>::new(), self, A::MASK, A::KEEPS)
            }
        }

        /// The same reductions of a lazy expression, which is computed in the same pass.
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
            #[doc = concat!("As [`Tensor::", stringify!($name), "`], without a tensor of the elements.")]
            #[track_caller]
            pub fn $name(self) -> Tensor<E, (), D>
            where
                E: OrderedFor<ops::reduce::$name>,
            {
                unwrap(self.reduce::<ops::reduce::$name, _, _>(Extreme::<E, $max>::new(), ALL, false))
            }

            #[doc = concat!("As [`Tensor::", stringify!($axis), "`], without a tensor of the elements, which are computed twice.")]
            #[fallible]
            pub fn $axis<A: OneAxis<S, Reduced = T>, T: Shape>(self, axis: A) -> Result<(Tensor<E, T, D>, Tensor<i64, T, D>)>
            where
                E: OrderedFor<ops::reduce::$name>,
            {
                let values = self.reduce::<ops::reduce::$name, _, _>(Extreme::<E, $max>::new(), A::MASK, A::KEEPS)?;
                Ok((values, self.reduce::<ops::reduce::$name, _, _>(ArgExtreme::<E, $max>::new(), A::MASK, A::KEEPS)?))
            }

            #[doc = concat!("As [`Tensor::", stringify!($arg), "`], without a tensor of the elements.")]
            #[fallible]
            pub fn $arg(self) -> Result<Tensor<i64, (), D>>
            where
                E: RealFor<ops::reduce::$arg>,
            {
                self.reduce::<ops::reduce::$arg, _, _>(ArgExtreme::<E, $max>::new(), ALL, false)
            }

            #[doc = concat!("As [`Tensor::", stringify!($arg_axis), "`], without a tensor of the elements.")]
            #[fallible]
            pub fn $arg_axis<A: OneAxis<S, Reduced = T>, T: Shape>(self, axis: A) -> Result<Tensor<i64, T, D>>
            where
                E: RealFor<ops::reduce::$arg>,
            {
                self.reduce::<ops::reduce::$arg, _, _>(ArgExtreme::<E, $max>::new(), A::MASK, A::KEEPS)
            }
        }
    )*};
}
extremes! {
    true "largest" max max_axis amax argmax argmax_axis,
        "assert_eq!(tensor![3, 7, 2].max().item(), 7);",
        "let (values, indices) = tensor![[3, 7], [5, 1]].max_axis(axis![1]);\nassert_eq!((values.to_vec(), indices.to_vec()), (vec![7, 5], vec![1, 0]));",
        "assert_eq!(tensor![[3, 7], [5, 1]].argmax().item(), 1);",
        "assert_eq!(tensor![[3, 7], [5, 1]].argmax_axis(axis![0]).to_vec(), [1, 0]);";
    false "smallest" min min_axis amin argmin argmin_axis,
        "assert_eq!(tensor![3, 7, 2].min().item(), 2);",
        "let (values, indices) = tensor![[3, 7], [5, 1]].min_axis(axis![1]);\nassert_eq!((values.to_vec(), indices.to_vec()), (vec![3, 1], vec![0, 1]));",
        "assert_eq!(tensor![[3, 7], [5, 1]].argmin().item(), 3);",
        "assert_eq!(tensor![[3, 7], [5, 1]].argmin_axis(axis![0]).to_vec(), [0, 1]);";
}
