//! `diff`: differences of adjacent elements.

use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, invalid};
use crate::ops::pointwise::Differing;
use crate::shape::{AxisArg, Dyn, HasAxis};
use crate::tensor::Tensor;
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The differences of adjacent elements along an axis, taken `n` times: each time the axis is one shorter, until it is empty. For
    /// bools: whether they differ. Integers wrap.
    ///
    /// The new size is known at run time; for a `Tensor` use [`with_shape`](crate::Tensor::with_shape) to make it known to the compiler.
    /// PyTorch's `prepend` and `append` are a `cat` before.
    ///
    /// # Errors
    /// If the tensor is zero-dim.
    #[op(diff, dtypes = any)]
    #[typed(<const I: isize>(&self, axis: impl AxisArg<I>, n: usize) -> Tensor<E, <S as HasAxis<I>>::Replace<Dyn>, D>
        where
            E: Dtype,
            S: HasAxis<I>)]
    #[example(let x = tensor![[1, 4, 9], [2, 2, 3]]; x.diff(axis![1], 1).with_shape::<shape![2, 2]>(), x.diff(1, 1), tensor![[3, 5], [0, 1]])]
    pub(crate) fn diff(&self, n: usize, dim: Axis) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "diff";
        let Some(&size) = self.sizes().get(dim.0) else {
            return invalid(op, "a zero-dim tensor has no neighbours".to_owned());
        };
        let (mut differences, times) = (self.share(), n.min(size));
        for done in 0..times {
            let size = differences.sizes()[dim.0];
            if differences.is_empty() {
                // An axis of a tensor without elements can have any size, too many steps to loop over.
                return Ok(differences.narrow(op, dim, 0, size - (times - done))?.share());
            }
            let (former, latter) =
                (differences.narrow(op, dim, 0, size - 1)?, differences.narrow(op, dim, 1, size - 1)?);
            differences = latter.map2::<E, E>(op, Differing, &former)?;
        }
        Ok(differences)
    }
}
