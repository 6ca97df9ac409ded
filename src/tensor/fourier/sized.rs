//! Transforms of an axis that is truncated or zero-padded first, to a length in the type or one known at run time.

use crate::composite::Axis;
use crate::composite::fourier::signal::{Norm, RealSignal, Spectral};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{AxisArg, Dyn, HasAxis, Known, Shape};
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// For `fft fft_n` it writes `fft` with a length in the type, for `rfft rfft_sized: RealSignal, Cx` with a length known at run time and
/// elements of `Cx`.
macro_rules! sized_transforms {
    (known { $($name:ident $known:ident;)* } sized { $($of:ident $sized:ident: $($real:ident)?, $Out:ident $result:literal;)* }) => {
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") of a length that the type knows: the axis is cut off, or filled up with zeros.")]
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($name), "` with `n`.")]
            ///
            /// # Panics
            /// As the transform without a length.
            ///
            /// ```
            /// use castiron::{Complex, Tensor, axis, dim, fft::Norm, shape, tensor};
            #[doc = concat!("let y: Tensor<Complex<f32>, shape![4]> = tensor![1.0, 2.0, 3.0].", stringify!($known), "::<dim!(4), _>(axis![0], Norm::Backward);")]
            /// assert_eq!(y.numel(), 4);
            /// ```
            #[fallible]
            pub fn $known<N: Known, const I: isize>(
                &self,
                _axis: impl AxisArg<I>,
                norm: Norm,
            ) -> Result<Tensor<E::Cx, <S as HasAxis<I>>::Replace<N>, D>>
            where
                E: Spectral,
                S: HasAxis<I>,
            {
                let axis = Axis(<S as HasAxis<I>>::INDEX);
                self.erased().$name(Some(N::VALUE), axis, norm)?.typed(concat!("fft.", stringify!($name)))
            })*

            $(#[doc = concat!("[`", stringify!($of), "`](Self::", stringify!($of), ") of a length known at run time.")]
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($of), "` with `n`.")]
            ///
            /// # Panics
            /// As the transform without a length, and if the length is 0.
            ///
            /// ```
            /// use castiron::{axis, fft::Norm, tensor};
            #[doc = concat!("assert_eq!(tensor![4.0, 0.0, 0.0].", stringify!($sized), "(axis![0], 6, Norm::Backward).shape(), [", $result, "]);")]
            /// ```
            #[fallible]
            pub fn $sized<const I: isize, $Out: Element>(
                &self,
                _axis: impl AxisArg<I>,
                n: usize,
                norm: Norm,
            ) -> Result<Tensor<$Out, <S as HasAxis<I>>::Replace<Dyn>, D>>
            where
                E: $($real +)? Spectral<$Out = $Out>,
                S: HasAxis<I>,
            {
                let axis = Axis(<S as HasAxis<I>>::INDEX);
                self.erased().$of(Some(n), axis, norm)?.typed(concat!("fft.", stringify!($of)))
            })*
        }
    };
}
sized_transforms! {
    known {
    fft fft_n;
    ifft ifft_n;
    }
    sized {
    fft fft_sized: , Cx "6";
    ifft ifft_sized: , Cx "6";
    rfft rfft_sized: RealSignal, Cx "4";
    ihfft ihfft_sized: RealSignal, Cx "4";
    irfft irfft_sized: , Re "6";
    hfft hfft_sized: , Re "6";
    }
}
