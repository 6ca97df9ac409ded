//! Integrals and derivatives of samples along an axis: `trapezoid`, `cumulative_trapezoid`, `gradient`.

use crate::any::base::by_width::signed;
use crate::any::base::dispatch::refused;
use crate::any::base::operand::AnyOperand;
use crate::any::call::Bound;
use crate::any::elementwise::binary::combine;
use crate::any::elementwise::op_table::binary;
use crate::any::scan::cumulative::end_to_end;
use crate::any::view::views::{axes, axis};
use crate::any::{AnyTensor, Value};
use crate::dtype::DType;
use crate::dtype::scalar::ScalarValue;
use crate::error::{Error, Result, invalid};
use castiron_macros::operations;

/// The spacing of samples: one distance, or the coordinate of each sample.
pub(crate) enum Steps<'a> {
    Even(ScalarValue),
    Places(&'a AnyTensor),
}

#[operations]
impl AnyTensor {
    /// Checks that the dtype is numeric and the axis exists.
    fn integrated(&self, op: &'static str, dim: i64, steps: &Steps<'_>) -> Result<usize> {
        let bools = |x: &AnyTensor| x.dtype == DType::Bool;
        if bools(self) || matches!(steps, Steps::Places(x) if bools(x)) {
            return Err(refused(op, DType::Bool));
        }
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axis to integrate along".to_owned());
        }
        axis(op, dim, self.rank())
    }

    /// The distances between coordinates, which are a list along the axis, or broadcast.
    fn distances(&self, op: &'static str, at: usize, y: &AnyTensor) -> Result<AnyTensor> {
        let mut sizes = vec![1; y.rank()];
        if self.rank() == 1 {
            if self.numel() != y.sizes[at] {
                let expected = format!("[{}]", y.sizes[at]);
                return Err(Error::Shape { op, expected, found: self.shape().into() });
            }
            sizes[at] = self.numel() as i64;
        } else {
            let Some(lead) = y.rank().checked_sub(self.rank()) else {
                return invalid(op, format!("places have {} axes, samples {}", self.rank(), y.rank()));
            };
            sizes[lead..].copy_from_slice(&signed(&self.sizes));
        }
        let places = self.reshape(&sizes)?;
        let rest = places.sizes[at] as i64 - 1;
        let Ok(rest) = usize::try_from(rest) else { return Ok(places) };
        places.narrow(at as i64, 1, rest)?.sub(&places.narrow(at as i64, 0, rest)?)
    }

    /// Sums of adjacent elements along an axis.
    fn neighbours(&self, at: usize) -> Result<AnyTensor> {
        let rest = self.sizes[at].saturating_sub(1);
        self.narrow(at as i64, (self.sizes[at] - rest) as i64, rest)?.add(&self.narrow(at as i64, 0, rest)?)
    }

    /// The integral along an axis by the trapezoidal rule.
    pub(crate) fn integral(&self, dim: i64, steps: &Steps<'_>) -> Result<AnyTensor> {
        let op = "trapezoid";
        if self.rank() > 0 && self.sizes[axis(op, dim, self.rank())?] == 0 {
            // The integral over an empty axis keeps the dtype.
            return self.any(Some(&[dim]), false)?.to(self.dtype);
        }
        let at = self.integrated(op, dim, steps)?;
        let dim = at as i64;
        match steps {
            Steps::Even(dx) => {
                let ends = self.select(dim, 0)?.add(&self.select(dim, -1)?)?;
                self.sum(Some(&[dim]), false, None)?.sub(ends.mul(0.5)?)?.mul(*dx)
            }
            Steps::Places(x) => {
                let areas = self.neighbours(at)?.mul(&x.distances(op, at, self)?)?;
                areas.sum(Some(&[dim]), false, None)?.div(2.0)
            }
        }
    }

    /// The cumulative integral along an axis.
    pub(crate) fn running_integral(&self, dim: i64, steps: &Steps<'_>) -> Result<AnyTensor> {
        let op = "cumulative_trapezoid";
        let at = self.integrated(op, dim, steps)?;
        let neighbours = self.neighbours(at)?;
        match steps {
            Steps::Even(dx) => {
                let half = AnyOperand::from(ScalarValue::Float(dx.real_part() / 2.0));
                neighbours.mul(half)?.cumsum(at as i64, None)
            }
            Steps::Places(x) => x.distances(op, at, self)?.mul(&neighbours)?.cumsum(at as i64, None)?.div(2.0),
        }
    }

    /// The integral along an axis by the trapezoidal rule (`torch.trapezoid`), with samples at a distance of `dx`.
    ///
    /// # Errors
    /// If the axis is out of range, or the tensor is zero-dim or `bool`.
    #[doc(alias = "trapz")]
    pub fn trapezoid(&self, dx: f64, dim: i64) -> Result<AnyTensor> {
        self.integral(dim, &Steps::Even(ScalarValue::Float(dx)))
    }

    /// [`trapezoid`](Self::trapezoid) with samples at coordinates `x`: a list along the axis, or a tensor that broadcasts.
    ///
    /// # Errors
    /// As there, or if sizes do not match.
    pub fn trapezoid_over(&self, x: &AnyTensor, dim: i64) -> Result<AnyTensor> {
        self.integral(dim, &Steps::Places(x))
    }

    /// The cumulative integral along an axis by the trapezoidal rule (`torch.cumulative_trapezoid`), with samples at a distance of `dx`.
    ///
    /// # Errors
    /// As [`trapezoid`](Self::trapezoid).
    pub fn cumulative_trapezoid(&self, dx: f64, dim: i64) -> Result<AnyTensor> {
        self.running_integral(dim, &Steps::Even(ScalarValue::Float(dx)))
    }

    /// [`cumulative_trapezoid`](Self::cumulative_trapezoid) with samples at coordinates `x`.
    ///
    /// # Errors
    /// As [`trapezoid_over`](Self::trapezoid_over).
    pub fn cumulative_trapezoid_over(&self, x: &AnyTensor, dim: i64) -> Result<AnyTensor> {
        self.running_integral(dim, &Steps::Places(x))
    }

    /// The derivative along an axis (`torch.gradient`): by central differences, and at the ends by one-sided differences of order 1 or 2.
    pub(crate) fn gradient_along(&self, dim: i64, steps: &Steps<'_>, edge_order: i64) -> Result<AnyTensor> {
        let op = "gradient";
        if self.dtype == DType::U8 {
            return Err(refused(op, self.dtype));
        }
        if !(1..=2).contains(&edge_order) {
            return invalid(op, format!("`edge_order` is 1 or 2, got {edge_order}"));
        }
        let at = axis(op, dim, self.rank())?;
        let (dim, len) = (at as i64, self.sizes.get(at).copied().unwrap_or(0) as i64);
        if len <= edge_order {
            return invalid(op, format!("axis {at} must have more than {edge_order} elements, got {len}"));
        }
        let from = |start: i64, len: i64| self.narrow(dim, start, len as usize);
        let one = |at: i64| from(if at < 0 { at + len } else { at }, 1);
        let sum = |terms: [(&AnyOperand, AnyTensor); 3]| {
            let [a, b, c] = terms.map(|(factor, x)| combine(binary::mul, factor, &x.into()));
            a?.add(b?)?.add(c?)
        };
        let [before, center, after] = match steps {
            Steps::Even(dx) => {
                let center = from(2, len - 2)?.sub(from(0, len - 2)?)?.div(*dx)?.div(2)?;
                let ends = if edge_order == 1 {
                    [one(1)?.sub(one(0)?)?, one(-1)?.sub(one(-2)?)?]
                } else {
                    let [a, b, c] = [1.5, -2.0, 0.5].map(|factor| AnyOperand::from(ScalarValue::Float(factor)));
                    let [na, nb, nc] = [-1.5, 2.0, -0.5].map(|factor| AnyOperand::from(ScalarValue::Float(factor)));
                    [
                        sum([(&na, one(0)?), (&nb, one(1)?), (&nc, one(2)?)])?,
                        sum([(&c, one(-3)?), (&b, one(-2)?), (&a, one(-1)?)])?,
                    ]
                };
                let [before, after] = ends.map(|end| end.div(*dx));
                [before?, center, after?]
            }
            Steps::Places(x) => {
                if x.rank() != 1 || x.numel() as i64 != len {
                    let expected = format!("[{len}]");
                    return Err(Error::Shape { op, expected, found: x.shape().into() });
                }
                let dx = x.diff(1, 0)?;
                let at_step = |at: i64| dx.select(0, at);
                // Second-order finite differences on uneven steps: factors of the elements before, at and after each position.
                let mut shape = vec![1; self.rank()];
                shape[at] = len - 2;
                let (d1, d2) = (dx.narrow(0, 0, (len - 2) as usize)?, dx.narrow(0, 1, (len - 2) as usize)?);
                let both = d1.add(&d2)?;
                let a = d2.neg()?.div(d1.mul(&both)?)?.reshape(&shape)?.into();
                let b = d2.sub(&d1)?.div(d1.mul(&d2)?)?.reshape(&shape)?.into();
                let c = d1.div(d2.mul(&both)?)?.reshape(&shape)?.into();
                let center = sum([(&a, from(0, len - 2)?), (&b, from(1, len - 2)?), (&c, from(2, len - 2)?)])?;
                if edge_order == 1 {
                    let before = one(1)?.sub(one(0)?)?.div(at_step(0)?)?;
                    [before, center, one(-1)?.sub(one(-2)?)?.div(at_step(-1)?)?]
                } else {
                    let (d1, d2) = (at_step(0)?, at_step(1)?);
                    let both = d1.add(&d2)?;
                    let a = d1.mul(2.0)?.add(&d2)?.neg()?.div(d1.mul(&both)?)?.into();
                    let b = both.div(d1.mul(&d2)?)?.into();
                    let c = d1.neg()?.div(d2.mul(&both)?)?.into();
                    let before = sum([(&a, one(0)?), (&b, one(1)?), (&c, one(2)?)])?;
                    let (d1, d2) = (at_step(-1)?, at_step(-2)?);
                    let both = d1.add(&d2)?;
                    let a = d1.div(d2.mul(&both)?)?.into();
                    let b = both.neg()?.div(d1.mul(&d2)?)?.into();
                    let c = d1.mul(2)?.add(&d2)?.div(d1.mul(&both)?)?.into();
                    [before, center, sum([(&a, one(-3)?), (&b, one(-2)?), (&c, one(-1)?)])?]
                }
            }
        };
        let dtype = center.dtype;
        end_to_end(op, &[&before.to(dtype)?, &center, &after.to(dtype)?], at)
    }

    /// The derivatives along axes, all if none are given (`torch.gradient`), with samples at a distance of `spacing`.
    ///
    /// # Errors
    /// If an axis is out of range, named twice or too short, `edge_order` is neither 1 nor 2, or the dtype is `uint8` or `bool`.
    pub fn gradient(&self, spacing: f64, dims: Option<&[i64]>, edge_order: i64) -> Result<Vec<AnyTensor>> {
        let named = match dims {
            Some(dims) => axes("gradient", dims, self.rank())?,
            None => (0..self.rank()).collect(),
        };
        let along = |at: usize| self.gradient_along(at as i64, &Steps::Even(ScalarValue::Float(spacing)), edge_order);
        named.into_iter().map(along).collect()
    }

    #[op(trapezoid(y, x, dx, dim), dtypes = numeric, aliases("trapz"))]
    fn trapezoid_by_name(args: &Bound<'_>) -> Result<Value> {
        let (steps, dim) = read_steps(args)?;
        args.tensor("y")?.integral(dim, &steps).map(Value::Array)
    }

    #[op(cumulative_trapezoid(y, x, dx, dim), dtypes = numeric)]
    fn cumulative_trapezoid_by_name(args: &Bound<'_>) -> Result<Value> {
        let (steps, dim) = read_steps(args)?;
        args.tensor("y")?.running_integral(dim, &steps).map(Value::Array)
    }

    /// By name, one distance for all axes, or a distance or coordinates for each.
    #[op(gradient(input, spacing, dim, edge_order), dtypes = "all computing dtypes but bool and uint8")]
    fn gradient_by_name(args: &Bound<'_>) -> Result<Value> {
        let x = args.tensor("input")?;
        let dims = match args.read::<Option<Vec<i64>>>("dim")? {
            Some(dims) => axes(args.op, &dims, x.rank())?,
            None => (0..x.rank()).collect(),
        };
        let spacing = match args.get("spacing") {
            Some(Value::List(spacing)) if spacing.len() != dims.len() => {
                return invalid(args.op, format!("{} spacings are given for {} axes", spacing.len(), dims.len()));
            }
            Some(Value::List(spacing)) => spacing.iter().collect(),
            Some(one) => vec![one; dims.len()],
            None => vec![&Value::Number(ScalarValue::Int(1)); dims.len()],
        };
        let edge_order = args.read_or("edge_order", || 1_i64)?;
        let along = |(&at, spacing): (&usize, &Value)| {
            let steps = match spacing {
                Value::Number(dx) => Steps::Even(*dx),
                Value::Array(places) => Steps::Places(places),
                other => return Err(args.wrong("spacing", "scalars or tensors", other)),
            };
            x.gradient_along(at as i64, &steps, edge_order).map(Value::Array)
        };
        dims.iter().zip(spacing).map(along).collect::<Result<_>>().map(Value::List)
    }
}

/// The coordinates `x` of samples, or their distance `dx`, and the axis.
fn read_steps<'a>(args: &Bound<'a>) -> Result<(Steps<'a>, i64)> {
    let steps = match args.read("x")? {
        Some(x) => Steps::Places(x),
        None => Steps::Even(args.read_or("dx", || ScalarValue::Int(1))?),
    };
    Ok((steps, args.read_or("dim", || -1)?))
}
