//! `vjp`: the gradient of any result, from that of the result.

use super::constants::Constants;
use super::front::{Grad, Learned};
use super::leaves::Lifting;
use super::pull::{Gradients, Graph, PullsBack};
use super::tape::{Layout, Operand};
use super::taped::Taped;
use crate::device::Device;
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::io::{MapTensors, ToDevice};
use crate::shape::Shape;
use crate::tensor::Tensor;

/// Where each tensor of a result is on its tape.
pub(super) struct Placing<B> {
    pub(super) places: Vec<Operand<B>>,
}
impl<D: Device> MapTensors<Taped<D>, D> for Placing<D::Storage> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, Taped<D>>) -> Result<Tensor<E, S, D>> {
        self.places.push(<Taped<D> as PullsBack>::operand(x.elements()));
        Ok(x.detach())
    }
}
/// Adds cotangents to the gradients of a result's tensors.
pub(super) struct Seeding<'a, D: Device> {
    pub(super) places: core::slice::Iter<'a, Operand<D::Storage>>,
    pub(super) gradients: &'a mut Gradients<D::Storage>,
}
impl<D: Device> MapTensors<D, D> for Seeding<'_, D> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, D>> {
        let Some(place) = self.places.next() else { return unlike() };
        let view = x.elements();
        if place.dtype() != E::DTYPE || *place.sizes() != *view.sizes {
            return unlike();
        }
        if place.node.is_some() {
            let (storage, offset) = D::share(view);
            let layout = Layout::of::<E>(view.sizes, view.strides);
            self.gradients.add_storage::<E, D>(place, storage, offset, layout)?;
        }
        Ok(x.clone())
    }
}
#[cold]
fn unlike<T>() -> Result<T> {
    invalid("vjp", "the gradient of a result has the result's tensors, with their sizes".to_owned())
}

/// The way back from a result of [`Grad::vjp`].
pub struct Pullback<'a, P: ToDevice, R> {
    parameters: &'a P,
    lifting: Lifting<P::Device>,
    places: Vec<Operand<<P::Device as crate::device::Backend>::Storage>>,
    result: core::marker::PhantomData<fn(R)>,
}
impl<P: ToDevice, R: ToDevice<Device = P::Device>> Pullback<'_, P, R> {
    /// The gradient of each parameter, from the gradient of the result (its cotangent). Steps are let go on the way, so it is taken once.
    ///
    /// # Panics
    /// If the cotangent's tensors have other sizes than the result's, or memory runs out.
    #[track_caller]
    pub fn pull(self, cotangent: &R) -> P
    where
        P: ToDevice<On<<P as ToDevice>::Device> = P>,
    {
        match self.try_pull(cotangent) {
            Ok(grads) => grads,
            Err(error) => panic!("{error}"),
        }
    }
    /// [`pull`](Self::pull) that returns errors.
    ///
    /// # Errors
    /// As there.
    pub fn try_pull(self, cotangent: &R) -> Result<P>
    where
        P: ToDevice<On<<P as ToDevice>::Device> = P>,
    {
        let Pullback { parameters, mut lifting, places, .. } = self;
        let seed = |gradients: &mut Gradients<_>| {
            cotangent.mapped(&mut Seeding { places: places.iter(), gradients })?;
            Ok(())
        };
        lifting.gradients(parameters, false, Graph::Freed, seed)
    }
}

/// See [`Grad::vjp`].
pub(super) fn vjp<'a, P, C, R>(
    parameters: &'a P,
    constants: C,
    function: impl FnOnce(&P::On<Taped<P::Device>>, C::Given<'_>) -> Result<R>,
) -> Result<(R::On<P::Device>, Pullback<'a, P, R::On<P::Device>>)>
where
    P: Grad,
    P::Holds: Learned,
    C: Constants<P::Device>,
    R: ToDevice<Device = Taped<P::Device>>,
{
    let mut lifting = Lifting::<P::Device>::new();
    let lifted = parameters.mapped(&mut lifting)?;
    let constants = constants.lift()?;
    let result = function(&lifted, C::given(&constants))?;
    let mut placing = Placing { places: Vec::new() };
    let value = result.mapped(&mut placing)?;
    drop((result, constants, lifted));
    lifting.finish();
    let places = placing.places;
    Ok((value, Pullback { parameters, lifting, places, result: core::marker::PhantomData }))
}
