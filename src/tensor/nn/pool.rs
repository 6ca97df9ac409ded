//! Typed pooling: maxima and means of windows, with shapes in the type.
//!
//! Source: `torch.nn.functional.max_pool2d`, `avg_pool2d` and so on.

use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::ops;
use crate::ops::admit::{FloatFor, RealFor};
use crate::shape::{EachAxis, KnownShape, Moves, Pool, Pooled, Resized, Shape};
use crate::tensor::Tensor;
use crate::tensor::nn::adaptive_pool::{adaptive_largest, adaptive_mean};
use crate::tensor::nn::conv::laid;
use crate::tensor::nn::pooling::Pooling;
use castiron_macros::fallible;

macro_rules! poolings {
    ($($rank:literal $admits:ident $number:literal $max:ident $with_index:ident $avg:ident $adaptive_max:ident $adaptive_avg:ident
       $x:literal $window:literal $most:literal $mean:literal $parts:literal;)*) => {
        impl<E: Element, T: Shape, D: Device> Tensor<E, T, D> {$(
            #[doc = concat!("The largest element that a window sees at each of its places along the last axes, ", $rank, " of them; NaN if it sees one.")]
            ///
            /// `(N, C, …)` or `(C, …)`; the compiler knows the further sizes if it knows those of the operand. Padding is lower than every
            /// number. The dtype is floating, or over two and three axes also an integer.
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($max), "`.")]
            ///
            /// # Panics
            /// If a window does not fit, an axis other than the batch is empty, or memory runs out.
            ///
            /// ```
            /// use castiron::{dim, nn::Pool, shape, Tensor};
            #[doc = concat!("let x: Tensor<", $number, ", shape!", $x, "> = Tensor::from_fn(|at: [usize; ", stringify!($rank), " + 1]| at[", stringify!($rank), "] as ", $number, ");")]
            #[doc = concat!("let y: Tensor<", $number, ", shape!", $window, "> = x.", stringify!($max), "(Pool::<dim!(2)>::new());")]
            #[doc = concat!("assert_eq!(y.amax().item(), ", $most, ");")]
            /// ```
            #[fallible]
            pub fn $max<K: EachAxis + Kernel, S: EachAxis, P: EachAxis, L: EachAxis>(
                &self,
                pool: Pool<K, S, P, L>,
            ) -> Result<Tensor<E, <T as Pooled<Pool<K, S, P, L>, $rank>>::Output, D>>
            where
                E: $admits<ops::reduce::pooling>,
                T: Pooled<Pool<K, S, P, L>, $rank>,
                (S, P, L): Moves,
            {
                let _ = pool;
                let (op, windows) = (stringify!($max), <(S, P, L)>::windows(&K::sizes($rank)));
                laid(op, Pooling { op, windows: &windows, rounds_up: false }.largest::<E, D>(self.elements())?)
            }

            #[doc = concat!("[`", stringify!($max), "`](Self::", stringify!($max), ") and where each of them is: its position among those of the \
                last axes, counted row by row.")]
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($max), "` with `return_indices=True`.")]
            ///
            /// # Panics
            /// As there.
            ///
            /// ```
            /// use castiron::{dim, nn::Pool, shape, Tensor};
            #[doc = concat!("let x: Tensor<", $number, ", shape!", $x, "> = Tensor::from_fn(|at: [usize; ", stringify!($rank), " + 1]| at[", stringify!($rank), "] as ", $number, ");")]
            #[doc = concat!("let (values, index) = x.", stringify!($with_index), "(Pool::<dim!(2)>::new());")]
            #[doc = concat!("assert_eq!((values.amax().item(), index.shape()), (", $most, ", values.shape()));")]
            /// ```
            #[fallible]
            #[allow(clippy::type_complexity)]
            pub fn $with_index<K: EachAxis + Kernel, S: EachAxis, P: EachAxis, L: EachAxis>(
                &self,
                pool: Pool<K, S, P, L>,
            ) -> Result<(
                Tensor<E, <T as Pooled<Pool<K, S, P, L>, $rank>>::Output, D>,
                Tensor<i64, <T as Pooled<Pool<K, S, P, L>, $rank>>::Output, D>,
            )>
            where
                E: $admits<ops::reduce::pooling>,
                T: Pooled<Pool<K, S, P, L>, $rank>,
                (S, P, L): Moves,
            {
                let _ = pool;
                let (op, windows) = (stringify!($max), <(S, P, L)>::windows(&K::sizes($rank)));
                let pooling = Pooling { op, windows: &windows, rounds_up: false };
                let [values, index] = pooling.largest_with_index::<E, D>(self.elements())?;
                Ok((laid(op, values)?, laid(op, index)?))
            }

            #[doc = concat!("The mean of what a window sees at each of its places along the last axes, ", $rank, " of them. Padding counts as zeros.")]
            ///
            /// `(N, C, …)` or `(C, …)`; the compiler knows the further sizes if it knows those of the operand. Floating dtypes.
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($avg), "`.")]
            ///
            /// # Panics
            /// If a window does not fit, an axis other than the batch is empty, or memory runs out.
            ///
            /// ```
            /// use castiron::{dim, nn::Pool, shape, Tensor};
            #[doc = concat!("let x: Tensor<f32, shape!", $x, "> = Tensor::from_fn(|at: [usize; ", stringify!($rank), " + 1]| at[", stringify!($rank), "] as f32);")]
            #[doc = concat!("let y: Tensor<f32, shape!", $window, "> = x.", stringify!($avg), "(Pool::<dim!(2)>::new());")]
            #[doc = concat!("assert_eq!(y.amax().item(), ", $mean, ");")]
            /// ```
            #[fallible]
            pub fn $avg<K: EachAxis + Kernel, S: EachAxis, P: EachAxis>(
                &self,
                pool: Pool<K, S, P>,
            ) -> Result<Tensor<E, <T as Pooled<Pool<K, S, P>, $rank>>::Output, D>>
            where
                E: FloatFor<ops::reduce::pooling>,
                T: Pooled<Pool<K, S, P>, $rank>,
                (S, P, crate::dim!(1)): Moves,
            {
                let _ = pool;
                let (op, windows) = (stringify!($avg), <(S, P, crate::dim!(1))>::windows(&K::sizes($rank)));
                laid(op, Pooling { op, windows: &windows, rounds_up: false }.mean::<E, D>(self.elements(), true, None)?)
            }

            #[doc = concat!("The largest element of each part of the last axes, ", $rank, " of them, which are divided into as many parts as the shape \
                `R` says, as equal as can be.")]
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($adaptive_max), "`. Floating dtypes.")]
            ///
            /// # Panics
            /// If an axis other than the batch is empty, or memory runs out.
            ///
            /// ```
            /// use castiron::{shape, Tensor};
            #[doc = concat!("let x: Tensor<f32, shape!", $x, "> = Tensor::from_fn(|at: [usize; ", stringify!($rank), " + 1]| at[", stringify!($rank), "] as f32);")]
            #[doc = concat!("assert_eq!(x.", stringify!($adaptive_max), "::<shape!", $parts, ">().amax().item(), x.amax().item());")]
            /// ```
            #[fallible]
            pub fn $adaptive_max<R: KnownShape>(&self) -> Result<Tensor<E, <T as Resized<R>>::Output, D>>
            where
                E: FloatFor<ops::reduce::pooling>,
                T: Resized<R>,
            {
                let op = stringify!($adaptive_max);
                laid(op, adaptive_largest::<E, D>(op, self.elements(), R::SIZES.as_ref())?)
            }

            #[doc = concat!("The mean of each part of the last axes, ", $rank, " of them, which are divided into as many parts as the shape `R` says, \
                as equal as can be.")]
            ///
            #[doc = concat!("PyTorch: `torch.nn.functional.", stringify!($adaptive_avg), "`. Floating dtypes.")]
            ///
            /// # Panics
            /// If an axis other than the batch is empty, or memory runs out.
            ///
            /// ```
            /// use castiron::{shape, Tensor};
            #[doc = concat!("let x: Tensor<f32, shape!", $x, "> = Tensor::ones();")]
            #[doc = concat!("assert_eq!(x.", stringify!($adaptive_avg), "::<shape!", $parts, ">().amax().item(), 1.0);")]
            /// ```
            #[fallible]
            pub fn $adaptive_avg<R: KnownShape>(&self) -> Result<Tensor<E, <T as Resized<R>>::Output, D>>
            where
                E: FloatFor<ops::reduce::pooling>,
                T: Resized<R>,
            {
                let op = stringify!($adaptive_avg);
                laid(op, adaptive_mean::<E, D>(op, self.elements(), R::SIZES.as_ref())?)
            }
        )*}
    };
}
poolings! {
    1 FloatFor "f32" max_pool1d max_pool1d_with_indices avg_pool1d adaptive_max_pool1d adaptive_avg_pool1d
        "[1, 6]" "[1, 3]" "5.0" "4.5" "[4]";
    2 RealFor "i64" max_pool2d max_pool2d_with_indices avg_pool2d adaptive_max_pool2d adaptive_avg_pool2d
        "[1, 4, 6]" "[1, 2, 3]" "5" "4.5" "[3, 4]";
    3 RealFor "i64" max_pool3d max_pool3d_with_indices avg_pool3d adaptive_max_pool3d adaptive_avg_pool3d
        "[1, 2, 4, 6]" "[1, 1, 2, 3]" "5" "4.5" "[1, 3, 4]";
}

/// The sizes of a window, at run time.
#[doc(hidden)]
pub trait Kernel {
    fn sizes(axes: usize) -> Vec<usize>;
}
impl<K: EachAxis<First: crate::Known, Second: crate::Known, Third: crate::Known>> Kernel for K {
    fn sizes(axes: usize) -> Vec<usize> {
        let each =
            [<K::First as crate::Known>::VALUE, <K::Second as crate::Known>::VALUE, <K::Third as crate::Known>::VALUE];
        each[..axes].to_vec()
    }
}
