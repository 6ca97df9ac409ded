//! `interpolate`: tensors resampled to other sizes.
//!
//! Source: `torch.nn.functional.interpolate`; `aten/src/ATen/native/UpSample.h`, `cpu/UpSampleKernel.cpp`.

use super::adaptive_pool::adaptive_mean;
use super::modes::Resamples;
use super::{Laid, expect_room};
use super::{as_laid, laid};
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::cpu::resample::{Weighted, bytes, floats};
use crate::device::{Device, on_host};
use crate::dtype::{Compute, DType, Dtype, Element};
use crate::error::{Error, Result, collected, filled, invalid, listed};
use crate::layout::memory_format::MemoryFormat;
use crate::layout::strides;
use crate::ops::kernel::Copying;
use crate::ops::resample::{Kernel, Neighbours, Resampling};
use crate::ops::segment::Segment;
use crate::shape::{EachAxis, Interpolated, Known, KnownShape, Scaled, Shape, Upsampled};
use crate::storage::View;
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::composites;
use core::marker::PhantomData;

/// The new sizes of the axes after the channels.
#[derive(Clone, Copy)]
struct Resize<'a> {
    op: &'static str,
    how: Resampling,
    /// The new sizes.
    places: &'a [usize],
    /// The factors by which sizes were multiplied, if given.
    factors: Option<&'a [f64]>,
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
        let order = order(x.sizes, x.strides)?;
        let of = |from: &[usize]| listed(order.iter().map(|&axis| from[axis]));
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
            D::pick::<E>(x.restrided(&of(x.sizes)?, &of(x.strides)?), &list, E::default())?
        } else {
            D::zeroed::<E>(Some(x.buffer), 0)?
        };
        laid_in(storage, sizes, &order)
    }
}

/// The axes in the memory order of the result: channels-last stays channels-last.
fn order(sizes: &[usize], strides: &[usize]) -> Result<Vec<usize>> {
    if MemoryFormat::suggested(sizes, strides) == MemoryFormat::CONTIGUOUS {
        listed(0..sizes.len())
    } else {
        listed([0].into_iter().chain(2..sizes.len()).chain([1]))
    }
}

fn laid_in<S>(storage: S, sizes: Vec<usize>, order: &[usize]) -> Result<Laid<S>> {
    let of = listed(order.iter().map(|&axis| sizes[axis]))?;
    let mut own = filled(0, sizes.len())?;
    order.iter().zip(strides::row_major(&of)).for_each(|(&axis, stride)| own[axis] = stride);
    Ok((storage, sizes, own))
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
    let order = order(x.sizes, x.strides)?;
    let of = |from: &[usize]| listed(order.iter().map(|&axis| from[axis]));
    let (mut now, strides) = (of(x.sizes)?, of(x.strides)?);
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
    laid_in(storage, sizes, &order)
}

/// Resamples floats.
fn resample<E: Dtype, D: Device>(resize: Resize<'_>, x: View<'_, D::Storage, E>) -> Result<Laid<D::Storage>> {
    let Resize { op, how, places, .. } = resize;
    match how.kernel {
        Kernel::Nearest | Kernel::NearestExact => return resize.nearest::<E, D>(x),
        Kernel::Area => {
            resize.sizes::<E, D>(x)?;
            let (storage, sizes, strides) = adaptive_mean::<E, D>(op, x, places)?;
            // Images in channels-last stay in it. (Volumes do not, as in PyTorch.)
            let own = laid_in((), sizes.clone(), &order(x.sizes, x.strides)?)?.2;
            if places.len() != 2 || own == strides || sizes.contains(&0) {
                return Ok((storage, sizes, strides));
            }
            let storage = D::map1::<E, E>(Copying, View::new(&storage, 0, &sizes, &strides), &own)?;
            return Ok((storage, sizes, own));
        }
        _ => {}
    }
    let weighing = Weighing::<E> {
        op,
        how,
        places: listed(places.iter().copied())?,
        factors: resize.factors.map(|factors| listed(factors.iter().copied())).transpose()?,
        from: None,
        dtype: PhantomData,
    };
    as_laid(D::primitive(&weighing, (Erased::of(x),))?.0)
}

/// Resamples bytes: sums are of integers, and rounded to bytes after each axis.
fn resample_bytes<D: Device>(resize: Resize<'_>, x: View<'_, D::Storage, u8>) -> Result<Laid<D::Storage>> {
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

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// Resamples: in `(N, C, …)` the axes after the channels get other sizes.
    ///
    /// For a `Tensor` the shape `R` has the sizes, which the compiler knows, and `mode` is [`Nearest`](crate::nn::Nearest),
    /// [`NearestExact`](crate::nn::NearestExact), [`Linear`](crate::nn::Linear), [`Bilinear`](crate::nn::Bilinear),
    /// [`Trilinear`](crate::nn::Trilinear), [`Bicubic`](crate::nn::Bicubic), [`Lanczos`](crate::nn::Lanczos) or [`Area`](crate::nn::Area).
    /// The dtype is kept; `u8` goes with some of the modes.
    ///
    /// # Errors
    /// If the mode does not go with the dtype or the number of axes, an axis other than the batch is empty, or a size is 0.
    #[op(nn.functional.interpolate, dtypes = "floating-point and uint8", over = [u8, crate::f16, crate::bf16, f32, f64])]
    #[any(
        let (own, sizes, times) = options.resolved("interpolate", self)?,
        how(options: &crate::any::InterpolateOptions) = own,
        places = &sizes,
        factors = times.as_deref()
    )]
    #[typed(<R: KnownShape>(&self, mode: impl Resamples<E, S::What>) -> Tensor<E, R::Behind<S::LeadingAxis, S::ChannelAxis>, D>
        where
            E: Dtype,
            S: Interpolated<R>;
        how = mode.how(), places = R::SIZES.as_ref(), factors = None)]
    #[example(let x = tensor![[[1.0, 2.0]]]; x.interpolate::<shape![3]>(Linear::new().align_corners(true)), x.interpolate(&InterpolateOptions::size(&[3]).mode(InterpolateMode::Linear).align_corners(true)), tensor![[[1.0, 1.5, 2.0]]])]
    pub(crate) fn interpolate(
        &self,
        how: Resampling,
        places: &[usize],
        factors: Option<&[f64]>,
    ) -> Result<Owned<E, D>> {
        self.resampled("interpolate", how, places, factors)
    }

    /// [`interpolate`](Self::interpolate) to sizes known at run time.
    ///
    /// # Errors
    /// As there.
    #[op(nn.functional.interpolate, dtypes = "floating-point and uint8", over = [u8, crate::f16, crate::bf16, f32, f64])]
    #[any(by_hand)]
    #[typed(<R: Shape>(&self, sizes: R::Sizes, mode: impl Resamples<E, S::What>) -> Tensor<E, R::Behind<S::LeadingAxis, S::ChannelAxis>, D>
        where
            E: Dtype,
            S: Interpolated<R>;
        how = mode.how(), places = sizes.as_ref())]
    #[example(let x = tensor![[[1.0, 2.0]]]; x.interpolate_sized::<shape![_]>([3], Linear::new().align_corners(true)), x, tensor![[[1.0, 1.5, 2.0]]])]
    pub(crate) fn interpolate_sized(&self, places: &[usize], how: Resampling) -> Result<Owned<E, D>> {
        self.resampled("interpolate", how, places, None)
    }

    /// Multiplies the size of each axis after the channels by `K`: a number, or one for each, which the compiler knows.
    ///
    /// # Errors
    /// As [`interpolate`](Self::interpolate).
    #[op(nn.functional.upsample, dtypes = "floating-point and uint8", over = [u8, crate::f16, crate::bf16, f32, f64])]
    #[any(by_hand)]
    #[typed(<K: EachAxis<First: Known, Second: Known, Third: Known>>(&self, mode: impl Resamples<E, S::What>) -> Tensor<E, S::Times<K>, D>
        where
            E: Dtype,
            S: Upsampled<K>;
        how = mode.how(), times = &<S as Upsampled<K>>::factors())]
    #[example(let x = tensor![[[[1, 2]]]; u8]; x.upsample::<dim!(2)>(Nearest::new()), x, tensor![[[[1, 1, 2, 2], [1, 1, 2, 2]]]; u8])]
    pub(crate) fn upsample(&self, how: Resampling, times: &[usize]) -> Result<Owned<E, D>> {
        let op = "upsample";
        let too_large = || Error::TooLarge { op, sizes: self.sizes().into() };
        let own = self.sizes().get(2..).unwrap_or(&[]);
        let places = own.iter().zip(times).map(|(&size, &factor)| size.checked_mul(factor).ok_or_else(too_large));
        let (places, factors) = (collected(places)?, listed(times.iter().map(|&factor| factor as f64))?);
        self.resampled(op, how, &places, Some(&factors))
    }

    /// Multiplies the size of each axis after the channels by a factor of its own, rounded down.
    ///
    /// # Errors
    /// As [`interpolate`](Self::interpolate), and if a factor is not finite.
    #[op(nn.functional.interpolate, dtypes = "floating-point and uint8", over = [u8, crate::f16, crate::bf16, f32, f64])]
    #[any(by_hand)]
    #[typed(<F: AsRef<[f64]>>(&self, factors: F, mode: impl Resamples<E, S::What>) -> Tensor<E, S::AnySizes, D>
        where
            E: Dtype,
            S: Scaled<F>;
        how = mode.how(), factors = factors.as_ref())]
    #[example(let x = tensor![[[[1.0, 2.0, 3.0, 4.0]]]]; x.interpolate_scaled([1.0, 0.5], Area::new()), x, tensor![[[[1.5, 3.5]]]])]
    pub(crate) fn interpolate_scaled(&self, factors: &[f64], how: Resampling) -> Result<Owned<E, D>> {
        let op = "interpolate";
        let own = self.sizes().get(2..).unwrap_or(&[]);
        let places = collected(own.iter().zip(factors).map(|(&size, &factor)| scaled(op, size, factor)))?;
        self.resampled(op, how, &places, Some(factors))
    }

    fn resampled(
        &self,
        op: &'static str,
        how: Resampling,
        places: &[usize],
        factors: Option<&[f64]>,
    ) -> Result<Owned<E, D>> {
        let resize = Resize { op, how, places, factors };
        if const { matches!(E::DTYPE, DType::U8) } {
            let bytes = resample_bytes::<D>(resize, self.view().known_as())?;
            return Ok(laid::<u8, D>(bytes).retyped());
        }
        resample::<E, D>(resize, self.view()).map(laid)
    }
}

/// Axes resampled by weighted sums, or the gradient of that, with the weights transposed.
#[derive(Clone)]
struct Weighing<E> {
    op: &'static str,
    how: Resampling,
    places: Vec<usize>,
    factors: Option<Vec<f64>>,
    /// The sizes of the axes that were resampled, if this takes a gradient back to them.
    from: Option<Vec<usize>>,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for Weighing<E> {
    type Operands = (E,);
    type Results = (E,);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E,), D>> {
        let Weighing { op, how, ref places, ref factors, ref from, .. } = *self;
        let to = from.as_ref().unwrap_or(places);
        let (resize, x) = (Resize { op, how, places: to, factors: factors.as_deref() }, x.view());
        // PyTorch rounds weights to the dtype, except those of bilinear images.
        let keeps_weights = how.kernel == Kernel::Linear && places.len() == 2;
        let weight = |weight: f64| {
            let number = E::Compute::number(weight);
            if keeps_weights { number } else { E::from_compute(number).to_compute() }
        };
        let laid_out = passes::<_, E, D>(
            &resize,
            x,
            |list| listed(list.into_iter().map(E::to_compute)),
            |list, axis, [size, places], inner| {
                if how.antialias && size == places {
                    return Ok(list);
                }
                let taps = match from {
                    None => how.taps(size, places, resize.factor(axis), E::DTYPE != DType::F64)?,
                    // From `size` places to the operand's positions.
                    Some(_) => {
                        how.taps(places, size, resize.factor(axis), E::DTYPE != DType::F64)?.transposed(places)?
                    }
                };
                let weights = listed(taps.weights.into_iter().map(weight))?;
                let taps = Weighted { width: taps.width, counts: taps.counts, index: taps.index, weights };
                floats(&list, size, inner, &taps)
            },
            |list| listed(list.into_iter().map(E::from_compute)),
        )?;
        Ok((laid(laid_out),))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0];
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g),) = &back.g else { return Ok((None,)) };
        let mut other = self.clone();
        other.from = match self.from {
            None => Some(listed(back.sizes[0][2..].iter().copied())?),
            Some(_) => None,
        };
        Ok((Some(D::primitive(&other, (Erased::of(g.view()),))?.0),))
    }
}
