//! Normalisation, and what is measured to do it.
//! Uses `elementwise::apply`, `view::views`, `device`, `base::dispatch`.

use crate::any::base::as_typed::Rank1;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::call::Bound;
use crate::any::elementwise::apply::result_strides;
use crate::any::{AnyTensor, IntoAny, IntoSizes, Value};
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::{Error, Result, invalid};
use crate::layout::strides;
use crate::tensor::{
    Moments, by_groups, by_statistics, expect_channels, expect_variance, is_seen, may_have_overflowed,
    mixed_statistics, of_elements, over_scaled_norms, strides_by_channels,
};
use castiron_macros::operations;

/// What a float is computed in, to be rounded once.
fn wide(dtype: DType) -> DType {
    if matches!(dtype, DType::F16 | DType::BF16) { DType::F32 } else { dtype }
}

#[operations]
impl AnyTensor {
    fn expect_float(&self, op: &'static str) -> Result<()> {
        dispatch_dtype!(op, self.dtype, E: Float => {
            let _: Option<E> = None;
            Ok(())
        })
    }

    /// Weights and the like hold the dtype of the tensor, or all `float32` beside 16-bit floats.
    fn expect_weights<'a>(&self, op: &'static str, given: impl Iterator<Item = &'a AnyTensor> + Clone) -> Result<()> {
        if given.clone().all(|x| x.dtype == self.dtype) || given.clone().all(|x| x.dtype == wide(self.dtype)) {
            return Ok(());
        }
        let dtypes: Vec<DType> = given.map(|x| x.dtype).collect();
        invalid(op, format!("weights must be of {} beside a tensor of {0}, got {dtypes:?}", self.dtype))
    }

    /// The last axes, which have these sizes, made one; and what is shared by all rows as lists.
    fn rows<'a>(
        &self,
        op: &'static str,
        sizes: &[i64],
        shared: impl IntoIterator<Item = &'a AnyTensor>,
    ) -> Result<AnyTensor> {
        let own = self.signed_sizes();
        if sizes.is_empty() || !own.ends_with(sizes) {
            return invalid(op, format!("the last sizes must be {sizes:?}, got {own:?}"));
        }
        for given in shared {
            if given.signed_sizes() != sizes {
                let expected = format!("{sizes:?}");
                return Err(Error::Shape { op, expected, found: given.shape().into() });
            }
            crate::any::elementwise::apply::same_device(op, self, given)?;
        }
        let lead: i64 = own[..own.len() - sizes.len()].iter().product();
        self.reshaped(&[lead, sizes.iter().product()])
    }

    /// Standardises the last axes, of these sizes (`torch.nn.functional.layer_norm`, where `eps` is 1e-5 if not given).
    ///
    /// # Errors
    /// If the last sizes are others, weights have another shape or a dtype that does not go with it, or the dtype is no float.
    #[op(nn.functional.layer_norm(input, normalized_shape, weight = None, bias = None, eps = 1e-5), dtypes = float, aliases("layer_norm"))]
    pub fn layer_norm(
        &self,
        sizes: impl IntoSizes,
        weight: Option<&AnyTensor>,
        bias: Option<&AnyTensor>,
        eps: f64,
    ) -> Result<AnyTensor> {
        let op = "layer_norm";
        let sizes = &*sizes.signed();
        let given = [weight, bias].into_iter().flatten();
        self.expect_weights(op, given.clone())?;
        if given.clone().any(|given| given.dtype != self.dtype) {
            return self.to(wide(self.dtype))?.layer_norm(sizes, weight, bias, eps)?.to(self.dtype);
        }
        let rows = self.rows(op, sizes, given)?;
        let result = dispatch_dtype!(op, self.dtype, E: Float => {
            let list = |x: Option<&AnyTensor>| x.map(|x| x.typed_rank1::<E, Dynamic>()).transpose();
            let (weight, bias) = (list(weight)?, list(bias)?);
            rows.typed_rank2::<E, Dynamic>()?.try_layer_norm::<Rank1>(weight.as_ref(), bias.as_ref(), eps).map(AnyTensor::from)
        })?;
        result.reshaped(&self.signed_sizes())
    }

    /// Divides the last axes, of these sizes, by the root of the mean of squares (`torch.nn.functional.rms_norm`). Without `eps` it is
    /// that of the dtype computed in.
    ///
    /// # Errors
    /// If the last sizes are others, the weight has another shape, or the dtype is neither floating-point nor complex.
    #[op(nn.functional.rms_norm(input, normalized_shape, weight = None, eps = None), dtypes = inexact, aliases("rms_norm"))]
    pub fn rms_norm(&self, sizes: impl IntoSizes, weight: Option<&AnyTensor>, eps: Option<f64>) -> Result<AnyTensor> {
        let op = "rms_norm";
        let sizes = &*sizes.signed();
        let rows = self.rows(op, sizes, weight)?;
        if let Some(weight) = weight.filter(|weight| weight.dtype != self.dtype) {
            let scaled = self.to(wide(self.dtype))?.rms_norm(sizes, None, eps)?;
            return scaled.mul(weight)?.to(self.dtype);
        }
        let result = dispatch_dtype!(op, self.dtype, E: Inexact => {
            let weight = weight.map(|x| x.typed_rank1::<E, Dynamic>()).transpose()?;
            rows.typed_rank2::<E, Dynamic>()?.try_rms_norm::<Rank1>(weight.as_ref(), eps).map(AnyTensor::from)
        })?;
        result.reshaped(&self.signed_sizes())
    }

    /// Divides by the `p`-norm over axes, or by `eps` where that is larger (`torch.nn.functional.normalize`, where `p` is 2, the axis 1
    /// and `eps` 1e-12 if not given).
    ///
    /// # Errors
    /// If an axis is out of range or named twice, or the dtype is neither floating-point nor complex.
    #[op(nn.functional.normalize(input, p = 2.0, dim = vec![1], eps = 1e-12), dtypes = inexact)]
    pub fn normalize(&self, p: f64, dims: &[i64], eps: f64) -> Result<AnyTensor> {
        self.expect_memory()?;
        self.over_norms(p, dims, eps)
    }

    /// Divided by norms over axes.
    fn over_norms(&self, p: f64, dims: &[i64], eps: f64) -> Result<AnyTensor> {
        let op = "normalize";
        let (mask, _) = self.reduced(op, Some(dims), true)?;
        let is_seen = dispatch_dtype!(op, self.dtype, E: Inexact => Ok(is_seen::<E, Dynamic>(self.elements_as()?)))?;
        if is_seen || !self.has_data() || self.numel() == 0 {
            let norms = self.vector_norm(p, Some(dims), true)?;
            if !norms.have_overflowed()? {
                return self.div(norms.clamp_min(eps)?);
            }
        }
        let strides = result_strides(&self.sizes, &[self.layout(self.dtype)]);
        let buffer = dispatch_dtype!(op, self.dtype, E: Inexact => {
            over_scaled_norms::<E, Dynamic>(self.elements_as()?, mask, [p, eps], &strides)
        })?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &self.sizes, &strides))
    }

    /// Whether the host can see an infinite number among norms or variances.
    fn have_overflowed(&self) -> Result<bool> {
        if !self.has_data() {
            return Ok(false);
        }
        dispatch_dtype!("normalize", self.dtype, E: Float => {
            Ok(is_seen::<E, Dynamic>(self.elements_as()?) && may_have_overflowed::<E, Dynamic>(self.elements_as()?)?)
        })
    }

    /// Standardises groups of channels, those of the second axis (`torch.nn.functional.group_norm`, where `eps` is 1e-5 if not given).
    ///
    /// # Errors
    /// If there are less than two axes, the groups do not divide the channels, weights have another shape or a dtype that does not go with it, or the dtype is no float.
    #[op(nn.functional.group_norm(input, num_groups, weight = None, bias = None, eps = 1e-5), dtypes = float, aliases("group_norm"))]
    pub fn group_norm(
        &self,
        groups: i64,
        weight: Option<&AnyTensor>,
        bias: Option<&AnyTensor>,
        eps: f64,
    ) -> Result<AnyTensor> {
        let op = "group_norm";
        self.expect_float(op)?;
        if self.rank() < 2 {
            return invalid(op, format!("at least two axes are wanted, got {}", self.rank()));
        }
        let given = [weight, bias].into_iter().flatten();
        self.expect_weights(op, given.clone())?;
        for given in given.clone() {
            crate::any::elementwise::apply::same_device(op, self, given)?;
        }
        if given.clone().any(|given| given.dtype != self.dtype) {
            return self.to(wide(self.dtype))?.group_norm(groups, weight, bias, eps)?.to(self.dtype);
        }
        let (x, groups) = (self.contiguous()?, usize::try_from(groups).unwrap_or(0));
        let buffer = dispatch_dtype!(op, self.dtype, E: Float => {
            let list = AnyTensor::elements_as::<E>;
            by_groups::<E, Dynamic>(op, x.elements_as()?, groups, [weight.map(list).transpose()?, bias.map(list).transpose()?], eps)
        })?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &self.sizes, &strides::row_major(&self.sizes)))
    }

    /// Standardises channels, those of the second axis, by means and variances given (`torch.nn.functional.batch_norm` without
    /// training, where `eps` is 1e-5 if not given).
    ///
    /// # Errors
    /// If there are less than two axes, one of the others has another shape than the channels or a dtype that does not go with it, or the dtype is no float.
    pub fn batch_norm(
        &self,
        mean: &AnyTensor,
        var: &AnyTensor,
        weight: Option<&AnyTensor>,
        bias: Option<&AnyTensor>,
        eps: f64,
    ) -> Result<AnyTensor> {
        let op = "batch_norm";
        self.expect_float(op)?;
        if self.is_empty() {
            return self.copy();
        }
        if self.rank() < 2 {
            return invalid(op, format!("at least two axes are wanted, got {}", self.rank()));
        }
        self.expect_weights(op, [Some(mean), Some(var), weight, bias].into_iter().flatten())?;
        self.standardised(op, ([mean, var], None), [weight, bias], eps)
    }

    /// `(x - mean) / sqrt(var + eps) * weight + bias` by lists for the channels.
    fn standardised(
        &self,
        op: &'static str,
        (statistics, power): ([&AnyTensor; 2], Option<&AnyTensor>),
        given: [Option<&AnyTensor>; 2],
        eps: f64,
    ) -> Result<AnyTensor> {
        let list = |given: &AnyTensor| {
            expect_channels(op, self.sizes[1], &given.sizes)?;
            crate::any::elementwise::apply::same_device(op, self, given)?;
            given.to(DType::F64)
        };
        let [mean, var] = [list(statistics[0])?, list(statistics[1])?];
        let [weight, bias] = [given[0].map(list).transpose()?, given[1].map(list).transpose()?];
        let elements = AnyTensor::elements_as::<f64>;
        let statistics = ([elements(&mean)?, elements(&var)?], power.map(elements).transpose()?);
        let given = [weight.as_ref().map(elements).transpose()?, bias.as_ref().map(elements).transpose()?];
        let buffer = dispatch_dtype!(op, self.dtype, E: Float => {
            by_statistics::<E, Dynamic>(op, self.elements_as()?, statistics, given, eps)
        })?;
        Ok(AnyTensor::fresh(buffer, self.dtype, &self.sizes, &strides_by_channels(&self.sizes, &self.strides)?))
    }

    /// The `p`-norms of differences of rows (`torch.nn.functional.pairwise_distance`), to which `eps` is added.
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

    /// Both, broadcast to one shape, if they hold one floating-point dtype.
    pub(in crate::any) fn alike_floats(&self, op: &'static str, other: &AnyTensor) -> Result<Option<[AnyTensor; 2]>> {
        if self.dtype != other.dtype || !self.dtype.is_floating_point() || self.dtype.is_shell() {
            return Ok(None);
        }
        crate::any::elementwise::apply::same_device(op, self, other)?;
        let sizes = crate::any::elementwise::apply::broadcast_to(op, &self.sizes, &other.sizes)?;
        let sizes: Vec<i64> = sizes.iter().map(|&size| size as i64).collect();
        Ok(Some([self.expand(&sizes)?, other.expand(&sizes)?]))
    }

    /// The mean and the variance of each channel, and what elements were multiplied by before ([`Moments`]); how many a channel has.
    fn moments(&self, op: &'static str) -> Result<([AnyTensor; 2], Option<AnyTensor>, usize)> {
        self.expect_float(op)?;
        if self.rank() < 2 {
            return invalid(op, format!("at least two axes are wanted, got {}", self.rank()));
        }
        let count = expect_variance(op, &self.sizes)?;
        self.expect_memory()?;
        let Moments { mean, variance, power } =
            dispatch_dtype!(op, self.dtype, E: Float => Moments::of::<E, Dynamic>(self.elements_as()?))?;
        let list = |list| AnyTensor::fresh(list, DType::F64, &self.sizes[1..2], &[1]);
        Ok(([list(mean), list(variance)], power.map(list), count))
    }

    /// Means and variances of the elements as they are.
    fn of_elements([mean, variance]: &[AnyTensor; 2], power: Option<&AnyTensor>) -> Result<[AnyTensor; 2]> {
        let power = power.map(AnyTensor::elements_as::<f64>).transpose()?;
        let found = of_elements::<Dynamic>(([mean.elements_as()?, variance.elements_as()?], power))?;
        Ok(found.map(|list| AnyTensor::fresh(list, DType::F64, &mean.sizes, &[1])))
    }

    /// [`batch_norm`](Self::batch_norm) by the mean and the variance of each channel itself (`torch.nn.functional.batch_norm` with
    /// `training=True`, where `momentum` is 0.1 and `eps` 1e-5 if not given). Running means and variances become
    /// `(1 - momentum) * running + momentum * new`, the new variance being that of a sample.
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
        let (found, power, count) = self.moments(op)?;
        self.expect_weights(op, [weight, bias].into_iter().flatten())?;
        let result = self.standardised(op, (found.each_ref(), power.as_ref()), [weight, bias], eps)?;
        if let Some([own_mean, own_var]) = running {
            for own in [&own_mean, &own_var] {
                expect_channels(op, self.sizes[1], &own.sizes)?;
                crate::any::elementwise::apply::same_device(op, self, own)?;
            }
            if own_mean.dtype != own_var.dtype {
                return invalid(op, format!("running statistics of {} and {}", own_mean.dtype, own_var.dtype));
            }
            // Both are computed before one is written.
            let new = Self::of_elements(&found, power.as_ref())?;
            let new = [new[0].elements_as()?, new[1].elements_as()?];
            let values = dispatch_dtype!(op, own_mean.dtype, E: Float => {
                mixed_statistics::<E, Dynamic>([own_mean.elements_as()?, own_var.elements_as()?], new, momentum, count)
            })?;
            for (own, value) in [own_mean, own_var].into_iter().zip(values) {
                let value = AnyTensor::fresh(value, own.dtype, &self.sizes[1..2], &[1]);
                own.overwrite(op, &value)?;
            }
        }
        Ok(result)
    }

    /// `batch_norm`, the means and the inverse roots of variances that it found in training. (Running ones are not written by name.)
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
        let (found, power, _) = x.moments("native_batch_norm")?;
        let [mean, var] = Self::of_elements(&found, power.as_ref())?;
        let result = x.batch_norm_training(None, weight, bias, 0.0, eps)?;
        Ok((result, mean.to(kept)?, var.add(eps)?.rsqrt()?.to(kept)?).into())
    }

    /// `group_norm`, and the mean and the inverse root of the variance of each group.
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

    /// The mean and the variance of channels are the running ones, or in training those of the elements.
    #[op(nn.functional.batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps), dtypes = float)]
    fn batch_norm_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let (weight, bias, eps) = (args.read("weight")?, args.read("bias")?, args.read_or("eps", || 1e-5)?);
        if args.read_or("training", || false)? {
            return Ok(x.batch_norm_training(None, weight, bias, 0.0, eps)?.into());
        }
        Ok(x.batch_norm(args.tensor("running_mean")?, args.tensor("running_var")?, weight, bias, eps)?.into())
    }
}
