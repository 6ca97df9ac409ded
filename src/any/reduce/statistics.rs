//! Distances, statistics of samples, integrals and derivatives along axes, and closeness.

use crate::any::base::as_typed::on_device;
use crate::any::base::dispatch::{among, refused};
use crate::any::base::operand::AnyOperand;
use crate::any::elementwise::apply::{broadcast_to, combine, same_device};
use crate::any::elementwise::op_table::binary;
use crate::any::scan::cumulative::end_to_end;
use crate::any::view::views::{axes, axis};
use crate::any::{AnyTensor, IntoSizes};
use crate::axis;
use crate::dtype::scalar::ScalarValue;
use crate::dtype::{Category, DType};
use crate::error::{Error, Result, invalid, room};

fn is_integer(dtype: DType) -> bool {
    dtype.category() == Category::Integral && !dtype.is_shell()
}

fn signed(sizes: &[usize]) -> Vec<i64> {
    sizes.iter().map(|&size| size as i64).collect()
}

/// What is between samples: all one distance, or for each sample its place.
pub(crate) enum Steps<'a> {
    Even(ScalarValue),
    Places(&'a AnyTensor),
}

impl AnyTensor {
    /// One dtype and one device.
    fn expect_alike(&self, op: &'static str, other: &AnyTensor) -> Result<()> {
        same_device(op, self, other)?;
        if self.dtype == other.dtype {
            return Ok(());
        }
        invalid(op, format!("both tensors must hold one dtype, got {} and {}", self.dtype, other.dtype))
    }

    /// The `p`-norm of the difference (`torch.dist`).
    ///
    /// # Errors
    /// If shapes do not broadcast, or the difference is neither floating-point nor complex.
    pub fn dist(&self, other: &AnyTensor, p: f64) -> Result<AnyTensor> {
        self.sub(other)?.vector_norm(p, None, false)
    }

    /// The `p`-norms of the differences between every row of matrices and every row of others (`torch.cdist`); leading axes broadcast.
    ///
    /// # Errors
    /// If shapes do not match, dtypes differ or are no floats, or `p` is negative.
    pub fn cdist(&self, other: &AnyTensor, p: f64) -> Result<AnyTensor> {
        let op = "cdist";
        self.expect_alike(op, other)?;
        let (Some((a_lead, &[m, k])), Some((b_lead, &[n, k2]))) =
            (self.sizes.split_last_chunk::<2>(), other.sizes.split_last_chunk::<2>())
        else {
            return invalid(op, "both tensors must be matrices, or batches of them".to_owned());
        };
        let lead = signed(&broadcast_to(op, a_lead, b_lead)?);
        let batch: i64 = lead.iter().product();
        let cube = |x: &AnyTensor, rows: usize, columns: usize| {
            let (rows, columns) = (rows as i64, columns as i64);
            x.expand(&[&lead[..], &[rows, columns]].concat())?.shaped(&[batch, rows, columns])
        };
        let (a, b) = (cube(self, m, k)?, cube(other, n, k2)?);
        let distances = on_device!(self, D => among!(op, self.dtype, E: Float => {
            a.cube::<E, D>()?.try_cdist(&b.cube::<E, D>()?, p).map(AnyTensor::from)
        }))?;
        distances.shaped(&[&lead[..], &[m as i64, n as i64]].concat())
    }

    /// Covariances of variables, each a row of observations, which may count several times or weigh differently (`torch.cov`).
    ///
    /// # Errors
    /// If there are more than two axes, the dtype is `bool`, or weights are no lists as long as there are observations.
    pub fn cov(&self, correction: i64, counts: Option<&AnyTensor>, weights: Option<&AnyTensor>) -> Result<AnyTensor> {
        let op = "cov";
        if self.rank() > 2 {
            return invalid(op, format!("a matrix is wanted, got a tensor with {} axes", self.rank()));
        }
        if self.dtype == DType::Bool {
            return Err(refused(op, self.dtype));
        }
        let x = if self.rank() < 2 { self.shaped(&[1, self.numel() as i64])? } else { self.clone() };
        let observations = x.sizes[1];
        for weight in [counts, weights].into_iter().flatten() {
            if weight.rank() > 1 || weight.numel() != observations {
                let expected = format!("[{observations}]");
                return Err(Error::Shape { op, expected, found: weight.shape().into() });
            }
        }
        if let Some(counts) = counts
            && !is_integer(counts.dtype)
        {
            return Err(refused(op, counts.dtype));
        }
        if let Some(weights) = weights
            && (!weights.dtype.is_floating_point() || weights.dtype.is_shell())
        {
            return Err(refused(op, weights.dtype));
        }
        let w = match (counts, weights) {
            (Some(counts), Some(weights)) => Some(counts.mul(weights)?),
            (one, other) => one.or(other).cloned(),
        };
        x.expect_room()?;
        let result = crate::any::checked_numel(op, &[x.sizes[0]; 2], x.dtype)?;
        room::<u8>(result.saturating_mul(x.dtype.itemsize()))?;
        let weighted = |x: &AnyTensor| w.as_ref().map_or_else(|| Ok(x.clone()), |w| x.mul(w));
        let total: AnyOperand = match &w {
            Some(w) => w.sum(None, false, None)?.into(),
            None => ScalarValue::Int(observations as i128).into(),
        };
        let means = weighted(&x)?.sum(Some(&[1]), true, None)?.div(total.clone())?;
        let norm: AnyOperand = match (&w, weights) {
            (None, _) => {
                let left = (observations as i128 - i128::from(correction)).max(0);
                AnyTensor::scalar_of(op, ScalarValue::Int(left), DType::I64)?.into()
            }
            (Some(w), Some(weights)) if correction != 0 => {
                let sum = w.sum(None, false, None)?;
                let squares = w.mul(weights)?.sum(None, false, None)?.mul(correction)?.div(&sum)?;
                sum.sub(squares)?.clamp_min(0)?.into()
            }
            (Some(w), _) => w.sum(None, false, None)?.sub(correction)?.clamp_min(0)?.into(),
        };
        let centered = x.sub(&means)?;
        let other = weighted(&centered)?.t()?.conj()?;
        let (dtype, centered) = (other.dtype, centered.to(other.dtype)?);
        let products = on_device!(self, D => among!(op, dtype, E: Inexact => {
            centered.matrix::<E, D>()?.try_matmul(&other.matrix::<E, D>()?).map(AnyTensor::from)
        }))?;
        products.div(norm)?.squeeze(None)
    }

    /// Correlation coefficients of variables, each a row of observations (`torch.corrcoef`).
    ///
    /// # Errors
    /// As [`cov`](Self::cov).
    pub fn corrcoef(&self) -> Result<AnyTensor> {
        let c = self.cov(1, None, None)?;
        if c.rank() == 0 {
            return c.div(&c);
        }
        let deviations = c.diagonal(0, 0, 1)?.real()?.sqrt()?;
        let n = deviations.numel() as i64;
        let c = c.div(&deviations.reshape(&[n, 1])?)?.div(&deviations.reshape(&[1, n])?)?;
        let clip = |x: &AnyTensor| x.clamp_min(-1)?.clamp_max(1);
        if c.dtype.is_complex() { clip(&c.resolved()?.view_as_real()?)?.view_as_complex() } else { clip(&c) }
    }

    /// The cross product along an axis of size 3 (`torch.linalg.cross`, where the axis is the last if not given); other axes broadcast.
    ///
    /// # Errors
    /// If there are not as many axes in both, sizes do not match, dtypes differ or are `bool`.
    pub fn cross(&self, other: &AnyTensor, dim: i64) -> Result<AnyTensor> {
        let op = "cross";
        self.expect_alike(op, other)?;
        if self.rank() != other.rank() {
            return invalid(
                op,
                format!("both tensors must have as many axes, got {} and {}", self.rank(), other.rank()),
            );
        }
        let at = axis(op, dim, self.rank())?;
        let size = |x: &AnyTensor| x.sizes.get(at).copied();
        if size(self) != Some(3) || size(other) != Some(3) {
            let (a, b) = (self.shape(), other.shape());
            return invalid(op, format!("axis {at} must have size 3 in both tensors, got shapes {a:?} and {b:?}"));
        }
        let sizes = signed(&broadcast_to(op, &self.sizes, &other.sizes)?);
        let (a, b) = (self.expand(&sizes)?, other.expand(&sizes)?);
        let (left, right) = (a.around(at)?, b.around(at)?);
        let product = on_device!(self, D => among!(op, self.dtype, E: Numeric => {
            left.cube::<E, D>()?.try_cross(&right.cube::<E, D>()?, axis![1]).map(AnyTensor::from)
        }))?;
        a.back(at, product)
    }

    /// How often each number from 0 up occurs, or what its occurrences weigh (`torch.bincount`).
    ///
    /// # Errors
    /// If the tensor is no list, its dtype no integer, a number negative, or weights are not as many.
    pub fn bincount(&self, weights: Option<&AnyTensor>, minlength: usize) -> Result<AnyTensor> {
        let op = "bincount";
        if !is_integer(self.dtype) {
            return Err(refused(op, self.dtype));
        }
        if self.rank() != 1 {
            return invalid(op, format!("a list is wanted, got a tensor with {} axes", self.rank()));
        }
        let list = self.to(DType::I64)?;
        let Some(weights) = weights else {
            return on_device!(self, D => list.list::<i64, D>()?.try_bincount(minlength).map(AnyTensor::from));
        };
        same_device(op, self, weights)?;
        if weights.shape() != self.shape() {
            let expected = format!("{:?}", self.shape());
            return Err(Error::Shape { op, expected, found: weights.shape().into() });
        }
        // All but `float32` are added up in `float64`.
        let weights = if weights.dtype == DType::F32 { weights.clone() } else { weights.to(DType::F64)? };
        on_device!(self, D => among!(op, weights.dtype, E: [f32, f64] => {
            let list = list.list::<i64, D>()?;
            list.try_bincount_weighted(&weights.list::<E, D>()?, minlength).map(AnyTensor::from)
        }))
    }

    /// How many elements fall into each of equal parts of a range (`torch.histc`), which is that of the elements where `min` and
    /// `max` are equal.
    ///
    /// # Errors
    /// If the dtype is no float, there are no bins or the range is not finite or reversed.
    pub fn histc(&self, bins: usize, min: f64, max: f64) -> Result<AnyTensor> {
        on_device!(self, D => among!("histc", self.dtype, E: Float => {
            if self.is_meta() && bins > 0 {
                return AnyTensor::meta(&[bins], self.dtype);
            }
            self.list::<E, D>()?.try_histc(bins, min, max).map(AnyTensor::from)
        }))
    }

    /// Whether elements differ by no more than `atol + rtol * abs(other)` (`torch.isclose`).
    ///
    /// # Errors
    /// If shapes do not broadcast, dtypes differ, or a tolerance is negative.
    pub fn isclose(&self, other: &AnyTensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<AnyTensor> {
        let op = "isclose";
        self.expect_alike(op, other)?;
        if rtol < 0.0 || atol < 0.0 {
            return invalid(op, format!("tolerances must not be negative, got rtol {rtol} and atol {atol}"));
        }
        let sizes = signed(&broadcast_to(op, &self.sizes, &other.sizes)?);
        let (a, b) = (self.expand(&sizes)?, other.expand(&sizes)?);
        let close = on_device!(self, D => among!(op, self.dtype, E: Dtype => {
            a.list::<E, D>()?.try_isclose(&b.list::<E, D>()?, rtol, atol, equal_nan).map(AnyTensor::from)
        }))?;
        close.shaped(&sizes)
    }

    /// Whether all elements are [close](Self::isclose) (`torch.allclose`).
    ///
    /// # Errors
    /// As there, or if there are no data.
    pub fn allclose(&self, other: &AnyTensor, rtol: f64, atol: f64, equal_nan: bool) -> Result<bool> {
        self.isclose(other, rtol, atol, equal_nan)?.all(None, false)?.is_true()
    }

    /// Whether shapes and all elements are equal (`torch.equal`); dtypes promote.
    ///
    /// # Errors
    /// If the dtypes do not promote, or there are no data.
    pub fn equal(&self, other: &AnyTensor) -> Result<bool> {
        if self.shape() != other.shape() {
            return Ok(false);
        }
        self.eq(other)?.all(None, false)?.is_true()
    }

    fn is_true(&self) -> Result<bool> {
        Ok(self.item()? == ScalarValue::Bool(true))
    }

    /// The halves of numbers in binary: mantissas from a half to one, and exponents (`torch.frexp`).
    ///
    /// # Errors
    /// If the dtype is no float.
    pub fn frexp(&self) -> Result<(AnyTensor, AnyTensor)> {
        let sizes = signed(&self.sizes);
        let (mantissas, exponents) = on_device!(self, D => among!("frexp", self.dtype, E: Float => {
            let (mantissas, exponents) = self.list::<E, D>()?.try_frexp()?;
            Ok((AnyTensor::from(mantissas), AnyTensor::from(exponents)))
        }))?;
        Ok((mantissas.shaped(&sizes)?, exponents.shaped(&sizes)?))
    }

    /// Positions in the row-major order of a shape as positions along each of its axes (`torch.unravel_index`).
    ///
    /// # Errors
    /// If the dtype is no integer, or a size is negative.
    pub fn unravel_index(&self, sizes: impl IntoSizes) -> Result<Vec<AnyTensor>> {
        let op = "unravel_index";
        let sizes = &*sizes.signed();
        if !is_integer(self.dtype) {
            return Err(refused(op, self.dtype));
        }
        if sizes.iter().any(|&size| size < 0) {
            return invalid(op, format!("sizes must not be negative, got {sizes:?}"));
        }
        let x = self.to(DType::I64)?;
        let along = |at: usize| {
            let step = sizes[at + 1..].iter().try_fold(1_i64, |product, &size| product.checked_mul(size));
            let Some(step) = step else { return invalid(op, format!("the sizes {sizes:?} are too large")) };
            x.floor_divide(step)?.remainder(sizes[at])
        };
        (0..sizes.len()).map(along).collect()
    }

    /// Numbers, and an axis that there is.
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

    /// The distances between places, which are a list along the axis, or broadcast.
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

    /// Sums of neighbours along an axis.
    fn neighbours(&self, at: usize) -> Result<AnyTensor> {
        let rest = self.sizes[at].saturating_sub(1);
        self.narrow(at as i64, (self.sizes[at] - rest) as i64, rest)?.add(&self.narrow(at as i64, 0, rest)?)
    }

    /// The integral along an axis by the trapezoidal rule.
    pub(crate) fn integral(&self, dim: i64, steps: &Steps<'_>) -> Result<AnyTensor> {
        let op = "trapezoid";
        if self.rank() > 0 && self.sizes[axis(op, dim, self.rank())?] == 0 {
            // The integral of nothing keeps the dtype.
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

    /// The running integral along an axis.
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

    /// The integral along an axis by the trapezoidal rule (`torch.trapezoid`), the samples being `dx` apart.
    ///
    /// # Errors
    /// If the axis is out of range, the tensor zero-dim or of `bool`.
    pub fn trapezoid(&self, dx: f64, dim: i64) -> Result<AnyTensor> {
        self.integral(dim, &Steps::Even(ScalarValue::Float(dx)))
    }

    /// The same, the samples being at places: a list along the axis, or a tensor that broadcasts.
    ///
    /// # Errors
    /// As there, or if sizes do not match.
    pub fn trapezoid_over(&self, x: &AnyTensor, dim: i64) -> Result<AnyTensor> {
        self.integral(dim, &Steps::Places(x))
    }

    /// The running integral along an axis by the trapezoidal rule (`torch.cumulative_trapezoid`), the samples being `dx` apart.
    ///
    /// # Errors
    /// As [`trapezoid`](Self::trapezoid).
    pub fn cumulative_trapezoid(&self, dx: f64, dim: i64) -> Result<AnyTensor> {
        self.running_integral(dim, &Steps::Even(ScalarValue::Float(dx)))
    }

    /// The same, the samples being at places.
    ///
    /// # Errors
    /// As [`trapezoid_over`](Self::trapezoid_over).
    pub fn cumulative_trapezoid_over(&self, x: &AnyTensor, dim: i64) -> Result<AnyTensor> {
        self.running_integral(dim, &Steps::Places(x))
    }

    /// The derivative along an axis (`torch.gradient`): by neighbours on both sides, and at the ends by one or two on one side.
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
                // The factors of the elements before, at and after a place, from the steps on both sides of it.
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

    /// The derivatives along axes, all if none are named (`torch.gradient`), the samples being `spacing` apart.
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
}
