//! Sparse tensors on a GPU: their indices are there, too, and the host's loops over them are composed of the GPU's operations. Sums are
//! added in the same order as on the host.

use super::AnySparse;
use crate::any::base::by_width::signed;
use crate::any::base::dispatch::dispatch_dtype;
use crate::any::join::combinations::count_up;
use crate::any::{AnyTensor, Dims, cat};
use crate::device::{AnyDevice, IntoDevice};
use crate::dtype::{DType, Element};
use crate::error::{Result, listed};
use crate::sparse::expect_countable;

/// The maximal number of products in memory at once, when elements of a sparse matrix are multiplied by rows.
const PRODUCTS: usize = 1 << 27;

/// The dtype in which the host multiplies elements.
fn multiplied_in(dtype: DType) -> DType {
    match dtype {
        DType::F16 | DType::BF16 => DType::F32,
        DType::C32 => DType::C64,
        dtype => dtype,
    }
}

/// The positions at which a bool list is true.
fn where_true(mask: &AnyTensor) -> Result<AnyTensor> {
    mask.nonzero()?.reshape(&[-1])
}

/// Numbers of the host as a column on the device of another tensor.
fn column(numbers: impl Iterator<Item = usize>, beside: &AnyTensor) -> Result<AnyTensor> {
    let numbers = listed(numbers.map(|number| number as i64))?;
    let sizes = [numbers.len(), 1];
    AnyTensor::of_ints(numbers, &sizes)?.to_device(beside.device())
}

/// The smallest sizes that hold the indices, one for each axis; `None` if there are none.
pub(super) fn inferred(indices: &AnyTensor) -> Result<Option<Vec<usize>>> {
    if indices.shape()[1] == 0 {
        return Ok(Some(vec![0; indices.shape()[0]]));
    }
    let (low, high) = (indices.amin(Some(&[1]), false)?, indices.amax(Some(&[1]), false)?);
    let ends = crate::any::stack(&[low, high], 0)?.to_ints("sparse_coo")?;
    let (low, high) = ends.split_at(ends.len() / 2);
    let size = |(&low, &high): (&i64, &i64)| usize::try_from(high).ok().filter(|_| low >= 0)?.checked_add(1);
    Ok(low.iter().zip(high).map(size).collect())
}

/// Whether all indices are in range.
pub(super) fn are_inside(indices: &AnyTensor, sizes: &[usize]) -> Result<bool> {
    let ends = column(sizes.iter().copied(), indices)?;
    let outside = indices.lt(0)?.bitwise_or(indices.ge(&ends)?)?.any(None, false)?;
    Ok(outside.to_ints("sparse_coo")? == [0])
}

/// The row-major positions: sums of indices times strides, `(1, nnz)`.
pub(super) fn linear(indices: &AnyTensor, steps: &[usize]) -> Result<AnyTensor> {
    indices.mul(&column(steps.iter().copied(), indices)?)?.sum(Some(&[0]), true, None)
}

/// Equal keys of a list, grouped.
struct Groups {
    /// The distinct keys, ascending.
    keys: AnyTensor,
    /// The position of the first occurrence of each.
    firsts: AnyTensor,
    /// The positions of further occurrences, in order, and the groups that they belong to.
    rest: Option<[AnyTensor; 2]>,
}

impl Groups {
    fn of(keys: &AnyTensor) -> Result<Groups> {
        let len = keys.numel();
        if len == 0 {
            return Ok(Groups { keys: keys.clone(), firsts: keys.clone(), rest: None });
        }
        let (sorted, places) = keys.sort(0, false)?;
        let differs = sorted.narrow(0, 1, len - 1)?.ne(&sorted.narrow(0, 0, len - 1)?)?;
        let mut first = keys.zeros_like_device(&[1], DType::Bool)?;
        first.fill_(true)?;
        let starts = cat(&[first, differs], 0)?;
        let at = where_true(&starts)?;
        let rest = match at.numel() == len {
            true => None,
            false => {
                let again = where_true(&starts.logical_not()?)?;
                let group = starts.cumsum(0, None)?.index_select(0, &again)?.sub(1)?;
                Some([places.index_select(0, &again)?, group])
            }
        };
        Ok(Groups { keys: sorted.index_select(0, &at)?, firsts: places.index_select(0, &at)?, rest })
    }

    /// The sums of the rows of each key, in their order. (The first is copied, not added to zero, so that -0.0 stays.)
    fn sums(&self, rows: &AnyTensor) -> Result<AnyTensor> {
        let sums = rows.index_select(0, &self.firsts)?;
        match &self.rest {
            None => Ok(sums),
            Some([rest, group]) => sums.index_add(0, group, &rows.index_select(0, rest)?, 1),
        }
    }
}

/// For each key that is in an ascending list, its position among the keys and its position in the list.
fn found(list: &AnyTensor, keys: &AnyTensor) -> Result<[AnyTensor; 2]> {
    let at = list.searchsorted(keys, false, None)?;
    // A last element that no key equals, for keys after the end of the list.
    let mut end = list.zeros_like_device(&[1], DType::I64)?;
    end.fill_(-1)?;
    let among = where_true(&cat(&[list.clone(), end], 0)?.index_select(0, &at)?.eq(keys)?)?;
    let places = at.index_select(0, &among)?;
    Ok([among, places])
}

impl AnySparse {
    /// The device of the values (`torch.Tensor.device`) and of the indices.
    pub fn device(&self) -> AnyDevice {
        self.values.device()
    }

    /// The tensor on another device (`torch.Tensor.to(device)`).
    ///
    /// # Errors
    /// If the device is not there, or has no data.
    pub fn to_device(&self, device: impl IntoDevice) -> Result<AnySparse> {
        let values = self.values.to_device(device)?;
        values.data("to_device")?;
        Ok(AnySparse { keys: self.keys.to_device(values.device())?, ..self.with_values(values) })
    }

    /// Whether it is on a GPU.
    pub(super) fn is_on_gpu(&self) -> bool {
        self.values.is_on_gpu()
    }

    /// The keys as a one-dimensional tensor.
    fn list(&self) -> Result<AnyTensor> {
        self.keys.reshape(&[-1])
    }

    /// A sparse tensor with rows at a list of keys.
    fn with(&self, keys: &AnyTensor, values: AnyTensor, coalesced: bool) -> Result<AnySparse> {
        let keys = keys.reshape(&[1, keys.numel() as i64])?;
        Ok(AnySparse { keys, values, coalesced, ..self.clone() })
    }

    /// The indices along each axis.
    pub(super) fn indices_there(&self) -> Result<AnyTensor> {
        self.list()?.unravelled(self.sparse_and_dense_sizes().0)?.t()?.contiguous()
    }

    /// [`to_dense`](AnySparse::to_dense) on a GPU.
    pub(super) fn dense_there(&self) -> Result<AnyTensor> {
        let (sparse, dense) = self.sparse_and_dense_sizes();
        let rows = [sparse.iter().product::<usize>(), dense.iter().product()];
        let empty = AnyTensor::zeros_on(&rows, self.dtype(), self.device())?;
        let filled = match self.is_coalesced() {
            true => empty.index_copy(0, &self.list()?, &self.values)?,
            false => empty.index_add(0, &self.list()?, &self.values, 1)?,
        };
        filled.reshape(&signed(&self.sizes))
    }

    /// The sum with a strided tensor of the same dtype, on a GPU.
    pub(super) fn added_to_there(&self, dense: &AnyTensor) -> Result<AnyTensor> {
        let (sparse, blocks) = self.sparse_and_dense_sizes();
        let rows = [sparse.iter().product::<usize>(), blocks.iter().product()];
        let sum = dense.reshape(&signed(&rows))?.index_add(0, &self.list()?, &self.values, 1)?;
        sum.reshape(&signed(&self.sizes))
    }

    /// Sorted and distinct positions: [`coalesce`](AnySparse::coalesce) on a GPU.
    pub(super) fn coalesced_there(&self) -> Result<AnySparse> {
        dispatch_dtype!("coalesce", self.dtype(), E: Dtype => Ok(E::DTYPE))?;
        if self.is_coalesced() {
            return Ok(self.clone());
        }
        let groups = Groups::of(&self.list()?)?;
        self.with(&groups.keys, groups.sums(&self.values)?, true)
    }

    /// The sum with another tensor of the same sizes and dtype. If they are not coalesced it has the positions of both, one after the
    /// other.
    pub(super) fn sum_there(&self, op: &'static str, other: &AnySparse) -> Result<AnySparse> {
        dispatch_dtype!(op, self.dtype(), E: Numeric => Ok(E::DTYPE))?;
        let keys = cat(&[self.list()?, other.list()?], 0)?;
        let values = cat(&[self.values.clone(), other.values.clone()], 0)?;
        if !(self.is_coalesced() && other.is_coalesced()) {
            // Added to zeros, as on the host: -0.0 becomes 0.0.
            return self.with(&keys, values.add(0)?, false);
        }
        let (keys, group, _) = keys.unique()?;
        let zeros = values.zeros_like_device(&[keys.numel(), values.shape()[1]], self.dtype())?;
        self.with(&keys, zeros.index_add(0, &group, &values, 1)?, true)
    }

    /// The product with another tensor of the same sizes and dtype, element by element: as on the host, at the positions that both have if
    /// they are coalesced, else at those of one tensor, each searched for in the other.
    pub(super) fn product_there(&self, other: &AnySparse) -> Result<AnySparse> {
        dispatch_dtype!("mul", self.dtype(), E: Numeric => Ok(E::DTYPE))?;
        if self.nnz() == 0 || other.nnz() == 0 {
            return self.with(&self.list()?.narrow(0, 0, 0)?, self.values.narrow(0, 0, 0)?, true);
        }
        let times = |at: &[AnyTensor; 2], a: &AnySparse, b: &AnySparse| {
            a.values.index_select(0, &at[0])?.mul(b.values.index_select(0, &at[1])?)
        };
        if self.is_coalesced() && other.is_coalesced() {
            let at = found(&other.list()?, &self.list()?)?;
            return self.with(&self.list()?.index_select(0, &at[0])?, times(&at, self, other)?, true);
        }
        let own_is_looked_up = match self.is_coalesced() != other.is_coalesced() {
            true => self.is_coalesced(),
            false => self.nnz() >= other.nnz(),
        };
        let (kept, list) = if own_is_looked_up { (other, self) } else { (self, other) };
        let list = list.coalesced_there()?;
        let at = found(&list.list()?, &kept.list()?)?;
        let zeros = kept.values.zeros_like_device(kept.values.shape(), kept.dtype())?;
        kept.with(&kept.list()?, zeros.index_copy(0, &at[0], &times(&at, kept, &list)?)?, false)
    }

    /// The sizes of a matrix whose axes are sparse.
    fn matrix(&self) -> Option<[usize; 2]> {
        if self.dense == 0 { self.sizes[..].try_into().ok() } else { None }
    }

    /// The rows and columns of the elements of a matrix.
    fn rows_and_columns(&self, columns: usize) -> Result<[AnyTensor; 2]> {
        let (keys, columns) = (self.list()?, columns.max(1) as i64);
        Ok([keys.floor_divide(columns)?, keys.remainder(columns)?])
    }

    /// The transposed matrix; `None` if `self` is not a matrix with sparse axes.
    pub(super) fn transposed_there(&self) -> Option<Result<AnySparse>> {
        self.matrix().map(|_| self.permute(&[1, 0]))
    }

    /// The product with a strided vector or matrix; `None` if it is refused.
    pub(super) fn times_dense_there(&self, other: &AnyTensor) -> Option<Result<AnyTensor>> {
        let [rows, inner] = self.matrix()?;
        match *other.shape() {
            [first] if first == inner => Some((|| {
                let product = self.rows_times([rows, inner], &other.reshape(&[inner as i64, 1])?)?;
                product.reshape(&[rows as i64])
            })()),
            [first, _] if first == inner => Some(self.rows_times([rows, inner], other)),
            _ => None,
        }
    }

    fn rows_times(&self, [rows, inner]: [usize; 2], other: &AnyTensor) -> Result<AnyTensor> {
        let (op, columns) = ("matmul", other.shape()[1]);
        dispatch_dtype!(op, self.dtype(), E: Numeric => Ok(E::DTYPE))?;
        crate::any::checked_numel(op, &[rows, columns], self.dtype())?;
        let computed = multiplied_in(self.dtype());
        let [row, column] = self.rows_and_columns(inner)?;
        let values = self.values.to(computed)?;
        // Each element is multiplied by its row of the dense matrix and added to its row of the result, for some columns at a time.
        let width = (PRODUCTS / self.nnz().max(1)).clamp(1, columns.max(1));
        let mut pieces = Vec::new();
        for start in (0..columns.max(1)).step_by(width) {
            let part = other.narrow(1, start as i64, width.min(columns - start))?.to(computed)?;
            let zeros = values.zeros_like_device(&[rows, part.shape()[1]], computed)?;
            let products = part.index_select(0, &column)?.mul(&values)?;
            pieces.push(zeros.index_add(0, &row, &products, 1)?.to(self.dtype())?);
        }
        if pieces.len() == 1 { Ok(pieces.remove(0)) } else { cat(&pieces, 1) }
    }

    /// The product with another sparse matrix of the same dtype; `None` if it is refused.
    pub(super) fn times_sparse_there(&self, other: &AnySparse) -> Option<Result<AnySparse>> {
        let ([rows, inner], [right, columns]) = (self.matrix()?, other.matrix()?);
        (inner == right).then(|| self.pairs_with(other, [rows, inner, columns]))
    }

    fn pairs_with(&self, other: &AnySparse, [rows, inner, columns]: [usize; 3]) -> Result<AnySparse> {
        let op = "matmul";
        dispatch_dtype!(op, self.dtype(), E: Inexact => Ok(E::DTYPE))?;
        expect_countable(op, &[rows, columns])?;
        let (a, b) = (self.coalesced_there()?, other.coalesced_there()?);
        let ([a_row, a_column], [b_row, b_column]) = (a.rows_and_columns(inner)?, b.rows_and_columns(columns)?);
        // Each element on the left is paired with a range of elements on the right; pairs are listed in the order of the left ones.
        let start = b_row.searchsorted(&a_column, false, None)?;
        let counts = b_row.searchsorted(&a_column, true, None)?.sub(&start)?;
        let left = count_up(&a_row, a.nnz())?.repeat_interleave_by(&counts, None)?;
        let shift = start.sub(&counts.cumsum(0, None)?.sub(&counts)?)?;
        let right = count_up(&a_row, left.numel())?.add(shift.index_select(0, &left)?)?;
        let keys = a_row.index_select(0, &left)?.mul(columns as i64)?.add(b_column.index_select(0, &right)?)?;
        let computed = multiplied_in(self.dtype());
        let factors = [(&a, &left), (&b, &right)].map(|(x, at)| x.values.index_select(0, at)?.to(computed));
        let [left, right] = factors;
        let groups = Groups::of(&keys)?;
        let values = groups.sums(&left?.mul(right?)?)?.to(self.dtype())?;
        let product = AnySparse { sizes: Dims::new(op, &[rows, columns])?, ..self.clone() };
        product.with(&groups.keys, values, true)
    }
}

/// The sparse tensor of the rows of a strided one that are not all zero; the last `dense` axes are those of a row.
pub(super) fn sparse_of(dense_tensor: &AnyTensor, dense: usize) -> Result<AnySparse> {
    let op = "to_sparse";
    dispatch_dtype!(op, dense_tensor.dtype(), E: Dtype => Ok(E::DTYPE))?;
    let (sparse, blocks) = dense_tensor.shape().split_at(dense_tensor.rank() - dense);
    let sizes = [sparse.iter().product::<usize>(), blocks.iter().product()];
    let rows = dense_tensor.reshape(&signed(&sizes))?;
    let list = match dense {
        0 => where_true(&rows.reshape(&[-1])?)?,
        _ => where_true(&rows.any(Some(&[1]), false)?)?,
    };
    let (keys, values) = (list.reshape(&[1, list.numel() as i64])?, rows.index_select(0, &list)?);
    Ok(AnySparse { sizes: dense_tensor.sizes, dense, keys, values, coalesced: true })
}
