//! Tensors combined: `meshgrid`, `cartesian_prod`, `broadcast_tensors`, `block_diag`.

use crate::any::AnyTensor;
use crate::any::base::by_width::{common_sizes, same_dtype};
use crate::any::join::cat_stack::{joined, joined_dtype};
use crate::composite::join::blocks;
use crate::error::{Result, invalid};
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
    let dtype = joined_dtype(op, tensors)?;
    joined!(tensors, dtype, |blocks| blocks::block_diag(blocks))
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
    if let [one] = tensors
        && one.rank() == 1
    {
        return Ok(one.clone());
    }
    let Some(first) = tensors.first() else { return invalid(op, "there are no tensors".to_owned()) };
    tensors.iter().try_for_each(|tensor| same_dtype(op, first, tensor))?;
    joined!(tensors, joined_dtype(op, tensors)?, |vectors| blocks::cartesian_prod(vectors))
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
