//! Normalisation, and what is measured to do it.
//! Uses `elementwise::apply`, `view::views`, `device`, `base::dispatch`.

use crate::any::base::as_typed::Rank1;
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::call::Bound;
use crate::any::elementwise::apply::result_strides;
use crate::any::elementwise::chained::{Chain, First};
use crate::any::elementwise::op_table::{binary, unary};
use crate::any::view::views::axis;
use crate::any::{AnyTensor, IntoSizes, Value};
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result, invalid};
use crate::layout::strides;
use crate::tensor::{by_groups, is_seen, may_have_overflowed, over_scaled_norms};
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

    /// `[1, C, 1, …]` for the axes of `self`.
    fn by_channel(&self, op: &'static str, given: &AnyTensor) -> Result<AnyTensor> {
        let channels = self.sizes.get(1).copied().unwrap_or(1);
        if *given.shape() != [channels] {
            return Err(Error::Shape { op, expected: format!("[{channels}]"), found: given.shape().into() });
        }
        crate::any::elementwise::apply::same_device(op, self, given)?;
        let mut sizes = vec![1; self.rank()];
        sizes[1] = channels as i64;
        given.to(wide(self.dtype))?.reshape(&sizes)
    }

    /// `self * scale + shift` in one pass, where that can be: in the accumulate type, and rounded once.
    fn scaled_and_shifted(
        &self,
        op: &'static str,
        scale: &AnyTensor,
        shift: &AnyTensor,
        dtype: DType,
    ) -> Result<Option<AnyTensor>> {
        if wide(self.dtype) != wide(dtype) || scale.dtype != wide(dtype) || shift.dtype != wide(dtype) {
            return Ok(None);
        }
        let (first, factors) = (First::Two(binary::mul, [self, scale]), [None; 3]);
        let common = scale.dtype;
        Chain { op, dtype, common, first, then: binary::add, x: shift, by_parts: false, factors, x_is_first: false }
            .run()
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
        // As PyTorch does it: one factor and one summand for each channel.
        let [mean, var] = [mean, var].map(|given| self.by_channel(op, given));
        let mut scale = var?.add(eps)?.rsqrt()?;
        if let Some(weight) = weight {
            scale = scale.mul(self.by_channel(op, weight)?)?;
        }
        let shift = mean?.mul(&scale)?;
        let shift = match bias {
            Some(bias) => self.by_channel(op, bias)?.sub(shift)?,
            None => shift.neg()?,
        };
        if let Some(result) = self.scaled_and_shifted(op, &scale, &shift, self.dtype)? {
            return Ok(result);
        }
        self.to(wide(self.dtype))?.mul(scale)?.add(shift)?.to(self.dtype)
    }

    /// Scales the slices along an axis whose `p`-norm exceeds `maxnorm` down to it (`torch.renorm`).
    ///
    /// # Errors
    /// If there are less than two axes, the axis is out of range, `p` is not positive or `maxnorm` negative, or the dtype is neither
    /// floating-point nor complex.
    #[op(renorm(input, p, dim, maxnorm), dtypes = inexact)]
    #[in_place("tensor![[6.0, 8.0], [0.0, 1.0]]" "2.0, 0, 5.0" = "[[3.0, 4.0], [0.0, 1.0]]")]
    pub fn renorm(&self, p: f64, dim: i64, maxnorm: f64) -> Result<AnyTensor> {
        let op = "renorm";
        if self.dtype == DType::C32 {
            return Err(refused(op, self.dtype));
        }
        if self.rank() < 2 {
            return invalid(op, format!("at least two axes are wanted, got {}", self.rank()));
        }
        if p.is_nan() || p <= 0.0 || maxnorm.is_nan() || maxnorm < 0.0 {
            return invalid(op, format!("`p` is positive and `maxnorm` not negative, got {p} and {maxnorm}"));
        }
        let at = axis(op, dim, self.rank())? as i64;
        let others: Vec<i64> = (0..self.rank() as i64).filter(|&axis| axis != at).collect();
        self.expect_memory()?;
        let norms = self.to(wide(self.dtype))?.vector_norm(p, Some(&others), true)?;
        let down = norms.add(1e-7)?.reciprocal()?.mul(maxnorm)?;
        // `down` where the norm is too large, else 1.
        let small = norms.gt(maxnorm)?.logical_not()?.to(norms.dtype)?;
        self.mul(
            down.fmax(small)?
                .fmin(AnyTensor::scalar_of(op, ScalarValue::Bool(true), norms.dtype)?)?
                .to(self.dtype.to_real())?,
        )
    }

    /// One half along an axis, as far as the other lets it through (`torch.nn.functional.glu`).
    ///
    /// # Errors
    /// If the axis is out of range or odd, or the dtype is no float.
    #[op(nn.functional.glu(input, dim = -1), dtypes = float)]
    pub fn glu(&self, dim: i64) -> Result<AnyTensor> {
        let op = "glu";
        self.expect_float(op)?;
        let at = axis(op, dim, self.rank())?;
        let size = self.sizes.get(at).copied().unwrap_or(1);
        if !size.is_multiple_of(2) {
            return invalid(op, format!("axis {at} must have an even size, got {size}"));
        }
        let half = |start: usize| self.narrow(at as i64, start as i64, size / 2);
        let chain = Chain {
            op,
            dtype: self.dtype,
            common: self.dtype,
            first: First::One(unary::sigmoid, &half(size / 2)?),
            then: binary::mul,
            x: &half(0)?,
            by_parts: false,
            factors: [None; 3],
            x_is_first: true,
        };
        if let Some(result) = chain.run()? {
            return Ok(result);
        }
        let x = self.to(wide(self.dtype))?;
        let gate = x.narrow(at as i64, size as i64 / 2, size / 2)?.sigmoid()?;
        x.narrow(at as i64, 0, size / 2)?.mul(gate)?.to(self.dtype)
    }

    /// The `p`-norms of differences of rows (`torch.nn.functional.pairwise_distance`), to which `eps` is added.
    ///
    /// # Errors
    /// If shapes do not broadcast, or the dtypes have no difference.
    #[op(nn.functional.pairwise_distance(x1, x2, p = 2.0, eps = 1e-6, keepdim = false), dtypes = numeric, aliases("pairwise_distance"))]
    pub fn pairwise_distance(&self, other: &AnyTensor, p: f64, eps: f64, keepdim: bool) -> Result<AnyTensor> {
        self.sub(other)?.add(eps)?.vector_norm(p, Some(&[-1]), keepdim)
    }

    /// The cosines of the angles between vectors along an axis (`torch.nn.functional.cosine_similarity`, where the axis is 1 and `eps`,
    /// the least that counts as a length, 1e-8 if not given).
    ///
    /// # Errors
    /// If shapes do not broadcast, the axis is out of range, or the dtypes promote to no float.
    #[op(nn.functional.cosine_similarity(x1, x2, dim = 1, eps = 1e-8), dtypes = float, aliases("cosine_similarity"))]
    pub fn cosine_similarity(&self, other: &AnyTensor, dim: i64, eps: f64) -> Result<AnyTensor> {
        let op = "cosine_similarity";
        let kinds = [self, other].map(|x| crate::any::base::operand::AnyOperand::from(x).kind());
        let dtype = crate::any::base::operand::promoted(op, [(kinds[0], self.dtype), (kinds[1], other.dtype)])?;
        let sizes: Vec<i64> = crate::any::elementwise::apply::broadcast_to(op, &self.sizes, &other.sizes)?
            .iter()
            .map(|&size| size as i64)
            .collect();
        if !dtype.is_floating_point() {
            return Err(refused(op, dtype));
        }
        // Floats are measured as they are.
        let measured = |x: &AnyTensor| if x.dtype.is_floating_point() { Ok(x.clone()) } else { x.to(dtype) };
        let (a, b) = (measured(self)?.expand(&sizes)?, measured(other)?.expand(&sizes)?);
        a.expect_memory()?;
        b.expect_memory()?;
        let unit = |x: &AnyTensor| x.over_norms(2.0, &[dim], eps);
        unit(&a)?.mul(unit(&b)?)?.sum(Some(&[dim]), false, None)
    }

    /// The mean and the variance of each channel, to a variance of `correction` fewer elements.
    fn of_channels(&self, op: &'static str, correction: f64) -> Result<[AnyTensor; 2]> {
        if self.rank() < 2 {
            return invalid(op, format!("at least two axes are wanted, got {}", self.rank()));
        }
        self.expect_memory()?;
        let others: Vec<i64> = (0..self.rank() as i64).filter(|&axis| axis != 1).collect();
        let (var, mean) = self.to(wide(self.dtype))?.var_mean(Some(&others), correction, false)?;
        Ok([mean, var])
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
        self.expect_float(op)?;
        let [mean, var] = self.of_channels(op, 0.0)?;
        if self.numel() == mean.numel() {
            return invalid(op, "a channel has one element, which has no variance".to_owned());
        }
        let kept = weight.or(bias).map_or(self.dtype, |given| given.dtype);
        let result = if self.dtype != DType::F64 && var.to(kept)?.have_overflowed()? {
            let wide = self.to(DType::F64)?;
            let [mean, var] = wide.of_channels(op, 0.0)?;
            let as_wide = |given: Option<&AnyTensor>| given.map(|given| given.to(DType::F64)).transpose();
            let (weight, bias) = (as_wide(weight)?, as_wide(bias)?);
            wide.batch_norm(&mean, &var, weight.as_ref(), bias.as_ref(), eps)?.to(self.dtype)?
        } else {
            self.batch_norm(&mean.to(kept)?, &var.to(kept)?, weight, bias, eps)?
        };
        if let Some(running) = running {
            let new = self.of_channels(op, 1.0)?;
            let mixed = |own: &AnyTensor, new: &AnyTensor| -> Result<AnyTensor> {
                own.mul(1.0 - momentum)?.add(new.to(wide(own.dtype))?.mul(momentum)?)?.to(own.dtype)
            };
            // Both are computed before one is written.
            let values = [mixed(running[0], &new[0])?, mixed(running[1], &new[1])?];
            for (own, value) in running.into_iter().zip(values) {
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
        let [mean, var] = x.of_channels("native_batch_norm", 0.0)?;
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
