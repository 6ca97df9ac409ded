//! The typed transforms: `fft`, `rfft`, `irfft` and their kin, in one axis and in several, `fftshift`, `stft`, `istft`.
//! Uses `fourier::erased`, `fourier::frames`.

use super::erased::{Along, Direction, Norm, Spectral, Step, along, along_all, frequencies};
use super::frames::{self, Frames};
use crate::device::Device;
use crate::dtype::{Complex, Element, Float};
use crate::error::{Result, listed};
use crate::shape::{Axes, AxisArg, D1, D2, Dim, DivideBy, Dyn, HasAxis, Known, Shape, Sum};
use crate::tensor::rearrange::pick::{pick, rolled};
use crate::tensor::{Tensor, checked_numel, expect_fit};
use castiron_macros::fallible;

/// The number of frequencies that say all of so many real samples: `n / 2 + 1`.
///
/// ```
/// use castiron::{Dim, dim, fft::Frequencies};
/// assert_eq!(<<dim!(8) as Frequencies>::Output as Dim>::SIZE, Some(5));
/// ```
pub trait Frequencies {
    /// The number; `Dyn` where that of the samples is.
    type Output: Dim;
}
impl<N: DivideBy<D2, Output = Half>, Half: Dim> Frequencies for N {
    type Output = Sum<Half, D1>;
}

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
            pub fn $name<const I: isize>(&self, _axis: impl AxisArg<I>, norm: Norm) -> Result<Tensor<E::Cx, S, D>>
            where
                E: Spectral,
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
            pub fn $sized<const I: isize>(
                &self,
                _axis: impl AxisArg<I>,
                n: usize,
                norm: Norm,
            ) -> Result<Tensor<E::Cx, <S as HasAxis<I>>::Replace<Dyn>, D>>
            where
                E: Spectral,
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
            pub fn $all<A: Axes<S>>(&self, _axes: A, norm: Norm) -> Result<Tensor<E::Cx, S, D>>
            where
                E: Spectral,
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
fn expect_axis(op: &'static str, rank: usize, axis: usize) -> Result<usize> {
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
            /// If the axis has no elements, the dtype is complex, or memory runs out.
            ///
            /// ```
            /// use castiron::{Complex, Tensor, axis, fft::Norm, shape, tensor};
            #[doc = concat!("let y: Tensor<Complex<f32>, shape![3]> = tensor![1.0, 0.0, 0.0, 0.0].", stringify!($name), "(axis![0], Norm::Forward);")]
            /// assert_eq!(y.numel(), 3);
            /// ```
            #[fallible]
            pub fn $name<const I: isize, M: Dim>(
                &self,
                _axis: impl AxisArg<I>,
                norm: Norm,
            ) -> Result<Tensor<E::Cx, <S as HasAxis<I>>::Replace<M>, D>>
            where
                E: Spectral,
                S: HasAxis<I, Dim: Frequencies<Output = M>>,
            {
                let op = concat!("fft.", stringify!($name));
                let at = expect_real::<E>(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
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
            pub fn $sized<const I: isize>(
                &self,
                _axis: impl AxisArg<I>,
                n: usize,
                norm: Norm,
            ) -> Result<Tensor<E::Cx, <S as HasAxis<I>>::Replace<Dyn>, D>>
            where
                E: Spectral,
                S: HasAxis<I>,
            {
                let op = concat!("fft.", stringify!($name));
                let axis = expect_real::<E>(op, S::RANK, <S as HasAxis<I>>::INDEX)?;
                let of = Along { op, axis, n, direction: Direction::$direction, norm };
                along::<E, D>(self.elements(), Step::Real, of)?.typed(op)
            }
        }
    )*};
}

fn expect_real<E: Element>(op: &'static str, rank: usize, axis: usize) -> Result<usize> {
    if E::DTYPE.is_complex() {
        let reason = format!("{} expects a real input tensor, but got {}", op.trim_start_matches("fft."), E::DTYPE);
        return crate::error::invalid(op, reason);
    }
    expect_axis(op, rank, axis)
}

real_transforms! {
    /// The frequencies of real samples, of which the other half are the conjugates.
    rfft rfft_sized: Forward;
    /// The inverse transform of real samples, of which the other half are the conjugates.
    ihfft ihfft_sized: Inverse;
}

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
            pub fn $name<N: Known, const I: isize>(
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
            pub fn $sized<const I: isize>(
                &self,
                _axis: impl AxisArg<I>,
                n: usize,
                norm: Norm,
            ) -> Result<Tensor<E::Re, <S as HasAxis<I>>::Replace<Dyn>, D>>
            where
                E: Spectral,
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
    /// If the shape is another, an axis has no elements, the dtype is complex, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, Tensor, axis, fft::Norm, shape};
    /// let x = Tensor::<f32, shape![2, 4]>::ones();
    /// let y: Tensor<Complex<f32>, shape![2, 3]> = x.rfftn(axis![0, 1], Norm::Backward);
    /// assert_eq!(y[(0, 0)], Complex::new(8.0, 0.0));
    /// ```
    #[fallible]
    pub fn rfftn<T: Shape, A: Axes<S>>(&self, _axes: A, norm: Norm) -> Result<Tensor<E::Cx, T, D>>
    where
        E: Spectral,
    {
        let op = "fft.rfftn";
        expect_real::<E>(op, S::RANK, 0)?;
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
    pub fn irfftn<T: Shape, A: Axes<S>>(&self, _axes: A, n: usize, norm: Norm) -> Result<Tensor<E::Re, T, D>>
    where
        E: Spectral,
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

    /// Transforms of overlapping frames, `(…, T)` to `(…, frequencies, frames)`. The type says the result's shape, often `shape![_, _]`; without a
    /// window samples count as they are.
    ///
    /// PyTorch: `torch.stft` with `return_complex=True`.
    ///
    /// # Panics
    /// If the frames do not fit the signal, the window has another length than they say, the shape is another, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, Tensor, fft::{Frames, Window}, shape};
    /// let (x, w) = (Tensor::<f32, shape![16]>::ones(), Tensor::<f32, shape![8]>::window(&Window::Hann, false));
    /// let y: Tensor<Complex<f32>, shape![5, _]> = x.stft(Some(&w), &Frames::new(8));
    /// assert_eq!(y.shape(), [5, 9]);
    /// ```
    #[fallible]
    pub fn stft<T: Shape, W: Dim>(
        &self,
        window: Option<&Tensor<E::Re, (W,), D>>,
        frames: &Frames,
    ) -> Result<Tensor<E::Cx, T, D>>
    where
        E: Spectral,
    {
        let weights = weights::<E, W, D>(window)?;
        frames::stft::<E, D>(self.elements(), weights, frames)?.typed("stft")
    }

    /// The signal whose [`stft`](Self::stft) this is: `(…, frequencies, frames)` to `(…, T)`. The type says the result's shape.
    ///
    /// PyTorch: `torch.istft`.
    ///
    /// # Panics
    /// If the frames do not fit, a sample is in no frame that weighs it, the shape is another, or memory runs out.
    ///
    /// ```
    /// use castiron::{Complex, Tensor, fft::{Frames, Window}, shape};
    /// let (x, w) = (Tensor::<f64, shape![16]>::linspace(0.0, 1.0), Tensor::<f64, shape![8]>::window(&Window::Hann, false));
    /// let y: Tensor<Complex<f64>, shape![5, _]> = x.stft(Some(&w), &Frames::new(8));
    /// let z: Tensor<f64, shape![16]> = y.istft(Some(&w), &Frames::new(8), None);
    /// assert!(z.allclose(&x));
    /// ```
    #[fallible]
    pub fn istft<T: Shape, W: Dim>(
        &self,
        window: Option<&Tensor<E::Re, (W,), D>>,
        frames: &Frames,
        length: Option<usize>,
    ) -> Result<Tensor<E::Re, T, D>>
    where
        E: Spectral,
    {
        let weights = weights::<E, W, D>(window)?;
        frames::istft::<E, D>(self.elements(), weights, frames, length, false)?.typed("istft")
    }
}

/// A window's elements; there are none to be read without data, and none are needed.
fn weights<E: Spectral, W: Dim, D: Device>(
    window: Option<&Tensor<E::Re, (W,), D>>,
) -> Result<Option<Vec<Complex<E::Re>>>> {
    let Some(window) = window else { return Ok(None) };
    if !D::has_data(window.storage()) {
        return crate::error::filled(num_traits::One::one(), window.numel()).map(Some);
    }
    listed(D::download(window.elements())?.into_iter().map(Spectral::wave)).map(Some)
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
