//! What is done along one axis, by name.
//! Uses `scan::cumulative`, `view::views`, `base::dispatch`.

use super::named;
use crate::any::AnyTensor;
use crate::any::call::{NamedOp, Value};
use crate::any::scan::cumulative::end_to_end;
use crate::error::{Error, Result};

pub(super) const OPS: &[NamedOp] = named! {
    "cumsum"("input", "dim", "dtype") "all computing dtypes" { output(Computes) } => |args| {
        Ok(args.tensor("input")?.cumsum(args.int("dim")?, args.dtype_or_none("dtype")?)?.into())
    };
    "cumprod"("input", "dim", "dtype") "all computing dtypes" { output(Computes) } => |args| {
        Ok(args.tensor("input")?.cumprod(args.int("dim")?, args.dtype_or_none("dtype")?)?.into())
    };
    "cummax"("input", "dim") "bool, integers and floats" => |args| Ok(args.tensor("input")?.cummax(args.int("dim")?)?.into());
    "cummin"("input", "dim") "bool, integers and floats" => |args| Ok(args.tensor("input")?.cummin(args.int("dim")?)?.into());
    "logcumsumexp"("input", "dim") "floats and complex" => |args| {
        Ok(args.tensor("input")?.logcumsumexp(args.int("dim")?)?.into())
    };
    "softmax"("input", "dim", "dtype") "floats" { aliases(&["special.softmax", "nn.functional.softmax"]) } => |args| {
        Ok(args.tensor("input")?.softmax(args.int("dim")?, args.dtype_or_none("dtype")?)?.into())
    };
    "log_softmax"("input", "dim", "dtype") "floats" { aliases(&["nn.functional.log_softmax", "special.log_softmax"]) } => |args| {
        Ok(args.tensor("input")?.log_softmax(args.int("dim")?, args.dtype_or_none("dtype")?)?.into())
    };
    "nn.functional.softmin"("input", "dim", "dtype") "floats" => |args| {
        Ok(args.tensor("input")?.neg()?.softmax(args.int("dim")?, args.dtype_or_none("dtype")?)?.into())
    };
    "diff"("input", "n", "dim", "prepend", "append") "all computing dtypes" => |args| {
        let (x, n, dim) = (args.tensor("input")?, args.int_or("n", 1)?, args.int_or("dim", -1)?);
        let n = usize::try_from(n).map_err(|_| Error::InvalidArgument {
            op: "diff",
            reason: format!("argument `n` must not be negative, got {n}"),
        })?;
        let (before, after) = (args.tensor_or_none("prepend")?, args.tensor_or_none("append")?);
        let pieces: Vec<&AnyTensor> = [before, Some(x), after].into_iter().flatten().collect();
        if pieces.len() == 1 || n == 0 || x.rank() == 0 {
            return x.diff(n, dim).map(Value::Array);
        }
        let mut dtype = x.dtype();
        for piece in &pieces {
            if piece.rank() != x.rank() {
                let (axes, found) = (x.rank(), piece.shape());
                let reason = format!("`prepend` and `append` must have {axes} axes, as the input, got shape {found:?}");
                return Err(Error::InvalidArgument { op: "diff", reason });
            }
            dtype = dtype.promote(piece.dtype()).ok_or_else(|| crate::any::base::dispatch::refused("diff", piece.dtype()))?;
        }
        let pieces = pieces.into_iter().map(|piece| piece.to(dtype)).collect::<Result<Vec<_>>>()?;
        let at = crate::any::view::views::axis("diff", dim, x.rank())?;
        Ok(end_to_end("diff", &pieces.iter().collect::<Vec<_>>(), at)?.diff(n, dim)?.into())
    };
};
