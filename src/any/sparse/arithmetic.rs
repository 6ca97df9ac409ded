//! Sums, products, quotients and functions of sparse tensors, by the typed operations on flattened axes.

use super::AnySparse;
use crate::any::base::by_width::signed;
use crate::any::base::dispatch::{dispatch_dtype, refused};
use crate::any::base::operand::same_device;
use crate::any::{AnyOperand, AnyTensor};
use crate::dtype::{Scalar, promote_types};
use crate::error::{Error, Result, filled, invalid};
use crate::ops::rules::admit::Admits;
use crate::shape::Dyn;
use crate::sparse::expect_same;
use crate::tensor::Tensor;

impl AnySparse {
    /// `F(self, other)` of two sparse tensors, both converted to the dtype they promote to.
    fn beside(
        &self,
        op: &'static str,
        admits: Admits,
        other: &AnySparse,
        run: impl FnOnce(AnySparse, AnySparse) -> Result<AnySparse>,
    ) -> Result<AnySparse> {
        expect_same(op, &self.sizes, &other.sizes)?;
        if self.dense != other.dense {
            return invalid(op, format!("one tensor has {} dense axes, the other {}", self.dense, other.dense));
        }
        for x in [self, other] {
            if !admits.one(x.dtype()) {
                return Err(refused(op, x.dtype()));
            }
        }
        let dtype = promote_types(self.dtype(), other.dtype())?;
        same_device(op, &self.values, &other.values)?;
        run(self.to(dtype)?, other.to(dtype)?)
    }

    /// The sum of two sparse tensors of one shape (`torch.add`). Dtypes promote; bools have none.
    ///
    /// # Errors
    /// If shapes differ or dtypes do not admit it.
    pub fn add(&self, other: &AnySparse) -> Result<AnySparse> {
        self.beside("add", Admits::any, other, |a, b| {
            if a.is_on_gpu() {
                return a.sum_there("add", &b);
            }
            dispatch_dtype!("add", a.dtype(), E: Numeric => {
                Ok(AnySparse::of(a.flat::<E>()?.try_add(&b.flat::<E>()?)?, a.sizes, a.dense))
            })
        })
    }

    /// The difference of two sparse tensors of one shape (`torch.sub`).
    ///
    /// # Errors
    /// If shapes differ or dtypes do not admit it.
    pub fn sub(&self, other: &AnySparse) -> Result<AnySparse> {
        self.beside("sub", Admits::numeric, other, |a, b| {
            if a.is_on_gpu() {
                return a.sum_there("sub", &b.neg()?);
            }
            dispatch_dtype!("sub", a.dtype(), E: Numeric => {
                Ok(AnySparse::of(a.flat::<E>()?.try_sub(&b.flat::<E>()?)?, a.sizes, a.dense))
            })
        })
    }

    /// The product of two sparse tensors of one shape, element by element (`torch.mul`).
    ///
    /// # Errors
    /// If shapes differ or dtypes do not admit it.
    pub fn mul(&self, other: &AnySparse) -> Result<AnySparse> {
        if other.rank() == 0 && self.rank() > 0 {
            return self.mul_dense(&other.to_dense()?);
        }
        self.beside("mul", Admits::any, other, |a, b| {
            if a.is_on_gpu() {
                return a.product_there(&b);
            }
            dispatch_dtype!("mul", a.dtype(), E: Numeric => {
                Ok(AnySparse::of(a.flat::<E>()?.try_mul(&b.flat::<E>()?)?, a.sizes, a.dense))
            })
        })
    }

    /// The sum of a sparse and a strided tensor of one shape, which is strided (`torch.add(other, self)`). Dtypes promote.
    ///
    /// # Errors
    /// If shapes or devices differ, or a dtype does not compute.
    pub fn add_dense(&self, other: &AnyTensor) -> Result<AnyTensor> {
        let op = "add";
        same_device(op, &self.values, other)?;
        expect_same(op, &self.sizes, other.shape())?;
        if let Some(shell) = [self.dtype(), other.dtype()].into_iter().find(|dtype| dtype.is_shell()) {
            return Err(refused(op, shell));
        }
        let dtype = promote_types(self.dtype(), other.dtype())?;
        let (sparse, dense) = (self.to(dtype)?, other.to(dtype)?);
        if self.is_on_gpu() {
            return sparse.added_to_there(&dense);
        }
        dispatch_dtype!(op, dtype, E: Dtype => {
            let flat = sparse.flat::<E>()?;
            let dense: Tensor<E, (Dyn, Dyn)> = dense.reshape(&signed(&flat.shape()))?.typed()?;
            AnyTensor::from(flat.try_add(&dense)?).reshape(&signed(&self.sizes))
        })
    }

    /// The product with a strided tensor that broadcasts to `self`, or a scalar (`torch.mul`). Dtypes promote.
    ///
    /// # Errors
    /// If the tensor does not broadcast to `self`, devices differ, a dtype does not compute, or the scalar does not fit.
    pub fn mul_dense(&self, other: impl Into<AnyOperand>) -> Result<AnySparse> {
        let op = "mul";
        let other = match other.into() {
            AnyOperand::Array(other) => other,
            number => return Ok(self.with_values(self.values.mul(number)?)),
        };
        same_device(op, &self.values, &other)?;
        if other.rank() == 0 {
            // Two zero-dim tensors promote as two dimensioned ones.
            let dtype = if self.rank() == 0 { promote_types(self.dtype(), other.dtype())? } else { self.dtype() };
            return Ok(self.with_values(self.values.to(dtype)?.mul(other)?));
        }
        let mut lifted = vec![1; self.rank().saturating_sub(other.rank())];
        lifted.extend_from_slice(other.shape());
        if lifted.len() != self.rank() || lifted.iter().zip(&*self.sizes).any(|(&own, &size)| own != size && own != 1) {
            return Err(Error::Output { op, result: other.shape().into(), output: self.shape().into() });
        }
        // A row for each block of the strided tensor itself: one along an axis of size 1.
        let (sparse, dense) = self.sparse_and_dense_sizes();
        let blocks = &lifted[..sparse.len()];
        let whole = [blocks, dense].concat();
        let count = [blocks.iter().product::<usize>(), dense.iter().product()];
        let rows = other.reshape(&signed(&lifted))?.expand(&signed(&whole))?.reshape(&signed(&count))?;
        // Stride 0 along axes of size 1.
        let steps = crate::layout::strides::row_major(blocks);
        let steps: Vec<usize> =
            steps.iter().zip(blocks).map(|(&step, &size)| if size == 1 { 0 } else { step }).collect();
        if self.is_on_gpu() {
            let keys = crate::any::sparse::places::linear(&self.raw_indices()?, &steps)?.reshape(&[-1])?;
            return Ok(self.with_values(self.values.mul(rows.index_select(0, &keys)?)?));
        }
        let (indices, nnz) = (self.host_indices()?.to_vec(), self.nnz());
        let mut keys = filled(0_i64, nnz)?;
        for (axis, &step) in steps.iter().enumerate() {
            for (key, index) in keys.iter_mut().zip(&indices[axis * nnz..]) {
                *key += step as i64 * *index;
            }
        }
        let keys = AnyTensor::of_ints(keys, &[nnz])?;
        Ok(self.with_values(self.values.mul(rows.index_select(0, &keys)?)?))
    }

    /// The quotient by a scalar or zero-dim tensor (`torch.div`).
    ///
    /// # Errors
    /// If the divisor has axes, or a dtype does not compute.
    pub fn div(&self, other: impl Into<AnyOperand>) -> Result<AnySparse> {
        let other = other.into();
        let mut values = self.values.clone();
        if let AnyOperand::Array(divisor) = &other {
            if divisor.rank() > 0 {
                let reason =
                    format!("a sparse tensor is divided by a scalar, not by a tensor of shape {:?}", divisor.shape());
                return invalid("div", reason);
            }
            if self.rank() == 0 {
                values = values.to(promote_types(self.dtype(), divisor.dtype())?)?;
            }
        }
        Ok(self.with_values(values.div(other)?))
    }

    /// The negatives (`torch.neg`).
    ///
    /// # Errors
    /// If the dtype is bool or does not compute.
    pub fn neg(&self) -> Result<AnySparse> {
        Ok(self.with_values(self.values.neg()?))
    }
}

/// For `sqrt` it writes the method: the function of the coalesced values.
macro_rules! functions {
    ($($op:ident)*) => {
        impl AnySparse {$(
            #[doc = concat!("[`", stringify!($op), "`](AnyTensor::", stringify!($op), ") of the elements, which leaves zero at zero; the result is coalesced.")]
            ///
            /// # Errors
            /// If the operation does not admit the dtype, or memory runs out.
            pub fn $op(&self) -> Result<AnySparse> {
                let sums = self.coalesce()?;
                Ok(sums.with_values(sums.values.$op()?))
            }
        )*}
    };
}
functions!(abs angle asin asinh atan atanh ceil deg2rad erf erfinv expm1 floor frac isinf isnan isneginf isposinf log1p
    rad2deg relu round sgn sign signbit sin sinh sqrt tan tanh trunc);

macro_rules! operators {
    ($($Trait:ident $method:ident;)*) => {$(
        impl core::ops::$Trait<&AnySparse> for &AnySparse {
            type Output = Result<AnySparse>;
            fn $method(self, other: &AnySparse) -> Result<AnySparse> {
                AnySparse::$method(self, other)
            }
        }
    )*};
}
operators! { Add add; Sub sub; Mul mul; }
/// `sparse + strided`, which is strided: [`add_dense`](AnySparse::add_dense).
impl core::ops::Add<&AnyTensor> for &AnySparse {
    type Output = Result<AnyTensor>;
    fn add(self, other: &AnyTensor) -> Result<AnyTensor> {
        self.add_dense(other)
    }
}
/// `sparse * strided`, which is sparse: [`mul_dense`](AnySparse::mul_dense).
impl core::ops::Mul<&AnyTensor> for &AnySparse {
    type Output = Result<AnySparse>;
    fn mul(self, other: &AnyTensor) -> Result<AnySparse> {
        self.mul_dense(other)
    }
}
/// `sparse * scalar`.
impl<A: Scalar + Into<AnyOperand>> core::ops::Mul<A> for &AnySparse {
    type Output = Result<AnySparse>;
    fn mul(self, other: A) -> Result<AnySparse> {
        self.mul_dense(other)
    }
}
/// `sparse / scalar`.
impl<A: Scalar + Into<AnyOperand>> core::ops::Div<A> for &AnySparse {
    type Output = Result<AnySparse>;
    fn div(self, other: A) -> Result<AnySparse> {
        AnySparse::div(self, other)
    }
}
impl core::ops::Neg for &AnySparse {
    type Output = Result<AnySparse>;
    fn neg(self) -> Result<AnySparse> {
        AnySparse::neg(self)
    }
}
