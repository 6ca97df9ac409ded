//! Normalisation of channels, those of the second axis: `batch_norm`, `group_norm`, `instance_norm`, `local_response_norm`.
//! Uses `reduce::normalize`, `ops::losses` (their formulas of two elements), `device`.

use crate::device::Device;
use crate::dtype::{DType, Dtype, Element};
use crate::error::{Error, Result, invalid};
use crate::layout::{MemoryFormat, strides};
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::kernel::Casting;
use crate::ops::losses::{
    Affine, Blend, DividedByPower, First, InverseRoot, InverseRootBeside, Losing, Neighbours, Product, Quotient,
    Shifted, SquaredDifference,
};
use crate::ops::reduce::{Mean, Standardizing, Variance};
use crate::shape::{Dim, HasChannels, HasSpatialAxes, HasVariance, InGroups, Known, OneForEach, Shape, SizeArray};
use crate::storage::{View, ViewMut};
use crate::tensor::loss::per_channel::PerChannel;
use crate::tensor::reduce::large::{Powers, is_seen, may_have_overflowed};
use crate::tensor::{SameDevice, SameDtype, Tensor};
use castiron_macros::fallible;

/// A list with an element for each channel.
pub(crate) fn expect_channels(op: &'static str, channels: usize, given: &[usize]) -> Result<()> {
    if *given == [channels] {
        return Ok(());
    }
    Err(Error::Shape { op, expected: format!("[{channels}], an element for each channel"), found: given.into() })
}

/// Strides that read an element for each channel, over a tensor of this rank.
fn along_channels(rank: usize, step: usize) -> Vec<usize> {
    (0..rank).map(|axis| if axis == 1 { step } else { 0 }).collect()
}

/// `x * scale + shift` for each channel, into these strides.
fn affine<X: Dtype, B: Dtype, E: Dtype, D: Device>(
    x: View<'_, D::Storage, X>,
    scale: View<'_, D::Storage, B>,
    shift: View<'_, D::Storage, B>,
    to: &[usize],
) -> Result<D::Storage> {
    let step =
        |list: &View<'_, D::Storage, B>| along_channels(x.sizes.len(), list.strides.first().copied().unwrap_or(0));
    let (of_scale, of_shift) = (step(&scale), step(&shift));
    let kernel = Losing::<Affine>::new([0.0; 2]);
    let (scale, shift) = (scale.restrided(x.sizes, &of_scale), shift.restrided(x.sizes, &of_shift));
    D::map3::<X, B, B, E>(kernel, x, scale, shift, to)
}

/// Standardises groups of channels of a row-major tensor of `(N, C, …)`, then scales and moves each channel.
pub(crate) fn by_groups<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    groups: usize,
    [weight, bias]: [Option<View<'_, D::Storage, E>>; 2],
    eps: f64,
) -> Result<D::Storage> {
    let [n, c] = [x.sizes[0], x.sizes[1]];
    if groups == 0 || !c.is_multiple_of(groups) {
        return invalid(op, format!("{groups} groups do not divide {c} channels"));
    }
    for given in [weight, bias].into_iter().flatten() {
        expect_channels(op, c, given.sizes)?;
    }
    let to = strides::row_major(x.sizes);
    if x.sizes.contains(&0) {
        return D::zeroed::<E>(Some(x.buffer), 0);
    }
    let (kernel, places) = (Standardizing { eps }, x.sizes[2..].iter().product::<usize>());
    let sizes = [n, groups, c / groups, places];
    if let Some(result) = D::groups::<E, E>(kernel, x.restrided(&sizes, &strides::row_major(&sizes)), [weight, bias])? {
        return Ok(result);
    }
    let rows = [n * groups, sizes[2] * places];
    let steps = [rows[1], 1];
    if weight.is_none() && bias.is_none() {
        return D::rows::<E, E>(kernel, x.restrided(&rows, &steps), [None, None]);
    }
    let (one, none) = (D::fill(Some(x.buffer), E::from_i32(1), 1)?, D::zeroed::<E>(Some(x.buffer), 1)?);
    let weight = weight.unwrap_or(View::new(&one, 0, &[1], &[0]));
    let bias = bias.unwrap_or(View::new(&none, 0, &[1], &[0]));
    if const { matches!(E::DTYPE, DType::F16 | DType::BF16) } {
        // They are rounded once, after they are scaled and moved.
        let wide = D::map2::<E, E, f32>(Losing::<First>::new([0.0; 2]), x, x, &to)?;
        let standard = D::rows::<f32, f32>(kernel, View::new(&wide, 0, &rows, &steps), [None, None])?;
        return affine::<f32, E, E, D>(View::new(&standard, 0, x.sizes, &to), weight, bias, &to);
    }
    let standard = D::rows::<E, E>(kernel, x.restrided(&rows, &steps), [None, None])?;
    affine::<E, E, E, D>(View::new(&standard, 0, x.sizes, &to), weight, bias, &to)
}

/// The strides of channels that are normalised one by one: those of `channels_last` stay, all others are row-major.
pub(crate) fn strides_by_channels(sizes: &[usize], strides: &[usize]) -> Result<Vec<usize>> {
    MemoryFormat::suggested(sizes, strides).copied("batch_norm", sizes, strides)
}

/// A list as numbers of `f64`.
fn wide<E: Dtype, D: Device>(list: View<'_, D::Storage, E>) -> Result<D::Storage> {
    D::map1::<E, f64>(Casting, list, &[1])
}

fn whole<'a, B>(list: &'a B, len: &'a [usize; 1]) -> View<'a, B, f64> {
    View::new(list, 0, len, &[1])
}

/// Means and variances, and the powers of two by which elements were multiplied before, if they were.
pub(crate) type Statistics<'a, S> = ([View<'a, S, f64>; 2], Option<View<'a, S, f64>>);

/// `(x - mean) / sqrt(var + eps) * weight + bias` for each channel, one factor and one summand for each, found in `f64`; laid out by
/// [`strides_by_channels`].
pub(crate) fn by_statistics<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    statistics: Statistics<'_, D::Storage>,
    given: [Option<View<'_, D::Storage, f64>>; 2],
    eps: f64,
) -> Result<D::Storage> {
    // In the numbers that elements are computed in.
    if const { matches!(E::DTYPE, DType::F64) } {
        by_factors::<E, f64, D>(op, x, statistics, given, eps)
    } else {
        by_factors::<E, f32, D>(op, x, statistics, given, eps)
    }
}

/// The same, factors and summands being a `B` each.
fn by_factors<E: Dtype, B: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    ([mean, variance], power): Statistics<'_, D::Storage>,
    [weight, bias]: [Option<View<'_, D::Storage, f64>>; 2],
    eps: f64,
) -> Result<D::Storage> {
    let list = [x.sizes[1]];
    for given in [Some(mean), Some(variance), weight, bias].into_iter().flatten() {
        expect_channels(op, list[0], given.sizes)?;
    }
    let mut scale = match power {
        Some(power) => D::map2::<f64, f64, f64>(Losing::<InverseRootBeside>::new([eps, 0.0]), variance, power, &[1])?,
        None => D::map2::<f64, f64, f64>(Losing::<InverseRoot>::new([eps, 0.0]), variance, variance, &[1])?,
    };
    if let Some(weight) = weight {
        scale = D::map2::<f64, f64, f64>(Losing::<Product>::new([0.0; 2]), whole(&scale, &list), weight, &[1])?;
    }
    let zeros = if bias.is_none() { Some(D::zeroed::<f64>(Some(x.buffer), list[0])?) } else { None };
    let bias = bias.or(zeros.as_ref().map(|zeros| whole(zeros, &list))).unwrap_or(mean);
    let shifted = Losing::<Shifted>::new([0.0; 2]);
    let shift = D::map3::<f64, f64, f64, B>(shifted, mean, bias, whole(&scale, &list), &[1])?;
    let scale = match power {
        Some(power) => D::map2::<f64, f64, B>(Losing::<Product>::new([0.0; 2]), whole(&scale, &list), power, &[1])?,
        None => D::map1::<f64, B>(Casting, whole(&scale, &list), &[1])?,
    };
    let to = strides_by_channels(x.sizes, x.strides)?;
    affine::<E, B, E, D>(x, View::new(&scale, 0, &list, &[1]), View::new(&shift, 0, &list, &[1]), &to)
}

/// The mean and the variance of all elements of each channel, lists of `f64`: those of 16-bit elements are not rounded to 16 bits.
pub(crate) struct Moments<S> {
    pub(crate) mean: S,
    pub(crate) variance: S,
    /// What elements were multiplied by before, where `f64` has no room for squares.
    pub(crate) power: Option<S>,
}

impl<S> Moments<S> {
    pub(crate) fn of<E: Dtype, D: Device<Storage = S>>(x: View<'_, S, E>) -> Result<Self> {
        if is_seen::<E, D>(x) {
            let is_short = const { matches!(E::DTYPE, DType::F16 | DType::BF16) };
            let [mean, variance] = if is_short { found_in::<E, f32, D>(x)? } else { found_in::<E, E, D>(x)? };
            if !may_have_overflowed::<f64, D>(whole(&variance, &[x.sizes[1]]))? {
                return Ok(Moments { mean, variance, power: None });
            }
        }
        let mask = ((1_u32 << x.sizes.len()) - 1) & !0b10;
        let powers = Powers::of::<E, D>(x, mask)?;
        let mean = powers.reduce::<E, f64, D>(Mean, x, mask)?;
        let variance = powers.reduce::<E, f64, D>(Variance::var(0.0), x, mask)?;
        Ok(Moments { mean, variance, power: powers.into_list() })
    }

    pub(crate) fn statistics<'a>(&'a self, channels: &'a [usize; 1]) -> Statistics<'a, S> {
        let list = |list| whole(list, channels);
        ([list(&self.mean), list(&self.variance)], self.power.as_ref().map(list))
    }
}

/// Means and variances of the elements as they are, lists.
pub(crate) fn of_elements<D: Device>(([mean, variance], power): Statistics<'_, D::Storage>) -> Result<[D::Storage; 2]> {
    let Some(power) = power else { return Ok([wide::<f64, D>(mean)?, wide::<f64, D>(variance)?]) };
    let over = |x| D::map2::<f64, f64, f64>(Losing::<Quotient>::new([0.0; 2]), x, power, &[1]);
    let variance = over(variance)?;
    Ok([over(mean)?, over(whole(&variance, &[mean.sizes[0]]))?])
}

/// The same from elements as an `A` each.
fn found_in<E: Dtype, A: Dtype, D: Device>(x: View<'_, D::Storage, E>) -> Result<[D::Storage; 2]> {
    let (mask, list) = (((1_u32 << x.sizes.len()) - 1) & !0b10, [x.sizes[1]]);
    let (to, as_wide);
    let x = if const { E::DTYPE as u8 == A::DTYPE as u8 } {
        x.known_as::<A>()
    } else {
        to = strides::row_major(x.sizes);
        as_wide = D::map1::<E, A>(Casting, x, &to)?;
        View::new(&as_wide, 0, x.sizes, &to)
    };
    let [variance, mean] = D::reduce_both(Variance::var(0.0), x, mask)?;
    Ok([
        wide::<A, D>(View::new(&mean, 0, &list, &[1]))?,
        wide::<A::RealDtype, D>(View::new(&variance, 0, &list, &[1]))?,
    ])
}

/// What running statistics become: `(1 - momentum) * running + momentum * new`, the variance being that of a sample of `count`. Lists.
pub(crate) fn mixed_statistics<E: Dtype, D: Device>(
    running: [View<'_, D::Storage, E>; 2],
    new: [View<'_, D::Storage, f64>; 2],
    momentum: f64,
    count: usize,
) -> Result<[D::Storage; 2]> {
    let one = |own: View<'_, D::Storage, E>, new: View<'_, D::Storage, f64>, share: f64| {
        let kernel = Losing::<Blend>::new([1.0 - momentum, share]);
        D::map2::<E, f64, E>(kernel, own, new, &[1])
    };
    let of_sample = count as f64 / (count as f64 - 1.0);
    Ok([one(running[0], new[0], momentum)?, one(running[1], new[1], momentum * of_sample)?])
}

/// `(N, C, …)`: how many elements a channel has, two at least.
pub(crate) fn expect_variance(op: &'static str, sizes: &[usize]) -> Result<usize> {
    let others = || sizes.iter().enumerate().filter(|(axis, _)| *axis != 1).map(|(_, &size)| size);
    expect_several(op, others())?;
    Ok(others().fold(1, usize::saturating_mul))
}

/// `x / (k + alpha / size * sum of squares) ** beta` over `size` channels around each; row-major.
pub(crate) fn by_neighbours<E: Dtype, D: Device>(
    op: &'static str,
    x: View<'_, D::Storage, E>,
    size: usize,
    [alpha, beta, k]: [f64; 3],
) -> Result<D::Storage> {
    if size == 0 {
        return invalid(op, "`size` must be at least 1".to_owned());
    }
    let (sizes, to) = (x.sizes, strides::row_major(x.sizes));
    if sizes.contains(&0) {
        return D::zeroed::<E>(Some(x.buffer), 0);
    }
    let zero = D::zeroed::<E>(Some(x.buffer), 1)?;
    let still = vec![0; sizes.len()];
    let squares = Losing::<SquaredDifference>::new([0.0; 2]);
    let squares = D::map2::<E, E, f64>(squares, x, View::new(&zero, 0, sizes, &still), &to)?;
    let mut sums = D::zeroed::<f64>(Some(x.buffer), sizes.iter().product())?;
    let before = size / 2;
    // Only those that channels of the tensor are away from others.
    for offset in (before + 1).saturating_sub(sizes[1])..size.min(before.saturating_add(sizes[1])) {
        // The channel that is added lies `before - offset` channels before.
        let (from, into) = (offset.saturating_sub(before), before.saturating_sub(offset));
        let Some(count) = sizes[1].checked_sub(from.max(into)).filter(|&count| count > 0) else { continue };
        let mut part = sizes.to_vec();
        part[1] = count;
        let more = View::<_, f64>::new(&squares, from * to[1], &part, &to);
        D::update2::<f64, f64>(
            Losing::<Blend>::new([1.0; 2]),
            more,
            ViewMut::new(&mut sums, into * to[1], &part, &to),
        )?;
    }
    let around = Losing::<Neighbours>::new([alpha / size as f64, k]);
    let sums = View::<_, f64>::new(&sums, 0, sizes, &to);
    let divisors = D::map2::<f64, f64, f64>(around, sums, sums, &to)?;
    let kernel = Losing::<DividedByPower>::new([beta, 0.0]);
    D::map2::<E, f64, E>(kernel, x, View::new(&divisors, 0, sizes, &to), &to)
}

/// Running means and variances that training updates: `(&mut mean, &mut variance)`, or `()` where there are none.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no running statistics of `{C}` channels, of dtype `{E}` on `{D}`",
    label = "expected `(&mut mean, &mut variance)`, tensors with one axis, or `()` for none"
)]
pub trait RunningStatistics<E: Element, C, D: Device> {
    /// Mixes new statistics in; each is of `count` elements.
    #[doc(hidden)]
    fn update(self, op: &'static str, new: [View<'_, D::Storage, f64>; 2], momentum: f64, count: usize) -> Result<()>
    where
        E: Dtype;
}
impl<E: Element, C, D: Device> RunningStatistics<E, C, D> for () {
    fn update(self, _: &'static str, _: [View<'_, D::Storage, f64>; 2], _: f64, _: usize) -> Result<()> {
        Ok(())
    }
}
impl<E, C, K, V, X, Y, D> RunningStatistics<E, C, D> for (&mut Tensor<E, (K,), X>, &mut Tensor<E, (V,), Y>)
where
    E: Element,
    K: Dim + OneForEach<C> + SameDevice<D, X>,
    V: Dim + OneForEach<C> + SameDevice<D, Y>,
    X: Device,
    Y: Device,
    D: Device,
{
    fn update(self, op: &'static str, new: [View<'_, D::Storage, f64>; 2], momentum: f64, count: usize) -> Result<()>
    where
        E: Dtype,
    {
        let (mean, variance, channels) = (K::here_mut(self.0), V::here_mut(self.1), new[0].sizes[0]);
        expect_channels(op, channels, &mean.shape())?;
        expect_channels(op, channels, &variance.shape())?;
        // Both are computed before one is written.
        let [new_mean, new_variance] =
            mixed_statistics::<E, D>([mean.elements(), variance.elements()], new, momentum, count)?;
        *mean = Tensor::dense(new_mean, [channels]);
        *variance = Tensor::dense(new_variance, [channels]);
        Ok(())
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Standardises `G` groups of channels, those of the second axis, then scales and moves each channel:
    /// `(x - mean) / sqrt(variance + eps) * weight + bias`. `weight` and `bias` have an element for each channel, or are `()`.
    ///
    /// Shape: that of `self`, `(N, C, …)`. Dtypes: floating-point.
    ///
    /// PyTorch: `torch.nn.functional.group_norm`, where `eps` is 1e-5 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not fit or memory runs out.
    ///
    /// ```
    /// use castiron::{dim, tensor};
    /// let x = tensor![[1.0, 3.0, 10.0, 30.0]];
    /// assert_eq!(x.group_norm::<dim!(2), _, _>((), (), 0.0).to_vec(), [-1.0, 1.0, -1.0, 1.0]);
    /// let scaled = x.group_norm::<dim!(2), _, _>(&tensor![1.0, 2.0, 3.0, 4.0], (), 0.0);
    /// assert_eq!(scaled.to_vec(), [-1.0, 2.0, -3.0, 4.0]);
    /// ```
    #[fallible]
    pub fn group_norm<G: Known, W, B>(&self, weight: W, bias: B, eps: f64) -> Result<Self>
    where
        E: FloatFor<ops::losses::group_norm>,
        S: HasChannels,
        S::Channels: InGroups<G>,
        W: PerChannel<E, S::Channels, D>,
        B: PerChannel<E, S::Channels, D>,
    {
        let x = self.try_contiguous()?;
        let storage = by_groups::<E, D>("group_norm", x.elements(), G::VALUE, [weight.given(), bias.given()], eps)?;
        Ok(Tensor::dense(storage, self.shape()))
    }

    /// Standardises each channel of each example, then scales and moves it: [`group_norm`](Self::group_norm) where each channel is a
    /// group of its own.
    ///
    /// Shape: that of `self`, `(N, C, d1, …)`. Dtypes: floating-point.
    ///
    /// PyTorch: `torch.nn.functional.instance_norm` of the statistics of the input, where `eps` is 1e-5 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not fit, or make one element of each channel, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// assert_eq!(tensor![[[1.0, 3.0], [10.0, 30.0]]].instance_norm((), (), 0.0).to_vec(), [-1.0, 1.0, -1.0, 1.0]);
    /// ```
    #[fallible]
    pub fn instance_norm<W, B>(&self, weight: W, bias: B, eps: f64) -> Result<Self>
    where
        E: FloatFor<ops::losses::instance_norm>,
        S: HasSpatialAxes,
        W: PerChannel<E, S::Channels, D>,
        B: PerChannel<E, S::Channels, D>,
    {
        let op = "instance_norm";
        let sizes = self.shape();
        expect_several(op, sizes.as_ref()[2..].iter().copied())?;
        let x = self.try_contiguous()?;
        let groups = sizes.as_ref()[1].max(1);
        let storage = by_groups::<E, D>(op, x.elements(), groups, [weight.given(), bias.given()], eps)?;
        Ok(Tensor::dense(storage, sizes))
    }

    /// Standardises each channel by a mean and a variance given, then scales and moves it:
    /// `(x - mean) / sqrt(variance + eps) * weight + bias`. `weight` and `bias` have an element for each channel, or are `()`.
    ///
    /// Shape: that of `self`, `(N, C, …)`. Dtypes: floating-point.
    ///
    /// PyTorch: `torch.nn.functional.batch_norm` with `training=False`, where `eps` is 1e-5 if not given. To train see
    /// [`batch_norm_training`](Self::batch_norm_training).
    ///
    /// # Panics
    /// If sizes known at run time do not fit or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let (x, mean, variance) = (tensor![[1.0, 30.0]], tensor![0.0, 10.0], tensor![1.0, 4.0]);
    /// assert_eq!(x.batch_norm(&mean, &variance, (), &tensor![0.5, 0.0], 0.0).to_vec(), [1.5, 10.0]);
    /// ```
    #[fallible]
    pub fn batch_norm<M, V, W, B, F: Element, G: Element, X: Device, Y: Device>(
        &self,
        mean: &Tensor<F, (M,), X>,
        variance: &Tensor<G, (V,), Y>,
        weight: W,
        bias: B,
        eps: f64,
    ) -> Result<Self>
    where
        E: FloatFor<ops::losses::batch_norm>,
        S: HasChannels,
        M: Dim + OneForEach<S::Channels>,
        V: Dim + OneForEach<S::Channels>,
        W: PerChannel<E, S::Channels, D>,
        B: PerChannel<E, S::Channels, D>,
        M: SameDevice<D, X> + SameDtype<E, F, ops::losses::batch_norm>,
        V: SameDevice<D, Y> + SameDtype<E, G, ops::losses::batch_norm>,
    {
        let (mean, variance) = (M::alike(M::here(mean)), V::alike(V::here(variance)));
        let statistics = [wide::<E, D>(mean.elements())?, wide::<E, D>(variance.elements())?];
        let lists = [mean.shape(), variance.shape()];
        self.standardised(
            ([whole(&statistics[0], &lists[0]), whole(&statistics[1], &lists[1])], None),
            [weight.given(), bias.given()],
            eps,
        )
    }

    /// [`batch_norm`](Self::batch_norm) by the mean and the variance of each channel itself, which are mixed into running ones: these
    /// become `(1 - momentum) * running + momentum * new`, the new variance being that of a sample.
    ///
    /// Shape: that of `self`, `(N, C, …)`. Dtypes: floating-point. The running statistics are `(&mut mean, &mut variance)`, or `()`.
    ///
    /// PyTorch: `torch.nn.functional.batch_norm` with `training=True`, where `momentum` is 0.1 and `eps` 1e-5 if not given.
    ///
    /// # Panics
    /// If sizes known at run time do not fit, or make one element of each channel, or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[1.0], [3.0]];
    /// let (mut mean, mut variance) = (tensor![0.0], tensor![1.0]);
    /// let y = x.batch_norm_training((&mut mean, &mut variance), (), (), 0.5, 0.0);
    /// assert_eq!((y.to_vec(), mean.to_vec(), variance.to_vec()), (vec![-1.0, 1.0], vec![1.0], vec![1.5]));
    /// ```
    #[fallible]
    pub fn batch_norm_training<N, W, B>(&self, running: N, weight: W, bias: B, momentum: f64, eps: f64) -> Result<Self>
    where
        E: FloatFor<ops::losses::batch_norm>,
        S: HasVariance,
        N: RunningStatistics<E, S::Channels, D>,
        W: PerChannel<E, S::Channels, D>,
        B: PerChannel<E, S::Channels, D>,
    {
        let (op, x) = ("batch_norm", self.elements());
        let (count, list) = (expect_variance(op, x.sizes)?, [x.sizes[1]]);
        let found = Moments::of::<E, D>(x)?;
        let result = self.standardised(found.statistics(&list), [weight.given(), bias.given()], eps)?;
        let new = of_elements::<D>(found.statistics(&list))?;
        running.update(op, new.each_ref().map(|new| whole(new, &list)), momentum, count)?;
        Ok(result)
    }

    fn standardised(
        &self,
        statistics: Statistics<'_, D::Storage>,
        given: [Option<View<'_, D::Storage, E>>; 2],
        eps: f64,
    ) -> Result<Self>
    where
        E: Dtype,
    {
        let (op, x) = ("batch_norm", self.elements());
        let lists = [given[0].map(wide::<E, D>).transpose()?, given[1].map(wide::<E, D>).transpose()?];
        let lens = given.map(|given| [given.map_or(0, |given| given.sizes[0])]);
        let [weight, bias] = [0, 1].map(|at| lists[at].as_ref().map(|list| whole(list, &lens[at])));
        let storage = by_statistics::<E, D>(op, x, statistics, [weight, bias], eps)?;
        let strides = S::Sizes::copied(&strides_by_channels(x.sizes, x.strides)?);
        Ok(Tensor::from_parts(storage, 0, self.shape(), strides))
    }

    /// Divides by what the squares of `size` channels around each amount to: `x / (k + alpha * mean of squares) ** beta`, where channels
    /// beyond the first and the last count as zeros.
    ///
    /// Shape: that of `self`, `(N, C, …)`. Dtypes: floating-point.
    ///
    /// PyTorch: `torch.nn.functional.local_response_norm`, where `alpha` is 1e-4, `beta` 0.75 and `k` 1 if not given.
    ///
    /// # Panics
    /// If `size` is 0 or memory runs out.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![[[2.0], [4.0]]];
    /// assert_eq!(x.local_response_norm(1, 1.0, 1.0, 0.0).to_vec(), [0.5, 0.25]);
    /// assert_eq!(x.local_response_norm(2, 1.0, 1.0, 0.0).to_vec(), [1.0, 0.4]);
    /// ```
    #[fallible]
    pub fn local_response_norm(&self, size: usize, alpha: f64, beta: f64, k: f64) -> Result<Self>
    where
        E: FloatFor<ops::losses::local_response_norm>,
        S: HasChannels,
    {
        let storage = by_neighbours::<E, D>("local_response_norm", self.elements(), size, [alpha, beta, k])?;
        Ok(Tensor::dense(storage, S::Sizes::copied(self.shape().as_ref())))
    }
}

/// A variance is of two elements or more.
pub(crate) fn expect_several(op: &'static str, sizes: impl Iterator<Item = usize>) -> Result<()> {
    if sizes.fold(1, usize::saturating_mul) == 1 {
        return invalid(op, "a channel has one element, which has no variance".to_owned());
    }
    Ok(())
}
