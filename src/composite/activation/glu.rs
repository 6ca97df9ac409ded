//! `glu`, the gated linear unit: half of a tensor is the gate of the other half.

use crate::composite::{Axis, Erased, Owned};
use crate::device::Device;
use crate::dtype::{Dtype, Element};
use crate::error::{Result, invalid};
use crate::ops;
use crate::ops::admit::FloatFor;
use crate::ops::losses::{Gated, Losing};
use crate::shape::{AxisArg, Dim, Halved, HasAxis};
use crate::tensor::Tensor;
use castiron_macros::composites;

#[composites]
impl<E: Element, D: Device> Erased<'_, E, D> {
    /// The first half along an axis times the sigmoid of the second, its gate: `a * sigmoid(b)`. The axis has half its size in the result.
    ///
    /// # Errors
    /// If the size is odd or the tensor is zero-dim.
    #[op(nn.functional.glu(input, dim = -1), dtypes = float)]
    #[typed(<const I: isize, H: Dim>(&self, axis: impl AxisArg<I>) -> Tensor<E, <S as HasAxis<I>>::Replace<H>, D>
        where
            E: FloatFor<ops::losses::glu>,
            S: HasAxis<I>,
            <S as HasAxis<I>>::Dim: Halved<Half = H>)]
    #[example(let x = tensor![2.0, 3.0, 0.0, 1000.0]; x.glu(axis![-1]), x.glu(-1), tensor![1.0, 3.0])]
    pub(crate) fn glu(&self, dim: Axis) -> Result<Owned<E, D>>
    where
        E: Dtype,
    {
        let op = "glu";
        let Some(&size) = self.sizes().get(dim.0) else {
            return invalid(op, "a zero-dim tensor has no halves".to_owned());
        };
        if !size.is_multiple_of(2) {
            let sizes = self.sizes();
            return invalid(op, format!("axis {} must have an even size, got a tensor of shape {sizes:?}", dim.0));
        }
        let half = size / 2;
        let (x, gate) = (self.narrow(op, dim, 0, half)?, self.narrow(op, dim, half, half)?);
        x.map2::<E, E>(op, Losing::<Gated>::new([0.0; 2]), &gate)
    }
}
