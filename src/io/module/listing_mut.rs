//! `ListingMut`: the tensors of a module by name, for writing.

use super::place::joined;
use super::{Module, Ties};
use crate::error::{Result, invalid};
use crate::optim::driver::not_listed;
use crate::optim::learned::LearnedTensor;

/// A named tensor of a module, for writing.
pub struct ParameterMut<'a> {
    /// The name as in a checkpoint: `layers.0.weight`.
    pub(crate) name: String,
    pub(crate) tensor: &'a mut dyn LearnedTensor,
}

/// Collects the tensors of a module with their names, for writing, as [`Listing`](super::Listing) does for reading.
#[derive(Default)]
pub struct ListingMut<'a> {
    name: String,
    ties: Ties,
    parameters: Vec<ParameterMut<'a>>,
    /// A type that does not list its tensors.
    refused: Option<&'static str>,
}

impl<'a> ListingMut<'a> {
    /// Lists a field.
    pub fn field(&mut self, name: &str, field: &'a mut impl Module) {
        let outer = self.enter(name);
        field.list_mut(self);
        self.leave(outer);
    }

    /// Enters a field, and returns the argument of [`leave`](Self::leave).
    #[doc(hidden)]
    pub fn enter(&mut self, name: &str) -> String {
        let whole = joined(&self.name, name);
        core::mem::replace(&mut self.name, whole)
    }

    /// Leaves a field.
    #[doc(hidden)]
    pub fn leave(&mut self, outer: String) {
        self.name = outer;
    }

    /// Lists a tensor at this place.
    pub fn tensor(&mut self, tensor: &'a mut dyn LearnedTensor) {
        self.parameters.push(ParameterMut { name: self.name.clone(), tensor });
    }

    /// Ties the tensors under `own` to those under `target`: they are written once.
    pub fn tie(&mut self, own: &str, target: &str) {
        let (own, target) = (joined(&self.name, own), joined(&self.name, target));
        self.ties.add(own, target);
    }

    /// Notes a type that does not list its tensors for writing.
    pub(super) fn refuse(&mut self, name: &'static str) {
        self.refused = Some(name);
    }

    /// The tensors, and those that are tied to others with the index of the tensor that they are tied to.
    pub(crate) fn split(self, op: &'static str) -> Result<(Vec<ParameterMut<'a>>, Vec<(ParameterMut<'a>, usize)>)> {
        if let Some(name) = self.refused {
            return invalid(op, not_listed(name));
        }
        Ok(self.ties.split(self.parameters, |parameter| &parameter.name))
    }

    /// The tensors of a module.
    pub(crate) fn of_module(module: &'a mut impl Module) -> Self {
        let mut listing = ListingMut::default();
        module.list_mut(&mut listing);
        listing
    }

    /// One tensor.
    pub(crate) fn of(tensor: &'a mut dyn LearnedTensor) -> Self {
        let mut listing = ListingMut::default();
        listing.tensor(tensor);
        listing
    }
}
