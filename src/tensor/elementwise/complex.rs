//! `complex` and `polar`: complex numbers from two real tensors.

use crate::device::{Device, Receives};
use crate::dtype::Element;
use crate::dtype::scalar::Dimensioned;
use crate::error::Result;
use crate::ops::admit::SameDtypeFor;
use crate::ops::choosing::WideFloatFor;
use crate::ops::pointwise;
use crate::ops::pointwise::{FromParts, FromPolar, PartFor};
use crate::shape::{Broadcast, Shape};
use crate::tensor::Tensor;
use crate::tensor::base::operand::TensorOperand;
use crate::tensor::elementwise::lerp::pair;
use crate::tensor::index::gather::elements;
use castiron_macros::fallible;

/// For `complex(imag) [PartFor<pointwise::complex> + …] FromParts` it writes `complex`.
macro_rules! complex_numbers {
    ($($(#[$doc:meta])* $name:ident($other:ident) [$($bound:tt)+] $kernel:ident, $torch:literal, $example:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ").")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            #[doc = concat!("PyTorch: `", $torch, "`.")]
            ///
            /// # Panics
            /// If sizes known at run time do not broadcast.
            ///
            /// ```
            /// use castiron::{tensor, Complex};
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<R: TensorOperand>(
                &self,
                $other: R,
            ) -> Result<Tensor<E::Complex, <S as Broadcast<R::Shape>>::Output, D>>
            where
                E: $($bound)+ + SameDtypeFor<R::Elem, pointwise::$name>,
                S: Broadcast<R::Shape>,
                D: Receives<R::Place, Dimensioned>,
            {
                pair(stringify!($name), $kernel, self.elements(), elements::<R, D>(&$other)?.known_as())
            }
        }
    )*};
}
complex_numbers! {
    /// Complex numbers with `self` as real parts and `imag` as imaginary parts.
    ///
    /// Shape: both broadcast. Dtypes: `f16`, `f32` or `f64`, the same for both tensors.
    complex(imag) [PartFor<pointwise::complex>] FromParts, "torch.complex",
        "assert_eq!(tensor![1.0, 2.0].complex(tensor![3.0]).to_vec(), [Complex::new(1.0, 3.0), Complex::new(2.0, 3.0)]);";
    /// Complex numbers with `self` as magnitudes and `angle` as angles, in radians.
    ///
    /// Shape: both broadcast. Dtypes: `f32` or `f64`, the same for both tensors.
    polar(angle) [PartFor<pointwise::polar> + WideFloatFor<pointwise::polar>] FromPolar, "torch.polar",
        "assert_eq!(tensor![1.0, 2.0].polar(tensor![0.0]).to_vec(), [Complex::new(1.0, 0.0), Complex::new(2.0, 0.0)]);";
}
