//! Transforms along an axis: `fft`, `ifft`, and of real numbers `rfft`, `irfft`, `hfft`, `ihfft`.

use super::lanes::{Step, Transform};
use super::signal::{Direction, Norm, RealSignal, Spectral};
#[cfg(feature = "any")]
use crate::any::fourier::length;
use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{AxisArg, Dim, HasAxis};
use crate::tensor::Tensor;
use crate::tensor::fourier::{Frequencies, Samples};
use castiron_macros::composites;

/// For `fft "fft.fft" Forward` it writes the transform to as many complex numbers, for `rfft "fft.rfft" Forward` that of real numbers to
/// half of their frequencies, for `irfft "fft.irfft" Inverse` the inverse of that. The example is in brackets.
macro_rules! transforms {
    (
        complex { $($(#[$doc:meta])* $name:ident $op:tt $direction:ident [$($example:tt)*];)* }
        halved { $($(#[$half_doc:meta])* $half:ident $half_op:tt $half_direction:ident [$($half_example:tt)*];)* }
        back { $($(#[$back_doc:meta])* $back:ident $back_op:tt $back_direction:ident [$($back_example:tt)*];)* }
    ) => {
        #[composites]
        impl<E: Spectral, D: Device> Erased<'_, E, D> {
            $($(#[$doc])*
            ///
            /// With a length `n` the axis is truncated or zero-padded first. Integers and `bool` count as `f32`; 16-bit floats are refused.
            ///
            /// # Errors
            /// If the axis has no elements, or there is none.
            #[op(fft.$name(input, n = None, dim = -1, norm = None), dtypes = spectral)]
            #[any([self] = [self.as_signal($op)?], n: Option<i64> = length($op, n)?, norm: Option<&str> = Norm::named($op, norm)?)]
            #[typed(<const I: isize, Cx: Element>(&self, axis: impl AxisArg<I>, norm: Norm) -> Tensor<Cx, S, D>
                where
                    E: Spectral<Cx = Cx>,
                    S: HasAxis<I>;
                n = None)]
            #[example($($example)*)]
            pub(crate) fn $name(&self, n: Option<usize>, dim: Axis, norm: Norm) -> Result<Owned<E::Cx, D>> {
                let op = $op;
                let along = self.axis_and_length(op, dim, n, |size| size)?;
                self.to_complex(Transform { op, direction: Direction::$direction, norm }, Step::Complex, along)
            })*

            $($(#[$half_doc])*
            ///
            /// In the result the axis has `n / 2 + 1` elements, `n` being its size, or a length to which it is truncated or zero-padded
            /// first. Integers and `bool` count as `f32`; complex dtypes and 16-bit floats are refused.
            ///
            /// # Errors
            /// If the axis has no elements, or there is none.
            #[op(fft.$half(input, n = None, dim = -1, norm = None), dtypes = "integers, bool, float32 and float64", over = [f32, f64])]
            #[any([self] = [self.as_real_signal($half_op)?], n: Option<i64> = length($half_op, n)?, norm: Option<&str> = Norm::named($half_op, norm)?)]
            #[typed(<const I: isize, M: Dim, Cx: Element>(&self, axis: impl AxisArg<I>, norm: Norm) -> Tensor<Cx, <S as HasAxis<I>>::Replace<M>, D>
                where
                    E: RealSignal + Spectral<Cx = Cx>,
                    S: HasAxis<I, Dim: Frequencies<Output = M>>;
                n = None)]
            #[example($($half_example)*)]
            pub(crate) fn $half(&self, n: Option<usize>, dim: Axis, norm: Norm) -> Result<Owned<E::Cx, D>>
            where
                E: RealSignal,
            {
                let op = $half_op;
                let along = self.axis_and_length(op, dim, n, |size| size)?;
                self.to_complex(Transform { op, direction: Direction::$half_direction, norm }, Step::Real, along)
            })*

            $($(#[$back_doc])*
            ///
            /// The number of samples is `n` or in the type, since `2 m - 2` and `2 m - 1` samples have the same number `m` of frequencies;
            /// for `AnyTensor` the default is `2 m - 2`.
            ///
            /// # Errors
            /// If there are no frequencies, or no axis.
            #[op(fft.$back(input, n = None, dim = -1, norm = None), dtypes = spectral)]
            #[any([self] = [self.as_signal($back_op)?], n: Option<i64> = length($back_op, n)?, norm: Option<&str> = Norm::named($back_op, norm)?)]
            #[typed(<
                    N: Samples, // `irfft::<dim!(64), _>(…)`, or `irfft_sized` (`hfft` likewise)
                    const I: isize,
                >(&self, axis: impl AxisArg<I>, norm: Norm) -> Tensor<E::Re, <S as HasAxis<I>>::Replace<N>, D>
                where
                    E: Spectral,
                    S: HasAxis<I>;
                n = Some(N::VALUE))]
            #[example($($back_example)*)]
            pub(crate) fn $back(&self, n: Option<usize>, dim: Axis, norm: Norm) -> Result<Owned<E::Re, D>> {
                let op = $back_op;
                let along = self.axis_and_length(op, dim, n, |size| 2 * size.saturating_sub(1))?;
                self.to_real(Transform { op, direction: Direction::$back_direction, norm }, along)
            })*
        }
    };
}

transforms! {
    complex {
    /// The discrete Fourier transform along an axis.
    fft "fft.fft" Forward [let x = tensor![1.0, 0.0, 0.0]; x.fft(axis![0], Norm::Backward), x.fft(None, 0, None), tensor![Complex::new(1.0_f32, 0.0), Complex::new(1.0, 0.0), Complex::new(1.0, 0.0)]];
    /// The inverse discrete Fourier transform along an axis.
    ifft "fft.ifft" Inverse [let x = tensor![3.0, 0.0, 0.0]; x.ifft(axis![0], Norm::Backward), x.ifft(None, 0, None), tensor![Complex::new(1.0_f32, 0.0), Complex::new(1.0, 0.0), Complex::new(1.0, 0.0)]];
    }
    halved {
    /// The first half of the frequencies of real samples; the others are their conjugates.
    rfft "fft.rfft" Forward [let x = tensor![1.0, 0.0]; x.rfft(axis![0], Norm::Backward), x.rfft(None, 0, None), tensor![Complex::new(1.0_f32, 0.0), Complex::new(1.0, 0.0)]];
    /// The inverse transform of real samples, to the first half of the result; the others are the conjugates.
    ihfft "fft.ihfft" Inverse [let x = tensor![2.0, 0.0]; x.ihfft(axis![0], Norm::Backward), x.ihfft(None, 0, None), ~ tensor![Complex::new(1.0_f32, 0.0), Complex::new(1.0, 0.0)]];
    }
    back {
    /// Real samples from the first half of their frequencies.
    irfft "fft.irfft" Inverse [let x = tensor![4.0, 0.0, 0.0]; x.irfft::<dim!(4), _>(axis![0], Norm::Ortho), x.irfft(Some(4), 0, Some("ortho")), tensor![2.0, 2.0, 2.0, 2.0]];
    /// The real frequencies of a signal given by its first half; the others are the conjugates.
    hfft "fft.hfft" Forward [let x = tensor![4.0, 0.0, 0.0]; x.hfft::<dim!(4), _>(axis![0], Norm::Ortho), x.hfft(Some(4), 0, Some("ortho")), tensor![2.0, 2.0, 2.0, 2.0]];
    }
}
