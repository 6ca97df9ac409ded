//! `interpolate`: tensors resampled to other sizes.
//!
//! Source: `torch.nn.functional.interpolate`; `aten/src/ATen/native/UpSample.h`, `cpu/UpSampleKernel.cpp`.

use crate::composite::nn::adaptive_pool::adaptive_mean;
use crate::composite::nn::conv::{Laid, expect_room};
use crate::composite::nn::laid;
use crate::cpu::resample::{Weighted, bytes, floats};
use crate::device::{Device, on_host};
use crate::dtype::{Compute, DType, Dtype, Element};
use crate::error::{Error, Result, invalid, listed};
use crate::layout::memory_format::MemoryFormat;
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::ops::resample::{Kernel, Neighbours, Resampling};
use crate::ops::segment::Segment;
use crate::shape::{EachAxis, Interpolated, Known, KnownShape, Scaled, Shape, Upsampled};
use crate::storage::View;
use crate::tensor::nn::modes::Resamples;
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;

/// The new sizes of the axes after the channels.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Resize<'a> {
    pub(crate) op: &'static str,
    pub(crate) how: Resampling,
    /// The new sizes.
    pub(crate) places: &'a [usize],
    /// The factors by which sizes were multiplied, if given.
    pub(crate) factors: Option<&'a [f64]>,
}

/// The size of an axis multiplied by a number, rounded down.
pub(crate) fn scaled(op: &'static str, size: usize, factor: f64) -> Result<usize> {
    let places = size as f64 * factor;
    if places.is_finite() && places > -1.0 && places < isize::MAX as f64 {
        // Nothing is left of a size with a negative factor.
        return Ok(places as usize);
    }
    invalid(op, format!("an axis of size {size} can't be scaled by {factor}"))
}

impl Resize<'_> {
    /// The sizes of the result.
    fn sizes<E: Element, D: Device>(&self, x: View<'_, D::Storage, E>) -> Result<Vec<usize>> {
        let Resize { op, places, .. } = *self;
        if x.sizes.len() != places.len() + 2 || !(1..=3).contains(&places.len()) {
            let reason =
                format!("expected (batch, channels, …) with {} axes behind, got shape {:?}", places.len(), x.sizes);
            return invalid(op, reason);
        }
        if x.sizes[1..].contains(&0) {
            return invalid(
                op,
                format!("a tensor of shape {:?} has nothing to resample: only the batch may be empty", x.sizes),
            );
        }
        if places.contains(&0) && self.how.kernel != Kernel::Area {
            return invalid(op, format!("sizes {places:?}: expected numbers from 1 up"));
        }
        let sizes = [&x.sizes[..2], places].concat();
        checked_numel::<E>(op, &sizes)?;
        if x.sizes[0] > 0 {
            expect_room::<E, D>(x.buffer, &sizes)?;
        }
        Ok(sizes)
    }

    fn factor(&self, axis: usize) -> Option<f64> {
        self.factors.map(|factors| factors[axis])
    }

    /// Resampling by the nearest element.
    fn nearest<E: Element, D: Device>(&self, x: View<'_, D::Storage, E>) -> Result<Laid<D::Storage>> {
        let sizes = self.sizes::<E, D>(x)?;
        let order = order(x.sizes, x.strides);
        let of = |from: &[usize]| -> Vec<usize> { order.iter().map(|&axis| from[axis]).collect() };
        let neighbours = Neighbours {
            is_exact: self.how.kernel == Kernel::NearestExact,
            is_image: self.places.len() == 2,
            is_single: E::DTYPE != DType::F64,
        };
        let mut list: Vec<Vec<Segment>> = vec![];
        for &axis in &order {
            let whole = vec![Segment::whole(x.sizes[axis])];
            let Some(at) = axis.checked_sub(2).filter(|_| D::has_data(x.buffer) && x.sizes[0] > 0) else {
                list.push(whole);
                continue;
            };
            let mut segments: Vec<Segment> = vec![];
            for position in neighbours.positions(x.sizes[axis], sizes[axis], self.factor(at)) {
                match segments.last_mut() {
                    Some(Segment::Each { start, times, .. }) if *start == position => *times += 1,
                    _ => segments.push(Segment::Each { start: position, len: 1, times: 1 }),
                }
            }
            list.push(segments);
        }
        let storage = if D::has_data(x.buffer) && x.sizes[0] > 0 {
            D::pick::<E>(x.restrided(&of(x.sizes), &of(x.strides)), &list, E::default())?
        } else {
            D::zeroed::<E>(Some(x.buffer), 0)?
        };
        Ok(laid_in(storage, sizes, &order))
    }
}

/// The axes in the memory order of the result: channels-last stays channels-last.
fn order(sizes: &[usize], strides: &[usize]) -> Vec<usize> {
    if MemoryFormat::suggested(sizes, strides) == MemoryFormat::CONTIGUOUS {
        (0..sizes.len()).collect()
    } else {
        [0].into_iter().chain(2..sizes.len()).chain([1]).collect()
    }
}

fn laid_in<S>(storage: S, sizes: Vec<usize>, order: &[usize]) -> Laid<S> {
    let of: Vec<usize> = order.iter().map(|&axis| sizes[axis]).collect();
    let mut own = vec![0; sizes.len()];
    order.iter().zip(strides::row_major(&of)).for_each(|(&axis, stride)| own[axis] = stride);
    (storage, sizes, own)
}

/// Resamples one axis after the other, starting with the last: `pass` gets the elements, the axis counted after the channels, its old and
/// new size, and the number of elements per position.
fn passes<T, E: Element, D: Device>(
    resize: &Resize<'_>,
    x: View<'_, D::Storage, E>,
    start: impl FnOnce(Vec<E>) -> Result<T>,
    mut pass: impl FnMut(T, usize, [usize; 2], usize) -> Result<T>,
    end: impl FnOnce(T) -> Result<Vec<E>>,
) -> Result<Laid<D::Storage>> {
    let sizes = resize.sizes::<E, D>(x)?;
    let order = order(x.sizes, x.strides);
    let of = |from: &[usize]| -> Vec<usize> { order.iter().map(|&axis| from[axis]).collect() };
    let (mut now, strides) = (of(x.sizes), of(x.strides));
    let from = now.clone();
    let storage = on_host::<D, _, Vec<E>>(resize.op, x.restrided(&from, &strides), |elements: Vec<E>| {
        if now.contains(&0) {
            return Ok(vec![]);
        }
        let mut list = start(elements)?;
        for at in (0..order.len()).rev().filter(|&at| order[at] >= 2) {
            let axis = order[at];
            let inner = now[at + 1..].iter().product();
            list = pass(list, axis - 2, [now[at], sizes[axis]], inner)?;
            now[at] = sizes[axis];
        }
        end(list)
    })?;
    Ok(laid_in(storage, sizes, &order))
}

/// Resamples floats.
pub(crate) fn resample<E: Dtype, D: Device>(
    resize: Resize<'_>,
    x: View<'_, D::Storage, E>,
) -> Result<Laid<D::Storage>> {
    let Resize { op, how, places, .. } = resize;
    match how.kernel {
        Kernel::Nearest | Kernel::NearestExact => return resize.nearest::<E, D>(x),
        Kernel::Area => {
            resize.sizes::<E, D>(x)?;
            let (storage, sizes, strides) = adaptive_mean::<E, D>(op, x, places)?;
            // Images in channels-last stay in it. (Volumes do not, as in PyTorch.)
            let own = laid_in((), sizes.clone(), &order(x.sizes, x.strides)).2;
            if places.len() != 2 || own == strides || sizes.contains(&0) {
                return Ok((storage, sizes, strides));
            }
            let storage = D::map1::<E, E>(Copying, View::new(&storage, 0, &sizes, &strides), &own)?;
            return Ok((storage, sizes, own));
        }
        _ => {}
    }
    // PyTorch rounds weights to the dtype, except those of bilinear images.
    let keeps_weights = how.kernel == Kernel::Linear && places.len() == 2;
    let weight = |weight: f64| {
        let number = E::Compute::number(weight);
        if keeps_weights { number } else { E::from_compute(number).to_compute() }
    };
    passes::<_, E, D>(
        &resize,
        x,
        |list| listed(list.into_iter().map(E::to_compute)),
        |list, axis, [size, places], inner| {
            if how.antialias && size == places {
                return Ok(list);
            }
            let taps = how.taps(size, places, resize.factor(axis), E::DTYPE != DType::F64)?;
            let weights = listed(taps.weights.into_iter().map(weight))?;
            let taps = Weighted { width: taps.width, counts: taps.counts, index: taps.index, weights };
            floats(&list, size, inner, &taps)
        },
        |list| listed(list.into_iter().map(E::from_compute)),
    )
}

/// Resamples bytes: sums are of integers, and rounded to bytes after each axis.
pub(crate) fn resample_bytes<D: Device>(resize: Resize<'_>, x: View<'_, D::Storage, u8>) -> Result<Laid<D::Storage>> {
    let how = resize.how;
    if matches!(how.kernel, Kernel::Nearest | Kernel::NearestExact) {
        return resize.nearest::<u8, D>(x);
    }
    if resize.places.len() != 2 || how.kernel == Kernel::Area {
        let reason = "bytes are resampled by `nearest`, or as images by `bilinear`, `bicubic` and `lanczos`".to_owned();
        return Err(Error::NotAdmitted { op: resize.op, dtype: DType::U8, reason });
    }
    passes::<_, u8, D>(
        &resize,
        x,
        Ok,
        |list, axis, [size, places], inner| {
            if size == places {
                return Ok(list);
            }
            bytes(&list, size, inner, &how.taps_of_bytes(size, places, resize.factor(axis))?)
        },
        Ok,
    )
}

impl<E: Element, T: Shape, D: Device> Tensor<E, T, D> {
    /// Resamples to the sizes `R`, which the compiler knows: in `(N, C, …)` the axes after the channels get these sizes.
    ///
    /// `mode` is [`Nearest`](crate::nn::Nearest), [`NearestExact`](crate::nn::NearestExact), [`Linear`](crate::nn::Linear),
    /// [`Bilinear`](crate::nn::Bilinear), [`Trilinear`](crate::nn::Trilinear), [`Bicubic`](crate::nn::Bicubic),
    /// [`Lanczos`](crate::nn::Lanczos) or [`Area`](crate::nn::Area). The dtype is floating, or `u8` if the mode takes it, and is kept.
    ///
    /// PyTorch: `torch.nn.functional.interpolate(x, size=…, mode=…)`.
    ///
    /// # Panics
    /// If an axis other than the batch is empty, a size is 0, or memory runs out.
    ///
    /// ```
    /// use castiron::{nn::{Bilinear, Nearest}, shape, tensor, Tensor};
    /// let x = tensor![[[[1.0, 2.0], [3.0, 4.0]]]];
    /// let y: Tensor<f32, shape![1, 1, 1, 3]> = x.interpolate::<shape![1, 3]>(Bilinear::new());
    /// assert_eq!(y.to_vec(), [2.0, 2.5, 3.0]);
    /// assert_eq!(x.interpolate::<shape![1, 3]>(Nearest::new()).to_vec(), [1.0, 1.0, 2.0]);
    /// ```
    #[fallible]
    pub fn interpolate<R: KnownShape>(
        &self,
        mode: impl Resamples<E, T::What>,
    ) -> Result<Tensor<E, R::Behind<T::LeadingAxis, T::ChannelAxis>, D>>
    where
        T: Interpolated<R>,
    {
        resized(self.elements(), "interpolate", mode, R::SIZES.as_ref(), None)
    }

    /// [`interpolate`](Self::interpolate) to sizes known at run time.
    ///
    /// PyTorch: `torch.nn.functional.interpolate(x, size=…, mode=…)`.
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use castiron::{nn::Linear, shape, tensor, Tensor};
    /// let x = tensor![[[1.0, 2.0]]];
    /// let y: Tensor<f32, shape![1, 1, _]> = x.interpolate_sized::<shape![_]>([3], Linear::new().align_corners(true));
    /// assert_eq!(y.to_vec(), [1.0, 1.5, 2.0]);
    /// ```
    #[fallible]
    pub fn interpolate_sized<R: Shape>(
        &self,
        sizes: R::Sizes,
        mode: impl Resamples<E, T::What>,
    ) -> Result<Tensor<E, R::Behind<T::LeadingAxis, T::ChannelAxis>, D>>
    where
        T: Interpolated<R>,
    {
        resized(self.elements(), "interpolate", mode, sizes.as_ref(), None)
    }

    /// Multiplies the size of each axis after the channels by `K`: a number, or one for each, which the compiler knows.
    ///
    /// PyTorch: `torch.nn.functional.interpolate(x, scale_factor=…, mode=…)`, `torch.nn.functional.upsample`.
    ///
    /// # Panics
    /// As [`interpolate`](Self::interpolate).
    ///
    /// ```
    /// use castiron::{dim, nn::Nearest, shape, tensor, Tensor};
    /// let x = tensor![[[[1, 2]]]].to::<u8>();
    /// let y: Tensor<u8, shape![1, 1, 2, 4]> = x.upsample::<dim!(2)>(Nearest::new());
    /// assert_eq!(y.to_vec(), [1, 1, 2, 2, 1, 1, 2, 2]);
    /// let z: Tensor<u8, shape![1, 1, 1, 6]> = x.upsample::<shape![1, 3]>(Nearest::new());
    /// # let _ = z;
    /// ```
    #[fallible]
    pub fn upsample<K: EachAxis<First: Known, Second: Known, Third: Known>>(
        &self,
        mode: impl Resamples<E, T::What>,
    ) -> Result<Tensor<E, T::Times<K>, D>>
    where
        T: Upsampled<K>,
    {
        let factors = <T as Upsampled<K>>::factors();
        let sizes = self.shape();
        let own = sizes.as_ref().get(2..).unwrap_or(&[]);
        let too_large = || Error::TooLarge { op: "upsample", sizes: sizes.as_ref().into() };
        let times = |(&size, &factor): (&usize, &usize)| size.checked_mul(factor).ok_or_else(too_large);
        let places = own.iter().zip(&factors).map(times).collect::<Result<Vec<usize>>>()?;
        let factors: Vec<f64> = factors.iter().map(|&factor| factor as f64).collect();
        resized(self.elements(), "upsample", mode, &places, Some(&factors))
    }

    /// Multiplies the size of each axis after the channels by a factor of its own, rounded down.
    ///
    /// PyTorch: `torch.nn.functional.interpolate(x, scale_factor=…, mode=…)`.
    ///
    /// # Panics
    /// As [`interpolate`](Self::interpolate), and if a factor is not finite.
    ///
    /// ```
    /// use castiron::{nn::Area, shape, tensor, Tensor};
    /// let x = tensor![[[[1.0, 2.0, 3.0, 4.0]]]];
    /// let y: Tensor<f32, shape![1, 1, _, _]> = x.interpolate_scaled([1.0, 0.5], Area::new());
    /// assert_eq!(y.to_vec(), [1.5, 3.5]);
    /// ```
    #[fallible]
    pub fn interpolate_scaled<F: AsRef<[f64]>>(
        &self,
        factors: F,
        mode: impl Resamples<E, T::What>,
    ) -> Result<Tensor<E, T::AnySizes, D>>
    where
        T: Scaled<F>,
    {
        let sizes = self.shape();
        let factors = factors.as_ref();
        let own = sizes.as_ref().get(2..).unwrap_or(&[]);
        let op = "interpolate";
        let places =
            own.iter().zip(factors).map(|(&size, &factor)| scaled(op, size, factor)).collect::<Result<Vec<usize>>>()?;
        resized(self.elements(), op, mode, &places, Some(factors))
    }
}

fn resized<E: Element, O: Shape, D: Device, What, M: Resamples<E, What>>(
    x: View<'_, D::Storage, E>,
    op: &'static str,
    mode: M,
    places: &[usize],
    factors: Option<&[f64]>,
) -> Result<Tensor<E, O, D>> {
    laid::<E, D>(M::run::<D>(Resize { op, how: mode.how(), places, factors }, x)?).typed(op)
}
