//! Results that are computed again on the way back, in place of what they keep.

use super::constants::Constant;
use super::custom::{Giving, Taking};
use super::leaves::Lifting;
use super::primitive::WayBack;
use super::pull::{Gradients, Graph, PullsBack};
use super::tape::{Layout, Operand, RESULTS};
use super::taped::Taped;
use crate::device::Device;
use crate::dtype::Float;
use crate::error::{Result, invalid};
use crate::io::ToDevice;
use crate::layout::strides::row_major;
use crate::ops::kernel::Copying;
use crate::shape::{Shape, SizeArray};
use crate::tensor::Tensor;
use core::marker::PhantomData;

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
    fn pull(&self, given: [Option<D::Storage>; RESULTS], gradients: &mut Gradients<D::Storage>) -> Result<()> {
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
        let seed = |sums: &mut Gradients<D::Storage>| sums.add_storage::<E, D>(&place, g, 0, self.layout);
        // (Tied tensors are operands of their own here: they are joined where the tape ends.)
        let grads = lifting.gradients(&self.off, true, Graph::Freed, seed)?;
        grads.mapped(&mut Giving::new(&self.operands, gradients)).map(drop)
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
    M: ToDevice<
            Device = Taped<D>,
            On<D>: ToDevice<Device = D, On<D> = M::On<D>> + ToDevice<On<Taped<D>> = M> + Send + 'static,
        >,
    X: ToDevice<
            Device = Taped<D>,
            On<D>: ToDevice<Device = D, On<D> = X::On<D>> + ToDevice<On<Taped<D>> = X> + Send + 'static,
        >,
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
    M: ToDevice<
            Device = Taped<D>,
            On<D>: ToDevice<Device = D, On<D> = M::On<D>> + ToDevice<On<Taped<D>> = M> + Send + 'static,
        >,
    X: ToDevice<
            Device = Taped<D>,
            On<D>: ToDevice<Device = D, On<D> = X::On<D>> + ToDevice<On<Taped<D>> = X> + Send + 'static,
        >,
    E: Float,
    S: Shape,
{
    let mut taking = Taking::<Taped<D>>::new();
    let off = (module.mapped::<D>(&mut taking)?, x.mapped::<D>(&mut taking)?);
    let constants = (off.0.mapped::<Taped<D>>(&mut Constant)?, off.1.mapped::<Taped<D>>(&mut Constant)?);
    let result = function(&constants);
    if result.elements().buffer.is_tracked() {
        let reason = "the function captures a tensor of the tape: pass it in the module or beside the input";
        return invalid("grad::checkpoint", reason.to_owned());
    }
    let result = result.detach();
    let (sizes, strides) = (result.shape(), S::Sizes::copied(&row_major(result.shape().as_ref())));
    let storage = D::map1::<E, E>(Copying, result.elements(), strides.as_ref())?;
    let layout = Layout::of::<E>(sizes.as_ref(), strides.as_ref());
    let again = Again::<D, _, E, S, _> { operands: taking.operands, off, function, layout, result: PhantomData };
    let storage = <Taped<D> as PullsBack>::with_way_back("grad::checkpoint", storage, layout, again)?;
    Ok(Tensor::from_parts(storage, 0, sizes, strides))
}
