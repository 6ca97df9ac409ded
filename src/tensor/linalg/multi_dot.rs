//! Products of several matrices: `multi_dot`.

use crate::device::Device;
use crate::error::{Result, listed};
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
    let lent = listed(matrices.iter().map(|matrix| matrix.erased()))?;
    crate::composite::linalg::multi_dot::multi_dot(&lent)?.typed("multi_dot")
}
