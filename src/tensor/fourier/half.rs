//! The typed transforms of real numbers, of whose frequencies the first half says all: `rfft`, `irfft`, `hfft`, `ihfft`, and in several axes.
//! Uses `fourier::erased`.

use super::erased::{Along, Direction, Norm, RealSignal, Spectral, Step, along, along_all};
use super::transforms::expect_axis;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::Result;
use crate::shape::{Axes, AxisArg, D1, D2, Dim, DivideBy, Dyn, HasAxis, HoldsAtLeast, Known, SameRank, Shape, Sum};
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// The number of frequencies that say all of so many real samples: `n / 2 + 1`.
///
/// ```
/// use castiron::{Dim, dim, fft::Frequencies};
/// assert_eq!(<<dim!(8) as Frequencies>::Output as Dim>::SIZE, Some(5));
/// ```
#[diagnostic::on_unimplemented(
    message = "a transform of `{Self}` real samples",
    label = "expected an axis of one sample or more, whose number the compiler can halve",
    note = "in generic code the bound is `N: fft::Frequencies`, or take `rfft_sized` and its kin, whose number of samples is known at run time"
)]
pub trait Frequencies {
    /// The number; `Dyn` where that of the samples is.
    type Output: Dim;
}
#[diagnostic::do_not_recommend]
impl<N: HoldsAtLeast<D1> + DivideBy<D2, Output = Half>, Half: Dim> Frequencies for N {
    type Output = Sum<Half, D1>;
}

/// For `rfft: Forward` it writes the transform of real numbers to half of their frequencies.
macro_rules! real_transforms {
    ($($(#[$doc:meta])* $name:ident $sized:ident: $direction:ident;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ").")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// The axis has `n / 2 + 1` elements then. Integers and `bool` count as `f32`; complex dtypes and 16-bit floats are refused.
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($name), "`.")]
            ///
            /// # Panics
            /// If an axis whose size was known at run time has no elements, or memory runs out.
            ///
            /// ```
            /// use castiron::{Complex, Tensor, axis, fft::Norm, shape, tensor};
            #[doc = concat!("let y: Tensor<Complex<f32>, shape![3]> = tensor![1.0, 0.0, 0.0, 0.0].", stringify!($name), "(axis![0], Norm::Forward);")]
            /// assert_eq!(y.numel(), 3);
            /// ```
            #[fallible]
            pub fn $name<const I: isize, M: Dim, Cx: Element>(
                &self,
                _axis: impl AxisArg<I>,
                norm: Norm,
            ) -> Result<Tensor<Cx, <S as HasAxis<I>>::Replace<M>, D>>
            where
                E: RealSignal + Spectral<Cx = Cx>,
                S: HasAxis<I, Dim: Frequencies<Output = M>>,
            {
                let op = concat!("fft.", stringify!($name));
                let at = expect_axis(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
                let of = Along { op, axis: at, n: self.shape().as_ref()[at], direction: Direction::$direction, norm };
                along::<E, D>(self.elements(), Step::Real, of)?.typed(op)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") of a length known at run time: the axis is cut off, or filled up with zeros.")]
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($name), "` with `n`.")]
            ///
            /// # Panics
            /// As there, and if the length is 0.
            ///
            /// ```
            /// use castiron::{axis, fft::Norm, tensor};
            #[doc = concat!("assert_eq!(tensor![1.0, 2.0, 3.0].", stringify!($sized), "(axis![0], 6, Norm::Backward).shape(), [4]);")]
            /// ```
            #[fallible]
            pub fn $sized<const I: isize, Cx: Element>(
                &self,
                _axis: impl AxisArg<I>,
                n: usize,
                norm: Norm,
            ) -> Result<Tensor<Cx, <S as HasAxis<I>>::Replace<Dyn>, D>>
            where
                E: RealSignal + Spectral<Cx = Cx>,
                S: HasAxis<I>,
            {
                let op = concat!("fft.", stringify!($name));
                let axis = expect_axis(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
                let of = Along { op, axis, n, direction: Direction::$direction, norm };
                along::<E, D>(self.elements(), Step::Real, of)?.typed(op)
            }
        }
    )*};
}

real_transforms! {
    /// The frequencies of real samples, of which the other half are the conjugates.
    rfft rfft_sized: Forward;
    /// The inverse transform of real samples, of which the other half are the conjugates.
    ihfft ihfft_sized: Inverse;
}

/// The shape of a transform in several axes: as many axes.
#[diagnostic::on_unimplemented(
    message = "a tensor of shape `{S}` is not transformed to shape `{Self}`",
    label = "a transform has as many axes",
    note = "where a size is not known to the compiler it is written `_`"
)]
pub trait AsManyAxes<S> {}
#[diagnostic::do_not_recommend]
impl<T: SameRank<S>, S> AsManyAxes<S> for T {}

/// A number of samples in the type, which is 1 at least.
#[diagnostic::on_unimplemented(
    message = "a transform back to `{Self}` samples",
    label = "expected a number from 1 up",
    note = "the number of samples is written as a type, `irfft::<dim!(64), _>(…)`, or given at run time, `irfft_sized(…, 64, …)`; in generic code the bound is `N: fft::Samples`"
)]
pub trait Samples: Known {}
#[diagnostic::do_not_recommend]
impl<N: Known + HoldsAtLeast<D1>> Samples for N {}

/// For `irfft: Inverse` it writes the transform of half of the frequencies to real numbers.
macro_rules! back_transforms {
    ($($(#[$doc:meta])* $name:ident $sized:ident: $direction:ident;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ").")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// So many samples are asked for in the type, since `2 m - 2` and `2 m - 1` have as many frequencies.
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($name), "` with `n`.")]
            ///
            /// # Panics
            /// If memory runs out, or there are no frequencies.
            ///
            /// ```
            /// use castiron::{Tensor, axis, dim, fft::Norm, shape, tensor};
            #[doc = concat!("let y: Tensor<f32, shape![4]> = tensor![4.0, 0.0, 0.0].", stringify!($name), "::<dim!(4), _>(axis![0], Norm::Ortho);")]
            /// assert_eq!(y.to_vec(), [2.0; 4]);
            /// ```
            #[fallible]
            pub fn $name<
                N: Samples, // `irfft::<dim!(64), _>(…)`, or `irfft_sized` (`hfft` likewise)
                const I: isize,
            >(
                &self,
                _axis: impl AxisArg<I>,
                norm: Norm,
            ) -> Result<Tensor<E::Re, <S as HasAxis<I>>::Replace<N>, D>>
            where
                E: Spectral,
                S: HasAxis<I>,
            {
                let op = concat!("fft.", stringify!($name));
                let axis = expect_axis(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
                let of = Along { op, axis, n: N::VALUE, direction: Direction::$direction, norm };
                along::<E, D>(self.elements(), Step::BackToReal, of)?.typed(op)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") of a length known at run time.")]
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($name), "` with `n`.")]
            ///
            /// # Panics
            /// As there, and if the length is 0.
            ///
            /// ```
            /// use castiron::{axis, fft::Norm, tensor};
            #[doc = concat!("assert_eq!(tensor![4.0, 0.0, 0.0].", stringify!($sized), "(axis![0], 5, Norm::Backward).shape(), [5]);")]
            /// ```
            #[fallible]
            pub fn $sized<const I: isize, Re: Element>(
                &self,
                _axis: impl AxisArg<I>,
                n: usize,
                norm: Norm,
            ) -> Result<Tensor<Re, <S as HasAxis<I>>::Replace<Dyn>, D>>
            where
                E: Spectral<Re = Re>,
                S: HasAxis<I>,
            {
                let op = concat!("fft.", stringify!($name));
                let axis = expect_axis(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
                let of = Along { op, axis, n, direction: Direction::$direction, norm };
                along::<E, D>(self.elements(), Step::BackToReal, of)?.typed(op)
            }
        }
    )*};
}
back_transforms! {
    /// Real samples of the first half of their frequencies.
    irfft irfft_sized: Inverse;
    /// The frequencies, which are real, of the first half of a signal whose other half are the conjugates.
    hfft hfft_sized: Forward;
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// [`rfft`](Self::rfft) along the last of several axes, [`fft`](Self::fft) along the others. The type says the result's shape, in which the
    /// last of these axes has `n / 2 + 1` elements.
    ///
    /// PyTorch: `torch.fft.rfftn`, and of two axes `torch.fft.rfft2`.
    ///
    /// # Panics
    /// If the shape is another, an axis has no elements, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, Tensor, axis, fft::Norm, shape};
    /// let x = Tensor::<f32, shape![2, 4]>::ones();
    /// let y: Tensor<Complex<f32>, shape![2, 3]> = x.rfftn(axis![0, 1], Norm::Backward);
    /// assert_eq!(y[(0, 0)], Complex::new(8.0, 0.0));
    /// ```
    #[fallible]
    pub fn rfftn<T, A: Axes<S>>(&self, _axes: A, norm: Norm) -> Result<Tensor<E::Cx, T, D>>
    where
        E: RealSignal,
        T: Shape + AsManyAxes<S>,
    {
        let op = "fft.rfftn";
        expect_axis(op, S::RANK, 0)?;
        let sizes = self.shape();
        let axes: Vec<(usize, usize)> = A::LIST.iter().map(|&at| (at, sizes.as_ref()[at])).collect();
        along_all::<E, D>(op, self.elements(), Step::Real, &axes, Direction::Forward, norm)?.typed(op)
    }

    /// [`irfft`](Self::irfft) along the last of several axes, to `n` real samples, [`ifft`](Self::ifft) along the others. The type says the
    /// result's shape.
    ///
    /// PyTorch: `torch.fft.irfftn`, and of two axes `torch.fft.irfft2`.
    ///
    /// # Panics
    /// If the shape is another, an axis has no elements, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, Tensor, axis, fft::Norm, shape};
    /// let x = Tensor::<f32, shape![2, 4]>::ones();
    /// let y: Tensor<Complex<f32>, shape![2, 3]> = x.rfftn(axis![0, 1], Norm::Backward);
    /// let z: Tensor<f32, shape![2, 4]> = y.irfftn(axis![0, 1], 4, Norm::Backward);
    /// assert_eq!(z.to_vec(), x.to_vec());
    /// ```
    #[fallible]
    pub fn irfftn<T, A: Axes<S>>(&self, _axes: A, n: usize, norm: Norm) -> Result<Tensor<E::Re, T, D>>
    where
        E: Spectral,
        T: Shape + AsManyAxes<S>,
    {
        let op = "fft.irfftn";
        expect_axis(op, S::RANK, 0)?;
        let sizes = self.shape();
        let mut axes: Vec<(usize, usize)> = A::LIST.iter().map(|&at| (at, sizes.as_ref()[at])).collect();
        if let Some(last) = axes.last_mut() {
            last.1 = n;
        }
        along_all::<E, D>(op, self.elements(), Step::BackToReal, &axes, Direction::Inverse, norm)?.typed(op)
    }
}
