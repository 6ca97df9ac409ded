//! Gradients of gradients, and derivatives along directions: `hvp`, `jvp`, `hessian`, `jacobian`, and gradients of each sample.

use super::constants::{Constant, Constants};
use super::front::{Auxiliary, Grad, Learned, Loss};
use super::leaves::Lifting;
use super::pull::{Gradients, Graph, PullsBack};
use super::tape::{Layout, Operand};
use super::taped::Taped;
use super::vjp::{Placing, Seeding};
use crate::device::Device;
use crate::dtype::{Element, Float};
use crate::error::{Error, Result, room};
use crate::io::{MapTensors, ToDevice};
use crate::layout::dims::Dims;
use crate::ops::kernel::{Copying, FillWith};
use crate::shape::{Beside, Dim, Shape, SizeArray, numel};
use crate::storage::ViewMut;
use crate::tensor::Tensor;

/// The tape of a tape: what tensors are on where a gradient is taken of a gradient.
pub(super) type Twice<D> = Taped<Taped<D>>;
/// What a function is given of constants on the tape of a tape.
pub(super) type GivenTwice<'a, C, D> = <C as Constants<D, Twice<D>>>::Given<'a>;

/// Parameters on a tape: the same type on another device, so that gradients are taken of them there.
#[doc(hidden)]
pub trait OnTape<P: ToDevice>:
    Sized
    + ToDevice<Device = Taped<P::Device>, On<P::Device> = P, Holds: Learned>
    + ToDevice<On<Taped<P::Device>> = Self>
    + ToDevice<On<Twice<P::Device>> = P::On<Twice<P::Device>>>
{
}
impl<P, T> OnTape<P> for T
where
    P: ToDevice,
    T: ToDevice<Device = Taped<P::Device>, On<P::Device> = P, Holds: Learned>
        + ToDevice<On<Taped<P::Device>> = T>
        + ToDevice<On<Twice<P::Device>> = P::On<Twice<P::Device>>>,
{
}

/// See [`Grad::try_hvp`].
#[allow(clippy::type_complexity)]
pub(super) fn hvp<P, C, L>(
    parameters: &P,
    direction: &P,
    constants: C,
    function: impl FnOnce(&P::On<Twice<P::Device>>, GivenTwice<'_, C, P::Device>) -> Result<L>,
) -> Result<(<L::Value as Auxiliary<P::Device>>::Off, P, P)>
where
    P: Grad + ToDevice<On<<P as ToDevice>::Device> = P, Holds: Learned>,
    P::On<Taped<P::Device>>: OnTape<P>,
    C: Constants<P::Device, Twice<P::Device>>,
    L: Loss<Taped<P::Device>, Value: Auxiliary<P::Device>>,
{
    let constants = constants.lift()?;
    let mut value = None;
    let (grads, back) = parameters.try_vjp((), |x, ()| {
        let (loss, grads) = x.try_value_and_grad((), |x, ()| function(x, C::given(&constants)))?;
        value = Some(loss.off()?);
        Ok(grads)
    })?;
    let product = back.try_pull(direction)?;
    match value {
        Some(value) => Ok((value, grads, product)),
        None => crate::error::invalid("hvp", "the function was not called".to_owned()),
    }
}

/// Makes zeros on a tape, as parameters, in place of the tensors of a result.
struct Zeros<'a, D: Device>(&'a mut Lifting<D>);
impl<D: Device> MapTensors<Taped<D>, Taped<D>> for Zeros<'_, D> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, Taped<D>>) -> Result<Tensor<E, S, Taped<D>>> {
        let (sizes, view) = (x.shape(), x.elements());
        let strides = S::Sizes::copied(&Dims::known(view.sizes).row_major());
        let count = sizes.as_ref().iter().product();
        let zeros = D::zeroed::<E>(Some(&view.buffer.inner), count)?;
        self.0.tensor(&Tensor::<E, S, D>::from_parts(zeros, 0, sizes, strides))
    }
}
/// The same tensors off the tape, row-major.
struct Dense;
impl<D: Device> MapTensors<Taped<D>, D> for Dense {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, Taped<D>>) -> Result<Tensor<E, S, D>> {
        let (sizes, view) = (x.shape(), x.elements());
        let strides = S::Sizes::copied(&Dims::known(view.sizes).row_major());
        let storage = D::map1::<E, E>(Copying, super::taped::inside(view), strides.as_ref())?;
        Ok(Tensor::from_parts(storage, 0, sizes, strides))
    }
}

/// See [`Grad::try_jvp`].
///
/// The way back from the result is a linear function of the result's gradient `u`; its own derivative by `u`, along the direction, is the
/// product. So the two ways back of reverse mode give it, and no operation needs a forward rule of its own.
#[allow(clippy::type_complexity)]
pub(super) fn jvp<P, C, R>(
    parameters: &P,
    direction: &P,
    constants: C,
    function: impl FnOnce(&P::On<Twice<P::Device>>, GivenTwice<'_, C, P::Device>) -> Result<R>,
) -> Result<(<R::On<Taped<P::Device>> as ToDevice>::On<P::Device>, <R::On<Taped<P::Device>> as ToDevice>::On<P::Device>)>
where
    P: Grad + ToDevice<On<<P as ToDevice>::Device> = P, Holds: Learned>,
    P::On<Taped<P::Device>>: OnTape<P>,
    C: Constants<P::Device, Twice<P::Device>>,
    R: ToDevice<Device = Twice<P::Device>>,
    R::On<Taped<P::Device>>: ToDevice<Device = Taped<P::Device>, On<Taped<P::Device>> = R::On<Taped<P::Device>>>,
    <R::On<Taped<P::Device>> as ToDevice>::On<P::Device>:
        ToDevice<Device = P::Device, On<P::Device> = <R::On<Taped<P::Device>> as ToDevice>::On<P::Device>>,
{
    let constants = constants.lift()?;
    let mut outer = Lifting::<P::Device>::new();
    let point = parameters.mapped::<Taped<P::Device>>(&mut Constant)?;
    let (result, back) = point.try_vjp((), |x, ()| function(x, C::given(&constants)))?;
    let zeros = result.mapped(&mut Zeros(&mut outer))?;
    let grads = back.try_pull(&zeros)?;
    let mut placing = Placing { places: Vec::new() };
    grads.mapped(&mut placing)?;
    let value = result.mapped(&mut Dense)?;
    drop((zeros, grads, result, point));
    outer.finish();
    let seed = |gradients: &mut Gradients<_>| {
        direction.mapped(&mut Seeding { places: placing.places.iter(), gradients })?;
        Ok(())
    };
    let product = outer.gradients(&value, true, Graph::Freed, seed)?;
    Ok((value, product))
}

/// A gradient of 1 at one of the elements of a result, from which others are 0.
fn one_at<E: Float, D: Device>(place: &Operand<D::Storage>, beside: &D::Storage, at: usize) -> Result<D::Storage> {
    let mut one = D::zeroed::<E>(Some(beside), place.sizes().iter().product())?;
    D::update1::<E>(FillWith(E::from_i32(1)), ViewMut::new(&mut one, at, &[], &[]))?;
    Ok(one)
}

/// See [`Grad::try_per_sample_grads`].
#[allow(clippy::type_complexity)]
pub(super) fn per_sample_grads<P, C, E, N>(
    parameters: &P,
    constants: C,
    function: impl FnOnce(&P::On<Taped<P::Device>>, C::Given<'_>) -> Result<Tensor<E, (N,), Taped<P::Device>>>,
) -> Result<(Tensor<E, (N,), P::Device>, Vec<P>)>
where
    P: Grad + ToDevice<On<<P as ToDevice>::Device> = P, Holds: Learned>,
    C: Constants<P::Device>,
    E: Float,
    N: Dim,
{
    let mut lifting = Lifting::<P::Device>::new();
    let lifted = parameters.mapped(&mut lifting)?;
    let constants = constants.lift()?;
    let losses = function(&lifted, C::given(&constants))?;
    let (place, value) = (<Taped<P::Device> as PullsBack>::operand(losses.elements()), losses.detach());
    drop((losses, constants, lifted));
    lifting.finish();
    let [count] = *place.sizes() else { return Ok((value, Vec::new())) };
    let mut grads = room(count)?;
    for at in 0..count {
        let one = one_at::<E, P::Device>(&place, value.elements().buffer, at)?;
        let layout = Layout::dense::<E>(&place.sizes());
        let seed = |gradients: &mut Gradients<_>| gradients.add_storage::<E, P::Device>(&place, one, 0, layout);
        let graph = if at + 1 == count { Graph::Freed } else { Graph::Kept };
        grads.push(lifting.gradients(parameters, false, graph, seed)?);
    }
    Ok((value, grads))
}

/// The derivative of each element of a result by each element of a tensor, from where the result is on the tape.
fn jacobian<E: Float, S: Shape, D: Device>(
    x: &Tensor<E, S, D>,
    mut lifting: Lifting<D>,
    place: &Operand<D::Storage>,
) -> Result<(D::Storage, Vec<usize>)> {
    let own = x.elements();
    let sizes = [&*place.sizes(), own.sizes].concat();
    let too_large = || Error::TooLarge { op: "jacobian", sizes: sizes[..].into() };
    let (all, rows) = (numel(&sizes).ok_or_else(too_large)?, place.sizes().iter().product());
    let mut out = D::zeroed::<E>(Some(own.buffer), all)?;
    let dense = Dims::known(own.sizes).row_major();
    for at in 0..rows {
        let one = one_at::<E, D>(place, own.buffer, at)?;
        let layout = Layout::dense::<E>(&place.sizes());
        let seed = |gradients: &mut Gradients<_>| gradients.add_storage::<E, D>(place, one, 0, layout);
        let graph = if at + 1 == rows { Graph::Freed } else { Graph::Kept };
        let row: Tensor<E, S, D> = lifting.gradients(x, false, graph, seed)?;
        D::map1_into::<E, E>(Copying, row.elements(), ViewMut::new(&mut out, at * (all / rows), own.sizes, &dense))?;
    }
    Ok((out, sizes))
}

/// Dtypes whose functions have Jacobians and Hessians.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a tensor of `{Self}` has no derivatives",
    label = "derivatives are of `f16`, `bf16`, `f32` and `f64`",
    note = "cast first, for example `.to::<f64>()`"
)]
pub trait Differentiable: Float + Learned {}
#[diagnostic::do_not_recommend]
impl<E: Float + Learned> Differentiable for E {}

impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The derivative of each element of a function's result by each element of this tensor: the axes of the result, then those of the
    /// tensor (`torch.func.jacrev`). The result is computed once, and its way back is run for each of its elements, so it is meant for
    /// functions with few results.
    ///
    /// # Panics
    /// As [`value_and_grad`](Grad::value_and_grad), and if memory is too small; `try_jacobian` returns errors.
    ///
    /// ```
    /// use castiron::{shape, tensor};
    /// let x = tensor![1.0_f64, 2.0, 3.0];
    /// let jacobian = x.jacobian((), |x, ()| x.square());
    /// let _: &castiron::Tensor<f64, shape![3, 3]> = &jacobian;
    /// assert_eq!(jacobian.to_vec(), [2.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 6.0]);
    /// ```
    #[track_caller]
    pub fn jacobian<C, T, J>(
        &self,
        constants: C,
        function: impl FnOnce(&Tensor<E, S, Taped<D>>, C::Given<'_>) -> Tensor<E, T, Taped<D>>,
    ) -> Tensor<E, J, D>
    where
        E: Differentiable,
        C: Constants<D>,
        T: Shape + Beside<S, Output = J>,
        J: Shape,
    {
        match self.try_jacobian(constants, |x, given| Ok(function(x, given))) {
            Ok(given) => given,
            Err(error) => panic!("{error}"),
        }
    }

    #[doc(hidden)]
    pub fn try_jacobian<C, T, J>(
        &self,
        constants: C,
        function: impl FnOnce(&Tensor<E, S, Taped<D>>, C::Given<'_>) -> Result<Tensor<E, T, Taped<D>>>,
    ) -> Result<Tensor<E, J, D>>
    where
        E: Differentiable,
        C: Constants<D>,
        T: Shape + Beside<S, Output = J>,
        J: Shape,
    {
        let constants = constants.lift()?;
        self.rows(|x| function(x, C::given(&constants)))
    }
    fn rows<T: Shape, J: Shape>(
        &self,
        function: impl FnOnce(&Tensor<E, S, Taped<D>>) -> Result<Tensor<E, T, Taped<D>>>,
    ) -> Result<Tensor<E, J, D>>
    where
        E: Differentiable,
    {
        let mut lifting = Lifting::<D>::new();
        let lifted = lifting.tensor(self)?;
        let result = function(&lifted)?;
        let place = <Taped<D> as PullsBack>::operand(result.elements());
        drop((result, lifted));
        lifting.finish();
        let (storage, sizes) = jacobian(self, lifting, &place)?;
        let strides = Dims::known(&sizes).row_major();
        Ok(Tensor::from_parts(storage, 0, SizeArray::copied(&sizes), SizeArray::copied(&strides)))
    }

    /// The second derivatives of a number that a function computes of this tensor: by each element and each other one
    /// (`torch.func.hessian`). Its gradient is computed once, and the way back from that is run for each element, so it is meant for small
    /// functions; the product of the Hessian and a vector alone is [`hvp`](Grad::hvp).
    ///
    /// # Panics
    /// As [`value_and_grad`](Grad::value_and_grad), and if memory is too small; `try_hessian` returns errors.
    ///
    /// ```
    /// use castiron::tensor;
    /// let x = tensor![1.0_f64, 2.0];
    /// let hessian = x.hessian((), |x, ()| x.prod() * x.prod());
    /// assert_eq!(hessian.to_vec(), [8.0, 8.0, 8.0, 2.0]);
    /// ```
    #[track_caller]
    pub fn hessian<C, L, J>(
        &self,
        constants: C,
        function: impl FnOnce(&Tensor<E, S, Twice<D>>, GivenTwice<'_, C, D>) -> L,
    ) -> Tensor<E, J, D>
    where
        E: Differentiable,
        C: Constants<D, Twice<D>>,
        L: Loss<Taped<D>>,
        S: Beside<S, Output = J>,
        J: Shape,
    {
        match self.try_hessian(constants, |x, given| Ok(function(x, given))) {
            Ok(given) => given,
            Err(error) => panic!("{error}"),
        }
    }

    #[doc(hidden)]
    pub fn try_hessian<C, L, J>(
        &self,
        constants: C,
        function: impl FnOnce(&Tensor<E, S, Twice<D>>, GivenTwice<'_, C, D>) -> Result<L>,
    ) -> Result<Tensor<E, J, D>>
    where
        E: Differentiable,
        C: Constants<D, Twice<D>>,
        L: Loss<Taped<D>>,
        S: Beside<S, Output = J>,
        J: Shape,
    {
        let constants = constants.lift()?;
        self.rows(|x| Ok(x.try_value_and_grad((), |x, ()| function(x, C::given(&constants)))?.1))
    }
}
