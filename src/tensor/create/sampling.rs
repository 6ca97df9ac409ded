//! Sampling by the probabilities in a tensor: `bernoulli`, `multinomial`, `poisson`, `binomial`. The generator is on the host; a GPU
//! generates the numbers for `bernoulli` and `multinomial` itself, from a seed of the generator.

use crate::device::{Device, Flat, on_host};
use crate::dtype::Element;
use crate::error::{Error, Result, invalid, listed, room};
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::shape::{Dimensional, Dyn, HasAxis, Shape, SizeArray, Weights};
use crate::tensor::create::random::Generator;
use crate::tensor::{Tensor, checked_numel};
use castiron_macros::fallible;
use rand_distr::{Binomial, Poisson};

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// For each element, a probability, one with that probability and zero otherwise (`torch.bernoulli`). An element that is not a
    /// probability is an error.
    ///
    /// # Panics
    /// If an element is not between 0 and 1, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let p = Tensor::<f32, shape![1000]>::full(0.25);
    /// let ones = p.bernoulli(&mut Generator::seeded(0)).sum().item();
    /// assert!((200.0..300.0).contains(&ones));
    /// ```
    #[fallible]
    pub fn bernoulli(&self, generator: &mut Generator) -> Result<Self>
    where
        E: FloatFor<ops::reduce::bernoulli>,
    {
        let op = "bernoulli";
        if let Some(storage) = D::bernoulli(self.elements(), || generator.seed())? {
            return Ok(Self::dense(storage, self.shape()));
        }
        let storage = on_host::<D, _, Vec<E>>(op, Flat(self.elements()), |mut elements| {
            for element in &mut elements {
                let p = element.to_scalar().real_part();
                if !(0.0..=1.0).contains(&p) {
                    return Err(Error::InvalidArgument { op, reason: format!("{p} is not a probability") });
                }
                *element = E::from_bool(generator.unit::<f64>() < p);
            }
            Ok(elements)
        })?;
        Ok(Self::dense(storage, self.shape()))
    }

    /// For each element, a rate, a sample of the Poisson distribution with that mean (`torch.poisson`). Drawn on the host.
    ///
    /// # Panics
    /// If an element is negative, NaN or beyond all integers, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let counts = Tensor::<f32, shape![1000]>::full(4.0).poisson(&mut Generator::seeded(0));
    /// assert!((counts.mean().item() - 4.0).abs() < 0.5);
    /// ```
    #[fallible]
    pub fn poisson(&self, generator: &mut Generator) -> Result<Self>
    where
        E: FloatFor<ops::reduce::poisson>,
    {
        let storage = on_host::<D, _, Vec<E>>("poisson", Flat(self.elements()), |mut elements| {
            for element in &mut elements {
                let rate = element.to_scalar().real_part();
                let drawn = match Poisson::new(rate) {
                    _ if rate == 0.0 => 0.0,
                    Ok(distribution) => generator.sample(distribution),
                    Err(_) => return invalid("poisson", format!("{rate} is not the mean of counts")),
                };
                *element = E::from_f64(drawn);
            }
            Ok(elements)
        })?;
        Ok(Self::dense(storage, self.shape()))
    }

    /// For each element, a number of trials, the number of successes with the probability in `p` (`torch.binomial`). Drawn on the host.
    ///
    /// # Panics
    /// If an element is no number of trials or no probability, sizes known at run time differ, or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let (trials, p) = (Tensor::<f32, shape![1000]>::full(8.0), Tensor::full(0.25));
    /// let counts = trials.binomial(&p, &mut Generator::seeded(0));
    /// assert!((counts.mean().item() - 2.0).abs() < 0.3);
    /// ```
    #[fallible]
    pub fn binomial(&self, p: &Self, generator: &mut Generator) -> Result<Self>
    where
        E: FloatFor<ops::reduce::binomial>,
    {
        let op = "binomial";
        if self.shape().as_ref() != p.shape().as_ref() {
            let expected = format!("{:?}", self.shape().as_ref());
            return Err(Error::Shape { op, expected, found: p.shape().as_ref().into() });
        }
        let operands = (self.elements(), p.elements());
        let storage = on_host::<D, _, Vec<E>>(op, Flat(operands), |(mut elements, shares): (Vec<E>, Vec<E>)| {
            for (element, p) in elements.iter_mut().zip(shares) {
                let (trials, p) = (element.to_scalar().real_part(), p.to_scalar().real_part());
                if !(trials >= 0.0 && trials.fract() == 0.0 && trials <= i64::MAX as f64) {
                    return invalid(op, format!("{trials} is not a number of trials"));
                }
                match Binomial::new(trials as u64, p) {
                    Ok(distribution) => *element = E::from_f64(generator.sample(distribution) as f64),
                    Err(_) => return invalid(op, format!("{p} is not a probability")),
                }
            }
            Ok(elements)
        })?;
        Ok(Self::dense(storage, self.shape()))
    }

    /// Positions along the last axis of a vector or a matrix of weights, sampled in proportion to them, `samples` from each row
    /// (`torch.multinomial`). With `replacement` a position may be drawn several times; without it none is, and those of weight zero come
    /// last.
    ///
    /// It is an error if `samples` is zero, or larger than the number of positions without replacement, and if a weight is negative or not
    /// finite or those of a row add up to zero.
    ///
    /// # Panics
    /// If the samples cannot be drawn from such weights, or memory runs out.
    ///
    /// ```
    /// use castiron::{tensor, Generator};
    /// let weights = tensor![0.0, 3.0, 1.0];
    /// let drawn = weights.multinomial(2, false, &mut Generator::seeded(0));
    /// let mut positions = drawn.to_vec();
    /// positions.sort();
    /// assert_eq!(positions, [1, 2]);
    /// ```
    #[fallible]
    pub fn multinomial(
        &self,
        samples: usize,
        replacement: bool,
        generator: &mut Generator,
    ) -> Result<Tensor<i64, <S as HasAxis<-1>>::Replace<Dyn>, D>>
    where
        S: Dimensional + Weights,
        E: FloatFor<ops::reduce::multinomial>,
    {
        let op = "multinomial";
        let invalid = |reason: String| Error::InvalidArgument { op, reason };
        let last = S::RANK - 1;
        let len = self.shape().as_ref()[last];
        if samples == 0 {
            return Err(invalid("there must be at least one sample".to_owned()));
        }
        if len == 0 || (!replacement && samples > len) {
            return Err(invalid(format!("{samples} samples can't be drawn from {len} positions")));
        }
        let mut sizes = <<S as HasAxis<-1>>::Replace<Dyn> as Shape>::Sizes::copied(self.shape().as_ref());
        sizes.as_mut()[last] = samples;
        let numel = checked_numel::<i64>(op, sizes.as_ref())?;
        if const { D::IS_ELSEWHERE }
            && !D::is_on_host(Some(self.elements().buffer))
            && let Some(storage) =
                crate::tensor::create::weights::drawn::<E, D>(self.elements(), samples, replacement, || {
                    generator.seed()
                })?
        {
            return Ok(Tensor::dense(storage, sizes));
        }
        let storage = on_host::<D, _, Vec<i64>>(op, self.elements(), |weights| {
            let mut drawn = room(numel)?;
            let weights: Vec<f64> = listed(weights.into_iter().map(|weight: E| weight.to_scalar().real_part()))?;
            for row in weights.chunks_exact(len) {
                if let Some(weight) = row.iter().find(|weight| !(weight.is_finite() && **weight >= 0.0)) {
                    return Err(invalid(format!("the weight {weight} is negative or not finite")));
                }
                if row.iter().all(|&weight| weight == 0.0) {
                    return Err(invalid("the weights of a row add up to zero".to_owned()));
                }
                if replacement {
                    with_replacement(row, samples, generator, &mut drawn)?;
                } else {
                    without_replacement(row, samples, generator, &mut drawn)?;
                }
            }
            Ok(drawn)
        })?;
        Ok(Tensor::dense(storage, sizes))
    }
}

/// Inverse transform sampling: the positions of uniform numbers among the cumulative sums of the weights.
fn with_replacement(weights: &[f64], samples: usize, generator: &mut Generator, drawn: &mut Vec<i64>) -> Result<()> {
    // Scaled first, so that no sum overflows.
    let largest = weights.iter().fold(0.0, |a: f64, &b| a.max(b));
    let mut total = 0.0;
    let sums: Vec<f64> = listed(weights.iter().map(|weight| {
        total += weight / largest;
        total
    }))?;
    // Rounding may take the number up to the total: then the last position with a positive weight is drawn.
    let last = weights.iter().rposition(|&weight| weight > 0.0).unwrap_or(0);
    drawn.extend((0..samples).map(|_| {
        let number = generator.unit::<f64>() * total;
        sums.partition_point(|&sum| sum <= number).min(last) as i64
    }));
    Ok(())
}

/// The positions with the largest quotients of weight and an exponential sample: each is drawn in proportion to its weight among those that
/// are left. Source: P. Efraimidis, P. Spirakis, "Weighted random sampling with a reservoir", 2006.
fn without_replacement(weights: &[f64], samples: usize, generator: &mut Generator, drawn: &mut Vec<i64>) -> Result<()> {
    let mut keys: Vec<(f64, i64)> = listed(weights.iter().zip(0..).map(|(&weight, position)| {
        // Between 0, exclusive, and 1.
        let exponential = -(1.0 - generator.unit::<f64>()).ln();
        (if weight == 0.0 { 0.0 } else { weight / exponential.max(f64::MIN_POSITIVE) }, position)
    }))?;
    let order = |a: &(f64, i64), b: &(f64, i64)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if samples < keys.len() {
        keys.select_nth_unstable_by(samples - 1, order);
        keys.truncate(samples);
    }
    keys.sort_unstable_by(order);
    drawn.extend(keys.into_iter().map(|(_, position)| position));
    Ok(())
}
