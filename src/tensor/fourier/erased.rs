//! Transforms along axes, over views: each step makes its axis the last one in memory, and the result a view of that.
//! Source: `aten/src/ATen/native/SpectralOps.cpp`. Uses `device`, `cpu::fourier`; used by the typed methods and by `any`.

use crate::cpu::fourier::{self, WaveNumber};
use crate::device::{Backend, Device};
use crate::dtype::{Complex, Dtype, Element};
use crate::error::{Error, Result, collected, filled, invalid, listed};
use crate::layout::strides;
use crate::shape::{Shape, SizeArray};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel, expect_fit};

/// The real dtypes of transforms: `f32` and `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the real dtype of a Fourier transform",
    label = "expected `f32` or `f64`"
)]
pub trait Wave: WaveNumber + Spectral<Re = Self, Cx = Complex<Self>> {}
impl Wave for f32 {}
impl Wave for f64 {}

/// The dtypes with Fourier transforms: integers and `bool`, which count as `f32`, `f32` and `f64`, and their complex numbers.
#[diagnostic::on_unimplemented(
    message = "Fourier transforms are not defined for `{Self}`",
    label = "expected an integer, `f32`, `f64`, `Complex<f32>` or `Complex<f64>`",
    note = "as in PyTorch, 16-bit floats have none on the CPU: cast first, for example `.to::<f32>()`"
)]
pub trait Spectral: Dtype {
    /// What a real result holds.
    type Re: Wave;
    /// What a complex result holds.
    type Cx: Spectral<Re = Self::Re, Cx = Self::Cx>;
    /// An element as the transform takes it.
    #[doc(hidden)]
    fn wave(self) -> Complex<Self::Re>;
    /// The complex result as it is called.
    #[doc(hidden)]
    fn spectrum(parts: Complex<Self::Re>) -> Self::Cx;
}
/// The real ones of them, half of whose frequencies say all.
#[diagnostic::on_unimplemented(
    message = "a signal of `{Self}` is not real",
    label = "expected an integer, `bool`, `f32` or `f64`",
    note = "`fft` and `ifft` transform complex numbers; in generic code the bound is `E: RealSignal`"
)]
pub trait RealSignal: Spectral {}
/// For a dtype it writes `impl RealSignal`.
macro_rules! real_signals {
    ($($ty:ty)*) => {$(
        impl RealSignal for $ty {}
    )*};
}
real_signals!(bool u8 i8 i16 i32 i64 f32 f64);

macro_rules! spectral {
    ($($ty:ty: $re:ty, |$x:ident| $real:expr;)*) => {$(
        impl Spectral for $ty {
            type Re = $re;
            type Cx = Complex<$re>;
            fn wave(self) -> Complex<$re> {
                let $x = self;
                $real
            }
            fn spectrum(parts: Complex<$re>) -> Complex<$re> {
                parts
            }
        }
    )*};
}
spectral! {
    bool: f32, |x| Complex::new(f32::from(u8::from(x)), 0.0);
    u8: f32, |x| Complex::new(f32::from(x), 0.0);
    i8: f32, |x| Complex::new(f32::from(x), 0.0);
    i16: f32, |x| Complex::new(f32::from(x), 0.0);
    i32: f32, |x| Complex::new(x as f32, 0.0);
    i64: f32, |x| Complex::new(x as f32, 0.0);
    f32: f32, |x| Complex::new(x, 0.0);
    f64: f64, |x| Complex::new(x, 0.0);
    Complex<f32>: f32, |x| x;
    Complex<f64>: f64, |x| x;
}

/// How results are scaled (PyTorch's `norm`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Norm {
    /// Inverse transforms by `1 / n`.
    #[default]
    Backward,
    /// Forward transforms by `1 / n`.
    Forward,
    /// All by `1 / sqrt(n)`.
    Ortho,
}

/// Which way a transform goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    Forward,
    Inverse,
}

impl Norm {
    pub(crate) fn scale(self, direction: Direction, n: usize) -> f64 {
        match (self, direction) {
            (Norm::Backward, Direction::Inverse) | (Norm::Forward, Direction::Forward) => 1.0 / n as f64,
            (Norm::Ortho, _) => 1.0 / (n as f64).sqrt(),
            _ => 1.0,
        }
    }
}

/// What a step takes and gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Complex numbers of complex ones.
    Complex,
    /// The first half of the frequencies of real numbers.
    Real,
    /// Real numbers of the first half of their frequencies.
    BackToReal,
}

/// A result, whose axes may stand in any order in memory.
pub(crate) struct Transformed<D: Backend> {
    pub(crate) storage: D::Storage,
    pub(crate) sizes: Vec<usize>,
    pub(crate) strides: Vec<usize>,
}

impl<D: Device> Transformed<D> {
    pub(crate) fn view<E>(&self) -> View<'_, D::Storage, E> {
        View::new(&self.storage, 0, &self.sizes, &self.strides)
    }

    /// The tensor of a shape that the types found.
    pub(crate) fn typed<E: Element, S: Shape>(self, op: &'static str) -> Result<Tensor<E, S, D>> {
        if self.sizes.len() != S::RANK {
            return invalid(op, format!("the result has {} axes, its type {}", self.sizes.len(), S::RANK));
        }
        expect_fit::<S>(op, &self.sizes)?;
        Ok(Tensor::from_parts(self.storage, 0, S::Sizes::copied(&self.sizes), S::Sizes::copied(&self.strides)))
    }
}

/// One axis to be transformed.
#[derive(Clone, Copy)]
pub(crate) struct Along {
    pub(crate) op: &'static str,
    pub(crate) axis: usize,
    /// The length of the signal: of what is transformed, or of the real result.
    pub(crate) n: usize,
    pub(crate) direction: Direction,
    pub(crate) norm: Norm,
}

/// Lanes of one length from lanes of another: cut off or filled up with zeros.
fn fitted<E: Copy + Default>(lanes: Vec<E>, [have, need]: [usize; 2], count: usize) -> Result<Vec<E>> {
    if have == need {
        return Ok(lanes);
    }
    let mut to = filled(E::default(), need * count)?;
    if have > 0 {
        for (to, from) in to.chunks_exact_mut(need).zip(lanes.chunks_exact(have)) {
            to[..have].copy_from_slice(from);
        }
    }
    Ok(to)
}

/// Transforms one axis. The result holds `E::Cx`, or `E::Re` where it goes back to real numbers.
pub(crate) fn along<E: Spectral, D: Device>(
    x: View<'_, D::Storage, E>,
    step: Step,
    of: Along,
) -> Result<Transformed<D>> {
    let Along { op, axis, n, direction, norm } = of;
    if n == 0 {
        return invalid(op, format!("Invalid number of data points ({n}) specified"));
    }
    let half = n / 2 + 1;
    let (need, gives) = match step {
        Step::Complex => (n, n),
        Step::Real => (n, half),
        Step::BackToReal => (half, n),
    };
    let have = x.sizes[axis].min(need);
    // The axis comes last.
    let last = |list: &[usize], size: usize| -> Vec<usize> {
        let others = list.iter().enumerate().filter(|&(at, _)| at != axis).map(|(_, &size)| size);
        others.chain([size]).collect()
    };
    let (sizes, steps) = (last(x.sizes, have), last(x.strides, x.strides[axis]));
    let count = sizes[..sizes.len() - 1].iter().fold(1_usize, |count, &size| count.saturating_mul(size));
    let result = last(x.sizes, gives);
    let too_large = || Error::TooLarge { op, sizes: result[..].into() };
    count.checked_mul(need.max(gives)).filter(|&len| len <= isize::MAX as usize / 16).ok_or_else(too_large)?;
    checked_numel::<Complex<f64>>(op, &result)?;
    let scale = norm.scale(direction, n);
    let forward = direction == Direction::Forward;
    let download = || D::download(x.restrided(&sizes, &steps));
    let storage = match step {
        Step::Complex => D::build::<E::Cx>(Some(x.buffer), || {
            let mut lanes = fitted(listed(download()?.into_iter().map(E::wave))?, [have, need], count)?;
            fourier::complex::<E::Re>(&mut lanes, n, forward, scale)?;
            listed(lanes.into_iter().map(E::spectrum))
        })?,
        Step::Real => D::build::<E::Cx>(Some(x.buffer), || {
            let mut lanes = fitted(listed(download()?.into_iter().map(|x| x.wave().re))?, [have, need], count)?;
            let lanes = fourier::real::<E::Re>(&mut lanes, n, !forward, scale)?;
            listed(lanes.into_iter().map(E::spectrum))
        })?,
        Step::BackToReal => D::build::<E::Re>(Some(x.buffer), || {
            let mut lanes = fitted(listed(download()?.into_iter().map(E::wave))?, [have, need], count)?;
            fourier::back_to_real::<E::Re>(&mut lanes, n, forward, scale)
        })?,
    };
    let mut strides = strides::row_major(&result);
    let mut sizes = result;
    let (size, stride) = (sizes.pop().unwrap_or(1), strides.pop().unwrap_or(1));
    sizes.insert(axis, size);
    strides.insert(axis, stride);
    Ok(Transformed { storage, sizes, strides })
}

/// Transforms several axes, each with the length of its signal; of the last one it takes or gives real numbers, if the step says so.
pub(crate) fn along_all<E: Spectral, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    step: Step,
    axes: &[(usize, usize)],
    direction: Direction,
    norm: Norm,
) -> Result<Transformed<D>> {
    for (at, (axis, _)) in axes.iter().enumerate() {
        if axes[..at].iter().any(|(other, _)| other == axis) {
            return invalid(op, "FFT dims must be unique".to_owned());
        }
    }
    let Some((&last, others)) = axes.split_last() else {
        if step != Step::Complex {
            return invalid(op, format!("{} must transform at least one axis", op.trim_start_matches("fft.")));
        }
        // As it is, in complex numbers.
        checked_numel::<E::Cx>(op, x.sizes)?;
        let storage =
            D::build::<E::Cx>(Some(x.buffer), || listed(D::download(x)?.into_iter().map(|x| E::spectrum(x.wave()))))?;
        return Ok(Transformed { storage, sizes: x.sizes.to_vec(), strides: strides::row_major(x.sizes) });
    };
    let one = |(axis, n): (usize, usize)| Along { op, axis, n, direction, norm };
    let mut all = axes.iter();
    if all.any(|&(_, n)| n == 0) {
        return invalid(op, "Invalid number of data points (0) specified".to_owned());
    }
    if step == Step::BackToReal {
        let Some((&first, rest)) = others.split_first() else { return along::<E, D>(x, step, one(last)) };
        let mut result = along::<E, D>(x, Step::Complex, one(first))?;
        for &axis in rest {
            result = along::<E::Cx, D>(result.view(), Step::Complex, one(axis))?;
        }
        return along::<E::Cx, D>(result.view(), step, one(last));
    }
    let mut result = along::<E, D>(x, step, one(last))?;
    for &axis in others.iter().rev() {
        result = along::<E::Cx, D>(result.view(), Step::Complex, one(axis))?;
    }
    Ok(result)
}

/// The frequencies of a transform of `n` samples that are `d` apart: all, or the first half.
pub(crate) fn frequencies(n: usize, d: f64, half: bool) -> Result<Vec<f64>> {
    let step = 1.0 / (n as f64 * d);
    let count = if half && n > 0 {
        n / 2 + 1
    } else if half {
        1
    } else {
        n
    };
    collected((0..count).map(|at| {
        let at = if half || at < n.div_ceil(2) { at as f64 } else { at as f64 - n as f64 };
        Ok(at * step)
    }))
}
