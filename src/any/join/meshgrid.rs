//! Tensors combined: `meshgrid`, `cartesian_prod`, `broadcast_tensors`, `block_diag`.

use crate::any::AnyTensor;
use crate::any::base::by_width::{common_sizes, invalid, same_dtype};
use crate::any::elementwise::apply::same_device;
use crate::any::join::cat_stack::{promoted_all, raised, stack};
use crate::error::{Error, Result};
use castiron_macros::operations;

/// Matrices along the diagonal of a matrix of zeros (`torch.block_diag`). Vectors count as rows; dtypes promote.
///
/// # Errors
/// If one has more than two axes.
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![[1, 2]]), AnyTensor::from(tensor![[3], [4]]));
/// assert_eq!(any::block_diag(&[a, b])?.to_string(), "tensor([[1, 2, 0],\n        [0, 0, 3],\n        [0, 0, 4]])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn block_diag(tensors: &[AnyTensor]) -> Result<AnyTensor> {
    let op = "block_diag";
    if tensors.is_empty() {
        return AnyTensor::zeros(&[1, 0], crate::any::base::operand::default_float());
    }
    if let Some(tensor) = tensors.iter().find(|tensor| tensor.rank() > 2) {
        return invalid(op, format!("matrices at most are wanted, got a tensor of shape {:?}", tensor.shape()));
    }
    let (blocks, dtype) = (raised(tensors, &[0, 0])?, promoted_all(op, tensors)?);
    let columns = blocks.iter().try_fold(0_usize, |sum, block| sum.checked_add(block.sizes[1]));
    let columns = columns.ok_or_else(|| Error::TooLarge { op, sizes: [usize::MAX][..].into() })?;
    let rows = blocks.iter().try_fold(0_usize, |sum, block| sum.checked_add(block.sizes[0]));
    let rows = rows.ok_or_else(|| Error::TooLarge { op, sizes: [usize::MAX][..].into() })?;
    let (mut result, mut first) = (blocks[0].zeros_like_device(&[rows, columns], dtype)?, [0, 0]);
    for block in &blocks {
        same_device(op, &blocks[0], block)?;
        let [height, width] = [block.sizes[0], block.sizes[1]];
        let place = |x: &AnyTensor| x.narrow(0, first[0], height)?.narrow(1, first[1], width);
        result = result.view_overwritten(op, place, block)?;
        first = [first[0] + height as i64, first[1] + width as i64];
    }
    Ok(result)
}

/// Tensors expanded to one shape (`torch.broadcast_tensors`): views.
///
/// # Errors
/// If the shapes do not broadcast.
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![[1], [2]]), AnyTensor::from(tensor![3, 4]));
/// let both = any::broadcast_tensors(&[a, b])?;
/// assert_eq!(both[0].to_string(), "tensor([[1, 1],\n        [2, 2]])");
/// assert_eq!(both[1].to_string(), "tensor([[3, 4],\n        [3, 4]])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn broadcast_tensors(tensors: &[AnyTensor]) -> Result<Vec<AnyTensor>> {
    let sizes = common_sizes("broadcast_tensors", tensors)?;
    tensors.iter().map(|tensor| tensor.expanded_to(&sizes)).collect()
}

/// The coordinates of a grid (`torch.meshgrid`): each vector, laid along its own axis, expanded to the sizes of all. `indexing` is `"ij"`,
/// or `"xy"`, which exchanges the first two axes.
///
/// # Errors
/// If one has more than one axis, or dtypes differ.
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![1, 2]), AnyTensor::from(tensor![3, 4]));
/// let grids = any::meshgrid(&[a, b], "ij")?;
/// assert_eq!(grids[0].to_string(), "tensor([[1, 1],\n        [2, 2]])");
/// assert_eq!(grids[1].to_string(), "tensor([[3, 4],\n        [3, 4]])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn meshgrid(tensors: &[AnyTensor], indexing: &str) -> Result<Vec<AnyTensor>> {
    let op = "meshgrid";
    let Some(first) = tensors.first() else { return invalid(op, "there are no tensors".to_owned()) };
    for tensor in tensors {
        same_dtype(op, first, tensor)?;
        if tensor.rank() > 1 {
            return invalid(op, format!("vectors are wanted, got a tensor of shape {:?}", tensor.shape()));
        }
    }
    let turned = match indexing {
        "ij" => false,
        "xy" => tensors.len() > 1,
        other => return invalid(op, format!("`indexing` is \"ij\" or \"xy\", got {other:?}")),
    };
    let mut sizes: Vec<usize> = tensors.iter().map(AnyTensor::numel).collect();
    let place = |at: usize| if turned && at < 2 { 1 - at } else { at };
    if turned {
        sizes.swap(0, 1);
    }
    crate::any::Dims::new(op, &sizes)?;
    let grid = |(at, tensor): (usize, &AnyTensor)| {
        let mut own = vec![1; sizes.len()];
        own[place(at)] = tensor.numel() as i64;
        tensor.reshape(&own)?.expanded_to(&sizes)
    };
    tensors.iter().enumerate().map(grid).collect()
}

/// All combinations of one element from each vector, as rows (`torch.cartesian_prod`). A single vector is returned as it is.
///
/// # Errors
/// If one is not a vector, or dtypes differ.
///
/// ```
/// use castiron::{AnyTensor, any, tensor};
/// let (a, b) = (AnyTensor::from(tensor![1, 2]), AnyTensor::from(tensor![3]));
/// assert_eq!(any::cartesian_prod(&[a, b])?.to_string(), "tensor([[1, 3],\n        [2, 3]])");
/// # Ok::<(), castiron::Error>(())
/// ```
pub fn cartesian_prod(tensors: &[AnyTensor]) -> Result<AnyTensor> {
    let op = "cartesian_prod";
    if let Some(tensor) = tensors.iter().find(|tensor| tensor.rank() != 1) {
        return invalid(op, format!("vectors are wanted, got a tensor of shape {:?}", tensor.shape()));
    }
    if let [one] = tensors {
        return Ok(one.clone());
    }
    let columns = meshgrid(tensors, "ij")?.iter().map(|grid| grid.reshape(&[-1])).collect::<Result<Vec<_>>>()?;
    stack(&columns, 1)
}

#[operations]
impl AnyTensor {
    #[op(block_diag(*tensors))]
    fn block_diag_by_name(tensors: &[AnyTensor]) -> Result<AnyTensor> {
        block_diag(tensors)
    }

    #[op(broadcast_tensors(*tensors))]
    fn broadcast_tensors_by_name(tensors: &[AnyTensor]) -> Result<Vec<AnyTensor>> {
        broadcast_tensors(tensors)
    }

    #[op(meshgrid(*tensors, indexing = "ij"))]
    fn meshgrid_by_name(tensors: &[AnyTensor], indexing: &str) -> Result<Vec<AnyTensor>> {
        meshgrid(tensors, indexing)
    }

    #[op(cartesian_prod(*tensors))]
    fn cartesian_prod_by_name(tensors: &[AnyTensor]) -> Result<AnyTensor> {
        cartesian_prod(tensors)
    }
}
