//! Factorisations of matrices and what they solve: `linalg.cholesky`, `linalg.svd`, `linalg.solve` and their kin.
//! Uses `tensor::decompose`.

pub(crate) mod eigen;
pub(crate) mod factors;
pub(crate) mod inverses;
pub(crate) mod lowrank;
pub(crate) mod solve;

rows_of!(eigen, factors, inverses, lowrank, solve);

use crate::any::base::by_width::same_dtype;
use crate::any::elementwise::apply::same_device;
use crate::any::{AnyTensor, Dims};
use crate::device::Dynamic;
use crate::dtype::DType;
use crate::error::Result;
use crate::tensor::decompose::Part;

/// Code over the dtype of a tensor, one of those that matrices are factored in.
macro_rules! over_field {
    ($op:expr, $dtype:expr, $E:ident => $body:expr) => {
        crate::any::base::dispatch::dispatch_dtype!($op, $dtype, $E: [f32, f64, crate::Complex<f32>, crate::Complex<f64>] => $body)
    };
}
pub(crate) use over_field;

/// A result as a tensor of a dtype.
fn any(op: &'static str, part: Part<Dynamic>, dtype: DType) -> Result<AnyTensor> {
    Dims::new(op, &part.sizes)?;
    Ok(AnyTensor::fresh(part.storage, dtype, &part.sizes, &part.strides))
}

/// Two results of these dtypes.
fn any2(op: &'static str, [a, b]: [Part<Dynamic>; 2], dtypes: [DType; 2]) -> Result<(AnyTensor, AnyTensor)> {
    Ok((any(op, a, dtypes[0])?, any(op, b, dtypes[1])?))
}

/// Three.
fn any3(
    op: &'static str,
    [a, b, c]: [Part<Dynamic>; 3],
    dtypes: [DType; 3],
) -> Result<(AnyTensor, AnyTensor, AnyTensor)> {
    Ok((any(op, a, dtypes[0])?, any(op, b, dtypes[1])?, any(op, c, dtypes[2])?))
}

impl AnyTensor {
    /// Operands of one dtype on one device.
    fn expect_partner(&self, op: &'static str, other: &AnyTensor) -> Result<()> {
        same_dtype(op, self, other)?;
        same_device(op, self, other)
    }

    /// Pivots as `lu_factor` gives them, beside the factors.
    fn expect_pivots(&self, op: &'static str, pivots: &AnyTensor) -> Result<()> {
        same_device(op, self, pivots)?;
        if pivots.dtype == DType::I32 {
            return Ok(());
        }
        crate::error::invalid(op, format!("pivots should be a Tensor of scalar type torch.int32, got {}", pivots.dtype))
    }

    /// The dtype of singular values.
    fn real_dtype(&self) -> DType {
        match self.dtype {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            dtype => dtype,
        }
    }

    /// The dtype of eigenvalues.
    fn complex_dtype(&self) -> DType {
        match self.dtype {
            DType::F32 => DType::C64,
            DType::F64 => DType::C128,
            dtype => dtype,
        }
    }
}
