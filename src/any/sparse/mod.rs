//! `AnySparse`: sparse tensors whose dtype and shape are values.
//!
//! Sums, products and coalescing depend only on which indices are equal, not on the rank: they run on a typed tensor whose sparse axes are
//! flattened to one, as are its dense axes, so that each is compiled once for a dtype.

mod arithmetic;
pub(crate) mod axes;
mod make;
mod places;

use crate::any::base::by_width::{same_dtype, signed};
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::base::operand::same_device;
use crate::any::{AnyTensor, Dims};
use crate::device::Cpu;
use crate::dtype::{DType, Element};
use crate::error::{Result, invalid};
use crate::shape::{Dyn, Shape, SizeArray};
use crate::sparse::{DenseAxes, SparseTensor, indices_from_linear, print};
use crate::tensor::{AnyLayout, Tensor};
use core::fmt;

/// Sparse axes flattened to one, dense axes flattened to one.
type Flat<E> = SparseTensor<E, (Dyn, Dyn), 1>;

/// A sparse tensor whose dtype and shape are known at run time: the counterpart of [`SparseTensor`](crate::SparseTensor).
///
/// Every method returns a `Result`; what the compiler refuses there is an [`Error`](crate::Error) here.
///
/// ```
/// use castiron::{AnyTensor, any::AnySparse, tensor};
/// let dense = AnyTensor::from(tensor![[0.0, 2.0], [3.0, 0.0]]);
/// let s: AnySparse = dense.to_sparse(0)?;
/// assert_eq!((s.nnz(), s.shape()), (2, &[2, 2][..]));
/// assert_eq!((&s + &s)?.to_dense()?.to_string(), "tensor([[0., 4.],\n        [6., 0.]])");
/// assert_eq!(s.matmul(&dense)?.to_string(), "tensor([[6., 0.],\n        [0., 6.]])");
/// # Ok::<(), castiron::Error>(())
/// ```
#[derive(Clone)]
pub struct AnySparse {
    sizes: Dims,
    /// The number of dense axes, which are the last ones.
    dense: usize,
    /// For each element its row-major position over the sparse axes: `(1, nnz)`, `i64`, on the device of the values.
    keys: AnyTensor,
    /// `(nnz, elements of a block)`.
    values: AnyTensor,
    coalesced: bool,
}

impl<E: Element, S: Shape + DenseAxes<N>, const N: usize> From<&SparseTensor<E, S, N>> for AnySparse {
    fn from(tensor: &SparseTensor<E, S, N>) -> Self {
        let flat = tensor.flat();
        AnySparse::of(flat, Dims::known(tensor.shape().as_ref()), N)
    }
}
impl<E: Element, S: Shape + DenseAxes<N>, const N: usize> From<SparseTensor<E, S, N>> for AnySparse {
    fn from(tensor: SparseTensor<E, S, N>) -> Self {
        AnySparse::from(&tensor)
    }
}

impl AnySparse {
    fn of<E: Element>(flat: Flat<E>, sizes: Dims, dense: usize) -> Self {
        let (keys, values) = (AnyTensor::from(flat.raw_indices()), AnyTensor::from(flat.raw_values()));
        AnySparse { sizes, dense, keys, values, coalesced: flat.is_coalesced() }
    }

    fn flat<E: Element>(&self) -> Result<Flat<E>> {
        let (sparse, dense) = self.sparse_and_dense_sizes();
        let sizes = [sparse.iter().product(), dense.iter().product()];
        Ok(SparseTensor::assembled(
            sizes,
            self.keys.typed()?,
            self.values.typed::<E, (Dyn, Dyn), Cpu>()?,
            self.coalesced,
        ))
    }

    /// The indices along each sparse axis, on the host.
    fn host_indices(&self) -> Result<Tensor<i64, (Dyn, Dyn)>> {
        let keys: Tensor<i64, (Dyn, Dyn)> = self.keys.cpu()?.typed()?;
        indices_from_linear(&keys.to_vec(), self.sparse_and_dense_sizes().0)
    }

    /// The sizes of the sparse axes, and those of the dense ones.
    fn sparse_and_dense_sizes(&self) -> (&[usize], &[usize]) {
        self.sizes.split_at(self.sizes.len() - self.dense)
    }

    /// Marks the tensor as coalesced, if it is.
    pub(crate) fn keep_coalesced(&mut self, coalesced: bool) {
        self.coalesced |= coalesced;
    }

    /// Other values at the same positions.
    fn with_values(&self, values: AnyTensor) -> Self {
        AnySparse { values, ..self.clone() }
    }

    /// The dtype.
    pub fn dtype(&self) -> DType {
        self.values.dtype()
    }

    /// The sizes.
    pub fn shape(&self) -> &[usize] {
        &self.sizes
    }

    /// The number of axes.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// The layout: `torch.sparse_coo`.
    pub fn layout(&self) -> AnyLayout {
        AnyLayout::SparseCoo
    }

    /// How many elements are specified (`torch.Tensor._nnz`).
    pub fn nnz(&self) -> usize {
        self.keys.shape()[1]
    }

    /// The number of sparse axes, which come first.
    pub fn sparse_dim(&self) -> usize {
        self.sizes.len() - self.dense
    }

    /// The number of dense axes.
    pub fn dense_dim(&self) -> usize {
        self.dense
    }

    /// Whether the positions are known to be sorted and distinct.
    pub fn is_coalesced(&self) -> bool {
        self.coalesced
    }

    /// The positions of the elements (`torch.Tensor._indices`): row `a` holds their indices along axis `a`.
    ///
    /// # Errors
    /// If memory runs out.
    pub fn raw_indices(&self) -> Result<AnyTensor> {
        if self.is_on_gpu() {
            return self.indices_there();
        }
        self.host_indices().map(AnyTensor::from)
    }

    /// The elements, or blocks of them (`torch.Tensor._values`).
    ///
    /// # Errors
    /// If memory runs out.
    pub fn raw_values(&self) -> Result<AnyTensor> {
        self.values.reshape(&signed(&[&[self.nnz()], self.sparse_and_dense_sizes().1].concat()))
    }

    /// [`raw_indices`](Self::raw_indices) of a coalesced tensor (`torch.Tensor.indices`).
    ///
    /// # Errors
    /// If it is not coalesced.
    pub fn indices(&self) -> Result<AnyTensor> {
        self.expect_coalesced("indices")?;
        self.raw_indices()
    }

    /// [`raw_values`](Self::raw_values) of a coalesced tensor (`torch.Tensor.values`).
    ///
    /// # Errors
    /// If it is not coalesced.
    pub fn values(&self) -> Result<AnyTensor> {
        self.expect_coalesced("values")?;
        self.raw_values()
    }

    fn expect_coalesced(&self, op: &'static str) -> Result<()> {
        if self.coalesced {
            Ok(())
        } else {
            invalid(op, "the tensor is not coalesced: call `coalesce()` first".to_owned())
        }
    }

    /// The typed tensor, if dtype, shape and number of dense axes match the type.
    ///
    /// # Errors
    /// An error that says what differs.
    ///
    /// ```
    /// use castiron::{AnyTensor, SparseTensor, shape, tensor};
    /// let any = AnyTensor::from(tensor![[0, 2], [3, 0]]).to_sparse(0)?;
    /// let typed: SparseTensor<i64, shape![_, 2]> = any.typed()?;
    /// assert_eq!(typed.sum().item(), 5);
    /// assert!(any.typed::<f32, shape![2, 2], 0>().is_err());
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn typed<E: Element, S: Shape + DenseAxes<N>, const N: usize>(&self) -> Result<SparseTensor<E, S, N>> {
        let same_shape = self.rank() == S::RANK && crate::tensor::fits::<S>(&self.sizes);
        if self.dtype() != E::DTYPE || !same_shape || self.dense != N {
            let shape = crate::tensor::shape_text::<S>();
            return invalid(
                "typed",
                format!(
                    "expected a sparse tensor of {}, shape {shape}, with {N} dense axes, got one of {}, shape {:?}, with {}",
                    E::DTYPE,
                    self.dtype(),
                    &*self.sizes,
                    self.dense
                ),
            );
        }
        let values = self.values.typed::<E, (Dyn, Dyn), Cpu>()?;
        Ok(SparseTensor::assembled(S::Sizes::copied(&self.sizes), self.host_indices()?, values, self.coalesced))
    }

    /// The same tensor with its positions sorted and distinct (`torch.Tensor.coalesce`).
    ///
    /// # Errors
    /// If the dtype does not compute, or memory runs out.
    pub fn coalesce(&self) -> Result<AnySparse> {
        if self.is_on_gpu() {
            return self.coalesced_there();
        }
        dispatch_dtype!("coalesce", self.dtype(), E: Dtype => {
            Ok(AnySparse::of(self.flat::<E>()?.try_coalesce()?, self.sizes, self.dense))
        })
    }

    /// The strided tensor with these elements (`torch.Tensor.to_dense`).
    ///
    /// # Errors
    /// If the dtype does not compute, or memory cannot hold it.
    pub fn to_dense(&self) -> Result<AnyTensor> {
        crate::any::checked_numel("to_dense", &self.sizes, self.dtype())?;
        if self.is_on_gpu() {
            return self.dense_there();
        }
        dispatch_dtype!("to_dense", self.dtype(), E: Dtype => {
            AnyTensor::from(self.flat::<E>()?.try_to_dense()?).reshape(&signed(&self.sizes))
        })
    }

    /// Converts the elements (`torch.Tensor.to(dtype)`).
    ///
    /// # Errors
    /// If there is no such conversion, or memory runs out.
    pub fn to(&self, dtype: DType) -> Result<AnySparse> {
        Ok(self.with_values(self.values.to(dtype)?))
    }

    /// The product of a sparse matrix and a strided vector or matrix, which is strided (`torch.matmul`).
    ///
    /// # Errors
    /// If dtypes differ or are bool, inner sizes differ, or `self` is not a matrix with sparse axes.
    pub fn matmul(&self, other: &AnyTensor) -> Result<AnyTensor> {
        let op = "matmul";
        same_dtype(op, &self.values, other)?;
        same_device(op, &self.values, other)?;
        if self.is_on_gpu() {
            // For operands that are refused the host makes the error.
            return self.times_dense_there(other).unwrap_or_else(|| self.to_device("cpu")?.matmul(&other.cpu()?));
        }
        dispatch_dtype!(op, self.dtype(), E: Numeric => {
            let left = self.typed::<E, (Dyn, Dyn), 0>()?;
            match other.rank() {
                1 => Ok(left.try_matmul(&other.typed::<E, (Dyn,), Cpu>()?)?.into()),
                2 => Ok(left.try_matmul(&other.typed::<E, (Dyn, Dyn), Cpu>()?)?.into()),
                _ => invalid(op, format!("a sparse matrix is multiplied by a vector or matrix, not by a tensor of shape {:?}", other.shape())),
            }
        })
    }

    /// The product of two sparse matrices, which is sparse and coalesced (`torch.sparse.mm`). Dtypes: floating and complex ones.
    ///
    /// # Errors
    /// If dtypes differ or are not admitted, inner sizes differ, or one is not a matrix with sparse axes.
    pub fn matmul_sparse(&self, other: &AnySparse) -> Result<AnySparse> {
        let op = "matmul";
        same_dtype(op, &self.values, &other.values)?;
        same_device(op, &self.values, &other.values)?;
        if self.is_on_gpu() {
            let refused = || self.to_device("cpu")?.matmul_sparse(&other.to_device("cpu")?);
            return self.times_sparse_there(other).unwrap_or_else(refused);
        }
        dispatch_dtype!(op, self.dtype(), E: Inexact => {
            let (left, right) = (self.typed::<E, (Dyn, Dyn), 0>()?, other.typed::<E, (Dyn, Dyn), 0>()?);
            Ok(left.try_matmul(&right)?.into())
        })
    }

    /// The transpose of a matrix with sparse axes (`torch.t`).
    ///
    /// # Errors
    /// If it is not such a matrix.
    pub fn t(&self) -> Result<AnySparse> {
        if self.is_on_gpu() {
            return self.transposed_there().unwrap_or_else(|| self.to_device("cpu")?.t());
        }
        dispatch_dtype!("t", self.dtype(), E: Element => Ok(self.typed::<E, (Dyn, Dyn), 0>()?.try_t()?.into()))
    }

    /// The sum of all elements, a zero-dim strided tensor (`torch.sum`).
    ///
    /// # Errors
    /// If the dtype does not compute.
    pub fn sum(&self) -> Result<AnyTensor> {
        self.values.sum(None, false, None)
    }
}

/// As PyTorch prints a tensor.
impl fmt::Display for AnySparse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let indices = self.host_indices().map_err(|_| fmt::Error)?;
        let values = self.values.cpu().map_err(|_| fmt::Error)?;
        let printed = dispatch_dtype!("print", self.dtype(), E: Element => {
            Ok(match values.typed::<E, (Dyn, Dyn), Cpu>() {
                Ok(values) => print(f, self.values.device_name(), &indices, &values, &self.sizes, self.dense),
                Err(_) => Err(fmt::Error),
            })
        });
        printed.unwrap_or(Err(fmt::Error))
    }
}
impl fmt::Debug for AnySparse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AnySparse")
            .field("dtype", &format_args!("{}", self.dtype()))
            .field("shape", &self.shape())
            .field("dense_dim", &self.dense)
            .field("is_coalesced", &self.coalesced)
            .field("elements", &format_args!("{self}"))
            .finish()
    }
}
