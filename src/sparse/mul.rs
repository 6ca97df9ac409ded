//! Elementwise products: sparse with sparse at common indices; sparse with strided at the sparse tensor's indices.

use super::attributes::columns;
use super::dense::expect_same;
use super::rows::{scatter_rows, select_rows, zero_rows};
use super::{Rows, SparseTensor};
use crate::device::{Backend as _, Cpu};
use crate::dtype::{DType, Dtype};
use crate::error::{Result, filled, room};
use crate::layout::strides;
use crate::ops;
use crate::ops::kernel::{Combining, Copying};
use crate::shape::{Shape, SizeArray, expect_broadcast};
use crate::tensor::{Tensor, map2};

/// `a * b` in the dtype `P`, row by row.
fn product_of_rows<A: Dtype, B: Dtype, P: Dtype>(a: &Rows<A>, b: &Rows<B>) -> Result<Rows<P>> {
    debug_assert_eq!(a.shape(), b.shape());
    let common = [P::DTYPE, P::DTYPE] as [DType; 2];
    map2::<_, _, _, Cpu, P>(Combining::<ops::mul, P>::new(), a.elements(), b.elements(), a.shape(), common)
}

/// The positions of common keys in two ascending lists.
fn common_keys(a: &[i64], b: &[i64]) -> (Vec<i64>, Vec<i64>) {
    let (mut in_a, mut in_b, mut from) = (Vec::new(), Vec::new(), 0);
    for (at, key) in a.iter().enumerate() {
        from += b[from..].partition_point(|other| other < key);
        if b.get(from) == Some(key) {
            in_a.push(at as i64);
            in_b.push(from as i64);
        }
    }
    (in_a, in_b)
}

/// `a * b` in the dtype `P` and of shape `U`.
///
/// As in PyTorch (`mul_out_sparse_cpu`): for two coalesced tensors, the common indices; else the indices of one, each looked up in the
/// other, with a zero if missing. The lookup is in the coalesced tensor, or in the longer list.
pub(super) fn product<A: Dtype, B: Dtype, P: Dtype, S: Shape, T: Shape, U: Shape, const N: usize>(
    a: &SparseTensor<A, S, N>,
    b: &SparseTensor<B, T, N>,
) -> Result<SparseTensor<P, U, N>> {
    expect_same("mul", a.shape().as_ref(), b.shape().as_ref())?;
    let sizes = U::Sizes::copied(a.shape().as_ref());
    if a.nnz() == 0 || b.nnz() == 0 {
        return Ok(a.try_zeros_like()?.try_to::<P>()?.retyped_sparse());
    }
    if a.is_coalesced() && b.is_coalesced() {
        let (in_left, in_right) = common_keys(&a.keys()?, &b.keys()?);
        let values =
            product_of_rows(&select_rows(&a.parts.values, &in_left)?, &select_rows(&b.parts.values, &in_right)?)?;
        return Ok(SparseTensor::assembled(sizes, columns(&a.parts.indices, &in_left)?, values, true));
    }
    let left_is_looked_up = if a.is_coalesced() != b.is_coalesced() { a.is_coalesced() } else { a.nnz() >= b.nnz() };
    let left = if left_is_looked_up { a.try_coalesce()? } else { a.clone() };
    let right = if left_is_looked_up { b.clone() } else { b.try_coalesce()? };
    let (left_keys, right_keys) = (left.keys()?, right.keys()?);
    let (in_left, in_right, written, indices);
    if left_is_looked_up {
        (in_left, in_right) = find_keys(&left_keys, &right_keys)?;
        (written, indices) = (in_right.clone(), right.raw_indices());
    } else {
        (in_right, in_left) = find_keys(&right_keys, &left_keys)?;
        (written, indices) = (in_left.clone(), left.raw_indices());
    }
    let found = product_of_rows::<A, B, P>(
        &select_rows(&left.parts.values, &in_left)?,
        &select_rows(&right.parts.values, &in_right)?,
    )?;
    let mut values = zero_rows::<P>("mul", [indices.shape()[1], found.shape()[1]])?;
    scatter_rows("mul", &mut values, written, &found)?;
    Ok(SparseTensor::assembled(sizes, indices, values, false))
}

/// For each key found in the ascending list: its position there, and among the keys.
fn find_keys(list: &[i64], keys: &[i64]) -> Result<(Vec<i64>, Vec<i64>)> {
    let (mut there, mut here) = (room(keys.len())?, room(keys.len())?);
    for (at, key) in keys.iter().enumerate() {
        if let Ok(found) = list.binary_search(key) {
            there.push(found as i64);
            here.push(at as i64);
        }
    }
    Ok((there, here))
}

/// `sparse * dense` at the sparse tensor's indices; the dense tensor is broadcast.
pub(super) fn product_with_dense<A: Dtype, B: Dtype, P: Dtype, S: Shape, T: Shape, const N: usize>(
    sparse: &SparseTensor<A, S, N>,
    dense: &Tensor<B, T>,
) -> Result<SparseTensor<P, S, N>> {
    let (own, sizes) = (dense.shape(), sparse.shape());
    let (own, sizes) = (own.as_ref(), sizes.as_ref());
    expect_broadcast("mul", own, sizes)?;
    // Broadcasts the dense axes only: one row per block that the strided tensor has itself.
    let sparse_axes = sizes.len() - N;
    let mut lifted = vec![1; sizes.len() - own.len()];
    lifted.extend_from_slice(own);
    let blocks = lifted[..sparse_axes].to_vec();
    let whole = [&blocks[..], &sizes[sparse_axes..]].concat();
    let from = strides::broadcast_list(own, dense.stride().as_ref(), &whole);
    let storage = Cpu::map1::<B, B>(Copying, dense.elements().restrided(&whole, &from), &strides::row_major(&whole))?;
    let shape = [blocks.iter().product::<usize>(), sizes[sparse_axes..].iter().product()];
    let rows: Rows<B> = Tensor::dense(storage, shape);
    // An axis of size 1 has index 0 only.
    let nnz = sparse.nnz();
    let indices = Cpu::download(sparse.parts.indices.elements())?;
    let mut keys = filled(0_i64, nnz)?;
    for (axis, &size) in blocks.iter().enumerate() {
        for (key, index) in keys.iter_mut().zip(&indices[axis * nnz..]) {
            *key = *key * size as i64 + if size == 1 { 0 } else { *index };
        }
    }
    Ok(sparse.with_values(product_of_rows(&sparse.parts.values, &select_rows(&rows, &keys)?)?))
}
