//! Gradients: `value_and_grad` of a function of parameters.
//!
//! Inside the function tensors are on the device [`Taped<D>`], which records what is computed from parameters; then the steps are taken
//! backwards. Gradients are values of the parameters' own type, so nothing is zeroed, and no graph is left.
//!
//! ```
//! use castiron::{grad::Grad, tensor};
//! let w = tensor![1.0_f64, 2.0];
//! let (loss, grads) = w.value_and_grad((), |w, ()| (w * w).sum());
//! assert_eq!((loss.item(), grads.to_vec()), (5.0, vec![2.0, 4.0]));
//! ```
//!
//! | in PyTorch | here |
//! |---|---|
//! | `requires_grad_(False)`, `register_buffer` | `#[module(frozen)]` on a field of a struct with `#[derive(Module)]`: nothing is recorded for it, its gradient is one zero, optimisers leave it |
//! | a parameter that two layers share | `#[module(tied = "embed.weight")]`: each of the fields has the sum of their gradients, and a step is taken once |
//! | `with torch.no_grad():` | nothing: only what is computed inside of the function from parameters is recorded; there `.stop()` and `.detach()` cut it off |
//! | `torch.amp.GradScaler` | [`LossScale`](crate::optim::LossScale) |

mod checkpoint;
mod constants;
mod custom;
mod front;
mod higher;
#[cfg(feature = "any")]
mod hooks;
mod leaves;
pub(crate) mod primitive;
pub(crate) mod pull;
mod record;
mod refused;
mod rule;
pub(crate) mod tape;
mod taped;
mod vjp;

pub use checkpoint::checkpoint;
pub use constants::Constants;
#[doc(hidden)]
pub use custom::{Gives, Giving, Same, Taking};
pub use custom::{Operands, custom, try_custom};
pub use front::{Auxiliary, Grad, Learned, Loss, Recording};
#[doc(hidden)]
pub use higher::{Differentiable, OnTape};
pub use pull::PullsBack;
pub(crate) use pull::several_derivative;
pub use record::Recorded;
#[doc(hidden)]
pub use refused::{NotSwitched, no_grad};
pub use taped::Taped;
pub use vjp::Pullback;
#[cfg(feature = "any")]
pub(crate) mod any {
    //! What run-time tensors record with.
    pub(crate) use super::hooks::Place as HookPlace;
    pub(crate) use super::pull::{Gradients, Graph, back, by_exact, ways};
    pub(crate) use super::record::{elementwise, has_gradients, left, reduced, reduced_both};
    pub(crate) use super::rule::Rule;
    pub(crate) use super::tape::{Extent, Kept, Layout, Node, Operand, Past, RESULTS, Step, Tape, locked};
}
#[cfg(feature = "any")]
pub(crate) use tape::Tracked;
