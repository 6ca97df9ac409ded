//! Axes of sparse tensors exchanged, added and removed; parts selected; tensors joined. Indices change, values only if they have to.

use crate::any::sparse::AnySparse;
use crate::any::view::views::axis;
use crate::any::{AnyTensor, Dims};
use crate::dtype::{Category, DType, promote_types};
use crate::error::{Error, Result, invalid};

impl AnySparse {
    /// The same values with other indices and sizes, and as many dense axes.
    fn moved(&self, indices: &AnyTensor, values: &AnyTensor, sizes: &[usize], sorted: bool) -> Result<AnySparse> {
        let sizes = Dims::new("sparse_coo", sizes)?;
        crate::sparse::expect_countable("sparse_coo", &sizes)?;
        let mut moved = AnySparse::assembled(indices, values, sizes, values.rank() - 1)?;
        moved.keep_coalesced(sorted && self.is_coalesced());
        Ok(moved)
    }

    /// An axis: sparse, or dense and counted from the first dense one.
    fn axis_of(&self, op: &'static str, dim: i64) -> Result<(usize, Option<usize>)> {
        if self.rank() == 0 {
            return invalid(op, "a zero-dim tensor has no axes".to_owned());
        }
        let at = axis(op, dim, self.rank())?;
        Ok((at, at.checked_sub(self.sparse_dim())))
    }

    /// The axes in another order (`torch.Tensor.permute`): sparse axes among themselves, and dense ones.
    ///
    /// # Errors
    /// If an axis is missing or named twice, or a sparse one would become dense.
    ///
    /// ```
    /// use castiron::{AnyTensor, tensor};
    /// let s = AnyTensor::from(tensor![[0, 1, 2], [0, 0, 3]]).to_sparse(0)?;
    /// assert_eq!(s.permute(&[1, 0])?.to_dense()?.to_string(), "tensor([[0, 0],\n        [1, 0],\n        [2, 3]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn permute(&self, dims: &[i64]) -> Result<AnySparse> {
        let op = "permute";
        // A meta tensor checks the permutation and computes the sizes.
        let sizes = AnyTensor::meta(self.shape(), DType::Bool)?.permute(dims)?.sizes;
        let order = dims.iter().map(|&dim| axis(op, dim, self.rank())).collect::<Result<Vec<_>>>()?;
        let (sparse, dense) = order.split_at(self.sparse_dim());
        if sparse.iter().any(|&at| at >= self.sparse_dim()) {
            return invalid(op, format!("order {dims:?} would make a sparse axis a dense one"));
        }
        let rows: Vec<i64> = sparse.iter().map(|&at| at as i64).collect();
        let rows = AnyTensor::of_ints(rows, &[sparse.len()])?.to_device(self.values.device())?;
        let indices = self.raw_indices()?.index_select(0, &rows)?;
        let blocks: Vec<i64> =
            [0].into_iter().chain(dense.iter().map(|&at| (at - self.sparse_dim() + 1) as i64)).collect();
        let in_order = sparse.iter().enumerate().all(|(at, &from)| at == from);
        self.moved(&indices, &self.raw_values()?.permute(&blocks)?, &sizes, in_order)
    }

    /// Two axes exchanged (`torch.transpose`), both sparse or both dense.
    ///
    /// # Errors
    /// If an axis is out of range, or one is sparse and the other dense.
    #[doc(alias = "swapaxes")]
    #[doc(alias = "swapdims")]
    pub fn transpose(&self, dim0: i64, dim1: i64) -> Result<AnySparse> {
        let op = "transpose";
        let ((a, _), (b, _)) = (self.axis_of(op, dim0)?, self.axis_of(op, dim1)?);
        let mut order: Vec<i64> = (0..self.rank() as i64).collect();
        order.swap(a, b);
        self.permute(&order)
    }

    /// With an axis of size 1 inserted (`torch.unsqueeze`): a sparse one at positions up to the number of sparse axes, else a dense one.
    ///
    /// # Errors
    /// If the position is out of range or there are eight axes.
    #[doc(alias = "expand_dims")]
    #[doc(alias = "newaxis")]
    pub fn unsqueeze(&self, dim: i64) -> Result<AnySparse> {
        let op = "unsqueeze";
        let sizes = AnyTensor::meta(self.shape(), DType::Bool)?.unsqueeze(dim)?.sizes;
        let at = axis(op, dim, self.rank() + 1)?;
        let (indices, values) = (self.raw_indices()?, self.raw_values()?);
        if let Some(block) = at.checked_sub(self.sparse_dim() + 1) {
            return self.moved(&indices, &values.unsqueeze(block as i64 + 2)?, &sizes, true);
        }
        let row = self.values.zeros_like_device(&[1, self.nnz()], DType::I64)?;
        let (before, after) = (indices.narrow(0, 0, at)?, indices.narrow(0, at as i64, self.sparse_dim() - at)?);
        self.moved(&crate::any::cat(&[before, row, after], 0)?, &values, &sizes, true)
    }

    /// The positions from `start` on along an axis (`torch.narrow`).
    ///
    /// # Errors
    /// If the axis or a position is out of range.
    pub fn narrow(&self, dim: i64, start: i64, length: usize) -> Result<AnySparse> {
        let (at, block) = self.axis_of("narrow", dim)?;
        let sizes = AnyTensor::meta(self.shape(), DType::Bool)?.narrow(dim, start, length)?.sizes;
        let (indices, values) = (self.raw_indices()?, self.raw_values()?);
        if let Some(block) = block {
            return self.moved(&indices, &values.narrow(block as i64 + 1, start, length)?, &sizes, true);
        }
        let start = if start < 0 { start + self.shape()[at] as i64 } else { start };
        let row = indices.select(0, at as i64)?;
        let there = row.ge(start)?.bitwise_and(row.lt(start + length as i64)?)?;
        let kept = there.nonzero()?.reshape(&[-1])?;
        let mut indices = indices.index_select(1, &kept)?;
        indices.select_mut(0, at as i64)?.sub_(start)?;
        self.moved(&indices, &values.index_select(0, &kept)?, &sizes, true)
    }

    /// One position along an axis, which is removed (`torch.select`).
    ///
    /// # Errors
    /// If the axis or the position is out of range.
    #[doc(alias = "index")]
    pub fn select(&self, dim: i64, index: i64) -> Result<AnySparse> {
        let (at, block) = self.axis_of("select", dim)?;
        let sizes = AnyTensor::meta(self.shape(), DType::Bool)?.select(dim, index)?.sizes;
        let part = self.narrow(dim, index, 1)?;
        let (indices, values) = (part.raw_indices()?, part.raw_values()?);
        match block {
            Some(block) => self.moved(&indices, &values.select(block as i64 + 1, 0)?, &sizes, true),
            None => self.moved(&without_row(&indices, at)?, &values, &sizes, true),
        }
    }

    /// The sum along an axis, which is removed (`torch.sparse.sum(dim)`).
    ///
    /// # Errors
    /// If the axis is out of range or the dtype does not compute.
    pub fn sum_axis(&self, dim: i64) -> Result<AnySparse> {
        let (at, block) = self.axis_of("sum", dim)?;
        let sizes = [&self.shape()[..at], &self.shape()[at + 1..]].concat();
        let summed = match block {
            Some(block) => {
                let values = self.raw_values()?.sum(Some(&[block as i64 + 1]), false, None)?;
                self.moved(&self.raw_indices()?, &values, &sizes, true)?
            }
            None => {
                let values = self.raw_values()?;
                // Bools and integers are summed in int64.
                let counts = values.dtype().category() <= Category::Integral && !values.dtype().is_shell();
                let dtype = if counts { DType::I64 } else { values.dtype() };
                self.moved(&without_row(&self.raw_indices()?, at)?, &values.to(dtype)?, &sizes, false)?
            }
        };
        summed.coalesce()
    }

    /// Sparse tensors concatenated along an axis (`torch.cat`). Dtypes promote.
    ///
    /// # Errors
    /// If there are none, numbers of sparse or dense axes or other sizes differ, or dtypes do not promote.
    ///
    /// ```
    /// use castiron::{AnyTensor, any::AnySparse, tensor};
    /// let s = AnyTensor::from(tensor![[0, 1]]).to_sparse(0)?;
    /// let t = AnyTensor::from(tensor![[2.5, 0.0]]).to_sparse(0)?;
    /// let both = AnySparse::cat(&[&s, &t], 0)?;
    /// assert_eq!(both.to_dense()?.to_string(), "tensor([[0.0000, 1.0000],\n        [2.5000, 0.0000]])");
    /// # Ok::<(), castiron::Error>(())
    /// ```
    pub fn cat(tensors: &[&AnySparse], dim: i64) -> Result<AnySparse> {
        let op = "cat";
        let Some((first, rest)) = tensors.split_first() else {
            return invalid(op, "there is no tensor to join".to_owned());
        };
        let (at, block) = first.axis_of(op, dim)?;
        let mut sizes = Dims::known(first.shape());
        let mut dtype = first.dtype();
        for other in rest {
            let alike = other.rank() == first.rank() && other.dense_dim() == first.dense_dim();
            if !alike || (0..first.rank()).any(|axis| axis != at && other.shape()[axis] != first.shape()[axis]) {
                let expected = format!("{:?} with {} dense axes", first.shape(), first.dense_dim());
                return Err(Error::Shape { op, expected, found: other.shape().into() });
            }
            sizes[at] = sizes[at]
                .checked_add(other.shape()[at])
                .ok_or_else(|| Error::TooLarge { op, sizes: first.shape().into() })?;
            dtype = promote_types(dtype, other.dtype())?;
        }
        if dtype.is_shell() {
            return Err(crate::any::base::dispatch::refused(op, dtype));
        }
        let (mut indices, mut values, mut before) = (Vec::new(), Vec::new(), 0_i64);
        for x in tensors {
            let (mut own, mut blocks) = (x.raw_indices()?, x.raw_values()?.to(dtype)?);
            match block {
                None => {
                    own.select_mut(0, at as i64)?.add_(before)?;
                }
                // Blocks are padded with zeros at the positions of the other tensors' blocks.
                Some(block) => {
                    let mut wide = blocks.shape().to_vec();
                    wide[block + 1] = sizes[at];
                    let mut room = x.values.zeros_like_device(&wide, dtype)?;
                    room.narrow_mut(block as i64 + 1, before, x.shape()[at])?.copy_from(&blocks)?;
                    blocks = room;
                }
            }
            before += x.shape()[at] as i64;
            indices.push(own);
            values.push(blocks);
        }
        first.moved(&crate::any::cat(&indices, 1)?, &crate::any::cat(&values, 0)?, &sizes, false)
    }

    /// Sparse tensors of one shape stacked along a new sparse axis (`torch.stack`). Dtypes promote.
    ///
    /// # Errors
    /// As [`cat`](Self::cat), or if the position of the axis is out of range.
    pub fn stack(tensors: &[&AnySparse], dim: i64) -> Result<AnySparse> {
        let lifted = tensors.iter().map(|x| x.unsqueeze(dim)).collect::<Result<Vec<_>>>()?;
        AnySparse::cat(&lifted.iter().collect::<Vec<_>>(), dim)
    }
}

/// Indices without the row of an axis.
fn without_row(indices: &AnyTensor, at: usize) -> Result<AnyTensor> {
    let axes = indices.shape()[0];
    crate::any::cat(&[indices.narrow(0, 0, at)?, indices.narrow(0, at as i64 + 1, axes - at - 1)?], 0)
}
