//! Normalisation of channels, the second axis: `batch_norm`, `group_norm`, `instance_norm`, `local_response_norm`.

#[cfg(feature = "grad")]
use super::back::{Grouped, Training};
use super::large::{Powers, is_seen, may_have_overflowed};
use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::{DType, Dtype, Element};
use crate::error::{Error, Result, invalid};
use crate::layout::MemoryFormat;
use crate::layout::dims::Dims;
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::kernel::{Casting, Copying};
use crate::ops::losses::{
    Affine, Blend, DividedByPower, InverseRoot, InverseRootBeside, Losing, Neighbours, Product, Quotient, Shifted,
    SquaredDifference,
};
use crate::ops::reduce::{Mean, Standardizing, Variance};
use crate::shape::{Dim, HasChannels, HasSpatialAxes, InGroups, Known, OneForEach};
use crate::storage::{View, ViewMut};
use crate::tensor::{PerChannel, SameDevice, SameDtype, Tensor};
use castiron_macros::composites;

const NONE: [f64; 2] = [0.0; 2];

/// Checks that a list has an element for each channel.
fn expect_channels(op: &'static str, channels: usize, given: &[usize]) -> Result<()> {
    if *given == [channels] {
        return Ok(());
    }
    Err(Error::Shape { op, expected: format!("[{channels}], an element for each channel"), found: given.into() })
}

/// The number of elements of these sizes, which must be at least two for a variance.
fn expect_several(op: &'static str, sizes: impl Iterator<Item = usize>) -> Result<usize> {
    match sizes.fold(1, usize::saturating_mul) {
        1 => invalid(op, "a channel has one element, which has no variance".to_owned()),
        count => Ok(count),
    }
}

/// The sizes of `(N, C, …)`: the number of channels, and the axes after them.
fn channels<'s>(op: &'static str, sizes: &'s [usize]) -> Result<(usize, &'s [usize])> {
    match sizes {
        [_, channels, rest @ ..] => Ok((*channels, rest)),
        _ => invalid(op, format!("at least two axes are wanted, got {}", sizes.len())),
    }
}

/// A list converted to `f64`.
pub(crate) fn as_wide<E: Dtype, D: Device>(list: View<'_, D::Storage, E>) -> Result<Owned<f64, D>> {
    Ok(Erased::<E, D>::of(list).to::<f64>("batch_norm")?.share())
}

/// The mean and the variance of all elements of each channel, lists of `f64`, not rounded to the dtype of 16-bit elements.
pub(crate) struct Moments<'a, D: Device> {
    mean: Erased<'a, f64, D>,
    variance: Erased<'a, f64, D>,
    /// The powers of two that elements were multiplied by, where `f64` cannot hold the squares.
    power: Option<Erased<'a, f64, D>>,
}

impl<D: Device> Moments<'_, D> {
    fn of<E: Dtype>(op: &'static str, x: &Erased<'_, E, D>) -> Result<Self> {
        if is_seen::<E, D>(x.view()) {
            let is_short = const { matches!(E::DTYPE, DType::F16 | DType::BF16) };
            let found = if is_short { Self::found_in::<E, f32>(op, x)? } else { Self::found_in::<E, E>(op, x)? };
            if !may_have_overflowed::<f64, D>(found.variance.view())? {
                return Ok(found);
            }
        }
        let mask = Self::others(x.rank());
        let (x, list) = (x.view(), |list| Erased::list(list, x.sizes()[1]));
        let powers = Powers::of::<E, D>(x, mask)?;
        let mean = list(powers.reduce::<E, f64, D>(Mean, x, mask)?);
        let variance = list(powers.reduce::<E, f64, D>(Variance::var(0.0), x, mask)?);
        Ok(Moments { mean, variance, power: powers.into_list().map(list) })
    }

    /// The moments of elements computed in dtype `A`.
    fn found_in<E: Dtype, A: Dtype>(op: &'static str, x: &Erased<'_, E, D>) -> Result<Self> {
        let as_computed;
        let x = if const { E::DTYPE as u8 == A::DTYPE as u8 } {
            x.known_as::<A>()
        } else {
            as_computed = x.map1_dense::<A>(op, Casting)?;
            as_computed.known_as()
        };
        let (channels, mask) = (x.sizes()[1], Self::others(x.rank()));
        let [variance, mean] = D::reduce_both(Variance::var(0.0), x.view(), mask)?;
        let mean = Owned::<A, D>::list(mean, channels).to::<f64>(op)?.share();
        let variance = Owned::<A::RealDtype, D>::list(variance, channels).to::<f64>(op)?.share();
        Ok(Moments { mean, variance, power: None })
    }

    /// All axes except that of channels.
    pub(super) fn others(rank: usize) -> u32 {
        ((1_u32 << rank) - 1) & !0b10
    }

    /// Means and variances of the elements without scaling.
    fn of_elements(&self, op: &'static str) -> Result<[Owned<f64, D>; 2]> {
        let Some(power) = &self.power else { return Ok([self.mean.share(), self.variance.share()]) };
        let over = |x: &Erased<'_, f64, D>| x.map2_dense::<f64, f64>(op, Losing::<Quotient>::new(NONE), power);
        Ok([over(&self.mean)?, over(&over(&self.variance)?)?])
    }
}

/// New running statistics: `(1 - momentum) * running + momentum * new`, with the unbiased variance of `count` elements. Lists.
pub(crate) fn mixed_statistics<E: Dtype, D: Device>(
    op: &'static str,
    [mean, variance]: [&Erased<'_, E, D>; 2],
    new: [&Erased<'_, f64, D>; 2],
    momentum: f64,
    count: usize,
) -> Result<[Owned<E, D>; 2]> {
    let one = |own: &Erased<'_, E, D>, new: &Erased<'_, f64, D>, share: f64| {
        expect_channels(op, new.sizes()[0], own.sizes())?;
        own.map2_dense::<f64, E>(op, Losing::<Blend>::new([1.0 - momentum, share]), new)
    };
    let of_sample = count as f64 / (count as f64 - 1.0);
    Ok([one(mean, new[0], momentum)?, one(variance, new[1], momentum * of_sample)?])
}

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// Standardises groups of channels, the second axis, then scales and shifts each channel: `(x - mean) / sqrt(variance + eps) * weight +
    /// bias`. `weight` and `bias` have an element for each channel; for a `Tensor`, whose groups are `G`, each is `()` for none. In PyTorch
    /// `eps` is 1e-5 if not given.
    ///
    /// Shape: that of `self`, `(N, C, …)`. 16-bit floats are rounded once; weights of an `AnyTensor` of them may be `float32`.
    ///
    /// # Errors
    /// If the groups do not divide the channels or sizes do not match.
    #[op(nn.functional.group_norm(input, num_groups, weight = None, bias = None, eps = 1e-5), dtypes = float, aliases("group_norm"))]
    #[any(
        if let Some(wide) = self.widened_beside("group_norm", [weight, bias])? {
            return wide.group_norm(groups, weight, bias, eps)?.to(self.dtype());
        },
        groups: i64 = usize::try_from(groups).unwrap_or(0)
    )]
    #[typed(<G: Known, W, B>(&self, weight: W, bias: B, eps: f64) -> Self
        where
            E: FloatFor<ops::losses::group_norm>,
            S: HasChannels,
            S::Channels: InGroups<G>,
            W: PerChannel<E, S::Channels, D>,
            B: PerChannel<E, S::Channels, D>;
        groups = G::VALUE)]
    #[example(let x = tensor![[1.0, 3.0, 10.0, 30.0]]; x.group_norm::<dim!(2), _, _>((), (), 0.0), x.group_norm(2, None, None, 0.0), tensor![[-1.0, 1.0, -1.0, 1.0]])]
    #[example(let x = tensor![[1.0, 3.0, 10.0, 30.0]]; let weight = tensor![1.0, 2.0, 3.0, 4.0]; x.group_norm::<dim!(2), _, _>(&weight, (), 0.0), x.group_norm(2, Some(&weight), None, 0.0), tensor![[-1.0, 2.0, -3.0, 4.0]])]
    pub(crate) fn group_norm(
        &self,
        groups: usize,
        weight: Option<&Erased<'_, E, D>>,
        bias: Option<&Erased<'_, E, D>>,
        eps: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        self.in_groups("group_norm", groups, [weight, bias], eps)
    }

    /// Standardises each channel of each example, then scales and shifts it: [`group_norm`](Self::group_norm) with each channel as a group.
    /// In PyTorch `eps` is 1e-5 if not given.
    ///
    /// Shape: that of `self`, `(N, C, d1, …)`.
    ///
    /// # Errors
    /// If sizes do not match, or channels have a single element.
    #[op(nn.functional.instance_norm, dtypes = float)]
    #[any(if let Some(wide) = self.widened_beside("instance_norm", [weight, bias])? {
        return wide.instance_norm(weight, bias, eps)?.to(self.dtype());
    })]
    #[typed(<W, B>(&self, weight: W, bias: B, eps: f64) -> Self
        where
            E: FloatFor<ops::losses::instance_norm>,
            S: HasSpatialAxes,
            W: PerChannel<E, S::Channels, D>,
            B: PerChannel<E, S::Channels, D>)]
    #[example(let x = tensor![[[1.0, 3.0], [10.0, 30.0]]]; x.instance_norm((), (), 0.0), x.instance_norm(None, None, 0.0), tensor![[[-1.0, 1.0], [-1.0, 1.0]]])]
    pub(crate) fn instance_norm(
        &self,
        weight: Option<&Erased<'_, E, D>>,
        bias: Option<&Erased<'_, E, D>>,
        eps: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "instance_norm";
        let (channels, rest) = channels(op, self.sizes())?;
        expect_several(op, rest.iter().copied())?;
        self.in_groups(op, channels.max(1), [weight, bias], eps)
    }

    /// Standardises each channel, the second axis, by a given mean and variance, then scales and shifts it: `(x - mean) / sqrt(variance +
    /// eps) * weight + bias`. Each of these has an element for each channel; for a `Tensor` `weight` and `bias` are `()` for none. In
    /// PyTorch `eps` is 1e-5 if not given.
    ///
    /// Shape: that of `self`, `(N, C, …)`. All have one dtype, except that the others may be `float32` for an `AnyTensor` of 16-bit floats.
    /// For training see [`batch_norm_training`](Self::batch_norm_training).
    ///
    /// # Errors
    /// If sizes do not match.
    #[op(nn.functional.batch_norm, dtypes = float)]
    #[any(
        if self.is_empty() {
            self.expect_float("batch_norm")?;
            return self.copy();
        },
        ([self, mean, variance], [weight, bias]) = self.with_statistics("batch_norm", [mean, variance], [weight, bias])?
    )]
    #[typed(<M, V, W, B, F: Element, G: Element, X: Device, Y: Device>(&self, mean: &Tensor<F, (M,), X>, variance: &Tensor<G, (V,), Y>, weight: W, bias: B, eps: f64) -> Self
        where
            E: FloatFor<ops::losses::batch_norm>,
            S: HasChannels,
            M: Dim + OneForEach<S::Channels>,
            V: Dim + OneForEach<S::Channels>,
            W: PerChannel<E, S::Channels, D>,
            B: PerChannel<E, S::Channels, D>,
            M: SameDevice<D, X> + SameDtype<E, F, ops::losses::batch_norm>,
            V: SameDevice<D, Y> + SameDtype<E, G, ops::losses::batch_norm>;
        mean = &as_wide::<E, D>(M::alike(M::here(mean)).elements())?,
        variance = &as_wide::<E, D>(V::alike(V::here(variance)).elements())?,
        weight = weight.given().map(as_wide::<E, D>).transpose()?.as_ref(),
        bias = bias.given().map(as_wide::<E, D>).transpose()?.as_ref())]
    #[example(let x = tensor![[1.0, 30.0]]; let mean = tensor![0.0, 10.0]; let variance = tensor![1.0, 4.0]; let weight = tensor![0.5, 0.0]; x.batch_norm(&mean, &variance, (), &weight, 0.0), x.batch_norm(&mean, &variance, None, Some(&weight), 0.0), tensor![[1.5, 10.0]])]
    pub(crate) fn batch_norm(
        &self,
        mean: &Erased<'_, f64, D>,
        variance: &Erased<'_, f64, D>,
        weight: Option<&Erased<'_, f64, D>>,
        bias: Option<&Erased<'_, f64, D>>,
        eps: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let (mean, variance) = (Erased::of(mean.view()), Erased::of(variance.view()));
        self.standardised("batch_norm", &Moments { mean, variance, power: None }, [weight, bias], eps)
    }

    /// [`batch_norm`](Self::batch_norm) by the mean and the variance of each channel; returns these and the number of elements per channel,
    /// too.
    #[allow(clippy::type_complexity)]
    pub(crate) fn batch_norm_by_itself(
        &self,
        given: [Option<&Erased<'_, f64, D>>; 2],
        eps: f64,
    ) -> Result<(Owned<E, D>, [Owned<f64, D>; 2], usize)>
    where
        E: Dtype,
    {
        let op = "batch_norm";
        channels(op, self.sizes())?;
        let others = self.sizes().iter().enumerate().filter(|(axis, _)| *axis != 1);
        let count = expect_several(op, others.map(|(_, &size)| size))?;
        self.expect_memory()?;
        #[cfg(feature = "grad")]
        if D::is_tracked(self.storage()) || given.into_iter().flatten().any(|of| D::is_tracked(of.storage())) {
            let channels = self.sizes()[1];
            for given in given.into_iter().flatten() {
                expect_channels(op, channels, given.sizes())?;
            }
            let [weight, bias] = [(given[0], 1.0), (given[1], 0.0)].map(|(given, number)| match given {
                Some(given) => Ok(given.share()),
                None => Ok::<_, Error>(Erased::list(D::fill(Some(self.storage()), number, channels)?, channels)),
            });
            let step = Training::<E> { eps, dtype: core::marker::PhantomData };
            let (y, mean, variance) = D::primitive(&step, (self.share(), weight?, bias?))?;
            return Ok((y, [mean, variance], count));
        }
        let (y, moments) = self.standardised_by_itself(given, eps)?;
        Ok((y, moments, count))
    }

    /// The same, as a tape does not see it.
    pub(super) fn standardised_by_itself(
        &self,
        given: [Option<&Erased<'_, f64, D>>; 2],
        eps: f64,
    ) -> Result<(Owned<E, D>, [Owned<f64, D>; 2])>
    where
        E: Dtype,
    {
        let op = "batch_norm";
        let found = Moments::of(op, self)?;
        Ok((self.standardised(op, &found, given, eps)?, found.of_elements(op)?))
    }

    /// Local response normalisation over `size` adjacent channels: `x / (k + alpha * mean of squares) ** beta`, where channels before the
    /// first and after the last count as zeros. In PyTorch `alpha` is 1e-4, `beta` 0.75 and `k` 1 if not given.
    ///
    /// Shape: that of `self`, `(N, C, d1, …)`; a `Tensor` has at least two axes.
    ///
    /// # Errors
    /// If `size` is 0 or there are too few axes.
    #[op(nn.functional.local_response_norm(input, size, alpha = 1e-4, beta = 0.75, k = 1.0), dtypes = "floats and int64", over = float)]
    #[any(
        if matches!(self.rank(), 0..=2) {
            return invalid("local_response_norm", format!("at least three axes are wanted, got {}", self.rank()));
        },
        if self.dtype() == DType::I64 { return self.local_response_norm_of_integers(size, alpha, beta, k); }
    )]
    #[typed((&self, size: usize, alpha: f64, beta: f64, k: f64) -> Self
        where
            E: FloatFor<ops::losses::local_response_norm>,
            S: HasChannels)]
    #[example(let x = tensor![[[2.0], [4.0]]]; x.local_response_norm(1, 1.0, 1.0, 0.0), x.local_response_norm(1, 1.0, 1.0, 0.0), tensor![[[0.5], [0.25]]])]
    #[example(let x = tensor![[[2.0], [4.0]]]; x.local_response_norm(2, 1.0, 1.0, 0.0), x.local_response_norm(2, 1.0, 1.0, 0.0), tensor![[[1.0], [0.4]]])]
    pub(crate) fn local_response_norm(&self, size: usize, alpha: f64, beta: f64, k: f64) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "local_response_norm";
        if size == 0 {
            return invalid(op, "`size` must be at least 1".to_owned());
        }
        let (beside, sizes, to) = (Some(self.storage()), self.dims(), self.dims().row_major());
        if self.is_empty() {
            return self.map1_dense::<E>(op, Copying);
        }
        let (channels, _) = channels(op, &sizes)?;
        let zero = Owned::<E, D>::dense(D::zeroed::<E>(beside, 1)?, Dims::known(&[]));
        let squares = self.map2_dense::<E, f64>(op, Losing::<SquaredDifference>::new(NONE), &zero)?;
        let mut sums = D::zeroed::<f64>(beside, sizes.iter().product())?;
        let before = size / 2;
        // Only offsets between channels that exist.
        for offset in (before + 1).saturating_sub(channels)..size.min(before.saturating_add(channels)) {
            // The channel that is added is `before - offset` channels before.
            let (from, into) = (offset.saturating_sub(before), before.saturating_sub(offset));
            let Some(count) = channels.checked_sub(from.max(into)).filter(|&count| count > 0) else { continue };
            let mut part = sizes;
            part[1] = count;
            let more = View::<_, f64>::new(squares.storage(), from * to[1], &part, &to);
            let sums = ViewMut::new(&mut sums, into * to[1], &part, &to);
            D::update2::<f64, f64>(Losing::<Blend>::new([1.0; 2]), more, sums)?;
        }
        let sums = Owned::<f64, D>::dense(sums, sizes);
        let around = Losing::<Neighbours>::new([alpha / size as f64, k]);
        let divisors = sums.map2_dense::<f64, f64>(op, around, &sums)?;
        self.map2_dense::<f64, E>(op, Losing::<DividedByPower>::new([beta, 0.0]), &divisors)
    }

    /// Standardises groups of channels, and scales and shifts each channel.
    fn in_groups(
        &self,
        op: &'static str,
        groups: usize,
        given: [Option<&Erased<'_, E, D>>; 2],
        eps: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        #[cfg(feature = "grad")]
        if let Some(sizes) = self.grouped(groups)
            && (D::is_tracked(self.storage())
                || given.into_iter().flatten().any(|given| D::is_tracked(given.storage())))
        {
            for given in given.into_iter().flatten() {
                expect_channels(op, self.sizes()[1], given.sizes())?;
            }
            let count = self.sizes()[1];
            let [weight, bias] = [(given[0], 1), (given[1], 0)].map(|(given, number)| match given {
                Some(given) => Ok(given.share()),
                None => Ok::<_, Error>(Erased::list(D::fill(Some(self.storage()), E::from_i32(number), count)?, count)),
            });
            let x = self.contiguous()?;
            let cube = x.reshape(op, &sizes)?;
            let step = Grouped::<E> { eps, dtype: core::marker::PhantomData };
            let (y,) = D::primitive(&step, (cube.share(), weight?, bias?))?;
            return Ok(y.reshape(op, self.sizes())?.share());
        }
        self.in_groups_plain(op, groups, given, eps)
    }
    /// The sizes with channels in groups, if these divide them.
    #[cfg(feature = "grad")]
    fn grouped(&self, groups: usize) -> Option<[usize; 4]> {
        let (&[n, c], rest) = self.sizes().split_first_chunk()?;
        let fits = groups > 0 && c.is_multiple_of(groups) && !self.is_empty();
        fits.then(|| [n, groups, c / groups, rest.iter().product()])
    }

    /// The same, as a tape does not see it.
    pub(super) fn in_groups_plain(
        &self,
        op: &'static str,
        groups: usize,
        [weight, bias]: [Option<&Erased<'_, E, D>>; 2],
        eps: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let (c, rest) = channels(op, self.sizes())?;
        if groups == 0 || !c.is_multiple_of(groups) {
            return invalid(op, format!("{groups} groups do not divide {c} channels"));
        }
        for given in [weight, bias].into_iter().flatten() {
            expect_channels(op, c, given.sizes())?;
        }
        let beside = Some(self.storage());
        if self.is_empty() {
            return self.map1_dense::<E>(op, Copying);
        }
        let (kernel, x) = (Standardizing { eps }, self.contiguous()?);
        let (n, each) = (self.sizes()[0], rest.iter().product::<usize>());
        let cube = x.reshape(op, &[n, groups, c / groups, each])?;
        let given = [weight, bias].map(|given| given.map(Erased::view));
        if let Some(result) = D::groups::<E, E>(kernel, cube.view(), given)? {
            return Ok(Erased::dense(result, self.dims()));
        }
        let rows = [n * groups, c / groups * each];
        if weight.is_none() && bias.is_none() {
            let standard = D::rows::<E, E>(kernel, x.reshape(op, &rows)?.view(), [None, None])?;
            return Ok(Erased::dense(standard, self.dims()));
        }
        // One number for all channels.
        let all = |number| Ok::<_, Error>(Owned::<E, D>::fresh(number, Dims::known(&[1]), Dims::known(&[0])));
        let (one, none) = (all(D::fill(beside, E::from_i32(1), 1)?)?, all(D::zeroed::<E>(beside, 1)?)?);
        let (weight, bias) = (weight.unwrap_or(&one), bias.unwrap_or(&none));
        if const { matches!(E::DTYPE, DType::F16 | DType::BF16) } {
            // They are rounded once, after they are scaled and shifted.
            let wide = x.map1_dense::<f32>(op, Casting)?;
            let standard = D::rows::<f32, f32>(kernel, wide.reshape(op, &rows)?.view(), [None, None])?;
            return Owned::<f32, D>::dense(standard, self.dims()).scaled::<E, E>(weight, bias, self.dims().row_major());
        }
        let standard = D::rows::<E, E>(kernel, x.reshape(op, &rows)?.view(), [None, None])?;
        Owned::<E, D>::dense(standard, self.dims()).scaled::<E, E>(weight, bias, self.dims().row_major())
    }

    /// `x * scale + shift` for each channel, into these strides.
    fn scaled<B: Dtype, O: Dtype>(
        &self,
        scale: &Erased<'_, B, D>,
        shift: &Erased<'_, B, D>,
        to: Dims,
    ) -> Result<Owned<O, D>>
    where
        E: Dtype,
    {
        let [of_scale, of_shift] = [scale, shift].map(|list| {
            let mut steps = Dims::known(&[0; 8][..self.rank()]);
            steps[1] = list.strides().first().copied().unwrap_or(0);
            steps
        });
        let [scale, shift] =
            [(scale, &of_scale), (shift, &of_shift)].map(|(list, steps)| list.view().restrided(self.sizes(), steps));
        let storage = D::map3::<E, B, B, O>(Losing::<Affine>::new(NONE), self.view(), scale, shift, &to)?;
        Ok(Erased::fresh(storage, self.dims(), to))
    }

    /// `(x - mean) / sqrt(variance + eps) * weight + bias` for each channel, with one factor and one summand for each, computed in `f64`.
    /// Strides of `channels_last` are kept, all others are row-major.
    fn standardised(
        &self,
        op: &'static str,
        found: &Moments<'_, D>,
        given: [Option<&Erased<'_, f64, D>>; 2],
        eps: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        // In the computing dtype of the elements.
        if const { matches!(E::DTYPE, DType::F64) } {
            self.by_factors::<f64>(op, found, given, eps)
        } else {
            self.by_factors::<f32>(op, found, given, eps)
        }
    }

    /// [`standardised`](Self::standardised) with factors and summands of dtype `B`.
    fn by_factors<B: Dtype>(
        &self,
        op: &'static str,
        Moments { mean, variance, power }: &Moments<'_, D>,
        [weight, bias]: [Option<&Erased<'_, f64, D>>; 2],
        eps: f64,
    ) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let (channels, _) = channels(op, self.sizes())?;
        for given in [Some(mean), Some(variance), weight, bias].into_iter().flatten() {
            expect_channels(op, channels, given.sizes())?;
        }
        let product = Losing::<Product>::new(NONE);
        let mut scale = match power {
            Some(power) => variance.map2_dense::<f64, f64>(op, Losing::<InverseRootBeside>::new([eps, 0.0]), power)?,
            None => variance.map2_dense::<f64, f64>(op, Losing::<InverseRoot>::new([eps, 0.0]), variance)?,
        };
        if let Some(weight) = weight {
            scale = scale.map2_dense::<f64, f64>(op, product, weight)?;
        }
        let zeros = match bias {
            None => Some(Owned::<f64, D>::list(D::zeroed::<f64>(Some(self.storage()), channels)?, channels)),
            Some(_) => None,
        };
        let bias = bias.or(zeros.as_ref()).unwrap_or(mean);
        let shifted = Losing::<Shifted>::new(NONE);
        let shift = D::map3::<f64, f64, f64, B>(shifted, mean.view(), bias.view(), scale.view(), &[1])?;
        let scale = match power {
            Some(power) => scale.map2_dense::<f64, B>(op, product, power)?,
            None => scale.map1_dense::<B>(op, Casting)?,
        };
        let to = MemoryFormat::suggested(self.sizes(), self.strides()).copied(op, self.sizes(), self.strides())?;
        self.scaled(&scale, &Owned::<B, D>::list(shift, channels), Dims::known(&to))
    }
}
