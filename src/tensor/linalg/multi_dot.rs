//! Products of several matrices: `multi_dot`.

use crate::device::Device;
use crate::dtype::Dtype;
use crate::error::{Error, Result};
use crate::ops;
use crate::ops::admit::NumericFor;
use crate::shape::{Dim, Dyn, MayEqual};
use crate::tensor::Tensor;
use castiron_macros::fallible;

/// The number of columns of a matrix that is followed by matrices of `Rows` rows.
#[diagnostic::on_unimplemented(
    message = "multi_dot: inner sizes differ: matrices of `{Rows}` rows and `{Self}` columns don't follow one another",
    label = "the matrices of one list have one shape, so they are square, or have sizes known at run time",
    note = "matrices of several shapes go in one list as `shape![_, _]`: `a.with_shape::<shape![_, _]>()`; two are multiplied by `matmul`"
)]
pub trait FollowedBy<Rows> {}
#[diagnostic::do_not_recommend]
impl<N: MayEqual<M>, M> FollowedBy<M> for N {}

/// The product of several matrices, multiplied in the order with the fewest multiplications.
///
/// All have one dtype, which is the result's; `bool` is refused.
///
/// PyTorch: `torch.linalg.multi_dot`, of matrices.
///
/// # Panics
/// If there are none, sizes of neighbours do not match or memory runs out.
///
/// ```
/// use castiron::{multi_dot, shape, Tensor};
/// let wide = Tensor::<f32, shape![_, _]>::ones_sized([2, 100]);
/// let tall = Tensor::<f32, shape![_, _]>::ones_sized([100, 2]);
/// assert_eq!(multi_dot(&[&wide, &tall, &wide, &tall]).to_vec(), [20000.0; 4]);
/// ```
#[fallible(free)]
pub fn multi_dot<E, M: Dim, N, D: Device>(matrices: &[&Tensor<E, (M, N), D>]) -> Result<Tensor<E, (Dyn, Dyn), D>>
where
    E: NumericFor<ops::reduce::multi_dot>,
    N: Dim + FollowedBy<M>,
{
    let count = matrices.len();
    if count == 0 {
        let reason = "there are no matrices to multiply".to_owned();
        return Err(Error::InvalidArgument { op: "multi_dot", reason });
    }
    // `cost[i][j]` is the least cost of matrices `i` to `j`, `cut[i][j]` the first matrix of the right factor.
    let size = |at: usize| if at == 0 { matrices[0].shape()[0] } else { matrices[at - 1].shape()[1] };
    let (mut cost, mut cut) = (vec![vec![0_f64; count]; count], vec![vec![0; count]; count]);
    for len in 1..count {
        for first in 0..count - len {
            let last = first + len;
            cost[first][last] = f64::INFINITY;
            for middle in first + 1..=last {
                let product = size(first) as f64 * size(middle) as f64 * size(last + 1) as f64;
                let total = cost[first][middle - 1] + cost[middle][last] + product;
                if total < cost[first][last] {
                    (cost[first][last], cut[first][last]) = (total, middle);
                }
            }
        }
    }
    fn product<E: Dtype, M: Dim, N: Dim, D: Device>(
        matrices: &[&Tensor<E, (M, N), D>],
        cut: &[Vec<usize>],
        first: usize,
        last: usize,
    ) -> Result<Tensor<E, (Dyn, Dyn), D>> {
        if first == last {
            return Ok(matrices[first].clone().retyped());
        }
        let middle = cut[first][last];
        let (left, right) = (product(matrices, cut, first, middle - 1)?, product(matrices, cut, middle, last)?);
        crate::tensor::linalg::matmul::multiply(left.elements(), right.elements(), None)
    }
    product(matrices, &cut, 0, count - 1)
}
