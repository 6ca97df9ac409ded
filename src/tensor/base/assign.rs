//! Writing whole tensors: `assign` (implicit casts only), `copy_from` (any conversion), `fill`.

use crate::device::{Device, Receives, Source};
use crate::dtype::{CanCast, CastTo, Castable, Element, Scalar};
use crate::error::{Result, unwrap};
use crate::layout::strides;
use crate::ops::kernel::{Casting, FillWith};
use crate::shape::{Broadcast, Shape, WrittenTo, expect_broadcast};
use crate::storage::View;
use crate::tensor::base::operand::{Operand, OperandSource};
use crate::tensor::create::constructors::fill_value;
use crate::tensor::elementwise::apply::is_value;
use crate::tensor::{SameDevice, Tensor};
use castiron_macros::fallible;

/// A private token: code outside the crate cannot name it, and so cannot implement a trait method that takes it. The target of an
/// assignment may be the tensor of a mutable view, which must not be moved out.
pub struct Inside;

/// Operands that can be written into all of a tensor: a tensor, a scalar, or a lazy expression.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be assigned to `Tensor<{E}, {S}, {D}>`",
    label = "expected a tensor, a reference to one, a lazy expression, or a Rust scalar"
)]
pub trait AssignedFrom<E: Element, S: Shape, D: Device> {
    fn assigned_from(self, to: &mut Tensor<E, S, D>, _: Inside) -> Result<()>;
}
impl<E, S, D, R> AssignedFrom<E, S, D> for R
where
    E: Element + Castable,
    R: Operand,
    R::Elem: CanCast<E>,
    S: Shape + Broadcast<R::Shape>,
    <S as Broadcast<R::Shape>>::Output: WrittenTo<S>,
    D: Device + Receives<R::Place, R::Kind>,
{
    fn assigned_from(self, to: &mut Tensor<E, S, D>, _: Inside) -> Result<()> {
        if const { is_value::<R, D>() } {
            let value = match self.source() {
                OperandSource::Scalar(value) => fill_value::<E>("assign", value)?,
                OperandSource::View(view) => match <D as Receives<R::Place, R::Kind>>::right(view)? {
                    Source::Value(value) => value.cast(),
                    Source::View(_) => unreachable!("the operand is moved"),
                },
            };
            return D::update1(FillWith(value), to.elements_mut()?);
        }
        let OperandSource::View(view) = self.source() else { unreachable!("a tensor has elements") };
        let Source::View(view) = <D as Receives<R::Place, R::Kind>>::right(view)? else {
            unreachable!("the operand is where the result is")
        };
        to.write("assign", view)
    }
}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// Writes converted elements, broadcast to the sizes of `self`.
    fn write<F: Element + CastTo<E>>(&mut self, op: &'static str, from: View<'_, D::Storage, F>) -> Result<()> {
        let sizes = self.shape();
        let to = sizes.as_ref();
        expect_broadcast(op, from.sizes, to)?;
        let strides = strides::broadcast(from.sizes, from.strides, &sizes);
        D::map1_into::<F, E>(Casting, from.restrided(to, strides.as_ref()), self.elements_mut()?)
    }

    /// Writes a tensor or scalar into every element, broadcast and cast to the dtype of `self`. Only casts that a result may undergo
    /// implicitly are allowed (see [`CanCast`]); [`copy_from`](Self::copy_from) converts anything.
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast or a scalar does not fit; nothing is written then.
    ///
    /// ```
    /// use castiron::tensor;
    /// let mut x = tensor![[1.0, 2.0], [3.0, 4.0]];
    /// x.assign(tensor![7, 8]);
    /// assert_eq!(x.to_vec(), [7.0, 8.0, 7.0, 8.0]);
    /// ```
    #[fallible]
    pub fn assign<R: AssignedFrom<E, S, D>>(&mut self, rhs: R) -> Result<()> {
        rhs.assigned_from(self, Inside)
    }

    /// Writes a tensor's elements, broadcast and converted from any dtype (`torch.Tensor.copy_`).
    ///
    /// # Panics
    /// If sizes known at run time do not broadcast; nothing is written then.
    ///
    /// ```
    /// use castiron::tensor;
    /// let mut x = tensor![0, 0];
    /// x.copy_from(&tensor![1.9, -1.9]);
    /// assert_eq!(x.to_vec(), [1, -1]);
    /// ```
    #[fallible]
    pub fn copy_from<F: CastTo<E>, T, X: Device>(&mut self, from: &Tensor<F, T, X>) -> Result<()>
    where
        S: Broadcast<T>,
        <S as Broadcast<T>>::Output: WrittenTo<S>,
        T: Shape + SameDevice<D, X>,
    {
        self.write("copy_from", T::here(from).elements())
    }

    /// Sets all elements to zero (`torch.Tensor.zero_`).
    ///
    /// # Panics
    /// If storage is shared and memory for a copy runs out.
    ///
    /// ```
    /// assert_eq!(castiron::tensor![1, 2].zero_().to_vec(), [0, 0]);
    /// ```
    #[track_caller]
    pub fn zero_(&mut self) -> &mut Self {
        unwrap(self.elements_mut().and_then(|view| D::update1(FillWith(E::default()), view)));
        self
    }

    /// Sets all elements to one value, converted to the dtype (`torch.Tensor.fill_`).
    ///
    /// # Panics
    /// If the value does not fit the dtype; nothing is written then.
    ///
    /// ```
    /// let mut x = castiron::tensor![1, 2];
    /// x.fill(7.9);
    /// assert_eq!(x.to_vec(), [7, 7]);
    /// ```
    #[fallible]
    pub fn fill(&mut self, value: impl Scalar) -> Result<()>
    where
        E: Castable,
    {
        let value = fill_value::<E>("fill", value.value())?;
        D::update1(FillWith(value), self.elements_mut()?)
    }
}
