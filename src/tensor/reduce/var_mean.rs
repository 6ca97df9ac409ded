//! Reductions with two results: `aminmax`, `var_mean`, `std_mean`.

use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::Result;
use crate::ops;
use crate::ops::admit::{InexactFor, OrderedFor};
use crate::ops::reduce::{MinMax, Variance};
use crate::shape::{Axes, Shape};
use crate::tensor::Tensor;
use crate::tensor::reduce::reductions::reduce_both;
use castiron_macros::fallible;

/// Writes a reduction with two results, over all elements and over axes; it is checked as `$op`.
macro_rules! pairs {
    ($($(#[$doc:meta])* $name:ident $axis:ident $(<$o:ident>)? [$($bound:tt)+] ($($arg:ident: $argty:ty),*) -> $out:ty,
       $op:ident: $reducer:expr, $torch:literal, $all:literal, $along:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ") over everything and over axes.")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// Over all elements, to zero-dim tensors.
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
            pub fn $name$(<$o: Dtype>)?(&self $(, $arg: $argty)*) -> Result<(Tensor<$out, (), D>, Tensor<E, (), D>)>
            where
                E: $($bound)+,
            {
                reduce_both::<ops::reduce::$op, _, E, S, (), D>($reducer, self, u32::MAX, false)
            }

            $(#[$doc])*
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
            pub fn $axis<A: Axes<S> $(, $o: Dtype)?>(&self, axes: A $(, $arg: $argty)*) -> Result<(Tensor<$out, A::Reduced, D>, Tensor<E, A::Reduced, D>)>
            where
                E: $($bound)+,
            {
                reduce_both::<ops::reduce::$op, _, E, S, A::Reduced, D>($reducer, self, A::MASK, A::KEEPS)
            }
        }
    )*};
}

pairs! {
    /// The smallest and the largest element; NaN if there is one. It is an error if there are no elements.
    aminmax aminmax_axis [OrderedFor<ops::reduce::amin> + OrderedFor<ops::reduce::amax>] () -> E,
        amin: MinMax::<E>::new(), "torch.aminmax",
        "let (min, max) = tensor![3, 1, 2].aminmax();\nassert_eq!((min.item(), max.item()), (1, 3));",
        "let (min, max) = tensor![[3, 1], [2, 5]].aminmax_axis(axis![0]);\nassert_eq!((min.to_vec(), max.to_vec()), (vec![2, 1], vec![3, 5]));";
    /// The variance and the mean, of floating and complex dtypes. `correction` is that of [`var`](Tensor::var).
    var_mean var_mean_axis <O> [InexactFor<ops::reduce::var> + InexactFor<ops::reduce::mean> + Dtype<RealDtype = O>] (correction: usize) -> O,
        var: Variance::var(correction as f64), "torch.var_mean",
        "let (var, mean) = tensor![1.0, 2.0, 3.0].var_mean(1);\nassert_eq!((var.item(), mean.item()), (1.0, 2.0));",
        "let (var, mean) = tensor![[1.0, 3.0], [2.0, 2.0]].var_mean_axis(axis![1], 0);\nassert_eq!((var.to_vec(), mean.to_vec()), (vec![1.0, 0.0], vec![2.0, 2.0]));";
    /// The standard deviation and the mean, of floating and complex dtypes. `correction` is that of [`std`](Tensor::std).
    std_mean std_mean_axis <O> [InexactFor<ops::reduce::std> + InexactFor<ops::reduce::mean> + Dtype<RealDtype = O>] (correction: usize) -> O,
        std: Variance::std(correction as f64), "torch.std_mean",
        "let (std, mean) = tensor![1.0, 3.0, 5.0].std_mean(1);\nassert_eq!((std.item(), mean.item()), (2.0, 3.0));",
        "let (std, mean) = tensor![[1.0, 3.0], [2.0, 2.0]].std_mean_axis(axis![1], 0);\nassert_eq!((std.to_vec(), mean.to_vec()), (vec![1.0, 0.0], vec![2.0, 2.0]));";
}
