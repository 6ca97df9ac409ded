//! Normalisation with weights of another dtype, in training and by name.

use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::same_device;
use crate::any::call::Bound;
use crate::any::{AnyTensor, IntoAny, IntoSizes, Value};
use crate::composite::normalization::channels::mixed_statistics;
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};
use crate::layout::dims::Dims;
use castiron_macros::operations;

/// The dtype that a float is computed in before it is rounded once.
fn wide(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

#[operations]
impl AnyTensor {
    pub(crate) fn expect_float(&self, op: &'static str) -> Result<()> {
        dispatch_dtype!(op, self.dtype, E: Float => {
            let _: Option<E> = None;
            Ok(())
        })
    }

    /// Checks that weights have the dtype of the tensor, or all are `float32` and the tensor is a 16-bit float.
    fn expect_weights<'a>(&self, op: &'static str, given: impl Iterator<Item = &'a AnyTensor> + Clone) -> Result<()> {
        if given.clone().all(|x| x.dtype == self.dtype) || given.clone().all(|x| x.dtype == wide(self.dtype)) {
            return Ok(());
        }
        let dtypes: Vec<DType> = given.map(|x| x.dtype).collect();
        invalid(op, format!("weights must be of {} beside a tensor of {0}, got {dtypes:?}", self.dtype))
    }

    /// A tensor of 16-bit floats converted to `float32` if the weights are; `None` if they have its dtype.
    pub(crate) fn widened_beside(&self, op: &'static str, given: [Option<&AnyTensor>; 2]) -> Result<Option<AnyTensor>> {
        self.expect_float(op)?;
        let given = given.into_iter().flatten();
        self.expect_weights(op, given.clone())?;
        let differs = given.clone().any(|given| given.dtype != self.dtype);
        differs.then(|| self.to(wide(self.dtype))).transpose()
    }

    /// Checks that the last axes have these sizes, and returns them.
    pub(crate) fn last_sizes(&self, op: &'static str, sizes: impl IntoSizes) -> Result<Dims> {
        let (sizes, own) = (&*sizes.signed(), self.signed_sizes());
        if sizes.is_empty() || !own.ends_with(sizes) {
            return invalid(op, format!("the last sizes must be {sizes:?}, got {own:?}"));
        }
        Ok(Dims::known(&self.sizes[own.len() - sizes.len()..]))
    }

    /// `rms_norm` with a weight of another dtype.
    pub(crate) fn rms_norm_beside(&self, sizes: &[usize], weight: &AnyTensor, eps: Option<f64>) -> Result<AnyTensor> {
        let op = "rms_norm";
        if *weight.sizes != *sizes {
            return Err(Error::Shape { op, expected: format!("{sizes:?}"), found: weight.shape().into() });
        }
        same_device(op, self, weight)?;
        self.to(wide(self.dtype))?.rms_norm(sizes, None, eps)?.mul(weight)?.to(self.dtype)
    }

    /// Means, variances, weights and biases of channels as lists of `float64`.
    #[allow(clippy::type_complexity)]
    pub(crate) fn with_statistics(
        &self,
        op: &'static str,
        statistics: [&AnyTensor; 2],
        given: [Option<&AnyTensor>; 2],
    ) -> Result<([AnyTensor; 3], [Option<AnyTensor>; 2])> {
        self.expect_float(op)?;
        self.expect_weights(op, statistics.into_iter().chain(given.into_iter().flatten()))?;
        let [mean, variance] = statistics;
        Ok(([self.clone(), self.as_list(op, mean)?, self.as_list(op, variance)?], self.as_lists(op, given)?))
    }

    fn as_lists(&self, op: &'static str, given: [Option<&AnyTensor>; 2]) -> Result<[Option<AnyTensor>; 2]> {
        let [weight, bias] = given.map(|given| given.map(|given| self.as_list(op, given)).transpose());
        Ok([weight?, bias?])
    }

    /// A list of `float64` on the device of this tensor.
    fn as_list(&self, op: &'static str, given: &AnyTensor) -> Result<AnyTensor> {
        same_device(op, self, given)?;
        given.to(DType::F64)
    }

    /// `local_response_norm` of integers, where PyTorch rounds the mean of squares down.
    pub(crate) fn local_response_norm_of_integers(
        &self,
        size: usize,
        alpha: f64,
        beta: f64,
        k: f64,
    ) -> Result<AnyTensor> {
        if size == 0 || self.is_empty() {
            return self.to(crate::dtype::default_dtype())?.local_response_norm(size, alpha, beta, k);
        }
        let squares = self.mul(self)?;
        let zeros = |channels: usize| {
            let mut sizes = self.shape().to_vec();
            sizes[1] = channels;
            self.zeros_like_device(&sizes, self.dtype)
        };
        let padded = crate::any::cat(&[zeros(size / 2)?, squares, zeros((size - 1) / 2)?], 1)?;
        let sums = padded.unfold(1, size, 1)?.sum(Some(&[-1]), false, None)?;
        let means = sums.floor_divide(size as i64)?;
        self.div(means.mul(alpha)?.add(k)?.pow(beta)?)
    }

    /// The `p`-norms of differences of rows (`torch.nn.functional.pairwise_distance`), with `eps` added to each difference.
    ///
    /// # Errors
    /// If shapes do not broadcast, or the dtypes have no difference.
    #[op(nn.functional.pairwise_distance(x1, x2, p = 2.0, eps = 1e-6, keepdim = false), dtypes = numeric, aliases("pairwise_distance"))]
    pub fn pairwise_distance(&self, other: &AnyTensor, p: f64, eps: f64, keepdim: bool) -> Result<AnyTensor> {
        let op = "pairwise_distance";
        let Some([x, y]) = self.alike_floats(op, other)? else {
            return self.sub(other)?.add(eps)?.vector_norm(p, Some(&[-1]), keepdim);
        };
        x.expect_memory()?;
        y.expect_memory()?;
        let norms = dispatch_dtype!(op, x.dtype, E: Float => {
            x.as_erased::<E>()?.pairwise_distance(&y.as_erased()?, p, eps).map(IntoAny::into_any)
        })?;
        if keepdim && x.rank() > 0 { norms.unsqueeze(-1) } else { Ok(norms) }
    }

    /// Both, broadcast to one shape, if they have one floating-point dtype.
    pub(in crate::any) fn alike_floats(&self, op: &'static str, other: &AnyTensor) -> Result<Option<[AnyTensor; 2]>> {
        if self.dtype != other.dtype || !self.dtype.is_floating_point() || self.dtype.is_shell() {
            return Ok(None);
        }
        same_device(op, self, other)?;
        let sizes = crate::any::base::operand::broadcast_to(op, &self.sizes, &other.sizes)?;
        let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        Ok(Some([self.expand(&sizes)?, other.expand(&sizes)?]))
    }

    /// `batch_norm` by the mean and the variance of each channel; returns these and the number of elements per channel, too.
    fn by_itself(&self, given: [Option<&AnyTensor>; 2], eps: f64) -> Result<(AnyTensor, [AnyTensor; 2], usize)> {
        let op = "batch_norm";
        self.expect_float(op)?;
        self.expect_weights(op, given.into_iter().flatten())?;
        let lists = self.as_lists(op, given)?;
        dispatch_dtype!(op, self.dtype, E: Float => {
            let lists = lists.each_ref().map(|list| list.as_ref().map(AnyTensor::as_erased::<f64>).transpose());
            let [weight, bias] = lists;
            let (weight, bias) = (weight?, bias?);
            let given = [weight.as_ref(), bias.as_ref()];
            let (result, found, count) = self.as_erased::<E>()?.batch_norm_by_itself(given, eps)?;
            Ok((result.into_any(), found.map(IntoAny::into_any), count))
        })
    }

    /// [`batch_norm`](Self::batch_norm) by the mean and the variance of each channel of the input (`torch.nn.functional.batch_norm` with
    /// `training=True`, where `momentum` is 0.1 and `eps` 1e-5 if not given). Running means and variances become `(1 - momentum) * running
    /// + momentum * new`, with the unbiased variance.
    ///
    /// # Errors
    /// As [`batch_norm`](Self::batch_norm), and if a channel has a single element.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let x = AnyTensor::from(tensor![[1.0], [3.0]]);
    /// let (mut mean, mut var) = (AnyTensor::from(tensor![0.0]), AnyTensor::from(tensor![1.0]));
    /// let y = x.batch_norm_training(Some([&mut mean, &mut var]), None, None, 0.5, 0.0)?;
    /// assert_eq!(y.to_string(), "tensor([[-1.],\n        [ 1.]])");
    /// assert_eq!((mean.to_string(), var.to_string()), ("tensor([1.])".to_owned(), "tensor([1.5000])".to_owned()));
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn batch_norm_training(
        &self,
        running: Option<[&mut AnyTensor; 2]>,
        weight: Option<&AnyTensor>,
        bias: Option<&AnyTensor>,
        momentum: f64,
        eps: f64,
    ) -> Result<AnyTensor> {
        let op = "batch_norm";
        let (result, new, count) = self.by_itself([weight, bias], eps)?;
        if let Some([own_mean, own_var]) = running {
            for own in [&own_mean, &own_var] {
                same_device(op, self, own)?;
            }
            if own_mean.dtype != own_var.dtype {
                return invalid(op, format!("running statistics of {} and {}", own_mean.dtype, own_var.dtype));
            }
            // Both are computed before either is written.
            let values = dispatch_dtype!(op, own_mean.dtype, E: Float => {
                let (own, new) = ([&*own_mean, &*own_var], [new[0].as_erased()?, new[1].as_erased()?]);
                let own = [own[0].as_erased::<E>()?, own[1].as_erased()?];
                mixed_statistics(op, own.each_ref(), new.each_ref(), momentum, count).map(|mixed| mixed.map(IntoAny::into_any))
            })?;
            for (own, value) in [own_mean, own_var].into_iter().zip(values) {
                own.overwrite(op, &value)?;
            }
        }
        Ok(result)
    }

    /// `batch_norm`, and in training the means and inverse standard deviations. (By name the running ones are not updated.)
    #[op(native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps), dtypes = float, aliases("_native_batch_norm_legit"))]
    fn native_batch_norm_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, eps) = (args.tensor("input")?, args.read("eps")?);
        let (weight, bias): (Option<&AnyTensor>, Option<&AnyTensor>) = (args.read("weight")?, args.read("bias")?);
        let kept = weight.or(bias).map_or(x.dtype, |given| given.dtype);
        if !args.read::<bool>("training")? {
            let (mean, var) = (args.tensor("running_mean")?, args.tensor("running_var")?);
            let none = x.zeros_like_device(&[0], kept)?;
            return Ok((x.batch_norm(mean, var, weight, bias, eps)?, none.clone(), none).into());
        }
        let (result, [mean, var], _) = x.by_itself([weight, bias], eps)?;
        Ok((result, mean.to(kept)?, var.add(eps)?.rsqrt()?.to(kept)?).into())
    }

    /// `group_norm`, and the mean and inverse standard deviation of each group.
    #[op(native_group_norm(input, weight, bias, N, C, HxW, group, eps), dtypes = float)]
    fn native_group_norm_by_name(args: &Bound<'_>) -> Result<Value> {
        let (x, eps, groups) = (args.tensor("input")?, args.read("eps")?, args.read::<i64>("group")?);
        let [n, c, rest] = [args.read::<i64>("N")?, args.read("C")?, args.read("HxW")?];
        if x.rank() < 2 || x.signed_sizes()[..2] != [n, c] || n * c * rest != x.numel() as i64 {
            return args.refused(format!("{n}, {c} and {rest} are not the sizes {:?}", x.shape()));
        }
        let (weight, bias): (Option<&AnyTensor>, Option<&AnyTensor>) = (args.read("weight")?, args.read("bias")?);
        let dtype = weight.or(bias).map_or(x.dtype, |given| given.dtype);
        let result = x.group_norm(groups, weight, bias, eps)?;
        let rows = x.to(wide(x.dtype))?.reshaped(&[n, groups, c / groups * rest])?;
        let (var, mean) = rows.var_mean(Some(&[2]), 0.0, false)?;
        Ok((result, mean.to(dtype)?, var.add(eps)?.rsqrt()?.to(dtype)?).into())
    }

    /// The mean and variance of channels are the running ones, or in training those of the input.
    #[op(nn.functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps), dtypes = float)]
    fn batch_norm_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let (weight, bias, eps) = (args.read("weight")?, args.read("bias")?, args.read_or("eps", || 1e-5)?);
        if args.read_or("training", || false)? {
            return Ok(x.batch_norm_training(None, weight, bias, 0.0, eps)?.into());
        }
        Ok(x.batch_norm(args.tensor("running_mean")?, args.tensor("running_var")?, weight, bias, eps)?.into())
    }

    /// With running statistics instead of those of the input it is `batch_norm`.
    #[op(nn.functional.instance_norm(input, running_mean = None, running_var = None, weight = None, bias = None, use_input_stats = true, momentum = _, eps = 1e-5), dtypes = float)]
    #[allow(clippy::too_many_arguments)]
    fn instance_norm_by_name(
        &self,
        mean: Option<&AnyTensor>,
        var: Option<&AnyTensor>,
        weight: Option<&AnyTensor>,
        bias: Option<&AnyTensor>,
        use_input: bool,
        eps: f64,
    ) -> Result<AnyTensor> {
        match (use_input, mean, var) {
            (true, ..) => self.instance_norm(weight, bias, eps),
            (false, Some(mean), Some(var)) => self.batch_norm(mean, var, weight, bias, eps),
            _ => invalid("instance_norm", "without statistics of the input there must be running ones".to_owned()),
        }
    }
}
