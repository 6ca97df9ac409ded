//! Fractional max pooling over two and three axes.

use super::conv::{each, numbers};
use crate::any::base::by_width::same_dtype;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::same_device;
use crate::any::call::Bound;
use crate::any::create::drawn::unseeded;
use crate::any::{AnyTensor, Value};
use crate::composite::nn::Laid;
use crate::composite::nn::fractional_pool::{drawn_samples, fractional_largest, sample_sizes};
use crate::device::{Backend as _, Dynamic, DynamicBuffer};
use crate::dtype::{CastTo, DType, Dtype};
use crate::error::{Error, Result};
use crate::tensor::Generator;
use castiron_macros::operations;

/// The source of the random samples.
enum Samples<'a> {
    Drawn(&'a mut Generator),
    /// Given, of the dtype of the operand: `(N, C, axes)`.
    Given(&'a AnyTensor),
}

impl AnyTensor {
    fn fractional_max(
        &self,
        op: &'static str,
        kernel: &[usize],
        places: &[usize],
        samples: Samples<'_>,
    ) -> Result<(AnyTensor, AnyTensor)> {
        fn run<E: Dtype>(
            op: &'static str,
            x: &AnyTensor,
            [kernel, places]: [&[usize]; 2],
            samples: Samples<'_>,
        ) -> Result<[Laid<DynamicBuffer>; 2]> {
            let x = x.elements_as()?;
            let samples = match samples {
                Samples::Drawn(generator) => drawn_samples::<E, Dynamic>(op, x, places.len(), generator)?,
                Samples::Given(given) => {
                    let wanted = sample_sizes(op, x.sizes, places.len())?;
                    if given.sizes[..] != wanted {
                        let expected = format!("random samples of shape {wanted:?}");
                        return Err(Error::Shape { op, expected, found: given.sizes[..].into() });
                    }
                    let given = given.elements_as::<E>()?;
                    let list = if Dynamic::has_data(given.buffer) { Dynamic::download(given)? } else { vec![] };
                    list.into_iter().map(CastTo::<f64>::cast_to).collect()
                }
            };
            fractional_largest::<E, Dynamic>(op, x, kernel, places, &samples)
        }
        if let Samples::Given(given) = &samples {
            same_dtype(op, self, given)?;
            same_device(op, self, given)?;
        }
        let [values, index] =
            dispatch_dtype!(op, self.dtype, E: Float => run::<E>(op, self, [kernel, places], samples))?;
        let of =
            |(buffer, sizes, strides): Laid<DynamicBuffer>, dtype| AnyTensor::fresh(buffer, dtype, &sizes, &strides);
        Ok((of(values, self.dtype), of(index, DType::I64)))
    }

    /// By name, the output sizes are given, or ratios of the operand's.
    fn fractional_max_by_name(args: &Bound<'_>, axes: usize) -> Result<Value> {
        let x = args.tensor("input")?;
        let kernel = each(args.op, "kernel_size", &numbers(args, "kernel_size", 1)?, axes)?;
        let places = if args.is_given("output_size") {
            each(args.op, "output_size", &numbers(args, "output_size", 1)?, axes)?
        } else if args.is_given("output_ratio") {
            let shares = match args.read::<f64>("output_ratio") {
                Ok(one) => vec![one; axes],
                Err(_) => args.read::<Vec<f64>>("output_ratio")?,
            };
            if shares.len() != axes || x.rank() < axes || shares.iter().any(|share| !(0.0 < *share && *share < 1.0)) {
                return args.refused(format!("output_ratio must be between 0 and 1 (got {shares:?})"));
            }
            let sizes = &x.shape()[x.rank() - axes..];
            sizes.iter().zip(&shares).map(|(&size, share)| (size as f64 * share) as usize).collect()
        } else {
            return args.refused("expected an output_size or an output_ratio".to_owned());
        };
        let mut generator = args.read_or("generator", unseeded)?;
        let samples = match args.read::<Option<&AnyTensor>>("_random_samples")? {
            Some(given) => Samples::Given(given),
            None => Samples::Drawn(&mut generator),
        };
        let (values, index) = x.fractional_max(args.op, &kernel, &places, samples)?;
        if args.read_or("return_indices", || false)? {
            return Ok(Value::List(vec![values.into(), index.into()].into()));
        }
        Ok(values.into())
    }
}

#[operations]
impl AnyTensor {
    #[each(RANK = 2 3)]
    #[op(nn.functional.fractional_max_poolRANKd(input, kernel_size, output_size, output_ratio, return_indices, _random_samples, generator), dtypes = float)]
    fn fractional_max_poolRANKd_by_name(args: &Bound<'_>) -> Result<Value> {
        AnyTensor::fractional_max_by_name(args, RANK)
    }
}
