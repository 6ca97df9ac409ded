//! Results that are computed again on the way back, in place of what they keep.

use super::front::{Collecting, Lifting};
use super::primitive::{Sums, WayBack};
use super::pull::{Gradients, PullsBack, back};
use super::tape::{Layout, Operand, RESULTS};
use super::taped::Taped;
use crate::device::Device;
use crate::dtype::{Element, Float};
use crate::error::{Result, invalid};
use crate::io::{MapTensors, ToDevice};
use crate::layout::strides::row_major;
use crate::ops::kernel::Copying;
use crate::shape::{Shape, SizeArray};
use crate::tensor::Tensor;
use core::marker::PhantomData;
use std::collections::BTreeMap;

/// Takes tensors off a tape and notes where they were.
struct Off<B> {
    operands: Vec<Operand<B>>,
}
impl<D: Device> MapTensors<Taped<D>, D> for Off<D::Storage> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, Taped<D>>) -> Result<Tensor<E, S, D>> {
        self.operands.push(<Taped<D> as PullsBack>::operand(x.elements()));
        Ok(x.detach())
    }
}
/// Puts tensors on the tape as constants.
struct Constants;
impl<D: Device> MapTensors<D, Taped<D>> for Constants {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, Taped<D>>> {
        Ok(x.on_tape())
    }
}
/// Gives gradients to the operands.
struct Giving<'a, B> {
    operands: core::slice::Iter<'a, Operand<B>>,
    gradients: &'a mut dyn Sums<B>,
}
impl<D: Device> MapTensors<D, D> for Giving<'_, D::Storage> {
    fn tensor<E: Element, S: Shape>(&mut self, x: &Tensor<E, S, D>) -> Result<Tensor<E, S, D>> {
        if let Some(to) = self.operands.next()
            && to.node.is_some()
        {
            let view = x.elements();
            let (storage, offset) = D::share(view);
            let layout = Layout::of::<E>(view.sizes, view.strides);
            self.gradients.add_to_sum(to, storage, offset, layout)?;
        }
        Ok(x.clone())
    }
}

/// A result that is computed again.
struct Again<D: Device, M, E, S: Shape, F> {
    operands: Vec<Operand<D::Storage>>,
    off: M,
    function: F,
    layout: Layout,
    result: PhantomData<fn() -> (E, S)>,
}
impl<D, M, E, S, F> WayBack<D::Storage> for Again<D, M, E, S, F>
where
    D: Device,
    M: ToDevice<Device = D, On<D> = M> + Send,
    E: Float,
    S: Shape,
    F: Fn(&M::On<Taped<D>>) -> Tensor<E, S, Taped<D>> + Send,
{
    fn op(&self) -> &'static str {
        "grad::checkpoint"
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
    fn pull(&self, given: [Option<D::Storage>; RESULTS], gradients: &mut dyn Sums<D::Storage>) -> Result<()> {
        let [Some(g), ..] = given else { return Ok(()) };
        let mut lifting = Lifting::<D>::new();
        let lifted = self.off.mapped(&mut lifting)?;
        let result = (self.function)(&lifted);
        let view = result.elements();
        if *view.sizes != *self.layout.sizes {
            return invalid("grad::checkpoint", "the function gave a result of other sizes the second time".to_owned());
        }
        let place = <Taped<D> as PullsBack>::operand(view);
        drop((result, lifted));
        lifting.finish();
        let seed = |sums: &mut Gradients<D>| sums.add_to_sum(&place, g, 0, self.layout);
        let mut found = BTreeMap::new();
        back::<D>(seed, false, |step, given| {
            if step.is_leaf() {
                found.extend(given[0].take().map(|gradient| (step.number, gradient)));
            }
            Ok(())
        })?;
        let grads = self.off.mapped(&mut Collecting { gradients: &mut found, leaves: lifting.leaves.into_iter() })?;
        grads.mapped(&mut Giving { operands: self.operands.iter(), gradients }).map(drop)
    }
}

/// Runs a function of a module and its input without keeping what is computed on the way: it is computed again when its gradient is taken
/// (`torch.utils.checkpoint.checkpoint`). Memory of the layers inside is then needed for one call at a time. The function gives the same
/// result each time: with random numbers it has a generator of its own, seeded inside.
///
/// # Panics
/// As the function, and if memory runs out.
///
/// ```
/// use castiron::{Cpu, Tensor, grad::{self, Grad, Taped}, shape, tensor};
/// let (w, x) = (tensor![2.0_f32], tensor![3.0_f32]);
/// let (_, grads) = w.value_and_grad(&x, |w, x| {
///     grad::checkpoint(w, x, |(w, x)| (w * x).exp()).sum()
/// });
/// assert!((grads.to_vec()[0] - 3.0 * 6.0_f32.exp()).abs() < 1e-2);
/// ```
#[track_caller]
pub fn checkpoint<D, M, X, E, S>(
    module: &M,
    x: &X,
    function: impl Fn(&(M, X)) -> Tensor<E, S, Taped<D>> + Send + 'static,
) -> Tensor<E, S, Taped<D>>
where
    D: Device,
    M: ToDevice<Device = Taped<D>, On<D>: ToDevice<Device = D, On<D> = M::On<D>, On<Taped<D>> = M> + Send + 'static>,
    X: ToDevice<Device = Taped<D>, On<D>: ToDevice<Device = D, On<D> = X::On<D>, On<Taped<D>> = X> + Send + 'static>,
    E: Float,
    S: Shape,
{
    match checkpointed(module, x, function) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}
fn checkpointed<D, M, X, E, S>(
    module: &M,
    x: &X,
    function: impl Fn(&(M, X)) -> Tensor<E, S, Taped<D>> + Send + 'static,
) -> Result<Tensor<E, S, Taped<D>>>
where
    D: Device,
    M: ToDevice<Device = Taped<D>, On<D>: ToDevice<Device = D, On<D> = M::On<D>, On<Taped<D>> = M> + Send + 'static>,
    X: ToDevice<Device = Taped<D>, On<D>: ToDevice<Device = D, On<D> = X::On<D>, On<Taped<D>> = X> + Send + 'static>,
    E: Float,
    S: Shape,
{
    let mut taking = Off { operands: Vec::new() };
    let off = (module.mapped::<D>(&mut taking)?, x.mapped::<D>(&mut taking)?);
    let constants = (off.0.mapped(&mut Constants)?, off.1.mapped(&mut Constants)?);
    let result = function(&constants).detach();
    let (sizes, strides) = (result.shape(), S::Sizes::copied(&row_major(result.shape().as_ref())));
    let storage = D::map1::<E, E>(Copying, result.elements(), strides.as_ref())?;
    let layout = Layout::of::<E>(sizes.as_ref(), strides.as_ref());
    let again = Again::<D, _, E, S, _> { operands: taking.operands, off, function, layout, result: PhantomData };
    let storage = <Taped<D> as PullsBack>::with_way_back("grad::checkpoint", storage, layout, again)?;
    Ok(Tensor::from_parts(storage, 0, sizes, strides))
}
