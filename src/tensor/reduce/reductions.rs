//! Reductions: `sum`, `mean`, `max` and their kin, over the whole tensor, one axis or several.
//!
//! `x.sum()` reduces everything to a zero-dim tensor; `x.sum_axis(axis![0, 2])` reduces axes, which the compiler checks
//! against the rank; `.keepdim()` on the axes keeps them with size 1.
//! Uses `ops::reduce`, `ops::admit`, `ops`; used by `linalg`, `lazy`, `scan`, `view`, `reduce` and others.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Error, Result, unwrap};
use crate::ops::admit::{FloatFor, InexactFor, OrderedFor, RealFor};
use crate::ops::reduce::{AnyAll, ArgExtreme, Extreme, Mean, Prod, Reducer, Sum, TwoResults, Variance};
use crate::ops::reduce::{CountNonzero, NanMean, NanSum, VectorNorm};
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

/// The same for reductions with two results.
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

/// Checks the sizes of what is reduced, and reduces it by `run`.
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

/// The sizes of the results, if there are some.
pub(crate) fn kept<O: Op, R: Reducer<E>, E: Copy, T: Shape>(
    reducer: R,
    sizes: &[usize],
    mask: u32,
    keeps: bool,
) -> Result<T::Sizes> {
    let reduced = |axis: &usize| mask >> axis & 1 == 1;
    if !reducer.has_identity() && (0..sizes.len()).filter(reduced).any(|axis| sizes[axis] == 0) {
        return Err(Error::EmptyReduction { op: O::NAME, sizes: sizes.into() });
    }
    let mut kept = T::Sizes::filled(1);
    let axes = (0..sizes.len()).filter(|axis| keeps || !reduced(axis));
    for (kept, axis) in kept.as_mut().iter_mut().zip(axes) {
        *kept = if reduced(&axis) { 1 } else { sizes[axis] };
    }
    Ok(kept)
}

/// Writes both forms of a reduction: over everything and over axes. `Element: sum … <O>
/// [Dtype<Sum = O>]` makes them methods of every tensor with `E: Dtype<Sum = O>` as their condition, so that the compiler
/// says which condition failed and not that there is no method. (Shell dtypes have some in forms of their own.)
macro_rules! reductions {
    ($($(#[$doc:meta])* $of:ident: $name:ident $axis:ident $(<$o:ident>)? [$($bound:tt)+] ($($arg:ident: $argty:ty),*) -> $out:ty, $op:ident: $reducer:expr, $torch:literal, $all:literal, $along:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ") over everything and over axes.")]
        impl<E: $of, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// Over all elements, to a zero-dim tensor.
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
            pub fn $name$(<$o: Dtype>)?(&self $(, $arg: $argty)*) -> Result<Tensor<$out, (), D>>
            where
                E: Dtype + $($bound)+,
            {
                reduce::<ops::reduce::$op, _, E, S, (), D>($reducer, self, ALL, false)
            }

            $(#[$doc])*
            ///
            /// Over the axes given, which disappear from the shape, or stay with size 1 after `.keepdim()`.
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
            pub fn $axis<A: Axes<S> $(, $o: Dtype)?>(&self, axes: A $(, $arg: $argty)*) -> Result<Tensor<$out, A::Reduced, D>>
            where
                E: Dtype + $($bound)+,
            {
                reduce::<ops::reduce::$op, _, E, S, A::Reduced, D>($reducer, self, A::MASK, A::KEEPS)
            }
        }

        /// The same of an expression, which is computed on the way.
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
            #[doc = concat!("As [`Tensor::", stringify!($name), "`], without a tensor of the elements.")]
            #[fallible]
            pub fn $name$(<$o: Dtype>)?(self $(, $arg: $argty)*) -> Result<Tensor<$out, (), D>>
            where
                E: $($bound)+,
            {
                self.reduce::<ops::reduce::$op, _, _>($reducer, ALL, false)
            }

            #[doc = concat!("As [`Tensor::", stringify!($axis), "`], without a tensor of the elements.")]
            #[fallible]
            pub fn $axis<A: Axes<S> $(, $o: Dtype)?>(self, axes: A $(, $arg: $argty)*) -> Result<Tensor<$out, A::Reduced, D>>
            where
                E: $($bound)+,
            {
                self.reduce::<ops::reduce::$op, _, _>($reducer, A::MASK, A::KEEPS)
            }
        }
    )*};
}

reductions! {
    /// The sum. Bools and integers are summed in `i64`, which wraps; `f16` and `bf16` are summed in `f32` and rounded once.
    /// Floats are added pairwise, in an order that shape and strides alone decide: neither the number of threads nor the machine's
    /// vector instructions change a bit of it. The sum of nothing is 0.
    Element: sum sum_axis <O> [Dtype<Sum = O>] () -> O, sum: Sum, "torch.sum",
        "assert_eq!(tensor![[1, 2], [3, 4]].sum().item(), 10);",
        "assert_eq!(tensor![[1, 2], [3, 4]].sum_axis(axis![0]).to_vec(), [4, 6]);";
    /// The product. Bools and integers are multiplied in `i64`, which wraps. The product of nothing is 1.
    Element: prod prod_axis <O> [Dtype<Sum = O>] () -> O, prod: Prod, "torch.prod",
        "assert_eq!(tensor![[1, 2], [3, 4]].prod().item(), 24);",
        "assert_eq!(tensor![[1, 2], [3, 4]].prod_axis(axis![1]).to_vec(), [2, 12]);";
    /// The mean, of floating and complex dtypes. The mean of nothing is NaN.
    Element: mean mean_axis [InexactFor<ops::reduce::mean>] () -> E, mean: Mean, "torch.mean",
        "assert_eq!(tensor![[1.0, 2.0], [3.0, 4.0]].mean().item(), 2.5);",
        "assert_eq!(tensor![[1.0, 2.0], [3.0, 4.0]].mean_axis(axis![-1]).to_vec(), [1.5, 3.5]);";
    /// The variance, of floating and complex dtypes; real. `correction` is the number of degrees of freedom the mean has
    /// used up: 1 (PyTorch's default) for a sample, 0 for a population. NaN where no freedom is left.
    Element: var var_axis <O> [InexactFor<ops::reduce::var> + Dtype<RealDtype = O>] (correction: usize) -> O,
        var: Variance::var(correction as f64), "torch.var",
        "assert_eq!(tensor![1.0, 2.0, 3.0].var(1).item(), 1.0);",
        "assert_eq!(tensor![[1.0, 3.0], [2.0, 2.0]].var_axis(axis![1], 0).to_vec(), [1.0, 0.0]);";
    /// The standard deviation: the root of the variance.
    Element: std std_axis <O> [InexactFor<ops::reduce::std> + Dtype<RealDtype = O>] (correction: usize) -> O,
        std: Variance::std(correction as f64), "torch.std",
        "assert_eq!(tensor![1.0, 3.0, 5.0].std(1).item(), 2.0);",
        "assert_eq!(tensor![[1.0, 3.0], [2.0, 2.0]].std_axis(axis![1], 0).to_vec(), [1.0, 0.0]);";
    /// The largest element; NaN if there is one. Of nothing: an error.
    Dtype: amax amax_axis [OrderedFor<ops::reduce::amax>] () -> E, amax: Largest::<E>::new(), "torch.amax",
        "assert_eq!(tensor![3, 1, 2].amax().item(), 3);",
        "assert_eq!(tensor![[3, 1], [2, 5]].amax_axis(axis![0]).to_vec(), [3, 5]);";
    /// The smallest element; NaN if there is one. Of nothing: an error.
    Dtype: amin amin_axis [OrderedFor<ops::reduce::amin>] () -> E, amin: Smallest::<E>::new(), "torch.amin",
        "assert_eq!(tensor![3, 1, 2].amin().item(), 1);",
        "assert_eq!(tensor![[3, 1], [2, 5]].amin_axis(axis![0]).to_vec(), [2, 1]);";
    /// Whether any element is non-zero. Of nothing: no.
    Element: any any_axis [Dtype] () -> bool, any: AnyAll::ANY, "torch.any",
        "assert_eq!(tensor![0, 2].any().item(), true);",
        "assert_eq!(tensor![[0, 2], [0, 0]].any_axis(axis![1]).to_vec(), [true, false]);";
    /// Whether every element is non-zero. Of nothing: yes.
    Element: all all_axis [Dtype] () -> bool, all: AnyAll::ALL, "torch.all",
        "assert_eq!(tensor![0, 2].all().item(), false);",
        "assert_eq!(tensor![[1, 2], [0, 1]].all_axis(axis![1]).to_vec(), [true, false]);";
    /// The sum of the elements that are numbers: NaN counts as 0. Bools and integers are summed in `i64`, which wraps.
    Element: nansum nansum_axis <O> [OrderedFor<ops::reduce::nansum> + Dtype<Sum = O>] () -> O, nansum: NanSum, "torch.nansum",
        "assert_eq!(tensor![1.0, f32::NAN, 2.0].nansum().item(), 3.0);",
        "assert_eq!(tensor![[1.0, f32::NAN], [2.0, 3.0]].nansum_axis(axis![0]).to_vec(), [3.0, 3.0]);";
    /// The mean of the elements that are numbers, of floating dtypes: NaN does not count. NaN where there are none.
    Element: nanmean nanmean_axis [FloatFor<ops::reduce::nanmean>] () -> E, nanmean: NanMean, "torch.nanmean",
        "assert_eq!(tensor![1.0, f32::NAN, 2.0].nanmean().item(), 1.5);",
        "assert_eq!(tensor![[1.0, f32::NAN], [2.0, 3.0]].nanmean_axis(axis![0]).to_vec(), [1.5, 3.0]);";
    /// How many elements are not zero, in `i64`.
    Element: count_nonzero count_nonzero_axis [Dtype] () -> i64, count_nonzero: CountNonzero, "torch.count_nonzero",
        "assert_eq!(tensor![0, 2, 5].count_nonzero().item(), 2);",
        "assert_eq!(tensor![[0, 2], [5, 1]].count_nonzero_axis(axis![0]).to_vec(), [1, 2]);";
    /// The `ord`-norm, of floating and complex dtypes; real: `sum(abs(x) ** ord) ** (1 / ord)`, the largest absolute value for
    /// infinity, the smallest for minus infinity, the number of elements other than zero for 0. Of nothing it is 0; where `ord`
    /// is negative or infinite: an error.
    Element: vector_norm vector_norm_axis <O> [InexactFor<ops::reduce::vector_norm> + Dtype<RealDtype = O>] (ord: f64) -> O,
        vector_norm: VectorNorm::new(ord), "torch.linalg.vector_norm",
        "assert_eq!(tensor![3.0, -4.0].vector_norm(2.0).item(), 5.0);",
        "assert_eq!(tensor![[3.0, -4.0], [6.0, 8.0]].vector_norm_axis(axis![1], 2.0).to_vec(), [5.0, 10.0]);";
    /// [`vector_norm`](Tensor::vector_norm) under PyTorch's older name.
    Element: norm norm_axis <O> [InexactFor<ops::reduce::norm> + Dtype<RealDtype = O>] (p: f64) -> O,
        norm: VectorNorm::new(p), "torch.norm",
        "assert_eq!(tensor![3.0, -4.0].norm(1.0).item(), 7.0);",
        "assert_eq!(tensor![[3.0, -4.0], [6.0, 8.0]].norm_axis(axis![1], f64::INFINITY).to_vec(), [4.0, 8.0]);";
}

type Largest<E> = Extreme<E, true>;
type Smallest<E> = Extreme<E, false>;

/// Writes `max`, `argmax` and their forms, or those of the minimum.
macro_rules! extremes {
    ($($max:literal $what:literal $name:ident $axis:ident $amax:ident $try_amax:ident
       $arg:ident $arg_axis:ident, $all:literal, $along:literal, $at:literal, $at_along:literal;)*) => {$(
        #[doc = concat!("The ", $what, " element and where it is.")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            #[doc = concat!("The ", $what, " element, as a zero-dim tensor; NaN if there is one.")]
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
                E: OrderedFor<ops::reduce::$amax>,
            {
                self.$try_amax()
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
                E: OrderedFor<ops::reduce::$amax>,
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

        /// The same of an expression, which is computed on the way.
        impl<E: Dtype, S: Shape, D: Device, X: Node<D, Elem = E>> Lazy<E, S, D, X> {
            #[doc = concat!("As [`Tensor::", stringify!($name), "`], without a tensor of the elements.")]
            #[track_caller]
            pub fn $name(self) -> Tensor<E, (), D>
            where
                E: OrderedFor<ops::reduce::$amax>,
            {
                unwrap(self.$try_amax())
            }

            #[doc = concat!("As [`Tensor::", stringify!($axis), "`], without a tensor of the elements, which are computed twice.")]
            #[fallible]
            pub fn $axis<A: OneAxis<S, Reduced = T>, T: Shape>(self, axis: A) -> Result<(Tensor<E, T, D>, Tensor<i64, T, D>)>
            where
                E: OrderedFor<ops::reduce::$amax>,
            {
                let values = self.reduce::<ops::reduce::$amax, _, _>(Extreme::<E, $max>::new(), A::MASK, A::KEEPS)?;
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
    true "largest" max max_axis amax try_amax argmax argmax_axis,
        "assert_eq!(tensor![3, 7, 2].max().item(), 7);",
        "let (values, indices) = tensor![[3, 7], [5, 1]].max_axis(axis![1]);\nassert_eq!((values.to_vec(), indices.to_vec()), (vec![7, 5], vec![1, 0]));",
        "assert_eq!(tensor![[3, 7], [5, 1]].argmax().item(), 1);",
        "assert_eq!(tensor![[3, 7], [5, 1]].argmax_axis(axis![0]).to_vec(), [1, 0]);";
    false "smallest" min min_axis amin try_amin argmin argmin_axis,
        "assert_eq!(tensor![3, 7, 2].min().item(), 2);",
        "let (values, indices) = tensor![[3, 7], [5, 1]].min_axis(axis![1]);\nassert_eq!((values.to_vec(), indices.to_vec()), (vec![3, 1], vec![0, 1]));",
        "assert_eq!(tensor![[3, 7], [5, 1]].argmin().item(), 3);",
        "assert_eq!(tensor![[3, 7], [5, 1]].argmin_axis(axis![0]).to_vec(), [0, 1]);";
}
