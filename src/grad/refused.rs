//! PyTorch's words for gradients that are kept in tensors. A typed tensor keeps none: these methods exist for their error messages.

use crate::Module;
use crate::device::Device;
use crate::dtype::Dtype;
use crate::optim::{Optimizer, Rule};
use crate::refused::refused;
use crate::shape::Shape;
use crate::tensor::Tensor;

refused! { [E: Dtype, S: Shape, D: Device] Tensor<E, S, D>, of_tensors, "gradients of typed tensors are returned, they are not kept in tensors",
    "write the loss as a function of its parameters: `let (loss, gradient) = parameters.value_and_grad((&x, &y), |parameters, (x, y)| …)`, with `use castiron::grad::Grad`";
    backward () "a typed tensor has no `backward`";
    grad () "a typed tensor has no `grad`";
    zero_grad () "a typed tensor has no `zero_grad`";
    retain_grad () "a typed tensor has no `retain_grad`";
}
refused! { [E: Dtype, S: Shape, D: Device] Tensor<E, S, D>, of_parameters, "what has gradients is said by types, not by a flag",
    "what `value_and_grad` is called on has gradients: `x.value_and_grad((), |x, ()| …)`; what is passed beside it has none, and `.stop()` cuts the tape inside of the closure";
    requires_grad_ (requires) "a typed tensor has no `requires_grad_`";
    requires_grad () "a typed tensor has no `requires_grad`";
    set_requires_grad (requires) "a typed tensor has no `set_requires_grad`";
}
refused! { [R: Rule, P: Module] Optimizer<R, P>, of_optimizers, "no gradient is kept between steps: there is nothing to set to zero",
    "delete the call: `value_and_grad` returns new gradients for each step, and `optimizer.step(&mut parameters, &gradient)` takes them";
    zero_grad () "an optimizer has no `zero_grad`";
}

refused! { [R: Rule, P: Module] Optimizer<R, P>, of_options, "it has another name here",
    "options are set in a chain: `Sgd::new(&net).rate(0.1).momentum(0.9).decay(1e-4)`";
    lr (rate) "an optimizer has no `lr`: the learning rate is `.rate(0.1)`";
    weight_decay (decay) "an optimizer has no `weight_decay`: write `.decay(1e-4)`";
}

/// `torch.no_grad`: it exists for its error message. (A condition on a type without parameters is checked where it is written, unless it
/// has a lifetime.)
#[doc(hidden)]
pub fn no_grad() -> NotSwitched
where
    for<'a> &'a NotSwitched: switches::Recording,
{
    NotSwitched(())
}
/// What nothing makes.
#[doc(hidden)]
#[derive(Debug)]
pub struct NotSwitched(());
mod switches {
    #[diagnostic::on_unimplemented(
        message = "recording is not switched off: nothing is recorded outside of `value_and_grad`",
        label = "there is no `no_grad` of typed tensors",
        note = "leave `no_grad` out; inside of the closure of `value_and_grad`, `.stop()` makes a constant of a tensor, and `.detach()` takes it off the tape",
        note = "for `AnyTensor`: `let _guard = castiron::any::scoped_no_grad();`"
    )]
    pub trait Recording {}
}
