//! Tensors laid out in a new one: `block_diag`, `cartesian_prod`.

use crate::composite::{Erased, Owned};
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Error, Result, invalid};
use crate::layout::dims::Dims;
use crate::ops::kernel::Copying;
use crate::storage::ViewMut;
use crate::tensor::checked_numel;

/// Matrices along the diagonal of a matrix of zeros. Vectors and zero-dim tensors are blocks of one row.
pub(crate) fn block_diag<E: Element, D: Device>(blocks: &[Erased<'_, E, D>]) -> Result<Owned<E, D>> {
    let op = "block_diag";
    let Some(first) = blocks.first() else {
        // As in PyTorch: one row without columns.
        return Ok(Erased::dense(D::zeroed::<E>(None, 0)?, Dims::known(&[1, 0])));
    };
    if let Some(block) = blocks.iter().find(|block| block.rank() > 2) {
        return invalid(op, format!("matrices at most are wanted, got a tensor of shape {:?}", block.sizes()));
    }
    let as_matrix = |values: &[usize]| match *values {
        [rows, columns] => [rows, columns],
        [columns] => [1, columns],
        _ => [1, 1],
    };
    let sum = |of: usize| blocks.iter().try_fold(0_usize, |sum, block| sum.checked_add(as_matrix(block.sizes())[of]));
    let (Some(rows), Some(columns)) = (sum(0), sum(1)) else {
        return Err(Error::TooLarge { op, sizes: [usize::MAX][..].into() });
    };
    let sizes = Dims::known(&[rows, columns]);
    let mut storage = D::zeroed::<E>(Some(first.storage()), checked_numel::<E>(op, &sizes)?)?;
    // The row and column of the next block.
    let (mut corner, strides) = ([0, 0], sizes.row_major());
    for block in blocks {
        let (sizes, own) = (as_matrix(block.sizes()), as_matrix(block.strides()));
        if !block.is_empty() {
            let out = ViewMut::<_, E>::new(&mut storage, corner[0] * strides[0] + corner[1], &sizes, &strides);
            D::map1_into(Copying, block.view().restrided(&sizes, &own), out)?;
        }
        corner = [corner[0] + sizes[0], corner[1] + sizes[1]];
    }
    Ok(Erased::dense(storage, sizes))
}

/// All combinations of one element from each vector, as rows.
pub(crate) fn cartesian_prod<E: Element, D: Device>(vectors: &[Erased<'_, E, D>]) -> Result<Owned<E, D>> {
    let (op, count) = ("cartesian_prod", vectors.len());
    let Some(first) = vectors.first() else { return invalid(op, "there are no tensors".to_owned()) };
    let mut sizes = Dims::of_rank(op, count)?;
    for (size, vector) in sizes.iter_mut().zip(vectors) {
        let &[len] = vector.sizes() else {
            return invalid(op, format!("vectors are wanted, got a tensor of shape {:?}", vector.sizes()));
        };
        *size = len;
    }
    let rows = checked_numel::<E>(op, &sizes)?;
    let result = Dims::known(&[rows, count]);
    let mut storage = D::zeroed::<E>(Some(first.storage()), checked_numel::<E>(op, &result)?)?;
    if rows > 0 {
        let mut strides = sizes.row_major();
        strides.iter_mut().for_each(|stride| *stride *= count);
        for (column, vector) in vectors.iter().enumerate() {
            // The vector lies along its own axis, and is repeated along the others.
            let mut own = sizes;
            own.fill(0);
            own[column] = vector.strides()[0];
            let out = ViewMut::<_, E>::new(&mut storage, column, &sizes, &strides);
            D::map1_into(Copying, vector.view().restrided(&sizes, &own), out)?;
        }
    }
    Ok(Erased::dense(storage, result))
}
