//! Normalisation by name.

use super::named;
use crate::any::AnyTensor;
use crate::any::call::{Bound, NamedOp};
use crate::error::Result;

/// The mean and the variance of channels: the running ones, or in training those of the elements.
fn moments(args: &Bound<'_>, x: &AnyTensor) -> Result<[AnyTensor; 2]> {
    if !args.bool_or("training", false)? {
        return Ok([args.tensor("running_mean")?.clone(), args.tensor("running_var")?.clone()]);
    }
    x.expect_memory()?;
    let others: Vec<i64> = (0..x.rank() as i64).filter(|&axis| axis != 1).collect();
    Ok([x.mean(Some(&others), false, None)?, x.var(Some(&others), 0.0, false)?])
}

pub(super) const OPS: &[NamedOp] = named! {
    "nn.functional.layer_norm"("input", "normalized_shape", "weight", "bias", "eps") "floats" => |args| {
        let (weight, bias) = (args.tensor_or_none("weight")?, args.tensor_or_none("bias")?);
        let (sizes, eps) = (args.ints("normalized_shape")?, args.float_or("eps", 1e-5)?);
        Ok(args.tensor("input")?.layer_norm(&sizes, weight, bias, eps)?.into())
    };
    "nn.functional.rms_norm"("input", "normalized_shape", "weight", "eps") "floats and complex" => |args| {
        let (weight, sizes) = (args.tensor_or_none("weight")?, args.ints("normalized_shape")?);
        Ok(args.tensor("input")?.rms_norm(&sizes, weight, args.float_or_none("eps")?)?.into())
    };
    "nn.functional.normalize"("input", "p", "dim", "eps") "floats and complex" => |args| {
        let dims = args.ints_or_none("dim")?.unwrap_or_else(|| vec![1]);
        Ok(args.tensor("input")?.normalize(args.float_or("p", 2.0)?, &dims, args.float_or("eps", 1e-12)?)?.into())
    };
    "nn.functional.group_norm"("input", "num_groups", "weight", "bias", "eps") "floats" => |args| {
        let (weight, bias) = (args.tensor_or_none("weight")?, args.tensor_or_none("bias")?);
        let (groups, eps) = (args.int("num_groups")?, args.float_or("eps", 1e-5)?);
        Ok(args.tensor("input")?.group_norm(groups, weight, bias, eps)?.into())
    };
    "nn.functional.batch_norm"(
        "input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"
    ) "floats" => |args| {
        let (weight, bias) = (args.tensor_or_none("weight")?, args.tensor_or_none("bias")?);
        let x = args.tensor("input")?;
        let [mean, var] = moments(args, x)?;
        Ok(x.batch_norm(&mean, &var, weight, bias, args.float_or("eps", 1e-5)?)?.into())
    };
    "renorm"("input", "p", "dim", "maxnorm") "floats and complex" => |args| {
        let (p, maxnorm) = (args.scalar("p")?.real_part(), args.scalar("maxnorm")?.real_part());
        Ok(args.tensor("input")?.renorm(p, args.int("dim")?, maxnorm)?.into())
    };
    "nn.functional.glu"("input", "dim") "floats" => |args| {
        Ok(args.tensor("input")?.glu(args.int_or("dim", -1)?)?.into())
    };
};
