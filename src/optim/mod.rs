//! Optimisers, which move the parameters of a [`Module`] along their gradients, as PyTorch's do step for step; schedules of the
//! learning rate; scales of losses in half precision; norms and sums of gradients. (Feature `grad`.)

pub(crate) mod driver;
pub(crate) mod elsewhere;
mod lbfgs;
pub(crate) mod learned;
mod loss_scale;
mod optimizer;
mod rules;
mod schedule;

pub use lbfgs::{Lbfgs, LbfgsOptions, Loss};
pub use loss_scale::LossScale;
#[doc(hidden)]
pub use loss_scale::Scaled;
pub use optimizer::{Group, Optimizer};
pub use rules::{
    Adadelta, AdadeltaOptions, Adagrad, AdagradOptions, Adam, AdamOptions, AdamW, AdamWOptions, Adamax, AdamaxOptions,
    NAdam, NAdamOptions, RAdam, RAdamOptions, RmsProp, RmsPropOptions, Rule, Sgd, SgdOptions,
};
pub use schedule::{OneCycle, Plateau, Schedule};

use crate::Module;
use crate::cpu::stepping::Total;
use crate::error::Result;
use crate::io::{Listing, ListingMut};

pub(crate) fn total_norm(op: &'static str, module: &impl Module) -> Result<f64> {
    driver::total(op, Total::Dot, Listing::of(module), None).map(f64::sqrt)
}

/// Source: `torch/nn/utils/clip_grad.py`.
pub(crate) fn clip_norm(op: &'static str, module: &mut impl Module, most: f64) -> Result<f64> {
    let norm = total_norm(op, module)?;
    let factor = most / (norm + 1e-6);
    // (A factor that is not a number is used: what is clipped is not a number, either.)
    let is_small = factor >= 1.0;
    if !is_small {
        driver::scale(op, ListingMut::of_module(module), factor)?;
    }
    Ok(norm)
}

pub(crate) fn clip_value(op: &'static str, module: &mut impl Module, most: f64) -> Result<()> {
    driver::clamp(op, ListingMut::of_module(module), most)
}

pub(crate) fn add_scaled<M: Module>(op: &'static str, module: &mut M, other: &M, by: f64) -> Result<()> {
    driver::add(op, ListingMut::of_module(module), Listing::of(other), by)
}

pub(crate) fn scale(op: &'static str, module: &mut impl Module, by: f64) -> Result<()> {
    driver::scale(op, ListingMut::of_module(module), by)
}

/// A module that shares the tensors of another.
fn sharing<M: Module>(op: &'static str, module: &M) -> Result<M> {
    match module.sharing() {
        Some(shared) => Ok(shared),
        None => crate::error::invalid(op, driver::not_listed(core::any::type_name::<M>())),
    }
}
