//! Norms of matrices, and norms by name, where the order may be a string.

use crate::any::call::Bound;
use crate::any::view::views::axes;
use crate::any::{AnyTensor, Value};
use crate::dtype::DType;
use crate::error::{Error, Result};
use castiron_macros::operations;

/// The order of a norm: a number or a name.
enum Order {
    None,
    Frobenius,
    Nuclear,
    Number(f64),
}

fn order(args: &Bound<'_>, name: &str) -> Result<Order> {
    match args.get(name) {
        None => Ok(Order::None),
        Some(Value::Str(text)) => match text.as_str() {
            "fro" => Ok(Order::Frobenius),
            "nuc" => Ok(Order::Nuclear),
            "inf" => Ok(Order::Number(f64::INFINITY)),
            "-inf" => Ok(Order::Number(f64::NEG_INFINITY)),
            other => {
                let reason = format!("order {other:?} is not supported");
                Err(Error::InvalidArgument { op: args.op, reason })
            }
        },
        Some(_) => args.read(name).map(Order::Number),
    }
}

/// The operand in the dtype of the norm.
fn measured(args: &Bound<'_>) -> Result<AnyTensor> {
    args.tensor("input")?.measured_in(args.op, args.read("dtype")?)
}

/// A norm of matrices.
fn matrix_norm(args: &Bound<'_>, x: &AnyTensor, order: Order, dims: &[i64], keepdim: bool) -> Result<AnyTensor> {
    let &[a, b] = dims else {
        let reason = format!("the norm of a matrix is over two axes, got {dims:?}");
        return Err(Error::InvalidArgument { op: args.op, reason });
    };
    match order {
        Order::None | Order::Frobenius => x.vector_norm(2.0, Some(&[a, b]), keepdim),
        Order::Nuclear => x.nuclear_norm([a, b], keepdim),
        Order::Number(order) => x.matrix_norm(order, [a, b], keepdim),
    }
}

#[operations]
impl AnyTensor {
    /// The operand in the dtype of a norm: of the same kind, and no narrower.
    pub(crate) fn measured_in(&self, op: &'static str, dtype: Option<DType>) -> Result<AnyTensor> {
        let Some(dtype) = dtype else { return Ok(self.clone()) };
        let is_inexact = |dtype: DType| dtype.is_floating_point() || dtype.is_complex();
        let is_wider = self.dtype.promote(dtype) == Some(dtype);
        if !is_inexact(self.dtype) || self.dtype.is_complex() != dtype.is_complex() || !is_wider {
            let reason =
                format!("it is not measured in {dtype}: a float or a complex dtype, no narrower, of the same kind");
            return Err(Error::NotAdmitted { op, dtype: self.dtype, reason });
        }
        self.to(dtype)
    }

    /// Norms of matrices by sums of absolute values (`torch.linalg.matrix_norm`): the largest (`ord` 1 or infinity) or smallest (negative
    /// `ord`) sum; `ord` 1 sums columns, infinity rows.
    ///
    /// # Errors
    /// If the axes are out of range or the same, the dtype is neither floating-point nor complex, or the order is another one: 2 and -2,
    /// the largest and the smallest singular value, need the feature `linalg`.
    pub fn matrix_norm(&self, ord: f64, dims: [i64; 2], keepdim: bool) -> Result<AnyTensor> {
        let op = "matrix_norm";
        if self.rank() < 2 {
            let reason = format!("matrices are wanted, got a tensor with {} axes", self.rank());
            return Err(Error::InvalidArgument { op, reason });
        }
        let both = axes(op, &dims, self.rank())?;
        let (added, chosen) = match ord.abs() {
            1.0 => (both[0], both[1]),
            f64::INFINITY => (both[1], both[0]),
            #[cfg(feature = "linalg")]
            2.0 => {
                use crate::composite::decompose::norm::Norm;
                return self.norm_by_singular_values(if ord > 0.0 { Norm::Two } else { Norm::MinusTwo }, dims, keepdim);
            }
            _ => {
                let reason = format!("order {ord} is none of 1, -1, inf and -inf (2 and -2 take the feature `linalg`)");
                return Err(Error::InvalidArgument { op, reason });
            }
        };
        let sums = self.vector_norm(1.0, Some(&[added as i64]), true)?;
        if ord > 0.0 && sums.sizes[chosen] == 0 {
            // The norm of an empty matrix is 0.
            return self.vector_norm(2.0, Some(&dims), keepdim);
        }
        let chosen = [chosen as i64];
        let extreme = if ord > 0.0 { sums.amax(Some(&chosen), true)? } else { sums.amin(Some(&chosen), true)? };
        if keepdim { Ok(extreme) } else { extreme.squeeze(Some(&[both[0] as i64, both[1] as i64])) }
    }

    /// The sum of singular values of matrices (`torch.linalg.matrix_norm` of the order `"nuc"`). It needs the feature `linalg`.
    fn nuclear_norm(&self, dims: [i64; 2], keepdim: bool) -> Result<AnyTensor> {
        #[cfg(feature = "linalg")]
        return self.norm_by_singular_values(crate::composite::decompose::norm::Norm::Nuclear, dims, keepdim);
        #[cfg(not(feature = "linalg"))]
        {
            let _ = (dims, keepdim);
            let reason = "order \"nuc\" takes singular values: the feature `linalg`".to_owned();
            Err(Error::InvalidArgument { op: "matrix_norm", reason })
        }
    }

    #[op(norm(input, p, dim, keepdim, out, dtype), dtypes = inexact)]
    fn norm_by_name(args: &Bound<'_>) -> Result<Value> {
        let ord = match order(args, "p")? {
            Order::None | Order::Frobenius => 2.0,
            Order::Nuclear => {
                let x = measured(args)?;
                let dims = args.read_or("dim", || vec![0, 1])?;
                let &[a, b] = &dims[..] else {
                    return args.refused(format!("the nuclear norm is over two axes, got {dims:?}"));
                };
                return Ok(x.nuclear_norm([a, b], args.read_or("keepdim", || false)?)?.into());
            }
            Order::Number(ord) => ord,
        };
        vector_norm(args, ord)
    }

    #[op(linalg.vector_norm(input, ord, dim, keepdim, dtype), dtypes = inexact)]
    fn vector_norm_by_name(args: &Bound<'_>) -> Result<Value> {
        vector_norm(args, args.read_or("ord", || 2.0)?)
    }

    #[op(linalg.matrix_norm(input, ord, dim, keepdim, dtype), dtypes = inexact)]
    fn matrix_norm_by_name(args: &Bound<'_>) -> Result<Value> {
        let dims = args.read_or("dim", || vec![-2, -1])?;
        let x = measured(args)?;
        Ok(matrix_norm(args, &x, order(args, "ord")?, &dims, args.read_or("keepdim", || false)?)?.into())
    }

    /// The norm of a vector or of a matrix, by the number of axes.
    #[op(linalg.norm(input, ord, dim, keepdim, dtype), dtypes = inexact)]
    fn norm_of_either(args: &Bound<'_>) -> Result<Value> {
        let (x, keepdim, dims) =
            (measured(args)?, args.read_or("keepdim", || false)?, args.read::<Option<Vec<i64>>>("dim")?);
        let order = order(args, "ord")?;
        let all: Vec<i64> = (0..x.rank() as i64).collect();
        let dims = match (dims, &order) {
            (None, Order::None) => return x.vector_norm(2.0, None, keepdim).map(Value::Array),
            (None, _) => all,
            (Some(dims), _) => dims,
        };
        match (dims.len(), order) {
            (1, Order::None) => x.vector_norm(2.0, Some(&dims), keepdim).map(Value::Array),
            (1, Order::Number(order)) => x.vector_norm(order, Some(&dims), keepdim).map(Value::Array),
            (_, order) => matrix_norm(args, &x, order, &dims, keepdim).map(Value::Array),
        }
    }
}

/// A vector norm of the operand.
fn vector_norm(args: &Bound<'_>, ord: f64) -> Result<Value> {
    let dims: Option<Vec<i64>> = args.read("dim")?;
    Ok(measured(args)?.vector_norm(ord, dims.as_deref(), args.read_or("keepdim", || false)?)?.into())
}
