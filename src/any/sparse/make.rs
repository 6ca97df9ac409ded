//! `AnySparse` from indices and values, which are checked, and from the nonzero elements of a strided tensor.

use super::AnySparse;
use crate::any::base::by_width::signed;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::same_device;
use crate::any::{AnyTensor, Dims};
use crate::dtype::DType;
use crate::error::{Result, invalid};
use crate::shape::Dyn;
use crate::sparse::{check_indices, check_parts, expect_countable, infer, linear_indices};
use crate::tensor::Tensor;

impl AnySparse {
    /// From indices and values (`torch.sparse_coo_tensor(indices, values, size, check_invariants=True)`): column `k` of the indices is the
    /// position of value `k`, and values at one position count as their sum. Without sizes the smallest that hold the indices are taken.
    ///
    /// Shapes: indices `(sparse axes, nnz)`, values `(nnz, …)`, whose further axes are the dense ones.
    ///
    /// # Errors
    /// If an index is out of range, numbers of axes or values do not match, the elements cannot be counted, or devices differ.
    ///
    /// ```
    /// use castiron::{AnyTensor, any::AnySparse, tensor};
    /// let (indices, values) = (AnyTensor::from(tensor![[0, 1, 1], [2, 0, 2]]), AnyTensor::from(tensor![3.0, 4.0, 5.0]));
    /// let s = AnySparse::new(&indices, &values, Some(&[2, 3]))?;
    /// assert_eq!((&s * 2)?.to_dense()?.to_string(), "tensor([[ 0.,  0.,  6.],\n        [ 8.,  0., 10.]])");
    /// assert_eq!(AnySparse::new(&indices, &values, None)?.shape(), [2, 3]);
    /// assert!(AnySparse::new(&indices, &values, Some(&[2, 2])).is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn new(indices: &AnyTensor, values: &AnyTensor, sizes: Option<&[usize]>) -> Result<AnySparse> {
        let op = "sparse_coo";
        same_device(op, indices, values)?;
        values.data(op)?;
        let (&[axes, nnz], Some((_, blocks))) = (indices.shape(), values.shape().split_first()) else {
            let (indices, values) = (indices.shape(), values.shape());
            return invalid(
                op,
                format!("indices are a matrix and values have an axis, got shapes {indices:?} and {values:?}"),
            );
        };
        let indices = indices.to(DType::I64)?.contiguous()?;
        let sizes = match sizes {
            Some(sizes) => Dims::new(op, sizes)?,
            None => {
                let mut sizes = Dims::new(op, &[&vec![0; axes], blocks].concat())?;
                infer_sizes(&indices, &mut sizes[..axes])?;
                sizes
            }
        };
        check_parts(&sizes, blocks.len(), [axes, nnz], values.shape())?;
        expect_countable(op, &sizes)?;
        AnySparse::checked(&indices, values, sizes, blocks.len())
    }

    /// From indices, which are checked, and values. Ranks match.
    fn checked(indices: &AnyTensor, values: &AnyTensor, sizes: Dims, dense: usize) -> Result<AnySparse> {
        if !values.is_on_gpu() || !super::places::are_inside(indices, &sizes[..sizes.len() - dense])? {
            check_indices(&on_host(indices)?, &sizes)?;
        }
        AnySparse::assembled(indices, values, sizes, dense)
    }

    /// From indices that are in range, and values.
    pub(super) fn assembled(indices: &AnyTensor, values: &AnyTensor, sizes: Dims, dense: usize) -> Result<AnySparse> {
        let (axes, nnz) = (sizes.len() - dense, indices.shape()[1]);
        let rows = [nnz, sizes[axes..].iter().product::<usize>()];
        let values = values.reshape(&signed(&rows))?.contiguous()?;
        let keys = linear_keys(indices, &sizes[..axes])?;
        Ok(AnySparse { sizes, dense, keys, values, coalesced: nnz < 2 })
    }
}

impl AnyTensor {
    /// The sparse tensor of the nonzero elements; the last `dense` axes are dense, and blocks with any nonzero element are kept
    /// (`torch.Tensor.to_sparse`).
    ///
    /// # Errors
    /// If there are fewer than `dense` axes, the dtype does not compute, or there are no data.
    pub fn to_sparse(&self, dense: usize) -> Result<AnySparse> {
        let op = "to_sparse";
        self.data(op)?;
        if dense > self.rank() {
            return invalid(op, format!("a tensor of shape {:?} can't have {dense} dense axes", self.shape()));
        }
        if self.is_on_gpu() {
            return super::places::sparse_of(self, dense);
        }
        let (sparse_sizes, dense_sizes) = self.sizes.split_at(self.rank() - dense);
        let sizes = [sparse_sizes.iter().product::<usize>(), dense_sizes.iter().product()];
        dispatch_dtype!(op, self.dtype, E: Dtype => {
            let rows: Tensor<E, (Dyn, Dyn)> = self.reshape(&signed(&sizes))?.typed()?;
            Ok(AnySparse::of(rows.try_to_sparse_hybrid::<1>()?, self.sizes, dense))
        })
    }
}

/// An index matrix on the host.
fn on_host(indices: &AnyTensor) -> Result<Tensor<i64, (Dyn, Dyn)>> {
    indices.cpu()?.typed()
}

/// The smallest sizes that hold the indices, one for each sparse axis.
fn infer_sizes(indices: &AnyTensor, sizes: &mut [usize]) -> Result<()> {
    if indices.is_on_gpu()
        && let Some(found) = super::places::inferred(indices)?
    {
        sizes.copy_from_slice(&found);
        return Ok(());
    }
    infer(&on_host(indices)?, sizes)
}

/// The linear (row-major) index of each element over the sparse axes, as a row.
fn linear_keys(indices: &AnyTensor, sizes: &[usize]) -> Result<AnyTensor> {
    if indices.is_on_gpu() {
        return super::places::linear(indices, &crate::layout::strides::row_major(sizes));
    }
    AnyTensor::of_ints(linear_indices(&on_host(indices)?, sizes)?, &[1, indices.shape()[1]])
}
