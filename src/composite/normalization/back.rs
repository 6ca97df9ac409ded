//! Normalisations of sets of elements that a tape records as one step: `batch_norm` in training and `group_norm`.

use super::channels::{Moments, as_wide};
use crate::composite::primitive::{Back, On, Perhaps, Primitive, read};
use crate::composite::{Erased, Owned};
use crate::cpu::norm_back::{self, Real, Slope, Spread};
use crate::device::Device;
use crate::dtype::{DType, Dtype, Element};
use crate::error::{Result, collected, filled};
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::kernel::{Casting, Combining, Copying};
use crate::ops::losses::{InverseRoot, Losing};
use crate::ops::reduce::{Mean, Sum, Variance};
use core::marker::PhantomData;

/// `x` in its computing dtype.
pub(crate) fn computed<E: Dtype, D: Device>(op: &'static str, x: &Erased<'_, E, D>) -> Result<Owned<E::Compute, D>> {
    if const { E::DTYPE as u8 == <E::Compute as Element>::DTYPE as u8 } {
        return Ok(x.known_as::<E::Compute>().share());
    }
    x.map1::<E::Compute>(op, Casting)
}
/// The same the other way round.
pub(crate) fn rounded<E: Dtype, D: Device>(op: &'static str, x: Owned<E::Compute, D>) -> Result<Owned<E, D>> {
    if const { E::DTYPE as u8 == <E::Compute as Element>::DTYPE as u8 } {
        return Ok(x.retyped());
    }
    x.map1::<E>(op, Casting)
}

/// The numbers of a list of any length.
fn numbers<E: Dtype, D: Device>(list: &Erased<'_, E, D>) -> Result<Vec<f64>> {
    let wide = as_wide::<E, D>(list.view())?;
    D::download::<f64>(wide.view())
}

/// Gradients of elements, and the sums that those of weights and biases are made of: a pair for each run.
type Found<C, D> = (Option<Owned<C, D>>, Vec<[f64; 2]>);

/// Goes back on the host: `scale`, `slope` and `shift` of each run follow from the sums of all.
fn on_host<T: Real + Dtype, D: Device>(
    [x, g]: [&Erased<'_, T, D>; 2],
    len: usize,
    means: &[f64],
    wants: bool,
    each: &mut dyn FnMut(&[[f64; 2]]) -> Result<Vec<[f64; 3]>>,
) -> Result<Option<Found<T, D>>> {
    let (Some(elements), Some(gradients)) = (x.on_host(), g.on_host()) else { return Ok(None) };
    let number = |x: f64| T::from_f64(x);
    let of = Spread { x: elements, g: gradients, len };
    let sums = norm_back::sums_of(of, &collected(means.iter().map(|&mean| Ok(number(mean))))?)?;
    if !wants {
        return Ok(Some((None, sums)));
    }
    let slope = |(&mean, [scale, slope, shift]): (&f64, [f64; 3])| {
        Ok(Slope { mean: number(mean), scale: number(scale), slope: number(slope), shift: number(shift) })
    };
    let slopes: Vec<Slope<T>> = collected(means.iter().zip(each(&sums)?).map(slope))?;
    let found = Erased::<T, D>::of_host(norm_back::sloped(of, &slopes)?, x.dims(), Dims::known(x.strides()))?;
    Ok(Some((Some(found), sums)))
}
fn by_dtype<C: Dtype, D: Device>(
    [x, g]: [&Erased<'_, C, D>; 2],
    len: usize,
    means: &[f64],
    wants: bool,
    each: &mut dyn FnMut(&[[f64; 2]]) -> Result<Vec<[f64; 3]>>,
) -> Result<Option<Found<C, D>>> {
    macro_rules! of {
        ($T:ty) => {{
            let found = on_host::<$T, D>([&x.known_as(), &g.known_as()], len, means, wants, each)?;
            found.map(|(found, sums)| (found.map(Erased::retyped), sums))
        }};
    }
    Ok(if const { matches!(C::DTYPE, DType::F32) } {
        of!(f32)
    } else if const { matches!(C::DTYPE, DType::F64) } {
        of!(f64)
    } else {
        None
    })
}

/// Goes back by calls to the device: the gradients of elements, and those of weights and biases. Means are taken over the axes of one mask,
/// the sums of weights over those of another; `weight` is as large as `x`.
fn composed<C: Dtype, D: Device>(
    op: &'static str,
    [x, g, weight]: [&Erased<'_, C, D>; 3],
    [of_set, of_weight]: [u32; 2],
    eps: f64,
) -> Result<[Owned<C, D>; 3]> {
    let sizes = x.dims();
    let (times, minus) = (Combining::<ops::mul, C>::new(), Combining::<ops::sub, C>::new());
    let mean = x.reduce(Mean, of_set, true)?.retyped::<C>();
    let variance = x.reduce(Variance::var(0.0), of_set, true)?.retyped::<C>();
    let scale = variance.map2::<C, C>(op, Losing::<InverseRoot>::new([eps, 0.0]), &variance)?;
    let scale = scale.expand(op, &sizes)?;
    let centred = x.map2::<C, C>(op, minus, &mean.expand(op, &sizes)?)?;
    let normalized = centred.map2::<C, C>(op, times, &scale)?;
    let of_bias = g.reduce(Sum, of_weight, false)?.retyped::<C>();
    let d_weight = g.reduce_pairs::<C, C, _>(op, Sum, times, &normalized, of_weight)?.retyped::<C>();
    let g = g.map2::<C, C>(op, times, weight)?;
    let mut kept = sizes;
    (0..kept.len()).filter(|axis| of_set >> axis & 1 == 1).for_each(|axis| kept[axis] = 1);
    let along = g.reduce_pairs::<C, C, _>(op, Mean, times, &normalized, of_set)?.retyped::<C>();
    let along = along.reshape(op, &kept)?;
    let along = normalized.map2::<C, C>(op, times, &along.expand(op, &sizes)?)?;
    let sum = g.reduce(Mean, of_set, true)?.retyped::<C>();
    let rest = g.map2::<C, C>(op, minus, &along)?.map2::<C, C>(op, minus, &sum.expand(op, &sizes)?)?;
    Ok([rest.map2::<C, C>(op, times, &scale)?, d_weight, of_bias])
}

/// A list with an element for each channel, as large as a tensor whose second axis is the channels.
fn of_channels<'a, C: Dtype, D: Device>(list: &'a Erased<'_, C, D>, sizes: &Dims) -> Erased<'a, C, D> {
    let mut steps = Dims::known(&[0; 8][..sizes.len()]);
    steps[1] = list.strides()[0];
    Erased::borrowed(list.storage(), list.view().offset, *sizes, steps)
}

/// `batch_norm` by its own means and variances: of the operand, and of weight and bias of each channel, the result, means and variances.
///
/// As in PyTorch no gradient comes back through means and variances, which running statistics follow.
#[derive(Clone, Copy)]
pub(super) struct Training<E> {
    pub(super) eps: f64,
    pub(super) dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for Training<E> {
    type Operands = (E, f64, f64);
    type Results = (E, f64, f64);
    fn op(&self) -> &'static str {
        "batch_norm"
    }
    fn run<D: Device>(&self, (x, weight, bias): On<'_, Self::Operands, D>) -> Result<On<'static, Self::Results, D>> {
        let (y, [mean, variance]) = x.standardised_by_itself([Some(&weight), Some(&bias)], self.eps)?;
        Ok((y, mean, variance))
    }

    const READS: [u32; 2] = [0b11, 0b110];
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, Self::Operands, D>> {
        let op = self.op();
        let Some(g) = &back.g.0 else { return Ok((None, None, None)) };
        let (x, weight) = (read(&back.x.0)?, read(&back.x.1)?);
        let (x, g) = (computed(op, x)?, computed(op, g)?);
        let (sizes, channels) = (x.dims(), x.sizes()[1]);
        if g.is_empty() {
            return Ok((None, None, None));
        }
        // As the gradient lies in memory.
        let x = match x.strides() == g.strides() {
            true => x,
            false => Erased::fresh(
                D::map1::<E::Compute, E::Compute>(Copying, x.view(), g.strides())?,
                sizes,
                Dims::known(g.strides()),
            ),
        };
        let of_set = Moments::<D>::others(sizes.len());
        let is_last = g.strides()[1] == 1 && channels > 1;
        let is_first = g.strides() == &*sizes.row_major();
        if (is_last || is_first) && x.on_host().is_some() && g.on_host().is_some() {
            let [means, variances, weights] = [read(&back.y.1)?, read(&back.y.2)?, weight].map(numbers);
            let (means, variances, weights) = (means?, variances?, weights?);
            let scales: Vec<f64> =
                collected(variances.iter().map(|variance| Ok((variance + self.eps).sqrt().recip())))?;
            let count = (x.numel() / channels) as f64;
            // The elements of a channel that are side by side.
            let len = if is_last { 1 } else { sizes[2..].iter().product() };
            let runs = if len == 1 { channels } else { sizes[0] * channels };
            let mut totals = filled([0.0; 2], channels)?;
            let found = by_dtype::<E::Compute, D>(
                [&x, &g],
                len,
                &collected((0..runs).map(|run| Ok(means[run % channels])))?,
                back.wants[0],
                &mut |sums| {
                    totals.fill([0.0; 2]);
                    add_up(&mut totals, sums, |run| run % channels);
                    let slope = |run: usize| {
                        let [sum, along] = totals[run % channels];
                        let scale = scales[run % channels];
                        let factor = weights[run % channels] * scale;
                        Ok([factor, -factor * along * scale * scale / count, -factor * sum / count])
                    };
                    collected((0..runs).map(slope))
                },
            )?;
            if let Some((dx, sums)) = found {
                totals.fill([0.0; 2]);
                add_up(&mut totals, &sums, |run| run % channels);
                let list =
                    |list: Result<Vec<f64>>| Ok(Erased::list(D::build::<f64>(Some(g.storage()), || list)?, channels));
                let d_weight =
                    list(collected(totals.iter().zip(&scales).map(|([_, along], scale)| Ok(along * scale))))?;
                let d_bias = list(collected(totals.iter().map(|[sum, _]| Ok(*sum))))?;
                return Ok((dx.map(|dx| rounded(op, dx)).transpose()?, Some(d_weight), Some(d_bias)));
            }
        }
        let weight = weight.map1_dense::<E::Compute>(op, Casting)?;
        let weight = of_channels(&weight, &sizes);
        let [dx, d_weight, d_bias] = composed(op, [&x, &g, &weight], [of_set, of_set], self.eps)?;
        let wide = |x: Owned<E::Compute, D>| x.map1_dense::<f64>(op, Casting);
        Ok((Some(rounded(op, dx)?), Some(wide(d_weight)?), Some(wide(d_bias)?)))
    }
}

/// Adds the sums of runs to those of the channel or group that each is of.
fn add_up(totals: &mut [[f64; 2]], sums: &[[f64; 2]], of: impl Fn(usize) -> usize) {
    for (run, [sum, along]) in sums.iter().enumerate() {
        let total = &mut totals[of(run)];
        (total[0], total[1]) = (total[0] + sum, total[1] + along);
    }
}

/// `group_norm` of `(N, groups, channels of a group, places)`, and of weight and bias of each channel.
#[derive(Clone, Copy)]
pub(super) struct Grouped<E> {
    pub(super) eps: f64,
    pub(super) dtype: PhantomData<fn() -> E>,
}
impl<E: Dtype> Primitive for Grouped<E> {
    type Operands = (E, E, E);
    type Results = (E,);
    fn op(&self) -> &'static str {
        "group_norm"
    }
    fn run<D: Device>(&self, (x, weight, bias): On<'_, Self::Operands, D>) -> Result<On<'static, Self::Results, D>> {
        let [n, groups, channels, places] = [0, 1, 2, 3].map(|axis| x.sizes()[axis]);
        let whole = x.reshape(self.op(), &[n, groups * channels, places])?;
        let y = whole.in_groups_plain(self.op(), groups, [Some(&weight), Some(&bias)], self.eps)?;
        Ok((Erased::dense(y.into_parts().0, x.dims()),))
    }

    const READS: [u32; 2] = [0b11, 0];
    fn pull<D: Device>(&self, back: Back<'_, Self, D>) -> Result<Perhaps<'static, Self::Operands, D>> {
        let op = self.op();
        let Some(g) = &back.g.0 else { return Ok((None, None, None)) };
        let (x, weight) = (read(&back.x.0)?, read(&back.x.1)?);
        let (x, g) = (computed(op, x)?, computed(op, g)?);
        let (x, g) = (x.contiguous()?, g.contiguous()?);
        let sizes = x.dims();
        let (groups, channels, places) = (sizes[1], sizes[2], sizes[3]);
        let (all, count) = (groups * channels, (channels * places) as f64);
        if x.on_host().is_some() && g.on_host().is_some() && places > 1 {
            let rows = x.reshape(op, &[sizes[0] * groups, channels * places])?;
            let found = D::reduce_both::<E::Compute, _>(Variance::var(0.0), rows.view(), 0b10)?;
            let [variances, means] =
                found.map(|list| Owned::<E::Compute, D>::list(list, sizes[0] * groups)).map(|list| numbers(&list));
            let (means, variances, weights) = (means?, variances?, numbers(weight)?);
            let scales: Vec<f64> =
                collected(variances.iter().map(|variance| Ok((variance + self.eps).sqrt().recip())))?;
            let runs = sizes[0] * all;
            let found = by_dtype::<E::Compute, D>(
                [&x, &g],
                places,
                &collected((0..runs).map(|run| Ok(means[run / channels])))?,
                back.wants[0],
                &mut |sums| {
                    let mut totals = filled([0.0; 2], sizes[0] * groups)?;
                    for (run, [sum, along]) in sums.iter().enumerate() {
                        let (total, weight) = (&mut totals[run / channels], weights[run % all]);
                        (total[0], total[1]) = (total[0] + weight * sum, total[1] + weight * along);
                    }
                    let slope = |run: usize| {
                        let ([sum, along], scale) = (totals[run / channels], scales[run / channels]);
                        Ok([weights[run % all] * scale, -scale * along * scale * scale / count, -scale * sum / count])
                    };
                    collected((0..runs).map(slope))
                },
            )?;
            if let Some((dx, sums)) = found {
                let mut totals = filled([0.0; 2], all)?;
                for (run, [sum, along]) in sums.iter().enumerate() {
                    let (total, scale) = (&mut totals[run % all], scales[run / channels]);
                    (total[0], total[1]) = (total[0] + sum, total[1] + along * scale);
                }
                let list = |part: usize| -> Result<Owned<E, D>> {
                    let list = collected(totals.iter().map(|sums| Ok(E::from_f64(sums[part]))));
                    Ok(Erased::list(D::build::<E>(Some(g.storage()), || list)?, all))
                };
                let (d_weight, d_bias) = (list(1)?, list(0)?);
                return Ok((dx.map(|dx| rounded(op, dx)).transpose()?, Some(d_weight), Some(d_bias)));
            }
        }
        let weight = computed(op, weight)?;
        let cube = weight.reshape(op, &[1, groups, channels, 1])?;
        let cube = cube.expand(op, &sizes)?;
        let [dx, d_weight, d_bias] = composed(op, [&x, &g, &cube], [0b1100, 0b1001], self.eps)?;
        let list = |of: Owned<E::Compute, D>| rounded(op, of.reshape(op, &[all])?.share());
        Ok((Some(rounded(op, dx)?), Some(list(d_weight)?), Some(list(d_bias)?)))
    }
}
