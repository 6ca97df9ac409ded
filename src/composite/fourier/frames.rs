//! Short-time transforms of overlapping frames, and back: `stft`, `istft`.
//! Source: `aten/src/ATen/native/SpectralOps.cpp`.

#[cfg(feature = "grad")]
use super::lanes::{Step, Transform};
use super::signal::sealed::Wave as _;
use super::signal::{Direction, Norm, Spectral};
#[cfg(feature = "grad")]
use crate::composite::Axis;
#[cfg(feature = "grad")]
use crate::composite::rearrange::pad::Mode;
use crate::composite::{Erased, Owned};
use crate::device::{Device, expect_constant, on_host};
use crate::dtype::{Complex, Dtype};
use crate::error::{Error, Result, filled, invalid, listed, numel_at_most, room};
use crate::layout::dims::Dims;
#[cfg(feature = "grad")]
use crate::ops::arguments::Indexing;
#[cfg(feature = "grad")]
use crate::ops::choosing::Folding;
#[cfg(feature = "grad")]
use crate::ops::kernel::Casting;
#[cfg(feature = "grad")]
use crate::ops::reduce::Accumulating;
use crate::shape::{Dim, Shape};
#[cfg(feature = "grad")]
use crate::storage::{View, ViewMut};
use crate::tensor::fourier::{FramesOf, Weights};
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::composites;
use num_traits::Zero;

/// The extension of a signal beyond its ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Beyond {
    /// Mirrored, without repeating the end itself (`reflect`).
    #[default]
    Mirror,
    /// Zeros (`constant`).
    Zeros,
    /// The last sample repeated (`replicate`).
    Edge,
    /// Continued from the other end (`circular`).
    Wrap,
}

/// How a signal is split into frames (PyTorch's arguments of `stft`).
///
/// ```
/// use castiron::fft::Frames;
/// let frames = Frames { hop: 2, ..Frames::new(8) };
/// assert_eq!((frames.n_fft, frames.window), (8, 8));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frames {
    /// The length of a transform.
    pub n_fft: usize,
    /// The distance of frames; a quarter of `n_fft` by default.
    pub hop: usize,
    /// The length of the window (`win_length`), which is centered in a frame.
    pub window: usize,
    /// Whether frames are centered at their positions; the signal is extended by half a frame at both ends.
    pub center: bool,
    /// The extension of the signal (`pad_mode`).
    pub beyond: Beyond,
    /// Whether results are divided by the root of `n_fft`.
    pub normalized: bool,
    /// Whether only the first half of the frequencies is computed, which determines a real signal.
    pub onesided: bool,
}

impl Frames {
    /// PyTorch's defaults.
    pub fn new(n_fft: usize) -> Self {
        Frames {
            n_fft,
            hop: n_fft / 4,
            window: n_fft,
            center: true,
            beyond: Beyond::Mirror,
            normalized: false,
            onesided: true,
        }
    }

    fn check(&self, op: &'static str) -> Result<()> {
        if self.hop == 0 {
            return invalid(op, "expected hop_length > 0, but got hop_length=0".to_owned());
        }
        if self.window == 0 || self.window > self.n_fft {
            return invalid(op, format!("expected 0 < win_length <= n_fft, but got win_length={}", self.window));
        }
        Ok(())
    }

    /// The number of frequencies.
    pub(crate) fn bins(&self) -> usize {
        if self.onesided { self.n_fft / 2 + 1 } else { self.n_fft }
    }

    fn norm(&self) -> Norm {
        if self.normalized { Norm::Ortho } else { Norm::Backward }
    }

    /// The weights of a whole frame.
    fn weights<C: Copy + Zero + num_traits::One>(&self, op: &'static str, window: Option<Vec<C>>) -> Result<Vec<C>> {
        let mut all = filled(C::zero(), self.n_fft)?;
        let start = (self.n_fft - self.window) / 2;
        match window {
            Some(window) if window.len() != self.window => {
                return invalid(
                    op,
                    format!(
                        "expected a 1D window tensor of size equal to win_length={}, but got window with size {}",
                        self.window,
                        window.len()
                    ),
                );
            }
            Some(window) => all[start..start + self.window].copy_from_slice(&window),
            None => all[start..start + self.window].fill(C::one()),
        }
        Ok(all)
    }
}

/// The index of the sample at a position before the start or after the end.
fn continued(at: isize, len: usize, beyond: Beyond) -> Option<usize> {
    let last = len as isize - 1;
    let found = match beyond {
        _ if (0..=last).contains(&at) => at,
        Beyond::Zeros => return None,
        Beyond::Mirror if at < 0 => -at,
        Beyond::Mirror => 2 * last - at,
        Beyond::Edge => at.clamp(0, last),
        Beyond::Wrap => at.rem_euclid(len as isize),
    };
    usize::try_from(found).ok().filter(|&found| found < len)
}

#[composites]
impl<E: Spectral, D: Device> Erased<'_, E, D> {
    /// Short-time Fourier transform of overlapping frames, `(…, T)` to `(…, frequencies, frames)`, complex: PyTorch's
    /// `return_complex=True`. Without a window samples are not weighted. The type of a `Tensor` has the result's shape, often `shape![_,
    /// _]`.
    ///
    /// # Errors
    /// If the frames do not fit the signal, or the window has another length.
    #[op(stft, dtypes = spectral)]
    #[any(let () = self.expect_framed(window, frames)?, window: Option<&crate::any::AnyTensor> = self.weights_beside::<E>("stft", window)?)]
    #[typed(<T, W: Dim>(&self, window: impl Weights<E::Re, W, D>, frames: &Frames) -> Tensor<E::Cx, T, D>
        where
            E: Spectral,
            T: Shape + FramesOf<S>;
        window = weights::<E, W, D>(window.given())?)]
    #[example(let x = tensor![1.0, 1.0, 1.0, 1.0]; let window = tensor![1.0, 1.0]; let frames = Frames { hop: 2, center: false, ..Frames::new(2) }; x.stft::<shape![_, _], _>(Some(&window), &frames), x.stft(Some(&window), &frames), ~ tensor![[Complex::new(2.0_f32, 0.0), Complex::new(2.0, 0.0)], [Complex::new(0.0, 0.0), Complex::new(0.0, 0.0)]])]
    pub(crate) fn stft(&self, window: Option<Vec<Complex<E::Re>>>, frames: &Frames) -> Result<Owned<E::Cx, D>> {
        let (op, x) = ("stft", self.view());
        frames.check(op)?;
        let Some((&len, lead)) = x.sizes.split_last() else {
            return invalid(op, "expected a 1D or 2D tensor".to_owned());
        };
        if frames.onesided && E::DTYPE.is_complex() {
            return invalid(op, "Cannot have onesided output if window or input is complex".to_owned());
        }
        let n = frames.n_fft;
        let around = if frames.center { n / 2 } else { 0 };
        let fits = match frames.beyond {
            Beyond::Mirror => around < len.max(1),
            Beyond::Wrap => around <= len,
            Beyond::Edge => len > 0 || around == 0,
            Beyond::Zeros => true,
        };
        if !fits {
            return invalid(
                op,
                format!("half a frame ({around}) at both ends is more than a signal of {len} can be continued by"),
            );
        }
        let whole = len.saturating_add(2 * around);
        if n == 0 || n > whole {
            return invalid(op, format!("expected 0 < n_fft <= {whole}, but got n_fft={n}"));
        }
        let weights = frames.weights(op, window)?;
        let count = 1 + (whole - n) / frames.hop;
        let bins = frames.bins();
        let laid = [lead, &[count, n]].concat();
        checked_numel::<Complex<f64>>(op, &laid)?;
        #[cfg(feature = "grad")]
        if D::is_tracked(x.buffer) {
            return self.recorded_stft(&weights, frames, around, count);
        }
        let batch: usize = lead.iter().product();
        let storage = on_host::<D, _, Vec<E::Cx>>(op, x, |signals: Vec<E>| {
            let mut lanes = room(numel_at_most(&[batch, count, n]))?;
            for signal in signals.chunks_exact(len.max(1)).take(batch) {
                for frame in 0..count {
                    for (at, &weight) in weights.iter().enumerate() {
                        let place = (frame * frames.hop + at) as isize - around as isize;
                        let sample =
                            continued(place, len, frames.beyond).map_or(Complex::zero(), |at| signal[at].wave());
                        lanes.push(sample * weight);
                    }
                }
            }
            let scale = frames.norm().scale(Direction::Forward, n);
            let spectra = if frames.onesided {
                let mut real = listed(lanes.into_iter().map(|x| x.re))?;
                E::Re::real(&mut real, n, false, scale)?
            } else {
                E::Re::complex(&mut lanes, n, true, scale)?;
                lanes
            };
            listed(spectra.into_iter().map(E::spectrum))
        })?;
        let mut sizes = Dims::new(op, &[lead, &[count, bins]].concat())?;
        let (mut strides, rank) = (sizes.row_major(), sizes.len());
        sizes.swap(rank - 2, rank - 1);
        strides.swap(rank - 2, rank - 1);
        Ok(Erased::fresh(storage, sizes, strides))
    }

    /// The real signal with this [`stft`](Self::stft): `(…, frequencies, frames)` to `(…, T)`. The type of a `Tensor` has the result's
    /// shape.
    ///
    /// # Errors
    /// If the frames do not fit, or a sample is not covered by the window of any frame.
    #[op(istft, dtypes = spectral)]
    #[any(by_hand)]
    #[typed(<T: Shape, W: Dim>(&self, window: impl Weights<E::Re, W, D>, frames: &Frames, length: Option<usize>) -> Tensor<E::Re, T, D>
        where
            E: Spectral,
            S: FramesOf<T>;
        window = weights::<E, W, D>(window.given())?)]
    #[example(let y = tensor![[Complex::new(2.0_f32, 0.0), Complex::new(2.0, 0.0)], [Complex::new(0.0, 0.0), Complex::new(0.0, 0.0)]]; let window = tensor![1.0, 1.0]; let frames = Frames { hop: 2, center: false, ..Frames::new(2) }; y.istft::<shape![_], _>(Some(&window), &frames, None), _, tensor![1.0, 1.0, 1.0, 1.0])]
    pub(crate) fn istft(
        &self,
        window: Option<Vec<Complex<E::Re>>>,
        frames: &Frames,
        length: Option<usize>,
    ) -> Result<Owned<E::Re, D>> {
        self.overlapped(window, frames, length, false, |x| x.re)
    }

    /// Overlap-add: the samples, each divided by the sum of weights of its frames; for `complex` ones all frequencies are used.
    pub(crate) fn overlapped<O: Dtype>(
        &self,
        window: Option<Vec<Complex<E::Re>>>,
        frames: &Frames,
        length: Option<usize>,
        complex: bool,
        of: impl Fn(Complex<E::Re>) -> O,
    ) -> Result<Owned<O, D>> {
        let (op, x) = ("istft", self.view());
        frames.check(op)?;
        let Some((lead, &[bins, count])) = x.sizes.split_last_chunk::<2>() else {
            return invalid(op, "expected a tensor with 2 or 3 dimensions".to_owned());
        };
        let n = frames.n_fft;
        if x.sizes.contains(&0) {
            return invalid(op, "input tensor cannot be empty.".to_owned());
        }
        if bins != frames.bins() {
            return invalid(op, format!("expected {} frequencies of n_fft={n}, got {bins}", frames.bins()));
        }
        if frames.onesided && complex {
            return invalid(op, "a complex signal is not found from half of its frequencies".to_owned());
        }
        let weights = frames.weights(op, window)?;
        let whole = frames.hop.checked_mul(count - 1).and_then(|last| last.checked_add(n));
        let whole = whole.ok_or_else(|| Error::TooLarge { op, sizes: [count, frames.hop][..].into() })?;
        let start = if frames.center { n / 2 } else { 0 };
        let end = match length {
            Some(length) => start.saturating_add(length),
            None if frames.center => whole.saturating_sub(n / 2),
            None => whole,
        };
        let found = end.min(whole).saturating_sub(start);
        let len = end.saturating_sub(start);
        let mut envelope = filled(Complex::<E::Re>::zero(), whole)?;
        for frame in 0..count {
            for (at, &weight) in weights.iter().enumerate() {
                envelope[frame * frames.hop + at] = envelope[frame * frames.hop + at] + weight * weight;
            }
        }
        if envelope[start.min(whole)..(start + found).min(whole)].iter().any(|x| {
            let size = x.norm().as_f64();
            size.is_nan() || size <= 1e-11
        }) {
            return invalid(op, "window overlap add min: 1".to_owned());
        }
        let result = [lead, &[len]].concat();
        checked_numel::<Complex<f64>>(op, &result)?;
        #[cfg(feature = "grad")]
        if D::is_tracked(x.buffer) {
            let signal = self.recorded_overlaps(&weights, frames, whole, complex)?;
            let envelope = constant::<E, D>(&self.view(), envelope)?;
            let kept = |of: &Erased<'_, E::Cx, D>| -> Result<Owned<E::Cx, D>> {
                Ok(of.narrow(op, Axis(of.rank() - 1), start, found)?.share())
            };
            let signal = kept(&signal)?.over(&kept(&envelope)?)?.fitted(lead.len(), len)?;
            return signal.map1_dense::<O>(op, Casting);
        }
        let (mut sizes, mut steps) = (Dims::known(x.sizes), Dims::known(x.strides));
        let rank = sizes.len();
        sizes.swap(rank - 2, rank - 1);
        steps.swap(rank - 2, rank - 1);
        let storage = on_host::<D, _, Vec<O>>(op, x.restrided(&sizes, &steps), |lanes: Vec<E>| {
            let scale = frames.norm().scale(Direction::Inverse, n);
            let mut lanes = listed(lanes.into_iter().map(E::wave))?;
            let samples = if complex {
                E::Re::complex(&mut lanes, n, false, scale)?;
                lanes
            } else {
                let half = n / 2 + 1;
                let mut kept = room(lanes.len() / bins * half)?;
                lanes.chunks_exact(bins).for_each(|lane| kept.extend_from_slice(&lane[..half]));
                let real = E::Re::back_to_real(&mut kept, n, false, scale)?;
                listed(real.into_iter().map(|x| Complex::new(x, Zero::zero())))?
            };
            let mut signals = room(lead.iter().product::<usize>() * len)?;
            for signal in samples.chunks_exact(count * n) {
                let mut sums = filled(Complex::<E::Re>::zero(), whole)?;
                for (frame, samples) in signal.chunks_exact(n).enumerate() {
                    for (at, (&sample, &weight)) in samples.iter().zip(&weights).enumerate() {
                        let place = frame * frames.hop + at;
                        sums[place] = sums[place] + sample * weight;
                    }
                }
                signals
                    .extend((start..end).map(|at| if at < whole { sums[at] / envelope[at] } else { Complex::zero() }));
            }
            listed(signals.into_iter().map(of))
        })?;
        Ok(Erased::dense(storage, Dims::new(op, &result)?))
    }
}

/// Frames that a tape sees as other operations.
#[cfg(feature = "grad")]
impl<E: Spectral, D: Device> Erased<'_, E, D> {
    /// The transform of `count` frames, the signal being continued by `around` samples at both ends.
    fn recorded_stft(
        &self,
        weights: &[Complex<E::Re>],
        frames: &Frames,
        around: usize,
        count: usize,
    ) -> Result<Owned<E::Cx, D>> {
        let (op, n, last) = ("stft", frames.n_fft, self.rank() - 1);
        let mode = match frames.beyond {
            Beyond::Mirror => Mode::Reflect,
            Beyond::Zeros => Mode::Constant,
            Beyond::Edge => Mode::Replicate,
            Beyond::Wrap => Mode::Circular,
        };
        let signal = self.pad(&[around as isize; 2], mode, E::default())?;
        let lanes = signal.viewed(op, last + 2, |own, view| {
            view.sizes[..last].copy_from_slice(&own.sizes[..last]);
            view.strides[..last].copy_from_slice(&own.strides[..last]);
            (view.sizes[last], view.strides[last]) = (count, frames.hop * own.strides[last]);
            (view.sizes[last + 1], view.strides[last + 1]) = (n, own.strides[last]);
            Ok(own.offset)
        })?;
        let weights = constant::<E, D>(&self.view(), listed(weights.iter().copied())?)?;
        let lanes = lanes.map1_dense::<E::Cx>(op, Casting)?.times(&weights)?;
        let of = Transform { op, direction: Direction::Forward, norm: frames.norm() };
        let step = if frames.onesided { Step::Real } else { Step::Complex };
        Ok(lanes.to_complex(of, step, (last + 1, n))?.cast::<E::Cx>()?.turned()?.share())
    }

    /// The sums of the weighted samples of frames, `whole` of them, of spectra `(…, frequencies, frames)`.
    fn recorded_overlaps(
        &self,
        weights: &[Complex<E::Re>],
        frames: &Frames,
        whole: usize,
        complex: bool,
    ) -> Result<Owned<E::Cx, D>> {
        let (op, n, last) = ("istft", frames.n_fft, self.rank() - 1);
        let of = Transform { op, direction: Direction::Inverse, norm: frames.norm() };
        let spectra = self.turned()?;
        let samples = if complex {
            spectra.to_complex(of, Step::Complex, (last, n))?
        } else {
            spectra.narrow(op, Axis(last), 0, n / 2 + 1)?.to_real(of, (last, n))?.cast::<E::Cx>()?
        };
        let count = samples.sizes()[last - 1];
        let samples = samples.times(&constant::<E, D>(&self.view(), listed(weights.iter().copied())?)?)?;
        let mut sizes = Dims::known(&samples.sizes()[..last]);
        sizes[last - 1] = count * n;
        let samples = samples.reshape(op, &sizes)?;
        let places = D::build::<i64>(Some(self.storage()), || {
            listed((0..count * n).map(|at| (at / n * frames.hop + at % n) as i64))
        })?;
        let places = Erased::<i64, D>::list(places, count * n);
        let places = places.expand(op, &sizes)?;
        let mut to = sizes;
        to[last - 1] = whole;
        let mut sums = D::zeroed::<E::Cx>(Some(self.storage()), checked_numel::<E::Cx>(op, &to)?)?;
        let indexing = Indexing { op, axis: last - 1, wraps: false };
        let strides = to.row_major();
        let out = ViewMut::new(&mut sums, 0, &to, &strides);
        let kernel = Folding::<Accumulating>::new();
        D::scatter_with::<E::Cx>(indexing, kernel, places.view(), samples.view(), out)?;
        Ok(Erased::dense(sums, to))
    }
}
/// A list of numbers beside a tensor.
#[cfg(feature = "grad")]
fn constant<E: Spectral, D: Device>(
    beside: &View<'_, D::Storage, E>,
    list: Vec<Complex<E::Re>>,
) -> Result<Owned<E::Cx, D>> {
    let len = list.len();
    let storage = D::build::<E::Cx>(Some(beside.buffer), || listed(list.into_iter().map(E::spectrum)))?;
    Ok(Erased::list(storage, len))
}

/// The elements of a window; empty on a device without data.
fn weights<E: Spectral, W: Dim, D: Device>(
    window: Option<&Tensor<E::Re, (W,), D>>,
) -> Result<Option<Vec<Complex<E::Re>>>> {
    let Some(window) = window else { return Ok(None) };
    expect_constant("the window of a short-time transform", D::is_tracked(window.storage()))?;
    if !D::has_data(window.storage()) {
        return crate::error::filled(num_traits::One::one(), window.numel()).map(Some);
    }
    listed(D::download(window.elements())?.into_iter().map(Spectral::wave)).map(Some)
}
