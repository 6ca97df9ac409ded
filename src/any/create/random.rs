//! Random tensors whose dtype and shape are known at run time, and sampling by the probabilities in a tensor.

use crate::any::base::as_typed::{Rank1, Rank2};
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::{AnyTensor, checked_numel};
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::tensor::Generator;
use crate::{Cpu, Tensor};

/// A tensor of these sizes, reshaped from random samples in one axis.
pub(super) fn drawn(
    op: &'static str,
    sizes: &[usize],
    dtype: DType,
    draw: impl FnOnce(DType, usize) -> Result<AnyTensor>,
) -> Result<AnyTensor> {
    let numel = checked_numel(op, sizes, dtype)?;
    let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
    let list = match dtype.is_complex() {
        // Real and imaginary parts are drawn alternately.
        true => draw(dtype.to_real(), 2 * numel)?.reshape(&[numel as i64, 2])?.view_as_complex()?,
        false => draw(dtype, numel)?,
    };
    list.reshape(&sizes)?.to_device(crate::device::default_device())
}

impl AnyTensor {
    /// Uniform in `[0, 1)` (`torch.rand`), of floats or complex numbers, whose parts are both uniform.
    ///
    /// # Errors
    /// If the dtype is neither, there are too many elements or axes, or memory runs out.
    ///
    /// ```
    /// use castiron::{AnyTensor, DType, Generator};
    /// let x = AnyTensor::rand(&[2, 3], DType::F32, &mut Generator::seeded(0))?;
    /// assert!(x.to_scalars()?.iter().all(|x| (0.0..1.0).contains(&x.real_part())));
    /// assert!(AnyTensor::rand(&[2], DType::I64, &mut Generator::seeded(0)).is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    #[doc(alias = "random")]
    pub fn rand(sizes: &[usize], dtype: DType, generator: &mut Generator) -> Result<AnyTensor> {
        drawn(
            "rand",
            sizes,
            dtype,
            |dtype, numel| dispatch_dtype!("rand", dtype, E: Float => Ok(Tensor::<E, Rank1, Dynamic>::try_rand_sized([numel], generator)?.into())),
        )
    }

    /// Normal with mean 0 and variance 1 (`torch.randn`), of floats or complex numbers, whose parts share the variance.
    ///
    /// # Errors
    /// As [`rand`](Self::rand).
    #[doc(alias = "standard_normal")]
    pub fn randn(sizes: &[usize], dtype: DType, generator: &mut Generator) -> Result<AnyTensor> {
        let std = if dtype.is_complex() { 0.5_f64.sqrt() } else { 1.0 };
        AnyTensor::normal(sizes, 0.0, std, dtype, generator)
    }

    /// Normal with a mean and a standard deviation (`torch.normal`); of complex numbers, those of both parts.
    ///
    /// # Errors
    /// As [`rand`](Self::rand), and if the deviation is negative.
    pub fn normal(sizes: &[usize], mean: f64, std: f64, dtype: DType, generator: &mut Generator) -> Result<AnyTensor> {
        drawn("normal", sizes, dtype, |dtype, numel| {
            dispatch_dtype!("normal", dtype, E: Float => {
                Ok(Tensor::<E, Rank1, Dynamic>::try_normal_sized([numel], mean, std, generator)?.into())
            })
        })
    }

    /// Uniform between two numbers, the first included (`torch.Tensor.uniform_`); of complex numbers, both parts.
    ///
    /// # Errors
    /// As [`rand`](Self::rand), and if no numbers lie between them.
    pub fn uniform(sizes: &[usize], low: f64, high: f64, dtype: DType, generator: &mut Generator) -> Result<AnyTensor> {
        drawn("uniform", sizes, dtype, |dtype, numel| {
            dispatch_dtype!("uniform", dtype, E: Float => {
                Ok(Tensor::<E, Rank1, Dynamic>::try_uniform_sized([numel], low, high, generator)?.into())
            })
        })
    }

    /// Integers from `low` up to but not including `high`, all equally likely (`torch.randint`), in any dtype of real numbers that
    /// they fit, or as bools.
    ///
    /// # Errors
    /// If there are none, they do not fit the dtype or it is complex, there are too many elements or axes, or memory runs out.
    pub fn randint(sizes: &[usize], low: i64, high: i64, dtype: DType, generator: &mut Generator) -> Result<AnyTensor> {
        let op = "randint";
        if dtype.is_complex() {
            return Err(crate::any::base::dispatch::refused(op, dtype));
        }
        drawn(op, sizes, dtype, |dtype, numel| {
            if dtype == DType::Bool && 0 <= low && high <= 2 {
                let bits = Tensor::<u8, Rank1, Dynamic>::try_randint_sized([numel], low, high, generator)?;
                return AnyTensor::from(bits).to(dtype);
            }
            dispatch_dtype!(op, dtype, E: Real => {
                Ok(Tensor::<E, Rank1, Dynamic>::try_randint_sized([numel], low, high, generator)?.into())
            })
        })
    }

    /// The numbers from 0 up to `size`, in random order (`torch.randperm`), as `int64`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn randperm(size: usize, generator: &mut Generator) -> Result<AnyTensor> {
        AnyTensor::from(Tensor::<i64, Rank1, Dynamic>::try_randperm(size, generator)?)
            .to_device(crate::device::default_device())
    }

    /// For each element, which is a probability, one with that probability and zero otherwise (`torch.bernoulli`).
    ///
    /// # Errors
    /// If the dtype is not floating, an element is no probability, there are no data, or memory runs out.
    pub fn bernoulli(&self, generator: &mut Generator) -> Result<AnyTensor> {
        let sizes: Vec<i64> = self.sizes.iter().map(|&size| size as i64).collect();
        if !self.has_data() {
            return Err(Error::NoData { op: "bernoulli" });
        }
        let drawn = dispatch_dtype!("bernoulli", self.dtype, E: Float => {
            Ok(AnyTensor::from(self.typed_rank1::<E, Dynamic>()?.try_bernoulli(generator)?))
        })?;
        drawn.reshape(&sizes)
    }

    /// For each element, a rate, a sample of the Poisson distribution with that mean (`torch.poisson`). Drawn on the host.
    ///
    /// # Errors
    /// If the dtype is not floating, an element is negative, NaN or beyond all integers, or memory runs out.
    pub fn poisson(&self, generator: &mut Generator) -> Result<AnyTensor> {
        let drawn = dispatch_dtype!("poisson", self.dtype, E: Float => {
            Ok(AnyTensor::from(self.typed_rank1::<E, Dynamic>()?.try_poisson(generator)?))
        })?;
        drawn.reshape(&crate::any::base::by_width::signed(&self.sizes))
    }

    /// For each element, a number of trials, the number of successes with the probability in `p` (`torch.binomial`), which is expanded.
    /// Drawn on the host.
    ///
    /// # Errors
    /// If the dtypes are not floating or differ, an element is no number of trials or no probability, or memory runs out.
    pub fn binomial(&self, p: &AnyTensor, generator: &mut Generator) -> Result<AnyTensor> {
        let op = "binomial";
        crate::any::base::by_width::same_dtype(op, self, p)?;
        crate::any::base::operand::same_device(op, self, p)?;
        let p = p.expanded_to(&self.sizes)?;
        let drawn = dispatch_dtype!(op, self.dtype, E: Float => {
            let trials = self.typed_rank1::<E, Dynamic>()?;
            Ok(AnyTensor::from(trials.try_binomial(&p.typed_rank1::<E, Dynamic>()?, generator)?))
        })?;
        drawn.reshape(&crate::any::base::by_width::signed(&self.sizes))
    }

    /// Positions along the last axis of a vector or a matrix of weights, sampled in proportion to them, `samples` from each row
    /// (`torch.multinomial`), as `int64`. With `replacement` a position may be drawn several times.
    ///
    /// # Errors
    /// If the dtype is not floating, the rank is neither 1 nor 2, `samples` is 0 or larger than the number of positions, a weight is
    /// negative or not finite, those of a row add up to zero, there are no data, or memory runs out.
    pub fn multinomial(&self, samples: usize, replacement: bool, generator: &mut Generator) -> Result<AnyTensor> {
        let op = "multinomial";
        if self.is_on_gpu() {
            return dispatch_dtype!(op, self.dtype, E: Float => match self.rank() {
                1 => Ok(self.typed_rank1::<E, Dynamic>()?.try_multinomial(samples, replacement, generator)?.into()),
                2 => Ok(self.typed_rank2::<E, Dynamic>()?.try_multinomial(samples, replacement, generator)?.into()),
                _ => Err(self.cpu()?.typed::<E, Rank2, Cpu>().err().unwrap_or(Error::NoData { op })),
            });
        }
        let host = self.cpu()?;
        dispatch_dtype!(op, self.dtype, E: Float => match self.rank() {
            1 => Ok(host.typed::<E, Rank1, Cpu>()?.try_multinomial(samples, replacement, generator)?.into()),
            _ => Ok(host.typed::<E, Rank2, Cpu>()?.try_multinomial(samples, replacement, generator)?.into()),
        })
    }
}
