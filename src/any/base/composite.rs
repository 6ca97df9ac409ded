//! Converts between `AnyTensor` and the operands and results of composites.

use crate::any::AnyTensor;
use crate::any::base::by_width::on_one_device;
use crate::any::base::operand::same_device;
use crate::any::view::views::{axes, axis};
use crate::composite::{Axis, Erased, Owned};
use crate::device::Dynamic;
use crate::dtype::Element;
use crate::error::{Result, invalid};

impl AnyTensor {
    /// The tensor, whose dtype is `E`, as an operand of a composite. (Not inline: it would be compiled for each dtype of each operation.)
    #[inline(never)]
    pub(crate) fn as_erased<E: Element>(&self) -> Result<Erased<'_, E, Dynamic>> {
        Ok(Erased::of(self.elements_as::<E>()?))
    }

    /// An axis that may be counted from the end.
    pub(crate) fn axis_from_end(&self, op: &'static str, dim: i64) -> Result<Axis> {
        axis(op, dim, self.rank()).map(Axis)
    }

    /// An axis of this tensor broadcast with another.
    pub(crate) fn axis_of_both(&self, op: &'static str, other: &AnyTensor, dim: i64) -> Result<Axis> {
        axis(op, dim, self.rank().max(other.rank())).map(Axis)
    }

    /// Several axes, each named once, that may be counted from the end.
    pub(crate) fn axes_from_end(&self, op: &'static str, dims: &[i64]) -> Result<Vec<usize>> {
        axes(op, dims, self.rank())
    }

    /// Both, which have one dtype, on one device: a zero-dim tensor of the host joins the other.
    pub(crate) fn joined_by(&self, op: &'static str, other: &AnyTensor) -> Result<[AnyTensor; 2]> {
        self.expect_one_dtype(op, [Some(other)])?;
        on_one_device([self, other])
    }

    /// Checks that an operand has the device and dtype of `self`.
    #[cfg_attr(not(feature = "linalg"), allow(dead_code))]
    pub(crate) fn expect_beside<F: Element>(&self, op: &'static str, name: &str, other: &AnyTensor) -> Result<()> {
        same_device(op, self, other)?;
        if other.dtype == F::DTYPE {
            return Ok(());
        }
        invalid(op, format!("{name} should be a Tensor of scalar type torch.{}, got {}", F::DTYPE, other.dtype))
    }
}

/// Converts a result of a composite to `AnyTensor`.
pub(crate) trait IntoAny {
    type Any;
    fn into_any(self) -> Self::Any;
}
impl<E: Element> IntoAny for Owned<E, Dynamic> {
    type Any = AnyTensor;
    #[inline(never)]
    fn into_any(self) -> AnyTensor {
        let (storage, offset, sizes, strides) = self.into_parts();
        AnyTensor::from_erased(storage, E::DTYPE, offset, sizes, strides)
    }
}
impl<A: IntoAny, B: IntoAny> IntoAny for (A, B) {
    type Any = (A::Any, B::Any);
    fn into_any(self) -> Self::Any {
        (self.0.into_any(), self.1.into_any())
    }
}
impl<A: IntoAny, B: IntoAny, C: IntoAny> IntoAny for (A, B, C) {
    type Any = (A::Any, B::Any, C::Any);
    fn into_any(self) -> Self::Any {
        (self.0.into_any(), self.1.into_any(), self.2.into_any())
    }
}
impl<A: IntoAny, B: IntoAny, C: IntoAny, D: IntoAny> IntoAny for (A, B, C, D) {
    type Any = (A::Any, B::Any, C::Any, D::Any);
    fn into_any(self) -> Self::Any {
        (self.0.into_any(), self.1.into_any(), self.2.into_any(), self.3.into_any())
    }
}
impl<A: IntoAny> IntoAny for Vec<A> {
    type Any = Vec<A::Any>;
    fn into_any(self) -> Self::Any {
        self.into_iter().map(IntoAny::into_any).collect()
    }
}
