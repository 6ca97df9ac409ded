//! `value_and_grad` and what it is made of.

use super::constants::Constants;
use super::higher::{GivenTwice, OnTape, Twice};
use super::leaves::Lifting;
use super::primitive::Adding;
use super::pull::{Gradients, Graph, PullsBack};
use super::tape::{Layout, Operand};
use super::taped::Taped;
use super::vjp::Pullback;
use crate::device::{Backend, Device};
use crate::dtype::{Complex, Element, Float, bf16, f16};
use crate::error::Result;
use crate::io::{MapTensors, Mixed, ToDevice};
use crate::sealed::Sealed;
use crate::shape::{Dim, Shape};
use crate::storage::View;
use crate::tensor::Tensor;

/// Dtypes that have gradients.
#[diagnostic::on_unimplemented(
    message = "a tensor of `{Self}` has no gradient",
    label = "gradients are of `f16`, `bf16`, `f32`, `f64` and complex numbers",
    note = "cast first, for example `.to::<f32>()`; a module may hold integers: they are not learned"
)]
pub trait Learned {}
impl Learned for Mixed {}
impl Learned for f16 {}
impl Learned for bf16 {}
impl Learned for f32 {}
impl Learned for f64 {}
impl Learned for Complex<f16> {}
impl Learned for Complex<f32> {}
impl Learned for Complex<f64> {}

/// Where a gradient starts.
#[doc(hidden)]
pub struct Seed<D: Device> {
    place: Operand<D::Storage>,
    one: D::Storage,
    layout: Layout,
    add: Adding<D::Storage>,
}

/// A loss: one real number, on the tape.
#[diagnostic::on_unimplemented(
    message = "the loss is `{Self}`: a gradient starts at one number",
    label = "this is not a zero-dim tensor of floats on the tape",
    note = "reduce it with `.sum()` or `.mean()`, and leave out `.item()`; `vjp` takes the gradient of any result"
)]
pub trait Loss<D: Device> {
    /// The same number, off the tape.
    type Value;
    #[doc(hidden)]
    fn value(&self) -> Self::Value;
    /// Where it is on its tape, and its gradient, which is 1.
    #[doc(hidden)]
    fn seed(&self) -> Result<Seed<D>>;
}
impl<E: Float, D: Device> Loss<D> for Tensor<E, (), Taped<D>> {
    type Value = Tensor<E, (), D>;
    fn value(&self) -> Tensor<E, (), D> {
        self.detach()
    }
    fn seed(&self) -> Result<Seed<D>> {
        let place = <Taped<D> as PullsBack>::operand(self.elements());
        let one = D::fill::<E>(Some(&self.elements().buffer.inner), E::from_i32(1), 1)?;
        Ok(Seed { place, one, layout: Layout::dense::<E>(&[]), add: Gradients::add_storage::<E, D> })
    }
}

/// A device whose operations a tape records: `detach` takes a tensor off it.
#[diagnostic::on_unimplemented(
    message = "a tensor on `{Self}` is on no tape",
    label = "there is nothing to detach it from",
    note = "outside of the closure of `value_and_grad` nothing is recorded: leave `detach` out",
    note = "in code that is generic over devices, `.stop()` makes a constant of a tensor"
)]
pub trait Recording: Device + Sealed {
    /// The device that is recorded.
    type Recorded: Device;
    #[doc(hidden)]
    fn recorded<'a, E>(view: View<'a, Self::Storage, E>) -> View<'a, <Self::Recorded as Backend>::Storage, E>;
}
impl<D: Device> Recording for Taped<D> {
    type Recorded = D;
    fn recorded<'a, E>(view: View<'a, Self::Storage, E>) -> View<'a, D::Storage, E> {
        super::taped::inside(view)
    }
}
impl<E: Element, S: Shape, D: Device> Tensor<E, S, D> {
    /// The same elements off the tape: nothing that is computed from them is recorded (`torch.Tensor.detach`). Nothing is copied.
    ///
    /// ```
    /// use castiron::{grad::Grad, tensor};
    /// let (loss, _) = tensor![2.0_f32].value_and_grad((), |x, ()| {
    ///     let seen: castiron::Tensor<f32, castiron::shape![1]> = x.detach();
    ///     assert_eq!(seen.to_vec(), [2.0]);
    ///     x.sum()
    /// });
    /// assert_eq!(loss.item(), 2.0);
    /// ```
    pub fn detach<X: Device>(&self) -> Tensor<E, S, X>
    where
        D: Recording<Recorded = X>,
    {
        let (storage, offset) = X::share(D::recorded(self.elements()));
        Tensor::from_parts(storage, offset, self.shape(), self.stride())
    }
}
/// Takes tensors off a tape.
struct Detaching;
impl<D: Device> MapTensors<Taped<D>, D> for Detaching {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, Taped<D>>) -> Result<Tensor<E, S, D>> {
        Ok(x.detach())
    }
}
/// Gradients of functions of tensors, of structs with `#[derive(Module)]`, and of collections of them.
pub trait Grad: ToDevice + Sized {
    /// The value of a function of these parameters, and its gradient by each of them, in a value of the same type (`jax.value_and_grad`;
    /// in PyTorch a forward pass, `backward` and the `grad` of each parameter).
    ///
    /// The function is given the parameters and the constants on the tape, the device [`Taped<D>`](Taped), and returns a zero-dim tensor of
    /// floats. What it computes off the tape is not recorded.
    ///
    /// Parameters that have no influence have gradient 0. So have integers in a module, and fields with `#[module(frozen)]`: nothing is
    /// recorded for them. Fields that are tied (`#[module(tied = "embed.weight")]`) are one parameter: each of them has the sum of their
    /// gradients. Clones of a tensor that are not declared as tied are parameters of their own, since the first write parts them.
    ///
    /// # Panics
    /// If an operation has no derivative, values of two tapes meet, or memory runs out; and where the function panics.
    ///
    /// ```
    /// use castiron::{Cpu, Device, Module, Tensor, grad::Grad, shape, tensor};
    /// #[derive(Module)]
    /// struct Line<D: Device = Cpu> { slope: Tensor<f32, (), D>, shift: Tensor<f32, (), D> }
    /// impl<D: Device> Line<D> {
    ///     fn at(&self, x: &Tensor<f32, shape![3], D>) -> Tensor<f32, shape![3], D> { x * &self.slope + &self.shift }
    /// }
    /// let line = Line { slope: Tensor::scalar(1.0), shift: Tensor::scalar(0.0) };
    /// let (x, y) = (tensor![0.0, 1.0, 2.0], tensor![1.0, 3.0, 5.0]);
    /// let (loss, grads) = line.value_and_grad((&x, &y), |line, (x, y)| (line.at(x) - y).square().sum());
    /// assert_eq!((loss.item(), grads.slope.item(), grads.shift.item()), (14.0, -16.0, -12.0));
    /// ```
    #[track_caller]
    fn value_and_grad<C, L>(
        &self,
        constants: C,
        function: impl FnOnce(&Self::On<Taped<Self::Device>>, C::Given<'_>) -> L,
    ) -> (L::Value, Self)
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self>,
        Self::Holds: Learned,
        C: Constants<Self::Device>,
        L: Loss<Self::Device>,
    {
        match self.try_value_and_grad(constants, |parameters, given| Ok(function(parameters, given))) {
            Ok(given) => given,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`value_and_grad`](Self::value_and_grad) that returns errors, the function's own among them.
    ///
    /// # Errors
    /// As there.
    fn try_value_and_grad<C, L>(
        &self,
        constants: C,
        function: impl FnOnce(&Self::On<Taped<Self::Device>>, C::Given<'_>) -> Result<L>,
    ) -> Result<(L::Value, Self)>
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self>,
        Self::Holds: Learned,
        C: Constants<Self::Device>,
        L: Loss<Self::Device>,
    {
        let (value, (), grads) = self.try_value_and_grad_with(constants, |parameters, given| {
            function(parameters, given).map(|loss| (loss, ()))
        })?;
        Ok((value, grads))
    }

    /// [`value_and_grad`](Self::value_and_grad) of a function that returns more than the loss: predictions, statistics. They come back off
    /// the tape (`jax.value_and_grad(…, has_aux=True)`).
    ///
    /// # Panics
    /// As there.
    ///
    /// ```
    /// use castiron::{grad::Grad, tensor};
    /// let (loss, squares, grads) = tensor![1.0_f32, 2.0].value_and_grad_with((), |x, ()| {
    ///     let squares = x * x;
    ///     (squares.sum(), squares)
    /// });
    /// assert_eq!((loss.item(), squares.to_vec(), grads.to_vec()), (5.0, vec![1.0, 4.0], vec![2.0, 4.0]));
    /// ```
    #[track_caller]
    fn value_and_grad_with<C, L, A>(
        &self,
        constants: C,
        function: impl FnOnce(&Self::On<Taped<Self::Device>>, C::Given<'_>) -> (L, A),
    ) -> (L::Value, A::Off, Self)
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self>,
        Self::Holds: Learned,
        C: Constants<Self::Device>,
        L: Loss<Self::Device>,
        A: Auxiliary<Self::Device>,
    {
        match self.try_value_and_grad_with(constants, |parameters, given| Ok(function(parameters, given))) {
            Ok(given) => given,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`value_and_grad_with`](Self::value_and_grad_with) that returns errors, the function's own among them.
    ///
    /// # Errors
    /// As there.
    fn try_value_and_grad_with<C, L, A>(
        &self,
        constants: C,
        function: impl FnOnce(&Self::On<Taped<Self::Device>>, C::Given<'_>) -> Result<(L, A)>,
    ) -> Result<(L::Value, A::Off, Self)>
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self>,
        Self::Holds: Learned,
        C: Constants<Self::Device>,
        L: Loss<Self::Device>,
        A: Auxiliary<Self::Device>,
    {
        let mut lifting = Lifting::<Self::Device>::new();
        let parameters = self.mapped(&mut lifting)?;
        let constants = constants.lift()?;
        let (loss, more) = function(&parameters, C::given(&constants))?;
        let (value, more) = (loss.value(), more.off()?);
        let seed = loss.seed()?;
        // Handles to what the steps keep: nobody else has the parameters then, so that they are written in place.
        drop((loss, constants, parameters));
        lifting.finish();
        let Seed { place, one, layout, add } = seed;
        let seeded = |gradients: &mut Gradients<_>| add(gradients, &place, one, 0, layout);
        let grads = lifting.gradients(self, false, Graph::Freed, seeded)?;
        Ok((value, more, grads))
    }

    /// A function of these parameters, and the way back from its result: `pull(cotangent)` is the gradient of each parameter, given that of
    /// the result (`jax.vjp`, `torch.func.vjp`). The result is a tensor, a module or a tuple of them, off the tape.
    ///
    /// # Panics
    /// As [`value_and_grad`](Self::value_and_grad).
    ///
    /// ```
    /// use castiron::{grad::Grad, tensor};
    /// let x = tensor![1.0_f32, 2.0, 3.0];
    /// let (squares, back) = x.vjp((), |x, ()| x * x);
    /// assert_eq!(squares.to_vec(), [1.0, 4.0, 9.0]);
    /// assert_eq!(back.pull(&tensor![1.0, 0.0, 10.0]).to_vec(), [2.0, 0.0, 60.0]);
    /// ```
    #[track_caller]
    fn vjp<C, R>(
        &self,
        constants: C,
        function: impl FnOnce(&Self::On<Taped<Self::Device>>, C::Given<'_>) -> R,
    ) -> (R::On<Self::Device>, Pullback<'_, Self, R::On<Self::Device>>)
    where
        Self::Holds: Learned,
        C: Constants<Self::Device>,
        R: ToDevice<Device = Taped<Self::Device>>,
    {
        match self.try_vjp(constants, |parameters, given| Ok(function(parameters, given))) {
            Ok(given) => given,
            Err(error) => panic!("{error}"),
        }
    }

    /// [`vjp`](Self::vjp) that returns errors, the function's own among them.
    ///
    /// # Errors
    /// As there.
    fn try_vjp<C, R>(
        &self,
        constants: C,
        function: impl FnOnce(&Self::On<Taped<Self::Device>>, C::Given<'_>) -> Result<R>,
    ) -> Result<(R::On<Self::Device>, Pullback<'_, Self, R::On<Self::Device>>)>
    where
        Self::Holds: Learned,
        C: Constants<Self::Device>,
        R: ToDevice<Device = Taped<Self::Device>>,
    {
        super::vjp::vjp(self, constants, function)
    }

    /// The value of a function of these parameters, its gradient, and the product of its Hessian and a direction, which is a value of the
    /// parameters' type (`torch.autograd.functional.hvp`, `jax.jvp` of `jax.grad`).
    ///
    /// The function is given the parameters on the tape of a tape, `Taped<Taped<D>>`: code that is generic over its device runs there, too.
    ///
    /// # Panics
    /// As [`value_and_grad`](Self::value_and_grad), if an operation has no second derivative, or if the direction has other tensors;
    /// `try_hvp` returns errors.
    ///
    /// ```
    /// use castiron::{grad::Grad, tensor};
    /// let (x, v) = (tensor![1.0_f64, 2.0], tensor![1.0_f64, 0.5]);
    /// let (value, grads, product) = x.hvp(&v, (), |x, ()| (x * x * x).sum());
    /// assert_eq!((value.item(), grads.to_vec(), product.to_vec()), (9.0, vec![3.0, 12.0], vec![6.0, 6.0]));
    /// ```
    #[allow(clippy::type_complexity)]
    #[track_caller]
    fn hvp<C, L>(
        &self,
        direction: &Self,
        constants: C,
        function: impl FnOnce(&Self::On<Twice<Self::Device>>, GivenTwice<'_, C, Self::Device>) -> L,
    ) -> (<L::Value as Auxiliary<Self::Device>>::Off, Self, Self)
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self, Holds: Learned>,
        Self::On<Taped<Self::Device>>: OnTape<Self>,
        C: Constants<Self::Device, Twice<Self::Device>>,
        L: Loss<Taped<Self::Device>, Value: Auxiliary<Self::Device>>,
    {
        match self.try_hvp(direction, constants, |x, given| Ok(function(x, given))) {
            Ok(given) => given,
            Err(error) => panic!("{error}"),
        }
    }

    #[doc(hidden)]
    #[allow(clippy::type_complexity)]
    fn try_hvp<C, L>(
        &self,
        direction: &Self,
        constants: C,
        function: impl FnOnce(&Self::On<Twice<Self::Device>>, GivenTwice<'_, C, Self::Device>) -> Result<L>,
    ) -> Result<(<L::Value as Auxiliary<Self::Device>>::Off, Self, Self)>
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self, Holds: Learned>,
        Self::On<Taped<Self::Device>>: OnTape<Self>,
        C: Constants<Self::Device, Twice<Self::Device>>,
        L: Loss<Taped<Self::Device>, Value: Auxiliary<Self::Device>>,
    {
        super::higher::hvp(self, direction, constants, function)
    }

    /// The result of a function of these parameters, and its derivative along a direction, which is a value of the parameters' type
    /// (`torch.func.jvp`, `jax.jvp`): how the result moves where the parameters move so.
    ///
    /// It takes two ways back, about three times as long as the function.
    ///
    /// # Panics
    /// As [`hvp`](Self::hvp); `try_jvp` returns errors.
    ///
    /// ```
    /// use castiron::{grad::Grad, tensor};
    /// let (x, v) = (tensor![1.0_f64, 2.0, 3.0], tensor![1.0_f64, 0.0, -1.0]);
    /// let (squares, moved) = x.jvp(&v, (), |x, ()| x * x);
    /// assert_eq!((squares.to_vec(), moved.to_vec()), (vec![1.0, 4.0, 9.0], vec![2.0, 0.0, -6.0]));
    /// ```
    #[allow(clippy::type_complexity)]
    #[track_caller]
    fn jvp<C, R>(
        &self,
        direction: &Self,
        constants: C,
        function: impl FnOnce(&Self::On<Twice<Self::Device>>, GivenTwice<'_, C, Self::Device>) -> R,
    ) -> (
        <R::On<Taped<Self::Device>> as ToDevice>::On<Self::Device>,
        <R::On<Taped<Self::Device>> as ToDevice>::On<Self::Device>,
    )
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self, Holds: Learned>,
        Self::On<Taped<Self::Device>>: OnTape<Self>,
        C: Constants<Self::Device, Twice<Self::Device>>,
        R: ToDevice<Device = Twice<Self::Device>>,
        R::On<Taped<Self::Device>>:
            ToDevice<Device = Taped<Self::Device>, On<Taped<Self::Device>> = R::On<Taped<Self::Device>>>,
        <R::On<Taped<Self::Device>> as ToDevice>::On<Self::Device>: ToDevice<
                Device = Self::Device,
                On<Self::Device> = <R::On<Taped<Self::Device>> as ToDevice>::On<Self::Device>,
            >,
    {
        match self.try_jvp(direction, constants, |x, given| Ok(function(x, given))) {
            Ok(given) => given,
            Err(error) => panic!("{error}"),
        }
    }

    #[doc(hidden)]
    #[allow(clippy::type_complexity)]
    fn try_jvp<C, R>(
        &self,
        direction: &Self,
        constants: C,
        function: impl FnOnce(&Self::On<Twice<Self::Device>>, GivenTwice<'_, C, Self::Device>) -> Result<R>,
    ) -> Result<(
        <R::On<Taped<Self::Device>> as ToDevice>::On<Self::Device>,
        <R::On<Taped<Self::Device>> as ToDevice>::On<Self::Device>,
    )>
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self, Holds: Learned>,
        Self::On<Taped<Self::Device>>: OnTape<Self>,
        C: Constants<Self::Device, Twice<Self::Device>>,
        R: ToDevice<Device = Twice<Self::Device>>,
        R::On<Taped<Self::Device>>:
            ToDevice<Device = Taped<Self::Device>, On<Taped<Self::Device>> = R::On<Taped<Self::Device>>>,
        <R::On<Taped<Self::Device>> as ToDevice>::On<Self::Device>: ToDevice<
                Device = Self::Device,
                On<Self::Device> = <R::On<Taped<Self::Device>> as ToDevice>::On<Self::Device>,
            >,
    {
        super::higher::jvp(self, direction, constants, function)
    }

    /// The losses of samples, one for each, and the gradient of each by the parameters (`torch.func.vmap` of `grad`): the function is run
    /// once for all, and the way back once for each sample.
    ///
    /// # Panics
    /// As [`value_and_grad`](Self::value_and_grad); `try_per_sample_grads` returns errors.
    ///
    /// ```
    /// use castiron::{grad::Grad, tensor, Tensor};
    /// let (w, x) = (Tensor::<f64, ()>::scalar(3.0), tensor![1.0, 2.0]);
    /// let (losses, grads) = w.per_sample_grads((&x,), |w, (x,)| (w * x).square());
    /// assert_eq!(losses.to_vec(), [9.0, 36.0]);
    /// assert_eq!(grads.iter().map(|grad| grad.item()).collect::<Vec<_>>(), [6.0, 24.0]);
    /// ```
    #[allow(clippy::type_complexity)]
    #[track_caller]
    fn per_sample_grads<C, E, N>(
        &self,
        constants: C,
        function: impl FnOnce(&Self::On<Taped<Self::Device>>, C::Given<'_>) -> Tensor<E, (N,), Taped<Self::Device>>,
    ) -> (Tensor<E, (N,), Self::Device>, Vec<Self>)
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self, Holds: Learned>,
        C: Constants<Self::Device>,
        E: Float,
        N: Dim,
    {
        match self.try_per_sample_grads(constants, |x, given| Ok(function(x, given))) {
            Ok(given) => given,
            Err(error) => panic!("{error}"),
        }
    }

    #[doc(hidden)]
    #[allow(clippy::type_complexity)]
    fn try_per_sample_grads<C, E, N>(
        &self,
        constants: C,
        function: impl FnOnce(&Self::On<Taped<Self::Device>>, C::Given<'_>) -> Result<Tensor<E, (N,), Taped<Self::Device>>>,
    ) -> Result<(Tensor<E, (N,), Self::Device>, Vec<Self>)>
    where
        Self: ToDevice<On<<Self as ToDevice>::Device> = Self, Holds: Learned>,
        C: Constants<Self::Device>,
        E: Float,
        N: Dim,
    {
        super::higher::per_sample_grads(self, constants, function)
    }
}
impl<P: ToDevice> Grad for P {}

/// What a differentiated function returns besides its loss.
#[diagnostic::on_unimplemented(
    message = "`{Self}` can't be taken off the tape of `{D}`",
    label = "expected tensors or modules on the tape, a tuple of them, or `()`",
    note = "values that are no tensors are assigned to a variable outside of the closure"
)]
pub trait Auxiliary<D: Device> {
    /// The same off the tape.
    type Off;
    #[doc(hidden)]
    fn off(self) -> Result<Self::Off>;
}
impl<D: Device> Auxiliary<D> for () {
    type Off = ();
    fn off(self) -> Result<()> {
        Ok(())
    }
}
impl<D: Device, M: ToDevice<Device = Taped<D>>> Auxiliary<D> for M {
    type Off = M::On<D>;
    fn off(self) -> Result<M::On<D>> {
        self.mapped(&mut Detaching)
    }
}
