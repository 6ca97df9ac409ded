//! `ListingMut`: the tensors of a module by name, for writing.

use super::Module;
use super::walk::{Outer, Walk};
use crate::error::{Result, invalid};
use crate::optim::driver::not_listed;
use crate::optim::learned::LearnedTensor;

/// A named tensor of a module, for writing.
pub struct ParameterMut<'a> {
    /// The name as in a checkpoint: `layers.0.weight`.
    pub(crate) name: String,
    pub(crate) tensor: &'a mut dyn LearnedTensor,
    is_frozen: bool,
}

/// Collects the tensors of a module with their names, for writing, as [`Listing`](super::Listing) does for reading.
#[derive(Default)]
pub struct ListingMut<'a> {
    walk: Walk,
    parameters: Vec<ParameterMut<'a>>,
    /// A type that does not list its tensors.
    refused: Option<&'static str>,
}

impl<'a> ListingMut<'a> {
    /// Lists a field.
    pub fn field(&mut self, name: &str, field: &'a mut impl Module) {
        let outer = self.walk.enter(name);
        field.list_mut(self);
        self.walk.leave(outer);
    }

    /// Enters a field, and returns the argument of [`leave`](Self::leave).
    #[doc(hidden)]
    pub fn enter(&mut self, name: &str) -> Outer {
        self.walk.enter(name)
    }

    /// The field that was entered is frozen.
    #[doc(hidden)]
    pub fn freeze(&mut self) {
        self.walk.freeze();
    }

    /// Leaves a field.
    #[doc(hidden)]
    pub fn leave(&mut self, outer: Outer) {
        self.walk.leave(outer);
    }

    /// Lists a tensor at this place.
    pub fn tensor(&mut self, tensor: &'a mut dyn LearnedTensor) {
        let (name, is_frozen) = (self.walk.name().to_owned(), self.walk.is_frozen());
        self.parameters.push(ParameterMut { name, tensor, is_frozen });
    }

    /// Ties the tensors under `own` to those under `target`: they are written once.
    pub fn tie(&mut self, own: &str, target: &str) {
        self.walk.tie(own, target);
    }

    /// Notes a type that does not list its tensors for writing.
    pub(super) fn refuse(&mut self, name: &'static str) {
        self.refused = Some(name);
    }

    /// The tensors that optimisers write, and those that are tied to them with the index of the tensor that they are tied to. Frozen ones
    /// are not among them; of tied tensors, the one that is stored says whether they are frozen.
    pub(crate) fn split(self, op: &'static str) -> Result<(Vec<ParameterMut<'a>>, Vec<(ParameterMut<'a>, usize)>)> {
        if let Some(name) = self.refused {
            return invalid(op, not_listed(name));
        }
        let (stored, tied) = self.walk.ties().split(self.parameters, |parameter| &parameter.name);
        let mut own = Vec::with_capacity(stored.len());
        let places: Vec<Option<usize>> = stored
            .into_iter()
            .map(|parameter| {
                let place = (!parameter.is_frozen).then_some(own.len());
                if place.is_some() {
                    own.push(parameter);
                }
                place
            })
            .collect();
        let tied = tied.into_iter().filter_map(|(parameter, at)| Some((parameter, places[at]?))).collect();
        Ok((own, tied))
    }

    /// The tensors of frozen fields.
    pub(crate) fn frozen(self) -> impl Iterator<Item = ParameterMut<'a>> {
        self.parameters.into_iter().filter(|parameter| parameter.is_frozen)
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
