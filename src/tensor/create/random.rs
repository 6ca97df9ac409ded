//! Random tensors: uniform, normal, integers, permutations, from a seeded generator.
//!
//! The generator and the normal distribution are the `rand` family's; the same seed gives the same elements on every
//! machine. A GPU makes its own, from a seed that it draws: others than the host's, and the same on every GPU.

use crate::device::Device;
use crate::dtype::{Element, Float, Real};
use crate::error::{Error, Result, listed, room};
use crate::ops::arguments::Distribution;
use crate::shape::{Dim, KnownShape, Shape};
use crate::tensor::{Tensor, checked_numel, expect_fit};
#[cfg(feature = "cuda")]
use crate::{ops::arguments::Order, storage::View};
use castiron_macros::fallible;
use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution as _, StandardNormal};
use rand_pcg::Pcg64Mcg;

/// A seeded source of random numbers (`torch.Generator`). The same seed gives the same tensors on every machine. Tensors of
/// `Cuda` are drawn there (by Philox, as in PyTorch) and differ from those of `Cpu` with the same seed.
///
/// ```
/// use castiron::{shape, Generator, Tensor};
/// let a = Tensor::<f32, shape![3]>::rand(&mut Generator::seeded(42));
/// let b = Tensor::<f32, shape![3]>::rand(&mut Generator::seeded(42));
/// assert!(a == b);
/// ```
#[derive(Clone, Debug)]
pub struct Generator(Pcg64Mcg);

impl Generator {
    /// A generator started from a seed (`torch.Generator.manual_seed`).
    pub fn seeded(seed: u64) -> Self {
        Generator(Pcg64Mcg::seed_from_u64(seed))
    }

    /// Uniform in `[0, 1)`, with as many bits as the dtype's significand has, so that rounding never gives 1.
    pub(crate) fn unit<E: Element>(&mut self) -> f64 {
        let digits = match E::DTYPE {
            crate::DType::F16 => 11,
            crate::DType::BF16 => 8,
            crate::DType::F32 => 24,
            _ => 53,
        };
        let bits: u64 = self.0.random();
        (bits >> (64 - digits)) as f64 / (1_u64 << digits) as f64
    }

    /// The name of a stream of numbers that a device makes.
    #[cfg(feature = "cuda")]
    pub(crate) fn seed(&mut self) -> u64 {
        self.0.random()
    }

    /// A number of the `rand` family's distribution.
    pub(crate) fn sample<T>(&mut self, distribution: impl rand_distr::Distribution<T>) -> T {
        distribution.sample(&mut self.0)
    }

    /// A normal number with mean 0 and variance 1.
    pub(crate) fn normal(&mut self) -> f64 {
        StandardNormal.sample(&mut self.0)
    }
}

/// A tensor of elements drawn one after another, or by a device that draws from the distribution itself.
#[cfg_attr(not(feature = "cuda"), allow(unused_variables))]
fn drawn<E: Element, S: Shape, D: Device>(
    op: &'static str,
    sizes: S::Sizes,
    generator: &mut Generator,
    distribution: Distribution,
    mut draw: impl FnMut(&mut Generator) -> E,
) -> Result<Tensor<E, S, D>> {
    expect_fit::<S>(op, sizes.as_ref())?;
    let numel = checked_numel::<E>(op, sizes.as_ref())?;
    #[cfg(feature = "cuda")]
    if let Some(storage) = D::draw::<E>(None, distribution, || generator.seed(), numel)? {
        return Ok(Tensor::dense(storage, sizes));
    }
    let storage = D::build(None, || listed((0..numel).map(|_| draw(generator))))?;
    Ok(Tensor::dense(storage, sizes))
}

/// Writes the forms of a random constructor.
macro_rules! random {
    ($($(#[$doc:meta])* $name:ident $sized:ident<$e:ident: $bound:path> ($($arg:ident: $argty:ty),*) |$sizes:ident, $generator:ident| $body:expr;)*) => {$(
        #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ") where sizes are known to the compiler, and where they are not.")]
        impl<$e: $bound, S: Shape, D: Device> Tensor<$e, S, D> {
            $(#[$doc])*
            ///
            /// # Panics
            /// If memory runs out, the device is not there, or an argument makes no sense.
            #[fallible]
            pub fn $name($($arg: $argty,)* $generator: &mut Generator) -> Result<Self>
            where
                S: KnownShape,
            {
                let $sizes = S::SIZES;
                $body
            }

            #[doc = concat!("[`", stringify!($name), "`](Tensor::", stringify!($name), ") where sizes are known at run time only: takes them all, and checks those the type knows.")]
            ///
            /// # Panics
            #[doc = concat!("If a size is not what the type says, or as [`", stringify!($name), "`](Tensor::", stringify!($name), ") does.")]
            #[fallible]
            pub fn $sized($sizes: S::Sizes, $($arg: $argty,)* $generator: &mut Generator) -> Result<Self> {
                $body
            }
        }
    )*};
}
pub(super) use random;
random! {
    /// Uniform in `[0, 1)` (`torch.rand`).
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let x = Tensor::<f32, shape![100]>::rand(&mut Generator::seeded(0));
    /// assert!(x.iter().all(|x| (0.0..1.0).contains(x)));
    /// ```
    rand rand_sized<E: Float>() |sizes, generator| {
        let distribution = Distribution::Uniform { low: 0.0, high: 1.0 };
        drawn("rand", sizes, generator, distribution, |generator| E::from_f64(generator.unit::<E>()))
    };

    /// Normal with mean 0 and standard deviation 1 (`torch.randn`).
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let x = Tensor::<f64, shape![10_000]>::randn(&mut Generator::seeded(0));
    /// assert!(x.mean().item().abs() < 0.05 && (x.std(1).item() - 1.0).abs() < 0.05);
    /// ```
    randn randn_sized<E: Float>() |sizes, generator| {
        let distribution = Distribution::Normal { mean: 0.0, std: 1.0 };
        drawn("randn", sizes, generator, distribution, |generator| E::from_f64(generator.normal()))
    };

    /// Uniform between two numbers, the first included (`torch.Tensor.uniform_`).
    uniform uniform_sized<E: Float>(low: f64, high: f64) |sizes, generator| {
        let finite = (high - low).is_finite() && low <= high;
        if !finite {
            return Err(Error::InvalidArgument { op: "uniform", reason: format!("no numbers lie between {low} and {high}") });
        }
        drawn("uniform", sizes, generator, Distribution::Uniform { low, high }, |generator| {
            E::from_f64(low + generator.unit::<E>() * (high - low))
        })
    };

    /// Normal with a mean and a standard deviation (`torch.normal`).
    normal normal_sized<E: Float>(mean: f64, std: f64) |sizes, generator| {
        let valid = std >= 0.0;
        if !valid {
            return Err(Error::InvalidArgument { op: "normal", reason: format!("{std} is not a standard deviation") });
        }
        drawn("normal", sizes, generator, Distribution::Normal { mean, std }, |generator| {
            E::from_f64(mean + std * generator.normal())
        })
    };

    /// Integers from `low` up to but not including `high`, all equally likely (`torch.randint`).
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let dice = Tensor::<i64, shape![100]>::randint(1, 7, &mut Generator::seeded(0));
    /// assert!(dice.iter().all(|x| (1..7).contains(x)));
    /// ```
    randint randint_sized<E: Real>(low: i64, high: i64) |sizes, generator| {
        if low >= high {
            return Err(Error::InvalidArgument { op: "randint", reason: format!("no integers lie from {low} up to {high}") });
        }
        for end in [low, high - 1] {
            crate::tensor::create::constructors::fill_value::<E>("randint", crate::dtype::ScalarValue::Int(end.into()))?;
        }
        drawn("randint", sizes, generator, Distribution::Integers { low, high }, |generator| {
            E::from_i64(generator.0.random_range(low..high))
        })
    };
}

impl<N: Dim, D: Device> Tensor<i64, (N,), D> {
    /// The numbers from 0 up to the size, in random order (`torch.randperm`).
    ///
    /// # Panics
    /// If the size is not what the type says or memory runs out.
    ///
    /// ```
    /// use castiron::{shape, Generator, Tensor};
    /// let order = Tensor::<i64, shape![_]>::randperm(10, &mut Generator::seeded(0));
    /// let mut sorted = order.to_vec();
    /// sorted.sort();
    /// assert_eq!(sorted, (0..10).collect::<Vec<i64>>());
    /// ```
    #[fallible]
    pub fn randperm(size: usize, generator: &mut Generator) -> Result<Self> {
        expect_fit::<(N,)>("randperm", &[size])?;
        checked_numel::<i64>("randperm", &[size])?;
        // The order of random numbers, where a device draws them.
        #[cfg(feature = "cuda")]
        if let Some(keys) =
            D::draw::<i64>(None, Distribution::Integers { low: i64::MIN, high: i64::MAX }, || generator.seed(), size)?
        {
            let sizes = [size];
            let keys = View::<_, i64>::new(&keys, 0, &sizes, &[1]);
            let [_, order] = D::order(Order::Sort { descending: false }, keys, 0)?;
            return Ok(Self::dense(order, sizes));
        }
        let storage = D::build(None, || {
            let mut order: Vec<i64> = room(size)?;
            order.extend(0..size as i64);
            for last in (1..size).rev() {
                order.swap(last, generator.0.random_range(0..=last as u64) as usize);
            }
            Ok(order)
        })?;
        Ok(Self::dense(storage, [size]))
    }
}
