//! The typed transforms of complex numbers, `fft` and `ifft`, in one axis and in several; `fftshift`, `fftfreq`.
//! Uses `fourier::erased`.

use super::erased::{Along, Direction, Norm, Spectral, Step, along, along_all, frequencies};
use crate::device::Device;
use crate::dtype::{Element, Float};
use crate::error::{Result, listed};
use crate::shape::{Axes, AxisArg, Dim, Dyn, HasAxis, Known, Shape};
use crate::tensor::rearrange::pick::{pick, rolled};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// For `fft: Complex, Forward` it writes the transform of an axis, `fft`, and with another length, `fft_n` and `fft_sized`.
macro_rules! complex_transforms {
    ($($(#[$doc:meta])* $name:ident $known:ident $sized:ident $all:ident: $direction:ident, $example:literal;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ") along an axis and along several.")]
        impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
            $(#[$doc])*
            ///
            /// Integers and `bool` count as `f32`; 16-bit floats are refused.
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($name), "`.")]
            ///
            /// # Panics
            /// If the axis has no elements, or memory runs out.
            ///
            /// ```
            #[doc = $example]
            /// ```
            #[fallible]
            pub fn $name<const I: isize, Cx: Element>(&self, _axis: impl AxisArg<I>, norm: Norm) -> Result<Tensor<Cx, S, D>>
            where
                E: Spectral<Cx = Cx>,
                S: HasAxis<I>,
            {
                let op = concat!("fft.", stringify!($name));
                let at = expect_axis(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
                let n = self.shape().as_ref()[at];
                let of = Along { op, axis: at, n, direction: Direction::$direction, norm };
                along::<E, D>(self.elements(), Step::Complex, of)?.typed(op)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") of a length that the type knows: the axis is cut off, or filled up with zeros.")]
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($name), "` with `n`.")]
            ///
            /// # Panics
            /// As there.
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
                let op = concat!("fft.", stringify!($name));
                let axis = expect_axis(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
                let of = Along { op, axis, n: N::VALUE, direction: Direction::$direction, norm };
                along::<E, D>(self.elements(), Step::Complex, of)?.typed(op)
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
            #[doc = concat!("assert_eq!(tensor![1.0, 2.0, 3.0].", stringify!($sized), "(axis![0], 4, Norm::Backward).shape(), [4]);")]
            /// ```
            #[fallible]
            pub fn $sized<const I: isize, Cx: Element>(
                &self,
                _axis: impl AxisArg<I>,
                n: usize,
                norm: Norm,
            ) -> Result<Tensor<Cx, <S as HasAxis<I>>::Replace<Dyn>, D>>
            where
                E: Spectral<Cx = Cx>,
                S: HasAxis<I>,
            {
                let op = concat!("fft.", stringify!($name));
                let axis = expect_axis(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
                let of = Along { op, axis, n, direction: Direction::$direction, norm };
                along::<E, D>(self.elements(), Step::Complex, of)?.typed(op)
            }

            #[doc = concat!("[`", stringify!($name), "`](Self::", stringify!($name), ") along several axes.")]
            ///
            #[doc = concat!("PyTorch: `torch.fft.", stringify!($all), "`, and of two axes `torch.fft.", stringify!($name), "2`.")]
            ///
            /// # Panics
            /// As there.
            ///
            /// ```
            /// use castiron::{axis, fft::Norm, tensor};
            #[doc = concat!("assert_eq!(tensor![[1.0, 2.0], [3.0, 4.0]].", stringify!($all), "(axis![0, 1], Norm::Backward).shape(), [2, 2]);")]
            /// ```
            #[fallible]
            pub fn $all<A: Axes<S>, Cx: Element>(&self, _axes: A, norm: Norm) -> Result<Tensor<Cx, S, D>>
            where
                E: Spectral<Cx = Cx>,
            {
                let op = concat!("fft.", stringify!($all));
                let sizes = self.shape();
                let axes: Vec<(usize, usize)> =
                    A::LIST.iter().filter(|&&at| at < S::RANK).map(|&at| (at, sizes.as_ref()[at])).collect();
                along_all::<E, D>(op, self.elements(), Step::Complex, &axes, Direction::$direction, norm)?.typed(op)
            }
        }
    )*};
}

/// A zero-dim tensor has no axis to transform.
pub(super) fn expect_axis(op: &'static str, rank: usize, axis: usize) -> Result<usize> {
    if rank == 0 {
        return crate::error::invalid(op, "Dimension specified as -1 but tensor has no dimensions".to_owned());
    }
    Ok(axis)
}

complex_transforms! {
    /// The discrete Fourier transform along an axis.
    fft fft_n fft_sized fftn: Forward,
        "use castiron::{Complex, axis, fft::Norm, tensor};\nlet y = tensor![1.0, 0.0, 0.0].fft(axis![0], Norm::Backward);\nassert_eq!(y.to_vec(), [Complex::new(1.0, 0.0); 3]);";
    /// The inverse discrete Fourier transform along an axis.
    ifft ifft_n ifft_sized ifftn: Inverse,
        "use castiron::{Complex, axis, fft::Norm, tensor};\nlet y = tensor![3.0, 0.0, 0.0].ifft(axis![0], Norm::Backward);\nassert_eq!(y.to_vec(), [Complex::new(1.0, 0.0); 3]);";
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Frequencies in the order of numbers, 0 in the middle.
    ///
    /// PyTorch: `torch.fft.fftshift`, of axes.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![0, 1, 2, -2, -1].fftshift(axis![0]).to_vec(), [-2, -1, 0, 1, 2]);
    /// ```
    #[fallible]
    pub fn fftshift<const I: isize>(&self, axis: impl AxisArg<I>) -> Result<Self>
    where
        S: HasAxis<I>,
    {
        self.shifted(axis, |n| n / 2)
    }

    /// The opposite of [`fftshift`](Self::fftshift).
    ///
    /// PyTorch: `torch.fft.ifftshift`, of axes.
    ///
    /// # Panics
    /// If memory runs out.
    ///
    /// ```
    /// use castiron::{axis, tensor};
    /// assert_eq!(tensor![-2, -1, 0, 1, 2].ifftshift(axis![0]).to_vec(), [0, 1, 2, -2, -1]);
    /// ```
    #[fallible]
    pub fn ifftshift<const I: isize>(&self, axis: impl AxisArg<I>) -> Result<Self>
    where
        S: HasAxis<I>,
    {
        self.shifted(axis, |n| n.div_ceil(2))
    }

    fn shifted<const I: isize>(&self, _axis: impl AxisArg<I>, by: impl Fn(usize) -> usize) -> Result<Self>
    where
        S: HasAxis<I>,
    {
        let (at, mut axes) = (<S as HasAxis<I>>::INDEX, self.whole_axes());
        // (A zero-dim tensor stands for one axis of size 1, which stays as it is.)
        if let Some(&n) = self.shape().as_ref().get(at) {
            axes[at] = rolled(n, by(n) as isize);
        }
        pick("fftshift", self.elements(), &axes, E::default())
    }
}

impl<E: Float, N: Dim, D: Device> Tensor<E, (N,), D> {
    fn of_frequencies(op: &'static str, n: usize, d: f64, half: bool) -> Result<Self> {
        checked_numel::<f64>(op, &[n])?;
        let len = if half { n / 2 + 1 } else { n };
        expect_fit::<(N,)>(op, &[len])?;
        let storage = D::build(None, || listed(frequencies(n, d, half)?.into_iter().map(E::from_f64)))?;
        Ok(Self::dense(storage, [len]))
    }

    /// The frequencies of [`fft`](Tensor::fft) of `n` samples that are `d` apart (`torch.fft.fftfreq`).
    ///
    /// # Panics
    /// If the size is not what the type says, or memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// assert_eq!(Tensor::<f32, shape![4]>::fftfreq(4, 0.5).to_vec(), [0.0, 0.5, -1.0, -0.5]);
    /// ```
    #[fallible]
    pub fn fftfreq(n: usize, d: f64) -> Result<Self> {
        Self::of_frequencies("fft.fftfreq", n, d, false)
    }

    /// The frequencies of [`rfft`](Tensor::rfft) of `n` samples that are `d` apart (`torch.fft.rfftfreq`): `n / 2 + 1` of them.
    ///
    /// # Panics
    /// If the size is not what the type says, or memory runs out.
    ///
    /// ```
    /// use castiron::{Tensor, shape};
    /// assert_eq!(Tensor::<f32, shape![3]>::rfftfreq(4, 0.5).to_vec(), [0.0, 0.5, 1.0]);
    /// ```
    #[fallible]
    pub fn rfftfreq(n: usize, d: f64) -> Result<Self> {
        Self::of_frequencies("fft.rfftfreq", n, d, true)
    }
}
