//! `prelu`: slopes of negative elements, for each channel.

use crate::composite::{Erased, Owned};
use crate::device::{Device, Receives};
use crate::dtype::Dtype;
use crate::dtype::scalar::Dimensioned;
use crate::error::{Result, invalid};
use crate::layout::dims::Dims;
use crate::ops::admit::{FloatFor, SameDtypeFor};
use crate::ops::choosing::Folding;
use crate::ops::pointwise::{self, PreluFormula};
use crate::shape::{IndexList, SlopesOf};
use crate::tensor::TensorOperand;
use castiron_macros::composites;

#[composites]
impl<E: Dtype, D: Device> Erased<'_, E, D> {
    /// Positive elements unchanged, others times a slope: one for all, or one for each channel (axis 1).
    ///
    /// Shape: that of `self`; the slopes are zero-dim or a list. All have one dtype.
    ///
    /// # Errors
    /// If there is neither one slope nor one for each channel.
    #[op(prelu(input, weight), dtypes = float, aliases("nn.functional.prelu"))]
    #[any([self, weight] = self.joined_by("prelu", weight)?)]
    #[typed(<W: TensorOperand>(&self, weight: W) -> Self
        where
            E: FloatFor<pointwise::prelu> + SameDtypeFor<W::Elem, pointwise::prelu>,
            W::Shape: IndexList + SlopesOf<S>,
            D: Receives<W::Place, Dimensioned>)]
    #[example(let x = tensor![[-1.0, -2.0], [3.0, -4.0]]; let weight = tensor![0.5, 0.25]; x.prelu(&weight), x.prelu(&weight), tensor![[-0.5, -0.5], [3.0, -1.0]])]
    pub(crate) fn prelu(&self, weight: &Erased<'_, E, D>) -> Result<Owned<E, D>> {
        let (op, slopes) = ("prelu", weight.numel());
        if (self.rank() == 0 && slopes != 1) || weight.rank() > 1 {
            let (own, of) = (self.sizes(), weight.sizes());
            let reason =
                format!("a weight, or a list of them and a tensor with axes are wanted, got {own:?} and {of:?}");
            return invalid(op, reason);
        }
        let channels = self.sizes().get(1).copied().unwrap_or(1);
        if slopes != 1 && slopes != channels {
            return invalid(op, format!("{channels} channels take as many slopes or one, got {slopes}"));
        }
        let mut across = Dims::of_rank(op, self.rank())?;
        across.iter_mut().enumerate().for_each(|(axis, size)| *size = if axis == 1 { slopes } else { 1 });
        self.map2(op, Folding::<PreluFormula>::new(), &weight.reshape(op, &across)?)
    }
}
