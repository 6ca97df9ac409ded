//! Derivatives of one's own.

use super::primitive::WayBack;
use super::pull::{Gradients, PullsBack};
use super::tape::{Layout, Operand, RESULTS, locked};
use crate::device::{Backend, Device};
use crate::dtype::Element;
use crate::error::{Result, invalid};
use crate::io::{MapTensors, ToDevice};
use crate::layout::strides::row_major;
use crate::ops::kernel::Copying;
use crate::shape::{Shape, SizeArray};
use crate::tensor::Tensor;
use core::marker::PhantomData;
use std::sync::Mutex;

type Inner<D> = <<D as PullsBack>::Inside as Backend>::Storage;

/// The operands of a function with a derivative of its own: references to tensors and modules on `D`, in a tuple.
#[diagnostic::on_unimplemented(
    message = "`{Self}` are no operands on `{D}`",
    label = "expected a tuple of references to tensors or modules: `(&x, &weight)`"
)]
pub trait Operands<D: Device> {
    /// The same off the tape.
    type Off: 'static;
    #[doc(hidden)]
    fn off(&self, taking: &mut Taking<D>) -> Result<Self::Off>;
    /// The tuple of types, for what outlives the references.
    #[doc(hidden)]
    type Named: Gives<D::Inside, Self::Off> + 'static;
}
/// Gradients of operands, given to these.
#[doc(hidden)]
pub trait Gives<D: Device, Off> {
    fn give(grads: &Off, giving: &mut Giving<'_, D>) -> Result<()>;
}
macro_rules! tuples {
    ($(($($M:ident $m:ident),*);)*) => {$(
        impl<Dev: Device, $($M),*> Operands<Dev> for ($(&$M,)*)
        where
            $($M: ToDevice<Device = Dev, On<Dev::Inside>: ToDevice<Device = Dev::Inside> + 'static>,)*
        {
            type Off = ($($M::On<Dev::Inside>,)*);
            fn off(&self, taking: &mut Taking<Dev>) -> Result<Self::Off> {
                let ($($m,)*) = self;
                Ok(($($m.mapped(taking)?,)*))
            }
            type Named = Same<Self::Off>;
        }
        impl<Dev: Device, $($M: ToDevice<Device = Dev>),*> Gives<Dev, ($($M,)*)> for Same<($($M,)*)> {
            fn give(($($m,)*): &($($M,)*), giving: &mut Giving<'_, Dev>) -> Result<()> {
                $($m.mapped(giving)?;)*
                Ok(())
            }
        }
    )*};
}
tuples! { (A a); (A a, B b); (A a, B b, C c); (A a, B b, C c, F f); }

/// Modules of these types.
#[doc(hidden)]
pub struct Same<T>(PhantomData<fn() -> T>);

/// Takes tensors off a tape and notes where they were.
#[doc(hidden)]
pub struct Taking<D: Device> {
    pub(super) operands: Vec<Operand<Inner<D>>>,
}
impl<D: Device> Taking<D> {
    pub(super) fn new() -> Self {
        Taking { operands: Vec::new() }
    }
}
impl<D: Device> MapTensors<D, D::Inside> for Taking<D> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, D::Inside>> {
        let view = x.elements();
        self.operands.push(D::operand(view));
        let (storage, offset) = D::off(view);
        Ok(Tensor::from_parts(storage, offset, x.shape(), x.stride()))
    }
}
/// Adds tensors to the gradients of operands.
#[doc(hidden)]
pub struct Giving<'a, D: Device> {
    operands: core::slice::Iter<'a, Operand<D::Storage>>,
    gradients: &'a mut Gradients<D::Storage>,
}
impl<'a, D: Device> Giving<'a, D> {
    pub(super) fn new(operands: &'a [Operand<D::Storage>], gradients: &'a mut Gradients<D::Storage>) -> Self {
        Giving { operands: operands.iter(), gradients }
    }
}
impl<D: Device> MapTensors<D, D> for Giving<'_, D> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, D>> {
        let Some(to) = self.operands.next() else { return misfit() };
        let view = x.elements();
        if to.dtype() != E::DTYPE || *to.sizes() != *view.sizes {
            return misfit();
        }
        if to.node.is_some() {
            let (storage, offset) = D::share(view);
            let layout = Layout::of::<E>(view.sizes, view.strides);
            self.gradients.add_storage::<E, D>(to, storage, offset, layout)?;
        }
        Ok(x.clone())
    }
}
#[cold]
fn misfit<T>() -> Result<T> {
    invalid("grad::custom", "the gradient of an operand has the operand's dtype and sizes".to_owned())
}

/// A result whose derivative is a function of the user's.
struct Custom<D: Device, I, E, S: Shape, B> {
    back: Mutex<Option<B>>,
    operands: Vec<Operand<D::Storage>>,
    layout: Layout,
    sizes: S::Sizes,
    strides: S::Sizes,
    of: PhantomData<fn() -> (I, E)>,
}
impl<D, I, Off, E, S, B> WayBack<D::Storage> for Custom<D, (I, Off), E, S, B>
where
    D: Device,
    I: Gives<D, Off>,
    E: Element,
    S: Shape,
    B: FnOnce(Tensor<E, S, D>) -> Off + Send,
{
    fn op(&self) -> &'static str {
        "grad::custom"
    }
    fn layout(&self) -> &Layout {
        &self.layout
    }
    fn each_operand(&mut self, see: &mut dyn FnMut(&mut Operand<D::Storage>)) {
        self.operands.iter_mut().for_each(see);
    }
    fn keeps_results(&self) -> bool {
        true
    }
    fn pull(&self, given: [Option<D::Storage>; RESULTS], gradients: &mut Gradients<D::Storage>) -> Result<()> {
        let [Some(g), ..] = given else { return Ok(()) };
        let Some(back) = locked(&self.back).take() else {
            return invalid("grad::custom", "its derivative was taken before".to_owned());
        };
        let grads = back(Tensor::from_parts(g, 0, self.sizes, self.strides));
        I::give(&grads, &mut Giving::new(&self.operands, gradients))
    }
}

/// A function with a derivative of one's own (`torch.autograd.Function`, `jax.custom_vjp`).
///
/// The function is given its operands off the tape and returns its result and the way back: a function from the gradient of the result to
/// that of each operand. Nothing inside is recorded. On a device without a tape the function is run alone, so code that is generic over its
/// device has the operation on every device: inside it is on [`D::Inside`](PullsBack::Inside).
///
/// The way back is called once. `jacobian` and `per_sample_grads`, which go back once for each row, are an error where there is more than one.
///
/// # Panics
/// If a gradient has another dtype or other sizes than its operand, or memory runs out.
///
/// ```
/// use castiron::{Device, Tensor, grad::{self, Grad}, shape, tensor};
/// /// Rounds, and lets gradients pass.
/// fn straight_through<D: Device>(x: &Tensor<f32, shape![3], D>) -> Tensor<f32, shape![3], D> {
///     grad::custom((x,), |(x,)| (x.round(), |g| (g,)))
/// }
/// let x = tensor![0.2_f32, 0.7, 1.6];
/// assert_eq!(straight_through(&x).to_vec(), [0.0, 1.0, 2.0]);
/// let (_, grads) = x.value_and_grad((), |x, ()| (straight_through(x) * 3.0).sum());
/// assert_eq!(grads.to_vec(), [3.0, 3.0, 3.0]);
/// ```
#[track_caller]
pub fn custom<D, I, E, S, B>(
    operands: I,
    function: impl FnOnce(I::Off) -> (Tensor<E, S, D::Inside>, B),
) -> Tensor<E, S, D>
where
    D: Device,
    I: Operands<D>,
    E: Element,
    S: Shape,
    B: FnOnce(Tensor<E, S, D::Inside>) -> I::Off + Send + 'static,
{
    match try_custom(operands, |operands| Ok(function(operands))) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

/// [`custom`] that returns errors, the function's own among them.
///
/// # Errors
/// As there.
pub fn try_custom<D, I, E, S, B>(
    operands: I,
    function: impl FnOnce(I::Off) -> Result<(Tensor<E, S, D::Inside>, B)>,
) -> Result<Tensor<E, S, D>>
where
    D: Device,
    I: Operands<D>,
    E: Element,
    S: Shape,
    B: FnOnce(Tensor<E, S, D::Inside>) -> I::Off + Send + 'static,
{
    let mut taking = Taking::new();
    let off = operands.off(&mut taking)?;
    let (result, back) = function(off)?;
    let (sizes, strides) = (result.shape(), S::Sizes::copied(&row_major(result.shape().as_ref())));
    let storage = D::Inside::map1::<E, E>(Copying, result.elements(), strides.as_ref())?;
    let layout = Layout::of::<E>(sizes.as_ref(), strides.as_ref());
    let custom = Custom::<D::Inside, (I::Named, I::Off), E, S, B> {
        back: Mutex::new(Some(back)),
        operands: taking.operands,
        layout,
        sizes,
        strides,
        of: PhantomData,
    };
    let storage = D::with_way_back("grad::custom", storage, layout, custom)?;
    Ok(Tensor::from_parts(storage, 0, sizes, strides))
}
