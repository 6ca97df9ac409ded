//! Random tensors by name, and random dropout: `dropout`, `rand_like`, `cauchy`, `bernoulli`, ….
//!
//! By name a generator is an integer, its seed; without one the seed comes from the system.

use crate::any::base::as_typed::Rank1;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::{Argument, Bound};
use crate::any::create::random::drawn;
use crate::any::{AnyTensor, Value};
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::tensor::{DroppedAsOne, Dropping, Generator, Tensor, dropped};
use castiron_macros::operations;
use core::hash::{BuildHasher, Hasher};

impl<'a> Argument<'a> for Generator {
    fn read(args: &Bound<'a>, name: &str) -> Result<Self> {
        i64::read(args, name).map(|seed| Generator::seeded(seed as u64))
    }
}

/// A generator with a new seed at each call.
pub(crate) fn unseeded() -> Generator {
    // The standard library's hashers are seeded by the system.
    Generator::seeded(std::collections::hash_map::RandomState::new().build_hasher().finish())
}

impl AnyTensor {
    fn dropped(&self, how: Dropping, p: f64, training: bool, generator: &mut Generator) -> Result<AnyTensor> {
        if !training {
            return Ok(self.clone());
        }
        if how.as_one != DroppedAsOne::Element && self.rank() < 2 {
            return invalid(how.op, format!("channels are the second axis; there are {} axes", self.rank()));
        }
        if how.as_one == DroppedAsOne::PerhapsBatched(3) && self.rank() > 3 {
            return invalid(how.op, format!("its operand is `(N, C, L)` or `(C, L)`; there are {} axes", self.rank()));
        }
        let (buffer, strides) = dispatch_dtype!(how.op, self.dtype, E: Float => {
            dropped::<E, Dynamic>(how, self.elements_as()?, p, generator)
        })?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &self.sizes, &strides))
    }
}

macro_rules! dropouts {
    ($($name:ident $by_name:ident [$as_one:expr, $keeps:literal] $doc:literal, $torch:literal, #[op $called:tt])*) => {
        #[operations(DROPOUTS)]
        impl AnyTensor {$(
            #[doc = $doc]
            ///
            #[doc = concat!("Without `training` it is the tensor itself (`", $torch, "`).")]
            ///
            /// # Errors
            /// If `p` is not between 0 and 1, there are too few axes, or the dtype is no float.
            pub fn $name(&self, p: f64, training: bool, generator: &mut Generator) -> Result<AnyTensor> {
                self.dropped(Dropping { op: stringify!($name), as_one: $as_one, keeps_moments: $keeps }, p, training, generator)
            }

            #[op $called]
            fn $by_name(args: &Bound<'_>) -> Result<Value> {
                let generator = &mut args.read_or("generator", unseeded)?;
                let (p, training) = (args.read_or("p", || 0.5)?, args.read_or("training", || !$keeps)?);
                args.tensor("input")?.$name(p, training, generator).map(Value::from)
            }
        )*}
    };
}
dropouts! {
    dropout dropout_by_name [DroppedAsOne::Element, false] "Zeros in place of elements, each with probability `p`; the others are divided by `1 - p`.",
        "torch.nn.functional.dropout", #[op(nn.functional.dropout(input, p, training, inplace, generator), dtypes = float, aliases("dropout"))]
    dropout1d dropout1d_by_name [DroppedAsOne::PerhapsBatched(3), false] "[`dropout`](Self::dropout) of whole channels of `(N, C, L)` or `(C, L)`.",
        "torch.nn.functional.dropout1d", #[op(nn.functional.dropout1d(input, p, training, inplace, generator), dtypes = float)]
    dropout2d dropout2d_by_name [DroppedAsOne::Channel, false] "[`dropout`](Self::dropout) of whole channels of `(N, C, H, W)`.",
        "torch.nn.functional.dropout2d", #[op(nn.functional.dropout2d(input, p, training, inplace, generator), dtypes = float)]
    dropout3d dropout3d_by_name [DroppedAsOne::PerhapsBatched(5), false] "[`dropout`](Self::dropout) of whole channels of `(N, C, D, H, W)` or `(C, D, H, W)`.",
        "torch.nn.functional.dropout3d", #[op(nn.functional.dropout3d(input, p, training, inplace, generator), dtypes = float)]
    alpha_dropout alpha_dropout_by_name [DroppedAsOne::Element, true] "What `selu` gives at minus infinity in place of elements; mean and variance stay.",
        "torch.nn.functional.alpha_dropout", #[op(nn.functional.alpha_dropout(input, p, training, inplace, generator), dtypes = float, aliases("alpha_dropout"))]
    feature_alpha_dropout feature_alpha_dropout_by_name [DroppedAsOne::Channel, true] "[`alpha_dropout`](Self::alpha_dropout) of whole channels.",
        "torch.nn.functional.feature_alpha_dropout", #[op(nn.functional.feature_alpha_dropout(input, p, training, inplace, generator), dtypes = float, aliases("feature_alpha_dropout"))]
}

#[operations]
impl AnyTensor {
    /// The sizes, dtype, generator and device for a random tensor like another.
    fn drawn_like(args: &Bound<'_>) -> Result<(Vec<usize>, DType, Generator, crate::device::AnyDevice)> {
        let x = args.tensor("input")?;
        let (dtype, device) = (args.read_or("dtype", || x.dtype)?, args.read_or("device", || x.device())?);
        Ok((x.shape().to_vec(), dtype, args.read_or("generator", unseeded)?, device))
    }

    #[op(rand_like(input, dtype, device, memory_format, generator), dtypes = inexact)]
    fn rand_like_by_name(args: &Bound<'_>) -> Result<Value> {
        let (sizes, dtype, mut generator, device) = Self::drawn_like(args)?;
        Ok(AnyTensor::rand(&sizes, dtype, &mut generator)?.to_device(device)?.into())
    }

    #[op(randn_like(input, dtype, device, memory_format, generator), dtypes = inexact)]
    fn randn_like_by_name(args: &Bound<'_>) -> Result<Value> {
        let (sizes, dtype, mut generator, device) = Self::drawn_like(args)?;
        Ok(AnyTensor::randn(&sizes, dtype, &mut generator)?.to_device(device)?.into())
    }

    /// A single bound is the upper one.
    #[op(randint_like(input, low, high, dtype, device, memory_format, generator), dtypes = real)]
    fn randint_like_by_name(args: &Bound<'_>) -> Result<Value> {
        let (sizes, dtype, mut generator, device) = Self::drawn_like(args)?;
        let first: i64 = args.read("low")?;
        let (low, high) = args.read::<Option<i64>>("high")?.map_or((0, first), |high| (first, high));
        Ok(AnyTensor::randint(&sizes, low, high, dtype, &mut generator)?.to_device(device)?.into())
    }

    /// Samples of the Cauchy distribution in the shape of a tensor (`torch.Tensor.cauchy_`, where the median is 0 and `sigma` 1 if not
    /// given).
    ///
    /// # Errors
    /// If `sigma` is not positive, or the dtype is no float.
    pub fn cauchy(&self, median: f64, sigma: f64, generator: &mut Generator) -> Result<AnyTensor> {
        drawn("cauchy", &self.sizes, self.dtype, |_, numel| {
            dispatch_dtype!("cauchy", self.dtype, E: Float => {
                Ok(Tensor::<E, Rank1, Dynamic>::try_cauchy_sized([numel], median, sigma, generator)?.into())
            })
        })?
        .to_device(self.device())
    }

    #[op(cauchy(input, median, sigma, generator), dtypes = float, in_place)]
    fn cauchy_by_name(args: &Bound<'_>) -> Result<Value> {
        let (median, sigma) = (args.read_or("median", || 0.0)?, args.read_or("sigma", || 1.0)?);
        Ok(args.tensor("input")?.cauchy(median, sigma, &mut args.read_or("generator", unseeded)?)?.into())
    }

    /// Samples of the geometric distribution (trials up to a success of probability `p`), in the shape of a tensor
    /// (`torch.Tensor.geometric_`).
    ///
    /// # Errors
    /// If `p` is not between 0 and 1, or the dtype is bool or complex.
    pub fn geometric(&self, p: f64, generator: &mut Generator) -> Result<AnyTensor> {
        drawn("geometric", &self.sizes, self.dtype, |_, numel| {
            dispatch_dtype!("geometric", self.dtype, E: Real => {
                Ok(Tensor::<E, Rank1, Dynamic>::try_geometric_sized([numel], p, generator)?.into())
            })
        })?
        .to_device(self.device())
    }

    #[op(geometric(input, p, generator), dtypes = real, in_place)]
    fn geometric_by_name(args: &Bound<'_>) -> Result<Value> {
        let generator = &mut args.read_or("generator", unseeded)?;
        Ok(args.tensor("input")?.geometric(args.read("p")?, generator)?.into())
    }

    /// Samples of the log-normal distribution in the shape of a tensor (`torch.Tensor.log_normal_`, where `mean` is 1 and `std` 2 if not
    /// given).
    ///
    /// # Errors
    /// If `std` is not positive, or the dtype is no float.
    pub fn log_normal(&self, mean: f64, std: f64, generator: &mut Generator) -> Result<AnyTensor> {
        drawn("log_normal", &self.sizes, self.dtype, |_, numel| {
            dispatch_dtype!("log_normal", self.dtype, E: Float => {
                Ok(Tensor::<E, Rank1, Dynamic>::try_log_normal_sized([numel], mean, std, generator)?.into())
            })
        })?
        .to_device(self.device())
    }

    #[op(log_normal(input, mean, std, generator), dtypes = float, in_place)]
    fn log_normal_by_name(args: &Bound<'_>) -> Result<Value> {
        let (mean, std) = (args.read_or("mean", || 1.0)?, args.read_or("std", || 2.0)?);
        Ok(args.tensor("input")?.log_normal(mean, std, &mut args.read_or("generator", unseeded)?)?.into())
    }

    /// `max(0, x) + slope * min(0, x)`, the slope drawn uniformly between two bounds for each element, or their mean without `training`
    /// (`torch.nn.functional.rrelu`).
    ///
    /// # Errors
    /// If the bounds are in the wrong order, or the dtype is no float.
    pub fn rrelu(&self, lower: f64, upper: f64, training: bool, generator: &mut Generator) -> Result<AnyTensor> {
        dispatch_dtype!("rrelu", self.dtype, E: Float => {
            let _: Option<E> = None;
            Ok(())
        })?;
        if !training {
            return self.leaky_relu((lower + upper) / 2.0);
        }
        let slopes = if lower == upper {
            AnyTensor::scalar_of("rrelu", crate::dtype::scalar::ScalarValue::Float(lower), self.dtype)?
                .to_device(self.device())?
        } else {
            AnyTensor::uniform(self.shape(), lower, upper, self.dtype, generator)?.to_device(self.device())?
        };
        crate::any::where_(&self.le(0)?, self.mul(slopes)?, self)
    }

    #[op(nn.functional.rrelu(input, lower, upper, training, inplace, generator), dtypes = float, aliases("rrelu"))]
    fn rrelu_by_name(args: &Bound<'_>) -> Result<Value> {
        let bounds = [args.read_or("lower", || 1.0 / 8.0)?, args.read_or("upper", || 1.0 / 3.0)?];
        let generator = &mut args.read_or("generator", unseeded)?;
        let training = args.read_or("training", || false)?;
        Ok(args.tensor("input")?.rrelu(bounds[0], bounds[1], training, generator)?.into())
    }

    #[op(bernoulli(input, p, generator), dtypes = float, needs_elements)]
    fn bernoulli_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, generator) = (args.tensor("input")?, &mut args.read_or("generator", unseeded)?);
        let shares = match args.read::<Option<f64>>("p")? {
            Some(p) => AnyTensor::full(x.shape(), p, DType::F64)?.to_device(x.device())?,
            None => x.clone(),
        };
        Ok(shares.bernoulli(generator)?.to(x.dtype)?.into())
    }

    #[op(multinomial(input, num_samples, replacement, generator), dtypes = float, needs_elements)]
    fn multinomial_by_name(args: &Bound<'_>) -> Result<Value> {
        let (samples, replacement) = (args.read("num_samples")?, args.read_or("replacement", || false)?);
        let generator = &mut args.read_or("generator", unseeded)?;
        Ok(args.tensor("input")?.multinomial(samples, replacement, generator)?.into())
    }

    /// Samples of the exponential distribution in the shape of a tensor (`torch.Tensor.exponential_`, where `lambda` is 1 if not given).
    ///
    /// # Errors
    /// If `lambda` is not positive, or the dtype is no float.
    pub fn exponential(&self, lambda: f64, generator: &mut Generator) -> Result<AnyTensor> {
        drawn("exponential", &self.sizes, self.dtype, |_, numel| {
            dispatch_dtype!("exponential", self.dtype, E: Float => {
                Ok(Tensor::<E, Rank1, Dynamic>::try_exponential_sized([numel], lambda, generator)?.into())
            })
        })?
        .to_device(self.device())
    }

    #[op(exponential(input, lambd, generator), dtypes = float, in_place)]
    fn exponential_drawn_by_name(args: &Bound<'_>) -> Result<Value> {
        let lambda = args.read_or("lambd", || 1.0)?;
        Ok(args.tensor("input")?.exponential(lambda, &mut args.read_or("generator", unseeded)?)?.into())
    }

    #[op(uniform(input, from, to, generator), dtypes = float, in_place)]
    fn uniform_by_name(args: &Bound<'_>) -> Result<Value> {
        let (low, high) = (args.read_or("from", || 0.0)?, args.read_or("to", || 1.0)?);
        let (x, generator) = (args.tensor("input")?, &mut args.read_or("generator", unseeded)?);
        Ok(AnyTensor::uniform(x.shape(), low, high, x.dtype, generator)?.to_device(x.device())?.into())
    }

    /// Integers in the shape of a tensor, uniform from `low` up to but not including `high` (`torch.Tensor.random_`). Without `high` they
    /// go up to the largest integer of the dtype; for floats up to the largest below which all integers are representable.
    ///
    /// # Errors
    /// If there are no such integers, they do not fit the dtype, or it is complex.
    pub fn random(&self, low: i64, high: Option<i64>, generator: &mut Generator) -> Result<AnyTensor> {
        let op = "random";
        let most = match (self.dtype.finfo(), self.dtype.iinfo()) {
            _ if self.dtype == DType::Bool => 2,
            _ if self.dtype.is_shell() || self.dtype.is_complex() => {
                return Err(crate::any::base::dispatch::refused(op, self.dtype));
            }
            // `eps` is the distance from 1 to the next number.
            (Some(info), _) => (2.0 / info.eps) as i64 + 1,
            (_, Some(info)) => i64::try_from(info.max).map_or(i64::MAX, |max| max.saturating_add(1)),
            _ => i64::MAX,
        };
        let high = high.unwrap_or(most);
        if low >= high {
            return invalid(op, format!("no integers lie from {low} up to {high}"));
        }
        AnyTensor::randint(self.shape(), low, high, self.dtype, generator)?.to_device(self.device())
    }

    /// A single bound is the upper one.
    #[op(random_(input, from, to, generator), dtypes = "bool, integers and floats", in_place)]
    fn random_by_name(args: &Bound<'_>) -> Result<Value> {
        let (from, to): (Option<i64>, Option<i64>) = (args.read("from")?, args.read("to")?);
        let (low, high) = match (from, to) {
            (Some(from), None) => (0, Some(from)),
            (from, to) => (from.unwrap_or(0), to),
        };
        Ok(args.tensor("input")?.random(low, high, &mut args.read_or("generator", unseeded)?)?.into())
    }

    #[op(normal_(input, mean, std, generator), dtypes = inexact, in_place)]
    fn normal_drawn_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, generator) = (args.tensor("input")?, &mut args.read_or("generator", unseeded)?);
        let (mean, std) = (args.read_or("mean", || 0.0)?, args.read_or("std", || 1.0)?);
        // Real and imaginary parts share the variance.
        let std = if x.dtype.is_complex() { std * 0.5_f64.sqrt() } else { std };
        Ok(AnyTensor::normal(x.shape(), mean, std, x.dtype, generator)?.to_device(x.device())?.into())
    }

    /// The probability is one number, or one for each element.
    #[op(bernoulli_(input, p, generator), dtypes = "bool, integers and floats", in_place)]
    fn bernoulli_drawn_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, generator) = (args.tensor("input")?, &mut args.read_or("generator", unseeded)?);
        if x.dtype.is_complex() || x.dtype.is_shell() {
            return Err(crate::any::base::dispatch::refused("bernoulli_", x.dtype));
        }
        let shares = match args.get("p") {
            Some(Value::Array(p)) => p.expanded_to(&x.sizes)?,
            _ => AnyTensor::full(x.shape(), args.read_or("p", || 0.5)?, DType::F64)?.to_device(x.device())?,
        };
        Ok(shares.bernoulli(generator)?.to(x.dtype)?.into())
    }

    /// The sizes, dtype, generator and device for a new random tensor.
    fn drawn_new(args: &Bound<'_>, dtype: DType) -> Result<(Vec<usize>, DType, Generator, crate::device::AnyDevice)> {
        let device = args.read_or("device", crate::device::default_device)?;
        Ok((args.read("size")?, args.read_or("dtype", || dtype)?, args.read_or("generator", unseeded)?, device))
    }

    #[op(randn(size, dtype, device, requires_grad, generator), dtypes = inexact)]
    fn randn_by_name(args: &Bound<'_>) -> Result<Value> {
        let (sizes, dtype, mut generator, device) = Self::drawn_new(args, crate::dtype::default_dtype())?;
        Ok(AnyTensor::randn(&sizes, dtype, &mut generator)?.to_device(device)?.into())
    }

    #[op(rand(size, dtype, device, requires_grad, generator), dtypes = inexact)]
    fn rand_by_name(args: &Bound<'_>) -> Result<Value> {
        let (sizes, dtype, mut generator, device) = Self::drawn_new(args, crate::dtype::default_dtype())?;
        Ok(AnyTensor::rand(&sizes, dtype, &mut generator)?.to_device(device)?.into())
    }

    #[op(randperm(n, dtype, device, requires_grad, generator), dtypes = real)]
    fn randperm_by_name(args: &Bound<'_>) -> Result<Value> {
        let device = args.read_or("device", crate::device::default_device)?;
        let order = AnyTensor::randperm(args.read("n")?, &mut args.read_or("generator", unseeded)?)?;
        Ok(order.to(args.read_or("dtype", || DType::I64)?)?.to_device(device)?.into())
    }

    #[op(poisson(input, generator), dtypes = float)]
    fn poisson_by_name(args: &Bound<'_>) -> Result<Value> {
        Ok(args.tensor("input")?.poisson(&mut args.read_or("generator", unseeded)?)?.into())
    }

    #[op(binomial(count, prob, generator), dtypes = float)]
    fn binomial_by_name(args: &Bound<'_>) -> Result<Value> {
        let generator = &mut args.read_or("generator", unseeded)?;
        Ok(args.tensor("count")?.binomial(args.tensor("prob")?, generator)?.into())
    }

    /// `softmax` of logits plus Gumbel noise; with `hard` the one-hot vector of its largest element.
    #[op(nn.functional.gumbel_softmax(logits, tau, hard, eps, dim, generator), dtypes = float)]
    fn gumbel_softmax_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, generator) = (args.tensor("logits")?, &mut args.read_or("generator", unseeded)?);
        let (tau, dim) = (args.read_or("tau", || 1.0)?, args.read_or("dim", || -1)?);
        let noise = x.exponential(1.0, generator)?.log()?;
        let soft = x.sub(noise)?.div(tau)?.softmax(dim, None)?;
        if !args.read_or("hard", || false)? {
            return Ok(soft.into());
        }
        let largest = soft.argmax(Some(dim), true)?;
        Ok(soft.mul(0)?.scatter(dim, &largest, 1)?.into())
    }

    #[op(randint(low, high, size, dtype, device, requires_grad, generator), dtypes = real)]
    fn randint_by_name(args: &Bound<'_>) -> Result<Value> {
        let (sizes, dtype, mut generator, device) = Self::drawn_new(args, DType::I64)?;
        let (low, high) = (args.read("low")?, args.read("high")?);
        Ok(AnyTensor::randint(&sizes, low, high, dtype, &mut generator)?.to_device(device)?.into())
    }

    #[op(normal(mean, std, size, dtype, device, generator), dtypes = float)]
    fn normal_by_name(args: &Bound<'_>) -> Result<Value> {
        let (sizes, dtype, mut generator, device) = Self::drawn_new(args, crate::dtype::default_dtype())?;
        let (mean, std) = (args.read("mean")?, args.read("std")?);
        Ok(AnyTensor::normal(&sizes, mean, std, dtype, &mut generator)?.to_device(device)?.into())
    }
}
