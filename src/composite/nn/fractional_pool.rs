//! Fractional max pooling: windows at pseudo-random positions, at an average distance given by the ratio of input and output sizes.
//!
//! Source: `torch.nn.functional.fractional_max_pool2d`, `fractional_max_pool3d`; `aten/src/ATen/native/FractionalMaxPooling.h`; Graham,
//! "Fractional Max-Pooling" (2014).

#[cfg(feature = "grad")]
use super::added_to_planes;
use super::{as_laid, laid};
use crate::composite::nn::Laid;
use crate::composite::nn::pool::Kernel;
#[cfg(feature = "grad")]
use crate::composite::primitive::{Back, Perhaps, read};
use crate::composite::primitive::{On, Primitive};
use crate::composite::{Erased, Owned};
use crate::device::{Device, on_host};
use crate::dtype::{CastTo, Dtype};
use crate::error::{Result, collected, invalid, listed, room};
use crate::layout::strides;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::shape::{EachAxis, HasRoomFor, KnownShape, NumbersFor, Pool, Resized};
use crate::storage::View;
use crate::tensor::{Generator, Tensor, checked_numel};
use castiron_macros::composites;
use core::marker::PhantomData;

/// The starts of the windows of one axis, for one plane: the last one ends with the axis. Every step is rounded to the dtype, as in
/// PyTorch.
fn starts<E: Dtype>(op: &'static str, sample: f64, places: usize, size: usize, kernel: usize) -> Result<Vec<usize>> {
    let rounded = |x: f64| -> f64 { E::from_f64(x).cast_to() };
    let room = size - kernel;
    let step = rounded(rounded(room as f64) / rounded(places as f64 - 1.0));
    let at = |place: f64| rounded(rounded(place + sample) * step) as i64;
    let start = |place: usize| {
        let start = if place + 1 == places { room as i64 } else { at(place as f64) - at(0.0) };
        match usize::try_from(start) {
            Ok(start) if start <= room => Ok(start),
            _ => invalid(op, format!("a random sample of {sample}: expected one from 0 to 1")),
        }
    };
    collected((0..places).map(start))
}

/// The sizes of the random samples for an operand: one for each plane and each axis of the windows.
pub(crate) fn sample_sizes(op: &'static str, x: &[usize], axes: usize) -> Result<[usize; 3]> {
    match *x {
        [channels, ..] if x.len() == axes + 1 => Ok([1, channels, axes]),
        [batch, channels, ..] if x.len() == axes + 2 => Ok([batch, channels, axes]),
        _ => invalid(op, format!("expected {} axes, or {} with a batch, got shape {x:?}", axes + 1, axes + 2)),
    }
}

/// Random samples for an operand.
pub(crate) fn drawn_samples<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    axes: usize,
    generator: &mut Generator,
) -> Result<Vec<f64>> {
    let count = if D::has_data(x.buffer) { checked_numel::<f64>(op, &sample_sizes(op, x.sizes, axes)?)? } else { 0 };
    listed((0..count).map(|_| generator.unit::<E>()))
}

/// The largest element of each window, and its index among the positions of the last axes. `samples` are those of [`sample_sizes`].
pub(crate) fn fractional_largest<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    kernel: &[usize],
    places: &[usize],
    samples: &[f64],
) -> Result<[Laid<D::Storage>; 2]> {
    let of = |list: &[usize]| listed(list.iter().copied());
    let samples = listed(samples.iter().copied())?;
    let pooling = Pooling::<E> { op, kernel: of(kernel)?, places: of(places)?, samples, dtype: PhantomData };
    let (values, index) = D::primitive(&pooling, (Erased::of(x),))?;
    Ok([as_laid(values)?, as_laid(index)?])
}

/// What [`fractional_largest`] computes of operands that no tape sees.
fn largest_of_windows<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    kernel: &[usize],
    places: &[usize],
    samples: &[f64],
) -> Result<[Laid<D::Storage>; 2]> {
    let axes = places.len();
    let [batch, channels, _] = sample_sizes(op, x.sizes, axes)?;
    let lead = x.sizes.len() - axes;
    if x.sizes[lead - 1..].contains(&0) {
        return invalid(
            op,
            format!("a tensor of shape {:?} has nothing to pool: only the batch may be empty", x.sizes),
        );
    }
    for ((&size, &kernel), &places) in x.sizes[lead..].iter().zip(kernel).zip(places) {
        // PyTorch requires one more position, except with three axes.
        let room = size.saturating_add(if axes == 3 { 0 } else { 1 });
        if kernel == 0 || places.checked_add(kernel).is_none_or(|end| end > room) {
            return invalid(op, format!("{places} windows of {kernel} are too large for an axis of {size}"));
        }
    }
    let sizes = [&x.sizes[..lead], places].concat();
    let count = checked_numel::<E>(op, &sizes)?;
    let own = strides::row_major(&sizes);
    let (values, index) = on_host::<D, _, (Vec<E>, Vec<i64>)>(op, x, |elements: Vec<E>| {
        let (mut values, mut index) = (room::<E>(count)?, room::<i64>(count)?);
        let (steps, area) = (strides::row_major(&x.sizes[lead..]), x.sizes[lead..].iter().product::<usize>());
        let (grid, each) = (strides::row_major(places), places.iter().product::<usize>());
        let (inside, all) = (strides::row_major(kernel), kernel.iter().product::<usize>());
        for plane in 0..batch * channels {
            // With two axes the first sample is that of the columns, with three that of the planes.
            let sample = |axis: usize| samples[plane * axes + if axes == 2 { 1 - axis } else { axis }];
            let starts = collected(
                (0..axes).map(|axis| starts::<E>(op, sample(axis), places[axis], x.sizes[lead + axis], kernel[axis])),
            )?;
            for place in 0..each {
                let first: usize =
                    (0..axes).map(|axis| starts[axis][place / grid[axis] % places[axis]] * steps[axis]).sum();
                let (mut best, mut at) = (f64::NEG_INFINITY, first);
                for number in 0..all {
                    let offset: usize = (0..axes).map(|axis| number / inside[axis] % kernel[axis] * steps[axis]).sum();
                    let here: f64 = elements[plane * area + first + offset].cast_to();
                    // Of several NaN PyTorch returns the index of the last one.
                    if here > best || here.is_nan() {
                        (best, at) = (here, first + offset);
                    }
                }
                values.push(elements[plane * area + at]);
                index.push(at as i64);
            }
        }
        Ok((values, index))
    })?;
    Ok([(values, sizes.clone(), own.clone()), (index, sizes, own)])
}

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// The largest element of each window along the last axes, RANK of them; for a `Tensor` the shape `R` is the number of windows. The
    /// windows stand at random, in each plane at other places, about as far apart as the sizes say; they may overlap. Elements are compared
    /// on the host.
    ///
    /// # Errors
    /// If the windows do not fit, or an axis other than the batch is empty.
    #[each(
        RANK = 2 3,
        EXTENT = [2, 5, 8] [2, 5, 6, 8],
        PLACES = [3, 4] [3, 2, 4],
        WINDOW = [2, 2] [2, 2, 2]
    )]
    #[op(nn.functional.fractional_max_poolRANKd, dtypes = float)]
    #[any(kernel(kernel: [usize; RANK]) = &kernel, places(places: [usize; RANK]) = &places)]
    #[typed(<R: KnownShape, K: EachAxis + Kernel>(&self, pool: Pool<K>, generator: &mut Generator) -> Tensor<E, <S as Resized<R>>::Output, D>
        where
            E: FloatFor<ops::reduce::pooling>,
            S: Resized<R> + HasRoomFor<R, K, RANK>,
            K::Count: NumbersFor<RANK>;
        kernel = &{ let _ = pool; K::sizes(RANK) }, places = R::SIZES.as_ref())]
    #[example(let x = Tensor::<f32, shape!EXTENT>::ones(); let mut generator = Generator::seeded(0); x.fractional_max_poolRANKd::<shape!PLACES, _>(Pool::<dim!(2)>::new(), &mut generator).amax(), AnyTensor::from(x).fractional_max_poolRANKd(WINDOW, PLACES, &mut generator)?.amax(None, false), Tensor::scalar(1.0))]
    pub(crate) fn fractional_max_poolRANKd(
        &self,
        kernel: &[usize],
        places: &[usize],
        generator: &mut Generator,
    ) -> Result<Owned<E, D>> {
        Ok(self.fractional_max_poolRANKd_with_indices(kernel, places, generator)?.0)
    }

    /// [`fractional_max_poolRANKd`](Self::fractional_max_poolRANKd) and where each element is: its position among those of the last axes,
    /// counted row by row (`return_indices=True`).
    ///
    /// # Errors
    /// As there.
    #[each(RANK = 2 3)]
    #[op(nn.functional.fractional_max_poolRANKd, dtypes = float)]
    #[any(kernel(kernel: [usize; RANK]) = &kernel, places(places: [usize; RANK]) = &places)]
    #[typed(<R: KnownShape, K: EachAxis + Kernel>(&self, pool: Pool<K>, generator: &mut Generator) -> (Tensor<E, <S as Resized<R>>::Output, D>, Tensor<i64, <S as Resized<R>>::Output, D>)
        where
            E: FloatFor<ops::reduce::pooling>,
            S: Resized<R> + HasRoomFor<R, K, RANK>,
            K::Count: NumbersFor<RANK>;
        kernel = &{ let _ = pool; K::sizes(RANK) }, places = R::SIZES.as_ref())]
    pub(crate) fn fractional_max_poolRANKd_with_indices(
        &self,
        kernel: &[usize],
        places: &[usize],
        generator: &mut Generator,
    ) -> Result<(Owned<E, D>, Owned<i64, D>)> {
        let op = "fractional_max_poolRANKd";
        let samples = drawn_samples::<E, D>(op, self.view(), RANK, generator)?;
        let [values, index] = fractional_largest::<E, D>(op, self.view(), kernel, places, &samples)?;
        Ok((laid(values), laid(index)))
    }
}

/// The largest elements of windows, and their positions.
#[derive(Clone)]
struct Pooling<E> {
    op: &'static str,
    kernel: Vec<usize>,
    places: Vec<usize>,
    samples: Vec<f64>,
    dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for Pooling<E> {
    type Operands = (E,);
    type Results = (E, i64);
    fn op(&self) -> &'static str {
        self.op
    }
    fn run<D: Device>(&self, (x,): On<'_, (E,), D>) -> Result<On<'static, (E, i64), D>> {
        let Pooling { op, kernel, places, samples, .. } = self;
        let [values, index] = largest_of_windows::<E, D>(op, x.view(), kernel, places, samples)?;
        Ok((laid(values), laid(index)))
    }
    #[cfg(feature = "grad")]
    const READS: [u32; 2] = [0, 0b10];
    /// The gradient at the positions; windows overlap.
    #[cfg(feature = "grad")]
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, (E,), D>> {
        let (Some(g), _) = &back.g else { return Ok((None,)) };
        Ok((Some(added_to_planes(g, read(&back.y.1)?, &back.sizes[0], self.places.len())?),))
    }
}
